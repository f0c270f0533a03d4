"""Who has something, and who has it from now on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.wording import entries, join
from taskloom.agent.language.words import infinitive
from taskloom.agent.plan.held import slots_saying, tasks_named
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.topic import share_named
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Detail
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import WEEKDAYS

from .owning import Owning
from .plain import asked_of, items_of, one, right_before
from .scoring import NAMED, POINTING, SURE, bare, content

_WORK_OF = re.compile(
    r"(?:all (?:of )?)?(\w+)['’]s (?:part|share|half|bit|work|tasks?|jobs?|shifts?|duties|turn)",
    re.IGNORECASE,
)

_HELPS = re.compile(
    r"\b(?:help(?:s|ing)?|assist(?:s|ing)?|joins? in|lends? (?:a|\w+ a) hand)\b", re.IGNORECASE
)
_POINTS_AT_ONE = re.compile(r"it|that|this|them|those", re.IGNORECASE)
_SEVERAL = frozenset(("them", "these", "those", "they"))
_VERB_OF_HIS = re.compile(r"[a-z]{2,}s", re.IGNORECASE)
_OF_THINGS = re.compile(r"(?:the|an?|my|our|your|his|her|their|its|all|both|some|two|three)\s", re.IGNORECASE)


_DAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


def _is_name(text: str) -> bool:
    """Whether words may be somebody's name: 'Holger', 'Uncle Baz', and no day."""
    return text[:1].isupper() and len(text.split()) < 4 and kind_of(text) is None


def _with_verbs(clause: Clause) -> Clause:
    """A clause whose things have the verb before them: 'Nina packs the kitchen' is 'pack the kitchen'."""
    kept = list[Mention]()
    for span in clause.mentions:
        verb = kept[-1] if kept and kept[-1].role == span.role == "T" else None
        who = kept[-2] if verb is not None and len(kept) > 1 else None
        if (
            verb is not None and who is not None and who.role == "P"
            and _VERB_OF_HIS.fullmatch(verb.text) and _OF_THINGS.match(span.text)
            and right_before(clause, who, verb) and right_before(clause, verb, span)
        ):  # fmt: skip
            kept[-1] = replace(verb, text=f"{infinitive(verb.text)} {span.text}")
        else:
            kept.append(span)
    return replace(clause, mentions=tuple(kept))


