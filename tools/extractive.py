"""A judge of passages without a model: the sentence that has the question's words and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from snowballstemmer import stemmer

from .passages import Passage
from .reading import Quote, Verdict

COVERED = 0.75  # share of a question's content words that a sentence, with its heading, must have

_LITTLE_WORDS = """
a an the this that these those my our your his her its their some any and or but if of to in on at by for from
with about as into than then so is are was were be been am do does did have has had can could will would shall
should may might must i you he she it we they me him us them who whom whose which what when where why how
there here not no please tell
"""
_ASKED_FOR = """
many much long old far tall high big often year date day time name person city town place
"""
_STOP = frozenset(f"{_LITTLE_WORDS} {_ASKED_FOR}".split())

_WORD = re.compile(r"[^\W_]+(?:[.,:]\d+)*")
_SENTENCE = re.compile(
    r"(?<!\b[A-Z]\.)(?<!\b[DMS][rt]\.)(?<!\bMrs\.)(?<=[.!?])[\"”')]*\s+(?=[\"“'(]?[A-Z0-9])"
    r"|\n\s*(?:[-*•]\s|\n)\s*"
)
_DATE = re.compile(
    r"\b(?:1\d{3}|20\d{2})s?\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\bmay \d|\d may\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tomorrow|noon|midnight|christmas|easter)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven"
    r"|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|dozen)s?\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:\b(?P<at>in|at|near|from|to|on|outside|of) (?:the )?)?\b(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"
)
_NEEDS = {
    "number": r"\bhow (?:many|much|old|far|tall|high|long|large|big|often|wide|deep|heavy|fast)\b",
    "date": r"\bwhen\b|\b(?:what|which) (?:year|date|day|time|month)\b",
    "place": r"\bwhere\b",
    "person": r"\bwho(?:m|se)?\b",
    "name": r"\b(?:what|which) (?:city|town|country|place|person)\b",
}
_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will)\b", re.IGNORECASE
)


def extractive_judge(question: str, passages: Mapping[int, Passage], notes: str) -> Verdict:  # noqa: ARG001  a Judge
    """The best sentence, quoted as it is, if it supports an answer at all.

    It must have the question's names and numbers, `COVERED` of its content words (by their stems; headings
    count), and a number, date, place or person if the question is for one; else any word more, unless the
    question is for yes or no.
    """
    asked, firm = _stems(question), _firm(question)
    best: tuple[float, int, str] | None = None
    for number, passage in passages.items():
        context = _stems(f"{passage.heading} {passage.source}")
        for sentence in _sentences(passage.text):
            said = _stems(sentence)
            share = len(asked & (said | context)) / len(asked) if asked else 0.0
            if (
                share >= COVERED
                and firm <= said | context
                and (said - asked or _YES_OR_NO.match(question))
                and asked & said
                and _has(_need(question), sentence, question)
                and (best is None or share > best[0])
            ):
                best = share, number, sentence
    if best is None:
        return Verdict()
    return Verdict(answer=best[2], quotes=(Quote(passage=best[1], quote=best[2]),))


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        if (sentence := part.strip()) and not sentence.startswith("#"):
            yield sentence


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return str(stemmer("english").stemWord(word))


def _stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _STOP and word != "s")


def _firm(question: str) -> frozenset[str]:
    """What a sentence must have in any case: the stems of a question's names and numbers."""
    words = question.split()
    return _stems(" ".join(word for word in words[1:] if word[0].isupper() or any(map(str.isdigit, word))))


def _need(question: str) -> str | None:
    return next((need for need, words in _NEEDS.items() if re.search(words, question.lower())), None)


def _has(need: str | None, sentence: str, question: str) -> bool:
    """Whether a sentence has what a question asks for, beyond what the question says itself."""
    given = question.casefold()
    match need:
        case "date":
            return any(found not in given for found in map(str.casefold, _DATE.findall(sentence)))
        case "number":
            return any(found.casefold() not in given for found in _NUMBER.findall(_DATE.sub(" ", sentence)))
        case "place" | "person" | "name":
            return any(
                need == "name" or (match["at"] is not None) == (need == "place")
                for match in _NAME.finditer(sentence)
                if _stems(match["name"]) - _stems(question)
            )
        case _:
            return True
