"""Taskloom inside other applications: as a node, as a tool of an agent, with approvals through the parent.

The first test is the embedding snippet of the README, between the two marks.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from taskloom.agent.graph.build import build_graph
from taskloom.agent.turn.state import Context
from tests.scripted import services

CONFIG: RunnableConfig = {"configurable": {"thread_id": "host"}}
ASK = Context(approve=True)


def test_the_snippet_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    # --- snippet
    from langchain_core.messages import HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    from taskloom.agent.graph import build_graph, default_services

    class Desk(TypedDict, total=False):
        request: str
        reply: str

    taskloom = build_graph(default_services(), checkpointer=True)  # keeps its own thread within the host's

    def plan(state: Desk) -> dict[str, str]:
        result = taskloom.invoke({"messages": [HumanMessage(state["request"])]})
        return {"reply": result["turn"].reply}

    builder = StateGraph(Desk)
    builder.add_node("plan", plan)
    builder.add_edge(START, "plan")
    desk = builder.compile(checkpointer=InMemorySaver())

    for request in ("Plan a trip to Rome on June 10th", "When is the trip?"):
        result = desk.invoke({"request": request}, {"configurable": {"thread_id": "customer-7"}})
        print(result["reply"])
    # --- end
    assert "June 10th" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("strict", ["false", "true"])
def test_the_snippet_warns_of_nothing(strict: str, tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    read = "print(desk.get_state({'configurable': {'thread_id': 'customer-7'}}, subgraphs=True).values)"
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": strict, "TASKLOOM_HOME": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", snippet + read]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert done.stderr == ""
    assert "June 10th" in done.stdout.splitlines()[-1]


class Desk(TypedDict):
    request: str
    reply: str
    open: int


def desk(checkpointer: Any = None) -> Any:
    """A host with another state, that keeps its tasks in a node."""
    child = build_graph(services(), checkpointer=True)

    def plan(state: Desk) -> dict[str, Any]:
        result = child.invoke({"messages": [HumanMessage(state["request"])]}, context=ASK)
        return {"reply": result["turn"].reply, "open": len([t for t in result["tasks"].values() if t.active])}

    builder = StateGraph(Desk)
    builder.add_node("plan", plan)
    builder.add_edge(START, "plan")
    return builder.compile(checkpointer=checkpointer or InMemorySaver())


def test_as_a_node_with_memory_across_turns() -> None:
    host = desk()
    assert host.invoke({"request": "task trip; put t1 place Rome"}, CONFIG)["open"] == 2
    assert host.invoke({"request": "set t2 Paris"}, CONFIG)["open"] == 2
    assert "It is Paris" in host.invoke({"request": "ask t2"}, CONFIG)["reply"]
    other: RunnableConfig = {"configurable": {"thread_id": "other"}}
    assert host.invoke({"request": "task cart"}, other)["open"] == 1


def test_an_approval_passes_through_the_parent() -> None:
    host = desk()
    host.invoke({"request": "task trip; put t1 place Rome"}, CONFIG)
    for approve, left in ((False, 2), (True, 0)):
        asked = host.invoke({"request": "drop t1"}, CONFIG)
        assert asked["__interrupt__"][0].value["action"] == "remove"
        done = host.invoke(Command(resume={"approve": approve}), CONFIG)
        assert done["open"] == left
        assert ("nothing was removed" in done["reply"]) is not approve


def test_as_a_node_that_shares_messages() -> None:
    """Added as it is: state keys of the same name are shared with the parent."""
    from langgraph.graph import MessagesState

    builder = StateGraph(MessagesState)
    builder.add_node("taskloom", build_graph(services(), checkpointer=True))
    builder.add_edge(START, "taskloom")
    host = builder.compile(checkpointer=InMemorySaver())
    host.invoke({"messages": [HumanMessage("task trip; put t1 place Rome")]}, CONFIG)
    host.invoke({"messages": [HumanMessage("set t2 Paris")]}, CONFIG)
    messages = host.invoke({"messages": [HumanMessage("ask t2")]}, CONFIG)["messages"]
    assert [message.type for message in messages] == ["human", "ai"] * 3
    assert "It is Paris" in messages[-1].text


def test_called_from_a_tool_of_an_agent() -> None:
    """With a saver and a thread of its own: several calls in one turn of the agent all count."""
    child = build_graph(services(), checkpointer=InMemorySaver())

    @tool
    def tasks(request: str, config: RunnableConfig) -> str:
        """Keep the user's tasks: say what to note, change or look up."""
        thread = f"tasks-of-{config['configurable']['thread_id']}"
        own: RunnableConfig = {"configurable": {"thread_id": thread}}
        return str(child.invoke({"messages": [HumanMessage(request)]}, own)["turn"].reply)

    def call(number: int, request: str) -> AIMessage:
        made = {"name": "tasks", "args": {"request": request}, "id": f"call{number}"}
        return AIMessage("", tool_calls=[made])

    class Model(GenericFakeChatModel):
        def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
            return self

    script = [
        call(1, "task trip; put t1 place Rome"), call(2, "set t2 Paris"), AIMessage("Noted."),
        call(3, "ask t2"), AIMessage("Paris."),
    ]  # fmt: skip
    agent = create_agent(Model(messages=iter(script)), [tasks], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("A trip to Rome; no, Paris")]}, CONFIG)
    result = agent.invoke({"messages": [HumanMessage("Where do I go?")]}, CONFIG)
    told = [str(message.text) for message in result["messages"] if message.type == "tool"]
    assert told[0] == "[2 tasks] add: ok. add: ok."
    assert "It is Paris" in told[-1]


