"""What a model reads, held against the user's own words: what these do not say is proposed, not done.

A model sees the plan, what is remembered and what tools gave, and words in there may tell it what to do. Only
the user may: a step has to be asked for in the words of this turn, and what it brings in has to stand there,
or follow from them. Whether words ask for something to be done, taken out or put back at all is told by the
network, which reads them without the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

from taskloom.agent.language.foreign import foreign
from taskloom.agent.language.referring import (
    ALL,
    ALL_BUT,
    IN_FIGURES,
    IS_OUT,
    ME,
    OF_A_WORD,
    SPOKEN_OF,
    THE_SAME,
    YES_OR_NO,
)
from taskloom.agent.language.wording import NOT_SAID
from taskloom.agent.turn.reading import Interpreter, Reading, View
from taskloom.agent.turn.steps import Act, Step
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import MONTHS, SPEAKER, STOP, WEEKDAYS, fold, stem, words

from .again import wanted_again
from .local import Local
from .spelling import written_out

ASKED_BY: dict[Act, frozenset[str]] = {
    "done": frozenset(("done",)),
    "remove": frozenset(("remove", "hold", "only", "replace")),
    "hold": frozenset(("remove", "hold")),
    "only": frozenset(("remove", "only", "replace")),
    "back": frozenset(("back", "undo", "redo", "resume")),
    "undo": frozenset(("undo", "back")),
    "redo": frozenset(("redo", "undo", "back")),
    "resume": frozenset(("resume", "reopen", "back", "undo", "redo")),
    "reopen": frozenset(("reopen", "resume", "back", "undo")),
    "merge": frozenset(("merge", "only")),
    "yes": frozenset(("yes",)),
    "shift": frozenset(("shift", "set", "replace", "only")),
}
"""Acts that are done only where the network finds one of these in the words."""

_GOING: tuple[Act, ...] = ("done", "remove", "hold")
_BACK: tuple[Act, ...] = ("back", "resume", "reopen", "undo", "redo")
_LINKS: tuple[Act, ...] = ("need", "unneed", "share")
_NEAR = 6  # tasks in focus that words about what was before may be about without naming them
_NUMBER = re.compile(r"\d+(?:[:.]\d+)?")
_DAYS, _MONTHS = frozenset(map(stem, WEEKDAYS)), frozenset(map(stem, MONTHS))


@dataclass(frozen=True, slots=True)
class Vouched:
    """A reader whose model is held to the user's words; any other reading passes as it is.

    local: reads the words without the model.
    """

    reader: Interpreter
    local: Local

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; steps that its words do not ask for are proposed, after the others."""
        reading = self.reader.read(utterance, view)
        if reading.by != "model":
            return reading
        held = not_asked_for(reading.steps, Words(utterance, view, self.local))
        if not held:
            return reading
        asked = Step(text=utterance, act="unsure", intent="check", value=NOT_SAID, proposed=held)
        done = (step for step in reading.steps if step not in held)
        return replace(reading, steps=(*done, asked), sure=False)


def not_asked_for(steps: Sequence[Step], said: Words) -> tuple[Step, ...]:
    """The steps of a turn that its words do not ask for.

    Who has a part taken out or done does not mean the whole, and words that put one thing back no other one.
    """
    gone = {step.task for step in steps if step.act in _GOING and step.task}
    back = [step for step in steps if step.act in _BACK]
    return tuple(
        step for step in steps
        if not said.ask_for(step, steps)
        or (step.act in _GOING and gone & said.below(step.task))
        or (step.act in ("undo", "redo") and step is not back[0])
    )  # fmt: skip


