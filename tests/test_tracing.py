"""Spans of OpenTelemetry, as a collector on this machine gets them; none where nobody asks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from opentelemetry import trace
from pydantic import SecretStr

from taskloom.agent.act import Equipment
from taskloom.agent.cli.doctor import findings
from taskloom.agent.graph.build import NODES, build_graph
from taskloom.agent.graph.locks import ThreadBusyError, exclusive
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.models.chooser import ModelChooser
from taskloom.agent.models.openai import chat_client, chat_model
from taskloom.agent.models.responder import ModelResponder
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.telemetry import configured, spans, tracing
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.state import Context
from taskloom.agent.turn.steps import Detail, Step
from taskloom.tools.functions import llm_function
from taskloom.tools.registry import Registry, equip
from tests.collector import Collector, Seen
from tests.openai_server import Fault, OpenAIServer, Reply, Say
from tests.scripted import services
from tests.test_mcp_server import Web

CANARY = "Zanzibar"  # what no span may have
SAID = f"Plan a trip. The destination is {CANARY}."
Got = Callable[[], list[Seen]]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as opened:
        yield opened


@pytest.fixture
def got(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Got]:
    """What the collector has by now; spans are made as the standard variables say."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    yield from _traced(collector, Settings())


@pytest.fixture
def told(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Got]:
    """The same with texts."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/v1/traces")
    monkeypatch.setenv("TASKLOOM_TRACING_TEXT", "true")
    yield from _traced(collector, Settings())


def _traced(collector: Collector, given: Settings) -> Iterator[Got]:
    tracing._own.cache_clear()
    configured.watch_as_configured(given)
    configured.watch_as_configured(given)
    assert len(spans._observers) == 1

    def found() -> list[Seen]:
        tracing._own().force_flush()
        return collector.spans

    yield found
    spans.unwatch(tracing.Tracing)
    tracing._own().shutdown()
    tracing._own.cache_clear()


class Planning:
    """An interpreter that reads every utterance as a trip to a place of that name."""

    def read(self, utterance: str, view: View) -> Reading:
        details = (Detail(slot="destination", value=utterance),)
        return Reading((Step(text=utterance, act="task", target="trip", title="trip", details=details),))


def scripted(body: dict[str, Any]) -> Reply:
    """A model for all who ask: a template's answer, a choice of no tool, a reply."""
    system = str(body["messages"][0]["content"])
    if "Write about" in system:
        return Say(f'{{"text": "{CANARY}, sweet {CANARY}"}}')
    if body.get("stream"):
        return Say(f"{CANARY} is written.")
    return Say(f'{{"observation": "{CANARY}", "thoughts": "", "subtask": "", "tool": "none", "task": 0}}')


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[tuple[Taskloom, OpenAIServer]]:
    """A Taskloom with an inner one as its tool, which has a tool that a model carries out."""
    with OpenAIServer(scripted) as server:
        given = Settings(
            home=tmp_path, model="small", openai_base_url=server.url, openai_api_key=SecretStr("any"),
            model_timeout=5,
        )  # fmt: skip
        chat, template = chat_model(given), TemplateResponder()
        poem = llm_function(
            "poem", "Write.", "Write about <destination>.", {"text": "str"}, chat_client(given)
        )
        inner = Services(
            lambda _: Voice(Planning(), ModelResponder(chat), ModelChooser(chat)), template, "model",
            tools=Equipment(registry=Registry([equip(poem, needs=("destination",), gives="poem")])),
        )  # fmt: skip
        clerk = equip(
            build_graph(inner, name="clerk"), name="clerk", description="Writes.",
            needs={"task": "destination"}, gives="poem",
        )  # fmt: skip
        outer = Services(
            lambda _: Voice(local_reader(), template), template,
            tools=Equipment(registry=Registry([clerk])), memory=default_services(given).memory,
        )  # fmt: skip
        with Taskloom(Threads(given.home), outer) as app:
            yield app, server


