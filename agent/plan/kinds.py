"""Which kind a task is of, and what its slots hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from taskloom.agent.language.wording import base, spoken
from taskloom.agent.language.words import content
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.memory.operations import Add, Clarify, Update, names
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import word_set

_EMPTY = word_set(
    """a an and another any are at be by for from get help her his i in is it me my need new of on or our plan
    please service some task that the their this to us want way we with you your"""
)

_ACTS = word_set(
    """add arrange book buy check find get make order organise organize plan play rent request reserve
    schedule search share"""
)

_NAMED, _DESCRIBED, _SHARED_SLOT, _ACT = 2.0, 1.0, 1.0, 0.25

_ENOUGH = 2.0  # its name, or a word of its description and a slot, or two slots


def kind_of(graph: TaskGraph, root: str, schemas: Sequence[TaskSchema]) -> TaskSchema | None:
    """The schema that a root task is of, by the words they share; None where they share too little.

    Words of the schema's name count most, then those of its description and the slots that the task has
    already. Verbs as 'book' and 'find' only break ties, and so do, last, the schemas' order.
    """
    node = graph[root]
    words, parts = _words(f"{node.title} {node.slot}"), own_parts(graph, root)
    return _best(words, schemas, lambda schema: len(held_as(parts, schema)))


def title_of_kind(schema: TaskSchema) -> str:
    """What a task of a kind is called that nobody gave a title: 'book haircut' for BookHaircut."""
    return re.sub(r"\s*\d+$", "", spoken(schema.name.rpartition(".")[2]))


def kind_named(words: str, schemas: Sequence[TaskSchema]) -> TaskSchema | None:
    """The schema that a task would be of if these words were its title."""
    return _best(_words(words), schemas, lambda _: 0)


def kind_asked_for(words: str, schemas: Sequence[TaskSchema]) -> TaskSchema | None:
    """The schema that words ask for and say nothing beyond: 'add an event', or its description.

    The first word is the verb of the kind's name or of its description, or one as 'book' and 'make'.
    """
    verb, *_ = re.findall(r"[^\W\d_]+", words.lower()) or [""]
    schema = kind_named(words, schemas)
    if schema is None or not _words(words) - _ACTS:
        return None
    own = _words(f"{schema.name} {schema.description}") | _ACTS
    names = (schema.name.rpartition(".")[2], schema.description)
    verbs = _ACTS | {spoken(name).lower().partition(" ")[0] for name in names}
    return schema if verb in verbs and _words(words) <= own else None


def _best(
    words: frozenset[str], schemas: Iterable[TaskSchema], shared: Callable[[TaskSchema], int]
) -> TaskSchema | None:
    """The schema that has most of the words; shared: how many of its slots the task has."""
    best, best_score = None, 0.0
    for schema in schemas:
        name = _words(schema.name)
        rest = _words(schema.description) - name
        score = _NAMED * len(words & name - _ACTS) + _DESCRIBED * len(words & rest - _ACTS)
        score += _SHARED_SLOT * shared(schema)
        if score >= _ENOUGH:
            score += _ACT * len(words & _ACTS & (name | rest))
            if score > best_score:
                best, best_score = schema, score
    return best


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """The words that carry meaning, lower case and without a plural ending; also of a name like 'FindBus'."""
    found = re.findall(r"[^\W\d_]{2,}", spoken(text).lower())
    return frozenset(_stem(word) for word in found) - _EMPTY


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def own_parts(graph: TaskGraph, root: str) -> tuple[TaskNode, ...]:
    """What a task has: its descendants and what it rests on, those that left the plan included."""
    needed = (graph[key] for key in graph[root].depends_on)
    return (*graph.subtree(root, gone=True)[1:], *needed)


def held_as(parts: Iterable[TaskNode], schema: TaskSchema) -> dict[str, list[TaskNode]]:
    """The tasks that hold each slot of a schema.

    A task goes to the slot of its own name, else to the first free one that has all words of its name or
    whose words its name has ('date' holds 'departure_date').
    """
    slots = {slot.name: _words(slot.name) or {slot.name.lower()} for slot in schema.slots}
    held: dict[str, list[TaskNode]] = {}
    left = []
    for part in parts:
        words = (_words(base(part.slot)), _words(part.title))
        exact = next((slot for slot in slots if _called(part, slot)), None)
        exact = exact or next((slot for slot, own in slots.items() if own in words), None)
        if exact is None:
            left.append((part, words))
        else:
            held.setdefault(exact, []).append(part)
    loose: dict[str, list[TaskNode]] = {}
    for part, words in left:
        near = next(
            (s for s, own in slots.items() if s not in held and any(_near(w, own) for w in words)), None
        )
        if near is not None:
            loose.setdefault(near, []).append(part)
    return {**held, **loose}


def held_slots(graph: TaskGraph, root: str, schema: TaskSchema) -> dict[str, list[TaskNode]]:
    """The tasks that hold each slot of a schema, for a root task of its kind."""
    return held_as(own_parts(graph, root), schema)


def holds(part: TaskNode, slot: str) -> bool:
    """Whether a task is a slot's by its own name or title, and not only by words that they share."""
    return _called(part, slot) or _words(slot) in (_words(base(part.slot)), _words(part.title))


