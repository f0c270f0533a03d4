"""A model that looks recordings up: what it is shown, what is refused, and where it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr
from typer.testing import CliRunner

from taskloom.agent.acting import watching
from taskloom.agent.acting.looks import Watched, WatchError
from taskloom.agent.acting.watching import watch
from taskloom.agent.cli.main import app
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.graph.watching import watching_graph
from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.models import prompts
from taskloom.agent.models.chooser import ModelChooser
from taskloom.agent.models.eyes import Eyes
from taskloom.agent.models.openai import OpenAIModel, chat_model
from taskloom.agent.models.stepwise import StepwiseChooser
from taskloom.agent.recall.asking import NOTHING, Answer, answer
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.moments import Moment
from taskloom.agent.recall.recordings import Recordings
from taskloom.agent.recall.seeing import Seen
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.turn.state import Context
from taskloom.tools.video.looking import Answer as Looked
from taskloom.tools.video.transcripts import transcript
from tests.openai_server import Fault, OpenAIServer, Reply, Say
from tests.scripted import Commands
from tests.test_video import TALK, sha, talk

VIDEO = "video:0"


QUESTION = "When is the launch?"


class Told:
    """Recordings that give the same moments to all words."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.seen = Seen(Looked("A tent at 09:09.", (62_400,), (62_400,)), VIDEO)

    def retrieval(self, query: str, video: str | None = None, **more: Any) -> Sequence[Moment]:
        self.asked.append((query, video, more))
        return [one for one in talk() if one.evidence.start_ms in (180_000, 189_000)]

    def rag(self, question: str, video: str | None = None) -> Answer:
        return answer(question, talk())

    def qa(self, question: str, video: str | None = None, **more: Any) -> Seen:
        self.asked.append((question, video, more))
        return self.seen


def step(act: str, **given: Any) -> Say:
    empty = dict.fromkeys(("query", "video", "who", "start", "end", "answer"))
    return Say(json.dumps({"thought": "so", "act": act, **empty, "sources": [], **given}))


def model_of(server: OpenAIServer) -> OpenAIModel:
    return chat_model(Settings(model="m", openai_api_key=SecretStr("any"), openai_base_url=server.url), "m")


def open_longterm(home: Path) -> LongTerm:
    opened = longterm_of(Settings(home=home))
    assert opened is not None
    return opened


def watched(
    *replies: Reply, recordings: Told | None = None, patience: float = 5, question: str = QUESTION
) -> tuple[Watched, list[dict[str, Any]]]:
    with OpenAIServer(list(replies)) as server:
        given = Settings(
            model="m", openai_api_key=SecretStr("any"), openai_base_url=server.url, model_timeout=patience
        )
        chat = chat_model(given, "m")
        eyes = Eyes(chat)
        found = watch(
            question, recordings or Told(), StepwiseChooser(chat), {"talk": 754_000}, patience=chat.patience,
            eyes=eyes, pictured=["talk"],
        )  # fmt: skip
        return found, server.requests


