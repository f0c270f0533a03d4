"""Boosted trees (Friedman 2001) on what `signs` finds in readings: one half of trust. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .beam import Numbers

Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf's score, or the number of a sign, a bound, and the trees for signs up to it and above it."""


@cache
def _fitted() -> dict[str, Any]:
    text = (files("taskloom.agent.reading") / "trust.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def log_odds(found: Sequence[Mapping[str, float]]) -> Numbers:
    """That c candidates do what was said [c], from the signs of each."""
    fitted, trees = _fitted(), _planted()
    given = np.array([[one[name] for name in fitted["signs"]] for one in found])
    rows, at = np.arange(len(found))[:, None], np.tile(trees.roots, (len(found), 1))
    for _ in range(trees.depth):
        at = np.where(given[rows, trees.signs[at]] <= trees.bounds[at], trees.low[at], trees.high[at])
    # leaf after leaf: the sum of a row is the same whatever stands beside it
    scores = [fitted["start"] + sum(leaves) for leaves in trees.leaves[at].tolist()]
    return np.array(scores, np.float32)


@dataclass(frozen=True, slots=True)
class Trees:
    """All trees as rows of arrays [n], so that all candidates go down all of them at once.

    signs, bounds: what is asked at a row, and below which it goes on to the row `low`, else to `high`; a leaf
    goes on to itself. leaves: scores. roots: the row of each tree's beginning. depth: of the deepest.
    """

    signs: NDArray[np.intp]
    bounds: NDArray[np.float64]
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    leaves: NDArray[np.float64]
    roots: NDArray[np.intp]
    depth: int


@cache
def _planted() -> Trees:
    rows: list[tuple[int, float, int, int, float]] = []
    depths: list[int] = []

    def plant(tree: Tree, depth: int) -> int:
        row = len(rows)
        rows.append((0, 0.0, row, row, 0.0))
        if isinstance(tree, list | tuple):
            number, bound, low, high = tree
            rows[row] = (number, bound, plant(low, depth + 1), plant(high, depth + 1), 0.0)
        else:
            rows[row] = (0, 0.0, row, row, tree)
            depths.append(depth)
        return row

    roots = [plant(tree, 0) for tree in _fitted()["trees"]]
    signs, bounds, low, high, leaves = zip(*rows, strict=True)
    return Trees(
        np.array(signs), np.array(bounds), np.array(low), np.array(high), np.array(leaves), np.array(roots),
        max(depths),
    )  # fmt: skip
