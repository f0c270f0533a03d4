"""What is parted, and what is one again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.plan.topic import is_slot, share_named
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import StepPart
from taskloom.memory.operations import is_part
from taskloom.memory.tasks import TaskNode

from .giving import Giving
from .plain import one, words_outside
from .resolver import bare, content


class Splitting(Giving):
    """Tasks in parts by who does what, and the other way round."""

    def split(self, clauses: Sequence[Clause]) -> None:
        """A task in parts: by who goes where; where each part has a name of its own, by these.

        Raises:
            Doubt: there is nothing to split.
        """
        names = list(dict.fromkeys(one(clause, "T") for clause in clauses if one(clause, "T")))
        if len(names) == len(clauses) > 1:
            self._by_name(clauses)
            return
        named = next((one(clause, "TW") for clause in clauses if one(clause, "TW")), "")
        node = self.meant(named) if named else self._unmarked(clauses[0]) or self.topic()
        if node is not None and not named and node.parent is None and self.listed(node):
            raise Doubt(f"What of {self.describe(node)} should be split?")
        if node is None or len(clauses) < 2:
            raise Doubt("How should it be split?")
        parts = []
        for clause in clauses:
            people = [self._person(span.text) for span in clause.all("PI")]
            rest = bool(people) and bool(re.match(r"(?:the )?(?:rest|others?)\b", people[0], re.IGNORECASE))
            told = tuple(self._details(clause))
            parts.append(StepPart(members=() if rest else tuple(people), rest=rest, details=told))
        self._act("split", task=node.id, parts=tuple(parts))

    def _by_name(self, clauses: Sequence[Clause]) -> None:
        """Parts that are named: who has each, and its values; new ones in what is spoken of."""
        self.clause = clauses[0]
        whole = self.place(clauses[0]) or self._unmarked(clauses[0]) or self.topic()
        for clause in clauses:
            name = one(clause, "T")
            found = self.best(name, within=whole)
            known = found is not None and found.named > 0.99 and not is_slot(found.node)
            node = (
                found.node if found is not None and known else self._made(name, whole.id if whole else None)
            )
            for told in (*self._people(clause), *self._details(clause)):
                self._set_one(node, told, clause, named=told.slot == "who" or bool(clause.all("S")))

    def _unmarked(self, clause: Clause) -> TaskNode | None:
        """The one task that the unmarked words of a clause name best: 'desks are going in two lots'."""
        said = set(content(words_outside(clause, "PVISTW")))
        said -= {word for span in clause.all("P") for word in content(span.text)}
        scored = sorted(
            ((share_named(node.title, said), node) for node in self.graph.active if not is_slot(node)),
            key=lambda found: -found[0],
        )
        clear = scored and scored[0][0] and (len(scored) == 1 or scored[0][0] > scored[1][0])
        return scored[0][1] if clear else None

    def _read_merge(self, clause: Clause) -> None:
        node = self.meant(one(clause, "T") or one(clause, "W"))
        if node is None:
            raise Doubt("What should be one again?")
        whole = self._joined(self.task_of(node), [bare(span.text) for span in clause.all("T")[1:]])
        for who in self._people(clause):
            self._act("set", task=whole.id, details=(who,))
        for told in self._details(clause):
            self._set_one(whole, told, clause, named=bool(clause.all("S")))

    def _joined(self, node: TaskNode, others: Sequence[str]) -> TaskNode:
        """The whole whose parts are one again: those that came into it together, after it, each somebody's.

        Raises:
            Doubt: nothing was parted there.
        """
        if is_part(node) or any(is_part(part) for part in self.graph.parts(node.id)):
            whole = self.graph[node.parent] if is_part(node) and node.parent else node
            self._act("merge", task=whole.id)
            return whole
        for whole in (node, *([self.graph[node.parent]] if node.parent else [])):
            parts = self._parted(whole, node)
            named = [self.which(name) for name in others]
            if parts and all(part is None or part in parts for part in named):
                self._act_on("remove", parts)
                return whole
        raise Doubt(f"What of {self.describe(node)} should be one again?")

    def _parted(self, whole: TaskNode, node: TaskNode) -> list[TaskNode]:
        """The parts of a whole that came together and later than it, the latest first; with one of them."""
        groups: dict[int, list[TaskNode]] = {}
        for part in self.listed(whole):
            if _turn_added(part) > _turn_added(whole) and self.graph.parts(part.id) and not self.listed(part):
                groups.setdefault(_turn_added(part), []).append(part)
        together = [
            parts for _, parts in sorted(groups.items(), reverse=True)
            if len(parts) > 1 and (node.id == whole.id or node in parts)
        ]  # fmt: skip
        return together[0] if together else []


def _turn_added(node: TaskNode) -> int:
    """The turn in which a task came into the plan."""
    return next(iter(node.states())).turn
