"""The tools of MCP servers, through langchain-mcp-adapters (the extra `mcp`).

    with mcp_tools({"files": StdioServer(command="mcp-files", args=("/srv",))}) as tools:
        tools[0].invoke({...})

A session with each server is kept open on an event loop in a thread of its own, since starting a server costs
much more than a call; so tools can be invoked from any thread, and awaited on any loop.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from json import dumps
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, HttpUrl, PositiveFloat, PrivateAttr, SecretStr, ValidationError

from .errors import TimeLimitError, ToolDefinitionError, ToolError, TransientError, UnavailableError

try:
    import anyio
    import httpx
    from langchain_mcp_adapters.interceptors import MCPToolCallRequest, MCPToolCallResult
    from langchain_mcp_adapters.tools import load_mcp_tools
    from mcp import ClientSession, McpError, StdioServerParameters
    from mcp.client.session import MessageHandlerFnT
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import (
        CONNECTION_CLOSED,
        AudioContent,
        CallToolResult,
        ContentBlock,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextContent,
        TextResourceContents,
    )
except ImportError as error:
    raise UnavailableError(f"tools of MCP servers need {error.name}: pip install 'taskloom[mcp]'") from error

PULSE = 3.0  # seconds between two looks whether a server is still there, during a call over HTTP
CLOSING = 6.0  # seconds that a server gets to end; a process is killed after four
ERROR_LENGTH = 2000  # characters of a server's own words in an error

_T = TypeVar("_T")


class _Server(BaseModel):
    """What servers of both kinds have. Times in seconds: to connect, and for one call."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect_timeout: PositiveFloat = 20.0
    timeout: PositiveFloat = 60.0


class StdioServer(_Server):
    """A program that is started here.

    env: added to a few variables such as PATH; nothing else of the environment is passed on. log: the file
    that its error output is added to; None: it is dropped.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = {}
    cwd: Path | None = None
    log: Path | None = None


class HttpServer(_Server):
    """A server reached by streamable HTTP. Keys belong into headers: a URL may be logged."""

    url: HttpUrl
    headers: Mapping[str, SecretStr] = {}


Server: TypeAlias = StdioServer | HttpServer


def mcp_tools(servers: Mapping[str, Server]) -> McpTools:
    """Connect to servers and list their tools.

    Args:
        servers: by name (letters, digits, _ and -), which is the prefix of a tool whose name another server
            has too.

    Returns:
        The tools, a list that is a context manager and has `close()`. Each gives text, with what is no text
        only named, and structured content as artifact. metadata: `server`, and `side_effects`, False only
        where the server says that the tool just reads (readOnlyHint without destructiveHint; one that may be
        repeated, idempotentHint, has side effects all the same).

    Raises:
        UnavailableError: a server is not there, refuses, or does not speak MCP.
        TransientError: a server broke off or was busy.
        TimeLimitError: a server did not answer in its connect_timeout.
        ToolDefinitionError: a server's name cannot be part of a tool's, or two tools would have one name.
    """
    return McpTools(servers)


class McpTools(list[BaseTool]):
    """The tools of some servers, and the sessions behind them. See `mcp_tools`."""

    def __init__(self, servers: Mapping[str, Server]) -> None:
        for name in servers:
            if not re.fullmatch(r"[\w-]+", name, re.ASCII):
                raise ToolDefinitionError(f"'{name}' is no name for an MCP server: letters, digits, _ and -")
        super().__init__()
        self._loop = _Loop()
        self._links = [_Link(name, server) for name, server in servers.items()]
        atexit.register(self.close)
        try:
            listed = self._loop.wait(_all([link.listed() for link in self._links]))
            self.extend(self._named(dict(zip(self._links, listed, strict=True))))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the sessions and the servers that were started; tools fail from then on."""
        atexit.unregister(self.close)
        self._loop.close([link.close for link in self._links])

    def __enter__(self) -> McpTools:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _named(self, listed: Mapping[_Link, list[StructuredTool]]) -> list[BaseTool]:
        plain = {
            (link, tool.name): re.sub(r"[^\w-]", "_", tool.name, flags=re.ASCII)
            for link, tools in listed.items()
            for tool in tools
        }
        often = Counter(plain.values())
        named: dict[str, BaseTool] = {}
        for link, tools in listed.items():
            for tool in tools:
                name = plain[link, tool.name]
                if often[name] > 1:
                    name = f"{link.name}_{name}"
                if name in named:
                    raise ToolDefinitionError(
                        f"two tools of MCP servers would be called '{name}': rename the server '{link.name}'"
                    )
                named[name] = _McpTool.of(name, tool, link, self._loop)
        return list(named.values())


