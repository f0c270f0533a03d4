"""`taskloom memory`: shows, exports and forgets what is remembered beyond a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AsJson, examples, print_json

if TYPE_CHECKING:
    from taskloom.agent.recall.longterm import LongTerm
    from taskloom.agent.settings import Settings
    from taskloom.agent.threads.taskloom import Taskloom
    from taskloom.memory.records import Kind
    from taskloom.memory.store import AnyRecord

LOCAL = "local"  # the user of a context that names none


memory = typer.Typer(
    name="memory",
    help="What is remembered of a user across threads: list, search, export or forget it.",
    epilog=examples(
        "taskloom memory list", 'taskloom memory search "hotel in Bergen"', "taskloom memory stats"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Kinds(StrEnum):
    """Kinds of records."""

    EXPERIENCE = "experience"
    FACT = "fact"
    UNIT = "unit"
    SCENE = "scene"


User = Annotated[str, typer.Option("--user", metavar="ID", help="Whose memory.")]
OfKind = Annotated[Kinds | None, typer.Option("--kind", help="Only records of this kind.")]


@memory.command("list", epilog=examples("taskloom memory list", "taskloom memory list --kind unit --json"))
def list_records(user: User = LOCAL, kind: OfKind = None, as_json: AsJson = False) -> None:
    """List the records, the oldest first."""
    with opened_memory(user) as longterm:
        found = longterm.store.records(user, _kind(kind))
    if as_json:
        print_json([record.model_dump(mode="json") for record in found])
    elif found:
        _show(found)
    else:
        typer.echo(f"Nothing is remembered of {user!r} yet.")


@memory.command(
    epilog=examples('taskloom memory search "hotel in Bergen"', "taskloom memory search TX-42 --limit 1")
)
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words to look for.")],
    user: User = LOCAL,
    kind: OfKind = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search by words and by meaning, the best first."""
    if not text.strip():
        raise typer.BadParameter("words to look for", param_hint="TEXT")
    with opened_memory(user) as longterm:
        hits = longterm.store.search(user, text, kind=_kind(kind), limit=limit)
    if as_json:
        print_json([{"score": round(hit.score, 4), **hit.record.model_dump(mode="json")} for hit in hits])
    elif hits:
        _show([hit.record for hit in hits])
    else:
        typer.echo("Nothing like that is remembered.")


@memory.command(epilog=examples("taskloom memory show u3f2a9"))
def show(
    record: Annotated[str, typer.Argument(metavar="ID", help="A record's id, or its first characters.")],
    user: User = LOCAL,
) -> None:
    """Show one record with all of its fields, as JSON."""
    with opened_memory(user) as longterm:
        print_json(_named(longterm, user, record).model_dump(mode="json"))


