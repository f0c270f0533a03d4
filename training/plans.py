"""Forms said of plans that are there: what should come of each, and what does.

    python training/plans.py [--reader local] [--count 600] [--show 20] [--seed 1]

A plan is made of some kinds of task, with slots, lists, steps and a past. A form is filled so that it says
something about one of them: a new value, an item that is there, a former value. What should be so afterwards
follows from the group that the form is of. Readers are those of gold.py.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import forms
import gold
from forms import Kind, Slot
from lines import LineError, Turn, read_text

from taskloom.agent.grounding.resolving.scoring import bare, content
from taskloom.agent.language.words import slot_name
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.state import Change
from taskloom.agent.turn.state import Turn as State
from taskloom.memory.claims import answer
from taskloom.memory.dag import reach
from taskloom.memory.operations import Add, Check, Clarify, Complete, Link, Operation, Remove, Update, apply
from taskloom.memory.tasks import TaskGraph, TaskNode

KINDS, SLOTS, ITEMS, STEPS = (1, 2, 3, 5, 8), 5, 3, 4  # of a plan, and of each task of it
OPENED = ("open", "open with details")
NEW_SLOTS = (
    "detail", "two details", "three details", "detail inside talk", "correction in one breath", "saying",
    "two sayings",
)  # fmt: skip
CHANGED = ("change", "change of a thing", "two changes")
BACK = ("back", "back to first")
SLOTTED = (*CHANGED, *BACK, "relative", "remove slot", "restore slot")
ADDED_ITEMS = ("add item", "several items", "saying of an item")
NEW_STEPS = ("step", "several steps", "order")
GIVEN = ("assign", "assign of a thing", "reassign")
PERSONAL = ("reassign", "not any more")  # of a step that somebody does
ASKED_BEFORE = ("ask former", "ask claim former", "ask history", "ask ever")
UNJUDGED = (
    "two in one", "ask why", "three in order", "undo", "uncancel", "changed saying", "ask list by saying",
)  # fmt: skip


@dataclass(slots=True)
class Task:
    """One task of a plan: its kind, and by node id what there is of it."""

    kind: Kind
    root: str
    title: str
    slots: dict[str, Slot] = field(default_factory=dict)
    former: dict[str, str] = field(default_factory=dict)
    gone: dict[str, Slot] = field(default_factory=dict)
    listing: str = ""
    items: dict[str, str] = field(default_factory=dict)
    steps: dict[str, list[str]] = field(default_factory=dict)
    who: dict[str, str] = field(default_factory=dict)


class Plan:
    """A plan of several tasks; gone: a task that was cancelled."""

    def __init__(self, kinds: Sequence[Kind], chance: random.Random) -> None:
        self.graph, self.turn, self.chance = TaskGraph(), 0, chance
        self.tasks = [self._task(kind) for kind in chance.sample(list(kinds), chance.choice(KINDS))]

    def _do(self, operation: Operation) -> str:
        self.turn += 1
        made = f"t{len(self.graph) + 1}"
        self.graph = apply(self.graph, operation, turn=self.turn, said="").graph
        return made

    def _put(self, parent: str, name: str, title: str, value: str | None = None) -> str:
        prefix = f"{self.graph[parent].slot}." if parent else ""
        slot = f"{prefix}{slot_name(name)}"
        taken = {node.slot for node in self.graph.values()}
        free = next(one for one in (slot, *(f"{slot}{n}" for n in range(2, 99))) if one not in taken)
        return self._do(Add(slot=free, title=title, value=value, parent=parent or None))

    def _task(self, kind: Kind) -> Task:
        title = bare(self.chance.choice(kind.titles))
        task = Task(kind, self._put("", "task", title), title)
        chosen = self.chance.sample(kind.slots, min(SLOTS, len(kind.slots) - 1))
        for number, slot in enumerate(chosen):
            first, second = self.chance.sample(slot.values, 2)
            node = self._put(task.root, slot.names[0], slot.names[0], first)
            if number == 0:
                task.gone[node] = slot
                self._do(Remove(task=node))
                continue
            task.slots[node] = slot
            if number < 3:
                task.former[node] = first
                self._do(Update(task=node, value=second))
        if kind.lists:
            names, items = self.chance.choice(kind.lists)
            task.listing = self._put(task.root, "list", names[0])
            for item in self.chance.sample(items, min(ITEMS, len(items) - 1)):
                task.items[self._put(task.listing, "item", item)] = item
        for step in kind.steps[: STEPS - 1]:
            task.steps[self._put(task.root, "step", step[0])] = step
        if len(steps := list(task.steps)) > 2:
            self._do(Link(task=steps[1], on=steps[0]))
            person = self.chance.choice(kind.people)
            self._put(steps[0], "assignee", "assignee", person)
            task.who[steps[0]] = person
            self._do(Complete(task=steps[2]))
        return task


class _Said(forms.Filling):
    """A form about a task of a plan: what it names is there, or is new, as its group says."""

    def __init__(self, form: str, group: str, plan: Plan, task: Task) -> None:
        self.group, self.plan, self.task, self.nodes = group, plan, task, dict[str, str]()
        held = {slot.names[0] for slot in task.slots.values()}
        gone = {slot.names[0] for slot in task.gone.values()}
        past = {task.slots[node].names[0] for node in task.former}
        wanted = (
            {slot.names[0] for slot in task.kind.slots} - held - gone if group in NEW_SLOTS
            else gone if group == "restore slot"
            else past if group in (*BACK, *ASKED_BEFORE)
            else {slot.names[0] for slot in task.kind.slots} if group in OPENED
            else held
        )  # fmt: skip
        kind = replace(task.kind)
        kind.slots = [replace(one, names=one.names[:1]) for one in kind.slots if one.names[0] in wanted]
        if group not in OPENED:
            kind.refs = [one for one in kind.refs if set(content(one)) & set(content(task.title))]
        if task.listing and group not in OPENED:
            items = set(task.items.values())
            kind.lists = [
                (names[:1], [one for one in own if (one in items) != (group in ADDED_ITEMS)])
                for names, own in kind.lists if names[0] == plan.graph[task.listing].title
            ]  # fmt: skip
        if group not in OPENED:
            kind.steps = [step for step in kind.steps if step in self._steps()]
        if not kind.refs:
            raise LookupError("ref")
        super().__init__(form, kind, plan.chance)
        if group == "reassign":
            self.used |= set(task.who.values())
        self.value: dict[str, str] = {}
        for number, slot in self.slots.items():
            node = next((key for key, one in {**task.slots, **task.gone}.items()
                         if one.names[0] == slot.names[0]), "")  # fmt: skip
            self.nodes[number] = node
        if (group in SLOTTED and not self.nodes) or (group in PERSONAL and not task.who):
            raise LookupError("slot")
        self.said: list[tuple[str, str, str, str]] = []

    def _steps(self) -> list[list[str]]:
        """The steps that the form may be about: new ones, open ones, a done one, two of which one waits."""
        own = list(self.task.steps.values())
        chosen = {
            "done": own[:2], "several done": own[:2], "reopen": own[2:], "unwait": own[:2],
            "reassign": own[:1], "not any more": own[:1], "assign": own[1:], "assign of a thing": own[1:],
            "follow": own[1:], "wait": own[1:],
        }  # fmt: skip
        if self.group in NEW_STEPS:
            return [step for step in self.task.kind.steps if step not in own]
        return chosen.get(self.group, own)

    def words(self, role: str, number: str, what: str) -> str:
        if role in "TI" and self.group == "unwait" and what in forms.STEPS and len(self.task.steps) > 2:
            step = list(self.task.steps.values())[role == "T"]
            self.said.append((role, number, what, step[forms.STEPS.index(what)]))
            return step[forms.STEPS.index(what)]
        theirs = (role == "O" and what == "P") or (role == "P" and self.group in ("not any more", "ask hers"))
        if theirs and self.task.who:
            self.used.add(person := next(iter(self.task.who.values())))
            if role == "P":
                self.said.append((role, number, what, person))
            return person
        text = self._known(role, number, what) or super().words(role, number, what)
        self.said.append((role, number, what, text))
        return text

    def _known(self, role: str, number: str, what: str) -> str:
        if (
            what.startswith("=")
            or number not in self.nodes
            or role not in "VO"
            or what in ("item", *forms.STEPS)
        ):
            return ""
        node, graph = self.nodes[number], self.plan.graph
        if not node:
            return ""
        now = graph[node].value or ""
        if role == "O":
            return now
        if self.group in (*BACK, "ask claim former", "ask ever"):
            return self.task.former[node]
        if self.group == "ask claim":
            return now
        self.used |= {now, self.task.former.get(node, now)}
        return ""

    def all(self, *roles: str) -> list[str]:
        """The words of placeholders of some roles."""
        return [text for role, _, _, text in self.said if role in roles]


def said(form: str, group: str, plan: Plan, task: Task) -> tuple[Turn, _Said] | None:
    """A form as a turn about a task; None where the plan lacks what it needs."""
    try:
        filling = _Said(form, group, plan, task)
        turn = read_text(forms.typed(forms.PLACE.sub(filling, filling.form), plan.chance))
    except (LookupError, LineError):
        return None
    return turn, filling


# ---- what should be so ----------------------------------------------------------------------------


def holds(
    one: _Said, before: TaskGraph, after: TaskGraph, operations: Sequence[Operation], reply: str
) -> bool:
    """Whether a form did what its group says, and nothing else."""
    changed = {key for key, node in after.items() if gold.differs(before.get(key), node)}
    group, task = one.group, one.task
    asks = any(isinstance(each, Clarify) for each in operations)
    if group == "small talk" or group.startswith("ask "):
        return not changed and not asks and (group == "small talk" or _answered(one, before, reply))
    if asks or not changed:
        return False
    if group in OPENED:
        made = [node for node in after.parts(None) if node.id not in before]
        if len(made) != 1 or not gold.alike(one.all("T")[0], made[0].title):
            return False
    root = made[0].id if group in OPENED else task.root
    inside = {node.id for node in after.subtree(root, gone=True)}
    if group in NEW_SLOTS or group in OPENED:
        told = [(one.slots[number], text) for role, number, _, text in one.said if role == "V"]
        new = [after[key] for key in changed if key != root or group in NEW_SLOTS]
        wrong = [text for text in one.all("X") if any(node.value == text for node in new)]
        return (
            changed <= inside
            and not wrong
            and len(new) == len(told)
            and all(
                any(gold.says(text, node.value or node.title) and _named(one, slot, node) for node in new)
                for slot, text in told
            )
        )
    if group in SLOTTED:
        values = {number: text for role, number, _, text in one.said if role == "V"}
        return changed == set(one.nodes.values()) and all(
            _slot_right(one, after[key], before, values.get(number, "")) for number, key in one.nodes.items()
        )
    if group in ("cancel", "hold", "rename"):
        top = after[root]
        done = (
            any(gold.alike(text, top.title) for text in one.all("V")) if group == "rename" else not top.active
        )
        return changed <= inside and done
    return changed <= inside and _parts_right(one, before, after, changed)


def _slot_right(one: _Said, node: TaskNode, before: TaskGraph, told: str) -> bool:
    """Whether a slot is as a form says; told: the value for it, or ''."""
    group = one.group
    if group in CHANGED:
        return bool(told) and gold.says(told, node.value or "")
    if group in BACK:
        return node.value == one.task.former.get(node.id)
    return (
        node.value != before[node.id].value
        if group == "relative"
        else node.active == (group == "restore slot")
    )


def _named(one: _Said, slot: Slot, node: TaskNode) -> bool:
    names = one.all("S")
    return not names or gold.alike(slot.names[0], node.title)


def _parts_right(one: _Said, before: TaskGraph, after: TaskGraph, changed: set[str]) -> bool:
    """The same for items and steps."""
    group, task = one.group, one.task
    if group in ("remove item", "all but", "only"):
        named = {key for key, item in task.items.items() if item in one.all("T", "I", "E")}
        if group != "remove item":
            named = set(task.items) - named
        return bool(named) and changed == named and not any(after[key].active for key in named)
    if group == "replace":
        old = next((key for key, item in task.items.items() if item in one.all("O")), None)
        old = old or next(iter(one.nodes.values()), None)
        return old is not None and any(
            gold.says(text, f"{after[key].title} {after[key].value}")
            for text in one.all("V") for key in changed if after[key].active
        ) and not any(gold.says(text, f"{after[old].title} {after[old].value}") and after[old].active
                      for text in one.all("O"))  # fmt: skip
    if group in (*ADDED_ITEMS, "step", "several steps"):
        new = [after[key].title for key in changed if key not in before]
        return len(new) == len(changed) == len(one.all("I")) and all(
            any(gold.alike(item, title) for title in new) for item in one.all("I")
        )
    nodes = [_step(one, after, role) for role in "TI"]
    if group in ("order", "follow", "wait", "unwait"):
        second, first = nodes
        if first is None or second is None:
            return False
        linked = first.id in reach(second.depends_on, lambda key: after[key].depends_on)
        return linked != (group == "unwait")
    if group == "several done":
        names = [text for _, _, what, text in one.said if what in forms.STEPS]
        found = [node for name in names if (node := _by_words(one, after, name)) is not None]
        return (
            len(found) == len(names)
            and changed == {node.id for node in found}
            and all(node.status == "done" for node in found)
        )
    if group == "not any more":
        return len(changed) == 1 and not any(after[key].active for key in changed)
    node = nodes[0] or nodes[1] or _item(one, after)
    if node is None:
        return False
    if group in GIVEN:
        people = [text for role, _, what, text in one.said if role == "P"]
        own = [part.value or "" for part in after.parts(node.id) if part.title == "assignee"]
        new = [text for text in people if text not in task.who.values()] or people
        return bool(new) and len(own) == 1 and gold.alike(new[-1], own[0])
    fits = {"done": node.status == "done", "reopen": node.status != "done", "drop step": not node.active}
    return changed <= {each.id for each in after.subtree(node.id, gone=True)} and fits[group]


def _step(one: _Said, graph: TaskGraph, role: str) -> TaskNode | None:
    names = [text for kind, _, what, text in one.said if kind == role and what in forms.STEPS]
    return _by_words(one, graph, names[0]) if names else None


def _item(one: _Said, graph: TaskGraph) -> TaskNode | None:
    """The item that a form names."""
    named = one.all("T", "I")
    return next((graph[key] for key, item in one.task.items.items() if item in named), None)


def _by_words(one: _Said, graph: TaskGraph, words: str) -> TaskNode | None:
    """The step that one of whose forms are these words."""
    if (key := next((key for key, step in one.task.steps.items() if words in step), None)) is not None:
        return graph[key]
    step = next((step for step in one.task.kind.steps if words in step), None)
    if step is None:
        return None
    for node in graph.subtree(one.task.root, gone=True)[1:]:
        if node.value is None and gold.alike(step[0], node.title):
            return node
    return None


def _answered(one: _Said, graph: TaskGraph, reply: str) -> bool:
    """Whether a reply has what was asked."""
    task, group, node = one.task, one.group, next(iter(one.nodes.values()), "")
    left = [step[0] for key, step in task.steps.items() if graph[key].status != "done"]
    wanted: Mapping[str, list[str]] = {
        "ask value": [graph[node].value or "" if node else ""],
        "ask value of a thing": [graph[node].value or "" if node else ""],
        "ask former": [task.former.get(node, "")],
        "ask list": list(task.items.values()),
        "ask list by saying": list(task.items.values()),
        "ask by saying": [graph[node].value or "" if node else ""],
        "ask left": left,
        "ask hers": [task.steps[key][3] for key, person in task.who.items() if person in one.all("P")],
        "ask history": [task.former.get(node, "")],
        "ask claim": ["yes|right|correct|is"],
        "ask ever": ["yes|was"],
        "ask claim former": ["yes|was"],
        "ask summary": [graph[key].value or "" for key in list(task.slots)[:2]],
    }
    bare_reply = re.sub(r"[“”\"]", "", reply)
    return all(
        any(gold.says(word, bare_reply) for word in text.split("|")) for text in wanted.get(group, []) if text
    )


# ---- playing --------------------------------------------------------------------------------------


def met(
    count: int, seed: int, folders: Sequence[Path] = (), groups: Container[str] | None = None
) -> Iterator[tuple[Turn, View, _Said]]:
    """Forms with the plans that they are said of; what was last spoken of is the task that they are about.

    groups: of forms; None: all that can be judged.
    """
    chance, found = random.Random(seed), forms.authors(folders)
    kinds = [kind for _, those in found for kind in those]
    told = 0
    while told < count:
        wordings = chance.choice(found)[0]
        fit = (name for name in wordings if name not in UNJUDGED and (groups is None or name in groups))
        group = chance.choice([*fit])
        plan = Plan(kinds, chance)
        others = [kind for kind in kinds if all(kind is not one.kind for one in plan.tasks)]
        task = Task(chance.choice(others), "", "") if group in OPENED else chance.choice(plan.tasks)
        form = chance.choice(wordings[group])
        if (made := said(form, group, plan, task)) is None:
            continue
        turn, filling = made
        slot = plan.graph.get(next(iter(filling.nodes.values()), ""))
        bare = slot is not None and group in SLOTTED and not filling.all("S", "O")
        turn.before = (
            f"The {slot.title} is {slot.value}."  # what is not named was just spoken of
            if bare and slot is not None
            else forms.before(task.kind, chance)
        )
        focus = tuple(one.root for one in sorted(plan.tasks, key=lambda one: one is not task))
        if bare and slot is not None:
            focus = (slot.id, *focus)
        view = View(
            plan.graph, turn=plan.turn + 1, focus=focus, now=gold.NOW,
            exchanges=((f"about {task.title or plan.tasks[0].title}", turn.before),),
        )  # fmt: skip
        told += 1
        yield turn, view, filling


def tried(
    turn: Turn, view: View, filling: _Said, operations: Sequence[Operation]
) -> tuple[gold.Outcome, str]:
    """What becomes of a form by operations on its plan, and the reply."""
    ours, done, answers = view.graph, list[Change](), []
    for operation in operations:
        outcome = apply(ours, operation, turn=view.turn, said=turn.text)
        done.append(Change(operation=operation, changed=outcome.changed, refused=outcome.refused))
        ours = outcome.graph if outcome.refused is None else ours
        if isinstance(operation, Check):
            answers.append(answer(ours, operation.question))
    question = next((one for one in operations if isinstance(one, Clarify)), None)
    state = State(
        number=view.turn, utterance=turn.text, operations=tuple(operations), changes=tuple(done),
        answers=tuple(answers), question=question,
    )  # fmt: skip
    brief = Brief(turn.text, ours, state, answers=tuple(answers), now=gold.NOW)
    reply = "".join(TemplateResponder().respond(brief))
    if holds(filling, view.graph, ours, operations, reply):
        return "right", reply
    changed = any(gold.differs(view.graph.get(key), node) for key, node in ours.items())
    return ("asked" if question is not None and not changed else "wrong"), reply


def main() -> None:
    """Print how many forms hold, by group."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", choices=gold.READERS, default="annotated")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    table: dict[str, Counter[str]] = {}
    shown = 0
    for turn, view, filling in met(args.count, args.seed):
        outcome, reply = tried(turn, view, filling, gold.READERS[args.reader](turn, view))
        table.setdefault(filling.group, Counter())[outcome] += 1
        if outcome != "right" and shown < args.show:
            shown += 1
            print(f"{filling.group}, {outcome}: {turn.text}\n  {reply}")
    for name, told in sorted(table.items(), key=lambda one: one[1]["right"] / one[1].total()):
        print(f"{name}: {dict(told)}")
    whole = sum(table.values(), Counter[str]())
    print(", ".join(f"{name} {whole[name] / whole.total():.1%}" for name in ("right", "asked", "wrong")))


if __name__ == "__main__":
    main()
