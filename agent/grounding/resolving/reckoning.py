"""What a question for a number is answered with: what its noun counts, a sum, or that it is not sure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from taskloom.agent.grounding.exact_places import says_all
from taskloom.agent.language import values
from taskloom.agent.language.totals import is_of_each
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.held import stems_in, tasks_having, tasks_named
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import PEOPLE_COUNTED, has_former, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Asked, Detail
from taskloom.memory.claims import DIFFERENCE, PRODUCT, THESE, TOTAL, UNSURE
from taskloom.memory.operations import QuestionKind
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, words

from .counting import TOGETHER, Counting
from .scoring import POINTING, bare, content

_ASKING = re.compile(
    r"^(?:(?:and|so|or|then)\s+)*"
    r"(?:(?:how )?(?:many|much)|how long|what|which|whose|the number of|number of|all)\b"
    r"(?:\s+(?:kinds?|sorts?|number|amount) of|\s+(?:more|other|different)\b)?\s*",
    re.IGNORECASE,
)
_HOW_MANY_OF = re.compile(
    r"\b(?:how many|hw many|number of|amount of|no\.? of|tally of)\s+"
    r"(?:(?:more|other|different|of (?:the|my|our)|the|my|our|actual)\s+)*"
    r"(?P<noun>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*)?)",
    re.IGNORECASE,
)
_COUNTS = re.compile(
    r"\b(?:how many|hw many|numbers?|count(?:ing)?|total|tally|altogether|in all|so far|makes?)\b",
    re.IGNORECASE,
)
_NO_NOUN = frozenset(words(
    """left remain remaining stay make need come coming now again then more altogether together total going go
    said say tell show got get take leave missing stand will wanted used required done all sum whole lot rest
    how many much number count tally amount so list different other"""
))  # fmt: skip
_ANYTHING = frozenset(words("thing item bit piece part entry point one stuff"))
_DEEDS = frozenset(words("task job step chore duty to-do todo errand"))
_PEOPLE = frozenset(words(
    """people person persons guest head headcount attendee participant folk ppl pax player cover we us member
    soul visitor"""
))  # fmt: skip
_WE = re.compile(
    r"\bhow many\b.{0,20}\b(?:are|of|will|would)\b.{0,12}\b(?:we|us)\b|\bhow many of us\b|\bare we\b"
    r"|\bwe(?:['’]re| are)\W*$|\b(?:headcount|coming|attending|invited|turning up|signed up)\b",
    re.IGNORECASE | re.DOTALL,
)
_COMING = re.compile(r"\b(?:com(?:e|es|ing)|attend\w*|invited|expect\w*|turn(?:ing)? up)\b", re.IGNORECASE)
_HOW_MANY_PEOPLE = re.compile(
    r"\bhow many (?:people|persons|folks?|ppl|helpers|volunteers|of us)\b", re.IGNORECASE
)
_LEFT = re.compile(
    r"\b(?:left|more|remain(?:s|ing)?|to go|to do|still|outstanding|pending|undone|unfinished|open)\b",
    re.IGNORECASE,
)
_NOBODY_HAS = re.compile(
    r"\b(?:unclaimed|unassigned|unstaffed|untaken|uncovered)\b|\b(?:nobody|no one|noone)\b"
    r"|\bwithout (?:any(?:one|body)|some(?:one|body)|a (?:name|person))\b",
    re.IGNORECASE,
)
_BEYOND = re.compile(
    rf"\b(?:if|unless|suppos\w+|spare|enough|short|missing|free|empty|vacant|vacancies|over|owe\w*|per|each|apiece"
    rf"|every|incl?|includ\w+|afford|if equal"
    rf"|for (?:the )?(?:\d+|{'|'.join(values.NUMBER_WORDS)}))\b",
    re.IGNORECASE,
)
"""Words of what has to be worked out from more than what the plan holds: 'how many seats are still free'."""

_WITHOUT = re.compile(
    r"\b(?:without|w/o|except(?: for)?|excluding|not counting|minus)\s+(?P<who>[\w'’ ]+)", re.IGNORECASE
)
_ONE_OF_SEVERAL = re.compile(r"[^\W\d_]+ (?:\d{1,3}|[a-z])", re.IGNORECASE)
_ONCE = re.compile(r"\b(?:before|used to|previously|originally|initially|at first)\b", re.IGNORECASE)
_DIFFERS = re.compile(r"\bdifference\b", re.IGNORECASE)
_COMES_TO = re.compile(
    r"\b(?:comes? to|makes?|be|total|altogether|in all|sum|all in|that['’]?s|costs?|how much|at that|going to"
    r"|what(?:['’]s| is| does| would))\b",
    re.IGNORECASE,
)
_HAD = frozenset(
    words("have has had done got paid taken sold used ready booked given read made written sent")
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?:\d+(?:[.,]\d+)*|{'|'.join(values.NUMBER_WORDS)})(?![\w%]|[.,]\d)", re.IGNORECASE
)
_PER_HEAD = re.compile(r"\b(?:heads?|person|each|apiece|guest|child|kid|adult|man|us)\b", re.IGNORECASE)


class Reckoning(Counting):
    """Questions for numbers: only what their words name is counted."""

    def _read_count(self, clause: Clause) -> None:
        """A question for a number: as what its noun names, worked out, or 'not sure'."""
        noun, where = self._words_counted(clause)
        base = self._base_counted(clause, where)
        if (summed := self._summed(clause) or self._summed_by(noun, clause, base)) and len(summed) > 1:
            self._reckon(TOTAL, summed)
        elif worked := self._worked_out(clause, base):
            self._reckon(*worked)
        elif (found := self._number_asked(clause, noun, where, base)) is None:
            self._unsure_of(clause, noun, base)
        else:
            kind, nodes = found
            if kind == "count":
                self._reckon(THESE, nodes)
            else:
                self._act("ask", task=nodes[0].id, asked=Asked(kind=kind))

    def _reckon(self, how: str, nodes: Sequence[TaskNode], words_: str = "") -> None:
        """A question that is answered with what is made of some nodes."""
        items = tuple(Detail(slot="item", value=one.title, task=one.id) for one in nodes[1:])
        task = nodes[0].id if nodes else None
        self._act("ask", task=task, items=items, target=words_, asked=Asked(kind="count", value=how))

    def _unsure_of(self, clause: Clause, noun: str, base: TaskNode | None) -> None:
        """What is not known, or would have to be worked out: says so, and which numbers there are."""
        if base is not None and _HOW_MANY_PEOPLE.search(clause.text) and not _BEYOND.search(clause.text):
            root = self.graph.root(base.id)  # there is no list of them, nor a number: who has what
            helps = not _COMING.search(clause.text) and any(map(is_assignee, self.graph.subtree(root.id)))
            self._act("ask", task=root.id, slot="who" if helps else "people", asked=Asked(kind="value"))
            return
        told: Sequence[TaskNode] = ()
        for whole in self._wholes_of(base):
            held = self.listed(whole) if noun and not _BEYOND.search(clause.text) else []
            one_sort = len(held) > 1 and len(set(map(bare_name, held))) == 1
            numbers = [one for one in self.graph.parts(whole.id) if is_slot(one) and _numbered(one)]
            if told := held if one_sort else numbers[:6]:  # 'how many views', which the list may be
                break
        how = "much" if re.search(r"\bhow much\b", clause.text, re.IGNORECASE) else "many"
        self._reckon(UNSURE, told, f"{how} {noun}".strip())

    # ---- what is named -------------------------------------------------------------------------

    def _words_counted(self, clause: Clause) -> tuple[str, str]:
        """What is to be counted and in what: 'students', 'the Polish course'; '' for none."""
        names = {role: self._counted_name(span.text) for role in "TIS" for span in clause.all(role)[:1]}
        found = _HOW_MANY_OF.search(clause.text)
        said = self._counted_noun(found["noun"]) if found is not None else ""
        target = names.get("T") or names.get("I") or ""
        noun = names.get("S") or (target if set(content(said)) & set(content(target)) else said or target)
        if noun and values.number_of(noun) is not None and len(content(noun)) < 2:
            noun = ""  # 'how many of the five'
        return noun, target if target != noun else ""

    def _counted_name(self, text: str) -> str:
        """The words of a mention that name something: not 'that', 'the list', 'how many'."""
        name = bare(_ASKING.sub("", text))
        said = {word for word in words(name) if word not in STOP}
        return "" if set(name.lower().split()) <= POINTING or said <= _NO_NOUN else name

    def _counted_noun(self, text: str) -> str:
        """The noun with which words begin: 'students' of 'students come'; two words of a name."""
        first, *more = text.split()
        if first.lower() in STOP or set(words(first)) <= _NO_NOUN:
            return ""
        both = " ".join([first, *(word for word in more if word.lower() not in STOP)])
        return both if both != first and self._named_fully(both) else first

    def _named_fully(self, name: str) -> TaskNode | None:
        """The task or slot that has all the words of a name in its title."""
        node = self.which(name, slots=True) if name else None
        return node if node is not None and set(content(name)) <= set(words(node.title)) else None

    def _base_counted(self, clause: Clause, where: str) -> TaskNode | None:
        """In what is counted: the whole that is named, else what is spoken of."""
        whole = self.place(clause) if clause.all("W") else self.which(where) if where else None
        topic = whole or self.topic()
        return self.task_of(topic) if topic is not None else None

    def _just_made(self) -> TaskNode | None:
        """The whole into which this message put what is no slot: 'Ann and Bo, that makes how many'."""
        for key in self.focus:
            node = self.graph.get(key)
            if node is not None and key not in self.view.graph and node.active and not is_slot(node):
                return self.graph[node.parent] if node.parent is not None else None
        return None

    def _holds_lists(self, held: Sequence[TaskNode]) -> bool:
        """Whether some of what a whole lists are lists, so that it is not clear what is to be counted."""
        return any(self.listed(one) for one in held)

    def _number_asked(
        self, clause: Clause, noun: str, where: str, base: TaskNode | None
    ) -> tuple[QuestionKind, Sequence[TaskNode]] | None:
        """What answers a question for a number: the slot that says it, or what is to be counted.

        None where the plan has nothing of the name, or what is asked for is more than what it holds.
        """
        text = clause.text
        who = self._person(next((span.text for span in clause.all("P")), "") or noun)
        if who and (his := self._work_of_person(who)):
            return "count", his
        slot = self._number_named(noun, base) if noun else None
        if slot is None and where and base is not None:
            slot = self._amount_of(base)  # 'how many pairs of the mittens'
        if slot is not None and has_former(slot) and _ONCE.search(text):
            return "before", [slot]
        if _BEYOND.search(text):
            return None
        if slot is not None:
            return "value", [slot]
        people = bool(set(words(noun)) & _PEOPLE) or bool(not noun and _WE.search(text))
        if people and (counted := self._people_slot(base)) is not None:
            return "value", [counted]
        if not noun and not people and not _COUNTS.search(text):
            return None
        found = self._things_counted(noun, base, people=people, where=where) or self._all_in(where, base)
        if not found:
            return None
        found = self._only_these(clause, found)
        if _NOBODY_HAS.search(text):
            found = [one for one in found if not any(map(is_assignee, self.graph.parts(one.id)))]
        elif (left := _LEFT.search(text)) is not None:
            still = [one for one in found if one.status != "done"]
            if left[0].lower() == "more" and len(still) == len(found):
                return None  # 'how many more do I need'
            found = still
        return "count", found

    def _only_these(self, clause: Clause, found: list[TaskNode]) -> list[TaskNode]:
        """Of what is counted those that have a value which is said, and none that is left out."""
        for span in clause.all("V"):
            saying = [
                one for one in found
                if any(says_all(part.value or "", span.text) for part in self.graph.parts(one.id))
            ]  # fmt: skip
            found = saying or found
        if (left_out := _WITHOUT.search(clause.text)) is not None:
            said = set(content(left_out["who"])) | ({"me"} & set(left_out["who"].lower().split()))
            found = [one for one in found if not said & set(words(one.title))]
        return found

    def _all_in(self, where: str, base: TaskNode | None) -> list[TaskNode]:
        """What a whole holds that is named: 'how many students in the Polish course', with three names."""
        held = self.listed(base) if base is not None and self._named_fully(where) else []
        return held if len(set(map(bare_name, held))) == 1 else []

    def _work_of_person(self, who: str) -> list[TaskNode]:
        """What somebody has to do."""
        said = who.lower()
        held = (one for one in self.graph.active if is_assignee(one) and (one.value or "").lower() == said)
        return [self.graph[one.parent] for one in held if one.parent]

    def _number_named(self, noun: str, base: TaskNode | None) -> TaskNode | None:
        """The slot that says how many there are of what a noun names: 'chairs', the number of 'badges'."""
        node, said = self.which(noun, slots=True), set(content(noun))
        root = self.graph.root(base.id) if base is not None else None
        if root is not None and (node is None or not said <= set(words(node.title))):
            node = self.which(noun, slots=True, within=root)
        if node is None or not said & set(words(node.title)):
            inside = self.graph.subtree(root.id) if root is not None else ()
            units = [
                one
                for one in inside
                if is_slot(one) and _numbered(one) and said <= set(words(one.value or ""))
            ]
            return units[0] if len(units) == 1 else None  # 'how many pots', where the soup is '6 pots'
        if is_slot(node):
            return node if _numbered(node) else None
        titled = said <= set(words(node.title)) and values.number_of(node.title) is not None
        return self._amount_of(node) or (node if titled else None)  # '25 name tags'

    def _people_slot(self, base: TaskNode | None) -> TaskNode | None:
        """The slot that says how many people there are, in what is spoken of or its plan."""
        for whole in self._wholes_of(base):
            parts = [part for part in self.graph.parts(whole.id) if is_slot(part) and _numbered(part)]
            found = [
                part for part in parts if part.name in PEOPLE_COUNTED or set(words(part.title)) & _PEOPLE
            ]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _wholes_of(self, base: TaskNode | None) -> Iterable[TaskNode]:
        """What is spoken of and what it is part of, from the inside out."""
        return () if base is None else (base, *self.graph.ancestors(base.id))

    def _things_counted(
        self, noun: str, base: TaskNode | None, *, people: bool, where: str
    ) -> list[TaskNode]:
        """The tasks and members that a noun counts; [] where it counts none of them.

        where: in what it is counted, in words; where there are some, nothing around that is meant.
        """
        said = set(content(noun)) if noun else set[str]()
        anything, deeds = bool(said & _ANYTHING), bool(said & _DEEDS)
        if said and not anything and (container := self._container_counted(noun)) is not None:
            base = container
            said = set()
        made = self._just_made() if not said and not people else None
        for whole in [*self._wholes_of(made or base)][: 1 if where else None]:
            held = self.listed(whole)
            if len(held) == 1 and (inner := self.listed(held[0])):
                held = inner  # the one list of a plan
            sort = said | set(content(where))
            if named := [one for one in held if sort & set(words(bare_name(one)))]:
                return named
            persons = [one for one in held if is_person(bare_name(one))]
            if people and persons:
                return persons
            things = [one for one in held if one not in persons]
            if things and (anything or deeds):
                return [] if self._holds_lists(things) else things
            if held and not said and not people:
                return [] if self._holds_lists(held) else self._of_one_sort(held)
        return self._with_the_noun(said) if said and not people else []

    def _of_one_sort(self, held: Sequence[TaskNode]) -> list[TaskNode]:
        """What is counted of a list where no noun is said: all of one sort, else that touched last."""
        sorts = dict.fromkeys(map(bare_name, held))
        if len(held) == 1:
            return []  # of one thing nobody asks how many there are: another list is meant
        if len(sorts) < 2:
            return list(held)
        near = (self.graph[key] for key in self.focus if key in self.graph)  # also what has just left
        last = next((one for one in near if one.parent == held[0].parent and bare_name(one) in sorts), None)
        return [one for one in held if last is not None and bare_name(one) == bare_name(last)]

    def _container_counted(self, noun: str) -> TaskNode | None:
        """The task of that name that holds several things."""
        node = self.which(noun)
        fits = node is not None and set(content(noun)) <= set(words(node.title))
        return node if node is not None and fits and self.listed(node) else None

    def _with_the_noun(self, said: set[str]) -> list[TaskNode]:
        """Several things of one whole that have a noun in their titles or kinds: 'tray A', 'tray B'."""
        found: dict[str | None, list[TaskNode]] = {}
        for one in tasks_named(self.graph, said):
            found.setdefault(one.parent, []).append(one)
        for one in tasks_having(self.graph, said) if said else ():
            numbered = is_slot(one) and _ONE_OF_SEVERAL.fullmatch(one.title)
            if numbered or (not is_slot(one) and said & stems_in(one).kind):
                found.setdefault(one.parent, []).append(one)
        found = {whole: list({one.id: one for one in nodes}.values()) for whole, nodes in found.items()}
        several = [nodes for whole, nodes in found.items() if len(nodes) > 1 and whole is not None]
        return several[0] if len(several) == 1 else []

    # ---- what is worked out --------------------------------------------------------------------

    def _summed_by(self, noun: str, clause: Clause, base: TaskNode | None) -> list[TaskNode]:
        """The numbers of one kind that a sum is asked of: of all that a noun names, or of each in a list."""
        if not TOGETHER.search(clause.text):
            return []
        said = set(content(noun)) if noun else set[str]()
        named = [one for one in tasks_named(self.graph, said) if said & set(words(one.title))] if said else []
        if len(named) < 2:
            named = next((held for one in self._wholes_of(base) if (held := self.listed(one))), [])
        numbers = [
            [one for one in self.graph.parts(task.id) if is_slot(one) and _numbered(one)] for task in named
        ]
        same = {slot_name(one.title) for held in numbers for one in held}
        alone = all(len(held) == 1 for held in numbers)
        return [held[0] for held in numbers] if alone and len(same) == 1 else []

    def _worked_out(
        self, clause: Clause, base: TaskNode | None
    ) -> tuple[str, Sequence[TaskNode], str] | None:
        """A product or a difference that a question asks for, with its numbers; None for none."""
        if base is None:
            return None
        numbers = [one for one in self.graph.parts(base.id) if is_slot(one) and _numbered(one)]
        kinds = {kind_held(one) for one in numbers}
        if _DIFFERS.search(clause.text) and len(numbers) == 2 and len(kinds) == 1:
            return DIFFERENCE, numbers, ""
        each = [one for one in numbers if is_of_each(one.value or "")]
        if len(each) == 1 and _COMES_TO.search(clause.text):
            return self._times(clause, each[0], [one for one in numbers if one not in each], base)
        had = [one for one in numbers if set(words(one.title)) & _HAD]
        if len(numbers) == 2 and len(had) == 1 and (_LEFT.search(clause.text) or _BEYOND.search(clause.text)):
            return DIFFERENCE, numbers, ""
        return None

    def _times(
        self, clause: Clause, each: TaskNode, numbers: Sequence[TaskNode], base: TaskNode
    ) -> tuple[str, Sequence[TaskNode], str] | None:
        """What is of each, times the one number: said in the question, of the same task, or of the people."""
        said = _NUMBER.findall(clause.text)
        if len(said) == 1:
            return PRODUCT, [each], said[0]
        counts = [one for one in numbers if kind_held(one) == "count"]
        if not said and len(counts) == 1:
            return PRODUCT, [each, counts[0]], ""
        heads = self._people_slot(base) if _PER_HEAD.search(each.value or "") and not said else None
        return (PRODUCT, [each, heads], "") if heads is not None and not counts else None


def _numbered(slot: TaskNode) -> bool:
    """Whether a slot's value is a number of something, an amount or a duration; no day, hour or code."""
    if slot_name(slot.title) in ("time", "date", "place", "phone", "address", "email"):
        return False
    held = "count" if is_of_each(slot.value or "") else kind_held(slot)
    return held in ("count", "amount", "duration") and values.number_of(slot.value or "") is not None
