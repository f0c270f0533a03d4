"""How replies call the tasks of a plan: in a list, in a sentence, with what they hold. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property

from taskloom.agent.language.values import kind_of
from taskloom.agent.language.wording import (
    base,
    be,
    join,
    pluralised,
    sentence,
    spoken,
    the,
    title_of,
    value_of,
)
from taskloom.memory.actions import is_action
from taskloom.memory.operations import is_part, names
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import number_in, word_set

MANY = 20
"""A longer list is cut, and says how long it is."""

FEW = 3
"""The members of a kind that a reply names which has to be short."""

NARROW = 75
"""The characters of what a task holds, in a reply that has to be short."""

INLINE = 8
"""More entries than this are given as a bullet list, one a line."""

STATUS = {
    "open": "open", "proposed": "to be confirmed", "filled": "set", "done": "done", "inactive": "on hold",
    "removed": "removed",
}  # fmt: skip

_ANY_KIND = word_set("item step task part thing entry")
_COUNTS = word_set("count number quantity amount total")
_STATES = word_set("status progress state")
_FAR = re.compile(r"done|ready|far|made|written|sent|agreed|\w+[^\We]ed")  # names that say how far a task is
_NOT_FAR = word_set("allowed expected hundred needed planned required sacred shed shred sled wanted")
_PART = re.compile(r"(?:(?:about|around|nearly|almost) )?(?:the )?(?:first )?(\d+|half)\b(?:\D+(\d+)\b)?\D*")
_UNDONE = re.compile(r"\b(?:not|no|left|missing|remain(?:s|ing)?|to|more|without)\b|n['’]t\b")  # '16 not yet'


class Names:
    """How to call the tasks of one graph.

    untold: ids of those that are not told as parts of others. brief: whether the reply has to be short.
    """

    def __init__(self, graph: TaskGraph, *, untold: Collection[str] = (), brief: bool = False) -> None:
        self.graph, self.untold, self.brief = graph, untold, brief
        self._kinds: dict[str, Counter[str]] = {}

    def is_member(self, node: TaskNode) -> bool:
        """Whether a task is one of a list (a case in the cart, a participant), not a slot with a value."""
        if node.parent is None or is_part(node):
            return False
        if node.value is None or same(node.value, node.title):
            return not self.graph.parts(node.id)
        return self._kin(node.parent)[base(node.slot)] > 1

    def stands_in(self, node: TaskNode) -> bool:
        """Whether a task is one of a list, with parts of its own or without."""
        return self.is_member(node) or (node.parent is not None and not is_part(node) and node.value is None)

    def is_listed(self, node: TaskNode) -> bool:
        """Whether a member is told with its list: there is more of its kind, or nothing but members."""
        if node.parent is None or not self.is_member(node):
            return False
        return self._kin(node.parent)[base(node.slot)] > 1 or all(
            self.is_member(part) for part in self.graph.parts(node.parent)
        )

    def _kin(self, parent: str) -> Counter[str]:
        """How many parts a task has, and had, of each kind."""
        if parent not in self._kinds:
            slots = {
                part.slot for part in self.graph.parts(parent, gone=True)
            }  # one may come back after it left
            self._kinds[parent] = Counter(map(base, slots))
        return self._kinds[parent]

    @cached_property
    def _titles(self) -> Counter[str]:
        """How many tasks of the plan have each title."""
        return Counter(node.title.lower() for node in self.graph.active)

    def short(self, node: TaskNode) -> str:
        """A task in a list, without article: the member itself, else the title."""
        if self.is_member(node) and node.value is not None:
            return value_of(node)
        return title_of(node)

    def full(self, node: TaskNode) -> str:
        """A task in a sentence: with its article, and its whole where it may be another one's.

        So it is where another task has the same title, or where a value is of a part of a plan.
        """
        if self.is_member(node) and node.value is not None:
            return the(value_of(node))
        name, whole = the(title_of(node)), self.graph.get(node.parent or "")
        if whole is None or not node.active:
            return name
        of_a_part = node.value is not None and whole.parent is not None
        if of_a_part or self._titles[node.title.lower()] > 1:
            return f"{name} of {the(title_of(whole))}"
        return name

    def is_plain(self, node: TaskNode) -> bool:
        """Whether nothing but the task itself is to be told: no value of its own, no parts."""
        bare = node.value is None or same(node.value, node.title) or self.is_member(node)
        return bare and not self.graph.parts(node.id)

    def entry(self, node: TaskNode, *, open_too: bool = False, deep: bool = True, marked: bool = True) -> str:
        """A task with what it holds: 'destination Seattle', 'hotel near downtown (open)'."""
        title, value = title_of(node), value_of(node)
        if not value or names(value, node.title):
            text = title
        elif self.is_member(node) or names(node.title, value):
            text = value
        else:
            text = (
                f"{title} {value}" if len(title.split()) < 3 and not is_action(title) else f"{title}: {value}"
            )
        marks = {"done": "done", "proposed": "to be confirmed", "inactive": "on hold", "removed": "removed"}
        mark = marks.get(node.status, "open" if node.status == "open" and (value or open_too) else "")
        notes = [mark] if mark and marked else []
        if marked and node.stale_since is not None:
            notes.append("to be checked")
        if deep and (inner := self.contents(node)):
            notes.append(", ".join(inner))
        return f"{text} ({'; '.join(notes)})" if notes else text

    def short_entry(self, node: TaskNode) -> str:
        """A task with its own value, without its parts and marks."""
        value = "" if node.value is None or same(node.value, node.title) else value_of(node)
        if self.is_member(node):
            return self.short(node)
        if value and names(node.title, value):
            return value
        return f"{title_of(node)} ({value})" if value else title_of(node)

    def with_value(self, node: TaskNode) -> str:
        """'the hotel (near downtown)': what leaves the plan, with what it held."""
        name = self.full(node)
        plain = node.value is None or same(node.value, node.title) or self.is_member(node)
        return name if plain else f"{name} ({value_of(node)})"

    def says(self, node: TaskNode, now: str = "", after: str = "") -> str:
        """A task with its value as a sentence: 'The destination is now Seattle (it was Boston).'."""
        name = the(title_of(node)) if self.is_member(node) else self.full(node)
        if node.value is None or same(node.value, node.title):
            return sentence(f"{name} {be(name)}{now} {STATUS[node.status]}{after}")
        if names(node.title, node.value) or name.startswith('"'):  # nothing that can be a subject
            return sentence(f"{name}:{now} {value_of(node)}{after}")
        return sentence(f"{name} {be(name)}{now} {value_of(node)}{after}")

    def state(self, node: TaskNode) -> str:
        """One task as it stands."""
        name = self.full(node)
        if not node.active:
            end = "was put on hold" if node.status == "inactive" else "was removed from the plan"
            return sentence(f"{self.with_value(node)} {end} in turn {node.turn}")
        contents = self.in_brief(node) if self.brief else series(self.contents(node))
        value = "" if node.value is None or same(node.value, node.title) else value_of(node)
        if contents and not value:
            return sentence(f"{name}: {contents}")
        stale = " (to be checked, since something it depends on changed)" if node.stale_since else ""
        if node.status == "done":
            return sentence(f"{name} {be(name)} done{f': {value}' if value else ''}{stale}")
        if self.is_member(node) and node.parent:
            place = the(title_of(self.graph[node.parent]))
            return sentence(f"{name} {be(name)} in {place}")
        note = (" (to be confirmed)" if node.status == "proposed" else "") + stale
        more = f"; {contents}" if contents else ""
        return self.says(node, "", note + more)

    def so_far(self, node: TaskNode) -> str:
        """How far a task is: '30 labelled, 16 to go' of 46 boxes, 'half done'; '' where nothing says it."""
        return next(filter(None, map(self._how_far, self.graph.parts(node.id))), "")

    def _how_far(self, part: TaskNode) -> str:
        """How far a task is, where this slot of it says so."""
        name, value = part.title.lower(), value_of(part)
        if part.parent is None or not (name in _STATES or (_FAR.fullmatch(name) and name not in _NOT_FAR)):
            return ""
        found = _PART.fullmatch(value.lower()) if kind_of(value) in ("count", None) else None
        if found is None or _UNDONE.search(value.lower()):
            return value if name in _STATES else ""
        text = value if name in _STATES or name in value else f"{value} {name}"
        if not found[1].isdecimal():
            return text
        whole = int(found[2]) if found[2] else self._number_of(self.graph[part.parent])
        left = whole - int(found[1]) if whole is not None else -1
        return f"{text}, {left} to go" if left >= 0 else text

    def _number_of(self, node: TaskNode) -> int | None:
        """How many a task is about: 'label 46 boxes', or a slot for their number."""
        counts = (part.value for part in self.graph.parts(node.id) if base(part.slot) in _COUNTS)
        return next(filter(None, map(number_in, [node.title, *filter(None, counts)])), None)

    def contents_within(self, node: TaskNode, width: int) -> str:
        """What a task holds as one phrase; of one with more characters, the first and how many more."""
        contents = series(self.contents(node))
        if len(contents) <= width:
            return contents
        return join(self.contents(node, most=FEW, deep=False), limit=MANY, width=width)

    def in_brief(self, node: TaskNode) -> str:
        """What a task holds where there is little room: the first of it, or where that is long its number."""
        contents, parts = self.contents_within(node, NARROW), len(self.graph.parts(node.id))
        return contents if len(contents) <= 2 * NARROW else f"{parts} parts" if parts > 1 else "one part"

    def contents(self, node: TaskNode, *, most: int = MANY, deep: bool = True) -> list[str]:
        """The entries of a task's parts, members of one kind together: 'participants Alice and Bob'.

        What is known goes first, then what has a value and is open still. most: how many members of a kind
        are named. deep: whether parts are told with their own parts.
        """
        parts = [part for part in self.graph.parts(node.id) if part.id not in self.untold]
        mixed = any(part.status == "done" for part in parts)
        groups: dict[tuple[bool, str], list[TaskNode]] = {}
        for part in parts:
            late = part.status in ("open", "proposed") and part.value is not None
            groups.setdefault((late, base(part.slot)), []).append(part)
        found = []
        for (_, kind), group in sorted(groups.items(), key=lambda item: item[0][0]):
            entries = [self._how_far(part) or self.entry(part, open_too=mixed, deep=deep) for part in group]
            if all(self.is_member(part) for part in group) and (
                all(self._generic(part) for part in group) or self._needs_kind(kind, group, len(groups))
            ):
                name = spoken(kind)
                entries = [f"{pluralised(name) if len(group) > 1 else name} {join(entries, limit=most)}"]
            found += entries
        return found + self._shared(node) if parts else found

    def _shared(self, node: TaskNode) -> list[str]:
        """The entries of what a task uses of another one: the onions of the soup in the dumplings."""
        used = (self.graph[key] for key in node.depends_on)
        return [
            self.entry(n, deep=False) for n in used if n.active and n.parent != node.id and self.is_listed(n)
        ]

    def _generic(self, node: TaskNode) -> bool:
        """Whether a member's title only says what kind of member it is: 'participant' for Alice."""
        return not same(node.value or node.title, node.title) and same(title_of(node), base(node.slot))

    def _needs_kind(self, kind: str, group: Sequence[TaskNode], groups: int) -> bool:
        """Whether to say what members are, because there are others: 'participants Alice and Bob'."""
        return groups > 1 and kind not in _ANY_KIND and not any(names(spoken(kind), n.title) for n in group)

    def tops(self, nodes: Sequence[TaskNode]) -> list[TaskNode]:
        """Those that are not part of another one among them."""
        ids = {node.id for node in nodes}
        return [n for n in nodes if not any(above.id in ids for above in self.graph.ancestors(n.id))]


def same(one: str, other: str) -> bool:
    """Whether two texts are the same in any case."""
    return one.strip().lower() == other.strip().lower()


def bullets(entries: Sequence[str]) -> str:
    """One entry a line; of very many only the first."""
    lines = [f"\n- {entry}" for entry in entries[:MANY]]
    if len(entries) > MANY:
        lines.append(f"\n- and {len(entries) - MANY} more ({len(entries)} in all)")
    return "".join(lines)


def series(entries: Sequence[str]) -> str:
    """What a task holds as one phrase; of very many only the first. Commas part entries with 'and'."""
    if any(" and " in entry or len(entry) > 40 for entry in entries) and len(entries) <= MANY:
        return ", ".join(entries)
    return join(entries, limit=MANY)
