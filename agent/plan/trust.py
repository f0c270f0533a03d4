"""How far a reading can be trusted: the probability that it does what was said, from signs in it. Pure.

Boosted trees (Friedman 2001) on what `signs` finds are fitted in training/trust.py, on turns of authors whom
neither reader had seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Any, TypeAlias

from taskloom.agent.reading.clauses import Parse

Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf's score, or the number of a sign, a bound, and the trees for signs up to it and above it."""


@cache
def _fitted() -> dict[str, Any]:
    text = (files("taskloom.agent.plan") / "trust.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def at_home(parse: Parse) -> float:
    """How much an utterance is of the kind that the patterns were written for, as log-odds."""
    fitted = _fitted()["home"]
    return float(fitted["bias"] + sum(map(mul, fitted["weights"], parse.vector)))


def probability(found: Mapping[str, float], home: float) -> float:
    """The probability (0 to 1) that a candidate does what was said; found: its signs, home: of `at_home`."""
    fitted = _fitted()
    given = [*(found[name] for name in fitted["signs"]), home]
    score = fitted["start"] + sum(_leaf(tree, given) for tree in fitted["trees"])
    return 1 / (1 + math.exp(-score))


def _leaf(tree: Tree, given: Sequence[float]) -> float:
    while isinstance(tree, list | tuple):
        number, bound, low, high = tree
        tree = low if given[number] <= bound else high
    return tree
