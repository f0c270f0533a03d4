"""What hangs together, on tasks named by id: what waits for what, what is shared, who does it."""

from __future__ import annotations

from taskloom.agent.language import clarifications
from taskloom.agent.language.wording import clip
from taskloom.agent.language.words import content
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Link, Remove, Unlink
from taskloom.memory.tasks import TaskNode

from .exact_places import Doubt, Places


class Links(Places):
    """What needs, shares and belongs to whom."""

    def _need(self, step: Step) -> None:
        node = self._thing(step.task, step.target, step)
        for item in step.items:
            self._wait(self.graph[node.id], item, step)
        self.touch(node.id)

    def _wait(self, node: TaskNode, item: Detail, step: Step) -> None:
        needed = self._thing(item.task, item.value, step, beside=node)
        if node.id in {above.id for above in self.graph.ancestors(needed.id)}:
            self.touch(needed.id)  # a whole rests on its parts anyway
        elif needed.id != node.id and needed.id not in self.graph[node.id].depends_on:
            self.do(Link(task=node.id, on=needed.id), step.text)

    def _thing(self, task: str | None, words: str, step: Step, beside: TaskNode | None = None) -> TaskNode:
        """The task of an id or of words; what there is no task of yet is made."""
        if task is not None and task in self.graph:
            return self.graph[task]
        if not words:
            raise Doubt(clarifications.WAITS_FOR_WHAT())
        whole = self.whole_of(step) or (self.graph.get(beside.parent or "") if beside is not None else None)
        same = [
            node
            for node in self.graph.parts(whole.id if whole else None)
            if content(node.title) == content(words)
        ]
        node = same[0] if same else self.named(words)
        return node or self.new_root(words, step.text, parent=whole) or self.target(step)

    def _unneed(self, step: Step) -> None:
        node = self.target(step)
        needed = [self._thing(item.task, item.value, step).id for item in step.items]
        waits = [key for key in node.depends_on if self.graph[key].active]
        for key in needed or waits:
            self.do(Unlink(task=node.id, on=key), step.text)
        if not needed and not waits:
            raise Doubt(clarifications.WAITS_FOR_NOTHING(task=clip(node.title)))

    def _share(self, step: Step) -> None:
        node = self.target(step)
        for item in step.items:
            used = self.graph.get(item.task or "") or self.named(item.value)
            if used is None:
                self.enlist(node, item, step)
            else:
                self.use(self.graph[node.id], used, step)
        self.touch(node.id)

    def _assign(self, step: Step) -> None:
        node = self.target(step)
        if node.value is not None and node.parent and (is_assignee(node) or not self.graph.parts(node.id)):
            node = self.graph[node.parent] if is_assignee(node) or not step.value else node
        held = next((part for part in self.graph.parts(node.id) if is_assignee(part)), None)
        if step.value:
            self.give(node, "assignee", step.value, step.text)
        elif held is not None:
            self.do(Remove(task=held.id), step.text)
        else:
            raise Doubt(clarifications.WHO_DOES(task=self.describe(node)))
        self.touch(node.id)
