"""Python code in a process of its own, which can do nothing but compute.

It is one process (with threads), so what limits one process limits all of it: it cannot start another. Two
ways lead there, both end in cage.py, which gives up every right before it runs the code:

- bubblewrap: a file system with the standard library and an empty folder, without network, processes or
  anything else of the machine; then limits and a filter of system calls. https://github.com/containers/bubblewrap
- landlock: the same limits and filter, and the kernel's Landlock for files. Needs no program.

Where neither works there is no sandbox; `allow_weak` then runs code under the limits alone.
"""

from __future__ import annotations

import marshal
import os
import platform
import re
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import cache_from_source
from keyword import iskeyword
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from . import cage
from .errors import NotAllowedError, UnavailableError

Way = Literal["bubblewrap", "landlock", "limits only"]
WAYS: tuple[Way, ...] = ("bubblewrap", "landlock", "limits only")  # the best first

OPEN_FILES = 32
_CHANGE_USER = 1 << 0 | 1 << 6 | 1 << 7  # CAP_CHOWN, CAP_SETGID, CAP_SETUID
_TICK = 0.05  # seconds between two looks at the folder
_REPORT = 1024  # bytes of a report beside the value
_COMPILED = Path(cache_from_source(cage.__file__))
_CAGE = _COMPILED if _COMPILED.exists() else Path(cage.__file__)


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
    """What came of running code.

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
            told = "; ".join(f"{each}: {reason}" for each, reason in lacks.items())
            raise UnavailableError(f"no sandbox for Python code works here. {told}")
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
        return _run(self._way, self.limits, code, given)


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
        tried = _run(way, Limits(), "result = 6 * 7", {})
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


# ---- what the interpreter needs ---------------------------------------------------------------------


class _Interpreter(NamedTuple):
    """The interpreter that runs this, without its virtual environment; all paths exist."""

    program: str
    library: tuple[str, ...]  # folders of the standard library
    shared: tuple[str, ...]  # folders and files of the libraries that it loads, and time zones


@cache
def _interpreter() -> _Interpreter:
    base = Path(sys.base_prefix)
    bases = {"platbase": sys.base_exec_prefix}
    library = {Path(sysconfig.get_path(name, vars=bases)).resolve() for name in ("stdlib", "platstdlib")}
    kind = sysconfig.get_config_var("MULTIARCH") or "none"
    folders = [Path("/lib64"), Path("/usr/lib64"), Path("/lib") / kind, Path("/usr/lib") / kind]
    present = [folder for folder in folders if folder.is_dir()] or [Path("/lib"), Path("/usr/lib")]
    files = [*Path("/lib").glob("ld-*.so*"), *base.resolve().glob("lib/*.so*"), Path("/etc/ld.so.cache")]
    files = [file for file in files if file.is_file()]
    zones = [zones for zones in [Path("/usr/share/zoneinfo")] if zones.is_dir()]
    program = getattr(sys, "_base_executable", None) or sys.executable
    return _Interpreter(
        program=str(Path(program).resolve()),
        library=tuple(sorted(str(folder) for folder in library if folder.is_dir())),
        shared=tuple(str(path) for path in [*present, *files, *zones]),
    )


def _packages(library: str) -> list[str]:
    """The folders of installed packages within a standard library."""
    return [
        str(folder)
        for name in ("site-packages", "dist-packages")
        if (folder := Path(library) / name).is_dir()
    ]


def _own_uid() -> int | None:
    """A user that nobody else is, for one run; None unless this is root with users to give.

    Those from 0x70000000 are used by no distribution (https://systemd.io/UIDS-GIDS); in a namespace with
    fewer users it is one of the last eighth.
    """
    status = Path("/proc/self/status").read_text()
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    if os.geteuid() != 0 or effective & _CHANGE_USER != _CHANGE_USER:
        return None
    lines = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, count = max(((int(line[0]), int(line[2])) for line in lines), key=lambda line: line[1])
    count = min(count, 1 << 31)
    return first + count - 2 - secrets.randbelow(count // 8) if count >= 1024 else None


# ---- one run ----------------------------------------------------------------------------------------


class _Ending(NamedTuple):
    """How the process ended: its exit status (minus a signal) and what it wrote, by stream."""

    status: int
    streams: dict[str, bytes]
    stopped: str


def _run(way: Way, limits: Limits, code: str, inputs: dict[str, JsonValue]) -> SandboxResult:
    uid = _own_uid()
    began = time.monotonic()
    with _folder() as folder, tempfile.TemporaryFile() as order:
        if uid is not None:
            os.chown(folder, uid, uid)
        request = _order(way, limits, uid) | {"code": code, "inputs": inputs}
        order.write(marshal.dumps(request))
        order.seek(0)
        ending = _watched(way, uid is not None, limits, folder, order.fileno())
    return _result(ending, limits, time.monotonic() - began)


def _order(way: Way, limits: Limits, uid: int | None) -> dict[str, Any]:
    """What cage.py reads, but for the code and its inputs."""
    landlock = None
    if way == "landlock":
        python = _interpreter()
        hidden = {path for library in python.library for path in _packages(library)}
        parts = {entry.path for library in python.library for entry in os.scandir(library)}
        landlock = {
            "readable": [*sorted(parts - hidden), *python.shared, "/dev/urandom"],
            "listable": list(python.library),
            "writable": [".", os.devnull],  # it starts in its folder, whose path may be closed to its user
        }
    return {
        "uid": uid,
        "parent": None if way == "bubblewrap" else os.getpid(),
        "landlock": landlock,
        "seccomp": platform.machine() in cage.MACHINES,
        "most": limits.output,
        "limits": {
            "cpu": limits.cpu,
            "memory": limits.memory,
            "file": limits.file,
            "threads": limits.threads,
            "open": OPEN_FILES,
        },
    }


def _command(way: Way, root: bool, folder: str, report: int, info: int) -> list[str]:
    """The command line; it holds nothing of the code."""
    python = _interpreter()
    bubblewrap = shutil.which("bwrap") if way == "bubblewrap" else None
    script = f"/cage{_CAGE.suffix}" if bubblewrap else str(_CAGE)
    run = [python.program, "-I", "-S", "-B", "-X", "utf8", script, str(report)]
    if not bubblewrap:
        return run
    # Root gives up its user in cage.py, after bubblewrap; others get a namespace of users in its place.
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH")
    rights = ["--cap-drop", "ALL", *(word for right in kept for word in ("--cap-add", right))]
    bound = [*python.library, *python.shared, python.program]
    hidden = [path for library in python.library for path in _packages(library)]
    return [
        *(bubblewrap, "--die-with-parent", "--new-session", "--info-fd", str(info), "--hostname", "sandbox"),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(rights if root else ["--unshare-user"]),
        *(word for path in bound for word in ("--ro-bind", path, path)),
        *(word for path in hidden for word in ("--tmpfs", path, "--remount-ro", path)),
        *(word for path in (os.devnull, "/dev/urandom") for word in ("--dev-bind", path, path)),
        *("--ro-bind", str(_CAGE), script, "--bind", folder, "/tmp", "--chdir", "/tmp"),  # noqa: S108
        *("--remount-ro", "/", "--", *run),
    ]


@contextmanager
def _folder() -> Generator[str]:
    """An empty folder, removed at the end, even if this process is killed."""
    path = tempfile.mkdtemp(prefix="taskloom-python-")
    # `rm` copes with any depth of folders. The last try is for what was written while it ran.
    script = 'read _; rm -rf "$0" || { chmod -R u+rwx "$0"; rm -rf "$0"; } || { sleep 1; rm -rf "$0"; }'
    keeper = subprocess.Popen(  # noqa: S603 - the path is no part of the script
        ["/bin/sh", "-c", script, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={"PATH": os.defpath},
    )
    try:
        yield path
    finally:
        keeper.communicate()


def _watched(way: Way, root: bool, limits: Limits, folder: str, order: int) -> _Ending:
    """Run to the end, or to the first limit; nothing of it is alive afterwards."""
    report, report_end = os.pipe()
    info, info_end = os.pipe()
    with open(report, "rb", 0) as told, open(info, "rb", 0) as inside:  # noqa: PTH123 - numbers, not paths
        try:
            process = subprocess.Popen(  # noqa: S603 - the command is ours, the code comes over stdin
                _command(way, root, folder, report_end, info_end),
                stdin=order,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(report_end, info_end) if way == "bubblewrap" else (report_end,),
                cwd=folder,
                env={},
                start_new_session=True,
            )
        finally:
            os.close(report_end)
            os.close(info_end)
        with process:
            pipes = {"stdout": process.stdout, "stderr": process.stderr, "report": told}
            streams = dict.fromkeys(pipes, b"")
            try:
                stopped = _follow(process, pipes, streams, limits, folder)
            finally:
                _kill(process, inside)
    return _Ending(process.returncode, streams, stopped)


def _follow(
    process: subprocess.Popen[bytes],
    pipes: dict[str, Any],
    streams: dict[str, bytes],
    limits: Limits,
    folder: str,
) -> str:
    """Collect what comes out of the pipes; gives the limit that was passed, "" at the end of all."""
    deadline = time.monotonic() + limits.wall
    look = 0.0
    most = {"stdout": limits.output, "stderr": limits.output, "report": limits.output + _REPORT}
    with selectors.DefaultSelector() as selector:
        for name, pipe in pipes.items():
            selector.register(pipe, selectors.EVENT_READ, name)
        while selector.get_map() or process.poll() is None:
            now = time.monotonic()
            if now > deadline:
                return f"it was not done after {limits.wall:g} seconds"
            if now > look:
                look = now + _TICK
                if passed := _too_much(folder, limits):
                    return passed
            if not selector.get_map():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK)
                continue
            for key, _ in selector.select(min(_TICK, deadline - now)):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                streams[key.data] = (streams[key.data] + chunk)[: most[key.data] + 1]
                if len(streams[key.data]) > most[key.data]:
                    return f"it wrote more than {most[key.data]} bytes to {key.data}"
    return _too_much(folder, limits)


def _too_much(folder: str, limits: Limits) -> str:
    """Which limit the folder is past, "" for none. What the code hides from us counts as past."""
    hidden: list[OSError] = []
    size = count = 0
    for path, folders, files in os.walk(folder, onerror=hidden.append):
        count += len(folders) + len(files)
        if count > limits.files:
            return f"it made more than {limits.files} files and folders"
        for name in files:
            with suppress(FileNotFoundError):  # it removed the file meanwhile
                size += os.lstat(os.path.join(path, name)).st_blocks * 512  # noqa: PTH118 - quick
    if size > limits.folder:
        return f"its files took more than {limits.folder} bytes"
    if any(not isinstance(error, FileNotFoundError) for error in hidden):
        return f"it made a folder that cannot be looked into: {hidden[0].strerror}"
    return ""


def _kill(process: subprocess.Popen[bytes], inside: Any) -> None:
    """End what still runs; the first process of a namespace takes all others with it before it is gone."""
    if process.poll() is None:
        os.set_blocking(inside.fileno(), False)
        told = re.search(rb'"child-pid": (\d+)', inside.read() or b"")
        with suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.kill(int(told[1]) if told else process.pid, signal.SIGKILL)
        process.wait()


# ---- what came of it --------------------------------------------------------------------------------

_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)


def _result(ending: _Ending, limits: Limits, seconds: float) -> SandboxResult:
    stdout, stderr = (
        ending.streams[name][: limits.output].decode(errors="replace") for name in ("stdout", "stderr")
    )
    ready, _, line = ending.streams["report"].partition(b"\n")
    if ready != b"ready" and not ending.stopped:
        raise UnavailableError(f"it could not be set up: {stderr.strip()[-500:] or ending.status}")
    report = _read(line)
    stopped = ending.stopped or _why(ending.status, report, limits)
    ok = not stopped and report is not None and "value" in report
    return SandboxResult(
        ok=ok,
        stdout=stdout,
        stderr=stderr,
        value=report["value"] if ok and report else None,
        stopped=stopped,
        seconds=seconds,
    )


def _read(line: bytes) -> dict[str, JsonValue] | None:
    """The report; None for none, or for what code wrote in its place."""
    try:
        report = from_json(line, allow_inf_nan=False)
    except ValueError:
        return None
    return report if isinstance(report, dict) else None


def _why(status: int, report: dict[str, JsonValue] | None, limits: Limits) -> str:
    """Why the process ended, in words; "" if it came to its end or to an exception."""
    if report is not None:
        needed = f"it needed more than its {limits.memory >> 20} MiB of memory"
        return needed if report.get("error") == "MemoryError" else ""
    number = -status if status < 0 else status - 128  # bubblewrap tells a signal as a shell does
    if number not in {each.value for each in signal.Signals}:
        return f"it left the interpreter with status {status}"
    name = signal.Signals(number)
    if name == signal.SIGXCPU:
        return f"it used up its {limits.cpu} seconds of processor time"
    if name == signal.SIGKILL:
        return "the kernel killed it, for processor time or for memory"
    if name in _CRASHES:
        return f"it crashed the interpreter ({name.name}), as endless recursion, ctypes or lack of memory can"
    return f"it was ended by {name.name}"
