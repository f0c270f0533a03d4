"""Python code in a process of its own, which can do nothing but compute.

It is one process (with threads), so what limits one process limits all of it: it cannot start another. Two
ways lead there, both end in cage.py, which gives up every right before it runs the code:

- bubblewrap: a file system with the standard library and an empty folder, without network, processes or
  anything else of the machine; then limits and a filter of system calls. https://github.com/containers/bubblewrap
- landlock: the same limits and filter, and the kernel's Landlock for files. Needs no program.

Where neither works there is no sandbox; `allow_weak` then runs code under the limits alone.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from functools import cache
from keyword import iskeyword
from typing import NamedTuple

from pydantic import JsonValue, TypeAdapter, ValidationError

from . import cage
from .errors import NotAllowedError, UnavailableError
from .limits import WAYS, Limits, SandboxResult, Way
from .watched import run


class Isolation(NamedTuple):
    """The way in force, and in a sentence what it guarantees."""

    way: Way
    guarantee: str


_GUARANTEES: dict[Way, str] = {
    "bubblewrap": "The code is alone in a file system of its own, without network, other processes or "
    "environment; it sees only the standard library and an empty folder, and memory, processor and wall "
    "time, threads, files and output are limited.",
    "landlock": "The code can open only the standard library and an empty folder, and has no network, "
    "environment or other processes; memory, processor and wall time, threads, files and output are "
    "limited. It can still ask whether a path exists, and a file's size and date.",
    "limits only": "Memory, processor and wall time, files and output are limited; the code can read what "
    "the user can read and reach the network, so run only code that you would run yourself.",
}


class Sandbox:
    """Runs code under limits, in the best way that works here.

    way: this way and no other. allow_weak: take `limits only` where no other works, which guarantees little.

    Raises:
        UnavailableError: no way works; the message says what each lacks.
        NotAllowedError: `limits only` was asked for without allow_weak.
    """

    def __init__(
        self, limits: Limits | None = None, *, way: Way | None = None, allow_weak: bool = False
    ) -> None:
        self.limits = limits or Limits()
        if way == "limits only" and not allow_weak:
            raise NotAllowedError(f"`limits only` needs allow_weak=True. {_GUARANTEES[way]}")
        asked = (way,) if way else WAYS if allow_weak else WAYS[:-1]
        lacks = {each: missing(each) for each in asked}
        working = [each for each in asked if not lacks[each]]
        if not working:
            reasons = "; ".join(f"{each}: {reason}" for each, reason in lacks.items())
            raise UnavailableError(f"no sandbox for Python code works here. {reasons}")
        self._way = working[0]

    @property
    def isolation(self) -> Isolation:
        """The way in force and what it guarantees."""
        return Isolation(self._way, _GUARANTEES[self._way])

    def run(self, code: str, inputs: Mapping[str, JsonValue] | None = None) -> SandboxResult:
        """Run the code; what it leaves in the variable `result`, as JSON, is the value.

        inputs: variables that are there when it starts.

        Raises:
            NotAllowedError: an input has a name that no variable can have, or a value that JSON cannot.
            UnavailableError: the sandbox could not be set up; the code was not run.
        """
        given = _checked(inputs or {})
        return run(self._way, self.limits, code, given)


@cache
def missing(way: Way) -> str:
    """What this way lacks on this machine and how to mend it; "" if it works, which is tried once."""
    if platform.system() != "Linux":
        return "needs Linux"
    if way != "limits only" and platform.machine() not in cage.MACHINES:
        return f"the filter of system calls knows only {' and '.join(cage.MACHINES)}"
    if way == "bubblewrap" and not shutil.which("bwrap"):
        return "not installed (apt install bubblewrap, or dnf, apk, pacman)"
    if way == "landlock" and not cage.landlock_abi():
        return "this kernel has none (Linux 5.13 or later, with landlock in its parameter lsm=)"
    try:
        tried = run(way, Limits(), "result = 6 * 7", {})
    except UnavailableError as error:
        return str(error)
    return "" if tried.value == 42 else f"a trial failed: {tried.stopped or tried.stderr}"


def _checked(inputs: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    for name in inputs:
        if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
            raise NotAllowedError(f"{name!r} cannot be a variable; give the input another name")
    try:
        return TypeAdapter(dict[str, JsonValue]).validate_python(inputs, strict=True)
    except ValidationError as error:
        where = error.errors()[0]["loc"]
        raise NotAllowedError(f"input {where[0] if where else ''!r} is not JSON") from error
