"""A call that a chat model chooses, with the task that its result goes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from taskloom.agent.language.wording import clip, title_of
from taskloom.agent.plan.kinds import kind_of
from taskloom.agent.plan.outline import outline
from taskloom.agent.turn.calls import SOURCE, Call, ToolRun
from taskloom.agent.turn.choice import Choice, ChoiceError, Chooser, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.memory.operations import free_slot
from taskloom.memory.tasks import TaskGraph
from taskloom.tools.bank import as_prompt
from taskloom.tools.calls import validated
from taskloom.tools.errors import ToolError
from taskloom.tools.registry import Equipped
from taskloom.tools.shared import fill

from .call_text import completed_lines
from .equipment import Acting
from .ready import inputs_of_args

SELECTED = 8  # tools that a model chooses from, beside those that are always there


def chosen_call(
    acting: Acting, chooser: Chooser, graph: TaskGraph, runs: Sequence[ToolRun]
) -> tuple[Call | None, Usage, str]:
    """The call that the model chooses, what that cost, and what went wrong, in words for the user."""
    registry, utterance = acting.equipment.registry, acting.utterance
    titles = " ".join(title_of(graph[root]) for root in acting.roots if root in graph)
    found = (kind_of(graph, root, acting.view.schemas) for root in acting.roots if root in graph)
    kinds = [kind.name for kind in found if kind is not None]
    bank, usage = acting.equipment.bank, Usage()
    seen = outline(utterance, replace(acting.view, graph=graph))
    try:
        names = registry.select(
            f"{utterance} {titles}", SELECTED, user=acting.user, schemas=kinds, above=acting.above
        )
        if not names:
            return None, Usage(), ""
        situation = Situation(
            utterance=utterance, exchanges=acting.view.exchanges, tasks=seen.lines, ids=seen.ids,
            completed=completed_lines(runs, acting.equipment.summarise),
            tools=tuple(map(_tool_line, (registry[name] for name in names))),
            context=fill(acting.equipment.context, acting.shared),
            passages=as_prompt(bank.hits(utterance)) if bank else "", before=acting.before,
        )  # fmt: skip
        choice, usage = chooser.choose(situation)
        if choice is None:
            return None, usage, ""
        if choice.tool not in names or (seen.ids and not 1 <= choice.task <= len(seen.ids)):
            raise ToolError(f"there is no tool {choice.tool[:60]!r} for task {choice.task}")
        equipped = registry[choice.tool]
        args, cost = chooser.parameters(
            situation, choice, equipped.parameters(), lambda given: validated(equipped, given)
        )
    except ToolError as error:
        spent = error.usage if isinstance(error, ChoiceError) else Usage()
        return None, usage + spent, f"I could not go on by tools: {error}." if str(error) else ""
    if not seen.ids:
        return _call_without_plan(graph, choice, args), usage + cost, ""
    return _call_in_plan(graph, seen.ids[choice.task - 1], choice, args), usage + cost, ""


def _tool_line(equipped: Equipped) -> tuple[str, str]:
    """A tool as it is chosen by: its name, and what it does with which parameters."""
    lines = (line for line in equipped.tool.description.splitlines() if not line.startswith("Gives:"))
    names = ", ".join(equipped.parameters().get("properties", {}))
    return equipped.name, f"{' '.join(' '.join(lines).split())} Needs: {names or 'nothing'}."


def _call_in_plan(graph: TaskGraph, task: str, choice: Choice, args: dict[str, Any]) -> Call:
    """A chosen call, with the task for its result: the chosen one where that is open, else a new part."""
    node = graph[task]
    source, place = SOURCE + choice.tool, graph[node.parent] if node.parent is not None else node
    open_leaf = node.value is None and not graph.parts(node.id)
    own = node.parent is not None and (open_leaf or node.source == source)
    whole = place if own or node.source.startswith(SOURCE) else node
    gives = node.name if own else free_slot(graph, whole.id, f"{whole.slot}.{choice.tool}").rpartition(".")[2]
    return Call(
        tool=choice.tool, args=args, place=whole.id, gives=gives,
        title=title_of(node) if open_leaf and own else clip(choice.subtask.rstrip(". "), 80),
        task=node.id if own else None,
        rests_on=inputs_of_args(graph, whole.id, args),
    )  # fmt: skip


def _call_without_plan(graph: TaskGraph, choice: Choice, args: dict[str, Any]) -> Call:
    """A chosen call where there are no tasks yet: its result becomes one."""
    gives = free_slot(graph, None, choice.tool)
    return Call(
        tool=choice.tool, args=args, place="", gives=gives, title=clip(choice.subtask.rstrip(". "), 80)
    )
