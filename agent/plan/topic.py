"""What is spoken of where a clause names nothing: each task scored by how it was lately spoken of.

The weights are fitted on the annotated dialogues of the train voices (softmax over the tasks of a plan), one
table for a clause that answers a question, one for a clause after something else, one for what comes later in
the same message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice

from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.values import NUMBER_WORDS, spot
from taskloom.memory.actions import is_action
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import STOP, words

from .held import first_of, slots_saying, stems_in, tasks_titled
from .roles import is_slot

WEIGHTS = {
    "asked": (
        0, 0, .3, 1.1, .2, 3.2, .8, .1, 1.5, .7, 1.3, 0, 1.2, -.1, .9, .7, 0, -.4, .7, 2, .5, -.8, .7,
    ),
    "told": (
        0, 0, .1, -.4, .1, -.3, .6, -.2, 1.7, .6, 4.4, -.5, 1.9, .7, 1, 0, 0, 1.8, -.2, .4, 1, -1.1, .5,
    ),
    "later": (
        -.1, 1.7, .4, 1.7, .9, -.1, .2, .3, -.3, 0, 2.4, .4, 1.1, -.5, .1, .5, .7, -.1, 0, 0, 0, 0, 0,
    ),
}  # fmt: skip
"""What each sign weighs, in the order of `TopicSigns.signs`: in the answer to a question, after something
else, later in the same message."""

_COUNTED = re.compile(rf"(?:{'|'.join(set(NUMBER_WORDS) - {'one', 'zero', 'couple'})}) [a-z]", re.IGNORECASE)
_BY_VERB = 0.7  # how surely its first word names a task that no other begins with
_FEW = 3  # a word that more titles have than this names none of them


def share_named(title: str, said: Collection[str]) -> float:
    """The part of a title's words that is said; 0 where it is less than half, or half without its end."""
    own = _own(title)
    there = sum(word in said for word in own)
    return there / len(own) if own and there * 2 > len(own) - (own[-1] in said) else 0.0


@lru_cache(maxsize=32_768)
def _own(title: str) -> tuple[str, ...]:
    return tuple(word for word in words(title) if word not in STOP)


def topic_of(
    graph: TaskGraph,
    focus: Sequence[str],
    now: Sequence[str],
    exchange: tuple[str, str],
    clause: str,
    kinds: Collection[str],
    weights: Sequence[float],
    *,
    assigns: bool = False,
    values: str = "",
) -> str | None:
    """The id of the task whose signs have the most weight, of the first of them; None in an empty plan.

    focus: ids, latest first. now: those that this message touched, latest first. exchange: what the user said
    before, and the reply. kinds: of the values in the clause. assigns: whether it says who has something.
    values: words of it that name no task, as those of its values.
    """
    heard = TopicSigns(graph, focus, now, exchange, clause, kinds, assigns=assigns, values=values)
    named = [graph[key] for key in heard.named() if graph[key].active and not is_slot(graph[key])]
    signs = heard.signs(named)
    scores = {key: _weighed(own, weights) for key, own in signs.items()}
    best = max(scores.values(), default=None)
    plains = _PLAIN_GIVEN if assigns else _PLAIN
    for score, plain in sorted(((_weighed(plain, weights), plain) for plain in plains), reverse=True):
        if best is not None and score < best:
            break
        if (key := heard.first_plain(plain, scores)) is not None:
            scores[key] = best = score
    return first_of(key for key in scores if scores[key] == best) if scores else None


def _weighed(signs: Sequence[float], weights: Sequence[float]) -> float:
    return sum(sign * weight for sign, weight in zip(signs, weights, strict=True))


