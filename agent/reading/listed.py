"""Where values of a schema's slots may stand in a text: listed ones, dates, times, numbers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from taskloom.agent.language import values
from taskloom.agent.language.wording import spoken
from taskloom.agent.turn.schemas import SlotSchema
from taskloom.memory.words import fold, stem, word_set

EXACT, NEARLY, PARTLY = 1.0, 0.8, 0.6
"""How well words fit a listed value: all of it, but for a letter, a word that only this value has."""

_WHOLE = re.compile(r"\d{1,9}|\d{1,3}(?:,\d{3})+")
_WORD = re.compile(r"\d+(?:st|nd|rd|th)\b|\d+(?:[:.,]\d+)*|[^\W\d_]+")
_ALIKE = {
    other: stem(word)
    for word, others in (
        ("cheap", "inexpensive affordable cheaper cheapest"),
        ("expensive", "pricey upscale fancy costly"),
        ("moderate", "midrange reasonable reasonab medium fair"),
        ("center", "central downtown middle"),
        ("north", "northern northside"), ("south", "southern southside"),
        ("east", "eastern eastside"), ("west", "western westside"),
        ("vegetarian", "veggie"), ("barbecue", "bbq barbeque"), ("yes", "true"), ("no", "false"),
    )
    for other in map(stem, others.split())
}  # fmt: skip
_PAIRS = {
    ("high", "end"): "expensive", ("high", "class"): "expensive", ("high", "price"): "expensive",
    ("low", "cost"): "cheap", ("low", "price"): "cheap", ("low", "end"): "cheap",
    ("mid", "range"): "moderate", ("mid", "price"): "moderate", ("middle", "range"): "moderate",
}  # fmt: skip
_SAME_PAIRS = {(stem(one), stem(other)): stem(alike) for (one, other), alike in _PAIRS.items()}
_EMPTY = word_set(
    """the a an of in on at for to with and or by is be are it this that name user where which how s whether
    what when their they from has have any should want wants use given type kind number"""
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: where it stands, and the form in which it is compared."""

    text: str
    start: int
    end: int
    form: str


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a slot in a text: from where to where, the value in the slot's form, how well it fits."""

    start: int
    end: int
    value: str
    how: float


@lru_cache(maxsize=4096)
def form_of(word: str) -> str:
    """A word as it is compared: folded, digits for number words, one spelling, no ending."""
    word = fold(word)
    if word in values.NUMBER_WORDS and word not in ("couple", "dozen"):
        return str(values.NUMBER_WORDS[word])
    if word[:1].isdigit():
        return re.sub(r"(?:st|nd|rd|th)$", "", word)
    found = stem(word.removesuffix("ly") if len(word) > 6 else word)
    if len(found) > 4 and found.endswith(("tr", "br")):  # theatre, centre
        found = f"{found[:-1]}er"
    return _ALIKE.get(found, found)


@lru_cache(maxsize=512)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text."""
    found = [Word(one[0], one.start(), one.end(), form_of(one[0])) for one in _WORD.finditer(text)]
    for at, (one, other) in enumerate(pairwise(found)):
        if alike := _SAME_PAIRS.get((one.form, other.form)):
            found[at] = Word(one.text, one.start, one.end, alike)
    return tuple(found)


@lru_cache(maxsize=8192)
def forms(text: str) -> tuple[str, ...]:
    """The forms of the words of a name or text."""
    return tuple(word.form for word in words_of(spoken(text)))


_EMPTY_FORMS = frozenset(map(form_of, _EMPTY))
_TYPES = {
    kind: frozenset(map(form_of, names.split()))
    for kind, names in (
        ("phone", "phone telephone mobile"),
        ("email", "email mail"),
        ("time", "time hour"),
        ("date", "date day"),
        ("amount", "amount price budget fare cost"),
        ("number", "count people guests size quantity travelers passengers seats rooms tickets"),
    )
}  # fmt: skip
_COUNTED = frozenset(map(form_of, ("number", "num")))
_OF = frozenset(map(form_of, ("of", "per", "for")))


@lru_cache(maxsize=1024)
def type_of(slot: SlotSchema) -> str:
    """enum, boolean, number, date, time, amount, phone, email or text.

    By its values, else by the words of its name, by its examples, by its description.
    """
    if slot.values:
        return "boolean" if {value.lower() for value in slot.values} <= {"yes", "no"} else "enum"
    if (by_name := _type_named(forms(slot.name))) is not None:
        return by_name
    kinds = [values.kind_of(one) for one in slot.examples]
    usual = next((kind for kind in kinds if kind and kinds.count(kind) * 2 >= len(kinds)), None)
    if usual in ("date", "time", "amount", "phone", "email"):
        return usual
    if slot.examples:
        return "number" if all(one.isdecimal() for one in slot.examples) else "text"
    return next((kind for kind, signs in _TYPES.items() if signs & set(forms(slot.description))), "text")


def _type_named(name: Sequence[str]) -> str | None:
    """The type that a slot's name tells by its noun: departure time, price per seat, number of rooms.

    "flight number" and "room type" tell none.
    """
    if name and name[0] in _COUNTED:
        return "number"
    if _TYPES["phone"] & set(name):
        return "phone"
    noun = next((before for before, after in pairwise(name) if after in _OF), name[-1] if name else "")
    return next((kind for kind, signs in _TYPES.items() if noun in signs), None)


@lru_cache(maxsize=1024)
def own_words(slot: SlotSchema) -> frozenset[str]:
    """The forms of the words of a slot's name."""
    return frozenset(forms(slot.name)) - _EMPTY_FORMS