class Words:
    """The user's words of one turn, on the plan as it is.

    Where they may answer a question, its options and the words that it was asked about are theirs, too; the
    question itself, which may be about what they did not say, is not.
    """

    def __init__(self, utterance: str, view: View, local: Local) -> None:
        self._view, self._graph, self._local, self._own = view, view.graph, local, written_out(utterance)
        question, before = view.question, view.exchanges[-1][0] if view.exchanges else ""
        asked = (*question.options, before) if question is not None else ()
        self._heard = (self._own, written_out(before)) if question is not None and before else (self._own,)
        self._mine = _words(self._own)
        self._said = self._mine | _words(" ".join((view.earlier, *asked)))

    def below(self, task: str | None) -> set[str]:
        """Ids of what is part of a task."""
        return {node.id for node in self._graph.subtree(task)[1:]} if task and task in self._graph else set()

    def ask_for(self, step: Step, steps: Sequence[Step]) -> bool:
        """Whether the words ask for a step, with what it brings in. steps: all of the turn's."""
        if step.act in ("ask", "chat", "unsure", "no"):
            return True
        told = step.act in ("yes", "shift", "back") and step.value and _words(step.value) <= self._said
        told = told or (step.act == "reopen" and wanted_again(self._own, self._view) is not None)
        told = told or (step.act in ("remove", "hold") and self._is_out(step))
        asking = self._own if told else self._asking(step.act)
        return asking is not None and self._mean(step, asking, steps) and self._give(step)

    def _is_out(self, step: Step) -> bool:
        """Whether the words say of somebody by name that they are not in it any more."""
        node = self._graph.get(step.task or "")
        named = re.search(rf"\b{re.escape(node.title)}\b", self._own, re.IGNORECASE) if node else None
        return named is not None and IS_OUT.match(self._own[named.end() :].lstrip()) is not None

    # ---- what is meant -----------------------------------------------------------------------------

    @cached_property
    def _acts(self) -> Mapping[str, str]:
        """What the words may ask for, each with the words that do; of another language's, anything."""
        if foreign(self._own):
            return dict.fromkeys((act for asked in ASKED_BY.values() for act in asked), self._own)
        found: dict[str, str] = {}
        for text in self._heard:
            for act, told in self._local.acts(text, self._view).items():
                found[act] = f"{found.get(act, '')} {told}"
        return found

    def _asking(self, act: Act) -> str | None:
        """The words that ask for an act; None where none do."""
        if act not in ASKED_BY:
            return self._own
        return " ".join(self._acts[one] for one in ASKED_BY[act] if one in self._acts) or None

    def _mean(self, step: Step, asking: str, steps: Sequence[Step]) -> bool:
        """Whether the words mean the task that a step is about; asking: those that ask for its act."""
        node = self._graph.get(step.task or "")
        if step.act in _LINKS:
            made = self._mine | _words(" ".join(one.title or "" for one in steps))
            ends = (step.target, *(one.value for one in step.items))
            return any(_names(one, made) for one in ends) or bool(ALL.search(self._own))
        if step.act == "only":
            named = [_names(one.value, self._mine) for one in step.items]
            return all(named) or (any(named) and bool(ALL.search(self._own)))
        if step.act not in (*_GOING, "back", "resume", "reopen"):
            return True
        if node is None:
            return not step.target or _names(step.target, self._mine)
        if _named(node, self._graph, _words(asking)):
            return True
        if step.act in _GOING:
            return self._pointed(node, step, asking, steps)
        return node.id in self._view.focus[:_NEAR] or _named(node, self._graph, self._mine)

    def _pointed(self, node: TaskNode, step: Step, asking: str, steps: Sequence[Step]) -> bool:
        """Whether words that do not name a task mean all that there are, or point to one spoken of before."""
        if step.act != "done" and not {"remove", "hold", "only"} & self._acts.keys():
            return False  # what is replaced goes by its name
        said = _words(asking)
        named = {one.id for one in self._graph.active if one.id != node.id and _named(one, self._graph, said)}
        if ALL.search(asking) and (not named or ALL_BUT.search(asking)):
            return True
        beside = any(one.act == step.act and one.task in named for one in steps)
        return not beside and node.id in self._view.focus and bool(SPOKEN_OF.search(asking))

    # ---- what is brought in ------------------------------------------------------------------------

    def _give(self, step: Step) -> bool:
        """Whether all that a step brings in stands in the words, or follows from them."""
        if step.title and not self._title(step.title):
            return False
        if step.act == "assign" and fold(step.value or "") in SPEAKER:
            return bool(ME.search(self._own))
        if step.act == "replace" and not (step.task or self._point_or_name(step.old or "")):
            return False
        if step.act == "shift":
            numbers = _NUMBER.findall(step.value or "")
            return all(
                float(one.replace(":", ".")) in OF_A_WORD or self._stands(one, None) for one in numbers
            )
        if step.act in _LINKS:
            return all(one.task is not None or self._title(one.value) for one in step.items)
        node = self._graph.get(step.task or "")
        return all(self._stands(value, node) for value in _values(step))

    def _point_or_name(self, told: str) -> bool:
        return _names(told, self._mine) or bool(SPOKEN_OF.search(self._own))

    def _title(self, title: str) -> bool:
        """Whether a name for something new is made of the words, half of it at least."""
        found = [_has(word, self._said) for word in _words(title)]
        return 2 * sum(found) >= len(found)

    def _stands(self, value: str, node: TaskNode | None) -> bool:
        """Whether a value stands in the words, or follows from them and what it takes the place of."""
        former = self._former(node)
        found = _words(value)
        said = {word for word in found if _has(word, self._said)}
        left = found - said - former
        worked = {word for word in left if self._works_out(word, former)}
        unsaid = len(left) - len(worked)
        if not found or unsaid < len(said) or (worked and not unsaid):
            return True
        return fold(value) in YES_OR_NO or self._is_anothers(value)

    def _former(self, node: TaskNode | None) -> frozenset[str]:
        """The words of what a value takes the place of, and of what that is called."""
        if node is None:
            return frozenset()
        parts = (part.value or "" for part in self._graph.parts(node.id, gone=True))
        return _words(" ".join((node.title, node.value or "", *parts)))

    def _is_anothers(self, value: str) -> bool:
        """Whether a value is, whole, that of another task, and the words say it is the same, or name it."""
        sought = fold(value.strip())
        held = any(
            sought in (fold(state.value or ""), fold(state.title))
            for node in self._graph.values() for state in node.states()
        )  # fmt: skip
        return held and bool(THE_SAME.search(self._own) or _names(value, self._mine))

    def _works_out(self, word: str, former: frozenset[str]) -> bool:
        """Whether a number, or each of a time's, is what one said makes of another one or of one before.

        Of a date that moves, the weekday and the month move too.
        """
        if any(word in kind and former & kind for kind in (_DAYS, _MONTHS)):
            return "shift" in self._acts
        said = {number for one in self._said for number in _numbers(one)} | {1, 2, 0.5, 30}
        base = {number for one in former for number in _numbers(one)} | said
        sought = _numbers(word)
        return bool(sought) and all(
            any(abs(one - other) in (by, 12 - by) or abs(one - other * by) < 0.01
                for other in base for by in said)
            for one in sought
        )  # fmt: skip


