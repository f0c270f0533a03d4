"""Every form of an answer to an approval is understood, or refused in words; none is one by accident."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from taskloom.agent.graph import Context, build_graph, default_services
from taskloom.agent.settings import Settings
from taskloom.tools.agents import inner_agent
from taskloom.tools.calls import call
from taskloom.tools.registry import equip
from taskloom.tools.shared import Shared

pytestmark = pytest.mark.attack

ASK = Context(approve=True)
CONFIG: RunnableConfig = {"configurable": {"thread_id": "1"}}


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


@pytest.fixture
def graph(tmp_path: Path) -> Any:
    """A thread that waits for an approval to remove a trip."""
    made = build_graph(default_services(Settings(home=tmp_path, memory=False)), checkpointer=InMemorySaver())
    made.invoke(said("Plan a trip to Rome on June 10th"), CONFIG, context=ASK)
    assert made.invoke(said("Remove the trip"), CONFIG, context=ASK)["__interrupt__"]
    return made


def there(graph: Any) -> bool:
    return bool(graph.get_state(CONFIG).values["tasks"]["t1"].active)


ONE, NONE = {"type": "approve"}, {"type": "reject"}


@pytest.mark.parametrize(
    ("answer", "goes"),
    [
        (True, True), (False, False), ("yes", True), ("no", False), ({"approve": True}, True),
        ({"decisions": [ONE]}, True), ({"decisions": [NONE]}, False),
    ],
)  # fmt: skip
def test_what_is_understood(graph: Any, answer: Any, goes: bool) -> None:
    done = graph.invoke(Command(resume=answer), CONFIG, context=ASK)
    assert there(graph) is not goes
    assert done["turn"].reply.startswith("Cancelled the trip" if goes else "I left that as it is")


@pytest.mark.parametrize(
    "answer",
    [
        {"approve": "yes"}, {"approve": "true"}, {"approve": 1}, "maybe", "approve", [], ["yes"], 1,
        {"approve": None},
        {"approve": True, "decisions": [NONE]}, {"decisions": [ONE, NONE]}, {"decisions": [ONE, ONE]},
        {"decisions": [{"type": "edit", "edited_action": {"args": {}}}]}, {"decisions": "yes"},
    ],
)  # fmt: skip
def test_what_is_refused_in_words_and_can_be_given_again(graph: Any, answer: Any) -> None:
    with pytest.raises(ValueError, match=r"approve|decisions|boolean"):
        graph.invoke(Command(resume=answer), CONFIG, context=ASK)
    assert there(graph)
    assert graph.get_state(CONFIG).interrupts
    graph.invoke(Command(resume=True), CONFIG, context=ASK)
    assert not there(graph)


@pytest.mark.parametrize(("text", "goes"), [("yes", True), ("Yes please.", True), ("no", False)])
@pytest.mark.parametrize("form", ["message", "text", "dict"])
def test_the_message_yes_answers(graph: Any, text: str, goes: bool, form: str) -> None:
    """As somebody types it who talks to a server: it is kept among what was said."""
    forms = {"message": [HumanMessage(text)], "text": text, "dict": [{"role": "user", "content": text}]}
    done = graph.invoke({"messages": forms[form]}, CONFIG, context=ASK)
    assert there(graph) is not goes
    assert done["turn"].reply.startswith("Cancelled the trip" if goes else "I left that as it is")
    kept = [message.text for message in done["messages"]]
    assert kept[-2:] == [text, done["turn"].reply]
    assert "Remove the trip" in kept
    assert graph.invoke(said("What is left?"), CONFIG, context=ASK)["turn"].number == done["turn"].number + 1


@pytest.mark.parametrize("text", ["What is the date?", "Book a table at Luigi's"])
def test_another_message_leaves_it(graph: Any, text: str) -> None:
    assert "__interrupt__" not in graph.invoke(said(text), CONFIG, context=ASK)
    assert there(graph)


def test_a_yes_that_nothing_waits_for_removes_nothing(graph: Any) -> None:
    graph.invoke(Command(resume=False), CONFIG, context=ASK)
    graph.invoke(said("yes"), CONFIG, context=ASK)
    assert there(graph)


def test_it_is_the_same_when_run_by_a_server(graph: Any) -> None:
    done = asyncio.run(graph.ainvoke(said("yes"), CONFIG, context=ASK))
    assert not there(graph)
    assert done["messages"][-2].text == "yes"


# ---- a graph inside a tool -----------------------------------------------------------------------


def asking(saver: Any) -> Any:
    """A graph that asks before it answers."""
    builder = StateGraph(MessagesState)
    builder.add_node(
        "ask", lambda state: {"messages": [AIMessage(f"paid, {interrupt({'question': 'Pay 90?'})}")]}
    )
    builder.add_edge(START, "ask")
    return builder.compile(checkpointer=saver)


def pay(amount: int) -> Any:
    """Pay an amount."""
    return asking(InMemorySaver()).invoke(said("pay"), CONFIG)


def ask_here(amount: int) -> str:
    """Pay an amount."""
    return str(interrupt({"question": "Pay 90?"}))


@pytest.mark.parametrize("effects", [False, True])
@pytest.mark.parametrize("made", ["agent", "function", "itself"])
def test_a_question_inside_a_tool_is_told(made: str, effects: bool) -> None:
    inner = inner_agent(asking(InMemorySaver()), name="payer", description="Pays.")
    tool: Any = {"agent": inner, "function": pay, "itself": ask_here}[made]
    equipped = equip(tool, side_effects=effects)
    args: dict[str, Any] = {"task": "pay"} if made == "agent" else {"amount": 90}

    def node(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(call(equipped, args, shared=Shared()).text)]}

    builder = StateGraph(MessagesState)
    builder.add_node("tool", node)
    builder.add_edge(START, "tool")
    done = builder.compile(checkpointer=InMemorySaver()).invoke(
        said("go"), {"configurable": {"thread_id": "7"}}
    )
    told = done["messages"][-1].text
    assert "it stopped to ask 'Pay 90?', and nobody can answer that here" in told
    assert not told.startswith(("paid", "done"))
