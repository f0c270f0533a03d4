"""What the files of commands share. Loads nothing that `--help` can do without."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def examples(*lines: str) -> str:
    """The lines as the end of a help page, kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """JSON on standard output, at once; lone surrogates as escapes, like all else where that is not UTF-8."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    typer.echo(text.encode("utf-8", "backslashreplace").decode())
    sys.stdout.flush()


def program() -> str:
    """How to call this program where it was called: by its name where that finds it, else by its path."""
    called = Path(sys.argv[0])
    if called.name != "taskloom" or not called.is_file():
        return "taskloom"
    found = which("taskloom")
    return "taskloom" if found and called.samefile(found) else quote(sys.argv[0])
