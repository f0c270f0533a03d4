"""The scripts in examples/ run, are short, and are listed in the README."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from starlette.testclient import TestClient

from tests.anthropic_server import AnthropicServer
from tests.openai_server import Say
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


def test_deep_agent(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(
        "deepagents",
        reason="deepagents is not installed: it brings google-genai, which wants tenacity below 9.2",
    )
    found = example("deep_agent")(
        model(
            [add("Buy fish"), add("Cook", after=["Buy fish"])],
            [("task", {"description": "Find a fishmonger for t1", "subagent_type": "scout"})],
            [add("Ask at the harbour")], [done("t1")], "The harbour sells fish.",
            "Noted.",
        ),
        "A dinner",
    )  # fmt: skip
    assert [(one["content"], one["status"]) for one in found] == [
        ("Buy fish", "in_progress"), ("Cook", "pending"), ("Ask at the harbour", "completed")
    ]  # fmt: skip
    assert capsys.readouterr().out.splitlines() == ["Noted."]


def test_subgraph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path))
    replies = example("subgraph")("Plan a trip to Rome on June 10th", "When is the trip?")
    assert "Rome" in replies[0]
    assert "June 10th" in replies[1]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TASKLOOM_MODEL", "")
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path))
    return tmp_path


def test_mcp_client(home: Path) -> None:
    told = example("mcp_client")(
        ("say", {"text": "Plan a dinner on Friday"}), ("add_task", {"title": "Buy fish"}), ("check_tasks", {})
    )
    assert "dinner" in told[0]
    assert "Buy fish" in told[2]


def test_user_store(home: Path) -> None:
    found = example("user_store")("ann", ["Mia is allergic to nuts.", "Ben lives in Oslo."], "nuts for Mia?")
    assert found == ["Mia is allergic to nuts."]


def test_claude_memory(home: Path) -> None:
    note = {"command": "create", "path": "/memories/seat.md", "file_text": "aisle"}
    seen = {"command": "view", "path": "/memories/plan.md"}
    calls = [Say(None, tool_calls=({"name": "memory", "input": given},)) for given in (note, seen, note)]
    with AnthropicServer([*calls, Say("On June 10th.")]) as server:
        client = Anthropic(base_url=server.url, api_key="none")
        assert example("claude_memory")(client, "claude", "When is my trip?") == "On June 10th."
        results = [block for body in server.requests for block in body["messages"][-1]["content"]]
    told = [(block["content"], block.get("is_error", False)) for block in results if isinstance(block, dict)]
    assert told[0] == ("File created successfully at: /memories/seat.md", False)
    assert "June 10th" in told[1][0]
    assert told[2] == ("File /memories/seat.md already exists", True)


def test_fastapi(home: Path) -> None:
    app = runpy.run_path(str(ROOT / "examples" / "fastapi_app.py"))["app"]
    ann, bob = ({"Authorization": f"Bearer key-of-{name}"} for name in ("ann", "bob"))
    with TestClient(app) as client:
        said = {"text": "Plan a trip to Rome on June 10th"}
        assert "Rome" in client.post("/threads/trip", json=said, headers=ann).json()
        asked = {"text": "When is the trip?"}
        assert "June 10th" in client.post("/threads/trip", json=asked, headers=ann).json()
        assert client.post("/threads/trip", json=asked, headers=bob).status_code == 404
        assert client.post("/threads/trip", json=asked).status_code == 401
        wrong = {"Authorization": "Bearer none"}
        assert client.post("/threads/trip", json=asked, headers=wrong).status_code == 401


def test_postgres(home: Path, database: str) -> None:
    replies = example("postgres")(database, "Plan a trip to Rome on June 10th", "When is the trip?")
    assert "Rome" in replies[0]
    assert "June 10th" in replies[1]
