"""One turn through the graph: nodes, state, schemas, approvals, errors, streaming."""

import asyncio
import copy
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite

from taskloom.agent.graph.access import context_from, context_of, last_exchanges
from taskloom.agent.graph.build import NODES, Taskgraph, build_graph, make_graph
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.turn.brief import Brief, ResponderError
from taskloom.agent.turn.export import ThreadExport
from taskloom.agent.turn.reading import Reading, Usage, View
from taskloom.agent.turn.state import Context, merge_messages, merge_tasks
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskGraph, TaskNode
from tests.scripted import Commands, services

CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
ASK = Context(approve=True)


@pytest.fixture
def graph() -> Taskgraph:
    return build_graph(services(), checkpointer=InMemorySaver())


def say(graph: Taskgraph, text: Any, context: Context | None = None) -> dict[str, Any]:
    return dict(graph.invoke({"messages": [HumanMessage(text)]}, CONFIG, context=context))


def values(graph: Taskgraph) -> dict[str, str | None]:
    return {key: node.value for key, node in graph.get_state(CONFIG).values["tasks"].items() if node.active}


# ---- shape ----------------------------------------------------------------------------------------


def test_the_nodes_are_those_of_the_design(graph: Taskgraph) -> None:
    drawn = [name for name in graph.get_graph().nodes if name not in ("__start__", "__end__")]
    assert drawn == [*(node.__name__ for node in NODES), "act"]
    assert drawn[:3] == ["decompose", "classify_intent", "update_graph"]
    assert drawn[3:] == ["retrieve_closure", "fill_slots", "respond", "remember", "act"]


def test_schemas_are_described(graph: Taskgraph) -> None:
    context = graph.get_context_jsonschema()
    assert context is not None
    assert all(field["description"] for field in context["properties"].values())
    assert context["properties"]["model"]["__template_metadata__"] == {"kind": "llm"}
    assert context["additionalProperties"] is False
    given, made = graph.get_input_jsonschema(), graph.get_output_jsonschema()
    assert set(given["properties"]) == {"messages", "load", "feedback", "shared"}
    assert set(made["properties"]) == {"messages", "tasks", "turn"}
    for schema in (given, made, *(made["$defs"][name] for name in ("Turn", "Change", "TaskNode"))):
        bare = [name for name, field in schema["properties"].items() if not field.get("description")]
        assert bare == []


def test_the_drawing_has_the_nodes_of_a_turn_and_no_others(graph: Taskgraph) -> None:
    for drawn in (graph.get_graph(), asyncio.run(graph.aget_graph())):
        assert set(drawn.nodes) == {"__start__", "__end__", "act", *(node.__name__ for node in NODES)}


def test_what_is_not_in_the_context_is_refused_by_name(graph: Taskgraph) -> None:
    wrong: Any = {"usr_id": "ann"}
    with pytest.raises(ValueError, match="no 'usr_id' in the context: it has user_id, model"):
        say(graph, "task trip", wrong)
    with pytest.raises(ValueError, match="no 'usr_id'"):
        Context.model_validate(wrong)
    assert graph.get_state(CONFIG).values == {}


def test_a_run_tells_what_it_is_doing(graph: Taskgraph) -> None:
    said: Any = {"messages": [HumanMessage("task trip")]}
    told: list[Any] = list(graph.stream(said, CONFIG, stream_mode="custom"))
    assert [event["node"] for event in told] == [node.__name__ for node in NODES]
    assert told[0]["doing"] == "Reading what you said"


@pytest.mark.parametrize("text", ["task trip; put t1 place Rome; ask t2; which", " "])
def test_a_reply_by_template_streams_in_pieces_of_a_few_words(graph: Taskgraph, text: str) -> None:
    given: Any = {"messages": [HumanMessage(text)]}
    parts: list[Any] = [part for part, _ in graph.stream(given, CONFIG, stream_mode="messages")]
    state = graph.get_state(CONFIG).values
    assert len(parts) > 2
    assert "".join(part.text for part in parts) == state["turn"].reply == state["messages"][-1].text
    assert {part.id for part in parts} == {state["messages"][-1].id}


def test_the_factory_builds_once_and_without_a_saver() -> None:
    async def made() -> tuple[Taskgraph, Taskgraph]:
        return await asyncio.gather(make_graph(), make_graph())

    one, other = asyncio.run(made())
    assert one is other
    assert one.checkpointer is None


