"""Which checkpoints of a thread can be deleted, and what the oldest remaining ones need to hold then.

A checkpoint holds only the changes of a delta channel, and is read by replaying the checkpoints before it.
Deleting these would silently empty the channel, so the oldest remaining ones get the whole value first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointTuple
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from taskloom.agent.graph.access import turn_of
from taskloom.agent.graph.plain import plain_saver
from taskloom.agent.graph.runs import MissingCheckpointError, Place
from taskloom.agent.turn.state import DELTA_CHANNELS

from .checkpoints import replayed

# What deletes a thread's checkpoints before one, whole calls of subgraphs (`name:id`) before it, and writes
# whose checkpoint is gone; {thread} and {first} stand for values, {writes} for the table.
DELETIONS = (
    """
    DELETE FROM checkpoints WHERE thread_id = {thread} AND checkpoint_ns = '' AND checkpoint_id < {first}
    """,
    """
    DELETE FROM checkpoints
    WHERE thread_id = {thread} AND REPLACE(checkpoint_ns, ':', '') <> checkpoint_ns AND checkpoint_ns NOT IN (
        SELECT checkpoint_ns FROM checkpoints WHERE thread_id = {thread} AND checkpoint_id >= {first}
    )
    """,
    """
    DELETE FROM {writes}
    WHERE thread_id = {thread} AND NOT EXISTS (
        SELECT 1 FROM checkpoints AS c
        WHERE c.thread_id = {thread} AND c.checkpoint_ns = {writes}.checkpoint_ns
        AND c.checkpoint_id = {writes}.checkpoint_id
    )
    """,
)


class SharedThreadError(RuntimeError):
    """Several users spoke in the thread before threads had an owner; only its old turns record who."""

    def __init__(self, thread: str) -> None:
        super().__init__(
            f"several users spoke in thread {thread!r} before threads had an owner: it is not pruned, as only"
            " its old turns record whose words are to be forgotten"
        )


@dataclass(frozen=True, slots=True)
class Keep:
    """What to keep: the latest turns, or those since a time, always at least one. Exactly one is given."""

    turns: int | None = None
    since: datetime | None = None


class Size(NamedTuple):
    """How many checkpoints a thread has, and their bytes, with the writes and blobs that belong to them."""

    checkpoints: int
    bytes: int

    def less(self, other: Size) -> Size:
        """This size minus another one."""
        return Size(self.checkpoints - other.checkpoints, self.bytes - other.bytes)


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted of a thread, or would be. turns: how many it can still go back to."""

    thread: str
    turns: int
    gone: Size


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a thread is cut. turns: of those that stay; first: the id of the oldest checkpoint of these."""

    turns: int
    first: str


class Root(NamedTuple):
    """A checkpoint whose parent goes, with the whole values of these channels."""

    checkpoint: Checkpoint
    channels: tuple[str, ...]


def cut_of(place: Place, keep: Keep) -> Cut | None:
    """Where to cut a thread; None for one without checkpoints."""
    first, numbers = "", set[int]()
    for found in _backwards(place):
        turn = turn_of(found.checkpoint["channel_values"]).number
        enough = keep.turns is not None and len((numbers | {turn}) - {0}) > keep.turns
        if first and (enough or (keep.since and datetime.fromisoformat(found.checkpoint["ts"]) < keep.since)):
            break
        first = found.checkpoint["id"]
        numbers.add(turn)
    return Cut(len(numbers - {0}), first) if first else None


def roots_of(place: Place, links: Sequence[tuple[str, str | None]], first: str) -> list[Root]:
    """What stays of a thread and has its parent before a cut, where forks begin too, made whole.

    Args:
        place: the thread.
        links: its checkpoints, each with its parent.
        first: the oldest checkpoint that stays; ids are in order of time.
    """
    saver = plain_saver(place.saver)
    return [_whole(saver, place, key) for key, parent in links if key >= first and (parent or first) < first]


def first_said(checkpoint: Checkpoint) -> str:
    """What the user said first, where a checkpoint was made whole; '' elsewhere."""
    held = checkpoint["channel_values"].get("messages")
    messages = held.value if isinstance(held, _DeltaSnapshot) else ()
    return next((str(message.text) for message in messages if isinstance(message, HumanMessage)), "")


def _backwards(place: Place) -> Iterator[CheckpointTuple]:
    """The checkpoints of a thread from the latest one to those that it rests on."""
    saver = plain_saver(place.saver)
    found = saver.get_tuple(place.config)
    while found:
        yield found
        found = saver.get_tuple(found.parent_config) if found.parent_config else None


def _whole(saver: BaseCheckpointSaver[Any], place: Place, key: str) -> Root:
    config = place.at(key)
    if (found := saver.get_tuple(config)) is None:  # deleted by hand: whoever prunes has the lock
        raise MissingCheckpointError(place.thread, key, ())
    checkpoint = found.checkpoint
    missing = [
        name
        for name in DELTA_CHANNELS
        if name in checkpoint["channel_versions"] and name not in checkpoint["channel_values"]
    ]
    histories = saver.get_delta_channel_history(config=config, channels=missing) if missing else {}
    values = {name: _DeltaSnapshot(replayed(name, histories[name])) for name in missing}
    whole: Checkpoint = {**checkpoint, "channel_values": {**checkpoint["channel_values"], **values}}
    return Root(whole, tuple(missing))
