"""Indexes that a change hands on say what fresh ones would."""

from __future__ import annotations

from collections.abc import Iterable

from taskloom.memory.tasks import TaskGraph, TaskNode


def words(node: TaskNode) -> Iterable[str]:
    return node.title.split()


def node(key: str, title: str, parent: str | None = None, needs: tuple[str, ...] = ()) -> TaskNode:
    return TaskNode(id=key, slot=key, title=title, parent=parent, depends_on=needs)


def grown() -> TaskGraph:
    """Three tasks with all indexes built, then one changed and two new."""
    graph = TaskGraph([node("t1", "trip"), node("t2", "start", "t1"), node("t3", "hotel", "t1", ("t2",))])
    assert (graph.children, graph.dependents, graph.next_number) == (
        {None: ("t1",), "t1": ("t2", "t3")}, {"t2": ("t3",)}, 4,
    )  # fmt: skip
    assert graph.index(words) == {"trip": ("t1",), "start": ("t2",), "hotel": ("t3",)}
    changed = graph["t2"].changed(turn=1, op="update", said="", title="first start")
    return graph.with_nodes([changed, node("t4", "trip home", None, ("t2", "t3")), node("t5", "seat", "t4")])


def test_edges_are_those_of_a_fresh_graph() -> None:
    graph = grown()
    assert {"children", "dependents", "next_number"} <= vars(graph).keys()
    fresh = TaskGraph(graph)
    assert graph.children == fresh.children
    assert graph.dependents == fresh.dependents
    assert graph.next_number == fresh.next_number == 6


def test_words_are_added_for_what_has_changed() -> None:
    graph = grown()
    assert graph.index(words) == {
        "trip": ("t1", "t4"), "start": ("t2",), "hotel": ("t3",), "first": ("t2",), "home": ("t4",),
        "seat": ("t5",),
    }  # fmt: skip
    assert graph.index(words) is graph.index(words)


def test_an_index_is_dropped_when_nobody_asks_for_it() -> None:
    asked: list[str] = []

    def key(node: TaskNode) -> Iterable[str]:
        asked.append(node.id)
        return [node.id]

    graph = TaskGraph([node("t1", "trip")])
    assert graph.index(key) == {"t1": ("t1",)}
    for turn in range(4):
        graph = graph.with_nodes([graph["t1"].changed(turn=turn, op="update", said="", title=f"trip {turn}")])
    assert not graph._indexes
    assert graph.index(key) == {"t1": ("t1",)}
    assert asked == ["t1", "t1"]
