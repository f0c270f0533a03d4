"""Verdicts on what a question supposes: it is so, was so, never was, or is not known. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .operations import Question
from .past import NOW, Past, Span, gist, state_text
from .retrieve import matching
from .splitting import split_into
from .tasks import Revision, TaskGraph, TaskNode
from .words import number_in, says, words


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


def verdict_on(graph: TaskGraph, question: Question) -> Verdict:
    """What the history says of what a question supposes."""
    named = tuple(key for key in question.tasks if key in graph)
    if (question.tasks and not named) or (question.container and question.container not in graph):
        return Verdict(kind="unknown", claimed=question.value or question.about)
    targets = named or tasks_named(graph, question)
    if not question.value and not targets:
        return Verdict(kind="unknown", claimed=question.about)
    claimed = question.value or state_text(graph[targets[0]])
    past = Past(graph)
    spans = _spans(past, question, targets)
    if not spans and question.value and (counted := _count_verdict(past, question.value, targets)):
        return counted
    if question.kind == "ever" and question.act:
        found = _act_verdict(question, claimed, spans, targets, graph)
    else:
        found = _span_verdict(past, question, claimed, spans)
    if found is not None:
        return found
    if not (spans or targets or question.container) and question.kind != "ever" and other_words(question):
        return Verdict(kind="unknown", claimed=claimed)
    return _never(past, question, claimed, spans, targets)


def other_words(question: Question) -> str:
    """The words for what a question is about that are not those of the value it supposes."""
    value = set(words(question.value or ""))
    return " ".join(word for word in question.about.split() if not value.issuperset(words(word)))


def tasks_named(graph: TaskGraph, question: Question) -> tuple[str, ...]:
    """The tasks that a question names in words only."""
    return matching(graph, other_words(question), gone=True, limit=3)


def _spans(past: Past, question: Question, targets: tuple[str, ...]) -> list[Span]:
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


def _span_verdict(past: Past, question: Question, claimed: str, spans: list[Span]) -> Verdict | None:
    """It holds, or held last; None if it never did."""
    if not spans:
        return None
    span = next((span for span in spans if span.until is None), None)
    if span is None:
        span = max(spans, key=lambda span: (span.until or 0, span.since))
    node, container, change = span.node, question.container, span.ended or span.began
    here = node.active and (container is None or past.inside(node.id, node, container, NOW))
    return Verdict(
        kind="was" if span.ended else "holds",
        claimed=claimed,
        task=node.id,
        now=state_text(node) if here else None,
        since=span.since,
        until=span.until,
        replaced_by=span.after,
        op=change.op,
        said=change.said,
    )


def _never(
    past: Past, question: Question, claimed: str, spans: list[Span], targets: tuple[str, ...]
) -> Verdict:
    """It never was; with what holds instead, what happened to the entity, or where it was only mentioned."""
    graph = past.graph
    if found := _span_verdict(past, question, claimed, spans):
        return found.model_copy(update={"kind": "never"})
    node = next((graph[key] for key in targets if graph[key].active), None)
    leaf = node is not None and (node.value is not None or not graph.parts(node.id))
    verdict = Verdict(
        kind="never",
        claimed=claimed,
        task=node.id if node else question.container,
        now=state_text(node) if node and leaf else None,
    )
    if question.kind != "ever" or question.act:
        return verdict
    spoken = {(state.turn, state.said) for task in graph.values() for state in task.states()}
    mention = min(((turn, said) for turn, said in spoken if says(claimed, said)), default=None)
    if mention is None:
        return verdict
    return verdict.model_copy(update={"since": mention[0], "said": mention[1]})


_ACT_OPS = {
    "add": {"add", "link"},
    "remove": {"remove", "inactivate", "unlink"},
    "update": {"update", "rollback", "replace"},
    "replace": {"replace", "update"},
    "complete": {"complete"},
}


def _act_verdict(
    question: Question, claimed: str, spans: list[Span], targets: tuple[str, ...], graph: TaskGraph
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
        now=state_text(node) if node.active else None,
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
        if (
            new.op not in ops
            or not about
            or (question.act == "replace" and state_text(old) == state_text(new))
        ):
            continue
        later = (state for state in states[number + 1 :] if gist(state) != gist(new))
        yield new.turn, new, next((state.turn for state in later), None)


def _count_verdict(past: Past, value: str, targets: tuple[str, ...]) -> Verdict | None:
    """A verdict on 'two sessions', where a task was split; None where no number is supposed or none was."""
    number = number_in(value)
    whole = next((key for key in targets if split_into(past.graph, key)), None)
    if number is None or whole is None:
        return None
    parts = split_into(past.graph, whole)
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
