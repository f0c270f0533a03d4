"""Templates with typed inputs, `Write <count: int> lines about <topic>`, and the types that they name.

The form is that of TaskGen's internal functions (section B.2, figure B2), with types inside the brackets.

    type    str, int, float, bool, date, list, dict
            list[type]   dict[str, type]
            small | medium | large     one of these words; in double quotes where a word is also a type
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, create_model

from .errors import ToolDefinitionError

# The arguments that LangChain's own run methods have: a tool's of the same name would not arrive.
RESERVED = frozenset({"args", "callbacks", "config", "kwargs", "run_manager", "self"})

_TYPES: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "date": date,
    "list": list[Any], "dict": dict[str, Any],
}  # fmt: skip
_OPENING = re.compile(r"<(?=[^\W\d])")  # `a < b` and `<3` are text
_WORD = re.compile(r'[^\[\]"|,]+|"[^"]+"')


class Template(NamedTuple):
    """A template that was read. text: with `<name>` for every input. inputs: their types by name."""

    text: str
    inputs: dict[str, Any]


def read_template(text: str) -> Template:
    """Read a template.

    Raises:
        ToolDefinitionError: an input is not closed, has no proper name or type, or has two types; the message
            gives line and column.
    """
    inputs: dict[str, Any] = {}
    pieces, end = [], 0
    for opening in _OPENING.finditer(text):
        place = _place(text, opening.start())
        inside, closed, _ = text[opening.end() :].partition(">")
        if not closed or "<" in inside or "\n" in inside:
            start = re.split(r"[<\n]", inside)[0][:40]
            raise ToolDefinitionError(f"{place}: '<{start}' has no closing '>'")
        name, colon, type_text = (part.strip() for part in inside.partition(":"))
        if fault := name_fault(name):
            raise ToolDefinitionError(f"{place}: '<{inside}>': {fault}; write <name> or <name: type>")
        try:
            # `<topic>` after `<topic: date>` is the same input once more.
            type_ = read_type(type_text) if colon else inputs.get(name, str)
        except ToolDefinitionError as error:
            raise ToolDefinitionError(f"{place}: '<{inside}>': {error}") from None
        if inputs.setdefault(name, type_) != type_:
            raise ToolDefinitionError(f"{place}: '<{inside}>': '{name}' has another type before")
        pieces += [text[end : opening.start()], f"<{name}>"]
        end = opening.end() + len(inside) + 1
    return Template("".join([*pieces, text[end:]]), inputs)


def read_type(text: str) -> Any:
    """The Python type that a type text names.

    Raises:
        ToolDefinitionError: there is no such type.
    """
    text = text.strip()
    if text in _TYPES:
        return _TYPES[text]
    if inner := re.fullmatch(r"list\[(.+)\]", text):
        return list[read_type(inner[1])]  # type: ignore[misc]  # a type made while running
    if inner := re.fullmatch(r"dict\[\s*str\s*,(.+)\]", text):
        return dict[str, read_type(inner[1])]  # type: ignore[misc]
    words = [word.strip() for word in text.split("|")]
    if len(words) > 1 and all(_WORD.fullmatch(word) for word in words):
        if types := [word for word in words if word in _TYPES]:
            raise ToolDefinitionError(f"'{types[0]}' is a type: as one of the words write \"{types[0]}\"")
        return Literal[tuple(word.strip('"') for word in words)]
    raise ToolDefinitionError(
        f"unknown type '{text}'; there are {', '.join(_TYPES)}, list[type], dict[str, type] and one|another"
    )


def name_fault(name: str) -> str | None:
    """What is wrong with a name for an argument or a field; None: nothing."""
    if not name.isidentifier() or name.startswith("_"):
        return f"'{name}' is no name (letters, digits and _, a letter first)"
    if name in RESERVED:
        return f"'{name}' is a name that LangChain keeps to itself"
    if hasattr(BaseModel, name):
        return f"'{name}' is a name that pydantic keeps to itself"
    return None


def model_of(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    """A pydantic model with these fields, all required, and no others. fields: types by name."""
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    definitions: dict[str, Any] = {field: (type_, ...) for field, type_ in fields.items()}
    return create_model(name, __config__=config, **definitions)


def _place(text: str, offset: int) -> str:
    lines = text[:offset].split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"
