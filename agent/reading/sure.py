"""When a message does nothing but give slots their values, so surely that no model is asked.

Every word of such a message is part of a value, names what is filled, or asks for it, so that anything
said besides goes to the model: a "not", an "also", a question. The probabilities were chosen on whole turns,
each on the right plan before it, of which all slots had to be right and none missed. Of the turns that pass,
right are 75 of 75 of WOZ 2.0 (validate), 223 of 228 of sim-M (dev), 53 of 54 of Schema-Guided Dialogue (dev)
and 195 of 199 of sim-R (dev). These are the sets that the bounds were chosen on, none was kept apart;
`benchmarks/slots.py` measures them.

Where no schema lists the slots, one plain sentence that names a slot of the only task and gives it a value of
its type is as sure: "my email is ann@example.com".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.words import slot_name
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import SlotSchema, TaskSchema
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Add, Update
from taskloom.memory.words import word_set

from .filling import Filling
from .gate import NO_VALUE
from .listed import description_words, form_of, forms, own_words, places, type_of, words_of
from .slots import Filled, Key


@dataclass(frozen=True, slots=True)
class Bounds:
    """Probabilities from which on, and up to which, a reading of slots is sure.

    said: that a slot is filled whose name is said, or whose value is a listed one, word for word. filled:
    that any other is. empty_if_said, empty: that something was said of a slot that stays empty, where all
    that are filled are said, and else. placed: that an open value stands where it was found.
    """

    said: float = 0.85
    filled: float = 0.95
    empty_if_said: float = 0.25
    empty: float = 0.07
    placed: float = 0.8


BOUNDS = Bounds()
LONGEST = 300  # characters of a message that may do nothing but fill slots
LONGEST_NAME = 6  # words of a name in capitals
_ENDS = re.compile(r"[.!;:]\s")  # of sentences
_NAMING = re.compile(
    r"(?:(?:sorry|oh|ok|okay|hi|hello|actually|well|yes|to correct|correction)[,.!]? )*"
    r"(?:my|the) (?P<name>[\w ]{1,40}?) (?:is|should be|will be) (?P<value>.+)",
    re.IGNORECASE,
)

_WISHING = word_set(
    """a an the of in on at for to with by from and as is are be been am was it its i m im me my we us our you
    your there here will would ll d s ve re should can could may do have has had get got give make take set
    put use go going let lets just now then so well please want wants wanna need needs like love prefer look
    looking find search searching seek seeking try trying see watch book buy order purchase reserve schedule
    plan think hoping hope interested help correct change update actually sorry instead hi hello hey thanks
    thank ok okay yes yeah yep sure alright oh some something somewhere someplace place type kind sort called
    named"""
)
_OF_FORMS = frozenset(
    map(form_of, word_set("name surname address street city town country postcode nationality employer"))
)
_OTHERWISE = word_set(
    """no not never without except but if or also another again more both what which when where who how why
    whether cancel remove delete drop undo redo stop skip forget clear done finish finished postpone move swap
    replace share split merge copy repeat show tell ask check"""
)
"""Words that do more than to fill a slot, even where the description of a slot or of a kind has them."""
_CALL = re.compile(r"\bcall\b(?! (?:it|me)\b)", re.IGNORECASE)  # to be done; 'called Ann' is a name
_WORDS = re.compile(r"[^\W_]+")
_WISHING_FORMS, _OTHERWISE_FORMS = (frozenset(map(form_of, words)) for words in (_WISHING, _OTHERWISE))


def may_fill(utterance: str) -> bool:
    """Whether an utterance may do nothing but fill slots: it is short, on one line, and asks nothing."""
    return len(utterance) <= LONGEST and "?" not in utterance and "\n" not in utterance.strip()


def plainly_named(utterance: str, filling: Filling) -> Filled | None:
    """The slot that an utterance names and gives a plain value, doing nothing else: "my name is Ann Lee".

    A value is plain where it is one of those that are listed, or is of the slot's type from its begin to its
    end, or a name in capitals. None where there is no such slot, or others have its name in theirs.
    """
    told = _NAMING.fullmatch(utterance.strip(" .!"))
    if told is None:
        return None
    name = sorted(forms(told["name"]))
    found = [
        (Key(schema.name, slot.name), slot)
        for schema in filling.view.schemas for slot in schema.slots
        if set(name) <= set(forms(slot.name))
    ]  # fmt: skip
    if len(found) != 1:
        return None
    ((key, slot),) = found
    if sorted(forms(slot.name)) != name or not _expected(filling, [slot.name]):
        return None
    value = _plain(told["value"], slot)
    return None if value is None else Filled(key, value, 1.0)


def plainly_told(utterance: str, view: View) -> Step | None:
    """The step of an utterance that names a slot of the only task and gives it a plain value of its type.

    The name tells the type (a date, an amount, a phone number), or is one that a form asks for ("address").
    None where the utterance may say more: there are several tasks, something else waits for an answer, or
    anything in the plan but that very slot has a word of its name.
    """
    told = _NAMING.fullmatch(utterance.strip(" .!"))
    tasks = view.graph.parts(None)
    if told is None or len(tasks) != 1 or _waits(view) or (view.question and view.question.options):
        return None
    (task,) = tasks
    name, words = slot_name(told["name"]), set(forms(told["name"]))
    slot = SlotSchema(name=told["name"].strip().lower())
    value = _plain(told["value"], slot)
    is_text = type_of(slot) == "text"
    if value is None or (is_text and (not words & _OF_FORMS or kind_of(value) is not None)):
        return None
    others = (node for node in view.graph.active if (node.parent, node.name) != (task.id, name))
    if any(words & set(forms(node.title)) for node in others):
        return None
    detail = Detail(slot=slot.name, value=value)
    return Step(text=utterance, act="set", task=task.id, details=(detail,))


def _waits(view: View) -> bool:
    """Whether something is to be agreed to first: a proposed value, a request of an earlier session."""
    return bool(view.earlier) or any(node.status == "proposed" for node in view.graph.active)


def _plain(words: str, slot: SlotSchema) -> str | None:
    """The value that words are and nothing else, or None."""
    if slot.values:
        return next((value for value in slot.values if forms(value) == forms(words)), None)
    if type_of(slot) != "text":
        whole = [one.value for one in places(words, slot) if (one.start, one.end) == (0, len(words))]
        return whole[0] if whole else None
    name = words.split()
    plain = all(word[:1].isupper() or word[:1].isdigit() for word in name) and len(name) <= LONGEST_NAME
    return None if not plain or NO_VALUE & set(words.lower().split()) or _ENDS.search(words) else words


def only_fills(
    utterance: str,
    filling: Filling,
    kept: Sequence[Filled],
    odds: Mapping[Key, float],
    bounds: Bounds = BOUNDS,
) -> bool:
    """Whether it is sure that an utterance does nothing but give these slots their values.

    Args:
        utterance: what was said.
        filling: the plan as it is, and the tasks that values go to.
        kept: the slots that are filled.
        odds: of every slot, the probability that something was said of it.
        bounds: how sure is sure.
    """
    if not kept or any(one.at is None or one.at[0] for one in kept):
        return False
    if not _expected(filling, [one.key.slot for one in kept]):
        return False
    schemas = {schema.name: schema for schema in filling.view.schemas}
    pairs = [(one, schemas[one.key.schema]) for one in kept]
    if not _explained(utterance, pairs):
        return False
    if any(_slot(one, schema).values and _is_less(one, utterance) for one, schema in pairs):
        return False
    said = [_is_said(one, _slot(one, schema), utterance) for one, schema in pairs]
    filled = {one.key for one in kept}
    left = max((one for key, one in odds.items() if key not in filled), default=0.0)
    return left <= (bounds.empty_if_said if all(said) else bounds.empty) and all(
        one.probability >= (bounds.said if named else bounds.filled) and one.placed >= bounds.placed
        for one, named in zip(kept, said, strict=True)
    )


def _expected(filling: Filling, slots: Sequence[str]) -> bool:
    """Whether nothing else waits for an answer, and the last task that was spoken of is of a known kind.

    slots: the names of those that are filled.
    """
    view, graph = filling.view, filling.view.graph
    if _waits(view):
        return False
    if view.question is not None and view.question.options:
        asked = {
            one.slot.rpartition(".")[2] if isinstance(one, Add) else graph[one.task].name
            for one in view.question.choices if isinstance(one, Add | Update)
        }  # fmt: skip
        if not asked & set(map(slot_name, slots)):
            return False
    own = {task.id for task in filling.tasks.values() if task is not None}
    topic = next((graph.root(key).id for key in view.focus if key in graph and graph[key].active), None)
    return topic in own if topic is not None else not any(node.active for node in graph.parts(None))


def _explained(utterance: str, pairs: Sequence[tuple[Filled, TaskSchema]]) -> bool:
    """Whether every word is part of a value, names what is filled, or wishes for it."""
    known = set(_WISHING_FORMS)
    for one, schema in pairs:
        slot = _slot(one, schema)
        known |= {
            *forms(slot.name),
            *description_words(slot),
            *forms(schema.name),
            *forms(schema.description),
        }
    known -= _OTHERWISE_FORMS
    taken = [one.at[1:] for one, _ in pairs if one.at is not None]
    return _CALL.search(utterance) is None and all(
        word.form in known or any(start < word.end and word.start < end for start, end in taken)
        for word in words_of(utterance)
    )


def _is_said(one: Filled, slot: SlotSchema, utterance: str) -> bool:
    """Whether the words name a slot, or a value that its schema lists just as it stands there."""
    if slot.values:
        return _bare(one.value) in _bare(utterance)
    return (own_words(slot) or frozenset(forms(slot.name))) <= set(forms(utterance))


def _is_less(one: Filled, utterance: str) -> bool:
    """Whether the words for a listed value are only how it begins: "check" is not the checking account."""
    words = "" if one.at is None else utterance[one.at[1] : one.at[2]]
    return len(words) < len(one.value) and one.value.lower().startswith(words.lower())


def _bare(text: str) -> str:
    return f" {' '.join(_WORDS.findall(text.lower()))} "


def _slot(one: Filled, schema: TaskSchema) -> SlotSchema:
    return next(slot for slot in schema.slots if slot.name == one.key.slot)
