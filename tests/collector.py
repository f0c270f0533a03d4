"""Servers on this machine that collect what is sent to them: spans by OTLP over HTTP, or any bodies."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True)
class Seen:
    """A span as it came in; ids in hexadecimal, seconds from its times."""

    name: str
    id: str
    parent: str
    trace: str
    kind: int
    attributes: Mapping[str, Any]
    failed: bool
    events: tuple[str, ...]
    service: str
    seconds: float


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw
        with self.server.owner.came:
            self.server.owner.requests.append((self.path, body))
            self.server.owner.came.notify_all()
        self._answer(b"")

    def do_GET(self) -> None:
        self._answer(self.server.owner.page)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PATCH(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        """Nothing: the tests look at `requests`."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: Collector


class Collector:
    """The server, as a context manager. requests: what came, as paths and bodies."""

    page: ClassVar[bytes] = b"{}"  # what it answers where something is got

    def __init__(self) -> None:
        self.requests: list[tuple[str, bytes]] = []
        self.came = threading.Condition()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def spans(self) -> list[Seen]:
        """The spans that came."""
        with self.came:
            bodies = [body for path, body in self.requests if path == "/v1/traces"]
        return [seen for body in bodies for seen in _spans(ExportTraceServiceRequest.FromString(body))]

    def everything(self) -> bytes:
        """All that came, one body after the other."""
        with self.came:
            return b"\n".join(body for _, body in self.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Seen]:
    for resource in request.resource_spans:
        service = _plain(resource.resource.attributes).get("service.name", "")
        for scope in resource.scope_spans:
            for one in scope.spans:
                yield Seen(
                    one.name, one.span_id.hex(), one.parent_span_id.hex(), one.trace_id.hex(), one.kind,
                    _plain(one.attributes), one.status.code == 2, tuple(event.name for event in one.events),
                    service, (one.end_time_unix_nano - one.start_time_unix_nano) / 1e9,
                )  # fmt: skip


def _plain(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None
