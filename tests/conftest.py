"""Hypothesis profiles for all tests: quick (default), and full with HYPOTHESIS_PROFILE=full."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("full", max_examples=10_000, parent=settings.get_profile("quick"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
