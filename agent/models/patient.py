"""What all kinds of chat models share: deadlines, retries, error messages, counting of tokens."""

from __future__ import annotations

import logging
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import dumps
from typing import Any, ClassVar, TypeVar

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
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
from taskloom.agent.telemetry.spans import Span, current, span
from taskloom.agent.turn.reading import Usage

from . import prompts
from .chat import (
    LATE,
    TOO_LONG,
    Meter,
    Misconfigured,
    ModelFault,
    ModelSettings,
    Rejected,
    ReportedFaults,
    Unreachable,
    Unusable,
)

FORM = "reading"  # what the schema of an answer is called, and a tool whose call is the answer
QUIET: RunnableConfig = {"tags": ["nostream"]}  # the graph passes checked pieces on by itself
_ENDS = ("finish_reason", "stop_reason", "done_reason", "stopReason")  # what providers call why it ended
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_WITHHELD = ("content_filter", "content_filtered", "safety", "refusal", "guardrail_intervened")
_CUT_OFF, _KEPT_BACK = "it was cut off; be shorter", "it was withheld by a filter"
# Errors by their names: each provider's client has its own of them, and none of these is imported here.
_NO_CONNECTION = {"OSError", "TransportError", "APIConnectionError"}
_UNFINISHED = {"LengthFinishReasonError": _CUT_OFF, "ContentFilterFinishReasonError": _KEPT_BACK}
_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Asked = Runnable[LanguageModelInput, AIMessage]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a model's settings, for messages to the user.

    strange: the message for an error of an unknown kind; `{error}` is its class.
    """

    key: str = "its key"
    model: str = "its name"
    address: str = "its base_url"
    strange: str = "the model gave no answer ({error})"


class PatientModel(ABC):
    """A `ChatModel` with retries; one for each model and process, used by interpreter and responder alike.

    It remembers that the endpoint takes no JSON schema, for a while that it does not answer, and of which
    faults the user was told. A kind of model says how a request is sent and broken off at its deadline.
    """

    names: ClassVar[Names] = Names()
    tells_its_end: ClassVar[bool] = False  # whether a stream without one was broken off

    def __init__(self, settings: ModelSettings) -> None:
        self.settings, self.reported = settings, ReportedFaults()
        self._no_schema = False
        self._down: tuple[float, Unreachable] | None = None

    @property
    def patience(self) -> float:
        """See `ChatModel`."""
        return self.settings.patience

    def ask(
        self, messages: Sequence[BaseMessage], schema: dict[str, Any], meter: Meter, deadline: float
    ) -> str:
        """See `ChatModel`."""
        formed = None if self._no_schema else self._formed(schema)
        if formed is not None:
            try:
                return self._tried(lambda: self._answer(formed, messages, meter, deadline), deadline)
            except Rejected as fault:
                if fault.status not in (400, 415, 422, 501):
                    raise
        plain = [SystemMessage(f"{messages[0].text}{prompts.READ_PLAIN}{dumps(schema)}"), *messages[1:]]
        try:
            text = self._tried(lambda: self._answer(self._plain, plain, meter, deadline), deadline)
        except Unusable:
            self._no_schema |= formed is not None
            raise
        self._no_schema |= formed is not None
        return text

    def stream(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float
    ) -> Generator[str, None, None]:
        """See `ChatModel`."""
        first, rest = self._tried(lambda: self._opened(messages, meter, deadline), deadline)
        yield first
        yield from rest

    # ---- what a kind of model says --------------------------------------------------------------

    @property
    @abstractmethod
    def _plain(self) -> Asked:
        """The model, as it is asked for a whole answer."""

    @abstractmethod
    def _formed(self, schema: dict[str, Any]) -> Asked | None:
        """The model, held to a schema by its own means: as text, or as a call of the tool `FORM`.

        None where it has none.
        """

    @abstractmethod
    def _sent(self, model: Asked, messages: Sequence[BaseMessage], deadline: float) -> AIMessage:
        """What a model answers.

        Raises:
            TimeoutError: not by the deadline.
            Exception: whatever a client raises; words are made of it.
        """

    @abstractmethod
    def _chunks(
        self, messages: Sequence[BaseMessage], deadline: float
    ) -> AbstractContextManager[Iterator[AIMessageChunk]]:
        """The chunks of a streaming request, until a deadline; raises as `_sent`."""

    # ---- one request ----------------------------------------------------------------------------

    def _answer(self, model: Asked, messages: Sequence[BaseMessage], meter: Meter, deadline: float) -> str:
        with span("model", self.settings.model) as seen:
            return self._text(self._asked(model, messages, meter, deadline, seen))

    def _asked(
        self, model: Asked, messages: Sequence[BaseMessage], meter: Meter, deadline: float, seen: Span
    ) -> AIMessage:
        """The model's answer; its cost goes to the meter and to the span."""
        meter.request(self.settings.model)
        with self._faults(meter):
            answer = self._sent(model, messages, deadline)
            seen.say(reply=str(answer.text))
        seen.note(**meter.tokens(answer.usage_metadata))
        return answer

    @staticmethod
    def _text(answer: AIMessage) -> str:
        """The text of a whole answer, that of its call where it is held to a schema by one."""
        text = str(answer.text)
        if answer.additional_kwargs.get("refusal"):
            raise Unusable("it was a refusal; only turn the message into steps")
        match [*answer.tool_calls, *answer.invalid_tool_calls]:
            case []:
                pass
            case [{"name": str(name), "args": given}] if name == FORM and given is not None:
                text = given if isinstance(given, str) else dumps(given, ensure_ascii=False)
            case _:
                raise Unusable("there are no tools; write the JSON object as text", text)
        _check_end(_end(answer.response_metadata), text)
        return text

    def _opened(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float
    ) -> tuple[str, Iterator[str]]:
        seen = span("model", self.settings.model)
        pieces = self._pieces(messages, meter, deadline, seen)
        pieces = seen.through(pieces) if seen else pieces
        return next(pieces), pieces

    def _pieces(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float, seen: Span
    ) -> Generator[str, None, None]:
        """The pieces that are not empty, at least one."""
        meter.request(self.settings.model)
        text, end = "", None
        with self._chunks(messages, deadline) as chunks:
            while True:
                with self._faults(meter, late=TOO_LONG if text else LATE):
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                seen.note(**meter.tokens(chunk.usage_metadata))
                end = _end(chunk.response_metadata) or end
                if piece := str(chunk.text):
                    text = text.strip() or piece  # whether there is any, not all of it
                    yield piece
        if end is None and self.tells_its_end:
            raise Unreachable("the connection to the model broke off")
        _check_end(end, text)

    # ---- faults ---------------------------------------------------------------------------------

    def _tried(self, request: Callable[[], _T], deadline: float) -> _T:
        """Send a request until it is answered, with growing waits, within the tries and the time there are.

        Args:
            request: sends it; it gives up by itself at the deadline.
            deadline: when to give up, on the monotonic clock.
        """
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
        self.reported.over("answered")

    @contextmanager
    def _faults(self, meter: Meter, late: str = LATE) -> Iterator[None]:
        """Turn whatever the client raises into a fault, without the server's words; late: for a timeout."""
        try:
            with warnings.catch_warnings():
                # The advice that langchain-openai gives its caller is followed already.
                warnings.filterwarnings("ignore", category=UserWarning)
                yield
        except Exception as error:  # noqa: BLE001  a body that is no answer raises almost anything
            fault = Unreachable(late) if isinstance(error, TimeoutError) else self._fault(error, meter)
            _log.info("model request failed: %s (%s)", type(error).__name__, fault)
            raise fault from None

    def _fault(self, error: Exception, meter: Meter) -> ModelFault:
        """An error as a message for the user, never in the server's words; the meter counts its cost."""
        chain = [*_chain(error)]
        if fault := next((one for one in chain if isinstance(one, ModelFault)), None):
            return fault
        if why := _UNFINISHED.get(type(error).__name__):
            meter.usage += (spent := Usage.cut_off(meter.model, error))
            if seen := current():
                seen.note(input_tokens=spent.prompt_tokens, output_tokens=spent.completion_tokens)
            return Unusable(why)
        if (status := _status(error)) is not None:
            return self._status_fault(status, error)
        if any(_NO_CONNECTION & {kind.__name__ for kind in type(one).__mro__} for one in chain):
            return Unreachable(
                f"the model could not be reached or broke off ({self.names.address} says where it is)"
            )
        return Unreachable(self.names.strange.format(error=type(error).__name__))

    def _status_fault(self, status: int, error: Exception) -> ModelFault:
        """The fault for an HTTP status."""
        code, name = getattr(error, "code", None), quoted(self.settings.model, 80)
        key, model, address = self.names.key, self.names.model, self.names.address
        if status in (401, 403):
            return Misconfigured(f"the model's endpoint refused the key ({status}): check {key}")
        if status == 404 or code in ("model_not_found", "invalid_model"):
            return Misconfigured(
                f"the endpoint does not know the model {name} ({status}): check {model} and {address}"
            )
        if code == "insufficient_quota":
            return Misconfigured(f"the quota of the model's key is used up ({status}): check {key}")
        if status in (408, 409, 429) or (status >= 500 and status != 501):
            busy = "is busy" if status == 429 else "failed"
            return Unreachable(f"the model's endpoint {busy} ({status})", _retry_after(error))
        if status < 400:
            return Misconfigured(f"the model is not at this address ({status}): check {address}")
        if status == 413 or code == "context_length_exceeded":
            return Rejected("that is too long for the model", 413)
        return Rejected(f"the model's endpoint did not take the request ({status}): check {model}", status)


