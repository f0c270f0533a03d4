"""Task schemas and proactive slot filling. Pure.

A schema is a kind of task and the slots it has. It can be given as a pydantic model class, as JSON Schema, or
as a service of Schema-Guided Dialogue (Rastogi et al. 2020), each of whose intents is a kind of task.
`fill` proposes what earlier tasks of the same kind had and asks for what is missing, which is MAP's active
policy without a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from taskloom.agent.language.wording import base, clip, spoken, the, title_of, word_set
from taskloom.agent.language.words import content
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import SchemaError, SlotSchema, TaskSchema
from taskloom.memory.operations import Add, Clarify, Operation, Update, apply, names
from taskloom.memory.tasks import TaskGraph, TaskNode

ASK_AT_MOST = 2
"""How often one slot of one task is asked for. A caller that hears 'never mind' sets the count to this."""

ANY = "any"
"""The value of a slot of which the user says that it does not matter; any list of values allows it."""

LOOK_BACK = 20
"""How many earlier root tasks are looked at for values to propose."""


class Filling(NamedTuple):
    """What to offer and what to ask: proposals as operations on the graph, and at most one question.

    A question for a free value has one choice without a value: an `Add` or `Update` into which the answer
    goes. A question with options has one choice for each.
    """

    proposals: tuple[Operation, ...] = ()
    question: Clarify | None = None


# ---- reading schemas ------------------------------------------------------------------------------


def load_schemas(source: Any) -> tuple[TaskSchema, ...]:
    """Read task schemas.

    Args:
        source: a `TaskSchema`, a pydantic model class, a mapping (JSON Schema of an object, a service of
            Schema-Guided Dialogue, or a dumped `TaskSchema`), JSON or JSON Lines text of such mappings, or
            any iterable of all these.

    Returns:
        The schemas in the order given. A service with intents gives one schema for each intent, named
        'Service.Intent'; one without gives a single schema.

    Raises:
        SchemaError: something that is none of these, or two schemas of one name.
    """
    schemas = tuple(_read(source, "schemas"))
    seen: set[str] = set()
    for schema in schemas:
        if schema.name in seen:
            raise SchemaError(f"{schema.name}: two task schemas have this name")
        seen.add(schema.name)
        if twice := _first_double(slot.name for slot in schema.slots):
            raise SchemaError(f"{schema.name}: two slots are called {twice!r}")
    return schemas


def _read(source: Any, where: str) -> Iterator[TaskSchema]:
    if isinstance(source, TaskSchema):
        yield source
    elif isinstance(source, type) and issubclass(source, BaseModel):
        yield _from_json_schema(source.model_json_schema(), source.__name__)
    elif isinstance(source, Mapping):
        yield from _from_mapping(source, where)
    elif isinstance(source, str | bytes):
        yield from _read(_parsed(source, where), where)
    elif isinstance(source, Iterable):
        for number, item in enumerate(source):
            yield from _read(item, f"{where}[{number}]")
    else:
        raise SchemaError(
            f"{where}: expected a pydantic model class or a mapping, got {type(source).__name__}"
        )


def _parsed(text: str | bytes, where: str) -> Any:
    """JSON, or one JSON value a line."""
    text = text.decode() if isinstance(text, bytes) else text
    try:
        return json.loads(text)
    except ValueError as error:
        lines = text.splitlines()
        if len(lines) < 2:
            raise SchemaError(f"{where}: not JSON: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise SchemaError(f"{where}: line {number} is not JSON: {error}") from error
    return found


def _from_mapping(source: Mapping[str, Any], where: str) -> Iterator[TaskSchema]:
    if "service_name" in source or "service" in source or "intents" in source:
        yield from _from_service(source, where)
    elif "properties" in source or source.get("type") == "object":
        yield _from_json_schema(source, where)
    elif "name" in source and "slots" in source:
        try:
            yield TaskSchema.model_validate(source)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise SchemaError(f"{where}: {place}: {first['msg']}") from error
    else:
        keys = ", ".join(map(str, source)) or "nothing"
        raise SchemaError(
            f"{where}: expected JSON Schema (with 'properties') or a Schema-Guided-Dialogue service "
            f"(with 'service_name', 'slots', 'intents'); found {keys}"
        )


def _from_json_schema(schema: Mapping[str, Any], where: str) -> TaskSchema:
    name = schema.get("title") or schema.get("name") or where
    if not isinstance(name, str) or name.startswith("schemas"):
        raise SchemaError(f"{where}: a JSON Schema for a task needs a 'title', which names the kind of task")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping):
        raise SchemaError(f"{name}: 'properties' must be an object, not {type(properties).__name__}")
    if not isinstance(required, Sequence) or isinstance(required, str):
        raise SchemaError(f"{name}: 'required' must be a list of slot names")
    if unknown := next((slot for slot in required if slot not in properties), None):
        raise SchemaError(f"{name}: requires {unknown!r}, which is not among its properties")
    slots = []
    for slot, given in properties.items():
        if not isinstance(given, Mapping | bool):
            raise SchemaError(f"{name}.{slot}: expected a schema, got {type(given).__name__}")
        form = _resolved(given, schema, f"{name}.{slot}") if isinstance(given, Mapping) else {}
        slots.append(
            SlotSchema(
                name=str(slot),
                description=str(form.get("description", "")),
                required=slot in required,
                values=_allowed(form, schema, f"{name}.{slot}"),
                examples=_texts(form["examples"]) if isinstance(form.get("examples"), list) else (),
            )
        )
    return TaskSchema(name=name, description=str(schema.get("description", "")), slots=tuple(slots))


def _resolved(form: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """A property's schema with its local reference followed; what stands beside the reference goes first."""
    seen = set()
    while (reference := form.get("$ref")) is not None:
        found: Any = schema
        for part in str(reference).removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping) or reference in seen:
            raise SchemaError(f"{where}: {reference!r} leads nowhere; only '#/$defs/...' can be followed")
        seen.add(reference)
        form = {**found, **{key: value for key, value in form.items() if key != "$ref"}}
    return form


