"""Which experiences are kept: addition, utility and deletion (Xiong et al. 2025, sections 4 to 6). Pure.

The steps of one unit of work, in the paper's order: retrieve (what `is_retrievable`, never the record that
is being made), act (`record_use` of what was retrieved), and once it is known how it went (`outcome`),
`conclude`: utility for what was retrieved, addition if it passes, deletion.

A step is a user's unit of work, counted from 1 over all threads; records that were there before have 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .records import Experience, Older, Use

Addition = Literal["fixed", "all", "coarse", "strict"]
Deletion = Literal["none", "periodic", "history", "combined", "capacity"]
Event = Literal[
    "corrected", "rejected", "undone", "confirmed",
    "completed", "uncorrected", "approved", "disapproved",
    "good", "bad",
]  # fmt: skip
PASS = 0.5  # utility from which on a unit of work went well


class Policy(BaseModel):
    """What is added and what is deleted, with the paper's parameters.

    addition: `fixed` adds nothing; `all` everything; `coarse` what a judge approves or nobody corrects;
    `strict` what the user confirms or calls good. deletion: see `deletion_mask`.

    Raises:
        pydantic.ValidationError: a parameter is out of its range, or alpha not below the period: a record is
            retrieved at most once a step, so all of them would be idle.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    addition: Addition = "strict"
    deletion: Deletion = "history"
    period: int = Field(default=300, ge=1, description="Steps that count as recent.")
    alpha: int = Field(default=0, ge=0, description="Idle: retrieved at most so often within the period.")
    n: int = Field(default=5, ge=1, description="Judged by utility: retrieved at least so often.")
    beta: float = Field(default=0.5, ge=0, le=1, description="Harmful: mean utility at or below.")
    limit: int = Field(default=1000, ge=1, description="Most settled records under `capacity`.")

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.alpha >= self.period:
            raise ValueError(f"alpha ({self.alpha}) must be below period ({self.period})")
        return self


# ---- how it went ------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How a unit of work went. utility: 0 to 1. strict: the user said so, nobody guessed it."""

    utility: float
    strict: bool


_FEEDBACK: dict[Event, float] = {"good": 1, "bad": 0}
_USER: dict[Event, float] = {"corrected": 0, "rejected": 0, "undone": 0, "confirmed": 1}
_COARSE: dict[Event, float] = {"completed": 1, "uncorrected": 1, "approved": 1, "disapproved": 0}


def outcome(events: Iterable[Event]) -> Outcome | None:
    """How a unit of work went, from the events on it; None while that is not known.

    Explicit feedback (`good`, `bad`) overrides all else, the last word of it counts. Then what the user did:
    one correction, rejection or undo outweighs a confirmation, which may be of what was corrected. Then the
    coarse signs: `completed`, `uncorrected` (the next turns passed without a word against it), and a judge's
    `approved` or `disapproved`.
    """
    seen = tuple(events)
    if feedback := [_FEEDBACK[event] for event in seen if event in _FEEDBACK]:
        return Outcome(feedback[-1], strict=True)
    for signs, strict in ((_USER, True), (_COARSE, False)):
        if found := [signs[event] for event in seen if event in signs]:
            return Outcome(min(found), strict)
    return None


def settle(experience: Experience, how: Outcome) -> Experience:
    """The experience with how it went, and its status: confirmed from PASS on, else rejected."""
    status = "confirmed" if how.utility >= PASS else "rejected"
    update = {"utility": how.utility, "strict": how.strict, "status": status}
    return experience.model_copy(update=update)


def record_use(
    experience: Experience, step: int, utility: float | None = None, *, by: str = ""
) -> Experience:
    """The experience with its use at a step, and the utility of that use once it is known.

    Twice the same is the same as once; a later utility replaces an earlier one; None forgets none. What was
    `with_uses_summed` already stays as it was counted.
    """
    if step <= experience.older.until:
        return experience
    uses = {use.step: use for use in experience.uses}
    if utility is None and step in uses:
        return experience
    uses[step] = Use(step=step, utility=utility, by=by)
    return experience.model_copy(update={"uses": tuple(uses[at] for at in sorted(uses))})


def credit_retrieved(
    led_by: Iterable[Experience], step: int, utility: float, *, by: str = ""
) -> tuple[Experience, ...]:
    """The experiences that were retrieved at a step, each with the utility of the outcome.

    by: id of the experience that they were retrieved for.
    """
    return tuple(record_use(experience, step, utility, by=by) for experience in led_by)


def with_uses_summed(experience: Experience, until: int) -> Experience:
    """The experience with its uses up to a step in sum: policies want the rest one by one, these no more."""
    old = tuple(use for use in experience.uses if use.step <= until)
    if not old:
        return experience
    known = [use.utility for use in old if use.utility is not None]
    older = Older(
        until=old[-1].step,
        known=experience.older.known + len(known),
        total=sum(known, experience.older.total),
    )
    return experience.model_copy(update={"uses": experience.uses[len(old) :], "older": older})


# ---- what is kept -----------------------------------------------------------------------------------


def is_retrievable(policy: Policy, experience: Experience, making: str = "") -> bool:
    """Whether an experience may be retrieved: its outcome is known and good, or all are kept.

    making: id of the record that is being made, which is never its own example.
    """
    if experience.id == making or experience.status == "pending":
        return False
    return experience.status == "confirmed" or policy.addition == "all"


