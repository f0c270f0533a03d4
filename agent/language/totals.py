"""The sum of values as they were typed: '£900' and '3,100' are '£4,000'. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from taskloom.memory.words import word_set

from .values import number_of, with_number

_FIGURE = re.compile(r"\d[\d.,]*\s?(?:k\b)?", re.IGNORECASE)
_EACH = re.compile(
    r"\b(?:each|apiece|per|an? head|an? person|a (?:day|night|week|month|piece|go))\b", re.IGNORECASE
)
_OF_EACH = re.compile(
    r"\s*(?:\b(?:each|apiece|per [^\W\d_]+)|(?<=[^\W_])\s+an? (?!half|quarter|dozen|bit|lot)[^\W\d_]+"
    r"|\s?/\s?[^\W\d_]+)\s*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\s*\b(?:up to|about|around|roughly|at most)\b", re.IGNORECASE)
_UNIT = re.compile(r"[£$€¥]|[^\W\d_]+")
_BESIDE = word_set(
    "each a an per about around roughly exactly just the for of some up to at most least in all or so"
)
_SAME = {
    "£": "pound",
    "$": "dollar",
    "€": "euro",
    "quid": "pound",
    "eur": "euro",
    "gbp": "pound",
    "usd": "dollar",
}


def total(values: Sequence[str]) -> str | None:
    """The sum of values, in the form of the first that has a unit; None where their units differ.

    None as well where one of them has no number, or is the price of one of several.
    """
    numbers = [number_of(value) for value in values]
    known = [number for number in numbers if number is not None]
    units = [_unit(value) for value in values]
    if len(known) < len(values) or len(set(filter(None, units))) > 1 or any(map(_EACH.search, values)):
        return None
    form = next((value for value, unit in zip(values, units, strict=True) if unit), values[0])
    form = _ABOUT.sub("", form).strip()
    if not _FIGURE.search(form):  # 'five helpers'
        form = re.sub(r"^\W*[^\W\d_]+", "0", form)
    told = with_number(form, sum(known, Decimal(0)))
    return re.sub(r"\d{4,}", lambda found: f"{Decimal(found[0]):,}", told) if "," in "".join(values) else told


def _unit(value: str) -> str:
    """What a value counts, by its sign or its first word: 'pound', '' for a bare number."""
    found = [word.lower() for word in _UNIT.findall(_FIGURE.sub(" ", value))]
    plain = [_SAME.get(word, word.rstrip("s")) for word in found if word not in _BESIDE]
    return plain[0] if plain and number_of(plain[0]) is None else ""


def is_of_each(value: str) -> bool:
    """Whether a value is that of one of several: '£3 each', '15 a ton'."""
    return _OF_EACH.search(value) is not None and number_of(value) is not None


def product(each: str, count: str) -> str | None:
    """What is of each, times a number, in the form of the first: '15 a ton' and '12' are '180'."""
    one, many = number_of(each), number_of(count)
    return None if one is None or many is None else with_number(_OF_EACH.sub("", each), one * many)


def difference(one: str, other: str) -> str | None:
    """The larger of two values without the smaller one; None where their units differ."""
    first, second = number_of(one), number_of(other)
    if first is None or second is None or len(set(filter(None, map(_unit, (one, other))))) > 1:
        return None
    return with_number(one if _unit(one) or not _unit(other) else other, abs(first - second))
