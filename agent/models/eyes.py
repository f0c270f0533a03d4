"""A chat model that is shown pictures, for questions on frames of recordings and for captions."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taskloom.agent.plan.outline import quoted
from taskloom.agent.turn.reading import Usage
from taskloom.tools.errors import ToolError

from .chat import ChatModel, Meter, ModelFault, Rejected, Unusable

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

CALLS = 30  # of a question
SECONDS = 40.0  # that an answer may take at least: pictures take longer than words
_NO_PICTURES = (400, 415, 422, 501)


class Eyes:
    """A model that looks, an `Ask` (`taskloom.tools.video.looking`); what goes wrong is a `ToolError`.

    until: when to give up, on the monotonic clock; callers with a deadline set it. blind: why it cannot look,
    once the model has refused pictures; else ''.
    """

    def __init__(self, chat: ChatModel, most: int | None = CALLS, seconds: float = math.inf) -> None:
        """Look by a chat model.

        Args:
            chat: the model.
            most: requests to it in all, failed ones included; None for no end.
            seconds: from now on, after which it gives up.
        """
        self._chat, self._meter = chat, _Bounded(most=most)
        self.blind = ""
        self.until = time.monotonic() + seconds

    @property
    def usage(self) -> Usage:
        """What it cost."""
        return self._meter.usage

    def __call__(self, messages: Sequence[BaseMessage], schema: dict[str, Any]) -> str:
        """The text of an answer, not checked.

        Raises:
            ToolError: there is none: the requests are used up, the model takes no pictures or is not there.
        """
        if self.blind:
            raise ToolError(self.blind)
        deadline = min(self.until, time.monotonic() + max(SECONDS, self._chat.patience))
        try:
            return self._chat.ask(messages, schema, self._meter, deadline)
        except Unusable as fault:
            return fault.text  # who asked says what is wrong with it
        except Rejected as fault:
            if fault.status not in _NO_PICTURES:
                raise ToolError(f"{fault}: look at fewer frames") from fault
            name = quoted(self._meter.model, 80)
            self.blind = (
                f"the model {name} takes no pictures ({fault.status}): set TASKLOOM_MODEL to one that does"
            )
            raise ToolError(self.blind) from fault
        except ModelFault as fault:
            raise ToolError(str(fault)) from fault


@dataclass(slots=True)
class _Bounded(Meter):
    """A meter with a limit on the number of requests."""

    most: int | None = None

    def request(self, model: str) -> None:
        """See `Meter`."""
        if self.most is not None and self.usage.model_calls >= self.most:
            raise ToolError(f"no more pictures can be looked at: the model was asked {self.most} times")
        Meter.request(self, model)
