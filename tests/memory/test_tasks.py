"""The graph as data: reading, export and import, and clear errors for what is not a graph."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.memory import dag
from taskloom.memory.tasks import GraphError, Revision, TaskGraph, TaskNode


def node(number: int, **fields: Any) -> TaskNode:
    return TaskNode(**{"id": f"t{number}", "slot": f"slot{number}", "title": f"Task {number}", **fields})


@pytest.fixture
def graph() -> TaskGraph:
    return TaskGraph(
        [
            node(1, title='A "quoted" #1'),
            node(2, parent="t1", value="x", status="filled"),
            node(3, parent="t2", status="done", depends_on=("t4",)),
            node(4, value="Task 4", stale_since=2, status="proposed"),
            node(5, parent="t1", status="removed", depends_on=("t4",)),
        ]
    )


def test_reading(graph: TaskGraph) -> None:
    assert [found.id for found in graph.parts("t1", gone=True)] == ["t2", "t5"]
    assert [found.id for found in graph.subtree("t1")] == ["t1", "t2", "t3"]
    assert [found.id for found in graph.ancestors("t3")] == ["t2", "t1"]
    assert (graph.root("t3").id, graph.root("t1").id) == ("t1", "t1")
    assert graph.rests_on("t3") == ("t4",)
    assert [found.id for found in graph.waits_for("t3")] == ["t4"]
    assert graph.dependents == {"t4": ("t3", "t5")}
    assert graph.part("t1", "slot2") == graph["t2"]
    assert repr(graph) == "TaskGraph(5 tasks, 4 active)"
    assert len(graph) == len(list(graph)) == 5
    assert graph == TaskGraph(graph) == TaskGraph(dict(graph))
    assert graph != dict(graph)


def test_a_state_is_kept_apart_from_its_task() -> None:
    first = node(1, value="a", status="filled")
    second = first.changed(turn=2, op="update", said="b", value="b")
    assert type(second.history[0]) is Revision
    assert second.history == (first.revision(),)
    assert second == TaskNode.model_validate(second.model_dump())
    assert second.revision() == Revision.model_validate(second.revision().model_dump())
    assert second.model_copy(update={"turn": 3}).turn == 3
    assert first.value == "a"


def test_indexes_follow_changes(graph: TaskGraph) -> None:
    assert graph.next_number == 6
    assert graph.children[None] == ("t1", "t4")
    assert graph.dependents["t4"] == ("t3", "t5")
    same = graph.with_nodes([graph["t2"].changed(turn=2, op="update", said="", value="y")])
    assert same.children is graph.children
    assert same.dependents is graph.dependents
    moved = graph.with_nodes([graph["t3"].changed(turn=2, op="x", said="", parent="t1", depends_on=())])
    assert moved.children["t1"] == ("t2", "t3", "t5")
    assert moved.dependents == {"t4": ("t5",)}
    assert graph.with_nodes([node(9)]).next_number == 10
    assert TaskGraph([node(1, id="other")]).next_number == 1


def test_nothing_is_indexed_before_it_is_asked_for() -> None:
    graph = TaskGraph([node(1)]).with_nodes([node(2, parent="t1", depends_on=("t1",))])
    assert not {"children", "dependents", "next_number"} & graph.__dict__.keys()
    assert (graph.children, graph.dependents) == ({None: ("t1",), "t1": ("t2",)}, {"t1": ("t2",)})
    more = graph.with_nodes([node(3, parent="t1", depends_on=("t1",))])
    assert (more.children["t1"], more.dependents["t1"]) == (("t2", "t3"), ("t2", "t3"))


def test_an_index_of_ones_own_asks_changed_tasks_only(graph: TaskGraph) -> None:
    asked: list[str] = []

    def titles(task: TaskNode) -> frozenset[str]:
        asked.append(task.id)
        return frozenset({task.title})

    assert graph.index(titles)["Task 2"] == ("t2",)
    assert graph.index(titles) is graph.index(titles)
    assert asked == list(graph)
    after = graph.with_nodes([graph["t3"].changed(turn=2, op="update", said="", title="Task 2")])
    assert after.index(titles)["Task 2"] == ("t2", "t3")
    assert asked == [*graph, "t3"]
    assert graph.index(titles)["Task 2"] == ("t2",)


def test_mermaid(graph: TaskGraph) -> None:
    assert graph.to_mermaid().splitlines() == [
        "flowchart TD",
        '  t1["A #quot;quoted#quot; #35;1"]',
        '  t2["Task 2: x"]',
        '  t3["Task 3 ✓"]',
        '  t4["Task 4 ? ⚠"]',
        "  t1 --> t2",
        "  t2 --> t3",
        "  t3 -.-> t4",
    ]


def test_export_and_import(graph: TaskGraph) -> None:
    text = graph.to_json()
    assert TaskGraph.from_json(text) == graph
    assert TaskGraph.from_json(text.encode()) == graph
    assert json.loads(text)["tasks"][0] == {"id": "t1", "slot": "slot1", "title": 'A "quoted" #1'}
    assert "\n" not in graph.to_json(indent=None)


def export(*tasks: dict[str, Any]) -> str:
    full = [{"slot": f"s{number}", "title": "x", **task} for number, task in enumerate(tasks)]
    return json.dumps({"tasks": full})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file: Invalid JSON"),
        ("[1", "the file: Invalid JSON"),
        (b"\xff\xfe", "the file: Invalid JSON"),
        ("[]", "the file: Input should be an object"),
        ("{}", "tasks: Field required"),
        ('{"tasks": [{"id": 7, "slot": "x", "title": "x"}]}', "tasks.0.id: Input should be a valid string"),
        (export({"id": "t1", "status": "gone"}), "tasks.0.status: Input should be"),
        (export({"id": "t1", "turn": -1}), "tasks.0.turn: Input should be greater"),
        (export({"id": "t1", "history": [{}]}), "tasks.0.history.0.slot: Field required"),
        (export({"id": "t1"}, {"id": "t1"}), "an id is used twice"),
        (export({"id": "t1\n"}), "'t1\\n' is not an id; they look like t7"),
        (export({"id": "t1", "slot": "a\u0000"}), "t1: the slot holds control characters"),
        (export({"id": "t1", "title": "x" * 2000}), "t1: a title of 2,000 characters is too long"),
        (export({"id": "t1", "value": "x" * 20_001}), "t1: a value of 20,001 characters"),
        (export({"id": "t1", "history": [{"slot": " ", "title": "x"}]}), "t1: a slot must not be blank"),
        (export({"id": "t1", "parent": "t2"}), "t1 points to t2, which does not exist"),
        (export({"id": "t1", "history": [{"slot": "x", "title": "x", "parent": "t2"}]}), "t1 points to t2"),
        (export({"id": "t1", "depends_on": ["t1"]}), "t1 -> t1 is a cycle"),
        (export({"id": "t1", "parent": "t2"}, {"id": "t2", "parent": "t1"}), "is a cycle"),
        (export({"id": "t1", "slot": "a"}, {"id": "t2", "slot": "a"}), "t1 and t2 both hold a"),
        (export({"id": "t1", "status": "removed"}, {"id": "t2", "parent": "t1"}), "t2 is active under t1"),
    ],
)
def test_what_is_not_a_graph_is_refused_clearly(text: str | bytes, message: str) -> None:
    with pytest.raises(GraphError, match=r"^not a ") as caught:
        TaskGraph.from_json(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


EDGES = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda edge: edge[0] < edge[1]),
    st.integers(),
    max_size=20,
)


@given(EDGES)
def test_reduction_keeps_reach_and_data(numbers: dict[tuple[int, int], int]) -> None:
    edges = {(f"t{one}", f"t{other}"): data for (one, other), data in numbers.items()}
    kept = dag.reduction(edges)
    assert kept.items() <= edges.items()

    def reach(edges: Any, key: str) -> set[str]:
        return set(dag.reach([key], lambda low: [other for one, other in edges if one == low]))

    keys = {key for edge in edges for key in edge}
    assert all(reach(edges, key) == reach(kept, key) for key in keys)
    for edge in kept:
        fewer = {other: None for other in kept if other != edge}
        assert edge[1] not in reach(fewer, edge[0])


@given(EDGES, st.permutations([f"t{number}" for number in range(9)]))
def test_order_puts_what_is_rested_on_first(numbers: dict[tuple[int, int], int], keys: list[str]) -> None:
    edges = [(f"t{one}", f"t{other}") for one, other in numbers]
    ordered = dag.order(keys, lambda key: [other for one, other in edges if one == key])
    assert sorted(ordered) == sorted(keys)
    assert all(ordered.index(other) < ordered.index(one) for one, other in edges)
    assert dag.order(keys, lambda _: ()) == keys


def test_cycle() -> None:
    edges = {"a": ["b"], "b": ["c"], "c": ["b"]}
    found = dag.cycle(edges)
    assert found[0] == found[-1]
    assert all(other in edges[one] for one, other in pairwise(found))
    assert dag.cycle({"a": ["b"], "b": []}) == []
