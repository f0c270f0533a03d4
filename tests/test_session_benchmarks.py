"""The two retrieval benchmarks run on small made data and give the figures that they promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SCHEMA = [
    {
        "service": "Hotels_1",
        "description": "Hotels",
        "slots": {
            "city": ["City of the hotel", False, []],
            "rooms": ["Number of rooms", True, ["1", "2", "3"]],
        },
        "intents": {
            "FindHotel": {"description": "Find a hotel in a city", "family": "hotel.find"},
            "BookHotel": {"description": "Book a hotel in a city", "family": "hotel.book"},
        },
    },
    {
        "service": "Rides_1",
        "description": "Rides",
        "slots": {"destination": ["Where the ride goes", False, []]},
        "intents": {"GetRide": {"description": "Call a taxi to a destination", "family": "ride.get"}},
    },
]
CITIES = ("Oslo", "Bergen", "Lund", "Ghent")


def hotel(n: int, intent: str) -> dict[str, Any]:
    """A session in which a hotel is looked for or booked."""
    city, family = CITIES[n], "hotel.find" if intent == "FindHotel" else "hotel.book"
    said = f"Near the harbour of {city}, please."
    return {
        "id": f"s{n}", "ind": "i", "n": n, "date": f"2025-0{n + 1}-10",
        "tasks": [{"family": family, "service": "Hotels_1", "intent": intent,
                   "slots": {"city": city, "rooms": str(n)}, "alt": {"rooms": [f"{n} rooms"]}}],
        "turns": [
            ["U", "I want a hotel.", {"Hotels_1": [intent, {}]}],
            ["S", "In which city?"],
            ["U", said, {"Hotels_1": [intent, {"city": [city]}]}],
            ["U", "Thank you.", {"Hotels_1": [intent, {"city": [city]}]}],
        ],
    }  # fmt: skip


def ride(n: int) -> dict[str, Any]:
    """A session with a taxi and no value."""
    task = {"family": "ride.get", "service": "Rides_1", "intent": "GetRide", "slots": {}, "alt": {}}
    turns = [["U", "Call me a cab.", {"Rides_1": ["GetRide", {}]}]]
    return {"id": f"s{n}", "ind": "i", "n": n, "date": f"2025-0{n + 1}-10", "tasks": [task], "turns": turns}


SESSIONS = [
    hotel(0, "BookHotel"),
    hotel(1, "BookHotel"),
    hotel(2, "BookHotel"),
    hotel(3, "FindHotel"),
    ride(4),
]
PLAIN = {"ind": "i", "kind": "latest", "date": "2025-07-01", "style": "name"}
BOOKED = {"service": "Hotels_1", "family": "hotel.book", "intent": "BookHotel"}
RIDE = {"service": "Rides_1", "family": "ride.get", "intent": "GetRide"}
LUND, BERGEN = {"city": "Lund", "rooms": "2"}, {"city": "Bergen", "rooms": "1"}
QUERIES = [
    PLAIN | BOOKED | {"id": "q0", "utt": "Book a hotel again.", "gold": "s2", "slots": LUND},
    PLAIN | RIDE | {"id": "q1", "utt": "Call a taxi", "gold": "s4", "slots": {}},
]
NAMED = "Let's book a hotel again, the one with Bergen as the city."
ANCHORED = [
    PLAIN | BOOKED | {"id": "a0", "kind": "anchored", "style": "anchored", "anchor": ["city", "Bergen"],
                      "gold": "s1", "utt": NAMED, "slots": BERGEN},
]  # fmt: skip

TALK = (
    ("Ada", "Hello, how was your summer?"),
    ("Bo", "Fine, I painted the fence blue."),
    ("Ada", "Which instrument do you play these days?"),
    ("Bo", "The cello, for a year now."),
    ("Ada", "My kite broke in the wind."),
    ("Bo", "What a pity! I could glue it."),
)
DAY = {"conv": "c", "session": 1, "date": "1:56 pm on 8 May, 2023"}
TURNS = [DAY | {"n": n, "id": f"D1:{n}", "speaker": who, "text": text} for n, (who, text) in enumerate(TALK)]
QA = [
    {"conv": "c", "category": 1, "question": "Which instrument does Bo play?", "evidence": ["D1:3", "D1:2"]},
    {"conv": "c", "category": 2, "question": "What broke in the wind?", "evidence": ["D1:4"]},
    {"conv": "c", "category": 5, "question": "Who has a horse?", "evidence": []},
]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout


def test_sessions(tmp_path: Path) -> None:
    files = {
        "sessions": SESSIONS,
        "queries": QUERIES,
        "anchored": ANCHORED,
        "individuals": [{"ind": "i", "sessions": [session["id"] for session in SESSIONS]}],
        "schema": SCHEMA,
    }
    named = [word for name, rows in files.items() for word in (f"--{name}", written(tmp_path / name, rows))]
    found = json.loads(run("sessions.py", *named, "--many", "50", "--json"))
    assert found["r_at_1"] == found["r_at_3"] == found["r_at_5"] == found["mrr"] == 1
    assert found["anchored_r_at_1"] == found["slot_accuracy"] == found["slot_accuracy_anchored"] == 1
    assert found["newest"]["anchored_r_at_1"] == 0
    assert found["r_at_1_by_style"] == {"name": 1}
    assert found["p95_ms"] > 0 < found["p95_ms_10k"]
    assert (found["queries"], found["anchored"]) == (2, 1)


def test_sessions_by_folder_as_a_table(tmp_path: Path) -> None:
    written(tmp_path / "sgdms_dev_sessions.jsonl", SESSIONS)
    written(tmp_path / "sgdms_dev_queries.jsonl", QUERIES)
    written(tmp_path / "sgdms_dev_anchored.jsonl", ANCHORED)
    written(tmp_path / "sgdms_dev_individuals.jsonl", [{"ind": "i", "sessions": [s["id"] for s in SESSIONS]}])
    written(tmp_path / "sgd_schema.jsonl", SCHEMA)
    shown = run("sessions.py", "--folder", str(tmp_path), "--split", "dev", "--many", "20")
    assert "anchored_r_at_1" in shown
    assert "r_at_1, name" in shown


def test_candidates(tmp_path: Path) -> None:
    written(tmp_path / "sgdms_train_sessions.jsonl", SESSIONS)
    written(tmp_path / "sgdms_train_queries.jsonl", QUERIES)
    written(tmp_path / "sgdms_train_anchored.jsonl", ANCHORED)
    written(
        tmp_path / "sgdms_train_individuals.jsonl", [{"ind": "i", "sessions": [s["id"] for s in SESSIONS]}]
    )
    written(tmp_path / "sgd_schema.jsonl", SCHEMA)
    small = ("--counts", "20", "--users", "2", "--records", "20", "--json")
    found = json.loads(run("candidates.py", "--folder", str(tmp_path), *small))
    assert set(found) == {"copy", "20"}
    for figures in found.values():
        assert figures["r_at_1"] == figures["anchored_r_at_1"] == figures["pooled_r_at_1"] == 1
        assert figures["turns_r_at_5"] > 0 < figures["first_ms"]


def test_sessions_say_what_is_missing() -> None:
    command = [sys.executable, str(BENCHMARKS / "sessions.py"), "--schema", "x"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--sessions, --queries, --anchored, --individuals or --folder needed" in done.stderr


def test_locomo(tmp_path: Path) -> None:
    files = ("--turns", written(tmp_path / "turns", TURNS), "--qa", written(tmp_path / "qa", QA))
    found = json.loads(run("locomo.py", *files, "--json"))
    assert found["questions"] == 2
    assert found["r_at_5"] == found["r_at_10"] == 1
    assert found["hit_at_1"] == 1
    assert found["r_at_1"] == 0.75  # one of two turns, and the only one
    assert {kind: one["questions"] for kind, one in found["by_category"].items()} == {"1": 1, "2": 1}
    assert "category 2" in run("locomo.py", *files)
