"""The graph, and what builds it for a server, for a host application and for the command line."""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from taskloom.agent.settings import settings
from taskloom.agent.turn.state import Context, Input, Output, State

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
from .runs import Taskgraph
from .services import Services
from .wiring import default_services

__all__ = ["NODES", "Taskgraph", "build_graph", "make_graph"]

NODES = (decompose, classify_intent, update_graph, retrieve_closure, fill_slots, respond, remember)


def build_graph(
    services: Services, *, checkpointer: Checkpointer = None, patience: float = 30.0
) -> Taskgraph:
    """The graph of one turn.

    Args:
        services: what the nodes use.
        checkpointer: a saver; None for a server, which brings its own; True for a subgraph that keeps its own
            thread within its parent's.
        patience: seconds that a run waits for another one on its thread; 0 refuses at once.
    """
    builder: StateGraph[State, Context, Input, Output] = StateGraph(
        State, context_schema=Context, input_schema=Input, output_schema=Output
    )
    names = [node.__name__ for node in NODES]
    for node in NODES:
        # Nothing has been changed yet while these two run, so an error can be answered instead of raised.
        handler: Any = apologise if node in (decompose, classify_intent) else None
        builder.add_node(node.__name__, partial(node, services=services), error_handler=handler)
    for before, after in pairwise([START, *names, END]):
        if before != "fill_slots":
            builder.add_edge(before, after)
    builder.add_node("act", act_node(services))
    builder.add_edge("act", "respond")
    builder.add_conditional_edges(
        "fill_slots", partial(route_to_tools, services=services), ["act", "respond"]
    )
    return Taskgraph.of(builder.compile(checkpointer=checkpointer, name="taskloom"), patience)


@cache
def make_graph() -> Taskgraph:
    """The graph for LangGraph Server, which brings its own saver; built once, as servers call this often."""
    return build_graph(default_services(), patience=settings().lock_timeout)
