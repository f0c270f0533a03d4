"""Sentences made of forms: plain ways to say one thing, filled with the names and values of kinds of task.

    python training/forms.py [FOLDER ...] [--show 60]     # sentences at random, to be read aloud

A folder of forms/ is what one author wrote: kinds.txt (titles, references, slots, lists, steps, people of
everyday tasks) and wordings.txt (forms with placeholders, in the markup of the dialogues). README.md beside
this file describes both. The dialogues teach how people really talk; the forms teach what these hardly ever
have: the task, the slot and the value, all named in one plain sentence.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from lines import Dialogue, LineError, Turn, read_text

from taskloom.agent.grounding.resolving.scoring import bare
from taskloom.agent.reading.heard import listed

FORMS = Path(__file__).parent / "forms"
UNREAD = Path(__file__).parent / "forms_trust"  # of authors that only the trust in readings is fitted on
APART = Path(__file__).parent / "forms_kept"  # of authors that nothing is trained on
TYPES = ("name", "time", "date", "money", "count", "place", "phone", "text")
STEPS = ("step", "stepping", "stepped", "thing")
TURNS = 6  # of a dialogue that is made up
SAYING = re.compile(r"\[([YQ])(\d?)\]")
PLACE = re.compile(r"\[([A-Z])(\d?)(?::([^\[\]]+))?\]")
_REPLIES = (
    "", "", "", "", "Noted “{title}”.", "Noted \"{title}\": {slot} {value}.", "The {slot} is {value}.",
    "The {slot} is now {value} (it was {other}).", "Added {item} to {ref}.", "It is {value}.",
    "I am not sure that I understood that, so I changed nothing. Could you say it in shorter sentences?",
    "Added the {slot}: {value}.", "Which {slot} do you want?", "What is the {slot}?",
    "You have nothing left.", "{ref}: {slot} {value}.", "Took {item} out of {ref}.",
    "All right. Your tasks are as they were.",
    "{step} is done.", "Did you mean: set the {slot} to {value}?", "You are welcome.",
)  # fmt: skip


SAYINGS = {
    "saying": (
        "set: [Y]", "set: [Y].", "set: for [T], [Y]", "set: [T]: [Y]", "set: by the way, [Y]",
        "set: with [T] [Y]", "set: I just heard, [Y].", "set: [Y], that's for [T]", "set: about [T], [Y].",
        "set: ok so [Y]",
    ),
    "two sayings": (
        "set: [Y1] and [Y2]", "set: [Y1]. [Y2].", "set: for [T], [Y1], and [Y2]", "set: [Y1], plus [Y2]",
    ),
    "changed saying": (
        "set: [Y] now", "set: it turns out [Y]", "set: change of plan, [Y]", "set: for [T], [Y] now",
        "set: no, [Y]", "set: they've changed it, [Y].", "set: [Y] after all", "set: now [Y]",
    ),
    "saying of an item": (
        "add: [Y]", "add: for [W], [Y].", "add: oh and [Y]", "add: [Y] too", "add: also, [Y].",
    ),
    "ask by saying": (
        "ask.value: [Q]?", "ask.value: remind me, [Q]", "ask.value: for [T], [Q]?", "ask.value: and [Q]?",
        "ask.value: [Q] again?", "ask.value: so [Q] with [T]?",
    ),
    "ask list by saying": ("ask.list: [Q]?", "ask.list: for [W], [Q]?", "ask.list: so [Q]?"),
}  # fmt: skip
"""Forms of sentences that say what a slot is without naming it, by group; [Y] is a saying, [Q] a question."""


class FormError(ValueError):
    """A file of forms does not follow its markup; the message says where."""


@dataclass(slots=True)
class Slot:
    """A slot of a kind: its type, its names, and values that it could have.

    sayings: sentences that give it a value without its name. questions: that ask for it so.
    """

    type: str
    names: list[str]
    values: list[str]
    sayings: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Kind:
    """A kind of task: how it is opened and referred to, and what it has.

    lists: names and items. steps: four forms each, see STEPS. sayings, questions: as of a slot, of lists.
    """

    name: str = ""
    titles: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    lists: list[tuple[list[str], list[str]]] = field(default_factory=list)
    steps: list[list[str]] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    sayings: dict[str, list[str]] = field(default_factory=dict)
    questions: dict[str, list[str]] = field(default_factory=dict)


def read_kinds(file: Path) -> list[Kind]:
    """The kinds of a file.

    Raises:
        FormError: a line is none of those that a kind has.
    """
    kinds = list[Kind]()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        head, colon, rest = line.partition(":")
        words = head.split()
        if not line.strip():
            continue
        if line.startswith("# "):
            kinds.append(Kind(line[2:].strip()))
        elif not kinds or not colon or not _put(kinds[-1], words, rest):
            raise FormError(f"{file}:{number}: no line of a kind: {line[:60]}")
    _read_sayings(file.with_name("sayings.txt"), kinds)
    return kinds


def _read_sayings(file: Path, kinds: Sequence[Kind]) -> None:
    """Give kinds the sayings of a file, if there is one."""
    kind, named = Kind(), {kind.name: kind for kind in kinds}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.exists() else (), 1):
        if line.startswith("# ") and line[2:].strip() in named:
            kind = named[line[2:].strip()]
        elif line.strip() and not _put_saying(kind, *line.partition(": ")[::2]):
            raise FormError(f"{file}:{number}: no saying of a slot or list of “{kind.name}”: {line[:60]}")


def _put_saying(kind: Kind, name: str, rest: str) -> bool:
    told = [one.strip().rstrip(".?") for one in rest.split(";") if one.strip()]
    asks, name = name.endswith("?"), name.rstrip("?")
    named = [one for one in kind.slots if one.names[0] == name]  # two have their lines in the same order
    fresh = (one for one in named if not (one.questions if asks else one.sayings))
    slot = next(fresh, named[0] if named else None) if "[I]" not in rest else None
    place = "[V]" if slot is not None else "[I]"
    if any(one.count(place) != (not asks) for one in told):
        return False
    if slot is not None:
        (slot.questions if asks else slot.sayings).extend(told)
    elif any(names[0] == name for names, _ in kind.lists):
        (kind.questions if asks else kind.sayings).setdefault(name, []).extend(told)
    else:
        return False
    return True


def _put(kind: Kind, head: Sequence[str], rest: str) -> bool:
    parts = [part.strip() for part in rest.split("|")]
    named = [[one.strip() for one in part.split(";") if one.strip()] for part in parts]
    if head == ["title"]:
        kind.titles += parts
    elif head == ["ref"]:
        kind.refs += parts
    elif head == ["people"]:
        kind.people += named[0]
    elif head == ["list"] and len(named) == 2:
        kind.lists.append((named[0], named[1]))
    elif head == ["step"] and len(parts) == len(STEPS):
        kind.steps.append(parts)
    elif head[:1] == ["slot"] and len(head) == 2 and head[1] in TYPES and len(named) == 2:
        kind.slots.append(Slot(head[1], named[0], named[1]))
    else:
        return False
    return True


def read_wordings(file: Path) -> dict[str, list[str]]:
    """The forms of a file, by the heading that they stand under."""
    found: dict[str, list[str]] = {}
    group = found.setdefault("", [])
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = found.setdefault(line[3:].strip(), [])
        elif line.strip() and not line.startswith("#"):
            group.append(line.strip())
    return {name: forms for name, forms in found.items() if forms}


class Filling:
    """The placeholders of one form, filled from one kind: the same slot where the number is the same.

    Raises:
        LookupError: the kind lacks what the form needs.
    """

    def __init__(self, form: str, kind: Kind, chance: random.Random) -> None:
        self.kind, self.chance = kind, chance
        self.used = set[str]()
        self.ref = chance.choice(kind.refs)
        self.slots: dict[str, Slot] = {}
        self.list = chance.choice(kind.lists) if kind.lists else None
        self.form = SAYING.sub(self._saying, form)
        types: dict[str, str] = {}
        for role, number, what in PLACE.findall(self.form):
            if role in "SVOX" and what in TYPES:
                types[number] = what
            elif role in "SVOX" and not what:
                types.setdefault(number, "")
        for number, its in types.items():
            if number in self.slots:
                continue
            fit = [
                one for one in kind.slots if (not its or one.type == its) and one.names[0] not in self.used
            ]
            if not fit:
                raise LookupError(its)
            self.slots[number] = chance.choice(fit)
            self.used.add(self.slots[number].names[0])

    def _saying(self, place: re.Match[str]) -> str:
        """A saying of a slot that is not used yet, or of the list where the form is about one."""
        asks, number = place[1] == "Q", place[2]
        if place.string.startswith(("add", "ask.list")):
            told = (self.kind.questions if asks else self.kind.sayings).get(
                self.list[0][0] if self.list else ""
            )
            chosen = self.chance.choice(told or self._none())
            return chosen if asks else re.sub(r"\[S ([^\]]*)\]", r"\1", chosen)  # a verb is no list's name
        fit = [one for one in self.kind.slots if one.names[0] not in self.used
               and (one.questions if asks else one.sayings)]  # fmt: skip
        slot = self.slots[number] = self.chance.choice(fit or self._none())
        self.used.add(slot.names[0])
        said = self.chance.choice(slot.questions if asks else slot.sayings)
        return re.sub(r"\[([SV])", rf"[\g<1>{number}", said)

    def _none(self) -> NoReturn:
        raise LookupError("saying")

    def __call__(self, place: re.Match[str]) -> str:
        """A placeholder filled, in the markup."""
        role, number, what = place[1], place[2], place[3] or ""
        pair = number if len(self.slots) > 1 else ""
        return f"[{role}{pair} {self.words(role, number, what)}]"

    def words(self, role: str, number: str, what: str) -> str:
        """The words for a placeholder; what: of which kind they are.

        Raises:
            LookupError: the kind of task lacks it.
        """
        if what.startswith("="):
            return what[1:]
        if what in STEPS:
            return self._new([step[STEPS.index(what)] for step in self.kind.steps], again=STEPS.index(what))
        if what == "title":
            return self.chance.choice(self.kind.titles)
        if what in ("list", "item") or role in "IE":
            if self.list is None:
                raise LookupError("list")
            return self.chance.choice(self.list[0]) if what == "list" else self._new(self.list[1])
        if role == "P" or what in ("P", "person"):
            return self._new(self.kind.people)
        if role in "TW":
            return self.ref
        slot = self.slots[number]
        return self.chance.choice(slot.names) if role == "S" else self._new(slot.values)

    def _new(self, words: Sequence[str], again: int | None = None) -> str:
        """Words that were not used yet; again: of steps, of which no form of the same one is used twice."""
        fit = [at for at, one in enumerate(words) if one not in self.used]
        if again is not None:
            fit = [at for at in fit if not self.used & set(self.kind.steps[at])]
        if not fit:
            raise LookupError("no other")
        chosen = words[self.chance.choice(fit)]
        self.used.add(chosen)
        return chosen


def filled(form: str, kind: Kind, chance: random.Random) -> str | None:
    """A form in the markup of the dialogues, with the names of a kind; None where this lacks something."""
    try:
        filling = Filling(form, kind, chance)
        return PLACE.sub(filling, filling.form)
    except LookupError:
        return None


def typed(marked: str, chance: random.Random) -> str:
    """As somebody types it: with a capital at the beginning, or all in lower case."""
    if chance.random() < 0.12:
        return re.sub(r"(?<=\[)([A-Z]\d?) ([^\]]*)", lambda one: f"{one[1]} {one[2].lower()}", marked)
    act, colon, rest = marked.partition(": ")
    capital = rest[-1:] in ".?!" or chance.random() < 0.3
    rest = re.sub(r"^(\[[A-Z]\d? )?([a-z])", lambda one: (one[1] or "") + one[2].upper(), rest)
    return f"{act}{colon}{rest}" if capital else marked


def before(kind: Kind, chance: random.Random) -> str:
    """What the assistant said last, about a task of the kind."""
    slot = chance.choice(kind.slots)
    items = [item for _, those in kind.lists for item in those] or ["it"]
    steps = [step[3] for step in kind.steps] or ["that"]
    said = chance.choice(_REPLIES).format(
        title=chance.choice(kind.titles), ref=chance.choice(kind.refs), slot=chance.choice(slot.names),
        value=chance.choice(slot.values), other=chance.choice(slot.values), item=chance.choice(items),
        step=chance.choice(steps),
    )  # fmt: skip
    return said[:1].upper() + said[1:]


def made(
    wordings: Mapping[str, Sequence[str]], kinds: Sequence[Kind], chance: random.Random
) -> Iterator[Turn]:
    """Turns without end: every group as often, every form of it.

    Raises:
        FormError: a form that no kind can fill, or that does not follow the markup.
    """
    groups = list(wordings)
    while True:
        form = chance.choice(wordings[chance.choice(groups)])
        for _ in range(200):
            kind = chance.choice(kinds)
            marked = filled(form, kind, chance)
            if marked is not None:
                break
        else:
            raise FormError(f"no kind fills this form: {form}")
        try:
            turn = read_text(typed(marked, chance))
        except LineError as error:
            raise FormError(f"{error}: {form}") from error
        turn.before, turn.plan = before(kind, chance), standing(turn, kind, kinds, chance)
        yield turn


def standing(turn: Turn, kind: Kind, kinds: Sequence[Kind], chance: random.Random) -> str:
    """Titles of a plan that a form could be said of: what it names, more of its kind, other tasks."""
    acts, new = [clause.act for clause in turn.clauses], set[str]()
    there = list[str]()
    for span in turn.spans:
        text = turn.text[span.start : span.end]
        step = next((one[0] for one in kind.steps if text in one), text)
        makes = acts[span.clause] in ("add", "task") and span.role in "IT"
        (new.add(step) if makes else there.append(step) if span.role in "IEO" else None)
    begins = any(act == "task" for act in acts) and not there
    own = [step[0] for step in kind.steps] + [one for names, items in kind.lists for one in (*names, *items)]
    own = [one for one in chance.sample(own, min(len(own), chance.randrange(5))) if one not in new]
    parts = list(dict.fromkeys([*there, *([] if begins else own)]))
    others = [chance.choice(one.titles) for one in chance.sample(list(kinds), chance.randrange(1, 6))]
    if not begins:
        others.insert(
            0 if chance.random() < 0.7 else chance.randrange(len(others)), chance.choice(kind.titles)
        )
    elif chance.random() < 0.3:
        return ""
    lead = chance.sample(parts, min(len(parts), chance.randrange(3)))
    titles = [*lead, *others, *(one for one in parts if one not in lead)]
    return listed(bare(title) for title in titles)


def authors(folders: Sequence[Path] = ()) -> list[tuple[dict[str, list[str]], list[Kind]]]:
    """Wordings and kinds of each author."""
    chosen = folders or sorted(one for one in FORMS.iterdir() if one.is_dir())
    found = [(read_wordings(one / "wordings.txt"), read_kinds(one / "kinds.txt")) for one in chosen]
    say = any(slot.sayings for _, kinds in found for kind in kinds for slot in kind.slots)
    more: dict[str, list[str]] = {name: [*told] for name, told in SAYINGS.items()} if say else {}
    return [(wordings | more, kinds) for wordings, kinds in found]


def dialogues(
    count: int, seed: int, folders: Sequence[Path] = (), groups: Container[str] | None = None
) -> list[Dialogue]:
    """As many turns as count, in dialogues: each author's wordings with the kinds of all.

    groups: of wordings; None: all.
    """
    chance, found = random.Random(seed), authors(folders)
    kinds = [kind for _, those in found for kind in those]
    told = [{name: one[name] for name in one if groups is None or name in groups} for one, _ in found]
    turns = [made(wordings, kinds, chance) for wordings in told]
    return [
        Dialogue("forms", str(number), [next(turns[number % len(turns)]) for _ in range(TURNS)])
        for number in range(count // TURNS)
    ]


def main() -> int:
    """Show sentences, and what is wrong with forms."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=60)
    args = parser.parse_args()
    wrong, chance = 0, random.Random()
    kinds = [
        kind for one in args.folders or sorted(FORMS.iterdir()) for kind in read_kinds(one / "kinds.txt")
    ]
    for folder in args.folders or sorted(FORMS.iterdir()):
        for name, forms in read_wordings(folder / "wordings.txt").items():
            for form in forms:
                try:
                    next(made({name: [form]}, kinds, chance))
                except FormError as error:
                    wrong += 1
                    print(f"{folder.name}, {name}: {error}", file=sys.stderr)
            print(f"{folder.name}, {name}: {len(forms)}")
    if not wrong:
        for dialogue in dialogues(max(args.show, TURNS), chance.randrange(10**6), args.folders):
            for turn in dialogue.turns:
                print(f"  {turn.text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
