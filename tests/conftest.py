"""For all tests: Hypothesis profiles, quick and full (HYPOTHESIS_PROFILE=full), and the same environment."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("full", max_examples=10_000, parent=settings.get_profile("quick"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# What a caller has set of Taskloom and of the terminal is not what the tests are about.
for name in [
    name
    for name in os.environ
    if name.startswith("TASKLOOM_") and name not in ("TASKLOOM_WHEEL", "TASKLOOM_HOME")
]:
    del os.environ[name]
for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm-256color"
