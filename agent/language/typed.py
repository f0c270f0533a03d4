"""The kind of a value as it was typed: 'at 7', 'half 8', 'weds', '11.40'. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from taskloom.memory.words import WEEKDAYS, word_set, words

from . import values

_DAYS = word_set(
    """mon monday mondays tue tues tuesday tuesdays wed weds wednesday wednesdays thu thur thurs thursday
    thursdays fri friday fridays sat saturday saturdays sun sunday sundays weekend weekends wknd tomorrow
    tmrw tmr today tonight yesterday jan january feb february mar march apr april may jun june jul july
    aug august sep sept september oct october nov november dec december week month
    christmas xmas easter halloween thanksgiving diwali eid hanukkah hogmanay midsummer"""
)
_BESIDE = word_set(
    """on the of in at and next this last every each coming morning mornings afternoon evening evenings night
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
_COME_TO = re.compile(
    r"\b(?:gr[eo]w\w*|ris\w+|rose|increas\w*|fall\w*|fell|rais\w*|reduc\w*|shrink\w*|shr[au]nk|(?:number|total)s?)"
    r"\b[^.;,]*\bto\s+$",
    re.IGNORECASE,
)  # what grows to 12 does so at no hour
_HOUR = re.compile(
    r"(?:(?:half|quarter|twenty|ten|five)(?: past| to)? )?(?:\d{1,2}|one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve)(?:[ -]?(?:thirty|fifteen|forty[ -]five|fortyfive))?(?:[ -]?ish)?(?: ?[ap]m)?"
    r"(?: o['’ ]?clock)?(?: in the (?:morning|afternoon|evening)| at night| tonight)?",
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
    rf"(?:an? )?(?:{'|'.join(values.NUMBER_WORDS)})"
    rf"(?:[ -](?:and |thousand|{'|'.join(values.NUMBER_WORDS)})+)+",
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
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_RANK = (
    r"(?:(?:twenty|thirty)[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    r"|(?:ten|eleven|twelf|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twentie|thirtie)th"
)
_DAY_IN_WORDS = re.compile(
    rf"(?:on )?(?:the (?:{_RANK})|(?:the )?(?:{_RANK}) of (?:{_MONTHS})|(?:{_MONTHS}) (?:the )?(?:{_RANK}))",
    re.IGNORECASE,
)  # 'the twelfth', 'twentieth of september'
_FEAST = re.compile(
    r"(?:on |by |before |after |until )?(?:the )?(?:new year|christmas|boxing|good friday|easter|mother"
    r"|father|valentine)(?:['’]?s)? ?(?:day|eve|sunday|monday|morning)?",
    re.IGNORECASE,
)
_DAY_OF_MONTH = re.compile(
    r"(?:on )?(?:the )?(?:first|second|third|fourth|last|1st|2nd|3rd|4th) "
    rf"(?:{'|'.join(WEEKDAYS)}|week|weekend)s? (?:in|of) (?:{_MONTHS}|(?:the|each|every|next|this) month)",
    re.IGNORECASE,
)  # 'the first Saturday in June'
_IN_WEEKS = re.compile(
    rf"(?:on )?(?P<day>\w+) in (?:an?|\d+|{'|'.join(values.NUMBER_WORDS)}) (?:week|month)s?(?: time)?",
    re.IGNORECASE,
)
_JUST = re.compile(r"^(?:just|only|even)\s+(?=\S)", re.IGNORECASE)
_TILL = re.compile(r"(?P<from>from )?(?P<begin>.+?) (?:till?|until|(?P<to>to)) (?P<end>.+)", re.IGNORECASE)
_OF_THE_DAY = re.compile(r"half|quarter|noon|midnight|midday|o['’ ]?clock|[ap]m\b", re.IGNORECASE)
_H = re.compile(r"(?P<hour>[01]?\d|2[0-4]) ?h(?P<minutes>[0-5]\d)?", re.IGNORECASE)
_COINED = re.compile(r"[£$€]\s?\d[\d.,]*(?:k|m)?\b[^\d£$€]*", re.IGNORECASE)
_IN_FOUR_DIGITS = re.compile(
    r"0\d[0-5][05](?: ?(?:h|hrs?|hours?))?|(?:1\d|2[0-3])[0-5][05] ?(?:h|hrs?|hours?)", re.IGNORECASE
)  # '0730'; '1500' may be a number, '1500 hrs' is none
_NOT_A_HOUR = re.compile(r"(?:\d{1,2}|[a-z]+)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def kind_of(value: str, lead: str = "") -> str | None:
    """The kind of a value ('date', 'time', 'amount', ...), or None.

    lead: what stands before it in the sentence.
    """
    text = _JUST.sub("", value.strip(" .,!?;:"), count=1)
    if _is_day(text):
        return "date"
    if (counted := _BESIDE_ANOTHER.match(text)) is not None:
        return "time" if counted[1] else "date"
    if _IN_FOUR_DIGITS.fullmatch(text):
        return "time"
    parts = re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", text.lower())
    named = [part for part in parts if part in _DAYS or re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", part)]
    if named and all(part in _DAYS | _BESIDE or part[:1].isdigit() for part in parts) and ":" not in text:
        return "date"
    coined = any(form.fullmatch(text) for form in (_MONEY, _COINED, _AND_COINS))
    found = "amount" if coined else values.kind_of(text)
    if found not in (None, "count"):
        return found
    return "time" if _is_time(text, lead) else found or ("count" if _COUNT.fullmatch(text) else None)


def _is_day(text: str) -> bool:
    """Whether words are a day by its number or by weeks: 'the 3rd', 'the 15', 'friday in two weeks'."""
    by_number = r"(?:on )?(?:(?:the )?\d{1,2}(?:st|nd|rd|th)|the (?:[1-9]|[12]\d|3[01]))"
    if re.fullmatch(by_number, text, re.IGNORECASE) or _DAY_OF_MONTH.fullmatch(text):
        return True
    if _FEAST.fullmatch(text) and re.search(r"year|day|eve|christmas|easter", text, re.IGNORECASE):
        return True
    weeks = _IN_WEEKS.fullmatch(text)
    return _DAY_IN_WORDS.fullmatch(text) is not None or (weeks is not None and weeks["day"].lower() in _DAYS)


def _is_time(text: str, lead: str) -> bool:
    """Whether words that are of no other kind are a time of day, or two of them."""
    bare = re.sub(r"^(?:at|by|around|about|before|after|from|until|till)\s+", "", text, flags=re.IGNORECASE)
    led = bare != text or (_LED.search(lead) is not None and _COME_TO.search(lead) is None)
    number = re.match(r"\d+", bare)
    if (
        _HOUR.fullmatch(bare)
        and (number is None or int(number[0]) <= 24)
        and (led or not _NOT_A_HOUR.fullmatch(bare))
    ):
        return True
    clock = _CLOCK.fullmatch(bare)
    if (
        clock is not None
        and (any(sign in bare for sign in ".: ") or led)
        and (len(clock[1]) > 1 or not bare.isdigit())
    ):
        return True
    if (french := _H.fullmatch(bare)) is not None:  # '8h30', '17 h'; '3 h' is a duration
        return led or french["minutes"] is not None or int(french["hour"]) > 12
    if (hours := _HOURS.fullmatch(text)) is not None:
        return all(int(hour) <= 24 for hour in hours.groups() if hour)
    both = _TILL.fullmatch(text)
    if both is None or (both["to"] and not (both["from"] or _OF_THE_DAY.search(text))):
        return False
    return all(kind_of(both[end], "at ") == "time" for end in ("begin", "end"))


def hour(text: str) -> bool:
    """Whether a text is a bare number that may be an hour: '7', '0730', 'eleven'."""
    if 0 < values.NUMBER_WORDS.get(text.strip(" .,!?").lower(), 0) < 13:
        return True
    found = re.fullmatch(r"(\d{1,2}?)([0-5]\d)?", text.strip(" .,!?"))
    whole = found is not None and (found[2] is None or len(found[0]) == 4 or found[2] in ("15", "30", "45"))
    return found is not None and whole and int(found[1]) <= 24


def parse_measure(text: str) -> str:
    """A length or an amount in plain words: 'half hour' is 30 minutes, 'a fiver' 5, 'a thousand' 1000."""
    text = re.sub(r"\bhalf (?:an? |of an )?hour\b", "30 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthree[- ]quarters of an hour\b", "45 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:a )?quarter (?:of an |of )?hour\b", "15 minutes", text, flags=re.IGNORECASE)
    text = re.sub(r"\ba thousand\b", "1000", text, flags=re.IGNORECASE)
    text = _AND_A_HALF.sub(lambda found: f"{values.number_of(found[1])}.5", text)
    text = _AND_COINS.sub(_with_coins, text)
    text = re.sub(r"\b(?:a )?fiver\b", "5 pounds", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:a )?tenner\b", "10 pounds", text, flags=re.IGNORECASE)


_TENS = "|".join(
    word for word, number in values.NUMBER_WORDS.items() if 10 <= number < 100 and word != "dozen"
)
_ONES = "|".join(word for word, number in values.NUMBER_WORDS.items() if 0 < number < 10 and word != "couple")
_AND_A_HALF = re.compile(rf"\b(\d+|{'|'.join(values.NUMBER_WORDS)}) and a half\b(?! hours?)", re.IGNORECASE)
_AND_COINS = re.compile(
    rf"\b(an?|\d+|{'|'.join(values.NUMBER_WORDS)}) (pound|quid|euro|dollar|buck)s? "
    rf"(\d\d|(?:{_TENS})(?:[ -](?:{_ONES}))?)\b",
    re.IGNORECASE,
)
_COINS_ONLY = re.compile(
    rf"({'|'.join(values.NUMBER_WORDS)}) ((?:{_TENS})(?:[ -](?:{_ONES}))?)", re.IGNORECASE
)


def _with_coins(found: re.Match[str]) -> str:
    """'A pound fifty' as 1.50 pounds."""
    coin = "pound" if found[2].lower() == "quid" else found[2]
    return f"{values.number_of(found[1]) or 1}.{values.number_of(found[3])} {coin}s"


def as_price(amount: str) -> str:
    """An amount of money said as two numbers in figures: 'seven fifty' is 7.50, beside a price."""
    found = _COINS_ONLY.fullmatch(amount.strip())
    if found is None or (values.number_of(amount) or 0) >= 20:
        return amount  # 'twenty five' is one number
    return f"{values.number_of(found[1])}.{values.number_of(found[2])}"


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
