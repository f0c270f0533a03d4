"""Runs inside the sandbox: gives up every right but a few, then runs the code it was sent.

Started by sandbox.py as a script of its own, with the interpreter's standard library and nothing else. It
reads one dict from stdin (marshal), writes `ready` to the pipe in its argument once nothing can be undone,
and at the end one JSON object: {"value": ...} or {"error": name of the exception}. A failure before `ready`
ends it with a traceback; the code is then never run.

Numbers are those of Linux: include/uapi/linux/{landlock,seccomp,filter,prctl,capability}.h and the tables
of system calls of x86_64 and of aarch64. The rules of seccomp refuse what Landlock does not see (its manual,
landlock(7), "Current limitations") and what Flatpak and Docker refuse.
"""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import marshal
import os
import resource
import signal
import struct
import sys
import types

TYPE_CHECKING = False  # typing, json and traceback cost more than all else here: only when needed
if TYPE_CHECKING:
    from typing import Any

SOURCE = "<code>"
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_* of each

_PDEATHSIG, _KEEPCAPS, _SECCOMP, _NO_NEW_PRIVS = 1, 8, 22, 38
_NEWUSER = 0x10000000
_DAC_READ_SEARCH = 1 << 2

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def _call(name: str, *arguments: int | bytes | None) -> int:
    """A function of libc that tells failure by -1.

    Raises:
        OSError: it failed; names the function.
    """
    done: int = getattr(libc, name)(
        *(ctypes.c_ulong(given) if isinstance(given, int) else given for given in arguments)
    )
    if done == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return done


# ---- system calls -----------------------------------------------------------------------------------

# Name: number on x86_64, on aarch64; -1 where there is none.
REFUSED = {
    # other programs and processes
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # the network, and memory that no limit counts
    "socket": (41, 198), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "msgget": (68, 186), "msgctl": (71, 187), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "semget": (64, 190), "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    # what files say or are without being opened
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "chown": (92, -1), "fchown": (93, 55),
    "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "utimensat": (280, 88), "futimesat": (261, -1), "truncate": (76, 45), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "getxattr": (191, 8), "lgetxattr": (192, 9),
    "listxattr": (194, 11), "llistxattr": (195, 12), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "inotify_init": (253, -1),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "open_by_handle_at": (304, 265),
    # the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "personality": (135, 92),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "modify_ldt": (154, -1), "uselib": (134, -1),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442),
}  # fmt: skip
# libc does these another way when they are missing, one whose arguments can be looked at.
MISSING = {"clone3": (435, 435), "openat2": (437, 437)}
NEWER = 450  # the first number that this table does not know; missing as well


_ALL = 0xFFFFFFFF
_CLONE_THREAD = 0x10000
_ACCESS_AND_TRUNCATE = os.O_ACCMODE | os.O_TRUNC
LOOKED_AT = {
    "clone": (56, 220), "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261), "prctl": (157, 167),
    "fcntl": (72, 25), "ioctl": (16, 29), "socketpair": (53, 199), "open": (2, -1), "openat": (257, 56),
}  # fmt: skip


def _rules(pid: int) -> list[tuple[str, int, int, int, bool]]:
    """Call, argument, mask, value, whether: refused if it is so (or not so) that argument & mask == value."""
    return [
        ("clone", 0, _CLONE_THREAD, _CLONE_THREAD, False),  # threads only
        ("kill", 0, _ALL, pid, False),  # itself only
        ("tgkill", 0, _ALL, pid, False),
        ("prlimit64", 0, _ALL, 0, False),  # its own
        ("prctl", 0, _ALL, _PDEATHSIG, True),  # dies with its parent
        # F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP: the kernel would send the signal. F_SETLEASE,
        # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR: of files that may only be read. TIOCSTI, TIOCLINUX: typing.
        *(("fcntl", 1, _ALL, number, True) for number in (8, 10, 15, 1024)),
        *(("ioctl", 1, _ALL, number, True) for number in (0x8901, 0x8902, 0x40086602, 0x401C5820)),
        *(("ioctl", 1, _ALL, number, True) for number in (0x5412, 0x541C)),
        ("socketpair", 0, _ALL, 1, False),  # local and connected, as asyncio needs it: a datagram
        ("socketpair", 1, 0xF, 1, False),  # socket could be connected to another
        # Landlock before Linux 6.2 lets a file that may be read be emptied
        ("open", 1, _ACCESS_AND_TRUNCATE, os.O_TRUNC, True),
        ("openat", 2, _ACCESS_AND_TRUNCATE, os.O_TRUNC, True),
    ]


def seccomp_program(machine: str, pid: int) -> bytes:
    """The rules as a program of classic BPF, for a process with this id on x86_64 or aarch64."""
    load, equal, at_least, bits, give = 0x20, 0x15, 0x35, 0x54, 0x06
    allow, kill, refuse, missing = 0x7FFF0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    column = list(MACHINES).index(machine)

    def step(code: int, number: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, number)

    number, architecture = 0, 4  # offsets in struct seccomp_data; the arguments are 8 bytes each, from 16
    program = [
        step(load, architecture),
        step(equal, MACHINES[machine], yes=1),
        step(give, kill),
        step(load, number),
        step(at_least, NEWER, no=1),
        step(give, missing),
    ]
    for calls, answer in ((REFUSED, refuse), (MISSING, missing)):
        for numbers in calls.values():
            if numbers[column] >= 0:
                program += [step(equal, numbers[column], no=1), step(give, answer)]
    for name, argument, mask, value, so in _rules(pid):
        if (call := LOOKED_AT[name][column]) >= 0:
            program += [
                step(equal, call, no=5),
                step(load, 16 + 8 * argument),
                step(bits, mask),
                step(equal, value, yes=int(not so), no=int(so)),
                step(give, refuse),
                step(load, number),
            ]
    return b"".join([*program, step(give, allow)])


