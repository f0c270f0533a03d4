"""Dependencies: prerequisites are linked and unlinked, dependents go stale, cycles are refused. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import dag
from .change import Change, Refusal
from .tasks import TaskGraph

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Link, Unlink


def link(change: Change, op: Link) -> None:
    """A task rests on another from now on."""
    node, needed = change.active(op.task), change.active(op.on)
    if needed.id in node.depends_on or needed.parent == node.id:
        raise Refusal(f"{node.title} depends on {needed.title} already")
    refuse_cycle(change.graph, node.id, needed.id)
    change.set(node.id, depends_on=(*node.depends_on, needed.id))


def unlink(change: Change, op: Unlink) -> None:
    """A task no longer rests on another."""
    node = change.active(op.task)
    if op.on not in node.depends_on:
        raise Refusal(f"{node.title} does not depend on {change.get(op.on).title}")
    change.set(node.id, depends_on=tuple(key for key in node.depends_on if key != op.on))


def refuse_cycle(graph: TaskGraph, task: str, on: str) -> None:
    """Refuse an edge from a task to one that rests on it already (parts and prerequisites together)."""
    if task == on:
        raise Refusal(f"{graph[task].title} cannot depend on itself")
    if task in dag.reach([on], graph.rests_on):
        raise Refusal(f"{graph[on].title} already depends on {graph[task].title}; that would be a cycle")


def make_stale(change: Change, before: TaskGraph, touched: Iterable[str]) -> tuple[str, ...]:
    """Mark the active transitive dependents of every task whose value or presence changed."""
    pairs = [(before[key], change.get(key)) for key in touched if key in before]
    sources = [new.id for old, new in pairs if (old.value, old.active) != (new.value, new.active)]
    if not sources:
        return ()
    return _mark(change, _with_dependents(change.graph, sources)[len(sources) :])


def outdate(graph: TaskGraph, keys: Iterable[str], *, turn: int, said: str) -> TaskGraph:
    """Mark active tasks, and all that rest on them, as out of date: what they rest on is no longer there.

    The same graph where all of them are marked already.
    """
    change = Change(graph, turn, "stale", said)
    _mark(change, _with_dependents(graph, (key for key in keys if graph[key].active)))
    return change.graph


def _with_dependents(graph: TaskGraph, keys: Iterable[str]) -> list[str]:
    """Tasks, and after them their active transitive dependents."""

    def dependents(key: str) -> list[str]:
        return [other for other in graph.dependents.get(key, ()) if graph[other].active]

    return dag.reach(keys, dependents)


def _mark(change: Change, keys: Iterable[str]) -> tuple[str, ...]:
    """Make tasks stale; those that were not."""
    graph = change.graph
    marked = tuple(key for key in keys if graph[key].stale_since is None)
    for key in marked:
        node = graph[key].changed(turn=change.turn, op="stale", said=change.said, stale_since=change.turn)
        change.put(node)
    return marked
