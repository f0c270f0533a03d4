"""What leaves the plan or rests, comes back, is done or open again, and is as it was before."""

from __future__ import annotations

import re
from collections.abc import Iterable

from taskloom.agent.grounding.exact_places import Doubt, says_all
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import has_former, is_member, is_slot
from taskloom.agent.plan.topic import share_named
from taskloom.agent.turn.clauses import Clause
from taskloom.agent.turn.steps import Detail
from taskloom.memory.actions import is_action
from taskloom.memory.operations import Complete, Remove, undoable
from taskloom.memory.present import bare_name
from taskloom.memory.tasks import Revision, TaskNode
from taskloom.memory.words import STOP, words

from .giving import NOUNS
from .owning import Owning
from .plain import one, words_outside
from .scoring import POINTING, bare, content
from .spans import partly

_PROGRESS = frozenset(("progress", "status", "state"))  # slots that say how far a task is: 'half done'
_FIRST = re.compile(r"\b(?:first|original\w*|beginning|start\w*|initial\w*)\b", re.IGNORECASE)
_EVERYTHING = re.compile(
    r"(?:everything|(?:the )?(?:whole )?lot|all|(?:the )?(?:whole|entire) (?:thing|plan))", re.IGNORECASE
)
_EACH = re.compile(r"(?:all|every\w*|any\w*|the rest|rest)\b", re.IGNORECASE)
_ANY_SORT = frozenset(words("other one thing item task step job point part entry lot whole everything"))
_STILL_OPEN = re.compile(r"\b(?:open|left|undone|unfinished|to do|not done)\b", re.IGNORECASE)
_SEVERAL = re.compile(r"(?:they|them|these|those|both|all|everything|(?:the )?lot|each)\b", re.IGNORECASE)
_NO_NOUN = re.compile(r"\w \b(?:ones?|thing)\W*$", re.IGNORECASE)
_TOO = re.compile(r"(?:and |also |,)*\s*(?:too|as well|likewise|same for|also)", re.IGNORECASE)