class TopicSigns:
    """What was said and done lately, and the signs of tasks in it."""

    def __init__(
        self,
        graph: TaskGraph,
        focus: Sequence[str],
        now: Sequence[str],
        exchange: tuple[str, str],
        clause: str,
        kinds: Collection[str],
        *,
        assigns: bool = False,
        values: str = "",
    ) -> None:
        self.graph, self.kinds, self.assigns = graph, frozenset(kinds), assigns
        before, reply = exchange
        sentences = [words(part) for part in re.split(r"(?<=[.!?;])\s+", reply) if part]
        whole = words(reply)
        self.place = {word: number for number, word in enumerate(whole)}
        self.begins = {word: len(whole) - number for number, word in enumerate(reversed(whole), 1)}
        self.last, self.whole = frozenset((sentences or [()])[-1]), frozenset(whole)
        self.said, self.own = frozenset(words(before)), frozenset(words(clause))
        self.order = list(dict.fromkeys(_task(graph, key) for key in focus if key in graph))
        self.done = list(dict.fromkeys(_task(graph, key) for key in now if key in graph))
        self.first = graph[self.order[0]] if self.order else None
        self.root = graph.root(self.first.id).id if self.first is not None else ""
        self.together = [graph[key].parent for key in (self.done or self.order)[:2]]
        self.asked = self._few_with(self.last - STOP)
        own = self.own - STOP - frozenset(words(values))
        self.called = {key for word in own if (key := self._only_called(word)) is not None}

    def _only_called(self, stem: str) -> str | None:
        """The id of the only task with a word in its title; the verb of a deed names none: 'I sent it'."""
        some = list(islice(tasks_titled(self.graph, stem), 2))
        if len(some) != 1 or (is_action(some[0].title) and words(some[0].title)[0] == stem):
            return None
        return some[0].id

    def _few_with(self, stems: Collection[str]) -> dict[str, float]:
        """How surely a word of some means a task, by its id: one that only few titles have."""
        found: dict[str, float] = {}
        for word in stems:
            some = [node.id for node in islice(tasks_titled(self.graph, word), _FEW + 1)]
            if 0 < len(some) <= _FEW:
                found.update({key: max(found.get(key, 0.0), 1 / len(some)) for key in some})
        return found

    def named(self) -> set[str]:
        """The ids of all that may have a sign beside those of `_PLAIN`."""
        found = {*self.order, *self.done, self.root, *filter(None, self.together), *self.asked}
        found = (found | self.called) - {""}
        if self.first is not None and self.first.parent:
            found.add(self.first.parent)
        heard = self.last | self.said | self.own
        for word in self.whole | (heard - STOP):  # little words may be a value, they name no task
            for node in tasks_titled(self.graph, word):
                texts = (self.last, self.whole, self.said, self.own)
                spoken = node.id in found or any(share_named(node.title, text) for text in texts)
                if spoken or self._share_asked(node):
                    found.add(node.id)
        for word in self.whole:
            for node in slots_saying(self.graph, word):
                if node.parent and stems_in(node).value <= self.whole:
                    found.add(node.parent)
        return found

    def signs(self, tasks: Sequence[TaskNode]) -> dict[str, list[float]]:
        """The signs of tasks by id, in the order of WEIGHTS."""
        named = [node for node in tasks if share_named(node.title, self.whole)]
        ends = {node.id: max(self.place.get(word, -1) for word in words(node.title)) for node in named}
        begins = {
            node.id: min(self.begins.get(word, len(self.whole)) for word in words(node.title))
            for node in named
        }
        latest, earliest = max(ends.values(), default=-1), min(begins.values(), default=-1)
        return {
            node.id: self._signs(
                node, latest=ends.get(node.id) == latest, earliest=begins.get(node.id) == earliest
            )
            for node in tasks
        }

    def _signs(self, node: TaskNode, *, latest: bool, earliest: bool = False) -> list[float]:
        slots = [part for part in self.graph.parts(node.id) if is_slot(part)]
        values = [stems_in(part).value for part in slots]
        first, order, done = self.first, self.order, self.done
        leaf = node.parent is not None and not self.graph.parts(node.id)
        return [
            float(done[:1] == [node.id]),
            float(node.id in done),
            float(order[:1] == [node.id]),
            1 / (1 + order.index(node.id)) if node.id in order else 0.0,
            float(first is not None and first.parent == node.id),
            self._share_asked(node),
            float(latest),
            share_named(node.title, self.whole),
            float(any(value and value <= self.whole for value in values)),
            share_named(node.title, self.said),
            max(share_named(node.title, self.own), 0.5 * (node.id in self.called)),
            float(leaf),
            float(node.parent is None),
            float(order[:1] == [node.id] and leaf),
            float(node.id == self.root),
            float(self.together == [node.id, node.id]),
            float(done[:1] == [node.id] and leaf),
            float(any(self.kinds & kinds_held(part) for part in slots)),
            float(earliest),
            self.asked.get(node.id, 0.0),
            float(self.assigns and latest),
            float(self.assigns and node.parent is None),
            float(self.assigns and leaf),
        ]

    def _share_asked(self, node: TaskNode) -> float:
        """The part of a title that the reply's end has; its verb alone names it: 'Who tags?', 'tag tools'."""
        share, stems = share_named(node.title, self.last), words(node.title)
        verb = stems[0] if len(stems) > 1 and stems[0] in self.last - STOP else ""
        alone = bool(verb) and self._few_with([verb]) == {node.id: 1}
        return max(share, _BY_VERB if alone else 0.0)

    def first_plain(self, plain: Sequence[float], others: Collection[str]) -> str | None:
        """The first of the tasks beside others that has just these signs."""
        keys: Collection[str] | None = None
        if plain[_KIND]:
            index = self.graph.index(_kinds)
            keys = {self.graph[key].parent or "" for kind in self.kinds for key in index.get(kind, ())}
        if keys is not None and not keys:
            return None
        for node in self.graph.active:
            if (keys is None or node.id in keys) and node.id not in others and not is_slot(node):
                if float(node.parent is None) != plain[_OUTERMOST]:
                    continue
                if self._signs(node, latest=False) == list(plain):
                    return node.id
        return None


