"""What changes by an amount: which value of a task can, and what it is then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from taskloom.agent.grounding.exact_parts import shift_text
from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language import values
from taskloom.agent.language.typed import kind_of, parse_measure
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Detail
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .giving import Giving
from .plain import one, words_outside
from .resolver import content

_LESS = re.compile(
    r"\b(?:earlier|sooner|less|fewer|off|down|cheaper|shorter|minus|forward|prepone\w*|reduc\w*|cut|knock"
    r"|drop\w*|shave|trim|lower|smaller|bring\w* (?:it|that|this)? ?up|short)\b",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:later|more|longer|extra|another|additional)\b", re.IGNORECASE)
_MEASURE = re.compile(
    r"\b(?:earlier|later|sooner|more|less|fewer|extra|longer|shorter|another|additional|further|back|forward|by|up"
    r"|down|on top|off|a?head)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(.*?\d\S*)(\s*(?:-|–|\bto\b|\buntil\b|\btill?\b)\s*)(\S.*)", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:longer|shorter|ends?|ending|finish\w*|until|stay\w*)\b", re.IGNORECASE)
_STARTS = re.compile(r"\b(?:starts?|starting|begins?|beginning|opens?|opening)\b", re.IGNORECASE)
_TWICE, _HALF = (
    re.compile(r"\b(?:doubl\w+|twice)\b", re.IGNORECASE),
    re.compile(r"\b(?:halv\w+|half (?:of|the|as))\b", re.IGNORECASE),
)


_CLOCKED = frozenset(
    words("time start begin end finish meet meeting pick leaves departure arrive opens closes draw")
)
_MONEY = frozenset(words("pound pounds quid euro euros dollar dollars buck bucks rupees p"))
_PRICES = frozenset(words("price cost fee pay rate budget amount limit admission charge wage rent money bid"))
_NUMBER = re.compile(rf"[\d.,£$€]+|\b(?:{'|'.join(values.NUMBER_WORDS)}|an?|one|couple of)\b", re.IGNORECASE)


class Shifting(Giving):
    """Amounts that are added and taken off."""

    def _read_shift(self, clause: Clause) -> None:
        value = one(clause, "V") or one(clause, "I")
        node = self.meant(one(clause, "T"), slots=True, within=self.place(clause))
        if node is None and one(clause, "T") and one(clause, "S"):
            raise Doubt(f"I do not find “{one(clause, 'T')}” in the plan. What should change?")
        node = node or self.topic()
        if node is None:
            raise Doubt("What should change by that?")
        if one(clause, "S") and (held := self.slot_in(self.task_of(node), one(clause, "S"))) is not None:
            node = held
        lead = clause.text[: next((m.start for m in clause.all("VI")), 0)]
        if re.search(r"\bto\s+$", lead) and values.duration_of(value) is None:
            self._set_one(node, Detail(slot=self._slot_for(value, lead), value=value), clause, named=False)
            return
        if kind_of(value) in ("date", "time") and not re.search(r"\b(?:min|hour|day|week|month)", value):
            self._set_one(node, Detail(slot=kind_of(value) or "detail", value=value), clause, named=False)
            return
        amount = parse_measure(_MEASURE.sub("", value).strip()) or "1"
        words = words_outside(clause, "TSW")
        less = _LESS.search(words) or re.search(r"\bbefore\b", value)
        sign = "-" if less and not _MORE.search(value) else "+"
        if _TWICE.search(words):
            sign, amount = "*", "2"
        elif _HALF.search(words) and not re.search(r"half an?\b", value):
            sign, amount = "*", "0.5"
        while True:
            found = self._movable(node, sign, amount, clause)
            if found is not None:
                self._act("set", task=found[0].id, value=found[1])
                return
            if one(clause, "T") or node.parent is None:
                self._cannot(node, amount)
                self._act("shift", task=node.id, value=sign + amount)
                return
            node = self.graph[node.parent]

    def _cannot(self, node: TaskNode, amount: str) -> None:
        """Ask where only a date or a time is left for an amount of things.

        Raises:
            Doubt: nothing there counts.
        """
        held = [part for part in self.graph.parts(node.id) if part.value] if node.value is None else [node]
        kinds = {kind_held(part) for part in held if not is_assignee(part)}
        counts = values.duration_of(amount) is None and values.number_of(node.title) is None
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
            part for part in self.graph.parts(owner.id)
            if part.value is not None and not is_member(part) and not is_assignee(part)
        ]  # fmt: skip
        if node.id != owner.id and named & set(words(node.title)):
            slots = [node]
        by = values.duration_of(amount) if sign != "*" else None
        can: list[tuple[TaskNode, str]] = []
        for slot in slots:
            new = self._moved_end(slot.value or "", sign, amount, words_outside(clause, "TW"))
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
            options = [self.describe(slot) for slot, _ in chosen]
            raise Doubt(f"What of {self.describe(owner)} should change?", options)
        return chosen[0] if chosen else None

    def _moved_end(self, value: str, sign: str, amount: str, said: str) -> str | None:
        """A value moved by an amount; of hours from one time to another only the end that is spoken of."""
        by, both = values.duration_of(amount), _RANGE.fullmatch(value)
        if by is not None and sign != "*" and by % timedelta(days=1) and both is not None:
            for form, before, end, after in (
                (_ENDS, both[1] + both[2], both[3], ""), (_STARTS, "", both[1], both[2] + both[3])
            ):  # fmt: skip
                new = shift_text(end, sign, amount, self.view.now) if form.search(said) else None
                if new is not None:
                    return before + new + after
        return shift_text(value, sign, amount, self.view.now)


def _timed(slot: TaskNode) -> bool:
    return bool(set(words(slot.title)) & _CLOCKED)


def _fits(slot: TaskNode, by: timedelta | None, amount: str) -> bool:
    """Whether an amount is of the kind that a slot counts: hours of a time, money of a price."""
    value, kind = slot.value or "", kind_held(slot)
    units = set(content(_NUMBER.sub(" ", amount)))
    if by is not None:
        if kind == "duration" or _same_unit(value, amount):
            return True
        if set(words(slot.title)) & _PRICES:
            return False
        if by % timedelta(days=1):
            return kind in ("time", None) or _timed(slot)
        return kind == "date"
    priced = bool(set(words(slot.title)) & _PRICES)
    if (kind in ("date", "time") and not priced) or _timed(slot) or kind_of(amount) in ("date", "time"):
        return False
    if kind is None and not re.match(r"\D{0,3}\d", value):
        return False
    if kind_of(amount) == "amount" or units & _MONEY:
        return kind == "amount" or priced
    own = {*words(value), *words(slot.title)}
    return not units or bool(units & own) or kind == "count"


def _same_unit(text: str, amount: str) -> bool:
    units: Sequence[str] = re.findall(r"min|hour|hr|day|night|week|month|year", amount.lower())
    return any(unit in text.lower() for unit in units) and values.number_of(text) is not None
