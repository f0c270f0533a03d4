"""Values that are said, by their kind, and how they are given up in talk: "no, make it June". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.memory.ranking import stems

from .moments import Moment

REVISED_MS, REVISED_LINES = 90_000, 8  # how far from a value "no, make it June" may be

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
    r"^\W*(?:(?:oh|hmm|um|well|ah|but|and|then|so|okay|ok|right)\W+)*(?:no|nope|actually|sorry|wait|hold on"
    r"|hang on|correction|i mean|i meant|not any ?more|no longer|that was|scratch that|on second thoughts?"
    r"|better|rather|instead|let'?s (?:say|make it|do|take|keep|stay|go)|make (?:it|that)|i'?d (?:rather|say)"
    r"|we (?:should|could) (?:say|make it))\b",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\btoo (?:late|early|soon|much|many|little|few|far|expensive|small|large|big)\b"
    r"|\b(?:nobody|no way|out of the question|impossible|can'?t|cannot|won'?t|wouldn'?t|doesn'?t|don'?t|not"
    r"|isn'?t|never)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(r"\b(?:make (?:it|that)|instead|rather)\b", re.IGNORECASE)


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


def revised(at: int, told: Sequence[Moment], need: str | None) -> list[int]:
    """A line that gives a value, and those after it that put another in its place: "no, make it June".

    These follow it with nothing between that gives something else a value of the kind.

    Args:
        at: place of the line.
        told: all lines, in order of time.
        need: what is asked for, a key of `KINDS`; None for a value of no kind.

    Returns:
        The places, in order of time.
    """
    course = [at]
    about = set(stems(told[at].evidence.text))
    for place in range(at + 1, len(told)):
        one, last = told[place], told[course[-1]]
        if (
            one.scene.video != last.scene.video
            or place - course[-1] > REVISED_LINES
            or one.evidence.start_ms - last.evidence.end_ms > REVISED_MS
        ):
            break
        text = one.evidence.text
        value = value_for(need, text) if need else _OTHERWISE.search(text) and text
        revises = _REVISES.match(text)
        if not value or is_question(one) or _UNWANTED.search(text, revises.end() if revises else 0):
            continue
        if revises and not _counts_another(text, value, about):
            course.append(place)
        elif not about & (set(stems(text)) - set(stems(value))):
            break  # something else has a value now
    return course


def _counts_another(text: str, value: str, about: set[str]) -> bool:
    """Whether a number is followed by what it counts, and that is something else."""
    following = re.search(rf"\b{re.escape(value)} +([^\W\d_]+)", text)
    counted = set(stems(following[1])) if following and VALUES["number"].fullmatch(value) else set()
    return bool(counted) and not counted & about
