"""Three sessions with a model that reads, answers, tells sessions, decides on facts and judges: all recorded.

`tests/recordings/memory/talk.json` has the script, the schemas, what a model replied to each kind of request,
and what came of it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from pydantic import SecretStr

from taskloom.agent.cli.script import play, read_script
from taskloom.agent.models import prompts
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from tests.openai_server import Fault, OpenAIServer, Reply, Say

FILE = Path(__file__).parent / "recordings" / "memory" / "talk.json"
KINDS = {
    name: getattr(prompts, name).splitlines()[0] for name in ("READ", "RESPOND", "NARRATE", "DECIDE", "JUDGE")
}


def kind_of(body: Mapping[str, Any]) -> str:
    """Which of the product's prompts a request has."""
    system = body["messages"][0]["content"]
    return next(name for name, line in KINDS.items() if system.startswith(line))


class ByKind:
    """Replies in their order, for each kind of request; sessions are told beside the talk."""

    def __init__(self, replies: list[dict[str, str]]) -> None:
        self.left: dict[str, list[str]] = defaultdict(list)
        for one in replies:
            self.left[one["kind"]].append(one["reply"])
        self.unknown: list[str] = []
        self._guard = Lock()

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        with self._guard:
            kind = kind_of(body)
            if not self.left[kind]:
                self.unknown.append(kind)
                return Fault(404, "not recorded")
            return Say(self.left[kind].pop(0))


def told(given: Settings, talk: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of the talk: the replies, and what is known in the end."""
    lines = read_script(json.dumps(talk["script"]), "talk")
    context = Context(user_id="u", schemas=talk["schemas"])
    with Taskloom.open(given) as app:
        played = play(app, lines, thread="talk", context=context)
        replies = [re.sub(r"[A-Z]\w+ \d+, \d{4}", "DATE", one.turn.reply) for one in played]
        assert app.longterm is not None
        longterm = app.longterm
    try:
        longterm.flush()
        facts = [fact for fact in longterm.store.records("u", "fact") if fact.kind == "fact"]
        known = sorted({fact.text for fact in facts if fact.status == "current" and fact.people})
    finally:
        longterm.close()
    return {"replies": replies, "known": known}


def test_the_talk_comes_out_as_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    talk = json.loads(FILE.read_text(encoding="utf-8"))
    recorded = ByKind(talk["replies"])
    with OpenAIServer(recorded) as server:
        given = Settings(
            home=tmp_path,
            model="recorded",
            judge="model",
            openai_api_key=SecretStr("any"),
            openai_base_url=server.url,
        )
        found = told(given, talk)
    assert not recorded.unknown
    assert found == talk["told"]
    assert any("allergic to nuts" in text for text in found["known"])
    assert "school" in found["replies"][talk["asked"]]
