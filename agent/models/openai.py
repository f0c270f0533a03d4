"""A chat model behind any OpenAI-compatible endpoint: as interpreter and as responder.

The only importer of langchain_openai. What can go wrong with a model, each in words for the user (never the
server's own text, which may hold a key):

    ModelFault
      Unreachable    no answer, or none in the protocol: tried again, then given up
      Misconfigured  a setting must be put right; the message names it
      Rejected       the endpoint does not take this request
      Unusable       an answer that cannot be used: goes back to the model, at most twice
        Oversized    one so long that it was not read to its end
"""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from json import dumps
from threading import Lock, Thread
from typing import Any, Literal, TypeVar

import numpy as np
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from numpy.typing import NDArray
from pydantic import SecretStr
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_any,
    stop_before_delay,
    wait_random_exponential,
)

from taskloom.agent.plan.outline import quoted
from taskloom.agent.settings import Settings
from taskloom.agent.turn.reading import Usage
from taskloom.memory.store import StoreError

from . import prompts
from .chat import (
    LATE,
    TOO_LONG,
    Meter,
    Misconfigured,
    ModelFault,
    ModelSettings,
    Oversized,
    Rejected,
    Unreachable,
    Unusable,
)

CLOSING = 0.5  # seconds to end a request that is broken off
LONGEST = 4_000  # characters of a reply; more only where the brief has more to list, twice what it lists
MOST_READ = 2_000_000  # bytes of an answer on the wire: a piece of a stream takes some 300, whatever it holds
_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class _Lines:
    """Where the requests of all models of a process run, with the connections that they share.

    It is an event loop of its own, since only what runs on one can be broken off at a deadline: the client's
    timeouts begin anew with every byte.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.connections = openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]})
        Thread(target=self._loop.run_forever, name="taskloom-model", daemon=True).start()

    def result(self, work: Awaitable[_T], deadline: float) -> _T:
        """What some work gives, by a deadline on the monotonic clock.

        Raises:
            TimeoutError: it is not done by then, and broken off.
        """
        left = max(0.0, deadline - time.monotonic())
        begun = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, left), self._loop)
        try:
            return begun.result(left + CLOSING)
        finally:
            begun.cancel()


_starting = Lock()
_started = cache(_Lines)


def _lines() -> _Lines:
    with _starting:
        return _started()


Activity = Literal["read", "write", "choose"]


class Told:
    """The faults that the user was told of and that are not over; safe to use from threads of execution."""

    def __init__(self) -> None:
        self._told: set[tuple[object, str]] = set()
        self._guard = Lock()

    def first(self, fault: ModelFault, activity: Activity) -> bool:
        """Whether a fault is to be told: it was not yet, or was over since.

        One of the endpoint is over when it has answered, an answer that cannot be used when one of the same
        activity could be. A setting that is wrong stays so as long as the process lives.
        """
        match fault:
            case Misconfigured():
                until = ""
            case Unusable():
                until = activity
            case _:
                until = "answered"
        with self._guard:
            new = (fault.args, until) not in self._told
            self._told.add((fault.args, until))
        return new

    def over(self, what: Activity | Literal["answered"]) -> None:
        """The endpoint has answered, or an answer could be used for an activity."""
        with self._guard:
            self._told = {(words, until) for words, until in self._told if until != what}


class ChatModel:
    """A chat model with retries; one for each model and process, used by interpreter and responder alike.

    It remembers that the endpoint takes no JSON schema, for a while that it does not answer, and of which
    faults the user was told.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self.settings, self.told = settings, Told()
        self._no_schema = False
        self._down: tuple[float, Unreachable] | None = None
        common: dict[str, Any] = {
            "model": settings.model,
            "api_key": settings.api_key or SecretStr("not set"),
            "base_url": settings.base_url,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "timeout": None,  # every request has a deadline, which holds however slowly the bytes come
            "max_retries": 0,
            "http_async_client": _lines().connections,
            "use_responses_api": False,
            "stream_usage": True,
            "tags": ["nostream"],  # the graph passes checked pieces on by itself
            "http_socket_options": (),  # else it warns of a transport of its own, which is not used
        }
        self._writer = ChatOpenAI(**common)
        # Under a graph that streams messages `invoke` would stream too.
        self._reader = ChatOpenAI(**common, disable_streaming=True)

    def ask(
        self, messages: Sequence[BaseMessage], schema: dict[str, Any], meter: Meter, deadline: float
    ) -> str:
        """The text of an answer that is meant to be JSON of a schema, not checked.

        Raises:
            ModelFault: there is no answer, or one that is cut off, refused or not text.
        """
        if not self._no_schema:
            form = {"type": "json_schema", "json_schema": {"name": "reading", "schema": schema}}
            try:
                return self._tried(
                    lambda: self._answer(messages, meter, deadline, response_format=form), deadline
                )
            except Rejected as fault:
                if fault.status not in (400, 415, 422, 501):
                    raise
        plain = [SystemMessage(f"{messages[0].text}{prompts.READ_PLAIN}{dumps(schema)}"), *messages[1:]]
        try:
            text = self._tried(lambda: self._answer(plain, meter, deadline), deadline)
        except Unusable:
            self._no_schema = True
            raise
        self._no_schema = True
        return text

    def stream(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float
    ) -> Generator[str, None, None]:
        """The pieces of an answer; requests are repeated only until the first piece has come.

        Raises:
            ModelFault: as `ask`; after some pieces where the answer is cut off.
        """
        first, rest = self._tried(lambda: self._opened(messages, meter, deadline), deadline)
        yield first
        yield from rest

    # ---- one request ----------------------------------------------------------------------------

    def _answer(self, messages: Sequence[BaseMessage], meter: Meter, deadline: float, **options: Any) -> str:
        # Not with_structured_output: its parser completes a reply that was cut off, which drops steps
        # silently, and takes quadratic time over a long one.
        meter.request()
        try:
            with self._faults():
                answer = _lines().result(self._reader.ainvoke(list(messages), **options), deadline)
                text = answer.text
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
            if error.completion is not None and (usage := error.completion.usage) is not None:
                meter.usage += Usage(0, usage.prompt_tokens, usage.completion_tokens)
            cut = isinstance(error, openai.LengthFinishReasonError)
            raise Unusable("it was cut off; be shorter" if cut else "it was withheld by a filter") from None
        meter.tokens(answer.usage_metadata)
        if answer.additional_kwargs.get("refusal"):
            raise Unusable("it was a refusal; only turn the message into steps")
        if answer.tool_calls or answer.invalid_tool_calls:
            raise Unusable("there are no tools; write the JSON object as text", text)
        _check_end(answer.response_metadata.get("finish_reason"), text)
        return text

    def _opened(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float
    ) -> tuple[str, Iterator[str]]:
        pieces = self._pieces(messages, meter, deadline)
        return next(pieces), pieces

    def _pieces(self, messages: Sequence[BaseMessage], meter: Meter, deadline: float) -> Iterator[str]:
        """The pieces that are not empty, at least one."""
        meter.request()
        told, end = "", None
        with self._chunks(messages, deadline) as chunks:
            while True:
                with self._faults(late=TOO_LONG if told else LATE):
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                meter.tokens(chunk.usage_metadata)
                end = chunk.response_metadata.get("finish_reason", end)
                if piece := chunk.text:
                    told = told.strip() or piece  # whether there is any, not all of it
                    yield piece
        if end is None:
            raise Unreachable("the connection to the model broke off")
        _check_end(end, told)

    @contextmanager
    def _chunks(self, messages: Sequence[BaseMessage], deadline: float) -> Iterator[Iterator[AIMessageChunk]]:
        """What comes of a request that streams, until a deadline; nothing is left open."""
        lines, chunks = _lines(), self._writer.astream(list(messages))

        def each() -> Iterator[AIMessageChunk]:
            while (chunk := lines.result(anext(chunks, None), deadline)) is not None:
                yield chunk

        try:
            yield each()
        finally:
            if isinstance(chunks, AsyncGenerator):
                with suppress(Exception):
                    lines.result(chunks.aclose(), time.monotonic() + CLOSING)

    # ---- faults ---------------------------------------------------------------------------------

    def _tried(self, request: Callable[[], _T], deadline: float) -> _T:
        """Send a request until it is answered, with growing waits, within the tries and the time there are.

        Args:
            request: sends it; it gives up by itself at the deadline.
            deadline: when to give up, on the monotonic clock.
        """
        if self.settings.api_key is None and self.settings.base_url is None:
            raise Misconfigured("there is no key for the model: set OPENAI_API_KEY (or OPENAI_BASE_URL)")
        if (down := self._down) and time.monotonic() < down[0]:
            raise Unreachable(down[1].args[0], down[1].retry_after)
        if time.monotonic() >= deadline:  # the time went into answers: the endpoint is not down
            raise Unreachable(TOO_LONG)
        backoff = wait_random_exponential(self.settings.backoff, max=10, min=self.settings.backoff / 2)

        def wait(state: RetryCallState) -> float:
            fault = state.outcome.exception() if state.outcome else None
            return max(backoff(state), fault.retry_after if isinstance(fault, Unreachable) else 0.0)

        attempts = Retrying(
            retry=retry_if_exception_type(Unreachable),
            wait=wait,
            stop=stop_any(
                stop_after_attempt(self.settings.tries), stop_before_delay(deadline - time.monotonic())
            ),
            sleep=time.sleep,
            reraise=True,
        )
        try:
            result = attempts(request)
        except Unreachable as fault:
            self._down = (time.monotonic() + self.settings.cooldown, fault)
            raise
        except Unusable:
            self._answered()
            raise
        self._answered()
        return result

    def _answered(self) -> None:
        self._down = None
        self.told.over("answered")

    @contextmanager
    def _faults(self, late: str = LATE) -> Iterator[None]:
        """Turn whatever the client raises into a fault, without the server's words; late: for a timeout."""
        try:
            with warnings.catch_warnings():
                # The advice that langchain-openai gives its caller is followed already.
                warnings.filterwarnings("ignore", category=UserWarning)
                yield
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            raise
        except Exception as error:  # noqa: BLE001  a body that is no chat completion raises almost anything
            fault = Unreachable(late) if isinstance(error, TimeoutError) else self._fault(error)
            _log.info("model request failed: %s (%s)", type(error).__name__, fault)
            raise fault from None

    def _fault(self, error: Exception) -> ModelFault:
        if isinstance(error, Oversized) or isinstance(error.__cause__, Oversized):
            return Oversized()
        match error:
            case openai.APIConnectionError():
                return Unreachable(
                    "the model could not be reached or broke off (OPENAI_BASE_URL says where it is)"
                )
            case openai.APIStatusError():
                return self._status_fault(error)
            case _:
                return Unreachable(
                    "the model's endpoint sent something that is no answer (see OPENAI_BASE_URL)"
                )

    def _status_fault(self, error: openai.APIStatusError) -> ModelFault:
        status, code = error.status_code, error.code
        name = quoted(self.settings.model, 80)
        if status in (401, 403):
            return Misconfigured(f"the model's endpoint refused the key ({status}): check OPENAI_API_KEY")
        if status == 404 or code in ("model_not_found", "invalid_model"):
            return Misconfigured(
                f"the endpoint does not know the model {name} ({status}): "
                "check TASKLOOM_MODEL and OPENAI_BASE_URL"
            )
        if code == "insufficient_quota":
            return Misconfigured(f"the quota of the model's key is used up ({status}): check OPENAI_API_KEY")
        if status in (408, 409, 429) or (status >= 500 and status != 501):
            wait = _retry_after(error)
            busy = "is busy" if status == 429 else "failed"
            return Unreachable(f"the model's endpoint {busy} ({status})", wait)
        if status < 400:
            return Misconfigured(f"the model is not at this address ({status}): check OPENAI_BASE_URL")
        if status == 413 or code == "context_length_exceeded":
            return Rejected("that is too long for the model", 413)
        return Rejected(
            f"the model's endpoint did not take the request ({status}): check TASKLOOM_MODEL", status
        )


