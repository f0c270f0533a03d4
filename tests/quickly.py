"""Of many cases of one test some are enough for `make test`; the others are left to `make check`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest


def quick(cases: Sequence[Any], chosen: Collection[Any] | None = None) -> list[Any]:
    """The cases as parameters, those that are not chosen marked as slow; without a choice every other one."""
    kept = cases[::2] if chosen is None else chosen
    return [one if one in kept else pytest.param(one, marks=pytest.mark.slow) for one in cases]
