"""The Store protocol, what every store shares, and a store in memory."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Protocol, Self, TypeAlias

import numpy as np

from .embed import Embedder, Vectors
from .errors import StoreError
from .ranking import Corpus, Hit
from .records import Experience, Fact, IntentUnit, Kind, Scene, Stream, searched

AnyRecord: TypeAlias = Experience | Fact | IntentUnit | Scene

_LOCKS = 32  # users share this many locks


class Store(Protocol):
    """Records by user. No user is special, and none is seen by another.

    A user is any text but the empty one. Every call raises ValueError for a user that is empty or no text,
    and StoreError if the store fails. What was put is kept once `put` has returned. Threads may share it.
    """

    @property
    def embedder(self) -> Embedder:
        """What gives texts their vectors here."""
        ...

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Adds records, in place of those with the same id."""
        ...

    def get(self, user: str, ids: Sequence[str]) -> dict[str, AnyRecord]:
        """The existing records with these ids, by id."""
        ...

    def records(self, user: str, kind: Kind | None = None) -> tuple[AnyRecord, ...]:
        """All records, or those of a kind, ordered by time and id."""
        ...

    def newest(self, user: str) -> tuple[IntentUnit, ...]:
        """The newest unit of each intent, and the newest of another thread."""
        ...

    def search(self, user: str, text: str, *, kind: Kind | None = None, limit: int = 10) -> tuple[Hit, ...]:
        """The records that match a text by words and by meaning, best first, at most `limit`."""
        ...

    def delete(self, user: str, ids: Sequence[str]) -> None:
        """Takes records out; unknown ids are passed over. `compact` takes their traces off the disk."""
        ...

    def stream(self, user: str) -> Stream:
        """The progress of the user's stream of work; without steps if none was stored."""
        ...

    def put_stream(self, user: str, stream: Stream) -> None:
        """Stores the progress of the user's stream of work."""
        ...

    def forget(self, user: str) -> None:
        """Removes everything stored of a user, traces included."""
        ...

    def users(self) -> tuple[str, ...]:
        """The users with records here, in order."""
        ...

    def count(self, user: str, kind: Kind | None = None) -> int:
        """How many records, of a kind or of all."""
        ...

    def compact(self) -> None:
        """Removes deleted and replaced data from the disk."""
        ...

    def reembed(self, user: str | None = None) -> int:
        """Rebuilds the indexes of a user, or of all, that another embedder made; returns how many records."""
        ...

    def close(self) -> None:
        """Releases what is open; a closed store must not be used again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class BaseStore(ABC):
    """What stores share: a lock for each user, vectors made before it is taken, reading a corpus."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._locks = tuple(RLock() for _ in range(_LOCKS))

    # ---- what a store has of its own; called with the user's lock held ------------------------------

    @abstractmethod
    def _corpus(self, user: str) -> Corpus:
        """All records of a user, up to date."""
        ...

    @abstractmethod
    def _write(self, user: str, records: Sequence[AnyRecord], vectors: Vectors) -> None:
        """Adds records with their vectors [n, d]."""
        ...

    @abstractmethod
    def _erase(self, user: str, ids: Sequence[str]) -> None:
        """Takes records out."""
        ...

    # ---- the same for both --------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder:
        """See Store."""
        return self._embedder

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """See Store."""
        known_user(user)
        newest = tuple({record.id: record for record in records}.values())
        if newest:
            vectors = self._embedded([searched(record) for record in newest])
            with self._lock(user):
                self._write(user, newest, vectors)

    def get(self, user: str, ids: Sequence[str]) -> dict[str, AnyRecord]:
        """See Store."""
        with self._lock(user):
            corpus = self._corpus(user)
            found = {key: corpus.get(key) for key in ids}
        return {key: record for key, record in found.items() if record is not None}

    def records(self, user: str, kind: Kind | None = None) -> tuple[AnyRecord, ...]:
        """See Store."""
        with self._lock(user):
            found = self._corpus(user).records()
        wanted = (record for record in found if kind in (None, record.kind))
        return tuple(sorted(wanted, key=lambda record: (record.at, record.id)))

    def newest(self, user: str) -> tuple[IntentUnit, ...]:
        """See Store."""
        with self._lock(user):
            return tuple(self._corpus(user).newest())

    def search(self, user: str, text: str, *, kind: Kind | None = None, limit: int = 10) -> tuple[Hit, ...]:
        """See Store."""
        known_user(user)
        (vector,) = self._embedded([text])
        with self._lock(user):
            return self._corpus(user).search(text, vector, kind=kind, limit=limit)

    def delete(self, user: str, ids: Sequence[str]) -> None:
        """See Store."""
        with self._lock(user):
            if unique := tuple(dict.fromkeys(ids)):
                self._erase(user, unique)

    def count(self, user: str, kind: Kind | None = None) -> int:
        """See Store."""
        with self._lock(user):
            return self._corpus(user).count(kind)

    @abstractmethod
    def close(self) -> None:
        """See Store."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Vectors [n, d] of texts, checked, since a wrong vector would stay wrong once stored."""
        try:
            vectors = np.asarray(self._embedder(texts), np.float32)
        except StoreError:
            raise
        except Exception as error:  # whatever an embedder raises, it is the same to who talks
            raise StoreError(
                f"embedder {self._embedder.name} failed: {type(error).__name__}: {error}"
            ) from error
        wanted = (len(texts), self._embedder.dimension)
        if vectors.shape != wanted or not np.isfinite(vectors).all():
            raise StoreError(
                f"embedder {self._embedder.name} gave numbers of shape {vectors.shape} that should be"
                f" finite and of shape {wanted}: check the model that TASKLOOM_EMBEDDINGS names"
            )
        return vectors

    def _lock(self, user: str) -> RLock:
        return self._locks[int(digest(user)[:8], 16) % _LOCKS]

    @contextmanager
    def _all_locks(self) -> Iterator[None]:
        """Holds the locks of all users. Must not be entered with a lock held."""
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            yield


