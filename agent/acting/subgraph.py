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
from taskloom.agent.turn.calls import Act, Call
from taskloom.agent.turn.state import ActionRequest, Approval, CallDecision, Decision, EditedAction, Turn
from taskloom.memory.operations import apply
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.calls import validated
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import Entry, key_of
from taskloom.tools.registry import Equipped

from .choosing import chosen_call
from .equipment import DECLARED, Acting
from .making import act_of, entry_of, lost_act
from .ready import call_of, offer, operations, ready, stale_results, undone
from .spending import Spending
from .worded import completed_lines, described, params

PARALLEL = 16  # calls side by side
STEPS = 4  # nodes of one round


def _merged(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {**before, **new}


class ActState(TypedDict):
    """What is kept while a turn acts.

    turn: of the graph around it. made: the tasks that were changed. calls: to be made now. acts: what became
    of calls. recorded: how many of them are in the tasks. variables: shared variables that were written.
    chosen: calls that the model chose. spent: seconds of all calls.
    """

    turn: Turn
    made: Annotated[dict[str, TaskNode], _merged]
    calls: tuple[Call, ...]
    acts: tuple[Act, ...]
    recorded: int
    variables: Annotated[dict[str, Any], _merged]
    chosen: int
    spent: float


Actgraph = CompiledStateGraph[ActState, Any, ActState, ActState]
Update = dict[str, Any]


def act_graph() -> Actgraph:
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
    acting, graph = _seen(state, runtime)
    turn, acts, chosen = state["turn"], state.get("acts", ()), state.get("chosen", 0)
    if state.get("spent", 0.0) >= acting.equipment.seconds:
        return {}
    known = acting.equipment.journal.open(acting.thread)
    left = DECLARED - (len(acts) - chosen)
    if calls := _from_slots(acting, graph, acts, known)[: max(left, 0)]:
        return {"calls": tuple(_asking(acting, turn, one, known) for one in calls)}
    spent = turn.prompt_tokens + turn.completion_tokens
    if acting.chooser is None or chosen >= acting.equipment.max_subtasks or spent >= acting.equipment.tokens:
        return {}
    made, usage, fault = chosen_call(acting, acting.chooser, graph, acts)
    notes = " ".join(filter(None, (turn.note, fault)))
    turn = turn.with_usage(usage).model_copy(update={"note": notes})
    calls = [] if made is None else [_asking(acting, turn, made, known)]
    return {"turn": turn, "calls": tuple(calls), "chosen": chosen + 1}


def approve(state: ActState, runtime: Runtime[Any]) -> Update:
    """Ask before calls with side effects; what is rejected is not made."""
    acting, graph = _seen(state, runtime)
    calls = state["calls"]
    waiting = [one for one in calls if one.asks]
    if not waiting:
        return {}
    known = acting.equipment.journal.open(acting.thread)
    requests = tuple(
        ActionRequest(name=one.tool, args=one.args, description=described(graph, one, known))
        for one in waiting
    )
    asked = join([f"{spoken(one.tool)} ({params(one.args)})" for one in waiting])
    approval = Approval(action="call", question=f"Shall I go on with {asked}?", action_requests=requests)
    decision = interrupt(approval.model_dump(mode="json"), response_schema=Decision)
    decided = dict(zip(map(id, waiting), _decisions(decision, len(waiting)), strict=True))
    going, rejected = [], []
    for one in calls:
        how = decided.get(id(one), CallDecision(type="approve"))
        if how.type == "reject":
            rejected.append(Act(call=one, status="rejected", text=how.message or "you did not approve it"))
        elif how.type == "edit" and how.edited_action is not None:
            going.append(_edited(acting, one, how.edited_action))
        else:
            going.append(one)
    return {"calls": tuple(going), "acts": (*state.get("acts", ()), *rejected)}


def make_calls(state: ActState, runtime: Runtime[Any]) -> Update:
    """Make the calls, side by side."""
    acting, _ = _seen(state, runtime)
    acts, turn = state.get("acts", ()), state["turn"]
    completed, spending = completed_lines(acts, acting.equipment.summarise), Spending()
    config = merge_configs(get_config(), {"callbacks": [spending]})
    begun = time.monotonic()
    until = begun + acting.equipment.seconds - state.get("spent", 0.0)
    told = {act.key for act in acts}

    def make(one: Call) -> Act:
        act = act_of(acting, turn, one, completed, until, config)
        return act.model_copy(update={"earlier": act.earlier and act.key not in told})

    calls = state.get("calls", ())
    with ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="taskloom-act") as pool:
        made = tuple(pool.map(lambda one: copy_context().run(make, one), calls))
    return {
        "turn": turn.with_usage(spending.usage),
        "acts": (*acts, *made), "calls": (), "variables": acting.shared.changes(),
        "spent": state.get("spent", 0.0) + time.monotonic() - begun,
    }  # fmt: skip


