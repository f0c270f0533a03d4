"""Values that are said, by their kind, and how they are given up in talk: "no, make it June". Pure.

Talk goes on about a thing without its name: a value that stands alone in its clause, or after a pronoun
("... but now it is June"), is of what was spoken of last, as long as nothing else was named since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from taskloom.memory.ranking import stems
from taskloom.memory.words import STOP, fold

from .moments import Moment

REVISED_MS, REVISED_LINES = 90_000, 8  # how far from a value "no, make it June" may be
BARE_LINES = 3  # how far "June." may be, which says by no word that it revises

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_NUMBERS = (
    rf"\d[\d.,]*|(?:zero|{_ONES}|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif"
    rf"|six|seven|eigh|nine)ty(?:[- ](?:{_ONES}))?|hundred|thousand|million|dozen)"
)
_MONTHS = r"(?-i:January|February|March|April|May|June|July|August|September|October|November|December)"
VALUES = {
    "clock": re.compile(
        r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\bnoon\b|\bmidnight\b|\bhalf past \w+"
        rf"|\b(?:{_NUMBERS}) o'clock\b|\bat (?:{_NUMBERS})(?=\W*$)", re.IGNORECASE),
    "date": re.compile(
        rf"\b(?:(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?{_MONTHS}(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|today|next (?:week|month|year)|christmas"
        r"|easter|spring|summer|autumn|winter|(?:19|20)\d\d|the \d{1,2}(?:st|nd|rd|th))\b", re.IGNORECASE),
    "money": re.compile(
        rf"[$€£] ?\d[\d.,]*|\b(?:{_NUMBERS}) ?(?:€|(?:euros?|dollars?|pounds?|cents?|francs?|kronor)\b)",
        re.IGNORECASE),
    "number": re.compile(rf"\b(?:{_NUMBERS})\b", re.IGNORECASE),
}  # fmt: skip
"""Forms of values; what one of them takes is not looked at by the next."""
KINDS = {
    "clock": ("clock",),
    "date": ("date", "clock"),
    "money": ("money", "number"),
    "number": ("number", "money"),
}
"""For what is asked for, the kinds of values that give it, the best first."""

_REVISES = re.compile(
    r"\W*(?:(?:oh|hmm|um|well|ah|but|and|then|so|okay|ok|right)\W+)*(?:no|nope|nah|actually|sorry"
    r"|(?:my )?apologies|my (?:bad|mistake)|wait|hold on|hang on|correction|i mean|i meant|i misspoke"
    r"|(?:forget|scratch|scrap|strike) (?:that|it|what i said)|not (?:any ?more|that|quite)|no longer|wrong"
    r"|update|(?:it )?turns out|that was|on second thoughts?|better|rather|instead"
    r"|(?:it|that|this|they) (?:was|were|got|is|are|has been|have been) (?:\w+ )?\w+ed to"
    r"|we (?:agreed|settled|decided) on|(?:i|we)(?:'d)? (?:propose|suggest)|i'?d (?:rather|say)"
    r"|let'?s (?:just )?(?:say|make it|do|take|keep|stay|go)|make (?:it|that|[^,;]{,30} of it)"
    r"|we (?:should|could) (?:say|make it))\b",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\btoo (?:late|early|soon|much|many|little|few|far|expensive|small|large|big)\b"
    r"|\b(?:nobody|no way|no \w+ for|out of the question|out of reach|over budget|impossible|ridiculous"
    r"|madness|crazy|insane|absurd|refuse|anything but|can'?t|cannot|won'?t|wouldn'?t|doesn'?t|don'?t|not"
    r"|isn'?t|never)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    rf"\W*(?:{'|'.join(form.pattern for form in VALUES.values())}) (?:would|will|could|might|does"
    r"|(?!is|was|has)\w+[^\Ws]s (?:the|our|my|us|me|with|your|any|what))\b",
    re.IGNORECASE,
)
"""A clause that begins with a value and tells something of that, not of a thing whose value it is."""
_OF = re.compile(r" (?:for|of) \w+ \w+")  # what a value before it is of
_OTHERWISE = re.compile(r"\b(?:make (?:it|that)|instead|rather)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CLAUSE = re.compile(r"[,;:!?–—]|\.(?!\d)")  # what parts one from the next
_PRONOUNS = {"it", "they", "it's", "they're", "it'll", "it'd", "that", "this", "that's"}
_AUXILIARY = {"is", "should", "will", "would", "must", "needs", "has", "ought"}
_PAST = {"was", "were", "wasn't", "weren't", "had"}
_KNOWN = {"the", "our", "my", "your", "his", "her", "their", "these", "those"}
_NO_THINGS = """
    think believe guess suppose know mean meant hope remember see says say said yes yeah okay ok well oh right
    only now again instead sure like last time maybe perhaps exactly sorry mistake error fault slip day days
    week weeks month months moment morning afternoon evening today yesterday end way these those one ones each
    much many let's
    there's new correct final date price figure number total amount cost
    away rather i'm i'd i'll i've we're we'd we'll we've it's it'll it'd that's
