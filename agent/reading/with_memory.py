"""Utterances that point back to earlier sessions: read as the request that they repeat."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.language.pointers import Reference, parse_reference
from taskloom.agent.language.wording import the
from taskloom.agent.language.words import content
from taskloom.agent.plan.kinds import kind_asked_for, offered_roots
from taskloom.agent.recall.longterm import NEW
from taskloom.agent.recall.memory import Memory
from taskloom.agent.recall.units import without_slots
from taskloom.agent.turn.reading import Interpreter, Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.actions import is_action
from taskloom.memory.records import IntentUnit
from taskloom.memory.tasks import TaskGraph

from .again import wanted_again


def _named_in(text: str, unit: IntentUnit, graph: TaskGraph) -> tuple[Step, ...]:
    """The values of a unit that words name, for slots that have another: 'in Bergen' is not in Oslo."""
    parts = {part.name: part for root in offered_roots(graph) for part in graph.subtree(root)[1:]}
    named = [pair for pair in unit.pairs if content(pair.answer) and content(pair.answer) <= content(text)]
    return tuple(
        Step(text=text, act="set", intent="update", task=parts[pair.slot].id, value=pair.answer)
        for pair in named
        if pair.slot in parts and parts[pair.slot].status == "filled"
    )


def read_with_memory(
    text: str, view: View, interpreter: Interpreter, memory: Memory
) -> tuple[Reading, IntentUnit | None]:
    """Read an utterance; one that points back to an earlier session as the request that it repeats.

    Returns:
        The reading, and the task of the earlier session that is pointed to, if memory has it. Words that ask
        for no new task are read as they are.
    """
    if memory and (unit := memory.instead(view.graph, text)):
        return Reading(
            _named_in(text, unit, view.graph) or (Step(text=text, act="chat", intent="check"),)
        ), unit
    # What a tool gave in this thread is had again from the tool.
    reference = (
        None if wanted_again(text, view) is not None else parse_reference(text) or _request(text, view)
    )
    if reference is None or not memory:
        reading = interpreter.read(text, view)
        bare = reference is not None and not reference.words("") and reading.by != "model"
        return (_unsure(text, reading) if bare else reading), None
    unit = memory.unit(text) if reference.request else memory.latest()
    title = "" if unit is None else unit.title if is_action(unit.title) else f"plan {the(unit.title)}"
    reading = interpreter.read(text, replace(view, earlier=title))
    if reading.by == "model":
        return reading, unit if any(map(_begins, reading.steps)) else None
    if unit is None and (reference.words("") or any(map(_is_here, reading.steps))):
        return reading, None  # 'the same day', 'again': of this thread, and understood as it was said
    if unit is not None and (rest := without_slots(unit, reference.changes)):
        unit, reference = rest, replace(reference, changes="")
    if words := reference.words(title):
        instead = interpreter.read(words, view)
        if any(map(_begins, instead.steps)):
            steps = tuple(step.model_copy(update={"text": text}) for step in instead.steps)
            return replace(instead, steps=steps, usage=instead.usage + reading.usage), unit
    if unit is None and not reference.words(""):
        reading = _unsure(text, reading)
    return reading, None


def _begins(step: Step) -> bool:
    """Whether a step begins a task of its own."""
    return step.act in NEW and not step.within and step.within_task is None and step.task is None


def _is_here(step: Step) -> bool:
    """Whether a step is about something in this thread."""
    return bool(step.task or step.within_task) or step.act in ("undo", "redo")


def _request(text: str, view: View) -> Reference | None:
    """How a request for a task of a kind that begins as a change points back: 'add an event, as before'."""
    bare = re.sub(r"^please\s+", "", text.strip(), flags=re.IGNORECASE)
    found = parse_reference(f"I want to {bare[:1].lower()}{bare[1:]}") if view.schemas else None
    return found if found and found.request and kind_asked_for(found.request, view.schemas) else None


def _unsure(text: str, reading: Reading) -> Reading:
    """What to make of 'same as last time' where there was no last time: not a task of that name."""
    step = Step(text=text, act="unsure", intent="check", value=text.strip())
    return replace(reading, steps=(step,), sure=False)
