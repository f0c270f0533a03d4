"""One run at a time on a thread.

LangGraph reads the state once, when a run begins; what another run writes meanwhile is lost without a word.
Runs in one process wait for each other, whatever the saver, and go in the order in which they came; with
SQLite and PostgreSQL those of several processes wait, too. However many are ahead, whoever waits is refused
only where one of these holds the thread for too long.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as futures_wait
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout
from langgraph.checkpoint.base import BaseCheckpointSaver

_POLL = 0.01  # seconds between two tries
_LONGEST = 1000  # characters of a thread's id; PostgreSQL's index takes 2,704 bytes
_UNKEPT = re.compile(r"[\0\ud800-\udfff]")
_FILES = "SELECT file FROM pragma_database_list WHERE name = 'main'"  # '' for one in memory


class ThreadBusyError(RuntimeError):  # of the kinds whose words a server passes on
    """Another run holds the thread for longer than this one waits; nothing was written."""

    @classmethod
    def on(cls, thread: str, waited: float) -> Self:
        """The error for a thread. waited: for how many seconds the run has waited."""
        return cls(f"thread {thread!r} is in use by another process or run; waited {waited:g} s")


class ThreadNameError(ValueError):
    """The name cannot be that of a thread; nothing was written."""


def check_thread(thread: str) -> None:
    """Check that any database can store a thread of this name.

    Raises:
        ThreadNameError: it has a NUL or half of a character in it, or is very long.
    """
    if len(thread) > _LONGEST or _UNKEPT.search(thread):
        raise ThreadNameError(
            f"a thread cannot be called {thread[:40]!r}: its id has {_LONGEST:,} characters at most, none of"
            " them NUL or a lone surrogate"
        )


class _Queue:
    """The runs on a thread in this process, in order of arrival; the first one runs.

    gone: how many have gone and are at their end.
    """

    def __init__(self) -> None:
        self._guard, self._runs = threading.Lock(), deque[Future[None]]()
        self.gone = 0

    def join(self) -> Future[None]:
        """Take a place at the end of the queue; the future is done when its turn has come."""
        place = Future[None]()
        with self._guard:
            self._runs.append(place)
            if self._runs[0] is place:
                place.set_result(None)
        return place

    def leave(self, place: Future[None]) -> None:
        """Give up a place; if it was the first one, the next one runs."""
        with self._guard:
            self._runs.remove(place)
            self.gone += place.done()
            if self._runs and not self._runs[0].done():
                self._runs[0].set_result(None)

    @contextmanager
    def turn(self, thread: str, wait: float) -> Iterator[None]:
        """Wait until those ahead are done; refused if none of them finishes for `wait` seconds."""
        place = self.join()
        try:
            gone = -1
            while not place.done():
                if gone == self.gone or not wait:
                    raise ThreadBusyError.on(thread, wait)
                gone = self.gone
                futures_wait((place,), wait)
            yield
        finally:
            self.leave(place)

    @asynccontextmanager
    async def turn_async(self, thread: str, wait: float) -> AsyncIterator[None]:
        """See `turn`."""
        place = self.join()
        try:
            gone = -1
            while not place.done():
                if gone == self.gone or not wait:
                    raise ThreadBusyError.on(thread, wait)
                gone = self.gone
                await asyncio.wait((asyncio.wrap_future(place),), timeout=wait)
            yield
        finally:
            self.leave(place)


_inside: WeakValueDictionary[tuple[int, str, str], _Queue] = WeakValueDictionary()
_guard = threading.Lock()


@contextmanager
def exclusive(saver: BaseCheckpointSaver[Any], thread: str, space: str, wait: float) -> Iterator[None]:
    """Hold a thread, so that nobody else runs on it within the block.

    Raises:
        ThreadBusyError: somebody did for longer than `wait` seconds; 0 refuses at once.
    """
    with _queue_of(saver, thread, space).turn(thread, wait):
        if given := _address(saver):
            from .postgres import advisory_lock

            with advisory_lock(given, thread, space, wait=wait) as taken:
                if not taken:
                    raise ThreadBusyError.on(thread, wait)
                yield
            return
        if (folder := _folder(saver)) is None:
            yield
            return
        file = _file_lock(folder, thread, space)
        try:
            file.acquire(timeout=wait, poll_interval=_POLL)
        except Timeout as error:
            raise ThreadBusyError.on(thread, wait) from error
        try:
            yield
        finally:
            file.release()


@asynccontextmanager
async def exclusive_async(
    saver: BaseCheckpointSaver[Any], thread: str, space: str, wait: float
) -> AsyncIterator[None]:
    """See `exclusive`; waiting occupies no worker thread, since the run ahead may need it."""
    async with _queue_of(saver, thread, space).turn_async(thread, wait):
        if given := await _address_async(saver):
            from .postgres import advisory_lock_async

            async with advisory_lock_async(given, thread, space, wait=wait) as taken:
                if not taken:
                    raise ThreadBusyError.on(thread, wait)
                yield
            return
        if (folder := await _folder_async(saver)) is None:
            yield
            return
        file, until = _file_lock(folder, thread, space), time.monotonic() + wait
        while not _try_lock(file):
            if time.monotonic() >= until:
                raise ThreadBusyError.on(thread, wait)
            await asyncio.sleep(_POLL)
        try:
            yield
        finally:
            file.release()


def lock_file(folder: Path, thread: str, space: str = "") -> Path:
    """The lock file that keeps other processes off a thread."""
    name = hashlib.sha256(f"{thread}\n{space}".encode()).hexdigest()[:32]
    return folder / f"run-{name}.lock"


def _try_lock(file: FileLock) -> bool:
    try:
        file.acquire(timeout=0)
    except Timeout:
        return False
    return True


def _queue_of(saver: Any, thread: str, space: str) -> _Queue:
    """The queue of a thread in this process; two savers on the same connection, or storage, share it."""
    parts = (getattr(saver, name, None) for name in ("storage", "conn"))
    shared = next((part for part in parts if part is not None), saver)
    with _guard:
        return _inside.setdefault((id(shared), thread, space), _Queue())


def _file_lock(folder: Path, thread: str, space: str) -> FileLock:
    folder.mkdir(exist_ok=True, mode=0o700)
    return FileLock(lock_file(folder, thread, space), thread_local=False, mode=0o600)


def _address(saver: Any) -> str | None:
    """The connection string of a saver's PostgreSQL database; None for a saver of another kind."""
    connection = getattr(saver, "conn", None)
    if not _is_postgres(connection):
        return None
    from .postgres import address_of

    if _is_loops(saver):  # the loop that it works in is in another thread
        return asyncio.run_coroutine_threadsafe(_address_async(saver), saver.loop).result()
    return address_of(connection)


