"""What is looked up in indexes, cut short or done once is what a look at everything gives."""

from __future__ import annotations

import heapq
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskloom.agent.graph.access import graph_of
from taskloom.agent.grounding.resolving.assemble import Assembler, assemble, assemble_each
from taskloom.agent.plan.held import (
    alike,
    candidates_by_stems,
    slots_saying,
    stems_in,
    tasks_having,
    tasks_named,
    tasks_titled,
)
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.plan.topic import WEIGHTS, TopicSigns, topic_of
from taskloom.agent.reading import scorers, trees
from taskloom.agent.reading.beam import choices
from taskloom.agent.reading.meanings import SIZE
from taskloom.agent.reading.scorers import FAR, PARTS, packaged, scored
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Add, Update, apply
from taskloom.memory.tasks import TaskGraph, TaskNode

WORDS = [
    "dinner", "cake", "party", "baby", "babysitter", "invite", "invitation", "friday", "seven", "milk",
    "pans", "the", "of", "12",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@st.composite
def plans(draw: st.DrawFn) -> TaskGraph:
    """Plans of up to twelve tasks and slots, some of them out."""
    nodes: list[TaskNode] = []
    for number in range(1, draw(st.integers(2, 12))):
        parent = draw(st.sampled_from([None, *(node.id for node in nodes)]))
        value = draw(st.none() | TEXTS) if parent else None
        status = draw(st.sampled_from(["open", "open", "removed"]))
        slot = f"x.{draw(st.sampled_from(['date', 'cake', 'item1', 'assignee']))}"
        nodes.append(
            TaskNode.model_validate(
                {"id": f"t{number}", "slot": slot, "title": draw(TEXTS), "value": value, "parent": parent,
                 "status": status, "turn": draw(st.integers(1, 3))}
            )
        )  # fmt: skip
    return TaskGraph(nodes)


FOCUS = st.lists(st.sampled_from([f"t{number}" for number in range(1, 12)]), max_size=3, unique=True)


@given(plans(), TEXTS, FOCUS, st.booleans(), st.sampled_from([True, False, None]))
@settings(max_examples=150)
def test_what_words_mean_best_is_the_best_of_all(
    graph: TaskGraph, mention: str, focus: list[str], slots: bool, gone: bool | None
) -> None:
    every = set(graph)
    found = Assembler(View(graph, turn=4, focus=tuple(focus)), "said").best(mention, slots=slots, gone=gone)
    looking = Assembler(View(graph, turn=4, focus=tuple(focus)), "said")
    looking._plain = lambda *_, **__: iter(())  # type: ignore[method-assign]
    looking._near = lambda: dict.fromkeys(every, 99) | Assembler._near(looking)  # type: ignore[method-assign]
    assert found == looking.best(mention, slots=slots, gone=gone)


@given(plans(), FOCUS, TEXTS, TEXTS, TEXTS, st.sampled_from(sorted(WEIGHTS)), st.booleans())
@settings(max_examples=150)
def test_what_is_spoken_of_has_the_most_weight_of_all(
    graph: TaskGraph, focus: list[str], before: str, reply: str, said: str, which: str, dated: bool
) -> None:
    kinds = {"date"} if dated else set[str]()
    exchange = (before, f"{reply}?")
    signs = TopicSigns(graph, focus, (), exchange, said, kinds).signs(
        [node for node in graph.active if not is_slot(node)]
    )
    scores = {key: sum(map(float.__mul__, own, map(float, WEIGHTS[which]))) for key, own in signs.items()}
    found = topic_of(graph, focus, (), exchange, said, kinds, WEIGHTS[which])
    assert found == max(scores, key=lambda key: scores[key], default=None)


@given(plans(), TEXTS)
def test_tasks_that_are_not_looked_at_have_none_of_the_words(graph: TaskGraph, text: str) -> None:
    said = text.split()
    for key in set(graph).difference(*candidates_by_stems(graph, said)):
        above = {word for node in graph.ancestors(key) for word in stems_in(node).title}
        title, value, kind, _ = stems_in(graph[key])
        assert not (title | value | kind | above) & set(said)
        assert not any(alike(word, one) for word in said for one in title)


@given(plans(), TEXTS, st.sampled_from(WORDS))
def test_tasks_are_looked_up_by_their_words_as_a_look_at_each_finds_them(
    graph: TaskGraph, text: str, word: str
) -> None:
    said = set(text.split())
    tasks = [node for node in graph.active if not is_slot(node)]
    assert list(tasks_titled(graph, word)) == [node for node in tasks if word in stems_in(node).title]
    assert tasks_named(graph, said) == [node for node in tasks if said & stems_in(node).title]
    slots = {node.id for node in graph.active if is_slot(node) and word in stems_in(node).value}
    assert {node.id for node in slots_saying(graph, word)} == slots
    having = tasks_having(graph, said)
    assert [node.id for node in having] == [node.id for node in graph.active if node in having]
    for node in graph.active:
        held = stems_in(node)
        assert node in having or not said <= held.title | held.value
    assert tasks_having(graph, ()) == list(graph.active)


@given(plans(), TEXTS)
def test_a_plan_is_known_by_other_words_as_a_look_at_each_finds_it(graph: TaskGraph, text: str) -> None:
    looking = Assembler(View(graph, turn=4), "said")
    found = looking.known_as(f"the {text}")
    looking._plans_with = lambda said: list(graph.parts(None))  # type: ignore[method-assign]
    assert found == looking.known_as(f"the {text}")


def clause(act: str, **roles: str) -> Clause:
    """A clause of words in roles."""
    text = " ".join(roles.values())
    return Clause(act, text, tuple(Mention(role, one, 0, text.index(one)) for role, one in roles.items()))


def test_readings_that_begin_alike_do_what_each_does_alone() -> None:
    first, split = clause("task", T="dinner party"), clause("split", T="dinner", P="Ana")
    readings = [
        (first, clause("set", T="dinner party", V="friday")),
        (first, clause("add", I="cake")),
        (first, clause("done", T="dinner"), clause("remove", T="the moon")),
        (first,),
        (split, first),
        (split, first, clause("split", T="dinner", P="Bob")),
        (clause("add", I="cake"), first),
    ]
    view = View(TaskGraph([TaskNode(id="t1", slot="list", title="list")]), turn=2)
    assert list(assemble_each(readings, "said", view)) == [assemble(one, "said", view) for one in readings]


@given(st.lists(st.lists(st.integers(-6, 0), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_likeliest_choices_are_those_of_all(rows: list[list[int]]) -> None:
    scores = np.array(rows, np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    options = [
        [(float(row[own[0]] - row[one]), int(one)) for one in own]
        for row, own in zip(scores, order, strict=True)
    ]
    ways = ((sum(lost for lost, _ in way), tuple(one for _, one in way)) for way in product(*options))
    assert choices(scores, 4) == heapq.nsmallest(4, ways, key=lambda way: way[0])


def test_each_candidate_has_the_score_that_its_layers_give_it() -> None:
    rng, fitted = np.random.default_rng(1), packaged()
    given = rng.normal(size=(5, len(fitted.names))).astype(np.float32) * 9
    whole = rng.normal(size=SIZE).astype(np.float32)
    meanings = rng.normal(size=(5, 4 * SIZE + 2)).astype(np.float32)

    def alone(row: int, network: int) -> float:
        def layer(name: str, vector: NDArray[Any]) -> NDArray[Any]:
            made: NDArray[Any] = (
                vector @ fitted.layers[name][network] + fitted.layers[f"{name} bias"][network]
            )
            return made

        signs = np.clip((given[row] - fitted.mean) / fitted.scale, -FAR, FAR)
        vectors = dict(zip(PARTS, [whole, *np.split(meanings[row, : 4 * SIZE], 4)], strict=True))
        small = [np.maximum(layer(name, one), 0) for name, one in vectors.items()]
        title = layer("title", vectors["titles"])
        small += [layer("target", vectors["targets"]) * title, layer("clause", vectors["all"]) * title]
        hidden = np.concatenate([signs, meanings[row, 4 * SIZE :], *small])
        for name in ("first", "second"):
            hidden = np.maximum(layer(name, hidden), 0)
        return float(1 / (1 + np.exp(-layer("last", hidden)[0])))

    networks = range(len(fitted.layers["last"]))
    expected = [np.mean([alone(row, network) for network in networks]) for row in range(5)]
    found = [dict(zip(fitted.names, row.tolist(), strict=True)) for row in given]
    for told in (scored(given, whole, meanings, fitted), scorers.log_odds(found, whole, meanings)):
        assert 1 / (1 + np.exp(-told)) == pytest.approx(expected, abs=1e-4)


def test_all_candidates_go_down_the_trees_as_each_does() -> None:
    rng, names = np.random.default_rng(1), trees._fitted()["signs"]
    found = [dict(zip(names, rng.normal(size=len(names)), strict=True)) for _ in range(5)]
    assert trees.log_odds(found).tolist() == [trees.log_odds([one])[0] for one in found]
    tree, given = trees._fitted()["trees"][0], [*found[0].values()]
    while isinstance(tree, list):
        tree = tree[2] if given[tree[0]] <= tree[1] else tree[3]
    at = trees._planted().roots[0]
    while (low := trees._planted().low[at]) != at:
        at = (
            low
            if given[trees._planted().signs[at]] <= trees._planted().bounds[at]
            else trees._planted().high[at]
        )
    assert trees._planted().leaves[at] == tree


def test_the_plan_of_a_turn_has_the_indexes_of_the_one_before() -> None:
    nodes = {f"t{n}": TaskNode(id=f"t{n}", slot=f"a{n}", title=f"task {n}") for n in range(1, 20)}
    asked: list[str] = []

    def keys(node: TaskNode) -> list[str]:
        asked.append(node.id)
        return [node.title]

    state: Any = {"tasks": nodes}
    before = graph_of(state)
    before.index(keys)
    asked.clear()
    changed = apply(before, Update(task="t3", title="new"), turn=2).graph
    changed = apply(changed, Add(slot="b", title="more"), turn=2).graph
    after = graph_of(state | {"tasks": dict(changed)})
    assert after == changed
    assert after.index(keys)["new"] == ("t3",)
    assert set(asked) == {"t3", "t20"}
    fewer = dict(list(nodes.items())[:-1])
    assert list(graph_of(state | {"tasks": fewer})) == list(fewer)
    assert list(graph_of(state | {"tasks": dict(reversed(nodes.items()))})) == list(reversed(nodes))
