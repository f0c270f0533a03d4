"""PostgreSQL: what a URL may be, connections, locks and tables. The one file that knows psycopg.

It is imported where a database is used, as its library is in an extra of its own.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection, conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from .errors import DatabaseError

CONNECT_TIMEOUT = 10  # seconds, where the URL does not say
_FORM = (
    "TASKLOOM_DATABASE_URL is not of the form postgresql://USER:PASSWORD@HOST:PORT/NAME; what is special in"
    " a password is percent-encoded"
)


# ---- connections ----------------------------------------------------------------------------------


def place_of(url: str) -> str:
    """The place of a database in words, without credentials.

    Raises:
        DatabaseError: not a URL of PostgreSQL, or one in which the end of the password is not clear.
    """
    try:
        parts = conninfo.conninfo_to_dict(url) if url.startswith(("postgresql://", "postgres://")) else {}
    except psycopg.ProgrammingError:
        raise DatabaseError(_FORM) from None  # libpq's words hold parts of the URL
    host, port, name = (str(parts.get(key) or "") for key in ("host", "port", "dbname"))
    if not parts or (not port.replace(",", "").isdigit() and port) or {"@", "/"} & set(name) or "@" in host:
        raise DatabaseError(_FORM)
    return f"PostgreSQL at {host or 'this machine'}:{port or 5432}/{name}"


def open_pool(url: str, size: int = 4) -> ConnectionPool[Connection[dict[str, Any]]]:
    """Connections to a database, as LangGraph's saver wants them; broken ones are replaced.

    Raises:
        DatabaseError: it cannot be reached, or refuses.
    """
    with explained(url):
        given = conninfo.make_conninfo(url, connect_timeout=_timeout(url))
        psycopg.connect(given).close()  # says at once what is wrong, where a pool would try for long
        return ConnectionPool(
            given, min_size=1, max_size=size, num_workers=1, open=True, name="taskloom",
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        )  # fmt: skip


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turns what psycopg raises into a DatabaseError that names the place.

    Raises:
        DatabaseError: in place of an error of psycopg's.
    """
    place = place_of(url)
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        raise DatabaseError(failure_text(place, error)) from error


def failure_text(place: str, error: Exception) -> str:
    """The message for an error. psycopg's text holds no password if `place_of` accepted the URL."""
    words = " ".join(str(error).split()) or type(error).__name__
    return f"{place} failed: {words}: check that it is running, and TASKLOOM_DATABASE_URL"


def _timeout(url: str) -> Any:
    return conninfo.conninfo_to_dict(url).get("connect_timeout") or CONNECT_TIMEOUT


# ---- locks ----------------------------------------------------------------------------------------

# Of the session, on a connection without a transaction: an open one would keep the server from vacuuming,
# and from making an index beside it, for as long as a run takes.
_LOCK = "SELECT pg_advisory_lock(%s)"
_TRY = "SELECT pg_try_advisory_lock(%s)"
_SETTINGS = """SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', '0', false),
set_config('idle_session_timeout', '0', false)"""


@contextmanager
def advisory_lock(given: str, *names: str, wait: float) -> Iterator[bool]:
    """Hold a lock of the database's; gives whether it was free within some seconds.

    It has a connection of its own, as one of a pool would be missed there, and ends with that.

    Args:
        given: connection string; of a server, not of a pooler that lends out connections by transaction.
        names: what is locked.
        wait: seconds; 0 tries once.
    """
    with closing(psycopg.connect(given, autocommit=True)) as connection:
        try:
            connection.execute(_SETTINGS, (_milliseconds(wait),))
            row = connection.execute(_LOCK if wait else _TRY, (_key(*names),)).fetchone()
            taken = bool(wait) or bool(row and row[0])
        except psycopg.errors.LockNotAvailable:
            taken = False
        yield taken


