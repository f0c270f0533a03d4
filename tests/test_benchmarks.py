"""Each benchmark runs, on sizes too small to mean anything, and prints what it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.aegra_server import missing

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TURNS = ("turns.py", "--tasks", "20", "40", "--on-each", "3", "--turns", "2", "4", "--dialogue", "3", "5")
LEAST = ("turns.py", "--tasks", "40", "--on-each", "1", "--turns", "2", "--dialogue", "3")


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout


def test_turns_prints_all_figures_for_both() -> None:
    found: dict[str, Any] = json.loads(run(*TURNS, "--json"))
    for figures in (found, found["baseline"]):
        assert set(figures["kb_per_turn"]) == set(figures["p50_ms"]) == {"20", "40"}
        assert set(figures["kb_per_turn_at"]) == {"2", "4"}
        assert set(figures["prompt_tokens"]) == set(figures["history_tokens"]) == {"3", "5"}
        for name in ("model_calls_per_turn", "form_tokens", "resume_ms", "peak_mb"):
            assert figures[name] > 0, name
    # The scripted model understands all that is said, so nothing may get lost on the way.
    assert found["kept_model"] == 1
    assert found["max_model_calls_model"] == 2


def test_turns_prints_a_table() -> None:
    assert "KB on disk per turn, 40 tasks" in run(*LEAST)


def test_recorded_prints_its_figures() -> None:
    found = json.loads(run("recorded.py", "cart", "--json"))
    assert {name: (one["turns"], one["held"], one["silent"]) for name, one in found.items()} == {
        "cart": (5, 5, 0)
    }
    assert found["cart"]["prompt"] > found["cart"]["history"] > 0  # five turns are a short history


def test_graph_prints_its_figures() -> None:
    found = json.loads(run("graph.py", "--sizes", "300", "--json"))
    assert all(found[f"{name}_p95_ms"]["300"] > 0 for name in ("operation", "closure", "answer"))


def test_watching_prints_its_figures() -> None:
    found = json.loads(run("watching.py", "--turns", "4", "--json"))
    assert set(found["p50_ms"]) == set(found["ratio"]) == {"bare", "off", "spans"}
    assert found["ratio"]["bare"] == 1
    assert found["nothing_ns"] > 0


def test_facts_prints_its_figures() -> None:
    found = json.loads(run("facts.py", "--sessions", "1", "--sizes", "200", "--json"))
    assert found["calls"]["rules"]["calls_max"] == 0
    assert found["calls"]["model"]["calls_max"] <= 3
    assert found["times"]["200"]["closure"] > 0


def test_slots_prints_its_figures(tmp_path: Path) -> None:
    form = {"title": "form", "properties": {"name": {"type": "string"}, "date": {"type": "string"}}}
    turns = [
        {"system": "", "user": "The name is Ann Lee", "state": {"form": {"name": "Ann Lee"}}},
        {
            "system": "",
            "user": "The date is Friday",
            "state": {"form": {"name": "Ann Lee", "date": "Monday"}},
        },
        {"system": "", "user": "why?", "state": {"form": {"name": "Ann Lee", "date": "Monday"}}},
    ]
    file = tmp_path / "some.jsonl"
    lines = ({"schema": form}, {"kinds": ["form"], "turns": turns})
    file.write_text("\n".join(map(json.dumps, lines)))
    found = json.loads(run("slots.py", str(file), "--json", "--wrong"))["some.jsonl"]
    assert (found["turns"], found["spared"], found["wrong"]) == (3, 2, 1)
    assert (found["coverage_of_filling"], found["precision"]) == (1, 0.5)
    assert "The date is Friday" in found["wrong_turns"][0]


def test_shots_prints_its_figures() -> None:
    found = json.loads(run("shots.py", "--clips", "2", "--json"))
    assert (found["clips"], found["seed"]) == (2, 13)
    assert found["f1"] > found["histograms"]["f1"] > 0
    assert found["shots_s_per_600_s"] > 0


def test_video_prints_its_figures() -> None:
    found = json.loads(run("video.py", "--talks", "1", "--wording", "seen", "--json"))
    assert found["rows"]["never"]["right"] == 1.0
    assert found["left_after_forget"] == 0
    assert set(found["rows"]["all"]) == {"right", "moment", "retrieval", "windows", "held", "bm25"}


def test_a_plan_is_still_there_where_the_context_was_cut() -> None:
    cut, longer = (json.loads(run("plan_or_list.py", "--json", "--keep", keep)) for keep in ("4", "6"))
    assert {name: cut["plan"][name] for name in ("marked", "next", "date", "by_calls", "left")} == {
        "marked": 11, "next": True, "date": True, "by_calls": 20, "left": 20,
    }  # fmt: skip
    assert cut["plan"]["before_by_call"]
    assert (cut["list"]["marked"], cut["list"]["left"]) == (0, 1)
    assert longer["list"]["marked"] == 20, "the last list is among what was kept"


@pytest.mark.parametrize("where", [(), ("--server",)])
def test_crowd_prints_its_figures(where: tuple[str, ...]) -> None:
    found = json.loads(run("crowd.py", "--users", "2", "--records", "20", "--json", *where))
    assert found["first_p95_ms"] >= found["first_p50_ms"] > found["warm_p50_ms"] > 0
    assert found["rss_mb"] >= found["worker_mb"] > 100
    assert found["write_ms"] > 0


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_load_loses_and_doubles_nothing() -> None:
    found = json.loads(run("load.py", "--users", "6", "--turns", "2", "--workers", "2", "--json"))
    figures = found["workers"]["2"]
    assert all(figures[name] == 0 for name in ("lost", "doubled", "differ", "cross_reads", "failed"))
    assert all(figures[name] > 0 for name in ("turns_per_second", "p50_ms", "p95_ms", "rss_mb"))
    assert found["sequential"]["turns_per_second"] > 0
