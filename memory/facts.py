"""The memory DAG: facts with an edge to each earlier fact that they rest on. Frozen, pure.

Insert, re-insert, delete and closure as in TeleMem (arXiv 2601.06037, memory graph), with two differences:
the edges are always the transitive reduction of the whole graph, not of one hop; and what rests on a fact
keeps resting on what that fact gives up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from . import dag
from .records import Fact
from .retrieve import tokens as tokens_of

GONE = "(deleted)"
"""The text of a tombstone: a record's text may not be empty."""


def earlier(one: Fact, other: Fact) -> bool:
    """Whether one fact came into effect before another, which may then rest on it.

    Of two facts of one moment the one of the earlier turn is the earlier, within one thread; else neither is.
    """
    if one.at == other.at:
        return one.thread == other.thread and one.turn < other.turn
    return one.at < other.at


def moment(fact: Fact) -> tuple[float, int, str]:
    """A sort key that `earlier` agrees with; ties go by id, so that the order is always the same."""
    return fact.at.timestamp(), fact.turn, fact.id


def tombstone(fact: Fact) -> Fact:
    """What remains of a deleted fact: its time, and its id, so that writing it again does not revive it."""
    return Fact(id=fact.id, text=GONE, at=fact.at, status="deleted")


class FactGraph(Mapping[str, Fact]):
    """A read-only mapping from id to fact, whose edges are `rests_on`; every change gives a new graph.

    Held for every graph that these changes have made: no cycle; transitively reduced; an edge leads to a fact
    that is there, not deleted, and earlier than the one that rests on it.

    What is read back may lack a record that an edge leads to: such edges are left out, here only.
    """

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = {fact.id: fact for fact in facts}
        self._facts |= {
            fact.id: _resting(fact, kept)
            for fact in self._facts.values()
            if len(kept := self._sound(fact, fact.rests_on)) < len(fact.rests_on)
        }

    def __getitem__(self, key: str) -> Fact:
        return self._facts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, key: object) -> bool:
        return key in self._facts

    def values(self) -> ValuesView[Fact]:
        """The facts in order of insertion; the view of a mapping would look each of them up."""
        return self._facts.values()

    def __eq__(self, other: object) -> bool:
        return self._facts == other._facts if isinstance(other, FactGraph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a mapping with equality by value

    def __repr__(self) -> str:
        return f"FactGraph({len(self)} facts, {len(self.current)} current)"

    # ---- reading ------------------------------------------------------------------------------

    @cached_property
    def current(self) -> tuple[Fact, ...]:
        """The facts that hold now, in order of insertion."""
        return tuple(fact for fact in self._facts.values() if fact.status == "current")

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """Ids of the facts that rest directly on a fact."""
        index: dict[str, list[str]] = {}
        for fact in self._facts.values():
            for key in fact.rests_on:
                index.setdefault(key, []).append(fact.id)
        return {key: tuple(ids) for key, ids in index.items()}

    def live(self, key: str) -> bool:
        """Whether there is such a fact, and it is not deleted."""
        return key in self._facts and self._facts[key].status != "deleted"

    def rests_on(self, key: str) -> tuple[str, ...]:
        """Ids of what a fact rests on directly."""
        return self._facts[key].rests_on

    def since(self, former: FactGraph) -> tuple[Fact, ...]:
        """The facts that are new or different: what a store has to write."""
        return tuple(fact for key, fact in self._facts.items() if former._facts.get(key) is not fact)

    # ---- change -------------------------------------------------------------------------------

    def insert(self, fact: Fact, candidates: Iterable[str] = ()) -> FactGraph:
        """Put a fact in, resting on those of the candidates that no other of them rests on.

        Args:
            fact: a new one; its own `rests_on` is not looked at. With an id that is there, a deleted one
                included, nothing changes: it was written before.
            candidates: ids that it may rest on, the most similar first; those that are not there or not
                earlier are left out.
        """
        if fact.id in self:
            return self
        return self._with({fact.id: _resting(fact, self._reduced(self._sound(fact, candidates)))})

    def reinsert(
        self, fact: Fact, candidates: Iterable[str] = (), children: Mapping[str, Iterable[str]] | None = None
    ) -> FactGraph:
        """Put a fact in the place of the one with its id, with fresh edges for it and for what rests on it.

        What rests on it keeps what it rested on, through it too, unless it is in `children`.

        Args:
            fact: the fact as it is to be; a tombstone deletes it.
            candidates: ids that it may rest on, as for `insert`.
            children: for facts that rest directly on it, what they may rest on now.

        Raises:
            KeyError: there is no live fact with this id.
        """
        if not self.live(fact.id):
            raise KeyError(fact.id)
        if fact.status == "deleted":
            return self.delete(fact.id)
        direct = self.children.get(fact.id, ())
        graph = self._rewired(fact, candidates)
        for key in sorted((children or {}).keys() & set(direct), key=self._place):
            graph = graph._rewired(graph[key], (children or {})[key])
        return graph

    def delete(self, key: str) -> FactGraph:
        """Leave a tombstone, without a word of the fact, and tie what rested on it to what it rested on.

        Deleting what is deleted changes nothing.

        Raises:
            KeyError: there is no such fact.
        """
        fact = self._facts[key]
        if fact.status == "deleted":
            return self
        changed = {key: tombstone(fact)}
        for child in self.children.get(key, ()):
            kept = [other for other in self._facts[child].rests_on if other != key]
            changed[child] = _resting(self._facts[child], self._reduced([*kept, *fact.rests_on]))
        return self._with(changed)

    def supersede(self, old: str, new: str) -> FactGraph:
        """Let the newer of two contradicting facts hold; the other becomes history.

        Args:
            old: id of the one that gives way, unless it is the newer one.
            new: id of the other.

        Raises:
            KeyError: one of them is not there or deleted.
        """
        for key in (old, new):
            if not self.live(key):
                raise KeyError(key)
        former, newer = self._facts[old], self._facts[new]
        if earlier(newer, former):
            former, newer = newer, former
        until = newer.at if former.until is None else min(former.until, newer.at)
        return self._with({former.id: former.model_copy(update={"status": "former", "until": until})})

    def cite(self, key: str, turns: Iterable[int]) -> FactGraph:
        """More turns of its thread that a fact is grounded in; the same graph where they are known.

        Raises:
            KeyError: there is no such fact.
        """
        fact = self._facts[key]
        sources = tuple(sorted({*fact.sources, *turns}))
        return self if sources == fact.sources else self._with(
            {key: fact.model_copy(update={"sources": sources})}
        )  # fmt: skip

    def _with(self, changed: Mapping[str, Fact]) -> FactGraph:
        graph = FactGraph.__new__(FactGraph)
        graph._facts = {**self._facts, **changed}
        return graph

    def _sound(self, fact: Fact, keys: Iterable[str]) -> list[str]:
        """Those of the keys that a fact may rest on, once each; none for a tombstone."""
        if fact.status == "deleted":
            return []
        others = (key for key in dict.fromkeys(keys) if key != fact.id)
        return [key for key in others if self.live(key) and earlier(self._facts[key], fact)]

    def _reduced(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys that no other of them rests on."""
        keys = list(dict.fromkeys(keys))
        if len(keys) < 2:
            return keys
        oldest = min(self._facts[key].at for key in keys)

        def after(key: str) -> list[str]:  # nothing below the oldest of them leads to one of them
            return [other for other in self._facts[key].rests_on if self._facts[other].at >= oldest]

        return dag.unreached(keys, after)

    def _rewired(self, fact: Fact, candidates: Iterable[str]) -> FactGraph:
        """A fact in its old place with these edges; what rests on it is tied to what it gives up.

        What it is no longer earlier than does not rest on it any more. Any edge below to what it now leads to
        may have become needless; such edges are looked at again, what others rest on first.
        """
        given_up = self._facts[fact.id].rests_on
        children = self.children.get(fact.id, ())
        parents = self._reduced(self._sound(fact, candidates))
        graph = self._with({fact.id: _resting(fact, parents)})
        leads_to = set(dag.reach(parents, self.rests_on))
        for key in sorted(dag.reach(children, lambda one: self.children.get(one, ())), key=self._place):
            below = graph._facts[key]
            if key in children:
                kept = [other for other in below.rests_on if other != fact.id or earlier(fact, below)]
                graph._facts[key] = _resting(below, graph._reduced([*kept, *given_up]))
            elif not leads_to.isdisjoint(below.rests_on):
                graph._facts[key] = _resting(below, graph._reduced(below.rests_on))
        return graph

    def _place(self, key: str) -> tuple[float, int, str]:
        return moment(self._facts[key])


def _resting(fact: Fact, keys: Iterable[str]) -> Fact:
    """A fact that rests on these; the same object where it did before."""
    rests_on = tuple(keys)
    return fact if rests_on == fact.rests_on else fact.model_copy(update={"rests_on": rests_on})


# ---- retrieval ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recall:
    """Facts for a prompt.

    facts: in time order. tokens: what they take, rendered. left_out: how many there was no room for.
    """

    facts: tuple[Fact, ...] = ()
    tokens: int = 0
    left_out: int = 0


def render(fact: Fact) -> str:
    """A fact as one line for a prompt: `2026-05-03: The hotel of the trip is Ritz. (until 2026-05-07)`."""
    ended = ""
    if fact.status == "former":
        ended = f" (until {fact.until:%Y-%m-%d})" if fact.until else " (no longer)"
    return f"{fact.at:%Y-%m-%d}: {' '.join(fact.text.split())}{ended}"


def closure(
    graph: FactGraph,
    seeds: Iterable[str],
    *,
    depth: int | None = None,
    relevance: Callable[[str], float] | Mapping[str, float] | None = None,
    floor: float = 0.0,
    tokens: int = 600,
) -> Recall:
    """Seeds with all that they rest on, in time order (TeleMem, closure retrieval).

    Taken until the first that does not fit: the seeds in their order, then what they rest on, nearest first,
    of one distance the most relevant first. So what is taken hangs together.

    Args:
        graph: the facts.
        seeds: ids, the best first; deleted and unknown ones are left out.
        depth: how many edges away at most; None for all.
        relevance: of a fact by its id (a mapping gives 0 for those not in it); None: all are relevant.
        floor: the relevance that what is not a seed must have; the walk ends at a fact below it.
        tokens: what all lines (see `render`) may take together, a line end each included.
    """
    score = relevance.get if isinstance(relevance, Mapping) else relevance

    def relevant(key: str) -> float:
        return 0.0 if score is None else score(key) or 0.0

    def needs(key: str) -> list[str]:
        found = graph.rests_on(key)
        return list(found) if score is None else [other for other in found if relevant(other) >= floor]

    starts = [key for key in seeds if graph.live(key)]
    reached = islice(dag.levels(starts, needs), None if depth is None else depth + 1)
    wanted = list(next(reached, ()))
    for level in reached:
        wanted += sorted(level, key=relevant, reverse=True)
    used = 0
    taken: list[Fact] = []
    for key in wanted:
        cost = tokens_of(render(graph[key])) + 1
        if used + cost > tokens:
            break
        used += cost
        taken.append(graph[key])
    return Recall(tuple(sorted(taken, key=moment)), used, len(wanted) - len(taken))
