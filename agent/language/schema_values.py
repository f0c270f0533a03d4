"""Values in the user's words as a JSON Schema wants them: numbers, ISO dates, lists, choices. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .values import number_of, parsed

_TRUTH = {"yes": True, "true": True, "no": False, "false": False}


def typed(text: str, schema: Mapping[str, Any], now: datetime) -> Any:
    """A value in the user's words as a JSON Schema wants it: a number, an ISO date, a list.

    ("four", {"type": "integer"}) gives 4; ("June 10th", {"type": "string", "format": "date"}) "2026-06-10".

    Raises:
        ValueError: it is not of that form; the message says what it should be.
    """
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            return typed(text, one, now)
    match schema.get("type", "string"):
        case "integer" | "number" as wanted:
            return _number(text, whole=wanted == "integer")
        case "boolean":
            if text.strip().lower() not in _TRUTH:
                raise ValueError(f"{text!r} is neither yes nor no")
            return _TRUTH[text.strip().lower()]
        case "array":
            items = re.split(r"\s*(?:,|\band\b)\s*", text)
            return [typed(item, schema.get("items", {}), now) for item in items if item]
        case "object":
            raise ValueError(f"{text!r} is one value, several with names are wanted")
    form = schema.get("format")
    if form in ("date", "date-time", "time"):
        return _iso(text, form, now)
    choices = schema.get("enum")
    return _choice(text, choices) if choices and text not in choices else text


def _number(text: str, *, whole: bool) -> int | float:
    number = number_of(text)
    if number is None or (whole and number % 1):
        raise ValueError(f"{text!r} is not a {'whole ' if whole else ''}number")
    return int(number) if whole else float(number)


def _iso(text: str, form: str, now: datetime) -> str:
    """A date, time or both in ISO format."""
    when = parsed(text, "time" if form == "time" else "date", now)
    if when is None:
        raise ValueError(f"{text!r} is not a {form.replace('-', ' and ')}")
    iso = when.isoformat()
    return iso[:10] if form == "date" else iso[11:] if form == "time" else iso


def _choice(text: str, choices: Sequence[Any]) -> Any:
    """The choice that a text is, in any case."""
    alike = [choice for choice in choices if str(choice).lower() == text.strip().lower()]
    if not alike:
        raise ValueError(f"{text!r} is not one of {', '.join(map(str, choices))}")
    return alike[0]
