"""Numbers, amounts, dates and times in text, so that they can be compared by what they mean. Pure.

'$500' and 'five hundred dollars', '7 PM' and '19:00', '2026-06-10' and 'June 10th', '90 minutes' and 'an hour
and a half' are the same. What a text does not tell ('at 7': morning or evening) is None and agrees with all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias

from taskloom.agent.language.values import NUMBER_WORDS
from taskloom.memory.words import MONTHS, WEEKDAYS

Kind: TypeAlias = Literal["literal", "phone", "date", "time", "amount", "code", "number"]

_MONTHS = [name[:3] for name in MONTHS]
_DAYS = [name[:3] for name in WEEKDAYS]
_RELATIVE = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_CURRENCIES = {"$": "$", "dollar": "$", "buck": "$", "usd": "$", "€": "€", "euro": "€", "eur": "€",
               "£": "£", "pound": "£", "gbp": "£"}  # fmt: skip
_SECONDS = {"minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86400, "week": 604800}
_MEASURES = {"night": "night", "month": "month", "year": "year", "km": "km", "kilometer": "km",
             "mile": "mile", "kg": "kg", "kilogram": "kg", "gram": "g", "litre": "l", "liter": "l", "%": "%",
             "percent": "%", **dict.fromkeys(_SECONDS, "second")}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """One of them in a text, from `start` to `end`; what is None is not told.

    value: of numbers, amounts and durations (in seconds). unit: a currency, a measure, or the word that
    follows a number. month, day, year, weekday (0 is Monday): of a date; shift: days from today. hour (0 to
    11), minute, evening: of a time.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: Decimal | None = None
    unit: str | None = None
    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    shift: int | None = None
    hour: int | None = None
    minute: int = 0
    evening: bool | None = None

    @property
    def measured(self) -> bool:
        """Whether the unit is a measure, which makes the number another one than with another measure."""
        return self.unit in _MEASURES.values()

    def agrees(self, other: Figure) -> bool:
        """Whether both can mean the same."""
        if self.kind in ("literal", "code", "phone"):
            return self.kind == other.kind and _plain(self.text) in _plain(other.text)
        if self.kind == "time" and other.kind == "time":
            alike = (self.hour, self.minute) == (other.hour, other.minute)
            return alike and (None in (self.evening, other.evening) or self.evening == other.evening)
        if self.kind == "date" and other.kind == "date":
            names = ("month", "day", "year", "weekday", "shift", "unit")
            pairs = [(getattr(self, name), getattr(other, name)) for name in names]
            return all(mine is None or mine == its for mine, its in pairs)
        if self.value is None or self.value != other.value or "time" in (self.kind, other.kind):
            return False
        if self.kind == "amount":
            return other.unit == self.unit or (other.kind == "number" and not other.measured)
        if self.measured == other.measured:
            return not self.measured or self.unit == other.unit
        return (self if self.measured else other)._as_said()

    def _as_said(self) -> bool:
        """Whether a measure's value stands in its text: 30 of '30 seconds', not 5400 of '90 minutes'."""
        digits = re.findall(_DIGITS, self.text)
        return not digits or any(Decimal(one.replace(",", "")) == self.value for one in digits)


def _plain(text: str) -> str:
    return re.sub(r"[^\w@]", "", text.casefold())


# ---- patterns -------------------------------------------------------------------------------------

_NUMBERS = NUMBER_WORDS | {"thousand": 1000}
_WORD_NUMBER = "|".join(sorted(_NUMBERS.keys() - {"couple"}, key=len, reverse=True))
_WORDS = (
    rf"(?:a\s+(?=hundred|thousand|dozen))?(?:{_WORD_NUMBER})(?:(?:[\s-]+(?:and\s+)?)(?:{_WORD_NUMBER})\b)*"
)
_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?!\d|:\d)"
_CLOCK = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?"
_HALVES = r"(?P<half>[ap])\.?\s?m\b\.?"
_COIN = r"dollars?|bucks?|euros?|pounds?(?:\s+sterling)?|usd|eur|gbp"
_WEEKDAY = r"(?P<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)day)s?"
_UNIT = r"(?:[\s-]*(?P<unit>%|[^\W\d_]+))?"

