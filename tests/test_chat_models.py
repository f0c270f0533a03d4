"""The contract of a chat model, held by every kind: OpenAI-compatible, and any of LangChain's.

Of LangChain's there is a second provider's class that talks its own protocol to a local server, OpenAI's as
an application brings it, and a fake without HTTP that can do nothing but answer. All take the same scripts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph
from pydantic import ConfigDict, SecretStr
from typing_extensions import TypedDict

from taskloom.agent.graph.wiring import default_services
from taskloom.agent.models import prompts
from taskloom.agent.models.chat import (
    ChatModel,
    Meter,
    Misconfigured,
    ModelFault,
    ModelSettings,
    Rejected,
    Unreachable,
    Unusable,
)
from taskloom.agent.models.langchain import LangChainModel, name_of
from taskloom.agent.models.openai import OpenAIModel
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Usage
from tests.anthropic_server import AnthropicServer
from tests.openai_server import Cut, Fault, Hang, OpenAIServer, Reply, Say, Script, pieces_of

CANARY = "sk-canary-0123456789abcdef"
SCHEMA = {
    "type": "object",
    "required": ["city"],
    "properties": {"city": {"type": "string"}},
    "additionalProperties": False,
}
ROME = '{"city": "Rome"}'
SAID = "It is Rome, as you said."
NOWHERE = "http://127.0.0.1:9"


# ---- the kinds ------------------------------------------------------------------------------------


class Refused(Exception):
    """How the fake's client tells a status; no class that anybody knows."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
        self.response = SimpleNamespace(status_code=fault.status, headers=headers)


class Fake(BaseChatModel):
    """Answers by a script, in the process; it knows neither schemas nor tools, and nothing asynchronous."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    server: OpenAIServer | None  # keeps the script and the requests; nothing is sent

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _said(self, messages: list[BaseMessage], stream: bool) -> tuple[Say, float, float]:
        """What is due, how much of it comes, and the seconds between two pieces."""
        if self.server is None:
            raise ConnectionRefusedError(CANARY)
        roles = {"system": "system", "human": "user", "ai": "assistant"}
        sent = [{"role": roles[one.type], "content": one.text} for one in messages]
        reply = self.server.take({"messages": sent, "stream": stream}, {})
        match reply:
            case Fault():
                raise Refused(reply)
            case Hang(seconds, later, between):
                self.server.stopped.wait(seconds)
                return later, 1, seconds if between else 0
            case Cut(said, keep):
                return said, keep, 0
        assert isinstance(reply, Say)
        return reply, 1, 0

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply, keep, _ = self._said(messages, stream=False)
        if keep < 1:
            raise ConnectionResetError(CANARY)
        message = AIMessage(
            reply.content or "",
            usage_metadata=_usage(reply),
            response_metadata={"finish_reason": reply.finish},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply, keep, pause = self._said(messages, stream=True)
        pieces = pieces_of(reply)
        for piece in pieces[: max(1, round(len(pieces) * keep))]:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
            time.sleep(pause)
        if keep < 1:
            raise ConnectionResetError(CANARY)
        end = {"finish_reason": reply.finish}
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=_usage(reply), response_metadata=end)
        )


def _usage(reply: Say) -> UsageMetadata:
    given, made = reply.prompt_tokens, reply.completion_tokens
    return UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)


@dataclass(frozen=True)
class Kind:
    """A kind of chat model: how it is made for a server, or for nobody's address; key: what it is told by."""

    server: type[OpenAIServer]
    make: Callable[[OpenAIServer | None, ModelSettings], ChatModel]
    names: tuple[str, str, str] = ("its key", "its name", "its base_url")
    formed: Callable[[dict[str, Any]], object] = lambda body: None  # what of a request holds it to a schema


def openai(server: OpenAIServer | None, given: ModelSettings) -> ChatModel:
    return OpenAIModel(replace(given, api_key=SecretStr(CANARY), base_url=server.url if server else NOWHERE))


def options(server: OpenAIServer | None, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "api_key": CANARY,
        "base_url": server.url if server else NOWHERE,
        "max_retries": 0,
    }


def anthropic_client(server: OpenAIServer | None) -> BaseChatModel:
    return ChatAnthropic(**options(server, "claude-test"))


def anthropic(server: OpenAIServer | None, given: ModelSettings) -> ChatModel:
    return LangChainModel(anthropic_client(server), given)


def brought_openai(server: OpenAIServer | None, given: ModelSettings) -> ChatModel:
    given_so = {"stream_usage": True, "http_socket_options": (), **options(server, "brought")}
    return LangChainModel(ChatOpenAI(**given_so), given)


def fake(server: OpenAIServer | None, given: ModelSettings) -> ChatModel:
    return LangChainModel(Fake(server=server), given)


