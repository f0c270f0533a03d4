"""The operations on a task graph, and `apply`, which carries one out.

Pure: a graph and an operation give an outcome; a refused operation gives the same graph and a reason.
The operations are those of TME (Ye 2025, section 4.2 and table of operations) with its future work
(roll back, inactivate) made real; split, merge and undo are ours. What each of them does to a graph is in the
file that `_HANDLERS` names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from . import leaving, replacing, splitting, ties, undoing, values
from .change import Change, Refusal
from .leaving import free_slot
from .splitting import is_part
from .tasks import Status, TaskGraph, plain
from .undoing import redoable, undoable
from .words import names

__all__ = [
    "Add", "Check", "Clarify", "Complete", "Confirm", "Inactivate", "Intent", "Link", "Merge", "Operation",
    "Outcome", "Part", "Question", "QuestionKind", "Reject", "Remove", "Replace", "Restore", "Rollback",
    "Split", "Undo", "Unlink", "Update", "apply", "free_slot", "is_part", "names", "redoable", "undoable",
]  # fmt: skip

Intent = Literal["new", "update", "check"]


class _Operation(BaseModel):
    model_config = ConfigDict(frozen=True)
    intent: Intent
    said: str = Field(default="", description="The words that asked for it.")


class Add(_Operation):
    """A new task; an active task of the same parent and slot is updated instead."""

    kind: Literal["add"] = "add"
    intent: Intent = "new"
    slot: str
    title: str
    value: str | None = None
    parent: str | None = None
    depends_on: tuple[str, ...] = ()
    status: Status | None = Field(default=None, description="Default: filled with a value, else open.")
    source: str = "user"


class Update(_Operation):
    """A new value and/or title of one task; a value or status makes sure of a stale one."""

    kind: Literal["update"] = "update"
    intent: Intent = "update"
    task: str
    value: str | None = None
    title: str | None = None
    status: Status | None = Field(default=None, description="Default: filled with a value, else as it is.")
    source: str = "user"
    depends_on: tuple[str, ...] = Field(default=(), description="Prerequisites beside those it has.")


class Replace(_Operation):
    """One entity for another in the value and title of every active task (or of those named) that names it.

    A part that thereby comes to say the same as another part of the same task goes out of the plan, and what
    rested on it rests on the other.
    """

    kind: Literal["replace"] = "replace"
    intent: Intent = "update"
    old: str
    new: str
    tasks: tuple[str, ...] | None = Field(default=None, description="Only these; default every active task.")


class Remove(_Operation):
    """Remove from the plan permanently; parts follow unless another task shares them."""

    kind: Literal["remove"] = "remove"
    intent: Intent = "update"
    task: str


class Inactivate(_Operation):
    """Take out of the plan for the time being; parts follow unless another task shares them."""

    kind: Literal["inactivate"] = "inactivate"
    intent: Intent = "update"
    task: str


class Restore(_Operation):
    """Back into the plan, with the parts that went with it and the tasks it is part of."""

    kind: Literal["restore"] = "restore"
    intent: Intent = "update"
    task: str


class Rollback(_Operation):
    """Back to the value, title and status of a former state; the states since stay in the history."""

    kind: Literal["rollback"] = "rollback"
    intent: Intent = "update"
    task: str
    to: int | None = Field(default=None, description="Index into the history; default the last other state.")


class Undo(_Operation):
    """Every task as it was before a turn; tasks made in that turn are removed.

    The undo of a turn that undid something does it again.
    """

    kind: Literal["undo"] = "undo"
    intent: Intent = "update"
    turn: int | None = Field(default=None, description="Default: the last turn that is not undone yet.")


class Link(_Operation):
    """A task rests on another: a prerequisite, or something shared."""

    kind: Literal["link"] = "link"
    intent: Intent = "update"
    task: str
    on: str


class Unlink(_Operation):
    """A task no longer rests on another."""

    kind: Literal["unlink"] = "unlink"
    intent: Intent = "update"
    task: str
    on: str


class Complete(_Operation):
    """Done; open parts are done with it, and what waited only for it can go on."""

    kind: Literal["complete"] = "complete"
    intent: Intent = "update"
    task: str


class Confirm(_Operation):
    """A proposed value is right."""

    kind: Literal["confirm"] = "confirm"
    intent: Intent = "update"
    task: str


class Reject(_Operation):
    """A proposed value is wrong: the task goes back to what it was before, or out of the plan."""

    kind: Literal["reject"] = "reject"
    intent: Intent = "update"
    task: str


class Part(BaseModel):
    """One part of a split: its title, its own values by slot name, and the members that go to it."""

    model_config = ConfigDict(frozen=True)
    title: str
    values: tuple[tuple[str, str], ...] = ()
    members: tuple[str, ...] = ()


class Split(_Operation):
    """A task in parts with their own values; what the parts say for themselves leaves the whole."""

    kind: Literal["split"] = "split"
    intent: Intent = "update"
    task: str
    parts: tuple[Part, ...]


class Merge(_Operation):
    """Parts back into the one task they came from, with every member they have.

    The values that the parts said for themselves go; those that the split took from the whole come back.
    """

    kind: Literal["merge"] = "merge"
    intent: Intent = "update"
    task: str


QuestionKind = Literal[
    "value", "list", "summary", "left", "next", "needs", "dependents", "claim", "ever", "before", "why",
    "history", "count", "status",
]  # fmt: skip


class Question(BaseModel):
    """A question as data. What it supposes is in `value`, `container`, `act` and `denied`."""

    model_config = ConfigDict(frozen=True)
    kind: QuestionKind
    tasks: tuple[str, ...] = Field(default=(), description="Ids of the tasks it is about; () for all.")
    about: str = Field(default="", description="The words for what it is about.")
    value: str | None = Field(default=None, description="The value or entity it supposes.")
    slot: str | None = Field(
        default=None, description="Name of a slot that is asked for and that the tasks lack."
    )
    container: str | None = Field(default=None, description="Id of the task the entity is supposed to be in.")
    act: Literal["add", "remove", "update", "replace", "complete"] | None = Field(
        default=None, description="The act that it supposes was asked for."
    )
    denied: bool = Field(default=False, description="'celery was never part of it' supposes the opposite.")
    free: bool = Field(default=False, description="No kind fits: what is not in the tasks may be asked.")


class Check(_Operation):
    """A question; changes nothing."""

    kind: Literal["check"] = "check"
    intent: Intent = "check"
    question: Question


class Clarify(_Operation):
    """A question back to the user; changes nothing."""

    kind: Literal["clarify"] = "clarify"
    intent: Intent = "check"
    question: str
    options: tuple[str, ...] = Field(default=(), description="What the user can choose between, in words.")
    choices: tuple[Operation, ...] = Field(default=(), description="What each option would do, in order.")
    presumed: tuple[int, ...] = Field(
        default=(), description="Turns of the messages that all choices together are presumed to mean, "
        "so that to go on is as good as a yes; none: it takes a yes.",
    )  # fmt: skip


Operation: TypeAlias = Annotated[
    Add | Update | Replace | Remove | Inactivate | Restore | Rollback | Undo | Link | Unlink | Complete
    | Confirm | Reject | Split | Merge | Check | Clarify,
    Field(discriminator="kind"),
]  # fmt: skip
Clarify.model_rebuild()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an operation.

    graph: the graph after it (the same object when nothing changed). operation: what was done, an update for
    an add of a slot that is there. changed: ids, the task that was meant first (where it changed itself), the
    others in the order of change, those it made stale last. stale: the latter alone. opened: ids of the open
    tasks that waited for nothing else. refused: why not, in words, or None.
    """

    graph: TaskGraph
    operation: Operation
    changed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    refused: str | None = None


