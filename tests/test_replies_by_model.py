"""Replies that a model writes, over real HTTP: what it makes up is written again once, then by template."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Generator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from taskloom.agent.models.chat import ModelSettings, Oversized
from taskloom.agent.models.openai import MOST_READ, OpenAIModel, _bounded
from taskloom.agent.models.prompts import RESPOND
from taskloom.agent.models.responder import LONGEST, ModelResponder
from taskloom.agent.settings import Settings
from taskloom.agent.turn.brief import Brief, TooLong
from taskloom.agent.turn.state import Turn
from taskloom.memory.tasks import TaskGraph
from tests.judging import Dialogue, opened, played
from tests.openai_server import Fault, OpenAIServer, Reply, Say

SAID = "Plan a party on June 10th in the Grand Hall with Ann, Bo and Cy."
PLAIN = "Noted the party"  # how the template begins
FAIR = "I've noted the party on June 10th in the Grand Hall, with Ann, Bo and Cy."
ZED = "The party is noted. Zed is coming."
BOOKED = "I have booked the hall and paid $500."
HUGE = 10_000_000


def reply_of(
    home: Path, replies: Sequence[Reply], said: Sequence[str] = (SAID,)
) -> tuple[dict[str, Any], list[str]]:
    """The record of the last turn where a model writes these replies, and the briefs that it was sent."""
    left, briefs = list(replies), list[str]()

    def script(body: dict[str, Any]) -> Reply:
        if body["messages"][0]["content"] != RESPOND:
            return Fault(404, "it only writes")
        briefs.append(body["messages"][1]["content"])
        return left.pop(0)

    with OpenAIServer(script) as server:
        settings = Settings(
            home=home,
            model="m",
            openai_api_key=SecretStr("any"),
            openai_base_url=server.url,
            reader="local",
            replies="model",
        )
        with opened(settings) as app:
            turns = tuple({"user": words} for words in said)
            records = [dict(record) for record in played(app, Dialogue("party", "", turns))]
    assert not left
    return records[-1], briefs


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(
    ("told", "reply"),
    [("You're most welcome!", "You're most welcome!"),
     ("Thanks! Zed is looking forward to it.", None), ("Glad to help, I have booked the hall.", None),
     ("word " * 100, None)],
)  # fmt: skip
def test_small_talk_is_answered_by_the_call_that_reads(tmp_path: Path, told: str, reply: str | None) -> None:
    steps = json.dumps({"steps": [{"act": "chat", "value": told}]})
    with OpenAIServer([Say(steps)]) as server:
        settings = Settings(home=tmp_path, model="m", openai_base_url=server.url, memory=False)
        with opened(settings) as app:
            (record,) = played(app, Dialogue("party", "", ({"user": "Thank you so much!"},)))
    assert record["model_calls"] == 1
    assert (record["reply"] == reply) if reply else (told not in record["reply"])
    assert record["reply"].startswith("You're")


def test_a_fair_reply_is_sent_as_it_is(tmp_path: Path) -> None:
    record, briefs = reply_of(tmp_path, [Say(FAIR)])
    assert record["reply"] == FAIR
    assert len(briefs) == 1


@pytest.mark.parametrize("invented", [ZED, BOOKED, "The party is on June 12th.", "All 7 guests are noted."])
def test_an_invention_is_written_again(tmp_path: Path, invented: str) -> None:
    record, briefs = reply_of(tmp_path, [Say(invented), Say(FAIR)])
    assert record["reply"] == FAIR
    assert record["model_calls"] == 2
    assert "Your reply just now was wrong" not in briefs[0]
    assert "Your reply just now was wrong" in briefs[1]


def test_the_second_invention_gives_the_template(tmp_path: Path) -> None:
    record, briefs = reply_of(tmp_path, [Say(ZED), Say(BOOKED)])
    assert record["reply"].startswith(PLAIN)
    assert "Zed" not in record["reply"]
    assert len(briefs) == 2
    assert "Zed" in briefs[1]


def test_an_answer_is_held_against_the_plan_too(tmp_path: Path) -> None:
    said = (SAID, "When is the party?")
    wrong, right = "It is on June 10th, and Zed is coming.", "It is on June 10th."
    record, _ = reply_of(tmp_path, [Say(FAIR), Say(wrong), Say(right)], said)
    assert record["reply"] == right


PIECES = {
    "in small pieces": tuple("really, " * 125 for _ in range(HUGE // 1000)),
    "in one piece": ("x" * HUGE,),
    "in a piece after a fair one": (FAIR, "x" * HUGE),
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_a_reply_of_ten_megabytes_is_neither_shown_nor_kept(tmp_path: Path, pieces: tuple[str, ...]) -> None:
    huge = Say("", pieces=pieces)
    begun = time.monotonic()
    record, briefs = reply_of(tmp_path, [huge, huge])
    assert time.monotonic() - begun < 20
    assert record["reply"].startswith(PLAIN)
    assert len(record["reply"]) < 500
    assert record["model_calls"] == 2
    assert "far too long" in briefs[1]


def test_after_a_huge_reply_the_second_try_counts(tmp_path: Path) -> None:
    record, _ = reply_of(tmp_path, [Say("", pieces=PIECES["in one piece"]), Say(FAIR)])
    assert record["reply"] == FAIR


class Endless(OpenAIModel):
    """A model that never comes to an end; counts what was taken of it."""

    taken, closed = 0, False

    def stream(self, *_: Any) -> Generator[str]:
        try:
            while True:
                self.taken += 1
                yield "word "
        finally:
            self.closed = True


def test_no_more_of_a_reply_is_taken_than_may_be_shown() -> None:
    endless = Endless(ModelSettings("m", base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(TooLong):
        list(ModelResponder(endless).respond(Brief("Hi", TaskGraph(), Turn())))
    assert endless.taken == LONGEST / len("word ") + 1
    assert endless.closed


def test_no_more_of_an_answer_is_read_than_there_can_be() -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1000
            yield b"x" * 1000

    async def take() -> None:
        response = SimpleNamespace(aiter_bytes=endless)
        await _bounded(response)
        async for _ in response.aiter_bytes():
            pass

    with pytest.raises(Oversized):
        asyncio.run(take())
    assert read == MOST_READ + 1000


def test_a_long_list_that_was_asked_for_is_no_fault(tmp_path: Path) -> None:
    items = [f"a can of extremely bright white garden fence paint {n}" for n in range(2, 30)]
    listed = "Your cart:\n" + "\n".join(f"- {item}" for item in items)
    said = (f"Add {', '.join(items)} to my cart.", "What is in my cart?")
    record, briefs = reply_of(tmp_path, [Say("I've added them to your cart."), Say(listed * 2)], said)
    assert len(record["reply"]) < max(LONGEST, 2 * len(briefs[-1]))
    assert record["reply"].startswith("Your cart:")
