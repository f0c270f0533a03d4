"""What a turn changed, in sentences: one template for every operation. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from taskloom.agent.language import replies
from taskloom.agent.language.reply import LONGEST, WIDTH, Reply
from taskloom.agent.language.wording import be, clip, plural, the, title_of, value_of
from taskloom.agent.turn.state import Change, Turn
from taskloom.memory.operations import Link, is_part, names
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode
from taskloom.memory.words import words

from .naming import Names, same


class Changes:
    """Words the changes of one turn; graph is the one after it."""

    def __init__(self, turn: Turn, graph: TaskGraph, names: Names) -> None:
        self.turn, self.graph, self.names = turn, graph, names

    def pieces(self, room: int = LONGEST) -> list[str]:
        """What was done, what was refused and why, what may need a look, what can go on.

        room: the characters that they have; at least one of each kind is told, the others are counted.
        """
        follows = self._stale() + self._opened()
        refused = _within(self._refusals(), room - _length(follows), replies.MORE_REFUSED)
        room -= _length(refused + follows)
        changes, lists = self._changes()
        if _length(changes + lists) > room:
            lists = []
        return _within(changes, room, replies.MORE_CHANGES) + lists + refused + follows

    def _changes(self) -> tuple[list[str], list[str]]:
        """What was done, operations of one kind in one sentence, and what the lists now hold."""
        done = [change for change in self.turn.changes if change.changed and change.refused is None]
        found: list[str] = []
        for kind, group in groupby(done, key=lambda change: change.operation.kind):
            found += _TEMPLATES[kind](self, list(group))
        return found, self._lists(done)

    def _held(self, node: TaskNode) -> str:
        """What a task holds, in short."""
        return self.names.contents_within(node, WIDTH)

    def _former(self, node: TaskNode) -> Revision | None:
        """A task as it was before this turn; None for a new one."""
        return next((state for state in reversed(node.states()) if state.turn < self.turn.number), None)

    def _touched(self, changes: Iterable[Change]) -> list[TaskNode]:
        """The tasks that changes were about, once each, without those that only became stale."""
        keys = [key for change in changes for key in change.changed if key not in change.stale]
        return [self.graph[key] for key in dict.fromkeys(keys) if key in self.graph]

    def _add(self, changes: list[Change]) -> list[str]:
        nodes = self._touched(changes)
        known = [n for n in nodes if self._former(n) is not None]
        found = self._values(known)
        fresh = [
            n
            for n in self.names.tops([n for n in nodes if self._former(n) is None])
            if n.status != "proposed"
        ]
        for key, group in groupby(fresh, key=lambda node: node.parent):
            added = [n for n in group if n.active]
            whole = self.graph[key] if key else None
            slots = [n for n in added if not self.names.is_plain(n)]
            plain = [n for n in added if self.names.is_plain(n)]
            if plain:
                tasks = [self.names.full(n) for n in plain]
                found.append(
                    replies.ADDED(seed=plain[0].title, tasks=tasks)
                    if whole is None
                    else replies.ADDED_TO(tasks=tasks, whole=self.names.full(whole))
                )
            found += self._new(slots)
        return found

    def _new(self, nodes: list[TaskNode]) -> list[str]:
        """New tasks with values or parts."""
        found, values = [], []
        for node in nodes:
            contents = self.names.contents(node)
            if not contents:
                values.append(node)
                continue
            value = "" if node.value is None or same(node.value, node.title) else f" {value_of(node)}"
            task = f"{self.names.full(node)}{value}"
            found.append(replies.ADDED_WITH(seed=node.title, task=task, contents=self._held(node)))
        if len(values) > 3:
            found.append(replies.ADDED_SEVERAL(entries=[self.names.entry(n) for n in values]))
        else:
            found += [self.names.says(node) for node in values]
        return found

    def _values(self, nodes: Iterable[TaskNode], now: str = " now", after: str = "") -> list[str]:
        """Tasks with what they hold now and what they held before this turn."""
        found = []
        for node in nodes:
            former = self._former(node)
            if former is None or not node.active:
                if node.active and node.value is not None:
                    found.append(self.names.says(node))
            elif former.value is not None and former.value != node.value and node.value is not None:
                verb = be(the(title_of(node)), past=True)
                pronoun = "they" if verb == "were" else "it"
                was = f"{after} ({pronoun} {verb} {clip(former.value)})"
                if same(node.value, node.title) and same(former.value, former.title):
                    new, old = the(clip(node.value)), clip(former.value)
                    found.append(replies.EXCHANGED(new=new, former=old))
                else:
                    found.append(self.names.says(node, now, was))
            elif former.title != node.title:
                found.append(replies.RENAMED(task=self.names.full(node), former=clip(former.title)))
            elif former.value is None and node.value is not None:
                found.append(self.names.says(node))
            elif former.status != node.status:
                found.append(self.names.says(node, now, after))
            else:
                found.append(
                    replies.NOTED_AGAIN(task=self.names.full(node))
                    if node.value is None
                    else self.names.says(node, " still")
                )
        return found

    def _update(self, changes: list[Change]) -> list[str]:
        nodes = [n for n in self._touched(changes) if n.status != "proposed"]
        if len(nodes) > 3:
            entries = []
            for node in nodes:
                former = self._former(node)
                changed = former is not None and former.value not in (None, node.value)
                was = f" (was {clip(former.value or '')})" if former and changed else ""
                entries.append(self.names.entry(node, deep=False) + was)
            return [replies.CHANGED_SEVERAL(entries=entries)]
        return self._values(nodes)

    def _replace(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            nodes = [
                n
                for n in self._touched([change])
                if n.active and (names(op.new, n.value) or names(op.new, n.title))
            ]
            users = {n.parent for n in nodes} | {
                k for n in nodes for k in self.graph.dependents.get(n.id, ())
            }
            holders = (self.graph[key] for key in self.graph if key in users - {n.id for n in nodes})
            places = [self.names.full(holder) for holder in holders if holder.active]
            old, new = clip(op.old), clip(op.new)
            if places:
                found.append(replies.REPLACED_IN(old=old, new=new, places=places))
            else:
                found.append(replies.REPLACED(old=old, new=new) if nodes else replies.REPLACED_AWAY(old=old))
        return found

    def _remove(self, changes: list[Change]) -> list[str]:
        return self._gone(changes, "removed")

    def _inactivate(self, changes: list[Change]) -> list[str]:
        return self._gone(changes, "inactive")

    def _gone(self, changes: list[Change], status: str) -> list[str]:
        on_hold = status == "inactive"
        gone = [n for n in self._touched(changes) if n.status == status]
        tops, found = self.names.tops(gone), []
        single = [n for n in tops if not any(m is not n and n in self.graph.ancestors(m.id) for m in gone)]
        if single:
            entries = [self.names.with_value(n) for n in single]
            found.append((replies.PUT_ON_HOLD if on_hold else replies.REMOVED)(tasks=entries))
        for node in tops:
            if node in single:
                continue
            inside = sum(node in self.graph.ancestors(other.id) for other in gone)
            parts = f"its {inside} parts" if inside > 1 else "its one part"
            reply = replies.CANCELLED if node.parent is None else replies.REMOVED_WHOLE
            reply = replies.PUT_WHOLE_ON_HOLD if on_hold else reply
            found.append(reply(task=self.names.full(node), parts=parts))
        if not found:  # removed and brought back within the turn, or the other way round
            for node in self._touched(changes)[:1]:
                reply = replies.STAYS if node.active else replies.STAYS_OUT
                found.append(reply(task=self.names.full(node), noun=self.names.full(node)))
        return found

    def _restore(self, changes: list[Change]) -> list[str]:
        tops = [n for n in self.names.tops(self._touched(changes)) if n.active]
        if not tops:
            return []
        if len(tops) == 1 and self.names.contents(tops[0]):
            name, contents = self.names.full(tops[0]), self._held(tops[0])
            return [replies.BACK_WITH(task=name, noun=name, contents=contents)]
        if len(tops) == 1 and tops[0].value is not None and not self.names.is_plain(tops[0]):
            return [self.names.says(tops[0], after=" again")]
        return [replies.BACK(tasks=[self.names.full(n) for n in tops])]

    def _rollback(self, changes: list[Change]) -> list[str]:
        found = []
        for node in self._touched(changes):
            if not node.active:
                found.append(replies.OUT_AGAIN(task=self.names.with_value(node), noun=self.names.full(node)))
            elif (former := self._former(node)) is not None and not former.active:
                found.append(replies.BACK_ONE(task=self.names.with_value(node), noun=self.names.full(node)))
            else:
                found += self._values([node], "", " again")
        return found

    def _undo(self, changes: list[Change]) -> list[str]:
        nodes = self._touched(changes)
        out = [n for n in nodes if not n.active]
        back: list[TaskNode] = []
        values: list[TaskNode] = []
        for node in nodes:
            former = self._former(node)
            if node.active:
                (back if former is not None and not former.active else values).append(node)
        redone = any(step.act == "redo" for step in self.turn.steps)
        found = [replies.REDONE() if redone else replies.UNDONE()]
        for reply, moved in ((replies.OUT, out), (replies.BACK, back)):
            if tops := self.names.tops(moved):
                found.append(reply(tasks=[self.names.with_value(n) for n in tops]))
        shown = self._values(values[:3], "", " again")
        if len(values) > 3:
            entries = [self.names.entry(n, deep=False) for n in values]
            shown = [replies.AS_BEFORE(count=len(values), entries=entries)]
        return found + shown

    def _link(self, changes: list[Change]) -> list[str]:
        shared = any(step.act == "share" for step in self.turn.steps)
        pairs = [(c.operation.task, c.operation.on) for c in changes if isinstance(c.operation, Link)]
        pairs = [(one, on) for one, on in pairs if self.graph[one].active and self.graph[on].active]
        found = []
        for task, group in groupby(pairs, key=lambda pair: pair[0]):
            needed = [self.names.full(self.graph[on]) for _, on in group]
            name = self.names.full(self.graph[task])
            found.append(
                replies.SHARED(tasks=needed, whole=name)
                if shared
                else replies.DEPENDS_NOW(task=name, needed=needed)
            )
        return found

    def _unlink(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            name, other = self.names.full(self.graph[op.task]), self.names.full(self.graph[op.on])
            found.append(replies.DEPENDS_NO_LONGER(task=name, needed=other))
        return found

    def _complete(self, changes: list[Change]) -> list[str]:
        nodes = self.names.tops([n for n in self._touched(changes) if n.status == "done"])
        if not nodes:
            return []
        return [replies.DONE(seed=nodes[0].title, tasks=[self.names.full(n) for n in nodes])]

    def _confirm(self, changes: list[Change]) -> list[str]:
        nodes = [n for n in self._touched(changes) if n.active]
        if not nodes:
            return []
        return [replies.CONFIRMED(entries=[self.names.entry(n, deep=False) for n in nodes])]

    def _reject(self, changes: list[Change]) -> list[str]:
        found = []
        met = self._touched(changes)
        if len(met) > 1 and all(not node.active for node in met):
            entries = [self.names.entry(node, deep=False, marked=False) for node in met]
            return [replies.DECLINED_SEVERAL(entries=entries)]
        for node in met:
            former = self._former(node)
            offered = former.value if former is not None else None
            if offered and (offered != node.value or not node.active):
                value, task = clip(offered), self.names.full(node)
                found.append(
                    replies.DECLINED(value=value)
                    if same(offered, node.title)
                    else replies.DECLINED_FOR(value=value, task=task)
                )
            else:
                found.append(replies.TAKEN_BACK(task=self.names.full(node)))
            if node.active and node.value is not None:
                found.append(self.names.says(node))
        return found

    def _split(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            node = self.graph[op.task]
            parts = [n for n in self._touched([change]) if is_part(n) and n.parent == node.id and n.active]
            width = WIDTH // max(1, len(parts))
            entries = [f"{number}) {self._part(part, width)}" for number, part in enumerate(parts, 1)]
            task = self.names.full(node)
            found.append(
                replies.SPLIT_INTO(task=task, count=len(entries), parts="; ".join(entries))
                if entries
                else replies.SPLIT(task=task)
            )
        return found

    def _part(self, part: TaskNode, width: int) -> str:
        """What a part is called beside the others, and what is in it that this does not say: 'Ann: 4 pm'."""
        found = re.search(r"\(([^()]+)\)$", part.title)
        name, own = (found[1], words(found[1])) if found is not None else (title_of(part), ())
        inside = self.graph.parts(part.id)
        told = [one.id for one in inside if own and set(words(one.value or one.title)) <= set(own)]
        names = Names(self.graph, untold={*self.names.untold, *told}, brief=self.names.brief)
        return ": ".join(filter(None, (name, names.contents_within(part, width))))

    def _merge(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            node = self.graph[op.task]
            contents = self._held(node)
            name = self.names.full(node)
            found.append(
                replies.MERGED_WITH(task=name, contents=contents) if contents else replies.MERGED(task=name)
            )
        return found

    def _lists(self, done: Sequence[Change]) -> list[str]:
        """What each list holds now that members joined or left."""
        kinds = ("add", "remove", "inactivate", "restore", "rollback", "undo")
        holders: dict[str, None] = {}
        for node in self._touched([c for c in done if c.operation.kind in kinds]):
            whole = self.graph.get(node.parent) if node.parent else None
            if whole is not None and whole.active and self._former(whole) and self.names.is_listed(node):
                holders[whole.id] = None
        found = []
        for key in holders:
            whole = self.graph[key]
            members = [n for n in self.graph.parts(key) if self.names.stands_in(n) and n.status != "proposed"]
            if members:
                held = [self.names.short(n) for n in members]
                found.append(replies.LIST_NOW(whole=self.names.full(whole), members=held))
            elif not self.graph.parts(key):
                found.append(replies.LIST_EMPTY(whole=self.names.full(whole)))
        return found

    def _refusals(self) -> list[str]:
        """Why something was not done; a reason is given once."""
        reasons = [change.refused for change in self.turn.changes if change.refused is not None]
        return list(dict.fromkeys(map(_refusal, reasons)))

    def _stale(self) -> list[str]:
        """What rests on something that changed, and may need a look."""
        by_cause: dict[str, list[TaskNode]] = {}
        for change in self.turn.changes:
            met = [key for key in change.changed if key not in change.stale]
            for key in change.stale:
                node = self.graph[key]
                if node.active and node.stale_since is not None:
                    cause = next((k for k in met if k in node.depends_on), met[0] if met else key)
                    by_cause.setdefault(cause, []).append(node)
        found = []
        for cause, nodes in by_cause.items():
            names = list(dict.fromkeys(self.names.full(node) for node in nodes))
            them = "them" if len(names) > 1 or plural(names[0]) else "it"
            cause_now = self._with_value_now(cause)
            found.append(replies.MAY_NEED_A_LOOK(tasks=names, cause=cause_now, them=them))
        return found

    def _with_value_now(self, key: str) -> str:
        node = self.graph[key]
        return self.names.full(node) if node.active else f"{self.names.full(node)}, which was taken out"

    def _opened(self) -> list[str]:
        """What can go on now that something is done."""
        keys = dict.fromkeys(key for change in self.turn.changes for key in change.opened)
        nodes = [self.graph[key] for key in keys if self.graph[key].status == "open"]
        return [replies.CAN_GO_ON(tasks=[self.names.full(node) for node in nodes])] if nodes else []


def _length(pieces: Sequence[str]) -> int:
    return sum(len(piece) + 1 for piece in pieces)


def _within(pieces: list[str], room: int, more: Reply) -> list[str]:
    """The first pieces that have the room, one at least; the others are counted by one more."""
    if len(pieces) < 2 or _length(pieces) <= room:
        return pieces
    shown = 1
    while _length(pieces[: shown + 1]) + _COUNTED <= room:
        shown += 1
    left = len(pieces) - shown
    return [*pieces[:shown], more(changes=f"{left} more changes" if left > 1 else "one more change")]


_COUNTED = 40  # characters of the sentence that counts what is not told
_FAULTS = (
    (re.compile(r"must not be blank"), replies.REFUSED_BLANK),
    (re.compile(r"control characters"), replies.REFUSED_SIGNS),
    (re.compile(r"no task t\d|operation of its own|state number|two values of one name|not a proposal"),
     replies.REFUSED_UNCLEAR),
)  # fmt: skip
"""Reasons that are about how the plan is kept, and mean nothing to the user."""


def _refusal(why: str) -> str:
    fault = next((reply for pattern, reply in _FAULTS if pattern.search(why)), None)
    return fault() if fault is not None else replies.REFUSED(seed=why, why=clip(why, 150))


_TEMPLATES: dict[str, Callable[[Changes, list[Change]], list[str]]] = {
    "add": Changes._add,
    "update": Changes._update,
    "replace": Changes._replace,
    "remove": Changes._remove,
    "inactivate": Changes._inactivate,
    "restore": Changes._restore,
    "rollback": Changes._rollback,
    "undo": Changes._undo,
    "link": Changes._link,
    "unlink": Changes._unlink,
    "complete": Changes._complete,
    "confirm": Changes._confirm,
    "reject": Changes._reject,
    "split": Changes._split,
    "merge": Changes._merge,
}
