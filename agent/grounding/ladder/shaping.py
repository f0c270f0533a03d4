"""Steps that put one thing for another, and that tie things together or apart."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.words import content, is_event, singular, slot_group
from taskloom.agent.plan.roles import is_member, is_person_slot, words_of
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Link, Operation, Replace, Restore, Unlink, Update, names
from taskloom.memory.tasks import TaskNode

from .states import States
from .workspace import exchanged, last_phrase_exchanged, tidy


class Shapes(States):
    """What stands for what, and what is tied to what."""

    def _replace(self, step: Step) -> None:
        new, old = step.value or "", step.old or ""
        within = self.within(step)
        if step.items and step.items[0].slot == "swap":
            return self._exchange(step, old, new)
        pronoun = re.fullmatch(r"(?:him|her|them|it|that|this)?", old, re.IGNORECASE) is not None
        if pronoun:
            node = self.known(step) or (
                self.slot(step.target) or self.find(step.target) if step.target else None
            )
            person = re.search(r"\b(?:him|her)\b", step.text, re.IGNORECASE)
            if node is None:
                node = self._last_person() if person else self._replaceable(new)
            if node is None:
                self.clarify(step, f"What should {new} take the place of?", *self._member_options(new))
                return None
            self._exchange_in(node, new, step)
            return None
        if step.task and (node := self.graph.get(step.task)):
            self._exchange_in(node, new, step, old=old)
            return None
        old_known = self._scope_nodes(old, within)
        if old_known:
            if within is not None:
                users = [
                    k
                    for n in old_known
                    for k in self.graph.dependents.get(n.id, ())
                    if self.graph[k].active and k != within.id
                ]
                for node in old_known:
                    if node.parent == within.id and users:
                        self._divide(node, users, step.text)
                    elif node.parent != within.id and node.id in self.graph[within.id].depends_on:
                        self.do(Unlink(task=within.id, on=node.id), step.text)
                        self.member(
                            self.graph[within.id],
                            self._usual_slot(self.graph[within.id]) or "item",
                            exchanged(node.title, old, new),
                            step.text,
                        )
                        return None
                self.do(Replace(old=old, new=new, tasks=tuple(n.id for n in old_known)), step.text)
            else:
                self._merge_duplicates(old, new, step)
                self.do(Replace(old=_as_written(old, old_known), new=new), step.text)
            self.touch(old_known[0].id)
            return None
        node = self.find(old, within=within) or self.find(singular(old), within=within)
        if node is not None:
            self._exchange_in(node, new, step, old=old)
            return None
        gone = self.find(old, gone=True, active=False, loose=False)
        if gone is not None and is_person_slot(gone):
            self.do(Restore(task=gone.id), step.text)
            self.do(Update(task=gone.id, title=new), step.text)
            return None
        if gone is not None and (home := self.graph.get(gone.parent or "")) is not None and home.active:
            self.member(home, re.sub(r"\d+$", "", gone.name), new, step.text)
            return None
        self.clarify(
            step,
            f"I do not find “{old}” in the plan. What should {new} take the place of?",
            *self._member_options(new),
        )
        return None

    def _merge_duplicates(self, old: str, new: str, step: Step) -> None:
        del old, new, step

    def _scope_nodes(self, old: str, within: TaskNode | None) -> list[TaskNode]:
        pool: list[TaskNode] = list(self.graph.active)
        if within is not None:
            pool = [
                *self.graph.subtree(within.id),
                *(self.graph[k] for k in within.depends_on if self.graph[k].active),
            ]
        found = [node for node in pool if names(old, node.value) or names(old, node.title)]
        if not found and old.lower().endswith("s"):
            found = [
                node for node in pool if names(singular(old), node.value) or names(singular(old), node.title)
            ]
        return found

    def _member_options(self, new: str) -> tuple[tuple[str, ...], tuple[Operation, ...]]:
        root = self.root()
        parts = list(self.graph.parts(root.id)) if root else []
        return (
            tuple(n.value or n.title for n in parts[:6]),
            tuple(
                Update(task=n.id, value=new) if n.value else Update(task=n.id, title=new) for n in parts[:6]
            ),
        )

    def _exchange_in(self, node: TaskNode, new: str, step: Step, old: str = "") -> None:
        if node.value is not None and not is_member(node):
            value = exchanged(node.value, old, new) if old and names(old, node.value) else new
            self.do(Update(task=node.id, value=value), step.text)
        elif old and names(old, node.title):
            self.do(Update(task=node.id, title=exchanged(node.title, old, new)), step.text)
        else:
            details = self.graph.parts(node.id)
            other = self._untyped(node) if details else None
            if other is not None and not is_member(node):
                self.do(Update(task=other.id, value=new), step.text)
            else:
                self.do(
                    Update(
                        task=node.id,
                        title=new if is_member(node) else last_phrase_exchanged(node.title, new),
                    ),
                    step.text,
                )

    def _replaceable(self, new: str) -> TaskNode | None:
        """What 'instead' takes the place of, where the words do not say: what was last spoken of."""
        kind = values.kind_of(new)
        for node in self.focus_nodes():
            if node.value is not None and not is_member(node):
                if values.kind_of(node.value) == kind:
                    return node
                continue
            if is_member(node):
                return node
            slots = sorted(
                (
                    p
                    for p in self.graph.parts(node.id)
                    if p.value and not is_member(p) and values.kind_of(p.value) == kind
                ),
                key=lambda p: -p.turn,
            )
            if slots:
                return slots[0]
            members = [p for p in self.graph.parts(node.id) if is_member(p)]
            if len(members) == 1:
                return members[0]
        return None

    def _exchange(self, step: Step, one: str, other: str) -> None:
        """'Beth and Ivy swap places'."""
        changes = []
        for node in self.graph.active:
            for field in ("value", "title"):
                text = getattr(node, field)
                if names(one, text) and not names(other, text):
                    changes.append((node.id, field, exchanged(text, one, other)))
                elif names(other, text) and not names(one, text):
                    changes.append((node.id, field, exchanged(text, other, one)))
        for key, field, text in changes:
            self.do(
                Update(task=key, value=text) if field == "value" else Update(task=key, title=text), step.text
            )
        if not changes:
            self.clarify(step, f"I do not find what {one} and {other} should swap.")

    # ---- edges -----------------------------------------------------------------------------------

    def _share(self, step: Step) -> None:
        target = self.known(step) or self.within(step)
        items: list[TaskNode] = []
        for item in step.items:
            node = self.graph.get(item.task or "") or self._sharable(item.value)
            if node is None:
                holder = target or self.whole(step.target)
                if holder is None:
                    self.clarify(
                        step,
                        f"I do not find “{item.value}” in the plan. What should be used for {step.target}?",
                    )
                    return
                node = self.member(holder, self._usual_slot(holder) or "item", item.value, step.text)
                if node is None:
                    return
                self.touch(node.id)
                continue
            items.append(node)
        if target is None:
            target = self.whole(step.target, avoid=items)
        if target is None:
            target = self.new_root(step.target, step.text)
        if target is None:
            return
        for node in items:
            if node.parent == target.id or node.id in self.graph[target.id].depends_on:
                self.touch(node.id)
                continue
            self.do(Link(task=target.id, on=node.id), step.text)
            self.touch(node.id)
        self.touch(target.id)

    def _sharable(self, words: str) -> TaskNode | None:
        node = self.slot(words, anywhere=True) if slot_group(words) else None
        return node or self.find(words, loose=False) or self.find(words)

    def _thing(self, words: str, said: str, beside: TaskNode | None = None) -> TaskNode | None:
        """The task that the words name, made where there is none."""
        node = self.whole(words)
        if node is None and (hit := self.find(words)) is not None:
            wanted = content(words)
            if len(wanted & words_of(hit)) / max(1, len(wanted)) > 0.5:
                node = hit
        if node is None:
            gerund = re.match(r"(\w+)ing\b", words)
            if gerund:
                node = self.find(words, loose=True)
        if node is not None:
            return node
        root = self.root()
        parent = (
            root if root is not None and is_event(root.title) and not root.name.startswith("task") else None
        )
        if beside is not None:
            parent = self.graph.get(beside.parent) if beside.parent else None
        return self.new_root(tidy(words), said, parent=parent)

    def _need(self, step: Step) -> None:
        chain = step.old == "chain"
        target = self.known(step)
        if target is None and not step.target:
            for node in self.focus_nodes():
                target = node if node.value is None else self.holder(node)
                break
        first: TaskNode | None = None
        if target is None and chain:
            first = self._thing_with_details(step.items[0].value, step.text)
            target = self._thing_with_details(step.target, step.text)
        elif target is None:
            target = self._thing(step.target, step.text)
        if target is None:
            self.clarify(step, "What needs that first?")
            return
        for item in step.items:
            needed = (
                first or self.graph.get(item.task or "") or self._thing(item.value, step.text, beside=target)
            )
            if needed is None or needed.id == target.id:
                continue
            if needed.parent == target.id or needed.id in {n.id for n in self.graph.subtree(target.id)}:
                self.touch(needed.id)
                continue
            self.do(Link(task=target.id, on=needed.id), step.text)
        self.touch(target.id)

    def _thing_with_details(self, words: str, said: str) -> TaskNode | None:
        from taskloom.agent.language.phrases import details_of

        bare, details, items = details_of(words)
        node = self._thing(bare or words, said)
        if node is not None:
            for detail in details:
                self.put(self.graph[node.id], detail.slot, detail.value, said)
            for item in items:
                self.member(self.graph[node.id], item.slot, item.value, said)
        return node

    def _unneed(self, step: Step) -> None:
        target = self.known(step) or self.find(step.target)
        for item in step.items:
            needed = self.graph.get(item.task or "") or self.find(item.value)
            if target is None or needed is None:
                self.clarify(step, "Which two tasks should be independent of each other?")
                return
            self.do(Unlink(task=target.id, on=needed.id), step.text)


# ---- words and values ------------------------------------------------------------------------------


def _as_written(old: str, nodes: Sequence[TaskNode]) -> str:
    """The old name as the plan has it, for example in the singular."""
    if any(names(old, node.value) or names(old, node.title) for node in nodes):
        return old
    return singular(old)
