"""Errors as one line that names the fix. Pure."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from pydantic import ValidationError


class InputError(Exception):
    """Something given on the command line cannot be used; the message says what and what belongs there."""


def explain(error: Exception, home: Path | None = None) -> str | None:
    """The one-line message for an error; None for an unexpected error.

    Args:
        error: what was raised.
        home: where threads are kept, to name it.
    """
    from filelock import Timeout

    from taskloom.agent.graph.errors import DatabaseError, MissingLibraryError
    from taskloom.agent.graph.locks import ThreadNameError
    from taskloom.agent.graph.plain import DamagedError, UnknownTypeError
    from taskloom.agent.graph.runs import ForeignThreadError
    from taskloom.agent.threads.store import ThreadBusyError
    from taskloom.agent.turn.schemas import SchemaError
    from taskloom.memory.outbox import OutboxError
    from taskloom.memory.store import StoreError
    from taskloom.memory.tasks import GraphError
    from taskloom.tools.errors import ToolError

    from .picture import PictureError

    match error:
        case ThreadBusyError():
            return f"{error}: close it there or try again later (TASKLOOM_LOCK_TIMEOUT sets how long to wait)"
        case ForeignThreadError():
            return f"{error}: name that user with --user, or take another --thread"
        case Timeout():
            return f"another process holds {error.lock_file}: try again later"
        case InputError() | GraphError() | SchemaError() | StoreError() | OutboxError() | ToolError():
            return str(error)
        case UnknownTypeError() | MissingLibraryError() | DatabaseError() | PictureError():
            return str(error)
        case Exception() if type(error).__module__.startswith("psycopg"):  # loaded only where it is used
            words = " ".join(str(error).split())
            return f"PostgreSQL failed: {words}: check that it is running; `taskloom doctor` shows more"
        case ThreadNameError():
            return f"{error}: take another --thread"
        case ValidationError(title="Context"):
            return f"{error.errors(include_url=False, include_input=False)[0]['msg']}: take another --user"
        case ValidationError(title="Settings"):
            return _settings_fault(error)
        case sqlite3.Error() | DamagedError():
            return _database_fault(error, (home or Path("~/.taskloom")) / "threads.sqlite")
        case OSError():
            return _system_fault(error, home)
        case _:
            return None


def _settings_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(map(str, first["loc"]))
    variable = name if name.isupper() else f"TASKLOOM_{name.upper()}"
    return f"{variable}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _database_fault(error: Exception, path: Path) -> str:
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_FULL":
        return f"the disk is full: make room for {path}; what was acknowledged is kept"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{path} is in use by another process: try again later"
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"{path} cannot be written: change its permissions, or set TASKLOOM_HOME to another folder"
    if code.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or not isinstance(error, sqlite3.Error):
        return f"{path} is damaged ({error}): move it away and restore a backup, or start again without it"
    if code.startswith("SQLITE_IOERR"):
        return f"{path} could not be read or written ({error}): check the disk and the room on it"
    return f"{path}: {error}: `taskloom doctor` shows more"


def _system_fault(error: OSError, home: Path | None) -> str:
    where = str(error.filename or home or "the system")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full: make room for {where}"
    hint = ""
    if home is not None and error.filename and Path(error.filename).is_relative_to(home):
        hint = ": set TASKLOOM_HOME to a folder that you can write to"
    return f"{where}: {(error.strerror or str(error)).lower()}{hint}"
