"""Dates and times that move by an amount, in the words they were written in. Pure.

A text holds one date or one time (or a range) that can move. Where it holds none or several, or nobody knows
what it would be (three days after "June"), there is no answer, and the user is asked.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from taskloom.memory.words import MONTHS, NUMBERS, WEEKDAYS

from .values import NUMBER_WORDS, duration_of, kind_of, number_of

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_WEEKDAY = r"(?:mon|tue|tues|wed|weds|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?(?![a-z])\.?"
_END = r"(?:st|nd|rd|th)"
_RANGE = r"\s*(?:-|–|to|until|till)\s*"
_DAYS = re.compile(
    rf"(?P<weekday>(?<![a-z]){_WEEKDAY}(?:,?\s+(?:the\s+)?(?=\d|{_MONTH}))?)?(?:"
    rf"(?P<y>\d{{4}})-(?P<m>\d{{2}})-(?P<d>\d{{2}})(?!\d)"
    rf"|(?P<md>\d{{1,2}})/(?P<dd>\d{{1,2}})(?:/(?P<yd>\d{{4}}|\d{{2}}))?(?![\d/])"
    rf"|(?P<dp>\d{{1,2}})\.(?P<mp>\d{{1,2}})\.(?P<yp>\d{{4}}|\d{{2}})?(?!\d)"
    rf"|(?:(?P<first>\d{{1,2}})(?P<begin>{_END})?(?P<dash>{_RANGE}))?(?P<day>\d{{1,2}})(?P<end>{_END})?(?P<of>\s+(?:of\s+)?)"
    rf"(?P<month>{_MONTH})(?:(?P<gap>,?\s+)(?P<year>\d{{4}}))?"
    rf"|(?P<month2>{_MONTH})(?P<the>\s+(?:the\s+)?)(?P<day2>\d{{1,2}})(?P<end2>{_END})?(?![\d:]|\s*[ap]\.?m|{_END}?{_RANGE}\d{{1,2}}(?!\d|:|\s*[ap]\.?m))"
    rf"(?:(?P<gap2>,?\s+)(?P<year2>\d{{4}}))?"
    rf"|(?:(?P<first3>\d{{1,2}})(?P<begin3>{_END})?(?P<dash3>{_RANGE}))?(?P<day3>\d{{1,2}})(?P<end3>{_END})(?![a-z])"
    rf")?",
    re.IGNORECASE,
)
_NAMED_DAY = re.compile(r"\b(?:day after tomorrow|tomorrow|today|tonight)\b", re.IGNORECASE)
_NOW = {"today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
_EITHER = re.compile(
    rf"{_MONTH}\s+(?:the\s+)?\d{{1,2}}{_END}?\s+(?:or|and)\s+(?:the\s+)?\d"
    rf"|\d{_END}?\s+(?:or|and)\s+(?:the\s+)?\d{{1,2}}{_END}?\s+(?:of\s+)?{_MONTH}",
    re.IGNORECASE,
)
_MONTH_ALONE = re.compile(rf"(?<![a-z]){_MONTH}", re.IGNORECASE)
_CALENDAR = re.compile(r"(an?|half\s+an?|\d+|[a-z]+)?[\s-]*(month|year)s?\b", re.IGNORECASE)

_CLOCK = (
    r"(?:(?:12\s+)?(?:noon|midday|midnight)|\d{1,2}(?:[:.h]\d{2}|h(?!\w))?(?:\s*[ap]\.?\s?m(?![a-z])\.?)?)"
)
_TIMES = re.compile(
    rf"(?<![\w.:/$€£-])(?P<start>{_CLOCK})(?:(?P<dash>{_RANGE}|\s+and\s+)(?P<end>{_CLOCK}))?(?![\w:/%]|\.\d|-\d)",
    re.IGNORECASE,
)
_HALF = re.compile(r"(\d{1,2})(?:([:.])(\d{2}))?(\s*)([ap])(\.?)(\s?)m(\.?)", re.IGNORECASE)
_BY_WORDS = re.compile(
    rf"\b(?:at|from|till|until|by|before|after|around|between)\s+$|{_WEEKDAY},?\s+$", re.IGNORECASE
)
_NAMED_TIME = {"noon": 12, "midday": 12, "midnight": 0}


def shift_datetime(text: str, sign: str, amount: str, now: datetime) -> str | None:
    """A text with its date or time moved: ("Friday, May 3", "+", "2 days") gives "Sunday, May 5".

    sign: '+' or '-'. amount: a duration in words. now: what a day without its month is counted from. None
    where the amount is no duration, or the text has nothing that can be moved by it.
    """
    delta = duration_of(amount)
    if delta is None or kind_of(text) == "duration":  # a length is counted, it does not go round the clock
        return None
    ahead = 1 if sign == "+" else -1
    if (calendar := _CALENDAR.search(amount)) is not None:
        count = number_of(calendar[1] or "") if calendar[1] not in (None, "a", "an") else 1
        if count is None or count != int(count) or "half" in amount.lower():
            return None
        months = int(count) * (12 if calendar[2].lower() == "year" else 1)
        return _within_calendar(text, 0, ahead * months, now)
    if delta % timedelta(days=1) == timedelta():
        return _within_calendar(text, ahead * delta.days, 0, now)
    return _time_moved(text, ahead * delta)


# ---- dates ----------------------------------------------------------------------------------------


def _within_calendar(text: str, days: int, months: int, now: datetime) -> str | None:
    try:
        return _date_moved(text, days, months, now)
    except (OverflowError, ValueError):  # before year 1, after 9999
        return None


def _date_moved(text: str, days: int, months: int, now: datetime) -> str | None:
    found = [one for one in _DAYS.finditer(text) if one[0].strip()]
    if not found:
        return _named_moved(text, days, months, now)
    if len(found) > 2 or (len(found) == 2 and not any(map(_is_weekday, found))):
        return None  # 'Friday evening, May 3' is one day, 'May 3 or May 5' is not
    if _EITHER.search(text) or _NAMED_DAY.search(text):
        return None  # 'May 3 or 4', 'tomorrow or Friday'
    for one in reversed(found):
        inner = _moved_day(one, days, months, now.date())
        if inner is None:
            return None
        text = f"{text[: one.start()]}{inner}{text[one.end() :]}"
    return text


def _is_weekday(one: re.Match[str]) -> bool:
    return not re.search(r"\d", one[0])


def _named_moved(text: str, days: int, months: int, now: datetime) -> str | None:
    """'tomorrow' as a date; a month alone by months."""
    named = list(_NAMED_DAY.finditer(text))
    if len(named) == 1 and not months:
        (one,) = named
        day = now.date() + timedelta(days=_NOW[one[0].lower()] + days)
        return f"{text[: one.start()]}{day:%B} {ordinal(day.day)}{text[one.end() :]}"
    alone = list(_MONTH_ALONE.finditer(text))
    if len(alone) == 1 and months % 12 and re.search(r"\d", text) is None:
        (one,) = alone
        name = _in_style(one[0], MONTHS[(_month(one[0]) - 1 + months) % 12])
        return f"{text[: one.start()]}{name}{text[one.end() :]}"
    return None


def _moved_day(one: re.Match[str], days: int, months: int, today: date) -> str | None:
    got = one.groupdict()
    numbers = next(
        (
            (got[y], got[m], got[d])
            for y, m, d in (("y", "m", "d"), ("yd", "md", "dd"), ("yp", "mp", "dp"))
            if got[d]
        ),
        (got["year"] or got["year2"], None, got["day"] or got["day2"] or got["day3"]),
    )
    year, month, day = numbers
    named = got["month"] or got["month2"]
    weekday = _weekday_moved(got["weekday"], days) if got["weekday"] else ""
    if day is None:
        return None if months or days % 7 == 0 else weekday
    if months and (got["weekday"] or got["day3"]):
        return None  # which weekday or month that is cannot be told
    told = int(month) if month else _month(named) if named else None
    old = _date(year, told, int(day), today)
    if old is None:
        return None
    new = _later(old, days, months)
    first = ""
    if starts := got["first"] or got["first3"]:
        begins = _date(str(old.year), old.month, int(starts), today)
        if begins is None or begins > old or (start := _later(begins, days, months)).month != new.month:
            return None
        shown = ordinal(start.day) if got["begin"] or got["begin3"] else str(start.day)
        first = f"{shown}{got['dash'] or got['dash3']}"
    return weekday + first + _written(one, new)


def _date(year: str | None, month: int | None, day: int, today: date) -> date | None:
    """The day that is meant: without a year or month the next one."""
    if month is not None and not 1 <= month <= 12:
        return None
    if year:
        starts = [(int(year) if len(year) == 4 else 2000 + int(year), month or today.month)]
    elif month is not None:
        starts = [(today.year + more, month) for more in range(5)]
    else:
        starts = [divmod(today.year * 12 + today.month - 1 + more, 12) for more in range(3)]
        starts = [(one, other + 1) for one, other in starts]
    for at, of in starts:
        if 1 <= day <= monthrange(at, of)[1] and (year or date(at, of, day) >= today):
            return date(at, of, day)
    return None


def _later(day: date, days: int, months: int) -> date:
    """A day some days or months later; the last of a month where that has fewer days."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    start = date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
    return start + timedelta(days=days)


