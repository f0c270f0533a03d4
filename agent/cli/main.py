"""The command line. What a command needs is imported inside it, so that `--help` stays quick."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from .mcp import MCP_EXAMPLES, mcp
from .memory import memory
from .options import (
    AsJson,
    Schemas,
    Thread,
    User,
    checked_thread,
    context_for,
    examples,
    given_settings,
    named_user,
    new_thread,
    open_threads,
    print_json,
    program,
    temporary_home,
    thread_names,
    token,
)
from .threads import threads
from .tools import tools
from .video import video

if TYPE_CHECKING:
    from rich.console import Console

    from taskloom.agent.settings import Settings

    from .chat import Chat

FAILED, WRONG = 1, 2  # exit codes: it could not be done; the command or its input cannot be used


class _Commands(TyperGroup):
    """The commands; an error ends them with one line that names the fix."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError, EOFError):
            raise
        except Exception as error:  # noqa: BLE001  # the last place where it can be told
            if ctx.params.get("debug"):
                traceback.print_exc()
            _fail(error)


app = typer.Typer(
    name="taskloom",
    cls=_Commands,
    help="A task memory that you talk to: it keeps your tasks, their values and what they depend on.",
    epilog="Begin with `taskloom demo`, then `taskloom chat`. `taskloom doctor` shows what is configured.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: it keeps the examples as they are, and rich need not be loaded
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for family in (memory, tools, video):
    app.add_typer(family)


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # names may hold any character
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"taskloom {version('taskloom')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # noqa: ARG001  # its callback shows it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from, and all logs.")
    ] = False,
) -> None:
    if debug:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    else:
        logging.getLogger().addHandler(logging.NullHandler())
        if not sys.warnoptions:
            warnings.simplefilter("ignore")


# ---- talking --------------------------------------------------------------------------------------


@app.command(
    epilog=examples(
        "taskloom chat                       a new thread",
        "taskloom chat --thread trip         this thread, made when it is new",
        "printf 'Plan a trip\\n/tasks\\n' | taskloom chat --thread trip",
    )
)
def chat(thread: Thread = None, user: User = None, schemas: Schemas = None) -> None:
    """Talk; with --thread, continue where that thread stopped."""
    from .screen import console

    given, out = given_settings(), console()
    user, thread = named_user(user), checked_thread(thread)
    if sys.stdin.isatty() and sys.stdout.isatty():
        _converse(given, out, thread, user, schemas)
        return
    from .chat import Chat

    context = context_for(user, schemas)
    with open_threads(given) as opened:
        Chat(opened, out, thread=thread or new_thread(opened), context=context, home=given.home).run()


def _converse(
    given: Settings, out: Console, thread: str | None, user: str | None, schemas: Path | None
) -> None:
    """Talk on a terminal."""
    from .keyboard import Keyboard
    from .opening import Opening, Place, converse, thread_exists

    keyboard = Keyboard()
    name = thread or next(name for name in thread_names() if not thread_exists(given.home, name))

    def make_chat() -> Chat:
        from taskloom.agent.threads.taskloom import Taskloom

        from .chat import Chat

        context = context_for(user, schemas)
        app = Taskloom.open(given)
        return Chat(app, out, thread=name, context=context, home=given.home, read=keyboard.read)

    new = given.database_url is None and thread_exists(given.home, name) is False
    at = Place(name, user or "local", given.home, new=new)
    with Opening(make_chat) as opening:
        converse(opening, keyboard, out, at)


@app.command(
    epilog=examples(
        "taskloom run talk.json              the talk as text",
        "taskloom run talk.json --json       operations, tasks and cost of each turn",
        "taskloom run talk.json --thread x   say it on thread x, and keep it",
        'echo \'["Plan a trip to Rome", "Where to?"]\' | taskloom run -',
    )
)
def run(
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="JSON file with the utterances; - for stdin.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a turn, with its cost.")] = False,
    thread: Thread = None,
    user: User = None,
    schemas: Schemas = None,
) -> None:
    """Play a script: a JSON list of utterances.

    {"session": "next"} in the list starts a new thread of the same user. Nothing is kept unless --thread or
    --user is given. It never asks for an approval. With --json the cost of the last turn includes that of
    long-term memory, which is also shown as "memory".
    """
    from .script import play, read_script

    name = "standard input" if str(script) == "-" else str(script)
    lines = read_script(sys.stdin.buffer.read() if str(script) == "-" else script.read_bytes(), name)
    context, given, thread = context_for(named_user(user), schemas), given_settings(), checked_thread(thread)
    kept, last = thread is not None or user is not None, None
    home = nullcontext(given) if kept else temporary_home(given)
    with home as given, open_threads(given, kept=kept) as opened:
        for played in play(opened, lines, thread=thread or f"run-{token(8)}", context=context):
            if as_json and played.line is lines[-1]:
                last = played  # what it cost is known when all is written
                continue
            if as_json:
                print_json(played.record(), indent=None)
                continue
            from .screen import console, safe

            out = console()
            out.print(f"> {safe(played.line.user)}", style="bold")
            out.print(f"{safe(played.turn.reply)}\n")
            out.file.flush()
    if last:
        print_json(last.record(opened.beside), indent=None)


