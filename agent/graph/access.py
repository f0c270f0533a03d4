"""Helpers by which the nodes read the state, the context and the services."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables.config import ensure_config
from langgraph.runtime import Runtime

from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.recall.memory import Memory
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.state import Context, Pending, State, Turn, tasks_in
from taskloom.memory.consolidate import Exchange
from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskGraph, TaskNode

from .services import Services

Update = dict[str, Any]

MAX_UTTERANCE = 20_000  # characters; a longer text is a document, not something said
_GAP = re.compile(r"\s{41,}")  # more than anybody indents by

EXCHANGES = 2  # (user, assistant) pairs that go along for pronouns


def exchanges_of(
    turns: Sequence[tuple[int, str]], pairs: Sequence[tuple[str, str]], thread: str
) -> tuple[Exchange, ...]:
    """The turns with the words of user and assistant; pairs: the last such pairs, possibly fewer."""
    said = [("", "")] * (len(turns) - len(pairs)) + list(pairs)
    return tuple(
        Exchange(thread=thread, turn=number, at=datetime.fromisoformat(at), said=user, reply=reply)
        for (number, at), (user, reply) in zip(turns, said, strict=True)
    )


def pending_of(given: Any) -> Pending:
    """The experience whose outcome is still pending; a server may hand it over as plain data."""
    return given if isinstance(given, Pending) else Pending.model_validate(given)


def context_of(runtime: Runtime[Any]) -> Context:
    """The context of a run, as a node has it, see `context_from`."""
    return context_from(runtime.context, ensure_config()["configurable"])


def context_from(given: Any, configurable: Mapping[str, Any]) -> Context:
    """The context of a run; defaults without one. Of a parent graph's context, only known fields are used.

    Where a server knows who calls, that is the user, whatever the context says.
    """
    if isinstance(given, dict):
        known = {key: value for key, value in given.items() if key in Context.model_fields}
        context = Context.model_validate(known)
    elif isinstance(given, Context):
        context = given
    else:
        user = getattr(given, "user_id", None)
        context = Context(user_id=user) if isinstance(user, str) else Context()
    caller = _identity(configurable.get("langgraph_auth_user"))
    return context.model_copy(update={"user_id": caller}) if caller else context


def _identity(user: Any) -> str:
    """The identity of the caller, as a server reports it: in an object or in plain data."""
    found = user.get("identity") if isinstance(user, Mapping) else getattr(user, "identity", "")
    return found if isinstance(found, str) else ""


def graph_of(state: State) -> TaskGraph:
    """The tasks of a state as a graph; the same one for the same tasks, so that nodes share its indexes.

    Tasks of which most were there before make a graph that has the indexes of the one before.
    """
    tasks, recent = state.get("tasks", {}), tuple(_recent)
    for known, graph in recent:
        if known is tasks:
            return graph
    grown = (_grown(known, graph, tasks) for known, graph in reversed(recent))
    graph = next((graph for graph in grown if graph is not None), None) or TaskGraph(tasks_in(tasks))
    _recent.append((tasks, graph))
    return graph


def _grown(known: dict[str, TaskNode], graph: TaskGraph, tasks: dict[str, TaskNode]) -> TaskGraph | None:
    """A task graph derived from a known one that differs in a few tasks only; None where more differ."""
    some = [key for key, _ in zip(known, range(9), strict=False)]
    if not 0 < len(known) <= len(tasks) or not any(tasks.get(key) is known[key] for key in some):
        return None
    changed = {key: node for key, node in tasks.items() if known.get(key) is not node}
    if len(changed) * 4 > len(tasks):
        return None
    grown = graph.with_nodes(tasks_in(changed).values())
    return grown if list(grown) == list(tasks) else None


_recent: deque[tuple[dict[str, TaskNode], TaskGraph]] = deque(maxlen=8)  # more than runs at a time


def utterance_of(state: State) -> tuple[str, tuple[str, ...], str]:
    """What the user says in this turn, without control characters; ids of its messages; what is wrong.

    A gap of thousands of blanks is one blank: it says nothing, and what reads it goes through it many times.
    All messages of the user's at the end are read that no turn has read yet.
    """
    messages, read = state.get("messages", []), turn_of(state).read
    last = list(takewhile(lambda message: isinstance(message, HumanMessage), reversed(messages)))[::-1]
    if not last:
        return "", (), "There is no message to read."
    new = [message for message in last if message.id not in read] or last[-1:]
    ids = tuple(message.id or "" for message in new)
    text = "\n".join(str(message.text) for message in new)
    if len(text) > MAX_UTTERANCE:
        why = f"That is too long for me: {len(text):,} characters; the limit is {MAX_UTTERANCE:,}."
        return f"{text[:80]}…", ids, why
    kinds = [unicodedata.category(char) for char in text]
    clean = [" " if kind in ("Cc", "Cs") and char not in "\n\t" else char
             for char, kind in zip(text, kinds, strict=True)]  # fmt: skip
    if all(kind[0] in "CZ" for kind in kinds):
        return "", ids, "I did not get any words. What should I note, change or look up?"
    return _GAP.sub(_narrowed, "".join(clean).strip()), ids, ""


def _narrowed(gap: re.Match[str]) -> str:
    return "\n\n" if "\n" in gap[0] else " "


def turn_of(state: Mapping[str, Any]) -> Turn:
    """The turn in the state: this one's, or the last one's before `decompose`.

    A server that is strict about types (LANGGRAPH_STRICT_MSGPACK) gives what it has read as plain data.
    """
    turn: Any = state.get("turn", {})
    return turn if isinstance(turn, Turn) else Turn.model_validate(turn)


def question_of(state: State) -> Clarify | None:
    """The question that the assistant left open."""
    question: Any = state.get("question")
    return Clarify.model_validate(question) if isinstance(question, dict) else question


def last_exchanges(messages: Sequence[AnyMessage], count: int = EXCHANGES) -> tuple[tuple[str, str], ...]:
    """The last (user, assistant) pairs, without messages that have no reply yet."""
    pairs: list[tuple[str, str]] = []
    said: list[str] = []
    reply: str | None = None
    for message in reversed(messages):
        if isinstance(message, HumanMessage) and reply is not None:
            said.insert(0, str(message.text))
        elif isinstance(message, AIMessage):
            if said and reply is not None:
                pairs.insert(0, ("\n".join(said), reply))
            if len(pairs) == count:
                return tuple(pairs)
            said, reply = [], str(message.text)
    return tuple([("\n".join(said), reply), *pairs] if said and reply is not None else pairs)


def memory_of(services: Services, runtime: Runtime[Any]) -> Memory:
    """Long-term memory for one run, for its user and thread; a false value where there is none.

    A run that names no user has none: all who come without a name would share it.
    """
    context, info = context_of(runtime), runtime.execution_info
    named = context.memory and context.user_id
    longterm = services.memory if named else None
    return Memory(longterm, context.speaker, (info.thread_id if info else "") or "")


def view_of(state: State, number: int, context: Context, services: Services) -> View:
    """The view of a turn that readers and grounders get."""
    return View(
        graph=graph_of(state),
        turn=number,
        focus=tuple(state.get("focus", ())),
        question=question_of(state),
        exchanges=last_exchanges(state.get("messages", [])),
        schemas=kinds_of(context, services),
        now=services.clock(),
        budget=context.token_budget,
    )


def kinds_of(context: Context, services: Services) -> tuple[TaskSchema, ...]:
    """The kinds of tasks of a run: its own, else those that come with the tools."""
    return load_schemas(context.schemas or (list(services.tools.schemas) if services.tools else []))