def chat_model(given: Settings, model: str = "") -> ChatModel:
    """The chat model that the settings name, or another one at the same endpoint."""
    return ChatModel(
        ModelSettings(
            model=model or given.model,
            api_key=given.openai_api_key,
            base_url=given.openai_base_url,
            patience=given.model_timeout,
        )
    )


def chat_client(given: Settings) -> BaseChatModel:
    """The model that the settings name as LangChain's chat model, for functions that a model carries out."""
    options: dict[str, Any] = {
        "model": given.model,
        "api_key": given.openai_api_key or SecretStr("not set"),
        "base_url": given.openai_base_url,
        "timeout": given.model_timeout,
        "max_retries": 2,
        "use_responses_api": False,
        "stream_usage": True,
        "tags": ["nostream"],
    }
    return ChatOpenAI(**options)


async def _bounded(response: Any) -> None:
    """Stop reading an answer of the endpoint where it is longer than any can be; a hook of its client."""
    chunks = response.aiter_bytes

    async def bounded(*args: Any, **options: Any) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in chunks(*args, **options):
            read += len(chunk)
            if read > MOST_READ:
                raise Oversized
            yield chunk

    response.aiter_bytes = bounded


def _check_end(finish: str | None, text: str) -> None:
    """Refuse an answer that is empty or did not come to its end."""
    if finish == "length":
        raise Unusable("it was cut off; be shorter", text)
    if finish == "content_filter":
        raise Unusable("it was withheld by a filter", text)
    if not text.strip():
        raise Unusable("it was empty")