def _filter_system_calls() -> None:
    program = seccomp_program(os.uname().machine, os.getpid())
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
    _call("prctl", _SECCOMP, 2, header, 0, 0)


# ---- files ------------------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_DEVICES_AND_SOCKETS = 1 << 6 | 1 << 9 | 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_SCOPE_SOCKETS_AND_SIGNALS = 3


def landlock_abi() -> int:
    """The version of Landlock in this kernel; 0 when there is none, or it is switched off."""
    version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return max(0, version)


def _open_only(readable: list[str], listable: list[str], writable: list[str]) -> None:
    """Files outside these cannot be opened, made or removed; no file can be run.

    readable: files, and folders with all that is in them. listable: folders whose names may be listed.
    writable: folders to do anything in but to make devices and sockets.

    Raises:
        OSError: this kernel has no Landlock, or a path is not there.
    """
    abi = landlock_abi()
    every = (1 << 13) - 1
    every |= (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    scope = struct.pack("=QQ", 0, _SCOPE_SOCKETS_AND_SIGNALS) if abi >= 6 else b""
    attributes = struct.pack("=Q", every) + scope
    ruleset = _call("syscall", _CREATE_RULESET, attributes, len(attributes), 0)
    anything = every & ~(_EXECUTE | _DEVICES_AND_SOCKETS | _IOCTL_DEV)
    for paths, rights in ((readable, _READ | _LIST), (listable, _LIST), (writable, anything)):
        for path in paths:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = rights if os.path.isdir(path) else rights & (_READ | _WRITE)  # noqa: PTH112
            _call("syscall", _ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, opened), 0)
            os.close(opened)
    _call("syscall", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


# ---- rights and limits ------------------------------------------------------------------------------


def _keep_capabilities(kept: int) -> None:
    version_3 = struct.pack("=Ii", 0x20080522, 0)
    _call("capset", version_3, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _become(uid: int) -> None:
    """Switch to a user of its own, who may at most read past permissions, if root owns the interpreter."""
    _call("prctl", _KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _keep_capabilities(0 if os.access(os.__file__, os.R_OK) else _DAC_READ_SEARCH)


def _limit(limits: dict[str, int]) -> None:
    wanted = {
        resource.RLIMIT_CPU: (limits["cpu"], limits["cpu"] + 1),  # first a signal that says why
        resource.RLIMIT_AS: (limits["memory"],) * 2,
        resource.RLIMIT_FSIZE: (limits["file"],) * 2,
        resource.RLIMIT_NPROC: (limits["threads"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open"],) * 2,
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
    }
    for kind, (soft, hard) in wanted.items():
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def confine(order: dict[str, Any]) -> None:
    """Give up every right that the order does not leave, for good.

    Raises:
        OSError: the kernel refuses a step.
    """
    os.environ.clear()
    os.umask(0o077)
    _limit(order["limits"])
    if order["uid"] is not None:
        _become(order["uid"])
    else:
        # Threads are counted by user namespace; where none can be had, all threads of the user count.
        if order["parent"] is not None:
            libc.unshare(_NEWUSER)
        _keep_capabilities(0)
    if order["parent"] is not None:
        _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != order["parent"]:
            raise ProcessLookupError("the process that asked for this is gone")
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    if order["landlock"]:
        _open_only(**order["landlock"])
    if order["seccomp"]:
        _filter_system_calls()


# ---- the code ---------------------------------------------------------------------------------------


def _value(value: object, most: int) -> bytes:
    """The last line of the report.

    Raises:
        TypeError: JSON has no form for the value.
        ValueError: JSON has no form for a number in it, or it is too large.
    """
    import json

    try:
        line = json.dumps({"value": value}, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        lone = ascii(error.object[error.start])
        raise ValueError(f"`result` must be JSON: {lone} is half of a character, a lone surrogate") from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"`result` must be JSON: {error}") from None
    if len(line) > most:
        raise ValueError(f"`result` has {len(line)} bytes of JSON, more than {most}") from None
    return line


def run(code: str, inputs: dict[str, Any]) -> object:
    """Run the code as `__main__` with its inputs as variables; gives its variable `result`, else None."""
    module = types.ModuleType("__main__")
    vars(module).update(inputs)
    sys.modules["__main__"] = module
    try:
        exec(compile(code, SOURCE, "exec", dont_inherit=True), vars(module))  # noqa: S102 - what all this is for
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    return vars(module).get("result")


def _tell(
    pipe: int,
    code: str,
    kind: type[BaseException],
    error: BaseException,
    trace: types.TracebackType | None,
) -> None:
    """Print an exception from the code's own first line on, and report its name."""
    os.write(pipe, b'{"error": "%s"}' % kind.__name__.encode())
    import linecache
    import traceback

    while trace and trace.tb_frame.f_code.co_filename != SOURCE:
        trace = trace.tb_next
    linecache.cache[SOURCE] = (len(code), None, code.splitlines(keepends=True), SOURCE)
    traceback.print_exception(kind, error, trace)


def main() -> None:
    """Read the order, confine, run, report."""
    pipe = int(sys.argv[1])
    order = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 - from the application itself
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    confine(order)
    os.write(pipe, b"ready\n")

    sys.excepthook = lambda *raised: _tell(pipe, order["code"], *raised)
    sys.argv = [""]
    faulthandler.enable()
    line = _value(run(order["code"], order["inputs"]), order["most"])
    with open(pipe, "wb", closefd=False) as report:
        report.write(line)


if __name__ == "__main__":
    here = sys.modules["__main__"]  # kept, so that its globals outlive its place in sys.modules
    main()
