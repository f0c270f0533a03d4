"""What a value is of: the name of its slot, by what was asked, its kind and the words beside it."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.language import values
from taskloom.agent.language.typed import hour, kind_of, misfits, names_a_type, type_named, type_of
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.held import slot_titles, slots_saying, stems_in
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Detail
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, word_set, words

from .fitting import OF_KIND, Fitting
from .plain import right_before, words_outside
from .scoring import bare

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
_WANTS, _MUCH = re.compile(r"\b(?:wants?|asks?(?: for)?|is asking(?: for)?)\s+$", re.IGNORECASE), 20
_PRICED = re.compile(
    r"[£$€]\s?\d|\b\d+(?:\.\d\d)? ?(?:p|quid|pounds?|euros?|dollars?|cents?|pence)\b", re.IGNORECASE
)
_ENTRY = re.compile(
    r"\s*[^\W\d][\w' -]{0,40}?:? [£$€]?\d+(?:\.\d\d)? ?(?:p|c|quid|pounds?|euros?|dollars?|cents?|each)?\W*",
    re.IGNORECASE,
)
_SEATED = re.compile(
    r"\b(?:table|room|dinner|lunch|brunch|supper|booking|reservation) for\s+$", re.IGNORECASE
)
_AGED = re.compile(r"\b(?:i['’]?m|i am|s?he['’]?s|s?he is)\s+$", re.IGNORECASE)
_NO_NOUN = word_set(
    """is are was were do does did has have will would should shall can could about else for to of in on it
    they we you i next happens time day date one ones kind sort type thing things"""
)
_NUMBERED = re.compile(r"([a-z]{4,}) (\d+(?:\.\d+)+)|(room|gate|platform|row|seat|table|track|flight) (\d+)")
_CALLED = re.compile(
    r"(hotel|hostel|venue|restaurant|caterer|tutor|teacher|coach|doctor|dentist|plumber|electrician|florist"
    r"|photographer|supplier|airline|contact) ([A-Z].*)"
)
"""What is told with its name: 'hotel Harmony'."""
_OF_VERB = {"starts": "start", "begins": "start", "ends": "end", "leaves": "departure",
            "departs": "departure", "arrives": "arrival", "arrive": "arrival", "land": "arrival",
            "leave": "departure", "costs": "price", "back": "return"}  # fmt: skip
"""The slot that a verb or an adverb tells: 'the party starts at 3', 'back on Sunday'."""
_GOING = re.compile(
    r"\b(?:trip|travel|journey|flight|train|bus|drive|ride|tour|holiday|vacation|weekend|fly|go|going|move|moving)"
    r"(?:\s+\w+)?\s+to\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(
    r"\b(?:chang|switch|swap|turn|upgrad|downgrad)(?:e[sd]?|ing|ed|s|ped|ping)?\b[^.;]*\b(?:in)?to\s+(?:the\s+|my\s+|our\s+)?$",
    re.IGNORECASE,
)  # what is changed to something goes nowhere
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
_LITTLE = STOP | word_set(
    """sorry actually rather wait mean or then which who where when while also plus not no only just now it's
    its's be"""
)
_JOINS = re.compile(
    r"\s*(?:,|;|\band\b|\bor\b|&|,\s*then|\bthen\b)?(?:\s*(?:and|or|then|by|at|in|on|near|with|the|an?))*\s*",
    re.IGNORECASE,
)  # between the parts of one value: 'inside, by the window'
_POINTS = re.compile(r"^(?:that|this|those|these)\s+(?=\S)", re.IGNORECASE)
_OPEN_END = re.compile(r"(?<=\w)\s+(?:of|is|are|was|be)$", re.IGNORECASE)  # 'the term of' the contract
_LED_BY = re.compile(
    r"\b(from|to|with|for|until|till|via|through|after|before|behind|under)\b\s+(?:the\s+)?$", re.IGNORECASE
)
_FROM = re.compile(r"\b(?:from|between)\s+(?:the\s+)?$", re.IGNORECASE)
_TO = re.compile(r"\b(?:by|to|till?|until)\s+(?:the\s+)?$", re.IGNORECASE)
_BESIDE_DAYS = word_set("at on the from in around about")
_WHOSE = re.compile(r"\b(my|our|his|her|their|your)$")
_MAKES_SENSE = word_set("in by on for")


