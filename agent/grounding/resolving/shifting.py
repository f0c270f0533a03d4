"""What changes by an amount: which value of a task can, and what it is then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from taskloom.agent.grounding.exact_parts import shift_text
from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.typed import as_price, kind_of, parse_measure
from taskloom.agent.language.units import in_unit_of, same_unit, unit_in
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.held import tasks_named
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member
from taskloom.agent.plan.topic import kind_held, share_named
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Detail
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .amounts import MEASURE, MORE, change, counted_thing, each_amount, multiplies
from .giving import Giving
from .plain import one, words_outside
from .scoring import POINTING, bare, content

_RANGE = re.compile(r"(.*?\d\S*)(\s*(?:-|–|\bto\b|\buntil\b|\btill?\b)\s*)(\S.*)", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:longer|shorter|ends?|ending|finish\w*|until|stay\w*)\b", re.IGNORECASE)
_LENGTHS = re.compile(r"\b(?:longer|shorter|extend\w*|ends?|ending|finish\w*)\b", re.IGNORECASE)
_STARTS = re.compile(r"\b(?:starts?|starting|begins?|beginning|opens?|opening)\b", re.IGNORECASE)
_LATER = re.compile(
    r"\b(?:later|earlier|sooner|back|forward|push\w*|postpone\w*|mov(?:es?|ed|ing)|sli[dp]\w*)\b",
    re.IGNORECASE,
)
_EACH = re.compile(r"(?:each|both|all)(?: of (?:them|these|those))?|each one|them all", re.IGNORECASE)
_FOUR_DIGITS = re.compile(r"[0-2]\d[0-5]\d")  # an hour, where something else counts
_PLAIN_NAMES = frozenset(("time", "date", "number", "quantity"))
_QUANTITIES = frozenset(words("amount number quantity count"))
_CLOCKED = frozenset(
    words("time start begin end finish meet meeting pick leaves departure arrive opens closes draw")
)
_MONEY = frozenset(words("pound pounds quid euro euros dollar dollars buck bucks rupees p"))
_PRICES = frozenset(words("price cost fee pay rate budget amount limit admission charge wage rent money bid"))
_TIMES_AND_SUMS = frozenset(
    words(
        """kick off kickoff drop pick up pickup collection doors curtain hour clock go going leave leaving
        take pot kitty purse fund allowance deposit tip bill total charge cut share travelling"""
    )
)
"""Names of times and sums that a plan may hold under another one."""
_NUMBER = re.compile(rf"[\d.,£$€]+|\b(?:{'|'.join(values.NUMBER_WORDS)}|an?|one|couple of)\b", re.IGNORECASE)


class Shifting(Giving):
    """Amounts that are added and taken off; moved_by: the sign and amount that this message changed last."""

    moved_by: tuple[str, str] | None = None

    def _read_shift(self, clause: Clause) -> None:
        for part in each_amount(clause):
            plain = one(part, "V")
            moves = values.duration_of(plain) or MEASURE.search(part.text) or multiplies(plain)
            if part is not clause and not moves:
                self.read(replace(part, act="set"))  # 'they moved us to pitch 2, and an hour later'
            else:
                self._shift_one(part)

    def _shift_each(self, clause: Clause, sign: str, amount: str) -> bool:
        """Change each of several numbers of one name that were told last: 'ten more of each'."""
        last = [
            slot for slot in self.graph.active
            if slot.turn == self.view.turn - 1 and slot.value and kind_held(slot) in ("count", "amount")
        ]  # fmt: skip
        same = len({slot_name(slot.title) for slot in last}) == 1 and len(last) > 1
        if not (same and _EACH.fullmatch(one(clause, "T"))) or values.duration_of(amount) is not None:
            return False
        for slot in last:
            if (new := values.shift_number(slot.value or "", sign, amount)) is not None:
                self._moved(slot, new)
        return True

    def _shift_all(self, clause: Clause, sign: str, amount: str) -> bool:
        """Move every date or time of all that is there: 'everything two days later'."""
        by, name = values.duration_of(amount), one(clause, "T")
        if by is None or sign == "*" or clause.all("S") or not (name and self.says_all(name)):
            return False
        kind, whole = "time" if by % timedelta(days=1) else "date", self.place(clause) or self.topic()
        tops = [*self._all_of(name, whole, gone=False), *([whole] if whole is not None else [])]
        inside = {part.id: part for node in tops for part in self.graph.subtree(node.id)}
        found = [part for part in inside.values() if part.value and _fits(part, by, amount)]
        found = [part for part in found if kind_held(part) in (kind, "count", None)]
        if len(found) < 2:
            return False
        for part in found:
            if (new := shift_text(part.value or "", sign, amount, self.view.now)) is not None:
                self._moved(part, new)
        return True

    def _shift_one(self, clause: Clause) -> None:
        value = one(clause, "V") or one(clause, "I")
        by = change(clause, value)
        if self._shift_each(clause, *by) or self._shift_all(clause, *by):
            return
        node = self._shifting(clause)
        lead = clause.text[: next((m.start for m in clause.all("VI")), 0)]
        if re.search(r"\bto\s+$", lead) and values.duration_of(value) is None:
            self._set_one(node, Detail(slot=self._slot_for(value, lead), value=value), clause, named=False)
            return
        if kind_of(value) in ("date", "time") and not re.search(r"\b(?:min|hour|day|week|month)", value):
            self._set_one(node, Detail(slot=kind_of(value) or "detail", value=value), clause, named=False)
            return
        sign, amount = self._change_said(clause, value)
        if (thing := counted_thing(clause)) and values.number_of(amount) == values.number_of(value):
            amount = f"{amount} {thing}"  # 'one more lesson' is none of its price
            if self._in_value(node, thing, sign, amount):
                return
        if clause.all("T") and not clause.all("S") and _is_counted(node, one(clause, "T"), amount):
            self._act("shift", task=node.id, value=sign + amount)  # '6 chains', of 11 speeds
            return
        if not clause.all("TSW") and (counted := self._counted(node, sign, amount)) is not None:
            node = counted
        whose = one(clause, "S") and set(content(one(clause, "S"))) <= set(content(node.title))
        named = bool(whose) or (
            bool(clause.all("T")) and not set(one(clause, "T").lower().split()) <= POINTING
        )
        while True:
            found = self._movable(node, sign, amount, clause)
            if found is not None:
                self._moved(*found)
                return
            if named or node.parent is None:
                self._cannot(node, amount)
                if self.resolve(one(clause, "T"), slots=True) is None:
                    raise Doubt(clarifications.NOT_FOUND_TO_CHANGE(words=one(clause, "T")))
                self._act("shift", task=node.id, value=sign + amount)
                return
            node = self.graph[node.parent]

    def _change_said(self, clause: Clause, value: str) -> tuple[str, str]:
        """The sign and the amount of a change; 'the same' is what the message changed before.

        Raises:
            Doubt: it changed nothing before, or no amount is said.
        """
        sign, amount = change(clause, value)
        if not value and sign != "*":
            raise Doubt("By how much?")
        if re.fullmatch(r"1 (?:the )?same", amount):
            if self.moved_by is None:
                raise Doubt("By how much?")
            return self.moved_by  # 'sausages 30 up, buns the same'
        self.moved_by = sign, amount
        return sign, amount

    def _shifting(self, clause: Clause) -> TaskNode:
        """What an amount is said of: what is named, or the slot of it, or of what it is part of.

        Raises:
            Doubt: it is not there.
        """
        node = self.resolve(one(clause, "T"), slots=True, within=self.place(clause))
        amount = one(clause, "V")
        counted = values.duration_of(amount) is None and (counted_thing(clause) or MORE.search(amount))
        for name in () if counted else (one(clause, "T") if node is None else "", one(clause, "S")):
            if name and self._is_unknown(name):
                raise Doubt(clarifications.NOT_FOUND_TO_CHANGE(words=bare(name)))
        if node is None and one(clause, "T") and one(clause, "S"):
            raise Doubt(clarifications.NOT_FOUND_TO_CHANGE(words=one(clause, "T")))
        node = node or self.topic()
        if node is None:
            raise Doubt("What should change by that?")
        if not one(clause, "S"):
            return node
        task = self.task_of(node)
        owners = [task, *self.graph.ancestors(task.id)]
        held = next(filter(None, (self.slot_in(owner, one(clause, "S")) for owner in owners)), None)
        return held or node

    def _is_unknown(self, name: str) -> bool:
        """Whether a name is of something that no plan has; words for any time or price are of none."""
        anything = set(content(name)) <= _CLOCKED | _PRICES | _TIMES_AND_SUMS or self.says_all(name)
        return not anything and re.search(r"(?:ed|ing)\W*$", name) is None and self.lacks(name)

    def _counted(self, node: TaskNode, sign: str, amount: str) -> TaskNode | None:
        """What an amount counts in the plan that is spoken of: 'two pencils more' where there are pencils."""
        things = " ".join(content(_NUMBER.sub(" ", amount)))
        if not things and sign != "*" and (named := self._counted_in_message(node)) is not None:
            return named
        if sign == "*" or not things or values.duration_of(amount) is not None or set(things) & _MONEY:
            return None
        found = self.best(things, slots=True, within=self.graph.root(node.id))
        return found.node if found is not None and found.named > 0.79 else None

    def _counted_in_message(self, node: TaskNode) -> TaskNode | None:
        """The one thing in a plan that says how many it is and that the message names: 'out of shirts'."""
        said, root = set(content(self.said)), self.graph.root(node.id).id
        found = [
            one for one in tasks_named(self.graph, said)
            if one.value is None and _COUNTS.match(one.title) and self.graph.root(one.id).id == root
            and share_named(_NUMBER.sub(" ", one.title), said) > 0.99
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _in_value(self, node: TaskNode, thing: str, sign: str, amount: str) -> bool:
        """Change the one value of a plan that counts a thing: 'two fewer gardens' of eight gardens."""
        said, slots = set(content(thing)), self.graph.subtree(self.graph.root(node.id).id)
        held = [slot for slot in slots if slot.value and said & set(words(slot.value))]
        held = [slot for slot in held if values.number_of(slot.value or "") is not None]
        if len(held) != 1 or kind_held(held[0]) not in (None, "count"):
            return False
        if (new := values.shift_number(held[0].value or "", sign, amount)) is not None:
            self._moved(held[0], new)
        return new is not None

    def _moved(self, slot: TaskNode, new: str) -> None:
        """A slot's new value; a title that counts the same goes along: '3 eggs', number 3."""
        task, was = self.task_of(slot), values.number_of(slot.value or slot.title)
        self._act("set", task=slot.id, value=new)
        number = values.number_of(new)
        if task.id != slot.id and None not in (was, number) and values.number_of(task.title) == was:
            self._act("set", task=task.id, value=values.with_number(task.title, number or Decimal(0)))

    def _cannot(self, node: TaskNode, amount: str) -> None:
        """Ask where only a date or a time is left for an amount of things.

        Raises:
            Doubt: nothing there counts.
        """
        held = [part for part in self.graph.parts(node.id) if part.value] if node.value is None else [node]
        kinds = {kind_held(part) for part in held if not is_assignee(part)}
        if "night" in amount and kinds and "duration" not in kinds:
            raise Doubt(f"What of {self.describe(node)} should change by {amount}?")
        numbered = (
            node.value is None and _COUNTS.match(node.title) is None and not _OF_SO_MUCH.search(node.title)
        )
        if numbered and values.number_of(node.title) is not None and values.duration_of(amount) is None:
            raise Doubt(f"What should change by {amount}?")  # 'version 2' counts nothing
        counts = values.duration_of(amount) is None and values.number_of(node.title) is None
        things = set(content(_NUMBER.sub(" ", amount))) - _MONEY
        if counts and things and "amount" in kinds and "count" not in kinds:
            raise Doubt(
                f"What of {self.describe(node)} should change by {amount}?"
            )  # no price does by things
        if counts and kinds and kinds <= {"date", "time", "duration"}:
            raise Doubt(f"What of {self.describe(node)} should change by {amount}?")

    def _movable(self, node: TaskNode, sign: str, amount: str, clause: Clause) -> tuple[TaskNode, str] | None:
        """The one slot that an amount fits, with what it is then: that named, or beside it, or in the task.

        Raises:
            Doubt: several fit alike.
        """
        owner = self.task_of(node)
        named = set(content(one(clause, "TS")))
        slots = [
            _in_figures(part) for part in self.graph.parts(owner.id)
            if part.value is not None and not is_member(part) and not is_assignee(part)
        ]  # fmt: skip
        if node.id != owner.id and named & set(words(node.title)):
            slots = [_in_figures(node)]
        by = values.duration_of(amount) if sign != "*" else None
        can: list[tuple[TaskNode, str]] = []
        for slot in slots:
            in_unit = _in_unit_of(slot, amount)
            new = self._moved_end(slot.value or "", sign, in_unit, words_outside(clause, "TW"))
            if new is None and by is not None and same_unit(f"{slot.value} {slot.title}", amount):
                new = values.shift_number(slot.value or "", sign, amount)  # nights: 8
            if new is not None and _fits(slot, by, amount):
                can.append((slot, new))
        said = set(content(clause.text))
        chosen = [one for one in can if one[0].id == node.id] or can
        if len(chosen) > 1:
            chosen = [one for one in chosen if said & set(words(one[0].title))] or chosen
        if len(chosen) > 1 and by is None and not one(clause, "S"):
            same = kind_of(amount)
            chosen = [one for one in chosen if kind_held(one[0]) == same] or chosen
        if len(chosen) > 1:
            chosen = _meant_by(chosen, words_outside(clause, "TSW"), by) or chosen
        lasts = any(kind_held(slot) == "duration" for slot, _ in chosen)
        if len(chosen) > 1 and (lasts or named - POINTING):  # 'Greta': her time, not when she leaves school
            chosen = [one for one in chosen if slot_name(one[0].title) in _PLAIN_NAMES] or chosen
        if len(chosen) > 1:
            options = [self.describe(slot) for slot, _ in chosen]
            raise Doubt(f"What of {self.describe(owner)} should change?", options)
        return chosen[0] if chosen else None

    def _moved_end(self, value: str, sign: str, amount: str, said: str) -> str | None:
        """A value moved by an amount; of two times or two days only the end that is spoken of."""
        by, both = values.duration_of(amount), _RANGE.fullmatch(value)
        if by is not None and sign != "*" and by % timedelta(days=1) and both is not None:
            for form, before, end, after in (
                (_ENDS, both[1] + both[2], both[3], ""), (_STARTS, "", both[1], both[2] + both[3])
            ):  # fmt: skip
                new = shift_text(end, sign, amount, self.view.now) if form.search(said) else None
                if new is not None:
                    return before + new + after
        if by is not None and sign != "*" and both is not None and _LENGTHS.search(said):
            last = shift_text(both[3], sign, amount, self.view.now)  # what is a day longer begins as before
            return both[1] + both[2] + last if last is not None else None
        return shift_text(value, sign, amount, self.view.now)


