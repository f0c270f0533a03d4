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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .calls import Result
from .errors import ToolError


class Entry(BaseModel):
    """A call. result: None while it is not known whether it came to an end."""

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
        """Whether its end is known."""
        return "begun" if self.result is None else "ended"


def key_of(thread: str, turn: int, task: str, tool: str, args: Mapping[str, Any]) -> str:
    """The idempotency key of a call: of its thread, turn, task, tool and parameters, 32 hex digits."""
    origin = json.dumps([thread, turn, task, tool, args], sort_keys=True, default=str)
    return hashlib.sha256(origin.encode()).hexdigest()[:32]


class Journal(Protocol):
    """Where calls are written down."""

    def begin(self, entry: Entry) -> Entry | None:
        """Write a call down before it is made; the entry there is of the same key, if any: then make none."""
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
                made = [k for k, entry in self._entries.items() if entry.thread.endswith(f"/{key}")]
                for gone in (key, *made):
                    self._entries.pop(gone, None)


class FileJournal:
    """A journal in a SQLite file; every entry is on disk before the call. For any number of processes."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, for its owner alone; its folder too.

        Raises:
            ToolError: it cannot be opened.
        """
        self._path, self._guard = path, threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            if path.stat().st_uid == os.geteuid():
                path.chmod(0o600)
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=30, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=DELETE")  # no log beside it that a kill leaves behind
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS calls (number INTEGER PRIMARY KEY, key TEXT UNIQUE, "
                "user TEXT, thread TEXT, entry TEXT)"
            )
        except (OSError, sqlite3.Error) as error:
            raise ToolError(
                f"the journal of calls {path} cannot be opened: {error}; move it away if it is damaged"
            ) from error

    def begin(self, entry: Entry) -> Entry | None:
        """See `Journal`.

        Raises:
            ToolError: it cannot be written; then the call must not be made.
        """
        row = (entry.key, entry.user, entry.thread, entry.model_dump_json())
        with self._writing() as db:
            there = db.execute("SELECT entry FROM calls WHERE key = ?", (entry.key,)).fetchone()
            if there is None:
                db.execute("INSERT INTO calls (key, user, thread, entry) VALUES (?, ?, ?, ?)", row)
                return None
        return self._read(there[0])

    def end(self, key: str, result: Result) -> None:
        """See `Journal`.

        Raises:
            ToolError: it cannot be written.
        """
        with self._writing() as db:
            there = db.execute("SELECT entry FROM calls WHERE key = ?", (key,)).fetchone()
            if there is not None:
                ended = self._read(there[0]).model_copy(update={"result": result})
                db.execute("UPDATE calls SET entry = ? WHERE key = ?", (ended.model_dump_json(), key))

    def open(self, thread: str) -> tuple[Entry, ...]:
        """See `Journal`.

        Raises:
            ToolError: it cannot be read.
        """
        with self._guard, self._told():
            rows = self._db.execute("SELECT entry FROM calls WHERE thread = ? ORDER BY number", (thread,))
            return tuple(self._read(text) for (text,) in rows.fetchall())

    def entries(self) -> tuple[Entry, ...]:
        """The calls of all threads that are not closed, the first one first.

        Raises:
            ToolError: it cannot be read.
        """
        with self._guard, self._told():
            rows = self._db.execute("SELECT entry FROM calls ORDER BY number")
            return tuple(self._read(text) for (text,) in rows.fetchall())

    def close(self, keys: Iterable[str]) -> None:
        """See `Journal`.

        Raises:
            ToolError: it cannot be written.
        """
        if rows := [(key, f"/{key}", f"/{key}") for key in keys]:
            with self._writing() as db:
                db.executemany("DELETE FROM calls WHERE key = ? OR substr(thread, -length(?)) = ?", rows)

    def forget(self, user: str) -> int:
        """Forget all calls of a user, and how many: no byte of them stays in the file.

        Raises:
            ToolError: it cannot be written.
        """
        with self._writing() as db:
            count = db.execute("DELETE FROM calls WHERE user = ?", (user,)).rowcount
        with self._guard, self._told():
            self._db.execute("VACUUM")
        return count

    def shut(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One change, that is on disk as a whole or not at all."""
        with self._guard, self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turns what the database raises into a ToolError that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise ToolError(f"the journal of calls {self._path} fails: {error}") from error

    def _read(self, text: str) -> Entry:
        try:
            return Entry.model_validate_json(text)
        except ValidationError as error:
            raise ToolError(
                f"the journal of calls {self._path} holds an entry that cannot be read; move the file away, "
                "and look up outside which calls were made"
            ) from error
