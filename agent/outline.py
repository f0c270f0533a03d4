"""What a model sees of the tasks: a numbered outline within a token budget, with all text quoted. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from taskloom.agent.interpreter import View, outline_order
from taskloom.agent.slots import TaskSchema
from taskloom.agent.wording import base
from taskloom.memory.retrieve import matching, tokens
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import words

NAMED = 20  # tasks taken because the words name them
GONE_SHOWN = 6  # removed tasks in the outline
GONE_TURNS = 8  # how long a removed task is shown though the words do not name it
USES_SHOWN = 12  # numbers of the tasks that one uses


@dataclass(frozen=True, slots=True)
class Outline:
    """lines: one for each task shown. ids: the id of task number n is `ids[n - 1]`."""

    lines: tuple[str, ...]
    ids: tuple[str, ...]


def quoted(text: str, limit: int = 300) -> str:
    r"""Text as a JSON string on one line: nothing inside it can close the quotes or start a new line.

    Longer text is cut, with '…'. '<|' is broken as well: some servers read it as the start of a message.
    """
    text = text if len(text) <= limit else f"{text[:limit]}…"
    plain = json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
    for special in ("<|", "\u2028", "\u2029", "\u0085"):
        plain = plain.replace(special, f"\\u{ord(special[0]):04x}{special[1:]}")
    return plain


def outline(utterance: str, view: View) -> Outline:
    """The tasks that matter for an utterance, numbered from 1 in tree order, within `view.budget`.

    First those in focus, then those the words name, then the newest; each with the tasks it is part of.
    Tasks that went lately, or that the words name, are listed at the end for "keep" and "go back".
    """
    named = matching(view.graph, utterance, gone=True, limit=NAMED)
    gone = _gone(named, view)
    spent = sum(_cost(view.graph, node, 0) for node in gone)
    chosen: dict[str, TaskNode] = {}
    for key in outline_order(view, named):
        chain = [view.graph[key], *view.graph.ancestors(key)]
        new = [node for node in chain if node.id not in chosen]
        cost = sum(_cost(view.graph, node, len(chain)) for node in new)
        if chosen and spent + cost > view.budget:
            break
        spent += cost
        chosen.update((node.id, node) for node in new)
    created = sorted(chosen.values(), key=lambda node: (len(node.id), node.id))
    ordered = [*nested(created), *((node, 0) for node in gone)]
    numbers = {node.id: number for number, (node, _) in enumerate(ordered, 1)}
    lines = (_line(view.graph, node, numbers, depth) for node, depth in ordered)
    return Outline(tuple(lines), tuple(numbers))


def nested(nodes: Iterable[TaskNode]) -> list[tuple[TaskNode, int]]:
    """Tasks with their depth: each below the one it is part of, where that is among them; else as given."""
    chosen = {node.id: node for node in nodes}
    parts: dict[str | None, list[TaskNode]] = {}
    for node in chosen.values():
        parts.setdefault(node.parent if node.parent in chosen else None, []).append(node)
    found: list[tuple[TaskNode, int]] = []
    stack = [(node, 0) for node in reversed(parts.get(None, []))]
    while stack:
        node, depth = stack.pop()
        found.append((node, depth))
        stack += [(part, depth + 1) for part in reversed(parts.get(node.id, []))]
    return found


def schema_lines(utterance: str, schemas: Sequence[TaskSchema], budget: int) -> tuple[str, ...]:
    """The kinds of tasks with their slots, those that the words name first, within a token budget."""
    said = set(words(utterance))
    ranked = sorted(
        schemas, key=lambda schema: -len(said.intersection(words(schema.name + " " + schema.description)))
    )
    found: list[str] = []
    for schema in ranked:
        slots = (
            slot.name + (f"={'|'.join(slot.values[:8])}" if slot.values else "") for slot in schema.slots
        )
        line = quoted(f"{schema.name}: {', '.join(slots)}", 600)
        budget -= tokens(line)
        if found and budget < 0:
            break
        found.append(line)
    return tuple(found)


def talk_lines(exchanges: Sequence[tuple[str, str]]) -> list[str]:
    """The last two exchanges, two lines each."""
    said = [
        line
        for user, reply in exchanges[-2:]
        for line in (f"user {quoted(user)}", f"assistant {quoted(reply)}")
    ]
    return ["Talk so far:", *said] if said else []


def _gone(named: Sequence[str], view: View) -> list[TaskNode]:
    """Tasks out of the plan that the words name, then those that went lately, the latest first."""
    lately = [node for node in view.graph.values() if view.turn - node.turn <= GONE_TURNS]
    lately.sort(key=lambda node: -node.turn)
    keys = dict.fromkeys([*named, *(node.id for node in lately)])
    return [view.graph[key] for key in keys if not view.graph[key].active][:GONE_SHOWN]


def was(node: TaskNode) -> str | None:
    """The last value that a task had before its present one, or its last title where only that changed."""
    for state in reversed(node.history):
        if state.value is not None and state.value != node.value:
            return state.value
        if state.title != node.title and state.value is None and node.value is None:
            return state.title
    return None


def _cost(graph: TaskGraph, node: TaskNode, depth: int) -> int:
    """The tokens that the line of a task takes, whatever its number will be."""
    numbers = dict.fromkeys((node.id, *node.depends_on), 99)
    return tokens(_line(graph, node, numbers, depth))


def _line(graph: TaskGraph, node: TaskNode, numbers: Mapping[str, int], depth: int) -> str:
    """'  4 date = "June 15" (was "June 10") stale', '1 recipe "make soup" uses 5, 6'."""
    name = base(node.slot)  # the number of a list's member would only be in the way
    if not re.fullmatch(r"[\w-]{1,40}", name):
        name = quoted(name, 40)
    text = f"{'  ' * depth}{numbers[node.id]} {name}"
    if node.value is None or node.title.lower() not in (_spoken(node), node.value.lower()):
        text += f" {quoted(node.title, 80)}"
    if node.value is not None:
        text += f" = {quoted(node.value, 120)}"
    if former := was(node):
        text += f" (was {quoted(former, 60)})"
    if node.status in ("done", "proposed", "inactive", "removed"):
        text += f" {node.status}"
    if not node.active and node.parent is not None:
        text += f" from {quoted(graph[node.parent].title, 40)}"
    used = [numbers[key] for key in node.depends_on if key in numbers and graph[key].active]
    if used and node.active:
        text += f" uses {', '.join(map(str, sorted(used)[:USES_SHOWN]))}"
    return text + (" stale" if node.stale_since is not None else "")


def _spoken(node: TaskNode) -> str:
    return node.name.lower().replace("_", " ")
