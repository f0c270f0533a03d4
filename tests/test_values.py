"""Typed values in text: where they stand, of which kind they are, and what they become when they move."""

from __future__ import annotations

import itertools
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.agent.values import (
    Kind,
    duration_of,
    is_email,
    is_phone,
    kind_of,
    number_of,
    parsed,
    shifted,
    spot,
    with_number,
)

NOW = datetime(2026, 3, 2, 9)  # noqa: DTZ001  a Monday; what the user means is local time


# ---- where they stand -----------------------------------------------------------------------------

SPOTTED = [
    ("Lunch on June 10th at 2 PM.", [("date", "June 10th"), ("time", "2 PM")]),
    ("from 2 to 2:45 PM", [("time", "2 to 2:45 PM")]),
    ("between 3 and 5", [("time", "3 and 5")]),
    ("at half past nine", [("time", "half past nine")]),
    ("call me at 4", [("time", "4")]),
    ("it goes up to 4", []),
    ("at 40 of them", []),
    ("May I come in May 2027?", [("date", "May 2027")]),
    ("may be", []),
    ("the 3rd", [("date", "the 3rd")]),
    ("the 3rd option", []),
    ("12/25", [("date", "12/25")]),
    ("24/36", []),
    ("2026-04-05", [("date", "2026-04-05")]),
    ("about $1,500 for 4 people", [("amount", "$1,500"), ("count", "4 people")]),
    ("20% off", [("percent", "20%")]),
    ("mail jo@example.com, please", [("email", "jo@example.com")]),
    ("see https://example.com/a.", [("url", "https://example.com/a")]),
    ("ring 555-123-4567", [("phone", "555-123-4567")]),
    ("for an hour and a half", [("duration", "an hour and a half")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), SPOTTED, ids=[text for text, _ in SPOTTED])
def test_what_is_spotted(text: str, found: list[tuple[Kind, str]]) -> None:
    assert [(span.kind, span.text) for span in spot(text)] == found


def test_a_bare_number_is_a_time_only_loosely() -> None:
    assert spot("at 4", loose=False) == ()


WORDS = st.sampled_from(
    ["June", "10th", "at", "4", "PM", "2:30", "to", "from", "$", "1,500", "people", "next", "Friday", "jo@example.com", ",", ".",
     "in", "two", "weeks", "half", "past", "the", "3rd", "12/25", "%", "+1 555 123 4567", "www.example.com", "a"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60)


@given(TEXTS, st.booleans())
def test_spans_lie_in_the_text_in_order_and_apart(text: str, loose: bool) -> None:
    spans = spot(text, loose=loose)
    for span in spans:
        assert text[span.start : span.end] == span.text != ""
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))


# ---- of which kind --------------------------------------------------------------------------------

KINDS: list[tuple[str, Kind | None]] = [
    ("June 10th", "date"),
    ("June", "date"),
    ("next Friday", "date"),
    ("at 4", "time"),
    ("noon", "time"),
    ("$1,500", "amount"),
    ("three", "count"),
    ("12", "count"),
    ("four people", "count"),
    ("3 nights", "duration"),
    ("jo@example.com", "email"),
    ("(555) 123-4567", "phone"),
    ("20%", "percent"),
    ("https://example.com", "url"),
    ("Boston", None),
    ("a long talk about 4 people", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "kind"), KINDS, ids=[text for text, _ in KINDS])
def test_the_kind_of_a_value(text: str, kind: Kind | None) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize("text", ["jo@example.com", "a.b+c@localhost.test", "jo@python.org"])
def test_an_email_address(text: str) -> None:
    assert is_email(text)


@pytest.mark.parametrize("text", ["jo", "jo@", "@example.com", "jo@exa mple.com"])
def test_not_an_email_address(text: str) -> None:
    assert not is_email(text)


@pytest.mark.parametrize(
    ("text", "is_one"), [("555-4567", True), ("+49 30 123456", True), ("12", False), ("words", False)]
)
def test_a_telephone_number(text: str, is_one: bool) -> None:
    assert is_phone(text) == is_one


# ---- numbers --------------------------------------------------------------------------------------

