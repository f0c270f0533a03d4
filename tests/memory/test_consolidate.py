"""Turns into facts: what is told of tasks, what a model may tell, what becomes of old and new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.memory.consolidate import (
    CALLS,
    SESSION,
    Decision,
    Exchange,
    Unit,
    Vector,
    clusters,
    combined,
    consolidate,
    decide_by_rules,
    due,
    facts_of,
    grounded,
    identity,
    inline_title,
    is_profile,
    neighbours,
    people,
    profile,
    summarise,
    summarise_changes,
)
from taskloom.memory.embed import packaged
from taskloom.memory.facts import FactGraph, closure
from taskloom.memory.operations import (
    Add,
    Complete,
    Inactivate,
    Link,
    Operation,
    Remove,
    Rollback,
    Undo,
    Update,
    apply,
)
from taskloom.memory.records import Fact
from taskloom.memory.tasks import TaskGraph

START = datetime(2026, 5, 3, 9, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def turns(*numbers: int, thread: str = "main") -> tuple[Exchange, ...]:
    return tuple(Exchange(thread=thread, turn=n, at=day(n), said=f"words of turn {n}") for n in numbers)


def talk(*operations: tuple[Operation, ...]) -> TaskGraph:
    """The graph after turns of operations, the first is turn 1."""
    graph = TaskGraph()
    for turn, several in enumerate(operations, start=1):
        for operation in several:
            outcome = apply(graph, operation, turn=turn)
            assert outcome.refused is None, outcome.refused
            graph = outcome.graph
    return graph


TRIP = Add(slot="trip", title="trip to Rome")


def hotel(value: str | None, **more: Any) -> Add:
    return Add(slot="trip.hotel", title="hotel", value=value, parent="t1", **more)


def texts(facts: Iterable[Fact]) -> list[str]:
    return [fact.text for fact in facts]


def told(*operations: tuple[Operation, ...]) -> list[str]:
    return texts(summarise_changes(turns(*range(1, len(operations) + 1)), talk(*operations)))


def fact(key: str, at: float = 0, **more: Any) -> Fact:
    given: dict[str, Any] = {"id": key, "text": f"Fact {key}.", "at": day(at), "thread": "main", **more}
    return Fact(**given)


def vector(degrees: float) -> Vector:
    """On a circle: the cosine of two is that of the angle between them."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


# ---- when, and for how many calls ---------------------------------------------------------------


def test_due_when_a_task_closes_the_session_ends_or_the_buffer_is_full() -> None:
    for model in (False, True):
        assert due(5, closed=False, ended=False, model=model) == "nothing"
        assert due(SESSION, closed=False, ended=False, model=model) == "all"
        assert due(1, closed=True, ended=True, model=model) == "all"
        assert due(0, closed=True, ended=True, model=model) == "nothing"
    assert due(5, closed=True, ended=False, model=False) == "all"
    assert due(5, closed=True, ended=False, model=True) == "tasks"


