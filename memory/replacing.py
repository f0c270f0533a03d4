"""One entity for another in all that names it; parts that come to say the same become one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import dag
from .change import Change, Refusal
from .tasks import TaskNode, text_fault
from .words import entity_pattern

if TYPE_CHECKING:  # `operations` carries out its models with what is here
    from .operations import Replace


def replace(change: Change, op: Replace) -> None:
    """Exchange an entity in the titles and values of active tasks."""
    for name in (op.old, op.new):
        if fault := text_fault("title", name):
            raise Refusal(f"a replacement needs an old and a new name: {fault}")
    pattern = entity_pattern(op.old)
    # What a tool found stays as it was found; where it rests on the entity it becomes stale.
    candidates = tuple(node for node in change.graph.active if not node.source.startswith("tool:"))
    if op.tasks is not None:
        candidates = tuple(change.active(key) for key in op.tasks)

    def exchange(text: str) -> str:
        return pattern.sub(lambda found: _capital_as(found.group(), op.new), text)

    begin = op.old.split()[0].casefold()
    for node in candidates:
        if begin not in f"{node.title} {node.value}".casefold():
            continue  # ten times as fast as the pattern
        if pattern.search(node.title) or pattern.search(node.value or ""):
            change.set(node.id, value=node.value and exchange(node.value), title=exchange(node.title))
    if not change.changed:
        raise Refusal(f"no task names {op.old}")
    _fold_twins(change)


def _capital_as(model: str, text: str) -> str:
    """The text with a capital where the model has one: mushrooms for Celery are Mushrooms."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def _fold_twins(change: Change) -> None:
    """Take replaced parts out where another part of the same task said the same before."""
    graph, replaced = change.graph, dict.fromkeys(change.changed)
    for parent in dict.fromkeys(graph[key].parent for key in replaced):
        parts = graph.parts(parent)
        held = {_texts(node): node.id for node in parts if node.id not in replaced}
        for node in parts:
            twin = held.get(_texts(node)) if node.id in replaced else None
            if twin is None or graph.parts(node.id) or graph.parts(twin):
                continue
            change.set(node.id, status="removed")
            for user in graph.dependents.get(node.id, ()):
                if graph[user].active and user not in dag.reach([twin], graph.rests_on):
                    moved = (twin if key == node.id else key for key in change.get(user).depends_on)
                    change.set(user, depends_on=tuple(dict.fromkeys(moved)))


def _texts(node: TaskNode) -> tuple[str, str]:
    return node.title.casefold(), (node.value or "").casefold()
