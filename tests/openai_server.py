"""A local HTTP server that speaks the chat completions protocol of OpenAI, with scripted replies and faults.

    with OpenAIServer([Say("hello"), Fault(429, retry_after=0.01), Say("again")]) as server:
        client = OpenAI(base_url=server.url, api_key="any")
    server.requests  # the bodies it was sent, in order

A script is a list of replies, one for each request, or a function from the request's body to a reply. When
a list is used up its last reply is given again.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True)
class Say:
    """An assistant's message. pieces: how a stream cuts the content (default: by words)."""

    content: str | None
    finish: str | None = "stop"
    refusal: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int = 100
    completion_tokens: int = 10
    pieces: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Raw:
    """A body as it is."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


@dataclass(frozen=True)
class Fault:
    """An HTTP error with a body of OpenAI's form."""

    status: int
    message: str = "it went wrong"
    code: str | None = None
    retry_after: str | float | None = None


@dataclass(frozen=True)
class Cut:
    """A reply whose connection is closed when `keep` of its body has been sent (or its chunks, streaming)."""

    reply: Say
    keep: float = 0.5


@dataclass(frozen=True)
class Hang:
    """Nothing for a while, then the reply. between: also after every chunk of a stream."""

    seconds: float
    reply: Say = field(default_factory=lambda: Say("late"))
    between: bool = False


@dataclass(frozen=True)
class Trickle:
    """A reply that comes byte by byte, with seconds before each. head: the headers too."""

    seconds: float
    head: bool = False
    reply: Say = field(default_factory=lambda: Say("late"))


Reply: TypeAlias = Say | Raw | Fault | Cut | Hang | Trickle
Script: TypeAlias = Sequence[Reply] | Callable[[dict[str, Any]], Reply]


class Recording:
    """Replies of a real model as a script: each is given to a request with the same user's words, in order.

    The words are the line of the prompt that holds them, so that a recording outlives a change of the rest.
    A request without a reply left is a fault, and kept in `unknown`. The file is a JSON list of
    {"words": ..., "reply": ...}.
    """

    def __init__(self, entries: Sequence[Mapping[str, str]]) -> None:
        self.left: dict[str, list[str]] = {}
        self.unknown: list[str] = []
        for entry in entries:
            self.left.setdefault(entry["words"], []).append(entry["reply"])

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording."""
        return cls(json.loads(path.read_text()))

    @staticmethod
    def from_bridge(folder: Path) -> list[dict[str, str]]:
        """The entries that a folder of the model bridge holds."""
        found = []
        for answer in sorted((folder / "answers").glob("*.json")):
            body = json.loads((folder / "requests" / answer.name).read_text())["body"]
            found.append({"words": words_of(body), "reply": json.loads(answer.read_text())["content"]})
        return found

    def __call__(self, body: dict[str, Any]) -> Reply:
        """The reply that is due."""
        left = self.left.get(words_of(body))
        if not left:
            self.unknown.append(words_of(body))
            return Fault(404, "not recorded")
        return Say(left.pop(0))


def words_of(body: Mapping[str, Any]) -> str:
    """The line of a request that holds the user's words: 'Message: ...' or 'User says now: ...'."""
    lines = body["messages"][1]["content"].splitlines()
    return str(next(line for line in lines if line.startswith(("Message: ", "User says now: "))))


