"""Records as a collection stores them, and a user's records in memory, kept up to date with it."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_fixed

from .keeping import AnyRecord
from .ranking import Corpus, Vector
from .records import read_record

T = TypeVar("T")


class Collection(Protocol):
    """The part of Chroma's collection that is used here."""

    def count(self) -> int:
        """How many records it has."""
        ...

    def get(
        self, ids: Any = None, where: Any = None, limit: Any = None, *, include: Any
    ) -> Mapping[str, Any]:
        """Columns of the records with these ids, or where this is so, or of so many; ids and `include`."""
        ...


class Warm(NamedTuple):
    """A user's records in memory. stamp: of the last write that they know of; marks: of each, by id."""

    stamp: str
    corpus: Corpus
    marks: dict[str, str]


class Corpora:
    """The records in memory of the users who came last. Thread-safe."""

    def __init__(self, limit: int) -> None:
        """limit: records over all users; one user may have more."""
        self._limit = limit
        self._held: OrderedDict[str, Warm] = OrderedDict()  # last used last
        self._guard = Lock()

    def get(self, user: str) -> Warm:
        """The records of a user, or an empty set without a stamp."""
        with self._guard:
            return self._held.get(user) or Warm("", Corpus(), {})

    def keep(self, user: str, warm: Warm) -> None:
        """Keep the records of a user in memory."""
        with self._guard:
            self._held[user] = warm
            self._held.move_to_end(user)
            while len(self._held) > 1 and sum(len(held.corpus) for held in self._held.values()) > self._limit:
                self._held.popitem(last=False)

    def drop(self, user: str) -> Warm | None:
        """Remove the records of a user from memory, and return them."""
        with self._guard:
            return self._held.pop(user, None)

    def clear(self) -> None:
        """Remove all."""
        with self._guard:
            self._held.clear()


def to_metadata(record: AnyRecord) -> dict[str, str | float]:
    """A record as the metadata of an entry, with a mark that it has from this write on."""
    return {
        "kind": record.kind,
        "thread": record.thread,
        "at": record.at.timestamp(),
        "mark": uuid.uuid4().hex[:16],
        "record": record.model_dump_json(),
    }


def load_records(collection: Collection) -> dict[str, AnyRecord]:
    """All records of a collection by id, without their vectors."""
    return {key: read_record(str(data["record"])) for key, data in _unknown(collection, {}, 0).items()}


def refresh(warm: Warm, collection: Collection, size: int, named: int) -> None:
    """Brings a corpus up to date.

    Args:
        warm: what is changed; its stamp is its owner's to set.
        collection: what it has to agree with.
        size: vectors of what changed that are fetched at a time.
        named: marks that may be named in a query.
    """
    if not warm.marks and _at_once(warm, collection, size):
        return
    changed: dict[str, tuple[str, AnyRecord]] = {}
    for key, data in _unknown(collection, warm.marks, named).items():
        mark = str(data.get("mark", ""))
        if mark != warm.marks.get(key):
            changed[key] = mark, read_record(str(data["record"]))
    for batch in batches(tuple(changed), size):
        found = _vectors(_fetched(collection, ids=list(batch), include=["embeddings"]))
        # One that was deleted just now is not among them; the stamp of who did it is still to come.
        warm.corpus.put([changed[key][1] for key in found], _stacked(found))
        warm.marks.update({key: changed[key][0] for key in found})
    if collection.count() != len(warm.corpus):
        left = set(collection.get(include=[])["ids"])
        gone = [key for key in warm.marks if key not in left]
        warm.corpus.remove(gone)
        for key in gone:
            del warm.marks[key]


def _at_once(warm: Warm, collection: Collection, size: int) -> bool:
    """Reads all into an empty corpus by one call; where that is not all, False, and nothing is changed."""
    found = _fetched(collection, limit=size, include=["metadatas", "embeddings"])
    vectors = _vectors(found)
    if len(found["ids"]) == size or len(vectors) < len(found["ids"]):
        return False
    records = [read_record(str(data["record"])) for data in found["metadatas"]]
    warm.corpus.put(records, _stacked(vectors))
    marks = (str(data.get("mark", "")) for data in found["metadatas"])
    warm.marks.update(zip(found["ids"], marks, strict=True))
    return True


@retry(
    retry=retry_if_exception_message(match=r"(?is).*nothing found on disk"),
    wait=wait_fixed(0.05), stop=stop_after_delay(2), reraise=True,
)  # fmt: skip
def _fetched(collection: Collection, **what: Any) -> Mapping[str, Any]:
    """Records of a collection; a server whose index is new, and not on disk yet, is asked again."""
    return collection.get(**what)


def _vectors(found: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    """The vectors of records by id; of one that is being written or deleted a server may give none yet.

    {} where it gives fewer vectors than records: which of them has none cannot be told.
    """
    ids, vectors = found["ids"], found["embeddings"] if found["ids"] else ()
    if len(vectors) != len(ids):
        return {}
    pairs = zip(ids, vectors, strict=True)
    return {key: vector for key, vector in pairs if vector is not None and len(vector)}


def _stacked(vectors: Mapping[str, Sequence[float]]) -> Vector:
    """Vectors as one array [n, d]; [0, 0] of none."""
    return np.array(list(vectors.values()), np.float32).reshape(len(vectors), -1 if vectors else 0)


def _unknown(collection: Collection, marks: Mapping[str, str], named: int) -> dict[str, Mapping[str, Any]]:
    """The metadata of the records whose marks are not known, by id; of all where that is too much to ask."""
    known: Any = {"mark": {"$nin": list(marks.values())}} if 0 < len(marks) <= named else None
    found = collection.get(where=known, include=["metadatas"])
    return dict(zip(found["ids"], found["metadatas"] or (), strict=True))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items, at most so many at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))
