"""A Chroma server of its own for a test, an embedder that needs no model, and records to store."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import numpy as np

from taskloom.memory.embed import Vectors
from taskloom.memory.records import Evidence, Experience, Fact, IntentUnit, Pair, Scene


class HashEmbedder:
    """Counts words, hashed into a few numbers."""

    def __init__(self, name: str = "hash-16", dimension: int = 16) -> None:
        self.name, self.dimension = name, dimension
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        vectors = np.full((len(texts), self.dimension), 0.01, np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
                vectors[row, digest[0] % self.dimension] += 1
        unit_length: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit_length


def fact(number: int, text: str, **fields: Any) -> Fact:
    """A fact with an id, the higher its number the later."""
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    return Fact(id=f"f{number}", text=text, at=at, **fields)


def experience(number: int, text: str) -> Experience:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    return Experience(id=f"e{number}", text=text, at=at, execution=({"kind": "add"},), utility=0.5)


def unit(number: int, text: str) -> IntentUnit:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    pair = Pair(slot="city", question="Which city?", answer="Bergen", said=("the rainy one",))
    return IntentUnit(id=f"u{number}", text=text, at=at, intent="hotel", pairs=(pair,))


def scene(number: int, text: str, **fields: Any) -> Scene:
    """A scene of one spoken line, ten seconds after the one before."""
    at, start = datetime(2026, 1, 1, tzinfo=UTC), number * 10_000
    said = Evidence(start_ms=start, end_ms=start + 5000, source="said", text=text, by="Ana")
    given = {"id": f"s{number}", "text": text, "at": at, "turn": number, "video": "0" * 64, "name": "a talk",
             "start_ms": start, "end_ms": start + 5000, "evidence": (said,)}  # fmt: skip
    return Scene.model_validate({**given, **fields})


class ChromaServer:
    """`chroma run` on a free port of this machine, with its files in a folder; telemetry off."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._command = (Path(sys.executable).parent / "chroma", "run", "--path", folder)
        self._where = ("--host", "127.0.0.1", "--port", str(port))
        self._log = folder.with_suffix(".log")

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command, *self._where],
                stdout=log,
                stderr=log,
                env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
            )
        self._wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """Ends it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=1):  # noqa: S310
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if self._process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(self._log.read_text(errors="replace")) from None
                time.sleep(0.05)
