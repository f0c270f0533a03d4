"""The server of the Model Context Protocol over HTTP: who may reach it, and under which names.

Without a key only this machine reaches it. Whatever the address, a request has to name a host that is known,
and one from a web page such an origin: no page can make a browser speak to it under a name of its own (DNS
rebinding).
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.fastmcp.server import StreamableHTTPASGIApp
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class UnprotectedError(ValueError):
    """Others than this machine would reach a server that asks for no key."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} can be reached from other machines, and there is no key: set TASKLOOM_MCP_KEY (16 "
            "characters or more) and have clients send it as `Authorization: Bearer KEY`, or leave --host out"
        )


class _Key:
    """Lets in whoever has the key."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """The token, if it is the key."""
        known = hmac.compare_digest(token.encode("utf-8", "surrogatepass"), self._key)
        return AccessToken(token=token, client_id="key", scopes=[]) if known else None


def http_app(
    server: Server[Any, Any],
    *,
    host: str,
    key: str | None,
    allowed: Sequence[str] = (),
    metrics: Middleware | None = None,
) -> Starlette:
    """The server as an application for ASGI, at PATH.

    Args:
        server: what is served; nothing is kept from one request to the next, so any process can answer any.
        host: the address that it will be bound to.
        key: what a request has to have as its bearer token; None for nothing.
        allowed: names of hosts, beside that address and those of loopback, that a request may be for.
        metrics: answers for /metrics, before a key is asked for.

    Raises:
        UnprotectedError: other machines reach that address, and there is no key.
    """
    check_protected(host, key)
    names = dict.fromkeys([*LOOPBACK, f"[{host}]" if ":" in host else host, *allowed])
    security = TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            form for name in names for scheme in ("http", "https")
            for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )  # fmt: skip
    manager = StreamableHTTPSessionManager(server, stateless=True, security_settings=security)
    endpoint: ASGIApp = StreamableHTTPASGIApp(manager)
    middleware = [metrics] if metrics is not None else []
    if key is not None:
        endpoint = RequireAuthMiddleware(endpoint, required_scopes=[])
        middleware.append(Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(_Key(key))))
    return Starlette(
        routes=[Route(PATH, endpoint=endpoint)], middleware=middleware, lifespan=lambda _: manager.run()
    )


def check_protected(host: str, key: str | None) -> None:
    """See to it that there is a key where others than this machine reach an address.

    Raises:
        UnprotectedError: there is none.
    """
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    if key is None and not own:
        raise UnprotectedError(host)


def bound(host: str, port: int) -> socket.socket:
    """A socket at an address, for `serve_http`.

    Raises:
        OSError: it is in use, or not of this machine.
    """
    (family, *_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return socket.create_server(address[:2], family=family)


def serve_http(app: Starlette, bound_to: socket.socket) -> None:
    """Serve an application on a socket until the process is interrupted or ended."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[bound_to])
