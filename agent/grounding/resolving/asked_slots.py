"""Which slot of a task a question is for: by its name, its kind, or what it was before."""

from __future__ import annotations

import re

from taskloom.agent.grounding.exact_places import says_all
from taskloom.agent.language.typed import kind_of
from taskloom.agent.plan.held import tasks_having
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import has_former, is_person_slot, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .giving import NOUNS
from .plain import words_outside
from .reckoning import Reckoning
from .scoring import content

_ASKED_KINDS = (
    (re.compile(r"\bhow much\b", re.IGNORECASE), ("amount", "count", "duration")),
    (re.compile(r"\bhow many\b", re.IGNORECASE), ("count",)),
    (re.compile(r"\bhow long\b", re.IGNORECASE), ("duration",)),
    (re.compile(r"\b(?:what time|which hour)\b", re.IGNORECASE), ("time",)),
    (re.compile(r"\b(?:what day|which day|what date)\b", re.IGNORECASE), ("date",)),
)

_WHO = re.compile(r"\bwho(?:se|m)?\b", re.IGNORECASE)
_WHAT = re.compile(r"\b(?:what|when|where|which|how)\b", re.IGNORECASE)
_MOVED = (
    (re.compile(r"\b(?:earlier|later|mov\w+|postpon\w+|brought forward)\b", re.IGNORECASE), ("time", "date")),
    (re.compile(r"\b(?:cheaper|dearer|more expensive)\b", re.IGNORECASE), ("amount", "count")),
    (re.compile(r"\b(?:longer|shorter)\b", re.IGNORECASE), ("duration",)),
    (re.compile(r"\b(?:fewer|cut|brought down|reduced)\b", re.IGNORECASE), ("count",)),
)


