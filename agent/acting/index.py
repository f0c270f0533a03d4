"""The hybrid ranking of long-term memory for any texts: tools, documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

import numpy as np

from taskloom.memory.embed import Embedder, Vectors
from taskloom.memory.ranking import Corpus
from taskloom.memory.records import Fact, now
from taskloom.memory.store import StoreError
from taskloom.tools.errors import ToolError
from taskloom.tools.index import Found

ASKED = "How do I"
MIX = 0.8  # share of the meaning for requests: who asks seldom knows the words of a tool's author


def _requests(text: str) -> list[str]:
    """What a text answers: each of its lines as a question, and those after the first as they are."""
    lines = text.splitlines() or [""]
    return [*(f"{ASKED} {line[:1].lower()}{line[1:]}" for line in lines), *lines[1:]]


class HybridIndex:
    """An `Index` by BM25 and embeddings, in memory; texts are embedded when they are put. Thread-safe."""

    def __init__(self, embedder: Callable[[], Embedder], *, requests: bool = False) -> None:
        """What it works with.

        Args:
            embedder: gives the embedding model, when it is first needed.
            requests: whether queries are requests, and texts have a line that names what they answer before
                those that describe it, as tools do. Both are then embedded as questions, a text as the mean
                of its forms: benchmarks/tools.py finds .95 with it in the first five, .84 without.
        """
        self._embedder, self._requests = embedder, requests
        self._corpus, self._guard = Corpus(), Lock()

    def put(self, texts: Mapping[str, str]) -> None:
        """Add texts, in place of those with the same key.

        Raises:
            ToolError: the texts cannot be embedded.
        """
        if not texts:
            return
        vectors = self._vectors(tuple(texts.values()))
        at = now()
        facts = [Fact(id=key, text=text, at=at, thread="", turn=0) for key, text in texts.items()]
        with self._guard:
            self._corpus.put(facts, vectors)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        if not self._requests:
            return self._embedded(texts)
        return np.stack([self._embedded(_requests(text)).mean(axis=0) for text in texts])

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        try:
            return self._embedder()(texts)
        except StoreError as error:
            raise ToolError(str(error)) from error

    def remove(self, keys: Iterable[str]) -> None:
        """Take texts out; unknown keys are passed over."""
        with self._guard:
            self._corpus.remove(keys)

    def search(self, query: str, limit: int) -> tuple[Found, ...]:
        """The texts that match best, best first; () when there are none at all.

        Raises:
            ToolError: the query cannot be embedded.
        """
        if not len(self._corpus):
            return ()
        vector = self._embedded((f"{ASKED} {query}" if self._requests else query,))[0]
        with self._guard:
            hits = self._corpus.search(query, vector, limit=limit, mix=MIX if self._requests else None)
        return tuple(Found(hit.record.id, hit.score) for hit in hits)
