"""Moments of recordings that match words: by the scene they stand in, and by their own words and meaning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np

from taskloom.memory.embed import Embedder
from taskloom.memory.ranking import Hit, stems
from taskloom.memory.records import Evidence, Scene
from taskloom.memory.scenes import clock, render
from taskloom.memory.words import fold
from taskloom.tools.errors import ToolError
from taskloom.tools.video.looking import no_range

MOMENTS, MOST_MOMENTS = 5, 50
_SCENE, _WORDS, _MEANING = 0.2, 0.5, 0.3  # shares of the score; set by hand, before any figure was taken
_EMBEDDED = 24  # lines whose meaning is compared: those that the rest of the score puts first


class Search(Protocol):
    """Looks scenes up by words and meaning."""

    def __call__(self, query: str, limit: int) -> Sequence[Hit]:
        """The hits, best first."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Evidence with the recording that it is of. score: comparable within one search."""

    scene: Scene
    evidence: Evidence
    score: float = 1.0

    @property
    def source(self) -> str:
        """Where it is, as a task's source names it: `video:ID@mm:ss`."""
        return f"{self.scene.thread}@{clock(self.evidence.start_ms)}"

    def __str__(self) -> str:
        return f"{render(self.evidence)} ({self.scene.name})"


def moments_in(scenes: Sequence[Scene]) -> list[Moment]:
    """All evidence of some scenes, in order of time in each recording."""
    return [Moment(scene, one) for scene in scenes for one in scene.evidence]


def within(
    moments: Sequence[Moment],
    *,
    start_ms: int | None = None,
    end_ms: int | None = None,
    who: str | None = None,
) -> list[Moment]:
    """The moments that touch a stretch of time, and that somebody said, by their name or a part of it.

    Raises:
        ToolError: the stretch ends before it begins, or begins after the end of all recordings.
    """
    start, length = start_ms or 0, max((one.scene.end_ms for one in moments), default=0)
    end = max(start, length) if end_ms is None else end_ms
    if moments and (start > length or end < start):
        raise no_range(start, end, length)
    return [
        one
        for one in moments
        if (start_ms is None or one.evidence.end_ms >= start_ms)
        and (end_ms is None or one.evidence.start_ms <= end_ms)
        and (who is None or is_called(one.evidence.by, who))
    ]


def is_called(name: str, who: str) -> bool:
    """Whether a speaker goes by some words: the whole name, or one part of it, in any case."""
    own, said = fold(name).split(), fold(who).split()
    return bool(said) and (own == said or (len(said) == 1 and said[0] in own))


def retrieve(
    query: str, moments: Sequence[Moment], search: Search, embedder: Embedder, k: int = MOMENTS
) -> tuple[Moment, ...]:
    """The moments that match a query, best first, at most k; of equals the earliest.

    Args:
        query: in words.
        moments: those to choose from.
        search: finds scenes.
        embedder: compares meanings.
        k: how many, 1 to `MOST_MOMENTS`.

    Raises:
        ToolError: no words to look for, or not such a k.
    """
    if not query.strip():
        raise ToolError("the query is blank: say what to look for")
    if not 1 <= k <= MOST_MOMENTS:
        raise ToolError(f"k is {k}: ask for 1 to {MOST_MOMENTS} moments")
    if not moments:
        return ()
    hits = search(query, len({one.scene.id for one in moments}))
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    of_scene = {hit.record.id: hit.score / best for hit in hits}
    coverage = covered(query, [one.evidence for one in moments])
    scores = [
        _SCENE * of_scene.get(one.scene.id, 0.0) + _WORDS * share
        for one, share in zip(moments, coverage, strict=True)
    ]
    first = sorted(range(len(moments)), key=lambda n: (-scores[n], n))[: max(k, _EMBEDDED)]
    vectors = embedder([query, *(moments[n].evidence.text for n in first)])
    meaning = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
    scored = [
        Moment(moments[n].scene, moments[n].evidence, round(scores[n] + _MEANING * float(cosine), 4))
        for n, cosine in zip(first, meaning, strict=True)
    ]
    scored.sort(key=lambda one: (-one.score, one.scene.at, one.evidence.start_ms))
    return tuple(scored[:k])


def covered(query: str, evidence: Sequence[Evidence]) -> list[float]:
    """For each piece of evidence the share of a query that its words and speaker have, rare words most."""
    own = [frozenset(stems(f"{one.by} {one.text}")) for one in evidence]
    count = Counter(chain.from_iterable(own))
    weights = {stem: math.log(1 + len(own) / (1 + count[stem])) for stem in set(stems(query))}
    whole = sum(weights.values()) or 1.0
    return [sum(weight for stem, weight in weights.items() if stem in has) / whole for has in own]
