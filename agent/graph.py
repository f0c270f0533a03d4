"""The graph, and what builds it for a server, for a host application and for the command line."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from taskloom.memory.embed import Embedder
from taskloom.memory.outbox import Outbox
from taskloom.memory.policies import Policy
from taskloom.memory.store import Store

from .experiences import Taught
from .interpreter import Hybrid
from .longterm import LongTerm
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

if TYPE_CHECKING:
    from .narrate import Narrator

Taskgraph = CompiledStateGraph[State, Context, Input, Output]

NO_MODEL = ("", "rules")
OUTBOX = "outbox.sqlite"  # file under the home

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
    rules, template = Taught(Rules()), TemplateResponder()

    @cache
    def voice(model: str) -> Voice:
        name = model or given.model
        if name in NO_MODEL:
            return Voice(rules, template)
        from .llm import ModelInterpreter, ModelResponder, chat_model  # a second to import

        chat: Any = chat_model(given, name)
        interpreter = Hybrid(rules, ModelInterpreter(chat, rules), filter_first=given.rules_first)
        return Voice(interpreter, ModelResponder(chat))

    return Services(voice=voice, template=template, replies=given.replies, memory=longterm_of(given))


def longterm_of(given: Settings) -> LongTerm | None:
    """Long-term memory as the settings want it, under their home; nothing is opened yet."""
    if not given.memory:
        return None

    def opened() -> Store:
        from taskloom.memory.store import ChromaStore  # with what it imports, another second

        if given.chroma_url:
            return ChromaStore.server(given.chroma_url, _embedder(given))
        return ChromaStore.embedded(given.home / "memory", _embedder(given))

    @cache
    def narrator() -> Narrator:
        from .llm import chat_model
        from .narrate import Narrator

        return Narrator(chat_model(given, given.model))

    policy = Policy(
        addition=given.experience_addition,
        deletion=given.experience_deletion,
        period=given.experience_period,
        alpha=given.experience_alpha,
        n=given.experience_n,
        beta=given.experience_beta,
        limit=given.experience_limit,
    )
    telling = narrator if given.model not in NO_MODEL else None
    return LongTerm(
        opened, lambda: Outbox(given.home / OUTBOX), policy, telling, model_judges=given.judge == "model"
    )


def _embedder(given: Settings) -> Embedder:
    """The embedding model of the settings: at an endpoint, or the one that comes with the package."""
    if given.embeddings:
        from .llm import EndpointEmbedder

        return EndpointEmbedder(given.embeddings, given.openai_api_key, given.openai_base_url)
    from taskloom.memory.embed import MiniLM

    return MiniLM()


@cache
def make_graph() -> Taskgraph:
    """The graph for LangGraph Server, which brings its own saver; built once, as servers call this often."""
    return build_graph(default_services())
