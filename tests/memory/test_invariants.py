"""The invariants of the task graph, on generated dialogues: any operations, sound or not, in any order."""

from __future__ import annotations

import contextlib
import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from taskloom.memory import dag
from taskloom.memory.claims import answer
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
    Outcome,
    Part,
    Question,
    QuestionKind,
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
    redoable,
    undoable,
)
from taskloom.memory.retrieve import closure
from taskloom.memory.tasks import GraphError, Revision, TaskGraph, TaskNode

pytestmark = pytest.mark.timeout(3600)  # the full run plays thousands of dialogues

NAMES = ["date", "place", "item", "item2", "part1"]
VALUES = ["Boston", "Chicago", "2 PM", "celery", "mushrooms and celery"]
IDS = st.integers(0, 12).map("t{}".format)
name, value = st.sampled_from(NAMES), st.sampled_from(VALUES)
parts = st.lists(
    st.builds(
        Part,
        title=value,
        values=st.lists(st.tuples(name, value), max_size=2).map(tuple),
        members=st.lists(IDS, max_size=2).map(tuple),
    ),
    max_size=3,
).map(tuple)
questions = st.builds(
    Question,
    kind=st.sampled_from(QuestionKind.__args__),  # type: ignore[attr-defined]
    tasks=st.lists(IDS, max_size=2).map(tuple),
    about=st.sampled_from(["", "the date", "items", "two of them"]),
    value=st.none() | value | st.just("two parts"),
    container=st.none() | IDS,
    act=st.none() | st.sampled_from(["add", "remove", "update", "replace", "complete"]),
)
adds = st.builds(
    Add,
    slot=name,
    title=value,
    value=st.none() | value,
    parent=st.none() | IDS,
    depends_on=st.lists(IDS, max_size=2).map(tuple),
    status=st.sampled_from([None, None, None, "proposed"]),
)
operations: st.SearchStrategy[Operation] = st.one_of(
    adds,
    adds,
    st.builds(
        Update, task=IDS, value=st.none() | value, title=st.none() | value,
        depends_on=st.just(()) | st.tuples(IDS),
    ),
    st.builds(
        Replace, old=st.sampled_from(["celery", "Boston", "PM"]), new=value, tasks=st.none() | st.tuples(IDS)
    ),
    st.builds(Remove, task=IDS),
    st.builds(Inactivate, task=IDS),
    st.builds(Restore, task=IDS),
    st.builds(Rollback, task=IDS, to=st.none() | st.integers(-1, 4)),
    st.builds(Undo, turn=st.none() | st.integers(0, 12)),
    st.builds(Link, task=IDS, on=IDS),
    st.builds(Unlink, task=IDS, on=IDS),
    st.builds(Complete, task=IDS),
    st.builds(Confirm, task=IDS),
    st.builds(Reject, task=IDS),
    st.builds(Split, task=IDS, parts=parts),
    st.builds(Merge, task=IDS),
    st.builds(Check, question=questions),
    st.just(Clarify(question="which?")),
)  # fmt: skip
SERIALIZER = JsonPlusSerializer(
    allowed_msgpack_modules=[
        ("taskloom.memory.tasks", "TaskNode"),
        ("taskloom.memory.tasks", "Revision"),
    ]
)


def ground(graph: TaskGraph, operation: Operation) -> Operation:
    """The operation on tasks that there are, mostly active ones; members of a split are parts of it."""
    active = [node.id for node in graph.active] or ["t1"]

    def pick(key: str, among: list[str]) -> str:
        return among[int(key[1:]) % len(among)]

    def there(key: str) -> str:
        return pick(key, list(graph) or active if key in ("t11", "t12") else active)

    fields: dict[str, Any] = {}
    for name in ("task", "on", "parent"):
        if key := getattr(operation, name, None):
            fields[name] = there(key)
    if isinstance(operation, Restore):
        fields["task"] = pick(operation.task, [key for key in graph if not graph[key].active] or active)
    if isinstance(operation, Confirm | Reject):
        proposed = [node.id for node in graph.active if node.status == "proposed"]
        fields["task"] = pick(operation.task, proposed or active)
    if isinstance(operation, Unlink):
        edges = [(node.id, key) for node in graph.active for key in node.depends_on] or [("t1", "t1")]
        fields["task"], fields["on"] = edges[int(operation.on[1:]) % len(edges)]
    if isinstance(operation, Merge):
        split = [node.parent for node in graph.active if is_part(node) and node.parent]
        fields["task"] = pick(operation.task, split or active)
    if isinstance(operation, Split):
        members = iter([node.id for node in graph.parts(fields["task"])])
        fields["parts"] = tuple(
            part.model_copy(update={"members": tuple(islice(members, len(part.members)))})
            for part in operation.parts
        )
    for name in ("depends_on", "tasks"):
        if keys := getattr(operation, name, None):
            fields[name] = tuple(there(key) for key in keys)
    return operation.model_copy(update=fields)


