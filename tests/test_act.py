"""The act node in the graph: tools from slots and by choice, approvals, failures, limits, what is kept."""

import asyncio
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import SecretStr, ValidationError
from rich.console import Console

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.cli.chat import Chat
from taskloom.agent.cli.script import play, read_script
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.models.chooser import ModelChooser
from taskloom.agent.models.openai import chat_model
from taskloom.agent.plan.roles import tool_results
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.calls import stale_in
from taskloom.agent.turn.choice import Check, Choice, ChoiceError, Chooser, Situation
from taskloom.agent.turn.decisions import CallDecision, Decision, EditedAction
from taskloom.agent.turn.reading import Usage, View
from taskloom.agent.turn.state import Context, Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Operation, Undo, Update, apply
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.agents import ABOVE
from taskloom.tools.errors import ToolError, TransientError
from taskloom.tools.journal import Entry, MemoryJournal
from taskloom.tools.registry import Equipped, Registry, equip
from taskloom.tools.shared import SharedVariables
from tests import scripted
from tests.openai_server import OpenAIServer, Say
from tests.scripted import Commands

TRIP = "task trip; put t1 place Rome; put t1 day Friday"
ROOT = Path(__file__).parent.parent


def ground(steps: Sequence[Step], view: View) -> tuple[Operation, ...]:
    """The commands of `scripted`, and: yes, to the open question, undo, and hm for nothing."""
    found: list[Operation] = []
    for step in steps:
        if step.text == "yes":
            found += view.question.choices if view.question else ()
        elif step.text == "undo":
            found.append(Undo())
        elif step.text != "hm":
            found += scripted.ground([step.model_copy(update={"text": step.text.splitlines()[0]})], view)
    return tuple(found)


