"""Which slot of a task a value is for: that of its name, its kind, or like it; never of another type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count

from taskloom.agent.grounding.exact import Exact
from taskloom.agent.grounding.exact_parts import in_style
from taskloom.agent.grounding.exact_places import Doubt, means_alike
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.referring import MOVES
from taskloom.agent.language.typed import PLACES, hour, kind_of, misfits, names_a_type, type_named, type_of
from taskloom.agent.language.wording import base
from taskloom.agent.language.words import one_stem, slot_group, slot_name
from taskloom.agent.plan.held import slot_titles
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import kind_held
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.embed import packaged
from taskloom.memory.operations import Update
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, words

from .hinting import Hinting
from .plain import one
from .scoring import POINTING, bare, content

_MENDS = re.compile(
    r"^(?:[\w ]{1,20}:)?\W*(?:(?:hm+|oh|ah|ok|okay|well|hey|so|um|uh|and|but)\b\W*)*"
    r"(?:no|nope|nah|not|actually|sorry|wait|make (?:it|that)|rather|or rather|correction|instead|i mean"
    r"|better|let['’]?s (?:make|say|go with|take|use|have))\b|\binstead\b|\brather\b|\bmake (?:it|that)\b",
    re.IGNORECASE,
)
OF_KIND = {"amount": "price", "count": "number"}
_NUMBERED = re.compile(r"\W*(?:\w+\s)?\d[\d.,]*(?!\w|[.,:]?\d)")
_FROM_TO = re.compile(r"(.+?)(\s?[-–]\s?|\s(?:to|until|till?)\s)(.+)", re.IGNORECASE)
_STARTING = re.compile(r"\b(?:starts?|starting|begins?|beginning|from)\b", re.IGNORECASE)
_ENDING = re.compile(
    r"\b(?:ends?|ending|clos(?:e|es|ing)|finish\w*|until|till?|runs? to|over by)\b", re.IGNORECASE
)
_SAME = re.compile(
    r"(?:at |on |in )?(?:the )?same (day|date|morning|afternoon|evening|night|weekend|week|time|hour"
    r"|place|price)",
    re.IGNORECASE,
)
_NUMBER_OF = re.compile(r"(?:number|amount|count) of (?=\S)", re.IGNORECASE)
_UNNAMED = ("detail", "place", "location")  # names that slots get whose values came without one
_CHANGED = re.compile(
    r"\b(?:now|moved?|moving|instead|changed?|switch\w*|swapp?\w*|no longer|new"
    r"|different|another|update|overwrite|alter\w*|wrong|correct\w*|prefer|raise|lower|increase|decrease|bump"
    r"|extend|reduce|cut)\b",
    re.IGNORECASE,
)
_IS_NOW = re.compile(r"\b(?:now|moved|no longer|instead|postponed|brought forward)\b", re.IGNORECASE)
_MOVED_TO = re.compile(
    r"\b(?:move[ds]?|moving|shift(?:ed|s)?|put)\s+(?:us|it|that|this|them)\s+(?:in)?to\b", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"\b(?:different|another|updat\w+|overwrite|alter\w*|wrong|correct(?:ed|ion)?|no longer)\b", re.IGNORECASE
)


class Fitting(Hinting, Exact):
    """Values in the slots of tasks; steps: what was done so far, doubts: how many clauses had no place."""

    def __init__(self, view: View, said: str) -> None:
        super().__init__(view)
        self.said = said
        self.steps: list[Step] = []
        self.doubts = 0
        self.listing = False  # whether this message lists things to do
        self.given = set[str]()  # what this message has said who has
        self.later = ""  # what it has said last to come after something

    def _act(self, act: str, **fields: object) -> None:
        step = Step.model_validate({"text": self.said, "act": act, **fields})
        self.step(step)
        self.steps.append(step)

    def _act_on(self, act: str, nodes: Iterable[TaskNode]) -> None:
        for node in nodes:
            self._act(act, task=node.id)

    def topic(self) -> TaskNode | None:
        """What is spoken of where nothing is named, by all signs of `topic` and the slots that are named."""
        topic = super().topic()
        if topic is None or self.clause is None:
            return topic
        return self._moved_elsewhere(self._having_slot(topic, self.clause), self.clause)

    def _moved_elsewhere(self, topic: TaskNode, clause: Clause) -> TaskNode:
        """The topic; where it has no place, and all is moved to one, what has: 'they moved us to room 2'."""
        told = clause.all("V")
        elsewhere = clause.act == "set" and _MOVED_TO.search(clause.text) is not None
        if not (elsewhere and told) or clause.all("SWIOX") or any(kind_of(one.text) for one in told):
            return topic
        places = (
            key for name in ("place", "location") for key in self.graph.index(slot_titles).get(name, ())
        )
        slots = [self.graph[key] for key in places if self.graph[key].active]
        owners = list(dict.fromkeys(slot.parent for slot in slots if slot.parent))
        if topic.id in owners or not owners:
            return topic
        lately = [self.task_of(self.graph[key]).id for key in self.focus if key in self.graph]
        return self.graph[min(owners, key=lambda key: lately.index(key) if key in lately else len(lately))]

    def _having_slot(self, topic: TaskNode, clause: Clause) -> TaskNode:
        """The topic; where it has no slot of the name that must be there, the task that has one."""
        names = clause.all("S")
        given = clause.act in ("add", "task", "assign") or (clause.act == "set" and not changes(clause))
        if not names or clause.all("TWI") or given:
            return topic
        said = [name.text for name in names] if clause.act.startswith("ask.") else [names[0].text]
        index, asks = self.graph.index(slot_titles), clause.act.startswith("ask.")
        titles = {
            title for title in index for name in said
            if set(content(title)) == set(content(name)) or (asks and means_alike(title, name))
        }  # fmt: skip
        named = (self.graph[key] for title in titles for key in index[title])
        slots = [node for node in named if node.active and is_slot(node) and node.title in titles]
        owners = list(dict.fromkeys(node.parent for node in slots if node.parent))
        if not owners or topic.id in owners:
            return topic
        lately = [self.task_of(self.graph[key]).id for key in self.focus if key in self.graph]
        near = [key for key in lately if key in owners]
        return self.graph[near[0]] if near else self.graph[owners[0]] if len(owners) == 1 else topic

    def _doubt_unknown(self, clause: Clause) -> None:
        """Hold that what is to move is in the plan.

        Raises:
            Doubt: it is not: 'move the appointment to 11', among visits.
        """
        name = one(clause, "T")
        moved = MOVES.match(clause.text) or (self._held_elsewhere(clause) and _IS_NOW.search(clause.text))
        known = not name or not self.graph.active or not moved
        if not known and not names_a_type(bare(name)) and self.lacks(bare(name)):
            raise Doubt(clarifications.NOT_FOUND_TO_CHANGE(words=bare(name)))

    def _held_elsewhere(self, clause: Clause) -> bool:
        """Whether some task has a value of the kind that a clause gives, which this may be a change of."""
        kinds = {kind_of(span.text) for span in clause.all("V")} & {"date", "time", "amount"}
        return (
            any(is_slot(node) and kind_held(node) in kinds for node in self.graph.active) if kinds else False
        )

    def _changed(self, owner: TaskNode, told: Detail, clause: Clause) -> TaskNode | None:
        """The slot that a clause gives a new value by another name: the one of its old value, or its type."""
        old, kind = set(content(one(clause, "OX"))), kind_of(told.value)
        slots = [part for part in self.graph.parts(owner.id) if is_slot(part) and not is_assignee(part)]
        saying = [part for part in slots if old and old <= set(words(part.value or ""))]
        if len(saying) == 1 and kind_held(saying[0]) in (kind, None):
            return saying[0]
        name = told.slot.replace("_", " ")
        if (shorter := _said_in_short(slots, name, kind)) is not None:
            return shorter
        by_kind = told.value if kind != "date" or names_a_type(name) or slot_group(name) else ""
        if (plain := self.plain_slot(owner, name, by_kind)) is not None:
            return plain  # what closes on the 20th has no other date
        last = self.graph.get(next(iter(self.focus), ""))
        if set(one(clause, "T").lower().split()) & POINTING and last in slots and kind_held(last) == kind:
            return last  # 'the budget, make it 3000' of what was just called the limit
        self._doubt_other_name(owner, told, clause)
        unnamed = [
            part for part in slots if base(part.slot) in _UNNAMED and kind_of(part.value or "") is None
        ]
        return self._most_like(told.value, unnamed) if kind is None and unnamed else None

    def _same_value(self, owner: TaskNode, told: Detail, clause: Clause) -> TaskNode | None:
        """The slot of a task whose value a new one without a name takes the place of."""
        mends = bool(clause.all("XO")) or _MENDS.search(clause.text) is not None
        kind = kind_of(told.value)
        slots = [
            one for one in self.graph.parts(owner.id)
            if one.value is not None and not is_member(one) and not is_assignee(one)
            and (mends or one.turn != self.view.turn or one.op == "restore")
        ]  # fmt: skip
        if old := one(clause, "OX"):
            saying = [node for node in slots if set(content(old)) <= set(words(node.value or ""))]
            if len(saying) == 1:
                return saying[0]
        if kind is not None:
            held = [node for node in slots if kind_held(node) == kind and not _is_place(node)]
            if (
                not held and kind == "count" and hour(told.value) and told.slot != "people"
            ):  # 'can we do 11 instead?'
                held = [node for node in slots if kind_held(node) == "time"] if mends else []
            if not held and kind == "count":  # 27 each, where it was 20 quid each
                held = [node for node in slots if kind_held(node) == "amount"]
            named = [node for node in held if slot_name(node.title) == told.slot]
            if (
                kind == "date"
                and not (named or mends)
                and not all(self._is_open(one, clause) for one in held)
            ):
                return None  # 'the last day is 1 july' is no new start of the course
            if len(named) == 1 or len(held) == 1:
                fits = told.slot in ("detail", kind, OF_KIND.get(kind))
                return (named or held)[0] if fits or told.slot == type_named(held[0].title) else None
            return None
        if told.slot not in ("detail", "place", "location"):
            return None
        own = [node for node in slots if kind_of(node.value or "") is None]
        shares = [node for node in own if set(content(told.value)) & set(content(node.value or ""))]
        if len(shares) == 1:
            return shares[0]
        places = [node for node in own if set(words(node.title)) & PLACES]
        if told.slot in ("place", "location") and len(places) == 1:
            return places[0]
        if not own or not (mends or _CHANGED.search(clause.text)):
            return None
        return self._most_like(told.value, own) or (max(own, key=lambda one: one.turn) if mends else None)

    def _is_open(self, slot: TaskNode, clause: Clause) -> bool:
        """Whether a nameless value may take a slot's place: by its name, a word of change or the reply."""
        if names_a_type(slot.title) or _CHANGED.search(clause.text):
            return True
        heard = {*words(self.view.exchanges[-1][1] if self.view.exchanges else ""), *words(self.said)}
        return bool(set(words(slot.title)) - STOP & heard) or set(words(slot.value or "")) <= heard

    def _most_like(self, value: str, slots: Sequence[TaskNode]) -> TaskNode | None:
        """The slot whose value is most like another one in meaning, if clearly so."""
        vectors = packaged()([value, *(f"{node.value}" for node in slots)])
        scores = sorted(((float(vectors[0] @ vectors[n + 1]), n) for n in range(len(slots))), reverse=True)
        clear = len(scores) == 1 or scores[0][0] - scores[1][0] > 0.08
        return slots[scores[0][1]] if scores[0][0] > 0.3 and clear else None

    def _set_one(self, node: TaskNode, told: Detail, clause: Clause, *, named: bool) -> None:
        """A value for a slot; nothing where it is to stay as it is: 'at eight, the same evening'."""
        node = self.graph[node.id]
        known = _SAME.fullmatch(told.value)
        if known is None or not self._has_kind(self.task_of(node), known[1].lower()):
            self._set_value(node, told, clause, named=named)

    def _set_value(self, node: TaskNode, told: Detail, clause: Clause, *, named: bool) -> None:
        """A value for a slot: the one meant, the only one of its kind, that of its name, else a new one."""
        owner = self.task_of(node)
        if (slot := self._misfit(node, told, named=named)) is not None:
            node, told, named = owner, self._of_own_type(slot, told), True
        number = _is_number(told.value)
        if owner.id != node.id and not named:
            held, new = kind_of(node.value or ""), kind_of(told.value)
            if number and held is None and (_NUMBERED.match(node.value or "") or kind_held(node) == "count"):
                self._act("set", task=node.id, value=with_number(node.value or "", told.value))
                return
            other = held is None and new in ("date", "time", "amount") and kind_held(node) != new
            if held == new or (None in (held, new) and not other) or "count" in (held, new):
                self._act("set", task=node.id, value=in_style(node.value or "", told.value))
                return
        counts = not named and node.value is None and clause.act != "task" and told.slot != "price"
        if counts and _in_number_of(node.title, told.value):
            self._act("set", task=node.id, value=with_number(node.title, told.value))
            return
        if not named and (slot := self._same_value(owner, told, clause)) is not None:
            value = self._end_told(slot, in_style(slot.value or "", told.value), clause)
            if number and kind_of(slot.value or "") not in ("date", "time"):
                value = with_number(slot.value or "", value)
            self._act("set", task=slot.id, value=value)
            return
        held_slot = self._beginning(owner, told) if named or changes(clause) else None
        if held_slot is not None:  # also 'room 217' for the room number
            value = self._end_told(held_slot, in_style(held_slot.value or "", told.value), clause)
            if number and kind_held(held_slot) in ("count", "amount") and kind_of(told.value) == "count":
                value = with_number(held_slot.value or "", value)
            self._act("set", task=held_slot.id, value=value)
            return
        plain = self._changed(owner, told, clause) if named and changes(clause) else None
        if plain is not None and plain.turn != self.view.turn:
            self._act("set", task=plain.id, value=told.value)
            return
        if told.slot == "detail" or (not named and self._set_in_this_turn(owner, told.slot)):
            taken = {slot_name(one.title) for one in self.graph.parts(owner.id)}
            names = (told.slot if number == 1 else f"{told.slot} {number}" for number in count(1))
            free = next(name for name in names if slot_name(name) not in taken)
            told = told.model_copy(update={"slot": free})
        former = next((p.value for p in self.graph.parts(owner.id) if slot_name(p.title) == told.slot), None)
        told = told.model_copy(update={"value": in_style(former or "", told.value)})
        self._act("set", task=owner.id, details=(told,))

    def _doubt_other_name(self, owner: TaskNode, told: Detail, clause: Clause) -> None:
        """Ask about a slot that there is none of, and that is said to have had another value.

        Raises:
            Doubt: one of another name holds a value of that kind: 'a different deposit', where it is the
                security.
        """
        kind = kind_of(told.value)
        held = [
            part for part in self.graph.parts(owner.id)
            if kind is not None and is_slot(part) and not is_assignee(part) and kind_held(part) == kind
        ]  # fmt: skip
        if len(held) == 1 and held[0].turn != self.view.turn and _ANOTHER.search(clause.text):
            (slot,), name = held, told.slot.replace("_", " ")
            question = (
                f"I have no {name} yet. Is it the {slot.title} ({slot.value}) that is {told.value} now?"
            )
            raise Doubt(question, (slot.title,), (Update(task=slot.id, value=told.value),))

    def _end_told(self, slot: TaskNode, value: str, clause: Clause) -> str:
        """A value; where it is one end of what has two, with the other one: '10 to 4.30'."""
        both = _FROM_TO.fullmatch(slot.value or "")
        if both is None or _FROM_TO.fullmatch(value):
            return value
        kinds = {kind_of(text, "at ") for text in (both[1], both[3], value)} - {"count"}
        if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)?", both[1]) and kind_of(both[3]) == "date":
            kinds.discard("time")  # '12 to 16 May'
        if kinds not in ({"time"}, {"date"}):
            return value
        said = re.sub(r"[^\w ]", " ", clause.text)
        if _ENDING.search(said):
            return f"{both[1]}{both[2]}{value}"
        return f"{value}{both[2]}{both[3]}" if _STARTING.search(said) else value

    def _has_kind(self, owner: TaskNode, name: str) -> bool:
        """Whether a task has a slot of what is to be the same: a date for 'the same evening'."""
        kind = name if name in ("time", "place", "price") else "date"
        return any(kind in (kind_held(part), type_of(part.title, "")) for part in self.graph.parts(owner.id))

    def _misfit(self, node: TaskNode, told: Detail, *, named: bool) -> TaskNode | None:
        """The slot that a value is said of and that can never hold it."""
        slot = node if is_slot(node) else None
        if slot is None and named:
            slot = next((p for p in self.graph.parts(node.id) if slot_name(p.title) == told.slot), None)
        if slot is None or is_assignee(slot) or told.slot == "who":
            return None
        held = slot.value or ""
        costs = told.slot == "price" and not re.search(r"\d", held) and kind_held(slot) is None
        return slot if costs or misfits(slot.title, held, told.value) else None

    def _of_own_type(self, slot: TaskNode, told: Detail) -> Detail:
        """A value that a slot cannot hold, for one of its own type: the time beside the date, a room's price.

        What a quartet costs is no music.

        Raises:
            Doubt: a type has no price.
        """
        kind = kind_of(told.value) or "detail"
        name = "price" if told.slot == "price" else OF_KIND.get(kind, kind)
        held = type_of(slot.title, slot.value or "")
        if {kind, held} <= {"date", "time"} and names_a_type(slot.title):
            return Detail(slot=name, value=told.value)
        if names_a_type(slot.title) and held != "place":
            raise Doubt(f"{told.value} is no {slot.title}. What is {told.value} for?")
        said = one(self.clause, "ST") if self.clause is not None else ""
        said = said if said and set(words(said)) & set(words(f"{slot.title} {slot.value}")) else slot.title
        return Detail(slot=slot_name(f"{said} {name}").replace("_", " "), value=told.value)

    def _beginning(self, owner: TaskNode, told: Detail) -> TaskNode | None:
        """The slot of that name, else the one of the value's type that says more: 'outbound' its date."""
        if told.slot in ("detail", "who") or self._set_in_this_turn(owner, told.slot):
            return None
        slots = [p for p in self.graph.parts(owner.id) if is_slot(p) and not is_assignee(p)]
        said, kind = set(words(_NUMBER_OF.sub("", told.slot.replace("_", " ")))), kind_of(told.value)
        exact = [part for part in slots if set(words(part.title)) == said]
        exact = exact or [
            part for part in slots if said and set(words(part.title)) - STOP == said - STOP != set()
        ]
        typed = [part for part in slots if kind in (kind_held(part), kind_of(part.value or ""))]
        more = [part for part in typed if said and said < set(words(part.title))]
        alike = [part for part in more if kind or _ends(part.title, told.slot)]
        found = exact or alike or [part for part in typed if means_alike(part.title, told.slot)]
        found = found or [part for part in typed if one_stem(part.title, told.slot)]
        if (
            not found and kind == "count" and _NUMBER_OF.match(told.slot.replace("_", " "))
        ):  # 'detail 4 shots'
            found = [
                part for part in typed if base(part.slot) in _UNNAMED and said <= set(words(part.value or ""))
            ]
        return found[0] if len(found) == 1 else None

    def _set_in_this_turn(self, owner: TaskNode, slot: str) -> bool:
        """Whether this very message gave a slot its value."""
        parts = self.graph.parts(owner.id)
        return slot != "who" and any(
            one.turn == self.view.turn and one.op != "restore" and slot_name(one.title) == slot
            for one in parts
        )


