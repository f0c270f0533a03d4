"""Typed values in text: where they stand, of which kind they are, and what they become when they move."""

from __future__ import annotations

import itertools
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taskloom.agent.grounding.resolving.naming import day_and_hour
from taskloom.agent.language import typed
from taskloom.agent.language.moving import ordinal, shift_datetime
from taskloom.agent.language.totals import total
from taskloom.agent.language.values import (
    Kind,
    duration_of,
    is_email,
    is_phone,
    kind_of,
    number_of,
    parsed,
    shift_number,
    spot,
    with_day,
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
    ("we are away 3-5th", [("date", "3-5th")]),
    ("the 3rd–5th of May", [("date", "the 3rd–5th of May")]),
    ("3-5 May", [("date", "3-5 May")]),
    ("grades 3-5th grade", []),
    ("at 10:30 -5 May", [("time", "10:30"), ("date", "5 May")]),
    ("tomorrow or today", [("date", "tomorrow"), ("date", "today")]),
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


SHIFTED = [
    ("1.2M", "300k", "1.5M"),
    ("3 lakh", "50000", "3.5 lakh"),
    ("20k", "500", "20.5k"),
    ("3 m", "1 m", "4 m"),
]


@pytest.mark.parametrize(("text", "amount", "then"), SHIFTED)
def test_a_number_grows_in_its_own_scale(text: str, amount: str, then: str) -> None:
    assert shift_number(text, "+", amount) == then


SUMS: list[tuple[list[str], str | None]] = [
    (["£900", "3,100"], "£4,000"), (["five", "7"], "12"), (["two kilos", "3 kilos"], "5 kilos"),
    (["9 quid each", "4"], None), (["about 9 quid", "4"], "13 quid"), (["$5", "€4"], None), (["some", "1"], None),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "whole"), SUMS)
def test_values_add_up_in_their_own_form(typed: list[str], whole: str | None) -> None:
    assert total(typed) == whole


# ---- of which kind --------------------------------------------------------------------------------

