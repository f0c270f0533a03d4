"""Where long-term memory is kept: the Store protocol, in memory and in Chroma (the only import of it).

    StoreError            the store cannot do what was asked; the message says what to do
    ├── StoreBusyError    the folder is open elsewhere
    └── EmbeddingMismatch the index was made with another embedder

Each user has a collection of their own. What is searched is in memory, a `Corpus` for each of the users who
came last; Chroma is what lasts. Chroma's own index is never asked: it knows no words, and at the size of one
user's memory a matrix product is fast and exact.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import struct
import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias, TypeVar
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
from filelock import FileLock, Timeout

from .embed import Embedder, Vectors
from .private import keep_private
from .ranking import Corpus, Hit
from .records import Experience, Fact, IntentUnit, Kind, Stream, read_record, searched

if TYPE_CHECKING:  # importing Chroma takes a second; who asks for no ChromaStore need not wait
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import EmbeddingFunction

AnyRecord: TypeAlias = Experience | Fact | IntentUnit

_PREFIX = "taskloom-"
_NEXT = "-next"  # name of a collection that is being embedded anew
_STREAM = "-stream"  # name of a collection without records, whose metadata have the user's stream
_LOCKS = 32  # users share this many locks
_WARM = 100_000  # records kept in memory, over all users; about 3 KB each
_PATIENCE = 60  # seconds until a server must have answered
_PAGE = 500  # collections listed at a time
_NAMED = (
    10_000  # marks in one query: SQLite takes some 30,000, and with more than these it is slower than all
)
_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
T = TypeVar("T")


class StoreError(Exception):
    """The store cannot do what was asked. The message says what to do."""


class StoreBusyError(StoreError):
    """The folder of an embedded store is open elsewhere."""


class EmbeddingMismatch(StoreError):
    """A user's index was made with another embedder than the one in use."""


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
        """The records with these ids, as far as there are any, by id."""
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
        """How far the user's stream of work has come; of no steps where none was put."""
        ...

    def put_stream(self, user: str, stream: Stream) -> None:
        """Keeps how far the user's stream of work has come."""
        ...

    def forget(self, user: str) -> None:
        """Takes out all that is kept of a user, traces included."""
        ...

    def users(self) -> tuple[str, ...]:
        """Who has a memory here, in order."""
        ...

    def count(self, user: str, kind: Kind | None = None) -> int:
        """How many records, of a kind or of all."""
        ...

    def compact(self) -> None:
        """Takes what was deleted or replaced off the disk."""
        ...

    def reembed(self, user: str | None = None) -> int:
        """Makes the index of a user, or of all, anew where another embedder made it; how many records."""
        ...

    def close(self) -> None:
        """Lets go of what is open; a closed store is not used again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class _Base(ABC):
    """What both stores share: a lock for each user, vectors made before it is taken, reading a corpus."""

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
        _known(user)
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
        _known(user)
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
        """Vectors [n, d] of texts, looked at: what is stored wrong is found wrong for ever."""
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
        return self._locks[int(_digest(user)[:8], 16) % _LOCKS]

    @contextmanager
    def _all_locks(self) -> Iterator[None]:
        """Keeps every user waiting. Not to be entered with a lock held."""
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            yield


class InMemoryStore(_Base):
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
            _known(user)
        return 0


class _Warm(NamedTuple):
    """A user's records in memory. stamp: of the last write that they know of; marks: of each, by id."""

    stamp: str
    corpus: Corpus
    marks: dict[str, str]


