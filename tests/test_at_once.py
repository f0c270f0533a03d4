"""Several runs at once on one thread, outside of `Taskloom.talk`: nothing is lost, nothing is done twice."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.locks import ThreadBusyError, exclusive, exclusive_async
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Reading, View
from tests.scripted import Commands, services
from tests.test_act import Tools
from tests.test_act import services as tool_services

pytestmark = pytest.mark.attack

ROOT = Path(__file__).parent.parent
CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
SIX, ROUNDS = range(6), 30 if FULL else 5  # 100 of each saver's in test_savers


def said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def whole(graph: Taskgraph, values: dict[str, Any], turns: int) -> None:
    """Every turn once: its message, its reply, its number and its task."""
    assert values["turn"].number == turns
    assert [one.type for one in values["messages"]] == ["human", "ai"] * turns
    titles = [node.title for node in values["tasks"].values()]
    assert sorted(titles) == sorted({one.text.removeprefix("task ") for one in values["messages"][::2]})
    assert len(titles) == turns


@contextmanager
def in_memory(path: Path) -> Iterator[Any]:
    yield InMemorySaver()


@contextmanager
def on_disk(path: Path) -> Iterator[Any]:
    connection = sqlite3.connect(path / "host.sqlite", check_same_thread=False)
    yield SqliteSaver(connection)
    connection.close()


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
@pytest.mark.parametrize("saver", [in_memory, on_disk])
@pytest.mark.filterwarnings("ignore:.*unregistered type")
def test_six_runs_at_once_in_threads(saver: Callable[..., Any], durability: Any, tmp_path: Path) -> None:
    with saver(tmp_path) as made, ThreadPoolExecutor(6) as pool:
        graph = build_graph(services(), checkpointer=made)
        for turn in range(ROUNDS):
            done = pool.map(
                lambda n, turn=turn: graph.invoke(said(f"task job{turn}_{n}"), CONFIG, durability=durability),
                SIX,
            )
            assert sorted(one["turn"].number for one in done) == [turn * 6 + n + 1 for n in SIX]
        whole(graph, graph.get_state(CONFIG).values, 6 * ROUNDS)


@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.filterwarnings("ignore:.*unregistered type")
def test_six_runs_at_once_in_one_loop(where: str, tmp_path: Path) -> None:
    async def talk(saver: Any) -> None:
        graph = build_graph(services(), checkpointer=saver)
        for turn in range(ROUNDS):
            runs = (graph.ainvoke(said(f"task job{turn}_{n}"), CONFIG) for n in SIX)
            done = await asyncio.gather(*runs)
            assert sorted(one["turn"].number for one in done) == [turn * 6 + n + 1 for n in SIX]
        whole(graph, (await graph.aget_state(CONFIG)).values, 6 * ROUNDS)

    async def on_file() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "host.sqlite")) as saver:
            await talk(saver)

    asyncio.run(talk(InMemorySaver()) if where == "memory" else on_file())


def test_tool_calls_of_an_agent_beside_each_other() -> None:
    child = build_graph(services(), checkpointer=InMemorySaver())

    @tool
    def tasks(request: str) -> str:
        """Keep the user's tasks: say what to note, change or look up."""
        return str(child.invoke(said(request), CONFIG)["turn"].reply)

    class Model(GenericFakeChatModel):
        def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
            return self

    for turn in range(ROUNDS):
        calls = [
            {"name": "tasks", "args": {"request": f"task job{turn}_{n}"}, "id": f"call{n}"} for n in range(3)
        ]
        model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("Noted.")]))
        create_agent(model, [tasks]).invoke(said("Three things"))
        whole(child, child.get_state(CONFIG).values, 3 * (turn + 1))


TALKER = """
import sqlite3, sys
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from taskloom.agent.graph.build import build_graph
from tests.scripted import services
saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False, timeout=30))
graph = build_graph(services(), checkpointer=saver)
for n in range(10):
    said = {"messages": [HumanMessage(f"task {sys.argv[2]}{n}")]}
    graph.invoke(said, {"configurable": {"thread_id": "one"}})
"""


@pytest.mark.filterwarnings("ignore:.*unregistered type")
def test_processes_on_one_file(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", TALKER, str(tmp_path / "host.sqlite"), name],
            env={**os.environ, "PYTHONPATH": path},
        )
        for name in "abc"
    ]
    assert [process.wait(240) for process in running] == [0, 0, 0]
    with on_disk(tmp_path) as saver:
        graph = build_graph(services(), checkpointer=saver)
        whole(graph, graph.get_state(CONFIG).values, 30)


def test_a_talk_and_its_graph_at_once(tmp_path: Path) -> None:
    with Taskloom(Threads(tmp_path), services()) as app, ThreadPoolExecutor(6) as pool:
        runs = [
            pool.submit(app.talk, f"task job{n}", thread="one")
            if n % 2
            else pool.submit(app.graph.invoke, said(f"task job{n}"), CONFIG)
            for n in range(12)
        ]
        for run in runs:
            run.result()
        whole(app.graph, app.state("one").values, 12)
        app.delete("one")
        assert {path.name for path in (tmp_path / "locks").iterdir()} == {"setup.lock"}


