"""A responder that asks a chat model."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

from langchain_core.messages import HumanMessage, SystemMessage

from taskloom.agent.turn.brief import Brief, Responder, ResponderError, TooLong
from taskloom.agent.turn.reading import Usage

from . import prompts
from .briefing import reply_prompt
from .chat import ChatModel, Meter, ModelFault, Oversized

LONGEST = 4_000  # characters of a reply; more only where the brief has more to list, twice what it lists


class Unwritten(ResponderError):
    """The model could not write the reply; '' if the user knows why. usage: the cost of trying."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class ModelResponder:
    """Writes the reply of a turn with one model call, streamed.

    fallback: writes it where the model does not, and says why where the user does not know; without one that
    is an error to the caller.
    """

    def __init__(self, chat: ChatModel, fallback: Responder | None = None) -> None:
        self.chat, self.fallback = chat, fallback

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        """Yield the reply in pieces, the brief's note first; return what it cost.

        Raises:
            TooLong: it is longer than what was asked for; the rest is not read.
            Unwritten: the model did not write it to its end, and there is no fallback.
        """
        meter, begun, prompt = Meter(), False, reply_prompt(brief)
        deadline = time.monotonic() + self.chat.patience - brief.spent
        messages = [SystemMessage(prompts.RESPOND), HumanMessage(prompt)]
        left = max(LONGEST, 2 * len(prompt))
        try:
            with closing(self.chat.stream(messages, meter, deadline)) as pieces:
                for piece in pieces:
                    left -= len(piece)
                    if left < 0:
                        raise Oversized
                    if not begun and brief.note:
                        yield f"{brief.note}\n\n"
                    begun = True
                    yield piece
        except Oversized:
            raise TooLong(meter.usage) from None
        except ModelFault as fault:
            first = self.chat.reported.first(fault, "write")
            why = f"I write this without the model: {fault}." if first else ""
            if self.fallback is None:
                raise Unwritten(why, meter.usage) from fault
            if begun:
                yield " …\n\n"
            note = why if begun else f"{brief.note} {why}".strip()
            usage = yield from self.fallback.respond(replace(brief, note=note))
            return meter.usage + usage
        self.chat.reported.over("write")
        return meter.usage
