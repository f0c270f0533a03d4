"""How far a reading can be trusted: the probability that it does what was said, from signs in it. Pure.

The signs are about what was read (how sure the network is), about what it would do (kinds of operations,
titles, slots without a name), and about what is left over: numbers, names and words of the utterance that no
operation says, questions without an answer. Boosted trees on them (Friedman 2001) are fitted in
training/trust.py, on turns of authors whom neither reader had seen.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Any, TypeAlias

from taskloom.agent.reading.clauses import Parse
from taskloom.agent.values import NUMBER_WORDS
from taskloom.memory.operations import Add, Check, Clarify, Operation, Split, Undo
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.words import STOP, words

_NAME = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][a-zé]+\b")
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_TAKES = ("remove", "inactivate", "replace", "rollback", "undo", "merge", "split")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one reader makes of an utterance: what it would do, and the network's parse of the words."""

    operations: tuple[Operation, ...]
    parse: Parse
    margin: float = 3.0


def signs(text: str, graph: TaskGraph, mine: Candidate, other: Sequence[Operation]) -> dict[str, float]:
    """The signs of a candidate by name.

    graph: the plan before it. other: what another reader would do.
    """
    operations = mine.operations
    said = [word for word in words(text) if word not in STOP]
    told = _told(operations, graph)
    numbers = [one.replace(",", "") for one in _NUMBER.findall(text)]
    spelt = [word for word in re.findall(r"[a-z]+", text.lower()) if word in NUMBER_WORDS and word != "one"]
    names = _NAME.findall(text)
    changes = [one for one in operations if not isinstance(one, Check | Clarify)]
    checks = sum(isinstance(one, Check) for one in operations)
    own, others = _effects(operations), _effects(other)
    asks = sum(clause.act.startswith("ask.") for clause in mine.parse.clauses)
    acts = [clause.act for clause in mine.parse.clauses if clause.act != "chat"]
    titles = [one.title for one in changes if isinstance(one, Add) and one.value is None]
    marks = text.count("?")
    return {
        "log probability": max(math.log(max(mine.parse.probability, 1e-9)), -14),
        "per clause": max(math.log(max(mine.parse.probability, 1e-9)), -14) / max(1, len(mine.parse.clauses)),
        "clauses": min(len(acts), 6),
        "unsure": float("unsure" in acts),
        "words": math.log(1 + len(text.split())),
        "left words": len([one for one in said if one not in told]) / max(1, len(said)),
        "left numbers": sum(not any(part in told for part in words(one)) for one in numbers),
        "left spelt": sum(not set(words(one)) <= told for one in spelt),
        "left names": min(3, sum(not set(words(one)) <= told for one in names)),
        "changes": math.log(1 + len(changes)),
        "checks": min(checks, 3),
        "doubts": sum(isinstance(one, Clarify) for one in operations),
        "nothing": float(not operations),
        "takes": float(any(one.kind in _TAKES for one in changes)),
        "takes much": float(_taken(changes, graph) > 1),
        "long titles": sum(len(title.split()) > 5 for title in titles),
        "new tasks": min(4, len(titles)),
        "unnamed": sum(isinstance(one, Add) and one.title.startswith("detail") for one in changes),
        "question unread": float(marks > 0 and checks == 0),
        "asks too often": float(checks > max(marks, asks)),
        "read but not done": max(0, len(acts) - len(operations)),
        "empty plan": float(not len(graph)),
        "margin": min(mine.margin, 1.5),
        "same": float(own == others),
        "alike": len(own & others) / max(1, len(own | others)),
        "other does nothing": float(not others),
        "sure and same": float(own == others) * max(math.log(max(mine.parse.probability, 1e-9)), -14),
    }  # fmt: skip


def _told(operations: Iterable[Operation], graph: TaskGraph) -> set[str]:
    """The words that operations say: what they put, and what they are about."""
    found = set[str]()
    for one in operations:
        given = one.model_dump(exclude={"said"}, exclude_none=True)
        for key in [given.get("task"), given.get("on"), given.get("parent"), *_asked(one)]:
            node = graph.get(key or "")
            if node is not None:
                found |= {
                    *words(node.title),
                    *words(node.value or ""),
                    *words(node.slot.replace("_", " ").replace(".", " ")),
                }
                if node.parent and node.parent in graph:
                    found |= set(words(graph[node.parent].title))
        for key in ("title", "value", "old", "new"):
            found |= set(words(str(given.get(key) or "")))
        if isinstance(one, Add):
            found |= set(words(one.slot.rpartition(".")[2].replace("_", " ")))
        if isinstance(one, Check):
            asked = one.question
            found |= set(words(" ".join(filter(None, (asked.about, asked.value, asked.slot, asked.kind)))))
        if isinstance(one, Split):
            found |= {word for part in one.parts for _, value in part.values for word in words(value)}
    return found


def _asked(one: Operation) -> tuple[str | None, ...]:
    return (*one.question.tasks[:3], one.question.container) if isinstance(one, Check) else ()


def _taken(changes: Iterable[Operation], graph: TaskGraph) -> int:
    """How many tasks with parts of their own, or whole turns, changes take out."""
    return sum(
        isinstance(one, Undo)
        or (one.kind in ("remove", "inactivate") and len(graph.parts(getattr(one, "task", ""))) > 1)
        for one in changes
        if isinstance(one, Undo) or getattr(one, "task", "") in graph
    )


def _effects(operations: Iterable[Operation]) -> frozenset[tuple[str, ...]]:
    """What operations do, each in a form that is alike for the same effect."""
    found = set[tuple[str, ...]]()
    for one in operations:
        given = one.model_dump(exclude={"said", "intent"}, exclude_none=True)
        if isinstance(one, Check):
            found.add(("check", one.question.kind, *sorted(one.question.tasks)))
        elif isinstance(one, Add):
            found.add(("add", given.get("parent", ""), *sorted(set(words(one.value or one.title)) - STOP)))
        elif not isinstance(one, Clarify):
            value = " ".join(
                str(given.get(key, "")) for key in ("value", "title", "old", "new", "on", "status")
            )
            found.add((one.kind, given.get("task", ""), *sorted(set(words(value)) - STOP)))
    return frozenset(found)


# ---- what was fitted ---------------------------------------------------------------------------------

Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf's score, or the number of a sign, a bound, and the trees for signs up to it and above it."""


@cache
def _fitted() -> dict[str, Any]:
    text = (files("taskloom.agent.plan") / "trust.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def at_home(parse: Parse) -> float:
    """How much an utterance is of the kind that the patterns were written for, as log-odds."""
    fitted = _fitted()["home"]
    return float(fitted["bias"] + sum(map(mul, fitted["weights"], parse.vector)))


def probability(found: Mapping[str, float], home: float, reader: str) -> float:
    """The probability (0 to 1) that a candidate does what was said.

    found: its signs. home: of `at_home`. reader: whose candidate it is, 'rules' or 'network'.
    """
    fitted = _fitted()[reader]
    given = [*(found[name] for name in _fitted()["signs"]), home]
    score = fitted["start"] + sum(_leaf(tree, given) for tree in fitted["trees"])
    return 1 / (1 + math.exp(-score))


def _leaf(tree: Tree, given: Sequence[float]) -> float:
    while isinstance(tree, list | tuple):
        number, bound, low, high = tree
        tree = low if given[number] <= bound else high
    return tree