def _written(one: re.Match[str], day: date) -> str:
    """A date in the form of another."""
    got = one.groupdict()
    if got["d"]:
        return f"{day:%Y-%m-%d}"
    if got["dd"]:
        year = f"/{day.year if len(got['yd']) == 4 else day.strftime('%y')}" if got["yd"] else ""
        return f"{_as_wide(got['md'], day.month)}/{_as_wide(got['dd'], day.day)}{year}"
    if got["dp"]:
        year = (str(day.year) if len(got["yp"]) == 4 else day.strftime("%y")) if got["yp"] else ""
        return f"{_as_wide(got['dp'], day.day)}.{_as_wide(got['mp'], day.month)}.{year}"
    if got["day3"]:
        return ordinal(day.day)
    number = ordinal(day.day) if got["end"] or got["end2"] else str(day.day)
    month = _in_style(got["month"] or got["month2"], MONTHS[day.month - 1])
    year = f"{got['gap'] or got['gap2']}{day.year}" if got["year"] or got["year2"] else ""
    return f"{number}{got['of']}{month}{year}" if got["day"] else f"{month}{got['the']}{number}{year}"


def _as_wide(text: str, number: int) -> str:
    return f"{number:02d}" if text.startswith("0") else str(number)


def _month(name: str) -> int:
    return next(n for n, one in enumerate(MONTHS, 1) if one.startswith(name[:3].lower()))


