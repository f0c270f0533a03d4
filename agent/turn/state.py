"""The graph's state, input, output and context schemas.

Everything in the state is a frozen pydantic model or plain data, so that it survives
LANGGRAPH_STRICT_MSGPACK=true. typing_extensions.TypedDict is needed: with typing.TypedDict below 3.12 the
server shows no schemas.

The two reducers give the same state however the writes are batched, as `DeltaChannel` replays them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages
from langgraph.channels import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from typing_extensions import TypedDict

from taskloom.agent.settings import Style
from taskloom.memory.claims import Answer
from taskloom.memory.operations import Clarify, Operation
from taskloom.memory.records import Experience, IntentUnit
from taskloom.memory.shown import safe
from taskloom.memory.tasks import BY_HAND, CONTENT, TaskGraph, TaskNode

from .calls import ToolRun
from .reading import COSTS, UNKNOWN, Spent, Usage, added
from .steps import Step

# A snapshot holds the whole channel: rare enough to be cheap on disk, and between two of them every read of
# a thread replays the turns since. Measured over 1,000 turns, see tests/test_threads.py.
SNAPSHOT_EVERY = 500
LOCAL = "local"  # the user of a run that names none
_LONGEST_USER = 500  # characters


class Change(BaseModel):
    """What became of one operation of the turn."""

    model_config = ConfigDict(frozen=True)
    operation: Operation = Field(description="What was to be done, or was asked.")
    changed: tuple[str, ...] = Field(default=(), description="Ids of the tasks that it changed.")
    stale: tuple[str, ...] = Field(default=(), description="Of these, what is out of date by it.")
    opened: tuple[str, ...] = Field(default=(), description="Of these, what can be done now.")
    refused: str | None = Field(default=None, description="Why it was not carried out; null if it was.")


class Known(BaseModel):
    """What facts of long-term memory tell on a question that the tasks do not answer."""

    model_config = ConfigDict(frozen=True)
    answer: int = Field(description="Index of the answer that it belongs to.")
    instead: bool = Field(default=True, description="Whether it is told in that answer's place, or after it.")
    facts: tuple[str, ...] = Field(description="Ids of the facts, in order of time.")
    lines: tuple[str, ...] = Field(description="The same in words, for the reply.")


class Turn(BaseModel):
    """What the nodes of one turn hand on to each other; kept until the next turn for inspection.

    A turn that has its reply already (the input could not be read) passes the nodes up to respond unchanged.
    """

    model_config = ConfigDict(frozen=True)
    number: int = Field(default=0, description="Of the thread's turns, the first one 1.")
    user: str = Field(default="", description="Whose turn it was: the owner of the long-term memory.")
    utterance: str = Field(default="", description="What the user said.")
    read: tuple[str, ...] = Field(default=(), description="Ids of the messages that this stood in.")
    steps: tuple[Step, ...] = Field(default=(), description="What was said, step by step, as it was read.")
    operations: tuple[Operation, ...] = Field(
        default=(), description="The same as operations on tasks, by their ids."
    )
    changes: tuple[Change, ...] = Field(default=(), description="What became of each operation.")
    answers: tuple[Answer, ...] = Field(
        default=(), description="What the tasks and their history tell on each question."
    )
    facts: tuple[str, ...] = Field(default=(), description="Ids of the closure, in the order of the prompt.")
    former: tuple[tuple[str, int], ...] = Field(
        default=(), description="Former states that belong to the facts: task id and index into its history."
    )
    proposals: tuple[str, ...] = Field(default=(), description="Ids of tasks with a proposed value.")
    question: Clarify | None = Field(default=None, description="The one thing to ask the user, if any.")
    presumed: Clarify | None = Field(
        default=None, description="The open proposal that this turn's answers take as meant; nothing is done."
    )
    recalled: IntentUnit | None = Field(
        default=None, description="The task of an earlier session that the user points back to."
    )
    earlier: tuple[str, ...] = Field(
        default=(), description="What earlier sessions tell on a question, a line each."
    )
    known: tuple[Known, ...] = Field(default=(), description="What facts tell where the tasks do not.")
    examples: tuple[str, ...] = Field(default=(), description="Ids of the experiences that were retrieved.")
    noted: tuple[str, ...] = Field(
        default=(), description="What the user said of people or themselves, and long-term memory keeps."
    )
    tool_runs: tuple[ToolRun, ...] = Field(default=(), description="What tools did in this turn.")
    missed: tuple[tuple[int, str], ...] = Field(
        default=(),
        description="Recent messages, not understood, that no answer has told of, with their turn.",
    )
    by: Literal["rules", "network", "model"] = Field(
        default="network",
        description="Who read the words: the network, or the chat model; rules in threads of before 0.2.",
    )
    note: str = Field(
        default="", description="What the reply tells beside the rest, e.g. that the model did not answer."
    )
    reply: str = Field(default="", description="What the assistant said.")
    model_calls: int = Field(default=0, description="Calls of chat models in the turn.")
    prompt_tokens: int = Field(default=0, description="Tokens that they were sent.")
    completion_tokens: int = Field(default=0, description="Tokens that they wrote.")
    models: Spent = Field(default={}, description="The same by model.")

    @model_validator(mode="before")
    @classmethod
    def _former_names(cls, given: Any) -> Any:
        """Threads of an older version say `acts` for `tool_runs`."""
        if isinstance(given, dict) and "acts" in given:
            return {"tool_runs": given["acts"], **{key: given[key] for key in given if key != "acts"}}
        return given

    @property
    def asks_freely(self) -> bool:
        """Whether something is asked that no kind of question fits."""
        return any(step.asked is not None and step.asked.free for step in self.steps)

    @property
    def spent(self) -> Spent:
        """What models cost in it, by model; what is not known to be of one is of "unknown"."""
        known = {name: sum(costs[name] for costs in self.models.values()) for name in COSTS}
        rest = {name: getattr(self, name) - known[name] for name in COSTS}
        return added(self.models, {UNKNOWN: rest}) if any(rest.values()) else self.models

    def with_usage(self, usage: Usage) -> Turn:
        """The turn with what something cost added."""
        costs = {
            "model_calls": self.model_calls + usage.model_calls,
            "prompt_tokens": self.prompt_tokens + usage.prompt_tokens,
            "completion_tokens": self.completion_tokens + usage.completion_tokens,
            "models": added(self.models, usage.models),
        }
        return self.model_copy(update=costs)


class Pending(BaseModel):
    """An experience whose outcome is not known yet.

    touched: ids of the tasks that it changed; () for words that could not be read. asked: nothing was
    done yet, it is a guess that the user was asked about.
    """

    model_config = ConfigDict(frozen=True)
    experience: Experience
    touched: tuple[str, ...] = ()
    asked: bool = False

    @property
    def unread(self) -> bool:
        """Whether its words could not be read."""
        return not self.experience.execution


# ---- reducers -------------------------------------------------------------------------------------


def merge_tasks(tasks: Mapping[str, Any], writes: Sequence[Mapping[str, Any]]) -> dict[str, TaskNode]:
    """The tasks with the changed ones in place; a new dict, what comes in is not touched.

    A write maps ids to nodes. Edits from outside (Studio, `update_state`) come as plain dicts: the fields
    they name are laid over those of the task, and its former state joins its history.

    Raises:
        ValueError: a write that is not of this form, or that would leave an unsound graph.
    """
    merged, edited = tasks_in(tasks), False
    for write in writes:
        if not isinstance(write, Mapping):
            raise ValueError(f"tasks: expected a mapping from id to task, got {type(write).__name__}")
        for key, node in write.items():
            if isinstance(node, TaskNode) and node.id == key:
                merged[key] = node
            else:
                merged[key] = _edited(key, node, merged.get(key))
                edited = True
    if edited and (faults := TaskGraph(merged).faults()):
        raise ValueError(f"tasks: {faults[0]}")
    return merged


def tasks_in(tasks: Mapping[str, Any]) -> dict[str, TaskNode]:
    """The tasks of a state as nodes; an `Overwrite` from outside puts plain dicts there.

    Raises:
        ValueError: one of them is not a task.
    """
    return {key: node if type(node) is TaskNode else _edited(key, node, None) for key, node in tasks.items()}


def _edited(key: str, value: Any, before: TaskNode | None) -> TaskNode:
    """A task from plain data, laid over the one there is."""
    if not isinstance(value, TaskNode | Mapping):
        raise ValueError(f"tasks: {key}: expected a task, got {type(value).__name__}")
    fields = dict(value) if isinstance(value, Mapping) else value.model_dump()
    if unknown := fields.keys() - TaskNode.model_fields.keys():
        known = ", ".join(TaskNode.model_fields)
        raise ValueError(f"tasks: {key}: there is no field {min(map(str, unknown))!r}: a task has {known}")
    if fields.setdefault("id", key) != key:
        raise ValueError(f"tasks: {key}: the task calls itself {fields['id']!r}")
    try:
        node = TaskNode.model_validate({**(before.model_dump() if before else {}), **fields})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"tasks: {key}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    if before is None or node.history != before.history:
        return node
    if node.content() == before.content():
        return node.model_copy(update={"turn": before.turn})
    new = {name: getattr(node, name) for name in CONTENT}
    return before.changed(turn=node.turn, op="edit", said=BY_HAND, **new)


def merge_messages(messages: Sequence[Any], writes: Sequence[Any]) -> list[AnyMessage]:
    """The messages with the new ones appended, or in place of those with the same id.

    What `add_messages` does, but ids are made from content and position, not at random: a replay gives the
    same ones. `RemoveMessage` takes one out, with `REMOVE_ALL_MESSAGES` all of them.

    Raises:
        ValueError: something that is not a message.
    """
    typed = all(isinstance(message, BaseMessage) and message.id for message in messages)
    merged: dict[str, Any] = {message.id: message for message in messages} if typed else {}
    for write in writes if typed else [list(messages), *writes]:
        for message in convert_to_messages(write if isinstance(write, list) else [write]):
            if not isinstance(message, RemoveMessage):
                key = message.id or _message_id(message, merged)
                merged[key] = message if message.id else message.model_copy(update={"id": key})
            elif message.id == REMOVE_ALL_MESSAGES:
                merged.clear()
            else:
                merged.pop(message.id or "", None)
    return list(merged.values())


def _message_id(message: BaseMessage, taken: Mapping[str, Any]) -> str:
    position = len(taken)
    while (key := str(uuid5(NAMESPACE_OID, f"{position} {message.type} {message.content}"))) in taken:
        position += 1
    return key


def merge_shared(values: Mapping[str, Any], writes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shared variables with the written ones in place; None takes one out."""
    merged = dict(values)
    for write in writes:
        merged |= write
    return {name: value for name, value in merged.items() if value is not None}