KINDS = {
    "openai": Kind(
        OpenAIServer, openai, ("OPENAI_API_KEY", "TASKLOOM_MODEL", "OPENAI_BASE_URL"),
        lambda body: body.get("response_format"),
    ),
    "anthropic": Kind(AnthropicServer, anthropic, formed=lambda body: body.get("tools")),
    "openai, brought": Kind(OpenAIServer, brought_openai, formed=lambda body: body.get("response_format")),
    "fake": Kind(OpenAIServer, fake),
}  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """A kind with its server, on which every test plays a script."""

    kind: Kind
    server: OpenAIServer
    meter: Meter

    def chat(self, script: Script, **changed: Any) -> ChatModel:
        self.server.play(script)
        quick = ModelSettings("test-model", patience=5, backoff=0.001, cooldown=0)
        return self.kind.make(self.server, replace(quick, **changed))

    def ask(self, model: ChatModel) -> str:
        messages = [SystemMessage("Answer."), HumanMessage("Where to?")]
        return model.ask(messages, SCHEMA, self.meter, time.monotonic() + model.patience)

    def write(self, model: ChatModel) -> Iterator[str]:
        messages = [SystemMessage("Write."), HumanMessage("Where to?")]
        return model.stream(messages, self.meter, time.monotonic() + model.patience)

    def fault(self, script: Script, **changed: Any) -> ModelFault:
        with pytest.raises(ModelFault) as raised:
            self.ask(self.chat(script, **changed))
        assert CANARY not in f"{raised.value!r} {raised.value}"
        return raised.value


@pytest.fixture(scope="module", params=KINDS.values(), ids=[*KINDS])
def running(request: pytest.FixtureRequest) -> Iterator[tuple[Kind, OpenAIServer]]:
    kind: Kind = request.param
    with kind.server([]) as server:
        yield kind, server


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def bench(running: tuple[Kind, OpenAIServer]) -> Bench:
    return Bench(*running, Meter())


# ---- an answer ------------------------------------------------------------------------------------


def test_an_answer_is_json_and_costs_one_call(bench: Bench) -> None:
    model = bench.chat([Say(ROME, prompt_tokens=321, completion_tokens=45)])
    assert json.loads(bench.ask(model)) == {"city": "Rome"}
    assert bench.meter.usage == Usage(1, 321, 45)
    (request,) = bench.server.requests
    assert not request.get("stream")
    assert "Where to?" in json.dumps(request["messages"])


def test_an_answer_is_held_to_its_schema(bench: Bench) -> None:
    bench.ask(bench.chat([Say(ROME)]))
    (request,) = bench.server.requests
    in_words = prompts.READ_PLAIN[:30] in json.dumps(request)
    assert in_words is (bench.kind.make is fake)
    held = request if in_words else bench.kind.formed(request)
    assert '"city"' in json.dumps(held).replace("\\", "")


def test_who_takes_no_schema_is_asked_in_words_from_then_on(bench: Bench) -> None:
    formed = bench.kind.formed
    model = bench.chat(lambda body: Fault(400, CANARY) if formed(body) else Say(ROME))
    assert [bench.ask(model), bench.ask(model)] == [ROME, ROME]
    first = [] if bench.kind.make is fake else [True]
    assert [bool(formed(request)) for request in bench.server.requests] == [*first, False, False]
    assert bench.meter.usage.model_calls == len(bench.server.requests)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Say(ROME, finish="length"), "cut off"),
        (Say(ROME, finish="content_filter"), "withheld"),
        (Say(""), "empty"),
    ],
    ids=["cut off", "withheld", "empty"],
)
def test_an_answer_that_cannot_be_used(bench: Bench, said: Say, why: str) -> None:
    fault = bench.fault([said])
    assert isinstance(fault, Unusable)
    assert why in fault.why
    assert bench.meter.usage.prompt_tokens == 100


# ---- a reply --------------------------------------------------------------------------------------


def test_a_reply_comes_in_pieces_and_costs_one_call(bench: Bench) -> None:
    pieces = [*bench.write(bench.chat([Say(SAID, prompt_tokens=50, completion_tokens=7)]))]
    assert "".join(pieces) == SAID
    assert len(pieces) > 1
    assert all(pieces)
    assert bench.meter.usage == Usage(1, 50, 7)
    assert bench.server.requests[0]["stream"]


def test_a_reply_that_breaks_off_is_not_begun_again(bench: Bench) -> None:
    pieces = bench.write(bench.chat([Cut(Say("one two three four five six seven eight"))]))
    assert next(pieces) == "one "
    with pytest.raises(Unreachable) as fault:
        list(pieces)
    assert CANARY not in str(fault.value)
    assert len(bench.server.requests) == 1


def test_a_reply_that_is_cut_off(bench: Bench) -> None:
    with pytest.raises(Unusable):
        list(bench.write(bench.chat([Say(SAID, finish="length")])))


