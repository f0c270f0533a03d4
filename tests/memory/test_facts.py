"""The memory DAG: its changes, its invariants on generated sequences, and closure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from taskloom.memory import dag
from taskloom.memory.facts import GONE, FactGraph, Recall, closure, earlier, render, tombstone
from taskloom.memory.records import Fact, read_record
from taskloom.memory.retrieve import tokens

pytestmark = pytest.mark.timeout(3600)  # the full run plays thousands of sequences

START = datetime(2026, 5, 3, 9, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def fact(key: str, at: int = 0, **more: Any) -> Fact:
    given: dict[str, Any] = {"id": key, "text": f"Fact {key}.", "at": day(at), "thread": "main", **more}
    return Fact(**given)


def chain(size: int) -> FactGraph:
    """f0 <- f1 <- ..., each given all earlier ones as candidates, in an order that is no help."""
    graph = FactGraph()
    for number in range(size):
        graph = graph.insert(fact(f"f{number}", number), [f"f{n}" for n in range(number)])
    return graph


def edges(graph: FactGraph) -> set[tuple[str, str]]:
    return {(fact.id, key) for fact in graph.values() for key in fact.rests_on}


def below(graph: FactGraph, key: str) -> set[str]:
    return set(dag.reach(graph.rests_on(key), graph.rests_on))


def reaches(graph: FactGraph) -> dict[str, set[str]]:
    return {key: below(graph, key) for key in graph if graph.live(key)}


def check(graph: FactGraph) -> None:
    """All that is held for every graph."""
    found = edges(graph)
    assert all(graph.live(one) and graph.live(other) for one, other in found)
    assert all(earlier(graph[other], graph[one]) for one, other in found)
    assert all(len(set(fact.rests_on)) == len(fact.rests_on) for fact in graph.values())
    assert dag.cycle({key: graph.rests_on(key) for key in graph}) == []
    assert set(dag.reduction(dict.fromkeys(found))) == found


# ---- graph maths --------------------------------------------------------------------------------


def test_levels_are_distances() -> None:
    needs = {"a": ["b", "c"], "b": ["d"], "c": ["d", "b"], "d": ["e"], "e": []}
    assert list(dag.levels(["a", "a"], needs.__getitem__)) == [["a"], ["b", "c"], ["d"], ["e"]]
    assert list(dag.levels(["d", "a"], needs.__getitem__)) == [["d", "a"], ["e", "b", "c"]]
    assert list(dag.levels([], needs.__getitem__)) == []


def test_unreached_looks_further_than_one_edge() -> None:
    needs = {"a": ["b"], "b": ["c"], "c": ["d"], "d": [], "x": []}
    assert dag.unreached(["d", "x", "a", "a"], needs.__getitem__) == ["x", "a"]


# ---- changes ------------------------------------------------------------------------------------


def test_earlier_goes_by_time_and_by_turn_within_a_thread() -> None:
    assert earlier(fact("a", 1), fact("b", 2))
    assert not earlier(fact("b", 2), fact("a", 1))
    assert earlier(fact("a", turn=1), fact("b", turn=2))
    assert not earlier(fact("a", turn=1), fact("b", turn=1))
    assert not earlier(fact("a", turn=1), fact("b", turn=2, thread="other"))


def test_an_edge_is_kept_only_if_no_other_path_gives_it() -> None:
    graph = chain(5)
    assert edges(graph) == {(f"f{n + 1}", f"f{n}") for n in range(4)}
    graph = graph.insert(fact("side", 1))
    graph = graph.insert(fact("top", 9), ["f0", "f3", "side", "f1", "missing", "top"])
    assert graph["top"].rests_on == ("f3", "side")  # f0 is three edges below f3


def test_a_fact_does_not_rest_on_what_came_later() -> None:
    graph = FactGraph([fact("late", 5)]).insert(fact("early", 2), ["late"])
    assert graph["early"].rests_on == ()


def test_writing_twice_writes_once() -> None:
    graph = chain(3)
    assert graph.insert(fact("f2", 2, text="Other words."), []) is graph
    gone = graph.delete("f2")
    assert gone.insert(fact("f2", 2), ["f1"]) is gone
    assert gone.delete("f2") is gone


def test_a_tombstone_holds_no_word_of_the_fact() -> None:
    secret = fact(
        "f2", 7, text="Ken's door code is 4711.", people=("Ken",), subject="door", slot="code", value="4711",
        sources=(3,), thread="door of Ken", turn=3,
    )  # fmt: skip
    graph = chain(2).insert(secret, ["f1"]).delete("f2")
    assert graph["f2"] == tombstone(secret)
    assert (graph["f2"].status, graph["f2"].text, graph["f2"].at) == ("deleted", GONE, secret.at)
    dumped = graph["f2"].model_dump_json()
    assert not any(word in dumped for word in ("Ken", "4711", "door", "code"))
    assert read_record(dumped) == graph["f2"]


def test_delete_ties_children_to_parents_reduced_again() -> None:
    graph = FactGraph()
    for key, at, needs in (("a", 0, ""), ("b", 1, ""), ("c", 2, "ab"), ("d", 3, "a"), ("e", 4, "cd")):
        graph = graph.insert(fact(key, at), needs)
    graph = graph.delete("c")
    assert set(graph["e"].rests_on) == {"d", "b"}  # a is given by d
    assert [one.id for one in graph.current] == ["a", "b", "d", "e"]
    with pytest.raises(KeyError):
        graph.delete("nobody")


def test_reinsert_takes_fresh_edges_and_leaves_the_children_what_they_had() -> None:
    graph = chain(4).insert(fact("new", 1))
    graph = graph.reinsert(fact("f2", 2, text="Other words."), ["new"])
    assert graph["f2"].text == "Other words."
    assert graph["f2"].rests_on == ("new",)
    assert set(graph["f3"].rests_on) == {"f2", "f1"}  # f1 came through f2 before
    check(graph)


def test_reinsert_makes_edges_far_below_needless() -> None:
    graph = FactGraph()
    for key, at, needs in (("a", 0, ""), ("b", 1, ""), ("c", 2, "b"), ("d", 3, "c"), ("e", 4, "da")):
        graph = graph.insert(fact(key, at), needs)
    assert set(graph["e"].rests_on) == {"d", "a"}
    graph = graph.reinsert(graph["b"], ["a"])
    assert graph["e"].rests_on == ("d",)


def test_reinsert_refreshes_children_with_candidates_of_their_own() -> None:
    graph = chain(5).insert(fact("new", 1))
    children = {"f3": ["new"], "f4": ["new"], "nobody": ["f0"]}  # only f3 rests on it directly
    graph = graph.reinsert(fact("f2", 2), ["f0"], children)
    assert graph["f3"].rests_on == ("new",)
    assert set(graph["f4"].rests_on) == {"f3", "f2", "f1"}
    check(graph)


def test_reinsert_at_another_time_never_turns_an_edge_round() -> None:
    graph = chain(4).reinsert(fact("f1", 9), ["f2", "f3"])
    assert graph["f1"].rests_on == ("f3",)
    assert graph["f2"].rests_on == ("f0",)
    graph = graph.reinsert(fact("f1", -1), ["f0"])
    assert graph["f1"].rests_on == ()
    check(graph)


def test_reinsert_needs_a_live_fact() -> None:
    graph = chain(2)
    with pytest.raises(KeyError):
        graph.reinsert(fact("nobody"))
    assert graph.reinsert(tombstone(graph["f1"])) == graph.delete("f1")
    with pytest.raises(KeyError):
        graph.delete("f1").reinsert(fact("f1"))


def test_the_newest_wins_and_the_old_is_history() -> None:
    graph = chain(3)
    for pair in (("f0", "f2"), ("f2", "f0")):
        after = graph.supersede(*pair)
        assert (after["f0"].status, after["f0"].until) == ("former", day(2))
        assert after["f2"] is graph["f2"]
        assert [one.id for one in after.current] == ["f1", "f2"]
    late = graph.supersede("f0", "f2").supersede("f0", "f1")  # told late, it ended it sooner
    assert late["f0"].until == day(1)
    assert late.supersede("f0", "f2")["f0"].until == day(1)
    with pytest.raises(KeyError):
        graph.supersede("f0", "nobody")
    with pytest.raises(KeyError):
        graph.delete("f1").supersede("f1", "f2")


def test_of_one_moment_the_one_named_as_new_wins() -> None:
    graph = FactGraph([fact("a"), fact("b")]).supersede("a", "b")
    assert (graph["a"].status, graph["b"].status) == ("former", "current")


def test_cite_adds_turns() -> None:
    graph = FactGraph([fact("a", sources=(2,))])
    assert graph.cite("a", [5, 1, 2])["a"].sources == (1, 2, 5)
    assert graph.cite("a", [2]) is graph


def test_since_gives_what_the_store_must_write() -> None:
    before = chain(4)
    after = before.delete("f1").insert(fact("g", 9), ["f3"])
    assert {one.id for one in after.since(before)} == {"f1", "f2", "g"}
    assert after.since(after) == ()
    assert {one.id for one in after.since(FactGraph())} == set(after)


def test_reading_leaves_out_edges_to_what_is_not_there() -> None:
    kept = fact("c", 3, rests_on=("a",))
    graph = FactGraph([
        fact("a"), tombstone(fact("b", 1)), kept, fact("d", 4, rests_on=("a", "b", "missing", "e")),
        fact("e", 5), tombstone(fact("x", 6)).model_copy(update={"rests_on": ("a",)}),
    ])  # fmt: skip
    assert edges(graph) == {("c", "a"), ("d", "a")}
    assert graph["c"] is kept
    check(graph)


def test_it_is_a_mapping() -> None:
    graph = chain(2)
    assert list(graph) == ["f0", "f1"]
    assert len(graph) == 2
    assert "f1" in graph
    assert graph == chain(2)
    assert graph != chain(3)
    assert graph != 2
    assert repr(graph.delete("f0")) == "FactGraph(2 facts, 1 current)"
    assert FactGraph(graph.values()) == graph


# ---- any sequence -------------------------------------------------------------------------------

KEYS = [f"f{n}" for n in range(9)]
key, when = st.sampled_from(KEYS), st.integers(0, 6)
some = st.lists(key, max_size=5)


class Memory(RuleBasedStateMachine):
    """Inserts, updates, deletes and contradictions in any order; each leaves the graph sound."""

    graph: FactGraph

    @initialize(size=st.integers(0, 6))
    def start(self, size: int) -> None:
        self.graph = chain(size)

    @rule(key=key, at=when, turn=st.integers(0, 2), candidates=some)
    def insert(self, key: str, at: int, turn: int, candidates: list[str]) -> None:
        before, self.graph = self.graph, self.graph.insert(fact(key, at, turn=turn), candidates)
        if key in before:
            assert self.graph is before
            return
        meant = {one for one in candidates if before.live(one) and earlier(before[one], self.graph[key])}
        assert below(self.graph, key) == meant.union(*(below(before, one) for one in meant))
        assert before.insert(fact(key, at, turn=turn), candidates) == self.graph

    @precondition(lambda self: any(map(self.graph.live, self.graph)))
    @rule(data=st.data(), at=when, candidates=some, children=st.dictionaries(key, some, max_size=2))
    def update(
        self, data: st.DataObject, at: int, candidates: list[str], children: dict[str, list[str]]
    ) -> None:
        key = self.pick(data)
        before, changed = self.graph, fact(key, at, text="Other words.")
        self.graph = before.reinsert(changed, candidates, children)
        assert self.graph[key].text == "Other words."
        assert not {one.id for one in self.graph.since(before)} & set(before) - {key, *above(before, key)}
        kept = before.reinsert(changed, candidates)
        for one, reached in reaches(before).items():
            if one != key:
                assert reached - {key} <= below(kept, one)

    @precondition(lambda self: any(map(self.graph.live, self.graph)))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        key = self.pick(data)
        before, self.graph = self.graph, self.graph.delete(key)
        assert not self.graph.live(key)
        assert reaches(self.graph) == {
            one: reached - {key} for one, reached in reaches(before).items() if one != key
        }

    @precondition(lambda self: any(map(self.graph.live, self.graph)))
    @rule(data=st.data())
    def contradict(self, data: st.DataObject) -> None:
        old, new = self.pick(data), self.pick(data)
        before, self.graph = self.graph, self.graph.supersede(old, new)
        (changed,) = self.graph.since(before)
        assert changed.id in (old, new)
        assert changed.status == "former"
        assert changed.until is not None
        assert changed.until >= changed.at
        assert edges(self.graph) == edges(before)

    @rule(seeds=some, depth=st.none() | st.integers(0, 3), budget=st.integers(0, 80))
    def recall(self, seeds: list[str], depth: int | None, budget: int) -> None:
        found = closure(self.graph, seeds, depth=depth, tokens=budget)
        assert found.tokens <= budget
        assert found.tokens == sum(tokens(render(one)) + 1 for one in found.facts)
        assert all(one.status != "deleted" for one in found.facts)
        assert not any(earlier(b, a) for a, b in zip(found.facts, found.facts[1:], strict=False))
        whole = {one.id for one in closure(self.graph, seeds, tokens=10**6).facts}
        live = [key for key in seeds if self.graph.live(key)]
        assert whole == set(live).union(*(below(self.graph, key) for key in live))
        assert {one.id for one in found.facts} <= whole

    @rule()
    def store(self) -> None:
        back = FactGraph(read_record(one.model_dump_json()) for one in self.graph.values())  # type: ignore[misc]
        assert back == self.graph

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([key for key in self.graph if self.graph.live(key)]))

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "graph"):
            check(self.graph)


def above(graph: FactGraph, key: str) -> set[str]:
    """Ids of what rests on a fact, directly or not."""
    return {one for one in graph if key in below(graph, one)}


TestMemory = Memory.TestCase
TestMemory.settings = settings(stateful_step_count=15)


# ---- closure ------------------------------------------------------------------------------------


@given(st.integers(1, 15), st.randoms(use_true_random=False))
def test_a_planted_chain_comes_back_whole(size: int, chance: Any) -> None:
    planted = {f"f{n}": fact(f"f{n}", 2 * n) for n in range(size)}
    noise = {f"n{n}": fact(f"n{n}", 2 * n + 1) for n in range(size)}
    graph = FactGraph()
    told = [*planted, *noise]
    chance.shuffle(told)
    for key in sorted(told, key=lambda key: {**planted, **noise}[key].at):
        if key in noise:
            graph = graph.insert(noise[key], [other for other in noise if chance.random() < 0.3])
        else:
            graph = graph.insert(planted[key], [other for other in planted if other in graph])
    found = closure(graph, [f"f{size - 1}"])
    assert [one.id for one in found.facts] == list(planted)
    assert found.left_out == 0


def test_closure_is_bounded_by_depth() -> None:
    graph = chain(6)
    assert [one.id for one in closure(graph, ["f4"], depth=2).facts] == ["f2", "f3", "f4"]
    assert [one.id for one in closure(graph, ["f4"], depth=0).facts] == ["f4"]


def test_closure_is_bounded_by_relevance() -> None:
    graph = chain(6)
    scores = {"f4": 0.9, "f3": 0.1, "f2": 0.8}
    assert [one.id for one in closure(graph, ["f5"], relevance=scores, floor=0.5).facts] == ["f4", "f5"]
    told = closure(graph, ["f5"], relevance=lambda key: 1.0 if key > "f2" else 0.0, floor=0.5)
    assert [one.id for one in told.facts] == ["f3", "f4", "f5"]
    unknown = closure(graph, ["f5"], relevance={})
    assert len(unknown.facts) == 6


def test_closure_is_bounded_by_tokens_the_nearest_and_most_relevant_first() -> None:
    graph = FactGraph()
    for key, at, needs in (("a", 0, ""), ("b", 1, "a"), ("c", 2, ""), ("d", 3, "bc")):
        graph = graph.insert(fact(key, at), needs)
    one = tokens(render(graph["a"])) + 1
    found = closure(graph, ["d"], relevance={"c": 0.9, "b": 0.4}, tokens=2 * one)
    assert [fact.id for fact in found.facts] == ["c", "d"]
    assert (found.tokens, found.left_out) == (2 * one, 2)
    assert closure(graph, ["d"], tokens=0) == Recall(left_out=4)


def test_closure_starts_at_what_is_there() -> None:
    graph = chain(3).delete("f1")
    assert [one.id for one in closure(graph, ["f1", "nobody", "f2"]).facts] == ["f0", "f2"]
    assert closure(graph, []) == Recall()


def test_a_fact_is_rendered_with_its_time() -> None:
    hotel = fact("a", text="The hotel\nis Ritz.")
    assert render(hotel) == "2026-05-03: The hotel is Ritz."
    former = hotel.model_copy(update={"status": "former"})
    assert render(former) == "2026-05-03: The hotel is Ritz. (no longer)"
    assert render(former.model_copy(update={"until": day(4)})).endswith("(until 2026-05-07)")
