"""A thread has one owner, the user of its first turn: on a graph, on disk, in the terminal."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from pydantic import ValidationError
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.graph import build
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.locks import ThreadNameError
from taskloom.agent.graph.runs import ForeignThreadError
from taskloom.agent.settings import Settings
from taskloom.agent.threads.store import Threads, run_config
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from tests.scripted import services
from tests.test_memory_commands import holding

pytestmark = pytest.mark.attack

CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
ANN, BOB = Context(user_id="ann"), Context(user_id="bob")
MINE = "Zyxquartz"


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


@pytest.fixture
def graph(saver: InMemorySaver) -> Taskgraph:
    return build_graph(services(), checkpointer=saver)


def say(graph: Any, text: str, context: Any = ANN, **more: Any) -> dict[str, Any]:
    return dict(graph.invoke(said(text), CONFIG, context=context, **more))


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def kept(saver: InMemorySaver) -> Any:
    """All that a saver holds."""
    return repr((dict(saver.storage), dict(saver.writes), dict(saver.blobs)))


# ---- the graph ------------------------------------------------------------------------------------


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
@pytest.mark.parametrize("other", [BOB, None, {"user_id": "bob"}, Context()])
def test_another_user_is_refused_and_nothing_is_written(
    graph: Taskgraph, saver: InMemorySaver, other: Any, durability: Any
) -> None:
    say(graph, "task trip", durability=durability)
    before = kept(saver)
    with pytest.raises(ForeignThreadError, match="'one' belongs to another user"):
        say(graph, "task secret", other, durability=durability)
    assert kept(saver) == before
    assert say(graph, "set t1 x")["turn"].number == 2
    assert graph.get_state(CONFIG).values["owner"] == "ann"


def test_so_are_they_in_async_runs_and_streams(graph: Taskgraph, saver: InMemorySaver) -> None:
    async def talk() -> None:
        await graph.ainvoke(said("task trip"), CONFIG, context=ANN)
        before = kept(saver)
        with pytest.raises(ForeignThreadError):
            await graph.ainvoke(said("task secret"), CONFIG, context=BOB)
        with pytest.raises(ForeignThreadError):
            async for _ in graph.astream(said("task secret"), CONFIG, context=BOB):
                pass
        assert kept(saver) == before
        assert (await graph.ainvoke(said("set t1 x"), CONFIG, context=ANN))["turn"].number == 2

    asyncio.run(talk())
    with pytest.raises(ForeignThreadError):
        list(graph.stream(said("task secret"), CONFIG, context=BOB))


def test_whoever_names_no_user_is_the_local_one(graph: Taskgraph) -> None:
    say(graph, "task trip", None)
    assert say(graph, "set t1 x", Context(user_id="local"))["turn"].number == 2
    with pytest.raises(ForeignThreadError):
        say(graph, "set t1 y")


def test_an_approval_is_for_the_owner_to_give(graph: Taskgraph) -> None:
    say(graph, "task trip; put t1 place Rome", ANN)
    say(graph, "drop t1", ANN.model_copy(update={"approve": True}))
    yes: Command[Any] = Command(resume={"approve": True})
    with pytest.raises(ForeignThreadError):
        graph.invoke(yes, CONFIG, context=BOB)
    with pytest.raises(ForeignThreadError):
        graph.invoke(None, CONFIG, context=BOB)
    done = graph.invoke(yes, CONFIG, context=ANN.model_copy(update={"approve": True}))
    assert {task.status for task in done["tasks"].values()} == {"removed"}


def test_an_old_state_from_before_the_first_turn_is_no_way_in(graph: Taskgraph) -> None:
    say(graph, "task trip")
    first = list(graph.get_state_history(CONFIG))[-1]
    assert "owner" not in first.values
    with pytest.raises(ForeignThreadError):
        graph.invoke(said("task secret"), first.config, context=BOB)
    graph.invoke(said("task cart"), first.config, context=ANN)
    assert graph.get_state(CONFIG).values["owner"] == "ann"


def test_a_first_turn_that_failed_has_an_owner_too(graph: Taskgraph) -> None:
    say(graph, "crash")
    with pytest.raises(ForeignThreadError):
        say(graph, "task secret", BOB)
    assert graph.get_state(CONFIG).values["turn"].user == "ann"


def test_the_node_itself_refuses(graph: Taskgraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the look beforehand finds no thread, as for one that a server keeps elsewhere."""
    say(graph, "task trip")
    monkeypatch.setattr(Taskgraph, "_place", lambda *_: None)
    with pytest.raises(ForeignThreadError, match="'one'"):
        say(graph, "task secret", BOB)


