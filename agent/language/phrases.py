"""Phrases of a clause: lists and their members, details with their slots, noun phrases. Pure text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from taskloom.agent.turn.steps import Detail, Step

from . import patterns as re
from . import values
from .clauses import Clause
from .words import CONTAINERS, DO, MEMBER_NOUNS, REMOVE, content, is_event, singular, slot_group

IT = r"(?:it|that|this|them|those|these|that one|this one|the one|everything)"


NAME = r"[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*)*"


TIMES = r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|half an|a half|\d+)"


UNIT = r"(?:minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?)"


SLOT_OF_KIND = {
    "date": "date",
    "time": "time",
    "amount": "budget",
    "duration": "duration",
    "email": "email",
    "phone": "phone",
    "percent": "share",
    "url": "link",
}


PLACE_PREP = re.compile(
    rf"\s+(?:(?P<prep>from|to|at|in|near|around|by|into)\s+)(?P<value>(?:the\s+|our\s+|my\s+)?{NAME}(?:(?<='s)\s+(?:place|house|flat|apartment|home|office))?(?:\s+(?:of|de|la|the)\s+{NAME})*|\d{{1,5}}\s+{NAME}|downtown|(?:the\s+)?(?:city cent(?:er|re)|old town|airport|beach|station|office))"
    r"(?=$|[\s,.;])"
)


WITH = re.compile(
    rf"[,\s]+(?:with|together with|along with)\s+(?P<value>(?:{NAME}|me|my \w+)(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(?:{NAME}|me|my \w+))*)(?=$|[\s,.;])"
)


TRAVEL = re.compile(
    r"\b(?:fly|flying|flight|flights|travel|trip|drive|driving|train|bus|ride|move|moving|go|going|depart|leave|leaving|head|heading|sail|ferry|journey|tour|route|transfer|shuttle|ticket|tickets|ride)\b",
    re.IGNORECASE,
)


_LEAD = 24  # characters: longer than any word that leads a value


def _end_of(text: str) -> tuple[str, int]:
    """The end of a text with all that can lead a value, and how much of it comes before: searched is only this."""
    start = max(0, len(text.rstrip()) - _LEAD)
    while start and (text[start - 1].isspace() or text[start - 1] == ","):
        start -= 1
    start = max(0, start - 1)
    return text[start:], start


def details_of(core: str) -> tuple[str, tuple[Detail, ...], tuple[Detail, ...]]:
    """A phrase without its details, the details, and the people it names.

    'Schedule a meeting on Thursday at 2 PM with Ana and Bob' gives 'Schedule a meeting', date and time,
    and two participants.
    """
    details: list[Detail] = []
    items: list[Detail] = []
    found: re.Match[str] | None
    text = core
    for found in reversed(
        list(
            re.finditer(
                r"[,;]\s*(?:and\s+)?(?:the\s+|our\s+|my\s+)?(?P<slot>[A-Za-z][\w]*(?: [a-z]+)?)(?::| is)\s+(?P<value>[^,;:]+?)(?=$|[,;])",
                text,
            )
        )
    ):
        if found["slot"].lower() not in DO and not re.match(
            r"(?:it|that|he|she|there|which|who)$", found["slot"], re.IGNORECASE
        ):
            details.append(
                Detail(slot=slot_name(found["slot"]), value=re.sub(r"^and\s+", "", found["value"]))
            )
            text = text[: found.start()] + text[found.end() :]
    if not WITH.search(text) and (
        found := re.search(
            r"\s+with\s+(?P<value>[a-z]+(?:, [a-z]+)*,? and [a-z]+)(?=$|[,.;]|\s+(?:on|at|in|from|for)\b)",
            text,
        )
    ):
        members = list_words(found["value"])
        if all(len(word.split()) == 1 and word not in DO for word in members):
            text = text[: found.start()] + " " + text[found.end() :]
            items += [
                Detail(
                    slot=member_slot(
                        core,
                        person=any(
                            re.search(rf"\b{noun}\b", core.lower())
                            for nouns in MEMBER_NOUNS.values()
                            for noun in nouns.split()
                        ),
                    ),
                    value=word,
                )
                for word in members
            ]
    while found := WITH.search(text):
        people = list_words(found["value"])
        text = text[: found.start()] + " " + text[found.end() :]
        slot = member_slot(core, person=True)
        items += [Detail(slot=slot, value=person) for person in people]
    for span in reversed(values.spot(text)):
        before, skipped = _end_of(text[: span.start])
        lead = re.search(
            r"[,\s]*\b(on|at|by|before|from|for|in|until|till|around|about|of|to|under|within|starting|due|over|after|between|is|as|up to|no later than|the|this)\s+$",
            before,
            re.IGNORECASE,
        )
        slot = SLOT_OF_KIND.get(span.kind, "")
        value = span.text
        if span.kind == "count":
            number, _, noun = span.text.rpartition(" ")
            if not (lead and lead[1].lower() in ("for", "of", "to", "with", "up to", "about")):
                continue
            slot, value = noun.lower(), number.lower().removeprefix("a ") if number else value
            if slot in ("people", "person", "persons"):
                slot = "party_size"
        if (
            span.kind == "date"
            and lead
            and lead[1].lower() in ("by", "due", "before", "until", "no later than")
        ):
            slot = "deadline"
        if (
            span.kind == "time"
            and lead
            and lead[1].lower() in ("by", "before")
            and not before.rstrip().lower().endswith("free before")
        ):
            slot = "deadline" if not any(d.slot == "deadline" for d in details) else "time"
        if span.kind in ("email", "phone", "url", "percent") or (
            span.kind == "duration" and not lead and span.start > 0 and re.search(r"(?:a|an|the)\s+$", before)
        ):
            continue
        if span.kind == "duration" and not (lead and lead[1].lower() in ("for", "of")) and span.start > 0:
            continue
        if any(detail.slot == slot for detail in details):
            continue
        start = skipped + lead.start() if lead else span.start
        text = text[:start].rstrip(" ,") + " " + text[span.end :].lstrip()
        details.append(Detail(slot=slot, value=value))
    if found := re.search(
        r"[,\s]+(?:at|in|from)\s+(?:the\s+)?(?P<slot>gate|room|hall|platform|terminal|table|suite|building|studio|lab|booth|seat|court|field|theater|theatre|auditorium)\s+(?P<value>[A-Z0-9][\w-]*)",
        text,
        re.IGNORECASE,
    ):
        if found["value"][:1].isupper() or found["value"][:1].isdigit():
            text = text[: found.start()] + " " + text[found.end() :]
            details.append(Detail(slot=found["slot"].lower(), value=found["value"]))
    if found := re.search(
        r"\s+(?:for|as|to)\s+(?:the\s+|a\s+)?(?P<slot>position|role|job|post|part) of (?:an?\s+|the\s+)?(?P<value>[\w -]+)$",
        text,
        re.IGNORECASE,
    ):
        text = text[: found.start()]
        details.append(Detail(slot=found["slot"].lower(), value=found["value"]))
    if found := re.search(
        rf"\s+on\s+(?P<value>{NAME}\s(?:Road|Street|Avenue|Lane|Drive|Square|Boulevard|Way|Place|Bridge|Hill|Row|Court))\b",
        text,
    ):
        text = text[: found.start()] + " " + text[found.end() :]
        details.append(Detail(slot="place", value=found["value"]))
    travel = bool(TRAVEL.search(core))
    for _ in range(4):
        found = next((match for match in PLACE_PREP.finditer(" " + text) if match.start() > 0), None)
        if found is None:
            break
        prep = found["prep"].lower()
        slot = {"from": "start", "to": "destination", "into": "destination"}.get(prep, "place")
        if prep == "in" and travel and not any(d.slot == "destination" for d in details):
            slot = "destination"
        elif prep == "in" and found["value"][:1].isupper():
            slot = "location"
        if prep in ("from", "to") and not travel:
            break
        if prep == "by":
            break
        if any(detail.slot == slot for detail in details):
            break
        value = found["value"]
        if prep in ("near", "around"):
            value = f"{prep} {value}"
        if prep == "in" and re.match(MONTHS, value):
            break
        padded = " " + text
        text = (padded[: found.start()].rstrip(" ,") + " " + padded[found.end() :].lstrip(" ")).strip()
        details.append(Detail(slot=slot, value=value))
    if found := re.search(
        rf"\bfor\s+((?:{'|'.join(values.NUMBER_WORDS)}|\d+))$", text.strip(), re.IGNORECASE
    ):
        text = text.strip()[: found.start()]
        details.append(Detail(slot="party_size", value=found[1]))
    text = re.sub(r"\s+(?:on|at|by|from|for|in|with|to|and)\s*$", "", " ".join(text.split()).strip(" ,;-"))
    text = re.sub(r"\s+,", ",", text)
    order = {detail.value: core.find(detail.value) for detail in details}
    return text.strip(" ,"), tuple(sorted(details, key=lambda d: order[d.value])), tuple(items)


MONTHS = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"


def member_slot(words: str, *, person: bool = False) -> str:
    """What to call the members of a container: participant of a meeting, guest of a party, else item."""
    lowered = words.lower()
    for slot, nouns in MEMBER_NOUNS.items():
        if any(re.search(rf"\b{noun}s?\b", lowered) for noun in nouns.split()) and person:
            return slot
    for noun in (
        "guest",
        "participant",
        "topic",
        "step",
        "ingredient",
        "player",
        "speaker",
        "stop",
        "channel",
        "teacher",
        "passenger",
        "feature",
        "attendee",
        "bug",
        "song",
    ):
        if re.search(rf"\b{noun}s?\b", lowered):
            return noun
    return "participant" if person else "item"


def list_words(text: str) -> list[str]:
    """The members of a list in words: 'two iPhone cases (black and clear) and a charger' gives three."""
    text = re.sub(
        r"^(?:both|either|all of|namely|e\.g\.|like|such as)\s+",
        "",
        text.strip(" .!,:;"),
        flags=re.IGNORECASE,
    )
    text = re.sub(
        r"\b(?:as well as|along with|together with|plus|in addition to|and also|and then)\b", ",", text
    )
    found: list[str] = []
    for piece in top_level(text):
        piece = re.sub(
            r"^(?:and|or|also|then|oh|an?|the|some|my|our|any|a few|a bit of|a couple of)\s+",
            "",
            piece.strip(" ,;.!"),
            flags=re.IGNORECASE,
        ).strip()
        piece = re.sub(r"^(?:an?|the|some|my|our)\s+", "", piece, flags=re.IGNORECASE)
        piece = re.sub(r"\s+(?:too|as well|also|please|on it|instead)$", "", piece, flags=re.IGNORECASE)
        if not piece:
            continue
        found += expanded(piece)
    return found


def expanded(piece: str) -> list[str]:
    """'two iPhone cases (black and clear)' and 'three T-shirts: one white, one grey' as single items."""
    match = re.fullmatch(r"(?:(?P<n>\w+)\s+)?(?P<noun>[\w' -]+?)\s*\((?P<kinds>[^)]+)\)", piece)
    if not match:
        return [piece]
    kinds = [
        re.sub(r"^(?:one|a|an|the)\s+", "", kind.strip())
        for kind in re.split(r",|\band\b|&|/|\bor\b|;", match["kinds"])
        if kind.strip()
    ]
    count = (
        values.number_of(match["n"])
        if match["n"] and (match["n"].lower() in values.NUMBER_WORDS or match["n"].isdigit())
        else None
    )
    if len(kinds) < 2 and count is None:
        return [piece]
    noun = match["noun"] if count is not None else f"{match['n'] or ''} {match['noun']}".strip()
    if count is not None and len(kinds) == 1:
        return [f"{match['n']} {noun} ({kinds[0]})"]
    if all(kind[:1].isupper() for kind in kinds):  # names: 'two references (Dr. Hale and Ms. Okoro)'
        return [f"{singular(noun)} {kind}" for kind in kinds]
    return [
        f"{kind} {singular(noun)}" if len(kind.split()) < 3 else f"{singular(noun)} ({kind})"
        for kind in kinds
    ]


def top_level(text: str) -> list[str]:
    """Cut at commas, semicolons, line breaks and 'and' outside parentheses."""
    pieces, depth, start = [], 0, 0
    for match in re.finditer(
        r"[()]|,\s*(?:and\s+|or\s+|&\s+)?|;\s*(?:and\s+)?|\s+and\s+|\s*&\s+|\n|\s+\+\s+", text
    ):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
        elif depth <= 0 and not re.match(r",\d", text[match.start() : match.start() + 2]):
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def common_stems(options: Iterable[str]) -> frozenset[str]:
    """The stems that all options share, and that so tell none of them apart."""
    sets = [content(option) for option in options]
    return frozenset.intersection(*sets) if sets else frozenset()


def value_only(word: str) -> tuple[Detail, ...]:
    """The details of a phrase that is nothing but details: 'Sunday 3pm at our place', 'for 12 people'."""
    if not (values.spot(word) or re.match(r"(?:at|on|in|for|near|from|by)\s", word)):
        return ()
    bare, details, items = details_of("x " + word)
    if place := re.fullmatch(
        r"x,? (?:at|in) (our place|my place|home|the office|the park|our house|my house|the beach)", bare
    ):
        bare, details = "x", (*details, Detail(slot="place", value=place[1]))
    return details if bare.strip() in ("x", "") and not items else ()


def slot_value(word: str) -> Detail | None:
    """'date 2 August', 'camera: Vik', 'advisor is Prof. Adler', 'budget 450,000' as a slot with its value."""
    found = re.fullmatch(r"(?P<slot>[A-Za-z][\w ]{1,24}?)(?::| is| are| =) (?P<value>\S.*)", word)
    if found and not re.match(r"(?:it|that|this|there|he|she|who|what)$", found["slot"], re.IGNORECASE):
        return Detail(slot=slot_name(found["slot"]), value=found["value"])
    found = re.fullmatch(r"(?P<slot>[A-Za-z]+) (?P<value>\S.*)", word)
    if (
        found
        and slot_group(found["slot"]) in ("date", "deadline", "time", "budget", "place")
        and found["slot"].lower()
        not in ("at", "where", "when", "room", "spot", "day", "hour", "slot", "rent", "fee", "cost")
    ):
        kind = values.kind_of(found["value"])
        if kind or found["value"][:1].isupper() or found["value"][:1].isdigit():
            return Detail(slot=slot_name(found["slot"]), value=found["value"])
    return None


def slot_name(words: str) -> str:
    """A short slot name from the user's words: 'departure date' gives 'departure_date'."""
    words = re.sub(r"^(?:the|my|our|your|a|an|new|current)\s+", "", words.strip().lower())
    return re.sub(r"[^\w]+", "_", re.sub(r"'s?\b", "", words)).strip("_")[:40] or "item"


