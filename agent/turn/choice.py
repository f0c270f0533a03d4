"""How tools are chosen: what a chooser is told, and what it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from taskloom.tools.errors import ToolError

from .reading import Usage

Check: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a choice is made from.

    utterance: the user's words. exchanges: the last two (user, assistant) pairs. tasks: the tasks in lines,
    numbered. ids: their ids, that of number n at n - 1. completed: what was done in this turn, a line each.
    before: what was done before by an agent that asks this one. tools: names with what they do. context: the
    global context, filled in. passages: what the memory bank has on the request, fenced. replies: in a talk
    that goes on, the choices before as they were replied; `completed` has what came of each. last: whether
    this is the last choice of it. until: when to give up, on the monotonic clock.
    """

    utterance: str
    exchanges: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]
    ids: tuple[str, ...]
    completed: tuple[str, ...]
    tools: tuple[tuple[str, str], ...]
    context: str = ""
    passages: str = ""
    before: str = ""
    replies: tuple[str, ...] = ()
    last: bool = False
    until: float = math.inf


class Choice(BaseModel):
    """What to do next.

    tool: a name, or 'none' where nothing is left to do. task: the number of a task. reply: how it was
    replied, where a talk goes on from it.
    """

    model_config = ConfigDict(frozen=True)
    observation: str
    thoughts: str
    subtask: str = Field(max_length=500)
    tool: str
    task: int
    reply: str = ""


class ChoiceError(ToolError):
    """Nothing could be chosen: the message says why, '' where the user knows.

    usage: what trying cost. reply: what was replied, where a talk goes on from it: the message is for the
    chooser then. None where there is nothing to go on from.
    """

    def __init__(self, message: str, usage: Usage, reply: str | None = None) -> None:
        super().__init__(message)
        self.usage, self.reply = usage, reply


class Chooser(Protocol):
    """Chooses tools and their parameters."""

    def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
        """What to do next; None where nothing is left.

        Raises:
            ChoiceError: nothing could be chosen.
        """
        ...

    def parameters(
        self, situation: Situation, choice: Choice, schema: Mapping[str, Any], check: Check
    ) -> tuple[dict[str, Any], Usage]:
        """The parameters of the chosen tool, as `check` gives them.

        check: what the tool makes of parameters; raises ToolError for those that do not fit.

        Raises:
            ChoiceError: none that fit.
        """
        ...
