"""The scripts in examples/ run, are short, and are listed in the README."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.test_parts import add, done, model

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def example(name: str) -> Any:
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_they_are_short_and_listed(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    assert f"(examples/{path.name})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_create_agent(capsys: pytest.CaptureFixture[str]) -> None:
    fake = model([add("Buy fish"), add("Cook", after=["Buy fish"])], "Noted.", [done("t1")], "Cook.")
    found = example("create_agent")(fake, "A dinner", "Fish is bought. What is next?")
    assert [(one["content"], one["status"]) for one in found] == [
        ("Buy fish", "completed"),
        ("Cook", "in_progress"),
    ]
    assert capsys.readouterr().out.splitlines() == ["Noted.", "Cook."]


def test_subgraph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path))
    replies = example("subgraph")("Plan a trip to Rome on June 10th", "When is the trip?")
    assert "Rome" in replies[0]
    assert "June 10th" in replies[1]
