"""Questions on recordings without a model: the words that answer them, with who said them and when.

What is asked for (who, when, how often, what before or after, a value) is seen from the question's form. An
answer is what somebody said, word for word; it must have the question's names and numbers and `COVERED` of
its other words. What was said later stands against what was said before. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from taskloom.memory.ranking import stems
from taskloom.memory.scenes import clock
from taskloom.memory.words import STOP, fold

from .moments import Moment, is_called

COVERED = 0.75  # share of a question's content words that a line must have, with the question it answers
REVISED_MS, REVISED_LINES = 90_000, 8  # how far from a value "no, make it June" may be
NOTHING = "Nothing in the recordings says so."

Kind = Literal["who", "moment", "count", "speakers", "beside", "value"]

_SAYING = (
    r"say|says|said|saying|mention(?:s|ed)?|talk(?:s|ed)?|speaks?|spoke|spoken|suggest(?:s|ed)?"
    r"|propos(?:e|es|ed)|asks?|asked|tells?|told|announc(?:e|es|ed)|discuss(?:es|ed)?|brings? up|brought up"
    r"|rais(?:e|es|ed)|bring|brought|object(?:s|ed)?|remind(?:s|ed)?|point(?:s|ed)? out"
)
_SAID = re.compile(rf"\b(?:{_SAYING})\b", re.IGNORECASE)
_SAID_BY = re.compile(
    rf"^\W*who(?:m|se)?\b.*\b(?:{_SAYING}|decid(?:es|ed)|want(?:s|ed)?)\b"
    rf"|\b(?:did|does) (?-i:[A-Z]\w*|anyone|anybody|someone|they) (?:\w+ )?(?:{_SAYING})\b"
    r"|\b(?:in|of|from|during) the (?:meeting|recording|video|call|stand-?up|transcript)\b",
    re.IGNORECASE,
)
_TALK = re.compile(rf"\b(?:{_SAYING}|up|out|about|of)\b", re.IGNORECASE)
_TIMES = re.compile(r"\bhow (?:many times|often)\b", re.IGNORECASE)
_SPEAKERS = re.compile(
    r"\bhow many (?:\w+ )?(?:people|persons|speakers|voices|participants)\b.*"
    r"\b(?:speak|talk|speaking|talking|are there|in|take part|heard)\b"
    r"|\bhow many (?:people|speakers|voices)\W*$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^\W*(?:when|at (?:what|which) (?:time|point|moment|minute)|where in the \w+|how far in)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"^\W*(?:who|whom|whose|which (?:person|speaker))\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"^(?P<asked>.*?)\b(?:(?:right|just|directly|immediately|straight|shortly) )?(?P<side>after|before) "
    r"(?P<anchor>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_PAST = re.compile(r"\b(?:originally|at first|initially|before (?:that|it (?:was )?changed)|first planned)\b",
                   re.IGNORECASE)  # fmt: skip
_ASKING = """
    who whom whose what which when where why how many much often time times point moment minute did does do
    was were is are be been anyone anybody someone somebody everybody everyone meeting recording video call
    talk need needs want wants get gets got make made going have has use used
    people person speaker speakers first last originally initially planned finally final decided decide
    decision current currently now still end eventually agreed there plan new right just directly immediately
    straight shortly after before following next thing exactly latest happen happens happening set chosen
