"""Verdicts on claims and answers to questions, from the history of the tasks. Pure.

What a state says is its value, and its title: 'celery' is said by a task of that value, and by the task
'chop celery'. Times are turns: a state holds from its turn until that of the next state.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from . import dag
from .operations import Question, QuestionKind, is_part
from .retrieve import matching
from .tasks import Revision, TaskGraph, TaskNode
from .words import STOP, number_in, says, words

_NOW = sys.maxsize


class Verdict(BaseModel):
    """What the history says of a claim.

    holds: it is so now. was: it was so, from turn `since` to turn `until`. never: no state says so.
    unknown: there is no such slot or task.

    Where an act is asked about ("did I ever say to remove it?"), holds and was both mean that it was asked
    for, in turn `since` in the words `said`, and still stands or not; never means that it was not, and the
    other fields tell what became of the entity instead.
    """

    model_config = ConfigDict(frozen=True)
    kind: Literal["holds", "was", "never", "unknown"]
    claimed: str = ""
    task: str | None = Field(default=None, description="Id of the task that the claim is about.")
    now: str | None = Field(default=None, description="What is so instead, or now.")
    since: int | None = None
    until: int | None = None
    replaced_by: str | None = None
    op: str | None = Field(
        default=None, description="Kind of the operation that ended it, or brought it about."
    )
    said: str = Field(default="", description="The words that ended it, or began it.")


class Event(BaseModel):
    """One change in the life of a task. before, after: what it said; None while out of the plan."""

    model_config = ConfigDict(frozen=True)
    task: str
    turn: int
    op: str
    said: str = ""
    before: str | None = None
    after: str | None = None


class Answer(BaseModel):
    """A question with what answers it: tasks to tell of, in order, and a verdict on what it supposes."""

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


def told(state: Revision) -> str:
    """What a state says, in short: its value, else its title."""
    return state.value or state.title


def events(node: TaskNode) -> tuple[Event, ...]:
    """The life of a task, oldest first."""
    states: tuple[Revision | None, ...] = (None, *node.states())
    return tuple(_event(node.id, old, new) for old, new in zip(states, node.states(), strict=False))


def members(graph: TaskGraph, key: str) -> tuple[TaskNode, ...]:
    """The active tasks that a container lists: its list members (all parts, where none is) and shared ones.

    List members are parts whose slot name ends in a number, repeats, is that of a numbered sibling (also one
    that is gone: 'item' beside 'item2'), or is a word for a member. Shared ones are prerequisites; one that
    says the same as a part is left out.
    """
    parts = graph.parts(key)
    names = Counter(part.name for part in parts)
    numbered = {_base(part) for part in graph.parts(key, gone=True) if _base(part) != part.name}
    listed = [part for part in parts if names[part.name] > 1 or _base(part) in numbered | _MEMBER_NAMES]
    shared = [graph[other] for other in graph[key].depends_on if graph[other].active]
    own = listed or list(parts)
    said = {(part.title.casefold(), part.value) for part in own}
    return (*own, *(node for node in shared if (node.title.casefold(), node.value) not in said))


_MEMBER_NAMES = frozenset(
    {"item", "participant", "ingredient", "step", "guest", "member", "person", "attendee"}
)


_PEOPLE = frozenset(
    {"participant", "guest", "member", "person", "attendee", "speaker", "player", "passenger"}
)
"""Names of members that are there, and not to be done."""

_OF_DEEDS = frozenset({"assignee", "deadline", "due"})
"""Names of slots that only something to be done has, whatever else is known of it."""

_WHEN = re.compile(r"(?:^|_)(?:date|day|time|when|start|end|from|until|hours?)s?(?:_|$)")
"""Names of slots that say when: what has one takes place, what has none is to be done."""


def _base(node: TaskNode) -> str:
    return re.sub(r"\d+$", "", node.name)


def _event(task: str, old: Revision | None, new: Revision) -> Event:
    before = told(old) if old is not None and old.active else None
    after = told(new) if new.active else None
    return Event(task=task, turn=new.turn, op=new.op, said=new.said, before=before, after=after)


# ---- when something was so ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Span:
    """A time in which a task said what is claimed; `ended` None: it does now."""

    node: TaskNode
    since: int
    began: Revision
    until: int | None = None
    ended: Revision | None = None
    after: str | None = None


def _needed(node: TaskNode) -> set[str]:
    return {needed for state in node.states() for needed in state.depends_on}


def _parents(node: TaskNode) -> set[str]:
    return {state.parent for state in node.states() if state.parent is not None}


class _Past:
    """The graph with its history, as of any turn."""

    def __init__(self, graph: TaskGraph) -> None:
        self.graph = graph

    def users(self, key: str) -> set[str]:
        """The ids of all tasks that ever rested on a task."""
        found = self.graph.index(_needed).get(key, ())
        return {other for other in found if key in _needed(self.graph[other])}

    def parts(self, key: str) -> set[str]:
        """The ids of all tasks that ever were a part of a task."""
        found = self.graph.index(_parents).get(key, ())
        return {other for other in found if key in _parents(self.graph[other])}

    def below(self, key: str) -> list[str]:
        """All that ever was a part of a task or used in it, directly or through others, in order."""

        def down(high: str) -> list[str]:
            needs = [other for state in self.graph[high].states() for other in state.depends_on]
            return [*needs, *self.parts(high)]

        found = set(dag.reach([key], down)) - {key}
        return [other for other in self.graph if other in found]

    def state(self, key: str, turn: int) -> Revision | None:
        """A task as it was at the end of a turn."""
        return next((state for state in reversed(self.graph[key].states()) if state.turn <= turn), None)

    def above(self, key: str) -> list[str]:
        """A task and all it ever was a part of or was used in, directly or through others."""

        def up(low: str) -> list[str]:
            parents = (state.parent for state in self.graph[low].states())
            return [*(parent for parent in parents if parent), *sorted(self.users(low))]

        return dag.reach([key], up)

    def inside(self, key: str, state: Revision, container: str, turn: int) -> bool:
        """Whether a task in a state was in a container then: below it, or used by it or below it."""
        stack = [(key, state, False)]
        while stack:
            low, now, shared = stack.pop()
            ups = [(now.parent, shared)] if now.parent else []
            if not shared:
                ups += [(user, True) for user in self.users(low)]
            for high, used in ups:
                above = self.state(high, turn)
                if above is None or not above.active or (high != now.parent and low not in above.depends_on):
                    continue
                if high == container:
                    return True
                stack.append((high, above, used))
        return False

    def spans(self, node: TaskNode, value: str | None, container: str | None) -> Iterator[_Span]:
        """The times in which a task was in plan, said the value and was in the container, in order."""
        states = node.states()
        saying = [value is None or says(value, state.value) or says(value, state.title) for state in states]
        if not any(saying):
            return
        above = self.above(node.id) if container else []
        turns = sorted({state.turn for key in above for state in self.graph[key].states()})
        open_span: _Span | None = None
        true_at = 0
        for number, state in enumerate(states):
            end = states[number + 1].turn if number + 1 < len(states) else None
            so = state.active and saying[number]
            for turn in (state.turn, *(t for t in turns if t > state.turn and (end is None or t < end))):
                holds = so and (container is None or self.inside(node.id, state, container, turn))
                if holds and open_span is None:
                    open_span = _Span(node, turn, self._change(state, turn, above))
                elif not holds and open_span is not None:
                    ended = self._change(state, turn, above)
                    after = _after(states[true_at], state, value)
                    yield _Span(node, open_span.since, open_span.began, turn, ended, after)
                    open_span = None
                true_at = number if holds else true_at
        if open_span is not None:
            yield open_span

    def _change(self, state: Revision, turn: int, above: Iterable[str]) -> Revision:
        """The state whose coming made a difference in a turn: the task's own, else one of those above it."""
        if state.turn == turn:
            return state
        higher = (self.state(key, turn) for key in above)
        return next(other for other in higher if other is not None and other.turn == turn)


