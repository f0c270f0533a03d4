"""Dialogues with what must hold after each turn: a player, a judge, and the turns known not to hold yet.

    python -m tests.judging [GROUP ...]    print every fault (of these groups), and whether it is known
    python -m tests.judging --rewrite      write tests/known.json anew from what does not hold now

A dialogue is {"name": ..., "turns": [...]}. A turn is {"session": "next"}, which begins a new thread of the
same user, or {"user": "the words"} with what must hold, all patterns being regular expressions:

    active_has, active_lacks  among the lines "title | slot | value" of the active tasks
    reply_has, reply_lacks    in the reply
    intents                   each of them is among the operations of the turn
    unchanged                 the active tasks are those of the turn before
    shared                    a task like the first pattern is tied, through parents and prerequisites in
                              either direction, to tasks like each of the others
    under, not_under          pairs (task, value): the value stands in the line of a task whose title or slot
                              is like the first, or of a part of it
    done                      among the lines of the tasks that are done
    depends                   pairs: a task like the first rests, at any remove, on one like the second
    junk_lacks                among the titles of the tasks that the turn made

The dialogues are the files in tests/dialogues (each a group of its own) and those in tests/wordings.json,
short ones that say their group. tests/known.json maps dialogues to the numbers of their turns that do not
hold yet.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from taskloom.agent.cli.script import play, read_script
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context

HERE = Path(__file__).parent
KNOWN = HERE / "known.json"
REWRITE = "python -m tests.judging --rewrite"
NOW = datetime(2026, 3, 2, 9)  # noqa: DTZ001  a Monday; the day on which every dialogue is played

Record: TypeAlias = Mapping[str, Any]  # a turn as `taskloom run --json` prints it
Want: TypeAlias = Mapping[str, Any]  # a turn of a dialogue: the words, and what must hold after them


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue, and the group it is played in; schemas: the kinds of tasks that its host gives."""

    name: str
    group: str
    turns: tuple[Want, ...]
    schemas: tuple[Mapping[str, Any], ...] = ()

    @property
    def said(self) -> tuple[Want, ...]:
        """The turns in which the user speaks; turn number n is the n-th of these."""
        return tuple(turn for turn in self.turns if "user" in turn)


# ---- reading --------------------------------------------------------------------------------------


def dialogues() -> tuple[Dialogue, ...]:
    """All dialogues there are; their names differ."""
    files = sorted((HERE / "dialogues").glob("*.json"))
    whole = [_dialogue(json.loads(file.read_text()), file.stem, file.stem) for file in files]
    short = [
        _dialogue(given, f"wordings/{given['name']}", f"wordings: {given['group']}")
        for given in json.loads((HERE / "wordings.json").read_text())
    ]
    return (*whole, *short)


def groups() -> dict[str, list[Dialogue]]:
    """The dialogues by group."""
    found: dict[str, list[Dialogue]] = {}
    for dialogue in dialogues():
        found.setdefault(dialogue.group, []).append(dialogue)
    return found


def known() -> dict[str, list[int]]:
    """The turns known not to hold, by the name of the dialogue."""
    found: dict[str, list[int]] = json.loads(KNOWN.read_text())
    return found


def _dialogue(given: Mapping[str, Any], name: str, group: str) -> Dialogue:
    return Dialogue(name, group, tuple(given["turns"]))


# ---- playing --------------------------------------------------------------------------------------


def opened(settings: Settings) -> Taskloom:
    """The product with these settings, on the day `NOW`."""
    return Taskloom.open(settings, services=replace(default_services(settings), clock=lambda: NOW))


def without_model(home: Path) -> Taskloom:
    """The product without a model, with its threads in a folder, on the day `NOW`."""
    return opened(Settings(home=home, model=""))


def played(app: Taskloom, dialogue: Dialogue) -> Iterator[Record]:
    """Say the turns of a dialogue in threads of its own, and give the record of each."""
    lines = read_script(json.dumps(dialogue.turns), dialogue.name)
    context = Context(user_id=dialogue.name, schemas=[dict(schema) for schema in dialogue.schemas])
    for turn in play(app, lines, thread=dialogue.name, context=context):
        yield turn.record()


