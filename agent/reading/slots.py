"""What a message says of the slots of task schemas: read by a network that is given each slot's description.

The network looks at the message and at what was said before it, once for each slot, and tells what became
of the slot: nothing, a value in the message, one that was just proposed and is agreed to, that any value
will do, yes, no. After BERT-DST (Chao and Lane 2019), on the encoder of `network` as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from taskloom.agent.language.wording import spoken
from taskloom.agent.plan.slots import ANY
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema
from taskloom.memory.consolidate import is_person_name
from taskloom.memory.embed import packaged, session

from .beam import Numbers
from .indifferent import indifferent
from .listed import EXACT, Place, description_words, own_words, places, type_of, words_of
from .network import Pieces

FATES = ("none", "said", "agreed", "any", "yes", "no")
"""What can become of a slot in a turn."""

TYPES = ("enum", "boolean", "number", "date", "time", "amount", "text")
NEWS = 0.5  # from which probability on that something became of a slot it is told
EXAMPLES = 8  # values of a slot that its vector is made of, at most
LONGEST_VALUE = 16  # word pieces
NEARLY_AS_GOOD = (
    3.0  # another place of a value, where its best one is another slot's, scores at most this less
)
PLAIN = (
    0.9  # from which probability on words that are no date, time or number are taken for one, or for "any"
)
SAID_SO = 0.95  # how probable it is that any value will do where the words say so

_FOR_US = re.compile(r"\b(?:for|with) (?:.* and )?(?:me|us|myself)$", re.IGNORECASE)

Head = Callable[[dict[str, Numbers]], tuple[Numbers, Numbers]]
"""From features to scores of the ends of a value [s, l, 2] and of fates [s, 6]; s slots, l word pieces."""


class Key(NamedTuple):
    """A slot by the name of its schema and its own."""

    schema: str
    slot: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot that a message gives a value; probability: that it does.

    at: where the value stands: in the message (0) or in what was before it (1), from where to where; or None.
    placed: the probability that it stands just there; 1 where the value does not depend on it.
    """

    key: Key
    value: str
    probability: float
    at: tuple[int, int, int] | None = None
    placed: float = 1.0


