"""What the plan holds now: what a container lists, what is tied to it, and what is still to do. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from .actions import is_action
from .tasks import TaskGraph, TaskNode

_MEMBER_NAMES = frozenset(
    {"item", "participant", "ingredient", "step", "guest", "member", "person", "attendee"}
)

_PEOPLE = frozenset(
    {"participant", "guest", "member", "person", "attendee", "speaker", "player", "passenger"}
)
"""Names of members that are there, and not to be done."""


def is_person(name: str) -> bool:
    """Whether a slot's name, without a number, is one for people."""
    return name in _PEOPLE


_OF_DEEDS = frozenset({"assignee", "deadline", "due"})
"""Names of slots that only something to be done has, whatever else is known of it."""

_BY = re.compile(r"(?:by|before|b4|until|till|no later than)\b", re.IGNORECASE)
"""How a day is said by which something is to be done."""

_WHEN = re.compile(r"(?:^|_)(?:date|day|time|when|start|end|from|until|hours?)s?(?:_|$)")
"""Names of slots that say when: what has one takes place, what has none is to be done."""


def members(graph: TaskGraph, key: str) -> tuple[TaskNode, ...]:
    """The active tasks that a container lists: its list members (all parts, where none is) and shared ones.

    List members are parts whose slot name ends in a number, repeats, is that of a numbered sibling (also one
    that is gone: 'item' beside 'item2'), or is a word for a member. Shared ones are prerequisites; one that
    says the same as a part is left out.
    """
    parts = graph.parts(key)
    names = Counter(part.name for part in parts)
    numbered = {bare_name(part) for part in graph.parts(key, gone=True) if bare_name(part) != part.name}
    listed = [part for part in parts if names[part.name] > 1 or bare_name(part) in numbered | _MEMBER_NAMES]
    shared = [graph[other] for other in graph[key].depends_on if graph[other].active]
    own = listed or list(parts)
    said = {(part.title.casefold(), part.value) for part in own}
    return (*own, *(node for node in shared if (node.title.casefold(), node.value) not in said))


def bare_name(node: TaskNode) -> str:
    """The name of a task's slot without its number."""
    return re.sub(r"\d+$", "", node.name)


def linked_roots(graph: TaskGraph, root: str) -> list[str]:
    """The whole tasks that wait for a whole task, or that it waits for."""
    found = (*graph[root].depends_on, *graph.dependents.get(root, ()))
    return [other for other in found if graph[other].active and graph[other].parent is None]


def still_open(graph: TaskGraph, roots: Iterable[str]) -> tuple[list[str], set[str]]:
    """What is still to do in some trees, parts first; and the tasks there that are known facts.

    A filled task is a fact, and so is an open one whose parts are people. A part with slots of its own is
    still to be done; a whole task of which all is known, and when, counts as known here, unless it is due,
    somebody's, or called by what is to be done ('call mum').
    """
    left: dict[str, None] = {}
    known: set[str] = set()

    def is_fact(node: TaskNode, parts: tuple[TaskNode, ...]) -> bool:
        facts = bool(parts) and all(part.id in known for part in parts)
        names = {bare_name(part) for part in parts}
        return facts and (
            names <= _PEOPLE
            or (
                node.parent is None
                and not linked_roots(graph, node.id)
                and names.isdisjoint(_OF_DEEDS)
                and not any(_BY.match(part.value or "") for part in parts)
                and any(map(_WHEN.search, names))
                and not is_action(node.title)
            )
        )

    stack: list[tuple[str, tuple[TaskNode, ...] | None]] = [(key, None) for key in reversed(list(roots))]
    while stack:
        key, parts = stack.pop()
        if parts is None:  # these first
            parts = graph.parts(key)
            stack += [(key, parts), *((part.id, None) for part in reversed(parts))]
            continue
        node = graph[key]
        if (
            node.status == "filled"
            or bare_name(node) in _PEOPLE
            or (node.status == "open" and is_fact(node, parts))
        ):
            known.add(key)
        if node.active and (node.stale_since is not None or (node.status == "open" and key not in known)):
            left[key] = None
    return list(left), known
