"""From the slots that a message fills to steps, for the last task of that kind or a new one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from taskloom.agent.language.wording import spoken
from taskloom.agent.plan.kinds import held_slots, kind_of, telling_words, title_of_kind
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.tasks import TaskNode

from .slots import Filled, Key, Known

_LEAD = re.compile(r"^(?:(?:[Ii]t|[Tt]hat)(?:['’]?s| is)\s+|[Aa]n?\s+(?=[a-z]))")
BEGINS, BESIDE = 0.6, 0.85
"""From which probability on a slot of a kind that no task is of is filled: of the first task, of one more."""


class Filling:
    """The kinds of tasks that there are schemas of, and the open task of each that was spoken of last."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.tasks = {schema.name: _task_of(schema, view) for schema in view.schemas}

    def known(self) -> Known:
        """Which slots have a value, and of which kind the task is whose slot was changed last."""
        held, last, latest = set[Key](), "", -1
        for schema in self.view.schemas:
            for slot, nodes in self._held(schema).items():
                for node in nodes:
                    if node.active and node.value is not None:
                        held.add(Key(schema.name, slot))
                        if node.turn > latest:
                            last, latest = schema.name, node.turn
        return Known(frozenset(held), last)

    def plausible(self, found: Sequence[Filled], said: str = "") -> list[Filled]:
        """The slots that are filled: of the tasks that there are, and, where that is sure, of one new one.

        said: the message; of several new kinds the one that it names goes first.
        """
        begun = {name for name, task in self.tasks.items() if task is not None}
        new = Counter(one.key.schema for one in found if one.key.schema not in begun)
        surest = {one.key.schema: one.probability for one in sorted(found, key=lambda one: one.probability)}
        named = self.named(said)
        best = max(new, key=lambda name: (name in named, new[name], surest[name]), default="")
        best = best if best in named or not named else ""
        least = 0.0 if len(self.view.schemas) == 1 else BESIDE if begun else BEGINS
        return [
            one for one in found
            if one.key.schema in begun or (one.key.schema == best and one.probability >= least)
        ]  # fmt: skip

    def named(self, said: str) -> set[str]:
        """The kinds that a message names, by a word that tells one from the others."""
        own = {schema.name: telling_words(spoken(schema.name)) for schema in self.view.schemas}
        told = telling_words(said)
        return {name for name, words in own.items() if words & told and not self._shared(words & told, own)}

    @staticmethod
    def _shared(words: frozenset[str], own: Mapping[str, frozenset[str]]) -> bool:
        return sum(bool(words & others) for others in own.values()) > 1

    def steps(self, found: Sequence[Filled], said: str) -> tuple[Step, ...]:
        """What a message does that gives these slots their values."""
        steps: list[Step] = []
        for schema in self.view.schemas:
            told = [one for one in found if one.key.schema == schema.name]
            if not told:
                continue
            task, held, new = self.tasks[schema.name], self._held(schema), list[Detail]()
            for one in told:
                node = next(filter(self._takes, held.get(one.key.slot, ())), None)
                if node is None:
                    new.append(Detail(slot=one.key.slot, value=_plain(one.value)))
                else:
                    value = _plain(one.value)
                    steps.append(Step(text=said, act="set", task=node.id, kind=schema.name, value=value))
            if task is None:
                title = title_of_kind(schema)
                steps.append(Step(text=said, act="task", title=title, kind=schema.name, details=tuple(new)))
            elif new:
                steps.append(Step(text=said, act="set", task=task.id, kind=schema.name, details=tuple(new)))
        return tuple(steps)

    def _held(self, schema: TaskSchema) -> Mapping[str, Sequence[TaskNode]]:
        task = self.tasks[schema.name]
        return {} if task is None else held_slots(self.view.graph, task.id, schema)

    def _takes(self, node: TaskNode) -> bool:
        """Whether a slot that there is takes the value: it has one, or is open."""
        return node.active and (node.value is not None or not self.view.graph.parts(node.id))


def _plain(value: str) -> str:
    """A value without what leads to it: 'cordless drill' of 'A cordless drill', 'Oslo' of "it's Oslo"."""
    return _LEAD.sub("", value) or value


def _task_of(schema: TaskSchema, view: View) -> TaskNode | None:
    """The open task of a kind that was spoken of last."""
    roots = [node for node in view.graph.parts(None) if node.active and node.status != "done"]
    own = [node for node in roots if kind_of(view.graph, node.id, view.schemas) == schema]
    focus = {
        view.graph.root(key).id: -at for at, key in reversed([*enumerate(view.focus)]) if key in view.graph
    }
    return max(own, key=lambda node: (focus.get(node.id, -99), node.turn), default=None)