def is_container(words: str) -> bool:
    """Whether words name something that holds members: a cart, a list."""
    tokens = words.lower().split()
    return bool(tokens) and (tokens[-1] in CONTAINERS or tokens[-1].endswith("list"))


def is_todo(words: str) -> bool:
    """Whether words head a list of things to do."""
    return (
        re.search(
            r"\b(?:to[- ]?dos?|tasks?|steps|errands|chores|pack|buy|get|order|to do|shopping|bring|backlog)\b",
            words.lower(),
        )
        is not None
    )


def is_person_list(words: str) -> bool:
    """Whether words head a list of people."""
    return (
        re.search(
            r"\b(?:guests?|participants?|attendees|invitees|speakers|players|members|teachers|panel|people|team|volunteers)\b",
            words.lower(),
        )
        is not None
    )


def names_event(words: str) -> bool:
    """Whether words name something that is planned as a whole."""
    return is_event(words)


def matcher(core: str) -> Callable[[str], re.Match[str] | None]:
    """Matching of patterns against the whole of a clause, in any case."""
    return lambda pattern: re.fullmatch(pattern, core, re.IGNORECASE)


def has_verb(text: str) -> bool:
    """Whether a phrase begins with a verb that starts or removes something."""
    first = re.match(r"[\w-]+", text.lower())
    return first is not None and (first[0] in DO or bool(re.match(rf"(?:{REMOVE})\b", text, re.IGNORECASE)))


