"""Small networks that look at the signs of readings and at their meanings: one half of trust.

Their answers are averaged. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from .beam import Numbers
from .meanings import SIZE

FAR = 5.0  # deviations from the mean, at most
LEAST = 1e-5  # probability
PARTS = ("whole", "targets", "told", "all", "titles")
"""What is made smaller, each by itself; targets and all of a reading are multiplied with the titles too."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was learned.

    names: of the signs, in order. mean, scale: of them [n]. layers: of k networks, by name, weights
    [k, in, out] and under `NAME bias` [k, out]: those of PARTS make a vector smaller, `title`, `target` and
    `clause` too, whose products are taken; `first`, `second`, `last` make scores of all that.
    """

    names: tuple[str, ...]
    mean: Numbers
    scale: Numbers
    layers: Mapping[str, Numbers]


def log_odds(found: Sequence[Mapping[str, float]], whole: Numbers, meanings: Numbers) -> Numbers:
    """That c candidates do what was said [c].

    found: the signs of each. whole, meanings: of `Meanings`, the vector of the message [384] and those of the
    candidates [c, 4 * 384 + 2].
    """
    fitted = packaged()
    given = np.array([[one[name] for name in fitted.names] for one in found], np.float32)
    return scored(given, whole, meanings, fitted)


def scored(given: Numbers, whole: Numbers, meanings: Numbers, fitted: Fitted) -> Numbers:
    """The same [c], of signs [c, n] as `fitted` names them."""
    given = np.clip((given - fitted.mean) / fitted.scale, -FAR, FAR)
    scores = _scores(given, np.tile(whole, (len(given), 1)), meanings, fitted.layers)
    right = (1 / (1 + np.exp(-scores))).mean(0).clip(LEAST, 1 - LEAST)
    found: Numbers = np.log(right / (1 - right))
    return found


def _scores(given: Numbers, whole: Numbers, meanings: Numbers, layers: Mapping[str, Numbers]) -> Numbers:
    """Of each of k networks for each candidate [k, c]."""
    gathered = (meanings[:, at * SIZE : (at + 1) * SIZE].astype(np.float32) for at in range(4))
    parts = dict(zip(PARTS, (whole, *gathered), strict=True))

    def layer(name: str, vectors: Numbers) -> Numbers:
        made: Numbers = vectors @ layers[name] + layers[f"{name} bias"][:, None]
        return made

    count = len(layers["last"])
    rows = np.concatenate([given, meanings[:, 4 * SIZE :].astype(np.float32)], axis=1)
    seen = [np.broadcast_to(rows, (count, *rows.shape))]
    seen += [np.maximum(layer(name, one), 0) for name, one in parts.items()]
    title = layer("title", parts["titles"])
    seen += [layer("target", parts["targets"]) * title, layer("clause", parts["all"]) * title]
    hidden = np.maximum(layer("first", np.concatenate(seen, axis=2)), 0)
    hidden = np.maximum(layer("second", hidden), 0)
    return layer("last", hidden)[:, :, 0]


@cache
def packaged() -> Fitted:
    """What comes with the package."""
    with (files("taskloom.agent.reading") / "trust.npz").open("rb") as file:
        return of_arrays(dict(np.load(file, allow_pickle=False)))


def of_arrays(arrays: Mapping[str, Any]) -> Fitted:
    """What is in a file of `trust.npz`."""
    given = {name: one.astype(np.float32) for name, one in arrays.items() if name != "names"}
    names = tuple(json.loads(str(arrays["names"])))
    return Fitted(names, given.pop("mean"), given.pop("scale"), given)
