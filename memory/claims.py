"""Answers to questions, from the tasks and their history: a function for each kind of question. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from . import dag
from .operations import Question, QuestionKind
from .past import Event, event_of, events, gist, state_text
from .present import bare_name, is_person, linked_roots, members, still_open
from .splitting import split_into
from .tasks import Revision, TaskGraph, TaskNode
from .verdicts import Verdict, other_words, tasks_named, verdict_on
from .words import STOP, number_in, says, words

__all__ = ["Answer", "Event", "Verdict", "answer", "events", "members", "state_text"]


class Answer(BaseModel):
    """A question with its answer: the tasks to report, in order, and a verdict on what it supposes."""

    model_config = ConfigDict(frozen=True)
    question: Question
    tasks: tuple[str, ...] = ()
    verdict: Verdict | None = None
    events: tuple[Event, ...] = Field(default=(), description="For before, why, history: oldest first.")
    count: int | None = Field(default=None, description="For count: how many there are.")


def answer(graph: TaskGraph, question: Question) -> Answer:
    """Answer a question from the graph and its history.

    What comes back in `tasks`, by kind: value, status, history: the tasks asked about. list, count: the
    members of the containers (`members`), those that `about` names by their slot where there are such.
    summary: whole trees, in order of creation. left: what is still to do, parts first. next: those of left
    that wait for nothing. needs, dependents: all of them, in topological order. claim, ever, before, why:
    the task of the verdict, then those asked about.

    Nothing is raised for ids that are not in the graph: the verdict is `unknown` where none is.
    """
    given = question.tasks or ((question.container,) if question.container else ())
    targets = tuple(key for key in dict.fromkeys(given) if key in graph)
    return _ANSWERS[question.kind](graph, question, targets)


def _claim(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    verdict = verdict_on(graph, question)
    told_of = (verdict.task, *targets) if verdict.task else targets
    return Answer(question=question, tasks=tuple(dict.fromkeys(told_of)), verdict=verdict)


def _supposed(graph: TaskGraph, question: Question) -> Verdict | None:
    """The verdict on a value that a question names beside what it asks for."""
    return verdict_on(graph, question) if question.value else None


def _keys(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The tasks a question is about: those it has the ids of, else those that its words match."""
    return targets if question.tasks or targets else tasks_named(graph, question)


_STATES: dict[str, frozenset[str]] = {
    "open": frozenset({"open"}),
    "done": frozenset({"done"}),
    "inactive": frozenset({"inactive"}),
    "removed": frozenset({"removed"}),
    "active": frozenset({"open", "proposed", "filled", "done"}),
}
"""The statuses that a state stands for, where a question of status names it."""

_NUMBERS = frozenset(("number", "quantity", "count", "amount", "people", "size"))
"""Names of slots that say how many somebody is."""

_WITH = re.compile(r"(?:\b(?:with|plus)\s+|\+\s?)(\d{1,2}|[a-z]+)$", re.IGNORECASE)
_TWO = re.compile(r"^\w+ (?:and|\+|&) [\w ]+$|^both\b|^(?:a|the) (?:couple|twins)$", re.IGNORECASE)
"""Titles of people who are several."""

TOTAL, PRODUCT, DIFFERENCE = "total", "product", "difference"
"""What a question of count supposes that asks for the sum of the values of its tasks, for their product (the
second may be a number in its words), for their difference."""

THESE, UNSURE = "these", "unsure"
"""What a question of count supposes whose tasks are those to be counted, and one for a number that is not
known: its tasks are the numbers that are."""

RECKONED = frozenset((TOTAL, PRODUCT, DIFFERENCE, THESE, UNSURE))

DONE, READY, CURRENT, STALE = "is done", "is ready", "is current", "is stale"
"""What a question of status supposes that asks whether a task is over, can begin (it waits for nothing),
rests on what still holds, or on what has changed since."""

_FRESHNESS = ("current", "stale")
"""States that are no status: whether what a task rests on is as it was."""


def _in(node: TaskNode, state: str) -> bool:
    """Whether a task is in a state that a question of status can name."""
    if state in _FRESHNESS:
        return node.active and (node.stale_since is None) == (state == "current")
    return node.status in _STATES[state]


