"""The measures that amounts are in: 400 grams of 1.6 kilos are 0.4 of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from .values import number_of

_UNITS = (
    (r"kg|kilos?|kilograms?", "weight", Decimal(1000)), (r"g|grams?", "weight", Decimal(1)),
    (r"l|lit(?:er|re)s?", "volume", Decimal(1000)), (r"ml|millilit(?:er|re)s?", "volume", Decimal(1)),
    (r"cl|centilit(?:er|re)s?", "volume", Decimal(10)), (r"km|kilomet(?:er|re)s?", "length", Decimal(1000)),
    (r"m|met(?:er|re)s?", "length", Decimal(1)), (r"hours?|hrs?|h", "time", Decimal(60)),
    (r"min(?:ute)?s?", "time", Decimal(1)), (r"m2|m²|sq ?m|square met(?:er|re)s?", "area", Decimal(1)),
)  # fmt: skip
"""Forms of a unit, what it measures, and how much of the least one it is."""
_CENTS = re.compile(r"(?<![a-z])(?:cents?|ct|pence|pennies)\b|(?<=\d)[cp]\b", re.IGNORECASE)
_DOZEN = re.compile(r"\bdozens?\b", re.IGNORECASE)


def in_unit_of(value: str, amount: str) -> str:
    """An amount in the unit of a value, without it; as it is where they are of no such units.

    20 cents of 1.50 are 0.2, ten dozen of 160 dozen are 10.
    """
    number = number_of(amount)
    if number is not None and _CENTS.search(amount) and not _CENTS.search(value):
        return f"{(number / 100).normalize():f}"
    if _DOZEN.search(value) and (dozens := _DOZEN.search(amount)):
        return amount[: dozens.start()].strip()
    own, other = unit_in(value), unit_in(amount)
    if number is None or own is None or other is None or own[1] != other[1] or own[2] == other[2]:
        return amount
    return f"{(number * other[2] / own[2]).normalize():f}"


def unit_in(text: str) -> tuple[str, str, Decimal] | None:
    """The measure that a text is in, as in `_UNITS`; None for none."""
    lowered = text.lower()
    return next((one for one in _UNITS if re.search(rf"(?<![a-z])(?:{one[0]})(?![a-z\d])", lowered)), None)


def same_unit(text: str, amount: str) -> bool:
    """Whether a number is of minutes, hours, days, ... as an amount is: 8 nights and 'two nights'."""
    said, other = (re.sub(r"(?<![a-z])nts?(?![a-z])", "nights", one.lower()) for one in (text, amount))
    units: Sequence[str] = re.findall(r"min|hour|hr|day|night|week|month|year", other)
    return any(unit in said for unit in units) and number_of(text) is not None
