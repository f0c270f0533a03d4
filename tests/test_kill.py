"""A run with counting tools is killed at its steps: each effect at most once, and done or reported.

20 kills; with HYPOTHESIS_PROFILE=full 200, which takes some minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.attack

ROOT = Path(__file__).parent.parent
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
KILLS = 200 if FULL else 20


def run(folder: Path, *args: str) -> list[dict[str, Any]]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-m", "tests.killing", str(folder), *args],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(3_600 if FULL else 300)
def test_every_effect_is_made_at_most_once_and_done_or_reported(tmp_path: Path) -> None:
    head, *trials = run(tmp_path, str(KILLS), "7")
    assert head["kinds"] > 150
    assert len(trials) == KILLS
    wrong = [one for one in trials if one["ended"] or one["twice"] or one["untold"] or one["left"]]
    assert wrong == []
    assert sum(one["killed"] for one in trials) >= 0.9 * KILLS  # a random time may be after the end
    assert all(one["made"] + one["unknown"] >= 3 for one in trials), trials
    if FULL:
        assert any(one["unknown"] for one in trials)
        assert any(one["earlier"] for one in trials)


def test_a_journal_that_forgets_is_found_out(tmp_path: Path) -> None:
    [trial] = run(tmp_path, "control")
    assert trial["killed"]
    assert trial["twice"]
