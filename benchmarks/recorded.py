"""What a turn costs with a model, and how much of it holds, on the recorded dialogues of tests/recordings.

    python benchmarks/recorded.py [--json] [NAME ...]

Each dialogue is played through the whole product; a local server gives what a chat model replied to it. So
the figures say what this code makes of these replies: parts of the code were written after the dialogues had
been looked at, and what another model would reply is another matter.

- A turn holds when all that its author wanted does; one that does not and ends in a question is asked, the
  others are silently wrong.
- Prompt tokens are those of a turn, schema included, replies too; the whole history is the same instructions
  with all that the user has said so far, in one prompt, and its answer is not judged.
- A token is four bytes of UTF-8 text, for both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from itertools import accumulate
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from rich.table import Table  # noqa: E402

from taskloom.agent.models.prompts import READ  # noqa: E402
from taskloom.memory.retrieve import tokens  # noqa: E402
from tests.openai_server import words_of  # noqa: E402
from tests.test_recordings import FILES, replayed  # noqa: E402

AT = (20, 40, 60, 100, 200)  # turns at which long dialogues are compared
COUNTS = ("turns", "held", "asked", "silent", "calls", "prompt", "history")


def measured(file: Path, home: Path) -> dict[str, Any]:
    """The figures of one dialogue; those of tokens and calls are sums."""
    given = json.loads(file.read_text())
    records, lost, server = replayed(given, home)
    asked = [number for number in lost if records[number - 1]["reply"].rstrip().endswith("?")]
    spent = [0] * len(records)
    said = [record["user"] for record in records]
    number = 0
    for body in server.requests:
        while json.dumps(said[number][:60], ensure_ascii=False)[1:-1] not in words_of(body):
            number += 1
        spent[number] += _tokens(body)
    history = list(accumulate((tokens(one) for one in said), initial=tokens(READ)))[1:]
    return {
        "turns": len(records), "held": len(records) - len(lost), "asked": len(asked),
        "silent": len(lost) - len(asked), "calls": len(server.requests),
        "prompt": sum(spent), "history": sum(history),
        "at": {at: (spent[at - 1], history[at - 1]) for at in AT if at <= len(records)},
    }  # fmt: skip


def _tokens(body: dict[str, Any]) -> int:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    texts = [message["content"] for message in body["messages"]]
    return sum(map(tokens, texts)) + (tokens(json.dumps(schema, separators=(",", ":"))) if schema else 0)


def table(found: dict[str, dict[str, Any]]) -> Table:
    made = Table("dialogues", *COUNTS, title="Recorded readings: calls and tokens a turn")
    made.columns[0].no_wrap = True
    for column in made.columns[1:]:
        column.justify = "right"
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, one in found.items():
        groups.setdefault(re.sub(r"_\d+$", "", name), []).append(one)
    for name, ones in [*groups.items(), ("all", list(found.values()))]:
        if name == "all":
            made.add_section()
        sums = {key: sum(one[key] for one in ones) for key in COUNTS}
        made.add_row(
            name, *(str(sums[key]) for key in COUNTS[:4]), f"{sums['calls'] / sums['turns']:.2f}",
            *(f"{sums[key] / sums['turns']:,.0f}" for key in ("prompt", "history")),
        )  # fmt: skip
    ends = [
        f"{name}, turn {at}: {ours:,} tokens, whole history {whole:,}"
        for name, one in found.items()
        for at, (ours, whole) in one["at"].items()
    ]
    made.caption = "\n".join(ends)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="how names of dialogues begin; all without")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    files = [file for file in FILES if file.stem.startswith(tuple(args.names) or "")]
    if not files:
        parser.error(f"no recorded dialogue begins so; there are {', '.join(file.stem for file in FILES)}")
    os.environ["NO_PROXY"] = "127.0.0.1"
    found = {}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for file in progress.track(files, description="Dialogues"):
            with tempfile.TemporaryDirectory() as home:
                found[file.stem] = measured(file, Path(home))
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()
