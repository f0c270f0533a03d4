"""Turns into facts, in batches: summarise, align, cluster, decide, apply (TeleMem, arXiv 2601.06037). Pure.

Everything works without a model: facts come from the task graph's own revisions and are decided on by slot
and time. With a model (`Summariser`, `Decider`) narrative units join them, and clusters of like ones are
decided on by it, within a number of calls. The steps for a batch:

    facts = summarise(turns, tasks, model)              # new facts
    vectors = ...                                       # theirs, and of the stored facts most like them
    done = consolidate(facts, graph, vectors, decide=..., calls=...)
    ...                                                 # write done.graph.since(graph)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from . import dag
from .facts import FactGraph, earlier, moment
from .records import Fact, record_id
from .tasks import Revision, TaskGraph, TaskNode
from .words import MONTHS, NUMBERS, SPEAKER, STOP, fold, words

Vector: TypeAlias = NDArray[np.float32]

SESSION, CALLS = 20, 3
"""So many turns cost at most so many model calls, and no more turns than that wait."""

ALIKE = 0.55
"""Cosine from which facts are of one cluster. With MiniLM on sentences made of SGD slots it joins all
paraphrases, 96 % of other values of a slot and 65 % of other slots of a task; .7 joins 98, 73 and 12, and
hides a third of what people say of themselves from its contradictions. A model pays little for too much."""

RELATED = 0.5
"""Cosine from which a fact may rest on an earlier one; there 88 % of the slots of a task, 8 % of any two."""

NEIGHBOURS = 5
"""How many of the most similar facts a fact may rest on."""

GROUNDED = 0.5
"""Share of a unit's content words that its cited turns must have, beside all of its names and numbers."""


# ---- when, and for how many calls ---------------------------------------------------------------


def due(waiting: int, *, closed: bool, ended: bool, model: bool) -> Literal["nothing", "tasks", "all"]:
    """What is to be written now.

    "all": `summarise` and `consolidate` the turns that wait, with at most CALLS calls, one of them to
    summarise; then none wait. So a session costs CALLS for each begun SESSION, however often tasks close.
    "tasks": the same turns without the model, for what the tasks say; they go on waiting for it.

    Args:
        waiting: turns since all were written last.
        closed: a task was finished in the last turn.
        ended: the session is over.
        model: whether there is one.
    """
    if waiting and (ended or waiting >= SESSION or (closed and not model)):
        return "all"
    return "tasks" if waiting and closed else "nothing"


# ---- summarise: the task graph's own revisions --------------------------------------------------


class Exchange(BaseModel):
    """One turn of a dialogue, with whatever number of people."""

    model_config = ConfigDict(frozen=True)
    thread: str
    turn: int
    at: AwareDatetime
    said: str
    reply: str = ""
    speaker: str = Field(default="", description="Who said it; empty is the user.")


_PERSON = re.compile(r"participant|guest|assignee|attendee|speaker|player|teacher|passenger|invitee")
_PROFILE = re.compile(r"\b(?:profiles?|preferences?|about me)\b")
_OWNER = re.compile(r"([A-Z]\w*(?: [A-Z]\w*)*)['’]s? ")
_DETERMINED = re.compile(r"(?:the|a|an|my|our|your|his|her|their|this|that)\b|[A-Z\W\d]|\S+['’]s ", re.ASCII)


def called(title: str) -> str:
    """A title inside a sentence: 'the trip to Rome', 'Ken', 'my party'."""
    return title if _DETERMINED.match(title) else f"the {title}"