_OF_SO_MUCH = re.compile(
    rf"\bof (?:about |around )?\W?(?:\d|(?:{'|'.join(values.NUMBER_WORDS)})\b)", re.IGNORECASE
)
"""What says how much a thing is: 'a float of 40 quid'."""
_COUNTS = re.compile(rf"\W*(?:\d|(?:an?|{'|'.join(values.NUMBER_WORDS)})\b)", re.IGNORECASE)


_DIMENSIONS = re.compile(r"\w\s*(?:\bby\b|[x×])\s*\w", re.IGNORECASE)


def _is_counted(node: TaskNode, name: str, amount: str) -> bool:
    """Whether a thing says itself how many it is, and a plain number of it is meant."""
    number = re.match(r"\d+\s+(?=[^\W\d])", node.title)
    if number is None or node.value is not None or kind_of(amount) not in (None, "count"):
        return False
    rest = node.title[number.end() :]
    return set(content(name)) == set(content(rest)) and values.number_of(amount) is not None


def _in_figures(slot: TaskNode) -> TaskNode:
    """A slot with its value in figures where no number stands in it: a fiver is 5 pounds."""
    value = slot.value or ""
    plain = parse_measure(value)
    return slot if plain == value or values.number_of(value) else slot.model_copy(update={"value": plain})


