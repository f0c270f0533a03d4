"""Each operation by example: what it does, what it refuses and in which words."""

from __future__ import annotations

import pytest

from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Confirm,
    Inactivate,
    Link,
    Merge,
    Operation,
    Outcome,
    Part,
    Question,
    Reject,
    Remove,
    Replace,
    Restore,
    Rollback,
    Split,
    Undo,
    Unlink,
    Update,
    apply,
    free_slot,
    is_part,
    names,
    redoable,
    undoable,
)
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.ties import outdate


class Play:
    """A dialogue: every `do` is a turn of one or more operations."""

    def __init__(self) -> None:
        self.graph, self.turn = TaskGraph(), 0
        self.last: Outcome | None = None

    def do(self, *operations: Operation, said: str = "") -> Outcome:
        self.turn += 1
        for operation in operations:
            outcome = apply(self.graph, operation, turn=self.turn, said=said)
            assert outcome.refused is None, outcome.refused
            assert outcome.graph.faults() == []
            self.graph = outcome.graph
        return outcome

    def refuse(self, operation: Operation) -> str:
        outcome = apply(self.graph, operation, turn=self.turn + 1)
        assert outcome.graph is self.graph
        assert outcome.refused is not None
        assert outcome.changed == outcome.stale == outcome.opened == ()
        return outcome.refused

    def plan(self) -> str:
        """The active tasks: id, value or title, and where they are."""
        return " ".join(
            f"{node.id}:{node.value or node.title}" + (f"<{node.parent}" if node.parent else "")
            for node in self.graph.active
        )

    def status(self, key: str) -> str:
        return self.graph[key].status


@pytest.fixture
def play() -> Play:
    """t1 trip: t2 place Boston, t3 date; t4 flight needs both; t5 packing needs the flight."""
    play = Play()
    play.do(
        Add(slot="trip", title="Trip"),
        Add(slot="trip.place", title="Place", value="Boston", parent="t1"),
        Add(slot="trip.date", title="Date", value="June", parent="t1"),
        Add(slot="flight", title="Flight", depends_on=("t2", "t3")),
        Add(slot="packing", title="Packing", depends_on=("t4",)),
        said="the beginning",
    )
    return play


def test_add(play: Play) -> None:
    outcome = play.do(
        Add(slot="trip.hotel", title="Hotel", parent="t1", said="and a hotel"), said="all of it"
    )
    assert outcome.changed == ("t6",)
    node = play.graph["t6"]
    assert (node.name, node.status, node.turn, node.op, node.said) == (
        "hotel",
        "open",
        2,
        "add",
        "and a hotel",
    )
    assert play.status("t2") == "filled"


def test_add_refuses(play: Play) -> None:
    assert play.refuse(Add(slot=" ", title="x")) == "a slot must not be blank"
    assert play.refuse(Add(slot="x", title="x", value="")) == "a value must not be blank"
    assert play.refuse(Add(slot="x", title="x\x00")) == "the title holds control characters"
    assert play.refuse(Add(slot="x", title="x" * 1001)).startswith("a title of 1,001 characters is too long")
    assert play.refuse(Add(slot="x", title="x", parent="t9")) == "there is no task t9"
    assert play.refuse(Add(slot="x", title="x", depends_on=("t2", "t9"))) == "there is no task t9"
    assert "cycle" in play.refuse(Add(slot="x", title="x", parent="t1", depends_on=("t1",)))
    assert (
        play.refuse(Add(slot="x", title="x", status="removed"))
        == "a task becomes removed by an operation of its own"
    )
    play.do(Remove(task="t1"))
    assert (
        play.refuse(Add(slot="trip.hotel", title="Hotel", parent="t1"))
        == "Trip is not part of the plan any more"
    )


def test_add_of_a_slot_that_is_there_is_an_update(play: Play) -> None:
    outcome = play.do(Add(slot="trip.place", title="Goal", value="Oslo", parent="t1", depends_on=("t3",)))
    assert outcome.operation.kind == "update"
    assert outcome.operation.intent == "update"
    assert outcome.changed == ("t2", "t4", "t5")
    node = play.graph["t2"]
    assert (node.value, node.title, node.depends_on) == ("Oslo", "Place", ("t3",))
    play.do(Add(slot="trip.place", title="Goal", parent="t1"))
    assert (play.graph["t2"].title, play.graph["t2"].value) == ("Goal", "Oslo")
    assert "cycle" in play.refuse(Add(slot="trip.place", title="Goal", parent="t1", depends_on=("t4",)))


