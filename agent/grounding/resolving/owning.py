"""Slots and lists that a clause names of what it is about: 'the fee of the hall', 'the milk on the list'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from taskloom.agent.grounding.exact_places import Doubt, means_alike
from taskloom.agent.language import clarifications, values
from taskloom.agent.language.referring import DEEDS
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.wording import entries, join
from taskloom.agent.language.words import singular, slot_name
from taskloom.agent.plan.held import tasks_having, tasks_named
from taskloom.agent.plan.outline import is_assignee
from taskloom.agent.plan.roles import is_member, is_slot
from taskloom.agent.plan.topic import share_named
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Asked, Detail
from taskloom.memory.actions import is_action
from taskloom.memory.operations import Add, Update
from taskloom.memory.present import bare_name
from taskloom.memory.tasks import TaskNode

from .fitting import changes
from .giving import Giving
from .people import SOMEBODY
from .plain import one, one_of_several, right_before
from .scoring import POINTING, bare, content

_CANCEL = re.compile(
    r"\W*(?:(?:and|also|then|please|need to|we need to|i need to|have to)\W+)*cancel\b", re.IGNORECASE
)


class Owning(Giving):
    """What belongs to a task, by its name."""

    def _done_in_part(self, clause: Clause) -> bool:
        """Whether a task counts more than is said to be done of it; it is told how far it is: 7 of 14."""
        spans = clause.all("TI")
        number = values.number_of(bare(spans[0].text)) if len(spans) == 1 else None
        node = self.resolve(bare(spans[0].text)) if number is not None else None
        whole = values.number_of(node.title) if node is not None and not is_slot(node) else None
        if node is None or number is None or whole is None or not 0 < number < whole:
            return False
        told = Detail(slot="progress", value=f"{number} of {whole} done")
        self._act("set", task=node.id, details=(told,))
        return True

    def _act(self, act: str, **fields: object) -> None:
        """As `Fitting._act`.

        Raises:
            Doubt: a value would be lost of which nobody spoke.
        """
        slot, new = self._replaced(fields) if act == "set" else (None, "")
        if slot is not None and self._is_unspoken(slot):
            question = f"Should {self.describe(slot)} be {new} now?"
            raise Doubt(question, ("yes",), (Update(task=slot.id, value=new),))
        super()._act(act, **fields)

    def _replaced(self, fields: Mapping[str, object]) -> tuple[TaskNode | None, str]:
        """The slot whose value a clause replaces that names nothing, and of no change; and the new one."""
        clause, node = self.clause, self.graph.get(str(fields.get("task")))
        if clause is None or node is None or clause.act != "set" or clause.all("TSWIOXC") or changes(clause):
            return None, ""
        if is_slot(node):
            return (None, "") if is_assignee(node) else (node, str(fields.get("value") or ""))
        details = fields.get("details")
        told = {one.slot: one.value for one in details} if isinstance(details, tuple) else {}
        held = {slot_name(part.title): part for part in self.graph.parts(node.id) if is_slot(part)}
        slot = next((slot for slot in told if slot in held and not is_assignee(held[slot])), None)
        return (held[slot], told[slot]) if slot is not None else (None, "")

    def _is_unspoken(self, slot: TaskNode) -> bool:
        """Whether nobody spoke of what a value is of: 'found the papers, the 13th', after talk of others.

        Spoken of is what changed in the turn before, and what the exchange names by a word of it, of a
        part, of what it is part of, or of the value.
        """
        owner = self.task_of(slot)
        inside = self.graph.subtree(owner.id)
        if max(node.turn for node in inside) >= self.view.turn - 1:
            return False
        heard = set(content(" ".join((self.said, *self._last_exchange()))))
        near = (*inside, *self.graph.ancestors(owner.id))
        named = set(content(slot.value or "")).union(
            *(content(node.title) for node in near if node.id == slot.id or not is_slot(node))
        )
        return not heard & named

    def named_slots(self, clause: Clause, *, gone: bool = False) -> list[TaskNode]:
        """The slots and lists that a clause names (S) of what it is about, else of the topic.

        gone: those that were taken out.

        Raises:
            Doubt: there is no such slot, or no such task.
        """
        targets = [bare(span.text) for span in clause.all("TW")]
        owners = [self.resolve(name) for name in targets] or [self.whole_spoken_of()]
        found = list[TaskNode]()
        for name in (bare(span.text) for span in clause.all("S")):
            own = [self._slot_of(owner, name, gone=gone) for owner in owners if owner is not None]
            some = [node for node in own if node is not None]
            if not some and not targets and (node := self.which(name, slots=True, gone=gone)) is not None:
                some = [node]
            if not some:
                of = f" for {self.describe(owners[0])}" if owners[0] is not None else ""
                raise Doubt(f"I have no “{name}”{of}. What do you mean?")
            found += some
        return found

    def _slot_of(self, owner: TaskNode, name: str, *, gone: bool) -> TaskNode | None:
        """The slot or list of a task by its name."""
        slot = (self.slot_in(owner, name) or self.plain_slot(owner, name)) if not gone else None
        slots = [] if gone else [part for part in self.graph.parts(owner.id) if is_slot(part)]
        same = [part for part in slots if means_alike(part.title, name)]
        if slot is not None or len(same) == 1:
            return slot or same[0]
        said = set(content(name))
        inside = self.graph.subtree(owner.id, gone=True)[1:]
        named = [node for node in inside if node.active != gone and said <= set(content(node.title))]
        exact = [node for node in named if said == set(content(node.title))]
        chosen = exact or named
        return (
            max(chosen, key=lambda node: node.turn)
            if gone and chosen
            else chosen[0]
            if len(chosen) == 1
            else None
        )

    def _members_named(self, clause: Clause) -> list[TaskNode]:
        """What a clause names (T) of a list that it names as well (S): 'the milk off the shopping list'.

        All but what is excepted (E) where it names that.

        Raises:
            Doubt: what is excepted is not in the list.
        """
        lists = [self.which(bare(span.text)) for span in clause.all("S")]
        if clause.all("E"):
            held = [node for whole in lists if whole is not None for node in self.listed(whole)]
            excepted = [_saying(held, span.text) for span in clause.all("E")]
            if not held or None in excepted:
                raise Doubt(clarifications.NOT_FOUND_TO_KEEP(words=one(clause, "E")))
            return [node for node in held if node not in excepted]
        inside = [
            self.which(bare(span.text), within=whole)
            for span in clause.all("T") for whole in lists if whole is not None and self.listed(whole)
        ]  # fmt: skip
        if clause.all("W") and inside and not any(inside):
            raise Doubt(f"I do not find “{one(clause, 'T')}” there. What should go?")
        return [node for node in inside if node is not None and node not in lists]

    def _others(self, clause: Clause) -> list[TaskNode]:
        """What is in the list of what is excepted (E), without that; [] where this is in no one list."""
        kept = [self.which(bare(span.text)) for span in clause.all("E")]
        lists = {node.parent for node in kept if node is not None}
        whole = self.graph.get(next(iter(lists)) or "") if len(lists) == 1 and None not in kept else None
        beside = self.listed(whole) if whole is not None else []
        others = [node for node in beside if node not in kept]
        sorts = {bare_name(node) for node in kept if node is not None}
        same = [node for node in others if bare_name(node) in sorts]  # teams, not what is to be done
        many = {is_member(node) for node in kept if node is not None}
        return same or [node for node in others if is_member(node) in many]

    def _taken_out(self, clause: Clause) -> list[TaskNode]:
        """The slots that a clause names and that were taken out."""
        try:
            return self.named_slots(clause, gone=True)
        except Doubt:
            return []

    def _left_it(self, clause: Clause) -> bool:
        """Whether people (P) left what a clause names, which stays: 'Bo is off the tent'."""
        names = [self._person(bare(span.text)) for span in clause.all("P")]
        owners = [self.resolve(bare(span.text)) for span in clause.all("TIW")]
        if None in owners:
            return False
        left = list[tuple[TaskNode, str]]()
        for owner in owners:
            inside = self.graph.subtree(self.task_of(owner).id) if owner is not None else ()
            for name in names:
                theirs = [node for node in inside if self._is_of(node, name)]
                theirs = theirs or [
                    node for node in inside
                    if name.lower() in SOMEBODY and is_assignee(node) and node.parent == inside[0].id
                ]  # fmt: skip
                if not theirs:
                    return False
                left += [(node, name) for node in theirs]
        for node, name in left:
            self.leaves(node, name)
        return True

    def doubt_errand(self, clause: Clause) -> None:
        """Hold that something of what is to be cancelled is in the plan.

        Raises:
            Doubt: none is: 'cancel the internet' may be something to do.
        """
        spans = clause.all("TI")
        if not spans or clause.all("PEVSW") or not _CANCEL.match(clause.text):
            return
        if not all(self.lacks(bare(span.text)) for span in spans):
            return
        told = join([bare(span.text) for span in spans], limit=len(spans))
        topic = self.whole_spoken_of()
        parent = topic.id if topic is not None and not is_action(topic.title) else None
        errands = tuple(
            Add(slot=f"task{number}", title=f"cancel the {bare(span.text)}", parent=parent)
            for number, span in enumerate(spans, 1)
        )
        question = clarifications.AN_ERRAND(words=told)
        raise Doubt(question, ("yes",), errands if len(errands) == 1 else ())

    def leaves(self, node: TaskNode, name: str) -> None:
        """Take somebody out of what he is or has: out of those who have it, where these are several."""
        others = [one for one in entries(node.value or "") if not set(content(name)) <= set(content(one))]
        if others and others != entries(node.value or ""):
            self._act("set", task=node.id, value=join(others, limit=len(others)))
        else:
            self._act("remove", task=node.id)

    def wherever(self, clause: Clause) -> list[tuple[TaskNode, str]]:
        """Where who leaves without a word of what is: all lists of the plan, and what he has there; his name.

        [] where he is at one place only, or in several plans.
        """
        found, count = list[tuple[TaskNode, str]](), len(clause.all("P"))
        for span in clause.all("P"):
            name = self._person(bare(span.text))
            said = set(content(name))
            found += [
                (node, name) for node in self.graph.active
                if (is_assignee(node) and any(said == set(content(one)) for one in entries(node.value or "")))
                or (is_member(node) and not is_slot(node) and said == set(content(node.title)))
            ]  # fmt: skip
        plans = {self.graph.root(node.id).id for node, _ in found}
        return found if len(plans) == 1 and len(found) > count else []

    def _is_of(self, node: TaskNode, name: str) -> bool:
        """Whether a node says that somebody has something or is in a list."""
        said = set(content(name))
        return (is_assignee(node) and said <= set(content(node.value or ""))) or (
            is_member(node) and not is_slot(node) and said == set(content(node.title))
        )

    def _listing(self, clause: Clause) -> TaskNode | None:
        """The list that a clause names (S), else what it says it is in, else the topic."""
        place, name = self.place(clause), one(clause, "S")
        named = (self.which(name, within=place) or self.which(name)) if name else None
        return named or place or self.topic()

    def _read_only(self, clause: Clause) -> None:
        spans = clause.all("ITEP")
        stay = [span for span in spans if len(spans) < 2 or not self.says_all(bare(span.text))]
        whole, names = self._listing(clause), [self._told_last(bare(span.text)) for span in stay]
        if whole is not None and not self.listed(whole) and whole.parent:
            whole = self.graph[whole.parent]
        kept = [self.which(name, within=whole) for name in names]
        if None in kept:
            kept = [self.which(name) for name in names]
        lists = {node.parent for node in kept if node is not None}
        if lists == {None} and None not in kept:
            self._only_plans([node.id for node in kept if node is not None])
            return
        if len(lists) > 1 and None not in kept and not clause.all("SW"):
            raise Doubt("Which list should hold only that?")  # all others in one of them would leave
        if len(lists) == 1 and (above := next(iter(lists))) is not None:
            whole = self.graph[above]  # the list that they are all in
        if whole is None or (clause.all("W") and None in kept and self.place(clause) is None):
            raise Doubt("Which list should hold only that?")
        known = bool(lists) or (bool(one(clause, "W")) and bool(self.listed(whole)))
        if not known or not names:
            raise Doubt(f"What of {self.describe(whole)} should stay?")
        items = [
            Detail(
                slot="item", value=node.title if node is not None else name, task=node.id if node else None
            )
            for name, node in zip(names, self._with_gone(names, kept, whole), strict=True)
        ]
        self._act("only", task=whole.id, items=tuple(items))

    def _told_last(self, name: str) -> str:
        """A name; of a pronoun the title of the one member that the reply before named in full."""
        if not self.view.exchanges or not name or not set(name.lower().split()) <= POINTING:
            return name
        heard = set(content(self.view.exchanges[-1][1]))
        told = [
            node for node in tasks_named(self.graph, heard)
            if node.parent and not is_slot(node) and share_named(node.title, heard) > 0.99
        ]  # fmt: skip
        return told[0].title if len(told) == 1 else name

    def _with_gone(
        self, names: Sequence[str], kept: Sequence[TaskNode | None], whole: TaskNode
    ) -> list[TaskNode | None]:
        """What stays in a list, with what of it was taken out before in the place of what is not there."""
        left = [
            node for node in self.graph.parts(whole.id, gone=True) if not node.active and not is_slot(node)
        ]
        found = list[TaskNode | None]()
        for name, node in zip(names, kept, strict=True):
            said = set(content(name))
            back = [one for one in left if said <= set(content(one.title))]
            found.append(node if node is not None else max(back, key=lambda one: one.turn, default=None))
        return found

    def _only_plans(self, kept: Sequence[str]) -> None:
        """Of all plans only these: the others leave, and what there is now is told."""
        self._act_on("remove", [node for node in self.graph.parts(None) if node.id not in kept])
        self._act("ask", asked=Asked(kind="list"))

    def _named_done(
        self, clause: Clause, in_other_words: Callable[[Clause], TaskNode | None]
    ) -> list[TaskNode]:
        """What a clause names as done, tasks before slots of that name: 'his key' is 'Sam's key', no 'keys'.

        in_other_words: what a clause means that names nothing which is there.
        """
        names = [bare(span.text) for span in clause.all("TI")]
        alone = len(names) == 1 and not clause.all("EW") and not self.says_all(names[0])
        told = in_other_words(clause) if alone and self.resolve(names[0], slots=True) is None else None
        if told is not None and self._may_be_done(told, clause):
            return [told]
        found = list[TaskNode]()
        for node in self.each(clause, roles="TI", slots=True):
            best = [self.best(name) for name in names] if is_slot(node) else []
            tasks = [
                one.node for one in best if one is not None and one.named > 0.99 and not is_slot(one.node)
            ]
            found.append(tasks[0] if len(tasks) == 1 and tasks[0].status == "open" else node)
        return found

    def _may_be_done(self, node: TaskNode, clause: Clause) -> bool:
        """Whether what a clause may mean by other words is one thing to do, spoken of or said in full."""
        topic = self.topic()
        here = topic is not None and self.graph.root(topic.id).id == self.graph.root(node.id).id
        whole = self.listed(node) if node.parent else self.graph.parts(node.id)
        return not whole and (here or share_named(node.title, set(content(clause.text))) > 0.99)

    def alike_in_a_list(self, name: str) -> list[TaskNode]:
        """The things of one list that a name fits alike: 'the case' of a black and a clear one."""
        said = set(content(name))
        if not said or said <= POINTING or self.says_all(name) or singular(name) != name:
            return []
        having = tasks_having(self.graph, said)
        named = [node for node in having if not is_slot(node) and said <= set(content(node.title))]
        one_list = len({node.parent for node in named}) == 1 and named[0].parent is not None
        exact = any(said == set(content(node.title)) for node in named)
        return named if one_list and not exact else []

    def but_for_others(self, found: Sequence[TaskNode], spans: Sequence[Mention]) -> list[TaskNode]:
        """What leaves whole, of what leaves; where it names several, and one of them goes, the rest stays."""
        if len(found) != 1 or len(spans) != 1:
            return list(found)
        (node,), named = found, set(content(bare(spans[0].text)))
        held = one_of_several(node.value or node.title, named)
        if held is None:
            return [node]
        self._act("set", task=node.id, value=join(held[1], limit=len(held[1])))
        return []

    def _is_paid(self, slot: TaskNode) -> bool:
        """Whether what is done is a sum that a clause names in full: 'the deposit is sent'."""
        names = self.clause.all("TI") if self.clause is not None else []
        named = any(set(content(bare(span.text))) == set(content(slot.title)) for span in names)
        return named and kind_of(slot.value or "") in ("amount", "count")

    def _told_of_one(self, clause: Clause, nodes: Sequence[TaskNode]) -> None:
        """Give the one thing that a clause is about its values: 'the engine is sold, for 640'.

        A day without a name is when that was done, not when it is due; 'paid' is no value.
        """
        named = bool(clause.all("S"))
        for told in self._details(clause) if len(nodes) == 1 else ():
            if told.value.lower() in DEEDS or set(content(told.value)) <= set(content(nodes[0].title)):
                continue
            if named or kind_of(told.value) not in ("date", "time"):
                self._set_one(nodes[0], told, clause, named=named)

    def _only_finished(self, clause: Clause, finished: Iterable[TaskNode]) -> list[TaskNode]:
        """The only thing that is done in the plan spoken of, where a clause names none of the plan."""
        topic, names = self.topic(), [bare(span.text) for span in clause.all("TI")]
        if topic is None or not names or any(self.resolve(name, gone=None) is not None for name in names):
            return []
        root = self.graph.root(topic.id).id
        only = [node for node in finished if self.graph.root(node.id).id == root]
        return only if len(only) == 1 else []

    def _slot_back(self, node: TaskNode, clause: Clause) -> TaskNode:
        """What goes back where a clause names (S) a slot of a task: this slot, out of the plan or not.

        Raises:
            Doubt: there is no such slot.
        """
        name = one(clause, "S")
        if not name or (is_slot(node) and set(content(name)) <= set(content(node.title))):
            return node
        task = self.task_of(node)
        found = (
            self.slot_in(task, name) or self._slot_of(task, name, gone=True) or self.plain_slot(task, name)
        )
        if found is None and one(clause, "T"):
            raise Doubt(f"I have no “{name}” for {self.describe(task)}. What do you mean?")
        return found or node

    def _as_item(self, clause: Clause) -> Clause:
        """A clause that adds only something (T) that is not there yet: it is an item of what is spoken of."""
        things = clause.all("T")
        if len(things) != 1 or clause.all("IPSW") or self.best(bare(things[0].text)) is None:
            return clause
        if not all(right_before(clause, amount, things[0]) for amount in clause.all("V")):
            return clause
        if self._container() is None or self.which(bare(things[0].text)) is not None:
            return clause
        spans = (replace(span, role="I") if span in things else span for span in clause.mentions)
        return replace(clause, mentions=tuple(spans))

    def _list_named(self, name: str, owner: TaskNode | None) -> TaskNode:
        """The list of that name in a task, made where there is none."""
        found = self.which(name, within=owner) if owner is not None else self.which(name)
        if found is not None and set(content(name)) <= set(content(found.title)):
            return found
        return self._create(name, owner.id if owner is not None else None)


def _saying(nodes: Iterable[TaskNode], words: str) -> TaskNode | None:
    """The first task whose title has one of these words."""
    said = set(content(words))
    return next((node for node in nodes if said & set(content(node.title))), None)
