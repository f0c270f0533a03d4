"""What the tools of a graph are, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from taskloom.agent.turn.choice import Chooser
from taskloom.agent.turn.reading import View
from taskloom.tools.bank import MemoryBank
from taskloom.tools.journal import Journal, MemoryJournal
from taskloom.tools.registry import Registry
from taskloom.tools.shared import Shared

DECLARED = 100  # calls from slots in one turn

LINES = 5  # completed subtasks told whole; older ones are told in a line


@dataclass(frozen=True, slots=True)
class Equipment:
    """What the act node works with.

    registry: the tools. journal: where calls with side effects are written down before they are made.
    rerun: whether results that have become stale are made again, or that is offered. max_subtasks: calls that
    a model may choose in a turn. seconds: for all calls of a turn, and tokens: for all choices. summarise:
    completed subtasks that a model is told whole, older ones are cut to a line. context: the global context,
    a template that shared variables fill. shared: shared variables of every thread to begin with. bank: what
    it has on a request joins the prompt. schemas: kinds of tasks, for runs that bring none. close: ends
    what the tools keep open.
    """

    registry: Registry = field(default_factory=Registry)
    journal: Journal = field(default_factory=MemoryJournal)
    rerun: Literal["offer", "do"] = "offer"
    max_subtasks: int = 5
    seconds: float = 300.0
    tokens: int = 50_000
    summarise: int = LINES
    context: str = ""
    shared: Mapping[str, Any] = field(default_factory=dict)
    bank: MemoryBank | None = None
    schemas: tuple[dict[str, Any], ...] = ()
    close: Callable[[], None] = lambda: None

    @property
    def rounds(self) -> int:
        """Rounds of a turn at most: each makes a call, or asks the model for one, and one more ends it."""
        return DECLARED + self.max_subtasks + 2


@dataclass(frozen=True, slots=True)
class Acting:
    """What the nodes of one run see and do not keep: it is built again when a run is resumed.

    view: the tasks before, with all that an interpreter sees. roots: ids of the roots of the tasks that the
    turn touched. above: names of the agents that this one was called by. approved: whether all calls are.
    before: what these have done before, as they told it. tell: is told what is being done.
    """

    equipment: Equipment
    chooser: Chooser | None
    view: View
    utterance: str
    roots: tuple[str, ...]
    user: str
    thread: str
    shared: Shared
    above: tuple[str, ...] = ()
    approved: bool = False
    before: str = ""
    tell: Callable[[dict[str, Any]], None] = lambda event: None  # noqa: ARG005
