"""Taskloom inside other applications: as a node, as a tool of an agent, with approvals through the parent.

The first test is the embedding snippet of the README, between the two marks.
"""

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
from langgraph.types import Command
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
