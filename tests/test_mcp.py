"""Tools of a real MCP server over stdio and HTTP, and servers that are missing, die, hang or babble."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from pydantic import HttpUrl, SecretStr, TypeAdapter, ValidationError

from taskloom.tools.errors import (
    TimeLimitError,
    ToolDefinitionError,
    ToolError,
    TransientError,
    UnavailableError,
)
from taskloom.tools.mcp import McpTools, mcp_tools
from taskloom.tools.mcp_servers import HttpServer, Server, StdioServer

PROGRAM = str(Path(__file__).with_name("mcp_server.py"))
KEY = SecretStr("hidden-key-123")


def stdio(**more: Any) -> StdioServer:
    return StdioServer(command=sys.executable, args=(PROGRAM, "stdio"), **more)


def python(code: str, **more: Any) -> StdioServer:
    return StdioServer(command=sys.executable, args=("-c", textwrap.dedent(code)), **more)


def scripted(*results: Mapping[str, Any], tools: tuple[str, ...] = ("count",)) -> StdioServer:
    """A server whose calls have these results, an error of the protocol where there is none left."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    listed = [{"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema} for name in tools]
    return python(
        f"""
        import json, sys
        results = {[*results]!r}
        for line in sys.stdin:
            asked = json.loads(line)
            answer = {{"jsonrpc": "2.0", "id": asked.get("id")}}
            match asked["method"]:
                case "initialize":
                    answer["result"] = {{"protocolVersion": "2025-06-18", "capabilities": {{}}}}
                    answer["result"]["serverInfo"] = {{"name": "scripted", "version": "1"}}
                case "tools/list":
                    answer["result"] = {{"tools": {listed!r}}}
                case "tools/call" if results:
                    answer["result"] = results.pop(0)
                case "tools/call":
                    answer["error"] = {{"code": -32603, "message": "out of results, hidden-key-123"}}
                case _:
                    continue
            print(json.dumps(answer), flush=True)
        """,
        env={"TEST_KEY": KEY},
    )


