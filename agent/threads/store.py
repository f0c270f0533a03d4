"""Threads in a database, one run at a time on each."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
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
from taskloom.agent.graph.locks import ThreadBusyError, check_thread, exclusive, lock_file
from taskloom.agent.graph.plain import damage_named, plain_saver
from taskloom.agent.graph.runs import Place
from taskloom.agent.turn.reading import Spent
from taskloom.memory.private import keep_private

from .checkpoints import WarmSaver
from .pruning import DELETIONS, Keep, Pruned, Root, SharedThreadError, Size, cut_of, first_said, roots_of

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

    def links(self, thread: str) -> list[tuple[str, str | None]]:
        """The ids of all checkpoints of a thread, each with its parent's."""
        ...

    def prune(self, thread: str, first: str, roots: Sequence[Root], *, dry: bool) -> Size:
        """Put roots in place and delete what is before the first checkpoint, all of it or nothing.

        Calls of subgraphs go as a whole, once all of one is before that.

        Args:
            thread: the thread.
            first: the id of the oldest checkpoint that stays.
            roots: checkpoints that stay without their parents, made whole.
            dry: only see what would go.

        Returns:
            What went, or would go.
        """
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

        Raises:
            DamagedError: its tables cannot be read.
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
        with FileLock(self._locks / "setup.lock", timeout=wait, mode=0o600), damage_named():
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

    def links(self, thread: str) -> list[tuple[str, str | None]]:
        """See `Shelf`."""
        with self.saver.cursor(transaction=False) as cursor:
            return cursor.execute(
                "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
                "WHERE checkpoint_ns = '' AND thread_id = ?",
                (thread,),
            ).fetchall()

    def prune(self, thread: str, first: str, roots: Sequence[Root], *, dry: bool) -> Size:
        """See `Shelf`."""
        serde = plain_saver(self.saver).serde
        with self.saver.lock, self.saver.conn as connection:  # commits at the end, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            before = _size(connection, thread)
            for root in roots:
                kind, data = serde.dumps_typed(root.checkpoint)
                connection.execute(
                    "UPDATE checkpoints SET parent_checkpoint_id = NULL, type = ?, checkpoint = ? "
                    "WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?",
                    (kind, data, thread, root.checkpoint["id"]),
                )
            for statement in DELETIONS:
                given = statement.format(thread=":thread", first=":first", writes="writes")
                connection.execute(given, {"thread": thread, "first": first})
            gone = before.less(_size(connection, thread))
            if dry:
                connection.rollback()
        return gone

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


def _size(connection: sqlite3.Connection, thread: str) -> Size:
    count, held = connection.execute(
        "SELECT COUNT(*), TOTAL(LENGTH(checkpoint) + LENGTH(metadata)) FROM checkpoints WHERE thread_id = ?",
        (thread,),
    ).fetchone()
    (written,) = connection.execute(
        "SELECT TOTAL(LENGTH(value)) FROM writes WHERE thread_id = ?", (thread,)
    ).fetchone()
    return Size(count, int(held + written))


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
        """Hold a thread, so that no other run in this or another process works on it within the block.

        Raises:
            ThreadNameError: a thread cannot be called so.
            ThreadBusyError: it was in use for longer than `wait`.
        """
        check_thread(thread)
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
        """Hold a thread while no turn runs on it; a turn that waits for an approval does not run.

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
        """The place of a thread in the graph's saver."""
        return Place(self.saver, thread)

    def _title(self, thread: str) -> str:
        """What was said in the first turn; the first checkpoint may be an empty one to hold the writes.

        The first one of a thread that was pruned has all messages until then.
        """
        saver = plain_saver(self.saver)
        for _, checkpoint in self._shelf.beginnings(thread):
            found = saver.get_tuple(run_config(thread, checkpoint_id=checkpoint))
            if found and (turn := turn_of(found.checkpoint["channel_values"])).number:
                return first_said(found.checkpoint) or turn.utterance
        return ""

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread.

        Raises:
            ThreadBusyError: a turn runs on it.
        """
        with self.still(thread):
            self.saver.delete_thread(thread)
            self._shelf.cleared(thread)

    def prune(self, thread: str, keep: Keep, *, dry: bool = False) -> Pruned:
        """Delete old checkpoints of a thread: all of them, or none if the process is killed midway.

        Its state is as before, with all messages and the whole history of its tasks. Only going back to
        former states is lost.

        Args:
            thread: the thread.
            keep: what stays.
            dry: only see what would go.

        Raises:
            ThreadBusyError: it was in use for longer than `wait`.
            SharedThreadError: several users spoke in it.
        """
        with self.lock(thread), self.still(thread):
            place = self.place(thread)
            if not self._always_owned(thread) and len(place.speakers()) > 1:
                raise SharedThreadError(thread)
            if (cut := cut_of(place, keep)) is None:
                return Pruned(thread, 0, Size(0, 0))
            roots = roots_of(place, self._shelf.links(thread), cut.first)
            return Pruned(thread, cut.turns, self._shelf.prune(thread, cut.first, roots, dry=dry))

    def _always_owned(self, thread: str) -> bool:
        """Whether a thread had an owner in its first turn; the first checkpoint may be an empty one."""
        keys = [key for _, key in self._shelf.beginnings(thread)]
        found = [self.saver.get_tuple(run_config(thread, checkpoint_id=key)) for key in keys]
        return any(one.checkpoint["channel_values"].get("owner") for one in found if one)

    def beginning(self, thread: str) -> str:
        """The id of the oldest checkpoint of a thread; pruning changes it."""
        return next((checkpoint for _, checkpoint in self._shelf.beginnings(thread)), "")

    def compact(self) -> None:
        """Remove deleted data from the disk: no byte of it stays in our files."""
        self._shelf.compact()


class _Lock:
    """A lock that weak references can point to."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def run_config(thread: str, **more: str) -> RunnableConfig:
    """The configuration of a run on a thread."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}
