"""What is taken back by its name, what leaves but for some, and what questions mean: kinds, people, days."""

from __future__ import annotations

import pytest

from taskloom.agent.grounding.resolving.assemble import assemble
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.state import Turn
from taskloom.memory.claims import answer
from taskloom.memory.operations import Add, Check, apply
from taskloom.memory.tasks import TaskGraph
from tests.test_plan import after, clause, lines
from tests.test_reshaping import turn


def asked(graph: TaskGraph, *clauses: Clause) -> str:
    """The reply to questions."""
    view = View(graph, turn=99, focus=tuple(node.id for node in graph.parts(None)))
    operations = assemble(clauses, " ".join(one.text for one in clauses), view).operations
    answers = tuple(answer(graph, one.question) for one in operations if isinstance(one, Check))
    state = Turn(number=99, utterance="said", operations=tuple(operations), answers=answers)
    return "".join(TemplateResponder().respond(Brief("said", graph, state, answers=answers)))


TRIP = turn(
    TaskGraph(),
    clause("task", "[T trip] from [V 6 to 13 June]"),
    clause("add", "[W trip]: [I oslo], [I bergen], [I tent]"),
    clause("set", "[T oslo] [S duration] [V 2 nights]"),
    clause("set", "[T bergen] [S duration] [V 3 nights]"),
)
MOVED = turn(
    TRIP,
    clause("set", "[T oslo] [S duration] [V 4 nights]"),
    clause("remove", "[T the tent]"),
    clause("set", "[T bergen] [S duration] [V 1 night]"),
)


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("undo [T the oslo thing]", "trip > oslo > duration: 2 nights"),
        ("[T the tent] goes back in", "trip > tent"),
        ("undo [T that]", None),
    ],
)
def test_only_what_is_named_is_taken_back(said: str, back: str | None) -> None:
    then = lines(turn(MOVED, clause("undo", said)))
    assert then == lines(TRIP) if back is None else then - lines(MOVED) == {back}


def test_only_what_a_value_names_is_taken_back() -> None:
    show = turn(TaskGraph(), clause("task", "[T show] in [S place] [V the marquee] at [V 7 pm]"))
    moved = turn(show, clause("set", "[S place] [V the school hall]"), clause("set", "[S time] [V 8 pm]"))
    back = turn(moved, clause("undo", "not [T the school hall], undo that"))
    assert lines(back) == lines(show) - {"show > time: 7 pm"} | {"show > time: 8 pm"}


def test_what_is_longer_begins_as_before() -> None:
    assert "trip > date: 6 to 14 June" in lines(turn(TRIP, clause("shift", "[V one day longer]")))
    assert "trip > date: 7 to 14 June" in lines(turn(TRIP, clause("shift", "[V one day later]")))


@pytest.mark.parametrize(
    "said", ["[T all of them] apart from [E bergen]", "[T everything still open] but [E bergen]"]
)
def test_all_leave_but_what_is_excepted(said: str) -> None:
    left = {"trip", "trip > date: 6 to 13 June", "trip > bergen", "trip > bergen > duration: 3 nights"}
    assert lines(turn(TRIP, clause("remove", said))) == left


def test_how_far_something_was_goes_when_it_is_done() -> None:
    half = turn(TRIP, clause("set", "[T the tent] [S progress] [V half packed]"))
    assert "trip > tent > progress: half packed" in lines(half)
    assert "trip > tent > progress: half packed" not in lines(turn(half, clause("done", "[T the tent]")))


WORK = after(
    TaskGraph(),
    clause("task", "[T paint] on [V friday] by [P Tom]"),
    clause("task", "[T plaster] on [V monday] by [P Tom]"),
    clause("task", "[T tile] on [V friday] at [V 8 am] by [P Ida]"),
    clause("need", "[T the paint] needs [I the plaster]"),
)


