"""From steps to operations: what the words mean in the plan as it is.

Steps are grounded one after the other on the graph that the earlier ones leave behind, so that "add a task
and assign it to Ana" works in one utterance. What cannot be grounded becomes a clarification, never a guess.

Each act is a method: those here, and those of ground_*.py by kind, each of which builds on the ones before.
"""

from __future__ import annotations

from collections.abc import Iterable

from taskloom.agent.grounding.ladder.asking import Asker
from taskloom.agent.grounding.ladder.people import People
from taskloom.agent.grounding.ladder.shaping import Shapes
from taskloom.agent.language.wording import DID_YOU_MEAN, clip
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Check, Clarify, Operation

from .asking_first import describe_operations


def ground(steps: Iterable[Step], view: View) -> tuple[Operation, ...]:
    """Ground steps in order.

    Returns:
        Operations on task ids, to be applied in this order; ids of tasks that earlier ones will make are
        those that `apply` will give them.
    """
    grounder = _Grounder(view)
    for step in steps:
        grounder.step(step)
    return tuple(grounder.operations)


class _Grounder(Shapes, People):
    """All steps, each by the method of its act."""

    def _unsure(self, step: Step) -> None:
        if not step.proposed:
            self.clarify(
                step,
                f"I am not sure what to do with “{clip(step.value or step.text)}”. "
                "Is it something to add, or about something in the plan?",
            )
            return
        trial = type(self)(self.view, self.graph, self.focus)
        for inner in step.proposed:
            trial.step(inner)
        choices = tuple(op for op in trial.operations if not isinstance(op, Clarify | Check))
        if choices:
            meant = f"{DID_YOU_MEAN}{describe_operations(choices, self.graph)}?"
            self.clarify(
                step,
                f"Shall I do that ({clip(step.value)})?" if step.value else meant,
                ("yes",) if len(choices) == 1 else (),
                choices,
            )

    def _ask(self, step: Step) -> None:
        check = Asker(self.graph, self.focus, self.new).ask(step)
        if check is not None:
            for key in reversed(check.question.tasks[:3]):
                if self.graph[key].active:
                    self.touch(key)
            self.operations.append(check)
