"""From the slots that a message fills to steps, for the last task of that kind or a new one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from taskloom.agent.interpreter import Detail, Step, View
from taskloom.agent.reading.slots import Filled, Key, Known
from taskloom.agent.slots import TaskSchema, held_slots, kind_of
from taskloom.agent.wording import spoken
from taskloom.memory.tasks import TaskNode

BEGINS, BESIDE = 0.6, 0.85
"""From which probability on a slot of a kind that no task is of is filled: of the first task, of one more."""


def task_of_kind(schema: TaskSchema, view: View) -> TaskNode | None:
    """The open task of a kind that was spoken of last."""
    roots = [node for node in view.graph.parts(None) if node.active and node.status != "done"]
    own = [node for node in roots if kind_of(view.graph, node.id, view.schemas) == schema]
    focus = {
        view.graph.root(key).id: -at for at, key in reversed([*enumerate(view.focus)]) if key in view.graph
    }
    return max(own, key=lambda node: (focus.get(node.id, -99), node.turn), default=None)


def known_of(view: View) -> Known:
    """Which slots have a value, and of which kind the task is whose slot was changed last."""
    held, last, latest = set[Key](), "", -1
    for schema in view.schemas:
        root = task_of_kind(schema, view)
        if root is None:
            continue
        for slot, nodes in held_slots(view.graph, root.id, schema).items():
            for node in nodes:
                if node.active and node.value is not None:
                    held.add(Key(schema.name, slot))
                    if node.turn > latest:
                        last, latest = schema.name, node.turn
    return Known(frozenset(held), last)


def plausible(found: Sequence[Filled], view: View) -> list[Filled]:
    """The slots that are filled: of the tasks that there are, and, where that is sure, of one new one."""
    begun = {schema.name for schema in view.schemas if task_of_kind(schema, view) is not None}
    new = Counter[str]()
    for one in found:
        if one.key.schema not in begun:
            new[one.key.schema] += 1
    alone = len(view.schemas) == 1
    best = max(
        new,
        key=lambda name: (new[name], max(o.probability for o in found if o.key.schema == name)),
        default="",
    )
    return [
        one for one in found
        if one.key.schema in begun
        or (one.key.schema == best and (alone or one.probability >= (BESIDE if begun else BEGINS)))
    ]  # fmt: skip


def steps_of(found: Sequence[Filled], said: str, view: View) -> tuple[Step, ...]:
    """What a message does that gives these slots their values."""
    steps: list[Step] = []
    for schema in view.schemas:
        told = [one for one in found if one.key.schema == schema.name]
        if not told:
            continue
        root = task_of_kind(schema, view)
        held = held_slots(view.graph, root.id, schema) if root is not None else {}
        new = []
        for one in told:
            own = (node for node in held.get(one.key.slot, ()) if node.active and node.value is not None)
            node = next(own, None)
            if node is None:
                new.append(Detail(slot=one.key.slot, value=one.value))
            else:
                steps.append(Step(text=said, act="set", task=node.id, kind=schema.name, value=one.value))
        if root is None:
            title = re.sub(r"\s*\d+$", "", spoken(schema.name.rpartition(".")[2]))
            steps.append(Step(text=said, act="task", title=title, kind=schema.name, details=tuple(new)))
        elif new:
            steps.append(Step(text=said, act="set", task=root.id, kind=schema.name, details=tuple(new)))
    return tuple(steps)