def _end(metadata: Mapping[str, Any]) -> str | None:
    """Why an answer ended, in the provider's word; None if it does not say."""
    ends = (metadata[name] for name in _ENDS if metadata.get(name) is not None)
    return next((str(end).lower() for end in ends), None)


def _check_end(end: str | None, text: str) -> None:
    """Refuse an answer that is empty or did not come to its end."""
    if end in _CUT:
        raise Unusable(_CUT_OFF, text)
    if end in _WITHHELD:
        raise Unusable(_KEPT_BACK, text)
    if not text.strip():
        raise Unusable("it was empty")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


def _status(error: Exception) -> int | None:
    """The HTTP status of an error, wherever its class keeps it; None if it has none."""
    codes = (getattr(error, "status_code", None), getattr(_response(error), "status_code", None))
    return next((status for status in codes if isinstance(status, int) and 300 <= status < 600), None)


def _response(error: Exception) -> object:
    return getattr(error, "response", None)


def _retry_after(error: Exception) -> float:
    """The seconds that the endpoint asks to wait: 0 where it does not, or not in a form that HTTP knows."""
    headers = getattr(_response(error), "headers", None)
    header = str(headers.get("retry-after", "")) if isinstance(headers, Mapping) else ""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return 0.0
    return seconds if 0 < seconds < float("inf") else 0.0
