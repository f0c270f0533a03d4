"""What models cost beside the reading and the reply: inside of tools, and for long-term memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import SecretStr

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.cli.main import app as commands
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.models import prompts
from taskloom.agent.models.chooser import ModelChooser
from taskloom.agent.models.openai import chat_client, chat_model
from taskloom.agent.models.responder import ModelResponder
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.state import Turn
from taskloom.agent.turn.steps import Detail, Step
from taskloom.tools.functions import llm_function
from taskloom.tools.registry import Equipped, Registry, equip
from tests.openai_server import Fault, OpenAIServer, Reply, Say

SCRIPT = ["Plan a trip to Rome on June 10th", "I am Ann and I live in Oslo", "My brother Ken eats no meat"]
CHAT = {"steps": [{"act": "chat"}]}
COST = (100, 10)  # tokens of every answer of the server


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer([Say("{}")]) as opened:
        yield opened


@pytest.fixture
def given(server: OpenAIServer, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path, model="test", openai_base_url=server.url, openai_api_key=SecretStr("any"),
        memory=False, model_timeout=5,
    )  # fmt: skip


class Planning:
    """An interpreter that reads every utterance as a trip to a place of that name."""

    def read(self, utterance: str, view: View) -> Reading:
        details = (Detail(slot="destination", value=utterance),)
        return Reading((Step(text=utterance, act="task", target="trip", title="trip", details=details),))


def talk(given: Settings, tool: Equipped) -> Turn:
    """A turn without a model that calls a tool from its slots."""
    template = TemplateResponder()
    services = Services(
        lambda _: Voice(local_reader(), template), template, tools=Equipment(registry=Registry([tool]))
    )
    with Taskloom(Threads(given.home), services) as app:
        return app.talk("Plan a trip. The destination is Rome.")


def poem(given: Settings, name: str = "poem") -> Equipped:
    """A template that a model carries out."""
    tool = llm_function(name, "Write.", "Write about <destination>.", {"text": "str"}, chat_client(given))
    return equip(tool, needs=("destination",), gives=name)


def agent(graph: Any) -> Equipped:
    return equip(
        graph, name="clerk", description="Writes.", needs={"task": "destination"}, gives="poem",
    )  # fmt: skip


def test_a_template_that_a_model_carries_out_counts(server: OpenAIServer, given: Settings) -> None:
    server.play([Say("no JSON"), Say('{"text": "Rome, sweet Rome"}')])
    turn = talk(given, poem(given))
    assert [run.status for run in turn.tool_runs] == ["done"]
    assert (turn.model_calls, turn.prompt_tokens, turn.completion_tokens) == (2, 200, 20)


def test_what_failed_counts_too(server: OpenAIServer, given: Settings) -> None:
    server.play([Fault(400)])
    turn = talk(given, poem(given))
    assert [run.status for run in turn.tool_runs] == ["failed"]
    assert (turn.model_calls, turn.prompt_tokens) == (1, 0)


def test_an_inner_agent_counts(server: OpenAIServer, given: Settings) -> None:
    client = chat_client(given)

    def answer(state: MessagesState) -> dict[str, list[BaseMessage]]:
        draft = client.invoke([HumanMessage("draft")]).text
        return {"messages": [client.invoke([*state["messages"], HumanMessage(draft)])]}

    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()
    server.play([Say("a poem")])
    turn = talk(given, agent(graph))
    assert [run.text for run in turn.tool_runs] == ["a poem"]
    assert (turn.model_calls, turn.prompt_tokens, turn.completion_tokens) == (2, 200, 20)


def test_a_taskloom_within_a_taskloom_counts_with_the_tools_below_it(
    server: OpenAIServer, given: Settings
) -> None:
    def script(body: dict[str, Any]) -> Reply:
        system = body["messages"][0]["content"]
        if "Write about" in system:
            return Say('{"text": "Rome, sweet Rome"}')
        if body.get("stream"):
            return Say("It is written.")
        return Say('{"observation": "", "thoughts": "", "subtask": "", "tool": "none", "task": 0}')

    server.play(script)
    chat = chat_model(given)
    below = Services(
        lambda _: Voice(Planning(), ModelResponder(chat), ModelChooser(chat)), TemplateResponder(), "model",
        tools=Equipment(registry=Registry([poem(given)])),
    )  # fmt: skip
    turn = talk(given, agent(build_graph(below)))
    assert [run.status for run in turn.tool_runs] == ["done"]
    assert turn.model_calls == len(server.requests) > 1
    assert (turn.prompt_tokens, turn.completion_tokens) == tuple(n * turn.model_calls for n in COST)


def test_tools_side_by_side_are_added_up(server: OpenAIServer, given: Settings) -> None:
    server.play([Say('{"text": "x"}')])
    template = TemplateResponder()
    tools = [poem(given, name) for name in ("poem", "song")]
    services = Services(
        lambda _: Voice(local_reader(), template), template, tools=Equipment(registry=Registry(tools))
    )
    with Taskloom(Threads(given.home), services) as app:
        assert app.talk("Plan a trip. The destination is Rome.").model_calls == 2
        assert app.talk("Where to?").model_calls == 0


# ---- long-term memory -----------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, given: Settings, *options: str) -> list[dict[str, Any]]:
    """What `taskloom run --json` prints of a script, by line."""
    wanted = {
        "TASKLOOM_MODEL": "test", "OPENAI_BASE_URL": given.openai_base_url, "TASKLOOM_HOME": given.home,
        "TASKLOOM_REPLIES": "template",
    }  # fmt: skip
    for name, value in wanted.items():
        monkeypatch.setenv(name, str(value))
    script = given.home / "script.json"
    script.write_text(json.dumps([*SCRIPT, {"session": "next"}, *SCRIPT]))
    result = typer.testing.CliRunner().invoke(commands, ["run", str(script), "--json", *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def told(body: dict[str, Any]) -> Reply:
    """A model that says nothing in every form."""
    facts: dict[str, Any] = {"units": [], "decisions": [], "scores": []}
    return Say(json.dumps(facts if body["messages"][0]["content"] != prompts.READ else CHAT))


def test_a_run_that_keeps_nothing_tells_no_model_of_it(
    server: OpenAIServer, given: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(told)
    rows = run(monkeypatch, given)
    asked = [body["messages"][0]["content"] for body in server.requests]
    assert set(asked) == {prompts.READ}
    assert sum(row["model_calls"] for row in rows) == len(asked)
    assert all("memory" not in row for row in rows)


@pytest.mark.parametrize("kept", [("--user", "ann"), ("--thread", "trip")])
def test_what_long_term_memory_costs_is_in_the_last_line(
    server: OpenAIServer, given: Settings, monkeypatch: pytest.MonkeyPatch, kept: tuple[str, str]
) -> None:
    server.play(told)
    rows = run(monkeypatch, given, *kept)
    assert [row["user"] for row in rows] == 2 * SCRIPT  # a line for each turn, and no other
    beside = [body for body in server.requests if body["messages"][0]["content"] != prompts.READ]
    assert len(beside) > 0
    assert [row["user"] for row in rows if "memory" in row] == SCRIPT[-1:]
    assert rows[-1]["memory"] == {
        "model_calls": len(beside), "prompt_tokens": 100 * len(beside), "completion_tokens": 10 * len(beside)
    }  # fmt: skip
    for name, each in (("model_calls", 1), ("prompt_tokens", 100), ("completion_tokens", 10)):
        assert sum(row[name] for row in rows) == each * len(server.requests)