def _after(old: Revision, new: Revision, claimed: str | None) -> str | None:
    """What a state says in place of the one before; of claimed words, only what they were exchanged for."""
    if claimed is None or not new.active:
        return None
    before, after = (old.value, new.value) if says(claimed, old.value) else (old.title, new.title)
    if not before or not after or before == after:
        return None
    gone, come = before.split(), after.split()
    while len(gone) > 1 and len(come) > 1 and gone[0].casefold() == come[0].casefold():
        gone, come = gone[1:], come[1:]
    while len(gone) > 1 and len(come) > 1 and gone[-1].casefold() == come[-1].casefold():
        gone, come = gone[:-1], come[:-1]
    return " ".join(come) if says(claimed, " ".join(gone)) else after


# ---- verdicts ----------------------------------------------------------------------------------------

_ACT_OPS = {
    "add": {"add", "link"},
    "remove": {"remove", "inactivate", "unlink"},
    "update": {"update", "rollback", "replace"},
    "replace": {"replace", "update"},
    "complete": {"complete"},
}


def _verdict(graph: TaskGraph, question: Question) -> Verdict:
    """What the history says of what a question supposes."""
    named = tuple(key for key in question.tasks if key in graph)
    if (question.tasks and not named) or (question.container and question.container not in graph):
        return Verdict(kind="unknown", claimed=question.value or question.about)
    targets = named or _about(graph, question)
    if not question.value and not targets:
        return Verdict(kind="unknown", claimed=question.about)
    claimed = question.value or told(graph[targets[0]])
    past = _Past(graph)
    spans = _spans(past, question, targets)
    if not spans and question.value and (counted := _count_verdict(past, question.value, targets)):
        return counted
    if question.kind == "ever" and question.act:
        found = _act_verdict(question, claimed, spans, targets, graph)
    else:
        found = _span_verdict(past, question, claimed, spans)
    if found is not None:
        return found
    if not (spans or targets or question.container) and question.kind != "ever" and _other_words(question):
        return Verdict(kind="unknown", claimed=claimed)
    return _never(past, question, claimed, spans, targets)


