"""The limits of a model's code in its sandbox, and the result of running it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Way = Literal["bubblewrap", "landlock", "limits only"]
WAYS: tuple[Way, ...] = ("bubblewrap", "landlock", "limits only")  # the best first
OPEN_FILES = 32


class Limits(BaseModel):
    """What the code may use, in seconds and bytes.

    memory: address space, threads and loaded libraries included. file: one file. folder: all files together,
    files: how many, folders included; both are looked at twenty times a second, and a file that was removed
    but is open does not count (OPEN_FILES of them can be). threads: no kernel holds a root without the right
    to change its user to them; memory is their limit then. output: of stdout, of stderr and of `result` as
    JSON, each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall: float = Field(default=10.0, gt=0)
    cpu: int = Field(default=5, ge=1)
    memory: int = Field(default=512 << 20, ge=64 << 20)
    file: int = Field(default=16 << 20, ge=0)
    folder: int = Field(default=64 << 20, ge=0)
    files: int = Field(default=500, ge=0)
    threads: int = Field(default=16, ge=1)
    output: int = Field(default=100_000, ge=0)


class SandboxResult(BaseModel):
    """The result of running code.

    ok: it ran to its end. value: what it left in the variable `result`. stopped: in words why it was
    stopped or crashed, "" if it ended by itself; an exception is in stderr only. seconds: wall time.
    """

    model_config = ConfigDict(frozen=True)

    ok: bool
    stdout: str
    stderr: str
    value: JsonValue = None
    stopped: str = ""
    seconds: float
