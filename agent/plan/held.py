"""Which tasks of a plan words may be in: found by indexes, not by a look at every task. Pure.

The indexes are those of `TaskGraph.index`: a change of the plan costs what it changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import STOP, words


class Held(NamedTuple):
    """The stems in a task's title, its value and its kind of slot; own: the title's without little words."""

    title: frozenset[str]
    value: frozenset[str]
    kind: frozenset[str]
    own: frozenset[str]


def stems_in(node: TaskNode) -> Held:
    """The stems that are in a task."""
    return _held(node.title, node.value, node.slot)


@lru_cache(maxsize=32_768)
def _held(title: str, value: str | None, slot: str) -> Held:
    named = frozenset(words(title))
    kind = words(slot.rpartition(".")[2].rstrip("0123456789").replace("_", " "))
    return Held(named, frozenset(words(value or "")), frozenset(kind), named - STOP)


def alike(word: str, other: str) -> bool:
    """Whether two words begin alike, or one ends with the other: 'sitter' and 'babysitter'."""
    short, long = (word, other) if len(word) <= len(other) else (other, word)
    return len(short) > 3 and (
        (len(short) > 5 and long.endswith(short)) or (long[:4] == short[:4] and len(long) - len(short) < 4)
    )


def _ends(word: str) -> Iterator[str]:
    """What all words that are `alike` have one of."""
    if len(word) > 3:
        yield f"{word[:4]}-"
    if len(word) > 5:
        yield f"-{word[-6:]}"


def _stems(node: TaskNode) -> Iterator[str]:
    title, value, kind, _ = stems_in(node)
    yield from title | value | kind
    for word in title:
        yield from _ends(word)


def candidates_by_stems(graph: TaskGraph, said: Iterable[str]) -> set[str]:
    """Ids of all tasks, gone ones too, that may have one of some stems in them or in what they are part of.

    No other has one in its title, value, kind of slot, or in a title above it, nor one in its title that is
    `alike`.
    """
    index, found = graph.index(_stems), set[str]()
    for word in said:
        for key in index.get(word, ()):
            if key not in found or word in stems_in(graph[key]).title:
                found.add(key)
                if word in stems_in(graph[key]).title:
                    found |= _below(graph, key)
        for end in _ends(word):
            found.update(index.get(end, ()))
    return found


def _below(graph: TaskGraph, key: str) -> set[str]:
    found, stack = set[str](), [key]
    while stack:
        parts = graph.children.get(stack.pop(), ())
        found.update(parts)
        stack += parts
    return found


def tasks_with_stem(graph: TaskGraph, word: str) -> Iterator[TaskNode]:
    """The tasks, gone ones too, that have a stem in their title or value."""
    for key in graph.index(_stems).get(word, ()):
        node = graph[key]
        held = stems_in(node)
        if word in held.title or word in held.value:
            yield node


def first_of(graph: TaskGraph, keys: Collection[str]) -> str:
    """Of some ids the one that was made first."""
    return next(key for key in graph if key in keys) if len(keys) > 1 else next(iter(keys))
