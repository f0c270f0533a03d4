"""Splitting a task into parts with values of their own, and merging the parts again. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .change import Change, Refusal
from .leaving import bring_back, removed_with, take_out, unused_slot
from .tasks import TaskGraph, TaskNode

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Merge, Split


def split(change: Change, op: Split) -> None:
    """Make the parts, with their values and the members that go to them."""
    node = change.active(op.task)
    if len(op.parts) < 2:
        raise Refusal("a split needs at least two parts")
    moved = [key for part in op.parts for key in part.members]
    if len(set(moved)) < len(moved):
        raise Refusal("a member can go to one part only")
    for key in moved:
        if change.active(key).parent != node.id:
            raise Refusal(f"{change.get(key).title} is not part of {node.title}")
    for part in op.parts:
        if len({name for name, _ in part.values}) < len(part.values):
            raise Refusal(f"{part.title} has two values of one name")
    own = {name for part in op.parts for name, _ in part.values}
    taken = {child.slot for child in change.graph.parts(node.id)}
    for child in change.graph.parts(node.id):
        if child.name in own and child.id not in moved:
            take_out(change, child.id, "inactive")
    for part in op.parts:
        slot = unused_slot(taken, f"{node.slot}.part1")
        taken.add(slot)
        new_part = change.new(slot=slot, title=part.title, parent=node.id)
        for name, value in part.values:
            change.new(slot=f"{slot}.{name}", title=name, value=value, parent=new_part.id, status="filled")
        for key in part.members:
            change.set(key, parent=new_part.id)


def merge(change: Change, op: Merge) -> None:
    """Remove the parts; their members, and what the whole said before, return to it."""
    node, graph = change.active(op.task), change.graph

    def split_parts(key: str) -> list[TaskNode]:
        direct = [child for child in graph.parts(key) if is_part(child)]
        return [part for child in direct for part in (child, *split_parts(child.id))]

    parts = split_parts(node.id)
    if not parts:
        raise Refusal(f"{node.title} is not split")
    inside = {task.id for task in graph.subtree(node.id)}
    children = [(part, child) for part in parts for child in graph.parts(part.id) if not is_part(child)]
    own = {child.name for _, child in children if _born_in_split(child)}
    taken = {child.slot for child in graph.parts(node.id)}
    for part, child in children:
        if child.name in own:
            take_out(change, child.id, "removed")
            continue
        slot = child.slot
        if slot.startswith(f"{part.slot}."):
            slot = node.slot + slot.removeprefix(part.slot)
        slot = unused_slot(taken, slot)
        taken.add(slot)
        change.set(child.id, parent=node.id, slot=slot)
    for part in parts:
        change.set(part.id, status="removed")
    needs = [key for part in parts for key in part.depends_on if key not in inside]
    change.set(node.id, depends_on=tuple(dict.fromkeys((*node.depends_on, *needs))))
    for child in graph.parts(node.id, gone=True):
        if not child.active and child.op == "split" and child.name in own and child.slot not in taken:
            taken.add(child.slot)
            bring_back(change, removed_with(graph, child))


def is_part(node: TaskNode) -> bool:
    """Whether a task came out of a split."""
    return _born_in_split(node) and re.fullmatch(r"part\d+", node.name) is not None


def _born_in_split(node: TaskNode) -> bool:
    return node.states()[0].op == "split"


def split_into(graph: TaskGraph, key: str) -> list[TaskNode]:
    """The parts that a task was split into, gone ones included."""
    return [part for part in graph.parts(key, gone=True) if is_part(part)]
