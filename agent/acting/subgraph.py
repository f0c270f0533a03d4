"""The act node: a graph of its own between fill_slots and respond, that carries tasks out by tools.

    choose -> approve -> call -> record -> choose -> ... -> finish

choose takes what is ready from slots, all at once, else asks the model for one call. approve interrupts for
calls with side effects. call runs them side by side. record brings the results into the tasks. It ends by
itself: when nothing is ready, or at the limits of its steps, its time and its tokens.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Annotated, Any

from langchain_core.runnables.config import merge_configs
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from typing_extensions import TypedDict

from taskloom.agent.language.wording import join, spoken
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.decisions import ActionRequest, Approval, CallDecision, Decision, EditedAction
from taskloom.agent.turn.state import Turn
from taskloom.memory.operations import apply
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.calls import validated
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import Entry, key_of
from taskloom.tools.registry import Equipped

from .call_text import args_text, completed_lines, describe_call
from .calling import journal_entry, lost_run, run_call
from .choosing import chosen_call
from .equipment import DECLARED, Acting
from .ready import call_of, operations, ready, rerun_offer, side_effects_kept, stale_results
from .spending import Spending

PARALLEL = 16  # calls side by side
STEPS = 4  # nodes of one round


def _merged(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {**before, **new}


class ActState(TypedDict):
    """What is kept while a turn uses tools.

    turn: of the graph around it. changed: the tasks that were changed. calls: to be made now. runs: what
    became of calls. recorded: how many of them are in the tasks. variables: shared variables that were
    written. chosen: calls that the model chose. spent: seconds of all calls.
    """

    turn: Turn
    changed: Annotated[dict[str, TaskNode], _merged]
    calls: tuple[Call, ...]
    runs: tuple[ToolRun, ...]
    recorded: int
    variables: Annotated[dict[str, Any], _merged]
    chosen: int
    spent: float


ActGraph = CompiledStateGraph[ActState, Any, ActState, ActState]
Update = dict[str, Any]


def act_graph() -> ActGraph:
    """The graph; what it works with comes as the context of its runs, an `Acting`."""
    builder: StateGraph[ActState, Any, ActState, ActState] = StateGraph(ActState)
    builder.add_node("choose", choose)
    builder.add_node("approve", approve)
    builder.add_node("call", make_calls)
    builder.add_node("record", record)
    builder.add_node("finish", finish)
    builder.add_edge(START, "choose")
    builder.add_conditional_edges("choose", _next, {"approve": "approve", "finish": "finish"})
    builder.add_edge("approve", "call")
    builder.add_edge("call", "record")
    builder.add_edge("record", "choose")
    builder.add_edge("finish", END)
    return builder.compile(name="act")


def _next(state: ActState) -> str:
    return "approve" if state.get("calls") else "finish"


# ---- the nodes ------------------------------------------------------------------------------------


def choose(state: ActState, runtime: Runtime[Any]) -> Update:
    """The calls to make next: all that are ready from slots, else one that the model chooses."""
    acting, graph = _working_state(state, runtime)
    turn, runs, chosen = state["turn"], state.get("runs", ()), state.get("chosen", 0)
    if state.get("spent", 0.0) >= acting.equipment.seconds:
        return {}
    known = acting.equipment.journal.open(acting.thread)
    left = DECLARED - (len(runs) - chosen)
    if calls := _from_slots(acting, graph, runs, known)[: max(left, 0)]:
        return {"calls": tuple(_with_key(acting, turn, one, known) for one in calls)}
    spent = turn.prompt_tokens + turn.completion_tokens
    if acting.chooser is None or chosen >= acting.equipment.max_subtasks or spent >= acting.equipment.tokens:
        return {}
    call, usage, fault = chosen_call(acting, acting.chooser, graph, runs)
    notes = " ".join(filter(None, (turn.note, fault)))
    turn = turn.with_usage(usage).model_copy(update={"note": notes})
    calls = [] if call is None else [_with_key(acting, turn, call, known)]
    return {"turn": turn, "calls": tuple(calls), "chosen": chosen + 1}


def approve(state: ActState, runtime: Runtime[Any]) -> Update:
    """Ask before calls with side effects; what is rejected is not made."""
    acting, graph = _working_state(state, runtime)
    calls = state["calls"]
    waiting = [one for one in calls if one.asks]
    if not waiting:
        return {}
    known = acting.equipment.journal.open(acting.thread)
    requests = tuple(
        ActionRequest(name=one.tool, args=one.args, description=describe_call(graph, one, known))
        for one in waiting
    )
    asked = join([f"{spoken(one.tool)} ({args_text(one.args)})" for one in waiting])
    approval = Approval(action="call", question=f"Shall I go on with {asked}?", action_requests=requests)
    decision = interrupt(approval.model_dump(mode="json"), response_schema=Decision)
    decided = dict(zip(map(id, waiting), _decisions(decision, len(waiting)), strict=True))
    going, rejected = [], []
    for one in calls:
        how = decided.get(id(one), CallDecision(type="approve"))
        if how.type == "reject":
            rejected.append(
                ToolRun(call=one, status="rejected", text=how.message or "you did not approve it")
            )
        elif how.type == "edit" and how.edited_action is not None:
            going.append(_with_args(acting, one, how.edited_action))
        else:
            going.append(one)
    return {"calls": tuple(going), "runs": (*state.get("runs", ()), *rejected)}


def make_calls(state: ActState, runtime: Runtime[Any]) -> Update:
    """Make the calls, side by side."""
    acting, _ = _working_state(state, runtime)
    runs, turn = state.get("runs", ()), state["turn"]
    completed, spending = completed_lines(runs, acting.equipment.summarise), Spending()
    config = merge_configs(get_config(), {"callbacks": [spending]})
    begun = time.monotonic()
    until = begun + acting.equipment.seconds - state.get("spent", 0.0)
    reported = {run.key for run in runs}

    def make(one: Call) -> ToolRun:
        run = run_call(acting, turn, one, completed, until, config)
        return run.model_copy(update={"earlier": run.earlier and run.key not in reported})

    calls = state.get("calls", ())
    for one in calls:
        acting.tell(
            {"node": "act", "doing": f"Calling {spoken(one.tool)}", "tool": one.tool, "task": one.place}
        )
    with ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="taskloom-act") as pool:
        contexts = [copy_context() for _ in calls]  # here: a thread of the pool has none of the run
        new_runs = tuple(pool.map(lambda context, one: context.run(make, one), contexts, calls))
    return {
        "turn": turn.with_usage(spending.usage),
        "runs": (*runs, *new_runs), "calls": (), "variables": acting.shared.changes(),
        "spent": state.get("spent", 0.0) + time.monotonic() - begun,
    }  # fmt: skip


def record(state: ActState, runtime: Runtime[Any]) -> Update:
    """Bring what came of the calls into the tasks."""
    _, graph = _working_state(state, runtime)
    turn, changed = state["turn"], dict[str, TaskNode]()
    runs = list(state.get("runs", ()))
    for number in range(state.get("recorded", 0), len(runs)):
        for operation in operations(graph, runs[number]):
            outcome = apply(graph, operation, turn=turn.number, said=turn.utterance)
            graph = outcome.graph
            changed |= {key: graph[key] for key in outcome.changed}
            if outcome.changed:
                runs[number] = runs[number].model_copy(update={"task": outcome.changed[0]})
    return {"changed": changed, "runs": tuple(runs), "recorded": len(runs)}


def finish(state: ActState, runtime: Runtime[Any]) -> Update:
    """Tell what a lost turn left behind, and offer to make again what is out of date."""
    acting, graph = _working_state(state, runtime)
    turn, runs = state["turn"], state.get("runs", ())
    keys = {run.key for run in runs}
    left = [entry for entry in acting.equipment.journal.open(acting.thread) if entry.key not in keys]
    runs = (*runs, *map(lost_run, left))
    changed = [key for change in turn.changes for key in change.changed]
    if kept := side_effects_kept(acting.view.graph, changed, acting.equipment.registry):
        note = f"Only the plan is as before: what {join(map(spoken, kept))} did stays in effect"
        turn = turn.model_copy(update={"note": " ".join(filter(None, (turn.note, note)))})
    question = turn.question
    if question is None and not turn.proposals:
        stale = stale_results(graph, acting.roots, acting.equipment.registry)
        question = rerun_offer(stale if acting.equipment.rerun == "offer" else (), _open_results(graph, runs))
    return {"turn": turn.model_copy(update={"tool_runs": runs, "question": question}), "runs": runs}


# ---- what they call -------------------------------------------------------------------------------


def _working_state(state: ActState, runtime: Runtime[Any]) -> tuple[Acting, TaskGraph]:
    """What the run works with, and the tasks as the calls so far have left them."""
    acting: Acting = runtime.context
    acting.shared.restore(state.get("variables", {}))
    changed = state.get("changed", {})
    return acting, acting.view.graph.with_nodes(changed.values()) if changed else acting.view.graph


def _equipped(acting: Acting, one: Call) -> Equipped:
    return acting.equipment.registry[one.tool]


def _from_slots(
    acting: Acting, graph: TaskGraph, runs: Sequence[ToolRun], known: Sequence[Entry]
) -> list[Call]:
    """The calls that are ready from slots in the trees of this turn, and what a lost turn was at.

    Of the latter only what has no side effects is called, so that the calls it began find their places.
    """
    called, again = {(run.call.tool, run.call.place) for run in runs}, acting.equipment.rerun == "do"
    lost = [entry for entry in known if entry.task in graph]
    roots = dict.fromkeys((*acting.roots, *(graph.root(entry.task).id for entry in lost)))
    calls = [
        call_of(graph, equipped, place, acting.view.now)
        for equipped, place in ready(
            graph, roots, acting.equipment.registry, user=acting.user, schemas=acting.view.schemas,
            above=acting.above, again=again,
        )
        if (equipped.name, place.task) not in called
    ]  # fmt: skip
    return [
        one for one in calls
        if graph.root(one.place).id in acting.roots or not _equipped(acting, one).side_effects
        or journal_entry(one, lost)
    ]  # fmt: skip


def _with_key(acting: Acting, turn: Turn, one: Call, known: Sequence[Entry]) -> Call:
    """A call with its key, and with whether to ask before it: decided once, for the answers are by number."""
    one = one.model_copy(update={"key": key_of(acting.thread, turn.number, one.place, one.tool, one.args)})
    asks = _equipped(acting, one).side_effects and not (
        one.fault or acting.approved or journal_entry(one, known)
    )
    return one.model_copy(update={"asks": asks})


def _decisions(decision: Decision, count: int) -> tuple[CallDecision, ...]:
    """The decision on each of some calls; those that are not decided on are rejected.

    Where there are too many, which is meant for which call is not known: all are rejected.
    """
    if len(decision.decisions) > count:
        counts = f"{len(decision.decisions)} decisions on {count} call{'s' if count != 1 else ''}"
        refused = CallDecision(type="reject", message=f"there were {counts}, so none of them counts")
        return (refused,) * count
    if not decision.decisions:
        return (CallDecision(type="approve" if decision.approve else "reject"),) * count
    missing = CallDecision(type="reject", message="there was no decision on it")
    return (*decision.decisions, *(missing,) * count)[:count]


def _with_args(acting: Acting, one: Call, action: EditedAction) -> Call:
    """A call with other parameters; what is not named stays as it is."""
    if action.name not in ("", one.tool):
        return one.model_copy(
            update={"fault": f"an approval of {one.tool} cannot turn it into {action.name[:60]}"}
        )
    try:
        args = validated(_equipped(acting, one), {**one.args, **action.args})
        return one.model_copy(update={"args": args})
    except ToolError as error:
        return one.model_copy(update={"fault": str(error)})


def _open_results(graph: TaskGraph, runs: Iterable[ToolRun]) -> tuple[TaskNode, ...]:
    """The tasks without a result in this turn."""
    missing = dict.fromkeys(
        run.task for run in runs if run.status in ("failed", "unknown") and run.task and not run.call.fault
    )
    return tuple(graph[key] for key in missing if key in graph and graph[key].status == "open")
