"""Steps: what the user said, as data, before it is grounded."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from taskloom.memory.operations import Clarify, Intent, QuestionKind

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
    "again",    # a tool's result is wanted again: "look the flights up again"
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
    asks: Clarify | None = Field(default=None, description="For unsure: a question with its answers.")
    presumed: bool = Field(
        default=False, description="For unsure: to go on is as good as a yes to what is proposed."
    )


Step.model_rebuild()


REFERRING: frozenset[Act] = frozenset(
    ("need", "unneed", "share", "only")
)  # their items are tasks that there are
