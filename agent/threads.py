"""Threads on disk: SQLite checkpoints, one run at a time on a thread, and the talk itself.

A turn is written when it ends (`durability="exit"`), before it is acknowledged: a process killed in the
middle of a turn loses that turn and no other.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    writes_sort_key,
)  # fmt: skip
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command, Interrupt, StateSnapshot

from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskGraph, TaskNode

from .acting import Act, Call
from .graph import build_graph, default_services
from .interpreter import Usage
from .nodes import Services, told_calls
from .settings import Settings, settings
from .state import DELTA_CHANNELS, Approval, Context, Decision, Pending, Turn, tasks_in
from .transfer import ThreadExport

# ---- serialisation --------------------------------------------------------------------------------

STORED = (
    TaskNode,
    Turn,
    Clarify,
    Pending,
    Call,
    Act,
)  # the types of the state; no other is made from what is on disk
_ZLIB = "+zlib"  # marks the type of a compressed payload
_WORTH_IT = 128  # bytes; shorter payloads stay as they are
_WARM_THREADS = 32


class CompactSerializer(JsonPlusSerializer):
    """JsonPlusSerializer that compresses.

    Payloads without the mark of compression are read as they are, so a database written with the plain
    serializer can be opened.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Serialise, and compress what is worth it."""
        kind, data = super().dumps_typed(obj)
        if len(data) < _WORTH_IT:
            return kind, data
        return kind + _ZLIB, zlib.compress(data, level=1)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read what `dumps_typed`, or the plain serializer, wrote."""
        kind, payload = data
        if kind.endswith(_ZLIB):
            kind, payload = kind.removesuffix(_ZLIB), zlib.decompress(payload)
        return super().loads_typed((kind, payload))


class WarmSaver(SqliteSaver):
    """SqliteSaver that remembers, for the threads used last, what their delta channels held.

    A turn then replays the writes of the turn before, and not all those since the last snapshot. A checkpoint
    that does not follow the remembered one (another process went on, time travel) is read as ever. Dicts and
    lists are handed out as copies, tasks are frozen; messages are shared, and nobody may change them.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
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
        self._keep((thread, space), target, found)
        return found

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints of a thread."""
        with self._guard:
            for key in [key for key in self._warm if key[0] == thread_id]:
                del self._warm[key]
        super().delete_thread(thread_id)

    def _keep(self, key: tuple[str, str], target: str, found: Mapping[str, DeltaChannelHistory]) -> None:
        values = {}
        for name, history in found.items():
            channel = DELTA_CHANNELS[name]
            channel = channel.from_checkpoint(_fresh(history.get("seed", channel.typ())))
            channel.replay_writes(history["writes"])
            values[name] = channel.get()
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


def _fresh(value: Any) -> Any:
    """An equal channel value, or write of one, in containers of its own; tasks and messages are shared."""
    if isinstance(value, tuple):  # a snapshot
        return type(value)(*map(_fresh, value))
    return copy(value) if isinstance(value, dict | list) else value


# ---- storage --------------------------------------------------------------------------------------


