"""What a saver is given of the state: plain data, and the same comes back."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Command, Overwrite

from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.plain import PlainSerializer, UnknownTypeError
from taskloom.agent.turn.state import Context, Turn
from taskloom.memory.tasks import TaskNode
from tests.scripted import services

CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
TASK = TaskNode(id="t1", slot="trip", title="trip").changed(turn=2, op="update", said="x", value="Rome")
HOSTILE = {"__taskloom__": "TaskNode", "dict": [{"__taskloom__": "dict"}], "more": {"__taskloom__": 1}}


@pytest.mark.parametrize(
    "value",
    [
        {"tasks": {"t1": TASK}, "turn": Turn(number=3, former=(("t1", 0),)), "question": None},
        Overwrite({"t1": TASK}),
        _DeltaSnapshot({"t1": TASK}),
        [HumanMessage("hello", id="1"), HOSTILE, {"shared": HOSTILE}],
    ],
)
def test_what_goes_in_comes_back(value: Any) -> None:
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    serializer = PlainSerializer(strict)
    stored = serializer.dumps_typed(value)
    assert serializer.loads_typed(stored) == value
    assert "TaskNode(" not in repr(strict.loads_typed(stored))


def test_a_model_of_a_later_version_is_refused_by_name() -> None:
    serializer = PlainSerializer(JsonPlusSerializer())
    stored = JsonPlusSerializer().dumps_typed({"turn": {"__taskloom__": "Wish", "a": 1}})
    with pytest.raises(UnknownTypeError, match="holds a Wish"):
        serializer.loads_typed(stored)


def test_a_saver_holds_nothing_but_plain_data(caplog: pytest.LogCaptureFixture) -> None:
    """Also of a run that waits for an approval, of an edit by hand, of variables that look like a model."""
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = build_graph(services(), checkpointer=saver)
    ask = Context(approve=True)
    said: Any = {"messages": [HumanMessage("task trip; put t1 place Rome")], "shared": {"odd": HOSTILE}}
    graph.invoke(said, CONFIG, context=ask)
    graph.invoke({"messages": [HumanMessage("drop t1")]}, CONFIG, context=ask)
    graph.invoke(Command(resume={"approve": False}), CONFIG, context=ask)
    graph.update_state(CONFIG, {"tasks": {"t3": TASK.model_copy(update={"id": "t3"})}})
    state = graph.get_state(CONFIG).values
    assert isinstance(state["turn"], Turn)
    assert all(isinstance(task, TaskNode) for task in state["tasks"].values())
    assert state["shared"] == {"odd": HOSTILE}
    assert list(saver.list(CONFIG))
    assert [record.message for record in caplog.records if "deserializ" in record.message.lower()] == []
