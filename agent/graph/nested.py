"""Calls of the graph in a host's run, where it keeps one thread for each of the host's (`checkpointer=True`).

LangGraph keeps one for each place that calls, and one for each further call there. And when a host's node is
run again after an interrupt, LangGraph takes every call in it for one to be gone on with. So a call is known
by the host's task and its number there, which stands with the checkpoints that it made; one that made none
yet is new, and what it is given counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from langchain_core.runnables import RunnableConfig

TASK = "__pregel_task_id"  # LangGraph's names, in `configurable`
_PAD = "__pregel_scratchpad"
_RESUMING = "__pregel_resuming"
_NOTED = "taskloom_call"  # in the metadata of a checkpoint


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call in a host's run. key: names it, even when the node runs again. resuming: whether it does."""

    key: str
    resuming: bool
    pad: Any

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self | None:
        """The call under way; None outside of a host's run.

        given: what the run is configured with. It counts the calls, and so is to be asked once for each.
        """
        pad = given.get(_PAD)
        if TASK not in given or pad is None:
            return None
        return cls(f"{given[TASK]}/{pad.subgraph_counter()}", bool(given.get(_RESUMING)), pad)

    @property
    def filter(self) -> dict[str, Any]:
        """The metadata by which a saver finds the checkpoints of the call."""
        return {_NOTED: self.key}

    def config(self, config: RunnableConfig | None, *, new: bool) -> RunnableConfig:
        """The configuration of the call. new: whether it has made no checkpoint yet."""
        config = config or {}
        lent = {**(config.get("configurable") or {}), _PAD: replace(self.pad, subgraph_counter=lambda: 0)}
        if new:
            lent[_RESUMING] = False
        return {**config, "configurable": lent, "metadata": {**(config.get("metadata") or {}), **self.filter}}
