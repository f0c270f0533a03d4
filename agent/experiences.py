"""Experiences of a dialogue: when one is made, how it went, and what its words teach. Pure.

An experience is an utterance with the steps that it was read as. Its outcome comes from what the user does
next; until that is known it waits in the state of its thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from taskloom.memory.operations import Complete, Confirm, Reject
from taskloom.memory.policies import Event, Outcome, outcome
from taskloom.memory.records import Experience, now, record_id
from taskloom.memory.tasks import TaskGraph

from . import patterns as re
from .interpreter import Act, Interpreter, Reading, Step, View
from .lexicon import content
from .state import Pending, Turn
from .wording import clip

OWN_WORDS = 3  # words that make a wording; with fewer it would be anything
PATIENCE = 2  # turns in which a word against what was done can still come
_NOTHING_DONE: frozenset[Act] = frozenset(("chat", "ask", "unsure", "yes", "no", "undo", "redo"))
_TEXTS = ("target", "within", "title", "value", "old")  # fields of a step that hold the user's words
_CORRECTION = (
    r"^(?:no\b|nope|wait|oops|sorry|wrong)|\b(?:i (?:meant|mean|said)|that'?s (?:wrong|not (?:right|what))"
    r"|not what i|misunderst\w+|my mistake|correction|you got (?:it|that) wrong)\b"
)


# ---- in the making --------------------------------------------------------------------------------


def made(turn: Turn, before: Sequence[Pending], *, thread: str, outline: str) -> Pending | None:
    """The experience of a turn that changed something, or that could not be read; else None.

    Where the turn before could not be read and this one has the same values, it says what that one meant:
    then the words of that one are the experience.
    """
    touched = tuple(dict.fromkeys(key for change in turn.changes for key in change.changed))
    steps = tuple(step for step in turn.steps if step.act not in _NOTHING_DONE)
    unread = any(step.act == "unsure" and not step.proposed for step in turn.steps)
    if not (touched and steps) and not (unread and not turn.changes):
        return None
    query = turn.utterance
    last = before[-1] if before else None
    if steps and last and last.unread and last.experience.turn == turn.number - 1:
        told = last.experience.text
        if all(_find(value, told) for value in _values(steps)):
            query = told
    experience = Experience(
        id=record_id(thread, turn.number, "experience"),
        text=query,
        at=now(),
        thread=thread,
        turn=turn.number,
        outline=clip(outline, 600),
        execution=tuple(_stored(step) for step in steps) if touched else (),
        led_by=turn.examples,
    )
    return Pending(experience=experience, touched=touched)


def _stored(step: Step) -> dict[str, Any]:
    """A step as data, without what holds in its own thread alone."""
    return step.model_dump(mode="json", exclude_defaults=True, exclude={"text"})


def _values(steps: Iterable[Step]) -> list[str]:
    """The values that steps give."""
    found = []
    for step in steps:
        found += [step.value] if step.value else []
        found += [detail.value for detail in (*step.items, *step.details)]
    return found


def _find(words: str, text: str) -> Any:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)


# ---- how it went ----------------------------------------------------------------------------------


def settled(
    waiting: Sequence[Pending], turn: Turn, graph: TaskGraph, *, feedback: str | None = None
) -> tuple[list[tuple[Experience, Outcome]], tuple[Pending, ...]]:
    """Which experiences have an outcome after a turn, and which still wait.

    Args:
        waiting: those of the turns before, the oldest first.
        turn: what the user did now.
        graph: the tasks after it.
        feedback: 'good' or 'bad', said of the latest one by other means than words.
    """
    done: list[tuple[Experience, Outcome]] = []
    left: list[Pending] = []
    for pending in waiting:
        if pending.unread:  # the next turn has made use of it, or nothing will
            continue
        told: list[Event] = list(_events(pending, turn, graph))
        if feedback in ("good", "bad") and pending is waiting[-1]:
            told.append("good" if feedback == "good" else "bad")
        if not told and turn.number - pending.experience.turn >= PATIENCE:
            told.append("uncorrected")
        how = outcome(told)
        if how is None:
            left.append(pending)
        else:
            done.append((pending.experience, how))
    return done, tuple(left)


def _events(pending: Pending, turn: Turn, graph: TaskGraph) -> Iterator[Event]:
    touched = set(pending.touched)
    for change in turn.changes:
        kind = change.operation.kind
        if touched.isdisjoint(change.changed):
            continue
        if isinstance(change.operation, Reject):
            yield "rejected"
        elif isinstance(change.operation, Confirm):
            yield "confirmed"
        elif isinstance(change.operation, Complete):
            yield "completed"
        elif kind == "undo":
            yield "undone"
        elif kind in ("update", "replace", "remove", "rollback") and re.search(
            _CORRECTION, turn.utterance, re.IGNORECASE
        ):
            yield "corrected"
    roots = {graph.root(key).id for key in touched if key in graph}
    done = {
        key for change in turn.changes if isinstance(change.operation, Complete) for key in change.changed
    }
    if roots & done:
        yield "completed"


# ---- what it teaches ------------------------------------------------------------------------------


def example(experience: Experience) -> str:
    """An experience as a line for a prompt: the words, and the steps that they meant, as JSON."""
    steps = [
        {name: value for name, value in step.items() if name in ("act", "slot", *_TEXTS, "items", "details")}
        for step in experience.execution
    ]
    return f"{experience.text} -> {json.dumps(steps, ensure_ascii=False)}"


def learned(utterance: str, experiences: Iterable[Experience]) -> tuple[Step, ...]:
    """The steps that an utterance means by an experience of the same wording; () where there is none.

    The wording is the experience's utterance without the words that its steps took over: "push the dinner all
    the way to Friday" teaches "push X all the way to Y". What is its own has to be there word for word.
    """
    return next(filter(None, (_learned(utterance, one) for one in experiences)), ())


def _learned(utterance: str, experience: Experience) -> tuple[Step, ...]:
    said = " ".join(experience.text.split()).rstrip(".!? ")
    taken = sorted({text for step in experience.execution for text in _texts(step)}, key=len, reverse=True)
    spans: list[tuple[int, int, str]] = []
    for text in taken:
        match = _find(text, said)
        if match and all(match.end() <= start or match.start() >= end for start, end, _ in spans):
            spans.append((match.start(), match.end(), text))
    spans.sort()
    pattern, at, own = "", 0, ""
    for start, end, _ in spans:
        pattern += f"{_loose(said[at:start])}(.+?)"
        own += said[at:start]
        at = end
    pattern += _loose(said[at:])
    own += said[at:]
    if len(re.findall(r"\w+", own)) < OWN_WORDS or not content(own) or ")(" in pattern:
        return ()
    match = re.fullmatch(pattern, " ".join(utterance.split()).rstrip(".!? "), re.IGNORECASE)
    if match is None:
        return ()
    exchanged = {text.lower(): match[n] for n, (_, _, text) in enumerate(spans, 1)}
    return tuple(
        Step.model_validate({**_exchanged(step, exchanged), "text": utterance})
        for step in experience.execution
    )


def _loose(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _texts(step: Any) -> Iterator[str]:
    """The words in a step as data that may come from the utterance."""
    for name in _TEXTS:
        if step.get(name):
            yield step[name]
    for detail in (*step.get("items", ()), *step.get("details", ())):
        yield detail["value"]


def _exchanged(step: dict[str, Any], words: dict[str, str]) -> dict[str, Any]:
    """A step with other words in place of those it took over, and no ids: they are of another thread."""
    given = {name: value for name, value in step.items() if name not in ("task", "within_task")}
    for name in _TEXTS:
        if given.get(name):
            given[name] = words.get(given[name].lower(), given[name])
    for name in ("items", "details"):
        if given.get(name):
            given[name] = [
                {"slot": one["slot"], "value": words.get(one["value"].lower(), one["value"])}
                for one in given[name]
            ]
    return given


class Taught:
    """An interpreter that reads by what was learned where it is not sure by itself."""

    def __init__(self, inner: Interpreter) -> None:
        self.inner = inner

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; asks for experiences only where the inner interpreter is not sure."""
        reading = self.inner.read(utterance, view)
        if reading.sure or view.question is not None:
            return reading
        found = learned(utterance, view.examples())
        return replace(reading, steps=found, sure=True) if found else reading