def _values(step: Step) -> Iterator[str]:
    """The values that a step brings in; what it names by number is there already."""
    if step.value:
        yield step.value
    yield from (one.value for one in (*step.items, *step.details) if one.task is None)
    for part in step.parts:
        yield from (*part.members, *(one.value for one in part.details))


def _named(node: TaskNode, graph: TaskGraph, said: frozenset[str]) -> bool:
    """Whether words name a task, or a slot of it by its value: who does it, where it is."""
    slots = (part.value for part in graph.parts(node.id, gone=True) if part.value is not None)
    return any(_names(one, said) for one in (f"{node.title} {node.value or ''}", *slots))


def _names(told: str, said: frozenset[str]) -> bool:
    return any(_has(word, said) for word in _words(told))


def _has(word: str, said: frozenset[str]) -> bool:
    """Whether a word was said: itself, shorter, longer, or misspelt."""
    if word in said:
        return True
    if not word.isalpha() or len(word) < 3:
        return False
    return any(_alike(word, one) for one in said) or (
        len(word) > 4 and bool(get_close_matches(word, said, 1, 0.8))
    )


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < 3 or not short.isalpha():
        return False
    return long.startswith(short) or (len(short) > 4 and long[:4] == short[:4])


def _words(text: str) -> frozenset[str]:
    """The words of a text that carry its content, numbers as digits."""
    text = re.sub(r"[a-z]+", lambda found: str(IN_FIGURES.get(found[0], found[0])), fold(written_out(text)))
    return frozenset(word for word in words(text) if word not in STOP and word not in SPEAKER)


def _numbers(word: str) -> list[float]:
    """The numbers in a word: of a time the hours and the minutes."""
    return [float(part) for part in re.findall(r"\d+(?:\.\d+)?", word)] if word[:1].isdigit() else []
