"""From read clauses to operations: which task and slot each span means, and what the act does to it.

What the local reader reads is to be grounded by this; what it is worth with perfect reading is measured by
`gold.py --reader annotated`. It resolves words to ids and leaves the rest to `taskloom.agent.exact`, which
acts on ids alone. One scored function says which task or slot is meant; all acts use it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from taskloom.agent import values
from taskloom.agent.exact import Exact
from taskloom.agent.exact_places import Doubt
from taskloom.agent.finding import is_member, slot_name
from taskloom.agent.interpreter import Asked, Detail, Step, View
from taskloom.memory.operations import Operation, Update
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, words

_POINTING = re.compile(
    r"(?:it|that|this|them|they|these|those|that one|this one|the one|thing|he|she|him|her|we|us|i|me|same"
    r"|here|there|its|theirs?|ours)",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"(?:everything|all|the lot|the rest|both|whole (?:lot|thing)|the others?|rest)\b", re.IGNORECASE
)
_LEAD = re.compile(
    r"(?:(?:a|an|the|my|our|his|her|their|your|some|on|at|in|for|to|by|of|with|from)\s+)+(?=\S)",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:earlier|less|fewer|off|down|cheaper|shorter|before|minus|forward|prepone\w*|reduce\w*)\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"\b(?:earlier|later|more|less|fewer|extra|longer|shorter|another)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:first|original\w*|beginning|start)\b", re.IGNORECASE)
_ASKED_FOR = (
    (re.compile(r"\bwho\b", re.IGNORECASE), "who"),
    (re.compile(r"\b(?:by when|deadline|until when)\b", re.IGNORECASE), "deadline"),
    (re.compile(r"\b(?:what time|which hour)\b", re.IGNORECASE), "time"),
    (re.compile(r"\b(?:when|which day|what day|date)\b", re.IGNORECASE), "date"),
    (re.compile(r"\bwhere\b", re.IGNORECASE), "place"),
    (re.compile(r"\bhow many\b", re.IGNORECASE), "number"),
    (re.compile(r"\bhow long\b", re.IGNORECASE), "length"),
    (re.compile(r"\bhow much\b", re.IGNORECASE), "price"),
)
_OF_KIND = {"duration": "length", "amount": "price", "count": "number"}
_ME = frozenset(("i", "me", "my", "mine", "myself"))
_SURE, _NAMED = 1.2, 0.34  # a candidate scores this at least, and this part of the mention's words is in it


@dataclass(frozen=True, slots=True)
class Words:
    """A span of a clause: its role, its words, the number it shares with others, where it begins."""

    role: str
    text: str
    pair: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """A clause as it was read."""

    act: str
    text: str
    spans: tuple[Words, ...]

    def all(self, roles: str) -> list[Words]:
        """The spans of some roles, role after role."""
        return [span for role in roles for span in self.spans if span.role == role]

    def one(self, roles: str) -> str:
        """The words of the first span of these roles, or ''."""
        return next((bare(span.text) for span in self.all(roles)), "")


def bare(text: str) -> str:
    """Words without the articles and prepositions before them, and signs around them."""
    plain = text.strip(" .,!?;:")
    return _LEAD.sub("", plain, count=1).strip(" .,!?;:") if _LEAD.match(plain) else plain


def assembled(clauses: Iterable[Read], said: str, view: View) -> tuple[Operation, ...]:
    """What clauses do to the plan, each on what those before it left; a question for what has no place."""
    grounder = Assembler(view, said)
    for clause in clauses:
        try:
            grounder.read(clause)
        except Doubt as doubt:
            grounder.clarify(Step(text=said, act="unsure"), doubt.question, doubt.options, doubt.choices)
    return tuple(grounder.operations)


class Assembler(Exact):
    """Clauses on the plan: each act by its method."""

    def __init__(self, view: View, said: str) -> None:
        super().__init__(view)
        self.said = said

    def read(self, clause: Read) -> None:
        """Carry out one clause.

        Raises:
            Doubt: what it is about is not clear.
        """
        name = "ask" if clause.act.startswith("ask.") else clause.act
        act: Callable[[Read], None] | None = getattr(self, f"_read_{name}", None)
        if act is not None:
            act(clause)

    def _act(self, act: str, **fields: object) -> None:
        self.step(Step.model_validate({"text": self.said, "act": act, **fields}))

    # ---- which task or slot --------------------------------------------------------------------

    def which(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """The task that words mean best, or None where none is meant well enough.

        slots: a slot may be meant as well. gone: of what has left; None: of all.
        """
        pool = [node for node in self.graph.values() if gone is None or node.active != gone]
        if within is not None:
            inside = {node.id for node in self.graph.subtree(within.id, gone=True)}
            pool = [node for node in pool if node.id in inside]
        if not pool:
            return None
        held = Counter(word for node in pool for word in {*words(node.title), *words(node.value or "")})
        near = self._near()
        scored = [(self._score(mention, node, held, len(pool), near, slots=slots), node) for node in pool]
        (score, named), node = max(scored, key=lambda one: one[0][0])
        return node if named >= _NAMED and score >= _SURE else None

    def _score(
        self,
        mention: str,
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
        for word in _content(mention):
            weight = math.log(1 + size / (1 + held[word])) + 0.2
            total += weight
            alike = any(
                len(word) > 3 and one[:4] == word[:4] and abs(len(one) - len(word)) < 4 for one in title
            )
            places = ((title, 1.0), (value, 0.85), (kind, 0.6), (above, 0.35))
            got += weight * max([*(part for found, part in places if word in found), 0.8 * alike])
        named = got / total if total else 0.0
        own = title - STOP
        covered = len(own & set(_content(mention))) / max(1, len(own))
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

    def topic(self) -> TaskNode | None:
        """What is spoken of: what this message named last, what the assistant did, what is in focus."""
        if not self.operations:
            last = self.view.exchanges[-1][1] if self.view.exchanges else ""
            question = self.view.question.question if self.view.question is not None else ""
            for text in (question, last):
                if text and (named := self._named_in(text)) is not None:
                    return named
        for key in self.focus:
            if key in self.graph and self.graph[key].active:
                return self._task_of(self.graph[key])
        roots = self.graph.parts(None)
        return roots[-1] if roots else None

    def _named_in(self, text: str) -> TaskNode | None:
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

    def _task_of(self, node: TaskNode) -> TaskNode:
        slot = node.value is not None and node.parent and not is_member(node)
        return self.graph[node.parent] if slot and node.parent else node

    def meant(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """What words mean; without words, or with a pronoun, the topic."""
        if not mention or _POINTING.fullmatch(mention):
            return within or self.topic()
        return self.which(mention, slots=slots, gone=gone, within=within)

    def place(self, clause: Read) -> TaskNode | None:
        """The task that a clause says it is in."""
        return self.which(clause.one("W")) if clause.one("W") else None

    def each(self, clause: Read, *, slots: bool = False, gone: bool | None = False) -> list[TaskNode]:
        """All that a clause names; all of the topic, without what is excepted, where it says so.

        Raises:
            Doubt: something is not there.
        """
        found, whole = list[TaskNode](), self.place(clause)
        for name in [bare(span.text) for span in clause.all("TIP")] or [""]:
            if _ALL.match(name):
                base = whole or self.topic()
                parts = self.graph.parts(base.id if base else None, gone=bool(gone))
                found += [node for node in parts if is_member(node) or node.value is None]
                continue
            node = self.meant(name, slots=slots, gone=gone, within=whole)
            if node is None:
                raise Doubt(f"I do not find “{name}” in the plan. What do you mean?")
            found.append(node)
        excepted = [self.which(bare(span.text), slots=slots, gone=gone) for span in clause.all("E")]
        spared = {node.id for node in excepted if node is not None}
        return [node for node in dict.fromkeys(found) if node.id not in spared]

    def _or_new(self, name: str, whole: TaskNode | None) -> TaskNode:
        """The task of that name, made where there is none."""
        node = self.meant(name)
        if node is None:
            beside = whole or self.topic()
            self._act("task", title=name, within_task=(beside.parent or beside.id) if beside else None)
            node = self.graph[self.new[-1]]
        return node

    # ---- values --------------------------------------------------------------------------------

    def _slot_for(self, value: str, before: str) -> str:
        """What a value without a name is of: what was asked, its kind, the preposition before it."""
        kind = _kind(value)
        if self.view.question is not None and not self.operations:
            asked = next(
                (slot for form, slot in _ASKED_FOR if form.search(self.view.question.question)), None
            )
            if asked and (kind is None or asked in (kind, _OF_KIND.get(kind)) or kind == "date"):
                return asked
        if kind is not None:
            return _OF_KIND.get(kind, kind)
        if re.search(r"\b(?:at|in|to|near)\s+(?:the\s+|my\s+|our\s+)?$", before, re.IGNORECASE):
            return "place"
        return "deadline" if re.search(r"\bby\s+$", before, re.IGNORECASE) else "detail"

    def _details(self, clause: Read, pair: int | None = None) -> list[Detail]:
        """The values of a clause with the names of their slots; pair: only those of one thing."""
        names = {span.pair: span.text for span in clause.all("S") if span.pair}
        plain = [span for span in clause.all("S") if not span.pair]
        found = []
        for span in clause.all("V"):
            if pair is not None and span.pair != pair:
                continue
            name = names.get(span.pair)
            if name is None and plain:
                name = min(plain, key=lambda one: abs(one.start - span.start)).text
            value = bare(span.text) or span.text
            slot = slot_name(bare(name)) if name else self._slot_for(value, clause.text[: span.start])
            found.append(Detail(slot=slot, value=value))
        return found

    def _people(self, clause: Read) -> list[Detail]:
        named = ("me" if bare(span.text).lower() in _ME else bare(span.text) for span in clause.all("P"))
        return [Detail(slot="who", value=name) for name in named]

    # ---- acts ----------------------------------------------------------------------------------

    def _read_task(self, clause: Read) -> None:
        titles, whole = clause.all("T"), self.place(clause)
        items = [bare(span.text) for span in clause.all("I")]
        if not titles:
            beside = whole or self.topic()
            for title in items:
                self._act("task", title=title, within_task=beside.id if beside else None)
            return
        paired = any(span.pair for span in titles)
        for span in titles:
            title, last = bare(span.text), span is titles[-1]
            told = self._details(clause, span.pair) if paired else self._details(clause) if last else []
            told += self._people(clause) if last else []
            node = self.which(title)
            known = node is not None and set(_content(title)) <= {
                *words(node.title),
                *words(node.value or ""),
            }
            if node is None or not (known and (told or items)):
                self._act("task", title=title, within_task=whole.id if whole else None)
                node = self.graph[self.new[-1]] if self.new else None
            if node is not None and told:
                self._act("set", task=node.id, details=tuple(told))
            if node is not None and last and items:
                self._act("add", within_task=node.id, items=_items(items))

    def _read_add(self, clause: Read) -> None:
        whole = self.place(clause) or (self.meant(clause.one("T")) if clause.one("T") else self.topic())
        items = [bare(span.text) for span in clause.all("I") or clause.all("P") or clause.all("V")]
        if whole is None:
            for title in items:
                self._act("task", title=title)
            return
        self._act("add", within_task=whole.id, items=_items(items))
        for span in clause.all("I"):
            told = self._details(clause, span.pair) if span.pair else []
            node = self.which(bare(span.text), within=whole) if told else None
            if node is not None:
                self._act("set", task=node.id, details=tuple(told))

    def _read_set(self, clause: Read) -> None:
        if not clause.all("VC"):
            (self._read_assign if clause.all("P") else self._read_add)(clause)
            return
        if _ALL.match(clause.one("T")):
            targets = self.each(clause)
        else:
            node = self.meant(clause.one("T"), slots=True, within=self.place(clause))
            if node is None:
                raise Doubt(f"I do not find “{clause.one('T')}” in the plan. What is {clause.one('V')} for?")
            targets = [node]
        for node in targets:
            for told in self._details(clause):
                self._set_one(node, told, named=bool(clause.all("S")))
            for told in self._people(clause):
                self._act("set", task=self._task_of(node).id, details=(told,))

    def _set_one(self, node: TaskNode, told: Detail, *, named: bool) -> None:
        """A value for a slot: the one meant, the only one of its kind, the one of its name."""
        owner = self._task_of(self.graph[node.id])
        if owner.id != node.id and not named:
            self._act("set", task=node.id, value=told.value)
            return
        if not named and (kind := _kind(told.value)) is not None:
            parts = [
                one for one in self.graph.parts(owner.id) if one.value is not None and not is_member(one)
            ]
            held = [one for one in parts if _kind(one.value or "") == kind]
            if len(held) == 1 and told.slot in ("detail", kind, _OF_KIND.get(kind)):
                self._act("set", task=held[0].id, value=told.value)
                return
        self._act("set", task=owner.id, details=(told,))

    def _read_rename(self, clause: Read) -> None:
        node = self.meant(clause.one("TO"))
        if node is None:
            raise Doubt("What should have another name?")
        self.do(Update(task=node.id, title=clause.one("V")), self.said)

    def _read_shift(self, clause: Read) -> None:
        node = self.meant(clause.one("T"), slots=True, within=self.place(clause)) or self.topic()
        if node is None:
            raise Doubt("What should change by that?")
        if clause.one("S") and (held := self.slot_in(node, clause.one("S"))) is not None:
            node = held
        amount = ("-" if _LESS.search(clause.text) else "+") + _MEASURE.sub("", clause.one("V")).strip()
        if re.search(r"\b(?:double|twice)\b", clause.text, re.IGNORECASE):
            amount = "*2"
        self._act("shift", task=node.id, value=amount)

    def _read_replace(self, clause: Read) -> None:
        old = clause.one("OTX")
        node = self.which(old, slots=True, within=self.place(clause)) if old else self.topic()
        if node is None:
            raise Doubt(
                f"I do not find “{old}” in the plan. What should {clause.one('VIP')} take the place of?"
            )
        self._act("replace", task=node.id, old=old, value=clause.one("VIP"))

    def _read_swap(self, clause: Read) -> None:
        names, near = [bare(span.text) for span in clause.all("TPV")][:2], self._near()
        both = []
        for name in names:
            own = [
                node
                for node in self.graph.active
                if node.value and set(_content(name)) <= set(words(node.value))
            ]
            both += sorted(own, key=lambda node: near.get(node.id, 99))[:1]
        if len(both) == 2:
            one, other = both
        else:
            one, other = self._same_slots([self.which(name) for name in names], clause.one("S"))
        self.do(Update(task=one.id, value=other.value), self.said)
        self.do(Update(task=other.id, value=one.value), self.said)

    def _same_slots(self, tasks: Sequence[TaskNode | None], name: str) -> tuple[TaskNode, TaskNode]:
        """The slot that two tasks change: the one named, else who has them."""
        if len(tasks) == 2 and tasks[0] is not None and tasks[1] is not None:
            for one in self.graph.parts(tasks[0].id):
                for other in self.graph.parts(tasks[1].id):
                    named = set(_content(name)) & set(words(one.title)) if name else one.title == "assignee"
                    if one.value and other.value and one.title == other.title and named:
                        return one, other
        raise Doubt("Which two should change places?")

    def _read_remove(self, clause: Read) -> None:
        self._act_on("remove", self.each(clause, slots=True))

    def _read_hold(self, clause: Read) -> None:
        self._act_on("hold", self.each(clause, slots=True))

    def _read_resume(self, clause: Read) -> None:
        self._act_on("resume", self.each(clause, slots=True, gone=True))

    def _read_done(self, clause: Read) -> None:
        self._act_on("done", self.each(clause))

    def _read_reopen(self, clause: Read) -> None:
        self._act_on("reopen", self.each(clause))

    def _act_on(self, act: str, nodes: Iterable[TaskNode]) -> None:
        for node in nodes:
            self._act(act, task=node.id)

    def _read_back(self, clause: Read) -> None:
        node = self.meant(clause.one("T"), slots=True, gone=None, within=self.place(clause))
        if node is None:
            raise Doubt("What should be as it was?")
        node = (self.slot_in(node, clause.one("S")) if clause.one("S") else None) or node
        self._act("back", task=node.id, old="original" if _FIRST.search(clause.text) else None)

    def _read_undo(self, _: Read) -> None:
        self._act("undo")

    def _read_redo(self, _: Read) -> None:
        self._act("redo")

    def _read_need(self, clause: Read) -> None:
        whole = self.place(clause)
        needed = [self._or_new(bare(span.text), whole) for span in clause.all("I")]
        if clause.all("T"):
            node = self._or_new(clause.one("T"), whole)
            pairs = [(one, node) for one in needed]
        else:
            pairs = list(pairwise(needed))
        for before, after in pairs:
            if before.id != after.id:
                self._act("need", task=after.id, items=_items([before.title], [before.id]))

    def _read_unneed(self, clause: Read) -> None:
        node = self.meant(clause.one("T"))
        if node is None:
            raise Doubt("What need not wait any more?")
        named = [self.which(bare(span.text)) for span in clause.all("I")]
        for other in [one.id for one in named if one is not None] or list(node.depends_on):
            self._act("unneed", task=node.id, items=_items([self.graph[other].title], [other]))

    def _read_share(self, clause: Read) -> None:
        node = self.meant(clause.one("TW"))
        for span in clause.all("I"):
            item = self.which(bare(span.text))
            if node is None or item is None:
                raise Doubt("What should be used in what?")
            self._act("share", task=node.id, items=_items([item.title], [item.id]))

    def _read_assign(self, clause: Read) -> None:
        whole = self.place(clause)
        names = [bare(span.text) for span in clause.all("T") or clause.all("I")]
        if not names or _ALL.match(names[0]):
            topic = whole or self.topic()
            if topic is None:
                raise Doubt("What is that for?")
            found = [node for node in self.graph.parts(topic.id) if node.value is None] if names else [topic]
        else:
            found = [self.meant(name, within=whole) or self._or_new(name, whole) for name in names]
        for node in found:
            self._act("set", task=self._task_of(node).id, details=tuple(self._people(clause)))
            for told in self._details(clause):
                self._set_one(node, told, named=bool(clause.all("S")))

    def _read_merge(self, clause: Read) -> None:
        node = self.meant(clause.one("T"))
        if node is None:
            raise Doubt("What should be one again?")
        self._act("merge", task=node.id)

    def _read_split(self, _: Read) -> None:
        raise Doubt("How should it be split?")

    def _read_only(self, clause: Read) -> None:
        whole = self.place(clause) or self.topic()
        if whole is not None:
            self._act("only", task=whole.id, items=_items([bare(span.text) for span in clause.all("ITE")]))

    def _read_yes(self, _: Read) -> None:
        self._act("yes")

    def _read_no(self, _: Read) -> None:
        self._act("no")

    def _read_unsure(self, clause: Read) -> None:
        raise Doubt(f"What do you mean by “{clause.text}”?")

    def _read_ask(self, clause: Read) -> None:
        kind = clause.act.removeprefix("ask.")
        if kind == "other":
            return
        past = kind in ("before", "history", "ever", "why", "claim")
        name = clause.one("TI")
        node = self.meant(name, slots=True, gone=None if past else False) if name else self.place(clause)
        if (
            node is None
            and not name
            and kind in ("value", "who", "why", "before", "history", "claim", "status")
        ):
            node = self.topic()
        slot = "who" if kind == "who" else clause.one("S") or None
        if kind == "value" and slot is None and node is not None and node.value is None:
            asked = next((slot for form, slot in _ASKED_FOR if form.search(clause.text)), None)
            slot = asked if asked in ("date", "time", "place", "who", "deadline") else None
        asked_for = Asked.model_validate(
            {"kind": "value" if kind == "who" else kind, "value": clause.one("VPO") or None}
        )
        self._act("ask", task=node.id if node else None, slot=slot, asked=asked_for)


def _items(titles: Sequence[str], ids: Sequence[str] = ()) -> tuple[Detail, ...]:
    return tuple(
        Detail(slot="item", value=title, task=ids[number] if ids else None)
        for number, title in enumerate(titles)
    )


def _kind(value: str) -> str | None:
    """The kind of a value; a day of the month alone is a date."""
    day = re.fullmatch(r"(?:the )?\d{1,2}(?:st|nd|rd|th)", value.strip(), re.IGNORECASE)
    return "date" if day else values.kind_of(value)


def _content(text: str) -> list[str]:
    found = words(text)
    return [word for word in found if word not in STOP] or list(found)
