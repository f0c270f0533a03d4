"""Typed values in text: where dates, times, amounts, counts, e-mail addresses and telephone numbers stand.

Values keep the user's words ("June 10th", "2 PM"); what they mean is worked out where it is needed, by
dateparser, phonenumbers, email-validator and price-parser.
"""

from __future__ import annotations

import re
from bisect import bisect, insort
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Literal

Kind = Literal["date", "time", "duration", "amount", "count", "email", "phone", "url", "percent"]

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
     "hundred": 100, "dozen": 12, "couple": 2}  # fmt: skip
_NUMBER = rf"(?:\d+(?:[.,]\d+)?|{'|'.join(NUMBER_WORDS)})"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?(?![a-z])"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)s?(?![a-z])"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?(?![\d:]|\s*(?:[ap]\.?m|people|guests|nights|%))"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)"
_FROM = r"(?<![:/.-])\d{1,2}(?:st|nd|rd|th)?\s*[-–]\s*"
_NO_DAY = r"(?!\s+(?:one|time|option|date|draft|version|round|floor|street|avenue|session|choice|item|item|place|part|half|grade|year|row|class|century)s?\b)"
_DATE = "|".join(
    [
        r"\d{4}-\d{2}-\d{2}",
        r"\d{1,2}/\d{1,2}(?:/\d{2,4})?",
        rf"(?:{_WEEKDAY},?\s+(?:the\s+)?)?{_MONTH}\s+(?:the\s+)?{_DAY}(?:\s*(?:-|–|to|through|until)\s*(?:{_MONTH}\s+)?{_DAY})?(?:,?\s+\d{{4}})?",
        rf"(?:{_WEEKDAY},?\s+)?(?:the\s+)?(?:{_FROM})?{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?",
        rf"(?:(?:early|mid|late|end of|beginning of)[\s-]+)?(?:next\s+|this\s+)?{_MONTH}\s+\d{{4}}",
        rf"(?:the\s+)?{_ORDINAL}\s+of\s+(?:this|next|last)\s+month",
        rf"(?:this|next|last|coming)\s+(?:{_WEEKDAY}|weekend|week|month|year|quarter|spring|summer|autumn|fall|winter)",
        rf"{_WEEKDAY}(?:\s*(?:-|–|to|through)\s*{_WEEKDAY})(?![a-z])",
        rf"(?:{_WEEKDAY})(?:,?\s+(?:the\s+)?{_ORDINAL})?(?:\s+(?:morning|afternoon|evening|night))?(?:\s+next\s+week)?",
        r"(?:the\s+)?day\s+after\s+tomorrow|today|tomorrow|tonight|yesterday",
        rf"in\s+{_NUMBER}\s+(?:days?|weeks?|months?|years?)(?:['’]?\s+time)?",
        rf"(?:early|mid|late|end\s+of|beginning\s+of)[\s-]+{_MONTH}",
        rf"(?:the\s+|(?:the\s+)?{_FROM}){_ORDINAL}{_NO_DAY}",
        rf"(?<=in\s){_MONTH}|(?<=to\s){_MONTH}|(?<=for\s){_MONTH}|(?<=until\s){_MONTH}|(?<=by\s){_MONTH}",
    ]
)
_CLOCK = (
    r"(?:\d{1,2}(?:[:.]\d{2})?\s*[ap]\.?\s?m\b\.?|\d{1,2}:\d{2}|noon|midday|midnight|\d{1,2}\s+o['’]?clock)"
)
_HALF = r"(?:half|quarter)\s+(?:past|to)\s+(?:\d{1,2}|[a-z]+)"
_LOOSE = r"(?:\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\b\.?)?|noon|midnight)"
_DAYPART = r"(?:in\s+the\s+)?(?:morning|afternoon|evening)"
_TIME = "|".join(
    [
        rf"(?:from\s+|between\s+){_LOOSE}\s*(?:-|–|to|until|till|and)\s*{_LOOSE}(?!\w|\s*(?:people|days|weeks|of))",
        rf"\d{{1,2}}(?::\d{{2}})?\s*(?:-|–|to)\s*{_CLOCK}",
        rf"{_CLOCK}(?:\s*(?:-|–|to|until)\s*{_CLOCK})?",
        _HALF,
    ]
)
_DURATION = rf"(?:{_NUMBER}|an?|half\s+an)[\s-](?:and\s+a\s+half\s+)?(?:minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?)(?:\s+and\s+(?:a\s+half|a\s+quarter|three\s+quarters))?(?![a-z])"
_AMOUNT = (
    r"(?:US|A|C)?[$€£]\s?\d[\d,]*(?:\.\d+)?\s?(?:k|m|million|thousand)?(?![a-z\d])"
    r"|\d[\d,]*(?:\.\d+)?\s?k?\s?(?:dollars|bucks|euros?|pounds|usd|eur|gbp|€|£|\$)(?!\w)|\d+(?:\.\d+)?k(?!\w)"
)
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_URL = r"https?://\S+|www\.\S+\.\w+"
_PERCENT = r"\d+(?:\.\d+)?\s?(?:%|percent)"
_PHONE = r"\+?\(?\d[\d\s().-]{6,}\d"
_COUNT_NOUNS = (
    r"people|persons?|guests?|adults?|kids?|children|attendees?|participants?|seats?|tickets?|rooms?|tables?|"
    r"nights?|players?|teams?|copies|bottles?|boxes|pages?|pieces?|servings?|passengers?|visitors?|chairs?|"
    r"bedrooms?|bathrooms?|beds?|students?|volunteers?|speakers?|items?|units?|cups?|slices?|reps|sets|miles|km|"
    r"kilometers|pounds|kg|grams|liters|litres|dozen|stars?|cars?|bags?|hours|minutes"
)
_COUNT = rf"(?:{_NUMBER}|a\s+(?:dozen|couple\s+of))\s+(?:{_COUNT_NOUNS})(?![a-z])"

