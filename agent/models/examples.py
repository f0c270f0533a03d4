"""Confirmed experiences as a model is shown them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from taskloom.agent.plan.outline import quoted
from taskloom.agent.turn.steps import REFERRING, Detail, Step
from taskloom.memory.records import Experience
from taskloom.memory.tasks import TaskGraph

from .wire import WireError, steps_of


def example(experience: Experience) -> str:
    """An experience as an example in a prompt: the words, and the JSON object to read them as.

    Tasks are told by words, as numbers are of their own prompt; all text stands in double quotes. '' where
    the object would not be read as the same again.
    """
    try:
        steps = [Step.model_validate({**step, "text": experience.text}) for step in experience.execution]
        text = _json({"steps": [dict(_wire(step)) for step in steps]})
        read = steps_of(text, experience.text, TaskGraph(), ())
    except (ValidationError, WireError):  # what was done was no reading, or nothing that a model can write
        return ""
    if list(map(_content, read)) != list(map(_content, steps)):
        return ""
    return f"{_json(experience.text)} {text}"


def _wire(step: Step) -> Iterator[tuple[str, Any]]:
    """The fields of a step that are set, in the form that a model gives them."""
    adds, new = step.act == "add", step.act == "task"
    listed = (one for one in step.items if step.act != "only" or one.task is not None)
    refs = list(listed) if step.act in REFERRING else []
    parts = [
        {"title": one.title, "who": one.members, "rest": one.rest, "details": _by_slot(one.details)}
        for one in step.parts
    ]
    fields = {
        "act": step.act,
        "on": (step.within or step.target) if adds else "" if new else step.target,
        "in": "" if adds else step.within,
        "slot": "" if new and not (step.within or step.value) else step.slot,
        "title": step.title or (step.target if new else ""),
        "value": step.value,
        "old": "" if step.old == "original" else step.old,
        "to": "first" if step.old == "original" else "",
        "items": _by_slot(one for one in step.items if one not in refs),
        "details": _by_slot(step.details),
        "refs": [one.value for one in refs],
        "parts": [{name: value for name, value in part.items() if value} for part in parts],
    }
    yield from ((name, value) for name, value in fields.items() if value)


def _by_slot(details: Iterable[Detail]) -> dict[str, Any]:
    """The values by slot; of several for one slot a list."""
    found: dict[str, list[str]] = {}
    for one in details:
        found.setdefault(one.slot, []).append(one.value)
    return {slot: values[0] if len(values) == 1 else values for slot, values in found.items()}


def _content(step: Step) -> tuple[Any, ...]:
    """The content of a step, without the ids of its tasks."""
    return (
        step.act,
        step.title or step.target if step.act == "task" else step.title,
        step.value,
        step.old,
        sorted(one.value for one in step.items),
        _pairs(step.details),
        [(part.title, part.members, part.rest, _pairs(part.details)) for part in step.parts],
        step.everywhere,
        step.everyone,
    )


def _pairs(details: Iterable[Detail]) -> list[tuple[str, str]]:
    return sorted((one.slot, one.value) for one in details)


def _json(value: Any) -> str:
    """JSON on one line, with texts quoted as in the rest of the prompt."""
    match value:
        case str():
            return quoted(value, len(value))
        case dict():
            return f"{{{','.join(f'{_json(name)}:{_json(one)}' for name, one in value.items())}}}"
        case list() | tuple():
            return f"[{','.join(map(_json, value))}]"
        case _:
            return json.dumps(value)
