"""Which tasks go into a prompt, in which order, and how texts are compared."""

from __future__ import annotations

import pytest

from taskloom.memory.operations import Add, Check, Link, Operation, Question, Replace, Update, apply
from taskloom.memory.retrieve import Closure, closure, matching, render, render_revision, seeds, tokens
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.words import clock, month_day, number_in, says, stem, words


@pytest.fixture
def graph() -> TaskGraph:
    """t1 trip: t2 start, t3 date, t4 flight (needs both); t5 packing needs the flight; t6 soup."""
    graph = TaskGraph()
    turns: list[Operation] = [
        Add(slot="trip", title="Trip to Oslo"),
        Add(slot="trip.departure_city", title="Start", value="Boston", parent="t1"),
        Add(slot="trip.date", title="Date", value="June 10th", parent="t1"),
        Add(slot="trip.flight", title="Flight", parent="t1", depends_on=("t2", "t3")),
        Add(slot="packing", title="Pack the bags", depends_on=("t4",)),
        Add(slot="soup", title="Make mushroom soup"),
        Update(task="t2", value="Chicago"),
    ]
    for turn, operation in enumerate(turns, start=1):
        graph = apply(graph, operation, turn=turn, said=f"words {turn}").graph
    return graph


def test_closure_is_what_the_seeds_rest_on_and_are_part_of(graph: TaskGraph) -> None:
    found = closure(graph, ["t5", "t99", "t5"])
    assert found.tasks == ("t2", "t3", "t4", "t5")
    assert found.left_out == 0
    assert closure(graph, ["t3"]).tasks == ("t3", "t1")
    assert closure(graph, []) == Closure()


def test_closure_of_a_whole_task_holds_its_parts(graph: TaskGraph) -> None:
    whole = Question(kind="summary", tasks=("t1",))
    assert closure(graph, ["t1"], question=whole).tasks == ("t2", "t3", "t4", "t1")
    assert closure(graph, ["t1"], question=Question(kind="value", tasks=("t1",))).tasks == ("t1",)


def test_closure_holds_the_states_that_a_claim_is_about(graph: TaskGraph) -> None:
    claim = Question(kind="claim", tasks=("t2",), value="boston")
    assert closure(graph, ["t2"], question=claim).revisions == (("t2", 0),)
    other = Question(kind="claim", tasks=("t2",), value="Denver")
    assert closure(graph, ["t2"], question=other).revisions == ()
    assert closure(graph, ["t2"], question=Question(kind="before", tasks=("t2",))).revisions == (("t2", 0),)
    assert closure(graph, ["t2"], question=Question(kind="list", tasks=("t2",))).revisions == ()


def test_closure_is_cut_in_order(graph: TaskGraph) -> None:
    claim = Question(kind="history", tasks=("t4", "t2"))
    full = closure(graph, ["t4", "t2"], question=claim)
    assert (full.tasks, full.revisions) == (("t2", "t3", "t4", "t1"), (("t4", 0), ("t2", 0)))
    taken = set()
    for budget in range(full.tokens + 1):
        found = closure(graph, ["t4", "t2"], question=claim, budget=budget)
        assert found.tokens <= budget
        assert len(found.tasks) + len(found.revisions) + found.left_out == 6
        taken.add((found.tasks, found.revisions))
    assert sorted(len(tasks) + len(states) for tasks, states in taken) == [0, 1, 2, 3, 4, 5, 6]
    assert closure(graph, ["t4"], budget=25).tasks == ("t4",)


def test_lines(graph: TaskGraph) -> None:
    assert render(graph["t2"]) == 't2 trip.departure_city "Start": Chicago (filled, in t1)'
    assert render(graph["t4"]) == 't4 trip.flight "Flight" (open, in t1, needs t2 t3, stale since turn 7)'
    assert render_revision(graph["t2"], 0) == (
        't2 was "Start": Boston (filled, turns 2 to 7, then update: "words 7")'
    )
    quiet = apply(graph, Update(task="t6", title="a\nb " * 90), turn=8).graph
    assert render_revision(quiet["t6"], 0).endswith("then update)")
    assert "\n" not in render(quiet["t6"])
    assert len(render(quiet["t6"])) < 120


def test_tokens() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "東京")] == [0, 1, 1, 2, 2]


