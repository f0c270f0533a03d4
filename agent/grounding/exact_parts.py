"""Steps that part a task, join its parts, leave only some, or move a number, on tasks named by id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from taskloom.agent.grounding.workspace import renewed
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.moving import shift_datetime
from taskloom.agent.language.typed import type_named
from taskloom.agent.language.wording import base, clip, join
from taskloom.agent.language.words import content, slot_name
from taskloom.agent.plan.roles import is_member
from taskloom.agent.turn.steps import Detail, Step, StepPart
from taskloom.memory.operations import (
    Check,
    Merge,
    Part,
    Question,
    Remove,
    Restore,
    Split,
    Unlink,
    is_part,
)
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import word_set

from .exact_places import Doubt, Places, name_words, says_all

_LASTING = word_set("hour minute day night week month year duration length number count")


_SIGNS = {"+": "plus", "-": "less", "*": "times"}


class Parts(Places):
    """What is split, brought together, cut down, moved."""

    def _split(self, step: Step) -> None:
        target = self.target(step)
        hour = next((one.value for one in self.graph.parts(target.id) if one.name == "time"), None) or ""
        if any(is_part(part) for part in self.graph.parts(target.id)):
            self.do(Merge(task=target.id), step.text)
            target = self.graph[target.id]
        free = {
            part.id: part for part in self.graph.parts(target.id) if part.value is None or is_member(part)
        }
        chosen: list[list[str]] = []
        for part in step.parts:
            ids = [
                key
                for words in part.members
                for key, one in free.items()
                if says_all(one.value or one.title, words)
            ]
            chosen.append(list(dict.fromkeys(ids)))
            free = {key: one for key, one in free.items() if key not in ids}
        for ids, part in zip(chosen, step.parts, strict=True):
            if part.rest:
                ids += [key for key, one in free.items() if is_member(one)]
                free = {}
        parts = tuple(
            Part(
                title=self._part_title(target, part, ids, number),
                members=tuple(ids),
                values=tuple(
                    (slot_name(detail.slot), in_style(hour if detail.slot == "time" else "", detail.value))
                    for detail in (*_others(part, [self.graph[key] for key in ids]), *part.details)
                ),
            )
            for number, (part, ids) in enumerate(zip(step.parts, chosen, strict=True), 1)
        )
        self.do(Split(task=target.id, parts=parts), step.text)
        self.touch(target.id)

    def _part_title(self, target: TaskNode, part: StepPart, ids: Sequence[str], number: int) -> str:
        """What tells a part from the others: its members, what it is about, whose it is, else its number."""
        about = [one.value for one in part.details if values.kind_of(one.value) not in ("date", "time")]
        people = [one.value for one in _others(part, [self.graph[key] for key in ids])]
        counted = any(values.kind_of(one) == "count" for one in about)  # '80 cakes' are 30 and 50
        names = [self.graph[key].title for key in ids] or (people if counted or not about else [])
        told = join(names) or next(iter(about), "") or f"part {number}"
        title = re.sub(r"^\d+\s+(?=[^\W\d])", "", target.title) if counted else target.title
        return part.title or f"{title} ({told})"

    def _merge(self, step: Step) -> None:
        node = self.target(step)
        parts = [part for part in self.graph.parts(node.id) if is_part(part)]
        if not parts and is_part(node) and node.parent:
            node = self.graph[node.parent]
        self.do(Merge(task=node.id), step.text)
        self.fill(self.graph[node.id], step)

    def _only(self, step: Step) -> None:
        """A list with just these: the other members of their kind leave."""
        whole = self.owner(step)
        if whole is None:
            raise Doubt(clarifications.ONLY_IN_WHICH())
        keep = set[str]()
        for item in step.items:
            node = self.graph.get(item.task or "") or self._part_saying_any(whole, item.value)
            if node is None:
                node = self.enlist(whole, item, step)
            elif not node.active:
                self.do(Restore(task=node.id), step.text)
            keep |= {node.id} if node is not None else set()
        members = [one for one in self.graph.parts(whole.id) if one.value is None or is_member(one)]
        kinds = {base(self.graph[key].slot) for key in keep}
        shared = [self.graph[key] for key in self.graph[whole.id].depends_on if self.graph[key].active]
        before = len(self.operations)
        for node in members:
            if node.id not in keep and (base(node.slot) in kinds or not keep):
                self.do(Remove(task=node.id), step.text)
        for node in shared:
            if node.id not in keep and node.parent != whole.id and is_member(node):
                self.do(Unlink(task=whole.id, on=node.id), step.text)
        if len(self.operations) == before:
            question = Question(kind="list", tasks=(whole.id,), about=whole.title)
            self.operations.append(Check(said=step.text[:300], question=question))
        self.touch(whole.id)

    def _part_saying_any(self, whole: TaskNode, words: str) -> TaskNode | None:
        parts = self.graph.parts(whole.id, gone=True)
        found = [part for part in parts if content(part.value or part.title) == content(words)]
        return next((part for part in found if part.active), found[0] if found else None)

    def _shift(self, step: Step) -> None:
        node = self.target(step)
        change = relative((step.value or "").replace("−", "-"))
        sign, amount = change[:1], change[1:].strip()
        by = values.duration_of(amount) if sign in "+-" else None
        slot = self._shifted(node, by)
        text = slot.value if slot.value is not None else slot.title
        counts = bool(name_words(slot.title) & _LASTING) and text.strip().isdecimal()
        new = (
            values.shift_number(text, sign, amount)
            if counts
            else shift_text(text, sign, amount, self.view.now)
        )
        if new is None:
            raise Doubt(clarifications.EXACT_AMOUNT(value=clip(text), sign=_SIGNS[sign], amount=amount))
        self.do(renewed(slot, new), step.text)

    def _shifted(self, node: TaskNode, by: timedelta | None) -> TaskNode:
        """The slot whose value moves: the one named; of a task, the only one that can by this much time."""
        if node.value is not None or not self.graph.parts(node.id):
            return node
        kinds = ("date", "time", "duration") if by is not None else ("count", "amount", "percent")
        found = [
            part for part in self.graph.parts(node.id)
            if part.value and values.kind_of(part.value) in kinds
            and (by is not None or type_named(part.title) not in ("date", "time"))
        ]  # fmt: skip
        if by is not None and len(found) > 1:  # hours move a time, days a date
            fit = "date" if by % timedelta(days=1) == timedelta() else "time"
            found = [part for part in found if values.kind_of(part.value or "") == fit] or found
        if not found and values.number_of(node.title) is not None:
            return node  # twelve caps, and who has them
        if len(found) != 1:
            raise Doubt(
                clarifications.WHAT_CHANGES(task=self.describe(node)), [self.describe(part) for part in found]
            )
        return found[0]


# ---- words and values ------------------------------------------------------------------------------


def _others(part: StepPart, members: Sequence[TaskNode]) -> tuple[Detail, ...]:
    """Who is to do a part without being a member of the whole."""
    told = [one.value or one.title for one in members]
    left = [words for words in part.members if not any(says_all(one, words) for one in told)]
    return (Detail(slot="assignee", value=join(left)),) if left else ()


_LED = re.compile(r"(?:till?|until|by|from|around|about)\s+", re.IGNORECASE)


def shift_text(text: str, sign: str, amount: str, now: datetime) -> str | None:
    """A text with its date, time or number changed by an amount; None where that has no meaning."""
    if sign == "*" or values.duration_of(amount) is None:
        return values.shift_number(text, sign, amount)
    if led := _LED.match(text):  # 'til 9'
        new = shift_text(text[led.end() :], sign, amount, now)
        return None if new is None else text[: led.end()] + new
    if (new := shift_datetime(text, sign, amount, now)) is not None:
        return new
    unit = re.search(r"min|hour|hr|day|night|week|month|year", amount.lower())
    return values.shift_number(text, sign, amount) if unit and unit[0] in text.lower() else None


_FACTORS = {"double": "*2", "twice": "*2", "triple": "*3", "half": "*0.5", "halve": "*0.5"}
_TIMES = re.compile(rf"({'|'.join(_FACTORS)})\b(?! an?\b| hour| day)")
_LESS = r"earlier|sooner|less|fewer|before|down|shorter|minus|lower|forward"
_WAYS = re.compile(rf"\b(?:{_LESS}|later|more|after|up|longer|plus|higher|by|back)\b")


def relative(change: str) -> str:
    """A change with its sign first: 'two days later' as '+two days', 'double' as '*2', '+3' as it is."""
    change = change.strip()
    if change[:1] in ("+", "-", "*"):
        return change
    lowered = change.lower()
    if times := _TIMES.match(lowered):
        return _FACTORS[times[1]]
    fewer = re.search(rf"\b(?:{_LESS})\b", lowered)
    return ("-" if fewer else "+") + " ".join(_WAYS.sub(" ", lowered).split())


def in_style(former: str, value: str) -> str:
    """A time written as the former one is: '4' as '4 PM' after '2 PM'."""
    half = re.search(r"\s*([ap])\.?m\.?$", former, re.IGNORECASE)
    hour = re.match(r"\d+", value)
    if half is None or hour is None or not re.fullmatch(r"[\d:]+(?: ?(?:-|to|until) ?[\d:]+)?", value):
        return value
    if int(hour[0]) <= 11 and not (int(hour[0]) >= 8 and half[1].lower() == "p"):
        return value + half[0]
    if int(hour[0]) > 12:
        return value if ":" in value else f"{value}:00"
    return f"{value} {'AM' if int(hour[0]) < 12 else 'PM'}" if int(hour[0]) >= 10 else value
