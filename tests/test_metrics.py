"""/metrics for Prometheus: what is counted, for whom, and that no label tells a user, a thread or a word."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.locks import ThreadBusyError, exclusive
from taskloom.agent.settings import Settings
from taskloom.agent.telemetry import page, spans
from taskloom.agent.telemetry.metrics import MOST_NAMES, Metrics
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from tests.openai_server import Fault, OpenAIServer, Say
from tests.scripted import services
from tests.test_mcp_server import KEY, Web
from tests.test_tracing import CANARY, deep  # noqa: F401  # a fixture


class Figures(dict[tuple[str, frozenset[str]], float]):
    """Values of samples, by name and the values of labels."""

    def __call__(self, name: str, *labels: str) -> float:
        return self[f"taskloom_{name}", frozenset(labels)]

    def labels(self, name: str) -> set[str]:
        """All values of labels of a name."""
        return {label for found, labels in self if found == f"taskloom_{name}" for label in labels}


def figures(text: str | bytes) -> Figures:
    """What a page tells of Taskloom."""
    told = text.decode() if isinstance(text, bytes) else text
    return Figures(
        ((sample.name, frozenset(sample.labels.values())), sample.value)
        for family in text_string_to_metric_families(told)
        for sample in family.samples
        if sample.name.startswith("taskloom_") and not sample.name.endswith(("_bucket", "_created"))
    )


@pytest.fixture
def counted() -> Iterator[Metrics]:
    made = Metrics(lambda: 3)
    spans.watch(made)
    yield made
    spans.unwatch(Metrics)


def test_what_is_done_is_counted(counted: Metrics, subtests: pytest.Subtests) -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver(), patience=0)

    def say(text: str, thread: str = "a", context: Context | None = None) -> None:
        config: Any = {"configurable": {"thread_id": thread}}
        graph.invoke({"messages": [HumanMessage(text)]}, config, context=context)

    say(f"task {CANARY}; put t1 place Rome; ask t2")
    say("set t9 Oslo")
    say("drop t1", context=Context(approve=True))
    say("crash", "b")
    with exclusive(graph.checkpointer, "c", "", 0), pytest.raises(ThreadBusyError):  # type: ignore[arg-type]
        say("task trip", "c")
    found = figures(counted.page())
    for name, labels, value in (
        ("turns_total", ("done",), 3), ("turns_total", ("interrupted",), 1), ("turns_total", ("failed",), 1),
        ("turn_seconds_count", (), 5), ("operations_total", ("add", "done"), 2),
        ("operations_total", ("check", "done"), 1), ("operations_total", ("update", "refused"), 1),
        ("lock_wait_seconds_count", ("done",), 4), ("lock_wait_seconds_count", ("failed",), 1),
        ("node_seconds_count", ("decompose",), 4), ("memory_waiting", (), 3),
    ):  # fmt: skip
        with subtests.test(f"{name} {labels}"):
            assert found(name, *labels) == value


def test_models_and_tools_are_counted(counted: Metrics, deep: tuple[Taskloom, OpenAIServer]) -> None:  # noqa: F811
    app, server = deep
    turn = app.talk(f"Plan a trip. The destination is {CANARY}.", context=Context(user_id="ann"))
    found = figures(counted.page())
    assert found("model_calls_total", "small", "done") == turn.model_calls == len(server.requests)
    assert found("model_tokens_total", "small", "input") == turn.prompt_tokens
    assert found("model_tokens_total", "small", "output") == turn.completion_tokens
    assert found("tool_runs_total", "clerk", "done") == 1
    assert found("tool_runs_total", "poem", "done") == 1
    assert found("turns_total", "done") == 2  # the inner agent's too
    for word in (CANARY, "ann", "main", "trip"):
        assert word.encode() not in counted.page()


def test_errors_of_models_are_counted_by_their_class(counted: Metrics, tmp_path: Path) -> None:
    with OpenAIServer([Say(None, finish="length"), Fault(429, CANARY), Fault(401)]) as server:
        given = Settings(
            home=tmp_path, model="small", openai_base_url=server.url, memory=False, reader="model"
        )
        with Taskloom.open(given) as app:
            app.talk("Plan a trip to Rome")
    found = figures(counted.page())
    errors = found.labels("model_errors_total") - {"small"}
    assert errors == {"Unusable", "Unreachable", "Misconfigured"}
    assert sum(found("model_errors_total", "small", error) for error in errors) == len(server.requests)
    assert found("model_calls_total", "small", "failed") == len(server.requests)
    assert CANARY.encode() not in counted.page()


def test_labels_have_an_end_of_values(counted: Metrics) -> None:
    for number in range(3 * MOST_NAMES["model"]):
        with spans.span("model", f"model-{number}"):
            pass
    with spans.span("model", "x" * 5_000):
        pass
    found = figures(counted.page()).labels("model_calls_total") - {"done"}
    assert len(found) == MOST_NAMES["model"] + 1
    assert "other" in found


# ---- who may see the page -------------------------------------------------------------------------


def asked(
    app: Any, path: str = "/metrics", client: str = "127.0.0.1", method: str = "GET", **more: str
) -> Any:
    """The answer of an application to a request from an address; more: headers."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:2024") as http:
            return await http.request(method, path, headers=more)

    return asyncio.run(answer())


