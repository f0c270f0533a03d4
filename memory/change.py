"""A task graph while one operation changes it, and refusals. Pure."""

from __future__ import annotations

from typing import Any

from .tasks import DEPTH, LIMITS, TaskGraph, TaskNode, text_fault


class Refusal(Exception):
    """Raised inside an operation that cannot be carried out; `apply` turns it into an outcome."""


class Change:
    """A graph while one operation changes it: collects changed nodes, and reads see them."""

    def __init__(self, graph: TaskGraph, turn: int, op: str, said: str) -> None:
        self.turn, self.op, self.said = turn, op, said
        self.changed: dict[str, TaskNode] = {}
        self.opened: tuple[str, ...] = ()
        self._next = graph.next_number
        self._graph = graph
        self._pending: list[TaskNode] = []

    @property
    def graph(self) -> TaskGraph:
        """The graph with all changes so far: one copy of it for any number of them."""
        if self._pending:
            self._graph = self._graph.with_nodes(self._pending)
            self._pending = []
        return self._graph

    def get(self, key: str) -> TaskNode:
        """A task with the changes so far."""
        if key in self.changed:
            return self.changed[key]
        if key not in self._graph:
            raise Refusal(f"there is no task {key[:40]}")
        return self._graph[key]

    def active(self, key: str) -> TaskNode:
        """A task that must be in the plan."""
        node = self.get(key)
        if not node.active:
            raise Refusal(f"{node.title} is not part of the plan any more")
        return node

    def set(self, key: str, *, op: str | None = None, **fields: Any) -> None:
        """Change fields of a task; no revision is made where nothing would differ."""
        node = self.get(key)
        if any(getattr(node, name) != value for name, value in fields.items()):
            self._refuse(fields)
            self.put(node.changed(turn=self.turn, op=op or self.op, said=self.said, **fields))

    def new(self, **fields: Any) -> TaskNode:
        """Make a task."""
        self._refuse(fields)
        node = TaskNode(id=f"t{self._next}", turn=self.turn, op=self.op, said=self.said, **fields)
        self._next += 1
        self.put(node)
        return node

    def put(self, node: TaskNode) -> None:
        """Add a changed or new node."""
        self.changed[node.id] = node
        self._pending.append(node)

    def _refuse(self, fields: dict[str, Any]) -> None:
        """Refuse an invalid text, and a task that is nested too deeply."""
        for name in LIMITS.keys() & fields.keys():
            if fault := text_fault(name, fields[name]):
                raise Refusal(fault)
        parent, above = fields.get("parent"), 0
        while parent is not None:
            parent, above = self.get(parent).parent, above + 1
        if above >= DEPTH:
            raise Refusal(f"tasks within tasks can be {DEPTH} deep, and no deeper")
