"""What all steps stand on: operations collected and tried at once, values and members put, things found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.wording import base
from taskloom.agent.language.words import content, is_event, kind_name, singular, slot_group, slot_name
from taskloom.agent.plan.finder import Finder, owned_by
from taskloom.agent.plan.roles import is_member
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Clarify, Confirm, Operation, Reject, Restore, Update, apply
from taskloom.memory.tasks import TaskGraph, TaskNode

_NEW = re.compile(r"^(?:new|current)\s+(?=\S)", re.IGNORECASE)  # the 'new quote' is the quote


class Ground(Finder):
    """Steps on the tasks as they are: what all of them use."""

    def __init__(
        self, view: View, graph: TaskGraph | None = None, focus: Sequence[str] | None = None
    ) -> None:
        super().__init__(view.graph if graph is None else graph, view.focus if focus is None else focus)
        self.view = view
        self.operations: list[Operation] = []

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
        self, step: Step, question: str, options: Sequence[str] = (), choices: Sequence[Operation] = ()
    ) -> None:
        """Ask instead of guessing; each choice is what an option stands for."""
        self.operations.append(
            Clarify(said=step.text[:300], question=question, options=tuple(options), choices=tuple(choices))
        )

    def ambiguous(self, words: str, within: TaskNode | None = None) -> list[TaskNode]:
        """The tasks between which the words do not decide."""
        hits = [hit for hit in self.hits(words, within=within) if hit.covered > 0.99]
        if len(hits) < 2 or any(hit.node.id in self.new for hit in hits[:2]):
            return []
        level = [hit.node for hit in hits if hit.score > hits[0].score - 0.12]
        roots = [node for node in level if node.parent is None]
        level = roots if len(roots) > 1 else level
        return level if len(level) > 1 else []

    # ---- making ----------------------------------------------------------------------------------

    def put(
        self, parent: TaskNode | None, slot: str, value: str, said: str, title: str | None = None
    ) -> TaskNode | None:
        """Give a slot of a task its value, new or changed."""
        name = slot_name(slot)
        held = None
        if parent is not None:
            group = slot_group(slot)
            parts = self.graph.parts(parent.id)
            if (
                group in ("place", "location")
                and name in ("place", "location")
                and not any(
                    part.name == name or slot_group(part.name) == group or part.turn == self.view.turn
                    for part in parts
                )
            ):
                group = "location" if group == "place" else "place"  # one word for the other
            for node in self.graph.parts(parent.id):
                if (
                    not is_member(node)
                    and owned_by(node, slot.replace("_", " "))
                    and (
                        node.name == name
                        or (group and slot_group(node.name) == group and node.value is not None)
                    )
                ):
                    held = node
                    if node.name == name:
                        break
        if held is None and parent is not None and name not in ("value", "detail"):
            wanted = content(slot.replace("_", " "))
            held = next(
                (
                    part for part in self.graph.parts(parent.id)
                    if wanted and not is_member(part) and part.value is not None and wanted < content(part.title)
                    and owned_by(part, slot.replace("_", " "))
                ), None,
            )  # fmt: skip
        if held is not None:
            if same_value(held.value, value):
                self.touch(held.id)
                if held.stale_since is None:
                    return held
            return self.do(Update(task=held.id, value=value), said) or held
        dotted = f"{parent.slot}.{name}" if parent else name
        if parent is None and (other := self.graph.part(None, name)) is not None:
            return self.do(Update(task=other.id, value=value), said)
        return self.do(
            Add(
                slot=dotted,
                title=title or _NEW.sub("", slot.replace("_", " ")),
                value=value,
                parent=parent.id if parent else None,
            ),
            said,
        )

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
        """The proposed values that a yes or no is about: those proposed last; of these, those that words name."""
        waiting = [node for node in self.graph.active if node.status == "proposed"]
        last = max((node.turn for node in waiting), default=0)
        named = content(step.target)
        return [
            node
            for node in waiting
            if node.turn == last
            and (not named or named & content(f"{node.title} {base(node.slot)} {node.value or ''}"))
        ]

    def known(self, step: Step) -> TaskNode | None:
        """The task that a step names by id, else by words."""
        if step.task and step.task in self.graph:
            return self.graph[step.task]
        return None

    def within(self, step: Step) -> TaskNode | None:
        """The task that a step says it happens in."""
        if step.within_task and step.within_task in self.graph:
            return self.graph[step.within_task]
        return (self.whole(step.within) or self.find(step.within, loose=False)) if step.within else None

    def container_or_new(self, words: str, said: str, *, person: bool = False) -> TaskNode | None:
        """The container that is named or in focus, made where there is none."""
        held = self.container(words, person=person)
        if held is not None:
            return held
        root = self.root()
        nested = root is not None and is_event(root.title) and not is_event(words) and content(words)
        return self.new_root(
            words or "list", said, slot=slot_name(words) if words else "list", parent=root if nested else None
        )


# ---- words and values ------------------------------------------------------------------------------


def tidy(title: str) -> str:
    """A title without who does it and without its article."""
    title = re.sub(
        r"^(?:i|we)(?:'m| am|'re| are|'ll| will)?\s+", "", title.strip(" .,;:!"), flags=re.IGNORECASE
    )
    title = re.sub(r"^(?:the|a|an|my|our|some)\s+", "", title, flags=re.IGNORECASE)
    return title.strip() or "task"


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


def last_phrase_exchanged(title: str, value: str) -> str:
    """A task named anew by its last phrase: ('Book a room in the Hotel Astoria', 'Hotel Bristol')."""
    count = re.fullmatch(r"(\d+)\s+(\w+)", value)
    if count and re.search(rf"\d+\s+{re.escape(singular(count[2]))}", title):
        return values.with_number(title, Decimal(count[1]))
    found = re.search(r"(\b(?:to|in|at|for|with|from|on|of)\s+(?:the\s+|a\s+)?)([^\s].*)$", title)
    if found:
        return title[: found.start(2)] + re.sub(r"^(?:to|in|at|for|with|from|the)\s+", "", value)
    words = title.split()
    if len(words) > 1 and len(value.split()) <= 2 and words[0].lower() not in ("the", "a"):
        return " ".join([*words[:-1], value])
    return value
