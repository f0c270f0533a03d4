"""Chromium: starting it so that all its requests go through the gate, and its errors."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import NotAllowedError, ToolError, TransientError, UnavailableError
from .gate import NOWHERE

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import (
        BrowserType,
        Page,
        Response,
    )


PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = [
    "--disable-gpu",
    "--disable-quic",  # over UDP, so beside the gate
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are looked up by the gate
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-auto-reload",  # of a page that could not be reached, in the middle of the next step
    "--disable-sync",
    # What Chromium asks of its maker by itself goes nowhere.
    *(
        f"--{service}-url=http://{NOWHERE}/"
        for service in (
            "apps-gallery-update",
            "autofill-server",
            "gaia",
            "gcm-checkin",
            "gcm-registration",
            "variations-server",
        )
    ),
    f"--component-updater=url-source=http://{NOWHERE}/",
]
_SECOND_TRIES = (0.0, 0.3, 1.0)  # seconds to wait where something came in the way of going to a page
_DOWNLOAD = "Download is starting"
FAILED_PAGE = "chrome-error:"
_ERRORS: Mapping[str, type[ToolError]] = {
    "CONNECTION_CLOSED": TransientError,
    "CONNECTION_RESET": TransientError,
    "EMPTY_RESPONSE": TransientError,
    "UNSAFE_PORT": NotAllowedError,
}


async def start(engine: BrowserType, executable: str | Path | None, proxy: str) -> Chromium:
    """A running Chromium: the given one, Playwright's own, or one on the PATH.

    Raises:
        UnavailableError: no Chromium is installed, or it does not start.
    """
    from playwright.async_api import Error

    async def launched(path: str | Path | None) -> Chromium:
        return await engine.launch(
            executable_path=path,
            args=_FLAGS,
            # Without the bypass Chromium goes to the loopback interface by itself.
            proxy={"server": proxy, "bypass": "<-loopback>"},
            chromium_sandbox=os.geteuid() != 0,  # as root it does not start with one
        )

    install = f"{sys.executable} -m playwright install chromium"
    if executable is None and not Path(engine.executable_path).exists():
        executable = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if executable is None:
            raise UnavailableError(f"no Chromium: {install}")
    try:
        return await launched(executable)
    except Error as error:
        name = executable or engine.executable_path
        raise UnavailableError(
            f"{name} does not start ({_first_line(error.message)}): {install} --with-deps"
        ) from error


async def go_to(page: Page, url: str) -> Response | None:
    """Go to a URL, and return the response."""
    from playwright.async_api import Error

    for wait in _SECOND_TRIES:
        try:
            return await page.goto(url, wait_until="domcontentloaded", timeout=0)
        except Error as error:
            again = f'interrupted by another navigation to "{url.rstrip("/")}' in error.message
            if FAILED_PAGE not in error.message and not again:
                raise
            # What stands for an earlier failure, or Chromium's own second try, came in the way.
            await asyncio.sleep(wait)
    return await page.goto(url, wait_until="domcontentloaded", timeout=0)


@contextmanager
def as_tool_errors() -> Iterator[None]:
    """Turn the errors of Playwright into those of a tool."""
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        said = _first_line(error.message)
        if "closed" in said or "crashed" in said:
            raise TransientError(f"the browser lost the page: {said}") from error
        raise ToolError(f"the browser could not do that: {said}") from error


def not_loaded(url: str, message: str) -> ToolError:
    """Why a page was not loaded, from what Chromium says."""
    if _DOWNLOAD in message:
        return NotAllowedError(f"{url} is a download, which is not allowed")
    reason = re.search(r"net::ERR_(\w+)", message)
    kind = _ERRORS.get(reason[1], ToolError) if reason else ToolError
    return kind(f"{url} was not loaded: {reason[0] if reason else _first_line(message)}")


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "no reason was given"
