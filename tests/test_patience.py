"""How long a model is waited for, and how often it is told that there is none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taskloom.agent.models.chat import ModelSettings
from taskloom.agent.models.chooser import ModelChooser
from taskloom.agent.models.interpreter import ModelInterpreter
from taskloom.agent.models.openai import OpenAIModel, chat_client, chat_model
from taskloom.agent.models.responder import ModelResponder, Unwritten
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.choice import ChoiceError, Situation
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.state import Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.tasks import TaskGraph
from tests.openai_server import Fault, Hang, OpenAIServer, Reply, Say, Trickle

PATIENCE, MORE = 0.5, 1.0  # seconds: what a model is given, and what may come on top
BRIEF = Brief("Where to?", TaskGraph(), Turn())
CHAT = Say(json.dumps({"steps": [{"act": "chat"}]}))
SITUATION = Situation("Where to?", (), (), (), (), (("look", "look it up"),))
HELD: dict[str, Reply] = {
    "hangs": Hang(30),
    "sends headers and then nothing": Trickle(30),
    "trickles": Trickle(0.05),
    "trickles its headers": Trickle(0.05, head=True),
}


class Fallback:
    """An interpreter that reads nothing out of it."""

    def read(self, utterance: str, view: View) -> Reading:
        return Reading((Step(text=utterance, act="unsure", value="What?"),), sure=False)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer([CHAT]) as opened:
        yield opened


def chat(server: OpenAIServer, **changed: Any) -> OpenAIModel:
    quick = ModelSettings("test", SecretStr("any"), server.url, patience=PATIENCE, backoff=0.001, cooldown=0)
    return OpenAIModel(replace(quick, **changed))


def note(model: OpenAIModel) -> str:
    """What the user is told beside what was read."""
    return ModelInterpreter(model, Fallback()).read("Where to?", View(TaskGraph())).note


def unwritten(model: OpenAIModel) -> str:
    """What the user is told of a reply that was not written."""
    with pytest.raises(Unwritten) as error:
        list(ModelResponder(model).respond(BRIEF))
    return str(error.value)


def unchosen(model: OpenAIModel) -> str:
    with pytest.raises(ChoiceError) as error:
        ModelChooser(model).choose(SITUATION)
    return str(error.value)


# ---- how long -------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_reading_and_writing_together_wait_once(server: OpenAIServer, held: Reply) -> None:
    server.play([held])
    model, begun = chat(server, cooldown=20), time.monotonic()
    assert "the model did not answer in time" in note(model)
    assert unwritten(model) == ""
    assert PATIENCE <= time.monotonic() - begun < PATIENCE + MORE
    assert len(server.requests) == 1


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_writing_alone_waits_no_longer(server: OpenAIServer, held: Reply) -> None:
    server.play([held])
    model, begun = chat(server), time.monotonic()
    assert "the model did not answer in time" in unwritten(model)
    assert time.monotonic() - begun < PATIENCE + MORE


def test_repairs_are_within_the_time(server: OpenAIServer) -> None:
    server.play([Hang(0.2, Say("no JSON"))])
    begun = time.monotonic()
    assert "without the model" in note(chat(server, patience=0.5))
    assert time.monotonic() - begun < 0.5 + MORE
    assert 2 <= len(server.requests) <= 3


def test_a_reply_is_begun_again_only_in_the_time_that_is_left(server: OpenAIServer) -> None:
    model = chat(server, cooldown=20)
    with pytest.raises(Unwritten, match="took too long"):
        list(ModelResponder(model).respond(replace(BRIEF, faults=("wrong",), spent=PATIENCE)))
    assert server.requests == []
    assert note(model) == ""  # it was slow, not down


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_turn_is_held_up_once_and_told_once(server: OpenAIServer, held: Reply, tmp_path: Path) -> None:
    server.play([held])
    given = Settings(
        home=tmp_path, model="test", openai_base_url=server.url, model_timeout=PATIENCE,
        reader="model", replies="model", memory=False,
    )  # fmt: skip
    with Taskloom.open(given) as app:
        app.talk("Plan a trip to Rome", context=None)
        begun = time.monotonic()
        told = app.talk("Make it Oslo").reply
        assert "without the model" not in told
        assert time.monotonic() - begun < PATIENCE
        assert len(server.requests) == 1
    with Taskloom.open(given) as app:
        app.talk("hello", thread="warm")  # what a first turn loads is not the model's time
    with Taskloom.open(given) as app:
        begun = time.monotonic()
        told = app.talk("Make it Bergen").reply
        assert PATIENCE <= time.monotonic() - begun < PATIENCE + MORE
        assert told.count("without the model") == 1


def test_what_is_given_up_leaves_nothing_behind(server: OpenAIServer) -> None:
    server.play([Trickle(0.05)])
    note(chat(server))
    before = threading.active_count()
    for _ in range(3):
        note(chat(server))
    assert threading.active_count() <= before + 1  # the server may still be closing one


# ---- how often ------------------------------------------------------------------------------------


def test_a_fault_is_told_once_until_the_endpoint_has_answered(server: OpenAIServer) -> None:
    model = chat(server, patience=30)  # a busy machine is no fault
    server.play([Fault(500)])
    assert "(500)" in note(model)
    assert [note(model), unwritten(model), unchosen(model)] == ["", "", ""]
    server.play([CHAT])
    assert note(model) == ""
    server.play([Fault(500)])
    assert "(500)" in unwritten(model)
    assert [note(model), unchosen(model)] == ["", ""]


def test_another_fault_is_told(server: OpenAIServer) -> None:
    model = chat(server, patience=30)
    server.play([Fault(500)])
    assert "(500)" in unchosen(model)
    server.play([Fault(429, retry_after=3600)])
    assert "(429) and asks to wait 3600 s" in note(model)
    server.play([Fault(429, retry_after=3000)])
    assert note(model) == ""
    server.play([Fault(500)])
    assert note(model) == ""


def test_answers_that_cannot_be_used_are_told_once_until_one_can(server: OpenAIServer) -> None:
    model = chat(server, patience=30)
    server.play([Say("It is Rome.")])  # a model that can talk, and not give JSON
    for told in ("could not be used", ""):
        assert told in note(model)
        assert "".join(ModelResponder(model).respond(BRIEF)) == "It is Rome."
    assert note(model) == ""
    server.play([CHAT])
    assert note(model) == ""
    server.play([Say("It is Rome.")])
    assert "could not be used" in note(model)


@pytest.mark.parametrize(("wrong", "setting"), [(401, "OPENAI_API_KEY"), (404, "TASKLOOM_MODEL")])
def test_a_setting_that_is_wrong_is_told_once_to_all_threads_together(
    server: OpenAIServer, wrong: int, setting: str
) -> None:
    server.play([Fault(wrong)])
    model = chat(server, patience=10)
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda _: note(model), range(32)))
    (one,) = filter(None, told)
    assert setting in one
    server.play([CHAT])
    assert note(model) == ""
    server.play([Fault(wrong)])
    assert note(model) == ""


# ---- without a key --------------------------------------------------------------------------------


def test_an_endpoint_of_ones_own_needs_no_key(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.play(lambda body: Say("It is Rome.") if body.get("stream") else CHAT)
    given = Settings(model="local", openai_base_url=server.url)
    assert given.openai_api_key is None
    model = chat_model(given)
    assert note(model) == ""
    assert "".join(ModelResponder(model).respond(BRIEF)) == "It is Rome."
    assert chat_client(given).invoke("Where to?").text == CHAT.content
    assert len(server.requests) == 3
