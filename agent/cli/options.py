"""Options and helpers that the commands share. Loads nothing that `--help` does not need."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from taskloom.agent.settings import Settings
    from taskloom.agent.threads.taskloom import Taskloom
    from taskloom.agent.turn.state import Context

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Thread = Annotated[str | None, typer.Option("--thread", metavar="ID", help="Which thread; see `threads`.")]
User = Annotated[str | None, typer.Option("--user", metavar="ID", help="Owner of the long-term memory.")]
Schemas = Annotated[
    Path | None,
    typer.Option("--schemas", metavar="FILE", help="Task schemas: JSON Schema or Schema-Guided Dialogue."),
]


def examples(*lines: str) -> str:
    """The lines as the end of a help page, kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print JSON and flush; control characters are escaped, and without UTF-8 all but ASCII is."""
    from taskloom.memory.shown import escaped

    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    typer.echo(escaped(json.dumps(value, ensure_ascii=ascii_only, indent=indent)))
    sys.stdout.flush()


def program() -> str:
    """How to call this program from here: by its name if the shell finds it, else by its path."""
    called = Path(sys.argv[0])
    if called.name != "taskloom" or not called.is_file():
        return "taskloom"
    found = which("taskloom")
    return "taskloom" if found and called.samefile(found) else quote(sys.argv[0])


def given_settings(*, tools: bool = True) -> Settings:
    """The settings; without tools for a command that calls none, since their servers take time to start."""
    from taskloom.agent.settings import Settings
    from taskloom.agent.telemetry.logs import log_as_configured

    given = Settings()
    log_as_configured(given)
    return given if tools else given.model_copy(update={"tools": None})


@contextmanager
def open_threads(given: Settings, *, kept: bool = True) -> Iterator[Taskloom]:
    """The threads under a home, closed at the end of the block."""
    from taskloom.agent.threads.taskloom import Taskloom

    with Taskloom.open(given, kept=kept) as opened:
        yield opened


@contextmanager
def temporary_home(given: Settings) -> Iterator[Settings]:
    """The settings with a temporary home folder."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="taskloom-", ignore_cleanup_errors=True) as folder:
        yield given.model_copy(update={"home": Path(folder), "database_url": None})


def context_for(user: str | None, schemas: Path | None) -> Context:
    """Who talks, with the task schemas of a file."""
    from taskloom.agent.graph.wiring import schemas_in
    from taskloom.agent.turn.state import Context

    fields: dict[str, Any] = {} if user is None else {"user_id": user}
    if schemas is not None:
        fields["schemas"] = list(schemas_in(schemas))
    return Context(**fields)


def named_user(user: str | None) -> str | None:
    """The user, if the name is a valid one."""
    if user is not None and not user.strip():
        raise typer.BadParameter("give the name of a user", param_hint="--user")
    return user


def checked_thread(thread: str | None) -> str | None:
    """The thread, if the name is a valid one."""
    if thread is not None and (not thread.strip() or len(thread) > 200 or not thread.isprintable()):
        raise typer.BadParameter(
            "1 to 200 characters, none of them a control character", param_hint="--thread"
        )
    return thread


def existing_thread(opened: Taskloom, thread: str | None) -> str:
    """An existing thread: the named one, or the one used last."""
    from .problems import InputError

    if thread is None:
        found = opened.threads()
        if not found:
            raise InputError("there are no threads yet: begin one with `taskloom chat`")
        return found[0].thread
    if not opened.state(thread).values:
        raise InputError(f"there is no thread {thread!r}: `taskloom threads` lists them")
    return thread


def new_thread(opened: Taskloom) -> str:
    """An unused name for a new thread."""
    return next(name for name in thread_names() if not opened.state(name).values)


def thread_names() -> Iterator[str]:
    """Names for a new thread."""
    from datetime import datetime

    now = datetime.now().astimezone()
    while True:
        yield f"{now:%m%d-%H%M}-{token(3)}"


def token(length: int) -> str:
    """Random letters and digits for a name."""
    from secrets import choice

    return "".join(choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(length))