async def _address_async(saver: Any) -> str | None:
    connection = getattr(saver, "conn", None)
    if not _is_postgres(connection):
        return None
    from .postgres import address_of_async

    return await address_of_async(connection)


def _is_postgres(connection: Any) -> bool:
    if "psycopg" not in sys.modules:  # loaded, if there is a connection of its
        return False
    from .postgres import is_ours

    return is_ours(connection)


def _is_loops(saver: Any) -> bool:
    return isinstance(getattr(saver, "loop", None), asyncio.AbstractEventLoop)


def _folder(saver: Any) -> Path | None:
    """The folder of locks beside a SQLite file; None where a saver has no file."""
    connection = getattr(saver, "conn", None)
    if isinstance(connection, sqlite3.Connection):
        return _lock_folder(saver, connection.execute(_FILES).fetchone())
    if _is_async(connection):  # the loop that it works in is in another thread
        return asyncio.run_coroutine_threadsafe(_folder_async(saver), saver.loop).result()
    return None


async def _folder_async(saver: Any) -> Path | None:
    if not _is_async(getattr(saver, "conn", None)):
        return _folder(saver)
    await saver.setup()
    async with saver.conn.execute(_FILES) as cursor:
        return _lock_folder(saver, await cursor.fetchone())


def _is_async(connection: Any) -> bool:
    library = sys.modules.get("aiosqlite")  # loaded, if there is a connection of its
    return library is not None and isinstance(connection, library.Connection)


def _lock_folder(saver: Any, row: tuple[str] | None) -> Path | None:
    if row is None or not row[0]:
        return None
    given = getattr(saver, "locks", None)
    return given if isinstance(given, Path) else Path(f"{row[0]}.locks")
