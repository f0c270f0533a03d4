"""The commands for threads: show, export, import, prune."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from .options import (
    AsJson,
    Thread,
    checked_thread,
    context_for,
    examples,
    existing_thread,
    given_settings,
    named_user,
    new_thread,
    open_threads,
    print_json,
    program,
)
from .usage import THREADS_EXAMPLES, USAGE_EXAMPLES, list_threads, usage

if TYPE_CHECKING:
    from taskloom.agent.settings import Settings
    from taskloom.agent.threads.pruning import Keep, Pruned
    from taskloom.agent.threads.taskloom import Taskloom
    from taskloom.memory.tasks import TaskGraph

threads = typer.Typer()  # its commands stand beside those of `main`


class Format(StrEnum):
    """How tasks are shown."""

    TREE = "tree"
    JSON = "json"
    MERMAID = "mermaid"
    SVG = "svg"
    HTML = "html"
    PNG = "png"


threads.command("threads", epilog=THREADS_EXAMPLES)(list_threads)
threads.command(epilog=USAGE_EXAMPLES)(usage)


@threads.command(
    epilog=examples(
        "taskloom tasks --thread trip",
        "taskloom tasks --thread trip --format json",
        "taskloom tasks --thread trip --format mermaid > trip.mmd",
        "taskloom tasks --thread trip --format html > trip.html",
    )
)
def tasks(
    thread: Thread = None,
    form: Annotated[Format, typer.Option("--format", help="How to show them.")] = Format.TREE,
    gone: Annotated[bool, typer.Option("--all", help="Show what is on hold or gone too.")] = False,
) -> None:
    """Show the tasks of a thread; without --thread, of the one used last."""
    from .screen import console, task_tree
    from .script import task_records

    with open_threads(given_settings(tools=False)) as opened:
        name = existing_thread(opened, thread)
        graph = opened.tasks(name)
    match form:
        case Format.TREE:
            console().print(task_tree(graph, gone=gone))
        case Format.JSON:
            print_json({"thread": name, "tasks": task_records(graph)})
        case Format.MERMAID:
            typer.echo(graph.to_mermaid())
        case _:
            _show_picture(graph, f"Plan {name}", form, gone=gone)


@threads.command(
    "export",
    epilog=examples(
        "taskloom export --thread trip trip.json",
        "taskloom export --thread trip | ssh other taskloom import - --thread trip",
    ),
)
def export_thread(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE]", help="File to write; - for standard output.")
    ] = Path("-"),
    thread: Thread = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a thread as JSON: its tasks with their history, and what was said."""
    from .chat import write_file
    from .problems import InputError

    with open_threads(given_settings(tools=False)) as opened:
        text = opened.export(existing_thread(opened, thread))
    if str(file) == "-":
        typer.echo(text)
        return
    if file.exists() and not force:
        raise InputError(f"{file} exists already: use --force to overwrite it")
    write_file(file, text + "\n")


@threads.command(
    "import",
    epilog=examples(
        "taskloom import trip.json",
        "taskloom import trip.json --thread trip --force",
    ),
)
def import_thread(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File that `export` wrote; - for standard input.")
    ],
    thread: Thread = None,
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Whose thread it is.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the tasks of a thread that has some.")
    ] = False,
) -> None:
    """Load an export into a thread; without --thread, into a new one."""
    from taskloom.memory.tasks import GraphError

    from .problems import InputError

    text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    context = context_for(named_user(user), None)
    with open_threads(given_settings(tools=False)) as opened:
        name = checked_thread(thread) or new_thread(opened)
        if opened.tasks(name) and not force:
            raise InputError(f"thread {name!r} has tasks: use --force to replace them by the import")
        try:
            reply = opened.load(text.decode("utf-8-sig", "replace"), thread=name, context=context).reply
        except GraphError as error:
            raise InputError(f"{file}: {error}") from error
    whose = f" --user {quote(user)}" if user else ""
    typer.echo(f"{reply} Go on with: {program()} chat --thread {quote(name)}{whose}")


