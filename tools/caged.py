"""How a process gets into the cage: with which interpreter, as which user, by which command line."""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import sys
import sysconfig
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple

from . import cage
from .limits import OPEN_FILES, Limits, Way

_CHANGE_USER = 1 << 0 | 1 << 6 | 1 << 7  # CAP_CHOWN, CAP_SETGID, CAP_SETUID
_COMPILED = Path(cache_from_source(cage.__file__))
_CAGE = _COMPILED if _COMPILED.exists() else Path(cage.__file__)


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


def own_uid() -> int | None:
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


def request(way: Way, limits: Limits, uid: int | None) -> dict[str, Any]:
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


def command(way: Way, root: bool, folder: str, report: int, info: int) -> list[str]:
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
