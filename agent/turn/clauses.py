"""What the local reader makes of words: clauses with their acts, mentions with their roles. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a clause with a role.

    role: T target, V value, O old value, S name of a slot, I item or step, P person, W whole that the rest is
    part of, E what is excepted, X what is taken back in the same breath, C a value told by another task.
    text: as typed. pair: mentions of one clause that belong together have the same number, 0 is none.
    start: where it begins in the clause, in characters.
    """

    role: str
    text: str
    pair: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True)
class Clause:
    """One act of an utterance: 'set', 'add', ..., 'ask.value', ...; its words, and the mentions in them."""

    act: str
    text: str
    mentions: tuple[Mention, ...] = ()

    def all(self, roles: str) -> list[Mention]:
        """The mentions of some roles, role after role."""
        return [one for role in roles for one in self.mentions if one.role == role]


@dataclass(frozen=True, slots=True)
class Parse:
    """All clauses of an utterance, in order, and the probability (0 to 1) that all of them are right.

    parts: the logarithms of what the probability is the product of: that of the roles, of where clauses
    begin, and of their acts.
    """

    clauses: tuple[Clause, ...]
    probability: float
    parts: tuple[float, float, float] = field(default=(0.0, 0.0, 0.0), compare=False, repr=False)
