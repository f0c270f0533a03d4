"""Marks of a clause that say too little or too much by themselves, with the words beside them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.values import NUMBER_WORDS
from taskloom.agent.turn.clauses import Clause, Mention

from .plain import each_kind, split_by_thing, tidy, words_outside
from .scoring import bare
from .wording import as_said

_AND = re.compile(r"\s*(?:,|&|\band\b)\s*(?:and\b\s*)?", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"(?:\w+(?:ed|en)|done|built|put|sent|paid|hung|dug|cut)(?: (?:up|out|in|down|off|on|away))?",
    re.IGNORECASE,
)
_NOUN_BEFORE = re.compile(r"(?:the|my|our|a)\s+((?:[\w-]+\s)?[\w-]+)\s+$", re.IGNORECASE)
_PART = r"(?:half(?:[ -]?way)?|partly|two thirds|almost|nearly)"
_PARTLY = re.compile(
    rf"\b(?P<before>{_PART})\b(?! past)(?=\W+\w)"
    rf"|(?:^|,|['’](?:s|re|m|ve)\s|\b(?:is|are|was|were|am|been|done|finished|through|got|only|just|about)\s)"
    rf"\s*(?P<last>{_PART})\W*$",
    re.IGNORECASE,
)


_OF_KIN = re.compile(r"(?:my|our|his|her|their) ", re.IGNORECASE)
_LISTED = re.compile(rf"(?:\d+|an?|{'|'.join(NUMBER_WORDS)})\s+[^\W\d_][\w' -]*", re.IGNORECASE)
_TITLED = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’-]+|[Mm]y [a-z]+|I|me"
_GOING = re.compile(
    r"(?:(?:so|right|ok|okay|well|and|then)\b,? )?"
    rf"(?P<people>(?:{_TITLED})(?:, (?:{_TITLED}))*,? (?:and|&) (?:{_TITLED}))"
    r"(?= (?:are|will|want|need|have|plan|would)\b|'re\b|'ll\b)"
)


def made_whole(clause: Clause) -> Clause:
    """A clause in which what is left out (E) is a mention each, and what is done has its thing with it.

    A thing with its number in the midst of a list is one of it, whatever it is marked as; the people whom
    a new task begins with have it: 'Dr Patel and I are going to the congress'.
    """
    mentions = [part for one in _named_once(clause) for part in _each(clause, one)]
    if clause.act in ("add", "task") and any(one.role == "I" for one in mentions):
        mentions = [replace(one, role="I") if _in_list(clause, one) else one for one in mentions]
    going = _GOING.match(clause.text) if clause.act == "task" else None
    if going is not None and all(one.start >= going.end() for one in mentions):
        mentions.insert(0, Mention("P", going["people"], start=going.start("people")))
    return replace(clause, mentions=tuple(mentions))


def _named_once(clause: Clause) -> list[Mention]:
    """The mentions of a clause, who is told by kinship and name by the name alone: 'my sister Kate'."""
    kept = list[Mention]()
    for one in clause.mentions:
        last = kept[-1] if kept else None
        gap = clause.text[last.start + len(last.text) : one.start] if last is not None else ""
        if last is not None and last.role == one.role == "P" and gap == " " and one.text[:1].isupper():
            whole = replace(one, text=f"{last.text} {one.text}", start=last.start)
            kept[-1] = one if _OF_KIN.match(last.text) else whole
        else:
            kept.append(one)
    return kept


def plain_clauses(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """Clauses made plainer, one for each thing that is said of something."""
    return tuple(
        part for clause in as_said(clauses) for part in split_by_thing(each_kind(made_whole(tidy(clause))))
    )


def lists_tasks(clauses: Iterable[Clause]) -> bool:
    """Whether a message is a list of things to do: several tasks, none of them at a time of its own."""
    told = [clause for clause in clauses if clause.act == "task"]
    timed = any(kind_of(span.text) in ("date", "time") for clause in told for span in clause.all("V"))
    return sum(len(clause.all("T")) for clause in told) > 1 and not timed


def _in_list(clause: Clause, mention: Mention) -> bool:
    """Whether a value is a counted thing between two items: 'tickets, two single rooms and a locum'."""
    if (
        mention.role != "V"
        or not _LISTED.fullmatch(mention.text)
        or kind_of(mention.text) not in (None, "count")
    ):
        return False
    end, text = mention.start + len(mention.text), clause.text
    items = [one for one in clause.mentions if one.role == "I"]
    before = any(_AND.fullmatch(text[one.start + len(one.text) : mention.start]) for one in items)
    return before and any(_AND.fullmatch(text[end : one.start]) for one in items)


def _each(clause: Clause, mention: Mention) -> Iterator[Mention]:
    """A mention as those that it is of: 'the lamp and the monitor' where these are left out."""
    if mention.role == "E":
        at = mention.start
        for part in filter(None, _AND.split(mention.text)):
            at = max(clause.text.find(part, at), at)
            yield replace(mention, text=part, start=at)
        return
    yield _with_noun(clause, mention)


def _with_noun(clause: Clause, mention: Mention) -> Mention:
    """A thing that is only a participle with the noun before it: 'the wall' of 'the wall dried out'."""
    if clause.act not in ("need", "task", "add") or mention.role not in "IT":
        return mention
    noun = _NOUN_BEFORE.search(clause.text[: mention.start])
    if noun is None or not _PARTICIPLE.fullmatch(mention.text):
        return mention
    if any(one.start < mention.start and one.start + len(one.text) > noun.start() for one in clause.mentions):
        return mention
    return replace(
        mention, text=clause.text[noun.start(1) : mention.start + len(mention.text)], start=noun.start(1)
    )


_RELATIVE = re.compile(
    r".*\b(?:earlier|later|sooner|more|less|fewer|extra|longer|shorter|cheaper|further)\b(?! than)",
    re.IGNORECASE,
)


def is_relative(value: Mention) -> bool:
    """Whether a value is an amount that is added or taken off: 'an hour later', '2 more'."""
    return _RELATIVE.fullmatch(bare(value.text)) is not None


def of_one_item(value: Mention, items: Sequence[Mention]) -> bool:
    """Whether a value is of the only item of a clause, anywhere: 'the guest at noon is Mr Tibbs'."""
    return len(items) == 1 and kind_of(value.text) in ("date", "time", "amount")


def partly(clause: Clause) -> str:
    """How far a clause says that a thing (T, I) is: 'half way'; '' of 'they all drowned nearly'."""
    short = len(clause.text.split()) < 4  # 'half done', of what was asked about
    found = _PARTLY.search(words_outside(clause, "TI")) if clause.all("TI") or short else None
    return (found["before"] or found["last"]) if found is not None else ""