# ---- judging --------------------------------------------------------------------------------------


def judged(records: Iterable[Record], dialogue: Dialogue) -> dict[int, list[str]]:
    """What does not hold, by the number of the turn (from 1)."""
    found, before = {}, None
    for number, (record, want) in enumerate(zip(records, dialogue.said, strict=True), 1):
        if wrong := faults(record, before, want):
            found[number] = wrong
        before = record
    return found


def faults(record: Record, before: Record | None, want: Want) -> list[str]:
    """What does not hold after a turn, in words.

    Args:
        record: the turn.
        before: the turn before, None for the first.
        want: what must hold.

    Raises:
        KeyError: something is wanted that the judge does not know.
    """
    return [
        fault
        for key, wanted in want.items()
        if key not in ("user", "note")
        for fault in _JUDGES[key](record, before, wanted)
    ]


def _active(record: Record) -> dict[str, str]:
    """The line of each active task by its id."""
    return {
        task["id"]: " | ".join(task[key] or "" for key in ("title", "slot", "value"))
        for task in record["tasks"]
        if task["status"] not in ("removed", "inactive")
    }


def _has(where: str, text: Callable[[Record], str]) -> _Judge:
    def judge(record: Record, before: Record | None, wanted: Sequence[str]) -> list[str]:
        return [f"{where} lacks {pattern!r}" for pattern in wanted if not re.search(pattern, text(record))]

    return judge


def _lacks(where: str, text: Callable[[Record], str]) -> _Judge:
    def judge(record: Record, before: Record | None, wanted: Sequence[str]) -> list[str]:
        return [f"{where} has {pattern!r}" for pattern in wanted if re.search(pattern, text(record))]

    return judge


def _intents(record: Record, before: Record | None, wanted: Sequence[str]) -> list[str]:
    there = {operation["intent"] for operation in record["operations"]}
    return [f"intent {one!r} is missing (there are {sorted(there)})" for one in wanted if one not in there]


def _unchanged(record: Record, before: Record | None, wanted: bool) -> list[str]:
    if not wanted or before is None:
        return []
    now, then = (sorted(_active(one).values()) for one in (record, before))
    gone, new = ([one for one in a if one not in b] for a, b in ((then, now), (now, then)))
    return [] if now == then else [f"the plan has changed: gone {gone}, new {new}"]


def _shared(record: Record, before: Record | None, wanted: Sequence[str]) -> list[str]:
    lines = _active(record)
    ties: dict[str, set[str]] = {key: set() for key in lines}
    for task in record["tasks"]:
        for other in (task["parent"], *task["depends_on"]):
            if task["id"] in lines and other in lines:
                ties[task["id"]].add(other)
                ties[other].add(task["id"])
    first, *others = wanted
    for key in (key for key, line in lines.items() if re.search(first, line)):
        reached, queue = {key}, [key]
        while queue:
            fresh = ties[queue.pop()] - reached
            reached |= fresh
            queue += fresh
        if all(any(re.search(pattern, lines[one]) for one in reached) for pattern in others):
            return []
    return [f"no task is shared by {list(wanted)}"]


def _under(record: Record, task: str, value: str) -> bool:
    """Whether a line like `value` is, or is part of, an active task whose title or slot is like `task`."""
    lines, by_id = _active(record), {task["id"]: task for task in record["tasks"]}
    for key in (key for key, line in lines.items() if re.search(value, line)):
        here, seen = by_id.get(key), set[str]()
        while here is not None and here["id"] in lines and here["id"] not in seen:
            if re.search(task, f"{here['title']} | {here['slot']}"):
                return True
            seen.add(here["id"])
            here = by_id.get(here["parent"])
    return False


def _is_under(record: Record, before: Record | None, wanted: Sequence[Sequence[str]]) -> list[str]:
    return [f"{value!r} is not under {task!r}" for task, value in wanted if not _under(record, task, value)]


