"""Hybrid ranking of one user's records: BM25 over stems, cosine of vectors, fused. Pure, in memory.

A corpus is not locked: who shares one between threads holds a lock around each call.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from .records import KINDS, Experience, Fact, IntentUnit, Kind, Scene, searched
from .words import STOP, fold

AnyRecord: TypeAlias = Experience | Fact | IntentUnit | Scene
Vector: TypeAlias = NDArray[np.float32]

_K1, _B = 1.2, 0.75  # saturation and length correction (Robertson and Zaragoza 2009, section 3.3)
_MIX = 0.5  # share of the dense score in the fused one
_MIX_UNITS = 0.7  # of intent units: intents are said in other words, and then only the meaning tells
_EXACT = 1.0  # what a rare exact token of the query adds, more than the rest can make up for
_RARE = 0.01  # share of the records that may have such a token (five of them in any case)
_WORD = re.compile(r"\d+(?:[:.,]\d+)*|[^\W\d_]+")
_RUN = re.compile(r"[^\s,;!?()<>\"“”]+")
_IN_CODES = re.compile(r"[\d@]")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[^\W\d_a-z][^\W\d_]+")
_STEMMER, _STEMMING = snowballstemmer.stemmer("english"), Lock()


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that was found. score: what it is ranked by; lexical: BM25; dense: cosine."""

    record: AnyRecord
    score: float
    lexical: float
    dense: float


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    with _STEMMING:  # it keeps the word it works on
        return str(_STEMMER.stemWord(word))


def stems(text: str) -> list[str]:
    """The stems of a text's words (Porter's English stemmer, Snowball), in order, little words left out.

    A code (order number, e-mail, time) is also given whole, folded: 'AB-12' gives 'ab', '12', 'ab-12'.
    """
    folded = fold(text)
    found = [_stem(word) for word in _WORD.findall(folded) if word not in STOP]
    return found + [code for code in _codes(folded) if not _WORD.fullmatch(code)]


def _codes(text: str) -> list[str]:
    if not _IN_CODES.search(text):
        return []
    return [run.strip(".:'-") for run in _RUN.findall(text) if _IN_CODES.search(run)]


def exact(text: str) -> list[str]:
    """What a text names to the letter, as `stems` gives it: codes with digits or '@', capitalised names.

    A capital at the beginning of a sentence makes no name.
    """
    names = (_stem(fold(name)) for name in _NAME.findall(text) if fold(name) not in STOP)
    return list(dict.fromkeys((*(fold(code) for code in _codes(text)), *names)))