def test_update_marks_exactly_the_dependents(play: Play) -> None:
    outcome = play.do(Update(task="t2", value="Oslo"), said="Oslo instead")
    assert (outcome.changed, outcome.stale) == (("t2", "t4", "t5"), ("t4", "t5"))
    assert play.graph["t4"].stale_since == 2
    assert (play.graph["t4"].op, play.graph["t4"].said) == ("stale", "Oslo instead")
    assert play.graph["t2"].history[0].value == "Boston"
    assert play.do(Update(task="t3", value="July")).stale == ()
    play.do(Update(task="t4", value="BA 1"))
    assert play.graph["t4"].stale_since is None


def test_update_of_a_title_changes_no_more(play: Play) -> None:
    play.do(Update(task="t2", value="Rome", source="tool:search"))
    outcome = play.do(Update(task="t4", title="The flight"))
    assert outcome.changed == ("t4",)
    assert play.graph["t4"].stale_since == 2
    play.do(Update(task="t2", title="Goal"))
    assert play.graph["t2"].source == "tool:search"
    assert play.graph["t5"].stale_since == 2
    play.do(Update(task="t5", status="open"))
    assert play.graph["t5"].stale_since is None


def test_update_refuses(play: Play) -> None:
    assert play.refuse(Update(task="t2", value="Boston")) == "Place is already Boston"
    assert play.refuse(Update(task="t2")) == "that is how it is already"
    assert play.refuse(Update(task="t9", value="x")) == "there is no task t9"
    assert play.refuse(Update(task="t2", title="")) == "a title must not be blank"
    assert "of its own" in play.refuse(Update(task="t2", status="inactive"))
    assert "itself" in play.refuse(Update(task="t2", depends_on=("t2",)))
    play.do(Complete(task="t2"))
    assert play.refuse(Update(task="t2", value="Boston")) == "Place is already Boston"


def test_long_words_are_cut(play: Play) -> None:
    play.do(Update(task="t2", value="Oslo"), said="x" * 9_000 + "\x00")
    assert len(play.graph["t2"].said) == 4_000
    assert play.graph["t2"].said.endswith("…")


def test_replace_everywhere(play: Play) -> None:
    play.do(Add(slot="call", title="Call boston hotels"), Add(slot="x", title="Bostonians"))
    outcome = play.do(Replace(old="boston", new="new York"))
    assert outcome.changed == ("t2", "t6", "t4", "t5")
    assert (play.graph["t2"].value, play.graph["t6"].title) == ("New York", "Call new York hotels")
    assert play.graph["t7"].title == "Bostonians"
    assert play.refuse(Replace(old="Boston", new="Oslo")) == "no task names Boston"
    assert play.refuse(Replace(old=" ", new="Oslo")).startswith("a replacement needs an old and a new name")
    assert play.refuse(Replace(old="June", new="July", tasks=("t2",))) == "no task names June"


def test_replace_marks_a_dependent_that_it_changes(play: Play) -> None:
    play.do(Update(task="t4", title="Flight to Boston"))
    outcome = play.do(Replace(old="Boston", new="Oslo"))
    assert outcome.changed == ("t2", "t4", "t5")
    assert outcome.stale == ("t4", "t5")


def test_replace_leaves_no_twin() -> None:
    play = Play()
    play.do(
        Add(slot="soup", title="soup"),
        Add(slot="soup.item", title="celery", parent="t1"),
        Add(slot="soup.item2", title="mushrooms", parent="t1"),
        Add(slot="stew", title="stew", depends_on=("t2",)),
        Add(slot="soup.item4", title="celery stock", parent="t1"),
    )
    outcome = play.do(Replace(old="celery", new="mushrooms"))
    assert play.plan() == "t1:soup t3:mushrooms<t1 t4:stew t5:mushrooms stock<t1"
    assert play.graph["t4"].depends_on == ("t3",)
    assert (play.graph["t2"].title, play.status("t2")) == ("mushrooms", "removed")
    assert outcome.stale == ()  # the stew was given the mushrooms too, it does not merely rest on a change
    play.do(Undo())
    assert play.plan() == "t1:soup t2:celery<t1 t3:mushrooms<t1 t4:stew t5:celery stock<t1"
    play.do(Link(task="t3", on="t2"))
    play.do(Replace(old="celery", new="mushrooms"))
    assert play.graph["t3"].depends_on == ("t2",)  # a task cannot depend on itself