class Leaving(Owning):
    """Clauses that say whether something is in the plan, and whether it is done."""

    def _read_remove(self, clause: Clause) -> None:
        if clause.all("S") and not clause.all("IP"):
            self._act_on("remove", self._members_named(clause) or self.named_slots(clause))
            return
        if clause.all("E") and (beside := self._all_but(clause)):
            self._act_on("remove", beside)
            return
        if clause.all("P") and not clause.all("TIVSWE") and (gone := self.wherever(clause)):
            for node, name in gone:
                self.leaves(node, name)
            return
        self.doubt_errand(clause)
        if plans := self._all_plans(clause):
            self._act_on("remove", plans)
            return
        if len(clause.mentions) == 1 and len(same := self.alike_in_a_list(one(clause, "TI"))) > 1:
            options = [self.describe(node) for node in same]
            choices = [Remove(task=node.id) for node in same]
            raise Doubt(clarifications.WHICH_ONE(words=one(clause, "TI")), options, choices)
        if (hinted := self._hinted(clause)) is not None:
            self._act_on("remove", [hinted])
            return
        if clause.all("P") and clause.all("TIW") and self._left_it(clause):
            return
        found = self.each(clause, roles="TIPV" if not clause.all("TIP") else "TIP", slots=True)
        if _NO_NOUN.search(one(clause, "TI")):  # 'the Matunga one' is what is there, not the place
            found = list({task.id: task for task in map(self.task_of, found)}.values())
        words_of = " ".join(bare(span.text) for span in clause.all("TIPVW")).lower()
        points = set(words_of.split()) <= POINTING and not clause.all("E")
        for node in found:
            whole, alone = self.task_of(node), node.parent is None
            if self.called_off(node, clause) or (points and alone and self.listed(node)):
                asked = f"Shall I cancel all of {self.describe(whole)}?"
                raise Doubt(asked, ("yes",), (Remove(task=whole.id),))
        self._act_on("remove", self.but_for_others(found, clause.all("TIP")))

    def _all_but(self, clause: Clause) -> list[TaskNode]:
        """What leaves where all leaves but what is excepted (E), however it is called; [] where one is named.

        Of 'everything still open' only what is not done.

        Raises:
            Doubt: what is excepted, or what it is a part of, is not in the plan.
        """
        names = [bare(span.text) for span in clause.all("TIPV")]
        if not all(_points(name) or _EACH.match(name) for name in names):
            return []
        excepted = [bare(span.text) for span in clause.all("E")]
        if lost := next((name for name in excepted if self.which(name) is None), None):
            raise Doubt(clarifications.NOT_FOUND_TO_KEEP(words=lost))
        self._known_sort(names, clause)
        beside, place = self._others(clause), self.place(clause) if clause.all("W") else None
        if place is None and clause.all("W") and not any(self.which(bare(e.text)) for e in clause.all("E")):
            raise Doubt(clarifications.NOT_FOUND(words=bare(one(clause, "W"))))
        if place is not None:
            inside = {node.id for node in self.graph.subtree(place.id)}
            beside = [node for node in beside if node.id in inside]
        everything = clause.act == "remove" and any(map(_EVERYTHING.fullmatch, names))  # what is done is past
        if everything or any(_STILL_OPEN.search(name) for name in names):
            return [node for node in beside if node.status != "done"]
        return beside

    def _known_sort(self, names: Iterable[str], clause: Clause) -> None:
        """Hold that what leaves but for something excepted (E) is of a sort that the plan knows.

        Raises:
            Doubt: it is not: 'all the equipment except the cash box', among cakes.
        """
        kept = next(filter(None, (self.which(bare(span.text)) for span in clause.all("E"))), None)
        above = self.graph.ancestors(kept.id) if kept is not None else ()
        beside = self.graph.parts(above[0].id) if above else ()
        known = {word for node in (*above, *beside) for word in words(f"{node.title} {bare_name(node)}")}
        for name in names:
            sort = [word for word in words(_EACH.sub("", name)) if word not in STOP | _ANY_SORT]
            if above and sort and not known & set(sort) and not _STILL_OPEN.search(name):
                raise Doubt(f"Which are “{name}”?")

    def _all_plans(self, clause: Clause) -> list[TaskNode]:
        """All plans where a clause says only 'everything' of a plan; [] where a mere list is spoken of."""
        spans = clause.all("TIPVWSE")
        topic = self.topic()
        if topic is None or len(spans) != 1 or not _EVERYTHING.fullmatch(bare(spans[0].text)):
            return []
        whole = self.whole_spoken_of() or topic
        plain = self.listed(whole) and self._is_plain_list(whole)
        return [] if whole.parent or plain else list(self.graph.parts(None))

    def _read_hold(self, clause: Clause) -> None:
        if clause.all("S"):
            self._act_on("hold", self.named_slots(clause))
            return
        topic = self.topic()
        if topic is not None and _EVERYTHING.fullmatch(one(clause, "TI")) and not clause.all("WE"):
            self._act("hold", task=self.graph.root(topic.id).id)
            return
        if (hinted := self._hinted(clause)) is not None:
            self._act_on("hold", [hinted])
            return
        self._act_on("hold", self._tasks(clause, self.each(clause, slots=True)))

    def _tasks(self, clause: Clause, nodes: Iterable[TaskNode]) -> list[TaskNode]:
        """What may rest: of a slot that only its value names, the task: 'Ita's part', 'the cake'."""
        said = {word for span in clause.all("TIP") for word in content(span.text)}
        return [self.task_of(node) if not said & set(content(node.title)) else node for node in nodes]

    def _read_resume(self, clause: Clause) -> None:
        if clause.all("S"):
            self._act_on("resume", self.named_slots(clause, gone=True))
            return
        if gone := self._pointed_at(clause, [node for node in self.graph.values() if not node.active]):
            self._act_on("resume", gone)
            return
        self._act_on("resume", self.each(clause, slots=True, gone=True))

    def _pointed_at(self, clause: Clause, among: Iterable[TaskNode]) -> list[TaskNode]:
        """What a clause means of some tasks where it only points: those that are spoken of, else the last.

        Several where it says 'they' or 'all': what changed together with it.
        """
        names = [bare(span.text) for span in clause.all("TIPW")]
        if not all(map(_points, names)):
            return []
        heard = set(content(words_outside(clause, "TIPW"))) | set(content(self.said))
        tops = [
            node for node in among
            if not is_slot(node) and (node.parent is None or self.graph[node.parent].active)
        ]  # fmt: skip
        before = set(content(" ".join(self._last_exchange())))
        named = [node for node in tops if share_named(node.title, heard)]
        named = named or [node for node in tops if share_named(node.title, before) > 0.99]
        latest = max((node.turn for node in named or tops), default=None)
        last = [node for node in named or tops if node.turn == latest]
        if any(_SEVERAL.match(name) for name in names):
            return last
        lately = sorted(last, key=lambda node: self.focus.index(node.id) if node.id in self.focus else 99)
        return lately[:1]

    def _likewise(self, clause: Clause) -> bool:
        """Whether a clause only names what the same is true of as of what the message before named.

        It leaves too, is done too, or has the same in the one slot that was given: 'Ann has the cake.' 'The
        drinks too.'
        """
        names = clause.all("TI")
        if not names or self.operations or _TOO.fullmatch(words_outside(clause, "TI").strip(" ,.!")) is None:
            return False
        last = [node for node in self.graph.values() if node.turn == self.view.turn - 1]
        nodes = [self.which(bare(span.text)) for span in names]
        found = [node for node in nodes if node is not None]
        if not last or len(found) < len(nodes):
            return False
        if any(node.status == "done" for node in last):
            self._act_on("done", found)
        elif all(node.op == "remove" for node in last):
            self._act_on("remove", found)
        elif len(last) == 1 and is_slot(last[0]) and last[0].active and not any(map(is_slot, found)):
            name = "who" if is_assignee(last[0]) else slot_name(last[0].title)
            told = (Detail(slot=name, value=last[0].value or ""),)
            for node in found:
                self._act("set", task=node.id, details=told)
        else:
            return False
        return True

    def _read_done(self, clause: Clause) -> None:
        if not clause.all("TI") and (people := self._members(clause)):
            self._act_on("done", people)
            return
        if clause.all("E") and (beside := self._all_but(clause)):
            self._act_on("done", beside)
            return
        if far_said := partly(clause):
            told = Detail(slot="progress", value=f"{far_said} done")
            for node in self.each(clause, roles="TI"):
                self._act("set", task=node.id, details=(told,))
            return
        if self._done_in_part(clause):
            return
        done = {node.id: node for node in self._meant_done(clause)}
        self._act_on("done", done.values())
        for node in done.values():  # how far it was does not hold any more
            far = [
                part
                for part in self.graph.parts(node.id)
                if is_slot(part) and slot_name(part.title) in _PROGRESS
            ]
            self._act_on("remove", far)
        self._told_of_one(clause, list(done.values()))

    def _meant_done(self, clause: Clause) -> list[TaskNode]:
        """What is done: what is named, in whatever words where nothing is marked, else what was spoken of.

        Raises:
            Doubt: that would be a plan in which there is more to do.
        """
        pointing = all(set(bare(span.text).lower().split()) <= POINTING for span in clause.all("TI"))
        if pointing and (told := self._in_other_words(clause) or self._asked_last()) is not None:
            return [told]
        found = [self._finished(node) for node in self._named_done(clause, self._in_other_words)]
        whole = found[0] if pointing and len(found) == 1 and found[0].parent is None else None
        if whole is not None and len([part for part in self.listed(whole) if part.status == "open"]) > 1:
            raise Doubt(f"Is all of {self.describe(whole)} done?", ("yes",), (Complete(task=whole.id),))
        return found

    def _members(self, clause: Clause) -> list[TaskNode]:
        """The members that a clause names as people; [] where one of them is none."""
        found = list[TaskNode]()
        for span in clause.all("P"):
            said = set(content(self._person(span.text)))
            own = [
                node for node in self.graph.active if not is_slot(node) and said == set(content(node.title))
            ]
            found += own if len(own) == 1 and is_member(own[0]) else []
        return found if len(found) == len(clause.all("P")) else []

    def _finished(self, node: TaskNode) -> TaskNode:
        """What is done where a clause means a slot: the part of that name, else the task that it is of.

        Raises:
            Doubt: all of a plan would be done that has parts, because of a value.
        """
        task = self.task_of(node)
        still = [part for part in self.listed(task) if part.status != "done"]
        if node.id == task.id:
            return task
        if self._is_paid(node):
            return node
        if not still:  # 'Nando's is booked' of a table there is the table, of a party there the place
            return task if task.parent is not None or is_action(task.title) else node
        said = set(content(node.title))
        named = [part for part in self.graph.subtree(task.id)[1:] if said <= set(content(part.title))]
        named = [part for part in named if not is_slot(part)]
        if len(named) == 1:
            return named[0]
        raise Doubt(f"Is all of {self.describe(task)} done?", ("yes",), (Complete(task=task.id),))

    def _read_reopen(self, clause: Clause) -> None:
        topic = self.topic()
        finished = [node for node in self.graph.active if node.status == "done"]
        if (topic is None or topic.status != "done") and (found := self._pointed_at(clause, finished)):
            self._act_on("reopen", found)
            return
        self._act_on(
            "reopen", self._only_finished(clause, finished) or self.each(clause, roles="TI", gone=None)
        )

    def _read_back(self, clause: Clause) -> None:
        if clause.all("S") and not clause.all("V") and (gone := self._taken_out(clause)):
            self._act_on("resume", gone)
            return
        if self._all_at_first(clause):
            return
        if clause.all("T") and not clause.all("S") and (several := self._several_back(clause)):
            self._act_on("back", several)
            return
        named = one(clause, "T") or one(clause, "S")
        if not named and clause.all("IP"):
            things = [self.resolve(bare(span.text), slots=True, gone=None) for span in clause.all("IP")]
            if any(node is not None and not node.active for node in things):
                self._act_on("resume", [node for node in things if node is not None and not node.active])
                return
        named = named or one(clause, "I") or one(clause, "P")
        node = self.resolve(named, slots=True, gone=None, within=self.place(clause))
        if node is None:
            raise Doubt("What should be as it was?")
        if set(named.lower().split()) <= POINTING and any(step.act == "back" for step in self.steps):
            return  # 'Mia wants the dinosaurs back. Go back to that': once
        node = self._slot_back(node, clause)
        if not named and not clause.all("V") and not has_former(node):
            node = self._changed_last(node)
        value = self._former(node, one(clause, "V"))
        if value and (slot := self._slot_that_was(node, value)) is not None:
            node = slot
        original = "original" if _FIRST.search(words_outside(clause, "TSW")) else None
        self._act("back", task=node.id, old=original, value=value)

    def _changed_last(self, node: TaskNode) -> TaskNode:
        """What was changed last in the plan of a task; the task itself where nothing was."""
        inside = self.graph.subtree(self.graph.root(node.id).id)
        return max(filter(has_former, inside), key=lambda one: one.turn, default=node)

    def _all_at_first(self, clause: Clause) -> bool:
        """Whether a list, or for 'everything' a plan, went back to what it was when it came into the plan.

        What was there then is as it was, what came later leaves.
        """
        names = [bare(span.text) for span in clause.all("TW")]
        whole = self.whole_spoken_of() if not names or _points(names[0]) else self.resolve(names[0])
        of_a_slot = bool(clause.all("S")) or any(form.search(one(clause, "V")) for form, _ in NOUNS)
        if whole is None or of_a_slot or not _FIRST.search(clause.text):
            return False
        everything = bool(names) and _SEVERAL.match(names[0]) is not None
        whole = self.graph.root(whole.id) if everything else whole
        inside = [
            part for part in self.graph.parts(whole.id, gone=True)
            if not is_assignee(part) and (everything or is_member(part))
        ]  # fmt: skip
        begun = min((_added(part) for part in inside), default=0)
        later = [part for part in inside if _added(part) > begun and part.active and is_member(part)]
        changed = [part for part in inside if _added(part) == begun and _as_first(part) != _as_now(part)]
        if not (later or changed) or (not everything and len(inside) < 2):
            return False
        for part in changed:
            self._act("back", task=part.id, old="original")
        self._act_on("remove", later)
        return True

    def _several_back(self, clause: Clause) -> list[TaskNode]:
        """The tasks and slots that go back together: those named, for 'both' those that changed together."""
        names = [bare(part) for span in clause.all("T") for part in re.split(r"\s+and\s+", span.text)]
        if len(names) > 1:
            found = [self.which(name, slots=True, gone=None) for name in names]
            return [node for node in found if node is not None] if None not in found else []
        if not _SEVERAL.match(names[0]):
            return []
        if gone := self._pointed_at(clause, [node for node in self.graph.values() if not node.active]):
            heard = set(content(" ".join((self.said, *self._last_exchange()))))
            spoken_of = any(share_named(node.title, heard) > 0.99 for node in gone)
            if spoken_of or gone[0].turn >= max((node.turn for node in self.graph.active), default=0):
                return gone
        changed = [node for node in self.graph.active if node.history and node.turn < self.view.turn]
        latest = max((node.turn for node in changed), default=None)
        last = [node for node in changed if node.turn == latest]
        return last if len(last) > 1 else []

    def _slot_that_was(self, task: TaskNode, value: str) -> TaskNode | None:
        """The only slot of a task that had a value and has another one now."""
        if is_slot(task):
            return None
        was = [
            part for part in self.graph.parts(task.id)
            if is_slot(part) and any(says_all(state.value or "", value) for state in part.history)
            and not says_all(part.value or "", value)
        ]  # fmt: skip
        return was[0] if len(was) == 1 else None

    def _former(self, node: TaskNode, words: str) -> str | None:
        """The value that something goes back to, as it was; None where the words only say that it does."""
        number = values.number_of(words) if words else None
        for part in self.graph.subtree(node.id, gone=True):
            for state in reversed(part.history):
                held = state.value or state.title
                if words and says_all(held, words):
                    return words
                if number is not None and state.value and values.number_of(held) == number:
                    return held
        told = words and (kind_of(words) is not None or words != words.lower())
        return words if told else None

    def _read_undo(self, clause: Clause) -> None:
        """The last change of all; where a clause names what should be as it was, only that."""
        slots = self.named_slots(clause) if clause.all("S") else []
        changed = [node for node in slots if node.history]
        if changed:
            self._act_on("back", changed)
            return
        several = self._named_changed(clause)
        self._act_on("undo", several)
        if not several:
            self._act("undo")

    def _named_changed(self, clause: Clause) -> list[TaskNode]:
        """What a clause that takes something back names of what changed, in the last turn in which that did.

        [] where it names nothing of the kind, or all that changed in the last turn.
        """
        said = set(content(" ".join(bare(span.text) for span in clause.all("TIP"))))
        said = {word for word in said if values.number_of(word) is None} - POINTING
        changed = [
            node for node in self.graph.values()
            if node.turn < self.view.turn and (node.active or node.history) and said
            and said <= set(content(" ".join((node.value or "", *(n.title for n in self._with_above(node))))))
        ]  # fmt: skip
        latest = max((node.turn for node in changed), default=None)
        named = {node.id: node for node in changed if node.turn == latest}
        turns = [turn for turn in undoable(self.graph) if turn < self.view.turn]
        others = [node for node in self.graph.values() if node.turn == latest and node.id not in named]
        if not named or (turns[-1:] == [latest] and not others):
            return []
        return [node for node in named.values() if node.parent not in named]

    def _with_above(self, node: TaskNode) -> list[TaskNode]:
        """A task with what it is part of, without the plan, which all that is in it would be named by."""
        above = [one for one in self.graph.ancestors(node.id) if one.parent is not None]
        return [node, *above]

    def _read_redo(self, _: Clause) -> None:
        self._act("redo")


def _points(name: str) -> bool:
    """Whether words only point: 'it', 'them', 'everything'."""
    return set(name.lower().split()) <= POINTING or _SEVERAL.fullmatch(name) is not None


def _added(node: TaskNode) -> int:
    """The turn in which a task came into the plan."""
    return next(iter(node.states())).turn


def _as_first(node: TaskNode) -> tuple[str, str | None, bool]:
    return _as_now(next(iter(node.states())))


def _as_now(node: Revision) -> tuple[str, str | None, bool]:
    return node.title, node.value, node.active
