"""From steps to operations: what the words mean in the plan as it is.

Steps are grounded one after the other on the graph that the earlier ones leave behind, so that "add a task and
assign it to Ana" works in one utterance. What cannot be grounded becomes a clarification, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from taskloom.memory.consolidate import is_person_name
from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Confirm,
    Inactivate,
    Link,
    Merge,
    Operation,
    Part,
    Question,
    Reject,
    Remove,
    Replace,
    Restore,
    Rollback,
    Split,
    Undo,
    Unlink,
    Update,
    apply,
    is_part,
    names,
    undoable,
)
from taskloom.memory.tasks import TaskGraph, TaskNode

from . import patterns as re
from . import values
from .asking import Asker
from .finding import (
    PLAN_VERB,
    Finder,
    head_is_event,
    is_event,
    is_member,
    is_person_slot,
    is_project,
    kind_name,
    knows,
    owned_by,
    slot_name,
    typed_in,
    words_of,
)
from .interpreter import Detail, Step, View
from .lexicon import GROUPS_OF_KIND, content, singular, slot_group
from .named import schema_of
from .slots import allowed, held_slots, holds
from .wording import base as base_of
from .wording import spoken


def ground(steps: Iterable[Step], view: View) -> tuple[Operation, ...]:
    """Ground steps in order.

    Returns:
        Operations on task ids, to be applied in this order; ids of tasks that earlier ones will make are
        those that `apply` will give them.
    """
    grounder = _Grounder(view)
    for step in steps:
        grounder.step(step)
    return tuple(grounder.operations)


class _Grounder(Finder):
    def __init__(
        self, view: View, graph: TaskGraph | None = None, focus: Sequence[str] | None = None
    ) -> None:
        super().__init__(view.graph if graph is None else graph, view.focus if focus is None else focus)
        self.view = view
        self.operations: list[Operation] = []

    # ---- collecting ----------------------------------------------------------------------------

    def do(self, operation: Operation, said: str) -> TaskNode | None:
        """Note an operation, and go on as if it were carried out."""
        operation = operation.model_copy(update={"said": operation.said or said[:300]})
        outcome = apply(self.graph, operation, turn=self.view.turn, said=said)
        self.operations.append(operation)
        if outcome.refused is None and outcome.changed:
            fresh = [key for key in outcome.changed if key not in self.graph]
            self.graph = outcome.graph
            self.new += fresh
            first = self.graph[outcome.changed[0]]
            self.touch(first.id)
            return first
        return None

    def clarify(
        self, step: Step, question: str, options: Sequence[str] = (), choices: Sequence[Operation] = ()
    ) -> None:
        self.operations.append(
            Clarify(said=step.text[:300], question=question, options=tuple(options), choices=tuple(choices))
        )

    # ---- what there is -------------------------------------------------------------------------

    def ambiguous(self, words: str, within: TaskNode | None = None) -> list[TaskNode]:
        """The tasks between which the words do not decide."""
        hits = [hit for hit in self.hits(words, within=within) if hit.covered > 0.99]
        if len(hits) < 2 or any(hit.node.id in self.new for hit in hits[:2]):
            return []
        level = [hit.node for hit in hits if hit.score > hits[0].score - 0.12]
        roots = [node for node in level if node.parent is None]
        level = roots if len(roots) > 1 else level
        return level if len(level) > 1 else []

    # ---- making --------------------------------------------------------------------------------

    def put(
        self, parent: TaskNode | None, slot: str, value: str, said: str, title: str | None = None
    ) -> TaskNode | None:
        """Give a slot of a task its value, new or changed."""
        name = slot_name(slot)
        held = None
        if parent is not None:
            group = slot_group(slot)
            parts = self.graph.parts(parent.id)
            if (
                group in ("place", "location")
                and name in ("place", "location")
                and not any(
                    part.name == name or slot_group(part.name) == group or part.turn == self.view.turn
                    for part in parts
                )
            ):
                group = "location" if group == "place" else "place"  # one word for the other
            for node in self.graph.parts(parent.id):
                if (
                    not is_member(node)
                    and owned_by(node, slot.replace("_", " "))
                    and (
                        node.name == name
                        or (group and slot_group(node.name) == group and node.value is not None)
                    )
                ):
                    held = node
                    if node.name == name:
                        break
        if held is None and parent is not None and name not in ("value", "detail"):
            wanted = content(slot.replace("_", " "))
            held = next(
                (
                    part for part in self.graph.parts(parent.id)
                    if wanted and not is_member(part) and part.value is not None and wanted < content(part.title)
                    and owned_by(part, slot.replace("_", " "))
                ), None,
            )  # fmt: skip
        if held is not None:
            if _same_value(held.value, value):
                self.touch(held.id)
                if held.stale_since is None:
                    return held
            return self.do(Update(task=held.id, value=value), said) or held
        dotted = f"{parent.slot}.{name}" if parent else name
        if parent is None and (other := self.graph.part(None, name)) is not None:
            return self.do(Update(task=other.id, value=value), said)
        return self.do(
            Add(
                slot=dotted,
                title=title or slot.replace("_", " "),
                value=value,
                parent=parent.id if parent else None,
            ),
            said,
        )

    def member(self, parent: TaskNode | None, slot: str, title: str, said: str) -> TaskNode | None:
        """A member of a container: new, back again, or there already."""
        title = title.strip(" .,;")
        if not title:
            return None
        for node in self.graph.parts(parent.id if parent else None, gone=True):
            if content(node.title) == content(title) and (is_member(node) or node.value is None):
                if node.active:
                    self.touch(node.id)
                    return node
                return self.do(Restore(task=node.id), said)
        base = re.sub(r"\d+$", "", slot_name(slot)) or "item"
        taken = {node.slot for node in self.graph.parts(parent.id if parent else None, gone=True)}
        prefix = f"{parent.slot}." if parent else ""
        number = next(n for n in range(1, len(taken) + 2) if f"{prefix}{base}{n}" not in taken)
        return self.do(
            Add(slot=f"{prefix}{base}{number}", title=title, parent=parent.id if parent else None), said
        )

    def new_root(
        self,
        title: str,
        said: str,
        slot: str | None = None,
        parent: TaskNode | None = None,
        value: str | None = None,
    ) -> TaskNode | None:
        """A task of its own, under a name that is free."""
        name = slot or kind_name(title)
        prefix = f"{parent.slot}." if parent else ""
        taken = {node.slot for node in self.graph.parts(parent.id if parent else None, gone=True)}
        free, number = f"{prefix}{name}", 2
        while free in taken:
            free, number = f"{prefix}{name}{number}", number + 1
        return self.do(Add(slot=free, title=title, parent=parent.id if parent else None, value=value), said)

    # ---- the steps -----------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        handler: Callable[[Step], None] | None = getattr(self, f"_{step.act}", None)
        if handler is not None:
            handler(step)

    def known(self, step: Step) -> TaskNode | None:
        """The task that a step names by id, else by words."""
        if step.task and step.task in self.graph:
            return self.graph[step.task]
        return None

    def within(self, step: Step) -> TaskNode | None:
        if step.within_task and step.within_task in self.graph:
            return self.graph[step.within_task]
        return (self.whole(step.within) or self.find(step.within, loose=False)) if step.within else None

    def _chat(self, step: Step) -> None:
        pass

    def _task(self, step: Step) -> None:
        title = _tidy(step.title or step.target or step.text)
        whole = PLAN_VERB.sub("", title) or title
        known = self.known(step) or self._same_task(step, whole)
        if known is not None:
            self.touch(known.id)
            self._details(known, step)
            return
        parent = self.within(step)
        event = is_event(whole) and head_is_event(whole)
        planned = _noun_of(whole) if not event and _PLANS.match(title) else None
        root = self.root()
        slot = slot_name(step.slot) if step.slot else None
        purpose = bool(step.items) and step.intent == "new" and step.target == step.title and not event
        if parent is None and root is not None:
            hinted = slot is not None and not (event and slot == kind_name(whole))
            if hinted or (not purpose and not self._own_root(title, whole, root)):
                parent = root
        name = whole if event or planned else title
        if value := (step.value if step.slot else None):
            self.put(parent, step.slot or "task", value, step.text)
            return
        if slot and parent is not None and (held := self.graph.part(parent.id, f"{parent.slot}.{slot}")):
            self.do(Update(task=held.id, title=name), step.text)
            self._details(held, step)
            return
        node = self.new_root(
            name, step.text, slot=slot or (kind_name(whole) if event else planned), parent=parent
        )
        if node is not None:
            self._details(node, step)
            self.touch(node.id)

    def _own_root(self, title: str, whole: str, root: TaskNode) -> bool:
        """Whether something new stands beside what the talk is about, not under it."""
        if not is_project(root.title, root.name):
            return True
        if root.name in ("list", "order", "cart") and not is_event(whole):
            return True
        return head_is_event(whole) or _PLANS.match(title) is not None

    def _same_task(self, step: Step, title: str) -> TaskNode | None:
        wanted = content(title)
        if not wanted:
            return self.root() if step.intent is None else None
        for hit in self.hits(title)[:5]:
            node = hit.node
            if node.value is not None and not self.graph.parts(node.id):
                continue
            own = content(PLAN_VERB.sub("", node.title))
            if step.intent == "new" and self._conflicts(node, step):
                continue
            if own == wanted or (step.intent is None and hit.covered > 0.99 and wanted & own):
                return node
        return None

    def _conflicts(self, node: TaskNode, step: Step) -> bool:
        """Whether a step gives a task other details than it has: then it is another task of that name."""
        for detail in step.details:
            held = next(
                (part for part in self.graph.parts(node.id) if part.name == detail.slot and part.value), None
            )
            if held is not None and not _same_value(held.value, detail.value):
                return True
        people = {content(part.title) for part in self.graph.parts(node.id) if is_member(part)}
        return bool(people and step.items) and not any(content(item.value) in people for item in step.items)

    def _details(self, node: TaskNode, step: Step) -> None:
        for detail in step.details:
            self.put(node, detail.slot, detail.value, step.text)
        for item in step.items:
            existing = None
            if item.slot in ("item", "step"):
                existing = self._shared_item(node, item.value)
            if existing is None:
                self.member(self.graph[node.id], item.slot, item.value, step.text)
        self.touch(node.id)

    def _shared_item(self, node: TaskNode, words: str) -> TaskNode | None:
        """Nothing is shared that the user did not say is."""
        del node, words
        return None

    def _set(self, step: Step) -> None:
        if self._set_by_schema(step):
            return None
        known = self.known(step)
        scope = self.within(step)
        if step.within and scope is None and step.slot is None and step.details and step.target == "":
            scope = self.container_or_new(step.within, step.text)
        if step.old == "same":
            return self._same_for(step)
        if step.items and (scope or known or self.root()):
            owner = known or scope or self.find(step.target) or self.root()
            if owner is not None:
                for item in step.items:
                    self.member(
                        self.holder(owner) if owner.value is not None else owner,
                        item.slot,
                        item.value,
                        step.text,
                    )
        if known is not None and step.value is not None:
            if self.graph.parts(known.id) and known.value is None and step.details:
                return self._set_details(known, step)
            return self._assign_value(known, step.value, step)
        if known is not None and step.details:
            return self._set_details(known, step)
        if step.value is None and not step.details:
            return None
        if step.target or step.slot or step.old == "title":
            self._set_named(step, scope)
        else:
            self._set_it(step, scope)
        return None

    def _set_by_schema(self, step: Step) -> bool:
        """Set a slot that is named just as the schema of the task in focus names it; whether it was."""
        if not step.slot or step.value is None or spoken(step.slot).lower() != step.target.lower():
            return False
        begun = any(self.graph[key].parent is None for key in self.new)  # then no question is about it
        question = None if begun else self.view.question
        found = schema_of(replace(self.view, graph=self.graph, focus=tuple(self.focus), question=question))
        slot = next((one for one in found[1].slots if one.name == step.slot), None) if found else None
        if found is None or slot is None:
            return False
        root = self.graph[found[0]]
        held = held_slots(self.graph, root.id, found[1]).get(slot.name, ())
        value = allowed(step.value, slot.values) or step.value
        if node := next((one for one in held if one.active and holds(one, slot.name)), None):
            self.do(Update(task=node.id, value=value), step.text)
        else:
            title = spoken(slot.name)
            self.do(Add(slot=f"{root.slot}.{slot.name}", title=title, value=value, parent=root.id), step.text)
        return True

    def _assign_value(self, node: TaskNode, value: str, step: Step) -> None:
        """A value to a task: in its slot, or in its name where it is one of a list or has no value."""
        value = self._styled(node, value)
        if node.value is not None or not is_member(node):
            if node.value is None and (self.graph.parts(node.id) or node.parent is None):
                self._retitle(node, value, step)
                return
            if _same_value(node.value, value) and node.stale_since is None:
                self.touch(node.id)
                return
            self.do(Update(task=node.id, value=value), step.text)
            return
        self._retitle(node, value, step)

    def _styled(self, node: TaskNode, value: str) -> str:
        """'8' as '8pm' where the task has '7pm'."""
        half = re.search(r"\s*[ap]\.?m\.?$", node.value or "", re.IGNORECASE)
        return f"{value}{half[0]}" if half and re.fullmatch(r"\d{1,2}(?::\d\d)?", value) else value

    def _retitle(self, node: TaskNode, value: str, step: Step) -> None:
        self.do(Update(task=node.id, title=value), step.text)

    def _set_named(self, step: Step, scope: TaskNode | None) -> None:
        words = step.target or (step.slot or "").replace("_", " ")
        value = step.value or ""
        if (
            step.old
            and step.old not in ("last", "move", "title")
            and (node := self._value_node(step.old, scope))
        ):
            self.do(
                Update(task=node.id, value=value)
                if node.value
                else Update(task=node.id, title=_exchanged(node.title, step.old, value)),
                step.text,
            )
            return None
        if step.old == "title":
            node = self.find(words) if words else next(iter(self.focus_nodes()), None)
            node = node or self.root()
            if node is not None:
                self.do(
                    Update(task=node.id, value=value)
                    if node.value is not None and not is_member(node) and node.parent
                    else Update(task=node.id, title=value),
                    step.text,
                )
            return None
        if step.old == "move" and self.find(words, loose=False) is None and self.slot(words) is None:
            return self._set_it(step, scope)  # another word for what the talk is about
        owner, name = self._slot_of_owner(words)
        if owner is not None and step.task is None and (owner.value is None or self.graph.parts(owner.id)):
            self.put(owner, name, value, step.text)
            return None
        if (
            step.task is None
            and not slot_group(words)
            and (doubtful := self.ambiguous(words))
            and self._choose(step, words, doubtful)
        ):
            return None
        if step.within and scope is None and step.slot and self.slot(words) is None:  # 'my dog's name'
            self.put(self.root(), f"{step.within} {step.slot}", value, step.text, title=words)
            return None
        if (
            step.within
            and scope is not None
            and step.slot
            and "'s " in words
            and self.slot(words, within=scope) is None
            and step.within.lower() not in (scope.name, scope.title.lower(), kind_name(scope.title))
        ):
            self.put(scope, f"{step.within} {step.slot}", value, step.text, title=words)
            return None
        if step.slot and scope is not None:
            self.put(scope, step.slot, value, step.text, title=step.slot.replace("_", " "))
            return None
        group = slot_group(words) or (slot_group(step.slot) if step.slot else None)
        slot = self.slot(words, within=scope) or (
            self.slot(step.slot.replace("_", " "), within=scope) if step.slot else None
        )
        if (
            slot is None
            and (not group or step.slot is None)
            and (hit := self.find(words, loose=False)) is not None
        ):
            if hit.value is not None and not is_member(hit):
                slot = hit
                if not content(words) & (
                    content(hit.title) | content(hit.name)
                ):  # named by its value: 'change Boston to Denver'
                    if step.details and len(step.details) == 1 and step.slot is None:
                        self.do(Update(task=hit.id, value=value), step.text)
                        return None
                    self.do(Update(task=hit.id, value=_exchanged(hit.value, words, value)), step.text)
                    return None
            elif step.details:
                return self._set_details(hit, step)
            elif step.slot and not is_member(hit) and hit.parent is None and step.intent is None:
                self.put(hit, step.slot, value, step.text)
                return None
            else:
                typed = values.kind_of(value)
                if typed == "count" and values.number_of(hit.title) is not None:
                    self.do(
                        Update(
                            task=hit.id,
                            title=values.with_number(hit.title, values.number_of(value) or Decimal(1)),
                        ),
                        step.text,
                    )
                    return None
                if (
                    step.slot
                    and (is_member(hit) or hit.name.startswith("task"))
                    and (typed or not re.match(r"[A-Za-z]", value))
                ):
                    self.put(hit, typed or "value", value, step.text)
                    return None
                if (
                    is_member(hit)
                    and hit.value is None
                    and step.slot
                    and content(words) == content(hit.title)
                ):
                    self.do(Update(task=hit.id, value=value), step.text)
                    return None
                if self.graph.parts(hit.id) or hit.parent is None:
                    other = self._untyped(hit)
                    if other is not None and not step.slot:
                        self.do(Update(task=other.id, value=value), step.text)
                        return None
                    if step.slot and hit.parent is None and slot_group(words) is None:
                        self.do(Update(task=hit.id, title=value), step.text) if not step.slot else self.put(
                            hit, "value", value, step.text
                        )
                        return None
                if is_member(hit) and hit.title.lower().startswith(words.lower() + " "):
                    self._retitle(hit, f"{hit.title[: len(words)]} {value}", step)
                    return None
                if (
                    hit.parent is None
                    and not is_member(hit)
                    and words == words.lower()
                    and not step.task
                    and not names(words, _last_phrase(hit.title))
                ):
                    self.put(hit, words, value, step.text)
                    return None
                qualified = re.search(
                    rf"(\b(?:an?|the|with|of|in|for)\s+)([\w-]+)(\s+{re.escape(words)})\b",
                    hit.title,
                    re.IGNORECASE,
                )
                if (
                    qualified and words == words.lower() and len(value.split()) < 3
                ):  # 'a diesel engine' becomes a hybrid one
                    self._retitle(
                        hit, hit.title[: qualified.start(2)] + value + hit.title[qualified.end(2) :], step
                    )
                    return None
                self._retitle(
                    hit,
                    _exchanged(hit.title, words, value)
                    if names(words, hit.title) and len(content(hit.title)) > len(content(words))
                    else value,
                    step,
                )
                return None
        if slot is not None:
            if step.details and len(step.details) > 1 and group in ("date", "time"):
                return self._set_details(self.holder(slot), step)
            self._assign_value(slot, value, step)
            return None
        if (" " in words and step.slot is None) or (step.slot and "_" in step.slot):
            owner, name = self._owner_and_slot(words)
            if owner is not None and name:
                self.put(owner, name, value, step.text)
                return None
        if group is None and step.slot is None:
            gone = self.find(words, gone=True, active=False, loose=False)
            if gone is not None and gone.value is None:
                self.clarify(
                    step,
                    f"{gone.title} is not part of the plan any more. Shall I bring it back?",
                    ("yes",),
                    (Restore(task=gone.id),),
                )
                return None
            if self.focus_nodes() and step.details:
                return self._set_it(step, scope)
            if knows(self.graph, words) is False and not re.match(r"[\w ]{2,30}$", words):
                self.clarify(
                    step,
                    f"I am not sure what to change to {value}. Which task or detail do you mean by “{words}”?",
                )
                return None
        parent = scope or self._fresh() or self.root()
        timed = bool(step.details) and all(
            detail.slot in ("date", "time", "place", "location", "destination", "start", "party_size", "room")
            for detail in step.details
        )
        if (
            timed
            and group is None
            and (parent is None or is_event(words) or not is_project(parent.title, parent.name))
        ):
            node = self.new_root(words, step.text)
            if node is not None:
                for detail in step.details:
                    self.put(self.graph[node.id], detail.slot, detail.value, step.text)
                for item in step.items:
                    self.member(self.graph[node.id], item.slot, item.value, step.text)
                self.touch(node.id)
            return None
        self.put(
            parent,
            step.slot or words,
            value,
            step.text,
            title=words if slot_group(words) is None or len(words.split()) < 4 else None,
        )
        return None

    def _owner_and_slot(self, words: str) -> tuple[TaskNode | None, str]:
        """'wedding date' is the date of the wedding; 'Ana's time' the time of Ana."""
        tokens = words.replace("'s", "").split()
        for cut in range(1, len(tokens)):
            owner, name = " ".join(tokens[:cut]), " ".join(tokens[cut:])
            if slot_group(name) or self.slot(name, anywhere=False):
                node = self.find(owner, loose=False)
                if node is not None and (node.value is None or self.graph.parts(node.id)):
                    return node, name
        return None, ""

    def _slot_of_owner(self, words: str) -> tuple[TaskNode | None, str]:
        """'date of the trip to Rome': the task and the name of its slot."""
        found = re.fullmatch(r"(.+?) (?:of|for) (?:the |my |our )?(.+)", words)
        owner = self.whole(found[2]) if found else None
        return (owner, found[1]) if found and owner is not None else (None, "")

    def _fresh(self) -> TaskNode | None:
        """The task that this utterance has just made: 'there is a viewing, the date is Saturday'."""
        made = [
            self.graph[key]
            for key in self.new
            if self.graph[key].value is None and not is_member(self.graph[key])
        ]
        return made[-1] if made and self.operations and self.operations[0].kind == "add" else None

    def _choose(self, step: Step, words: str, nodes: Sequence[TaskNode]) -> bool:
        """Ask which of several tasks is meant, with what would be done to each."""
        if any(node.value is not None and not is_member(node) for node in nodes):
            return False
        choices: list[Operation] = []
        for node in nodes[:5]:
            trial = _Grounder(self.view, self.graph, self.focus)
            trial.step(step.model_copy(update={"task": node.id, "target": ""}))
            if len(trial.operations) != 1 or isinstance(trial.operations[0], Clarify):
                return False
            choices.append(trial.operations[0])
        self.clarify(
            step, f"Which {words} do you mean?", [self.describe(node) for node in nodes[:5]], choices
        )
        return True

    def _value_node(self, old: str, scope: TaskNode | None) -> TaskNode | None:
        """The active task whose value or title names an old value."""
        return self.find(old, within=scope, loose=False)

    def _set_details(self, node: TaskNode, step: Step) -> None:
        """Typed values to the slots of a task: 'move the meeting to Friday at 3'."""
        owner = node
        if node.value is not None and not self.graph.parts(node.id):
            if len(step.details) == 1 and not is_member(node) and _fits(node, step.details[0]):
                self.do(Update(task=node.id, value=step.details[0].value), step.text)
                return
            owner = self.holder(node) if not is_member(node) else node
        for detail in step.details:
            slot = detail.slot
            if (node.value is None and (inner := typed_in(node.title, slot))) and slot in (
                "date",
                "time",
                "budget",
                "count",
            ):
                self.do(Update(task=node.id, title=_exchanged(node.title, inner, detail.value)), step.text)
                continue
            if slot == "count" and (number := self._number_slot(detail.value.rpartition(" ")[2])) is not None:
                self.do(
                    Update(
                        task=number.id,
                        value=detail.value
                        if number.value and len(number.value.split()) > 1
                        else values.with_number(
                            number.value or "", values.number_of(detail.value) or Decimal(1)
                        ),
                    )
                    if number.value
                    else Update(
                        task=number.id,
                        title=values.with_number(number.title, values.number_of(detail.value) or Decimal(1)),
                    ),
                    step.text,
                )
                continue
            if slot == "number":
                slot = "time"
                time = self.typed_slot("time", owner)
                value = detail.value
                if (
                    time is not None
                    and time.value
                    and (half := re.search(r"\s*[ap]\.?m\.?", time.value, re.IGNORECASE))
                ):
                    value = f"{detail.value}{half[0]}"
                self._assign_value(time, value, step) if time is not None else self.put(
                    owner, "time", value, step.text
                )
                continue
            held = (
                self.typed_slot(slot, owner)
                if slot in ("date", "time", "budget", "deadline", "email", "phone", "duration")
                else None
            )
            if (
                held is not None
                and self.graph.root(held.id).id == self.graph.root(owner.id).id
                and (
                    held.parent == owner.id
                    or owner.id in {n.id for n in self.graph.ancestors(held.id)}
                    or held.id == owner.id
                )
            ):
                self._assign_value(held, detail.value, step)
            else:
                named = next(
                    (
                        n
                        for n in self.graph.parts(owner.id)
                        if n.value and values.kind_of(n.value) == slot and not is_member(n)
                    ),
                    None,
                )
                if named is not None:
                    self._assign_value(named, detail.value, step)
                else:
                    self.put(owner, slot, detail.value, step.text)
        self.touch(owner.id)

    def _set_it(self, step: Step, scope: TaskNode | None) -> None:
        """'Make it Friday', 'I meant Tuesday', 'at 1 PM': to the nearest slot of its kind."""
        value = step.value or ""
        if step.old == "move" and not step.details and not values.kind_of(value):
            place = self.slot("place") or self.slot("destination", anywhere=False)
            owner = self._detail_owner()
            if place is not None:
                self._assign_value(place, value, step)
                return
            if owner is not None:
                self.put(owner, "place", value, step.text)
                return
        if step.old and step.old not in ("last", "move") and (node := self._value_node(step.old, scope)):
            if node.value is not None and names(step.old, node.value):
                new = (
                    value
                    if content(node.value) == content(step.old)
                    else _exchanged(node.value, step.old, value)
                )
                self.do(Update(task=node.id, value=new), step.text)
            else:
                self.do(Update(task=node.id, title=_exchanged(node.title, step.old, value)), step.text)
            return
        if scope is not None and step.details:
            for detail in step.details:
                self.put(scope, detail.slot, detail.value, step.text)
            return
        if step.details:
            for detail in step.details:
                slot = "time" if detail.slot == "number" else detail.slot
                if (
                    slot == "count"
                    and (number := self._number_slot(detail.value.rpartition(" ")[2])) is not None
                ):
                    self._set_details(
                        self.holder(number) if number.value else number,
                        step.model_copy(update={"details": (detail,)}),
                    )
                    continue
                held = self.typed_slot(slot, None)
                if held is not None and slot == "time" and detail.slot == "number" and held.value:
                    half = re.search(r"\s*[ap]\.?m\.?", held.value, re.IGNORECASE)
                    self._assign_value(
                        held, detail.value + (half[0] if half and "m" not in detail.value else ""), step
                    )
                elif held is not None:
                    focus = next(iter(self.focus_nodes()), None)
                    own = self._detail_owner()
                    if (
                        step.old != "last"
                        and own is not None
                        and held.parent != own.id
                        and own.id != held.id
                        and focus is not None
                        and not self._related(held, own)
                    ):
                        self.put(own, slot, detail.value, step.text)
                    else:
                        self._assign_value(held, detail.value, step)
                elif (named := self._titled_with(slot)) is not None:
                    self.do(
                        Update(
                            task=named.id,
                            title=_exchanged(named.title, typed_in(named.title, slot) or "", detail.value),
                        ),
                        step.text,
                    )
                elif (own := self._detail_owner()) is not None:
                    self.put(own, slot, detail.value, step.text)
                else:
                    self.clarify(step, f"What is {detail.value} for?")
            return
        if step.old == "last" and (shaped := self._shaped(value)) is not None:
            node, token = shaped
            self.do(
                Update(task=node.id, value=_exchanged(node.value, token, value))
                if node.value
                else Update(task=node.id, title=_exchanged(node.title, token, value)),
                step.text,
            )
            return
        if step.old == "last" and (alike := self._headed_alike(value)) is not None:
            node, phrase = alike
            noun = content(value.split()[-1])
            new = (
                " ".join(value.split()[:-1])
                if node.value == phrase and noun <= content(node.title) and not noun & content(phrase)
                else ""
            )
            new = new or _exchanged(node.value or node.title, phrase, value)
            self.do(
                Update(task=node.id, value=new)
                if node.value is not None
                else Update(task=node.id, title=new),
                step.text,
            )
            return
        latest = self._latest_value(value, corrected=step.old == "last")
        if latest is not None:
            if latest.value is not None:
                new = value
                self._assign_value(latest, new, step)
            else:
                self._retitle(latest, _last_phrase_exchanged(latest.title, value), step)
            return
        roots = self.focus_nodes()
        if roots and step.old == "last":
            self._retitle(roots[0], _last_phrase_exchanged(roots[0].title, value), step)
            return
        if (root := self.root()) is not None and not self.graph.parts(root.id) and root.value is None:
            self.put(root, "detail", value, step.text)
            return
        self.clarify(step, f"What should be {value}?", *self._slot_options(value))

    def _titled_with(self, slot: str) -> TaskNode | None:
        """The task in focus whose name carries a value of this kind, if there is just one."""
        for node in self.focus_nodes():
            named = [
                one
                for one in (node, *self.graph.parts(node.id))
                if one.value is None and typed_in(one.title, slot)
            ]
            if len(named) == 1:
                return named[0]
        return None

    def _related(self, held: TaskNode, own: TaskNode) -> bool:
        return own.id in {node.id for node in self.graph.ancestors(held.id)} or held.parent in {
            node.id for node in self.graph.ancestors(own.id)
        }

    def _headed_alike(self, value: str) -> tuple[TaskNode, str] | None:
        """A phrase of the plan with the same noun: 'Italian course' can only correct 'Portuguese course'."""
        words = value.split()
        if len(words) < 2 or not words[-1].isalpha():
            return None
        slot = self.slot(words[-1])
        if slot is not None and slot.value and content(words[-1]) <= content(slot.title):
            return slot, slot.value  # 'blue tiles' where the tiles are green
        for node in sorted(self.graph.active, key=lambda one: -one.turn):
            found = re.search(rf"[\w-]+\s+{re.escape(words[-1])}\b", node.value or node.title, re.IGNORECASE)
            if found and found[0].lower() != value.lower():
                return node, found[0]
        return None

    def _shaped(self, value: str) -> tuple[TaskNode, str] | None:
        """A word of the same shape among what was said last: 'A2' can only correct 'B1'."""
        if not re.fullmatch(r"\S*\d\S*", value) or values.kind_of(value) not in (None, "count"):
            return None
        latest = max((node.turn for node in self.graph.active), default=0)
        for node in self.graph.active:
            if node.turn == latest:
                for token in re.findall(r"[^\s,.;:]+", node.value or node.title):
                    if token != value and _shape(token) == _shape(value):
                        return node, token
        return None

    def _slot_options(self, value: str) -> tuple[tuple[str, ...], tuple[Operation, ...]]:
        root = self.root()
        slots = (
            [node for node in self.graph.parts(root.id) if node.value and not is_member(node)] if root else []
        )
        return tuple(node.title for node in slots[:6]), tuple(
            Update(task=node.id, value=value) for node in slots[:6]
        )

    def _detail_owner(self) -> TaskNode | None:
        """The task that a value without a name belongs to."""
        for node in self.focus_nodes():
            if node.value is None or self.graph.parts(node.id):
                if is_member(node) and node.parent and is_person_slot(node):
                    continue
                return node
            if node.parent:
                return self.graph[node.parent]
        return self.root()

    def _latest_value(self, value: str, *, corrected: bool) -> TaskNode | None:
        """The slot last set that could hold an untyped value."""
        for node in self.focus_nodes():
            candidates = [node] if node.value is not None and not is_member(node) else []
            if not candidates:
                candidates = [
                    part
                    for part in self.graph.parts(node.id)
                    if part.value is not None and not is_member(part)
                ]
                candidates.sort(key=lambda part: -part.turn)
            for one in candidates:
                if one.value and (
                    values.kind_of(one.value) is None or values.kind_of(one.value) == values.kind_of(value)
                ):
                    return one
            if corrected and node.value is None and not candidates:
                return node
            if node.value is None and is_member(node) and not is_person_slot(node):
                return node
            if (
                node.value is None
                and node.parent
                and not node.name.startswith("task")
                and not self.graph.parts(node.id)
            ):
                return node
        return None

    def _same_for(self, step: Step) -> None:
        """'Same for the invoice': the last change once more, on another task."""
        node = self.find(step.target)
        last = next((n for n in self.focus_nodes() if n.value is not None), None)
        root = last and self.graph.get(last.parent or "")
        source = (
            [part for part in self.graph.parts(root.id) if part.value and not is_member(part)] if root else []
        )
        if node is None:
            title = step.target
            first = self.focus_nodes()[0] if self.focus_nodes() else None
            task = first if first is not None and first.value is None else root
            if task is not None and (words := task.title.split()):
                title = f"{words[0]} the {step.target}"
                source = source or [
                    part for part in self.graph.parts(task.id) if part.value and not is_member(part)
                ]
            node = self.new_root(title, step.text)
        if node is not None:
            for part in source:
                self.put(node, part.name, part.value or "", step.text)

    # ---- members -------------------------------------------------------------------------------

    def _add(self, step: Step) -> None:
        person = any(is_person_name(item.slot) for item in step.items)
        target = self.known(step)
        words = step.target or step.within
        if target is None and step.slot == "things":
            root = self.root()
            held = self.find(step.title or "", loose=False)
            if held is not None and held.value is None:
                target = held
            elif root is not None and (
                is_project(root.title, root.name)
                or (self._has_members(root) and root.name in ("list", "cart", "order"))
            ):
                target = root
            else:
                target = self.new_root(step.title or "list", step.text, slot="list")
        if target is None and step.slot == "list":
            root = self.root()
            target = (
                root
                if root is not None
                and (is_event(root.title) or self._has_members(root))
                and not root.name.startswith("task")
                else None
            )
            if target is None:
                for item in step.items:
                    node = self.new_root(
                        f"{step.title} {item.value}"
                        if step.title and step.title != "list" and not item.value.startswith(step.title)
                        else item.value,
                        step.text,
                    )
                    del node
                return
        if target is None:
            target = self.container_or_new(words, step.text, person=person)
        if target is None:
            target = self.new_root(words or "list", step.text, slot="list")
        if target is None:
            return
        if target.value is not None and not self.graph.parts(target.id):
            target = self.holder(target)
        slot = self._usual_slot(target)
        for item in step.items:
            count = re.fullmatch(
                r"(\d+|[a-z]+) (?:more )?(people|guests|persons|participants|attendees|seats)", item.value
            )
            if count and (number := self._number_slot(count[2])) and values.number_of(count[1]) is not None:
                self._change_number(number, values.number_of(count[1]) or Decimal(0), "+", step)
                continue
            name = item.slot
            if (name == "item" and slot) or (
                name in ("participant", "guest") and slot and is_person_name(slot)
            ):
                name = slot
            self.member(self.graph[target.id], name, item.value, step.text)
        self.touch(target.id)

    def _usual_slot(self, target: TaskNode) -> str | None:
        parts = [
            re.sub(r"\d+$", "", part.name)
            for part in self.graph.parts(target.id, gone=True)
            if is_member(part) and not is_part(part)
        ]
        return parts[0] if parts else None

    def _only(self, step: Step) -> None:
        container = self.known(step) or (
            self.find(step.target, loose=False)
            if step.target and step.target.lower() not in ("it", "list")
            else None
        )
        found = [self.find(item.value, gone=True) for item in step.items]
        if (
            container is None
            or is_member(container)
            or (container.value is not None and not self.graph.parts(container.id))
        ):
            homes = [self.holder(node) for node in found if node is not None]
            container = (
                max(homes, key=lambda home: sum(h.id == home.id for h in homes))
                if homes
                else self.container("")
            )
        if container is None:
            self.clarify(step, "What should be reset to that?")
            return
        if (
            not self.members(container)
            and container.parent is not None
            and self.members(self.holder(container))
        ):
            container = self.holder(container)
        members = self.members(container) or [p for p in self.graph.parts(container.id) if p.value is None]
        if _is_person_list(step.items, members):
            members = [node for node in members if is_person_slot(node)] or members
        before = len(self.operations)
        keep: set[str] = set()
        for item in step.items:
            hits = [
                hit.node for hit in self.hits(item.value, gone=True, within=container) if hit.covered > 0.99
            ]
            active = [node for node in hits if node.active]
            pool = active or hits
            exact = [node for node in pool if content(node.title) == content(item.value)]
            if pool:
                node = (exact or pool)[0]
                chosen = [node]
                if not exact and item.value.lower().endswith("s") and len(pool) > 1:
                    chosen = [other for other in pool if is_member(other)]
                for one in chosen:
                    if not one.active:
                        self.do(Restore(task=one.id), step.text)
                    keep.add(one.id)
            else:
                made = self.member(
                    self.graph[container.id], self._usual_slot(container) or "item", item.value, step.text
                )
                if made is not None:
                    keep.add(made.id)
        for node in members:
            if node.id not in keep and not any(a.id in keep for a in self.graph.subtree(node.id)):
                if node.parent != container.id and container.id not in {
                    a.id for a in self.graph.ancestors(node.id)
                }:
                    self.do(Unlink(task=container.id, on=node.id), step.text)
                else:
                    self.do(Remove(task=node.id), step.text)
        if len(self.operations) == before:  # it is so already; the reply says what it holds
            self.operations.append(
                Check(
                    said=step.text[:300],
                    question=Question(kind="list", tasks=(container.id,), about=container.title),
                )
            )
        self.touch(container.id)

    # ---- leaving and coming back ---------------------------------------------------------------

    def _remove(self, step: Step) -> None:
        within = self.within(step)
        if step.everyone and not step.target and not step.items:
            container = within or self.container("")
            for node in self.members(container) if container else ():
                self.do(Remove(task=node.id), step.text)
            return
        for words in [item.value for item in step.items] or [step.target]:
            self._leave(step, words, within, Remove)

    def _hold(self, step: Step) -> None:
        for words in [item.value for item in step.items] or [step.target]:
            self._leave(step, words, self.within(step), Inactivate)

    def _leave(
        self, step: Step, words: str, within: TaskNode | None, kind: type[Remove] | type[Inactivate]
    ) -> None:
        node = self.known(step)
        if node is None and not words:
            node = next(iter(self.focus_nodes()), None)
            if (
                node is not None
                and step.act == "remove"
                and re.search(r"\b(?:him|her|he|she)\b", step.text, re.IGNORECASE)
            ):
                node = self._last_person() or node
            if node is not None and node.value is not None and not is_member(node) and step.act == "hold":
                node = self.holder(node)
        if node is None:
            if within is not None and (linked := self._linked(within, words)):
                self.do(Unlink(task=within.id, on=linked.id), step.text)
                return
            doubtful = self.ambiguous(words, within)
            if doubtful:
                self.clarify(
                    step,
                    f"Which one do you mean by {words}?",
                    [self.describe(n) for n in doubtful],
                    [kind(task=n.id) for n in doubtful],
                )
                return
            node = self.find(words, within=within) or (self.find(words) if within is not None else None)
        if node is None and words and not self.hits(words, gone=True):
            single = singular(words)
            node = self.find(single) if single != words else None
        if node is None:
            gone = self.find(words, gone=True, active=False, loose=False)
            if gone is not None:
                self.do(kind(task=gone.id), step.text)  # is refused, with the reason
                return
            self.clarify(step, f"I do not find “{words}” in the plan. What should I take out?")
            return
        if (
            within is not None
            and node.parent != within.id
            and within.id in set(self.graph.dependents.get(node.id, ()))
        ):
            self.do(Unlink(task=within.id, on=node.id), step.text)
            return
        if (
            within is not None
            and node.parent == within.id
            and (heirs := [k for k in self.graph.dependents.get(node.id, ()) if self.graph[k].active])
        ):
            self._divide(node, heirs, step.text)
        if (
            not is_member(node)
            and node.value is not None
            and not content(words) <= (content(node.title) | content(node.name) | content(node.value))
            and not content(words) <= words_of(node)
        ):
            owner = self.holder(node)
            node = owner if content(words) & words_of(owner) else node
        extra = content(node.title) - content(words)
        listed = _without(node.title, words) if is_member(node) or node.value is None else None
        if extra and listed and node.value is None and re.search(r",|\band\b", node.title):
            self.do(Update(task=node.id, title=listed), step.text)
            return
        if (
            node.value is not None
            and not is_member(node)
            and (rest := _without(node.value, words))
            and not content(words) & content(node.title)
        ):
            self.do(Update(task=node.id, value=rest), step.text)
            return
        self.do(kind(task=node.id), step.text)
        if node.parent and node.parent in self.graph:
            self.touch(node.parent)

    def _divide(self, node: TaskNode, users: Sequence[str], said: str) -> None:
        """A shared task gives each other user a copy of its own, before one of them changes its own."""
        for user in users:
            self.do(Unlink(task=user, on=node.id), said)
            self.member(self.graph[user], self._usual_slot(self.graph[user]) or "item", node.title, said)

    def _last_person(self) -> TaskNode | None:
        for node in self.focus_nodes():
            if is_person_slot(node):
                return node
            people = [part for part in self.graph.parts(node.id) if is_person_slot(part)]
            if people:
                return people[0] if len(people) == 1 else people[-1]
        return None

    def _resume(self, step: Step) -> None:
        within = self.within(step)
        wanted = [item.value for item in step.items] or [step.target]
        known = self.known(step)
        for words in wanted:
            node = known or (
                self.find(words, gone=True, active=False, within=within, loose=False)
                if words
                else self._last_gone()
            )
            while (
                node is not None
                and words
                and node.parent
                and not self.graph[node.parent].active
                and content(words) & words_of(self.graph[node.parent])
            ):
                node = self.graph[node.parent]
            present = self.find(words, loose=False, within=within) if words else None
            if present is not None and (node is None or content(words) == content(present.title)):
                self.touch(present.id)
                self.operations.append(
                    Check(said=step.text, question=Question(kind="status", tasks=(present.id,), about=words))
                )
                continue
            if node is None and words:
                node = self.find(words, gone=True, active=False)
            if node is None and re.fullmatch(r"(?:them|those|all of (?:them|it)|it|both)?", words):
                node = self._last_gone()
            if node is None and words and (owner := self._former_owner(words, None)) is not None:
                to = self._state_with(owner, words, first=False)
                if to is not None and to < len(owner.history):
                    self.do(Rollback(task=owner.id, to=to), step.text)
                    continue
            if node is None:
                present = self.find(words) if words else None
                if present is not None:
                    self.operations.append(
                        Check(
                            said=step.text, question=Question(kind="status", tasks=(present.id,), about=words)
                        )
                    )
                    continue
                self.clarify(
                    step, f"I do not find “{words}” among what was taken out. What should come back?"
                )
                continue
            if node.active:
                self.operations.append(
                    Check(said=step.text, question=Question(kind="status", tasks=(node.id,), about=words))
                )
                continue
            self.do(Restore(task=node.id), step.text)

    def _last_gone(self) -> TaskNode | None:
        gone = [
            node
            for node in self.graph.values()
            if not node.active and node.op in ("remove", "inactivate", "undo")
        ]
        latest = max((node.turn for node in gone), default=0)
        tops = [
            node
            for node in gone
            if node.turn == latest and not (node.parent and self.graph[node.parent] in gone)
        ]
        return tops[-1] if tops else None

    def _done(self, step: Step) -> None:
        if step.everyone:
            recent = self._open_tasks()
            latest = max((node.turn for node in recent), default=0)
            for node in recent:
                if node.turn == latest or len(recent) <= 2:
                    self.do(Complete(task=node.id), step.text)
            return
        for words in [item.value for item in step.items] or [step.target]:
            meant = self.known(step) or (self._task_named(words) if words else self._open_in_focus())
            if meant is None and words:
                near = [hit for hit in self.hits(words) if hit.covered >= 0.5 and hit.node.value is None]
                meant = self.find(words) or (
                    near[0].node if len(near) == 1 or (near and near[0].score > near[1].score + 0.3) else None
                )
            if meant is None:
                self.clarify(
                    step,
                    f"Which task is done? I do not find “{words}”.",
                    [n.title for n in self._open_tasks()[:6]],
                    [Complete(task=n.id) for n in self._open_tasks()[:6]],
                )
                continue
            if (
                meant.value is not None
                and not is_member(meant)
                and meant.parent
                and not content(words) & (content(meant.title) | content(meant.name))
                and not content(words) <= content(meant.value)
            ):
                meant = self.holder(meant)
            self.do(Complete(task=meant.id), step.text)

    def _task_named(self, words: str) -> TaskNode | None:
        """A task that is meant, rather than a value inside it."""
        hits = [hit for hit in self.hits(words) if hit.covered > 0.99]
        tasks = [hit for hit in hits if hit.node.value is None and hit.node.status != "done"]
        if hits and (not tasks or tasks[0].score < hits[0].score - 1.2):
            return hits[0].node
        return tasks[0].node if tasks else None

    def _open_tasks(self) -> list[TaskNode]:
        return [
            node
            for node in self.graph.active
            if node.status == "open"
            and not any(p.status == "open" for p in self.graph.parts(node.id))
            and not is_person_slot(node)
        ]

    def _open_in_focus(self) -> TaskNode | None:
        for node in self.focus_nodes():
            if node.status == "open" or (node.value is not None and not is_member(node)):
                return node if node.status == "open" else self.holder(node)
        return None

    # ---- back ----------------------------------------------------------------------------------

    def _undo(self, step: Step) -> None:
        if step.everyone:  # everything as it was at the beginning
            for turn in reversed(undoable(self.graph)[1:]):
                self.do(Undo(turn=turn), step.text)
            return
        turns = undoable(self.graph)
        if turns and turns[-1] == self.view.turn:
            turns = turns[:-1]
        if not turns and not self.graph:
            return
        self.do(Undo(turn=turns[-1] if turns else None), step.text)

    def _redo(self, step: Step) -> None:
        turns = sorted(
            {state.turn for node in self.graph.values() for state in node.states() if state.op == "undo"}
        )
        if not turns:
            self.clarify(step, "Nothing was undone, so there is nothing to redo. What should I change?")
            return
        self.do(Undo(turn=turns[-1]), step.text)

    def _back(self, step: Step) -> None:
        original = step.old == "original"
        node = self.known(step)
        target = step.target
        owner, name = self._slot_of_owner(target) if node is None and target else (None, "")
        if owner is not None:
            node = self.slot(name, within=owner)
        if node is None and target:
            node = (
                self.slot(target)
                or self.find(target, loose=False)
                or self.find(target, gone=True, active=False)
            )
            if node is not None and node.value is None and not node.history and self.graph.parts(node.id):
                node = self._last_changed(within=node) or node
            if node is None:
                node = self._former_owner(target, None)
                if node is not None:
                    step = step.model_copy(update={"value": step.value or target})
        value = step.value
        if value:
            owner = self._former_owner(value, node)
            if owner is not None:
                to = self._state_with(owner, value, first=original)
                if to is not None:
                    if owner.active and to == len(owner.history):
                        self.touch(owner.id)
                        self.operations.append(
                            Check(
                                said=step.text,
                                question=Question(kind="value", tasks=(owner.id,), about=value),
                            )
                        )
                        return
                    self.do(Rollback(task=owner.id, to=to), step.text)
                    return
                self.do(Restore(task=owner.id), step.text)
                return
            if node is not None:
                self._assign_value(node, value, step)
                return
            self._set_it(step.model_copy(update={"details": _typed(value), "old": "last"}), None)
            return
        if node is None:
            node = self._last_changed()
        if node is None:
            self.clarify(step, "There is nothing to go back to. What should I change back?")
            return
        if node.value is None and not node.history:
            changed = self._last_changed(within=node)
            node = changed or node
        if not node.active:
            self.do(Restore(task=node.id), step.text)
            return
        if original:
            to = next(
                (
                    i
                    for i, state in enumerate(node.history)
                    if state.active and (state.value is not None or node.value is None)
                ),
                None,
            )
            self.do(Rollback(task=node.id, to=to), step.text)
        else:
            self.do(Rollback(task=node.id), step.text)

    def _former_owner(self, value: str, node: TaskNode | None) -> TaskNode | None:
        """The task that once had this value (or title)."""
        wanted = content(value)
        if not wanted:
            return None
        pool = [node] if node is not None else list(self.graph.values())
        found = []
        for one in pool:
            for state in one.history:
                if wanted <= content(state.value or state.title) and not (
                    wanted <= content(one.value or one.title) and one.active
                ):
                    found.append(one)
                    break
        if not found and node is None:
            now = [one for one in self.graph.active if one.value and wanted <= content(one.value)]
            return max(now, key=lambda one: one.turn) if now else None
        rank = {key: -position for position, key in enumerate(self.focus)}
        return max(found, key=lambda one: (one.active, rank.get(one.id, -99), one.turn)) if found else None

    def _state_with(self, node: TaskNode, value: str, *, first: bool) -> int | None:
        wanted = content(value)
        indexes = [
            i
            for i, state in enumerate(node.states())
            if state.active and wanted <= content(state.value or state.title)
        ]
        if not indexes:
            return None
        return indexes[0] if first else indexes[-1]

    # ---- one thing for another -----------------------------------------------------------------

    def _replace(self, step: Step) -> None:
        new, old = step.value or "", step.old or ""
        within = self.within(step)
        if step.items and step.items[0].slot == "swap":
            return self._exchange(step, old, new)
        pronoun = re.fullmatch(r"(?:him|her|them|it|that|this)?", old, re.IGNORECASE) is not None
        if pronoun:
            node = self.known(step) or (
                self.slot(step.target) or self.find(step.target) if step.target else None
            )
            person = re.search(r"\b(?:him|her)\b", step.text, re.IGNORECASE)
            if node is None:
                node = self._last_person() if person else self._replaceable(new)
            if node is None:
                self.clarify(step, f"What should {new} take the place of?", *self._member_options(new))
                return None
            self._exchange_in(node, new, step)
            return None
        if step.task and (node := self.graph.get(step.task)):
            self._exchange_in(node, new, step, old=old)
            return None
        old_known = self._scope_nodes(old, within)
        if old_known:
            if within is not None:
                users = [
                    k
                    for n in old_known
                    for k in self.graph.dependents.get(n.id, ())
                    if self.graph[k].active and k != within.id
                ]
                for node in old_known:
                    if node.parent == within.id and users:
                        self._divide(node, users, step.text)
                    elif node.parent != within.id and node.id in self.graph[within.id].depends_on:
                        self.do(Unlink(task=within.id, on=node.id), step.text)
                        self.member(
                            self.graph[within.id],
                            self._usual_slot(self.graph[within.id]) or "item",
                            _exchanged(node.title, old, new),
                            step.text,
                        )
                        return None
                self.do(Replace(old=old, new=new, tasks=tuple(n.id for n in old_known)), step.text)
            else:
                self._merge_duplicates(old, new, step)
                self.do(Replace(old=_as_written(old, old_known), new=new), step.text)
            self.touch(old_known[0].id)
            return None
        node = self.find(old, within=within) or self.find(singular(old), within=within)
        if node is not None:
            self._exchange_in(node, new, step, old=old)
            return None
        gone = self.find(old, gone=True, active=False, loose=False)
        if gone is not None and is_person_slot(gone):
            self.do(Restore(task=gone.id), step.text)
            self.do(Update(task=gone.id, title=new), step.text)
            return None
        if gone is not None and (home := self.graph.get(gone.parent or "")) is not None and home.active:
            self.member(home, re.sub(r"\d+$", "", gone.name), new, step.text)
            return None
        self.clarify(
            step,
            f"I do not find “{old}” in the plan. What should {new} take the place of?",
            *self._member_options(new),
        )
        return None

    def _merge_duplicates(self, old: str, new: str, step: Step) -> None:
        del old, new, step

    def _scope_nodes(self, old: str, within: TaskNode | None) -> list[TaskNode]:
        pool: list[TaskNode] = list(self.graph.active)
        if within is not None:
            pool = [
                *self.graph.subtree(within.id),
                *(self.graph[k] for k in within.depends_on if self.graph[k].active),
            ]
        found = [node for node in pool if names(old, node.value) or names(old, node.title)]
        if not found and old.lower().endswith("s"):
            found = [
                node for node in pool if names(singular(old), node.value) or names(singular(old), node.title)
            ]
        return found

    def _member_options(self, new: str) -> tuple[tuple[str, ...], tuple[Operation, ...]]:
        root = self.root()
        parts = list(self.graph.parts(root.id)) if root else []
        return (
            tuple(n.value or n.title for n in parts[:6]),
            tuple(
                Update(task=n.id, value=new) if n.value else Update(task=n.id, title=new) for n in parts[:6]
            ),
        )

    def _exchange_in(self, node: TaskNode, new: str, step: Step, old: str = "") -> None:
        if node.value is not None and not is_member(node):
            value = _exchanged(node.value, old, new) if old and names(old, node.value) else new
            self.do(Update(task=node.id, value=value), step.text)
        elif old and names(old, node.title):
            self.do(Update(task=node.id, title=_exchanged(node.title, old, new)), step.text)
        else:
            details = self.graph.parts(node.id)
            other = self._untyped(node) if details else None
            if other is not None and not is_member(node):
                self.do(Update(task=other.id, value=new), step.text)
            else:
                self.do(
                    Update(
                        task=node.id,
                        title=new if is_member(node) else _last_phrase_exchanged(node.title, new),
                    ),
                    step.text,
                )

    def _replaceable(self, new: str) -> TaskNode | None:
        """What 'instead' takes the place of, where the words do not say: what was last spoken of."""
        kind = values.kind_of(new)
        for node in self.focus_nodes():
            if node.value is not None and not is_member(node):
                if values.kind_of(node.value) == kind:
                    return node
                continue
            if is_member(node):
                return node
            slots = sorted(
                (
                    p
                    for p in self.graph.parts(node.id)
                    if p.value and not is_member(p) and values.kind_of(p.value) == kind
                ),
                key=lambda p: -p.turn,
            )
            if slots:
                return slots[0]
            members = [p for p in self.graph.parts(node.id) if is_member(p)]
            if len(members) == 1:
                return members[0]
        return None

    def _exchange(self, step: Step, one: str, other: str) -> None:
        """'Beth and Ivy swap places'."""
        changes = []
        for node in self.graph.active:
            for field in ("value", "title"):
                text = getattr(node, field)
                if names(one, text) and not names(other, text):
                    changes.append((node.id, field, _exchanged(text, one, other)))
                elif names(other, text) and not names(one, text):
                    changes.append((node.id, field, _exchanged(text, other, one)))
        for key, field, text in changes:
            self.do(
                Update(task=key, value=text) if field == "value" else Update(task=key, title=text), step.text
            )
        if not changes:
            self.clarify(step, f"I do not find what {one} and {other} should swap.")

    # ---- edges ---------------------------------------------------------------------------------

    def _share(self, step: Step) -> None:
        target = self.known(step) or self.within(step)
        items: list[TaskNode] = []
        for item in step.items:
            node = self.graph.get(item.task or "") or self._sharable(item.value)
            if node is None:
                holder = target or self.whole(step.target)
                if holder is None:
                    self.clarify(
                        step,
                        f"I do not find “{item.value}” in the plan. What should be used for {step.target}?",
                    )
                    return
                node = self.member(holder, self._usual_slot(holder) or "item", item.value, step.text)
                if node is None:
                    return
                self.touch(node.id)
                continue
            items.append(node)
        if target is None:
            target = self.whole(step.target, avoid=items)
        if target is None:
            target = self.new_root(step.target, step.text)
        if target is None:
            return
        for node in items:
            if node.parent == target.id or node.id in self.graph[target.id].depends_on:
                self.touch(node.id)
                continue
            self.do(Link(task=target.id, on=node.id), step.text)
            self.touch(node.id)
        self.touch(target.id)

    def _sharable(self, words: str) -> TaskNode | None:
        node = self.slot(words, anywhere=True) if slot_group(words) else None
        return node or self.find(words, loose=False) or self.find(words)

    def _thing(self, words: str, said: str, beside: TaskNode | None = None) -> TaskNode | None:
        """The task that the words name, made where there is none."""
        node = self.whole(words)
        if node is None and (hit := self.find(words)) is not None:
            wanted = content(words)
            if len(wanted & words_of(hit)) / max(1, len(wanted)) > 0.5:
                node = hit
        if node is None:
            gerund = re.match(r"(\w+)ing\b", words)
            if gerund:
                node = self.find(words, loose=True)
        if node is not None:
            return node
        root = self.root()
        parent = (
            root if root is not None and is_event(root.title) and not root.name.startswith("task") else None
        )
        if beside is not None:
            parent = self.graph.get(beside.parent) if beside.parent else None
        return self.new_root(_tidy(words), said, parent=parent)

    def _need(self, step: Step) -> None:
        chain = step.old == "chain"
        target = self.known(step)
        if target is None and not step.target:
            for node in self.focus_nodes():
                target = node if node.value is None else self.holder(node)
                break
        first: TaskNode | None = None
        if target is None and chain:
            first = self._thing_with_details(step.items[0].value, step.text)
            target = self._thing_with_details(step.target, step.text)
        elif target is None:
            target = self._thing(step.target, step.text)
        if target is None:
            self.clarify(step, "What needs that first?")
            return
        for item in step.items:
            needed = (
                first or self.graph.get(item.task or "") or self._thing(item.value, step.text, beside=target)
            )
            if needed is None or needed.id == target.id:
                continue
            if needed.parent == target.id or needed.id in {n.id for n in self.graph.subtree(target.id)}:
                self.touch(needed.id)
                continue
            self.do(Link(task=target.id, on=needed.id), step.text)
        self.touch(target.id)

    def _thing_with_details(self, words: str, said: str) -> TaskNode | None:
        from .phrases import details_of

        bare, details, items = details_of(words)
        node = self._thing(bare or words, said)
        if node is not None:
            for detail in details:
                self.put(self.graph[node.id], detail.slot, detail.value, said)
            for item in items:
                self.member(self.graph[node.id], item.slot, item.value, said)
        return node

    def _unneed(self, step: Step) -> None:
        target = self.known(step) or self.find(step.target)
        for item in step.items:
            needed = self.graph.get(item.task or "") or self.find(item.value)
            if target is None or needed is None:
                self.clarify(step, "Which two tasks should be independent of each other?")
                return
            self.do(Unlink(task=target.id, on=needed.id), step.text)

    # ---- people --------------------------------------------------------------------------------

    def _assign(self, step: Step) -> None:
        person = step.value or ""
        if person.lower() in ("him", "her", "them") and (someone := self._last_person()):
            person = someone.value or someone.title
        if step.everyone:
            container = self.container("")
            free = [
                one for one in (self.members(container) if container else list(self._open_tasks()))
                if not is_person_slot(one) and not any(p.name.startswith("assignee") for p in self.graph.parts(one.id))
            ]  # fmt: skip
            for one in free:
                self.put(one, "assignee", person, step.text)
            if not free:
                self.clarify(step, f"Everything has somebody already. What should {person} do?")
            return
        node = self.known(step) or self.whole(step.target) or self.find(step.target)
        if not step.target and node is None:
            node = next((n if n.value is None else self.holder(n) for n in self.focus_nodes()), None)
        if node is None:
            root = self.root()
            parent = root if root is not None and is_event(root.title) else None
            node = self.new_root(_tidy(step.target), step.text, parent=parent)
            if node is None:
                return
        if node.value is not None and not is_member(node):
            if is_person_slot(node) or (
                slot_group(node.name) is None
                and node.value[:1].isupper()
                and content(step.target) <= content(node.title)
            ):
                self.do(Update(task=node.id, value=person), step.text)
                return
            node = self.holder(node) if node.parent else node
        people = [p for p in self.graph.parts(node.id) if p.name.startswith("assignee")]
        wanted = [word for word in re.split(r",\s*|\s+and\s+", person) if word]
        if len(people) == 1 or not people:
            if len(wanted) == 1:
                self.put(node, "assignee", person, step.text)
            else:
                self.put(node, "assignee", person, step.text)
            return
        self.put(node, "assignee", person, step.text)

    def _split(self, step: Step) -> None:
        target = self.known(step) or (self.whole(step.target) if step.target else None)
        if target is None:
            for node in self.focus_nodes():
                for one in (node, *self.graph.ancestors(node.id)):
                    if self.graph.parts(one.id) and one.value is None:
                        target = one
                        break
                if target is not None:
                    break
        if target is None:
            self.clarify(step, "What should I split?")
            return
        if any(is_part(part) for part in self.graph.parts(target.id)):
            self.do(Merge(task=target.id), step.text)
            target = self.graph[target.id]
        people = self.members(target)
        chosen: list[list[str]] = []
        taken: set[str] = set()
        for part in step.parts:
            ids: list[str] = []
            for words in part.members:
                member = next((p for p in people if content(words) and content(words) <= words_of(p)), None)
                if member is None:
                    continue
                if member.id not in taken:
                    ids.append(member.id)
                    taken.add(member.id)
            chosen.append(ids)
        for number, part in enumerate(step.parts):
            if (part.rest or not part.members) and part.rest:
                chosen[number] = [p.id for p in people if p.id not in taken]
                taken |= set(chosen[number])
        parts = tuple(
            Part(title=self._part_title(target, part.title, ids), members=tuple(ids),
                 values=tuple((detail.slot, self._in_style(target, detail)) for detail in part.details))
            for part, ids in zip(step.parts, chosen, strict=True)
        )  # fmt: skip
        self.do(Split(task=target.id, parts=parts), step.text)
        self.touch(target.id)

    def _part_title(self, target: TaskNode, title: str, ids: Sequence[str]) -> str:
        people = " and ".join(self.graph[key].title for key in ids)
        return f"{target.title} ({people or title})"

    def _in_style(self, target: TaskNode, detail: Detail) -> str:
        """'4' as '4 PM' where the whole was at '2 PM'."""
        if detail.slot != "time":
            return detail.value
        former = next((p.value for p in self.graph.parts(target.id) if p.name == "time" and p.value), "")
        half = re.search(r"\s*([ap])\.?m\.?$", former or "", re.IGNORECASE)
        if half and re.fullmatch(r"[\d:]+(?: ?(?:-|to|until) ?[\d:]+)?", detail.value):
            first = int(re.match(r"\d+", detail.value)[0])  # type: ignore[index]
            if first <= 11 and not (first >= 8 and half[1].lower() == "p"):
                return f"{detail.value}{half[0]}"
            if first >= 10:
                return f"{detail.value} {'AM' if first < 12 else 'PM'}"
        return detail.value

    def _merge(self, step: Step) -> None:
        target = self.known(step)
        if target is None:
            split = [self.graph[n.parent] for n in self.graph.active if is_part(n) and n.parent]
            target = max(split, key=lambda n: max(p.turn for p in self.graph.parts(n.id)), default=None)
        if target is None:
            self.clarify(step, "There is nothing split that I could put together. What do you mean?")
            return
        self.do(Merge(task=target.id), step.text)
        if step.details:
            self._set_details(self.graph[target.id], step)
        self.touch(target.id)

    # ---- relative changes ----------------------------------------------------------------------

    def _shift(self, step: Step) -> None:
        change = _relative(step.value or "")
        sign, amount = change[:1], change[1:]
        delta = values.duration_of(amount) if sign in "+-" else None
        if delta is not None and step.slot != "duration":
            kind = "time" if delta.total_seconds() % 86400 else "date"
            node = self._shiftable(step, kind)
            named = (
                self._dated(step, kind)
                if node is None or (step.target and node.value and not self._about(step.target, node))
                else None
            )
            if named is not None:
                inner = typed_in(named.title, kind) or ""
                moved = values.shifted(inner, delta if sign == "+" else -delta, kind, self.view.now)  # type: ignore[arg-type]
                if moved is not None:
                    self.do(Update(task=named.id, title=_exchanged(named.title, inner, moved)), step.text)
                    return
            if node is None or node.value is None:
                self.clarify(step, f"What should move by {amount}?", *self._typed_options(kind))
                return
            moved = values.shifted(node.value, delta if sign == "+" else -delta, kind, self.view.now)  # type: ignore[arg-type]
            if moved is None:
                self.clarify(
                    step, f"What is {amount} {'after' if sign == '+' else 'before'} {node.value} exactly?"
                )
                return
            self.do(Update(task=node.id, value=moved), step.text)
            return
        if delta is not None:
            node = self._shiftable(step, "duration") or self._shiftable(step, "time")
            if node is not None and node.value:
                number = values.number_of(node.value)
                change_by = values.number_of(amount) or Decimal(1)
                if number is not None and values.kind_of(node.value) == "duration":
                    self._change_number(node, change_by, sign, step)
                    return
            self.clarify(step, f"What should be {amount} {'longer' if sign == '+' else 'shorter'}?")
            return
        number_node = self._number_slot(step.target) if step.target else self._number_in_focus()
        if number_node is None and step.target:
            number_node = self._number_slot(singular(step.target))
        if number_node is None:
            if step.target and sign == "+" and step.slot == "count" and self.container("") is not None:
                self.clarify(step, f"How many {step.target} are there now, and which one is new?")
                return
            self.clarify(step, f"What number should I change{f' for {step.target}' if step.target else ''}?")
            return
        percent = re.match(r"\d+(?:\.\d+)?(?=\s?(?:%|percent))", amount)
        by = Decimal(amount) if sign == "*" else Decimal(percent[0]) if percent else values.number_of(amount)
        if by is None:
            self.clarify(step, f"By how much should {number_node.title} change?")
            return
        if "%" in amount or "percent" in amount:
            sign, by = "*", (Decimal(100) + (by if sign == "+" else -by)) / 100
        self._change_number(number_node, by, sign, step)

    def _about(self, words: str, node: TaskNode) -> bool:
        """Whether words that name what moves can mean this slot or something it is part of."""
        wanted = content(words)
        above = [node, *self.graph.ancestors(node.id)]
        return bool(slot_group(words)) or any(wanted & words_of(one) for one in above)

    def _dated(self, step: Step, kind: str) -> TaskNode | None:
        """The task whose name carries the date or time to move: 'experiments by July 15'."""
        if (
            step.target
            and (node := self.find(step.target)) is not None
            and node.value is None
            and typed_in(node.title, kind)
        ):
            return node
        for node in self.focus_nodes():
            for one in (node, *self.graph.parts(node.id), *self.graph.parts(node.parent)):
                if one.value is None and typed_in(one.title, kind):
                    return one
        return None

    def _typed_options(self, kind: str) -> tuple[tuple[str, ...], tuple[Operation, ...]]:
        found = [n for n in self.graph.active if n.value and values.kind_of(n.value) == kind]
        return tuple(self.describe(n) for n in found[:6]), ()

    def _shiftable(self, step: Step, kind: str) -> TaskNode | None:
        known = self.known(step)
        if known is None and step.target:
            known = self.find(step.target)
            words = content(step.target)
            if known is not None and known.value and values.kind_of(known.value) == kind:
                return known
            if (slot := self.slot(step.target)) and slot.value and values.kind_of(slot.value) == kind:
                return slot
            if known is None and not (words and slot_group(step.target)):
                known = None
        if known is not None:
            if known.value and values.kind_of(known.value) == kind:
                return known
            for node in (
                self.graph.subtree(known.id)[1:]
                if known.value is None
                else self.graph.subtree(self.holder(known).id)[1:]
            ):
                if node.value and values.kind_of(node.value) == kind:
                    return node
            for part in self.graph.parts(known.parent) if known.parent else ():
                if part.value and values.kind_of(part.value) == kind and not is_member(part):
                    return part
        if step.target and known is None and not slot_group(step.target):
            pass
        for node in self.focus_nodes():
            if node.value and values.kind_of(node.value) == kind:
                return node
            for scope in (node, *self.graph.ancestors(node.id)):
                typed = [
                    p
                    for p in self.graph.parts(scope.id)
                    if p.value and values.kind_of(p.value) == kind and not is_member(p)
                ]
                if typed:
                    return max(typed, key=lambda p: p.turn)
        everywhere = [n for n in self.graph.active if n.value and values.kind_of(n.value) == kind]
        return everywhere[0] if len(everywhere) == 1 else None

    def _number_in_focus(self) -> TaskNode | None:
        for node in self.focus_nodes():
            for one in (node, *self.graph.parts(node.id)):
                holds = one.value if one.value is not None else one.title
                if values.number_of(holds) is not None and values.kind_of(holds) not in (
                    "date",
                    "time",
                    "email",
                    "phone",
                ):
                    return one
        return None

    def _change_number(self, node: TaskNode, by: Decimal, sign: str, step: Step) -> None:
        holds = node.value if node.value is not None else node.title
        now = values.number_of(holds) or Decimal(0)
        new = now * by if sign == "*" else now + by if sign == "+" else now - by
        if new < 0:
            self.clarify(
                step, f"{node.title} is {holds}; that would be less than nothing. How many should it be?"
            )
            return
        text = values.with_number(holds, new.normalize() if new != new.to_integral() else new)
        self.do(
            Update(task=node.id, value=text) if node.value is not None else Update(task=node.id, title=text),
            step.text,
        )

    # ---- answers and questions -----------------------------------------------------------------

    def _yes(self, step: Step) -> None:
        question = self.view.question
        if question is not None and question.choices:
            index = question.options.index(step.value) if step.value in question.options else 0
            choices = question.choices
            if step.value and step.value in question.options and len(choices) == len(question.options):
                choices = (choices[index],)
            elif len(question.options) > 1 and len(choices) == len(question.options):
                self.clarify(step, question.question, question.options, question.choices)
                return
            for choice in choices:
                if (
                    isinstance(choice, Add | Update)
                    and choice.value is None
                    and getattr(choice, "title", None)
                    and step.value
                ):
                    choice = choice.model_copy(update={"value": step.value})
                self.do(choice, step.text)
            return
        for node in self._proposed(step.target):
            self.do(Confirm(task=node.id), step.text)

    def _no(self, step: Step) -> None:
        if self.view.question is not None:
            return
        for node in self._proposed(step.target):
            self.do(Reject(task=node.id), step.text)

    def _proposed(self, words: str) -> list[TaskNode]:
        """The values proposed last; of these, those that words name."""
        waiting = [node for node in self.graph.active if node.status == "proposed"]
        last = max((node.turn for node in waiting), default=0)
        named = content(words)
        return [
            node
            for node in waiting
            if node.turn == last
            and (not named or named & content(f"{node.title} {base_of(node.slot)} {node.value or ''}"))
        ]

    def _unsure(self, step: Step) -> None:
        if not step.proposed:
            self.clarify(
                step,
                f"I am not sure what to do with “{_clip(step.value or step.text)}”. Is it something to add, or about something in the plan?",
            )
            return
        trial = _Grounder(self.view, self.graph, self.focus)
        for inner in step.proposed:
            trial.step(inner)
        choices = tuple(op for op in trial.operations if not isinstance(op, Clarify | Check))
        if choices:
            self.clarify(
                step,
                f"Shall I do that ({_clip(step.value or step.text)})?",
                ("yes",) if len(choices) == 1 else (),
                choices,
            )

    def _ask(self, step: Step) -> None:
        check = Asker(self.graph, self.focus, self.new).ask(step)
        if check is not None:
            for key in reversed(check.question.tasks[:3]):
                if self.graph[key].active:
                    self.touch(key)
            self.operations.append(check)

    def container_or_new(self, words: str, said: str, *, person: bool = False) -> TaskNode | None:
        """The container that is named or in focus, made where there is none."""
        held = self.container(words, person=person)
        if held is not None:
            return held
        root = self.root()
        nested = root is not None and is_event(root.title) and not is_event(words) and content(words)
        return self.new_root(
            words or "list", said, slot=slot_name(words) if words else "list", parent=root if nested else None
        )


