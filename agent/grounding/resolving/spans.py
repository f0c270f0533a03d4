"""Marks of a clause that say too little or too much by themselves, with the words beside them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from taskloom.agent.language.typed import kind_of
from taskloom.agent.turn.clauses import Clause, Mention

from .plain import words_outside

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


def made_whole(clause: Clause) -> Clause:
    """A clause in which what is left out (E) is a mention each, and what is done has its thing with it."""
    mentions = tuple(part for one in clause.mentions for part in _each(clause, one))
    return replace(clause, mentions=mentions)


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


def of_one_item(value: Mention, items: Sequence[Mention]) -> bool:
    """Whether a value is of the only item of a clause, anywhere: 'the guest at noon is Mr Tibbs'."""
    return len(items) == 1 and kind_of(value.text) in ("date", "time", "amount")


def partly(clause: Clause) -> str:
    """How far a clause says that a thing (T, I) is: 'half way'; '' of 'they all drowned nearly'."""
    found = _PARTLY.search(words_outside(clause, "TI")) if clause.all("TI") else None
    return (found["before"] or found["last"]) if found is not None else ""
