"""The maze of the paper, and how the planner does in it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from taskloom.tools.functions import function_tool

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module("maze")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "maze.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_mazes_are_those_of_the_paper(bench: Any) -> None:
    shortest = [62, 43, 36, 34, 46, 56, 47, 42, 44, 38, 63, 36, 41, 47, 28, 46, 44, 19, 35, 30]  # table D2
    assert [bench.maze(number).shortest() for number in range(20)] == shortest
    upright, lying = bench.maze(9).walls, bench.maze(10).walls
    assert upright == {(row, 20) for row in range(40)} - {(20, 20)}
    assert lying == {(column, row) for row, column in upright}


def test_a_wall_stops_and_is_seen_from_the_next_cell_only(bench: Any) -> None:
    one = bench.Maze(frozenset({(2, 0), (2, 1), (2, 2), (2, 3)}), (0, 0), (4, 0), size=5)
    assert one.seen() == {"position": [0, 0], "blocked": [], "free": [[0, 0], [0, 1], [1, 0], [1, 1]]}
    found = one.walk(["down 3"])
    assert (found["position"], found["blocked"], one.steps) == ([1, 0], [[2, 0], [2, 1]], 1)
    assert one.walk(["down 1"])["position"] == [1, 0]  # into the wall
    assert one.walk(["left 2"])["position"] == [1, 0]  # out of the maze
    assert one.steps == 3
    assert one.walk(["right 4"])["position"] == [1, 1]  # (2, 2) has come into sight


def test_what_is_seen_on_the_way_is_told(bench: Any) -> None:
    one = bench.Maze(frozenset(), (0, 0), (4, 4), size=5)
    assert [4, 1] in one.walk(["down 4"])["free"]
    assert [2, 1] in one.walk(["right 4"])["free"] or one.position == (4, 4)


def test_an_episode_that_cannot_be_solved_is_not_counted_as_solved(bench: Any) -> None:
    def plan_path(
        position: list[int], goal: list[int], blocked: list[list[int]], free: list[list[int]], new_run: bool
    ) -> dict[str, Any]:
        """Go up, whatever there is."""
        return {"moves": ["up 1"]}

    one = bench.maze(0, size=3)
    assert bench.play(one, function_tool(plan_path)) == 5  # of nine calls, each answered by a walk
    assert one.steps == 4
    assert one.position != one.goal


@pytest.mark.slow
def test_all_are_solved_within_a_tenth_of_the_shortest_paths() -> None:
    found = json.loads(run("--json").stdout)
    assert found["solved"] == len(found["episodes"]) == 20
    assert found["shortest"] == 837
    assert found["shortest"] < found["steps"] <= 1.1 * found["shortest"]
    for key in ("steps", "shortest", "solved"):
        assert found[key] == sum(one[key] for one in found["episodes"])


@pytest.mark.slow
def test_few_episodes_print_a_table() -> None:
    printed = run("--episodes", "3").stdout
    assert "3 of 3 solved" in printed
    assert "210" in printed  # the paper's steps in the first episode
    assert "paper: 1.48" not in printed


@pytest.mark.slow
def test_no_episodes_are_refused() -> None:
    refused = run("--episodes", "0")
    assert refused.returncode == 2
    assert "--episodes: at least 1" in refused.stderr