class Assigning(Owning):
    """People and what they do."""

    def _read_assign(self, clause: Clause) -> None:
        if not clause.all("P") and clause.all("V"):  # 'not Ann, Bo has the cake': who is no old value
            names_of = [one for one in clause.all("V") if _is_name(one.text)]
            spans = (replace(one, role="P") if one in names_of else one for one in clause.mentions)
            clause = replace(clause, mentions=tuple(spans))
        clause = self._with_days(_with_verbs(clause))
        whole, people = self.place(clause), self._people(clause)
        if len({who.value for who in people}) == 1 and self._on_days(clause, people[0].value, whole):
            return
        names = [bare(span.text) for span in clause.all("T") or clause.all("I")]
        if names and people and (theirs := self._work_of(names[0])):
            for slot in theirs:
                self._act("set", task=slot.id, value=people[0].value)
            return
        if not names or self.says_all(names[0]):
            topic = whole or (self._asked_who() if not names else None) or self.topic()
            if topic is None:
                raise Doubt("What is that for?")
            found = self._untaken(self._all_of(names[0], whole, gone=False), names[0]) if names else [topic]
        else:
            found = self._made_together(names) or [self._to_give(name, whole, clause) for name in names]
        excepted = [self.which(bare(span.text)) for span in clause.all("E")]
        excepted += [above for node in found for above in self.graph.ancestors(node.id) if len(names) > 1]
        for node in found:
            if node in excepted:
                continue
            target = self.task_of(node)
            if people and not names and target.id in self.given:
                raise Doubt(f"What does {people[0].value} do?")
            if people:
                self.given.add(target.id)
                all_ = self._with_others(target, people) if _HELPS.search(clause.text) else people
                self._act("set", task=target.id, details=tuple(all_))
            for told in self._details(clause):
                self._set_one(target, told, clause, named=bool(clause.all("S")))

    def _with_others(self, task: TaskNode, people: Sequence[Detail]) -> list[Detail]:
        """Those who help with a task, beside those who have it already."""
        held = [
            one
            for part in self.graph.parts(task.id)
            if is_assignee(part)
            for one in entries(part.value or "")
        ]
        names = list(dict.fromkeys((*held, *(who.value for who in people))))
        return [Detail(slot="who", value=join(names, limit=len(names)))]

    def _with_days(self, clause: Clause) -> Clause:
        """A clause in which days that nothing in the plan is called are when somebody has something."""
        spans = (
            replace(one, role="V") if one.role in "TI" and self._is_day(one.text) else one
            for one in clause.mentions
        )
        return replace(clause, mentions=tuple(spans))

    def _is_day(self, words_of: str) -> bool:
        """Whether words are a day, or several, that nothing in the plan is called."""
        return _DAY.search(words_of) is not None and self.which(bare(words_of)) is None

    def _on_days(self, clause: Clause, person: str, whole: TaskNode | None) -> bool:
        """Whether somebody has days of a plan among others: 'Gemma is on Monday, Sunita on Wednesday'."""
        spans, named = clause.all("V"), clause.all("TI")
        if (held := self._day_of_another(named)) is not None:
            before, day = held
            if before.parent is None or self.graph[before.parent].title.lower() == person.lower():
                return True
            plan = self.graph[before.parent].parent
            self._set_days(before.parent, plan, [one for one in entries(before.value or "") if one != day])
            self._set_days(person, plan, [*self._days_of(person, plan), day])
            return True
        if named or clause.all("S") or not spans or any(kind_of(one.text) != "date" for one in spans):
            return False
        topic = whole or self.topic()
        if topic is None or len(_DAY.findall(self.said)) < 2:
            return False
        above = self._above_people(self.task_of(topic)) or topic
        self._set_days(person, above.id, [day for one in spans for day in entries(bare(one.text))])
        return True

    def _day_of_another(self, named: Sequence[Mention]) -> tuple[TaskNode, str] | None:
        """The day of a plan that is named, as it stands in what somebody has there: the slot, and the day."""
        said = bare(named[0].text).lower() if len(named) == 1 and kind_of(named[0].text) == "date" else ""
        found = [
            (slot, day)
            for slot in self.graph.active
            if said and slot.parent and is_person(bare_name(self.graph[slot.parent]))
            for day in entries(slot.value or "") if day.lower() == said
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _days_of(self, person: str, plan: str | None) -> list[str]:
        """The days that somebody has in a plan."""
        own = self._member(person, plan)
        held = (part for part in self.graph.parts(own.id) if part.name == "date") if own is not None else ()
        return [day for part in held for day in entries(part.value or "")]

    def _member(self, person: str, plan: str | None) -> TaskNode | None:
        inside = self.graph.parts(plan)
        return next((one for one in inside if person in (one.id, one.title)), None)

    def _set_days(self, person: str, plan: str | None, days: Sequence[str]) -> None:
        """Give somebody in a plan just these days; who has none left is not in it any more."""
        own = self._member(person, plan)
        if not days:
            if own is not None:
                self._act("remove", task=own.id)
            return
        if own is None:
            self._act("add", within_task=plan, items=items_of([person], kind="participant"))
            own = self._member(person, plan)
        if own is not None:
            told = Detail(slot="date", value=join(days, limit=len(days)))
            self._act("set", task=own.id, details=(told,))

    def _to_give(self, name: str, whole: TaskNode | None, clause: Clause) -> TaskNode:
        """What somebody gets by its name, made where there is none."""
        known = self._just_added(name) or self.resolve(name, within=whole)
        topic = self.topic() if known is None and whole is None else None
        made = topic is not None and topic.id in self.new and topic.id in self.given
        beside = topic if made and topic is not None and not self.listed(topic) else None
        return self._no_slot(known or self._found_or_new(None, name, whole, beside), name, clause)

    def _just_added(self, name: str) -> TaskNode | None:
        """The one item that this message added last, where 'that' follows it: 'a letter, I write that'.

        So is what something waits for that it made: 'the permit has to be there. Nadia chases it.'
        """
        last = self.steps[-1] if self.steps else None
        if last is not None and last.act == "need" and _POINTS_AT_ONE.fullmatch(name):
            on = self.graph.get((last.items[0].task or "") if last.items else "")
            return on if on is not None and on.id in self.new and on.value is None else None
        if last is None or last.act != "add" or len(last.items) != 1 or not _POINTS_AT_ONE.fullmatch(name):
            return None
        made = self.graph.get(next(iter(self.focus), ""))
        return made if made is not None and made.id in self.new and made.value is None else None

    def _made_together(self, names: Sequence[str]) -> list[TaskNode]:
        """What 'them' are: several that came into a list in the turn before and that the reply names."""
        if len(names) != 1 or names[0].lower() not in _SEVERAL or self.operations or not self.view.exchanges:
            return []
        heard = set(content(self.view.exchanges[-1][1]))
        made = [
            node for node in tasks_named(self.graph, heard)
            if node.turn == self.view.turn - 1 and not node.history and share_named(node.title, heard) > 0.99
        ]  # fmt: skip
        return made if len(made) > 1 and len({node.parent for node in made}) == 1 else []

    def _no_slot(self, node: TaskNode, name: str, clause: Clause) -> TaskNode:
        """What somebody gets; a slot of that name is none: 'Ines takes her station' is no 'station count'.

        It is what who leaves it (O) had, else a step of that name, in the task of the slot.
        """
        if node.value is None or node.parent is None or is_assignee(node):
            return node
        if set(name.lower().split()) <= POINTING:
            return node
        old = set(content(one(clause, "O")))
        his = [slot for word in list(old)[:1] for slot in slots_saying(self.graph, word)]
        his = [slot for slot in his if is_assignee(slot) and old == set(content(slot.value or ""))]
        if len(his) == 1:
            return self.graph[his[0].parent or ""]
        return self._create(name, node.parent) if set(content(name)) == set(content(node.title)) else node

    def _work_of(self, name: str) -> list[TaskNode]:
        """Who has something where all of somebody's is meant: "Omar's part", "all of Ana's tasks"."""
        found = _WORK_OF.fullmatch(name)
        return [
            node for node in self.graph.active
            if found is not None and is_assignee(node) and (node.value or "").lower() == found[1].lower()
        ]  # fmt: skip

    def _asked_who(self) -> TaskNode | None:
        """What the assistant just asked who has it: 'Who takes the attic?'; made where there is none yet."""
        asked = asked_of(self.view.exchanges[-1][1]) if self.view.exchanges and not self.operations else ""
        if not asked or set(asked.lower().split()) <= POINTING:
            return None
        found = self.best(asked)
        if found is not None and found.named > NAMED and found.score > SURE:
            return self.task_of(found.node)
        return self._or_new(asked, None)
