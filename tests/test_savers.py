"""One contract for every saver of LangGraph's that a host may bring."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.locks import ThreadBusyError
from taskloom.agent.graph.runs import ForeignThreadError, RunCutError
from taskloom.agent.threads import STORED
from taskloom.agent.turn.state import Context
from taskloom.tools.registry import Registry, equip
from tests.postgres_server import PostgresServer
from tests.quickly import quick
from tests.scripted import services
from tests.test_act import Tools
from tests.test_act import services as tool_services

ROOT = Path(__file__).parent.parent
CONFIG: RunnableConfig = {"configurable": {"thread_id": "one"}}
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
SIX, ROUNDS = range(6), 100 if FULL else 5
LONG = 20  # rounds on a thread, whose turns take longer the more there were
SERDE = JsonPlusSerializer(allowed_msgpack_modules=STORED)

Saver = Callable[[], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def in_memory(_: str) -> AsyncIterator[Any]:
    yield InMemorySaver(serde=SERDE)


@asynccontextmanager
async def sqlite(file: str) -> AsyncIterator[Any]:
    connection = sqlite3.connect(file, check_same_thread=False)
    yield SqliteSaver(connection, serde=SERDE)
    connection.close()


@asynccontextmanager
async def async_sqlite(file: str) -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        saver.serde = SERDE
        yield saver


@asynccontextmanager
async def postgres_connection(url: str) -> AsyncIterator[Any]:
    with PostgresSaver.from_conn_string(url) as saver:
        saver.serde = SERDE
        saver.setup()
        yield saver


OPTIONS = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}


@asynccontextmanager
async def postgres_pool(url: str) -> AsyncIterator[Any]:
    with ConnectionPool[Any](url, min_size=1, max_size=2, kwargs=OPTIONS, open=True) as pool:
        saver = PostgresSaver(pool, serde=SERDE)
        saver.setup()
        yield saver


@asynccontextmanager
async def async_postgres_connection(url: str) -> AsyncIterator[Any]:
    async with AsyncPostgresSaver.from_conn_string(url, serde=SERDE) as saver:
        await saver.setup()
        yield saver


@asynccontextmanager
async def async_postgres_pool(url: str) -> AsyncIterator[Any]:
    async with AsyncConnectionPool[Any](url, min_size=1, max_size=2, kwargs=OPTIONS, open=False) as pool:
        saver = AsyncPostgresSaver(pool, serde=SERDE)
        await saver.setup()
        yield saver


SAVERS = (
    in_memory, sqlite, async_sqlite, postgres_connection, postgres_pool, async_postgres_connection,
    async_postgres_pool,
)  # fmt: skip
QUICK = (in_memory, sqlite, async_sqlite, async_postgres_pool)


@pytest.fixture(params=quick(SAVERS, QUICK), ids=lambda made: made.__name__)
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Saver:
    """Opens a saver; a second one, opened after or beside the first, finds what that one wrote."""
    made = request.param
    where = str(tmp_path / "host.sqlite")
    if "postgres" in made.__name__:
        where = request.getfixturevalue("database")
    return lambda: made(where)


class Host:
    """Calls a graph as a host does that has a saver of this kind: sync ones in threads."""

    def __init__(self, graph: Taskgraph, saver: Any) -> None:
        self.graph = graph
        self._loop_only = "Async" in type(saver).__name__

    async def call(self, given: Any, config: RunnableConfig = CONFIG, user: str = "") -> dict[str, Any]:
        context = Context(user_id=user)
        if self._loop_only:
            return dict(await self.graph.ainvoke(given, config, context=context))
        return dict(await asyncio.to_thread(self.graph.invoke, given, config, context=context))

    async def say(self, text: str, config: RunnableConfig = CONFIG, user: str = "") -> dict[str, Any]:
        return await self.call({"messages": [HumanMessage(text)]}, config, user)

    async def leave(self, text: str, config: RunnableConfig, steps: int | None) -> None:
        """Begin a run, and leave it after some steps, or at its end."""
        given: Any = {"messages": [HumanMessage(text)]}
        parts: Any
        if self._loop_only:
            parts = self.graph.astream(given, config, stream_mode="updates", durability="sync")
            while steps is None or (steps := steps - 1) >= 0:
                if await anext(parts, None) is None:
                    break
            await parts.aclose()
            return
        parts = self.graph.stream(given, config, stream_mode="updates", durability="sync")
        for _ in islice(parts, steps):
            pass
        parts.close()

    async def state(self, config: RunnableConfig = CONFIG) -> dict[str, Any]:
        if self._loop_only:
            return dict((await self.graph.aget_state(config)).values)
        return dict(self.graph.get_state(config).values)


def whole(values: dict[str, Any], turns: int) -> None:
    """Every turn once: its message, its reply, its number and its task."""
    assert values["turn"].number == turns
    assert [one.type for one in values["messages"]] == ["human", "ai"] * turns
    titles = sorted(node.title for node in values["tasks"].values())
    assert titles == sorted(one.text.removeprefix("task ") for one in values["messages"][::2])


def held(saver: Saver, does: Callable[[Host], Any]) -> None:
    async def run() -> None:
        async with saver() as made:
            await does(Host(build_graph(services(), checkpointer=made), made))

    asyncio.run(run())


def test_a_thread_is_gone_on_with_by_another_saver(saver: Saver, request: pytest.FixtureRequest) -> None:
    """Over more turns than lie between two snapshots of the tasks."""

    async def first(host: Host) -> None:
        await host.say("task trip; put t1 place Rome")
        for number in range(30):
            await host.say(f"set t2 Paris{number}")
        history = [state.value for state in (await host.state())["tasks"]["t2"].states()]
        assert history == ["Rome", *(f"Paris{number}" for number in range(30))]

    async def second(host: Host) -> None:
        done = await host.say("ask t2")
        assert (done["turn"].number, len(done["messages"])) == (32, 64)
        assert "It is Paris29" in done["turn"].reply

    held(saver, first)
    if "in_memory" not in request.node.name:
        held(saver, second)


def test_an_approval_and_an_earlier_turn(saver: Saver) -> None:
    async def talk(host: Host) -> None:
        ask: RunnableConfig = {"configurable": {"thread_id": "asked"}}
        first = await host.say("task trip; put t1 place Rome", ask)
        context = Context(approve=True)
        given: Any = {"messages": [HumanMessage("drop t1")]}
        no: Command[Any] = Command(resume={"approve": False})
        if host._loop_only:
            asked = await host.graph.ainvoke(given, ask, context=context)
            kept = await host.graph.ainvoke(no, ask, context=context)
            history = [one async for one in host.graph.aget_state_history(ask)]
        else:
            asked = host.graph.invoke(given, ask, context=context)
            kept = host.graph.invoke(no, ask, context=context)
            history = list(host.graph.get_state_history(ask))
        assert asked["__interrupt__"][0].value["tasks"] == ["trip", "place"]
        assert "nothing was removed" in kept["turn"].reply
        former = next(one for one in history if not one.next and one.values["turn"].number == 1)
        forked = await host.say("set t2 Bonn", former.config)
        assert [state.value for state in forked["tasks"]["t2"].states()] == ["Rome", "Bonn"]
        assert forked["turn"].number == first["turn"].number + 1

    held(saver, talk)


def test_a_thread_has_one_owner(saver: Saver) -> None:
    async def talk(host: Host) -> None:
        await host.say("task trip", user="ann")
        with pytest.raises(ForeignThreadError):
            await host.say("task secret", user="bob")
        whole(await host.state(), 1)

    held(saver, talk)


@pytest.mark.parametrize("steps", [1, None])
def test_a_run_that_is_begun_anew_is_one_turn(saver: Saver, steps: int | None) -> None:
    """As servers do whose worker died: under the same id, with the same input; another run may have come."""

    async def talk(host: Host) -> None:
        for between in (False, True):
            thread, run = f"thread {between}", str(uuid4())
            on: RunnableConfig = {"configurable": {"thread_id": thread}}
            config: RunnableConfig = {
                "configurable": {"thread_id": thread, "run_id": run}, "run_id": UUID(run)
            }  # fmt: skip
            await host.say("task first", on)
            await host.leave("task cut", config, steps)
            if between:
                await host.say("task other", on)
            if between and steps:
                before = await host.state(on)
                with pytest.raises(RunCutError, match=thread):
                    await host.say("task cut", config)
                assert await host.state(on) == before
                continue
            for _ in range(2):
                await host.say("task cut", config)
            values = await host.state(on)
            whole(values, 2 + between)
            assert [one.text[5:] for one in values["messages"][::2]] == ["first", "cut", "other"][
                : 2 + between
            ]

    held(saver, talk)


@pytest.mark.attack
@pytest.mark.timeout(1800)
def test_six_at_once(saver: Saver) -> None:
    async def talk(host: Host) -> None:
        for begun in range(0, ROUNDS, LONG):
            rounds = range(min(LONG, ROUNDS - begun))
            config: RunnableConfig = {"configurable": {"thread_id": f"thread {begun}"}}
            for turn in rounds:
                done = await asyncio.gather(*(host.say(f"task job{turn}_{n}", config) for n in SIX))
                assert sorted(one["turn"].number for one in done) == [turn * 6 + n + 1 for n in SIX]
            whole(await host.state(config), 6 * len(rounds))

    held(saver, talk)


@pytest.mark.attack
@pytest.mark.timeout(1800)
def test_what_is_approved_six_times_at_once_is_done_once(saver: Saver) -> None:
    async def talk() -> None:
        tools = Tools()
        yes: Command[Any] = Command(resume={"approve": True})
        async with saver() as made:
            hosts = [
                Host(build_graph(tool_services(Equipment(tools.registry())), checkpointer=made), made)
                for _ in SIX
            ]
            for turn in range(min(ROUNDS, 20)):
                config: RunnableConfig = {"configurable": {"thread_id": f"trip{turn}"}}
                asked = await hosts[0].say("task trip; put t1 place Rome; put t1 day Friday", config)
                assert "__interrupt__" in asked
                await asyncio.gather(*(host.call(yes, config) for host in hosts))
                assert [call[0] for call in tools.calls] == ["find", "book"] * (turn + 1)
                assert (await hosts[0].state(config))["turn"].number == 1

    asyncio.run(talk())


@pytest.mark.timeout(60)
def test_tools_at_once_need_no_more_threads_than_the_loop_has(saver: Saver) -> None:
    """A saver of the loop's may want one of its threads, while tools are at work in others."""

    async def talk() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        tools = Tools()
        async with saver() as made:
            equipment = Equipment(Registry([equip(tools.find, needs=["place", "day"], gives="flights")]))
            host = Host(build_graph(tool_services(equipment), checkpointer=made), made)
            said = "task trip; put t1 place Rome; put t1 day Friday"
            configs: list[RunnableConfig] = [{"configurable": {"thread_id": f"trip{n}"}} for n in SIX]
            await asyncio.gather(*(host.say(said, config) for config in configs))
        assert tools.calls == [("find", "Rome", "Friday")] * 6

    asyncio.run(talk())


