"""What runs and nodes report as spans and metrics: operations by kind, cost of models, calls of tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from taskloom.agent.telemetry.spans import Span, span
from taskloom.agent.turn.state import Context, State, Turn

from .access import turn_of


def observed(name: str, node: Callable[..., Any]) -> Callable[..., Any]:
    """A node with a span around each of its runs; what it did is also noted on the turn's span."""

    def run(state: State, runtime: Runtime[Context]) -> Any:
        with observing(name, state) as note_update:
            update = node(state, runtime)
            note_update(update)
        return update

    return run


@contextmanager
def observing(name: str, state: State) -> Iterator[Callable[[Any], None]]:
    """A span around a node's run; yields a function to call with the node's update."""
    seen = span("node", name)
    if not seen:
        yield _unseen
        return
    with seen:
        before = turn_of(state)
        number = before.number + (name == "decompose")
        whole = seen.around("turn") or seen
        for one in (seen, whole):
            one.note(turn=number)

        def note_update(update: Any) -> None:
            after = update.get("turn") if isinstance(update, dict) else None
            if isinstance(after, Turn):
                _note(seen, before if before.number == number else Turn(), after)
                _note(whole, Turn(), after)

        try:
            yield note_update
        except GraphBubbleUp:  # it asks for an approval
            seen.interrupt()
            raise
        except Exception:
            whole.note(failed_nodes=whole.noted.get("failed_nodes", 0) + 1)
            raise


def _unseen(update: Any) -> None:
    """Does nothing: nobody collects spans."""


def _note(seen: Span, before: Turn, after: Turn) -> None:
    """Note what is new in a turn."""
    changes = after.changes[len(before.changes) :]
    refused = Counter(change.operation.kind for change in changes if change.refused)
    seen.note(
        operations=dict(Counter(change.operation.kind for change in changes) - refused),
        refused=dict(refused),
        model_calls=after.model_calls - before.model_calls,
        input_tokens=after.prompt_tokens - before.prompt_tokens,
        output_tokens=after.completion_tokens - before.completion_tokens,
        tool_runs=dict(Counter(run.status for run in after.tool_runs[len(before.tool_runs) :])),
    )
    if after.utterance != before.utterance:
        seen.say(said=after.utterance)
    if after.reply != before.reply:
        seen.say(reply=after.reply)
