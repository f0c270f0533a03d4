"""The long-term memory of one user as a store of LangGraph's: facts can be put, facts and tasks be read.

A host that knows `BaseStore` needs to know nothing else. What does not fit is refused and never left out: a
value that is taken is given back as it was put.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)
from langgraph.store.memory import InMemoryStore
from pydantic import ValidationError

from taskloom.agent.recall.longterm import LongTerm
from taskloom.memory.keeping import known_user
from taskloom.memory.ranking import Hit
from taskloom.memory.records import Fact, IntentUnit, Kind, now
from taskloom.memory.store import AnyRecord

FACTS, TASKS = "facts", "tasks"
_KINDS: dict[str, Kind] = {FACTS: "fact", TASKS: "unit"}
_LABELS = {kind: label for label, kind in _KINDS.items()}
_PUT = ("text", "people", "subject", "slot", "value")  # fields of a fact that a host may give
_SHOWN = {
    FACTS: {*_PUT, "status", "until", "thread"},
    TASKS: {"text", "intent", "description", "title", "pairs", "dropped", "status", "thread"},
}
LONGEST = 20_000  # characters of a text
_LONGEST_KEY = 200  # characters

Place: TypeAlias = tuple[str, ...]


class UnfitError(ValueError):
    """What a store of LangGraph's may be asked and this one cannot do; the message says what it can."""


class UserStore(BaseStore):
    """One user's memory, under the namespaces `(label, "facts")` and `(label, "tasks")`; nobody else's.

    The label is the user, with what a namespace may not hold percent-encoded; `namespace` has it. A fact is
    `{"text": ...}`, with `people` (a list), `subject`, `slot` and `value` where they are known; what the talk
    supersedes later has a `status` of "former". Tasks are what sessions leave; they can be deleted, not put.

    To make one costs nothing; a host with many users makes one for each run. Threads may share it.
    """

    def __init__(self, longterm: LongTerm, *, user: str) -> None:
        """user: whose memory it is. Raises ValueError for an empty one."""
        self._longterm, self._user = longterm, known_user(user)
        label = user.replace("%", "%25").replace(".", "%2E").replace("\x00", "%00")
        self.namespace: Place = ("%6Canggraph" if label == "langgraph" else label,)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See `BaseStore`. What is read is as it was before; of several puts of one key the last counts.

        Raises:
            UnfitError: one of them does not fit; then nothing is done.
            StoreError, OutboxError: the memory cannot be read or written; the message names the fix.
        """
        asked = list(ops)
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for op in asked:
            self._check(op)
        facts = {op.key: _fact(op.key, op.value) for op in puts.values() if op.value is not None}
        self._longterm.flush(self._user)
        results = [self._result(op) for op in asked]
        self._put(facts)
        self._delete(puts.values())
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """See `batch`."""
        return await asyncio.to_thread(self.batch, list(ops))

    # ---- what fits ------------------------------------------------------------------------------

    def _check(self, op: Op) -> None:
        """See to it that an operation fits.

        Raises:
            UnfitError: it does not.
        """
        validate_op_namespace(op)
        match op:
            case SearchOp(namespace_prefix=place):
                self._own(place)
            case GetOp(namespace=place):
                self._own(place, whole=True)
            case PutOp(namespace=place, key=key, value=value, index=index, ttl=ttl):
                self._own(place, whole=True)
                if ttl is not None:
                    raise UnfitError("no time to live: what is remembered stays until it is deleted")
                if index is not None:
                    raise UnfitError("no index of its own: all of a fact is searched; leave index out")
                if value is not None and place[1] != FACTS:
                    raise UnfitError(f"tasks come from the talk: put facts, in {(*self.namespace, FACTS)}")
                _check_key(key)

    def _own(self, place: Place, *, whole: bool = False) -> None:
        """See to it that a namespace is this user's; whole: and not only a prefix of one."""
        known = [(*self.namespace, label) for label in _KINDS]
        if place not in known and (whole or place not in ((), self.namespace)):
            raise UnfitError(f"there is no namespace {place!r} here: there are {known[0]} and {known[1]}")

    # ---- what is done ---------------------------------------------------------------------------

    def _put(self, facts: Mapping[str, Fact]) -> None:
        for record in self._longterm.store.get(self._user, [*facts]).values():
            if not isinstance(record, Fact):
                raise UnfitError(f"{record.id!r} is the key of a task: take another one")
        if facts:
            self._longterm.put(self._user, [*facts.values()])

    def _delete(self, puts: Iterable[PutOp]) -> None:
        places = {op.key: op.namespace for op in puts if op.value is None}
        found = self._longterm.store.get(self._user, [*places])
        if ids := [key for key, record in found.items() if places[key] == self._place(record)]:
            self._longterm.drop(self._user, ids)

    def _result(self, op: Op) -> Result:
        match op:
            case GetOp(namespace=place, key=key):
                record = self._longterm.store.get(self._user, [key]).get(key)
                there = record is not None and _is_held(record) and self._place(record) == place
                return self._item(record) if record is not None and there else None
            case SearchOp():
                return self._found(op)
            case ListNamespacesOp():
                places = [(*self.namespace, label) for label in _KINDS if self._held(label)]
                return _like({place: {"": {}} for place in places}).batch([op])[0]
            case _:
                return None

    def _found(self, op: SearchOp) -> list[SearchItem]:
        labels = op.namespace_prefix[1:] or tuple(_KINDS)
        held = {record.id: record for label in labels for record in self._held(label)}
        scores: dict[str, float] = {}
        if op.query:
            hits = [hit for label in labels for hit in self._hits(op.query, label, len(held))]
            scores = {hit.record.id: hit.score for hit in sorted(hits, key=_score, reverse=True)}
        order = [key for key in dict.fromkeys([*scores, *held]) if key in held]
        if op.filter:
            values = {key: _value(record) for key, record in held.items()}
            fitting = _like({self.namespace: values}).search(
                self.namespace, filter=op.filter, limit=len(values)
            )
            keys = {item.key for item in fitting}
            order = [key for key in order if key in keys]
        chosen = order[op.offset : op.offset + op.limit]
        return [SearchItem(**self._fields(held[key]), score=scores.get(key)) for key in chosen]

    def _hits(self, query: str, label: str, limit: int) -> Sequence[Hit]:
        if not limit:
            return ()  # then nothing is embedded, as that takes loading
        return self._longterm.store.search(self._user, query, kind=_KINDS[label], limit=limit)

    def _held(self, label: str) -> list[AnyRecord]:
        records = self._longterm.store.records(self._user, _KINDS[label])
        return [record for record in records if _is_held(record)]

    def _item(self, record: AnyRecord) -> Item:
        return Item(**self._fields(record))

    def _fields(self, record: AnyRecord) -> dict[str, Any]:
        """What an item of LangGraph's is made of."""
        moments = {"created_at": record.at, "updated_at": record.at}
        return {"namespace": self._place(record), "key": record.id, "value": _value(record), **moments}

    def _place(self, record: AnyRecord) -> Place:
        return (*self.namespace, _LABELS.get(record.kind, ""))


