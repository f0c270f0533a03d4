"""What words name in the plan: tasks by their words, slots by their meaning, containers by what they hold. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.words import (
    GENERIC,
    GROUPS_OF_KIND,
    content,
    head_of,
    is_event,
    slot_group,
    slot_name,
)
from taskloom.memory.operations import is_part
from taskloom.memory.tasks import TaskGraph, TaskNode

from .roles import COUNTED, is_member, is_person_slot, stems_of, tasks_in_role, words_of


@dataclass(frozen=True, slots=True)
class Hit:
    """A task that words name: how well (score) and how much of the words it covers (0 to 1)."""

    node: TaskNode
    score: float
    covered: float


class Finder:
    """Finds tasks of one graph by the user's words, in the light of what the talk is about.

    graph: the plan as it is. focus: ids of the tasks in focus, the latest first. new: ids made in this utterance.
    """

    def __init__(self, graph: TaskGraph, focus: Iterable[str], new: Sequence[str] = ()) -> None:
        self.graph = graph
        self.focus = [key for key in focus if key in graph]
        self.new = list(new)

    def touch(self, key: str) -> None:
        """Put a task first in the focus."""
        self.focus = [key, *(other for other in self.focus if other != key)][:12]

    def root(self) -> TaskNode | None:
        """The root of the tree that the talk is about."""
        for key in self.focus:
            if key in self.graph and self.graph[key].active:
                return self.graph.root(key)
        roots = self.graph.parts(None)
        if len(roots) == 1:
            return roots[0]
        return max(roots, key=lambda node: (node.turn, node.id), default=None)

    def focus_nodes(self) -> list[TaskNode]:
        """The active tasks in focus, the latest first."""
        return [self.graph[key] for key in self.focus if key in self.graph and self.graph[key].active]

    def scopes(self) -> list[str | None]:
        """Where to look for a slot: the tasks in focus and what they are part of, nearest first."""
        found: list[str | None] = []
        for node in self.focus_nodes():
            for one in (node, *self.graph.ancestors(node.id)):
                if one.id not in found:
                    found.append(one.id)
        if (root := self.root()) and root.id not in found:
            found.append(root.id)
        return [*found, None]

    def hits(
        self,
        words: str,
        *,
        gone: bool = False,
        active: bool = True,
        within: TaskNode | None = None,
        covering: float = 0.0,
    ) -> list[Hit]:
        """Tasks that the words name, best first; only those that cover more than a share of the words."""
        wanted = content(words)
        if not wanted:
            return []
        index = self.graph.index(stems_of)
        unknown = [stem for stem in wanted if stem not in index and len(stem) > 2 and not stem.isdigit()]
        if unknown:  # 'lit review' is the literature review
            begun = {
                stem: min((other for other in index if other.startswith(stem)), default=stem)
                for stem in unknown
            }
            wanted = frozenset(begun.get(stem, stem) for stem in wanted)
        inside = (
            {node.id for node in self.graph.subtree(within.id, gone=True)} | set(within.depends_on)
            if within
            else None
        )
        found: list[Hit] = []
        order = {key: rank for rank, key in enumerate(self.focus)}
        roots = {
            self.graph.root(key).id: rank
            for rank, key in reversed(list(enumerate(self.focus)))
            if key in self.graph
        }
        last = head_of(words)
        for key in self._candidates(wanted, covering):
            node = self.graph[key]
            if (inside is not None and key not in inside) or not (active if node.active else gone):
                continue
            if node.value is not None and not is_member(node) and not owned_by(node, words):
                continue
            own = words_of(node) if node.active else stems_of(node)
            shared = own & wanted
            if not shared:
                continue
            chain = self.graph.ancestors(key)
            missing = (wanted - own).difference(*map(words_of, chain))
            for child in self.graph.parts(key) if missing else ():
                stems = words_of(child)
                if stems & missing and (
                    not is_member(child) or child.name.startswith(("participant", "guest", "assignee"))
                ):
                    missing -= stems
            covered = 1 - len(missing) / len(wanted)
            if covered <= covering:
                continue
            exact = (
                1.5
                if own == wanted or content(node.title) == wanted or content(node.value or "") == wanted
                else 0.0
            )
            head = 0.5 if last and last in own else 0.0
            root = chain[-1].id if chain else key
            score = (
                3 * covered + 1.5 * len(shared) / len(wanted) + len(shared) / len(own | wanted) + exact + head
                + (0.4 / (1 + order[key]) if key in order else 0)
                + (0.2 / (1 + roots[root]) if root in roots else 0)
                + (0.1 if node.active else 0)
            )  # fmt: skip
            found.append(Hit(node, score, covered))
        return sorted(found, key=lambda hit: (-hit.score, hit.node.turn, hit.node.id))

    def _candidates(self, wanted: frozenset[str], covering: float) -> Iterable[str]:
        """Ids of the tasks that may cover more than a share of the stems, with what they are part of and their parts."""
        index = self.graph.index(stems_of)
        having = [index.get(stem, ()) for stem in wanted]
        named = dict.fromkeys(key for keys in having for key in keys)
        if covering <= 1 / len(wanted):
            return named
        helping = [{*keys, *(self.graph[key].parent for key in keys)} for keys in having]
        return (
            key for key in named
            if sum(key in group or any(up.id in group for up in self.graph.ancestors(key)) for group in helping) > covering * len(wanted)
        )  # fmt: skip

    def find(
        self,
        words: str,
        *,
        gone: bool = False,
        active: bool = True,
        within: TaskNode | None = None,
        loose: bool = True,
    ) -> TaskNode | None:
        """The one task that the words name, or None."""
        words = words.strip()
        if not words:
            return None
        if (ordinal := self._ordinal(words)) is not None:
            return ordinal
        if found := re.fullmatch(
            r"(?:the |that )?(?:one|ones|meeting|call|task) (?:with|on|at|in|for|from|to|of|about|called|near) (.+)",
            words,
            re.IGNORECASE,
        ):
            inner = self.find(found[1], gone=gone, active=active, within=within, loose=loose)
            if inner is not None and (inner.value is not None or is_member(inner)):
                return self.holder(inner)
            if inner is not None:
                return inner
        hits = self.hits(words, gone=gone, active=active, within=within, covering=0.49 if loose else 0.99)
        strong = [hit for hit in hits if hit.covered > 0.99]
        if strong:
            return strong[0].node
        if (node := self.slot(words, within=within)) and active:
            return node
        if not loose:
            return None
        last = head_of(words)
        weak = [hit for hit in hits if hit.covered >= 0.5 and last and last in words_of(hit.node)]
        return weak[0].node if weak else None

    def _ordinal(self, words: str) -> TaskNode | None:
        """'The former', 'the latter', 'the second one' of what was named last."""
        found = re.fullmatch(
            r"(?:the )?(former|latter|first|second|third|last)(?: one| task)?", words.strip(), re.IGNORECASE
        )
        if not found:
            return None
        added = [
            node for node in self.graph.active if node.value is None and node.op == "add" and not node.history
        ]
        latest = max((node.turn for node in added), default=0)
        group = [node for node in added if node.turn == latest]
        tops = [
            node for node in group if node.parent is None or self.graph[node.parent] not in group
        ] or group
        if len(tops) == 1 and self.graph.parts(tops[0].id):
            tops = [node for node in self.graph.parts(tops[0].id) if node.value is None]
        index = {"former": 0, "first": 0, "second": 1, "third": 2, "latter": -1, "last": -1}[found[1].lower()]
        return tops[index] if len(tops) > 1 and index < len(tops) else None

    def slot(self, words: str, *, within: TaskNode | None = None, anywhere: bool = True) -> TaskNode | None:
        """The slot that the words name, the nearest to what is in focus."""
        group, name = slot_group(words), slot_name(words)
        scopes: list[str | None] = [within.id] if within else self.scopes()
        for scope in scopes:
            parts = [part for part in self.graph.parts(scope) if owned_by(part, words)]
            for node in parts:
                if (
                    not is_member(node)
                    and node.name == name
                    and (node.value is not None or (scope is not None and not self.graph.parts(node.id)))
                ):
                    return node
            wanted = content(words)
            for node in parts:  # 'the number' for the passport number
                if (
                    wanted
                    and not is_member(node)
                    and node.value is not None
                    and wanted <= content(node.title)
                ):
                    return node
            if group:
                for node in parts:
                    if (
                        not is_member(node)
                        and (slot_group(node.name) == group or slot_group(node.title) == group)
                        and node.value
                    ):
                        return node
        if not anywhere or within:
            return None
        everywhere = [
            node for node in self.graph.active
            if not is_member(node) and ((node.name == name and node.value is not None) or (group and slot_group(node.name) == group and node.value))
        ]  # fmt: skip
        return (
            max(everywhere, key=lambda node: (node.turn, -len(self.graph.ancestors(node.id))))
            if everywhere
            else None
        )

    def typed_slot(self, slot: str, scope: TaskNode | None) -> TaskNode | None:
        """The slot that a typed value goes to: the nearest of its kind."""
        groups = (
            GROUPS_OF_KIND.get({"budget": "amount"}.get(slot, slot), (slot,))
            if slot != "place"
            else ("place", "destination", "hotel")
        )
        kind = {"budget": "amount"}.get(slot, slot)
        scopes = [scope.id, *(n.id for n in self.graph.ancestors(scope.id))] if scope else self.scopes()
        for key in scopes:
            candidates = [self.graph[key]] if key else []
            candidates += [node for node in self.graph.parts(key) if not is_member(node)]
            if scope is not None and key == scope.id:
                candidates += [
                    node
                    for child in self.graph.parts(key)
                    if is_part(child)
                    for node in self.graph.parts(child.id)
                ]
            for node in sorted(candidates, key=lambda n: -n.turn):
                if node.value is None or is_member(node):
                    continue
                if slot_group(node.name) in groups or slot_group(node.title) in groups or node.name == slot:
                    return node
            for node in sorted(candidates, key=lambda n: -n.turn):
                if (
                    node.value
                    and not is_member(node)
                    and values.kind_of(node.value) == kind
                    and kind in ("date", "time", "amount", "email", "phone", "duration")
                ):
                    return node
        if scope is None and kind in ("date", "time", "amount"):
            typed = [
                node
                for node in self.graph.active
                if node.value and not is_member(node) and values.kind_of(node.value) == kind
            ]
            return typed[0] if len(typed) == 1 else None
        return None

    def container(self, words: str, *, person: bool = False) -> TaskNode | None:
        """The task that members go to: the one named, else the one in focus; None where neither is there."""
        words = words.replace(" participant", "")
        generic = not content(words) or words.lower() in GENERIC
        if (
            words
            and (node := self.whole(words) or self.find(words, loose=False))
            and not (node.value and not self.graph.parts(node.id))
        ):
            return (
                self.holder(node) if is_member(node) and not self.graph.parts(node.id) and generic else node
            )
        if not generic:
            return None
        for node in self.focus_nodes():
            for one in (node, *self.graph.ancestors(node.id)):
                peopled = any(is_person_slot(child) for child in self.graph.parts(one.id))
                if one.parent is None or any(is_member(child) for child in self.graph.parts(one.id)):
                    if person and one.parent is not None and not peopled:
                        continue
                    if (
                        one.parent is None
                        and one.name.startswith("task")
                        and not self.graph.parts(one.id)
                        and not person
                    ):
                        continue
                    return one
        root = self.root()
        if root is not None and (not content(words) or is_event(root.title) or self.graph.parts(root.id)):
            return root
        return None

    def holder(self, node: TaskNode) -> TaskNode:
        """What a task is part of; itself where it is a root."""
        return self.graph[node.parent] if node.parent else node

    def members(self, container: TaskNode) -> list[TaskNode]:
        """The members of a container: its numbered parts, else those without a value; shared ones included."""
        own = [node for node in self.graph.parts(container.id) if is_member(node) and not is_part(node)]
        shared = [
            self.graph[key]
            for key in container.depends_on
            if self.graph[key].active and is_member(self.graph[key])
        ]
        return [*own, *shared]

    def _untyped(self, node: TaskNode) -> TaskNode | None:
        """The one slot of a task whose value has no type, if there is just one."""
        found = [
            part
            for part in self.graph.parts(node.id)
            if part.value and not is_member(part) and values.kind_of(part.value) is None
        ]
        return found[0] if len(found) == 1 else None

    def _has_members(self, node: TaskNode) -> bool:
        return any(is_member(part) for part in self.graph.parts(node.id))

    def _linked(self, within: TaskNode, words: str) -> TaskNode | None:
        wanted = content(words)
        for key in within.depends_on:
            node = self.graph[key]
            if node.active and wanted and wanted <= words_of(node):
                return node
        return None

    def describe(self, node: TaskNode) -> str:
        """A task in words that tell it from others."""
        parts = [part.value for part in self.graph.parts(node.id) if part.value and not is_member(part)]
        people = [part.title for part in self.graph.parts(node.id) if is_member(part)]
        if node.value is not None:
            above = f" of {self.graph[node.parent].title}" if node.parent else ""
            return f"{node.title}{above} ({node.value})"
        told = ", ".join([*people[:3], *parts[:3]])
        return f"{node.title} ({told})" if told else node.title

    def _last_changed(self, within: TaskNode | None = None) -> TaskNode | None:
        """The task that was last changed from something else."""
        pool = self.graph.subtree(within.id, gone=True) if within else self.graph.values()
        changed = [
            node
            for node in pool
            if node.history and node.op in ("update", "replace", "rollback", "remove", "inactivate")
        ]
        return max(changed, key=lambda node: (node.turn, node.active), default=None)

    def whole(self, words: str, avoid: Sequence[TaskNode] = ()) -> TaskNode | None:
        """The task (not one of its values) that the words name."""
        hits = [hit.node for hit in self.hits(words, covering=0.99) if hit.node not in avoid]
        whole = (
            [node for node in hits if node.parent is None]
            or [node for node in hits if node.value is None]
            or hits
        )
        if (
            whole
            and whole[0].value is not None
            and whole[0].parent
            and not content(words) <= content(whole[0].title)
        ):
            return self.holder(whole[0])
        return whole[0] if whole else None

    def _counting(self, wanted: frozenset[str], *, people: bool) -> list[TaskNode]:
        """The active tasks that have a stem or are part of one that has; people: those that count people too."""
        index = self.graph.index(stems_of)
        named = dict.fromkeys(key for stem in wanted for key in index.get(stem, ()))
        found = {node.id: node for key in named for node in (self.graph[key], *self.graph.parts(key))}
        if people:
            found |= {node.id: node for node in tasks_in_role(self.graph, "counted")}
        return sorted(
            (node for node in found.values() if node.active), key=lambda node: (len(node.id), node.id)
        )

    def _number_slot(self, words: str) -> TaskNode | None:
        """The task that holds the number of something."""
        wanted = content(words)
        people = bool(
            wanted & content("people person guest guests participant attendee head seats adult pupil kid")
        )
        candidates = []
        for node in self._counting(wanted, people=people):
            above = words_of(self.graph[node.parent]) if node.parent else frozenset()
            own = words_of(node)
            if wanted & own or (people and node.name in COUNTED):
                score = 2.0 + len(wanted & own)
            elif wanted and wanted <= (own | above):
                score = 1.0
            else:
                continue
            holds = node.value if node.value is not None else node.title
            if values.number_of(holds) is not None and values.kind_of(holds) not in (
                "date",
                "time",
                "email",
                "phone",
            ):
                candidates.append((score, node))
        rank = {key: -position for position, key in enumerate(self.focus)}
        return (
            max(candidates, key=lambda pair: (pair[0], rank.get(pair[1].id, -99)))[1] if candidates else None
        )


def tool_results(graph: TaskGraph, words: str, focus: Iterable[str]) -> tuple[TaskNode, ...]:
    """Results of tools that words name: by title or slot, not by what they say.

    Without words those in the tree that the talk is about: the ones out of date, else the latest ones.
    """
    results = [node for node in graph.active if node.source.startswith("tool:")]
    if wanted := content(words):
        exact = [node for node in results if content(node.title) == wanted]
        kinds = [
            node
            for node in results
            if wanted <= content(f"{node.name} {node.source.removeprefix('tool:')}".replace("_", " "))
        ]
        return tuple(exact or kinds or [node for node in results if wanted <= content(node.title)])
    root = next((graph.root(key) for key in focus if key in graph), None)
    near = [node for node in results if root is None or graph.root(node.id) == root] or results
    stale = [node for node in near if node.stale_since is not None]
    last = max((node.turn for node in near), default=0)
    return tuple(stale or [node for node in near if node.turn == last])


def owned_by(node: TaskNode, words: str) -> bool:
    """Whether words can mean a slot that belongs to somebody: 'my name' is not the dog's name."""
    owner = re.match(r"(.+?)'s ", node.title)
    return owner is None or content(owner[1]) <= content(words)
