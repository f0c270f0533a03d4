"""Decisions on new facts, given the stored ones: by rule on identity and time, or by a model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from .facts import earlier, moment
from .records import Fact
from .sentences import is_profile, says_same
from .words import content_words, fold


class Decision(BaseModel):
    """The decision on a fact. A stored fact without a decision stays as it is.

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


def identity(fact: Fact) -> tuple[str, ...] | None:
    """A key for what can have one value at a time: facts of one identity with different values contradict.

    A slot of one subject in one thread; a slot of one person's profile in all threads. A dotted slot names
    its subject itself, and keeps it when the task gets another title. None for a fact of no slot.
    """
    if fact.slot is None:
        return None
    head, _, name = fact.slot.rpartition(".")
    if is_profile(head, fact.subject):
        return ("profile", *sorted(map(fold, fact.people)), fold(name).replace("_", " "))
    return (fact.thread, "" if head else fold(fact.subject), fold(fact.slot))


def of_task(fact: Fact) -> bool:
    """Whether a fact is a slot of a task: rules decide on it, and a model would take one task for another."""
    own = identity(fact)
    return own is not None and own[0] != "profile"


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
        and says_same((holding.value, holding.text), (fact.value, fact.text))
    ):
        return [Decision(fact=fact.id, act="none", of=holding.id)]
    decision = Decision(fact=fact.id, act="update" if holding else "add", of=holding.id if holding else None)
    return [decision, *(Decision(fact=next_one.id, act="update", of=fact.id) for next_one in after[:1])]


def _on_words(fact: Fact, held: Sequence[Fact]) -> list[Decision]:
    """The decision on a fact of no slot: whether one that holds says the same."""
    words, people = content_words(fact.text), set(map(fold, fact.people))
    for other in held:
        if (
            other.status == "current"
            and content_words(other.text) == words
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
