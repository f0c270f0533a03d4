"""What a chat model costs, how it is reached, and what goes wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from taskloom.agent.turn.reading import Usage

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
    """An answer of a size that nobody asked for; what came of it was not kept."""

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
    """Adds up what the requests cost, failed ones included."""

    usage: Usage = field(default_factory=Usage)

    def request(self) -> None:
        """Count a request that is about to be sent."""
        self.usage += Usage(model_calls=1)

    def tokens(self, reported: Any) -> None:
        """Count the tokens of an answer as langchain reports them (None: not reported)."""
        if reported:
            self.usage += Usage(0, reported.get("input_tokens", 0), reported.get("output_tokens", 0))
