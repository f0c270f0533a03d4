"""By how much a clause changes what it names: the amounts in it, each with its sign, by its words. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.language import values
from taskloom.agent.language.typed import kind_of, parse_measure
from taskloom.agent.turn.clauses import Clause, Mention

from .plain import right_before, words_outside
from .scoring import bare

_LESS = re.compile(
    r"\b(?:earlier|sooner|less|fewer|off|down|cheaper|shorter|minus|forward|ahead|prepone\w*|reduc\w*|cut|knock"
    r"|drop\w*|shave|trim|lower|smaller|diminish\w*|decreas\w*|deduct\w*|subtract\w*"
    r"|advanc\w*|(?:bring|mov)\w* \S+ up(?= )(?! to)|short\w*)\b",
    re.IGNORECASE,
)
MORE = re.compile(r"\b(?:later|more|longer|extra|another|additional)\b", re.IGNORECASE)
MEASURE = re.compile(
    r"\b(?:earlier|later|sooner|more|less|fewer|extra|longer|shorter|another|additional|further|back|forward|by|up"
    r"|down|on top|off|a?head)\b",
    re.IGNORECASE,
)
_TWICE, _HALF = (
    re.compile(r"\b(?:doubl\w+|twice)\b", re.IGNORECASE),
    re.compile(r"\b(?:halv\w+|half (?:of|the|as)|(?:in|by) half)\b", re.IGNORECASE),
)


_TIMES = re.compile(
    r"\b(?:(tripp?l\w+|trebl\w+|three times (?:as|the))|quadrupl\w+|four times (?:as|the))\b", re.IGNORECASE
)
_AS_MUCH = re.compile(r"\b(?:again|once more) as (?:much|many)\b", re.IGNORECASE)
_HALF_MORE = re.compile(
    r"\b(?:the )?half (?:again|as (?:much|many|long|big)(?: [\w ]{1,30}?)? again)\b", re.IGNORECASE
)
_MORE_OF = re.compile(r"\b(?:more|up|higher|raise\w*|increase\w*|add\w*|longer)\b", re.IGNORECASE)
_TAKEN = re.compile(r"\s*(?:\w+\s+)?from\b|\s*before\b", re.IGNORECASE)
_PAUSE = re.compile(r"[,;:.!?()](?=\s)|\s[-–]\s")
_PARTS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_PART = re.compile(rf"(?:(?:in|by)\s+)?(?:an?\s+)?({'|'.join(_PARTS)})", re.IGNORECASE)
_IN_WORDS = re.compile(rf"(?:{'|'.join(values.NUMBER_WORDS)})\b.*\b(?:hundred|thousand)\b", re.IGNORECASE)


def each_amount(clause: Clause) -> list[Clause]:
    """A clause for each thing that changes: 'doors and start half an hour', 'two packs, twice the price'."""
    amounts, things = clause.all("V"), sorted((*clause.all("T"), *clause.all("S")), key=lambda m: m.start)
    rest = tuple(m for m in clause.mentions if m.role not in "VTS")
    if len(amounts) > 1 and len(things) == len(amounts):
        pairs = list(zip(amounts, things, strict=True))
    elif len(amounts) == 1 and len(clause.all("T")) > 1 and not clause.all("S"):
        pairs = [(amounts[0], thing) for thing in things]
    elif len(amounts) > 1 and len(things) < 2 and all(map(_is_amount, amounts)):
        starts = [0, *(amount.start for amount in amounts[1:])]
        texts = [clause.text[:end] for end in (*starts[1:], None)]
        return [
            replace(clause, text=" " * start + text[start:], mentions=(*rest, *things, amount))
            for start, text, amount in zip(starts, texts, amounts, strict=True)
        ]
    else:
        return [clause]
    return [replace(clause, mentions=(*rest, *pair)) for pair in pairs]


def _is_amount(value: Mention) -> bool:
    return values.number_of(value.text) is not None or values.duration_of(value.text) is not None


def change(clause: Clause, value: str) -> tuple[str, str]:
    """The sign and the amount of a change, by the words of its part of the clause."""
    plain = MEASURE.sub("", value).strip()
    in_full = re.sub(r"^(?:an? )?(?=(?:hundred|thousand) and )", "one ", plain, flags=re.IGNORECASE)
    spoken = in_full if _IN_WORDS.match(in_full) else parse_measure(plain) or "1"
    start = next((m.start for m in clause.all("VI")), 0)
    rest = re.sub(r",{2,}", lambda found: "x" * len(found[0]), words_outside(clause, "TSW"))
    before, after = _PAUSE.split(rest[:start])[-1], rest[start + len(value) :]
    near = f"{before}{value} {_PAUSE.split(after)[0]}"
    if _HALF_MORE.search(near):
        return "*", "1.5"
    if _TWICE.search(near) or (_AS_MUCH.search(near)):
        return "*", "2"
    if times := _TIMES.search(near):
        return "*", "3" if times[1] else "4"
    half = _HALF.search(near) and not re.search(r"half an?\b", value)
    if half or _PART.fullmatch(spoken.strip()) is not None:
        part = 0.5 if half else _PARTS[(_PART.fullmatch(spoken.strip()) or [""])[1].lower()]
        return "*", f"{part if half else 1 + part if _MORE_OF.search(near) else 1 - part:g}"
    less = _LESS.search(near) or re.search(r"\bbefore\b", value) or _TAKEN.match(after)
    return ("-" if less and not MORE.search(value) else "+"), _plain(spoken)


def counted_thing(clause: Clause) -> str:
    """The thing that an amount stands right before: 'lesson' of 'one more lesson'; '' for none."""
    value, things = next(iter(clause.all("V")), None), clause.all("TS")
    if value is None or kind_of(value.text) not in (None, "count"):
        return ""
    return next((bare(thing.text) for thing in things if right_before(clause, value, thing)), "")


def _plain(amount: str) -> str:
    """An amount with its number in figures: 'half a kilo' is 0.5 kilo, 'a page' 1 page."""
    if _IN_WORDS.match(amount) and (number := values.number_of(amount)) is not None:
        return values.with_number(amount, number)  # 'three hundred and fifty'
    amount = re.sub(r"^half(?: an?)?\s+", "0.5 ", amount.strip(), flags=re.IGNORECASE)
    amount = re.sub(r"^an?\s+(?=(?:hundred|thousand)\b)", "", amount, flags=re.IGNORECASE)
    amount = re.sub(r"^(?:an?|one)\s+", "1 ", amount, flags=re.IGNORECASE).replace("%", " percent")
    amount = re.sub(r"\bper cent\b", "percent", amount, flags=re.IGNORECASE)
    scaled = re.fullmatch(r"(?:(\S+)\s+)?(hundred|thousand)\b(.*)", amount, re.IGNORECASE)
    if scaled is not None and (number := values.number_of(scaled[1] or "1")) is not None:
        amount = f"{number * (1000 if scaled[2].lower() == 'thousand' else 100):f}{scaled[3]}"
    return amount if values.number_of(amount) is not None else f"1 {amount}"


def multiplies(amount: str) -> bool:
    """Whether an amount is a factor: 'double', 'half', 'three times the'."""
    return any(form.match(amount) for form in (_TWICE, _TIMES, _HALF_MORE, _AS_MUCH)) or bool(
        _PART.fullmatch(amount)
    )
