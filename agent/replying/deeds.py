"""Acts that a reply claims: booked, paid, called, sent. Pure.

The assistant keeps notes and does nothing else but by tools. What it says it did must be a note or a tool's
act; what it says was done, by whomever, must be a tool's act, told by the user, or a task that is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from taskloom.agent.language.everyday import NOTES
from taskloom.agent.language.wording import sentences
from taskloom.memory.words import STOP, stem, word_set, words

from .figures import number_of_words

# Verbs that stand for one kind of act, each followed by its past; a verb with two pasts stands twice.
_ACTS = {
    "book": "book booked reserve reserved secure secured",
    "pay": """pay paid transfer transferred deposit deposited refund refunded charge charged""",
    "buy": "buy bought purchase purchased order ordered acquire acquired",
    "send": """send sent mail mailed email emailed ship shipped forward forwarded post posted deliver
        delivered dispatch dispatched""",
    "tell": """tell told call called phone phoned ring rang contact contacted inform informed notify
        notified text texted message messaged remind reminded ask asked alert alerted
        speak spoke speak spoken talk talked write wrote write written""",
    "invite": "invite invited",
    "confirm": """confirm confirmed agree agreed accept accepted approve approved reply replied respond
        responded decline declined""",
    "submit": """submit submitted file filed register registered enrol enrolled enroll enrolled apply
        applied upload uploaded publish published sign signed""",
    "hire": "hire hired rent rented",
    "print": "print printed",
    "download": "download downloaded install installed deploy deployed launch launched run ran",
    "search": """search searched google googled research researched browse browsed look looked find found""",
    "pick": "pick picked fetch fetched drop dropped",
}
_KIN = {stem(word): kind for kind, verbs in _ACTS.items() for word in verbs.split()}
_PAST = frozenset(past for verbs in _ACTS.values() for past in verbs.split()[1::2])
_OWN = word_set(  # only where the assistant says it of itself: else they are said of much
    """told asked spoke spoken talked wrote written looked found picked ran rang dropped fetched searched
    browsed called signed filed applied charged"""
)
_NO_PAST = word_set("need feed seed speed breed heed proceed exceed succeed indeed")

_OFTEN = r"(?:just|now|already|also|(?:gone|went) ahead and|successfully|even|then|both|since|only|simply)"
_FIRST = re.compile(rf"\b(?:I|we)(?:['’]ve| have)?(?: {_OFTEN})* (?P<verb>[\w-]+)")
_WILL = re.compile(
    r"\b(?:(?:I|we)(?:['’]ll| will|['’]m going to| am going to|['’]re going to)|let me)"
    r"(?: (?:just|now|also|then|go ahead and|immediately|gladly|happily))* (?P<verb>[\w-]+)",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\b(?:I['’]m|I am|we['’]re|we are) (?:now |just |already |also |currently )*(?P<verb>\w+ing)\b"
)
_ISSUED = r"(?:made|placed|put in|set up|set|scheduled|created|arranged|got|issued)"
_PAPER = r"(?:reservation|booking|order|payment|phone call|call|appointment|reminder|alarm|purchase|tickets?)"
_SAYINGS = re.compile(
    rf"\b{_ISSUED} (?:you )?(?:an?|the|your) (?:\w+ )?{_PAPER}\b"
    r"|\bon (?:its|their|the) way\b|\bin the mail\b|\bw(?:ent|as put) through\b|\bt(?:aken|ook) care of\b"
    r"|\breminders? (?:is|are|has been|have been|was|were) (?:now )?(?:set|scheduled|created)\b"
    r"|\bI(?:['’]ll| will) (?:let you know|get back to|keep you posted|reach out|follow up|take care of)\b"
    r"|\blet me (?:check with|get back|reach out|look (?:it|that|them) up)\b"
    r"|\breached out\b|\bgot (?:in touch|a refund)\b"
    r"|\blet (?!me|us|you)\w+ know\b|\bcalled back\b|\bwent out\b"
    r"|\byou(?:['’]ll| will) (?:soon |shortly )?be (?:reminded|notified|contacted|called|told)\b"
    r"|\byou(?:['’]ll| will) (?:soon |shortly )?(?:receive|get) an? ",
    re.IGNORECASE,
)
_NO = r"not|\w+n['’]t|never|no|none|nothing|cannot|should|could|would|can|might"
_UNREAL = re.compile(
    rf"\b(?:{_NO}|nobody|without|neither|nor|only noted|yet to|to be|to get|to have|may|must|needs?"
    r"|if|once|when|until|till|unless|before|after|as soon as|whether|still to|wait\w*|want\w*|like"
    r"|as|be|instead of|than|rather)\b",
    re.IGNORECASE,
)
_REFUSING = re.compile(rf"\b(?:{_NO})\b", re.IGNORECASE)
_AIDED = re.compile(
    r"\b(?:is|are|was|were|been|got|['’]s|['’]ve|have|has|you)(?: \w+ly| now| already| all| just)*\s*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,:(—–]\s|\s(?:and|but|so|then|while)\s")
_TOKEN = re.compile(r"[\w’'-]+")
_POINTS = frozenset(
    stem(word)
    for word in STOP
    | word_set(
        """now already also all both them that this one ones thing things cheaper same other first
        second third last just too each every successfully right away today yesterday everything been
        everyone great sure okay good as well no yet"""
    )
)
"""Stems of words that name no thing on which something was done."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What bears out that something was done: a tool's act, the user's words, a task that is done.

    kinds: stems of the verbs in it, one for verbs that mean the same. stems: those of all its words.
    """

    kinds: frozenset[str]
    stems: frozenset[str]


def claimed_deeds(text: str) -> Basis:
    """What the user's words tell of things done; no kinds, where they ask for them or want them."""
    kinds = {_kin(verb) for verb, *_ in _pasts(text, frozenset())}
    return Basis(frozenset(kinds), frozenset(words(text)))


