"""Any chat model of LangChain that an application brings."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableSequence

from .chat import ModelSettings
from .patient import FORM, QUIET, Asked, PatientModel

_T = TypeVar("_T")


class _Line:
    """A thread for the calls of one request: a call that is given up ends by itself, and holds up nobody.

    Every chat model can be called from a thread. What it has of asyncio is not used: providers share its
    connections between their models, and those of one event loop fail on another.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        run = copy_context().run  # so that the graph's callbacks hear of the calls
        Thread(target=run, args=(self._run,), name="taskloom-model", daemon=True).start()

    def result(self, work: Callable[[], _T], deadline: float) -> _T:
        """The result of some work, by a deadline on the monotonic clock.

        Raises:
            TimeoutError: it is not done by then.
        """
        return self.begin(work).result(max(0.0, deadline - time.monotonic()))

    def begin(self, work: Callable[[], _T]) -> Future[_T]:
        """Queue some work after the work already begun."""
        begun: Future[_T] = Future()
        self._calls.put((begun, work))
        return begun

    def close(self) -> None:
        """Stop once the queued work is done."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            begun, work = call
            try:
                begun.set_result(work())
            except BaseException as error:  # noqa: BLE001  told to who waits for it
                begun.set_exception(error)


@contextmanager
def _line() -> Iterator[_Line]:
    line = _Line()
    try:
        yield line
    finally:
        line.close()


class LangChainModel(PatientModel):
    """A chat model around LangChain's; its own settings say where it is and how long it answers.

    Where it can hold an answer to a schema, by its format or by a call of a tool, it is asked to; else in
    words.
    """

    def __init__(self, model: BaseChatModel, settings: ModelSettings) -> None:
        super().__init__(settings)
        self._writer, self._reader = model, quiet(model)

    @property
    def _plain(self) -> Asked:
        return self._reader

    def _formed(self, schema: dict[str, Any]) -> Asked | None:
        form = {"description": "What is asked for.", **schema, "title": FORM}
        try:
            formed = self._reader.with_structured_output(form)
        except (NotImplementedError, TypeError, ValueError):  # it has none, or none for such a schema
            return None
        # Without the parser behind it, which completes an answer that was cut off and drops what is missing.
        return formed.first if isinstance(formed, RunnableSequence) else None

    def _sent(self, model: Asked, messages: Sequence[BaseMessage], deadline: float) -> AIMessage:
        with _line() as line:
            return line.result(lambda: model.invoke(list(messages)), deadline)

    @contextmanager
    def _chunks(self, messages: Sequence[BaseMessage], deadline: float) -> Iterator[Iterator[AIMessageChunk]]:
        with _line() as line:
            chunks = self._writer.stream(list(messages), QUIET)

            def each() -> Iterator[AIMessageChunk]:
                while (chunk := line.result(lambda: next(chunks, None), deadline)) is not None:
                    yield chunk

            try:
                yield each()
            finally:
                if isinstance(chunks, Generator):
                    line.begin(chunks.close)


def quiet(model: BaseChatModel) -> BaseChatModel:
    """The same chat model, whose messages a streaming graph around it does not show."""
    tags = [*(model.tags or ()), *QUIET["tags"]]
    return model.model_copy(update={"tags": tags, "disable_streaming": True})


def name_of(model: BaseChatModel) -> str:
    """The name of a chat model: the provider's name for it, else the name of its class."""
    names = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__name__)
