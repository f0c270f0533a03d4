"""A proposal that the user goes on from without a yes or a no.

'Did you mean: add the garden order?' - 'The garden order has two parts.' names what only the proposal makes:
it is accepted. A proposal that is likely to be right is presumed to be meant by whoever goes on, as in any
talk (Clark and Schaefer 1989, "Contributing to discourse": to go on with the next thing is to accept): the
next change carries it out, and questions until then are answered as if it were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from taskloom.agent.grounding.resolving.scoring import content
from taskloom.agent.language.wording import DID_YOU_MEAN
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Clarify, Inactivate, Remove, apply
from taskloom.memory.tasks import TaskGraph, TaskNode


def taken_up(utterance: str, view: View) -> View | None:
    """The view as it is once the open proposal is accepted, where a message goes on from it.

    A proposal that is not presumed to be meant is taken up only where a message names what that alone would
    make; in an empty plan whatever goes on does, as there is nothing else that it could be about. None where
    nothing is proposed, where it cannot be done, and where it is said again in other words. Nothing is taken
    out without a yes of its own.
    """
    question = view.question
    if question is None or not question.choices or not question.question.startswith(DID_YOU_MEAN):
        return None
    if any(isinstance(choice, Remove | Inactivate) for choice in question.choices):
        return None
    graph = accepted(view.graph, question, turn=max(view.turn - 1, 0))  # this message may change it
    if graph is None:
        return None
    changed = [key for key, node in graph.items() if node is not view.graph.get(key) and node.active]
    fresh = _words(graph[key] for key in changed) - _words(view.graph.active)
    before = view.exchanges[-1] if view.exchanges else ("", "")
    said, last = set(content(utterance)), set(content(before[0]))
    if 2 * len(said & last) > len(said):
        return None
    if view.graph.active and not question.presumed and not fresh & said:
        return None
    told = question.question.removeprefix(DID_YOU_MEAN).rstrip("?").capitalize() + "."
    return replace(
        view, graph=graph, question=None, focus=(*reversed(changed), *view.focus),
        exchanges=(*view.exchanges[:-1], (before[0], told)),
    )  # fmt: skip


def accepted(graph: TaskGraph, question: Clarify, turn: int) -> TaskGraph | None:
    """A plan with all that a question proposes; None where some of it cannot be done."""
    for choice in question.choices:
        outcome = apply(graph, choice, turn=turn, said=choice.said)
        if outcome.refused is not None:
            return None
        graph = outcome.graph
    return graph


def _words(nodes: Iterable[TaskNode]) -> set[str]:
    return {word for node in nodes for word in content(f"{node.title} {node.value or ''}")}
