"""What a saver gets of the state: plain data, each model as a dict that says its type.

A saver is the host's or a server's, and warns of types that it does not know, or gives back something else.
Plain data passes every one, and is made models again when it comes back. What was written with types before
is still read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Overwrite
from pydantic import BaseModel

from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.state import Pending, Turn
from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskNode

# The models of the state; no other is made from what a saver holds.
STORED = (TaskNode, Turn, Clarify, Pending, Call, ToolRun)
_KINDS: dict[str, type[BaseModel]] = {kind.__name__: kind for kind in STORED}
_TYPE = "__taskloom__"  # a key of the dict that stands for a model: its type
_DICT = "dict"  # for a dict that has this key itself


class UnknownTypeError(RuntimeError):
    """A checkpoint holds a type that does not belong to the state."""

    @classmethod
    def of(cls, name: str) -> Self:
        """The error for a type."""
        return cls(
            f"the thread holds a {name}, which this version does not know: "
            "open it with the version that wrote it"
        )


class DamagedError(RuntimeError):
    """The stored data of a thread cannot be read."""


@contextmanager
def damage_named() -> Iterator[None]:
    """Turn every error in reading a checkpoint into one; errors of the database pass unchanged.

    Raises:
        DamagedError: in place of any other.
    """
    try:
        yield
    except (UnknownTypeError, DamagedError, sqlite3.Error):
        raise
    except Exception as error:  # bytes that were changed show as any kind of them
        raise DamagedError(f"{type(error).__name__}: {' '.join(str(error).split())[:100]}") from error


class PlainSerializer(JsonPlusSerializer):
    """A serializer that gives another one plain data, and makes models of what that gives back."""

    def __init__(self, inner: SerializerProtocol) -> None:
        super().__init__()
        self._inner = inner

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise."""
        return self._inner.dumps_typed(plain(obj))

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read what `dumps_typed`, or the other serializer, wrote.

        Raises:
            UnknownTypeError: it holds a model that does not belong to the state.
            DamagedError: it holds one that is not right, or cannot be read.
        """
        with damage_named():
            return models(self._inner.loads_typed(data))

    def with_msgpack_allowlist(self, extra_allowlist: Any) -> PlainSerializer:  # noqa: ARG002
        """Itself: plain data needs no type to be allowed."""
        return self


def plain_saver(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """A shallow copy of a saver that stores plain data, made as `with_allowlist` makes one."""
    if isinstance(saver.serde, PlainSerializer):
        return saver
    copied = copy(saver)
    copied.serde = PlainSerializer(saver.serde)
    return copied


def plain(value: Any) -> Any:
    """A value with dicts in place of the models of the state."""
    if isinstance(value, STORED):
        return {_TYPE: type(value).__name__, **value.model_dump()}
    return _inside(value, plain, _escaped)


def models(value: Any) -> Any:
    """A value with models in place of the dicts that stand for one."""
    if not isinstance(value, dict) or _TYPE not in value:
        return _inside(value, models)
    if (name := str(value[_TYPE])) == _DICT:
        return _inside(value[_DICT], models)
    if name not in _KINDS:
        raise UnknownTypeError.of(name)
    return _KINDS[name].model_validate(value)


def _escaped(value: dict[Any, Any]) -> dict[Any, Any]:
    return {_TYPE: _DICT, _DICT: value} if _TYPE in value else value


def _inside(value: Any, change: Any, done: Any = lambda changed: changed) -> Any:
    """A value with everything inside of it changed. done: called with each changed dict."""
    if type(value) is dict:
        return done({key: change(one) for key, one in value.items()})
    if type(value) in (list, tuple):
        return type(value)(map(change, value))
    if isinstance(value, _DeltaSnapshot):
        return _DeltaSnapshot(change(value.value))
    return Overwrite(change(value.value)) if isinstance(value, Overwrite) else value