def test_a_reply_that_is_given_up_ends(bench: Bench) -> None:
    pieces = bench.write(bench.chat([Hang(0.02, Say("word " * 9), between=True)]))
    assert next(pieces) == "word "
    pieces.close()  # type: ignore[attr-defined]
    assert bench.ask(bench.chat([Say(ROME)])) == ROME


# ---- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_passes_is_waited_out(bench: Bench, status: int) -> None:
    faults: list[Reply] = [Fault(status, retry_after=0.01), Fault(status)]
    assert bench.ask(bench.chat([*faults, Say(ROME)])) == ROME
    assert "".join(bench.write(bench.chat([*faults, Say(SAID)]))) == SAID
    assert bench.meter.usage.model_calls == 6


def test_a_wait_that_is_asked_for_is_told(bench: Bench) -> None:
    fault = bench.fault([Fault(429, CANARY, retry_after=3600)])
    assert isinstance(fault, Unreachable)
    assert fault.retry_after == 3600
    assert len(bench.server.requests) == 1


@pytest.mark.parametrize(("status", "named"), [(401, 0), (403, 0), (404, 1), (302, 2)])
def test_a_setting_that_is_wrong_is_named_at_once(bench: Bench, status: int, named: int) -> None:
    fault = bench.fault([Fault(status, CANARY)])
    assert isinstance(fault, Misconfigured)
    assert bench.kind.names[named] in str(fault)
    assert len(bench.server.requests) == 1


def test_what_is_too_long(bench: Bench) -> None:
    fault = bench.fault([Fault(413, CANARY)])
    assert isinstance(fault, Rejected)
    assert "too long" in str(fault)


def test_nobody_listens(bench: Bench) -> None:
    quick = ModelSettings("test-model", patience=5, tries=2, backoff=0.001)
    model = bench.kind.make(None, quick)
    with pytest.raises(Unreachable, match="could not be reached") as fault:
        bench.ask(model)
    assert CANARY not in str(fault.value)


def test_who_is_down_is_left_alone_for_a_while(bench: Bench) -> None:
    model = bench.chat([Fault(500)], cooldown=20)
    for _ in range(2):
        with pytest.raises(Unreachable, match=r"\(500\)"):
            bench.ask(model)
    assert len(bench.server.requests) == 3


def test_patience_holds_for_an_answer(bench: Bench) -> None:
    begun = time.monotonic()
    assert "did not answer in time" in str(bench.fault([Hang(30)], patience=0.4))
    assert time.monotonic() - begun < 1.4


def test_patience_holds_for_a_reply_that_has_begun(bench: Bench) -> None:
    model, begun = bench.chat([Hang(0.15, Say("word " * 99), between=True)], patience=0.6), time.monotonic()
    with pytest.raises(Unreachable, match="took too long"):
        list(bench.write(model))
    assert time.monotonic() - begun < 1.6


def test_a_graph_that_streams_messages_gets_no_raw_tokens(bench: Bench) -> None:
    class Talk(TypedDict):
        said: str

    model = bench.chat([Say(ROME), Say(SAID)])

    def turn(state: Talk) -> Talk:
        assert bench.ask(model) == ROME
        return {"said": "".join(bench.write(model))}

    graph = StateGraph(Talk).add_node("turn", turn).add_edge(START, "turn").compile()
    parts = list(graph.stream({"said": "x"}, stream_mode=["messages", "values"]))
    assert parts == [("values", {"said": "x"}), ("values", {"said": SAID})]
    assert [bool(request.get("stream")) for request in bench.server.requests] == [False, True]


# ---- what only an application's own can be --------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    """What a model raises."""

    error: Exception


def of(*messages: AIMessage | Broken) -> LangChainModel:
    def each() -> Iterator[AIMessage]:
        for message in messages:
            if isinstance(message, Broken):
                raise message.error
            yield message

    settings = ModelSettings("own", patience=5, tries=1, cooldown=0)
    return LangChainModel(GenericFakeChatModel(messages=each()), settings)


def asked(model: LangChainModel) -> str:
    return model.ask([SystemMessage("Answer."), HumanMessage("?")], SCHEMA, Meter(), time.monotonic() + 5)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError(CANARY), "the model gave no answer (KeyError)"),
        (TimeoutError(CANARY), "the model did not answer in time"),
        (Misconfigured("say where it is"), "say where it is"),
    ],
    ids=["any", "a timeout", "in words of its own"],
)
def test_an_error_of_any_class_is_told_in_words(error: Exception, told: str) -> None:
    with pytest.raises(ModelFault) as fault:
        asked(of(Broken(error)))
    assert str(fault.value) == told


