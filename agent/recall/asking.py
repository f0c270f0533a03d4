"""Questions on recordings without a model: the words that answer them, with who said them and when.

What is asked for (who, when, how often, what before or after, a value) is seen from the question's form. An
answer is what somebody said, word for word; it must have the question's names and numbers and `COVERED` of
what it is about. What was said later stands against what was said before. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from taskloom.memory.ranking import stems
from taskloom.memory.scenes import clock
from taskloom.memory.words import STOP, fold

from .moments import Moment, is_called
from .revising import KINDS, VALUES, is_question, revised, value_for, values

COVERED = 0.75  # share of what a question is about that a line must have, with the question it answers
NOTHING = "Nothing in the recordings says so."

_SAYING = (
    r"say|says|said|saying|mention(?:s|ed)?|talk(?:s|ed)?|speaks?|spoke|spoken|suggest(?:s|ed)?"
    r"|propos(?:e|es|ed)|asks?|asked|tells?|told|announc(?:e|es|ed)|discuss(?:es|ed)?|brings? up|brought up"
    r"|rais(?:e|es|ed)|bring|brought|object(?:s|ed)?|remind(?:s|ed)?|point(?:s|ed)? out|offered"
    r"|volunteered|promised|agreed|confirmed|explained|warned|c[oa]mes? up"
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
    r"\b(?:speak|talk|speaking|talking|are there|in|take part|heard|recording|meeting|video|call)\b"
    r"|\bhow many (?:people|speakers|voices)\W*$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^\W*(?:when|at (?:what|which) (?:time|point|moment|minute)|where in the|how far in)\b",
    re.IGNORECASE,
)
_HEARD = re.compile(
    r"\b(?:do|does|did) \w+ (?:\w+ ){1,3}about\b|\b(?:hears?|heard|refer(?:s|red)?|introduced|addressed)\b",
    re.IGNORECASE,
)
"""Something is talked of, whatever the verb: "when do we first learn about the bus"."""
_IN_RECORDING = re.compile(r"\bin (?:the|this) (?:meeting|recording|video|call|transcript)\b", re.IGNORECASE)
_SHOWING = re.compile(
    r"\b(?:in|from|during|does|do) (?:the|this|a) (?:clip|picture|video|recording)s?(?: show)?\b"
    r"|\b(?:the|this|a) (?:clip|picture|video|recording)s? shows?\b"
    r"|\b(?:shown|(?:be|is|are|was|were) seen)\b|\bseen(?=\W*$)",
    re.IGNORECASE,
)
"""That something is to be seen; no line has to say so."""
_PHRASES = re.compile(r"\b(?:takes?|took) (?:place|it on|on)\b", re.IGNORECASE)
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
    talk find come comes came up out need needs want wants get gets got make made going have has use used
    people person speaker speakers first last originally initially planned finally final decided decide
    decision current currently now still end eventually agreed there plan new right just directly immediately
    straight shortly after before following next thing exactly latest happen happens happening set chosen
"""
_NEEDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("money", re.compile(r"\bhow much\b|\b(?:prices?|costs?|budget|fee|rent|total|pay|paid|spend|spent|owe"
                         r"|charg(?:e|ed|es|ing)|expensive)\b",
                         re.IGNORECASE)),
    ("number", re.compile(r"\bhow (?:many|old|long|far|big|large|high)\b|\b(?:amount|number)\b",
                          re.IGNORECASE)),
    ("clock", re.compile(r"\b(?:what|which) time\b|\bstart time\b", re.IGNORECASE)),
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|week)\b|\b(?:date|day|deadline)\b",
                        re.IGNORECASE)),
)  # fmt: skip
_ARTICLES = frozenset(("the", "a", "an", "our", "my", "your", "his", "her", "their", "this", "that"))
_LEADING = _ARTICLES | frozenset(
    ("many", "much", "of", "about", "for", "on", "with", "these", "those", "any")
)
_NEEDING = frozenset(
    ("cost", "costs", "price", "prices", "pay", "pays", "paid", "spend", "settle", "settled", "day", "days",
     "date", "dates", "euros", "expensive", "number", "amount")
)  # fmt: skip
"""Words that say of which kind a value is, and nothing of what it is of, where something else does."""
_FORMER = re.compile(
    r"\b(?:originally|at first|used to|previously|last (?:year|month|week|time)|back then)\b", re.IGNORECASE
)
_STATES = re.compile(
    r"\b(?:is|are|will be|be|becomes?|let'?s|we'?ll|make it|make that|moves?|moved|go(?:es)? with|take|took"
    r"|takes|book|booked|choose|chose|switch|set|pick|picked|use|has|have|costs?|starts?"
    r"|went|came|comes|stays?|remains?|happens?|gets?|got|turns?|ends?|begins?|opens?|closes?)\b|'s\b",
    re.IGNORECASE,
)  # fmt: skip
_PARTICLES = frozenset(("back", "up", "down", "forward", "on", "off", "over", "out", "away", "again", "now"))
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
    """A question, taken apart, in stems.

    words: all that carry meaning. subject: of these what it is about, with what is done to it; a line must
    have most of them. firm: names and numbers, which it must all have. phrase: the words in their order. who:
    the speaker that it names.
    """

    text: str
    words: frozenset[str]
    subject: frozenset[str]
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
    quotable = [one for one in moments if one.evidence.source in ("said", "shown", "caption")]
    speakers = tuple(dict.fromkeys(one.evidence.by for one in quotable if one.evidence.source == "said"))
    if not question.strip() or not quotable:
        return Answer()
    if _SPEAKERS.search(question):
        return _count_speakers(quotable)
    beside = _BESIDE.match(question)
    if beside and _SAID.search(question) and not _asked(beside["asked"], speakers).words:
        return _beside(beside, quotable, speakers)
    asked = _asked(question, speakers)
    if not asked.words:
        return Answer()
    if _TIMES.search(question):
        return _count(asked, quotable)
    if _WHEN.match(question) and any(form.search(question) for form in (_SAID, _HEARD, _IN_RECORDING)):
        found = _matching(asked, quotable)
        return _answer_with(lambda one: f"At {clock(one.evidence.start_ms)}: {_quote(one)}", found[:1])
    if _WHEN.match(question) and _SHOWING.search(question):
        seen = _matching(asked, [one for one in quotable if one.evidence.source != "said"])
        if seen:
            return _answer_with(lambda one: f"At {clock(one.evidence.start_ms)}: {_quote(one)}", seen[:1])
    if _WHO.match(question):
        return _who(asked, quotable)
    return _value(asked, quotable)


