"""Steps after which something leaves, comes back, or is done."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.agent.language import patterns as re
from taskloom.agent.language.wording import entries, join
from taskloom.agent.language.words import content, singular
from taskloom.agent.plan.finder import tool_results
from taskloom.agent.plan.roles import is_member, is_person_slot, words_of
from taskloom.agent.turn.calls import rerun_operation
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import (
    Check,
    Complete,
    Inactivate,
    Question,
    Remove,
    Restore,
    Rollback,
    Unlink,
    Update,
)
from taskloom.memory.tasks import TaskNode

from .reverting import Reverts
from .tasks import Tasks


class States(Tasks, Reverts):
    """What leaves, comes back, is done."""

    def _remove(self, step: Step) -> None:
        within = self.within(step)
        if step.everyone and not step.target and not step.items:
            for node in self._all_that_is_meant(step, within):
                self.do(Remove(task=node.id), step.text)
            return
        for words in [item.value for item in step.items] or [step.target]:
            self._leave(step, words, within, Remove)

    def _all_that_is_meant(self, step: Step, within: TaskNode | None) -> list[TaskNode]:
        """What 'everything' is: what is on the list that is talked of, else all that is planned."""
        container = within or self.container("")
        listed = list(self.members(container)) if container is not None else []
        if within is not None or re.search(r"\b(?:items?|guests?)\b", step.text, re.IGNORECASE):
            return listed
        beside = self.graph.parts(container.id) if container is not None else ()
        if listed and all(node in listed for node in beside):
            return listed
        return list(self.graph.parts(None))

    def _hold(self, step: Step) -> None:
        for words in [item.value for item in step.items] or [step.target]:
            self._leave(step, words, self.within(step), Inactivate)

    def _leave(
        self, step: Step, words: str, within: TaskNode | None, kind: type[Remove] | type[Inactivate]
    ) -> None:
        node = self.known(step)
        if node is None and not words:
            node = next(iter(self.focus_nodes()), None)
            if (
                node is not None
                and step.act == "remove"
                and re.search(r"\b(?:him|her|he|she)\b", step.text, re.IGNORECASE)
            ):
                node = self._last_person() or node
            if node is not None and node.value is not None and not is_member(node) and step.act == "hold":
                node = self.holder(node)
        if node is None:
            if within is not None and (linked := self._linked(within, words)):
                self.do(Unlink(task=within.id, on=linked.id), step.text)
                return
            doubtful = self.ambiguous(words, within)
            if doubtful:
                self.clarify(
                    step,
                    f"Which one do you mean by {words}?",
                    [self.describe(n) for n in doubtful],
                    [kind(task=n.id) for n in doubtful],
                )
                return
            node = self.find(words, within=within) or (self.find(words) if within is not None else None)
        if node is None and words and not self.hits(words, gone=True):
            single = singular(words)
            node = self.find(single) if single != words else None
        if node is None:
            gone = self.find(words, gone=True, active=False, loose=False)
            if gone is not None:
                self.do(kind(task=gone.id), step.text)  # is refused, with the reason
                return
            self.clarify(step, f"I do not find “{words}” in the plan. What should I take out?")
            return
        if (
            within is not None
            and node.parent != within.id
            and within.id in set(self.graph.dependents.get(node.id, ()))
        ):
            self.do(Unlink(task=within.id, on=node.id), step.text)
            return
        if (
            within is not None
            and node.parent == within.id
            and (heirs := [k for k in self.graph.dependents.get(node.id, ()) if self.graph[k].active])
        ):
            self._divide(node, heirs, step.text)
        if (
            not is_member(node)
            and node.value is not None
            and not content(words) <= (content(node.title) | content(node.name) | content(node.value))
            and not content(words) <= words_of(node)
        ):
            owner = self.holder(node)
            node = owner if content(words) & words_of(owner) else node
        extra = content(node.title) - content(words)
        listed = _without(node.title, words) if is_member(node) or node.value is None else None
        if extra and listed and node.value is None and re.search(r",|\band\b", node.title):
            self.do(Update(task=node.id, title=listed), step.text)
            return
        if (
            node.value is not None
            and not is_member(node)
            and (rest := _without(node.value, words))
            and not content(words) & content(node.title)
        ):
            self.do(Update(task=node.id, value=rest), step.text)
            return
        self.do(kind(task=node.id), step.text)
        if node.parent and node.parent in self.graph:
            self.touch(node.parent)

    def _divide(self, node: TaskNode, users: Sequence[str], said: str) -> None:
        """A shared task gives each other user a copy of its own, before one of them changes its own."""
        for user in users:
            self.do(Unlink(task=user, on=node.id), said)
            self.member(self.graph[user], self._usual_slot(self.graph[user]) or "item", node.title, said)

    def _last_person(self) -> TaskNode | None:
        for node in self.focus_nodes():
            if is_person_slot(node):
                return node
            people = [part for part in self.graph.parts(node.id) if is_person_slot(part)]
            if people:
                return people[0] if len(people) == 1 else people[-1]
        return None

    def _resume(self, step: Step) -> None:
        within = self.within(step)
        wanted = [item.value for item in step.items] or [step.target]
        known = self.known(step)
        for words in wanted:
            node = known or (
                self.find(words, gone=True, active=False, within=within, loose=False)
                if words
                else self._last_gone()
            )
            while (
                node is not None
                and words
                and node.parent
                and not self.graph[node.parent].active
                and content(words) & words_of(self.graph[node.parent])
            ):
                node = self.graph[node.parent]
            present = self.find(words, loose=False, within=within) if words else None
            if present is not None and (node is None or content(words) == content(present.title)):
                self.touch(present.id)
                self.operations.append(
                    Check(said=step.text, question=Question(kind="status", tasks=(present.id,), about=words))
                )
                continue
            if node is None and words:
                node = self.find(words, gone=True, active=False)
            if node is None and re.fullmatch(r"(?:them|those|all of (?:them|it)|it|both)?", words):
                node = self._last_gone()
            if node is None and words and (owner := self._former_owner(words, None)) is not None:
                to = self._state_with(owner, words, first=False)
                if to is not None and to < len(owner.history):
                    self.do(Rollback(task=owner.id, to=to), step.text)
                    continue
            if node is None:
                present = self.find(words) if words else None
                if present is not None:
                    self.operations.append(
                        Check(
                            said=step.text, question=Question(kind="status", tasks=(present.id,), about=words)
                        )
                    )
                    continue
                self.clarify(
                    step, f"I do not find “{words}” among what was taken out. What should come back?"
                )
                continue
            if node.active:
                self.operations.append(
                    Check(said=step.text, question=Question(kind="status", tasks=(node.id,), about=words))
                )
                continue
            self.do(Restore(task=node.id), step.text)

    def _again(self, step: Step) -> None:
        """A result is open again; whatever gave it gives it once more."""
        for node in tool_results(self.graph, step.target, self.focus):
            self.do(rerun_operation(node), step.text)

    def _last_gone(self) -> TaskNode | None:
        gone = [
            node
            for node in self.graph.values()
            if not node.active and node.op in ("remove", "inactivate", "undo")
        ]
        latest = max((node.turn for node in gone), default=0)
        tops = [
            node
            for node in gone
            if node.turn == latest and not (node.parent and self.graph[node.parent] in gone)
        ]
        return tops[-1] if tops else None

    def _done(self, step: Step) -> None:
        if step.everyone:
            recent = self._open_tasks()
            latest = max((node.turn for node in recent), default=0)
            for node in recent:
                if node.turn == latest or len(recent) <= 2:
                    self.do(Complete(task=node.id), step.text)
            return
        for words in [item.value for item in step.items] or [step.target]:
            meant = self.known(step) or (self._task_named(words) if words else self._open_in_focus())
            if meant is None and words:
                near = [hit for hit in self.hits(words) if hit.covered >= 0.5 and hit.node.value is None]
                meant = self.find(words) or (
                    near[0].node if len(near) == 1 or (near and near[0].score > near[1].score + 0.3) else None
                )
            if meant is None:
                self.clarify(
                    step,
                    f"Which task is done? I do not find “{words}”.",
                    [n.title for n in self._open_tasks()[:6]],
                    [Complete(task=n.id) for n in self._open_tasks()[:6]],
                )
                continue
            if (
                meant.value is not None
                and not is_member(meant)
                and meant.parent
                and not content(words) & (content(meant.title) | content(meant.name))
                and not content(words) <= content(meant.value)
            ):
                meant = self.holder(meant)
            self.do(Complete(task=meant.id), step.text)

    def _task_named(self, words: str) -> TaskNode | None:
        """A task that is meant, rather than a value inside it."""
        hits = [hit for hit in self.hits(words) if hit.covered > 0.99]
        tasks = [hit for hit in hits if hit.node.value is None and hit.node.status != "done"]
        if hits and (not tasks or tasks[0].score < hits[0].score - 1.2):
            return hits[0].node
        return tasks[0].node if tasks else None

    def _open_tasks(self) -> list[TaskNode]:
        return [
            node
            for node in self.graph.active
            if node.status == "open"
            and not any(p.status == "open" for p in self.graph.parts(node.id))
            and not is_person_slot(node)
        ]

    def _open_in_focus(self) -> TaskNode | None:
        for node in self.focus_nodes():
            if node.status == "open" or (node.value is not None and not is_member(node)):
                return node if node.status == "open" else self.holder(node)
        return None


# ---- words and values ------------------------------------------------------------------------------


def _without(text: str, words: str) -> str | None:
    """A list in words without one of its members, or None where it is not one."""
    pieces = entries(text)
    wanted = content(words)
    left = [piece for piece in pieces if not (content(piece) <= wanted or wanted <= content(piece))]
    if len(pieces) < 2 or len(left) == len(pieces) or not left:
        return None
    return join(left, limit=len(left))
