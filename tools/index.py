"""How tools and documents are found by what they say. The ranking itself is handed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol


class Found(NamedTuple):
    """A text found by a search. score: more is better; comparable within one search only."""

    key: str
    score: float


class Index(Protocol):
    """Texts by key, searched by words and by meaning."""

    def put(self, texts: Mapping[str, str]) -> None:
        """Add texts, replacing those with the same key."""
        ...

    def remove(self, keys: Iterable[str]) -> None:
        """Remove texts; unknown keys are ignored."""
        ...

    def search(self, query: str, limit: int) -> tuple[Found, ...]:
        """The texts that match best, best first; () when there are none at all."""
        ...
