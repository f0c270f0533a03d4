"""Which database the settings name: files under the home, or PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from pydantic import SecretStr

from taskloom.agent.settings import Settings
from taskloom.memory.outbox import TABLES, Outbox, OutboxError
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import TABLE as CALLS_TABLE
from taskloom.tools.journal import FileJournal, StoredJournal

from .errors import MissingLibraryError

if TYPE_CHECKING:
    from .postgres import PostgresTable

OUTBOX, JOURNAL = "outbox.sqlite", "calls.sqlite"  # what is under the home
_NUMBER = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"


def postgres() -> ModuleType:
    """The module that speaks to PostgreSQL.

    Raises:
        MissingLibraryError: its libraries are not installed.
    """
    try:
        from . import postgres
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"TASKLOOM_DATABASE_URL needs {error.name}: pip install 'taskloom[postgres]'"
        ) from error
    return postgres


def open_outbox(given: Settings) -> Outbox:
    """The queue of records on their way into long-term memory.

    Raises:
        OutboxError: it cannot be opened.
        MissingLibraryError: see `postgres`.
    """
    if given.database_url is None:
        return Outbox(given.home / OUTBOX)
    return Outbox(_table(given.database_url, "queue", TABLES, OutboxError))


def open_journal(given: Settings) -> StoredJournal:
    """The journal of calls.

    Raises:
        ToolError: it cannot be opened.
        MissingLibraryError: see `postgres`.
    """
    if given.database_url is None:
        return FileJournal(given.home / JOURNAL)
    return StoredJournal(_table(given.database_url, "calls", (CALLS_TABLE,), ToolError))


def _table(url: SecretStr, name: str, schema: Sequence[str], error: type[Exception]) -> PostgresTable:
    """A table in PostgreSQL. schema: the statements that create it, with {number} for its counter."""
    statements = [statement.format(number=_NUMBER) for statement in schema]
    table: PostgresTable = postgres().PostgresTable(url.get_secret_value(), name, statements, error)
    return table


def has_journal(given: Settings) -> bool:
    """Whether there may be a journal: a file is created with the first tool only."""
    return given.database_url is not None or (given.home / JOURNAL).exists()
