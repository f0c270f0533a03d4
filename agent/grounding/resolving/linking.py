"""What waits for what, and what is used in several tasks."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.turn.clauses import Clause, Mention

from .giving import Giving
from .plain import items_of, one
from .resolver import bare

_AFTER = re.compile(
    r"\b(?:after|once|until|when|as soon as|following)\W+(?:the\s+|my\s+|our\s+)?$", re.IGNORECASE
)
_SAME = re.compile(r"^same\s+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


def _in_time(clause: Clause) -> list[Mention]:
    """The items (I) of a clause as they follow each other: first what it says that another comes after."""
    items = clause.all("I")
    if clause.all("T") and len(items) < 2:
        return items
    return sorted(items, key=lambda one: _AFTER.search(clause.text[: one.start]) is None)


class Linking(Giving):
    """Clauses that link tasks."""

    def _read_need(self, clause: Clause) -> None:
        whole, told = self.place(clause), clause.all("IT")
        other = next(filter(None, (self.meant(bare(span.text)) for span in told)), None)
        needed = [self._or_new(bare(span.text), whole, other) for span in _in_time(clause)]
        if not needed and self.later in self.graph:  # 'first A, then B, then C': after B
            needed = [self.graph[self.later]]
            other = other or needed[0]
        within = self.which(one(clause, "T")) if clause.all("T") and len(needed) > 1 else None
        if within is not None and all(within in self.graph.ancestors(node.id) for node in needed):
            pairs = list(pairwise(needed))  # 'the party has a step after A: B'
        elif clause.all("T"):
            pairs = [(before, self._or_new(one(clause, "T"), whole, other)) for before in needed]
        elif len(needed) == 1 and (topic := self.topic()) is not None:
            pairs = [(needed[0], topic)]
        else:
            pairs = list(pairwise(needed))
        for before, after in pairs:
            if before.id != after.id:
                self._act("need", task=after.id, items=items_of([before.title], [before.id]))
                self.later = after.id

    def _read_unneed(self, clause: Clause) -> None:
        named = [self.which(bare(span.text)) for span in clause.all("TI")]
        there = [found for found in named if found is not None]
        tied = [(after, before) for after in there for before in there if before.id in after.depends_on]
        if tied:
            for after, before in tied:
                self._act("unneed", task=after.id, items=items_of([before.title], [before.id]))
            return
        node = self.meant(one(clause, "T"))
        if node is None:
            raise Doubt("What need not wait any more?")
        named = [self.which(bare(span.text)) for span in clause.all("I")]
        for other in [needed.id for needed in named if needed is not None] or list(node.depends_on):
            self._act("unneed", task=node.id, items=items_of([self.graph[other].title], [other]))

    def _read_share(self, clause: Clause) -> None:
        items = clause.all("I") or (clause.all("T") if clause.all("W") else [])
        names = [_SAME.sub("", bare(span.text)) for span in items]
        targets = clause.all("TW" if clause.all("I") else "W")
        if not names or not targets:
            raise Doubt("What should be used in what?")
        shared = [self.which(name) or self.which(name, slots=True) for name in names]
        if None in shared and len(targets) == 1:
            raise Doubt("What should be used in what?")
        used = [node or self._made(name) for node, name in zip(shared, names, strict=True)]
        for name in (bare(span.text) for span in targets):
            known = self.meant(name)
            other = known is not None and set(_NUMBER.findall(name)) - set(_NUMBER.findall(known.title))
            node = self._made(name) if known is None or other else known  # episode 13 is not episode 12
            for told in self._details(replace(clause, mentions=tuple(clause.all("VS")))):
                self._act("set", task=node.id, details=(told,))
            for item in used:
                self._act("share", task=node.id, items=items_of([item.title], [item.id]))
