"""What the network's vectors tell of a reading: of the words it takes for what, and of titles in the plan.

The network reads a message together with the titles of the plan, so that the vectors of both know of each
other. They are only gathered here; what they are worth is learned (training/trust.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.clauses import Parse
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Check, Operation

from .beam import Numbers
from .heard import TITLE_WORDS
from .network import Pieces
from .signs import Candidate

SIZE = 384  # numbers in a vector
TARGETS, VALUES = "TWO", "VIPSC"  # roles of what a clause is about, and of what it says of that
ASKED = 3  # tasks of a question that count
Vectors = Callable[[str, str], Pieces | None]
"""From a text and what is heard beside it to their vectors; None for a text that is read in parts."""


@dataclass(slots=True)
class Meanings:
    """The vectors of one message and of what was heard beside it."""

    pieces: Pieces
    view: View
    _titles: dict[str, Numbers | None] = field(default_factory=dict)

    @property
    def whole(self) -> Numbers:
        """Of the whole message [384]."""
        found: Numbers = self.pieces.vectors[0]
        return found

    def of(self, candidates: Sequence[Candidate]) -> Numbers:
        """Of each candidate [c, 4 * 384 + 2]: means of what it is about, of what it says, of all, of titles.

        The titles are those of the tasks that it is about, where they were heard. The last two numbers are
        whether any was, and how many were not.
        """
        return np.stack([self._of(one) for one in candidates])

    def _of(self, one: Candidate) -> Numbers:
        targets, values, clauses = list[int](), list[int](), list[int]()
        for span, role in _spans(self.pieces.text, one.parse):
            into = clauses if not role else targets if role in TARGETS else values if role in VALUES else None
            if into is not None:
                into += self._at(0, *span)
        titles = [self._title(key) for key in dict.fromkeys(_about(one.operations, self.view))]
        heard = [title for title in titles if title is not None]
        means = [self._mean(places) for places in (targets, values, clauses)]
        means.append(np.mean(heard, axis=0) if heard else np.zeros(SIZE, np.float32))
        return np.concatenate([*means, [float(bool(heard)), float(len(titles) - len(heard))]])

    def _at(self, part: int, start: int, end: int) -> list[int]:
        """The word pieces of one of the two texts from one place to another."""
        return [
            number for number, (own, first, last) in enumerate(self.pieces.places)
            if own == part and first < last and first < end and start < last
        ]  # fmt: skip

    def _mean(self, places: Sequence[int]) -> Numbers:
        if not places:
            return np.zeros(SIZE, np.float32)
        found: Numbers = self.pieces.vectors[list(places)].mean(0)
        return found

    def _title(self, key: str) -> Numbers | None:
        """Of the title of a task, or of the one that a slot is of, as it was heard; None where it was not."""
        if key not in self._titles:
            self._titles[key] = self._heard(key)
        return self._titles[key]

    def _heard(self, key: str) -> Numbers | None:
        graph = self.view.graph
        node = graph[key]
        if is_slot(node) and node.parent:
            node = graph[node.parent]
        name = " ".join(node.title.split()[:TITLE_WORDS])
        start = self.pieces.before.find(name)
        places = self._at(1, start, start + len(name)) if start >= 0 else []
        return self._mean(places) if places else None


def _spans(text: str, parse: Parse) -> Iterator[tuple[tuple[int, int], str]]:
    """From where to where clauses stand (without a role), and mentions with theirs."""
    at = 0
    for clause in parse.clauses:
        start = text.find(clause.text, at)
        if start < 0:
            continue  # a quoted passage
        at = start + len(clause.text)
        if clause.act != "chat":
            yield (start, at), ""
        for one in clause.mentions:
            yield (start + one.start, start + one.start + len(one.text)), one.role


def _about(operations: Sequence[Operation], view: View) -> Iterator[str]:
    """The tasks and slots that operations are about, by their ids."""
    for one in operations:
        for name in ("task", "parent", "on"):
            key = getattr(one, name, None)
            if isinstance(key, str) and key in view.graph:
                yield key
        several = one.question.tasks if isinstance(one, Check) else getattr(one, "tasks", None) or ()
        yield from (key for key in several[:ASKED] if key in view.graph)
