"""What becomes of records on their way into the store: experiences by policy, facts by consolidation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, TypeVar

from .consolidate import Decider, consolidate
from .facts import FactGraph
from .policies import Outcome, Policy, conclude
from .records import Experience, Fact, IntentUnit
from .store import AnyRecord, Store

SIMILAR = 10  # stored facts that are compared with each new one (TeleMem)

R = TypeVar("R", Experience, Fact, IntentUnit)


class Curator:
    """Takes settled records for a store: an outbox is flushed into it."""

    def __init__(self, store: Store, policy: Policy, decide: Decider | None = None) -> None:
        """decide: a model that decides on facts of no slot; without one it is done by rules."""
        self.store, self.policy, self.decide = store, policy, decide

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Write records as long-term memory wants them; twice the same is the same as once.

        Raises:
            StoreError: the store fails; nothing more is written.
        """
        units = _of(IntentUnit, records)
        if dropped := [unit.id for unit in units if unit.status == "dropped"]:
            self.store.delete(user, dropped)
        if kept := [unit for unit in units if unit.status != "dropped"]:
            self.store.put(user, kept)
        for experience in _of(Experience, records):
            self._conclude(user, experience)
        if facts := _of(Fact, records):
            self._consolidate(user, facts)

    def _conclude(self, user: str, made: Experience) -> None:
        """Let an experience whose outcome is known be added, and count for those that led to it."""
        stored = _of(Experience, self.store.records(user, "experience"))
        known = any(one.id == made.id for one in stored)
        last = max(
            (step for one in stored for step in (one.step, *(use.step for use in one.uses))), default=0
        )
        made = made.model_copy(update={"step": _step_of(made, stored) or last + 1})
        how = Outcome(made.utility if made.utility is not None else 0.0, made.strict)
        change = conclude(self.policy, stored, made, how, max(last, made.step))
        if change.put:
            self.store.put(user, change.put)
        if gone := [key for key in change.delete if key != made.id or known]:
            self.store.delete(user, gone)

    def _consolidate(self, user: str, facts: Sequence[Fact]) -> None:
        """Take facts in among those there are: repeated, in place of former ones, or new."""
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


def _step_of(made: Experience, stored: Sequence[Experience]) -> int | None:
    """The step that an experience got when it came before: its own, or that of the uses it led to."""
    steps = [one.step for one in stored if one.id == made.id]
    steps += [use.step for one in stored for use in one.uses if use.by == made.id]
    return next(iter(steps), None)


def _of(kind: type[R], records: Sequence[AnyRecord]) -> list[R]:
    return [record for record in records if isinstance(record, kind)]