class ThreadBusyError(RuntimeError):
    """Another process is at work on the thread, and was for longer than one waits."""


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread in a list: how many turns it has, when it was last used (UTC), and how it began."""

    thread: str
    turns: int
    used: datetime
    title: str
    user: str = ""


class Threads:
    """The SQLite database of threads under a folder, and the locks on them."""

    def __init__(self, home: Path, *, wait: float = 30.0) -> None:
        """Open the database, or make it.

        Args:
            home: folder, made where it is missing, for its owner alone.
            wait: seconds to wait for a database or a thread that is in use.
        """
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._locks, self._wait = home / "locks", wait
        self._locks.mkdir(exist_ok=True)
        self._inside: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._guard = threading.Lock()
        self.saver = WarmSaver(
            sqlite3.connect(home / "threads.sqlite", check_same_thread=False, timeout=wait)
        )
        with FileLock(self._locks / "setup.lock", timeout=wait):
            self.saver.setup()

    def close(self) -> None:
        """Close the database."""
        self.saver.conn.close()

    @contextmanager
    def lock(self, thread: str) -> Iterator[None]:
        """Hold a thread: nobody else in this or another process works on it meanwhile.

        Raises:
            ThreadBusyError: it was in use for longer than `wait`.
        """
        with self._guard:
            inside = self._inside.setdefault(thread, _Lock())
        busy = f"thread {thread!r} is in use by another process or run; waited {self._wait:g} s"
        if not inside.lock.acquire(timeout=self._wait):
            raise ThreadBusyError(busy)
        try:
            with FileLock(self._lock_file(thread), timeout=self._wait, poll_interval=0.01):
                yield
        except Timeout as error:
            raise ThreadBusyError(busy) from error
        finally:
            inside.lock.release()

    def _lock_file(self, thread: str) -> Path:
        return self._locks / f"{hashlib.sha256(thread.encode()).hexdigest()[:32]}.lock"

    def list(self) -> list[ThreadInfo]:
        """All threads, the last used first."""
        with self.saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT thread_id, MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' "
                "GROUP BY thread_id"
            ).fetchall()
        found = []
        for thread, last in rows:
            if newest := self.saver.get_tuple(_config(thread, checkpoint_id=last)):
                turn = newest.checkpoint["channel_values"].get("turn", Turn())
                used = datetime.fromisoformat(newest.checkpoint["ts"])
                title = self._title(thread) or turn.utterance
                found.append(ThreadInfo(thread, turn.number, used, title, turn.user))
        return sorted(found, key=lambda info: info.used, reverse=True)

    def _title(self, thread: str) -> str:
        """What was said in the first turn; the first checkpoint may be an empty one to hold the writes."""
        with self.saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = ? "
                "ORDER BY checkpoint_id LIMIT 2",
                (thread,),
            ).fetchall()
        for (checkpoint,) in rows:
            found = self.saver.get_tuple(_config(thread, checkpoint_id=checkpoint))
            if found and (turn := found.checkpoint["channel_values"].get("turn")):
                return str(turn.utterance)
        return ""

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread.

        Raises:
            ThreadBusyError: it is in use.
        """
        with self.lock(thread):
            self.saver.delete_thread(thread)
            self._lock_file(thread).unlink(missing_ok=True)

    def compact(self) -> None:
        """Take what was deleted off the disk: no byte of it stays in the database's files.

        Raises:
            sqlite3.OperationalError: another process is reading or writing.
        """
        connection = self.saver.conn
        with self.saver.lock:
            connection.commit()
            connection.execute("VACUUM")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise sqlite3.OperationalError("the log of threads.sqlite is being read elsewhere")