class ChromaStore(_Base):
    """A store in Chroma: `embedded` in a folder of one process, or on a `server` that several use.

    With a server every write gives each of its records a new mark, and the user's collection a new stamp; a
    corpus in memory with another stamp is brought up to date before it is read, by the records whose marks it
    does not know. Neither is a time or a count, on which writers would have to agree. The stamp comes after
    the records: who reads it has them, and a write that dies in between was not acknowledged.
    """

    def __init__(
        self, client: Client, embedder: Embedder, *, where: str, folder: Path | None, lock: FileLock | None
    ) -> None:
        """Not to be called: see `embedded` and `server`."""
        super().__init__(embedder)
        self._client: Client | None = client
        self._where = where
        self._folder = folder
        self._folder_lock = lock
        self._function = _function_class()(embedder)
        self._warm: OrderedDict[str, _Warm] = OrderedDict()  # last used last
        self._warming = Lock()
        self._index_of: dict[uuid.UUID, Path] = {}  # by collection

    @classmethod
    def embedded(cls, path: Path, embedder: Embedder) -> Self:
        """Opens the store in a folder, made if need be, for this process alone and once in it.

        Raises:
            StoreBusyError: the folder is open already.
            StoreError: the folder cannot be written, or what is in it cannot be read.
        """
        folder = Path(path).absolute()
        lock = FileLock(folder / ".lock", timeout=0, mode=0o600)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(exist_ok=True, mode=0o700)
            lock.acquire()
        except Timeout:
            raise StoreBusyError(
                f"the memory in {folder} is open in another process, or a second time in this one, and two"
                f" would damage it: close the other, or run `chroma run --path {folder}` and set"
                " TASKLOOM_CHROMA_URL for all of them, such as http://localhost:8000"
            ) from None
        except OSError as error:
            raise StoreError(f"the memory cannot be kept in {folder}: {error}") from error
        try:
            with _explained(str(folder)):
                for index in _indexes(folder):  # a process may have died in the middle of writing
                    if _whole(index):
                        _blank(index)
                    else:
                        shutil.rmtree(index)
                client = _open_folder(folder)
                keep_private(folder, *folder.rglob("*"))
        except StoreError:
            lock.release()
            raise
        return cls(client, embedder, where=str(folder), folder=folder, lock=lock)

    @classmethod
    def server(cls, url: str, embedder: Embedder) -> Self:
        """Uses the Chroma server at an address such as http://localhost:8000.

        Raises:
            StoreError: not an address, or no Chroma server is there.
        """
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise StoreError(f"{url!r} is no address of a server: TASKLOOM_CHROMA_URL=http://localhost:8000")
        with _explained(url):
            client = _connect(url.rstrip("/"))
        return cls(client, embedder, where=url, folder=None, lock=None)

    def users(self) -> tuple[str, ...]:
        """See Store."""
        found: set[str] = set()
        with self._all_locks(), self._asking() as client:  # not while files are swept
            for offset in range(0, client.count_collections(), _PAGE):
                for collection in client.list_collections(_PAGE, offset):
                    if collection.name.startswith(_PREFIX):
                        found.add(json.loads((collection.metadata or {})["user"]))
        return tuple(sorted(found))

    def stream(self, user: str) -> Stream:
        """See Store."""
        with self._lock(user), self._asking() as client:
            kept = _collection(client, _collection_name(user) + _STREAM, self._function)
            return Stream() if kept is None else Stream.model_validate_json(str(kept.metadata["stream"]))

    def put_stream(self, user: str, stream: Stream) -> None:
        """See Store."""
        labels = {"user": json.dumps(_known(user)), "stream": stream.model_dump_json()}
        with self._lock(user), self._asking() as client:
            kept = client.get_or_create_collection(
                _collection_name(user) + _STREAM, metadata=labels, embedding_function=self._function
            )
            kept.modify(metadata=labels)  # one that was there has kept its own

    def forget(self, user: str) -> None:
        """Takes out all that is kept of a user.

        In a folder no byte of it stays in any file. On a server the collection is deleted; what the server
        leaves in its files is its operator's to remove.
        """
        _known(user)
        with self._all_locks() if self._folder else self._lock(user):
            self._cool(user)
            with self._asking() as client:
                for kind in ("", _NEXT, _STREAM):
                    _drop(client, _collection_name(user) + kind)
            self.compact()

    def compact(self) -> None:
        """Takes what was deleted or replaced off the disk: no byte of its text stays in any file.

        Everyone waits meanwhile, and room for a copy of the file is needed. On a server nothing is done: its
        files are its operator's.
        """
        if self._folder is not None:
            with self._all_locks(), self._asking():
                _sweep(self._folder)

    def reembed(self, user: str | None = None) -> int:
        """Makes the index of a user, or of all, anew where another embedder made it, or where it is broken.

        Gives how many records that were. What was there stays until all of it is embedded. With a server
        nothing else may write meanwhile.
        """
        users = self.users() if user is None else (_known(user),)
        count = sum(self._reembed(each) for each in users)
        if count:
            self.compact()
        return count

    def close(self) -> None:
        """See Store. May be called again."""
        with self._all_locks():
            if self._client is not None:
                for session in () if self._folder else _sessions(self._client):
                    session.close()
                self._client.close()
                self._client = None
                self._warm.clear()
            if self._folder_lock is not None:
                self._folder_lock.release()

    # ---- reading and writing, with the user's lock held ---------------------------------------------

    def _corpus(self, user: str) -> Corpus:
        with self._warming:
            warm = self._warm.get(user) or _Warm("", Corpus(), {})
        if warm.stamp and self._folder:
            return warm.corpus
        with self._asking() as client:
            collection = self._find(client, user)
            current = "none" if collection is None else f"{collection.id} {collection.metadata['stamp']}"
            if collection is None:
                warm = _Warm(current, Corpus(), {})
            elif warm.stamp != current:
                warm = warm._replace(stamp=current)
                _refresh(warm, collection, self._batch(client))
                self._tidy(collection)
        self._keep(user, warm)
        return warm.corpus

    def _write(self, user: str, records: Sequence[AnyRecord], vectors: Vectors) -> None:
        with self._asking() as client, self._changing(user) as corpus:
            collection = self._find(client, user) or self._make(client, user, _collection_name(user))
            self._upsert(collection, records, vectors, self._batch(client))
            self._wrote(collection, user)
            if corpus is not None:
                corpus.put(records, vectors)

    def _erase(self, user: str, ids: Sequence[str]) -> None:
        with self._asking() as client, self._changing(user) as corpus:
            if (collection := self._find(client, user)) is None:
                return
            for batch in _batches(ids, self._batch(client)):
                collection.delete(ids=list(batch))
            self._wrote(collection, user)
            if corpus is not None:
                corpus.remove(ids)

    @contextmanager
    def _changing(self, user: str) -> Iterator[Corpus | None]:
        """The corpus to change along with a folder; out of memory meanwhile, and for good if that fails.

        None where there is none in memory, and with a server, where the stamp tells what to read again.
        """
        if self._folder is None:
            yield None
            return
        warm = self._cool(user)
        yield warm and warm.corpus
        if warm is not None:
            self._keep(user, warm)

    def _upsert(
        self, collection: Collection, records: Sequence[AnyRecord], vectors: Vectors, size: int
    ) -> None:
        for start in range(0, len(records), size):
            batch = records[start : start + size]
            collection.upsert(
                ids=[record.id for record in batch],
                embeddings=vectors[start : start + size],
                documents=[searched(record) for record in batch],
                metadatas=[
                    {
                        "kind": record.kind,
                        "thread": record.thread,
                        "at": record.at.timestamp(),
                        "mark": uuid.uuid4().hex[:16],
                        "record": record.model_dump_json(),
                    }
                    for record in batch
                ],
            )

    def _wrote(self, collection: Collection, user: str) -> None:
        """What follows a write: on a server the new stamp."""
        if self._folder is None:
            collection.modify(metadata=self._labels(user))
        self._tidy(collection)

    def _tidy(self, collection: Collection) -> None:
        """What follows a write, and a first look at the vectors, which may write the index too."""
        if self._folder is not None:
            if collection.id not in self._index_of:
                self._index_of[collection.id] = _index(self._folder, collection.id)
            index = self._index_of[collection.id]
            _blank(index)
            keep_private(index, *index.iterdir())

    def _labels(self, user: str) -> dict[str, str]:
        """A collection's metadata. The user is escaped: not every text has bytes."""
        return {"user": json.dumps(user), "embedder": self._embedder.name, "stamp": uuid.uuid4().hex}

    # ---- collections --------------------------------------------------------------------------------

    def _find(self, client: Client, user: str) -> Collection | None:
        """The user's collection, if there is one, and made with the embedder in use."""
        found = self._any(client, user)
        made = None if found is None else found.metadata["embedder"]
        if found is not None and made != self._embedder.name:
            raise EmbeddingMismatch(
                f"the memory of {user!r} was embedded with {made!r}, and {self._embedder.name!r} is in use:"
                " set TASKLOOM_EMBEDDINGS back, or embed it anew with `taskloom memory reembed`"
            )
        return found

    def _any(self, client: Client, user: str) -> Collection | None:
        """The user's collection, whichever embedder made it.

        Where only the new one of a `reembed` is left, it was whole and its name is still to be changed.
        """
        name = _collection_name(user)
        found = _collection(client, name, self._function)
        if found is None and (found := _collection(client, name + _NEXT, self._function)) is not None:
            found.modify(name=name)
        return found

    def _make(self, client: Client, user: str, name: str) -> Collection:
        return client.get_or_create_collection(
            name,
            metadata=self._labels(user),
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=self._function,
        )

    def _reembed(self, user: str) -> int:
        name = _collection_name(user)
        with self._lock(user):
            with self._asking() as client:
                old = self._any(client, user)
                if old is None:
                    return 0
                readable = _readable(old)
                if readable and old.metadata["embedder"] == self._embedder.name:
                    return 0
                if self._folder and not readable:  # with a broken index Chroma reads no records either
                    shutil.rmtree(_index(self._folder, old.id), ignore_errors=True)
                _drop(client, name + _NEXT)  # of a run that was cut short
                new = self._make(client, user, name + _NEXT)
                records = list(_stored(old).values())
                size = self._batch(client)
            for batch in _batches(records, size):
                vectors = self._embedded([searched(record) for record in batch])
                with self._asking():
                    self._upsert(new, batch, vectors, size)
                    self._wrote(new, user)
            with self._asking() as client:
                client.delete_collection(name)
                new.modify(name=name)
            self._cool(user)
            return len(records)

    # ---- what is in memory --------------------------------------------------------------------------

    def _keep(self, user: str, warm: _Warm) -> None:
        with self._warming:
            self._warm[user] = warm
            self._warm.move_to_end(user)
            while len(self._warm) > 1 and sum(len(held.corpus) for held in self._warm.values()) > _WARM:
                self._warm.popitem(last=False)

    def _cool(self, user: str) -> _Warm | None:
        with self._warming:
            return self._warm.pop(user, None)

    # ---- Chroma -------------------------------------------------------------------------------------

    @contextmanager
    def _asking(self) -> Iterator[Client]:
        """Chroma's client; what it raises becomes a StoreError."""
        if self._client is None:
            raise StoreError(f"the memory in {self._where} is closed")
        with _explained(self._where):
            yield self._client

    def _batch(self, client: Client) -> int:
        """Records in one call: no more than Chroma takes, and no request larger than a server takes."""
        return min(client.get_max_batch_size(), 1000)


