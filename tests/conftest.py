"""For all tests: Hypothesis profiles (HYPOTHESIS_PROFILE=quick, check, full), and the same environment."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from taskloom.agent import settings as environment
from tests.attacks import ATTACKS, is_one, table
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
    if name.startswith(("TASKLOOM_", "OTEL_"))
    and name not in ("TASKLOOM_WHEEL", "TASKLOOM_HOME", "TASKLOOM_AEGRA")
]:
    del os.environ[name]
for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm-256color"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the table of attacks names is one."""
    for item in items:
        if any(is_one(item.nodeid, names) for names in ATTACKS.values()):
            item.add_marker("attack")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The table of `make attack`."""
    if config.option.markexpr != "attack":
        return
    outcomes: dict[str, str] = {}
    for outcome in ("passed", "skipped", "xfailed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, ()):
            outcomes[report.nodeid] = outcome  # one that fails in a part of it has failed
    terminalreporter.section("what was tried")
    for line in table(outcomes):
        terminalreporter.write_line(line)


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
