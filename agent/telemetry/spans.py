"""What is being done, for whoever wants to know: a span for each turn, node, model call, tool run and search.

As long as nobody watches, a span is `NOTHING`, and costs a look at an empty tuple. A span holds figures and
names. Texts of users are apart from them, in `texts`, for observers that were told to show them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar

Kind = Literal["turn", "node", "model", "tool", "search", "lock", "call"]
Outcome = Literal["done", "interrupted", "failed", "cancelled"]
_T = TypeVar("_T")


class Span:
    """Something that is done, from its beginning to its end; as a context manager it is current inside.

    kind: what it is; name: which of these. noted: what is known of it, figures and short names. texts: what
    was said, given and written in it. above: what it is part of; remote: in another process, as a traceparent
    of W3C. outcome and seconds: known at its end. error: what it ended by. kept: what observers keep with it.
    """

    def __init__(self, kind: Kind, name: str, noted: dict[str, Any], remote: str = "") -> None:
        self.kind, self.name, self.noted, self.remote = kind, name, noted, remote
        self.texts: dict[str, Any] = {}
        self.above = _current.get()
        self.outcome: Outcome = "done"
        self.error: BaseException | None = None
        self.seconds = 0.0
        self.kept: dict[Observer, Any] = {}
        self._observers, self._begun, self._ended = _observers, time.monotonic(), False
        self._inside: AbstractContextManager[None] | None = None
        for observer in self._observers:
            observer.begin(self)

    def __bool__(self) -> bool:
        return True

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begun

    def note(self, **known: Any) -> None:
        """Add to what is known."""
        self.noted |= known

    def say(self, **texts: Any) -> None:
        """Add texts, which only an observer that may shows."""
        self.texts |= texts

    def around(self, kind: Kind) -> Span | None:
        """The nearest span of a kind that this one is or is part of."""
        found: Span | None = self
        while found is not None and found.kind != kind:
            found = found.above
        return found

    def interrupt(self) -> None:
        """It stops to ask, which is no error; the turn around it does too."""
        self.outcome = "interrupted"
        if turn := self.around("turn"):
            turn.outcome = "interrupted"

    def fail(self, error: BaseException) -> None:
        """It ends by an error."""
        if self.outcome == "done":
            self.outcome = "failed" if isinstance(error, Exception) else "cancelled"
            self.error = error if isinstance(error, Exception) else None

    @contextmanager
    def current(self) -> Iterator[None]:
        """What is done meanwhile is part of it."""
        token = _current.set(self)
        try:
            with ExitStack() as stack:
                for observer in self._observers:
                    stack.enter_context(observer.enter(self))
                yield
        finally:
            _current.reset(token)

    def end(self) -> None:
        """It is over; later ends count for nothing."""
        if not self._ended:
            self._ended = True
            self.seconds = time.monotonic() - self._begun
            for observer in reversed(self._observers):
                observer.end(self)

    def __enter__(self) -> Self:
        self._inside = self.current()
        self._inside.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(error)
        if self._inside is not None:
            self._inside.__exit__(kind, error, trace)
        self.end()

    def through(self, parts: Generator[_T, None, None]) -> Generator[_T, None, None]:
        """What a generator gives, which works within the span while whoever takes it does not."""
        try:
            while True:
                with self.current():
                    try:
                        part = next(parts)
                    except StopIteration:
                        break
                yield part
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            with self.current():
                parts.close()
            self.end()

    async def through_async(self, parts: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
        """See `through`."""
        try:
            while True:
                with self.current():
                    try:
                        part = await anext(parts)
                    except StopAsyncIteration:
                        break
                yield part
        except BaseException as error:
            self.fail(error)
            raise
        finally:
            with self.current():
                await parts.aclose()
            self.end()


class Observer(Protocol):
    """Receives spans, from any thread of execution."""

    def begin(self, span: Span) -> None:
        """It begins, within what is current."""

    def enter(self, span: Span) -> AbstractContextManager[Any]:
        """What is done in this context is part of it."""
        ...

    def end(self, span: Span) -> None:
        """It is over."""


class _Nothing(Span):
    """The span that nobody sees."""

    def __init__(self) -> None:
        self.above, self.kind, self.name = None, "node", ""

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self, **known: Any) -> None:
        pass

    def say(self, **texts: Any) -> None:
        pass

    def fail(self, error: BaseException) -> None:
        pass

    def interrupt(self) -> None:
        pass

    def end(self) -> None:
        pass


_current: ContextVar[Span | None] = ContextVar("taskloom_span", default=None)
_observers: tuple[Observer, ...] = ()
NOTHING: Span = _Nothing()


def span(kind: Kind, name: str, *, remote: str = "", **noted: Any) -> Span:
    """A span that begins now; false, and nothing, where nobody watches."""
    return Span(kind, name, noted, remote) if _observers else NOTHING


def current() -> Span | None:
    """What is being done here."""
    return _current.get()


def watch(observer: Observer) -> None:
    """Tell an observer of all spans that begin from now on, in place of one of its class."""
    global _observers
    _observers = (*(one for one in _observers if type(one) is not type(observer)), observer)


def unwatch(kind: type[Observer]) -> None:
    """Tell the observer of a class of no more of them."""
    global _observers
    _observers = tuple(one for one in _observers if type(one) is not kind)


def watched() -> bool:
    """Whether anybody is told."""
    return bool(_observers)


def hashed(name: str) -> str:
    """What stands for a thread's name where others look: always the same for one, and not the name."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16] if name else ""
