"""The operations on a task graph, and `apply`, which carries one out.

Pure: a graph and an operation give an outcome; a refused operation gives the same graph and a reason.
The operations are those of TME (Ye 2025, section 4.2 and table of operations) with its future work
(roll back, inactivate) made real; split, merge and undo are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from . import dag
from .tasks import CONTENT, GONE, LIMITS, Revision, Status, TaskGraph, TaskNode, plain, text_fault

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
    """Out of the plan for good; parts follow unless another task shares them."""

    kind: Literal["remove"] = "remove"
    intent: Intent = "update"
    task: str


class Inactivate(_Operation):
    """Out of the plan for now; parts follow unless another task shares them."""

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


Operation: TypeAlias = Annotated[
    Add | Update | Replace | Remove | Inactivate | Restore | Rollback | Undo | Link | Unlink | Complete
    | Confirm | Reject | Split | Merge | Check | Clarify,
    Field(discriminator="kind"),
]  # fmt: skip
Clarify.model_rebuild()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an operation.

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


class Refusal(Exception):
    """Raised inside an operation that cannot be carried out; `apply` turns it into an outcome."""


def names(entity: str, text: str | None) -> bool:
    """Whether a text names an entity as whole words, in any case ('case' is not in 'bookcase')."""
    return bool(text) and bool(_entity_pattern(entity).search(text or ""))


def _entity_pattern(entity: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in entity.split())
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


class _Change:
    """A graph in the course of one operation: collects changed nodes, reads through them."""

    def __init__(self, graph: TaskGraph, turn: int, op: str, said: str) -> None:
        self.turn, self.op, self.said = turn, op, said
        self.changed: dict[str, TaskNode] = {}
        self.opened: tuple[str, ...] = ()
        self._next = graph.next_number
        self._graph = graph
        self._pending: list[TaskNode] = []

    @property
    def graph(self) -> TaskGraph:
        """The graph with all changes so far: one copy of it for any number of them."""
        if self._pending:
            self._graph = self._graph.with_nodes(self._pending)
            self._pending = []
        return self._graph

    def get(self, key: str) -> TaskNode:
        """A task as it is now."""
        if key in self.changed:
            return self.changed[key]
        if key not in self._graph:
            raise Refusal(f"there is no task {key[:40]}")
        return self._graph[key]

    def active(self, key: str) -> TaskNode:
        """A task that has to be in the plan."""
        node = self.get(key)
        if not node.active:
            raise Refusal(f"{node.title} is not part of the plan any more")
        return node

    def set(self, key: str, *, op: str | None = None, **fields: Any) -> None:
        """Change fields of a task; no revision is made where nothing would differ."""
        node = self.get(key)
        if any(getattr(node, name) != value for name, value in fields.items()):
            _refuse_text(fields)
            self.put(node.changed(turn=self.turn, op=op or self.op, said=self.said, **fields))

    def new(self, **fields: Any) -> TaskNode:
        """Make a task."""
        _refuse_text(fields)
        node = TaskNode(id=f"t{self._next}", turn=self.turn, op=self.op, said=self.said, **fields)
        self._next += 1
        self.put(node)
        return node

    def put(self, node: TaskNode) -> None:
        """Take a changed or new node in."""
        self.changed[node.id] = node
        self._pending.append(node)


def _refuse_text(fields: dict[str, Any]) -> None:
    for name in LIMITS.keys() & fields.keys():
        if fault := text_fault(name, fields[name]):
            raise Refusal(fault)


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
    change = _Change(graph, turn, operation.kind, plain(operation.said or said))
    try:
        _HANDLERS[operation.kind](change, operation)
        if not change.changed:
            raise Refusal("that is how it is already")
    except Refusal as refusal:
        return Outcome(graph, operation, refused=str(refusal))
    meant = getattr(operation, "task", None)
    touched = sorted(change.changed, key=lambda key: key != meant)
    stale = () if operation.kind == "undo" else _make_stale(change, graph, touched)
    changed = tuple(dict.fromkeys((*touched, *stale)))
    return Outcome(change.graph, operation, changed, stale, change.opened)


def _make_stale(change: _Change, before: TaskGraph, touched: Iterable[str]) -> tuple[str, ...]:
    """Mark the active transitive dependents of every task whose value or presence changed."""
    pairs = [(before[key], change.get(key)) for key in touched if key in before]
    sources = [new.id for old, new in pairs if (old.value, old.active) != (new.value, new.active)]
    if not sources:
        return ()
    graph = change.graph

    def dependents(key: str) -> list[str]:
        return [other for other in graph.dependents.get(key, ()) if graph[other].active]

    affected = dag.reach(sources, dependents)[len(sources) :]
    marked = tuple(key for key in affected if graph[key].stale_since is None)
    for key in marked:
        node = graph[key].changed(turn=change.turn, op="stale", said=change.said, stale_since=change.turn)
        change.put(node)
    return marked


# ---- the operations, one function each ------------------------------------------------------------


def _add(change: _Change, op: Add) -> None:
    _refuse_gone(op.status)
    if op.parent is not None:
        change.active(op.parent)
    for needed in op.depends_on:
        change.active(needed)
    status = op.status or ("filled" if op.value is not None else "open")
    node = change.new(
        slot=op.slot, title=op.title, value=op.value, parent=op.parent, status=status, source=op.source,
        depends_on=tuple(dict.fromkeys(op.depends_on)),
    )  # fmt: skip
    for needed in op.depends_on:
        _refuse_cycle(change.graph, node.id, needed)


def _update(change: _Change, op: Update) -> None:
    _refuse_gone(op.status)
    node = change.active(op.task)
    fields: dict[str, Any] = {}
    if op.title is not None:
        fields["title"] = op.title
    if op.status is not None:
        fields |= {"status": op.status, "stale_since": None}
    if op.value is not None:
        stays_done = op.value == node.value and node.status == "done"
        status = op.status or ("done" if stays_done else "filled")
        fields |= {"value": op.value, "status": status, "stale_since": None}
    told = op.value not in (None, node.value)
    if told or (op.status is not None and (op.value is None or op.status != node.status)):
        fields["source"] = op.source
    fresh = tuple(key for key in dict.fromkeys(op.depends_on) if key not in node.depends_on)
    for needed in fresh:
        change.active(needed)
        _refuse_cycle(change.graph, node.id, needed)
    before = change.graph
    change.set(node.id, **fields, depends_on=(*node.depends_on, *fresh))
    if not change.changed and op.value is not None:
        raise Refusal(f"{node.title} is already {node.value}")
    if change.get(node.id).status == "done":
        change.opened = _opened(before, change.graph, (node.id,))


def _refuse_gone(status: Status | None) -> None:
    if status in GONE:
        raise Refusal(f"a task becomes {status} by an operation of its own")


def _replace(change: _Change, op: Replace) -> None:
    for name in (op.old, op.new):
        if fault := text_fault("title", name):
            raise Refusal(f"a replacement needs an old and a new name: {fault}")
    pattern = _entity_pattern(op.old)
    # What a tool found stays as it was found; where it rests on the entity it becomes stale.
    candidates = tuple(node for node in change.graph.active if not node.source.startswith("tool:"))
    if op.tasks is not None:
        candidates = tuple(change.active(key) for key in op.tasks)

    def exchange(text: str) -> str:
        return pattern.sub(lambda found: _capital_as(found.group(), op.new), text)

    begin = op.old.split()[0].casefold()
    for node in candidates:
        if begin not in f"{node.title} {node.value}".casefold():
            continue  # ten times as fast as the pattern
        if pattern.search(node.title) or pattern.search(node.value or ""):
            change.set(node.id, value=node.value and exchange(node.value), title=exchange(node.title))
    if not change.changed:
        raise Refusal(f"no task names {op.old}")
    _fold_twins(change)


def _capital_as(model: str, text: str) -> str:
    """The text with a capital where the model has one: mushrooms for Celery are Mushrooms."""
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def _fold_twins(change: _Change) -> None:
    """Take replaced parts out where another part of the same task said the same before."""
    graph, replaced = change.graph, dict.fromkeys(change.changed)
    for parent in dict.fromkeys(graph[key].parent for key in replaced):
        parts = graph.parts(parent)
        held = {_texts(node): node.id for node in parts if node.id not in replaced}
        for node in parts:
            twin = held.get(_texts(node)) if node.id in replaced else None
            if twin is None or graph.parts(node.id) or graph.parts(twin):
                continue
            change.set(node.id, status="removed")
            for user in graph.dependents.get(node.id, ()):
                if graph[user].active and user not in dag.reach([twin], graph.rests_on):
                    moved = (twin if key == node.id else key for key in change.get(user).depends_on)
                    change.set(user, depends_on=tuple(dict.fromkeys(moved)))


def _texts(node: TaskNode) -> tuple[str, str]:
    return node.title.casefold(), (node.value or "").casefold()


def _leave(status: Status) -> Callable[[_Change, Any], None]:
    def leave(change: _Change, op: Remove | Inactivate | Reject) -> None:
        node = change.get(op.task)
        if node.status == status or (not node.active and status == "inactive"):
            raise Refusal(f"{node.title} is already out of the plan")
        if node.active:
            _take_out(change, node.id, status)
        else:  # on hold, and now gone for good
            for task in _went_with(change.graph, node):
                change.set(task.id, status=status)

    return leave


def _take_out(change: _Change, key: str, status: Status) -> None:
    """A task and its parts out of the plan, but for the parts that a task which stays rests on.

    Such a part becomes a part of that task, and what it was a part of rests on it instead.
    """
    graph = change.graph
    tree = {task.id: task for task in graph.subtree(key)}

    def users(task: str, leaving: Collection[str]) -> list[str]:
        found = (graph[user] for user in graph.dependents.get(task, ()))
        return [user.id for user in found if user.active and user.id not in leaving]

    def needs(task: str) -> list[str]:
        return [other for other in graph.rests_on(task) if other in tree]

    staying = set(dag.reach([task for task in tree if task != key and users(task, tree)], needs))
    leaving = tree.keys() - staying
    for task in tree.values():
        if task.id not in leaving:
            continue
        shared = [part for part in graph.parts(task.id) if part.id in staying]
        rests_on = dict.fromkeys((*task.depends_on, *(part.id for part in shared)))
        change.set(task.id, status=status, depends_on=tuple(rests_on))
        for part in shared:
            heir = change.get(users(part.id, leaving)[0])
            slot = free_slot(change.graph, heir.id, part.slot)
            change.set(part.id, op="link", parent=heir.id, slot=slot)
            kept = tuple(other for other in heir.depends_on if other != part.id)
            change.set(heir.id, op="link", depends_on=kept)


def free_slot(graph: TaskGraph, parent: str | None, slot: str) -> str:
    """The slot, or the slot with a number, such that no active part of the parent holds it."""
    return _free_slot({node.slot for node in graph.parts(parent)}, slot)


def _free_slot(taken: Collection[str], slot: str) -> str:
    base, number, free = re.sub(r"\d+$", "", slot) or slot, 2, slot
    while free in taken:
        free, number = f"{base}{number}", number + 1
    return free


def _went_with(graph: TaskGraph, node: TaskNode) -> list[TaskNode]:
    """A task that is out of the plan, and its parts that went with it, wholes first."""
    tree = graph.subtree(node.id, gone=True)
    return [task for task in tree if not task.active and (task.turn, task.op) == (node.turn, node.op)]


def _bring_back(change: _Change, tasks: Iterable[TaskNode]) -> None:
    """Tasks into the plan as they last were in it, wholes first; a part whose whole stays out does too."""
    back = []
    for task in tasks:
        if task.parent is None or change.get(task.parent).active:
            last = next((state for state in reversed(task.history) if state.active), None)
            change.set(task.id, status=last.status if last else "open")
            back.append(task)
    _refuse_taken(change.graph, [task.id for task in back])


def _refuse_taken(graph: TaskGraph, back: Collection[str]) -> None:
    """Refuse tasks that came back where another holds their slot by now."""
    came = set(back)
    for parent in dict.fromkeys(graph[key].parent for key in back):
        held: dict[str, TaskNode] = {}
        for part in sorted(graph.parts(parent), key=lambda node: node.id in came):
            other = held.setdefault(part.slot, part)
            if other is not part:
                raise Refusal(f"{other.title} has taken the place of {part.title}")


def _restore(change: _Change, op: Restore) -> None:
    node = change.get(op.task)
    if node.active:
        raise Refusal(f"{node.title} is part of the plan already")
    wholes = [task for task in reversed(change.graph.ancestors(node.id)) if not task.active]
    _bring_back(change, [*wholes, *_went_with(change.graph, node)])


def _rollback(change: _Change, op: Rollback) -> None:
    node = change.get(op.task)
    if op.to is not None and not 0 <= op.to < len(node.history):
        raise Refusal(f"{node.title} has no former state number {op.to}")
    now = (node.value, node.title, node.status)
    former = (
        node.history[op.to]
        if op.to is not None
        else next((s for s in reversed(node.history) if (s.value, s.title, s.status) != now), None)
    )
    if former is None:
        raise Refusal(f"{node.title} has not been changed yet, so there is nothing to go back to")
    if (former.value, former.title, former.status) == now:
        raise Refusal(f"{node.title} is already {node.value}" if node.value else "that is how it is already")
    if former.active:
        held = change.graph.part(node.parent, node.slot)
        if held and held.id != node.id:
            raise Refusal(f"{held.title} has taken the place of {node.title}")
        if node.parent is not None:
            change.active(node.parent)
    elif change.graph.parts(node.id):
        raise Refusal(f"{node.title} has parts in the plan")
    fields = {name: getattr(former, name) for name in ("value", "title", "status", "source")}
    change.set(node.id, **fields, stale_since=None)


def undoable(graph: TaskGraph) -> tuple[int, ...]:
    """The turns that changed something and are not undone, oldest first."""
    return tuple(sorted(_turns_left(graph)))


def redoable(graph: TaskGraph) -> tuple[int, ...]:
    """The turns that undid something and are not undone themselves, oldest first: undo one to do it again."""
    return tuple(sorted(set[int]().union(*(_standing(node)[1] for node in graph.values()))))


def _turns_left(graph: TaskGraph) -> Iterator[int]:
    """The turns that changed something and are not undone, the last one first."""
    touched = graph.index(_turns)
    for turn in sorted(map(int, touched), reverse=True):
        if any(turn in _standing(graph[key])[0] for key in touched[str(turn)]):
            yield turn


def _turns(node: TaskNode) -> list[str]:
    return [str(state.turn) for state in node.states()]


def _standing(node: TaskNode) -> tuple[set[int], set[int]]:
    """The turns whose changes to a task are not undone, and those whose undoing is not."""
    if not node.history:
        return {node.turn}, set()
    states = node.states()
    turns = {state.turn for state in states}
    undoing = {state.turn for state in states if state.op == "undo"}
    if len(turns) == len(states) and not undoing:  # most tasks
        return turns, undoing
    changes, undos, undone = set[int](), set[int](), set[int | None]()
    for state in reversed(states):
        if state.turn in undone:
            continue
        if state.op != "undo":
            changes.add(state.turn)
        else:
            undone.add(state.undoes)
            if state.undoes not in undoing:
                undos.add(state.turn)
    around = {turn: _around(states, turn) for turn in changes}
    return {turn for turn, (before, after) in around.items() if before != after}, undos


Content: TypeAlias = tuple[Any, ...]


def _around(states: tuple[Revision, ...], turn: int) -> tuple[Content | None, Content | None]:
    """The content of a task before a turn that changed it, and after; None: not there (any more)."""
    within = [number for number, state in enumerate(states) if state.turn == turn]
    first, last = within[0], states[within[-1]]
    if first:
        return states[first - 1].content(), last.content()
    return None, None if last.status == "removed" else last.content()


def _undo(change: _Change, op: Undo) -> None:
    before = change.graph
    turns = _turns_left(before) if op.turn is None else iter((op.turn,))
    turn = next((turn for turn in turns if _take_back(change, turn)), None)
    if turn is None:
        raise Refusal("there is nothing to undo" if op.turn is None else f"turn {op.turn} changed nothing")
    graph, why = change.graph, f"undoing turn {turn} would break the plan"
    pairs = [(before[key], node) for key, node in change.changed.items()]
    for old, new in pairs:
        if old.active and not new.active and (parts := graph.parts(new.id)):
            raise Refusal(f"{why}: {parts[0].title} is part of {new.title}")
    came = [new for old, new in pairs if new.active and (not old.active or old.parent != new.parent)]
    for new in came:
        if new.parent is not None and not graph[new.parent].active:
            raise Refusal(f"{why}: {graph[new.parent].title}, which {new.title} is part of, is out of it")
    _refuse_taken(graph, [new.id for new in came])
    rewired = any(old.parent != new.parent or old.depends_on != new.depends_on for old, new in pairs)
    if rewired and _has_circle(change.graph):
        for node in graph.values():  # what was made since and is gone must not stand in the way
            if node.status == "removed" and node.depends_on and node.states()[0].turn >= turn:
                change.put(
                    node.changed(turn=change.turn, op="undo", said=change.said, depends_on=(), undoes=turn)
                )
        if _has_circle(change.graph):
            raise Refusal(f"{why}: tasks would rest on each other in a circle")


def _has_circle(graph: TaskGraph) -> bool:
    return bool(dag.cycle({key: graph.rests_on(key) for key in graph}))


def _take_back(change: _Change, turn: int) -> bool:
    """Every task as it was before a turn; whether that is a difference."""
    graph = change.graph
    for key in graph.index(_turns).get(str(turn), ()):
        node = graph[key]
        now = node.content()
        before, after = _around(node.states(), turn)
        if before == now or (before is None and node.status == "removed"):
            continue
        if after != now:
            raise Refusal(f"{node.title} was changed again after turn {turn}; undo that first")
        fields = dict(zip(CONTENT, before, strict=True)) if before else {"status": "removed"}
        change.put(node.changed(turn=change.turn, op="undo", said=change.said, **fields, undoes=turn))
    return bool(change.changed)


def _refuse_cycle(graph: TaskGraph, task: str, on: str) -> None:
    """Refuse an edge from a task to one that rests on it already (parts and prerequisites together)."""
    if task == on:
        raise Refusal(f"{graph[task].title} cannot rest on itself")
    if task in dag.reach([on], graph.rests_on):
        raise Refusal(f"{graph[on].title} already rests on {graph[task].title}; that would be a circle")


def _link(change: _Change, op: Link) -> None:
    node, needed = change.active(op.task), change.active(op.on)
    if needed.id in node.depends_on or needed.parent == node.id:
        raise Refusal(f"{node.title} rests on {needed.title} already")
    _refuse_cycle(change.graph, node.id, needed.id)
    change.set(node.id, depends_on=(*node.depends_on, needed.id))


def _unlink(change: _Change, op: Unlink) -> None:
    node = change.active(op.task)
    if op.on not in node.depends_on:
        raise Refusal(f"{node.title} does not depend on {change.get(op.on).title}")
    change.set(node.id, depends_on=tuple(key for key in node.depends_on if key != op.on))


def _complete(change: _Change, op: Complete) -> None:
    node = change.active(op.task)
    if node.status == "done":
        raise Refusal(f"{node.title} is done already")
    before = change.graph
    done = [node, *(task for task in before.subtree(node.id)[1:] if task.status == "open")]
    for task in done:
        change.set(task.id, status="done", stale_since=None)
    change.opened = _opened(before, change.graph, [task.id for task in done])


def _opened(before: TaskGraph, after: TaskGraph, done: Iterable[str]) -> tuple[str, ...]:
    """Ids of the open tasks that waited for tasks which are done now, and for nothing else any more."""
    waited = dict.fromkeys(key for task in done for key in before.dependents.get(task, ()))
    return tuple(
        key for key in waited
        if before[key].status == "open" and before.waits_for(key)
        and after[key].status == "open" and not after.waits_for(key)
    )  # fmt: skip


def _confirm(change: _Change, op: Confirm) -> None:
    node = _proposal(change, op.task)
    change.set(node.id, status="filled" if node.value is not None else "open", stale_since=None)


def _reject(change: _Change, op: Reject) -> None:
    node = _proposal(change, op.task)
    former = next((state for state in reversed(node.history) if state.status != "proposed"), None)
    if former is not None and former.active:
        fields = {name: getattr(former, name) for name in ("value", "title", "status", "source")}
        change.set(node.id, **fields)
    else:
        _take_out(change, node.id, "removed")


def _proposal(change: _Change, key: str) -> TaskNode:
    node = change.active(key)
    if node.status != "proposed":
        raise Refusal(f"{node.title} is not a proposal")
    return node


def _split(change: _Change, op: Split) -> None:
    node = change.active(op.task)
    if len(op.parts) < 2:
        raise Refusal("a split needs at least two parts")
    moved = [key for part in op.parts for key in part.members]
    if len(set(moved)) < len(moved):
        raise Refusal("a member can go to one part only")
    for key in moved:
        if change.active(key).parent != node.id:
            raise Refusal(f"{change.get(key).title} is not part of {node.title}")
    for part in op.parts:
        if len({name for name, _ in part.values}) < len(part.values):
            raise Refusal(f"{part.title} has two values of one name")
    own = {name for part in op.parts for name, _ in part.values}
    taken = {child.slot for child in change.graph.parts(node.id)}
    for child in change.graph.parts(node.id):
        if child.name in own and child.id not in moved:
            _take_out(change, child.id, "inactive")
    for part in op.parts:
        slot = _free_slot(taken, f"{node.slot}.part1")
        taken.add(slot)
        made = change.new(slot=slot, title=part.title, parent=node.id)
        for name, value in part.values:
            change.new(slot=f"{slot}.{name}", title=name, value=value, parent=made.id, status="filled")
        for key in part.members:
            change.set(key, parent=made.id)


def is_part(node: TaskNode) -> bool:
    """Whether a task came out of a split."""
    return _born_in_split(node) and re.fullmatch(r"part\d+", node.name) is not None


def _born_in_split(node: TaskNode) -> bool:
    return node.states()[0].op == "split"


def _merge(change: _Change, op: Merge) -> None:
    node, graph = change.active(op.task), change.graph

    def split_parts(key: str) -> list[TaskNode]:
        direct = [child for child in graph.parts(key) if is_part(child)]
        return [part for child in direct for part in (child, *split_parts(child.id))]

    parts = split_parts(node.id)
    if not parts:
        raise Refusal(f"{node.title} is not split")
    inside = {task.id for task in graph.subtree(node.id)}
    children = [(part, child) for part in parts for child in graph.parts(part.id) if not is_part(child)]
    own = {child.name for _, child in children if _born_in_split(child)}
    taken = {child.slot for child in graph.parts(node.id)}
    for part, child in children:
        if child.name in own:
            _take_out(change, child.id, "removed")
            continue
        slot = child.slot
        if slot.startswith(f"{part.slot}."):
            slot = node.slot + slot.removeprefix(part.slot)
        slot = _free_slot(taken, slot)
        taken.add(slot)
        change.set(child.id, parent=node.id, slot=slot)
    for part in parts:
        change.set(part.id, status="removed")
    needs = [key for part in parts for key in part.depends_on if key not in inside]
    change.set(node.id, depends_on=tuple(dict.fromkeys((*node.depends_on, *needs))))
    for child in graph.parts(node.id, gone=True):
        if not child.active and child.op == "split" and child.name in own and child.slot not in taken:
            taken.add(child.slot)
            _bring_back(change, _went_with(graph, child))


_HANDLERS: dict[str, Callable[[_Change, Any], None]] = {
    "add": _add,
    "update": _update,
    "replace": _replace,
    "remove": _leave("removed"),
    "inactivate": _leave("inactive"),
    "restore": _restore,
    "rollback": _rollback,
    "undo": _undo,
    "link": _link,
    "unlink": _unlink,
    "complete": _complete,
    "confirm": _confirm,
    "reject": _reject,
    "split": _split,
    "merge": _merge,
}
