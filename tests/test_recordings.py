"""Dialogues with the recorded replies of a chat model, through the whole product over real HTTP.

A file of tests/recordings is a dialogue as in `tests.judging`, with who reads (`reader`), who replies
(`replies`) and, where its host gives task schemas, these (`schemas`); beside the words of each turn stands
what the model replied to the prompts that read them (`read`: one, or several where it had to correct itself)
and to the prompt that answers (`written`). The local server gives these replies to the requests with the same
words, in this order. `fails` names the turns that do not hold; one that holds again is taken out of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taskloom.agent.plan.outline import quoted
from taskloom.agent.settings import Settings
from tests.judging import Dialogue, Record, judged, opened, played
from tests.openai_server import OpenAIServer, Recording
from tests.quickly import quick

FOLDER = Path(__file__).parent / "recordings"
FILES = sorted((*FOLDER.glob("*.json"), *(FOLDER / "dialogues").glob("*.json")))
REPLIES = ("read", "written")


def recording_of(turns: Sequence[Mapping[str, Any]]) -> Recording:
    """The replies as a script for the server, each with the line of the prompt that it belongs to."""
    entries = []
    for turn in turns:
        read = turn.get("read", [])
        said = quoted(turn["user"], len(turn["user"]))
        entries += [
            {"words": f"Message: {said}", "reply": one} for one in ([read] if isinstance(read, str) else read)
        ]
        if "written" in turn:
            entries.append(
                {"words": f"User says now: {quoted(turn['user'], 2000)}", "reply": turn["written"]}
            )
    return Recording(entries)


def replayed(given: Mapping[str, Any], home: Path) -> tuple[list[Record], dict[int, list[str]], OpenAIServer]:
    """Play a recorded dialogue: the record of each turn, what does not hold, and the server.

    given: the content of a file. home: an empty folder.
    """
    turns = given["turns"]
    wanted = tuple({key: turn[key] for key in turn if key not in REPLIES} for turn in turns)
    dialogue = Dialogue(given["name"], "recordings", wanted, tuple(given.get("schemas", ())))
    with OpenAIServer(recording_of(turns)) as server:
        settings = Settings(
            home=home,
            model="recorded",
            openai_api_key=SecretStr("any"),
            openai_base_url=server.url,
            reader=given["reader"],
            replies=given["replies"],
            memory=False,
        )
        with opened(settings) as app:
            records = list(played(app, dialogue))
    return records, judged(records, dialogue), server


@pytest.mark.parametrize("file", quick(FILES), ids=[file.stem for file in FILES])
def test_every_turn_holds_with_what_a_model_replied(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    given = json.loads(file.read_text())
    records, lost, server = replayed(given, tmp_path)
    assert sorted(lost) == given.get("fails", []), lost
    assert {record["note"] for record in records} == {""}
    recording = server.script
    assert isinstance(recording, Recording)
    assert not recording.unknown
    assert not any(recording.left.values())
    for record, turn in zip(records, given["turns"], strict=True):
        assert (record["by"] == "model") == bool(turn.get("read"))
        if "written" in turn:
            assert record["reply"] == turn["written"]
