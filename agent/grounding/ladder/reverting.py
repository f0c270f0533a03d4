"""Steps that take back: undo, redo, back to what was before."""

from __future__ import annotations

from taskloom.agent.language import values
from taskloom.agent.language.words import content
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Check, Question, Restore, Rollback, Undo, undoable
from taskloom.memory.tasks import TaskNode

from .values import Values


class Reverts(Values):
    """What is taken back."""

    def _undo(self, step: Step) -> None:
        if step.everyone:  # everything as it was at the beginning
            for turn in reversed(undoable(self.graph)[1:]):
                self.do(Undo(turn=turn), step.text)
            return
        turns = undoable(self.graph)
        if turns and turns[-1] == self.view.turn:
            turns = turns[:-1]
        if not turns and not self.graph:
            return
        self.do(Undo(turn=turns[-1] if turns else None), step.text)

    def _redo(self, step: Step) -> None:
        turns = sorted(
            {state.turn for node in self.graph.values() for state in node.states() if state.op == "undo"}
        )
        if not turns:
            self.clarify(step, "Nothing was undone, so there is nothing to redo. What should I change?")
            return
        self.do(Undo(turn=turns[-1]), step.text)

    def _back(self, step: Step) -> None:
        original = step.old == "original"
        node = self.known(step)
        target = step.target
        owner, name = self._slot_of_owner(target) if node is None and target else (None, "")
        if owner is not None:
            node = self.slot(name, within=owner)
        if node is None and target:
            node = (
                self.slot(target)
                or self.find(target, loose=False)
                or self.find(target, gone=True, active=False)
            )
            if node is not None and node.value is None and not node.history and self.graph.parts(node.id):
                node = self._last_changed(within=node) or node
            if node is None:
                node = self._former_owner(target, None)
                if node is not None:
                    step = step.model_copy(update={"value": step.value or target})
        value = step.value
        if value:
            owner = self._former_owner(value, node)
            if owner is not None:
                to = self._state_with(owner, value, first=original)
                if to is not None:
                    if owner.active and to == len(owner.history):
                        self.touch(owner.id)
                        self.operations.append(
                            Check(
                                said=step.text,
                                question=Question(kind="value", tasks=(owner.id,), about=value),
                            )
                        )
                        return
                    self.do(Rollback(task=owner.id, to=to), step.text)
                    return
                self.do(Restore(task=owner.id), step.text)
                return
            if node is not None:
                self._assign_value(node, value, step)
                return
            self._set_it(step.model_copy(update={"details": _typed(value), "old": "last"}), None)
            return
        if node is None:
            node = self._last_changed()
        if node is None:
            self.clarify(step, "There is nothing to go back to. What should I change back?")
            return
        if node.value is None and not node.history:
            changed = self._last_changed(within=node)
            node = changed or node
        if not node.active:
            self.do(Restore(task=node.id), step.text)
            return
        if original:
            to = next(
                (
                    i
                    for i, state in enumerate(node.history)
                    if state.active and (state.value is not None or node.value is None)
                ),
                None,
            )
            self.do(Rollback(task=node.id, to=to), step.text)
        else:
            self.do(Rollback(task=node.id), step.text)

    def _former_owner(self, value: str, node: TaskNode | None) -> TaskNode | None:
        """The task that once had this value (or title)."""
        wanted = content(value)
        if not wanted:
            return None
        pool = [node] if node is not None else list(self.graph.values())
        found = []
        for one in pool:
            for state in one.history:
                if wanted <= content(state.value or state.title) and not (
                    wanted <= content(one.value or one.title) and one.active
                ):
                    found.append(one)
                    break
        if not found and node is None:
            now = [one for one in self.graph.active if one.value and wanted <= content(one.value)]
            return max(now, key=lambda one: one.turn) if now else None
        rank = {key: -position for position, key in enumerate(self.focus)}
        return max(found, key=lambda one: (one.active, rank.get(one.id, -99), one.turn)) if found else None

    def _state_with(self, node: TaskNode, value: str, *, first: bool) -> int | None:
        wanted = content(value)
        indexes = [
            i
            for i, state in enumerate(node.states())
            if state.active and wanted <= content(state.value or state.title)
        ]
        if not indexes:
            return None
        return indexes[0] if first else indexes[-1]


# ---- words and values ------------------------------------------------------------------------------


def _typed(value: str) -> tuple[Detail, ...]:
    kind = values.kind_of(value)
    slot = {"amount": "budget"}.get(kind or "", kind or "")
    return (Detail(slot=slot, value=value),) if kind in ("date", "time", "amount") else ()