def performed_deeds(text: str) -> Basis:
    """What a task that is done, or the call of a tool, was to do."""
    stems = frozenset(words(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)))
    return Basis(frozenset(_KIN.get(one, one) for one in stems), stems)


def unfounded_claims(
    reply: str, tools: Sequence[Basis], others: Sequence[Basis], open_acts: Iterable[str]
) -> Iterator[str]:
    """What a reply claims to be done and nothing bears out, in words for its writer.

    Args:
        reply: without what is quoted from the plan.
        tools: what tools did.
        others: what the user told, and which tasks are done.
        open_acts: verbs of tasks that are still to be done.
    """
    verbs = frozenset(stem(verb.lower()) for verb in open_acts)
    for start, end in sentences(reply):
        sentence = reply[start:end]
        yield from _own(sentence, tools)
        if _is_question(sentence):
            continue
        for verb, clause, about in _pasts(sentence, verbs):
            asked = re.search(r"\byou\b", clause, re.IGNORECASE) and verb.lower() in (
                "asked",
                "told",
                "called",
            )
            if not asked and not _borne_out(verb, about, (*tools, *others)):
                yield f'says "{verb}", which nobody did: it was only noted'


# ---- what the assistant says of itself ------------------------------------------------------------


def _own(sentence: str, tools: Sequence[Basis]) -> Iterator[str]:
    did = [one for one in _FIRST.finditer(sentence) if _is_past(one["verb"].lower())]
    will = [*_WILL.finditer(sentence), *_DOING.finditer(sentence)]
    will = [one for one in will if _kin(one["verb"]) in _ACTS and _kin(one["verb"]) != "pick"]
    for match in (*did, *will):
        verb, rest = match["verb"].lower(), sentence[match.end() :]
        named = verb in ("call", "called", "calling") and re.match(r" (?:it|this|that|them) [\"“A-Z]", rest)
        refused = _REFUSING.search(_clause(sentence[: match.start()])) or re.match(r" (?:nothing|no)\b", rest)
        if not named and not refused and not _borne_out(verb, _clause_after(rest), tools):
            yield f'says that you "{verb}" something, which you did not: no tool did it, it was only noted'
    for match in _SAYINGS.finditer(sentence):
        said = {_KIN.get(one, one) for one in words(match[0])} - STOP
        by_tools = any(said & (basis.kinds | basis.stems) for basis in tools)
        if not by_tools and not _UNREAL.search(_clause(sentence[: match.start()])):
            yield f'says "{match[0]}", which is not so: it was only noted'


def _is_past(verb: str) -> bool:
    past = verb in _PAST or verb == "run" or (verb.endswith("ed") and verb not in _NO_PAST)
    return past and verb not in NOTES


# ---- what is said to be done, by whomever ---------------------------------------------------------


def _pasts(text: str, verbs: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """The acts that a text says were done: the verb, what stands before it, and the clause around it."""
    for match in _TOKEN.finditer(text):
        word, after, clause = match[0].lower(), text[match.end() :], _clause(text[: match.start()])
        heading = not clause.strip() and re.match(r"\s+(?:by|as)\b|\s*(?:[:!]|$)", after)
        if _claims(word, clause, verbs) and not heading and not _UNREAL.search(clause):
            yield match[0], clause, f"{clause} {_clause_after(after)}"


def _claims(word: str, clause: str, verbs: frozenset[str]) -> bool:
    """Whether a word after a clause says that something was done: 'the hall is booked', 'I have called'."""
    if word == "called" and not re.search(r"\b(?:I|we|you|have|has|['’]ve)\b", clause):
        return False  # 'a trip called Rome'
    if word in _OWN:
        return bool(re.search(r"\b(?:I|has|have) $", clause))
    acted = word.endswith("ed") and stem(word) in verbs and word not in NOTES and _AIDED.search(clause)
    return word in _PAST or bool(acted)


def _borne_out(verb: str, about: str, found: Iterable[Basis]) -> bool:
    """Whether something bears out such an act, on one of the things that the clause names."""
    kind = _kin(verb)
    things = {
        one
        for one in words(about)
        if one not in _POINTS
        and _KIN.get(one, one) != kind
        and not one.isdigit()
        and number_of_words(one) is None
    }
    return any(
        (kind in basis.kinds or any(_alike(stem(verb.lower()), one) for one in basis.stems))
        and (not things or things & basis.stems)
        for basis in found
    )


def _alike(verb: str, other: str) -> bool:
    """'calculat' and 'calculator'."""
    return verb == other or (len(verb) > 5 and other[:6] == verb[:6])


def _kin(verb: str) -> str:
    found = stem(verb.lower())
    return _KIN.get(found, found)


def _clause(before: str) -> str:
    """The part of a sentence that goes on to its end, from the last break in it."""
    return _CLAUSE.split(before)[-1]


def _clause_after(rest: str) -> str:
    return re.split(r"[,;:.!?(—–]|\s(?:and|but|so|then|while|which)\s", rest, maxsplit=1)[0]


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") and not re.search(r"\b(?:I|we)(?:['’]ve| have)\b", sentence)