def free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Web:
    """The server over HTTP, in a process of its own."""

    def __init__(self) -> None:
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, "http", str(self.port)], stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise TimeoutError("the server did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def settings(self, **more: Any) -> HttpServer:
        return HttpServer(url=HttpUrl(f"http://127.0.0.1:{self.port}/mcp"), **more)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    running = Web()
    yield running
    running.stop()


@pytest.fixture(scope="module", params=["stdio", "http"])
def tools(request: pytest.FixtureRequest) -> Iterator[McpTools]:
    if request.param == "stdio":
        server: Server = stdio(env={"TEST_KEY": KEY})
    else:
        server = request.getfixturevalue("web").settings(headers={"Authorization": KEY})
    with mcp_tools({"test": server}) as found:
        yield found


def named(tools: list[BaseTool], name: str) -> BaseTool:
    return next(tool for tool in tools if tool.name == name)


def invoke(tools: list[BaseTool], name: str, **arguments: Any) -> Any:
    return named(tools, name).invoke(arguments)


def message(tools: list[BaseTool], name: str, **arguments: Any) -> Any:
    return named(tools, name).invoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def started_since(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads that were started since and are not ended within five seconds.

    Where Python waits for a process in a thread, that one tells of the end a moment before its own.
    """
    for _ in range(500):
        if set(threading.enumerate()) <= before:
            break
        time.sleep(0.01)
    return [one for one in threading.enumerate() if one not in before]


# ---- a server that works --------------------------------------------------------------------------------


def test_every_tool_with_its_description(tools: McpTools) -> None:
    assert len(tools) == 11
    add = named(tools, "add")
    assert add.description == "Add two numbers."
    assert isinstance(add.args_schema, dict)
    assert add.args_schema["required"] == ["first", "second"]


def test_hints_say_what_has_side_effects(tools: McpTools) -> None:
    effects = {tool.name: (tool.metadata or {})["side_effects"] for tool in tools}
    assert {name for name, has in effects.items() if not has} == {"add"}
    assert (tools[0].metadata or {})["server"] == "test"


def test_from_any_thread_and_on_any_loop(tools: McpTools) -> None:
    async def inside() -> list[str]:
        add = named(tools, "add")
        asked = [add.ainvoke({"first": number, "second": 1}) for number in range(5)]
        return [add.invoke({"first": 10, "second": 1}), *await asyncio.gather(*asked)]

    assert asyncio.run(inside()) == ["11", "1", "2", "3", "4", "5"]
    with ThreadPoolExecutor(4) as pool:
        sums = pool.map(lambda number: invoke(tools, "add", first=number, second=1), range(8))
        assert list(sums) == [str(number + 1) for number in range(8)]


def test_structured_content_is_the_artifact(tools: McpTools) -> None:
    told = message(tools, "place", city="Rome")
    assert told.artifact == {"name": "Rome", "people": 7}
    assert json.loads(told.content) == told.artifact


def test_a_picture_is_told_as_such(tools: McpTools) -> None:
    assert invoke(tools, "picture") == "Here it is:\n[image, image/png, 100 bytes]"


def test_what_else_a_result_may_hold(tools: McpTools) -> None:
    assert invoke(tools, "blocks").splitlines() == [
        "[audio, audio/wav, 5 bytes]",
        "[page: https://example.org/]",
        "inside",
        "[file, of unknown type, 5 bytes]",
    ]


def test_an_error_of_the_tool(tools: McpTools) -> None:
    with pytest.raises(ToolError, match=r"the MCP server 'test': .*no luck with x") as error:
        invoke(tools, "fail", text="x")
    assert KEY.get_secret_value() not in str(error.value)
    assert not isinstance(error.value, TransientError)


def test_wrong_arguments_are_the_servers_to_refuse(tools: McpTools) -> None:
    with pytest.raises(ToolError, match="first"):
        invoke(tools, "add", first="abc", second=1)


def test_argument_and_tool_names_that_langchain_would_stumble_over(tools: McpTools) -> None:
    assert invoke(tools, "odd_names", runtime="a", config="b", run_manager="c") == "a b c"


def test_one_session_is_kept(tools: McpTools) -> None:
    first, second = (message(tools, "about").artifact["pid"] for _ in range(2))
    assert first == second


def test_environment_folder_and_headers(tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_OTHER", "not passed on")
    log = tmp_path / "log"
    with mcp_tools({"test": stdio(env={"TEST_KEY": KEY}, cwd=tmp_path, log=log)}) as tools:
        about = message(tools, "about").artifact
    assert (about["key"], about["cwd"], about["home"]) == (KEY.get_secret_value(), str(tmp_path), None)
    assert log.read_text() == "started\n"
    with mcp_tools({"test": web.settings(headers={"Authorization": KEY})}) as tools:
        assert message(tools, "about").artifact["authorization"] == KEY.get_secret_value()


def test_names_that_two_servers_have_get_a_prefix(web: Web) -> None:
    with mcp_tools({"one": stdio(), "two": web.settings()}) as tools:
        assert len({tool.name for tool in tools}) == len(tools) == 22
        assert invoke(tools, "one_add", first=1, second=2) == invoke(tools, "two_add", first=1, second=2)
        assert (named(tools, "two_add").metadata or {})["server"] == "two"


# ---- closing --------------------------------------------------------------------------------------------


def test_closing_ends_process_and_thread() -> None:
    before = set(threading.enumerate())
    tools = mcp_tools({"test": stdio()})
    pid = message(tools, "about").artifact["pid"]
    assert "mcp" in {one.name for one in set(threading.enumerate()) - before}
    tools.close()
    tools.close()
    assert gone(pid)
    assert started_since(before) == []
    with pytest.raises(UnavailableError, match="were closed"):
        invoke(tools, "add", first=1, second=2)


def test_a_program_that_forgets_to_close_leaves_nothing_behind() -> None:
    code = f"""
        import sys
        from taskloom.tools.mcp import mcp_tools
        from taskloom.tools.mcp_servers import StdioServer
        tools = mcp_tools({{"test": StdioServer(command=sys.executable, args=({PROGRAM!r}, "stdio"))}})
        call = {{"type": "tool_call", "id": "1", "name": "about", "args": {{}}}}
        print(next(tool for tool in tools if tool.name == "about").invoke(call).artifact["pid"])
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert gone(int(done.stdout))
    assert done.stderr == ""


@pytest.mark.slow
def test_a_server_that_does_not_want_to_end_is_made_to(tmp_path: Path) -> None:
    stubborn = f"""
        import os, runpy, signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.argv = ["server", "stdio"]
        try:
            runpy.run_path({PROGRAM!r}, run_name="__main__")
        finally:
            time.sleep(600)
    """
    tools = mcp_tools({"test": python(stubborn)})
    pid = message(tools, "about").artifact["pid"]
    tools.close()
    assert gone(pid)


# ---- servers that fail ----------------------------------------------------------------------------------


def test_a_server_that_dies_in_a_call_is_started_again(tmp_path: Path) -> None:
    with mcp_tools({"mortal": stdio()}) as tools:
        with pytest.raises(TransientError, match="'mortal' broke off"):
            invoke(tools, "die")
        assert invoke(tools, "add", first=1, second=2) == "3"
        os.kill(message(tools, "about").artifact["pid"], signal.SIGKILL)
        time.sleep(0.5)
        assert invoke(tools, "add", first=1, second=2) == "3"


@pytest.mark.slow
def test_a_server_over_http_that_dies_and_comes_back() -> None:
    web = Web()
    try:
        with mcp_tools({"mortal": web.settings(timeout=20)}) as tools:
            with pytest.raises(TransientError, match="'mortal'"):
                invoke(tools, "die")
            web.process.wait()
            with pytest.raises(UnavailableError, match="'mortal' cannot be reached"):
                invoke(tools, "add", first=1, second=2)
            web.start()
            assert invoke(tools, "add", first=1, second=2) == "3"
            web.stop()
            web.start()  # it knows nothing of the session
            with pytest.raises(TransientError, match="'mortal'"):
                invoke(tools, "add", first=1, second=2)
            assert invoke(tools, "add", first=1, second=2) == "3"
    finally:
        web.stop()


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_stopped() -> None:
    with mcp_tools({"slow": stdio(timeout=1)}) as tools:
        pid = message(tools, "about").artifact["pid"]
        with pytest.raises(TimeLimitError, match="'slow' took longer than 1 s for 'sleep'"):
            invoke(tools, "sleep", seconds=60)
        assert gone(pid)
        assert invoke(tools, "add", first=1, second=2) == "3"


def test_an_awaited_call_can_be_cancelled() -> None:
    async def cancelled(tools: McpTools) -> None:
        async with asyncio.timeout(0.2):
            await named(tools, "sleep").ainvoke({"seconds": 1})

    with mcp_tools({"test": stdio()}) as tools:
        with pytest.raises(TimeoutError):
            asyncio.run(cancelled(tools))
        assert invoke(tools, "add", first=1, second=2) == "3"


@pytest.mark.parametrize(
    ("server", "kind", "told"),
    [
        (StdioServer(command="no-such-program"), UnavailableError, "cannot be started: .*no-such-program"),
        (stdio(cwd=Path("/no/such/folder")), UnavailableError, "cannot be started: .*/no/such/folder"),
        (HttpServer(url=HttpUrl(f"http://127.0.0.1:{free_port()}/")), UnavailableError, "cannot be reached"),
        (python("raise SystemExit(1)"), UnavailableError, "ended before it answered"),
        (python("import time; time.sleep(60)", connect_timeout=0.5), TimeLimitError, "did not answer in 0.5"),
        (
            python(
                """
                print('{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 7}}', flush=True)
                input(), input()
                """
            ),
            UnavailableError,
            ".*not in the protocol",
        ),
        (python("print('Hello!', flush=True); input()"), UnavailableError, "ended before it answered"),
    ],
    ids=["no program", "no folder", "no port", "ends", "hangs", "wrong version", "babbles"],
)  # fmt: skip
def test_a_server_that_cannot_be_used(server: Server, kind: type[ToolError], told: str) -> None:
    before = set(threading.enumerate())
    with pytest.raises(kind, match=f"the MCP server 'broken' {told}"):
        mcp_tools({"broken": server})
    assert started_since(before) == []


def test_results_that_are_odd() -> None:
    odd = scripted(
        {"content": [], "structuredContent": {"n": 1}},
        {"content": [], "structuredContent": {"n": "one"}},
        {"content": [], "isError": True},
        {"content": "text"},
    )
    with mcp_tools({"odd": odd}) as tools:
        assert tools[0].description == "count"
        assert invoke(tools, "count") == '{"n": 1}'
        with pytest.raises(ToolError, match="'odd' answered something that is not in the protocol"):
            invoke(tools, "count")
        with pytest.raises(ToolError, match="'odd': the tool failed and did not say why"):
            invoke(tools, "count")
        with pytest.raises(ToolError, match="'odd' answered something that is not in the protocol"):
            invoke(tools, "count")
        with pytest.raises(ToolError, match=r"'odd': out of results, \*\*\*$"):
            invoke(tools, "count")


def test_two_tools_that_cannot_be_told_apart() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools of MCP servers would be called 'odd_a_b'"):
        mcp_tools({"odd": scripted(tools=("a.b", "a_b"))})


def test_a_tool_that_is_gone_after_a_restart(tmp_path: Path) -> None:
    code = f"""
        import pathlib, runpy, sys
        from mcp.server.fastmcp import FastMCP
        server, mark = FastMCP("changing", log_level="ERROR"), pathlib.Path({str(tmp_path / "mark")!r})
        @server.tool()
        def die() -> None:
            import os
            os._exit(1)
        if not mark.exists():
            server.add_tool(lambda: "here", name="once", description="Once.")
        mark.touch()
        server.run()
    """
    with mcp_tools({"changing": python(code)}) as tools:
        assert invoke(tools, "once") == "here"
        with pytest.raises(TransientError):
            invoke(tools, "die")
        with pytest.raises(UnavailableError, match="'changing' has no tool 'once' any more"):
            invoke(tools, "once")


class _Fixed(BaseHTTPRequestHandler):
    status, body = 200, b"<html></html>"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json" if self.body[:1] == b"{" else "text/html")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        ({"status": 401}, UnavailableError, r"refused the key \(401\): check its headers"),
        ({"status": 503}, TransientError, r"could not answer now \(503\)"),
        ({"status": 400}, UnavailableError, r"does not take MCP requests at its URL \(400\)"),
        ({"status": 404}, UnavailableError, "does it speak MCP"),
        ({}, UnavailableError, "does it speak MCP"),
        ({"body": b'{"no": "message"}'}, UnavailableError, "does it speak MCP"),
    ],
)
def test_a_web_server_that_is_none_for_mcp(
    answer: Mapping[str, Any], kind: type[ToolError], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with HTTPServer(("127.0.0.1", 0), type("Handler", (_Fixed,), dict(answer))) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        url = HttpUrl(f"http://127.0.0.1:{http.server_address[1]}/mcp")
        with pytest.raises(kind, match=f"the MCP server 'web' .*{told}"):
            mcp_tools({"web": HttpServer(url=url, headers={"Authorization": KEY})})
        http.shutdown()
        thread.join()
    assert KEY.get_secret_value() not in caplog.text


def test_one_missing_server_of_two_leaves_no_process(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = f"""
        import os, runpy, sys
        open({str(mark)!r}, "w").write(str(os.getpid()))
        sys.argv = ["server", "stdio"]
        runpy.run_path({PROGRAM!r}, run_name="__main__")
    """
    with pytest.raises(UnavailableError, match="'lost'"):
        mcp_tools({"here": python(code), "lost": StdioServer(command="no-such-program")})
    assert gone(int(mark.read_text()))


# ---- settings -------------------------------------------------------------------------------------------


def test_settings_are_read_checked_and_keep_their_secrets() -> None:
    reader: TypeAdapter[dict[str, Server]] = TypeAdapter(dict[str, Server])
    read = reader.validate_python(
        {
            "a": {"command": "x", "args": ["1"], "env": {"K": "hidden-key-123"}},
            "b": {"url": "https://example.org/mcp", "headers": {"Authorization": "hidden-key-123"}},
        }
    )
    assert isinstance(read["a"], StdioServer)
    assert isinstance(read["b"], HttpServer)
    assert "hidden" not in f"{read!r} {read['a'].model_dump_json()} {read['b'].model_dump_json()}"
    for wrong in (
        {},
        {"command": "x", "url": "http://x"},
        {"url": "ftp://x"},
        {"command": "x", "timeout": 0},
    ):
        with pytest.raises(ValidationError):
            reader.validate_python({"a": wrong})
    with pytest.raises(ToolDefinitionError, match="'my server' is not a name"):
        mcp_tools({"my server": stdio()})


def test_without_the_library_the_message_names_the_command() -> None:
    code = """
        import sys
        sys.modules["langchain_mcp_adapters"] = None
        from taskloom.tools.errors import UnavailableError
        try:
            import taskloom.tools.mcp
        except UnavailableError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.endswith("pip install 'taskloom[mcp]'\n")
