"""Calls in words: what they are for, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from taskloom.agent.language.wording import clip, spoken, title_of
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.memory.tasks import TaskGraph
from taskloom.tools.journal import Entry

from .ready import blocked_by


def describe_call(graph: TaskGraph, one: Call, known: Iterable[Entry]) -> str:
    """What a call is for, and what came of it when it was tried before."""
    description = f"{one.title} for {title_of(graph[one.place])}" if one.place in graph else one.title
    for entry in known:
        if (entry.tool, entry.task) == (one.tool, one.place) and entry.key != one.key:
            how = "was begun" if entry.result is None else "was called"
            description += f". On {entry.begun:%Y-%m-%d at %H:%M} UTC it {how} with {args_text(entry.args)}"
    held = graph.get(one.task or "")
    for state in reversed(held.states() if held else ()):
        if blocked_by(state, one.tool):
            return f"{description}. The last time: {state.said.removeprefix(f'{one.tool}: ')}"
        if state.status == "done":
            break
    return description


def args_text(args: Mapping[str, Any]) -> str:
    """Parameters of a call, each with what it is given."""
    return ", ".join(f"{spoken(name)} {clip(str(value), 40)}" for name, value in args.items())


def completed_lines(runs: Sequence[ToolRun], whole: int) -> tuple[str, ...]:
    """What was completed, a line each: the last ones with their results, of older ones the beginning."""
    older, latest = runs[: max(0, len(runs) - whole)], runs[max(0, len(runs) - whole) :]
    lines = [
        f"{run.call.tool}({args_text(run.call.args)}): {run.status}, {clip(run.text, 60)}" for run in older
    ]
    return (
        *lines,
        *(f"{run.call.tool}({args_text(run.call.args)}): {run.status}, {run.text}" for run in latest),
    )
