"""What an interpreter is: it reads an utterance into steps. Both interpreters give the same steps.

A step is one thing the user said, as data: what kind of act it is, what it is about in the user's words (or
by task id where that is known), and with which values. Steps know nothing of operations; `grounding.ground`
turns them into operations on task ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from taskloom.memory.operations import Clarify, Intent, QuestionKind
from taskloom.memory.records import Experience
from taskloom.memory.tasks import TaskGraph

from .slots import TaskSchema

Act = Literal[
    "task",     # something new to do, with its details and items: "book a table for four on Friday"
    "set",      # a slot gets a value, new or changed: "the date is June 10th", "make it Boston"
    "add",      # items join something there is: "add milk to the cart", "invite Dave too"
    "replace",  # one entity for another: "use mushrooms instead of celery"
    "remove",   # out of the plan
    "hold",     # out of the plan for now
    "resume",   # back into the plan: "keep the charger after all"
    "done",     # finished
    "reopen",   # not finished after all
    "again",    # a tool's result is to be had once more: "look the flights up again"
    "back",     # one slot or task back to what it was
    "undo",     # the last change of all
    "redo",     # the last undo undone
    "need",     # target rests on the items: "painting needs the walls dry first"
    "unneed",   # it does not after all
    "share",    # the items are used in target too: "also use celery in the dumplings"
    "assign",   # a person (value) takes over target
    "split",    # target in parts (details of each part)
    "merge",    # parts back into one
    "only",     # target (a container) holds just the items: "reset it to A and B"
    "shift",    # relative change: "a day later", "one more"
    "yes", "no",  # an answer to a proposal or an open question
    "ask",      # a question
    "chat",     # nothing to do with the tasks
    "unsure",   # cannot be read with certainty; `value` says what to ask
]  # fmt: skip


class Detail(BaseModel):
    """One value that comes along with an act: slot is a short, value-free name ('date', 'participant')."""

    model_config = ConfigDict(frozen=True)
    slot: str
    value: str
    task: str | None = Field(default=None, description="Id of the task it is about, where known.")


class StepPart(BaseModel):
    """One part of a split: who or what goes to it, and its own values. rest: all that no other part names."""

    model_config = ConfigDict(frozen=True)
    title: str = ""
    members: tuple[str, ...] = ()
    rest: bool = False
    details: tuple[Detail, ...] = ()


class Asked(BaseModel):
    """A question in the user's words, before it is grounded; see `memory.operations.Question`."""

    model_config = ConfigDict(frozen=True)
    kind: QuestionKind
    value: str | None = Field(default=None, description="The value or entity it supposes.")
    act: Literal["add", "remove", "update", "replace", "complete"] | None = None
    denied: bool = False
    free: bool = Field(default=False, description="No kind fits: to be answered freely from the tasks.")


class Step(BaseModel):
    """One thing the user said."""

    model_config = ConfigDict(frozen=True)
    text: str = Field(description="The words it was read from.")
    act: Act
    intent: Intent | None = Field(default=None, description="As read; grounding decides where it is None.")
    target: str = Field(default="", description="Words for the task, slot or entity it is about; '' is 'it'.")
    task: str | None = Field(default=None, description="Id of that task, where known.")
    within: str = Field(default="", description="Words for what the target or the items are part of.")
    within_task: str | None = None
    slot: str | None = Field(default=None, description="Short, value-free slot name for a set or a new task.")
    title: str | None = None
    value: str | None = None
    old: str | None = Field(default=None, description="What the value takes the place of.")
    items: tuple[Detail, ...] = Field(default=(), description="Members of a list, named or added.")
    details: tuple[Detail, ...] = Field(default=(), description="Values that come along.")
    kind: str = Field(
        default="", description="Task schema whose slots, by their exact names, the details are."
    )
    parts: tuple[StepPart, ...] = ()
    everywhere: bool = False
    everyone: bool = Field(default=False, description="All participants or members are meant.")
    asked: Asked | None = None
    proposed: tuple[Step, ...] = Field(default=(), description="For unsure: what a yes would do.")


Step.model_rebuild()


@dataclass(frozen=True, slots=True)
class View:
    """What an interpreter sees beside the utterance.

    focus: ids of the tasks last touched or asked about, the latest first. question: the question that the
    assistant left open. exchanges: the last two (user, assistant) pairs. examples: gives confirmed
    experiences, best first; asked for only where they are used. earlier: the task of an earlier session that
    the words point back to, or ''. budget: tokens that the outline may take.
    """

    graph: TaskGraph
    turn: int = 1
    focus: tuple[str, ...] = ()
    question: Clarify | None = None
    exchanges: tuple[tuple[str, str], ...] = ()
    schemas: tuple[TaskSchema, ...] = ()
    examples: Callable[[], Sequence[Experience]] = tuple
    earlier: str = ""
    now: datetime = field(default_factory=datetime.now)
    budget: int = 300


@dataclass(frozen=True, slots=True)
class Usage:
    """What reading or answering cost. Tokens are as reported by the endpoint (0 without a model)."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """Steps with how they came about.

    sure: no step is a guess. by: 'rules' or 'model'. note: what the user should be told about the reading
    (for example that the model could not be reached), or ''.
    """

    steps: tuple[Step, ...]
    sure: bool = True
    by: Literal["rules", "network", "model"] = "rules"
    note: str = ""
    usage: Usage = Usage()


class Interpreter(Protocol):
    """Reads an utterance into steps; never changes anything."""

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance (never empty) in the light of what there is."""
        ...


def outline_order(view: View, similar: Sequence[str] = ()) -> tuple[str, ...]:
    """Ids of active tasks, most useful first: in focus, similar to the words, then the newest changed."""
    active = {node.id: node for node in view.graph.active}
    recent = sorted(active, key=lambda key: (-active[key].turn, key))
    return tuple(key for key in dict.fromkeys([*view.focus, *similar, *recent]) if key in active)
