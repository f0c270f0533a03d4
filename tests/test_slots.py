"""Task schemas in every form, the kind of a task, and what is proposed or asked."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from taskloom.agent.plan.kinds import allowed_value, asked_key, kind_of
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.plan.slots import ASK_AT_MOST, fill
from taskloom.agent.turn.schemas import SchemaError, SlotSchema, TaskSchema
from taskloom.memory.operations import Add, Complete, Operation, Reject, Remove, Undo, Update, apply
from taskloom.memory.tasks import TaskGraph


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Dinner(BaseModel):
    """A table at a restaurant."""

    place: str = Field(description="Name of the restaurant")
    guests: Literal["1", "2", "3", "4"]
    time: str
    size: Size | None = None
    outdoors: bool = False


DINNER = load_schemas(Dinner)[0]

RESTAURANTS: dict[str, Any] = {
    "service_name": "Restaurants_1",
    "description": "Restaurant search and reservations",
    "slots": [
        {"name": "city", "description": "City", "is_categorical": False, "possible_values": []},
        {"name": "time", "description": "Time", "is_categorical": False, "possible_values": ["11:30"]},
        {
            "name": "party_size",
            "description": "Guests",
            "is_categorical": True,
            "possible_values": ["1", "2", "3"],
        },
        {
            "name": "live",
            "description": "Music",
            "is_categorical": True,
            "possible_values": ["True", "False"],
        },
    ],
    "intents": [
        {
            "name": "ReserveRestaurant",
            "description": "Make a table reservation at a restaurant",
            "required_slots": ["city", "time"],
            "optional_slots": {"party_size": "2"},
        },
        {"name": "FindRestaurants", "description": "Find a restaurant", "required_slots": ["city"]},
    ],
}


def played(*operations: Operation) -> TaskGraph:
    graph = TaskGraph()
    for turn, operation in enumerate(operations, 1):
        outcome = apply(graph, operation, turn=turn)
        assert outcome.refused is None
        graph = outcome.graph
    return graph


def dinner(number: int = 1, /, **values: str) -> Iterator[Operation]:
    """A dinner with values; `number` is that of its task id."""
    slot = f"dinner{number}"
    yield Add(slot=slot, title="dinner")
    for name, value in values.items():
        yield Add(slot=f"{slot}.{name}", title=name, value=value, parent=f"t{number}")


# ---- reading schemas ------------------------------------------------------------------------------


def test_a_pydantic_model() -> None:
    assert (DINNER.name, DINNER.description) == ("Dinner", "A table at a restaurant.")
    assert {slot.name: (slot.required, slot.values) for slot in DINNER.slots} == {
        "place": (True, ()),
        "guests": (True, ("1", "2", "3", "4")),
        "time": (True, ()),
        "size": (False, ("small", "large")),
        "outdoors": (False, ("yes", "no")),
    }
    assert DINNER.slots[0].description == "Name of the restaurant"


def test_json_schema_gives_the_same_as_the_model() -> None:
    schema = Dinner.model_json_schema()
    assert load_schemas(schema) == load_schemas(json.dumps(schema)) == load_schemas([schema]) == (DINNER,)


def test_a_dumped_schema_is_read_back() -> None:
    assert load_schemas(DINNER.model_dump()) == load_schemas(DINNER) == (DINNER,)


def test_other_forms_of_allowed_values() -> None:
    schema = {
        "title": "Thing",
        "properties": {
            "one": {"const": 1},
            "open": {"anyOf": [{"enum": ["a"]}, {"type": "string"}]},
            "any": True,
            "flag": {"enum": [True, False, None]},
        },
    }
    values = {slot.name: slot.values for slot in load_schemas(schema)[0].slots}
    assert values == {"one": ("1",), "open": (), "any": (), "flag": ("yes", "no")}


def test_a_service_gives_one_schema_for_each_intent() -> None:
    reserve, find = load_schemas(RESTAURANTS)
    assert reserve.name == "Restaurants_1.ReserveRestaurant"
    assert [(slot.name, slot.required) for slot in reserve.slots] == [
        ("city", True),
        ("time", True),
        ("party_size", False),
    ]
    assert reserve.slots[1].values == ()  # not categorical: the values are examples
    assert reserve.slots[2].values == ("1", "2", "3")
    assert [slot.name for slot in find.slots] == ["city"]


def test_a_service_without_intents_is_one_schema() -> None:
    (schema,) = load_schemas({key: value for key, value in RESTAURANTS.items() if key != "intents"})
    assert schema.name == "Restaurants_1"
    assert schema.slots[3].values == ("yes", "no")


def test_the_compact_form_and_json_lines() -> None:
    compact = {
        "service": "Buses_1",
        "description": "Buses",
        "slots": {"day": ["Day", False, []], "fare": ["Fare", True, ["Economy", "Flexible"]]},
        "intents": {
            "FindBus": {"description": "Find a bus", "required": ["day"], "optional": {"fare": "Economy"}}
        },
    }
    lines = f"{json.dumps(compact)}\n\n{json.dumps(RESTAURANTS)}\n"
    assert [schema.name for schema in load_schemas(lines.encode())] == [
        "Buses_1.FindBus",
        "Restaurants_1.ReserveRestaurant",
        "Restaurants_1.FindRestaurants",
    ]


DATA = Path(os.environ.get("DATA", "")) / "sgd_schema.jsonl"


@pytest.mark.skipif(not DATA.exists(), reason="make test DATA=folder with the Schema-Guided-Dialogue schemas")
def test_all_services_of_the_training_set() -> None:
    schemas = load_schemas(DATA.read_text(encoding="utf-8"))
    assert len(schemas) == 88
    for title, name in {
        "Book a table at a restaurant": "Restaurants_1.ReserveRestaurant",
        "bus ticket to Fresno": "Buses_1.BuyBusTicket",
        "dentist appointment": "Services_2.BookAppointment",
        "buy movie tickets": "Movies_1.BuyMovieTickets",
    }.items():
        kind = kind_of(played(Add(slot="task", title=title)), "t1", schemas)
        assert kind is not None
        assert kind.name == name
    for title in ("shopping list", "team meeting", "write a report", "mow the lawn"):
        assert kind_of(played(Add(slot="task", title=title)), "t1", schemas) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "expected a pydantic model class or a mapping, got int"),
        ([None], r"schemas\[0\]: expected a pydantic model class"),
        ("{", "not JSON"),
        ('{"a": 1}\n{', "line 1|line 2 is not JSON"),
        ({}, "expected JSON Schema .* found nothing"),
        ({"name": "x", "slots": [{}]}, "slots.0.name: Field required"),
        ({"properties": {}}, "needs a 'title'"),
        ({"title": "T", "properties": []}, "'properties' must be an object"),
        ({"title": "T", "properties": {"a": 3}}, "T.a: expected a schema, got int"),
        ({"title": "T", "properties": {}, "required": ["a"]}, "requires 'a'"),
        ({"title": "T", "properties": {}, "required": "a"}, "must be a list"),
        ({"title": "T", "properties": {"a": {"$ref": "#/$defs/B"}}}, "leads nowhere"),
        ({"title": "T", "properties": {"a": {"$ref": "#/properties/a"}}}, "leads nowhere"),
        ({"intents": []}, "needs a 'service_name'"),
        ({"service_name": "S", "slots": "x"}, "S.slots: expected a list"),
        ({"service_name": "S", "slots": [{}]}, r"S.slots\[0\]: expected an object with a 'name'"),
        ({"service_name": "S", "slots": {"a": 1}}, "S.a: expected"),
        ({"service_name": "S", "slots": {"a": ["", True, "x"]}}, "S.a: possible values must be a list"),
        ({"service_name": "S", "intents": {"I": []}}, "S.I: expected an object"),
        ({"service_name": "S", "intents": {"I": {"required": "x"}}}, "S.I: required and optional slots"),
        ({"service_name": "S", "intents": {"I": {"required": ["x"]}}}, "S.I: no slot of S is called 'x'"),
        ([DINNER, DINNER], "two task schemas have this name"),
        (
            TaskSchema(name="T", slots=(SlotSchema(name="a"), SlotSchema(name="a"))),
            "T: two slots are called 'a'",
        ),
    ],
)
def test_what_cannot_be_read_is_said(source: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        load_schemas(source)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["service_name", "slots", "intents", "title", "properties", "required", "name",
    "type"]), inner
), max_leaves=12))  # fmt: skip
def test_any_json_is_read_or_refused(source: Any) -> None:
    with suppress(SchemaError):
        assert all(isinstance(schema, TaskSchema) for schema in load_schemas(source))


# ---- kinds ----------------------------------------------------------------------------------------


def test_the_kind_is_found_by_name_description_and_slots() -> None:
    trip = TaskSchema(name="Trip", slots=(SlotSchema(name="destination"), SlotSchema(name="departure_date")))
    schemas = (DINNER, trip)
    assert kind_of(played(*dinner()), "t1", schemas) == DINNER
    assert kind_of(played(Add(slot="trip", title="Trips to the sea")), "t1", schemas) == trip
    table = played(
        Add(slot="table", title="book a table"),
        Add(slot="table.time", title="time", value="8 PM", parent="t1"),
    )
    assert kind_of(table, "t1", schemas) == DINNER
    by_slots = played(
        Add(slot="x", title="holidays"),
        Add(slot="x.date", title="date", value="May", parent="t1"),
        Add(slot="x.destination", title="destination", value="Oslo", parent="t1"),
    )
    assert kind_of(by_slots, "t1", schemas) == trip
    assert kind_of(played(Add(slot="book", title="book")), "t1", schemas) is None


# ---- filling --------------------------------------------------------------------------------------


def test_the_first_missing_required_slot_is_asked_for() -> None:
    graph = played(*dinner(place="Luigi's"))
    filling = fill(graph, ["t2"], (DINNER,))
    assert filling.proposals == ()
    assert filling.question is not None
    assert filling.question.question == "What should the guests be for the dinner?"
    assert filling.question.options == ("1", "2", "3", "4")
    assert filling.question.choices[2] == Add(slot="dinner1.guests", title="guests", value="3", parent="t1")
    assert asked_key(filling.question) == "t1.guests"


def test_a_free_value_is_asked_for_with_its_place() -> None:
    question = fill(played(*dinner()), ["t1"], (DINNER,)).question
    assert question is not None
    assert question.choices == (Add(slot="dinner1.place", title="place", parent="t1"),)
    graph = played(*dinner(), Add(slot="dinner1.place", title="place", parent="t1"))
    question = fill(graph, ["t1"], (DINNER,)).question
    assert question is not None
    assert question.choices == (Update(task="t2"),)
    assert asked_key(question) == "t2"


def test_nothing_is_asked_again_too_often() -> None:
    graph = played(*dinner())
    question = fill(graph, ["t1"], (DINNER,), {"t1.place": ASK_AT_MOST}).question
    assert question is not None
    assert "guests" in question.question
    everything = {f"t1.{slot.name}": ASK_AT_MOST for slot in DINNER.slots}
    assert fill(graph, ["t1"], (DINNER,), everything).question is None
    assert fill(graph, ["t1"], (DINNER,), {"t1.place": ASK_AT_MOST - 1}).question is not None


def test_nothing_is_asked_where_all_is_known_or_done_or_gone() -> None:
    full = [*dinner(place="Luigi's", guests="4", time="8 PM")]
    assert fill(played(*full), ["t1"], (DINNER,)).question is None
    assert fill(played(*dinner(), Complete(task="t1")), ["t1"], (DINNER,)).question is None
    assert fill(played(*dinner(), Remove(task="t1")), ["t1"], (DINNER,)).question is None
    assert fill(played(*dinner()), [], (DINNER,)).question is None
    assert fill(played(*dinner()), ["t9"], (DINNER,)).question is None
    assert fill(played(*dinner()), ["t1"], ()) == ((), None)


def test_a_removed_slot_is_not_asked_for_but_an_undone_one_is() -> None:
    full = [*dinner(place="Luigi's", guests="4", time="8 PM")]
    assert fill(played(*full, Remove(task="t4")), ["t1"], (DINNER,)).question is None
    assert fill(played(*full, Undo()), ["t1"], (DINNER,)).question is not None


def test_a_value_that_is_not_allowed_is_questioned_first() -> None:
    graph = played(*dinner(guests="eleven"))
    question = fill(graph, ["t2"], (DINNER,)).question
    assert question is not None
    assert question.question == "For the dinner, the guests cannot be eleven. Which one is it?"
    assert question.choices[0] == Update(task="t2", value="1")
    again = fill(graph, ["t2"], (DINNER,), {"t2": ASK_AT_MOST}).question
    assert again is not None
    assert "place" in again.question


def test_a_slot_may_be_known_under_a_near_name() -> None:
    schema = TaskSchema(name="Trip", slots=(SlotSchema(name="departure_date", required=True),))
    graph = played(
        Add(slot="trip", title="trip"), Add(slot="trip.date", title="date", value="May 1", parent="t1")
    )
    assert fill(graph, ["t1"], (schema,)).question is None


def test_yes_or_no_is_asked_as_such() -> None:
    schema = TaskSchema(
        name="Trip", slots=(SlotSchema(name="pets_allowed", required=True, values=("yes", "no")),)
    )
    question = fill(played(Add(slot="trip", title="trip")), ["t1"], (schema,)).question
    assert question is not None
    assert question.question == "For the trip: pets allowed?"


def test_values_of_earlier_tasks_of_the_kind_are_proposed_latest_first() -> None:
    graph = played(
        *dinner(1, place="Luigi's", guests="4"),
        *dinner(4, place="Mario's"),
        *dinner(6, time="8 PM"),
    )
    filling = fill(graph, ["t7"], (DINNER,))
    assert filling.question is None
    assert filling.proposals == (
        Add(
            slot="dinner6.place",
            title="place",
            value="Mario's",
            parent="t6",
            status="proposed",
            source="memory:t5",
        ),
        Add(
            slot="dinner6.guests",
            title="guests",
            value="4",
            parent="t6",
            status="proposed",
            source="memory:t3",
        ),
    )


def test_a_proposal_is_made_once_and_after_it_the_question_goes_on() -> None:
    operations: list[Operation] = [*dinner(1, place="Luigi's"), *dinner(3)]
    (offer,) = fill(played(*operations), ["t3"], (DINNER,)).proposals
    offered = played(*operations, offer)
    assert fill(offered, ["t3"], (DINNER,)).proposals == ()
    question = fill(offered, ["t3"], (DINNER,)).question
    assert question is not None
    assert "guests" in question.question
    rejected = fill(played(*operations, offer, Reject(task="t4")), ["t3"], (DINNER,))
    assert rejected.proposals == ()
    assert rejected.question is not None
    assert "place" in rejected.question.question


def test_an_open_task_is_filled_in_place() -> None:
    open_place = Add(slot="dinner3.place", title="place", parent="t3")
    graph = played(*dinner(1, place="Luigi's"), *dinner(3), open_place)
    assert fill(graph, ["t3"], (DINNER,)).proposals == (
        Update(task="t4", value="Luigi's", status="proposed", source="memory:t2"),
    )


def test_nothing_is_proposed_from_later_tasks_or_other_kinds() -> None:
    graph = played(*dinner(1), *dinner(2, place="Mario's"), Add(slot="walk", title="walk"))
    assert fill(graph, ["t1"], (DINNER,)).proposals == ()
    assert fill(graph, ["t4"], (DINNER,)) == ((), None)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("4", "4"),
        ("four", "4"),
        ("for Four", "4"),
        ("Economy class", "economy"),
        ("true", "yes"),
        ("eleven", None),
    ],
)
def test_a_value_in_other_words_is_allowed(value: str, meant: str | None) -> None:
    assert allowed_value(value, ("4", "5", "economy", "flexible", "yes", "no")) == meant


def test_a_value_that_names_two_is_not() -> None:
    assert allowed_value("4 or 5", ("4", "5")) is None


@given(st.lists(st.sampled_from([slot.name for slot in DINNER.slots]), unique=True), st.integers(0, 3))
def test_what_is_known_is_never_asked_for(known: list[str], asked: int) -> None:
    values = {"guests": "4", "size": "small", "outdoors": "no"}
    graph = played(*dinner(**{name: values.get(name, "x1") for name in known}))
    counts = {f"t1.{slot.name}": asked for slot in DINNER.slots}
    question = fill(graph, ["t1"], (DINNER,), counts).question
    missing = [slot.name for slot in DINNER.slots if slot.required and slot.name not in known]
    if asked >= ASK_AT_MOST or not missing:
        assert question is None
    else:
        assert question is not None
        assert asked_key(question) == f"t1.{missing[0]}"