# ---- words and values ------------------------------------------------------------------------------


_PLANS = re.compile(
    r"(?:plan|organi[sz]e|schedule|arrange|prepare|throw|host|set up|put together|coordinate|fill (?:out|in)|complete)\s+(?:for\s+)?(?:a|an|the|my|our)\s",
    re.IGNORECASE,
)


def _noun_of(title: str) -> str | None:
    """The head noun of what is planned: 'excursion' of 'school excursion to the sea'."""
    head = re.split(r"\s+(?:for|to|in|on|at|with|from|of|about|near|by|that)\s+|[,:(]", title, maxsplit=1)[
        0
    ].split()
    return slot_name(head[-1]) if head and head[-1].isalpha() and head[-1].islower() else None


def _relative(change: str) -> str:
    """A relative change with its sign first: 'two days later' as '+two days', 'double' as '*2', '+3' as it is."""
    change = change.strip()
    if change[:1] in ("+", "-", "*"):
        return change
    lowered = change.lower()
    for word, factor in (
        ("double", "*2"),
        ("twice", "*2"),
        ("triple", "*3"),
        ("half", "*0.5"),
        ("halve", "*0.5"),
    ):
        if re.match(rf"{word}\b(?! an?\b| hour| day)", lowered):
            return factor
    fewer = re.search(r"\b(?:earlier|sooner|less|fewer|before|down|shorter|minus|lower|forward)\b", lowered)
    amount = re.sub(
        r"\b(?:earlier|sooner|later|less|fewer|more|before|after|up|down|shorter|longer|minus|plus|lower|higher|by|back|forward)\b", " ", lowered
    )  # fmt: skip
    return ("-" if fewer else "+") + " ".join(amount.split())