# ---- values -------------------------------------------------------------------------------------------


def _said_in_short(slots: Sequence[TaskNode], name: str, kind: str | None) -> TaskNode | None:
    """The one slot of a value's kind whose name says less of the same: 'bill' for the 'expected bill'."""
    said = set(content(name))
    short = [
        part for part in slots
        if kind is not None and kind_held(part) == kind and set(content(part.title)) < said
        and content(part.title)[-1] in (content(name)[-1], content(_NUMBER_OF.sub("", name))[-1])
    ]  # fmt: skip
    return short[0] if len(short) == 1 else None


def changes(clause: Clause) -> bool:
    """Whether a clause says that there was another value before."""
    return bool(clause.all("OX") or _MENDS.search(clause.text) or _CHANGED.search(clause.text))


def _ends(title: str, name: str) -> bool:
    """Whether two names of slots are of the same thing: 'number' and 'passport number'."""
    return words(title)[-1:] == words(name.replace("_", " "))[-1:]


def _is_place(slot: TaskNode) -> bool:
    """Whether a slot is a place by its name, with a number in it: 'room 4B'."""
    return bool(set(words(slot.title)) & PLACES)


def _is_number(text: str) -> bool:
    """Whether a value is only a number: '15', 'three hundred'."""
    digits = re.fullmatch(r"[^\w]{0,3}\d[\d.,]*", text) is not None
    spelt = set(re.findall(r"[^\W\d_]+", text.lower())) - {"and", "a", "thousand"}
    return digits or (bool(spelt) and spelt <= values.NUMBER_WORDS.keys())


def _in_number_of(title: str, value: str) -> bool:
    """Whether a value takes the place of a number in a title: 15 in '20 big jars', 65 cm in '55 cm rail'.

    'The couple' is no number of things.
    """
    counts = re.match(r"\d[\d.,]*(?:x| |$)", title) or title.split()[0].lower() in values.NUMBER_WORDS
    if _is_number(value):
        return bool(counts) and len(content(title)) > 1 and kind_of(value) == "count"
    measure = re.fullmatch(r"\d[\d.,]* ?([^\W\d_]{1,12})", value)
    unit = {"mil": "mm", "mils": "mm"}.get(measure[1].lower(), measure[1]) if measure is not None else ""
    return bool(unit) and re.search(rf"\d ?{unit}\b", title, re.IGNORECASE) is not None


def with_number(text: str, number: str) -> str:
    """A text with its number exchanged: ('12 table posies', '15') gives '15 table posies'."""
    found = values.number_of(number)
    return values.with_number(text, found) if found is not None else number