def test_remove_takes_the_parts_along(play: Play) -> None:
    play.do(Unlink(task="t4", on="t2"), Unlink(task="t4", on="t3"))
    outcome = play.do(Remove(task="t1"))
    assert outcome.changed == ("t1", "t2", "t3")
    assert play.plan() == "t4:Flight t5:Packing"
    assert play.refuse(Remove(task="t2")) == "Place is already out of the plan"
    assert play.refuse(Inactivate(task="t2")) == "Place is already out of the plan"


def test_remove_leaves_shared_parts_to_those_who_share_them(play: Play) -> None:
    play.do(Add(slot="trip.place.district", title="District", parent="t2"))
    outcome = play.do(Remove(task="t1"))
    assert play.plan() == "t2:Boston<t4 t3:June<t4 t4:Flight t5:Packing t6:District<t2"
    assert set(outcome.changed) == {"t1", "t2", "t3", "t4"}
    assert outcome.stale == ()
    assert play.graph["t4"].depends_on == ()
    play.do(Restore(task="t1"))
    assert play.graph["t1"].depends_on == ("t2", "t3")  # shared now the other way round
    play.do(Undo(), Undo())
    assert play.graph["t2"].parent == "t1"


def test_what_a_shared_part_rests_on_stays_too() -> None:
    play = Play()
    play.do(
        Add(slot="a", title="A"),
        Add(slot="a.x", title="X", parent="t1"),
        Add(slot="a.y", title="Y", parent="t1", depends_on=("t2",)),
        Add(slot="a.z", title="Z", parent="t1"),
        Add(slot="b", title="B", depends_on=("t3",)),
        Add(slot="a.x", title="another X", parent="t3"),
    )
    play.do(Inactivate(task="t1"))
    assert play.plan() == "t2:X<t3 t3:Y<t5 t5:B t6:another X<t3"
    assert play.graph["t2"].slot == "a.x2"


def test_hold_and_then_remove_for_good(play: Play) -> None:
    play.do(Inactivate(task="t4"), Inactivate(task="t1"))
    assert play.status("t3") == "inactive"
    play.do(Remove(task="t1"))
    assert play.status("t1") == play.status("t3") == "removed"
    play.do(Restore(task="t1"))
    assert play.status("t3") == "filled"


def test_restore(play: Play) -> None:
    play.do(Remove(task="t4"), Remove(task="t3"))
    play.do(Remove(task="t1"))
    outcome = play.do(Restore(task="t1"))
    assert outcome.changed == ("t1", "t2")
    assert play.status("t3") == "removed"  # it had left before
    assert play.refuse(Restore(task="t1")) == "Trip is part of the plan already"
    play.do(Remove(task="t1"))
    assert play.do(Restore(task="t2")).changed == ("t2", "t1")
    assert play.graph["t1"].active


def test_restore_with_a_part_whose_whole_stays_out(play: Play) -> None:
    play.do(Remove(task="t4"), Add(slot="trip.place.x", title="X", parent="t2"))
    play.do(Remove(task="t2"), Inactivate(task="t1"))
    assert play.status("t6") == "removed"
    play.do(Restore(task="t1"))
    assert play.plan() == "t1:Trip t3:June<t1 t5:Packing"
    play.do(Restore(task="t6"))
    assert play.status("t2") == "filled"
    play.do(Remove(task="t6"), Inactivate(task="t2"), Remove(task="t1"))
    play.do(Restore(task="t1"))
    assert play.status("t6") == "removed"


def test_restore_refuses_a_taken_slot(play: Play) -> None:
    play.do(Remove(task="t2"), Add(slot="trip.place", title="Place", value="Oslo", parent="t1"))
    assert play.refuse(Restore(task="t2")) == "Place has taken the place of Place"
    assert play.refuse(Rollback(task="t2")) == "Place has taken the place of Place"
    assert play.refuse(Undo(turn=9)) == "turn 9 changed nothing"


