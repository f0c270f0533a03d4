"""Which tasks of a plan words may be in: found by indexes, not by a look at every task. Pure.

The indexes are those of `TaskGraph.index`: a change of the plan costs what it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from taskloom.memory.tasks import TaskGraph, TaskNode, made_at
from taskloom.memory.words import STOP, words

from .roles import is_slot


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
    kind = words(_kind(slot).replace("_", " "))
    return Held(named, frozenset(words(value or "")), frozenset(kind), named - STOP)


def _kind(slot: str) -> str:
    return slot.rpartition(".")[2].rstrip("0123456789")


def alike(word: str, other: str) -> bool:
    """Whether two words begin alike, or one ends with the other: 'sitter' and 'babysitter'."""
    short, long = (word, other) if len(word) <= len(other) else (other, word)
    return len(short) > 3 and (
        (len(short) > 5 and long.endswith(short)) or (long[:4] == short[:4] and len(long) - len(short) < 4)
    )


def ends_of(word: str) -> Iterator[str]:
    """What all words that are `alike` have one of."""
    if len(word) > 3:
        yield f"{word[:4]}-"
    if len(word) > 5:
        yield f"-{word[-6:]}"


def _stems(node: TaskNode) -> Iterator[str]:
    title, value, kind, _ = stems_in(node)
    yield from title | value | kind
    for word in title:
        yield from ends_of(word)


class Candidates(NamedTuple):
    """Ids of tasks that may have some stems in them.

    by_name: in their titles or kinds of slots, alike in title and kind to others. apart: in their values or
    in what they are part of.
    """

    by_name: set[str]
    apart: set[str]


def candidates_by_stems(graph: TaskGraph, said: Iterable[str]) -> Candidates:
    """All tasks, gone ones too, that may have one of some stems in them or in what they are part of.

    No other has one in its title, value, kind of slot, or in a title above it, nor one in its title that is
    `alike`.
    """
    index, named, apart = graph.index(_stems), set[str](), set[str]()
    for word in said:
        for key in index.get(word, ()):
            held = stems_in(graph[key])
            if word in held.title:
                apart |= _below(graph, key)
            (apart if word in held.value else named).add(key)
        for end in ends_of(word):
            named.update(index.get(end, ()))
    return Candidates(named - apart, apart)


def some_of_each(graph: TaskGraph, keys: Iterable[str]) -> list[str]:
    """Ids of tasks, of those alike in title and kind of slot only the first ones of a few wholes.

    What is scored by title and kind alone has among these its best, and the best that is no part of that.
    """
    found, held = list[str](), dict[tuple[str, str, bool], Counter[str | None]]()
    for key in sorted(keys, key=made_at):
        node = graph[key]
        wholes = held.setdefault((node.title, _kind(node.slot), is_slot(node)), Counter())
        if wholes[node.parent] < 2 and (node.parent in wholes or len(wholes) < 4):
            wholes[node.parent] += 1
            found.append(key)
    return found


def tasks_titled(graph: TaskGraph, word: str) -> Iterator[TaskNode]:
    """The tasks in the plan, no slots, that have a stem in their title, in the order of making."""
    nodes = (graph[key] for key in sorted(graph.index(_title_of_task).get(word, ()), key=made_at))
    return (node for node in nodes if node.active and word in _title_of_task(node))


def slots_saying(graph: TaskGraph, word: str) -> Iterator[TaskNode]:
    """The slots in the plan that have a stem in their value."""
    nodes = (graph[key] for key in graph.index(_value_of_slot).get(word, ()))
    return (node for node in nodes if node.active and word in _value_of_slot(node))


def _title_of_task(node: TaskNode) -> frozenset[str]:
    return frozenset() if is_slot(node) else stems_in(node).title


def _value_of_slot(node: TaskNode) -> frozenset[str]:
    return stems_in(node).value if is_slot(node) else frozenset()


def slot_titles(node: TaskNode) -> tuple[str, ...]:
    """The title of a slot, for an index; there are few of these, as most plans have the same."""
    return (node.title,) if is_slot(node) else ()


def tasks_having(graph: TaskGraph, said: Collection[str]) -> list[TaskNode]:
    """The tasks in the plan that may have all of some stems in title, value or kind of slot; all, of none.

    In the order in which they were made.
    """
    if not said:
        return list(graph.active)
    index = graph.index(_stems)
    keys = min((index.get(word, ()) for word in said), key=len)
    return [node for key in sorted(keys, key=made_at) if (node := graph[key]).active]


def tasks_named(graph: TaskGraph, said: Iterable[str]) -> list[TaskNode]:
    """The tasks in the plan, no slots, that have one of some stems in their title, in order of making."""
    found = {node.id: node for word in said for node in tasks_titled(graph, word)}
    return [found[key] for key in sorted(found, key=made_at)]


def tasks_told_by(graph: TaskGraph, said: Sequence[str], *, before: int) -> list[TaskNode]:
    """The tasks and slots in the plan that came or changed by a message with some stems beside each other.

    before: only messages of turns before this one count.
    """
    index, phrase = graph.index(_stems_said), f" {' '.join(said)} "
    keys = min((index.get(word, ()) for word in said), key=len, default=())
    told = (graph[key] for key in sorted(keys, key=made_at))
    return [
        node for node in told
        if node.active and any(one.turn < before and phrase in _stems_of(one.said) for one in node.states())
    ]  # fmt: skip


def _stems_said(node: TaskNode) -> frozenset[str]:
    return frozenset().union(*(_stems_of(state.said).split() for state in node.states()))


@lru_cache(maxsize=4_096)
def _stems_of(text: str) -> str:
    """The stems of a text without little words, with a blank around each."""
    return f" {' '.join(word for word in words(text) if word not in STOP)} "


def _below(graph: TaskGraph, key: str) -> set[str]:
    found, stack = set[str](), [key]
    while stack:
        parts = graph.children.get(stack.pop(), ())
        found.update(parts)
        stack += parts
    return found


def tasks_with_stem(graph: TaskGraph, word: str) -> Iterator[TaskNode]:
    """The tasks, gone ones too, that have a stem in their title or value."""
    return (node for key in graph.index(_stems).get(word, ()) if has_stem(node := graph[key], word))


def all_stand(graph: TaskGraph, stems: Iterable[str]) -> bool:
    """Whether each of some stems is in the title or value of a task that stands."""
    return all(any(node.active for node in tasks_with_stem(graph, stem)) for stem in stems)


def has_stem(node: TaskNode, word: str) -> bool:
    """Whether a task has a stem in its title or value."""
    held = stems_in(node)
    return word in held.title or word in held.value


def first_of(keys: Iterable[str]) -> str:
    """Of some ids the one that was made first."""
    return min(keys, key=made_at)