# ---- schemas --------------------------------------------------------------------------------------

DELTA_CHANNELS: dict[str, DeltaChannel[Any]] = {
    "messages": DeltaChannel(merge_messages, list, snapshot_frequency=SNAPSHOT_EVERY),
    "tasks": DeltaChannel(merge_tasks, dict, snapshot_frequency=SNAPSHOT_EVERY),
    "shared": DeltaChannel(merge_shared, dict, snapshot_frequency=SNAPSHOT_EVERY),
}
Messages = Annotated[list[AnyMessage], DELTA_CHANNELS["messages"]]
Tasks = Annotated[dict[str, TaskNode], DELTA_CHANNELS["tasks"]]
Variables = Annotated[dict[str, Any], DELTA_CHANNELS["shared"]]


class Input(TypedDict):
    """What a turn takes: what the user says, or an export to load, or feedback on the turn before."""

    messages: NotRequired[
        Annotated[
            Messages,
            Field(
                description="What the user says: the messages at the end that are the user's are the turn's."
            ),
        ]
    ]
    shared: NotRequired[
        Annotated[Variables, Field(description="Variables for the tools, by name; null takes one out.")]
    ]
    load: NotRequired[
        Annotated[str | None, Field(description="An export, as JSON, that takes the place of the tasks.")]
    ]
    feedback: NotRequired[
        Annotated[
            Literal["good", "bad"] | None,
            Field(description="Whether the turn before was right; it counts more than words."),
        ]
    ]


