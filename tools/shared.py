"""Shared variables: named values outside the prompt, that tools read and write.

A tool that wants them has a parameter `shared: SharedVariables`; the model never sees it. `fill` puts them
into a template: the global context of an agent (TaskGen, Tan 2024, section on global context).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, MutableMapping
from copy import deepcopy
from threading import RLock
from typing import Annotated, Any

from langchain_core.tools import InjectedToolArg

from .errors import ToolError

_NAME = re.compile(r"[A-Za-z_]\w{0,63}")
_FIELD = re.compile(r"<([A-Za-z_]\w{0,63})>")
SIZE = 1_000_000  # characters of JSON that one value may take
DEPTH = 100  # lists and objects in each other; msgpack, which checkpoints are written in, ends at 256


class Shared(MutableMapping[str, Any]):
    """The shared variables of a thread, by name; JSON values but null. Thread-safe.

    A value that is read is a copy: one that was changed has to be set again. None takes a variable out. An
    inner agent gets the very object of its parent, so that what one writes the other reads.
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = dict(values or {})
        self._changed: dict[str, None] = {}
        self.guard = RLock()  # for tools that read and then write

    def __getitem__(self, name: str) -> Any:
        with self.guard:
            return deepcopy(self._values[name])

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a value; None takes the variable out.

        Raises:
            ToolError: the name is no name, or the value is no JSON or too large.
        """
        if not _NAME.fullmatch(name):
            raise ToolError(f"{name[:40]!r} cannot name a shared variable: letters, digits and _ only")
        try:
            kept = _kept(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolError(f"the shared variable {name} cannot be kept as JSON: {error}") from error
        with self.guard:
            self._changed[name] = None
            if kept is None:
                self._values.pop(name, None)
            else:
                self._values[name] = kept

    def __delitem__(self, name: str) -> None:
        with self.guard:
            del self._values[name]
            self._changed[name] = None

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        with self.guard:
            return iter(tuple(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def restore(self, values: Mapping[str, Any]) -> None:
        """Restore what was written before an interruption; None deletes. Later writes stay."""
        with self.guard:
            missing = {name: value for name, value in values.items() if name not in self._changed}
            self._values |= missing
            self._changed |= dict.fromkeys(missing)
            self._values = {name: value for name, value in self._values.items() if value is not None}

    def changes(self) -> dict[str, Any]:
        """What was written since it was made; None for what was deleted."""
        with self.guard:
            return {name: self._values.get(name) for name in self._changed}

    def keep(self, stem: str, value: Any) -> str:
        """Put a value under the first free name that begins so; that name."""
        stem = re.sub(r"\W", "_", stem)[:50]
        stem = stem if _NAME.fullmatch(stem) else f"v_{stem}"
        with self.guard:
            number = 1
            while f"{stem}_{number}" in self._values:
                number += 1
            self[f"{stem}_{number}"] = value
        return f"{stem}_{number}"


def _kept(value: Any) -> Any:
    """A value as a checkpoint gives it back.

    Raises:
        TypeError, ValueError, RecursionError: it cannot be kept.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(text) > SIZE:
        raise ValueError(f"it takes {len(text):,} characters, {SIZE:,} are allowed")
    kept = json.loads(text.encode("utf-8", "replace"))  # lone surrogates have no UTF-8
    _check(kept, DEPTH)
    return kept


def _check(value: Any, depth: int) -> None:
    """Raise ValueError for what JSON can hold and msgpack cannot."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("an integer has more than 64 bits")
    if isinstance(value, dict | list):
        if not depth:
            raise ValueError(f"lists and objects are more than {DEPTH} deep")
        for one in value.values() if isinstance(value, dict) else value:
            _check(one, depth - 1)


SharedVariables = Annotated[Shared, InjectedToolArg]


def fill(template: str, values: Mapping[str, Any], *, limit: int = 500) -> str:
    """A template with each `<name>` replaced by the value of that name, once, as JSON cut to a limit.

    Raises:
        ToolError: the template has names without a value; the message lists all of them.
    """
    if missing := [name for name in dict.fromkeys(_FIELD.findall(template)) if name not in values]:
        raise ToolError(f"the context needs shared variables that are not set: {', '.join(missing)}")

    def put(found: re.Match[str]) -> str:
        text = json.dumps(values[found[1]], ensure_ascii=False)
        return text if len(text) <= limit else f"{text[:limit]}…"

    return _FIELD.sub(put, template)