# ---- what a question has --------------------------------------------------------------------------


def _asked(question: str, speakers: Iterable[str]) -> _Asked:
    question = _PHRASES.sub(" ", question)
    shorter = _SHOWING.sub(" ", question)
    if any(fold(word) not in _asking() for word in _WORD.findall(shorter)):
        question = shorter
    who = next((one for one in speakers if one and _names(question, one)), None)
    subject = question if who is None else _without(question, who)
    words = [word for word in _WORD.findall(_TALK.sub(" ", subject)) if fold(word) not in _asking()]
    words = [word for word in words if fold(word) not in _NEEDING] or words
    firm = [word for word in words if any(map(str.isdigit, word)) or (word[0].isupper() and len(word) > 1)]
    first = next(iter(_WORD.findall(question)), "")
    return _Asked(
        question,
        _stems(" ".join(words)),
        _subject(subject) or _stems(" ".join(words)),
        _stems(" ".join(word for word in firm if word != first)),
        tuple(stem for word in words for stem in stems(word)),
        who,
    )


def _subject(question: str) -> frozenset[str]:
    """What a question is about: the nouns after "the", "many" or "about", with the verb before them."""
    tokens = _WORD.findall(question)
    plain = [fold(token) in _asking() | _NEEDING or _SAID.fullmatch(token) is not None for token in tokens]
    found: list[str] = []
    for at, token in enumerate(tokens):
        if fold(token) in _LEADING:
            ends = (n for n in range(at + 1, len(tokens)) if plain[n] or (n > at + 1 and _is_done(tokens[n])))
            end = next(ends, len(tokens))
            found += tokens[at + 1 : end]
            if fold(token) in _ARTICLES and at and not plain[at - 1] and end > at + 1:
                found.append(tokens[at - 1])
    return _stems(" ".join(found))


def _is_done(word: str) -> bool:
    """Whether a word after a noun tells what is done to it: "the audit moved to"."""
    return word.endswith("ed") and len(word) > len("shed")


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


def _matching(asked: _Asked, quotable: Sequence[Moment]) -> list[Moment]:
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


