"""Inputs nested deeply, or with numbers of thousands of digits, are refused in words."""

import json
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.turn.schemas import SchemaError
from taskloom.memory.operations import Add, Split, apply
from taskloom.memory.operations import Part as SplitPart
from taskloom.memory.tasks import DEPTH, GraphError, TaskGraph

pytestmark = pytest.mark.attack

DIGITS = "9" * 10_000
LISTS = "[" * 100_000 + "]" * 100_000
OBJECTS = '{"a":' * 5_000 + "1" + "}" * 5_000
ALLOWED = '{"anyOf": [' * 5_000 + '{"enum": ["a"]}' + "]}" * 5_000
Run = Callable[..., str]


def chain(deep: int, edge: str = "parent") -> str:
    """An export of tasks, each in the one before, or resting on it."""
    tasks: list[dict[str, Any]] = [{"id": "t1", "slot": "s1", "title": "step 1"}]
    for number in range(2, deep + 1):
        above = f"t{number - 1}"
        given: Any = above if edge == "parent" else [above]
        tasks.append({"id": f"t{number}", "slot": f"s{number}", "title": f"step {number}", edge: given})
    return json.dumps({"tasks": tasks})


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command of the terminal; what it says, all of it in words."""
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "home"))

    def call(*args: str | Path, code: int) -> str:
        done = CliRunner().invoke(app, [str(one) for one in args])
        trace = "".join(traceback.format_exception(done.exception)) if done.exception else ""
        assert done.exit_code == code, done.output + trace
        assert "please report" not in done.output
        return done.output

    return call


@pytest.mark.parametrize("deep", [DEPTH + 1, 450, 5_000])
def test_an_import_that_is_too_deep_is_refused(deep: int, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(chain(deep))
    said = " ".join(run("import", file, "--thread", "x", code=2).split())
    assert "tasks within tasks are more than 100 deep" in said


@pytest.mark.parametrize(("deep", "edge"), [(DEPTH, "parent"), (400, "depends_on")])
def test_one_that_is_taken_can_be_talked_of(deep: int, edge: str, run: Run, tmp_path: Path) -> None:
    """A prerequisite is no nesting: its chains may be long."""
    file, script = tmp_path / "in.json", tmp_path / "script.json"
    file.write_text(chain(deep, edge))
    script.write_text('["Summarize the plan", "What is left?"]')
    run("import", file, "--thread", "x", code=0)
    run("run", script, "--thread", "x", code=0)
    for form in ("mermaid", "json"):
        assert f"step {deep}" in " ".join(run("tasks", "--thread", "x", "--format", form, code=0).split())
    run("export", "--thread", "x", tmp_path / "out.json", code=0)


def test_no_operation_makes_what_an_import_would_refuse() -> None:
    graph = TaskGraph.from_json(chain(DEPTH - 1))
    last = f"t{DEPTH - 1}"
    deepest = apply(graph, Add(slot="a", title="a", parent=last), turn=2).graph
    assert TaskGraph.from_json(deepest.to_json()) == deepest
    for refused in (
        apply(deepest, Add(slot="b", title="b", parent=f"t{DEPTH}"), turn=3),
        apply(graph, Split(task=last, parts=(SplitPart(title="a", values=(("c", "1"),)),) * 2), turn=3),
    ):
        assert refused.refused == f"tasks within tasks can be {DEPTH} deep, and no deeper"


TEXTS = {
    "lists": LISTS, "objects": OBJECTS, "digits": DIGITS,
    "lists within": f'{{"tasks": {LISTS}, "turns": {LISTS}}}',
    "digits within": f'{{"tasks": [{DIGITS}], "turns": [{DIGITS}], "properties": {{"a": {DIGITS}}}}}',
    "schema": f'{{"title": "trip", "properties": {{"a": {ALLOWED}}}}}',
    "enum": f'{{"title": "trip", "properties": {{"a": {{"enum": [{DIGITS}]}}}}}}',
    "turn": f'{{"tasks": [{{"id": "t1", "slot": "a", "title": "b", "turn": {DIGITS}}}]}}',
    "float": '{"tasks": [{"id": "t1", "slot": "a", "title": "b", "turn": 1e400}]}',
    "surrogate": '["\\ud800"]', "nothing": "", "null": "null", "not UTF-8": "\udcff",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS.values(), ids=[*TEXTS])
def test_every_file_that_is_read_is_taken_or_refused_in_words(
    text: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, script = tmp_path / "in.json", tmp_path / "script.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    script.write_text('["Plan a trip"]')
    run("import", file, "--thread", "x", code=2)
    if text:
        run("memory", "import", file, code=2)
    run("run", file, code=0 if "ud800" in text else 2)
    shown = run("run", script, "--schemas", file, code=1)
    assert "in.json: " in " ".join(shown.split())
    monkeypatch.setenv("TASKLOOM_TOOLS", str(file))
    run("tools", "list", code=0 if text in ("", "null") else 1)


KEYS = (
    "title", "name", "properties", "required", "enum", "anyOf", "$ref", "slots", "intents", "service_name",
    "type", "a", "possible_values", "description",
)  # fmt: skip
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(KEYS), inner, max_size=4
    ),
    max_leaves=12,
)  # fmt: skip


@given(plain)
def test_whatever_is_given_as_a_schema_is_one_or_a_fault_in_words(source: Any) -> None:
    with suppress(SchemaError):
        load_schemas(source)


def test_an_import_without_end_is_a_graph_error() -> None:
    with pytest.raises(GraphError, match="recursion"):
        TaskGraph.from_json(LISTS)
