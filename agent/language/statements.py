"""What the user says of people and things, as facts in the user's own words: read without a model. Pure text.

"Mia is allergic to nuts" is no task, so the task graph tells nothing of it. Only plain sentences are taken: a
name, 'I', or a thing of somebody's, with a verb that tells how it is. What cannot be read as one is left to a
model (`agent/models/narrator.py`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from taskloom.memory.consolidate import Exchange
from taskloom.memory.ranking import stems
from taskloom.memory.records import Fact, record_id
from taskloom.memory.words import STOP, fold, word_set

from .words import CONTAINERS, DO, EVENTS, MOODS

SAID = "profile.said"
"""The head of their slots: one of them in one person's profile holds one value at a time, in all threads."""

_LONGEST = 300  # characters of a sentence that is kept

_NO_NAME = (STOP | DO | EVENTS | CONTAINERS) - {"will", "may", "mark", "bill", "rose", "grant"}
_DAYS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays"
    " saturdays sundays january february march april june july august september october november december"
    " today tomorrow tonight yes no ok okay thanks hello hi hey great dear everyone everybody nobody"
)

_NAME = r"[^\W\d_a-z][\w-]*(?: [^\W\d_a-z][\w-]*)*"
_NOUN = r"(?:[\w'-]+ ){0,3}?[\w'-]+"
_VERB = (
    "is|are|was|were|am|has|have|had|can|can't|cannot|could|couldn't|doesn't|does|don't|do|didn't|isn't"
    "|aren't|wasn't|weren't|hasn't|haven't|never|always|usually|often|only|still|also|really|likes?|loves?"
    "|hates?|prefers?|wants?|needs?|lives?|lived|works?|worked|plays?|played|speaks?|knows?|drinks?|eats?"
    "|drives?|stud(?:ies|y|ied)|owns?|owned|wears?|moved|moves|enjoys?|dislikes?|avoids?|collects?"
    "|teach(?:es)?|taught|runs?|takes?|goes|go|stays?|sleeps?|smokes?|became|got|broke|left|started|stopped"
    "|quit|married|bought|sold|graduated|retired|used to|grew|comes?|came|suffers?|turns?|turned|supports?"
    "|sings?|rides?|swims?|cooks?|bakes?|paints?|reads?|met|lost|won|visited|arrives?|flies|fly|weighs?|costs?"
    "|gave|said|told|thinks?|believes?"
)
_LEAD = re.compile(
    r"^(?:(?:(?:please )?(?:remember|note|know|don't forget|keep in mind)(?: that|:)?|for the record|fyi"
    r"|by the way|btw|just so you know|you (?:should|must) know(?: that)?|also|oh|and|well|actually|now|so"
    r"|but|because|since|remember|note)\b[\s,:]*)+",
    re.IGNORECASE,
)
_TRAIL = re.compile(r",? (?:by the way|btw|you know|for the record|just so you know)$", re.IGNORECASE)
_SUBJECT = re.compile(
    rf"(?P<who>{_NAME}(?:(?:, | and |, and | & ){_NAME})*)(?P<of>'s {_NOUN})? (?P<told>(?:{_VERB})\b.*)$"
)
_MINE = re.compile(rf"(?:my|our) (?P<of>{_NOUN}) (?P<told>(?:{_VERB})\b.*)$", re.IGNORECASE)
_ME = re.compile(rf"(?:i|we) (?P<told>(?:{_VERB})\b.*)$", re.IGNORECASE)
_THING = re.compile(rf"the (?P<of>{_NOUN}) (?P<told>(?:is|are|has|have|costs?)\b.*)$", re.IGNORECASE)
_SHE = re.compile(r"^(?:he|she)\b", re.IGNORECASE)
_SHORT = (("'m", " am"), ("'re", " are"), ("'ve", " have"), ("'d", " would"), ("'ll", " will"))
_TASK = re.compile(
    rf"(?:want|need|have|am going|would like|are going|am)(?: to| (?:{'|'.join(sorted(MOODS))}))\b",
    re.IGNORECASE,
)

