"""What a turn changed, in sentences: one template for every operation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from taskloom.agent.language.wording import be, clip, join, pick, plural, sentence, the, title_of, value_of
from taskloom.agent.turn.state import Change, Turn
from taskloom.memory.operations import Link, is_part, names
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode

from .naming import INLINE, MANY, Names, rest, same, series


class Changes:
    """Tells of the changes of one turn; graph is the one after it."""

    def __init__(self, turn: Turn, graph: TaskGraph, names: Names) -> None:
        self.turn, self.graph, self.names = turn, graph, names

    def pieces(self) -> list[str]:
        """What was done, what was refused and why, what may need a look, what can go on."""
        return self._changes() + self._refusals() + self._stale() + self._opened()

    def _changes(self) -> list[str]:
        """What was done, operations of one kind in one sentence, then what the lists now hold."""
        done = [change for change in self.turn.changes if change.changed and change.refused is None]
        found: list[str] = []
        for kind, group in groupby(done, key=lambda change: change.operation.kind):
            found += _TEMPLATES[kind](self, list(group))
        return found + self._lists(done)

    def _former(self, node: TaskNode) -> Revision | None:
        """A task as it was before this turn; None for a new one."""
        return next((state for state in reversed(node.states()) if state.turn < self.turn.number), None)

    def _met(self, changes: Iterable[Change]) -> list[TaskNode]:
        """The tasks that changes were about, once each, without those that only became stale."""
        keys = [key for change in changes for key in change.changed if key not in change.stale]
        return [self.graph[key] for key in dict.fromkeys(keys) if key in self.graph]

    def _add(self, changes: list[Change]) -> list[str]:
        nodes = self._met(changes)
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
                where = f" to {self.names.full(whole)}" if whole else ""
                word = pick(("Added", "Noted"), plain[0].title) if whole is None else "Added"
                found.append(f"{word} {join([self.names.full(n) for n in plain], limit=INLINE)}{where}.")
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
            word = pick(("Noted", "Added"), node.title)
            text = f"{word} {self.names.full(node)}{value}: {series(contents)}."
            found.append(text)
        if len(values) > 3:
            found.append(f"Noted: {join([self.names.entry(n) for n in values], limit=MANY)}.")
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
                    found.append(f"It is now {the(clip(node.value))} instead of {clip(former.value)}.")
                else:
                    found.append(self.names.says(node, now, was))
            elif former.title != node.title:
                found.append(f"It is now {self.names.full(node)} (it was called {clip(former.title)}).")
            elif former.value is None and node.value is not None:
                found.append(self.names.says(node))
            elif former.status != node.status:
                found.append(self.names.says(node, now, after))
            else:
                found.append(sentence(f"{self.names.full(node)}: noted again" if node.value is None
                                      else self.names.says(node, " still").rstrip(".")))  # fmt: skip
        return found

    def _update(self, changes: list[Change]) -> list[str]:
        nodes = [n for n in self._met(changes) if n.status != "proposed"]
        if len(nodes) > 3:
            entries = []
            for node in nodes:
                former = self._former(node)
                changed = former is not None and former.value not in (None, node.value)
                was = f" (was {clip(former.value or '')})" if former and changed else ""
                entries.append(self.names.entry(node, deep=False) + was)
            return [f"Changed: {'; '.join(entries[:MANY])}{rest(entries)}."]
        return self._values(nodes)

    def _replace(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            nodes = [
                n
                for n in self._met([change])
                if n.active and (names(op.new, n.value) or names(op.new, n.title))
            ]
            users = {n.parent for n in nodes} | {
                k for n in nodes for k in self.graph.dependents.get(n.id, ())
            }
            holders = (self.graph[key] for key in self.graph if key in users - {n.id for n in nodes})
            places = join([self.names.full(holder) for holder in holders if holder.active], limit=INLINE)
            new = f" with {clip(op.new)}" if nodes else ""
            found.append(f"Replaced {clip(op.old)}{new}{' in ' if places else ''}{places}.")
        return found

    def _remove(self, changes: list[Change]) -> list[str]:
        return self._gone(changes, "Removed", "removed")

    def _inactivate(self, changes: list[Change]) -> list[str]:
        return self._gone(changes, "Put", "inactive", " on hold")

    def _gone(self, changes: list[Change], verb: str, status: str, after: str = "") -> list[str]:
        gone = [n for n in self._met(changes) if n.status == status]
        tops, found = self.names.tops(gone), []
        single = [n for n in tops if not any(m is not n and n in self.graph.ancestors(m.id) for m in gone)]
        if single:
            told = [self.names.with_value(n) for n in single]
            found.append(f"{verb} {join(told, limit=INLINE)}{after}.")
        for node in tops:
            if node in single:
                continue
            inside = sum(node in self.graph.ancestors(other.id) for other in gone)
            everything = f"with its {inside} parts" if inside > 1 else "with its one part"
            word = "Cancelled" if verb == "Removed" and node.parent is None else verb
            found.append(f"{word} {self.names.full(node)} {everything}{after}.")
        if not found:  # removed and brought back within the turn, or the other way round
            for node in self._met(changes)[:1]:
                place = "in the plan" if node.active else "out of the plan"
                found.append(sentence(f"{self.names.full(node)} {be(node.title)} {place}"))
        return found

    def _restore(self, changes: list[Change]) -> list[str]:
        tops = [n for n in self.names.tops(self._met(changes)) if n.active]
        if not tops:
            return []
        if len(tops) == 1 and self.names.contents(tops[0]):
            contents = series(self.names.contents(tops[0]))
            return [sentence(f"{self.names.full(tops[0])} {be(tops[0].title)} back in the plan: {contents}")]
        if len(tops) == 1 and tops[0].value is not None and not self.names.is_plain(tops[0]):
            return [self.names.says(tops[0], after=" again")]
        names_ = join([self.names.full(n) for n in tops], limit=INLINE)
        return [sentence(f"{names_} {'are' if len(tops) > 1 else be(names_)} back in the plan")]

    def _rollback(self, changes: list[Change]) -> list[str]:
        found = []
        for node in self._met(changes):
            if not node.active:
                found.append(
                    sentence(f"{self.names.with_value(node)} {be(node.title)} out of the plan again")
                )
            elif (former := self._former(node)) is not None and not former.active:
                found.append(sentence(f"{self.names.with_value(node)} {be(node.title)} back in the plan"))
            else:
                found += self._values([node], "", " again")
        return found

    def _undo(self, changes: list[Change]) -> list[str]:
        nodes = self._met(changes)
        out = [n for n in nodes if not n.active]
        back: list[TaskNode] = []
        values: list[TaskNode] = []
        for node in nodes:
            former = self._former(node)
            if node.active:
                (back if former is not None and not former.active else values).append(node)
        found = ["Did that again." if any(s.act == "redo" for s in self.turn.steps) else "Undid that."]
        if tops := self.names.tops(out):
            told = join([self.names.with_value(n) for n in tops], limit=INLINE)
            found.append(sentence(f"{told} {'are' if len(tops) > 1 else be(told)} out of the plan"))
        if tops := self.names.tops(back):
            told = join([self.names.with_value(n) for n in tops], limit=INLINE)
            found.append(sentence(f"{told} {'are' if len(tops) > 1 else be(told)} back in the plan"))
        shown = self._values(values[:3], "", " again")
        if len(values) > 3:
            entries = join([self.names.entry(n, deep=False) for n in values], limit=INLINE)
            shown = [f"{len(values)} tasks are as before: {entries}."]
        return found + shown

    def _link(self, changes: list[Change]) -> list[str]:
        shared = any(step.act == "share" for step in self.turn.steps)
        pairs = [(c.operation.task, c.operation.on) for c in changes if isinstance(c.operation, Link)]
        pairs = [(one, on) for one, on in pairs if self.graph[one].active and self.graph[on].active]
        found = []
        for task, group in groupby(pairs, key=lambda pair: pair[0]):
            needed = [self.names.full(self.graph[on]) for _, on in group]
            name, told = self.names.full(self.graph[task]), join(needed, limit=INLINE)
            if shared:
                found.append(sentence(f"{told} {'are' if len(needed) > 1 else be(told)} used in {name} too"))
            else:
                found.append(sentence(f"{name} now {'depend' if plural(name) else 'depends'} on {told}"))
        return found

    def _unlink(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            name, other = self.names.full(self.graph[op.task]), self.names.full(self.graph[op.on])
            found.append(sentence(f"{name} no longer {'depend' if plural(name) else 'depends'} on {other}"))
        return found

    def _complete(self, changes: list[Change]) -> list[str]:
        nodes = self.names.tops([n for n in self._met(changes) if n.status == "done"])
        if not nodes:
            return []
        word = pick(("Marked {} as done.", "Done: {}."), nodes[0].title)
        return [word.format(join([self.names.full(n) for n in nodes], limit=INLINE))]

    def _confirm(self, changes: list[Change]) -> list[str]:
        nodes = [n for n in self._met(changes) if n.active]
        if not nodes:
            return []
        return [f"Confirmed: {join([self.names.entry(n, deep=False) for n in nodes], limit=MANY)}."]

    def _reject(self, changes: list[Change]) -> list[str]:
        found = []
        met = self._met(changes)
        if len(met) > 1 and all(not node.active for node in met):
            entries = [self.names.entry(node, deep=False, marked=False) for node in met]
            return [f"All right, without {join(entries, limit=MANY)}."]
        for node in met:
            former = self._former(node)
            offered = former.value if former is not None else None
            if offered and (offered != node.value or not node.active):
                place = "" if same(offered, node.title) else f" for {self.names.full(node)}"
                found.append(f"All right, not {clip(offered)}{place}.")
            else:
                found.append(f"All right, I took that back for {self.names.full(node)}.")
            if node.active and node.value is not None:
                found.append(self.names.says(node))
        return found

    def _split(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            node = self.graph[op.task]
            parts = [n for n in self._met([change]) if is_part(n) and n.parent == node.id and n.active]
            told = [
                f"{number}) {title_of(part)}: {series(contents)}"
                if (contents := self.names.contents(part)) else f"{number}) {title_of(part)}"
                for number, part in enumerate(parts, 1)
            ]  # fmt: skip
            if told:
                found.append(f"Split {self.names.full(node)} into {len(told)} parts: {'; '.join(told)}.")
            else:
                found.append(f"Split {self.names.full(node)}.")
        return found

    def _merge(self, changes: list[Change]) -> list[str]:
        found = []
        for change in changes:
            op: Any = change.operation
            node = self.graph[op.task]
            contents = series(self.names.contents(node))
            name = self.names.full(node)
            found.append(sentence(f"{name} {be(name)} one again{': ' if contents else ''}{contents}"))
        return found

    def _lists(self, done: Sequence[Change]) -> list[str]:
        """What each list holds now that members joined or left."""
        kinds = ("add", "remove", "inactivate", "restore", "rollback", "undo")
        holders: dict[str, None] = {}
        for node in self._met([c for c in done if c.operation.kind in kinds]):
            whole = self.graph.get(node.parent) if node.parent else None
            if whole is not None and whole.active and self._former(whole) and self.names.is_listed(node):
                holders[whole.id] = None
        found = []
        for key in holders:
            whole = self.graph[key]
            members = [n for n in self.graph.parts(key) if self.names.is_member(n) and n.status != "proposed"]
            if members:
                told = join([self.names.short(n) for n in members], limit=INLINE)
                found.append(f"Now in {self.names.full(whole)}: {told}.")
            elif not self.graph.parts(key):
                found.append(f"Nothing is left in {self.names.full(whole)}.")
        return found

    def _refusals(self) -> list[str]:
        """Why something was not done; a reason is given once."""
        found = []
        for change in self.turn.changes:
            if change.refused is not None:
                opening = pick(("I left that as it is", "Nothing changed there"), change.refused)
                found.append(sentence(f"{opening}: {clip(change.refused, 200)}"))
        return found

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
            told = dict.fromkeys(self.names.full(node) for node in nodes)
            name = join(told, limit=INLINE)
            many = len(told) > 1 or plural(name)
            found.append(
                sentence(
                    f"{name} {'depend' if many else 'depends'} on {self._with_value_now(cause)}; "
                    f"you may want to check {'them' if many else 'it'}"
                )
            )
        return found

    def _with_value_now(self, key: str) -> str:
        node = self.graph[key]
        return self.names.full(node) if node.active else f"{self.names.full(node)}, which was taken out"

    def _opened(self) -> list[str]:
        """What can go on now that something is done."""
        keys = dict.fromkeys(key for change in self.turn.changes for key in change.opened)
        nodes = [self.graph[key] for key in keys if self.graph[key].status == "open"]
        names_ = join([self.names.full(node) for node in nodes], limit=INLINE)
        return [f"You can go on with {names_} now."] if nodes else []


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
