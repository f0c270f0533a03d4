"""Experiences of a dialogue: when one is made, how it went, and what its words teach. Pure.

An experience is an utterance with the steps that it was read as. Its outcome comes from what the user does
next; until that is known it waits in the state of its thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from taskloom.agent.language.wording import clip
from taskloom.agent.language.words import content
from taskloom.agent.turn.reading import Interpreter, Reading, View
from taskloom.agent.turn.state import Pending, Turn
from taskloom.agent.turn.steps import Act, Step
from taskloom.memory.operations import Complete, Confirm, Reject
from taskloom.memory.policies import Event, Outcome, outcome
from taskloom.memory.records import Experience, now, record_id
from taskloom.memory.tasks import TaskGraph

OWN_WORDS = 3  # words that make a wording; with fewer it would be anything
PATIENCE = 2  # turns in which a word against what was done can still come
_NOTHING_DONE: frozenset[Act] = frozenset(("chat", "ask", "unsure", "yes", "no", "undo", "redo"))
_FIXED = ("act", "intent", "slot", "text")  # fields of a step as data that hold no words to exchange
_IDS = ("task", "within_task")
_ANY = r"((?:(?![.!?;:]\s).)+?)"  # words of one sentence
_CLAUSE = r"\b(?:not|never|\w+n['’]t|i|we|you|he|she|they|if|whether|because|that|which|but)\b"
_CORRECTION = (
    r"^(?:no\b|nope|wait|oops|sorry|wrong)|\b(?:i (?:meant|mean|said)"
    r"|that(?:['’]?s| is| was) (?:wrong|not (?:right|what))|not what i|misunderst\w+|my mistake|correction"
    r"|you got (?:it|that) wrong)\b"
)


# ---- in the making --------------------------------------------------------------------------------


def experience_of(
    turn: Turn, before: Sequence[Pending], *, thread: str, outline: str, graph: TaskGraph | None = None
) -> Pending | None:
    """The experience of a turn that changed something, asked about a guess, or could not be read; else None.

    graph: the tasks after the turn; what a step names by id only is told by its title in them.

    Where the turn before could not be read and this one says the same, it tells what that one meant: then the
    words of that one are the experience.
    """
    touched = tuple(dict.fromkeys(key for change in turn.changes for key in change.changed))
    steps = tuple(step for step in turn.steps if step.act not in _NOTHING_DONE)
    unread = any(step.act == "unsure" and not step.proposed for step in turn.steps)
    guess = () if touched else _proposed_steps(turn)
    if not (touched and steps) and not (unread and not touched) and not guess:
        return None
    query, by = turn.utterance, str(turn.by)
    last = before[-1] if before else None
    unclear = last is not None and last.unread and last.experience.turn == turn.number - 1
    if last and unclear and _says(last.experience.text, steps):
        query, by = last.experience.text, "user"
    experience = Experience(
        id=record_id(thread, turn.number, "experience"),
        text=query,
        at=now(),
        thread=thread,
        turn=turn.number,
        outline=clip(outline, 600),
        execution=tuple(_portable(step, graph or TaskGraph()) for step in (steps if touched else guess)),
        led_by=turn.examples,
        by=by,
    )
    return Pending(experience=experience, touched=(*touched, *turn.proposals), asked=bool(guess))


def _proposed_steps(turn: Turn) -> tuple[Step, ...]:
    """The steps that the turn's question proposes: a yes would mean that its words were read rightly so."""
    if turn.question is None:
        return ()
    asked = (step for step in turn.steps if turn.question.said and step.text.startswith(turn.question.said))
    return next((step.proposed for step in asked if step.proposed), ())


def _portable(step: Step, graph: TaskGraph) -> dict[str, Any]:
    """A step as data that means the same in another thread: with words for the tasks that it names by id."""
    titles = dict[str, str]()
    node, whole = graph.get(step.task or ""), graph.get(step.within_task or "")
    if node is not None and node.value is not None and node.parent is not None:
        titles = {"within": graph[node.parent].title, "slot": node.title}
    elif node is not None:
        titles = {"target": node.title}
    if whole is not None:
        titles.setdefault("within", whole.title)
    titles = {name: title for name, title in titles.items() if not getattr(step, name)}
    step = step.model_copy(update=titles if not step.target else {})
    return step.model_dump(mode="json", exclude_defaults=True, exclude={"text"})


def _says(utterance: str, steps: Sequence[Step]) -> bool:
    """Whether words may mean some steps: they have all of their values, and name what they are about.

    A slot need not be named: "I cannot pay more than 90 euros" is of the budget.
    """
    values, named = list[str](), frozenset[str]()
    for step in steps:
        values += [step.value] if step.value else []
        values += [detail.value for detail in (*step.items, *step.details)]
        named |= content(f"{step.target} {step.within} {step.title or ''}") - content(step.slot or "")
    if not values and not named:
        return False
    return all(_find(value, utterance) for value in values) and not (
        named and named.isdisjoint(content(utterance))
    )


def _find(words: str, text: str) -> Any:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)


# ---- how it went ----------------------------------------------------------------------------------


