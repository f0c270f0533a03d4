"""Turns into new facts: from the changes of their tasks, and from what a model says of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from .records import Fact, record_id
from .sentences import inline_title, people_of, says_same, sentence, value_of
from .tasks import Revision, TaskGraph, TaskNode
from .words import MONTHS, content_words, words

GROUNDED = 0.5
"""Share of a unit's content words that its cited turns must have, beside all of its names and numbers."""


class Exchange(BaseModel):
    """One turn of a dialogue, with whatever number of people."""

    model_config = ConfigDict(frozen=True)
    thread: str
    turn: int
    at: AwareDatetime
    said: str
    reply: str = ""
    speaker: str = Field(default="", description="Who said it; empty is the user.")


def summarise(
    turns: Sequence[Exchange],
    tasks: TaskGraph,
    model: Summariser | None = None,
    called: Callable[[str], str] = inline_title,
) -> tuple[Fact, ...]:
    """The new facts of a batch: the tasks' changes, and with a model what else it tells; in time order."""
    from_model = facts_of(model(turns), turns) if model else ()
    return tuple(sorted((*summarise_changes(turns, tasks, called), *from_model), key=lambda fact: fact.turn))


# ---- the changes of the tasks ---------------------------------------------------------------------


def summarise_changes(
    turns: Sequence[Exchange], tasks: TaskGraph, called: Callable[[str], str] = inline_title
) -> tuple[Fact, ...]:
    """A fact for each change of what the tasks say in these turns; one that was changed again is history.

    `rests_on` names what it may rest on: what the task said before, and its whole and its prerequisites as
    they were told last; not reduced, and maybe never stored.

    Args:
        turns: of one thread.
        tasks: of that thread, as they are now.
        called: gives a title the article it needs.

    Returns:
        Facts in the order of their turns.
    """
    batch = {turn.turn: turn for turn in turns}
    known: dict[str, list[_Telling]] = {}

    def tellings_of(key: str) -> list[_Telling]:
        if key not in known:
            known[key] = _tellings(tasks, tasks[key], called)
        return known[key]

    def rested(telling: _Telling, turn: Exchange) -> tuple[str, ...]:
        whole = (telling.state.parent,) if telling.state.parent else ()
        needed = (telling.key, *telling.state.depends_on, *whole)
        found = (_last(tellings_of(key), turn.turn) for key in needed)
        return tuple(record_id(turn.thread, one.state.turn, "fact", one.key) for one in found if one)

    found = []
    index = tasks_by_turn(tasks)
    changed = {key for number in batch for key in index.get(number, ())}
    for key in [key for key in tasks if key in changed] if changed else ():
        for telling, then in zip_longest(tellings_of(key), tellings_of(key)[1:]):
            if turn := batch.get(telling.state.turn):
                until = batch.get(then.state.turn) if then else None
                found.append(_fact(tasks, telling, turn, until, rested(telling, turn)))
    return tuple(sorted(found, key=lambda fact: fact.turn))


def tasks_by_turn(tasks: TaskGraph) -> Mapping[int, tuple[str, ...]]:
    """Ids of the tasks that turns made or changed, by the number of the turn."""
    return tasks.index(_turns)


def _turns(node: TaskNode) -> Iterable[int]:
    return (state.turn for state in node.states())


@dataclass(frozen=True, slots=True)
class _Telling:
    """The sentence for a state of a task."""

    key: str
    state: Revision
    text: str
    value: str | None


def _fact(
    tasks: TaskGraph, telling: _Telling, turn: Exchange, until: Exchange | None, rests_on: tuple[str, ...]
) -> Fact:
    """What a task says as a fact of a turn; until: the turn that ended it."""
    state = telling.state
    return Fact(
        id=record_id(turn.thread, turn.turn, "fact", telling.key),
        text=telling.text,
        at=turn.at,
        thread=turn.thread,
        turn=turn.turn,
        people=people_of(tasks, state),
        subject=tasks[state.parent].title if state.parent else "",
        slot=state.slot,
        value=telling.value,
        sources=(turn.turn,),
        rests_on=rests_on,
        status="former" if until else "current",
        until=until.at if until else None,
    )


def _last(tellings: Sequence[_Telling], turn: int) -> _Telling | None:
    """The last sentence before a turn."""
    return next((one for one in reversed(tellings) if one.state.turn < turn), None)