class Tools:
    """Two tools that are filled from slots, the second with side effects; both remember their calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.fails: BaseException | None = None
        self.after: BaseException | None = None

    def find(self, place: str, day: str) -> str:
        """Find flights.

        Args:
            place: where to.
            day: when.
        """
        self.calls.append(("find", place, day))
        if self.fails:
            raise self.fails
        return f"{place[:2].upper()}7 on {day}"

    def book(self, flights: str, seats: int = 1) -> str:
        """Book a flight.

        Args:
            flights: which.
            seats: how many.
        """
        self.calls.append(("book", flights, str(seats)))
        if self.after:
            raise self.after
        return f"booked {flights}"

    def registry(self, *more: Equipped) -> Registry:
        return Registry(
            [
                equip(self.find, needs=["place", "day"], gives="flights"),
                equip(self.book, needs=["flights"], gives="booking", side_effects=True),
                *more,
            ]
        )


def services(equipment: Equipment, chooser: Chooser | None = None) -> Services:
    template = TemplateResponder()
    voice = Voice(Commands(), template, chooser)
    made = scripted.services(template=template, ground=ground, tools=equipment)
    return Services(voice=lambda _: voice, template=template, ground=made.ground, tools=equipment)


class Talk:
    """A thread on disk with tools."""

    def __init__(self, home: Path, equipment: Equipment, chooser: Chooser | None = None) -> None:
        self.app = Taskloom(Threads(home), services(equipment, chooser))
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.told: list[str] = []
        self.decides: Callable[[int], bool | Decision] = lambda _: True

    def say(self, words: str, thread: str = "main", user: str = "local") -> Turn:
        def ask(approval: Any) -> bool | Decision:
            self.asked += [(one.name, one.args) for one in approval.action_requests]
            self.told += [one.description for one in approval.action_requests]
            return self.decides(len(approval.action_requests))

        return self.app.talk(words, thread=thread, ask=ask, context=Context(user_id=user))

    def tasks(self, thread: str = "main") -> TaskGraph:
        return self.app.tasks(thread)

    def slot(self, name: str, thread: str = "main") -> TaskNode:
        return [node for node in self.tasks(thread).values() if node.name == name][-1]


@pytest.fixture
def tools() -> Tools:
    return Tools()


Make = Callable[..., Talk]


@pytest.fixture
def make(tmp_path: Path) -> Any:
    opened: list[Talk] = []

    def made(registry: Registry, chooser: Chooser | None = None, home: Path = tmp_path, **more: Any) -> Talk:
        opened.append(Talk(home, Equipment(registry=registry, **more), chooser))
        return opened[-1]

    yield made
    for talk in opened:
        talk.app.close()


def outcomes(turn: Turn) -> list[tuple[str, str]]:
    return [(run.call.tool, run.status) for run in turn.tool_runs]


# ---- from slots -----------------------------------------------------------------------------------


def test_tools_run_one_after_the_other_from_slots_and_the_reply_is_written_after(
    make: Make, tools: Tools
) -> None:
    talk = make(tools.registry())
    turn = talk.say(TRIP)
    assert tools.calls == [("find", "Rome", "Friday"), ("book", "RO7 on Friday", "1")]
    assert outcomes(turn) == [("find", "done"), ("book", "done")]
    assert talk.asked == [("book", {"flights": "RO7 on Friday"})]
    flights, booking = talk.slot("flights"), talk.slot("booking")
    assert (flights.value, flights.status, flights.source) == ("RO7 on Friday", "done", "tool:find")
    assert flights.depends_on == ("t2", "t3")
    assert booking.depends_on == (flights.id,)
    assert "Flights: RO7 on Friday. Booking: booked RO7 on Friday." in turn.reply
    assert [run.task for run in turn.tool_runs] == [flights.id, booking.id]


def test_nothing_runs_again_without_a_change(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.say(TRIP)
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    assert talk.say("hm").tool_runs == ()
    assert len(tools.calls) == 2


def test_stale_results_are_offered_and_a_yes_makes_all_of_them(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.say(f"{TRIP}; task tour; put t4 place Oslo; put t4 day Monday")
    tools.calls.clear()
    turn = talk.say("set t2 Bergen; set t5 Turku")
    assert tools.calls == []
    assert turn.question is not None
    assert turn.reply.endswith("are out of date. Shall I look them up again?")
    turn = talk.say("yes")
    assert sorted(tools.calls[:2]) == [("find", "Bergen", "Friday"), ("find", "Turku", "Monday")]
    assert sorted(tools.calls[2:]) == [("book", "BE7 on Friday", "1"), ("book", "TU7 on Monday", "1")]
    assert {node.stale_since for node in talk.tasks().values()} == {None}
    assert turn.question is None


def test_an_offer_ends_with_what_it_was_about(make: Make, tools: Tools) -> None:
    talk = make(tools.registry(), rerun="offer")
    talk.say(TRIP)
    offer = talk.say("set t2 Bergen").question
    assert offer is not None
    stale = stale_in(offer, talk.tasks())
    assert {node.id for node in stale} == {one.task for one in offer.choices if isinstance(one, Update)}
    talk.say("ask t2")
    assert talk.app.state("main").values["question"] == offer, "it can still be answered"
    fresh = talk.tasks().with_nodes(node.model_copy(update={"stale_since": None}) for node in stale)
    assert stale_in(offer, fresh) == ()


def test_stale_results_that_are_not_wanted_stay_as_they_are(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.say(TRIP)
    talk.say("set t2 Bergen")
    talk.say("hm")
    assert len(tools.calls) == 2
    assert talk.slot("flights").stale_since == 2


def test_rerun_do_makes_stale_results_again_at_once(make: Make, tools: Tools) -> None:
    talk = make(tools.registry(), rerun="do")
    talk.say(TRIP)
    turn = talk.say("set t2 Bergen")
    assert tools.calls[2:] == [("find", "Bergen", "Friday"), ("book", "BE7 on Friday", "1")]
    assert turn.question is None
    assert talk.slot("booking").value == "booked BE7 on Friday"


def test_undo_takes_results_back_and_makes_no_call(make: Make, tools: Tools) -> None:
    talk = make(tools.registry(), rerun="do")
    talk.say("task trip; put t1 place Rome")
    talk.say("put t1 day Friday")
    turn = talk.say("undo")
    assert turn.tool_runs == ()
    assert "Only the plan is as before: what book did stays in effect." in turn.reply
    assert [node.name for node in talk.tasks().active] == ["trip", "place"]
    talk.say("undo")  # does it again
    assert len(tools.calls) == 2
    assert talk.slot("booking").status in ("done", "removed")


def test_calls_that_do_not_wait_for_each_other_run_side_by_side(make: Make) -> None:
    together = threading.Barrier(8, timeout=20)
    order: list[str] = []

    def look(place: str) -> str:
        """Look at a place.

        Args:
            place: which.
        """
        together.wait()  # breaks unless all eight are called at once
        order.append("look")
        return f"seen {place}"

    def note(seen: str) -> str:
        """Note it.

        Args:
            seen: what.
        """
        order.append("note")
        return f"noted {seen}"

    registry = Registry([equip(note, needs=["seen"]), equip(look, needs=["place"], gives="seen")])
    words = "; ".join(f"task trip{n}; put t{2 * n + 1} place P{n}" for n in range(8))
    turn = make(registry).say(words)
    assert order == ["look"] * 8 + ["note"] * 8
    assert [run.text for run in turn.tool_runs[8:]] == [f"noted seen P{n}" for n in range(8)]


# ---- failures -------------------------------------------------------------------------------------


def test_a_failure_is_told_kept_and_not_repeated(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    tools.fails = ToolError("no flights on that day")
    turn = talk.say(TRIP)
    assert outcomes(turn) == [("find", "failed")]
    assert "Find failed: no flights on that day. Shall I try again?" in turn.reply
    flights = talk.slot("flights")
    assert (flights.status, flights.value, flights.said) == ("open", None, "find: no flights on that day")
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    tools.fails = None
    assert outcomes(talk.say("set t3 Sunday")) == [("find", "done"), ("book", "done")]
    assert [call[2] for call in tools.calls if call[0] == "find"] == ["Friday", "Sunday"]


def test_a_yes_tries_again_and_a_second_failure_is_a_revision_too(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    tools.fails = ToolError("closed")
    talk.say(TRIP)
    tools.fails = ToolError("still closed")
    assert outcomes(talk.say("yes")) == [("find", "failed")]
    assert [state.said for state in talk.slot("flights").states()] == [
        "find: closed", "try again", "find: still closed",
    ]  # fmt: skip
    tools.fails = None
    assert outcomes(talk.say("yes")) == [("find", "done"), ("book", "done")]


def test_what_an_undo_brings_back_is_tried_once_more(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.say("task trip; put t1 place Rome")
    tools.fails = ToolError("closed")
    talk.say("put t1 day Friday")
    talk.say("set t3 Sunday")
    assert outcomes(talk.say("undo"))[:1] in ([], [("find", "failed")])
    made = len(tools.calls)
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    assert len(tools.calls) == made


def test_a_parameter_of_the_wrong_form_is_told_and_nothing_is_called(make: Make) -> None:
    called = []

    def reserve(guests: int) -> str:
        """Reserve a table.

        Args:
            guests: how many.
        """
        called.append(guests)
        return "reserved"

    talk = make(Registry([equip(reserve, needs=["guests"], side_effects=True)]))
    turn = talk.say("task dinner; put t1 guests plenty")
    assert outcomes(turn) == [("reserve", "failed")]
    assert "guests" in turn.tool_runs[0].text
    assert turn.question is None  # the same words would fail again
    assert not called
    assert not talk.asked
    talk.say("set t2 4")
    assert called == [4]


def test_transient_errors_are_tried_again_but_never_with_side_effects(make: Make) -> None:
    count = {"read": 0, "write": 0}

    def read(place: str) -> str:
        """Read about a place.

        Args:
            place: which.
        """
        count["read"] += 1
        if count["read"] < 3:
            raise TransientError("busy")
        return "sunny"

    def write(place: str) -> str:
        """Write to a place.

        Args:
            place: which.
        """
        count["write"] += 1
        raise TransientError("busy")

    made = [equip(read, needs=["place"]), equip(write, needs=["place"], side_effects=True)]
    turn = make(Registry(made)).say("task trip; put t1 place Rome")
    assert outcomes(turn) == [("read", "done"), ("write", "failed")]
    assert count == {"read": 3, "write": 1}


def test_a_tool_that_hangs_is_stopped_and_the_time_of_a_turn_has_an_end(make: Make) -> None:
    stop = threading.Event()

    def wait(place: str) -> str:
        """Wait for a place.

        Args:
            place: which.
        """
        stop.wait(30)
        return "late"

    talk = make(Registry([equip(wait, needs=["place"])]), seconds=0.3)
    begun = time.monotonic()
    turn = talk.say("; ".join(f"task trip{n}; put t{2 * n + 1} place P{n}" for n in range(20)))
    stop.set()
    assert time.monotonic() - begun < 15
    assert {status for _, status in outcomes(turn)} == {"failed"}
    assert "took longer than" in turn.tool_runs[0].text
    assert any("time for the calls of this turn is used up" in run.text for run in turn.tool_runs[16:])


def test_a_large_result_is_kept_whole_and_shown_cut(make: Make) -> None:
    def read(place: str) -> str:
        """Read about a place.

        Args:
            place: which.
        """
        return f"\x07{place} " * 10_000

    talk = make(Registry([equip(read, needs=["place"])]))
    turn = talk.say("task trip; put t1 place Rome")
    assert talk.app.state().values["shared"]["read_1"] == "\x07Rome " * 10_000
    assert len(turn.reply) < 1_000
    value = talk.slot("read").value or ""
    assert value.endswith("… (all 60,000 characters: shared variable read_1)")
    assert len(value) < 2_200


@pytest.mark.parametrize("result", [None, "", " \n", "\ud800"])
def test_a_result_that_says_nothing_still_completes_its_task(make: Make, result: str | None) -> None:
    def ping(place: str) -> str | None:
        """Ping a place.

        Args:
            place: which.
        """
        return result

    talk = make(Registry([equip(ping, needs=["place"])]))
    assert outcomes(talk.say("task trip; put t1 place Rome")) == [("ping", "done")]
    assert (talk.slot("ping").status, talk.slot("ping").value) == (
        "done",
        "?" if result == "\ud800" else "done",
    )
    assert talk.say("put t1 day Friday").tool_runs == ()


# ---- approvals ------------------------------------------------------------------------------------


def test_a_rejected_call_is_not_asked_again_until_something_changes(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.decides = lambda _: Decision(decisions=(CallDecision(type="reject", message="too expensive"),))
    turn = talk.say(TRIP)
    assert outcomes(turn) == [("find", "done"), ("book", "rejected")]
    assert "I did not book: too expensive." in turn.reply
    assert (talk.slot("booking").status, talk.slot("booking").said) == ("inactive", "book: too expensive")
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    talk.say("set t2 Bergen")
    assert outcomes(talk.say("yes")) == [("find", "done"), ("book", "rejected")]
    assert talk.asked[-1] == ("book", {"flights": "BE7 on Friday"})
    talk.decides = lambda _: True
    talk.say("set t3 Sunday")
    assert outcomes(talk.say("yes")) == [("find", "done"), ("book", "done")]
    assert talk.told[-1] == "booking for trip. The last time: too expensive"
    assert [name for name, *_ in tools.calls] == ["find", "find", "find", "book"]


def test_a_rejected_repetition_is_not_asked_for_again_either(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.say(TRIP)
    talk.decides = lambda _: False
    talk.say("set t2 Bergen")
    assert outcomes(talk.say("yes")) == [("find", "done"), ("book", "rejected")]
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    talk.say("set t2 Oslo")
    assert ("book", "rejected") in outcomes(talk.say("yes"))


def test_parameters_can_be_edited(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    edit = EditedAction(name="book", args={"seats": 2})
    talk.decides = lambda _: Decision(decisions=(CallDecision(type="edit", edited_action=edit),))
    turn = talk.say(TRIP)
    assert tools.calls[-1] == ("book", "RO7 on Friday", "2")
    assert turn.tool_runs[-1].call.args == {"flights": "RO7 on Friday", "seats": 2}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (EditedAction(args={"seats": "many"}), "seats"),
        (EditedAction(args={"meal": "fish"}), "book has no parameter meal"),
        (EditedAction(name="find", args={}), "an approval of book cannot turn it into find"),
    ],
)
def test_an_edit_that_does_not_fit_calls_nothing(
    make: Make, tools: Tools, edit: EditedAction, told: str
) -> None:
    talk = make(tools.registry())
    talk.decides = lambda _: Decision(decisions=(CallDecision(type="edit", edited_action=edit),))
    turn = talk.say(TRIP)
    assert outcomes(turn)[-1] == ("book", "failed")
    assert told in turn.tool_runs[-1].text
    assert [name for name, *_ in tools.calls] == ["find"]


TWO = f"{TRIP}; task tour; put t4 place Oslo; put t4 day Monday"


def test_several_calls_are_decided_one_by_one(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    reject, approve = CallDecision(type="reject", message="no"), CallDecision(type="approve")
    talk.decides = lambda count: Decision(decisions=(reject, approve)) if count == 2 else False
    turn = talk.say(TWO)
    assert [args["flights"] for _, args in talk.asked] == ["RO7 on Friday", "OS7 on Monday"]
    assert [(run.call.args["flights"], run.status) for run in turn.tool_runs if run.call.tool == "book"] == [
        ("RO7 on Friday", "rejected"), ("OS7 on Monday", "done"),
    ]  # fmt: skip


def test_what_is_not_decided_on_is_rejected(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.decides = lambda _: Decision(decisions=(CallDecision(type="approve"),))
    turn = talk.say(TWO)
    assert [run.text for run in turn.tool_runs if run.status == "rejected"] == ["there was no decision on it"]
    assert [call[1] for call in tools.calls if call[0] == "book"] == ["RO7 on Friday"]


@pytest.mark.parametrize(
    "answer",
    [
        "maybe", {"approve": None}, {"decisions": []}, {"approve": "perhaps"},
        {"decisions": [{"type": "edit"}]}, {"decisions": [{"type": "later"}]}, [True], 7,
        {"decisions": [{"type": "approve", "edited_action": {"args": {"seats": 9}}}]},
    ],
)  # fmt: skip
def test_a_wrong_answer_to_an_approval_is_an_error_and_can_be_given_again(tools: Tools, answer: Any) -> None:
    graph = build_graph(services(Equipment(registry=tools.registry())), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}
    graph.invoke({"messages": [HumanMessage(TRIP)]}, config)
    with pytest.raises(ValidationError):
        graph.invoke(Command(resume=answer), config)
    assert graph.get_state(config).interrupts
    assert [name for name, *_ in tools.calls] == ["find"]
    ended = graph.invoke(Command(resume={"approve": True}), config)
    assert outcomes(ended["turn"]) == [("find", "done"), ("book", "done")]


def test_a_new_message_instead_of_an_answer_calls_nothing(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    turn = talk.app.talk(TRIP)  # nobody is asked
    assert turn.reply == "Shall I go on with book (flights RO7 on Friday)?"
    assert talk.app.pending() is not None
    turn = talk.app.talk("ask t2")
    assert "Rome" in turn.reply
    assert talk.app.pending() is None
    assert [name for name, *_ in tools.calls] == ["find"]
    assert outcomes(talk.say("put t1 hotel Astoria")) == [("find", "done"), ("book", "done")]


def test_a_turn_left_at_an_approval_goes_on_in_another_process(make: Make, tools: Tools) -> None:
    make(tools.registry()).app.talk(TRIP)
    talk = make(tools.registry())
    turn = talk.app.decide(True)
    assert outcomes(turn) == [("find", "done"), ("book", "done")]
    assert [name for name, *_ in tools.calls] == ["find", "book"]
    assert talk.slot("booking").value == "booked RO7 on Friday"


def parent_of(inner: Taskgraph) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("taskloom", inner)
    builder.add_edge(START, "taskloom")
    builder.add_edge("taskloom", END)
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        ({"approve": True}, ("book", "done")),
        ({"approve": False}, ("book", "rejected")),
        ({"decisions": [{"type": "approve"}]}, ("book", "done")),
        (
            {"decisions": [{"type": "edit", "edited_action": {"name": "book", "args": {"seats": 3}}}]},
            ("book", "done"),
        ),
        ({"decisions": [{"type": "reject", "message": "no"}]}, ("book", "rejected")),
    ],
)
def test_a_parent_graph_approves(tools: Tools, answer: dict[str, Any], last: tuple[str, str]) -> None:
    inner = build_graph(services(Equipment(registry=tools.registry())), checkpointer=True)
    parent, config = parent_of(inner), {"configurable": {"thread_id": "1"}}
    asked = parent.invoke({"messages": [HumanMessage(TRIP)]}, config)
    [interrupted] = asked["__interrupt__"]
    assert interrupted.value["action_requests"][0]["args"] == {"flights": "RO7 on Friday"}
    assert "edited_action" in json.dumps(interrupted.response_schema)
    ended = parent.invoke(Command(resume=answer), config)
    assert "__interrupt__" not in ended
    inside = parent.get_state(config, subgraphs=True)
    assert not inside.interrupts
    assert [name for name, *_ in tools.calls] == ["find", *(["book"] if last[1] == "done" else [])]
    again = parent.invoke({"messages": [HumanMessage("put t1 hotel Astoria")]}, config)
    assert "__interrupt__" not in again
    assert [name for name, *_ in tools.calls].count("book") == (last[1] == "done")


def test_graphs_without_a_memory_of_their_own_do_not_take_each_others_calls_for_theirs(tools: Tools) -> None:
    inner = build_graph(services(Equipment(registry=tools.registry())))
    parent, config = parent_of(inner), {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        parent.invoke({"messages": [HumanMessage(TRIP)]}, config)
        parent.invoke(Command(resume={"approve": True}), config)
    assert [name for name, *_ in tools.calls] == ["find", "book"] * 2


# ---- who may call what ----------------------------------------------------------------------------


def test_tools_of_other_users_and_kinds_are_not_called(make: Make) -> None:
    called: list[str] = []

    def tool(name: str) -> Any:
        def run(place: str) -> str:
            called.append(name)
            return name

        run.__name__, run.__doc__ = name, "Do it.\n\nArgs:\n    place: where.\n"
        return run

    registry = Registry(
        [
            equip(tool("hers"), needs=["place"], users=["ann"]),
            equip(tool("trips"), needs=["place"], schemas=["trip"]),
            equip(tool("hotels"), needs=["place"], schemas=["hotel"]),
        ]
    )
    talk = make(registry)
    schemas = [{"name": n, "description": n, "slots": [{"name": "place"}]} for n in ("trip", "hotel")]
    talk.app.talk("task trip; put t1 place Rome", thread="a", context=Context(user_id="bob", schemas=schemas))
    assert called == ["trips"]
    talk.say("task trip; put t1 place Rome", thread="b", user="ann")
    assert called == ["trips", "hers"]


def test_a_tool_above_is_never_called(tools: Tools) -> None:
    graph = build_graph(services(Equipment(registry=tools.registry())), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "1", ABOVE: ("find",)}}
    ended = graph.invoke({"messages": [HumanMessage(TRIP)]}, config)
    assert ended["turn"].tool_runs == ()
    assert tools.calls == []


# ---- chosen by a model ----------------------------------------------------------------------------


class Choosing:
    """A chooser with a script: (tool, task number, parameters), or None to end."""

    def __init__(self, script: Sequence[Any], usage: Usage | None = None) -> None:
        self.script, self.usage, self.seen = list(script), usage or Usage(), list[Situation]()
        self.args: dict[str, Any] = {}

    def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
        self.seen.append(situation)
        due = self.script.pop(0) if self.script else None
        if isinstance(due, Exception):
            raise due
        if due is None:
            return None, self.usage
        tool, task, self.args = due
        return Choice(observation="", thoughts="", subtask=f"use {tool}", tool=tool, task=task), self.usage

    def parameters(
        self, situation: Situation, choice: Choice, schema: Mapping[str, Any], check: Check
    ) -> tuple[dict[str, Any], Usage]:
        return check(self.args), self.usage


def weather(place: str, day: str = "today") -> str:
    """The weather of a place.

    Args:
        place: where.
        day: when.
    """
    return f"sunny in {place} {day}"


def pay(amount: int) -> str:
    """Pay an amount.

    Args:
        amount: how much.
    """
    return f"paid {amount}"


FREE = Registry([equip(weather), equip(pay, side_effects=True)])


def test_a_model_chooses_and_the_result_becomes_a_part(make: Make) -> None:
    chooser = Choosing([("weather", 1, {"place": "Rome"}), ("pay", 1, {"amount": 5})])
    talk = make(FREE, chooser)
    turn = talk.say("task trip; put t1 place Rome")
    assert outcomes(turn) == [("weather", "done"), ("pay", "done")]
    result = talk.slot("weather")
    assert (result.parent, result.value, result.title) == ("t1", "sunny in Rome today", "use weather")
    assert result.depends_on == ("t2",)
    assert talk.asked == [("pay", {"amount": 5})]
    assert len(chooser.seen) == 3
    assert chooser.seen[1].completed == ("weather(place Rome): done, sunny in Rome today",)
    assert {name for name, _ in chooser.seen[0].tools} == {"weather", "pay"}


def test_an_open_part_takes_the_result_itself(make: Make) -> None:
    class Outlook(Choosing):
        def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
            [number] = [n for n, line in enumerate(situation.tasks, 1) if "outlook" in line]
            self.script = [] if situation.completed else [("weather", number, {"place": "Rome"})]
            return super().choose(situation)

    talk = make(FREE, Outlook([]))
    part = {"slot": "trip.outlook", "title": "outlook", "parent": "t1"}
    config: RunnableConfig = {"configurable": {"thread_id": "main"}}
    talk.app.load(TaskGraph([TaskNode(id="t1", slot="trip", title="trip")]).to_json())
    talk.app.graph.update_state(config, {"tasks": {"t2": part}})
    talk.say("put t1 place Rome")
    assert (talk.tasks()["t2"].value, talk.tasks()["t2"].status) == ("sunny in Rome today", "done")
    assert talk.tasks()["t2"].depends_on == ("t3",)


def test_a_chooser_that_never_ends_is_ended(make: Make) -> None:
    chooser = Choosing([("weather", 1, {"place": f"P{n}"}) for n in range(50)])
    turn = make(FREE, chooser, max_subtasks=3).say("task trip")
    assert len(turn.tool_runs) == len(chooser.seen) == 3


def test_the_cost_of_choosing_has_an_end(make: Make) -> None:
    chooser = Choosing([("weather", 1, {"place": f"P{n}"}) for n in range(50)], Usage(1, 300, 10))
    turn = make(FREE, chooser, max_subtasks=50, tokens=1_000).say("task trip")
    assert len(turn.tool_runs) == 2
    assert turn.prompt_tokens + turn.completion_tokens == 12 + 2 * 620
    assert turn.model_calls == 5


def test_the_limit_of_steps_of_the_host_does_not_cut_a_turn_short() -> None:
    chooser = Choosing([("weather", 1, {"place": f"P{n}"}) for n in range(20)])
    made = services(Equipment(registry=FREE, max_subtasks=20), chooser)
    graph = build_graph(made, checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "1"}, "recursion_limit": 12}
    ended = graph.invoke({"messages": [HumanMessage("task trip")]}, config)
    assert len(ended["turn"].tool_runs) == 20


@pytest.mark.parametrize(
    ("due", "told"),
    [
        (("nuke", 1, {}), "there is no tool 'nuke'"),
        (("weather", 99, {"place": "Rome"}), "for task 99"),
        (("weather", 1, {"town": "Rome"}), "weather has no parameter town"),
        (ChoiceError("the model cannot be reached", Usage(1, 7, 0)), "the model cannot be reached"),
    ],
)
def test_a_choice_that_cannot_be_made_is_told(make: Make, due: Any, told: str) -> None:
    turn = make(FREE, Choosing([due])).say("task trip")
    assert turn.tool_runs == ()
    assert "I could not go on by tools: " in turn.note
    assert told in turn.note
    assert told in turn.reply


def test_a_chooser_cannot_name_what_the_user_may_not_use(make: Make) -> None:
    registry = Registry([equip(weather), equip(pay, users=["ann"], side_effects=True)])
    talk = make(registry, Choosing([("pay", 1, {"amount": 5})]))
    turn = talk.say("task trip", user="bob")
    assert turn.tool_runs == ()
    assert "there is no tool 'pay'" in turn.note


def test_the_same_call_with_side_effects_is_made_once_in_a_turn(make: Make) -> None:
    paid: list[int] = []

    def give(amount: int) -> str:
        """Give an amount.

        Args:
            amount: how much.
        """
        paid.append(amount)
        return "given"

    chooser = Choosing([("give", 1, {"amount": 5}), ("give", 1, {"amount": 5}), ("give", 1, {"amount": 6})])
    talk = make(Registry([equip(give, side_effects=True)]), chooser)
    turn = talk.say("task gift")
    assert paid == [5, 6]
    assert len(talk.asked) == 2
    assert "interrupted" not in turn.reply


def model_chooser(url: str) -> ModelChooser:
    given = Settings(model="small", openai_base_url=url, openai_api_key=SecretStr("any"), model_timeout=2.0)
    return ModelChooser(chat_model(given))


def choice(tool: str, task: int = 1) -> Say:
    return Say(
        json.dumps({"observation": "o", "thoughts": "t", "subtask": "do it", "tool": tool, "task": task})
    )


def test_a_model_chooses_over_the_protocol(make: Make) -> None:
    script = [choice("weather"), Say('{"place": "Rome"}'), choice("none", 0)]
    with OpenAIServer(script) as server:
        turn = make(FREE, model_chooser(server.url)).say("task trip; put t1 place Rome")
        asked = [request["messages"][-1]["content"] for request in server.requests]
    assert outcomes(turn) == [("weather", "done")]
    assert turn.model_calls == 1 + 3
    assert "Tools:" in asked[0]
    assert "Its parameters:" in asked[1]
    assert "pay:" not in asked[1]
    assert 'Done in this turn:\n"weather(place Rome): done, sunny in Rome today"' in asked[2]


def test_type_errors_go_back_to_the_model_at_most_twice(make: Make) -> None:
    wrong = [choice("pay"), Say('{"amount": "much"}'), Say('{"amount": "more"}')]
    with OpenAIServer([*wrong, Say('{"amount": 5}'), choice("none", 0)]) as server:
        turn = make(FREE, model_chooser(server.url)).say("task gift")
        repaired = server.requests[2]["messages"]
        assert len(server.requests) == 5
    assert outcomes(turn) == [("pay", "done")]
    assert repaired[-2] == {"content": '{"amount": "much"}', "role": "assistant"}
    assert "amount" in repaired[-1]["content"]
    with OpenAIServer([*wrong, Say('{"amount": "most"}')]) as server:
        turn = make(FREE, model_chooser(server.url), max_subtasks=1).say("task gift", thread="2")
        assert len(server.requests) == 4
    assert turn.tool_runs == ()
    assert "the model's answer did not fit: amount" in turn.note


@pytest.mark.parametrize(
    "answer", [choice("nuke"), choice("pay", 7), Say("no JSON"), Say("[1]"), Say('{"a": 1}')]
)
def test_a_choice_that_does_not_fit_goes_back_at_most_twice(make: Make, answer: Say) -> None:
    with OpenAIServer([answer]) as server:
        turn = make(FREE, model_chooser(server.url), max_subtasks=1).say("task gift")
        assert len(server.requests) == 3
    assert turn.tool_runs == ()
    assert "I could not go on by tools" in turn.note


def test_a_model_that_cannot_be_reached_is_told_and_the_turn_stands(make: Make) -> None:
    talk = make(FREE, model_chooser("http://127.0.0.1:9/v1"), max_subtasks=1)
    turn = talk.say("task gift")
    assert "I could not go on by tools" in turn.reply
    assert [node.name for node in talk.tasks().active] == ["gift"]


# ---- turns that were lost -------------------------------------------------------------------------


def test_to_say_the_same_again_is_to_want_it_again(make: Make, tools: Tools) -> None:
    talk = make(tools.registry())
    talk.app.talk(TRIP)  # waits for an approval that never comes
    assert outcomes(talk.say(TRIP)) == [("find", "done"), ("book", "done")]
    assert talk.say(TRIP).tool_runs == ()
    assert [name for name, *_ in tools.calls] == ["find", "find", "book"]


class Killed(BaseException):
    """Ends a run where it is, as a kill would; the journal stays."""


class Dying(MemoryJournal):
    """A journal that outlives a run which breaks off right before a call is ended: it has had its effect."""

    dying = True

    def end(self, key: str, result: Any) -> None:
        if self.dying:
            raise Killed
        super().end(key, result)


class Breaking(MemoryJournal):
    """A journal that outlives a run which breaks off right after a call is ended."""

    broken = False

    def end(self, key: str, result: Any) -> None:
        super().end(key, result)
        if self.broken:
            self.broken = False
            raise Killed


def test_a_call_that_was_ended_in_a_lost_turn_is_not_asked_for_or_made_again(
    make: Make, tools: Tools
) -> None:
    journal = Breaking()
    talk = make(tools.registry(), journal=journal)
    journal.broken = True
    with pytest.raises(Killed):
        talk.say(TRIP)
    assert len(talk.tasks()) == 3  # as they were when it asked
    turn = talk.say(TRIP)
    assert outcomes(turn) == [("find", "done"), ("book", "done")]
    assert turn.tool_runs[-1].earlier
    assert "Before I was interrupted: booking: booked RO7 on Friday." in turn.reply
    assert talk.slot("booking").value == "booked RO7 on Friday"
    assert len(talk.asked) == 1
    assert [name for name, *_ in tools.calls] == ["find", "book", "find"]
    assert journal.open("main") == ()


def test_its_result_is_used_in_a_later_turn_as_well(make: Make, tools: Tools) -> None:
    journal = Breaking()
    talk = make(tools.registry(), journal=journal)
    talk.app.talk(TRIP)  # waits for the approval, the tasks are on disk
    journal.broken = True
    with pytest.raises(Killed):
        talk.app.decide(True)
    turn = talk.say("hm")  # touches nothing
    assert turn.number == 2
    assert outcomes(turn) == [("find", "done"), ("book", "done")]
    assert talk.slot("booking").value == "booked RO7 on Friday"
    assert not talk.asked
    assert [name for name, *_ in tools.calls].count("book") == 1


def test_a_call_that_was_begun_in_a_lost_turn_is_reported_and_made_only_on_request(
    make: Make, tools: Tools
) -> None:
    journal = Dying()
    talk = make(tools.registry(), journal=journal)
    with pytest.raises(Killed):
        talk.say(TRIP)
    journal.dying = False
    talk.asked.clear()
    turn = talk.say(TRIP)
    assert outcomes(turn) == [("find", "done"), ("book", "unknown")]
    assert "I cannot tell whether it went through" in turn.reply
    assert turn.reply.endswith("Shall I try again?")
    assert not talk.asked
    assert journal.open("main") == ()
    assert talk.say("put t1 hotel Astoria").tool_runs == ()
    talk.say("set t2 Rome; set t3 Friday")
    assert [name for name, *_ in tools.calls].count("book") == 1
    talk.say("put t1 meal fish")
    talk.app.graph.update_state(
        {"configurable": {"thread_id": "main"}}, {"question": turn.question}, as_node="remember"
    )
    assert outcomes(talk.say("yes")) == [("book", "done")]
    assert "The last time: it was interrupted" in talk.told[-1]
    assert [name for name, *_ in tools.calls].count("book") == 2


def test_what_no_turn_wants_any_more_is_told_all_the_same(make: Make, tools: Tools) -> None:
    journal = Breaking()
    talk = make(tools.registry(), journal=journal)
    journal.broken = True
    with pytest.raises(Killed):
        talk.say(TRIP)
    turn = talk.say("drop t1; task dinner")
    assert "Before I was interrupted: booking: booked RO7 on Friday." in turn.reply
    assert [node.name for node in talk.tasks().active] == ["dinner"]
    assert "interrupted" not in talk.say("hm").reply
    assert journal.open("main") == ()


def test_decisions_go_to_the_calls_that_were_shown_after_a_break(make: Make, tools: Tools) -> None:
    journal = Breaking()
    talk = make(tools.registry(), journal=journal)
    talk.app.talk(TWO)
    approve, reject = CallDecision(type="approve"), CallDecision(type="reject", message="no")
    both = Decision(decisions=(approve, reject))
    journal.broken = True
    with pytest.raises(Killed):
        talk.app.decide(both)
    turn = talk.app.decide(both)
    made = {run.call.args["flights"]: run.status for run in turn.tool_runs if run.call.tool == "book"}
    assert made == {"RO7 on Friday": "done", "OS7 on Monday": "rejected"}
    assert [call[1] for call in tools.calls if call[0] == "book"] == ["RO7 on Friday"]


def test_one_approval_is_one_call_whatever_its_parameters_are_edited_to(make: Make, tools: Tools) -> None:
    journal = Breaking()
    talk = make(tools.registry(), journal=journal)
    talk.app.talk(TRIP)

    def edited(seats: int) -> Decision:
        action = EditedAction(args={"seats": seats})
        return Decision(decisions=(CallDecision(type="edit", edited_action=action),))

    journal.broken = True
    with pytest.raises(Killed):
        talk.app.decide(edited(2))
    turn = talk.app.decide(edited(3))
    assert turn.tool_runs[-1].earlier
    assert [call[2] for call in tools.calls if call[0] == "book"] == ["2"]


def test_a_thread_of_the_same_name_finds_no_calls_of_a_deleted_one(make: Make, tools: Tools) -> None:
    journal = Dying()
    talk = make(tools.registry(), journal=journal)
    with pytest.raises(Killed):
        talk.say(TRIP)
    journal.dying = False
    talk.app.delete("main")
    assert journal.open("main") == ()
    assert outcomes(talk.say(TRIP)) == [("find", "done"), ("book", "done")]


def test_calls_stay_in_the_journal_until_a_turn_has_told_of_them(tools: Tools) -> None:
    class Mute(TemplateResponder):
        def respond(self, brief: Any) -> Any:
            raise Killed

    journal = MemoryJournal()
    made = services(Equipment(registry=tools.registry(), journal=journal))
    saver, config = InMemorySaver(), RunnableConfig(configurable={"thread_id": "1"})
    mute = Services(
        voice=made.voice, template=Mute(), ground=ground, tools=made.tools, replies="template"
    )  # fmt: skip
    graph = build_graph(mute, checkpointer=saver)
    graph.invoke({"messages": [HumanMessage(TRIP)]}, config)
    with pytest.raises(Killed):
        graph.invoke(Command(resume={"approve": True}), config)
    assert len(journal.open("1")) == 1
    ended = build_graph(made, checkpointer=saver).invoke({"messages": [HumanMessage("hm")]}, config)
    assert "Before I was interrupted: booking: booked RO7 on Friday." in ended["turn"].reply
    build_graph(made, checkpointer=saver).invoke({"messages": [HumanMessage("hm")]}, config)
    assert journal.open("1") == ()
    assert [name for name, *_ in tools.calls] == ["find", "book"]


def test_a_journal_that_cannot_be_written_lets_no_call_through(make: Make, tools: Tools) -> None:
    class Full(MemoryJournal):
        def begin(self, entry: Entry) -> Entry | None:
            raise ToolError("the journal of calls fails: disk full")

    talk = make(tools.registry(), journal=Full())
    turn = talk.say(TRIP)
    assert outcomes(turn) == [("find", "done"), ("book", "failed")]
    assert "it was not called: the journal of calls fails: disk full" in turn.reply
    assert [name for name, *_ in tools.calls] == ["find"]


def test_a_result_that_cannot_be_written_down_is_told_all_the_same(make: Make, tools: Tools) -> None:
    class FullAtTheEnd(MemoryJournal):
        def end(self, key: str, result: Any) -> None:
            raise ToolError("the journal of calls fails: disk full")

    turn = make(tools.registry(), journal=FullAtTheEnd()).say(TRIP)
    assert outcomes(turn) == [("find", "done"), ("book", "done")]


# ---- what is kept, and where ----------------------------------------------------------------------


def test_the_inner_nodes_are_seen(tools: Tools) -> None:
    graph = build_graph(services(Equipment(registry=tools.registry())))
    assert dict(graph.get_subgraphs())["act"].name == "act"
    drawn = {name.rpartition(":")[2] for name in graph.get_graph(xray=True).nodes}
    assert {"choose", "approve", "call", "record", "finish"} <= drawn


def test_each_call_is_told_while_it_is_made(tools: Tools) -> None:
    graph = build_graph(services(Equipment(registry=tools.registry())))
    said: Any = {"messages": [HumanMessage(TRIP)]}
    told: list[Any] = list(graph.stream(said, stream_mode="custom"))
    assert {"node": "act", "doing": "Calling find", "tool": "find", "task": "t1"} in told


def plan(size: int) -> str:
    nodes = [TaskNode(id="t1", slot="trip", title="trip", turn=1)]
    nodes += [
        TaskNode(id=f"t{n}", slot=f"trip.note{n}", title=f"note {n}", value=f"word {n} " * 5, parent="t1",
                 status="filled", turn=1)
        for n in range(2, size + 1)
    ]  # fmt: skip
    return TaskGraph(nodes).to_json()


def bytes_of(home: Path) -> int:
    with sqlite3.connect(home / "threads.sqlite") as database:
        (held,) = database.execute(
            "SELECT SUM(LENGTH(checkpoint) + LENGTH(metadata)) FROM checkpoints"
        ).fetchone()
        (written,) = database.execute("SELECT SUM(LENGTH(value)) FROM writes").fetchone()
    database.close()
    return int(held + written)


def test_a_turn_that_acts_costs_the_same_on_disk_whatever_the_size_of_the_plan(
    make: Make, tools: Tools, tmp_path: Path
) -> None:
    spent = {}
    for size in (10, 1_000):
        home = tmp_path / str(size)
        talk = make(tools.registry(), home=home)
        talk.app.load(plan(size))
        talk.say("put t1 place Rome")
        before = bytes_of(home)
        for number in range(4):
            talk.say(f"put t1 day Friday{number}" if number == 0 else f"set t{size + 2} Friday{number}")
            talk.say("yes")
        spent[size] = (bytes_of(home) - before) / 4
        assert [name for name, *_ in tools.calls].count("book") == 4
        tools.calls.clear()
    assert spent[1_000] < 1.2 * spent[10], spent
    assert spent[1_000] < 20_000, spent  # of two turns with an approval, their history grows


STRICT = """
import sys
from pathlib import Path
import sqlite3
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from taskloom.agent.act import Equipment
from taskloom.agent.graph import build_graph
from taskloom.agent.turn.calls import ToolRun, Call
from tests.test_act import Tools, services, TRIP
for number, saver in enumerate((lambda: SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False)),
                                lambda kept=InMemorySaver(): kept)):
    tools = Tools()
    def graph():
        return build_graph(services(Equipment(registry=tools.registry())), checkpointer=saver())
    config = {"configurable": {"thread_id": "1"}}
    graph().invoke({"messages": [HumanMessage(TRIP)]}, config)
    graph().invoke(Command(resume={"approve": True}), config)
    assert [name for name, *_ in tools.calls] == ["find", "book"], tools.calls
    graph().invoke({"messages": [HumanMessage("set t2 Oslo")]}, config)
    graph().invoke({"messages": [HumanMessage("yes")]}, config)
    ended = graph().invoke(Command(resume={"decisions": [{"type": "reject", "message": "no"}]}), config)
    assert [run.status for run in ended["turn"].tool_runs] == ["done", "rejected"]
    turn = graph().get_state(config).values["turn"]
    assert type(turn.tool_runs[0]) is ToolRun and type(turn.tool_runs[0].call) is Call
