"""From clauses to steps that name tasks by id: what each act of the local reader does to the plan.

Each clause is tried on the plan that those before it leave behind, as `grounding.exact` will carry it
out; what has no clear place becomes a question back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from taskloom.agent.grounding.exact_places import ONE_OF_MANY, Doubt
from taskloom.agent.language.typed import kind_of, names_a_type
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD, clip, entries
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Check, Clarify, Operation
from taskloom.memory.present import bare_name
from taskloom.memory.tasks import TaskNode

from .assigning import Assigning
from .exchanges import Exchanges
from .fitting import changes
from .joining import head
from .leaving import Leaving
from .linking import Linking
from .plain import (
    in_company,
    items_of,
    one,
    right_before,
    takes_back,
    told_beside,
    with_amount,
    with_people,
    words_outside,
)
from .questions import Questions
from .scoring import POINTING, bare, content
from .shifting import Shifting
from .spans import is_relative, lists_tasks, of_one_item, plain_clauses
from .splitting import Splitting

_OPEN = re.compile(r"\b(?:what|anything|which|who|how)\b", re.IGNORECASE)
_LISTS = re.compile(r":[^.;!?:\n]*(?:,|,? and)$")  # a list, and what of it comes next
_INVITED = re.compile(r"\binvit(?:e|es|ed|ing)\b", re.IGNORECASE)
_ANOTHER = re.compile(r"(?:an?|another)\s", re.IGNORECASE)
_HAS = re.compile(
    r"\b(?:do|does|doing|brings?|bringing|takes?|taking|has|have|carr(?:y|ies)|handles?|gets?)\b",
    re.IGNORECASE,
)  # what somebody does with what he has: 'Ann brings it at 8'
_TELLS_MORE = re.compile(r"\bfrom [A-Z]|\bfor \w+ (?:people|persons|guests)\b")  # for two from Oslo
_NO_NOUN = re.compile(r"\b(?:thing|ones?|stuff|bit)\W*$", re.IGNORECASE)  # 'that dinner thing'
_IN_ALL = re.compile(r"\b(?:everywhere|throughout|wherever)\b|\bin all\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Assembled:
    """The steps of an utterance, what they would do, and how clear what they are about is.

    margin: the least difference of score to a rival among all choices, in points of `Resolver`. doubts: how
    many clauses could not be placed.
    """

    steps: tuple[Step, ...]
    operations: tuple[Operation, ...]
    margin: float
    doubts: int


def assemble(clauses: Iterable[Clause], said: str, view: View) -> Assembled:
    """What clauses do to the plan, each on what those before it left; a question for what has no place."""
    return next(assemble_each([tuple(clauses)], said, view))


def assemble_each(
    readings: Iterable[Sequence[Clause]], said: str, view: View, about: str = ""
) -> Iterator[Assembled]:
    """As `assemble` for several readings of the same words, each when it is asked for.

    What some begin with is carried out once.

    about: the id of the plan that all of it is about, where something says so; it is the topic.
    """
    begins = {listing: Assembler(view, said) for listing in (False, True)}
    for listing, begun in begins.items():
        begun.told_of, begun.listing = about, listing
    known: dict[tuple[int, object], Assembler] = {}  # by what was done before it, and the clause
    for reading in readings:
        plain = plain_clauses(reading)
        grounder = begins[lists_tasks(plain)]
        clauses = grounder.about(plain)
        parts = tuple(clause for clause in clauses if clause.act == "split")
        before = list[Assembler]()  # what this message has changed so far
        for number, clause in enumerate(clauses):
            if before and takes_back(clause, " ".join(one.text for one in clauses[:number])):
                grounder = before.pop()
                continue
            key = id(grounder), parts if clause.act == "split" else clause
            if key not in known:
                known[key] = grounder.copy()
                _carry_out(known[key], clause, clauses)
            if any(
                not isinstance(one, Check | Clarify)
                for one in known[key].operations[len(grounder.operations) :]
            ):
                before.append(grounder)
            grounder = known[key]
        yield grounder.assembled()


def _carry_out(grounder: Assembler, clause: Clause, clauses: Sequence[Clause]) -> None:
    """Do one of the clauses; a split is done with all of its parts where the first of them stands."""
    try:
        if clause.act != "split":
            grounder.read(clause)
            return
        parts = tuple(one for one in clauses if one.act == "split")
        if clause is parts[0]:
            grounder.split(parts)
    except Doubt as doubt:
        grounder.doubt(doubt)


class Assembler(Assigning, Exchanges, Linking, Leaving, Shifting, Splitting, Questions):
    """Clauses on the plan: each act by its method."""

    def copy(self) -> Assembler:
        """The same, to go on with: what one does then is not seen by the other."""
        made = copy(self)
        for name, held in vars(self).items():
            if isinstance(held, list | set | dict):
                setattr(made, name, held.copy())
        return made

    def assembled(self) -> Assembled:
        """What was done."""
        margin = min(self.margins, default=3.0)
        return Assembled(tuple(self.steps), tuple(self.operations), margin, self.doubts)

    # ---- acts ----------------------------------------------------------------------------------

    def read(self, clause: Clause) -> None:
        """As `Giving.read`; what elliptic clauses leave unsaid is taken from before."""
        if not (self._likewise(clause) or self._one_more_of(clause)):
            super().read(clause)

    def _read_task(self, clause: Clause) -> None:
        clause = in_company(clause)
        titles, whole = clause.all("T"), self.place(clause)
        items = [with_amount(clause, span) for span in clause.all("I")]
        if not titles:
            beside = whole or self.topic()
            for title in items:
                self._act("task", title=title, within_task=beside.id if beside else None)
            if not items and (clause.all("VP")):
                self._read_set(clause)
            return
        clause, each = self._of_each(clause)
        paired = any(span.pair for span in titles)
        for span in titles:
            title, last = with_amount(clause, span), span is titles[-1]
            told = self._details(clause, span.pair) if paired else self._details(clause) if last else []
            told += self._people(clause) if last else []
            known = self.known_as(span.text)
            node = self._known(title) or known
            other = node is not None and _ANOTHER.match(span.text) and self._told_otherwise(node, told)
            if other:
                node = known = None  # 'a trip to Oslo' beside the one to Rome
            if node is None and _TELLS_MORE.search(title):
                title, spoken_of = told_beside(title)
                told = [*spoken_of, *told]
            if node is not None and node is known and not (told or items):
                self.framed = node.id  # 'our party, then': nothing is new
            elif node is None or not (told or items or node.id in self.new):
                inside = whole or self._listed_on(clause) or self._part_of()
                node = self._create(title, inside.id if inside else None, told if other else ())
            for one_told in told:
                self._set_one(node, one_told, clause, named=one_told.slot == "who" or bool(clause.all("S")))
            if last and items:
                kind = "participant" if with_people(clause) else "item"
                self._act("add", within_task=node.id, items=items_of(items, kind=kind))
                self._set_each(each, node)

    def _of_each(self, clause: Clause) -> tuple[Clause, list[tuple[Mention, list[Detail]]]]:
        """A clause without the values that each of several items has, and these: 'review by June 1, ...'."""
        items = clause.all("I")
        each = self._ofitems_of(clause) if len(items) > 1 and not clause.all("S") else []
        if len(each) < len(items) or not each or any(span.pair for span in clause.mentions):
            return clause, []
        rest = (one for one in clause.mentions if one.role != "V" or one.start < items[0].start)
        return replace(clause, mentions=tuple(rest)), each

    def _set_each(self, each: Sequence[tuple[Mention, list[Detail]]], whole: TaskNode) -> None:
        """Give items of a task their own values."""
        for span, told in each:
            if (node := self.which(bare(span.text), within=self.graph[whole.id])) is not None:
                self._act("set", task=node.id, details=tuple(told))

    def _told_otherwise(self, node: TaskNode, told: Sequence[Detail]) -> bool:
        """Whether a task has another value in a slot than is told of something new."""
        held = {slot_name(part.title): part.value for part in self.graph.parts(node.id) if part.value}
        return any(held.get(slot_name(one.slot), one.value) != one.value for one in told)

    def _listed_on(self, clause: Clause) -> TaskNode | None:
        """The list that a sentence goes on with: 'exams: maths on 3 June, physics on 7 June'; else None."""
        made = [self.graph[key] for key in self.new if self.graph[key].value is None]
        before = self.said[: max(self.said.find(clause.text.strip()), 0)].rstrip()
        listed = made and made[-1].parent in self.new and _LISTS.search(before)
        return self.graph.get(made[-1].parent or "") if listed else None

    def _part_of(self) -> TaskNode | None:
        """What something new is part of where that is not said; None where it is a plan of its own.

        It stands beside what this message made before, or said who does, or in the only plan, where the
        assistant asked what belongs to it or the message is a list of what has to be done.
        """
        made = [self.graph[key] for key in self.new if self.graph[key].value is None]
        if made:
            item = is_member(made[-1]) and not made[-1].name.startswith("task")  # 'task2' is no item
            return self.graph.get(made[-1].parent or "") if not item else None
        given = next((self.graph[key] for key in self.focus if key in self.given), None)
        if given is not None and given.parent:
            return self._list_of(given)
        plans = self.graph.parts(None)
        if len(plans) == 1 and self.listing and self._has_day(plans[0]):
            return plans[0]
        reply = self.view.exchanges[-1][1] if self.view.exchanges else ""
        if len(plans) != 1 or not reply.rstrip().endswith("?") or DID_YOU_MEAN in reply:
            return None
        asked = re.split(r"(?<=[.!])\s", reply)[-1]
        return plans[0] if self.listed(plans[0]) or _OPEN.search(asked) else None

    def _has_day(self, node: TaskNode) -> bool:
        """Whether a plan is for a day, not a single thing to do: what has to be done is for that."""
        return any(kind_held(part) == "date" for part in self.graph.parts(node.id))

    def _known(self, title: str) -> TaskNode | None:
        """The task that has this title already; a pronoun means the topic."""
        if set(title.lower().split()) <= POINTING:
            return self.topic()
        found = self.best(title)
        if found is None:
            return None
        said, held = set(content(title)), set(content(found.node.title))
        return found.node if said == held or (found.named > 0.99 and said <= held) else None

    def _read_add(self, clause: Clause) -> None:
        if not clause.all("IP") and (amounts := clause.all("V")) and all(map(is_relative, amounts)):
            self._read_shift(clause)  # 'Rochdale wants two more'
            return
        clause = self._as_item(clause)
        whole = (
            self.list_left(one(clause, "W"))
            or self.place(clause)
            or (self.resolve(one(clause, "T")) if one(clause, "T") else None)
        )
        whole = whole or (self._just_left() or self._container() if not one(clause, "TW") else None)
        if clause.all("S") and not clause.all("V"):
            whole = self._list_named(one(clause, "S"), whole if one(clause, "TW") else self.whole_spoken_of())
        spans = clause.all("I") or clause.all("P") or clause.all("V")
        items = [self._somebody(with_amount(clause, span)) for span in spans]
        if whole is None and one(clause, "TW"):
            plan = self._plan_spoken_of() if clause.all("W") else None
            whole = self._create(one(clause, "WT"), plan.id if plan is not None else None)
        if whole is None:
            for title in items:
                self._act("task", title=title)
            return
        people, known = self._invites(clause, whole) if clause.all("I") else clause.all("P"), len(self.new)
        kind = "participant" if people else "item"
        within = name if set(content(name := one(clause, "W"))) == set(content(whole.title)) else ""
        self._act("add", within_task=whole.id, within=within, items=items_of(items, kind=kind))
        self._in_order(clause, whole, items)
        self._set_each(self._ofitems_of(clause), whole)
        if clause.all("I") and clause.all("P"):
            for span in clause.all("I"):
                if (node := self.which(bare(span.text), within=whole)) is not None:
                    self._act("set", task=node.id, details=tuple(self._people(clause)))
        came = [key for key in self.new[known:] if self.graph[key].parent == whole.id]
        if len(came) == 1 and not is_slot(self.graph[came[0]]):
            self.touch(came[0])  # what is said next is about that: 'add a curry, Baz books it'

    def _invites(self, clause: Clause, whole: TaskNode) -> bool:
        """Whether a clause says that people come; where names are mere items so far, more of them are too."""
        if not (_INVITED.search(words_outside(clause, "IVW")) or with_people(clause)):
            return False
        items = (part for part in self.graph.parts(whole.id) if bare_name(part) in ONE_OF_MANY)
        return not any(part.title.istitle() for part in items)

    def _ofitems_of(self, clause: Clause) -> list[tuple[Mention, list[Detail]]]:
        """The items of a clause that have values after them, with these."""
        items, found = clause.all("I"), list[tuple[Mention, list[Detail]]]()
        for span in items:
            later = [other.start for other in items if other.start > span.start]
            until = min(later, default=len(clause.text))
            own = tuple(
                value for value in clause.all("V")
                if (value.pair and value.pair == span.pair and not right_before(clause, value, span))
                or (not value.pair and (span.start < value.start < until or of_one_item(value, items))
                    and not any(right_before(clause, value, other) for other in items))
            )  # fmt: skip
            if own:
                found.append((span, self._details(replace(clause, mentions=own))))
        return found

    def _just_left(self) -> TaskNode | None:
        """The list in a plan that this message has just taken something out of: 'drop the tea, add milk'."""
        last = self.steps[-1] if self.steps else None
        gone = self.graph.get(last.task or "") if last is not None and last.act == "remove" else None
        within = self.graph.get(gone.parent or "") if gone is not None and is_member(gone) else None
        return within if within is not None and within.parent is not None else None

    def _read_set(self, clause: Clause) -> None:
        if not clause.all("VC"):
            (self._read_assign if clause.all("P") else self._read_add)(clause)
            return
        clause = self._by_task(self.by_thing(clause))
        if clause.all("C") and not clause.all("V"):
            self._read_same(clause)
            return
        if len(clause.all("V")) == 1 and is_relative(clause.all("V")[0]):
            self._read_shift(clause)
            return
        if one(clause, "OX") and clause.all("V") and _IN_ALL.search(words_outside(clause, "VTSIWOXP")):
            self._read_replace(clause)  # 'change the 21st to the 22nd everywhere'
            return
        if self.tells_facts(clause):
            return
        self._doubt_unknown(clause)
        all_of = self.says_all(one(clause, "T"))
        asked = self._slot_in_question(clause)
        targets = [asked] if asked else self.each(clause, roles="T") if all_of else [self._of_value(clause)]
        for node in targets:
            if not self._in_title(node, clause):
                self._set_values(node, clause)

    def _set_values(self, node: TaskNode, clause: Clause) -> None:
        """Give a task or a slot the values of a clause, and who has it where that is said."""
        node = self._as_somebody(node, clause) if is_assignee(node) else node
        clause = self._with_unmarked(node, clause)
        details = self._details(clause)
        if is_slot(node) and {"date", "time"} <= {told.slot for told in details}:
            node = self.task_of(node)  # 'the exam moved to 21 Nov 8.10', where that names its day
        for told in details:
            if told.slot != "detail" or not set(content(told.value)) <= set(content(node.title)):
                self._set_one(node, told, clause, named=bool(clause.all("S")))
        for told in self._people(clause) if clause.all("T") or _HAS.search(clause.text) else ():
            self._act("set", task=self.task_of(self.graph[node.id]).id, details=(told,))

    def _as_somebody(self, slot: TaskNode, clause: Clause) -> TaskNode:
        """Who has something, as one of a plan, where a clause tells more of him: 'Sara is vegetarian'."""
        name = one(clause, "T")
        his = any(set(content(name)) == set(content(held)) for held in entries(slot.value or ""))
        if not name or not his or changes(clause) or clause.all("SOX"):
            return slot
        root = self.graph.root(slot.id).id
        self._act("add", within_task=root, items=items_of([bare(name)], kind="participant"))
        return self._member(bare(name), root) or slot

    def _by_task(self, clause: Clause) -> Clause:
        """A clause as about the task whose name was taken for a slot's: 'move the opening to June 6th'."""
        names = clause.all("S")
        if len(names) != 1 or clause.all("TIW") or names_a_type(bare(names[0].text)):
            return clause
        node, said = self.which(names[0].text, slots=True), set(content(names[0].text))
        if node is None or node.value or not {head(node.title)} <= said <= set(content(node.title)):
            return clause  # 'change the book to Emma' is of no book club
        spans = (replace(span, role="T") if span in names else span for span in clause.mentions)
        return replace(clause, mentions=tuple(spans))

    def _of_value(self, clause: Clause) -> TaskNode:
        """What a value is said of.

        Raises:
            Doubt: it is not there.
        """
        name, old = one(clause, "T"), one(clause, "OX")
        whole = not clause.all("S")  # of a slot that is named, what is named beside it is the task
        node = None
        if name or not clause.all("I"):
            node = self.resolve(name, slots=whole, within=self.place(clause))
        twin = self.best(name) if node is None and name else None
        if twin is not None and self.is_another(name, twin.node) and not self.is_known(name):
            return self._create(name, twin.node.parent)  # 'order 1' beside 'order 2'
        pointed = not whole or (self.is_known(name) and _NO_NOUN.search(name))
        if node is None and name and pointed and len(self.graph.active):
            raise Doubt(f"I do not find “{name}” in the plan. What is {one(clause, 'V')} for?")
        if not clause.all("TISWOX") and (subject := self.subject_named(clause)) is not None:
            return subject
        if node is None and clause.all("I"):
            node = self.which(one(clause, "I"), slots=True)
        if not name and old and (held := self.which(old, slots=True)) is not None and held.value is not None:
            return held
        if (
            node is not None
            and not name
            and clause.all("O")
            and not clause.all("IWS")
            and self._holds(node, old)
        ):
            raise Doubt(f"I do not find “{old}” in the plan. What should be {one(clause, 'V')}?")
        if node is None and (new := name or one(clause, "I")):
            beside = self.topic()
            return self._create(new, (beside.parent or beside.id) if beside else None)
        if node is None:
            raise Doubt(f"I do not find “{name}” in the plan. What is {one(clause, 'V')} for?")
        if name or clause.all("IW") or is_slot(node):
            return node
        return self._owner_of(one(clause, "S"), node) if not whole else self.whole_spoken_of() or node

    def _owner_of(self, slot: str, node: TaskNode) -> TaskNode:
        """The task that has a slot of that name, of a task and what it is part of; else what can have one."""
        said = set(content(slot))
        for above in (node, *self.graph.ancestors(node.id)):
            slots = [part for part in self.graph.parts(above.id) if is_slot(part)]
            if any(said == set(content(part.title)) for part in slots):
                return above
        return self.whole_spoken_of() or node

    def _holds(self, node: TaskNode, old: str) -> bool:
        """Whether a task has a value of the kind of one that it never had, which would be lost."""
        kind = kind_of(old)
        return kind is not None and any(kind_held(part) == kind for part in self.graph.parts(node.id))

    def _read_yes(self, clause: Clause) -> None:
        if any(kind_of(span.text) is not None for span in clause.all("V")):
            self._read_set(clause)  # 'yes, for four nights'
        self._act("yes")

    def _read_no(self, _: Clause) -> None:
        self._act("no")

    def _read_unsure(self, clause: Clause) -> None:
        if not any(map(str.isalnum, clause.text)):
            return  # a picture says nothing by itself
        whole = len(clause.text) + 5 > len(self.said)
        raise Doubt(NOT_UNDERSTOOD if whole else f"What do you mean by “{clip(clause.text.strip())}”?")
