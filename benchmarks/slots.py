"""Which turns need no model where task schemas are given, and how many of these are read right.

    python benchmarks/slots.py [--json] [--wrong] FILE ...

A file is one of dialogues with their states as training/states/README.md describes it, gzipped or plain.
Every turn is read alone, on the plan as it should be before it; what was said before it is the assistant's
last message.

- coverage: of all turns, those that the gate spares the model since they do nothing but give slots their
  values, and surely; coverage_of_filling: the same of turns after which some slot has another value.
- precision: of the spared turns, those after which every slot has the value it should have, and no other has
  one. Values are compared by their words: number words are digits, "any" is "dontcare".
- The bounds (agent/reading/sure.py) were chosen while looking at WOZ 2.0 (validate), sim-M (dev),
  Schema-Guided Dialogue (dev) and sim-R (dev): what this says of these is no forecast.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402
from rich.table import Table  # noqa: E402
from state_turns import State, Turn, dialogues  # noqa: E402

from taskloom.agent.grounding.exact import ground_exactly  # noqa: E402
from taskloom.agent.plan.kinds import held_slots  # noqa: E402
from taskloom.agent.plan.slots import ANY  # noqa: E402
from taskloom.agent.reading.filling import Filling  # noqa: E402
from taskloom.agent.reading.listed import forms  # noqa: E402
from taskloom.agent.reading.local import Local, packaged  # noqa: E402
from taskloom.agent.reading.slots import Filled, Key  # noqa: E402
from taskloom.agent.turn.reading import View  # noqa: E402
from taskloom.agent.turn.steps import Step  # noqa: E402
from taskloom.memory.operations import apply  # noqa: E402
from taskloom.memory.tasks import TaskGraph  # noqa: E402

DONTCARE = "dontcare"


def met(turns: Sequence[Turn]) -> Iterator[tuple[Turn, View]]:
    """The turns of a dialogue, each with the plan as it should be before it."""
    view = View(TaskGraph())
    for number, turn in enumerate(turns, 1):
        said = () if turn.system in ("", ".") else (("", turn.system),)
        view = replace(view, turn=number, schemas=turn.schemas, exchanges=said)
        yield turn, view
        new = [
            Filled(key, ANY if told[0] == DONTCARE else told[0], 1.0)
            for key, told in turn.after.items() if turn.before.get(key) != told
        ]  # fmt: skip
        view = after(view, Filling(view).steps(new, turn.user))


def after(view: View, steps: Sequence[Step]) -> View:
    """The plan that steps lead to, and what they touched."""
    graph, focus = view.graph, list(view.focus)
    for operation in ground_exactly(steps, view):
        done = apply(graph, operation, turn=view.turn, said="")
        graph, focus = done.graph, [*done.changed, *focus]
    return replace(view, graph=graph, focus=tuple(dict.fromkeys(focus)))


def values(view: View) -> dict[Key, str]:
    """What the slots of the open tasks hold."""
    return {
        Key(schema.name, slot): node.value
        for schema in view.schemas
        if (task := Filling(view).tasks[schema.name]) is not None
        for slot, nodes in held_slots(view.graph, task.id, schema).items()
        for node in nodes
        if node.active and node.value is not None
    }


def right(held: dict[Key, str], wanted: State) -> bool:
    """Whether slots hold what they should, and nothing else."""
    return held.keys() == wanted.keys() and all(
        any(_same(value, one) for one in wanted[key]) for key, value in held.items()
    )


def _same(value: str, wanted: str) -> bool:
    wanted = ANY if wanted == DONTCARE else wanted
    return value.lower() == wanted.lower() or sorted(forms(value)) == sorted(forms(wanted))


def measured(file: Path, local: Local) -> tuple[dict[str, float], list[str]]:
    """The figures of a file, and the spared turns that are read wrong."""
    turns = filling = spared = spared_filling = 0
    wrong: list[str] = []
    for turn, view in (pair for told in dialogues(file) for pair in met(told)):
        turns += 1
        fills = turn.before != turn.after
        filling += fills
        reading = local.fills(turn.user, view)
        if reading is None:
            continue
        spared += 1
        spared_filling += fills
        held = values(after(view, reading.steps))
        if not right(held, turn.after):
            wrong.append(f"{turn.system!r}: {turn.user!r} {_changes(held, values(view))}")
    return {
        "turns": turns, "spared": spared, "wrong": len(wrong), "coverage": spared / max(1, turns),
        "coverage_of_filling": spared_filling / max(1, filling),
        "precision": 1 - len(wrong) / max(1, spared),
    }, wrong  # fmt: skip


def _changes(held: dict[Key, str], before: dict[Key, str]) -> dict[str, str]:
    return {key.slot: value for key, value in held.items() if before.get(key) != value}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--wrong", action="store_true", help="also the spared turns that are read wrong")
    args = parser.parse_args()
    local = packaged()
    found: dict[str, dict[str, Any]] = {}
    with Progress(console=Console(stderr=True), disable=args.json) as progress:
        for file in progress.track(args.files):
            figures, wrong = measured(file, local)
            found[file.name] = {**figures, **({"wrong_turns": wrong} if args.wrong else {})}
    if args.json:
        print(json.dumps(found))
        return
    table = Table("file", "turns", "spared", "wrong", "coverage", "of filling", "precision")
    for name, row in found.items():
        counts = (str(row[key]) for key in ("turns", "spared", "wrong"))
        shares = (f"{row[key]:.1%}" for key in ("coverage", "coverage_of_filling", "precision"))
        table.add_row(name, *counts, *shares)
    Console().print(table)
    for row in found.values():
        for one in row.get("wrong_turns", ()):
            print(one)


if __name__ == "__main__":
    main()
