"""The event loop that sessions with MCP servers live on, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from .errors import UnavailableError

_T = TypeVar("_T")


async def gather_all(asked: list[Coroutine[Any, Any, _T]]) -> list[_T]:
    """All results; raises the first error, once all have ended."""
    results = await asyncio.gather(*asked, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


class Loop:
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
