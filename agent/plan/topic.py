"""What is spoken of where a clause names nothing: each task scored by how it was lately spoken of.

The weights are fitted on the annotated dialogues of the train voices (softmax over the tasks of a plan), one
table for a clause that answers a question, one for a clause after something else, one for what comes later in
the same message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from taskloom.agent.finding import is_member
from taskloom.agent.outline import is_assignee
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import STOP, words

from .typed import kind_of

SIGNS = (
    "just done", "done in this message", "first in focus", "in focus", "above the first in focus",
    "in the last sentence", "last in the reply", "in the reply", "its value in the reply",
    "in the user's words before", "in the clause", "a leaf of a list", "outermost", "first in focus, a leaf",
    "outermost of the first in focus", "above two just done", "a leaf just done", "has such a value",
)  # fmt: skip
WEIGHTS = {
    "asked": (0, 0, .3, .9, .2, 3, 1.1, .4, 1.3, .6, 1.3, .2, .9, .1, .6, .7, 0, -.2),
    "told": (0, 0, .2, -.6, .3, 0, .6, .2, .9, .5, 3.6, -.5, 1.6, .5, .5, .1, 0, 1.5),
    "later": (-.1, 1.7, .4, 1.7, .9, -.1, .2, .3, -.3, 0, 2.4, .4, 1.1, -.5, .1, .5, .7, -.1),
}  # fmt: skip
"""What each sign weighs: in the answer to a question, after something else, later in the same message."""


def part_said(title: str, said: Collection[str]) -> float:
    """The part of a title's words that is said; 0 where it is less than half, or half without its end."""
    own = [word for word in words(title) if word not in STOP]
    there = sum(word in said for word in own)
    return there / len(own) if own and there * 2 > len(own) - (own[-1] in said) else 0.0


def is_slot(node: TaskNode) -> bool:
    """Whether a node is a value of what it is part of, or who has it."""
    return is_assignee(node) or (node.value is not None and node.parent is not None and not is_member(node))


def spoken_of(
    graph: TaskGraph,
    focus: Sequence[str],
    now: Sequence[str],
    exchange: tuple[str, str],
    clause: str,
    kinds: Collection[str],
) -> dict[str, list[float]]:
    """The signs of each task that may be spoken of.

    focus: ids, latest first. now: those that this message touched, latest first. exchange: what the user said
    before, and the reply. kinds: of the values in the clause.
    """
    before, reply = exchange
    tasks = [node for node in graph.active if not is_slot(node)]
    sentences = [words(part) for part in re.split(r"(?<=[.!?;])\s+", reply) if part]
    last, whole, said, own = (sentences or [()])[-1], words(reply), words(before), words(clause)
    place = {word: number for number, word in enumerate(whole)}
    ends = {
        node.id: max(place.get(word, -1) for word in words(node.title))
        if part_said(node.title, whole)
        else -1
        for node in tasks
    }
    latest = max(ends.values(), default=-1)
    order = list(dict.fromkeys(_task(graph, key) for key in focus if key in graph))
    done = list(dict.fromkeys(_task(graph, key) for key in now if key in graph))
    first = graph[order[0]] if order else None
    root = graph.root(first.id).id if first is not None else ""
    together = [graph[key].parent for key in (done or order)[:2]]
    found: dict[str, list[float]] = {}
    for node in tasks:
        slots = [part for part in graph.parts(node.id) if is_slot(part)]
        values = [words(part.value or "") for part in slots]
        found[node.id] = [
            float(done[:1] == [node.id]),
            float(node.id in done),
            float(order[:1] == [node.id]),
            1 / (1 + order.index(node.id)) if node.id in order else 0.0,
            float(first is not None and first.parent == node.id),
            part_said(node.title, last),
            float(latest >= 0 and ends[node.id] == latest),
            part_said(node.title, whole),
            float(any(value and set(value) <= set(whole) for value in values)),
            part_said(node.title, said),
            part_said(node.title, own),
            float(node.parent is not None and not graph.parts(node.id)),
            float(node.parent is None),
            float(order[:1] == [node.id] and node.parent is not None and not graph.parts(node.id)),
            float(node.id == root),
            float(together == [node.id, node.id]),
            float(done[:1] == [node.id] and node.parent is not None and not graph.parts(node.id)),
            float(any(kind_held(part) in kinds for part in slots)),
        ]
    return found


def most_likely(signs: Mapping[str, Sequence[float]], weights: Sequence[float]) -> str | None:
    """The task with the most weight, None where there is none."""
    scores = {
        key: sum(sign * weight for sign, weight in zip(own, weights, strict=True))
        for key, own in signs.items()
    }
    return max(scores, key=lambda key: scores[key], default=None)


def kind_held(node: TaskNode) -> str | None:
    """The kind of a slot's value; an amount of things is a count: '12 table posies'."""
    kind = kind_of(node.value or "")
    return "count" if kind is None and re.match(r"\D{0,12}\d", node.value or "") else kind


def _task(graph: TaskGraph, key: str) -> str:
    node = graph[key]
    return node.parent if is_slot(node) and node.parent else key