"""


def test_it_works_under_strict_msgpack(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", STRICT, str(tmp_path / "threads.sqlite")],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "eserializ" not in result.stderr


def test_asynchronous_runs(tools: Tools) -> None:
    graph = build_graph(services(Equipment(registry=tools.registry())), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}

    async def talk() -> Any:
        await graph.ainvoke({"messages": [HumanMessage(TRIP)]}, config)
        return await graph.ainvoke(Command(resume={"approve": True}), config)

    assert outcomes(asyncio.run(talk())["turn"]) == [("find", "done"), ("book", "done")]
    assert [name for name, *_ in tools.calls] == ["find", "book"]


def test_two_threads_at_once(make: Make) -> None:
    together = threading.Barrier(2, timeout=20)

    def meet(place: str) -> str:
        """Meet at a place.

        Args:
            place: which.
        """
        together.wait()
        return f"met at {place}"

    talk = make(Registry([equip(meet, needs=["place"], side_effects=True)]))
    with ThreadPoolExecutor() as pool:
        said = {name: pool.submit(talk.say, f"task trip; put t1 place {name}", name) for name in ("A", "B")}
        for name, turn in said.items():
            assert [run.text for run in turn.result().tool_runs] == [f"met at {name}"]
    assert {name: talk.slot("meet", name).value for name in "AB"} == {"A": "met at A", "B": "met at B"}


def add(place: str, shared: SharedVariables) -> str:
    """Add a place to the list.

    Args:
        place: which.
    """
    with shared.guard:
        shared["places"] = [*shared.get("places", []), place]
    return f"{len(shared['places'])} places"


def test_shared_variables_survive_turns_and_interrupts(make: Make, tools: Tools) -> None:
    registry = Registry([equip(add, needs=["place"]), equip(pay, needs=["amount"], side_effects=True)])
    talk = make(registry, shared={"budget": 500})
    talk.app.talk("task trip; put t1 place Rome; put t1 amount 5")
    assert talk.app.pending() is not None
    assert "shared" not in talk.app.state().values or not talk.app.state().values["shared"]
    talk = make(registry, shared={"budget": 500})
    turn = talk.app.decide(False)
    assert outcomes(turn) == [("pay", "rejected"), ("add", "done")]
    assert talk.app.state().values["shared"] == {"places": ["Rome"]}
    talk.say("task tour; put t6 place Oslo")
    assert talk.app.state().values["shared"]["places"] == ["Rome", "Oslo"]


def test_what_was_shared_before_an_interrupt_is_there_after_it(make: Make) -> None:
    def charge(add: str, shared: SharedVariables) -> str:
        """Charge for the places.

        Args:
            add: how many.
        """
        return f"charged for {shared['places']}"

    registry = Registry([equip(add, needs=["place"]), equip(charge, needs=["add"], side_effects=True)])
    make(registry).app.talk("task trip; put t1 place Rome")
    talk = make(registry)
    turn = talk.app.decide(True)
    assert turn.tool_runs[-1].text == "charged for ['Rome']"
    assert talk.app.state().values["shared"] == {"places": ["Rome"]}


# ---- agents within agents -------------------------------------------------------------------------


def test_an_inner_agent_shares_by_reference_and_gives_back_a_summary(make: Make) -> None:
    seen: list[Situation] = []

    class Below(Choosing):
        def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
            seen.append(situation)
            self.script = [] if situation.completed else [("note", 1, {"text": "by train"})]
            return super().choose(situation)

    def note(text: str, shared: SharedVariables) -> str:
        """Note a text.

        Args:
            text: what.
        """
        shared["notes"] = [*shared.get("notes", []), text, shared["budget"]]
        return "x" * 5_000

    below = build_graph(services(Equipment(registry=Registry([equip(note, side_effects=True)])), Below([])))
    agent = equip(below, name="clerk", description="Notes things.", side_effects=True)
    script = [("weather", 1, {"place": "Rome"}), ("clerk", 1, {"task": "task errand"}),
              ("clerk", 1, {"task": "task chore"})]  # fmt: skip
    talk = make(Registry([equip(weather), agent]), Choosing(script), shared={"budget": 7})
    turn = talk.say("task trip")
    assert outcomes(turn) == [("weather", "done"), ("clerk", "done"), ("clerk", "done")]
    assert [name for name, _ in talk.asked] == ["clerk", "clerk"]  # what it does is approved with it
    assert talk.app.state().values["shared"]["notes"] == ["by train", 7, "by train", 7]
    assert seen[0].utterance == "task errand"
    assert "sunny in Rome today" in seen[0].before
    assert len(turn.tool_runs[1].text) <= 1_500
    assert "x" * 1_000 not in turn.tool_runs[1].text
    assert {node.name for node in talk.tasks().active} == {"trip", "weather", "clerk", "clerk2"}


def test_an_inner_agent_never_calls_itself_or_what_is_above_it(make: Make) -> None:
    offered: list[tuple[str, ...]] = []

    class Looking(Choosing):
        def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
            offered.append(tuple(name for name, _ in situation.tools))
            return super().choose(situation)

    registry = Registry([equip(weather)])
    below = build_graph(services(Equipment(registry=registry), Looking([("boss", 1, {"task": "x"})])))
    agent = equip(below, name="boss", description="Does all.")
    registry._tools["boss"] = agent
    talk = make(Registry([agent]), Choosing([("boss", 1, {"task": "task errand"})]))
    turn = talk.say("task trip")
    assert outcomes(turn) == [("boss", "done")]
    assert offered[0] == ("weather",)
    assert "there is no tool 'boss'" in turn.tool_runs[0].text


def test_an_inner_agent_asked_for_the_same_in_a_later_turn_does_it_again(make: Make, tools: Tools) -> None:
    journal = MemoryJournal()
    below = build_graph(services(Equipment(registry=tools.registry(), journal=journal)))
    agent = equip(below, name="clerk", description="Books things.")
    again = ("clerk", 1, {"task": TRIP.replace("; ", ";")})
    talk = make(Registry([agent]), Choosing([again, None, again]), journal=journal)
    talk.say("task trip")
    talk.say("task tour")
    assert [name for name, *_ in tools.calls] == ["find", "book"] * 2
    assert journal._entries == {}  # the turn that told of it takes what was done for it along


# ---- terminal and scripts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "made", "told"),
    [
        (["y"], [("book", "RO7 on Friday", "1")], "Booking: booked RO7 on Friday."),
        (["n"], [], "I did not book: you did not approve it."),
        (["n too expensive"], [], "I did not book: too expensive."),
        (["flights=KL1", "yes"], [("book", "KL1", "1")], "Booking: booked KL1."),
        (["perhaps", "hotel=X", "y"], [("book", "RO7 on Friday", "1")], "Booking: booked RO7 on Friday."),
        (["seats=3", "y"], [("book", "RO7 on Friday", "1")], ""),
        ([], [], "the input ended before it was decided"),
    ],
)
def test_a_call_is_decided_in_the_terminal(
    make: Make, tools: Tools, tmp_path: Path, typed: list[str], made: list[tuple[str, ...]], told: str
) -> None:
    talk, out = make(tools.registry()), io.StringIO()
    lines = iter([TRIP, *typed])

    def read(prompt: str) -> str:
        line = next(lines, None)
        if line is None:
            raise EOFError
        return line

    console = Console(file=out, width=200)
    Chat(talk.app, console, thread="main", context=Context(), home=tmp_path, read=read).run()
    assert [call for call in tools.calls if call[0] == "book"] == made
    assert told in out.getvalue()
    assert 'flights = "RO7 on Friday"' in out.getvalue()


def test_a_chat_goes_on_with_what_was_left_to_decide(make: Make, tools: Tools, tmp_path: Path) -> None:
    talk, out = make(tools.registry()), io.StringIO()
    talk.app.talk(TRIP)
    lines = iter(["y", "/quit"])
    console = Console(file=out, width=200)
    Chat(talk.app, console, thread="main", context=Context(), home=tmp_path, read=lambda _: next(lines)).run()
    assert "Booking: booked RO7 on Friday." in out.getvalue()
    assert [name for name, *_ in tools.calls] == ["find", "book"]


def test_a_script_approves_only_where_it_says_so(make: Make, tools: Tools) -> None:
    lines = read_script(
        json.dumps([TRIP, {"user": "task tour; put t6 place Oslo; put t6 day Monday", "approve": True}]), "x"
    )
    first, _ = play(make(tools.registry()).app, lines, thread="s", context=Context())
    runs = first.record()["tool_runs"]
    assert [(run["tool"], run["status"]) for run in runs] == [("find", "done"), ("book", "rejected")]
    assert runs[0]["args"] == {"place": "Rome", "day": "Friday"}
    assert [call for call in tools.calls if call[0] == "book"] == [("book", "OS7 on Monday", "1")]


def test_a_question_where_no_task_is_yet_makes_its_answer_one(tmp_path: Path) -> None:
    class Asks:
        def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
            if situation.completed:
                return None, Usage()
            assert situation.ids == ()
            return Choice(
                observation="", thoughts="", subtask="Opening hours.", tool="hours", task=1
            ), Usage()

        def parameters(self, situation: Any, choice: Any, schema: Any, check: Any) -> Any:
            return check({"place": "Museum"}), Usage()

    def hours(place: str) -> str:
        """Tell when a sight is open."""
        return f"{place}: 10 to 18"

    voice = Voice(local_reader(), TemplateResponder(), Asks())
    tools = Equipment(Registry([equip(hours)]))
    graph = build_graph(Services(voice=lambda _: voice, template=TemplateResponder(), tools=tools))
    ended = graph.invoke({"messages": [HumanMessage("What are the opening hours of the museum?")]})
    (task,) = ended["tasks"].values()
    assert (task.title, task.value, task.status, task.source) == (
        "Opening hours", "Museum: 10 to 18", "done", "tool:hours",
    )  # fmt: skip
    assert "Museum: 10 to 18" in ended["turn"].reply


# ---- in the user's words, without a model -----------------------------------------------------------


class Travel:
    """A talk without a model about a trip with three tools, the last one of them on what the others gave."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fails = False
        tools = [
            equip(self.search_flights, needs=["destination", "date"], gives="flights"),
            equip(self.search_hotels, needs=["destination"], gives="hotel"),
            equip(self.price, needs=["flights", "hotel", "nights"], gives="total"),
        ]
        template = TemplateResponder()
        voice = Voice(local_reader(), template)
        made = Services(voice=lambda _: voice, template=template, tools=Equipment(Registry(tools)))
        self.graph = build_graph(made, checkpointer=InMemorySaver())

    def search_flights(self, destination: str, date: str) -> str:
        """Find flights."""
        self.calls.append("flights")
        return f"10:40 to {destination} on {date}"

    def search_hotels(self, destination: str) -> str:
        """Find hotels."""
        self.calls.append("hotel")
        if self.fails:
            raise ToolError("closed")
        return f"{destination} Central, 90 euros a night with breakfast"

    def price(self, flights: str, hotel: str, nights: int) -> str:
        """Work out a price."""
        self.calls.append("total")
        return f"{90 * nights + len(flights + hotel)} euros"

    def say(self, words: str) -> str:
        self.calls.clear()
        config: RunnableConfig = {"configurable": {"thread_id": "trip"}}
        self.ended = self.graph.invoke({"messages": [HumanMessage(words)]}, config)
        return " ".join(self.ended["turn"].reply.split())

    def task(self, name: str) -> TaskNode:
        found: TaskNode = next(node for node in self.ended["tasks"].values() if node.name == name)
        return found