# ---- Chroma, without a store ----------------------------------------------------------------------


def _known(user: object) -> str:
    if not isinstance(user, str) or not user:
        raise ValueError(f"a user is a text that is not empty, not {user!r}: nothing is kept without one")
    return user


def _digest(user: str) -> str:
    """64 hexadecimal digits for a user; no two share them, and texts that look alike are not the same."""
    return hashlib.sha256(_known(user).encode("utf-8", "surrogatepass")).hexdigest()


def _collection_name(user: str) -> str:
    return _PREFIX + _digest(user)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _collection(client: Client, name: str, function: EmbeddingFunction[Any]) -> Collection | None:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=function)
    except NotFoundError:
        return None


def _drop(client: Client, name: str) -> None:
    """Deletes a collection if there is one."""
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name)


def _stored(collection: Collection) -> dict[str, AnyRecord]:
    """All records of a collection by id, without their vectors."""
    return {key: read_record(str(data["record"])) for key, data in _unknown(collection, {}).items()}


def _refresh(warm: _Warm, collection: Collection, size: int) -> None:
    """Brings a corpus up to date; the vectors of what changed are fetched, `size` at a time."""
    changed: dict[str, tuple[str, AnyRecord]] = {}
    for key, data in _unknown(collection, warm.marks).items():
        mark = str(data.get("mark", ""))
        if mark != warm.marks.get(key):
            changed[key] = mark, read_record(str(data["record"]))
    for batch in _batches(tuple(changed), size):
        found = collection.get(ids=list(batch), include=["embeddings"])
        # One that was deleted just now is not among them; the stamp of who did it is still to come.
        vectors = np.array(found["embeddings"], np.float32).reshape(len(found["ids"]), -1)
        warm.corpus.put([changed[key][1] for key in found["ids"]], vectors)
        warm.marks.update({key: changed[key][0] for key in found["ids"]})
    if collection.count() != len(warm.corpus):
        left = set(collection.get(include=[])["ids"])
        gone = [key for key in warm.marks if key not in left]
        warm.corpus.remove(gone)
        for key in gone:
            del warm.marks[key]