_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?<![\w@]){'(?:' + pattern + ')'}", re.IGNORECASE))  # type: ignore[misc]
    for kind, pattern in (
        ("email", _EMAIL), ("url", _URL), ("amount", _AMOUNT), ("percent", _PERCENT), ("time", _TIME),
        ("date", _DATE), ("phone", _PHONE), ("duration", _DURATION), ("count", _COUNT),
    )
)  # fmt: skip
_AT_NUMBER = re.compile(
    rf"(?<![\w@])(?P<prep>at|before|after|until|till|by|around|about|to)\s+(?P<time>\d{{1,2}}(?::\d{{2}})?)"
    rf"(?![\w:/.,]*\d|\w|\s*(?:%|{_COUNT_NOUNS}|days?|weeks?|months?|years?|dollars)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A typed value and where it stands in the text."""

    kind: Kind
    start: int
    end: int
    text: str


_start = attrgetter("start")


def spot(text: str, *, loose: bool = True) -> tuple[Span, ...]:
    """The typed values of a text, in order, none overlapping.

    loose: take a bare number after 'at', 'before' and the like for a time ("at 4").
    """
    found: list[Span] = []  # in order

    def free(start: int, end: int) -> bool:
        place = bisect(found, start, key=_start)
        before = not place or found[place - 1].end <= start
        return before and (place == len(found) or end <= found[place].start)

    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not match[0].strip() or not free(*match.span()) or not _plausible(kind, match, text):
                continue
            raw = match[0].rstrip(" ,")
            if kind in ("url", "email"):
                raw = raw.rstrip(".?!)")
            elif kind == "time" and re.search(r"\b[ap]m\.$", raw, re.IGNORECASE):
                raw = raw[:-1]  # the sentence's, not the abbreviation's
            start = match.start()
            if kind == "time" and (lead := re.match(r"(?:from|between)\s+", raw, re.IGNORECASE)):
                start, raw = start + lead.end(), raw[lead.end() :]
            insort(found, Span(kind, start, start + len(raw), raw), key=_start)
    if loose:
        for match in _AT_NUMBER.finditer(text):
            start, end = match.span("time")
            hour = int(match["time"].partition(":")[0])
            if (
                free(start, end)
                and 0 < hour <= 24
                and (match["prep"].lower() != "to" or ":" in match["time"])
            ):
                insort(found, Span("time", start, end, match["time"]), key=_start)
    return tuple(found)


def _plausible(kind: Kind, match: re.Match[str], text: str) -> bool:
    word = match[0].strip().lower()
    if kind == "date":
        if word in ("may", "march", "sat", "sun", "mon", "wed", "fri", "jan"):  # also words or names
            return match[0][0].isupper() and match.start() > 0
        return not re.fullmatch(r"\d{1,2}/\d{1,2}", word) or _is_month_day(word)
    if kind == "phone":
        return len(re.sub(r"\D", "", word)) >= 7 and is_phone(match[0])
    if kind == "email":
        return is_email(match[0].rstrip("."))
    if kind == "amount":
        return text[match.end() : match.end() + 1] != "%"
    return True


def _is_month_day(word: str) -> bool:
    first, second = map(int, word.split("/"))
    return 1 <= first <= 31 and 1 <= second <= 31 and min(first, second) <= 12


def is_email(text: str) -> bool:
    """Whether a text is an e-mail address by its form (nothing is looked up)."""
    from email_validator import EmailNotValidError, validate_email

    try:
        validate_email(text, check_deliverability=False)
    except EmailNotValidError:
        # Reserved example domains are fine as values.
        return (
            re.fullmatch(r"[\w.+-]+@(?:[\w-]+\.)*(?:example|test|invalid|localhost)(?:\.\w+)?", text)
            is not None
        )
    return True


def is_phone(text: str) -> bool:
    """Whether a text is a possible telephone number, national (as in the United States) or international."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, "US")
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(number) or len(re.sub(r"\D", "", text)) == 7


_RATE = re.compile(
    r"([£$€]?\d[\d.,]*)(?: ?[£$€]| (?:quid|pounds?|euros?|dollars?|bucks|pence))?(?: each)?"
    r"(?: ?(?:an?|per|/) ?(?:(day|week|month|year)|hour|night|head|man|woman|person|child|lesson|session|go|visit"
    r"|half hour|term|piece|bag|box|pack|bottle|kilo|metre|meter|m2|mile|slice|seat|ticket))+",
    re.IGNORECASE,
)
_LEAST_RATE = 10  # of a day, a week: less is how often


def kind_of(text: str) -> Kind | None:
    """The kind of a value that is typed as a whole ("June 10th", "at 4"), or None."""
    text = text.strip().rstrip(".")
    bare = re.sub(r"^(?:on|at|by|around|about|for|in|from|until|the)\s+", "", text, flags=re.IGNORECASE)
    if (rate := _RATE.fullmatch(bare)) is not None:  # '18 an hour', but '3 a week' are no price
        often = rate[2] is not None and (number_of(rate[1]) or 0) < _LEAST_RATE
        return None if often else "amount"
    for candidate in (text, bare):
        spans = spot(candidate)
        if len(spans) == 1 and spans[0].end - spans[0].start >= len(candidate) - 4:
            return spans[0].kind
    if re.fullmatch(_MONTH, bare, re.IGNORECASE):
        return "date"
    if re.fullmatch(_DAYPART, bare, re.IGNORECASE):
        return "time"
    if re.fullmatch(_NUMBER, bare, re.IGNORECASE):
        return "count"
    return None


_SCALES = {
    "lakh": 10**5,
    "lac": 10**5,
    "crore": 10**7,
    "thousand": 10**3,
    "million": 10**6,
    "grand": 10**3,
    "k": 10**3,
}
_SCALED = re.compile(rf"(\d[\d,]*(?:\.\d+)?)(\s?)({'|'.join(_SCALES)})s?\b", re.IGNORECASE)
_MILLIONS = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)()(m)\b", re.IGNORECASE
)  # beside thousands; else metres, minutes


def shift_number(text: str, sign: str, amount: str) -> str | None:
    """A text with its number changed, in its own unit: ('3 lakh', '+', '50000') gives '3.5 lakh'.

    sign: '+', '-' or '*'; an amount in per cent is taken of the number. None where one of them has none, or
    less than nothing would be left.
    """
    if re.match(r"an? ", text, re.IGNORECASE) and number_of(text) is None:
        text = re.sub(r"^an? ", "1 ", text, flags=re.IGNORECASE)  # a crate, and one more
    now, by = number_of(text), number_of(amount)
    if now is None or by is None:
        return None
    scaled, unit, scale = _SCALED.search(text), _SCALED.search(amount), Decimal(1)
    if scaled is None and unit is not None:
        scaled = _MILLIONS.search(text)
    if scaled is not None:
        if sign != "*" and (unit is not None or (by >= 100 and "%" not in amount)):
            scale = Decimal(_SCALES.get(scaled[3].lower(), 10**6))
        if sign != "*" and unit is not None:
            by = Decimal(unit[1].replace(",", "")) * _SCALES[unit[3].lower()]
        now = Decimal(scaled[1].replace(",", "")) * scale
    if re.search(r"%|percent", amount) and not re.search(r"%|percent", text):
        sign, by = "*", (Decimal(100) + (by if sign == "+" else -by)) / 100
    new = (now * by if sign == "*" else now + by if sign == "+" else now - by) / scale
    if new < 0:
        return None
    if scaled is not None:
        return f"{text[: scaled.start()]}{new.normalize():f}{text[scaled.end(1) :]}"
    return with_number(text, new)


_WORD = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?![A-Za-z])", re.IGNORECASE
)
_MORE = re.compile(rf"[\s-]*(?:and\s+)?({_WORD.pattern}|thousand(?![A-Za-z]))", re.IGNORECASE)


def _number_words(text: str) -> tuple[int, int, Decimal] | None:
    """Where the first number in words stands, and which it is: 'twenty-six', 'two hundred'."""
    found = _WORD.search(text)
    if found is None:
        return None
    start, end, total = found.start(), found.end(), NUMBER_WORDS[found[0].lower()]
    if total >= 12 and (article := re.search(r"(?<![A-Za-z])an? $", text[:start], re.IGNORECASE)):
        start = article.start()  # 'a hundred', 'a dozen'
    thousands = 0  # of 'two thousand five hundred', which goes on as if nothing had been said
    while (more := _MORE.match(text, end)) is not None:
        number = NUMBER_WORDS.get(more[1].lower(), 1000)
        if number == 1000 and thousands == 0:
            thousands, total = total * 1000, 0
        elif number >= 100 > total > 0 or (thousands and not total):
            total = total * number or number
        elif (total % 100 >= 20 and total % 10 == 0 and number < 10) or (
            total >= 100 and total % 100 == 0 and number < 100
        ):
            total += number
        else:
            break
        end = more.end()
    return start, end, Decimal(thousands + total)


def number_of(text: str) -> Decimal | None:
    """The number in a text ('three guests', 'twenty-six', '$1,500', '5k'), or None."""
    from price_parser import Price

    words, digit = _number_words(text), re.search(r"\d", text)
    if words is not None and (digit is None or words[0] < digit.start()):
        return words[2]
    if words is not None:
        text = text[: words[0]]  # of '160 dozen' it is 160, of '3, one halal' 3
    amount = Price.fromstring(text).amount
    if amount is not None and re.search(r"\d\s?k\b", text, re.IGNORECASE):
        amount *= 1000
    return amount


def with_number(text: str, number: Decimal) -> str:
    """The text with its number exchanged, in the same form: ('$1,500', 2000) gives '$2,000'."""
    number = number.quantize(Decimal(1)) if number == number.to_integral() else number
    digits = re.search(r"\d+(?:,\d+)*(?:\.\d+)?(?:\s?k(?!\w))?", text, re.IGNORECASE)
    words = _number_words(text)
    if digits and (words is None or digits.start() < words[0]):
        shown = f"{number:,}" if "," in digits[0] or "$" in text else f"{number}"
        return text[: digits.start()] + shown + text[digits.end() :]
    if words is not None:
        return f"{text[: words[0]]}{number}{text[words[1] :]}"
    return str(number)


_YEAR = r"(?:,?\s+\d{4})?"
_DAYS_OF_MONTH = [
    re.compile(rf"(?:(?P<weekday>{_WEEKDAY},?)\s+)?{form}", re.IGNORECASE)
    for form in (
        rf"(?P<before>(?:the\s+)?)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?P<after>\s+(?:of\s+)?{_MONTH}{_YEAR})",
        rf"(?P<before>(?:the\s+)?{_MONTH}\s+(?:the\s+)?)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?P<after>{_YEAR})",
    )
]
_OTHER_DAY = re.compile(
    rf"(?:(?P<weekday>{_WEEKDAY},?)\s+)?(?:the\s+)?(?P<day>\d{{1,2}})(?P<end>st|nd|rd|th)?", re.IGNORECASE
)
_NEAR = 15  # days: one further back may as well be of the next month


def with_day(text: str, day: str) -> str:
    """A date on another day of its month, where only that is told: ('June 20', 'the 27th') gives 'June 27th'.

    A weekday goes that it no longer falls on. What may be of the next month, or is no such day, is as told.
    """
    told = _OTHER_DAY.fullmatch(day.strip())
    was = next((found for form in _DAYS_OF_MONTH if (found := form.fullmatch(text.strip()))), None)
    later = int(told["day"]) - int(was["day"]) if told is not None and was is not None else -_NEAR
    if told is None or was is None or later <= -_NEAR:
        return day
    weekday = told["weekday"] or (was["weekday"] if later % 7 == 0 else None)
    return f"{f'{weekday} ' if weekday else ''}{was['before']}{told['day']}{told['end'] or ''}{was['after']}"


_SEVERAL = re.compile(
    rf"(?=.*[a-z])(?:.*[^\d:/.-])?\d{{1,2}}(?:st|nd|rd|th)?\s*(?:[-–]|\b(?:to|until|through|or|and)\b)\s*(?:the\s+)?{_DAY}(?![/.-]\d)",
    re.IGNORECASE,
)


def parsed(text: str, kind: Kind, now: datetime) -> datetime | None:
    """What a date or time means, by dateparser; None where it has no meaning on its own, or several."""
    import dateparser

    if kind == "date" and _SEVERAL.match(text):
        return None
    if kind == "time":
        if re.fullmatch(r"\d{1,2}", text.strip()):
            text = f"{text.strip()}:00"
        text = {"noon": "12:00 pm", "midday": "12:00 pm", "midnight": "12:00 am"}.get(
            text.strip().lower(), text
        )
        text = re.sub(r"\s*o['’]?clock", ":00", text)
    return dateparser.parse(
        text,
        languages=["en"],
        settings={"RELATIVE_BASE": now.replace(tzinfo=None), "PREFER_DATES_FROM": "future",
                  "RETURN_AS_TIMEZONE_AWARE": False},
    )  # fmt: skip


_UNITS = {"min": timedelta(minutes=1), "hour": timedelta(hours=1), "hr": timedelta(hours=1),
          "day": timedelta(days=1), "night": timedelta(days=1), "week": timedelta(days=7),
          "fortnight": timedelta(days=14), "month": timedelta(days=30), "year": timedelta(days=365)}  # fmt: skip

_PARTS_MORE = ((r"(?:and|n|&) (?:a )?half", 0.5), ("and a quarter", 0.25), ("and three quarters", 0.75))
_LONGEST = timedelta(days=timedelta.max.days)


def duration_of(text: str) -> timedelta | None:
    """A duration in words ('an hour and a half', '30 minutes', 'two days'), or None.

    One that is too long for a `timedelta` is as many days as that can hold: more than any calendar has.
    """
    lowered = text.lower().strip()
    found = re.search(
        rf"(half\s+an?|an?|{_NUMBER})?[\s-]*(?<![a-z])(min(?=(?:ute)?s?(?![a-z]))"
        r"|(?:hour|hr|day|night|week|fortnight|month|year)(?=s?(?![a-z])))",
        lowered,
    )  # of 'minus' none is said
    if not found:
        return None
    amount = found[1] or "one"
    number = number_of(amount)
    count = 0.5 if amount.startswith("half") else 1.0 if number is None else float(number)
    count += next((part for words, part in _PARTS_MORE if re.search(rf"\b{words}\b", lowered)), 0.0)
    unit = _UNITS[found[2]]
    return unit * count if count < _LONGEST / unit else _LONGEST
