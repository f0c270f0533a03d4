"""Which task or slot words mean: one scored choice among all that there is. Used by every act and question.

A candidate's score is made of the part of the words that is in its title, value, kind of slot and what it is
part of (rare words count more), of how much of its title was said, and of how lately it was spoken of.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from taskloom.agent.exact_places import Doubt
from taskloom.agent.finding import is_member
from taskloom.agent.ground_base import Ground
from taskloom.agent.interpreter import View
from taskloom.agent.outline import is_assignee
from taskloom.agent.reading.clauses import Clause
from taskloom.agent.wording import word_set
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, words

from .topic import WEIGHTS, most_likely, spoken_of
from .typed import kind_of

POINTING = word_set(
    """it that this them they these those he she him her we us i me same here there its their theirs ours the
    thing things whole one ones such mine yours"""
)
_ORDINALS = {
    word: number
    for number, names in enumerate(("first 1st former", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"))
    for word in names.split()
} | {"last": -1, "latter": -1}
_LEAD = re.compile(
    r"(?:(?:a|an|the|my|our|his|her|their|your|some|on|at|in|for|to|by|of|with|from|and)\s+)+(?=\S)",
    re.IGNORECASE,
)
SURE, NAMED = 1.2, 0.34  # a candidate scores this at least, and this part of the mention's words is in it


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that words may mean.

    named: the part of the words that is in it. margin: of its score to the next best. rival: a slot of the
    same name in another plan.
    """

    node: TaskNode
    score: float
    named: float
    margin: float
    rival: TaskNode | None = None


