"""What a model sees of the tasks: a numbered outline within a token budget. Pure.

    1 trip
      2 start: Rome
      guest: 3 Ann; 4 Bo
      5 book the flight [Ann] done
      6 pack, after 5
    8 party, date: Friday +4
    Gone:
    7 hotel: Ritz (of 1)

A text that could be taken for anything but a text is quoted, so that none can start a line or close a mark.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from taskloom.agent.language.wording import base
from taskloom.agent.turn.reading import View, outline_order
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.memory.retrieve import matching, tokens
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import words

from .kinds import title_of_kind

NAMED = 12  # tasks taken because the words name them
ROOTS = 40  # whole tasks that have a line of their own
WHOLE = 60  # parts shown of a task that the words are about, whatever the budget is
GONE_SHOWN = 5  # removed tasks in the outline
GONE_TURNS = 8  # how long a removed task is shown though the words do not name it
LATELY = 2  # turns for which the value before the last is shown
REPLY_SHOWN, SAID_SHOWN = 240, 160  # characters of the talk that goes along
KINDLESS = ("task", "step", "list")  # names of members that say nothing


@dataclass(frozen=True, slots=True)
class Outline:
    """lines: the tasks shown, as text. ids: the id of task number n is `ids[n - 1]`."""

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


_PLAIN = re.compile(r"(?:[^\W_]|[$€£])(?:[\w ’'$€£%&@.!?+/#*()–-]|(?<=\d)[:,](?=\d)|, (?!after ))*")


def as_shown(text: str, limit: int = 120) -> str:
    """A text as the outline shows it: as it is where it can be nothing else than a text, else quoted."""
    short = len(text) <= min(limit, 80) and _PLAIN.fullmatch(text) is not None
    return text if short and not _MARKS.search(text) else quoted(text, limit)


_MARKS = re.compile(r"(?:^| )(?:done|gone|stale|proposed|after|uses|open question|message)\b", re.IGNORECASE)


def outline(utterance: str, view: View) -> Outline:
    """The tasks that matter for an utterance, numbered from 1 in tree order.

    Every whole task is there with the slot that names it; what the words name, and the tasks that the talk
    is about, with all of their parts; then what was changed last, while that takes less than half of
    `view.budget`. What is left out of a task is counted behind it. Tasks that went lately, or that the words
    name, are listed at the end.
    """
    graph = view.graph
    named = matching(graph, utterance, gone=True, limit=NAMED)
    chosen = _needed(view, named)
    gone = _gone(named, view)
    spent = sum(_cost(graph[key]) for key in (*chosen, *(node.id for node in gone)))
    for key in outline_order(view, named):
        chain = [one for one in (key, *(up.id for up in graph.ancestors(key))) if one not in chosen]
        cost = sum(_cost(graph[one]) for one in chain)
        if spent + cost > view.budget // 2:
            break
        spent += cost
        chosen.update(dict.fromkeys(chain))
    return _Drawing(view, [graph[key] for key in chosen], gone).outline()


def _needed(view: View, named: Sequence[str]) -> dict[str, None]:
    """What is shown whatever it takes: a line for each whole, what the words name, what the talk is about."""
    graph = view.graph
    latest = sorted(graph.parts(None), key=lambda node: -max(one.turn for one in graph.subtree(node.id)))
    found: dict[str, None] = {}
    active = [key for key in named if graph[key].active]
    telling = set(active)  # what tells a task that the words mean as a whole
    for root in latest[:ROOTS]:
        found[root.id] = None
        if (naming := _naming(graph, root)) is not None:
            found[naming.id] = None
            if naming.id in telling:
                telling.add(root.id)
    for key in active:
        found |= dict.fromkeys([key, *(node.id for node in graph.ancestors(key))])
    for whole in _spoken_of(view, [key for key in (*active, *telling) if graph.parts(key)]):
        parts = sorted(graph.subtree(whole)[1:], key=lambda node: (node.id not in telling, -node.turn))
        for part in parts[:WHOLE]:
            found |= dict.fromkeys([part.id, *(node.id for node in graph.ancestors(part.id))])
    return found


def _spoken_of(view: View, named: Sequence[str]) -> Iterable[str]:
    """The tasks whose parts are all shown: those named, that of the talk, that of the open question."""
    graph = view.graph
    choices = view.question.choices if view.question else ()
    asked = [str(getattr(one, "task", None) or getattr(one, "parent", None) or "") for one in choices]
    focus = [key for key in view.focus if key in graph and graph[key].active][:1]
    roots = (graph.root(key).id for key in (*focus, *asked) if key in graph and graph[key].active)
    return dict.fromkeys((*named, *roots))


def _naming(graph: TaskGraph, root: TaskNode) -> TaskNode | None:
    """The slot by which a whole task is told from others of its kind: its first with a value."""
    slots = [part for part in graph.parts(root.id) if part.value is not None]
    return slots[0] if slots else None


class _Drawing:
    """An outline in the making."""

    def __init__(self, view: View, chosen: Sequence[TaskNode], gone: Sequence[TaskNode]) -> None:
        self.view, self.graph, self.gone = view, view.graph, gone
        created = sorted(chosen, key=lambda node: _number(node.id))
        first: dict[tuple[str | None, str], int] = {}  # members of a kind stand together
        for position, node in enumerate(created):
            first.setdefault((node.parent, base(node.slot) if _is_listed(node) else node.id), position)
        created.sort(key=lambda node: first[node.parent, base(node.slot) if _is_listed(node) else node.id])
        self.tree = [pair for pair in nested(created) if not self._inline(pair[0])]
        self.shown = {node.id for node in created}
        ordered = [*(node for node, _ in self.tree), *gone]
        self.numbers = {node.id: number for number, node in enumerate(ordered, 1)}

        self._kin = Counter((node.parent, base(node.slot)) for node, _ in self.tree if node.value is not None)

    def outline(self) -> Outline:
        """The lines, with the ids of their numbers."""
        return Outline(tuple(self._lines()), tuple(self.numbers))

    def _lines(self) -> Iterator[str]:
        for (depth, kind), group in groupby(self.tree, key=lambda pair: (pair[1], self._kind(pair[0]))):
            nodes = [node for node, _ in group]
            if kind:
                members = "; ".join(
                    f"{self.numbers[node.id]} {as_shown(node.value or node.title)}" for node in nodes
                )
                yield f"{' ' * depth}{kind[1]}: {members}"
            else:
                yield from (f"{' ' * depth}{self.numbers[node.id]} {self._entry(node)}" for node in nodes)
        hidden = len(self.graph.parts(None)) - sum(depth == 0 for _, depth in self.tree)
        if hidden:
            yield f"and {hidden} tasks more"
        if self.gone:
            yield "Gone:"
        for node in self.gone:
            place = f" (of {self._place(node)})" if node.parent else ""
            yield f"{self.numbers[node.id]} {self._words(node)}{place}"

    def _place(self, node: TaskNode) -> str:
        parent = node.parent or ""
        return str(self.numbers.get(parent) or as_shown(self.graph[parent].title, 40))

    def _kind(self, node: TaskNode) -> tuple[str, str] | None:
        """What a member of a list is grouped by; None for all that has a line of its own."""
        if node.parent is None or self.graph.parts(node.id) or node.depends_on:
            return None
        name = base(node.slot)
        kind = node.parent, as_shown(name.replace("_", " "), 40)
        if node.value is not None and node.status in ("filled", "open"):
            return kind if self._kin[node.parent, name] > 1 else None
        numbered = name != node.slot.rpartition(".")[2]
        return (
            kind
            if node.value is None and node.status == "open" and numbered and name not in KINDLESS
            else None
        )

    def _words(self, node: TaskNode) -> str:
        """'start: Rome', 'pack', 'guest Ann'."""
        title = as_shown(node.title, 80)
        if node.value is None:
            return title
        if node.value.lower() == node.title.lower():
            title = as_shown(base(node.slot).replace("_", " "), 40)
        return f"{title}: {as_shown(node.value)}"

    def _entry(self, node: TaskNode) -> str:
        text = self._words(node)
        text += "".join(f" [{as_shown(one.value or one.title, 40)}]" for one in self._assignees(node))
        if (former := previous_value(node)) and self.view.turn - node.turn <= LATELY:
            text += f" (was {as_shown(former, 60)})"
        if node.status in ("done", "proposed"):
            text += f" {node.status}"
        used = sorted(
            self.numbers[key] for key in node.depends_on if key in self.numbers and self.graph[key].active
        )
        if used:
            shared = any(self.graph[key].parent not in (None, node.parent) for key in node.depends_on)
            text += f", {'uses' if shared else 'after'} {', '.join(map(str, used))}"
        text += " stale" if node.stale_since is not None else ""
        hidden = sum(part.id not in self.shown for part in self.graph.parts(node.id))
        return f"{text} +{hidden}" if hidden else text

    def _assignees(self, node: TaskNode) -> list[TaskNode]:
        return [part for part in self.graph.parts(node.id) if is_assignee(part)]

    def _inline(self, node: TaskNode) -> bool:
        """Whether a task is told with the one that it is part of: who does it."""
        return node.parent is not None and is_assignee(node) and not self.graph.parts(node.id)


def _is_listed(node: TaskNode) -> bool:
    """Whether a task may be one of a list: it has no name of its own but a number."""
    return node.parent is not None and base(node.slot) != node.name


def is_assignee(node: TaskNode) -> bool:
    """Whether a slot says who does the task that it is part of."""
    return base(node.slot) == "assignee" and node.value is not None and node.parent is not None


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
        line = quoted(f"{title_of_kind(schema)}: {', '.join(slots)}", 600)
        budget -= tokens(line)
        if found and budget < 0:
            break
        found.append(line)
    return tuple(found)


def talk_lines(exchanges: Sequence[tuple[str, str]]) -> list[str]:
    """The last exchange, two lines."""
    said = [
        line
        for user, reply in exchanges[-1:]
        for line in (f"user {quoted(user, SAID_SHOWN)}", f"assistant {quoted(reply, REPLY_SHOWN)}")
    ]
    return ["Before:", *said] if said else []


def _gone(named: Sequence[str], view: View) -> list[TaskNode]:
    """Tasks out of the plan that the words name, then those that went lately, the latest first.

    What went with a whole comes back with it, and is not shown beside it.
    """
    graph = view.graph
    lately = [node for node in graph.values() if view.turn - node.turn <= GONE_TURNS]
    lately.sort(key=lambda node: -node.turn)
    alone = [node.id for node in lately if node.parent is None or graph[node.parent].active]
    return [graph[key] for key in dict.fromkeys([*named, *alone]) if not graph[key].active][:GONE_SHOWN]


def previous_value(node: TaskNode) -> str | None:
    """The last value that a task had before its present one, or its last title where only that changed."""
    for state in reversed(node.history):
        if state.value is not None and state.value != node.value:
            return state.value
        if state.title != node.title and state.value is None and node.value is None:
            return state.title
    return None


def _cost(node: TaskNode) -> int:
    """About the tokens that the line of a task takes."""
    return tokens(node.title) + tokens(node.value or "") + 3


def _number(key: str) -> tuple[int, str]:
    return len(key), key