def step_of(clause: Clause, act: str, **fields: object) -> list[Step]:
    """One step of a clause, its noun phrases without articles."""
    """One step of a clause, its noun phrases without articles."""
    fields.setdefault("intent", "update")
    for name in ("target", "within", "value", "old"):
        if act == "shift" and name == "value":
            continue
        if name == "value" and re.match(r"A\s", str(fields.get(name) or "")):  # blood type A positive
            continue
        if isinstance(fields.get(name), str):
            fields[name] = noun_phrase_of(str(fields[name]))
    return [Step(text=clause.text, act=act, **fields)]  # type: ignore[arg-type]


def noun_phrase_of(words: str) -> str:
    """A noun phrase without article and trailing politeness; pronouns give ''."""
    words = words.strip(" .,;:!?-")
    words = re.sub(r"(?:,?\s+(?:please|pls|instead|too|as well|also|then|again|now|after all|anymore|any more|any longer|at all|altogether|completely|entirely|for now|"
                   r"for the time being|until further notice|though|either|already|back|if possible|right away|thanks|actually|yet|itself|for good|from now on))+$", "", words, flags=re.IGNORECASE)  # fmt: skip
    words = re.sub(
        r"^(?:the whole|the entire|all of the|all the|all my|both the|the|a|an|my|our|your|his|her|their|its|some|any|that|this|those|these)\s+(?=\S)",
        "",
        words,
        flags=re.IGNORECASE,
    )
    return "" if re.fullmatch(IT, words, re.IGNORECASE) else words


