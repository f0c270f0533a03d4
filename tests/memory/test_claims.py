"""Questions answered from history: the verdicts and every kind of question, by example."""

from __future__ import annotations

from typing import Any

import pytest

from taskloom.memory.claims import Answer, Verdict, answer, events, members, state_text
from taskloom.memory.operations import (
    Add,
    Complete,
    Inactivate,
    Link,
    Merge,
    Operation,
    Part,
    Question,
    Remove,
    Replace,
    Restore,
    Rollback,
    Split,
    Undo,
    Unlink,
    Update,
    apply,
)
from taskloom.memory.tasks import TaskGraph


def play(*turns: tuple[str, list[Operation]]) -> TaskGraph:
    """The graph after some turns: words and operations."""
    graph = TaskGraph()
    for number, (said, operations) in enumerate(turns, start=1):
        for operation in operations:
            outcome = apply(graph, operation, turn=number, said=said)
            assert outcome.refused is None, outcome.refused
            graph = outcome.graph
    return graph


def ask(graph: TaskGraph, kind: Any, *tasks: str, **fields: Any) -> Answer:
    return answer(graph, Question(kind=kind, tasks=tasks, **fields))


def verdict(graph: TaskGraph, kind: Any, *tasks: str, **fields: Any) -> Verdict:
    found = ask(graph, kind, *tasks, **fields).verdict
    assert found is not None
    return found


@pytest.fixture
def trip() -> TaskGraph:
    """t1 trip: t2 destination, t3 start, t4 date, t5 flight."""
    return play(
        ("plan a trip", [Add(slot="trip", title="Trip")]),
        ("to Seattle", [Add(slot="trip.destination", title="Destination", value="Seattle", parent="t1")]),
        ("from Chicago", [Add(slot="trip.start", title="Start", value="Chicago", parent="t1")]),
        ("on June 10th", [Add(slot="trip.date", title="Date", value="June 10th", parent="t1")]),
        ("make it San Francisco", [Update(task="t2", value="San Francisco")]),
        ("June 15th", [Update(task="t4", value="June 15th")]),
        ("back to Seattle", [Rollback(task="t2")]),
        ("book it", [Add(slot="trip.flight", title="Flight", parent="t1", depends_on=("t2", "t3", "t4"))]),
    )


@pytest.fixture
def kitchen() -> TaskGraph:
    """t1 soup: t2 celery, replaced by mushrooms; t3 dumplings: t4 tomatoes, t5 shrimp, and the celery too."""
    soup = Add(slot="soup", title="soup")
    celery = Add(slot="soup.ingredient", title="celery", parent="t1")
    return play(
        ("soup with celery", [soup, celery]),
        (
            "dumplings with tomatoes and shrimp",
            [
                Add(slot="dumplings", title="dumplings"),
                Add(slot="dumplings.ingredient", title="chop tomatoes", parent="t3"),
                Add(slot="dumplings.ingredient2", title="peel & chop shrimp", parent="t3"),
            ],
        ),
        ("also celery in the dumplings", [Link(task="t3", on="t2")]),
        ("mushrooms instead", [Replace(old="celery", new="mushrooms")]),
    )  # fmt: skip


@pytest.fixture
def meeting() -> TaskGraph:
    """t1 meeting: t2 time, t3 Alice, t4 Bob; split in turn 3, merged in turn 4, when it is moved to 3 PM."""
    split = Split(
        task="t1",
        parts=(
            Part(title="Bob's part", values=(("time", "2 to 2:45"),), members=("t4",)),
            Part(title="the rest", values=(("time", "4 PM"),), members=("t3",)),
        ),
    )
    return play(
        (
            "a meeting at 2 PM with Alice and Bob",
            [
                Add(slot="meeting", title="Meeting"),
                Add(slot="meeting.time", title="Time", value="2 PM", parent="t1"),
                Add(slot="meeting.participant", title="Alice", parent="t1"),
                Add(slot="meeting.participant2", title="Bob", parent="t1"),
            ],
        ),
        ("4 PM", [Update(task="t2", value="4 PM")]),
        ("split it", [split]),
        ("one meeting at 3", [Merge(task="t1"), Update(task="t2", value="3 PM")]),
    )


