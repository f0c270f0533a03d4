"""Checkpoints on disk: compressed, with a cache of the latest ones of the threads used last."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from pathlib import Path
from typing import Any

import ormsgpack
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    writes_sort_key,
)
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from taskloom.agent.graph.plain import STORED, DamagedError, UnknownTypeError, damage_named
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.state import DELTA_CHANNELS, Pending, Turn

_ZLIB = "+zlib"  # marks the type of a compressed payload
_WORTH_IT = 128  # bytes; shorter payloads stay as they are
_WARM_THREADS = 32
_FORMER: dict[tuple[str, str], type] = {
    ("taskloom.agent.state", "Turn"): Turn,
    ("taskloom.agent.state", "Pending"): Pending,
    ("taskloom.agent.acting", "Call"): Call,
    ("taskloom.agent.acting", "Act"): ToolRun,
    ("taskloom.agent.turn.calls", "Act"): ToolRun,
}  # where types of the state stood, and what they were called, in threads that an older version wrote
_FORMER_CHANNELS = {"made": "changed", "acts": "runs"}  # of the graph that calls tools

_SIGNS = (*{module.encode() for module, _ in _FORMER}, *map(ormsgpack.packb, _FORMER_CHANNELS))


class CompactSerializer(JsonPlusSerializer):
    """JsonPlusSerializer that compresses, and finds types under the names they had in older versions.

    Payloads without the mark of compression are read as they are, so a database written with the plain
    serializer can be opened.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise, and compress payloads that are long enough."""
        kind, data = super().dumps_typed(obj)
        if len(data) < _WORTH_IT:
            return kind, data
        return kind + _ZLIB, zlib.compress(data, level=1)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read what `dumps_typed`, or the plain serializer, wrote.

        Raises:
            UnknownTypeError: it holds a type that is not allowed.
            DamagedError: it cannot be read.
        """
        with damage_named():
            return self._loaded(*data)

    def _loaded(self, kind: str, payload: bytes) -> Any:
        if kind.endswith(_ZLIB):
            kind, payload = kind.removesuffix(_ZLIB), zlib.decompress(payload)
        if kind == "msgpack" and any(sign in payload for sign in _SIGNS):
            payload = _moved(payload)
        blocked: list[str] = []
        token = _BLOCKED.set(blocked)
        try:
            value = super().loads_typed((kind, payload))
        finally:
            _BLOCKED.reset(token)
        if blocked:
            raise UnknownTypeError.of(blocked[0])
        return value


_BLOCKED: ContextVar[list[str] | None] = ContextVar("taskloom_blocked", default=None)


def _note(event: SerdeEvent) -> None:
    blocked = _BLOCKED.get()
    if blocked is not None and event["kind"] == "msgpack_blocked":
        blocked.append(f"{event['module']}.{event['name']}")


register_serde_event_listener(_note)


def _moved(payload: bytes) -> bytes:
    """A payload with former names of types and channels replaced by the present ones."""

    def extension(code: int, data: bytes) -> ormsgpack.Ext:
        return ormsgpack.Ext(code, _moved(data))

    option = ormsgpack.OPT_NON_STR_KEYS
    value = ormsgpack.unpackb(payload, ext_hook=extension, option=option)
    match value:
        case [str() as module, str() as name, *rest] if kind := _FORMER.get((module, name)):
            value = [kind.__module__, kind.__name__, *rest]
        case {"channel_values": dict() as held}:
            value["channel_values"] = {_FORMER_CHANNELS.get(name, name): held[name] for name in held}
    return ormsgpack.packb(value, option=option)


class WarmSaver(SqliteSaver):
    """SqliteSaver that remembers, for the threads used last, what their delta channels held.

    A turn then replays the writes of the turn before, and not all those since the last snapshot. A checkpoint
    that does not follow the remembered one (another process wrote, time travel) is read from the database.
    Dicts and lists are returned as copies, tasks are frozen; messages are shared and must not be changed.
    """

    def __init__(self, connection: sqlite3.Connection, *, locks: Path | None = None) -> None:
        """locks: folder for the locks of runs; default beside the database."""
        self.locks = locks
        super().__init__(connection, serde=CompactSerializer(allowed_msgpack_modules=STORED))
        self._warm: OrderedDict[tuple[str, str], tuple[str, dict[str, Any]]] = OrderedDict()
        self._guard = threading.Lock()

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each channel held at the parent of a checkpoint, or earlier, and the writes since."""
        target = get_checkpoint_id(config)
        thread, space = (
            str(config["configurable"]["thread_id"]),
            config["configurable"].get("checkpoint_ns", ""),
        )
        if not target or not set(channels) <= DELTA_CHANNELS.keys():
            return super().get_delta_channel_history(config=config, channels=channels)
        with self._guard:
            known, values = self._warm.get((thread, space), ("", {}))
        if known not in (target, self._parent(thread, space, target)):
            known, values = "", {}
        writes = self._writes(thread, space, known) if known and known != target else []
        found = {
            channel: DeltaChannelHistory(
                writes=[write for write in writes if write[1] == channel], seed=_fresh(values[channel])
            )
            for channel in channels
            if channel in values
        }
        if missing := [channel for channel in channels if channel not in found]:
            found |= super().get_delta_channel_history(config=config, channels=missing)
        with damage_named():  # what is read is replayed there
            self._keep((thread, space), target, found)
        return found

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `SqliteSaver.get_tuple`.

        Raises:
            DamagedError: the checkpoint, or what is noted of it, cannot be read.
        """
        with damage_named():
            found = super().get_tuple(config)
        if found is not None and not isinstance(found.checkpoint, dict):
            raise DamagedError(f"a checkpoint is {type(found.checkpoint).__name__}")
        return found

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints of a thread."""
        with self._guard:
            for key in [key for key in self._warm if key[0] == thread_id]:
                del self._warm[key]
        super().delete_thread(thread_id)

    def _keep(self, key: tuple[str, str], target: str, found: Mapping[str, DeltaChannelHistory]) -> None:
        values = {name: replayed(name, history) for name, history in found.items()}
        with self._guard:
            self._warm[key] = (target, values)
            self._warm.move_to_end(key)
            while len(self._warm) > _WARM_THREADS:
                self._warm.popitem(last=False)

    def _parent(self, thread: str, space: str, checkpoint: str) -> str | None:
        with self.cursor(transaction=False) as cursor:
            row = cursor.execute(
                "SELECT parent_checkpoint_id FROM checkpoints "
                "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
                (thread, space, checkpoint),
            ).fetchone()
        return row[0] if row else None

    def _writes(self, thread: str, space: str, checkpoint: str) -> list[PendingWrite]:
        """The writes stored on a checkpoint, in the order in which they count."""
        with self.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT task_path, task_id, idx, channel, type, value FROM writes "
                "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
                (thread, space, checkpoint),
            ).fetchall()
        rows.sort(key=lambda row: writes_sort_key(*row[:3]))
        return [(row[1], row[3], self.serde.loads_typed((row[4], row[5]))) for row in rows]


def replayed(name: str, history: DeltaChannelHistory) -> Any:
    """What a delta channel held after its history, in a container of its own."""
    channel = DELTA_CHANNELS[name]
    channel = channel.from_checkpoint(_fresh(history.get("seed", channel.typ())))
    channel.replay_writes(history["writes"])
    return channel.get()


def _fresh(value: Any) -> Any:
    """An equal channel value, or write of one, in containers of its own; tasks and messages are shared."""
    if isinstance(value, tuple):  # a snapshot
        return type(value)(*map(_fresh, value))
    return copy(value) if isinstance(value, dict | list) else value
