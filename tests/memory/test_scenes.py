"""Scenes of recordings: their edges, their closure, and how they are printed."""

from hypothesis import given
from hypothesis import strategies as st

from taskloom.memory import dag
from taskloom.memory.records import Evidence, Scene
from taskloom.memory.scenes import clock, closure, linked, render
from tests.chroma_server import scene


def evidence(source: str, by: str = "", text: str = "so it\n is") -> Evidence:
    return Evidence.model_validate(
        {"start_ms": 200_000, "end_ms": 221_999, "source": source, "text": text, "by": by}
    )


def test_how_evidence_is_printed() -> None:
    assert render(evidence("said", "Bob")) == "[03:20-03:41] Bob said: so it is"
    assert render(evidence("said")) == "[03:20-03:41] said: so it is"
    assert render(evidence("shown")) == "[03:20-03:41] shown: so it is"
    assert render(evidence("seen")) == "[03:20-03:41] seen: so it is"
    assert render(evidence("caption", "eye-2")) == "[03:20-03:41] caption by eye-2: so it is"
    assert (clock(0), clock(59_999), clock(3_599_999), clock(3_600_000)) == (
        "00:00",
        "00:59",
        "59:59",
        "1:00:00",
    )


def test_scenes_rest_on_what_they_go_on_from() -> None:
    silent = {"evidence": (evidence("shown"),)}
    given = [
        scene(3, "c", subjects=("venue", "launch"), **silent),
        scene(1, "a", subjects=("venue",), look=7, **silent),
        scene(2, "b", subjects=("venue",), **silent),
        scene(4, "d", look=7, **silent),
        scene(5, "e"),
        scene(6, "f", subjects=("launch",)),
    ]
    edges = {one.id: one.rests_on for one in linked(given)}
    assert edges == {"s1": (), "s2": ("s1",), "s3": ("s2",), "s4": ("s1",), "s5": (), "s6": ("s3", "s5")}


TRAITS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcd"), max_size=2), st.sampled_from(["", "Ana", "Bob"]),
              st.sampled_from([None, 1, 2])), max_size=12,
)  # fmt: skip


@given(TRAITS)
def test_the_edges_are_reduced_and_lose_nothing(traits: list[tuple[list[str], str, int | None]]) -> None:
    given = [
        scene(number, "x", subjects=tuple(subjects), look=look, evidence=(evidence("said", who),))
        for number, (subjects, who, look) in enumerate(traits, 1)
    ]
    edges = {one.id: one.rests_on for one in linked(given)}
    for after, own in enumerate(traits):
        reached = dag.reach(edges[f"s{after + 1}"], edges.__getitem__)
        for before, other in enumerate(traits[:after]):
            shared = set(own[0]) & set(other[0]) or own[1] == other[1] != "" or own[2] == other[2] is not None
            assert not shared or f"s{before + 1}" in reached
        for key in edges[f"s{after + 1}"]:
            others = [one for one in edges[f"s{after + 1}"] if one != key]
            assert key not in dag.reach(others, edges.__getitem__)


def chain(length: int) -> dict[str, Scene]:
    return {one.id: one for one in linked([scene(n, f"line {n}") for n in range(1, length + 1)])}


def test_a_closure_is_in_order_of_time_within_depth_and_tokens() -> None:
    scenes = chain(5)
    shown = closure(scenes, ["none", "s5", "s2"], depth=1)
    assert [one.id for one in shown.scenes] == ["s1", "s2", "s4", "s5"]
    assert shown.lines[0] == "[00:10-00:15] Ana said: line 1"
    assert (shown.left_out, len(closure(scenes, ["s5"]).lines)) == (0, 5)
    tight = closure(scenes, ["s5", "s2"], tokens=shown.tokens // 2)
    assert [one.id for one in tight.scenes] == ["s2", "s5"]
    assert tight.tokens <= shown.tokens // 2
    assert tight.left_out == 3
    parted = {"s2": scenes["s2"]}
    assert [one.id for one in closure(parted, ["s2"]).scenes] == ["s2"]
    assert closure({}, ["s2"]).lines == ()