def _plain_value(text: str) -> str:
    """A value without what leads to it; a little word stays where it makes the sense: 'in person'."""
    plain = bare(text) or text.strip()
    lead = text.strip()[: -len(plain)].strip().lower() if text.strip().endswith(plain) else ""
    if (whose := _WHOSE.search(lead)) is not None and kind_of(plain) is None:
        return f"{whose[1]} {plain}"  # 'at my flat'
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
        costs = _COSTING.search(before) or (_WANTS.search(before) and (values.number_of(value) or 0) >= _MUCH)
        if kind == "count" and (asked == "price" or costs or self._told_a_price(value)):
            return "price"
        by = re.search(
            r"\b(?:by|due|before)\s+(?:the\s+)?$",
            before + (re.match(r"(?:by |before )?", value) or [""])[0],
            re.IGNORECASE,
        )
        if kind == "date" and (by or re.match(r"(?:by|before)\s", value, re.IGNORECASE)):
            return "deadline"
        if (_AGED.search(before) and re.fullmatch(r"\d+(?: years old)?", value)) or "years old" in value:
            return "age"
        if kind == "count" and _SEATED.search(before):
            return "people"
        if kind in ("time", "count") and self._is_in_prices(value):
            return "price"
        if kind is not None:
            return OF_KIND.get(kind, kind)
        return slot_by_words(before, value)

    def _is_in_prices(self, value: str) -> bool:
        """Whether a bare number is one of a row of prices: 'brownies 1.50, muffins 2, cookies 50p'."""
        row = re.split(r"[,;]|\band\b", self.said)
        bare_number = re.fullmatch(r"\d+(?:\.\d\d)?", value) is not None
        return bare_number and len(row) > 1 and _PRICED.search(self.said) is not None and all(
            map(_ENTRY.fullmatch, row)
        )  # fmt: skip

    def _told_a_price(self, value: str) -> bool:
        """Whether a bare number goes on with a price: 'the band costs 300 quid and the cake 80'."""
        told = next((step.details for step in reversed(self.steps) if step.details), ())
        return value.isdecimal() and any(one.slot == "price" for one in told)

    def _details(self, clause: Clause, pair: int | None = None) -> list[Detail]:
        """The values of a clause with the names of their slots; pair: only those of one thing."""
        named, things = named_values(clause), clause.all("IT")
        found = list[Detail]()
        last: Mention | None = None
        for number, span in enumerate(clause.all("V")):
            if pair is not None and span.pair != pair:
                continue
            if clause.act != "set" and any(right_before(clause, span, thing) for thing in things):
                continue  # in the title of what it counts
            slot, value = self._named_value(clause, span, named.get(number))
            taken = [one.slot for one in found]
            if number not in named and slot in taken:
                whole = _in_one(clause, last, span) if last is not None and slot == taken[-1] else None
                if whole is not None:
                    found[-1] = Detail(slot=slot, value=whole)
                    continue
                before, text = word_before(clause, span), kind_of(span.text) is None
                slot = slot_name(before) if before else "detail" if text else slot
            for part, told in day_and_hour(value, slot):
                free = part or "detail"
                if free == "time" and free in taken and "return" in taken:
                    free = "return time"  # out on Friday at 6:40, back on Sunday at 21:15
                while free in taken:
                    free = f"{part} {int((re.search(r'[0-9]+$', free) or [1])[0]) + 1}"
                found.append(Detail(slot=free, value=told))
                taken.append(free)
            last = span
        return found

    def _with_unmarked(self, node: TaskNode, clause: Clause) -> Clause:
        """A clause about a task with the slot of its value marked where only the words beside it say that.

        'The title is taken, Stand Your Ground is better' where there is a title; 'the chablis is gone, so
        muscadet' where the wine is chablis.
        """
        told = clause.all("V")
        if len(told) != 1 or clause.all("SOXC") or is_slot(node):
            return clause
        said, value = set(words(words_outside(clause, "TVPIWE"))), told[0].text
        kind = kind_of(value)
        slots = [
            part for part in self.graph.parts(node.id)
            if part.value is not None and is_slot(part) and not is_assignee(part)
            and part.turn != self.view.turn and kind in (kind_held(part), type_of(part.title, ""))
            and not misfits(part.title, part.value, value)
        ]  # fmt: skip
        named = [part for part in slots if _says(said, part.title) and not names_a_type(part.title)]
        led = _LED_BY.search(clause.text[: told[0].start]) or _LED_BY.match(value)
        led = led or re.match(_LED_BY.pattern.removesuffix("$"), value, re.IGNORECASE)
        by_lead = [part for part in slots if led is not None and part.title.lower() == led[1].lower()]
        named = named or by_lead
        former = [part for part in slots if kind_held(part) == kind and _says(said, part.value or "")]
        if len(named) == 1:
            added = Mention("S", named[0].title, start=told[0].start)
        elif len(former) == 1 and not named and (kind is not None or not values.spot(value)):
            added = Mention("O", former[0].value or "", start=told[0].start)
        else:
            return clause
        return replace(clause, mentions=(*clause.mentions, added))

    def _slot_in_question(self, clause: Clause) -> TaskNode | None:
        """The slot whose name or value stands in the open question, which a value alone answers."""
        if self.view.question is None or self.operations or len(clause.mentions) != 1 or not clause.all("V"):
            return None
        asked, value = set(words(self.view.question.question)), clause.all("V")[0].text
        titles = {title for title in self.graph.index(slot_titles) if _says(asked, title)}
        slots = [
            node for title in titles for key in self.graph.index(slot_titles)[title]
            if (node := self.graph[key]).active and node.title == title and not is_assignee(node)
            and not names_a_type(title) and not misfits(title, node.value or "", value)
            and kind_of(value) in (kind_held(node), type_of(title, ""))
        ]  # fmt: skip
        if not slots:
            said = {node.id: node for word in asked - STOP for node in slots_saying(self.graph, word)}
            slots = [
                node for node in said.values()
                if stems_in(node).value <= asked and not is_assignee(node) and not is_member(node)
                and kind_of(value) == kind_held(node) and kind_of(value) is not None
            ]  # fmt: skip
        return slots[0] if len(slots) == 1 else None

    def _named_value(self, clause: Clause, span: Mention, name: str | None) -> tuple[str, str]:
        """The slot of one value, and the value without what is its name; name: as it is marked."""
        value = _plain_value(span.text)
        if name is None and (numbered := _NUMBERED.fullmatch(value)) is not None:
            name, value = numbered[1] or numbered[3], numbered[2] or numbered[4]  # 'version 1.9' is no date
        if name is None and (called := _CALLED.fullmatch(value)) is not None:
            name, value = called[1], called[2]
        counted = _THINGS.fullmatch(value) if name is None and kind_of(value) == "count" else None
        if counted is not None:
            name, value = counted[2], counted[1]  # 'eleven guests'
        if name:
            name = _OF_VERB.get(name.lower(), name)
            return slot_name(_POINTS.sub("", _OPEN_END.sub("", bare(name)))), value
        return self._slot_for(span.text, clause.text[: span.start]), value


