"""A local HTTP server with scripted pages, honest and hostile ones.

with WebServer({"/": Answer(b"<html>...")}) as server:
    fetch(server.url + "/", policy)
server.seen  # the paths that were asked for, with the Host header of each
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TypeAlias


@dataclass(frozen=True)
class Answer:
    """A reply. drip: seconds before every byte of the body, or of the head. cut: closes before the end."""

    body: bytes = b""
    content_type: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drip: float = 0
    drip_head: float = 0
    cut: bool = False


Pages: TypeAlias = dict[str, Answer | Callable[["Handler"], None]]


class Handler(BaseHTTPRequestHandler):
    """Answers from the server's pages."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        self.server.owner.seen.append((self.path, self.headers["Host"]))
        page = self.server.owner.pages.get(path, Answer(b"no such page", "text/plain", 404))
        try:
            if isinstance(page, Answer):
                self._answer(page)
            else:
                page(self)
        except OSError:
            self.close_connection = True

    do_POST = do_GET  # noqa: N815 - as its base class names it

    def _answer(self, page: Answer) -> None:
        if page.drip_head:
            self._slowly(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000, page.drip_head)
        self.send_response(page.status)
        if page.content_type is not None:
            self.send_header("Content-Type", page.content_type)
        for name, value in page.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(page.body) + page.cut))
        self.end_headers()
        if page.drip:
            self._slowly(page.body, page.drip)
        else:
            self.wfile.write(page.body)
        if page.cut:
            self.close_connection = True

    def _slowly(self, data: bytes, seconds: float) -> None:
        for at in range(len(data)):
            time.sleep(seconds)
            self.wfile.write(data[at : at + 1])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: WebServer

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that hangs up is part of many tests."""


class WebServer:
    """The server, as a context manager, on a free port (or a given one) of an address."""

    def __init__(
        self, pages: Pages, address: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.pages = pages
        self.seen: list[tuple[str, str]] = []
        self._http = _Server((address, port), Handler)
        self._http.owner = self
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._scheme = "https" if tls else "http"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def named(self, host: str) -> str:
        """The URL with another host."""
        return f"{self._scheme}://{host}:{self.port}"

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
