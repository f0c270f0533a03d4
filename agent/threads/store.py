"""Threads in a database, one run at a time on each."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from taskloom.agent.graph.access import turn_of
from taskloom.agent.graph.locks import ThreadBusyError, exclusive, lock_file
from taskloom.agent.graph.runs import Place
from taskloom.agent.turn.reading import Spent
from taskloom.memory.private import keep_private

from .checkpoints import WarmSaver

__all__ = ["ThreadBusyError", "ThreadInfo", "Threads", "run_config"]


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread in a list: its turns, when it was last used (UTC), how it began, and whose it is.

    spent: what models have cost in it, by model.
    """

    thread: str
    turns: int
    used: datetime
    title: str
    user: str = ""
    spent: Spent = field(default_factory=dict, hash=False)

    @property
    def tokens(self) -> int:
        """All that models were sent and wrote."""
        return sum(costs["prompt_tokens"] + costs["completion_tokens"] for costs in self.spent.values())


class Shelf(Protocol):
    """Where threads are kept: what each kind of database does in its own way."""

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """The saver of checkpoints."""
        ...

    def hold(self, thread: str) -> AbstractContextManager[None]:
        """Keep other processes off a thread; a ThreadBusyError where one did not come to an end."""
        ...

    def ends(self) -> list[tuple[str, str]]:
        """All threads, each with the id of its latest checkpoint."""
        ...

    def beginnings(self, thread: str) -> list[tuple[str, str]]:
        """The thread with the ids of its first two checkpoints."""
        ...

    def cleared(self, thread: str) -> None:
        """Be rid of what is beside the checkpoints of a thread that was deleted."""
        ...

    def compact(self) -> None:
        """Take what was deleted off the disk."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


class SqliteShelf:
    """Threads in a SQLite file under a folder, with the files of its locks."""

    def __init__(self, home: Path, *, wait: float = 30.0) -> None:
        """Open the database, or make it.

        Args:
            home: folder, made where it is missing, for its owner alone.
            wait: seconds to wait for a database or a thread that is in use.
        """
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._locks, self._wait = home / "locks", wait
        self._locks.mkdir(exist_ok=True, mode=0o700)
        file = home / "threads.sqlite"
        if not file.exists():
            file.touch(mode=0o600)  # SQLite gives its logs the same rights
        keep_private(home, self._locks, *home.glob(f"{file.name}*"), *self._locks.iterdir())
        self.saver = WarmSaver(
            sqlite3.connect(file, check_same_thread=False, timeout=wait), locks=self._locks
        )
        with FileLock(self._locks / "setup.lock", timeout=wait, mode=0o600):
            self.saver.setup()

    @contextmanager
    def hold(self, thread: str) -> Iterator[None]:
        """See `Shelf`."""
        try:
            with FileLock(self._lock_file(thread), timeout=self._wait, poll_interval=0.01, mode=0o600):
                yield
        except Timeout as error:
            raise ThreadBusyError.on(thread, self._wait) from error

    def ends(self) -> list[tuple[str, str]]:
        """See `Shelf`."""
        with self.saver.cursor(transaction=False) as cursor:
            return cursor.execute(
                "SELECT thread_id, MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' "
                "GROUP BY thread_id"
            ).fetchall()

    def beginnings(self, thread: str) -> list[tuple[str, str]]:
        """See `Shelf`."""
        with self.saver.cursor(transaction=False) as cursor:
            return cursor.execute(
                "SELECT thread_id, checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = ? "
                "ORDER BY checkpoint_id LIMIT 2",
                (thread,),
            ).fetchall()

    def cleared(self, thread: str) -> None:
        """See `Shelf`."""
        self._lock_file(thread).unlink(missing_ok=True)
        lock_file(self._locks, thread).unlink(missing_ok=True)

    def compact(self) -> None:
        """See `Shelf`.

        Raises:
            sqlite3.OperationalError: another process is reading or writing.
        """
        connection = self.saver.conn
        with self.saver.lock:
            connection.commit()
            connection.execute("VACUUM")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise sqlite3.OperationalError("the log of threads.sqlite is being read elsewhere")

    def close(self) -> None:
        """See `Shelf`."""
        self.saver.conn.close()

    def _lock_file(self, thread: str) -> Path:
        return self._locks / f"{hashlib.sha256(thread.encode()).hexdigest()[:32]}.lock"


class Threads:
    """Threads in a database, and the locks on them."""

    def __init__(self, kept: Path | Shelf, *, wait: float = 30.0) -> None:
        """Take a database, or a folder for a SQLite one.

        wait: seconds to wait for a database or a thread that is in use.
        """
        self._shelf: Shelf = SqliteShelf(kept, wait=wait) if isinstance(kept, Path) else kept
        self.saver: BaseCheckpointSaver[Any] = self._shelf.saver
        self.wait = wait
        self._inside: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._guard = threading.Lock()

    def close(self) -> None:
        """Close the database."""
        self._shelf.close()

    @contextmanager
    def lock(self, thread: str) -> Iterator[None]:
        """Hold a thread: nobody else in this or another process works on it meanwhile.

        Raises:
            ThreadBusyError: it was in use for longer than `wait`.
        """
        with self._guard:
            inside = self._inside.setdefault(thread, _Lock())
        if not inside.lock.acquire(timeout=self.wait):
            raise ThreadBusyError.on(thread, self.wait)
        try:
            with self._shelf.hold(thread):
                yield
        finally:
            inside.lock.release()

    @contextmanager
    def still(self, thread: str, wait: float | None = None) -> Iterator[None]:
        """No turn runs on a thread meanwhile. One that waits for an approval does not run.

        wait: seconds, in place of the usual ones.

        Raises:
            ThreadBusyError: one did for longer than that.
        """
        with exclusive(self.saver, thread, "", self.wait if wait is None else wait):
            yield

    def list(self) -> list[ThreadInfo]:
        """All threads, the last used first."""
        found = []
        for thread, last in self._shelf.ends():
            if newest := self.saver.get_tuple(run_config(thread, checkpoint_id=last)):
                held = newest.checkpoint["channel_values"]
                turn, spent = turn_of(held), held.get("spent", {})
                used = datetime.fromisoformat(newest.checkpoint["ts"])
                title = self._title(thread) or turn.utterance
                owner = self.place(thread).owner()
                found.append(ThreadInfo(thread, turn.number, used, title, owner, spent))
        return sorted(found, key=lambda info: info.used, reverse=True)

    def place(self, thread: str) -> Place:
        """Where the graph keeps a thread."""
        return Place(self.saver, thread)

    def _title(self, thread: str) -> str:
        """What was said in the first turn; the first checkpoint may be an empty one to hold the writes."""
        for _, checkpoint in self._shelf.beginnings(thread):
            found = self.saver.get_tuple(run_config(thread, checkpoint_id=checkpoint))
            if found and (turn := turn_of(found.checkpoint["channel_values"])).number:
                return turn.utterance
        return ""

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread.

        Raises:
            ThreadBusyError: a turn runs on it.
        """
        with self.still(thread):
            self.saver.delete_thread(thread)
            self._shelf.cleared(thread)

    def compact(self) -> None:
        """Take what was deleted off the disk: no byte of it stays in files of ours."""
        self._shelf.compact()


class _Lock:
    """A lock that can be referred to weakly."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def run_config(thread: str, **more: str) -> RunnableConfig:
    """What a run on a thread is configured with."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}
