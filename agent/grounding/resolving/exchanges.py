"""One thing in the place of another: replace, swap, the same as elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.wording import base
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.held import slots_saying, stems_in, tasks_having
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import kind_held, share_named
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Detail
from taskloom.memory.operations import names
from taskloom.memory.tasks import TaskNode, made_at
from taskloom.memory.words import words

from .giving import NOUNS, Giving
from .people import ME, SOMEBODY
from .plain import items_of, one, one_of_several
from .scoring import POINTING, bare, content

_EVERYWHERE = re.compile(
    r"\b(?:every\w*|all|any|anything|anywhere|each|throughout|wherever)\b", re.IGNORECASE
)
_WHEREVER = re.compile(r"\b(?:everywhere|throughout|wherever)\b", re.IGNORECASE)
_THE_TWO = re.compile(
    r"(?:them|em|they|these|those|the|two|both|lads|boys|girls|guys|ones|people|around|round|over| )+|",
    re.IGNORECASE,
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*", re.IGNORECASE)
_TO = re.compile(r"\b(?:change|switch|swap|make)\b.*\b(?:to|into)\b", re.IGNORECASE)
_PLACES_AND_DAYS = frozenset(("place", "location", "date", "time"))
_OF_SLOTS = ("date", "time", "place", "who", "deadline", "price", "duration", "number")


class Exchanges(Giving):
    """What takes the place of something."""

    def _read_same(self, clause: Clause) -> None:
        """A value as another task has it: 'lunch at the same time as the dinner'."""
        node = self.resolve(one(clause, "T"), slots=True)
        words_of = re.sub(r"^(?:at|on|the|same|as|in)\s+", "", one(clause, "C"))
        other = self.which(re.sub(r"^.*?\b(?:as|with|for)\b", "", words_of).strip() or words_of, slots=True)
        if node is None or other is None:
            raise Doubt(f"What do you mean by “{one(clause, 'C')}”?")
        if other.value is None:
            wanted = next((slot for slot in _OF_SLOTS if slot in clause.text.lower()), None)
            held = [
                part for part in self.graph.parts(other.id) if part.value is not None and not is_member(part)
            ]
            fit = [
                p
                for p in held
                if wanted and (slot_name(p.title) == wanted or kind_of(p.value or "") == wanted)
            ]
            if len(fit or held) != 1:
                raise Doubt(f"What of {self.describe(other)} do you mean?")
            other = (fit or held)[0]
        told = Detail(slot=slot_name(other.title), value=other.value or "")
        self._act("set", task=self.task_of(node).id, details=(told,))

    def _read_replace(self, clause: Clause) -> None:
        old, new = one(clause, "OTX"), one(clause, "VIP")
        if set(old.lower().split()) <= POINTING:
            old = self._spoken_of(clause, self._person(old))
            last = self.graph.get(next(iter(self.focus), ""))
            if old.lower() in POINTING and last is not None and last.parent and not self.graph.parts(last.id):
                self._act("replace", task=last.id, old="", value=self._person(new))
                return
        if old and new and self._wherever_it_is(old, new, clause):
            return
        others = clause.all("V")
        if len(others) > 1 and clause.all("O"):
            fit = [v for v in others if kind_of(v.text) == kind_of(old)]
            chosen = fit[0] if fit else others[0]
            rest = tuple(v for v in others if v is not chosen)
            plain = replace(clause, act="set", mentions=(*clause.all("TW"), *rest))
            clause = replace(clause, mentions=tuple(m for m in clause.mentions if m not in rest))
            new = bare(chosen.text)
            self.read(plain)
        if not old and new:
            self._instead(clause, new)
            return
        node = self.which(old, slots=True, within=self.place(clause)) if old else None
        node = node or (self.which(old, slots=True) if old else None)
        if node is None and one(clause, "T") and one(clause, "T") != old:
            node = self.resolve(one(clause, "T"), slots=True)
        if node is None or not new:
            lost = f"I do not find “{old}” in the plan. What should {new} take the place of?"
            raise Doubt(lost if node is None else f"What should take the place of {self.describe(node)}?")
        self._doubt_twin(node, new)
        if (slot := self._task_of_member(node, new) or self._only_detail(node, old, new)) is not None:
            self._act("set", task=slot.id, value=self._person(new))
            return
        place, users = self.place(clause), self.graph.dependents.get(node.id, ())
        shared = [key for key in (*users, node.parent) if key and self.graph[key].active]
        if place is not None and place.id in shared and len(set(shared)) > 1:
            self._act("replace", within_task=place.id, old=old, value=new)  # the others keep what they share
            return
        if set(content(node.title)) - set(content(old)) & set(content(new)):
            old = ""  # 'rye bread' for the sourdough: what was the sourdough bread has its noun already
        if node.value is None and self.graph.parts(node.id) and not (old and one(clause, "OX")):
            slot = self._place_or_day(node, new, clause)
            self._act("set", task=slot.id if slot is not None else node.id, value=new)
            return
        self._act("replace", task=node.id, old=old, value=new)

    def _others_on_list(self, clause: Clause, old: str) -> bool:
        """Whether several things came in the place of one on a list: 'apples and pears instead'."""
        others = clause.all("V")
        node = self.peek(old) if old and len(others) > 1 and clause.all("O") else None
        if (
            node is None
            or not is_member(node)
            or node.value is not None
            or any(kind_of(v.text) for v in others)
        ):
            return False
        self._act("remove", task=node.id)
        self._act("add", within_task=node.parent, items=items_of([bare(v.text) for v in others]))
        return True

    def _only_detail(self, node: TaskNode, old: str, new: str) -> TaskNode | None:
        """What a thing is told to be, where it is to be something else: a dessert, which is tiramisu."""
        told = [part for part in self.graph.parts(node.id) if is_slot(part) and not is_assignee(part)]
        plain = len(told) == 1 and base(told[0].slot) == "detail" and node.parent is not None
        same = kind_of(new) is None and plain and kind_of(told[0].value or "") is None
        return told[0] if same and set(content(old)) == set(content(node.title)) else None

    def _doubt_twin(self, node: TaskNode, new: str) -> None:
        """Hold that what takes the place of a thing on a list is not on it already.

        Raises:
            Doubt: it is, and it is nobody who takes another's place.
        """
        thing = is_member(node) and node.value is None and not new.istitle() and content(new)
        twins = [one for one in self.beside(node) if one.id != node.id and content(one.title) == content(new)]
        if thing and twins:
            raise Doubt(f"There is {self.describe(twins[0])} already. What should change?")

    def _left_lately(self, old: str) -> TaskNode | None:
        """Who or what has left a list: 'Fran comes instead of Dee', who has cancelled already."""
        gone = self.peek(old, gone=True) if old else None
        there = gone is not None and gone.parent is not None and self.graph[gone.parent].active
        return gone if there and gone is not None and is_member(gone) and not is_slot(gone) else None

    def _place_or_day(self, node: TaskNode, new: str, clause: Clause) -> TaskNode | None:
        """The place, day or time of a task that a value without another name takes the place of.

        'For the reception use the Assembly Rooms' is no new name of the reception.
        """
        if one(clause, "OX") or self.listed(node) or set(content(node.title)) & set(content(new)):
            return None
        told = Detail(slot=self._slot_for(new, ""), value=new)
        slot = self._same_value(node, told, replace(clause, text=f"instead {clause.text}"))
        return slot if slot is not None and slot_name(slot.title) in _PLACES_AND_DAYS else None

    def _spoken_of(self, clause: Clause, pronoun: str) -> str:
        """What a pronoun means that is to leave: what the message named last, or the exchange before."""
        if pronoun.lower() not in POINTING:
            return pronoun
        new = one(clause, "VIP")
        own, kind = set(content(new)), kind_of(new)
        for heard in (self.said, *reversed(self.view.exchanges[-1] if self.view.exchanges else ())):
            stems = words(heard)
            held = [
                node.value or node.title for node in self.graph.active
                if node.id not in self.new and kind_of(node.value or "") == kind
                and not set(content(node.value or node.title)) & own
            ]  # fmt: skip
            named = [one for one in held if set(content(one)) <= set(stems)]
            if named:
                sooner = 1 if heard == self.said else -1  # before, who was named first was spoken of
                return max(named, key=lambda one: sooner * max(_last(stems, word) for word in content(one)))
        if pronoun.lower() in SOMEBODY:
            raise Doubt(f"Who is “{pronoun}”?")
        return pronoun

    def _task_of_member(self, node: TaskNode, new: str) -> TaskNode | None:
        """What somebody has who is in a list, where who should take their place is in it already."""
        if is_assignee(node) or not is_member(node) or node.value is not None:
            return None
        beside = [content(one.title) for one in self.beside(node) if one.id != node.id]
        having = [one for one in self.graph.active if is_assignee(one) and one.value == node.title]
        return having[0] if content(new) in beside and len(having) == 1 else None

    def _everywhere(self, old: str, clause: Clause) -> bool:
        """Whether a name is exchanged wherever it stands: 'in all my plans', 'any mention of Ana'."""
        both = re.search(r"\bboth\b", " ".join(span.text for span in clause.all("TW")), re.IGNORECASE)
        if not (both or _EVERYWHERE.search(clause.text)):
            return False
        if kind_of(old) is not None and not _WHEREVER.search(clause.text):
            return False
        name = self._person(old)
        return any(names(name, node.value) or names(name, node.title) for node in self.graph.active)

    def _wherever_it_is(self, old: str, new: str, clause: Clause) -> bool:
        """Whether a name was exchanged in all that has it: a person in the plan that is spoken of."""
        if self._everywhere(old, clause):
            self._act("replace", old=self._person(old), value=self._person(new))
            return True
        if self._others_on_list(clause, old):
            return True
        if self.peek(old, slots=True) is None and (left := self._left_lately(old)) is not None:
            self._act("add", within_task=left.parent, items=items_of([self._person(new)]))
            return True
        if clause.all("TW") or not self._stands_in_several(old):
            return False
        person = any(span.text.istitle() and span.start for span in clause.all("O"))
        whole = self.topic() if person else None
        within = None if whole is None else self.graph.root(whole.id).id
        self._act("replace", old=old, value=self._person(new), within_task=within)
        return True

    def _stands_in_several(self, old: str) -> bool:
        """Whether several things to do have a name in their titles: 'wash celery', 'chop celery'."""
        titled = [node for node in self.graph.active if node.value is None and names(old, node.title)]
        return kind_of(old) is None and len(titled) > 1 and all(
            not self.graph.parts(node.id) and set(content(node.title)) > set(content(old)) for node in titled
        )  # fmt: skip

    def _misspelt(self, new: str) -> str:
        """The one name in the plan that another is the right spelling of: 'Zahra with an h'; '' for none."""
        held = {node.value or node.title for node in self.graph.active}
        near = [name for name in held if name.lower() != new.lower() and len(name.split()) == 1]
        close = get_close_matches(new.lower(), [name.lower() for name in near], cutoff=0.75)
        return next(name for name in near if name.lower() == close[0]) if len(close) == 1 else ""

    def _instead(self, clause: Clause, new: str) -> None:
        """Something in the place of what was spoken of: a person for who has it, a value for its like."""
        if kind_of(new) is None and (wrong := self._misspelt(new)):
            self._act("replace", old=wrong, value=self._person(new))
            return
        topic = self.topic()
        if topic is None:
            raise Doubt(f"What should {new} take the place of?")
        person = bool(clause.all("P")) or new.lower() in ME or (kind_of(new) is None and new.istitle())
        if person and any(is_assignee(part) for part in self.graph.parts(topic.id)):
            self._act("set", task=topic.id, details=(Detail(slot="who", value=self._person(new)),))
            return
        told = Detail(slot=self._slot_for(new, ""), value=new)
        slot = self._same_value(topic, told, replace(clause, text=f"instead {clause.text}"))
        if slot is None:
            raise Doubt(f"What should {new} take the place of?")
        self._act("set", task=slot.id, value=new)

    def _read_rename(self, clause: Clause) -> None:
        if set(one(clause, "TO").lower().split()) <= POINTING and self._misspelt(one(clause, "V")):
            self._instead(clause, one(clause, "V"))
            return
        node = self.resolve(one(clause, "TO"), slots=True, within=self.place(clause))
        if node is None:
            raise Doubt("What should have another name?")
        name = next(iter(clause.all("V")), None)
        said = name.text.strip(" .,!?;:") if name is not None and name.start else ""
        named = re.match(r"[A-Z]\w* [A-Z]", said)  # 'Our Town' keeps its first word
        value = said if named else one(clause, "V")
        if _VERSION.fullmatch(value) and node.value is None and one(clause, "TO"):
            value = f"{bare(one(clause, 'TO'))} {value}"  # a number alone is no name
        self._act("set", task=node.id, value=value)

    def _in_title(self, node: TaskNode, clause: Clause) -> bool:
        """Whether a word of a title was exchanged: 'the grey tiles to green', 'yellow, not green'.

        All of the title of an item where the new one is a noun by its form: 'change the bread to rolls'.
        """
        new, old = one(clause, "V"), one(clause, "O")
        said = node.title.lower().split()
        if len(said) == 1 and self._other_item(node, new, clause):
            self._act("replace", task=node.id, old="", value=new)
            return True
        if (
            not old
            and len(said) == 2
            and _TO.search(clause.text)
            and content(one(clause, "T")) == content(node.title)
        ):
            old = node.title.split()[0]
        plain = len(new.split()) == 1 and kind_of(new) is None and not clause.all("SP")
        if node.value is not None or not plain or len(said) < 2 or old.lower() not in said:
            return False
        self._act("replace", task=node.id, old=old, value=new)
        return True

    def _other_item(self, node: TaskNode, new: str, clause: Clause) -> bool:
        """Whether an item that is named becomes another one: several things, which are no quality of it."""
        plural = new.endswith("s") and not new.endswith(("ss", "us", "is")) and kind_of(new) is None
        plain = is_member(node) and node.value is None and not self.graph.parts(node.id)
        named = content(one(clause, "T")) == content(node.title) and len(clause.mentions) == 2
        return plural and plain and named and _TO.search(clause.text) is not None

    def _read_swap(self, clause: Clause) -> None:
        people, things = clause.all("P"), clause.all("T")
        if len(people) == len(things) == 2:  # who does what now
            for who, what in zip(people, things, strict=True):
                self.read(replace(clause, act="assign", mentions=(who, what)))
            return
        names = [self._person(span.text) for span in people or clause.all("TVIO")][:2]
        if all(_THE_TWO.fullmatch(bare(name)) for name in names):
            names = self._given_last() or names
        pairs = self._holding(names) or self._titled_slots(names)
        if not pairs:
            tasks = [self.resolve(name) for name in names]
            pairs = self._same_slots(tasks, one(clause, "S") or clause.text)
        for one_slot, other in pairs:
            first, second = _exchanged(one_slot, other, names), _exchanged(other, one_slot, names[::-1])
            self._act("set", task=one_slot.id, value=first)
            self._act("set", task=other.id, value=second)

    def _given_last(self) -> list[str]:
        """The two who were given something when somebody was last; [] where they are not two."""
        people = [node for node in self.graph.active if is_assignee(node)]
        latest = max((node.turn for node in people), default=None)
        names = list(dict.fromkeys(node.value or "" for node in people if node.turn == latest))
        return names if len(names) == 2 else []

    def _holding(self, names: Sequence[str]) -> list[tuple[TaskNode, TaskNode]]:
        """The slots whose values two names are: who has something first, in one list if so, the nearest."""
        near = self._near()
        held: list[list[TaskNode]] = []
        for name in names:
            said = set(content(name))
            titled = any(said == set(content(node.title)) for node in tasks_having(self.graph, said))
            held.append([
                node for node in tasks_having(self.graph, said)
                if node.value and said <= set(words(node.value)) and (is_assignee(node) or not titled)
            ])  # fmt: skip
        if len(held) != 2:
            return []
        for number, name in enumerate(names):  # 'the April and May books': the month is a value
            told = set(words(name))
            saying = {node.id: node for word in told for node in slots_saying(self.graph, word)}
            held[number] = held[number] or [
                saying[key] for key in sorted(saying, key=made_at) if stems_in(saying[key]).value <= told
            ]
        pairs = [(first, other) for first in held[0] for other in held[1] if first.id != other.id]
        heard = words(self.clause.text) if self.clause is not None else ()
        ranked = sorted(
            (
                sum(not share_named(self.task_of(node).title, heard) for node in pair),
                *self._apart(pair, near),
                n,
            )
            for n, pair in enumerate(pairs)
        )
        if (
            len(ranked) > 1
            and ranked[0][:3] == ranked[1][:3]
            and pairs[ranked[0][-1]] != pairs[ranked[1][-1]]
        ):
            if everything := self._all_that_they_have(held):
                return everything
            raise Doubt(
                "Which two should change places?", [self.describe(self.task_of(p[1])) for p in pairs[:6]]
            )
        return [pairs[ranked[0][-1]]] if ranked else []

    def _all_that_they_have(self, held: Sequence[Sequence[TaskNode]]) -> list[tuple[TaskNode, TaskNode]]:
        """Every task that one of two people has, with one of the other's; [] where others have it with them.

        Only where nothing but the two is said: 'swap Amy and Tom round'.
        """
        nodes = [*held[0], *held[1]]
        alone = all(is_assignee(node) and len(content(node.value or "")) == 1 for node in nodes)
        plans = {self.graph.root(node.id).id for node in nodes}
        if self.clause is None or self.clause.all("S") or not alone or len(plans) > 1:
            return []
        most = max(len(held[0]), len(held[1]))
        return [(held[0][min(n, len(held[0]) - 1)], held[1][min(n, len(held[1]) - 1)]) for n in range(most)]

    def _titled_slots(self, names: Sequence[str]) -> list[tuple[TaskNode, TaskNode]]:
        """The two slots of one task that two names are: the meals of Monday and Thursday."""
        slots = [self.resolve(name, slots=True) for name in names]
        if len(slots) != 2 or slots[0] is None or slots[1] is None:
            return []
        first, other = slots[0], slots[1]
        titled = [content(bare(name)) for name in names] == [content(first.title), content(other.title)]
        beside = is_slot(first) and is_slot(other) and first.parent == other.parent
        return [(first, other)] if titled and beside and first.id != other.id else []

    def _apart(self, pair: tuple[TaskNode, TaskNode], near: dict[str, float]) -> tuple[bool, bool, float]:
        first, other = (self.task_of(node) for node in pair)
        far = sum(near.get(node.id, 99) for node in pair)
        return not all(map(is_assignee, pair)), first.parent != other.parent, far

    def _same_slots(self, tasks: Sequence[TaskNode | None], text: str) -> list[tuple[TaskNode, TaskNode]]:
        """The slots that two tasks change: those named, those of the kind that is said, the only ones.

        Raises:
            Doubt: it is not clear which.
        """
        if len(tasks) == 2 and tasks[0] is not None and tasks[1] is not None:
            pairs = [
                (one_part, other)
                for one_part in self.graph.parts(tasks[0].id)
                for other in self.graph.parts(tasks[1].id)
                if one_part.value and other.value and _comparable(one_part, other)
            ]
            said = set(content(text))
            named = [pair for pair in pairs if said & set(words(pair[0].title))]
            kinds = next((kinds for form, kinds in NOUNS if form.search(text)), ())
            fit = [pair for pair in pairs if kind_held(pair[0]) in kinds]
            who = [pair for pair in pairs if is_assignee(pair[0])]
            found = named or fit or ([] if kinds else pairs if len(pairs) == 1 else who)
            if len(found) == 1:
                return found
        raise Doubt("Which two should change places?")


def _exchanged(slot: TaskNode, other: TaskNode, names: Sequence[str]) -> str | None:
    """What a slot holds once two names change places; of several in it only the one that is named goes."""
    held, came = (
        one_of_several(one.value or "", content(name))
        for one, name in zip((slot, other), names, strict=False)
    )
    new = came[0] if came is not None else other.value
    if held is None or new is None:
        return new
    return re.sub(rf"(?<!\w){re.escape(held[0])}(?!\w)", lambda _: new, slot.value or "", count=1)


def _last(stems: Sequence[str], word: str) -> int:
    """Where a word stands last."""
    return max(number for number, one in enumerate(stems) if one == word)


def _comparable(one_slot: TaskNode, other: TaskNode) -> bool:
    """Whether two slots hold the same: by name, or by the kind of their values."""
    kind = kind_held(one_slot)
    same = slot_name(one_slot.title) == slot_name(other.title)
    return same or (kind is not None and kind == kind_held(other) and not is_assignee(one_slot))
