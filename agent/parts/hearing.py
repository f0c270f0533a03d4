"""What the user says, read into the plan of another agent before its model sees it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime

from taskloom.agent.graph.access import last_exchanges, question_of, turn_of
from taskloom.agent.graph.listening import listen
from taskloom.agent.graph.plain import models, plain
from taskloom.agent.graph.services import Services
from taskloom.agent.replying.checking import asks
from taskloom.agent.turn.state import State, Turn, tasks_in
from taskloom.memory.operations import Check, Clarify, Undo
from taskloom.memory.ranking import stems
from taskloom.memory.tasks import TaskGraph

from .calls import Done, carry_out, next_turn

_KEPT = ("turn", "question", "focus", "asked", "spent")  # of the graph's state, from one run to the next
_REPORT = "told"  # as it is called in states that are stored


def hear(given: Mapping[str, Any], runtime: Runtime[Any], services: Services) -> dict[str, Any]:
    """What an agent's state is updated by for what the user says at its end; nothing for what was read.

    Args:
        given: the agent's state, with `messages`, `plan` and what this gave as `heard`.
        runtime: of the agent's run.
        services: what reads, grounds and changes, see `listen`.

    Returns:
        Plain data: the changed tasks as a write of `plan`, by id; `heard`, for `report` and for the next run.
    """
    before = _thread(given)
    last = [one.id for one in takewhile(_human, reversed(given["messages"]))]
    if all(one in turn_of(before).read for one in last):
        return {"heard": {**given["heard"], _REPORT: ""}} if report(given) else {}
    after = listen(before, runtime, services)
    turn = turn_of(after)
    kept = {name: after[name] for name in _KEPT if name in after}  # type: ignore[literal-required]
    tell = turn.reply if _worth_telling(turn) else ""
    changed = {
        key: node.model_dump(mode="json")
        for key, node in after["tasks"].items()
        if node is not before["tasks"].get(key)
    }
    return {"heard": {**plain(kept), _REPORT: tell}, **({"plan": changed} if changed else {})}


def report(state: Mapping[str, Any]) -> str:
    """What was done for the words that the present run began with, and what to ask on them; or ''."""
    return str((state.get("heard") or {}).get(_REPORT, ""))


def carry_out_once(
    state: Mapping[str, Any], graph: TaskGraph, name: str, args: Mapping[str, Any], turn: int
) -> Done:
    """Carry out a call of the model's, see `carry_out`, unless the user's own words have done the same.

    What `carry_out` itself finds to be so already is not looked for here.
    """
    why = _done_by_words(state, graph, name, args) if report(state) else ""
    return Done(graph, f"refused: {why}", refused=True) if why else carry_out(graph, name, args, turn)


def _done_by_words(state: Mapping[str, Any], graph: TaskGraph, name: str, args: Mapping[str, Any]) -> str:
    turn = turn_of(models(dict(state["heard"])))
    undone = any(isinstance(change.operation, Undo) and change.changed for change in turn.changes)
    if name == "undo_tasks" and undone and turn.number == next_turn(graph) - 1:
        return "the user's words have taken that back already"
    wanted = {*stems(str(args.get("title", "")))} if name == "add_task" else set()
    same = (node.id for node in graph.active if node.turn == turn.number and {*stems(node.title)} == wanted)
    there = next(same, None) if wanted else None
    return f"{there} is that already, by the user's words; update_task changes it" if there else ""


def _thread(given: Mapping[str, Any]) -> State:
    """The state of the graph's that an agent's stands for.

    A question that the agent did not pass on is not open: the user has answered something else.
    """
    state = models(dict(given.get("heard") or {}))
    state.pop(_REPORT, None)
    tasks = tasks_in(given.get("plan") or {})
    turn, latest = turn_of(state), next_turn(TaskGraph(tasks)) - 1
    state["turn"] = turn.model_copy(update={"number": max(turn.number, latest)})
    state["messages"] = [one for one in given["messages"] if _human(one) or _answer(one)]
    question, said = question_of(state), last_exchanges(state["messages"], 1)
    if question is not None and not (said and asks(said[0][1], question)):
        state["question"] = None
    state["tasks"] = tasks
    return cast("State", state)


def _worth_telling(turn: Turn) -> bool:
    """Whether something was done or refused, or the plan answers, or the user has something to choose.

    What was not understood is not told: the model that answers has the words too.
    """
    question = turn.question
    return bool(
        any(not isinstance(change.operation, Check | Clarify) for change in turn.changes)
        or turn.proposals
        or any(one.tasks for one in turn.answers)
        or (question and (question.options or question.choices))
    )


def _human(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage)


def _answer(message: BaseMessage) -> bool:
    """Whether it is what the agent answered, and no call of a tool."""
    return isinstance(message, AIMessage) and not message.tool_calls
