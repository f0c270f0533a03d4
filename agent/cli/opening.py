"""The beginning of a chat on a terminal: the user can type at once, while the rest is loaded."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from rich.console import Console

from .commands import HELP, command_of
from .keyboard import SAY, Keyboard
from .problems import explain
from .screen import failure, greeting, resuming

if TYPE_CHECKING:
    from .chat import Chat

NETWORK = "taskloom.agent.reading.network"
"""What is imported first, so that its files are read beside the rest."""
LIBRARIES = (
    "langchain_core.messages", "langchain_core.tracers.base", "langgraph.runtime", "langgraph.graph",
    "taskloom.agent.reading.local", "taskloom.agent.cli.chat",
)  # fmt: skip
"""What is loaded, in steps between which one can leave."""


class LeftError(Exception):
    """The user left before all was loaded."""


class Opening:
    """A chat that is opened in the background. An error is raised when the chat is asked for."""

    def __init__(self, make: Callable[[], Chat]) -> None:
        """make: makes the chat, once the libraries are loaded."""
        self._make, self._left, self._wanted = make, Event(), Event()
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop loading, and close what was opened."""
        self._left.set()
        self._thread.join()
        if self._talk.exception() is None:
            self._talk.result().app.close()

    def talk(self) -> Chat:
        """Wait for the chat; if it failed to open, that error is raised and opening starts again."""
        self._wanted.set()
        try:
            return self._talk.result()
        except Exception:  # whatever it was, it is raised, and the next one who wants the talk tries again
            self._begin()
            raise

    def _begin(self) -> None:
        self._talk: Future[Chat] = Future()
        self._thread = Thread(target=self._open, name="taskloom-opening")
        self._thread.start()

    def _open(self) -> None:
        gc.disable()  # what is loaded stays: there is nothing to collect
        with ThreadPoolExecutor(1) as beside:
            try:
                beside.submit(import_module(NETWORK).packaged().load)  # if it fails, the first turn tells
                for name in LIBRARIES:
                    self._go_on()
                    import_module(name)
                self._go_on()
                chat = self._make()
            except Exception as error:  # noqa: BLE001  # raised where the talk is wanted
                self._talk.set_exception(error)
                return
            finally:
                gc.freeze()
                gc.enable()
            self._talk.set_result(chat)
        for load in chat.app.loads:
            if self._left.is_set() or self._wanted.is_set():
                return
            with suppress(Exception):  # the turn that needs it tells
                load()

    def _go_on(self) -> None:
        if self._left.is_set():
            raise LeftError


@dataclass(frozen=True, slots=True)
class Place:
    """The thread of a chat, its user and home, and whether it is new."""

    thread: str
    user: str
    home: Path
    new: bool


def converse(opening: Opening, keyboard: Keyboard, out: Console, at: Place) -> None:
    """Chat on a terminal; on a new thread the user can type before everything is loaded."""
    chat, first = None, ""
    if at.new:
        out.print(greeting(at.thread, "new"))
    else:
        chat = opening.talk()
    try:
        while chat is None:
            first = keyboard.read(SAY).strip()
            match command_of(first):
                case "/quit":
                    break
                case "/help":
                    out.print("\n".join(HELP))
                case _ if first:
                    chat = _ready(opening, out, at.home)
    except EOFError:
        out.print()
    except KeyboardInterrupt:
        out.print("\nStopped.")
    if chat is None:
        out.print(resuming(at.thread, at.user), soft_wrap=True)
        return
    keyboard.names = chat.names
    chat.run(first)


def _ready(opening: Opening, out: Console, home: Path) -> Chat | None:
    """The chat; None, after a message, if it cannot be opened; the user may try again."""
    try:
        return opening.talk()
    except Exception as error:  # which of them can be told, `explain` says; all others go on
        if (message := explain(error, home)) is None:
            raise
        out.print(failure(message), style="red")
        return None


def thread_exists(home: Path, thread: str) -> bool | None:
    """Whether anything is stored of a thread; None if that cannot be read."""
    file = home / "threads.sqlite"
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=1)) as database:
            row = database.execute("SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1", (thread,))
            return row.fetchone() is not None
    except (sqlite3.Error, UnicodeDecodeError):  # of a damaged file the words may be none
        return None