@given(st.lists(st.booleans(), min_size=1, max_size=75))
def test_a_session_never_costs_more_calls_than_it_may(closes: list[bool]) -> None:
    """Whenever tasks close, and if every batch makes all the calls it may; each turn gets written."""
    spent = waiting = 0
    for turn, closed in enumerate(closes, start=1):
        waiting += 1
        batch = due(waiting, closed=closed, ended=turn == len(closes), model=True)
        assert (batch == "nothing") <= (not closed)
        if batch == "all":
            spent, waiting = spent + CALLS, 0
        assert waiting < SESSION
    assert waiting == 0
    assert spent <= CALLS * -(-len(closes) // SESSION)


def test_what_was_written_of_the_tasks_is_not_written_again() -> None:
    graph = talk((TRIP,), (hotel("Ritz"),), (Update(task="t2", value="Hilton"),))
    early = consolidate(summarise(turns(1, 2), graph), FactGraph(), {}).graph
    late = consolidate(summarise(turns(1, 2, 3), graph), early, {}).graph
    assert late == consolidate(summarise(turns(1, 2, 3), graph), FactGraph(), {}).graph


# ---- summarise: tasks ---------------------------------------------------------------------------


def test_a_slot_that_changed_has_one_current_fact_and_former_ones() -> None:
    graph = talk((TRIP,), (hotel("Ritz"),), (Update(task="t2", value="Hilton"),))
    trip, ritz, hilton = summarise_changes(turns(1, 2, 3), graph)
    assert texts((trip, ritz, hilton)) == [
        "The trip to Rome is planned.",
        "The hotel of the trip to Rome is Ritz.",
        "The hotel of the trip to Rome is Hilton.",
    ]
    assert (ritz.status, ritz.until, ritz.value) == ("former", day(3), "Ritz")
    assert (hilton.status, hilton.until, hilton.value) == ("current", None, "Hilton")
    assert (hilton.subject, hilton.slot, hilton.people) == ("trip to Rome", "trip.hotel", ())
    assert (hilton.thread, hilton.turn, hilton.at, hilton.sources) == ("main", 3, day(3), (3,))
    assert trip.subject == ""
    assert ritz.rests_on == (trip.id,)
    assert hilton.rests_on == (ritz.id, trip.id)


def test_only_the_turns_of_the_batch_are_told_and_earlier_ones_rested_on() -> None:
    graph = talk((TRIP,), (hotel("Ritz"),), (Update(task="t2", value="Hilton"),))
    _, ritz = summarise_changes(turns(1, 2), graph)
    assert (ritz.status, ritz.value) == ("current", "Ritz")
    (hilton,) = summarise_changes(turns(3), graph)
    assert hilton.rests_on[0] == ritz.id
    assert summarise_changes(turns(4), graph) == ()
    assert summarise_changes((), graph) == ()


def test_a_fact_may_rest_on_those_of_the_prerequisites() -> None:
    graph = talk(
        (TRIP, Add(slot="trip.date", title="date", value="May 9", parent="t1")),
        (Add(slot="trip.flight", title="flight", value="AZ 611", parent="t1", depends_on=("t2",)),),
    )
    trip, date, flight = summarise_changes(turns(1, 2), graph)
    assert flight.rests_on == (date.id, trip.id)


def test_what_reads_as_before_is_not_told_again() -> None:
    first = (TRIP, hotel("Ritz"), Add(slot="bag", title="bag"))
    assert told(first, (Link(task="t2", on="t3"),), (Complete(task="t2"),)) == [
        "The trip to Rome is planned.",
        "The hotel of the trip to Rome is Ritz.",
        "The bag is planned.",
    ]


def test_of_one_turn_the_last_state_counts() -> None:
    assert told((TRIP,), (hotel("Ritz"), Update(task="t2", value="Hilton"))) == [
        "The trip to Rome is planned.",
        "The hotel of the trip to Rome is Hilton.",
    ]


def test_what_leaves_the_plan_is_told_if_it_was_told_before() -> None:
    celery = Add(slot="trip.item1", title="celery", parent="t1")
    assert told((TRIP,), (celery,), (Remove(task="t2"),))[1:] == [
        "The celery is part of the trip to Rome.",
        "The celery is no longer part of the trip to Rome.",
    ]
    assert told((TRIP,), (hotel("Ritz"),), (Inactivate(task="t2"),))[2:] == [
        "The hotel of the trip to Rome is on hold."
    ]
    assert told((TRIP,), (Remove(task="t1"),))[1:] == ["The trip to Rome is no longer part of the plan."]
    assert told((TRIP,), (hotel(None),), (Remove(task="t2"),))[1:] == []
    assert told((TRIP,), (hotel(None),), (Inactivate(task="t2"),))[1:] == []


def test_an_open_slot_tells_nothing_until_it_is_filled_and_is_open_again() -> None:
    graph = ((TRIP,), (hotel(None),), (Update(task="t2", value="Ritz"),), (Rollback(task="t2"),))
    assert told(*graph)[1:] == [
        "The hotel of the trip to Rome is Ritz.",
        "The hotel of the trip to Rome is open again.",
    ]


def test_an_undone_turn_gives_the_former_value_again() -> None:
    graph = talk((TRIP,), (hotel("Ritz"),), (Update(task="t2", value="Hilton"),), (Undo(),))
    facts = summarise_changes(turns(1, 2, 3, 4), graph)
    assert [(one.value, one.status) for one in facts[1:]] == [
        ("Ritz", "former"), ("Hilton", "former"), ("Ritz", "current"),
    ]  # fmt: skip


def test_what_was_only_proposed_is_not_told() -> None:
    assert told((TRIP,), (hotel("Ritz", status="proposed"),)) == ["The trip to Rome is planned."]


def test_done_tasks_and_lists() -> None:
    rooms = Add(slot="trip.rooms", title="rooms", value="2", parent="t1")
    tickets = Add(slot="trip.item", title="museum tickets", parent="t1")
    assert told((TRIP,), (rooms, tickets), (Complete(task="t3"),), (Complete(task="t1"),)) == [
        "The trip to Rome is planned.",
        "The rooms of the trip to Rome are 2.",
        "The museum tickets are part of the trip to Rome.",
        "The museum tickets are done.",
        "The trip to Rome is done.",
    ]


def person(slot: str, title: str, value: str | None = None, parent: str = "t1") -> Add:
    return Add(slot=slot, title=title, value=value, parent=parent)


def test_people_are_named() -> None:
    graph = talk(
        (
            TRIP,
            person("trip.participant1", "Ken"),
            person("trip.participant2", "me"),
            person("trip.assignee", "assignee", "Ana, Bo and Cy"),
            person("trip.guests", "guests", "80"),
            person("trip.teachers", "teachers"),
            person("trip.teachers.item1", "Ms Vega", parent="t6"),
            person("trip.speakers", "speakers", "Eve & Mallory"),
            person("trip.attendee", "attendee"),
        ),
        (Update(task="t4", value="Dana"),),
    )
    facts = summarise_changes(turns(1, 2), graph)
    assert [(one.text, one.people) for one in facts[1:]] == [
        ("Ken takes part in the trip to Rome.", ("Ken",)),
        ("The user takes part in the trip to Rome.", ()),
        ("Ana, Bo and Cy are responsible for the trip to Rome.", ("Ana", "Bo", "Cy")),
        ("The guests of the trip to Rome are 80.", ()),
        ("The teachers are part of the trip to Rome.", ()),
        ("Ms Vega takes part in the trip to Rome.", ("Ms Vega",)),
        ("Eve & Mallory take part in the trip to Rome.", ("Eve", "Mallory")),
        ("Dana is responsible for the trip to Rome.", ("Dana",)),
    ]
    assert people(facts) == ("Ken", "Ms Vega", "Eve", "Mallory", "Dana")


def test_a_root_person_slot_is_of_the_plan() -> None:
    assert told((Add(slot="assignee", title="assignee", value="Ken"),)) == [
        "Ken is responsible for the plan."
    ]


def test_profiles_are_of_a_person() -> None:
    graph = talk(
        (
            Add(slot="preferences", title="my preferences"),
            Add(slot="preferences.seat", title="seat", value="aisle", parent="t1"),
            Add(slot="preferences2", title="Ken's preferences"),
            Add(slot="preferences2.seat", title="seat", value="window", parent="t3"),
        )
    )
    facts = summarise_changes(turns(1), graph)
    seats = [one for one in facts if one.value]
    assert [(one.text, one.people) for one in seats] == [
        ("The user's seat is aisle.", ()),
        ("Ken's seat is window.", ("Ken",)),
    ]
    assert [identity(one) for one in seats] == [("profile", "seat"), ("profile", "ken", "seat")]


def test_titles_get_an_article_where_they_need_one() -> None:
    titles = ["trip", "the trip", "Ken", "my party", "Ana's party", "ana's party", '"sand it"', "3 cases"]
    assert [inline_title(title) for title in titles] == ["the trip", *titles[1:]]
    facts = summarise_changes(turns(1), talk((TRIP,)), called=lambda title: f"«{title}»")
    assert texts(facts) == ["«trip to Rome» is planned."]


# ---- summarise: a model -------------------------------------------------------------------------

SAID = (
    Exchange(thread="main", turn=1, at=day(1), said="I went to a jazz concert with Mia yesterday."),
    Exchange(thread="main", turn=2, at=day(2), said="Two of us loved it!", reply="How nice.", speaker="Mia"),
    Exchange(thread="main", turn=3, at=day(3), said="Lovely weather."),
)


@pytest.mark.parametrize(
    ("text", "sources", "value", "good"),
    [
        ("The user went to a jazz concert with Mia.", (1,), None, True),
        ("Mia went to a jazz concert on 3 May 2026.", (1,), "jazz concert", True),
        ("Mia went to a jazz concert on April 29th, 2026.", (1,), None, True),
        ("Mia went to a jazz concert on 20 May 2026.", (1,), None, False),
        ("Mia went to a jazz concert for 3 people.", (1,), None, False),
        ("Mia and Ken went to a jazz concert.", (1,), None, False),
        ("Mia went to a jazz concert in May 2026.", (1,), "jazz concert", True),
        ("Mia loved the jazz concert, both of 2.", (1, 2), None, True),
        ("Mia loved it.", (2,), None, True),
        ("The user went to a jazz concert with Mia.", (), None, False),
        ("The user went to a jazz concert with Mia.", (1, 9), None, False),
        ("The user went to a jazz concert with Mia.", (3,), None, False),
        ("The user went to a jazz concert with Ken.", (1,), "Ken", False),
        ("The user bought a red sports car with Mia.", (1,), None, False),
        ("The user.", (1,), None, False),
    ],
)
def test_a_unit_must_cite_turns_that_say_it(
    text: str, sources: tuple[int, ...], value: str | None, good: bool
) -> None:
    assert grounded(Unit(text=text, sources=sources, value=value), SAID) == good


def test_the_people_of_a_unit_must_be_named_or_speak() -> None:
    def about(*people: str) -> bool:
        return grounded(Unit(text="Loved the jazz concert.", sources=(1, 2), people=people), SAID)

    assert about("Mia")
    assert not about("Mia", "Ken")
    assert not grounded(Unit(text="Lovely weather.", sources=(3,), people=("Mia",)), SAID)


def test_grounded_units_become_facts() -> None:
    loved = Unit(
        text="Mia loved the jazz concert.", sources=(2, 1, 2), people=("Mia",), subject="concert", slot=""
    )
    boat = Unit(text="Ken bought a boat.", sources=(1,))
    (found,) = facts_of([loved, boat, loved, boat], SAID)
    assert found.text == "Mia loved the jazz concert."
    assert (found.turn, found.at, found.sources) == (2, day(2), (1, 2))
    assert (found.people, found.subject, found.slot, found.value) == (("Mia",), "concert", None, None)
    assert found.id == facts_of([loved], SAID)[0].id


def test_the_model_and_the_tasks_tell_together() -> None:
    def model(turns: Sequence[Exchange]) -> list[Unit]:
        return [Unit(text=turns[0].said, sources=(1,)), Unit(text="It snowed in Oslo.", sources=(1,))]

    graph = talk((TRIP,), (hotel("Ritz"),))
    assert texts(summarise(turns(1, 2), graph, model)) == [
        "The trip to Rome is planned.", "words of turn 1", "The hotel of the trip to Rome is Ritz.",
    ]  # fmt: skip
    assert len(summarise(turns(1, 2), graph)) == 2


# ---- align and cluster --------------------------------------------------------------------------


def test_identity() -> None:
    assert identity(fact("a")) is None
    in_trip = fact("a", slot="trip.hotel", subject="trip to Rome")
    assert identity(in_trip) == identity(fact("b", slot="trip.hotel", subject="trip to Oslo"))  # retitled
    assert identity(in_trip) != identity(fact("b", slot="trip.hotel", thread="other"))
    assert identity(in_trip) != identity(fact("b", slot="trip2.hotel"))
    bare = fact("a", slot="hotel", subject="Rome")
    assert identity(bare) == identity(fact("b", slot="Hotel", subject="rome"))
    assert identity(bare) != identity(fact("b", slot="hotel", subject="Oslo"))
    seat = fact("a", slot="seat", subject="travel preferences")
    assert identity(seat) == identity(fact("b", slot="profile.seat", thread="other"))
    assert identity(seat) != identity(fact("b", slot="profile.seat", people=("Ken",)))


@pytest.mark.parametrize("slot", ["profile", "my_preferences", "about_me.diet", "Preference"])
def test_profiles(slot: str) -> None:
    assert is_profile(slot)
    assert is_profile("task", slot.replace("_", " "))
    assert not is_profile("trip.hotel", "trip to Rome")


def test_neighbours_are_the_most_similar_first() -> None:
    facts = [fact(key) for key in "abcd"]
    vectors = {"a": vector(0), "b": vector(60), "c": vector(20)}
    near = neighbours(facts, vectors)
    assert [key for key, _ in near["a"]] == ["c", "b"]
    assert near["a"][0][1] == pytest.approx(np.cos(np.radians(20)))
    assert "d" not in near
    assert neighbours(facts, {}) == {}


@given(st.lists(st.integers(0, 180), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_clusters_part_the_facts_whatever_their_order(angles: list[int], chance: Any) -> None:
    facts = [fact(f"f{n}", n, slot="s" if n < 2 else None) for n in range(len(angles))]
    vectors = {f"f{n}": vector(angle) for n, angle in enumerate(angles)}
    found = clusters(facts, neighbours(facts, vectors), 0.9)
    assert sorted(one.id for cluster in found for one in cluster) == sorted(vectors)
    other = list(facts)
    chance.shuffle(other)
    again = clusters(other, neighbours(other, vectors), 0.9)
    assert {frozenset(c.id for c in cluster) for cluster in found} == {
        frozenset(c.id for c in cluster) for cluster in again
    }
    of = {one.id: cluster for cluster in found for one in cluster}
    for one in facts:
        for other_one in facts:
            if (one.slot and other_one.slot) or vectors[one.id] @ vectors[other_one.id] >= 0.9001:
                assert of[one.id] is of[other_one.id]


def test_minilm_puts_what_says_the_same_together() -> None:
    sentences = [
        "The user adopted a puppy called Toby.",
        "Toby is the puppy that the user adopted.",
        "The interview of Ken was moved to Friday.",
    ]
    facts = [fact(f"f{n}", n, text=text) for n, text in enumerate(sentences)]
    rows = packaged()(sentences)
    near = neighbours(facts, {one.id: rows[n] for n, one in enumerate(facts)})
    assert [[one.id for one in cluster] for cluster in clusters(facts, near)] == [["f0", "f1"], ["f2"]]


# ---- decide and apply: rules --------------------------------------------------------------------


def seat(at: int, value: str | None, **more: Any) -> Fact:
    text = f"The seat is {value}." if value else "The seat is no longer part of it."
    return fact(f"s{at}", at, text=text, slot="trip.seat", value=value, sources=(at,), turn=at, **more)


def after(*batches: Sequence[Fact], **more: Any) -> FactGraph:
    graph = FactGraph()
    for batch in batches:
        graph = consolidate(batch, graph, {}, **more).graph
    return graph


def test_the_same_again_is_not_put_in_but_its_turn_is_kept() -> None:
    graph = after([seat(1, "aisle")], [seat(2, "Aisle")])
    assert [(one.id, one.sources) for one in graph.values()] == [("s1", (1, 2))]
    other_thread = seat(1, "aisle", people=("Ken",)).model_copy(update={"slot": "profile.seat"})
    repeated = other_thread.model_copy(update={"id": "x", "thread": "other", "at": day(5), "sources": (7,)})
    assert after([other_thread], [repeated])["s1"].sources == (1,)  # the numbers are another thread's


def test_the_newest_wins_and_rests_on_what_it_updates() -> None:
    done = after([seat(1, "aisle")], [seat(3, "window")])
    assert [(one.value, one.status, one.until) for one in done.values()] == [
        ("aisle", "former", day(3)), ("window", "current", None),
    ]  # fmt: skip
    assert done["s3"].rests_on == ("s1",)
    assert texts(done.current) == ["The seat is window."]


def test_what_is_told_late_takes_its_place_in_the_history() -> None:
    done = after([seat(1, "aisle"), seat(5, "window")], [seat(3, "middle")], [seat(0, "front")])
    assert [(done[f"s{n}"].status, done[f"s{n}"].until) for n in (0, 1, 3, 5)] == [
        ("former", day(1)), ("former", day(3)), ("former", day(5)), ("current", None),
    ]  # fmt: skip


def test_gone_is_told_and_ends_what_was() -> None:
    done = after([seat(1, "aisle")], [seat(2, None)], [seat(3, None)])
    assert [(one.value, one.status) for one in done.values()] == [("aisle", "former"), (None, "current")]


def test_facts_of_no_slot_in_the_same_words_are_one() -> None:
    first = fact("a", 1, text="Ken plays the cello.", people=("Ken",), sources=(1,))
    same = fact("b", 2, text="ken plays a cello", people=("ken",), sources=(2,))
    other = fact("c", 3, text="Ken plays the cello.", people=("Kim",))
    more = fact("d", 4, text="Ken plays the cello badly.", people=("Ken",))
    vectors = {one.id: vector(0) for one in (first, same, other, more)}
    graph = consolidate([first], FactGraph(), vectors).graph
    done = consolidate([same, other, more], graph, vectors).graph
    assert list(done) == ["a", "c", "d"]
    assert done["a"].sources == (1, 2)
    former = graph.supersede("a", "a")
    assert "b" in consolidate([same], former, vectors).graph  # true once, and now again


def test_facts_of_a_slot_come_before_words_for_them() -> None:
    words = fact("a", 1, text="The seat is aisle.", sources=(1,), turn=1)
    vectors = {"a": vector(0), "s1": vector(0)}
    assert list(consolidate([words, seat(1, "aisle")], FactGraph(), vectors).graph) == ["s1"]


def test_a_batch_that_is_taken_in_twice_changes_nothing() -> None:
    batch = [seat(2, "aisle"), seat(3, "window"), fact("x", 4, text="Ken sings.")]
    once = consolidate(batch, after([seat(1, "aisle")]), {})
    again = consolidate(batch, once.graph, {})
    assert again.graph.since(once.graph) == ()
    assert consolidate([], once.graph, {}).graph is once.graph
    gone = once.graph.delete("x")
    assert consolidate(batch[2:], gone, {}).graph is gone


def check_days(graph: FactGraph, values: dict[int, str | None]) -> None:
    """The slot holds at every day what it was told to hold from the last day before."""
    assert [one.value for one in graph.current] == [values[max(values)]]
    for number in range(13):
        known = [n for n in values if n <= number]
        held = [
            one.value
            for one in graph.values()
            if one.at <= day(number) and (one.until is None or one.until > day(number))
        ]
        assert held == ([values[max(known)]] if known else [])


def batched(order: Sequence[int], values: dict[int, str | None], size: int) -> list[list[Fact]]:
    return [[seat(n, values[n]) for n in order[at : at + size]] for at in range(0, len(order), size)]


days = st.sets(st.integers(0, 12), min_size=1)


@given(
    st.dictionaries(st.integers(0, 12), st.sampled_from(["aisle", "window", None]), min_size=1),
    st.integers(1, 4),
)
def test_batches_in_order_give_every_day_its_value(values: dict[int, str | None], size: int) -> None:
    batches = batched(sorted(values), values, size)
    graph = after(*batches)
    check_days(graph, values)
    assert after(*batches, *batches) == graph


@given(days.flatmap(lambda numbers: st.permutations(sorted(numbers))), st.integers(1, 4))
def test_batches_in_any_order_give_every_day_its_value(order: list[int], size: int) -> None:
    values: dict[int, str | None] = {n: f"seat {n}" for n in order}
    batches = batched(order, values, size)
    graph = after(*batches)
    check_days(graph, values)
    assert after(*batches, *batches) == graph


def test_a_fact_rests_on_what_is_like_it_and_what_it_names() -> None:
    old = [
        fact("a", 0),
        fact("b", 1),
        fact("far", 2),
        fact("named", 3),
        *(fact(f"n{n}", 4) for n in range(6)),
    ]
    vectors = {"a": vector(50), "b": vector(-40), "far": vector(90), "new": vector(0)}
    vectors |= {f"n{n}": vector(200 + n) for n in range(6)}
    graph = FactGraph(old)
    done = consolidate([fact("new", 9, rests_on=("named", "never stored"))], graph, vectors).graph
    assert done["new"].rests_on == ("named", "b", "a")
    assert closure(done, ["new"]).facts == (*old[:2], old[3], done["new"])


def test_a_whole_session_becomes_a_graph_that_answers() -> None:
    session = (
        (TRIP,),
        (Add(slot="trip.date", title="date", value="May 9", parent="t1"),),
        (Add(slot="trip.hotel", title="hotel", value="Ritz", parent="t1", depends_on=("t2",)),),
        (Update(task="t3", value="Hilton"),),
        (Add(slot="trip.dinner", title="dinner", value="8 pm", parent="t1", depends_on=("t3",)),),
    )
    facts = summarise(turns(1, 2, 3, 4, 5), talk(*session))
    graph = consolidate(facts, FactGraph(), {}).graph
    found = closure(graph, [facts[-1].id])
    assert texts(found.facts) == [
        "The trip to Rome is planned.",
        "The date of the trip to Rome is May 9.",
        "The hotel of the trip to Rome is Ritz.",
        "The hotel of the trip to Rome is Hilton.",
        "The dinner of the trip to Rome is 8 pm.",
    ]
    split = FactGraph()
    for batch in ((1, 2), (3,), (4, 5)):
        split = consolidate(summarise(turns(*batch), talk(*session)), split, {}).graph
    assert {one.id: one.rests_on for one in split.values()} == {
        one.id: one.rests_on for one in graph.values()
    }
    assert set(split.current) == set(graph.current)


# ---- decide: a model ----------------------------------------------------------------------------

OLD = fact("old", 1, text="Ken lives in Oslo.", people=("Ken",))
NEW = fact("new", 2, text="Ken lives in Bergen now.", people=("Ken",))
MORE = fact("more", 3, text="Bergen is where Ken lives.", people=("Ken",))
SLOT = seat(1, "aisle")
CLUSTER = (OLD, NEW, MORE)
RULES = (Decision(fact="new", act="add"), Decision(fact="more", act="add"))


def stored(key: str) -> bool:
    return key in ("old", "s1")


def d(fact: str, act: Any, of: str | None = None) -> Decision:
    return Decision(fact=fact, act=act, of=of)


@pytest.mark.parametrize(
    "decisions",
    [
        (d("new", "update", "old"), d("more", "none", "new")),
        (d("new", "update", "old"), d("more", "none")),
        (d("old", "delete"), d("new", "add"), d("more", "none", "new")),
        (d("old", "none"), d("new", "add"), d("more", "update", "new")),
        (d("new", "none", "old"), d("more", "update", "old")),
    ],
)
def test_sound_decisions_of_a_model_are_taken(decisions: tuple[Decision, ...]) -> None:
    assert combined(CLUSTER, decisions, stored) == decisions


@pytest.mark.parametrize(
    "decisions",
    [
        (),
        (d("new", "add"),),  # nothing on one
        (d("new", "add"), d("new", "add"), d("more", "add")),  # twice
        (d("new", "add"), d("more", "add"), d("nobody", "add")),
        (d("new", "update", "nobody"), d("more", "add")),
        (d("new", "update", "new"), d("more", "add")),
        (d("new", "update"), d("more", "add")),
        (d("new", "add", "old"), d("more", "add")),
        (d("new", "delete"), d("more", "add")),
        (d("new", "update", "more"), d("more", "add")),  # the later for the earlier
        (d("new", "none", "more"), d("more", "none", "new")),  # both would be lost
        (d("old", "delete"), d("new", "update", "old"), d("more", "add")),
        (d("old", "update", "new"), d("new", "add"), d("more", "add")),
        (d("old", "add"), d("new", "add"), d("more", "add")),
        (d("old", "none", "new"), d("new", "add"), d("more", "add")),
    ],
)
def test_unsound_decisions_of_a_model_fall_back_to_rules(decisions: tuple[Decision, ...]) -> None:
    assert combined(CLUSTER, decisions, stored) == RULES == decide_by_rules(CLUSTER, stored)


def test_slots_are_decided_on_by_rule_only() -> None:
    window = seat(2, "window")
    cluster = (OLD, SLOT, NEW, window)
    by_rule = d("s2", "update", "s1")
    kept = combined(cluster, [d("s1", "delete"), d("s2", "none"), d("new", "add")], stored)
    assert kept == (by_rule, d("new", "add"))
    assert combined(cluster, [d("new", "none", "s2")], stored) == (by_rule, d("new", "none", "s2"))
    assert combined(cluster, [d("new", "update", "s1")], stored) == (by_rule, d("new", "add"))


class Model:
    """A scripted decider that keeps what it was asked."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions, self.asked = decisions, list[list[list[str]]]()

    def __call__(self, clusters: Sequence[Sequence[Fact]]) -> Iterable[Decision]:
        self.asked.append([[one.id for one in cluster] for cluster in clusters])
        members = {one.id for cluster in clusters for one in cluster}
        return [one for one in self.decisions if one.fact in members or one.fact == "nobody"]


def test_a_model_is_asked_about_clusters_of_more_than_one_and_its_word_is_carried_out() -> None:
    alone = fact("alone", 4)
    vectors = {"old": vector(0), "new": vector(5), "more": vector(8), "alone": vector(90)}
    graph = FactGraph([OLD])
    model = Model(d("new", "update", "old"), d("more", "none", "new"), d("nobody", "delete"))
    done = consolidate([NEW, MORE, alone], graph, vectors, decide=model)
    assert model.asked == [[["old", "new", "more"]]]
    assert done.calls == 1
    assert {key: one.status for key, one in done.graph.items()} == {
        "old": "former", "new": "current", "alone": "current",
    }  # fmt: skip
    deleting = Model(d("old", "delete"), d("new", "add"), d("more", "none"))
    done = consolidate([NEW, MORE], graph, vectors, decide=deleting)
    assert done.graph["old"].status == "deleted"
    assert done.graph["new"].rests_on == ()


def test_a_model_is_not_asked_about_slots_or_when_nothing_is_new() -> None:
    model = Model()
    done = consolidate([seat(1, "aisle"), seat(2, "window")], FactGraph(), {}, decide=model)
    assert done.calls == 0
    pair = FactGraph([OLD, NEW])
    vectors = {"old": vector(0), "new": vector(5), "far": vector(90)}
    assert consolidate([fact("far", 9)], pair, vectors, decide=model).calls == 0
    assert model.asked == []


@pytest.mark.parametrize(("calls", "asked"), [(0, []), (1, [3]), (2, [2, 1]), (9, [1, 1, 1])])
def test_many_clusters_share_the_calls(calls: int, asked: list[int]) -> None:
    facts = [fact(f"{name}{n}", n, text=f"Text {name}{n}.") for name in "abc" for n in (1, 2)]
    vectors = {one.id: vector(90 * "abc".index(one.id[0]) + int(one.id[1])) for one in facts}
    model = Model(*(d(one.id, "none" if one.id.endswith("2") else "add") for one in facts))
    done = consolidate(facts, FactGraph(), vectors, decide=model, calls=calls)
    assert [len(clusters) for clusters in model.asked] == asked
    assert done.calls == len(asked)
    assert sorted(done.graph) == (["a1", "b1", "c1"] if calls else sorted(vectors))


# ---- profiles -----------------------------------------------------------------------------------


def test_any_number_of_people_each_with_a_profile() -> None:
    names = [f"Person {n}" for n in range(7)]
    facts = [fact(f"{n}", -n, text=f"{name} sings.", people=(name, names[0])) for n, name in enumerate(names)]
    facts += [fact("mine", 1), fact("was", 0, people=("Person 3",), status="former")]
    graph = FactGraph(facts)
    assert people(graph.values()) == tuple(names)
    assert texts(profile(graph.values(), "person 3")) == ["Person 3 sings."]
    assert len(profile(graph.values(), "Person 0")) == 7
    assert texts(profile(graph.values(), "Person 0"))[0] == "Person 6 sings."  # in time order
    assert texts(profile(graph.values())) == ["Fact mine."]
    assert profile(graph.values(), "Nobody") == ()


def test_who_takes_part_is_not_done_with_the_task() -> None:
    guest = Add(slot="trip.guest1", title="Ken", parent="t1")
    assert told((TRIP, guest), (Complete(task="t2"),)) == [
        "The trip to Rome is planned.",
        "Ken takes part in the trip to Rome.",
    ]
