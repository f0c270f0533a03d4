"""A browser as tools: open a page, click, type, read. One Chromium, steered by Playwright.

    with Browser(WebPolicy()) as browser:
        tools = browser_tools(browser)

Every connection of the browser goes through `gate.py`, so that whatever a page asks for (redirects, scripts,
frames, web sockets) reaches judged addresses only. Each step is bounded in time and in what it loads.
Playwright runs in a thread of its own; steps may come from any thread, and are made one at a time.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from langchain_core.tools import BaseTool, StructuredTool

from .addresses import Resolver, resolve
from .browser_elements import clickable, how_many, writable
from .browser_view import ELEMENTS, VIEW, page_text
from .chromium import FAILED_PAGE, as_tool_errors, go_to, not_loaded, start
from .errors import TimeLimitError, ToolError, TransientError, UnavailableError
from .gate import Gate
from .web import BUSY, WebPolicy, parsed

if TYPE_CHECKING:
    from playwright.async_api import (
        BrowserContext,
        Dialog,
        Download,
        ElementHandle,
        JSHandle,
        Locator,
        Page,
    )

T = TypeVar("T")

_BYTES_OF_A_STEP = 50_000_000  # a page with all its pictures; Chromium would take any number
_ACTION = 5_000  # milliseconds until an element can be clicked or typed into
_REST = 2_000  # milliseconds until a page is taken as it is, though it still loads
_CLOSING = 5  # seconds until a page that hangs is closed
_OPENS_A_TAB = "node => !['', '_self'].includes(node.closest('a, form')?.target || '')"


class Browser:
    """One Chromium with one page in view, as a context manager.

    A page may open others; the newest is in view. Downloads and questions of a page are refused, and told.
    Nothing is kept: neither cookies nor a history, once it is closed.
    """

    def __init__(
        self,
        policy: WebPolicy | None = None,
        executable: str | Path | None = None,
        *,
        resolver: Resolver = resolve,
    ) -> None:
        """Nothing is started yet.

        Args:
            policy: what may be reached; its seconds are for one step, its characters for what is read.
            executable: the browser; None takes Playwright's own, or else a Chromium or Chrome on the PATH.
            resolver: gives the addresses of a name.
        """
        self._policy = policy or WebPolicy()
        self._executable = executable
        self._resolver = resolver
        self._stack = AsyncExitStack()
        self._notes: list[str] = []
        self._elements: JSHandle | None = None

    # ---- from any thread ----------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Start it.

        Raises:
            UnavailableError: Playwright or the browser is missing; the message names the command.
        """
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
        self._thread.start()
        try:
            self._wait(self._start())
        except ToolError:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def open(self, url: str) -> str:
        """Open a page, and return what it shows.

        Raises:
            NotAllowedError: by the policy, or because it is a download.
            TransientError, TimeLimitError, ToolError: as `fetch` does.
        """
        return self._step(lambda page: self._open(page, parsed(url, self._policy)))

    def click(self, what: str) -> str:
        """Click the element with this number, name, text or CSS selector; returns what the page shows then.

        Raises:
            ToolError: no element is called so, or several are; or it cannot be clicked.
        """
        return self._step(lambda page: self._click(page, what))

    def type(self, what: str, text: str, submit: bool = False) -> str:
        """Put a text into the field with this number, label or CSS selector, or choose it from its options.

        submit: press Enter then.

        Raises:
            ToolError: no field is called so, or several are; or it does not take the text.
        """
        return self._step(lambda page: self._type(page, what, text, submit))

    def read(self) -> str:
        """What the page shows: its text with numbered links, buttons and fields."""
        return self._step(None)

    def _wait(self, step: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(step, self._loop).result()

    def _step(self, action: Callable[[Page], Awaitable[None]] | None) -> str:
        if not self._thread.is_alive():
            raise ToolError("the browser is closed")
        return self._wait(self._stepped(action))

    def _end(self) -> None:
        self._wait(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # ---- in the browser's own thread ----------------------------------------------------------------

    async def _start(self) -> None:
        try:
            from playwright.async_api import async_playwright
        except ImportError as error:
            raise UnavailableError("no Playwright: pip install 'taskloom[browser]'") from error
        self._turn = asyncio.Lock()
        self._gate = await self._stack.enter_async_context(Gate(self._policy, self._resolver))
        self._engine = (await self._stack.enter_async_context(async_playwright())).chromium
        await self._launch()

    async def _launch(self) -> None:
        with as_tool_errors():
            self._chromium = await start(self._engine, self._executable, self._gate.url)
            self._stack.push_async_callback(self._chromium.close)
            self._context: BrowserContext = await self._chromium.new_context(
                accept_downloads=False, service_workers="block"
            )
            self._context.on("dialog", self._dismiss)
            self._context.on("page", lambda page: page.on("download", self._refuse))

    async def _stepped(self, action: Callable[[Page], Awaitable[None]] | None) -> str:
        async with self._turn:
            self._gate.problems.clear()
            self._gate.allowance = _BYTES_OF_A_STEP
            self._notes.clear()
            try:
                async with asyncio.timeout(self._policy.seconds):
                    with as_tool_errors():
                        page = await self._page()
                        if action:
                            await action(page)
                        return await self._seen()
            except TimeoutError as error:
                # A page whose script never ends answers nothing any more.
                await self._abandon()
                raise TimeLimitError(
                    f"the page took longer than {self._policy.seconds:g} seconds, it was closed"
                ) from error

    async def _page(self) -> Page:
        """The page in view: the newest."""
        if not self._chromium.is_connected():
            await self._launch()
        pages = self._context.pages
        return pages[-1] if pages else await self._context.new_page()

    async def _abandon(self) -> None:
        """Close all pages; or the browser, if it does not answer either."""
        try:
            async with asyncio.timeout(_CLOSING):
                await asyncio.gather(*(page.close() for page in self._context.pages))
        except TimeoutError:
            await self._chromium.close()

    async def _dismiss(self, dialog: Dialog) -> None:
        self._notes.append(f"The page asked {dialog.message!r}, which was declined.")
        await dialog.dismiss()

    def _refuse(self, download: Download) -> None:
        self._notes.append(f"A download was refused: {download.suggested_filename}")

    async def _open(self, page: Page, url: str) -> None:
        from playwright.async_api import Error

        try:
            response = await go_to(page, url)
        except Error as error:
            raise self._problem(url, error.message) from error
        if response and response.status in BUSY:
            raise TransientError(f"{url} answered {response.status} {response.status_text}")
        if response and response.status >= 400:
            self._notes.append(f"The server answered {response.status} {response.status_text}.")

    def _problem(self, url: str, message: str) -> ToolError:
        """Why a page was not loaded: what the gate knows of it, or else what Chromium says."""
        if self._gate.problems:
            return self._gate.problems[-1]
        return not_loaded(url, message)

    async def _click(self, page: Page, what: str) -> None:
        from playwright.async_api import TimeoutError as NotInTime

        element = await self._found(what, clickable(page, what))
        if await element.evaluate(_OPENS_A_TAB):
            with suppress(NotInTime):  # a script may have kept it from opening
                async with page.expect_popup(timeout=_REST):
                    await element.click(timeout=_ACTION)
        else:
            await element.click(timeout=_ACTION)

    async def _type(self, page: Page, what: str, text: str, submit: bool) -> None:
        element = await self._found(what, writable(page, what))
        if await element.evaluate("node => node.localName === 'select'"):
            await element.select_option(text, timeout=_ACTION)
        else:
            await element.fill(text, timeout=_ACTION)
        if submit:
            await element.press("Enter", timeout=_ACTION)

    async def _found(self, what: str, ways: Iterator[Locator]) -> ElementHandle | Locator:
        """The one element that a text refers to: by number, or by the first way that finds any."""
        if number := re.fullmatch(r"\[?(\d+)\]?", what.strip()):
            return await self._numbered(int(number[1]))
        for way in ways if what.strip() else ():
            seen = way.filter(visible=True)
            if count := await how_many(seen):
                if count > 1:
                    raise ToolError(f"{count} elements are called {what!r}; read the page and give a number")
                return seen
        raise ToolError(f"nothing on the page is called {what!r}; read it and give a number or a name")

    async def _numbered(self, number: int) -> ElementHandle:
        if self._elements is not None:
            element = (await self._elements.get_property(str(number - 1))).as_element()
            if element is not None:
                return element
        raise ToolError(f"the page has no number {number}; read it")

    async def _seen(self) -> str:
        """What the page shows once it has finished loading."""
        from playwright.async_api import Error

        page = await self._rested()
        if page.url == "about:blank":
            raise ToolError("no page is open in the browser; open one")
        if page.url.startswith(FAILED_PAGE):
            raise self._problem("the page", "it has failed, open another")
        limits = [self._policy.max_characters, ELEMENTS]
        try:
            view = await page.evaluate_handle(VIEW, limits)
        except Error:  # it went on to another page meanwhile
            page = await self._rested()
            view = await page.evaluate_handle(VIEW, limits)
        found = {
            name: await (await view.get_property(name)).json_value() for name in ("title", "text", "full")
        }
        self._elements = await view.get_property("elements")
        return page_text(page.url, found, self._problems())

    async def _rested(self) -> Page:
        from playwright.async_api import TimeoutError as NotInTime

        page = await self._page()
        await page.wait_for_load_state("domcontentloaded", timeout=0)
        with suppress(NotInTime):
            await page.wait_for_load_state("networkidle", timeout=_REST)
        return await self._page()

    def _problems(self) -> list[str]:
        refused = [f"Not loaded: {problem}" for problem in self._gate.problems]
        return list(dict.fromkeys(self._notes + refused))


def browser_tools(browser: Browser) -> list[BaseTool]:
    """`browser_open`, `browser_read`, `browser_click` and `browser_type`, of a browser that was started."""
    seen = "Gives what is then seen: text, with numbers for links, buttons and fields."
    what = "what: its number, its text or label, or a CSS selector."
    enter = "submit: press Enter then."
    specs: list[tuple[str, Callable[..., str], bool, str]] = [
        ("open", browser.open, False, f"Open a page in the browser. url: with https://. {seen}"),
        ("read", browser.read, False, f"Read the page that is open in the browser. {seen}"),
        ("click", browser.click, True, f"Click on something on the open page. {what} {seen}"),
        (
            "type",
            browser.type,
            True,
            f"Fill in a field of the open page or choose an option. {what} {enter}",
        ),
    ]
    return [
        StructuredTool.from_function(
            step, name=f"browser_{name}", description=text, metadata={"side_effects": acts}
        )
        for name, step, acts, text in specs
    ]
