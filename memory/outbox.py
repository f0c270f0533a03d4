"""Records on their way into the store, on disk: what was added is not lost, whatever fails after it."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any, Literal, Protocol, Self

from filelock import FileLock, Timeout
from pydantic_core import to_json

from .files import FILES, Files, forget_files
from .keeping import digest
from .private import keep_private
from .ranking import AnyRecord
from .records import Kind, now, read_record

_BATCH = 64  # records put at a time
_GIVE_UP = 3  # failures in a row after which it is the store that fails, and not a record
_PATIENCE = 30  # seconds that one process waits for another
_LATE = 30 * 86_400  # seconds for which what was forgotten is kept from coming back

TABLE = """
CREATE TABLE IF NOT EXISTS queue (
    place {number},
    "user" TEXT NOT NULL,     -- as JSON: not every text has bytes
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    since TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    UNIQUE ("user", id)
)
"""
FORGOTTEN = """
CREATE TABLE IF NOT EXISTS forgotten (
    whose TEXT NOT NULL,      -- a digest of the user
    id TEXT NOT NULL,         -- of a record; '' for all of them
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (whose, id)
)
"""
TABLES = (TABLE, FORGOTTEN, FILES)


class Taker(Protocol):
    """Takes records: a store, or a stage before one."""

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Takes records of a user; the same records twice change nothing."""
        ...


class OutboxError(Exception):
    """The queue cannot be read or written, or another process holds it. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Which:
    """Some of the records that wait: of a kind ('' for any), and of no turn of a thread ('' for none)."""

    kind: Kind | Literal[""] = ""
    beside: str = ""

    def found_by(self) -> tuple[str, str, str, str]:
        """Values for `_HAS`: fields as they stand in a record's JSON, where no text of a user looks so."""
        kind = f'"kind":"{self.kind}"' if self.kind else ""
        thread = f'"thread":{to_json(self.beside).decode()}' if self.beside else ""
        return kind, kind, thread, thread


ALL = Which()
_HAS = "(? = '' OR REPLACE(record, ?, '') <> record) AND (? = '' OR REPLACE(record, ?, '') = record)"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record that the store has not taken yet. error: what was said at the last of the tries."""

    user: str
    id: str
    since: datetime
    tries: int
    error: str


@dataclass(frozen=True, slots=True)
class _Row:
    place: int
    user: str
    record: str
    tries: int


class Rows(Protocol):
    """A change of the queue that is being made: statements, in which `?` stands for a value."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """One statement; gives a cursor."""
        ...

    def executemany(self, statement: str, values: Sequence[Sequence[Any]], /) -> object:
        """One statement, for each of several rows."""
        ...


class Queue(Protocol):
    """A database with the table of the queue. Its errors are OutboxErrors. Safe to use from threads."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        ...

    def writing(self) -> AbstractContextManager[Rows]:
        """One change at a time: kept as a whole when it ends, or not at all."""
        ...

    def alone(self) -> AbstractContextManager[bool]:
        """Keeps out others who call it too; yields whether the lock was free within a time."""
        ...

    def scrub(self) -> None:
        """Takes what was deleted off the disk."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


class QueueFile:
    """The queue in a SQLite file, for any number of processes."""

    def __init__(self, path: Path) -> None:
        """Opens the file; it and its folder are made if need be, for this user's eyes only.

        Raises:
            OutboxError: not a queue, or no right to write there.
        """
        self._path = Path(path).absolute()
        self.place = str(self._path)
        self._lock = RLock()
        self._moving = FileLock(f"{self._path}.lock", timeout=_PATIENCE, mode=0o600)
        with self._explained():
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.touch(mode=0o600)
            keep_private(self._path.parent, *self._path.parent.glob(f"{self._path.name}*"))
            self._database = sqlite3.connect(
                self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
                # A killed process loses nothing. A power cut may take the last moments, which the checkpoints
                # have too; waiting for the disk would be half of what a turn takes.
                self._database.execute("PRAGMA synchronous = NORMAL")
                self._database.execute("PRAGMA secure_delete = ON")
                for table in TABLES:
                    self._database.execute(table.format(number="INTEGER PRIMARY KEY AUTOINCREMENT"))
            except (sqlite3.Error, UnicodeDecodeError):
                self._database.close()
                raise

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """See `Queue`."""
        with self._lock, self._explained():
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                yield self._database

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """See `Queue`."""
        try:
            self._moving.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            self._moving.release()

    def scrub(self) -> None:
        """See `Queue`.

        Raises:
            OutboxError: another process is reading, and does not come to an end.
        """
        with self._lock, self._explained():
            self._database.execute("VACUUM")
            (busy, _, _) = self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OutboxError(
                f"{self.place} is being read by another process: forget again, to clear its log"
            )

    def close(self) -> None:
        """See `Queue`."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # its words may hold bytes of the file
            raise OutboxError(
                f"the queue {self.place} failed: {error}: check that the disk has room and that you may write"
                " there; if the file is damaged, move it away"
            ) from error