async def beneath(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": b"beneath"})


@pytest.mark.parametrize(
    ("key", "more", "status"),
    [
        (None, {}, 200),
        (None, {"Host": "[::1]:80"}, 200),
        (None, {"Host": "evil.example.org"}, 401),
        (None, {"Host": ""}, 401),
        (None, {"client": "203.0.113.9"}, 401),
        (None, {"client": "testclient"}, 401),
        (KEY, {}, 401),
        (KEY, {"Authorization": f"Bearer {KEY[:-1]}"}, 401),
        (KEY, {"Authorization": KEY}, 401),
        (KEY, {"Authorization": f"Basic {KEY}"}, 401),
        (KEY, {"Authorization": f"bearer {KEY}", "client": "203.0.113.9", "Host": "x.example.org"}, 200),
        (None, {"method": "POST"}, 405),
        (None, {"path": "/metrics?format=json"}, 299),
        (None, {"path": "/ok", "client": "203.0.113.9"}, 299),
        (KEY, {"path": "/metrics?format=json"}, 401),
    ],
)
def test_who_may_see_it(key: str | None, more: dict[str, str], status: int) -> None:
    admits = page.by_key(SecretStr(key) if key else None)
    app = page.MetricsPage(beneath, admits=admits, page=lambda: (b"taskloom_turns_total 1", "text/plain"))
    answer = asked(app, **more)
    assert answer.status_code == status
    assert ("taskloom" in answer.text) == (status == 200)


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "taskloom.agent.telemetry.metrics", None)
    app = page.MetricsPage(beneath, admits=page.by_key(None), page=page.counted_page(lambda: None))
    answer = asked(app)
    assert (answer.status_code, "pip install 'taskloom[server]'" in answer.text) == (501, True)
    assert not spans.watched()


def test_mcp_over_http_has_the_page(tmp_path: Path) -> None:
    key = "another key of mine"

    async def scenario(web: Web) -> None:
        async with web.client(KEY) as session:
            await session.call_tool("say", {"text": f"Plan a trip to {CANARY}"})
            await session.call_tool("add_task", {"title": CANARY})
            await session.call_tool(CANARY, {})

    more = ("--host", "0.0.0.0", "--thread", CANARY, "--user", CANARY)  # noqa: S104
    with Web(tmp_path, *more, TASKLOOM_MCP_KEY=KEY, TASKLOOM_METRICS_KEY=key) as web:
        asyncio.run(scenario(web))
        where = web.url.replace("/mcp", "/metrics")
        with httpx.Client(timeout=240) as http:
            assert http.get(where).status_code == 401
            assert http.get(where, headers={"Authorization": f"Bearer {KEY}"}).status_code == 401
            told = http.get(where, headers={"Authorization": f"Bearer {key}"})
    found = figures(told.text)
    assert found("mcp_calls_total", "say", "done") == 1
    assert found("mcp_calls_total", "add_task", "done") == 1
    assert found("mcp_calls_total", "unknown", "refused") == 1
    assert found("turns_total", "done") == 1
    assert found("memory_waiting") >= 0
    assert CANARY not in told.text
    assert re.search(r"^process_resident_memory_bytes ", told.text, re.MULTILINE)