def _in_unit_of(slot: TaskNode, amount: str) -> str:
    """An amount in the unit of a slot: 'seven fifty' of a price is 7.50."""
    if kind_held(slot) == "amount" or set(words(slot.title)) & _PRICES:
        amount = as_price(amount)
    return in_unit_of(slot.value or "", amount)


def _meant_by(
    can: Sequence[tuple[TaskNode, str]], said: str, by: timedelta | None
) -> list[tuple[TaskNode, str]]:
    """Of several slots that can change those that the words fit: what is later is a time, longer a length."""
    if by is None:
        named = [one for one in can if set(words(one[0].title)) & _QUANTITIES]
        named = named or [one for one in can if not _FOUR_DIGITS.fullmatch(one[0].value or "")]
        if len(named) == 1:
            return named
        return [one for one in can if not set(words(one[0].title)) & _PRICES]
    lengths = [one for one in can if kind_held(one[0]) == "duration" or same_unit(one[0].title, "day")]
    if _ENDS.search(said):
        return lengths
    return [one for one in can if one not in lengths] if _LATER.search(said) else []


def _timed(slot: TaskNode) -> bool:
    return bool(set(words(slot.title)) & _CLOCKED)


def _fits(slot: TaskNode, by: timedelta | None, amount: str) -> bool:
    """Whether an amount is of the kind that a slot counts: hours of a time, money of a price."""
    value, kind = slot.value or "", kind_held(slot)
    units = set(content(_NUMBER.sub(" ", amount)))
    own_unit, unit = unit_in(f"{value} {slot.title}"), unit_in(amount)
    if own_unit is not None and unit is not None and own_unit[1] != unit[1]:
        return False  # square metres of no weight
    if by is not None:
        if kind == "amount" or set(words(slot.title)) & _PRICES:
            return False  # of what costs 18 a day a day more is none
        if kind == "duration" or same_unit(f"{value} {slot.title}", amount):
            return True
        if by % timedelta(days=1):
            return kind in ("time", None) or _timed(slot)
        return kind == "date" and "night" not in amount  # 'one night more' is no later day
    priced = bool(set(words(slot.title)) & _PRICES)
    if priced and re.search(r"%|\bpercent\b", amount):
        return True  # of '3.50', which could be a time
    if (kind in ("date", "time") and not priced) or _timed(slot) or kind_of(amount) in ("date", "time"):
        return False
    if kind is None and (not re.match(r"\D{0,3}\d", value) or _DIMENSIONS.search(value)):
        return False
    if kind_of(amount) == "amount" or units & _MONEY:
        nameless = kind == "count" and slot_name(slot.title) in ("number", "detail") and len(words(value)) < 2
        return kind == "amount" or priced or nameless
    own = {*words(value), *words(slot.title)}
    return not units or bool(units & own) or kind == "count"
