"""Runs of the graph: a thread belongs to the user of its first turn, and one run at a time is on it.

Whoever is refused leaves nothing: it is found out before LangGraph writes the input down.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from dataclasses import dataclass
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.graph import Graph
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot, StateUpdate

from taskloom.agent.telemetry.spans import span
from taskloom.agent.turn.state import Context, Input, Output, State

from .access import context_from, turn_of
from .approvals import answered
from .edits import date_edits
from .locks import check_thread, exclusive, exclusive_async
from .nested import TASK, HostCall
from .plain import plain_saver

_RUNTIME = "__pregel_runtime"  # what a run lends to graphs that are called in it; LangGraph's name
_HANDLER = "__error_handler__"  # how it names nodes that answer for one that failed
_OWN = (
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "checkpoint_map",
)  # one of them: not the caller's thread


class ForeignThreadError(RuntimeError):  # of the kinds whose words a server passes on
    """The thread belongs to another user."""

    def __init__(self, thread: str) -> None:
        super().__init__(f"thread {thread!r} belongs to another user")


class RunCutError(RuntimeError):
    """A run was interrupted, and others came after it: it can neither continue nor start again."""

    def __init__(self, thread: str) -> None:
        super().__init__(
            f"a run on thread {thread!r} was cut off, and another has come since: see what of it is in the"
            " plan, and say the rest again"
        )


class InputError(ValueError):
    """The input has a field that no turn reads."""

    def __init__(self, name: str) -> None:
        known = ", ".join(Input.__annotations__)
        super().__init__(
            f"the input has no field {name!r}; its fields are {known}. A thread goes on from what its saver"
            " keeps (`checkpointer=` or a server's); `update_state` edits that, and `load` replaces the tasks"
        )


class MissingCheckpointError(RuntimeError):
    """A run, or a read of the state, names a checkpoint that the thread does not have (any more)."""

    def __init__(self, thread: str, checkpoint: str, kept: Sequence[CheckpointTuple]) -> None:
        """kept: the existing checkpoints, the latest first."""
        begins = "none is kept"
        if kept:
            first = kept[-1].checkpoint
            turn = turn_of(first["channel_values"]).number
            begins = f"what is kept begins with {first['id']}, of turn {turn}"
        super().__init__(
            f"thread {thread!r} has no checkpoint {checkpoint!r}: it was pruned, or was never there; {begins}"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run keeps its state: a saver, and the configuration that finds the thread's latest state."""

    saver: BaseCheckpointSaver[Any]
    thread: str
    space: str = ""

    @property
    def config(self) -> RunnableConfig:
        """The configuration to ask a saver with."""
        return {"configurable": {"thread_id": self.thread, "checkpoint_ns": self.space}}

    def at(self, checkpoint: str) -> RunnableConfig:
        """The configuration to ask a saver for one checkpoint."""
        return {"configurable": {**self.config["configurable"], "checkpoint_id": checkpoint}}

    def owner(self) -> str:
        """The owner of the thread: the user of its first turn; '' where there is none."""
        latest = self.saver.get_tuple(self.config)
        return _owner_in(latest) or (next(iter(self.speakers()), "") if latest else "")

    async def owner_async(self) -> str:
        """See `owner`."""
        latest = await self.saver.aget_tuple(self.config)
        if latest is None or _owner_in(latest):
            return _owner_in(latest)
        return next(iter(_speakers([one async for one in self.saver.alist(self.config)])), "")

    def check(self, checkpoint: str | None) -> None:
        """Check that the named checkpoint exists; LangGraph would start from an empty state without it.

        Raises:
            MissingCheckpointError: it is not.
        """
        if checkpoint and self.saver.get_tuple(self.at(checkpoint)) is None:
            raise MissingCheckpointError(self.thread, checkpoint, [*self.saver.list(self.config)])

    async def check_async(self, checkpoint: str | None) -> None:
        """See `check`."""
        if checkpoint and await self.saver.aget_tuple(self.at(checkpoint)) is None:
            kept = [one async for one in self.saver.alist(self.config)]
            raise MissingCheckpointError(self.thread, checkpoint, kept)

    def of(self, noted: dict[str, Any]) -> CheckpointTuple | None:
        """The latest checkpoint with this metadata; None where there is none, or no metadata is given."""
        return next(iter(self.saver.list(self.config, filter=noted, limit=1)), None) if noted else None

    async def of_async(self, noted: dict[str, Any]) -> CheckpointTuple | None:
        """See `of`."""
        found = self.saver.alist(self.config, filter=noted, limit=1)
        return next(iter([one async for one in found]), None) if noted else None

    def speakers(self) -> tuple[str, ...]:
        """The users who spoke in the thread, in order; older threads, without an owner, may have several."""
        return _speakers(self.saver.list(self.config))


def _owner_in(latest: CheckpointTuple | None) -> str:
    return str(latest.checkpoint["channel_values"].get("owner") or "") if latest else ""


