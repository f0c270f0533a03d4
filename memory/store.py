"""Where long-term memory is kept for good: in Chroma.

Each user has a collection of their own. What is searched is in memory, a `Corpus` for each of the users who
came last; Chroma is what lasts. Chroma's own index is never asked: it knows no words, and at the size of one
user's memory a matrix product is fast and exact. A folder is held by one process at a time: see `Lease`.
Chroma lets go of no collection that it has once opened, so a client on a folder is replaced now and then.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import urlsplit

from . import chroma
from .chroma_files import Folder
from .embed import Embedder, Vectors
from .errors import EmbeddingMismatch, StoreBusyError, StoreError, explained
from .keeping import AnyRecord, BaseStore, InMemoryStore, Store, digest, known_user
from .lease import WAIT, Lease, Notify
from .ranking import Corpus
from .records import Stream, searched
from .warm import Corpora, Warm, batches, load_records, refresh, to_metadata

if TYPE_CHECKING:
    from .chroma import Client, Collection

_PREFIX = "taskloom-"
_NEXT = "-next"  # name of a collection that is being embedded anew
_STREAM = "-stream"  # name of a collection without records, whose metadata have the user's stream
_WARM = 15_000  # records kept in memory, over all users; about 4.5 KB each
_OPENED = 8  # collections after which Chroma is opened anew: it lets go of none, and each takes 1 to 3 MB
_PAGE = 500  # collections listed at a time
_NAMED = 10_000  # marks in one query: SQLite takes some 30,000, but from here on to read all is faster

_log = logging.getLogger(__name__)

__all__ = [
    "AnyRecord", "ChromaStore", "EmbeddingMismatch", "InMemoryStore", "Store", "StoreBusyError", "StoreError",
]  # fmt: skip


class ChromaStore(BaseStore):
    """A store in Chroma: `embedded` in a folder that processes use in turn, or on a `server`, all at once.

    With a server every write gives each of its records a new mark, and the user's collection a new stamp; a
    corpus in memory with another stamp is brought up to date before it is read, by the records whose marks it
    does not know. Neither is a time or a count, on which writers would have to agree. The stamp comes after
    the records: who reads it has them, and a write that dies in between was not acknowledged.
    """

    def __init__(
        self, embedder: Embedder, where: str, warm: Corpora, *, lease: Lease[Client] | None = None,
        folder: Folder | None = None, client: Client | None = None,
    ) -> None:  # fmt: skip
        """Private: use `embedded` or `server`."""
        super().__init__(embedder)
        self._where = where
        self._lease, self._folder, self._client = lease, folder, client
        self._warm, self._closed = warm, False
        self._opened = set[uuid.UUID]()  # collections, since Chroma was opened
        self._function = chroma.function_class()(embedder)

    @classmethod
    def embedded(
        cls, path: Path, embedder: Embedder, *, wait: float = WAIT, notify: Notify = _log.warning
    ) -> Self:
        """Opens the store in a folder, made if need be; other processes may use it too, in turn.

        Args:
            path: the folder.
            embedder: makes the vectors.
            wait: seconds until another process must have let go of the folder, each time it is wanted.
            notify: is told in a sentence when that takes more than a second.

        Raises:
            StoreBusyError: the folder is in use elsewhere, and was not let go of in time.
            StoreError: the folder cannot be written, or what is in it cannot be read.
        """
        folder = Folder(Path(path).absolute())
        warm = Corpora(_WARM)
        lease = Lease(
            folder.path, partial(chroma.open_folder, folder), partial(_shut, warm),
            renewed=partial(chroma.open_anew, folder), wait=wait, notify=notify,
        )  # fmt: skip
        store = cls(embedder, str(folder.path), warm, lease=lease, folder=folder)
        with store._asking():
            return store

    @classmethod
    def server(cls, url: str, embedder: Embedder) -> Self:
        """Uses the Chroma server at an address such as http://localhost:8000.

        Raises:
            StoreError: not an address, or no Chroma server is there.
        """
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise StoreError(
                f"{url!r} is not the address of a server: TASKLOOM_CHROMA_URL=http://localhost:8000"
            )
        with explained(url):
            client = chroma.connect(url.rstrip("/"))
        return cls(embedder, url, Corpora(_WARM), client=client)

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
            kept = chroma.find_collection(client, _collection_name(user) + _STREAM, self._function)
            return Stream() if kept is None else Stream.model_validate_json(str(kept.metadata["stream"]))

    def put_stream(self, user: str, stream: Stream) -> None:
        """See Store."""
        labels = {"user": json.dumps(known_user(user)), "stream": stream.model_dump_json()}
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
        known_user(user)
        with self._all_locks() if self._folder else self._lock(user):
            self._warm.drop(user)
            with self._asking() as client:
                for kind in ("", _NEXT, _STREAM):
                    chroma.drop_collection(client, _collection_name(user) + kind)
                self.compact()

    def compact(self) -> None:
        """Takes what was deleted or replaced off the disk: no byte of its text stays in any file.

        Everyone waits meanwhile, and room for a copy of the file is needed. On a server nothing is done: its
        files are its operator's.
        """
        if self._folder is not None:
            with self._all_locks(), self._asking():
                self._folder.sweep()

    def reembed(self, user: str | None = None) -> int:
        """Makes the index of a user, or of all, anew where another embedder made it, or where it is broken.

        Gives how many records that were. What was there stays until all of it is embedded. With a server
        nothing else may write meanwhile.
        """
        users = self.users() if user is None else (known_user(user),)
        count = sum(self._reembed(each) for each in users)
        if count:
            self.compact()
        return count

    def close(self) -> None:
        """See Store. May be called again."""
        with self._all_locks():
            if self._lease is not None:
                self._lease.close()
            if self._client is not None:
                chroma.disconnect(self._client)
            self._client, self._closed = None, True
            self._warm.clear()

    # ---- reading and writing, with the user's lock held ---------------------------------------------

    def _corpus(self, user: str) -> Corpus:
        with self._asking() as client:
            warm = self._warm.get(user)
            if warm.stamp and self._folder:
                return warm.corpus
            collection = self._find(client, user)
            current = "none" if collection is None else f"{collection.id} {collection.metadata['stamp']}"
            if collection is None:
                warm = Warm(current, Corpus(), {})
            elif warm.stamp != current:
                warm = warm._replace(stamp=current)
                refresh(warm, collection, self._batch(client), _NAMED)
                self._tidy(collection)
            self._warm.keep(user, warm)
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
            for batch in batches(ids, self._batch(client)):
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
        warm = self._warm.drop(user)
        yield warm and warm.corpus
        if warm is not None:
            self._warm.keep(user, warm)

    def _upsert(
        self, collection: Collection, records: Sequence[AnyRecord], vectors: Vectors, size: int
    ) -> None:
        for start in range(0, len(records), size):
            batch = records[start : start + size]
            collection.upsert(
                ids=[record.id for record in batch],
                embeddings=vectors[start : start + size],
                documents=[searched(record) for record in batch],
                metadatas=[to_metadata(record) for record in batch],
            )

    def _wrote(self, collection: Collection, user: str) -> None:
        """What follows a write: on a server the new stamp."""
        if self._folder is None:
            collection.modify(metadata=self._labels(user))
        self._tidy(collection)

    def _tidy(self, collection: Collection) -> None:
        """What follows a write, and a first look at the vectors, which may write the index too."""
        if self._folder is not None:
            self._folder.tidy(collection.id)

    def _labels(self, user: str) -> dict[str, str]:
        """A collection's metadata. The user is escaped: not every text has bytes."""
        return {"user": json.dumps(user), "embedder": self._embedder.name, "stamp": uuid.uuid4().hex}

    # ---- collections --------------------------------------------------------------------------------

    def _find(self, client: Client, user: str) -> Collection | None:
        """The user's collection, if there is one, and made with the embedder in use."""
        found = self._any(client, user)
        embedder = None if found is None else found.metadata["embedder"]
        if found is not None and embedder != self._embedder.name:
            raise EmbeddingMismatch(
                f"the memory of {user!r} was embedded with {embedder!r}, and {self._embedder.name!r} is in"
                " use: set TASKLOOM_EMBEDDINGS back, or embed it again with `taskloom memory reembed`"
            )
        return found

    def _any(self, client: Client, user: str) -> Collection | None:
        """The user's collection, whichever embedder made it.

        Where only the new one of a `reembed` is left, it was whole and its name is still to be changed.
        """
        name = _collection_name(user)
        found = chroma.find_collection(client, name, self._function)
        if found is None:
            found = chroma.find_collection(client, name + _NEXT, self._function)
            if found is None:
                return None
            found.modify(name=name)
        self._note(found)
        return found

    def _make(self, client: Client, user: str, name: str) -> Collection:
        made = chroma.make_collection(client, name, self._labels(user), self._function)
        self._note(made)
        return made

    def _note(self, collection: Collection) -> None:
        """Counts a collection that Chroma will open; after too many the client is replaced."""
        self._opened.add(collection.id)
        if self._lease is not None and len(self._opened) > _OPENED:
            self._opened.clear()
            self._lease.renew()

    def _reembed(self, user: str) -> int:
        name = _collection_name(user)
        with self._lock(user), self._asking() as client:
            old = self._any(client, user)
            if old is None:
                return 0
            readable = chroma.is_readable(old)
            if readable and old.metadata["embedder"] == self._embedder.name:
                return 0
            if self._folder and not readable:  # with a broken index Chroma reads no records either
                self._folder.drop_index(old.id)
            chroma.drop_collection(client, name + _NEXT)  # of a run that was cut short
            new = self._make(client, user, name + _NEXT)
            records = list(load_records(old).values())
            size = self._batch(client)
            for batch in batches(records, size):
                vectors = self._embedded([searched(record) for record in batch])
                self._upsert(new, batch, vectors, size)
                self._wrote(new, user)
            client.delete_collection(name)
            new.modify(name=name)
            self._warm.drop(user)
            return len(records)

    # ---- Chroma -------------------------------------------------------------------------------------

    @contextmanager
    def _asking(self) -> Iterator[Client]:
        """Chroma's client; what it raises becomes a StoreError."""
        if self._closed:
            raise StoreError(f"the memory in {self._where} is closed")
        with (
            explained(self._where),
            self._lease.using() if self._lease else nullcontext(self._client) as client,
        ):
            yield cast("Client", client)

    def _batch(self, client: Client) -> int:
        """How many records go into one call: what Chroma takes, in a request that a server takes."""
        return min(client.get_max_batch_size(), 1000)


def _collection_name(user: str) -> str:
    return _PREFIX + digest(user)


def _shut(warm: Corpora, client: Client) -> None:
    """Closes a client on a folder: what is in memory of it holds only as long as no other process writes."""
    warm.clear()
    client.close()