class Corpus:
    """Records of one user with their vectors, searched by words and by meaning.

    Rows are appended and marked as gone; they are moved together when more than half are gone.
    """

    def __init__(self) -> None:
        self._records: list[AnyRecord] = []
        self._rows: dict[str, int] = {}  # id: row
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # stem: rows, counts
        self._vectors: Vector = np.zeros((0, 0), np.float32)
        self._lengths = np.zeros(0, np.float32)  # stems of a row
        self._kinds = np.zeros(0, np.int8)  # index into KINDS; -1: gone
        self._newest: tuple[IntentUnit, ...] | None = None  # None: to be looked up

    def __len__(self) -> int:
        return len(self._rows)

    def records(self) -> tuple[AnyRecord, ...]:
        """All records, in the order in which they were last put."""
        return tuple(self._records[row] for row in self._rows.values())

    def count(self, kind: Kind | None = None) -> int:
        """How many records, of a kind or of all."""
        return len(self._of(kind))

    def get(self, record: str) -> AnyRecord | None:
        """The record with an id, if it is here."""
        row = self._rows.get(record)
        return None if row is None else self._records[row]

    def newest(self) -> tuple[IntentUnit, ...]:
        """Of each intent the newest unit, and the newest of another thread, as the one under way is left out.

        Dropped units do not count. Looked up once after each change.
        """
        if self._newest is None:
            held: dict[str, list[IntentUnit]] = {}
            for record in self.records():
                if isinstance(record, IntentUnit) and record.status != "dropped":
                    held.setdefault(record.intent, []).append(record)
            self._newest = tuple(unit for units in held.values() for unit in _newest_two(units))
        return self._newest

    def put(self, records: Sequence[AnyRecord], vectors: Vector) -> None:
        """Adds records, in place of those with the same id.

        Args:
            records: n records.
            vectors: [n, d]; scaled to length 1 here.

        Raises:
            ValueError: not a vector for each record, or of another d than the vectors so far.
        """
        if vectors.ndim != 2 or len(vectors) != len(records):
            raise ValueError(f"{len(records)} records need as many vectors, got shape {vectors.shape}")
        if not records:
            return
        if self._rows and vectors.shape[1] != self._vectors.shape[1]:
            held = self._vectors.shape[1]
            raise ValueError(f"vectors of {vectors.shape[1]} numbers do not go with those of {held} here")
        self.remove(record.id for record in records)
        self._room(len(records), vectors.shape[1])
        for record, vector in zip(records, _unit(vectors), strict=True):
            if record.id in self._rows:  # twice in one call: the last one counts
                self.remove((record.id,))
            self._append(record, vector)

    def _append(self, record: AnyRecord, vector: Vector) -> None:
        row = len(self._records)
        counts = Counter(stems(searched(record)))
        for stem, count in counts.items():
            rows, times = self._postings.setdefault(stem, (array("i"), array("i")))
            rows.append(row)
            times.append(count)
        self._newest = None
        self._records.append(record)
        self._rows[record.id] = row
        self._vectors[row] = vector
        self._lengths[row] = counts.total()
        self._kinds[row] = KINDS.index(record.kind)

    def _room(self, more: int, size: int) -> None:
        """Makes room for more rows; doubles it, so that adding stays linear."""
        used = len(self._records)
        if used + more <= len(self._kinds) and self._vectors.shape[1] == size:
            return
        rows = max(2 * used, used + more, 64)
        vectors = np.zeros((rows, size), np.float32)
        if used and self._vectors.shape[1] == size:
            vectors[:used] = self._vectors[:used]
        self._vectors = vectors
        self._lengths = np.concatenate([self._lengths[:used], np.zeros(rows - used, np.float32)])
        self._kinds = np.concatenate([self._kinds[:used], np.full(rows - used, -1, np.int8)])

    def remove(self, ids: Iterable[str]) -> None:
        """Removes records; unknown ids are ignored."""
        for key in ids:
            row = self._rows.pop(key, None)
            if row is not None:
                self._kinds[row] = -1
                self._newest = None
        if len(self._records) > 2 * len(self._rows) + 64:
            self._compact()

    def _compact(self) -> None:
        records, rows = self.records(), list(self._rows.values())
        vectors = self._vectors[rows]
        self.__init__()  # type: ignore[misc]
        self.put(records, vectors)

    def search(
        self,
        text: str,
        vector: Vector,
        *,
        kind: Kind | None = None,
        limit: int = 10,
        mix: float | None = None,
    ) -> tuple[Hit, ...]:
        """The records that match a text, best first; of equals the newest.

        Both scores are brought to 0..1 (BM25 by its maximum, cosines by minimum and maximum) and mixed: the
        convex combination of Bruch, Gai and Ingber (2023). A rare exact token lifts a record above others.

        Args:
            text: the words.
            vector: [d], their vector; of length 1 if cosines are wanted.
            kind: only records of this kind.
            limit: how many at most.
            mix: share of the dense score; default what measured best for the kind.

        Raises:
            ValueError: a vector of another d than those here.
        """
        rows = self._of(kind)
        if not len(rows):
            return ()
        if vector.shape != self._vectors.shape[1:]:
            raise ValueError(f"a vector of shape {vector.shape} among those of {self._vectors.shape[1:]}")
        lexical = self._lexical(stems(text), rows)
        dense = (self._vectors[: len(self._records)] @ vector)[rows]
        if mix is None:
            mix = _MIX_UNITS if kind == "unit" else _MIX
        score = (1 - mix) * _scaled(lexical, 0.0) + mix * _scaled(dense, float(dense.min()))
        score += _EXACT * self._exact(text, rows)
        few = min(limit, len(rows))
        best = np.argpartition(-score, few - 1)[:few]
        order = sorted(best.tolist(), key=lambda n: (-score[n], -rows[n]))
        return tuple(
            Hit(self._records[rows[n]], float(score[n]), float(lexical[n]), float(dense[n])) for n in order
        )

    def _of(self, kind: Kind | None) -> NDArray[np.intp]:
        """The rows of a kind, or all that are not gone."""
        kinds = self._kinds[: len(self._records)]
        return np.flatnonzero(kinds >= 0 if kind is None else kinds == KINDS.index(kind))

    def _lexical(self, query: list[str], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """The BM25 scores of some rows."""
        scores = np.zeros(len(self._records), np.float32)
        within = np.zeros(len(self._records), bool)
        within[rows] = True
        usual = self._lengths[rows].mean() or 1.0
        for stem in set(query):
            found = self._having(stem, within)
            if found is not None:
                having, count = found
                norm = _K1 * (1 - _B + _B * self._lengths[having] / usual)
                scores[having] += _idf(len(rows), len(having)) * count * (_K1 + 1) / (count + norm)
        return scores[rows]

    def _having(
        self, stem: str, within: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """The rows that have a stem, and how often; None if none has."""
        if stem not in self._postings:
            return None
        having, counts = (np.array(each, np.int32) for each in self._postings[stem])
        here = within[having]
        return (having[here], counts[here]) if here.any() else None

    def _exact(self, text: str, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """How many of the rare exact tokens of a text each row has."""
        scores = np.zeros(len(self._records), np.float32)
        within = np.zeros(len(self._records), bool)
        within[rows] = True
        for token in exact(text):
            found = self._having(token, within)
            if found is not None and len(found[0]) <= max(5, _RARE * len(rows)):
                scores[found[0]] += 1
        return scores[rows]


def _newest_two(units: Sequence[IntentUnit]) -> Iterable[IntentUnit]:
    """The newest of some units, and the newest of another thread than that."""

    def time(unit: IntentUnit) -> tuple[datetime, int]:
        return unit.at, unit.order

    newest = max(units, key=time)
    others = (unit for unit in units if unit.thread != newest.thread)
    return filter(None, (newest, max(others, key=time, default=None)))


def _idf(records: int, having: int) -> float:
    """Inverse document frequency as in BM25, never negative."""
    return math.log(1 + (records - having + 0.5) / (having + 0.5))


def _scaled(scores: NDArray[np.float32], low: float) -> NDArray[np.float32]:
    """Scores brought to 0..1 by a lower bound and their maximum."""
    spread = float(scores.max()) - low
    return (scores - np.float32(low)) / np.float32(spread) if spread > 0 else np.zeros_like(scores)


def _unit(vectors: Vector) -> Vector:
    """Rows scaled to length 1; rows of zeros stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), np.float32)


def with_neighbours(hits: Sequence[Hit], share: float = 0.25) -> tuple[Hit, ...]:
    """Facts of turns, ranked again with a share of the better score among the turns beside them, best first.

    What is asked for often stands in the turn after or before the one whose words match: an answer after its
    question. Turns are beside each other if their numbers are, in one thread.
    """
    at = {(hit.record.thread, hit.record.turn): hit.score for hit in hits}

    def score(hit: Hit) -> float:
        thread, turn = hit.record.thread, hit.record.turn
        return hit.score + share * max(at.get((thread, turn + step), 0.0) for step in (-1, 1))

    again = (replace(hit, score=score(hit)) for hit in hits)
    return tuple(sorted(again, key=lambda hit: -hit.score))
