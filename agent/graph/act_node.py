"""The act node, which carries tasks out with tools, and the routing of turns to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Literal

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_config
from langgraph.runtime import Runtime, get_runtime

from taskloom.agent.acting.equipment import Acting, Equipment
from taskloom.agent.acting.ready import ready, side_effects_kept, stale_results
from taskloom.agent.acting.subgraph import STEPS, ActState, act_graph
from taskloom.agent.language.wording import spoken
from taskloom.agent.language.words import content
from taskloom.agent.turn.state import Change, Context, State, Turn
from taskloom.memory.operations import Add
from taskloom.memory.operations import Update as UpdateTask
from taskloom.memory.tasks import TaskGraph
from taskloom.tools.agents import ABOVE, APPROVED, FOR, SHARED
from taskloom.tools.shared import Shared

from .access import Update, context_of, graph_of, turn_of, view_of
from .observed import observing
from .services import Services


def route_to_tools(
    state: State, runtime: Runtime[Context], *, services: Services
) -> Literal["act", "respond"]:
    """Whether tools have something to do, or results of a lost turn have not been reported yet."""
    if services.tools is None or turn_of(state).reply:
        return "respond"
    acting = _acting(state, runtime, services, services.tools)
    turn, registry, graph = turn_of(state), services.tools.registry, graph_of(state)
    slots = ready(graph, acting.roots, registry, user=acting.user, schemas=acting.view.schemas,
                  above=acting.above, again=True)  # fmt: skip
    if next(iter(slots), None) or stale_results(graph, acting.roots, registry):
        return "act"
    if side_effects_kept(graph, [key for change in turn.changes for key in change.changed], registry):
        return "act"
    wanted = any(change.changed for change in turn.changes) or _is_unanswered(turn, graph)
    chosen = acting.chooser is not None and registry and wanted
    return "act" if chosen or services.tools.journal.open(acting.thread) else "respond"


def _is_unanswered(turn: Turn, graph: TaskGraph) -> bool:
    """Whether some question has no answer in the tasks, one about something else, or an outdated one."""
    if turn.asks_freely:
        return True
    if not turn.answers or turn.known:
        return not turn.operations and turn.utterance.rstrip().endswith("?")
    for answer in turn.answers:
        found = [part for key in answer.tasks if key in graph for part in graph.subtree(key)]
        says = content(" ".join(f"{spoken(node.name)} {node.title} {node.value or ''}" for node in found))
        if any(node.stale_since is not None for node in found) or not content(answer.question.about) <= says:
            return True
        if answer.question.slot or (not found and answer.verdict is None):
            return True
    return False


# The graph of tools asks its saver from here. That of an event loop answers by way of the loop's own threads,
# so it must not be these that wait for it: with as many runs with tools at once, all stood still for good.
_THREADS = ThreadPoolExecutor(32, thread_name_prefix="taskloom-act")


def act_node(services: Services) -> RunnableLambda[State, Update]:
    """The node that carries tasks out with tools: a subgraph, see `act`."""
    inner = act_graph()

    def act(state: State) -> Update:
        if services.tools is None:
            return {}
        runtime = get_runtime(Context)
        runtime.stream_writer({"node": "act", "doing": "Looking for what tools can do"})
        config = get_config()
        acting = _acting(state, runtime, services, services.tools)
        begun = ActState(
            turn=turn_of(state), changed={}, calls=(), runs=(), recorded=0, variables={}, chosen=0, spent=0.0
        )
        bounded: RunnableConfig = {**config, "recursion_limit": acting.equipment.rounds * STEPS}
        # Not around the node: LangGraph looks for graphs within it in what its function refers to.
        with observing("act", state) as note_update:
            ended = inner.invoke(begun, bounded, context=acting)
            update: Update = {"turn": ended["turn"]}
            note_update(update)
        for channel, given in (("tasks", ended.get("changed")), ("shared", ended.get("variables"))):
            if given:
                update[channel] = given
        return update

    async def act_apart(state: State) -> Update:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, copy_context().run, act, state)

    return RunnableLambda(act, act_apart, name="act")


def _acting(state: State, runtime: Runtime[Context], services: Services, equipment: Equipment) -> Acting:
    """What the act node works with in this turn."""
    turn, context, graph = turn_of(state), context_of(runtime), graph_of(state)
    given, info = get_config().get("configurable", {}), runtime.execution_info
    touched = (key for change in turn.changes for key in change.changed or _restated_task(change))
    return Acting(
        equipment=equipment, chooser=services.voice(context.model).chooser,
        view=view_of(state, turn.number, context, services), utterance=turn.utterance,
        roots=tuple(dict.fromkeys(graph.root(key).id for key in touched if key in graph)),
        user=context.speaker, thread=_place_of(get_config(), (info.thread_id if info else "") or ""),
        shared=given.get(SHARED) or Shared({**equipment.shared, **state.get("shared", {})}),
        above=tuple(given.get(ABOVE, ())), approved=bool(given.get(APPROVED)),
        before=_preceding_context(state.get("messages", [])), tell=runtime.stream_writer,
    )  # fmt: skip


def _preceding_context(messages: Sequence[BaseMessage]) -> str:
    """The context that a calling agent gives right before its request, see `tools.agents.inner_agent`."""
    before = messages[-2] if len(messages) > 1 and isinstance(messages[-1], HumanMessage) else None
    return str(before.text) if isinstance(before, SystemMessage) else ""


def _restated_task(change: Change) -> tuple[str, ...]:
    """The task of an update that changes nothing: who states a value again wants its results."""
    op = change.operation
    found = op.task if isinstance(op, UpdateTask) else op.parent if isinstance(op, Add) else None
    return (found,) if found is not None else ()


def _place_of(config: RunnableConfig, thread: str) -> str:
    """Where a run is, for the journal: its thread, the graphs around it, and the call that it is made for."""
    given = config.get("configurable", {})
    around = str(given.get("checkpoint_ns", "")).rpartition("|")[0]
    return "/".join(filter(None, (thread, around, str(given.get(FOR, "")))))