# ---- words beside values ------------------------------------------------------------------------------


def _says(said: set[str], name: str) -> bool:
    """Whether words say all of a name that has any of its own."""
    own = set(words(name)) - STOP
    return bool(own) and own <= said


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
    """The words right before a value that are of no mention: 'opens' of 'opens 10:00'; no little words."""
    until = tuple(one for one in clause.mentions if one.start + len(one.text) <= value.start)
    lead = words_outside(Clause(clause.act, clause.text[: value.start], until), "TVOSIPWEXC")
    found = re.search(r"([a-z]+(?: [a-z]+)?) (?:is |at |on |by |from |the )*$", lead, re.IGNORECASE)
    said = bare(found[1]).split() if found is not None else []
    while said and said[0].lower() in _LITTLE:
        del said[0]
    return " ".join(said) if not _LITTLE & {word.lower() for word in said} else ""


def _in_one(clause: Clause, first: Mention, second: Mention) -> str | None:
    """Two values of one slot that are one: both ends of a time, or words that only a comma parts."""
    gap = clause.text[first.start + len(first.text) : second.start]
    kind, other = (kind_of(span.text, clause.text[: span.start]) for span in (first, second))
    if kind is not None or other is not None:
        ranged = _FROM.search(clause.text[: first.start]) and _TO.search(gap)
        same = kind in ("date", "time") and kind == other
        return f"{_plain_value(first.text)} to {_plain_value(second.text)}" if ranged and same else None
    if _JOINS.fullmatch(gap) is None:
        return None
    return _plain_value(clause.text[first.start : second.start + len(second.text)])


