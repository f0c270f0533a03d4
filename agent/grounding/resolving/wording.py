"""What clauses are where their words say more than their marks: joined, of another act, corrected. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, zip_longest

from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.memory.actions import VERBS, is_action

from .plain import words_outside
from .scoring import bare

_STEPS = re.compile(
    r"\W*(?:(?:still|things) )?(?:to[ -]?dos?|steps|tasks|checklist)(?: list)?:", re.IGNORECASE
)
_SEPARATES = re.compile(r"\s*(?:,|&|,? ?\b(?:and|then)\b)(?: (?:and|then|to|also))*\s*", re.IGNORECASE)
_FOR = re.compile(r"\W*(?:(?:and|so|now|then|next),? )*(?:to|for|in order to|when|if)\b", re.IGNORECASE)
_STAYS = re.compile(r"\s+(?:can |will |should )?(?:stays?|remains?|is staying|are staying)\b", re.IGNORECASE)
_LEAVES = re.compile(
    r"\b(?:leaves?|leaving|left|quits?|out of|off|from)\s+(?:(?:the|my|our|his|her)\s+)?$", re.IGNORECASE
)
_CANNOT = re.compile(
    r"\s+(?:can['’]?t|cannot|can not|won['’]?t|isn['’]?t|is not|couldn['’]?t)\b", re.IGNORECASE
)
_FOR_IT = re.compile(
    r"\W*(?:(?:and|also|then|i|we|need|have|must|should|to|please)\s+)*"
    rf"(?P<verb>{'|'.join(sorted(VERBS - {'ask', 'change', 'make', 'move', 'set'}))}|shop)"
    r"(?P<for> (?:for|about) )(?:(?:the|my|our|an?)\s+)?",
    re.IGNORECASE,
)
_MOVED_TO = re.compile(r"\bmoved? (?:in)?to\b", re.IGNORECASE)
_VERB = re.compile(rf"(?:{'|'.join(sorted(VERBS))})(?: (?:up|out|off|down|in|away))?", re.IGNORECASE)
_ARTICLE = re.compile(r"\s+(?:(?:the|an?|some|my|our)\s+)?\s*", re.IGNORECASE)
_OPENED = re.compile(r"\s*\(\s*")
_GOES_ON = re.compile(r"\W*(?:and|&|n|plus)[\s,]+(?:obviously|too|also|as well)?\W*", re.IGNORECASE)
_ALL_STAYS = re.compile(
    r"\W*(?:but |and |though )?\s*(?:still )?(?:stays?|remains?|(?:is|are) staying)"
    r"(?: (?:in|on|put|as is))?\W*",
    re.IGNORECASE,
)
_WITH = re.compile(r"\W*(?:and |together )?with ", re.IGNORECASE)


def as_said(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Clauses as they are said one after the other: joined, parted, corrected, each of the act it is of."""
    told = _listed_apart(tuple(_needed_too(tuple(_bracketed(_corrected(clauses))))))
    return map(_as_meant, _with_values(told))


def _as_meant(clause: Clause) -> Clause:
    """A clause of which the words before it say what it is.

    What is listed after 'to do:' is one step beside the other, as are several things to do in a row, and
    whoever something is 'with' comes along.
    """
    if clause.act in ("task", "add") and not clause.all("WVSP") and _in_a_row(clause):
        role = "T" if clause.act == "task" else "I"
        return replace(clause, mentions=tuple(replace(one, role=role) for one in clause.mentions))
    if clause.act in ("task", "add") and not clause.all("WV") and _STEPS.match(clause.text):
        steps = tuple(replace(one, role="I") if one.role == "T" else one for one in clause.mentions)
        return replace(clause, act="add", mentions=steps)
    if clause.act == "assign" and clause.all("P") and not clause.all("TIWV") and _WITH.match(clause.text):
        return replace(clause, act="add")
    clause = _errand_for(_verb_and_thing(clause))
    if clause.act == "done" and clause.all("V") and _MOVED_TO.search(clause.text):
        return replace(clause, act="set")  # 'cakes moved to the hall'
    if clause.act in ("remove", "assign") and (given := _taken_over(clause)) is not None:
        return given
    if len(clause.mentions) == 1 and _ALL_STAYS.fullmatch(words_outside(clause, "TISV").replace(",", " ")):
        return replace(clause, act="chat", mentions=())
    if clause.act == "remove" and len(clause.all("TIP")) > 1:
        clause = _left_by_name(clause)
    if clause.act in ("remove", "hold") and any(map(stays := partial(_stays, clause), clause.mentions)):
        return replace(clause, mentions=tuple(one for one in clause.mentions if not stays(one)))
    return clause