def _in_state(graph: TaskGraph, state: str, targets: tuple[str, ...]) -> Answer | None:
    """What is in a state: of the tasks, or of all; None for an unknown state."""
    if state not in _STATES and state not in _FRESHNESS:
        return None
    pool = [node for key in targets for node in graph.subtree(key, gone=True)] if targets else graph.values()
    found = tuple(node.id for node in pool if _in(node, state))
    return Answer(question=Question(kind="status", tasks=targets, value=state), tasks=found)


def _state_verdict(graph: TaskGraph, question: Question, keys: tuple[str, ...]) -> Verdict | None:
    """Whether the tasks are in the state that is supposed, as 'is done'; None where none is."""
    if question.value == READY and keys:
        return _ready_verdict(graph, keys)
    state = (question.value or "").removeprefix("is ")
    if state == question.value or (state not in _STATES and state not in _FRESHNESS) or not keys:
        return None
    off = [graph[key] for key in keys if not _in(graph[key], state)]
    node = off[0] if off else graph[keys[0]]
    known = node.status == "filled" and state == "open"
    return Verdict(
        kind="never" if off and not known else "holds",
        claimed=state,
        task=node.id,
        now=node.status,
        since=node.turn,
    )


def _ready_verdict(graph: TaskGraph, keys: tuple[str, ...]) -> Verdict:
    """Whether the tasks can begin: those that cannot come first."""
    waiting = [key for key in keys if graph[key].status != "done" and graph.waits_for(key)]
    node = graph[(waiting or keys)[0]]
    kind: Literal["never", "holds"] = "never" if waiting else "holds"
    return Verdict(kind=kind, claimed="ready", task=node.id, now=node.status, since=node.turn)


