"""A graph for a server's schedule: writes what waits for long-term memory, outside of any turn."""

from __future__ import annotations

import asyncio

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from taskloom.agent.turn.state import Context

from .access import context_of
from .build import served
from .services import Services

__all__ = ["Written", "make_consolidation"]


class Nothing(TypedDict):
    pass


class Written(TypedDict):
    """How many records were written to long-term memory, and how many wait; `taskloom doctor` says why."""

    written: int
    waiting: int


def consolidate(_: Nothing, runtime: Runtime[Context], *, services: Services) -> Written:
    """Write the waiting records of the run's user; those of all users where a run names none.

    Raises:
        StoreError: the store cannot be opened.
        OutboxError: the queue cannot be read, or another process holds it.
    """
    if services.memory is None:
        return Written(written=0, waiting=0)
    user = context_of(runtime).user_id or None
    return Written(written=services.memory.flush(user), waiting=services.memory.outbox.count(user))


async def make_consolidation() -> CompiledStateGraph[Written, Context, Nothing, Written]:
    """The graph; it shares its memory with the graph of the dialogue."""
    services = await asyncio.to_thread(served)
    builder = StateGraph(Written, Context, input_schema=Nothing, output_schema=Written)

    def write(state: Nothing, runtime: Runtime[Context]) -> Written:
        return consolidate(state, runtime, services=services)

    builder.add_node("consolidate", write)
    builder.add_edge(START, "consolidate")
    builder.add_edge("consolidate", END)
    return builder.compile(name="consolidate")