def _in_a_row(clause: Clause) -> bool:
    """Whether a clause only names things to do, parted as in a list: 'rent a van, pack the boxes'."""
    spans = [one for one in clause.mentions if one.role in "TI"]
    gaps = (clause.text[one.start + len(one.text) : two.start] for one, two in pairwise(spans))
    if len({one.role for one in spans}) < 2 or _FOR.match(clause.text):
        return False  # 'to make a stew, chop celery'
    if not all(map(_SEPARATES.fullmatch, gaps)):
        return False
    return all(is_action(bare(one.text)) or " " not in bare(one.text) for one in spans) and any(
        is_action(bare(one.text)) for one in clause.all("T")
    )


def _verb_and_thing(clause: Clause) -> Clause:
    """A clause, a verb that is marked apart from the one thing behind it with that: 'print' '200 flyers'."""
    things = clause.all("TI")
    if clause.act not in ("task", "add", "set", "shift") or len(things) != 2 or things[0].role != "T":
        return clause
    verb, thing = things
    gap = clause.text[verb.start + len(verb.text) : thing.start]
    amount = [one for one in clause.all("V") if verb.start < one.start < thing.start]
    between = gap.replace(amount[0].text, "", 1) if len(amount) == 1 else gap
    if _VERB.fullmatch(verb.text) is None or _ARTICLE.fullmatch(between) is None:
        return clause
    whole = replace(verb, text=clause.text[verb.start : thing.start + len(thing.text)])
    kept = (one for one in clause.mentions if one not in (thing, *amount))
    return replace(clause, act="task", mentions=tuple(whole if one is verb else one for one in kept))


def _errand_for(clause: Clause) -> Clause:
    """A clause of something to do for a thing, and of no value of that: 'prepare for the interview'."""
    things, found = clause.all("T"), _FOR_IT.match(clause.text)
    if clause.act not in ("set", "task") or len(things) != 1 or clause.all("SOXIP") or found is None:
        return clause
    if things[0].start != found.end() and things[0].start != found.end("for"):
        return clause
    start, end = found.start("verb"), things[0].start + len(things[0].text)
    whole = replace(things[0], text=clause.text[start:end], start=start)
    spans = (whole if span is things[0] else span for span in clause.mentions)
    return replace(clause, act="task", mentions=tuple(spans))


def _taken_over(clause: Clause) -> Clause | None:
    """A clause in which one cannot do something and another does: 'Sam can't bring wine, I'll get it'."""
    people, things = clause.all("P"), clause.all("TI")
    if len(people) != 2 or not things or not people[0].start < things[0].start < people[1].start:
        return None
    after = clause.text[people[0].start + len(people[0].text) :]
    if _CANNOT.match(after) is None:
        return None
    spans = (replace(span, role="O") if span is people[0] else span for span in clause.mentions)
    return replace(clause, act="assign", mentions=tuple(spans))


def _left_by_name(clause: Clause) -> Clause:
    """A clause in which one leaves something, which is where that is: 'Wanda can leave the group'."""
    first = min(one.start for one in clause.all("TIP"))
    spans = tuple(
        replace(one, role="W")
        if one.role == "T" and one.start > first and _LEAVES.search(clause.text[: one.start]) else one
        for one in clause.mentions
    )  # fmt: skip
    return replace(clause, mentions=spans) if any(one.role in "TIP" for one in spans) else clause


def _stays(clause: Clause, mention: Mention) -> bool:
    """Whether a clause says of a thing that it stays: Denver, in 'cancel that one. Denver stays'."""
    after = clause.text[mention.start + len(mention.text) :]
    return mention.role in "TI" and _STAYS.match(after) is not None and len(clause.all("TI")) > 1