def test_rollback(play: Play) -> None:
    assert "nothing to go back to" in play.refuse(Rollback(task="t2"))
    play.do(Update(task="t2", value="Oslo", source="memory:1"))
    play.do(Update(task="t2", value="Rome"))
    play.do(Rollback(task="t2"))
    assert (play.graph["t2"].value, play.graph["t2"].source) == ("Oslo", "memory:1")
    play.do(Rollback(task="t2", to=0))
    assert play.graph["t2"].value == "Boston"
    assert [state.value for state in play.graph["t2"].history] == ["Boston", "Oslo", "Rome", "Oslo"]
    assert play.refuse(Rollback(task="t2", to=0)) == "Place is already Boston"
    assert play.refuse(Rollback(task="t2", to=7)) == "Place has no former state number 7"
    play.do(Update(task="t1", title="Journey"), Update(task="t1", title="Trip"))
    assert play.refuse(Rollback(task="t1", to=0)) == "that is how it is already"


def test_rollback_in_and_out_of_the_plan(play: Play) -> None:
    play.do(Remove(task="t4"))
    play.do(Remove(task="t1"))
    assert "Trip is not part of the plan" in play.refuse(Rollback(task="t2"))
    play.do(Rollback(task="t1"))
    play.do(Rollback(task="t2"))
    assert play.plan() == "t1:Trip t2:Boston<t1 t5:Packing"
    assert play.refuse(Rollback(task="t1", to=1)) == "Trip has parts in the plan"
    play.do(Rollback(task="t2", to=1))
    assert play.status("t2") == "removed"


def test_undo_and_redo(play: Play) -> None:
    before = {key: node.content() for key, node in play.graph.items()}
    play.do(Update(task="t2", value="Oslo"))
    play.do(Add(slot="x", title="X"))
    assert undoable(play.graph) == (1, 2, 3)
    play.do(Undo())
    assert play.status("t6") == "removed"
    play.do(Undo(), said="undo that")
    assert {key: play.graph[key].content() for key in before} == before
    assert play.graph["t5"].said == "undo that"
    assert (undoable(play.graph), redoable(play.graph)) == ((1,), (4, 5))
    play.do(Undo(turn=5))
    assert (play.graph["t2"].value, play.graph["t5"].stale_since) == ("Oslo", 2)
    assert (undoable(play.graph), redoable(play.graph)) == ((1, 2), (4,))
    play.do(Undo(turn=4))
    assert play.status("t6") == "open"
    assert (undoable(play.graph), redoable(play.graph)) == ((1, 2, 3), ())


def test_undo_passes_turns_that_changed_nothing_in_the_end(play: Play) -> None:
    play.do(Update(task="t2", title="Goal"), Rollback(task="t2"))
    assert undoable(play.graph) == (1,)
    play.do(Undo())
    assert play.graph.active == ()
    assert play.refuse(Undo()) == "there is nothing to undo"


def test_undo_leaves_alone_what_a_turn_did_not_change_in_the_end(play: Play) -> None:
    play.do(Update(task="t2", title="Goal"), Rollback(task="t2"), Update(task="t3", title="Day"))
    assert play.do(Undo()).changed == ("t3",)
    assert undoable(play.graph) == (1,)


def test_undo_of_an_earlier_turn(play: Play) -> None:
    play.do(Update(task="t2", value="Oslo"))
    play.do(Update(task="t3", value="July"))
    play.do(Undo(turn=2))
    assert play.graph["t2"].value == "Boston"
    assert play.refuse(Undo(turn=1)) == "Date was changed again after turn 1; undo that first"


def test_undo_refuses_to_break_the_plan(play: Play) -> None:
    play.do(Add(slot="x", title="X"))
    play.do(Add(slot="x.y", title="Y", parent="t6"))
    assert play.refuse(Undo(turn=2)) == "undoing turn 2 would break the plan: Y is part of X"
    play.do(Remove(task="t7"))
    play.do(Remove(task="t6"))
    assert "X, which Y is part of, is out of it" in play.refuse(Undo(turn=4))
    play.do(Unlink(task="t5", on="t4"))
    play.do(Link(task="t4", on="t5"))
    assert "depend on each other in a circle" in play.refuse(Undo(turn=6))
    play.do(Remove(task="t5"))
    play.do(Add(slot="packing", title="Pack again"))
    assert "Pack again has taken the place of Packing" in play.refuse(Undo(turn=8))