def test_a_value_never_held(trip: TaskGraph) -> None:
    found = verdict(trip, "claim", "t3", value="Boston")
    assert (found.kind, found.task, found.now, found.claimed) == ("never", "t3", "Chicago", "Boston")


def test_a_value_held_now(trip: TaskGraph) -> None:
    found = verdict(trip, "claim", "t3", value="chicago")
    assert (found.kind, found.now, found.since, found.said) == ("holds", "Chicago", 3, "from Chicago")


def test_a_value_held_again_holds_since_it_came_back(trip: TaskGraph) -> None:
    found = verdict(trip, "claim", "t2", value="Seattle")
    assert (found.kind, found.since, found.op) == ("holds", 7, "rollback")


def test_a_value_held_before(trip: TaskGraph) -> None:
    found = verdict(trip, "claim", "t4", value="June 10")
    assert (found.kind, found.since, found.until) == ("was", 4, 6)
    assert (found.replaced_by, found.now, found.op, found.said) == (
        "June 15th",
        "June 15th",
        "update",
        "June 15th",
    )


def test_what_was_rolled_back_is_history(trip: TaskGraph) -> None:
    found = verdict(trip, "claim", "t2", value="San Francisco")
    assert (found.kind, found.since, found.until, found.replaced_by) == ("was", 5, 7, "Seattle")


def test_what_was_undone_is_history(trip: TaskGraph) -> None:
    graph = apply(trip, Update(task="t3", value="Boston, MA"), turn=9).graph
    graph = apply(graph, Undo(), turn=10, said="undo that").graph
    found = verdict(graph, "claim", "t3", value="Boston")
    assert (found.kind, found.since, found.until, found.op) == ("was", 9, 10, "undo")


def test_a_claim_on_a_whole_looks_at_its_parts(trip: TaskGraph) -> None:
    assert verdict(trip, "claim", "t1", value="June 10th").kind == "was"
    found = verdict(trip, "claim", "t1", value="Boston")
    assert (found.kind, found.now) == ("never", None)


def test_a_claim_on_everything(trip: TaskGraph) -> None:
    assert verdict(trip, "claim", value="Chicago").task == "t3"
    assert verdict(trip, "claim", value="Boston").kind == "never"
    assert verdict(trip, "claim", value="Boston", about="start of it").now == "Chicago"
    assert verdict(trip, "claim", value="500", about="the budget").kind == "unknown"
    assert verdict(trip, "ever", value="500", about="the budget").kind == "never"


def test_claims_on_what_is_not_there(trip: TaskGraph) -> None:
    assert verdict(trip, "claim", "t99", value="Boston").kind == "unknown"
    assert verdict(trip, "claim", value="Boston", container="t99").kind == "unknown"
    assert verdict(trip, "claim", about="the yacht").kind == "unknown"
    assert ask(trip, "claim", "t99", value="Boston").tasks == ()


def test_celery_was_part_of_the_soup(kitchen: TaskGraph) -> None:
    found = verdict(kitchen, "claim", value="celery", container="t1", denied=True)
    assert (found.kind, found.since, found.until) == ("was", 1, 4)
    assert (found.replaced_by, found.op, found.said, found.now) == (
        "mushrooms", "replace", "mushrooms instead", "mushrooms",
    )  # fmt: skip


def test_a_shared_task_is_in_both_from_when_it_was_shared(kitchen: TaskGraph) -> None:
    found = verdict(kitchen, "claim", value="celery", container="t3")
    assert (found.kind, found.since, found.until, found.replaced_by) == ("was", 3, 4, "mushrooms")
    assert verdict(kitchen, "claim", value="mushrooms", container="t3").kind == "holds"
    assert verdict(kitchen, "claim", value="shrimp", container="t1").kind == "never"


def test_a_removal_never_asked_for_tells_of_the_replacement(kitchen: TaskGraph) -> None:
    found = verdict(kitchen, "ever", value="celery", container="t3", act="remove", about="celery")
    assert (found.kind, found.replaced_by, found.until, found.op) == ("never", "mushrooms", 4, "replace")
    assert found.said == "mushrooms instead"


