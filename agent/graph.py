"""The graph, and what builds it for a server, for a host application and for the command line."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from .interpreter import Hybrid
from .nodes import (
    Services,
    Voice,
    apologise,
    classify_intent,
    decompose,
    fill_slots,
    remember,
    respond,
    retrieve_closure,
    update_graph,
)  # fmt: skip
from .replies import TemplateResponder
from .rules import Rules
from .settings import Settings, settings
from .state import Context, Input, Output, State

Taskgraph = CompiledStateGraph[State, Context, Input, Output]

NODES = (decompose, classify_intent, update_graph, retrieve_closure, fill_slots, respond, remember)


def build_graph(services: Services, *, checkpointer: Checkpointer = None) -> Taskgraph:
    """The graph of one turn.

    Args:
        services: what the nodes use.
        checkpointer: a saver; None for a server, which brings its own; True for a subgraph that keeps its own
            thread within its parent's.
    """
    builder: StateGraph[State, Context, Input, Output] = StateGraph(
        State, context_schema=Context, input_schema=Input, output_schema=Output
    )
    names = [node.__name__ for node in NODES]
    for node in NODES:
        # Nothing has been changed yet while these two run, so an error can be answered instead of raised.
        handler: Any = apologise if node in (decompose, classify_intent) else None
        builder.add_node(node.__name__, partial(node, services=services), error_handler=handler)
    for before, after in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=checkpointer, name="taskloom")


def default_services(given: Settings | None = None) -> Services:
    """The services that the settings ask for: rules alone, or rules and a model."""
    given = given or settings()
    rules, template = Rules(), TemplateResponder()

    @cache
    def voice(model: str) -> Voice:
        name = model or given.model
        if name in ("", "rules"):
            return Voice(rules, template)
        from .llm import ModelInterpreter, ModelResponder, chat_model  # a second to import

        chat: Any = chat_model(given, name)
        interpreter = Hybrid(rules, ModelInterpreter(chat, rules), filter_first=given.rules_first)
        return Voice(interpreter, ModelResponder(chat))

    return Services(voice=voice, template=template, replies=given.replies)


@cache
def make_graph() -> Taskgraph:
    """The graph for LangGraph Server, which brings its own saver; built once, as servers call this often."""
    return build_graph(default_services())
