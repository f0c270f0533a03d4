"""From a request to the earlier task that it means, and to the values to propose for its slots. Pure.

Follows Memory-Active Policy (MAP): intent units are retrieved, a judge re-ranks each question-answer pair for
a missing slot, score = alpha * retrieval + (1 - alpha) * judge, five are kept, the questions are stripped.

Two judgements, both with weights from `judge.json` (made by `benchmarks/train_judge.py`):
- of units: a softmax over all units that come into question, linear in the columns of UNIT. It weighs whose
  intent fits the words against which session is meant: the newest, unless a value or a time is named.
- of pairs: a logistic regression over the columns of PAIR; a language model can take its place.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .pointing import Pointing, pointing, seeks
from .ranking import AnyRecord, Hit, stems
from .records import IntentUnit, Pair

Floats: TypeAlias = NDArray[np.float64]
Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]

UNIT = (
    "text",  # cosine of the whole request to the intent's most similar unit
    "description",  # cosine of the bare request to the intent's description
    "title",  # cosine of the bare request to the title
    "words",  # share of the bare request's words in description and title, by how rare they are
    "lexical",  # BM25 of the intent's best unit, as a share of the best of all
    "mood",  # whether both request and intent look for something, or both get something done: -1..1
    "looks",  # whether the intent looks for something: -1..1
    "named",  # how well a value of the unit is named: 0..1
    "hinted",  # the same, of a value that may well be an ordinary word
    "dated",  # 1: the request names a time in which the unit was made
    "newest",  # 1: newest of its intent, which has no unit that is named or dated
    "latest",  # 1: newest of those that are named or dated best in its intent
    "age",  # logarithm of 1 + how many newer ones of its intent are here, if none is named or dated
)  # fmt: skip
PAIR = (
    "unit",  # probability of the unit
    "same",  # 1: the slot has the same name
    "words",  # share of the slot's words in the pair's name and question
    "similar",  # cosine of what the slot asks for to the pair's question
)
KEPT = 5  # pairs kept for a slot, as in MAP
ALPHA = 0.3  # share of retrieval in the score of a pair
CANDIDATES = 100  # units that are worth judging; the newest of each of their intents come on top
"""How many units a caller should search for."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit that may be meant. score: probability among all; retrieval: score of the search, 0 if not found.

    named: slots of which the request names the unit's value.
    """

    unit: IntentUnit
    score: float
    retrieval: float
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value for a missing slot. score: of its pair, 0..1. source: id of the unit it comes from."""

    slot: str
    value: str
    score: float
    source: str


class Asked(NamedTuple):
    """What a judge of pairs is asked: does the pair answer what the slot asks for, for this request?

    features: [len(PAIR)].
    """

    request: str
    slot: str
    question: str
    unit: IntentUnit
    pair: Pair
    features: Floats


class Judge(Protocol):
    """Judges pairs; a small model by default, a language model by choice."""

    def __call__(self, asked: Sequence[Asked]) -> Floats:
        """The probabilities [n] that n pairs give what their slot wants."""
        ...


@dataclass(frozen=True)
class LogisticJudge:
    """The trained weights of both judgements, by column."""

    unit: Mapping[str, float]
    pair: Mapping[str, float]
    bias: float

    def units(self, features: Floats) -> Floats:
        """Probabilities [n] of n units, features [n, len(UNIT)]; they add up to 1."""
        scores = features @ np.array([self.unit[name] for name in UNIT])
        grown = np.exp(scores - scores.max(initial=0.0))
        return np.asarray(grown / grown.sum())

    def __call__(self, asked: Sequence[Asked]) -> Floats:
        """The probabilities [n] that n pairs give what their slot wants."""
        features = np.array([one.features for one in asked]).reshape(len(asked), len(PAIR))
        scores = features @ np.array([self.pair[name] for name in PAIR]) + self.bias
        return np.asarray(1 / (1 + np.exp(-scores)))


@lru_cache(maxsize=1)
def trained() -> LogisticJudge:
    """The judge that comes with the package."""
    return LogisticJudge(**json.loads((files(__package__) / "judge.json").read_text(encoding="utf-8")))


