"""File permissions: what is kept on disk can be read by its owner only."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def keep_private(*paths: Path) -> None:
    """Restricts files (0600) and folders (0700) to their owner.

    What belongs to another user, and a folder that everybody may write to, such as /tmp, is not changed.
    """
    for path in paths:
        try:
            found = path.stat()
        except FileNotFoundError:  # a log of SQLite's, gone with the last connection
            continue
        mode = 0o700 if stat.S_ISDIR(found.st_mode) else 0o600
        shared = found.st_mode & stat.S_ISVTX or found.st_uid != os.geteuid()
        if stat.S_IMODE(found.st_mode) != mode and not shared:
            path.chmod(mode)
