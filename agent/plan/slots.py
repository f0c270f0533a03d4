"""Task schemas and proactive slot filling. Pure.

A schema is a kind of task and the slots it has. It can be given as a pydantic model class, as JSON Schema, or
as a service of Schema-Guided Dialogue (Rastogi et al. 2020), each of whose intents is a kind of task.
`fill` proposes what earlier tasks of the same kind had and asks for what is missing, which is MAP's active
policy without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from taskloom.agent.language.wording import base, clip, spoken, the, title_of
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema
from taskloom.memory.operations import Add, Clarify, Operation, Update, apply
from taskloom.memory.tasks import TaskGraph, TaskNode

from .kinds import allowed_value, asked_key, decided_in, held_as, held_slots, kind_of, own_parts

ASK_AT_MOST = 2
"""How often one slot of one task is asked for. A caller that hears 'never mind' sets the count to this."""

ANY = "any"
"""The value of a slot of which the user says that it does not matter; any list of values allows it."""

LOOK_BACK = 20
"""How many earlier root tasks are looked at for values to propose."""


class Filling(NamedTuple):
    """What to offer and what to ask: proposals as operations on the graph, and at most one question.

    A question for a free value has one choice without a value: an `Add` or `Update` into which the answer
    goes. A question with options has one choice for each.
    """

    proposals: tuple[Operation, ...] = ()
    question: Clarify | None = None


# ---- reading schemas ------------------------------------------------------------------------------


# ---- which kind a task is of ----------------------------------------------------------------------


class Remembered(NamedTuple):
    """A value that a task of an earlier session had.

    member: whether it is a thing in a list, which has a title and no value.
    source: id of the record that it comes from. within: title of the part that it belongs to.
    """

    slot: str
    title: str
    value: str
    member: bool
    source: str
    within: str = ""


# ---- filling --------------------------------------------------------------------------------------


def fill(
    graph: TaskGraph,
    touched: Iterable[str],
    schemas: Sequence[TaskSchema],
    asked: Mapping[str, int] | None = None,
    known: Mapping[str, Sequence[Remembered]] | None = None,
) -> Filling:
    """What to propose and what to ask for the tasks of this turn.

    Proposed are the values that the latest earlier task of the same kind had, then those of earlier sessions,
    for slots that this one never had. Asked is, first, for an allowed value in place of one that is not, then
    for the first required slot that is missing, but nothing in a turn that proposes something.

    Args:
        graph: the tasks after the turn's operations.
        touched: ids of the tasks that the turn changed.
        schemas: the kinds of tasks.
        asked: how often each slot was asked for, by `asked_key`; at `ASK_AT_MOST` it is left alone.
        known: what earlier sessions had, by root task.

    Returns:
        Proposals (status 'proposed', source 'memory:<id of the earlier task, or of the record>') and the
        question. Nothing for a task that is done or out of the plan.
    """
    roots = dict.fromkeys(graph.root(key).id for key in touched if key in graph)
    proposals: list[Operation] = []
    question = None
    for root in roots:
        if not graph[root].active or graph[root].status == "done":
            continue
        schema = kind_of(graph, root, schemas)
        offered = list((known or {}).get(root, ()))
        if schema is None:
            proposals += _from_earlier(graph, root, offered, {})
            continue
        held = held_slots(graph, root, schema)
        proposals += _proposals(graph, root, schema, held, _earlier(graph, root, schema, schemas))
        proposed = {base(one.slot) for one in proposals if isinstance(one, Add)}
        proposals += _from_earlier(graph, root, [one for one in offered if one.slot not in proposed], held)
        question = question or _question(graph, root, schema, held, asked or {})
    return Filling(tuple(proposals), None if proposals else question)


def _from_earlier(
    graph: TaskGraph, root: str, known: Iterable[Remembered], held: Mapping[str, Sequence[TaskNode]]
) -> Iterator[Operation]:
    """What an earlier session had, for slots that this task never had."""
    places = {"": root} | {part.title.lower(): part.id for part in graph.parts(root)}
    taken = {
        (part.parent, name) for part in own_parts(graph, root) for name in (part.name, part.title.lower())
    }
    offered = {node.name: node for node in graph.subtree(root)[1:] if node.status == "proposed"}
    for one in known:
        own = held.get(one.slot, ()) or ([offered[one.slot]] if one.slot in offered else ())
        place = places.get(one.within.lower())
        if decided_in(own) or place is None:
            continue
        source = f"memory:{one.source}"
        if own:
            yield Update(task=own[0].id, value=one.value, status="proposed", source=source)
        elif taken.isdisjoint({(place, one.title.lower()), (place, one.slot)}):
            taken |= {(place, one.title.lower()), (place, one.slot)}
            offer = Add(
                slot=f"{graph[place].slot}.{one.slot}", title=one.title, parent=place,
                value=None if one.member else one.value, status="proposed", source=source,
            )  # fmt: skip
            outcome = apply(graph, offer, turn=0, said="")  # for its id: others may belong to it
            if outcome.refused is None:  # as a record that was read in may hold what no task can
                yield offer
                graph = outcome.graph
                places.setdefault(one.title.lower(), outcome.changed[0])


def _number(key: str) -> tuple[int, str]:
    """Order of creation by id: t2 before t10."""
    return (int(key[1:]) if key[1:].isdigit() else 0, key)


def _earlier(graph: TaskGraph, root: str, schema: TaskSchema, schemas: Sequence[TaskSchema]) -> list[str]:
    """Root tasks of the same kind that were made before this one; of many, only the latest are looked at."""
    older = [node.id for node in graph.parts(None) if _number(node.id) < _number(root)]
    return [key for key in older[-LOOK_BACK:] if kind_of(graph, key, schemas) == schema]


def _known(nodes: Iterable[TaskNode], graph: TaskGraph) -> list[TaskNode]:
    """Those that hold something: a value, or parts of their own."""
    return [node for node in nodes if node.active and (node.value is not None or graph.parts(node.id))]


def _proposals(
    graph: TaskGraph,
    root: str,
    schema: TaskSchema,
    held: Mapping[str, Sequence[TaskNode]],
    earlier: Sequence[str],
) -> Iterator[Operation]:
    """The latest value that an earlier task of the kind had, for each slot that this one never had."""
    former = [held_as(own_parts(graph, key), schema) for key in earlier]
    for slot in schema.slots:
        own = held.get(slot.name, ())
        if decided_in(own) or _known(own, graph):
            continue
        known = [
            node for slots in former for node in slots.get(slot.name, ())
            if node.active and node.value is not None and node.status in ("filled", "done")
        ]  # fmt: skip
        if not known:
            continue
        latest = max(known, key=lambda node: (node.turn, _number(node.id)))
        source = f"memory:{latest.id}"
        if own:
            yield Update(task=own[0].id, value=latest.value, status="proposed", source=source)
        else:
            yield Add(
                slot=f"{graph[root].slot}.{slot.name}", title=spoken(slot.name), value=latest.value,
                parent=root, status="proposed", source=source,
            )  # fmt: skip


def _question(
    graph: TaskGraph,
    root: str,
    schema: TaskSchema,
    held: Mapping[str, Sequence[TaskNode]],
    asked: Mapping[str, int],
) -> Clarify | None:
    """The first question that this task has: a value that is not allowed, else a required slot."""
    for slot in schema.slots:
        for node in held.get(slot.name, ()):
            odd = node.value not in (None, ANY) and not allowed_value(node.value or "", slot.values)
            if slot.values and node.active and odd and asked.get(node.id, 0) < ASK_AT_MOST:
                return _choose(graph, root, slot, node)
    for slot in schema.slots:
        own = held.get(slot.name, ())
        declined = any(not node.active and node.op in ("remove", "inactivate") for node in own)
        if not slot.required or declined or _known(own, graph):
            continue
        question = _ask(graph, root, slot, next((node for node in own if node.active), None))
        if asked.get(asked_key(question) or "", 0) < ASK_AT_MOST:
            return question
    return None


def _ask(graph: TaskGraph, root: str, slot: SlotSchema, open_node: TaskNode | None) -> Clarify:
    """Ask for the value of a slot."""
    values: tuple[str | None, ...] = slot.values or (None,)
    place = f"{graph[root].slot}.{slot.name}"
    name = spoken(slot.name)
    choices: list[Operation] = [
        Update(task=open_node.id, value=value)
        if open_node
        else Add(slot=place, title=name, value=value, parent=root)
        for value in values
    ]
    text = f"What should {the(name)} be for {the(title_of(graph[root]))}?"
    if slot.values == ("yes", "no"):
        text = f"For {the(title_of(graph[root]))}: {name}?"
    return Clarify(question=text, options=slot.values, choices=tuple(choices))


def _choose(graph: TaskGraph, root: str, slot: SlotSchema, node: TaskNode) -> Clarify:
    """Ask for one of the allowed values in place of one that is not."""
    value, whole = clip(node.value or ""), the(title_of(graph[root]))
    text = f"For {whole}, {the(spoken(slot.name))} cannot be {value}. Which one is it?"
    choices = tuple(Update(task=node.id, value=value) for value in slot.values)
    return Clarify(question=text, options=slot.values, choices=choices)
