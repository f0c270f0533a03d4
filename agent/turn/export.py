"""A thread as JSON, to take along or to load into another. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, ValidationError

from taskloom.memory.shown import escaped
from taskloom.memory.tasks import GraphError, TaskGraph


class Said(BaseModel):
    """One message of a thread."""

    model_config = ConfigDict(frozen=True)
    role: Literal["user", "assistant"]
    text: str


class _Extras(BaseModel):
    messages: tuple[Said, ...] = ()
    focus: tuple[str, ...] = ()


class ThreadExport(BaseModel):
    """What is worth keeping of a thread: its tasks with their history, what was said, what it was about.

    The text form is a task export (`TaskGraph.to_json`) with more fields; either can be read.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)
    graph: TaskGraph
    messages: tuple[Said, ...] = ()
    focus: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, graph: TaskGraph, messages: Sequence[AnyMessage] = (), focus: Sequence[str] = ()
    ) -> ThreadExport:
        """The export of a thread; only what user and assistant said of its messages."""
        said = tuple(
            Said(role="user" if isinstance(message, HumanMessage) else "assistant", text=str(message.text))
            for message in messages
            if isinstance(message, HumanMessage | AIMessage)
        )
        return cls(graph=graph, messages=said, focus=tuple(focus))

    @classmethod
    def from_json(cls, text: str | bytes) -> ThreadExport:
        """Read what `to_json`, or `TaskGraph.to_json`, wrote.

        Raises:
            GraphError: not of this form, or a graph that breaks an invariant.
        """
        graph = TaskGraph.from_json(text)
        try:
            extras = _Extras.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise GraphError(
                f"not a thread export: {'.'.join(map(str, first['loc']))}: {first['msg']}"
            ) from error
        return cls(graph=graph, messages=extras.messages, focus=tuple(k for k in extras.focus if k in graph))

    def to_json(self) -> str:
        """The export as a JSON object with the lists `tasks`, `messages` and `focus`."""
        tasks = json.loads(self.graph.to_json())
        whole = {**tasks, **self.model_dump(exclude={"graph"})}
        return escaped(json.dumps(whole, ensure_ascii=False, indent=2))

    def as_messages(self) -> list[AnyMessage]:
        """What was said, as messages."""
        return [HumanMessage(m.text) if m.role == "user" else AIMessage(m.text) for m in self.messages]

    def last_turn(self) -> int:
        """The number of the newest turn in the history of a task; 0 without tasks."""
        return max((state.turn for node in self.graph.values() for state in node.states()), default=0)