def record(state: ActState, runtime: Runtime[Any]) -> Update:
    """Bring what came of the calls into the tasks."""
    _, graph = _seen(state, runtime)
    turn, made = state["turn"], dict[str, TaskNode]()
    acts = list(state.get("acts", ()))
    for number in range(state.get("recorded", 0), len(acts)):
        for operation in operations(graph, acts[number]):
            outcome = apply(graph, operation, turn=turn.number, said=turn.utterance)
            graph = outcome.graph
            made |= {key: graph[key] for key in outcome.changed}
            if outcome.changed:
                acts[number] = acts[number].model_copy(update={"task": outcome.changed[0]})
    return {"made": made, "acts": tuple(acts), "recorded": len(acts)}


def finish(state: ActState, runtime: Runtime[Any]) -> Update:
    """Tell what a lost turn left behind, and offer to make again what is out of date."""
    acting, graph = _seen(state, runtime)
    turn, acts = state["turn"], state.get("acts", ())
    keys = {act.key for act in acts}
    left = [entry for entry in acting.equipment.journal.open(acting.thread) if entry.key not in keys]
    acts = (*acts, *map(lost_act, left))
    changed = [key for change in turn.changes for key in change.changed]
    if kept := undone(acting.view.graph, changed, acting.equipment.registry):
        note = f"Only the plan is as before: what {join(map(spoken, kept))} did stays done"
        turn = turn.model_copy(update={"note": " ".join(filter(None, (turn.note, note)))})
    question = turn.question
    if question is None and not turn.proposals:
        stale = stale_results(graph, acting.roots, acting.equipment.registry)
        question = offer(stale if acting.equipment.rerun == "offer" else (), _failed(graph, acts))
    return {"turn": turn.model_copy(update={"acts": acts, "question": question}), "acts": acts}


# ---- what they call -------------------------------------------------------------------------------


def _seen(state: ActState, runtime: Runtime[Any]) -> tuple[Acting, TaskGraph]:
    """What the run works with, and the tasks as they are by now."""
    acting: Acting = runtime.context
    acting.shared.restore(state.get("variables", {}))
    made = state.get("made", {})
    return acting, acting.view.graph.with_nodes(made.values()) if made else acting.view.graph


def _equipped(acting: Acting, one: Call) -> Equipped:
    return acting.equipment.registry[one.tool]


def _from_slots(acting: Acting, graph: TaskGraph, acts: Sequence[Act], known: Sequence[Entry]) -> list[Call]:
    """The calls that are ready from slots in the trees of this turn, and what a lost turn was at.

    Of the latter only what has no side effects is called, so that the calls it began find their places.
    """
    made, again = {(act.call.tool, act.call.place) for act in acts}, acting.equipment.rerun == "do"
    lost = [entry for entry in known if entry.task in graph]
    roots = dict.fromkeys((*acting.roots, *(graph.root(entry.task).id for entry in lost)))
    calls = [
        call_of(graph, equipped, place, acting.view.now)
        for equipped, place in ready(
            graph, roots, acting.equipment.registry, user=acting.user, schemas=acting.view.schemas,
            above=acting.above, again=again,
        )
        if (equipped.name, place.task) not in made
    ]  # fmt: skip
    return [
        one for one in calls
        if graph.root(one.place).id in acting.roots or not _equipped(acting, one).side_effects
        or entry_of(one, lost)
    ]  # fmt: skip


def _asking(acting: Acting, turn: Turn, one: Call, known: Sequence[Entry]) -> Call:
    """A call with its key, and with whether to ask before it: decided once, for the answers are by number."""
    one = one.model_copy(update={"key": key_of(acting.thread, turn.number, one.place, one.tool, one.args)})
    asks = _equipped(acting, one).side_effects and not (one.fault or acting.approved or entry_of(one, known))
    return one.model_copy(update={"asks": asks})


def _decisions(decision: Decision, count: int) -> tuple[CallDecision, ...]:
    """The decision on each of some calls; those that are not decided on are rejected.

    Where there are too many, which is meant for which call is not known: all are rejected.
    """
    if len(decision.decisions) > count:
        told = f"{len(decision.decisions)} decisions on {count} call{'s' if count != 1 else ''}"
        refused = CallDecision(type="reject", message=f"there were {told}, so none of them counts")
        return (refused,) * count
    if not decision.decisions:
        return (CallDecision(type="approve" if decision.approve else "reject"),) * count
    missing = CallDecision(type="reject", message="there was no decision on it")
    return (*decision.decisions, *(missing,) * count)[:count]


def _edited(acting: Acting, one: Call, action: EditedAction) -> Call:
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


def _failed(graph: TaskGraph, acts: Iterable[Act]) -> tuple[TaskNode, ...]:
    """The tasks whose results could not be had in this turn."""
    missing = dict.fromkeys(
        act.task for act in acts if act.status in ("failed", "unknown") and act.task and not act.call.fault
    )
    return tuple(graph[key] for key in missing if key in graph and graph[key].status == "open")
