"""The reproduction of the experience policies: its figures, its plots, and that it plays by the rules."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskloom.memory.policies import Addition, Deletion, Outcome, Policy, conclude, is_retrievable
from taskloom.memory.records import Experience

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # the full run plays thousands of worlds

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module("experiences")


def at_once(jobs: Iterable[Any], total: int) -> Iterable[Any]:
    """No progress is shown."""
    return jobs


def run(out: Path, *arguments: str, seeds: int = 1, steps: int = 80) -> str:
    command = [sys.executable, str(BENCHMARKS / "experiences.py"), "--out", str(out), *arguments]
    command += ["--seeds", str(seeds), "--steps", str(steps)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_it_prints_one_object_and_writes_its_plots(bench: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="make check, which installs the extra `bench`")
    found = json.loads(run(tmp_path, "--json", seeds=2, steps=300))
    here = bench.measured(bench.all_runs(2, 300, at_once), 2)
    assert {**json.loads(json.dumps(bench.rounded(here))), "plots": found["plots"]} == found
    assert (found["seeds"], found["steps"]) == (2, 300)
    assert set(found["policies"]) == {
        f"{addition}+{deletion}"
        for addition in ("fixed", "all", "coarse", "strict")
        for deletion in ("none", "periodic", "history", "combined", "capacity")
    }
    assert all(0 < one["success"] < 1 for one in found["policies"].values())
    assert set(found["misaligned"]) == {"deleted", "retained"}
    assert set(found["shift"]) > {"fixed+none", "strict+history"}
    assert set(found["capacity"]) == {"50", "100", "150", "300", "600"}
    assert all(set(one) == {"difference", "seeds", "holds"} for one in found["claims"].values())
    assert found["policies"]["all+none"]["size"] == 450
    assert found["policies"]["strict+capacity"]["size"] == 100
    assert {path.name for path in tmp_path.iterdir()} == set(found["plots"])
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG"), path


def test_it_prints_tables(tmp_path: Path) -> None:
    printed = run(tmp_path)
    for words in ("strict+combined", "Misaligned replay", "Shift midway", "add-all degrades below fixed"):
        assert words in printed


def test_too_few_steps_are_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(tmp_path, steps=39)
    assert "--steps: at least 40" in refused.value.stderr


class Records:
    """The memory of a run as real records, handled by the rules as the product handles them."""

    def __init__(self, policy: Policy, initial: int, step_of: NDArray[np.int64]) -> None:
        self.policy, self.step_of = policy, step_of
        self.memory = {one.id: one for one in map(self.record, range(initial))}

    def record(self, row: int, status: str = "confirmed", led_by: tuple[str, ...] = ()) -> Experience:
        given: dict[str, Any] = {"status": status, "led_by": led_by, "step": int(self.step_of[row])}
        return Experience(id=f"{row:05}", text="words", at=datetime(2026, 5, 4, tzinfo=UTC), **given)

    def offered(self) -> NDArray[np.int64]:
        return np.array(
            sorted(int(key) for key, one in self.memory.items() if is_retrievable(self.policy, one)), np.int64
        )

    def conclude(self, made: int, led_by: int | None, how: Outcome, step: int) -> None:
        record = self.record(made, "pending", () if led_by is None else (f"{led_by:05}",))
        change = conclude(self.policy, self.memory.values(), record, how, step)
        self.memory |= {one.id: one for one in change.put}
        self.memory = {key: one for key, one in self.memory.items() if key not in change.delete}


additions: tuple[Addition, ...] = ("fixed", "all", "coarse", "strict")
deletions: tuple[Deletion, ...] = ("none", "periodic", "history", "combined", "capacity")
policies = st.builds(
    Policy,
    addition=st.sampled_from(additions),
    deletion=st.sampled_from(deletions),
    period=st.integers(3, 30),
    alpha=st.integers(0, 2),
    n=st.integers(1, 3),
    beta=st.sampled_from([0.0, 0.4, 0.54, 1.0]),
    limit=st.integers(1, 40),
)


@settings(max_examples=settings().max_examples // 5)
@given(policies, st.integers(0, 1000), st.integers(1, 150))
def test_a_run_on_arrays_is_the_run_on_records(bench: Any, policy: Policy, seed: int, initial: int) -> None:
    world = bench.World.of(seed, 60)
    rows = len(world.targets)
    bank = bench.Bank(policy, rows, initial)
    records = Records(policy, initial, np.maximum(0, np.arange(rows) + 1 - bench.INITIAL))
    arrays, real = bench.play(world, policy, bank), bench.play(world, policy, records)
    for name in ("retrieved", "success", "sizes", "kept"):
        assert np.array_equal(getattr(arrays, name), getattr(real, name)), name


@pytest.fixture(scope="module")
def runs(bench: Any) -> Any:
    return bench.all_runs(2, 1_000, at_once)


@pytest.mark.parametrize(
    "claim",
    [
        "add-all degrades below fixed",
        "strict addition beats fixed",
        "strict addition beats add-all",
        "history deletion beats none",
        "errors propagate with add-all",
        "outputs follow inputs",
        "deleted records are followed less, inputs alike",
    ],
)
def test_what_the_paper_claims_shows_at_half_the_length_in_two_seeds(
    bench: Any, runs: Any, claim: str
) -> None:
    assert bench.claims(runs)[claim]["holds"]


def test_without_errors_the_memory_only_helps(bench: Any, runs: Any) -> None:
    """Errors are the whole difference: the same examples, made true, are the better the more there are."""
    found = bench.policies(runs)
    order = ("fixed+none", "strict+none", "all+none")
    free = [found[name]["error_free_last"] for name in order]
    assert free == sorted(free)
    assert found["all+none"]["last"] < found["fixed+none"]["last"] < found["strict+none"]["last"]


def test_a_shift_moves_what_is_asked_to_other_clusters(bench: Any) -> None:
    moved, stays = (bench.World.of(3, 400, shift) for shift in (True, False))
    asked = slice(bench.INITIAL, None)

    def nearest_across(world: Any) -> float:
        """How far, at the median, what is asked later is from the nearest thing that was asked before."""
        between = world.distances[asked, asked][200:, :200]
        return float(np.median(between.min(axis=1)))

    assert nearest_across(moved) > 2 * nearest_across(stays)