@pytest.fixture
def travel() -> Travel:
    made = Travel()
    made.say("Plan a trip. The destination is Rome and the date is June 10th.")
    return made


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ("Find the flights once more", ["flights"]),
        ("Look the flights up again, please.", ["flights"]),
        ("Can you search for hotels again?", ["hotel"]),
        ("Refresh the flights.", ["flights"]),
        ("OK, update the hotel", ["hotel"]),
        ("Try the hotel one more time!", ["hotel"]),
        ("Search again.", ["flights", "hotel"]),
        ("Make it June 12th and look up the flights again", ["flights"]),
    ],
)
def test_what_a_tool_gave_can_be_had_again(travel: Travel, words: str, made: list[str]) -> None:
    before = set(travel.ended["tasks"])
    travel.say(words)
    assert sorted(travel.calls) == sorted(made)  # they run side by side
    assert set(travel.ended["tasks"]) == before
    assert travel.task("hotel").source == "tool:search_hotels"
    travel.say("Change the destination to Porto.")
    assert {travel.task(name).stale_since is not None for name in ("flights", "hotel")} == {True}


@pytest.mark.parametrize(
    "words", ["Do it again", "Update the guest list", "Book a table again", "Show me the flights again"]
)
def test_other_words_of_again_make_no_result_again(travel: Travel, words: str) -> None:
    travel.say(words)
    assert travel.calls == []
    assert travel.task("flights").status == "done"