def _tellings(tasks: TaskGraph, node: TaskNode, called: Callable[[str], str]) -> list[_Telling]:
    """The sentences for the states of a task that say something new; of one turn only the last counts."""
    found: list[_Telling] = []
    for state in {state.turn: state for state in node.states()}.values():
        if state.status == "proposed" or state.source.startswith("tool:"):  # nobody has said so
            continue
        value = value_of(tasks, node, state)
        text = sentence(tasks, state, value, bool(found), called)
        if text and not (found and says_same((found[-1].value, found[-1].text), (value, text))):
            found.append(_Telling(node.id, state, text, value))
    return found


# ---- narrative units of a model -------------------------------------------------------------------

_MONTH = "|".join(MONTHS)
_DAY = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH})|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?)\b", re.IGNORECASE
)
_EXACT = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+|\d[\w:.,]*")


class Unit(BaseModel):
    """One narrative unit, as a model gives it; what no turn says is dropped, see `grounded`."""

    model_config = ConfigDict(frozen=True)
    text: str = Field(min_length=1, max_length=1000, description="One sentence that stands by itself.")
    sources: tuple[int, ...] = Field(description="Numbers of the turns that say so.")
    people: tuple[str, ...] = Field(default=(), description="Names of whom it is about; none for the user.")
    subject: str = Field(default="", description="What it is about.")
    slot: str | None = Field(default=None, description="What of the subject it gives a value of.")
    value: str | None = Field(default=None, description="That value, in the words of the dialogue.")


class Summariser(Protocol):
    """A model that tells turns as narrative units, all in one call."""

    def __call__(self, turns: Sequence[Exchange]) -> Iterable[Unit]:
        """The units; unsound ones are dropped later."""
        ...


def grounded(unit: Unit, turns: Sequence[Exchange], share: float = GROUNDED) -> bool:
    """Whether a unit cites turns that exist and say it.

    They have to have every name and number of its text, its people and its value, and a share of its other
    content words, in what was said: a reply may repeat what was known before. Dates of a week around a turn
    are not held against it: 'yesterday' may be told as a date.
    """
    cited = [turn for turn in turns if turn.turn in unit.sources]
    if not cited or set(unit.sources) - {turn.turn for turn in cited}:
        return False
    said = {word for turn in cited for word in content_words(f"{turn.speaker} {turn.said} {_around(turn)}")}
    days = _days(cited)
    text = _DAY.sub(lambda found: "" if words(found[0]) in days else found[0], unit.text)
    content = [word for word in content_words(text) if word != "user"]
    exact = content_words(" ".join((*_EXACT.findall(text), *unit.people, unit.value or "")))
    return (
        bool(content)
        and sum(word in said for word in content) >= share * len(content)
        and said.issuperset(exact)
    )


def _around(turn: Exchange) -> str:
    """Months and years that a turn may speak of without naming them: this one, the last and the next."""
    near = (turn.at + timedelta(days=days) for days in (-30, 0, 30))
    years = (turn.at.year + years for years in (-1, 0, 1))
    return " ".join((*(MONTHS[one.month - 1] for one in near), *map(str, years)))


def _days(turns: Iterable[Exchange]) -> set[tuple[str, ...]]:
    """The days from a week before the turns to a week after them, as stems in both orders."""
    days = (turn.at + timedelta(days=offset) for turn in turns for offset in range(-7, 8))
    named = {words(f"{one.day} {MONTHS[one.month - 1]}") for one in days}
    return named | {pair[::-1] for pair in named}


def facts_of(units: Iterable[Unit], turns: Sequence[Exchange]) -> tuple[Fact, ...]:
    """The grounded ones of a model's units as facts, each of the time of the last turn that it cites."""
    by_number = {turn.turn: turn for turn in turns}
    found = {}
    for unit in units:
        if not grounded(unit, turns):
            continue
        last = by_number[max(unit.sources)]
        key = record_id(last.thread, last.turn, "fact", unit.text)
        found[key] = Fact(
            id=key,
            text=unit.text,
            at=last.at,
            thread=last.thread,
            turn=last.turn,
            people=unit.people,
            subject=unit.subject,
            slot=unit.slot or None,
            value=unit.value or None,
            sources=tuple(sorted(set(unit.sources))),
        )
    return tuple(found.values())
