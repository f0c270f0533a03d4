"""What a responder is: it writes the reply of a turn from a brief.

`replying.templates.TemplateResponder` writes it without a model, `models.responder.ModelResponder` with one;
both get the same brief.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from taskloom.memory.claims import Answer
from taskloom.memory.tasks import TaskGraph

from .reading import Usage
from .state import Turn


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a reply may be made of.

    graph: the tasks after the turn. turn: what was read, grounded and done; `turn.changes` holds refusals,
    `turn.question` the one question to ask, `turn.proposals` the ids of proposed tasks. answers: the turn's
    answers to questions, with their verdicts. facts: lines that a prompt may carry, in topological order and
    within the token budget. note: what the user should be told about how the turn was read, or ''.
    style: 'template' or 'model'. exchanges: the last two (user, assistant) pairs. faults: what was wrong with
    the reply written just before for the same brief; () at first. spent: the seconds that it took. now: when
    the turn is, where that is known.
    """

    utterance: str
    graph: TaskGraph
    turn: Turn
    answers: tuple[Answer, ...] = ()
    facts: tuple[str, ...] = ()
    note: str = ""
    style: str = "template"
    exchanges: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    spent: float = 0.0
    now: datetime | None = None


class Responder(Protocol):
    """Writes the reply of a turn; never changes anything."""

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        """Yield the reply in pieces, in order; return what writing it cost (`usage = yield from ...`).

        Raises:
            ResponderError: no reply could be written (the template answers then).
        """
        ...


class ResponderError(RuntimeError):
    """The reply could not be written: the message says why, in words for the user; '' where they know.

    usage: what the attempt cost.
    """

    usage: Usage = Usage()


class TooLong(ResponderError):
    """The reply is longer than anybody asked for: the message says so, in words for its writer."""

    def __init__(self, usage: Usage) -> None:
        super().__init__("it was far too long: one to three sentences, or the list that was asked for")
        self.usage = usage
