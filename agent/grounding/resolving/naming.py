"""What a value is of: the name of its slot, by what was asked, its kind and the words beside it."""

from __future__ import annotations

import re

from taskloom.agent.language import values
from taskloom.agent.language.typed import hour, kind_of, type_named
from taskloom.agent.language.wording import word_set
from taskloom.agent.language.words import slot_name
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Detail

from .fitting import OF_KIND, Fitting
from .plain import right_before, words_outside
from .resolver import bare

ASKED_FOR = (
    (re.compile(r"\bwho\b", re.IGNORECASE), "who"),
    (re.compile(r"\b(?:by when|deadline|until when|due)\b", re.IGNORECASE), "deadline"),
    (re.compile(r"\b(?:what time|which hour|at what)\b", re.IGNORECASE), "time"),
    (re.compile(r"\b(?:when|(?:which|what) (?:day|date)|date)\b", re.IGNORECASE), "date"),
    (re.compile(r"\bwhere\b", re.IGNORECASE), "place"),
    (
        re.compile(
            r"\bhow many (?:people|persons|guests|of you|(?:are|will) (?:you|we|they|coming))\b",
            re.IGNORECASE,
        ),
        "people",
    ),
    (re.compile(r"\bhow many\b", re.IGNORECASE), "number"),
    (re.compile(r"\bhow long\b", re.IGNORECASE), "duration"),
    (re.compile(r"\b(?:how much|cost|price)\b", re.IGNORECASE), "price"),
)
_ASKED_NOUN = re.compile(
    r"\b(?:which|what)(?:'s|\s+is)?\s+(?:the |your |its |his |her )?([a-z]+)\b", re.IGNORECASE
)
_THINGS = re.compile(
    rf"(\d[\d.,]*|{'|'.join(values.NUMBER_WORDS)})"
    rf"\s+(?!(?:pair|thousand|grand|more|of|an?|per|each|{'|'.join(values.NUMBER_WORDS)})s?\b)"
    r"([a-z]+(?: [a-z]+)?)",
    re.IGNORECASE,
)
_COSTING = re.compile(
    r"\b(?:cost(?:s|ing)?|worth|charg(?:es?|ed|ing)|pay(?:s|ing)?|paid|priced(?: at)?|quoted?)\b[^.;]*$",
    re.IGNORECASE,
)
_AGED = re.compile(r"\b(?:i['’]?m|i am|s?he['’]?s|s?he is)\s+$", re.IGNORECASE)
_NO_NOUN = word_set(
    """is are was were do does did has have will would should shall can could about else for to of in on it
    they we you i next happens time day date one ones kind sort type thing things"""
)
_NUMBERED = re.compile(r"([a-z]{4,}) (\d+(?:\.\d+)+)|(room|gate|platform|row|seat|table|track|flight) (\d+)")
_GOING = re.compile(
    r"\b(?:trip|travel|journey|flight|train|bus|drive|ride|tour|holiday|vacation|weekend|fly|go|going|move|moving)"
    r"(?:\s+\w+)?\s+to\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_BY_VERB = tuple(
    (re.compile(rf"\b(?:{verb})\s+(?:the\s+)?$", re.IGNORECASE), slot)
    for verb, slot in (
        (r"stay(?:ing|s)? (?:at|in)|check(?:ing)? in(?:to| at)", "hotel"),
        (r"liv(?:e|es|ing) (?:at|on)", "address"),
        (r"work(?:s|ing)? (?:at|for)", "employer"),
        (r"(?:leav|depart|start|fly|travel)(?:e|es|s|ing)? from", "start"),
    )
)
"""What a value without a name is of, by the verb before it."""
_COLOURS = word_set(
    """red blue green yellow white black grey gray pink purple orange brown beige cream magnolia navy
    turquoise teal gold silver ivory lilac lavender crimson burgundy maroon mint charcoal"""
)
_SHADES = word_set(
    "light dark pale deep bright off warm cool soft dusty sky sage olive forest royal baby ish or and"
)
_BESIDE_DAYS = word_set("at on the from in around about")
_MAKES_SENSE = word_set("in by on for")


def _plain_value(text: str) -> str:
    """A value without what leads to it; a little word stays where it makes the sense: 'in person'."""
    plain = bare(text) or text.strip()
    lead = text.strip()[: -len(plain)].strip().lower() if text.strip().endswith(plain) else ""
    kept = lead in _MAKES_SENSE and plain.isalpha() and plain.islower() and kind_of(plain) is None
    return text.strip() if kept else plain


