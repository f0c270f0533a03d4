"""Which task, and which slot of it, a step with ids is about; giving slots their values. An id is final.

Words are searched only where a step has no id: for what the same message makes, or what the reader was not
shown. Inside a task a slot is the one of that name, or the only one whose name says more of the same thing;
what is in doubt is asked about. Nothing here knows wordings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from taskloom.agent.grounding.workspace import Ground, same_value
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.typed import kind_of, names_a_type, type_named
from taskloom.agent.language.wording import base, clip, entries, join
from taskloom.agent.language.words import CONTAINERS, content, singular, slot_group, slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import PEOPLE_COUNTED, is_member, is_person_slot, stems_of, words_of
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.consolidate import is_person_name
from taskloom.memory.operations import Add, Link, Operation, Update
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import fold, words

_WHO = ("who", "assignee", "assigned to", "responsible", "person responsible", "by whom", "done by")
WHO_SLOTS = frozenset(map(slot_name, _WHO))
_GOALS = ("place", "location", "destination")
_SYNONYMS = ("email", "phone", "hotel", "duration", "transport", "destination", "start")  # one thing each
ONE_OF_MANY = frozenset(("item", "thing", "member"))
_MORE = re.compile(r"(\S+) (?:more|extra|additional|further) (\S.*)", re.IGNORECASE)
TO_DO = frozenset(("task", "step", "to_do", "todo", "job", "chore"))


class Doubt(Exception):
    """A step cannot be grounded: what to ask, with what each option would do."""

    def __init__(self, question: str, options: Sequence[str] = (), choices: Sequence[Operation] = ()) -> None:
        super().__init__(question)
        self.question, self.options, self.choices = question, tuple(options), tuple(choices)


_BY_KIND = {"amount": "price", "date": "date", "time": "time", "duration": "duration"}


class Places(Ground):
    """Tasks and slots of steps, by id; by words only where there is none."""

    # ---- which task --------------------------------------------------------------------------------

    def at(self, task: str | None, words: str, *, gone: bool = False) -> TaskNode | None:
        """The task of an id; without one that of the words: None where there are none.

        Raises:
            Doubt: the words name no task, or several alike.
        """
        if task is not None and task in self.graph:
            return self.graph[task]
        if not words:
            return None
        if (node := self.named(words, gone=gone)) is None:
            raise Doubt(clarifications.NOT_FOUND(words=clip(words, 60)))
        return node

    def named(self, words: str, *, gone: bool = False) -> TaskNode | None:
        """The one task that words name in full: of those made in this message first, then of all.

        Raises:
            Doubt: they name several alike.
        """
        wanted = content(words)
        same = [
            node for node in self.graph.values()
            if wanted and content(node.title) == wanted and (node.active or gone)
        ]  # fmt: skip
        fresh = [node for node in same if node.id in self.new]
        found = fresh or [node for node in same if node.active] or same
        if not found:
            hits = [node for node in self._covering(wanted) if node.active or gone]
            found = [node for node in hits if node.active] or hits
            roots = [node for node in found if node.parent is None]
            found = roots if len(roots) == 1 else found
        if len(found) > 1:
            options = [self.describe(node) for node in found[:6]]
            raise Doubt(clarifications.WHICH_ONE(words=clip(words, 60)), options)
        return found[0] if found else None

    def _covering(self, wanted: frozenset[str]) -> list[TaskNode]:
        """The tasks that have one of these stems, and all of them with what they are part of and have."""
        index = self.graph.index(stems_of)
        keys = dict.fromkeys(key for stem in wanted for key in index.get(stem, ()))
        return [self.graph[key] for key in keys if wanted <= self._words_around(self.graph[key])]

    def _words_around(self, node: TaskNode) -> frozenset[str]:
        own = words_of(node) if node.active else stems_of(node)
        parts = (
            part for part in self.graph.parts(node.id) if not is_member(part) or is_person_slot(part)
        )  # fmt: skip
        return own.union(*map(words_of, (*self.graph.ancestors(node.id), *parts)))

    def target(self, step: Step, *, gone: bool = False) -> TaskNode:
        """The task or slot that a step is about.

        Raises:
            Doubt: it names none, or none that there is.
        """
        node = self.at(step.task, "" if step.slot else step.target, gone=gone)
        if step.slot is not None:
            whole = node or self.whole_of(step)
            if whole is not None and (held := self.slot_in(whole, step.slot)) is not None:
                return held
            if whole is None:
                raise Doubt(clarifications.OF_WHICH_TASK(slot=clip(step.slot, 60)))
            if node is None or node.value is None:
                slot = clip(step.slot, 60)
                raise Doubt(clarifications.NO_SUCH_SLOT(slot=slot, task=self.describe(whole)))
        node = node or self.whole_of(step)
        if node is None:
            raise Doubt(clarifications.WHAT_BY_THAT())
        return node

    def whole_of(self, step: Step) -> TaskNode | None:
        """The task that a step says it happens in."""
        return self.at(step.within_task, step.within)

    def owner(self, step: Step) -> TaskNode | None:
        """The task that something new of a step goes into; of a slot or a member, what it is part of.

        A member that is itself a list, as "shopping list" of a party, or is called by its name, is gone into.
        """
        node = self.whole_of(step) or self.at(step.task, step.target if step.act != "task" else "")
        if node is not None and node.parent and not self.graph.parts(node.id):
            item = is_member(node) and base(node.slot) != "task"
            named = bool(step.within) or node.title.lower().split()[-1] in CONTAINERS
            leaf = node.value is not None or (item and not named)
            return self.graph[node.parent] if leaf and step.act != "task" else node
        return node

    # ---- which slot --------------------------------------------------------------------------------

    def slot_in(self, whole: TaskNode, name: str, value: str | None = None) -> TaskNode | None:
        """The slot of a task by its name; None where it has none of it.

        The exact name goes first; else the only one, of the value's kind, whose name says more and ends alike
        ("time" for the "arrival time", not "hotel" for the "hotel address").

        Raises:
            Doubt: several say more of the same thing.
        """
        parts = [node for node in self.graph.parts(whole.id) if node.value is not None]
        wanted = name_words(name)
        if slot_name(name) in WHO_SLOTS:
            return next((node for node in parts if is_assignee(node)), None)
        exact = [node for node in parts if wanted in (name_words(node.title), name_words(base(node.slot)))]
        if exact:
            return exact[0] if not is_member(exact[0]) or len(exact) == 1 else None
        kind = values.kind_of(value) if value is not None else None
        alike = [
            node for node in parts
            if not is_member(node) and any(_says_less(name, own) for own in (node.title, node.name))
            and (kind is None or values.kind_of(node.value or "") in (kind, None))
        ]  # fmt: skip
        if len(alike) > 1:
            raise Doubt(
                clarifications.WHICH_OF_KIND(slot=name), [self.describe(node) for node in alike],
                [Update(task=node.id, value=value) for node in alike] if value is not None else (),
            )  # fmt: skip
        return alike[0] if alike else _said_in_short(parts, name) if value is None else None

    def plain_slot(self, whole: TaskNode, name: str, value: str = "") -> TaskNode | None:
        """The slot of a task that is named only by its type, where another name ends with that.

        'date' for the 'moving date', 'number' for the 'number of copies': it came without its noun.
        value: what it would be.
        """
        wanted = (
            _head(name) if _head(name) == "number" or name.lower().startswith("number") else type_named(name)
        )
        slots = [
            node for node in self.graph.parts(whole.id) if node.value is not None and not is_member(node)
        ]
        wanted = wanted or _BY_KIND.get(kind_of(value) or "")
        plain = [node for node in slots if slot_name(node.title) == wanted]
        return plain[0] if len(plain) == 1 and _head(name) not in ("deadline", "due") else None

    def give(self, whole: TaskNode | None, name: str, value: str, said: str, *, listed: bool = False) -> None:
        """Give a slot of a task its value, new or changed; listed: a new slot of a schema, by its name."""
        name = "assignee" if slot_name(name) in WHO_SLOTS and not listed else name.replace("_", " ")
        held = self.slot_in(whole, name, value) if whole is not None and not listed else None
        if held is not None:
            value = values.with_day(held.value or "", value)
            if not same_value(held.value, value) or held.stale_since is not None or held.status == "proposed":
                self.do(Update(task=held.id, value=value), said)
            self.touch(held.id)
            return
        slot = slot_name(name)
        taken = {
            node.slot for node in self.graph.parts(whole.id if whole else None, gone=True) if node.active
        }
        dotted = f"{whole.slot}.{slot}" if whole else slot
        free, number = dotted, 2
        while free in taken:
            free, number = f"{dotted}{number}", number + 1
        self.do(Add(slot=free, title=name, value=value, parent=whole.id if whole else None), said)

    def fill(self, whole: TaskNode, step: Step) -> None:
        """Details as slots; those with several values, and items, as members, but a thing alone as a slot."""
        given = Counter(one.slot for one in (*step.details, *step.items))
        who = [
            one.value for one in (*step.details, *step.items)
            if slot_name(one.slot) in WHO_SLOTS and not step.kind
        ]  # fmt: skip
        if who:
            held = self.slot_in(whole, "assignee") if step.act == "add" else None
            already = [held.value] if held is not None and held.value else []
            people: dict[str, str] = {}
            for person in entries(", ".join([*already, *who])):
                people.setdefault(fold(person), person)
            self.give(whole, "assignee", join(people.values(), limit=len(people)), step.text)
            step = step.model_copy(
                update={
                    "details": tuple(one for one in step.details if slot_name(one.slot) not in WHO_SLOTS),
                    "items": tuple(one for one in step.items if slot_name(one.slot) not in WHO_SLOTS),
                }
            )
        begins = step.act in ("task", "set")
        alone = tuple(
            one
            for one in step.items
            if begins and given[one.slot] == 1 and one.task is None and self._single(whole, one.slot)
        )
        step = step.model_copy(
            update={
                "details": (*step.details, *alone),
                "items": tuple(one for one in step.items if one not in alone),
            }
        )
        for detail in step.details:
            if given[detail.slot] > 1:
                self.enlist(whole, detail, step)
            else:
                self.give(self.graph[whole.id], detail.slot, detail.value, step.text, listed=bool(step.kind))
        for item in step.items:
            if not self._one_more(whole, item.value, step.text):
                self.enlist(whole, item, step)
        self.touch(whole.id)

    def _one_more(self, whole: TaskNode, words: str, said: str) -> bool:
        """Whether '6 more lids' were counted onto the 12 lids that there are; not onto those that are done.

        Raises:
            Doubt: it is none, or less.
        """
        if (more := _MORE.fullmatch(words)) is None:
            return False
        amount = values.number_of(more[1])
        if amount is not None and (not amount or more[1].startswith(("-", "−"))):
            raise Doubt(clarifications.HOW_MANY_MORE(things=clip(more[2], 60)))
        for node in self.graph.parts(whole.id):
            if node.status == "done":
                continue
            rest = values.with_number(node.title, Decimal(0)) if values.number_of(node.title) else ""
            if content(rest) - {"0"} == content(more[2]) and (
                counted := values.shift_number(node.title, "+", more[1])
            ):
                self.do(Update(task=node.id, title=counted), said)
                return True
        return False

    def _single(self, whole: TaskNode, kind: str) -> bool:
        """Whether a thing is no member of a list: of no general kind, no person, the first of it."""
        kind = singular(slot_name(kind))
        held = any(base(part.slot) == kind for part in self.graph.parts(whole.id, gone=True))
        return kind not in ONE_OF_MANY | TO_DO and not is_person_name(kind) and not held

    def enlist(self, whole: TaskNode, item: Detail, step: Step) -> TaskNode | None:
        """One more of a list; what joins a slot that has one value makes a list of it."""
        whole = self.graph[whole.id]
        if item.task is not None and item.task in self.graph:
            return self.use(whole, self.graph[item.task], step)
        kind = singular(slot_name(item.slot)) or "item"
        if kind in TO_DO:
            return self.part_titled(whole, item.value) or self.new_root(item.value, step.text, parent=whole)
        held = self.graph.part(whole.id, f"{whole.slot}.{kind}")
        if held is not None and held.value is not None and not same_value(held.value, held.title):
            self.do(Update(task=held.id, title=held.value), step.text)
        kind = self.usual(whole) if kind in ONE_OF_MANY else kind
        return self.member(self.graph[whole.id], kind, item.value, step.text)

    def part_titled(self, whole: TaskNode, title: str) -> TaskNode | None:
        """The task in another one that has this title."""
        wanted = content(title)
        parts = (part for part in self.graph.parts(whole.id) if part.value is None)
        return next((part for part in parts if wanted and content(part.title) == wanted), None)

    def usual(self, whole: TaskNode) -> str:
        """What the things in a task are called so far; people are no things."""
        parts = self.graph.parts(whole.id, gone=True)
        kinds = [base(one.slot) for one in parts if is_member(one) and one.value is None]
        return next(
            (kind for kind in kinds if kind not in ("task", "part") and not is_person_name(kind)), "item"
        )

    def use(self, whole: TaskNode, node: TaskNode, step: Step) -> TaskNode:
        """A task is used in another one too; it stays where it is."""
        if node.parent != whole.id and node.id not in whole.depends_on:
            self.do(Link(task=whole.id, on=node.id), step.text)
        self.touch(whole.id)
        return node


# ---- words and values ------------------------------------------------------------------------------


@lru_cache(maxsize=16_384)
def name_words(name: str) -> frozenset[str]:
    """The words of a slot's name, in the singular; 'phone number' is the phone."""
    found = [singular(word) for word in re.findall(r"[^\W_]+", name.lower())]
    kept = [word for word in found if word not in ("the", "a", "an", "my", "our", "of", "for")]
    return frozenset(kept[:-1] if len(kept) > 1 and kept[-1] == "number" else kept)