class Output(TypedDict):
    """What a turn gives."""

    messages: Annotated[Messages, Field(description="All that was said in the thread.")]
    tasks: Annotated[Tasks, Field(description="All tasks of the thread by id, with their history.")]
    turn: Annotated[Turn, Field(description="The turn: what was read, done and answered.")]


class State(TypedDict):
    """All that is kept of a thread.

    question: the question left open. focus: ids of the tasks last touched or asked about, the latest first.
    asked: how often a slot was asked for, see `slots.fill`. load: an export (see `export.ThreadExport`)
    that takes the place of the tasks, only during its turn. shared: variables that tools read and write, by
    name, JSON values. owner: the user of the first turn; nobody else speaks here. pending: experiences whose
    outcome is not known yet. unwritten: turns that no facts were made of yet, with their time (ISO 8601).
    feedback: what was said of the last turn by other means than words; the next turn uses it. spent: what
    models have cost in all turns, by model.
    """

    messages: Messages
    tasks: Tasks
    shared: Variables
    turn: Turn
    owner: str
    question: Clarify | None
    focus: tuple[str, ...]
    asked: dict[str, int]
    load: str | None
    pending: tuple[Pending, ...]
    unwritten: tuple[tuple[int, str], ...]
    feedback: Literal["good", "bad"] | None
    spent: Spent


