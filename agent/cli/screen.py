"""What is shown on a terminal: trees, histories, lists. Colours only where the terminal has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from taskloom.agent.language.wording import clip
from taskloom.memory.shown import safe as safe
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode

from .options import program

if TYPE_CHECKING:
    from taskloom.agent.threads.store import ThreadInfo

_VALUE = 60  # characters of a value in a tree
_SAID = 200  # characters of a value or of what was said in a history

_STATUS = {"proposed": "proposed", "done": "done", "inactive": "on hold", "removed": "removed"}
_DID = {
    "add": "noted", "update": "changed", "replace": "replaced", "remove": "removed",
    "inactivate": "put on hold", "restore": "brought back", "rollback": "went back", "undo": "undone",
    "link": "linked", "unlink": "unlinked", "complete": "done", "confirm": "confirmed",
    "reject": "rejected", "split": "split", "merge": "merged", "stale": "may be outdated",
    "edit": "edited by hand",
}  # fmt: skip


class _Safe(Console):
    """Prints no terminal control characters but its own colours, whatever text it is given."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=safe(segment.text))


def console(*, errors: bool = False) -> Console:
    """A console for plain text: nothing in it is markup; 80 columns wide where there is no terminal."""
    return _Safe(stderr=errors, markup=False, emoji=False, highlight=False)


def greeting(thread: str, about: str) -> str:
    """The first line of a chat. about: how many turns its thread has, or that it is new."""
    return f"Thread {safe(thread)} ({about}). /help lists commands, /quit leaves."


def resuming(thread: str, user: str = "local") -> str:
    """The last line of a chat: the command that resumes it."""
    who = "" if user == "local" else f" --user {quote(user)}"
    return f"Resume with: {safe(f'{program()} chat --thread {quote(thread)}{who}')}"


def failure(message: str) -> str:
    """The message for something that failed, after which the chat continues."""
    return f"That did not work: {safe(message)}."


# ---- tasks ----------------------------------------------------------------------------------------


def task_tree(graph: TaskGraph, before: TaskGraph | None = None, *, gone: bool = False) -> RenderableType:
    """The plan as trees, one for each root task.

    Args:
        graph: the tasks.
        before: the tasks some time ago; what changed since is marked, and what left since is shown, too.
        gone: show also what is on hold or removed.
    """
    marks = (
        {node.id: _mark(node, before.get(node.id)) for node in graph.values()} if before is not None else {}
    )
    trees: list[RenderableType] = []
    for root in _shown(graph, None, marks, gone):
        top = Tree(_label(root, graph, marks.get(root.id, "")), guide_style="dim", highlight=False)
        stack = [(root, top)]
        while stack:
            node, branch = stack.pop()
            stack += [
                (part, branch.add(_label(part, graph, marks.get(part.id, ""))))
                for part in _shown(graph, node.id, marks, gone)
            ]
        trees.append(top)
    return Group(*trees) if trees else Text("There is nothing in the plan.", "dim")


def _shown(graph: TaskGraph, key: str | None, marks: dict[str, str], gone: bool) -> list[TaskNode]:
    return [node for node in graph.parts(key, gone=True) if gone or node.active or marks.get(node.id)]


def _mark(node: TaskNode, old: TaskNode | None) -> str:
    """How a task changed, in a word or two; '' if nothing visible did."""
    if old is None or not old.active:
        return ("new" if old is None else "back") if node.active else ""
    if not node.active:
        return _STATUS[node.status]
    if node.value != old.value and old.value:
        return f"was {clip(old.value, _VALUE)}"
    if node.title != old.title:
        return f"was {clip(old.title, _VALUE)}"
    if node.status == "done" != old.status:
        return "done"
    if set(node.depends_on) != set(old.depends_on) or node.parent != old.parent:
        return "linked anew"
    return "changed" if (node.value, node.status) != (old.value, old.status) else ""


def _label(node: TaskNode, graph: TaskGraph, mark: str) -> Text:
    """One line of a tree: id, title, value, status, prerequisites and change."""
    left = not node.active
    text = Text.assemble((node.id, "dim"), " ", (clip(node.title), "strike dim" if left else "bold"))
    if node.value and node.value != node.title:
        text.append(f": {clip(node.value, _VALUE)}", "strike dim" if left else "")
    asides = [_STATUS[node.status]] if node.status in _STATUS and _STATUS[node.status] != mark else []
    asides += ["may be outdated"] if node.stale_since is not None and node.active else []
    needed = [graph[key].title for key in node.depends_on if graph[key].active]
    asides += [f"needs {clip(', '.join(needed), _VALUE)}"] if needed and node.active else []
    if asides:
        text.append(f"  ({'; '.join(asides)})", "dim")
    if mark:
        text.append("  <- ", "dim")
        text.append(mark, "red" if left else "green" if mark in ("new", "back", "done") else "yellow")
    shown = safe(text.plain)
    return text if shown == text.plain else Text(shown, spans=text.spans)


def find_tasks(graph: TaskGraph, words: str) -> list[TaskNode]:
    """The tasks that words refer to: by id, else by name, else by words of their text.

    Active tasks come before those that are gone.
    """
    wanted = " ".join(words.lower().split())
    if wanted in graph:
        return [graph[wanted]]
    nodes = sorted(graph.values(), key=lambda node: not node.active)
    named = [node for node in nodes if wanted in (node.slot.lower(), node.name.lower(), node.title.lower())]
    if named:
        return [node for node in named if node.active] or named
    return [node for node in nodes if wanted and wanted in f"{node.title} {node.value or ''}".lower()]


