"""Answers and questions of the user, on tasks named by id: what they are about, and what of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.agent.language import clarifications, values
from taskloom.agent.language.typed import names_a_type, type_of
from taskloom.agent.language.wording import base, clip
from taskloom.agent.language.words import content, singular, slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import has_former, is_member, is_person_slot
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import CURRENT, DONE, READY, RECKONED, STALE
from taskloom.memory.operations import (
    Check,
    Question,
    QuestionKind,
    names,
)
from taskloom.memory.present import bare_name
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import word_set
from taskloom.memory.words import words as words_in

from .exact_places import WHO_SLOTS, Doubt, Places, means_alike, name_words, says_all
from .workspace import same_value

_OF_A_PERSON = frozenset(("list", "value", "left", "next", "summary", "status", "count"))
_OF_A_WHOLE = frozenset(("left", "next", "summary", "needs", "dependents"))
_WHEN, _WHERE = frozenset(("when", "date")), frozenset(("where", "place"))
_ANYTHING = word_set(
    "item thing detail part point slot value information info data field entry everything task"
)
_CALLED = {"when": "date", "where": "place"}
_TYPES = name_words("date day due when weekday time hour price cost fee length duration how long how much")
"""Words that say of which type a value is, and nothing else of it."""
_PLACES = word_set("place venue location address room destination city town where site hall")


class Asking(Places):
    """What the user answers and asks."""

    def confirmable(self, step: Step) -> list[TaskNode]:
        """The proposed values that a yes or no is about: of the task named, else those proposed last."""
        if step.task is None or step.task not in self.graph:
            return super().confirmable(step)
        return [node for node in self.graph.subtree(step.task) if node.status == "proposed"]

    def _unsure(self, step: Step) -> None:
        if step.asks is not None:
            raise Doubt(step.asks.question, step.asks.options, step.asks.choices)
        question = (step.value or "").strip()
        asked = clarifications.WHAT_DO_YOU_MEAN(words=clip(question or step.text))
        raise Doubt(question if question.endswith("?") else asked)

    def _ask(self, step: Step) -> None:
        asked = step.asked
        if asked is None:
            return
        if asked.value in RECKONED:
            self._check(step, self._reckoned(step, asked.value or ""))
            return
        node = self.at(step.task, "" if step.slot else step.target, gone=True)
        within = self.whole_of(step)
        if asked.value and asked.kind in _OF_A_PERSON and (node is None or node.value is None):
            whole = node or within
            his = tuple(dict.fromkeys(
                key for one in self._wholes(step, whole) for key in self._tasks_of(asked.value, one)
            ))  # fmt: skip
            saying = self._saying_so(asked.value, whole) if asked.kind != "status" else ()
            naming = self._naming(asked.value, ()) if asked.value[:1].isupper() else ()
            if his or (naming and not (saying and asked.kind == "list")):
                kind: QuestionKind = "left" if asked.kind in ("left", "next", "status") else "value"
                self._check(step, Question(kind=kind, tasks=his or naming, about=asked.value))
                return
            if saying:
                self._check(step, Question(kind="value", tasks=saying, about=asked.value))
                return
            if asked.kind == "list" and values.kind_of(asked.value) == "date":
                self._check(step, Question(kind="value", about=asked.value))
                return
        tasks, about, lacking = self._asked_of(step, node or within)
        about = about or (step.target if asked.kind in ("claim", "ever") else "")
        if asked.kind == "before" and len(tasks) == 1 and not has_former(self.graph[tasks[0]]):
            tasks = self._once_otherwise(tasks[0]) or tasks
        more = (item.task for item in step.items if item.task in self.graph)
        tasks = tuple(dict.fromkeys((*tasks, *(key for key in more if key))))
        if asked.kind in _OF_A_WHOLE and len(tasks) == 1 and not self.graph.parts(tasks[0]):
            tasks = (*tasks, *self._naming(self.graph[tasks[0]].title, tasks))
        container = within if node is not None and within is not None and within.id != node.id else None
        if asked.kind in ("claim", "ever") and container is None and len(tasks) == 1:
            held = self.graph[tasks[0]]
            if asked.value and held.value is None and self.graph.parts(held.id) and asked.act is not None:
                container, tasks = held, ()
        told = asked.kind == "status" and bool(tasks) and asked.value not in (DONE, READY, CURRENT, STALE)
        supposed = None if told else asked.value
        question = Question(
            kind=self._answer_kind(asked.kind, step, tasks), tasks=tasks, about=about, value=supposed,
            slot=lacking, act=asked.act, denied=asked.denied, container=container.id if container else None,
            free=asked.free,
        )  # fmt: skip
        self._check(step, question)

    def _reckoned(self, step: Step, how: str) -> Question:
        """A question of count on just the tasks that a step names, with its words."""
        keys = (step.task, *(item.task for item in step.items))
        tasks = tuple(dict.fromkeys(key for key in keys if key is not None and key in self.graph))
        return Question(kind="count", tasks=tasks, about=step.target, value=how)

    def _wholes(self, step: Step, whole: TaskNode | None) -> list[TaskNode | None]:
        """The tasks that are asked about, one or several; None for all there are."""
        beside = (self.graph.get(item.task or "") for item in step.items)
        return [whole, *(one for one in beside if one is not None)]

    def _answer_kind(self, kind: QuestionKind, step: Step, tasks: Sequence[str]) -> QuestionKind:
        """What a question is answered with: of a task that is no list, all that is in it."""
        if kind == "before" and len(tasks) == 1 and self._only_waits(self.graph[tasks[0]]):
            return "needs"
        parts = [part for key in tasks[:1] for part in self.graph.parts(key)]
        mixed = any(part.value is not None and not is_member(part) for part in parts)
        mixed = mixed and not any(is_person_slot(part) for part in parts)
        return "summary" if kind == "list" and step.slot is None and mixed else kind

    def _only_waits(self, node: TaskNode) -> bool:
        """Whether a task was never anything else, and comes after others: those are what is before it."""
        return bool(node.depends_on) and node.value is None and not has_former(node)

    def _check(self, step: Step, question: Question) -> None:
        for key in question.tasks[:1]:
            if self.graph[key].active:
                self.touch(key)
        self.operations.append(Check(said=step.text[:300], question=question))

    def _tasks_of(self, name: str, whole: TaskNode | None) -> tuple[str, ...]:
        """The tasks that somebody is to do, in one task or in all."""
        inside = self.graph.subtree(whole.id) if whole is not None else self.graph.active
        his = tuple(
            one.parent
            for one in inside
            if is_assignee(one) and one.parent and says_all(one.value or "", name)
        )
        if not his:
            return ()
        slots = (one for one in inside if one.value is not None and one.parent and not is_member(one))
        return his + tuple(
            one.id for one in slots if one.parent not in his and same_value(one.value or "", name)
        )

    def _saying_so(self, value: str, whole: TaskNode | None) -> tuple[str, ...]:
        """The tasks that have a slot which says something: those on Friday."""
        inside = self.graph.subtree(whole.id)[1:] if whole is not None else self.graph.active
        slots = (one for one in inside if one.value is not None and says_all(one.value, value))
        return tuple(dict.fromkeys(one.parent for one in slots if one.parent))

    def _once_otherwise(self, key: str) -> tuple[str, ...]:
        """The slot of a task that was changed last, where the task itself was never anything else."""
        slots = [one for one in self.graph.parts(key) if one.value is not None and has_former(one)]
        return tuple(one.id for one in sorted(slots, key=lambda one: -one.turn)[:1])

    def _naming(self, title: str, beside: Sequence[str]) -> tuple[str, ...]:
        """The tasks whose titles have a name of some title in them: those about Otto, who is a rabbit."""
        proper = [word for word in re.findall(r"[^\W\d_]+", title) if word[:1].isupper()]
        others = (node for node in self.graph.active if node.value is None and node.id not in beside)
        return tuple(node.id for node in others if any(names(word, node.title) for word in proper))

    def _asked_of(self, step: Step, node: TaskNode | None) -> tuple[tuple[str, ...], str, str | None]:
        """The tasks that a question is about, the words for it, and the slot that it asks for in vain."""
        if node is None:
            return (), step.slot or step.target, None
        kind = step.asked.kind if step.asked is not None else ""
        sorts = map(bare_name, self.graph.parts(node.id)) if kind in ("list", "count") else ()
        if step.slot is not None and step.slot in sorts:
            return (node.id,), step.slot, None  # of what is in it only one sort
        whole = kind in _OF_A_WHOLE
        if step.slot is None or (whole and slot_name(step.slot) not in WHO_SLOTS):
            return (node.id,), node.title if step.task is None else "", None
        if found := self._slots_asked(step.slot, node):
            other = len(found) == 1 and self._is_another(step.slot, self.graph[found[0]])
            return found, "", step.slot if other else None
        if kind in ("list", "count") and self._may_list(node, step.slot):
            return (node.id,), step.slot, None
        lacking = "who" if slot_name(step.slot) in WHO_SLOTS else _CALLED.get(step.slot, step.slot)
        return (node.id,), "", lacking

    def _may_list(self, node: TaskNode, name: str) -> bool:
        """Whether a task has what a name may be one of many of: things, to-dos, or all that is told of it."""
        parts, asked = self.graph.parts(node.id), {singular(word) for word in slot_name(name).split("_")}
        return bool(asked & _ANYTHING) or any(part.value is None or is_member(part) for part in parts)

    def _slots_asked(self, words: str, node: TaskNode) -> tuple[str, ...]:
        """Ids of the slots of a task, or of its parts, that words ask for; of a day its time too."""
        gone = not node.active  # of what has left, what left with it
        inside = [one for one in self.graph.subtree(node.id, gone=gone)[1:] if gone or one.active]
        name = slot_name(words)
        if name in WHO_SLOTS:
            people = [one.id for one in inside if is_assignee(one)]
            return tuple(people or (one.id for one in inside if is_person_slot(one)))
        if gone:
            return tuple(one.id for one in inside if name_words(words) <= name_words(one.title))
        try:
            held = self.slot_in(node, words)
        except Doubt:
            held = None
        held = held or self.plain_slot(node, words)
        own = [one for one in self.graph.parts(node.id) if one.value]
        timed = [
            one.id for one in own
            if words in _WHEN and "time" in (values.kind_of(one.value or ""), slot_name(one.title))
        ]  # fmt: skip
        if held is not None:
            return tuple(dict.fromkeys((held.id, *timed)))
        if words in _WHEN:
            return tuple(
                one.id for one in inside if one.value and values.kind_of(one.value) in ("date", "time")
            )
        if words in _WHERE:
            return tuple(one.id for one in inside if one.value and name_words(one.title) & _PLACES)
        listed = tuple(one.id for one in inside if base(one.slot) in (singular(name), name))
        found = listed or tuple(one.id for one in self._typed(words, node))
        return found or tuple(one.id for one in own if means_alike(one.title, words))

    def _is_another(self, name: str, slot: TaskNode) -> bool:
        """Whether a slot that is named only by its type may be another one than asked for: no stop time."""
        if slot.value is None or not names_a_type(slot.title) or is_assignee(slot):
            return False
        above = [slot, *self.graph.ancestors(slot.id)]
        held = [*above, *(part for one in above[1:] for part in self.graph.parts(one.id) if part.value)]
        known = {word for one in held for word in words_in(f"{one.title} {one.value or ''} {one.slot}")}
        asked = [word for word in content(name) if word not in known and not names_a_type(word)]
        return bool(asked) and len(asked) < len(content(name))

    def _typed(self, name: str, node: TaskNode) -> list[TaskNode]:
        """The one slot of a task that is of the type a name says and no more: 'due' for its deadline."""
        kind = type_of(name, "") if name_words(name) <= _TYPES else None
        slots = [one for one in self.graph.parts(node.id) if one.value and not is_assignee(one)]
        named = [one for one in slots if kind and type_of(one.title, "") == kind]
        held = named or [one for one in slots if kind and values.kind_of(one.value or "") == kind]
        return held if len(held) == 1 else []