def _share(wanted: frozenset[str], asked: _Asked, one: Moment, before: Moment | None) -> float:
    """The share of some stems of a question that a line has, or with the question that it answers."""
    has = _stems(_with_question(one, before))
    return len(wanted & has) / len(wanted) if asked.firm <= has else 0.0


def _with_question(one: Moment, before: Moment | None) -> str:
    """The words of a line, after those of the question that it answers."""
    answers = before is not None and is_question(before) and not is_question(one)
    return f"{before.evidence.text} {one.evidence.text}" if before and answers else one.evidence.text


def _named(asked: _Asked, text: str) -> bool:
    """Whether words name just what is asked about: "the launch", not "the launch party"."""
    words = [(found, _stems(found[0])) for found in _WORD.finditer(text)]
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
    alone = STOP.issuperset(map(fold, _WORD.findall(head))) and not _STATES.search(tail)
    return alone and word.endswith("s") and not word.endswith("ss")


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
    plain = not word or fold(word) in STOP | _PARTICLES or _STATES.fullmatch(word) is not None
    return plain or "'" in word or word.endswith("ed")


# ---- the kinds of answers -------------------------------------------------------------------------


def _answer_with(words: Callable[[Moment], str], found: Sequence[Moment]) -> Answer:
    return Answer(words(found[0]), tuple(found)) if found else Answer()


def _quote(one: Moment) -> str:
    intros = {"said": f"{one.evidence.by or 'somebody'} said", "shown": "the screen shows"}
    return f"{intros.get(one.evidence.source, 'a caption says')} “{one.evidence.text}”"


def _who(asked: _Asked, quotable: Sequence[Moment]) -> Answer:
    """Who said something: the speaker of the first line that says it best."""
    said = [one for one in quotable if one.evidence.source == "said" and one.evidence.by]
    found = _matching(replace(asked, who=None), said)
    found = [one for one in found if not is_question(one)] or found
    return _answer_with(
        lambda one: f"{one.evidence.by}, at {clock(one.evidence.start_ms)}: “{one.evidence.text}”", found[:1]
    )


def _count(asked: _Asked, quotable: Sequence[Moment]) -> Answer:
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


def _beside(beside: re.Match[str], quotable: Sequence[Moment], speakers: Sequence[str]) -> Answer:
    """What is said right before or after something else, or who says it."""
    anchor, wanted = _asked(beside["anchor"], speakers), _asked(beside["asked"], speakers)
    found = _matching(anchor, quotable) if anchor.words else []
    if not found:
        return Answer()
    at = quotable.index(found[0])
    others = quotable[at + 1 :] if beside["side"].lower() == "after" else quotable[:at][::-1]
    same = (one for one in others if one.scene.video == found[0].scene.video)
    next_one = next((one for one in same if _said_by(one, wanted.who)), None)
    if next_one is None:
        return Answer()
    return Answer(f"At {clock(next_one.evidence.start_ms)}: {_quote(next_one)}", (next_one, found[0]))


def _value(asked: _Asked, quotable: Sequence[Moment]) -> Answer:
    """What holds in the end of something, or at first where that is asked for."""
    need = next((name for name, form in _NEEDS if form.search(asked.text)), None)
    fits = []
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
    if _PAST.search(asked.text):
        return _answer_with(_dated, course[:1])
    last, *former = course[::-1]

    def value(one: Moment) -> str:
        return fold(value_for(need, one.evidence.text) or "") if need else one.evidence.text

    return Answer(_dated(last), (last,), tuple(one for one in former if value(one) != value(last)))


def _kind_of(one: Moment, asked: _Asked) -> str | None:
    """Of which kind a value is that nothing is asked for by name: the only one that a line gives.

    None where it gives none or more, or where it is asked what somebody said.
    """
    has = values(one.evidence.text)
    kind = next(iter(has), None) if len(has) == 1 and asked.who is None else None
    return kind if kind and len(has[kind]) == 1 else None


def _dated(one: Moment) -> str:
    return f"At {clock(one.evidence.start_ms)} {_quote(one)}"


def _gives(need: str | None, one: Moment, asked: _Asked) -> bool:
    """Whether a line gives what is asked for, beyond what the question says itself."""
    given = fold(asked.text)
    if need is None:
        return bool(_stems(one.evidence.text) - asked.words) or given.startswith(
            ("is ", "are ", "did ", "was ")
        )
    has = values(one.evidence.text)
    return any(fold(value) not in given for kind in KINDS[need] for value in has.get(kind, ()))
