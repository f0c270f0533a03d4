"""What a model sees of the tasks: a numbered outline within a token budget, with all text quoted. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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
    spent = sum(tokens(_line(view.graph, node, 99, 0)) for node in gone)
    chosen: dict[str, TaskNode] = {}
    for key in outline_order(view, named):
        chain = [view.graph[key], *view.graph.ancestors(key)]
        new = [node for node in chain if node.id not in chosen]
        cost = sum(tokens(_line(view.graph, node, 99, len(chain))) for node in new)
        if chosen and spent + cost > view.budget:
            break
        spent += cost
        chosen.update((node.id, node) for node in new)
    ordered = [*_tree(chosen), *((node, 0) for node in gone)]
    lines = (_line(view.graph, node, n, depth) for n, (node, depth) in enumerate(ordered, 1))
    return Outline(tuple(lines), tuple(node.id for node, _ in ordered))


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


def _gone(named: Sequence[str], view: View) -> list[TaskNode]:
    """Tasks out of the plan that the words name, then those that went lately, the latest first."""
    lately = [node for node in view.graph.values() if view.turn - node.turn <= GONE_TURNS]
    lately.sort(key=lambda node: -node.turn)
    keys = dict.fromkeys([*named, *(node.id for node in lately)])
    return [view.graph[key] for key in keys if not view.graph[key].active][:GONE_SHOWN]


def _tree(chosen: dict[str, TaskNode]) -> list[tuple[TaskNode, int]]:
    """Depth first with the depth of each; parts stand in order of creation."""
    parts: dict[str | None, list[TaskNode]] = {}
    for node in sorted(chosen.values(), key=lambda node: (len(node.id), node.id)):
        parts.setdefault(node.parent, []).append(node)
    found: list[tuple[TaskNode, int]] = []
    stack = [(node, 0) for node in reversed(parts.get(None, []))]
    while stack:
        node, depth = stack.pop()
        found.append((node, depth))
        stack += [(part, depth + 1) for part in reversed(parts.get(node.id, []))]
    return found


def was(node: TaskNode) -> str | None:
    """The last value that a task had before its present one, or its last title where only that changed."""
    for state in reversed(node.history):
        if state.value is not None and state.value != node.value:
            return state.value
        if state.title != node.title and state.value is None and node.value is None:
            return state.title
    return None


def _line(graph: TaskGraph, node: TaskNode, number: int, depth: int) -> str:
    """'4  date = "June 15" (was "June 10") stale'."""
    name = base(node.slot)  # the number of a list's member would only be in the way
    if not re.fullmatch(r"[\w-]{1,40}", name):
        name = quoted(name, 40)
    text = f"{number}{' ' * (depth + 1)}{name}"
    if node.title.lower() not in (node.name.lower().replace("_", " "), (node.value or "").lower()):
        text += f" {quoted(node.title, 80)}"
    if node.value is not None:
        text += f" = {quoted(node.value, 120)}"
    if former := was(node):
        text += f" (was {quoted(former, 60)})"
    if node.status in ("done", "proposed", "inactive", "removed"):
        text += f" {node.status}"
    if not node.active and node.parent is not None:
        text += f" from {quoted(graph[node.parent].title, 40)}"
    return text + (" stale" if node.stale_since is not None else "")
