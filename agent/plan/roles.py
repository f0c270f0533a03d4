"""What the nodes of a plan are to each other: members, people, counts; the words in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from taskloom.agent.language.words import content
from taskloom.memory.consolidate import is_person_name
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode

from .outline import is_assignee

_MEMBER = re.compile(r"(?!list\d)[a-z_]+?\d+$")  # 'list2' is another list


def is_member(node: TaskNode) -> bool:
    """Whether a task is one of many of its kind (item2, participant1), not a slot with a name of its own."""
    return _numbered(node.slot)


def is_slot(node: TaskNode) -> bool:
    """Whether a node is a value of what it is part of, or who has it."""
    return node.value is not None and node.parent is not None and (not is_member(node) or is_assignee(node))


def is_fact(node: TaskNode) -> bool:
    """Whether a node is a value of no task: 'surname: Meyer', told before there was a plan."""
    return node.value is not None and node.parent is None


@lru_cache(maxsize=32_768)
def _numbered(slot: str) -> bool:
    return _MEMBER.fullmatch(slot.rpartition(".")[2]) is not None


@lru_cache(maxsize=50_000)
def _node_content(title: str, value: str | None, name: str) -> frozenset[str]:
    return content(title) | content(value or "") | content(re.sub(r"\d+$", "", name))


def words_of(node: Revision) -> frozenset[str]:
    """The stems by which a task can be named."""
    return _node_content(node.title, node.value, node.slot.rpartition(".")[2])


def stems_of(node: TaskNode) -> frozenset[str]:
    """The stems by which a task can be named, as it is or was."""
    return words_of(node).union(*map(words_of, node.history))


PEOPLE_COUNTED = frozenset(("party_size", "people", "guests", "guest", "participants", "persons"))
"""Names of slots that say how many people there are."""

_ROLES: Mapping[str, Callable[[TaskNode], bool]] = {
    "result": lambda node: node.source.startswith("tool:"),
    "proposed": lambda node: node.status == "proposed",
}


def _roles(node: TaskNode) -> tuple[str, ...]:
    """What a task is to readers that look for a few among many."""
    return tuple(role for role, found in _ROLES.items() if found(node))


def tasks_in_role(graph: TaskGraph, role: str) -> Iterator[TaskNode]:
    """The tasks that are a 'result' of a tool or 'proposed'; also those out of the plan.

    They come in the order in which they came to be so; no others are walked.
    """
    nodes = (graph[key] for key in graph.index(_roles).get(role, ()))
    return filter(_ROLES[role], nodes)


def is_person_slot(node: TaskNode) -> bool:
    """Whether a task is a person: a participant, a guest, an assignee."""
    return is_person_name(node.name)


def has_former(node: TaskNode) -> bool:
    """Whether a task held another value, or had another title, before."""
    present = node.value if node.value is not None else node.title
    return any((state.value if state.value is not None else state.title) != present for state in node.history)


def tool_results(graph: TaskGraph, words: str, focus: Iterable[str]) -> tuple[TaskNode, ...]:
    """Results of tools that words name: by title or slot, not by what they say.

    Without words those in the tree that the talk is about: the ones out of date, else the latest ones.
    """
    results = [node for node in tasks_in_role(graph, "result") if node.active]
    if wanted := content(words):
        exact = [node for node in results if content(node.title) == wanted]
        kinds = [
            node
            for node in results
            if wanted <= content(f"{node.name} {node.source.removeprefix('tool:')}".replace("_", " "))
        ]
        return tuple(exact or kinds or [node for node in results if wanted <= content(node.title)])
    root = next((graph.root(key) for key in focus if key in graph), None)
    near = [node for node in results if root is None or graph.root(node.id) == root] or results
    stale = [node for node in near if node.stale_since is not None]
    last = max((node.turn for node in near), default=0)
    return tuple(stale or [node for node in near if node.turn == last])
