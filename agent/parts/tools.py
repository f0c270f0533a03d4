"""The plan as tools, for agents that take nothing else, with the plan kept outside of their state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from taskloom.memory.tasks import TaskGraph

from .calls import CALLS, carry_out, next_turn

Caller = Callable[[str, Mapping[str, Any]], str]


class HeldPlan:
    """A plan in this process; calls come one after the other, each a turn of its own."""

    def __init__(self, graph: TaskGraph | None = None) -> None:
        self.graph = graph or TaskGraph()
        self._lock = threading.Lock()

    def call(self, name: str, args: Mapping[str, Any]) -> str:
        """Carry out one of `calls.CALLS`, and tell what became of it."""
        with self._lock:
            done = carry_out(self.graph, name, args, next_turn(self.graph))
            self.graph = done.graph
        return done.text


def task_memory_tools(call: Caller | None = None) -> list[BaseTool]:
    """The tools that change and ask a plan.

    Args:
        call: carries a call out where the plan is kept: `HeldPlan().call` or one of your own; default is a
            new plan in this process, which these tools share.
    """
    carry = call or HeldPlan().call
    return [_tool(name, carry) for name in CALLS]


def _tool(name: str, call: Caller) -> BaseTool:
    kind = CALLS[name]

    def run(**args: Any) -> str:
        return call(name, args)

    return StructuredTool.from_function(
        run, name=name, description=kind.__doc__, args_schema=kind, infer_schema=False
    )