def _other_words(question: Question) -> str:
    """The words for what a question is about that are not those of the value it supposes."""
    value = set(words(question.value or ""))
    return " ".join(word for word in question.about.split() if not value.issuperset(words(word)))


def _about(graph: TaskGraph, question: Question) -> tuple[str, ...]:
    """The tasks that a question names in words only."""
    return matching(graph, _other_words(question), gone=True, limit=3)


def _spans(past: _Past, question: Question, targets: tuple[str, ...]) -> list[_Span]:
    """When what a question supposes was so, in the order of the tasks.

    Looked for in the container; else in the tasks themselves, and then in what they hold; else everywhere.
    """
    graph, value = past.graph, question.value
    if question.container:
        keys = targets if value is None else past.below(question.container)
        return [span for key in keys for span in past.spans(graph[key], value, question.container)]
    spans = [span for key in targets or graph for span in past.spans(graph[key], value, None)]
    if spans or value is None:
        return spans
    inside = ((whole, key) for whole in targets for key in past.below(whole))
    return [span for whole, key in inside for span in past.spans(graph[key], value, whole)]


def _span_verdict(past: _Past, question: Question, claimed: str, spans: list[_Span]) -> Verdict | None:
    """It is so, or was so last; None where it never was."""
    if not spans:
        return None
    span = next((span for span in spans if span.until is None), None)
    if span is None:
        span = max(spans, key=lambda span: (span.until or 0, span.since))
    node, container, change = span.node, question.container, span.ended or span.began
    here = node.active and (container is None or past.inside(node.id, node, container, _NOW))
    return Verdict(
        kind="was" if span.ended else "holds",
        claimed=claimed,
        task=node.id,
        now=told(node) if here else None,
        since=span.since,
        until=span.until,
        replaced_by=span.after,
        op=change.op,
        said=change.said,
    )


def _never(
    past: _Past, question: Question, claimed: str, spans: list[_Span], targets: tuple[str, ...]
) -> Verdict:
    """It never was; what is so instead, or what became of the entity, or where it was merely mentioned."""
    graph = past.graph
    if found := _span_verdict(past, question, claimed, spans):
        return found.model_copy(update={"kind": "never"})
    node = next((graph[key] for key in targets if graph[key].active), None)
    leaf = node is not None and (node.value is not None or not graph.parts(node.id))
    verdict = Verdict(
        kind="never",
        claimed=claimed,
        task=node.id if node else question.container,
        now=told(node) if node and leaf else None,
    )
    if question.kind != "ever" or question.act:
        return verdict
    spoken = {(state.turn, state.said) for task in graph.values() for state in task.states()}
    mention = min(((turn, said) for turn, said in spoken if says(claimed, said)), default=None)
    if mention is None:
        return verdict
    return verdict.model_copy(update={"since": mention[0], "said": mention[1]})