def test_an_answer_may_be_the_call_of_the_tool_that_is_the_form() -> None:
    call = ToolCall(name="reading", args={"city": "Rome"}, id="1")
    wrong = InvalidToolCall(name="reading", args='{"city": ', id="1", error=None, type="invalid_tool_call")
    assert asked(of(AIMessage("", tool_calls=[call]))) == ROME
    assert (
        asked(of(AIMessage("", invalid_tool_calls=[wrong]))) == '{"city": '
    )  # its reader says what is wrong
    for calls in ([call, call], [ToolCall(name="book", args={}, id="1")]):
        with pytest.raises(Unusable, match="could not be used"):
            asked(of(AIMessage("", tool_calls=calls)))


def test_a_model_goes_by_the_name_that_its_provider_knows() -> None:
    assert name_of(anthropic_client(None)) == "claude-test"
    assert name_of(GenericFakeChatModel(messages=iter([]))) == "GenericFakeChatModel"


# ---- in the whole graph ---------------------------------------------------------------------------

PLAN = {"steps": [{"act": "task", "title": "trip", "details": {"destination": "Rome", "date": "June 10th"}}]}
NOTED = "I've noted the trip to Rome on June 10th."
PLAN_IT = "Plan a trip. The destination is Rome and the date is June 10th."
TOOLS = """
tools:
  - llm: {template: "Write a poem about <destination>.", output: {text: str}}
    name: poem
    description: Writes.
    needs: [destination]
    gives: poem
"""


def whole(body: dict[str, Any]) -> Reply:
    """Reads, writes, carries out a function, as it is asked."""
    if body.get("stream"):
        return Say(NOTED)
    return Say('{"text": "Rome, sweet Rome"}' if "Write a poem" in json.dumps(body) else json.dumps(PLAN))


def opened(home: Path, model: BaseChatModel, **changed: Any) -> Taskloom:
    usual = {"home": home, "reader": "model", "replies": "model", "memory": False, **changed}
    given = Settings(**usual)
    return Taskloom.open(given, services=default_services(given, model=model))


@pytest.mark.parametrize("name", ["anthropic", "fake"])
def test_an_application_brings_its_own(name: str, tmp_path: Path) -> None:
    with KINDS[name].server(whole) as server:
        model = anthropic_client(server) if name == "anthropic" else Fake(server=server)
        with opened(tmp_path, model) as app:
            turn = app.talk(PLAN_IT)
            assert turn.reply == NOTED
            assert [bool(request.get("stream")) for request in server.requests] == [False, True]
            assert (turn.model_calls, turn.prompt_tokens, turn.completion_tokens) == (2, 200, 20)
            assert {"Rome", "June 10th"} <= {task.value for task in app.tasks().values()}


def test_langchains_own_fake_is_one(tmp_path: Path) -> None:
    said = iter([json.dumps(PLAN), NOTED])
    with opened(tmp_path, GenericFakeChatModel(messages=said)) as app:
        assert app.talk(PLAN_IT).reply == NOTED


def test_what_it_cannot_do_is_done_without_it_and_told(tmp_path: Path) -> None:
    with opened(tmp_path, Fake(server=None), model_timeout=5) as app:
        turn = app.talk(PLAN_IT)
        assert "without the model: the model could not be reached" in turn.reply
        assert {"Rome", "June 10th"} <= {task.value for task in app.tasks().values()}


def test_it_carries_out_functions_and_none_of_their_tokens_is_shown(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(TOOLS)
    with (
        AnthropicServer(whole) as server,
        opened(tmp_path, anthropic_client(server), tools=tmp_path / "agent.yaml", reader="local") as app,
    ):
        shown: list[str] = []
        turn = app.talk(PLAN_IT, show=lambda piece, _: shown.append(piece))
        assert [(run.call.tool, run.status) for run in turn.tool_runs] == [("poem", "done")]
        assert "sweet" not in "".join(shown)
        assert any("Write a poem" in json.dumps(request) for request in server.requests)


def test_it_tells_sessions(tmp_path: Path) -> None:
    given = Settings(home=tmp_path)
    with AnthropicServer([Say('{"decisions": []}')]) as server:
        memory = default_services(given, model=anthropic_client(server)).memory
        assert memory is not None
        assert memory.narrator is not None
        assert list(memory.narrator().decide([])) == []
        assert len(server.requests) == 1


def test_a_run_may_ask_for_another_or_none(tmp_path: Path) -> None:
    given = Settings(home=tmp_path, memory=False, openai_base_url=NOWHERE)
    voice = default_services(given, model=anthropic_client(None)).voice
    assert voice("claude-test").responder is not voice("other").responder
    kinds = [
        type(getattr(voice(name).responder, "chat", None)) for name in ("", "claude-test", "other", "rules")
    ]
    assert kinds == [LangChainModel, LangChainModel, OpenAIModel, type(None)]
