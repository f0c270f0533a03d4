"""A folder that processes use in turn: its holder releases it when asked, unless it is in use here.

Two files of locks: who has the first, `.lock`, may use the folder; who wants it waits for it with the second,
`.next`, in hand. So the holder sees that it is asked, the next in line is one alone, and a process that dies
leaves nothing behind that would have to be cleared away.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock, Timeout

from .errors import StoreBusyError, StoreError

T = TypeVar("T")
Notify = Callable[[str], object]

WAIT = 5.0  # seconds until another process must have let go, where nobody says otherwise
_LOOK = 0.2  # seconds between two looks whether another process asks
_BRIEF = 1.0  # seconds after which who waits is told; and to wait where the last wait was in vain
_POLL = 0.02  # seconds between two tries

_log = logging.getLogger(__name__)
_in_vain: set[Path] = set()  # folders that were waited for in vain, until they are had


class Lease(Generic[T]):
    """Something that is opened in a folder, by one process at a time and once in it.

    It is opened when first used and stays open: as long as nobody asks, a use costs nothing. Safe to use from
    threads; a thread may use it again while it does.
    """

    def __init__(
        self,
        folder: Path,
        opened: Callable[[], T],
        closed: Callable[[T], None],
        *,
        renewed: Callable[[T], T] = lambda same: same,
        wait: float = WAIT,
        notify: Notify = _log.warning,
    ) -> None:
        """Set up a lease; the folder is not taken yet.

        Args:
            folder: where; it is made if need be, for its owner alone.
            opened: opens what is used, with the folder held.
            closed: closes it; the folder is held for a moment more.
            renewed: gives another in its place, after `renew`; the folder is held meanwhile.
            wait: seconds until another process, or another lease of this one, must have let go.
            notify: is told in a sentence when that takes more than a second.
        """
        self.folder, self._opened, self._closed, self._renewed = folder, opened, closed, renewed
        self._wait, self._notify = wait, notify
        self._held, self._next = (
            FileLock(folder / name, mode=0o600, poll_interval=_POLL, thread_local=False)
            for name in (".lock", ".next")
        )
        self._open: list[T] = []  # what is open, if it is
        self._users = 0
        self._asked = False  # by another process
        self._worn = False  # what is open is to be opened anew
        self._change = threading.Condition(threading.RLock())
        self._mine = threading.local()
        self._watching: threading.Thread | None = None

    @contextmanager
    def using(self) -> Iterator[T]:
        """The open resource, held within the block.

        Raises:
            StoreBusyError: another process did not let go in time.
            StoreError: the folder cannot be written; and what `opened` raises.
        """
        deep = getattr(self._mine, "deep", 0)
        with self._change:
            while (self._asked or self._worn) and not deep:  # who asks comes first
                self._change.wait()
            if not self._open:
                self._take()
            self._users += 1
            used = self._open[0]
        self._mine.deep = deep + 1
        try:
            yield used
        finally:
            self._mine.deep = deep
            with self._change:
                self._users -= 1
                if self._worn and not self._users:
                    self._open_anew()
                self._change.notify_all()

    def renew(self) -> None:
        """Have the resource opened again as soon as nobody here uses it. Call it while using it."""
        with self._change:
            self._worn = True

    def close(self) -> None:
        """Release the folder, once nobody uses it. `close` and `using` may be called again."""
        with self._change:
            self._change.wait_for(lambda: not self._users)
            self._let_go()
            watching, self._watching = self._watching, None
        if watching is not None:
            watching.join()

    # ---- with `_change` held ------------------------------------------------------------------------

    def _take(self) -> None:
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.folder.mkdir(exist_ok=True, mode=0o700)
            self._acquire()
        except OSError as error:
            raise StoreError(f"the memory cannot be kept in {self.folder}: {error}") from error
        try:
            self._open.append(self._opened())
        except BaseException:
            self._held.release()
            raise
        self._watching = threading.Thread(target=self._watch, name="taskloom-lease", daemon=True)
        self._watching.start()

    def _acquire(self) -> None:
        wait = min(self._wait, _BRIEF) if self.folder in _in_vain else self._wait
        begun = time.monotonic()
        try:
            self._patiently(self._next, begun, wait)
            try:
                self._patiently(self._held, begun, wait)
            finally:
                self._next.release()
        except Timeout:
            _in_vain.add(self.folder)
            raise StoreBusyError(
                f"the memory in {self.folder} is in use by another process, or a second time in this one, and"
                f" was not released within {wait:g} s: try again later, or end the other; for many at once"
                f" run `chroma run --path {self.folder}` and set TASKLOOM_CHROMA_URL for all of them, such as"
                " http://localhost:8000"
            ) from None
        _in_vain.discard(self.folder)

    def _patiently(self, lock: FileLock, begun: float, wait: float) -> None:
        """Take a lock; notify when that takes a while."""
        left = max(0.0, begun + wait - time.monotonic())
        if left > _BRIEF:
            try:
                lock.acquire(timeout=_BRIEF)
            except Timeout:
                self._notify(
                    f"the memory in {self.folder} is in use by another process: waiting for it, {wait:g} s at"
                    " most"
                )
            else:
                return
            left -= _BRIEF
        lock.acquire(timeout=left)

    def _open_anew(self) -> None:
        self._worn = False
        try:
            self._open[0] = self._renewed(self._open[0])
        except BaseException:
            self._let_go()
            raise

    def _let_go(self) -> None:
        if self._open:
            try:
                self._closed(self._open.pop())
            finally:
                self._held.release()
        self._asked = False
        self._change.notify_all()

    # ---- beside -------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Release the folder when another process asks for it, as soon as nobody here uses it."""
        while True:
            with self._change:
                if not self._open or self._watching is not threading.current_thread():
                    return
                self._asked = self._asked or self._is_asked()
                if self._asked and not self._users:
                    self._let_go()
                    return
                self._change.wait(None if self._asked else _LOOK)

    def _is_asked(self) -> bool:
        """Whether another process waits in line."""
        try:
            self._next.acquire(timeout=0)
        except (Timeout, OSError):
            return True
        self._next.release()
        return False
