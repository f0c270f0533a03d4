"""Small text files by user, in a tree of folders, kept in the database of the outbox.

There is no file system under them: a path is a key, and nothing leads out of a user's tree. A change, also of
several files, is made as a whole, one at a time for all processes; no killed one loses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .keeping import digest

if TYPE_CHECKING:
    from .outbox import Queue, Rows

FILES = """
CREATE TABLE IF NOT EXISTS files (
    whose TEXT NOT NULL,      -- a digest of the user
    path TEXT NOT NULL,       -- names with / between them
    size INTEGER,             -- in bytes; NULL for a folder
    content TEXT NOT NULL,
    PRIMARY KEY (whose, path)
)
"""


class Tree:
    """The files of one user, during one change. A path is one name, or several with / between them."""

    def __init__(self, rows: Rows, user: str) -> None:
        self._rows, self._whose = rows, digest(user)

    def paths(self) -> dict[str, int | None]:
        """All paths; a file with its size in bytes, a folder with None."""
        found = self._rows.execute("SELECT path, size FROM files WHERE whose = ?", (self._whose,)).fetchall()
        return {str(path): size for path, size in found}

    def read(self, path: str) -> str | None:
        """The text of a file; None where there is none."""
        row = self._rows.execute(
            "SELECT content FROM files WHERE whose = ? AND path = ? AND size IS NOT NULL", (self._whose, path)
        ).fetchone()
        return str(row[0]) if row else None

    def write(self, path: str, text: str) -> None:
        """Write a file, replacing any that is there; missing folders are made.

        text: has no NUL and no half of a character.
        """
        self._put(path, text)
        self._make(path)

    def remove(self, paths: Sequence[str]) -> None:
        """Remove files and folders; the contents of a folder must be named too."""
        self._rows.executemany(
            "DELETE FROM files WHERE whose = ? AND path = ?", [(self._whose, path) for path in paths]
        )

    def move(self, places: dict[str, str]) -> None:
        """Move files and folders to other, unused paths; missing folders are made."""
        self._rows.executemany(
            "UPDATE files SET path = ? WHERE whose = ? AND path = ?",
            [(new, self._whose, old) for old, new in places.items()],
        )
        for new in places.values():
            self._make(new)

    def _make(self, path: str) -> None:
        """Make the folders that a path is in."""
        known = self.paths()
        names = path.split("/")
        for depth in range(1, len(names)):
            if (folder := "/".join(names[:depth])) not in known:
                self._put(folder, None)

    def _put(self, path: str, text: str | None) -> None:
        size = None if text is None else len(text.encode())
        self.remove([path])
        self._rows.execute(
            "INSERT INTO files (whose, path, size, content) VALUES (?, ?, ?, ?)",
            (self._whose, path, size, text or ""),
        )


class Files:
    """The files of all users, in a database. Safe to use from threads."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    @contextmanager
    def of(self, user: str) -> Iterator[Tree]:
        """The files of a user, for one change or look: kept as a whole when this ends, or not at all.

        Raises:
            ValueError: no user.
            OutboxError: they cannot be read or written.
        """
        with self._queue.writing() as rows:
            yield Tree(rows, user)


def forget_files(rows: Rows, user: str) -> None:
    """Take out all files of a user, in a change that is being made."""
    rows.execute("DELETE FROM files WHERE whose = ?", (digest(user),))
