"""What becomes of records on their way into the store: of the user's experiences, facts and intent units."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.memory.consolidate import Decision
from taskloom.memory.curator import Curator
from taskloom.memory.policies import Policy, with_uses_summed
from taskloom.memory.records import REPEATED, Experience, Fact, Stream, Use, read_line
from taskloom.memory.store import AnyRecord, InMemoryStore, StoreError
from tests.chroma_server import HashEmbedder, scene, unit

START = datetime(2026, 5, 1, tzinfo=UTC)
COARSE = Policy(addition="coarse", deletion="history", n=2)


def made(number: int, utility: float | None = 1.0, **fields: Any) -> Experience:
    """An experience whose outcome is known."""
    status = "confirmed" if utility else "rejected"
    return Experience(
        id=f"e{number}",
        text=f"words {number}",
        at=START + timedelta(minutes=number),
        utility=utility,
        **{"status": status, **fields},
    )


def told(number: int, text: str, **fields: Any) -> Fact:
    at = START + timedelta(days=number)
    given = {"id": f"f{number}", "text": text, "at": at, "thread": "a", "turn": number, "sources": (number,)}
    return Fact.model_validate({**given, **fields})


def place(number: int, value: str) -> Fact:
    """A fact that gives the hotel's place."""
    return told(number, f"The place of the hotel is {value}.", subject="hotel", slot="place", value=value)


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(HashEmbedder())


# ---- intent units ---------------------------------------------------------------------------------


def test_units_come_in_and_go_when_their_task_left_the_plan(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [unit(1, "a hotel"), unit(2, "a car")])
    assert [record.id for record in store.records("ann")] == ["u1", "u2"]
    gone = unit(1, "a hotel").model_copy(update={"status": "dropped"})
    curator.put("ann", [gone, unit(3, "a table")])
    assert [record.id for record in store.records("ann")] == ["u2", "u3"]
    curator.put("ann", [gone])
    assert len(store.records("ann")) == 2


def test_nothing_is_nothing(store: InMemoryStore) -> None:
    Curator(store, COARSE).put("ann", [])
    assert store.users() == ()


# ---- experiences ----------------------------------------------------------------------------------


def test_what_went_well_is_added_and_the_rest_is_not(store: InMemoryStore) -> None:
    Curator(store, COARSE).put("ann", [made(1), made(2, 0.0), made(3)])
    kept = store.records("ann", "experience")
    assert [(one.id, getattr(one, "step", None)) for one in kept] == [("e1", 1), ("e3", 3)]


def test_a_strict_policy_wants_the_users_word(store: InMemoryStore) -> None:
    Curator(store, Policy(addition="strict")).put("ann", [made(1), made(2, strict=True)])
    assert [one.id for one in store.records("ann")] == ["e2"]


def test_an_outcome_that_is_not_known_counts_as_none(store: InMemoryStore) -> None:
    Curator(store, COARSE).put("ann", [made(1, None, status="pending")])
    assert store.records("ann") == ()


def test_a_later_word_takes_back_what_was_added(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [made(1)])
    curator.put("ann", [made(1, 0.0, strict=True)])
    assert store.records("ann") == ()


def test_utility_goes_to_what_led_there_and_the_harmful_go(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [made(1)])
    curator.put("ann", [made(2, 0.0, led_by=("e1", "unknown"))])
    first = store.get("ann", ["e1"])["e1"]
    assert isinstance(first, Experience)
    assert [(use.step, use.utility, use.by) for use in first.uses] == [(2, 0.0, "e2")]
    curator.put("ann", [made(3, 0.0, led_by=("e1",))])
    assert store.records("ann") == (), "retrieved twice, and both times it went wrong"


# ---- steps ----------------------------------------------------------------------------------------


def test_every_unit_of_work_takes_a_step_whether_or_not_it_is_kept(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [made(1), made(2, 0.0)])
    curator.put("ann", [made(2, 0.0), made(3, 0.0), made(4)])
    assert steps(store) == {"e1": 1, "e4": 4}
    assert store.stream("ann") == Stream(steps=4, latest=("e1", "e2", "e3", "e4"))
    assert store.stream("bob") == Stream()


def test_failures_let_the_period_pass(store: InMemoryStore) -> None:
    """As in the paper: a record is old after so many units of work, not after so many that went well."""
    curator = Curator(store, Policy(addition="coarse", deletion="periodic", period=3))
    curator.put("ann", [made(1)])
    for number in (2, 3):
        curator.put("ann", [made(number, 0.0)])
        assert steps(store) == {"e1": 1}
    curator.put("ann", [made(4, 0.0)])
    assert steps(store) == {}


def test_a_flush_that_died_on_the_way_counts_once(store: InMemoryStore) -> None:
    class Dies(InMemoryStore):
        def put(self, user: str, records: Sequence[AnyRecord]) -> None:
            raise StoreError("the power is off")

    dying = Dies(HashEmbedder())
    for number in (1, 1, 2):
        with pytest.raises(StoreError):
            Curator(dying, COARSE).put("ann", [made(number)])
    assert dying.stream("ann") == Stream(steps=2, latest=("e1", "e2"))


def test_a_memory_without_a_count_goes_on_from_what_its_records_tell(store: InMemoryStore) -> None:
    store.put("ann", [made(1, step=7), made(2, step=4, uses=(Use(step=9, utility=1.0, by="e9"),))])
    Curator(store, COARSE).put("ann", [made(9, 0.0), made(1), made(3)])
    assert steps(store) == {"e1": 7, "e2": 4, "e3": 10}
    assert store.stream("ann").steps == 10


