"""What points back to an earlier session, what asks about one, and what only sounds like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.agent.language.pointers import Reference, asks_of_the_past, parse_reference

BACK = [
    ("Book a hotel, same as last time but for three people", "Book a hotel", "for three people"),
    ("Book a hotel, the same as last time", "Book a hotel", ""),
    ("Same again", "", ""),
    ("same again, please!", "", ""),
    ("Same as last time", "", ""),
    ("Same again, but in June", "", "in June"),
    ("The usual", "", ""),
    ("My usual, please", "", ""),
    ("Do it again", "", ""),
    ("Again, please", "", ""),
    ("once more", "", ""),
    ("yes, same as last time", "", ""),
    ("the same thing but on Friday", "", "on Friday"),
    ("Same thing as last month except the hotel", "", "the hotel"),
    ("The hotel in Bergen again", "The hotel in Bergen", ""),
    ("book the hotel in Bergen again", "book the hotel in Bergen", ""),
    ("Book me the usual hotel", "Book me the hotel", ""),
    ("Order pizza like last time", "Order pizza", ""),
    ("Order the same pizza as last week", "Order the pizza", ""),
    ("Rent a car, exactly as before", "Rent a car", ""),
    ("Rent a car with the same details", "Rent a car", ""),
    ("Get me a taxi again", "Get me a taxi", ""),
    ("Could you book the same flight again?", "Could you book the flight", ""),
    ("Plan a dinner like we did last time, only for six", "Plan a dinner", "for six"),
    ("Book a table as usual", "Book a table", ""),
    ("book a flight to Rome like last year, but leaving from Oslo", "book a flight to Rome",
     "leaving from Oslo"),
    ("Book the one with the pool", "", ""),
    ("Plan a party with the same people", "Plan a party with the people", ""),
    ("Let's do lunch again next week", "Let's do lunch next week", ""),
]  # fmt: skip

NOT_BACK = """
Book a hotel
Book a hotel in Bergen from June 3 to June 5 for two people.
Book a hotel like the Hilton
Book a table before the concert
Call Ann before noon
Finish the report before Friday
Remind me to call before we had lunch
I want a room like that
Make it three people
Change the date to the same day as before
Put it back as it was before
Set the date to the same as last time
Move dinner before lunch
Cancel the hotel again
Add milk again
Add the usual to the cart
Keep the same date
Keep everything as it is
Remove the last one
Undo that
The guests are the same
No, the same
yes
no
yes, except the budget
only the location
What did I book last time?
What did I book in May?
Which hotel did I book last time?
When is the dinner again?
What again?
Is it the same again?
Was it like last time?
Did I order pizza before?
Have we booked this hotel earlier?
I already told you before
We had a good time last night
I had the flu last week
It's all the same
Same to you
I like it
thanks
hello
""".strip().splitlines()


def test_what_points_back_is_taken_out(subtests: pytest.Subtests) -> None:
    for utterance, request_, changes in BACK:
        with subtests.test(utterance):
            assert parse_reference(utterance) == Reference(request_, changes)
            assert parse_reference(f"  {utterance.replace(' ', chr(10), 1)} ") == Reference(request_, changes)


def test_changes_questions_and_small_talk_do_not_point_back(subtests: pytest.Subtests) -> None:
    for utterance in NOT_BACK:
        with subtests.test(utterance):
            assert parse_reference(utterance) is None


TAKEN_FOR_A_REFERENCE = """
Thanks again
Hello again
Thank you once more
I like the last one
Thanks, that's as before
Make it the same day
""".strip().splitlines()


@pytest.mark.parametrize("utterance", TAKEN_FOR_A_REFERENCE)
def test_small_talk_and_changes_with_such_words_in_them_do_not_point_back(utterance: str) -> None:
    assert parse_reference(utterance) is None


@given(st.text(max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    found = parse_reference(text)
    assert found is None or isinstance(found.words("book a hotel"), str)
    asks_of_the_past(text, answered=False)


def test_what_is_left_points_back_no_more(subtests: pytest.Subtests) -> None:
    for utterance, _, _ in BACK:
        with subtests.test(utterance):
            reference = parse_reference(utterance)
            assert reference is not None
            assert parse_reference(reference.words("book a hotel")) is None


@pytest.mark.parametrize(
    ("reference", "title", "words"),
    [
        (Reference("Book a hotel", "for three people"), "x", "Book a hotel for three people"),
        (Reference("Book a hotel.", "with a pool"), "x", "Book a hotel with a pool"),
        (Reference("Book a hotel", "the budget is 90"), "x", "Book a hotel. the budget is 90"),
        (Reference("Book a hotel"), "x", "Book a hotel"),
        (Reference("", "on Friday"), "plan a dinner", "plan a dinner on Friday"),
        (Reference(""), "plan a dinner", "plan a dinner"),
        (Reference("", "on Friday"), "", ""),
    ],
)
def test_a_reference_as_a_plain_request(reference: Reference, title: str, words: str) -> None:
    assert reference.words(title) == words


ALWAYS = """
What did I book last time?
Which hotel did I book last week?
What did I book in May?
What did we order in June 2025?
Where did I stay in my last trip?
Was my previous hotel in Bergen?
What was my last order?
What do I usually order?
What did I say in another chat?
Did I rent a car yesterday?
What have I done in earlier sessions?
""".strip().splitlines()

UNANSWERED = """
Have I ever booked a hotel in Bergen?
Did I book a hotel before?
Have I already booked it?
Did I previously rent a car?
What was the last hotel?
""".strip().splitlines()

NEVER = """
When is the dinner?
What is the budget?
Who comes to the party?
Is it on Friday?
Book a hotel in May
Book a hotel, same as last time
thanks
""".strip().splitlines()


@pytest.mark.parametrize("utterance", ALWAYS)
def test_questions_of_a_time_before_are_of_the_past(utterance: str) -> None:
    assert asks_of_the_past(utterance, answered=True)
    assert asks_of_the_past(utterance, answered=False)


@pytest.mark.parametrize("utterance", UNANSWERED)
def test_some_are_of_the_past_only_where_this_thread_has_no_answer(utterance: str) -> None:
    assert not asks_of_the_past(utterance, answered=True)
    assert asks_of_the_past(utterance, answered=False)


@pytest.mark.parametrize("utterance", NEVER)
def test_questions_of_the_present_are_not(utterance: str) -> None:
    assert not asks_of_the_past(utterance, answered=False)