class Context(BaseModel):
    """What the caller of a run may set; every field has a default, and a run may go without."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user_id: str = Field(
        default="",
        description="Who talks: owner of the thread and of the long-term memory. '' names nobody, and then "
        "there is no such memory. On a server that knows who calls, it is that one.",
    )
    model: str = Field(
        default="",
        description="Chat model for this run; '' is the configured one, 'rules' goes without.",
        json_schema_extra={
            "__template_metadata__": {"kind": "llm"},  # Studio offers models to choose from
            "langgraph_nodes": ["decompose", "act", "respond"],
        },
    )
    schemas: list[dict[str, Any]] = Field(
        default=[], description="Task schemas: JSON Schema, or Schema-Guided-Dialogue services."
    )
    reply_style: Style | None = Field(
        default=None, description="Who writes the reply: template, model, or auto; null is as configured."
    )
    token_budget: int = Field(
        default=300, ge=50, le=100_000, description="Tokens that the outline and the facts may take each."
    )
    memory: bool = Field(default=True, description="Whether long-term memory is read and written.")
    approve: bool = Field(
        default=False,
        description="Ask (interrupt) before a whole task tree is removed or an import replaces it.",
    )

    @field_validator("user_id")
    @classmethod
    def _named(cls, user: str) -> str:
        if len(user) > _LONGEST_USER or safe(user) != user or not {"\n", "\t"}.isdisjoint(user):
            raise ValueError(
                f"a user's id has {_LONGEST_USER} characters at most, none of them a control character"
            )
        return user

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        if isinstance(given, dict) and (unknown := given.keys() - cls.model_fields.keys()):
            known = ", ".join(cls.model_fields)
            raise ValueError(f"there is no {min(map(str, unknown))!r} in the context: it has {known}")
        return given

    @property
    def speaker(self) -> str:
        """Who talks; without a name it is the owner of this machine."""
        return self.user_id or LOCAL
