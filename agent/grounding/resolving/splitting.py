"""What is parted, and what is one again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language import values
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.wording import entries, join
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import share_named
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import StepPart
from taskloom.memory.operations import is_part
from taskloom.memory.tasks import TaskNode

from .giving import Giving
from .people import ME
from .plain import one, words_outside
from .scoring import POINTING, bare, content

_REST = re.compile(r"(?:the )?(?:rest|(?:other|remaining)(?:s|\b)|every(?:one|body) else)", re.IGNORECASE)
_EVERYBODY = re.compile(r"(?:all|every)\s*(?:\w+|of (?:us|them|you))?", re.IGNORECASE)


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
        named = next((name for name in (one(clause, "TW") for clause in clauses) if not _points(name)), "")
        if len(clauses) == 1 and (kinds := self._parts_named(clauses[0])):
            self._into(named, kinds)
            return
        groups = [self._group(clause) for clause in clauses]
        held = None if named else self._holding_all(groups)
        node = self.resolve(named) if named else held or self._unmarked(clauses[0]) or self.topic()
        if node is not None and held is None and not named and node.parent is None and self.listed(node):
            raise Doubt(f"What of {self.describe(node)} should be split?")
        if node is None or len(clauses) < 2:
            raise Doubt("How should it be split?")
        parts = []
        for clause, people in zip(clauses, groups, strict=True):
            rest = bool(people) and _REST.match(people[0]) is not None
            told = tuple(self._details(clause))
            parts.append(StepPart(members=() if rest else tuple(people), rest=rest, details=told))
        self._act("split", task=node.id, parts=tuple(parts))

    def _parts_named(self, clause: Clause) -> list[str]:
        """The parts that one clause names of what it splits: 'the drinks into wine and soft drinks'."""
        spans = clause.all("VI")
        plain = all(kind_of(span.text) is None and not _points(span.text) for span in spans)
        return [bare(span.text) for span in spans] if len(spans) > 1 and plain and not clause.all("P") else []

    def _into(self, name: str, parts: Sequence[str]) -> None:
        """Parts of a task by their names.

        Raises:
            Doubt: there is nothing to split.
        """
        node = self.resolve(name) if name else self.topic()
        if node is None or is_slot(node):
            raise Doubt("What should be split?")
        for part in parts:
            self._create(part, node.id)

    def _group(self, clause: Clause) -> list[str]:
        """The names of who or what goes to a part; of 'those two' the members that the message names."""
        found = list[str]()
        for span in clause.all("PI"):
            if _points(span.text) and not ME & set(span.text.lower().split()):
                found += self._members_in(self.said) or [self._person(span.text)]
                continue
            found += [self._person(name) for name in entries(span.text) or [span.text]]
        return found

    def _members_in(self, text: str) -> list[str]:
        """The titles of the members that words name in full."""
        said = set(content(text))
        held = [node for node in self.graph.active if is_member(node) and not is_slot(node)]
        return [node.title for node in held if set(content(node.title)) <= said]

    def _holding_all(self, groups: Sequence[Sequence[str]]) -> TaskNode | None:
        """The task that most of those who are told apart are members of, the one spoken of lately first."""
        names = [name for group in groups for name in group if _REST.match(name) is None]
        near, count = self._near(), dict[str, int]()
        for name in names:
            said = set(content(name))
            for node in self.graph.active:
                if node.parent and is_member(node) and not is_slot(node) and said <= set(content(node.title)):
                    count[node.parent] = count.get(node.parent, 0) + 1
        most = max(count, key=lambda key: (count[key], -near.get(key, 99)), default=None)
        return self.graph[most] if most is not None and 2 * count[most] > len(names) else None

    def _by_name(self, clauses: Sequence[Clause]) -> None:
        """Parts that are named: who has each, and its values; new ones in what is spoken of."""
        self.clause = clauses[0]
        whole = self.place(clauses[0]) or self._unmarked(clauses[0]) or self.topic()
        for clause in clauses:
            name = one(clause, "T")
            found = self.best(name, within=whole)
            known = found is not None and found.named > 0.99 and not is_slot(found.node)
            node = (
                found.node if found is not None and known else self._create(name, whole.id if whole else None)
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
        if len(several := self._several_merged(clause)) > 1:
            self._make_one(several, clause)
            return
        whole = self._one_again(clause)
        for who in self._people(clause):
            if not self._means_all(who.value):
                self._act("set", task=whole.id, details=(who,))
        for told in self._details(clause):
            slots = {slot_name(part.title): part for part in self.graph.parts(whole.id) if is_slot(part)}
            if (held := slots.get(told.slot)) is not None:  # it came back with the parts, for a new value
                self._act("set", task=held.id, value=told.value)
            else:
                self._set_one(whole, told, clause, named=bool(clause.all("S")))

    def _several_merged(self, clause: Clause) -> list[TaskNode]:
        """The tasks that a clause makes one of; [] where they are parts of what was one before."""
        names = [bare(span.text) for span in clause.all("T")]
        if len(names) < 2 or any(_points(name) or self._means_all(name) for name in names):
            return []
        found = [self.which(name) for name in names]
        nodes = {node.id: node for node in found if node is not None and not is_slot(node)}
        if len(nodes) < len(names) or any(map(is_part, nodes.values())):
            return []
        wholes = {node.parent: self.graph[node.parent] for node in nodes.values() if node.parent}
        once = any({*nodes} <= {part.id for part in self._parted(one, one)} for one in wholes.values())
        return [] if once else list(nodes.values())

    def _make_one(self, nodes: Sequence[TaskNode], clause: Clause) -> None:
        """One task of several, under the name that it gets, else by theirs; what was told of each goes."""
        spans = [span for span in clause.all("V") if kind_of(span.text) is None]
        title = bare(spans[0].text) if spans else join([node.title for node in nodes], limit=len(nodes))
        first, *others = nodes
        if self.graph.parts(first.id):
            whole = self._create(title, first.parent)
            others = list(nodes)
        else:
            self._act("set", task=first.id, value=title)
            whole = self.graph[first.id]
        self._act_on("remove", others)
        rest = replace(clause, mentions=tuple(span for span in clause.mentions if span not in spans[:1]))
        for told in (*self._people(rest), *self._details(rest)):
            self._set_one(whole, told, rest, named=told.slot == "who" or bool(rest.all("S")))

    def _one_again(self, clause: Clause) -> TaskNode:
        """What a clause makes one again: what it names, else what was parted last.

        Raises:
            Doubt: nothing was parted.
        """
        name = one(clause, "T") or one(clause, "W")
        node = self.resolve(name) if name and not self._means_all(name) else self.topic()
        try:
            if node is None:
                raise Doubt("What should be one again?")
            return self._joined(self.task_of(node), [bare(span.text) for span in clause.all("T")[1:]])
        except Doubt:
            named = self.best(bare(name)) if name and not _points(name) else None
            told = named is not None and named.named > 0.99 and not is_member(named.node)
            if told or (last := self._parted_last()) is None:
                raise
            return self._joined(last, ())

    def _means_all(self, name: str) -> bool:
        """Whether words mean everybody: 'everyone', 'all three'."""
        return self.says_all(name) or _EVERYBODY.fullmatch(name) is not None

    def _parted_last(self) -> TaskNode | None:
        """The task that was parted last: what a split made, else parts that came together and are alike."""
        split = [node for node in self.graph.active if is_part(node) and node.parent]
        if split:
            return self.graph[max(split, key=_turn_added).parent or ""]
        found = list[tuple[int, str]]()
        for node in self.graph.active:
            parts = self._parted(node, node) if not is_slot(node) else []
            slots = [{slot_name(slot.title) for slot in self.graph.parts(part.id)} for part in parts]
            if slots and set[str].intersection(*slots):
                found.append((_turn_added(parts[0]), node.id))
        return self.graph[max(found)[1]] if found else None

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


def _points(name: str) -> bool:
    """Whether words only point, and how many there are: 'it', 'those two'; nothing said points as well."""
    said = re.findall(r"[^\W\d_]+", name.lower())
    return all(word in POINTING or word in values.NUMBER_WORDS for word in said)


def _turn_added(node: TaskNode) -> int:
    """The turn in which a task came into the plan."""
    return next(iter(node.states())).turn
