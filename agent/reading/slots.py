"""What a message says of the slots of task schemas: read by a network that is given each slot's description.

The network looks at the message and at what was said before it, once for each slot, and tells what became
of the slot: nothing, a value in the message, one that was just proposed and is agreed to, that any value
will do, yes, no. After BERT-DST (Chao and Lane 2019, section 2), on the encoder of `network` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

from taskloom.agent.slots import SlotSchema, TaskSchema
from taskloom.agent.wording import spoken
from taskloom.memory.embed import MiniLM

from .listed import EXACT, Place, own_words, places, told_words, type_of, words_of
from .network import Numbers, Pieces

ANY = "any"
"""The value of a slot of which the user says that it does not matter."""

FATES = ("none", "said", "agreed", "any", "yes", "no", "other")
"""What can become of a slot in a turn."""

TYPES = ("enum", "boolean", "number", "date", "time", "amount", "text")
EXAMPLES = 8  # values of a slot that its vector is made of, at most
LONGEST_VALUE = 16  # word pieces

Head = Callable[[dict[str, Numbers]], tuple[Numbers, Numbers]]
"""From features to scores of the ends of a value [s, l, 2] and of fates [s, 7]; s slots, l word pieces."""


class Key(NamedTuple):
    """A slot by the name of its schema and its own."""

    schema: str
    slot: str


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot that a message gives a value; probability: that it does. at: where the value stands, or None."""

    key: Key
    value: str
    probability: float
    at: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before a message: which slots have a value, and the schema of the one changed last."""

    held: frozenset[Key] = frozenset()
    last: str = ""


class Slots:
    """Reads what a message says of slots."""

    def __init__(self, pieces: Callable[[str, str], Pieces], head: Head | None = None) -> None:
        self._pieces, self._head = pieces, head

    def __call__(
        self, text: str, before: str, schemas: Sequence[TaskSchema], known: Known = Known()
    ) -> tuple[Filled, ...]:
        """The slots that a message gives a value, in the order of the schemas; before: what it answers."""
        if not any(schema.slots for schema in schemas):
            return ()
        seen = self._pieces(text, before)
        given, keyed = features(seen, schemas, known)
        ends, fates = (self._head or _packaged())(given)
        found = []
        for number, (key, slot) in enumerate(keyed):
            odds = _softmax(fates[number][: len(FATES) - 1])
            best = int(odds.argmax())
            if best:
                found.append(_filled(key, slot, FATES[best], float(odds[best]), seen, ends[number]))
        return _apart(one for one in found if one is not None)


def features(
    seen: Pieces, schemas: Sequence[TaskSchema], known: Known
) -> tuple[dict[str, Numbers], list[tuple[Key, SlotSchema]]]:
    """What the head is given, and the slots that its rows are of."""
    keyed = [(Key(schema.name, slot.name), slot) for schema in schemas for slot in schema.slots]
    signs, own, vectors = [], [], []
    used = {key.schema for key in known.held}
    for key, slot in keyed:
        marks, told = _signs_of(slot, seen)
        schema = [key in known.held, key.schema in used, key.schema == known.last, len(schemas) > 1]
        kind = type_of(slot)
        signs.append(marks)
        own.append([*(one == kind for one in TYPES[:-1]), kind not in TYPES[:-1], *told, *schema])
        vectors.append(_vector(slot))
    return {
        "vectors": seen.vectors[None].astype(np.float32),
        "parts": np.array([[part for part, _, _ in seen.places]], np.int64),
        "slots": np.hstack([np.stack(vectors), np.array(own, np.float32)]).astype(np.float32),
        "signs": np.stack(signs).astype(np.float32),
    }, keyed


def _signs_of(slot: SlotSchema, seen: Pieces) -> tuple[Numbers, list[float]]:
    """Of each word piece, and of the whole: whether a value of the slot's kind is there, and its name."""
    marks = np.zeros((len(seen.places), 2), np.float32)
    own, more = own_words(slot), told_words(slot)
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


@lru_cache(maxsize=2048)
def _vector(slot: SlotSchema) -> Numbers:
    """A slot by the meaning of its name and description, and of some of its values."""
    values = slot.values[:EXAMPLES] or slot.examples[:EXAMPLES]
    told, *others = _similar()([f"{spoken(slot.name)}: {slot.description}", *values])
    mean = np.mean(others, axis=0) if others else np.zeros(len(told))
    found: Numbers = np.concatenate([told, mean])
    return found


def _filled(key: Key, slot: SlotSchema, fate: str, odds: float, seen: Pieces, ends: Numbers) -> Filled | None:
    if fate in ("yes", "no"):
        return Filled(key, fate, odds)
    if fate == "any":
        return Filled(key, ANY, odds)
    side = int(fate == "agreed")
    text = seen.before if side else seen.text
    inside = [at for at, (part, begin, end) in enumerate(seen.places) if part == side and begin < end]
    if not inside:
        return None
    pairs = (
        (float(ends[first, 0] + ends[last, 1]), first, last)
        for first in inside for last in inside if first <= last < first + LONGEST_VALUE
    )  # fmt: skip
    _, first, last = max(pairs)
    start, stop = seen.places[first][1], seen.places[last][2]
    value = _as_listed(slot, text, start, stop)
    return Filled(key, value, odds, (side, start, stop)) if value else None


def _as_listed(slot: SlotSchema, text: str, start: int, stop: int) -> str:
    """The value in the slot's form: of what stands there, else of what stands anywhere."""
    found = places(text, slot)
    there = [one for one in found if one.start < stop and start < one.end]
    best: Place | None = max(there, key=lambda one: (one.how, one.end - one.start), default=None)
    if best is not None and (slot.values or type_of(slot) == "number"):
        return best.value
    if not slot.values:
        return text[best.start : best.end] if best is not None else text[start:stop].strip(" .,!?")
    return max(found, key=lambda one: one.how).value if found else ""


def _apart(found: Iterable[Filled]) -> tuple[Filled, ...]:
    """Without what another slot has more likely: the same words are the value of one slot of a kind."""
    best: dict[object, Filled] = {}
    kept = sorted(found, key=lambda one: -one.probability)
    for number, one in enumerate(kept):
        best.setdefault(one.at or number, one)
    return tuple(one for one in kept if one in best.values())


def _softmax(scores: Numbers) -> Numbers:
    away = np.exp(scores - scores.max())
    found: Numbers = away / away.sum()
    return found


@cache
def _similar() -> MiniLM:
    return MiniLM()


@cache
def _packaged() -> Head:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with as_file(files("taskloom.agent.reading") / "weights" / "slots.onnx") as file:
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

    def run(given: dict[str, Numbers]) -> tuple[Numbers, Numbers]:
        ends, fates = session.run(None, given)
        return ends, fates

    return run
