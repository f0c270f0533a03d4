"""Returning to a former state: rollback of one task, undo of everything that a turn changed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from . import dag
from .change import Change, Refusal
from .leaving import refuse_taken
from .tasks import CONTENT, Revision, TaskGraph, TaskNode

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Rollback, Undo

Content: TypeAlias = tuple[Any, ...]


def rollback(change: Change, op: Rollback) -> None:
    """Give a task the value, title and status of a former state."""
    node = change.get(op.task)
    if op.to is not None and not 0 <= op.to < len(node.history):
        raise Refusal(f"{node.title} has no former state number {op.to}")
    now = (node.value, node.title, node.status)
    former = (
        node.history[op.to]
        if op.to is not None
        else next((s for s in reversed(node.history) if (s.value, s.title, s.status) != now), None)
    )
    if former is None:
        raise Refusal(f"{node.title} has not been changed yet, so there is nothing to go back to")
    if (former.value, former.title, former.status) == now:
        raise Refusal(f"{node.title} is already {node.value}" if node.value else "that is how it is already")
    if former.active:
        held = change.graph.part(node.parent, node.slot)
        if held and held.id != node.id:
            raise Refusal(f"{held.title} has taken the place of {node.title}")
        if node.parent is not None:
            change.active(node.parent)
    elif change.graph.parts(node.id):
        raise Refusal(f"{node.title} has parts in the plan")
    fields = {name: getattr(former, name) for name in ("value", "title", "status", "source")}
    change.set(node.id, **fields, stale_since=None)


def undo(change: Change, op: Undo) -> None:
    """Take back what a turn changed; refused where the plan would not be sound then."""
    before = change.graph
    turns = _turns_left(before) if op.turn is None else iter((op.turn,))
    turn = next((turn for turn in turns if _take_back(change, turn)), None)
    if turn is None:
        raise Refusal("there is nothing to undo" if op.turn is None else f"turn {op.turn} changed nothing")
    graph, why = change.graph, f"undoing turn {turn} would break the plan"
    pairs = [(before[key], node) for key, node in change.changed.items()]
    for old, new in pairs:
        if old.active and not new.active and (parts := graph.parts(new.id)):
            raise Refusal(f"{why}: {parts[0].title} is part of {new.title}")
    came = [new for old, new in pairs if new.active and (not old.active or old.parent != new.parent)]
    for new in came:
        if new.parent is not None and not graph[new.parent].active:
            raise Refusal(f"{why}: {graph[new.parent].title}, which {new.title} is part of, is out of it")
    refuse_taken(graph, [new.id for new in came])
    rewired = any(old.parent != new.parent or old.depends_on != new.depends_on for old, new in pairs)
    if rewired and _has_circle(change.graph):
        for node in graph.values():  # what was made since and is gone must not stand in the way
            if node.status == "removed" and node.depends_on and node.states()[0].turn >= turn:
                change.put(
                    node.changed(turn=change.turn, op="undo", said=change.said, depends_on=(), undoes=turn)
                )
        if _has_circle(change.graph):
            raise Refusal(f"{why}: tasks would depend on each other in a circle")


def _has_circle(graph: TaskGraph) -> bool:
    return bool(dag.cycle({key: graph.rests_on(key) for key in graph}))


def _take_back(change: Change, turn: int) -> bool:
    """Set every task back to what it was before a turn; whether that changed anything."""
    graph = change.graph
    for key in graph.index(_turns).get(str(turn), ()):
        node = graph[key]
        now = node.content()
        before, after = _before_and_after(node.states(), turn)
        if before == now or (before is None and node.status == "removed"):
            continue
        if after != now:
            raise Refusal(f"{node.title} was changed again after turn {turn}; undo that first")
        fields = dict(zip(CONTENT, before, strict=True)) if before else {"status": "removed"}
        change.put(node.changed(turn=change.turn, op="undo", said=change.said, **fields, undoes=turn))
    return bool(change.changed)


def undoable(graph: TaskGraph) -> tuple[int, ...]:
    """The turns that changed something and are not undone, oldest first."""
    return tuple(sorted(_turns_left(graph)))


def redoable(graph: TaskGraph) -> tuple[int, ...]:
    """The turns that undid something and are not undone themselves, oldest first: undo one to do it again."""
    return tuple(sorted(set[int]().union(*(_turns_in_effect(node)[1] for node in graph.values()))))


def _turns_left(graph: TaskGraph) -> Iterator[int]:
    """The turns that changed something and are not undone, the last one first."""
    touched = graph.index(_turns)
    for turn in sorted(map(int, touched), reverse=True):
        if any(turn in _turns_in_effect(graph[key])[0] for key in touched[str(turn)]):
            yield turn


def _turns(node: TaskNode) -> list[str]:
    return [str(state.turn) for state in node.states()]


def _turns_in_effect(node: TaskNode) -> tuple[set[int], set[int]]:
    """The turns whose changes to a task are in effect, and the undo turns that are not undone themselves."""
    if not node.history:
        return {node.turn}, set()
    states = node.states()
    turns = {state.turn for state in states}
    undoing = {state.turn for state in states if state.op == "undo"}
    if len(turns) == len(states) and not undoing:  # most tasks
        return turns, undoing
    changes, undos, undone_turns = set[int](), set[int](), set[int | None]()
    for state in reversed(states):
        if state.turn in undone_turns:
            continue
        if state.op != "undo":
            changes.add(state.turn)
        else:
            undone_turns.add(state.undoes)
            if state.undoes not in undoing:
                undos.add(state.turn)
    around = {turn: _before_and_after(states, turn) for turn in changes}
    return {turn for turn, (before, after) in around.items() if before != after}, undos


def _before_and_after(states: tuple[Revision, ...], turn: int) -> tuple[Content | None, Content | None]:
    """The content of a task before a turn that changed it, and after; None: not there (any more)."""
    within = [number for number, state in enumerate(states) if state.turn == turn]
    first, last = within[0], states[within[-1]]
    if first:
        return states[first - 1].content(), last.content()
    return None, None if last.status == "removed" else last.content()
