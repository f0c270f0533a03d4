"""What the nodes of a plan are to each other: members, people, counts; the words in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.words import content
from taskloom.memory.consolidate import is_person_name
from taskloom.memory.operations import is_part
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode

_MEMBER = re.compile(r"(?!list\d)[a-z_]+?\d+$")  # 'list2' is another list


def is_member(node: TaskNode) -> bool:
    """Whether a task is one of many of its kind (item2, participant1), not a slot with a name of its own."""
    return _numbered(node.slot)


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


_PERSON = re.compile(r"(?:participant|guest|assignee|attendee|speaker|player)")

COUNTED = frozenset(["party_size", "people", "guests", "guest", "count", "participants", "seats", "persons"])

_ROLES: Mapping[str, Callable[[TaskNode], bool]] = {
    "person": lambda node: _PERSON.match(node.name) is not None,
    "assignee": lambda node: node.name.startswith("assignee"),
    "counted": lambda node: node.name in COUNTED,
    "part": is_part,
    "proposed": lambda node: node.status == "proposed",
}


def _roles(node: TaskNode) -> tuple[str, ...]:
    """What a task is to readers that look for a few among many."""
    return tuple(role for role, found in _ROLES.items() if found(node))


def tasks_in_role(graph: TaskGraph, role: str) -> Iterator[TaskNode]:
    """The tasks that are 'person', 'assignee', 'counted', 'part' or 'proposed'; also those out of the plan.

    They come in the order in which they came to be so; no others are walked.
    """
    nodes = (graph[key] for key in graph.index(_roles).get(role, ()))
    return filter(_ROLES[role], nodes)


def is_known(graph: TaskGraph, words: str) -> bool:
    """Whether some task, as it is or was, is named by all of these words."""
    wanted = content(words)
    if not wanted:
        return False
    index = graph.index(stems_of)
    lists = sorted((index.get(stem, ()) for stem in wanted), key=len)
    common = set(lists[0]).intersection(*lists[1:])
    return any(
        wanted <= words_of(graph[key]) or any(wanted <= words_of(state) for state in graph[key].history)
        for key in common
    )


def typed_value_in(title: str, slot: str) -> str | None:
    """The value of a kind that stands in a title, if there is just one."""
    kind = {"budget": "amount", "number": "time"}.get(slot, slot)
    found = [span.text for span in values.spot(title) if span.kind == kind]
    return found[0] if len(found) == 1 else None


def is_person_slot(node: TaskNode) -> bool:
    """Whether a task is a person: a participant, a guest, an assignee."""
    return is_person_name(node.name)