def contents(graph: TaskGraph) -> dict[str, tuple[Any, ...]]:
    return {key: node.content() for key, node in graph.items()}


def dependents_by_the_book(before: TaskGraph, after: TaskGraph) -> set[str]:
    """Active transitive dependents of what changed in value or presence, without what changed itself."""
    sources = {
        key
        for key in before
        if (before[key].value, before[key].active) != (after[key].value, after[key].active)
    }
    reached, frontier = set(sources), set(sources)
    while frontier:
        active = (node for node in after.active if node.id not in reached)
        frontier = {node.id for node in active if frontier.intersection(node.depends_on)}
        reached |= frontier
    return reached - sources


def check_step(before: TaskGraph, outcome: Outcome, turn: int, said: str) -> None:
    """What has to hold of every single operation."""
    graph = outcome.graph
    assert graph.faults() == []
    if outcome.refused is not None or isinstance(outcome.operation, Check | Clarify):
        assert graph is before
        assert outcome.changed == ()
        return
    different = {key for key in graph if key not in before or graph[key] != before[key]}
    assert different == set(outcome.changed)
    assert different
    assert len(outcome.changed) == len(different)
    for key in different:
        node, old = graph[key], before.get(key)
        made = node.states()[len(old.states()) if old else 0 :]
        assert made
        assert all((state.turn, state.said) == (turn, said) for state in made)
        if old:
            assert node.history[: len(old.history)] == old.history
            assert node.history[len(old.history)] == old.revision()
    if outcome.operation.kind != "undo":
        dependents = dependents_by_the_book(before, graph)
        assert all(graph[key].stale_since is not None for key in dependents)
        fresh = {key for key in dependents if key not in before or before[key].stale_since is None}
        assert set(outcome.stale) == fresh
        assert all(graph[key].stale_since == turn for key in fresh)


def survives(graph: TaskGraph) -> None:
    """Through the checkpointer's serialiser, strict, and through export and import."""
    assert TaskGraph.from_json(graph.to_json()) == graph
    sent = SERIALIZER.dumps_typed(dict(graph))
    back = SERIALIZER.loads_typed(sent)
    assert back == dict(graph)
    assert all(type(node) is TaskNode for node in back.values())
    assert all(type(state) is Revision for node in back.values() for state in node.history)


