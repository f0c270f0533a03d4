"""What the local reader makes of dialogues that strangers wrote: held, asked, silently wrong; its time.

    python benchmarks/reading.py [--json] [NAME ...]

Each dialogue of tests/recordings/dialogues is played without a model, turn after turn on whatever the turns
before left behind, so that one turn lost may lose those that build on it. The network has read most of these
authors, and the trust in a reading was fitted on five more; `held out` are the others. Needs the extra `dev`:
the tests' own player reads the recordings.

- A turn holds when all that its author wanted is so. One that does not is asked where nothing changed and
  the reply asks or says what it did not understand; the others are silently wrong.
- coverage: of turns that need no model by the gate; precision_at_gate: how many of these hold.
- ms: of a whole turn, checkpoint included, in the same process.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

from lines import HELD_OUT  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from rich.table import Table  # noqa: E402

from taskloom.agent.graph.services import Services, Voice  # noqa: E402
from taskloom.agent.graph.wiring import default_services  # noqa: E402
from taskloom.agent.reading.gate import bare_reading  # noqa: E402
from taskloom.agent.replying.templates import TemplateResponder  # noqa: E402
from taskloom.agent.settings import Settings  # noqa: E402
from taskloom.agent.threads.taskloom import Taskloom  # noqa: E402
from taskloom.agent.turn.reading import Interpreter, Reading, View  # noqa: E402
from tests.judging import NOW, Dialogue, Record, faults, played  # noqa: E402
from tests.test_recordings import FILES, REPLIES  # noqa: E402

ASKS = re.compile(r"\?|not sure|did not understand|say it in other words|which one", re.IGNORECASE)
GONE = ("removed", "inactive", "replaced", "cancelled")
OUTCOMES = ("held", "asked", "silent")


@dataclass(slots=True)
class Noting:
    """A reader that notes of each turn whether it needs no model."""

    reader: Interpreter
    spared: list[bool] = field(default_factory=list)

    def read(self, utterance: str, view: View) -> Reading:
        """Read, and note."""
        self.spared.append(bare_reading(utterance, view) is not None)
        return self.reader.read(utterance, view)


def services(settings: Settings) -> tuple[Services, Noting]:
    """Those of the settings, and their reader."""
    given = default_services(settings)
    noting = Noting(given.voice("").interpreter)
    voice = Voice(noting, TemplateResponder())
    return replace(given, clock=lambda: NOW, voice=lambda _: voice), noting


def measured(file: Path) -> tuple[Counter[str], list[float]]:
    """How many turns of a dialogue came out how, and the milliseconds of each."""
    given = json.loads(file.read_text())
    wanted = tuple({key: turn[key] for key in turn if key not in REPLIES} for turn in given["turns"])
    found, spent, before = Counter[str](), list[float](), None
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), memory=False, reader="local")
        given_services, noting = services(settings)
        with Taskloom.open(settings, services=given_services) as app:
            begun = time.perf_counter()
            for want, record in zip(
                wanted, played(app, Dialogue(given["name"], "recordings", wanted)), strict=True
            ):
                spent.append((time.perf_counter() - begun) * 1000)
                good = not faults(record, before, want)
                found["held" if good else "asked" if _asks(record, before) else "silent"] += 1
                free = noting.spared[-1]
                found["spared"] += free
                found["spared and held"] += free and good
                before, begun = record, time.perf_counter()
    return found, spent


def _asks(record: Record, before: Record | None) -> bool:
    same = before is None or _active(record) == _active(before)
    return same and ASKS.search(record["reply"]) is not None


def _active(record: Record) -> list[Any]:
    return [(one["id"], one["title"], one["value"]) for one in record["tasks"] if one["status"] not in GONE]


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only dialogues that begin so")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    files = [
        file for file in FILES
        if file.parent.name == "dialogues" and not file.stem.startswith("many_plans")
        and (not args.names or file.stem.startswith(tuple(args.names)))
    ]  # fmt: skip
    told: dict[str, dict[str, Any]] = {}
    with Progress(console=Console(stderr=True), disable=args.json) as progress:
        counts: dict[str, Counter[str]] = {"all": Counter(), "held out": Counter()}
        spent: list[float] = []
        for file in progress.track(files):
            found, took = measured(file)
            spent += took
            counts["all"] += found
            if file.stem.split("_")[0] in HELD_OUT:
                counts["held out"] += found
    for part, found in counts.items():
        turns = sum(found[key] for key in OUTCOMES)
        told[part] = {
            "turns": turns,
            **{key: found[key] / max(1, turns) for key in OUTCOMES},
            "precision_at_gate": found["spared and held"] / max(1, found["spared"]),
            "coverage": found["spared"] / max(1, turns),
            "ms_p50": statistics.median(spent), "ms_p95": statistics.quantiles(spent, n=20)[-1],
        }  # fmt: skip
    if args.json:
        print(json.dumps(told))
        return
    shares_of = (*OUTCOMES, "coverage", "precision_at_gate")
    table = Table("authors", "turns", *OUTCOMES, "gate", "right there", "ms p50", "p95")
    for name, row in told.items():
        shares = (f"{row[key]:.1%}" for key in shares_of)
        table.add_row(name, str(row["turns"]), *shares, f"{row['ms_p50']:.0f}", f"{row['ms_p95']:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
