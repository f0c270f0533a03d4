"""Steps that move a value: later, earlier, more, double."""

from __future__ import annotations

from decimal import Decimal

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.moving import shift_datetime
from taskloom.agent.language.words import content, singular, slot_group
from taskloom.agent.plan.roles import is_member, typed_value_in, words_of
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Operation, Update
from taskloom.memory.tasks import TaskNode

from .workspace import Ground, exchanged, renewed


class Amounts(Ground):
    """Later, earlier, more, double."""

    def _shift(self, step: Step) -> None:
        change = relative(step.value or "")
        sign, amount = change[:1], change[1:]
        delta = values.duration_of(amount) if sign in "+-" else None
        if delta is not None and step.slot != "duration":
            kind = "time" if delta.total_seconds() % 86400 else "date"
            node = self._shiftable(step, kind)
            named = (
                self._dated(step, kind)
                if node is None or (step.target and node.value and not self._about(step.target, node))
                else None
            )
            if named is not None:
                inner = typed_value_in(named.title, kind) or ""
                moved = shift_datetime(inner, sign, amount, self.view.now)
                if moved is not None:
                    self.do(Update(task=named.id, title=exchanged(named.title, inner, moved)), step.text)
                    return
            if node is None or node.value is None:
                self.clarify(step, f"What should move by {amount}?", *self._typed_options(kind))
                return
            moved = shift_datetime(node.value, sign, amount, self.view.now)
            if moved is None:
                self.clarify(
                    step, f"What is {amount} {'after' if sign == '+' else 'before'} {node.value} exactly?"
                )
                return
            self.do(Update(task=node.id, value=moved), step.text)
            return
        if delta is not None:
            node = self._shiftable(step, "duration") or self._shiftable(step, "time")
            if node is not None and node.value:
                number = values.number_of(node.value)
                change_by = values.number_of(amount) or Decimal(1)
                if number is not None and values.kind_of(node.value) == "duration":
                    self._change_number(node, change_by, sign, step)
                    return
            self.clarify(step, f"What should be {amount} {'longer' if sign == '+' else 'shorter'}?")
            return
        number_node = self._number_slot(step.target) if step.target else self._number_in_focus()
        if number_node is None and step.target:
            number_node = self._number_slot(singular(step.target))
        if number_node is None:
            if step.target and sign == "+" and step.slot == "count" and self.container("") is not None:
                self.clarify(step, f"How many {step.target} are there now, and which one is new?")
                return
            self.clarify(step, f"What number should I change{f' for {step.target}' if step.target else ''}?")
            return
        percent = re.match(r"\d+(?:\.\d+)?(?=\s?(?:%|percent))", amount)
        by = Decimal(amount) if sign == "*" else Decimal(percent[0]) if percent else values.number_of(amount)
        if by is None:
            self.clarify(step, f"By how much should {number_node.title} change?")
            return
        if "%" in amount or "percent" in amount:
            sign, by = "*", (Decimal(100) + (by if sign == "+" else -by)) / 100
        self._change_number(number_node, by, sign, step)

    def _about(self, words: str, node: TaskNode) -> bool:
        """Whether words that name what moves can mean this slot or something it is part of."""
        wanted = content(words)
        above = [node, *self.graph.ancestors(node.id)]
        return bool(slot_group(words)) or any(wanted & words_of(one) for one in above)

    def _dated(self, step: Step, kind: str) -> TaskNode | None:
        """The task whose name carries the date or time to move: 'experiments by July 15'."""
        if (
            step.target
            and (node := self.find(step.target)) is not None
            and node.value is None
            and typed_value_in(node.title, kind)
        ):
            return node
        for node in self.focus_nodes():
            for one in (node, *self.graph.parts(node.id), *self.graph.parts(node.parent)):
                if one.value is None and typed_value_in(one.title, kind):
                    return one
        return None

    def _typed_options(self, kind: str) -> tuple[tuple[str, ...], tuple[Operation, ...]]:
        found = [n for n in self.graph.active if n.value and values.kind_of(n.value) == kind]
        return tuple(self.describe(n) for n in found[:6]), ()

    def _shiftable(self, step: Step, kind: str) -> TaskNode | None:
        known = self.known(step)
        if known is None and step.target:
            known = self.find(step.target)
            words = content(step.target)
            if known is not None and known.value and values.kind_of(known.value) == kind:
                return known
            if (slot := self.slot(step.target)) and slot.value and values.kind_of(slot.value) == kind:
                return slot
            if known is None and not (words and slot_group(step.target)):
                known = None
        if known is not None:
            if known.value and values.kind_of(known.value) == kind:
                return known
            for node in (
                self.graph.subtree(known.id)[1:]
                if known.value is None
                else self.graph.subtree(self.holder(known).id)[1:]
            ):
                if node.value and values.kind_of(node.value) == kind:
                    return node
            for part in self.graph.parts(known.parent) if known.parent else ():
                if part.value and values.kind_of(part.value) == kind and not is_member(part):
                    return part
        if step.target and known is None and not slot_group(step.target):
            pass
        for node in self.focus_nodes():
            if node.value and values.kind_of(node.value) == kind:
                return node
            for scope in (node, *self.graph.ancestors(node.id)):
                typed = [
                    p
                    for p in self.graph.parts(scope.id)
                    if p.value and values.kind_of(p.value) == kind and not is_member(p)
                ]
                if typed:
                    return max(typed, key=lambda p: p.turn)
        everywhere = [n for n in self.graph.active if n.value and values.kind_of(n.value) == kind]
        return everywhere[0] if len(everywhere) == 1 else None

    def _number_in_focus(self) -> TaskNode | None:
        for node in self.focus_nodes():
            for one in (node, *self.graph.parts(node.id)):
                holds = one.value if one.value is not None else one.title
                if values.number_of(holds) is not None and values.kind_of(holds) not in (
                    "date",
                    "time",
                    "email",
                    "phone",
                ):
                    return one
        return None

    def _change_number(self, node: TaskNode, by: Decimal, sign: str, step: Step) -> None:
        holds = node.value if node.value is not None else node.title
        now = values.number_of(holds) or Decimal(0)
        new = now * by if sign == "*" else now + by if sign == "+" else now - by
        if new < 0:
            self.clarify(
                step, f"{node.title} is {holds}; that would be less than nothing. How many should it be?"
            )
            return
        text = values.with_number(holds, new.normalize() if new != new.to_integral() else new)
        self.do(renewed(node, text), step.text)


# ---- words and values ------------------------------------------------------------------------------


def relative(change: str) -> str:
    """A relative change with its sign first: 'two days later' as '+two days', 'double' as '*2', '+3' as it is."""
    change = change.strip()
    if change[:1] in ("+", "-", "*"):
        return change
    lowered = change.lower()
    for word, factor in (
        ("double", "*2"),
        ("twice", "*2"),
        ("triple", "*3"),
        ("half", "*0.5"),
        ("halve", "*0.5"),
    ):
        if re.match(rf"{word}\b(?! an?\b| hour| day)", lowered):
            return factor
    fewer = re.search(r"\b(?:earlier|sooner|less|fewer|before|down|shorter|minus|lower|forward)\b", lowered)
    amount = re.sub(
        r"\b(?:earlier|sooner|later|less|fewer|more|before|after|up|down|shorter|longer|minus|plus|lower|higher|by|back|forward)\b", " ", lowered
    )  # fmt: skip
    return ("-" if fewer else "+") + " ".join(amount.split())