class SlotReading(NamedTuple):
    """What a message says of slots: those that it gives a value, the surest first, and the odds of all slots.

    odds: of each slot, the probability that the message says something of it, whether it is filled or not.
    """

    filled: tuple[Filled, ...] = ()
    odds: Mapping[Key, float] = {}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before a message: which slots have a value, and the schema of the one changed last."""

    held: frozenset[Key] = frozenset()
    last: str = ""


class Slots:
    """Reads what a message says of slots."""

    def __init__(self, pieces: Callable[[str, str], Sequence[Pieces]]) -> None:
        """pieces: from a text and what it answers to the word pieces of its parts."""
        self._pieces = pieces

    def __call__(
        self, text: str, before: str, schemas: Sequence[TaskSchema], known: Known = Known()
    ) -> SlotReading:
        """What a message says of slots; before: what it answers."""
        if not any(schema.slots for schema in schemas):
            return SlotReading()
        found, odds = dict[Key, Filled](), dict[Key, float]()
        for seen in self._pieces(text, before):
            part = _read(seen, schemas, known)
            found |= {one.key: one for one in part.filled}
            odds |= {key: max(one, odds.get(key, 0.0)) for key, one in part.odds.items()}
        for key, one in _for_any(text, before, schemas, known).items():
            if key not in found or found[key].value == ANY:
                odds[key] = max(one.probability, odds.get(key, 0.0))
                found[key] = replace(one, probability=odds[key])
        kept = (one for one in found.values() if one.value != ANY or one.probability >= PLAIN)
        return SlotReading(tuple(sorted(kept, key=lambda one: -one.probability)), odds)


def _for_any(text: str, before: str, schemas: Sequence[TaskSchema], known: Known) -> dict[Key, Filled]:
    """The slots of the kind that is spoken of for which, by the words, any value will do."""
    spoken_of = [one for one in schemas if one.name == known.last or len(schemas) == 1]
    keys = (Key(one.name, slot) for one in spoken_of for slot in indifferent(text, before, one))
    return {key: Filled(key, ANY, SAID_SO) for key in keys}


def _read(seen: Pieces, schemas: Sequence[TaskSchema], known: Known) -> SlotReading:
    """What one part of a message says of slots."""
    given, keyed = features(seen, schemas, known)
    ends, fates = _packaged()(given)
    told = [_odds(slot, row) for (_, slot), row in zip(keyed, fates, strict=True)]
    found: list[Filled] = []
    for number in sorted(range(len(keyed)), key=lambda at: -float(told[at][1:].max())):
        (key, slot), odds = keyed[number], told[number]
        best = 1 + int(odds[1:].argmax())
        if 1 - odds[0] >= NEWS:
            taken = [one.at for one in found if one.at is not None]
            one = _filled(key, slot, FATES[best], float(1 - odds[0]), seen, ends[number], taken)
            if one is not None and (key not in known.held or _is_news(one, seen)):
                found.append(one)
    said = {key: float(1 - odds[0]) for (key, _), odds in zip(keyed, told, strict=True)}
    return SlotReading(tuple(found), said)


def _odds(slot: SlotSchema, scores: Numbers) -> Numbers:
    """The probability of each fate that a slot of this type can have."""
    truth = [FATES.index("yes"), FATES.index("no")]
    own = scores[: len(FATES)].copy()
    if type_of(slot) != "boolean":
        own[truth] = -np.inf
    own = np.exp(own - own.max())
    found: Numbers = own / own.sum()
    return found


def features(
    seen: Pieces, schemas: Sequence[TaskSchema], known: Known
) -> tuple[dict[str, Numbers], list[tuple[Key, SlotSchema]]]:
    """What the head is given, and the slots that its rows are of."""
    keyed = [(Key(schema.name, slot.name), slot) for schema in schemas for slot in schema.slots]
    kinds = {schema.name: _meaning(f"{spoken(schema.name)}: {schema.description}") for schema in schemas}
    signs, own, vectors = [], [], []
    used = {key.schema for key in known.held}
    for key, slot in keyed:
        marks, told = _signs_of(slot, seen)
        schema = [key in known.held, key.schema in used, key.schema == known.last, len(schemas) > 1]
        kind = type_of(slot)
        signs.append(marks)
        own.append([*(one == kind for one in TYPES[:-1]), kind not in TYPES[:-1], *told, *schema])
        vectors.append(np.concatenate([_vector(slot), kinds[key.schema]]))
    return {
        "vectors": seen.vectors[None].astype(np.float32),
        "parts": np.array([[part for part, _, _ in seen.places]], np.int64),
        "slots": np.hstack([np.stack(vectors), np.array(own, np.float32)]).astype(np.float32),
        "signs": np.stack(signs).astype(np.float32),
    }, keyed


def _signs_of(slot: SlotSchema, seen: Pieces) -> tuple[Numbers, list[float]]:
    """Of each word piece, and of the whole: whether a value of the slot's kind is there, and its name."""
    marks = np.zeros((len(seen.places), 2), np.float32)
    own, more = own_words(slot), description_words(slot)
    values, named = [0.0, 0.0], [0.0, 0.0]
    for part, text in enumerate((seen.text, seen.before)):
        spots = [(one.start, one.end, one.how, 0) for one in places(text, slot)]
        words = words_of(text)
        spots += [
            (word.start, word.end, EXACT if word.form in own else EXACT / 2, 1)
            for word in words if word.form in own or word.form in more
        ]  # fmt: skip
        values[part] = float(any(row == 0 for *_, row in spots))
        named[part] = len(own & {word.form for word in words}) / max(len(own), 1)
        for at, (side, begin, end) in enumerate(seen.places):
            for start, stop, how, row in spots:
                if side == part and begin < stop and start < end and begin < end:
                    marks[at, row] = max(marks[at, row], how)
    return marks, [*values, *named]


@lru_cache(maxsize=1024)
def _meaning(text: str) -> Numbers:
    (found,) = packaged()([text])
    return np.array(found, np.float32)


@lru_cache(maxsize=2048)
def _vector(slot: SlotSchema) -> Numbers:
    """A slot by the meaning of its name and description, and of some of its values."""
    values = slot.values[:EXAMPLES] or slot.examples[:EXAMPLES]
    told, *others = packaged()([f"{spoken(slot.name)}: {slot.description}", *values])
    mean = np.mean(others, axis=0) if others else np.zeros(len(told))
    found: Numbers = np.concatenate([told, mean])
    return found


