"""Tasks as intent units, and units as proposals: what a session leaves, and what the next one gets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal

from taskloom.agent.language.wording import base, clip, day, join, spoken, the, title_of
from taskloom.agent.plan.kinds import held_slots, kind_of, spoken_slots, telling_words
from taskloom.agent.plan.slots import Remembered
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.memory.judge import unit_text
from taskloom.memory.records import Experience, Fact, IntentUnit, Pair, Scene, record_id
from taskloom.memory.scenes import span
from taskloom.memory.tasks import BY_HAND, TaskGraph, TaskNode

_UTTERANCES = 8  # of the user's utterances about a task, the latest go into what is searched


def unit_of(
    graph: TaskGraph, root: str, schemas: Sequence[TaskSchema], *, thread: str, at: datetime
) -> IntentUnit:
    """The intent unit of a root task: what it is for, with a pair for each value that was settled.

    A task that left the plan gives a unit to be dropped.
    """
    node = graph[root]
    schema = kind_of(graph, root, schemas)
    held = held_slots(graph, root, schema) if schema else {}
    names = {one.id: slot for slot, nodes in held.items() for one in nodes}
    parts = [
        part
        for part in graph.subtree(root)[1:]
        if part.status in ("filled", "done", "open") and not part.source.startswith("tool:")
    ]
    ended = [part for part in graph.subtree(root, gone=True)[1:] if not part.active]
    shared = [graph[key] for key in node.depends_on if graph[key].active and graph[key].parent is None]
    pairs = tuple(_pair(part, names.get(part.id), graph) for part in parts)
    gone = dict.fromkeys(_slot(part, names.get(part.id)) for part in ended)
    words = (state.said for part in (node, *parts) for state in part.states())
    said = dict.fromkeys(one for one in words if one not in ("", BY_HAND))
    title = title_of(node)
    what = ", ".join([schema.description if schema else title, *(title_of(one) for one in shared)]) or title
    status: Literal["open", "done", "dropped"]
    status = "dropped" if not node.active else "done" if node.status == "done" else "open"
    return IntentUnit(
        id=record_id(thread, 0, "unit", root),
        text=unit_text(what, pairs, list(said)[-_UTTERANCES:]) or "a task",
        at=at,
        thread=thread,
        turn=node.turn,
        intent=schema.name if schema else title.lower(),
        description=(schema.description if schema else "") or title,
        title=title,
        pairs=pairs,
        dropped=tuple(slot for slot in gone if slot not in {pair.slot for pair in pairs}),
        order=list(graph).index(root),
        status=status,
    )


def _slot(part: TaskNode, slot: str | None) -> str:
    """The name of a part's slot; slot: that of the schema, if it is one of it."""
    return slot or (base(part.slot) if part.value is not None else part.name)


def _pair(part: TaskNode, slot: str | None, graph: TaskGraph) -> Pair:
    name = _slot(part, slot)
    value = part.value or title_of(part)
    parent = graph[part.parent] if part.parent else None
    within = title_of(parent) if parent is not None and parent.parent is not None else ""
    return Pair(
        slot=name,
        question=f"What is the {spoken(name)}{f' of {the(within)}' if within else ''}?",
        answer=value,
        title=title_of(part),
        within=within,
        member=part.value is None,
    )


def remembered(unit: IntentUnit, older: Iterable[IntentUnit] = ()) -> tuple[Remembered, ...]:
    """All values of a unit, to propose, and of older ones of its kind what it never had.

    older: the newest first. What is in their lists is not offered, nor what a newer one changed or dropped.
    """
    found, decided = list(_values(unit)), _decided(unit)
    for one in older:
        found += [each for each in _values(one) if not each.member and _plain(each.slot) not in decided]
        decided |= _decided(one)
    return tuple(found)


def _values(unit: IntentUnit) -> Iterator[Remembered]:
    for pair in unit.pairs:
        title = pair.title or spoken(pair.slot)
        yield Remembered(pair.slot, title, pair.answer, pair.member, unit.id, pair.within)


def _decided(unit: IntentUnit) -> set[str]:
    """The slots of which a unit tells what the user wanted."""
    return {*map(_plain, unit.dropped), *(_plain(pair.slot) for pair in unit.pairs)}


def _plain(slot: str) -> str:
    """A slot by one of the two names that a bare place gets."""
    return "place" if slot == "location" else slot


def without_slots(unit: IntentUnit, words: str) -> IntentUnit | None:
    """The unit without the values that a list of their names leaves out; None where the words say more."""
    names = {pair.slot: spoken(pair.title or pair.slot) for pair in unit.pairs}
    left_out = spoken_slots(words, [*names, *names.values()])
    if not left_out:
        return None
    kept = tuple(pair for pair in unit.pairs if not {pair.slot, names[pair.slot]} & set(left_out))
    return unit.model_copy(update={"pairs": kept})


def is_same_request(text: str, unit: IntentUnit) -> bool:
    """Whether words can be about the task of a unit: they share a word on what it is or had, not a verb."""
    had = " ".join(pair.answer for pair in unit.pairs)
    named = telling_words(f"{unit.title} {unit.intent} {unit.description} {had}")
    return bool(named & telling_words(text)) or not named


def unit_lines(units: Iterable[IntentUnit]) -> tuple[str, ...]:
    """Units in words for a reply, one each: 'May 12, 2026: book a hotel (location Bergen, two nights)'."""
    return tuple(_unit_line(unit) for unit in units)


def _unit_line(unit: IntentUnit) -> str:
    values = [
        pair.answer if pair.member else f"{spoken(pair.title or pair.slot)} {pair.answer}"
        for pair in unit.pairs
    ]
    what = f"{day(unit.at)}: {clip(unit.title, 80)}"
    return f"{what} ({join([clip(value, 60) for value in values], limit=8)})" if values else what


def summary(record: Experience | Fact | IntentUnit | Scene) -> str:
    """A record in one line."""
    if isinstance(record, IntentUnit):
        return _unit_line(record).partition(": ")[2]
    if isinstance(record, Fact):
        return record.text if record.status == "current" else f"({record.status}) {record.text}"
    if isinstance(record, Scene):
        return f"{record.name} {span(record.start_ms, record.end_ms)} {clip(record.text, 200)}"
    acts = ", ".join(dict.fromkeys(str(step.get("act") or step.get("name", "")) for step in record.execution))
    return f"{record.text} -> {acts}"