def _allowed(form: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The values that a property's schema allows; () for any."""
    if "const" in form:
        return _texts([form["const"]])
    if isinstance(form.get("enum"), list):
        return _texts(form["enum"])
    if form.get("type") == "boolean":
        return ("yes", "no")
    branches = form.get("anyOf") or form.get("oneOf") or ()
    forms = [_resolved(branch, schema, where) for branch in branches if isinstance(branch, Mapping)]
    sets = [_allowed(branch, schema, where) for branch in forms if branch.get("type") != "null"]
    return tuple(dict.fromkeys(value for values in sets for value in values)) if all(sets) else ()


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    """Allowed values as the user would say them."""
    found = ["yes" if v is True else "no" if v is False else str(v) for v in values if v is not None]
    if {value.lower() for value in found} == {"true", "false"}:
        return ("yes", "no")
    return tuple(dict.fromkeys(found))


def _from_service(source: Mapping[str, Any], where: str) -> Iterator[TaskSchema]:
    """A service in the original form of Schema-Guided Dialogue, or in its compact one."""
    service = source.get("service_name", source.get("service"))
    if not isinstance(service, str) or not service:
        raise SchemaError(f"{where}: a service needs a 'service_name'")
    description = str(source.get("description", ""))
    slots = {slot.name: slot for slot in _service_slots(source.get("slots", ()), service)}
    intents = [*_intents(source.get("intents", ()), service)]
    if not intents:
        yield TaskSchema(name=service, description=description, slots=tuple(slots.values()))
    for name, text, required, optional in intents:
        if unknown := next((slot for slot in (*required, *optional) if slot not in slots), None):
            raise SchemaError(f"{service}.{name}: no slot of {service} is called {unknown!r}")
        chosen = [slots[slot].model_copy(update={"required": True}) for slot in required]
        chosen += [slots[slot] for slot in optional if slot not in required]
        yield TaskSchema(name=f"{service}.{name}", description=text or description, slots=tuple(chosen))


def _service_slots(slots: Any, service: str) -> Iterator[SlotSchema]:
    for name, form in _named(slots, f"{service}.slots"):
        if isinstance(form, Mapping):
            text, values = form.get("description", ""), form.get("possible_values", ())
            categorical = form.get("is_categorical", bool(values))
        else:
            try:
                text, categorical, values = form
            except (TypeError, ValueError) as error:
                raise SchemaError(f"{service}.{name}: expected [description, categorical, values]") from error
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise SchemaError(f"{service}.{name}: possible values must be a list")
        listed, others = (_texts(values), ()) if categorical else ((), _texts(values))
        yield SlotSchema(name=name, description=str(text), values=listed, examples=others)


def _intents(intents: Any, service: str) -> Iterator[tuple[str, str, Sequence[str], Iterable[str]]]:
    for name, form in _named(intents, f"{service}.intents"):
        if not isinstance(form, Mapping):
            raise SchemaError(f"{service}.{name}: expected an object with 'required_slots'")
        required = form.get("required_slots", form.get("required", ()))
        optional = form.get("optional_slots", form.get("optional", ()))
        for slots in (required, optional):
            if isinstance(slots, str) or not isinstance(slots, Iterable):
                raise SchemaError(f"{service}.{name}: required and optional slots must be lists of names")
        yield name, str(form.get("description", "")), tuple(required), tuple(optional)


def _named(items: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Pairs of name and form, from a mapping or from a list of objects with a 'name'."""
    if isinstance(items, Mapping):
        yield from items.items()
        return
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise SchemaError(f"{where}: expected a list, got {type(items).__name__}")
    for number, item in enumerate(items):
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            raise SchemaError(f"{where}[{number}]: expected an object with a 'name'")
        yield item["name"], item


def _first_double(items: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


# ---- which kind a task is of ----------------------------------------------------------------------

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
    told, parts = _words(f"{node.title} {node.slot}"), _parts(graph, root)
    return _best(told, schemas, lambda schema: len(_held(parts, schema)))


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
    told: frozenset[str], schemas: Iterable[TaskSchema], shared: Callable[[TaskSchema], int]
) -> TaskSchema | None:
    """The schema that has most of the words; shared: how many of its slots the task has."""
    best, best_score = None, 0.0
    for schema in schemas:
        name = _words(schema.name)
        rest = _words(schema.description) - name
        score = _NAMED * len(told & name - _ACTS) + _DESCRIBED * len(told & rest - _ACTS)
        score += _SHARED_SLOT * shared(schema)
        if score >= _ENOUGH:
            score += _ACT * len(told & _ACTS & (name | rest))
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


def _parts(graph: TaskGraph, root: str) -> tuple[TaskNode, ...]:
    """What a task has: its descendants and what it rests on, those that left the plan included."""
    needed = (graph[key] for key in graph[root].depends_on)
    return (*graph.subtree(root, gone=True)[1:], *needed)


def _held(parts: Iterable[TaskNode], schema: TaskSchema) -> dict[str, list[TaskNode]]:
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
    return _held(_parts(graph, root), schema)


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
        if (slot.required or optional) and not _decided(held.get(slot.name, ()))
    }


def telling_words(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about: no verbs as 'book' and 'find', no little words."""
    return _words(text) - _ACTS


def _near(words: frozenset[str], slot: Iterable[str]) -> bool:
    return bool(words) and (words <= frozenset(slot) or words >= frozenset(slot))


class Remembered(NamedTuple):
    """A value that a task of an earlier session had.

    member: whether it is a thing in a list, which has a title and no value.
    source: id of the record that it comes from. within: title of the part that it belongs to.
    """

    slot: str
    title: str
    value: str
    member: bool
    source: str
    within: str = ""


# ---- filling --------------------------------------------------------------------------------------


def fill(
    graph: TaskGraph,
    touched: Iterable[str],
    schemas: Sequence[TaskSchema],
    asked: Mapping[str, int] | None = None,
    known: Mapping[str, Sequence[Remembered]] | None = None,
) -> Filling:
    """What to propose and what to ask for the tasks of this turn.

    Proposed are the values that the latest earlier task of the same kind had, then those of earlier sessions,
    for slots that this one never had. Asked is, first, for an allowed value in place of one that is not, then
    for the first required slot that is missing, but nothing in a turn that proposes something.

    Args:
        graph: the tasks after the turn's operations.
        touched: ids of the tasks that the turn changed.
        schemas: the kinds of tasks.
        asked: how often each slot was asked for, by `asked_key`; at `ASK_AT_MOST` it is left alone.
        known: what earlier sessions had, by root task.

    Returns:
        Proposals (status 'proposed', source 'memory:<id of the earlier task, or of the record>') and the
        question. Nothing for a task that is done or out of the plan.
    """
    roots = dict.fromkeys(graph.root(key).id for key in touched if key in graph)
    proposals: list[Operation] = []
    question = None
    for root in roots:
        if not graph[root].active or graph[root].status == "done":
            continue
        schema = kind_of(graph, root, schemas)
        offered = list((known or {}).get(root, ()))
        if schema is None:
            proposals += _from_earlier(graph, root, offered, {})
            continue
        held = held_slots(graph, root, schema)
        proposals += _proposals(graph, root, schema, held, _earlier(graph, root, schema, schemas))
        told = {base(one.slot) for one in proposals if isinstance(one, Add)}
        proposals += _from_earlier(graph, root, [one for one in offered if one.slot not in told], held)
        question = question or _question(graph, root, schema, held, asked or {})
    return Filling(tuple(proposals), None if proposals else question)


def _from_earlier(
    graph: TaskGraph, root: str, known: Iterable[Remembered], held: Mapping[str, Sequence[TaskNode]]
) -> Iterator[Operation]:
    """What an earlier session had, for slots that this task never had."""
    places = {"": root} | {part.title.lower(): part.id for part in graph.parts(root)}
    taken = {(part.parent, name) for part in _parts(graph, root) for name in (part.name, part.title.lower())}
    offered = {node.name: node for node in graph.subtree(root)[1:] if node.status == "proposed"}
    for one in known:
        own = held.get(one.slot, ()) or ([offered[one.slot]] if one.slot in offered else ())
        place = places.get(one.within.lower())
        if _decided(own) or place is None:
            continue
        source = f"memory:{one.source}"
        if own:
            yield Update(task=own[0].id, value=one.value, status="proposed", source=source)
        elif taken.isdisjoint({(place, one.title.lower()), (place, one.slot)}):
            taken |= {(place, one.title.lower()), (place, one.slot)}
            offer = Add(
                slot=f"{graph[place].slot}.{one.slot}", title=one.title, parent=place,
                value=None if one.member else one.value, status="proposed", source=source,
            )  # fmt: skip
            yield offer
            made = apply(graph, offer, turn=0, said="")  # for its id: others may belong to it
            graph = made.graph
            places.setdefault(one.title.lower(), made.changed[0])


def _decided(own: Sequence[TaskNode]) -> bool:
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


def _number(key: str) -> tuple[int, str]:
    """Order of creation by id: t2 before t10."""
    return (int(key[1:]) if key[1:].isdigit() else 0, key)


def _earlier(graph: TaskGraph, root: str, schema: TaskSchema, schemas: Sequence[TaskSchema]) -> list[str]:
    """Root tasks of the same kind that were made before this one; of many, only the latest are looked at."""
    older = [node.id for node in graph.parts(None) if _number(node.id) < _number(root)]
    return [key for key in older[-LOOK_BACK:] if kind_of(graph, key, schemas) == schema]


def _known(nodes: Iterable[TaskNode], graph: TaskGraph) -> list[TaskNode]:
    """Those that hold something: a value, or parts of their own."""
    return [node for node in nodes if node.active and (node.value is not None or graph.parts(node.id))]


def _proposals(
    graph: TaskGraph,
    root: str,
    schema: TaskSchema,
    held: Mapping[str, Sequence[TaskNode]],
    earlier: Sequence[str],
) -> Iterator[Operation]:
    """The latest value that an earlier task of the kind had, for each slot that this one never had."""
    former = [_held(_parts(graph, key), schema) for key in earlier]
    for slot in schema.slots:
        own = held.get(slot.name, ())
        if _decided(own) or _known(own, graph):
            continue
        known = [
            node for slots in former for node in slots.get(slot.name, ())
            if node.active and node.value is not None and node.status in ("filled", "done")
        ]  # fmt: skip
        if not known:
            continue
        latest = max(known, key=lambda node: (node.turn, _number(node.id)))
        source = f"memory:{latest.id}"
        if own:
            yield Update(task=own[0].id, value=latest.value, status="proposed", source=source)
        else:
            yield Add(
                slot=f"{graph[root].slot}.{slot.name}", title=spoken(slot.name), value=latest.value,
                parent=root, status="proposed", source=source,
            )  # fmt: skip


def _question(
    graph: TaskGraph,
    root: str,
    schema: TaskSchema,
    held: Mapping[str, Sequence[TaskNode]],
    asked: Mapping[str, int],
) -> Clarify | None:
    """The first question that this task has: a value that is not allowed, else a required slot."""
    for slot in schema.slots:
        for node in held.get(slot.name, ()):
            odd = node.value not in (None, ANY) and not allowed(node.value or "", slot.values)
            if slot.values and node.active and odd and asked.get(node.id, 0) < ASK_AT_MOST:
                return _choose(graph, root, slot, node)
    for slot in schema.slots:
        own = held.get(slot.name, ())
        declined = any(not node.active and node.op in ("remove", "inactivate") for node in own)
        if not slot.required or declined or _known(own, graph):
            continue
        question = _ask(graph, root, slot, next((node for node in own if node.active), None))
        if asked.get(asked_key(question) or "", 0) < ASK_AT_MOST:
            return question
    return None


def _ask(graph: TaskGraph, root: str, slot: SlotSchema, open_node: TaskNode | None) -> Clarify:
    """Ask for the value of a slot."""
    values: tuple[str | None, ...] = slot.values or (None,)
    place = f"{graph[root].slot}.{slot.name}"
    name = spoken(slot.name)
    choices: list[Operation] = [
        Update(task=open_node.id, value=value)
        if open_node
        else Add(slot=place, title=name, value=value, parent=root)
        for value in values
    ]
    text = f"What should {the(name)} be for {the(title_of(graph[root]))}?"
    if slot.values == ("yes", "no"):
        text = f"For {the(title_of(graph[root]))}: {name}?"
    return Clarify(question=text, options=slot.values, choices=tuple(choices))


def _choose(graph: TaskGraph, root: str, slot: SlotSchema, node: TaskNode) -> Clarify:
    """Ask for one of the allowed values in place of one that is not."""
    value, whole = clip(node.value or ""), the(title_of(graph[root]))
    text = f"For {whole}, {the(spoken(slot.name))} cannot be {value}. Which one is it?"
    choices = tuple(Update(task=node.id, value=value) for value in slot.values)
    return Clarify(question=text, options=slot.values, choices=choices)


_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_SAME = {"true": "yes", "false": "no", "yeah": "yes", "yep": "yes", "nope": "no", "none": "no"}


def allowed(value: str, values: Iterable[str]) -> str | None:
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


def schema_of(view: View) -> tuple[str, TaskSchema] | None:
    """The root task that is talked of, and its kind: of the open question, else the one in focus."""
    choices = view.question.choices if view.question else ()
    places = [
        one.parent if isinstance(one, Add) else one.task for one in choices if isinstance(one, Add | Update)
    ]
    for key in (*places, *view.focus):
        if key is None or key not in view.graph:
            continue
        root = view.graph.root(key)
        schema = kind_of(view.graph, root.id, view.schemas) if root.active and root.status != "done" else None
        return (root.id, schema) if schema else None
    return None


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
