"""Questions grounded: which tasks a question is about, and what it supposes of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.wording import entries, word_set
from taskloom.agent.language.words import content, kind_name, singular, slot_group
from taskloom.agent.plan.finder import Finder
from taskloom.agent.plan.roles import is_known, is_member, is_person_slot, words_of
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import Verdict, answer
from taskloom.memory.operations import Check, Question, QuestionKind, is_part
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import says

_GROUPS = {
    "where": ("place", "location", "destination", "hotel", "address"), "when": ("date", "deadline", "time"),
    "date": ("date", "deadline"), "until": ("date", "deadline"), "since": ("date",), "time": ("time",),
    "start": ("start",), "who": ("people", "assignee"), "amount": ("budget",), "duration": ("duration",),
    "count": ("count",),
}  # fmt: skip
"""The groups of slots that answer a question word."""

_KINDS = {
    "when": ("date", "time"), "date": ("date",), "until": ("date",), "since": ("date",), "time": ("time",),
    "amount": ("amount",), "duration": ("duration",),
}  # fmt: skip
"""The kinds of value that answer a question word."""

_ONE_OF_MANY = word_set(
    """item ingredient task thing one step person people participant guest attendee stop channel topic
    category material component part entry city place book song chore"""
)
_PEOPLE = content(
    "teachers supervisors speakers helpers volunteers players members crew band team panel chaperones actors"
)
_ALWAYS = re.compile(r"\s*\bfrom the start$")
_SESSIONS = re.compile(
    r"(?:\w+ )*(?:session|meeting|part|group|slot|block|event|appointment|call)s?", re.IGNORECASE
)

_TIMELY_ONLY = re.compile(
    r"(?:(?:on|at|in|by|for) )?(?:the )?(?:\w+ )?\S*\d\S*(?: (?:[ap]\.?m\.?|of \w+|euros?|dollars?|\w+))?",
    re.IGNORECASE,
)
_Claim = tuple[tuple[str, ...], str | None, TaskNode | None]
"""What a claim can be about: tasks, the value supposed of them, the container it is supposed to be in."""


class Asker(Finder):
    """A finder that turns the questions of an utterance into checks."""

    def ask(self, step: Step) -> Check | None:
        """The question of a step, grounded; None where the step asks nothing."""
        asked = step.asked
        if asked is None or (asked.kind == "claim" and not (asked.value or step.target or step.task)):
            return None
        kind, value = asked.kind, asked.value
        container = self._place(step)
        tasks: tuple[str, ...]
        if step.task is not None and step.task in self.graph:
            tasks = (step.task,)
        elif (
            kind in ("value", "before", "history", "why") and (owned := self._owned(step.target)) is not None
        ):
            tasks = (owned.id,)
        elif kind in ("claim", "ever"):
            tasks, value, container = self._claimed(step, container)
        else:
            kind, tasks, value = self._asked(step, container)
        for key in reversed(tasks[:3]):
            if self.graph[key].active:
                self.touch(key)
        question = Question(
            kind=kind,
            tasks=tasks,
            about=""
            if kind == "list" and not (tasks or container)
            else step.target or (step.within if kind == "list" else ""),
            value=value,
            container=container.id if container else None,
            act=asked.act,
            denied=asked.denied,
        )
        return Check(said=step.text[:300], question=question)

    def _owned(self, words: str) -> TaskNode | None:
        """'date of the training in Napier': that slot of that task."""
        found = re.fullmatch(r"(?:the )?([\w ]+?) (?:of|for) (?:the |my |our )?(.+)", words)
        owner = self.whole(found[2]) if found else None
        return self.slot(found[1], within=owner) if found and owner is not None else None

    def _place(self, step: Step) -> TaskNode | None:
        """The task that something is supposed or listed to be in."""
        if step.within_task and step.within_task in self.graph:
            return self.graph[step.within_task]
        if not step.within:
            return None
        return (
            self._container_named(step.within)
            or self.find(step.within, loose=False)
            or self.find(step.within, gone=True)
        )

    def _container_named(self, words: str) -> TaskNode | None:
        """Of the tasks that the words name, the one that holds others."""
        wanted = content(words)
        named = [
            hit.node for hit in self.hits(words) if wanted <= words_of(hit.node) and hit.node.value is None
        ]
        holding = [node for node in named if self.graph.parts(node.id) or node.depends_on]
        return holding[0] if holding else None

    # ---- what a question is about -----------------------------------------------------------------

    def _asked(
        self, step: Step, container: TaskNode | None
    ) -> tuple[QuestionKind, tuple[str, ...], str | None]:
        """Kind, tasks and value of a question that supposes nothing but a state."""
        kind = step.asked.kind if step.asked else "value"
        value = step.asked.value if step.asked else None
        if kind in ("left", "next", "summary"):
            whole = self._whole_named(step.target)
            return kind, (whole.id,) if whole else (), value
        if kind == "list":
            return self._listed(step, container)
        if kind == "count":
            return self._counted(step, value)
        if kind in ("needs", "dependents"):
            return self._connected(kind, step.target)
        if kind == "status":
            return kind, self._with_state(step.target, value), value
        if kind in ("why", "history"):
            found = self._saying(step.target) or self._nearest(step.target, gone=True)
            root = self.root()
            fallback = (
                ()
                if content(step.target) or root is None
                else tuple(node.id for node in self.focus_nodes()[:1])
            )
            return (
                kind,
                tuple(node.id for node in found[:2])
                or fallback
                or ((root.id,) if root and kind == "why" else ()),
                value,
            )
        if kind == "before":
            return kind, self._former_of(step, value), value
        return self._valued(step)

    def _valued(self, step: Step) -> tuple[QuestionKind, tuple[str, ...], str | None]:
        """value: of each thing that the words name; everything where they name nothing at all."""
        slots = [slot for slot in (step.slot or "").split() if slot in _GROUPS]
        pieces = entries(step.target)
        if not pieces or is_known(self.graph, step.target):
            pieces = [step.target]
        found = [key for piece in pieces for key in self._one(piece, slots)]
        if not found and not slots and not step.target:
            focus = (
                self.focus_nodes()[:1] if re.search(r"\b(?:it|that|this)\b", step.text, re.IGNORECASE) else []
            )
            return ("value", (focus[0].id,), None) if focus else ("summary", (), None)
        return "value", tuple(dict.fromkeys(found)), None

    def _one(self, words: str, slots: Sequence[str]) -> list[str]:
        """The tasks that answer for one thing: its slots of the kinds asked for, else itself."""
        known = self._known(words)
        if slots:
            if slots == ["start"] and (begun := self.slot("start")) is not None:
                return [begun.id]
            if slots == ["who"] and not content(known):
                return self._people(())
            owners = self._nearest(words)
            found = [key for slot in slots for key in self._slots(owners, slot, known)]
            return found or [node.id for node in owners[:1]]
        if not content(words):
            return [node.id for node in self.focus_nodes()[:1]] if known else []
        asked = content(words)
        head = re.split(r"\s+(?:of|for|in|on|to|at|from|with)\s+", words)[0]
        last = next((word for word in reversed(head.split()) if content(word)), "")
        if last and not is_known(self.graph, last) and not self._said_so(words):
            return []
        named = self._nearest(words)
        person = next((node for node in named if is_person_slot(node) and node.parent), None)
        if person is not None and asked <= content(person.value or person.title) | content(person.name):
            same = [
                node
                for node in self._all(words)
                if is_person_slot(node) and not is_member(node) and node.parent
            ]
            return [self.holder(node).id for node in same] or [person.id]
        return [node.id for node in named]

    def _said_so(self, words: str) -> bool:
        """Whether the first of the words may be a verb: 'giving Jake', 'play in Bristol'."""
        first, _, rest = words.partition(" ")
        return bool(rest) and bool(re.search(r"(?:ing|s|ed)$", first)) and bool(self._known(rest))

    def _known(self, words: str) -> str:
        """Those of the words that some task of the plan has or had."""
        return " ".join(word for word in words.split() if is_known(self.graph, word))

    def _all(self, words: str, *, gone: bool = False) -> list[TaskNode]:
        """Every task that the words name in full."""
        return [hit.node for hit in self.hits(words, gone=gone) if hit.covered > 0.99]

    def _nearest(self, words: str, *, gone: bool = False) -> list[TaskNode]:
        """The task that the words name best, with its equals; by the words that the plan knows."""
        words = self._known(words)
        if not content(words):
            return []
        strong = self._all(words) or (self._all(words, gone=True) if gone else [])
        slot = self.slot(words) if slot_group(words) else None
        if slot is not None and (not strong or slot_group(slot.name) == slot_group(words)):
            return [slot]
        if strong:
            first = strong[0]
            wanted = content(words)
            if wanted <= content(first.title) and is_member(first) and wanted != content(first.title):
                equals = [
                    n
                    for n in strong[1:12]
                    if n.parent == first.parent and wanted <= content(n.title) and is_member(n)
                ]
                return [first, *equals]
            return [first]
        if (node := self.find(words)) is not None:
            return [node]
        weak = [hit.node for hit in self.hits(words, gone=gone) if hit.covered >= 0.3]
        return weak[:1]

    def _saying(self, words: str) -> list[TaskNode]:
        """The slot that holds, or held, a number or name: the time for 'Why did it move to 11'."""
        marks = [word for word in words.split() if re.search(r"\d", word)]
        gone = [word for word in words.split() if is_known(self.graph, word) and not self.hits(word)]
        if gone:  # only a former state names it
            former = [
                node
                for node in self.graph.values()
                if any(content(gone[0]) <= words_of(state) for state in node.states())
            ]
            return [max(former, key=lambda node: (node.active, node.turn))] if former else []
        if not marks:
            return []
        said = [
            (sum(any(says(mark, state.value) for state in node.states()) for mark in marks), node)
            for node in self.graph.values()
            if node.value is not None
        ]
        found = [node for count, node in said if count == len(marks)]
        return [max(found, key=lambda node: (node.active, node.turn))] if found else []

    def _slots(self, owners: Sequence[TaskNode], asked: str, words: str) -> list[str]:
        """The tasks that answer a question word for some tasks, or for what the talk is about."""
        for owner in (*owners, *self._all(words)[:4]):
            for scope in (owner, *self.graph.ancestors(owner.id)):
                if found := self._slots_in(scope, asked):
                    return found
                if scope is owner and self._tells_itself(owner, asked, words):
                    return [node.id for node in owners] if owner in owners else [owner.id]
        for key in self.scopes() if not owners else ():
            if key and (found := self._slots_in(self.graph[key], asked)):
                return found
        if asked == "who":
            return self._people(owners)
        anywhere = [node.id for node in self.graph.active if self._answers(node, asked)]
        anywhere = self._foremost(anywhere, asked)
        return anywhere if len(anywhere) <= 3 and (not owners or asked in ("when", "date", "time")) else []

    def _slots_in(self, scope: TaskNode, asked: str) -> list[str]:
        """What answers a question word in one task; of places the nearest."""
        return self._foremost(self._fitting(scope, asked), asked)

    def _foremost(self, found: list[str], asked: str) -> list[str]:
        """Of several places the kind that is meant first: the venue before the hotel."""
        if asked != "where" or len(found) < 2:
            return found
        order = _GROUPS[asked]
        groups = {key: slot_group(self.graph[key].name) or slot_group(self.graph[key].title) for key in found}
        first = min((order.index(group) for group in groups.values() if group in order), default=0)
        return [key for key in found if groups[key] in (order[first], None)] or found

    def _fitting(self, scope: TaskNode, asked: str) -> list[str]:
        """All that answers a question word in one task."""
        if self._answers(scope, asked):
            return [scope.id]
        parts = [part.id for part in self.graph.parts(scope.id) if self._answers(part, asked)]
        if parts or scope.parent is None or asked == "who":
            return parts or (
                [node.id for node in self.graph.subtree(scope.id)[1:] if self._answers(node, asked)][:6]
                if asked != "who"
                else []
            )
        return [node.id for node in self.graph.subtree(scope.id)[1:] if self._answers(node, asked)][:3]

    def _answers(self, node: TaskNode, asked: str) -> bool:
        """Whether a task is what a question word asks for."""
        if asked == "who" and is_person_slot(node):
            return True
        if node.value is None:
            return False
        named = slot_group(node.name) or slot_group(node.title)
        if is_member(node) and not is_person_slot(node):
            named = None
        return named in _GROUPS[asked] or values.kind_of(node.value) in _KINDS.get(asked, ())

    def _tells_itself(self, node: TaskNode, asked: str, words: str) -> bool:
        """Whether a task says in its own words what is asked: 'delivered at 5 pm' when it is delivered."""
        text = f"{node.title} {node.value or ''}"
        if (
            node.value is not None
            and content(words)
            and content(words) <= content(node.title) | content(node.name)
        ):
            return True
        if asked in _KINDS:
            return any(span.kind in _KINDS[asked] for span in values.spot(text))
        if asked == "count":
            return values.number_of(text) is not None
        rest = content(text) - content(words)
        return bool(rest) and not self.graph.parts(node.id)

    def _people(self, owners: Sequence[TaskNode]) -> list[str]:
        """Who takes part, or who has which task."""
        root = self.graph.root(owners[0].id) if owners else self.root()
        if root is None:
            return []
        inside = self.graph.subtree(root.id)[1:] if not owners else self.graph.subtree(owners[0].id)[1:]
        direct = [node.id for node in inside if is_person_slot(node) or slot_group(node.name) == "people"]
        if not direct:
            of_people = [
                node for node in inside if slot_group(node.title) == "people" or content(node.title) & _PEOPLE
            ]
            direct = [node.id for node in of_people]
        return direct or [owner.id for owner in owners[:1]]

    # ---- kinds --------------------------------------------------------------------------------------

    def _whole_named(self, words: str) -> TaskNode | None:
        """The tree or branch that a summary is of; None is everything."""
        if not content(words):
            return None
        named = self._all(words)
        for node in named:
            kind = content(kind_name(node.title))
            own = (
                bool(kind & content(words))
                or content(node.title) == content(words)
                or content(node.name) == content(words)
            )
            if node.parent is None and own and (self.graph.parts(node.id) or len(named) == 1):
                return node
        exact = [
            node for node in named if self.graph.parts(node.id) and content(words) == content(node.title)
        ]
        return exact[0] if exact else None

    def _listed(
        self, step: Step, container: TaskNode | None
    ) -> tuple[QuestionKind, tuple[str, ...], str | None]:
        """list: the members of a container, or of what the talk is about."""
        if step.slot == "who":
            root = self.root()
            inside = self.graph.subtree(root.id) if root else ()
            people = tuple(
                node.id
                for node in inside
                if slot_group(node.name) in ("assignee", "people") or is_person_slot(node)
            )
            return ("value", people, None) if len(people) > 1 else ("summary", (), None)
        if re.search(r"\s+and\s+", step.within) and not is_known(self.graph, step.within):
            several = [self._container_named(piece) for piece in re.split(r"\s+and\s+", step.within)]
            if all(node is not None for node in several):
                return "list", tuple(node.id for node in several if node is not None), None
        if container is not None:
            if not container.active:
                return "list", (container.id,), None
            return (
                ("list", (container.id,), None)
                if self._holds(container)
                else ("value", (container.id,), None)
            )
        words = step.target or step.within
        if not words or not content(words):
            home = self.container("")
            return ("list", (home.id,), None) if home else ("list", (), None)
        noun = singular(words.split()[-1].lower())
        if noun in ("task", "thing", "to-do", "todo") and not step.within:
            return "list", (), None
        if group := self._of_kind(step.target):
            return "list", group, None
        named = [node for node in self._all(words) if self._holds(node) and node.value is None]
        if named:
            return "list", (named[0].id,), None
        home = self.container("")
        found = self._nearest(words)
        if found:
            return "value", tuple(node.id for node in found), None
        return "summary", (), None

    def _holds(self, node: TaskNode) -> bool:
        return bool(self.graph.parts(node.id)) or any(self.graph[key].active for key in node.depends_on)

    def _of_kind(self, words: str) -> tuple[str, ...]:
        """Members by what they are called: 'guests', 'ingredients of the salad'."""
        noun = singular(words.split()[-1].lower()) if words.split() else ""
        people = noun in ("guest", "participant", "attendee", "person", "people", "invitee")
        for scope in self.scopes():
            parts = self.graph.parts(scope) if scope else ()
            if any(
                part.name.rstrip("0123456789") == noun or (people and is_person_slot(part)) for part in parts
            ):
                if people:
                    return tuple(part.id for part in parts if is_person_slot(part))
                return (scope,) if scope else ()
        if noun in ("task", "thing", "to-do", "todo"):
            return ()
        for scope in self.scopes():
            if scope and noun in _ONE_OF_MANY and self._has_members(self.graph[scope]):
                return (scope,)
        return ()

    def _counted(self, step: Step, value: str | None) -> tuple[QuestionKind, tuple[str, ...], str | None]:
        """count: the parts of what was split, a number that a task holds, else the members."""
        words = step.target
        root = self.container("") or self.root()
        for whole in filter(None, (self.whole(words), root)):
            split = any(is_part(part) for part in self.graph.parts(whole.id, gone=True))
            if split and _SESSIONS.fullmatch(words.strip()):
                return "count", (whole.id,), "parts"
        known = self._known(words)
        if (number := self._number_slot(known)) is not None:
            return "value", (number.id,), None
        inside = self._container_named(" ".join(words.split()[1:]))
        if inside is not None:
            return "count", (inside.id,), value
        if group := self._of_kind(known) or self._of_kind(words.split()[0] if words.split() else ""):
            return "count", group, value
        named = [node for node in self._all(known) if self._holds(node) and node.value is None]
        if named:
            return "count", (named[0].id,), value
        if found := self._nearest(words):
            return "value", tuple(node.id for node in found), None
        return "count", (root.id,) if root and not content(words) else (), value

    def _connected(self, kind: QuestionKind, words: str) -> tuple[QuestionKind, tuple[str, ...], str | None]:
        """needs, dependents; what a task without prerequisites needs is what it holds."""
        strong = self._all(self._known(words)) or self._all(self._known(words), gone=True)
        if kind == "dependents":
            linked = [node for node in strong if self.graph.dependents.get(node.id)]
            found = linked[:1] or strong[:1] or self._nearest(words, gone=True)
            return kind, tuple(node.id for node in found), None
        linked = [node for node in strong if node.depends_on]
        holding = [node for node in strong if self._holds(node)]
        found = linked[:1] or holding[:1] or strong[:1] or self._nearest(words, gone=True)
        if found and self.graph.parts(found[0].id):
            return "list", (found[0].id,), None
        return kind, tuple(node.id for node in found), None

    def _with_state(self, words: str, value: str | None) -> tuple[str, ...]:
        """The tasks whose state is asked; () for all of them."""
        if not content(words):
            pronoun = value and value.startswith("is ")
            return tuple(node.id for node in self.focus_nodes()[:1]) if pronoun else ()
        found = self._nearest(words) or self._nearest(words, gone=True)
        if all(not content(words) <= words_of(node) for node in found):
            found = self._all(words, gone=True)[:1] or found
        return tuple(node.id for node in found)

    def _former_of(self, step: Step, value: str | None) -> tuple[str, ...]:
        """before: the tasks whose former values are asked, those that have some first."""
        slots = [slot for slot in (step.slot or "").split() if slot in _GROUPS]
        words = self._known(step.target)
        found: list[TaskNode] = []
        if content(words):
            left = [node for node in self.graph.values() if _lost(node, content(words))]
            if slots and left:  # what had it before the swap
                return tuple(node.id for node in left[:1])
            owners = self._nearest(words, gone=True)
            found = [self.graph[key] for slot in slots for key in self._slots(owners, slot, words)] or owners
            found = [node for node in found if has_former(node)] or found
            if not any(has_former(node) for node in found):
                near = [hit.node for hit in self.hits(words, gone=True) if hit.covered > 0.6]
                kin = [node for node in near if has_former(node)]
                inside = [
                    node for owner in owners for node in self.graph.subtree(owner.id) if has_former(node)
                ]
                found = kin[:1] or inside[:1] or found
        elif slots:
            last = self._last_changed()
            fitting = [
                node
                for node in self.graph.active
                if any(self._answers(node, slot) for slot in slots) and not is_member(node)
            ]
            found = sorted((node for node in fitting if has_former(node)), key=lambda node: -node.turn)[:1]
            found = found or fitting[:1] or ([last] if last else [])
        elif value is not None and (held := self._nearest(value, gone=True)):
            found = held
        else:
            focus = [node for node in self.focus_nodes()[:1] if has_former(node)]
            last = self._last_changed()
            found = focus or ([last] if last else [])
        members = [node for node in found if is_member(node)]
        if len(found) == 1 and self.graph.parts(found[0].id) and not has_former(found[0]):
            inside = [node for node in self.graph.subtree(found[0].id, gone=True)[1:] if has_former(node)]
            found = inside or found
        if members and len(members) == 1 and (alike := [
            part for part in self.graph.parts(members[0].parent, gone=True)
            if content(words) and any(content(words) <= content(state.title) for state in part.states())
        ]) and len(alike) > 1 and re.search(r"s$", words):  # fmt: skip
            return tuple(node.id for node in alike)
        if members and len(members) == len(found):
            kin = [
                part
                for part in self.graph.parts(members[0].parent, gone=True)
                if part.name.rstrip("0123456789") == members[0].name.rstrip("0123456789")
            ]
            if len(found) > 1 or (
                members[0].name.rstrip("0123456789") != "item"
                and words
                and content(words) <= content(members[0].name)
            ):
                found = kin
        return tuple(node.id for node in found)

    # ---- claims -------------------------------------------------------------------------------------

    def _claimed(self, step: Step, container: TaskNode | None) -> _Claim:
        """What a claim is about: of all that it can mean, what the history bears out, else the likeliest."""
        asked = step.asked
        assert asked is not None  # noqa: S101  # a claim is asked
        candidates = list(self._meanings(step, container))
        judged: list[tuple[int, int, _Claim]] = []
        for number, (tasks, value, place) in enumerate(candidates):
            question = Question(
                kind=asked.kind,
                tasks=tasks,
                about=step.target,
                value=value,
                act=asked.act,
                container=place.id if place else None,
            )
            verdict = answer(self.graph, question).verdict
            judged.append((_rank(verdict), number, (tasks, value, place)))
        return min(judged, key=lambda one: one[:2])[2]

    def _meanings(self, step: Step, container: TaskNode | None) -> Iterator[_Claim]:
        """All that a claim can mean, the likeliest first; never empty."""
        target = _ALWAYS.sub("", step.target)
        supposed = (step.asked.value if step.asked else None) or target
        entity = self._entity(supposed)
        if step.slot == "who" and (root := self.root()) is not None:
            yield from (
                [((node.id,), entity, None)]
                if (node := self._former(entity)) is not None
                else [((), entity, root)]
            )
            return
        if step.slot and (slot := self.slot(step.slot.replace("_", " "))):
            yield (slot.id,), entity, None
        if step.slot == "start" and (
            begun := next((n for n in self.graph.active if n.value and re.search(r"\bfrom\b", n.value)), None)
        ):
            yield (begun.id,), entity, None
        typed = list(self._typed(target, supposed, container))
        yield from typed
        if typed and _TIMELY_ONLY.fullmatch(supposed):
            return
        if container is not None:
            yield from self._in_container(container, entity, supposed)
        elif target:
            yield from self._of_subject(target, supposed, entity)
        else:
            yield from self._alone(supposed, entity)

    def _typed(self, target: str, supposed: str, container: TaskNode | None) -> Iterator[_Claim]:
        """A date, time, amount or number that is supposed, with the slot of its kind."""
        spans = (
            values.spot(supposed)
            or values.spot("on " + supposed)
            or (values.spot("at " + supposed) if re.fullmatch(r"\d{1,2}(?::\d\d)?", supposed.strip()) else [])
        )
        if not spans:
            return
        span = spans[-1]
        asked = {"amount": "amount", "count": "count"}.get(span.kind, span.kind)
        rest = f"{target} {supposed.replace(span.text, ' ')}"
        owners = [container] if container else [*self._nearest(rest), *self._nearest(target)]
        for owner in owners:
            if owner.value is not None:
                yield (owner.id,), span.text, None
        if asked in _GROUPS:
            near = owners or self.focus_nodes()[:1]
            for owner in near:
                if slots := self._slots_in(owner, asked) or (
                    self._slots([owner], asked, self._known(rest)) if asked in _KINDS else []
                ):
                    yield tuple(slots), span.text, None
            if not owners and (slots := self._slots([], asked, "")):
                yield tuple(slots), span.text, None
        if (number := self._number_slot(self._known(rest))) is not None:
            yield (number.id,), span.text, None
        if not owners and (focus := self.focus_nodes()[:1]):
            yield (focus[0].id,), span.text, None
        yield tuple(owner.id for owner in owners[:1]), span.text, None

    def _in_container(self, container: TaskNode, entity: str, supposed: str) -> Iterator[_Claim]:
        """A member that is supposed in a container, or the value of a slot."""
        if container.value is not None and not self.graph.parts(container.id):
            yield (container.id,), entity, None
            yield (), entity, self.holder(container)
            return
        member = next(
            (hit.node for hit in self.hits(entity, gone=True, within=container) if hit.covered > 0.99), None
        )
        if member is not None:
            yield (member.id,), entity, container
        if (
            not is_known(self.graph, entity)
            and not self.members(container)
            and (slot := self._untyped(container))
        ):
            yield (slot.id,), entity, None
        yield (container.id,), entity, container
        if supposed != entity:
            yield (container.id,), supposed, container

    def _of_subject(self, target: str, supposed: str, entity: str) -> Iterator[_Claim]:
        """'The ceremony at the Botanical Garden': either may be the task, and the other the value."""
        subjects = self._all(target)[:3] or self._nearest(target)[:1]
        if slot_group(target) and (slot := self.slot(target)):
            subjects = [slot, *subjects]
        objects = self._all(supposed, gone=True)[:3] or self._all(entity, gone=True)[:2]
        if not objects and (former := self._former(entity)) is not None:
            inside = self.graph.subtree(former.id, gone=True)
            if any(content(target) <= words_of(state) for node in inside for state in node.states()):
                yield (former.id,), entity, None
        for node in objects:
            if any(node.parent == other.parent and other is not node for other in subjects):
                yield (node.id,), entity, None
        name = self._entity(target)
        held = [self.holder(node) for node in subjects if is_person_slot(node) and not is_member(node)]
        meant: list[_Claim] = [((node.id,), entity, None) for node in (*held, *subjects)]
        turned: list[_Claim] = []
        for node in objects:
            if node.active or node.parent is not None:
                turned += [((node.id,), name, None), *([((), name, node)] if self._holds(node) else [])]
        person = not subjects or is_person_slot(subjects[0])
        yield from (*turned, *meant) if person else (*meant, *turned)
        for node in subjects:
            if (
                not is_known(self.graph, entity)
                and entity[:1].isupper()
                and (places := self._slots_in(node, "where"))
            ):
                yield tuple(places[:1]), entity, None
        for node in self._nearest(supposed):
            yield (node.id,), name, None
        if not subjects and not objects:
            yield from self._alone(f"{target} {supposed}", entity)

    def _alone(self, supposed: str, entity: str) -> Iterator[_Claim]:
        """'The theme pirates', 'Friday', 'caviar': a slot with its value, or only the value."""
        pieces = supposed.split()
        for size in range(len(pieces) - 1, 0, -1):
            for words, rest in ((pieces[:size], pieces[size:]), (pieces[-size:], pieces[:-size])):
                name, value = " ".join(words), " ".join(rest)
                if not content(name) or not content(value):
                    continue
                named = self.slot(name) if slot_group(name) else None
                exact = [
                    node
                    for node in self._all(name)
                    if content(name) <= content(node.title) | content(node.name)
                ]
                if is_known(self.graph, supposed) and len(pieces) < 3:
                    exact = [node for node in exact if node.value is not None]
                for node in [*([named] if named else []), *exact[:2]]:
                    yield (node.id,), value, None
        if (partly := self._partly(supposed)) is not None:
            yield (partly[0].id,), partly[1], None
        hit = self.find(entity, gone=True, loose=False) or self._former(entity)
        if hit is not None:
            yield (hit.id,), entity, None
        if entity[:1].isupper() and hit is None and (places := self._slots([], "where", "")):
            yield tuple(places[:1]), entity, None
        if hit is None:
            focus = [
                node
                for node in self.focus_nodes()[:1]
                if node.value is not None or not self.graph.parts(node.id)
            ]
            if focus and (len(entity.split()) == 1 or not entity.islower()):
                yield (focus[0].id,), entity, None
            elif (home := self.container("")) is not None:
                yield (), entity, home
        yield (), entity, None

    def _partly(self, words: str) -> tuple[TaskNode, str] | None:
        """A task that is as supposed but for one thing, and that thing: ('puzzle for Jake', 'drone')."""
        wanted = content(words)
        if len(wanted) < 2:
            return None
        for hit in self.hits(words)[:3]:
            present = words_of(hit.node)
            if not present & wanted or wanted <= present or hit.node.value is not None:
                continue
            former = [
                state for state in hit.node.history if len(wanted & words_of(state)) > len(wanted & present)
            ]
            if not former:
                continue
            missing = (wanted & words_of(former[-1])) - present
            told = [word for word in re.findall(r"[\w'-]+", words) if content(word) & missing]
            return hit.node, " ".join(told)
        return None

    def _former(self, entity: str) -> TaskNode | None:
        """The task that had all these words in one of its states."""
        wanted = content(entity)
        if not wanted:
            return None
        found = [n for n in self.graph.values() if any(wanted <= words_of(state) for state in n.states())]
        return max(found, key=lambda n: n.turn) if found else None

    def _entity(self, words: str) -> str:
        """The entity in a supposed phrase: its known part, else its proper nouns, else all of it."""
        words = _LEADING.sub("", re.sub(r"'s$", "", words.strip()))
        words = re.sub(r"\s+(?:as|for|in|on|to) (?:the|my|our) .+$", "", words)
        if not words or is_known(self.graph, words):
            return words
        proper = re.findall(r"(?:(?<=\s)|^)([A-Z][\w.-]*(?:\s+[A-Z][\w.-]*)*)", words)
        return max(proper, key=len) if proper else words


_LEADING = re.compile(
    r"""^(?:(?:it|that|this|we|i|you|they|he|she|there)\b(?:'s|'re)?\s*
    |(?:said|mention\w*|picked|pick|chose|have|had|going(?:\s+with)?|planned|booked|say|used?|asked?\s+for|wanted?
    |the|a|an|my|our|to|from|in|at|on|for|about|with|of|as|put|add(?:ed)?|go\s+with)\b\s+)*""",
    re.IGNORECASE | re.VERBOSE,
)


def _rank(verdict: Verdict | None) -> int:
    """How well a reading of a claim fits the history: what is or was so goes before what never was."""
    return {"holds": 0, "was": 1, "never": 2, "unknown": 3}[verdict.kind] if verdict else 3


def _lost(node: TaskNode, wanted: frozenset[str]) -> bool:
    """Whether a task was named by words that do not name it any more."""
    return not wanted <= words_of(node) and any(wanted <= words_of(state) for state in node.history)


def has_former(node: TaskNode) -> bool:
    """Whether a task held another value, or had another title, before."""
    present = node.value if node.value is not None else node.title
    return any((state.value if state.value is not None else state.title) != present for state in node.history)