def test_only_the_exchanged_words_replace() -> None:
    graph = play(
        ("chop", [Add(slot="soup", title="wash and chop celery now")]),
        ("no", [Replace(old="celery", new="two mushrooms")]),
        ("so", [Update(task="t1", title="buy bread")]),
    )
    assert verdict(graph, "claim", value="celery").replaced_by == "two mushrooms"
    assert verdict(graph, "claim", value="mushrooms").replaced_by == "buy bread"


def test_the_end_of_sharing_ends_being_part(kitchen: TaskGraph) -> None:
    graph = apply(kitchen, Unlink(task="t3", on="t2"), turn=5, said="no mushrooms in the dumplings").graph
    found = verdict(graph, "claim", value="mushrooms", container="t3")
    assert (found.kind, found.until, found.op, found.now) == ("was", 5, "unlink", None)
    asked = verdict(graph, "ever", value="mushrooms", container="t3", act="remove")
    assert (asked.kind, asked.since, asked.said) == ("holds", 5, "no mushrooms in the dumplings")
    again = apply(graph, Link(task="t3", on="t2"), turn=6).graph
    asked = verdict(again, "ever", value="mushrooms", container="t3", act="remove")
    assert (asked.kind, asked.since, asked.until) == ("was", 5, 6)


def test_a_part_of_a_part_is_in_the_whole(kitchen: TaskGraph) -> None:
    graph = apply(kitchen, Add(slot="soup.ingredient.salt", title="salt", parent="t2"), turn=5).graph
    for whole in ("t1", "t2", "t3"):
        assert verdict(graph, "claim", value="salt", container=whole).kind == "holds"
    used = apply(graph, Link(task="t4", on="t6"), turn=6).graph
    assert verdict(used, "claim", value="salt", container="t4").since == 6
    assert verdict(used, "claim", "t6", container="t4").claimed == "salt"


def test_did_i_ever_add(kitchen: TaskGraph) -> None:
    found = verdict(kitchen, "ever", value="celery", container="t3", act="add")
    assert (found.kind, found.since, found.until, found.op) == ("was", 3, 4, "link")
    found = verdict(kitchen, "ever", value="shrimp", act="add")
    assert (found.kind, found.since, found.op) == ("holds", 2, "add")
    assert verdict(kitchen, "ever", value="mushrooms", act="add").kind == "never"


def test_did_i_ever_remove() -> None:
    graph = play(
        ("a charger", [Add(slot="cart", title="Cart"), Add(slot="cart.item", title="charger", parent="t1")]),
        ("no charger", [Remove(task="t2")]),
    )
    found = verdict(graph, "ever", value="charger", act="remove")
    assert (found.kind, found.since, found.said, found.now) == ("holds", 2, "no charger", None)
    graph = apply(graph, Restore(task="t2"), turn=3, said="keep it").graph
    assert verdict(graph, "ever", value="charger", act="remove").kind == "was"
    never = verdict(graph, "ever", "t1", act="remove")
    assert (never.kind, never.now) == ("never", "Cart")


def test_did_i_ever_change(trip: TaskGraph) -> None:
    found = verdict(trip, "ever", "t4", act="update")
    assert (found.kind, found.since, found.said) == ("holds", 6, "June 15th")
    assert verdict(trip, "ever", "t2", act="update", value="San Francisco").since == 7
    assert verdict(trip, "ever", "t3", act="update").kind == "never"
    assert verdict(trip, "ever", value="Boston", act="update").kind == "never"
    replaced = verdict(trip, "ever", "t2", act="replace", value="Seattle")
    assert (replaced.kind, replaced.since, replaced.until) == ("was", 5, 7)


def test_did_i_ever_finish(trip: TaskGraph) -> None:
    assert verdict(trip, "ever", "t5", act="complete").kind == "never"
    graph = apply(trip, Complete(task="t5"), turn=9, said="booked").graph
    assert verdict(graph, "ever", "t5", act="complete").said == "booked"


def test_what_was_only_mentioned(trip: TaskGraph) -> None:
    graph = apply(trip, Update(task="t5", value="any"), turn=9, said="flights from Boston").graph
    found = verdict(graph, "ever", value="Boston")
    assert (found.kind, found.since, found.said) == ("never", 9, "flights from Boston")
    assert verdict(graph, "ever", value="Denver").since is None


