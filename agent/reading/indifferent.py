"""Slots of task schemas of which a message says that any value will do: "I don't care", "any day is fine".

Which slot that is, words tell: those beside, else the question that is answered. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from taskloom.agent.language import indifference as said
from taskloom.agent.language.wording import sentences, spoken
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema

from .listed import description_words, forms, own_words, places, type_of, words_of

Words = Callable[[SlotSchema], frozenset[str]]

_PLACES = frozenset(form for word in said.PLACES.split() for form in forms(word))


def indifferent(text: str, before: str, schema: TaskSchema) -> frozenset[str]:
    """Names of the slots of a schema for which any value will do; before: what the message answers."""
    question = _question(before)
    asked = _named(question, schema) or _listed(question, schema)
    found = set[str]()
    for clause, asks in _clauses(text):
        if said.REFUSED.search(clause):
            continue
        if said.ALL_THE_SAME.search(clause):
            found |= _by_kind(clause, schema) or _named(clause, schema) or (set() if asks else asked)
        for words in (said.IN_ANY if asks else said.ANY).findall(clause):
            found |= _named(words, schema)
    if said.NO.match(text) and said.PREFERS.search(question) and not said.OTHERS.search(question):
        found |= asked
    return frozenset(found)


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a text, and whether each is part of a question."""
    for start, end in sentences(text):
        sentence = text[start:end]
        for clause in said.CLAUSE_END.split(sentence):
            yield clause, sentence.rstrip().endswith("?")


def _question(before: str) -> str:
    """The last sentence of what was said before that asks something, else the last one."""
    told = [before[start:end] for start, end in sentences(before)]
    return next((one for one in reversed(told) if one.rstrip().endswith("?")), told[-1] if told else "")


def _named(text: str, schema: TaskSchema) -> set[str]:
    """The slots that words name: by a word that no other slot's name or description has, or by their kind."""
    forms_said = {word.form for word in words_of(text)}
    by_name = {slot.name for slot in schema.slots if _telling(slot, schema, own_words) & forms_said}
    by_more = {slot.name for slot in schema.slots if _telling(slot, schema, _all_words) & forms_said}
    return by_name or by_more or _by_kind(text, schema) or (_place(schema) if _PLACES & forms_said else set())


def _listed(text: str, schema: TaskSchema) -> set[str]:
    """The slot two of whose values a question offers."""
    offered = (slot for slot in schema.slots if slot.values)
    return _only([slot for slot in offered if len({one.value for one in places(text, slot)}) > 1])


def _by_kind(text: str, schema: TaskSchema) -> set[str]:
    """The slot that "where" or "when" means, if there is but one."""
    if said.WHERE.search(text):
        return _place(schema)
    if said.WHEN.search(text):
        return _only([slot for slot in schema.slots if type_of(slot) in ("time", "date")])
    return set()


def _place(schema: TaskSchema) -> set[str]:
    return _only([slot for slot in schema.slots if _PLACES & own_words(slot)])


def _only(slots: Sequence[SlotSchema]) -> set[str]:
    return {slot.name for slot in slots} if len(slots) == 1 else set()


def _all_words(slot: SlotSchema) -> frozenset[str]:
    return own_words(slot) | description_words(slot)


def _telling(slot: SlotSchema, schema: TaskSchema, words: Words) -> frozenset[str]:
    """The words of a slot that tell it from the others, and are not those of its schema's name."""
    others = (one for one in schema.slots if one is not slot)
    return words(slot) - frozenset().union(forms(spoken(schema.name)), *map(_all_words, others))