class Naming(Fitting):
    """Values of clauses with the names of their slots."""

    def _asked_slot(self) -> str | None:
        """The slot that the open question asks for."""
        if self.view.question is None or self.operations:
            return None
        text = self.view.question.question
        asked = next((slot for form, slot in ASKED_FOR if form.search(text)), None)
        noun = _ASKED_NOUN.search(text)
        if asked is None and noun is not None and noun[1].lower() not in _NO_NOUN:
            return noun[1].lower()
        return asked

    def _slot_for(self, value: str, before: str) -> str:
        """What a value without a name is of: what was asked, its kind, the preposition before it."""
        kind, asked = kind_of(value, before), self._asked_slot()
        if asked == "time" and hour(value):
            return "time"
        if asked and (
            kind is None
            or asked in (kind, OF_KIND.get(kind))
            or (kind, asked) in (("date", "deadline"), ("count", "people"))
        ):
            return asked
        if kind == "count" and (asked == "price" or _COSTING.search(before) or self._told_a_price(value)):
            return "price"
        by = re.search(
            r"\b(?:by|due|before)\s+(?:the\s+)?$",
            before + (value[:3] if value[:3] == "by " else ""),
            re.IGNORECASE,
        )
        if kind == "date" and (by or re.match(r"by\s", value, re.IGNORECASE)):
            return "deadline"
        if (_AGED.search(before) and re.fullmatch(r"\d+(?: years old)?", value)) or "years old" in value:
            return "age"
        if kind is not None:
            return OF_KIND.get(kind, kind)
        return slot_by_words(before, value)

    def _told_a_price(self, value: str) -> bool:
        """Whether a bare number goes on with a price: 'the band costs 300 and the cake 80'."""
        told = next((step.details for step in reversed(self.steps) if step.details), ())
        return value.isdecimal() and any(one.slot == "price" and one.value.isdecimal() for one in told)

    def _details(self, clause: Clause, pair: int | None = None) -> list[Detail]:
        """The values of a clause with the names of their slots; pair: only those of one thing."""
        named = named_values(clause)
        things = clause.all("IT")
        found: list[Detail] = []
        for number, span in enumerate(clause.all("V")):
            if pair is not None and span.pair != pair:
                continue
            if clause.act != "set" and any(right_before(clause, span, thing) for thing in things):
                continue  # in the title of what it counts
            value = _plain_value(span.text)
            name = named.get(number)
            if name is None and (numbered := _NUMBERED.fullmatch(value)) is not None:
                name, value = (
                    numbered[1] or numbered[3],
                    numbered[2] or numbered[4],
                )  # 'version 1.9' is no date
            counted = _THINGS.fullmatch(value) if name is None and kind_of(value) == "count" else None
            if counted is not None:
                name, value = counted[2], counted[1]  # 'eleven guests'
            slot = slot_name(bare(name)) if name else self._slot_for(span.text, clause.text[: span.start])
            if name is None and slot in {one.slot for one in found}:
                slot = slot_name(word_before(clause, span)) or slot
            for part, told in day_and_hour(value, slot):
                taken, free = [one.slot for one in found], part or "detail"
                while free in taken:
                    free = f"{part} {int((re.search(r'[0-9]+$', free) or [1])[0]) + 1}"
                found.append(Detail(slot=free, value=told))
        return found


# ---- words beside values ------------------------------------------------------------------------------


def named_values(clause: Clause) -> dict[int, str]:
    """The names of slots by the number of the value that each is said of: the same pair, else the nearest."""
    values, names = clause.all("V"), clause.all("S")
    found = {
        number: name.text
        for number, value in enumerate(values)
        for name in names
        if name.pair and name.pair == value.pair
    }
    near = sorted(
        (abs(value.start - name.start) + (8 if value.start < name.start else 0), number, place)
        for place, name in enumerate(names) if not name.pair
        for number, value in enumerate(values) if number not in found
    )  # fmt: skip
    used = set[int]()
    for _, number, place in near:
        if number not in found and place not in used:
            found[number] = names[place].text
            used.add(place)
    return found


def word_before(clause: Clause, value: Mention) -> str:
    """The words right before a value that are of no other mention: 'opens' of 'opens 10:00'."""
    until = tuple(one for one in clause.mentions if one.start + len(one.text) <= value.start)
    lead = words_outside(Clause(clause.act, clause.text[: value.start], until), "TVOSIPWEXC")
    found = re.search(r"([a-z]+(?: [a-z]+)?) (?:is |at |on |by |from |the )*$", lead, re.IGNORECASE)
    return bare(found[1]) if found is not None else ""


def day_and_hour(value: str, slot: str) -> list[tuple[str, str]]:
    """A value with the name of its slot; a day with an hour as both: 'monday 8am'."""
    spans = values.spot(value)
    kinds = [span.kind for span in spans]
    rest = value
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    if sorted(kinds) != ["date", "time"] or set(re.findall(r"\w+", rest.lower())) - _BESIDE_DAYS:
        return [(slot, value)]
    day, hour_told = (next(span.text for span in spans if span.kind == kind) for kind in ("date", "time"))
    if slot == "time" or type_named(slot) == "time":
        return [("date", day), (slot, hour_told)]
    return [(slot if slot not in ("detail", "place") else "date", day), ("time", hour_told)]


def slot_by_words(before: str, value: str) -> str:
    """What a value of no kind is of, by the words that lead to it: 'staying at', 'trip to', 'with'."""
    if _GOING.search(before) and re.match(r"[A-Z]", value):
        return "destination"
    if (
        set(re.findall(r"[a-z]+", value.lower())) - _SHADES <= _COLOURS
        and set(value.lower().split()) & _COLOURS
    ):
        return "colour"
    if verb := next((slot for form, slot in _BY_VERB if form.search(before)), None):
        return verb
    if re.search(r"\bwith\s+$", before) and re.fullmatch(r"[A-Z][\w'’-]+", value):
        return "participant"
    if re.search(r"\bin\s+$", before, re.IGNORECASE) and re.fullmatch(r"[A-Z][\w'’-]+", value):
        return "location"  # a town, as it is called where a request is taken apart
    if re.search(r"\b(?:at|in|to|near)\s+(?:the\s+|my\s+|our\s+)?$", before, re.IGNORECASE) or re.match(
        r"(?:at|in|near)\s", value, re.IGNORECASE
    ):
        return "place"
    return "detail"
