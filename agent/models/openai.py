"""A chat model at any OpenAI-compatible endpoint, and embeddings of one.

The only importer of langchain_openai.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from threading import Lock, Thread
from typing import Any, TypeVar

import numpy as np
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from numpy.typing import NDArray
from pydantic import SecretStr

from taskloom.agent.plan.outline import quoted
from taskloom.agent.settings import Settings
from taskloom.memory.store import StoreError

from .chat import Misconfigured, ModelSettings, Oversized
from .patient import FORM, QUIET, Asked, Names, PatientModel

CLOSING = 0.5  # seconds to end a request that is broken off
MOST_READ = 2_000_000  # bytes of an answer on the wire: a piece of a stream takes some 300, whatever it holds
_T = TypeVar("_T")


class _Lines:
    """The event loop on which the requests of all models of a process run, sharing connections.

    It is an event loop of its own, since only what runs on one can be broken off at a deadline: the client's
    timeouts begin anew with every byte.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.connections = openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bounded]})
        Thread(target=self._loop.run_forever, name="taskloom-model", daemon=True).start()

    def result(self, work: Awaitable[_T], deadline: float) -> _T:
        """The result of some work, by a deadline on the monotonic clock.

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


class OpenAIModel(PatientModel):
    """A chat model at an OpenAI-compatible endpoint."""

    names = Names(
        key="OPENAI_API_KEY",
        model="TASKLOOM_MODEL",
        address="OPENAI_BASE_URL",
        strange="the model's endpoint sent something that is no answer (see OPENAI_BASE_URL)",
    )
    tells_its_end = True

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings)
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
            "http_socket_options": (),  # else it warns of a transport of its own, which is not used
        }
        self._writer = ChatOpenAI(**common)
        # Under a graph that streams messages `invoke` would stream too.
        self._reader = ChatOpenAI(**common, disable_streaming=True)

    @property
    def _plain(self) -> Asked:
        return self._reader

    def _formed(self, schema: dict[str, Any]) -> Asked:
        # Not with_structured_output: its parser completes a reply that was cut off, which drops steps
        # silently, and takes quadratic time over a long one.
        form = {"type": "json_schema", "json_schema": {"name": FORM, "schema": schema}}
        return self._reader.bind(response_format=form)

    def _sent(self, model: Asked, messages: Sequence[BaseMessage], deadline: float) -> AIMessage:
        return _lines().result(model.ainvoke(list(messages), QUIET), deadline)

    @contextmanager
    def _chunks(self, messages: Sequence[BaseMessage], deadline: float) -> Iterator[Iterator[AIMessageChunk]]:
        """The chunks of a streaming request, until a deadline; the connection is always closed."""
        lines, chunks = _lines(), self._writer.astream(list(messages), QUIET)

        def each() -> Iterator[AIMessageChunk]:
            while (chunk := lines.result(anext(chunks, None), deadline)) is not None:
                yield chunk

        try:
            yield each()
        finally:
            if isinstance(chunks, AsyncGenerator):
                with suppress(Exception):
                    lines.result(chunks.aclose(), time.monotonic() + CLOSING)

    def _tried(self, request: Callable[[], _T], deadline: float) -> _T:
        if self.settings.api_key is None and self.settings.base_url is None:
            raise Misconfigured("the model needs a key: set OPENAI_API_KEY (or OPENAI_BASE_URL)")
        return super()._tried(request, deadline)


def chat_model(given: Settings, model: str = "") -> OpenAIModel:
    """The chat model that the settings name, or another one at the same endpoint."""
    return OpenAIModel(
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
                f"the embeddings {quoted(self.name, 80)} cannot be loaded ({type(error).__name__}): check "
                "TASKLOOM_EMBEDDINGS, OPENAI_BASE_URL and OPENAI_API_KEY"
            ) from error
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