def test_rules_alone_without_a_model() -> None:
    voice = default_services(Settings()).voice
    assert voice("") is voice("")
    assert voice("rules").interpreter is voice("").interpreter


def test_a_model_in_settings_or_context_reads() -> None:
    voice = default_services(Settings(model="small", openai_base_url="http://127.0.0.1:9")).voice
    assert type(voice("").interpreter).__name__ == "Gate"
    local = Settings(model="small", reader="local", openai_base_url="http://127.0.0.1:9")
    assert type(default_services(local).voice("").interpreter).__name__ == "English"
    assert type(voice("rules").interpreter).__name__ == "English"
    assert voice("other") is not voice("")


# ---- turns ----------------------------------------------------------------------------------------


def test_turns_change_exactly_what_was_said(graph: Taskgraph) -> None:
    first = say(graph, "task trip; put t1 place Rome")
    assert first["turn"].reply == first["messages"][-1].text == "[2 tasks] add: ok. add: ok."
    assert [change.changed for change in first["turn"].changes] == [("t1",), ("t2",)]
    second = say(graph, "set t2 Paris; set t9 x")
    assert values(graph) == {"t1": None, "t2": "Paris"}
    assert second["turn"].number == 2
    assert second["turn"].changes[1].refused == "there is no task t9"
    assert second["turn"].model_calls == 1
    assert second["turn"].prompt_tokens == 10
    [revision] = second["tasks"]["t2"].history
    assert (revision.value, second["tasks"]["t2"].said) == ("Rome", "set t2 Paris")
    assert "It is Paris" in say(graph, "ask t2")["turn"].reply
    assert values(graph) == {"t1": None, "t2": "Paris"}


def test_what_the_interpreter_sees() -> None:
    seen = Commands()
    graph = build_graph(services(interpreter=seen), checkpointer=InMemorySaver())
    for text in ("task trip; put t1 place Rome", "which", "set t2 Paris", "ask t1"):
        say(graph, text, Context(token_budget=99))
    last = seen.views[-1]
    assert last.turn == 4
    assert last.budget == 99
    assert last.focus[:2] == ("t2", "t1")
    assert [pair[0] for pair in last.exchanges] == ["which", "set t2 Paris"]
    assert seen.views[2].question is not None
    assert last.question is None  # answered or dropped


def test_an_open_question_stays_over_an_unreadable_turn(graph: Taskgraph) -> None:
    say(graph, "which")
    say(graph, "  ")
    assert isinstance(graph.get_state(CONFIG).values["question"], Clarify)


def test_schemas_propose_and_ask() -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver())
    slots = [{"name": name, "required": True} for name in ("place", "date")]
    context = Context(schemas=[{"name": "trip", "description": "a trip", "slots": slots}])
    first = say(graph, "task trip", context)["turn"]
    assert first.question is not None
    assert graph.get_state(CONFIG).values["asked"] == {"t1.place": 1}
    say(graph, "put t1 place Rome", context)
    say(graph, "task trip2", context)
    second = graph.get_state(CONFIG).values
    assert [second["tasks"][key].status for key in second["turn"].proposals] == ["proposed"]


def test_a_declined_slot_is_not_asked_for_again() -> None:
    class Declining(Commands):
        def read(self, utterance: str, view: View) -> Reading:
            if utterance == "no":
                return Reading((Step(text="which", act="no"),))
            return super().read(utterance, view)

    graph = build_graph(services(interpreter=Declining()), checkpointer=InMemorySaver())
    context = Context(schemas=[{"name": "trip", "slots": [{"name": "place", "required": True}]}])
    assert say(graph, "task trip", context)["turn"].question is not None
    say(graph, "no", context)
    assert say(graph, "put t1 date Friday", context)["turn"].question is None


@pytest.mark.parametrize(
    ("content", "reply"),
    [
        ("", "did not get any words"),
        (" \n\t ", "did not get any words"),
        ("\x00\x07\u200b", "did not get any words"),
        ("long " * 5000, "too long"),
        ([{"type": "image_url", "image_url": {"url": "data:,"}}], "did not get any words"),
    ],
)
def test_what_cannot_be_read_is_said_and_changes_nothing(graph: Taskgraph, content: Any, reply: str) -> None:
    say(graph, "task trip; put t1 place Rome")
    before = graph.get_state(CONFIG).values
    turn = say(graph, content)["turn"]
    after = graph.get_state(CONFIG).values
    assert reply in turn.reply
    assert len(turn.utterance) < 200
    assert (after["tasks"], after["focus"]) == (before["tasks"], before["focus"])