"""
_NEEDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("number", re.compile(r"\bhow (?:many|much|old|long|far|big|large|high)\b|\b(?:price|cost|budget|amount"
                          r"|number|fee|rent|total)\b", re.IGNORECASE)),
    ("clock", re.compile(r"\b(?:what|which) time\b|\bstart time\b", re.IGNORECASE)),
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|week)\b|\b(?:date|day|deadline)\b",
                        re.IGNORECASE)),
)  # fmt: skip
_NUMBERS = (
    r"\d[\d.,]*|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven"
    r"|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]\w+)?|hundred|thousand|million|dozen)"
)
VALUES = {
    "date": re.compile(
        r"\b(?:(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?"
        r"(?-i:January|February|March|April|May|June|July|August|September|October|November|December)"
        r"(?: \d{1,2}(?:st|nd|rd|th)?\b)?"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|today|next (?:week|month|year)|christmas"
        r"|easter|spring|summer|autumn|winter|(?:19|20)\d\d|the \d{1,2}(?:st|nd|rd|th))\b|\b\d{1,2}[:.]\d\d\b"
        r"|\b\d{1,2} ?[ap]\.?m\b|\bnoon\b", re.IGNORECASE),
    "clock": re.compile(
        r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\bnoon\b|\bmidnight\b|o'clock|\bhalf past\b"
        rf"|\bat (?:{_NUMBERS})\b", re.IGNORECASE),
    "number": re.compile(rf"\b(?:{_NUMBERS})\b", re.IGNORECASE),
}  # fmt: skip
_REVISES = re.compile(
    r"^\W*(?:(?:oh|hmm|um|well|ah|but|and|then|so|okay|ok|right)\W+)*(?:no|nope|actually|sorry|wait|correction"
    r"|scratch that|on second thoughts?|better|rather|instead|let'?s (?:say|make it|do|take|keep|stay|go)"
    r"|make (?:it|that)|i'?d (?:rather|say)|we (?:should|could) (?:say|make it))\b",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\btoo (?:late|early|soon|much|many|little|few|far|expensive|small|large|big)\b"
    r"|\b(?:can'?t|cannot|won'?t|wouldn'?t|doesn'?t|don'?t|not|isn'?t|never)\b",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\b(?:originally|at first|used to|previously|last (?:year|month|week|time)|back then)\b", re.IGNORECASE
)
_STATES = re.compile(
    r"\b(?:is|are|will be|be|becomes?|let'?s|we'?ll|make it|make that|moves?|moved|go(?:es)? with|take|took"
    r"|takes|book|booked|choose|chose|switch|set|pick|picked|use|has|have|costs?|starts?)\b|'s\b",
    re.IGNORECASE,
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Answer:
    """What recordings say on a question.

    text: in words; `NOTHING` where nothing says so. moments: what it rests on, word for word, what decides it
    first. former: values that were given up for it, the latest first.
    """

    text: str = NOTHING
    moments: tuple[Moment, ...] = ()
    former: tuple[Moment, ...] = ()

    @property
    def found(self) -> bool:
        """Whether anything says so."""
        return bool(self.moments)

    @property
    def source(self) -> str:
        """Where the deciding words are: the recording and its id with the time; '' where there are none."""
        return f"{self.moments[0].scene.name}, {self.moments[0].source}" if self.moments else ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, taken apart. words: stems that a line must mostly have; firm: that it must all have."""

    text: str
    words: frozenset[str]
    firm: frozenset[str]
    phrase: tuple[str, ...]
    who: str | None


def of_recordings(question: str) -> bool:
    """Whether a question is about what somebody said, or about a recording."""
    return _SAID_BY.search(question) is not None


def answer(question: str, moments: Sequence[Moment]) -> Answer:
    """The answer that moments give to a question, in order of time in each recording.

    Args:
        question: in words.
        moments: all that was said and shown in what is asked about.
    """
    told = [one for one in moments if one.evidence.source in ("said", "shown", "caption")]
    speakers = tuple(dict.fromkeys(one.evidence.by for one in told if one.evidence.source == "said"))
    if not question.strip() or not told:
        return Answer()
    if _SPEAKERS.search(question):
        return _count_speakers(told)
    beside = _BESIDE.match(question)
    if beside and _SAID.search(question) and not _asked(beside["asked"], speakers).words:
        return _beside(beside, told, speakers)
    asked = _asked(question, speakers)
    if not asked.words:
        return Answer()
    if _TIMES.search(question):
        return _count(asked, told)
    if _WHEN.match(question) and _SAID.search(question):
        found = _matching(asked, told)
        return _told(lambda one: f"At {clock(one.evidence.start_ms)}: {_quote(one)}", found[:1])
    if _WHO.match(question):
        return _who(asked, told)
    return _value(asked, told)


# ---- what a question has --------------------------------------------------------------------------


