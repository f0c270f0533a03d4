"""Threads in PostgreSQL, for any number of processes and machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver

from taskloom.agent.graph.locks import ThreadBusyError
from taskloom.agent.graph.postgres import advisory_lock, explained, open_pool, patiently

from .checkpoints import STORED, CompactSerializer


class PostgresShelf:
    """See `Shelf`."""

    def __init__(self, url: str, *, wait: float = 30.0) -> None:
        """Open the database, and make its tables where there are none.

        Args:
            url: as TASKLOOM_DATABASE_URL has it.
            wait: seconds to wait for a thread that is in use.

        Raises:
            DatabaseError: it cannot be reached, or refuses.
        """
        self._url, self._wait = url, wait
        with explained(url):
            self._pool = open_pool(url)
            try:
                self.saver = PostgresSaver(
                    self._pool, serde=CompactSerializer(allowed_msgpack_modules=STORED)
                )
                with patiently(url, "setup", wait=wait):  # its migrations are not made for two at once
                    self.saver.setup()
            except BaseException:
                self._pool.close()
                raise

    @contextmanager
    def hold(self, thread: str) -> Iterator[None]:
        """See `Shelf`."""
        with advisory_lock(self._url, "talk", thread, wait=self._wait) as taken:
            if not taken:
                raise ThreadBusyError.on(thread, self._wait)
            yield

    def ends(self) -> list[tuple[str, str]]:
        """See `Shelf`."""
        return self._found(
            "SELECT thread_id, max(checkpoint_id) AS checkpoint_id FROM checkpoints "
            "WHERE checkpoint_ns = '' GROUP BY thread_id"
        )

    def beginnings(self, thread: str) -> list[tuple[str, str]]:
        """See `Shelf`."""
        return self._found(
            "SELECT thread_id, checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' AND thread_id = %s "
            "ORDER BY checkpoint_id LIMIT 2",
            thread,
        )

    def cleared(self, thread: str) -> None:
        """See `Shelf`; its locks leave nothing."""

    def compact(self) -> None:
        """See `Shelf`; what was deleted is in no row, and the server's files are its operator's."""

    def close(self) -> None:
        """See `Shelf`."""
        self._pool.close()

    def _found(self, statement: Any, *values: str) -> list[tuple[str, str]]:
        with explained(self._url), self._pool.connection() as connection:
            rows = connection.execute(statement, values).fetchall()
        return [(row["thread_id"], row["checkpoint_id"]) for row in rows]