def _act_verdict(
    question: Question, claimed: str, spans: list[_Span], targets: tuple[str, ...], graph: TaskGraph
) -> Verdict | None:
    """The last time that an act was asked for, and whether it still stands; None where it never was."""
    ops = _ACT_OPS[question.act or "update"]
    acts: list[tuple[int, Revision, TaskNode, int | None]] = []  # turn, change, task, turn that overtook it
    if question.act == "add":
        acts = [(span.since, span.began, span.node, span.until) for span in spans if span.began.op in ops]
    elif question.act == "remove":
        for span in spans:
            if span.ended is not None and span.until is not None and span.ended.op in ops:
                back = [other.since for other in spans if other.since >= span.until]
                acts.append((span.until, span.ended, span.node, min(back, default=None)))
    else:
        nodes = {span.node.id: span.node for span in spans} or {key: graph[key] for key in targets}
        for node in nodes.values():
            acts += [(turn, change, node, until) for turn, change, until in _changes(node, question, ops)]
    if not acts:
        return None
    turn, change, node, until = max(acts, key=lambda act: act[0])
    return Verdict(
        kind="holds" if until is None else "was",
        claimed=claimed,
        task=node.id,
        now=told(node) if node.active else None,
        since=turn,
        until=until,
        op=change.op,
        said=change.said,
    )


def _changes(node: TaskNode, question: Question, ops: set[str]) -> Iterator[tuple[int, Revision, int | None]]:
    """The changes of a task by some operations that concern the value: turn, state, turn that overtook it."""
    states = node.states()
    for number, (old, new) in enumerate(pairwise(states), start=1):
        texts = (old.value, old.title, new.value, new.title)
        about = question.value is None or any(says(question.value, text) for text in texts)
        if new.op not in ops or not about or (question.act == "replace" and told(old) == told(new)):
            continue
        later = (state for state in states[number + 1 :] if _content(state) != _content(new))
        yield new.turn, new, next((state.turn for state in later), None)


def _content(state: Revision) -> tuple[str | None, str, str]:
    return state.value, state.title, state.status


def _count_verdict(past: _Past, value: str, targets: tuple[str, ...]) -> Verdict | None:
    """A verdict on 'two sessions', where a task was split; None where no number is supposed or none was."""
    number = number_in(value)
    whole = next((key for key in targets if _split_parts(past.graph, key)), None)
    if number is None or whole is None:
        return None
    parts = _split_parts(past.graph, whole)
    changes = sorted((state for part in parts for state in part.states()), key=lambda state: state.turn)
    counts = [(past.graph[whole].states()[0].turn, 1, past.graph[whole].states()[0])]
    for change in changes:
        there = [past.state(part.id, change.turn) for part in parts]
        count = sum(state is not None and state.active for state in there)
        if max(count, 1) != counts[-1][1]:
            counts.append((change.turn, max(count, 1), change))
    now = str(counts[-1][1])
    said = [n for n, (_, count, _) in enumerate(counts) if count == number]
    if not said:
        return Verdict(kind="never", claimed=value, task=whole, now=now)
    begun, ended = counts[said[-1]], counts[said[-1] + 1] if said[-1] + 1 < len(counts) else None
    change = (ended or begun)[2]
    return Verdict(
        kind="was" if ended else "holds",
        claimed=value,
        task=whole,
        now=now,
        since=begun[0],
        until=ended[0] if ended else None,
        op=change.op,
        said=change.said,
    )


def _split_parts(graph: TaskGraph, key: str) -> list[TaskNode]:
    return [part for part in graph.parts(key, gone=True) if is_part(part)]


# ---- the kinds of question ---------------------------------------------------------------------------


