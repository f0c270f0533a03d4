"""Steps that give values: what was named, what "it" is, what a value says by its form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from taskloom.agent.language import patterns as re
from taskloom.agent.language import values
from taskloom.agent.language.wording import spoken
from taskloom.agent.language.words import GROUPS_OF_KIND, content, is_event, is_project, kind_name, slot_group
from taskloom.agent.plan.kinds import allowed_value, held_slots, holds, schema_of
from taskloom.agent.plan.roles import is_known, is_member, is_person_slot, typed_value_in
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Add, Clarify, Operation, Restore, Update, names
from taskloom.memory.tasks import TaskNode

from .workspace import Ground, exchanged, last_phrase_exchanged, renewed, same_value


class Values(Ground):
    """What is given a value, and which."""

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
        value = allowed_value(step.value, slot.values) or step.value
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
            if same_value(node.value, value) and node.stale_since is None:
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
                else Update(task=node.id, title=exchanged(node.title, step.old, value)),
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
            and not self._only_told(hit, words)
        ):
            if hit.value is not None and not is_member(hit):
                slot = hit
                if not content(words) & (
                    content(hit.title) | content(hit.name)
                ):  # named by its value: 'change Boston to Denver'
                    if step.details and len(step.details) == 1 and step.slot is None:
                        self.do(Update(task=hit.id, value=value), step.text)
                        return None
                    self.do(Update(task=hit.id, value=exchanged(hit.value, words, value)), step.text)
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
                    exchanged(hit.title, words, value)
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
            if is_known(self.graph, words) is False and not re.match(r"[\w ]{2,30}$", words):
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

    def _only_told(self, node: TaskNode, words: str) -> bool:
        """Whether words stand only in what a tool told at length: 'nights' is no name for '90 euros a night'."""
        told = node.source.startswith("tool:") and len((node.value or "").split()) > 3
        return told and not content(words) & (content(node.title) | content(node.name))

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
            trial = type(self)(self.view, self.graph, self.focus)
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
            if (node.value is None and (inner := typed_value_in(node.title, slot))) and slot in (
                "date",
                "time",
                "budget",
                "count",
            ):
                self.do(Update(task=node.id, title=exchanged(node.title, inner, detail.value)), step.text)
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
                    else exchanged(node.value, step.old, value)
                )
                self.do(Update(task=node.id, value=new), step.text)
            else:
                self.do(Update(task=node.id, title=exchanged(node.title, step.old, value)), step.text)
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
                            title=exchanged(
                                named.title, typed_value_in(named.title, slot) or "", detail.value
                            ),
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
                Update(task=node.id, value=exchanged(node.value, token, value))
                if node.value
                else Update(task=node.id, title=exchanged(node.title, token, value)),
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
            new = new or exchanged(node.value or node.title, phrase, value)
            self.do(renewed(node, new), step.text)
            return
        latest = self._latest_value(value, corrected=step.old == "last")
        if latest is not None:
            if latest.value is not None:
                new = value
                self._assign_value(latest, new, step)
            else:
                self._retitle(latest, last_phrase_exchanged(latest.title, value), step)
            return
        roots = self.focus_nodes()
        if roots and step.old == "last":
            self._retitle(roots[0], last_phrase_exchanged(roots[0].title, value), step)
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
                if one.value is None and typed_value_in(one.title, slot)
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


# ---- words and values ------------------------------------------------------------------------------


def _shape(token: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]", "A", token)))


def _last_phrase(title: str) -> str:
    """The part of a title after its last preposition, or its last words."""
    found = re.search(r"\b(?:to|in|at|for|with|from|on|of)\s+(.+)$", title)
    return found[1] if found else title


def _fits(node: TaskNode, detail: Detail) -> bool:
    kind = {"budget": "amount"}.get(detail.slot, detail.slot)
    return node.value is not None and (
        values.kind_of(node.value) == kind or slot_group(node.name) in GROUPS_OF_KIND.get(kind, ())
    )
