"""What a question on recordings asks for and is about: seen from its words, without a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from taskloom.memory.ranking import stems
from taskloom.memory.words import STOP, fold

from .moments import is_called

Kind: TypeAlias = Literal["speakers", "beside", "count", "mentioned", "shown", "screen", "who", "value"]
WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")

_SAYING = (
    r"say|says|said|saying|mention(?:s|ed)?|talk(?:s|ed|ing)?|speak(?:s|ing)?|spoke|spoken|suggest(?:s|ed)?"
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
_TIMES = re.compile(
    r"\bhow (?:many (?:times|occasions|lines|mentions|references|of [A-Z]\w+'s lines)|often|frequently)\b",
    re.IGNORECASE,
)
_SPEAKERS = re.compile(
    r"\bhow many (?:\w+ )?(?:people|persons|folks?|guys|men|women|speakers|voices|participants"
    r"|of (?:them|us))\b.*"
    r"\b(?:speak|talk|speaking|talking|say|are there|in|take part|took part|heard|recording|meeting|video"
    r"|call|conversation|discussion)\b"
    r"|\b(?:how many|number of) (?:people|folks?|speakers|voices|participants)\W*$",
    re.IGNORECASE,
)
_PEOPLE = re.compile(r"\bhow many (people|persons|folks)\b", re.IGNORECASE)
_WHEN = re.compile(
    r"^\W*(?:(?:from |since )?when|at (?:what|which) (?:time|point|moment|minute|second)"
    r"|what (?:minute|second)|whereabouts|where in the|where\b.*\b(?:first|starts?|begins?)"
    r"|how (?:soon|(?:long|much time) (?:\w+ ){,3}(?:until|till?|before))"
    r"|how (?:far|long|many (?:minutes|seconds)) in(?:to)?|what (?:is|was) the (?:first|earliest))\b"
    r"|\b(?:first|earliest) (?:mention|reference)\b",
    re.IGNORECASE,
)
_SAID_TO_BE = re.compile(
    r"^\W*when (?:did|do|does) .*\b(?:say|think|reckon|agree|decide|announce)\b"
    r"(?!.*\b(?:what|who|where|how)\b).*\b(?:is|are|was|were|be|happens?|starts?|begins?|takes? place)\W*$",
    re.IGNORECASE,
)
"""When something is to be, not when that was said: "when did they say the trip would be"."""
_HEARD = re.compile(
    r"\b(?:do|does|did) \w+ (?:\w+ ){1,3}about\b|\b(?:hears?|heard|refer(?:s|red)?|introduced|addressed"
    r"|reference|mention)\b",
    re.IGNORECASE,
)
"""Something is talked of, whatever the verb: "when do we first learn about the bus"."""
_PLACE = re.compile(
    r"\bhow (?:far|long|many (?:minutes|seconds)) (?:in|into)\b|\bwhereabouts\b"
    r"|\b(?:minute|second|timestamp)\b",
    re.IGNORECASE,
)
_IN_RECORDING = re.compile(r"\bin (?:the|this) (?:meeting|recording|video|call|transcript)\b", re.IGNORECASE)
_SHOWING = re.compile(
    r"\b(?:in|from|during|does|do) (?:the|this|a) (?:clip|picture|video|recording)s?(?: show)?\b"
    r"|\b(?:the|this|a) (?:clip|picture|video|recording)s? shows?\b"
    r"|\b(?:shown|(?:be|is|are|was|were) seen)\b|\bseen(?=\W*$)",
    re.IGNORECASE,
)
"""That something is to be seen; no line has to say so."""
_ON_SCREEN = re.compile(
    r"\b(?:(?:is|are|was|were|be|shows?|shown|seen|written|displayed"
    r"|appear(?:s|ed)?|(?:comes?|came|pops?|popped)(?: up)?) )?"
    r"(?:on|onto)(?: the| a)? (?:screens?|slides?)\b",
    re.IGNORECASE,
)
"""That it is words on the screen: nothing that is said answers it."""
_SHORT = (
    (
        re.compile(r"\b(what|when|who|where|how|why|which|that|it|there|he|she)['’]s\b", re.IGNORECASE),
        r"\1 is",
    ),
    (re.compile(r"\b(they|you|we|i|he|she|it|who|that)['’]d\b", re.IGNORECASE), r"\1 would"),
    (re.compile(r"['’]ll\b"), " will"),
    (re.compile(r"['’]re\b"), " are"),
    (re.compile(r"['’]ve\b"), " have"),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"\bgonna\b", re.IGNORECASE), "going to"),
)
"""Short forms and what they stand for."""
_POLITE = re.compile(
    r"^\W*(?:please )?(?:(?:do|can|could|would) you )?(?:please )?"
    r"(?:know|remember|tell me|remind me|give me|show me|let me know|find(?: out)?|say|state|quote"
    r"|i (?:want|would like) to know)\b\W*(?=\w)",
    re.IGNORECASE,
)
"""What leads to a question: "can you tell me"."""
_LINE = re.compile(r"\b(?:lines?|sentences?|remarks?)\b", re.IGNORECASE)
_PHRASES = re.compile(
    r"\b(?:takes?|took) (?:place|it on|on)\b|\bsets? \w+ back\b|\bto whom does it fall\b"
    r"|\b(?:in|on|of|from|during) (?:the|this) (?:video )?call\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"^\W*(?:(?:by|for|from|on|to|with) )?(?:who|whom|whose|which (?:person|speaker)"
    r"|(?:name )?the (?:person|one|speaker) who)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"^(?!\W*how (?:long|much time)\b)(?P<asked>.*?)"
    r"\b(?:(?:right|just|directly|immediately|straight|shortly) )?(?P<side>after|before) (?P<anchor>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_PAST = re.compile(r"\b(?:originally|at first|initially|before (?:that|it (?:was )?changed)|first planned)\b",
                   re.IGNORECASE)  # fmt: skip
_ASKING = """
    who whom whose what which when where why how many much often time times point moment minute did does do
    was were is are be been anyone anybody someone somebody everybody everyone meeting recording video
    talk find come comes came up out need needs want wants get gets got make made going have has use used
    people person speaker speakers first last originally initially planned finally final decided decide
    decision current currently now still end eventually agreed there plan new right just directly immediately
    straight shortly after before following next thing exactly latest happen happens happening set chosen
    line lines sentence word words job task matter all else far whereabouts folk folks them us occasions due
    earliest reference references mention mentions timestamp sentence remark topic others
