"""Task memory for agents of LangChain: `create_agent(..., middleware=[TaskMemoryMiddleware()])`.

Needs the extra `agents`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    PrivateStateAttr,
    ToolCallRequest,
)
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import create_model

from taskloom.agent.graph.services import Services
from taskloom.agent.turn.state import tasks_in
from taskloom.memory.tasks import TaskGraph, TaskNode

from .calls import CALLS, next_turn
from .channel import PLAN, Todo, called, joined, todos
from .hearing import carry_out_once, hear, report
from .prompt import plan_prompt


class TaskMemoryState(AgentState[Any]):
    """What the middleware adds to an agent's state: the plan, and the todo list that shows it.

    heard: plain data of what the user said, where that is read: for the run under way and for the next one.
    """

    plan: Annotated[NotRequired[dict[str, TaskNode]], OmitFromInput, PLAN]
    todos: Annotated[NotRequired[list[Todo]], OmitFromInput]
    heard: Annotated[NotRequired[dict[str, Any]], PrivateStateAttr]


Result = ToolMessage | Command[Any]


class TaskMemoryMiddleware(AgentMiddleware[TaskMemoryState, Any, Any]):
    """A plan that the agent changes by operations, and sees as far as it matters.

    Args:
        budget: tokens that the plan may take in a prompt, see `taskloom.memory.retrieve.tokens`.
        services: what reads what the user says, before the model does, and changes the plan by it, as the
            graph does in a turn: `default_services()` for what the settings say. Default: only tools change
            the plan. Not for a sub-agent, whose user is another model.

    The plan is in the state as `plan`, tasks by id, with any checkpointer; `todos` shows it as a list. The
    plan of a sub-agent that has this middleware too comes back with its result (a tool gives it as
    `Command(update={"plan": ...})`, as deepagents does) and is joined below the task whose id the call names.
    """

    state_schema = TaskMemoryState

    def __init__(self, *, budget: int = 600, services: Services | None = None) -> None:
        super().__init__()
        if budget < 50:
            raise ValueError(f"budget: a plan takes at least 50 tokens, not {budget}")
        self.budget, self.services = budget, services
        self.tools: list[BaseTool] = [_tool(name) for name in CALLS]

    def before_agent(self, state: TaskMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Read what the user says, where that is wanted."""
        return hear(state, runtime, self.services) or None if self.services else None

    async def abefore_agent(self, state: TaskMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Read what the user says, where that is wanted: not on the event loop, as it computes and waits."""
        return await asyncio.to_thread(self.before_agent, state, runtime) if self.services else None

    def before_model(self, state: TaskMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002  # LangChain's
        """Bring the todo list up to date."""
        shown = todos(_plan(state))
        return {"todos": shown} if shown != state.get("todos", []) else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Put the plan in front of the model."""
        return handler(self._shown(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Put the plan in front of the model."""
        return await handler(self._shown(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Join the plan of a sub-agent."""
        return _joining(request, handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Join the plan of a sub-agent."""
        return _joining(request, await handler(request))

    def _shown(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        said = next(
            (str(one.text) for one in reversed(request.messages) if isinstance(one, HumanMessage)), ""
        )
        text = plan_prompt(_plan(request.state), said, self.budget, report(request.state))
        before = request.system_message.content_blocks if request.system_message is not None else []
        content: list[Any] = [*before, {"type": "text", "text": f"\n\n{text}" if before else text}]
        return request.override(system_message=SystemMessage(content=content))


def _plan(state: Mapping[str, Any]) -> TaskGraph:
    return TaskGraph(tasks_in(state.get("plan") or {}))


def _tool(name: str) -> BaseTool:
    """The tool for a call: it tells what comes of it after the calls before it in the same message."""

    def run(runtime: ToolRuntime[Any, Any], **args: Any) -> Command[Any]:
        graph = _plan(runtime.state)
        turn = next_turn(graph)
        for earlier in _earlier(runtime):
            graph = carry_out_once(runtime.state, graph, earlier["name"], earlier["args"], turn).graph
        given = {key: value for key, value in args.items() if key in CALLS[name].model_fields}
        done = carry_out_once(runtime.state, graph, name, given, turn)
        message = ToolMessage(
            done.text,
            tool_call_id=runtime.tool_call_id,
            name=name,
            status="error" if done.refused else "success",
        )
        changes = {"plan": called(name, given, turn)} if done.graph is not graph else {}
        return Command(update={**changes, "messages": [message]})

    kind = CALLS[name]
    # LangChain gives a tool whose schema has no field no arguments at all, those of its own left out too.
    schema = create_model(kind.__name__, __base__=kind, runtime=(Annotated[Any, InjectedToolArg()], ...))
    return StructuredTool.from_function(
        run, name=name, description=kind.__doc__, args_schema=schema, infer_schema=False
    )


def _earlier(runtime: ToolRuntime[Any, Any]) -> list[Any]:
    """The calls to the plan that stand before this one in its message."""
    messages = runtime.state["messages"]
    calls = next((one.tool_calls for one in reversed(messages) if isinstance(one, AIMessage)), [])
    ids = [call["id"] for call in calls]
    before = calls[: ids.index(runtime.tool_call_id)] if runtime.tool_call_id in ids else []
    answered = {one.tool_call_id for one in messages if isinstance(one, ToolMessage)}  # refused by a person
    return [call for call in before if call["name"] in CALLS and call["id"] not in answered]


def _joining(request: ToolCallRequest, result: Result) -> Result:
    """The result of a tool; a plan in it is taken in as that of a sub-agent."""
    if not isinstance(result, Command) or not isinstance(result.update, dict):
        return result
    plan = result.update.get("plan")
    if request.tool_call["name"] in CALLS or not plan:
        return result
    graph, words = _plan(request.state), " ".join(map(str, request.tool_call["args"].values()))
    under = next((key for key in re.findall(r"\bt\d+\b", words) if key in graph and graph[key].active), None)
    write = joined(tasks_in(plan), words, under, next_turn(graph))
    rest = {key: value for key, value in result.update.items() if key != "todos"}
    return Command(graph=result.graph, update={**rest, "plan": write}, resume=result.resume, goto=result.goto)
