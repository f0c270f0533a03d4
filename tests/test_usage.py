"""What models cost in a thread, by model, and what `taskloom usage` makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.cli.prices import Prices
from taskloom.agent.graph.build import build_graph
from taskloom.agent.turn.reading import COSTS, UNKNOWN, Usage, added
from taskloom.agent.turn.state import Context
from tests.openai_server import OpenAIServer
from tests.scripted import services
from tests.test_tracing import deep  # noqa: F401  # a fixture

PRICES = "currency: USD\nmodels:\n  small: {input: 0.4, output: 1.6}\n"
COUNTS = st.integers(0, 10**12)
USAGES = st.builds(
    Usage.of, st.sampled_from(["small", "large", "Ω"]), st.integers(0, 9), COUNTS, COUNTS
)  # fmt: skip
Invoke = Callable[..., Result]


@pytest.fixture
def invoke(home: Path) -> Invoke:
    def run(*args: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, list(args))
        assert result.exit_code == code, result.output
        return result

    return run


@given(st.lists(USAGES))
def test_what_models_cost_adds_up_in_any_order(usages: list[Usage]) -> None:
    whole, back = sum(usages, Usage()), sum(reversed(usages), Usage())
    assert whole.models == back.models
    for name in COSTS:
        assert sum(costs[name] for costs in whole.models.values()) == getattr(whole, name)
    assert added({}, whole.models) == whole.models == added(whole.models, {})


def test_a_thread_knows_what_its_turns_cost_inner_agents_too(
    deep: tuple[Any, OpenAIServer],  # noqa: F811
    tmp_path: Path,
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, server = deep
    first = opened.talk("Plan a trip. The destination is Rome.", thread="trip")
    opened.talk("Where to?", thread="trip")
    opened.talk("Plan a trip. The destination is Oslo.", thread="other")
    one, all_of_it = first.model_calls, len(server.requests)
    assert first.models == {"small": {name: getattr(first, name) for name in COSTS}}
    assert 2 < one < all_of_it
    found = {info.thread: info for info in opened.threads()}
    assert found["trip"].spent["small"]["model_calls"] == one
    assert sum(info.spent["small"]["model_calls"] for info in found.values()) == all_of_it
    assert found["trip"].tokens == first.prompt_tokens + first.completion_tokens
    opened.close()
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path))

    told = json.loads(invoke("usage", "--thread", "trip", "--json").stdout)
    tokens = {"model_calls": one, "prompt_tokens": 100 * one, "completion_tokens": 10 * one}
    assert told == {
        "thread": "trip", "threads": 1, "currency": None, "models": {"small": {**tokens, "cost": None}},
        "total": {**tokens, "cost": None},
    }  # fmt: skip
    assert "cost" not in invoke("usage").stdout
    (tmp_path / "prices.yaml").write_text(PRICES)
    monkeypatch.setenv("TASKLOOM_PRICES", str(tmp_path / "prices.yaml"))
    told = json.loads(invoke("usage", "--json").stdout)
    assert told["currency"] == "USD"
    assert told["total"]["cost"] == round(all_of_it * (100 * 0.4 + 10 * 1.6) / 1e6, 6)
    assert f"small  {all_of_it:5}" in invoke("usage").stdout.replace("model  calls", "")
    assert "USD" in invoke("usage").stdout
    (tmp_path / "prices.yaml").write_text("models: {large: {input: 1, output: 2}}")
    assert "Without a price in" in invoke("usage").stdout
    assert json.loads(invoke("usage", "--json").stdout)["total"]["cost"] is None
    listed = {one["thread"]: one for one in json.loads(invoke("threads", "--json").stdout)}
    assert listed["trip"]["models"]["small"]["model_calls"] == one
    assert f"{listed['trip']['tokens']:,}" in invoke("threads").stdout


def test_what_a_turn_cost_that_was_given_up_counts() -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "a"}}

    def say(text: str, **more: Any) -> int:
        graph.invoke({"messages": [HumanMessage(text)]}, config, **more)
        spent: dict[str, dict[str, int]] = graph.get_state(config).values.get("spent", {})
        return spent[UNKNOWN]["prompt_tokens"]  # the scripted interpreter names no model

    assert say("task trip; put t1 place Rome") == 10
    assert say("drop t1", context=Context(approve=True)) == 10  # it waits, and is not over
    assert say("task cart") == 30
    assert say("crash") == 30


def test_nothing_spent_is_told_so(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("usage").stdout == "No model was asked yet.\n"
    assert json.loads(invoke("usage", "--json").stdout)["total"] == {**dict.fromkeys(COSTS, 0), "cost": None}
    assert (
        "there is no thread 'trip': `taskloom threads`" in invoke("usage", "--thread", "trip", code=2).stderr
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file: input should be"),
        ("[1]", "the file: input should be"),
        ("models: {a: {input: 1}}", "models.a.output: field required"),
        ("models: {a: {input: -1, output: 1}}", "models.a.input: input should be greater than or equal to 0"),
        ("models: {a: {input: .nan, output: 1}}", "models.a.input: "),
        ("models: {a: {input: .inf, output: 1}}", "models.a.input: "),
        ("models: {a: {input: cheap, output: 1}}", "models.a.input: "),
        ("model: {}", "model: extra inputs are not permitted"),
        ("models: {a: 1}", "models.a: "),
        ("models: {a: {input: 1, output: 1}, a: {input: 2, output: 2}}", "is not valid YAML: "),
        ("{", "is not valid YAML: "),
        ("\x00", "is not valid YAML: "),
        ("[" * 5_000, "is not valid YAML: "),
        ("#" * 1_000_001, "too large"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_of_prices_that_is_wrong_is_told(
    text: str | None, told: str, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prices.yaml"
    monkeypatch.setenv("TASKLOOM_PRICES", str(path))
    if text is not None:
        path.write_text(text)
    said = invoke("usage", code=2).stderr
    assert told in said
    assert str(path) in said
    assert said.count("\n") == 1


def test_prices_of_the_readme_can_be_read(tmp_path: Path) -> None:
    from tests.test_docs import block

    (tmp_path / "prices.yaml").write_text(block("prices"))
    prices = Prices.load(tmp_path / "prices.yaml")
    assert prices.cost("gpt-4.1-mini", 1_000_000, 1_000_000) == 2
    assert prices.cost("another", 1, 1) is None