class Outbox:
    """A queue of records in a database. Several processes may add; one at a time moves records on.

    A record waits in its newest form only. What failed before comes last, and one by one, so that a record
    that always fails holds up no other; apart from that the oldest is first. What was forgotten does not come
    back: records of a time before that, which another process still has in hand, are not taken. Safe to use
    from threads.
    """

    def __init__(self, queue: Path | Queue) -> None:
        """Takes a queue, or the path of a SQLite file for one.

        Raises:
            OutboxError: not a queue, or no right to write there.
        """
        self._queue: Queue = QueueFile(queue) if isinstance(queue, Path) else queue
        self.files = Files(self._queue)  # of its users, in the same database: they are forgotten together

    def add(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Queues records, in place of those with the same id; a killed process does not lose them any more.

        Those of a time before they, or their user, were forgotten are passed over.

        Raises:
            ValueError: no user.
            OutboxError: it could not be written.
        """
        if not user:
            raise ValueError("records are queued for a user, and this one is empty")
        since = now().isoformat()
        whose = json.dumps(user)
        with self._queue.writing() as queue:
            gone = _forgotten(queue, user)
            rows = {
                record.id: (whose, record.id, record.model_dump_json(), since)
                for record in records
                if record.at.timestamp() > max(gone.get("", 0.0), gone.get(record.id, 0.0))
            }
            queue.executemany('DELETE FROM queue WHERE "user" = ? AND id = ?', [(whose, key) for key in rows])
            queue.executemany(
                'INSERT INTO queue ("user", id, record, since) VALUES (?, ?, ?, ?)', [*rows.values()]
            )

    def flush(
        self, store: Taker, user: str | None = None, *, which: Which = ALL, seconds: float = math.inf
    ) -> int:
        """Moves what it can of a user, or of all, into the store; how many records that were.

        What fails stays, with the error. After so many seconds no further batch is begun.

        Raises:
            OutboxError: another process uses it and does not finish.
        """
        moved = failed = 0
        until = monotonic() + seconds
        with self._alone():
            batches = deque(self._batches(user, which))
            while batches and failed < _GIVE_UP and monotonic() < until:
                batch = batches.popleft()
                if self._move(store, batch):
                    moved += len(batch)
                    failed = 0
                elif len(batch) > 1:  # which of them is it?
                    batches.extendleft([row] for row in reversed(batch))
                else:
                    failed += 1
        return moved

    def waiting(self, user: str | None = None) -> tuple[Waiting, ...]:
        """The waiting records, of a user or of all, oldest first."""
        with self._queue.writing() as queue:
            rows = queue.execute(
                """SELECT "user", id, since, tries, error FROM queue
                WHERE ? IN ('', "user") ORDER BY since, place""",
                ("" if user is None else json.dumps(user),),
            ).fetchall()
        return tuple(
            Waiting(json.loads(whose), key, datetime.fromisoformat(since), tries, error)
            for whose, key, since, tries, error in rows
        )

    def count(self, user: str | None = None, *, which: Which = ALL, untried: bool = False) -> int:
        """How many records wait, of a user or of all; untried: only those that never failed."""
        with self._queue.writing() as queue:
            (count,) = queue.execute(
                f"""SELECT COUNT(*) FROM queue
                WHERE ? IN ('', "user") AND (tries = 0 OR NOT ?) AND {_HAS}""",  # noqa: S608  # a constant
                ("" if user is None else json.dumps(user), untried, *which.found_by()),
            ).fetchone()
        return int(count)

    def discard(self, user: str, ids: Sequence[str]) -> None:
        """Takes records out of the queue; no byte of them stays in any file.

        Before they are deleted in the store, or they would come back.

        Raises:
            OutboxError: another process is moving records, or reading, and does not come to an end.
        """
        with self._alone():
            with self._queue.writing() as queue:
                _note_forgotten(queue, user, ids)
                queue.executemany(
                    'DELETE FROM queue WHERE "user" = ? AND id = ?', [(json.dumps(user), key) for key in ids]
                )
            self._queue.scrub()

    def forget(self, user: str) -> None:
        """Removes all records of a user; no byte of them stays in any file. Call it before the store's own.

        Raises:
            OutboxError: another process is moving records, or reading, and does not come to an end.
        """
        with self._alone():
            with self._queue.writing() as queue:
                _note_forgotten(queue, user, ("",))
                queue.execute('DELETE FROM queue WHERE "user" = ?', (json.dumps(user),))
                forget_files(queue, user)
            self._queue.scrub()

    def close(self) -> None:
        """Closes the queue."""
        self._queue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- moving -------------------------------------------------------------------------------------

    def _batches(self, user: str | None, which: Which) -> list[list[_Row]]:
        """All that waits: what is new in batches of one user, what failed before one by one."""
        with self._queue.writing() as queue:
            found = queue.execute(
                f"""SELECT place, "user", record, tries FROM queue
                WHERE ? IN ('', "user") AND {_HAS} ORDER BY tries, place""",  # noqa: S608  # a constant
                ("" if user is None else json.dumps(user), *which.found_by()),
            ).fetchall()
        rows = [_Row(place, json.loads(user), record, tries) for place, user, record, tries in found]
        by_user: dict[str, list[_Row]] = {}
        for row in rows:
            if not row.tries:
                by_user.setdefault(row.user, []).append(row)
        fresh = [
            mine[start : start + _BATCH] for mine in by_user.values() for start in range(0, len(mine), _BATCH)
        ]
        return fresh + [[row] for row in rows if row.tries]

    def _move(self, store: Taker, batch: Sequence[_Row]) -> bool:
        """Whether the store took a batch of one user. For a batch of one record the error is noted."""
        try:
            store.put(batch[0].user, [read_record(row.record) for row in batch])
        except Exception as error:  # noqa: BLE001  # a store's, an embedder's: whatever it is, it is kept and shown
            if len(batch) == 1:
                self._note(batch[0], f"{type(error).__name__}: {error}")
            return False
        with self._queue.writing() as queue:  # by place: a newer form that came meanwhile has another
            queue.executemany("DELETE FROM queue WHERE place = ?", [(row.place,) for row in batch])
        return True

    def _note(self, row: _Row, error: str) -> None:
        with self._queue.writing() as queue:
            queue.execute(
                "UPDATE queue SET tries = tries + 1, error = ? WHERE place = ?", (error[:500], row.place)
            )

    # ---- one at a time ------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other threads and processes from moving records, so that no older form overtakes a newer."""
        with self._queue.alone() as let_in:
            if not let_in:
                raise OutboxError(
                    f"another process has been moving the records of {self._queue.place} for {_PATIENCE} s:"
                    " check that its store answers, or stop that process"
                )
            yield


def _forgotten(queue: Rows, user: str) -> dict[str, float]:
    """When records of a user, by id, or all of them ('') were forgotten."""
    rows = queue.execute("SELECT id, at FROM forgotten WHERE whose = ?", (digest(user),)).fetchall()
    return {str(key): float(at) for key, at in rows}


def _note_forgotten(queue: Rows, user: str, ids: Sequence[str]) -> None:
    """Keep in mind that records of a user, or all of them, are forgotten now."""
    moment = now().timestamp()
    queue.execute("DELETE FROM forgotten WHERE at < ?", (moment - _LATE,))
    queue.executemany(
        "DELETE FROM forgotten WHERE whose = ? AND id = ?", [(digest(user), key) for key in ids]
    )
    queue.executemany(
        "INSERT INTO forgotten (whose, id, at) VALUES (?, ?, ?)",
        [(digest(user), key, moment) for key in dict.fromkeys(ids)],
    )
