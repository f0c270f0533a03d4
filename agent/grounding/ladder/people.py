"""Steps about people: who does what, what is split between them or brought together."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.agent.language import patterns as re
from taskloom.agent.language.words import content, is_event, slot_group
from taskloom.agent.plan.roles import is_member, is_person_slot, words_of
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Merge, Part, Split, Update, is_part
from taskloom.memory.tasks import TaskGraph, TaskNode

from .states import States
from .workspace import tidy


class People(States):
    """Who does what."""

    def _assign(self, step: Step) -> None:
        person = step.value or ""
        if person.lower() in ("him", "her", "them") and (someone := self._last_person()):
            person = someone.value or someone.title
        if step.everyone:
            container = self.container("")
            free = [
                one for one in (self.members(container) if container else list(self._open_tasks()))
                if not is_person_slot(one) and not any(p.name.startswith("assignee") for p in self.graph.parts(one.id))
            ]  # fmt: skip
            for one in free:
                self.put(one, "assignee", person, step.text)
            if not free:
                self.clarify(step, f"Everything has somebody already. What should {person} do?")
            return
        node = self.known(step) or self.whole(step.target) or self.find(step.target)
        if not step.target and node is None:
            node = next((n if n.value is None else self.holder(n) for n in self.focus_nodes()), None)
        if node is None:
            root = self.root()
            parent = root if root is not None and is_event(root.title) else None
            node = self.new_root(tidy(step.target), step.text, parent=parent)
            if node is None:
                return
        if node.value is not None and not is_member(node):
            if is_person_slot(node) or (
                slot_group(node.name) is None
                and node.value[:1].isupper()
                and content(step.target) <= content(node.title)
            ):
                self.do(Update(task=node.id, value=person), step.text)
                return
            node = self.holder(node) if node.parent else node
        people = [p for p in self.graph.parts(node.id) if p.name.startswith("assignee")]
        wanted = [word for word in re.split(r",\s*|\s+and\s+", person) if word]
        if len(people) == 1 or not people:
            if len(wanted) == 1:
                self.put(node, "assignee", person, step.text)
            else:
                self.put(node, "assignee", person, step.text)
            return
        self.put(node, "assignee", person, step.text)

    def _split(self, step: Step) -> None:
        target = self.known(step) or (self.whole(step.target) if step.target else None)
        if target is None:
            for node in self.focus_nodes():
                for one in (node, *self.graph.ancestors(node.id)):
                    if self.graph.parts(one.id) and one.value is None:
                        target = one
                        break
                if target is not None:
                    break
        if target is None:
            self.clarify(step, "What should I split?")
            return
        if any(is_part(part) for part in self.graph.parts(target.id)):
            self.do(Merge(task=target.id), step.text)
            target = self.graph[target.id]
        people = self.members(target)
        chosen: list[list[str]] = []
        taken: set[str] = set()
        for part in step.parts:
            ids: list[str] = []
            for words in part.members:
                member = next((p for p in people if content(words) and content(words) <= words_of(p)), None)
                if member is None:
                    continue
                if member.id not in taken:
                    ids.append(member.id)
                    taken.add(member.id)
            chosen.append(ids)
        for number, part in enumerate(step.parts):
            if (part.rest or not part.members) and part.rest:
                chosen[number] = [p.id for p in people if p.id not in taken]
                taken |= set(chosen[number])
        parts = tuple(
            Part(title=self._part_title(target, part.title, ids), members=tuple(ids),
                 values=tuple((detail.slot, self._in_style(target, detail)) for detail in part.details))
            for part, ids in zip(step.parts, chosen, strict=True)
        )  # fmt: skip
        self.do(Split(task=target.id, parts=parts), step.text)
        self.touch(target.id)

    def _part_title(self, target: TaskNode, title: str, ids: Sequence[str]) -> str:
        people = " and ".join(self.graph[key].title for key in ids)
        return f"{target.title} ({people or title})"

    def _in_style(self, target: TaskNode, detail: Detail) -> str:
        """'4' as '4 PM' where the whole was at '2 PM'."""
        return in_style(self.graph, target, detail)

    def _merge(self, step: Step) -> None:
        target = self.known(step)
        if target is None:
            split = [self.graph[n.parent] for n in self.graph.active if is_part(n) and n.parent]
            target = max(split, key=lambda n: max(p.turn for p in self.graph.parts(n.id)), default=None)
        if target is None:
            self.clarify(step, "There is nothing split that I could put together. What do you mean?")
            return
        self.do(Merge(task=target.id), step.text)
        if step.details:
            self._set_details(self.graph[target.id], step)
        self.touch(target.id)


# ---- words and values ------------------------------------------------------------------------------


def in_style(graph: TaskGraph, target: TaskNode, detail: Detail) -> str:
    """The value of a detail, a time written as the task's own is: '4' as '4 PM' where the whole is at '2 PM'."""
    if detail.slot != "time":
        return detail.value
    former = next((p.value for p in graph.parts(target.id) if p.name == "time" and p.value), "")
    half = re.search(r"\s*([ap])\.?m\.?$", former or "", re.IGNORECASE)
    if half and re.fullmatch(r"[\d:]+(?: ?(?:-|to|until) ?[\d:]+)?", detail.value):
        first = int(re.match(r"\d+", detail.value)[0])  # type: ignore[index]
        if first <= 11 and not (first >= 8 and half[1].lower() == "p"):
            return f"{detail.value}{half[0]}"
        if first >= 10:
            return f"{detail.value} {'AM' if first < 12 else 'PM'}"
    return detail.value