@app.command(
    epilog=examples(
        "taskloom demo",
        "taskloom demo --delay 5",
        "taskloom demo --fast | less",
    )
)
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="Without pauses.")] = False,
    delay: Annotated[
        float | None,
        typer.Option("--delay", min=0, max=60, help="Seconds after each turn; default 2, 0 off a terminal."),
    ] = None,
) -> None:
    """Play a dialogue, and draw the task tree as it changes. Needs no key and keeps nothing."""
    from importlib.resources import files
    from time import sleep

    from rich.rule import Rule

    from taskloom.agent.turn.state import Context

    from .screen import console, safe, task_tree
    from .script import play, read_script

    out = console()
    pause = 0.0 if fast else delay if delay is not None else 2.0 if out.is_terminal else 0.0
    lines = read_script(files("taskloom.agent").joinpath("demo.json").read_bytes(), "demo.json")
    with (
        temporary_home(given_settings(tools=False).model_copy(update={"model": ""})) as given,
        open_threads(given) as opened,
    ):
        for number, played in enumerate(play(opened, lines, thread="demo", context=Context()), 1):
            out.print(Rule(f"{number}. {played.line.note}", align="left", style="dim"))
            out.print(f"> {safe(played.line.user)}", style="bold")
            out.print(safe(played.turn.reply))
            out.print()
            if played.graph == played.before:
                out.print("(nothing changed)", style="dim")
            else:
                out.print(task_tree(played.graph, played.before))
            out.print()
            out.file.flush()
            sleep(pause)
    out.print(f"Your turn: {program()} chat", soft_wrap=True)


# ---- threads, and what is configured --------------------------------------------------------------

app.registered_commands += threads.registered_commands  # in the order of the help


@app.command(
    epilog=examples(
        "taskloom doctor",
        "TASKLOOM_MODEL=gpt-4.1-mini taskloom doctor",
    )
)
def doctor(as_json: AsJson = False) -> None:
    """Show what is configured and whether it works.

    A model is sent one sentence, to see whether its answer has the required form; that takes
    TASKLOOM_MODEL_TIMEOUT seconds at most. No secret is shown. Exit code 1 if something is wrong.
    """
    from .doctor import findings

    good, found = True, []
    words = {True: "ok", False: "WRONG", None: ""}
    for finding in findings(given_settings()):
        good = good and finding.ok is not False
        if as_json:
            found.append({"name": finding.name, "ok": finding.ok, "text": finding.text})
        else:
            from .screen import console

            style = {True: "green", False: "red", None: ""}[finding.ok]
            out = console()
            out.print(f"{finding.name:<10}{words[finding.ok]:<6}", end="", style=style)
            out.print(finding.text, soft_wrap=True)
    if as_json:
        print_json({"ok": good, "findings": found})
    raise typer.Exit(0 if good else FAILED)


app.command(epilog=MCP_EXAMPLES)(mcp)


# ---- what they call -------------------------------------------------------------------------------


def _fail(error: Exception) -> NoReturn:
    """Say in one line what is wrong, and end."""
    from taskloom.agent.settings import Settings
    from taskloom.memory.shown import safe

    from .problems import InputError, explain

    try:
        home = Settings().home
    except ValueError:
        home = None
    message = explain(error, home)
    if message is None:
        first = (str(error).splitlines() or [""])[0][:200]
        message = (
            f"unexpected {type(error).__name__}: {first}: please report it with what `taskloom --debug` says"
        )
    typer.echo(f"taskloom: {safe(message)}", err=True)
    wrong = isinstance(error, InputError | FileNotFoundError | IsADirectoryError)
    raise typer.Exit(WRONG if wrong else FAILED)
