"""The annotated dialogues that the local reader learns from: their markup, read, checked and counted.

    python training/lines.py check [FILE ...]     # errors, and how many of which act; all files without
    python training/lines.py json [FILE ...]      # one JSON object a user turn

The markup is described in README.md beside this file. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

DIALOGUES = Path(__file__).parent / "dialogues"
SPENT = Path(__file__).parent / "spent"  # only read, without changes: tests that were looked at too often

SPLITS = {
    "train": (
        "apprentice", "architect", "bikes", "bookworm", "bouquets", "campus", "caterer", "chef",
        "clerk", "coach", "community", "coordinator", "customer", "devops", "dispatcher", "driver",
        "dungeon", "electrician", "engineer", "eventmanager", "family", "farmer", "fickle",
        "florist", "frontdesk", "grandmother", "halfword", "haulier", "headmistress",
        "headteacher", "household", "journeys", "labassistant", "landlord", "lead", "ledger",
        "lettings", "marketer", "newlywed", "nurse", "office", "organist", "parent",
        "photographer", "producer", "publandlady", "pune", "removals", "runner", "salon",
        "sevilla", "shelter", "shops", "shutter", "signalman", "stage", "steward", "student",
        "teams", "teen", "therapist", "threekids", "trader", "trades", "traveller", "treasurer",
        "turbines", "undecided", "werkstatt",
    ),
    "calibration": (
        "choir", "deskwork", "ecologist", "events", "guide", "hostel", "mixed", "parish",
        "translator", "vetnurse",
    ),
    "test": (
        "beekeeper", "organiser", "project", "swimclub",
    ),
    "last": ("bookshop", "workshop"),
}  # fmt: skip
"""Authors by what their dialogues are for: a split is by author, never by sentence; last is opened once."""

HELD_OUT = ("gamemaster", "lab", "mechanic", "paramedic", "physio")
"""Authors of recorded dialogues (tests/recordings) on which nothing is fitted."""

UNREAD = ("school", "student", "teacher", "translator", "workshop")
"""Those that the network has not read, and the trust in its readings is fitted on; it has read the others."""

KINDS = (
    "value", "who", "list", "count", "status", "summary", "left", "next", "needs", "dependents", "why",
    "before", "history", "claim", "ever", "other",
)  # fmt: skip
ACTS = (
    "task", "add", "set", "rename", "shift", "replace", "swap", "remove", "hold", "resume", "done", "reopen",
    "back", "undo", "redo", "need", "unneed", "share", "assign", "split", "merge", "only", "yes", "no",
    "chat", "unsure",
    *(f"ask.{kind}" for kind in KINDS),
)  # fmt: skip
ROLES = {
    "T": "target: what a clause is about", "V": "value", "O": "old value", "S": "name of a slot",
    "I": "item, step",
    "P": "person who gets or has something", "W": "whole that the rest is part of", "E": "what is excepted",
    "X": "words taken back in the same breath", "C": "value told by another task",
}  # fmt: skip
_NEEDED = {
    "set": "VCIPO", "shift": "VCIPO", "rename": "VCIPO", "assign": "P", "need": "I", "add": "IPV",
}  # fmt: skip
"""Roles of which a clause of an act has one at least."""

_SPAN = re.compile(r"\[([A-Z])(\d?) ([^\[\]]+)\]")
_CLAUSE = re.compile(r"([a-z.]+): ?(.*)")


class LineError(ValueError):
    """A line that does not follow the markup; the message says why."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One act: where its words stand in the text, and what it is."""

    start: int
    end: int
    act: str


