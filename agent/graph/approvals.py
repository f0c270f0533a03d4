"""Approvals: removing a whole task with parts, or loading an export, is confirmed by the user first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Command, Overwrite, interrupt

from taskloom.agent.language.wording import the, title_of
from taskloom.agent.reading.gate import bare_answer
from taskloom.agent.turn.decisions import Approval, OneDecision
from taskloom.agent.turn.export import ThreadExport
from taskloom.agent.turn.state import State
from taskloom.memory.operations import Operation, Remove
from taskloom.memory.tasks import GraphError, TaskGraph

from .access import Update, turn_of

INTERRUPT = "__interrupt__"  # LangGraph's name for what a run waits for
NOT_APPROVED = "you did not approve it, so nothing was removed"


def approved(operation: Operation, graph: TaskGraph) -> bool:
    """Whether an operation may go on; asks before a whole task with parts is removed."""
    root = graph.get(operation.task) if isinstance(operation, Remove) else None
    if (
        root is None
        or not root.active
        or root.parent is not None
        or not (parts := graph.subtree(root.id)[1:])
    ):
        return True
    number = f"{len(parts)} parts" if len(parts) > 1 else "one part"
    question = f"Remove {the(title_of(root))} with its {number}?"
    return request_approval("remove", question, (root.title, *(part.title for part in parts)))


def request_approval(action: Literal["remove", "load"], question: str, tasks: tuple[str, ...]) -> bool:
    """Interrupt for an approval, and whether it was given.

    Raises:
        ValueError: the answer is neither an approval nor a refusal; the approval stays pending.
    """
    approval = Approval(action=action, question=question, tasks=tasks)
    return interrupt(approval.model_dump(mode="json"), response_schema=OneDecision).goes


def answered(given: Any, latest: CheckpointTuple | None) -> Any:
    """The input to run a thread with: a bare yes or no is turned into the answer to a pending approval.

    given: the input of the run. latest: what is kept of the thread.
    """
    if not isinstance(given, Mapping) or {*given} != {"messages"} or not _waits(latest):
        return given
    said = given["messages"]
    said = convert_to_messages(said if isinstance(said, list | tuple) else [said])
    answer = bare_answer(str(said[-1].text)) if len(said) == 1 and _human(said[0]) else None
    return given if answer is None else Command(resume=answer, update={"messages": said})


def _human(message: BaseMessage) -> bool:
    return message.type == "human"


def _waits(latest: CheckpointTuple | None) -> bool:
    """Whether a thread has a pending approval."""
    writes = latest.pending_writes or () if latest else ()
    asked = [one for _, channel, value in writes if channel == INTERRUPT for one in value]
    return len(asked) == 1 and isinstance(asked[0].value, dict) and "question" in asked[0].value


def load_decision(text: str, state: State, graph: TaskGraph, *, ask: bool) -> Update:
    """An export in place of the tasks; nothing changes where it cannot be read or is not wanted."""
    turn = turn_of(state)
    try:
        export = ThreadExport.from_json(text)
    except GraphError as error:
        return {"turn": turn.model_copy(update={"reply": f"I could not load that: {error}."})}
    count = f"{len(export.graph.active)} task{'s' if len(export.graph.active) != 1 else ''}"
    there = tuple(root.title for root in graph.parts(None))
    if ask and there and not request_approval("load", f"Load {count} in place of what is there?", there):
        return {"turn": turn.model_copy(update={"reply": "Nothing was loaded; everything is as it was."})}
    loaded = {"number": max(turn.number, export.last_turn() + 1), "reply": f"Loaded {count}."}
    update: Update = {
        "tasks": Overwrite(dict(export.graph)),
        "turn": turn.model_copy(update=loaded),
        "focus": export.focus,
        "question": None,
    }
    if export.messages:
        update["messages"] = Overwrite([*export.as_messages(), *state.get("messages", [])])
    return update
