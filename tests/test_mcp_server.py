"""`taskloom mcp`: real clients of the protocol, over stdio and HTTP; servers in processes of their own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
import typer.main
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, ConfigDict, Field

from taskloom.agent.cli.main import app
from taskloom.agent.cli.mcp import HOST, PORT
from taskloom.agent.parts.mcp_http import PATH
from taskloom.agent.parts.mcp_server import offered
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from taskloom.memory.tasks import TaskGraph

ROOT = Path(__file__).parent.parent
COMMANDS = typer.main.get_group(app).commands
TASKLOOM = Path(sys.executable).with_name("taskloom")
KEY = "a-key-of-24-characters!!"
Open = Callable[..., AbstractAsyncContextManager[ClientSession]]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "TASKLOOM_HOME": str(home),
        "TASKLOOM_MODEL": "",
        "TASKLOOM_LOCK_TIMEOUT": "200",
        **more,
    }


@asynccontextmanager
async def over_stdio(home: Path, *args: str) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(command=str(TASKLOOM), args=["mcp", *args], env=environment(home))
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Web:
    """`taskloom mcp --http` in a process of its own."""

    def __init__(self, home: Path, *args: str, **env: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.process = subprocess.Popen(
            [TASKLOOM, "mcp", "--http", "--port", str(self.port), *args],
            env=environment(home, **env), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr
        self.told = self.process.stderr.readline()
        end = time.monotonic() + 240
        while time.monotonic() < end:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError(self.told)

    def __enter__(self) -> Web:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=240)

    @asynccontextmanager
    async def client(self, key: str = "") -> AsyncIterator[ClientSession]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx.AsyncClient(headers=headers, timeout=240) as http,
            streamable_http_client(self.url, http_client=http) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            yield session


@asynccontextmanager
async def over_http(home: Path, *args: str) -> AsyncIterator[ClientSession]:
    with await asyncio.to_thread(Web, home, *args) as web:
        async with web.client() as session:
            yield session


@pytest.fixture(params=[over_stdio, over_http], ids=["stdio", "http"])
def opens(request: pytest.FixtureRequest) -> Open:
    found: Open = request.param
    return found


async def called(session: ClientSession, name: str, **args: Any) -> tuple[str, bool]:
    """What a call tells, and whether it is an error."""
    result = await session.call_tool(name, args)
    (content,) = result.content
    assert content.type == "text"
    return content.text, bool(result.isError)


async def told(session: ClientSession, name: str, **args: Any) -> str:
    text, wrong = await called(session, name, **args)
    assert not wrong, text
    return text


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scenario)


def kept(home: Path, thread: str = "main") -> TaskGraph:
    with Taskloom.open(Settings(home=home, memory=False)) as opened:
        return opened.tasks(thread)


# ---- one client -----------------------------------------------------------------------------------


def test_a_client_changes_and_asks_a_plan_and_a_memory(opens: Open, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with opens(tmp_path) as session:
            assert "t1" in await told(session, "add_task", title="Buy fish")
            await told(session, "add_task", title="Cook", after=["Buy fish"])
            assert (await called(session, "complete_task", task="Cook"))[1]
            assert "$20" in await told(session, "say", text="The budget is $20.")
            assert "can go on now: t2" in await told(session, "complete_task", task="t1")
            assert "kind: holds" in await told(session, "check_tasks", value="$20")
            assert "complete" in await told(session, "task_history", task="t1")
            assert "(open)" in await told(session, "undo_tasks")
            assert "next:\nt1" in await told(session, "check_tasks")
            assert "fish" in await told(session, "say", text="What is left?")

            line = await told(session, "remember", text="Deploy only on Tuesdays")
            await told(session, "remember", text="Mia is allergic to nuts. She lives in Oslo.")
            found = await told(session, "recall", query="When do we deploy?", limit=2)
            assert "Deploy only on Tuesdays" in found.splitlines()[0]
            assert "Mia lives in Oslo" in await told(session, "recall", query="Where does Mia live?")
            assert "Deploy" in await told(session, "forget", ids=[line.split()[0]])
            assert "Tuesdays" not in await told(session, "recall", query="When do we deploy?")
            assert await called(session, "forget", ids=["nothing"]) == (
                "refused: 'nothing': there is no such record", True
            )  # fmt: skip

            for name, args in (("no_tool", {}), ("add_task", {}), ("say", {"text": ""}), ("recall", {})):
                assert (await called(session, name, **args))[1], name
            await told(session, "add_task", title="a lone \x1b[2J one")
            assert "\x1b" not in await told(session, "check_tasks")

    run(scenario())
    assert [node.title for node in kept(tmp_path).parts(None)][:2] == ["Buy fish", "Cook"]


def test_without_memory_there_are_no_tools_for_it(tmp_path: Path) -> None:
    with Web(tmp_path, TASKLOOM_MEMORY="0") as web:

        async def scenario() -> None:
            async with web.client() as session:
                names = {tool.name for tool in (await session.list_tools()).tools}
                assert "add_task" in names
                assert not names & {"remember", "recall", "forget"}
                assert (await called(session, "remember", text="x"))[1]

        run(scenario())


# ---- several at once ------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_clients_at_a_time_lose_no_write(opens: Open, tmp_path: Path) -> None:
    """Two processes, and in each of them calls at once; then what was said, and what was remembered."""

    async def work(session: ClientSession, name: str) -> None:
        for number in range(8):
            await told(session, "add_task", title=f"{name} {number}")
            if number % 4 == 3:
                await told(session, "remember", text=f"The code of {name}{number} is {number + 7000}")
                found = await told(session, "recall", query=f"the code of {name}{number}")
                assert str(number + 7000) in found
        await told(session, "say", text=f"Plan the {name} trip")

    async def scenario() -> None:
        async with AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(opens(tmp_path)) for _ in range(2)]
            names = ["Rome", "Oslo", "Kyiv", "Lima"]
            await asyncio.gather(*(work(sessions[n % 2], name) for n, name in enumerate(names)))
            for session in sessions:
                titles = await told(session, "say", text="Summarize the plan.")
                assert "rome" in titles.lower()
            found = await told(sessions[0], "recall", query="the code of", limit=50)
            assert len(re.findall(r"\b70\d\d\b", found)) == 8

    run(scenario())
    titles = [node.title for node in kept(tmp_path).values()]
    wanted = [f"{name} {number}" for name in ("Rome", "Oslo", "Kyiv", "Lima") for number in range(8)]
    assert sorted(title for title in titles if title[-1].isdigit()) == sorted(wanted)
    assert sum("trip" in title.lower() for title in titles) == 4


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    with Web(tmp_path) as web:

        async def scenario() -> None:
            async with over_stdio(tmp_path) as other, httpx.AsyncClient(timeout=240) as http:
                await told(other, "add_task", title="of the other")
                head = {"Accept": "application/json, text/event-stream"}
                for number in range(20):
                    if number == 10:
                        os.kill(web.process.pid, signal.SIGKILL)
                    args = {"title": f"job {number}"}
                    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
                    body = {**call, "params": {"name": "add_task", "arguments": args}}
                    try:
                        answer = await http.post(web.url, json=body, headers=head)
                    except httpx.HTTPError:
                        continue
                    assert f"job {number}" in answer.text
                    acknowledged.append(f"job {number}")
                await told(other, "add_task", title="of the other again")

        acknowledged: list[str] = []
        run(scenario())
        assert len(acknowledged) == 10
        titles = {node.title for node in kept(tmp_path).values()}
        assert {*acknowledged, "of the other", "of the other again"} <= titles


def test_a_chat_and_a_client_share_a_plan(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with over_stdio(tmp_path, "--thread", "trip") as session:
            await told(session, "add_task", title="Book a hotel")
            with Taskloom.open(Settings(home=tmp_path)) as opened:
                reply = opened.talk("Rename the hotel to inn", thread="trip").reply
                assert opened.threads()[0].thread == "trip"
                assert reply
                await told(session, "add_task", title="Pack")
                assert "pack" in opened.talk("What is left?", thread="trip").reply.lower()

    run(scenario())


# ---- whose it is ----------------------------------------------------------------------------------


def test_nobody_reaches_what_is_anothers(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with over_stdio(tmp_path, "--user", "ann") as ann:
            await told(ann, "add_task", title="Secret plan")
            line = await told(ann, "remember", text="The vault opens with 4711")
            await told(ann, "recall", query="vault")
            async with over_stdio(tmp_path, "--user", "bob") as bob:
                for name, args in (
                    ("say", {"text": "What is left?"}), ("check_tasks", {}), ("undo_tasks", {}),
                    ("add_task", {"title": "x"}), ("task_history", {"task": "t1"}),
                ):  # fmt: skip
                    text, wrong = await called(bob, name, **args)
                    assert wrong, name
                    assert "another user" in text
                    assert "Secret" not in text
                assert "4711" not in await told(bob, "recall", query="The vault opens with 4711")
                assert (await called(bob, "forget", ids=[line.split()[0]]))[1]
            assert "4711" in await told(ann, "recall", query="vault")

    run(scenario())


def test_user_and_thread_are_settings(tmp_path: Path) -> None:
    with Web(tmp_path, TASKLOOM_MCP_USER="ann", TASKLOOM_MCP_THREAD="trip", TASKLOOM_MCP_KEY=KEY) as web:

        async def scenario() -> None:
            async with web.client(KEY) as session:
                await told(session, "add_task", title="Pack")

        run(scenario())
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as opened:
        (info,) = opened.threads()
        assert (info.thread, info.user) == ("trip", "ann")


def test_what_waits_for_approval_is_not_the_agents_to_approve(tmp_path: Path) -> None:
    with Taskloom.open(Settings(home=tmp_path, memory=False)) as opened:
        opened.talk("Plan a trip to Rome on June 10th")
        opened.talk("Cancel the trip", context=Context(approve=True))
        assert opened.pending()

    async def scenario() -> None:
        async with over_stdio(tmp_path) as session:
            for name, args in (("say", {"text": "yes"}), ("add_task", {"title": "x"})):
                text, wrong = await called(session, name, **args)
                assert wrong
                assert "taskloom chat --thread main" in text
            await told(session, "check_tasks")

    run(scenario())
    assert kept(tmp_path)["t1"].active


# ---- HTTP -----------------------------------------------------------------------------------------


HEAD = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    more = ("--host", "0.0.0.0", "--allow-host", "plans.example.org")  # noqa: S104  # that is what is tested
    with Web(tmp_path_factory.mktemp("keyed"), *more, TASKLOOM_MCP_KEY=KEY) as web:
        yield web


def test_only_the_key_lets_in(keyed: Web) -> None:
    assert "with the key" in keyed.told
    assert KEY not in keyed.told
    for given in ({}, {"Authorization": "Bearer " + KEY[:-1]}, {"Authorization": KEY}):
        answer = httpx.post(keyed.url, json=LIST, headers={**HEAD, **given})
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["www-authenticate"]
        assert "add_task" not in answer.text

    async def scenario() -> None:
        async with keyed.client(KEY) as session:
            await told(session, "add_task", title="a")
            assert "next:\nt1" in await told(session, "check_tasks")

    run(scenario())
    answer = httpx.post(keyed.url, json=LIST, headers={**HEAD, "Authorization": f"Bearer {KEY}"})
    assert "add_task" in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.org"}, 421),
        ({"Host": "127.0.0.1.evil.example.org"}, 421),
        ({"Origin": "http://evil.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "plans.example.org"}, 200),
        ({"Host": "plans.example.org:443", "Origin": "https://plans.example.org"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_a_page_under_a_name_of_its_own_gets_nothing(
    keyed: Web, headers: dict[str, str], status: int
) -> None:
    given = {**HEAD, "Authorization": f"Bearer {KEY}", **headers}
    answer = httpx.post(keyed.url, json=LIST, headers=given)
    assert answer.status_code == status, answer.text
    assert ("add_task" in answer.text) == (status == 200)


@pytest.mark.parametrize(
    ("args", "env", "said"),
    [
        (["--http", "--host", "0.0.0.0"], {}, "set TASKLOOM_MCP_KEY"),  # noqa: S104
        (["--http", "--host", "::"], {}, "set TASKLOOM_MCP_KEY"),
        (["--http"], {"TASKLOOM_MCP_KEY": "short"}, "TASKLOOM_MCP_KEY: "),
        (["--port", "80"], {}, "go with --http"),
        (["--http", "--host", "203.0.113.9"], {"TASKLOOM_MCP_KEY": KEY}, "choose another --port"),
        (["--user", " "], {}, "give the name of a user"),
    ],
)
def test_what_cannot_be_served_is_told(
    args: list[str], env: dict[str, str], said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [TASKLOOM, "mcp", *args],
        env=environment(tmp_path, **env),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1 or "Usage" in done.stderr
    assert not done.stdout


def test_a_port_in_use_is_told(keyed: Web, tmp_path: Path) -> None:
    command = [str(TASKLOOM), "mcp", "--http", "--port", str(keyed.port)]
    httpx.get(keyed.url)
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=240)
    assert done.returncode == 2
    assert "address already in use" in done.stderr
    assert "choose another --port" in done.stderr


# ---- the registry ---------------------------------------------------------------------------------


class Form(BaseModel):
    """A part of the registry's format, as its schema of 2025-12-11 has it; nothing else is in it."""

    model_config = ConfigDict(extra="forbid")


