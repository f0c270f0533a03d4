"""What questions for a number or a list are about: a slot that says how many, a list, one sort of it."""

from __future__ import annotations

import re

from taskloom.agent.language import values
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import PEOPLE_COUNTED, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .giving import Giving
from .resolver import POINTING, content

_PEOPLE = frozenset(words("people person guest cover player attendee participant number count seat head pax"))
_OF_PEOPLE = re.compile(
    r"\b(?:we|us|people|persons?|folks?|ppl|heads?|headcount|guests?|kids|coming|attending|going|joining"
    r"|turning up|signed up)\b",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(
    r"\b(?:another|(\w+) (?:more|extra|additional)|an (?:extra|additional))"
    r"\s+(?:guests?|persons?|people|heads?|seats?)\b",
    re.IGNORECASE,
)


class Counting(Giving):
    """Numbers that are asked for."""

    def _one_more_of(self, clause: Clause) -> bool:
        """Whether a clause counts people up whose number the plan says: 'one more guest is coming'."""
        found = _ONE_MORE.search(clause.text) if clause.act in ("add", "task", "set", "shift") else None
        topic = self.topic() if found is not None else None
        if found is None or topic is None or clause.all("P"):
            return False
        parts = self.graph.parts(self.graph.root(topic.id).id)
        counted = [
            part for part in parts if part.name in PEOPLE_COUNTED and values.number_of(part.value or "")
        ]
        if len(counted) != 1:
            return False
        number = values.number_of(found[1] or "") or 1
        self._act("shift", task=counted[0].id, value=f"+{number}")
        return True

    def _many_asked(
        self, clause: Clause, kind: str, name: str, node: TaskNode | None, slot: str | None
    ) -> tuple[str, TaskNode | None, str | None]:
        """What a question for a list or a number is about: the number that a slot says, a list, a plan."""
        if kind == "count" and (sort := self._sort_counted(clause, node)) is not None:
            return kind, *sort
        if kind == "count" and node is not None and name and (amount := self._amount_of(node)) is not None:
            kind, node, slot = "value", amount, None
        elif slot is None and name and (node is None or not self.listed(node)):
            whole = self.place(clause) or self.topic()
            if whole is not None and (node is None or node.parent is not None):
                node, slot = self.graph.root(whole.id), name
        if kind == "count" and (counted := self._people_counted(name, node)) is not None:
            return "value", counted, None
        return kind, node, slot

    def _sort_counted(self, clause: Clause, node: TaskNode | None) -> tuple[TaskNode, str] | None:
        """A whole that holds things of several sorts, with the sort that is counted: guests, not shopping.

        That which the words name, or people where these are asked for.
        """
        base = node if node is not None and not is_slot(node) else self.topic()
        if base is None:
            return None
        said = set(content(clause.text))
        for whole in dict.fromkeys((base, self.graph.root(base.id))):
            held = [
                part for part in self.graph.parts(whole.id) if not is_slot(part) and not is_assignee(part)
            ]
            sorts = list(dict.fromkeys(map(bare_name, held)))
            named = [sort for sort in sorts if sort != "task" and said & set(words(sort))]
            people = [sort for sort in sorts if is_person(sort)] if _OF_PEOPLE.search(clause.text) else []
            found = named or people
            if len(found) == 1 and (len(sorts) > 1 or people):
                return whole, found[0]
        return None

    def _amount_of(self, node: TaskNode) -> TaskNode | None:
        """The one slot that says how many of a thing there are, which is no list: '5' of 'waders'."""
        if is_slot(node):
            return node if kind_held(node) == "count" else None
        counts = [part for part in self.graph.parts(node.id) if is_slot(part) and kind_held(part) == "count"]
        return counts[0] if len(counts) == 1 and not self.listed(node) else None

    def _people_counted(self, name: str, node: TaskNode | None) -> TaskNode | None:
        """The slot that says how many 'we' are."""
        if name and not set(name.lower().split()) <= POINTING | {"people", "guests"}:
            return None
        base = node or self.topic()
        root = self.graph.root(base.id) if base is not None else None
        parts = self.graph.parts(root.id) if root is not None else ()
        found = [
            part
            for part in parts
            if part.value and set(words(part.title)) & _PEOPLE and values.number_of(part.value)
        ]
        return found[0] if len(found) == 1 else None
