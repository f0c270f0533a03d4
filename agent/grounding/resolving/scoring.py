"""Which task or slot words name: one scored choice among all that there is.

A candidate's score is made of the part of the words that is in its title, value, kind of slot and what it is
part of (rare words count more), of how much of its title was said, and of how lately it was spoken of.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.grounding.workspace import Ground
from taskloom.agent.language.values import number_of
from taskloom.agent.plan.held import (
    alike,
    candidates_by_stems,
    first_of,
    has_stem,
    some_of_each,
    stems_in,
    tasks_with_stem,
)
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.reading import View
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import STOP, word_set, words

POINTING = word_set(
    """it that this them they these those he she him her we us i me same here there its their theirs ours the
    thing things whole one ones such mine yours which em theyre hes shes its"""
)
_LEAD = re.compile(
    r"(?:(?!at\s+(?:least|most)\b)"
    r"(?:a|an|the|my|our|his|her|its|their|your|some|on|at|in|for|to|by|of|with|from|and)\s+)+(?=\S)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"(?<=\w)\s+(?:thing|stuff|bit)s?\W*$|(?<=\w)(?<!\bthe)(?<!\bthat)\s+ones?\W*$", re.IGNORECASE
)
"""A noun that says nothing: 'the wednesday thing', 'the ring one'."""
_POINTS = re.compile(r"(?:the|my|our|your|his|her|their|this|that|these|those)\b", re.IGNORECASE)
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


class Memo:
    """What was found in graphs, each kept beside it, so that no other graph has its identity."""

    def __init__(self) -> None:
        self.best: dict[object, tuple[TaskGraph, Candidate | None]] = {}
        self.topic: dict[object, tuple[TaskGraph, str | None]] = {}
        self.held: dict[object, tuple[TaskGraph, int]] = {}


class Scoring(Ground):
    """Finds what words name in the plan as it is; margins: how clear each choice so far was."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.margins: list[float] = []
        self.clause: Clause | None = None
        self.memo = Memo()
        self.framed = ""  # the plan that this message only named, for what comes after that
        self.told_of = ""  # the plan that this message is about, by its frame

    def best(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> Candidate | None:
        """The best candidate of all, however bad.

        slots: a slot may be meant as well. gone: of what has left; None: of all.
        """
        key = (id(self.graph), tuple(self.focus), mention, slots, gone, within.id if within else None)
        if key not in self.memo.best:
            self.memo.best[key] = self.graph, self._best(mention, slots=slots, gone=gone, within=within)
        return self.memo.best[key][1]

    def _best(
        self, mention: str, *, slots: bool, gone: bool | None, within: TaskNode | None
    ) -> Candidate | None:
        graph, inside = self.graph, None
        if within is not None:
            inside = {node.id for node in graph.subtree(within.id, gone=True)}

        def fits(node: TaskNode) -> bool:
            return (gone is None or node.active != gone) and (inside is None or node.id in inside)

        size = self._size(gone) if inside is None else sum(fits(graph[key]) for key in inside)
        if not size or not mention:
            return None
        near, said = self._near(), tuple(content(_HEAD.sub("", mention)))

        def held(word: str) -> int:
            if inside is None:
                return self._held(word, gone)
            return sum(fits(graph[key]) for key in inside if has_stem(graph[key], word))

        weights = tuple(math.log(1 + size / (1 + held(word))) + 0.2 for word in said)

        def scored(node: TaskNode) -> tuple[float, float]:
            return self._score(said, weights, node, near, slots=slots)

        by_name, apart_said = candidates_by_stems(graph, said)
        slots_said = (graph[key] for key in apart_said if is_slot(graph[key]))
        owners = {slot.parent for slot in slots_said if slot.parent}
        alone = apart_said | near.keys() | owners
        same_name = some_of_each(graph, (key for key in by_name - alone if fits(graph[key])))
        scores = {key: scored(graph[key]) for key in (*alone, *same_name) if fits(graph[key])}
        others = self._plain(alone | by_name, fits, slots=slots)
        if (other := next(others, None)) is not None:
            scores[other.id] = scored(other)
        node = graph[_highest(scores)]

        def apart(one: TaskNode) -> bool:
            return one.id != node.id and one.parent != node.id and one.id != node.parent

        if other is not None and not apart(other) and (more := next(filter(apart, others), None)) is not None:
            scores[more.id] = scored(more)
        (score, part), rivals = scores[node.id], {key: scores[key] for key in scores if apart(graph[key])}
        if not rivals:
            return Candidate(node, score, part, 3.0)
        rival = graph[_highest(rivals)]
        same = (
            words(rival.title) == words(node.title) and rival.value is not None
            and rivals[rival.id][1] == part and graph.root(rival.id).id != graph.root(node.id).id
        )  # fmt: skip
        return Candidate(node, score, part, score - rivals[rival.id][0], rival if same else None)

    def _held(self, word: str, gone: bool | None) -> int:
        """In how many tasks a stem is: in those that have left, in others, or in all."""
        key = (id(self.graph), word, gone)
        if key not in self.memo.held:
            nodes = tasks_with_stem(self.graph, word)
            count = sum(gone is None or node.active != gone for node in nodes)
            self.memo.held[key] = self.graph, count
        return self.memo.held[key][1]

    def _size(self, gone: bool | None) -> int:
        """How many tasks there are: gone ones, others, or all."""
        active = len(self.graph.active)
        return len(self.graph) if gone is None else len(self.graph) - active if gone else active

    def _plain(
        self, named: Collection[str], fits: Callable[[TaskNode], bool], *, slots: bool
    ) -> Iterator[TaskNode]:
        """The tasks beside those that words may mean, the best ones first: none of them is like the words."""
        for unfit in (False,) if slots else (False, True):
            for node in self.graph.values():
                if node.id not in named and fits(node) and (slots or is_slot(node) == unfit):
                    yield node

    def which(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """The task that words mean best, or None where none is meant well enough."""
        found = self.best(mention, slots=slots, gone=gone, within=within)
        if found is not None and slots:
            found = self._last_of_two(mention, found)
        if found is None or found.named < NAMED or found.score < SURE:
            return None
        if found.named < 0.99 and gone is False and self.is_another(mention, found.node):
            return None
        if found.named < 0.99 and gone is False and found.node.parent is None and within is None:
            left = self.best(mention, slots=slots, gone=True)
            if left is not None and left.named > 0.99 and left.node.parent is None:
                return None  # 'the London parcel' is cancelled, and the one to Atlanta is another one
        self.margins.append(found.margin)
        if found.rival is not None and self._lately(found.rival) == self._lately(found.node):
            options = [self.describe(found.node), self.describe(found.rival)]
            raise Doubt(f"Which one do you mean by “{mention}”: {options[0]} or {options[1]}?", options)
        return found.node

    def peek(self, mention: str, *, slots: bool = False, gone: bool | None = False) -> TaskNode | None:
        """As `which`, where it only matters whether there is such a task, and not how clear that is."""
        count = len(self.margins)
        try:
            return self.which(mention, slots=slots, gone=gone)
        finally:
            del self.margins[count:]

    def _last_of_two(self, mention: str, found: Candidate) -> Candidate:
        """What was found; of two slots of a task whose names follow each other, the last: 'seats taken'."""
        said = content(mention)
        if len(said) != 2 or not is_slot(found.node) or content(found.node.title) != said[:1]:
            return found
        slots = self.graph.parts(found.node.parent)
        last = [one for one in slots if is_slot(one) and content(one.title) == said[1:]]
        return replace(found, node=last[0]) if len(last) == 1 else found

    def is_another(self, mention: str, node: TaskNode) -> bool:
        """Whether words and a task share all but a number at the end, or what is added just its last word.

        'Week 2' and 'week 1'; 'herb bed' and 'tomato bed'.
        """
        if is_slot(node):
            return False
        said, title = content(mention), content(node.title)
        if said and said[-1].isdigit() and not set(title) <= set(said) and said[-1] not in title:
            numbered = bool(title) and title[-1].isdigit()  # 'week 2' is no 'week 1', from 2 or not
            return numbered or said[-1] not in stems_in(node).value | self.names_of(node)
        if min(len(said), len(title)) < 2 or (self.is_known(mention) and self._may_be_known()):
            return False
        if said[-1] != title[-1] or set(said[:-1]) & set(title[:-1]):
            return False
        known = self.names_of(node).union(*(self.names_of(one) for one in self.graph.ancestors(node.id)))
        return not any(
            word in known or number_of(word) is not None or any(_short_for(word, one) for one in known)
            for word in said[:-1]
        )

    def is_known(self, mention: str) -> bool:
        """Whether words are said as of something in the plan, by no proper name: 'the language course'."""
        spans = self.clause.mentions if self.clause is not None else ()
        said = [span.text for span in spans if bare(span.text) == bare(mention)] or [mention]
        return any(_POINTS.match(text) and not re.search(r"(?<=\s)[A-Z]", text) for text in said)

    def _may_be_known(self) -> bool:
        """Whether a clause is of what may be named loosely: what is new may not, nor what leaves."""
        act = self.clause.act if self.clause is not None else ""
        return act not in ("add", "task", "remove", "hold", "only")

    def _lately(self, node: TaskNode) -> int:
        """The turn in which anything in the plan of a task changed last."""
        return max(one.turn for one in self.graph.subtree(self.graph.root(node.id).id, gone=True))

    def _score(
        self,
        said: Sequence[str],
        weights: Sequence[float],
        node: TaskNode,
        near: Mapping[str, float],
        *,
        slots: bool,
    ) -> tuple[float, float]:
        """How well words mean a task, and the part of them that is in it; weights: of the words."""
        title, value, kind, own = stems_in(node)
        above: list[frozenset[str]] | None = None
        owned: frozenset[str] | None = None
        got = total = 0.0
        for word, weight in zip(said, weights, strict=True):
            total += weight
            if word in title:
                part = 1.0
            elif word in value:
                part = 0.85
            elif any(alike(word, one) for one in title):
                part = 0.8
            elif word in kind:
                part = 0.6
            elif word in (owned := self._owned(node) if owned is None else owned):
                part = 0.7
            else:
                above = above or [stems_in(one).title for one in self.graph.ancestors(node.id)]
                part = 0.35 if any(word in one for one in above) else 0.0
            got += weight * part
        named = got / total if total else 0.0
        covered = len(own.intersection(said)) / max(1, len(own))
        half = bool(own.intersection(said)) and content(node.title)[-1] not in said  # 'party' of 'party date'
        unfit = 0.5 if is_slot(node) and (half or not slots) else 0.0
        full = own == frozenset(said) and node.active and not is_slot(node)  # 'tiles', no 'choosing tiles'
        return 3 * named + 0.6 * covered + 0.5 * full + 0.5 / (1 + near.get(node.id, 99)) - unfit, named

    def _owned(self, node: TaskNode) -> frozenset[str]:
        """The stems in the values of a task's slots: by these it is named as well."""
        if is_slot(node):
            return frozenset()
        slots = [part for part in self.graph.parts(node.id) if is_slot(part)]
        return frozenset().union(*(stems_in(part).value for part in slots))

    def names_of(self, node: TaskNode) -> frozenset[str]:
        """The stems by which a plan may be named: those of its title, its kind and its values."""
        return stems_in(node).title | stems_in(node).kind | self._owned(node)

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


def _short_for(word: str, other: str) -> bool:
    """Whether a word is a form of another one, or short for it: 'lit' of literature."""
    return alike(word, other) or (len(word) > 2 and other.startswith(word))


def bare(text: str) -> str:
    """Words without the articles and prepositions before them, and signs around them."""
    plain = text.strip(" .,!?;:").rstrip("'’")
    return _LEAD.sub("", plain, count=1).strip(" .,!?;:") if _LEAD.match(plain) else plain


def content(text: str) -> list[str]:
    """The stems of a text without little words; all of them where there are no others."""
    return list(_content(text))


@lru_cache(maxsize=16_384)
def _content(text: str) -> tuple[str, ...]:
    found = words(text)
    return tuple(word for word in found if word not in STOP) or found


def _highest(scores: Mapping[str, tuple[float, float]]) -> str:
    """The id with the highest score; of several the one that was made first."""
    most = max(score for score, _ in scores.values())
    return first_of(key for key, (score, _) in scores.items() if score == most)
