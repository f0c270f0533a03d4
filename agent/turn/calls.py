"""Calls of tools as they stand in the state."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from taskloom.memory.operations import Clarify, Update
from taskloom.memory.tasks import TaskGraph, TaskNode

SOURCE = "tool:"


class Call(BaseModel):
    """A call to be made. place: id of its task, '' where there is none; task: of the one for the result."""

    model_config = ConfigDict(frozen=True)
    tool: str
    args: dict[str, Any]
    place: str
    gives: str = Field(description="Name of the slot for the result.")
    title: str = Field(description="What to call the result.")
    task: str | None = None
    rests_on: tuple[str, ...] = Field(default=(), description="Ids of the tasks the parameters are from.")
    key: str = Field(default="", description="Names it for good, also where its parameters are edited.")
    asks: bool = Field(default=False, description="Whether it is only made when it is approved.")
    fault: str = Field(default="", description="Why it cannot be made: a parameter of the wrong form.")


class ToolRun(BaseModel):
    """What became of a call in this turn. key: what the journal knows it by, if it has side effects."""

    model_config = ConfigDict(frozen=True)
    call: Call
    key: str = ""
    status: Literal["done", "failed", "unknown", "rejected"]
    text: str = Field(description="The result, or what went wrong, or why it was rejected.")
    task: str | None = Field(default=None, description="Id of the task that holds it.")
    seconds: float = 0.0
    earlier: bool = Field(default=False, description="Made in a turn that was lost; told now.")


def rerun_operation(result: TaskNode, said: str = "") -> Update:
    """What has a result made again. Until then one that was had stays one of its tool."""
    source = result.source if result.status == "done" else "user"
    return Update(task=result.id, status="open", source=source, said=said)


def stale_in(offer: Clarify, graph: TaskGraph) -> tuple[TaskNode, ...]:
    """The results that an offer to make them again is still about: out of date, or not there."""
    tasks = (graph.get(choice.task) for choice in offer.choices if isinstance(choice, Update))
    return tuple(one for one in tasks if one and (one.stale_since is not None or one.status == "open"))


def is_rerun_offer(question: Clarify) -> bool:
    """Whether a question is one that `rerun_offer` (acting) made."""
    choice = question.choices[0] if question.choices else None
    return isinstance(choice, Update) and choice.status == "open" and choice.value is None
