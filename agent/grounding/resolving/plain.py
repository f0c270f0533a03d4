"""Clauses made plainer before they are carried out: mentions, quantities, names of slots. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from taskloom.agent.language import values as numbers
from taskloom.agent.language.referring import DEEDS
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.words import singular
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Detail
from taskloom.memory.words import word_set

from .scoring import POINTING, bare, content

_EMPTY = word_set(
    """the a an in on at to of for and by with from or no not is are was it's its up everywhere about around
    roughly near"""
)
_BEFORE = word_set("before until till after")  # 'before' 'sunday'
_IS_DONE = re.compile(
    r"(.+?)(?: (?:is|are|was|were|has been|have been)|['’]s)(?: (?:now|all|also))?"
    rf"(?: (?:{'|'.join(sorted(DEEDS))}))?",
    re.IGNORECASE,
)
_IS = re.compile(r"(.+?) (?:is|are|was|were|has|have)", re.IGNORECASE)  # 'until the permit is in'
_NOT = re.compile(r",\s*not\s+(?:(?:on|at|in|for)\s+)?(?:the\s+)?$", re.IGNORECASE)
_RANGE = re.compile(r"(?:\bto|\buntil|\btill|\btil|-|–)\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:to|until|till|til|-|–)?\s*", re.IGNORECASE)

_WHO = re.compile(
    r"\bwho(?:m|['’]s|\s+is|\s+will|\s+should|\s+does|\s+can)?\s+\w+(?:\s+(?:after|into|up|in|out|on|of|for|to|off))?"
    r"\s+(?:the|your|her|his|their)\s+((?:\w+\s?){1,3})\?\s*$",
    re.IGNORECASE,
)
_EARLIER = re.compile(r"\b(?:last|previous|earlier|yesterday|undo|before that|first)\b", re.IGNORECASE)
_OF_THE_ACT = re.compile(r"(?:cancel|remov|delet|chang|undo)\w*", re.IGNORECASE)  # 'cancel the cancelling'
_LEFT = re.compile(  # 'cancel the fans. no, leave them', 'fans stay'
    r"(?:(?:no|nah|wait|actually|sorry|oh|hang on|hold on)\b[\s,.!-]*)*(?:(?:please )?(?:leave|keep) "
    r"(?:it|them|that|those|these)(?: (?:in|on|be|alone|there|as (?:it is|they are)))?"
    r"|(?P<name>(?:the |my |our )?[\w' -]+?) (?:can |should )?stays?(?: (?:in|on))?)[.!]*",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\b(?:doing|having|throwing|holding|hosting|planning|organi[sz]ing|arranging)\s+(?:an?\s+|the\s+|some\s+)?(?=\S)",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"(?:the |my |our )?(original|first|old|previous|former|initial|earlier)\s+([a-z]+(?: [a-z]+)?)",
    re.IGNORECASE,
)
_DOZEN = re.compile(r"(?:an?|\w+|half an?) (?:dozen|couple|pair|hundred)s?", re.IGNORECASE)
_UNCHANGED = re.compile(r"(?:at |on )?(?:the )?same (?:time|date|day|place|hour|room|price)", re.IGNORECASE)
_SAME_AS = re.compile(r"\bsame (?:\w+ )?\w+$", re.IGNORECASE)
_CALLED = re.compile(
    r"(?:(?:new|another)\s+)?(?:project|task|plan|list|event)\s+(?:called|named)\s+(\S.*)", re.IGNORECASE
)
_FOR_THEM = re.compile(r"(?<=\S)\s+(?:for|with)\s+(?:me|you|her|him|it|us|them)$", re.IGNORECASE)
_DETERMINER = word_set("my our your his her their its the this that these those")
_GOES_ON = re.compile(r"(?:\s+[A-Z][\w'’-]*)+")
_NEXT_WORDS = re.compile(r"(?:\s+(?!(?:is|are|was|were|be|to|as|for|of|on|at|in)\b)[a-z-]+){1,2}")
_RATHER = re.compile(r"\s+(?:over|instead of|rather than|in place of)\s+(?:the\s+|an?\s+)?", re.IGNORECASE)

_KINDS = re.compile(
    r"\b(?:two|three|four|five|six|\d)\s+(?:[\w'’-]+\s+){1,4}?\((?=[^()]*(?:\band\b|&|,))[^()]+\)",
    re.IGNORECASE,
)

_OF_KINDS = re.compile(r"(?:(?P<count>\w+)\s+)?(?P<noun>[\w' -]+?)\s*\((?P<kinds>[^)]+)\)")
_AND = re.compile(r",|\band\b|&|/|\bor\b|;")
_ARTICLE = re.compile(r"^(?:one|a|an|the)\s+", re.IGNORECASE)
_PROPER = r"([A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*)"
_TOLD_BESIDE = (
    (re.compile(rf"\s+from {_PROPER}"), "start"),
    (re.compile(rf"\s+to {_PROPER}"), "destination"),
    (re.compile(r"\s+for (\w+ (?:people|persons|guests))\b"), "party size"),
)

_WE_HAVE = re.compile(
    r"\b(?:the|our|my|your|his|her|their)\s+((?:[\w-]+\s)?[\w-]+)\s+(?:that\s+)?(?:i|we|they|you)"
    r"(?:['’]ve|\s+(?:have|had|was|were))?\s+(?:got|given|been given|have|want|picked|chose|took|decided on|"
    r"settled on|agreed on|booked)\s+(?:is|was|are)\b",
    re.IGNORECASE,
)

_VERB = re.compile(
    r"(?<=\S)\s+(?:turns|becomes|gets|is|are|will be|is turning|is getting)\s+(?=\S)", re.IGNORECASE
)

_LEADS_ON = re.compile(r"(?<=\w)\s+(?:for|to|of|with|from|at|into)$", re.IGNORECASE)


_BEGINS = re.compile(
    r"(?<=\w)\s+(?:(?:i|we|they|you)['’](?:ve|m|re|ll|d)|(?P<who>i|we|they|he|she|you))$", re.IGNORECASE
)
_GOES = re.compile(
    r"\s+(?:need|have|want|must|should|will|would|can|could|got|gotta|am|was|are|were|has|had|is|might|may)\b",
    re.IGNORECASE,
)


def _cut(clause: Clause, mention: Mention) -> Mention:
    """A mention without what begins another one: 'book a van for' 'the move', 'Tenby I' need to book."""
    begins, behind = _BEGINS.search(mention.text), clause.text[mention.start + len(mention.text) :]
    if begins is not None and (begins["who"] is None or _GOES.match(behind)):
        return replace(mention, text=mention.text[: begins.start()])
    cut = _LEADS_ON.search(mention.text) if mention.role in "TI" else None
    end = mention.start + len(mention.text)
    follows = any(
        one.start > end
        and not clause.text[end : one.start].strip()
        and not set(one.text.lower().split()) <= POINTING
        for one in clause.mentions
    )
    return mention if cut is None or not follows else replace(mention, text=mention.text[: cut.start()])


def _without_deed(clause: Clause, mention: Mention) -> Mention:
    """What is done without the words that say so: 'the club' of 'the club is booked'."""
    if mention.role not in "TI" or clause.act not in ("done", "need"):
        return mention
    told = (_IS_DONE if clause.act == "done" else _IS).fullmatch(mention.text)
    return replace(mention, text=told[1]) if told is not None else mention


def tidy(clause: Clause) -> Clause:
    """A clause without mentions that say nothing; names are whole, the two ends of a range are one value."""
    kept: list[Mention] = []
    clause = _spared(clause)
    for mention in (_cut(clause, _without_deed(clause, one)) for one in _whole(clause)):
        empty = _EMPTY if clause.act == "back" else _EMPTY | _BEFORE
        if set(mention.text.lower().split()) <= empty or not re.search(r"\w", mention.text):
            continue
        own = mention.role == "T" and mention.text.lower() in ("my", "our")  # 'my name is Lea': of nobody
        same = _SAME_AS.search(f"{clause.text[: mention.start]}{mention.text}")  # 'same fee, but 11'
        if own or (mention.role == "S" and (same or mention.text.lower() in _DETERMINER)):
            continue
        if mention.role == "V" and _UNCHANGED.fullmatch(mention.text) and len(clause.all("V")) > 1:
            continue
        several = mention.role in "TI" and len(clause.all(mention.role)) > 1
        if several and mention.text.lower() in ("both", "all"):  # 'both the soup and the stew'
            continue
        if mention.role == "V" and kept and _NOT.search(clause.text[: mention.start]):
            mention = replace(mention, role="O")  # 'at 7, not 5'
        alone = clause.act == "back" and all(one is mention or one.role in "XO" for one in clause.mentions)
        former = _FORMER.fullmatch(mention.text) if alone and mention.role in "VT" else None
        if former is not None:  # 'the original destination'
            kept += [
                Mention("V", former[1], mention.pair, mention.start + former.start(1)),
                Mention("S", former[2], mention.pair, mention.start + former.start(2)),
            ]
            continue
        before = kept[-1] if kept else None
        if before is not None and before.role == mention.role == "V":
            gap = clause.text[before.start + len(before.text) : mention.start]
            ranged = _BETWEEN.fullmatch(gap) and (_RANGE.search(gap) or _RANGE.search(before.text))
            if ranged or (gap == " " and before.text.isdigit() and mention.text[:1].isupper()):
                text = clause.text[before.start : mention.start + len(mention.text)]
                kept[-1] = replace(before, text=text)
                continue
        if before is not None and before.role == mention.role and mention.role in "IT":
            gap = clause.text[before.start + len(before.text) : mention.start]
            counts = _DOZEN.fullmatch(before.text) or numbers.number_of(before.text) is not None
            if gap == " of " or (gap == " " and counts):  # 'a dozen' 'rolls', 'two' 'tickets'
                text = clause.text[before.start : mention.start + len(mention.text)]
                kept[-1] = replace(before, text=text)
                continue
        kept.append(mention)
    return _with_names(replace(clause, mentions=tuple(kept)))


_EXCEPT = re.compile(
    r"\b(?:except|bar|apart from|other than|all but)(?: for)? (?:(?:the|my|our) )?$", re.IGNORECASE
)


def _spared(clause: Clause) -> Clause:
    """A clause whose things after 'except' are those that it leaves out: 'cancel all except Oldham'."""
    if clause.act not in ("remove", "done", "hold"):
        return clause
    kept: list[Mention] = []
    for mention in clause.mentions:
        end = kept[-1].start + len(kept[-1].text) if kept else 0
        gap = clause.text[end : mention.start].strip()
        listed = bool(kept) and kept[-1].role == "E" and _AND.fullmatch(gap)
        spared = mention.role in "TIP" and (listed or _EXCEPT.search(clause.text[: mention.start]))
        kept.append(replace(mention, role="E") if spared else mention)
    return replace(clause, mentions=tuple(kept))


def _with_names(clause: Clause) -> Clause:
    """A clause with the names of slots that stand before what was done to have their values.

    'The driver I was given is Joris', 'the colour we picked is blue'.
    """
    named = []
    for found in _WE_HAVE.finditer(clause.text) if clause.act == "set" else ():
        end = found.end(1)
        beside = any(one.role == "V" and one.start - found.end() in (0, 1) for one in clause.mentions)
        if beside and not any(
            one.start < end and one.start + len(one.text) > found.start(1) for one in clause.all("TSVWI")
        ):
            named.append(Mention("S", found[1], start=found.start(1)))
    mentions = sorted((*clause.mentions, *named), key=lambda one: one.start)
    return replace(clause, mentions=tuple(mentions)) if named else clause


def _whole(clause: Clause) -> list[Mention]:
    """The mentions in order, each with all of its words: '128 El Cerrito' of '128 El Cerrito Plz'.

    A slot's name is not only 'our'; 'June 5th over June 9th' is a new value and an old one.
    """
    spans = sorted(clause.mentions, key=lambda one: one.start)
    found: list[Mention] = []
    for number, span in enumerate(spans):
        end = span.start + len(span.text)
        until = spans[number + 1].start if number + 1 < len(spans) else len(clause.text)
        form = None
        if span.role in "VTWO" and span.text.split()[-1][:1].isupper():
            form = _GOES_ON
        elif span.role == "S" and span.text.lower() in _DETERMINER:
            form = _NEXT_WORDS
        more = form.match(clause.text, end, until) if form is not None and end <= until else None
        if more is not None:
            span = replace(span, text=clause.text[span.start : more.end()])
        found += _chosen(span)
    return found


def _chosen(span: Mention) -> list[Mention]:
    """A value that takes the place of another one: both of them, where they are of one kind."""
    rather = _RATHER.search(span.text) if span.role == "V" else None
    if rather is None:
        return [span]
    new, old = span.text[: rather.start()], span.text[rather.end() :]
    if kind_of(new) != kind_of(old):
        return [span]
    return [replace(span, text=new), Mention("O", old, span.pair, span.start + rather.end())]


def each_kind(clause: Clause) -> Clause:
    """Several things of one kind, told apart in brackets, as a mention each: 'two cups (red and blue)'."""
    mentions = list(clause.mentions)
    for told in _KINDS.finditer(clause.text) if clause.act in ("add", "task") else ():
        inside = [
            one
            for one in mentions
            if one.role in "TIVS" and one.start < told.end() and one.start + len(one.text) > told.start()
        ]
        kinds = expanded(told[0])
        if not inside or len(kinds) < 2:
            continue
        role = "T" if any(one.role == "T" for one in inside) else "I"
        at = mentions.index(inside[0])
        each = [Mention(role, text, start=told.start() + n) for n, text in enumerate(kinds)]
        mentions = [one for one in mentions if one not in inside]
        mentions[at:at] = each
    return replace(clause, mentions=tuple(mentions))


def expanded(text: str) -> list[str]:
    """'two cups (red and blue)' as single things, 'red cup', 'blue cup'; of names, 'cup Ann', 'cup Bo'."""
    found = _OF_KINDS.fullmatch(text)
    kinds = [one for one in map(str.strip, _AND.split(found["kinds"] if found else "")) if one]
    if found is None or not kinds:
        return [text]
    counted = numbers.number_of(found["count"] or "") is not None
    if len(kinds) < 2:
        return [text]
    noun = singular(found["noun"] if counted else f"{found['count'] or ''} {found['noun']}".strip())
    if all(kind[:1].isupper() for kind in kinds):
        return [f"{noun} {kind}" for kind in kinds]
    kinds = [_ARTICLE.sub("", kind) for kind in kinds]
    return [f"{kind} {noun}" if len(kind.split()) < 3 else f"{noun} ({kind})" for kind in kinds]


def told_beside(title: str) -> tuple[str, list[Detail]]:
    """A title without what it tells of itself, and that: where from, where to, for how many."""
    found = list[Detail]()
    for form, slot in _TOLD_BESIDE:
        if (told := form.search(title)) is not None:
            found.append(Detail(slot=slot, value=told[1]))
            title = (title[: told.start()] + title[told.end() :]).strip()
    return title, found


def split_by_thing(clause: Clause) -> tuple[Clause, ...]:
    """A clause about several things with values of their own as one clause for each of them.

    "the harper one is june 14, the okafor one june 22": what comes between two things is said of the first;
    where the first thing comes after a value, of the second ("on Monday the museum, on Tuesday a walk").
    """
    only_items = clause.act in ("set", "assign") and clause.all("VPC") and not clause.all("T")
    if only_items and len(clause.all("I")) > 1:
        things = tuple(replace(one, role="T") if one.role == "I" else one for one in clause.mentions)
        clause = replace(clause, mentions=things)
    if clause.act not in ("task", "set", "assign") or len(clause.all("T")) < 2:
        return (clause,)
    roles = [one.role for one in clause.mentions if one.role in "TVPC"]
    told = [n for n, one in enumerate(clause.mentions) if one.role in "VPC"]
    if len(told) < 2 and not (told and roles[-1] == "T"):
        return (clause,)
    groups: list[list[Mention]] = [[]]
    ahead = next(iter(roles), "T") != "T"  # values come before their things
    for mention in clause.mentions:
        done = any(one.role == "T" for one in groups[-1])
        filled = any(one.role in "VPC" for one in groups[-1])
        begins = mention.role in "VPC" if ahead else mention.role == "T"
        if begins and (done if ahead else done and filled):
            groups.append([])
        groups[-1].append(mention)
    everywhere = tuple(one for one in clause.mentions if one.role == "W")
    return tuple(
        replace(clause, mentions=(*group, *(one for one in everywhere if one not in group)))
        for group in groups
        if group
    )


def with_amount(clause: Clause, thing: Mention) -> str:
    """A thing with the amount right before it: '6 kg cod'; without an article."""
    for value in clause.all("V"):
        dated = kind_of(value.text) == "date" and " " in value.text.strip()
        if right_before(clause, value, thing) and not dated and thing.text.lower() not in POINTING:
            return bare(clause.text[value.start : thing.start + len(thing.text)])
    return bare(thing.text)


def asked_of(reply: str) -> str:
    """What a reply asks at its end who does it: 'attic' of 'Who takes the attic?'; '' for nothing."""
    found = _WHO.search(reply)
    return bare(found[1]) if found is not None else ""


def short_title(text: str) -> str:
    """A short title from the words for something new: 'lunch' for 'doing lunch for her'.

    A sentence about somebody loses its verb, 'mum turns seventy' is 'mum seventy'.
    """
    called = _CALLED.fullmatch(bare(text))
    title = _FOR_THEM.sub("", _DOING.sub("", called[1] if called is not None else bare(text), count=1))
    return _VERB.sub(" ", title, count=1) or text


def one(clause: Clause, roles: str) -> str:
    """The words of the first mention of these roles, or ''."""
    return next((bare(span.text) for span in clause.all(roles)), "")


def right_before(clause: Clause, value: Mention, thing: Mention) -> bool:
    """Whether a value stands right before a thing, and counts it."""
    end = value.start + len(value.text)
    return end <= thing.start and bool(re.fullmatch(r"\s*(?:of\s+)?", clause.text[end : thing.start]))


def words_outside(clause: Clause, roles: str) -> str:
    """The words of a clause that are in no mention of these roles, each of which is commas instead."""
    text = clause.text
    for other in clause.all(roles):
        end = other.start + len(other.text)
        if end <= len(text):
            text = text[: other.start] + "," * len(other.text) + text[end:]
    return text


def items_of(titles: Sequence[str], ids: Sequence[str] = (), kind: str = "item") -> tuple[Detail, ...]:
    """Items of a step by their titles, with their ids where they are known."""
    return tuple(
        Detail(slot=kind, value=title, task=ids[number] if ids else None)
        for number, title in enumerate(titles)
    )


def takes_back(clause: Clause, said: str) -> bool:
    """Whether a clause takes back what its own message said just before: 'no, leave it in'."""
    if clause.act in ("chat", "no") and (left := _LEFT.fullmatch(clause.text.strip())) is not None:
        return left["name"] is None or set(content(left["name"])) <= set(content(said))
    if clause.act != "undo" or clause.all("S") or _EARLIER.search(clause.text):
        return False
    spans = [span for span in clause.all("TIP") if not _OF_THE_ACT.fullmatch(bare(span.text))]
    named = {word for span in spans for word in content(bare(span.text))} - POINTING
    return not named or bool(named & set(content(said)))


def is_taken_back(clause: Clause) -> bool:
    """Whether a clause says at its end that what it names is to stay: 'cancel the fans. no, leave them'."""
    said = re.search(
        r"[.,;!?-]\s*((?:no|nah|wait|actually|sorry|hang on|hold on)\b.*)$", clause.text, re.IGNORECASE
    )
    left = _LEFT.fullmatch(said[1].strip()) if said is not None else None
    return clause.act in ("remove", "hold", "done") and left is not None and left["name"] is None


def with_people(clause: Clause) -> bool:
    """Whether all that a clause lists are names after 'with': 'a review with Dana and Felix'."""
    items = clause.all("I")
    named = all(re.fullmatch(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?", span.text) for span in items)
    return named and re.search(r"\bwith\s+$", clause.text[: items[0].start]) is not None


def in_company(clause: Clause) -> Clause:
    """A clause of something new, whoever it is 'with' as who comes along, and not as who does it."""
    people = clause.all("P")
    if not people or clause.all("I") or re.search(r"\bwith\s+$", clause.text[: people[0].start]) is None:
        return clause
    return replace(
        clause, mentions=tuple(replace(m, role="I") if m in people else m for m in clause.mentions)
    )


_FEW = 20  # of several, no list that was typed as one name
_SEPARATED = re.compile(r"\s*(?:,|&|\+|/|\band\b)\s*", re.IGNORECASE)


def one_of_several(text: str, said: Collection[str]) -> tuple[str, list[str]] | None:
    """The one of several that a text names together and stems mean, with the others; None where none is.

    'Mia and Jonas' and 'jonas': Jonas, and Mia.
    """
    parts = [part for part in _SEPARATED.split(text) if part]
    for at, part in enumerate(parts if len(parts) <= _FEW else []):
        others = [*parts[:at], *parts[at + 1 :]]
        shared = {word for other in others for word in content(other)}
        if others and (own := set(said) - shared) and own == set(content(part)) - shared:
            return part, others
    return None