@pytest.mark.attack
@pytest.mark.timeout(1800)
def test_two_savers_keep_each_other_off_a_thread(saver: Saver, request: pytest.FixtureRequest) -> None:
    """Each on its own connection, as two processes have it."""
    if "in_memory" in request.node.name:
        pytest.skip("what is in memory is of one saver")

    async def talk() -> None:
        async with saver() as one, saver() as two:
            hosts = [Host(build_graph(services(), checkpointer=made), made) for made in (one, two)]
            rounds = min(ROUNDS, LONG)
            for turn in range(rounds):
                await asyncio.gather(*(hosts[n % 2].say(f"task job{turn}_{n}") for n in SIX))
            whole(await hosts[0].state(), 6 * rounds)
            left: Any = hosts[0].graph.astream if hosts[0]._loop_only else hosts[0].graph.stream
            parts = left({"messages": [HumanMessage("task last")]}, CONFIG, stream_mode="updates")
            refused = Host(build_graph(services(), checkpointer=two, patience=0), two)
            if hosts[0]._loop_only:
                await anext(parts)
                with pytest.raises(ThreadBusyError, match="'one' is in use"):
                    await refused.say("task no")
                await parts.aclose()
            else:
                next(parts)
                with pytest.raises(ThreadBusyError, match="'one' is in use"):
                    await refused.say("task no")
                parts.close()
            await refused.say("task yes")

    asyncio.run(talk())


