"""Answers to questions, in sentences; each family of them has a file of its own. Pure.

`contents.py` tells what the plan holds, `progress.py` how far it is, `past.py` what it was and why,
`verdicts.py` whether a claim holds.
"""

from __future__ import annotations

from collections.abc import Callable

from taskloom.agent.language import answers
from taskloom.memory.claims import Answer
from taskloom.memory.tasks import TaskGraph, TaskNode

from .answer_context import AnswerContext
from .contents import count_reply, list_reply, summary_reply, value_reply
from .naming import Names
from .past import before_reply, history_reply, why_reply
from .progress import dependents_reply, left_reply, needs_reply, next_reply, status_reply
from .verdicts import claim_reply

_PRESENT = frozenset({"list", "summary", "left", "next", "needs", "dependents", "count"})
"""Kinds of question that only a task of the plan has an answer to."""

LISTED = _PRESENT - {"next", "needs"}
"""Kinds of question that a list answers, however long it is."""

_BESIDE = (_PRESENT - {"count"}) | {"history"}
"""Kinds of question that may suppose something beside what they ask for."""

_ANSWERS: dict[str, Callable[[AnswerContext, Answer, list[TaskNode]], list[str]]] = {
    "value": value_reply,
    "list": list_reply,
    "summary": summary_reply,
    "left": left_reply,
    "next": next_reply,
    "needs": needs_reply,
    "dependents": dependents_reply,
    "claim": claim_reply,
    "ever": claim_reply,
    "before": before_reply,
    "why": why_reply,
    "history": history_reply,
    "count": count_reply,
    "status": status_reply,
}


def answer_pieces(answer: Answer, graph: TaskGraph, names: Names) -> list[str]:
    """The pieces of one answer, a verdict before the rest; graph: the one after the turn."""
    context = AnswerContext(graph, names)
    nodes = [graph[key] for key in answer.tasks if key in graph]
    kind = answer.question.kind
    found: list[str] = []
    if answer.question.free and not answer.question.tasks:
        return [answers.CANNOT_TELL()]
    unknown = answer.verdict is not None and answer.verdict.kind == "unknown"
    if unknown and not nodes and kind not in ("claim", "ever"):
        return context.nothing(answer)
    gone = [graph[key] for key in answer.question.tasks if key in graph]
    if gone and not any(node.active for node in gone) and kind in _PRESENT:
        found = [names.state(node) for node in gone]
        if kind in ("needs", "dependents") or not any(node.active for node in nodes):
            return found
    if kind in _BESIDE and answer.question.value and answer.verdict and answer.verdict.kind != "unknown":
        found += claim_reply(context, answer, nodes)
    return [piece for piece in [*found, *_ANSWERS[kind](context, answer, nodes)] if piece]