_DATES = [
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}))?",
    rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?:,?\s+(?P<year>\d{{4}}))?",
    rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>\d{{4}}))?",
    rf"{_MONTH}\s+(?P<year>\d{{4}})",
    rf"(?<=\b(?:in|by|of)\s){_MONTH}",
    rf"(?<=\b(?:next|this|last|late|until|since|early)\s){_MONTH}",
    _WEEKDAY,
    r"(?P<relative>day after tomorrow|tomorrow|tonight|yesterday)",
    r"(?P<relative>(?:next|last|this)\s+(?:week|month|year|weekend)|(?<=\b(?:is|for|on|due|sent)\s)today)",
    r"(?<=\bthe\s)(?P<day>\d{1,2})(?:st|nd|rd|th)",
]  # fmt: skip
_TIMES = [
    rf"{_CLOCK}\s*{_HALVES}",
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})",
    r"(?P<named>noon|midday|midnight)",
    rf"(?P<part>half|quarter)\s+(?P<side>past|to)\s+(?P<word>\d{{1,2}}|{_WORD_NUMBER})",
    r"(?P<hour>\d{1,2})\s*(?:o['’]clock|uhr)",
    rf"(?<=\b(?:at|by)\s)(?P<word>\d{{1,2}}|{_WORD_NUMBER})(?=[.,;!?)]*(?:\s*$|\s+(?:and|with|in|on|to|until|for|the)\b|[.,;!?)]))",
    rf"(?<=\b(?:from|until|after)\s)(?P<word>\d{{1,2}}|{_WORD_NUMBER})(?=[.,;!?)]*(?:\s*$|\s+(?:and|to|until)\b|[.,;!?)]))",
    r"(?<=\bbefore\s)(?P<word>\d{1,2})(?=[.,;!?)]*(?:\s*$|[.,;!?)]))",
    r"(?P<hour>\d{1,2})(?=\s*(?:-|–|to|until)\s*\d{1,2}(?::\d{2}|\s*[ap]\.?m))",
]
_OTHERS: list[tuple[Kind, str]] = [
    ("literal", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s)>\]]+|www\.\S+\.\w+"),
    *(("date", pattern) for pattern in _DATES[:3]),
    ("amount", rf"(?P<coin>[$€£])\s?(?P<digits>{_DIGITS})\s?(?P<scale>k|thousand|million)?\b"),
    ("amount", rf"(?P<digits>{_DIGITS})\s?(?P<scale>k|thousand|million)?\s?(?P<coin>[€£$]|(?:{_COIN})\b)"),
    ("amount", rf"(?P<words>{_WORDS})\s+(?P<coin>{_COIN})\b"),
    ("phone", r"\+?\(?\d[\d\s()./-]{7,}\d"),
    *(("time", pattern) for pattern in _TIMES),
    *(("date", pattern) for pattern in _DATES[3:]),
    ("code", r"(?!\d+(?:st|nd|rd|th|[kxhglm]|mins?|k[mg]|[mc]m|hrs?|[ap]m)\b)(?=\w*\d)(?=\w*[^\W\d_])\w{2,}"),
    ("number", r"(?P<half_hour>half\s+an\s+hour)"),
    ("number", r"(?P<and_half>an?|\d+|[a-z]+)\s+(?P<unit>hours?|days?|weeks?|years?)\s+and\s+a\s+half"),
    ("number", r"an?\s+(?P<unit>hour|day|week|night|month|year)\b(?=\s+(?:long|each|before|after))"),
    ("number", rf"(?P<digits>{_DIGITS})(?P<scale>k)(?!\w)"),
    ("number", rf"(?P<digits>{_DIGITS}){_UNIT}"),
    ("number", rf"(?P<words>{_WORDS})\b{_UNIT}"),
]  # fmt: skip


def _widths(pattern: str) -> str:
    """A pattern with its look-behinds over words of several lengths taken apart, as `re` wants them."""

    def apart(match: re.Match[str]) -> str:
        return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in match[1].split("|")) + ")"

    return re.sub(r"\(\?<=\\b\(\?:([\w|]+)\)\\s\)", apart, pattern)


def _compiled(kind: Kind, pattern: str) -> re.Pattern[str]:
    around = r"(?<!\w)(?:{})" if kind == "amount" else r"(?<![\w.@])(?:{})(?!\w)"
    return re.compile(around.replace("{}", _widths(pattern)), re.IGNORECASE)


_PATTERNS = [(kind, _compiled(kind, pattern)) for kind, pattern in _OTHERS]
_MAY_HOLD = re.compile(
    rf"[\d@]|://|www|\b(?:{_WORD_NUMBER}|noon|midday|midnight|half|quarter|an?)\b|day\b|days\b|tonight|tomorrow"
    rf"|next|last|this|{'|'.join(_MONTHS)}",
    re.IGNORECASE,
)


def figures(text: str) -> list[Figure]:
    """The numbers, amounts, dates, times and codes of a text, in order, none overlapping."""
    if not _MAY_HOLD.search(text):
        return []
    found: list[Figure] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if all(match.end() <= one.start or match.start() >= one.end for one in found):
                figure = _READERS[kind](kind, match)
                found += [figure] if figure else []
    return sorted(found, key=lambda figure: figure.start)


# ---- what a match means ---------------------------------------------------------------------------


def _as_it_is(kind: Kind, match: re.Match[str]) -> Figure | None:
    if kind == "phone" and len(re.sub(r"\D", "", match[0])) < 7:
        return None
    return Figure(kind, match[0].rstrip(".?!"), *match.span())


