"""The task DAG as data: TaskNode, Revision and the read-only TaskGraph over them.

Everything here is frozen. A change is made by `memory.operations.apply`, which gives a new graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from . import dag
from .shown import escaped, safe

Turn = Annotated[int, Field(ge=0, le=10**9)]
Status = Literal["open", "proposed", "filled", "done", "inactive", "removed"]
BY_HAND = "edited by hand"  # in place of words, where none brought a state about
GONE: frozenset[str] = frozenset({"inactive", "removed"})


class Revision(BaseModel):
    """One state of a task, with the turn and the words that caused it."""

    model_config = ConfigDict(frozen=True)

    slot: str = Field(description="Dotted, value-free name, e.g. 'trip.destination'.")
    title: str = Field(description="What to call the task in a reply.")
    value: str | None = Field(default=None, description="What the slot holds, in the user's words.")
    status: Status = Field(default="open", description="How far it is; inactive and removed are out.")
    parent: str | None = Field(default=None, description="Id of the task this one is a part of.")
    depends_on: tuple[str, ...] = Field(default=(), description="Ids of prerequisites, also shared ones.")
    stale_since: Turn | None = Field(default=None, description="Turn in which a prerequisite changed.")
    source: str = Field(default="user", description="user, memory:ID or tool:NAME.")
    turn: Turn = Field(default=0, description="Turn in which this state came about.")
    op: str = Field(default="add", description="Kind of the operation that brought it about.")
    said: str = Field(default="", description="The words that brought it about.")
    undoes: Turn | None = Field(default=None, description="For op 'undo': the turn that was undone.")

    @property
    def active(self) -> bool:
        """Whether the task is part of the plan in this state."""
        return self.status not in GONE

    def content(self) -> tuple[Any, ...]:
        """The fields that a change can change, in the order of CONTENT, without its bookkeeping."""
        return _content(self)


CONTENT = ("slot", "title", "value", "status", "parent", "depends_on", "stale_since", "source")
_content = attrgetter(*CONTENT)


class TaskNode(Revision):
    """A task: its present state, its id and the states it had before (oldest first)."""

    id: str = Field(description="Short and stable, e.g. 't7'.")
    history: tuple[Revision, ...] = Field(default=(), description="Former states, oldest first.")

    @property
    def name(self) -> str:
        """The last part of the slot: 'destination' of 'trip.destination'."""
        return self.slot.rpartition(".")[2]

    def revision(self) -> Revision:
        """The present state without id and history."""
        fields = dict(self.__dict__)
        del fields["id"], fields["history"]
        return _construct(Revision, fields)

    def states(self) -> tuple[Revision, ...]:
        """Every state the task has been in, oldest first, the present one last."""
        return (*self.history, self)

    def changed(self, *, turn: int, op: str, said: str, **fields: Any) -> TaskNode:
        """A copy with new fields, the present state added to its history.

        Values are trusted: callers pass what they have validated.
        """
        return _construct(
            TaskNode,
            {
                **self.__dict__,
                "undoes": None,
                **fields,
                "turn": turn,
                "op": op,
                "said": said,
                "history": (*self.history, self.revision()),
            },
        )


State = TypeVar("State", bound=Revision)
Key = TypeVar("Key")


_FIELDS: dict[type[Revision], set[str]] = {kind: set(kind.model_fields) for kind in (Revision, TaskNode)}


def _construct(kind: type[State], fields: dict[str, Any]) -> State:
    """An instance of fields that are valid and complete.

    `model_construct` does the same in ten times the time, and thousands of tasks may go stale at once.
    """
    instance = kind.__new__(kind)
    put = object.__setattr__
    put(instance, "__dict__", fields)
    put(instance, "__pydantic_fields_set__", _FIELDS[kind])  # shared: nothing that is frozen adds to it
    put(instance, "__pydantic_extra__", None)
    put(instance, "__pydantic_private__", None)
    return instance


class TaskGraph(Mapping[str, TaskNode]):
    """A forest of task trees with prerequisite edges; a read-only mapping from id to node.

    Edges run from a task to what it rests on: to its prerequisites and to its parts. Indexes are built when
    first asked for and handed on when a change leaves them as they were.
    """

    def __init__(self, nodes: Mapping[str, TaskNode] | Iterable[TaskNode] = ()) -> None:
        if isinstance(nodes, TaskGraph):
            nodes = nodes._nodes
        elif not isinstance(nodes, Mapping):
            nodes = {node.id: node for node in nodes}
        self._nodes: dict[str, TaskNode] = dict(nodes)

    def __getitem__(self, key: str) -> TaskNode:
        return self._nodes[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def values(self) -> ValuesView[TaskNode]:
        """The tasks in order of creation; the view of a mapping would look each of them up."""
        return self._nodes.values()

    def __eq__(self, other: object) -> bool:
        return self._nodes == other._nodes if isinstance(other, TaskGraph) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # a mapping with equality by value

    def __repr__(self) -> str:
        return f"TaskGraph({len(self)} tasks, {len(self.active)} active)"

    # ---- indexes ------------------------------------------------------------------------------

    @cached_property
    def children(self) -> dict[str | None, tuple[str, ...]]:
        """Ids of the parts of each task, gone ones included, in order of creation; None holds the roots."""
        index: dict[str | None, list[str]] = {}
        for node in self._nodes.values():
            index.setdefault(node.parent, []).append(node.id)
        return {parent: tuple(ids) for parent, ids in index.items()}

    @cached_property
    def dependents(self) -> dict[str, tuple[str, ...]]:
        """Ids of the tasks that name a task as their prerequisite."""
        index: dict[str, list[str]] = {}
        for node in self._nodes.values():
            for needed in node.depends_on:
                index.setdefault(needed, []).append(node.id)
        return {needed: tuple(ids) for needed, ids in index.items()}

    @cached_property
    def active(self) -> tuple[TaskNode, ...]:
        """The tasks that are part of the plan, in order of creation."""
        return tuple([node for node in self._nodes.values() if node.status not in GONE])

    @cached_property
    def next_number(self) -> int:
        """The number of the next task id."""
        return 1 + max(map(made_at, self._nodes), default=0)

    @cached_property
    def _indexes(self) -> dict[Callable[..., Any], tuple[dict[Any, tuple[str, ...]], tuple[TaskNode, ...]]]:
        """For each function of `index` what it gave, and the tasks that have changed since."""
        return {}

    def index(self, keys: Callable[[TaskNode], Iterable[Key]]) -> Mapping[Key, tuple[str, ...]]:
        """Ids by what a function gives for the tasks; only changed tasks are asked again.

        An id may still stand where the task had the key before: look at the task itself.
        """
        known, changed = self._indexes.get(keys, ({}, tuple(self._nodes.values())))
        if changed:
            new: dict[Key, dict[str, None]] = {}
            for node in changed:
                for key in keys(node):
                    new.setdefault(key, {})[node.id] = None
            known = known | {
                key: tuple(dict.fromkeys((*known.get(key, ()), *ids))) for key, ids in new.items()
            }
            self._indexes[keys] = known, ()
        return known

    # ---- reading ------------------------------------------------------------------------------

    def parts(self, key: str | None, *, gone: bool = False) -> tuple[TaskNode, ...]:
        """The children of a task (None: the roots), active ones only unless `gone`."""
        nodes = (self._nodes[child] for child in self.children.get(key, ()))
        return tuple(node for node in nodes if gone or node.active)

    def part(self, key: str | None, slot: str) -> TaskNode | None:
        """The active child of a task that holds this slot, if there is one."""
        return next((node for node in self.parts(key) if node.slot == slot), None)

    def subtree(self, key: str, *, gone: bool = False) -> tuple[TaskNode, ...]:
        """A task with all its descendants, depth first."""
        found, stack = [], [key]
        while stack:
            node = self._nodes[stack.pop()]
            found.append(node)
            stack += [child.id for child in reversed(self.parts(node.id, gone=gone))]
        return tuple(found)

    def ancestors(self, key: str) -> tuple[TaskNode, ...]:
        """The parent chain of a task, nearest first."""
        found: list[TaskNode] = []
        parent = self._nodes[key].parent
        while parent is not None:
            found.append(self._nodes[parent])
            parent = found[-1].parent
        return tuple(found)

    def root(self, key: str) -> TaskNode:
        """The root of the tree a task stands in."""
        chain = self.ancestors(key)
        return chain[-1] if chain else self._nodes[key]

    def rests_on(self, key: str) -> tuple[str, ...]:
        """What a task rests on directly: its prerequisites, then its parts (gone ones included)."""
        return (*self._nodes[key].depends_on, *self.children.get(key, ()))

    def waits_for(self, key: str) -> tuple[TaskNode, ...]:
        """The active prerequisites of a task that are neither done nor known."""
        needed = (self._nodes[other] for other in self._nodes[key].depends_on)
        return tuple(node for node in needed if node.active and node.status not in ("done", "filled"))

    # ---- change -------------------------------------------------------------------------------

    def with_nodes(self, changed: Iterable[TaskNode]) -> TaskGraph:
        """A graph in which these nodes take the place of those with the same id, or are new."""
        new = {node.id: node for node in changed}
        graph = TaskGraph.__new__(TaskGraph)
        graph._nodes = {**self._nodes, **new}
        if "next_number" in self.__dict__:
            graph.__dict__["next_number"] = max([self.next_number, *(1 + made_at(key) for key in new)])
        pairs = [(self._nodes[key], node) for key, node in new.items() if key in self._nodes]
        added = [node for key, node in new.items() if key not in self._nodes]
        if "children" in self.__dict__ and all(old.parent == node.parent for old, node in pairs):
            graph.__dict__["children"] = _joined(self.children, ((node.parent, node.id) for node in added))
        if "dependents" in self.__dict__ and all(old.depends_on == node.depends_on for old, node in pairs):
            edges = ((needed, node.id) for node in added for needed in node.depends_on)
            graph.__dict__["dependents"] = _joined(self.dependents, edges)
        graph.__dict__["_indexes"] = {
            keys: (known, (*changed, *new.values()))
            for keys, (known, changed) in self._indexes.items()
            if len(changed) < len(self)  # else nobody has asked for long
        }
        return graph

    # ---- exchange -----------------------------------------------------------------------------

    def to_json(self, *, indent: int | None = 2) -> str:
        """The whole graph, history included, as a JSON object with one list `tasks`."""
        tasks = [node.model_dump(mode="json", exclude_defaults=True) for node in self._nodes.values()]
        return escaped(json.dumps({"tasks": tasks}, ensure_ascii=False, indent=indent))

    @classmethod
    def from_json(cls, text: str | bytes) -> TaskGraph:
        """Read what `to_json` wrote.

        Raises:
            GraphError: not JSON, not of this form, or a graph that breaks an invariant.
        """
        try:
            tasks = _EXPORT.validate_json(text).tasks
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise GraphError(f"not a task export: {where}: {first['msg']}") from error
        graph = cls(tasks)
        if len(graph) < len(tasks):
            raise GraphError("not a task export: an id is used twice")
        for node in tasks:
            if not _ID.fullmatch(node.id):
                raise GraphError(f"not a task export: {node.id[:40]!r} is not an id; they look like t7")
            for state in node.states():
                for name in LIMITS:
                    if fault := text_fault(name, getattr(state, name)):
                        raise GraphError(f"not a task export: {node.id}: {fault}")
        if faults := graph.faults():
            raise GraphError(f"not a sound task graph: {faults[0]}")
        roots = [node.id for node in tasks if node.parent is None]
        if sum(1 for _ in dag.levels(roots, lambda key: graph.children.get(key, ()))) > DEPTH:
            raise GraphError(f"not a task export: tasks within tasks are more than {DEPTH} deep")
        return graph

    def to_mermaid(self) -> str:
        """The active tasks as a mermaid flowchart: solid arrows to parts, dotted ones to prerequisites."""
        lines = ["flowchart TD"]
        for node in self.active:
            text = node.title if node.value in (None, node.title) else f"{node.title}: {node.value}"
            mark = {"done": " ✓", "proposed": " ?"}.get(node.status, "")
            stale = " ⚠" if node.stale_since is not None else ""
            lines.append(f'  {node.id}["{_mermaid_text(text + mark + stale)}"]')
        for node in self.active:
            if node.parent and self._nodes[node.parent].active:
                lines.append(f"  {node.parent} --> {node.id}")
            lines += [f"  {node.id} -.-> {other}" for other in node.depends_on if self._nodes[other].active]
        return "\n".join(lines)

    # ---- invariants ---------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """What is wrong with the graph, in words; empty for every graph that operations have made."""
        found = []
        for node in self._nodes.values():
            for state in node.states():
                edges = state.depends_on if state.parent is None else (*state.depends_on, state.parent)
                unknown = [key for key in edges if key not in self]
                found += [f"{node.id} points to {key}, which does not exist" for key in unknown]
        if found:
            return found
        if cycle := dag.cycle({key: self.rests_on(key) for key in self._nodes}):
            found.append(f"{' -> '.join(cycle)} is a cycle")
            return found
        seen: dict[tuple[str | None, str], str] = {}
        for node in self.active:
            other = seen.setdefault((node.parent, node.slot), node.id)
            if other != node.id:
                found.append(f"{other} and {node.id} both hold {node.slot}")
            if node.parent and not self._nodes[node.parent].active:
                found.append(f"{node.id} is active under {node.parent}, which is not")
        return found


def _joined(
    index: dict[Key, tuple[str, ...]], pairs: Iterable[tuple[Key, str]]
) -> dict[Key, tuple[str, ...]]:
    """An index with more entries: (key, id); the same one where there are none."""
    more: dict[Key, list[str]] = {}
    for key, identity in pairs:
        more.setdefault(key, []).append(identity)
    return {**index, **{key: (*index.get(key, ()), *ids) for key, ids in more.items()}} if more else index


_ID = re.compile(r"t[1-9][0-9]{0,11}")


def made_at(key: str) -> int:
    """The place of a task in the order in which all were made, from its id: 7 of 't7'; 0 of another form."""
    return int(key[1:]) if _ID.fullmatch(key) else 0


LIMITS = {"slot": 200, "title": 1_000, "value": 20_000, "said": 4_000, "source": 200, "op": 40}
DEPTH = 100  # tasks within tasks
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def text_fault(name: str, text: str | None) -> str | None:
    """What is wrong with a text of a task, in words: too long, control characters, or blank; else None.

    Args:
        name: one of LIMITS; a slot, title or value must not be blank.
        text: tabs and line ends are allowed in it; None is no text, and nothing wrong.
    """
    if text is None:
        return None
    if len(text) > LIMITS[name]:
        return f"a {name} of {len(text):,} characters is too long, at most {LIMITS[name]:,} are allowed"
    if _CONTROL.search(text):
        return f"the {name} holds control characters"
    if name in ("slot", "title", "value") and not text.strip():
        return f"a {name} must not be blank"
    return None


def plain(text: str) -> str:
    """Words that any task can keep: control characters become spaces, what is too long is cut with …."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= LIMITS["said"] else text[: LIMITS["said"] - 1] + "…"


class GraphError(ValueError):
    """A text that cannot be read as a task graph; the message names the place."""


class _Export(BaseModel):
    tasks: list[TaskNode]


_EXPORT: TypeAdapter[_Export] = TypeAdapter(_Export)


def _mermaid_text(text: str) -> str:
    """Text that is safe between the quotes of a mermaid label."""
    return " ".join(safe(text).split()).replace("#", "#35;").replace('"', "#quot;").replace("`", "#96;")
