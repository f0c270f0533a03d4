"""The folder /memories of a user, with what Taskloom remembers and a thread's plan as files to view."""

from __future__ import annotations

from functools import partial

from taskloom.agent.language.wording import day
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.units import summary
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from taskloom.memory.records import Fact, IntentUnit
from taskloom.memory.tasks import TaskGraph, TaskNode

from .memory_folder import MemoryFolder


class MemoryOffError(RuntimeError):
    """There is no long-term memory that files could be kept in."""


def kept_folder(opened: Taskloom, *, user: str, thread: str | None = None) -> MemoryFolder:
    """The folder of a user, with `facts.md`; with a thread of theirs also `plan.md`.

    Raises:
        MemoryOffError: long-term memory is off.
    """
    if opened.longterm is None:
        raise MemoryOffError("long-term memory is off: TASKLOOM_MEMORY=1 turns it on")
    views = {"facts.md": partial(_facts, opened.longterm, user)}
    if thread is not None:
        views["plan.md"] = partial(_plan, opened, user, thread)
    return MemoryFolder(opened.longterm.outbox.files, user=user, views=views)


def _facts(longterm: LongTerm, user: str) -> str:
    longterm.flush(user)
    records = longterm.store.records(user)
    lines = [
        f"- {day(record.at)}: {_line(summary(record))}"
        for record in records
        if isinstance(record, IntentUnit) or (isinstance(record, Fact) and record.status != "deleted")
    ]
    return "\n".join(["# What is remembered, the oldest first", "", *(lines or ["Nothing yet."]), ""])


def _plan(opened: Taskloom, user: str, thread: str) -> str:
    opened.check_access(thread, Context(user_id=user))
    graph = opened.tasks(thread)
    lines = [line for root in graph.parts(None) for line in _outline(graph, root, 0)]
    return "\n".join([f"# The plan {_line(thread)}", "", *(lines or ["Nothing yet."]), ""])


def _outline(graph: TaskGraph, node: TaskNode, depth: int) -> list[str]:
    """A task and its parts, a line each."""
    mark = {"done": "x", "filled": "x", "proposed": "?"}.get(node.status, " ")
    label = node.title if node.value in (None, node.title) else f"{node.title}: {node.value}"
    after = f" (after {', '.join(node.depends_on)})" if node.depends_on else ""
    stale = " (out of date)" if node.stale_since is not None else ""
    line = f"{'  ' * depth}- [{mark}] {node.id} {_line(label)}{after}{stale}"
    return [line, *(one for part in graph.parts(node.id) for one in _outline(graph, part, depth + 1))]


def _line(text: str) -> str:
    return " ".join(text.split())
