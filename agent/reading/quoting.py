"""Quoted passages: what stands in quotes is not said to the assistant, and is read as one thing. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.turn.clauses import Clause, Mention, Parse

_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|(?<!\w)['‘]([^'‘’]{8,}?)['’](?!\w)")
_STAND_INS = ("Remark", "Passage", "Excerpt", "Extract", "Snippet", "Citation")
_FEWEST = 2  # words


def masked(text: str) -> tuple[str, dict[str, str]]:
    """A text with a word in the place of each quoted passage of several words, and these by their words."""
    found = dict[str, str]()
    free = iter(word for word in _STAND_INS if word.lower() not in text.lower())

    def hide(passage: re.Match[str]) -> str:
        said = next(one for one in passage.groups() if one)
        word = next(free, None) if len(said.split()) >= _FEWEST else None
        if word is None:
            return passage[0]
        found[word] = said
        return passage[0].replace(said, word)

    return _QUOTED.sub(hide, text), found


def restored(parse: Parse, passages: dict[str, str]) -> Parse:
    """A parse of a masked text with the passages back in their places."""
    clauses = tuple(_restored(clause, passages) for clause in parse.clauses)
    return replace(parse, clauses=clauses) if passages else parse


def _restored(clause: Clause, passages: dict[str, str]) -> Clause:
    text = clause.text
    mentions = clause.mentions
    for word, passage in passages.items():
        at = text.find(word)
        if at >= 0:
            more = len(passage) - len(word)
            text = text[:at] + passage + text[at + len(word) :]
            mentions = tuple(
                _moved(one, at, more)
                if one.start > at
                else replace(one, text=one.text.replace(word, passage))
                for one in mentions
            )
    return replace(clause, text=text, mentions=mentions)


def _moved(mention: Mention, at: int, more: int) -> Mention:
    return replace(mention, start=mention.start + more) if mention.start > at else mention