def _filled(
    key: Key, slot: SlotSchema, fate: str, odds: float, seen: Pieces, ends: Numbers,
    taken: Sequence[tuple[int, int, int]],
) -> Filled | None:  # fmt: skip
    """A slot with its value; taken: places of values of other slots, which are left out."""
    if fate in ("yes", "no"):
        return Filled(key, fate, odds)
    if fate == "any":
        return Filled(key, ANY, odds)
    side = int(fate == "agreed")
    text = seen.before if side else seen.text
    best = _span(ends, seen, side, ())
    if best is None:
        return None
    value, at = _as_listed(slot, text, *best[1])
    if any(other[0] == side and other[1] < at[1] and at[0] < other[2] for other in taken):
        rest = _span(ends, seen, side, taken) if type_of(slot) == "text" else None
        if rest is None or rest[0] < best[0] - NEARLY_AS_GOOD:
            return None  # it was the other slot's value
        value, at = _as_listed(slot, text, *rest[1])
    if type_of(slot) in ("date", "time", "number") and odds < PLAIN and not places(text[slice(*at)], slot):
        return None
    if type_of(slot) == "text" and not is_person_name(slot.name) and _FOR_US.search(text[: at[1]], at[0] - 5):
        return None  # 'a table for Mia and me' is of no restaurant
    placed = 1.0 if slot.values or type_of(slot) == "number" else _placed(ends, seen, (side, *at))
    return Filled(key, value, odds, (side, *at), placed) if value else None


def _is_news(one: Filled, seen: Pieces) -> bool:
    """Whether a value is not just what the assistant has said that it is: it is the user's, or was asked."""
    if one.at is None or one.at[0] == 0:
        return True
    return (re.search(r"[.!?](?!\d)", seen.before[one.at[2] :]) or [""])[0] == "?"


def _span(
    ends: Numbers, seen: Pieces, side: int, taken: Sequence[tuple[int, int, int]]
) -> tuple[float, tuple[int, int]] | None:
    """The best place for a value outside of those that are taken, with its score."""
    return max(_spans(ends, seen, side, taken), default=None)


def _placed(ends: Numbers, seen: Pieces, at: tuple[int, int, int]) -> float:
    """The probability that a value stands just there, and nowhere else in the same text."""
    scores = {span: score for score, span in _spans(ends, seen, at[0], ())}
    best = max(scores.values())
    odds = {span: float(np.exp(score - best)) for span, score in scores.items()}
    return odds.get(at[1:], 0.0) / sum(odds.values())


def _spans(
    ends: Numbers, seen: Pieces, side: int, taken: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[float, tuple[int, int]]]:
    """The places for a value outside of those that are taken, each with its score."""
    free = [
        at for at, (part, begin, end) in enumerate(seen.places)
        if part == side and begin < end
        and not any(other[0] == side and other[1] < end and begin < other[2] for other in taken)
    ]  # fmt: skip
    for number, first in enumerate(free):
        for more, last in enumerate(free[number : number + LONGEST_VALUE]):
            if last - first == more:
                score = float(ends[first, 0] + ends[last, 1])
                yield score, (seen.places[first][1], seen.places[last][2])


def _as_listed(slot: SlotSchema, text: str, start: int, stop: int) -> tuple[str, tuple[int, int]]:
    """The value in the slot's form, and where it stands: of what is there, else of what is anywhere."""
    found = places(text, slot)
    there = [one for one in found if one.start < stop and start < one.end]
    best: Place | None = max(there, key=lambda one: (one.how, one.end - one.start), default=None)
    if best is None and slot.values:
        best = max(found, key=lambda one: one.how, default=None)
    if best is not None:
        listed = slot.values or type_of(slot) == "number"
        return best.value if listed else text[best.start : best.end], (best.start, best.end)
    return "" if slot.values else text[start:stop].strip(" .,!?"), (start, stop)


@cache
def _packaged() -> Head:
    head = session(files("taskloom.agent.reading") / "weights" / "slots.onnx")

    def run(given: dict[str, Numbers]) -> tuple[Numbers, Numbers]:
        ends, fates = head.run(None, given)
        return ends, fates

    return run
