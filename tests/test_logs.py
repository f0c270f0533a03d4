"""Logs as JSON and as text: what a line has, and that neither secrets nor a user's words are among it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr, ValidationError

from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.telemetry import spans
from taskloom.agent.telemetry.logs import LOGGER, Lines, TurnLog, log_as_configured, secrets_of
from taskloom.agent.turn.state import Context
from tests.openai_server import Fault, OpenAIServer
from tests.scripted import services

CANARY = "Zanzibar"
TASKLOOM = Path(sys.executable).with_name("taskloom")
KEYS = st.text(st.characters(codec="utf-8", exclude_characters=",="), min_size=16, max_size=40).filter(
    lambda key: key == key.strip()
)


@pytest.fixture
def ours() -> Iterator[logging.Logger]:
    """Taskloom's logger, put back as it was."""
    logger = logging.getLogger(LOGGER)
    before = (logger.handlers, logger.level, logger.propagate)
    yield logger
    logger.handlers, logger.propagate = before[0], before[2]
    logger.setLevel(before[1])
    spans.unwatch(TurnLog)


@given(
    keys=st.lists(KEYS, min_size=4, max_size=4, unique=True),
    before=st.text(max_size=9), after=st.text(max_size=9),
    as_json=st.booleans(), debug=st.booleans(),
)  # fmt: skip
def test_no_line_has_a_secret_of_the_settings(
    keys: list[str], before: str, after: str, as_json: bool, debug: bool
) -> None:
    model, mcp, user, metrics = keys
    settings = Settings(
        openai_api_key=SecretStr(model), mcp_key=SecretStr(mcp), api_keys=SecretStr(f"ann={user}"),
        metrics_key=SecretStr(metrics), jwt_key=SecretStr(metrics + mcp),
        database_url=SecretStr("postgresql://ann:pass%20word-of-hers@127.0.0.1/taskloom"),
        chroma_url="http://ann:another-of-hers@127.0.0.1:8000",
    )  # fmt: skip
    secrets = (*keys, metrics + mcp, "pass word-of-hers", "pass%20word-of-hers", "another-of-hers")
    lines = Lines(as_json=as_json, secrets=secrets_of(settings), debug=debug)
    for secret in secrets:
        told = f"{before}{secret}{after}"
        try:
            raise ValueError(told) from KeyError(secret)
        except ValueError:
            record = logging.LogRecord(
                "taskloom.x", logging.WARNING, __file__, 1, "it says %s", (told,), sys.exc_info()
            )
        record.fields = {"given": told, "list": [secret], "map": {secret: {"deep": told}}}
        line = lines.format(record)
        assert len(line.splitlines()) == 1
        for one in secrets:
            shown = json.dumps(one)[1:-1]  # as it would stand there
            assert shown not in line
            assert json.dumps(one, ensure_ascii=False)[1:-1] not in line
        if as_json:
            read = json.loads(line)
            assert (read["level"], read["logger"]) == ("warning", "taskloom.x")
            assert datetime.fromisoformat(read["time"]).tzinfo is not None
            assert one not in str(read)


def test_each_turn_is_a_line_without_a_word_of_the_users(
    ours: logging.Logger, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver())

    def lines(**more: Any) -> list[dict[str, Any]]:
        log_as_configured(Settings(log_format="json", **more))
        for text in (f"task {CANARY}; put t1 {CANARY} Rome", f"crash {CANARY}", f"drop t9 {CANARY}"):
            config: Any = {"configurable": {"thread_id": f"{CANARY} {len(more)}"}}
            graph.invoke({"messages": [HumanMessage(text)]}, config, context=Context(user_id=CANARY))
        told = capsys.readouterr()
        assert told.out == ""
        return [json.loads(line) for line in told.err.splitlines()]

    with subtests.test("info"):
        found = lines()
        assert [(one["event"], one["level"], one["turn"]) for one in found] == [
            ("turn", "info", 1), ("decompose failed", "error", 2), ("turn", "info", 2), ("turn", "info", 3)
        ]  # fmt: skip
        first, failed, *_ = found
        assert first["operations"] == {"add": 2}
        assert (first["model_calls"], first["input_tokens"], first["outcome"]) == (1, 10, "done")
        assert {len(one["thread"]) for one in found} == {16}
        assert len({one["thread"] for one in found}) == 1
        assert all(0 < one["ms"] < 60_000 for one in found)
        assert failed["error"].startswith("RuntimeError at scripted.py:")
        assert CANARY not in str(found)
    with subtests.test("warning"):
        assert [one["event"] for one in lines(log_level="warning")] == ["decompose failed"]
    with subtests.test("debug"):
        found = lines(log_level="DEBUG", home=Path("/nowhere"))
        assert {"node", "lock", "turn"} <= {one["event"] for one in found}
        assert {one["name"] for one in found if one["event"] == "node"} >= {"decompose", "respond"}
        assert "RuntimeError: the interpreter broke" in str(found)
    with subtests.test("text"):
        log_as_configured(Settings(log_format="text"))
        config: Any = {"configurable": {"thread_id": "text"}}
        graph.invoke({"messages": [HumanMessage(f"task {CANARY}")]}, config)
        (line,) = capsys.readouterr().err.splitlines()
        assert ' info taskloom.agent.turns: turn thread="' in line
        assert ' operations={"add": 1} ' in line
        assert CANARY not in line


def test_a_library_sets_up_no_logging(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("TASKLOOM_LOG_FORMAT", "json")
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path))

    def state() -> list[Any]:
        known = [logging.getLogger(), *map(logging.getLogger, ("taskloom", "taskloom.agent.turns"))]
        return [(one.level, [*one.handlers], one.propagate, one.disabled) for one in known]

    before = state()
    graph = build_graph(default_services(Settings(memory=False)), checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage("Plan a trip")]}, {"configurable": {"thread_id": "a"}})
    assert state() == before
    assert capsys.readouterr().err == ""
    assert not spans.watched()


@pytest.mark.slow
def test_commands_log_beside_what_they_print(tmp_path: Path) -> None:
    script = tmp_path / "talk.json"
    script.write_text(json.dumps([f"Plan a trip to {CANARY}", "Where to?"]))

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, "TASKLOOM_HOME": str(tmp_path / "home"), "TASKLOOM_MODEL": "", **more}
        return subprocess.run(
            [TASKLOOM, "run", script], env=given, capture_output=True, text=True, check=False
        )

    with OpenAIServer([Fault(401, f"no {CANARY} for sk-very-secret-key")]) as server:
        done = run(
            TASKLOOM_LOG_FORMAT="JSON", TASKLOOM_MODEL="small", OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY="sk-very-secret-key",
        )  # fmt: skip
    assert done.returncode == 0
    assert CANARY in done.stdout
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert [one["turn"] for one in found if one["event"] == "turn"] == [1, 2]
    failed = next(one for one in found if one["event"].startswith("model request failed"))
    assert (failed["turn"], failed["logger"]) == (1, "taskloom.agent.models.patient")
    assert CANARY not in done.stderr
    assert "secret-key" not in done.stderr
    wrong = run(TASKLOOM_LOG_FORMAT="xml")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("taskloom: TASKLOOM_LOG_FORMAT: ")


def test_levels_of_another_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="log_level"):
        Settings.model_validate({"log_level": "loud"})