def path(seen: Seen, among: list[Seen]) -> list[str]:
    """The names of a span and of all that it is part of, the outermost first."""
    by_id = {one.id: one for one in among}
    names = [seen.name]
    while seen.parent in by_id:
        seen = by_id[seen.parent]
        names.insert(0, seen.name)
    return names


def test_a_turn_is_a_tree_of_spans_without_a_word_of_the_users(
    got: Got, collector: Collector, deep: tuple[Taskloom, OpenAIServer]
) -> None:
    app, server = deep
    context = Context(user_id="ann")
    turn = app.talk(SAID, thread="my secret trip", context=context)
    app.talk(f"What do you know about {CANARY}?", thread="other", context=context)
    assert [run.status for run in turn.tool_runs] == ["done"]
    made = got()
    first, second = [one for one in made if one.name == "invoke_agent taskloom"]
    assert first.service == "taskloom"
    assert first.parent == ""
    assert first.trace != second.trace
    mine = [one for one in made if one.trace == first.trace]
    assert {f"taskloom.{node.__name__}" for node in NODES} <= {
        one.name for one in mine if one.parent == first.id
    }
    assert [path(one, mine) for one in mine if one.name == "taskloom.lock.wait"] == [
        ["invoke_agent taskloom", "taskloom.lock.wait"]
    ]
    # the inner agent and all it asks are within the call of it
    begins = ["invoke_agent taskloom", "taskloom.act", "execute_tool clerk", "invoke_agent clerk"]
    chats = [one for one in mine if one.name == "chat small"]
    assert len(chats) == len(server.requests) == turn.model_calls > 2
    assert all(path(one, mine)[:4] == begins for one in chats)
    assert [*begins, "taskloom.act", "execute_tool poem", "chat small"] in [path(one, mine) for one in chats]
    for name, tokens in (("input", turn.prompt_tokens), ("output", turn.completion_tokens)):
        key = f"gen_ai.usage.{name}_tokens"
        assert sum(one.attributes[key] for one in chats) == first.attributes[key] == tokens
    assert {(one.kind, one.attributes["gen_ai.operation.name"]) for one in chats} == {(3, "chat")}
    operations = {key: n for key, n in first.attributes.items() if key.startswith("taskloom.operations.")}
    assert sum(operations.values()) == len(turn.changes)
    assert first.attributes["taskloom.tool_runs.done"] == 1
    assert first.attributes["taskloom.turn"] == 1
    tool = next(one for one in mine if one.name == "execute_tool clerk")
    assert tool.attributes["gen_ai.tool.name"] == "clerk"
    assert tool.attributes["taskloom.status"] == "done"
    searches = [one for one in made if one.trace == second.trace and one.name == "taskloom.memory.search"]
    assert {one.attributes["taskloom.found"] for one in searches if "taskloom.found" in one.attributes}
    sent = collector.everything()
    for secret in (CANARY, "my secret trip", "ann", "destination"):
        assert secret.encode() not in sent, secret


def test_texts_are_there_where_a_setting_says_so(told: Got, deep: tuple[Taskloom, OpenAIServer]) -> None:
    app, server = deep
    app.talk(SAID)
    made = told()
    whole = next(one for one in made if one.name == "invoke_agent taskloom")
    assert whole.attributes["taskloom.said"] == SAID
    assert CANARY in whole.attributes["taskloom.reply"]
    tool = next(one for one in made if one.name == "execute_tool clerk")
    assert CANARY in tool.attributes["gen_ai.tool.call.arguments"]
    assert tool.attributes["gen_ai.tool.call.result"]
    server.play([Fault(400, f"no {CANARY}")])
    with pytest.raises(LookupError), spans.span("tool", "x"):
        raise LookupError(CANARY)
    assert told()[-1].events == ("exception",)


