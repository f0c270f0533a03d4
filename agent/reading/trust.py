"""How far a reading can be trusted: the probability that it does what was said. Pure.

The mean of what trees and small networks say, as each is right where the other is not; both are fitted in
training/trust.py, on turns of authors whom the reader has not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import scorers, trees
from .beam import Numbers


def probabilities(
    found: Sequence[Mapping[str, float]], seen: tuple[Numbers, Numbers] | None = None
) -> list[float]:
    """The probabilities (0 to 1) that c candidates do what was said.

    found: the signs of each. seen: of `Meanings`, the vector of the message [384] and those of the candidates
    [c, 4 * 384 + 2]; None where the message was read in parts, then the trees alone are asked.
    """
    ours = trees.log_odds(found)
    told: list[float] = mixed(ours, ours if seen is None else scorers.log_odds(found, *seen)).tolist()
    return told


def mixed(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
    """The probabilities, of the log odds that trees and networks give."""
    found: NDArray[Any] = 1 / (1 + np.exp(-(ours + theirs) / 2))
    return found