def apply(graph: TaskGraph, operation: Operation, *, turn: int, said: str = "") -> Outcome:
    """Carry out one operation.

    Args:
        graph: the graph as it is; never changed.
        operation: what to do.
        turn: number of the user's turn (from 1).
        said: the words that asked for it; those of the operation go first.

    Returns:
        The outcome; `refused` says why when nothing was done.
    """
    if isinstance(operation, Check | Clarify):
        return Outcome(graph, operation)
    if isinstance(operation, Add) and (held := graph.part(operation.parent, operation.slot)):
        operation = Update(
            task=held.id,
            value=operation.value,
            title=operation.title if operation.value is None else None,
            status=operation.status,
            source=operation.source,
            depends_on=operation.depends_on,
            said=operation.said,
        )
    change = Change(graph, turn, operation.kind, plain(operation.said or said))
    try:
        _HANDLERS[operation.kind](change, operation)
        if not change.changed:
            raise Refusal("that is how it is already")
    except Refusal as refusal:
        return Outcome(graph, operation, refused=str(refusal))
    task = getattr(operation, "task", None)
    touched = sorted(change.changed, key=lambda key: key != task)
    stale = () if operation.kind == "undo" else ties.make_stale(change, graph, touched)
    changed = tuple(dict.fromkeys((*touched, *stale)))
    return Outcome(change.graph, operation, changed, stale, change.opened)


_HANDLERS: dict[str, Callable[[Change, Any], None]] = {
    "add": values.add,
    "update": values.update,
    "replace": replacing.replace,
    "remove": leaving.leave_as("removed"),
    "inactivate": leaving.leave_as("inactive"),
    "restore": leaving.restore,
    "rollback": undoing.rollback,
    "undo": undoing.undo,
    "link": ties.link,
    "unlink": ties.unlink,
    "complete": values.complete,
    "confirm": values.confirm,
    "reject": values.reject,
    "split": splitting.split,
    "merge": splitting.merge,
}
