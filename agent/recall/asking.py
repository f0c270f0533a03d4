"""Questions on recordings without a model: the words that answer them, with who said them and when.

What is asked for (who, when, how often, what before or after, a value) is seen from the question's form. An
answer is what somebody said, word for word; it must have the question's names and numbers and `COVERED` of
what it is about. What was said later stands against what was said before. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from taskloom.memory.scenes import clock
from taskloom.memory.words import STOP, fold

from .moments import Moment
from .questions import ARTICLES, WORD, Asked, asked_in, loosely, stems_of
from .revising import KINDS, VALUES, is_question, revised, value_for, values

COVERED = 0.75  # share of what a question is about that a line must have, with the question it answers
NOTHING = "Nothing in the recordings says so."

_FORMER = re.compile(
    r"\b(?:originally|at first|used to|previously|back then"
    r"|last (?:year|month|week|time(?! (?:I|we) \w+ed)))\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|will be|be|becomes?|let'?s|we'?ll|make it|make that|moves?|moved|go(?:es)? with|take|took"
    r"|takes|book|booked|choose|chose|switch|set|pick|picked|use|has|have|costs?|starts?"
    r"|went|came|comes|stays?|remains?|happens?|gets?|got|turns?|ends?|begins?|opens?|closes?)\b|'s\b",
    re.IGNORECASE,
)  # fmt: skip
_LEADS = frozenset(("after", "as", "at", "by", "during", "for", "from", "in", "on", "since", "to", "with"))
_PARTICLES = frozenset(
    ("back", "up", "down", "forward", "on", "off", "over", "out", "away", "again", "now", "instead", "after",
     "before", "until", "till")
)  # fmt: skip


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


def answer(question: str, moments: Sequence[Moment]) -> Answer:
    """The answer that moments give to a question, in order of time in each recording.

    Args:
        question: in words.
        moments: all that was said and shown in what is asked about.
    """
    quotable = [one for one in moments if one.evidence.source in ("said", "shown", "caption")]
    speakers = tuple(dict.fromkeys(one.evidence.by for one in quotable if one.evidence.source == "said"))
    if not question.strip() or not quotable:
        return Answer()
    asked = asked_in(question, speakers)
    if asked.kind == "speakers":
        return _count_speakers(quotable)
    found = _answered(asked, quotable)
    if not found.found and (less := loosely(asked)) is not None:
        return _answered(less, quotable)
    return found


def _answered(asked: Asked, quotable: Sequence[Moment]) -> Answer:
    """The answer to a question that is taken apart."""
    if asked.anchor is not None:
        return _beside(asked, *asked.anchor, quotable)
    if not asked.words:
        return Answer()
    if asked.kind == "count":
        return _count(asked, quotable)
    if asked.kind in ("mentioned", "shown", "screen"):
        places = (
            quotable
            if asked.kind == "mentioned"
            else [one for one in quotable if one.evidence.source != "said"]
        )
        found = _matching(asked, places)
        if found or asked.kind != "shown":
            return _answer_with(lambda one: f"At {clock(one.evidence.start_ms)}: {_quote(one)}", found[:1])
    return _who(asked, quotable) if asked.kind == "who" else _value(asked, quotable)


# ---- which lines fit ------------------------------------------------------------------------------


def _matching(asked: Asked, quotable: Sequence[Moment]) -> list[Moment]:
    """The lines that say most of what is asked about, by whom it is asked about, in order of time."""
    shares = [
        (_share(asked.subject, asked, one, None), _share(asked.words, asked, one, None)) for one in quotable
    ]
    fit = [
        (share, one)
        for share, one in zip(shares, quotable, strict=True)
        if share[0] >= COVERED and _said_by(one, asked.who)
    ]
    best = max((share for share, _ in fit), default=None)
    return [one for share, one in fit if share == best]


def _said_by(one: Moment, who: str | None) -> bool:
    return who is None or one.evidence.by == who


def _share(wanted: frozenset[str], asked: Asked, one: Moment, before: Moment | None) -> float:
    """The share of some stems of a question that a line has, or with the question that it answers."""
    has = stems_of(_with_question(one, before))
    return len(wanted & has) / len(wanted) if asked.firm <= has else 0.0


def _with_question(one: Moment, before: Moment | None) -> str:
    """The words of a line, after those of the question that it answers."""
    answers = before is not None and is_question(before) and not is_question(one)
    return f"{before.evidence.text} {one.evidence.text}" if before and answers else one.evidence.text


def _named(asked: Asked, text: str) -> bool:
    """Whether words name just what is asked about: "the launch", not "the launch party"."""
    words = [(found, stems_of(found[0])) for found in WORD.finditer(text)]
    size = len(asked.phrase)
    for at in range(len(words) - size + 1):
        if all(asked.phrase[n] in words[at + n][1] for n in range(size)):
            first, last = words[at][0].start(), words[at + size - 1][0].end()
            before, after = re.search(r"[\w'’]+(?= ?$)", text[:first]), re.match(r" ?[\w'’]+", text[last:])
            if after and _is_verb(after[0].strip(), text[:first], text[last + after.end() :]):
                after = None
            if all(_is_plain(one[0].strip()) for one in (before, after) if one):
                return True
    return False


def _is_verb(word: str, head: str, tail: str) -> bool:
    """Whether a word behind a noun says what that does: "the launch slips to June" has no other verb."""
    before = [fold(one) for one in WORD.findall(re.split(r"[,;:.?!]", head)[-1])]
    leads = len(before) > 2 and before[0] in _LEADS and before[-2] not in _LEADS  # "after that call the ..."
    alone = (leads or STOP.issuperset(before)) and not _STATES.search(tail)
    return alone and word.endswith("s") and not word.endswith("ss")


def _counted(asked: Asked, need: str | None, text: str) -> bool:
    """Whether a number is of what is asked about: of "forty chairs", not of "forty people and chairs"."""
    if need != "number" or not asked.phrase:
        return False
    for one in VALUES["number"].finditer(text):
        after = WORD.findall(text[one.end() :])[:2]
        if asked.phrase[0] in stems_of(" ".join(after)):
            return True
        if (not after or _is_plain(after[0])) and _is_of_it(asked, text[: one.start()]):
            return True
    return False


def _is_of_it(asked: Asked, head: str) -> bool:
    """Whether what was named last before a number is what is asked about: "the chairs are now"."""
    words = WORD.findall(re.split(r"[.?!]", head)[-1])
    at = max((at for at, word in enumerate(words) if asked.phrase[0] in stems_of(word)), default=None)
    return at is not None and ARTICLES.isdisjoint(map(fold, words[at + 1 :]))


def _is_plain(word: str) -> bool:
    """Whether a word beside a noun leaves it what it is: little words, verbs and numbers do."""
    plain = not word or fold(word) in STOP | _PARTICLES or _STATES.fullmatch(word) is not None
    return plain or "'" in word or word.endswith(("ed", "ly")) or bool(VALUES["number"].fullmatch(word))


# ---- the kinds of answers -------------------------------------------------------------------------


def _answer_with(words: Callable[[Moment], str], found: Sequence[Moment]) -> Answer:
    return Answer(words(found[0]), tuple(found)) if found else Answer()


def _quote(one: Moment) -> str:
    intros = {"said": f"{one.evidence.by or 'somebody'} said", "shown": "the screen shows"}
    return f"{intros.get(one.evidence.source, 'a caption says')} “{one.evidence.text}”"


def _who(asked: Asked, quotable: Sequence[Moment]) -> Answer:
    """Who said something: the speaker of the first line that says it best."""
    said = [one for one in quotable if one.evidence.source == "said" and one.evidence.by]
    found = _matching(replace(asked, who=None), said)
    found = [one for one in found if not is_question(one)] or found
    return _answer_with(
        lambda one: f"{one.evidence.by}, at {clock(one.evidence.start_ms)}: “{one.evidence.text}”", found[:1]
    )


def _count(asked: Asked, quotable: Sequence[Moment]) -> Answer:
    """How often something is said."""
    found = [
        one for one in quotable if _said_by(one, asked.who) and _share(asked.subject, asked, one, None) == 1
    ]
    if not found:
        return Answer()
    times = ", ".join(clock(one.evidence.start_ms) for one in found)
    return Answer(f"{len(found)} time{'s' if len(found) > 1 else ''}: {times}.", tuple(found))


def _count_speakers(quotable: Sequence[Moment]) -> Answer:
    """How many people speak, with the first words of each."""
    first: dict[str, Moment] = {}
    for one in quotable:
        if one.evidence.source == "said" and one.evidence.by:
            first.setdefault(one.evidence.by, one)
    if not first:
        return Answer()
    return Answer(f"{len(first)}: {', '.join(first)}.", tuple(first.values()))


def _beside(wanted: Asked, anchor: Asked, side: str, quotable: Sequence[Moment]) -> Answer:
    """What is said right before or after something else, or who says it."""
    found = _matching(anchor, quotable) if anchor.words else []
    if not found:
        return Answer()
    at = quotable.index(found[0])
    others = quotable[at + 1 :] if side == "after" else quotable[:at][::-1]
    same = (one for one in others if one.scene.video == found[0].scene.video)
    next_one = next((one for one in same if _said_by(one, wanted.who)), None)
    if next_one is None:
        return Answer()
    return Answer(f"At {clock(next_one.evidence.start_ms)}: {_quote(next_one)}", (next_one, found[0]))


def _value(asked: Asked, quotable: Sequence[Moment]) -> Answer:
    """What holds in the end of something, or at first where that is asked for."""
    need, fits = asked.need, []
    for at, one in enumerate(quotable):
        before = quotable[at - 1] if at and quotable[at - 1].scene.video == one.scene.video else None
        says_it = _said_by(one, asked.who) and not is_question(one)
        share = _share(asked.subject if need else asked.words, asked, one, before) if says_it else 0.0
        if share >= COVERED and _gives(need, one, asked) and not _FORMER.search(one.evidence.text):
            states = need or _STATES.search(one.evidence.text) or _kind_of(one, asked)
            text = _with_question(one, before)
            kind = need is None or KINDS[need][0] in values(text)
            fits.append((_counted(asked, need, text), _named(asked, text), kind, share, bool(states), at))
    if not fits:
        return Answer()
    best = max(fit[:-1] for fit in fits)
    places = [fit[-1] for fit in fits if fit[:-1] == best]
    line = [place for at in places for place in revised(at, quotable, need or _kind_of(quotable[at], asked))]
    course = [quotable[place] for place in sorted(dict.fromkeys(line))]
    if asked.past:
        return _answer_with(_dated, course[:1])
    last, *former = course[::-1]

    def value(one: Moment) -> str:
        return fold(value_for(need, one.evidence.text) or "") if need else one.evidence.text

    return Answer(_dated(last), (last,), tuple(one for one in former if value(one) != value(last)))


def _kind_of(one: Moment, asked: Asked) -> str | None:
    """Of which kind a value is that nothing is asked for by name: the only one that a line gives.

    None where it gives none or more, or where it is asked what somebody said.
    """
    has = values(one.evidence.text)
    kind = next(iter(has), None) if len(has) == 1 and asked.who is None else None
    return kind if kind and len(has[kind]) == 1 else None


def _dated(one: Moment) -> str:
    return f"At {clock(one.evidence.start_ms)} {_quote(one)}"


def _gives(need: str | None, one: Moment, asked: Asked) -> bool:
    """Whether a line gives what is asked for, beyond what the question says itself."""
    given = fold(asked.text)
    if need is None:
        return bool(stems_of(one.evidence.text) - asked.words) or given.startswith(
            ("is ", "are ", "did ", "was ")
        )
    has = values(one.evidence.text)
    return any(fold(value) not in given for kind in KINDS[need] for value in has.get(kind, ()))