def _tell(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """value, status, history: of the tasks themselves; status 'done' and the like: of all in that state."""
    if question.kind == "status" and (found := _in_state(graph, question.value or "", targets)):
        return found.model_copy(update={"question": question})
    keys = _keys(graph, question, targets)
    if not keys and question.kind == "status" and not question.tasks and not other_words(question):
        keys = tuple(node.id for node in graph.parts(None))
    if question.kind == "status" and (question.value or "").startswith("is "):
        if question.value in (CURRENT, STALE):  # of a whole, its parts are meant
            stale = (one.id for key in keys for one in graph.subtree(key) if _in(one, "stale"))
            keys = tuple(dict.fromkeys(stale)) or keys
        return Answer(question=question, tasks=keys, verdict=_state_verdict(graph, question, keys))
    verdict = _supposed(graph, question)
    if verdict is None and not any(graph[key].active for key in keys):
        verdict = verdict_on(graph, question.model_copy(update={"tasks": keys or question.tasks}))
    life = [event for key in keys for event in events(graph[key])] if question.kind == "history" else []
    return Answer(question=question, tasks=keys, verdict=verdict, events=tuple(life))


def _list(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """list, count: the members of the tasks, or the roots; those that `about` names by slot, if any are."""
    if question.tasks and not targets:
        return Answer(question=question, verdict=Verdict(kind="unknown", claimed=question.about))
    if targets:
        found = [node for key in targets for node in members(graph, key)]
        inside = [node for key in targets for node in graph.subtree(key)[1:]]
        pool = [*inside, *found]
    else:
        found, pool = list(graph.parts(None)), list(graph.active)
    if question.kind == "count" and question.value in RECKONED:
        given = tuple(key for key in targets if graph[key].active)
        count = sum(_heads(graph, graph[key]) for key in given) if question.value == THESE else None
        return Answer(question=question, tasks=given, count=count)
    if question.kind == "count" and question.value == "parts" and targets:
        parts = tuple(part.id for part in split_into(graph, targets[0]) if part.active)
        return Answer(question=question, tasks=parts or targets[:1], count=max(len(parts), 1))
    about = frozenset(words(question.about)) - STOP
    named = [node for node in pool if about and about.issuperset(words(bare_name(node)) or ("",))]
    if len(targets) > 1 and not any(_lists(graph, key) for key in targets):
        found = [graph[key] for key in targets if graph[key].active]
    keys = tuple(dict.fromkeys(node.id for node in named or found))
    if targets and question.value and not question.container:
        question_in = question.model_copy(update={"container": targets[0], "tasks": ()})
        verdict: Verdict | None = verdict_on(graph, question_in)
    else:
        verdict = _supposed(graph, question)
    count = sum(_heads(graph, graph[key]) for key in keys) if question.kind == "count" else None
    return Answer(question=question, tasks=keys, verdict=verdict, count=count)


def _lists(graph: TaskGraph, key: str) -> bool:
    """Whether a task holds tasks or members, and not only slots."""
    return any(part.value is None or bare_name(part) != part.name for part in graph.parts(key))


def _heads(graph: TaskGraph, node: TaskNode) -> int:
    """How many a task counts as: of people as many as a slot of theirs says, three bridesmaids as three.

    Else as many as the title says: 'Judith and Paul' are two, 'Robert with three' are four.
    """
    if not is_person(bare_name(node)):
        return 1
    if (more := _WITH.search(node.title)) and (beside := number_in(more[1])):
        return 1 + beside
    if _TWO.search(node.title):
        return 2
    counts = [number_in(part.value) for part in graph.parts(node.id) if part.value and part.name in _NUMBERS]
    return counts[0] if len(counts) == 1 and counts[0] else 1


def _summary(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """The tasks with their parts in order of creation, of a mere value the whole that it is part of.

    With them the whole tasks that wait for one of them, or that one of them waits for.

    Everything where no task is named.
    """
    roots = dict.fromkeys(key if graph.parts(key) else graph.root(key).id for key in targets)
    roots |= dict.fromkeys(other for key in tuple(roots) for other in linked_roots(graph, key))
    wanted = {node.id for key in roots for node in graph.subtree(key) if node.active}
    keys = tuple(node.id for node in graph.active if node.id in wanted or not (question.tasks or targets))
    return Answer(question=question, tasks=keys, verdict=_supposed(graph, question))


def _left(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """left: what is still to do. next: what of it waits neither for a prerequisite nor a part of its own.

    next of a single task that is no whole: what can be done once it is, first what waits for it.
    """
    if question.kind == "next" and len(targets) == 1 and (after := _after(graph, targets[0])) is not None:
        return Answer(question=question, tasks=after)
    scope = [*targets] if question.tasks or targets else [node.id for node in graph.parts(None)]
    scope += [other for key in targets for other in linked_roots(graph, key) if other not in targets]
    left, _ = still_open(graph, scope)
    if not left:  # a whole task of which all is known is not done for that
        left = [key for key in scope if graph[key].status == "open" and graph[key].active]
    if question.kind == "next":
        to_do, known = still_open(graph, (node.id for node in graph.parts(None)))
        waiting = set(to_do)
        ready = [
            key
            for key in left
            if all(node.id in known for node in graph.waits_for(key))
            and not any(part.id in waiting for part in graph.parts(key))
        ]
        left = dag.order(ready, lambda key: graph[key].depends_on)
    return Answer(question=question, tasks=tuple(left), verdict=_supposed(graph, question))


def _after(graph: TaskGraph, key: str) -> tuple[str, ...] | None:
    """What can be done once a task is that is part of another; None of a whole."""
    node = graph[key]
    if node.parent is None or not node.active or any(part.value is None for part in graph.parts(key)):
        return None
    left, known = still_open(graph, [node.parent])
    done = {*known, key}
    ready = [
        one
        for one in left
        if one not in (key, node.parent) and all(other.id in done for other in graph.waits_for(one))
    ]
    order = {one: place for place, one in enumerate(graph)}
    ready.sort(key=lambda one: (key not in graph[one].depends_on, order[one] < order[key], order[one]))
    return tuple(ready)


def _connected(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """needs, dependents: all that the tasks and their parts rest on, or that rests on them.

    needs of a whole that rests on nothing outside, or of everything: its parts that wait for others, else
    those that are open.
    """
    everything = question.kind == "needs" and not (targets or question.tasks or question.about)
    keys = tuple(node.id for node in graph.parts(None)) if everything else _keys(graph, question, targets)

    def needs(key: str) -> list[str]:
        return [other for other in graph[key].depends_on if graph[other].active]

    def dependents(key: str) -> list[str]:
        return [other for other in graph.dependents.get(key, ()) if graph[other].active]

    inside = {node.id for key in keys for node in graph.subtree(key)}
    seeds = [key for key in graph if key in inside]
    found = dag.reach(seeds, needs if question.kind == "needs" else dependents)[len(seeds) :]
    if question.kind == "needs" and not found:
        found = [key for key in seeds if graph.waits_for(key)]
    if question.kind == "needs" and not found and targets:  # what a whole still lacks is what is open in it
        found = [key for key in still_open(graph, targets)[0] if key not in targets]
    verdict = _supposed(graph, question) if keys else Verdict(kind="unknown", claimed=question.about)
    return Answer(question=question, tasks=tuple(dag.order(found, needs)), verdict=verdict)


def _before(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """The last other text of a task (before the value supposed, where one is), with its turns."""
    keys = _keys(graph, question, targets)
    for key in keys:
        states = graph[key].states()
        last = len(states) - 1
        if question.value:
            said = [n for n, state in enumerate(states) if says(question.value, state_text(state))]
            last = said[-1] if said else last
        text = state_text(states[last]) if states[last].active else None
        former = next(
            (n for n in range(last, -1, -1) if states[n].active and state_text(states[n]) != text), None
        )
        if former is None:
            continue
        first = former
        while (
            first > 0
            and states[first - 1].active
            and state_text(states[first - 1]) == state_text(states[former])
        ):
            first -= 1
        change = states[former + 1]
        verdict = Verdict(
            kind="was",
            claimed=state_text(states[former]),
            task=key,
            now=state_text(graph[key]) if graph[key].active else None,
            since=states[first].turn,
            until=change.turn,
            replaced_by=state_text(change) if change.active else None,
            op=change.op,
            said=change.said,
        )
        event = event_of(key, states[former], change)
        return Answer(question=question, tasks=(key,), verdict=verdict, events=(event,))
    if not keys:
        return Answer(question=question, verdict=Verdict(kind="unknown", claimed=question.about))
    node = graph[keys[0]]
    verdict = Verdict(kind="never", claimed=question.value or "", task=node.id, now=state_text(node))
    return Answer(question=question, tasks=keys, verdict=verdict)


def _why(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """The changes that brought the present state about; of a task that was split, the split and the merge."""
    verdict = _supposed(graph, question)
    keys = _keys(graph, question, targets)
    if not keys and verdict is not None and verdict.task:
        keys = (verdict.task,)
    if not keys and verdict is None:
        verdict = Verdict(kind="unknown", claimed=question.about)
    found = dict.fromkeys(event for key in keys for event in _causes(graph, graph[key]))
    ordered = tuple(sorted(found, key=lambda event: event.turn))
    return Answer(question=question, tasks=keys, verdict=verdict, events=ordered)


def _causes(graph: TaskGraph, node: TaskNode) -> list[Event]:
    """Split and merge of a task, its last change, what made it stale; for a whole the latest of its parts."""
    found: list[Event] = []
    parts = split_into(graph, node.id)
    together = " and ".join(state_text(part) for part in parts)
    for state in (state for part in parts for state in part.states()):
        if state.op in ("split", "merge"):
            split = state.op == "split"
            before, after = (None, together) if split else (together, state_text(node))
            found.append(
                Event(task=node.id, turn=state.turn, op=state.op, said=state.said, before=before, after=after)
            )
    found.append(_last_change(node))
    stale = [state for state in node.states() if state.op == "stale"]
    if node.stale_since is not None and stale:
        found.append(event_of(node.id, stale[-1], stale[-1]))
    if node.value is None:
        gone = {part.id for part in parts if not part.active}
        held = [part for part in graph.parts(node.id, gone=True) if part.id not in gone]
        changes = [_last_change(part) for part in held]
        latest = max((event.turn for event in changes), default=0)
        found += [event for event in changes if event.turn == latest]
    return found


def _last_change(node: TaskNode) -> Event:
    """The change that gave a task the value, title and status that it has."""
    states: tuple[Revision | None, ...] = (None, *node.states())
    pairs = zip(states, node.states(), strict=False)
    changes = [(old, new) for old, new in pairs if old is None or gist(old) != gist(new)]
    return event_of(node.id, *changes[-1])


_ANSWERS: dict[QuestionKind, Callable[[TaskGraph, Question, tuple[str, ...]], Answer]] = {
    "value": _tell,
    "list": _list,
    "summary": _summary,
    "left": _left,
    "next": _left,
    "needs": _connected,
    "dependents": _connected,
    "claim": _claim,
    "ever": _claim,
    "before": _before,
    "why": _why,
    "history": _tell,
    "count": _list,
    "status": _tell,
}
