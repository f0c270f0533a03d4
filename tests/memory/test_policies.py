"""Addition, utility and deletion of experiences: their rules by example, their promises by property."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import permutations
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from taskloom.memory.policies import (
    Addition,
    Change,
    Deletion,
    Event,
    Outcome,
    Policy,
    admits,
    conclude,
    credit_retrieved,
    is_retrievable,
    outcome,
    record_use,
    settle,
    tally,
    to_delete,
    with_uses_summed,
)
from taskloom.memory.records import Experience, Older, Use, read_record

pytestmark = pytest.mark.timeout(3600)  # the full run tries thousands of streams

NOW = 40  # the present step in what is generated


def experience(key: str = "e1", **fields: Any) -> Experience:
    at = datetime(2026, 5, 4, tzinfo=UTC)
    return Experience(**{"id": key, "text": "book a table", "at": at, "status": "confirmed", **fields})


def used(*utilities: float | None, key: str = "e1", start: int = 1, **fields: Any) -> Experience:
    """An experience that was retrieved at consecutive steps."""
    uses = tuple(Use(step=start + at, utility=utility) for at, utility in enumerate(utilities))
    return experience(key, uses=uses, **fields)


utilities = st.sampled_from([None, 0.0, 0.5, 1.0])
uses = st.dictionaries(st.integers(1, NOW), utilities, max_size=6).map(
    lambda found: tuple(Use(step=step, utility=found[step]) for step in sorted(found))
)
experiences = st.lists(
    st.builds(
        experience,
        st.integers(0, 30).map("e{}".format),
        status=st.sampled_from(["pending", "confirmed", "confirmed", "rejected"]),
        step=st.integers(0, NOW),
        uses=uses,
    ),
    max_size=12,
    unique_by=lambda one: one.id,
)
policies = st.builds(
    Policy,
    addition=st.sampled_from(get_args(Addition)),
    deletion=st.sampled_from(get_args(Deletion)),
    period=st.integers(3, 30),
    alpha=st.integers(0, 2),
    n=st.integers(1, 4),
    beta=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    limit=st.integers(1, 8),
)
outcomes = st.builds(Outcome, st.sampled_from([0.0, 0.5, 1.0]), st.booleans())


def having(policy: Policy, **fields: Any) -> Policy:
    return Policy(**{**policy.model_dump(), **fields})


def applied(stored: Iterable[Experience], change: Change) -> list[Experience]:
    """What the store holds after a change."""
    memory = {one.id: one for one in (*stored, *change.put) if one.id not in change.delete}
    return list(memory.values())


# ---- settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"period": 0}, {"alpha": -1}, {"n": 0}, {"beta": 1.1}, {"beta": -0.1}, {"limit": 0},
        {"addition": "some"}, {"deletion": "both"}, {"window": 3},
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused_by_name(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        Policy(**fields)


def test_alpha_that_makes_everything_idle_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"alpha \(3\) must be below period \(3\)"):
        Policy(period=3, alpha=3)


@given(policies)
def test_a_policy_survives_json(policy: Policy) -> None:
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


# ---- how it went ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([], None),
        (["corrected"], Outcome(0, True)),
        (["rejected"], Outcome(0, True)),
        (["undone"], Outcome(0, True)),
        (["confirmed"], Outcome(1, True)),
        (["completed"], Outcome(1, False)),
        (["uncorrected"], Outcome(1, False)),
        (["approved"], Outcome(1, False)),
        (["disapproved"], Outcome(0, False)),
        (["good"], Outcome(1, True)),
        (["bad"], Outcome(0, True)),
        (["corrected", "confirmed"], Outcome(0, True)),
        (["completed", "corrected"], Outcome(0, True)),
        (["disapproved", "confirmed"], Outcome(1, True)),
        (["disapproved", "uncorrected"], Outcome(0, False)),
        (["undone", "good"], Outcome(1, True)),
        (["bad", "confirmed", "completed"], Outcome(0, True)),
        (["good", "bad"], Outcome(0, True)),
    ],
)
def test_what_events_say_of_a_unit_of_work(events: list[Event], found: Outcome | None) -> None:
    assert outcome(events) == found


@given(st.sets(st.sampled_from(sorted(set(get_args(Event)) - {"good"})), max_size=4))
def test_only_feedback_has_an_order(events: set[Event]) -> None:
    assert len({outcome(order) for order in permutations(sorted(events))}) == 1


@pytest.mark.parametrize(
    ("utility", "status"), [(1, "confirmed"), (0.5, "confirmed"), (0.4, "rejected"), (0, "rejected")]
)
def test_an_outcome_settles_a_record_and_settles_it_again(utility: float, status: str) -> None:
    settled = settle(experience(status="pending"), Outcome(utility, strict=True))
    assert (settled.status, settled.utility) == (status, utility)
    assert settle(settled, Outcome(1, strict=False)) == settle(
        experience(status="pending"), Outcome(1, strict=False)
    )


def test_a_use_is_recorded_and_its_utility_later() -> None:
    once = record_use(experience(), 7)
    assert once.uses == (Use(step=7),)
    known = record_use(once, 7, 0.0)
    assert known.uses == (Use(step=7, utility=0.0),)
    assert record_use(known, 7) == known
    assert record_use(known, 7, 1.0).uses == (Use(step=7, utility=1.0),)


@given(uses, st.integers(1, NOW), st.integers(1, NOW), utilities, utilities)
def test_uses_are_in_order_of_steps_whichever_came_first(
    before: tuple[Use, ...], one: int, other: int, first: float | None, second: float | None
) -> None:
    record = experience(uses=before)
    there = record_use(record_use(record, one, first), other, second)
    assert [use.step for use in there.uses] == sorted({use.step for use in before} | {one, other})
    if one != other:
        assert there == record_use(record_use(record, other, second), one, first)
    assert record_use(there, other, second) == there


def test_credit_reaches_all_that_led_to_it() -> None:
    given_credit = credit_retrieved([experience("e1"), used(None, key="e2", start=4)], 4, 0.5)
    assert [(one.id, one.uses) for one in given_credit] == [
        ("e1", (Use(step=4, utility=0.5),)),
        ("e2", (Use(step=4, utility=0.5),)),
    ]


# ---- what is offered and added ----------------------------------------------------------------------


@given(policies, experiences)
def test_neither_pending_records_nor_the_one_being_made_are_offered(
    policy: Policy, found: list[Experience]
) -> None:
    for one in found:
        assert not is_retrievable(policy, one, making=one.id)
        if one.status != "confirmed":
            assert is_retrievable(policy, one) == (one.status == "rejected" and policy.addition == "all")
        else:
            assert is_retrievable(policy, one, making="another")


@pytest.mark.parametrize(
    ("addition", "added"),
    [
        ("fixed", []),
        ("all", ["confirmed", "bad", "uncorrected", "disapproved"]),
        ("coarse", ["confirmed", "uncorrected"]),
        ("strict", ["confirmed"]),
    ],
)
def test_what_is_added(addition: Addition, added: list[Event]) -> None:
    events: tuple[Event, ...] = ("confirmed", "bad", "uncorrected", "disapproved")
    how = {event: outcome([event]) for event in events}
    assert [event for event, one in how.items() if one and admits(Policy(addition=addition), one)] == added


# ---- what is deleted --------------------------------------------------------------------------------


def idle(policy: Policy, one: Experience) -> bool:
    recent = [use for use in one.uses if NOW - policy.period < use.step <= NOW]
    return NOW - one.step >= policy.period and len(recent) <= policy.alpha


def mean(one: Experience) -> float:
    known = [use.utility for use in one.uses if use.utility is not None]
    return sum(known) / len(known) if known else 0.0


def harmful(policy: Policy, one: Experience) -> bool:
    known = [use for use in one.uses if use.utility is not None]
    return one.status != "pending" and len(known) >= policy.n and mean(one) <= policy.beta


@given(policies, experiences)
def test_deletions_are_those_of_their_condition(policy: Policy, found: list[Experience]) -> None:
    condition: dict[str, Callable[[Experience], bool]] = {
        "none": lambda one: False,
        "periodic": lambda one: idle(policy, one),
        "history": lambda one: harmful(policy, one),
        "combined": lambda one: idle(policy, one) or harmful(policy, one),
    }
    for deletion, goes in condition.items():
        gone = to_delete(having(policy, deletion=deletion), found, NOW)
        assert set(gone) == {one.id for one in found if goes(one)}


@given(policies, experiences)
def test_capacity_is_kept_and_the_best_stay(policy: Policy, found: list[Experience]) -> None:
    gone = set(to_delete(having(policy, deletion="capacity"), found, NOW))
    settled = [one for one in found if one.status != "pending"]
    kept = [one for one in settled if one.id not in gone]
    assert len(kept) <= policy.limit
    if len(settled) <= policy.limit:
        assert gone == set()
        return
    assert {one.id for one in found if idle(policy, one)} <= gone
    evicted = [one for one in settled if one.id in gone and not idle(policy, one)]
    assert not evicted or len(kept) == policy.limit
    ranks = [[(mean(one), one.step, one.id) for one in group] for group in (evicted, kept)]
    assert not all(ranks) or max(ranks[0]) < min(ranks[1])


@given(policies, experiences, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(policy: Policy, found: list[Experience], random: Any) -> None:
    shuffled = random.sample(found, len(found))
    assert to_delete(policy, shuffled, NOW) == to_delete(policy, found, NOW)


@given(policies, experiences)
def test_a_pending_record_only_goes_when_its_outcome_fails_to_come(
    policy: Policy, found: list[Experience]
) -> None:
    gone = to_delete(policy, found, NOW)
    pending = [one for one in found if one.status == "pending" and one.id in gone]
    assert all(idle(policy, one) for one in pending)
    assert not pending or policy.deletion in ("periodic", "combined", "capacity")


def test_nothing_is_deleted_from_nothing() -> None:
    for deletion in get_args(Deletion):
        assert to_delete(Policy(deletion=deletion), [], 1000) == ()


def test_history_wants_enough_uses_of_known_utility() -> None:
    policy = Policy(deletion="history", n=3, beta=0.5)
    assert to_delete(policy, [used(0, 0, None, None)], NOW) == ()
    assert to_delete(policy, [used(0, 0, 1)], NOW) == ("e1",)
    assert to_delete(policy, [used(0, 1, 1)], NOW) == ()
    assert to_delete(policy, [used(0, 0, 0, status="pending")], NOW) == ()


def test_the_period_begins_when_a_record_is_made_and_ends_with_its_last_use() -> None:
    policy = Policy(deletion="periodic", period=10)
    assert to_delete(policy, [experience(step=31)], NOW) == ()
    assert to_delete(policy, [experience(step=30)], NOW) == ("e1",)
    assert to_delete(policy, [used(0, start=31)], NOW) == ()
    assert to_delete(policy, [used(1, start=30)], NOW) == ("e1",)


def test_combined_is_either() -> None:
    unused = experience("e1")
    misleading = used(0, 0, key="e2", start=NOW - 2)
    policy = Policy(deletion="combined", period=10, n=2)
    assert to_delete(policy, [unused, misleading], NOW) == ("e1", "e2")


def test_over_the_limit_what_never_proved_itself_makes_room() -> None:
    policy = Policy(deletion="capacity", period=30, limit=2)
    proved, poor = used(1, 1, key="e1", step=12, start=20), used(0, 1, key="e2", step=13, start=20)
    new, waiting = experience("e3", step=39), experience("e4", status="pending", step=39)
    assert to_delete(policy, [proved, poor, waiting], NOW) == ()
    assert to_delete(policy, [proved, poor, new, waiting], NOW) == ("e3",)
    assert to_delete(policy, [proved, poor, used(1, key="e3", start=39, step=38)], NOW) == ("e2",)
    assert to_delete(policy, [proved, poor, new, experience("e0")], NOW) == ("e0", "e3")


# ---- the steps together -----------------------------------------------------------------------------


@given(policies, experiences, outcomes, st.booleans())
def test_concluding_keeps_its_promises(
    policy: Policy, stored: list[Experience], how: Outcome, waits: bool
) -> None:
    before = {one.id for one in stored}
    made = experience("made", status="pending", step=NOW - 2, led_by=(*sorted(before)[:3], "forgotten"))
    held = [*stored, made] if waits else stored
    change = conclude(policy, held, made, how, NOW)
    after = applied(held, change)
    again = conclude(policy, after, made, how, NOW)
    by_id = {one.id: one for one in after}

    assert set(by_id) <= before | {"made"}
    assert {one.id for one in change.put}.isdisjoint(change.delete)
    assert sorted(applied(after, again), key=lambda one: one.id) == [by_id[key] for key in sorted(by_id)]
    assert [read_record(one.model_dump_json()) for one in after] == after
    for key in before & set(by_id) & set(made.led_by):
        assert Use(step=made.step, utility=how.utility, by="made") in by_id[key].uses
    for one in stored:
        if one.id in by_id and one.id not in made.led_by:
            assert by_id[one.id] == one
    if "made" in by_id:
        assert admits(policy, how)
        assert by_id["made"] == settle(made, how)
    if policy.addition == "fixed":
        assert len(after) <= len(stored)
    if policy.deletion == "capacity":
        assert sum(one.status != "pending" for one in after) <= policy.limit
    if policy.deletion == "none":
        assert set(by_id) == before | ({"made"} if admits(policy, how) else set())


@given(policies, st.lists(st.tuples(st.integers(0, 50), st.sampled_from([0.0, 1.0])), max_size=40))
def test_a_stream_of_work_never_exceeds_the_capacity_and_fixed_never_grows(
    policy: Policy, stream: list[tuple[int, float]]
) -> None:
    memory = [experience(f"first{number}", utility=1.0) for number in range(3)]
    for step, (pick, utility) in enumerate(stream, start=1):
        size = len(memory)
        made = experience(f"e{step:02}", status="pending", step=step)
        examples = [one for one in (*memory, made) if is_retrievable(policy, one, making=made.id)]
        if examples:
            made = made.model_copy(update={"led_by": (examples[pick % len(examples)].id,)})
        memory = applied(memory, conclude(policy, memory, made, Outcome(utility, strict=True), step))
        assert len(memory) <= size + (policy.addition != "fixed")
        assert policy.deletion != "capacity" or len(memory) <= policy.limit
        assert policy.addition == "all" or all(one.status == "confirmed" for one in memory)


def unbounded(policy: Policy, stored: list[Experience], made: Experience, how: Outcome) -> list[Experience]:
    """What is stored after a step where every use is kept for ever."""
    memory = {one.id: one for one in stored}
    led_by = [memory[key] for key in made.led_by if key in memory]
    memory |= {one.id: one for one in credit_retrieved(led_by, made.step, how.utility, by=made.id)}
    memory |= {made.id: settle(made, how)} if admits(policy, how) else {}
    gone = to_delete(policy, memory.values(), made.step)
    return [one for key, one in memory.items() if key not in gone]


def counts(found: list[Experience], since: int) -> dict[str, tuple[float, ...]]:
    columns = zip(*tally(found, since), strict=True)
    return {one.id: tuple(map(float, column)) for one, column in zip(found, columns, strict=True)}


@given(
    policies,
    st.lists(st.tuples(st.lists(st.integers(0, 50), max_size=3), st.sampled_from([0, 0.25, 1])), max_size=60),
)
def test_uses_are_bounded_and_the_policies_find_what_they_would_in_all_of_them(
    policy: Policy, stream: list[tuple[list[int], float]]
) -> None:
    memory = every = [experience(f"first{number}", utility=1.0) for number in range(3)]
    for step, (picks, utility) in enumerate(stream, start=1):
        led_by = tuple({memory[pick % len(memory)].id: pick for pick in picks if memory})
        made, how = experience(f"e{step:02}", step=step, led_by=led_by), Outcome(utility, strict=True)
        memory = applied(memory, conclude(policy, memory, made, how, step))
        every = unbounded(policy, every, made, how)
        assert counts(memory, step - policy.period) == counts(every, step - policy.period)
        assert all(len(one.uses) <= policy.period for one in memory)
        again = conclude(policy, memory, made, how, step)
        assert {one.id: one for one in applied(memory, again)} == {one.id: one for one in memory}


def test_what_was_summed_is_counted_once_and_as_it_was() -> None:
    whole = used(1, None, 0.5, 1, start=3)
    record = with_uses_summed(whole, until=5)
    assert (record.uses, record.older) == ((Use(step=6, utility=1),), Older(until=5, known=2, total=1.5))
    assert with_uses_summed(record, until=5) == record
    assert record_use(record, 5, 0.0) == record
    assert with_uses_summed(with_uses_summed(whole, until=4), until=6) == with_uses_summed(whole, until=9)
    assert read_record(record.model_dump_json()) == record


def test_later_feedback_takes_an_addition_back() -> None:
    policy = Policy(addition="coarse", deletion="none")
    example = experience("example")
    made = experience("made", status="pending", step=5, led_by=("example",))
    memory = applied([example], conclude(policy, [example], made, Outcome(1, strict=False), 7))
    assert {one.id for one in memory} == {"example", "made"}

    change = conclude(policy, memory, made, Outcome(0, strict=True), 9)
    assert change.delete == ("made",)
    assert [one.uses for one in change.put] == [(Use(step=5, utility=0.0, by="made"),)]
