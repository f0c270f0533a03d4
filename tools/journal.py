"""Calls with side effects, written down before they are made, so that none is ever made twice.

An entry is there, on disk, before the tool is called, and its result as soon as there is one. Whoever wants
to make the same call again finds it: done, with its result, or begun, and then nobody can know whether it had
its effect. An entry goes when the turn that it belongs to is on disk itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .calls import Result
from .errors import ToolError


class Entry(BaseModel):
    """A call. result: None while it is not known whether it finished."""

    model_config = ConfigDict(frozen=True)
    key: str
    user: str
    thread: str
    turn: int
    task: str = Field(description="Id of the task that it is for.")
    tool: str
    args: dict[str, Any]
    title: str = Field(default="", description="What it does, in words.")
    begun: datetime = Field(default_factory=lambda: datetime.now(UTC))
    result: Result | None = None

    @property
    def state(self) -> Literal["begun", "ended"]:
        """Whether the call is known to have finished."""
        return "begun" if self.result is None else "ended"


def key_of(thread: str, turn: int, task: str, tool: str, args: Mapping[str, Any]) -> str:
    """The idempotency key of a call: of its thread, turn, task, tool and parameters, 32 hex digits."""
    origin = json.dumps([thread, turn, task, tool, args], sort_keys=True, default=str)
    return hashlib.sha256(origin.encode()).hexdigest()[:32]


class Journal(Protocol):
    """Where calls are written down."""

    def begin(self, entry: Entry) -> Entry | None:
        """Record a call before it is made. If an entry of the same key exists, returns it: make no call."""
        ...

    def end(self, key: str, result: Result) -> None:
        """Write down what became of a call."""
        ...

    def open(self, thread: str) -> tuple[Entry, ...]:
        """The calls of a thread that are not closed, the first one first."""
        ...

    def close(self, keys: Iterable[str]) -> None:
        """Forget calls whose turn is on disk, with those made on threads that end in /KEY: for their sake."""
        ...


class MemoryJournal:
    """A journal that lasts as long as the process: for tests, and where there are no side effects."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._guard = threading.Lock()

    def begin(self, entry: Entry) -> Entry | None:
        """See `Journal`."""
        with self._guard:
            there = self._entries.get(entry.key)
            self._entries.setdefault(entry.key, entry)
            return there

    def end(self, key: str, result: Result) -> None:
        """See `Journal`."""
        with self._guard:
            if key in self._entries:
                self._entries[key] = self._entries[key].model_copy(update={"result": result})

    def open(self, thread: str) -> tuple[Entry, ...]:
        """See `Journal`."""
        with self._guard:
            return tuple(entry for entry in self._entries.values() if entry.thread == thread)

    def close(self, keys: Iterable[str]) -> None:
        """See `Journal`."""
        with self._guard:
            for key in keys:
                nested = [k for k, entry in self._entries.items() if entry.thread.endswith(f"/{key}")]
                for gone in (key, *nested):
                    self._entries.pop(gone, None)


TABLE = """CREATE TABLE IF NOT EXISTS calls (
    number {number}, key TEXT UNIQUE, "user" TEXT, thread TEXT, entry TEXT
)"""


