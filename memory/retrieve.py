"""What of the graph goes into a prompt: tasks that match words, and the closure of seeds. Pure.

Lexical: BM25 (Robertson and Zaragoza 2009) over slot, title and value. A plan is small and its words are the
user's own; similarity by meaning is for long-term memory (`ranking`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from . import dag
from .operations import Check, Operation, Question
from .tasks import Revision, TaskGraph, TaskNode
from .words import STOP, fold, may_say, says, words

_WHOLE = frozenset({"list", "summary", "left", "next", "count", "status", "why"})
_K1 = 1.2  # saturation of BM25; its length correction is off: slots and values are short
_CANDIDATES = 100  # tasks that are scored for each word, the newest: what matches by hundreds tells nothing
_WEIGHTS = {"slot": 1.0, "title": 2.0, "value": 2.0, "name": 1.0, "former": 0.5}


@dataclass(frozen=True, slots=True)
class Closure:
    """Seeds with everything they rest on, cut to a budget.

    tasks: ids in topological order, what others rest on first. revisions: (id, index into its history) of the
    former states that a claim is about. tokens: what all of it takes, rendered. left_out: how many tasks and
    revisions the budget had no room for.
    """

    tasks: tuple[str, ...] = ()
    revisions: tuple[tuple[str, int], ...] = ()
    tokens: int = 0
    left_out: int = 0


def tokens(text: str) -> int:
    """An estimate of the tokens of a text: UTF-8 bytes / 4, rounded up.

    English has four to five characters to the token, scripts of three bytes a character about one.
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


def render(task: TaskNode) -> str:
    """A task as one line for a prompt: `t7 trip.hotel "Hotel": downtown (filled, in t1, needs t2 t3)`."""
    notes: list[str] = [task.status]
    if task.parent:
        notes.append(f"in {task.parent}")
    if task.depends_on:
        notes.append("needs " + " ".join(task.depends_on))
    if task.stale_since is not None:
        notes.append(f"stale since turn {task.stale_since}")
    return f"{task.id} {_line(task.slot, 60)} {_said(task)} ({', '.join(notes)})"


def render_revision(task: TaskNode, index: int) -> str:
    """A former state as one line: `t2 was "Start": Boston (filled, turns 1 to 3, then update: "make it")`."""
    state, then = task.states()[index : index + 2]
    said = f': "{_line(then.said, 120)}"' if then.said else ""
    turns = f"turns {state.turn} to {then.turn}, then {then.op}{said}"
    return f"{task.id} was {_said(state)} ({state.status}, {turns})"


def _said(state: Revision) -> str:
    value = f": {_line(state.value, 200)}" if state.value is not None else ""
    return f'"{_line(state.title, 80)}"{value}'


