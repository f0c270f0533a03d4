"""Where the words of a clause are found in the plan, and how its values are given: what all acts stand on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from taskloom.agent.grounding.exact_places import Doubt
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.words import singular, slot_name
from taskloom.agent.plan.held import stems_in, tasks_having
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_fact, is_member, is_slot
from taskloom.agent.plan.topic import kind_held, share_named
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.actions import VERBS, is_action
from taskloom.memory.present import bare_name, is_person
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import word_set, words

from .people import SOMEBODY, People
from .plain import (
    is_taken_back,
    one,
    short_title,
)
from .scoring import POINTING, bare, content

_ALL = re.compile(
    r"(?:everything|all|(?:them|these|those) (?:all|both)|the lot|lot|the rest|both|whole (?:lot|thing)"
    r"|(?:the )?others?|rest|each"
    r"|every(?:one|body)?)\b",
    re.IGNORECASE,
)
_REST = re.compile(r"\b(?:rest|others?)\b", re.IGNORECASE)
_GOES_ON = re.compile(
    rf"\s+(?:(?:of|in|on|at|off|from|about|for|with|but|bar|except|apart|else|that|which|who|one|the|these|those|them|this|it|my"
    rf"|our|his|her|their|\d+|{'|'.join(values.NUMBER_WORDS)})\b.*)?",
    re.IGNORECASE,
)
_EVERY = word_set("all both each every")
NOUNS = (
    (re.compile(r"\b(?:hours?|times?|o'clock|clock|start)\b", re.IGNORECASE), ("time",)),
    (re.compile(r"\b(?:days?|dates?|when|deadline)\b", re.IGNORECASE), ("date",)),
    (re.compile(r"\b(?:prices?|cost|sum|fee|much|quote\w*|pay|money)\b", re.IGNORECASE), ("amount", "count")),
    (re.compile(r"\b(?:many|number|count|numbers)\b", re.IGNORECASE), ("count", "amount")),
    (re.compile(r"\b(?:long|length|duration)\b", re.IGNORECASE), ("duration",)),
)
_OF = re.compile(r"(\S.*?)\s+(?:of|for)\s+((?:the|my|our)\s+\S.*)", re.IGNORECASE)
_NUMBER_OF = re.compile(r"(?:the\s+)?(number|amount)\s+of\s+(\S.*)", re.IGNORECASE)
_OF_SLOTS = ("set", "shift", "ask.value", "ask.before", "ask.history", "ask.ever", "ask.claim")
_NO_TITLE = (
    SOMEBODY
    | POINTING
    | word_set(
        """other others another last first second third next rest both all each every who that former latter
    two three four five remaining previous same of"""
    )
)
_NO_NAME = re.compile(  # 'the gift one', 'his own', 'they're out'
    r"(?:\S+ ){0,2}one|ones|(?:(?:his|her|their|my|your|our) )?own"
    r"|(?:they|it|s?he|we|you|i)['’](?:re|s|ve|m|ll|d)\b.*",
    re.IGNORECASE,
)
_BACK = re.compile(r"\b(?:roll\w*|revert\w*) .*\bback\b|\b(?:one|a) step back\b", re.IGNORECASE)
_AS_BEFORE = re.compile(
    r"(?:as |the )?(?:original(?:ly)?|initial(?:ly)?|previous(?:ly)?|at first|before)", re.IGNORECASE
)
_KEPT = re.compile(r"\b(?:keep|keeps|leave|stay|stays|stick)\b", re.IGNORECASE)
_SHORTER = re.compile(r"\b(?:shorten|trim|reduc|cut)\w*\b.*\bby\b", re.IGNORECASE)


_DONE_ONES = re.compile(
    r"(?:done|finished|completed|ticked(?: off)?) (?:ones?|things?|items?|stuff|tasks?|jobs?|bits?)"
    r"|what(?:['’]?s| is| are) (?:already )?(?:done|finished)",
    re.IGNORECASE,
)
_ONE_OF = re.compile(r"\b(?:one|either|some) of\s+$", re.IGNORECASE)
_ON_ONE = ("set", "shift", "done", "reopen", "remove", "hold", "assign")


def _one_of(clause: Clause, thing: Mention) -> bool:
    """Whether a clause is about one of several that it does not tell apart: 'one of them starts at nine'."""
    whole = re.fullmatch(r"(?:one|either|some) of (\S.*)", thing.text, re.IGNORECASE)
    if whole is None and _ONE_OF.search(clause.text[: thing.start]) is None:
        return False
    name = (whole[1] if whole else thing.text).lower()
    pointed = set(name.split()) <= POINTING and name not in ("it", "that", "this")
    return pointed or name.split()[0] in ("the", "my", "our", "those", "these")


class Giving(People):
    """Clauses on the plan; steps: what was done so far, doubts: how many clauses had no place.

    unplaced: words of this message that are no name of anything.
    """

    unplaced = ""

    def read(self, clause: Clause) -> None:
        """Carry out one clause, by the method of its act.

        Raises:
            Doubt: what it is about is not clear.
        """
        if self.unplaced and (it := one(clause, "TI")) and set(it.lower().split()) <= POINTING:
            raise Doubt(f"What is “{self.unplaced}”?")  # and 'it' is no other thing
        clause = self._of_a_thing(self.joined(clause))
        self.clause = clause = _as_said(clause)
        if is_taken_back(clause):
            return
        if clause.act in _ON_ONE and any(_one_of(clause, span) for span in clause.all("TIW")):
            raise Doubt("Which of them do you mean?")
        name = "ask" if clause.act.startswith("ask.") else clause.act
        named = clause.all("T") if clause.act == "chat" else []
        framed = self.known_as(named[0].text) if named else None
        self.framed = framed.id if framed is not None else self.framed
        act: Callable[[Clause], None] | None = getattr(self, f"_read_{name}", None)
        if act is not None:
            act(clause)

    def _of_a_thing(self, clause: Clause) -> Clause:
        """A clause that names no task, with the name of a slot (S) as a task where it is one in the plan."""
        names = clause.all("S")
        if len(names) != 1 or clause.all("TIW"):
            return clause
        if (parted := self._slot_and_task(names[0])) is not None:
            mentions = (*parted, *(one for one in clause.mentions if one is not names[0]))
            return replace(clause, mentions=mentions)
        if clause.act not in _OF_SLOTS:
            return clause
        said = set(content(names[0].text))
        titled = [node for node in tasks_having(self.graph, said) if said == set(content(node.title))]
        asks = clause.act.startswith("ask.")
        if asks and not titled:  # 'when is the boiler man': no slot is called so, and one task is about it
            having = [node for node in tasks_having(self.graph, said) if said <= set(content(node.title))]
            titled = [node for node in having if not node.parent] if not any(map(is_slot, having)) else []
        if (
            len(titled) != 1
            or (is_slot(titled[0]) if not asks else titled[0].parent)
            or (is_fact(titled[0]) and not asks)
        ):
            return clause
        thing = replace(names[0], role="T")
        return replace(clause, mentions=tuple(thing if one is names[0] else one for one in clause.mentions))

    def _slot_and_task(self, name: Mention) -> tuple[Mention, Mention] | None:
        """The name of a slot and the task that it is of, where both are named at once: 'date of the trip'."""
        found = _OF.fullmatch(name.text) or _NUMBER_OF.fullmatch(name.text)
        node = self.known_as(found[2]) if found is not None else None
        if found is not None and node is None and found.re is _NUMBER_OF:
            node = self._counted_by(found[2])
        if found is None or node is None or is_slot(node):
            return None
        return (
            replace(name, text=found[1]),
            Mention("T", found[2], name.pair, name.start + found.start(2)),
        )

    def _counted_by(self, thing: str) -> TaskNode | None:
        """What there is a number of: the one task of that name which has a number."""
        node = self.which(thing)
        slots = self.graph.parts(node.id) if node is not None and not is_slot(node) else ()
        return node if any(slot_name(one.title) in ("number", "amount") for one in slots) else None

    def doubt(self, doubt: Doubt) -> None:
        """Ask instead of a clause."""
        self.doubts += 1
        step = Step(text=self.said, act="unsure", value=doubt.question)
        asks = self.clarify(step, doubt.question, doubt.options, doubt.choices)
        self.steps.append(step.model_copy(update={"asks": asks}))

    # ---- which tasks ---------------------------------------------------------------------------

    def place(self, clause: Clause) -> TaskNode | None:
        """The task that a clause says it is in; where its words only fit a slot, the task of this."""
        name = one(clause, "W")
        node = self.resolve(name) if name else None
        weak = node is not None and not self.graph.parts(node.id) and not self._says_half(name, node)
        if weak:
            return self.known_as(f"the {name}")
        return self.task_of(node) if node is not None and node.value is not None else node

    def _says_half(self, name: str, node: TaskNode) -> bool:
        """Whether most of the words of a name are in a task's title or value; of a pronoun none need be."""
        said = set(content(name))
        held = stems_in(node).title | stems_in(node).value | stems_in(node).kind
        return said <= POINTING or 2 * len(said & held) > len(said)

    def each(
        self, clause: Clause, *, roles: str = "TIP", slots: bool = False, gone: bool | None = False
    ) -> list[TaskNode]:
        """All that a clause names; all of the topic, without what is excepted, where it says so.

        Raises:
            Doubt: something is not there.
        """
        found, whole = list[TaskNode](), self.place(clause)
        for name in [bare(span.text) for span in clause.all(roles)] or [""]:
            if self.says_all(name):
                found += self._all_of(name, whole, gone=bool(gone))
                continue
            if _DONE_ONES.fullmatch(name) and (done := self._done_in(whole)):
                found += done
                continue
            node = self.resolve(name, slots=slots, gone=gone, within=whole) or self.resolve(
                name, slots=slots, gone=gone
            )
            if node is None:
                raise Doubt(f"I do not find “{name}” in the plan. What do you mean?")
            found.append(node)
        excepted = [self.which(bare(span.text), slots=slots, gone=gone) for span in clause.all("E")]
        spared = {node.id for node in excepted if node is not None}
        parts = found if clause.act == "remove" else found[len(clause.all("T")) :] if "T" in roles else []
        spared |= {above.id for node in parts for above in self.graph.ancestors(node.id)}  # 'X of the Y'
        return [node for node in dict.fromkeys(found) if node.id not in spared]

    def _done_in(self, whole: TaskNode | None) -> list[TaskNode]:
        """What is done of a whole, or of the plan that is spoken of."""
        whole = whole or self.topic()
        inside = self.graph.subtree(self.graph.root(whole.id).id)[1:] if whole is not None else ()
        done = [node for node in inside if node.status == "done" and not is_slot(node)]
        return done or [node for node in self.graph.parts(None) if node.status == "done"]

    def says_all(self, name: str) -> bool:
        """Whether words mean everything that there is somewhere, and are no name: 'all of it', 'the rest'."""
        begins = _ALL.match(name)
        if begins is None:
            return False
        named = self.best(name, slots=True, gone=None)
        if named is not None and set(content(name)) == set(content(named.node.title)):
            return False
        behind = name[begins.end() :]
        if begins[0].lower().endswith("other") and values.number_of(behind.strip() or "x") in (None, 1):
            return False  # 'the other one' is one, 'the other two' are several
        if not behind.strip() or _GOES_ON.fullmatch(behind):
            return True
        if begins[0].lower() not in _EVERY:
            return False
        return self._is_list(bare(behind)) or bool(self._titled(bare(behind)))

    def _is_list(self, name: str) -> bool:
        found = self.best(name)
        return found is not None and found.named > 0.99 and bool(self.listed(found.node))

    def _titled(self, words_of: str, whole: TaskNode | None = None) -> list[TaskNode]:
        """The tasks of one list that have a noun in their titles, several: 'all units', 'both reviews'."""
        said = set(content(words_of))
        inside = self.graph.subtree(whole.id)[1:] if whole is not None else self.graph.active
        named = [node for node in inside if not is_slot(node) and said <= set(content(node.title))]
        lists = {node.parent: [one for one in named if one.parent == node.parent] for node in named}
        found = [some for some in lists.values() if len(some) > 1 and said]
        return found[0] if len(found) == 1 else []

    def _all_of(self, words: str, whole: TaskNode | None, *, gone: bool) -> list[TaskNode]:
        """All that is in a whole, or in what the words go on to name; 'both' and 'all three': as many."""
        if not gone and (found := self._counted_of(words, whole)):
            return found
        rest = bare(
            re.sub(r"^(?:of|in|the|about)\s+", "", _ALL.sub("", words, count=1).strip(), flags=re.IGNORECASE)
        )
        if rest and not self._is_list(rest) and (titled := self._titled(rest, whole)):
            return titled
        base = whole or (self.which(rest) if rest and not set(rest.lower().split()) <= POINTING else None)
        base = base or self.topic()
        if base is not None and not self.listed(base, gone=gone) and base.parent:
            base = self.graph[base.parent]
        alone = base is not None and base.parent is None and not self.listed(base, gone=gone) and not rest
        if base is None or alone:
            return [node for node in self.graph.parts(None, gone=gone) if node.active != gone]
        return [node for node in self.listed(base, gone=gone) if node.active != gone]

    def _container(self) -> TaskNode | None:
        """What something is added to where nothing is named: the topic, or the list that it is in."""
        topic = self.topic()
        reply = self.view.exchanges[-1][1].rstrip() if self.view.exchanges and not self.operations else ""
        if topic is not None and reply.endswith("?") and share_named(topic.title, words(reply)) > 0.99:
            return topic  # what it needs was asked
        if topic is not None and (self._is_loose(topic) or self._does_one_thing(topic)):
            return None
        if topic is not None and (made := self._list_made(topic)) is not None:
            return made
        return self.spoken_there() or self._list_of(topic)

    def _list_made(self, topic: TaskNode) -> TaskNode | None:
        """The one mere list in what is spoken of that the turn before made."""
        before = self.view.turn - 1
        made = [part for part in self.graph.parts(topic.id) if part.turn == before and not part.history]
        lists = [part for part in made if self._is_plain_list(part)]
        return lists[0] if len(lists) == 1 and not self.operations else None

    def _does_one_thing(self, node: TaskNode) -> bool:
        """Whether a clause names things to do beside a task that is one thing to do itself."""
        spans = self.clause.all("I") if self.clause is not None else []
        if not spans or node.id in self.new or node.parent is not None or self.listed(node):
            return False
        lead = self.clause.text[: spans[0].start].lower().split() if self.clause is not None else []
        bought = bool(VERBS.intersection(lead[-1:]) - {"add"})  # 'buy bread' is no part of booking a table
        return is_action(node.title) and (bought or all(is_action(bare(span.text)) for span in spans))

    def _is_loose(self, node: TaskNode) -> bool:
        """Whether a task is one of several that were said at once, of no plan: more come beside it."""
        if node.parent is not None or self.graph.parts(node.id):
            return False
        begun = [one.history[0].turn if one.history else one.turn for one in self.graph.parts(None)]
        own = node.history[0].turn if node.history else node.turn
        return begun.count(own) > 1

    def _list_of(self, topic: TaskNode | None) -> TaskNode | None:
        """A task, or the list that it is in, where it holds nothing itself."""
        while (
            topic is not None and topic.parent and not self.listed(topic)
            and (topic.id not in self.new or (is_member(topic) and not topic.name.startswith("task")))
        ):  # fmt: skip
            topic = self.graph[topic.parent]
        return topic

    def _plan_spoken_of(self) -> TaskNode | None:
        """The plan that a list with a name of its own is new in: the topic, where it is no loose task."""
        topic = self.whole_spoken_of()
        return topic if topic is not None and not self._is_loose(topic) else None

    def _untaken(self, found: list[TaskNode], name: str) -> list[TaskNode]:
        """Of all that 'the rest' may be, what nobody has; else what this message gave nobody.

        Raises:
            Doubt: nothing is left.
        """
        if not _REST.search(name):
            return found
        taken = {part.parent for node in found for part in self.graph.parts(node.id) if is_assignee(part)}
        free = [node for node in found if node.id not in taken]
        free = free or [node for node in found if node.id not in self.given]
        if not free:
            raise Doubt(clarifications.WHAT_DO_YOU_MEAN(words=name))
        return free

    def _or_new(self, name: str, whole: TaskNode | None, other: TaskNode | None = None) -> TaskNode:
        """The task of that name, made where there is none; other: what it stands beside then."""
        return self._found_or_new(self.resolve(name), name, whole, other)

    def _found_or_new(
        self, node: TaskNode | None, name: str, whole: TaskNode | None, other: TaskNode | None
    ) -> TaskNode:
        """What was found by a name, unless it is a slot of another one; else made, beside the other."""
        if node is not None and (not is_slot(node) or set(content(name)) <= set(content(node.title))):
            return node
        if _NO_NAME.fullmatch(name.strip()):
            self.unplaced = name
            raise Doubt(f"I do not find “{name}” in the plan. What do you mean?")
        if other is not None and whole is None:
            return self._create(name, other.parent)
        beside = whole or self._above_people(self.topic())
        return self._create(name, (beside.parent or beside.id) if beside else None)

    def _above_people(self, node: TaskNode | None) -> TaskNode | None:
        """What is spoken of; of somebody in a list the list: what people are to do is no guest."""
        if node is None or node.parent is None:
            return node
        above = self.graph[node.parent]
        sorts = (
            bare_name(node),
            singular(slot_name(above.title)),
            *map(singular, above.title.lower().split()),
        )
        assigns = self.clause is not None and self.clause.act == "assign" and self._is_plain_list(above)
        other = any(map(is_person, sorts)) or (assigns and not self._is_given(above))
        return above if above.parent is not None and other else node

    def _is_given(self, whole: TaskNode) -> bool:
        """Whether somebody has something that is in a list."""
        return any(map(is_assignee, self.graph.subtree(whole.id)))

    def _create(self, title: str, within: str | None = None, told: Sequence[Detail] = ()) -> TaskNode:
        """A task of that title: new, or the one that there is and has nothing else told of it.

        Raises:
            Doubt: it cannot be made.
        """
        if set(bare(title).lower().split()) <= _NO_TITLE:
            raise Doubt(f"What is “{title}”?")
        self._act("task", title=short_title(title), within_task=within, details=tuple(told))
        key = next((key for key in self.focus if key in self.graph), None)
        if key is None:
            raise Doubt(f"What is “{title}”?")
        return self.graph[key]

    def _counted_of(self, words: str, whole: TaskNode | None) -> list[TaskNode]:
        """'Both', 'all three': as many as that of one list, named in the reply or lately touched."""
        if _REST.search(words) and self.given:
            return []  # those that this message gave nobody yet, of the list
        number = 2 if re.match(r"both\b", words, re.IGNORECASE) else values.number_of(words)
        rest = {word for word in content(_ALL.sub("", words)) if values.number_of(word) is None}
        if number is None or number < 2 or rest - POINTING - {"of"}:
            return []
        reply = self.view.exchanges[-1][1] if self.view.exchanges else ""
        heard = set(content(reply))
        spoken = [node for node in self.graph.active if not is_slot(node) and share_named(node.title, heard)]
        lately = [self.task_of(self.graph[key]) for key in self.focus if key in self.graph]
        for pool in (lately, spoken) if self.operations else (spoken, lately):
            tasks = {node.id: node for node in pool if node.active and not is_slot(node)}.values()
            for parent in dict.fromkeys(whole.id if whole is not None else node.parent for node in tasks):
                some = [node for node in tasks if node.parent == parent]
                if len(some) == number or (pool is lately and len(some) > number):
                    return some[: int(number)]
        return []

    def tells_facts(self, clause: Clause) -> bool:
        """Carry out a clause of values that are of no task, where nothing else is spoken of.

        'My surname is Meyer', said of no plan, is a fact of its own; said again it has a new value.
        """
        if clause.all("TIW") or ((topic := self.topic()) is not None and not is_fact(topic)):
            return False
        told = self._details(clause)
        for one_told in told:
            named = set(content(one_told.slot.replace("_", " ")))
            facts = [node for node in self.graph.parts(None) if is_fact(node)]
            facts = [node for node in facts if node.turn != self.view.turn]  # of this very message are others
            same = [node for node in facts if named == set(content(node.title))] or [
                node for node in facts
                if named < set(content(node.title)) and kind_held(node) == kind_of(one_told.value)
            ]  # fmt: skip
            if not clause.all("S") and topic is not None:
                kind = kind_of(one_told.value)
                same = same or [node for node in (topic, *facts) if kind_held(node) == kind][:1]
            if same:
                self._act("set", task=same[0].id, value=one_told.value)
            else:
                self._act("task", slot=one_told.slot, value=one_told.value)
        return bool(told)


def _as_said(clause: Clause) -> Clause:
    """A clause by the act that its words tell beyond doubt, where another was read."""
    if clause.act == "shift" and not clause.all("VI") and _BACK.search(clause.text):
        return replace(clause, act="back")  # 'roll the count back by one step'
    if clause.act == "only" and _SHORTER.search(clause.text):
        return replace(clause, act="remove")  # 'shorten the list by the towel'
    if clause.act == "undo" and clause.all("V") and _KEPT.search(clause.text):
        return replace(clause, act="no")  # 'no, keep Friday'
    if clause.act == "back":  # 'as originally planned' names no value
        kept = [one for one in clause.mentions if one.role != "V" or not _AS_BEFORE.fullmatch(one.text)]
        return replace(clause, mentions=tuple(kept))
    return clause