def _unknown(collection: Collection, marks: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """The metadata of the records whose marks are not known, by id; of all where that is too much to ask."""
    known: Any = {"mark": {"$nin": list(marks.values())}} if 0 < len(marks) <= _NAMED else None
    found = collection.get(where=known, include=["metadatas"])
    return dict(zip(found["ids"], found["metadatas"] or (), strict=True))


def _readable(collection: Collection) -> bool:
    """Whether Chroma can still read all vectors of a collection."""
    from chromadb.errors import InternalError

    try:
        collection.get(include=["embeddings"])
    except InternalError:
        return False
    return True


@cache
def _function_class() -> Callable[[Embedder], EmbeddingFunction[Any]]:
    """An Embedder as Chroma's embedding function, known to its registry.

    So a collection names in its configuration what embeds it, and Chroma never fetches a model of its own.
    """
    from chromadb.api.types import EmbeddingFunction
    from chromadb.utils.embedding_functions import register_embedding_function

    class Function(EmbeddingFunction[Any]):
        known: ClassVar[dict[str, Embedder]] = {}

        def __init__(self, embedder: Embedder) -> None:
            self.embedder = embedder
            self.known[embedder.name] = embedder

        def __call__(self, input: Any) -> Any:  # noqa: A002  # Chroma's name for it
            return list(self.embedder(input))

        @staticmethod
        def name() -> str:
            return "taskloom"

        def get_config(self) -> dict[str, Any]:
            return {"embedder": self.embedder.name}

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> Function:
            return Function(Function.known[config["embedder"]])

    register_embedding_function(Function)  # type: ignore[no-untyped-call]
    return Function


def _settings(**given: Any) -> Any:
    """Chroma's settings with telemetry off, whatever a `.env` in the current folder says."""
    from chromadb.config import Settings

    return Settings(_env_file=None, anonymized_telemetry=False, **given)


def _open_folder(folder: Path) -> Client:
    """A client on a folder. Started by hand: else Chroma lists a folder that it could not open as open."""
    from chromadb.api import ServerAPI
    from chromadb.api.client import Client
    from chromadb.config import System
    from chromadb.telemetry.product import ProductTelemetryClient

    system = System(_settings(persist_directory=str(folder), is_persistent=True))
    system.instance(ProductTelemetryClient)  # type: ignore[type-abstract]
    system.instance(ServerAPI)  # type: ignore[type-abstract]
    system.start()
    return Client.from_system(system)


def _connect(url: str) -> Client:
    """A client of a server that has been seen to answer as Chroma does."""
    from chromadb.api.client import Client

    with urlopen(f"{url}/api/v2/heartbeat", timeout=_PATIENCE) as reply:  # noqa: S310  # http or https
        if b"heartbeat" not in reply.read(1000):
            raise ConnectionError("what answers to http there is not Chroma")
    address = {"chroma_server_host": url, "chroma_server_http_port": 8000}  # the port is the address's own
    client = Client(settings=_settings(chroma_api_impl="chromadb.api.fastapi.FastAPI", **address))
    for session in _sessions(client):
        session.timeout = _PATIENCE
    return client


def _sessions(client: Client) -> tuple[Any, ...]:
    """The connections of a client to its server; Chroma lets them wait without end and never closes them."""
    both: tuple[Any, ...] = (client, client._admin_client)
    return tuple(each._server._session for each in both)


_ADVICE = {
    "full|no space|too large|apply logs": "free some space; what was put before is safe",
    "hnsw|index|finding id": "the index is damaged, the records are not: make it anew with"
    " `taskloom memory reembed`",
    "not a database|malformed|corrupt": "the file is damaged: put back a copy of the folder, or move it away"
    " and read an export in with `taskloom memory import`",
    "readonly|read-only|permission|unable to open": "see that this user may write the folder and its files",
    "refused|connect|resolve|name or service|timed out|disconnected|http": "see that `chroma run` is up, and"
    " that TASKLOOM_CHROMA_URL is its address",
}


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Makes a StoreError of what goes wrong in Chroma, with what to do about it."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:  # Chroma raises its own, the network's, SQLite's and the plainest of errors
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        fits = (advice for words, advice in _ADVICE.items() if re.search(words, reason.lower()))
        advice = next(fits, "see the error above this one")
        raise StoreError(f"the memory in {where} failed: {reason}: {advice}") from error


# ---- what Chroma leaves on disk -------------------------------------------------------------------

_HEADER = struct.Struct("<i4Q")  # version, offset, capacity, elements, bytes of an element; more follows
_HEADER_BYTES = 100

_SWEEP = (
    # The log keeps each write until the vector index has caught up with it; only its vector is needed then.
    """
    DELETE FROM embeddings_queue
    WHERE NOT EXISTS (SELECT 1 FROM collections WHERE instr(topic, collections.id))
    """,
    """
    UPDATE embeddings_queue SET metadata = NULL
    WHERE metadata IS NOT NULL AND seq_id <= (
        SELECT max_seq_id.seq_id FROM max_seq_id JOIN segments ON segments.id = segment_id
        WHERE scope = 'METADATA' AND instr(topic, collection)
    )
    """,
    "DELETE FROM embeddings WHERE segment_id NOT IN (SELECT id FROM segments)",
    "DELETE FROM embedding_metadata WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_fulltext_search WHERE rowid NOT IN (SELECT id FROM embeddings)",
    # The index of trigrams keeps those of deleted texts until its parts are merged.
    "INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('optimize')",
    "VACUUM",  # writes the file anew: what was deleted stays in free pages until then
    "PRAGMA wal_checkpoint(TRUNCATE)",
)


def _database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "chroma.sqlite3", timeout=30, isolation_level=None)