def _weekday_moved(text: str, days: int) -> str:
    """A weekday, with what stands behind it, some days later."""
    word = re.match(r"[a-z]+\.?", text, re.IGNORECASE)
    if word is None:
        return text
    position = next(n for n, one in enumerate(WEEKDAYS) if one.startswith(word[0][:3].lower()))
    return _in_style(word[0], WEEKDAYS[(position + days) % 7]) + text[word.end() :]


def _in_style(text: str, name: str) -> str:
    """A month or weekday cut, and in capital letters, as another is."""
    plain = text.rstrip(".").lower()
    cut = plain not in (*MONTHS, *WEEKDAYS)
    made = name[:3] if cut else name
    made = (
        made.upper()
        if text.isupper() and len(plain) > 1
        else made.capitalize()
        if text[:1].isupper()
        else made
    )
    return made + "." if text.endswith(".") and cut else made


def ordinal(day: int) -> str:
    """3 is '3rd'."""
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


# ---- times ----------------------------------------------------------------------------------------


def _time_moved(text: str, delta: timedelta) -> str | None:
    if abs(delta) >= timedelta(days=1):
        return None
    if (spoken := _spoken_moved(text.strip(), delta)) is not None:
        return spoken
    found = [one for one in _TIMES.finditer(text) if _is_time(one, text)]
    if len(found) != 1:
        return None
    (one,) = found
    half = next(
        (got[5] for part in (one["end"], one["start"]) if part and (got := _HALF.fullmatch(part))), ""
    )
    inner = _clock_moved(one["start"], delta, "" if one["end"] is None else half)
    if one["end"]:
        inner += one["dash"] + _clock_moved(one["end"], delta)
    return f"{text[: one.start()]}{inner}{text[one.end() :]}"


def _is_time(one: re.Match[str], text: str) -> bool:
    """Whether numbers in a text are times of day, and no counts or days."""
    parts = [part for part in (one["start"], one["end"]) if part]
    numbers = [int(re.match(r"\d+", part)[0]) for part in parts if part[0].isdigit()]  # type: ignore[index]
    if any(number > 24 for number in numbers):
        return False
    if any(not part.isdecimal() for part in parts):
        return re.match(rf"\s*(?:of\s+)?{_MONTH}", text[one.end() :], re.IGNORECASE) is None
    behind = text[one.end() :].strip()
    alone = (
        not text[: one.start()].strip()
        and re.fullmatch(r"(?:(?:till|until|to) late|onwards)?", behind) is not None
    )
    return alone or _BY_WORDS.search(text[: one.start()]) is not None


