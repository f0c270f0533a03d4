"""A proposal that a message takes up by going on with it, without a yes.

'Did you mean: add the garden order?' - 'The garden order has two parts.'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from taskloom.agent.grounding.resolving.scoring import content
from taskloom.agent.language.wording import DID_YOU_MEAN
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Inactivate, Remove, apply
from taskloom.memory.tasks import TaskNode


def taken_up(utterance: str, view: View) -> View | None:
    """The view as it is once the open proposal is accepted, where a message names what only that would make.

    In an empty plan whatever goes on does: there is nothing else that it could be about. None where nothing
    is proposed, where it cannot be done, where it is said again in other words, and where nothing of it is
    named: who goes on with something else has not said what they think of it. Nothing is taken out without a
    yes of its own.
    """
    question = view.question
    if question is None or not question.choices or not question.question.startswith(DID_YOU_MEAN):
        return None
    if any(isinstance(choice, Remove | Inactivate) for choice in question.choices):
        return None
    graph, before = view.graph, max(view.turn - 1, 0)  # of the message before: this one may change it
    for choice in question.choices:
        outcome = apply(graph, choice, turn=before, said=utterance)
        if outcome.refused is not None:
            return None
        graph = outcome.graph
    changed = [key for key, node in graph.items() if node is not view.graph.get(key) and node.active]
    fresh = _words(graph[key] for key in changed) - _words(view.graph.active)
    said, last = set(content(utterance)), set(content(view.exchanges[-1][0] if view.exchanges else ""))
    if 2 * len(said & last) > len(said) or (view.graph.active and not fresh & said):
        return None
    return replace(view, graph=graph, question=None, focus=(*reversed(changed), *view.focus))


def _words(nodes: Iterable[TaskNode]) -> set[str]:
    return {word for node in nodes for word in content(f"{node.title} {node.value or ''}")}
