"""Which task or slot words mean, by name or as what is spoken of. Used by every act and question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.values import duration_of
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD
from taskloom.agent.plan.held import slots_saying, stems_in, tasks_named, tasks_with_stem
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import WEIGHTS, kind_held, share_named, topic_of
from taskloom.memory.actions import is_action
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .scoring import POINTING, Scoring, content

_ORDINALS = {
    word: number
    for number, names in enumerate(("first 1st former", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"))
    for word in names.split()
} | {"last": -1, "latter": -1}
_THERE = re.compile(r"\b(?:there|for (?:that|it)|(?:in|with) it)\b", re.IGNORECASE)
_OF_ANY_PLAN = frozenset(
    words(
        """date day appointment meeting event booking reservation duration length stay deadline schedule plan
        size total sum number quantity portion party group trip everything all both lot rest thing stuff
        whole"""
    )
)
"""What may be said of any plan, or of any of its values."""
_EVENTS = frozenset(words("party event celebration do bash trip journey holiday vacation meeting gathering"))
"""Words for what a plan is for, whatever it is called."""
_MOVED_BY = {"count": ("count", "amount"), "amount": ("amount", "count")}
"""What kinds of values an amount of a kind changes."""


class Resolver(Scoring):
    """Finds what words mean in the plan as it is, also where they only point."""

    def topic(self) -> TaskNode | None:
        """What is spoken of where nothing is named, by all signs of `topic`.

        After a message that was not taken in: the plan that it named.
        """
        if self.told_of in self.graph and (not self.operations or self._is_about(self.focus[:1])):
            return self.graph[self.told_of]
        if self.framed in self.graph and not self.operations:
            return self.graph[self.framed]
        if not self.operations and (missed := self._named_in_vain()) is not None:
            return missed
        if not self.operations and (asked := self._part_asked_about()) is not None:
            return asked
        before, reply = self.view.exchanges[-1] if self.view.exchanges else ("", "")
        if not reply and self.view.question is not None:
            reply = self.view.question.question
        turn = self.view.turn
        now = [key for key in self.focus if key in self.graph and self.graph[key].turn == turn]
        clause = self.clause
        plain = clause is not None and not clause.all("S")  # the 'bank phone' is no 'library phone'
        kinds = {kind_of(one.text) for one in clause.all("V")} if clause is not None and plain else set()
        given = (
            tuple(self.focus), tuple(now if self.operations else ()), (before, reply),
            clause.text if clause is not None else "", frozenset(kind for kind in kinds if kind is not None),
        )  # fmt: skip
        assigns = clause is not None and clause.act == "assign"
        which = "later" if self.operations else "asked" if reply.rstrip().endswith("?") else "told"
        values = " ".join(one.text for one in clause.all("V")) if clause is not None else ""
        if clause is not None and clause.act in ("merge", "split", "only"):
            values = clause.text  # 'Dexter's no lift, it is all Grace' leaves the lift campaign as it is
        key = (id(self.graph), given, which, assigns, values)
        if key not in self.memo.topic:
            self.memo.topic[key] = (
                self.graph,
                topic_of(self.graph, *given, WEIGHTS[which], assigns=assigns, values=values),
            )
        found = self.memo.topic[key][1]
        if found is None:
            return None
        told = self._part_told(self.graph[found], kinds, reply) if which == "told" else None
        return told or self.graph[found]

    def _part_told(self, plan: TaskNode, kinds: Collection[str | None], reply: str) -> TaskNode | None:
        """The one part of a plan of which the reply told a value that a clause may change.

        'ISO audit file is open, due 15 June.' 'It is extended by a week': the file. None where what the reply
        told is of the plan itself, or of several.
        """
        act, heard = self.clause.act if self.clause is not None else "", set(words(reply))
        if plan.parent is not None or act not in ("set", "shift"):
            return None
        fit = {kind for kind in kinds if kind != "count"}  # of a bare number there is no telling
        if act == "shift":
            fit = {one for kind in kinds for one in _MOVED_BY.get(kind or "", ())}
            for span in self.clause.all("V") if self.clause is not None else ():
                if (length := duration_of(span.text)) is not None:  # 'a week later' is of a day, of no hour
                    fit = {"duration", "date" if length.days else "time"}
        told = {
            slot.parent or ""
            for word in heard
            for slot in slots_saying(self.graph, word)
            if (kind := kind_held(slot)) is not None and kind in fit and stems_in(slot).value <= heard
        }
        parts = [self.graph[key] for key in told if self.graph.root(key).id == plan.id]
        return parts[0] if len(parts) == 1 and parts[0].id != plan.id else None

    def _part_asked_about(self) -> TaskNode | None:
        """The one part of a plan that the question before named, for what is told of it: 'half done'."""
        before = self.view.exchanges[-1][0] if self.view.exchanges else ""
        act = self.clause.act if self.clause is not None else ""
        if not before.rstrip().endswith("?") or act not in ("set", "shift", "done", "assign"):
            return None
        said = set(content(before))
        named = [
            node for node in tasks_named(self.graph, said)
            if node.parent is not None and not is_slot(node) and share_named(node.title, said) > 0.99
        ]  # fmt: skip
        return named[0] if len(named) == 1 else None

    def _is_about(self, keys: Sequence[str]) -> bool:
        return all(key in self.graph and self.graph.root(key).id == self.told_of for key in keys)

    def _named_in_vain(self) -> TaskNode | None:
        """The one plan that the message before named in full, where it was not taken in."""
        before, reply = self.view.exchanges[-1] if self.view.exchanges else ("", "")
        if NOT_UNDERSTOOD not in reply and DID_YOU_MEAN not in reply:
            return None
        said = set(content(before))
        plans = [node for node in tasks_named(self.graph, said) if node.parent is None and node.value is None]
        named = [
            node for node in plans
            if share_named(node.title, said) > 0.99
            or len(said & (stems_in(node).own | self._owned(node))) > 1
        ]  # fmt: skip
        most = max((share_named(node.title, said) for node in named), default=0.0)
        best = [node for node in named if share_named(node.title, said) == most]
        return best[0] if len(best) == 1 else None

    def spoken_there(self) -> TaskNode | None:
        """Where something goes 'there': the part of a plan that changed last, if the reply names it."""
        if (
            self.clause is None
            or self.operations
            or not self.view.exchanges
            or not _THERE.search(self.clause.text)
        ):
            return None
        heard = words(self.view.exchanges[-1][1])
        lately = (self.task_of(self.graph[key]) for key in self.focus[:6] if key in self.graph)
        named = (
            node for node in lately
            if node.active and node.parent and node.turn == self.view.turn - 1
            and share_named(node.title, heard) > 0.99
        )  # fmt: skip
        return next(named, None)

    def list_left(self, name: str) -> TaskNode | None:
        """The list that 'it' is where the turn before took something out of just one."""
        if self.operations or name.lower() not in ("it", "that", "there"):
            return None
        left = [
            node for key in self.focus
            if (node := self.graph.get(key)) is not None and not node.active and is_member(node)
            and node.turn == self.view.turn - 1 and not is_slot(node)
        ]  # fmt: skip
        lists = {node.parent for node in left}
        whole = self.graph.get(next(iter(lists)) or "") if len(lists) == 1 else None
        return whole if whole is not None and whole.active else None

    def whole_spoken_of(self) -> TaskNode | None:
        """The topic; where this is a list in a task, the task: a list has no slots and no lists in it."""
        topic = self.topic()
        while topic is not None and topic.parent and self._is_plain_list(topic):
            topic = self.graph[topic.parent]
        return topic

    def _is_plain_list(self, node: TaskNode) -> bool:
        parts = self.graph.parts(node.id)
        members = bool(parts) and all(is_member(part) and not is_assignee(part) for part in parts)
        return node.value is None and (members or "list" in words(node.title))

    def task_of(self, node: TaskNode) -> TaskNode:
        """The task that a slot is of; any other is its own."""
        return self.graph[node.parent] if is_slot(node) and node.parent else node

    def resolve(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """What words mean; without words, or with a pronoun, the topic; 'the second' of what is listed."""
        said = mention.lower().split()
        if not said or set(said) <= POINTING:
            return within or self.topic()
        kinds = set(said) - {"the", "one", "item", "task", "thing", "step", "part", "point"}
        if len(kinds) == 1 and (rank := _ORDINALS.get(next(iter(kinds)))) is not None:
            base = within or self.topic()
            listed = self.listed(base) if base is not None else []
            if not listed and base is not None:
                listed = self.beside(base)
            if listed and rank < len(listed):
                return listed[rank]
        if kinds == {"other"} and (topic := self.topic()) is not None:
            others = [node for node in self.beside(topic) if node.id != topic.id]
            if len(others) == 1:
                return others[0]
        found = self.which(mention, slots=slots, gone=gone, within=within)
        if found is None and said[0] in ("whole", "entire") and len(said) > 1:
            return self.which(" ".join(said[1:]), slots=slots, gone=gone, within=within)
        return found or (self._event(mention) if gone is False and within is None else None)

    def _event(self, mention: str) -> TaskNode | None:
        """The plan that a word for any event means, where there is just one that is no mere thing to do."""
        if not set(content(mention)) <= _EVENTS or not self.is_known(mention):
            return None
        plans = [node for node in self.graph.parts(None) if not is_action(node.title)]
        dated = [
            node for node in plans if any(kind_held(part) == "date" for part in self.graph.parts(node.id))
        ]
        return dated[0] if len(dated) == 1 else None

    def lacks(self, mention: str) -> bool:
        """Whether words name something of which nothing is in any plan: none of them, and no value."""
        said = set(content(mention)) - POINTING - _OF_ANY_PLAN
        named = (node for word in said for node in tasks_with_stem(self.graph, word))
        return bool(said) and not any(node.active for node in named)

    def beside(self, node: TaskNode) -> list[TaskNode]:
        """What stands in the same list as a task, with it; the plans for a plan."""
        return self.listed(self.graph[node.parent]) if node.parent else list(self.graph.parts(None))

    def listed(self, whole: TaskNode, *, gone: bool = False) -> list[TaskNode]:
        """The tasks and members in a task, without its slots and who has it."""
        parts = self.graph.parts(whole.id, gone=gone)
        return [node for node in parts if (is_member(node) or node.value is None) and not is_assignee(node)]
