"""The scripted user: who wants what, what is said to which turn, and that memory pays."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.turn.state import Turn
from taskloom.memory.operations import Add, Clarify, apply
from taskloom.memory.tasks import TaskGraph

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SESSIONS = ("1", "2", "3", "all")
FIGURES = {
    "success", "turns", "joint_goal_accuracy", "slot_accuracy", "recall_at_1", "ranked_at_1", "ranked_at_3",
    "reasked", "proposals", "model_calls",
}  # fmt: skip


def service(name: str, intent: str, description: str, required: list[str], optional: dict[str, str]) -> Any:
    slots = {slot: [f"The {slot} of it", False, []] for slot in (*required, *optional)}
    form = {
        "description": description,
        "transactional": True,
        "required": required,
        "optional": optional,
        "family": f"{name.lower()}.{intent.lower()}",
    }
    return {"service": name, "description": description, "slots": slots, "intents": {intent: form}}


SCHEMA = [
    service("Tables", "ReserveTable", "Reserve a table at a restaurant", ["restaurant", "city", "time"], {}),
    service("Cabs", "BookCab", "Book a cab to a destination", ["destination", "riders"], {"luggage": "none"}),
    service("Songs", "PlaySong", "Play a song", ["song", "artist"], {}),
]
VALUES = {
    "restaurant": ["Blue Fig", "Casa Luna", "Oyster Bar"],
    "city": ["Oakland", "Berkeley", "Fresno"],
    "time": ["19:00", "20:30", "18:15"],
    "destination": ["Union Square", "Central Station", "Ocean Beach"],
    "riders": ["2", "3", "4"],
    "luggage": ["one bag", "two bags", "three bags"],
    "song": ["Summer", "Alone", "Havana"],
    "artist": ["Rihanna", "Drake", "Kesha"],
}


def session(individual: int, number: int) -> dict[str, Any]:
    """One with a single task, of which all was said at once."""
    form = SCHEMA[(individual + number) % len(SCHEMA)]
    ((intent, kind),) = form["intents"].items()
    slots = {slot: VALUES[slot][number % 3] for slot in form["slots"]}
    alt = {"time": [f"{int(slots['time'][:2]) - 12}:{slots['time'][3:]} pm"]} if "time" in slots else {}
    task = {
        "family": kind["family"],
        "service": form["service"],
        "intent": intent,
        "slots": slots,
        "alt": alt,
    }
    states = {form["service"]: [intent, {slot: [value] for slot, value in slots.items()}]}
    return {
        "id": f"p{individual}-s{number}",
        "ind": f"p{individual}",
        "n": number,
        "date": f"2025-02-{number + 1:02}",
        "tasks": [task],
        "turns": [["U", f"{kind['description']}: {', '.join(slots.values())}.", states], ["S", "Done."]],
    }


DATA = [session(individual, number) for individual in range(3) for number in range(9)]
BY_NAME = {form["service"]: form for form in SCHEMA}


@pytest.fixture(scope="module")
def bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module("users")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("data")
    for name, rows in (("sessions", DATA), ("schema", SCHEMA)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ["--sessions", str(folder / "sessions"), "--schema", str(folder / "schema")]


def run(*arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / "users.py"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


# ---- the whole of it --------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_users_give_the_same_figures_twice_and_memory_pays(bench: Any, files: list[str]) -> None:
    found = json.loads(run(*files, "--users", "3", "--json"))
    here = bench.rounded(bench.measure(bench.people(DATA, BY_NAME, 3, 0), 0))
    assert found == json.loads(json.dumps(here))
    assert (found["users"], found["kinds"]) == (3, 3)
    for arm in ("memory", "without"):
        assert tuple(found[arm]) == SESSIONS
        assert all(set(figures) == FIGURES for figures in found[arm].values())
        assert found[arm]["all"]["model_calls"] == 0
    ours, theirs = found["memory"]["all"], found["without"]["all"]
    assert ours["success"] >= theirs["success"]
    assert ours["slot_accuracy"] >= theirs["slot_accuracy"]
    assert ours["turns"] < theirs["turns"]
    assert ours["reasked"] < theirs["reasked"]
    assert found["without"]["all"]["proposals"] == 0 < ours["proposals"]
    assert found["memory"]["1"] == found["without"]["1"], "there is nothing to remember yet"
    assert found["without"]["all"]["recall_at_1"] is None
    for failure in found["failures"]:
        assert failure["kind"] in ("misread", "not offered", "asked again", "forgotten")
        assert failure["count"] >= failure["sessions"] >= 1
        assert 1 <= len(failure["examples"]) <= 3
        assert all(one["said"] and one["reply"] for one in failure["examples"])


@pytest.mark.slow
def test_it_prints_tables_and_the_talk(files: list[str]) -> None:
    command = [sys.executable, str(BENCHMARKS / "users.py"), *files, "--users", "1", "--talk"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert "joint_goal_accuracy" in done.stdout
    assert "user0-3" in done.stderr


def test_no_users_and_nothing_to_repeat_are_refused(bench: Any, files: list[str]) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(*files, "--users", "0")
    assert "--users: at least 1" in refused.value.stderr
    with pytest.raises(ValueError, match="no transactional task"):
        bench.people([], BY_NAME, 1, 0)


# ---- who wants what ---------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 8))
def test_a_user_gives_half_then_the_rest_and_revises_one(bench: Any, seed: int, count: int) -> None:
    crowd = bench.people(DATA, BY_NAME, count, seed)
    assert crowd == bench.people(DATA, BY_NAME, count, seed)
    assert len({person.name for person in crowd}) == count
    for person in crowd:
        first, second, third = person.goals
        required = {slot.name for slot in person.schema.slots if slot.required}
        assert set(first) < required <= set(second)
        assert len(first) == (len(required) + 1) // 2
        assert second == third
        assert sum(not value.same(second[slot].said) for slot, value in first.items()) == 1
        assert person.past
        assert person.schema.name.split(".")[0].lower() not in {
            unit.intent.split(".")[0] for unit in person.past
        }


def test_values_are_equal_in_all_their_forms(bench: Any) -> None:
    value = bench.Value.of(["19:00", "7 pm"], Random(0))
    assert value.said in ("19:00", "7 pm")
    assert all(value.same(text) for text in ("19:00", "7 PM", "7pm."))
    assert not any(value.same(text) for text in ("7", "17:00", None))
    assert bench.Value.of(["True"], Random(0)).said == "yes"
    assert bench.plain("The Hotel & Spa, a Home") == bench.plain("hotel and spa home")


# ---- what is said to which turn ---------------------------------------------------------------------

PERSONS = load_schemas(SCHEMA[0])[0]


def seen(bench: Any, **given: Any) -> Any:
    return bench.Seen(**{"begun": True, "held": {}, "offered": {}, "asked": None, **given})


def goal(bench: Any, **values: str) -> Any:
    return {slot: bench.Value.of([value], Random(0)) for slot, value in values.items()}


@pytest.mark.parametrize(
    ("given", "forms", "means"),
    [
        ({"asked": "city"}, "ANSWER", {"city"}),
        ({"asked": "restaurant"}, "DECLINE", set()),
        ({"held": {"city": "Fresno"}}, "CORRECT", {"city"}),
        ({"held": {"city": "Oakland"}, "asked": "?"}, "TELL", {"time"}),
        ({"offered": {"city": "Oakland", "time": "19:00"}}, "YES", {"city", "time"}),
        ({"offered": {"city": "Oakland", "time": "20:30"}}, "YES_BUT", {"city", "time"}),
        ({"offered": {"time": "20:30"}, "asked": "city"}, "NO_BUT", {"time"}),
        ({"offered": {"restaurant": "Blue Fig"}}, "NO", set()),
    ],
)
def test_the_user_answers_the_turn(bench: Any, given: Any, forms: str, means: set[str]) -> None:
    wanted = goal(bench, city="Oakland", time="19:00")
    for number in range(20):
        said = bench.next_words(wanted, seen(bench, **given), Random(number))
        assert said.form in getattr(bench, forms)
        assert set(said.means) == means
        assert all(said.means[slot] == wanted[slot] for slot in means)
        assert "{" not in said.text


def test_the_user_names_what_is_wrong_in_a_proposal(bench: Any) -> None:
    wanted = goal(bench, city="Oakland", time="19:00", restaurant="Blue Fig")
    offered = {"city": "Fresno", "time": "20:30", "restaurant": "blue fig"}
    texts = {bench.next_words(wanted, seen(bench, offered=offered), Random(n)).text for n in range(30)}
    assert texts == {
        "Yes, but make the city Oakland and the time 19:00.",
        "Yes, but change the city to Oakland and the time to 19:00.",
        "Yes, except the city is Oakland and the time is 19:00.",
    }


def test_the_user_reads_the_plan_and_not_the_reply(bench: Any) -> None:
    graph = TaskGraph()
    for number, operation in enumerate(
        (
            Add(slot="other", title="something else"),
            Add(slot="table", title="reserve a table"),
            Add(slot="table.city", title="city", value="Oakland", parent="t2"),
            Add(slot="table.time", title="time", value="19:00", parent="t2", status="proposed"),
            Add(slot="other.time", title="time", value="8:00", parent="t1"),
        ),
        1,
    ):
        graph = apply(graph, operation, turn=number, said="words").graph
    ask = Clarify(question="Which?", choices=(Add(slot="table.restaurant", title="restaurant", parent="t2"),))
    found = bench.Seen.of(graph, PERSONS, Turn(reply="The city is Fresno.", question=ask))
    assert found == seen(bench, held={"city": "Oakland"}, offered={"time": "19:00"}, asked="restaurant")
    assert bench.Seen.of(TaskGraph(), PERSONS, Turn()) == seen(bench, begun=False)
    assert bench.Seen.of(graph, PERSONS, Turn(question=Clarify(question="Which one?"))).asked == "?"


def test_a_kind_of_task_has_words(bench: Any) -> None:
    assert bench.phrases(SCHEMA[0], "ReserveTable") == ("reserve a table at a restaurant", "reserve a table")
    money = service("Banks", "TransferMoney", "Transfer money.", ["amount"], {})
    assert bench.phrases(money, "TransferMoney") == ("transfer money", "transfer money")
