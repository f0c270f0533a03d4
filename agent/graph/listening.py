"""What a user says to another agent, read into a plan by the nodes of the graph; who answers is that agent.

No tool is run, nothing is streamed, and long-term memory is neither read nor written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from taskloom.agent.turn.state import State, merge_tasks

from .access import context_of, turn_of
from .nodes import (
    apologise,
    brief_of,
    classify_intent,
    decompose,
    fill_slots,
    remember,
    retrieve_closure,
    update_graph,
)
from .observed import observed
from .services import Services

_READING = (decompose, classify_intent)  # nothing has been changed yet while these run
_REVISING = (update_graph, retrieve_closure, fill_slots)


def listen(state: State, runtime: Runtime[Any], services: Services) -> State:
    """The state after the user's last message was processed; the reply of its turn says what was done.

    Args:
        state: of a thread, as the graph keeps it, with the messages up to what is said; it is not changed.
        runtime: of the other agent's run; the fields of its context that the graph knows are used.
        services: what the nodes use.

    Words that cannot be read for an error change nothing, as in the graph, and the reply says so.
    """
    context = context_of(runtime).model_copy(update={"memory": False})
    runtime = runtime.override(context=context)
    for node in _READING:
        try:
            state = _after(state, node, runtime, services)
        except Exception as error:  # noqa: BLE001  # it is logged and told, as in the graph
            failed = apologise(state, NodeError(node.__name__, error), runtime)
            state = _merged(state, cast("Mapping[str, Any]", failed.update))
            break
    for node in _REVISING:
        state = _after(state, node, runtime, services)
    if not (turn := turn_of(state)).reply:
        brief = replace(brief_of(state, context, services), style="template")
        reply = "".join(services.template.respond(brief))
        state = _merged(state, {"turn": turn.model_copy(update={"reply": reply})})
    return _after(state, remember, runtime, services)


def _after(state: State, node: Any, runtime: Runtime[Any], services: Services) -> State:
    run = observed(node.__name__, partial(node, services=services))
    return _merged(state, run(state, runtime))


def _merged(state: State, update: Mapping[str, Any]) -> State:
    """The state with the update of a node applied."""
    merged: dict[str, Any] = {**state, **update}
    if "tasks" in update:
        merged["tasks"] = merge_tasks(state["tasks"], [update["tasks"]])
    return cast("State", merged)