class Handler(BaseHTTPRequestHandler):
    """One connection; another protocol changes the endpoints and what stands in the bodies."""

    endpoints: ClassVar[tuple[str, ...]] = ("/chat/completions", "/embeddings")
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every reply waits 40 ms for an acknowledgement
    server: _Server

    def log_message(self, *args: object) -> None:
        """Nothing: the tests look at `requests`."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        try:
            self._answer(
                self.server.owner.take(body, {name.lower(): value for name, value in self.headers.items()}),
                body,
            )
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, reply: Reply, body: dict[str, Any]) -> None:
        if not self.path.endswith(self.endpoints):
            reply = Fault(404, f"no such endpoint: {self.path}")
        match reply:
            case Raw(raw, status, content_type):
                self._send(status, raw, content_type)
            case Fault(status, retry_after=retry_after):
                headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
                self._send(status, json.dumps(self._error(reply)).encode(), headers=headers)
            case Hang(seconds, later, between):
                self.server.owner.stopped.wait(seconds)
                self._say(later, body, pause=seconds if between else 0.0)
            case Cut(said, keep):
                self._say(said, body, keep=keep)
            case Trickle(seconds, head, said):
                self._trickle(seconds, head, said)
            case Say():
                self._say(reply, body)

    def _trickle(self, seconds: float, head: bool, reply: Say) -> None:
        """It never comes to its end, so that streamed or not is all the same."""
        start = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n"
        text = start + json.dumps(reply.content) + " " * 99
        at_once = 0 if head else len(start)
        self.wfile.write(text[:at_once].encode())
        self.close_connection = True
        for byte in text[at_once:].encode():
            self.server.owner.stopped.wait(seconds)
            self.wfile.write(bytes([byte]))

    def _say(self, reply: Say, body: dict[str, Any], keep: float = 1.0, pause: float = 0.0) -> None:
        if body.get("stream"):
            self._stream(self._events(reply, body), keep, pause)
        else:
            self._send(200, json.dumps(self._whole(reply, body)).encode(), keep=keep)

    # ---- the protocol ---------------------------------------------------------------------------

    def _error(self, fault: Fault) -> dict[str, Any]:
        told = {"message": fault.message, "type": "error", "param": None, "code": fault.code}
        return {"error": told}

    def _head(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "created": int(time.time()), "model": body.get("model", "test")}

    def _usage(self, reply: Say) -> dict[str, int]:
        total = reply.prompt_tokens + reply.completion_tokens
        return {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": total,
        }

    def _whole(self, reply: Say, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
        if reply.tool_calls:
            message["tool_calls"] = list(reply.tool_calls)
        choices = [{"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}]
        head = {**self._head(body), "object": "chat.completion"}
        return {**head, "choices": choices, "usage": self._usage(reply)}

    def _events(self, reply: Say, body: dict[str, Any]) -> list[str]:
        """What a stream consists of, up to the last event that a client needs."""
        deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces_of(reply))]
        if reply.refusal is not None:
            deltas.append({"refusal": reply.refusal})
        events: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish}]})
        if (body.get("stream_options") or {}).get("include_usage"):
            events.append({"choices": [], "usage": self._usage(reply)})
        head = {**self._head(body), "object": "chat.completion.chunk"}
        return [*(f"data: {json.dumps({**head, **event})}\n\n" for event in events), "data: [DONE]\n\n"]

    # ---- the wire -------------------------------------------------------------------------------

    def _stream(self, events: list[str], keep: float, pause: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events[: max(1, round((len(events) - 1) * keep)) if keep < 1 else None]:
            self._chunk(event)
            if pause:
                self.server.owner.stopped.wait(pause)
        if keep < 1:
            self._drop()
            return
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        keep: float = 1.0,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: round(len(body) * keep)])
        if keep < 1:
            self._drop()

    def _drop(self) -> None:
        self.wfile.flush()
        self.close_connection = True


def pieces_of(reply: Say) -> list[str]:
    """How a stream cuts a reply."""
    return re.findall(r"\S+\s*|\s+", reply.content or "") if reply.pieces is None else list(reply.pieces)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: OpenAIServer

    def handle_error(self, *_: object) -> None:
        """Nothing: a client that hangs up is part of many tests."""


class OpenAIServer:
    """The server, as a context manager; listens on a free port of the loopback interface."""

    handler: ClassVar[type[Handler]] = Handler

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._given = 0
        self._http = _Server(("127.0.0.1", 0), self.handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """What OPENAI_BASE_URL is to be."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def play(self, script: Script) -> None:
        """Go on with another script and forget the requests so far."""
        with self._lock:
            self.script, self._given = script, 0
            self.requests.clear()
            self.headers.clear()

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        """Keep a request and give the reply that is due."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            number, self._given = self._given, self._given + 1
        if callable(self.script):
            return self.script(body)
        return self.script[min(number, len(self.script) - 1)]

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
