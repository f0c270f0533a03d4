"""The check of a reply against what the tasks and the verdicts say. Pure.

A reply may name a superseded value only as a former one. Whether it does is read from cues: words as 'was',
'instead of', 'removed' mark what follows (or precedes) as past, words as 'is', 'now', 'changed to' mark it as
present. The nearest cue decides. In doubt a reply passes: a false alarm costs a good one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from taskloom.agent.language.wording import base, clip, sentences
from taskloom.agent.turn.brief import Brief
from taskloom.memory.claims import Answer, Verdict
from taskloom.memory.operations import Clarify, Replace, names
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import SPEAKER, word_set

from .grounds import ungrounded
from .naming import MANY


def faults_of(reply: str, brief: Brief) -> list[str]:
    """What is wrong with a reply, in words for its writer; empty for a reply that may be sent.

    Args:
        reply: the whole reply.
        brief: what it was made of.

    Returns:
        One line for each fault: a superseded or unknown value given as current, a refuted claim confirmed, a
        name, figure or act that nothing bears out, a current value that was asked for left out, a proposal or
        the question to the user left out.
    """
    if not reply.strip():
        return ["the reply is empty"]
    answers = brief.answers or brief.turn.answers
    text = _without_given(reply, brief)
    return [
        *_superseded_as_current(text, brief, answers),
        *_unknown_as_current(text, brief, answers),
        *_claims_confirmed(text, answers),
        *ungrounded(text, brief),
        *_left_out(reply, brief, answers),
    ]


# ---- what may be taken as said by someone else ----------------------------------------------------

_SAID = re.compile(
    r"\b(?:said|asked|told me|wrote|words|about|of|turn \d+(?:, as)?)\W{0,3}(?:\"[^\"\n]*\"|“[^”\n]*”)",
    re.IGNORECASE,
)


def _without_given(reply: str, brief: Brief) -> str:
    """The reply without what is not its own: notes, reasons for refusals, the question, the user's words."""
    given = [brief.note, brief.turn.note, *(change.refused or "" for change in brief.turn.changes)]
    given += [run.text for run in brief.turn.tool_runs]
    given += [brief.turn.question.question.rstrip("?. ")] if brief.turn.question else []
    for phrase in sorted(filter(None, given), key=len, reverse=True):
        for form in (phrase, clip(phrase, 200)):
            reply = re.sub(re.escape(form), "it", reply, flags=re.IGNORECASE)
    return _SAID.sub("said so", reply)


# ---- superseded values ----------------------------------------------------------------------------

_FORMER = (
    r"was|were|\w+n['’]t|had|been|instead of|rather than|replac\w*|remov\w*|cancel\w*|drop\w*|delet\w*"
    r"|undid|undone|no longer|not|never|neither|nor|no|without|previous\w*|former\w*|original\w*"
    r"|initial\w*|earlier|before|used to|at first|first|once|gone|until|superseded|outdated|old"
    r"|out of|taken|took|cleared|left out|except|other than|hold|paus\w*|swap\w*|exchang\w*|chang\w*"
    r"|mov\w*|switch\w*|went|place of|reject\w*|discard\w*|rul\w* out|cross\w* off|any ?more"
)
_PRESENT = (
    r"(?:replac\w*|swap\w*|exchang\w*|switch\w*)[^,;.]*? (?:with|by|for|to)"
    r"|(?:chang\w*|mov\w*|updat\w*|switch\w*|set|went|going|go|back|from)[^,;.]*? to"
    r"|is|are|(?:it|that|here|there|he|she|you|they|we)['’](?:s|re)|now|current\w*|still|remain\w*|stay\w*"
    r"|kept|keeps?|will be|to be"
    r"|instead(?! of)|since then"
)
_CUE = re.compile(rf"(?<!\w)(?:(?P<present>{_PRESENT})|(?P<former>{_FORMER}))(?!\w)", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?:(?:is|are|'s|'re)(?: now| currently)?(?: no longer| not)|(?:is|are)n't)$", re.IGNORECASE
)
_EXCHANGE = re.compile(r"replac|swap|exchang|switch|chang|mov|updat", re.IGNORECASE)
_FOR_ANOTHER = re.compile(r"\s*(?:with|by|to|for|→|->)\s", re.IGNORECASE)
_TO = re.compile(r"\W*\s(?:to|into|→|->)\s", re.IGNORECASE)
_TALE = re.compile(r"\b(?:in|to|until) turn \d", re.IGNORECASE)
_WAS_AFTER = re.compile(
    r"^[\s\"”)]*(?:\w+\s+){0,2}?(?:no longer|not any ?more|any ?more|was|were|until|before|originally"
    r"|previously|has been (?:removed|replaced|cancelled|dropped)|had been|is gone|are gone)\b",
    re.IGNORECASE,
)
_IN_TURN = re.compile(r"^[\s\"”]*\(?(?:in |from |since )?turns? \d", re.IGNORECASE)
_EVERYDAY = word_set(
    """a an and any all done for in is it new no not now of on one open or set that the them these this to two
    was yes you your first last next more none nothing task tasks turn plan list"""
)