_NOT = re.compile(
    r"\b(?:not|never|no longer|any ?more|any longer|doesn't|don't|didn't|isn't|aren't|wasn't|can't|cannot"
    r"|couldn't|hasn't|haven't|stopped|quit)\b",
    re.IGNORECASE,
)
_LIKES = re.compile(r"(?:likes?|loves?|enjoys?)\b", re.IGNORECASE)
_HATES = re.compile(r"(?:hates?|dislikes?)\b", re.IGNORECASE)
_SINGLE = {
    "home": re.compile(r"(?:now |still )?(?:lives? (?:in|at|on|near)|moved to)\b"),
    "workplace": re.compile(r"(?:now |still )?works? (?:at|for|in)\b"),
    "job": re.compile(r"(?:now |still )?works? as\b"),
    "age": re.compile(r"(?:is|am|turned|turns) \d+\b"),
}
"""What a person has one of at a time, by how it is said."""
_SECOND = re.compile(rf"(?:,| and| but| while) ({_NAME}|I|we|he|she|they) (?:{_VERB})\b")
_AND_STATES = re.compile(
    r"(?<=[ ,])and (?:(?:he|she) )?(?=(?:now |also )?(?:is|has|lives|works|likes|loves|hates|prefers|needs"
    r"|speaks|plays|drives|studies|owns|eats|drinks|cannot|can't|doesn't|moved|wears|collects|teaches|runs) )"
)
_REFERS = re.compile(r"\b(?:it|them|him|her|that|too|also|neither|either|so)\b", re.IGNORECASE)
_PLANNED = (EVENTS | CONTAINERS) - {"birthday", "anniversary"}
_EXACT = re.compile(r"[^\W\d_a-z]|[\d@]")
_ATTRIBUTE = re.compile(
    r"\b(?:name|number|address|e-?mail|birthday|anniversary|age|size|colou?r|job|password|code|favou?rite\b.*)$"
)
_CALLED = re.compile(r"(?:is|are|was|were) (?:called|named)\b")
_FILLER = frozenset(
    stems("now always usually often really still also very currently anymore longer any more")
)

_HYPOTHETICAL = re.compile(
    r"^(?:what if|what would|suppose|supposing|imagine|(?:just )?hypothetically|in theory|theoretically|maybe"
    r"|perhaps|i wish|it would(?: have)?|it might|i might|we might|might|if (?:we|i|it|they|only)\b"
    r"|would it be|(?:i(?:'m| am) )?not sure|i don'?t know|(?:i(?:'ll| will)|let me) think"
    r"|i(?:'m| am| was| keep|'ve been)? (?:still )?(?:think(?:ing)?|wonder(?:ing)?|consider(?:ing)?"
    r"|debat\w+) (?:about|of|if|whether)|(?:i |we )?haven'?t decided|undecided|i could|we could|possibly"
    r"|could be|not decided|who knows|leave it as it is|leave (?:it|everything|that) (?:as|like)|let'?s wait"
    r"|i wonder|wondering|i keep|we(?:'ll| will) see|let'?s see|in case)\b",
    re.IGNORECASE,
)


def statements(turns: Sequence[Exchange], changed: Container[int] = ()) -> tuple[Fact, ...]:
    """The facts that sentences of the user tell.

    Args:
        turns: of one thread.
        changed: turns that changed tasks; what "the door is blue" is about they know better.
    """
    found = {}
    for turn in turns:
        if turn.speaker:
            continue
        for sentence in _sentences(turn.said):
            fact = _fact(sentence, turn, things=turn.turn not in changed)
            if fact is not None:
                found[fact.id] = fact
    return tuple(found.values())


def tells(text: str) -> bool:
    """Whether a sentence of a text tells something of a person, of the user, or of a thing."""
    return any(_read_expanded(sentence, things=True) is not None for sentence in _sentences(text))


def is_statement(fact: Fact) -> bool:
    """Whether a fact is one of these: told in the user's own words."""
    return fact.slot is not None and fact.slot.startswith(SAID)


def _sentences(text: str) -> Iterable[str]:
    """The sentences that state something, without what leads in to them; 'she' is the one named before."""
    named: list[str] = []
    for match in re.finditer(r"(?:[^.!?;\n]|[.](?=\S))+[.!?;\n]*", text.replace("’", "'")):
        whole = match[0].strip()
        if not whole or whole.endswith("?") or len(whole) > _LONGEST:
            named = []
            continue
        said = _TRAIL.sub("", _LEAD.sub("", whole.rstrip(".!; ")))
        if _SHE.match(said) and len(named) == 1:
            said = _SHE.sub(named[0], said)
        else:
            named = [name for name in re.findall(rf"\b{_NAME}", said) if is_name(name)]
        yield from _clauses(said)


