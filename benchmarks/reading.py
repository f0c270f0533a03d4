"""What the local reader makes of dialogues that strangers wrote: held, asked, silently wrong; its time.

    python benchmarks/reading.py [--json] [NAME ...]

Each dialogue of tests/recordings/dialogues is played without a model, turn after turn on whatever the turns
before left behind, so that one turn lost may lose those that build on it. "patterns" is the same with the
patterns alone, as a second figure of the same run. The trust in a reading was fitted on a part of the
authors; `held out` are the others. Needs pytest, as the recordings are read by the tests' own player.

- A turn holds when all that its author wanted is so. One that does not is asked where nothing changed and
  the reply asks or says what it did not understand; the others are silently wrong.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from rich.table import Table  # noqa: E402
from trust import HELD_OUT  # noqa: E402

from taskloom.agent.graph import default_services  # noqa: E402
from taskloom.agent.nodes import Services, Voice  # noqa: E402
from taskloom.agent.replies import TemplateResponder  # noqa: E402
from taskloom.agent.rules import Rules  # noqa: E402
from taskloom.agent.settings import Settings  # noqa: E402
from taskloom.agent.threads import Taskloom  # noqa: E402
from tests.judging import NOW, Dialogue, Record, faults, played  # noqa: E402
from tests.test_recordings import FILES, REPLIES  # noqa: E402

ASKS = re.compile(r"\?|not sure|did not understand|say it in other words|which one", re.IGNORECASE)
GONE = ("removed", "inactive", "replaced", "cancelled")
READERS = ("local", "patterns")


def services(reader: str, settings: Settings) -> Services:
    """Those of the settings; 'patterns' reads by these alone."""
    given = default_services(settings)
    if reader == "local":
        return replace(given, clock=lambda: NOW)
    voice = Voice(Rules(), TemplateResponder())
    return replace(given, clock=lambda: NOW, voice=lambda _: voice)


def measured(file: Path, reader: str) -> tuple[Counter[str], list[float]]:
    """How many turns of a dialogue came out how, and the milliseconds of each."""
    given = json.loads(file.read_text())
    wanted = tuple({key: turn[key] for key in turn if key not in REPLIES} for turn in given["turns"])
    found, spent, before = Counter[str](), list[float](), None
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), memory=False, reader="local")
        with Taskloom.open(settings, services=services(reader, settings)) as app:
            begun = time.perf_counter()
            for want, record in zip(
                wanted, played(app, Dialogue(given["name"], "recordings", wanted)), strict=True
            ):
                spent.append((time.perf_counter() - begun) * 1000)
                good = not faults(record, before, want)
                found["held" if good else "asked" if _asks(record, before) else "silent"] += 1
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
        for reader in progress.track(READERS):
            counts: dict[str, Counter[str]] = {"all": Counter(), "held out": Counter()}
            spent: list[float] = []
            for file in files:
                found, took = measured(file, reader)
                spent += took
                counts["all"] += found
                if file.stem.split("_")[0] in HELD_OUT:
                    counts["held out"] += found
            for part, found in counts.items():
                turns = max(1, found.total())
                told[f"{reader}, {part}"] = {
                    "turns": found.total(),
                    **{key: found[key] / turns for key in ("held", "asked", "silent")},
                    "ms_p50": statistics.median(spent), "ms_p95": statistics.quantiles(spent, n=20)[-1],
                }  # fmt: skip
    if args.json:
        print(json.dumps(told))
        return
    table = Table("reader", "turns", "held", "asked", "silent", "ms p50", "p95")
    for name, row in told.items():
        shares = (f"{row[key]:.1%}" for key in ("held", "asked", "silent"))
        table.add_row(name, str(row["turns"]), *shares, f"{row['ms_p50']:.0f}", f"{row['ms_p95']:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