class _McpTool(BaseTool):
    """One tool of a server. Not a StructuredTool, which keeps the argument names config and run_manager."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _link: _Link = PrivateAttr()
    _loop: _Loop = PrivateAttr()
    _theirs: str = PrivateAttr()

    @classmethod
    def of(cls, name: str, tool: StructuredTool, link: _Link, loop: _Loop) -> _McpTool:
        hints = tool.metadata or {}
        reads = hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
        made = cls(
            name=name,
            description=tool.description or hints.get("title") or tool.name,
            args_schema=tool.args_schema,
            metadata={"server": link.name, "side_effects": not reads},
        )
        made._link, made._loop, made._theirs = link, loop, tool.name
        return made

    def _run(self, /, **arguments: Any) -> tuple[str, Any]:
        return self._loop.wait(self._link.call(self._theirs, arguments))

    async def _arun(self, /, **arguments: Any) -> tuple[str, Any]:
        return await self._loop.awaited(self._link.call(self._theirs, arguments))


# ---- sessions ---------------------------------------------------------------------------------------


class _Held:
    """An open session. task: holds it, and ends when it breaks or when it is let go."""

    _session: ClientSession

    def __init__(self, server: Server, secrets: tuple[str, ...]) -> None:
        self.tools: dict[str, StructuredTool] = {}
        self.opened = asyncio.Event()
        self._server, self._secrets = server, secrets
        self._release = asyncio.Event()
        self.task = asyncio.create_task(self._hold())
        # One that breaks while nobody calls is found out at the next call, and no news for the log.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _hold(self) -> None:
        async def told(
            request: MCPToolCallRequest, handler: Callable[[MCPToolCallRequest], Awaitable[MCPToolCallResult]]
        ) -> ToolMessage:
            if request.runtime is not None:  # the adapter takes an argument of this name for LangGraph's
                request = request.override(args={**request.args, "runtime": request.runtime})
            result = await handler(request)
            assert isinstance(result, CallToolResult)  # noqa: S101  there is no other interceptor
            return _message(result, self._secrets)

        async def heard(message: object) -> None:
            # Over stdio a line that is no message may be a banner; over HTTP it was the answer.
            if isinstance(message, ValueError) and isinstance(self._server, HttpServer):
                self.task.cancel()

        async with _session(self._server, heard) as session:
            await session.initialize()
            for tool in await load_mcp_tools(session, tool_interceptors=[told]):
                assert isinstance(tool, StructuredTool)  # noqa: S101
                self.tools[tool.name] = tool
            self._session = session
            self.opened.set()
            await self._release.wait()

    async def watch(self) -> None:
        """Ask the server over and over whether it is there; where it is not, the session breaks.

        Over HTTP nothing else tells that it died before it answered.
        """
        while isinstance(self._server, HttpServer) and self.opened.is_set():
            await asyncio.sleep(PULSE)
            with suppress(McpError, anyio.ClosedResourceError):
                await self._session.send_ping()

    async def close(self) -> None:
        """End the session, by force where it does not end by itself."""
        if self.opened.is_set():
            self._release.set()
            await asyncio.wait({self.task}, timeout=CLOSING)
        self.task.cancel()
        await asyncio.wait({self.task}, timeout=CLOSING)


@asynccontextmanager
async def _session(server: Server, heard: MessageHandlerFnT) -> AsyncIterator[ClientSession]:
    if isinstance(server, HttpServer):
        client = httpx.AsyncClient(
            headers={name: value.get_secret_value() for name, value in server.headers.items()},
            timeout=httpx.Timeout(server.connect_timeout, read=None),  # `_Link` watches the time
        )
        async with (
            client,
            streamable_http_client(str(server.url), http_client=client) as (read, write, _),
            ClientSession(read, write, message_handler=heard) as session,
        ):
            yield session
        return
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env={name: value.get_secret_value() for name, value in server.env.items()},
        cwd=server.cwd,
    )
    with (server.log or Path(os.devnull)).open("a", encoding="utf-8") as log:
        async with (
            stdio_client(parameters, errlog=log) as (read, write),
            ClientSession(read, write, message_handler=heard) as session,
        ):
            yield session


class _Link:
    """A server with its session, opened again where it broke. All but `name` only on the loop's thread."""

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self._server = server
        self._held: _Held | None = None
        self._guard = asyncio.Lock()
        values = (server.headers if isinstance(server, HttpServer) else server.env).values()
        pieces = {piece for value in values for piece in value.get_secret_value().split()}
        # Shorter ones are settings such as "1" or "Bearer", and would be found in any text.
        self._secrets = tuple(sorted((piece for piece in pieces if len(piece) > 6), key=len, reverse=True))

    async def listed(self) -> list[StructuredTool]:
        """The server's tools."""
        return [*(await self._live()).tools.values()]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        """Call a tool.

        Raises:
            ToolError: it failed, or the server did; see `mcp_tools`.
        """
        for _ in range(2):
            held = await self._live()
            try:
                return await self._called(held, tool, arguments)
            except anyio.ClosedResourceError:  # the server was gone before: nothing was sent
                await self._drop(held)
        raise TransientError(f"the MCP server '{self.name}' ends whenever it was started")

    async def close(self) -> None:
        """End the session."""
        async with self._guard:
            if self._held:
                await self._held.close()

    async def _called(self, held: _Held, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        function = held.tools[tool].coroutine if tool in held.tools else None
        if function is None:
            raise UnavailableError(f"the MCP server '{self.name}' has no tool '{tool}' any more")
        call, watch = asyncio.ensure_future(function(**arguments)), asyncio.create_task(held.watch())
        try:
            # A transport over HTTP that breaks does not wake those who wait for an answer.
            await asyncio.wait({call, held.task}, timeout=self._server.timeout, return_when="FIRST_COMPLETED")
            late = not call.done() and not held.task.done()
        finally:
            call.cancel()
            watch.cancel()
            await asyncio.gather(call, watch, return_exceptions=True)
        if call.cancelled():
            await self._drop(held)  # where it is late, this is what stops the work
            if not late:
                raise self._fault(held.task, connecting=False)
            raise TimeLimitError(
                f"the MCP server '{self.name}' took longer than {self._server.timeout:g} s for '{tool}'"
            )
        if call.exception() is None:
            message, _ = call.result()
            return message.content, message.artifact
        if isinstance(call.exception(), anyio.ClosedResourceError):
            raise anyio.ClosedResourceError
        fault = self._fault(call, connecting=False)
        if isinstance(fault, TransientError):
            await self._drop(held)
        raise fault from None

    async def _live(self) -> _Held:
        async with self._guard:
            if self._held is None or self._held.task.done():
                self._held = await self._open()
            return self._held

    async def _drop(self, held: _Held) -> None:
        async with self._guard:
            if self._held is held:
                self._held = None
        await held.close()

    async def _open(self) -> _Held:
        held = _Held(self._server, self._secrets)
        opened = asyncio.create_task(held.opened.wait())
        try:
            await asyncio.wait(
                {opened, held.task}, timeout=self._server.connect_timeout, return_when="FIRST_COMPLETED"
            )
        finally:
            opened.cancel()
            if not held.opened.is_set():
                broken = held.task.done()
                await held.close()
        if held.opened.is_set():
            return held
        if broken:
            raise self._fault(held.task, connecting=True) from None
        raise TimeLimitError(
            f"the MCP server '{self.name}' did not answer in {self._server.connect_timeout:g} s"
        )

    def _fault(self, task: asyncio.Future[Any], *, connecting: bool) -> ToolError:
        """What to say of a task that failed, without words that may hold a key."""
        error = None if task.cancelled() else task.exception()
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        who = f"the MCP server '{self.name}'"
        gone = UnavailableError if connecting else TransientError
        match error:
            case ToolError():
                return type(error)(f"{who}: {error}")
            case httpx.HTTPStatusError():
                return _status_fault(who, error.response.status_code)
            case httpx.TransportError():
                return gone(f"{who} cannot be reached, or broke off; is it running at its URL?")
            case OSError() if connecting and isinstance(self._server, StdioServer):
                return UnavailableError(f"{who} cannot be started: {error.strerror}: {error.filename}")
            case McpError() if error.error.code not in (CONNECTION_CLOSED, 32600):
                return ToolError(f"{who}: {_clean(error.error.message, self._secrets)}")
            case ValidationError() | RuntimeError():
                kind = UnavailableError if connecting else ToolError
                return kind(f"{who} answered something that is not in the protocol, or not in its own schema")
            case _:
                ended = "ended before it answered; does it speak MCP?" if connecting else "broke off"
                return gone(f"{who} {ended}")


def _status_fault(who: str, status: int) -> ToolError:
    if status in (401, 403):
        return UnavailableError(f"{who} refused the key ({status}): check its headers")
    if status in (408, 425, 429) or status >= 500:
        return TransientError(f"{who} could not answer now ({status})")
    return UnavailableError(f"{who} does not take MCP requests at its URL ({status})")


# ---- results ----------------------------------------------------------------------------------------


def _message(result: CallToolResult, secrets: tuple[str, ...]) -> ToolMessage:
    """A result as text, structured content as artifact.

    Raises:
        ToolError: it is an error.
    """
    text = "\n".join(map(_block, result.content))
    if result.isError:
        raise ToolError(_clean(text, secrets) or "the tool failed and did not say why")
    if not result.content and result.structuredContent is not None:
        text = dumps(result.structuredContent, ensure_ascii=False)
    return ToolMessage(text, artifact=result.structuredContent, tool_call_id="")


def _block(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}, {block.mimeType}, {_size(block.data)} bytes]"
        case ResourceLink():
            return f"[{block.name}: {block.uri}]"
        case EmbeddedResource():
            if isinstance(block.resource, TextResourceContents):
                return block.resource.text
            kind = block.resource.mimeType or "of unknown type"
            return f"[file, {kind}, {_size(block.resource.blob)} bytes]"


