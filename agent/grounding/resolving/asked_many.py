"""Questions of what there is in a plan: what is done, what somebody has, what is on a day, which lists."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.grounding.exact_places import says_all
from taskloom.agent.language import values
from taskloom.agent.language.typed import kind_of
from taskloom.agent.plan.held import slots_saying, tasks_having
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Asked
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode

from .asked_slots import AskedSlots
from .plain import one
from .scoring import POINTING, content

OF_MANY = ("list", "left", "next", "summary", "status")
"""The kinds of questions that may be about all there is."""
_WHAT_IS_DONE = re.compile(
    r"\W*(?:(?:and|so|ok|okay|right|remind me|tell me|show me|list)\W+)*(?:what|which|anything|everything)\b"
    r".*\b(?:done|finished|completed|ticked off)\b",
    re.IGNORECASE | re.DOTALL,
)
_NOT_DONE = re.compile(
    r"\b(?:not|still|left|to be|to get|needs?|should|must|ha(?:ve|s) to|next|yet to|after|once|when)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)

_WHO_COMES = re.compile(
    r"\W*(?:(?:and|so|ok|okay|remind me|tell me)\W+)*who(?:['’]?s| is| are| all is)?(?: all)?"
    r" (?:coming|going|invited|joining|on the list)\b",
    re.IGNORECASE,
)
_WHO_IS = re.compile(r"\W*(?:(?:and|so|ok|okay)\W+)*who(?:['’]?s| is| was)\b", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:before|by|until|till?|after|since)\s+(?:the\s+)?$", re.IGNORECASE)


class AskedMany(AskedSlots):
    """What is asked of many tasks at once."""

    def ask_of_all(self, clause: Clause, kind: str) -> bool:
        """Whether a question was for what is done, what is left of a sum, who comes, or who somebody is."""
        done = kind != "who" and (self._ask_done(clause) or self._ask_what_is_left_of(clause, kind))
        return done or self._ask_who_comes(clause)

    def _ask_what_is_left_of(self, clause: Clause, kind: str) -> bool:
        """Whether a question is for a sum: 'what is left of the budget'."""
        name = one(clause, "TSI")
        slot = self.peek(name, slots=True) if kind == "left" and name else None
        if slot is None or not is_slot(slot) or kind_held(slot) not in ("amount", "count"):
            return False
        self._act("ask", task=slot.id, asked=Asked(kind="value"))
        return True

    def _told_of_somebody(self, name: str) -> TaskNode | None:
        """The one slot of somebody that says what is asked of people: 'who is vegan'."""
        said = set(content(name))
        slots = [slot for word in list(said)[:1] for slot in slots_saying(self.graph, word)]
        held = [slot for slot in slots if said <= set(content(slot.value or "")) and not is_assignee(slot)]
        return held[0] if len(held) == 1 else None

    def _ask_who_comes(self, clause: Clause) -> bool:
        """Whether a question is for who comes, or of whom something is told: 'who is vegan'.

        Who comes is asked of the plan that is spoken of, or the only one with people.
        """
        told = self._told_of_somebody(one(clause, "TSV")) if _WHO_IS.match(clause.text) else None
        if told is not None:
            self._act("ask", task=told.id, asked=Asked(kind="value"))
            return True
        topic = self.topic()
        if topic is None or clause.mentions or not _WHO_COMES.match(clause.text):
            return False
        plans = [self.graph.root(topic.id), *self.graph.parts(None)]
        peopled = [one for one in plans if any(is_person(bare_name(p)) for p in self.graph.parts(one.id))]
        whole = next(iter(peopled), plans[0])
        sort = next((bare_name(p) for p in self.graph.parts(whole.id) if is_person(bare_name(p))), None)
        self._act("ask", task=whole.id, slot=sort, asked=Asked(kind="list"))
        return True

    def _ask_done(self, clause: Clause) -> bool:
        """Whether a question is for what is done so far, of a plan that it names or of all."""
        named = one(clause, "TIW")
        asks = _WHAT_IS_DONE.match(clause.text) and not _NOT_DONE.search(clause.text)
        if clause.all("SPVOE") or not asks:
            return False
        points = set(named.lower().split()) <= POINTING or self.says_all(named)
        node = None if points else self.resolve(named)
        if node is None and not points:
            return False
        self._act("ask", task=node.id if node else None, asked=Asked(kind="status", value="done"))
        return True

    def _without_anybody(self, node: TaskNode | None) -> list[TaskNode]:
        """What is to be done in a task, or its plan, that nobody has: at most a few."""
        whole = node or self.topic()
        for one_ in (whole, *self.graph.ancestors(whole.id)) if whole is not None else ():
            held = [
                part for part in self.listed(one_) if part.status == "open" and not is_person(bare_name(part))
            ]
            if len(held) > 1:
                return [part for part in held if not any(map(is_assignee, self.graph.parts(part.id)))][:6]
        return []

    def _ask_people(self, name: str) -> None:
        """Who does something that is nowhere in the plan: says so, and who does what there."""
        topic = self.topic()
        if name and not set(name.lower().split()) <= POINTING:
            self._act("ask", slot=name, asked=Asked(kind="value"))
        if topic is None:
            return
        root = self.graph.root(topic.id)
        if any(is_assignee(one) for one in self.graph.subtree(root.id)):
            self._act("ask", task=root.id, slot="who", asked=Asked(kind="value"))
        elif self.listed(topic):
            self._act("ask", task=topic.id, asked=Asked(kind="list"))

    def _list_asked(self, name: str, owner: TaskNode | None) -> TaskNode | None:
        """The list of a name, in a task where one is named."""
        found = self.which(name, within=owner) or self.which(name)
        return found if found is not None and self.listed(found) else None

    def _has_tasks(self, name: str, *, alone: bool = False) -> bool:
        """Whether words are somebody who has something to do, and no task.

        alone: they may also be a day on which something is.
        """
        if alone and kind_of(name) == "date":
            return any(is_slot(node) and says_all(node.value or "", name) for node in self.graph.active)
        who = self._person(name)
        said = set(content(name))
        titled = any(said == set(content(node.title)) for node in tasks_having(self.graph, said))
        return not titled and any(
            is_assignee(node) and says_all(node.value or "", who) for node in self.graph.active
        )


def on_day(clause: Clause) -> Clause:
    """A question that names nothing as one for the day in it: 'what do I have to do tomorrow'."""
    days = [span for span in values.spot(clause.text) if span.kind == "date"]
    if clause.mentions or len(days) != 1 or _UP_TO.search(clause.text[: days[0].start]):
        return clause
    return replace(clause, mentions=(Mention("V", days[0].text, start=days[0].start),))
