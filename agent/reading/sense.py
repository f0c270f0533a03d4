"""What no reading may do, however likely it is: titles that name nothing, corrections within values. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.agent.language.referring import ALL, DEEDS, EXCEPTING, LEAVES, MOVES, RESTS
from taskloom.agent.language.typed import kind_of, names_a_type
from taskloom.agent.language.values import NUMBER_WORDS
from taskloom.agent.language.wording import base
from taskloom.agent.turn.clauses import Clause
from taskloom.memory.operations import Add, Inactivate, Link, Operation, Remove, Update, apply
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.words import word_set, words

_CORRECTED = re.compile(
    r"\b(?:no,? wait|wait,? no|scratch that|i mean(?:t)?|or rather|make that|nvm|never ?mind|or no)\b",
    re.IGNORECASE,
)
_ORDERS = word_set("swap undo redo overwrite exclude include")  # a plan is told so, and nobody plans to
_LEADING = word_set("concerning regarding with on in for to within about at from as per")  # 'With the party'
_TELLING = word_set("i i'm i've we we're we've let next")  # 'I learned two things', 'let the town be Rome'
_PLANNING = word_set(
    "plan create make organise organize arrange go going get build take come bring"
)  # verbs of a wish, no names
_POINTING_BACK = word_set("it them namely")  # 'give it back': of something that is there
_CUT = re.compile(r"\b(?:and|or|of|the)\s*[,;]")  # 'Tuesdays and, level B1': words were taken out of it
_ASIDE = re.compile(r"\([^)]*\)|[“\"].*[”\"]")
_SETTING = word_set("set change switch raise lower update")  # 'Set the goal to Rome' gives a slot its value
_LONGEST = 12  # words of a title that is a name, and no sentence
_SENTENCE = word_set("i we they you he she it's that which who i've we've they've i'm we're they're ve")
_POINTING = word_set("them it they he she here there")  # 'them green', 'here by May 5': a leftover, no name
_PLACING = ("from", "to")  # slots that are called by their preposition: from York
_MEASURED = ("amount", "date", "time", "duration")  # kinds of values that are not exchanged for a name
_MEASURES = word_set(
    """tba tbd tbc open unknown unclear free included nothing none later soon asap noon midnight midday
    whenever any anytime flexible dawn dusk sunrise sunset lunchtime dinnertime easter christmas halloween
    hour hours half quarter fortnight fiver tenner days weeks"""
)
_CALENDAR = word_set("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec wee yea")
_MOVED = re.compile(
    r"\s*\b(?:later|earlier|sooner|longer|shorter|more|less|fewer|back|forward)\b", re.IGNORECASE
)
_AMOUNT = re.compile(
    rf"\W*(?:\d[\d.,:]*|{'|'.join(NUMBER_WORDS)})\W*(?:(?:more|less|fewer|extra|later|earlier)\b.*)?",
    re.IGNORECASE,
)
_REPLACES = re.compile(
    r"\W*(?:(?:please|and|then|let's|can you)\W+)*(?:replace|swap|switch|exchange)\b", re.IGNORECASE
)
_REPORTS = re.compile(r"\b(?:tells?|told|says?|said|writes?|wrote|reads?|claims?|believes?)\b", re.IGNORECASE)
_NO_HOUR = re.compile(r"(?<![\d:.,])(?:2[5-9]|[3-9]\d|\d{3,}) ?[ap]\.?m\b", re.IGNORECASE)
_NAMELESS = ("detail", "number")  # slots that are called so for want of a name
_NO_NAMES = word_set(
    """a an the it its it's that this these those them they there here one ones thing things is are was were
    be do did does has have had to of for in on at by with from and or but so then too also not no yes ok okay
    you he she we us him her back planning"""
)
_ARTICLES = word_set("the a an my our his her their")


def makes_sense(operations: Sequence[Operation], graph: TaskGraph, turn: int) -> bool:
    """Whether all that operations put into a plan are names and values, and none of them is a circle."""
    if any(
        _is_no_name(text)
        for one in operations
        if isinstance(one, Add | Update)
        for text in (None if one.title in _PLACING else one.title, one.value)
    ):
        return False
    named = sum(isinstance(one, Add) and one.value is None for one in operations)
    if any(_is_no_title(one, named) or _is_no_slot(one) or _is_denied(one) for one in operations):
        return False
    if any(_is_no_person(one, graph) or _is_no_measure(one, graph) for one in operations):
        return False
    if any(_leaves_unsaid(one, graph) for one in operations):
        return False
    if any(_is_moved(one) or _is_amount(one, graph) or _is_of_nothing(one, graph) for one in operations):
        return False
    if not any(isinstance(one, Link) for one in operations):
        return True
    if any(isinstance(one, Link) and _waits_for_its_whole(one, graph) for one in operations):
        return False
    for one in operations:
        outcome = apply(graph, one, turn=turn, said="")
        if isinstance(one, Link) and outcome.refused and one.on not in graph[one.task].depends_on:
            return False
        graph = outcome.graph
    return True


def fits_words(clauses: Sequence[Clause], operations: Sequence[Operation], graph: TaskGraph) -> bool:
    """Whether what was read leaves out nothing that the words say: an exception, that something is there."""
    if any(_loses_exception(clause) or _only_takes_out(clause) for clause in clauses):
        return False
    said = " ".join(clause.text for clause in clauses)
    if any(_is_reported(clause, said) for clause in clauses if clause.act not in ("chat", "unsure")):
        return False
    return not (graph.active and _moves_nothing(said, operations))


def _loses_exception(clause: Clause) -> bool:
    """Whether what is excepted from all that leaves, or is done, was not read: 'all done except Bob's'."""
    if clause.act not in ("remove", "hold", "done") or clause.all("E"):
        return False
    return EXCEPTING.search(clause.text) is not None and any(ALL.match(one.text) for one in clause.mentions)


