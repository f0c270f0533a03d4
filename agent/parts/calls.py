"""The seven calls by which an agent changes its plan or asks it, and what becomes of each. Pure.

A task is named by its id, or by its title where only one task has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taskloom.memory.claims import answer, events
from taskloom.memory.operations import (
    Add,
    Complete,
    Link,
    Operation,
    Question,
    Remove,
    Undo,
    Unlink,
    Update,
    apply,
    free_slot,
)
from taskloom.memory.retrieve import render
from taskloom.memory.tasks import TaskGraph

SHOWN = 20  # lines that an answer has at most


class _Call(BaseModel):
    model_config = ConfigDict(frozen=True)


class AddTask(_Call):
    """Add a task to the plan. Its id is in the answer."""

    title: str = Field(description="What is to be done, in a few words.")
    value: str | None = Field(default=None, description="For a fact to keep: what it is.")
    part_of: str | None = Field(default=None, description="The task that it is a part of.")
    after: list[str] = Field(default=[], description="The tasks that have to be done first.")


class UpdateTask(_Call):
    """Change a task, reopen a done one, or take it out of the plan. What rests on it is marked as stale."""

    task: str = Field(description="Id or title.")
    title: str | None = Field(default=None, description="A new title.")
    value: str | None = Field(default=None, description="A result, or a new value.")
    status: Literal["open", "removed"] | None = Field(default=None, description="Reopen it, or take it out.")


class CompleteTask(_Call):
    """Mark a task as done. Refused while what it comes after, or a part of it, is still to do."""

    task: str = Field(description="Id or title.")


class LinkTasks(_Call):
    """Say that a task comes after another, or no longer does. A cycle is refused."""

    task: str = Field(description="The task that has to wait.")
    after: str = Field(description="The task that has to be done first.")
    remove: bool = Field(default=False, description="Take the tie away.")


class CheckTasks(_Call):
    """Ask the plan: what is next and left; with a task, that one; with a value, whether it is or was so."""

    task: str | None = Field(default=None, description="Id or title.")
    value: str | None = Field(default=None, description="What the task is supposed to say.")


class TaskHistory(_Call):
    """All that a task ever said, oldest first."""

    task: str = Field(description="Id or title.")


class UndoTasks(_Call):
    """Take back the last changes to the plan: those of one message, or of one call of a server."""


ASKING = ("check_tasks", "task_history")  # they change nothing
CALLS: dict[str, type[_Call]] = {
    "add_task": AddTask, "update_task": UpdateTask, "complete_task": CompleteTask, "link_tasks": LinkTasks,
    "check_tasks": CheckTasks, "task_history": TaskHistory, "undo_tasks": UndoTasks,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a call: the graph after it, and what to tell. refused: nothing was changed."""

    graph: TaskGraph
    text: str
    refused: bool = False


class _Unclear(Exception):
    """A call that cannot be carried out; the message says why."""