def _claim(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    verdict = _verdict(graph, question)
    told_of = (verdict.task, *targets) if verdict.task else targets
    return Answer(question=question, tasks=tuple(dict.fromkeys(told_of)), verdict=verdict)


def _supposed(graph: TaskGraph, question: Question) -> Verdict | None:
    """The verdict on a value that a question names beside what it asks for."""
    return _verdict(graph, question) if question.value else None


def _keys(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> tuple[str, ...]:
    """The tasks a question is about: those it has the ids of, else those that its words match."""
    return targets if question.tasks or targets else _about(graph, question)


_STATES: dict[str, frozenset[str]] = {
    "open": frozenset({"open"}),
    "done": frozenset({"done"}),
    "inactive": frozenset({"inactive"}),
    "removed": frozenset({"removed"}),
    "active": frozenset({"open", "proposed", "filled", "done"}),
}
"""The statuses that a state stands for, where a question of status names it."""

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


def _tell(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """value, status, history: of the tasks themselves; status 'done' and the like: of all in that state."""
    if question.kind == "status" and (found := _in_state(graph, question.value or "", targets)):
        return found.model_copy(update={"question": question})
    keys = _keys(graph, question, targets)
    if not keys and question.kind == "status" and not question.tasks and not _other_words(question):
        keys = tuple(node.id for node in graph.parts(None))
    if question.kind == "status" and (question.value or "").startswith("is "):
        if (question.value or "").removeprefix("is ") in _FRESHNESS:  # of a whole, its parts are meant
            stale = (one.id for key in keys for one in graph.subtree(key) if _in(one, "stale"))
            keys = tuple(dict.fromkeys(stale)) or keys
        return Answer(question=question, tasks=keys, verdict=_state_verdict(graph, question, keys))
    verdict = _supposed(graph, question)
    if verdict is None and not any(graph[key].active for key in keys):
        verdict = _verdict(graph, question.model_copy(update={"tasks": keys or question.tasks}))
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
    if question.kind == "count" and question.value == "parts" and targets:
        parts = tuple(part.id for part in _split_parts(graph, targets[0]) if part.active)
        return Answer(question=question, tasks=parts or targets[:1], count=max(len(parts), 1))
    about = frozenset(words(question.about)) - STOP
    named = [node for node in pool if about and about.issuperset(words(_base(node)) or ("",))]
    if not found and len(targets) > 1:
        found = [graph[key] for key in targets if graph[key].active]
    keys = tuple(dict.fromkeys(node.id for node in named or found))
    if targets and question.value and not question.container:
        question_in = question.model_copy(update={"container": targets[0], "tasks": ()})
        verdict: Verdict | None = _verdict(graph, question_in)
    else:
        verdict = _supposed(graph, question)
    count = len(keys) if question.kind == "count" else None
    return Answer(question=question, tasks=keys, verdict=verdict, count=count)


def _summary(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """The tasks with their parts in order of creation, of a mere value the whole that it is part of.

    With them the whole tasks that wait for one of them, or that one of them waits for.

    Everything where no task is named.
    """
    roots = dict.fromkeys(key if graph.parts(key) else graph.root(key).id for key in targets)
    roots |= dict.fromkeys(other for key in tuple(roots) for other in _tied(graph, key))
    wanted = {node.id for key in roots for node in graph.subtree(key) if node.active}
    keys = tuple(node.id for node in graph.active if node.id in wanted or not (question.tasks or targets))
    return Answer(question=question, tasks=keys, verdict=_supposed(graph, question))


def _tied(graph: TaskGraph, root: str) -> list[str]:
    """The whole tasks that wait for a whole task, or that it waits for."""
    found = (*graph[root].depends_on, *graph.dependents.get(root, ()))
    return [other for other in found if graph[other].active and graph[other].parent is None]


def _open(graph: TaskGraph, roots: Iterable[str]) -> tuple[list[str], set[str]]:
    """What is still to do in some trees, parts first; and the tasks there that are known facts.

    A filled task is a fact, and so is an open one whose parts are people. A part with slots of its own is
    still to be done; a whole task of which all is known, and when, counts as known here, unless it is due or
    somebody's.
    """
    left: dict[str, None] = {}
    known: set[str] = set()

    def settled(node: TaskNode, parts: tuple[TaskNode, ...]) -> bool:
        facts = bool(parts) and all(part.id in known for part in parts)
        return facts and (
            all(_base(part) in _PEOPLE for part in parts)
            or (
                node.parent is None
                and not _tied(graph, node.id)
                and _OF_DEEDS.isdisjoint(map(_base, parts))
                and any(_WHEN.search(_base(part)) for part in parts)
            )
        )

    stack: list[tuple[str, tuple[TaskNode, ...] | None]] = [(key, None) for key in reversed(list(roots))]
    while stack:
        key, parts = stack.pop()
        if parts is None:  # these first
            parts = graph.parts(key)
            stack += [(key, parts), *((part.id, None) for part in reversed(parts))]
            continue
        node = graph[key]
        if (
            node.status == "filled"
            or _base(node) in _PEOPLE
            or (node.status == "open" and settled(node, parts))
        ):
            known.add(key)
        if node.active and (node.stale_since is not None or (node.status == "open" and key not in known)):
            left[key] = None
    return list(left), known


def _left(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """left: what is still to do. next: what of it waits neither for a prerequisite nor a part of its own."""
    scope = [*targets] if question.tasks or targets else [node.id for node in graph.parts(None)]
    scope += [other for key in targets for other in _tied(graph, key) if other not in targets]
    left, _ = _open(graph, scope)
    if not left:  # a whole task of which all is known is not done for that
        left = [key for key in scope if graph[key].status == "open" and graph[key].active]
    if question.kind == "next":
        to_do, known = _open(graph, (node.id for node in graph.parts(None)))
        waiting = set(to_do)
        ready = [
            key
            for key in left
            if all(node.id in known for node in graph.waits_for(key))
            and not any(part.id in waiting for part in graph.parts(key))
        ]
        left = dag.order(ready, lambda key: graph[key].depends_on)
    return Answer(question=question, tasks=tuple(left), verdict=_supposed(graph, question))


def _connected(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """needs, dependents: all that the tasks and their parts rest on, or that rests on them.

    needs of a whole that rests on nothing outside, or of everything: its parts that wait for others.
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
    verdict = _supposed(graph, question) if keys else Verdict(kind="unknown", claimed=question.about)
    return Answer(question=question, tasks=tuple(dag.order(found, needs)), verdict=verdict)


def _before(graph: TaskGraph, question: Question, targets: tuple[str, ...]) -> Answer:
    """The last other text of a task (before the value supposed, where one is), with its turns."""
    keys = _keys(graph, question, targets)
    for key in keys:
        states = graph[key].states()
        last = len(states) - 1
        if question.value:
            said = [n for n, state in enumerate(states) if says(question.value, told(state))]
            last = said[-1] if said else last
        text = told(states[last]) if states[last].active else None
        former = next((n for n in range(last, -1, -1) if states[n].active and told(states[n]) != text), None)
        if former is None:
            continue
        first = former
        while first > 0 and states[first - 1].active and told(states[first - 1]) == told(states[former]):
            first -= 1
        change = states[former + 1]
        verdict = Verdict(
            kind="was",
            claimed=told(states[former]),
            task=key,
            now=told(graph[key]) if graph[key].active else None,
            since=states[first].turn,
            until=change.turn,
            replaced_by=told(change) if change.active else None,
            op=change.op,
            said=change.said,
        )
        event = _event(key, states[former], change)
        return Answer(question=question, tasks=(key,), verdict=verdict, events=(event,))
    if not keys:
        return Answer(question=question, verdict=Verdict(kind="unknown", claimed=question.about))
    node = graph[keys[0]]
    verdict = Verdict(kind="never", claimed=question.value or "", task=node.id, now=told(node))
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
    parts = _split_parts(graph, node.id)
    together = " and ".join(told(part) for part in parts)
    for state in (state for part in parts for state in part.states()):
        if state.op in ("split", "merge"):
            split = state.op == "split"
            before, after = (None, together) if split else (together, told(node))
            found.append(
                Event(task=node.id, turn=state.turn, op=state.op, said=state.said, before=before, after=after)
            )
    found.append(_last_change(node))
    stale = [state for state in node.states() if state.op == "stale"]
    if node.stale_since is not None and stale:
        found.append(_event(node.id, stale[-1], stale[-1]))
    if node.value is None:
        changes = [_last_change(part) for part in graph.parts(node.id)]
        latest = max((event.turn for event in changes), default=0)
        found += [event for event in changes if event.turn == latest]
    return found


def _last_change(node: TaskNode) -> Event:
    """The change that gave a task the value, title and status that it has."""
    states: tuple[Revision | None, ...] = (None, *node.states())
    pairs = zip(states, node.states(), strict=False)
    changes = [(old, new) for old, new in pairs if old is None or _content(old) != _content(new)]
    return _event(node.id, *changes[-1])


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
