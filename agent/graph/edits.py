"""Edits of tasks by hand (Studio, `update_state`): each belongs to the turn before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import StateUpdate

from taskloom.agent.turn.state import tasks_in
from taskloom.memory.tasks import BY_HAND

from .access import turn_of

_OVERWRITE = "__overwrite__"  # LangGraph's form of an `Overwrite` as plain data


def date_edits(
    supersteps: Sequence[Sequence[StateUpdate]], state: Mapping[str, Any]
) -> list[list[StateUpdate]]:
    """Updates of a state, the edits of tasks among them with their turn.

    Only fields as plain data are edits; who gives a whole history, or a turn, knows when it was.
    """
    return [[_date_update(one, state) for one in updates] for updates in supersteps]


def _date_update(update: StateUpdate, state: Mapping[str, Any]) -> StateUpdate:
    values: Any = update.values
    tasks = values.get("tasks") if isinstance(values, Mapping) else None
    if not isinstance(tasks, Mapping) or _OVERWRITE in tasks:
        return update
    known, turn = tasks_in(state.get("tasks", {})), turn_of(state).number
    edits = {key: _date_edit(node, known.get(key), turn) for key, node in tasks.items()}
    return update._replace(values={**values, "tasks": edits})


def _date_edit(node: Any, before: Any, turn: int) -> Any:
    if not isinstance(node, Mapping):
        return node
    if before is None:
        return {"turn": turn, "op": "edit", "said": BY_HAND, **node}
    if node.get("turn", before.turn) != before.turn:
        return node
    return {**node, "turn": turn}
