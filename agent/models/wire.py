"""The JSON that a model reads an utterance into: its schema, and the strict way from a reply to steps. Pure.

A reply is taken whole or not at all. What is not understood beyond doubt is a `WireError`, whose message goes
back to the model: a lenient parser would drop what the user said.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from taskloom.agent.language.values import kind_of, number_of
from taskloom.agent.language.wording import base
from taskloom.agent.turn.steps import Act, Asked, Detail, Step, StepPart
from taskloom.memory.operations import Intent, QuestionKind
from taskloom.memory.retrieve import matching
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.words import fold

MAX_REPLY = 40_000  # characters of a reply
MAX_TEXT = 2_000  # characters of one text in it
MAX_STEPS = 40

Verb = Act | Literal["order"]
"""What a model says is done: an act, or several of the same at once."""

Did = Literal["add", "remove", "update", "replace", "complete"]
Q = QuestionKind | Literal["other", "who", "when", "where"]

# What each act needs (one of each group), and what else may come with it beside slot, title and in. What
# is to be made again ("again") a model says by choosing the tool.
_FORMS: dict[Verb, tuple[str, str]] = {
    "task": ("title|slot", "value details items refs"),
    "set": ("value|details|items on|in|slot|details|items", "old"),
    "add": ("items on|in|slot", "details"),
    "replace": ("value old|on", ""),
    "remove": ("on|slot|refs", "value"),
    "hold": ("on|slot|refs", ""),
    "resume": ("on|slot|refs", ""),
    "done": ("on|slot|refs", ""),
    "reopen": ("on|slot|refs", ""),
    "back": ("on|slot|value", "value to"),
    "undo": ("", "on"),
    "redo": ("", ""),
    "need": ("on|slot refs|items", ""),
    "unneed": ("on|slot", "refs items"),
    "order": ("refs|items", "on"),
    "share": ("on|slot refs|items", ""),
    "assign": ("on|slot", "value"),
    "split": ("on|slot parts", ""),
    "merge": ("on|slot", "details"),
    "only": ("on|slot|in items|refs", ""),
    "shift": ("value on|slot", ""),
    "yes": ("", "on value"),
    "no": ("", "on value"),
    "ask": ("q", "on value did denied to"),
    "chat": ("", "value"),
    "unsure": ("value", "on"),
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["steps"],
    "properties": {"steps": {"type": "array", "items": {"type": "object"}}},
}
"""What an endpoint holds a reply to. Acts and fields stand in the prompt alone, where each call would pay for
them twice; `steps_of` holds the reply to all of them."""

# Where the act says it; otherwise grounding decides.
_INTENTS: dict[Verb, Intent] = {"task": "new", "ask": "check", "unsure": "check", "chat": "check"}


class WireError(ValueError):
    """A reply that cannot be used; the message tells the model why."""


def steps_of(reply: str, utterance: str, graph: TaskGraph, ids: Sequence[str]) -> tuple[Step, ...]:
    """The steps that a reply says.

    Args:
        reply: the text of the reply: the JSON object, perhaps fenced or with words around it.
        utterance: what the user said.
        graph: the tasks.
        ids: the ids of the tasks shown; number n is `ids[n - 1]`.

    Raises:
        WireError: the reply is not beyond doubt of this form.
    """
    given = json_of(reply)
    if given == {} and json_of(reply, as_is=True) == {"steps": []}:
        raise WireError("steps: there is none; what neither changes nor asks anything is chat")
    try:
        wire = _Reply.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the object"
        raise WireError(f"{where}: {first['msg']}") from error
    new_titles = {fold(step.title) for step in wire.steps if step.title}
    reader = _Reader(utterance, graph, ids, new_titles)
    steps: list[Step] = []
    for number, step in enumerate(_apart(wire.steps), 1):
        try:
            steps += reader.steps(step)
        except WireError as error:
            raise WireError(f'step {number} ("{step.act}"): {error}') from error
    return tuple(steps)


def _apart(steps: Sequence[_Step]) -> list[_Step]:
    """The steps, with a new task beside another, not in it, where one of the two is to wait for the other."""
    pairs = {(place, ref) for step in steps if step.act == "need" for place in step.on for ref in step.refs}
    return [
        step.model_copy(update={"within": None})
        if step.act == "task" and ({(step.title, step.within), (step.within, step.title)} & pairs
                                   or step.within in step.refs)
        else step
        for step in steps
    ]  # fmt: skip


# ---- from text to JSON ----------------------------------------------------------------------------


def json_of(reply: str, *, as_is: bool = False) -> Any:
    """The one JSON value in a reply; as_is: empty values stay, and numbers are numbers.

    Raises:
        WireError: there is none, or more than one, or it is not valid.
    """
    if len(reply) > MAX_REPLY:
        raise WireError("far too long")
    body = re.sub(r"\A\s*<think>.*?</think>", "", reply, flags=re.DOTALL)
    fences = re.findall(r"```\w*\s(.*?)```", body, flags=re.DOTALL)
    if len(fences) == 1 and not body.lstrip().startswith(("{", "[")):  # else it stands in one of its texts
        body = fences[0]
    start = min((at for at in (body.find("{"), body.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise WireError("there is no JSON object in it")
    try:
        value, end = (_PLAIN if as_is else _DECODER).raw_decode(body, start)
    except WireError:
        raise
    except RecursionError as error:
        raise WireError("nested too deeply") from error
    except ValueError as error:
        raise WireError(f"not valid JSON ({str(error)[:120]})") from error
    if re.search(r"[\[\]{}]", body[end:]):
        raise WireError("more than one JSON value, or brackets that do not match")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without what is null or empty; a key that stands twice is an error."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise WireError("a key occurs twice in one object")
    return {
        key: value
        for key, value in pairs
        if value not in (None, [], {}) and not (isinstance(value, str) and not value.strip())
    }


def _constant(name: str) -> NoReturn:
    raise WireError(f"{name} is not JSON")


# Fractions stay as they are written: 2.50 is a price, not 2.5.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=str, parse_constant=_constant)
_PLAIN = json.JSONDecoder(parse_constant=_constant)


# ---- from JSON to models --------------------------------------------------------------------------


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _clean(text: str) -> str:
    """Text as it can be stored: no half characters, no control characters."""
    text = text.strip()
    if not text:
        raise ValueError("must not be empty")
    if any(unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t" for char in text):
        raise ValueError("has control characters or half characters")
    if "\ufffd" in text:
        raise ValueError("has characters that were lost in encoding")
    return text


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_map(value: object) -> object:
    return {"item": value} if isinstance(value, list) else value


_Text = Annotated[str, BeforeValidator(_as_text), Field(max_length=MAX_TEXT), AfterValidator(_clean)]
_Texts = Annotated[list[_Text], BeforeValidator(_as_list), Field(min_length=1, max_length=60)]
_Values = Annotated[dict[_Text, _Texts], BeforeValidator(_as_map), Field(max_length=40)]
_Ref = int | Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_clean)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Part(_Model):
    title: _Text = ""
    who: Annotated[list[_Text], BeforeValidator(_as_list)] = []
    rest: bool = False
    details: _Values = {}


class _Step(_Model):
    act: Verb
    on: Annotated[list[_Ref], BeforeValidator(_as_list), Field(max_length=60)] = []
    within: _Ref | None = Field(default=None, alias="in")
    slot: _Text | None = None
    title: _Text | None = None
    value: _Text | None = None
    old: _Text | None = None
    items: _Values = {}
    details: _Values = {}
    refs: Annotated[list[_Ref], BeforeValidator(_as_list), Field(max_length=60)] = []
    parts: list[_Part] = []
    to: Literal["first", "previous"] | None = None
    q: Q | None = None
    did: Did | None = None
    denied: bool = False

    @model_validator(mode="before")
    @classmethod
    def _people(cls, given: Any) -> Any:
        """Several who do one thing are one value, and so is whom a question is about."""
        if not isinstance(given, dict):
            return given
        asked = next((name for name in ("who", "person") if name in given), None)
        if given.get("act") == "ask" and asked and "value" not in given:
            return {**{name: one for name, one in given.items() if name != asked}, "value": given[asked]}
        people = given.get("value") if given.get("act") == "assign" else None
        if isinstance(people, list) and people and all(isinstance(one, str) for one in people):
            return {**given, "value": " and ".join(filter(None, (", ".join(people[:-1]), people[-1])))}
        return given


class _Reply(_Model):
    steps: list[_Step] = Field(min_length=1, max_length=MAX_STEPS)


# ---- from models to steps -------------------------------------------------------------------------

_EACH: frozenset[Verb] = frozenset(("remove", "hold", "resume", "done", "reopen"))
"""Acts on each of the tasks that refs name, as on does."""

_FIRST = ("first", "original", "the first", "the original")

_MAKING: frozenset[Verb] = frozenset(("task", "add", "need", "order", "ask", "yes", "no", "unsure", "chat"))
"""Acts whose words may be for something that is not there: it is made, asked about, or answered."""


class _Reader:
    """Turns what a model wrote into steps, its task numbers into ids."""

    def __init__(
        self, utterance: str, graph: TaskGraph, ids: Sequence[str], new_titles: Collection[str]
    ) -> None:
        self.utterance, self.graph, self.ids, self.new_titles = utterance, graph, ids, new_titles

    def steps(self, wire: _Step) -> Iterator[Step]:
        """One step for each task that is meant."""
        _check_form(wire)
        places = [*wire.on, *(wire.refs if wire.act in _EACH else ())] or [None]
        if wire.act == "order":
            yield from self._ordered(wire)
        elif wire.act == "ask":
            yield self._step(wire, places[0], places[1:])
        elif wire.act == "task":
            yield self._step(wire.model_copy(update={"refs": []}), places[0])
            if wire.refs:
                yield self._needs(wire)
        elif wire.act in ("split", "only", "share") and len(places) > 1:
            raise WireError("on takes one task here")
        elif wire.act == "merge":
            yield self._step(wire, places[0])
        else:
            yield from (self._step(wire, place) for place in places)

    def _ordered(self, wire: _Step) -> Iterator[Step]:
        """Each of several waits for the one before."""
        within, within_task = self._place(wire.within)
        chain: list[_Ref] = [*wire.on, *wire.refs, *(text for texts in wire.items.values() for text in texts)]
        if len(chain) < 2:
            raise WireError("refs needs the tasks in their order, two at least")
        for first, then in pairwise(chain):
            words, task = self._place(then)
            yield Step(
                text=self.utterance,
                act="need",
                target=words,
                task=task,
                within=within,
                within_task=within_task,
                items=(self._member(first, "need"),),
            )

    def _needs(self, wire: _Step) -> Step:
        """What a new task waits for."""
        within, within_task = self._place(wire.within)
        return Step(
            text=self.utterance,
            act="need",
            target=wire.title or "",
            within=within,
            within_task=within_task,
            items=tuple(self._member(ref, "need") for ref in wire.refs),
        )

    def _step(self, wire: _Step, place: _Ref | None, more: Sequence[_Ref | None] = ()) -> Step:
        act: Any = wire.act
        target, task = self._place(place)
        within, within_task = self._place(wire.within)
        if act not in _MAKING:
            self._check_known("on", "" if task is not None else target)
            self._check_known("in", "" if within_task is not None else within)
        if act == "set":
            self._check_set(wire, task)
        if any(not (part.title or part.who or part.rest or part.details) for part in wire.parts):
            raise WireError("a part says nothing")
        if act == "split" and len(wire.parts) < 2:
            raise WireError("a split needs at least two parts")
        slot = wire.slot
        if act == "task":
            target = wire.title or target
            if not within and wire.value is None:
                slot = None  # a task of its own; a slot would make it a part of what the talk is about
        elif act == "add" and wire.within is None:
            within, within_task = target, task
        if not target and wire.slot:
            target = wire.slot.rpartition(".")[2].replace("_", " ")
        asked = None
        if wire.q:
            word = wire.q if wire.q in ("who", "when", "where") else None
            slot = slot or word
            kind: Any = "value" if word else "summary" if wire.q == "other" else wire.q
            kind = "history" if wire.to and kind in ("value", "before") else kind
            asked = Asked(
                kind=kind, value=wire.value, act=wire.did, denied=wire.denied, free=wire.q == "other"
            )
        first = act == "back" and (wire.value or "").lower() in _FIRST
        refs = () if act in _EACH else (*wire.refs, *(ref for ref in more if ref is not None))
        return Step(
            text=self.utterance,
            act=act,
            intent=_INTENTS.get(act),
            target=target,
            task=task,
            within=within,
            within_task=within_task,
            slot=slot,
            title=wire.title,
            value=None if asked or first else wire.value,
            old="original" if wire.to == "first" or first else wire.old,
            items=(*_details(wire.items), *(self._member(ref, act) for ref in refs)),
            details=_details(wire.details),
            parts=tuple(
                StepPart(
                    title=part.title, members=tuple(part.who), rest=part.rest, details=_details(part.details)
                )
                for part in wire.parts
            ),
            asked=asked,
        )

    def _check_set(self, wire: _Step, task: str | None) -> None:
        """Refuse a time, date or amount for the name of a task."""
        node = self.graph.get(task or "")
        if node is None or node.value is not None or wire.slot or wire.details or wire.items:
            return
        if (wire.value or "").isdecimal() and number_of(node.title) is not None:
            return  # 30 of what were 20 jars
        if (kind := kind_of(wire.value or "")) not in (None, kind_of(node.title)):
            raise WireError(f"on: a task has no value of its own; say in, and in slot what {kind} it is")

    def _check_known(self, name: str, words: str) -> None:
        """Refuse words for a place that is neither in the plan nor made by the message."""
        if not words or not self.graph or fold(words) in self.new_titles:
            return
        if not matching(self.graph, words, gone=True, limit=1):
            raise WireError(f"{name}: there is no task {words[:60]}; make it first, or is it a slot?")

    def _place(self, ref: int | str | None) -> tuple[str, str | None]:
        """The words for a place, and its id where a number was given."""
        if ref is None:
            return "", None
        if isinstance(ref, str):
            if not re.fullmatch(r"[-+]?\d+(\.\d+)?", ref):
                return ref, None
            if not ref.isdecimal():
                raise WireError(f"{ref} is not a task number")
            ref = int(ref)
        if not 1 <= ref <= len(self.ids):
            raise WireError(f"there is no task number {ref}; the numbers go from 1 to {len(self.ids)}")
        return self.graph[self.ids[ref - 1]].title, self.ids[ref - 1]

    def _member(self, ref: int | str, act: Act) -> Detail:
        words, task = self._place(ref)
        if task is None:
            return Detail(slot="task" if act in ("need", "unneed") else "item", value=words)
        node = self.graph[task]
        return Detail(slot=base(node.slot), value=node.value or node.title, task=task)


def _check_form(wire: _Step) -> None:
    """Refuse a step without what its act needs, or with what the act cannot mean."""
    given = {"in" if name == "within" else name for name in wire.model_fields_set}
    if wire.act not in _FORMS:
        raise WireError("there is no such act")
    needed, more = _FORMS[wire.act]
    groups = [group.split("|") for group in needed.split()]
    for group in groups:
        if not given & set(group):
            raise WireError(f"needs {' or '.join(group)}")
    allowed = {"act", "slot", "title", "in", *more.split(), *(name for group in groups for name in group)}
    if strange := sorted(given - allowed):
        raise WireError(f"{strange[0]} does not go with this act")


def _details(values: dict[str, list[str]]) -> tuple[Detail, ...]:
    return tuple(Detail(slot=slot, value=text) for slot, texts in values.items() for text in texts)