def test_inside_a_host_the_user_of_its_context_counts(saver: InMemorySaver) -> None:
    from langgraph.graph import MessagesState

    builder: Any = StateGraph(MessagesState, context_schema=Context)
    builder.add_node("taskloom", build_graph(services(), checkpointer=True))
    builder.add_edge(START, "taskloom")
    host = builder.compile(checkpointer=saver)
    say(host, "task trip")
    say(host, "set t1 x")
    with pytest.raises(ForeignThreadError):
        say(host, "task secret", BOB)
    child: RunnableConfig = {"configurable": {"thread_id": "one", "checkpoint_ns": "taskloom"}}
    assert "secret" not in repr(saver.get_tuple(child))


# ---- threads from before --------------------------------------------------------------------------


@pytest.fixture
def formerly() -> Iterator[Callable[[], None]]:
    """Threads as they were before they had an owner; what is given ends it."""

    def without(node: Any) -> Any:
        @wraps(node)
        def run(*args: Any, **more: Any) -> Any:
            return {key: value for key, value in node(*args, **more).items() if key != "owner"}

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "NODES", tuple(map(without, build.NODES)))
        patch.setattr(Taskgraph, "_place", lambda *_: None)
        yield patch.undo


def test_a_thread_from_before_is_its_first_speakers(
    saver: InMemorySaver, formerly: Callable[[], None]
) -> None:
    graph = build_graph(services(), checkpointer=saver)
    say(graph, "task trip", ANN)
    say(graph, "set t1 x", BOB)
    assert "owner" not in graph.get_state(CONFIG).values
    formerly()
    graph = build_graph(services(), checkpointer=saver)
    with pytest.raises(ForeignThreadError):
        say(graph, "set t1 y", BOB)
    with pytest.raises(ForeignThreadError):
        asyncio.run(graph.ainvoke(said("set t1 y"), CONFIG, context=BOB))
    assert say(graph, "set t1 z", ANN)["turn"].number == 3
    assert graph.get_state(CONFIG).values["owner"] == "ann"


# ---- on disk and in the terminal ------------------------------------------------------------------


def test_a_talk_is_refused_and_the_owner_is_listed(tmp_path: Path) -> None:
    with Taskloom(Threads(tmp_path), services()) as talk:
        talk.talk("task trip", thread="a", context=ANN)
        attempts: tuple[Callable[[], Any], ...] = (
            lambda: talk.talk(f"task {MINE}", thread="a", context=BOB),
            lambda: talk.feedback(True, thread="a"),
            lambda: talk.decide(True, thread="a", context=BOB),
            lambda: talk.load(talk.export("a"), thread="a", context=BOB),
        )
        for attempt in attempts:
            with pytest.raises(ForeignThreadError, match="'a' belongs to another user"):
                attempt()
        assert [(info.user, info.turns) for info in talk.threads()] == [("ann", 1)]
    assert holding(tmp_path, MINE.encode()) == []


def taskloom(*args: str, code: int = 0, **more: Any) -> Result:
    result = CliRunner().invoke(app, args, **more)
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def test_the_terminal_refuses_and_shows_nothing(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([f"Plan a trip to {MINE} on Friday"]))
    taskloom("run", str(script), "--thread", "trip", "--user", "ann")
    for call in (
        ("chat", "--thread", "trip"),
        ("chat", "--thread", "trip", "--user", "bob"),
        ("run", str(script), "--thread", "trip", "--user", "bob"),
    ):
        refused = taskloom(*call, code=1, input="hello\n")
        assert "thread 'trip' belongs to another user: name that user with --user" in refused.stderr
        assert MINE not in refused.stdout
    assert MINE in taskloom("chat", "--thread", "trip", "--user", "ann", input="/quit\n").stdout
    export = tmp_path / "trip.json"
    taskloom("export", "--thread", "trip", str(export))
    assert (
        "belongs to another" in taskloom("import", str(export), "--thread", "trip", "--force", code=1).stderr
    )
    loaded = taskloom("import", str(export), "--thread", "trip", "--force", "--user", "ann").stdout
    assert "chat --thread trip --user ann" in loaded