def _size(base64: str) -> int:
    return len(base64) * 3 // 4 - base64.count("=")


def _clean(text: str, secrets: tuple[str, ...]) -> str:
    """A server's words without the keys that it was given."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text if len(text) <= ERROR_LENGTH else f"{text[:ERROR_LENGTH]} …"


# ---- the loop ---------------------------------------------------------------------------------------


async def _all(asked: list[Coroutine[Any, Any, _T]]) -> list[_T]:
    """All results; the first error once all have ended."""
    results = await asyncio.gather(*asked, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


class _Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._guard, self._closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run it on the loop; blocks, from any other thread."""
        future = self._submit(work)
        try:
            return future.result()
        finally:
            future.cancel()

    async def awaited(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run it on the loop, awaited on the caller's."""
        return await asyncio.wrap_future(self._submit(work))

    def close(self, endings: list[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        """Run the endings and stop. Does nothing the second time."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._end(endings), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self, endings: list[Callable[[], Coroutine[Any, Any, None]]]) -> None:
        await asyncio.gather(*(ending() for ending in endings))
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()

    def _submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        with self._guard:
            if self._closed:
                work.close()
                raise UnavailableError("the MCP tools were closed; make them again with mcp_tools")
            return asyncio.run_coroutine_threadsafe(work, self._loop)
