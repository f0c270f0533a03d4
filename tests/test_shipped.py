"""The tools that ship, the memory bank and the schemas of a configuration, as the product loads them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from taskloom.agent.graph.services import Voice
from taskloom.agent.graph.wiring import default_services, equipment_of, loaded_tools
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.choice import Check, Choice, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.agent.turn.schemas import SchemaError
from taskloom.tools.calls import call
from taskloom.tools.errors import ToolDefinitionError
from taskloom.tools.limits import WAYS
from taskloom.tools.loading import load_agent
from taskloom.tools.sandbox import missing
from taskloom.tools.shared import Shared
from tests.web_server import Answer, WebServer


def settings(folder: Path, text: str) -> Settings:
    path = folder / "agent.yaml"
    path.write_text(text, encoding="utf-8")
    return Settings(home=folder / "home", tools=path, memory=False)


def tried(given: Settings, name: str, **args: Any) -> str:
    loaded = loaded_tools(given)
    try:
        result = call(loaded.registry[name], args, shared=Shared())
        assert result.status == "done", result.text
        return result.text
    finally:
        loaded.close()


@pytest.mark.skipif(all(missing(way) for way in WAYS), reason="no sandbox works on this machine")
def test_python_with_limits_of_its_own(tmp_path: Path) -> None:
    given = settings(tmp_path, "tools: [{use: taskloom.python, options: {wall: 5}}]")
    assert json.loads(tried(given, "python", code="result = 6 * 7"))["value"] == 42
    with pytest.raises(ToolDefinitionError, match="wall"):
        loaded_tools(settings(tmp_path, "tools: [{use: taskloom.python, options: {wall: -1}}]"))


def test_a_way_on_a_grid(tmp_path: Path) -> None:
    given = settings(
        tmp_path, "tools: [{use: taskloom.planner, options: {rows: 2, columns: 2, known: [[0, 1]]}}]"
    )
    assert json.loads(tried(given, "plan_path", position=[0, 0], goal=[1, 1]))["moves"] == [
        "down 1",
        "right 1",
    ]


def test_a_page_only_where_the_options_allow_it(tmp_path: Path) -> None:
    page = Answer(b"opening hours 10 to 18", content_type="text/plain")
    with WebServer({"/": page}) as server:
        url = f"{server.url}/"
        allowed = settings(tmp_path, "tools: [{use: taskloom.fetch, options: {allow_private: true}}]")
        assert "opening hours 10 to 18" in tried(allowed, "web_fetch", url=url)
        loaded = loaded_tools(settings(tmp_path, "tools: [{use: taskloom.fetch}]"))
        refused = call(loaded.registry["web_fetch"], {"url": url}, shared=Shared())
    assert refused.status == "failed"


def test_any_search_in_one_form(tmp_path: Path) -> None:
    (tmp_path / "my_search_tool.py").write_text(
        "from langchain_core.tools import tool\n"
        "@tool\n"
        "def find(query: str) -> list[dict[str, str]]:\n"
        "    'Search.'\n"
        "    return [{'title': query.title(), 'url': 'https://example.org/', 'snippet': 'so it is'}]\n"
    )
    text = "tools: [{use: taskloom.search, options: {use: 'my_search_tool:find'}}]"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        assert "so it is" in tried(settings(tmp_path, text), "web_search", query="sky")
        with pytest.raises(ToolDefinitionError, match="no search tool"):
            loaded_tools(settings(tmp_path, text.replace(":find", ":lost")))


BANK = """
bank:
  rules:
    files: [rules.md]
    texts: ["Lunch costs 5 euros."]
    top_k: 1
    ask: true
"""


def test_questions_are_answered_from_the_bank_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("# Hours\n\nThe office is closed on Sundays.\n")
    given = settings(tmp_path, BANK)
    assert "The office is closed on Sundays." in tried(
        given, "ask_rules", question="When is the office closed?"
    )
    assert tried(given, "ask_rules", question="Who founded the company?").startswith("Not supported")
    (tmp_path / "rules.md").unlink()
    with pytest.raises(ToolDefinitionError, match=r"bank: .*rules\.md"):
        loaded_tools(given)


def test_what_the_bank_has_joins_the_prompt_that_chooses_tools(tmp_path: Path) -> None:
    seen: list[Situation] = []

    class Asks:
        def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
            seen.append(situation)
            return None, Usage()

        def parameters(self, situation: Situation, choice: Choice, schema: Any, check: Check) -> Any:
            raise AssertionError("nothing was chosen")

    (tmp_path / "rules.md").write_text("The office is closed on Sundays.\n")
    given = settings(tmp_path, BANK)
    voice = Voice(local_reader(), TemplateResponder(), Asks())
    services = replace(default_services(given), voice=lambda _: voice)
    with Taskloom.open(given, services=services) as app:
        app.talk("Plan a lunch for the team.")
    assert "Lunch costs 5 euros." in seen[0].passages
    assert "Sundays" not in seen[0].passages  # one hit of each collection is wanted


def test_the_schemas_of_the_file_hold_where_a_run_brings_none(tmp_path: Path) -> None:
    kind: dict[str, Any] = {"title": "haircut", "type": "object", "required": ["stylist"]}
    kind["properties"] = {"stylist": {"type": "string"}}
    (tmp_path / "kinds.json").write_text(json.dumps(kind))
    given = settings(tmp_path, "schemas: kinds.json")
    with Taskloom.open(given) as app:
        turn = app.talk("Book a haircut.")
    assert turn.question is not None
    assert "stylist" in turn.question.question
    (tmp_path / "kinds.json").write_text("[1]")
    with pytest.raises(SchemaError, match=r"kinds\.json"):
        equipment_of(given)


@pytest.mark.skipif(all(missing(way) for way in WAYS), reason="no sandbox works on this machine")
def test_programs_are_written_run_and_corrected(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text("tools: [{use: taskloom.program}]")
    wrong, right = "```python\nresult = 1 / 0\n```", "```python\nresult = sum(range(5))\n```"
    loaded = load_agent(path, model=lambda: FakeListChatModel(responses=[wrong, right]))
    done = call(loaded.registry["compute"], {"request": "add up 0 to 4"}, shared=Shared())
    assert (done.status, done.text) == ("done", "10")
    loaded = load_agent(path, model=lambda: FakeListChatModel(responses=[wrong]))
    failed = call(loaded.registry["compute"], {"request": "divide"}, shared=Shared())
    assert failed.status == "failed"
    assert "3 attempts" in failed.text
    assert "ZeroDivisionError" in failed.text
    with pytest.raises(ToolDefinitionError, match="TASKLOOM_MODEL"):
        load_agent(path)