class InMemoryStore(BaseStore):
    """A store that lasts as long as the process."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._corpora: dict[str, Corpus] = {}
        self._streams: dict[str, Stream] = {}

    def _corpus(self, user: str) -> Corpus:
        return self._corpora.get(user) or Corpus()

    def _write(self, user: str, records: Sequence[AnyRecord], vectors: Vectors) -> None:
        self._corpora.setdefault(user, Corpus()).put(records, vectors)

    def _erase(self, user: str, ids: Sequence[str]) -> None:
        self._corpus(user).remove(ids)

    def stream(self, user: str) -> Stream:
        """See Store."""
        with self._lock(user):
            return self._streams.get(user, Stream())

    def put_stream(self, user: str, stream: Stream) -> None:
        """See Store."""
        with self._lock(user):
            self._streams[user] = stream

    def forget(self, user: str) -> None:
        """See Store."""
        with self._lock(user):
            self._corpora.pop(user, None)
            self._streams.pop(user, None)

    def users(self) -> tuple[str, ...]:
        """See Store."""
        with self._all_locks():
            return tuple(sorted(self._corpora.keys() | self._streams.keys()))

    def compact(self) -> None:
        """Nothing is on disk."""

    def close(self) -> None:
        """Nothing is open."""

    def reembed(self, user: str | None = None) -> int:
        """0: whatever is here was made by the embedder in use."""
        if user is not None:
            known_user(user)
        return 0


def known_user(user: object) -> str:
    """The user, if it is one: a ValueError for what is empty or no text."""
    if not isinstance(user, str) or not user:
        raise ValueError(
            f"a user must be a text that is not empty, not {user!r}: nothing is kept without one"
        )
    return user


def digest(user: str) -> str:
    """64 hexadecimal digits for a user; no two share them, and texts that look alike are not the same."""
    return hashlib.sha256(known_user(user).encode("utf-8", "surrogatepass")).hexdigest()
