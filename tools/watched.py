"""One run of code in the cage, watched until it ends or exceeds a limit, and its result."""

from __future__ import annotations

import marshal
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from pydantic import JsonValue
from pydantic_core import from_json

from .caged import command, own_uid, request
from .errors import UnavailableError
from .limits import Limits, SandboxResult, Way

_TICK = 0.05  # seconds between two looks at the folder
_REPORT = 1024  # bytes of a report beside the value
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)


class _Ending(NamedTuple):
    """How the process ended: its exit status (minus a signal) and what it wrote, by stream."""

    status: int
    streams: dict[str, bytes]
    stopped: str


def run(way: Way, limits: Limits, code: str, inputs: dict[str, JsonValue]) -> SandboxResult:
    """Run code under limits, in one of the ways that work here.

    Raises:
        UnavailableError: the sandbox could not be set up; the code was not run.
    """
    uid = own_uid()
    began = time.monotonic()
    with _folder() as folder, tempfile.TemporaryFile() as order:
        if uid is not None:
            os.chown(folder, uid, uid)
        given = request(way, limits, uid) | {"code": code, "inputs": inputs}
        order.write(marshal.dumps(given))
        order.seek(0)
        ending = _run_watched(way, uid is not None, limits, folder, order.fileno())
    return _result(ending, limits, time.monotonic() - began)


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


def _run_watched(way: Way, root: bool, limits: Limits, folder: str, order: int) -> _Ending:
    """Run to the end, or to the first limit; nothing of it is alive afterwards."""
    report, report_end = os.pipe()
    info, info_end = os.pipe()
    with open(report, "rb", 0) as report_file, open(info, "rb", 0) as inside:  # noqa: PTH123 - numbers, not paths
        try:
            process = subprocess.Popen(  # noqa: S603 - the command is ours, the code comes over stdin
                command(way, root, folder, report_end, info_end),
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
            pipes = {"stdout": process.stdout, "stderr": process.stderr, "report": report_file}
            streams = dict.fromkeys(pipes, b"")
            try:
                stopped = _follow_process(process, pipes, streams, limits, folder)
            finally:
                _kill(process, inside)
    return _Ending(process.returncode, streams, stopped)


def _follow_process(
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
        match = re.search(rb'"child-pid": (\d+)', inside.read() or b"")
        with suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.kill(int(match[1]) if match else process.pid, signal.SIGKILL)
        process.wait()


def _result(ending: _Ending, limits: Limits, seconds: float) -> SandboxResult:
    stdout, stderr = (
        ending.streams[name][: limits.output].decode(errors="replace") for name in ("stdout", "stderr")
    )
    ready, _, line = ending.streams["report"].partition(b"\n")
    if ready != b"ready" and not ending.stopped:
        raise UnavailableError(f"it could not be set up: {stderr.strip()[-500:] or ending.status}")
    report = _read(line, ending.status) if len(line) <= limits.output else None
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


def _read(line: bytes, status: int) -> dict[str, JsonValue] | None:
    """The report; None for none, or for one that code wrote in its place.

    Code can write to any pipe of its process. What it writes there is at best what it could have left in
    `result` too: a value counts where the process came to its end in order, an error where an exception ended
    it, and the report is that alone, and nothing after it.
    """
    try:
        report = from_json(line, allow_inf_nan=False)
    except ValueError:
        return None
    ended = {0: "value", 1: "error"}.get(status)
    return report if isinstance(report, dict) and list(report) == [ended] else None


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
