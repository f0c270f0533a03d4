"""A task's values and status: new tasks, new values, completion, confirmation. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .change import Change, Refusal
from .leaving import take_out
from .tasks import GONE, Status, TaskGraph, TaskNode
from .ties import refuse_cycle

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Add, Complete, Confirm, Reject, Update


def add(change: Change, op: Add) -> None:
    """Make a task under an active one, resting on active ones."""
    _refuse_gone(op.status)
    if op.parent is not None:
        change.active(op.parent)
    for needed in op.depends_on:
        change.active(needed)
    status = op.status or ("filled" if op.value is not None else "open")
    node = change.new(
        slot=op.slot, title=op.title, value=op.value, parent=op.parent, status=status, source=op.source,
        depends_on=tuple(dict.fromkeys(op.depends_on)),
    )  # fmt: skip
    for needed in op.depends_on:
        refuse_cycle(change.graph, node.id, needed)


def update(change: Change, op: Update) -> None:
    """Give a task another title, value or status, and prerequisites beside those it has."""
    _refuse_gone(op.status)
    node = change.active(op.task)
    fields: dict[str, Any] = {}
    if op.title is not None:
        fields["title"] = op.title
    if op.status is not None:
        fields |= {"status": op.status, "stale_since": None}
    if op.value is not None:
        stays_done = op.value == node.value and node.status == "done"
        status = op.status or ("done" if stays_done else "filled")
        fields |= {"value": op.value, "status": status, "stale_since": None}
    gives_value = op.value not in (None, node.value)
    if gives_value or (op.status is not None and (op.value is None or op.status != node.status)):
        fields["source"] = op.source
    fresh = tuple(key for key in dict.fromkeys(op.depends_on) if key not in node.depends_on)
    for needed in fresh:
        change.active(needed)
        refuse_cycle(change.graph, node.id, needed)
    before = change.graph
    change.set(node.id, **fields, depends_on=(*node.depends_on, *fresh))
    if not change.changed and op.value is not None:
        raise Refusal(f"{node.title} is already {node.value}")
    if change.get(node.id).status == "done":
        change.opened = _opened(before, change.graph, (node.id,))


def _refuse_gone(status: Status | None) -> None:
    if status in GONE:
        raise Refusal(f"a task becomes {status} by an operation of its own")


def complete(change: Change, op: Complete) -> None:
    """A task is done, and its open parts with it; note what can go on now."""
    node = change.active(op.task)
    if node.status == "done":
        raise Refusal(f"{node.title} is done already")
    before = change.graph
    done = [node, *(task for task in before.subtree(node.id)[1:] if task.status == "open")]
    for task in done:
        change.set(task.id, status="done", stale_since=None)
    change.opened = _opened(before, change.graph, [task.id for task in done])


def _opened(before: TaskGraph, after: TaskGraph, done: Iterable[str]) -> tuple[str, ...]:
    """Ids of the open tasks that waited for tasks which are done now, and for nothing else any more."""
    waited = dict.fromkeys(key for task in done for key in before.dependents.get(task, ()))
    return tuple(
        key for key in waited
        if before[key].status == "open" and before.waits_for(key)
        and after[key].status == "open" and not after.waits_for(key)
    )  # fmt: skip


def confirm(change: Change, op: Confirm) -> None:
    """A proposed value is right."""
    node = _proposal(change, op.task)
    change.set(node.id, status="filled" if node.value is not None else "open", stale_since=None)


def reject(change: Change, op: Reject) -> None:
    """A proposal goes back to what the task was before, or out of the plan."""
    node = _proposal(change, op.task)
    former = next((state for state in reversed(node.history) if state.status != "proposed"), None)
    if former is not None and former.active:
        fields = {name: getattr(former, name) for name in ("value", "title", "status", "source")}
        change.set(node.id, **fields)
    else:
        take_out(change, node.id, "removed")


def _proposal(change: Change, key: str) -> TaskNode:
    node = change.active(key)
    if node.status != "proposed":
        raise Refusal(f"{node.title} is not a proposal")
    return node
