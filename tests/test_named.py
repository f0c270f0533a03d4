"""Slots that are named as their schema names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taskloom.agent.reading.patterns.named import DECLINED, named_slots
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema
from taskloom.agent.turn.state import Context
from taskloom.memory.operations import Add, apply
from taskloom.memory.tasks import TaskGraph

BUS = TaskSchema(
    name="bus",
    slots=tuple(
        SlotSchema(name=name, required=True)
        for name in ("from_location", "to_location", "departure_date", "number_of_seats", "where_to")
    ),
)
VIEW = View(
    apply(TaskGraph(), Add(slot="bus", title="bus"), turn=1, said="").graph,
    focus=("t1",),
    schemas=(BUS,),
)


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ("The to location is Oslo.", [("to_location", "Oslo")]),
        ("from location: Bergen", [("from_location", "Bergen")]),
        ("Make the number of seats 3, please.", [("number_of_seats", "3")]),
        ("Actually, change the departure date to May 3.", [("departure_date", "May 3")]),
        ("where to: Sydney", [("where_to", "Sydney")]),
        (
            "Make the from location Oslo and the departure date May 3",
            [("from_location", "Oslo"), ("departure_date", "May 3")],
        ),
        (
            "set the from location to Oslo and Bergen, and the number of seats to 2",
            [("from_location", "Oslo and Bergen"), ("number_of_seats", "2")],
        ),
        ("What is the departure date?", []),
        ("departure date", []),
        ("The departure date", []),
        ("The price is 20 dollars.", []),
        ("Make the departure date", []),
    ],
)
def test_settings_by_name(said: str, settings: list[tuple[str, str]]) -> None:
    assert [(step.slot, step.value) for step in named_slots(said, VIEW)] == settings


def test_nothing_is_named_without_a_schema_or_a_task() -> None:
    said = "The to location is Oslo."
    assert named_slots(said, View(VIEW.graph, focus=("t1",))) == []
    assert named_slots(said, View(TaskGraph(), schemas=(BUS,))) == []
    assert named_slots(said, View(VIEW.graph, focus=("t9",), schemas=(BUS,))) == []


@pytest.mark.parametrize(
    "said",
    [
        "I don't know yet.",
        "Not sure yet",
        "I'll tell you later.",
        "skip that",
        "I don't know the date",
        "later",
    ],
)
def test_what_declines(said: str) -> None:
    assert DECLINED.fullmatch(said)


@pytest.mark.parametrize("said", ["Oslo", "the later one", "I know: Oslo", "not Friday"])
def test_what_does_not_decline(said: str) -> None:
    assert not DECLINED.fullmatch(said)


def values(app: Taskloom) -> dict[str, str | None]:
    return {node.name: node.value for node in app.tasks().active if node.parent}


def test_a_schema_is_filled_by_names_answers_and_declines(tmp_path: Path) -> None:
    pool = SlotSchema(name="shared_ride", required=True, values=("yes", "no"))
    schemas: list[dict[str, Any]] = [BUS.model_copy(update={"slots": (*BUS.slots, pool)}).model_dump()]
    context = Context(schemas=schemas)
    with Taskloom.open(Settings(home=tmp_path, model="")) as app:

        def say(words: str) -> str:
            return app.talk(words, context=context).reply

        assert "from location" in say("Plan a bus trip.")
        assert say("I don't know yet.").startswith("All right. What should the to location be")
        assert "departure date" in say("It's Oslo")
        assert "number of seats" in say("The departure date should be May 3.")
        say("Make the from location Bergen and the number of seats 2.")
        assert values(app) == {
            "to_location": "Oslo",
            "departure_date": "May 3",
            "from_location": "Bergen",
            "number_of_seats": "2",
        }
        assert "shared ride" in say("where to: Sydney")
        say("No.")
        assert values(app)["shared_ride"] == "no"
        assert "Narvik" in say("Change the to location to Narvik.")
        assert values(app)["to_location"] == "Narvik"