def test_undo_is_not_kept_back_by_what_was_made_since_and_is_gone(play: Play) -> None:
    play.do(Unlink(task="t5", on="t4"))
    play.do(Add(slot="flight.seat", title="Seat", parent="t4", depends_on=("t5",)))
    play.do(Undo())
    play.do(Undo())
    assert play.graph["t5"].depends_on == ("t4",)
    play.do(Undo(turn=5), Undo(turn=4))
    assert [play.graph[key].depends_on for key in ("t5", "t6")] == [(), ("t5",)]


def test_link_and_unlink(play: Play) -> None:
    assert "cycle" in play.refuse(Link(task="t2", on="t5"))
    assert "cycle" in play.refuse(Link(task="t2", on="t1"))
    assert play.refuse(Link(task="t2", on="t2")) == "Place cannot depend on itself"
    assert play.refuse(Link(task="t1", on="t2")) == "Trip depends on Place already"
    assert play.refuse(Link(task="t4", on="t2")) == "Flight depends on Place already"
    assert play.refuse(Unlink(task="t4", on="t5")) == "Flight does not depend on Packing"
    play.do(Link(task="t5", on="t1"))
    assert play.graph["t5"].depends_on == ("t4", "t1")
    assert play.do(Unlink(task="t5", on="t4")).changed == ("t5",)


def test_complete_opens_what_waited_for_it_alone(play: Play) -> None:
    play.do(
        Add(slot="flight.seat", title="Seat", parent="t4"), Add(slot="x", title="X", depends_on=("t5", "t6"))
    )
    outcome = play.do(Complete(task="t4"))
    assert outcome.changed == ("t4", "t6")
    assert outcome.opened == ("t5",)
    assert play.do(Complete(task="t5")).opened == ("t7",)
    assert play.refuse(Complete(task="t5")) == "Packing is done already"


def test_proposals(play: Play) -> None:
    play.do(Update(task="t2", value="Oslo", status="proposed", source="memory:1"))
    play.do(Reject(task="t2"))
    assert (play.graph["t2"].value, play.graph["t2"].source) == ("Boston", "user")
    play.do(Add(slot="hotel", title="Hotel", value="Ritz", status="proposed"))
    play.do(Confirm(task="t6"))
    assert play.status("t6") == "filled"
    assert play.refuse(Confirm(task="t6")) == "Hotel is not a proposal"
    assert play.refuse(Reject(task="t6")) == "Hotel is not a proposal"
    play.do(
        Add(slot="call", title="Call", status="proposed"), Add(slot="write", title="W", status="proposed")
    )
    play.do(Confirm(task="t7"), Reject(task="t8"))
    assert (play.status("t7"), play.status("t8")) == ("open", "removed")


@pytest.fixture
def meeting() -> Play:
    """t1 meeting: t2 time, t3 Alice, t4 Bob, t5 Carol; the report (t6) needs the time."""
    play = Play()
    play.do(
        Add(slot="meeting", title="Meeting"),
        Add(slot="meeting.time", title="Time", value="4 PM", parent="t1"),
        Add(slot="meeting.participant", title="Alice", parent="t1"),
        Add(slot="meeting.participant2", title="Bob", parent="t1"),
        Add(slot="meeting.participant3", title="Carol", parent="t1"),
        Add(slot="report", title="Report", depends_on=("t2",)),
    )
    return play


HALVES = Split(
    task="t1",
    parts=(
        Part(title="first", values=(("time", "2 PM"),), members=("t4",)),
        Part(title="second", values=(("time", "5 PM"),), members=("t3", "t5")),
    ),
)


