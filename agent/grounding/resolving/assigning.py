"""Who has something, and who has it from now on."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.words import infinitive
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.memory.tasks import TaskNode

from .owning import Owning
from .plain import asked_of, right_before
from .resolver import NAMED, POINTING, SURE, bare

_WORK_OF = re.compile(
    r"(?:all (?:of )?)?(\w+)['’]s (?:part|share|half|bit|work|tasks?|jobs?|shifts?|duties|turn)",
    re.IGNORECASE,
)


_VERB_OF_HIS = re.compile(r"[a-z]{2,}s", re.IGNORECASE)
_OF_THINGS = re.compile(r"(?:the|an?|my|our|your|his|her|their|its|all|both|some|two|three)\s", re.IGNORECASE)


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
        clause = _with_verbs(clause)
        whole, people = self.place(clause), self._people(clause)
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
            found = [self.meant(name, within=whole) or self._or_new(name, whole) for name in names]
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
                self._act("set", task=target.id, details=tuple(people))
            for told in self._details(clause):
                self._set_one(target, told, clause, named=bool(clause.all("S")))

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
