"""Answers to "Which of them?" and "What should change?": what was said is read again, with the answer in it.

'Move the thursday thing to eight.' - 'I do not find “thursday thing” in the plan. What should change?' -
'The choir.' An answer is a name of something in the plan and nothing more; it takes the place of the words
that were in doubt, or stands beside them where they named nothing. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from taskloom.agent.grounding.asking_first import question_before
from taskloom.agent.grounding.resolving.assemble import assemble
from taskloom.agent.grounding.resolving.scoring import POINTING, Scoring, bare
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.reading import Reading, View
from taskloom.memory.operations import Clarify

_LONGEST, _CHARACTERS = 6, 100  # words of an answer, and what it has of characters with all around it
_NAMED = 0.75  # of the words of an answer must be of what it names
_ROLES = "TWSOI"  # mentions in whose place an answer may stand, the likeliest first
_GOES = ("remove", "hold", "only", "replace")
_AROUND = re.compile(
    r"(?:(?:no|yes|ah|oh|ok|okay|sorry|well|i mean|i meant|for|of|on|that(?:'s| is)|it(?:'s| is))\b[\s,.:]*)+"
    r"(?=\S)|[,.!\s]*\b(?:i mean|i meant|please|of course|obviously|then)?[\s.!]*$",
    re.IGNORECASE,
)

Best = Callable[[str, View], Sequence[Clause]]
"""From a text and its view to the clauses of its likeliest reading."""


def completed(utterance: str, view: View, best: Best) -> Reading | None:
    """What the message before says, with what this one answers to the question that it left open.

    None where nothing was asked, what was said has changed something already, the message is no mere name
    of what is in the plan, or what was said is not clear with it either.
    """
    question = view.question
    if question is None or not view.exchanges or not _asks_what(question) or len(utterance) > _CHARACTERS:
        return None
    (said, _), earlier = view.exchanges[-1], view.exchanges[:-1]
    changed = any(node.turn >= view.turn - 1 for node in view.graph.values())
    name = bare(_AROUND.sub("", utterance.strip()))
    if changed or not said.startswith(question.said) or not _is_a_name(name, view):
        return None
    before = replace(view, question=None, exchanges=earlier)
    clauses = tuple(best(said, before))
    for told in _with(clauses, name):
        made = assemble(told, said, before)
        operations = question_before(made.operations, said, view.graph)
        if operations and not made.doubts and not any(isinstance(one, Clarify) for one in operations):
            return Reading(made.steps)
    return None


def _asks_what(question: Clarify) -> bool:
    """Whether a question is of what was meant, and takes more than a yes."""
    asked = question.question
    known = (DID_YOU_MEAN, NOT_UNDERSTOOD)
    return not question.choices and asked.endswith("?") and not any(one in asked for one in known)


def _is_a_name(name: str, view: View) -> bool:
    """Whether words are nothing but a name of something in the plan."""
    if not name or len(name.split()) > _LONGEST or "?" in name:
        return False
    found = Scoring(view).best(name, slots=True)
    return found is not None and found.named >= _NAMED


def _with(clauses: Sequence[Clause], name: str) -> Iterator[tuple[Clause, ...]]:
    """The clauses with a name in the place of each mention, or as what they are about where it may be."""
    for at, clause in enumerate(clauses):
        spans = sorted(clause.mentions, key=lambda span: (_ROLES + span.role).index(span.role))
        if clause.act in _GOES:  # what is there goes only where nothing else was said to
            spans = [span for span in spans if set(span.text.lower().split()) <= POINTING]
        told = [_exchanged(clause, span, name) for span in spans if span.role in _ROLES]
        if not clause.all("TI"):
            about = Mention("T", name, start=len(clause.text) + 1)
            told.insert(0, replace(clause, text=f"{clause.text} {name}", mentions=(*clause.mentions, about)))
        for one in told:
            yield (*clauses[:at], one, *clauses[at + 1 :])


def _exchanged(clause: Clause, span: Mention, name: str) -> Clause:
    """A clause with a name in the place of a mention."""
    end, more = span.start + len(span.text), len(name) - len(span.text)
    mentions = (
        replace(one, text=name) if one is span else replace(one, start=one.start + more * (one.start >= end))
        for one in clause.mentions
    )
    text = f"{clause.text[: span.start]}{name}{clause.text[end:]}"
    return replace(clause, text=text, mentions=tuple(mentions))
