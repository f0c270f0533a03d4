"""What the network is told beside a message."""

from __future__ import annotations

from taskloom.agent.reading.heard import LAST_WORDS, PLAN_WORDS, TITLES, heard, joined, listed, titles
from taskloom.agent.reading.spelling import written_out
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Add, Remove, apply
from taskloom.memory.tasks import TaskGraph


def _plan() -> TaskGraph:
    graph = TaskGraph()
    for number, (slot, title, value, parent) in enumerate(
        (
            ("trip", "trip to Rome", None, None),
            ("trip.date", "date", "June 10", "t1"),
            ("party", "party", None, None),
            ("party.item1", "Ann", None, "t3"),
            ("party.item2", "a very long title of many words", None, "t3"),
        ),
        1,
    ):
        graph = apply(
            graph, Add(slot=slot, title=title, value=value, parent=parent), turn=number, said=""
        ).graph
    return graph


def test_titles_of_what_was_spoken_of_come_first_and_slots_are_none() -> None:
    graph = _plan()
    assert titles(View(graph, focus=("t4",))) == "Ann; party; trip to Rome; a very long title"
    assert titles(View(graph, focus=("t2",))) == "trip to Rome; party; Ann; a very long title"


def test_what_has_left_is_not_told() -> None:
    graph = apply(_plan(), Remove(task="t4"), turn=9, said="").graph
    assert "Ann" not in titles(View(graph, focus=("t4", "t3")))


def test_the_last_reply_comes_after_the_plan() -> None:
    view = View(_plan(), exchanges=(("hi", "Noted the trip."), ("and Ann", "Added Ann.")))
    assert heard(view).endswith(" | Added Ann.")
    assert heard(View(TaskGraph())) == ""
    assert joined("", "word " * 100).split() == ["word"] * LAST_WORDS


def test_a_large_plan_is_cut() -> None:
    assert listed(f"task {number}" for number in range(99)).count(";") == TITLES - 1
    assert len(listed("one two three four five" for _ in range(99)).replace(";", "").split()) <= PLAN_WORDS


def test_lists_in_lines_and_short_forms_are_written_out() -> None:
    assert (
        written_out("Visit\n- 22 April\n- demo 14:00\n- taxi 16:45")
        == "Visit: 22 April, demo 14:00, taxi 16:45"
    )
    assert written_out("1. book hall\n2. invite Ann") == "book hall, invite Ann"
    assert written_out("bins b4 2moro") == "bins before tomorrow"
    for kept in ("one\n\nTwo whole sentences. And one more!", "B4 paper", "see /b4/x"):
        assert written_out(kept) == kept
