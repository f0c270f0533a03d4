"""Which earlier task a request means, and which of its values are proposed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.memory.embed import packaged
from taskloom.memory.judge import (
    CANDIDATES,
    PAIR,
    UNIT,
    Asked,
    Floats,
    LogisticJudge,
    Ranked,
    pairs_for,
    rank_units,
    spoken,
    trained,
    unit_features,
    unit_text,
)
from taskloom.memory.pointing import bare, moments, of_the_past, pointing, seeks, when, without_pointers
from taskloom.memory.records import Experience, IntentUnit, Pair
from taskloom.memory.store import InMemoryStore

NOW = datetime(2026, 6, 17, 12, tzinfo=UTC)  # a Wednesday
MINILM = packaged()

HOTEL = ("hotel.book", "Reserve a selected hotel for given dates", "reserve hotel")
LOOK = ("hotel.find", "Search for a hotel based on location", "search hotel")
TABLE = ("table.book", "Reserve a table at a restaurant", "reserve restaurant")
QUESTIONS = {
    "city": "City of the hotel",
    "rooms": "Number of rooms to reserve",
    "check_in": "Start date of the stay",
    "restaurant_name": "Name of the restaurant",
    "time": "Time of the reservation",
    "wifi": "Whether there is Wi-Fi",
}


def unit(
    key: str, kind: tuple[str, str, str], day: datetime, *, status: str = "done", **values: object
) -> IntentUnit:
    intent, description, title = kind
    pairs = []
    for slot, value in values.items():
        answer, *said = value if isinstance(value, tuple) else (value,)
        pairs.append(
            Pair(slot=slot, question=QUESTIONS[slot], answer=str(answer), said=tuple(map(str, said)))
        )
    return IntentUnit.model_validate(
        {
            "id": key, "text": unit_text(description, pairs, ()), "at": day, "thread": key, "intent": intent,
            "description": description, "title": title, "pairs": tuple(pairs), "status": status,
        }
    )  # fmt: skip


MARCH, MAY, JUNE = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 5, 6))
COPPER: dict[str, Any] = {"restaurant_name": "The Copper Pot", "time": ("19:30", "half past 7")}
GREEN: dict[str, Any] = {"restaurant_name": "Green Table", "time": ("13:00", "1 pm")}
UNITS = [
    unit("oslo", HOTEL, MARCH, city=("Oslo", "Oslo, Norway"), rooms=2, wifi="True"),
    unit("bergen", HOTEL, MAY, city="Bergen", rooms=1, check_in=("2026-05-09", "May 9th")),
    unit("lund", HOTEL, JUNE, city="Lund", rooms=3, wifi="False"),
    unit("gone", HOTEL, JUNE + timedelta(days=8), status="dropped", city="Rome"),
    unit("looked", LOOK, JUNE + timedelta(days=7), city="Ghent"),
    unit("dinner", TABLE, MAY + timedelta(days=2), **COPPER),
    unit("lunch", TABLE, JUNE + timedelta(days=2), **GREEN),
]


@pytest.fixture(scope="module")
def store() -> InMemoryStore:
    made = InMemoryStore(MINILM)
    made.put("ada", [*UNITS, Experience(id="e", text="Book a hotel in Bergen", at=NOW)])
    return made


def asked(store: InMemoryStore, text: str) -> list[Ranked]:
    hits = store.search("ada", text, kind="unit", limit=CANDIDATES)
    return list(rank_units(text, hits, store.records("ada"), MINILM, now=NOW))


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("Book a hotel again.", "lund"),
        ("I need a hotel room once more, everything as it was", "lund"),
        ("Which hotels are there?", "looked"),
        ("Get us a table again, please", "lunch"),
        ("the hotel in Bergen again", "bergen"),
        ("Book a hotel, the one with Oslo, Norway as the city", "oslo"),
        ("Reserve a hotel like I did in March", "oslo"),
        ("Book that hotel again, the one for 2 rooms", "oslo"),
        ("Same as the Copper Pot one: reserve a table", "dinner"),
        ("Book a table again, the one at 7:30 pm", "dinner"),
        ("Reserve the hotel again, the one with the 9th of May as the check in", "bergen"),
    ],
)
def test_what_a_request_means(store: InMemoryStore, text: str, best: str) -> None:
    assert asked(store, text)[0].unit.id == best


def test_scores_are_probabilities_and_dropped_units_stay_out(store: InMemoryStore) -> None:
    ranked = asked(store, "the hotel in Bergen again")
    assert sum(one.score for one in ranked) == pytest.approx(1)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert {one.unit.id for one in ranked} == {one.id for one in UNITS} - {"gone"}
    assert ranked[0].named == ("city",)
    assert ranked[0].retrieval > 0


def test_the_newest_of_an_intent_is_judged_though_it_was_not_hit(store: InMemoryStore) -> None:
    hits = [hit for hit in store.search("ada", "hotel", kind="unit") if hit.record.id == "oslo"]
    ranked = rank_units("Book a hotel again.", hits, store.records("ada")[::-1], MINILM, now=NOW)
    assert [(one.unit.id, one.retrieval > 0) for one in ranked] == [("lund", False), ("oslo", True)]


def test_nothing_was_found() -> None:
    assert rank_units("Book a hotel again.", (), UNITS, MINILM, now=NOW) == ()
    found, features, points = unit_features("Again!", (), (), MINILM, now=NOW)
    assert (found, features.shape, points.request) == ([], (0, len(UNIT)), "again!")


def test_a_unit_without_title_and_description(store: InMemoryStore) -> None:
    bare_unit = IntentUnit(id="x", text="something", at=NOW, intent="x")
    made = InMemoryStore(MINILM)
    made.put("ada", [bare_unit])
    hits = made.search("ada", "something", kind="unit")
    (only,) = rank_units("something", hits, [bare_unit], MINILM, now=NOW)
    assert only.score == pytest.approx(1)


def test_the_trained_weights_go_with_the_features() -> None:
    judge = trained()
    assert set(judge.unit) == set(UNIT)
    assert set(judge.pair) == set(PAIR)
    assert judge.unit["newest"] > 0 > judge.unit["age"]
    assert judge.unit["named"] > 0


# ---- values to propose ------------------------------------------------------------------------------


def test_proposals_are_answers_of_the_best_unit_first(store: InMemoryStore) -> None:
    ranked = asked(store, "Book a hotel again.")
    missing = {"city": "City where the hotel is", "rooms": "How many rooms", "pets": "Whether pets may come"}
    found = pairs_for("Book a hotel again.", missing, ranked, MINILM)
    assert list(found) == list(missing)
    assert (found["city"][0].value, found["city"][0].source) == ("Lund", "lund")
    assert found["rooms"][0].value == "3"
    assert all(len(proposals) == 5 for proposals in found.values())
    assert all(len({one.value for one in proposals}) == 5 for proposals in found.values())
    assert found["pets"][0].score < found["city"][0].score


def test_a_slot_of_another_name_is_found_by_its_question(store: InMemoryStore) -> None:
    ranked = asked(store, "the hotel in Bergen again")
    found = pairs_for("the hotel in Bergen again", {"destination": "City of the hotel"}, ranked, MINILM)
    assert found["destination"][0].value == "Bergen"


def test_a_slot_without_question_and_a_pair_without_one() -> None:
    held = IntentUnit(
        id="x", text="x", at=NOW, intent="x", pairs=(Pair(slot="trip.pick_up", question="", answer="noon"),)
    )
    found = pairs_for("again", {"pick_up": ""}, [Ranked(held, 1.0, 1.0)], MINILM)
    assert found["pick_up"][0].value == "noon"
    assert found["pick_up"][0].score > 0.5


def test_nothing_to_propose() -> None:
    assert pairs_for("again", {"city": "City"}, [], MINILM) == {"city": ()}
    empty = IntentUnit(id="x", text="x", at=NOW, intent="x")
    assert pairs_for("again", {"city": "City"}, [Ranked(empty, 1.0, 1.0)], MINILM) == {"city": ()}
    assert pairs_for("again", {}, [Ranked(UNITS[0], 1.0, 1.0)], MINILM) == {}


def test_another_judge_may_take_over_and_alpha_weighs_it() -> None:
    seen: list[Asked] = []

    def judge(asked: Sequence[Asked]) -> Floats:
        seen.extend(asked)
        return np.array([float(one.pair.answer == "2") for one in asked])

    ranked = [Ranked(UNITS[0], 0.25, 0.5)]
    found = pairs_for("again", {"city": "City"}, ranked, MINILM, judge=judge, alpha=0.4, keep=2)
    assert [one.value for one in found["city"]] == ["2", "Oslo"]
    assert [one.score for one in found["city"]] == pytest.approx([0.7, 0.1])
    assert {(one.request, one.slot, one.question, one.unit.id) for one in seen} == {
        ("again", "city", "City", "oslo")
    }


def test_the_best_of_equal_values_stands() -> None:
    again = UNITS[0].model_copy(update={"id": "again"})
    for order in ([again, UNITS[0]], [UNITS[0], again]):
        ranked = [Ranked(one, 0.9 if one.id == "again" else 0.1, 0.0) for one in order]
        found = pairs_for("again", {"city": "City of the hotel"}, ranked, MINILM)
        assert (found["city"][0].value, found["city"][0].source) == ("Oslo", "again")


def test_the_logistic_judge_is_what_its_weights_say() -> None:
    judge = LogisticJudge(dict.fromkeys(UNIT, 0.0) | {"newest": 2.0}, dict.fromkeys(PAIR, 1.0), -1.0)
    features = np.zeros((3, len(UNIT)))
    features[1, UNIT.index("newest")] = 1
    total = np.e**2 + 2
    assert judge.units(features) == pytest.approx([1 / total, np.e**2 / total, 1 / total])
    one = Asked("", "", "", UNITS[0], UNITS[0].pairs[0], np.array([1.0, 0, 0, 0]))
    assert judge([one]) == pytest.approx([0.5])
    assert len(judge([])) == 0


def test_the_text_of_a_unit() -> None:
    pairs = (
        Pair(slot="trip.pickup_city", question="", answer="Rome"),
        Pair(slot="seats", question="", answer="2"),
    )
    assert (
        unit_text("Hire a car.", pairs, ("In Rome.", "Two."))
        == "Hire a car. pickup city: Rome, seats: 2. In Rome. Two."
    )
    assert unit_text("Hire a car", (), (), limit=4) == "Hire"
    assert spoken("ReserveHotel") == "reserve hotel"


# ---- what a request points at -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Let's book a hotel again like before.", "book a hotel"),
        ("Help me find a bus one more time and keep all the settings.", "find a bus"),
        ("Get me another table, everything as it was.", "get me table"),
        ("Please rent a car again, the one with Oslo as the city.", "rent a car"),
        ("I’d like to rent a car, same as last time", "rent a car"),
        ("Again!", "again!"),
        ("", ""),
    ],
)
def test_the_bare_request(text: str, left: str) -> None:
    assert bare(text) == left


@pytest.mark.parametrize(
    ("text", "left", "sure"),
    [
        ("Book the same hotel as last time for three", "Book the hotel for three", True),
        ("Reserve a table again, but for four", "Reserve a table , but for four", True),
        ("Book the same hotel we had", "Book the hotel", True),
        ("Same again", "", True),
        ("Book the hotel, the one in Bergen", "Book the hotel", False),
        ("Book a hotel in Bergen", "Book a hotel in Bergen", False),
    ],
)
def test_words_that_point_back_are_taken_out_and_the_rest_stays_as_written(
    text: str, left: str, sure: bool
) -> None:
    said, found = without_pointers(text)
    assert (" ".join(said.split()), found) == (left, sure)


@pytest.mark.parametrize(
    ("text", "may", "surely"),
    [
        ("what did I book last May?", True, True),
        ("have I ever been to Oslo?", True, False),
        ("what is my previous booking?", True, True),
        ("where is the hotel?", False, False),
    ],
)
def test_words_of_the_past(text: str, may: bool, surely: bool) -> None:
    assert (of_the_past(text, surely=False), of_the_past(text, surely=True)) == (may, surely)


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("Find a hotel at a given location", 1), ("where can I sleep?", 1), ("Get show times for a movie", 1),
        ("get me a hotel search", 1), ("Any news", 1), ("Reserve a selected hotel for given dates", -1),
        ("Get me a taxi", -1), ("Could you book it?", -1), ("I need my haircut again", -1), ("that place", 0),
    ],
)  # fmt: skip
def test_whether_words_look_for_something(text: str, sought: float) -> None:
    assert seeks(text) == sought


def test_days_and_times_in_every_usual_spelling() -> None:
    days = ("march 5th", "mar 5", "5th of march", "the 5 march", "2019-03-05", "march the 5th")
    assert {moments(day) for day in days} == {frozenset({"03-05"})}
    times = ("2 pm", "2 p.m.", "14:00", "2:00 in the afternoon", "2 o'clock in the afternoon")
    assert {moments(time) for time in times} == {frozenset({"14:00"})}
    assert moments("12 am") == {"00:00"}
    assert moments("12 pm") == {"12:00"}
    assert moments("30:15 on 2 may") == {"05-02", "30:15"}  # no time that any value has
    assert moments("two people") == frozenset()


def day(month: int, of_month: int, year: int = 2026) -> datetime:
    return datetime(year, month, of_month, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what I did yesterday", day(6, 16), day(6, 16)),
        ("the one from last week", day(6, 8), day(6, 14)),
        ("as last month", day(5, 1), day(5, 31)),
        ("as last year", day(1, 1, 2025), day(12, 31, 2025)),
        ("what did I book in May", day(5, 1), day(5, 31)),
        ("like in December", day(12, 1, 2025), day(12, 31, 2025)),
        ("three days ago", day(6, 14), day(6, 14)),
        ("a week ago", day(6, 8), day(6, 12)),
    ],
)
def test_times_of_earlier_sessions(text: str, first: datetime, last: datetime) -> None:
    span = when(text, NOW)
    assert span is not None
    noon = timedelta(hours=12)
    assert span[0] <= first + noon < span[1]
    assert span[0] <= last + noon < span[1]
    assert not span[0] <= first - timedelta(days=4) < span[1]
    assert not span[0] <= last + timedelta(days=4) < span[1]


@pytest.mark.parametrize(
    "text",
    [
        "book a hotel",
        "on May 9th",
        "in May 9",
        "some days ago",
        "last but not least",
        "900000 weeks ago",
        f"{'9' * 5000} days ago",
    ],
)
def test_no_time_of_an_earlier_session(text: str) -> None:
    assert when(text, NOW) is None


def test_ordinary_words_only_hint_at_values() -> None:
    music = unit("m", HOTEL, NOW, city="music", rooms="5")
    plain = pointing("play that music again", [music], NOW).strength["m"]
    assert (plain.named, plain.slots) == (0, ())
    assert plain.hinted > 0
    assert pointing("play it again, the one with music as the city", [music], NOW).strength["m"].slots == (
        "city",
    )


def test_numbers_need_the_name_of_their_slot() -> None:
    held = [unit("two", HOTEL, NOW, rooms=2), unit("one", HOTEL, NOW, rooms=1)]
    named = pointing("one more time, a hotel with two rooms", held, NOW).strength
    assert named["two"].slots == ("rooms",)
    assert named["one"].slots == ()
    assert pointing("the hotel for two", held, NOW).strength["two"].slots == ()


def test_flags_and_parts_of_words_name_nothing() -> None:
    held = [unit("f", HOTEL, NOW, wifi="True", city="Lund")]
    strength = pointing("is it true that Lundby is near Blund", held, NOW).strength["f"]
    assert (strength.named, strength.hinted) == (0, 0)


def test_the_longest_value_counts_most() -> None:
    held = [
        unit("a", HOTEL, NOW, city="Oslo"),
        unit("b", HOTEL, NOW, city="Oslo, Norway"),
        unit("c", HOTEL, NOW, city="X, Y"),
    ]
    named = pointing("the hotel in Oslo, Norway", held, NOW).strength
    assert named["b"].named > named["a"].named > named["c"].named == 0
    named = pointing("the hotel in Oslo", held, NOW).strength
    assert named["a"].named > named["b"].named > 0


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    strength = pointing(text, UNITS, NOW).strength
    assert set(strength) == {one.id for one in UNITS}
    assert all(0 <= one.named <= 1 and 0 <= one.hinted <= 1 for one in strength.values())
    assert seeks(text) in (-1, 0, 1)


def test_a_number_of_thousands_of_digits_names_nothing() -> None:
    held = unit("h", HOTEL, NOW, city="Rome", rooms="9" * 5000)
    assert pointing(f"rooms for {'9' * 5000}", [held], NOW).strength["h"].slots == ()
