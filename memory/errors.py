"""What goes wrong with a store of long-term memory, and what to do about it.

    StoreError            the store cannot do what was asked; the message says what to do
    ├── StoreBusyError    the folder is open elsewhere
    └── EmbeddingMismatch the index was made with another embedder

Whatever else is raised underneath becomes a StoreError: `explained`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


class StoreError(Exception):
    """The store cannot do what was asked. The message says what to do."""


class StoreBusyError(StoreError):
    """The folder of an embedded store is open elsewhere."""


class EmbeddingMismatch(StoreError):
    """A user's index was made with another embedder than the one in use."""


_PANIC = "PanicException"  # of what Chroma has in Rust; no `Exception`, and in no module that can be imported
_ADVICE = {
    "full|no space|too large|apply logs": "free some space; what was put before is safe",
    "hnsw|index|finding id": "the index is damaged, the records are not: make it anew with"
    " `taskloom memory reembed`",
    "not a database|malformed|corrupt|columndecode|utf8error": "the file is damaged: put back a copy of the"
    " folder, or move it away and read an export in with `taskloom memory import`",
    "readonly|read-only|permission|unable to open": "see that this user may write the folder and its files",
    "refused|connect|resolve|name or service|timed out|disconnected|http|not chroma": "see that `chroma run`"
    " is up, and that TASKLOOM_CHROMA_URL is its address",
}


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Makes a StoreError of what goes wrong in Chroma, with what to do about it."""
    try:
        yield
    except StoreError:
        raise
    except (
        BaseException
    ) as error:  # Chroma raises its own, the network's, SQLite's and the plainest of errors
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        fits = (advice for words, advice in _ADVICE.items() if re.search(words, reason.lower()))
        advice = next(fits, "see the error above this one")
        raise StoreError(f"the memory in {where} failed: {reason}: {advice}") from error
