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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import dag
from .decisions import Decider, Decision, combined, decide_by_rules, identity, of_task
from .facts import FactGraph, moment
from .records import Fact
from .sentences import inline_title, is_person_name, is_profile
from .summarise import (
    Exchange,
    Summariser,
    Unit,
    facts_of,
    grounded,
    summarise,
    summarise_changes,
    tasks_by_turn,
)
from .words import fold

__all__ = [
    "ALIKE",
    "CALLS",
    "NEIGHBOURS",
    "RELATED",
    "SESSION",
    "Consolidated",
    "Decider",
    "Decision",
    "Exchange",
    "Summariser",
    "Unit",
    "Vector",
    "apply",
    "clusters",
    "combined",
    "consolidate",
    "decide_by_rules",
    "due",
    "facts_of",
    "grounded",
    "identity",
    "inline_title",
    "is_person_name",
    "is_profile",
    "neighbours",
    "people",
    "profile",
    "summarise",
    "summarise_changes",
    "tasks_by_turn",
]  # fmt: skip

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


# ---- when, and for how many calls ---------------------------------------------------------------


def due(waiting: int, *, closed: bool, ended: bool, model: bool) -> Literal["nothing", "tasks", "all"]:
    """What to write now.

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


# ---- align and cluster --------------------------------------------------------------------------


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
    """The outcome of a batch.

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
    untied = [tuple(fact for fact in cluster if not of_task(fact)) for cluster in found]
    asked = [
        cluster
        for cluster in untied
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
    """What is known of one person, in time order, as narrative units without a schema.

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