_CLOCK_LAST = re.compile(
    r"(?P<day>.+?)(?: at)?(?<! or)(?<! and)(?<! to) (?P<clock>\d{1,2}[:.][0-5]\d(?: ?[ap]m)?|\d{1,2} ?[ap]m"
    r"|[0-2]\d[0-5][05]|(?<=[a-z] )[1-9](?:15|30|45)|\d{1,2}h(?:[0-5]\d)?|half (?:\d{1,2}|[a-z]+)"
    r"|(?<= at )\d{1,2})",
    re.IGNORECASE,
)


def day_and_hour(value: str, slot: str) -> list[tuple[str, str]]:
    """A value with the name of its slot; a day with an hour as both: 'monday 8am'.

    Of what has a name of its own, 'deploy Tue 15:00' beside 'build Tue 11:00', they stay together.
    """
    told = _spotted(value) or _side_by_side(value)
    if told is None or (slot not in ("detail", "place") and type_named(slot) is None):
        return [(slot, value)]
    day, hour_told = told
    if slot == "time" or type_named(slot) == "time":
        return [("date", day), (slot, hour_told)]
    return [(slot if slot not in ("detail", "place") else "date", day), ("time", hour_told)]


def _spotted(value: str) -> tuple[str, str] | None:
    """The day and the hour of a value, wherever they stand in it; None where it is something else too."""
    spans, rest = values.spot(value), value
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    if set(re.findall(r"\w+", rest.lower())) - _BESIDE_DAYS:
        return None
    told = {span.kind: span.text for span in spans}
    return (told["date"], told["time"]) if len(spans) == 2 and told.keys() == {"date", "time"} else None


def _side_by_side(value: str) -> tuple[str, str] | None:
    """A day and right after it a time by the clock: 'wed 9:30', 'Thursday 0800', but '5 May 2026'."""
    found = _CLOCK_LAST.fullmatch(value)
    if found is None or kind_of(day := found["day"].rstrip(",")) != "date":
        return None
    year = re.fullmatch(r"(?:19|20)\d\d", found["clock"]) and re.search(r"\d", day)
    return None if year else (day, found["clock"])


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
    if _CHANGED_TO.search(before):
        return "detail"
    if re.search(r"\b(?:at|in|to|near)\s+(?:the\s+|my\s+|our\s+)?$", before, re.IGNORECASE) or re.match(
        r"(?:at(?! (?:least|most)\b)|in|near)\s", value, re.IGNORECASE
    ):
        return "place"
    return "detail"