def _asked(question: str, speakers: Iterable[str]) -> _Asked:
    who = next((one for one in speakers if one and _names(question, one)), None)
    subject = question if who is None else _without(question, who)
    words = [word for word in _WORD.findall(_TALK.sub(" ", subject)) if fold(word) not in _asking()]
    firm = [word for word in words[:] if any(map(str.isdigit, word)) or (word[0].isupper() and len(word) > 1)]
    first = next(iter(_WORD.findall(question)), "")
    return _Asked(
        question,
        _stems(" ".join(words)),
        _stems(" ".join(word for word in firm if word != first)),
        tuple(stem for word in words for stem in stems(word)),
        who,
    )


def _asking() -> frozenset[str]:
    return STOP | frozenset(_ASKING.split())


def _names(question: str, speaker: str) -> bool:
    """Whether a question names a speaker."""
    return any(
        is_called(speaker, word) for word in _WORD.findall(question.replace("'s", "")) if word[0].isupper()
    )


def _without(question: str, speaker: str) -> str:
    """A question without a speaker's name."""
    return _WORD.sub(lambda word: "" if is_called(speaker, word[0].removesuffix("'s")) else word[0], question)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


# ---- which lines fit ------------------------------------------------------------------------------


def _matching(asked: _Asked, told: Sequence[Moment]) -> list[Moment]:
    """The lines that say most of what is asked about, by whom it is asked about, in order of time."""
    shares = [(one, _share(asked, one, None)) for one in told if _said_by(one, asked.who)]
    best = max((share for _, share in shares), default=0.0)
    return [one for one, share in shares if share == best] if best >= COVERED else []


def _said_by(one: Moment, who: str | None) -> bool:
    return who is None or one.evidence.by == who


def _share(asked: _Asked, one: Moment, before: Moment | None) -> float:
    """The share of what is asked about that a line has, or with the question that it answers."""
    has = _stems(_with_question(one, before))
    if not asked.firm <= has or not asked.words & has:
        return 0.0
    return len(asked.words & has) / len(asked.words)


def _with_question(one: Moment, before: Moment | None) -> str:
    """The words of a line, after those of the question that it answers."""
    answers = before is not None and is_question(before) and not is_question(one)
    return f"{before.evidence.text} {one.evidence.text}" if before and answers else one.evidence.text


def is_question(one: Moment) -> bool:
    """Whether a line asks."""
    return one.evidence.text.rstrip().endswith("?")


def _named(asked: _Asked, text: str) -> bool:
    """Whether words name just what is asked about: "the launch", not "the launch party"."""
    words = [(word, _stems(word)) for word in _WORD.findall(text)]
    size = len(asked.phrase)
    for at in range(len(words) - size + 1):
        if all(asked.phrase[n] in words[at + n][1] for n in range(size)):
            before = words[at - 1][0] if at else ""
            after = words[at + size][0] if at + size < len(words) else ""
            if _is_plain(before) and _is_plain(after):
                return True
    return False


def _counted(asked: _Asked, need: str | None, text: str) -> bool:
    """Whether words count what is asked about: "forty chairs", not "forty people and chairs"."""
    if need != "number" or not asked.phrase:
        return False
    words = _WORD.findall(text)
    return any(
        asked.phrase[0] in _stems(word) and any(map(VALUES["number"].fullmatch, words[max(0, at - 2) : at]))
        for at, word in enumerate(words)
    )


def _is_plain(word: str) -> bool:
    """Whether a word beside a noun leaves it what it is: little words and verbs do."""
    return (
        not word or fold(word) in STOP or bool(_STATES.fullmatch(word)) or "'" in word or word.endswith("ed")
    )


# ---- the kinds of answers -------------------------------------------------------------------------


def _told(words: Callable[[Moment], str], found: Sequence[Moment]) -> Answer:
    return Answer(words(found[0]), tuple(found)) if found else Answer()


def _quote(one: Moment) -> str:
    return f"{one.evidence.by or 'somebody'} said “{one.evidence.text}”"


def _who(asked: _Asked, told: Sequence[Moment]) -> Answer:
    """Who said something: the speaker of the first line that says it best."""
    found = [one for one in _matching(_Asked(asked.text, asked.words, asked.firm, asked.phrase, None), told)
             if one.evidence.by]  # fmt: skip
    found = [one for one in found if not is_question(one)] or found
    return _told(
        lambda one: f"{one.evidence.by}, at {clock(one.evidence.start_ms)}: “{one.evidence.text}”", found[:1]
    )


