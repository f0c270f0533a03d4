"""What questions are about: clauses that ask, as questions on tasks and slots."""

from __future__ import annotations

import re
from dataclasses import replace

from taskloom.agent.language.typed import kind_of, names_a_type
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.held import stems_in, tasks_having
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import has_former, is_member, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Asked, Detail
from taskloom.memory.claims import DONE, READY, TOTAL
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import words

from .asked_many import OF_MANY, AskedMany, on_day
from .giving import NOUNS
from .naming import ASKED_FOR
from .plain import one, words_outside
from .scoring import POINTING, content

_OF_A_THING = re.compile(
    r"\s+(?:costs?|prices?|comes?|starts?|arrives?|times?|dates?|be|going to be)$", re.IGNORECASE
)
_ASKING = re.compile(
    r"^(?:(?:on|at|in|by) )?(?:(?:how )?(?:many|much)|how long|what|which|whose)\b"
    r"(?:\s+(?:kind|sort|number|amount) of)?\s*",
    re.IGNORECASE,
)
_AT_FIRST = re.compile(
    r"\b(?:was|were|had|did|gave|said|wanted)\b.*\b(?:originally|initially|at first|first(?!\s+\w)"
    r"|(?:at|in|from) the (?:start|beginning)|at start|to begin with)\b",
    re.IGNORECASE | re.DOTALL,
)
_TOOK_OUT = re.compile(
    r"\b(?:i|we)\b(?: ever)?(?: (?:ask|tell|want|say)(?:ed)?(?: you)? to)?"
    r" (?:remove|cancel|delete|drop|take (?:[\w ]+ )?(?:off|out)|throw (?:[\w ]+ )?out|scrap|strike)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"\b(?:from (?:the )?(?:very )?(?:start|beginning|outset|first)|all along|always"
    r"|since the (?:start|beginning))\b",
    re.IGNORECASE,
)
_CAN_BEGIN = re.compile(
    r"\b(?:free|ready|able to|can|may|could|start(?:ed)?|begin|go ahead|get going)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"\W*(?:(?:and|so|but|ok|then|well|oh)\W+)*(?:is|are|was|were|has|have|had|did|does|do)\b", re.IGNORECASE
)
_HAS = re.compile(r"\W*(?:(?:and|so|but|ok|then|well|oh)\W+)*(?:has|have|had|did)\b", re.IGNORECASE)
_IS_DONE = re.compile(r"\b(?:done|finished|complete\w*|over|sorted|ticked|yet)\b", re.IGNORECASE)
_IN_THE_WAY = re.compile(
    r"\b(?:(?:in|on) (?:the|its|their|our|my) way|(?:hold|block|stopp|delay|prevent|keep)\w* .*(?:up|back)"
    r"|(?:block|stopp|delay|prevent)\w*|stuck|(?:wait|hang)\w* (?:for|on) (?:any|some)\w*)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"\b(?:no one|noone|nobody|has ?n['’]?o?t|have ?n['’]?o?t|without (?:any|some)(?:one|body))\b",
    re.IGNORECASE,
)
_ALL_OF_IT = re.compile(r"\b(?:all of (?:it|that|this|them)|it all|everything)\b", re.IGNORECASE)
_SUPPOSES = re.compile(r"\b(?:right|correct|true)\b\W*$|,\s*(?:no|yes|eh|is ?n['’]t it)\W*$", re.IGNORECASE)
_OF_LINKS = ("needs", "dependents", "status", "left", "next", "list")
_OF_EACH = ("value", "before", "history", "who", "status")
_KIND_OF_SLOT = {"price": ("amount", "count"), "deadline": ("date", "deadline")}
_BY_NAME = ("value", "why", "before", "history", "status")
_WHAT_HE_HAS = frozenset(words("thing task job item stuff duty shift lesson bit"))
_ANYBODY = frozenset(("everyone", "everybody", "anyone", "anybody", "someone", "somebody"))
_SLOTS = ("date", "time", "place", "who", "deadline")


def _each_asked(clause: Clause, kind: str) -> list[Clause]:
    """A question as one for each slot that it names, or each task: 'the room and the time'."""
    role = "S" if len(clause.all("S")) > 1 else "T"
    spans = clause.all(role)
    if kind not in _OF_EACH or len(spans) < 2 or (role == "T" and clause.all("S")):
        return [clause]
    others = tuple(span for span in clause.mentions if span not in spans)
    return [replace(clause, mentions=(*others, span)) for span in spans]


_BEFORE_A_VERB = re.compile(
    r"\b(?:do|does|did|is|are|am|was|were|will|shall|can|could|should|would|must|have|has|had) "
    r"(?:(?:i|we|you|they|he|she|it|\S+) )?$",
    re.IGNORECASE,
)
_OF_TOPIC = ["value", "who", "why", "before", "history", "claim", "status", "needs", "dependents", "list"]
_GOING_ON = re.compile(r"\b(?:when|where|how)(?:['’]?s| is| are)\b", re.IGNORECASE)  # 'when is he coming'


class Questions(AskedMany):
    """What the user asks."""

    def _read_ask(self, clause: Clause) -> None:
        kind = clause.act.removeprefix("ask.")
        if kind in (*OF_MANY, "who") and self.ask_of_all(clause, kind):
            return
        if kind == "count":
            self._read_count(clause)
            return
        if kind in ("value", "other") and (summed := self._summed(clause)):
            first, *more = summed
            items = tuple(Detail(slot="item", value=one.title, task=one.id) for one in more)
            self._act("ask", task=first.id, items=items, asked=Asked(kind="count", value=TOTAL))
            return
        if kind == "other":
            self._act("ask", asked=Asked(kind="summary", free=True))
            return
        if kind in ("value", "who") and _AT_FIRST.search(words_outside(clause, "VIO")):
            kind = "before"
        if kind == "ever" and re.search(r"\bnever\b", clause.text, re.IGNORECASE):
            kind = "claim"  # 'it never was' supposes something, and has no yes
        if kind == "value" and clause.all("V") and _SUPPOSES.search(clause.text):
            kind = "claim"
        for part in _each_asked(on_day(clause) if kind in OF_MANY else clause, kind):
            self._ask_one(part, kind)

    def _ask_one(self, clause: Clause, kind: str) -> None:
        """One question: of one task, for one slot of it."""
        name, slot = self._name_asked(clause), self._slot_wanted(clause, kind)
        value = self._person(one(clause, "VPO")) or None
        value = None if (value or "").lower() in _ANYBODY else value
        last, day = self.steps[-1] if self.steps and not (slot or value) else None, name
        points = kind in ("before", "history") and set(name.lower().split()) <= POINTING
        if points and last is not None and last.act == "ask" and last.task:
            self._act("ask", task=last.task, slot=last.slot, asked=Asked.model_validate({"kind": kind}))
            return
        node, name, value = self._node_asked(clause, kind, name, value)
        if kind == "who" and node is not None and (whose := self._having_day(day, node)) is not None:
            self._act("ask", task=whose.id, asked=Asked(kind="value"))  # 'who is on Friday'
            return
        if kind == "who" and (node is None or _NOBODY.search(clause.text)):
            if free := self._without_anybody(node) if _NOBODY.search(clause.text) else []:
                for task in free:
                    self._act("ask", task=task.id, slot="who", asked=Asked(kind="value"))
                return
            if node is None:
                self._ask_people(name)
                return
        if node is not None and slot is None and (other := self._another_kind(clause, node, kind)):
            node, slot = self.task_of(node), other
        if kind == "list" and node is not None and self._is_the_slot(name, node):
            kind = "value"  # 'what flights are there'
        if node is not None and is_slot(node):
            node, slot = self._owner_asked(node, name, slot, supposes=kind != "value" or value is not None)
        if kind == "list":
            node, slot = self._listed_by(clause, name, node, slot)
        node, slot = self._narrowed(clause, kind, node, slot, name=name, value=value)
        if node is None and name and not (slot or value) and kind in _BY_NAME:
            slot = None if set(words(name)) <= POINTING else name  # what the plan has not got, by its name
        self._asks(clause, kind, node, slot, value)

    def _node_asked(
        self, clause: Clause, kind: str, name: str, value: str | None
    ) -> tuple[TaskNode | None, str, str | None]:
        """What a question is about, its name and the value it supposes; of a person nothing is named."""
        past = kind in ("before", "history", "ever", "why", "claim", "dependents")
        if kind in OF_MANY and value is None and name and (kind_of(name) == "date" or self._has_tasks(name)):
            return self.place(clause) if clause.all("W") else None, "", self._person(name)
        if (
            kind in OF_MANY
            and value
            and self._has_tasks(value, alone=True)
            and (not clause.all("TISW") or (not clause.all("ISW") and set(words(name)) <= _WHAT_HE_HAS))
        ):
            return None, "", value  # what somebody has is not only what was spoken of
        node = self._asked_about(clause, kind, name, gone=None if past else False)
        if kind == "status" and node is not None and name and clause.all("P"):
            value = None  # 'has Olu started weighing out'
        return node, name, value

    def _listed_by(
        self, clause: Clause, name: str, node: TaskNode | None, slot: str | None
    ) -> tuple[TaskNode | None, str | None]:
        """The list that a question is for: of the name that it gives, else of a sort."""
        if slot and (held := self._list_asked(slot, node)) is not None:
            node, slot = held, None
        return self._list_of_sort(clause, name, node, slot)

    def _narrowed(
        self,
        clause: Clause,
        kind: str,
        node: TaskNode | None,
        slot: str | None,
        *,
        name: str,
        value: str | None,
    ) -> tuple[TaskNode | None, str | None]:
        """The slot, part or whole that a question is about, of the task that was found."""
        if node is None:
            return None, slot
        if node.value is None and kind in ("value", "before", "history"):
            node, slot = self._slot_asked(node, slot, kind, clause)
        else:
            node = self._whole_asked(node, kind, named=bool(name))
            if kind == "why" and value is None:
                node = self._why_asked(node, slot, clause, named=bool(name))
        links = kind in ("needs", "dependents") and not self.operations
        points = links and set(name.lower().split()) <= POINTING
        if (not name or points) and not clause.all("W"):
            return self._unnamed(node, kind), slot
        return node, slot

    def _asks(
        self, clause: Clause, kind: str, node: TaskNode | None, slot: str | None, value: str | None
    ) -> None:
        """A question as a step, with the act that it supposes and since when."""
        claims = kind in ("claim", "ever")
        if node is not None and value and claims and not clause.all("TISW"):
            node = self._claimed_at(node, value)
        if node is not None and value and claims and slot is None:
            node = self._slot_of_kind(node, value)
        asked: dict[str, object] = {"kind": "value" if kind == "who" else kind, "value": value}
        if kind == "status" and node is not None and not value:
            said = words_outside(clause, "TSWPIV")
            denied = _IN_THE_WAY.search(said) is not None
            begun = _HAS.match(clause.text) is not None
            if denied or (_CAN_BEGIN.search(said) and not _IS_DONE.search(said) and not begun):
                asked |= {"value": READY, "denied": denied}
            elif node.status == "open" and self.graph.parts(node.id) and _YES_OR_NO.match(clause.text):
                asked["value"] = DONE
        if claims and _TOOK_OUT.search(clause.text):
            asked["act"] = "remove"
        always = claims and node is not None and _ALWAYS.search(clause.text)
        self._act(
            "ask", task=node.id if node else None, slot=slot, asked=Asked.model_validate(asked),
            target="from the start" if always else "",
        )  # fmt: skip

    def _owner_asked(
        self, node: TaskNode, name: str, slot: str | None, *, supposes: bool
    ) -> tuple[TaskNode, str | None]:
        """The task of a slot that was found, and what of it is asked for, where that may be another slot.

        supposes: the question is not for a mere value.
        """
        if not supposes and slot is None:
            said = set(content(name))
            other = len(said) > 1 and not said <= set(words(f"{node.title} {node.value}"))
            return (self.task_of(node), name) if other and self.is_another(name, node) else (node, None)
        if slot and kind_held(node) == slot_name(slot) and set(content(name)) <= set(content(node.title)):
            return node, None  # 'what time is the taxi', which is at 16:45
        if slot and not set(content(slot)) & set(content(node.title)):
            return self.task_of(node), slot  # 'the shelf mark for the loan of Small Thunder'
        return node, slot

    def _is_of_value(self, kind: str, name: str, node: TaskNode) -> bool:
        """Whether a question is for a mere value: 'what flights are there', 'what is left of the budget'."""
        if kind == "left":
            return is_slot(node) and kind_held(node) in ("amount", "count")
        return kind == "list" and self._is_the_slot(name, node)

    def _is_the_slot(self, name: str, node: TaskNode) -> bool:
        """Whether a name is that of a slot which is no list and no member of one."""
        titled = set(content(name)) == set(content(node.title))
        return titled and is_slot(node) and not is_member(node) and not self.listed(node)

    def _another_kind(self, clause: Clause, slot: TaskNode, kind: str) -> str | None:
        """What is asked of a task that one of its values names: 'what time is Jones', who is the customer.

        None where the slot itself is meant: it is named, or of the kind that is asked for.
        """
        named = set(content(one(clause, "TI"))) & set(content(slot.title))
        if not is_slot(slot) or kind not in ("value", "why") or named:
            return None
        said = words_outside(clause, "TIPVW")
        asked = next((name for form, name in ASKED_FOR if form.search(said)), None)
        task = self.task_of(slot)
        if asked in ("time", "date", "place", "price", "duration", "deadline"):
            own = (kind_held(slot), slot_name(slot.title))
            return None if set(own) & {asked, *_KIND_OF_SLOT.get(asked, ())} else asked
        kinds = next((kinds for form, kinds in NOUNS if form.search(said)), ())
        held = [part for part in self.graph.parts(task.id) if kind_held(part) in kinds and part.id != slot.id]
        return held[0].title if len(held) == 1 and kind_held(slot) not in kinds else None

    def _name_asked(self, clause: Clause) -> str:
        """The task that a question names; nothing where its words only ask, or mean all there is."""
        name = _ASKING.sub("", one(clause, "TI"))
        whole = clause.act != "ask.status" or (_ALL_OF_IT.search(name) and _YES_OR_NO.match(clause.text))
        return "" if whole and self.says_all(name) else name

    def _slot_wanted(self, clause: Clause, kind: str) -> str | None:
        """The name of the slot that is asked for; who has something, unless somebody has a name for that."""
        said = _ASKING.sub("", one(clause, "S"))
        said = "" if said and self._names_no_slot(clause) else said
        name = "name" if said.lower() == "called" else self._slot_named(said)
        if kind == "who":
            return name if name and self._has_slot(name) else "who"
        return name or None

    def _names_no_slot(self, clause: Clause) -> bool:
        """Whether what a question marks as a slot (S) is only its verb, or the task: 'eating', 'the form'."""
        name = next(iter(clause.all("S")))
        said = set(content(name.text))
        having = [node for word in said for node in tasks_having(self.graph, {word})]
        if not having:
            verb = name.text.endswith("ing") and _GOING_ON.search(clause.text[: name.start])
            return bool(verb or _BEFORE_A_VERB.search(clause.text[: name.start]))
        topic = self.topic() if clause.all("T") else None  # 'which one is on the form'
        root = self.graph.root(topic.id) if topic is not None else None
        return root is not None and said <= stems_in(root).own and not any(map(is_slot, having))

    def _slot_named(self, name: str) -> str:
        """A slot's name as the plan has it: 'van' of 'van cost', where there is a van and no 'van cost'."""
        shorter = _OF_A_THING.sub("", name)
        if shorter in ("", name) or self._has_slot(name) or not self._has_slot(shorter):
            return name
        return shorter

    def _has_slot(self, name: str) -> bool:
        said = set(content(name))
        return any(
            said == set(content(node.title)) for node in tasks_having(self.graph, said) if is_slot(node)
        )

    def _slot_asked(
        self, node: TaskNode, slot: str | None, kind: str, clause: Clause
    ) -> tuple[TaskNode, str | None]:
        """The slot of a task that is asked about: by name or kind; of the past, one that has a past."""
        past = kind != "value"
        asked = next((one for form, one in ASKED_FOR if form.search(clause.text)), None)
        if slot is not None and not past:
            return self._elsewhere(node, slot, alone=not clause.all("TIW")), slot
        if slot is not None and (named := self._once_named(node, slot)) is not None:
            return named, None
        if slot is not None and (named := self._never_otherwise(node, slot)) is not None:
            return named, None
        if slot is None and not past and (held := self._of_asked_kind(node, asked)) is not None:
            return held, None
        found = self._asked_part(node, clause.text, past=past)
        if past and has_former(node) and re.search(r"\b(?:call\w*|names?|title)\b", clause.text):
            return node, None
        if past and (found is None or not found.history):
            found = self._changed_part(node, f"{slot or ''} {clause.text}") or found
        if found is not None:
            return found, None
        return node, slot or (asked if asked in _SLOTS and not past else None)

    def _whole_asked(self, node: TaskNode, kind: str, *, named: bool) -> TaskNode:
        """What is asked about where what is spoken of is a part: the list, who has the whole, its task."""
        if kind == "who":
            above = [node, *self.graph.ancestors(node.id)]
            for one_ in above:
                own = one_.id == node.id or not named
                inside = self.graph.subtree(one_.id)[1:] if own else self.graph.parts(one_.id)
                if any(map(is_assignee, inside)) and (own or one_.parent):
                    return one_
            return node
        if kind in ("claim", "ever") and is_assignee(node):
            return self.task_of(node)
        told = kind == "status" and (node.status == "done" or (named and not names_a_type(node.title)))
        if kind in _OF_LINKS and is_slot(node) and not (told and not is_assignee(node)):
            return self.task_of(node)  # what somebody waits for is what his task does
        if kind in OF_MANY and not named:
            while node.parent and not self.listed(node):
                node = self.graph[node.parent]
        return node

    def _unnamed(self, node: TaskNode, kind: str) -> TaskNode | None:
        """What a question is about that names nothing, where the topic has nothing of the kind asked for.

        Of links what was spoken of lately and has some; a list is all there is where the topic holds nothing.
        """
        lately = [self.task_of(self.graph[key]) for key in self.focus if key in self.graph]
        if kind == "dependents" and not self._dependents(node):
            return next(filter(self._dependents, lately), node)
        if kind == "needs" and not any(self.graph.waits_for(one.id) for one in self.graph.subtree(node.id)):
            return next((one for one in lately if self.graph.waits_for(one.id)), node)
        alone = node.parent is None and not self.listed(node)
        return None if kind == "list" and alone and len(self.graph.parts(None)) > 1 else node

    def _dependents(self, node: TaskNode) -> bool:
        """Whether something waits for a task."""
        return any(self.graph[key].active for key in self.graph.dependents.get(node.id, ()))

    def _asked_about(self, clause: Clause, kind: str, name: str, *, gone: bool | None) -> TaskNode | None:
        """What a question is about."""
        if name:
            within = self.place(clause)
            found = self.resolve(name, slots=True, gone=gone, within=within) or self.resolve(
                name, slots=True, gone=None
            )
            if found is None and kind in ("why", "before", "history", "ever"):
                found = self._once_called(name)
            if found is None and kind in ("value", "before", "history"):
                found = self._slot_called(name)
            return found or (self.topic() if kind == "claim" and one(clause, "VPO") else None)
        if clause.all("W"):
            return self.place(clause)
        slot = _ASKING.sub("", one(clause, "S"))
        if slot and kind in ("value", "before", "history", "claim"):
            topic = self.topic()
            if topic is not None and any(
                set(content(slot)) & set(words(p.title)) for p in self.graph.parts(topic.id)
            ):
                return topic
            named = self.which(slot, slots=True)
            return self.task_of(named) if named is not None and named.value is not None else topic
        if kind in _OF_TOPIC:
            return self.topic()
        return None