class Input(Form):
    name: str | None = None
    type: Literal["positional", "named"] | None = None
    description: str | None = None
    format: Literal["string", "number", "boolean", "filepath"] = "string"
    default: str | None = None
    value: str | None = None
    isRequired: bool = False  # noqa: N815  # the format's
    isSecret: bool = False  # noqa: N815
    variables: dict[str, Input] = {}


class Transport(Form):
    type: Literal["stdio", "streamable-http"]
    url: str | None = None
    headers: list[Input] = []


class Package(Form):
    registryType: Literal["pypi"]  # noqa: N815
    identifier: str
    version: str
    runtimeHint: Literal["uvx"]  # noqa: N815
    runtimeArguments: list[Input]  # noqa: N815
    packageArguments: list[Input]  # noqa: N815
    environmentVariables: list[Input]  # noqa: N815
    transport: Transport


class Listed(Form):
    schema_: Literal["https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"] = Field(
        alias="$schema"
    )
    name: str = Field(pattern=r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
    title: str
    description: str = Field(max_length=100)
    version: str
    packages: list[Package]
    meta: dict[Literal["io.modelcontextprotocol.registry/publisher-provided"], dict[str, list[str]]] = Field(
        alias="_meta"
    )


def test_the_registrys_file_says_what_is_offered() -> None:
    listed = Listed.model_validate_json((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [tool.name for tool in offered(memory=True)] == next(iter(listed.meta.values()))["tools"]
    assert f"mcp-name: {listed.name}" in (ROOT / "README.md").read_text(encoding="utf-8")
    options = {name: one for one in COMMANDS["mcp"].params for name in one.opts}
    for package in listed.packages:
        assert {listed.version, package.version} == {project["version"]}
        assert package.identifier == project["name"]
        assert [one.value for one in package.runtimeArguments] == [f"{project['name']}[mcp]"]
        assert "mcp" in project["optional-dependencies"]
        first, *arguments = package.packageArguments
        assert first.value == "mcp"
        assert {one.name for one in arguments} <= options.keys()
        for one in package.environmentVariables:
            assert one.name
            field = Settings.model_fields.get(one.name.removeprefix("TASKLOOM_").lower())
            assert field, one.name
            assert one.default in (None, str(field.default).replace(str(Path.home()), "~"))
        defaults = {one.name: one.default for one in arguments}
        assert defaults["--thread"] == Settings.model_fields["mcp_thread"].default
        assert defaults["--user"] == Settings.model_fields["mcp_user"].default
        if package.transport.url:
            assert "--http" in defaults
            assert defaults["--port"] == str(PORT)
            assert package.transport.url == f"http://{HOST}:{{--port}}{PATH}"