@pytest.mark.parametrize(
    ("act", "said", "told", "untold"),
    [
        ("ask.list", "what has [P Tom] got", ("paint", "plaster"), "tile"),
        ("ask.list", "what is on [V friday]", ("paint", "tile"), "plaster"),
        ("ask.status", "can [T the paint] start", ("No", "plaster"), "Yes"),
        ("ask.status", "is [T the plaster] free to do", ("Yes", "nothing"), "waits"),
        ("ask.status", "is anything holding [T the plaster] up", ("No", "nothing"), "Yes"),
        ("ask.value", "what time is [T Ida]", ("8 am",), "responsible"),
        ("ask.value", "when is [T the tile]", ("friday", "8 am"), "paint"),
    ],
)
def test_questions_are_about_all_that_is_meant(
    act: str, said: str, told: tuple[str, ...], untold: str
) -> None:
    reply = asked(WORK, clause(act, said))
    assert all(word in reply for word in told), reply
    assert untold not in reply, reply


def test_a_name_that_something_had_once_is_known() -> None:
    moved = turn(
        turn(TaskGraph(), clause("task", "[T show] in [S place] [V the marquee]")),
        clause("set", "[S the place] is [V the school hall]"),
    )
    assert "school hall" in asked(moved, clause("ask.why", "why is it not in [T the marquee]"))


def test_only_one_sort_is_counted() -> None:
    party = TaskGraph()
    for one in (
        ("party", None, None), ("party.guest", "Ann", "t1"), ("party.guest2", "the cousins", "t1"),
        ("party.shopping", "shopping", "t1"), ("party.salad", "salad", "t1"),
    ):  # fmt: skip
        party = apply(party, _add(*one), turn=1, said="said").graph
    assert asked(party, clause("ask.count", "how many are coming")).startswith("2: Ann")
    three = turn(party, clause("set", "[T the cousins] [S number] [V 3]"))
    assert asked(three, clause("ask.count", "how many heads is that")).startswith("4: Ann")


def _add(slot: str, title: str | None, parent: str | None) -> Add:
    return Add(slot=slot, title=title or slot, parent=parent)


COSTS = turn(
    TaskGraph(),
    clause("task", "[T party] with [S budget] of [V 900 euros]"),
    clause("add", "[W party]: [I cake], [I band], [I hall], [I garden]"),
    clause("set", "[T the cake] [S price] [V 40 euros]"),
    clause("set", "[T the band] [S price] [V 1,300]"),
    clause("set", "[T the hall] [S seats] [V 80]"),
    clause("set", "[T the garden] [S seats] [V thirty]"),
)


@pytest.mark.parametrize(
    ("act", "said", "told"),
    [
        ("ask.value", "what does it cost altogether", "1,340 euros in all: cake 40 euros and band 1,300"),
        ("ask.count", "how many [T seats] are there in all", "110 in all: hall 80 and garden thirty"),
        ("ask.other", "and what do [T the cake] and [T the band] come to", "1,340 euros in all"),
        ("ask.count", "how many people are coming", "no people"),
        ("ask.count", "how many people come to the party in all", "no people"),
        ("ask.value", "what does [T the band] cost altogether", "The band: price 1,300."),
        ("ask.other", "is rain likely", "I can't tell you"),
    ],
)
def test_sums_are_told_and_what_is_in_no_plan_is_said_so(act: str, said: str, told: str) -> None:
    assert told in asked(COSTS, clause(act, said))


def test_values_that_count_different_things_have_no_sum() -> None:
    mixed = turn(COSTS, clause("set", "[T the hall] [S price] [V 50 pounds]"))
    reply = asked(mixed, clause("ask.value", "what does it cost altogether"))
    assert "in all" not in reply
    assert "50 pounds" in reply


def test_who_helps_is_told_where_nobody_is_counted() -> None:
    reply = asked(
        turn(COSTS, clause("assign", "[P Nina] does [T the cake]")), clause("ask.count", "how many helpers")
    )
    assert reply == "Nina is responsible for the cake."


def test_how_often_something_changed_is_told() -> None:
    twice = turn(turn(TRIP, clause("shift", "[V one day later]")), clause("shift", "[V one day later]"))
    reply = asked(twice, clause("ask.history", "how often did [T the trip] [S date] change"))
    assert reply.startswith("The date changed twice: it was 6 to 13 June")