def test_a_model_looks_moments_up(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    june = step("answer", answer="June, said Ana at 03:09.", sources=[f"{VIDEO}@03:09"])
    look = step("retrieval", query="launch", who="Ana", start="2:00")
    with subtests.test("it sees what it asked for, as data, and answers from that"):
        told = Told()
        found, requests = watched(look, june, recordings=told)
        assert (found.text, found.sources, found.steps) == (
            "June, said Ana at 03:09.",
            (f"{VIDEO}@03:09",),
            2,
        )
        assert (found.usage.model_calls, found.usage.prompt_tokens) == (2, 200)
        assert told.asked == [("launch", None, {"start_ms": 120_000, "end_ms": None, "who": "Ana"})]
        assert 'Recordings: "talk" (12:34)\n' in requests[0]["messages"][1]["content"]
        seen = requests[1]["messages"][-1]["content"]
        assert f'{VIDEO}@03:09 "[03:09-03:15] Ana Sol said: No, make it June.' in seen
    with subtests.test("what was not shown is refused, and what does not fit comes back"):
        found, requests = watched(
            Say("no JSON"), step("retrieval", query="x", start="soon"), june,
            step("rag", query="When is the launch?"),
            step("answer", answer="At 07:07.", sources=[f"{VIDEO}@03:09"]),
            step("answer", sources=[f"{VIDEO}@03:09"]), june,
        )  # fmt: skip
        assert (found.steps, found.sources) == (7, (f"{VIDEO}@03:09",))
        said = [request["messages"][-1]["content"] for request in requests[1:]]
        assert "is not a time" in said[1]
        assert "you were not shown video:0@03:09" in said[2]
        assert "make it June" in said[3]
        assert "shown nothing at 07:07" in said[4]
        assert "needs words" in said[5]
    with subtests.test("without sources nothing says so"):
        assert watched(step("answer", answer="I think in May."))[0].text == ""
    with subtests.test("it has an end, and the last look says so"):
        with pytest.raises(WatchError, match="no answer from what it was shown"):
            watched(look)
        monkeypatch.setattr(watching, "TOKENS", 150)
        with OpenAIServer([look]) as server:
            with pytest.raises(WatchError):
                watch("x", Told(), StepwiseChooser(model_of(server)), patience=20)
            assert len(server.requests) == 3
            assert server.requests[2]["messages"][-1]["content"] == prompts.LAST
    with subtests.test("a model that is not there"), pytest.raises(WatchError, match=r"401|key|refus|KEY"):
        watched(Fault(401))


def test_a_patient_model_looks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    june = step("answer", answer="June, said Ana at 03:09.", sources=[f"{VIDEO}@03:09"])
    for patience in (119, 120, 3_000):
        found, requests = watched(step("retrieval", query="launch"), june, patience=patience)
        assert (found.text, found.steps) == ("June, said Ana at 03:09.", 2), patience
        assert prompts.LAST not in [one["messages"][-1]["content"] for one in requests]
    monkeypatch.setattr(watching, "TOKENS", 0)  # the first step is none to end with
    _, requests = watched(step("retrieval", query="launch"), june)
    assert [one["messages"][-1]["content"] == prompts.LAST for one in requests] == [False, True]


def test_words_stay_shown_where_frames_of_their_second_are_looked_at() -> None:
    told = Told()
    told.seen = Seen(Looked("A tent.", (189_400,), (189_400,)), VIDEO)
    done = step("answer", answer="June, said Ana from 03:09 to 03:15.", sources=[f"{VIDEO}@03:09"])
    looks = [step("retrieval", query="launch"), step("look", query="What is there?")]
    for first, second in (looks, looks[::-1]):
        assert watched(first, second, done, recordings=told)[0].steps == 3


def test_times_that_were_asked_about_may_be_named() -> None:
    look = step("look", query="What is there?", start="1:00", end="01:05")
    source = [f"{VIDEO}@01:02"]
    asked = step("answer", answer="A tent at 00:01:03, by the frame at 01:02.4.", sources=source)
    assert watched(look, asked, question="What is there at 1:03?")[0].steps == 2
    between = step("answer", answer="A tent, from 01:00 to 01:05.", sources=source)
    assert watched(look, between)[0].steps == 2
    with pytest.raises(WatchError, match="shown nothing at 01:04"):
        watched(look, step("answer", answer="A tent, till 01:04.", sources=source))
    with pytest.raises(WatchError, match="shown nothing at 01:00"):  # no such frame was looked at
        watched(step("retrieval", query="x", start="1:00"), step("answer", answer="At 01:00 and 03:09.",
                                                                  sources=[f"{VIDEO}@03:09"]))  # fmt: skip


def test_it_ends_at_fifteen_steps() -> None:
    look = step("retrieval", query="launch")
    june = step("answer", answer="June.", sources=[f"{VIDEO}@03:09"])
    found, requests = watched(*[look] * 14, june)
    assert (found.text, found.steps, len(requests)) == ("June.", 15, 15)
    asked = [one["messages"][-1]["content"] for one in requests]
    assert [one == prompts.LAST for one in asked] == [False] * 14 + [True]
    roles = [one["role"] for one in requests[-1]["messages"]]
    assert roles == ["system", "user", *["assistant", "user"] * 14, "user"]  # all of the talk so far
    with OpenAIServer([look]) as server:
        with pytest.raises(WatchError, match="no answer from what it was shown"):
            watch("x", Told(), StepwiseChooser(model_of(server)), patience=20)
        assert len(server.requests) == 15


def test_the_chooser_of_act_looks_up_too() -> None:
    def choice(tool: str) -> Say:
        return Say(json.dumps({"observation": "", "thoughts": "", "subtask": "x", "tool": tool, "task": 0}))

    source, told = f"{VIDEO}@03:09", Told()
    replies = [
        choice("retrieval"), Say(json.dumps({"query": "launch", "speaker": "Ana"})),
        Say(json.dumps({"query": "launch", "who": "Ana"})),
        choice("answer"), Say(json.dumps({"answer": "June, at 07:07.", "sources": [source]})),
        choice("answer"), Say(json.dumps({"answer": "June.", "sources": [source]})),
    ]  # fmt: skip
    with OpenAIServer(replies) as server:
        found = watch(QUESTION, told, ModelChooser(model_of(server)), {"talk": 754_000}, patience=20)
        asked = [one["messages"] for one in server.requests]
    assert (found.text, found.sources, found.steps, found.usage.model_calls) == ("June.", (source,), 3, 7)
    assert told.asked == [("launch", None, {"start_ms": None, "end_ms": None, "who": "Ana"})]
    assert "speaker: Extra inputs are not permitted" in asked[2][-1]["content"]
    assert "make it June" in asked[3][1]["content"]  # what was found is what is done
    assert "shown nothing at 07:07" in asked[5][1]["content"]
    with OpenAIServer([choice("none")]) as server:
        assert watch("x", told, ModelChooser(model_of(server)), patience=20).text == ""


def test_it_is_a_graph_of_a_server(home: Path) -> None:
    with closing(open_longterm(home)) as longterm, OpenAIServer([]) as server:
        Recordings(longterm, "ann").add("talk.txt", sha(TALK), transcript(TALK.encode()))
        chats = {"": model_of(server), "rules": None}
        graph = watching_graph(
            Services(lambda name: Voice(Commands(), TemplateResponder(), chat=chats[name]),
                     TemplateResponder(), memory=longterm)
        )  # fmt: skip
        drawn = {name.rpartition(":")[2] for name in graph.get_graph(xray=True).nodes}
        assert {"extract", "choose", "run", "observe", "answer"} <= drawn
        assert dict(graph.get_subgraphs())["watch"].name == "watch"

        source = f"video:{sha(TALK)[:12]}@03:09"
        june = step("answer", answer="In June.", sources=[source])
        server.play([june, step("retrieval", query="make it June"), june])
        asked: Any = {"question": QUESTION}
        told: list[Any] = list(
            graph.stream(asked, context=Context(user_id="ann"), stream_mode="updates", subgraphs=True)
        )
        assert [name for _, update in told for name in update] == [
            "extract", "choose", "answer", "observe", "choose", "run", "observe", "choose", "answer", "watch",
        ]  # fmt: skip
        assert told[-1][1]["watch"] == {
            "answer": "In June.",
            "found": True,
            "sources": [source],
            "unseen": "",
        }

        def answered(user: str = "ann", model: str = "rules", **more: Any) -> Any:
            given: Any = {**asked, **more}
            return graph.invoke(given, context=Context(user_id=user, model=model))

        alone = answered()
        assert "make it June" in alone["answer"]
        assert (alone["found"], alone["sources"][0], alone["note"]) == (True, source, "")
        assert answered("bob")["answer"] == NOTHING
        assert answered(question=" ")["note"] == "the question is blank: say what to look for"
        assert "there is no recording 'x'" in answered(model="", video="x")["note"]
        assert "names its user_id" in answered("")["note"]
        server.play([Fault(401)])
        hindered = answered(model="")
        assert hindered["answer"] == alone["answer"]
        assert hindered["note"].startswith("answered without the model: ")
        saver, thread = InMemorySaver(), RunnableConfig(configurable={"thread_id": "t"})
        server.play([step("retrieval", query="make it June"), june])
        kept: Any = graph.copy({"checkpointer": saver})
        assert kept.invoke(asked, thread, context=Context(user_id="ann"))["answer"] == "In June."
        assert {one.config["configurable"]["checkpoint_ns"] for one in saver.list(None)} == {""}
        server.play([step("answer")])
        assert (answered(model="")["answer"], answered(model="")["found"]) == (NOTHING, False)


def test_the_command_asks_the_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_longterm(home)) as longterm:
        Recordings(longterm, "local").add("talk.txt", sha(TALK), transcript(TALK.encode()))
    source = f"video:{sha(TALK)[:12]}@03:09"
    replies = [
        step("retrieval", query="make it June"), step("answer", answer="In June.", sources=[source]),
        step("answer", answer="x", sources=["video:x@00:01"]),
    ]  # fmt: skip
    with OpenAIServer(replies) as server:
        for name, value in (
            ("TASKLOOM_MODEL", "m"),
            ("OPENAI_API_KEY", "any"),
            ("OPENAI_BASE_URL", server.url),
        ):
            monkeypatch.setenv(name, value)
        asked = ["video", "ask", "When is the launch?"]
        assert CliRunner().invoke(app, asked).stdout == f"In June.\nSource: {source}\n"
        without = CliRunner().invoke(app, [*asked, "--json"])
        assert "I answer without the model" in without.stderr
        assert "make it June" in json.loads(without.stdout)["answer"]
