"""For all tests: Hypothesis profiles (HYPOTHESIS_PROFILE=quick, check, full), and the same environment."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from taskloom.agent import settings as environment
from tests.postgres_server import PostgresServer, programs

settings.register_profile(
    "quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("check", max_examples=300, parent=settings.get_profile("quick"))
settings.register_profile("full", max_examples=10_000, parent=settings.get_profile("quick"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# What a caller has set of Taskloom and of the terminal is not what the tests are about.
for name in [
    name
    for name in os.environ
    if name.startswith("TASKLOOM_") and name not in ("TASKLOOM_WHEEL", "TASKLOOM_HOME", "TASKLOOM_AEGRA")
]:
    del os.environ[name]
for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm-256color"


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not go through it in every test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _environment_read_anew() -> None:
    """What a test reads of the environment is not what the one before it set there."""
    environment.settings.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and an environment without settings."""
    for name in [name for name in os.environ if name.startswith(("TASKLOOM_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this session's own; whoever has none installed skips what asks for it."""
    if (found := programs()) is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with PostgresServer(found) as running:
        yield running


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    """The URL of an empty database."""
    return postgres.database()