def _fact(key: str, value: Mapping[str, Any]) -> Fact:
    """A value as a fact of the moment.

    Raises:
        UnfitError: it would not be given back as it is.
    """
    if unknown := [name for name in value if name not in _PUT]:
        raise UnfitError(
            f"a fact has no {unknown[0]!r}, only {', '.join(_PUT)}: say it in the text, or keep it elsewhere"
        )
    try:
        fact = Fact.model_validate({"id": key, "at": now(), **value})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnfitError(f"a fact: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if len(fact.text) > LONGEST:
        raise UnfitError(f"a fact: text: it has {len(fact.text):,} characters, the most are {LONGEST:,}")
    if _value(fact) != dict(value):
        raise UnfitError("a fact: leave out what is empty or null, and give people as a list")
    return fact


def _score(hit: Hit) -> float:
    return hit.score


def _is_held(record: AnyRecord) -> bool:
    """Whether a record is a fact or a task, and none that was taken back."""
    return isinstance(record, IntentUnit) or (isinstance(record, Fact) and record.status != "deleted")


def _value(record: AnyRecord) -> dict[str, Any]:
    """What a record tells, without what is empty in it."""
    return record.model_dump(mode="json", include=_SHOWN[_LABELS[record.kind]], exclude_defaults=True)


def _like(values: Mapping[Place, Mapping[str, dict[str, Any]]]) -> InMemoryStore:
    """A store of LangGraph's with these values: filters and lists are done by its own rules."""
    store = InMemoryStore()
    store.batch([PutOp(place, key, value) for place, held in values.items() for key, value in held.items()])
    return store


def _check_key(key: str) -> None:
    """See to it that something can be called so.

    Raises:
        UnfitError: it cannot.
    """
    if not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise UnfitError(f"a key has 1 to {_LONGEST_KEY} characters, none of them a control character")
