"""The few likeliest ways to read a text, by the network's scores: roles, beginnings of clauses, acts. Pure.

Each of the three is varied where it is least sure, roles and beginnings at one place at a time, and put
together likeliest first. Probabilities are of the whole: the product of its parts'.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float32]
Ways: TypeAlias = "list[tuple[float, tuple[int, ...]]]"
"""Ways to choose, the likeliest first: how much log-probability each loses to that, and the choices."""
Range: TypeAlias = "tuple[int, int]"
Option: TypeAlias = "tuple[float, int]"
"""What one choice in a row loses, and the choice."""

BAD = -1e4
_WITHIN = 6.0  # of log-probability: what loses more is not tried
_PATHS, _BEGINS, _ACTS, _THIRD = 6, 4, 4, 3
_MANY = 6  # clauses: more than these have their acts varied one at a time


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read a text of w words: tags [w], clauses as words, and their acts.

    parts: log-probabilities of the tags, of where clauses begin, and of the acts.
    """

    parts: tuple[float, float, float]
    tags: tuple[int, ...]
    clauses: tuple[Range, ...]
    acts: tuple[int, ...]

    @property
    def sure(self) -> float:
        """The log-probability of the whole."""
        return sum(self.parts)


def likeliest(
    tags: Numbers,
    begins: Numbers,
    follows: Numbers,
    inner: NDArray[np.bool_],
    act: Callable[[Sequence[Range]], Numbers],
    limit: int,
) -> list[Way]:
    """The likeliest ways to read a text; the first has the best of each part.

    tags: log-probabilities [w, t]. begins: likewise, that no clause begins at a word or one does [w, 2].
    follows: what it costs that a tag follows another [t, t]. inner: which tags go on with what began [t].
    act: log-probabilities of acts [c, a] for clauses. limit: how many.
    """
    several = limit > 1
    rows = paths(tags, follows, inner, _PATHS if several else 1)
    marks = beginnings(begins, _BEGINS if several else 1)
    cut: dict[tuple[tuple[int, ...], tuple[Range, ...]], tuple[float, float]] = {}
    for lost, less, row, marked in _together(rows, marks, 2 * limit):
        first = [at for at in marked if at == 0 or not inner[row[at]]]
        cut.setdefault((row, tuple(zip(first, [*first[1:], len(row)], strict=True))), (lost, less))
    ranges = sorted({one for _, clauses in cut for one in clauses})
    acts = dict(zip(ranges, act(ranges), strict=True))
    best = float(tags[range(len(tags)), rows[0][1]].sum()), float(begins[1:].max(1).sum())
    found = []
    for (row, clauses), (lost, less) in cut.items():
        scores = np.stack([acts[one] for one in clauses])
        top = float(scores.max(1).sum())
        found += [
            Way((best[0] - lost, best[1] - less, top - under), row, clauses, chosen)
            for under, chosen in choices(scores, _ACTS if several else 1)
        ]
    return [found[0], *heapq.nlargest(limit - 1, found[1:], key=lambda one: one.sure)]


def paths(scores: Numbers, follows: Numbers, inner: NDArray[np.bool_], limit: int) -> Ways:
    """The best row of tags (Viterbi), and the best with another tag at some word (by max-marginals)."""
    size = len(scores)
    ahead, behind = np.empty_like(scores), np.zeros_like(scores)
    came, goes = np.zeros(scores.shape, int), np.zeros(scores.shape, int)
    ahead[0] = np.where(inner, BAD, scores[0])
    for at in range(1, size):
        ways = ahead[at - 1][:, None] + follows
        came[at], ahead[at] = ways.argmax(0), ways.max(0) + scores[at]
    for at in range(size - 2, -1, -1):
        ways = follows + (scores[at + 1] + behind[at + 1])
        goes[at], behind[at] = ways.argmax(1), ways.max(1)
    through = ahead + behind
    best = float(ahead[-1].max())
    found: dict[tuple[int, ...], float] = {}
    last = through.size - through.shape[1] + int(ahead[-1].argmax())
    for place in (last, *np.argsort(-through, axis=None)):
        at, tag = divmod(int(place), scores.shape[1])
        lost = best - float(through[at, tag])
        if lost > _WITHIN or len(found) == limit:
            break
        before, after = [tag], [tag]
        for back in range(at, 0, -1):
            before.append(int(came[back][before[-1]]))
        for on in range(at, size - 1):
            after.append(int(goes[on][after[-1]]))
        found.setdefault((*before[::-1], *after[1:]), max(lost, 0.0))
    return [(lost, row) for row, lost in found.items()]


def beginnings(scores: Numbers, limit: int) -> Ways:
    """The words that clauses begin at: the likeliest, and with one more or less of them. scores: [w, 2]."""
    sure = (scores[:, 1] - scores[:, 0]).tolist()
    best = {0, *(at for at in range(1, len(sure)) if sure[at] > 0)}
    others = sorted(range(1, len(sure)), key=lambda at: abs(sure[at]))[: limit - 1]
    return [
        (0.0, tuple(sorted(best))),
        *((abs(sure[at]), tuple(sorted(best ^ {at}))) for at in others if abs(sure[at]) <= _WITHIN),
    ]


def choices(scores: Numbers, limit: int) -> Ways:
    """The likeliest choices of one in each row [n, c]."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :_THIRD]
    options = [
        [(float(row[own[0]] - row[one]), int(one)) for one in own if row[own[0]] - row[one] <= _WITHIN]
        for row, own in zip(scores, order, strict=True)
    ]
    first = tuple(own[0][1] for own in options)
    if len(options) > _MANY:
        others = [
            (lost, (*first[:at], one, *first[at + 1 :]))
            for at, own in enumerate(options) for lost, one in own[1:]
        ]  # fmt: skip
        return [(0.0, first), *heapq.nsmallest(limit - 1, others)]
    ways = (
        (sum(lost for lost, _ in one), tuple(chosen for _, chosen in one))
        for one in _products(options, limit)
    )
    return heapq.nsmallest(limit, ways, key=lambda one: one[0])


def _products(options: Sequence[Sequence[Option]], limit: int) -> Iterator[tuple[Option, ...]]:
    """As `itertools.product`, without what cannot be among the first `limit`; options: each row's best first.

    A way that takes the options i, j, ... of its rows has (i + 1) (j + 1) ... ways that are at least as good,
    itself among them, all before it.
    """
    if not options:
        yield ()
        return
    for place, one in enumerate(options[0][:limit]):
        for rest in _products(options[1:], limit // (place + 1)):
            yield (one, *rest)


def _together(
    first: Ways, second: Ways, limit: int
) -> list[tuple[float, float, tuple[int, ...], tuple[int, ...]]]:
    pairs = ((one, other, a, b) for one, a in first for other, b in second if one + other <= _WITHIN)
    return heapq.nsmallest(limit, pairs, key=lambda pair: pair[0] + pair[1])
