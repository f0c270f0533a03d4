"""The plan in the state of another agent: a channel changed by calls, and todos as a view of it. Pure.

A write says what was called, not what came of it: the channel carries the calls out in their order, so that
several in one message are all kept and find each other's tasks. Writes are plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from taskloom.agent.turn.state import SNAPSHOT_EVERY, merge_tasks, tasks_in
from taskloom.memory.claims import answer
from taskloom.memory.operations import Add, Complete, Link, Question, apply, free_slot
from taskloom.memory.shown import safe
from taskloom.memory.tasks import LIMITS, TaskGraph, TaskNode

from .calls import carry_out


class Todo(TypedDict):
    """An entry of a todo list, in the form of LangChain's; with the id of its task."""

    id: str
    content: str
    status: Literal["pending", "in_progress", "completed"]


def called(name: str, args: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """The write for a call."""
    return {"call": name, "args": dict(args), "turn": turn}


def joined(tasks: Mapping[str, TaskNode], title: str, under: str | None, turn: int) -> dict[str, Any]:
    """The write that takes the plan of a sub-agent in: below a task, or below a new one of this title."""
    plan = {key: node.model_dump(mode="json", exclude={"history"}) for key, node in tasks.items()}
    return {"join": plan, "title": title, "under": under, "turn": turn}


def merge_plan(tasks: Mapping[str, Any], writes: Sequence[Mapping[str, Any]]) -> dict[str, TaskNode]:
    """The plan after some writes: calls, joined plans, or edits by id as `merge_tasks` takes them.

    Raises:
        ValueError: a write of another form, or one that would leave an unsound graph.
    """
    merged = tasks_in(tasks)
    for write in writes:
        if "call" in write:
            graph = carry_out(TaskGraph(merged), write["call"], write["args"], write["turn"]).graph
        elif "join" in write:
            graph = _with_plan(TaskGraph(merged), write)
        else:
            graph = TaskGraph(merge_tasks(merged, [write]))
        merged = dict(graph)
    return merged


PLAN: DeltaChannel[Any] = DeltaChannel(merge_plan, dict, snapshot_frequency=SNAPSHOT_EVERY)


def todos(graph: TaskGraph) -> list[Todo]:
    """The plan as a todo list, in order of creation; what can be done now is in progress."""
    ready = set(answer(graph, Question(kind="next")).tasks)
    return [
        Todo(
            id=node.id,
            content=node.title if node.value in (None, node.title) else f"{node.title}: {node.value}",
            status="completed"
            if node.status in ("done", "filled")
            else "in_progress"
            if node.id in ready
            else "pending",
        )
        for node in graph.active
    ]


def _with_plan(graph: TaskGraph, write: Mapping[str, Any]) -> TaskGraph:
    """The graph with the tasks of another plan as parts, under ids of its own; their history stays behind."""
    plan, turn = TaskGraph(tasks_in(write["join"])), write["turn"]
    top: str | None = write["under"] if write["under"] in graph else None
    if top is None or not graph[top].active:
        title = safe(" ".join(str(write["title"]).split()))[:80].strip() or "sub-agent"
        added = apply(graph, Add(slot=free_slot(graph, None, "sub_agent"), title=title), turn=turn)
        graph, top = added.graph, added.changed[0]
    ids: dict[str, str] = {}
    for root in plan.parts(None):
        for node in plan.subtree(root.id):
            parent = ids[node.parent] if node.parent else top
            one = Add(
                slot=free_slot(graph, parent, _kept("slot", node.slot)), title=_kept("title", node.title),
                value=None if node.value is None else _kept("value", node.value), parent=parent,
                status=node.status, said="by a sub-agent",
            )  # fmt: skip
            outcome = apply(graph, one, turn=turn)
            graph = outcome.graph
            # What is too deep is left out, as nothing may end a run that takes the plan in.
            ids[node.id] = outcome.changed[0] if outcome.changed else str(parent)
    for old, new in ids.items():
        for other in plan[old].depends_on:
            if other in ids:
                graph = apply(graph, Link(task=new, on=ids[other], said="by a sub-agent"), turn=turn).graph
    if ids and top != write["under"] and all(part.status in ("done", "filled") for part in graph.parts(top)):
        graph = apply(graph, Complete(task=top, said="by a sub-agent"), turn=turn).graph
    return graph


def _kept(name: str, text: str) -> str:
    """A text of a sub-agent's task as a task may have it: nothing in it steers, and it is not too long."""
    return safe(text)[: LIMITS[name]].strip() or name