class Resolver(Ground):
    """Finds what words mean in the plan as it is; margins: how clear each choice so far was."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.margins: list[float] = []
        self.clause: Clause | None = None

    def best(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> Candidate | None:
        """The best candidate of all, however bad.

        slots: a slot may be meant as well. gone: of what has left; None: of all.
        """
        pool = [node for node in self.graph.values() if gone is None or node.active != gone]
        if within is not None:
            inside = {node.id for node in self.graph.subtree(within.id, gone=True)}
            pool = [node for node in pool if node.id in inside]
        if not pool or not mention:
            return None
        held = Counter(word for node in pool for word in {*words(node.title), *words(node.value or "")})
        near, said = self._near(), content(mention)
        scored = sorted(
            ((*self._score(said, node, held, len(pool), near, slots=slots), node) for node in pool),
            key=lambda one: -one[0],
        )
        score, named, node = scored[0]
        rivals = [one for one in scored[1:] if one[2].parent != node.id and one[2].id != node.parent]
        alike = [
            one[2] for one in rivals[:1]
            if words(one[2].title) == words(node.title) and one[2].value is not None and one[1] == named
            and self.graph.root(one[2].id).id != self.graph.root(node.id).id
        ]  # fmt: skip
        return Candidate(node, score, named, score - rivals[0][0] if rivals else 3.0, next(iter(alike), None))

    def which(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """The task that words mean best, or None where none is meant well enough."""
        found = self.best(mention, slots=slots, gone=gone, within=within)
        if found is None or found.named < NAMED or found.score < SURE:
            return None
        self.margins.append(found.margin)
        if found.rival is not None and self._lately(found.rival) == self._lately(found.node):
            options = [self.describe(found.node), self.describe(found.rival)]
            raise Doubt(f"Which one do you mean by “{mention}”: {options[0]} or {options[1]}?", options)
        return found.node

    def _lately(self, node: TaskNode) -> int:
        """The turn in which anything in the plan of a task changed last."""
        return max(one.turn for one in self.graph.subtree(self.graph.root(node.id).id, gone=True))

    def _score(
        self,
        said: list[str],
        node: TaskNode,
        held: Counter[str],
        size: int,
        near: dict[str, float],
        *,
        slots: bool,
    ) -> tuple[float, float]:
        """How well words mean a task, and the part of them that is in it."""
        title, value = set(words(node.title)), set(words(node.value or ""))
        kind = set(words(node.slot.rpartition(".")[2].rstrip("0123456789").replace("_", " ")))
        above = {word for one in self.graph.ancestors(node.id) for word in words(one.title)}
        got = total = 0.0
        for word in said:
            weight = math.log(1 + size / (1 + held[word])) + 0.2
            total += weight
            alike = any(_alike(word, one) for one in title)
            places = ((title, 1.0), (value, 0.85), (kind, 0.6), (above, 0.35))
            got += weight * max([*(part for found, part in places if word in found), 0.8 * alike])
        named = got / total if total else 0.0
        own = title - STOP
        covered = len(own & set(said)) / max(1, len(own))
        slot = node.value is not None and node.parent is not None and not is_member(node)
        unfit = 0.5 if slot and not slots else 0.0
        return 3 * named + 0.6 * covered + 0.5 / (1 + near.get(node.id, 99)) - unfit, named

    def _near(self) -> dict[str, float]:
        """How far tasks are from what was last spoken of."""
        found: dict[str, float] = {}
        for rank, key in enumerate(key for key in self.focus if key in self.graph):
            found.setdefault(key, rank)
            for node in self.graph.ancestors(key):
                found.setdefault(node.id, rank + 0.5)
            for node in self.graph.parts(key):
                found.setdefault(node.id, rank + 0.7)
        return found

    # ---- what is spoken of ---------------------------------------------------------------------

    def topic(self) -> TaskNode | None:
        """What is spoken of where nothing is named, by all signs of `topic`."""
        before, reply = self.view.exchanges[-1] if self.view.exchanges else ("", "")
        if not reply and self.view.question is not None:
            reply = self.view.question.question
        turn = self.view.turn
        now = [key for key in self.focus if key in self.graph and self.graph[key].turn == turn]
        clause = self.clause
        kinds = {kind_of(one.text) for one in clause.all("V")} if clause is not None else set()
        signs = spoken_of(
            self.graph, self.focus, now if self.operations else (), (before, reply),
            clause.text if clause is not None else "", {kind for kind in kinds if kind is not None},
        )  # fmt: skip
        which = "later" if self.operations else "asked" if reply.rstrip().endswith("?") else "told"
        found = most_likely(signs, WEIGHTS[which])
        return self.graph[found] if found is not None else None

    def named_in(self, text: str) -> TaskNode | None:
        """The task that a text names by most of its title's words: the fullest, then the last."""
        said = words(text)
        place = {word: number for number, word in enumerate(said)}
        found = []
        for node in self.graph.active:
            title = [word for word in words(node.title) if word not in STOP]
            there = [place[word] for word in title if word in place]
            slot = node.value is not None and node.parent is not None and not is_member(node)
            if not slot and there and len(there) * 2 > len(title):
                found.append((len(there) / len(title), max(there), node))
        return max(found, key=lambda one: one[:2])[2] if found else None

    def task_of(self, node: TaskNode) -> TaskNode:
        """The task that a slot is of; any other is its own."""
        slot = node.value is not None and node.parent and not is_member(node)
        return self.graph[node.parent] if slot and node.parent else node

    def meant(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """What words mean; without words, or with a pronoun, the topic; 'the second' of what is listed."""
        said = mention.lower().split()
        if not said or set(said) <= POINTING:
            return within or self.topic()
        kinds = set(said) - {"the", "one", "item", "task", "thing", "step", "part", "point"}
        if len(kinds) == 1 and (rank := _ORDINALS.get(next(iter(kinds)))) is not None:
            base = within or self.topic()
            listed = self.listed(base) if base is not None else []
            if not listed and base is not None:
                listed = self.beside(base)
            if listed and rank < len(listed):
                return listed[rank]
        if kinds == {"other"} and (topic := self.topic()) is not None:
            others = [node for node in self.beside(topic) if node.id != topic.id]
            if len(others) == 1:
                return others[0]
        return self.which(mention, slots=slots, gone=gone, within=within)

    def beside(self, node: TaskNode) -> list[TaskNode]:
        """What stands in the same list as a task, with it; the plans for a plan."""
        return self.listed(self.graph[node.parent]) if node.parent else list(self.graph.parts(None))

    def listed(self, whole: TaskNode, *, gone: bool = False) -> list[TaskNode]:
        """The tasks and members in a task, without its slots and who has it."""
        parts = self.graph.parts(whole.id, gone=gone)
        return [node for node in parts if (is_member(node) or node.value is None) and not is_assignee(node)]


def bare(text: str) -> str:
    """Words without the articles and prepositions before them, and signs around them."""
    plain = text.strip(" .,!?;:")
    return _LEAD.sub("", plain, count=1).strip(" .,!?;:") if _LEAD.match(plain) else plain


def content(text: str) -> list[str]:
    """The stems of a text without little words; all of them where there are no others."""
    found = words(text)
    return [word for word in found if word not in STOP] or list(found)


def _alike(word: str, other: str) -> bool:
    """Whether two words begin alike, or one ends with the other: 'sitter' and 'babysitter'."""
    short, long = sorted((word, other), key=len)
    return len(short) > 3 and (
        (long.endswith(short) and len(short) > 5)
        or (other[:4] == word[:4] and abs(len(other) - len(word)) < 4)
    )
