"""No output steers a terminal or turns the order of text: left out of what is shown, escaped in JSON."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.turn.export import ThreadExport
from taskloom.memory.shown import escaped, safe
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.readable import plain

pytestmark = pytest.mark.attack

STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = "Rome\x1b[2J\x9b31m \u202eelif\u202c \u2066x\u2069 \x85 end"
GRAPH = TaskGraph([
    TaskNode(id="t1", slot="trip", title=f"Trip {HOSTILE}"),
    TaskNode(id="t2", slot="trip.place", title="place", value=HOSTILE, parent="t1", status="filled",
             said=HOSTILE, source=HOSTILE),
])  # fmt: skip
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "home"))

    def call(*args: str | Path, code: int = 0) -> str:
        done = CliRunner().invoke(app, [str(one) for one in args])
        assert done.exit_code == code, done.output
        return done.output

    return call


def test_every_output_of_the_command_line_is_safe(run: Run, tmp_path: Path) -> None:
    bidi = "Rome \u202eelif\u202c \u2066x\u2069"  # a task may hold these; control characters are refused
    script, file = tmp_path / "s.json", tmp_path / "in.json"
    script.write_text(
        json.dumps([f"Plan a trip to {bidi}", f"The budget is 200 {HOSTILE}", "Summarize the plan"])
    )
    tasks = [{"id": "t1", "slot": "trip", "title": f"Trip {bidi}", "value": bidi, "said": bidi}]
    file.write_text(json.dumps({"tasks": tasks}))
    shown = [
        run("import", file, "--thread", "a"),
        run("run", script, "--thread", "b"),
        run("run", script, "--json"),
        *(run("tasks", "--thread", "a", "--format", form) for form in ("tree", "mermaid", "json")),
        run("export", "--thread", "a"),
        run("export", "--thread", "b"),
        run("threads"),
        run("threads", "--json"),
        run("memory", "list"),
        run("memory", "list", "--json"),
        run("memory", "export"),
        run("import", tmp_path / f"no{bidi}", code=2),
    ]
    assert [STEERS.findall(text) for text in shown] == [[]] * len(shown)
    assert "elif" in shown[4]
    assert json.loads(shown[5])["tasks"][0]["value"] == bidi  # escaped, not lost


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
