"""The page /metrics in front of an application for ASGI: for those who may see it, and nobody else.

Without a key a request has to name this machine, so that no page of the web can make a browser read it under
a name of its own (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from pydantic import SecretStr

from .spans import watch

PATH = "/metrics"
MISSING = "metrics need prometheus_client: pip install 'taskloom[server]'"
Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]
Admits = Callable[[Scope], Awaitable[bool]]
Page = Callable[[], tuple[bytes, str]]


class MetricsPage:
    """Answers for the page, and hands all else on.

    admits: whether a request may see it. page: its bytes and their type; None where they cannot be made.
    """

    def __init__(self, app: App, *, admits: Admits, page: Page | None) -> None:
        self._app, self._admits, self._page = app, admits, page

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope.get("path") != PATH:
            await self._app(scope, receive, send)
        elif not await self._admits(scope):
            await _answer(send, 401, b"a key is needed, as a bearer token\n", challenge=True)
        elif b"format=json" in scope.get("query_string", b""):  # LangGraph Server's own form of its page
            await self._app(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, b"GET it\n")
        elif self._page is None:
            await _answer(send, 501, f"{MISSING}\n".encode())
        else:
            body, kind = await asyncio.to_thread(self._page)
            await _answer(send, 200, body, kind)


def by_key(key: SecretStr | None) -> Admits:
    """Whoever shows a key; without one whoever calls from this machine, under a name of its own."""

    async def admits(scope: Scope) -> bool:
        headers = headers_of(scope)
        if key is None:
            return _is_here(scope, headers.get("host", ""))
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(shown.strip().encode(), key.get_secret_value().encode())
        return known and scheme.lower() == "bearer"

    return admits


def headers_of(scope: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a request, by their names in small letters."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _is_here(scope: Mapping[str, Any], host: str) -> bool:
    """Whether a request is from this machine, and for it."""
    try:
        local = ipaddress.ip_address((scope.get("client") or ("",))[0]).is_loopback
    except ValueError:
        return False
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return local and name.strip("[]").lower() in ("127.0.0.1", "localhost", "::1")


def counted_page(waiting: Callable[[], int | None]) -> Page | None:
    """Begin to count, and give what makes the page; None where its library is not there.

    waiting: how many records wait for long-term memory; None where nobody knows.
    """
    try:
        from .metrics import CONTENT_TYPE_LATEST, Metrics
    except ModuleNotFoundError:
        return None
    counted = Metrics(waiting)
    watch(counted)
    return lambda: (counted.page(), CONTENT_TYPE_LATEST)


async def _answer(
    send: Any, status: int, body: bytes, kind: str = "text/plain; charset=utf-8", *, challenge: bool = False
) -> None:
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(b"www-authenticate", b"Bearer")] if challenge else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