def test_control_characters_do_not_reach_the_tasks(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Ro\x00me")
    assert values(graph)["t2"] == "Ro me"


def test_content_blocks_are_read_as_text(graph: Taskgraph) -> None:
    say(graph, [{"type": "text", "text": "task "}, {"type": "text", "text": "trip"}])
    assert list(values(graph)) == ["t1"]


def test_no_message_at_all(graph: Taskgraph) -> None:
    assert "no message" in graph.invoke({"messages": []}, CONFIG)["turn"].reply
    assert "no message" in graph.invoke({"messages": [AIMessage("I spoke")]}, CONFIG)["turn"].reply


@pytest.mark.parametrize(("text", "error"), [("crash", "RuntimeError"), ("lost", "LookupError")])
def test_an_error_in_understanding_leaves_the_state(
    graph: Taskgraph, text: str, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    say(graph, "task trip")
    before = values(graph)
    turn = say(graph, f"task b; {text}")["turn"]
    assert "so I changed nothing" in turn.reply
    assert error not in turn.reply
    assert values(graph) == before
    assert "failed" in caplog.text
    assert error in caplog.text
    assert say(graph, "task cart")["turn"].number == 3
    assert list(values(graph)) == ["t1", "t2"]


def test_a_bad_schema_is_named(graph: Taskgraph) -> None:
    turn = say(graph, "task trip", Context(schemas=[{"nothing": 1}]))["turn"]
    assert "schemas[0]" in turn.reply
    assert graph.get_state(CONFIG).values["tasks"] == {}


# ---- nodes do not change what they get -------------------------------------------------------------


def test_nodes_do_not_change_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = []

    def guarded(node: Any) -> Any:
        def run(state: Any, runtime: Runtime[Context], *, services: Any) -> Any:
            before = copy.deepcopy(dict(state))
            update = node(state, runtime, services=services)
            assert dict(state) == before, f"{node.__name__} changed its state"
            assert all(
                value is not state.get(key) for key, value in update.items() if isinstance(value, dict)
            )
            checked.append(node.__name__)
            return update

        run.__name__ = node.__name__
        return run

    monkeypatch.setattr("taskloom.agent.graph.build.NODES", tuple(map(guarded, NODES)))
    graph = build_graph(services(), checkpointer=InMemorySaver())
    context = Context(schemas=[{"name": "trip", "slots": [{"name": "place", "required": True}]}])
    for text in ("task trip", "put t1 place Rome", "task trip2; which", "set t2 Oslo; ask t2", "drop t1", ""):
        say(graph, text, context)
    graph.invoke({"load": TaskGraph(graph.get_state(CONFIG).values["tasks"]).to_json()}, CONFIG)
    assert set(checked) == {node.__name__ for node in NODES}


# ---- replies --------------------------------------------------------------------------------------


class Wrong:
    """A model that writes one thing after the other."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.briefs = list(replies), list[Brief]()

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        self.briefs.append(brief)
        text = self.replies.pop(0)
        if text == "down":
            raise ResponderError("The model cannot be reached.")
        yield from text.split(" ")
        return Usage(model_calls=1)


def _check(reply: str, brief: Brief) -> tuple[str, ...]:
    return ("wrong value",) if "bad" in reply else ()


@pytest.mark.parametrize(
    ("replies", "reply", "calls"),
    [
        (["good"], "good", 1),
        (["bad", "good"], "good", 2),
        (["bad", "bad"], "[1 tasks] add: ok.", 2),
        (["down"], "[1 tasks] add: ok. The model cannot be reached.", 0),
        (["bad", "down"], "[1 tasks] add: ok. The model cannot be reached.", 1),
    ],
)
def test_a_faulty_reply_is_written_again_then_by_template(replies: list[str], reply: str, calls: int) -> None:
    model = Wrong(*replies)
    graph = build_graph(services(responder=model, check=_check), checkpointer=InMemorySaver())
    turn = say(graph, "task trip", Context(reply_style="model"))["turn"]
    assert turn.reply.strip() == reply
    assert turn.model_calls == 1 + calls  # the interpreter's
    assert model.briefs[-1].faults == (("wrong value",) if len(replies) == 2 else ())


def test_style_auto_asks_the_model_only_for_what_no_template_tells() -> None:
    model = Wrong("a model's answer", "a model's answer")
    graph = build_graph(services(responder=model), checkpointer=InMemorySaver())
    say(graph, "task trip; put t1 place Rome")
    assert say(graph, "ask t2")["turn"].reply == "[2 tasks] check: ok. It is Rome."
    assert model.briefs == []
    assert say(graph, "free t2")["turn"].reply == "amodel'sanswer"
    assert model.briefs[0].facts
    assert say(graph, "ask t2", Context(reply_style="model"))["turn"].reply == "amodel'sanswer"


def streamed(graph: Taskgraph, text: str, context: Context | None = None) -> list[tuple[Any, Any]]:
    given: Any = {"messages": [HumanMessage(text)]}
    parts: Any = graph.stream(given, CONFIG, context=context, stream_mode="messages")
    return list(parts)


def test_the_reply_streams_and_a_new_id_withdraws_it() -> None:
    model = Wrong("bad one", "good one")
    graph = build_graph(services(responder=model, check=_check), checkpointer=InMemorySaver())
    told: dict[str, str] = {}
    for message, metadata in streamed(graph, "task trip", Context(reply_style="model")):
        assert metadata["langgraph_node"] == "respond"
        told[message.id] = told.get(message.id, "") + str(message.text)
    assert list(told.values()) == ["badone", "goodone"]
    assert graph.get_state(CONFIG).values["messages"][-1].id == list(told)[-1]


def test_a_template_reply_streams_too(graph: Taskgraph) -> None:
    pieces = [str(message.text) for message, _ in streamed(graph, "task a")]
    assert pieces[:2] == ["[1 tasks]", " add: ok."]


def test_several_messages_of_the_user_are_one_turn(graph: Taskgraph) -> None:
    texts = ("task trip; put t1 place Rome", "  ", "set t2 Oslo")
    given: Any = {"messages": [HumanMessage(text) for text in texts]}
    turn = graph.invoke(given, CONFIG)["turn"]
    assert [change.refused for change in turn.changes] == [None] * 3
    assert (turn.number, values(graph)) == (1, {"t1": None, "t2": "Oslo"})
    assert say(graph, "ask t2")["turn"].utterance == "ask t2"


def test_what_an_abandoned_turn_has_read_is_not_read_again(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    assert "__interrupt__" in say(graph, "drop t1", ASK)
    turn = say(graph, "set t2 Oslo")["turn"]
    assert (turn.utterance, values(graph)) == ("set t2 Oslo", {"t1": None, "t2": "Oslo"})


def test_exchanges_hold_all_that_was_said_before_a_reply() -> None:
    said: list[Any] = [
        HumanMessage("a"),
        HumanMessage("b"),
        AIMessage("c"),
        AIMessage("d"),
        HumanMessage("e"),
    ]
    assert last_exchanges(said) == (("a\nb", "c"),)
    assert last_exchanges([*said, AIMessage("f")]) == (("a\nb", "c"), ("e", "f"))
    assert last_exchanges([*said, AIMessage("f")], 1) == (("e", "f"),)


@pytest.mark.parametrize("saver", [None, InMemorySaver()])
def test_a_state_that_is_passed_back_is_refused_with_what_to_do(saver: Any) -> None:
    graph = build_graph(services(), checkpointer=saver)
    first = say(graph, "task trip")
    again: Any = {**first, "messages": [HumanMessage("set t1 x")]}
    with pytest.raises(ValueError, match=r"the input has no field '(tasks|turn)'.*saver"):
        graph.invoke(again, CONFIG)
    with pytest.raises(ValueError, match="the input has no field"):
        asyncio.run(graph.ainvoke(again, CONFIG))


# ---- approvals ------------------------------------------------------------------------------------


def test_removing_a_whole_task_asks_first(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome; task cart")
    asked = say(graph, "drop t1", ASK)
    [interrupt] = asked["__interrupt__"]
    assert interrupt.value["action"] == "remove"
    assert interrupt.value["tasks"] == ["trip", "place"]
    assert interrupt.value["question"] == "Remove the trip with its one part?"
    assert "approve" in interrupt.response_schema["properties"]
    assert set(values(graph)) == {"t1", "t2", "t3"}
    done = graph.invoke(Command(resume={"approve": True}), CONFIG, context=ASK)
    assert done["turn"].reply == "[1 tasks] remove: ok."
    assert set(values(graph)) == {"t3"}


def test_a_rejected_removal_says_that_nothing_was_removed(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    say(graph, "drop t1", ASK)
    done = graph.invoke(Command(resume={"approve": False}), CONFIG, context=ASK)
    assert "nothing was removed" in done["turn"].reply
    assert values(graph) == {"t1": None, "t2": "Rome"}


@pytest.mark.parametrize("words", ["drop t1; drop t3", "hold t1; hold t3", "drop t3; undo 1"])
def test_what_takes_several_tasks_out_is_asked_about_at_once(graph: Taskgraph, words: str) -> None:
    say(graph, "task a; put t1 x 1")
    say(graph, "task b")
    [interrupt] = say(graph, words, ASK)["__interrupt__"]
    assert interrupt.value["question"] == "Take 2 tasks out: a and b?"
    assert interrupt.value["tasks"] == ["a", "b"]
    done = graph.invoke(Command(resume={"approve": False}), CONFIG, context=ASK)
    assert "nothing was removed" in done["turn"].reply
    assert set(values(graph)) == {"t1", "t2", "t3"}
    say(graph, words, ASK)
    assert "__interrupt__" not in graph.invoke(Command(resume={"approve": True}), CONFIG, context=ASK)
    assert values(graph) == {}


def test_parts_and_bare_tasks_go_without_asking(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome; task cart")
    assert "__interrupt__" not in say(graph, "drop t2; drop t3", ASK)


def test_a_wrong_answer_to_an_approval_removes_nothing(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    say(graph, "drop t1", ASK)
    with pytest.raises(ValueError, match="approve"):
        graph.invoke(Command(resume={"agree": True}), CONFIG, context=ASK)
    assert set(values(graph)) == {"t1", "t2"}


def test_new_words_leave_an_approval_behind(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    say(graph, "drop t1", ASK)
    say(graph, "set t2 Oslo", ASK)
    assert values(graph) == {"t1": None, "t2": "Oslo"}


# ---- loading --------------------------------------------------------------------------------------


def test_loading_an_export(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    say(graph, "set t2 Paris")
    state = graph.get_state(CONFIG).values
    text = ThreadExport.of(TaskGraph(state["tasks"]), state["messages"], state["focus"]).to_json()
    other: RunnableConfig = {"configurable": {"thread_id": "two"}}
    done = graph.invoke({"load": text}, other, context=ASK)  # nothing there to ask about
    assert done["tasks"] == state["tasks"]
    assert done["turn"].reply == "Loaded 2 tasks."
    assert done["turn"].number == 3
    assert [str(message.text) for message in done["messages"][:4]] == [str(m.text) for m in state["messages"]]
    assert graph.get_state(other).values["load"] is None

    asked = graph.invoke({"load": '{"tasks": []}'}, other, context=ASK)
    assert asked["__interrupt__"][0].value["action"] == "load"
    kept = graph.invoke(Command(resume={"approve": False}), other, context=ASK)
    assert kept["tasks"] == state["tasks"]
    assert "Nothing was loaded" in kept["turn"].reply
    graph.invoke({"load": '{"tasks": []}'}, other, context=ASK)
    gone = graph.invoke(Command(resume={"approve": True}), other, context=ASK)
    assert gone["tasks"] == {}
    assert gone["turn"].reply == "Loaded 0 tasks."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"tasks": [{"id": "t1"}]}',
        '{"tasks": [], "messages": [{"role": "king", "text": ""}]}',
    ],
)
def test_what_is_not_an_export_is_not_loaded(graph: Taskgraph, text: str) -> None:
    say(graph, "task trip")
    reply = graph.invoke({"load": text}, CONFIG)["turn"].reply
    assert ("could not load" in reply) is bool(text)
    assert list(values(graph)) == ["t1"]


# ---- time travel and edits from outside ------------------------------------------------------------


def test_a_fork_from_an_earlier_turn(graph: Taskgraph) -> None:
    for text in ("task trip; put t1 place Rome", "set t2 Paris", "set t2 Oslo"):
        say(graph, text)
    ends = [state for state in graph.get_state_history(CONFIG) if not state.next]
    assert [state.values["tasks"]["t2"].value for state in ends if "t2" in state.values["tasks"]] == [
        "Oslo", "Paris", "Rome"
    ]  # fmt: skip
    fork = graph.invoke({"messages": [HumanMessage("set t2 Bonn")]}, ends[1].config)
    assert fork["tasks"]["t2"].value == "Bonn"
    assert [state.value for state in fork["tasks"]["t2"].history] == ["Rome", "Paris"]
    assert fork["turn"].number == 3
    assert values(graph)["t2"] == "Bonn"  # the fork is the newest now


def test_an_edit_from_outside_is_a_revision(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    graph.update_state(CONFIG, {"tasks": {"t2": {"value": "Oslo"}}})
    whole = graph.get_state(CONFIG).values["tasks"]["t2"].model_dump(mode="json")
    graph.update_state(CONFIG, {"tasks": {"t2": {**whole, "value": "Bonn"}}})
    node = graph.get_state(CONFIG).values["tasks"]["t2"]
    assert isinstance(node, TaskNode)
    assert [state.value for state in node.states()] == ["Rome", "Oslo", "Bonn"]
    assert node.op == "edit"
    assert "It is Bonn" in say(graph, "ask t2")["turn"].reply


def test_an_edit_is_of_the_turn_that_it_comes_after_and_told_as_one(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    say(graph, "which")
    whole = graph.get_state(CONFIG).values["tasks"]["t1"].model_dump(mode="json")
    edits = {"t1": whole, "t2": {"value": "Oslo"}, "t3": {"slot": "cart", "title": "cart"}}
    asyncio.run(graph.aupdate_state(CONFIG, {"tasks": edits}))
    tasks = graph.get_state(CONFIG).values["tasks"]
    assert [(tasks[key].op, tasks[key].turn) for key in edits] == [("add", 1), ("edit", 2), ("edit", 2)]
    assert tasks["t2"].said == tasks["t3"].said == "edited by hand"


def test_the_reply_says_what_was_edited_by_hand() -> None:
    graph = build_graph(default_services(Settings(memory=False, model="")), checkpointer=InMemorySaver())
    say(graph, "Plan a trip to Rome.")
    (key,) = [key for key, node in graph.get_state(CONFIG).values["tasks"].items() if node.value == "Rome"]
    graph.update_state(CONFIG, {"tasks": {key: {"value": "Oslo"}}})
    assert (
        "Because in turn 1 it was edited by hand." in say(graph, "Why is the destination Oslo?")["turn"].reply
    )
    assert "it was edited by hand" in say(graph, "Wasn't the destination Rome?")["turn"].reply


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"t2": None}, "t2: expected a task, got NoneType"),
        ({"t2": {"status": "lost"}}, "t2: status"),
        ({"t2": {"valeu": "Oslo"}}, "t2: there is no field 'valeu': a task has slot, title, value"),
        ({"t2": {"parent": "t9"}}, "t2 points to t9"),
        ({"t1": {"parent": "t2"}}, "cycle"),
        ({"t2": {"id": "t3"}}, "calls itself 't3'"),
        ({"t8": {"value": "x"}}, "t8: slot"),
        (["t2"], "expected a mapping"),
    ],
)
def test_a_bad_edit_is_refused(graph: Taskgraph, tasks: Any, message: str) -> None:
    say(graph, "task trip; put t1 place Rome")
    with pytest.raises(ValueError, match=message):
        graph.update_state(CONFIG, {"tasks": tasks})
    assert values(graph) == {"t1": None, "t2": "Rome"}


def test_plain_data_behind_an_overwrite_is_read_as_tasks(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome")
    plain = {key: node.model_dump() for key, node in graph.get_state(CONFIG).values["tasks"].items()}
    graph.update_state(CONFIG, {"tasks": Overwrite(plain)})
    assert "It is Rome" in say(graph, "ask t2")["turn"].reply
    say(graph, "set t2 Oslo")
    assert values(graph)["t2"] == "Oslo"
    assert all(type(node) is TaskNode for node in graph.get_state(CONFIG).values["tasks"].values())


# ---- context --------------------------------------------------------------------------------------


class HostContext:
    user_id, model = "ann", object()


@pytest.mark.parametrize(
    ("given", "user"),
    [
        (None, "local"),
        (Context(user_id="bo"), "bo"),
        ({"user_id": "cy", "unknown": 1}, "cy"),
        (HostContext(), "ann"),
        (object(), "local"),
    ],
)
def test_a_context_of_any_kind(given: Any, user: str) -> None:
    assert context_of(Runtime(context=given)).speaker == user


@pytest.mark.parametrize("caller", [{"identity": "dee"}, SimpleNamespace(identity="dee")])
@pytest.mark.parametrize("given", [None, Context(user_id="bo"), {"user_id": "bo"}, HostContext()])
def test_who_calls_a_server_is_the_user_whatever_the_context_says(given: Any, caller: Any) -> None:
    context = context_from(given, {"langgraph_auth_user": caller})
    assert (context.user_id, context.speaker) == ("dee", "dee")
    graph = build_graph(services(), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "one", "langgraph_auth_user": caller}}
    graph.invoke({"messages": [HumanMessage("task trip")]}, config, context=given)
    assert graph.get_state(CONFIG).values["owner"] == "dee"


@pytest.mark.parametrize("caller", [None, {"identity": ""}, SimpleNamespace(identity=None), "dee", {}])
def test_where_nobody_is_known_to_call_the_context_says_who_it_is(caller: Any) -> None:
    assert context_from(Context(user_id="bo"), {"langgraph_auth_user": caller}).user_id == "bo"
    assert context_from(None, {"langgraph_auth_user": caller}).user_id == ""


# ---- reducers -------------------------------------------------------------------------------------

_nodes = st.builds(
    lambda number, value: TaskNode(id=f"t{number}", slot=f"s{number}", title="x", value=value),
    st.integers(1, 4),
    st.sampled_from("abc"),
)
_task_writes = st.lists(
    st.lists(_nodes, max_size=3).map(lambda made: {node.id: node for node in made})
    | st.integers(1, 4).map(lambda n: {f"t{n}": {"slot": f"s{n}", "title": "x", "value": "edited"}}),
    max_size=6,
)
_messages = st.one_of(
    st.sampled_from("abc").map(HumanMessage),
    st.sampled_from("abc").map(lambda key: AIMessage("x", id=key)),
    st.sampled_from(["a", "b", REMOVE_ALL_MESSAGES]).map(lambda key: RemoveMessage(id=key)),
    st.just({"role": "user", "content": "hi"}),
    st.just(("user", "hi")),
)
_message_writes = st.lists(st.lists(_messages, max_size=3) | _messages, max_size=5)


@given(_task_writes, st.integers(0, 6))
def test_tasks_merge_the_same_in_any_batches(writes: list[Any], cut: int) -> None:
    start: dict[str, TaskNode] = {}
    whole = merge_tasks(start, writes)
    assert merge_tasks(merge_tasks(start, writes[:cut]), writes[cut:]) == whole
    assert merge_tasks(start, writes) == whole
    assert start == {}


@given(_message_writes, st.integers(0, 6))
def test_messages_merge_the_same_in_any_batches(writes: list[Any], cut: int) -> None:
    whole = merge_messages([], copy.deepcopy(writes))
    assert merge_messages(merge_messages([], writes[:cut]), writes[cut:]) == whole
    assert len({message.id for message in whole}) == len(whole)
    assert None not in {message.id for message in whole}


# ---- storage --------------------------------------------------------------------------------------


STRICT = """
import sqlite3, sys
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from taskloom.agent.graph import build_graph
from taskloom.agent.state import Turn
from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskNode
from tests.scripted import services
def graph():
    connection = sqlite3.connect(sys.argv[1], check_same_thread=False)
    return build_graph(services(), checkpointer=SqliteSaver(connection))
config = {"configurable": {"thread_id": "1"}}
for text in ("task trip; put t1 place Rome", "set t2 Paris; ask t2", "which"):
    graph().invoke({"messages": [HumanMessage(text)]}, config)
values = graph().get_state(config).values
assert {type(node) for node in values["tasks"].values()} == {TaskNode}, values
assert type(values["turn"]) is Turn and type(values["question"]) is Clarify
assert type(values["turn"].operations[0]) is Clarify
assert isinstance(values["tasks"]["t2"].history, tuple)
assert [type(m).__name__ for m in values["messages"][:2]] == ["HumanMessage", "AIMessage"]
"""


def test_types_come_back_under_strict_msgpack(tmp_path: Path) -> None:
    root = str(Path(__file__).parent.parent)
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", STRICT, str(tmp_path / "threads.sqlite")],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "eserializ" not in result.stderr


def test_a_start_without_a_model_loads_no_client_and_no_database() -> None:
    heavy = {"openai", "langchain_openai", "chromadb", "yaml", "trafilatura", "pypdf", "mcp"}
    code = f"import sys, taskloom.agent.threads.taskloom; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