def _speakers(history: Iterable[CheckpointTuple]) -> tuple[str, ...]:
    """history: checkpoints, the latest first."""
    turns = [turn_of(one.checkpoint["channel_values"]) for one in history]
    return tuple(dict.fromkeys(turn.user for turn in reversed(turns) if turn.user))


def check_owner(user: str, thread: str, owner: str) -> None:
    """Let a user speak in a thread.

    Raises:
        ForeignThreadError: it is another's.
    """
    if owner not in ("", user):
        raise ForeignThreadError(thread)


class Taskgraph(CompiledStateGraph[State, Context, Input, Output]):
    """The compiled graph; every run, on a server too, goes through `stream` or `astream`."""

    patience: float

    @classmethod
    def of(cls, compiled: CompiledStateGraph[State, Context, Input, Output], patience: float) -> Self:
        """The same graph, of this class.

        patience: seconds that a run waits for one ahead of it on its thread; 0 refuses at once.
        """
        graph = cls.__new__(cls)
        vars(graph).update(vars(compiled), patience=patience)
        return graph

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """See `Pregel.copy`."""
        graph = super().copy(update)
        graph.patience = self.patience
        return graph

    def stream(
        self,
        input: Any,  # noqa: A002  # LangGraph's name for it
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        **more: Any,
    ) -> Iterator[Any]:
        """Run, see `Pregel.stream`; when there is another run on the thread, after it.

        Raises:
            InputError: there is something in the input that no turn takes; nothing was written.
            ThreadNameError: no database takes such a name of a thread.
            ForeignThreadError: the thread is another user's; nothing was written.
            ThreadBusyError: the other run took too long; nothing was written, and one can try again.
            MissingCheckpointError: it is to begin at a checkpoint that is not there; nothing was written.
            RunCutError: a server starts an interrupted run again, and another run has come since.
        """
        parts = self._run(input, config, context=context, **more)
        seen = span("turn", self.name, thread=str(self._given(config).get("thread_id") or ""))
        yield from seen.through(parts) if seen else parts

    async def astream(
        self,
        input: Any,  # noqa: A002  # LangGraph's name for it
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        """See `stream`."""
        parts = self._arun(input, config, context=context, **more)
        seen = span("turn", self.name, thread=str(self._given(config).get("thread_id") or ""))
        async with aclosing(seen.through_async(parts) if seen else parts) as passed:
            async for part in passed:
                yield part

    def _run(
        self,
        value: Any,
        config: RunnableConfig | None,
        *,
        context: Any,
        **more: Any,
    ) -> Generator[Any, None, None]:
        """See `stream`."""
        given = self._given(config)
        _check_input(value, given)
        place = self._place(given)
        if place is None:
            yield from super().stream(value, config, context=context, **more)
            return
        with ExitStack() as stack:
            with span("lock", "thread"):
                stack.enter_context(exclusive(place.saver, place.thread, place.space, self.patience))
            check_owner(_speaker(context, given), place.thread, place.owner())
            place.check(_named(given))
            if call := self._call(given):
                config = call.config(config, new=call.resuming and not place.of(call.filter))
            if TASK not in given:  # else what is resumed is the caller's
                latest, mine = place.saver.get_tuple(place.config), place.of(_noted(config, given))
                if mine and _superseded(mine, latest) and self.get_state(mine.config).next:
                    raise RunCutError(place.thread)
                value = None if mine else answered(value, latest)
            yield from super().stream(value, config, context=context, **more)

    async def _arun(
        self,
        value: Any,
        config: RunnableConfig | None,
        *,
        context: Any,
        **more: Any,
    ) -> AsyncGenerator[Any, None]:
        """See `stream`."""
        given, run = self._given(config), super().astream
        _check_input(value, given)
        async with AsyncExitStack() as stack:
            if place := self._place(given):
                held = exclusive_async(place.saver, place.thread, place.space, self.patience)
                with span("lock", "thread"):
                    await stack.enter_async_context(held)
                check_owner(_speaker(context, given), place.thread, await place.owner_async())
                await place.check_async(_named(given))
                if call := self._call(given):
                    new = call.resuming and not await place.of_async(call.filter)
                    config = call.config(config, new=new)
                if TASK not in given:
                    latest = await place.saver.aget_tuple(place.config)
                    mine = await place.of_async(_noted(config, given))
                    if mine and _superseded(mine, latest) and (await self.aget_state(mine.config)).next:
                        raise RunCutError(place.thread)
                    value = None if mine else answered(value, latest)
            parts = cast(AsyncGenerator[Any], run(value, config, context=context, **more))
            await stack.enter_async_context(aclosing(parts))
            async for part in parts:
                yield part

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See `Pregel.get_state`.

        Raises:
            MissingCheckpointError: it is to be that of a checkpoint that is not there.
        """
        given = self._given(config)
        if (named := _named(given)) and (place := self._place(given)):
            place.check(named)
        return super().get_state(config, subgraphs=subgraphs)

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """See `get_state`."""
        given = self._given(config)
        if (named := _named(given)) and (place := self._place(given)):
            await place.check_async(named)
        return await super().aget_state(config, subgraphs=subgraphs)

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See `Pregel.bulk_update_state`; edits of tasks belong to the latest turn.

        Raises:
            ThreadBusyError: a run on the thread took too long; nothing was written.
        """
        with ExitStack() as stack:
            if place := self._place(self._given(config)):  # else a run would write over the edit
                stack.enter_context(exclusive(place.saver, place.thread, place.space, self.patience))
            return self.update_held(config, supersteps)

    def update_held(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See `bulk_update_state`; for a caller that already holds the thread."""
        return super().bulk_update_state(config, date_edits(supersteps, self.get_state(config).values))

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """See `bulk_update_state`."""
        update = super().abulk_update_state
        async with AsyncExitStack() as stack:
            if place := self._place(self._given(config)):
                held = exclusive_async(place.saver, place.thread, place.space, self.patience)
                await stack.enter_async_context(held)
            state = await self.aget_state(config)
            return await update(config, date_edits(supersteps, state.values))

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """See `Pregel.get_graph`; error handlers of nodes are not drawn."""
        return _without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """See `get_graph`."""
        return _without_handlers(await super().aget_graph(config, xray=xray))

    def _resolve_checkpointer(self, config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
        """The saver for runs and for reads and edits of their state; it gets plain data."""
        saver = super()._resolve_checkpointer(config)
        return plain_saver(saver) if isinstance(saver, BaseCheckpointSaver) else saver

    def _own_checkpoint_config(self, config: RunnableConfig) -> RunnableConfig:
        """The place in a host's thread: under the graph's name, whichever of the host's nodes calls it."""
        if self.checkpointer is not True:
            return config
        place = {**config["configurable"], "checkpoint_ns": self.name}
        return cast(RunnableConfig, {**config, "configurable": place})

    def _call(self, given: Mapping[str, Any]) -> HostCall | None:
        """This call in a host's run, where all calls share one thread."""
        return HostCall.of(given) if self.checkpointer is True else None

    def _given(self, config: RunnableConfig | None) -> dict[str, Any]:
        """The configuration of a run, with what it inherits from the run that calls it.

        A call that names a thread, or a place in one, inherits nothing.
        """
        bound = (self.config or {}).get("configurable", {})
        given = {**bound, **((config or {}).get("configurable") or {})}
        return given if any(given.get(key) for key in _OWN) else {**ensure_config()["configurable"], **given}

    def _place(self, given: Mapping[str, Any]) -> Place | None:
        """Where a run keeps its state; None where it keeps none, or shares its caller's."""
        config: RunnableConfig = {"configurable": dict(given)}
        saver, thread = super()._resolve_checkpointer(config) if given else None, given.get("thread_id")
        if not isinstance(saver, BaseCheckpointSaver) or thread is None:
            return None
        check_thread(str(thread))
        if self.checkpointer is True:
            space = self._own_checkpoint_config(config)["configurable"].get("checkpoint_ns", "")
            return Place(saver, str(thread), str(space))
        return None if TASK in given else Place(saver, str(thread))


def _noted(config: RunnableConfig | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata by which a run is recognised when a server starts it again after its worker died.

    Its input is in the thread already then, and is not to be read twice. {} where it has no id by which that
    could be seen: servers give it in both places.
    """
    run = given.get("run_id")
    return {"run_id": str(run)} if run and str((config or {}).get("run_id")) == str(run) else {}


def _superseded(one: CheckpointTuple, latest: CheckpointTuple | None) -> bool:
    return latest is not None and latest.checkpoint["id"] != one.checkpoint["id"]


def _check_input(given: Any, configurable: Mapping[str, Any]) -> None:
    """Refuse unknown input fields; the fields of a host's state, which its nodes pass whole, are ignored."""
    if isinstance(given, Mapping) and TASK not in configurable:
        for name in given.keys() - Input.__annotations__.keys():
            raise InputError(str(name))


def _named(given: Mapping[str, Any]) -> str | None:
    """The checkpoint of the graph's own thread to continue from, if one is named."""
    inside = TASK in given or given.get("checkpoint_ns")
    return None if inside else given.get("checkpoint_id")


def _without_handlers(drawn: Graph) -> Graph:
    for name in [name for name in drawn.nodes if name.startswith(_HANDLER)]:
        drawn.remove_node(drawn.nodes[name])
    return drawn


def _speaker(context: Any, given: Mapping[str, Any]) -> str:
    """The user of a run: from its context, or that of the calling run."""
    return context_from(context or getattr(given.get(_RUNTIME), "context", None), given).speaker