"""
_LITTLE = STOP | frozenset(_ASKING.split())
_NEEDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("money", re.compile(r"\bhow much\b|\b(?:prices?|costs?|budget|fee|rent|bill|invoice|quote|total"
                         r"|pay(?:s|ing)?|paid|owe|spent|spend(?:s|ing)?|sets? \w+ back"
                         r"|charg(?:e|ed|es|ing)|expensive|(?:fork|shell)(?:s|ed|ing)? out)\b",
                         re.IGNORECASE)),
    ("number", re.compile(r"\bhow (?:many|old|long|far|big|large|high)\b"
                          r"|\b(?:amount|number|figure|sum|quantity|count)\b", re.IGNORECASE)),
    ("clock", re.compile(r"\b(?:what|which) time\b|\bstart time\b", re.IGNORECASE)),
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|week)\b|\b(?:date|day|deadline)\b",
                        re.IGNORECASE)),
)  # fmt: skip
_REST = frozenset(("left", "remaining", "missing"))  # of an amount: that is another one
ARTICLES = frozenset(("the", "a", "an", "our", "my", "your", "his", "her", "their", "this", "that"))
_LEADING = ARTICLES | frozenset(("many", "much", "of", "about", "for", "on", "with", "these", "those", "any"))
_DO = frozenset(("do", "does", "did"))
_BEHIND_VERB = frozenset(
    ("up", "out", "in", "on", "off", "over", "to", "at", "from", "for", "by", "with", "first", "last", "now")
)
_JOINING = frozenset(("of", "for", "on", "about", "with", "in", "at", "from", "to"))
_NEEDING = frozenset(
    ("cost", "costs", "price", "prices", "pay", "pays", "paid", "spend", "settle", "settled", "day", "days",
     "date", "dates", "euros", "expensive", "number", "amount", "quantity", "count", "total",
     "money", "bill", "invoice", "quote")
)  # fmt: skip
"""Words that say of which kind a value is, and nothing of what it is of, where something else does."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, taken apart, in stems.

    kind: who speaks (speakers), what is said beside something, how often, when it is mentioned or shown,
    or is on the screen, who says or does it, or else a value. need: its kind, a key of `revising.KINDS`;
    None if not told. past: whether it is asked what was at first. words: all that carry meaning. subject:
    of these what it is about, with what is done to it; a line must have most of them. firm: names and
    numbers, which it must all have. phrase: the words in their order. who: the speaker that it names.
    anchor: of "before" and "after" what stands there, and which side of it is asked for.
    """

    text: str
    kind: Kind
    need: str | None
    past: bool
    words: frozenset[str]
    subject: frozenset[str]
    firm: frozenset[str]
    phrase: tuple[str, ...]
    who: str | None
    anchor: tuple[Asked, str] | None = None


def of_recordings(question: str) -> bool:
    """Whether a question is about what somebody said, or about a recording."""
    return _SAID_BY.search(question) is not None


def asked_in(question: str, speakers: Sequence[str]) -> Asked:
    """A question taken apart. speakers: those whose names it may have."""
    for form, whole in _SHORT:
        question = form.sub(whole, question)
    question = _POLITE.sub("", question)
    asked = _parts(question, speakers, "value")
    beside = _BESIDE.match(question)
    if _SPEAKERS.search(question):
        return replace(asked, kind="speakers")
    if beside:
        wanted, anchor = (_parts(beside[part], speakers, "beside") for part in ("asked", "anchor"))
        names = wanted.firm or any(fold(word) in _LEADING for word in WORD.findall(beside["asked"]))
        said = _SAID.search(question) or _LINE.search(beside["asked"])
        if (not wanted.words and said) or (anchor.who and not names):
            return replace(wanted, anchor=(anchor, beside["side"].lower()))
    return replace(asked, kind=_kind(question))


def loosely(asked: Asked) -> Asked | None:
    """The same question by the last thing that it names, whatever else it says.

    None where that is not enough: of a value that is asked for the rest tells which.
    """
    things = _things(asked.text, done=asked.kind == "who")
    if not things or asked.kind == "value" or _are_joined(asked.text, things[-2:]):
        return None
    last = " ".join(things[-1].words)
    return replace(asked, words=stems_of(last), subject=stems_of(last), phrase=tuple(stems(last)))


def _are_joined(question: str, things: Sequence[_Thing]) -> bool:
    """Whether there are two things, of which one tells which other is meant: "the paint for the hall"."""
    if len(things) < 2:
        return False
    between = WORD.findall(question)[things[0].end : things[1].start]
    return _JOINING.issuperset(map(fold, between))


def _kind(question: str) -> Kind:
    if _TIMES.search(question):
        return "count"
    if _WHEN.search(question) and _ON_SCREEN.search(question):
        return "screen"
    if _WHEN.search(question) and not _SAID_TO_BE.match(question):
        if any(form.search(question) for form in (_SAID, _HEARD, _PLACE, _IN_RECORDING)):
            return "mentioned"
        if _SHOWING.search(question):
            return "shown"
    return "who" if _WHO.match(question) else "value"


def _parts(question: str, speakers: Iterable[str], kind: Kind) -> Asked:
    """What a question is about."""
    need = next((name for name, form in _NEEDS if form.search(question)), None)
    question = _PHRASES.sub(" ", question)
    shorter = _SHOWING.sub(" ", _ON_SCREEN.sub(" ", question))
    if any(fold(word) not in _LITTLE for word in WORD.findall(shorter)):
        question = shorter
    who = next((one for one in speakers if one and _names(question, one)), None)
    subject = question if who is None else _without(question, who)
    words = [word for word in WORD.findall(_TALK.sub(" ", subject)) if fold(word) not in _LITTLE]
    words = [word for word in words if fold(word) not in _NEEDING] or words
    firm = [word for word in words if any(map(str.isdigit, word)) or (word[0].isupper() and len(word) > 1)]
    firm += [word for word in words if need in ("money", "number") and fold(word) in _REST]
    first = next(iter(WORD.findall(question)), "")
    things = [word for thing in _things(subject, done=need is None) for word in thing.words]
    people = _PEOPLE.search(question)  # no word of what it is about, but what is counted
    counted = [people[1]] if people and need == "number" and not things else words
    return Asked(
        text=question,
        kind=kind,
        need=need,
        past=_PAST.search(question) is not None,
        words=stems_of(" ".join(words)),
        subject=stems_of(" ".join(things)) or stems_of(" ".join(words)),
        firm=stems_of(" ".join(word for word in firm if word != first)),
        phrase=tuple(stem for word in (need and things) or counted for stem in stems(word)),
        who=who,
    )


class _Thing(NamedTuple):
    """Nouns of a question. start, end: the places of what leads to them and of what follows them."""

    start: int
    end: int
    words: tuple[str, ...]


def _things(question: str, *, done: bool) -> list[_Thing]:
    """The nouns after each "the", "many" or "about".

    done: with the verb before them, as in "order the flowers".
    """
    tokens = WORD.findall(question)
    little = _LITTLE | _NEEDING | _LEADING
    plain = [fold(token) in little or _SAID.fullmatch(token) is not None for token in tokens]
    found: list[_Thing] = []
    for at, token in enumerate(tokens):
        if fold(token) in _LEADING:
            ends = (n for n in range(at + 1, len(tokens)) if plain[n] or (n > at + 1 and _is_done(tokens[n])))
            end = next(ends, len(tokens))
            asks = at > 0 and fold(tokens[at - 1]) in _DO
            if asks and end > at + 2 and (end == len(tokens) or fold(tokens[end]) in _BEHIND_VERB):
                end -= 1  # "does the bus leave", "did the launch crop up"
            if end > at + 1:
                verb = done and fold(token) in ARTICLES and at and not plain[at - 1]
                found.append(_Thing(at, end, (*tokens[at + 1 : end], *([tokens[at - 1]] if verb else []))))
    return found


def _is_done(word: str) -> bool:
    """Whether a word after a noun tells what is done to it: "the audit moved to"."""
    return word.endswith("ed") and len(word) > len("shed")


def _names(question: str, speaker: str) -> bool:
    """Whether a question names a speaker."""
    return any(
        is_called(speaker, word) for word in WORD.findall(question.replace("'s", "")) if word[0].isupper()
    )


def _without(question: str, speaker: str) -> str:
    """A question without a speaker's name."""
    return WORD.sub(lambda word: "" if is_called(speaker, word[0].removesuffix("'s")) else word[0], question)


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text, each once."""
    return frozenset(stems(text))