def test_forgetting_the_owner_leaves_no_byte_also_of_threads_from_before(
    home: Path, formerly: Callable[[], None]
) -> None:
    with Taskloom.open(Settings(home=home)) as talk:
        talk.talk(f"Book a hotel in {MINE} for two people", thread="a", context=ANN)
        talk.talk("The budget is 200 euros", thread="a", context=BOB)
        talk.talk("Plan a dinner with Wvuobsidian", thread="b", context=BOB)
        assert talk.longterm is not None
        assert talk.longterm.flush()
        assert any(MINE in record.model_dump_json() for record in talk.longterm.store.records("bob"))
        talk.talk("Make it 300 euros", thread="a", context=BOB)  # waits in the outbox
    formerly()
    assert "0 threads" in taskloom("memory", "forget", "--all", "--threads", "--yes", "--user", "eve").stdout
    told = taskloom("memory", "forget", "--all", "--threads", "--yes", "--user", "ann").stdout
    assert "and 1 thread." in told
    assert holding(home, MINE.encode()) == []
    with Taskloom.open(Settings(home=home)) as talk:
        assert [(info.thread, info.user) for info in talk.threads()] == [("b", "bob")]
    assert "Wvuobsidian" in taskloom("memory", "list", "--user", "bob", "--json").stdout


def test_forgetting_another_speaker_takes_nothing_of_the_owner(
    home: Path, formerly: Callable[[], None]
) -> None:
    with Taskloom.open(Settings(home=home)) as talk:
        talk.talk(f"Book a hotel in {MINE}", thread="a", context=ANN)
        talk.talk("The budget is 200 euros", thread="a", context=BOB)
        talk.talk("The dinner is on Friday", thread="b", context=ANN)
        talk.talk("Make it Saturday", thread="b", context=ANN)
    formerly()
    told = taskloom("prune", "--all", "--turns", "1", code=1)  # who spoke there is told by its turns
    assert "several users spoke in thread 'a'" in told.stderr
    assert told.stdout.startswith("b: 2 saved states went, ")
    taskloom("memory", "forget", "--all", "--threads", "--yes", "--user", "eve")
    assert "0 threads" in taskloom("memory", "forget", "--all", "--threads", "--yes", "--user", "bob").stdout
    with Taskloom.open(Settings(home=home)) as talk:
        assert {info.thread: (info.turns, info.user) for info in talk.threads()} == {
            "a": (2, "ann"), "b": (2, "ann")
        }  # fmt: skip
    assert MINE in taskloom("memory", "list", "--user", "ann", "--json").stdout


ODD_USERS = ("a\0b", "\ud800", "ann\x1b[2J", "ann\n", "\u202enna", "a\x9bb", "x" * 1_000_000)
ODD_THREADS = ("a\0b", "\ud800", "x" * 1_000_000)


@pytest.mark.parametrize("user", ODD_USERS, ids=range(len(ODD_USERS)))
def test_a_user_who_cannot_be_called_so_is_refused_in_words(graph: Taskgraph, user: str) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "odd"}}
    with pytest.raises(ValidationError, match="none of them a control character"):
        Context(user_id=user)
    context: Any = {"user_id": user}
    with pytest.raises(ValueError, match="none of them a control character"):
        graph.invoke(said("task x"), config, context=context)
    assert not graph.get_state(config).values


@pytest.mark.parametrize("thread", ODD_THREADS, ids=range(len(ODD_THREADS)))
def test_a_thread_that_cannot_be_called_so_is_refused_in_words(
    graph: Taskgraph, tmp_path: Path, thread: str
) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    with pytest.raises(ThreadNameError, match="a thread cannot be called"):
        graph.invoke(said("task x"), config)
    with pytest.raises(ThreadNameError), Taskloom(Threads(tmp_path), services()) as app:
        app.talk("task x", thread=thread)
    assert [path.name for path in (tmp_path / "locks").iterdir()] == ["setup.lock"]


LIKE = (("ann", "Ann"), ("ann", "ann "), ("é", "e\u0301"), ("a/b", "a_b"), ("ﬁ", "fi"), ("../ann", "ann"))


@pytest.mark.parametrize("pair", LIKE, ids=map(ascii, LIKE))
@pytest.mark.parametrize("thread", ["", "../../etc/passwd", "a\nb", "\u202e"], ids=ascii)
def test_who_is_called_nearly_the_same_is_another(pair: tuple[str, str], thread: str, tmp_path: Path) -> None:
    with Taskloom.open(Settings(home=tmp_path)) as app:
        mine, other = (Context(user_id=user) for user in pair)
        app.talk("Book a hotel in Bergen", thread=thread, context=mine)
        with pytest.raises(ForeignThreadError):
            app.talk("Where is the hotel?", thread=thread, context=other)
        with pytest.raises(ForeignThreadError):
            app.graph.invoke(said("Where is the hotel?"), run_config(thread), context=other)
        assert app.longterm is not None
        app.longterm.flush()
        assert app.longterm.store.records(pair[0])
        assert not app.longterm.store.records(pair[1])