def _sweep(folder: Path) -> None:
    """Takes all traces of what is no longer stored out of Chroma's files; nobody may use them meanwhile.

    For the layout of chromadb 1.5: one SQLite file, and a folder with the vector index of each collection,
    which stays when the collection is deleted.
    """
    with closing(_database(folder)) as database:
        database.execute("PRAGMA secure_delete = ON")
        for statement in _SWEEP:
            database.execute(statement).fetchall()
        segments = {row[0] for row in database.execute("SELECT id FROM segments")}
    for index in _indexes(folder):
        if index.name in segments:
            _blank(index)
        else:
            shutil.rmtree(index)


def _indexes(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if _SEGMENT.fullmatch(each.name)]


def _index(folder: Path, collection: uuid.UUID) -> Path:
    """The folder of a collection's vector index."""
    wanted = "SELECT id FROM segments WHERE scope = 'VECTOR' AND collection = ?"
    with closing(_database(folder)) as database:
        (name,) = database.execute(wanted, (str(collection),)).fetchone()
    return folder / str(name)


def _blank(index: Path) -> None:
    """Zeroes what lies in the files of a vector index behind its last element; not while Chroma writes there.

    Chroma makes the files larger than need be and fills them with memory that it has not cleared, in which
    are texts of any user (chroma-core/chroma, issue 7688).
    """
    for name, used in _used(index).items():
        with (index / name).open("r+b") as file:
            file.seek(used)
            rest = file.read()
            if rest.strip(b"\0"):
                file.seek(used)
                file.write(bytes(len(rest)))


def _whole(index: Path) -> bool:
    """Whether an index's files are as long as they say; with shorter ones Chroma brings the process down."""
    try:
        return all((index / name).stat().st_size >= used for name, used in _used(index).items())
    except (FileNotFoundError, struct.error):
        return False


def _used(index: Path) -> dict[str, int]:
    """How many bytes of an index's files hold elements."""
    *_, count, size = _HEADER.unpack_from((index / "header.bin").read_bytes())
    return {"header.bin": _HEADER_BYTES, "data_level0.bin": count * size, "length.bin": count * 4}