def test_what_goes_wrong_is_told_by_its_kind_alone(
    got: Got, collector: Collector, subtests: pytest.Subtests
) -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver(), patience=0)

    def config(thread: str) -> Any:
        return {"configurable": {"thread_id": thread}}

    def say(text: str, thread: str, **more: Any) -> Any:
        return graph.invoke({"messages": [HumanMessage(text)]}, config(thread), **more)

    def new(count: int = 0) -> list[Seen]:
        return got()[count:]

    with subtests.test("a node that fails"):
        say(f"crash {CANARY}", "a")
        node, whole = (next(one for one in new() if one.name == name)
                       for name in ("taskloom.decompose", "invoke_agent taskloom"))  # fmt: skip
        assert (node.failed, node.attributes["error.type"], node.events) == (True, "RuntimeError", ())
        assert not whole.failed  # it was answered
        assert whole.attributes["taskloom.failed_nodes"] == 1
    with subtests.test("an approval is no error"):
        say("task trip; put t1 place Rome", "b")
        before = len(got())
        say("drop t1", "b", context=Context(approve=True))
        whole, node = new(before)[-1], new(before)[-2]
        assert (whole.failed, whole.attributes["taskloom.outcome"]) == (False, "interrupted")
        assert (node.name, node.failed) == ("taskloom.update_graph", False)
        before = len(got())
        graph.invoke(Command(resume={"approve": True}), config("b"), context=Context(approve=True))
        assert "taskloom.outcome" not in new(before)[-1].attributes
        assert new(before)[-1].attributes["taskloom.operations.remove"] == 1
    with subtests.test("a thread in use"):
        before = len(got())
        with exclusive(graph.checkpointer, "c", "", 0), pytest.raises(ThreadBusyError):  # type: ignore[arg-type]
            say("task trip", "c")
        lock, whole = new(before)
        assert lock.name == "taskloom.lock.wait"
        assert {one.attributes["error.type"] for one in (lock, whole)} == {"ThreadBusyError"}
        assert lock.failed
        assert whole.failed
    with subtests.test("a stream that nobody reads on"):
        before = len(got())
        stream = graph.stream({"messages": [HumanMessage("task trip")]}, config("d"), stream_mode="values")
        next(stream)
        assert spans.current() is None  # what the reader does meanwhile is no part of the turn
        stream.close()  # type: ignore[attr-defined]
        assert new(before)[-1].attributes["taskloom.outcome"] == "cancelled"
        assert not new(before)[-1].failed
    assert CANARY.encode() not in collector.everything()


def test_a_model_that_fails_is_told(got: Got, collector: Collector, tmp_path: Path) -> None:
    with OpenAIServer([Fault(400, f"not {CANARY}")]) as server:
        given = Settings(
            home=tmp_path, model="small", openai_base_url=server.url, memory=False, reader="model"
        )
        with Taskloom.open(given) as app:
            app.talk(SAID)
        chats = [one for one in got() if one.name == "chat small"]
    assert len(chats) == len(server.requests) > 0
    assert all(one.failed and one.attributes["error.type"] == "Rejected" for one in chats)
    assert CANARY.encode() not in collector.everything()


