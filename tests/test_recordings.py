"""Dialogues with the recorded replies of a real model, through the whole product over real HTTP.

A file of tests/recordings is a dialogue as in `tests.judging`; beside the words of each turn stands what the
model replied to the prompt that reads them (`read`) and to the prompt that answers (`written`). The local
server gives these replies to the requests with the same words, in this order.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taskloom.agent.outline import quoted
from taskloom.agent.settings import Settings
from tests.judging import Dialogue, judged, opened, played
from tests.openai_server import OpenAIServer, Recording

FILES = sorted((Path(__file__).parent / "recordings").glob("*.json"))
REPLIES = ("read", "written")


def recording_of(turns: list[dict[str, Any]]) -> Recording:
    """The replies as a script for the server, each with the line of the prompt that it belongs to."""
    return Recording(
        [
            {"words": f"{begin}: {quoted(turn['user'])}", "reply": turn[reply]}
            for turn in turns
            for begin, reply in zip(("Message", "User says now"), REPLIES, strict=True)
        ]
    )


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_turn_holds_with_what_a_model_replied(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    turns = json.loads(file.read_text())["turns"]
    wanted = tuple({key: turn[key] for key in turn if key not in REPLIES} for turn in turns)
    dialogue, recording = Dialogue(file.stem, "recordings", wanted), recording_of(turns)
    with OpenAIServer(recording) as server:
        settings = Settings(
            home=tmp_path,
            model="recorded",
            openai_api_key=SecretStr("any"),
            openai_base_url=server.url,
            reader="model",
            replies="model",
        )
        with opened(settings) as app:
            records = list(played(app, dialogue))
    assert judged(records, dialogue) == {}
    assert [record["reply"] for record in records] == [turn["written"] for turn in turns]
    assert {(record["by"], record["model_calls"], record["note"]) for record in records} == {("model", 2, "")}
    assert not recording.unknown
    assert not any(recording.left.values())