def _superseded_as_current(text: str, brief: Brief, answers: Sequence[Answer]) -> Iterator[str]:
    current = _current(brief.graph)
    offered = brief.turn.question.options if brief.turn.question else ()
    for term, titles in _superseded(brief, answers).items():
        spans = [match.span() for match in _mentions(term, text)]
        if not spans or any(_mentions(term, current)):
            continue
        for start, end in spans:
            before, after, asked = _segment(text, start, end)
            if asked and (any(names(term, option) for option in offered) or not offered):
                continue
            if _slight(term) and not any(names(title, before) for title in titles):
                continue
            if not _is_former(before, after) and not _gave_way(term, before, after, brief.graph):
                yield f"gives {term!r} as current, which it is not"
                break


def _slight(term: str) -> bool:
    """Whether a term is too short to stand for itself: '4' is also in 'turn 4'."""
    return len(term) < 3 or term.isdigit()


def _current(graph: TaskGraph) -> str:
    """All that the plan holds now, one text a line."""
    texts = ((node.value, node.title, node.name, base(node.slot)) for node in graph.active)
    return "\n".join(text for of_node in texts for text in of_node if text)


def _superseded(brief: Brief, answers: Sequence[Answer]) -> dict[str, list[str]]:
    """What is former or refuted, in lower case, with the titles of the tasks that held it."""
    found: dict[str, list[str]] = {}

    def note(term: str | None, title: str = "") -> None:
        plain = " ".join((term or "").lower().split())
        if plain and plain not in _EVERYDAY and re.search(r"\w", plain):
            found.setdefault(plain, []).append(title)

    for node in _in_scope(brief, answers):
        for term in _former_terms(node):
            note(term, node.title)
    for change in brief.turn.changes:
        if isinstance(change.operation, Replace) and change.changed:
            note(change.operation.old)
    for answer in answers:
        verdict = answer.verdict
        if verdict is not None and verdict.kind != "holds":
            task = brief.graph.get(verdict.task) if verdict.task else None
            claimed = answer.question.value if verdict.kind == "unknown" else verdict.claimed
            note(claimed, task.title if task else "")
    return found


def _in_scope(brief: Brief, answers: Sequence[Answer]) -> Iterable[TaskNode]:
    """The tasks that the reply can be about: the facts, what changed, what was asked; else all."""
    keys = [*brief.turn.facts]
    keys += [key for change in brief.turn.changes for key in change.changed]
    keys += [key for answer in answers for key in (*answer.tasks, *answer.question.tasks)]
    parts = [
        part.id
        for key in dict.fromkeys(keys)
        if key in brief.graph
        for part in brief.graph.parts(key, gone=True)
    ]
    chosen = dict.fromkeys([*keys, *parts]) if keys else brief.graph
    return [brief.graph[key] for key in chosen if key in brief.graph]


def _former_terms(node: TaskNode) -> Iterator[str]:
    """What a task held and does not hold now: values, the name of a thing that left, a replaced entity."""
    states = node.states()
    for state, following in pairwise(states):
        if state.value and state.value != node.value:
            yield state.value
        if following.op == "replace":
            yield from _exchanged(
                f"{state.title} {state.value or ''}", f"{following.title} {following.value or ''}"
            )
    if not node.active:
        if node.value:
            yield node.value
        if node.parent is not None and (not node.value or node.value.lower() == node.title.lower()):
            yield node.title


def _exchanged(before: str, after: str) -> Iterator[str]:
    """The words of the one text that the other has others in place of: 'celery' of 'chop celery'."""
    old, new = before.lower().split(), after.lower().split()
    for tag, start, end, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace":
            yield " ".join(old[start:end])


def _mentions(term: str, text: str) -> Iterator[re.Match[str]]:
    words = r"\s+".join(re.escape(word) for word in term.split())
    return re.finditer(rf"(?<![\w]){words}(?!\w)", text, re.IGNORECASE)


def _segment(text: str, start: int, end: int) -> tuple[str, str, bool]:
    """What stands before and after a place in its sentence, and whether the sentence is a question."""
    first, last = 0, len(text)
    for begin, stop in sentences(text):
        first = begin if begin <= start else first
        last = min(last, stop) if stop >= end else last
    return text[first:start], text[end:last], text[end:last].rstrip().endswith("?")