def _is_not_under(record: Record, before: Record | None, wanted: Sequence[Sequence[str]]) -> list[str]:
    return [f"{value!r} is under {task!r}" for task, value in wanted if _under(record, task, value)]


def _done(record: Record) -> str:
    finished = {task["id"] for task in record["tasks"] if task["status"] == "done"}
    return "\n".join(line for key, line in _active(record).items() if key in finished)


def _depends(record: Record, before: Record | None, wanted: Sequence[Sequence[str]]) -> list[str]:
    lines, needs = _active(record), {task["id"]: task["depends_on"] for task in record["tasks"]}

    def rests(task: str, on: str) -> bool:
        seen, queue = set[str](), [key for key, line in lines.items() if re.search(task, line)]
        while queue:
            fresh = [key for key in needs[queue.pop()] if key in lines and key not in seen]
            seen |= set(fresh)
            queue += fresh
        return any(re.search(on, lines[key]) for key in seen)

    return [f"{task!r} does not rest on {on!r}" for task, on in wanted if not rests(task, on)]


def _junk(record: Record, before: Record | None, wanted: Sequence[str]) -> list[str]:
    old = _active(before) if before is not None else {}
    made = [
        task["title"] for task in record["tasks"] if task["id"] in _active(record) and task["id"] not in old
    ]
    return [f"made {title!r}" for pattern in wanted for title in made if re.search(pattern, title)]


def _text(record: Record) -> str:
    return "\n".join(_active(record).values())


def _reply(record: Record) -> str:
    return str(record["reply"])


_Judge: TypeAlias = Callable[[Record, Record | None, Any], list[str]]
_JUDGES: dict[str, _Judge] = {
    "active_has": _has("the plan", _text),
    "active_lacks": _lacks("the plan", _text),
    "reply_has": _has("the reply", _reply),
    "reply_lacks": _lacks("the reply", _reply),
    "intents": _intents,
    "unchanged": _unchanged,
    "shared": _shared,
    "under": _is_under,
    "not_under": _is_not_under,
    "done": _has("what is done", _done),
    "depends": _depends,
    "junk_lacks": _junk,
}


# ---- the list of what is known --------------------------------------------------------------------


def surprises(dialogue: Dialogue, found: Mapping[int, Sequence[str]], expected: Sequence[int]) -> list[str]:
    """Turns outside the list that do not hold, and turns in the list that do."""
    said = dialogue.said
    lost = [
        f"{dialogue.name}, turn {number} {said[number - 1]['user']!r}: {'; '.join(wrong)}"
        for number, wrong in found.items()
        if number not in expected
    ]
    won = [
        f"{dialogue.name}, turn {number} holds now: remove it from the list ({KNOWN.name}, or `{REWRITE}`)"
        for number in expected
        if number not in found
    ]
    return lost + won


def main(arguments: Sequence[str]) -> None:
    """Play, and print or write what does not hold."""
    rewrite, names = "--rewrite" in arguments, [one for one in arguments if not one.startswith("-")]
    if unknown := [one for one in names if one not in groups()]:
        sys.exit(f"there is no group {unknown[0]!r}; the groups are: {', '.join(groups())}")
    results: dict[str, list[int]] = {}
    listed = known() if KNOWN.exists() else {}
    turns = 0
    with TemporaryDirectory() as folder, without_model(Path(folder)) as app:
        for dialogue in dialogues():
            if names and dialogue.group not in names:
                continue
            found = judged(played(app, dialogue), dialogue)
            turns += len(dialogue.said)
            for number, wrong in found.items():
                mark = "known" if number in listed.get(dialogue.name, ()) else "NEW  "
                words = dialogue.said[number - 1]["user"]
                print(f"{mark} {dialogue.name}, turn {number} {words!r}: {'; '.join(wrong)}")
            if found:
                results[dialogue.name] = sorted(found)
    if rewrite and not names:
        rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(results[name])}" for name in sorted(results))
        KNOWN.write_text(f"{{\n{rows}\n}}\n" if rows else "{}\n")
    print(f"{turns - sum(map(len, results.values()))}/{turns} turns hold")


if __name__ == "__main__":
    main(sys.argv[1:])