def _tidy(title: str) -> str:
    title = re.sub(
        r"^(?:i|we)(?:'m| am|'re| are|'ll| will)?\s+", "", title.strip(" .,;:!"), flags=re.IGNORECASE
    )
    title = re.sub(r"^(?:the|a|an|my|our|some)\s+", "", title, flags=re.IGNORECASE)
    return title.strip() or "task"


def _clip(text: str, width: int = 80) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _shape(token: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]", "A", token)))


def _same_value(one: str | None, other: str) -> bool:
    return one is not None and " ".join(one.lower().split()) == " ".join(other.lower().split())


def _exchanged(text: str, old: str, new: str) -> str:
    """The text with one name exchanged for another, as whole words in any case."""
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    changed = re.sub(rf"(?<!\w){pattern}(?!\w)", lambda _: new, text, flags=re.IGNORECASE)
    return changed if changed != text else new


def _last_phrase(title: str) -> str:
    """The part of a title after its last preposition, or its last words."""
    found = re.search(r"\b(?:to|in|at|for|with|from|on|of)\s+(.+)$", title)
    return found[1] if found else title


def _last_phrase_exchanged(title: str, value: str) -> str:
    """A task named anew by its last phrase: ('Book a room in the Hotel Astoria', 'Hotel Bristol')."""
    count = re.fullmatch(r"(\d+)\s+(\w+)", value)
    if count and re.search(rf"\d+\s+{re.escape(singular(count[2]))}", title):
        return values.with_number(title, Decimal(count[1]))
    found = re.search(r"(\b(?:to|in|at|for|with|from|on|of)\s+(?:the\s+|a\s+)?)([^\s].*)$", title)
    if found:
        return title[: found.start(2)] + re.sub(r"^(?:to|in|at|for|with|from|the)\s+", "", value)
    words = title.split()
    if len(words) > 1 and len(value.split()) <= 2 and words[0].lower() not in ("the", "a"):
        return " ".join([*words[:-1], value])
    return value