NUMBERS = [
    ("three guests", "3"), ("$1,500", "1500"), ("5k", "5000"), ("2.5 km", "2.5"), ("a dozen", "12"), ("some", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_the_number_in_a_text(text: str, number: str | None) -> None:
    assert number_of(text) == (None if number is None else Decimal(number))


EXCHANGED = [
    ("$1,500", "2000", "$2,000"), ("4 people", "6", "6 people"), ("four people", "6", "6 people"), ("5k", "6000", "6000"),
    ("$900", "1200", "$1,200"), ("3 km", "2.5", "2.5 km"), ("some", "7", "7"), ("of Two Rooms", "3", "of 3 Rooms"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "changed"), EXCHANGED)
def test_a_number_is_exchanged_in_the_same_form(text: str, number: str, changed: str) -> None:
    assert with_number(text, Decimal(number)) == changed


@given(
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.sampled_from(["{} people", "${}", "$ {}", "budget of {} euros"]),
)
def test_the_number_put_in_is_the_number_read(old: int, new: int, form: str) -> None:
    assert number_of(with_number(form.format(old), Decimal(new))) == new


# ---- moved ----------------------------------------------------------------------------------------

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MOVED: list[tuple[str, timedelta, Kind, str | None]] = [
    ("June 10th", DAY, "date", "June 11th"),
    ("June 30th", DAY, "date", "July 1st"),
    ("June 10", 2 * DAY, "date", "June 12"),
    ("10 June", DAY, "date", "11 June"),
    ("Jun 10", DAY, "date", "Jun 11"),
    ("June 10, 2027", DAY, "date", "June 11, 2027"),
    ("2026-12-31", DAY, "date", "2027-01-01"),
    ("6/10", DAY, "date", "6/11"),
    ("6/10/2026", DAY, "date", "6/11/2026"),
    ("Thursday", DAY, "date", "Friday"),
    ("next Sunday", DAY, "date", "next Monday"),
    ("Thursday", 7 * DAY, "date", None),
    ("tomorrow", DAY, "date", "March 4th"),
    ("the crack of doom", DAY, "date", None),
    ("2 PM", 90 * timedelta(minutes=1), "time", "3:30 PM"),
    ("2 pm", HOUR, "time", "3 pm"),
    ("2pm", HOUR, "time", "3pm"),
    ("noon", HOUR, "time", "1 PM"),
    ("midnight", HOUR, "time", "1 AM"),
    ("11 AM", HOUR, "time", "12 PM"),
    ("14:00", -HOUR, "time", "13:00"),
    ("4", HOUR, "time", "5"),
    ("4", HOUR / 2, "time", "4:30"),
    ("4 o'clock", HOUR, "time", "5"),
]


@pytest.mark.parametrize(
    ("text", "delta", "kind", "moved"), MOVED, ids=[f"{one[0]} {one[1]}" for one in MOVED]
)
def test_a_value_moves_in_its_own_words(text: str, delta: timedelta, kind: Kind, moved: str | None) -> None:
    assert shifted(text, delta, kind, NOW) == moved


DATE_FORMS = [
    "{0:%B} {0.day}, {0.year}",
    "{0:%Y-%m-%d}",
    "{0.month}/{0.day}/{0.year}",
    "{0.day} {0:%B}, {0.year}",
]


@given(st.dates(date(2026, 1, 1), date(2030, 12, 31)), st.integers(-400, 400), st.sampled_from(DATE_FORMS))
def test_a_date_keeps_its_form(day: date, days: int, form: str) -> None:
    moved = shifted(form.format(day), days * DAY, "date", NOW)
    assert moved == form.format(day + days * DAY)


@given(st.integers(0, 23), st.integers(0, 59), st.integers(-600, 600))
def test_a_time_comes_back(hour: int, minute: int, minutes: int) -> None:
    text, delta = f"{hour}:{minute:02d}", timedelta(minutes=minutes)
    moved = shifted(text, delta, "time", NOW)
    assert moved is not None
    assert shifted(moved, -delta, "time", NOW) == text


def test_what_has_no_meaning_is_not_parsed() -> None:
    assert parsed("the crack of doom", "date", NOW) is None


# ---- durations ------------------------------------------------------------------------------------

DURATIONS = [
    ("an hour and a half", 1.5 * HOUR), ("half an hour", HOUR / 2), ("30 minutes", HOUR / 2), ("two days", 2 * DAY),
    ("a fortnight", 14 * DAY), ("one night", DAY), ("week", 7 * DAY), ("2.5 hrs", 2.5 * HOUR), ("soon", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "duration"), DURATIONS)
def test_a_duration_in_words(text: str, duration: timedelta | None) -> None:
    assert duration_of(text) == duration