def _clauses(said: str) -> Iterable[str]:
    """'Mia is vegetarian and Tom drives' as two; where one takes up the other ('it'), they stay together."""
    who = _SUBJECT.match(said)
    if who and not who["of"] and is_name(who["who"]) and " and " not in who["who"]:
        said = _AND_STATES.sub(f"and {who['who']} ", said)  # 'Mia is a nurse and (she) lives in Oslo'
    joint = _SECOND.search(said)
    if joint is None or not is_name(joint[1]) or _REFERS.search(said, joint.start(1)):
        return [said]
    first = said[: joint.start()].rstrip(" ,")
    if _read(first, things=False) is None:  # 'Tom and Ana are married'
        return [said]
    return [first, *_clauses(said[joint.start(1) :])]


def is_name(words: str) -> bool:
    """Whether capitalised words can be a name: their first is no little word, verb, event or day."""
    return fold(words).split()[0] not in _NO_NAME | _DAYS


def _fact(said: str, turn: Exchange, *, things: bool) -> Fact | None:
    """The fact of one sentence; None where it states nothing. things: whether it may be about 'the' thing."""
    read = _read_expanded(said, things=things)
    if read is None:
        return None
    people, of, predicate = read
    slot, value = _slot(of, predicate)
    return Fact(
        id=record_id(turn.thread, turn.turn, "fact", said),
        text=f"{said[:1].upper()}{said[1:]}.",
        at=turn.at,
        thread=turn.thread,
        turn=turn.turn,
        people=people,
        slot=f"{SAID}.{slot.replace('.', ' ')}",
        value=value,
        sources=(turn.turn,),
    )


def _read_expanded(said: str, *, things: bool) -> tuple[tuple[str, ...], str, str] | None:
    """What `_read` gives of a sentence with its short forms written out; None for a mere thought."""
    plain = re.sub(
        rf"^({_NAME}|he|she|it|that)'s (?=(?:an?|the|not|\w+ing|\w+ed|allergic|from|in|at)\b)",
        r"\1 is ",
        said,
    )
    for short, full in _SHORT:
        plain = plain.replace(short, full)
    return None if _HYPOTHETICAL.match(said) else _read(plain, things=things)


def _read(plain: str, *, things: bool) -> tuple[tuple[str, ...], str, str] | None:
    """Whom a sentence is about (nobody: the user), which thing of theirs, and what it tells; or None."""
    if match := _SUBJECT.match(plain):
        people = tuple(re.split(r", and |, | and | & ", match["who"]))
        if all(map(is_name, people)):
            others = (one[1] for one in _SECOND.finditer(match["told"]) if is_name(one[1]))
            return (*people, *others), (match["of"] or "")[3:], match["told"]
    if match := _MINE.match(plain):
        last = match["of"].lower().split()[-1]
        people = tuple(name for name in re.findall(rf"\b{_NAME}", match["of"]) if is_name(name))
        return None if last in _PLANNED else (people, match["of"], match["told"])
    if match := _ME.match(plain):
        return None if _TASK.match(match["told"]) else ((), "", match["told"])
    match = _THING.match(plain) if things else None
    return ((), match["of"], match["told"]) if match else None


def _slot(of: str, statement: str) -> tuple[str, str]:
    """What a sentence gives a value of, and the value: 'yes' or 'no' where there is no other."""
    if _SECOND.search(statement):
        return " ".join((*stems(of), *stems(statement))), "yes"
    no = bool(_NOT.search(statement))
    verb, _, rest = statement.partition(" ")
    if of and not no:
        if _CALLED.match(statement):
            return f"{' '.join(stems(of))} name", rest
        if verb in ("is", "are", "was", "were") and (_EXACT.search(rest) or _ATTRIBUTE.search(of)):
            return " ".join(stems(of)), rest
    for name, pattern in _SINGLE.items():
        if pattern.match(statement) and not of and not no:
            return name, statement
    if _LIKES.match(statement) or _HATES.match(statement):
        no = no != bool(_HATES.match(statement))
        statement = f"likes {rest}"
    words = [stem for stem in stems(_NOT.sub(" ", statement)) if stem not in _FILLER]
    return " ".join((*stems(of), *words)) or "is", "no" if no else "yes"