MOVE = turn(
    TaskGraph(),
    clause("task", "[T move]"),
    clause("add", "[W move]: [I warn the landlord], [I old range], [I posters]"),
    clause("assign", "[T the posters] by [P Ann]"),
    clause("assign", "[T the old range] by [P Ann]"),
)


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("the range is out", {"old range"}),
        ("posters are up, you can close [T that]", {"posters"}),
        ("landlord warned", {"warn the landlord"}),
        ("done at last", set[str]()),
        ("[T everything] but [E the posters]", {"warn the landlord", "old range"}),
    ],
)
def test_what_is_done_is_found_in_other_words_and_never_all_by_mistake(said: str, over: set[str]) -> None:
    then = turn(MOVE, clause("done", said))
    assert {node.title for node in then.active if node.status == "done"} == over


def test_somebody_who_leaves_leaves_all_that_is_his() -> None:
    then = turn(MOVE, clause("remove", "[P Ann] is out"))
    assert not {line for line in lines(then) if "Ann" in line}


def test_whether_a_whole_is_done_is_answered() -> None:
    assert asked(MOVE, clause("ask.status", "has [T the move] come?")).startswith("No")


STALL = after(
    TaskGraph(),
    clause("task", "[T stall]"),
    clause("set", "[T stall] [S price] [V 3.50]"),
    clause("set", "[T stall] [S eggs] [V 160 dozen]"),
    clause("set", "[T stall] [S distance] [V 8 km]"),
)


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("[S the price] up by [V fifty cents]", "stall > price: 4"),
        ("[S the price] [V 10 percent less]", "stall > price: 3.15"),
        ("[S the eggs] [V ten dozen less]", "stall > eggs: 150 dozen"),
        ("[S the distance] [V half again as long]", "stall > distance: 12 km"),
    ],
)
def test_amounts_are_in_the_unit_of_what_they_change(said: str, then: str) -> None:
    found = {
        line.replace("4.00", "4").replace("3.150", "3.15")
        for line in lines(after(STALL, clause("shift", said)))
    }
    assert then in found


def test_two_slots_of_one_task_change_places_by_their_names() -> None:
    meals = after(
        TaskGraph(),
        clause("task", "[T meals]"),
        clause("set", "[T meals] [S soup] [V leek]"),
        clause("set", "[T meals] [S main] [V pie]"),
    )
    then = lines(after(meals, clause("swap", "swap [T soup] and [T main]")))
    assert {"meals > soup: pie", "meals > main: leek"} <= then


FETE = turn(
    TaskGraph(),
    clause("task", "[T fete] on [V June 6], [V 10 to 4]"),
    clause("add", "[W fete]: [I tent], [I tables]"),
    clause("add", "invite [I Ann] and [I Bo]"),
    clause("assign", "[P Cy] has [T the tent]"),
    clause("set", "[T the tables] are for [S date] [V June 7]"),
)


@pytest.mark.parametrize(
    ("act", "said", "told"),
    [
        ("ask.list", "who is coming?", "The fete: Ann and Bo."),
        ("ask.count", "how many are invited?", "2: Ann and Bo."),
        ("ask.next", "what is after [T the tent]?", "Next: tables."),
        ("ask.count", "how many [T things] is [P Cy] doing?", "1: tent."),
    ],
)
def test_questions_are_of_people_and_of_what_comes_after(act: str, said: str, told: str) -> None:
    assert asked(FETE, clause(act, said)) == told


def test_what_waits_for_a_task_is_next_after_it() -> None:
    waits = turn(FETE, clause("add", "[W fete]: [I lamps]"), clause("need", "[I tent] before [T lamps]"))
    assert asked(waits, clause("ask.next", "what after [T the tent]?")).startswith("Next: lamps.")


def test_a_message_takes_back_what_it_said_itself() -> None:
    out, stays = clause("remove", "drop [T the tent]"), clause("undo", "no, leave it in")
    assert lines(turn(FETE, out, stays)) == lines(FETE)
    tables = clause("done", "[T the tables] are here")
    assert lines(turn(FETE, tables, out, stays)) == lines(turn(FETE, tables))
    moved = turn(FETE, clause("set", "[S date] is [V June 13]"))
    assert lines(turn(moved, tables, clause("undo", "undo the last change"))) != lines(turn(moved, tables))


