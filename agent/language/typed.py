"""The kind of a value as it was typed: 'at 7', 'half 8', 'weds', '11.40'. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from taskloom.memory.words import words

from . import values
from .wording import word_set

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
    r"(?:at |by |from |till |until |before |after |around )?([01]?\d|2[0-3])[.:h ]?([0-5]\d)(?: ?[ap]m)?",
    re.IGNORECASE,
)
_LED = re.compile(
    r"\b(?:at|by|from|till|until|before|after|around|about|past|(?<!down )(?<!up )to)\s+$", re.IGNORECASE
)
_HOUR = re.compile(
    r"(?:(?:half|quarter|twenty|ten|five)(?: past| to)? )?(?:\d{1,2}|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve)(?:[ -]?(?:thirty|fifteen|forty[ -]five|fortyfive))?(?:[ -]?ish)?(?: ?[ap]m)?"
    r"(?: o['’]?clock)?(?: in the (?:morning|afternoon|evening)| at night| tonight)?",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"(?:(?:{'|'.join(values.NUMBER_WORDS)}|thousand|and|\d[\d.,]*+|an?)[ -]?)+"
    r"(?:quid|bucks?|grand|pence|p|cents?|fivers?|tenners?|pounds?|euros?|dollars?)"
    r"(?: (?:each|a|an|per) ?\w*)?"
    r"|[£$€]?\d+(?:[.,]\d\d)? (?:each|apiece|a head|per head|per person|pp|a piece)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"(?:{'|'.join(values.NUMBER_WORDS)})(?:[ -](?:and |thousand|{'|'.join(values.NUMBER_WORDS)})+)+",
    re.IGNORECASE,
)
_CLOCKED = r"(\d{1,2})(?:[.:][0-5]\d)?(?: ?[ap]m)?"
_HOURS = re.compile(
    rf"(?:from )?{_CLOCKED} ?(?:-|–|to|till|until) ?{_CLOCKED}|between {_CLOCKED} and {_CLOCKED}",
    re.IGNORECASE,
)  # two bare numbers with nothing after them: '3 to 6'
_BESIDE_ANOTHER = re.compile(
    rf"(?:(?:an?|the|{'|'.join(values.NUMBER_WORDS)}|\d+) )?(?:(minute|hour)|day|week|month)s?"
    r" (?:before|after)\b ?\w",
    re.IGNORECASE,
)  # 'a week before the party'
_NOT_A_HOUR = re.compile(r"(?:\d{1,2}|[a-z]+)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def kind_of(value: str, lead: str = "") -> str | None:
    """The kind of a value ('date', 'time', 'amount', ...), or None.

    lead: what stands before it in the sentence.
    """
    text = value.strip(" .,!?;:")
    if re.fullmatch(r"(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)", text, re.IGNORECASE):
        return "date"
    if (counted := _BESIDE_ANOTHER.match(text)) is not None:
        return "time" if counted[1] else "date"
    parts = re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", text.lower())
    named = [part for part in parts if part in _DAYS]
    if named and all(part in _DAYS | _BESIDE or part[:1].isdigit() for part in parts) and ":" not in text:
        return "date"
    found = "amount" if _MONEY.fullmatch(text) else values.kind_of(text)
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
        and (any(sign in bare for sign in ".: ") or led)
        and (len(clock[1]) > 1 or not bare.isdigit())
    ):
        return "time"
    if found is None and (hours := _HOURS.fullmatch(text)):
        return "time" if all(int(hour) <= 24 for hour in hours.groups() if hour) else None
    return "count" if found is None and _COUNT.fullmatch(text) else found


def hour(text: str) -> bool:
    """Whether a text is a bare number that may be an hour."""
    return bool(re.fullmatch(r"\d{1,2}", text.strip(" .,!?"))) and int(text.strip(" .,!?")) <= 24


def parse_measure(text: str) -> str:
    """A length or an amount in plain words: 'half hour' is 30 minutes, 'a fiver' 5, 'a thousand' 1000."""
    text = re.sub(r"\bhalf (?:an? |of an )?hour\b", "30 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthree[- ]quarters of an hour\b", "45 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:a )?quarter (?:of an |of )?hour\b", "15 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\ba thousand\b", "1000", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:a )?fiver\b", "5 pounds", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:a )?tenner\b", "10 pounds", text, flags=re.IGNORECASE)


PLACES = frozenset(words("place venue location address room hall where site spot"))
_NAMES_OF = {
    "place": PLACES,
    "date": frozenset(words("date day deadline due when weekday")),
    "time": frozenset(words("time start end begin finish hour kickoff departure arrival")),
    "amount": frozenset(words("price cost fee pay rate budget rent deposit charge wage")),
    "duration": frozenset(words("length duration")),
}
_NEVER_FOR = {
    "amount": ("place", "date", "time", "duration", None),
    "date": ("place", "time", "amount", "duration"),
    "time": ("place", "date", "amount", "duration"),
    "duration": ("place", "date", "amount"),
}
"""Of which types a slot never takes a value of a kind; None is a text."""


def type_of(title: str, value: str) -> str | None:
    """What a slot holds: the kind of its value, else that which its name says."""
    own = words(title)
    return kind_of(value) or next(
        (kind for kind, names in _NAMES_OF.items() if own and own[-1] in names), None
    )


def type_named(title: str) -> str | None:
    """The name of the slots of a type that a slot's name ends with: 'price' for 'camp fee'."""
    kind = type_of(title, "")
    return "price" if kind == "amount" else kind


def names_a_type(title: str) -> bool:
    """Whether the name of a slot says only what type it is of: 'date', 'start time'."""
    own = words(title)
    return bool(own) and all(any(word in names for names in _NAMES_OF.values()) for word in own)


def misfits(title: str, held: str, value: str) -> bool:
    """Whether a slot of that name and value cannot take another value: a date cannot be 85 quid."""
    kind, own = kind_of(value), words(title)
    if kind not in _NEVER_FOR or any(word in _NAMES_OF.get(kind, ()) for word in own):
        return False
    is_price = kind_of(held) == "amount" or any(word in _NAMES_OF["amount"] for word in own)
    if is_price and re.fullmatch(r"\d+\.\d\d", value.strip()):
        return False
    return type_of(title, held) in _NEVER_FOR[kind]