def test_what_was_rejected_long_ago_is_forgotten_and_takes_a_step_again() -> None:
    stream = Stream()
    for number in range(REPEATED + 1):
        stream = stream.further(f"e{number}")
    assert (stream.steps, len(stream.latest)) == (REPEATED + 1, REPEATED)
    assert (stream.step_of("e0"), stream.step_of("e1"), stream.step_of("e200")) == (None, 2, 201)
    assert read_line(stream.model_dump_json()) == stream
    assert read_line(made(1).model_dump_json()) == made(1)


def steps(store: InMemoryStore) -> dict[str, int]:
    return {one.id: one.step for one in store.records("ann") if isinstance(one, Experience)}


# Not by capacity: what was evicted comes back when it is told again, and others make room for it.
small = st.builds(
    Policy,
    addition=st.sampled_from(["all", "coarse", "strict"]),
    deletion=st.sampled_from(["none", "periodic", "history", "combined"]),
    period=st.integers(1, 4),
    n=st.integers(1, 3),
)
work = st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.lists(st.integers(1, 12), max_size=3))


def kept(store: InMemoryStore, policy: Policy) -> list[Experience]:
    """The experiences, each with all uses in sum that are not recent; they are summed when one is added."""
    old = store.stream("ann").steps - policy.period
    return [with_uses_summed(one, old) for one in store.records("ann") if isinstance(one, Experience)]


@given(policy=small, stream=st.lists(st.tuples(st.integers(1, 6), work), max_size=14))
def test_twice_the_same_is_the_same_as_once(
    policy: Policy, stream: list[tuple[int, tuple[float, list[int]]]]
) -> None:
    once, twice = InMemoryStore(HashEmbedder()), InMemoryStore(HashEmbedder())
    known: dict[int, Experience] = {}
    for number, (utility, led_by) in stream:
        # The record of a turn is made once; only how it went may be told again.
        ids = tuple(f"e{one}" for one in led_by if one != number)
        first = known.setdefault(number, made(number, led_by=ids))
        told = made(number, utility, led_by=first.led_by, strict=True)
        Curator(once, policy).put("ann", [told])
        Curator(twice, policy).put("ann", [told])
        Curator(twice, policy).put("ann", [told])
    assert kept(once, policy) == kept(twice, policy)
    assert once.stream("ann") == twice.stream("ann")


@given(policy=small, batches=st.lists(st.lists(work, max_size=4), max_size=5))
def test_a_batch_flushed_twice_is_the_same_as_once(
    policy: Policy, batches: list[list[tuple[float, list[int]]]]
) -> None:
    once, twice = InMemoryStore(HashEmbedder()), InMemoryStore(HashEmbedder())
    number = 0
    for batch in batches:
        records = []
        for utility, led_by in batch:
            number += 1
            ids = tuple(f"e{one}" for one in led_by if one < number)
            records.append(made(number, utility, led_by=ids, strict=True))
        Curator(once, policy).put("ann", records)
        Curator(twice, policy).put("ann", records)
        Curator(twice, policy).put("ann", records)
    assert kept(once, policy) == kept(twice, policy)
    assert once.stream("ann") == twice.stream("ann")


# ---- facts ----------------------------------------------------------------------------------------


def facts(store: InMemoryStore) -> dict[str, str]:
    return {one.id: one.status for one in store.records("ann", "fact") if isinstance(one, Fact)}


def test_a_new_value_makes_the_one_before_it_history(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [place(1, "Oslo")])
    curator.put("ann", [place(2, "Bergen"), told(2, "Ken likes tea.", id="f3")])
    assert facts(store) == {"f1": "former", "f2": "current", "f3": "current"}
    first, second = (store.get("ann", [key])[key] for key in ("f1", "f2"))
    assert isinstance(first, Fact)
    assert isinstance(second, Fact)
    assert (first.until, second.rests_on) == (second.at, ("f1",))


def test_what_was_told_before_is_not_told_twice(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [place(1, "Oslo")])
    curator.put("ann", [place(2, "Oslo")])
    curator.put("ann", [place(1, "Oslo"), place(2, "Oslo")])
    assert facts(store) == {"f1": "current"}
    (only,) = store.records("ann", "fact")
    assert isinstance(only, Fact)
    assert only.sources == (1, 2)


def test_a_model_decides_on_what_has_no_slot_and_sees_only_what_holds(store: InMemoryStore) -> None:
    asked: list[list[str]] = []

    def decide(clusters: Sequence[Sequence[Fact]]) -> Iterable[Decision]:
        asked.extend([fact.id for fact in cluster] for cluster in clusters)
        newest = clusters[0][-1]
        return [Decision(fact=newest.id, act="update", of=clusters[0][0].id)]

    curator = Curator(store, COARSE, decide)
    curator.put("ann", [told(1, "The user lives in Oslo now.")])
    curator.put("ann", [told(2, "The user lives in Bergen now.")])
    curator.put("ann", [told(3, "The user lives in Rome now.")])
    assert asked == [["f1", "f2"], ["f2", "f3"]]
    assert facts(store) == {"f1": "former", "f2": "former", "f3": "current"}


def test_users_do_not_meet(store: InMemoryStore) -> None:
    curator = Curator(store, COARSE)
    curator.put("ann", [place(1, "Oslo"), made(1), unit(1, "a hotel"), scene(1, "a talk")])
    curator.put("bob", [place(2, "Bergen"), made(2, 0.0, led_by=("e1",)), unit(2, "a car")])
    assert [record.id for record in store.records("ann")] == ["s1", "u1", "e1", "f1"]
    assert facts(store) == {"f1": "current"}


def test_a_store_that_fails_is_told() -> None:
    class Broken(InMemoryStore):
        def _write(self, user: str, records: Sequence[AnyRecord], vectors: Any) -> None:
            raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        Curator(Broken(HashEmbedder()), COARSE).put("ann", [unit(1, "a hotel"), made(1)])