@asynccontextmanager
async def advisory_lock_async(given: str, *names: str, wait: float) -> AsyncIterator[bool]:
    """See `advisory_lock`."""
    connection = await AsyncConnection.connect(given, autocommit=True)
    try:
        try:
            await connection.execute(_SETTINGS, (_milliseconds(wait),))
            found = await connection.execute(_LOCK if wait else _TRY, (_key(*names),))
            row = await found.fetchone()
            taken = bool(wait) or bool(row and row[0])
        except psycopg.errors.LockNotAvailable:
            taken = False
        yield taken
    finally:
        await connection.close()


@contextmanager
def patiently(given: str, *names: str, wait: float) -> Iterator[bool]:
    """See `advisory_lock`; polls instead of blocking, as a blocked session would hold up new indexes."""
    until = time.monotonic() + wait
    while True:
        with advisory_lock(given, *names, wait=0) as taken:
            if taken or time.monotonic() >= until:
                yield taken
                return
        time.sleep(0.1)


def is_ours(connection: Any) -> bool:
    """Whether a saver's connection, or pool, is one of psycopg's."""
    return isinstance(connection, Connection | ConnectionPool | AsyncConnection | AsyncConnectionPool)


def address_of(connection: Any) -> str:
    """The connection string by which another connection to the same database is made."""
    if isinstance(connection, ConnectionPool):
        with connection.connection() as lent:
            return _address(lent.info)
    if isinstance(connection, AsyncConnectionPool):
        raise TypeError("the connections of this pool belong to an event loop")
    return _address(connection.info)


async def address_of_async(connection: Any) -> str:
    """See `address_of`."""
    if isinstance(connection, AsyncConnectionPool):
        async with connection.connection() as lent:
            return _address(lent.info)
    return address_of(connection)


def _address(info: psycopg.ConnectionInfo) -> str:
    return conninfo.make_conninfo(info.dsn, password=info.password or None)


def _milliseconds(wait: float) -> str:
    return str(max(1, int(wait * 1000)))


def _key(*names: str) -> int:
    """The number of a lock: 64 bits, signed."""
    digest = hashlib.sha256("\n".join(("taskloom", *names)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], signed=True)


# ---- tables ---------------------------------------------------------------------------------------


class Rows:
    """A transaction, with the statements that SQLite takes: `?` stands for a value."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._cursor = connection.cursor(row_factory=psycopg.rows.tuple_row)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """One statement."""
        return self._cursor.execute(_placed(statement), values)

    def executemany(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """One statement, for each of several rows."""
        self._cursor.executemany(_placed(statement), values)


def _placed(statement: str) -> Any:
    return statement.replace("?", "%s")


class PostgresTable:
    """A table in which one change is made at a time, as in a file of SQLite's."""

    def __init__(
        self, url: str, name: str, schema: Sequence[str], error: type[Exception], *, wait: float = 30
    ) -> None:
        """Open the database, and make the table where there is none.

        Args:
            url: see `place_of`.
            name: the table's.
            schema: the statements that make it, and what is beside it.
            error: what is raised in place of an error of the database's, with what was wrong.
            wait: seconds for which one process waits for another.

        Raises:
            Exception: `error`, where the database cannot be reached, or refuses.
        """
        self._url, self._name, self._error, self._wait = url, name, error, wait
        try:
            self.place, self._pool = place_of(url), open_pool(url)
        except DatabaseError as fault:
            raise error(str(fault)) from fault
        try:
            with self.writing() as rows:  # two that make it at once would be in each other's way
                for statement in schema:
                    rows.execute(statement)
        except error:
            self._pool.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """A transaction: committed as a whole at the end of the block, or not at all."""
        with self._errors_translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_key("table", self._name),))
            yield Rows(connection)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Keep out others who call `alone`, but not writes; yields whether the lock was had in time."""
        with (
            self._errors_translated(),
            advisory_lock(self._url, "alone", self._name, wait=self._wait) as taken,
        ):
            yield taken

    def scrub(self) -> None:
        """Nothing to do: deleted rows are gone, and the server's files are up to its operator."""

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout) as error:
            raise self._error(failure_text(self.place, error)) from error
