"""Four ways to say the same for `talks.py`: lines and questions by kind of topic. Data only.

`SEEN` and `OTHER` are what the rules of the answers were mended with, and later `FRESH`, which was opened
once before. `LATER` was written before those changes; only the figures of it were looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Forms: TypeAlias = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Wording:
    """Forms with {n} for the thing, {v} for its value, {w} for a speaker.

    opened, changed: a first and a later value. again: the old value said once more, before it is given up in
    the words of `short`. refused: another value turned down. does: somebody takes something on. asked: by
    kind of question.
    """

    opened: Forms
    changed: Forms
    again: Forms
    short: tuple[str, ...]
    refused: Forms
    does: tuple[str, ...]
    revised: Forms
    said: tuple[str, ...]
    when: tuple[str, ...]
    beside: tuple[str, ...]
    count: tuple[str, ...]
    speakers: tuple[str, ...]
    never: tuple[str, ...]


SEEN = Wording(
    opened={
        "date": ("The {n} is on {v}.", "We have the {n} on {v}.", "So far the {n} is planned for {v}."),
        "price": ("The {n} costs {v}.", "They want {v} for the {n}.", "For the {n} I have an offer of {v}."),
        "count": ("We need {v} {n}.", "I would order {v} {n}.", "There are {v} {n} on the list."),
    },
    changed={
        "date": (
            "Let's move the {n} to {v}.",
            "The {n} has to be on {v} now.",
            "About the {n}: {v} is better.",
            "I propose {v} for the {n}.",
        ),
        "price": (
            "The {n} is {v} now, they wrote to me.",
            "They came down, the {n} costs {v}.",
            "I got the {n} for {v}.",
        ),
        "count": ("Make it {v} {n}.", "I think we need {v} {n} after all.", "Let's say {v} {n}."),
    },
    again={"date": ("So the {n} is on {v}.",), "price": ("So {v} for the {n}.",), "count": ("So {v} {n}.",)},
    short=(
        "No, make it {v}.",
        "Actually, {v}.",
        "Sorry, {v} it is, I looked it up.",
        "No, let's say {v}.",
        "Wait, {v} is right.",
    ),
    refused={
        "date": ("{v} is too late for us.",),
        "price": ("{v} is too much for us.",),
        "count": ("{v} is too much for us.",),
    },
    does=("I can {n}.", "I'll {n} this week.", "Let me {n}, I have time.", "I will {n}."),
    revised={
        "date": (
            "When is the {n}?",
            "On which day is the {n} in the end?",
            "What date did they settle on for the {n}?",
        ),
        "price": ("What does the {n} cost?", "How much is the {n}?", "How much do we pay for the {n}?"),
        "count": ("How many {n} do we need?", "How many {n} are planned?"),
    },
    said=("Who offered to {n}?", "Who is going to {n}?", "Who said they would {n}?"),
    when=("When is the {n} first mentioned?", "At what point do they talk about the {n}?"),
    beside=("What was said {side} {w} offered to {n}?",),
    count=("How many times does {w} mention the {n}?",),
    speakers=("How many people speak?",),
    never=(
        "When does {w} mention the {n}?",
        "What does the {n} cost?",
        "Who is going to bring the {n}?",
        "When is the {n}?",
        "How many times does {w} mention the {n}?",
        "What did {w} say about the {n}?",
    ),
)

OTHER = Wording(
    opened={
        "date": (
            "I have put down {v} for the {n}.",
            "{v} is the day of the {n}.",
            "The {n} takes place on {v}.",
            "We said {v} for the {n}, didn't we.",
        ),
        "price": (
            "The {n} comes to {v}.",
            "I was quoted {v} for the {n}.",
            "{v} is what the {n} would set us back.",
            "We have put aside {v} for the {n}.",
        ),
        "count": ("{v} {n} should be enough.", "My list says {v} {n}.", "We have to get hold of {v} {n}."),
    },
    changed={
        "date": (
            "We are pushing the {n} back to {v}.",
            "The {n} will now happen on {v}.",
            "They have changed the {n} to {v}.",
            "How about this: the {n} on {v}, and that is final.",
        ),
        "price": (
            "The {n} went up to {v}.",
            "New figure for the {n}: {v}.",
            "It turns out that the {n} is only {v}.",
        ),
        "count": ("We had better get {v} {n}.", "It is {v} {n} by now.", "Put down {v} {n} instead."),
    },
    again={
        "date": ("I still have {v} here for the {n}.",),
        "price": ("So the {n} stays at {v}.",),
        "count": ("Still {v} {n}, right.",),
    },
    short=(
        "Not any more, it is {v}.",
        "Correction: {v}.",
        "Hold on, it should be {v}.",
        "I meant {v}, of course.",
        "That was yesterday, now it is {v}.",
    ),
    refused={
        "date": ("We cannot do {v}.",),
        "price": ("Nobody pays {v}.",),
        "count": ("Who would carry {v}?",),
    },
    does=("Leave it to me to {n}.", "I am happy to {n}.", "I could {n} tomorrow.", "Then I {n} tonight."),
    revised={
        "date": (
            "On what date will the {n} be?",
            "Which day was finally picked for the {n}?",
            "When does the {n} take place?",
        ),
        "price": (
            "What is the price of the {n}?",
            "How expensive is the {n}?",
            "What did they end up with for the {n}?",
        ),
        "count": ("What number of {n} was agreed on?", "How many {n} will be ordered?"),
    },
    said=("Who takes it on to {n}?", "Which person will {n}?", "Whose job is it to {n}?"),
    when=("When did the {n} come up?", "Where in the recording do I find the {n}?"),
    beside=("What came {side} {w} promised to {n}?",),
    count=("How often did {w} bring up the {n}?",),
    speakers=("How many different voices are there?",),
    never=(
        "What was decided about the {n}?",
        "Did {w} say anything on the {n}?",
        "How expensive is the {n}?",
        "Which day was finally picked for the {n}?",
        "Whose job is it to bring the {n}?",
        "How often did {w} bring up the {n}?",
    ),
)
FRESH = Wording(
    opened={
        "date": (
            "For the {n} we have {v} in the calendar.",
            "The {n} happens {v}.",
            "I told everybody that the {n} is {v}.",
        ),
        "price": (
            "The {n} will be {v}.",
            "We can get the {n} for {v}.",
            "Their price for the {n} was {v}, as far as I remember.",
        ),
        "count": ("I counted {v} {n}.", "We want {v} {n}.", "Let's plan with {v} {n}."),
    },
    changed={
        "date": (
            "News about the {n}: {v}.",
            "The {n} got postponed, {v} is the new day.",
            "Could we do the {n} on {v}? Yes, we can, so that is it.",
        ),
        "price": (
            "The {n} is cheaper than I thought, just {v}.",
            "I have to correct myself, {v} for the {n}.",
            "The {n} ended at {v}.",
        ),
        "count": (
            "Two people called, so it is {v} {n}.",
            "We will end up with {v} {n}.",
            "{v} {n}, final answer.",
        ),
    },
    again={
        "date": ("The {n} was {v}, I believe.",),
        "price": ("You said {v} for the {n}.",),
        "count": ("You wrote {v} {n}.",),
    },
    short=(
        "No no, {v}.",
        "It was, but now it is {v}.",
        "Make that {v}.",
        "Oh, my mistake, {v}.",
        "We changed that to {v}.",
    ),
    refused={
        "date": ("{v} is a holiday.",),
        "price": ("With {v} we would be broke.",),
        "count": ("{v} do not fit.",),
    },
    does=("I take care of it, I {n}.", "Okay, I will {n} then.", "My turn to {n}.", "I'm going to {n}."),
    revised={
        "date": ("When will the {n} happen?", "What is the date of the {n}?", "The {n} is on which day?"),
        "price": (
            "How much does the {n} cost now?",
            "What do we have to pay for the {n}?",
            "What is the cost of the {n}?",
        ),
        "count": ("How many {n} should there be?", "How many {n} did they settle on?"),
    },
    said=("Who wanted to {n}?", "Who has to {n}?", "Who agreed to {n}?"),
    when=("At which minute is the {n} brought up?", "When do we hear about the {n}?"),
    beside=("What did the next person say {side} {w} said they would {n}?",),
    count=("How many times is {w} talking about the {n}?",),
    speakers=("How many speakers does the recording have?",),
    never=(
        "Who talked about the {n}?",
        "How many times is {w} talking about the {n}?",
        "What is the cost of the {n}?",
        "When will the {n} happen?",
        "Does {w} like the {n}?",
        "Where is the {n}?",
    ),
)
LATER = Wording(
    opened={
        "date": (
            "We agreed on {v} for the {n}, if I remember it right.",
            "The {n} is scheduled for {v}.",
            "Everybody should keep {v} free, that is the {n}.",
        ),
        "price": (
            "The {n} was offered to us at {v}.",
            "Somebody wrote {v} next to the {n}.",
            "If we take the {n}, that is {v}.",
        ),
        "count": (
            "There will be {v} {n}.",
            "At the moment we have {v} {n}.",
            "The plan speaks of {v} {n}.",
        ),
    },
    changed={
        "date": (
            "The {n} slips to {v}.",
            "They asked us to hold the {n} on {v}, and I said yes.",
            "Please note, {v} for the {n} from here on.",
        ),
        "price": (
            "I haggled, the {n} is down to {v}.",
            "With the discount the {n} comes out at {v}.",
            "The new quote for the {n} says {v}.",
        ),
        "count": (
            "We were told to bring {v} {n}.",
            "Let us go for {v} {n}, to be safe.",
            "That makes {v} {n} altogether.",
        ),
    },
    again={
        "date": ("My notes have the {n} on {v}.",),
        "price": ("The {n} is at {v}, isn't it.",),
        "count": ("I remember {v} {n}.",),
    },
    short=(
        "That has changed, {v}.",
        "Not quite, {v}.",
        "It used to be, these days it is {v}.",
        "Strike that, {v}.",
        "Better {v}, then.",
    ),
    refused={
        "date": ("On {v} half of us are away.",),
        "price": ("{v} is beyond what we have.",),
        "count": ("Nobody has room for {v}.",),
    },
    does=("Count on me to {n}.", "I'd like to {n} myself.", "Put my name down, I {n}.", "I shall {n}."),
    revised={
        "date": (
            "For when is the {n} planned?",
            "Which date was the {n} moved to?",
            "What day will they hold the {n}?",
        ),
        "price": (
            "What is the {n} going to cost?",
            "How much money goes into the {n}?",
            "What will we be charged for the {n}?",
        ),
        "count": ("How many {n} are we going to have?", "How many {n} does it take in the end?"),
    },
    said=("Who volunteered to {n}?", "Who was going to {n}?", "Who can we count on to {n}?"),
    when=(
        "When do they start talking about the {n}?",
        "At what minute is the {n} raised for the first time?",
    ),
    beside=("What did somebody say {side} {w} volunteered to {n}?",),
    count=("How often does {w} refer to the {n}?",),
    speakers=("How many people are heard?",),
    never=(
        "Who asked about the {n}?",
        "What will we be charged for the {n}?",
        "For when is the {n} planned?",
        "How often does {w} refer to the {n}?",
        "Why did {w} bring up the {n}?",
        "Who volunteered to fetch the {n}?",
    ),
)
WORDINGS = {"seen": SEEN, "other": OTHER, "fresh": FRESH, "later": LATER}
