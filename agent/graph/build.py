"""Building the graph: for a server, for a host application and for the command line."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer

from taskloom.agent.settings import settings
from taskloom.agent.turn.state import Context, Input, Output, State
from taskloom.memory.chroma import keep_few_arenas

from .act_node import act_node, route_to_tools
from .nodes import (
    apologise,
    classify_intent,
    decompose,
    fill_slots,
    remember,
    respond,
    retrieve_closure,
    update_graph,
)
from .observed import observed
from .runs import Taskgraph
from .services import Services
from .wiring import default_services

__all__ = ["NODES", "Taskgraph", "build_graph", "make_graph", "served"]

NODES = (decompose, classify_intent, update_graph, retrieve_closure, fill_slots, respond, remember)
DOING = {
    "decompose": "Reading what you said",
    "classify_intent": "Finding out which tasks are meant",
    "update_graph": "Changing the plan",
    "retrieve_closure": "Looking up what the reply needs",
    "fill_slots": "Seeing what is missing",
    "respond": "Writing the reply",
    "remember": "Keeping what later sessions may want to know",
}  # what a run tells, in its stream of `custom` events, that it is at


def build_graph(
    services: Services,
    *,
    checkpointer: Checkpointer = None,
    patience: float = 30.0,
    name: str = "taskloom",
) -> Taskgraph:
    """The graph of one turn.

    Args:
        services: what the nodes use.
        checkpointer: a saver; None for a server, which brings its own; True for a graph that is called in the
            nodes of another graph, and keeps one thread of its own for each thread of that graph.
        patience: seconds that a run waits for one ahead of it on its thread; 0 refuses at once.
        name: what it is called; with `checkpointer=True`, graphs of other names keep other threads.
    """
    builder: StateGraph[State, Context, Input, Output] = StateGraph(
        State, context_schema=Context, input_schema=Input, output_schema=Output
    )
    names = [node.__name__ for node in NODES]
    for node in NODES:
        # Nothing has been changed yet while these two run, so an error can be answered instead of raised.
        handler: Any = apologise if node in (decompose, classify_intent) else None
        builder.add_node(
            node.__name__,
            observed(node.__name__, _announcing(node.__name__, partial(node, services=services))),
            error_handler=handler,
        )
    for before, after in pairwise([START, *names, END]):
        if before != "fill_slots":
            builder.add_edge(before, after)
    builder.add_node("act", act_node(services))
    builder.add_edge("act", "respond")
    builder.add_conditional_edges(
        "fill_slots", partial(route_to_tools, services=services), ["act", "respond"]
    )
    return Taskgraph.of(builder.compile(checkpointer=checkpointer, name=name), patience)


def _announcing(name: str, node: Callable[..., Any]) -> Callable[..., Any]:
    """A node that announces what it is doing; the act node announces each call itself."""

    def run(state: State, runtime: Runtime[Context]) -> Any:
        runtime.stream_writer({"node": name, "doing": DOING[name]})
        return node(state, runtime)

    return run


async def make_graph() -> Taskgraph:
    """The graph for LangGraph Server, which brings its own saver.

    It is built once, as servers call this often, and not on their event loop, as a file of tools is read for
    it and servers they run on are started.

    Raises:
        ToolDefinitionError: the file that TASKLOOM_TOOLS names is not right.
        pydantic.ValidationError: a variable of the environment has a value of the wrong form.
    """
    return await asyncio.to_thread(_served)


def _served() -> Taskgraph:
    with _building:
        return _built()


@cache
def _built() -> Taskgraph:
    return build_graph(served(), patience=settings().lock_timeout)


def served() -> Services:
    """The services of a server's graphs: one of each, as an embedded memory is opened once."""
    with _building:
        return _services()


@cache
def _services() -> Services:
    keep_few_arenas()  # the process is the server's, and many users' memories come and go in it
    return default_services()


_building = threading.RLock()  # two at once would both build
