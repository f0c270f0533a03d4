"""Task schemas as they are given: JSON Schema, SGD, or our own form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from taskloom.agent.turn.schemas import SchemaError, SlotSchema, TaskSchema


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
    try:
        schemas = tuple(_read(source, "schemas"))
    except RecursionError as error:
        raise SchemaError("schemas: nested too deeply to be task schemas") from error
    except SchemaError:
        raise
    except ValueError as error:  # a number of thousands of digits, bytes that are no text
        raise SchemaError(f"schemas: {error}") from error
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
