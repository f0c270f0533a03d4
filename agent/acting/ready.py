"""Which tools can act on the tasks as they are, and what their results do to the tasks. Pure.

A tool with declared slots runs when a task has values for all of them; its result becomes a part of that
task, which rests on these values: when one of them changes, the result is stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from taskloom.agent.language.schema_values import typed
from taskloom.agent.language.values import number_of
from taskloom.agent.language.wording import be, join, spoken, the, title_of
from taskloom.agent.plan.kinds import kind_of
from taskloom.agent.turn.calls import SOURCE, Call, ToolRun, rerun_operation
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.memory.operations import Add, Clarify, Inactivate, Operation, Update, names
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode, plain
from taskloom.tools.registry import Equipped, Registry


class Place(BaseModel):
    """A task whose parts give a tool all that it needs."""

    model_config = ConfigDict(frozen=True)
    task: str
    inputs: tuple[tuple[str, str], ...] = Field(description="Parameters with the ids of their tasks.")
    result: str | None = Field(description="Id of the task that holds the result, if there is one.")


def places(graph: TaskGraph, root: str, equipped: Equipped) -> Iterator[Place]:
    """The tasks in a tree that a tool can act for: each has a value of its own for it, and all are there."""
    for node in graph.subtree(root):
        parts = graph.parts(node.id)
        if not parts or node.status == "done":
            continue
        inputs = {param: _input(graph, node, slot) for param, slot in equipped.needs.items()}
        held = {param: one for param, one in inputs.items() if one is not None}
        if len(held) == len(inputs) and any(one.parent == node.id for one in held.values()):
            result = next(
                (p for p in graph.parts(node.id, gone=True)[::-1] if _named(p, equipped.gives)), None
            )
            pairs = tuple((param, one.id) for param, one in held.items())
            yield Place(task=node.id, inputs=pairs, result=result.id if result else None)


def _input(graph: TaskGraph, place: TaskNode, slot: str) -> TaskNode | None:
    """The task nearest to a place that holds a slot: among its parts, what it rests on, then further up."""
    for whole in (place, *graph.ancestors(place.id)):
        near = (*graph.parts(whole.id), *(graph[key] for key in whole.depends_on if graph[key].active))
        for node in near:
            if _named(node, slot):
                is_known = node.value is not None and node.status in ("filled", "done")
                return node if is_known or (node.value is None and graph.parts(node.id)) else None
    return None


def _named(node: TaskNode, slot: str) -> bool:
    name = slot.rpartition(".")[2].lower()
    return node.name.lower() == name or node.title.lower() in (name, spoken(name).lower())


def ready(
    graph: TaskGraph,
    roots: Iterable[str],
    registry: Registry,
    *,
    user: str,
    schemas: Sequence[TaskSchema],
    above: Sequence[str] = (),
    again: bool = False,
) -> Iterator[tuple[Equipped, Place]]:
    """The tools that can run from slots now, with where, in the order of the tasks and the registry.

    again: whether stale results are made anew; else only those that the user opened again.
    """
    for root in roots:
        if root not in graph or not graph[root].active or graph[root].status == "done":
            continue
        kind = kind_of(graph, root, schemas) if schemas else None
        for name, equipped in registry.items():
            kinds = (kind.name,) if kind else ()
            if equipped.declared and registry.allowed(name, user=user, schemas=kinds, above=above):
                for place in places(graph, root, equipped):
                    if _should_run(graph, place, name, again=again):
                        yield equipped, place


def _should_run(graph: TaskGraph, place: Place, tool: str, *, again: bool) -> bool:
    """Whether a tool is to run: its inputs are sure, and the result is missing, or has to be made again."""
    if any(graph[key].stale_since is not None for _, key in place.inputs):
        return False  # an input is a result that is to be made again first
    if place.result is None:
        return True
    result = graph[place.result]
    if blocked_by(result, tool):
        return any(_changed_since(graph[key], result.turn) for _, key in place.inputs)
    if result.stale_since is not None:
        return result.active and (again or result.status == "open")
    return result.status == "open"


def blocked_by(result: Revision, tool: str) -> bool:
    """Whether a tool failed to give this result, or was not allowed to; its words say why."""
    return (
        result.source == SOURCE + tool
        and result.status in ("open", "inactive")
        and result.said.startswith(f"{tool}: ")
    )


def _changed_since(node: TaskNode, turn: int) -> bool:
    """Whether a task has another value than at the end of a turn."""
    before = next((state for state in reversed(node.states()) if state.turn <= turn), None)
    return before is None or (before.value, before.active) != (node.value, node.active)


def stale_results(graph: TaskGraph, roots: Iterable[str], registry: Registry) -> tuple[TaskNode, ...]:
    """Results of tools that rest on values which have changed since."""
    names = {SOURCE + name for name in registry}
    return tuple(
        node
        for root in roots
        if root in graph
        for node in graph.subtree(root)
        if node.stale_since is not None and node.status == "done" and node.source in names
    )


def side_effects_kept(graph: TaskGraph, changed: Iterable[str], registry: Registry) -> tuple[str, ...]:
    """Names of the tools with side effects whose results an undo took back: what they did stays done."""
    found = dict[str, None]()
    for key in changed:
        node = graph[key]
        before = node.history[-1] if node.history and node.op == "undo" else None
        tool = before.source.removeprefix(SOURCE) if before and before.source.startswith(SOURCE) else ""
        if before and before.status == "done" and tool in registry and registry[tool].side_effects:
            found[tool] = None
    return tuple(found)


def rerun_offer(stale: Sequence[TaskNode], failed: Sequence[TaskNode] = ()) -> Clarify | None:
    """The question whether to make results again, or to try again for them; a yes opens all of them."""
    if failed:
        named = f" for {join([the(title_of(node)) for node in failed])}" if len(failed) > 1 or stale else ""
        return Clarify(question=f"Shall I try again{named}?", choices=_rerun_operations(failed, "try again"))
    if not stale:
        return None
    named = join([the(title_of(node)) for node in stale])
    verb = "are" if len(stale) > 1 else be(named)
    pronoun = "it" if len(stale) == 1 and verb == "is" else "them"
    text = f"{named[:1].upper()}{named[1:]} {verb} out of date. Shall I look {pronoun} up again?"
    return Clarify(question=text, choices=_rerun_operations(stale, "make it again"))


def _rerun_operations(results: Sequence[TaskNode], said: str) -> tuple[Operation, ...]:
    return tuple(rerun_operation(node, said) for node in results)


def call_of(graph: TaskGraph, equipped: Equipped, place: Place, now: datetime) -> Call:
    """The call of a tool from the values at a place."""
    properties = equipped.parameters().get("properties", {})
    args, wrong = {}, []
    for param, source in place.inputs:
        value = graph[source].value or join(title_of(part) for part in graph.parts(source))
        try:
            args[param] = typed(value, properties.get(param, {}), now)
        except ValueError as error:
            wrong.append(f"{spoken(param)}: {error}")
    gives = equipped.gives.rpartition(".")[2]
    title = spoken(gives) if place.result is None else title_of(graph[place.result])
    return Call(
        tool=equipped.name, args=args, place=place.task, gives=gives, title=title, task=place.result,
        rests_on=tuple(source for _, source in place.inputs), fault="; ".join(wrong),
    )  # fmt: skip


def operations(graph: TaskGraph, run: ToolRun) -> tuple[Operation, ...]:
    """What a call's outcome does to the tasks.

    A result completes its task; a failure leaves it open, with the error as the words of its revision; after
    a rejection it is on hold. Empty where the place is no longer part of the plan.
    """
    call, source = run.call, SOURCE + run.call.tool
    operation: Operation
    if not call.place:  # there was no task yet
        operation = Add(
            slot=call.gives, title=call.title, value=plain(run.text), status="done", source=source
        )
        return (operation,) if run.status == "done" else ()
    if call.place not in graph or not graph[call.place].active:
        return ()
    needs = tuple(key for key in call.rests_on if key in graph and graph[key].active)
    held = graph.get(call.task or "") or graph.part(call.place, f"{graph[call.place].slot}.{call.gives}")
    value = plain(run.text) if run.status == "done" else None
    said = "" if run.status == "done" else f"{call.tool}: {run.text}"
    if held is not None and held.active:
        fresh = tuple(key for key in needs if key != held.id)
        operation = Update(
            task=held.id, value=value, status="done" if value else "open", source=source,
            depends_on=fresh, said=said, title=call.title if call.title != title_of(held) else None,
        )  # fmt: skip
    else:
        operation = Add(
            slot=f"{graph[call.place].slot}.{call.gives}", title=call.title, parent=call.place, value=value,
            status="done" if value else "open", source=source, depends_on=needs, said=said,
        )  # fmt: skip
    if run.status != "rejected":
        return (*_second_failure(held, source, run), operation)
    held_now = held.id if held is not None and held.active else f"t{graph.next_number}"
    return (operation, Inactivate(task=held_now, said=said))


def _second_failure(held: TaskNode | None, source: str, run: ToolRun) -> tuple[Operation, ...]:
    """What makes a second failure a state of its own: else nothing of the task would differ."""
    if run.status == "done" or held is None or (held.status, held.source) != ("open", source):
        return ()
    return (Update(task=held.id, status="open", source="user", said="the values changed"),)


def inputs_of_args(graph: TaskGraph, place: str, args: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the tasks around a place whose values a model used as parameters, or results that have them."""
    used = {str(value).casefold(): value for value in _scalars(args.values())}
    numbers = {Decimal(word): word for word, value in used.items() if isinstance(value, int | float)}
    nodes = [one for one in graph.subtree(graph.root(place).id) if one.value is not None and one.id != place]
    found, left = list[str](), dict.fromkeys(word for word in used if len(word) > 1)
    for node in (one for one in nodes if not one.source.startswith(SOURCE)):
        value = (node.value or "").casefold()
        number = numbers.get(number_of(value) or Decimal(-1)) if len(value.split()) <= 3 else None
        if value in used or number is not None:
            found.append(node.id)
            left.pop(value, None)  # what the user said is not from a result that repeats it
    for node in (one for one in nodes if one.source.startswith(SOURCE)):
        if any(names(word, node.value) for word in left):
            found.append(node.id)
    return tuple(found)


def _scalars(values: Iterable[Any]) -> Iterator[str | int | float]:
    """The single values in plain data."""
    for value in values:
        if isinstance(value, dict):
            yield from _scalars(value.values())
        elif isinstance(value, list | tuple):
            yield from _scalars(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield value
