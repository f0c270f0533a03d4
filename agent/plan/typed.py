"""The kind of a value as it was typed: 'at 7', 'half 8', 'weds', '11.40'. Pure."""

from __future__ import annotations

import re

from taskloom.agent import values
from taskloom.agent.wording import word_set

_DAYS = word_set(
    """mon monday mondays tue tues tuesday tuesdays wed weds wednesday wednesdays thu thur thurs thursday
    thursdays fri friday fridays sat saturday saturdays sun sunday sundays weekend weekends wknd tomorrow
    tmrw tmr today tonight yesterday jan january feb february mar march apr april may jun june jul july
    aug august sep sept september oct october nov november dec december week month"""
)
_BESIDE = word_set(
    """on the of in at next this last every each coming morning mornings afternoon evening evenings night
    early late mid end start beginning and to until till from through or both days before after by around
    about"""
)
_CLOCK = re.compile(
    r"(?:at |by |from |till |until |before |after |around )?([01]?\d|2[0-3])[.:h]?([0-5]\d)(?: ?[ap]m)?",
    re.IGNORECASE,
)
_LED = re.compile(r"\b(?:at|by|from|till|until|before|after|around|about|past|to)\s+$", re.IGNORECASE)
_HOUR = re.compile(
    r"(?:(?:half|quarter|twenty|ten|five)(?: past| to)? )?(?:\d{1,2}|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve)(?:[ -]?(?:thirty|fifteen|forty[ -]five|fortyfive))?(?:[ -]?ish)?(?: ?[ap]m)?",
    re.IGNORECASE,
)
_NOT_A_HOUR = re.compile(r"(?:\d{1,2}|[a-z]+)", re.IGNORECASE)


def kind_of(value: str, lead: str = "") -> str | None:
    """The kind of a value ('date', 'time', 'amount', ...), or None.

    lead: what stands before it in the sentence.
    """
    text = value.strip(" .,!?;:")
    if re.fullmatch(r"(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)", text, re.IGNORECASE):
        return "date"
    parts = re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", text.lower())
    named = [part for part in parts if part in _DAYS]
    if named and all(part in _DAYS | _BESIDE or part[:1].isdigit() for part in parts) and ":" not in text:
        return "date"
    found = values.kind_of(text)
    if found not in (None, "count"):
        return found
    bare = re.sub(r"^(?:at|by|around|about|before|after|from|until|till)\s+", "", text, flags=re.IGNORECASE)
    led = bare != text or _LED.search(lead) is not None
    number = re.match(r"\d+", bare)
    if (
        _HOUR.fullmatch(bare)
        and (number is None or int(number[0]) <= 24)
        and (led or not _NOT_A_HOUR.fullmatch(bare))
    ):
        return "time"
    clock = _CLOCK.fullmatch(bare)
    if (
        clock is not None
        and ("." in bare or ":" in bare or led)
        and (len(clock[1]) > 1 or not bare.isdigit())
    ):
        return "time"
    return found


def hour(text: str) -> bool:
    """Whether a text is a bare number that may be an hour."""
    return bool(re.fullmatch(r"\d{1,2}", text.strip(" .,!?"))) and int(text.strip(" .,!?")) <= 24


_NUMBERED = "|".join(values.NUMBER_WORDS)
_PAST = re.compile(
    rf"\b(half|quarter|{_NUMBERED}|\d{{1,2}})(?: minutes?)?(?: (past|to|til))? (\d{{1,2}}|{_NUMBERED})\b",
    re.IGNORECASE,
)
_DAYTIME = re.compile(
    rf"\b(\d{{1,2}}(?::\d\d)?|{_NUMBERED}) (?:in the|at) (morning|afternoon|evening|night)\b", re.IGNORECASE
)


def clocked(text: str, *, loose: bool = False) -> str:
    """A text with its times in figures: 'half seven' is 7:30, 'twenty past eight' 8:20, '3.50' 3:50.

    loose: a number alone is an hour as well.
    """
    text = re.sub(r"(?<![\d.,£$€])(\d{1,2})[.h](\d\d)(?![\d.,])", r"\1:\2", text)
    text = re.sub(r"\b([01]\d|2[0-3])([0-5]\d)\b", r"\1:\2", text) if loose else text
    text = _PAST.sub(_clock, text)
    text = _DAYTIME.sub(
        lambda found: f"{_figure(found[1])} {'am' if found[2].lower() == 'morning' else 'pm'}", text
    )
    number = (
        values.number_of(text)
        if loose and re.fullmatch(rf"(?:at )?(?:\d{{1,2}}|{_NUMBERED})", text.strip(), re.IGNORECASE)
        else None
    )
    return f"{number}:00" if number is not None and 0 < number <= 24 else text


def _clock(found: re.Match[str]) -> str:
    minutes = {"half": 30, "quarter": 15}.get(found[1].lower()) or int(_figure(found[1]))
    hour = int(_figure(found[3]))
    if hour > 24 or minutes > 59 or (found[2] is None and found[1].lower() != "half"):
        return found[0]
    back = (found[2] or "").lower() in ("to", "til")
    return f"{(hour - 1) or 12}:{60 - minutes:02}" if back else f"{hour}:{minutes:02}"


def _figure(word: str) -> str:
    number = values.number_of(word)
    return word if number is None or ":" in word else f"{number}"


def lasting(text: str) -> str:
    """A length or an amount in plain words: 'half hour' is 30 minutes, 'a fiver' 5, 'a thousand' 1000."""
    text = re.sub(r"\bhalf (?:an? |of an )?hour\b", "30 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthree[- ]quarters of an hour\b", "45 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:a )?quarter (?:of an |of )?hour\b", "15 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\ba thousand\b", "1000", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:a )?fiver\b", "5 pounds", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:a )?tenner\b", "10 pounds", text, flags=re.IGNORECASE)