def test_seeds(graph: TaskGraph) -> None:
    operations: list[Operation] = [
        Link(task="t6", on="t5"),
        Replace(old="a", new="b", tasks=("t1",)),
        Check(question=Question(kind="claim", about="the date", value="Boston", container=None)),
        Check(question=Question(kind="list", container="t99")),
        Add(slot="x", title="x", parent="t77"),
    ]
    assert seeds(graph, operations, changed=("t4",)) == ("t4", "t6", "t5", "t1", "t3", "t2")


def test_matching(graph: TaskGraph) -> None:
    assert matching(graph, "when is the date?") == ("t3",)
    assert matching(graph, "departing city") == ("t2",)
    assert matching(graph, "mushrooms")[0] == "t6"
    assert matching(graph, "june 10") == ("t3",)
    assert matching(graph, "packing for Oslo") == ("t5", "t1")
    assert matching(graph, "is it the?") == ()
    assert matching(graph, "yacht") == matching(TaskGraph(), "date") == ()
    assert matching(graph, "Boston") == ()
    assert matching(graph, "Boston", gone=True) == ("t2",)
    assert matching(graph, "dat") == ("t3",)
    assert matching(graph, "pa") == ()
    assert matching(graph, "trip", limit=1) == ("t1",)


@pytest.mark.parametrize(
    ("claimed", "text", "expected"),
    [
        ("boston", "Boston, MA", True),
        ("2 PM", "at 2pm", True),
        ("2 p.m.", "2 PM", True),
        ("2:00 PM", "2 p. m.", True),
        ("2 PM", "2:45 PM", False),
        ("June 10", "June 10th", True),
        ("June 1", "June 10", False),
        ("$1,200", "1200 dollars", True),
        ("1,2", "12", False),
        ("the charger", "a charger", True),
        ("the", "the end", True),
        ("mushroom", "Mushrooms", True),
        ("case", "bookcase", False),
        ("sao paulo", "São Paulo", True),
        ("three crates", "3 crates of beer", True),
        ("dig the bed", "dug the bed", True),
        ("digging", "the bed is dug", True),
        ("3 crates", "three crates", True),
        ("two", "12 crates", False),
        ("clear case", "clear iPhone case", False),
        ("seven", "half past seven", False),
        ("7", "quarter to 7", False),
        ("half past seven", "half past 7", True),
        ("16", "12 to 16 May", True),
        ("Thursday", "thurs 3.40", True),
        ("sat", "Saturday", True),
        ("June 5", "jun 5th", True),
        ("★", "five ★", True),
        (" ", "x", False),
        ("x", None, False),
    ],
)
def test_says(claimed: str, text: str | None, expected: bool) -> None:
    assert says(claimed, text) is expected


def test_words() -> None:
    assert words("Bob’s 2 p.m. meetings, planned") == ("bob", "2", "pm", "meet", "plan")
    assert stem("calling") == "call"
    assert {*words("wrote written writing writes")} == {stem("write")}
    assert stem("red") == "red"
    assert [number_in(text) for text in ("two sessions", "12 parts", "the parts", "v2 9999999999")] == [
        2,
        12,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("15:45", 945), ("3:45 pm", 945), ("3.45 p.m.", 945), ("10 am", 600), ("10:00 in the morning", 600),
        ("at 12 am", 0), ("12 pm", 720), ("8 in the evening", 1200), ("7", None), ("25:00", None),
        ("13 pm", None), ("noonish", None),
    ],
)  # fmt: skip
def test_a_time_of_day_is_the_same_in_every_form(text: str, minute: int | None) -> None:
    assert clock(text) == minute


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("July 27th", ("jul", 27)), ("the 27th of July", ("jul", 27)), ("on 27 Jul", ("jul", 27)),
        ("May 5", ("may", 5)), ("July", None), ("27", None),
    ],
)  # fmt: skip
def test_a_day_is_the_same_in_every_form(text: str, day: tuple[str, int] | None) -> None:
    assert month_day(text) == day


def test_what_is_the_same_moment_is_said() -> None:
    assert says("15:45", "3:45 pm")
    assert says("27th of July", "July 27th")
    assert not says("15:45", "3:50 pm")
    assert not says("July 4th", "July 27th")


def test_notes_are_a_word_and_no_denial() -> None:
    assert words("the release notes") == ("the", "releas", "note")
    assert stem("noted") == stem("notes") == "note"
    assert stem("canes") == "cane"
