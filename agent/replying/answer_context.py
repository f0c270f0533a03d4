"""What every family of answers has at hand: the tasks, how they are called, and what several of them say."""

from __future__ import annotations

from dataclasses import dataclass

from taskloom.agent.language import answers
from taskloom.agent.language.wording import join, quoted, sentence, title_of
from taskloom.memory.claims import Answer
from taskloom.memory.retrieve import matching
from taskloom.memory.tasks import TaskGraph, TaskNode

from .naming import INLINE, Names, bullets


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The tasks that answers speak of, and their names; graph is the one after the turn."""

    graph: TaskGraph
    names: Names

    def nothing(self, answer: Answer) -> list[str]:
        """Nothing found: says so, and what is known."""
        about = answer.question.about or answer.question.value or ""
        near = [self.graph[key] for key in matching(self.graph, about, limit=2)] if about else []
        if near:
            return [answers.NOTHING_ABOUT(about=quoted(about, 60)), *map(self.names.state, near)]
        found = [answers.NOTHING_ABOUT_YET(about=quoted(about, 60)) if about else answers.EMPTY_PLAN()]
        if about and self.names.brief:
            return found
        roots = self.graph.parts(None)
        if roots and about:
            tasks, parts = [self.names.short(root) for root in roots], self.graph.parts(roots[0].id)
            if len(roots) == 1 and parts:
                inside = list(dict.fromkeys(title_of(part) for part in parts))
                found.append(answers.KNOWN_WITH(tasks=tasks, parts=inside))
            else:
                found.append(answers.KNOWN(tasks=tasks))
        elif roots:
            found = [answers.NOTHING_BUT(tasks=[self.names.short(root) for root in roots])]
        return found

    def listing(self, heading: str, nodes: list[TaskNode]) -> list[str]:
        """Tasks in one sentence, or one a line when they are many."""
        tops = self.names.tops(nodes)
        mixed = any(node.status == "done" for node in tops)
        entries = [self.names.entry(node, open_too=mixed) for node in tops]
        if len(entries) <= INLINE:
            text = join(entries) if heading or len(entries) > 1 else entries[0]
            return [answers.UNDER_HEADING(heading=heading, text=text) if heading else sentence(text)]
        opening = sentence(heading).rstrip(".") + ":" if heading else answers.IN_ALL(count=len(entries))
        return [opening, bullets(entries)]

    def asked(self, answer: Answer) -> list[TaskNode]:
        """The tasks of the plan that a question is about."""
        keys = answer.question.tasks or (answer.question.container or "",)
        return [self.graph[key] for key in keys if key in self.graph and self.graph[key].active]

    def waits(self, node: TaskNode) -> str:
        """'The varnish waits for the pump.'."""
        others = [self.names.full(other) for other in self.graph.waits_for(node.id)]
        return answers.WAITS(task=self.names.full(node), others=others)

    def predecessors(self, node: TaskNode) -> list[TaskNode]:
        """What left the plan beside a task in the turn in which the task came."""
        begun = node.states()[0].turn
        beside = self.graph.parts(node.parent, gone=True)
        return [
            other
            for other in beside
            if not other.active and other.turn == begun and other.states()[0].turn < begun
        ]