@pytest.mark.parametrize("saver", [in_memory, on_disk])
@pytest.mark.filterwarnings("ignore:.*unregistered type")
def test_what_is_approved_six_times_at_once_is_done_once(saver: Callable[..., Any], tmp_path: Path) -> None:
    """Also where the journal, which would keep a second call from being made, is not shared."""
    tools = Tools()
    yes: Command[Any] = Command(resume={"approve": True})
    with saver(tmp_path) as made, ThreadPoolExecutor(6) as pool:
        graphs = [
            build_graph(tool_services(Equipment(tools.registry())), checkpointer=made) for _ in range(6)
        ]
        for turn in range(ROUNDS):
            config: RunnableConfig = {"configurable": {"thread_id": f"trip{turn}"}}
            words = "task trip; put t1 place Rome; put t1 day Friday"
            assert "__interrupt__" in graphs[0].invoke(said(words), config)
            for run in [pool.submit(graph.invoke, yes, config) for graph in graphs]:
                run.result()
            assert [call[0] for call in tools.calls] == ["find", "book"] * (turn + 1)
            values = graphs[0].get_state(config).values
            assert values["turn"].number == 1
            assert [one.type for one in values["messages"]] == ["human", "ai"]


# ---- the queue -----------------------------------------------------------------------------------

WAIT, HELD, MANY = 2.0, 1.0, 4  # seconds that one waits for the one ahead, that each holds on; how many


@pytest.mark.slow
def test_whoever_waits_goes_in_order_and_is_not_refused_while_others_go() -> None:
    """The last one waits for longer than for one run: each ahead of it is waited for anew."""
    saver, went = InMemorySaver(), list[int]()

    def hold(number: int) -> None:
        with exclusive(saver, "one", "", WAIT):
            went.append(number)
            time.sleep(HELD)

    async def hold_async(number: int) -> None:
        async with exclusive_async(saver, "one", "", WAIT):
            went.append(number)
            await asyncio.sleep(HELD)

    async def come() -> None:
        runs = []
        for number in range(MANY):  # in threads and in the loop by turns
            runs.append(asyncio.create_task(
                hold_async(number) if number % 2 else asyncio.to_thread(hold, number)
            ))  # fmt: skip
            await asyncio.sleep(0.2)
        await asyncio.gather(*runs)

    asyncio.run(come())
    assert went == [*range(MANY)]
    with exclusive(saver, "one", "", 0), pytest.raises(ThreadBusyError):
        asyncio.run(hold_async(MANY))
    hold(MANY)


def test_a_place_that_is_given_up_holds_nobody_up() -> None:
    saver = InMemorySaver()

    async def hold(wait: float) -> None:
        async with exclusive_async(saver, "one", "", wait):
            await asyncio.sleep(0)

    async def come() -> None:
        async with exclusive_async(saver, "one", "", 0):
            refused, left = asyncio.create_task(hold(0.05)), asyncio.create_task(hold(600))
            last = asyncio.create_task(hold(600))
            with pytest.raises(ThreadBusyError, match=r"waited 0\.05 s"):
                await refused
            left.cancel()
            await asyncio.wait((left,))
            assert not last.done()
        await last

    asyncio.run(come())


# ---- refused, by setting --------------------------------------------------------------------------


class Slow(Commands):
    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def read(self, utterance: str, view: View) -> Reading:
        self.begun.set()
        time.sleep(0.3 if "slow" in utterance else 0)
        return super().read(utterance, view)


def test_whoever_does_not_wait_is_refused_and_can_try_again() -> None:
    graph = build_graph(services(interpreter=Slow()), checkpointer=InMemorySaver(), patience=0).with_config(
        tags=["copied"]
    )
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(graph.invoke, said("task slow"), CONFIG)
        time.sleep(0.1)
        with pytest.raises(ThreadBusyError, match="'one' is in use"):
            graph.invoke(said("task other"), CONFIG)
        with pytest.raises(ThreadBusyError):
            asyncio.run(graph.ainvoke(said("task other"), CONFIG))
        graph.invoke(said("task other"), {"configurable": {"thread_id": "two"}})
        first.result()
    assert graph.invoke(said("task other"), CONFIG)["turn"].number == 2
    whole(graph, graph.get_state(CONFIG).values, 2)


@pytest.mark.parametrize("saver", [in_memory, on_disk])
@pytest.mark.filterwarnings("ignore:.*unregistered type")
def test_an_edit_by_hand_during_a_run_is_kept_or_refused(saver: Callable[..., Any], tmp_path: Path) -> None:
    edit = {"tasks": {"t1": {"value": "Oslo"}}}
    with saver(tmp_path) as made, ThreadPoolExecutor(1) as pool:
        interpreter = Slow()
        graph = build_graph(services(interpreter=interpreter), checkpointer=made)
        hasty = build_graph(services(), checkpointer=made, patience=0)
        graph.invoke(said("task trip"), CONFIG)
        for turn in (2, 3):
            interpreter.begun.clear()
            running = pool.submit(graph.invoke, said(f"task slow{turn}"), CONFIG)
            assert interpreter.begun.wait(30)
            with pytest.raises(ThreadBusyError, match="'one' is in use"):
                hasty.update_state(CONFIG, edit)
            if turn == 2:
                graph.update_state(CONFIG, edit)
            elif saver is in_memory:
                asyncio.run(graph.aupdate_state(CONFIG, {"tasks": {"t1": {"value": "Bonn"}}}))
            running.result()
            tasks = graph.get_state(CONFIG).values["tasks"]
            assert tasks["t1"].value == ("Bonn" if turn == 3 and saver is in_memory else "Oslo")
            assert len(tasks) == turn


def test_a_stream_that_is_left_gives_the_thread_back() -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver(), patience=0)
    left: Any = graph.stream(said("task a"), CONFIG, stream_mode="updates")
    next(left)
    with pytest.raises(ThreadBusyError):
        graph.invoke(said("task b"), CONFIG)
    left.close()
    graph.invoke(said("task b"), CONFIG)

    async def leave() -> None:
        parts: Any = graph.astream(said("task c"), CONFIG, stream_mode="updates")
        await anext(parts)
        await parts.aclose()
        await graph.ainvoke(said("task d"), CONFIG)

    asyncio.run(leave())