class Dialogue(RuleBasedStateMachine):
    """Turns of one or more operations; a second book is kept of what undo has to bring back."""

    graph: TaskGraph
    turn: int

    @initialize()
    def start(self) -> None:
        self.graph, self.turn = TaskGraph(), 1
        self.former: list[dict[str, tuple[Any, ...]]] = []
        self.tree()

    def carry_out(self, operation: Operation) -> Outcome:
        before, said = self.graph, f"words of turn {self.turn}"
        outcome = apply(before, operation, turn=self.turn, said=said)
        check_step(before, outcome, self.turn, said)
        event(f"{operation.kind}: {'refused' if outcome.refused else 'done'}")
        self.graph = outcome.graph
        return outcome

    def tree(self) -> None:
        """Something to work on."""
        for operation in (
            Add(slot="trip", title="Trip"),
            Add(slot="trip.item", title="celery", parent="t1"),
            Add(slot="trip.item2", title="mushrooms", parent="t1", depends_on=("t2",)),
            Add(slot="soup", title="Soup", depends_on=("t3",)),
            Add(slot="soup.pot", title="Pot", parent="t4", value="2 PM"),
            Add(slot="soup.item", title="celery", parent="t4", value="celery", status="proposed"),
            Add(slot="party", title="Party", depends_on=("t5", "t2")),
            Add(slot="party.date", title="Date", parent="t7", value="Boston"),
        ):
            self.carry_out(operation)
        self.turn += 1
        self.former = [{}]

    @rule(operation=operations)
    def say_nonsense(self, operation: Operation) -> None:
        before = contents(self.graph)
        if self.carry_out(operation).changed:
            self.former = [] if operation.kind == "undo" else [*self.former, before]
        self.turn += 1

    @rule(operations=st.lists(operations, min_size=1, max_size=4))
    def say(self, operations: list[Operation]) -> None:
        before = contents(self.graph)
        made = [self.carry_out(ground(self.graph, operation)) for operation in operations]
        if any(isinstance(outcome.operation, Undo) and outcome.changed for outcome in made):
            self.former = []  # the book is kept for plain turns and plain undos
        elif any(
            now != before[key] if key in before else self.graph[key].status != "removed"
            for key, now in contents(self.graph).items()
        ):
            self.former.append(before)
        self.turn += 1

    @rule()
    def undo_and_redo(self) -> None:
        if not self.former:
            return
        before, former = contents(self.graph), self.former[-1]
        outcome = self.carry_out(Undo())
        assert outcome.refused is None
        self.turn += 1
        after = contents(self.graph)
        assert {key: after[key] for key in former} == former
        assert not any(self.graph[key].active for key in set(after) - set(former))
        assert redoable(self.graph)[-1] == self.turn - 1
        again = self.carry_out(Undo(turn=self.turn - 1))
        assert again.refused is None
        self.turn += 1
        assert contents(self.graph) == before

    @rule()
    def undo(self) -> None:
        if not self.former:
            return
        former = self.former.pop()
        assert self.carry_out(Undo()).refused is None
        self.turn += 1
        after = contents(self.graph)
        assert {key: after[key] for key in former} == former

    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.graph)))
        before, node = contents(self.graph), self.graph[key]
        to = data.draw(st.integers(0, max(0, len(node.history) - 1)))
        outcome = self.carry_out(Rollback(task=key, to=to))
        if outcome.refused is None:
            now, former = self.graph[key], node.history[to]
            assert (now.value, now.title, now.status) == (former.value, former.title, former.status)
            self.former.append(before)
        self.turn += 1

    @rule(question=questions, budget=st.integers(0, 300))
    def ask(self, question: Question, budget: int) -> None:
        before = TaskGraph(dict(self.graph))
        found = answer(self.graph, question)
        assert found == answer(self.graph, question)
        assert all(key in self.graph for key in found.tasks)
        picked = closure(self.graph, found.tasks, question=question, budget=budget)
        assert picked.tokens <= budget
        assert set(picked.tasks) <= set(
            closure(self.graph, found.tasks, question=question, budget=budget + 40).tasks
        )
        assert self.graph == before

    @rule()
    def store(self) -> None:
        survives(self.graph)

    @invariant()
    def sound(self) -> None:
        if not hasattr(self, "graph"):
            return
        slots = [(node.parent, node.slot) for node in self.graph.active]
        assert len(set(slots)) == len(slots)
        assert all(not node.parent or self.graph[node.parent].active for node in self.graph.active)
        assert dag.cycle({key: self.graph.rests_on(key) for key in self.graph}) == []
        assert set(undoable(self.graph)) <= set(range(self.turn + 1))

    def teardown(self) -> None:
        if hasattr(self, "graph"):
            survives(self.graph)


TestDialogue = Dialogue.TestCase
TestDialogue.settings = settings(stateful_step_count=20)


@given(st.lists(operations, min_size=1, max_size=25))
def test_any_sequence_keeps_the_graph_sound(sequence: list[Operation]) -> None:
    graph = TaskGraph()
    for turn, operation in enumerate(sequence, start=1):
        if turn % 4:
            operation = ground(graph, operation)
        outcome = apply(graph, operation, turn=turn, said=f"words {turn}")
        check_step(graph, outcome, turn, f"words {turn}")
        graph = outcome.graph
    survives(graph)


@given(st.lists(adds, min_size=1, max_size=12), st.lists(operations, max_size=8))
def test_undoing_every_turn_empties_the_plan(first: list[Operation], then: list[Operation]) -> None:
    graph, turn = TaskGraph(), 0
    for turn, operation in enumerate((*first, *(op for op in then if op.kind != "undo")), start=1):
        graph = apply(graph, ground(graph, operation), turn=turn).graph
    while undoable(graph):
        turn += 1
        outcome = apply(graph, Undo(), turn=turn)
        assert outcome.refused is None
        graph = outcome.graph
    assert graph.active == ()
    assert json.loads(graph.to_json())["tasks"] or not graph


words_in = st.text(max_size=30) | st.sampled_from(["\x00", "a\x1bb", "x" * 30_000, " ", "\ud800", "\n"])


@given(words_in, words_in, words_in)
def test_any_text_is_kept_or_refused(slot: str, title: str, said: str) -> None:
    add = Add.model_construct(slot=slot, title=title, value=title, kind="add", intent="new", said=said)
    outcome = apply(TaskGraph(), add, turn=1)
    assert (outcome.refused is None) == bool(outcome.changed)
    survives(outcome.graph)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tasks", "id", "slot", "title", "turn"]), inner)
    ),
    max_leaves=8,
)


@given(st.binary(max_size=60) | values.map(lambda data: json.dumps(data).encode()))
def test_any_file_is_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(GraphError):
        assert TaskGraph.from_json(text).faults() == []
