"""What waits for what, and what is used in several tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language.words import DO
from taskloom.agent.plan.held import alike, stems_in
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.memory.tasks import TaskNode

from .giving import Giving
from .joining import head
from .plain import items_of, one
from .scoring import POINTING, bare, content

_AFTER = re.compile(
    r"\b(?:after|once|until|when|as soon as|following)\W+(?:the\s+|my\s+|our\s+)?$", re.IGNORECASE
)
_IN_ORDER = re.compile(r"\bthen\b|\b(?:in|strict)(?: (?:that|this|the))? (?:order|sequence)\b", re.IGNORECASE)
_SEQUENCE = re.compile(
    r"\b(?:then|after(?:wards?)?|next|later|follow\w*|to begin with|first)\b", re.IGNORECASE
)
_ORDERED = re.compile(
    r"\bin (?:(?:exactly|just) )?(?:that|this|the following) (?:order|sequence)\b", re.IGNORECASE
)
_ARROW = re.compile(r"\S\s*(?:[-=]+>|→|➡)\s*\S")
_DOES = re.compile(
    r"(?!(?:the|an?|our|my|all|some)\b)\w+ (?:the|an?|our|my|all|some) ", re.IGNORECASE
)  # 'polish the glasses'
_THAT = re.compile(r"(?:that|this|those|these)\s+\w", re.IGNORECASE)
_ELSE = re.compile(
    r"(?:(?:anything|everything|all|any|nothing) else|(?:all )?(?:the )?(?:others?|rest))", re.IGNORECASE
)
_SAME = re.compile(r"^same\s+", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_THEN = re.compile(r"\bthen\b.*\bthen\b", re.IGNORECASE)
_NEXT = re.compile(
    r"^\W*(?:and )?(?:then|after that|afterwards|next|finally|lastly)\b|\b(?:after that|afterwards)\W*$",
    re.IGNORECASE,
)
_THEN_NEXT = re.compile(r"\b(?:then|after that|afterwards|next|finally|lastly)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\bbefore\b", re.IGNORECASE)
_WAITS = re.compile(
    r"\b(?:after|once|until|till|when|need\w*|wait\w*|depend\w*|not?|never|cannot|\w+n['’]?t)\b",
    re.IGNORECASE,
)


def _in_time(clause: Clause) -> list[Mention]:
    """The items (I) of a clause as they follow each other: first what it says that another comes after."""
    items = clause.all("I")
    if clause.all("T") and len(items) < 2:
        return items
    return sorted(items, key=lambda one: _AFTER.search(clause.text[: one.start]) is None)


def _as_ordered(clause: Clause) -> Clause:
    """A clause as its words order what is in it: of 'passport before flights' the flights are what waits."""
    spans = sorted((span for span in clause.mentions if span.role in "TI"), key=lambda span: span.start)
    gaps = [clause.text[one.start + len(one.text) : two.start] for one, two in pairwise(spans)]
    if len(gaps) > 1 and all(map(_THEN_NEXT.search, gaps)):  # 'first A, then B, then C'
        others = [span for span in clause.mentions if span.role not in "TI"]
        return replace(clause, mentions=(*(replace(span, role="I") for span in spans), *others))
    if "".join(span.role for span in spans) != "TI" or _WAITS.search(clause.text):
        return clause
    first, last = spans
    if not _BEFORE.search(gaps[0]):
        return clause
    roles = {id(first): "I", id(last): "T"}
    return replace(
        clause, mentions=tuple(replace(span, role=roles.get(id(span), span.role)) for span in clause.mentions)
    )


def _first_of_chain(clause: Clause, count: int) -> int:
    """How many of what waits come before a 'then', after which each waits for the one before it."""
    spans = clause.all("T")
    for at in range(1, min(count, len(spans))):
        gap = clause.text[spans[at - 1].start + len(spans[at - 1].text) : spans[at].start]
        if re.search(r"\bthen\b", gap, re.IGNORECASE):
            return at
    return count


class Linking(Giving):
    """Clauses that link tasks; shared: what this message said last to be used somewhere."""

    shared: tuple[str, ...] = ()

    def _read_need(self, clause: Clause) -> None:
        clause = _as_ordered(clause)
        whole, told = self.place(clause), clause.all("IT")
        names = [bare(span.text) for span in told]
        other = next(filter(None, (self._just_linked(name) or self._in_link(name) for name in names)), None)
        spoken_of = self.topic()  # before anything new is: what 'it' is
        needed = list[TaskNode]()
        for span in _in_time(clause):
            name = bare(span.text)
            needed.append(self._just_linked(name) or self._link_end(name, whole, other))
            other = other or needed[0]  # two new things stand beside each other, neither in the other
        if not needed and (before := self._said_before(clause)) is not None:
            needed = [before]
            other = other or needed[0]
        follows = self._said_before(clause) if len(told) == 1 and _NEXT.search(clause.text) else None
        within = self._in_link(one(clause, "T")) if clause.all("T") and len(needed) > 1 else None
        if within is not None and all(within in self.graph.ancestors(node.id) for node in needed):
            pairs = list(pairwise(needed))  # 'the party has a step after A: B'
        elif follows is not None and needed and clause.all("I"):
            pairs = [(follows, needed[0])]  # 'then set up'
        elif clause.all("T"):
            names = [bare(span.text) for span in clause.all("T")]
            waiting = self._all_else(names, needed) or [
                spoken_of
                if spoken_of is not None and set(name.lower().split()) <= POINTING
                else self._link_end(name, whole, other)
                for name in names
            ]
            in_order = pairwise(needed) if _IN_ORDER.search(clause.text) else ()  # 'first A, then B, then C'
            ends = list(waiting)
            if len(ends) > 1 and needed and _THEN.search(clause.text):  # 'first A, then B, then C'
                pairs = [*in_order, (needed[-1], ends[0]), *pairwise(ends)]
            elif len(ends) > 1 and not needed and _SEQUENCE.search(clause.text):  # 'A, and B afterwards'
                pairs = list(pairwise(ends))
            else:
                first = _first_of_chain(clause, len(ends))
                pairs = [*in_order, *((before, after) for after in ends[:first] for before in needed)]
                pairs += pairwise(ends[first - 1 :])
        elif len(needed) == 1 and (topic := self.topic()) is not None:
            inside = topic in self.graph.ancestors(needed[0].id)  # 'A is needed first': a step, the first one
            pairs = [] if inside else [(needed[0], topic)]
            self.later = needed[0].id if inside else self.later
        else:
            pairs = list(pairwise(needed))
        for before, after in pairs:
            if before.id != after.id:
                self._act("need", task=after.id, items=items_of([before.title], [before.id]))
                self.later = after.id

    def _said_before(self, clause: Clause) -> TaskNode | None:
        """What comes before the step of a clause that names no other: 'first A, then B', 'A. Then B.'."""
        if self.later in self.graph:
            return self.graph[self.later]
        last = self.graph.get(self.focus[0]) if self.operations and self.focus else None
        new = last is not None and last.turn == self.view.turn and last.parent and not is_slot(last)
        return last if new and len(clause.all("TI")) == 1 and _SEQUENCE.search(clause.text) else None

    def _just_linked(self, name: str) -> TaskNode | None:
        """The step that this message spoke of before, where a link points at it: 'A first, B needs it'."""
        points = set(name.lower().split()) <= {"it", "that", "this"} and bool(self.operations)
        return self.graph.get(self.later) if points else None

    def _in_order(self, clause: Clause, whole: TaskNode, titles: Sequence[str]) -> None:
        """Let what was added wait for each other where a clause says so: 'beta -> review -> launch'."""
        if len(titles) < 2 or not (_ORDERED.search(clause.text) or _ARROW.search(clause.text)):
            return
        steps = [
            node for title in titles if (node := self.which(title, within=self.graph[whole.id])) is not None
        ]
        for before, after in pairwise(steps):
            self._act("need", task=after.id, items=items_of([before.title], [before.id]))

    def _in_link(self, name: str) -> TaskNode | None:
        """The task that a link names: half of the words are in it, or all of its title is said.

        'That box', where there is none, is what was spoken of last.
        """
        node = self.resolve(name)
        if node is not None and self._is_new_step(name, node):
            return None
        if node is None or set(name.lower().split()) <= POINTING or self._is_named(set(content(name)), node):
            return node
        pointed = _THAT.match(name) is not None
        return self.graph.get(self.later) or self.topic() if pointed else None

    def _is_new_step(self, name: str, node: TaskNode) -> bool:
        """Whether one of several steps shares only some words with a task, or names a slot: it is new.

        'One empty the container, two tag the tools': the tools to tag are not the 'tool library'. Whatever
        is done to what a task says nothing of is new too: 'polish the glasses' beside a Polish course.
        """
        chain = self.clause is not None and len(self.clause.all("I")) > 2 and not self.clause.all("T")
        own, said = stems_in(node).own, name.lower().split()
        does = len(content(name)) > 1 and (said[0] in DO or _DOES.match(name) is not None)
        if does and not any(word == head(name) or alike(word, head(name)) for word in own):
            return True
        if not chain or set(said) <= POINTING:
            return False
        all_said = all(word in own or any(alike(word, one) for one in own) for word in content(name))
        return is_slot(node) or not all_said

    def _all_else(self, names: Sequence[str], needed: Sequence[TaskNode]) -> list[TaskNode]:
        """What else is open in the list of the one thing that comes 'before anything else'."""
        if len(names) != 1 or len(needed) != 1 or not needed[0].parent or not _ELSE.fullmatch(names[0]):
            return []
        beside = self.beside(needed[0])
        return [node for node in beside if node.id != needed[0].id and node.status != "done"]

    def _is_named(self, said: set[str], node: TaskNode) -> bool:
        """Whether stems name a task, not only something that begins like it."""
        own = stems_in(node).own
        there = sum(word in own or any(alike(word, one) for one in own) for word in said)
        return 2 * there >= len(said) or bool(own & said and own <= said) or bool(said & self._owned(node))

    def _link_end(self, name: str, whole: TaskNode | None, other: TaskNode | None) -> TaskNode:
        """The task at one end of a link, made where there is none; other: what it stands beside then."""
        return self._found_or_new(self._in_link(name), name, whole, other)

    def _read_unneed(self, clause: Clause) -> None:
        after, before = ([bare(span.text) for span in clause.all(role)] for role in "TI")
        links = self._links_named(after, before)
        if not links:
            node = self.resolve(one(clause, "T"))
            if node is None:
                raise Doubt("What need not wait any more?")
            named = [self.which(name) for name in before]
            needed = [found.id for found in named if found is not None] or list(node.depends_on)
            links = [(node, self.graph[key]) for key in needed]
        for node, other in links:
            self._act("unneed", task=node.id, items=items_of([other.title], [other.id]))

    def _links_named(self, after: Sequence[str], before: Sequence[str]) -> list[tuple[TaskNode, TaskNode]]:
        """The links between tasks that words mean, by both of their ends; all of a task named alone.

        after, before: words for what waits, and for what it waits for.
        """
        links = [
            (node, self.graph[key])
            for node in self.graph.active
            for key in node.depends_on
            if self.graph[key].active
        ]
        topic = self.topic()
        near = {node.id for node in self.graph.subtree(topic.id)} if topic is not None else set[str]()

        def fit(names: Sequence[str], node: TaskNode) -> float:
            named = [set(content(name)) for name in names if not set(name.lower().split()) <= POINTING]
            if not named:
                return 0.6 if node.id in near else 0.3
            own = stems_in(node).own | self._owned(node)
            shares = (
                sum(word in own or 0.8 * any(alike(word, one) for one in own) for word in said) / len(said)
                for said in named
                if said
            )
            return max(shares, default=0.0)

        scores = [(fit(after, node) + fit(before, other), (node, other)) for node, other in links]
        best = max((score for score, _ in scores), default=0.0)
        if best < 0.9 and not (len(links) == 1 and best > 0.3):
            return []
        found = [link for score, link in scores if score == best]
        if before and len(found) > 1 and len({node.id for node, _ in found}) > 1:
            found = found[:1]
        return found

    def _read_share(self, clause: Clause) -> None:
        items = clause.all("I") or (clause.all("T") if clause.all("W") else [])
        names = [_SAME.sub("", bare(span.text)) for span in items]
        targets = clause.all("TW" if clause.all("I") else "W")
        if not items and self.shared:
            names, targets = list(self.shared), clause.all("TW")  # 'for the roof, and for the fence as well'
        if not names or not targets:
            raise Doubt("What should be used in what?")
        shared = [self.which(name) or self.which(name, slots=True) for name in names]
        first = self.resolve(bare(targets[0].text)) if len(targets) == 1 else None
        points = any(set(name.lower().split()) <= POINTING for name in names)
        if None in shared and len(targets) == 1 and (first is None or points):
            raise Doubt("What should be used in what?")
        self.shared = tuple(names)
        used = [
            node or self._create(name, first.id if first is not None else None)
            for node, name in zip(shared, names, strict=True)
        ]
        for name in (bare(span.text) for span in targets):
            known = self.resolve(name)
            other = known is not None and set(_NUMBER.findall(name)) - set(_NUMBER.findall(known.title))
            node = self._create(name) if known is None or other else known  # episode 13 is not episode 12
            for told in self._details(replace(clause, mentions=tuple(clause.all("VS")))):
                self._act("set", task=node.id, details=(told,))
            for item in (item for item in used if item.parent != node.id):
                self._act("share", task=node.id, items=items_of([item.title], [item.id]))