TALKER = """
import asyncio, sys
from langchain_core.messages import HumanMessage
from taskloom.agent.graph.build import build_graph
from tests import test_savers
from tests.scripted import services
async def talk():
    async with getattr(test_savers, sys.argv[1])(sys.argv[2]) as made:
        host = test_savers.Host(build_graph(services(), checkpointer=made), made)
        for n in range(int(sys.argv[4])):
            await host.say(f"task {sys.argv[3]}{n}")
asyncio.run(talk())
"""


def processes(kind: str, url: str, names: str, turns: int) -> list[int]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    running = [
        subprocess.Popen(
            [sys.executable, "-c", TALKER, kind, url, name, str(turns)],
            env={**os.environ, "PYTHONPATH": path},
        )
        for name in names
    ]
    return [process.wait(240) for process in running]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["postgres_connection", "async_postgres_pool"])
def test_processes_on_one_database(kind: str, database: str) -> None:
    held(lambda: async_postgres_pool(database), lambda host: asyncio.sleep(0))  # the tables
    assert processes(kind, database, "abc", 10) == [0, 0, 0]

    async def look(host: Host) -> None:
        whole(await host.state(), 30)

    held(lambda: async_postgres_pool(database), look)


def test_a_killed_run_holds_nothing(postgres: PostgresServer, database: str) -> None:
    """The server lets go of what a process held that is gone; here its connections are cut."""

    async def talk(host: Host) -> None:
        parts: Any = host.graph.astream({"messages": [HumanMessage("task a")]}, CONFIG, stream_mode="updates")
        await anext(parts)
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            ).fetchall()
        other = build_graph(services(), checkpointer=host.graph.checkpointer, patience=5)
        with psycopg.connect(database, autocommit=True) as connection:
            assert connection.execute(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
            ).fetchone() == (0,)
        await parts.aclose()
        assert (await other.ainvoke({"messages": [HumanMessage("task b")]}, CONFIG))["turn"].number >= 1

    held(lambda: async_postgres_pool(database), talk)
