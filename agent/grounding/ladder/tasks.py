"""Steps that bring something new, tasks and members, and that leave only some of these."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.words import (
    PLAN_VERB,
    content,
    head_is_event,
    is_event,
    is_project,
    kind_name,
    slot_name,
)
from taskloom.agent.plan.roles import is_member, is_person_slot
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.consolidate import is_person_name
from taskloom.memory.operations import Check, Question, Remove, Restore, Unlink, Update, is_part
from taskloom.memory.tasks import TaskNode

from .amounts import Amounts
from .workspace import same_value, tidy


class Tasks(Amounts):
    """What is new, and what is left of some."""

    def _task(self, step: Step) -> None:
        title = tidy(step.title or step.target or step.text)
        whole = PLAN_VERB.sub("", title) or title
        known = self.known(step) or self._same_task(step, whole)
        if known is not None:
            self.touch(known.id)
            self._details(known, step)
            return
        parent = self.within(step)
        event = is_event(whole) and head_is_event(whole)
        planned = _noun_of(whole) if not event and _PLANS.match(title) else None
        root = self.root()
        slot = slot_name(step.slot) if step.slot else None
        purpose = bool(step.items) and step.intent == "new" and step.target == step.title and not event
        if parent is None and root is not None:
            hinted = slot is not None and not (event and slot == kind_name(whole))
            if hinted or (not purpose and not self._own_root(title, whole, root)):
                parent = root
        name = whole if event or planned else title
        if value := (step.value if step.slot else None):
            self.put(parent, step.slot or "task", value, step.text)
            return
        if slot and parent is not None and (held := self.graph.part(parent.id, f"{parent.slot}.{slot}")):
            self.do(Update(task=held.id, title=name), step.text)
            self._details(held, step)
            return
        node = self.new_root(
            name, step.text, slot=slot or (kind_name(whole) if event else planned), parent=parent
        )
        if node is not None:
            self._details(node, step)
            self.touch(node.id)

    def _own_root(self, title: str, whole: str, root: TaskNode) -> bool:
        """Whether something new stands beside what the talk is about, not under it."""
        if not is_project(root.title, root.name):
            return True
        if root.name in ("list", "order", "cart") and not is_event(whole):
            return True
        return head_is_event(whole) or _PLANS.match(title) is not None

    def _same_task(self, step: Step, title: str) -> TaskNode | None:
        wanted = content(title)
        if not wanted:
            return self.root() if step.intent is None else None
        for hit in self.hits(title)[:5]:
            node = hit.node
            if node.value is not None and not self.graph.parts(node.id):
                continue
            own = content(PLAN_VERB.sub("", node.title))
            if step.intent == "new" and self._conflicts(node, step):
                continue
            if own == wanted or (step.intent is None and hit.covered > 0.99 and wanted & own):
                return node
        return None

    def _conflicts(self, node: TaskNode, step: Step) -> bool:
        """Whether a step gives a task other details than it has: then it is another task of that name."""
        for detail in step.details:
            held = next(
                (part for part in self.graph.parts(node.id) if part.name == detail.slot and part.value), None
            )
            if held is not None and not same_value(held.value, detail.value):
                return True
        people = {content(part.title) for part in self.graph.parts(node.id) if is_member(part)}
        return bool(people and step.items) and not any(content(item.value) in people for item in step.items)

    def _details(self, node: TaskNode, step: Step) -> None:
        for detail in step.details:
            self.put(node, detail.slot, detail.value, step.text)
        for item in step.items:
            existing = None
            if item.slot in ("item", "step"):
                existing = self._shared_item(node, item.value)
            if existing is None:
                self.member(self.graph[node.id], item.slot, item.value, step.text)
        self.touch(node.id)

    def _shared_item(self, node: TaskNode, words: str) -> TaskNode | None:
        """Nothing is shared that the user did not say is."""
        del node, words
        return None

    # ---- members ---------------------------------------------------------------------------------

    def _add(self, step: Step) -> None:
        person = any(is_person_name(item.slot) for item in step.items)
        target = self.known(step)
        words = step.target or step.within
        if target is None and step.slot == "things":
            root = self.root()
            held = self.find(step.title or "", loose=False)
            if held is not None and held.value is None:
                target = held
            elif root is not None and (
                is_project(root.title, root.name)
                or (self._has_members(root) and root.name in ("list", "cart", "order"))
            ):
                target = root
            else:
                target = self.new_root(step.title or "list", step.text, slot="list")
        if target is None and step.slot == "list":
            root = self.root()
            target = (
                root
                if root is not None
                and (is_event(root.title) or self._has_members(root))
                and not root.name.startswith("task")
                else None
            )
            if target is None:
                for item in step.items:
                    node = self.new_root(
                        f"{step.title} {item.value}"
                        if step.title and step.title != "list" and not item.value.startswith(step.title)
                        else item.value,
                        step.text,
                    )
                    del node
                return
        if target is None:
            target = self.container_or_new(words, step.text, person=person)
        if target is None:
            target = self.new_root(words or "list", step.text, slot="list")
        if target is None:
            return
        if target.value is not None and not self.graph.parts(target.id):
            target = self.holder(target)
        slot = self._usual_slot(target)
        for item in step.items:
            count = re.fullmatch(
                r"(\d+|[a-z]+) (?:more )?(people|guests|persons|participants|attendees|seats)", item.value
            )
            if count and (number := self._number_slot(count[2])) and values.number_of(count[1]) is not None:
                self._change_number(number, values.number_of(count[1]) or Decimal(0), "+", step)
                continue
            name = item.slot
            if (name == "item" and slot) or (
                name in ("participant", "guest") and slot and is_person_name(slot)
            ):
                name = slot
            self.member(self.graph[target.id], name, item.value, step.text)
        self.touch(target.id)

    def _usual_slot(self, target: TaskNode) -> str | None:
        parts = [
            re.sub(r"\d+$", "", part.name)
            for part in self.graph.parts(target.id, gone=True)
            if is_member(part) and not is_part(part)
        ]
        return parts[0] if parts else None

    def _only(self, step: Step) -> None:
        container = self.known(step) or (
            self.find(step.target, loose=False)
            if step.target and step.target.lower() not in ("it", "list")
            else None
        )
        found = [self.find(item.value, gone=True) for item in step.items]
        if (
            container is None
            or is_member(container)
            or (container.value is not None and not self.graph.parts(container.id))
        ):
            homes = [self.holder(node) for node in found if node is not None]
            container = (
                max(homes, key=lambda home: sum(h.id == home.id for h in homes))
                if homes
                else self.container("")
            )
        if container is None:
            self.clarify(step, "What should be reset to that?")
            return
        if (
            not self.members(container)
            and container.parent is not None
            and self.members(self.holder(container))
        ):
            container = self.holder(container)
        members = self.members(container) or [p for p in self.graph.parts(container.id) if p.value is None]
        if _is_person_list(step.items, members):
            members = [node for node in members if is_person_slot(node)] or members
        before = len(self.operations)
        keep: set[str] = set()
        for item in step.items:
            hits = [
                hit.node for hit in self.hits(item.value, gone=True, within=container) if hit.covered > 0.99
            ]
            active = [node for node in hits if node.active]
            pool = active or hits
            exact = [node for node in pool if content(node.title) == content(item.value)]
            if pool:
                node = (exact or pool)[0]
                chosen = [node]
                if not exact and item.value.lower().endswith("s") and len(pool) > 1:
                    chosen = [other for other in pool if is_member(other)]
                for one in chosen:
                    if not one.active:
                        self.do(Restore(task=one.id), step.text)
                    keep.add(one.id)
            else:
                made = self.member(
                    self.graph[container.id], self._usual_slot(container) or "item", item.value, step.text
                )
                if made is not None:
                    keep.add(made.id)
        for node in members:
            if node.id not in keep and not any(a.id in keep for a in self.graph.subtree(node.id)):
                if node.parent != container.id and container.id not in {
                    a.id for a in self.graph.ancestors(node.id)
                }:
                    self.do(Unlink(task=container.id, on=node.id), step.text)
                else:
                    self.do(Remove(task=node.id), step.text)
        if len(self.operations) == before:  # it is so already; the reply says what it holds
            self.operations.append(
                Check(
                    said=step.text[:300],
                    question=Question(kind="list", tasks=(container.id,), about=container.title),
                )
            )
        self.touch(container.id)


# ---- words and values ------------------------------------------------------------------------------


_PLANS = re.compile(
    r"(?:plan|organi[sz]e|schedule|arrange|prepare|throw|host|set up|put together|coordinate|fill (?:out|in)|complete)\s+(?:for\s+)?(?:a|an|the|my|our)\s",
    re.IGNORECASE,
)


def _noun_of(title: str) -> str | None:
    """The head noun of what is planned: 'excursion' of 'school excursion to the sea'."""
    head = re.split(r"\s+(?:for|to|in|on|at|with|from|of|about|near|by|that)\s+|[,:(]", title, maxsplit=1)[
        0
    ].split()
    return slot_name(head[-1]) if head and head[-1].isalpha() and head[-1].islower() else None


def _is_person_list(items: Sequence[Detail], members: Sequence[TaskNode]) -> bool:
    titles = {node.title.lower() for node in members if is_person_slot(node)}
    return bool(titles) and all(item.value.lower() in titles for item in items)