def _line(text: str, limit: int) -> str:
    """A text on one line, cut to a number of characters."""
    text = " ".join(text[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def seeds(graph: TaskGraph, operations: Iterable[Operation], changed: Iterable[str] = ()) -> tuple[str, ...]:
    """The tasks that a turn is about: changed, named by operations, or matched by questions."""
    found = list(changed)
    for operation in operations:
        if isinstance(operation, Check):
            found += _asked(graph, operation.question)
        else:
            named = (getattr(operation, name, None) for name in ("task", "on", "parent"))
            found += [key for key in named if key]
            found += getattr(operation, "tasks", None) or ()
    return tuple(key for key in dict.fromkeys(found) if key in graph)


def _asked(graph: TaskGraph, question: Question) -> list[str]:
    named = [*question.tasks, *([question.container] if question.container else [])]
    found = named or [*matching(graph, question.about, gone=True, limit=3)]
    return [*found, *(matching(graph, question.value, gone=True, limit=3) if question.value else ())]


def closure(
    graph: TaskGraph, seeds: Iterable[str], *, question: Question | None = None, budget: int = 600
) -> Closure:
    """Seeds with everything they rest on, as far as a token budget goes.

    Taken in this order, until the first that does not fit: the seeds; what they depend on, nearest first;
    their parent chains; for a question about a whole task their descendants; former states of the seeds that
    say what the question supposes (all of them for a question of history).

    Args:
        graph: the tasks.
        seeds: ids, the most important first; unknown ones are left out.
        question: what is asked, if anything is.
        budget: tokens (see `tokens`) that all lines may take together, a line end each included.

    Returns:
        The closure; its tasks in topological order.
    """
    starts = [key for key in dict.fromkeys(seeds) if key in graph]

    def needs(key: str) -> list[str]:
        return [other for other in graph[key].depends_on if graph[other].active]

    wanted = dict.fromkeys(dag.reach(starts, needs))
    wanted |= dict.fromkeys(node.id for key in starts for node in graph.ancestors(key))
    if question is not None and question.kind in _WHOLE:
        wanted |= dict.fromkeys(node.id for key in starts for node in graph.subtree(key) if node.active)
    revisions = [(key, n) for key in starts for n in _telling(graph[key], question)]
    used, kept = 0, 0
    tasks: list[str] = []
    for key in wanted:
        cost = tokens(render(graph[key])) + 1
        if used + cost > budget:
            return Closure(_ordered(graph, tasks), (), used, len(wanted) + len(revisions) - len(tasks))
        used += cost
        tasks.append(key)
    for key, index in revisions:
        cost = tokens(render_revision(graph[key], index)) + 1
        if used + cost > budget:
            break
        used, kept = used + cost, kept + 1
    return Closure(_ordered(graph, tasks), tuple(revisions[:kept]), used, len(revisions) - kept)


def _ordered(graph: TaskGraph, keys: list[str]) -> tuple[str, ...]:
    return tuple(dag.order(keys, graph.rests_on))


def _telling(node: TaskNode, question: Question | None) -> list[int]:
    """Indexes of the former states of a seed that a question is about."""
    if question is None:
        return []
    if question.value is None:
        asked = question.kind in ("history", "before", "why", "ever")
        return list(range(len(node.history))) if asked else []
    value = question.value
    return [
        n for n, state in enumerate(node.history) if says(value, state.value) or says(value, state.title)
    ]  # fmt: skip


def matching(graph: TaskGraph, text: str, *, gone: bool = False, limit: int = 8) -> tuple[str, ...]:
    """Ids of the tasks that match words, best first; those far worse than the best are left out.

    Args:
        graph: the tasks.
        text: words for a task; little words ('the', 'is') count for nothing.
        gone: also tasks that are out of the plan, and what tasks said before.
        limit: how many at most.
    """
    sought = tuple(dict.fromkeys(word for word in words(text) if word not in STOP))
    nodes = tuple(graph.values()) if gone else graph.active
    if not sought or not nodes:
        return ()
    having: dict[str, list[TaskNode]] = {word: [] for word in sought}
    for node in nodes:
        folded = fold(f"{node.slot} {node.title} {node.value or ''} {_former(node) if gone else ''}")
        for word, found in having.items():
            if may_say(word, folded):
                found.append(node)
    rarest_first = sorted(having.values(), key=len)
    candidates = {
        node.id: node for found in rarest_first for node in sorted(found, key=_newest)[:_CANDIDATES]
    }
    scores: dict[str, float] = {}
    for node in candidates.values():
        texts = {"slot": node.slot, "name": node.name, "title": node.title, "value": node.value or ""}
        counts = _counts(sought, {**texts, "former": _former(node)} if gone else texts)
        if counts:
            scores[node.id] = sum(
                _weight(len(nodes), len(having[word])) * count / (count + _K1)
                for word, count in counts.items()
            )
    best = max(scores.values(), default=0.0)
    close = [key for key, score in scores.items() if score >= best / 2]
    close.sort(key=lambda key: (-scores[key], *_newest(graph[key])))
    return tuple(close[:limit])


def _former(node: TaskNode) -> str:
    """What a task said before."""
    return " ".join(dict.fromkeys(f"{state.title} {state.value or ''}" for state in node.history))


def _newest(node: TaskNode) -> tuple[bool, int]:
    return not node.active, -node.turn


def _counts(sought: Iterable[str], texts: dict[str, str]) -> dict[str, float]:
    """How often each word occurs in the texts of a task, weighted by where."""
    counts: dict[str, float] = {}
    for name, text in texts.items():
        for word in words(text):
            if word in sought:
                counts[word] = counts.get(word, 0.0) + _WEIGHTS[name]
    return counts


def _weight(documents: int, having: int) -> float:
    """Inverse document frequency as in BM25, never negative."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))