def _date(kind: Kind, match: re.Match[str]) -> Figure | None:
    fields = {name: text for name, text in match.groupdict().items() if text}
    if relative := fields.get("relative", "").lower():
        shift = 2 if relative.startswith("day after") else _RELATIVE.get(relative)
        unit = None if shift is not None else relative
        return Figure(kind, match[0], *match.span(), shift=shift, unit=unit)
    month, day = fields.get("month"), int(fields.get("day", 0)) or None
    number = (
        None if month is None else int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    )
    if (number or 1) > 12 >= (day or 1):
        number, day = day, number
    if (number or 1) > 12 or (day or 1) > 31 or (month in ("may", "mar") and day is None):
        return None
    weekday = _DAYS.index(fields["weekday"][:3].lower()) if "weekday" in fields else None
    year = int(fields["year"]) if "year" in fields else None
    return Figure(kind, match[0], *match.span(), month=number, day=day, year=year, weekday=weekday)


def _time(kind: Kind, match: re.Match[str]) -> Figure | None:
    fields = {name: text.lower() for name, text in match.groupdict().items() if text}
    if named := fields.get("named"):
        return Figure(kind, match[0], *match.span(), hour=0, evening=named != "midnight")
    number = number_of_words(fields["word"]) if "word" in fields else Decimal(fields["hour"])
    hour, minute = int(number or 0), int(fields.get("minute", 0))
    if part := fields.get("part"):
        minute = 30 if part == "half" else 15
        hour, minute = (hour, minute) if fields["side"] == "past" else (hour - 1, 60 - minute)
    if hour > 24 or minute > 59 or number is None:
        return None
    half = fields.get("half")
    evening = half == "p" if half else True if hour > 12 else False if match[0].startswith("0") else None
    return Figure(kind, match[0], *match.span(), hour=hour % 12, minute=minute, evening=evening)


def _number(kind: Kind, match: re.Match[str]) -> Figure | None:
    fields = {name: text.lower() for name, text in match.groupdict().items() if text}
    if "half_hour" in fields:
        return Figure(kind, match[0], *match.span(), value=Decimal(1800), unit="second")
    count = fields.get("and_half")
    words = fields.get("words") or (count if count not in ("a", "an") else "1") or "1"
    value = Decimal(fields["digits"].replace(",", "")) if "digits" in fields else number_of_words(words)
    if value is None:
        return None
    value += Decimal("0.5") if count else 0
    value *= {"k": 1000, "thousand": 1000, "million": 1_000_000}.get(fields.get("scale", ""), 1)
    unit = fields.get("coin") or fields.get("unit") or ""
    single = unit.removesuffix("s") or None
    end = (
        match.end()
        if not fields.get("unit") or single in _MEASURES or "and_half" in fields
        else match.start("unit")
    )
    if single in _SECONDS:
        value *= _SECONDS[single]
    unit_told = _CURRENCIES.get(single or "") if kind == "amount" else _MEASURES.get(single or "", single)
    start = match.start()
    text = match.string[start:end].strip()
    return Figure(kind, text, start, end, value=value, unit=unit_told)


_READERS: dict[Kind, Callable[[Kind, re.Match[str]], Figure | None]] = {
    "literal": _as_it_is, "phone": _as_it_is, "code": _as_it_is, "date": _date, "time": _time,
    "amount": _number, "number": _number,
}  # fmt: skip


def number_of_words(text: str) -> Decimal | None:
    """'twenty-one' is 21, 'two hundred and fifty' 250, '7' 7; None for words that are no number."""
    total, current, known = 0, 0, False
    for word in re.findall(r"\w+", text.lower()):
        if word.isdigit():
            return Decimal(word)
        number = _NUMBERS.get(word)
        if number is None:
            continue
        known = True
        if word in ("hundred", "thousand", "dozen"):
            current = (current or 1) * number
            total, current = (total + current, 0) if number == 1000 else (total, current)
        else:
            current += number
    return Decimal(total + current) if known else None


def resolved(figure: Figure, today: date | None) -> Iterator[Figure]:
    """A date as it is, and in the other forms it has: with its weekday and its year, as days from today."""
    yield figure
    if (day := _calendar_day(figure, today)) is not None:
        shift = (day - today).days if today else None
        yield Figure(
            "date", figure.text, 0, 0, None, None, day.month, day.day, day.year, day.weekday(), shift
        )


def _calendar_day(figure: Figure, today: date | None) -> date | None:
    if figure.month and figure.day and figure.year:
        return _day(figure.year, figure.month, figure.day)
    if today is None:
        return None
    if figure.month and figure.day:
        near = (_day(today.year + more, figure.month, figure.day) for more in (0, 1))
        return next((day for day in near if day is not None and day >= today), None)
    if figure.shift is not None:
        return today + timedelta(days=figure.shift)
    if figure.weekday is not None:
        return today + timedelta(days=(figure.weekday - today.weekday() - 1) % 7 + 1)
    return None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
