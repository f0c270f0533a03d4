"""No output steers a terminal or turns the order of text: left out of what is shown, escaped in JSON."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from typer.main import get_command
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.wiring import JOURNAL
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.export import ThreadExport
from taskloom.memory.shown import escaped, safe
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.journal import Entry, FileJournal
from taskloom.tools.readable import plain
from tests.scripted import services
from tests.web_server import Answer, Pages, WebServer

pytestmark = pytest.mark.attack

STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = "Rome\x1b[2J\x9b31m \u202eelif\u202c \u2066x\u2069 \x85 end"
GRAPH = TaskGraph([
    TaskNode(id="t1", slot="trip", title=f"Trip {HOSTILE}"),
    TaskNode(id="t2", slot="trip.place", title="place", value=HOSTILE, parent="t1", status="filled",
             said=HOSTILE, source=HOSTILE),
])  # fmt: skip


BIDI = "Rome \u202eelif\u202c \u2066x\u2069"  # a task may hold these; control characters are refused
ODD = "\u202eodd \x1b[2J\x9b"  # a thread of an application that embeds Taskloom may be called so
TOOL = f'''def say(to: str) -> str:
    """Say it {BIDI}."""
    return {HOSTILE!a} + to
'''


@pytest.fixture
def hostile(tmp_path: Path, home: Path) -> Path:
    """A folder with files of all kinds, under a home with threads, a call that was cut off, and facts."""
    tasks = [{"id": "t1", "slot": "trip", "title": f"Trip {BIDI}", "value": BIDI, "said": BIDI}]
    (tmp_path / "in.json").write_text(json.dumps({"tasks": tasks}))
    said = [f"Plan a trip to {BIDI}", f"The budget is 200 {HOSTILE}", "Summarize the plan"]
    (tmp_path / "s.json").write_text(json.dumps(said))
    fact = {"kind": "fact", "id": "f1", "text": f"Mia likes {HOSTILE}", "at": "2026-05-01T00:00:00Z"}
    (tmp_path / "facts.jsonl").write_text(json.dumps(fact) + "\n")
    cues = f"00:05.000 --> 00:09.000\n<v An\u202ea>The launch is in May {HOSTILE}.\n\n"
    decided = f"00:10.000 --> 00:19.000\n<v Bob>I will book the hall {BIDI} on Friday.\n"
    (tmp_path / "vi\u202edeo.vtt").write_text(f"WEBVTT\n\n{cues}{decided}")
    (tmp_path / "odd_tools.py").write_text(TOOL)
    entry = {"use": "odd_tools:say", "needs": {"to": "place"}, "gives": f"result{BIDI}", "side_effects": True}
    (tmp_path / "agent.yaml").write_text(json.dumps({"tools": [entry]}))
    (tmp_path / "prices.yaml").write_text(json.dumps({"models": {BIDI: {"prompt": 1, "completion": 2}}}))
    with Taskloom.open(Settings(home=home)) as opened:
        opened.load((tmp_path / "in.json").read_text(), thread=ODD)
        opened.talk(f"Add {BIDI} to the trip", thread=ODD)
    journal = FileJournal(home / JOURNAL)
    journal.begin(Entry(key="k", user="local", thread=ODD, turn=1, task="t1", tool=HOSTILE, args={}))
    journal.shut()
    return tmp_path


CALLS = {
    "threads": ("", "--json"),
    "usage": ("", "--json", "--thread n\u202eo"),
    "tasks": ("", "--thread n\u202eo", *(f"--format {form}" for form in ("json", "mermaid", "svg", "html"))),
    "export": ("", "no\u202e/x.json"),
    "import": ("in.json --thread a", "in.json --thread a", "no\u202e.json", "s.json"),
    "prune": ("--all --turns 1 --dry-run", "--all --turns 1", "--all --turns 1 --json"),
    "doctor": ("", "--json"),
    "run": ("s.json", "s.json --json", "s.json --thread b", "no\u202e.json", "s.json --user a\u202eb"),
    "memory import": ("facts.jsonl", "s.json"),
    "memory list": ("", "--json", "--user \u202eann"),
    "memory search": ("Mia", "Mia --json"),
    "memory show": ("f1", "n\u202eo"),
    "memory export": ("",),
    "memory stats": ("", "--json"),
    "memory reembed": ("",),
    "memory forget": ("n\u202eo", "f1"),
    "tools list": ("", "--json", "--for say"),
    "tools show": ("say", "n\u202eo"),
    "tools try": (
        "say to=x\u202ey --yes", "say to=x --yes --json", "say to=x", "say \u202e=1", "n\u202eo",
    ),
    "video add": ("vi\u202edeo.vtt", "no\u202e.mp4", "in.json"),
    "video list": ("", "--json"),
    "video ask": ("When\u00a0is\u00a0the\u00a0launch?", "launch --json", "\u202e?"),
    "video find": ("launch", "launch --json"),
    "video plan": ("--thread v", "--thread v --yes"),
    "video forget": ("n\u202eo", "vi\u202edeo.vtt"),
}  # fmt: skip
ELSEWHERE = {"chat", "demo", "mcp"}  # below, of our own words alone, and in the protocol of test_mcp_server


def commands(group: Any, *before: str) -> Iterator[str]:
    """All commands, with those of groups."""
    for name, one in group.commands.items():
        found = commands(one, *before, name) if hasattr(one, "commands") else [" ".join((*before, name))]
        yield from found


def test_there_is_a_call_of_every_command() -> None:
    assert {*commands(get_command(app))} == {*CALLS, *ELSEWHERE}


def test_every_output_of_the_command_line_is_safe(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.syspath_prepend(hostile)
    pages: Pages = {
        "/v1/models": Answer(json.dumps({"data": [{"id": HOSTILE}]}).encode(), "application/json"),
        "/v1/chat/completions": Answer(json.dumps({"error": HOSTILE}).encode(), "application/json", 400),
    }
    shown: dict[str, str] = {}
    with WebServer(pages) as web:
        more = {
            "usage": {"TASKLOOM_PRICES": "prices.yaml"},
            "doctor": {"TASKLOOM_MODEL": BIDI, "OPENAI_BASE_URL": f"{web.url}/v1", "OPENAI_API_KEY": "x"},
        }  # fmt: skip
        for command, calls in CALLS.items():
            for call in calls:
                words, env = [*command.split(), *call.split(" ")], more.get(command)
                words += ["--config", "agent.yaml"] if words[0] == "tools" else []
                done = CliRunner().invoke(app, [word for word in words if word], env=env, input="")
                assert done.exit_code in (0, 1, 2), (words, done.output)
                assert "please report" not in done.output, words
                shown[f"{command} {call}".strip()] = done.output
    assert {call: STEERS.findall(text) for call, text in shown.items() if STEERS.search(text)} == {}
    for call in (
        "tasks", "tasks --format mermaid", "tasks --format svg", "run s.json", "memory list", "doctor",
        "prune --all --turns 1", "tools list", "tools try say to=x --yes --json", "video add vi\u202edeo.vtt",
        "video ask launch --json", "video plan --thread v --yes",
    ):  # fmt: skip
        assert re.search("elif|odd|video", shown[call]), (call, shown[call])
    assert json.loads(shown["export"])["tasks"][0]["value"] == BIDI  # escaped, not lost


def test_a_chat_and_a_reply_are_safe(home: Path) -> None:
    done = CliRunner().invoke(
        app, ["chat", "--thread", "c"], input=f"Plan a trip to {BIDI}\n/tasks\n/history\n/quit\n"
    )
    assert "elif" in done.output
    assert not STEERS.search(done.output)
    graph = build_graph(services(), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    said: Any = {"messages": [HumanMessage(f"task trip; put t1 place {BIDI}; ask t2")]}
    told, streamed = "", ""
    for kind, part in graph.stream(said, config, stream_mode=["messages", "values"]):
        if kind == "messages":
            streamed += str(part[0].text)
        else:
            told = part["messages"][-1].text
    assert "It is Rome elif x" in told == streamed
    assert graph.get_state(config).values["tasks"]["t2"].value == BIDI


def test_drawings_and_exports_are_safe() -> None:
    assert not STEERS.search(GRAPH.to_mermaid())
    exported = ThreadExport.of(GRAPH).to_json()
    assert not STEERS.search(exported)
    assert not STEERS.search(GRAPH.to_json())
    assert json.loads(exported)["tasks"][1]["value"] == HOSTILE


def test_pages_of_the_web_and_lone_surrogates() -> None:
    assert plain(HOSTILE) == safe(HOSTILE) == "Rome[2J31m elif x  end"
    assert safe("a\ud800b\tc\n") == "a?b\tc\n"
    assert json.loads(escaped(json.dumps("a\ud800\x9b", ensure_ascii=False))) == "a\ud800\x9b"
