"""The tools that ship, made from the options of a configuration: one function for each name in `config`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool

from .errors import ToolDefinitionError


def python(
    wall: float | None = None, cpu: float | None = None, memory: int | None = None, output: int | None = None
) -> BaseTool:
    """Python code in a sandbox; the options are those of `limits.Limits`, in seconds, bytes, characters."""
    from .limits import Limits
    from .python import python_tool
    from .sandbox import Sandbox

    given = {"wall": wall, "cpu": cpu, "memory": memory, "output": output}
    limits = Limits.model_validate({name: value for name, value in given.items() if value is not None})
    return python_tool(Sandbox(limits))


def fetch(
    allow_private: bool | tuple[str, ...] = False, max_bytes: int = 2_000_000, seconds: float = 20.0
) -> BaseTool:
    """Pages of the web as text; the options are those of `web.WebPolicy`."""
    from .web import WebPolicy, fetch_tool

    return fetch_tool(WebPolicy(allow_private=allow_private, max_bytes=max_bytes, seconds=seconds))


def search(use: str, max_characters: int = 20_000) -> BaseTool:
    """Any search tool of LangChain, results in one form. use: 'module:attribute', the tool or its class."""
    from .search import search_tool
    from .web import WebPolicy

    module, _, name = use.partition(":")
    try:
        found: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ToolDefinitionError(f"there is no search tool {use}: {error}") from error
    return search_tool(
        found() if isinstance(found, type) else found, WebPolicy(max_characters=max_characters)
    )


class _Browsing(list[BaseTool]):
    """The tools of a browser that is started now and ended by `close`."""

    def __init__(self, executable: str | None, allow_private: bool | tuple[str, ...]) -> None:
        from .browser import Browser, browser_tools
        from .web import WebPolicy

        self._open = ExitStack()
        browser = self._open.enter_context(Browser(WebPolicy(allow_private=allow_private), executable))
        super().__init__(browser_tools(browser))

    def close(self) -> None:
        """End the browser."""
        self._open.close()


def browser(
    executable: str | None = None, allow_private: bool | tuple[str, ...] = False
) -> Sequence[BaseTool]:
    """A browser: open, click, type, read. executable: a Chromium; default the one that is found."""
    return _Browsing(executable, allow_private)


def planner(rows: int, columns: int, known: tuple[tuple[int, int], ...] = ()) -> BaseTool:
    """Ways over a grid of cells, around obstacles that are known and that are found."""
    from .planner import Grid, Planner, planner_tool

    grid = Grid(rows, columns)
    return planner_tool(Planner(grid, known), grid)