def _as_written(old: str, nodes: Sequence[TaskNode]) -> str:
    """The old name as the plan has it, for example in the singular."""
    if any(names(old, node.value) or names(old, node.title) for node in nodes):
        return old
    return singular(old)


def _without(text: str, words: str) -> str | None:
    """A list in words without one of its members, or None where it is not one."""
    pieces = [piece.strip() for piece in re.split(r",\s*(?:and\s+)?|\s+and\s+", text) if piece.strip()]
    wanted = content(words)
    left = [piece for piece in pieces if not (content(piece) <= wanted or wanted <= content(piece))]
    if len(pieces) < 2 or len(left) == len(pieces) or not left:
        return None
    return ", ".join(left[:-1]) + (" and " if len(left) > 1 else "") + left[-1]


def _typed(value: str) -> tuple[Detail, ...]:
    kind = values.kind_of(value)
    slot = {"amount": "budget"}.get(kind or "", kind or "")
    return (Detail(slot=slot, value=value),) if kind in ("date", "time", "amount") else ()


def _fits(node: TaskNode, detail: Detail) -> bool:
    kind = {"budget": "amount"}.get(detail.slot, detail.slot)
    return node.value is not None and (
        values.kind_of(node.value) == kind or slot_group(node.name) in GROUPS_OF_KIND.get(kind, ())
    )


def _is_person_list(items: Sequence[Detail], members: Sequence[TaskNode]) -> bool:
    titles = {node.title.lower() for node in members if is_person_slot(node)}
    return bool(titles) and all(item.value.lower() in titles for item in items)