def test_two_sessions(meeting: TaskGraph) -> None:
    found = ask(meeting, "why", "t1", value="two sessions")
    assert found.verdict is not None
    assert (found.verdict.kind, found.verdict.now) == ("was", "1")
    assert (found.verdict.since, found.verdict.until, found.verdict.op) == (3, 4, "merge")
    assert [event.op for event in found.events] == ["add", "split", "merge", "update"]
    assert found.events[1].after == "Bob's part and the rest"
    assert found.events[-1].after == "3 PM"
    assert verdict(meeting, "claim", "t1", value="1 session").kind == "holds"
    assert verdict(meeting, "claim", "t1", value="five sessions").kind == "never"
    assert verdict(meeting, "claim", "t3", value="two sessions").kind == "never"


def test_why_passes_over_other_changes_of_the_parts(meeting: TaskGraph) -> None:
    graph = apply(meeting, Undo(turn=4), turn=5).graph
    graph = apply(graph, Update(task="t5", title="Bob alone"), turn=6).graph
    found = ask(graph, "why", "t1", value="two sessions")
    assert found.verdict is not None
    assert (found.verdict.kind, found.verdict.since) == ("holds", 5)
    assert [(event.turn, event.op) for event in found.events] == [
        (1, "add"),
        (3, "split"),
        (4, "merge"),
        (6, "update"),
    ]


def test_why_of_a_value(trip: TaskGraph) -> None:
    found = ask(trip, "why", "t2", value="Seattle")
    assert [(event.turn, event.before, event.after) for event in found.events] == [
        (7, "San Francisco", "Seattle")
    ]
    assert ask(trip, "why", "t2").verdict is None
    assert ask(trip, "why", value="Chicago").tasks == ("t3",)
    assert ask(trip, "why", about="start").tasks == ("t3",)
    assert verdict(trip, "why", about="yacht").kind == "unknown"


def test_why_of_a_stale_task(trip: TaskGraph) -> None:
    graph = apply(trip, Update(task="t2", value="Denver"), turn=9, said="to Denver").graph
    found = ask(graph, "why", "t5")
    assert [(event.op, event.said) for event in found.events] == [("add", "book it"), ("stale", "to Denver")]


def test_before(trip: TaskGraph) -> None:
    found = ask(trip, "before", "t4")
    assert found.tasks == ("t4",)
    assert found.verdict is not None
    assert (found.verdict.claimed, found.verdict.since, found.verdict.until) == ("June 10th", 4, 6)
    assert (found.verdict.now, found.events[0].after) == ("June 15th", "June 15th")
    assert verdict(trip, "before", "t2").claimed == "San Francisco"
    assert verdict(trip, "before", "t2", value="San Francisco").claimed == "Seattle"
    assert verdict(trip, "before", "t2", value="Boston").claimed == "San Francisco"
    assert verdict(trip, "before", "t3").kind == "never"
    assert verdict(trip, "before", about="the date").claimed == "June 10th"
    assert verdict(trip, "before", about="the yacht").kind == "unknown"


def test_before_it_was_removed(trip: TaskGraph) -> None:
    graph = apply(trip, Complete(task="t5"), turn=9).graph
    graph = apply(graph, Update(task="t2", value="Denver"), turn=10).graph
    graph = apply(graph, Remove(task="t5"), turn=11, said="no flight").graph
    found = verdict(graph, "before", "t5")
    assert (found.claimed, found.since, found.until, found.now) == ("Flight", 8, 11, None)


def test_value_and_status(trip: TaskGraph) -> None:
    assert ask(trip, "value", "t3") == Answer(question=Question(kind="value", tasks=("t3",)), tasks=("t3",))
    assert ask(trip, "value", about="when: the date?").tasks == ("t4",)
    assert verdict(trip, "value", about="the yacht").kind == "unknown"
    assert verdict(trip, "value", "t99").kind == "unknown"
    assert verdict(trip, "value", "t3", value="Boston").kind == "never"
    assert ask(trip, "status").tasks == ("t1",)
    assert ask(trip, "status", "t5").tasks == ("t5",)
    gone = apply(trip, Remove(task="t5"), turn=9, said="no flight").graph
    found = verdict(gone, "status", "t5")
    assert (found.kind, found.until, found.said) == ("was", 9, "no flight")