class _Lock:
    """A lock that can be referred to weakly."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def _config(thread: str, **more: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}


# ---- talking --------------------------------------------------------------------------------------

Show = Callable[[str, str], None]
Ask = Callable[[Approval], bool | Decision]


class Taskloom:
    """Threads one can talk in; for the command line, scripts and tests.

    One object may be used from several threads of execution; turns on one thread come one after the other.
    """

    def __init__(self, threads: Threads, services: Services) -> None:
        self._threads, self.longterm, self.tools = threads, services.memory, services.tools
        self.loads = services.loads
        self.graph = build_graph(services, checkpointer=threads.saver)

    @classmethod
    def open(
        cls, given: Settings | None = None, *, services: Services | None = None, kept: bool = True
    ) -> Taskloom:
        """Open the threads under the home of the settings, with services that the settings ask for.

        kept: whether the home stays; see `default_services`.
        """
        given = given or settings()
        services = services or default_services(given, kept=kept)  # first: a file with tools may be broken
        return cls(Threads(given.home, wait=given.lock_timeout), services)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the databases; nothing is lost without it."""
        if self.longterm is not None:
            self.longterm.close()
        if self.tools is not None:
            self.tools.close()
        self._threads.close()

    @property
    def beside(self) -> Usage:
        """What models have cost beside the turns so far, for long-term memory; whole when this is closed."""
        return self.longterm.usage if self.longterm else Usage()

    def talk(
        self,
        utterance: str,
        *,
        thread: str = "main",
        context: Context | None = None,
        ask: Ask | None = None,
        show: Show | None = None,
    ) -> Turn:
        """One turn: what the user says, and what became of it. It is on disk when this returns.

        Args:
            utterance: the user's words.
            thread: the thread's id; it is made when first used.
            context: who talks, with which model, style and schemas.
            ask: decides on approvals; where it is given, removing a whole task asks first.
            show: gets the reply piece by piece, with the id of the message that the piece belongs to; a new
                id says that the pieces of the one before are withdrawn.

        Raises:
            ThreadBusyError: another process is at work on the thread.
        """
        words = utterance.encode("utf-8", "replace").decode()  # a lone surrogate cannot be stored
        return self._turn({"messages": [HumanMessage(words)]}, thread, context, ask, show)

    def load(
        self, text: str, *, thread: str = "main", context: Context | None = None, ask: Ask | None = None
    ) -> Turn:
        """Put an export (of a thread, or of a task graph) in place of a thread.

        Raises:
            GraphError: not an export, or one of an unsound graph.
            ThreadBusyError: another process is at work on the thread.
        """
        ThreadExport.from_json(text)
        return self._turn({"load": text}, thread, context, ask, None)

    def feedback(self, good: bool, *, thread: str = "main", context: Context | None = None) -> Turn:
        """Say whether the last change was right: it counts more than what the words after it tell.

        Raises:
            ThreadBusyError: another process is at work on the thread.
        """
        return self._turn({"feedback": "good" if good else "bad"}, thread, context, None, None)

    def pending(self, thread: str = "main") -> Approval | None:
        """What the thread waits for, if its last turn was left at an approval."""
        interrupts = self.state(thread).interrupts
        return Approval.model_validate(interrupts[0].value) if interrupts else None

    def decide(
        self,
        decision: bool | Decision,
        *,
        thread: str = "main",
        context: Context | None = None,
        ask: Ask | None = None,
        show: Show | None = None,
    ) -> Turn:
        """Go on with a turn that waits for an approval; in the context it was begun with."""
        context = (context or Context()).model_copy(update={"approve": True})
        return self._turn(_resume(decision), thread, context, ask, show)

    def state(self, thread: str = "main") -> StateSnapshot:
        """The state of a thread, as LangGraph gives it."""
        return self.graph.get_state(_config(thread))

    def tasks(self, thread: str = "main") -> TaskGraph:
        """The tasks of a thread; empty for one that does not exist."""
        return TaskGraph(tasks_in(self.state(thread).values.get("tasks", {})))

    def export(self, thread: str = "main") -> str:
        """A thread as JSON: its tasks with their history, and what was said."""
        values = self.state(thread).values
        graph = TaskGraph(tasks_in(values.get("tasks", {})))
        return ThreadExport.of(graph, values.get("messages", ()), values.get("focus", ())).to_json()

    def threads(self) -> list[ThreadInfo]:
        """All threads, the last used first."""
        return self._threads.list()

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread."""
        self._threads.delete(thread)
        if self.tools is not None:  # a thread of the same name is to find no calls of this one
            journal = self.tools.journal
            journal.close([entry.key for entry in journal.open(thread)])

    def compact(self) -> None:
        """Take what was deleted off the disk."""
        self._threads.compact()

    def _turn(
        self, given: Any, thread: str, context: Context | None, ask: Ask | None, show: Show | None
    ) -> Turn:
        context = context or Context()
        # Who talks on this machine without a name is its owner.
        context = context.model_copy(
            update={"user_id": context.user_id, "approve": context.approve or bool(ask)}
        )
        with self._threads.lock(thread):
            turn, approval = self._run(given, thread, context, show)
            while approval and ask:
                given = _resume(ask(approval))
                turn, approval = self._run(given, thread, context, show)
            if self.tools is not None and (keys := told_calls(turn)):
                self.tools.journal.close(keys)  # the turn that tells of them is on disk
        return turn.model_copy(update={"reply": approval.question}) if approval else turn

    def _run(
        self, given: Any, thread: str, context: Context, show: Show | None
    ) -> tuple[Turn, Approval | None]:
        """Run the graph until it ends or asks for an approval."""
        turn = Turn()
        interrupts: tuple[Interrupt, ...] = ()
        for part in self.graph.stream(
            given, _config(thread), context=context, durability="exit",
            stream_mode=["messages", "values"] if show else ["values"], version="v2",
        ):  # fmt: skip
            if part["type"] == "values":
                turn, interrupts = part["data"].get("turn", turn), part["interrupts"]
            elif part["type"] == "messages" and show:
                show(str(part["data"][0].text), part["data"][0].id or "")
        approval = Approval.model_validate(interrupts[0].value) if interrupts else None
        return turn, approval


def _resume(decision: bool | Decision) -> Command[Any]:
    given = decision if isinstance(decision, Decision) else Decision(approve=decision)
    return Command(resume=given.model_dump(mode="json"))