def _is_former(before: str, after: str) -> bool:
    """Whether the words around a mention mark it as past; the nearest cue before it decides."""
    cue = None
    for match in _CUE.finditer(before):
        cue = match
    if cue is not None and cue.lastgroup == "former":
        return True
    if cue is not None and _EXCHANGE.match(
        cue[0]
    ):  # "X with Y" goes on, or a tale: "in turn 2 it was changed to"
        return bool(_FOR_ANOTHER.match(after) or _TALE.search(before) or _TALE.search(after))
    if cue is not None:
        return bool(_NEGATED.search(before[: cue.end()]) or _WAS_AFTER.search(after))
    if _IN_TURN.search(after):
        return True
    following = next(_CUE.finditer(after), None)
    past = following is not None and (
        following.lastgroup == "former" or _is_passive(after[following.start() :])
    )
    return past or bool(
        re.search(r"\b(?:former|removed|old|no longer|was|were|out of)\b", after[:40], re.IGNORECASE)
    )


def _gave_way(term: str, before: str, after: str, graph: TaskGraph) -> bool:
    """Whether "from X to Y" describes a change: Y is what a task holds that held X before."""
    follows = _TO.match(after)
    if not follows or not re.search(r"\bfrom\W*$", before, re.IGNORECASE):
        return False
    return any(
        node.value is not None
        and next(_mentions(node.value, after[follows.end() :][: len(node.value) + 8]), None) is not None
        and any(state.value is not None and state.value.lower() == term for state in node.history)
        for node in graph.active
    )


def _is_passive(text: str) -> bool:
    """'is replaced', 'are no longer', "isn't": a present form that puts something in the past."""
    return bool(
        re.match(
            r"(?:is|are|'s)(?:n't| not| no longer| gone| out\b| off\b| on hold"
            r"| (?:now )?(?:replac|remov|cancel|drop))",
            text,
            re.IGNORECASE,
        )
    )


# ---- unknown values -------------------------------------------------------------------------------

_FILLER = word_set("a an the of at on in to for and or with by is are it now your you i")


def _unknown_as_current(text: str, brief: Brief, answers: Sequence[Answer]) -> Iterator[str]:
    """'The destination is Rome' where nothing in the plan is Rome."""
    known: set[str] = set()
    for node in _in_scope(brief, answers):
        if not node.active or not node.value or len(node.title) < 3:
            continue
        title = re.escape(node.title)
        says = re.compile(
            rf"\b(?i:the|your)\s+(?i:{title})\s+(?:is|are)\s+(?:now\s+|currently\s+|set to\s+)?"
            r"([A-Z0-9][^,;.!?()\n]*)",
        )
        for match in says.finditer(text):
            known = known or set(_words(_current(brief.graph)))
            _, _, asked = _segment(text, match.start(), match.end())
            said = set(_words(match[1])) - _FILLER
            if (
                said
                and not said & known
                and not asked
                and not _is_former("", text[match.end() : match.end() + 30])
            ):
                yield f"gives {match[1].strip()!r} as the {node.title}, which is {node.value!r}"


# ---- claims ---------------------------------------------------------------------------------------

_AGREES = re.compile(
    r"(?:^|[.!?]\s+)\W*(?:yes|yep|yeah|indeed|correct|exactly|absolutely|right)\b(?!\s*(?:now|away|after|before))",
    re.IGNORECASE,
)
_YOU_ARE_RIGHT = re.compile(
    r"\byou(?:'|’| a)re (?:absolutely |quite )?(?:right|correct)\b|\bthat(?:'|’|\si)s (?:right|correct)\b",
    re.IGNORECASE,
)
_DISAGREES = re.compile(
    r"^\W*(?:no|nope)\b(?! (?:problem|worries|doubt)|, not from the start)", re.IGNORECASE
)


def _claims_confirmed(text: str, answers: Sequence[Answer]) -> Iterator[str]:
    """A refuted claim that the reply confirms, or a true one that it denies."""
    judged = [answer for answer in answers if answer.verdict is not None]
    for answer in judged:
        verdict = answer.verdict
        assert verdict is not None  # noqa: S101  # narrowed above
        true = _is_true(answer, verdict)
        if true is None:
            continue
        alone, all_false = len(answers) == 1, not any(_is_true(other, other.verdict) for other in judged)
        agrees = (all_false and _YOU_ARE_RIGHT.search(text)) or (alone and _AGREES.search(text))
        if not true and agrees and not _qualified(text, agrees, verdict):
            yield f"confirms the claim about {verdict.claimed!r}, which the history refutes"
        elif answer.question.denied and not true and _denied(verdict.claimed, text):
            yield f"says that {verdict.claimed!r} was never so, which the history refutes"
        elif true and alone and _DISAGREES.search(text) and not answer.question.denied:
            yield f"denies the claim about {verdict.claimed!r}, which the history confirms"