def test_history(trip: TaskGraph) -> None:
    found = ask(trip, "history", "t2")
    assert [(event.turn, event.op, event.before, event.after) for event in found.events] == [
        (2, "add", None, "Seattle"),
        (5, "update", "Seattle", "San Francisco"),
        (7, "rollback", "San Francisco", "Seattle"),
    ]
    assert events(trip["t2"]) == found.events


def test_list_and_count(kitchen: TaskGraph) -> None:
    assert ask(kitchen, "list", "t1").tasks == ("t2",)
    assert ask(kitchen, "list", "t3").tasks == ("t4", "t5", "t2")
    assert ask(kitchen, "list", "t3", about="ingredients of the dumplings").tasks == ("t4", "t5", "t2")
    assert ask(kitchen, "list", "t3", about="spices").tasks == ("t4", "t5", "t2")
    assert ask(kitchen, "list").tasks == ("t1", "t3")
    assert ask(kitchen, "list", about="all the ingredients").tasks == ("t2", "t4", "t5")
    assert ask(kitchen, "count", "t3").count == 3
    assert ask(kitchen, "list", container="t3").tasks == ("t4", "t5", "t2")
    assert verdict(kitchen, "list", "t1", value="celery").kind == "was"
    assert verdict(kitchen, "list", value="celery").kind == "was"
    assert verdict(kitchen, "list", "t99").kind == "unknown"


def test_participants_of_a_split_meeting(meeting: TaskGraph) -> None:
    split = apply(meeting, Undo(turn=4), turn=5).graph
    assert ask(split, "list", "t1").tasks == ("t5", "t7")
    assert ask(split, "list", "t1", about="participants").tasks == ("t4", "t3")


def test_members() -> None:
    graph = play(
        (
            "a cart",
            [
                Add(slot="cart", title="Cart"),
                Add(slot="cart.thing", title="case", parent="t1"),
                Add(slot="cart.date", title="Delivery", value="Friday", parent="t1"),
            ],
        ),
        ("and", [Add(slot="cart.thing2", title="charger", parent="t1")]),
        ("also", [Add(slot="wraps", title="wraps"), Add(slot="x.thing", title="CASE", parent="t5")]),
        ("share", [Link(task="t1", on="t6"), Link(task="t1", on="t5")]),
    )

    def listed() -> list[str]:
        return [node.title for node in members(graph, "t1")]

    assert listed() == ["case", "charger", "wraps"]  # the shared case is one already
    graph = apply(graph, Remove(task="t4"), turn=5).graph
    assert listed() == ["case", "wraps"]  # still a list: 'thing2' was there
    graph = apply(graph, Remove(task="t2"), turn=6).graph
    assert listed() == ["Delivery", "CASE", "wraps"]
    graph = apply(graph, Inactivate(task="t5"), turn=7).graph
    assert listed() == ["CASE"]  # a part of the cart now, and a thing
    graph = play(
        ("a", [Add(slot="a", title="A"), Add(slot="a.b", title="B", parent="t1"),
               Add(slot="c.b", title="C", parent="t1"), Add(slot="a.d", title="D", parent="t1")]),
    )  # fmt: skip
    assert listed() == ["B", "C"]


def test_summary(trip: TaskGraph, kitchen: TaskGraph) -> None:
    assert ask(trip, "summary", "t3").tasks == ("t1", "t2", "t3", "t4", "t5")
    assert ask(kitchen, "summary", "t4").tasks == ("t3", "t4", "t5")
    assert ask(kitchen, "summary").tasks == ("t1", "t2", "t3", "t4", "t5")
    assert ask(kitchen, "summary", "t99").tasks == ()


@pytest.fixture
def house() -> TaskGraph:
    """t1 house: t2 walls, t3 paint (needs walls), t4 pictures (need paint); t5 visit: t6 date."""
    return play(
        (
            "do up the house",
            [
                Add(slot="house", title="House"),
                Add(slot="house.walls", title="Dry the walls", parent="t1"),
                Add(slot="house.paint", title="Paint", parent="t1", depends_on=("t2",)),
                Add(slot="house.pictures", title="Hang pictures", parent="t1", depends_on=("t3",)),
                Add(slot="visit", title="Visit"),
                Add(slot="visit.date", title="Date", value="red", parent="t5"),
                Add(slot="house.tape", title="Tape", parent="t1", depends_on=("t5", "t6")),
            ],
        ),
    )