FLAT = turn(
    TaskGraph(),
    clause("task", "[T flat], [S keys] [V two], [S deposit] [V £85], [S price] [V £600]"),
    clause("add", "[W flat]: [I Sam's key], [I lamp], [I dig the bed], [I clean fridge]"),
    clause("task", "[T post]"),
)


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("Sam has [T his key] now", {"Sam's key"}),
        ("[T deposit] is sent", {"deposit"}),
        ("the fridge is just fine, so [T scrub] done", {"clean fridge"}),
        ("[T the bed dug]", {"dig the bed"}),
        ("[T the lamp], they all sang nearly", {"lamp"}),
        ("[T the lamp] is sold, for [S price] [V £12]", {"lamp"}),
        ("[T the lamp] went [V on friday]", {"lamp"}),
    ],
)
def test_what_is_done_is_the_thing_or_the_sum_that_is_named(said: str, done: set[str]) -> None:
    there = turn(FLAT, clause("done", said))
    assert {node.title for node in there.active if node.status == "done"} == done
    assert lines(there) - lines(FLAT) == ({"flat > lamp > price: £12"} if "£12" in said else set())


def test_what_is_open_again_is_the_only_thing_that_was_done() -> None:
    there = turn(turn(FLAT, clause("done", "[T the lamp]")), clause("reopen", "so [T delivery] NOT done"))
    assert {node.status for node in there.active} <= {"open", "filled"}


def test_what_is_done_stays_where_everything_else_is_cancelled() -> None:
    done = turn(FLAT, clause("done", "[T the lamp]"))
    there = turn(done, clause("remove", "cancel [T everything] except [E Sam's key and the fridge]"))
    assert {"flat > lamp", "flat > Sam's key", "flat > clean fridge"} <= lines(there)
    assert "flat > dig the bed" not in lines(there)


def test_what_stays_is_in_one_list_and_may_be_what_the_reply_named() -> None:
    lists = turn(FLAT, clause("add", "[W post]: [I stamps], [I cards]"))
    assert lines(turn(lists, clause("only", "keep [I the lamp] and [I stamps]"))) == lines(lists)
    named = turn(lists, clause("only", "in [S post] keep [I stamps] and [I the lamp]"))
    assert "flat > lamp" in lines(named)
    assert "post > cards" not in lines(named)
    view = View(FLAT, turn=99, exchanges=(("who was it", "The lamp."),))
    said = clause("only", "[I It], then, and strike [T the others]")
    there = FLAT
    for operation in assemble([said], said.text, view).operations:
        there = apply(there, operation, turn=99, said="said").graph
    assert lines(FLAT) - lines(there) == {
        "flat > Sam's key", "flat > dig the bed", "flat > clean fridge"
    }  # fmt: skip


def test_a_link_is_no_change_that_a_thing_goes_back_from() -> None:
    waits = turn(FLAT, clause("set", "[T the flat] [S price] [V £700]"))
    waits = turn(waits, clause("need", "[I the post] before [T the flat]"))
    assert "flat > price: £600" in lines(turn(waits, clause("back", "restore [T the flat]")))


def test_what_runs_is_all_that_there_is_and_them_what_something_waits_for() -> None:
    slots = turn(FLAT, clause("task", "[T service], [S day] [V monday]"))
    view = View(slots, turn=99, focus=tuple(node.id for node in slots.active if node.title == "service"))
    [all_of] = assemble([clause("ask.list", "what is running")], "what is running", view).operations
    assert isinstance(all_of, Check)
    assert not all_of.question.tasks
    waits = turn(FLAT, clause("need", "[I the lamp] before [T the post]"))
    view = View(
        waits, turn=99, focus=tuple(node.id for node in waits.active if node.title in ("lamp", "keys"))
    )
    [needed] = assemble([clause("ask.dependents", "what waits on [T them]")], "", view).operations
    assert isinstance(needed, Check)
    assert [waits[key].title for key in needed.question.tasks] == ["lamp"]
