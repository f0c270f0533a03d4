"""What tasks said, and when: their lives as events, and the graph as of any turn. Pure.

What a state says is its value, and its title: 'celery' is said by a task of that value, and by the task
'chop celery'. Times are turns: a state holds from its turn until that of the next state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from . import dag
from .tasks import Revision, TaskGraph, TaskNode
from .words import says

NOW = sys.maxsize


class Event(BaseModel):
    """One change in the life of a task. before, after: what it said; None while out of the plan."""

    model_config = ConfigDict(frozen=True)
    task: str
    turn: int
    op: str
    said: str = ""
    before: str | None = None
    after: str | None = None


def state_text(state: Revision) -> str:
    """What a state says, in short: its value, else its title."""
    return state.value or state.title


def gist(state: Revision) -> tuple[str | None, str, str]:
    """What of a state makes a difference to who asks: value, title and status."""
    return state.value, state.title, state.status


def events(node: TaskNode) -> tuple[Event, ...]:
    """The life of a task, oldest first."""
    states: tuple[Revision | None, ...] = (None, *node.states())
    return tuple(event_of(node.id, old, new) for old, new in zip(states, node.states(), strict=False))


def event_of(task: str, old: Revision | None, new: Revision) -> Event:
    """The change of a task from one state, or none, to another."""
    before = state_text(old) if old is not None and old.active else None
    after = state_text(new) if new.active else None
    return Event(task=task, turn=new.turn, op=new.op, said=new.said, before=before, after=after)


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which a task said what is claimed; `ended` None: it does now."""

    node: TaskNode
    since: int
    began: Revision
    until: int | None = None
    ended: Revision | None = None
    after: str | None = None


class Past:
    """The graph with its history, as of any turn."""

    def __init__(self, graph: TaskGraph) -> None:
        self.graph = graph

    def users(self, key: str) -> set[str]:
        """The ids of all tasks that ever rested on a task."""
        found = self.graph.index(_needed).get(key, ())
        return {other for other in found if key in _needed(self.graph[other])}

    def parts(self, key: str) -> set[str]:
        """The ids of all tasks that ever were a part of a task."""
        found = self.graph.index(_parents).get(key, ())
        return {other for other in found if key in _parents(self.graph[other])}

    def below(self, key: str) -> list[str]:
        """All that ever was a part of a task or used in it, directly or through others, in order."""

        def down(high: str) -> list[str]:
            needs = [other for state in self.graph[high].states() for other in state.depends_on]
            return [*needs, *self.parts(high)]

        found = set(dag.reach([key], down)) - {key}
        return [other for other in self.graph if other in found]

    def state(self, key: str, turn: int) -> Revision | None:
        """A task as it was at the end of a turn."""
        return next((state for state in reversed(self.graph[key].states()) if state.turn <= turn), None)

    def above(self, key: str) -> list[str]:
        """A task and all it ever was a part of or was used in, directly or through others."""

        def up(low: str) -> list[str]:
            parents = (state.parent for state in self.graph[low].states())
            return [*(parent for parent in parents if parent), *sorted(self.users(low))]

        return dag.reach([key], up)

    def inside(self, key: str, state: Revision, container: str, turn: int) -> bool:
        """Whether a task in a state was in a container then: below it, or used by it or below it."""
        stack = [(key, state, False)]
        while stack:
            low, now, shared = stack.pop()
            ups = [(now.parent, shared)] if now.parent else []
            if not shared:
                ups += [(user, True) for user in self.users(low)]
            for high, used in ups:
                above = self.state(high, turn)
                if above is None or not above.active or (high != now.parent and low not in above.depends_on):
                    continue
                if high == container:
                    return True
                stack.append((high, above, used))
        return False

    def spans(self, node: TaskNode, value: str | None, container: str | None) -> Iterator[Span]:
        """The times in which a task was in plan, said the value and was in the container, in order."""
        states = node.states()
        saying = [value is None or says(value, state.value) or says(value, state.title) for state in states]
        if not any(saying):
            return
        above = self.above(node.id) if container else []
        turns = sorted({state.turn for key in above for state in self.graph[key].states()})
        open_span: Span | None = None
        true_at = 0
        for number, state in enumerate(states):
            end = states[number + 1].turn if number + 1 < len(states) else None
            so = state.active and saying[number]
            for turn in (state.turn, *(t for t in turns if t > state.turn and (end is None or t < end))):
                holds = so and (container is None or self.inside(node.id, state, container, turn))
                if holds and open_span is None:
                    open_span = Span(node, turn, self._change(state, turn, above))
                elif not holds and open_span is not None:
                    ended = self._change(state, turn, above)
                    after = _after(states[true_at], state, value)
                    yield Span(node, open_span.since, open_span.began, turn, ended, after)
                    open_span = None
                true_at = number if holds else true_at
        if open_span is not None:
            yield open_span

    def _change(self, state: Revision, turn: int, above: Iterable[str]) -> Revision:
        """The state that changed something in a turn: the task's own, else that of a task above it."""
        if state.turn == turn:
            return state
        higher = (self.state(key, turn) for key in above)
        return next(other for other in higher if other is not None and other.turn == turn)


def _needed(node: TaskNode) -> set[str]:
    return {needed for state in node.states() for needed in state.depends_on}


def _parents(node: TaskNode) -> set[str]:
    return {state.parent for state in node.states() if state.parent is not None}


def _after(old: Revision, new: Revision, claimed: str | None) -> str | None:
    """What replaced the text of a state; for claimed words, only what these were exchanged for."""
    if claimed is None or not new.active:
        return None
    before, after = (old.value, new.value) if says(claimed, old.value) else (old.title, new.title)
    if not before or not after or before == after:
        return None
    gone, come = before.split(), after.split()
    while len(gone) > 1 and len(come) > 1 and gone[0].casefold() == come[0].casefold():
        gone, come = gone[1:], come[1:]
    while len(gone) > 1 and len(come) > 1 and gone[-1].casefold() == come[-1].casefold():
        gone, come = gone[:-1], come[:-1]
    return " ".join(come) if says(claimed, " ".join(gone)) else after