def test_left_and_next(house: TaskGraph) -> None:
    assert ask(house, "left").tasks == ("t2", "t3", "t4", "t7", "t1")
    assert ask(house, "next").tasks == ("t2", "t7")
    assert ask(house, "left", "t3").tasks == ("t3",)
    assert ask(house, "left", "t99").tasks == ()
    done = apply(house, Complete(task="t2"), turn=2).graph
    assert ask(done, "left", "t1").tasks == ("t3", "t4", "t7", "t1")
    assert ask(done, "next").tasks == ("t3", "t7")
    gone = apply(done, Remove(task="t3"), turn=3).graph
    assert ask(gone, "left", "t3").tasks == ()
    stale = apply(house, Update(task="t6", value="blue"), turn=2).graph
    assert stale["t7"].stale_since == 2
    assert ask(stale, "left").tasks == ("t2", "t3", "t4", "t7", "t1")
    filled = apply(
        apply(house, Update(task="t7", value="wide"), turn=2).graph,
        Update(task="t6", value="blue"),
        turn=3,
    )
    assert "t7" in ask(filled.graph, "left").tasks


def test_what_has_no_date_is_left_whatever_is_known_of_it() -> None:
    towels = play(
        (
            "6 towels for room 404",
            [
                Add(slot="task", title="6 towels"),
                Add(slot="task.room", title="Room", value="404", parent="t1"),
                Add(slot="dinner", title="Dinner"),
                Add(slot="dinner.start_time", title="Start", value="7 pm", parent="t3"),
                Add(slot="task2", title="Washer"),
            ],
        ),
    )
    assert ask(towels, "left").tasks == ("t1", "t5")


def test_a_step_with_slots_of_its_own_is_still_to_do() -> None:
    graph = play(
        (
            "plan",
            [
                Add(slot="party", title="party"),
                Add(slot="party.date", title="date", value="Friday", parent="t1"),
                Add(slot="party.task", title="pick up the cake", parent="t1"),
                Add(slot="party.task.assignee", title="assignee", value="Tom", parent="t3"),
                Add(slot="fence", title="fix the fence"),
                Add(slot="fence.posts", title="posts", value="1", parent="t5"),
                Add(slot="paint", title="paint it", depends_on=("t5",)),
                Add(slot="call", title="call Bo"),
                Add(slot="call.assignee", title="assignee", value="me", parent="t8"),
                Add(slot="manual", title="the manual"),
                Add(slot="manual.due", title="due", value="Monday", parent="t10"),
            ],
        ),
    )
    assert ask(graph, "left").tasks == ("t3", "t1", "t5", "t7", "t8", "t10")
    assert ask(graph, "left", "t5").tasks == ("t5", "t7")
    assert ask(graph, "next").tasks == ("t3", "t5", "t8", "t10")
    assert ask(graph, "summary", "t7").tasks == ("t5", "t6", "t7")
    facts = play(
        ("plan", [Add(slot="trip", title="trip"), Add(slot="trip.d", title="d", value="1", parent="t1")])
    )
    assert ask(facts, "left").tasks == ("t1",)
    assert ask(apply(facts, Complete(task="t1"), turn=2).graph, "left").tasks == ()


def test_what_waits_in_a_plan_and_for_what() -> None:
    graph = play(
        (
            "plan",
            [
                Add(slot="boat", title="boat"),
                Add(slot="boat.task", title="planks", parent="t1"),
                Add(slot="boat.task2", title="caulk", parent="t1", depends_on=("t2",)),
            ],
        ),
    )
    assert ask(graph, "needs", "t1").tasks == ask(graph, "needs").tasks == ("t3",)
    ready = apply(graph, Complete(task="t2"), turn=2).graph
    assert ask(ready, "needs", "t1").tasks == ("t3",)  # it lacks what is open in it


def test_a_whole_with_a_done_part_is_still_to_do() -> None:
    graph = play(
        ("a", [Add(slot="a", title="A"), Add(slot="a.b", title="B", parent="t1")]),
        ("b", [Complete(task="t2")]),
    )
    assert ask(graph, "left").tasks == ask(graph, "next").tasks == ("t1",)


