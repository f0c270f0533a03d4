"""What all steps stand on: operations collected and tried at once, members and new tasks made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from taskloom.agent.language.wording import base
from taskloom.agent.language.words import content, kind_name, slot_name
from taskloom.agent.plan.roles import is_member
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Clarify, Confirm, Operation, Reject, Restore, Update, apply
from taskloom.memory.tasks import TaskNode


class Ground:
    """Steps on the tasks as they are: what all of them use.

    graph: the plan as the steps so far leave it. focus: ids of the tasks spoken of, the latest first. new:
    ids made in this utterance. operations: what was done.
    """

    def __init__(self, view: View) -> None:
        self.view, self.graph = view, view.graph
        self.focus = [key for key in view.focus if key in view.graph]
        self.new: list[str] = []
        self.operations: list[Operation] = []

    def touch(self, key: str) -> None:
        """Put a task first in the focus."""
        self.focus = [key, *(other for other in self.focus if other != key)][:12]

    def describe(self, node: TaskNode) -> str:
        """A task in words that tell it from others."""
        parts = [part.value for part in self.graph.parts(node.id) if part.value and not is_member(part)]
        people = [part.title for part in self.graph.parts(node.id) if is_member(part)]
        if node.value is not None:
            above = f" of {self.graph[node.parent].title}" if node.parent else ""
            return f"{node.title}{above} ({node.value})"
        told = ", ".join([*people[:3], *parts[:3]])
        return f"{node.title} ({told})" if told else node.title

    def do(self, operation: Operation, said: str) -> TaskNode | None:
        """Note an operation, and go on as if it were carried out."""
        operation = operation.model_copy(update={"said": operation.said or said[:300]})
        outcome = apply(self.graph, operation, turn=self.view.turn, said=said)
        self.operations.append(operation)
        if outcome.refused is None and outcome.changed:
            fresh = [key for key in outcome.changed if key not in self.graph]
            self.graph = outcome.graph
            self.new += fresh
            first = self.graph[outcome.changed[0]]
            self.touch(first.id)
            return first
        return None

    def clarify(
        self, step: Step, question: str, options: Sequence[str] = (), choices: Sequence[Operation] = (),
        *, presumed: bool = False,
    ) -> Clarify:  # fmt: skip
        """Ask instead of guessing; each choice is what an option stands for. presumed: see `Clarify`."""
        asked = Clarify(
            said=step.text[:300], question=question, options=tuple(options), choices=tuple(choices),
            presumed=(self.view.turn,) if presumed else (),
        )  # fmt: skip
        self.operations.append(asked)
        return asked

    # ---- making ----------------------------------------------------------------------------------

    def member(self, parent: TaskNode | None, slot: str, title: str, said: str) -> TaskNode | None:
        """A member of a container: new, back again, or there already."""
        title = title.strip(" .,;")
        if not title:
            return None
        for node in self.graph.parts(parent.id if parent else None, gone=True):
            if content(node.title) == content(title) and (is_member(node) or node.value is None):
                if node.active:
                    self.touch(node.id)
                    return node
                return self.do(Restore(task=node.id), said)
        base = re.sub(r"\d+$", "", slot_name(slot)) or "item"
        taken = {node.slot for node in self.graph.parts(parent.id if parent else None, gone=True)}
        prefix = f"{parent.slot}." if parent else ""
        number = next(n for n in range(1, len(taken) + 2) if f"{prefix}{base}{n}" not in taken)
        return self.do(
            Add(slot=f"{prefix}{base}{number}", title=title, parent=parent.id if parent else None), said
        )

    def new_root(
        self,
        title: str,
        said: str,
        slot: str | None = None,
        parent: TaskNode | None = None,
        value: str | None = None,
    ) -> TaskNode | None:
        """A task of its own, under a name that is free."""
        name = slot or kind_name(title)
        prefix = f"{parent.slot}." if parent else ""
        taken = {node.slot for node in self.graph.parts(parent.id if parent else None, gone=True)}
        free, number = f"{prefix}{name}", 2
        while free in taken:
            free, number = f"{prefix}{name}{number}", number + 1
        return self.do(Add(slot=free, title=title, parent=parent.id if parent else None, value=value), said)

    # ---- the steps -------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        """Ground one step, by the method of its act."""
        handler: Callable[[Step], None] | None = getattr(self, f"_{step.act}", None)
        if handler is not None:
            handler(step)

    def _chat(self, step: Step) -> None:
        pass

    def _yes(self, step: Step) -> None:
        question = self.view.question
        if question is None or not question.choices:
            for node in self.confirmable(step):
                self.do(Confirm(task=node.id), step.text)
            return
        choices, several = question.choices, len(question.choices) == len(question.options) > 1
        chosen = [n for n, option in enumerate(question.options) if same_value(option, step.value or "")]
        if several and not chosen:
            self.clarify(step, question.question, question.options, question.choices)
            return
        for choice in [choices[n] for n in chosen] if several else choices:
            asked = isinstance(choice, Add) or (isinstance(choice, Update) and choice.title is None)
            if isinstance(choice, Add | Update) and asked and choice.value is None and step.value:
                choice = choice.model_copy(update={"value": step.value})
            self.do(choice, step.text)

    def _no(self, step: Step) -> None:
        if self.view.question is None:
            for node in self.confirmable(step):
                self.do(Reject(task=node.id), step.text)

    def confirmable(self, step: Step) -> list[TaskNode]:
        """The values proposed last, which a yes or no is about; of these those that words name."""
        waiting = [node for node in self.graph.active if node.status == "proposed"]
        last = max((node.turn for node in waiting), default=0)
        named = content(step.target)
        return [
            node
            for node in waiting
            if node.turn == last
            and (not named or named & content(f"{node.title} {base(node.slot)} {node.value or ''}"))
        ]


# ---- words and values ------------------------------------------------------------------------------


def renewed(node: TaskNode, text: str) -> Update:
    """A new value for what has one, else a new title."""
    if node.value is not None:
        return Update(task=node.id, value=text)
    return Update(task=node.id, title=text)


def same_value(one: str | None, other: str) -> bool:
    """Whether two values are the same words."""
    return one is not None and " ".join(one.lower().split()) == " ".join(other.lower().split())


def exchanged(text: str, old: str, new: str) -> str:
    """The text with one name exchanged for another, as whole words in any case."""
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    changed = re.sub(rf"(?<!\w){pattern}(?!\w)", lambda _: new, text, flags=re.IGNORECASE)
    return changed if changed != text else new
