"""A trip of ten turns with three tools and an inner agent: what the model said is recorded.

`tests/recordings/tools/trip.json` has what a model replied to each request, and what came of each turn: the
calls with their parameters, and the reply.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from tests.openai_server import OpenAIServer, Recording
from tests.trip_tools import agency

FILE = Path(__file__).parent / "recordings" / "tools" / "trip.json"
TRIP = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What came of each turn, as the recording has it."""
    recording = Recording(TRIP["replies"])
    found: list[dict[str, object]] = []
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(recording) as server:
        patch.setenv("NO_PROXY", "127.0.0.1")
        settings = Settings(
            home=tmp_path_factory.mktemp("home"),
            model="recorded",
            openai_api_key=SecretStr("any"),
            openai_base_url=server.url,
            reader="model",
        )
        services = replace(default_services(settings), tools=agency(settings))
        with Taskloom.open(settings, services=services) as app:
            for turn in TRIP["turns"]:
                done = app.talk(turn["user"], context=Context(memory=False))
                runs = [[run.call.tool, run.call.args, run.status] for run in done.tool_runs]
                found.append({"acts": runs, "reply": done.reply})
    assert not recording.unknown
    assert not any(recording.left.values())
    return found


def test_every_turn_comes_out_as_recorded(told: list[dict[str, object]]) -> None:
    assert told == [{"acts": turn["acts"], "reply": turn["reply"]} for turn in TRIP["turns"]]


def test_each_tool_and_the_inner_agent_were_called(told: list[dict[str, object]]) -> None:
    called = {act[0] for turn in TRIP["turns"] for act in turn["acts"]}
    assert called >= {"search_flights", "search_hotels", "price_calculator", "city_guide"}
