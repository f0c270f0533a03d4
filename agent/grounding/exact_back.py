"""What was comes again, on tasks named by id: undone, done again, or as it was before."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.agent.grounding.workspace import renewed
from taskloom.agent.language import clarifications
from taskloom.agent.language.wording import clip
from taskloom.agent.plan.roles import has_former, tool_results
from taskloom.agent.turn.calls import rerun_operation
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Check, Question, Remove, Restore, Rollback, Undo, undoable
from taskloom.memory.tasks import TaskNode

from .exact_places import Doubt, Places, says_all


class Back(Places):
    """What is undone, and what goes back."""

    def _undo(self, step: Step) -> None:
        turns = [turn for turn in undoable(self.graph) if turn < self.view.turn]
        if step.task is None or step.task not in self.graph:
            last = turns[-1] if turns else None
            if last is not None and last < self.view.turn - 1 and self.view.question is not None:
                raise Doubt(
                    clarifications.UNDO_THAT_TURN(turn=last), ("yes",), (Undo(turn=last),)
                )  # fmt: skip
            self.do(Undo(turn=last), step.text)
            return
        inside = self.graph.subtree(step.task, gone=True)
        turn = max((node.turn for node in inside if node.turn < self.view.turn), default=None)
        changed = [node.id for node in self.graph.values() if node.turn == turn]
        if turn in turns and set(changed) <= {node.id for node in inside}:
            self.do(Undo(turn=turn), step.text)
            return
        for node in inside:
            if node.turn == turn and node.history:
                self.do(Rollback(task=node.id), step.text)
            elif node.turn == turn:
                self.do(Remove(task=node.id), step.text)

    def _redo(self, step: Step) -> None:
        """What was taken back last comes again: by an undo of everything, or one thing as it was before."""
        ways = {
            (one.turn, one.op)
            for node in self.graph.values()
            for one in node.states()
            if one.op in ("undo", "rollback")
        }
        if not ways:
            raise Doubt(clarifications.NOTHING_TO_REDO())
        turn, op = max(ways)
        if op == "undo":
            self.do(Undo(turn=turn), step.text)
            return
        for node in self.graph.values():
            if (node.turn, node.op) == (turn, "rollback"):
                self.do(Rollback(task=node.id), step.text)

    def _back(self, step: Step) -> None:
        """One slot or task to a state that it was in: the last other one, the first, or that of a value."""
        node = self._former_of(step)
        states = [
            (number, state) for number, state in enumerate(node.history)
            if state.active and (state.value is not None or node.value is None)
        ]  # fmt: skip
        if step.value:
            saying = [number for number, state in states if says_all(state.value or state.title, step.value)]
            if saying:
                self.do(Rollback(task=node.id, to=saying[-1]), step.text)
            elif says_all(node.value or node.title, step.value):
                self._back_in_the_plan(node, step)
            else:
                self._never_so(node, step.value, [state.value or state.title for _, state in states])
        elif step.old == "original" and states:
            self.do(Rollback(task=node.id, to=states[0][0]), step.text)
        elif not node.active:
            self.do(Restore(task=node.id), step.text)
        else:
            other = [
                number for number, state in states if (state.value, state.title) != (node.value, node.title)
            ]
            self.do(Rollback(task=node.id, to=other[-1] if other else None), step.text)

    def _again(self, step: Step) -> None:
        """A result is open again; whatever gave it gives it once more."""
        for node in tool_results(self.graph, step.target, self.focus):
            self.do(rerun_operation(node), step.text)

    def _former_of(self, step: Step) -> TaskNode:
        """The slot that goes back; of a task that never changed itself, the part that was changed last."""
        if step.task is None and not step.target and not step.slot and not step.within and step.value:
            once = [
                node for node in self.graph.values()
                if any(says_all(state.value or state.title, step.value) for state in node.history)
            ]  # fmt: skip
            if len(once) != 1:
                raise Doubt(
                    clarifications.WHAT_AGAIN(value=clip(step.value)),
                    [self.describe(node) for node in once[:6]],
                )
            return once[0]
        node = self.target(step, gone=True)
        if has_former(node) or not node.active or node.value is not None:
            return node
        changed = [part for part in self.graph.subtree(node.id, gone=True)[1:] if part.history]
        if step.value:
            once = [p for p in changed if any(says_all(s.value or s.title, step.value) for s in p.history)]
            other = [p for p in once if not says_all(p.value or p.title, step.value)]
            changed = other or once or changed
        latest = max((part.turn for part in changed), default=0)
        last = [part for part in changed if part.turn == latest]
        if len(last) > 1:
            raise Doubt(clarifications.WHAT_GOES_BACK(), [self.describe(part) for part in last[:6]])
        return last[0] if last else node

    def _back_in_the_plan(self, node: TaskNode, step: Step) -> None:
        if not node.active:
            self.do(Restore(task=node.id), step.text)
            return
        question = Question(kind="value", tasks=(node.id,), about=node.title)
        self.operations.append(Check(said=step.text[:300], question=question))

    def _never_so(self, node: TaskNode, value: str, former: Sequence[str]) -> None:
        task, wanted, known = clip(node.title), clip(value), list(dict.fromkeys(former))
        asked = (
            clarifications.NEVER_WAS_BUT(task=task, value=wanted, former=known)
            if known
            else clarifications.NEVER_WAS(task=task, value=wanted)
        )
        raise Doubt(asked, ("yes",), (renewed(node, value),))