@dataclass(frozen=True, slots=True)
class Span:
    """Words with a role; pair: spans of one clause that belong together have the same number, 0 is none."""

    start: int
    end: int
    role: str
    pair: int
    clause: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a turn does to the plan: an operation on a path, with a value or another path.

    op: '+' new, '=' value, '-' gone, '%' held, '^' back, 'x' done, 'o' open again, '~' renamed or moved,
    '@' waits for, '!@' no longer.
    """

    op: str
    path: tuple[str, ...]
    value: str = ""
    other: tuple[str, ...] = ()


@dataclass(slots=True)
class Turn:
    """What a user typed, read.

    before: what was said to the user last. plan: titles of what stands, where the file tells them.
    answers: words that an answer has.
    """

    text: str
    clauses: tuple[Clause, ...]
    spans: tuple[Span, ...]
    before: str = ""
    plan: str = ""
    reply: str = ""
    changes: list[Change] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    asks_back: bool = False


@dataclass(slots=True)
class Dialogue:
    """author: the folder of its file."""

    author: str
    title: str
    turns: list[Turn] = field(default_factory=list)


# ---- the markup -----------------------------------------------------------------------------------


def read_text(marked: str) -> Turn:
    """A user's line: 'set: [T the dinner] on [V friday] || chat: yay'.

    Raises:
        LineError: a clause without an act, unknown acts and roles, brackets that are no span, a clause that
            lacks what its act is about.
    """
    text, clauses, spans = "", list[Clause](), list[Span]()
    for part in re.split(r"\s*\|\|\s*", marked):
        found = _CLAUSE.match(part)
        if found is None or found[1] not in ACTS:
            raise LineError(f"no act before {part[:30]!r}")
        text += " " if text else ""
        start, at, roles = len(text), 0, set[str]()
        for span in _SPAN.finditer(found[2]):
            text += found[2][at : span.start()]
            if span[1] not in ROLES:
                raise LineError(f"there is no role {span[1]}")
            spans.append(Span(len(text), len(text) + len(span[3]), span[1], int(span[2] or 0), len(clauses)))
            roles.add(span[1])
            text, at = text + span[3], span.end()
        text += found[2][at:]
        if not text[start:].strip():
            raise LineError("an empty clause")
        needed = _NEEDED.get(found[1], "")
        goes_on = found[1] == "need" and "T" in roles and any(one.act == "need" for one in clauses)
        if needed and not goes_on and not roles & set(needed):
            raise LineError(f"{found[1]} without {', '.join(needed)}")
        clauses.append(Clause(start, len(text), found[1]))
    if re.search(r"[\[\]]", text):
        raise LineError("brackets that are no span")
    return Turn(text, tuple(clauses), tuple(spans))


def path_of(text: str) -> tuple[str, ...]:
    """'dinner > guests > Ann' in parts."""
    return tuple(part.strip() for part in text.split(">"))


def read_change(line: str) -> Change:
    """'= dinner > date: friday', '+ dinner > cake', '@ paint : plaster'.

    Raises:
        LineError: no such operation, or it lacks something.
    """
    op, _, rest = line.strip().partition(" ")
    if op in ("+", "-", "%", "^", "x", "o"):
        return Change(op, path_of(rest))
    if op == "=":
        path, colon, value = rest.partition(":")
        if not colon or ">" not in path or not value.strip():
            raise LineError("a property belongs to something: path > property: value")
        return Change(op, path_of(path), value.strip())
    parts = {"~": "->", "@": " : ", "!@": " : "}
    if op not in parts:
        raise LineError(f"no change begins with {op!r}")
    one, between, other = rest.partition(parts[op])
    if not between:
        raise LineError(f"{op} needs two paths with {parts[op].strip()!r} between them")
    return Change(op, path_of(one), other=path_of(other))


def read_file(file: Path) -> tuple[list[Dialogue], list[str]]:
    """The dialogues of a file, and what is wrong with it, a line each."""
    dialogues, wrong = list[Dialogue](), list[str]()
    plan, last, before, titles = Plan(), "", "", ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            if not line.strip():
                continue
            if line.startswith("# "):
                dialogues.append(Dialogue(file.parent.name, line[2:].strip()))
                plan, last, before = Plan(), "", ""
                continue
            if not dialogues:
                raise LineError("no title of a dialogue yet")
            turns = dialogues[-1].turns
            if line.startswith("P: "):
                titles = line[3:].strip()
            elif line.startswith("U: "):
                if last == "U":
                    raise LineError("two users' turns in a row")
                last = "U"
                turns.append(Turn("", (), (), before))
                turns[-1] = read_text(line[3:])
                turns[-1].before, turns[-1].plan, titles = before, titles, ""
            elif line.startswith("A: ") and (last == "U" or not turns):
                last, before = "A", line[3:].strip()
                if turns:
                    turns[-1].reply = before
            elif line.startswith("  ") and last == "U":
                _add(turns[-1], line, plan)
            else:
                raise LineError("no line begins so here")
        except LineError as error:
            wrong.append(f"{file}:{number}: {error}: {line[:100]}")
    return dialogues, wrong


def _add(turn: Turn, line: str, plan: Plan) -> None:
    op, _, rest = line.strip().partition(" ")
    if op == "??":
        turn.asks_back = True
    elif op == "?":
        if not rest.strip():
            raise LineError("no answer")
        turn.answers.append(rest.strip())
    else:
        change = read_change(line)
        plan.apply(change)
        turn.changes.append(change)


# ---- the state ------------------------------------------------------------------------------------


class Plan:
    """What stands after the changes so far; paths are alike in any case.

    state: each path with its value, None for tasks, items and people.
    """

    def __init__(self) -> None:
        self.state: dict[tuple[str, ...], str | None] = {}
        self.gone: dict[tuple[str, ...], str | None] = {}
        self.done: set[tuple[str, ...]] = set()
        self.waits: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()

    def apply(self, change: Change) -> None:
        """Play one change.

        Raises:
            LineError: it is about what is not there, or changes nothing.
        """
        path, other = path_key(change.path), path_key(change.other)
        {"+": self._new, "=": self._value, "-": self._leaves, "%": self._leaves, "^": self._returns,
         "x": self._finished, "o": self._finished, "~": self._moved, "@": self._waits, "!@": self._waits,
         }[change.op](change, path, other)  # fmt: skip

    def _here(self, path: tuple[str, ...]) -> None:
        if path not in self.state:
            raise LineError(f"{' > '.join(path)} is not there")

    def _new(self, _: Change, path: tuple[str, ...], __: tuple[str, ...]) -> None:
        if path in self.state:
            raise LineError("is there already")
        for size in range(1, len(path) + 1):
            self.state.setdefault(path[:size], None)

    def _value(self, change: Change, path: tuple[str, ...], _: tuple[str, ...]) -> None:
        if self.state.get(path) == change.value:
            raise LineError("has that value already")
        for size in range(1, len(path)):
            self.state.setdefault(path[:size], None)
        self.state[path] = change.value

    def _leaves(self, _: Change, path: tuple[str, ...], __: tuple[str, ...]) -> None:
        self._here(path)
        for one in self._below(self.state, path):
            self.gone[one] = self.state.pop(one)

    def _returns(self, _: Change, path: tuple[str, ...], __: tuple[str, ...]) -> None:
        found = self._below(self.gone, path)
        if not found:
            raise LineError("was never taken out")
        for one in found:
            self.state[one] = self.gone.pop(one)

    def _finished(self, change: Change, path: tuple[str, ...], _: tuple[str, ...]) -> None:
        self._here(path)
        if (path in self.done) == (change.op == "x"):
            raise LineError("is so already")
        self.done ^= {path}

    def _moved(self, _: Change, path: tuple[str, ...], other: tuple[str, ...]) -> None:
        self._here(path)
        for one in self._below(self.state, path):
            self.state[other + one[len(path) :]] = self.state.pop(one)
        self.done = {other + one[len(path) :] if one[: len(path)] == path else one for one in self.done}

    def _waits(self, change: Change, path: tuple[str, ...], other: tuple[str, ...]) -> None:
        self._here(path)
        self._here(other)
        (self.waits.add if change.op == "@" else self.waits.discard)((path, other))

    @staticmethod
    def _below(state: Iterable[tuple[str, ...]], path: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [one for one in state if one[: len(path)] == path]


def path_key(path: Sequence[str]) -> tuple[str, ...]:
    """A path as it is looked up, in whatever case it was written."""
    return tuple(part.lower() for part in path)


# ---- all of them ----------------------------------------------------------------------------------


def files(authors: Sequence[str] = ()) -> list[Path]:
    """The files of some authors, or of all."""
    return sorted(file for file in DIALOGUES.glob("*/*.txt") if not authors or file.parent.name in authors)


def load(split: str) -> list[Dialogue]:
    """The dialogues of a split.

    Raises:
        LineError: a file does not follow the markup.
    """
    return read_files(files(SPLITS[split]))


def read_files(chosen: Iterable[Path]) -> list[Dialogue]:
    """The dialogues of some files.

    Raises:
        LineError: a file does not follow the markup.
    """
    found = list[Dialogue]()
    for file in chosen:
        dialogues, wrong = read_file(file)
        if wrong:
            raise LineError(wrong[0])
        found += dialogues
    return found


def counts(dialogues: Iterable[Dialogue]) -> Counter[str]:
    """How many dialogues, turns, turns of several acts, clauses, spans, and clauses of each act."""
    found = Counter[str]()
    for dialogue in dialogues:
        found["dialogues"] += 1
        for turn in dialogue.turns:
            found["turns"] += 1
            found["turns of several acts"] += len(turn.clauses) > 1
            found["clauses"] += len(turn.clauses)
            found["spans"] += len(turn.spans)
            found.update(clause.act for clause in turn.clauses)
    return found


def rows(dialogues: Iterable[Dialogue]) -> Iterator[dict[str, object]]:
    """Each turn as plain data."""
    for dialogue in dialogues:
        for number, turn in enumerate(dialogue.turns, 1):
            yield {"author": dialogue.author, "dialogue": dialogue.title, "turn": number, **asdict(turn)}


def main() -> int:
    """Check or print files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("check", "json"))
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    args = parser.parse_args()
    found, errors = list[Dialogue](), list[str]()
    for file in args.files or files():
        dialogues, wrong = read_file(file)
        found += dialogues
        errors += wrong
    for error in errors:
        print(error, file=sys.stderr)
    if args.what == "json":
        for row in rows(found):
            print(json.dumps(row, ensure_ascii=False))
    else:
        told = counts(found)
        print(", ".join(f"{count} {name}" for name, count in told.most_common()))
        print(f"never: {', '.join(act for act in ACTS if not told[act]) or 'none'}; {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