@threads.command(
    epilog=examples(
        "taskloom prune --thread trip --turns 50             keep the latest 50 turns",
        "taskloom prune --all --days 30 --dry-run            what would go",
        "taskloom prune --all --days 30 --json",
    )
)
def prune(
    thread: Thread = None,
    everything: Annotated[bool, typer.Option("--all", help="All threads.")] = False,
    turns: Annotated[
        int | None, typer.Option("--turns", min=1, metavar="N", help="Keep the latest N turns.")
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=36_500, metavar="N", help="Keep the last N days.")
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete the saved states of old turns.

    The thread keeps its tasks with their whole history, all messages, and what can be undone. It can no
    longer go back to those states (LangGraph's time travel). Exit code 1 if a thread could not be pruned,
    such as one in use; the others are.
    """
    from .problems import InputError

    if (thread is None) != everything:
        raise InputError("name a thread with --thread, or say --all")
    if (turns is None) == (days is None):
        raise InputError("say what to keep: --turns N or --days N")
    given, keep = given_settings(tools=False), _keep(turns, days)
    before = _file_bytes(given)
    with open_threads(given) as opened:
        names = (
            [info.thread for info in opened.threads()] if everything else [existing_thread(opened, thread)]
        )
        done, left = _pruned(opened, names, keep, dry=dry)
        read = not dry and any(one.gone.checkpoints for one in done) and not _shrunk(opened)
    after = before if dry else _file_bytes(given)
    if as_json:
        print_json(
            {
                "dry_run": dry,
                "threads": [{"thread": one.thread, "turns": one.turns, **one.gone._asdict()} for one in done],
                "left": left,
                "file_bytes": None if before is None else {"before": before, "after": after},
            }
        )
    else:
        for one in done:
            typer.echo(_pruned_line(one, dry=dry))
        if not names:
            typer.echo("No threads yet.")
        if before is not None and after is not None and after < before:
            typer.echo(f"threads.sqlite: {_size(before)} before, {_size(after)} now.")
    for why in left.values():
        typer.echo(f"taskloom: {why}", err=True)
    if read:
        typer.echo("taskloom: another process reads threads.sqlite: prune again to make it smaller", err=True)
    raise typer.Exit(1 if left or read else 0)


# ---- what they call -------------------------------------------------------------------------------


def _show_picture(graph: TaskGraph, name: str, form: Format, *, gone: bool) -> None:
    """Write a picture of a plan to standard output."""
    from .picture import page, png, svg
    from .problems import InputError

    if form is Format.HTML:
        typer.echo(page(graph, name, gone=gone).encode())
        return
    drawn = svg(graph, name, gone=gone)
    if form is Format.SVG:
        typer.echo(drawn.encode())
        return
    if sys.stdout.isatty():
        raise InputError("PNG is not text: write it to a file, as in `taskloom tasks --format png > a.png`")
    typer.echo(png(drawn), nl=False)


def _keep(turns: int | None, days: int | None) -> Keep:
    from datetime import UTC, datetime, timedelta

    from taskloom.agent.threads.pruning import Keep

    return Keep(turns=turns, since=datetime.now(UTC) - timedelta(days=days) if days else None)


def _pruned(
    opened: Taskloom, names: list[str], keep: Keep, *, dry: bool
) -> tuple[list[Pruned], dict[str, str]]:
    """What was deleted of each thread, and the threads that were not pruned, with the reason."""
    from taskloom.agent.threads.pruning import SharedThreadError
    from taskloom.agent.threads.store import ThreadBusyError

    done: list[Pruned] = []
    left: dict[str, str] = {}
    for name in names:
        try:
            done.append(opened.prune(name, keep, dry=dry))
        except ThreadBusyError:
            left[name] = f"thread {name!r} is in use and stays as it is: try again later"
        except SharedThreadError as error:
            left[name] = str(error)
    return done, left


def _shrunk(opened: Taskloom) -> bool:
    """Free the disk space of what was deleted; False if another process prevented it."""
    import sqlite3

    try:
        opened.compact()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "SQLITE_BUSY").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return False
        raise
    return True


def _file_bytes(given: Settings) -> int | None:
    """The size of the file with the threads; None where they are in a database server."""
    if given.database_url is not None:
        return None
    return sum(path.stat().st_size for path in given.home.glob("threads.sqlite*"))


def _pruned_line(one: Pruned, *, dry: bool) -> str:
    from .screen import safe

    name = safe(one.thread)
    if not one.gone.checkpoints:
        return f"{name}: nothing to prune, {_count(one.turns, 'turn')} kept."
    went = "would go" if dry else "went"
    return (
        f"{name}: {_count(one.gone.checkpoints, 'saved state')} {went}, {_size(one.gone.bytes)}; "
        f"the latest {_count(one.turns, 'turn')} can be gone back to."
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(count, 0) / 1000:.1f} KB"