def _clock_moved(text: str, delta: timedelta, half: str = "") -> str:
    """One time of day; half: 'a' or 'p' where the end of a range says which half of the day it is in."""
    if (named := _NAMED_TIME.get(text.lower().split()[-1])) is not None:
        whole = (named * 60 + round(delta.total_seconds() / 60)) % (24 * 60)
        minutes = f":{whole % 60:02d}" if whole % 60 else ""
        return f"{(whole // 60 - 1) % 12 + 1}{minutes} {'AM' if whole < 12 * 60 else 'PM'}"
    if (got := _HALF.fullmatch(text)) is not None:
        hour = int(got[1]) % 12 + (12 if got[5].lower() == "p" else 0)
        whole = (hour * 60 + int(got[3] or 0) + round(delta.total_seconds() / 60)) % (24 * 60)
        minutes = f"{got[2] or ':'}{whole % 60:02d}" if whole % 60 or got[3] else ""
        letter = "a" if whole < 12 * 60 else "p"
        letter, m = (letter.upper(), "M") if got[5].isupper() else (letter, "m")
        return f"{(whole // 60 - 1) % 12 + 1}{minutes}{got[4]}{letter}{got[6]}{got[7]}{m}{got[8]}"
    hours, separator, minute = re.fullmatch(r"(\d{1,2})(?:([:.h])(\d{2})?)?", text).groups()  # type: ignore[union-attr]
    whole = (int(hours) * 60 + int(minute or 0) + round(delta.total_seconds() / 60)) % (24 * 60)
    shown = str((whole // 60 - 1) % 12 + 1) if half else _as_wide(hours, whole // 60)
    if minute or whole % 60:
        return f"{shown}{separator or ':'}{whole % 60:02d}"
    return f"{shown}{separator or ''}"  # '19h'


_HOUR = "|".join(NUMBERS[1:])
_SPOKEN_CLOCK = re.compile(
    rf"(?P<lead>(?:(?:at|around|about|approx\.?|ca\.?)\s+)?)"
    rf"(?:(?:a\s+)?(?P<part>half|quarter|five|ten|twenty|twenty-five)\s+(?P<way>past|to)\s+|(?P<half>half)\s+)?"
    rf"(?P<hour>{_HOUR}|\d{{1,2}})"
    rf"(?:(?P<sep>[\s:.h]+(?=\d)|[\s-]+(?=[a-z]))(?P<minute>\d{{2}}|fifteen|thirty|forty-five)|(?P<tight>\d{{2}}))?"
    rf"(?P<ish>ish)?(?P<hours>\s*(?:h|hrs?|hours|uhr))?"
    rf"(?P<rest>(?:\s+o['’]?clock)?(?:\s+(?:in|of)\s+the\s+(?:morning|afternoon|evening|night)|\s+at\s+night)?)",
    re.IGNORECASE,
)
_PAST = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25,
          "fifteen": 15, "thirty": 30, "forty-five": 45}  # fmt: skip
_DAYPARTS = ((12, " in the morning"), (17, " in the afternoon"), (21, " in the evening"), (24, " at night"))


def _spoken_moved(text: str, delta: timedelta) -> str | None:
    """A time of day in words: ('half past ten', 1 hour) gives '11:30'.

    'half 3' is half past three, '1720' a time as railways write it. None for anything else.
    """
    found = _SPOKEN_CLOCK.fullmatch(text)
    if found is None:
        return None
    hour = int(found["hour"]) if found["hour"].isdecimal() else NUMBER_WORDS[found["hour"].lower()]
    minute = found["minute"] or found["tight"] or "0"
    minutes = int(minute) if minute.isdecimal() else _PAST[minute.lower()]
    if found["half"]:
        minutes += 30
    if found["part"]:
        minutes += _PAST[found["part"].lower()] * (1 if found["way"].lower() == "past" else -1)
    if hour > 24 or minutes > 59:
        return None
    part = (found["rest"].lower().split() or [""])[-1]
    if part in ("afternoon", "evening", "night") and hour < 12 and not (part == "night" and hour < 6):
        hour += 12
    if part == "night" and hour == 12:
        hour = 0
    whole = (hour * 60 + minutes + round(delta.total_seconds() / 60)) % (24 * 60)
    rest = ""
    if part in ("morning", "afternoon", "evening", "night"):
        rest = next(words for until, words in _DAYPARTS if whole < until * 60)
    spoken = not found["hour"].isdecimal() or rest
    shown = (whole // 60 - 1) % 12 + 1 if spoken else whole // 60
    clock = found["rest"] if "clock" in found["rest"].lower() and not rest and whole % 60 == 0 else ""
    ending = f"{found['ish'] or ''}{found['hours'] or ''}{clock}{rest}"
    if found["tight"]:
        return f"{found['lead']}{shown:02d}{whole % 60:02d}{ending}"
    more = found["minute"] or found["part"] or found["half"]
    if whole % 60 == 0 and (clock or (found["hour"].isdecimal() and not more)):
        return f"{found['lead']}{shown}{ending}"
    separator = found["sep"] if found["sep"] in (".", "h") else ":"
    return f"{found['lead']}{shown}{separator}{whole % 60:02d}{ending}"