class AskedSlots(Reckoning):
    """Slots that are asked for."""

    def _having_day(self, day: str, node: TaskNode) -> TaskNode | None:
        """Who of a plan has a day, of whom that is found: the person, or their days."""
        near = (node, self.graph.get(node.parent or "")) if kind_of(day) == "date" else ()
        return next((one for one in near if one is not None and is_person(bare_name(one))), None)

    def _once_named(self, node: TaskNode, slot: str) -> TaskNode | None:
        """The slot of that name, in a task or else in its plan, that was something else before."""
        said = set(content(slot))
        scopes = [self.graph.subtree(whole.id, gone=True)[1:] for whole in (node, self.graph.root(node.id))]
        for scope in (*scopes, tasks_having(self.graph, said)):
            inside = [one for one in scope if is_slot(one) and has_former(one)]
            named = [one for one in inside if said and said <= set(words(one.title))]
            if named:
                return max(named, key=lambda one: (one.active, one.turn))
        return None

    def _elsewhere(self, node: TaskNode, slot: str, *, alone: bool) -> TaskNode:
        """The task that has a slot of that name: the one named, else the only one in its plan.

        alone: no task is named, so that it may also be the only plan that has one.
        """
        said = set(content(slot))
        if any(said & set(words(part.title)) for part in self.graph.subtree(node.id)[1:]):
            return node
        inside = self.graph.subtree(self.graph.root(node.id).id)
        having = [part for part in inside if is_slot(part) and said <= set(words(part.title))]
        if len(having) == 1:
            return self.task_of(having[0])
        if not alone or self._slots_asked(slot, node):
            return node
        plans = [
            plan for plan in self.graph.parts(None) if plan.value is None and self._slots_asked(slot, plan)
        ]
        return plans[0] if len(plans) == 1 else node

    def _once_called(self, name: str) -> TaskNode | None:
        """What had words as its value or title once, and has another one now: 'why not in the marquee'."""
        said = set(content(name))
        once = [
            node for node in self.graph.values()
            if any(said <= set(words(state.value or state.title)) for state in node.history)
        ]  # fmt: skip
        return max(once, key=lambda node: (node.active, node.turn), default=None)

    def _changed_part(self, node: TaskNode, text: str) -> TaskNode | None:
        """The slot of a task that was something else before: the one spoken of, else the last changed."""
        said = set(content(text))
        inside = [part for part in self.graph.subtree(node.id)[1:] if has_former(part)]
        kinds = next((kinds for form, kinds in NOUNS if form.search(text)), None)
        named = [part for part in inside if said & set(words(part.title))]
        if not named and _WHO.search(text) and _WHAT.search(text) is None:
            people = [part for part in inside if is_assignee(part) or is_person_slot(part)]
            return max(people, key=lambda part: part.turn, default=None)  # no hour is who had it before
        fit = [part for part in inside if kinds is not None and kind_held(part) in kinds]
        found = named or fit or [part for part in inside if part.parent == node.id] or inside
        return max(found, key=lambda part: part.turn) if found else None

    def _asked_part(self, node: TaskNode, text: str, *, past: bool) -> TaskNode | None:
        """The slot of a task that a question asks for by its kind: 'how much', 'how many', 'what time'."""
        wanted = next((kinds for form, kinds in _ASKED_KINDS if form.search(text)), None)
        if wanted is None:
            return None
        inside = [
            part
            for part in self.graph.subtree(node.id)[1:]
            if part.value is not None and not is_assignee(part)
        ]
        found = [part for part in inside if kind_held(part) in wanted]
        if past and len(found) > 1:
            found = [part for part in found if part.history] or found
        own = [part for part in found if part.parent == node.id]
        chosen = own or found
        return chosen[0] if len(chosen) == 1 else None

    def _slot_of_kind(self, node: TaskNode, value: str) -> TaskNode:
        """A task; where nothing in it ever was that value, its only slot of the value's kind."""
        kind = kind_of(value)
        held = [p for p in self.graph.parts(node.id) if kind and is_slot(p) and kind_held(p) == kind]
        states = (state for one in self.graph.subtree(node.id, gone=True) for state in one.states())
        if len(held) != 1 or any(says_all(state.value or state.title, value) for state in states):
            return node
        return held[0]

    def _claimed_at(self, node: TaskNode, value: str) -> TaskNode:
        """What a claim is about that names nothing: the topic, or the only slot that ever had the value."""

        def ever(one: TaskNode) -> bool:
            return any(says_all(state.value or state.title, value) for state in one.states())

        if any(map(ever, self.graph.subtree(node.id, gone=True))):
            return node
        saying = [one for one in self.graph.values() if is_slot(one) and ever(one)]
        return saying[0] if len(saying) == 1 else node

    def _never_otherwise(self, node: TaskNode, slot: str) -> TaskNode | None:
        """The slot of just that name in a task that has always been what it is."""
        said = set(content(slot))
        inside = (one for one in self.graph.subtree(node.id)[1:] if is_slot(one))
        named = [one for one in inside if said == set(content(one.title))]
        return named[0] if len(named) == 1 else None

    def _slot_called(self, name: str) -> TaskNode | None:
        """The one slot of what is spoken of that a name means which no task or slot has: 'the headcount'."""
        topic = self.topic()
        for whole in (topic, *self.graph.ancestors(topic.id)) if topic is not None else ():
            found = self._slots_asked(name, whole)
            if found:
                return self.graph[found[0]] if len(found) == 1 else None
        return None

    def _of_asked_kind(self, node: TaskNode, asked: str | None) -> TaskNode | None:
        """The only slot of a task that says when, where the task has none of the name that is asked for."""
        if asked not in ("deadline", "date", "time") or self._slots_asked(asked, node):
            return None
        kind = "time" if asked == "time" else "date"
        held = [one for one in self.graph.parts(node.id) if is_slot(one) and kind_held(one) == kind]
        return held[0] if len(held) == 1 else None

    def _why_asked(self, node: TaskNode, slot: str | None, clause: Clause, *, named: bool) -> TaskNode:
        """What of a task a question for a reason is about: a slot that its words name, or what changed."""
        said = set(content(words_outside(clause, "TW")))
        inside = [one for one in self.graph.subtree(node.id, gone=True)[1:] if one.value is not None]
        if slot is not None and (once := self._once_named(node, slot)) is not None:
            return once
        titled = [one for one in inside if (own := set(content(one.title))) and own <= said]
        direct = [one for one in inside if one.parent == node.id]  # a word of another's value is chance
        valued = [one for one in direct if (held := set(content(one.value or ""))) and held <= said]
        for found in (titled, valued):
            if found:
                return max(found, key=lambda one: (has_former(one), one.turn))
        kinds = next((kinds for form, kinds in _MOVED if form.search(clause.text)), None)
        moved = [one for one in inside if kinds and has_former(one) and kind_held(one) in kinds]
        if moved:
            return max(moved, key=lambda one: one.turn)
        if not named:
            last = (self.graph[key] for key in self.focus if key in self.graph)
            recent = [one for one in last if one.turn == self.view.turn - 1 and one.history]
            if recent:
                return recent[0]
        return node
