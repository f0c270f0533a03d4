"""Removing tasks from the plan and bringing them back, with their parts and slots. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from . import dag
from .change import Change, Refusal
from .tasks import Status, TaskGraph, TaskNode

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Inactivate, Remove, Restore


def leave_as(status: Status) -> Callable[[Change, Any], None]:
    """The operation that takes a task and its parts out of the plan, with a status that says how."""

    def leave(change: Change, op: Remove | Inactivate) -> None:
        node = change.get(op.task)
        if node.status == status or (not node.active and status == "inactive"):
            raise Refusal(f"{node.title} is already out of the plan")
        if node.active:
            take_out(change, node.id, status)
        else:  # on hold, and now gone for good
            for task in removed_with(change.graph, node):
                change.set(task.id, status=status)

    return leave


def take_out(change: Change, key: str, status: Status) -> None:
    """Remove a task and its parts from the plan, except for parts on which a remaining task rests.

    Such a part becomes a part of that task, and its former whole rests on it instead.
    """
    graph = change.graph
    tree = {task.id: task for task in graph.subtree(key)}

    def users(task: str, leaving: Collection[str]) -> list[str]:
        found = (graph[user] for user in graph.dependents.get(task, ()))
        return [user.id for user in found if user.active and user.id not in leaving]

    def needs(task: str) -> list[str]:
        return [other for other in graph.rests_on(task) if other in tree]

    staying = set(dag.reach([task for task in tree if task != key and users(task, tree)], needs))
    leaving = tree.keys() - staying
    for task in tree.values():
        if task.id not in leaving:
            continue
        shared = [part for part in graph.parts(task.id) if part.id in staying]
        rests_on = dict.fromkeys((*task.depends_on, *(part.id for part in shared)))
        change.set(task.id, status=status, depends_on=tuple(rests_on))
        for part in shared:
            heir = change.get(users(part.id, leaving)[0])
            slot = free_slot(change.graph, heir.id, part.slot)
            change.set(part.id, op="link", parent=heir.id, slot=slot)
            kept = tuple(other for other in heir.depends_on if other != part.id)
            change.set(heir.id, op="link", depends_on=kept)


def restore(change: Change, op: Restore) -> None:
    """Bring a task back, with the parts that went with it and the tasks it is part of."""
    node = change.get(op.task)
    if node.active:
        raise Refusal(f"{node.title} is part of the plan already")
    wholes = [task for task in reversed(change.graph.ancestors(node.id)) if not task.active]
    bring_back(change, [*wholes, *removed_with(change.graph, node)])


def removed_with(graph: TaskGraph, node: TaskNode) -> list[TaskNode]:
    """A task that is out of the plan, and its parts that went with it, wholes first."""
    tree = graph.subtree(node.id, gone=True)
    return [task for task in tree if not task.active and (task.turn, task.op) == (node.turn, node.op)]


def bring_back(change: Change, tasks: Iterable[TaskNode]) -> None:
    """Bring tasks back as they last were in the plan, wholes first; a part without its whole stays out."""
    back = []
    for task in tasks:
        if task.parent is None or change.get(task.parent).active:
            last = next((state for state in reversed(task.history) if state.active), None)
            change.set(task.id, status=last.status if last else "open")
            back.append(task)
    refuse_taken(change.graph, [task.id for task in back])


def refuse_taken(graph: TaskGraph, back: Collection[str]) -> None:
    """Refuse tasks that would come back to a slot that another holds now."""
    came = set(back)
    for parent in dict.fromkeys(graph[key].parent for key in back):
        held: dict[str, TaskNode] = {}
        for part in sorted(graph.parts(parent), key=lambda node: node.id in came):
            other = held.setdefault(part.slot, part)
            if other is not part:
                raise Refusal(f"{other.title} has taken the place of {part.title}")


def free_slot(graph: TaskGraph, parent: str | None, slot: str) -> str:
    """The slot, or the slot with a number, such that no active part of the parent holds it."""
    return unused_slot({node.slot for node in graph.parts(parent)}, slot)


def unused_slot(taken: Collection[str], slot: str) -> str:
    """The slot, or the slot with the least number from 2, that is not among those taken."""
    base, number, free = re.sub(r"\d+$", "", slot) or slot, 2, slot
    while free in taken:
        free, number = f"{base}{number}", number + 1
    return free
