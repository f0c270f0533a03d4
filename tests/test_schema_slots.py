"""What a message says of the slots of task schemas: where values stand, what is filled, what is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.plan.slots import ANY, fill
from taskloom.agent.reading.filling import Filling
from taskloom.agent.reading.listed import places, type_of
from taskloom.agent.reading.network import packaged
from taskloom.agent.reading.slots import Filled, Key, Slots
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import SlotSchema
from taskloom.agent.turn.state import Context
from taskloom.memory.operations import Add, Update, apply
from taskloom.memory.tasks import TaskGraph

NETWORK = packaged()

TICKETS = load_schemas(
    {
        "title": "movie tickets", "type": "object", "description": "Buy tickets for a movie",
        "properties": {
            "movie": {"type": "string", "description": "Title of the movie"},
            "date": {"type": "string", "description": "Day of the show"},
            "num_tickets": {"type": "integer", "description": "Number of tickets"},
            "row": {"type": "string", "description": "Seats", "enum": ["front", "balcony", "back row"]},
            "with_snacks": {"type": "boolean", "description": "Whether snacks are wanted"},
        },
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("slot", "text", "found"),
    [
        ("num_tickets", "two tickets for the 3rd, row 4", [("two tickets", "2"), ("4", "4")]),
        ("date", "two tickets for friday or June 3rd", [("friday", "friday"), ("June 3rd", "June 3rd")]),
        ("row", "in the fronts, or in the back", [("fronts", "front"), ("back", "back row")]),
        ("row", "not the balcny, please", [("balcny", "balcony")]),
        ("movie", "the girl on the train", []),
        ("with_snacks", "yes", []),
    ],
)
def test_places_of_values(slot: str, text: str, found: list[tuple[str, str]]) -> None:
    schema = next(one for one in TICKETS[0].slots if one.name == slot)
    assert [(text[one.start : one.end], one.value) for one in places(text, schema)] == found


@pytest.mark.parametrize(
    ("before", "said", "filled"),
    [
        ("", "3 tickets for avatar on Friday", {"num_tickets": "3", "date": "Friday", "movie": "avatar"}),
        ("how many tickets?", "4 please", {"num_tickets": "4"}),
        ("what date?", "any date", {"date": ANY}),
        ("is 3 tickets for moonlight right?", "thanks, bye", {}),
    ],
)  # fmt: skip
def test_what_a_message_says_of_slots(before: str, said: str, filled: dict[str, str]) -> None:
    found = Slots(NETWORK.pieces)(said, before, TICKETS)
    assert {one.key.slot: one.value for one in found.filled if one.probability > 0.5} == filled
    assert {one.key: found.odds[one.key] for one in found.filled} == {
        one.key: one.probability for one in found.filled
    }
    assert len(found.odds) == len(TICKETS[0].slots)


def test_any_is_allowed_where_values_are_listed() -> None:
    graph = TaskGraph()
    for operation in (Add(slot="tickets", title="movie tickets"),
                      Add(slot="tickets.row", title="row", value=ANY, parent="t1")):  # fmt: skip
        graph = apply(graph, operation, turn=1, said="").graph
    assert fill(graph, ["t1"], TICKETS).question is None
    graph = apply(graph, Update(task="t2", value="the roof"), turn=2, said="").graph
    assert fill(graph, ["t1"], TICKETS).question is not None


def test_slots_are_filled_in_the_task_of_their_kind(tmp_path: Path) -> None:
    schema = {
        "title": "movie tickets",
        "properties": {s.name: {"description": s.description} for s in TICKETS[0].slots[:3]},
    }
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as app:
        context = Context(schemas=[schema], memory=False)
        app.talk("hello, i would like to buy 3 tickets for moonlight on friday", thread="t", context=context)
        app.talk("make it 4 tickets", thread="t", context=context)
        held = {node.name: node.value for node in app.tasks("t").active if node.value}
        assert held == {"movie": "moonlight", "date": "friday", "num_tickets": "4"}
        assert [node.title for node in app.tasks("t").parts(None)] == ["movie tickets"]


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read_for_slots(said: str, before: str) -> None:
    found = Slots(NETWORK.pieces)(said, before, TICKETS)
    assert all(0 <= one <= 1 for one in found.odds.values())
    for one in found.filled:
        assert 0 <= one.probability <= 1
        assert 0 <= one.placed <= 1
        assert one.value.strip()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("phone_number", "phone"), ("room_type", "text"), ("time_zone", "text"), ("flight_number", "text"),
        ("departure_time", "time"), ("number_of_rooms", "number"), ("price_per_seat", "amount"),
        ("check_in_date", "date"), ("party_size", "number"), ("emails", "email"),
    ],
)  # fmt: skip
def test_the_type_of_a_slot_is_told_by_its_noun(name: str, kind: str) -> None:
    assert type_of(SlotSchema(name=name)) == kind


def test_large_numbers_are_values() -> None:
    seats = SlotSchema(name="number_of_seats")
    assert [one.value for one in places("12,500 seats, no, 20000", seats)] == ["12500", "20000"]


def test_a_long_message_is_read_to_its_end() -> None:
    long = "We talked for an hour about this and that, and the weather was fine. " * 20
    found = Slots(NETWORK.pieces)(f"{long}So please get 3 tickets for Avatar on Friday.", "", TICKETS)
    assert {"num_tickets", "date"} <= {one.key.slot for one in found.filled}


def test_an_open_slot_takes_the_value() -> None:
    graph = TaskGraph()
    for operation in (Add(slot="movie_tickets", title="movie tickets"),
                      Add(slot="movie_tickets.date", title="date", parent="t1")):  # fmt: skip
        graph = apply(graph, operation, turn=1, said="").graph
    filling = Filling(View(graph, turn=2, schemas=TICKETS))
    (step,) = filling.steps([Filled(Key("movie tickets", "date"), "friday", 0.9)], "on friday")
    assert (step.task, step.value) == ("t2", "friday")


def test_what_else_a_message_changes_is_not_lost_in_silence(tmp_path: Path) -> None:
    schema = {
        "title": "movie tickets",
        "properties": {s.name: {"description": s.description} for s in TICKETS[0].slots[:3]},
    }
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as app:
        app.talk("Add a dentist appointment.", thread="t")
        context = Context(schemas=[schema], memory=False)
        app.talk("hello, i would like to buy 3 tickets for moonlight on friday", thread="t", context=context)
        said = "make it 4 tickets. Remove the dentist appointment."
        done = app.talk(said, thread="t", context=context)
        stands = any("dentist" in node.title for node in app.tasks("t").active)
        assert ("did not take in" in done.reply) == stands
        assert "4" in {node.value for node in app.tasks("t").active}