@memory.command(
    epilog=examples(
        "taskloom memory forget u3f2a9                one record",
        "taskloom memory forget --all                 all that is remembered",
        "taskloom memory forget --all --threads       and the threads it was said in",
    )
)
def forget(
    records: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Ids, or how they begin.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All records of the user.")] = False,
    with_threads: Annotated[
        bool, typer.Option("--threads", help="With --all: the user's threads too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    user: User = LOCAL,
) -> None:
    """Forget records; no byte of them stays in any file of an embedded memory."""
    if bool(records) == everything:
        raise _wrong("name the records to forget, or say --all")
    if with_threads and not everything:
        raise _wrong("--threads goes with --all")
    if everything:
        _forget_all(user, threads=with_threads, yes=yes)
        return
    with opened_memory(user) as longterm:
        chosen = [_named(longterm, user, key) for key in records or ()]
        ids = list(dict.fromkeys(record.id for record in chosen))
        longterm.drop(user, ids)
    typer.echo(f"Forgot {_count(len(ids))}.")


def _forget_all(user: str, *, threads: bool, yes: bool) -> None:
    from taskloom.agent.graph.wiring import default_services
    from taskloom.agent.settings import settings
    from taskloom.agent.threads.taskloom import Taskloom

    _check(user)
    given = settings()
    plain = default_services(given.model_copy(update={"tools": None, "memory": False}))
    with _longterm(given) as longterm, Taskloom.open(given, services=plain) as opened:
        mine = [info.thread for info in opened.threads() if info.user == user]
        found = mine if threads else []
        count = longterm.store.count(user) + len(longterm.outbox.waiting(user))
        files = _files(longterm, user)
        parts = [_count(count), *([_count(files, "file")] if files else [])]
        parts += [_count(len(found), "thread")] if threads else []
        what = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
        if not yes:
            typer.confirm(f"Forget {what} of {user!r} for good?", abort=True)
        for thread in mine:
            _await_turn(opened, thread, given.lock_timeout)  # what it keeps is forgotten, too
        for thread in found:
            _forget_overheard(longterm, user, thread, opened.speakers(thread))
        longterm.forget(user)
        for thread in found:
            opened.delete(thread)
        if found:
            opened.compact()
    if threads:
        _forget_calls(given, user)
    typer.echo(f"Forgot {what}.")


def _forget_overheard(longterm: LongTerm, user: str, thread: str, speakers: tuple[str, ...]) -> None:
    """Forget what other speakers' memories hold of a user's thread, from before threads had an owner."""
    others = [other for other in speakers if other != user]
    if others:
        longterm.flush()  # what waits goes where it is found
    for other in others:
        ids = [record.id for record in longterm.store.records(other) if record.thread == thread]
        longterm.outbox.discard(other, ids)
        longterm.store.delete(other, ids)


def _forget_calls(given: Settings, user: str) -> None:
    """Forget what the journal of calls holds of a user, if there is one."""
    from taskloom.agent.graph.databases import has_journal, open_journal

    if has_journal(given):
        journal = open_journal(given)
        try:
            journal.forget(user)
        finally:
            journal.shut()


@memory.command(
    epilog=examples("taskloom memory export memory.jsonl", "taskloom memory export | gzip > memory.jsonl.gz")
)
def export(
    path: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: standard output.")] = None,
    user: User = LOCAL,
) -> None:
    """Write all records, one JSON object a line, after one with the number of steps so far."""
    from taskloom.memory.records import Stream
    from taskloom.memory.shown import escaped

    from .chat import write_file

    with opened_memory(user) as longterm:
        found, stream = longterm.store.records(user), longterm.store.stream(user)
    lines = found if stream == Stream() else (stream, *found)
    text = "".join(f"{escaped(line.model_dump_json())}\n" for line in lines)
    if path is None:
        typer.echo(text, nl=False)
        return
    write_file(path, text)
    typer.echo(f"Wrote {_count(len(found))} to {path}.", err=True)


@memory.command(
    "import",
    epilog=examples("taskloom memory import memory.jsonl", "taskloom memory import - < memory.jsonl"),
)
def import_records(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `export` wrote; - for stdin.")],
    user: User = LOCAL,
) -> None:
    """Read records that `export` wrote; records with the same id are replaced."""
    import sys

    from pydantic import ValidationError

    from taskloom.memory.records import Stream, read_line

    data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    found: list[AnyRecord | Stream] = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            found += [read_line(line)] if line.strip() else []
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise _wrong(
                f"{path}:{number}: not a record: {place}: {first['msg']}".replace(": : ", ": ")
            ) from error
    records = [line for line in found if not isinstance(line, Stream)]
    with opened_memory(user) as longterm:
        longterm.store.put(user, records)
        kept = longterm.store.stream(user)
        for line in found:
            if isinstance(line, Stream) and line.steps > kept.steps:
                longterm.store.put_stream(user, line)
    typer.echo(f"Read {_count(len(records))}.")


@memory.command(epilog=examples("taskloom memory stats", "taskloom memory stats --json"))
def stats(as_json: AsJson = False) -> None:
    """Count the records of every user, and what waits to be written."""
    with opened_memory(LOCAL) as longterm:
        store, waiting = longterm.store, longterm.outbox.waiting()
        users = dict.fromkeys((*store.users(), *(one.user for one in waiting)))
        rows = [
            {
                "user": user,
                **{kind.value: store.count(user, _kind(kind)) for kind in Kinds},
                "waiting": sum(one.user == user for one in waiting),
            }
            for user in users
        ]
    if as_json:
        print_json(rows)
    elif not rows:
        typer.echo("Nothing is remembered yet.")
    else:
        from .screen import console, table

        console().print(table(["user", *(kind.value for kind in Kinds), "waiting"], rows))


@memory.command(epilog=examples("taskloom memory reembed"))
def reembed(
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Default: all users.")] = None,
) -> None:
    """Rebuild the index with the embeddings in use, after TASKLOOM_EMBEDDINGS was changed."""
    with opened_memory(LOCAL if user is None else user) as longterm:
        count = longterm.store.reembed(user)
    typer.echo(f"Embedded {_count(count)} anew." if count else "All is embedded with the embeddings in use.")


# ---- what they call -------------------------------------------------------------------------------


@contextmanager
def opened_memory(user: str) -> Iterator[LongTerm]:
    """Long-term memory, opened, with all waiting records written that can be."""
    from taskloom.agent.settings import settings

    _check(user)
    with _longterm(settings()) as longterm:
        longterm.flush()
        yield longterm


@contextmanager
def _longterm(given: Settings) -> Iterator[LongTerm]:
    """Long-term memory; waits for another process that uses it, as long as for a thread, and says so."""
    from taskloom.agent.graph.wiring import longterm_of

    longterm = longterm_of(given, wait=given.lock_timeout, notify=_notice)
    if longterm is None:
        raise _wrong("long-term memory is off: TASKLOOM_MEMORY=1 turns it on")
    try:
        yield longterm
    finally:
        longterm.close()


def _notice(text: str) -> None:
    typer.echo(f"{text[:1].upper()}{text[1:]}.", err=True)


def _await_turn(opened: Taskloom, thread: str, wait: float) -> None:
    """Wait until no turn runs on a thread.

    Raises:
        ThreadBusyError: one did for longer than `wait` seconds.
    """
    from taskloom.agent.threads.store import ThreadBusyError

    try:
        with opened.still(thread, min(1.0, wait)):
            return
    except ThreadBusyError:
        if wait <= 1.0:
            raise
    _notice(f"a turn is running on thread {thread!r}: waiting for it, {wait:g} s at most")
    with opened.still(thread, wait):
        return


def _check(user: str) -> None:
    if not user.strip():
        raise typer.BadParameter("give the name of a user", param_hint="--user")


def _wrong(message: str) -> Exception:
    from .problems import InputError

    return InputError(message)


def _kind(kind: Kinds | None) -> Kind | None:
    return None if kind is None else kind.value


def _named(longterm: LongTerm, user: str, key: str) -> AnyRecord:
    """The one record whose id begins with a key."""
    found = longterm.named(user, key)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _wrong(f"there is no record {key!r}: `taskloom memory list` shows them")
    raise _wrong(f"{len(found)} records begin with {key!r}: give more of the id")


def _count(number: int, what: str = "record") -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _files(longterm: LongTerm, user: str) -> int:
    """How many files a user has in the folder of the memory tool."""
    with longterm.outbox.files.of(user) as tree:
        return sum(size is not None for size in tree.paths().values())


def _show(found: Any) -> None:
    from taskloom.agent.recall.units import summary

    from .screen import console, safe, table

    rows = [
        {"id": record.id[:8], "kind": record.kind, "when": f"{record.at.astimezone():%Y-%m-%d %H:%M}",
         "what": safe(summary(record))}
        for record in found
    ]  # fmt: skip
    console().print(table(["id", "kind", "when", "what"], rows))