def summarise_changes(
    turns: Sequence[Exchange], tasks: TaskGraph, called: Callable[[str], str] = called
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

    def told(key: str) -> list[_Telling]:
        if key not in known:
            known[key] = _tellings(tasks, tasks[key], called)
        return known[key]

    def rested(telling: _Telling, turn: Exchange) -> tuple[str, ...]:
        whole = (telling.state.parent,) if telling.state.parent else ()
        needed = (telling.key, *telling.state.depends_on, *whole)
        found = (_last(told(key), turn.turn) for key in needed)
        return tuple(record_id(turn.thread, one.state.turn, "fact", one.key) for one in found if one)

    found = []
    for node in tasks.values():
        if batch.keys().isdisjoint(state.turn for state in node.states()):
            continue
        for telling, then in zip_longest(told(node.id), told(node.id)[1:]):
            if turn := batch.get(telling.state.turn):
                until = batch.get(then.state.turn) if then else None
                found.append(_fact(tasks, telling, turn, until, rested(telling, turn)))
    return tuple(sorted(found, key=lambda fact: fact.turn))


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a state of a task says as a sentence."""

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
        people=_people(tasks, state),
        subject=tasks[state.parent].title if state.parent else "",
        slot=state.slot,
        value=telling.value,
        sources=(turn.turn,),
        rests_on=rests_on,
        status="former" if until else "current",
        until=until.at if until else None,
    )


def _last(tellings: Sequence[_Telling], turn: int) -> _Telling | None:
    """The last one before a turn."""
    return next((one for one in reversed(tellings) if one.state.turn < turn), None)


def _tellings(tasks: TaskGraph, node: TaskNode, called: Callable[[str], str]) -> list[_Telling]:
    """What the states of a task say, each that says something new; of one turn only the last state counts."""
    found: list[_Telling] = []
    for state in {state.turn: state for state in node.states()}.values():
        if state.status == "proposed" or state.source.startswith("tool:"):  # nobody has said so
            continue
        value = _value(tasks, node, state)
        text = _sentence(tasks, state, value, bool(found), called)
        if text and not (found and _same((found[-1].value, found[-1].text), (value, text))):
            found.append(_Telling(node.id, state, text, value))
    return found


def _value(tasks: TaskGraph, node: TaskNode, state: Revision) -> str | None:
    """What a state says: its value, or for one of a list its title; None where it says nothing more."""
    if not state.active or (state.status == "done" and not state.value):
        return None
    named = fold(state.title) == fold(_base(state.slot).replace("_", " "))
    bare = named and not tasks.children.get(node.id)
    return state.value or (None if bare or not state.parent else state.title)


def _sentence(
    tasks: TaskGraph, state: Revision, value: str | None, known: bool, called: Callable[[str], str]
) -> str:
    """A state as a sentence; '' where it tells nothing. known: whether the task has been told before."""
    parent = tasks[state.parent] if state.parent else None
    whole = called(parent.title) if parent else "the plan"
    thing, are = called(state.title), "are" if _plural(state.title) else "is"
    if state.status == "removed":
        return _capital(f"{thing} {are} no longer part of {whole}.") if known else ""
    owner = _owner(tasks, state)
    plain = state.value is None or fold(state.value) == fold(state.title)
    if parent and not plain:
        thing = f"{thing} of {whole}" if owner is None else f"{owner or 'the user'}'s {state.title}"
    if state.status == "inactive":
        return _capital(f"{thing} {are} on hold.") if known else ""
    if state.status == "done" and plain and parent and _person(tasks, state):
        return ""  # who takes part is not done with it
    if state.status == "done" and plain:
        return _capital(f"{thing} {are} done.")
    if value is None:
        if not parent:
            return _capital(f"{thing} {are} planned.")
        return _capital(f"{thing} of {whole} {are} open again.") if known else ""
    if _person(tasks, state):
        if (
            parent and parent.parent and _of_people(_base(parent.slot))
        ):  # a list of people, part of what they are in
            whole = called(tasks[parent.parent].title)
        several = len(_names(value)) > 1
        who = "the user" if fold(value) in SPEAKER else value
        if _base(state.slot).startswith("assignee"):
            return _capital(f"{who} {'are' if several else 'is'} responsible for {whole}.")
        return _capital(f"{who} {'take' if several else 'takes'} part in {whole}.")
    return _capital(f"{thing} {are} {f'part of {whole}' if plain else value}.")


def _people(tasks: TaskGraph, state: Revision) -> tuple[str, ...]:
    """Whom a state is about: the people it names, or whose profile it is of; () is the user."""
    if owner := _owner(tasks, state):
        return (owner,)
    return _names(state.value or state.title) if _person(tasks, state) else ()


def _names(text: str) -> tuple[str, ...]:
    """The names in a list of them, the user left out."""
    names = (name.strip() for name in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", text))
    return tuple(dict.fromkeys(name for name in names if name and fold(name) not in SPEAKER))


def _person(tasks: TaskGraph, state: Revision) -> bool:
    """Whether a task stands for people: by the name of its slot, or as a member of a list of them.

    A number of them ('guests: 80') and a list itself are no people.
    """
    if state.value is not None:
        return _of_people(_base(state.slot)) and not re.match(r"\W*\d", state.value)
    if fold(state.title) == fold(_base(state.slot).replace("_", " ")):
        return False
    listed = tasks[state.parent].slot if state.parent else ""
    return any(map(_of_people, (_base(state.slot), _base(listed))))


def is_person_name(slot: str) -> bool:
    """Whether a slot name is one for a person."""
    return _PERSON.match(slot) is not None


def _of_people(slot: str) -> bool:
    """Whether a slot name is one for a person, or for a list of them."""
    return slot.startswith("people") or is_person_name(slot)


def _owner(tasks: TaskGraph, state: Revision) -> str | None:
    """Whose profile a state is part of: a name, '' for the user; None where it is of no profile."""
    parent = tasks[state.parent] if state.parent else None
    if parent is None or not is_profile(parent.slot, parent.title):
        return None
    named = _OWNER.match(parent.title)
    return named[1] if named else ""


def is_profile(slot: str, title: str = "") -> bool:
    """Whether a task or subject is a person's profile: preferences, 'about me'."""
    return _PROFILE.search(f"{fold(slot).replace('_', ' ').replace('.', ' ')} , {fold(title)}") is not None


def _base(slot: str) -> str:
    """The last part of a dotted slot without its number."""
    return slot.rpartition(".")[2].rstrip("0123456789").rstrip("_- ")


def _plural(noun: str) -> bool:
    last = re.split(r" (?:of|for|with|in|to|from|near|at) ", noun.lower())[0].rpartition(" ")[2]
    return len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---- summarise: narrative units of a model ------------------------------------------------------


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
    said = {word for turn in cited for word in _content(f"{turn.speaker} {turn.said} {_around(turn)}")}
    days = _days(cited)
    text = _DAY.sub(lambda found: "" if words(found[0]) in days else found[0], unit.text)
    told = [word for word in _content(text) if word != "user"]
    exact = _content(" ".join((*_EXACT.findall(text), *unit.people, unit.value or "")))
    return bool(told) and sum(word in said for word in told) >= share * len(told) and said.issuperset(exact)


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


def summarise(
    turns: Sequence[Exchange],
    tasks: TaskGraph,
    model: Summariser | None = None,
    called: Callable[[str], str] = called,
) -> tuple[Fact, ...]:
    """The new facts of a batch: the tasks' changes, and with a model what else it tells; in time order."""
    told = facts_of(model(turns), turns) if model else ()
    return tuple(sorted((*summarise_changes(turns, tasks, called), *told), key=lambda fact: fact.turn))


def _content(text: str) -> list[str]:
    """The stems of a text that carry its content; number words as digits."""
    stems = (word for word in words(text) if word not in STOP)
    return [str(NUMBERS.index(word)) if word in NUMBERS else word for word in stems]


# ---- align and cluster --------------------------------------------------------------------------


def identity(fact: Fact) -> tuple[str, ...] | None:
    """What can hold one value at a time: two facts of one identity and different values contradict.

    A slot of one subject in one thread; a slot of one person's profile in all threads. A dotted slot names
    its subject itself, and keeps it when the task gets another title. None for a fact of no slot.
    """
    if fact.slot is None:
        return None
    head, _, name = fact.slot.rpartition(".")
    if is_profile(head, fact.subject):
        return ("profile", *sorted(map(fold, fact.people)), fold(name).replace("_", " "))
    return (fact.thread, "" if head else fold(fact.subject), fold(fact.slot))


def _of_task(fact: Fact) -> bool:
    """Whether a fact is a slot of a task: rules decide on it, and a model would take one task for another."""
    own = identity(fact)
    return own is not None and own[0] != "profile"


def _same(one: tuple[str | None, str], other: tuple[str | None, str]) -> bool:
    """Whether two (value, text) of one slot say the same."""
    if one[0] is None and other[0] is None:
        return _content(one[1]) == _content(other[1])
    return _alike(one[0] or "", other[0] or "")


def _alike(one: str, other: str) -> bool:
    return fold(one.strip()) == fold(other.strip()) or words(one) == words(other) != ()


def neighbours(facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> dict[str, list[tuple[str, float]]]:
    """For each fact the others with their cosine, the most similar first.

    Args:
        facts: n of them.
        vectors: by id, [d] float32 of length 1; a fact without one is similar to none.
    """
    ids = [fact.id for fact in facts if fact.id in vectors]
    if not ids:
        return {}
    matrix = np.stack([vectors[key] for key in ids])
    cosines = matrix @ matrix.T
    order = np.argsort(-cosines, axis=1, kind="stable")
    return {
        key: [(ids[other], float(cosines[row, other])) for other in order[row] if other != row]
        for row, key in enumerate(ids)
    }


def clusters(
    facts: Sequence[Fact], near: Mapping[str, Sequence[tuple[str, float]]], threshold: float = ALIKE
) -> tuple[tuple[Fact, ...], ...]:
    """Facts that belong together: connected by a cosine of at least the threshold, or by their identity.

    Args:
        facts: old and new ones.
        near: from `neighbours`.
        threshold: the least cosine.

    Returns:
        Each fact in one cluster, in time order; the clusters in the order of their first facts.
    """
    by_id = {fact.id: fact for fact in facts}
    slots: dict[tuple[str, ...], list[str]] = {}
    for fact in facts:
        if slot := identity(fact):
            slots.setdefault(slot, []).append(fact.id)

    def joined(key: str) -> list[str]:
        like = [other for other, cosine in near.get(key, ()) if cosine >= threshold]
        return [*like, *slots.get(identity(by_id[key]) or (), ())]

    found, seen = [], set[str]()
    for key in by_id:
        if key not in seen:
            members = dag.reach([key], joined)
            seen.update(members)
            found.append(tuple(sorted((by_id[member] for member in members), key=moment)))
    return tuple(found)


# ---- decide -------------------------------------------------------------------------------------


class Decision(BaseModel):
    """What becomes of a fact. A stored one that nothing is decided on stays as it is.

    add: it is put in. update: it is put in, if it is new, and `of` gives way to it and is history. delete: a
    stored one leaves a tombstone. none: nothing is put in; the turns of a new one are added to `of`.
    """

    model_config = ConfigDict(frozen=True)
    fact: str = Field(description="Id of the fact that is decided on.")
    act: Literal["add", "update", "delete", "none"]
    of: str | None = Field(default=None, description="Id of the fact that it updates or repeats.")


class Decider(Protocol):
    """A model that decides on clusters, all in one call.

    It decides on what has no identity; slots are decided on by rule. The words of facts are the users': they
    are to be shown to it as material, never as instructions.
    """

    def __call__(self, clusters: Sequence[Sequence[Fact]]) -> Iterable[Decision]:
        """Decisions on the new facts, and on stored ones that they concern; unsound ones are not used."""
        ...


def decide_by_rules(cluster: Sequence[Fact], stored: Callable[[str], bool]) -> tuple[Decision, ...]:
    """Decisions on a cluster by identity and time.

    Of one identity: what holds already is not put in again; another value ends the one before it, also when
    it is told late (a repetition that was not put in does not stand against that). Of none: what says the
    same in the same words of the same people is not put in again.

    Args:
        cluster: facts in time order, with all stored ones of their identities.
        stored: whether a fact, by its id, is stored already.
    """
    held = [fact for fact in cluster if stored(fact.id)]
    found = []
    new = [fact for fact in cluster if not stored(fact.id)]
    for fact in sorted(new, key=lambda fact: (identity(fact) is None, moment(fact))):
        decisions = _on_line(fact, held) if identity(fact) else _on_words(fact, held)
        found += decisions
        if decisions[0].act != "none":
            held = sorted((*held, fact), key=moment)
    return tuple(found)


def _on_line(fact: Fact, held: Sequence[Fact]) -> list[Decision]:
    """Decisions on a fact of a slot, from its place in the course of that slot's values."""
    line = [other for other in held if identity(other) == identity(fact)]
    before = [other for other in line if not earlier(fact, other)]
    after = [other for other in line if earlier(fact, other)]
    holding = before[-1] if before else None
    if (
        holding
        and (holding.until is None or holding.until > fact.at)
        and _same((holding.value, holding.text), (fact.value, fact.text))
    ):
        return [Decision(fact=fact.id, act="none", of=holding.id)]
    made = Decision(fact=fact.id, act="update" if holding else "add", of=holding.id if holding else None)
    return [made, *(Decision(fact=next_one.id, act="update", of=fact.id) for next_one in after[:1])]


def _on_words(fact: Fact, held: Sequence[Fact]) -> list[Decision]:
    """The decision on a fact of no slot: whether one that holds says the same."""
    told, people = _content(fact.text), set(map(fold, fact.people))
    for other in held:
        if (
            other.status == "current"
            and _content(other.text) == told
            and set(map(fold, other.people)) == people
        ):
            return [Decision(fact=fact.id, act="none", of=other.id)]
    return [Decision(fact=fact.id, act="add")]


def combined(
    cluster: Sequence[Fact], model: Iterable[Decision], stored: Callable[[str], bool]
) -> tuple[Decision, ...]:
    """The rules' decisions on the slots of a cluster with a model's on the rest of it.

    If one of the model's is unsound, the rules decide on all: an id that is not of the cluster; a new fact
    with no decision or with two; a stored one put in; a later fact given up for an earlier one; a slot given
    up for words; one that is not kept named as what another updates or repeats.
    """
    rules = decide_by_rules(cluster, stored)
    members = {fact.id: fact for fact in cluster}
    slots = {fact.id for fact in cluster if identity(fact)}
    chosen = [*(one for one in rules if one.fact in slots), *(one for one in model if one.fact not in slots)]
    dropped = {
        one.fact for one in chosen if one.act == "delete" or (one.act == "none" and not stored(one.fact))
    }

    def sound(one: Decision) -> bool:
        if one.fact not in members or one.of in dropped or one.of == one.fact:
            return False
        if stored(one.fact):
            return one.of is None and one.act in ("none", "delete")
        if one.of is None:
            return one.act in ("add", "none")
        if one.of not in members or one.act not in ("update", "none"):
            return False
        return one.act == "none" or not (one.of in slots or earlier(members[one.fact], members[one.of]))

    decided = [one.fact for one in chosen if one.fact not in slots]
    free = {fact.id for fact in cluster if fact.id not in slots and not stored(fact.id)}
    once = len(set(decided)) == len(decided) and free <= set(decided)
    return tuple(chosen) if once and all(sound(one) for one in chosen if one.fact not in slots) else rules


# ---- apply --------------------------------------------------------------------------------------


def apply(
    graph: FactGraph,
    facts: Iterable[Fact],
    decisions: Iterable[Decision],
    near: Mapping[str, Sequence[tuple[str, float]]],
) -> FactGraph:
    """Carry decisions out.

    Args:
        graph: the stored facts.
        facts: the new ones; each rests on what it updates, on what its own `rests_on` names, and on the most
            similar earlier ones, reduced.
        decisions: on new and stored ones.
        near: from `neighbours`.
    """
    decisions = tuple(decisions)
    new = {fact.id: fact for fact in facts}
    put = {one.fact: one.of for one in decisions if one.act in ("add", "update") and one.fact in new}
    for key in sorted(put, key=lambda key: moment(new[key])):
        similar = [other for other, cosine in near.get(key, ())[:NEIGHBOURS] if cosine >= RELATED]
        updated = put[key]
        first = (updated,) if updated else ()
        graph = graph.insert(new[key], (*first, *new[key].rests_on, *similar))
    for one in decisions:
        if one.act == "update" and one.of:
            graph = graph.supersede(one.of, one.fact)
        elif (
            one.act == "none" and one.of and one.fact in new and graph[one.of].thread == new[one.fact].thread
        ):
            graph = graph.cite(one.of, new[one.fact].sources)
        elif one.act == "delete":
            graph = graph.delete(one.fact)
    return graph


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a batch comes to.

    graph: with the batch in it; `graph.since(former)` is what to write. decisions: as carried out. calls: of
    the model.
    """

    graph: FactGraph
    decisions: tuple[Decision, ...] = ()
    calls: int = 0


def consolidate(
    facts: Iterable[Fact],
    graph: FactGraph,
    vectors: Mapping[str, Vector],
    *,
    decide: Decider | None = None,
    calls: int = CALLS - 1,
    threshold: float = ALIKE,
) -> Consolidated:
    """Take a batch of new facts into the stored ones; a batch that is taken in twice changes nothing.

    Args:
        facts: from `summarise`; those that were stored before, also deleted ones, are left out.
        graph: all facts of the user.
        vectors: by id, [d] float32 of length 1, of the new facts and of the current stored ones most like
            each (TeleMem: ten). Search among current ones only: history would crowd them out.
        decide: a model for clusters of more than one that have a new fact of no slot.
        calls: how many calls it may be asked in; where there are more clusters, several share a call.
        threshold: the least cosine within a cluster.
    """
    new = {fact.id: fact for fact in facts if fact.id not in graph}
    if not new:
        return Consolidated(graph)
    slots = {identity(fact) for fact in new.values()} - {None}
    old = [
        fact
        for fact in graph.values()
        if (fact.status == "current" and fact.id in vectors)
        or (fact.status != "deleted" and fact.slot and identity(fact) in slots)
    ]
    both = [*old, *new.values()]
    near = neighbours(both, vectors)
    found = [
        cluster for cluster in clusters(both, near, threshold) if any(fact.id in new for fact in cluster)
    ]
    told = [tuple(fact for fact in cluster if not _of_task(fact)) for cluster in found]
    asked = [
        cluster
        for cluster in told
        if len(cluster) > 1 and any(fact.id in new and not identity(fact) for fact in cluster)
    ]
    groups = [group for n in range(calls) if (group := asked[n::calls])] if decide else []
    replies: dict[str, list[Decision]] = {}
    for group in groups:
        for one in decide(group) if decide else ():
            replies.setdefault(one.fact, []).append(one)
    decisions: list[Decision] = []
    for cluster in found:
        reply = [one for fact in cluster for one in replies.get(fact.id, ())]
        decisions += combined(cluster, reply, graph.__contains__)
    return Consolidated(apply(graph, new.values(), decisions, near), tuple(decisions), len(groups))


# ---- profiles -----------------------------------------------------------------------------------


def profile(facts: Iterable[Fact], person: str = "") -> tuple[Fact, ...]:
    """What holds of one person, in time order: the narrative units there are, in no schema.

    person: a name as the facts have it, in any case; '' is the user.
    """
    about = fold(person)
    of = [
        fact
        for fact in facts
        if fact.status == "current" and (about in map(fold, fact.people) if about else not fact.people)
    ]
    return tuple(sorted(of, key=moment))


def people(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The names of all whom current facts are about, in the order of their first mention."""
    found: dict[str, str] = {}
    for fact in facts:
        for name in fact.people if fact.status == "current" else ():
            found.setdefault(fold(name), name)
    return tuple(found.values())
