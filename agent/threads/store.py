"""Threads on disk, one run at a time on each."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout
from langchain_core.runnables import RunnableConfig

from taskloom.agent.graph.locks import ThreadBusyError, exclusive, lock_file
from taskloom.agent.graph.runs import Place
from taskloom.agent.turn.state import Turn
from taskloom.memory.private import keep_private

from .checkpoints import WarmSaver

__all__ = ["ThreadBusyError", "ThreadInfo", "Threads", "run_config"]


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread in a list: its turns, when it was last used (UTC), how it began, and whose it is."""

    thread: str
    turns: int
    used: datetime
    title: str
    user: str = ""


class Threads:
    """The SQLite database of threads under a folder, and the locks on them."""

    def __init__(self, home: Path, *, wait: float = 30.0) -> None:
        """Open the database, or make it.

        Args:
            home: folder, made where it is missing, for its owner alone.
            wait: seconds to wait for a database or a thread that is in use.
        """
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._locks, self.wait = home / "locks", wait
        self._locks.mkdir(exist_ok=True, mode=0o700)
        file = home / "threads.sqlite"
        if not file.exists():
            file.touch(mode=0o600)  # SQLite gives its logs the same rights
        keep_private(home, self._locks, *home.glob(f"{file.name}*"), *self._locks.iterdir())
        self._inside: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._guard = threading.Lock()
        self.saver = WarmSaver(
            sqlite3.connect(file, check_same_thread=False, timeout=wait), locks=self._locks
        )
        with FileLock(self._locks / "setup.lock", timeout=wait, mode=0o600):
            self.saver.setup()

    def close(self) -> None:
        """Close the database."""
        self.saver.conn.close()

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
            with FileLock(self._lock_file(thread), timeout=self.wait, poll_interval=0.01, mode=0o600):
                yield
        except Timeout as error:
            raise ThreadBusyError.on(thread, self.wait) from error
        finally:
            inside.lock.release()

    def _lock_file(self, thread: str) -> Path:
        return self._locks / f"{hashlib.sha256(thread.encode()).hexdigest()[:32]}.lock"

    def list(self) -> list[ThreadInfo]:
        """All threads, the last used first."""
        with self.saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT thread_id, MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' "
                "GROUP BY thread_id"
            ).fetchall()
        found = []
        for thread, last in rows:
            if newest := self.saver.get_tuple(run_config(thread, checkpoint_id=last)):
                turn = newest.checkpoint["channel_values"].get("turn", Turn())
                used = datetime.fromisoformat(newest.checkpoint["ts"])
                title = self._title(thread) or turn.utterance
                found.append(ThreadInfo(thread, turn.number, used, title, self.place(thread).owner()))
        return sorted(found, key=lambda info: info.used, reverse=True)

    def place(self, thread: str) -> Place:
        """Where the graph keeps a thread."""
        return Place(self.saver, thread)

    def _title(self, thread: str) -> str:
        """What was said in the first turn; the first checkpoint may be an empty one to hold the writes."""
        with self.saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = ? "
                "ORDER BY checkpoint_id LIMIT 2",
                (thread,),
            ).fetchall()
        for (checkpoint,) in rows:
            found = self.saver.get_tuple(run_config(thread, checkpoint_id=checkpoint))
            if found and (turn := found.checkpoint["channel_values"].get("turn")):
                return str(turn.utterance)
        return ""

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread.

        Raises:
            ThreadBusyError: it is in use.
        """
        with self.lock(thread), exclusive(self.saver, thread, "", self.wait):
            self.saver.delete_thread(thread)
            self._lock_file(thread).unlink(missing_ok=True)
            lock_file(self._locks, thread).unlink(missing_ok=True)

    def compact(self) -> None:
        """Take what was deleted off the disk: no byte of it stays in the database's files.

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


class _Lock:
    """A lock that can be referred to weakly."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def run_config(thread: str, **more: str) -> RunnableConfig:
    """What a run on a thread is configured with."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}
