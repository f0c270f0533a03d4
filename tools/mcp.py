"""The tools of MCP servers, through langchain-mcp-adapters (the extra `mcp`).

    with mcp_tools({"files": StdioServer(command="mcp-files", args=("/srv",))}) as tools:
        tools[0].invoke({...})

A session with each server is kept open on an event loop in a thread of its own, since starting a server costs
much more than a call; so tools can be invoked from any thread, and awaited on any loop.
"""

from __future__ import annotations

import atexit
import re
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import PrivateAttr

from .errors import ToolDefinitionError, UnavailableError
from .mcp_loop import Loop, gather_all
from .mcp_servers import Server

try:
    from .mcp_sessions import Link
except ImportError as error:
    raise UnavailableError(f"tools of MCP servers need {error.name}: pip install 'taskloom[mcp]'") from error


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
                raise ToolDefinitionError(
                    f"'{name}' is not a name for an MCP server: letters, digits, _ and -"
                )
        super().__init__()
        self._loop = Loop()
        self._links = [Link(name, server) for name, server in servers.items()]
        atexit.register(self.close)
        try:
            listed = self._loop.wait(gather_all([link.listed() for link in self._links]))
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

    def _named(self, listed: Mapping[Link, list[StructuredTool]]) -> list[BaseTool]:
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
    _link: Link = PrivateAttr()
    _loop: Loop = PrivateAttr()
    _theirs: str = PrivateAttr()

    @classmethod
    def of(cls, name: str, tool: StructuredTool, link: Link, loop: Loop) -> _McpTool:
        hints = tool.metadata or {}
        reads = hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
        result = cls(
            name=name,
            description=tool.description or hints.get("title") or tool.name,
            args_schema=tool.args_schema,
            metadata={"server": link.name, "side_effects": not reads},
        )
        result._link, result._loop, result._theirs = link, loop, tool.name
        return result

    def _run(self, /, **arguments: Any) -> tuple[str, Any]:
        return self._loop.wait(self._link.call(self._theirs, arguments))

    async def _arun(self, /, **arguments: Any) -> tuple[str, Any]:
        return await self._loop.awaited(self._link.call(self._theirs, arguments))