def unit_text(
    description: str, pairs: Iterable[Pair], utterances: Iterable[str], *, limit: int = 1200
) -> str:
    """What an intent unit is embedded by: its intent, its values, the user's words; cut to the limit."""
    values = ", ".join(f"{spoken(pair.slot)}: {pair.answer}" for pair in pairs)
    text = ". ".join(filter(None, (description.rstrip("."), values, " ".join(utterances))))
    return text[:limit]


def spoken(slot: str) -> str:
    """A slot's name in words: 'trip.pickup_city' gives 'pickup city', 'FindBus' 'find bus'."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", slot.rsplit(".", 1)[-1])
    return " ".join(apart.replace("_", " ").split()).lower()


def rank_units(
    text: str,
    hits: Sequence[Hit],
    units: Iterable[AnyRecord],
    embed: Embed,
    *,
    now: datetime,
    judge: LogisticJudge | None = None,
) -> tuple[Ranked, ...]:
    """The units that a request may mean, best first.

    Args:
        text: the request, as the user said it.
        hits: what a search for these words found among the user's units, at most CANDIDATES.
        units: the newest ones of each intent (`Corpus.newest`), or all records of the user: of each intent
            that was hit the newest unit is judged too.
        embed: gives n texts their vectors [n, d] of length 1. Asked for the request and the descriptions and
            titles of the intents at once: an embedder behind a network should remember texts.
        now: the present, for 'last week'.
        judge: the weights; those of the package by default.
    """
    found, features, points = unit_features(text, hits, units, embed, now=now)
    if not found:
        return ()
    scores = (judge or trained()).units(features)
    retrieval = {hit.record.id: hit.score for hit in hits}
    order = sorted(range(len(found)), key=lambda n: (-scores[n], -found[n].at.timestamp(), -found[n].order))
    return tuple(
        Ranked(
            found[n], float(scores[n]), retrieval.get(found[n].id, 0.0), points.strength[found[n].id].slots
        )
        for n in order
    )


def unit_features(
    text: str, hits: Sequence[Hit], units: Iterable[AnyRecord], embed: Embed, *, now: datetime
) -> tuple[list[IntentUnit], Floats, Pointing]:
    """The units that come into question, their features [n, len(UNIT)], and what the request points at.

    Args as of `rank_units`.
    """
    hit_units = [hit.record for hit in hits if isinstance(hit.record, IntentUnit) and _offered(hit.record)]
    close = {hit.record.id: hit for hit in hits}
    held: dict[str, dict[str, IntentUnit]] = {}  # intent: id: unit
    for unit in hit_units:
        held.setdefault(unit.intent, {})[unit.id] = unit
    for unit in _newest(units, held):
        held[unit.intent][unit.id] = unit
    by_age = {intent: sorted(some.values(), key=_time, reverse=True) for intent, some in held.items()}
    found = [unit for some in by_age.values() for unit in some]
    points = pointing(text, found, now)
    wide = _intent_features(points.request, by_age, close, embed) if found else {}
    rows = [row for intent, some in by_age.items() for row in _within(wide[intent], some, points)]
    return found, np.array(rows).reshape(len(rows), len(UNIT)), points


def _newest(units: Iterable[AnyRecord], intents: Container[str]) -> Iterable[IntentUnit]:
    """The newest unit of each of some intents."""
    newest: dict[str, IntentUnit] = {}
    for unit in units:
        if isinstance(unit, IntentUnit) and unit.intent in intents and _offered(unit):
            last = newest.get(unit.intent)
            if last is None or _time(unit) > _time(last):
                newest[unit.intent] = unit
    return newest.values()


def _time(unit: IntentUnit) -> tuple[datetime, int]:
    return unit.at, unit.order


def _offered(unit: IntentUnit) -> bool:
    return unit.status != "dropped"


def _intent_features(
    request: str, ages: Mapping[str, Sequence[IntentUnit]], close: Mapping[str, Hit], embed: Embed
) -> dict[str, list[float]]:
    """The features that all units of an intent share: the first columns of UNIT."""
    newest = {intent: of_intent[0] for intent, of_intent in ages.items()}
    texts = [
        text for unit in newest.values() for text in (unit.description or unit.title, spoken(unit.title))
    ]
    vectors = embed([request, *(text or "task" for text in texts)])
    cosines = vectors[1:] @ vectors[0]
    bags = {
        intent: frozenset(stems(f"{unit.description} {spoken(unit.title)}"))
        for intent, unit in newest.items()
    }
    having = Counter(stem for bag in bags.values() for stem in bag)
    sought = {stem: math.log(1 + len(bags) / (having[stem] + 0.5)) for stem in stems(request)}
    total = sum(sought.values()) or 1.0
    most = max((hit.lexical for hit in close.values()), default=0.0) or 1.0
    mood = seeks(request)
    found = {}
    for n, (intent, of_intent) in enumerate(ages.items()):
        hits = [close[unit.id] for unit in of_intent if unit.id in close]
        looks = seeks(newest[intent].description or newest[intent].title)
        found[intent] = [
            max(hit.dense for hit in hits),
            float(cosines[2 * n]),
            float(cosines[2 * n + 1]),
            sum(weight for stem, weight in sought.items() if stem in bags[intent]) / total,
            max(hit.lexical for hit in hits) / most,
            mood * looks,
            looks,
        ]
    return found


def _within(wide: Sequence[float], some: Sequence[IntentUnit], points: Pointing) -> list[list[float]]:
    """The features [n][len(UNIT)] of the units of one intent, newest first; wide: those that all share."""
    strengths = [points.strength[unit.id] for unit in some]
    force = [strength.named + strength.dated for strength in strengths]
    best = max(force)
    latest = force.index(best)
    return [
        [
            *wide,
            strength.named,
            strength.hinted,
            strength.dated,
            float(not best and not n),
            float(bool(best) and n == latest),
            0.0 if best else math.log1p(n),
        ]
        for n, strength in enumerate(strengths)
    ]


def pairs_for(
    text: str,
    missing: Mapping[str, str],
    ranked: Sequence[Ranked],
    embed: Embed,
    *,
    judge: Judge | None = None,
    alpha: float = ALPHA,
    keep: int = KEPT,
) -> dict[str, tuple[Proposal, ...]]:
    """The values to propose for missing slots, best first, without their questions.

    Args:
        text: the request, as the user said it.
        missing: for each missing slot what it asks for, in words (its description or question).
        ranked: units as `rank_units` gives them; the ten best are looked at.
        embed: as of `rank_units`.
        judge: of pairs; the trained one by default.
        alpha: share of the unit's score in that of a pair, the rest is the judge's.
        keep: how many pairs are kept for a slot.

    Returns:
        Proposals for each slot, () where no unit has a pair. Of equal values the best one stands.
    """
    pairs = [(rank, pair) for rank in ranked[:_LOOKED_AT] for pair in rank.unit.pairs]
    if not pairs or not missing:
        return dict.fromkeys(missing, ())
    questions = list(dict.fromkeys(_question(pair) for _, pair in pairs))
    vectors = embed([*(wanted or spoken(slot) for slot, wanted in missing.items()), *questions])
    cosines = vectors[: len(missing)] @ vectors[len(missing) :].T
    column = {question: n for n, question in enumerate(questions)}
    asked = [
        Asked(text, slot, wanted, rank.unit, pair,
              _pair_features(slot, rank, pair, float(cosines[n, column[_question(pair)]])))
        for n, (slot, wanted) in enumerate(missing.items()) for rank, pair in pairs
    ]  # fmt: skip
    judged = (judge or trained())(asked)
    found: dict[str, dict[str, Proposal]] = {slot: {} for slot in missing}
    for one, (rank, _), answers in zip(asked, pairs * len(missing), judged, strict=True):
        score = alpha * rank.score + (1 - alpha) * float(answers)
        held = found[one.slot].get(one.pair.answer)
        if held is None or score > held.score:
            found[one.slot][one.pair.answer] = Proposal(one.slot, one.pair.answer, score, one.unit.id)
    return {
        slot: tuple(sorted(values.values(), key=lambda proposal: -proposal.score)[:keep])
        for slot, values in found.items()
    }


_LOOKED_AT = 10


def _question(pair: Pair) -> str:
    return pair.question or spoken(pair.slot)


def _pair_features(slot: str, rank: Ranked, pair: Pair, cosine: float) -> Floats:
    name = frozenset(stems(spoken(slot)))
    given = frozenset(stems(f"{spoken(pair.slot)} {pair.question}"))
    share = len(name & given) / len(name) if name else 0.0
    return np.array([rank.score, float(spoken(slot) == spoken(pair.slot)), share, cosine])