def _count(asked: _Asked, told: Sequence[Moment]) -> Answer:
    """How often something is said."""
    found = [one for one in told if _said_by(one, asked.who) and _share(asked, one, None) == 1]
    if not found:
        return Answer()
    times = ", ".join(clock(one.evidence.start_ms) for one in found)
    return Answer(f"{len(found)} time{'s' if len(found) > 1 else ''}: {times}.", tuple(found))


def _count_speakers(told: Sequence[Moment]) -> Answer:
    """How many people speak, with the first words of each."""
    first: dict[str, Moment] = {}
    for one in told:
        if one.evidence.source == "said" and one.evidence.by:
            first.setdefault(one.evidence.by, one)
    if not first:
        return Answer()
    return Answer(f"{len(first)}: {', '.join(first)}.", tuple(first.values()))


def _beside(beside: re.Match[str], told: Sequence[Moment], speakers: Sequence[str]) -> Answer:
    """What is said right before or after something else, or who says it."""
    anchor, wanted = _asked(beside["anchor"], speakers), _asked(beside["asked"], speakers)
    found = _matching(anchor, told) if anchor.words else []
    if not found:
        return Answer()
    at = told.index(found[0])
    others = told[at + 1 :] if beside["side"].lower() == "after" else told[:at][::-1]
    same = (one for one in others if one.scene.video == found[0].scene.video)
    next_one = next((one for one in same if _said_by(one, wanted.who)), None)
    if next_one is None:
        return Answer()
    return Answer(f"At {clock(next_one.evidence.start_ms)}: {_quote(next_one)}", (next_one, found[0]))


def _value(asked: _Asked, told: Sequence[Moment]) -> Answer:
    """What holds in the end of something, or at first where that is asked for."""
    need = next((name for name, form in _NEEDS if form.search(asked.text)), None)
    fits = []
    for at, one in enumerate(told):
        before = told[at - 1] if at and told[at - 1].scene.video == one.scene.video else None
        share = _share(asked, one, before) if _said_by(one, asked.who) and not is_question(one) else 0.0
        if share >= COVERED and _gives(need, one, asked) and not _FORMER.search(one.evidence.text):
            states = need is not None or bool(_STATES.search(one.evidence.text))
            text = _with_question(one, before)
            fits.append((_counted(asked, need, text), _named(asked, text), share, states, at))
    if not fits:
        return Answer()
    best = max(fit[:-1] for fit in fits)
    places = [fit[-1] for fit in fits if fit[:-1] == best]
    line = [place for at in places for place in revised(at, told, need)]
    course = [told[place] for place in sorted(dict.fromkeys(line))]
    if _PAST.search(asked.text):
        return _told(_dated, course[:1])
    last, *former = course[::-1]
    return Answer(_dated(last), (last,), tuple(former))


def _dated(one: Moment) -> str:
    return f"At {clock(one.evidence.start_ms)} {_quote(one)}"


def _gives(need: str | None, one: Moment, asked: _Asked) -> bool:
    """Whether a line gives what is asked for, beyond what the question says itself."""
    given = fold(asked.text)
    if need is None:
        return bool(_stems(one.evidence.text) - asked.words) or given.startswith(
            ("is ", "are ", "did ", "was ")
        )
    return any(fold(found[0]) not in given for found in VALUES[need].finditer(one.evidence.text))


def revised(at: int, told: Sequence[Moment], need: str | None) -> list[int]:
    """A line that gives a value, and those after it that put another in its place: "no, make it June"."""
    course = [at]
    for place in range(at + 1, len(told)):
        one, last = told[place], told[course[-1]]
        if (
            one.scene.video != last.scene.video
            or place - course[-1] > REVISED_LINES
            or one.evidence.start_ms - last.evidence.end_ms > REVISED_MS
        ):
            break
        text = one.evidence.text
        if (
            _REVISES.match(text)
            and not is_question(one)
            and not _UNWANTED.search(text)
            and (
                VALUES[need].search(text)
                if need
                else re.search(r"\b(?:make (?:it|that)|instead|rather)\b", text)
            )
        ):
            course.append(place)
    return course