@lru_cache(maxsize=1024)
def description_words(slot: SlotSchema) -> frozenset[str]:
    """The forms of the words of a slot's description that are not in its name."""
    return frozenset(forms(slot.description)) - _EMPTY_FORMS - own_words(slot)


def places(text: str, slot: SlotSchema) -> tuple[Place, ...]:
    """Where a value of a slot may stand in a text; () for a slot of free text."""
    kind = type_of(slot)
    if kind == "enum":
        return tuple(_longest(_listed(text, slot)))
    return tuple(_typed(text, kind)) if kind not in ("text", "boolean") else ()


def _longest(found: Iterable[Place]) -> Iterator[Place]:
    held = list(found)
    for one in held:
        within = (other for other in held if other.start <= one.start and one.end <= other.end)
        if not any(other is not one and (other.end - other.start, other.how) > (one.end - one.start, one.how)
                   for other in within):  # fmt: skip
            yield one


def _listed(text: str, slot: SlotSchema) -> Iterator[Place]:
    words = words_of(text)
    said = [word.form for word in words]
    rare = _rare_words(slot)
    for value in slot.values:
        sought = forms(value)
        size = len(sought)
        exact = (
            [at for at in range(len(said) - size + 1) if tuple(said[at : at + size]) == sought]
            if size
            else []
        )
        for at in exact:
            yield Place(words[at].start, words[at + size - 1].end, value, EXACT)
        if exact or not size:
            continue
        for at, word in enumerate(said):
            how = PARTLY if size > 1 and rare.get(word) == value else _spelt(word, sought)
            if how:
                yield Place(words[at].start, words[at].end, value, how)


def _spelt(word: str, sought: Sequence[str]) -> float:
    """Whether a word is that of a value but for a letter."""
    if len(sought) > 1 or len(word) < 5 or word[0] != sought[0][0] or abs(len(word) - len(sought[0])) > 2:
        return 0.0
    return NEARLY if SequenceMatcher(None, word, sought[0]).ratio() > 0.85 else 0.0


@lru_cache(maxsize=256)
def _rare_words(slot: SlotSchema) -> dict[str, str]:
    """The words that just one of a slot's values has, with that value."""
    users: dict[str, set[str]] = {}
    for value in slot.values:
        for word in forms(value):
            users.setdefault(word, set()).add(value)
    empty = _EMPTY_FORMS | own_words(slot)
    return {
        word: next(iter(has))
        for word, has in users.items()
        if len(has) == 1 and len(word) > 2 and word not in empty and not word.isdigit()
    }


def _typed(text: str, kind: str) -> Iterator[Place]:
    used: list[tuple[int, int]] = []
    for span in values.spot(text):
        used.append((span.start, span.end))
        if (kind == "number" and span.kind == "count") or span.kind == kind:
            number = values.number_of(span.text) if kind == "number" else None
            yield Place(span.start, span.end, span.text if number is None else f"{number:f}", EXACT)
    if kind != "number":
        return
    for word in words_of(text):
        if _WHOLE.fullmatch(word.form) and not any(a < word.end and word.start < b for a, b in used):
            yield Place(word.start, word.end, word.form.replace(",", ""), NEARLY)
