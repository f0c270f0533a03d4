"""Curates records on their way into the store: experiences by policy, facts by consolidation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, TypeVar

from .consolidate import Decider, consolidate
from .facts import FactGraph
from .keeping import AnyRecord, Store
from .policies import Outcome, Policy, conclude
from .records import Experience, Fact, IntentUnit, Scene, Stream

SIMILAR = 10  # stored facts that are compared with each new one (TeleMem)

R = TypeVar("R", Experience, Fact, IntentUnit, Scene)


class Curator:
    """Takes settled records for a store: an outbox is flushed into it, and no other writes at a time."""

    def __init__(self, store: Store, policy: Policy, decide: Decider | None = None) -> None:
        """decide: a model that decides on facts of no slot; without one it is done by rules."""
        self.store, self.policy, self.decide = store, policy, decide

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Write records after curation; writing the same ones twice changes nothing.

        Under `capacity` that holds unless records were evicted: these come back when they are put again.

        Raises:
            StoreError: the store fails; nothing more is written.
        """
        units = _of(IntentUnit, records)
        if dropped := [unit.id for unit in units if unit.status == "dropped"]:
            self.store.delete(user, dropped)
        if kept := [unit for unit in units if unit.status != "dropped"]:
            self.store.put(user, kept)
        if scenes := _of(Scene, records):
            self.store.put(user, scenes)
        if experiences := _of(Experience, records):
            self._conclude(user, experiences)
        if facts := _of(Fact, records):
            self._consolidate(user, facts)

    def _conclude(self, user: str, experiences: Sequence[Experience]) -> None:
        """Let experiences whose outcome is known be added, and count for those that led to them."""
        present, steps = self._steps(user, experiences)
        for one in experiences:
            stored = {held.id: held for held in _of(Experience, self.store.records(user, "experience"))}
            used = stored.get(one.id, one)
            taken = {"step": steps[one.id], "uses": used.uses, "older": used.older}
            how = Outcome(one.utility if one.utility is not None else 0.0, one.strict)
            present = max(present, steps[one.id])
            change = conclude(self.policy, stored.values(), one.model_copy(update=taken), how, present)
            if change.put:
                self.store.put(user, change.put)
            if gone := [key for key in change.delete if key in stored]:
                self.store.delete(user, gone)

    def _steps(self, user: str, experiences: Sequence[Experience]) -> tuple[int, dict[str, int]]:
        """The user's present step, and the steps of experiences: the recorded one, or the next one.

        Kept before anything is done with them, so that what is put again takes no second step.
        """
        stored = _of(Experience, self.store.records(user, "experience"))
        known = {use.by or str(use.step): use.step for one in stored for use in one.uses}
        known |= {one.id: one.step for one in stored}
        kept = self.store.stream(user)
        # A memory that was imported, or is older than the count, has come as far as its records tell.
        reached = max((0, *known.values(), *(one.older.until for one in stored)))
        stream = before = kept if kept.steps >= reached else Stream(steps=reached)
        steps: dict[str, int] = {}
        for one in experiences:
            step = known.get(one.id) or stream.step_of(one.id)
            if step is None:
                stream = stream.further(one.id)
                step = stream.steps
            steps[one.id] = step
        if stream != kept:
            self.store.put_stream(user, stream)
        return before.steps, steps

    def _consolidate(self, user: str, facts: Sequence[Fact]) -> None:
        """Merge facts with the stored ones: as repetitions, replacements, or new facts."""
        graph = FactGraph(_of(Fact, self.store.records(user, "fact")))
        near = {fact.id: fact for fact in facts}
        for fact in facts:
            hits = self.store.search(user, fact.text, kind="fact", limit=SIMILAR)
            near |= {hit.record.id: hit.record for hit in hits if _is_current(hit.record)}
        vectors = self.store.embedder([fact.text for fact in near.values()])
        found = consolidate(facts, graph, dict(zip(near, vectors, strict=True)), decide=self.decide)
        if changed := found.graph.since(graph):
            self.store.put(user, changed)


def _is_current(record: AnyRecord) -> TypeGuard[Fact]:
    return isinstance(record, Fact) and record.status == "current"


def _of(kind: type[R], records: Sequence[AnyRecord]) -> list[R]:
    return [record for record in records if isinstance(record, kind)]
