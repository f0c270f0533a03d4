"""The folder of an embedded Chroma: repairs, and removal of what is no longer stored.

For the layout of chromadb 1.5: one SQLite file, and a folder with the vector index of each collection, which
stays when the collection is deleted.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import struct
import uuid
from contextlib import closing
from pathlib import Path

from .private import keep_private

_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEADER = struct.Struct("<i4Q")  # version, offset, capacity, elements, bytes of an element; more follows
_HEADER_BYTES = 100

_SWEEP = (
    # The log keeps each write until the vector index has caught up with it; only its vector is needed then.
    """
    DELETE FROM embeddings_queue
    WHERE NOT EXISTS (SELECT 1 FROM collections WHERE instr(topic, collections.id))
    """,
    """
    UPDATE embeddings_queue SET metadata = NULL
    WHERE metadata IS NOT NULL AND seq_id <= (
        SELECT max_seq_id.seq_id FROM max_seq_id JOIN segments ON segments.id = segment_id
        WHERE scope = 'METADATA' AND instr(topic, collection)
    )
    """,
    "DELETE FROM embeddings WHERE segment_id NOT IN (SELECT id FROM segments)",
    "DELETE FROM embedding_metadata WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)",
    "DELETE FROM embedding_fulltext_search WHERE rowid NOT IN (SELECT id FROM embeddings)",
    # The index of trigrams keeps those of deleted texts until its parts are merged.
    "INSERT INTO embedding_fulltext_search (embedding_fulltext_search) VALUES ('optimize')",
    "VACUUM",  # writes the file anew: what was deleted stays in free pages until then
    "PRAGMA wal_checkpoint(TRUNCATE)",
)


class Folder:
    """The folder, as long as this process holds it."""

    def __init__(self, path: Path) -> None:
        """path: the folder; it is not touched yet."""
        self.path = path
        self._index_of: dict[uuid.UUID, Path] = {}  # by collection

    def mend(self) -> None:
        """Drops vector indexes that are broken because a process died while writing them."""
        for index in _indexes(self.path):
            if _whole(index):
                _blank(index)
            else:
                shutil.rmtree(index)

    def sweep(self) -> None:
        """Removes all traces of deleted data from the files; nobody may use them meanwhile."""
        with closing(_database(self.path)) as database:
            database.execute("PRAGMA secure_delete = ON")
            for statement in _SWEEP:
                database.execute(statement).fetchall()
            segments = {row[0] for row in database.execute("SELECT id FROM segments")}
        for index in _indexes(self.path):
            if index.name in segments:
                _blank(index)
            else:
                shutil.rmtree(index)

    def tidy(self, collection: uuid.UUID) -> None:
        """Zeroes what lies behind the last element in the vector index of a collection."""
        if collection not in self._index_of:
            self._index_of[collection] = _index(self.path, collection)
        index = self._index_of[collection]
        _blank(index)
        keep_private(index, *index.iterdir())

    def keep_private(self) -> None:
        """Makes everything in it accessible to its owner only."""
        keep_private(self.path, *self.path.rglob("*"))

    def drop_index(self, collection: uuid.UUID) -> None:
        """Drops the vector index of a collection, even a broken one."""
        shutil.rmtree(_index(self.path, collection), ignore_errors=True)


def _index(folder: Path, collection: uuid.UUID) -> Path:
    """The folder of a collection's vector index."""
    wanted = "SELECT id FROM segments WHERE scope = 'VECTOR' AND collection = ?"
    with closing(_database(folder)) as database:
        (name,) = database.execute(wanted, (str(collection),)).fetchone()
    return folder / str(name)


def _blank(index: Path) -> None:
    """Zeroes what lies in the files of a vector index behind its last element; not while Chroma writes there.

    Chroma makes the files larger than need be and fills them with memory that it has not cleared, in which
    are texts of any user (chroma-core/chroma, issue 7688).
    """
    for name, used in _used(index).items():
        with (index / name).open("r+b") as file:
            file.seek(used)
            rest = file.read()
            if rest.strip(b"\0"):
                file.seek(used)
                file.write(bytes(len(rest)))


def _indexes(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if _SEGMENT.fullmatch(each.name)]


def _whole(index: Path) -> bool:
    """Whether an index's files are as long as they claim; shorter ones crash the process in Chroma."""
    try:
        return all((index / name).stat().st_size >= used for name, used in _used(index).items())
    except (FileNotFoundError, struct.error):
        return False


def _used(index: Path) -> dict[str, int]:
    """How many bytes of an index's files hold elements."""
    *_, count, size = _HEADER.unpack_from((index / "header.bin").read_bytes())
    return {"header.bin": _HEADER_BYTES, "data_level0.bin": count * size, "length.bin": count * 4}


def _database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "chroma.sqlite3", timeout=30, isolation_level=None)
