"""`taskloom mcp`: the plan of a thread and its user's memory as a server of the Model Context Protocol."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import checked_thread, examples, given_settings, named_user, open_threads

if TYPE_CHECKING:
    from taskloom.agent.settings import Settings
    from taskloom.agent.threads.taskloom import Taskloom

HOST, PORT = "127.0.0.1", 8765
MCP_EXAMPLES = examples(
    "taskloom mcp                          for a host that starts it",
    "taskloom mcp --thread trip --user ann this thread, what this user told",
    "taskloom mcp --http                   http://127.0.0.1:8765/mcp",
    "taskloom mcp --http --host 0.0.0.0 --allow-host plans.example.org",
)


def mcp(
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Which thread; default TASKLOOM_MCP_THREAD.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Whose it is; default TASKLOOM_MCP_USER.")
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP instead of one client.")] = False,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help=f"With --http: address; default {HOST}.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help=f"With --http: port; default {PORT}.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="With --http: another host name that it answers to."
        ),
    ] = None,
) -> None:
    """Serve the plan of a thread, and what is remembered of its user, to agents (Model Context Protocol).

    Its tools change the plan, in words or by operation, answer questions on it, undo changes, and remember,
    recall and forget. Any number of servers may serve one thread at a time, beside `taskloom chat`. Over
    HTTP it asks for the key of TASKLOOM_MCP_KEY as a bearer token, if that is set; without one it serves
    this machine only.
    """
    from .problems import InputError

    if not http and (host or port or allow_host):
        raise InputError("--host, --port and --allow-host go with --http")
    given = given_settings(tools=False)  # a call with side effects is the user's to approve, not the agent's
    thread = checked_thread(thread) or given.mcp_thread
    user = named_user(user) or given.mcp_user
    _installed()
    if http:
        _over_http(given, thread, user, host or HOST, port or PORT, allow_host or [])
    else:
        _over_stdio(given, thread, user)


def _over_stdio(given: Settings, thread: str, user: str) -> None:
    import anyio

    from taskloom.agent.parts.mcp_server import serve_stdio

    if sys.stdin.isatty():
        typer.echo("taskloom mcp is started by a host, see --help; end it with Ctrl-D", err=True)
    with open_threads(given) as opened:
        anyio.run(serve_stdio, _server(opened, thread, user))


def _over_http(given: Settings, thread: str, user: str, host: str, port: int, allowed: list[str]) -> None:
    from starlette.middleware import Middleware

    from taskloom.agent.parts.mcp_http import (
        PATH,
        UnprotectedError,
        bound,
        check_protected,
        http_app,
        serve_http,
    )
    from taskloom.agent.telemetry.page import MetricsPage, by_key, counted_page

    from .problems import InputError

    key = given.mcp_key.get_secret_value() if given.mcp_key else None
    try:
        check_protected(host, key)
        at = bound(host, port)
    except UnprotectedError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{host}:{port} cannot be used: {why}: choose another --port") from error
    with at, open_threads(given) as opened:
        server, longterm = _server(opened, thread, user), opened.longterm
        page = counted_page(lambda: longterm.outbox.count() if longterm else None)
        metrics = Middleware(MetricsPage, admits=by_key(given.metrics_key or given.mcp_key), page=page)
        name = f"[{host}]" if ":" in host else host
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn hands them on at its end; then all is closed
            signal.signal(number, lambda *_: sys.exit(0))
        typer.echo(f"http://{name}:{port}{PATH} {'with the key' if key else 'without a key'}", err=True)
        serve_http(http_app(server, host=host, key=key, allowed=allowed, metrics=metrics), at)


def _server(opened: Taskloom, thread: str, user: str) -> Any:
    """A server of the protocol on threads and their memory."""
    from taskloom.agent.parts.kept import ThreadPlan, UserMemory
    from taskloom.agent.parts.mcp_server import mcp_server

    plan = ThreadPlan(opened, thread=thread, user=user)
    memory = UserMemory(opened.longterm, user=user, thread=thread) if opened.longterm else None
    return mcp_server(plan, memory)


def _installed() -> None:
    """Say what is missing, before anything is opened."""
    from .problems import InputError

    try:
        from taskloom.agent.parts import mcp_http, mcp_server  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"`taskloom mcp` needs {error.name}: pip install 'taskloom[mcp]'") from error
