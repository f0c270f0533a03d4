"""What questions for a number or a list are about: a slot that says how many, a list, one sort of it."""

from __future__ import annotations

import re

from taskloom.agent.language import values
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import PEOPLE_COUNTED, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .giving import Giving
from .scoring import bare, content

_OF_PEOPLE = re.compile(
    r"\b(?:we|us|people|persons?|folks?|ppl|heads?|headcount|guests?|kids|coming|attending|going|joining|invited"
    r"|turning up|signed up)\b",
    re.IGNORECASE,
)
_WHO_COMES = re.compile(
    r"\bwho\b.*\b(?:com(?:es?|ing)|attend(?:s|ing)?|going|invited|join(?:s|ing))\b", re.IGNORECASE
)
_ONE_MORE = re.compile(
    r"\b(?:another|(\w+) (?:more|extra|additional)|an (?:extra|additional))"
    r"\s+(?:guests?|persons?|people|heads?|seats?)\b",
    re.IGNORECASE,
)


TOGETHER = re.compile(
    r"\b(?:(?:al)?together|in all|in total|totals?|all in|overall|combined|sum|adds? up|comes? to(?=\W*$))\b",
    re.IGNORECASE,
)
_OF_MONEY = re.compile(
    r"\b(?:costs?|prices?|pay(?:ing)?|spen[dt]|much|expensive|bill|money|euros?|dollars?|quid"
    r"|comes? to(?=\W*$))\b",
    re.IGNORECASE,
)
_BOUNDS = frozenset(words("budget limit maximum max target goal"))
_HOW_MANY = frozenset(("number", "quantity", "count", "amount"))
_PRICES = frozenset(words("price cost fee rate rent charge wage deposit"))


class Counting(Giving):
    """Numbers that are asked for."""

    def _summed(self, clause: Clause) -> list[TaskNode]:
        """The slots whose sum a question asks for: the prices of what it names, or the numbers of a noun.

        [] where it asks for no sum, or there is nothing to add up.
        """
        if not TOGETHER.search(clause.text):
            return []
        spans = [span for span in clause.all("TW") if not self.says_all(span.text)]
        found = [(self.which(bare(span.text)), set(content(span.text))) for span in spans]
        named = [
            one
            for one, said in found
            if one is not None and not is_slot(one) and said & set(words(one.title))
        ]
        topic = self.topic()
        tops = named or ([self.graph.root(topic.id)] if topic is not None else [])
        inside = [one for top in tops for one in self.graph.subtree(top.id)[1:] if is_slot(one)]
        numbered = [one for one in inside if values.number_of(one.value or "") is not None]
        if _OF_MONEY.search(clause.text):
            held = [one for one in numbered if kind_held(one) == "amount" or set(words(one.title)) & _PRICES]
            held = [one for one in numbered if one in held or (held and slot_name(one.title) == "number")]
        else:
            said = set(content(clause.text))
            held = [one for one in numbered if kind_held(one) == "count" and said & set(words(one.title))]
        held = [one for one in held if not set(words(one.title)) & _BOUNDS]
        return held if len(held) > 1 else []

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

    def _list_of_sort(
        self, clause: Clause, name: str, node: TaskNode | None, slot: str | None
    ) -> tuple[TaskNode | None, str | None]:
        """What a question for a list is about: people where it asks who comes, else the list of a name."""
        if _WHO_COMES.search(clause.text) and (sort := self._sort_counted(clause, node)) is not None:
            return sort
        if slot is None and name and (node is None or not self.listed(node)):
            whole = self.place(clause) or self.topic()
            if whole is not None and (node is None or node.parent is not None):
                return self.graph.root(whole.id), name
        return node, slot

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
        """The one slot that says how many of a thing there are: '5' of 'waders'.

        Of what holds a list only one that is called so: the number of the hampers, which have steps.
        """
        if is_slot(node):
            return node if kind_held(node) == "count" else None
        counts = [part for part in self.graph.parts(node.id) if is_slot(part) and kind_held(part) == "count"]
        if self.listed(node):
            counts = [part for part in counts if slot_name(part.title) in _HOW_MANY]
        return counts[0] if len(counts) == 1 else None