def refusal(error: ValidationError) -> str:
    """The reply to a call with arguments that it does not take: the first fault, with its place."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"refused: {'.'.join(map(str, first['loc']))}: {first['msg']}"


def next_turn(graph: TaskGraph) -> int:
    """The number for the next changes; all calls of one message share it."""
    return 1 + max((node.turn for node in graph.values()), default=0)


def carry_out(
    graph: TaskGraph, name: str, args: Mapping[str, Any], turn: int, *, said: str | None = None
) -> Done:
    """Carry out a call; whatever is wrong with it is told, never raised.

    Args:
        graph: the plan as it is; never changed.
        name: one of CALLS.
        args: as the model gave them.
        turn: see `next_turn`.
        said: the words that the history gives as the reason; default is the call's name.
    """
    try:
        call = CALLS[name].model_validate(dict(args))
        operation = _operation(graph, call)
    except ValidationError as error:
        return Done(graph, refusal(error), refused=True)
    except _Unclear as error:
        return Done(graph, f"refused: {error}", refused=True)
    if isinstance(operation, str):
        return Done(graph, operation)
    outcome = apply(graph, operation, turn=turn, said=name if said is None else said)
    if outcome.refused:
        return Done(graph, f"refused: {outcome.refused}", refused=True)
    lines = [render(outcome.graph[key]) for key in outcome.changed[:SHOWN]]
    if outcome.opened:
        lines.append("can go on now: " + " ".join(outcome.opened))
    return Done(outcome.graph, "\n".join(lines))


def _operation(graph: TaskGraph, call: _Call) -> Operation | str:
    """What a call does, as an operation; for one that only asks, the answer."""
    match call:
        case AddTask():
            return _addition(graph, call)
        case UpdateTask(task=task, status="removed"):
            return Remove(task=_task_id(graph, task))
        case UpdateTask(task=task, title=title, value=value, status=status):
            return Update(task=_task_id(graph, task), title=title, value=value, status=status)
        case CompleteTask(task=task):
            return _completion(graph, _task_id(graph, task))
        case LinkTasks(task=task, after=after, remove=remove):
            kind = Unlink if remove else Link
            return kind(task=_task_id(graph, task), on=_task_id(graph, after))
        case CheckTasks(task=task, value=value):
            return _checked(graph, _task_id(graph, task, gone=True) if task else None, value)
        case TaskHistory(task=task):
            return _life(graph, _task_id(graph, task, gone=True))
        case _:
            return Undo()


def _task_id(graph: TaskGraph, name: str, *, gone: bool = False) -> str:
    """The id of the task that an id or a title names."""
    if name in graph:
        return name
    wanted = " ".join(name.casefold().split())
    found = [node.id for node in graph.active if " ".join(node.title.casefold().split()) == wanted]
    if not found and gone:
        found = [node.id for node in graph.values() if " ".join(node.title.casefold().split()) == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise _Unclear(f"{name[:80]!r} is the title of {', '.join(found)}; name one by its id")
    raise _Unclear(f"there is no task {name[:80]!r}; check_tasks shows what there is")


def _addition(graph: TaskGraph, call: AddTask) -> Add:
    parent = _task_id(graph, call.part_of) if call.part_of else None
    title = " ".join(call.title.split())
    for other in graph.parts(parent):
        if other.title.casefold() == title.casefold():
            raise _Unclear(f"{other.id} is that already; update_task changes it")
    name = "_".join(re.findall(r"\w+", title.casefold()))[:60] or "task"
    slot = free_slot(graph, parent, f"{graph[parent].name}.{name}" if parent else name)
    after = tuple(dict.fromkeys(_task_id(graph, one) for one in call.after))
    return Add(slot=slot, title=title, value=call.value, parent=parent, depends_on=after)


def _completion(graph: TaskGraph, key: str) -> Complete:
    """Refuses what a list lets pass: a step that is done before those it rests on."""
    if waits := graph.waits_for(key):
        names = ", ".join(f"{node.id} ({node.title})" for node in waits)
        raise _Unclear(f"{key} comes after {names}: complete that first, or untie it by link_tasks")
    if open_parts := [node for node in graph.parts(key) if node.status in ("open", "proposed")]:
        names = ", ".join(f"{node.id} ({node.title})" for node in open_parts)
        raise _Unclear(f"{key} has parts to do: {names}")
    return Complete(task=key)


def _checked(graph: TaskGraph, task: str | None, value: str | None) -> str:
    if value is not None:
        tasks = (task,) if task else ()
        verdict = answer(graph, Question(kind="claim", tasks=tasks, value=value)).verdict
        fields = verdict.model_dump(exclude_defaults=True) if verdict else {"kind": "unknown"}
        return "; ".join(f"{name}: {text}" for name, text in fields.items())
    if task is not None:
        needs = answer(graph, Question(kind="needs", tasks=(task,))).tasks
        rests = answer(graph, Question(kind="dependents", tasks=(task,))).tasks
        return "\n".join(
            [
                *_lines(graph, [node.id for node in graph.subtree(task, gone=not graph[task].active)]),
                *(["rests on:", *_lines(graph, needs)] if needs else []),
                *(["what rests on it:", *_lines(graph, rests)] if rests else []),
            ]
        )
    ready, left = (answer(graph, Question(kind=kind)).tasks for kind in ("next", "left"))
    later = [key for key in left if key not in ready]
    return "\n".join(
        [
            *(["next:", *_lines(graph, ready)] if ready else ["nothing is left to do"]),
            *(["later:", *_lines(graph, later)] if later else []),
        ]
    )


def _lines(graph: TaskGraph, keys: tuple[str, ...] | list[str]) -> list[str]:
    more = [f"and {len(keys) - SHOWN} more"] if len(keys) > SHOWN else []
    return [*(render(graph[key]) for key in keys[:SHOWN]), *more]


def _life(graph: TaskGraph, key: str) -> str:
    return "\n".join(
        f"turn {one.turn} {one.op}: {one.before or '-'} -> {one.after or '-'}" for one in events(graph[key])
    )