def admits(policy: Policy, outcome: Outcome) -> bool:
    """Whether a unit of work that went so is added (section 4.1)."""
    if policy.addition in ("fixed", "all"):
        return policy.addition == "all"
    return outcome.utility >= PASS and (outcome.strict or policy.addition == "coarse")


class Tally(NamedTuple):
    """What deletion looks at: arrays of one length, a place for each record, the oldest first.

    added: its step. recent: retrievals within the last period. known: retrievals of known utility.
    total: the sum of these utilities. concluded: its own outcome is known.
    """

    added: NDArray[np.int64]
    recent: NDArray[np.int64]
    known: NDArray[np.int64]
    total: NDArray[np.float64]
    concluded: NDArray[np.bool_]


def tally(experiences: Iterable[Experience], since: int) -> Tally:
    """The tally of experiences in the given order; recent are the uses at steps after `since`."""
    found = tuple(experiences)
    utilities = [[use.utility for use in one.uses if use.utility is not None] for one in found]
    return Tally(
        added=np.array([one.step for one in found], np.int64),
        recent=np.array([sum(use.step > since for use in one.uses) for one in found], np.int64),
        known=np.array(
            [one.older.known + len(known) for one, known in zip(found, utilities, strict=True)], np.int64
        ),
        total=np.array(
            [sum(known, one.older.total) for one, known in zip(found, utilities, strict=True)], np.float64
        ),
        concluded=np.array([one.status != "pending" for one in found], np.bool_),
    )


def deletion_mask(policy: Policy, tally: Tally, step: int) -> NDArray[np.bool_]:
    """Which records go after a step (section 5.1), as a mask over the tally.

    - `periodic`: idle: at least a period old and retrieved at most alpha times within the last one. A record
      whose outcome has been pending for a whole period goes by this too: it is never retrieved.
    - `history`: harmful: at least n retrievals of known utility, with a mean at or below beta.
    - `combined`: either. The paper's formula multiplies the two, so asks for both, which would leave more
      records than each alone; its sizes fit only either: 248 < 302 (periodic) < 784 (history).
    - `capacity` (section 6.2): over the limit the idle ones go, then the lowest mean utility, the oldest of
      equals first, until the limit is kept. No known use counts as a mean of 0: what has not proved itself
      makes room for what has. Pending records neither count nor make room, unless they are idle.
    """
    idle = (step - tally.added >= policy.period) & (tally.recent <= policy.alpha)
    mean = tally.total / np.maximum(tally.known, 1)
    harmful = tally.concluded & (tally.known >= policy.n) & (mean <= policy.beta)
    if policy.deletion == "capacity":
        return _evicted(policy.limit, idle, mean, tally.concluded)
    return {
        "none": np.zeros_like(idle),
        "periodic": idle,
        "history": harmful,
        "combined": idle | harmful,
    }[policy.deletion]


def _evicted(
    limit: int, idle: NDArray[np.bool_], mean: NDArray[np.float64], concluded: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    if concluded.sum() <= limit:
        return np.zeros_like(idle)
    gone, candidates = idle.copy(), np.flatnonzero(concluded & ~idle)
    worst_first = candidates[np.argsort(mean[candidates], kind="stable")]
    gone[worst_first[: max(0, len(candidates) - limit)]] = True
    return gone


def to_delete(policy: Policy, experiences: Iterable[Experience], step: int) -> tuple[str, ...]:
    """Ids of the experiences that go after a step, the oldest first, whatever order they come in."""
    found = sorted(experiences, key=lambda one: (one.step, one.id))
    gone = deletion_mask(policy, tally(found, since=step - policy.period), step)
    return tuple(one.id for one, goes in zip(found, gone, strict=True) if goes)


class Change(NamedTuple):
    """What to do to the store: records to put, new or in place of their former state; ids to delete."""

    put: tuple[Experience, ...] = ()
    delete: tuple[str, ...] = ()


def conclude(
    policy: Policy, stored: Iterable[Experience], experience: Experience, how: Outcome, step: int
) -> Change:
    """The changes to the memory once the outcome of a unit of work is known.

    Utility for what led to it, addition if it passes (else it goes), deletion; in this order. Twice the same
    is the same as once, and a later outcome, such as feedback, replaces the earlier one, within the period.

    Args:
        policy: what is added and deleted.
        stored: all of the user's experiences; whether `experience` is among them does not matter.
        experience: the record of the unit of work, with its step, what it was led by and its uses.
        how: how it went.
        step: the user's present step, which is later than that of `experience` if the outcome came late.
    """
    memory = {one.id: one for one in stored if one.id != experience.id}
    led = credit_retrieved(
        (memory[key] for key in experience.led_by if key in memory),
        experience.step,
        how.utility,
        by=experience.id,
    )
    put = tuple(with_uses_summed(one, step - policy.period) for one in led)
    if admits(policy, how):
        put = (*put, settle(experience, how))
    memory |= {one.id: one for one in put}
    gone = to_delete(policy, memory.values(), step)
    if experience.id not in memory:
        gone = (*gone, experience.id)
    return Change(tuple(one for one in put if one.id not in gone), gone)
