"""Steps that name tasks by number act on just these, whatever the words around them are like.

The steps are written as a model writes them; the numbers are those of the tasks below, in order of creation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.models.wire import WireError, steps_of
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Act, Step
from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Confirm,
    Inactivate,
    Link,
    Operation,
    Remove,
    Rollback,
    Undo,
    Update,
    apply,
)
from taskloom.memory.tasks import TaskGraph
from tests.test_interpreters import CART, COOKING, PROPOSED, SEAT, WHICH, graph_of, lines_of

NOW = datetime(2026, 3, 2, 9)  # noqa: DTZ001  the clock of a view is local time


def parts(whole: str, slot: str, **values: str) -> list[Operation]:
    """A task with slots; '_' in a name is a space."""
    made: list[Operation] = [Add(slot=slot, title=slot)]
    made += [
        Add(slot=f"{slot}.{name}", title=name.replace("_", " "), value=value, parent=whole)
        for name, value in values.items()
    ]
    return made


def grounded(
    before: Sequence[Operation], *steps: dict[str, Any], **view: Any
) -> tuple[TaskGraph, tuple[Operation, ...], list[str]]:
    """The graph after some steps, their operations, and what was refused."""
    graph = graph_of(*before)
    seen = View(graph, turn=len(before) + 1, now=NOW, **view)
    read = steps_of(json.dumps({"steps": steps}), "the words", graph, tuple(graph))
    operations = ground_exactly(read, seen)
    refused = []
    for operation in operations:
        outcome = apply(graph, operation, turn=seen.turn, said="the words")
        graph = outcome.graph
        refused += [outcome.refused] if outcome.refused else []
    assert graph.faults() == []
    return graph, operations, refused


def changed(before: Sequence[Operation], *steps: dict[str, Any], **view: Any) -> tuple[list[str], list[str]]:
    """The lines of the plan that go, and those that come."""
    graph, _, _ = grounded(before, *steps, **view)
    then, now = lines_of(graph_of(*before)), lines_of(graph)
    return [line for line in then if line not in now], [line for line in now if line not in then]


# ---- slots are told apart by their names ----------------------------------------------------------

TWINS = [
    ("departure time", "arrival time"),
    ("start date", "end date"),
    ("pick-up place", "drop-off place"),
    ("deposit", "price"),
    ("first name", "last name"),
    ("home phone", "work phone"),
    ("number of tickets", "number of seats"),
    ("hotel", "hotel address"),
    ("cost", "late fine"),
]


ALSO = [("teacher", "substitute teacher"), ("time", "arrival time"), ("date", "end date")]


@pytest.mark.parametrize(("one", "other"), [*TWINS, *((b, a) for a, b in TWINS), *ALSO])
def test_a_slot_never_takes_the_value_of_another(one: str, other: str) -> None:
    before = [Add(slot="trip", title="trip"), Add(slot="trip.x", title=one, value="old", parent="t1")]
    assert changed(before, {"act": "set", "in": 1, "slot": other, "value": "new"}) == (
        [], [f"trip / {other} = new"],
    )  # fmt: skip
    assert changed(before, {"act": "set", "in": 1, "slot": one, "value": "new"}) == (
        [f"trip / {one} = old"], [f"trip / {one} = new"],
    )  # fmt: skip
    assert changed(before, {"act": "set", "on": 2, "value": "new"})[1] == [f"trip / {one} = new"]


@pytest.mark.parametrize(
    ("held", "said"),
    [("arrival time", "time"), ("phone", "phone number"), ("birth date", "date of birth"),
     ("library phone", "phone"), ("party budget", "the budget"), ("start_date", "Start Date")],
)  # fmt: skip
def test_a_name_that_says_more_of_the_same_means_the_slot(held: str, said: str) -> None:
    before = [Add(slot="trip", title="trip"), Add(slot="trip.x", title=held, value="old", parent="t1")]
    assert changed(before, {"act": "set", "in": 1, "slot": said, "value": "new"})[1] == [
        f"trip / {held} = new"
    ]


def test_two_slots_that_a_name_may_mean_are_asked_about() -> None:
    before = parts("t1", "trip", departure_time="9 AM", arrival_time="2 PM")
    graph, operations, _ = grounded(before, {"act": "set", "in": 1, "slot": "time", "value": "3 PM"})
    (asked,) = operations
    assert isinstance(asked, Clarify)
    assert asked.options == ("departure time of trip (9 AM)", "arrival time of trip (2 PM)")
    assert graph == graph_of(*before)


def test_a_slot_of_another_kind_is_left_alone() -> None:
    before = parts("t1", "hall", deposit_date="May 3")
    assert changed(before, {"act": "set", "in": 1, "slot": "date", "value": "$200"})[0] == []


def test_what_goes_into_one_task_never_lands_in_another() -> None:
    tickets = Add(slot="party.task", title="buy the tickets", parent="t1")
    before = [*parts("t1", "party", date="Friday"), tickets, Add(slot="concert", title="concert")]
    assert changed(before, {"act": "set", "in": 4, "slot": "number of tickets", "value": "4"}) == (
        [], ["concert / number of tickets = 4"],
    )  # fmt: skip


def test_a_number_shifts_where_it_is_named() -> None:
    before = [*parts("t1", "a", seats="4"), *parts("t3", "b", seats="10")]
    assert changed(before, {"act": "shift", "on": 2, "value": "+2"})[1] == ["a / seats = 6"]
    assert changed(before, {"act": "shift", "on": 3, "value": "*2"})[1] == ["b / seats = 20"]


@pytest.mark.parametrize(
    ("value", "by", "then"),
    [("June 10th", "+2 days", "June 12th"), ("Thursday", "-1 day", "Wednesday"),
     ("2 PM", "+90 minutes", "3:30 PM"), ("half past ten", "an hour later", "11:30"),
     ("ten in the morning", "+30 min", "10:30 in the morning"),
     ("a quarter past nine", "+1 hour", "10:15"), ("twenty-six tables", "four fewer", "22 tables"),
     ("$60", "-$25", "$35"), ("$200", "+10 %", "$220"), ("5 nights", "double", "10 nights"),
     ("45 minutes", "+30 minutes", "75 minutes"), ("3 may 6am", "-1 hour", "3 may 5am"),
     ("Friday, May 3 at 7 PM", "+2 days", "Sunday, May 5 at 7 PM"), ("3 lakh", "+50000", "3.5 lakh"),
     ("2.5 million", "+1 million", "3.5 million"), ("11 in the morning", "+2 hours", "1 in the afternoon"),
     ("seven in the evening", "+3 hours", "10:00 at night"), ("11:30", "+2 hours", "13:30"),
     ("two hundred and fifty", "+50", "300"),
     ("half 3", "+45 minutes", "4:15"), ("11ish", "+1 hour", "12ish"), ("fri 4pm", "+1 hour", "fri 5pm"),
     ("1720", "-1 hour", "1620"), ("0915", "+45 minutes", "1000"), ("17h20", "+1 hour", "18h20"),
     ("9 of the morning", "+1 hour", "10 in the morning"), ("9.30 uhr", "+30 minutes", "10.00 uhr"),
     ("11", "+1 hour", "12"), ("a crate of beer", "*2", "2 crate of beer")],
)  # fmt: skip
def test_relative_changes(value: str, by: str, then: str) -> None:
    before = parts("t1", "plan", thing=value)
    assert changed(before, {"act": "shift", "on": 2, "value": by})[1] == [f"plan / thing = {then}"]


def test_hours_move_a_time_and_days_a_date() -> None:
    before = parts("t1", "plan", date="May 3", time="7 PM")
    assert changed(before, {"act": "shift", "on": 1, "value": "+1 hour"})[1] == ["plan / time = 8 PM"]
    assert changed(before, {"act": "shift", "on": 1, "value": "-2 days"})[1] == ["plan / date = May 1"]


@pytest.mark.parametrize(
    ("value", "by"), [("soon", "+2 days"), ("3 nights", "+30 minutes"), ("Rome", "+1"), ("2", "-5")]
)
def test_what_cannot_be_counted_is_asked_about(value: str, by: str) -> None:
    before = parts("t1", "plan", thing=value)
    graph, operations, _ = grounded(before, {"act": "shift", "on": 2, "value": by})
    assert [type(one) for one in operations] == [Clarify]
    assert graph == graph_of(*before)


# ---- back only to what was ------------------------------------------------------------------------

MOVED = [*parts("t1", "loan", fine="$260"), Update(task="t2", value="$66"), Update(task="t2", value="$41")]


@pytest.mark.parametrize(
    ("step", "now"),
    [({"act": "back", "on": 2}, "$66"), ({"act": "back", "on": 2, "to": "first"}, "$260"),
     ({"act": "back", "on": 2, "value": "$260"}, "$260"), ({"act": "back", "in": 1, "slot": "fine"}, "$66"),
     ({"act": "back", "on": 1}, "$66"), ({"act": "back", "value": "$66"}, "$66"),
     ({"act": "back", "on": 1, "to": "first"}, "$260")],
)  # fmt: skip
def test_back_gives_a_state_that_was(step: dict[str, Any], now: str) -> None:
    graph, _, _ = grounded(MOVED, step)
    assert graph["t2"].value == now
    assert graph["t2"].op == "rollback"


def test_back_to_what_never_was_asks() -> None:
    graph, (asked,), _ = grounded(MOVED, {"act": "back", "on": 2, "value": "$100"})
    assert isinstance(asked, Clarify)
    assert "$260" in asked.question
    assert asked.choices == (Update(task="t2", value="$100"),)
    assert graph["t2"].value == "$41"


def test_what_went_back_comes_again() -> None:
    before = [*MOVED, Rollback(task="t2")]
    assert grounded(before, {"act": "redo"})[0]["t2"].value == "$41"
    assert grounded([*MOVED, Undo()], {"act": "redo"})[0]["t2"].value == "$41"
    assert isinstance(grounded(MOVED, {"act": "redo"})[1][0], Clarify)


def test_a_task_that_was_finished_is_open_again() -> None:
    before: list[Operation] = [Add(slot="a", title="sand"), Complete(task="t1")]
    assert grounded(before, {"act": "reopen", "on": 1})[0]["t1"].status == "open"
    before = [*parts("t1", "a", cost="$5"), Complete(task="t2")]
    assert grounded(before, {"act": "reopen", "on": 2})[0]["t2"].status == "filled"
    held = Update(task="t1", value="RO7", status="done", source="tool:find")
    result = grounded([Add(slot="a", title="find flights"), held], {"act": "reopen", "on": 1})[0]["t1"]
    assert (result.status, result.source, result.value) == ("open", "tool:find", "RO7"), "its tool gives it"


def test_a_list_of_what_is_not_there_is_no_list_of_all_that_is() -> None:
    before = parts("t1", "trip", start="Oslo", date="June 10")
    for name, lacking in (("hotels", "hotels"), ("details", None), ("date", None)):
        (asked,) = grounded(before, {"act": "ask", "q": "list", "in": 1, "slot": name})[1]
        assert isinstance(asked, Check)
        assert asked.question.slot == lacking
    more: list[Operation] = [*before, Add(slot="a", title="find a hotel", parent="t1")]
    (asked,) = grounded(more, {"act": "ask", "q": "list", "in": 1, "slot": "chores"})[1]
    assert isinstance(asked, Check)
    assert asked.question.slot is None


def test_an_undo_while_something_is_asked_takes_nothing_back_unasked() -> None:
    before = parts("t1", "dental", time="soon")
    _, (undo,), _ = grounded([*before, Add(slot="x", title="x")], {"act": "undo"}, question=SEAT)
    assert isinstance(undo, Undo)
    view = View(graph_of(*before), turn=9, question=SEAT)
    (asked,) = ground_exactly([Step(text="undo that", act="undo")], view)
    assert isinstance(asked, Clarify)
    assert asked.choices == (Undo(turn=2),)


def test_who_does_a_part_is_kept_though_no_member_of_the_whole() -> None:
    before: list[Operation] = [Add(slot="a", title="feed the cat")]
    step = {
        "act": "split",
        "on": 1,
        "parts": [{"who": ["Lotte"], "details": {"when": "mornings"}}, {"who": ["Ruth"]}],
    }
    assert changed(before, step)[1] == [
        "feed the cat / feed the cat (mornings)", "feed the cat / feed the cat (mornings) / assignee = Lotte",
        "feed the cat / feed the cat (mornings) / when = mornings", "feed the cat / feed the cat (Ruth)",
        "feed the cat / feed the cat (Ruth) / assignee = Ruth",
    ]  # fmt: skip


def test_what_is_gone_comes_back_by_whatever_word() -> None:
    before: list[Operation] = [*parts("t1", "tour", beds="7"), Remove(task="t1")]
    for act in ("resume", "reopen", "back"):
        assert changed(before, {"act": act, "on": 1})[1] == ["tour", "tour / beds = 7"]
    done: list[Operation] = [Add(slot="a", title="sand"), Complete(task="t1")]
    assert changed(done, {"act": "resume", "on": 1})[1] == ["sand"]


def test_a_number_of_things_that_somebody_has_is_still_a_number() -> None:
    before: list[Operation] = [
        Add(slot="a", title="12 caps"), Add(slot="a.assignee", title="assignee", value="Bea", parent="t1"),
    ]  # fmt: skip
    assert changed(before, {"act": "shift", "on": 1, "value": "*2"})[1] == [
        "24 caps",
        "24 caps / assignee = Bea",
    ]


def test_the_last_change_of_one_task_is_undone() -> None:
    before = [
        *parts("t1", "a", x="1"),
        *parts("t3", "b", y="1"),
        Update(task="t2", value="2"),
        Update(task="t4", value="2"),
    ]
    graph, operations, _ = grounded(before, {"act": "undo", "on": 1})
    assert (graph["t2"].value, graph["t4"].value) == ("1", "2")
    assert [one.kind for one in operations] == ["undo"]
    assert grounded(before, {"act": "undo"})[0]["t4"].value == "1"


# ---- tasks, lists, people -------------------------------------------------------------------------


def test_a_task_with_all_that_is_said_of_it() -> None:
    _, new = changed(
        (),
        {
            "act": "task",
            "title": "party",
            "details": {"date": "Friday"},
            "items": {"guest": ["Ann", "Bo"], "boat": "Curlew"},
        },
        {"act": "task", "title": "wine", "in": "party", "details": {"who": "Bo"}},
        {"act": "add", "in": "party", "items": {"guest": "Cy"}},
    )
    assert new == ["party", "party / date = Friday", "party / boat = Curlew", "party / Ann", "party / Bo",
                   "party / wine", "party / wine / assignee = Bo", "party / Cy"]  # fmt: skip


def test_the_same_task_is_not_made_twice_but_another_of_that_name_is() -> None:
    before = parts("t1", "loan", bank="Granite")
    more = {"act": "task", "title": "the loan", "details": {"amount": "$5"}}
    assert changed(before, more)[1] == ["loan / amount = $5"]
    graph, _, _ = grounded(before, {"act": "task", "title": "loan", "details": {"bank": "Meadow"}})
    assert lines_of(graph) == ["loan", "loan / bank = Granite", "loan", "loan / bank = Meadow"]


def test_what_joins_a_single_thing_makes_a_list_of_it() -> None:
    before = parts("t1", "class", gear="a towel")
    graph, _, _ = grounded(before, {"act": "add", "in": 1, "items": {"gear": ["a bottle"]}})
    assert [node.value or node.title for node in graph.parts("t1")] == ["a towel", "a bottle"]


def test_an_order_of_new_tasks() -> None:
    step = {"act": "order", "in": 1, "refs": ["design", "build", "test"]}
    assert changed([Add(slot="release", title="release")], step)[1] == [
        "release / build needs design", "release / design", "release / test needs build",
    ]  # fmt: skip


def test_a_task_and_what_it_waits_for_stand_beside_each_other() -> None:
    _, new = changed(
        (),
        {"act": "task", "title": "plumber", "details": {"date": "Friday"}},
        {"act": "task", "title": "empty the cupboard", "in": "plumber"},
        {"act": "need", "on": "plumber", "refs": ["empty the cupboard"]},
    )
    assert new == ["plumber needs empty the cupboard", "plumber / date = Friday", "empty the cupboard"]


def test_a_new_task_waits_for_what_it_refers_to() -> None:
    before = [Add(slot="a", title="sand")]
    _, new = changed(before, {"act": "task", "title": "paint", "refs": [1]})
    assert new == ["paint needs sand"]


def test_who_does_it_comes_goes_and_changes() -> None:
    before: list[Operation] = [Add(slot="a", title="sand")]
    assert changed(before, {"act": "assign", "on": 1, "value": "Ana"})[1] == ["sand / assignee = Ana"]
    before += [Add(slot="a.assignee", title="assignee", value="Ana", parent="t1")]
    assert changed(before, {"act": "assign", "on": 2, "value": "Bo"})[1] == ["sand / assignee = Bo"]
    assert changed(before, {"act": "assign", "on": 1})[0] == ["sand / assignee = Ana"]
    assert changed(before, {"act": "set", "in": 1, "slot": "who", "value": "Bo"})[1] == [
        "sand / assignee = Bo"
    ]


def test_who_leaves_has_nothing_to_do_any_more() -> None:
    before = [
        Add(slot="trip", title="trip"), Add(slot="trip.guest1", title="Ines", parent="t1"),
        Add(slot="trip.task", title="book", parent="t1"), Add(slot="other", title="other"),
        Add(slot="trip.task.assignee", title="assignee", value="ines", parent="t3"),
        Add(slot="other.assignee", title="assignee", value="Ines", parent="t4"),
    ]  # fmt: skip
    gone, new = changed(before, {"act": "remove", "on": 2})
    assert (gone, new) == (["trip / Ines", "trip / book / assignee = ines"], [])


def test_several_people_may_do_it() -> None:
    step = {"act": "task", "title": "tea", "items": {"who": ["Kath", "Jo"]}}
    assert changed((), step)[1] == ["tea", "tea / assignee = Kath and Jo"]
    before = [
        Add(slot="tea", title="tea"),
        Add(slot="tea.a", title="assignee", value="Kath and Jo", parent="t1"),
    ]
    assert changed(before, {"act": "remove", "on": 1, "value": "Jo"})[1] == ["tea / assignee = Kath"]


def test_one_more_joins_who_does_it() -> None:
    before: list[Operation] = [
        Add(slot="a", title="pack"),
        Add(slot="a.assignee", title="assignee", value="Ann", parent="t1"),
    ]
    assert changed(before, {"act": "add", "in": 1, "items": {"who": ["Ann"]}}) == ([], [])
    for names in (["Bo"], ["Ann", "Bo"]):
        step = {"act": "add", "in": 1, "items": {"who": names}}
        assert changed(before, step)[1] == ["pack / assignee = Ann and Bo"]
    assert changed([before[0]], {"act": "add", "in": 1, "items": {"who": "Bo"}})[1] == [
        "pack / assignee = Bo"
    ]


@pytest.mark.parametrize("names", [["ann"], ["ANN and Ann"], ["Bo, ann"], ["Bo", "bo and Ann"]])
def test_nobody_does_it_twice_however_the_name_is_written(names: list[str]) -> None:
    before: list[Operation] = [
        Add(slot="a", title="pack"),
        Add(slot="a.assignee", title="assignee", value="Ann", parent="t1"),
    ]
    new = ["pack / assignee = Ann and Bo"] if "Bo" in " ".join(names) else []
    assert changed(before, {"act": "add", "in": 1, "items": {"who": names}})[1] == new


def test_a_crowd_is_kept_by_name() -> None:
    crowd = [f"P{number}" for number in range(12)]
    made = changed((), {"act": "task", "title": "lift", "items": {"who": crowd}})[1]
    assert made[1] == f"lift / assignee = {', '.join(crowd[:-1])} and P11"


def test_more_of_a_thing_is_counted_onto_it() -> None:
    before = [Add(slot="a", title="order"), Add(slot="a.item1", title="20 jars", parent="t1"),
              Add(slot="a.item2", title="twelve lids", parent="t1")]  # fmt: skip
    assert changed(before, {"act": "add", "in": 1, "items": {"item": "6 more lids"}}) == (
        ["order / twelve lids"], ["order / 18 lids"],
    )  # fmt: skip
    assert changed(before, {"act": "add", "in": 1, "items": {"item": "6 more cans"}}) == (
        [], ["order / 6 more cans"],
    )  # fmt: skip
    assert changed(before, {"act": "set", "on": 2, "value": "30"})[1] == ["order / 30 jars"]


def test_more_of_what_is_done_is_another_thing() -> None:
    before: list[Operation] = [
        Add(slot="a", title="order"),
        Add(slot="a.item1", title="12 lids", parent="t1"),
        Complete(task="t2"),
    ]
    assert changed(before, {"act": "add", "in": 1, "items": {"item": "6 more lids"}}) == (
        [], ["order / 6 more lids"],
    )  # fmt: skip


@pytest.mark.parametrize("words", ["-3 more lids", "0 more lids", "−3 more lids", "zero more lids"])
def test_less_than_one_more_is_asked_about(words: str) -> None:
    before = [Add(slot="a", title="order"), Add(slot="a.item1", title="12 lids", parent="t1")]
    graph, (asked,), _ = grounded(before, {"act": "add", "in": 1, "items": {"item": words}})
    assert isinstance(asked, Clarify)
    assert graph == graph_of(*before)


def test_a_shared_thing_is_replaced_in_one_task_only() -> None:
    before: list[Operation] = [*COOKING, Link(task="t4", on="t3")]
    gone, new = changed(before, {"act": "replace", "in": 4, "old": "celery", "value": "leek"})
    assert gone == ["make dumplings needs chop celery"]
    assert new == ["make dumplings", "make dumplings / chop leek"]


def test_a_weekday_is_replaced_however_it_was_written() -> None:
    before = [*parts("t1", "a", day="saturday"), *parts("t3", "b", day="Sat evening")]
    assert changed(before, {"act": "replace", "old": "sat", "value": "sunday"})[1] == [
        "a / day = sunday", "b / day = Sunday evening",
    ]  # fmt: skip


def test_only_some_of_a_list_stay() -> None:
    assert changed(CART, {"act": "only", "on": 1, "refs": [4], "items": {"item": ["stand"]}}) == (
        ["cart / black case", "cart / clear case"], ["cart / stand"],
    )  # fmt: skip


def test_a_time_is_no_name_of_a_task() -> None:
    before = [Add(slot="a", title="sand"), *parts("t2", "b", date="Friday")]
    with pytest.raises(WireError, match="has no value of its own"):
        grounded(before, {"act": "set", "on": 1, "value": "Friday"})
    with pytest.raises(WireError, match="there is no task deadline"):
        grounded(before, {"act": "set", "in": "deadline", "value": "Friday"})
    step = Step(text="make it Monday", act="set", target="sand", task="t1", value="Monday")
    (asked,) = ground_exactly([step], View(graph_of(*before)))
    assert isinstance(asked, Clarify)


def test_words_that_name_two_tasks_are_asked_about() -> None:
    graph, (asked,), _ = grounded(CART, {"act": "remove", "on": "case"})
    assert isinstance(asked, Clarify)
    assert asked.options == ("black case", "clear case")
    assert graph == graph_of(*CART)
    with pytest.raises(WireError, match="there is no task yacht"):
        grounded(CART, {"act": "remove", "on": "yacht"})
    step = Step(text="drop the yacht", act="remove", target="yacht")
    (unknown,) = ground_exactly([step], View(graph_of(*CART)))
    assert isinstance(unknown, Clarify)


def test_what_is_not_in_a_task_does_not_take_it_out() -> None:
    graph, (asked,), _ = grounded(CART, {"act": "remove", "on": 1, "value": "cream"})
    assert isinstance(asked, Clarify)
    assert graph == graph_of(*CART)
    assert changed(CART, {"act": "remove", "on": 1, "value": "charger"})[0] == ["cart / charger"]
    assert changed(CART, {"act": "remove", "on": 4, "value": "charger"})[0] == ["cart / charger"]


def test_part_of_a_text_and_parts_that_have_left() -> None:
    before = parts("t1", "a", gear="rope, tent and stove")
    assert changed(before, {"act": "remove", "on": 2, "value": "tent"})[1] == ["a / gear = rope and stove"]
    before = [*CART, Remove(task="t2"), Inactivate(task="t3")]
    assert changed(before, {"act": "resume", "on": [2, 3]})[1] == ["cart / black case", "cart / clear case"]


# ---- answers and questions ------------------------------------------------------------------------


def test_an_answer_takes_what_was_offered() -> None:
    assert grounded(PROPOSED, {"act": "yes"})[1] == (Confirm(intent="update", said="the words", task="t2"),)
    assert grounded(PROPOSED, {"act": "no", "on": 2})[0]["t2"].status == "removed"
    assert changed(CART, {"act": "yes", "value": "Clear Case"}, question=WHICH)[0] == ["cart / clear case"]
    _, operations, _ = grounded(CART, {"act": "yes"}, question=WHICH)
    assert [type(one) for one in operations] == [Clarify]
    assert changed([Add(slot="trip", title="trip")], {"act": "yes", "value": "aisle"}, question=SEAT)[1] == [
        "trip / seat = aisle"
    ]


PARTY = [*parts("t1", "party", date="Friday", time="7 PM", place="the barn"),
         Add(slot="party.task", title="bake", parent="t1"),
         Add(slot="party.task.assignee", title="assignee", value="Ana", parent="t5"),
         Add(slot="party.task2", title="sweep for Otto", parent="t1"),
         Add(slot="walk", title="walk Otto")]  # fmt: skip
ASKED: list[tuple[dict[str, Any], tuple[str, ...], str | None]] = [
    ({"q": "value", "on": 2}, ("t2",), None),
    ({"q": "value", "in": 1, "slot": "place"}, ("t4",), None),
    ({"q": "when", "on": 1}, ("t2", "t3"), None),
    ({"q": "where", "on": 1}, ("t4",), None),
    ({"q": "who", "on": 5}, ("t6",), None),
    ({"q": "who", "on": 7}, ("t7",), "who"),
    ({"q": "value", "in": 1, "slot": "budget"}, ("t1",), "budget"),
    ({"q": "left", "on": [1, 5]}, ("t1", "t5"), None),
    ({"q": "list", "in": 1, "value": "Ana"}, ("t5",), None),
    ({"q": "left", "value": "Ana"}, ("t5",), None),
    ({"q": "left"}, (), None),
    ({"q": "list", "value": "Friday"}, ("t1",), None),
    ({"q": "left", "on": 7}, ("t7", "t8"), None),
    ({"q": "list", "in": 1}, ("t1",), None),
]


@pytest.mark.parametrize(
    ("asked", "tasks", "lacking"), ASKED, ids=[json.dumps(asked) for asked, _, _ in ASKED]
)
def test_a_question_is_about_what_it_names(
    asked: dict[str, Any], tasks: tuple[str, ...], lacking: str | None
) -> None:
    graph, (check,), _ = grounded(PARTY, {"act": "ask", **asked})
    assert isinstance(check, Check)
    assert (check.question.tasks, check.question.slot) == (tasks, lacking)
    assert graph == graph_of(*PARTY)


def test_what_somebody_has_of_a_list_is_told_by_the_slots_that_say_so() -> None:
    before: list[Operation] = [
        Add(slot="t", title="tuitions"),
        Add(slot="t.student1", title="Tanvi", parent="t1"),
        Add(slot="t.a", title="English", parent="t1"),
        Add(slot="t.a.student", title="student", value="Tanvi", parent="t3"),
        Add(slot="t.b", title="science", parent="t1"),
        Add(slot="t.b.student", title="student", value="Tanvi", parent="t5"),
    ]
    _, (check,), _ = grounded(before, {"act": "ask", "q": "list", "on": 1, "value": "Tanvi"})
    assert isinstance(check, Check)
    assert check.question.tasks == ("t3", "t5")


def test_who_had_what_is_gone_can_be_asked() -> None:
    who = Add(slot="stove.assignee", title="assignee", value="Rolf", parent="t1")
    before = [*parts("t1", "stove", price="12 euro"), who, Remove(task="t1")]
    for slot, held in (("who", "Rolf"), ("price", "12 euro")):
        graph, operations, _ = grounded(before, {"act": "ask", "q": "value", "on": 1, "slot": slot})
        (check,) = operations
        assert isinstance(check, Check)
        assert [graph[key].value for key in check.question.tasks] == [held]


def test_what_was_before_a_task() -> None:
    swept = [*PARTY, Update(task="t6", value="Bo"), Link(task="t5", on="t7")]
    _, (check,), _ = grounded(swept, {"act": "ask", "q": "before", "on": 5})
    assert isinstance(check, Check)  # it was Ana's
    assert (check.question.kind, check.question.tasks) == ("before", ("t6",))
    waiting = [*PARTY, Link(task="t7", on="t5")]
    _, (check,), _ = grounded(waiting, {"act": "ask", "q": "before", "on": 7})
    assert isinstance(check, Check)  # it was never anything else, and comes after baking
    assert (check.question.kind, check.question.tasks) == ("needs", ("t7",))
    _, (check,), _ = grounded(PARTY, {"act": "ask", "q": "before", "on": 8})
    assert isinstance(check, Check)
    assert (check.question.kind, check.question.tasks) == ("before", ("t8",))


# ---- whatever a model writes ----------------------------------------------------------------------

NUMBERS = st.integers(1, 7)
WORDS = st.sampled_from(["Friday", "8 PM", "the barn", "bake", "Ana", "Zed", "party", "+1 day", "*2", "x"])
ACTS = sorted({*get_args(Act), "order"} - {"again"})
KINDS = st.sampled_from(["guest", "item", "task", "boat"])
PART = st.fixed_dictionaries({"who": st.lists(WORDS, min_size=1, max_size=1)})
STEP = st.fixed_dictionaries(
    {"act": st.sampled_from(ACTS)},
    optional={
        "on": NUMBERS | WORDS | st.lists(NUMBERS, min_size=1, max_size=2),
        "in": NUMBERS | WORDS,
        "slot": st.sampled_from(["date", "place", "budget", "who", "arrival time"]),
        "title": WORDS,
        "value": WORDS,
        "old": WORDS,
        "items": st.dictionaries(KINDS, st.lists(WORDS, min_size=1, max_size=2), max_size=2),
        "details": st.dictionaries(st.sampled_from(["date", "who", "cost"]), WORDS, max_size=2),
        "refs": st.lists(NUMBERS | WORDS, min_size=1, max_size=2),
        "parts": st.lists(PART, min_size=2, max_size=2),
        "q": st.sampled_from(["value", "who", "when", "left", "claim", "ever", "needs", "list", "other"]),
        "to": st.just("first"),
    },
)


@given(st.lists(STEP, min_size=1, max_size=4))
def test_any_steps_give_operations_that_leave_a_sound_plan(steps: list[dict[str, Any]]) -> None:
    try:
        graph, operations, _ = grounded(PARTY, *steps)
    except WireError:
        return
    if all(step["act"] in ("ask", "chat", "unsure") for step in steps):
        assert graph == graph_of(*PARTY)
        assert all(isinstance(one, Check | Clarify) for one in operations)


@given(NUMBERS, WORDS)
def test_a_set_on_a_number_changes_nothing_else(number: int, value: str) -> None:
    try:
        graph, operations, _ = grounded(PARTY, {"act": "set", "on": number, "value": value})
    except WireError:
        return  # a time is no name of a task
    before = graph_of(*PARTY)
    moved = {key for key in before if graph[key] != before[key]}
    assert moved <= {f"t{number}"} | {node.id for node in before.parts(f"t{number}")}
    assert len(operations) <= 1
    assert not any(isinstance(one, Rollback) for one in operations)


def test_a_slot_is_asked_for_by_a_sign_that_is_no_word() -> None:
    loan = parts("t1", "loan", copies="3", fine="$60")
    _, operations, _ = grounded(loan, {"act": "ask", "q": "value", "on": 1, "slot": "£"})
    assert [operation.kind for operation in operations] == ["check"]