def test_needs_and_dependents(house: TaskGraph) -> None:
    assert ask(house, "needs", "t4").tasks == ("t2", "t3")
    assert ask(house, "needs", "t1").tasks == ("t5", "t6")
    assert ask(house, "dependents", "t2").tasks == ("t3", "t4")
    assert ask(house, "dependents", "t5").tasks == ("t7",)
    assert ask(house, "dependents", about="walls").tasks == ("t3", "t4")
    assert verdict(house, "needs", about="yacht").kind == "unknown"
    gone = apply(house, Remove(task="t3"), turn=2).graph
    assert ask(gone, "dependents", "t2").tasks == ask(gone, "needs", "t4").tasks == ()


def test_times_in_every_spelling(meeting: TaskGraph) -> None:
    for spelling in ("3pm", "3 p.m.", "3:00 PM", "3 PM"):
        assert verdict(meeting, "claim", "t2", value=spelling).kind == "holds"
    assert verdict(meeting, "claim", "t2", value="2 pm").until == 2
    assert verdict(meeting, "claim", "t2", value="13 PM").kind == "never"


def test_told() -> None:
    graph = play(("a", [Add(slot="a", title="A"), Add(slot="b", title="B", value="b")]))
    assert (state_text(graph["t1"]), state_text(graph["t2"])) == ("A", "b")


def test_what_is_in_a_state(house: TaskGraph, meeting: TaskGraph) -> None:
    graph = apply(house, Complete(task="t2"), turn=2, said="walls are dry").graph
    graph = apply(graph, Inactivate(task="t4"), turn=3).graph
    assert ask(graph, "status", value="done").tasks == ("t2",)
    assert ask(graph, "status", "t1", value="inactive").tasks == ("t4",)
    assert ask(graph, "status", "t5", value="active").tasks == ("t5", "t6")
    found = verdict(graph, "status", "t2", value="is done")
    assert (found.kind, found.task, found.now, found.since) == ("holds", "t2", "done", 2)
    found = verdict(graph, "status", "t2", "t3", value="is done")
    assert (found.kind, found.task, found.now) == ("never", "t3", "open")
    assert verdict(graph, "status", "t6", value="is open").kind == "holds"
    assert ask(graph, "status", "t6", value="is blue").verdict is None
    assert verdict(graph, "status", "t6", value="red").kind == "holds"
    assert ask(meeting, "left").tasks == ("t1",)  # people are there, not to be done


@pytest.mark.parametrize(
    ("title", "heads"),
    [("Ann", 1), ("Judith and Paul", 2), ("Robert with three", 4), ("Jo +1", 2), ("both twins", 2)],
)
def test_some_guests_are_several(title: str, heads: int) -> None:
    guest = Add(slot="trip.guest", title=title, parent="t1")
    party = play(("a trip with guests", [Add(slot="trip", title="Trip"), guest]))
    assert ask(party, "count", "t2", value="these").count == heads


def test_several_that_hold_no_list_are_the_list(trip: TaskGraph) -> None:
    assert ask(trip, "list", "t2", "t3").tasks == ("t2", "t3")


def test_what_is_known_with_a_day_by_which_is_left() -> None:
    kitchen = Add(slot="task", title="clean the kitchen")
    known = play(("", [kitchen, Add(slot="task.date", title="date", value="by Tuesday", parent="t1")]))
    assert ask(known, "left").tasks == ("t1",)


def test_what_is_worked_out_is_of_just_its_tasks(trip: TaskGraph) -> None:
    found = ask(trip, "count", "t2", "t3", value="unsure")
    assert (found.tasks, found.count) == (("t2", "t3"), None)


def test_counting_parts_of_a_split(meeting: TaskGraph) -> None:
    split = apply(meeting, Undo(turn=4), turn=5).graph
    found = ask(split, "count", "t1", value="parts")
    assert (found.tasks, found.count) == (("t5", "t7"), 2)
    found = ask(meeting, "count", "t1", value="parts")
    assert (found.tasks, found.count) == (("t1",), 1)


def test_a_list_of_tasks_without_parts_is_the_tasks(house: TaskGraph) -> None:
    assert ask(house, "list", "t2", "t6").tasks == ("t2", "t6")
    assert ask(house, "list", "t2").tasks == ()
