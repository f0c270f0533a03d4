"""What the network is told beside a message: what stands in the plan, and what the assistant said last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.reading import View
from taskloom.memory.tasks import TaskNode

TITLES, TITLE_WORDS, PLAN_WORDS = 14, 4, 34  # of a plan, of each title, of all of them
LAST_WORDS = 30  # of what the assistant said


def heard(view: View) -> str:
    """The titles of the plan and the last reply, as one text."""
    return joined(titles(view), view.exchanges[-1][1] if view.exchanges else "")


def joined(plan: str, reply: str) -> str:
    """Titles of a plan and what was said last, as one text: its end where it is long."""
    said = " ".join(reply.split()[-LAST_WORDS:])
    return f"{plan} | {said}" if plan else said


def titles(view: View) -> str:
    """The titles of the tasks that stand, those lately spoken of first, cut: 'trip; packing; Ann'."""
    return listed(node.title for node in _nearest(view))


def listed(names: Iterable[str]) -> str:
    """Titles as one text, as many as there is room for."""
    found, size = list[str](), 0
    for name in names:
        words = name.split()[:TITLE_WORDS]
        size += len(words)
        if size > PLAN_WORDS or len(found) == TITLES:
            break
        found.append(" ".join(words))
    return "; ".join(found)


def _nearest(view: View) -> Iterator[TaskNode]:
    """The tasks that stand: those in focus, the plans, what is in the latest one, and in others."""
    graph, seen = view.graph, set[str]()
    lately = [graph[key] for key in view.focus if key in graph]
    lately = [graph[one.parent] if is_slot(one) and one.parent else one for one in lately]
    roots = {graph.root(one.id).id: graph.root(one.id) for one in lately}
    plans = roots | {one.id: one for one in graph.parts(None)}
    inside = (one for root in plans.values() for one in graph.subtree(root.id))
    for nodes in (lately, plans.values(), inside):
        for node in nodes:
            if node.active and node.id not in seen and not is_slot(node):
                seen.add(node.id)
                yield node
