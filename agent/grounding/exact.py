"""From steps that name tasks by id to operations on just these: each act is a method of `Exact`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from taskloom.agent.grounding.workspace import exchanged, renewed, same_value
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.wording import DID_YOU_MEAN, base, clip, entries, join
from taskloom.agent.language.words import content, singular, slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.turn.calls import SOURCE, rerun_operation
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import (
    Check,
    Clarify,
    Complete,
    Inactivate,
    Operation,
    Question,
    Remove,
    Replace,
    Restore,
    Unlink,
    Update,
    names,
)
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import WEEKDAYS

from .asking_first import describe_operations
from .exact_asking import Asking
from .exact_back import Back
from .exact_links import Links
from .exact_parts import Parts
from .exact_places import ONE_OF_MANY, Doubt, says_all


def ground_exactly(steps: Iterable[Step], view: View) -> tuple[Operation, ...]:
    """Ground steps in order, each on the graph that those before leave behind.

    Returns:
        Operations on task ids, to be applied in this order; a clarification in place of a step whose words
        name no task, or more than one.
    """
    grounder = Exact(view)
    for step in steps:
        try:
            grounder.step(step)
        except Doubt as doubt:
            grounder.clarify(step, doubt.question, doubt.options, doubt.choices)
    return tuple(grounder.operations)


class Exact(Parts, Back, Links, Asking):
    """All steps, each by the method of its act."""

    def _unsure(self, step: Step) -> None:
        trial = ground_exactly(step.proposed, replace(self.view, graph=self.graph))
        choices = tuple(one for one in trial if not isinstance(one, Check | Clarify))
        if not choices:
            if step.proposed and step.value:
                self.operations += trial
                return
            super()._unsure(step)
        question = f"{step.value or DID_YOU_MEAN}{describe_operations(choices, self.graph)}?"
        self.clarify(step, question, ("yes",) if len(choices) == 1 else (), choices, presumed=step.presumed)

    # ---- something new -----------------------------------------------------------------------------

    def _task(self, step: Step) -> None:
        whole = self.owner(step)
        title = (step.title or step.target or step.slot or "").strip(" .")
        if step.value is not None and (step.title is None or step.slot is not None):
            self.give(whole, step.slot or title, step.value, step.text)
            return
        node = self._same(title, whole, step) or self.new_root(title, step.text, parent=whole)
        if node is None:
            return
        if not node.active:
            self.do(Restore(task=node.id), step.text)
        self.fill(self.graph[node.id], step)
        if step.value is not None:
            self.give(self.graph[node.id], "detail", step.value, step.text)
        self.touch(node.id)

    def _same(self, title: str, whole: TaskNode | None, step: Step) -> TaskNode | None:
        """The task of that title that is meant once more, not another one of the same name."""
        wanted, gone = content(title), whole is not None
        for node in self.graph.parts(whole.id if whole else None, gone=gone):
            if not wanted or content(node.title) != wanted or node.value is not None:
                continue
            told = {detail.slot: detail.value for detail in step.details}
            held = {base(part.slot): part.value for part in self.graph.parts(node.id) if part.value}
            if all(same_value(held.get(slot_name(name), value), value) for name, value in told.items()):
                return node
        return None

    def _set(self, step: Step) -> None:
        node = self.at(step.task, "" if step.slot else step.target)
        if step.details or step.items:
            whole = node or self.whole_of(step)
            if whole is None:
                raise Doubt(clarifications.WHAT_FOR(values=[d.value for d in (*step.details, *step.items)]))
            if whole.value is not None and whole.parent and not self.graph.parts(whole.id):
                whole = self.graph[whole.parent]
            self.fill(whole, step)
            return
        value = step.value or ""
        if step.slot is not None and (node is None or node.value is None):
            self.give(node or self.whole_of(step), step.slot, value, step.text)
            return
        if node is None:
            node = self.whole_of(step)
        if node is None:
            raise Doubt(clarifications.WHAT_SHOULD_BE(value=clip(value)))
        self._assign_to(node, value, step)

    def _assign_to(self, node: TaskNode, value: str, step: Step) -> None:
        """A new value for a slot; of a task or a member, a new title."""
        if not node.active:
            self.do(Restore(task=node.id), step.text)
        if node.value is not None:
            value = values.with_day(node.value, value)
            if not same_value(node.value, value) or node.stale_since is not None or node.status == "proposed":
                self.do(Update(task=node.id, value=value), step.text)
            self.touch(node.id)
            return
        if value.strip().isdecimal() and values.number_of(node.title) is not None:
            value = values.with_number(node.title, Decimal(value))  # 30 of what were 20 big jars
        kind = values.kind_of(value)
        if kind is not None and values.kind_of(node.title) != kind:  # a time is no name
            held = [
                part
                for part in self.graph.parts(node.id)
                if part.value and values.kind_of(part.value) == kind
            ]
            if len(held) != 1:
                raise Doubt(
                    clarifications.WHAT_FOR_IN(value=clip(value), task=self.describe(node)),
                    [part.title for part in held],
                    [Update(task=part.id, value=value) for part in held],
                )  # fmt: skip
            self.do(Update(task=held[0].id, value=value), step.text)
            return
        self.do(Update(task=node.id, title=value), step.text)

    def _add(self, step: Step) -> None:
        whole = self.owner(step)
        if whole is None:
            raise Doubt(clarifications.ADDED_TO_WHAT(values=[item.value for item in step.items]))
        kind = None
        node = self.graph.get(step.task or step.within_task or "")
        if node is not None and node.id != whole.id:
            kind = base(node.slot)  # beside a member of the list
        kind = step.slot or kind
        items = tuple(
            item.model_copy(update={"slot": kind}) if kind and item.slot in ONE_OF_MANY else item
            for item in step.items
        )
        self.fill(whole, step.model_copy(update={"items": items}))

    # ---- one for another ---------------------------------------------------------------------------

    def _replace(self, step: Step) -> None:
        new, old = step.value or "", step.old or ""
        node, within = self.at(step.task, ""), self.whole_of(step)
        if node is not None and (node.value is not None or not self.graph.parts(node.id)):
            text = node.value if node.value is not None else node.title
            if old and names(old, text) and exchanged(text, old, new) != new:
                self.do(Replace(old=old, new=new, tasks=(node.id,)), step.text)  # 'celery' of 'chop celery'
                self.touch(node.id)
                return
            self.do(renewed(node, new), step.text)
            return
        within = node or within
        done = False
        for words in _ways_to_say(old):
            found = self._saying(words, within)
            if found and within is not None:
                self._replace_in(within, found, words, new, step)
            elif found:
                self.do(Replace(old=words, new=new), step.text)
                self.touch(found[0].id)
            done = done or bool(found)
        if done:
            return
        raise Doubt(clarifications.NOT_FOUND_TO_REPLACE(old=clip(old, 60), new=clip(new)))

    def _saying(self, words: str, within: TaskNode | None) -> list[TaskNode]:
        pool: Iterable[TaskNode] = self.graph.active
        if within is not None:
            used = (self.graph[key] for key in within.depends_on)
            pool = [*self.graph.subtree(within.id), *(node for node in used if node.active)]
        return [node for node in pool if names(words, node.value) or names(words, node.title)]

    def _replace_in(self, within: TaskNode, found: list[TaskNode], old: str, new: str, step: Step) -> None:
        """In one task only: what it shares with others stays theirs."""
        own = {node.id for node in self.graph.subtree(within.id)}
        for node in found:
            users = [
                key
                for key in self.graph.dependents.get(node.id, ())
                if self.graph[key].active and key not in own
            ]
            if node.id not in own:
                self.do(Unlink(task=within.id, on=node.id), step.text)
                self.member(
                    self.graph[within.id], self.usual(within), exchanged(node.title, old, new), step.text
                )
                continue
            self._part_ways(node, users, step.text)
            self.do(Replace(old=old, new=new, tasks=(node.id,)), step.text)
        self.touch(within.id)

    def _part_ways(self, node: TaskNode, users: Sequence[str], said: str) -> None:
        """Each other task that uses a shared one gets its own, before one of them changes its own."""
        for user in users:
            self.do(Unlink(task=user, on=node.id), said)
            self.member(self.graph[user], self.usual(self.graph[user]), node.title, said)

    # ---- out and back ------------------------------------------------------------------------------

    def _remove(self, step: Step) -> None:
        self._leave(step, Remove)

    def _hold(self, step: Step) -> None:
        self._leave(step, Inactivate)

    def _leave(self, step: Step, kind: type[Remove] | type[Inactivate]) -> None:
        node, within = self.target(step, gone=True), self.whole_of(step)
        if (
            within is not None
            and within.id != node.id
            and node.parent != within.id
            and node.id in within.depends_on
        ):
            self.do(Unlink(task=within.id, on=node.id), step.text)
            self.touch(within.id)
            return
        if step.value:
            listed = [one for one in self.graph.subtree(node.id) if _without(one.value or "", step.value)]
            if listed:
                self.do(
                    Update(task=listed[0].id, value=_without(listed[0].value or "", step.value)), step.text
                )
                return
            node = self._part_saying(node, step.value)
        users = [key for key in self.graph.dependents.get(node.id, ()) if self.graph[key].active]
        shared = [key for key in users if self.graph[key].parent != node.parent]
        if within is not None and node.parent == within.id and shared:
            self._part_ways(node, shared, step.text)
        self.do(kind(task=node.id), step.text)
        if node.parent is not None:
            self._nobodys(node, step)
            self.touch(node.parent)

    def _nobodys(self, gone: TaskNode, step: Step) -> None:
        """Who leaves a plan has nothing to do in it any more."""
        if gone.value is not None or self.graph.parts(gone.id):
            return
        for node in self.graph.subtree(self.graph.root(gone.id).id):
            if is_assignee(node) and same_value(node.value, gone.title):
                self.do(Remove(task=node.id), step.text)

    def _part_saying(self, node: TaskNode, words: str) -> TaskNode:
        """The part of a task, or the task, that says something."""
        found = [one for one in self.graph.subtree(node.id)[1:] if same_value(one.value or one.title, words)]
        if not found and says_all(node.value or node.title, words):
            found = [node]
        if len(found) != 1:
            raise Doubt(clarifications.NOT_FOUND_IN(words=clip(words, 60), task=self.describe(node)))
        return found[0]

    def _resume(self, step: Step) -> None:
        node = self.target(step, gone=True)
        if node.status == "done":
            self._reopen(step)
            return
        if node.active:
            question = Question(kind="status", tasks=(node.id,), about=node.title)
            self.operations.append(Check(said=step.text[:300], question=question))
            return
        self.do(Restore(task=node.id), step.text)

    def _done(self, step: Step) -> None:
        self.do(Complete(task=self.target(step).id), step.text)

    def _reopen(self, step: Step) -> None:
        node = self.target(step, gone=True)
        if not node.active:
            self.do(Restore(task=node.id), step.text)
            return
        if node.source.startswith(SOURCE):  # its tool gives it once more
            self.do(rerun_operation(node), step.text)
            return
        self.do(Update(task=node.id, status="filled" if node.value is not None else "open"), step.text)


# ---- words and values ------------------------------------------------------------------------------


def _ways_to_say(entity: str) -> tuple[str, ...]:
    """An entity as a plan may name it: as said, in the singular, a weekday also cut or in full."""
    word = entity.lower().rstrip(".")
    days = [day for day in WEEKDAYS if len(word) > 2 and day.startswith(word)]
    return (
        tuple(dict.fromkeys((entity, singular(entity), *days, *(day[:3] for day in days)))) if entity else ()
    )


def _without(text: str, words: str) -> str | None:
    """A list in words without one of its members, or None where it is not one."""
    pieces = entries(text)
    left = [piece for piece in pieces if content(piece) != content(words)]
    if len(pieces) < 2 or len(left) == len(pieces) or not left:
        return None
    return join(left, limit=len(left))
