"""A proposal that a message takes up by going on with it."""

from __future__ import annotations

import pytest

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.language.wording import DID_YOU_MEAN
from taskloom.agent.reading.local import Local
from taskloom.agent.reading.taken_up import taken_up
from taskloom.agent.turn.clauses import Clause, Parse
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Clarify, Operation, Remove, apply
from taskloom.memory.tasks import TaskGraph

ORDER = (
    Add(slot="order", title="garden order"),
    Add(slot="order.budget", title="budget", value="90", parent="t2"),
)
TRIP = apply(TaskGraph(), Add(slot="trip", title="trip to Rome"), turn=1, said="").graph


def _asked(graph: TaskGraph, *choices: Operation, said: str = "sort the garden thing") -> View:
    question = Clarify(question=f"{DID_YOU_MEAN}this?", choices=choices)
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
    return Local(lambda text, _, __: (Parse((Clause(act, text),), 1.0, (0.0,) * 384),))


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
