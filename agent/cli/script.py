"""Scripts: lists of utterances in JSON, played turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from taskloom.agent.turn.reading import COSTS, Usage
from taskloom.memory.operations import Check, Operation, Replace
from taskloom.memory.tasks import TaskGraph, TaskNode

from .problems import InputError

if TYPE_CHECKING:
    from taskloom.agent.threads.taskloom import Taskloom
    from taskloom.agent.turn.calls import ToolRun
    from taskloom.agent.turn.decisions import Approval
    from taskloom.agent.turn.state import Change, Context, Turn

NOTHING = Usage()
ENTRY = 'a text, {"user": "a text", "approve": true} or {"session": "next"}'


@dataclass(frozen=True, slots=True)
class Line:
    """A user's message: its session in the script, a remark on it, and whether calls are approved."""

    session: int
    user: str
    note: str = ""
    approve: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """A line that was played, with its turn, the tasks before and after, and the seconds it took."""

    line: Line
    thread: str
    turn: Turn
    before: TaskGraph
    graph: TaskGraph
    seconds: float

    def record(self, beside: Usage = NOTHING) -> dict[str, Any]:
        """The turn as `taskloom run --json` prints it.

        beside: what models cost beside the turns; the last turn's cost takes it in, and says how much it was.
        """
        turn = self.turn.with_usage(beside)
        found = {
            "turn": turn.number,
            "session": self.line.session,
            "thread": self.thread,
            "user": self.line.user,
            "reply": turn.reply,
            "operations": [_operation(change, self.graph) for change in turn.changes],
            "tasks": task_records(self.graph),
            "tool_runs": [_tool_run(run) for run in turn.tool_runs],
            "by": turn.by,
            "note": turn.note,
            "model_calls": turn.model_calls,
            "prompt_tokens": turn.prompt_tokens,
            "completion_tokens": turn.completion_tokens,
            "seconds": round(self.seconds, 4),
        }
        if beside == NOTHING:
            return found
        return {**found, "memory": {name: getattr(beside, name) for name in COSTS}}


def read_script(text: str | bytes, name: str) -> tuple[Line, ...]:
    """Read a script: a JSON list of entries, or an object with such a list as `turns`.

    Args:
        text: the JSON; as bytes it is UTF-8, with or without a byte order mark.
        name: what to call the script in messages.

    Raises:
        InputError: not JSON, or not of this form; the message names the place.
    """
    try:
        given = json.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InputError(f"{name}: not a script: nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(f"{name}: not a script: it holds a number that is too long") from error
    entries = given.get("turns") if isinstance(given, dict) else given
    if not isinstance(entries, list):
        raise InputError(f'{name}: expected a list of entries, or an object with such a list as "turns"')
    lines, session = [], 1
    for number, entry in enumerate(entries, 1):
        match entry:
            case str() as user:
                lines.append(Line(session, user))
            case {"session": "next"}:
                session += 1
            case {"user": str() as user}:
                note = entry.get("note")
                approve = entry.get("approve") is True
                lines.append(Line(session, user, note if isinstance(note, str) else "", approve))
            case _:
                shown = json.dumps(entry, ensure_ascii=False)
                shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
                raise InputError(f"{name}: entry {number} is {shown}; expected {ENTRY}")
    if not lines:
        raise InputError(f"{name}: nothing to say in it; expected entries like {ENTRY}")
    return tuple(lines)


def _approved(line: Line, approval: Approval) -> bool:
    return line.approve or approval.action != "call"


def _tool_run(run: ToolRun) -> dict[str, Any]:
    return {
        "tool": run.call.tool,
        "args": run.call.args,
        "status": run.status,
        "task": run.task,
        "text": run.text,
    }


def play(app: Taskloom, lines: tuple[Line, ...], *, thread: str, context: Context) -> Iterator[Played]:
    """Play the lines one after the other; tool calls are approved only where the line says so.

    Args:
        app: where the threads are.
        lines: what to say.
        thread: thread of the first session; the second is in `thread`-2, and so on.
        context: who talks; the same in all sessions.
    """
    graph, current = TaskGraph(), ""
    for line in lines:
        name = thread if line.session == 1 else f"{thread}-{line.session}"
        if name != current:
            graph, current = app.tasks(name), name
        start = perf_counter()
        approved = partial(_approved, line)
        turn = app.talk(line.user, thread=name, context=context, ask=approved)
        seconds = perf_counter() - start
        before, graph = graph, app.tasks(name)
        yield Played(line, name, turn, before, graph, seconds)


def task_records(graph: TaskGraph) -> list[dict[str, Any]]:
    """Every task, removed ones included, with all of its fields, the id first."""
    return [{"id": node.id, **node.model_dump(mode="json", exclude={"id"})} for node in graph.values()]


def _operation(change: Change, graph: TaskGraph) -> dict[str, Any]:
    """An operation as data, with its target and outcome."""
    given = change.operation.model_dump(mode="json", exclude_defaults=True)
    key, words = _target(change.operation, change.changed)
    node: TaskNode | None = graph.get(key) if key else None
    return {
        "intent": change.operation.intent,
        "kind": change.operation.kind,
        "target": key or words,
        "slot": node.slot if node else None,
        "title": node.title if node else None,
        **{name: value for name, value in given.items() if name not in ("intent", "kind", "slot", "title")},
        "changed": list(change.changed),
        "stale": list(change.stale),
        "refused": change.refused,
    }


def _target(operation: Operation, changed: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The id of the task that an operation is about; if it is about no task, the words for its target."""
    if isinstance(operation, Check):
        question = operation.question
        return next(iter(question.tasks), question.container), question.about or question.value
    if isinstance(operation, Replace):
        return None, operation.old
    return getattr(operation, "task", None) or next(iter(changed), None), getattr(operation, "slot", None)