def _only_takes_out(clause: Clause) -> bool:
    """Whether what is to be replaced, nobody knows by what, would just leave: 'Replace Kenny'."""
    return clause.act in ("remove", "hold") and _REPLACES.match(clause.text) is not None


def says_nothing(clause: Clause) -> bool:
    """Whether a thing would leave, or be done, of which nothing is said: 'the porto thing', and no more."""
    if clause.act not in ("done", "remove", "hold") or not clause.mentions:
        return False
    text = clause.text
    for one in clause.mentions:
        text = text[: one.start] + " " * len(one.text) + text[one.start + len(one.text) :]
    told = {word for one in clause.mentions for word in re.findall(r"[a-z]+", one.text.lower())}
    return not re.search(r"[^\W_]|[✓✔✅☑❌]", text) and not told & DEEDS


def _is_reported(clause: Clause, said: str) -> bool:
    """Whether a clause in capitals only tells what somebody says: 'he says REMOVE ALL OF IT works'."""
    loud = re.search(r"(?:\b[A-Z]{2,}\b\W+){2}[A-Z]{2,}\b", clause.text)
    return loud is not None and _REPORTS.search(said) is not None


def _moves_nothing(said: str, operations: Sequence[Operation]) -> bool:
    """Whether what is to move would be noted as something new: 'move the haircut', of which nobody knows."""
    if MOVES.match(said) is None:
        return False
    made = (done.title for done in operations if isinstance(done, Add) and not names_a_type(done.title))
    return any(set(words(title)) <= set(words(said)) for title in made)


def _waits_for_its_whole(one: Link, graph: TaskGraph) -> bool:
    """Whether a part would wait for what it is a part of."""
    return one.task in graph and any(above.id == one.on for above in graph.ancestors(one.task))


def _is_no_title(one: Operation, named: int) -> bool:
    """Whether a task would be called by the frame of a sentence, or all of it: 'Concerning our party'.

    named: how many tasks get a name; of several, one may point at another: 'write it, then print it'.
    """
    if not isinstance(one, Add | Update) or not one.title or one.value is not None:
        return False
    told = re.findall(r"[\w'’-]+", one.title.lower())
    if told and (set(told) <= _PLANNING or (told[0] == "another" and len(told) == 2)):
        return True
    if len(told) > _LONGEST or one.title.count("(") != one.title.count(")") or _CUT.search(one.title):
        return True
    if told and told[0] in DEEDS and (len(told) == 1 or told[1] in _ARTICLES):
        return True  # 'booked', 'booked the band'
    plain = _ASIDE.sub("", one.title)
    if ", " in plain and f"“{one.title}”" not in one.said and f'"{one.title}"' not in one.said:
        return True  # 'language course, tuition': what comes after a comma tells more of it
    if told and told[0] in _SETTING and ("to" in told or f"{one.title} to ".lower() in one.said.lower()):
        return True
    if len(told) < 2 or told[:2] in (["at", "least"], ["at", "most"]):
        return False
    if told[0] == "next" and re.match(r"(?:week|month|year|term|season)['’]?s?$", told[1]):
        return False  # "next week's rota"
    return told[0] in _LEADING | _TELLING or (named < 2 and bool(_POINTING_BACK & {*told}))