def _corrected(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Clauses, what only takes back the value before it for another as one with that: '350, no sorry 300'."""
    before: Clause | None = None
    for clause in clauses:
        other = clause.act in ("undo", "no") and [one.role for one in clause.mentions] == ["V"]
        if before is not None and other and before.all("VX"):
            by = len(before.text) + 1
            kept = [replace(one, role="X") if one.role == "V" else one for one in before.mentions]
            came = (replace(one, start=one.start + by) for one in clause.mentions)
            before = replace(before, text=f"{before.text} {clause.text}", mentions=(*kept, *came))
            continue
        if before is not None:
            yield before
        before = clause
    if before is not None:
        yield before


def _bracketed(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Clauses, whoever stands in brackets behind a thing as who has it: 'tests (Ann), docs (Bo)'."""
    for clause in clauses:
        pairs = [
            (thing, who) for thing, who in pairwise(clause.mentions)
            if thing.role in "IT" and who.role == "P" and _OPENED.fullmatch(
                clause.text[thing.start + len(thing.text.rstrip(" (")) : who.start]
            )
        ]  # fmt: skip
        if clause.act not in ("add", "task", "assign") or not pairs or len(pairs) < len(clause.all("P")):
            yield clause
            continue
        things = [replace(one, text=one.text.rstrip(" (")) for one in clause.mentions if one.role != "P"]
        yield replace(clause, act="task" if clause.act == "task" else "add", mentions=tuple(things))
        for thing, who in pairs:
            own = replace(thing, role="T", text=thing.text.rstrip(" ("))
            yield replace(clause, act="assign", mentions=(own, who))


def _needed_too(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses, what only goes on with 'and' after what a thing waits for (I) as waited for too.

    'The proofs wait for the methods' 'and the figure'.
    """
    for before, clause in zip((None, *clauses), clauses, strict=False):
        alone = clause.act in ("need", "done") and {one.role for one in clause.mentions} == {"T"}
        waits = before is not None and before.act == "need" and before.all("T") and before.all("I")
        if before is not None and alone and waits and _GOES_ON.fullmatch(words_outside(clause, "T")):
            same = tuple(replace(one, start=len(clause.text)) for one in before.all("T"))
            items = tuple(replace(one, role="I") for one in clause.mentions)
            text = clause.text + before.all("T")[0].text
            yield replace(clause, act="need", text=text, mentions=(*items, *same[:1]))
        else:
            yield clause


def _listed_apart(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses, the first of listed things that have values apart from what it is in: 'Ann at 10, Bo at 11'.

    So that the value right behind it is its own, as with the others, and not one of the whole.
    """
    for clause, after in zip_longest(clauses, clauses[1:]):
        spans = clause.mentions
        continues = after is not None and after.act == "add" and _is_valued(after, after.mentions)
        if (
            continues
            and clause.act == "task"
            and len(clause.all("I")) == 1
            and _is_valued(clause, spans[-2:])
        ):
            start = spans[-2].start
            own = tuple(replace(span, start=span.start - start) for span in spans[-2:])
            yield replace(clause, text=clause.text[:start], mentions=spans[:-2])
            yield replace(clause, act="add", text=clause.text[start:], mentions=own)
        else:
            yield clause


def _is_valued(clause: Clause, spans: Sequence[Mention]) -> bool:
    """Whether mentions are things (I), each with a value (V) right behind it: 'the couple at 11'."""
    for thing, value in zip(spans[::2], spans[1::2], strict=False):
        gap = clause.text[thing.start + len(thing.text) : value.start]
        if thing.role + value.role != "IV" or re.search(r"[,;.]", gap) or len(gap.split()) > 2:
            return False
    return len(spans) > 1 and len(spans) % 2 == 0


def _with_values(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """Clauses, each that names a slot and gives it nothing as one with the bare value that is said next.

    'They've altered the late fine of the loan. From now on it's $66.'
    """
    before: Clause | None = None
    for clause in clauses:
        bare = {one.role for one in clause.mentions if one.text.lower() not in ("it", "that")}
        if before is not None and clause.act == "set" and bare == {"V"} and len(clause.all("V")) == 1:
            by = len(before.text) + 1
            moved = (replace(one, start=one.start + by) for one in clause.all("V"))
            clause = replace(before, text=f"{before.text} {clause.text}", mentions=(*before.mentions, *moved))
        elif before is not None:
            yield before
        names_it = clause.act == "set" and clause.all("S") and not clause.all("VCPIXO")
        before = clause if names_it else None
        if before is None:
            yield clause
    if before is not None:
        yield before
