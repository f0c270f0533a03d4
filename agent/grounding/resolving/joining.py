"""Mentions that together name one task, and clauses that only say what the others are about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from taskloom.agent.language.typed import kind_of
from taskloom.agent.plan.held import alike, ends_of, stems_in, tasks_having
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, word_set, words

from .resolver import Resolver
from .scoring import bare, content

_BETWEEN = re.compile(
    r"\s*(?:\b(?:of|for|at|to|with)\b)?\s*(?:\b(?:the|my|our|this|that)\b)?\s*", re.IGNORECASE
)
_DEFINITE = re.compile(r"(?:the|my|our|your|his|her|their|this|that)\b|\S+['’]s\s", re.IGNORECASE)
_POINTING = word_set("this that these those it all both of")
_HEAD_ENDS = re.compile(r"\s+(?:of|for|at|to|with|in|on|from|by|due|about)\s+|[,:(]", re.IGNORECASE)
_ABOUT = re.compile(
    r"\W*(?:(?:all|both|each) of )?(?:this|that|these|those|it|both|all)\b.*\b(?:about|for|of|on|to)\b",
    re.IGNORECASE,
)


class Joining(Resolver):
    """What words name by more than one mention, or in another clause."""

    def joined(self, clause: Clause) -> Clause:
        """A clause whose mentions beside each other are one where only together they name a task.

        'the loan of' and 'Nine Winters', 'the Prospect Park' and 'photo shoot'.
        """
        spans = sorted(clause.mentions, key=lambda one: one.start)
        found: list[Mention] = []
        for span in spans:
            before = found[-1] if found else None
            if before is not None and before.role in "TWI" and span.role in "TWIV":
                gap = clause.text[before.start + len(before.text) : span.start]
                text = clause.text[before.start : span.start + len(span.text)]
                beside = _BETWEEN.fullmatch(gap) and (span.role != "V" or gap.strip())
                title = clause.act == "task" and before.role + span.role == "TW" and self._is_title(gap, span)
                if title or (beside and self._names_one(text, before, span)):
                    found[-1] = replace(before, role="T" if before.role == "I" else before.role, text=text)
                    continue
            found.append(span)
        return clause if len(found) == len(spans) else replace(clause, mentions=tuple(found))

    def _is_title(self, gap: str, whole: Mention) -> bool:
        """Whether what something new is to be part of is but a part of its title: 'build the bench'."""
        return not gap.strip() and not any(tasks_having(self.graph, {word}) for word in content(whole.text))

    def _names_one(self, text: str, *parts: Mention) -> bool:
        """Whether words name one plan in full, and each of the parts gives some of them."""
        said = set(content(text))
        if any(
            STOP.issuperset(words(part.text)) or (part.role == "V" and kind_of(part.text)) for part in parts
        ):
            return False
        return any(said <= self.names_of(node) for node in self._plans_with(said))

    def _plans_with(self, said: Iterable[str]) -> list[TaskNode]:
        """The plans that may be named by a stem of some, or by one that is `alike`."""
        index = self.graph.index(_named_by)
        keys = {key for word in said for one in (word, *ends_of(word)) for key in index.get(one, ())}
        tasks = {self.task_of(self.graph[key]).id for key in keys}
        return [self.graph[key] for key in tasks if self.graph[key].parent is None and self.graph[key].active]

    def about(self, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
        """Clauses without the last one where it only says what they are about: 'This is for the van'."""
        last = clauses[-1] if len(clauses) > 1 else None
        if last is None or not _ABOUT.match(last.text):
            return tuple(clauses)
        last = self.joined(last)
        spans = [span for span in last.mentions if not set(span.text.lower().split()) <= _POINTING]
        if len(spans) != 1 or spans[0].role not in "TW" or any(one.all("W") for one in clauses[:-1]):
            return tuple(clauses)
        if self.known_as(spans[0].text) is None:
            return tuple(clauses)
        place = Mention("W", bare(spans[0].text), start=len(max((one.text for one in clauses), key=len)) + 1)
        return tuple(replace(one, mentions=(*one.mentions, place)) for one in clauses[:-1])

    def known_as(self, mention: str) -> TaskNode | None:
        """The plan that a definite name means, in other words than its title's: 'the Fiat service'.

        It has the name's proper nouns in it; or the same noun, where it says no more of its own kind: the
        Korean course is 'the language course', the salsa class is not 'my pottery class'.
        """
        if not _DEFINITE.match(mention.strip()):
            return None
        name = bare(mention)
        said, noun = set(content(name)), head(name)
        proper = {stem for word in re.findall(r"\b[A-Z][\w-]*", name) for stem in words(word)}
        found: list[TaskNode] = []
        for node in self._plans_with(said):
            held = stems_in(node).title | self._owned(node)
            missing = {word for word in said if not any(word == one or alike(word, one) for one in held)}
            if missing & proper or said == missing:
                continue
            same = noun == head(node.title)
            modifiers = {
                stem for word in re.findall(r"\b[a-z][\w-]*", _phrase(node.title)) for stem in words(word)
            } - {noun}
            if not missing or proper & stems_in(node).title or (same and (proper or modifiers <= said)):
                found.append(node)
        exact = [node for node in found if said <= stems_in(node).title] or found
        return exact[0] if len(exact) == 1 else None


def _named_by(node: TaskNode) -> Iterator[str]:
    """What a plan may be named by, of its own or of a slot's value, and the ends of these words."""
    title, value, kind, _ = stems_in(node)
    for word in value if is_slot(node) else title | kind if node.parent is None else ():
        yield word
        yield from ends_of(word)


def _phrase(title: str) -> str:
    return _HEAD_ENDS.split(bare(title), maxsplit=1)[0]


def head(title: str) -> str:
    """The stem of the noun that a title is about: 'loan' of 'the library loan of Nine Winters'."""
    stems = words(_phrase(title))
    return stems[-1] if stems else ""
