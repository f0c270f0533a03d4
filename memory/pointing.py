"""What a request says of earlier sessions: that it wants one again, which value it had, when it was. Pure.

English only, as are the words that it looks for.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from .ranking import exact, stems
from .records import IntentUnit, Pair
from .words import MONTHS, NUMBERS, STOP, WEEKDAYS, fold

# ---- what is wanted ---------------------------------------------------------------------------------

_PRIOR = (
    r"(?:before|last time|the last time|earlier|previously|usual|always|ever|it was|they were|the last one)"
)
_SETTINGS = r"(?:settings|details|options|preferences|choices|values|info(?:rmation)?)"
_AGAIN = re.compile(
    rf"\b(?:(?:once|one|some) more(?: time)?|(?:over|once|yet) again|again|another(?: time| one)?|anew"
    rf"|(?:and )?(?:keep|keeping|use|using|with) (?:all )?(?:of )?(?:the |my )?(?:same )?{_SETTINGS}"
    rf"|(?:exactly |just |all )?(?:the )?same (?:thing )?(?:as|like) (?:{_PRIOR}|(?:i|we) \w+ {_PRIOR})"
    rf"|(?:everything |exactly |just )?(?:as|like) {_PRIOR}"
    rf"|(?:like|as|that) (?:what )?(?:i|we) \w+ {_PRIOR}"
    r"|this time(?: either| too| as well)?|the usual|please|let's|let us|help me|(?:can|could|would|will) you"
    r"|i(?:'d| would) like(?: you)? to|i want(?: you)? to|i(?:'m| am) (?:looking|trying|hoping) to)(?!\w)"
)
_CLAUSE = re.compile(
    r",?\s*\bthe (?:one|time) (?:with|in|at|for|from|to|near|on|by|of|where|when|that|i|we)\b.*"
)
_LOOSE = re.compile(r"(?:\s*,)+(?=\s*(?:[.,;?!]|$))|^[\s,]+")


def _flat(text: str) -> str:
    """A text folded, on one line, with straight apostrophes."""
    return " ".join(fold(text).replace("’", "'").split())


def bare(text: str) -> str:
    """A request without the words that ask for something again and without "the one with ...", folded.

    "Let's book a hotel again like before." gives 'book a hotel'. What says nothing else stays as it is.
    """
    folded = _flat(text)
    left = _AGAIN.sub(" ", _CLAUSE.sub("", folded))
    left = _LOOSE.sub("", " ".join(left.split())).strip(" ,.;!")
    return left if re.search(r"\w", left) else folded


_MONTH_NAME = "|".join(MONTHS)
_DAYS = "|".join(WEEKDAYS)
_SPAN = rf"(?:week|month|year|spring|summer|autumn|fall|winter|weekend|night|{_DAYS}|{_MONTH_NAME})"
_DID = r"(?:i|we) (?:did|had|took|used|got|ordered|booked|rented|reserved)"
_EARLIER = (
    r"(?:last time(?: (?:round|around))?|the time before|before|earlier|usual|always|previously|ever"
    rf"|(?:in|on|for|from|of )?\s?last {_SPAN}|yesterday|in (?:{_MONTH_NAME})"
    r"|(?:the |my |our |that )?(?:last|previous|earlier|latest|most recent|other|former)"
    r" (?:one|time|\w+(?: (?!but\b|except\b|only\b|though\b)\w+)?)"
    r"|(?:i|we) (?:did|do|had|have|made|took|used|got|ordered|booked|rented|reserved)"
    rf"(?: (?:last time|before|earlier|previously|always|usually))?)"
)
_BEFORE = (
    rf"(?:last time|last {_SPAN}|in (?:{_MONTH_NAME})|before|usual|always|yesterday"
    rf"|{_DID}(?: (?:last time|before|earlier))?)"
)
_DETAILS = (
    r"(?:details?|settings?|options?|preferences|choices|parameters|everything|specifications"
    r"|info(?:rmation)?|as before)"
)
_END = r"(?= *(?:$|[,.;!?]|but\b|please\b))"
_POINTERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r",?\s*(?:(?:exactly|just|pretty much|basically|all)\s+)?(?:the |my |our )?same"
            rf"(?: (?:one|thing|{_DETAILS}|way))?,? (?:as|like|from|that) {_EARLIER}\b"
        ),
        rf",?\s*(?:(?:exactly|just|much)\s+)(?:like|as) {_EARLIER}\b",
        rf",?\s*(?<![\w-])(?:like|as|that) {_BEFORE}(?=\W|$)",
        r",?\s*(?<![\w-])(?:like|as) (?:last time|before|usual|always|the last (?:one|time)|previously)\b",
        (
            r",?\s*(?:and )?(?:with|using|on|under) (?:all )?(?:the |my )?(?:very |exact )?"
            rf"(?:same|usual|previous|earlier|last) {_DETAILS}\b"
        ),
        (
            r",?\s*(?:and )?(?:keep|keeping|use|using|with|leave|leaving) (?:all )?(?:of )?(?:the |my )?"
            rf"(?:same |previous |earlier |usual )?{_DETAILS}"
            r"(?: (?:the same|as (?:they are|before|it was)|unchanged))?(?= *(?:$|[,.;!?]|but\b))"
        ),
        rf",\s*(?:the )?same {_DETAILS}(?= *(?:$|[,.;!?]|but\b))",
        (
            r",?\s*the one (?:with|in|at|for|on|from|to|near|by|where|that|of|i|we)\b.*?"
            r"(?=$|[;!?]|, but\b| but\b|\.\s|\.$)"
        ),
        (
            r",?\s*\b(?:again|once more|once again|one more time|another time|anew|over again)(?=\W|$)"
            r"(?! (?:what|when|where|who|how|why))"
        ),
        rf"^(?:the |my )?same(?: (?:thing|one))?{_END}",
        rf"^(?:the |my |our )usual{_END}",
    )
)
_SAME_THING = re.compile(
    r"(?<!\w)(?:(?:the|my|our) (?:very |exact )?same|(?:the|my|our) usual) (?=[a-z])", re.IGNORECASE
)
_HAD = re.compile(
    r"(?<=\w) (?:i|we) (?:had|took|used|got|ordered|booked|rented|reserved)"
    r"(?: (?:last time|before|earlier))?(?=\W*$)",
    re.IGNORECASE,
)


def without_pointers(text: str) -> tuple[str, bool]:
    """A request as it was written, without the words that point back, and whether it surely does.

    'Book the same hotel as last time for three' gives 'Book the hotel for three'. "The one with ..." is taken
    out as well; it may be of this session, and alone it is not sure.
    """
    said, sure = text, False
    for pattern in _POINTERS:
        while match := pattern.search(said):
            sure = sure or not match[0].lstrip(", ").lower().startswith("the one")
            said = f"{said[: match.start()]} {said[match.end() :]}"
    if _SAME_THING.search(said):
        return _HAD.sub("", _SAME_THING.sub("the ", said)), True
    return said, sure


_BOOKED = (
    r"(?:trip|booking|order|reservation|visit|stay|session|flight|hotel|appointment|ride|rental|purchase"
    r"|conversation|chat|table|ticket|car|plan)s?"
)
_THEN = (
    rf"last time|last {_SPAN}|in (?:the past|{_MONTH_NAME})(?: \d{{4}})?|earlier sessions?|yesterday"
    r"|(?:another|an earlier|a previous|(?:my|the) (?:last|previous)) (?:chat|session|thread|conversation)"
    rf"|(?:my|our) (?:last|previous|earlier|latest|most recent) (?:\w+ )?{_BOOKED}|usual(?:ly)?"
)
_MAYBE_THEN = (
    r"did (?:i|we) (?:book|buy|get|have|hire|order|pay|pick|rent|reserve|send|use)|"
    rf"ever|already|before|previous(?:ly)?|(?:last|previous|earlier|latest) (?:\w+ )?{_BOOKED}"
)
_SURELY_PAST = re.compile(rf"\b(?:{_THEN})\b", re.IGNORECASE)
_PAST = re.compile(rf"\b(?:{_THEN}|{_MAYBE_THEN})\b", re.IGNORECASE)


def of_the_past(text: str, *, surely: bool) -> bool:
    """Whether words name an earlier session or its time; surely: so that they cannot mean this one."""
    return bool((_SURELY_PAST if surely else _PAST).search(text))


# ---- what is sought ---------------------------------------------------------------------------------

_LOOK = """
find search look explore discover browse see check list show suggest recommend lookup tell compare view
"""
_DO = """
book reserve buy purchase order rent hire lease play stream watch listen add set create put schedule arrange
make call hail send wire transfer pay share request message join register enrol pencil note write cancel renew
remind
"""
_LOOKS, _DOES = frozenset(_LOOK.split()), frozenset(_DO.split())
_QUESTION = re.compile(r"(?:what|which|where|when|who|whom|how|why|is|are|any|anything|does|do|did)\b|.*\?$")
_LOOKING = re.compile(
    r"\b(?:find|search|looking|look (?:for|up|into|at)|see (?:what|which|if|whether)|suggest|recommend|lookup"
    r"|available|availability|options|information|details|list|dates|times|forecast|weather|balance|prices?)\b"
)
_DOING = re.compile(
    rf"\b(?:{'|'.join(sorted(_DOES))}|get (?:me|us)|i need|we need|reservation|booking|purchase)\b"
)


@lru_cache(maxsize=4096)
def seeks(text: str) -> float:
    """Whether words look for something (1), get something done (-1), or leave it open (0).

    'find a hotel' gives 1, 'where can I sleep?' gives 1, 'reserve a selected hotel for given dates' gives -1.
    """
    folded = bare(text)
    first = folded.split(" ", 1)[0]
    if first in _DOES:
        return -1.0
    if first in _LOOKS or _QUESTION.match(folded):
        return 1.0
    looking, doing = _LOOKING.search(folded), _DOING.search(folded)
    return 0.0 if not looking and not doing else 1.0 if looking else -1.0


# ---- which one is meant -----------------------------------------------------------------------------

_MONTH = {name[:size]: n for n, name in enumerate(MONTHS, 1) for size in (3, len(name))}
_NAMED_MONTH = rf"({'|'.join(sorted(_MONTH, key=len, reverse=True))})"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    (re.compile(rf"\b{_NAMED_MONTH}\.? (?:the )?{_DAY}\b"), (1, 2)),
    (re.compile(rf"\b{_DAY} (?:of )?{_NAMED_MONTH}\b"), (2, 1)),
    (re.compile(r"\b\d{4}-(\d\d)-(\d\d)\b"), (1, 2)),
)
_TIME = re.compile(
    r"\b(\d{1,2})(?::(\d\d))?\s*(?:o'?\"?clock\s*)?(?:in the |at )?"
    r"(a\.?m\b|p\.?m\b|morning|afternoon|evening|night)"
    r"|\b(\d{1,2}):(\d\d)\b"
)
_DULL = frozenset(("number", "name", "is", "has", "of", "type", "slot", "value"))
_FLAGS = frozenset(("true", "false", "yes", "no", "dontcare", "any", "none"))
_NUMBER_SIZE = 4  # a number counts as long as a short word
_PARTIAL = 0.6  # strength of a value's part before the comma, of one in another spelling


@lru_cache(maxsize=4096)
def moments(text: str) -> frozenset[str]:
    """The days of a year and the times of a day that a folded text names: '2 p.m. on march 5th', '14:00'."""
    found = set()
    for pattern, (month, day) in _DATES:
        for match in pattern.finditer(text):
            name = match[month]
            found.add(f"{_MONTH.get(name) or int(name):02}-{int(match[day]):02}")
    for match in _TIME.finditer(text):
        hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
        half = match[3] or ""
        if half and hour <= 12:
            hour = hour % 12 + 12 * (half[0] == "p" or half in ("afternoon", "evening", "night"))
        found.add(f"{hour:02}:{minute:02}")
    return frozenset(found)


def when(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """The time that a request names for an earlier session, from and up to; None where it names none.

    Knows 'yesterday', 'last week', 'last month', 'last year', 'three weeks ago', 'in May' (the last one).
    """
    folded = fold(text)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if re.search(r"\byesterday\b", folded):
        return day - timedelta(days=1), day
    if match := re.search(r"\b(\w+) (day|week|month|year)s? ago\b", folded):
        count, size = _number(match[1]), {"day": 1, "week": 7, "month": 30.44, "year": 365.25}[match[2]]
        if count is not None and count * size < _LIFETIME:
            middle, slack = day - timedelta(days=count * size), timedelta(days=size / 2)
            return middle - slack, middle + slack + timedelta(days=1)
    if match := re.search(r"\blast (week|month|year)\b", folded):
        if match[1] == "week":
            monday = day - timedelta(days=day.weekday())
            return monday - timedelta(days=7), monday
        first = day.replace(day=1) if match[1] == "month" else day.replace(month=1, day=1)
        before = first - timedelta(days=1)
        return before.replace(day=1, month=before.month if match[1] == "month" else 1), first
    if match := re.search(rf"\b(?:in|from|of|last|back in) {_NAMED_MONTH}\b(?! \d)", folded):
        month = _MONTH[match[1]]
        year = now.year - (month > now.month)
        first = day.replace(year=year, month=month, day=1)
        return first, first + timedelta(days=monthrange(year, month)[1])
    return None


_LIFETIME = 100 * 366  # days that a conversation can lie back
_DIGITS = 18  # of a number that means anything; of thousands Python makes none


def _number(word: str) -> int | None:
    if word in ("a", "an"):
        return 1
    if word.isdecimal():
        return int(word) if len(word) <= _DIGITS else None
    return NUMBERS.index(word) if word in NUMBERS else None


@dataclass(frozen=True, slots=True)
class Strength:
    """How well a request names a unit: a value surely, or in words that may mean something else, or its time.

    All 0..1; slots: those whose values are named surely.
    """

    named: float = 0.0
    hinted: float = 0.0
    dated: float = 0.0
    slots: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pointing:
    """What a request points at. request: its bare words; strength: of each unit, by id."""

    request: str
    strength: Mapping[str, Strength] = field(default_factory=dict)


def pointing(text: str, units: Sequence[IntentUnit], now: datetime) -> Pointing:
    """What a request says of which of the units is meant."""
    query = _Query(text)
    found = {unit.id: [each for pair in unit.pairs if (each := query.match(pair))] for unit in units}
    longest = max((match.size for matches in found.values() for match in matches), default=1)
    span = when(text, now)

    def strength(unit: IntentUnit) -> Strength:
        dated = float(span is not None and span[0] <= unit.at < span[1])
        matches = found[unit.id]
        if not matches:  # as of most units
            return Strength(dated=dated)
        best = {
            sure: max((m.weight * m.size / longest for m in matches if m.sure == sure), default=0.0)
            for sure in (True, False)
        }
        slots = tuple(match.slot for match in matches if match.sure)
        return Strength(best[True], best[False], dated, slots)

    return Pointing(bare(text), {unit.id: strength(unit) for unit in units})


@dataclass(frozen=True, slots=True)
class _Match:
    """A value that a request names. size: its characters; weight: 0..1; sure: it cannot but be meant."""

    slot: str
    size: int
    weight: float
    sure: bool


class _Query:
    """A request made ready to be compared with many values, most of which many units have."""

    def __init__(self, text: str) -> None:
        self.folded = f" {' '.join(_AGAIN.sub(' ', _flat(text)).split())} "
        self.moments = moments(self.folded)
        words = (word for word in re.findall(r"\w+", self.folded) if word not in ("a", "an", "one"))
        self.numbers = {n for word in words if (n := _number(word)) is not None}
        self.stems = frozenset(stems(text))
        self.exact = frozenset(exact(text))
        clause = _CLAUSE.search(self.folded)
        self.clause = clause.start() if clause else len(self.folded)
        self._matched: dict[tuple[str, str, tuple[str, ...]], _Match | None] = {}

    def match(self, pair: Pair) -> _Match | None:
        """How the request names the answer of a pair, best of its forms; None where it does not."""
        key = pair.slot, pair.answer, pair.said
        if key not in self._matched:
            forms = _forms(pair.answer, pair.said)
            found = [match for form, head in forms if (match := self._form(pair.slot, form, head))]
            best = max(found, key=lambda match: (match.sure, match.weight * match.size), default=None)
            self._matched[key] = best
        return self._matched[key]

    def _form(self, slot: str, form: str, head: str) -> _Match | None:
        if form.isdecimal():
            mentioned = self._mentioned(slot, form) if _number(form) in self.numbers else 0.0
            return _Match(slot, _NUMBER_SIZE, mentioned, sure=True) if mentioned >= 0.5 else None
        weight, at = 1.0, self._find(form)
        if at < 0 and head and (at := self._find(head)) >= 0:
            weight, form = _PARTIAL, head
        if at < 0:
            if not (self.moments and self.moments & moments(form)):
                return None
            weight, at = _PARTIAL, self.clause
        mentioned = self._mentioned(slot, form)
        sure = at >= self.clause or mentioned == 1 or any(word in self.exact for word in _stems(form))
        return _Match(slot, len(form), weight * (0.6 + 0.4 * mentioned), sure)

    def _find(self, form: str) -> int:
        """Where the request has a form as whole words; -1: nowhere."""
        start = self.folded.find(form)
        while start >= 0:
            around = self.folded[start - 1] + self.folded[start + len(form)]
            if not any(map(str.isalnum, around)):
                return start
            start = self.folded.find(form, start + 1)
        return -1

    def _mentioned(self, slot: str, form: str) -> float:
        """The share of a slot's words that the request has beside the value."""
        name = _slot_stems(slot) - set(_stems(form))
        return len(name & self.stems) / len(name) if name else 0.0


@lru_cache(maxsize=4096)
def _slot_stems(slot: str) -> frozenset[str]:
    words = re.split(r"[_\W]+", fold(slot.rsplit(".", 1)[-1]))
    return frozenset(stems(" ".join(word for word in words if word not in _DULL)))


@lru_cache(maxsize=16384)
def _stems(form: str) -> tuple[str, ...]:
    return tuple(stems(form))


@lru_cache(maxsize=16384)
def _forms(answer: str, said: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The folded forms of an answer that a request could name, each with what it has before a comma."""
    folded = (" ".join(fold(form).split()).strip(" .!?\"'") for form in (answer, *said))
    return tuple(
        (form, head if 2 < len(head := form.split(",")[0]) < len(form) else "")
        for form in folded
        if form not in _FLAGS and form not in STOP and (len(form) > 1 or form.isdecimal())
    )
