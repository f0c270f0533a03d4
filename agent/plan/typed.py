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
