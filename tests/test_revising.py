"""Values that are given up in talk without a word for it, and what is no such thing."""

from __future__ import annotations

import pytest

from taskloom.agent.recall.asking import answer
from tests.test_video import talk

HALL, TRIP, CHAIRS = "The hall costs 500 euros.", "The trip is on June 3.", "We need forty chairs."
HALL_COST, TRIP_ON, HOW_MANY = "What does the hall cost?", "When is the trip?", "How many chairs do we need?"
VENUE, GUESTS = "What is the venue?", "How many people do we invite?"
COURSES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # question, how the answer ends, the lines
    (HALL_COST, "450 euros.", (HALL, "Oh, my mistake, 450 euros.")),
    (HALL_COST, "it is 450 euros.", (HALL, "With 600 euros we would be broke.", "But now it is 450 euros.")),
    (HALL_COST, "No, 450.", (HALL, "September 7 is a holiday.", "No, 450.")),
    (TRIP_ON, "June 9 these days.", (TRIP, "Half of us are away.", "It is June 9 these days.")),
    (TRIP_ON, "June 9.", (TRIP, "That has been put off. June 9.")),
    (HOW_MANY, "to sixty.", (CHAIRS, "We raised that to sixty.")),
    (HOW_MANY, "only sixty.", (CHAIRS, "They're only sixty.")),
    ("What did they settle on for the hall?", "430.", ("Offer for the hall: 500 euros.", "Sorry, 430.")),
    ("Which date was the audit moved to?", "May 4.", ("The audit is on May 4.",)),
    ("When is the trip?", "back to June 9.", (TRIP, "We are pushing the trip back to June 9.")),
    (TRIP_ON, "slips to June 9.", (TRIP, "The trip slips to June 9.")),
    ("What do they charge for the hall?", HALL, (HALL,)),
    (TRIP_ON, TRIP, (TRIP, "Let's move the trip films to June 9.")),
    (TRIP_ON, TRIP, (TRIP, "The trip films are on June 9.")),
    # of something else, of the past, repeated, an answer to another question
    (HALL_COST, HALL, (HALL, "The catering stays at 300 euros.", "No, 250.")),
    (HALL_COST, HALL, (HALL, "Eighty lamps.", "No, ninety.")),
    (HALL_COST, HALL, (HALL, "It was 400 euros.")),
    (HALL_COST, HALL, (HALL, "That bus 400 euros.")),
    (HALL_COST, HALL, (HALL, "500 euros, good.")),
    (HALL_COST, HALL, (HALL, "So.", "So.", "So.", "So.", "400 euros.")),
    (HALL_COST, HALL, (HALL, "I could lend you 400 euros.")),
    (TRIP_ON, TRIP, (TRIP, "June 9 is a holiday.")),
    (TRIP_ON, TRIP, (TRIP, "So the summer party is on June 22.", "Sorry, June 23.")),
    (HOW_MANY, CHAIRS, (CHAIRS, "How old is your father?", "Seventy.")),
    (HOW_MANY, CHAIRS, (CHAIRS, "What time is it?", "It's two.")),
    (HOW_MANY, "Fifty.", (CHAIRS, "How many?", "Fifty.")),
    (TRIP_ON, TRIP, (TRIP, "Scrap what I said, the audit goes ahead on June 9.")),
    (VENUE, "hall.", ("The venue is the town hall.", "Actually, make it forty people.")),
    (VENUE, "library.", ("The venue is the town hall.", "Actually, make it the library.")),
    # of people, and not of what the verb sounds like
    (GUESTS, "thirty people.", ("We invite thirty people.", "Six hundred invitations.")),
    # in short forms, and with a verb that the answer has not
    ("When's the trip happening, after all that?", "hand, June 9.", (TRIP, "Sorry, my hand, June 9.")),
    (TRIP_ON, "as of this morning.", (TRIP, "It's June 9 as of this morning.")),
    ("When are we doing the trip?", "Forget that, June 9.", (TRIP, "Forget that, June 9.")),
    ("What's the latest price for the hall these days?", HALL, (HALL,)),
    ("Who's going to call the hall?", "says so.", ("I can book the hall.",)),
    (HALL_COST, "400 euros.", (HALL, "900 euros would break the bank.", "I stand corrected, 400 euros.")),
    (HALL_COST, "it is 400 euros.", (HALL, "Not according to my file, there it is 400 euros.")),
    ("What figure applies to the hall now?", HALL, (HALL,)),
    # asked when something is talked of, not when it happens
    ("When do we first learn about the trip?", TRIP, ("Hello.", TRIP, "The trip is on June 9 now.")),
    ("When do we get rid of the bus?", "in May.", ("The bus is loud.", "We get rid of the bus in May.")),
    ("How far in do they get to the trip?", TRIP, ("Hello.", TRIP, "The trip is on June 9 now.")),
    ("Whereabouts does the trip crop up first?", TRIP, ("Hello.", TRIP, "The trip is on June 9 now.")),
    ("When's the trip first talked about?", TRIP, ("Hello.", TRIP)),
    ("What was the line after Ana said they'd book the hall?", "Good.", ("I can book the hall.", "Good.")),
    ("What is the earliest reference to the trip?", TRIP, ("Hello.", TRIP, "The trip is on June 9 now.")),
    ("What remark was made after Ana agreed to book it?", "Good.", ("I can book it.", "Good.")),
    # by the last thing that a question names, whatever else it says
    ("Who raised their hand to book the hall?", "book the hall.", ("I can book the hall.", "Good.")),
    ("On how many occasions does Ana mention the trip?", "1 time: 00:10.", (TRIP,)),
    ("What is the number of speakers?", "1: Ana.", (TRIP,)),
    ("How many folk are talking?", "1: Ana.", (TRIP,)),
    ("What does the paint for the hall cost?", "says so.", (HALL,)),
    ("How much money is left for the hall?", "says so.", (HALL,)),
    ("How many speakers does the recording have?", "1: Ana.", (TRIP,)),
)  # fmt: skip


@pytest.mark.parametrize(("question", "ends", "lines"), COURSES)
def test_a_value_is_of_what_was_spoken_of_last(question: str, ends: str, lines: tuple[str, ...]) -> None:
    told = talk("".join(f"[00:{10 + 4 * at}] Ana: {line}\n" for at, line in enumerate(lines)))
    assert answer(question, told).text.rstrip("”").endswith(ends)