def test_what_is_out_of_date_is_told_when_it_is_asked_for(travel: Travel) -> None:
    assert travel.say("What is out of date?") == "Nothing is out of date."
    assert travel.say("Are the flights still right?").startswith(
        "Yes, the flights are up to date (10:40 to Rome"
    )
    assert "out of date. Shall I look them up again?" in travel.say("Change the destination to Porto.")
    stale = "the flights are out of date (10:40 to Rome on June 10th): the destination changed in turn 4."
    assert travel.say("Are the flights still valid?") == f"No, {stale}"
    assert travel.say("Are the flights outdated?") == f"Yes, {stale}"
    assert travel.say("What is the status of the flights?") == f"T{stale[1:]}"
    for words in ("What's out of date?", "Which results are stale?", "What has to be looked up again?"):
        told = travel.say(words)
        assert told.startswith("Out of date: flights (10:40 to Rome on June 10th) and ")
    assert travel.say("Is the date still right?") == "Yes, the date is up to date (June 10th)."
    assert "to be checked" in travel.say("What flights are there?")
    assert travel.say("Is the trip up to date?").startswith(f"No, {stale} The hotel is out of date")


def test_a_long_result_is_not_named_by_the_words_in_it(travel: Travel) -> None:
    travel.say("Set the nights to 3.")
    assert travel.task("nights").value == "3"
    assert travel.task("hotel").value == "Rome Central, 90 euros a night with breakfast"
    assert travel.calls == ["total"]


def test_words_beside_an_offer_are_no_answer_to_it(travel: Travel) -> None:
    travel.fails = True
    assert travel.say("Search hotels again.").endswith("Shall I try again?")
    assert travel.say("What is the date?") == "The date is June 10th."
    assert travel.say("Thanks, summarise the plan.").startswith("Trip: destination Rome, date June 10th")
    assert travel.calls == []
    assert travel.say("Yes, please.").endswith("Shall I try again?")
    assert travel.calls == ["hotel"]


def test_results_are_named_by_title_then_by_tool_then_by_words_in_the_title() -> None:
    graph = TaskGraph()
    for title, tool in (("Find flights to Rome", "search_flights"), ("Price of flight and hotel", "price")):
        add = Add(slot=tool, title=title, value="x", status="done", source=f"tool:{tool}")
        graph = apply(graph, add, turn=1, said="").graph

    def named(words: str) -> list[str]:
        return [node.title for node in tool_results(graph, words, ())]

    assert named("flights") == ["Find flights to Rome"]
    assert named("hotel") == named("price") == ["Price of flight and hotel"]
    assert named("Rome") == named("find flights to Rome") == ["Find flights to Rome"]
    assert named("guests") == []