def host_of(*nodes: Any, saver: Any = None) -> Any:
    """A host whose nodes come one after the other."""
    builder = StateGraph(Desk)
    builder.add_sequence([(f"n{number}", node) for number, node in enumerate(nodes)])
    builder.add_edge(START, "n0")
    return builder.compile(checkpointer=saver or InMemorySaver())


def calling(child: Any, *requests: str) -> Any:
    """A node that calls its child with the host's request, then with others."""

    def node(state: Desk) -> dict[str, Any]:
        told = [
            child.invoke({"messages": [HumanMessage(request or state["request"])]}, context=ASK)
            for request in requests
        ]
        return {"reply": " / ".join(one["turn"].reply for one in told), "open": told[-1]["turn"].number}

    return node


def test_all_calls_of_a_parent_thread_are_one_thread() -> None:
    child = build_graph(services(), checkpointer=True)
    host = host_of(calling(child, "", "set t2 Paris"), calling(child, "ask t2"))
    first = host.invoke({"request": "task trip; put t1 place Rome"}, CONFIG)
    assert ("It is Paris" in first["reply"], first["open"]) == (True, 3)
    again = host.invoke({"request": "set t2 Oslo; task cart"}, CONFIG)
    assert ("[3 tasks]" in again["reply"], again["open"]) == (True, 6)
    other: RunnableConfig = {"configurable": {"thread_id": "other"}}
    assert host.invoke({"request": "task cart"}, other)["open"] == 3


def test_another_memory_in_the_same_host_has_another_name() -> None:
    work, home = (build_graph(services(), checkpointer=True, name=name) for name in ("work", "home"))
    host = host_of(calling(work, "task trip"), calling(home, "task cart"))
    assert "[1 tasks]" in host.invoke({"request": ""}, CONFIG)["reply"]


@pytest.mark.parametrize("before", [(), ("task a",)])
@pytest.mark.parametrize("after", [(), ("task b",)])
def test_an_approval_among_several_calls_is_given_once(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    """What the node did before the approval is not done again, and what comes after it is done."""
    child = build_graph(services(), checkpointer=True)
    host = host_of(calling(child, *before, "", *after), calling(child, "ask t1"))
    host.invoke({"request": "task trip; put t1 place Rome"}, CONFIG)
    asked = host.invoke({"request": "drop t1"}, CONFIG)
    assert asked["__interrupt__"][0].value["action"] == "remove"
    done = host.invoke(Command(resume={"approve": True}), CONFIG)
    assert "__interrupt__" not in done
    turns = 2 * (len(before) + 1 + len(after) + 1)
    assert done["open"] == turns


def test_a_call_after_an_interrupt_of_the_hosts_own_is_made() -> None:
    child = build_graph(services(), checkpointer=True)
    call = calling(child, "")

    def node(state: Desk) -> Any:
        if interrupt("go on?"):
            return call(state)
        return {}

    host = host_of(node)
    for number in (1, 2):
        host.invoke({"request": f"task t{number}"}, CONFIG)
        assert host.invoke(Command(resume=True), CONFIG)["open"] == number


def test_calls_of_async_nodes_and_of_nodes_side_by_side_are_one_thread() -> None:
    child = build_graph(services(), checkpointer=True)

    async def one(state: Desk) -> dict[str, Any]:
        for text in ("task a", "task b"):
            await child.ainvoke({"messages": [HumanMessage(text)]})
        return {}

    async def other(state: Desk) -> dict[str, Any]:
        await child.ainvoke({"messages": [HumanMessage("task c")]})
        return {}

    async def last(state: Desk) -> dict[str, Any]:
        told = await child.ainvoke({"messages": [HumanMessage("task d")]})
        return {"open": told["turn"].number, "reply": told["turn"].reply}

    builder = StateGraph(Desk)
    for node in (one, other, last):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "one")
    builder.add_edge(START, "other")
    builder.add_edge(["one", "other"], "last")
    host = builder.compile(checkpointer=InMemorySaver())
    nothing: Any = {"request": ""}
    done = asyncio.run(host.ainvoke(nothing, CONFIG))
    assert (done["open"], done["reply"]) == (4, "[4 tasks] add: ok.")