def task_history(node: TaskNode) -> RenderableType:
    """Every state of a task, oldest first, with the words that caused it."""
    table = _states("then it was")
    for state in node.states():
        _state(table, state, _shown_as(state), bold=state is node)
    return Group(Text(safe(f"{node.id} {node.title} ({node.slot})")), table)


def plan_history(graph: TaskGraph) -> RenderableType:
    """Every change of the plan, oldest first, with the words that caused it."""
    found = sorted((state for node in graph.values() for state in node.states()), key=lambda one: one.turn)
    if not found:
        return Text("Nothing has changed yet.", "dim")
    table = _states("what")
    for state in found:
        what = _shown_as(state)
        _state(table, state, what if what == state.title else f"{state.title}: {what}")
    return table


def _states(what: str) -> Table:
    """An empty table for states. what: the heading of their column."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="dim")
    table.add_column("turn", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column(what, overflow="fold")
    table.add_column("because you said", overflow="fold")
    return table


def _state(table: Table, state: Revision, what: str, *, bold: bool = False) -> None:
    said = f'"{clip(state.said, _SAID)}"' if state.said else ""
    did = _DID.get(state.op, state.op)
    table.add_row(str(state.turn), did, safe(clip(what, _SAID)), safe(said), style="bold" if bold else "")


def _shown_as(state: Revision) -> str:
    return state.value or state.title if state.active else f"({_STATUS[state.status]})"


# ---- threads --------------------------------------------------------------------------------------


def thread_list(threads: Iterable[ThreadInfo], width: int = 80) -> RenderableType:
    """The threads as a table of a width in columns, times in the zone of this machine."""
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="dim")
    threads = list(threads)
    longest = min(36, max((len(info.thread) for info in threads), default=0))
    counted = any(info.tokens for info in threads)
    tokens = [f"{info.tokens:,}" for info in threads]
    more = 2 + max(6, *map(len, tokens)) if counted else 0
    left = max(12, width - max(longest, 6) - 5 - 16 - 7 - more)  # what the other columns and the gaps leave
    table.add_column("thread", overflow="fold", width=max(longest, 6))
    table.add_column("turns", justify="right", width=5)
    table.add_column("last used", width=16)
    table.add_column("began with")
    if counted:
        table.add_column("tokens", justify="right")
    for info, spent in zip(threads, tokens, strict=True):
        used = info.used.astimezone().strftime("%Y-%m-%d %H:%M")
        cells = (safe(info.thread), str(info.turns), used, safe(clip(info.title, left)))
        table.add_row(*cells, *([spent] if counted else []))
    return table


def table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> RenderableType:
    """Rows as a table; numbers to the right, the last column takes what room is left, on one line."""
    rows, left = list(rows), console().width
    grid = Table(box=None, pad_edge=False, show_edge=False, header_style="dim")
    for name in columns:
        cells = [safe(str(row[name])) for row in rows]
        numbers = all(isinstance(row[name], int) for row in rows)
        room = max(map(cell_len, (name, *cells)))
        if name == columns[-1]:
            room = min(room, max(left, cell_len(name)))
        left -= room + 2  # the space between columns
        grid.add_column(
            name, justify="right" if numbers else "left", width=room, no_wrap=True, overflow="ellipsis"
        )
    for row in rows:
        grid.add_row(*(safe(str(row[name])) for name in columns))
    return grid


# ---- streaming ------------------------------------------------------------------------------------


class Stream:
    """A reply, written while it comes and wrapped between words; off a terminal it is written at its end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._id, self._text, self._word, self._column = "", "", "", 0

    def show(self, piece: str, key: str) -> None:
        """Take a piece of the message `key`; a new key withdraws what was written before."""
        if not self._console.is_terminal:
            return
        if self._text and key != self._id:
            self._flush()
            self._console.print("\n(trying again)", style="dim")
            self._text, self._column = "", 0
        self._id = key
        self._text += piece
        for token in re.findall(r"\s|\S+", safe(piece)):
            if token.isspace():
                self._flush()
                self._put(token)
            else:
                self._word += token

    def end(self, reply: str) -> None:
        """Write the rest of the reply."""
        self._flush()
        if self._text and self._text == reply:
            self._console.print()
            return
        if self._text:
            self._console.print()
        self._console.print(safe(reply))

    def _flush(self) -> None:
        if self._column and self._column + len(self._word) >= self._console.width:
            self._put("\n")
        self._put(self._word)
        self._word = ""

    def _put(self, text: str) -> None:
        self._column = 0 if text == "\n" else self._column + len(text)
        self._console.out(text, end="", highlight=False)


def steps(graph: TaskGraph, nodes: Iterable[TaskNode]) -> Iterator[str]:
    """Tasks in a list to choose from: id, title, value and what they are part of."""
    for node in nodes:
        whole = f" of {clip(graph[node.parent].title, 40)}" if node.parent else ""
        value = f": {clip(node.value, 40)}" if node.value else ""
        yield safe(f"{node.id} {clip(node.title, 40)}{whole}{value}")
