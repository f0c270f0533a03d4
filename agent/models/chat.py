"""The protocol of chat models: requests, their cost, and what can go wrong.

What can go wrong with a model, each in words for the user (never the server's own text, which may hold a
key):

    ModelFault
      Unreachable    no answer, or none in the protocol: tried again, then given up
      Misconfigured  a setting must be put right; the message names it
      Rejected       the endpoint does not take this request
      Unusable       an answer that cannot be used: goes back to the model, at most twice
        Oversized    one so long that it was not read to its end
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import SecretStr

from taskloom.agent.turn.reading import Usage

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

Activity = Literal["read", "write", "choose"]

LATE = "the model did not answer in time"

TOO_LONG = "the model took too long"


class ModelFault(Exception):
    """Something about the model went wrong; the message is for the user."""


class Unreachable(ModelFault):
    """No answer, or none in the protocol. retry_after: seconds that the endpoint asks to wait."""

    def __init__(self, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    def __str__(self) -> str:
        asks = f" and asks to wait {self.retry_after:.0f} s" if self.retry_after >= 1 else ""
        return f"{self.args[0]}{asks}"


class Misconfigured(ModelFault):
    """A setting must be put right; the message names it."""


class Rejected(ModelFault):
    """The endpoint does not take this request, with this status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unusable(ModelFault):
    """An answer that cannot be used. text: what there was of it. why: what to tell the model."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__("the model's answer could not be used")
        self.why, self.text = why, text


class Oversized(Unusable):
    """An answer far longer than was asked for; the part that was received is not kept."""

    def __init__(self) -> None:
        super().__init__("it was far too long")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Where the model is and how patient to be; times in seconds.

    patience: for reading one utterance, or writing one reply: all requests with their waits and repairs.
    tries: requests for one answer while the endpoint does not answer. backoff: the first wait between two,
    doubled each time. cooldown: how long an endpoint that did not answer is left alone. temperature and
    max_tokens are sent only where set: some models refuse them.
    """

    model: str
    api_key: SecretStr | None = None
    base_url: str | None = None
    patience: float = 20.0
    tries: int = 3
    backoff: float = 0.5
    cooldown: float = 20.0
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(slots=True)
class Meter:
    """Adds up what the requests cost, failed ones included. model: that of the last request."""

    usage: Usage = field(default_factory=Usage)
    model: str = ""

    def request(self, model: str) -> None:
        """Count a request that is about to be sent to a model."""
        self.model = model
        self.usage += Usage.of(model, calls=1)

    def tokens(self, reported: Any) -> dict[str, int]:
        """Count the tokens of an answer as LangChain reports them, and return them; {} if it does not."""
        if not reported:
            return {}
        found = {name: int(reported.get(name, 0)) for name in ("input_tokens", "output_tokens")}
        self.usage += Usage.of(self.model, 0, *found.values())
        return found


class ReportedFaults:
    """The faults that were reported to the user and still last; thread-safe."""

    def __init__(self) -> None:
        self._reported: set[tuple[object, str]] = set()
        self._guard = Lock()

    def first(self, fault: ModelFault, activity: Activity) -> bool:
        """Whether to report a fault: it was not reported yet, or was over since.

        A fault of the endpoint is over once it answers, an unusable answer once the same activity gets a
        usable one. A wrong setting stays wrong for the life of the process.
        """
        match fault:
            case Misconfigured():
                until = ""
            case Unusable():
                until = activity
            case _:
                until = "answered"
        with self._guard:
            new = (fault.args, until) not in self._reported
            self._reported.add((fault.args, until))
        return new

    def over(self, what: Activity | Literal["answered"]) -> None:
        """Note that the endpoint has answered, or that an activity got a usable answer."""
        with self._guard:
            self._reported = {(words, until) for words, until in self._reported if until != what}


class ChatModel(Protocol):
    """The chat model that interpreter, responder, chooser and narrator share.

    It is safe to use from several threads. Deadlines are on the monotonic clock.
    """

    @property
    def patience(self) -> float:
        """Seconds for reading one utterance or writing one reply, retries included."""
        ...

    @property
    def reported(self) -> ReportedFaults:
        """The faults that were reported to the user."""
        ...

    def ask(
        self, messages: Sequence[BaseMessage], schema: dict[str, Any], meter: Meter, deadline: float
    ) -> str:
        """The text of an answer that is meant to be JSON of a schema, not checked; the meter counts.

        Raises:
            ModelFault: there is no answer, or one that is cut off, refused or not text.
        """
        ...

    def stream(
        self, messages: Sequence[BaseMessage], meter: Meter, deadline: float
    ) -> Generator[str, None, None]:
        """The pieces of an answer, none empty; requests are repeated only until the first piece has come.

        Raises:
            ModelFault: as `ask`; after some pieces where the answer is cut off.
        """
        ...
