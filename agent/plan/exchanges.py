"""One thing in the place of another: replace, swap, the same as elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taskloom.agent.exact_places import Doubt
from taskloom.agent.finding import is_member, slot_name
from taskloom.agent.interpreter import Detail
from taskloom.agent.outline import is_assignee
from taskloom.agent.reading.clauses import Clause
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .giving import ME, Giving
from .plain import one
from .resolver import bare, content
from .typed import kind_of

_OF_SLOTS = ("date", "time", "place", "who", "deadline", "price", "length", "number")


class Exchanges(Giving):
    """What takes the place of something."""

    def _read_same(self, clause: Clause) -> None:
        """A value as another task has it: 'lunch at the same time as the dinner'."""
        node = self.meant(one(clause, "T"), slots=True)
        words_of = re.sub(r"^(?:at|on|the|same|as|in)\s+", "", one(clause, "C"))
        other = self.which(re.sub(r"^.*?\b(?:as|with|for)\b", "", words_of).strip() or words_of, slots=True)
        if node is None or other is None:
            raise Doubt(f"What do you mean by “{one(clause, 'C')}”?")
        if other.value is None:
            wanted = next((slot for slot in _OF_SLOTS if slot in clause.text.lower()), None)
            held = [
                part for part in self.graph.parts(other.id) if part.value is not None and not is_member(part)
            ]
            fit = [
                p
                for p in held
                if wanted and (slot_name(p.title) == wanted or kind_of(p.value or "") == wanted)
            ]
            if len(fit or held) != 1:
                raise Doubt(f"What of {self.describe(other)} do you mean?")
            other = (fit or held)[0]
        told = Detail(slot=slot_name(other.title), value=other.value or "")
        self._act("set", task=self.task_of(node).id, details=(told,))

    def _read_replace(self, clause: Clause) -> None:
        old, new = one(clause, "OTX"), one(clause, "VIP")
        others = clause.all("V")
        if len(others) > 1 and clause.all("O"):
            fit = [v for v in others if kind_of(v.text) == kind_of(old)]
            chosen = fit[0] if fit else others[0]
            rest = tuple(v for v in others if v is not chosen)
            plain = replace(clause, act="set", mentions=(*clause.all("TW"), *rest))
            clause = replace(clause, mentions=tuple(m for m in clause.mentions if m not in rest))
            new = bare(chosen.text)
            self.read(plain)
        if not old and new:
            self._instead(clause, new)
            return
        node = self.which(old, slots=True, within=self.place(clause)) if old else None
        node = node or (self.which(old, slots=True) if old else None)
        if node is None and one(clause, "T") and one(clause, "T") != old:
            node = self.meant(one(clause, "T"), slots=True)
        if node is None:
            raise Doubt(f"I do not find “{old}” in the plan. What should {new} take the place of?")
        if node.value is None and self.graph.parts(node.id) and not one(clause, "OX"):
            self._act("set", task=node.id, value=new)
            return
        self._act("replace", task=node.id, old=old, value=new)

    def _instead(self, clause: Clause, new: str) -> None:
        """Something in the place of what was spoken of: a person for who has it, a value for its like."""
        topic = self.topic()
        if topic is None:
            raise Doubt(f"What should {new} take the place of?")
        person = bool(clause.all("P")) or new.lower() in ME or (kind_of(new) is None and new.istitle())
        if person and any(is_assignee(part) for part in self.graph.parts(topic.id)):
            self._act("set", task=topic.id, details=(Detail(slot="who", value=self._person(new)),))
            return
        told = Detail(slot=self._slot_for(new, ""), value=new)
        slot = self._same_value(topic, told, replace(clause, text=f"instead {clause.text}"))
        if slot is None:
            raise Doubt(f"What should {new} take the place of?")
        self._act("set", task=slot.id, value=new)

    def _read_swap(self, clause: Clause) -> None:
        names, near = [bare(span.text) for span in clause.all("TPVIO")][:2], self._near()
        both: list[TaskNode] = []
        for name in names:
            own = [
                node
                for node in self.graph.active
                if node.value and set(content(name)) <= set(words(node.value))
            ]
            both += sorted(own, key=lambda node: near.get(node.id, 99))[:1]
        if len(both) == 2 and both[0].id != both[1].id:
            one_slot, other = both
        else:
            one_slot, other = self._same_slots([self.which(name) for name in names], one(clause, "S"))
        first, second = one_slot.value, other.value
        self._act("set", task=one_slot.id, value=second)
        self._act("set", task=other.id, value=first)

    def _same_slots(self, tasks: Sequence[TaskNode | None], name: str) -> tuple[TaskNode, TaskNode]:
        """The slot that two tasks change: the one named, the only one both have, else who has them."""
        if len(tasks) == 2 and tasks[0] is not None and tasks[1] is not None:
            pairs = [
                (one_part, other)
                for one_part in self.graph.parts(tasks[0].id)
                for other in self.graph.parts(tasks[1].id)
                if one_part.value and other.value and slot_name(one_part.title) == slot_name(other.title)
            ]
            named = [pair for pair in pairs if set(content(name)) & set(words(pair[0].title))] if name else []
            who = [pair for pair in pairs if is_assignee(pair[0])]
            found = named or (pairs if len(pairs) == 1 else who)
            if len(found) == 1:
                return found[0]
        raise Doubt("Which two should change places?")