def _kinds(node: TaskNode) -> tuple[str, ...]:
    return tuple(kinds_held(node)) if is_slot(node) else ()


_LEAF, _OUTERMOST, _KIND = 11, 12, 17  # the places of these signs


def _plain(signs: Collection[int], *, assigns: bool) -> tuple[float, ...]:
    given = (_OUTERMOST in signs, _LEAF in signs) if assigns else (False, False)
    return (*(float(place in signs) for place in range(_KIND + 1)), *[0.0] * 3, *map(float, given))


_SIGNS = ((_LEAF,), (_OUTERMOST,), (), (_OUTERMOST, _KIND), (_KIND,))
_PLAIN = tuple(_plain(signs, assigns=False) for signs in _SIGNS)
_PLAIN_GIVEN = tuple(_plain(signs, assigns=True) for signs in _SIGNS)
"""The signs of tasks that nobody spoke of: of such there are many alike, of which only the first counts."""


def kind_held(node: TaskNode) -> str | None:
    """The kind of a slot's value; an amount of things is a count: '12 table posies'."""
    return _kind_held(node.value or "")


@lru_cache(maxsize=32_768)
def _kind_held(value: str) -> str | None:
    kind = kind_of(value)
    counts = re.fullmatch(r"\D{0,12}\d[\d.,]*\D*", value) is not None  # a code has several numbers
    return "count" if kind is None and (counts or _COUNTED.match(value)) else kind


def kinds_held(node: TaskNode) -> frozenset[str]:
    """The kinds of a slot's value: 'thurs 8am' is a date and a time."""
    return _kinds_held(node.value or "")


@lru_cache(maxsize=32_768)
def _kinds_held(value: str) -> frozenset[str]:
    both = frozenset[str](span.kind for span in spot(value))
    if both == {"date", "time"}:
        return both
    return frozenset(filter(None, (_kind_held(value),)))


def _task(graph: TaskGraph, key: str) -> str:
    node = graph[key]
    return node.parent if is_slot(node) and node.parent else key
