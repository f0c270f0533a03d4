"""Answers to questions, in sentences; each family of them has a file of its own. Pure.

`contents.py` tells what the plan holds, `progress.py` how far it is, `past.py` what it was and why,
`verdicts.py` whether a claim holds.
"""

from __future__ import annotations

from collections.abc import Callable

from taskloom.memory.claims import Answer
from taskloom.memory.tasks import TaskGraph, TaskNode

from .contents import told_count, told_list, told_summary, told_value
from .naming import Names
from .past import told_before, told_history, told_why
from .progress import told_dependents, told_left, told_needs, told_next, told_status
from .telling import Telling
from .verdicts import told_claim

_PRESENT = frozenset({"list", "summary", "left", "next", "needs", "dependents", "count"})
"""Kinds of question that only a task of the plan has an answer to."""

_BESIDE = (_PRESENT - {"count"}) | {"history"}
"""Kinds of question that may suppose something beside what they ask for."""

_ANSWERS: dict[str, Callable[[Telling, Answer, list[TaskNode]], list[str]]] = {
    "value": told_value,
    "list": told_list,
    "summary": told_summary,
    "left": told_left,
    "next": told_next,
    "needs": told_needs,
    "dependents": told_dependents,
    "claim": told_claim,
    "ever": told_claim,
    "before": told_before,
    "why": told_why,
    "history": told_history,
    "count": told_count,
    "status": told_status,
}


def answered(answer: Answer, graph: TaskGraph, names: Names) -> list[str]:
    """The pieces of one answer, a verdict before what is told of the tasks; graph: the one after the turn."""
    tell = Telling(graph, names)
    nodes = [graph[key] for key in answer.tasks if key in graph]
    kind = answer.question.kind
    found: list[str] = []
    unknown = answer.verdict is not None and answer.verdict.kind == "unknown"
    if unknown and not nodes and kind not in ("claim", "ever"):
        return tell.nothing(answer)
    gone = [graph[key] for key in answer.question.tasks if key in graph]
    if gone and not any(node.active for node in gone) and kind in _PRESENT:
        found = [names.state(node) for node in gone]
        if kind in ("needs", "dependents") or not any(node.active for node in nodes):
            return found
    if kind in _BESIDE and answer.question.value and answer.verdict and answer.verdict.kind != "unknown":
        found += told_claim(tell, answer, nodes)
    return [piece for piece in [*found, *_ANSWERS[kind](tell, answer, nodes)] if piece]