KINDS: list[tuple[str, Kind | None]] = [
    ("June 10th", "date"),
    ("June", "date"),
    ("next Friday", "date"),
    ("3-5th", "date"),
    ("the 3-5th", "date"),
    ("tomorrow or today", None),
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
    ("3, one halal", "3"), ("£1,500 for two", "1500"), ("two thousand five hundred", "2500"),
    ("three hundred and fifty", "350"), ("160 dozen", "160"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_the_number_in_a_text(text: str, number: str | None) -> None:
    assert number_of(text) == (None if number is None else Decimal(number))


EXCHANGED = [
    ("$1,500", "2000", "$2,000"), ("4 people", "6", "6 people"), ("four people", "6", "6 people"), ("5k", "6000", "6000"),
    ("$900", "1200", "$1,200"), ("3 km", "2.5", "2.5 km"), ("some", "7", "7"), ("of Two Rooms", "3", "of 3 Rooms"),
    ("3, one halal", "2", "2, one halal"), ("two or 3 boxes", "4", "4 or 3 boxes"),
    ("a hundred and twenty", "180", "180"),
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

MOVED: list[tuple[str, str, str | None]] = [
    ("June 10th", "+1 day", "June 11th"), ("June 30th", "+1 day", "July 1st"), ("June 10", "+2 days", "June 12"),
    ("10 June", "+1 day", "11 June"), ("Jun 10", "+1 day", "Jun 11"), ("June 10, 2027", "+1 day", "June 11, 2027"),
    ("2026-12-31", "+1 day", "2027-01-01"), ("6/10", "+1 day", "6/11"), ("6/10/2026", "+1 day", "6/11/2026"),
    ("3.5.", "+2 days", "5.5."), ("14.02.27", "-14 days", "31.01.27"), ("dec 28", "+1 week", "jan 4"),
    ("Thursday", "+1 day", "Friday"), ("next Sunday", "+1 day", "next Monday"), ("weds", "+1 day", "thu"),
    ("SAT 14 JUNE", "+1 day", "SUN 15 JUNE"), ("Friday, May 3 at 7 PM", "+2 days", "Sunday, May 5 at 7 PM"),
    ("Friday evening, May 3", "+1 day", "Saturday evening, May 4"), ("the 3rd", "+2 days", "the 5th"),
    ("from the 5th on", "+2 days", "from the 7th on"), ("Sunday the 12th", "-2 days", "Friday the 10th"),
    ("the 12th at 9", "+1 day", "the 13th at 9"), ("mon 3rd", "+2 days", "wed 5th"), ("the 28th", "+1 week", "the 4th"),
    ("5-6 oct", "+1 day", "6-7 oct"), ("3-5th", "+1 day", "4-6th"), ("the 30th-31st", "-1 day", "the 29th-30th"),
    ("28-2nd", "+1 day", None), ("tomorrow or today", "+1 day", None), ("tomorrow or Friday", "+1 day", None),
    ("May 3 or 4", "+1 day", None), ("3 or 4 May", "+1 day", None), ("3rd-5th of May", "+1 day", "4th-6th of May"),
    ("31 to 1 june", "+1 day", None), ("tomorrow", "+1 day", "March 4th"),
    ("31 January", "+1 month", "28 February"), ("1st sept", "-1 month", "1st aug"), ("June 10", "+1 year", "June 10"),
    ("June", "+2 months", "August"), ("29 February 2028", "+1 year", "28 February 2029"),
    ("Thursday", "+7 days", None), ("Thursday", "+1 month", None), ("the 3rd", "+1 month", None), ("June", "+3 days", None),
    ("the crack of doom", "+1 day", None), ("May 3 or June 4", "+1 day", None), ("31.31.", "+1 day", None),
    ("2 PM", "+90 minutes", "3:30 PM"), ("2 pm", "+1 hour", "3 pm"), ("2pm", "+1 hour", "3pm"), ("2 p.m.", "+1 hour", "3 p.m."),
    ("noon", "+1 hour", "1 PM"), ("12 noon", "+1 hour", "1 PM"), ("24 hours", "+12 hours", None),
    ("9999-12-31", "+1 day", None), ("tomorrow", "+99999999999 days", None), ("9 AM", "+99999999999 days", None),
    ("tomorrow", "+999999999999 years", None), ("2026-01-01", "-3000 years", None), ("May 3-5", "+1 day", None), ("midnight", "+1 hour", "1 AM"), ("11 AM", "+1 hour", "12 PM"), ("14:00", "-1 hour", "13:00"),
    ("06:00 start", "+1 hour", "07:00 start"),
    ("4", "+1 hour", "5"), ("4", "+30 minutes", "4:30"), ("4 o'clock", "+1 hour", "5 o'clock"), ("fri 5", "+30 minutes", "fri 5:30"),
    ("2 to 6", "-1 hour", "1 to 5"), ("from 2 to 6", "+30 minutes", "from 2:30 to 6:30"), ("10-12", "+1 hour", "11-13"),
    ("18:00-20:00", "+30 minutes", "18:30-20:30"), ("11-12pm", "+1 hour", "12-1pm"), ("8 till late", "+1 hour", "9 till late"),
    ("12 of the night", "+1 hour", "1 in the morning"), ("weds before 9am", "-30 minutes", "weds before 8:30am"),
    ("May 5", "+1 hour", None), ("5 boxes", "+1 hour", None), ("2026", "+2 days", None), ("9 or 10", "+1 hour", None),
    ("25:70", "+1 hour", None), ("half 77", "+1 hour", None), ("9 AM", "+26 hours", None), ("9 AM", "soon", None),
]  # fmt: skip


def test_a_value_moves_in_its_own_words(subtests: pytest.Subtests) -> None:
    for text, change, moved in MOVED:
        with subtests.test(f"{text} {change}"):
            assert shift_datetime(text, change[0], change[1:], NOW) == moved


DATE_FORMS = [
    "{0:%B} {0.day}, {0.year}",
    "{0:%Y-%m-%d}",
    "{0.month}/{0.day}/{0.year}",
    "{0.day} {0:%B}, {0.year}",
]


@given(st.dates(date(2026, 1, 1), date(2030, 12, 31)), st.integers(-400, 400), st.sampled_from(DATE_FORMS))
def test_a_date_keeps_its_form(day: date, days: int, form: str) -> None:
    moved = shift_datetime(form.format(day), "+" if days > 0 else "-", f"{abs(days)} days", NOW)
    assert moved == form.format(day + timedelta(days=days))


@given(
    st.dates(date(2026, 3, 2), date(2026, 12, 31)),
    st.integers(-20, 20),
    st.sampled_from(["{0:%A} {1} {0:%B}", "{0:%a} {0:%b} {1}"]),
)
def test_a_weekday_moves_with_its_day(day: date, days: int, form: str) -> None:
    assume(day.month != 5)  # "May" is short and long
    there = day + timedelta(days=days)
    moved = shift_datetime(
        form.format(day, ordinal(day.day)), "+" if days > 0 else "-", f"{abs(days)} days", NOW
    )
    assert moved == form.format(there, ordinal(there.day))


@given(st.text(max_size=40), st.sampled_from(["+1 day", "-2 hours", "+1 month", "+45 minutes"]))
def test_any_text_moves_or_does_not(text: str, change: str) -> None:
    shift_datetime(text, change[0], change[1:], NOW)


@given(st.integers(0, 23), st.integers(0, 59), st.integers(-600, 600).filter(bool))
def test_a_time_comes_back(hour: int, minute: int, minutes: int) -> None:
    text, there, back = f"{hour}:{minute:02d}", *(("+", "-") if minutes > 0 else ("-", "+"))
    moved = shift_datetime(text, there, f"{abs(minutes)} minutes", NOW)
    assert moved is not None
    assert shift_datetime(moved, back, f"{abs(minutes)} minutes", NOW) == text


def test_what_has_no_meaning_is_not_parsed() -> None:
    assert parsed("the crack of doom", "date", NOW) is None


@pytest.mark.parametrize("text", ["3-5th", "the 3rd and the 5th", "3-5 May", "May 3-5", "tomorrow or today"])
def test_several_days_are_not_parsed_as_one(text: str) -> None:
    assert parsed(text, "date", NOW) is None


@pytest.mark.parametrize("text", ["2026-06-10", "6/10/2026", "June 10th, 2026", "10 June"])
def test_one_day_is_parsed(text: str) -> None:
    assert parsed(text, "date", NOW) is not None


# ---- durations ------------------------------------------------------------------------------------

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DURATIONS = [
    ("an hour and a half", 1.5 * HOUR), ("half an hour", HOUR / 2), ("30 minutes", HOUR / 2), ("two days", 2 * DAY),
    ("a fortnight", 14 * DAY), ("one night", DAY), ("week", 7 * DAY), ("2.5 hrs", 2.5 * HOUR), ("soon", None),
    ("an hour and a quarter", 1.25 * HOUR), ("hour n half", 1.5 * HOUR), ("minus one", None),
    ("99999999999 days", 999_999_999 * DAY), (f"{'9' * 400} years", 999_999_999 * DAY),
]  # fmt: skip


@pytest.mark.parametrize(("text", "duration"), DURATIONS)
def test_a_duration_in_words(text: str, duration: timedelta | None) -> None:
    assert duration_of(text) == duration


@pytest.mark.parametrize(
    ("held", "told", "value"),
    [
        ("June 20", "the 27th", "June 27th"),
        ("Saturday 20 February", "27th", "Saturday 27th February"),
        ("Saturday 20 February", "21st", "21st February"),
        ("Saturday, June 20 2027", "Sunday the 21st", "Sunday June 21st 2027"),
        ("the 12th of May", "10th", "the 10th of May"),
        ("28 June", "the 3rd", "the 3rd"),
        ("June 3 to June 5", "7th", "7th"),
        ("20th", "27th", "27th"),
        ("June 20", "July 3rd", "July 3rd"),
        ("June 20", "noon", "noon"),
        ("Monday", "3rd", "3rd"),
        ("", "", ""),
    ],
)
def test_another_day_is_of_the_month_that_the_date_was_of(held: str, told: str, value: str) -> None:
    assert with_day(held, told) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0730", "time"), ("1500 hrs", "time"), ("1500", "count"), ("two pounds fifty", "amount"),
        ("the 15", "date"), ("the 45", "count"),
    ],
)  # fmt: skip
def test_figures_and_words_that_are_typed(text: str, kind: str | None) -> None:
    assert typed.kind_of(text) == kind


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("wed 9:30", [("date", "wed"), ("time", "9:30")]),
        ("Thursday 0800", [("date", "Thursday"), ("time", "0800")]),
        ("5 May 2026", [("date", "5 May 2026")]),
        ("Thursday 6 or 7pm", [("date", "Thursday 6 or 7pm")]),
        ("May 8", [("date", "May 8")]),
    ],
)
def test_a_day_with_a_time_by_the_clock_is_both(value: str, told: list[tuple[str, str]]) -> None:
    assert day_and_hour(value, "date") == told
