"""Sessions with MCP servers: opened, watched, opened again where they broke; what goes wrong, in words."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langchain_mcp_adapters.interceptors import MCPToolCallRequest, MCPToolCallResult
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.session import MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
)
from pydantic import ValidationError

from .errors import TimeLimitError, ToolError, TransientError, UnavailableError
from .mcp_results import cleaned, message
from .mcp_servers import HttpServer, Server, StdioServer

PULSE = 3.0  # seconds between two looks whether a server is still there, during a call over HTTP
CLOSING = 6.0  # seconds that a server gets to end; a process is killed after four


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
        async def intercept(
            request: MCPToolCallRequest, handler: Callable[[MCPToolCallRequest], Awaitable[MCPToolCallResult]]
        ) -> ToolMessage:
            if request.runtime is not None:  # the adapter takes an argument of this name for LangGraph's
                request = request.override(args={**request.args, "runtime": request.runtime})
            result = await handler(request)
            assert isinstance(result, CallToolResult)  # noqa: S101  there is no other interceptor
            return message(result, self._secrets)

        async def heard(message: object) -> None:
            # Over stdio a line that is no message may be a banner; over HTTP it was the answer.
            if isinstance(message, ValueError) and isinstance(self._server, HttpServer):
                self.task.cancel()

        async with _session(self._server, heard) as session:
            await session.initialize()
            for tool in await load_mcp_tools(session, tool_interceptors=[intercept]):
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
            timeout=httpx.Timeout(server.connect_timeout, read=None),  # `Link` watches the time
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


class Link:
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
        raise TransientError(f"the MCP server '{self.name}' ends right after each start")

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
                return ToolError(f"{who}: {cleaned(error.error.message, self._secrets)}")
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
