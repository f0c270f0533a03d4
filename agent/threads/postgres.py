"""Threads in PostgreSQL, for any number of processes and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver

from taskloom.agent.graph.locks import ThreadBusyError
from taskloom.agent.graph.plain import STORED, plain_saver
from taskloom.agent.graph.postgres import advisory_lock, explained, open_pool, patiently

from .checkpoints import CompactSerializer
from .pruning import DELETIONS, Root, Size

_SNAPSHOT = """
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
VALUES (%s, '', %s, %s, %s, %s)
ON CONFLICT (thread_id, checkpoint_ns, channel, version)
DO UPDATE SET type = EXCLUDED.type, blob = EXCLUDED.blob
"""
_MARK = """
UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, ARRAY['channel_values', %s], 'true')
WHERE thread_id = %s AND checkpoint_ns = '' AND checkpoint_id = %s
"""
_CUT = """
UPDATE checkpoints SET parent_checkpoint_id = NULL
WHERE thread_id = %s AND checkpoint_ns = '' AND checkpoint_id = %s
"""
# Values that no checkpoint refers to any more. NOT IN is one pass over a hash, where a join may go quadratic.
_BLOBS = """
DELETE FROM checkpoint_blobs WHERE thread_id = {thread} AND (checkpoint_ns, channel, version) NOT IN (
    SELECT checkpoint_ns, used.key, used.value
    FROM checkpoints CROSS JOIN LATERAL jsonb_each_text(checkpoint -> 'channel_versions') AS used
    WHERE thread_id = {thread}
)
"""
_SIZE = """
SELECT COUNT(*), SUM(pg_column_size(checkpoints.*)) FROM checkpoints WHERE thread_id = {thread}
UNION ALL SELECT 0, SUM(pg_column_size(checkpoint_writes.*)) FROM checkpoint_writes WHERE thread_id = {thread}
UNION ALL SELECT 0, SUM(pg_column_size(checkpoint_blobs.*)) FROM checkpoint_blobs WHERE thread_id = {thread}
"""


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

    def links(self, thread: str) -> list[tuple[str, str | None]]:
        """See `Shelf`."""
        with explained(self._url), self._pool.connection() as connection:
            rows = connection.execute(
                "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
                "WHERE checkpoint_ns = '' AND thread_id = %s",
                (thread,),
            ).fetchall()
        return [(row["checkpoint_id"], row["parent_checkpoint_id"]) for row in rows]

    def prune(self, thread: str, first: str, roots: Sequence[Root], *, dry: bool) -> Size:
        """See `Shelf`."""
        names = {"thread": "%(thread)s", "first": "%(first)s", "writes": "checkpoint_writes"}
        statements: list[Any] = [one.format(**names) for one in (*DELETIONS, _BLOBS)]
        with (
            explained(self._url),
            self._pool.connection() as connection,
            connection.transaction(force_rollback=dry),
        ):
            before = _size(connection, thread)
            for root in roots:
                self._put(connection, thread, root)
            for statement in statements:
                connection.execute(statement, {"thread": thread, "first": first})
            return before.less(_size(connection, thread))

    def _put(self, connection: Any, thread: str, root: Root) -> None:
        """A root in place: a snapshot is a blob of the channel's version, and a mark in the checkpoint."""
        serde, checkpoint = plain_saver(self.saver).serde, root.checkpoint
        for name in root.channels:
            kind, data = serde.dumps_typed(checkpoint["channel_values"][name])
            version = checkpoint["channel_versions"][name]
            connection.execute(_SNAPSHOT, (thread, name, version, kind, data))
            connection.execute(_MARK, (name, thread, checkpoint["id"]))
        connection.execute(_CUT, (thread, checkpoint["id"]))

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


def _size(connection: Any, thread: str) -> Size:
    rows = connection.execute(_SIZE.format(thread="%(thread)s"), {"thread": thread}).fetchall()
    return Size(sum(row["count"] for row in rows), int(sum(row["sum"] or 0 for row in rows)))