def done_phrase(text: str) -> str:
    """A clause as the name of a task: 'the walls are plastered' gives 'walls plastered'."""
    text = re.sub(
        r"^(?:we|i|you)\s+(?:can\s+|have to\s+|need to\s+|must\s+|should\s+|will\s+|could\s+)?(?:start\s+|begin\s+)?",
        "",
        text.strip(" .,;"),
        flags=re.IGNORECASE,
    )
    text = re.sub(
        r"\s+(?:is|are|has been|have been|has|have|gets?)\s+(?:all\s+)?(?:done|finished|in|complete|completed|ready|over|approved|there|in place)?\s*(?:first)?$",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\s+(?:first|beforehand)$", "", text, flags=re.IGNORECASE)
    return noun_phrase_of(text)


def typed_details(value: str) -> tuple[Detail, ...]:
    """The typed values of a text as details; 'room 217' too."""
    if numbered := re.fullmatch(
        r"(?:in |at |to )?(room|gate|hall|table|seat|platform|suite|floor|apartment|unit|court|track|page|chapter|lane|pier|level) ([A-Z]?\d\w*)",
        value.strip(),
        re.IGNORECASE,
    ):
        return (
            Detail(
                slot=numbered[1].lower(), value=numbered[2] if numbered[1][0].islower() else value.strip()
            ),
        )
    return tuple(
        Detail(slot=SLOT_OF_KIND.get(span.kind, span.kind), value=span.text)
        for span in values.spot(" at " + value if re.fullmatch(r"\d{1,2}(?::\d\d)?", value) else value)
    )


def covers(spans: tuple[values.Span, ...], text: str) -> bool:
    """Whether the typed values make up the text but for prepositions."""
    rest = text
    for span in reversed(spans):
        rest = rest[: span.start] + rest[span.end :]
    return not re.sub(
        r"\b(?:on|at|from|to|by|for|in|and|the|around|about|until|sharp|a|an|of|this|next|then|per|person|max|total)\b|[\s,.;-]",
        "",
        rest,
        flags=re.IGNORECASE,
    )


def list_like(text: str) -> bool:
    """Whether words list more than one thing."""
    return len(list_words(text)) > 1


def are_people(text: str) -> bool:
    """Whether every member of a list looks like a name."""
    words = list_words(text)
    return bool(words) and all(re.fullmatch(rf"{NAME}|my \w+(?: \w+)?", word) for word in words)


def list_only(piece: str) -> bool:
    """Whether a piece is a single word, and so a member and no clause."""
    return not re.match(r"\w+\s+\w", piece)
