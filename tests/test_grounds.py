"""What a reply rests on: inventions of many kinds are found, fair replies pass.

Each plan is a brief; beside it stand replies with something that nobody said, and fair ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.agent.replying.checking import faults_of
from taskloom.agent.replying.grounds import ungrounded
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.state import Change, Turn
from taskloom.memory.claims import answer
from taskloom.memory.operations import Add, Check, Complete, Operation, Question, Remove, Update, apply
from taskloom.memory.tasks import TaskGraph

NOW = datetime(2026, 3, 2, 9)  # noqa: DTZ001  a Monday


@dataclass(frozen=True)
class Plan:
    """A brief; said: what the user said in each turn, with what it did."""

    turns: Sequence[tuple[str, Sequence[Operation]]]
    ask: Question | None = None
    runs: tuple[ToolRun, ...] = ()
    exchanges: tuple[tuple[str, str], ...] = ()

    def brief(self) -> Brief:
        graph, changes = TaskGraph(), list[Change]()
        for number, (said, operations) in enumerate(self.turns, 1):
            changes = []
            for operation in operations:
                outcome = apply(graph, operation, turn=number, said=said)
                assert outcome.refused is None or isinstance(operation, Check), outcome.refused
                graph = outcome.graph
                changes.append(Change(operation=operation, changed=outcome.changed))
        said = self.turns[-1][0]
        answers = (answer(graph, self.ask),) if self.ask else ()
        turn = Turn(number=len(self.turns), utterance=said, changes=tuple(changes), answers=answers,
                    facts=tuple(graph), tool_runs=self.runs)  # fmt: skip
        return Brief(said, graph, turn, answers, exchanges=self.exchanges, now=NOW)


def whole(slot: str, **values: str) -> list[Operation]:
    """A task t1 with a part for each value."""
    parts = [
        Add(slot=f"{slot}.{name}", title=name.replace("_", " "), value=value, parent="t1")
        for name, value in values.items()
    ]
    return [Add(slot=slot, title=slot), *parts]


def steps(slot: str, *titles: str) -> list[Operation]:
    """A task t1 with a step for each title."""
    return [
        Add(slot=slot, title=slot),
        *(Add(slot=f"{slot}.step{n}", title=title, parent="t1") for n, title in enumerate(titles, 1)),
    ]


def did(tool: str, title: str, text: str, **params: Any) -> ToolRun:
    return ToolRun(
        call=Call(tool=tool, title=title, args=params, place="", gives="result"), status="done", text=text
    )


PARTY = Plan(
    (
        (
            "Plan a party for Mia on June 10th at 7 PM in the Grand Hall, Ann, Bo and Cy, budget $500.",
            whole("party", host="Mia", date="June 10th", time="7 PM", venue="Grand Hall", guest1="Ann",
                  guest2="Bo", guest3="Cy", budget="$500"),
        ),
        ("We have to book the hall and send the invitations.",
         [Add(slot="party.step1", title="book the hall", parent="t1"),
          Add(slot="party.step2", title="send the invitations", parent="t1")]),
    )
)  # fmt: skip
PARTY_DONE = Plan(
    (*PARTY.turns, ("I booked the hall and paid the deposit yesterday.", [Complete(task="t10")]))
)
TRIP = Plan(
    (
        ("Plan a trip from Oslo to Lisbon on 2026-06-10 for three nights, two people.",
         whole("trip", start="Oslo", destination="Lisbon", date="2026-06-10", duration="three nights",
               party_size="two people")),
        ("Make that Porto instead of Lisbon.", [Update(task="t3", value="Porto")]),
    )
)  # fmt: skip
FLIGHTS = Plan(
    (*TRIP.turns, ("Find me flights and book the cheaper one.", [])),
    runs=(
        did("search_flights", "search flights", '[{"flight": "TL501", "leaves": "08:10", "price": 170}, '
            '{"flight": "TL507", "leaves": "17:45", "price": 140}]', origin="Oslo"),
        did("book_flight", "book flight TL507", "confirmation QX7P2"),
    ),
)  # fmt: skip
MEETING = Plan(
    (
        ("Set up the design review with Priya and Tom on Thursday from 2 to 2:45 in Room 12b.",
         whole("design review", participant1="Priya", participant2="Tom", day="Thursday", time="2 to 2:45",
               room="Room 12b")),
        ("What is the time of the review?", []),
    ),
    ask=Question(kind="value", tasks=("t5",), about="time"),
)  # fmt: skip
FORM = Plan(
    (
        ("My name is John Doe, mail john@example.com, phone +1 415 555 0132.",
         whole("form", name="John Doe", email="john@example.com", phone="+1 415 555 0132")),
        ("Submit it.", [Complete(task="t1")]),
    )
)  # fmt: skip
SOUP = Plan(
    (
        ("For the soup: wash celery, chop 2 carrots, simmer for 90 minutes.",
         steps("soup", "wash celery", "chop 2 carrots", "simmer for 90 minutes")),
        ("The celery is washed.", [Complete(task="t2")]),
        ("What is in the soup?", []),
    ),
    ask=Question(kind="list", tasks=("t1",), about="soup"),
)  # fmt: skip
RELEASE = Plan(
    (
        ("Release version 2.4: run the tests, tag the build, deploy to staging by Friday, 10% rollout.",
         steps("release", "run the tests", "tag the build", "deploy to staging by Friday", "10% rollout")),
        ("Drop the rollout.", [Remove(task="t5")]),
    )
)  # fmt: skip
CLINIC = Plan(
    (
        ("Remind me to call Dr. Okafor at noon about Luna's vaccination, it costs five hundred dollars.",
         whole("vaccination", who="Dr. Okafor", patient="Luna", time="noon", cost="five hundred dollars")),
        ("Thanks!", []),
    ),
    exchanges=(("Hi, I am Nadia.", "Hello! What would you like to plan?"),),
)  # fmt: skip

INVENTED: list[tuple[Plan, str]] = [
    # names
    (PARTY, "Zed is coming."),
    (PARTY, "The guests are Ann, Bo, Cy and Zed."),
    (PARTY, "Priya and Ann are on the list."),
    (PARTY, "I've added the steps; the caterer will be Bella Cucina."),
    (PARTY, "The party is in the Grand Hall on Elm Street."),
    (PARTY, "Noted. Mia's sister Petra helps."),
    (TRIP, "Your trip goes from Oslo to Madrid."),
    (TRIP, "You fly with Lufthansa to Porto."),
    (TRIP, "Bergen is the start of the trip."),
    (TRIP, "The destination is Porto, and the hotel is the Ritz."),
    (MEETING, "The review with Priya, Tom and Ines is from 2 to 2:45."),
    (MEETING, "It is from 2 to 2:45 on Zoom."),
    (FORM, "The form of Jane Doe is done."),
    (SOUP, "Gordon chops the carrots."),
    (CLINIC, "You're welcome, Sandra!"),
    (CLINIC, "You're welcome! Rex will be fine."),
    (FLIGHTS, "I booked flight KL888 for you."),
    # numbers, amounts, percents, codes
    (PARTY, "The budget is $700."),
    (PARTY, "The deposit is five hundred fifty dollars."),
    (PARTY, "There are seven guests."),
    (PARTY, "You have 12 guests so far."),
    (PARTY, "The budget is €500."),
    (PARTY, "That is $125 for each guest."),
    (TRIP, "The trip is for four nights."),
    (TRIP, "The trip is for three days."),
    (TRIP, "That is 5 people in all."),
    (FLIGHTS, "TL501 leaves at 08:10 for 170, TL507 for 240."),
    (FLIGHTS, "Both flights together cost 310."),
    (FLIGHTS, "It is booked, the confirmation is QX9P2."),
    (MEETING, "It is from 2 to 2:45 in Room 14."),
    (FORM, "The phone is +1 415 555 9999."),
    (FORM, "Your email is jon@example.com."),
    (SOUP, "Chop 4 carrots."),
    (SOUP, "It simmers for two hours."),
    (RELEASE, "Version 2.5 goes out."),
    (RELEASE, "The rollout of 20% is off."),
    (CLINIC, "You're welcome! It costs $550."),
    # dates and times
    (PARTY, "The party is on June 12th."),
    (PARTY, "The party is on July 10th."),
    (PARTY, "The party is at 8 PM."),
    (PARTY, "The party is at 7 AM."),
    (PARTY, "The doors open at half past six."),
    (PARTY, "The party is on June 10th, 2027, at 7 PM; invitations go out by May."),
    (PARTY, "The party is tomorrow."),
    (TRIP, "You leave on 2026-06-11."),
    (TRIP, "You leave on Friday, June 10th."),
    (TRIP, "You leave on June 10 and return on June 15."),
    (MEETING, "It is on Tuesday from 2 to 2:45."),
    (MEETING, "It is at 14:30."),
    (RELEASE, "The deployment is due on Monday."),
    (RELEASE, "The deployment is due next week."),
    (CLINIC, "You're welcome! The call is at 13:00."),
    # claimed acts
    (PARTY, "I have booked the hall."),
    (PARTY, "I have booked the hall and paid $500."),
    (PARTY, "The hall is booked."),
    (PARTY, "The hall has been booked, and the invitations are on their way."),
    (PARTY, "I've noted the steps and sent the invitations."),
    (PARTY, "I'll call the hall right away."),
    (PARTY, "I am going to book the hall."),
    (PARTY, "I'm sending the invitations now."),
    (PARTY, "I've scheduled a reminder for June 10th."),
    (PARTY, "I'll remind you on June 10th."),
    (PARTY, "I emailed Ann, Bo and Cy."),
    (PARTY, "Ann has confirmed."),
    (PARTY, "I spoke to the hall and it is free."),
    (PARTY, "Booked the hall for you!"),
    (PARTY, "You booked the hall."),
    (PARTY, "The invitations will be sent today."),
    (PARTY, "I took care of the invitations."),
    (PARTY, "Your reservation at the Grand Hall went through."),
    (PARTY, "I've placed an order for the invitations."),
    (PARTY, "All guests were contacted."),
    (PARTY, "I reached out to Mia."),
    (PARTY, "Let me check with the hall and get back to you."),
    (PARTY_DONE, "I booked the hall for you."),
    (PARTY_DONE, "The hall is booked and the invitations are sent."),
    (TRIP, "Your tickets are on the way."),
    (TRIP, "I changed it to Porto and reserved a room."),
    (TRIP, "I've bought the tickets to Porto."),
    (TRIP, "A confirmation mail was sent to you."),
    (TRIP, "I've searched for flights to Porto."),
    (FLIGHTS, "I booked flight TL507 and reserved a hotel."),
    (FLIGHTS, "Flight TL507 is booked, and I've emailed you the confirmation."),
    (MEETING, "It is from 2 to 2:45; Priya and Tom have accepted."),
    (MEETING, "It is from 2 to 2:45, and everyone was notified."),
    (FORM, "The form is done, and I've sent it to john@example.com."),
    (SOUP, "I washed the celery and chopped 2 carrots."),
    (RELEASE, "I've run the tests and tagged the build."),
    (RELEASE, "The build was deployed to staging."),
    (CLINIC, "You're welcome! I've called Dr. Okafor."),
    (CLINIC, "You're welcome! Dr. Okafor has been informed."),
    (PARTY, "Ahmed joins the party."),
    (PARTY, "The hall confirmed the booking."),
    (PARTY, "The DJ, Marco, plays at nine."),
    (PARTY, "I've contacted the guests about June 10th."),
    (PARTY, "The hall costs $300 of your budget."),
    (PARTY, "The hall is reserved for you from 6 PM."),
    (PARTY, "Will is coming too."),
    (PARTY, "Invitations went out this morning."),
    (PARTY, "I've let Ann know."),
    (PARTY, "I made a reservation at the Grand Hall."),
    (PARTY, "There is parking for 40 cars."),
    (PARTY, "Mia turns 30."),
    (PARTY, "The party lasts four hours."),
    (PARTY, "I have arranged everything with the hall."),
    (PARTY, "You're all set, the deposit is paid."),
    (TRIP, "Your flight leaves at 9:15."),
    (TRIP, "The Hilton is waiting for you."),
    (TRIP, "Oslo to Porto takes 4 hours."),
    (TRIP, "I checked prices online: flights start at 120 euros."),
    (TRIP, "Check-in is at 3 PM."),
    (TRIP, "I'll book the tickets tonight."),
    (TRIP, "You return on June 13th."),
    (TRIP, "I've cancelled the Lisbon hotel and got a refund."),
    (TRIP, "Porto has 20 degrees in June."),
    (MEETING, "It is from 2 to 2:45; I sent invites to both."),
    (MEETING, "It is from 2 to 3."),
    (MEETING, "It's in Room 12a from 2 to 2:45."),
    (MEETING, "It is at 2, and Tom will present for 20 minutes."),
    (FORM, "John Dow's form is done."),
    (FORM, "The form was submitted to the office."),
    (FORM, "I submitted it."),
    (FORM, "Your reference number is 48213."),
    (SOUP, "Simmer it at 95 degrees."),
    (SOUP, "The carrots are chopped."),
    (SOUP, "It serves six people."),
    (RELEASE, "Jenkins runs the tests."),
    (RELEASE, "I've deployed it to staging."),
    (RELEASE, "Three of 40 tests failed."),
    (CLINIC, "You're welcome! I'll remind you at noon."),
    (CLINIC, "Luna is three years old."),
    (CLINIC, "I've set a reminder for noon."),
    (CLINIC, "Okafor's office called back."),
]

FAIR: list[tuple[Plan, str]] = [
    (PARTY, 'I\'ve added two steps to the party: "book the hall" and "send the invitations".'),
    (PARTY, "Booking the hall and sending the invitations are noted, nothing was booked or sent yet."),
    (PARTY, "The party for Mia is on June 10th at 19:00 in the Grand Hall."),
    (PARTY, "The party is on 10 June at 7:00 p.m., and the budget is five hundred dollars."),
    (PARTY, "Three guests are on the list: Ann, Bo and Cy."),
    (PARTY, "There are 3 guests. The first one is Ann."),
    (PARTY, "Got it! The hall still has to be booked."),
    (PARTY, "Noted. The invitations still need to be sent, and the hall is not booked yet."),
    (PARTY, "Mia's party has a budget of 500 USD."),
    (PARTY, "Once you have booked the hall, tell me and I will mark it as done."),
    (PARTY, "Sure, both are part of the party now. Shall I note a date for the invitations?"),
    (PARTY, "You asked in turn 2 to book the hall and send the invitations."),
    (PARTY, "Everything is on the list. Anything else for June 10?"),
    (PARTY, "I only note this; I can't book the hall for you."),
    (PARTY, "I have not booked the hall, that is only a step of your plan."),
    (PARTY, "Here is your party:\n1. Host: Mia\n2. Date: June 10th\n3. Time: 7 PM\n4. Venue: Grand Hall"),
    (PARTY, "- Host: Mia\n- Guests: Ann, Bo, Cy\n- **Budget**: $500.00\n- Book the hall (open)"),
    (PARTY, "June 10th: the party. Three guests: Ann, Bo and Cy."),
    (PARTY, "Okay, I have put both into the plan for the party at seven."),
    (PARTY_DONE, "Great, you booked the hall and paid the deposit, so that step is done."),
    (PARTY_DONE, "The hall is booked now. The invitations are still to be sent."),
    (PARTY_DONE, "Booking the hall is done; you paid the deposit yesterday."),
    (PARTY_DONE, 'I\'ve marked "book the hall" as done.'),
    (TRIP, "The destination is now Porto instead of Lisbon."),
    (TRIP, "Changed: you go to Porto, no longer to Lisbon."),
    (TRIP, "Your trip from Oslo to Porto is on June 10, 2026, for 3 nights."),
    (TRIP, "You leave on Wednesday, June 10th."),
    (TRIP, "It is a trip for two, on 10 June 2026."),
    (TRIP, "I've moved the trip to Porto. The date stays the 10th of June, with 2 people for three nights."),
    (TRIP, "Done, Porto it is. Lisbon was the destination in turn 1."),
    (TRIP, "No flights were booked."),
    (FLIGHTS, "I found two flights: TL501 at 08:10 for €170 and TL507 at 17:45 for €140. I booked TL507."),
    (FLIGHTS, "Flight TL507 is booked, the confirmation is QX7P2. It leaves at 5:45 PM."),
    (FLIGHTS, "The cheaper one, TL507, has been booked for you for 140."),
    (FLIGHTS, "It is already booked."),
    (FLIGHTS, "Everything is booked."),
    (FLIGHTS, "I searched flights from Oslo and reserved TL507, which leaves at a quarter to six."),
    (MEETING, "It is from 2 to 2:45 PM on Thursday."),
    (MEETING, "The design review is at 2:00 PM on Thursday, until 2:45, with Priya and Tom."),
    (MEETING, "From 2 to 2:45, in Room 12b."),
    (MEETING, "The time of the review with both of them is 14:00 to 14:45."),
    (MEETING, "Thursday, 2–2:45 p.m. in room 12B."),
    (FORM, "The form is marked as done: John Doe, john@example.com, +1 415 555 0132."),
    (FORM, "Your form is done, John."),
    (FORM, "It's noted as submitted: name John Doe, phone +1 (415) 555-0132."),
    (FORM, "I noted the form as done; I cannot submit it anywhere myself."),
    (SOUP, "The soup has three steps: wash celery (done), chop 2 carrots and simmer for 90 minutes."),
    (SOUP, "Celery is washed; two carrots are to be chopped, and then it simmers for an hour and a half."),
    (SOUP, "Carrots and celery. The celery is washed already."),
    (SOUP, "Two of the three steps are still open."),
    (SOUP, "One step is done and two are left."),
    (
        RELEASE,
        "The rollout is off. What is left: run the tests, tag the build, deploy to staging by Friday.",
    ),
    (RELEASE, "I've taken the 10% rollout out of release 2.4."),
    (RELEASE, "Removed the rollout. Three steps remain, the last by Friday."),
    (RELEASE, "Right, the 10 percent rollout is dropped; deploying to staging stays."),
    (CLINIC, "You're welcome!"),
    (CLINIC, "You're welcome, Nadia! Luna's vaccination stays as it is."),
    (CLINIC, "Happy to help! The call to Dr. Okafor is noted for 12 PM."),
    (CLINIC, "My pleasure. Okafor at 12:00, cost $500."),
    (CLINIC, "You're welcome! Remember to call Dr. Okafor at noon, I only keep it in your list."),
    (CLINIC, "Glad to help. Just tell me when you have called Dr. Okafor."),
    (CLINIC, "Gern geschehen! Der Anruf bei Dr. Okafor um 12 Uhr bleibt notiert."),
    (CLINIC, "De rien ! L'appel du Dr. Okafor reste noté pour 12:00."),
    (PARTY, "¡Anotado! La fiesta de Mia es el 10 de junio a las 19:00."),
    (PARTY, "Alright, consider it noted. Have you booked anything yet?"),
    (PARTY, "Should the invitations be sent before June 10th?"),
    (TRIP, "Perfect, Porto replaces Lisbon. Would you like to add a hotel?"),
    (PARTY, "OK, I've jotted both down. FYI: nothing has been paid."),
    (PARTY, "I've put those two steps on your party plan."),
    (PARTY, "Both steps are on the list now; neither has been done."),
    (PARTY, "Got it: book the hall, then send the invitations."),
    (PARTY, "Budget: $500. Venue: Grand Hall. Guests: Ann, Bo and Cy."),
    (PARTY, "The party is at 7 in the evening."),
    (PARTY, "Next up: booking the hall."),
    (PARTY, "Done! Two new steps were added to the party."),
    (PARTY, "Your party now includes booking the Grand Hall and sending invitations to Ann, Bo and Cy."),
    (PARTY, "Once the hall is booked, the invitations can be sent."),
    (PARTY, "Sounds good. Should I note a deadline for either of them?"),
    (PARTY, "Understood, I'll keep both steps in the plan."),
    (PARTY, "I will add a date if you tell me one."),
    (PARTY, "Mia's birthday party on Wednesday, June 10th has two open steps."),
    (PARTY_DONE, "Marked as done, since you booked the hall yesterday."),
    (PARTY_DONE, "One step is left: send the invitations."),
    (PARTY_DONE, "Congratulations on booking the hall!"),
    (TRIP, "Switched the destination from Lisbon to Porto."),
    (TRIP, "Porto it is, for two people and three nights from June 10th."),
    (TRIP, "Nothing is booked so far; the plan says Oslo to Porto."),
    (TRIP, "You first wanted Lisbon; since turn 2 it is Porto."),
    (TRIP, "Would you like me to look for anything else?"),
    (FLIGHTS, "Flights from Oslo: TL501 (08:10, 170) and TL507 (17:45, 140). I booked the second."),
    (MEETING, "Thursday at 2, till 2:45."),
    (FORM, "All done, John. The form is complete."),
    (FORM, "The form holds your name, email and phone number, and is marked done."),
    (SOUP, "Celery (washed), carrots and a 90-minute simmer."),
    (SOUP, "Three steps: washing celery, which is done, chopping two carrots, simmering 1.5 hours."),
    (RELEASE, "The 10% rollout was removed in turn 2."),
    (RELEASE, "Fine, no rollout then."),
    (RELEASE, "Release 2.4 still has three steps."),
    (CLINIC, "Anytime, Nadia!"),
    (CLINIC, "No problem. The vaccination for Luna is still on your list."),
    (CLINIC, "Don't mention it."),
    (CLINIC, "Of course! Let me know if anything changes."),
    (CLINIC, "Cheers!"),
    (CLINIC, "Absolutely, glad I could help."),
]


def test_an_invention_is_found(subtests: pytest.Subtests) -> None:
    for plan, reply in INVENTED:
        with subtests.test(reply):
            assert ungrounded(reply, plan.brief()), reply
            assert faults_of(reply, plan.brief())


def test_a_fair_reply_passes(subtests: pytest.Subtests) -> None:
    for plan, reply in FAIR:
        with subtests.test(reply):
            assert ungrounded(reply, plan.brief()) == []


def test_the_fault_says_what_is_wrong() -> None:
    brief = PARTY.brief()
    assert ungrounded("Zed is coming.", brief) == [
        'names "Zed", who or which is nowhere in the plan or the talk'
    ]
    told = ungrounded("I have booked the hall for $700.", brief)
    assert told[0] == 'says "$700", which is nowhere in the plan or the talk'
    assert 'says "booked", which nobody did: it was only noted' in told


NAMES = st.from_regex(r"[B-DF-HJ-NP-TV-Z][aou][qxz][aou][kv]", fullmatch=True)


@given(
    plan=st.sampled_from([PARTY, TRIP, SOUP, RELEASE]),
    name=NAMES,
    form=st.sampled_from(["{} is coming.", "I noted that with {}.", "{}, Ann and Bo are in.", "Ask {}."]),
)
def test_a_name_that_nobody_gave_is_found_wherever_it_stands(plan: Plan, name: str, form: str) -> None:
    assert any(f'"{name}"' in fault for fault in ungrounded(form.format(name), plan.brief()))


@given(plan=st.sampled_from([PARTY, TRIP, SOUP, RELEASE]), amount=st.integers(600, 10**7))
def test_an_amount_that_nobody_gave_is_found(plan: Plan, amount: int) -> None:
    for form in ("It costs ${}.", "That is {} euros.", "It takes {} minutes.", "There are {} of them."):
        assert ungrounded(form.format(amount), plan.brief())


@given(hour=st.integers(1, 11), minute=st.integers(0, 59), evening=st.booleans())
def test_a_time_is_the_same_in_every_form(hour: int, minute: int, evening: bool) -> None:
    half = "p" if evening else "a"
    plan = Plan((("Meet then.", whole("meeting", time=f"{hour}:{minute:02} {half.upper()}M")),))
    late = hour + 12 * evening
    for told in (f"{late:02}:{minute:02}", f"{hour}.{minute:02} {half}m", f"{hour}:{minute:02} {half}.m."):
        assert ungrounded(f"It is at {told} now.", plan.brief()) == []
    assert ungrounded(f"It is at {(late + 1) % 24:02}:{minute:02} now.", plan.brief())


@given(day=st.dates(date(2026, 3, 3), date(2027, 3, 1)))
def test_a_date_is_the_same_in_every_form(day: date) -> None:
    plan = Plan((("Meet then.", whole("meeting", date=f"{day:%B} {day.day}")),))
    for told in (f"{day:%Y-%m-%d}", f"{day.day} {day:%b %Y}", f"{day:%A}, the {day.day}th of {day:%B}"):
        assert ungrounded(f"It is on {told}.", plan.brief()) == []
    other = day + timedelta(days=1)
    assert ungrounded(f"It is on {other:%B} {other.day}.", plan.brief())
