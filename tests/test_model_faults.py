"""66 kinds of fault of a model, each against a real server, under both settings of the reader.

Whatever it is, the turn is answered, the plan stays sound and loses nothing, and the next turn works. The
quick profile takes every fifth fault, the full one all of them.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from taskloom.agent.reading.local import packaged
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.memory.tasks import TaskGraph, TaskNode
from tests.openai_server import Cut, Fault, Hang, OpenAIServer, Raw, Reply, Say, Trickle

PATIENCE = 0.5  # seconds for the model
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
GOOD = json.dumps({"steps": [{"act": "set", "on": 2, "value": "June 12th"}]})
PLAN = TaskGraph([
    TaskNode(id="t1", slot="trip", title="Trip to Rome"),
    TaskNode(id="t2", slot="trip.date", title="date", value="June 10th", parent="t1", status="filled"),
    TaskNode(id="t3", slot="trip.hotel", title="hotel", value="Ritz", parent="t1", status="filled"),
])  # fmt: skip


def steps(*given: Any) -> Say:
    return Say(json.dumps({"steps": list(given)}))


def envelope(content: Any, **more: Any) -> bytes:
    """A reply of the protocol with anything for its content."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}
    ).encode()


DEEP = "[" * 5_000 + "]" * 5_000
TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "prose": "Sure! I have changed the date.",
    "half": GOOD[: len(GOOD) // 2],
    "two objects": GOOD + GOOD[:-3],
    "single quotes": GOOD.replace('"', "'"),
    "comments": "// hi\n" + GOOD[:-1],
    "fence left open": "```json\n" + GOOD[:-2],
    "a list": "[1, 2]",
    "null": "null",
    "a number": "7",
    "a text": '"steps"',
    "true": "true",
    "NaN": '{"steps": NaN}',
    "deep": DEEP,
    "deep steps": f'{{"steps": {DEEP}}}',
    "huge": GOOD + " " * 60_000,
    "huge garbage": "x" * 200_000,
    "control": '{"steps": "\x00\x01"}',
    "lone surrogate": '{"steps": [{"act": "\\ud800"}]}',
    "digits": f'{{"steps": [{{"act": "set", "on": {"9" * 5_000}, "value": "zzz"}}]}}',
    "html": "<html>502</html>",
    "keys twice": '{"steps": 1, "steps": 2}',
    "other keys": '{"operations": []}',
    "steps a text": '{"steps": "remove all"}',
    "thousand steps": json.dumps({"steps": [{"act": "add", "on": 1, "items": {"item": ["zzz"]}}] * 1_000}),
}
STEPS: dict[str, Reply] = {
    "no such id": steps({"act": "set", "on": 999, "value": "zzz"}),
    "id zero": steps({"act": "remove", "on": 0}),
    "id below": steps({"act": "remove", "on": -1}),
    "id a text": steps({"act": "set", "on": "t999", "value": "zzz"}),
    "id a float": steps({"act": "remove", "on": 1.5}),
    "id true": steps({"act": "remove", "on": True}),
    "id a list": steps({"act": "remove", "on": [[1]]}),
    "no such act": steps({"act": "destroy", "on": 1}),
    "act a number": steps({"act": 7}),
    "a step a text": steps("remove t1"),
    "a step null": steps(None),
    "value an object": steps({"act": "set", "on": 2, "value": {"zzz": 1}}),
    "value a list": steps({"act": "set", "on": 2, "value": ["zzz"]}),
    "value too long": steps({"act": "set", "on": 2, "value": "z" * 30_000}),
    "details a list": steps({"act": "task", "title": "zzz", "details": [1]}),
    "fields unknown": steps({"act": "set", "on": 2, "worth": "zzz"}),
    "itself": steps({"act": "need", "on": 1, "refs": [1]}),
    "question unknown": steps({"act": "ask", "q": "zzz"}),
    "no steps": steps(),
}
BODIES: dict[str, Reply] = {
    "no JSON": Raw(b"oops"),
    "no body": Raw(b""),
    "cut JSON": Raw(envelope(GOOD)[:40]),
    "no choices": Raw(b'{"choices": []}'),
    "choices null": Raw(b'{"choices": null}'),
    "a list": Raw(b"[]"),
    "content a number": Raw(envelope(7)),
    "content null": Raw(envelope(None)),
    "usage wrong": Raw(envelope("no", usage={"prompt_tokens": "many"})),
    "type wrong": Raw(b"<html>busy</html>", content_type="text/html"),
    "not UTF-8": Raw(b"\xff\xfe\x00{"),
    "UTF-16": Raw(envelope("x").decode().encode("utf-16")),
    "204": Raw(b"", status=204),
    "302": Raw(b"", status=302),
}
HTTP: dict[str, Reply] = {f"status {code}": Fault(code) for code in (400, 401, 404, 413, 429, 500, 503)}
FAULTS: dict[str, Reply] = {
    **{f"text: {name}": Say(text) for name, text in TEXTS.items()},
    **{f"step: {k}": v for k, v in STEPS.items()},
    **{f"body: {k}": v for k, v in BODIES.items()},
    **HTTP,
    "refusal": Say(None, refusal="I cannot help with that"),
    "length": Say(GOOD[:20], finish="length"),
    "filter": Say("", finish="content_filter"),
    "tool calls": Say(None, finish="tool_calls"),
    "hang": Hang(2.0),
    "cut": Cut(Say(GOOD)),
    "cut at once": Cut(Say(GOOD), keep=0.0),
    "drip": Trickle(0.05),
    "drip of headers": Trickle(0.05, head=True),
    "retry in a day": Fault(429, retry_after=86_400),
}
CHOSEN = [*FAULTS] if FULL else [*FAULTS][::5]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer([]) as running:
        yield running


@pytest.fixture(autouse=True, scope="module")
def _network_read_once() -> Iterator[None]:
    """Reading its files for each fault would take most of the time."""
    reader = packaged()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("taskloom.agent.graph.wiring.packaged_reader", lambda: reader)
        yield


def values(app: Taskloom) -> dict[str, str | None]:
    graph = app.tasks()
    assert graph.faults() == []
    return {node.title: node.value for node in graph.active}


def test_there_are_as_many_as_said() -> None:
    assert len(FAULTS) >= 66


@pytest.mark.attack
@pytest.mark.parametrize("reader", ["auto", "model"])
@pytest.mark.parametrize("name", CHOSEN)
def test_a_fault_costs_a_turn_nothing_but_the_model(
    server: OpenAIServer, name: str, reader: Literal["auto", "model"], tmp_path: Path
) -> None:
    given = Settings(
        home=tmp_path, model="test", openai_base_url=server.url, model_timeout=PATIENCE, reader=reader,
        replies="auto", memory=False,
    )  # fmt: skip
    with Taskloom.open(given) as app:
        app.load(PLAN.to_json())
        server.play([FAULTS[name]])
        turn = app.talk("Make the date June 12th")
        assert turn.reply.strip()
        assert values(app).items() >= {"Trip to Rome": None, "hotel": "Ritz"}.items()
        assert values(app)["date"] in ("June 10th", "June 12th")
        server.play([Say(json.dumps({"steps": [{"act": "ask", "q": "value", "on": 3}]}))])
        assert "Ritz" in app.talk("What is the hotel?").reply
        assert values(app).items() >= {"Trip to Rome": None, "hotel": "Ritz"}.items()
        assert values(app)["date"] in ("June 10th", "June 12th")