def _is_denied(one: Operation) -> bool:
    """Whether something is added that was said not to be: 'no, no cake'."""
    if not isinstance(one, Add) or one.value is not None or not one.title:
        return False
    denied = rf"\b(?:no|without|not) (?:(?:an?|the|any) )?{re.escape(one.title.lower())}\b"
    return re.search(denied, one.said.lower()) is not None


def _is_no_slot(one: Operation) -> bool:
    """Whether a slot would be called by a part of a sentence: 'we agreed that the time'."""
    if not isinstance(one, Add) or one.value is None:
        return False
    return bool(_SENTENCE.intersection(re.findall(r"[\w'’]+", one.title.lower().replace("’", "'"))))


def _is_no_person(one: Operation, graph: TaskGraph) -> bool:
    """Whether a number would be who has a task: '100 sausages'."""
    if not isinstance(one, Add | Update) or not re.match(r"\W*\d", one.value or ""):
        return False
    slot = one.slot if isinstance(one, Add) else graph[one.task].slot if one.task in graph else ""
    return base(slot) == "assignee"


def _is_no_measure(one: Operation, graph: TaskGraph) -> bool:
    """Whether an amount, a day or an hour would become a name: a budget of 'Leila as the tutor'."""
    if not isinstance(one, Update) or not one.value or one.task not in graph:
        return False
    if _NO_HOUR.search(one.value):
        return True
    if kind_of(graph[one.task].value or "") not in _MEASURED or kind_of(one.value) is not None:
        return False
    told = re.findall(r"[a-z]+|\d", one.value.lower())
    return not any(
        word.isdigit() or word in NUMBER_WORDS or word in _MEASURES or word[:3] in _CALENDAR for word in told
    )


def _leaves_unsaid(one: Operation, graph: TaskGraph) -> bool:
    """Whether a whole plan would be cancelled, or put on hold, by words of which none says so."""
    if (
        not isinstance(one, Remove | Inactivate)
        or one.task not in graph
        or graph[one.task].parent is not None
    ):
        return False
    if isinstance(one, Inactivate) and RESTS.search(one.said):
        return False
    return len(graph.parts(one.task)) > 1 and LEAVES.search(one.said) is None


def _is_moved(one: Operation) -> bool:
    """Whether what is new gets for its value by how much something changes: 'the paint two days later'."""
    if not isinstance(one, Add) or not one.value:
        return False
    at = one.said.lower().find(one.value.lower())
    behind = one.said[at + len(one.value) :] if at >= 0 else ""
    number = re.match(rf"\W*(?:\d|(?:{'|'.join(NUMBER_WORDS)}|half|hours?|an?)\b)", one.value, re.IGNORECASE)
    return number is not None and bool(_MOVED.match(behind) or _MOVED.search(one.value[number.end() :]))


def _is_amount(one: Operation, graph: TaskGraph) -> bool:
    """Whether a name would be exchanged for a mere number: the couple, who stay at 11, become '11'."""
    if not isinstance(one, Update) or not one.title or one.task not in graph or one.value is not None:
        return False
    return bool(_AMOUNT.fullmatch(one.title)) and not re.search(r"\d", graph[one.task].title)


def _is_of_nothing(one: Operation, graph: TaskGraph) -> bool:
    """Whether a word is made a plan of its own that nobody asked for: a nameless value, 'The hood.'."""
    if not isinstance(one, Add) or one.parent is not None:
        return False
    if one.value is not None:
        return base(one.slot) in _NAMELESS
    known = re.fullmatch(
        rf"\W*(?:same (?:goes )?(?:for|with) )?(?:the|that|those|these) {re.escape(one.title.lower())}\W*",
        one.said.lower(),
    )
    return known is not None and bool(graph.active)


def _is_no_name(text: str | None) -> bool:
    if not text:
        return False
    told = re.findall(r"[\w'’]+", text.lower())
    return bool(
        _CORRECTED.search(text)
        or (len(told) > 1 and told[0] in _ORDERS | _POINTING)
        or (told and _NO_NAMES.issuperset(told))
    )
