"""A proposal that a message takes up by going on with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD
from taskloom.agent.reading.local import PRESUME, PROPOSE, Local, Tried
from taskloom.agent.reading.signs import Candidate
from taskloom.agent.reading.taken_up import taken_up
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.clauses import Clause, Parse
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Asked, Step
from taskloom.memory.operations import Add, Clarify, Operation, Remove, apply
from taskloom.memory.tasks import TaskGraph

ORDER = (
    Add(slot="order", title="garden order"),
    Add(slot="order.budget", title="budget", value="90", parent="t2"),
)
TRIP = apply(TaskGraph(), Add(slot="trip", title="trip to Rome"), turn=1, said="").graph


def _asked(
    graph: TaskGraph, *choices: Operation, said: str = "sort the garden thing", presumed: bool = False
) -> View:
    question = Clarify(
        question=f"{DID_YOU_MEAN}this?", choices=choices, said=said, presumed=(2,) if presumed else ()
    )
    return View(graph, turn=3, question=question, exchanges=((said, question.question),))


@pytest.mark.parametrize("said", ["The garden order has to come by Friday", "the budget is tight"])
def test_what_names_what_only_the_proposal_makes_takes_it_up(said: str) -> None:
    after = taken_up(said, _asked(TRIP, *ORDER))
    assert after is not None
    assert [node.title for node in after.graph.active] == ["trip to Rome", "garden order", "budget"]
    assert after.question is None
    assert after.focus[:2] == ("t3", "t2")


def test_what_was_proposed_is_not_of_this_message() -> None:
    after = taken_up("the garden order is bigger", _asked(TRIP, *ORDER))
    assert after is not None
    assert {after.graph[key].turn for key in ("t2", "t3")} == {after.turn - 1}


@pytest.mark.parametrize("said", ["When is the trip?", "my sister is ill", "Rome on Friday"])
def test_who_goes_on_with_something_else_takes_nothing_up(said: str) -> None:
    assert taken_up(said, _asked(TRIP, *ORDER)) is None


def test_what_goes_on_in_an_empty_plan_is_about_what_was_proposed() -> None:
    made = Add(slot="order", title="garden order")
    assert taken_up("Ann pays", _asked(TaskGraph(), made)) is not None


def test_what_is_said_again_in_other_words_takes_nothing_up() -> None:
    view = _asked(TRIP, *ORDER, said="sort the garden order with ann")
    assert taken_up("I said: sort the garden order", view) is None


def test_only_proposals_that_can_be_done_are_taken_up() -> None:
    assert taken_up("the garden order", _asked(TRIP, Add(slot="x", title="x", parent="t9"), *ORDER)) is None
    which = View(TRIP, question=Clarify(question="Which one?", choices=ORDER))
    assert taken_up("the garden order", which) is None
    assert taken_up("the garden order", View(TRIP)) is None


def test_nothing_is_taken_out_without_a_yes() -> None:
    assert taken_up("the garden order", _asked(TRIP, *ORDER)) is not None
    assert taken_up("the garden order", _asked(TRIP, *ORDER, Remove(task="t1"))) is None


def _local(monkeypatch: pytest.MonkeyPatch, act: str, reading: Reading) -> Local:
    """A local reader that finds one act in a message, and reads it so in the plan with the proposal."""
    read = Local.read

    def given(self: Local, utterance: str, view: View) -> Reading:
        return reading if view.question is None else read(self, utterance, view)

    monkeypatch.setattr(Local, "read", given)
    return Local(lambda text, _, __: (Parse((Clause(act, text),), 1.0),))


def test_a_sure_message_accepts_the_proposal_and_does_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    said, view = "the garden order has Ann", _asked(TRIP, *ORDER)
    add = Step(text=said, act="add", within_task="t2", items=())
    reading = _local(monkeypatch, "add", Reading((add,))).read(said, view)
    assert [step.act for step in reading.steps] == ["yes", "add"]
    assert ground_exactly(reading.steps, view)[:2] == tuple(
        one.model_copy(update={"said": said}) for one in ORDER
    )


def test_an_unsure_message_takes_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    local = _local(monkeypatch, "add", Reading((Step(text="x", act="unsure"),), sure=False))
    assert local._taking_up("the garden order has Ann", _asked(TRIP, *ORDER)) is None


def test_a_question_takes_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    local = _local(monkeypatch, "ask.value", Reading(()))
    assert local._taking_up("when is the garden order?", _asked(TRIP, *ORDER)) is None


# ---- what is likely to be meant is presumed to be -----------------------------------------------------


def test_who_goes_on_from_what_is_likely_accepts_it_whatever_it_is_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = _asked(TRIP, *ORDER, presumed=True)
    add = Step(text="Rome on Friday", act="add", within_task="t1")
    reading = _local(monkeypatch, "add", Reading((add,))).read("Rome on Friday", view)
    assert [step.act for step in reading.steps] == ["yes", "add"]


def test_a_question_presumes_what_is_likely_and_accepts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    view = _asked(TRIP, *ORDER, presumed=True)
    asked = Reading((Step(text="how much is it?", act="ask"),))
    reading = _local(monkeypatch, "ask.value", asked).read("how much is it?", view)
    assert reading.presuming
    assert [step.act for step in reading.steps] == ["ask"]


def test_a_no_and_talk_presume_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    view = _asked(TRIP, *ORDER, presumed=True)
    for act in ("no", "chat"):
        assert _local(monkeypatch, act, Reading(()))._taking_up("oh well", view) is None


def test_what_is_likely_is_presumed_by_its_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    for trust in (PROPOSE, PRESUME):
        tried = _tried(trust)
        monkeypatch.setattr(Local, "trusted", lambda *_, one=tried: [one])
        reading = Local(_nothing).read("plan a thing of sorts", View(TRIP))
        (operation,) = ground_exactly(reading.steps, View(TRIP, turn=7))
        assert isinstance(operation, Clarify)
        assert operation.presumed == ((7,) if trust >= PRESUME else ())


def _nothing(text: str, _: str, __: int) -> tuple[Parse, ...]:
    return (Parse((Clause("task", text),), 1.0),)


def _tried(trust: float) -> Tried:
    step = Step(text="plan a thing of sorts", act="task", title="thing")
    operations = (Add(slot="thing", title="thing"),)
    return Tried(Reading((step,)), Candidate(operations, _nothing(step.text, "", 1)[0]), trust)


class _Scripted:
    """An interpreter that reads what it is told to, in order."""

    def __init__(self, *readings: Reading) -> None:
        self.readings = list(readings)

    def read(self, _: str, __: View) -> Reading:
        return self.readings.pop(0)


def _talk(readings: tuple[Reading, ...], said: tuple[str, ...]) -> list[Any]:
    voice = Voice(_Scripted(*readings), TemplateResponder())
    services = Services(voice=lambda _: voice, ground=ground_exactly, template=TemplateResponder())
    graph = build_graph(services=services, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    states = []
    for text in said:
        graph.invoke(cast("Any", {"messages": [("user", text)]}), thread)
        states.append(graph.get_state(thread).values)
    return states


def _proposal(text: str, title: str) -> Reading:
    step = Step(text=text, act="task", title=title)
    return Reading((Step(text=text, act="unsure", proposed=(step,), presumed=True),), sure=False)


_FIRST = Reading((Step(text="trip", act="task", title="trip"),))
_QUESTION = Reading((Step(text="what is there?", act="ask", asked=Asked(kind="summary")),), presuming=True)


def test_questions_are_answered_as_if_it_were_so_and_the_next_change_makes_it_so() -> None:
    change = Reading((Step(text="x", act="yes"), Step(text="x", act="task", title="hotel")))
    _, proposed, asked, done = _talk(
        (_FIRST, _proposal("garden order please", "garden order"), _QUESTION, change),
        ("trip", "garden order please", "what is there?", "and a hotel"),
    )
    assert [node.title for node in asked["tasks"].values()] == ["trip"]  # nothing was changed by asking
    assert "garden order" in asked["turn"].reply
    assert "I am not sure that I understood “garden order please”" in asked["turn"].reply
    assert "so this leaves that out" not in asked["turn"].reply
    assert asked["question"] == proposed["question"]  # it can still be answered
    assert [node.title for node in done["tasks"].values()] == ["trip", "garden order", "hotel"]
    assert "garden order" in done["turn"].reply  # and it is told
    assert done["turn"].missed == ()


def test_proposals_on_top_of_each_other_are_one() -> None:
    second = replace(_proposal("and a hotel of sorts", "hotel"), presuming=True)
    yes = Reading((Step(text="yes", act="yes"),))
    *_, both, done = _talk(
        (_FIRST, _proposal("garden order please", "garden order"), second, yes),
        ("trip", "garden order please", "and a hotel of sorts", "yes"),
    )
    assert both["turn"].reply == f"{DID_YOU_MEAN}add garden order and add hotel?"
    assert both["question"].presumed == (2, 3)
    assert [node.title for node in done["tasks"].values()] == ["trip", "garden order", "hotel"]
    assert done["turn"].missed == ()


def test_what_was_not_understood_leaves_it_open_and_a_no_ends_it() -> None:
    unread = Reading((Step(text="hmpf", act="unsure", value=NOT_UNDERSTOOD),), sure=False)
    no = Reading((Step(text="no", act="no"),))
    _, proposed, after, ended = _talk(
        (_FIRST, _proposal("garden order please", "garden order"), unread, no),
        ("trip", "garden order please", "hmpf", "no"),
    )
    assert after["question"] == proposed["question"]
    assert ended["question"] is None
    assert [node.title for node in ended["tasks"].values()] == ["trip"]