def _retry_after(error: openai.APIStatusError) -> float:
    """The seconds that the endpoint asks to wait: 0 where it does not, or not in a form that HTTP knows."""
    header = error.response.headers.get("retry-after", "")
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return seconds if 0 < seconds < float("inf") else 0.0


# ---- the interpreter ------------------------------------------------------------------------------


# ---- the responder --------------------------------------------------------------------------------


EMBEDDING_TIMEOUT = 30.0  # seconds for one request


class EndpointEmbedder:
    """Embeddings of an OpenAI-compatible endpoint (`memory.embed.Embedder`); vectors are made of length 1."""

    def __init__(self, model: str, api_key: SecretStr | None, base_url: str | None) -> None:
        """model: as the endpoint calls it; the name that an index is kept under."""
        self.name = model
        self._client = OpenAIEmbeddings(
            model=model,
            openai_api_key=api_key or SecretStr("not set"),
            openai_api_base=base_url,
            max_retries=2,
            request_timeout=EMBEDDING_TIMEOUT,
            check_embedding_ctx_length=False,  # else it downloads a tokenizer
            model_kwargs={"encoding_format": "float"},
        )

    @cached_property
    def dimension(self) -> int:
        """The numbers in a vector, asked of the endpoint once."""
        return int(self(["dimension"]).shape[1])

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of n texts: [n, d].

        Raises:
            StoreError: the endpoint gives none; the message names the setting.
        """
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        try:
            vectors = np.asarray(self._client.embed_documents(list(texts)), np.float32)
            if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
                raise ValueError("no vectors")
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise StoreError(
                f"the embeddings {quoted(self.name, 80)} cannot be had ({type(error).__name__}): check "
                "TASKLOOM_EMBEDDINGS, OPENAI_BASE_URL and OPENAI_API_KEY"
            ) from error
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