class Rows(Protocol):
    """A change that is being made: statements, in which `?` stands for a value."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """One statement; gives a cursor."""
        ...

    def executemany(self, statement: str, values: Sequence[Sequence[Any]], /) -> object:
        """One statement, for each of several rows."""
        ...


class Database(Protocol):
    """A database with the table of calls. Its errors are ToolErrors. Safe to use from threads."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        ...

    def writing(self) -> AbstractContextManager[Rows]:
        """One change at a time: on disk as a whole when it ends, or not at all."""
        ...

    def scrub(self) -> None:
        """Take what was deleted off the disk."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class StoredJournal:
    """A journal in a database; every entry is on disk before the call. For any number of processes.

    All that reads or writes raises a ToolError where it cannot; then a call must not be made.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, entry: Entry) -> Entry | None:
        """See `Journal`."""
        row = (entry.key, _stored(entry.user), _stored(entry.thread), entry.model_dump_json())
        with self._database.writing() as rows:
            there = rows.execute("SELECT entry FROM calls WHERE key = ?", (entry.key,)).fetchone()
            if there is None:
                rows.execute('INSERT INTO calls (key, "user", thread, entry) VALUES (?, ?, ?, ?)', row)
                return None
        return self._read(there[0])

    def end(self, key: str, result: Result) -> None:
        """See `Journal`."""
        with self._database.writing() as rows:
            there = rows.execute("SELECT entry FROM calls WHERE key = ?", (key,)).fetchone()
            if there is not None:
                ended = self._read(there[0]).model_copy(update={"result": result})
                rows.execute("UPDATE calls SET entry = ? WHERE key = ?", (ended.model_dump_json(), key))

    def open(self, thread: str) -> tuple[Entry, ...]:
        """See `Journal`."""
        with self._database.writing() as rows:
            found = rows.execute(
                "SELECT entry FROM calls WHERE thread = ? ORDER BY number", (_stored(thread),)
            ).fetchall()
        return tuple(self._read(text) for (text,) in found)

    def entries(self) -> tuple[Entry, ...]:
        """The calls of all threads that are not closed, the first one first."""
        with self._database.writing() as rows:
            found = rows.execute("SELECT entry FROM calls ORDER BY number").fetchall()
        return tuple(self._read(text) for (text,) in found)

    def close(self, keys: Iterable[str]) -> None:
        """See `Journal`."""
        if ends := [(key, f"/{key}", f"/{key}") for key in keys]:
            with self._database.writing() as rows:
                rows.executemany(
                    "DELETE FROM calls WHERE key = ? OR substr(thread, length(thread) - length(?) + 1) = ?",
                    ends,
                )

    def forget(self, user: str) -> int:
        """Forget all calls of a user, and how many: no byte of them stays in a file of ours."""
        with self._database.writing() as rows:
            count = int(rows.execute('DELETE FROM calls WHERE "user" = ?', (_stored(user),)).rowcount)
        self._database.scrub()
        return count

    def shut(self) -> None:
        """Close the database."""
        self._database.close()

    def _read(self, text: str) -> Entry:
        try:
            return Entry.model_validate_json(text)
        except ValidationError as error:
            raise ToolError(
                f"the journal of calls {self._database.place} holds an entry that cannot be read;"
                " move it away, and check elsewhere which calls were made"
            ) from error


def _stored(text: str) -> str:
    """A name as any database takes it: no NUL, which PostgreSQL refuses, and no lone surrogate."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


class JournalFile:
    """The table of calls in a SQLite file, for any number of processes."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, for its owner alone; its folder too.

        Raises:
            ToolError: it cannot be opened.
        """
        self.place, self._guard = str(path), threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            if path.stat().st_uid == os.geteuid():
                path.chmod(0o600)
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=DELETE")  # no log beside it that a kill leaves behind
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute(TABLE.format(number="INTEGER PRIMARY KEY"))
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:  # its words may hold bytes of the file
            raise ToolError(
                f"the journal of calls {path} cannot be opened: {error}; move it away if it is damaged"
            ) from error

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """See `Database`."""
        with self._guard, self._errors_translated(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    def scrub(self) -> None:
        """See `Database`."""
        with self._guard, self._errors_translated():
            self._db.execute("VACUUM")

    def close(self) -> None:
        """See `Database`."""
        self._db.close()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Turns what the database raises into a ToolError that names the file."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise ToolError(f"the journal of calls {self.place} fails: {error}") from error


class FileJournal(StoredJournal):
    """A journal in a SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            ToolError: it cannot be opened.
        """
        super().__init__(JournalFile(path))