def _is_true(answer: Answer, verdict: Verdict | None) -> bool | None:
    """Whether what the question supposes is so; None where that cannot be told."""
    question = answer.question
    if verdict is None or verdict.kind == "unknown" or not verdict.claimed:
        return None
    if question.denied:
        return verdict.kind == "never"
    if verdict.kind == "was":
        return question.kind != "claim" or question.act is not None
    return verdict.kind == "holds"


def _qualified(text: str, agrees: re.Match[str], verdict: Verdict) -> bool:
    """'Yes, originally it was ...': agreement with a claim about what was, as past, in the same sentence."""
    tail = text[agrees.end() :]
    rest = tail[: next(sentences(tail))[1]]
    return verdict.kind == "was" and bool(
        re.search(r"\b(?:was|were|originally|earlier|initially|used to)\b", rest)
    )


def _denied(claimed: str, text: str) -> bool:
    """Whether a sentence says 'never' of the claimed value."""
    return any(
        re.search(r"\bnever\b", before + after, re.IGNORECASE)
        for match in _mentions(claimed, text)
        for before, after, _ in [_segment(text, *match.span())]
    )


# ---- what is missing ------------------------------------------------------------------------------


def asks(reply: str, question: Clarify) -> bool:
    """Whether a reply puts a question, in its words or in others, with all of its choices."""
    return not any(_question_left_out(reply, _spoken(reply), question))


def _spoken(reply: str) -> set[str]:
    """The words of a reply; where it speaks to the user, those by which users speak of themselves."""
    said = set(_words(reply))
    return said | SPEAKER | {"my", "our"} if said & {"you", "your", "yourself"} else said


def _left_out(reply: str, brief: Brief, answers: Sequence[Answer]) -> Iterator[str]:
    """What the reply must say and does not."""
    said = _spoken(reply)
    for answer in answers:
        for node in _asked_values(brief.graph, answer):
            if not _says(said, node.value or ""):
                yield f"leaves out that the {node.title} is {node.value!r}"
    for key in brief.turn.proposals:
        offer = brief.graph.get(key)
        if offer is not None and offer.status == "proposed" and not _says(said, offer.value or ""):
            yield f"leaves out the proposal {offer.value!r} for the {offer.title}"
    if brief.turn.question is not None:
        yield from _question_left_out(reply, said, brief.turn.question)


def _asked_values(graph: TaskGraph, answer: Answer) -> list[TaskNode]:
    """The tasks whose values the answer has to give; none where the list may be cut, or is not asked for."""
    kind = answer.question.kind
    if kind not in ("value", "summary", "list") or (kind == "value" and answer.verdict is not None):
        return []
    asked = answer.question
    if asked.free or (kind == "value" and not (asked.tasks or asked.slot or asked.about)):
        return []
    nodes = [graph[key] for key in answer.tasks if key in graph]
    if kind == "summary":
        below = dict.fromkeys(part.id for node in nodes for part in graph.subtree(node.id))
        nodes = [graph[key] for key in below]
    active = [node for node in nodes if node.active]
    held = [node for node in active if node.value and not node.source.startswith("tool:")]
    return held if len(active) <= MANY else []  # what a tool gave may be told in other words


def _question_left_out(reply: str, said: set[str], question: Clarify) -> Iterator[str]:
    if question.options:
        missing = [one for one in question.options[:8] if one != "yes" and not _says(said, one)]
        if missing:
            yield f"leaves out the choice {missing[0]!r} of the question: {question.question}"
    words = set(_words(question.question)) - _FILLER
    if not question.question.strip() or question.question in reply:
        return
    if "?" not in reply or (words and not question.options and len(words & said) * 3 < len(words)):
        yield f"leaves out the question: {question.question}"


def _words(text: str) -> list[str]:
    """Words and numbers in lower case: '2 PM' and '2pm' give the same, and so do '10th' and '10'."""
    spread = re.sub(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)", " ", text.lower())
    return [word for word in re.findall(r"\w+", spread) if word not in ("st", "nd", "rd", "th")]


def _says(said: set[str], value: str) -> bool:
    """Whether all words of a value, as far as a reply shows them, are among those said."""
    words = set(_words(clip(value).rstrip("…"))) or set(_words(value))
    return words - _FILLER <= said