def test_the_span_of_a_host_is_the_parent(got: Got, subtests: pytest.Subtests) -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver())
    tracer = tracing.provider_of().get_tracer("host")

    def config(thread: str) -> Any:
        return {"configurable": {"thread_id": thread}}

    said: Any = {"messages": [HumanMessage("task trip")]}

    seen: list[int] = []

    def host(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {"messages": graph.invoke(said, config("d"))["messages"]}

    def run(how: Callable[[], Any], turns: int) -> None:
        before = len(got())
        how()
        made = got()[before:]
        (outer,) = [one for one in made if one.name == "host"]
        whole = [one for one in made if one.name == "invoke_agent taskloom"]
        assert [one.parent for one in whole] == [outer.id] * turns
        nodes = [one for one in made if one.name == "taskloom.respond"]
        assert {one.parent for one in nodes} == {one.id for one in whole}
        assert len(nodes) == turns
        assert {one.trace for one in made} == {outer.trace}

    with subtests.test("in one thread"), tracer.start_as_current_span("warm"):

        def plain() -> None:
            with tracer.start_as_current_span("host", context=trace.set_span_in_context(trace.INVALID_SPAN)):
                graph.invoke(said, config("a"))

        run(plain, 1)
    with subtests.test("on an event loop"):

        async def watched() -> None:
            with tracer.start_as_current_span("host") as current:
                seen.append(current.get_span_context().span_id)
                await asyncio.gather(*(graph.ainvoke(said, config(f"b{n}")) for n in range(2)))
                async for _ in graph.astream(said, config("c"), stream_mode="updates"):
                    assert trace.get_current_span().get_span_context().span_id == seen[-1]

        run(lambda: asyncio.run(watched()), 3)
    with subtests.test("in a node of the host's graph"):
        outer = StateGraph(MessagesState).add_node(host).add_edge(START, "host").compile()

        def node() -> None:
            with tracer.start_as_current_span("host"):
                outer.invoke({"messages": []})

        run(node, 1)


def test_a_call_over_the_protocol_is_part_of_the_clients_span(tmp_path: Path, collector: Collector) -> None:
    trace_id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

    async def scenario(web: Web) -> None:
        async with web.client() as session:
            meta = {"traceparent": f"00-{trace_id}-{parent}-01"}
            await session.call_tool("say", {"text": SAID}, meta=meta)
            await session.call_tool(CANARY, {}, meta={"traceparent": CANARY})

    with Web(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) as web:
        asyncio.run(scenario(web))
    made = collector.spans
    (call,) = [one for one in made if one.name == "tools/call say"]
    assert (call.trace, call.parent, call.kind) == (trace_id, parent, 2)
    (turn,) = [one for one in made if one.name == "invoke_agent taskloom"]
    assert (turn.trace, turn.parent) == (trace_id, call.id)
    (unknown,) = [one for one in made if one.name == "tools/call unknown"]
    assert unknown.parent == ""
    assert CANARY.encode() not in collector.everything()


# ---- who asks for spans ---------------------------------------------------------------------------

TALK = """
import sys
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.telemetry import spans
with Taskloom.open() as app:
    app.talk("Plan a trip to Rome")
print(spans.watched(), sorted(name for name in sys.modules if name.startswith(
    ("opentelemetry.exporter.otlp.proto.http", "taskloom.agent.telemetry.tracing", "prometheus_client"))))
"""


def python(code: str, tmp_path: Path, **more: str) -> str:
    """What code prints in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    given = {**kept, "TASKLOOM_HOME": str(tmp_path / "home"), "TASKLOOM_MEMORY": "false", **more}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=given, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_loaded_where_nobody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert python(TALK, tmp_path) == "False []\n"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert Settings().traced
    assert not Settings(tracing="off").traced
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert not Settings().traced
    assert Settings(tracing="on").traced


def test_a_process_sends_what_is_left_at_its_end(tmp_path: Path, collector: Collector) -> None:
    told = python(
        TALK, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SERVICE_NAME="desk",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
    )  # fmt: skip
    assert told.startswith("True")
    assert {one.service for one in collector.spans} == {"desk"}
    assert "invoke_agent taskloom" in {one.name for one in collector.spans}


@pytest.mark.slow
def test_a_collector_that_is_not_there_fails_no_turn(tmp_path: Path) -> None:
    assert python(TALK, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9").startswith("True")


def test_the_doctor_tells_where_spans_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> list[str]:
        return [one.text for one in islice(findings(Settings()), 6) if one.name == "spans"]

    assert told() == []
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ann:secret@127.0.0.1:4318")
    assert told() == ["are sent to http://127.0.0.1:4318, without a user's words"]
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto", None)
    assert "pip install 'taskloom[telemetry]'" in told()[0]


def test_libraries_that_are_not_there_are_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delitem(sys.modules, "taskloom.agent.telemetry.tracing")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ImportError, match=r"pip install 'taskloom\[telemetry\]'"):
        configured.watch_as_configured(Settings(tracing="on"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    configured.watch_as_configured(Settings())
    assert "no spans are sent: OpenTelemetry needs opentelemetry" in caplog.text
    assert not spans.watched()