def _said_in_short(slots: Sequence[TaskNode], name: str) -> TaskNode | None:
    """The one slot whose name says less of the same: 'copies' for the number of copies."""
    said = words(name)
    short = [
        node for node in slots
        if not is_member(node) and not is_assignee(node) and not names_a_type(node.title)
        and (own := words(node.title)) and own[-1:] == said[-1:] and set(own) < set(said)
    ]  # fmt: skip
    return short[0] if len(short) == 1 else None


def _says_less(name: str, held: str) -> bool:
    """Whether a name has only words of another and ends alike: 'time' for the 'arrival time'.

    Not the other way round: who says "substitute teacher" where there is a teacher means somebody else.
    """
    words, more = name_words(name), name_words(held)
    return bool(words) and words <= more and _head(name) == _head(held)


@lru_cache(maxsize=16_384)
def _head(name: str) -> str:
    """The word that says what a name is of: 'date' of 'date of birth'."""
    first = re.split(r"\s(?:of|for)\s", name.lower().replace("_", " "))[0]
    words = [singular(word) for word in re.findall(r"[^\W_]+", first)]
    return words[-2] if len(words) > 1 and words[-1] == "number" else words[-1] if words else ""


def says_all(text: str, words: str) -> bool:
    """Whether a text says what words say: the same, or all of them."""
    return same_value(text, words) or bool(content(words) and content(words) <= content(text))


def means_alike(title: str, name: str) -> bool:
    """Whether two names of slots mean the same: of a place that nobody has called so far, of a phone."""
    group, other = slot_group(title), slot_group(name)
    if title in ("detail", "place", "location"):
        return other in _GOALS and group in _GOALS
    people = slot_name(title) in PEOPLE_COUNTED and slot_name(name) in PEOPLE_COUNTED
    return people or (group == other and group in _SYNONYMS)