def _called(part: TaskNode, slot: str) -> bool:
    names = (part.name, part.title.lower())
    return slot in names or spoken(slot).lower() in names


def missing_slots(
    graph: TaskGraph, root: str, schema: TaskSchema, *, optional: bool = False
) -> dict[str, str]:
    """The slots that a task never had a value for, with what they ask for; optional: those too."""
    held = held_slots(graph, root, schema)
    return {
        slot.name: slot.description or spoken(slot.name)
        for slot in schema.slots
        if (slot.required or optional) and not decided_in(held.get(slot.name, ()))
    }


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about: no verbs as 'book' and 'find', no little words."""
    return _words(text) - _ACTS


def _near(words: frozenset[str], slot: Iterable[str]) -> bool:
    return bool(words) and (words <= frozenset(slot) or words >= frozenset(slot))


def decided_in(own: Sequence[TaskNode]) -> bool:
    """Whether a slot has had a value that was not only proposed, or has left the plan."""
    return any(
        not node.active
        or any(state.value is not None and state.status != "proposed" for state in node.states())
        for node in own
    )


def offered_roots(graph: TaskGraph) -> tuple[str, ...]:
    """The root tasks that have proposed values."""
    return tuple(dict.fromkeys(graph.root(node.id).id for node in graph.active if node.status == "proposed"))


def asked_key(question: Clarify) -> str | None:
    """The key under which `fill` counts a question it made, '<root>.<slot>' or a task's id; else None."""
    choice = question.choices[0] if question.choices else None
    if isinstance(choice, Add) and choice.parent is not None:
        return f"{choice.parent}.{choice.slot.rpartition('.')[2]}"
    return choice.task if isinstance(choice, Update) else None


_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip

_SAME = {"true": "yes", "false": "no", "yeah": "yes", "yep": "yes", "nope": "no", "none": "no"}


def allowed_value(value: str, values: Iterable[str]) -> str | None:
    """The allowed value that a value means: the same words in any form, or the only one that it names.

    Of values within each other the longest counts: 'a cut and colour' names no 'cut'.
    """
    plain = _plain(value)
    choices = tuple(values)
    for choice in choices:
        if _plain(choice) == plain:
            return choice
    named = [choice for choice in choices if names(_plain(choice), plain)]
    named = [
        one for one in named if not any(one != other and names(_plain(one), _plain(other)) for other in named)
    ]
    return named[0] if len(named) == 1 else None


def _plain(text: str) -> str:
    """Lower case, digits for number words, no articles, no punctuation, no plural ending."""
    words = [_NUMBERS.get(word, _SAME.get(word, word)) for word in re.findall(r"\w+", text.lower())]
    return " ".join(_stem(word) for word in words if word not in ("a", "an", "the", "for"))


def spoken_slots(text: str, slots: Sequence[str]) -> list[str]:
    """The slots that a list names and says nothing of: 'the name and the birth date'; [] if it says more."""
    pieces = [piece for piece in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", text.strip(" .!")) if piece]
    found = []
    for piece in pieces:
        named = [slot for slot in slots if content(piece) and content(piece) <= content(spoken(slot))]
        if not named:
            return []
        found += named
    return found