"""
_NO_THING = STOP.union(_NO_THINGS.split())
"""What is no thing of its own that a value may be of."""


def values(text: str) -> dict[str, list[str]]:
    """The values that words give, by kind, in their order."""
    found = {}
    for kind, form in VALUES.items():
        if has := [match[0] for match in form.finditer(text)]:
            found[kind] = has
            text = form.sub(" . ", text)
    return found


def value_for(need: str, text: str) -> str | None:
    """The first value in some words that gives what is asked for; None for none."""
    has = values(text)
    return next((has[kind][0] for kind in KINDS[need] if kind in has), None)


def is_question(one: Moment) -> bool:
    """Whether a line asks."""
    return one.evidence.text.rstrip().endswith("?")


def revised(at: int, moments: Sequence[Moment], need: str | None) -> list[int]:
    """A line that gives a value, and those after it that put another in its place: "no, make it June".

    These follow it with nothing between that gives something else a value of the kind.

    Args:
        at: place of the line.
        moments: all lines, in order of time.
        need: what is asked for, a key of `KINDS`; None for a value of no kind.

    Returns:
        The places, in order of time.
    """
    course = [at]
    about = _about(_words(moments[at].evidence.text))
    for place in range(at + 1, len(moments)):
        one, last = moments[place], moments[course[-1]]
        if (
            one.scene.video != last.scene.video
            or place - course[-1] > REVISED_LINES
            or one.evidence.start_ms - last.evidence.end_ms > REVISED_MS
        ):
            break
        text = one.evidence.text
        value = value_for(need, text) if need else _OTHERWISE.search(text) and text
        if not value or is_question(one):
            continue
        head = text.partition(value)[0]
        begun = (0, *(one.end() for one in _CLAUSE.finditer(head)))  # where clauses begin
        revises = next(filter(None, (_REVISES.match(text, at) for at in begun)), None)
        before = _CLAUSE.split(head)
        clause = begun[-1]
        if _UNWANTED.search(text, max(clause, revises.end() if revises else 0)) or _REMARK.match(
            text, clause
        ):
            continue
        apart = len(before) > 1 and not revises and not _words(before[-1])  # as in "the launch, June"
        behind = _OF.match(text.partition(value)[2])
        known = _about(_known(_words(f"{before[-2 if apart else -1]} . {behind[0] if behind else ''}")))
        numbers = [value] if need else values(text).get("number", [])
        counted = any(_counts_another(text, one, about) for one in numbers)
        another = counted or bool(known and not about & known)
        near = place - course[-1] <= BARE_LINES
        bare = need and near and fold(value) != fold(value_for(need, last.evidence.text) or "")
        if not another and (revises or (bare and _is_of_last_topic(text, value, about, moments[place - 1]))):
            course.append(place)
        elif (named := _named(text, value, another or not need)) and not about & named:
            break  # something else has a value now
    return course


def _is_of_last_topic(text: str, value: str, about: set[str], before: Moment) -> bool:
    """Whether a value is of what was spoken of last: alone in its clause, or close behind a pronoun.

    Not where it answers a question on something else, or is of the past.
    """
    head, _, tail = text.partition(value)
    words, after = _words(_CLAUSE.split(head)[-1]), _words(_CLAUSE.split(tail)[0])
    if not _NO_THING.issuperset(after) or _PAST.intersection(words) or _known(words + after):
        return False
    asks = is_question(before) and not values(before.evidence.text)  # with a value it only doubts that
    heard = _words(before.evidence.text)
    asked = _about(heard) | ({"time"} & set(heard)) if asks else set()
    if asked and not asked & about:
        return False
    return _NO_THING.issuperset(words) or any(
        _stands_alone(words[at], words[at + 1 :]) for at in range(max(0, len(words) - 3), len(words))
    )


def _stands_alone(word: str, after: Sequence[str]) -> bool:
    """Whether a word is a pronoun that stands for a thing: "that should be", not "that holiday"."""
    alone = word.startswith(("it", "they")) or not _AUXILIARY.isdisjoint(after[:1])
    return word in _PRONOUNS and (alone or _NO_THING.issuperset(after))


def _about(words: Sequence[str]) -> set[str]:
    """The stems of what words may be about."""
    return set(stems(" ".join(word for word in words if word not in _NO_THING)))


def _named(text: str, value: str, counts: bool) -> set[str]:
    """The stems of what a value is of: of things that are named as known, else of what is said before it.

    counts: whether what is said after it counts too.
    """
    known = _known(_words(text))
    before, _, after = text.partition(value)
    return _about(known) or _about(_words(f"{before} {after}" if counts else before))


def _known(words: Sequence[str]) -> list[str]:
    """What is named as known: "the tent"; not "a holiday", which tells something of another thing."""
    return [other for one, other in pairwise(words) if one in _KNOWN and other not in _NO_THING]


def _words(text: str) -> list[str]:
    return [fold(word).replace("’", "'") for word in _WORD.findall(text)]


def _counts_another(text: str, value: str, about: set[str]) -> bool:
    """Whether a number is followed by what it counts, and that is something else."""
    following = re.search(rf"\b{re.escape(value)} +([^\W\d_]+)", text)
    counted = _about([fold(following[1])]) if following and VALUES["number"].fullmatch(value) else set()
    return bool(counted) and not counted & about