def test_split_and_merge(meeting: Play) -> None:
    outcome = meeting.do(HALVES)
    assert meeting.plan() == (
        "t1:Meeting t3:Alice<t9 t4:Bob<t7 t5:Carol<t9 t6:Report"
        " t7:first<t1 t8:2 PM<t7 t9:second<t1 t10:5 PM<t9"
    )
    assert outcome.stale == ("t6",)
    assert meeting.graph["t9"].slot == "meeting.part2"
    assert is_part(meeting.graph["t9"])
    assert not is_part(meeting.graph["t10"])
    outcome = meeting.do(
        Add(slot="meeting.part1.room", title="Room", value="R1", parent="t7"), Link(task="t7", on="t6"),
        Link(task="t9", on="t7"),
    )  # fmt: skip
    outcome = meeting.do(Merge(task="t1"), Update(task="t2", value="3 PM"))
    assert meeting.plan() == ("t1:Meeting t2:3 PM<t1 t3:Alice<t1 t4:Bob<t1 t5:Carol<t1 t6:Report t11:R1<t1")
    assert meeting.graph["t11"].slot == "meeting.room"
    assert meeting.refuse(Merge(task="t1")) == "Meeting is not split"


def test_merge_takes_over_what_a_part_rested_on(meeting: Play) -> None:
    meeting.do(Add(slot="room", title="Book the room"))
    meeting.do(HALVES, Link(task="t8", on="t7"))
    meeting.do(Merge(task="t1"))
    assert meeting.graph["t1"].depends_on == ("t7",)


def test_merge_of_parts_of_parts(meeting: Play) -> None:
    meeting.do(HALVES)
    meeting.do(Split(task="t9", parts=(Part(title="a", members=("t3",)), Part(title="b", members=("t5",)))))
    meeting.do(Add(slot="meeting.time", title="Time", value="noon", parent="t1"))
    meeting.do(Merge(task="t1"))
    assert [node.title for node in meeting.graph.parts("t1")] == ["Alice", "Bob", "Carol", "Time"]
    assert meeting.status("t2") == "inactive"  # its place is taken


def test_split_refuses(meeting: Play) -> None:
    def parts(*values: tuple[str, str], members: tuple[str, ...] = ()) -> Split:
        first = Part(title="a", values=values, members=members)
        return Split(task="t1", parts=(first, Part(title="b")))

    assert meeting.refuse(Split(task="t1", parts=(Part(title="a"),))) == "a split needs at least two parts"
    assert meeting.refuse(parts(members=("t3", "t3"))) == "a member can go to one part only"
    assert meeting.refuse(parts(members=("t6",))) == "Report is not part of Meeting"
    assert meeting.refuse(parts(("time", "1"), ("time", "2"))) == "a has two values of one name"
    assert meeting.refuse(parts(("time", " "))) == "a value must not be blank"


def test_a_value_that_is_moved_is_not_put_aside(meeting: Play) -> None:
    meeting.do(Split(task="t1", parts=(Part(title="a", values=(("x", "1"),), members=("t2",)),
                                       Part(title="b", values=(("time", "5 PM"),)))))  # fmt: skip
    assert meeting.status("t2") == "filled"


def test_questions_change_nothing(play: Play) -> None:
    for operation in (Check(question=Question(kind="list")), Clarify(question="which?")):
        outcome = apply(play.graph, operation, turn=2)
        assert outcome == Outcome(play.graph, operation)


def test_free_slot(meeting: Play) -> None:
    assert free_slot(meeting.graph, "t1", "meeting.room") == "meeting.room"
    assert free_slot(meeting.graph, "t1", "meeting.participant2") == "meeting.participant4"
    assert free_slot(meeting.graph, None, "report") == "report2"


def test_names() -> None:
    assert names("new  york", "to New York!")
    assert not names("case", "bookcase")
    assert not names("", "anything")
    assert not names("x", None)


def test_what_rests_on_something_gone_is_out_of_date(play: Play) -> None:
    play.do(Remove(task="t3"))
    before = play.graph
    after = outdate(before, ["t2", "t3"], turn=9, said="it was replaced")
    marked = {key: node for key, node in after.items() if node is not before[key]}
    assert set(marked) == {"t2"}  # what rests on it was stale already, and what is gone stays so
    assert (marked["t2"].stale_since, marked["t2"].op, marked["t2"].said) == (9, "stale", "it was replaced")
    assert marked["t2"].value == before["t2"].value
    assert after.faults() == []
    assert outdate(after, ["t2"], turn=10, said="again") is after
    fresh = outdate(before, [], turn=9, said="x")
    assert fresh is before


def test_what_rests_on_it_goes_out_of_date_with_it(play: Play) -> None:
    after = outdate(play.graph, ["t2"], turn=5, said="it was replaced")
    assert [key for key, node in after.items() if node.stale_since == 5] == ["t2", "t4", "t5"]