def settle(
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
        if pending.asked:
            if _guess_confirmed(pending, turn):
                done.append((pending.experience, Outcome(1, strict=True)))
            continue
        events: list[Event] = list(_events(pending, turn, graph))
        if feedback in ("good", "bad") and pending is waiting[-1]:
            events.append("good" if feedback == "good" else "bad")
        if not events and turn.number - pending.experience.turn >= PATIENCE:
            events.append("uncorrected")
        how = outcome(events)
        if how is None:
            left.append(pending)
        else:
            done.append((pending.experience, how))
    return done, tuple(left)


def _guess_confirmed(pending: Pending, turn: Turn) -> bool:
    """Whether a turn is the yes to the guess that the turn before asked about, and did what that said."""
    next_one = turn.number - pending.experience.turn == 1
    return next_one and any(step.act == "yes" for step in turn.steps) and any(c.changed for c in turn.changes)


def _events(pending: Pending, turn: Turn, graph: TaskGraph) -> Iterator[Event]:
    touched = set(pending.touched)
    own = [change for change in turn.changes if not touched.isdisjoint(change.changed)]
    kept = any(isinstance(change.operation, Confirm) for change in own)
    for change in own:
        kind = change.operation.kind
        if isinstance(change.operation, Reject):
            yield "confirmed" if kept else "rejected"  # "yes, except the budget" is a yes
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


def steps_by_experience(utterance: str, experiences: Iterable[Experience]) -> tuple[Step, ...]:
    """The steps that an utterance means by an experience of the same wording; () where there is none.

    The wording is the experience's utterance without the words that its steps took over: "push the dinner all
    the way to Friday" teaches "push X all the way to Y". What is its own has to be there word for word. What
    the local reader reads by itself teaches nothing, unless the user said that it was right: it may have been
    a guess.
    """
    taught = (one for one in experiences if one.by in ("model", "user") or one.strict)
    return next(filter(None, (_steps_by(utterance, one) for one in taught)), ())


def _steps_by(utterance: str, experience: Experience) -> tuple[Step, ...]:
    said = _plain(experience.text)
    spans = _spans_of(said, {text for step in experience.execution for text in _texts(step)})
    ends = [0, *(end for _, end in spans)]
    own = [said[at:start] for at, (start, _) in zip(ends, [*spans, (len(said), 0)], strict=True)]
    own_text = " ".join(own)
    parted = all(re.search(r"\w", piece) for piece in own[1:-1])  # else nobody knows where one word ends
    if not parted or len(re.findall(r"\w+", own_text)) < OWN_WORDS or not content(own_text):
        return ()
    match = re.fullmatch(_ANY.join(map(_loose, own)), _plain(utterance), re.IGNORECASE)
    if match is None:
        return ()
    former = [said[start:end] for start, end in spans]
    if not all(map(_fits, former, match.groups())):
        return ()
    words = {one.lower(): other for one, other in zip(former, match.groups(), strict=True)}
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)"

    def exchanged(text: str) -> str:
        return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda m: words[m[0].lower()], text, flags=re.IGNORECASE)

    try:
        steps = [_with_words(step, exchanged) for step in experience.execution]
        return tuple(Step.model_validate({**step, "text": utterance}) for step in steps)
    except ValidationError:  # what was done was no reading, but a tool's call
        return ()


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".!? ")


def _loose(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _spans_of(said: str, texts: Iterable[str]) -> list[tuple[int, int]]:
    """Where an utterance has the words that steps took over, in order; the shortest of those that overlap."""
    spans: list[tuple[int, int]] = []
    for text in sorted(texts, key=lambda text: (len(text), text)):
        match = _find(text, said)
        if match and all(match.end() <= start or match.start() >= end for start, end in spans):
            spans.append(match.span())
    return sorted(spans)


def _fits(former: str, other: str) -> bool:
    """Whether words can stand for others: about as many, and no clause of their own."""
    few = len(other.split()) <= 2 * len(former.split()) + 2
    return few and not re.search(_CLAUSE, other, re.IGNORECASE)


def _texts(given: Any) -> Iterator[str]:
    """The words in a step as data that may come from the utterance."""
    if isinstance(given, str):
        yield from filter(None, (given.strip(),))
    elif isinstance(given, dict):
        for name, value in given.items():
            yield from () if name in (*_FIXED, *_IDS) else _texts(value)
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _texts(one)


def _with_words(given: Any, exchanged: Callable[[str], str]) -> Any:
    """A step as data with its words exchanged, and without ids: they are of another thread."""
    if isinstance(given, str):
        return exchanged(given)
    if isinstance(given, dict):
        return {
            name: value if name in _FIXED else _with_words(value, exchanged)
            for name, value in given.items()
            if name not in _IDS
        }
    return [_with_words(one, exchanged) for one in given] if isinstance(given, list | tuple) else given


class ExperiencedInterpreter:
    """An interpreter that reads by what was learned where it is not sure by itself."""

    def __init__(self, inner: Interpreter) -> None:
        self.inner = inner

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; asks for experiences only where the inner interpreter is not sure."""
        reading = self.inner.read(utterance, view)
        if reading.sure or view.question is not None:
            return reading
        found = steps_by_experience(utterance, view.examples())
        return replace(reading, steps=found, sure=True) if found else reading
