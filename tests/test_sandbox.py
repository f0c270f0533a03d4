"""The sandbox for Python code, in every way that works here: what it computes and what it keeps in."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from taskloom.tools import cage
from taskloom.tools.errors import NotAllowedError, UnavailableError
from taskloom.tools.limits import WAYS, Limits, SandboxResult
from taskloom.tools.sandbox import Sandbox, missing

pytestmark = pytest.mark.attack

QUICK = Limits(wall=30, cpu=2, memory=256 << 20, file=1 << 20, folder=4 << 20, files=100, output=10_000)
SECRET = "hunter2-" + secrets.token_hex(8)


@pytest.fixture(params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each way that guarantees something."""
    if lack := missing(request.param):
        pytest.skip(f"{request.param}: {lack}")
    return Sandbox(QUICK, way=request.param)


def limited(sandbox: Sandbox, **limits: float) -> Sandbox:
    """The same way with other limits."""
    changed = Limits.model_validate(QUICK.model_dump() | limits)
    return Sandbox(changed, way=sandbox.isolation.way, allow_weak=True)


def raised(result: SandboxResult) -> str:
    """The last line of the traceback of code that failed by itself."""
    assert not result.ok
    assert result.stopped == ""
    return result.stderr.strip().splitlines()[-1]


def attempted(sandbox: Sandbox, attempts: list[str], **inputs: JsonValue) -> dict[str, str]:
    """What each attempt came to, in one run: its exception in words, or its value."""
    code = """
        import ctypes, fcntl, os, resource, signal, socket, subprocess, sys, urllib.request

        libc = ctypes.CDLL(None, use_errno=True)
        result = {}
        for attempt in attempts:
            try:
                result[attempt] = f"done: {eval(attempt)!r}"
            except BaseException as error:
                result[attempt] = f"{type(error).__name__}: {error}"
    """
    result = sandbox.run(dedent(code), {"attempts": list[JsonValue](attempts), **inputs})
    assert result.ok, result
    assert isinstance(result.value, dict)
    assert len(result.value) == len(attempts)
    return {attempt: str(told) for attempt, told in result.value.items()}


def allowed(told: dict[str, str], *, but: str) -> dict[str, str]:
    """The attempts that did not fail so."""
    return {attempt: what for attempt, what in told.items() if not re.match(but, what)}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---- what it computes -------------------------------------------------------------------------------


def test_a_value_and_output_come_back(sandbox: Sandbox) -> None:
    code = "import statistics\nprint('mean', unit)\nresult = {'mean': statistics.mean(prices)}"
    result = sandbox.run(code, {"prices": [1, 2, 6], "unit": "€"})
    assert result.ok
    assert result.value == {"mean": 3}
    assert result.stdout == "mean €\n"
    assert (result.stderr, result.stopped) == ("", "")


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.skipif(all(missing(way) for way in WAYS[:2]), reason="no way works here")
@settings(max_examples=10, database=None)
@given(values=st.lists(JSON, max_size=20))
def test_any_json_goes_in_and_out(values: list[JsonValue]) -> None:
    assert Sandbox().run("result = given", {"given": values}).value == values


def test_an_exception_is_told_as_python_tells_it(sandbox: Sandbox) -> None:
    result = sandbox.run("def half(x):\n    return x / 0\nhalf(3)")
    assert raised(result) == "ZeroDivisionError: division by zero"
    assert 'File "<code>", line 2, in half\n    return x / 0' in result.stderr
    assert "cage" not in result.stderr
    assert raised(sandbox.run("x = = 1")) == "SyntaxError: invalid syntax"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("{1, 2}", "TypeError: `result` must be JSON: Object of type set is not JSON serializable"),
        ("float('nan')", "ValueError: `result` must be JSON: Out of range float values"),
        ("['a\\ud800b']", "ValueError: `result` must be JSON: '\\ud800' is half of a character"),
        ("{'\\udfff': 1}", "ValueError: `result` must be JSON: '\\udfff' is half of a character"),
        ("'x' * 20000", "ValueError: `result` has 20013 bytes of JSON, more than 10000"),
    ],
)
def test_what_json_cannot_hold_is_told(sandbox: Sandbox, code: str, told: str) -> None:
    assert raised(sandbox.run(f"result = {code}")).startswith(told)


def test_leaving_early(sandbox: Sandbox) -> None:
    assert sandbox.run("import sys; result = 1; sys.exit()").value == 1
    assert sandbox.run("import sys; sys.exit(3)").stopped == "it left the interpreter with status 3"
    assert sandbox.run("import os; os._exit(0)").stopped == "it left the interpreter with status 0"


def test_threads_dataclasses_files_and_event_loops_work(sandbox: Sandbox) -> None:
    code = """
        import asyncio, dataclasses, os, pickle, shutil, sqlite3, ssl, subprocess, tempfile, zoneinfo
        from concurrent.futures import ThreadPoolExecutor

        @dataclasses.dataclass
        class Point:
            x: "int"

        async def later(x):
            await asyncio.sleep(0.001)
            return x

        os.makedirs("a/b")
        with tempfile.TemporaryFile() as file, ThreadPoolExecutor(4) as pool:
            file.write(pickle.dumps(Point(3)))
            file.seek(0)
            rows = sqlite3.connect("a/b/data.db").execute("select 7").fetchall()
            result = [pickle.load(file).x, sum(pool.map(abs, [-1, -2])), asyncio.run(later(5)), rows]
        shutil.rmtree("a")
        result.append(os.listdir())
    """
    result = sandbox.run(dedent(code))
    assert result.value == [3, 3, 5, [[7]], []], result.stderr


def test_runs_share_nothing(sandbox: Sandbox) -> None:
    code = "import os; result = os.listdir(); open('left', 'w').write('x')"
    assert [sandbox.run(code).value for _ in range(2)] == [[], []]


def test_many_at_once(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(6) as pool:
        values = list(pool.map(lambda n: sandbox.run("result = n * n", {"n": n}).value, range(6)))
    assert values == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize("name", ["two words", "__builtins__", "3d", "", "for"])
def test_an_input_needs_the_name_of_a_variable(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(NotAllowedError, match="cannot be a variable"):
        sandbox.run("", {name: 1})


def test_an_input_must_be_json(sandbox: Sandbox) -> None:
    with pytest.raises(NotAllowedError, match="input 'when' is not JSON"):
        sandbox.run("", {"ok": 1, "when": object()})  # type: ignore[dict-item]


def test_limits_are_checked() -> None:
    with pytest.raises(ValidationError, match="wall"):
        Limits(wall=0)


# ---- files ------------------------------------------------------------------------------------------

NO_FILE = "(PermissionError|FileNotFoundError|NotADirectoryError|OSError: .*Read-only)"


def test_nothing_outside_can_be_read(sandbox: Sandbox) -> None:
    home = Path.home()
    places = ["/etc/passwd", "/etc/shadow", "/etc/hostname", f"{home}/.ssh", f"{home}/.bashrc", "/home",
              "/proc/self/environ", "/proc/self/mem", "/proc/1/cmdline", "/proc/version", "/sys/kernel",
              f"/proc/{os.getpid()}/mem", f"/proc/{os.getpid()}/environ", "/dev/mem", "/dev/tty", "/var/log",
              "/bin/sh"]  # fmt: skip
    attempts = [f"{how}({place!r})" for place in places for how in ("open", "os.listdir")]
    attempts += ["open(f'/proc/{os.getppid()}/mem', 'r+b')", "open(f'/proc/{os.getppid()}/environ')"]
    assert allowed(attempted(sandbox, attempts), but=NO_FILE) == {}


def test_a_file_of_the_host_stays_as_it_is(sandbox: Sandbox, tmp_path: Path) -> None:
    private = tmp_path / "id_rsa"
    private.write_text(SECRET)
    private.chmod(0o644)
    before = private.stat()
    attempts = [
        "open(path).read()",
        "open(os.path.relpath(path)).read()",
        "(os.symlink(path, 'soft'), open('soft').read())",
        "(os.link(path, 'hard'), open('hard').read())",
        "(os.rename(path, 'moved'), open('moved').read())",
        "os.listdir(os.path.dirname(path))",
        "open(f'/proc/{os.getppid()}/root{path}').read()",
        "os.getxattr(path, 'user.note')",
        "os.listxattr(path)",
        "open(os.open(path, os.O_PATH)).read()",
        "open(path, 'w')",
        "open(path, 'a')",
        "os.truncate(path, 0)",
        "os.open(path, os.O_RDONLY | os.O_TRUNC)",
        "os.remove(path)",
        "os.chmod(path, 0)",
        "os.utime(path, (0, 0))",
        "os.setxattr(path, 'user.note', b'x')",
        "os.mkdir(os.path.dirname(path) + '/new')",
        "os.mknod(os.path.dirname(path) + '/new')",
    ]
    told = attempted(sandbox, attempts, path=str(private))
    # A file that was opened with O_PATH can be named, not read.
    assert allowed(told, but=f"({NO_FILE}|OSError: .*(Bad file descriptor|cross-device))") == {}
    assert SECRET not in str(told)
    after = private.stat()
    for what in ("st_mode", "st_mtime_ns", "st_nlink", "st_uid", "st_size"):
        assert getattr(after, what) == getattr(before, what)
    assert private.read_text() == SECRET
    assert list(private.parent.iterdir()) == [private]


def test_the_interpreter_cannot_be_changed(sandbox: Sandbox) -> None:
    module = Path(sysconfig.get_path("stdlib")) / "this.py"
    attempts = [
        "open(path, 'a')",
        "os.open(path, os.O_TRUNC)",
        "os.truncate(path, 9)",
        "os.chmod(path, 0)",
        "os.fchmod(os.open(path, os.O_RDONLY), 0)",
        "os.rename(path, 'x')",
    ]
    before = module.read_text()
    assert allowed(attempted(sandbox, attempts, path=str(module)), but=f"({NO_FILE}|OSError)") == {}
    assert module.read_text() == before


def test_nothing_outside_its_folder_can_be_written(sandbox: Sandbox) -> None:
    code = """
        import os, sys
        here = os.getcwd()
        places = {"/", "/dev", "/dev/shm", "/run", "/var/tmp", "/home", os.path.dirname(here), *sys.path}
        packages = ("site-packages", "dist-packages")
        places |= {os.path.join(path, name) for path in sys.path for name in packages}
        written = []
        for place in places - {here}:
            try:
                open(os.path.join(place, "written"), "w")
                written.append(place)
            except OSError:
                continue
        result = [written, len(places)]
    """
    value = sandbox.run(dedent(code)).value
    assert isinstance(value, list)
    assert value[0] == []


def test_installed_packages_cannot_be_read(sandbox: Sandbox) -> None:
    assert raised(sandbox.run("import pydantic")).startswith("ModuleNotFoundError")
    library = Path(sysconfig.get_path("stdlib"))
    files = [str(file) for file in library.glob("*-packages/*/__init__.py")][:20]
    assert allowed(attempted(sandbox, [f"open({file!r})" for file in files]), but=NO_FILE) == {}


def test_the_environment_is_empty(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", SECRET)
    attempts = ["dict(os.environ)", "libc.getenv(b'API_KEY')", "libc.getenv(b'PATH')", "sys.argv"]
    told = attempted(sandbox, attempts)
    assert list(told.values()) == ["done: {}", "done: 0", "done: 0", "done: ['']"]


def test_code_and_inputs_are_on_no_command_line(sandbox: Sandbox) -> None:
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(sandbox.run, f"import time; time.sleep(1) # {SECRET}", {"key": SECRET})
        until(lambda: bool(cages(os.getpid())))
        lines = cages(os.getpid())
        assert run.result().ok
    assert not any(SECRET.encode() in line for line in lines.values())


def test_open_files_from_elsewhere_are_not_there(sandbox: Sandbox) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(SECRET.encode())
        os.set_inheritable(file.fileno(), True)
        attempts = [f"os.fstat({number}).st_mode >> 12" for number in range(64)]
        kinds = {told for told in attempted(sandbox, attempts).values() if told.startswith("done")}
    assert kinds == {"done: 1", "done: 2"}  # pipes and /dev/null; a file would be 8


# ---- the network ------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        yield listening


def test_the_network_is_out_of_reach(sandbox: Sandbox, server: socket.socket) -> None:
    attempts = [
        "socket.create_connection(('127.0.0.1', port), 2).send(b'x')",
        "urllib.request.urlopen(f'http://127.0.0.1:{port}', timeout=2)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
        "socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')",
        "socket.socketpair(type=socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.create_server(('127.0.0.1', 0))",
    ]
    told = attempted(sandbox, attempts, port=server.getsockname()[1])
    assert allowed(told, but=".*Operation not permitted") == {}
    told = attempted(sandbox, ["libc.socket(2, 1, 0)", "socket.getaddrinfo('example.com', 80)"])
    assert allowed(told, but="(done: -1|gaierror)") == {}
    with pytest.raises(TimeoutError):
        server.accept()


# ---- other processes --------------------------------------------------------------------------------


def test_other_processes_are_out_of_reach(sandbox: Sandbox) -> None:
    attempts = [
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.kill(parent, signal.SIGKILL)",
        "os.kill(-1, signal.SIGKILL)",
        "os.killpg(os.getpgid(0), signal.SIGKILL)",
        "os.pidfd_open(parent)",
        "signal.pidfd_send_signal(1, signal.SIGKILL)",
        "resource.prlimit(parent, resource.RLIMIT_CPU, (0, 0))",
        "os.setpriority(os.PRIO_PROCESS, parent, 19)",
        "os.sched_setaffinity(parent, [0])",
        "fcntl.fcntl(1, fcntl.F_SETOWN, parent)",
        "fcntl.fcntl(1, 10, signal.SIGKILL)",  # F_SETSIG
        "fcntl.ioctl(1, 0x8901, parent)",  # FIOSETOWN
        "fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)",
        "os.fork()",
        "os.posix_spawn('/bin/sh', ['sh'], {})",
        "subprocess.run([sys.executable, '-c', ''])",
        "os.execv(sys.executable, ['python'])",
        "os.memfd_create('x')",
        "os.chroot('.')",
    ]
    told = attempted(sandbox, attempts, parent=os.getpid())
    assert allowed(told, but="PermissionError: .*Operation not permitted") == {}
    assert allowed(attempted(sandbox, ["os.forkpty()"]), but="(PermissionError|FileNotFoundError)") == {}


def test_libc_gets_no_further(sandbox: Sandbox) -> None:
    calls = ["fork()", "vfork()", "kill(os.getppid(), 9)", "kill(parent, 9)", "socket(2, 1, 0)",
             "ptrace(0, 0, 0, 0)", "ptrace(16, parent, 0, 0)", "process_vm_readv(parent, 0, 0, 0, 0, 0)",
             "prctl(1, 0, 0, 0, 0)", "shmget(1, 99, 512)", "msgget(1, 512)", "unshare(0x10000000)",
             "mount(b'/', b'/', None, 4096, None)", "execve(b'/bin/sh', None, None)", "inotify_init1(0)",
             "open_by_handle_at(0, 0, 0)"]  # fmt: skip
    attempts = [f"(libc.{call}, ctypes.get_errno())" for call in calls]
    assert allowed(attempted(sandbox, attempts, parent=os.getpid()), but=r"done: \(-1, 1\)") == {}
    assert allowed(attempted(sandbox, ["libc.system(b'id')"]), but="done: (-1|32512)$") == {}


def test_every_refused_call_is_refused(sandbox: Sandbox) -> None:
    column = list(cage.MACHINES).index(os.uname().machine)
    numbers = {name: call[column] for name, call in cage.REFUSED.items() if call[column] >= 0}
    attempts = [f"(libc.syscall({number}, -1, 0, 0), ctypes.get_errno())" for number in numbers.values()]
    assert allowed(attempted(sandbox, attempts), but=r"done: \(-1, 1\)") == {}
    newer = [f"(libc.syscall({number}, 0), ctypes.get_errno())" for number in (cage.NEWER, 600)]
    assert allowed(attempted(sandbox, newer), but=r"done: \(-1, 38\)") == {}


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_numbers_are_those_of_the_kernel(machine: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"no {header} (apt install linux-libc-dev)")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", Path(header).read_text())
    known = {name: int(number) for name, number in found}
    column = list(cage.MACHINES).index(machine)
    for name, call in (cage.REFUSED | cage.MISSING | cage.LOOKED_AT).items():
        assert known.get(name, -1) == call[column], name


def test_no_user_and_no_right_is_left(sandbox: Sandbox) -> None:
    told = attempted(
        sandbox, ["0 in (os.getuid(), os.geteuid(), os.getgid())", "os.setuid(0)", "os.nice(-5)"]
    )
    if os.geteuid() == 0:
        assert told.pop("0 in (os.getuid(), os.geteuid(), os.getgid())") == "done: False"
        assert "Operation not permitted" in told["os.setuid(0)"]
    assert "Operation not permitted" in told["os.nice(-5)"]


# ---- limits -----------------------------------------------------------------------------------------


def test_an_endless_loop_is_stopped(sandbox: Sandbox) -> None:
    result = limited(sandbox, cpu=1).run("while True: pass")
    assert result.stopped == "it used up its 1 seconds of processor time"
    deaf = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert "killed it, for processor time" in limited(sandbox, cpu=1).run(deaf).stopped


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(1e6)",
        "import os, time; os.closerange(0, 30); time.sleep(1e6)",
        "import threading, time; threading.Thread(target=time.sleep, args=[1e6]).start(); result = 1",
        "import signal; signal.pause()",
    ],
)
def test_waiting_for_ever_is_stopped(sandbox: Sandbox, code: str) -> None:
    result = limited(sandbox, wall=1.0).run(code)
    assert (result.ok, result.value, result.stopped) == (False, None, "it was not done after 1 seconds")
    assert 1 <= result.seconds < 10


def test_what_was_said_before_the_end_is_kept(sandbox: Sandbox) -> None:
    result = limited(sandbox, wall=2.0).run("import time; print('here', flush=True); time.sleep(1e6)")
    assert (result.stdout, result.stopped) == ("here\n", "it was not done after 2 seconds")


@pytest.mark.parametrize("code", ["bytearray(10**10)", "[bytearray(10**6) for _ in range(10**6)]"])
def test_a_memory_bomb_is_stopped(sandbox: Sandbox, code: str) -> None:
    assert sandbox.run(code).stopped == "it needed more than its 256 MiB of memory"


def test_mapped_memory_counts(sandbox: Sandbox) -> None:
    code = "import mmap\nkept = []\nwhile True: kept.append(mmap.mmap(-1, 1 << 24))"
    assert "Cannot allocate memory" in raised(sandbox.run(code))


def test_a_bomb_of_threads_is_stopped(sandbox: Sandbox) -> None:
    code = "import _thread, time\n_thread.stack_size(1 << 16)\n"
    code += "for _ in range(1000): _thread.start_new_thread(time.sleep, (9,))"
    assert "can't start new thread" in raised(sandbox.run(code))


def test_a_bomb_of_processes_is_stopped(sandbox: Sandbox) -> None:
    assert "Operation not permitted" in raised(sandbox.run("import os\nwhile True: os.fork()"))


@pytest.mark.slow
def test_a_daemon_does_not_outlive_its_run(sandbox: Sandbox) -> None:
    """It forks twice; where that fails, the first process tries to stay, deaf and with nothing open."""
    code = """
        import os, signal, time

        def attempt(call):
            try:
                return call()
            except PermissionError:
                return 0

        if attempt(os.fork) == 0:
            attempt(os.setsid)
            if attempt(os.fork) == 0:
                for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                    signal.signal(number, signal.SIG_IGN)
                os.closerange(0, 30)
                time.sleep(1000)
    """
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(limited(sandbox, wall=3).run, dedent(code))
        until(lambda: bool(cages(os.getpid())))
        inside = cages(os.getpid())
        assert run.result().stopped == "it was not done after 3 seconds"
    assert [each for each in inside if Path("/proc", each).exists()] == []


def cages(ancestor: int) -> dict[str, bytes]:
    """The command lines of the sandbox processes that come from this process, by process id."""
    lines = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if re.search(rb"/cage\.[\w.-]*pyc?\0", line) and descends(int(process.name), ancestor):
            lines[process.name] = line
    return lines


def descends(process: int, ancestor: int) -> bool:
    while process > 1 and process != ancestor:
        try:
            status = Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        process = int(status.rpartition(")")[2].split()[1])
    return process == ancestor


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output_is_stopped(sandbox: Sandbox, stream: str) -> None:
    result = sandbox.run(f"import sys\nwhile True: sys.{stream}.write('spam ' * 1000)")
    assert result.stopped == f"it wrote more than 10000 bytes to {stream}"
    assert getattr(result, stream) == "spam " * 2000


FORGE = """
import os
for number in range(3, 500):
    try:
        os.write(number, forged.encode())
    except OSError:
        continue
os._exit(0)
"""


FORGED = (
    "[" * 5000, '{"value": NaN}', '{"value": 1', "null", '{"error": 3}', '{"value": 1, "error": "x"}',
    '{"value": 1}\n{"value": 2}', '{"value": 1}garbage', "ready\n", '{"error": "MemoryError"}',
)  # fmt: skip


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_report_does_no_harm(sandbox: Sandbox, forged: str) -> None:
    result = sandbox.run(FORGE, {"forged": forged})
    assert (result.ok, result.value) == (False, None)
    assert result.stopped == "it left the interpreter with status 0"


ENDINGS = {
    "raise ValueError('wrong')": "it left the interpreter with status 1",
    "os._exit(3)": "it left the interpreter with status 3",
    "os._exit(1)": "it left the interpreter with status 1",
    "import ctypes; ctypes.string_at(0)": "it crashed the interpreter (SIGSEGV)",
    "os.kill(os.getpid(), 9)": "the kernel killed it",
    "import time; time.sleep(60)": "it was not done after 3 seconds",
    "result = 'mine'": "it left the interpreter with status 0",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_value_of_code_that_did_not_come_to_its_end_is_none(sandbox: Sandbox, ending: str) -> None:
    """Whatever it said before of itself."""
    forge = FORGE.replace("os._exit(0)", ending)
    result = limited(sandbox, wall=3.0).run(forge, {"forged": '{"value": "forged"}'})
    assert (result.ok, result.value) == (False, None)
    assert result.stopped.startswith(ENDINGS[ending])


def test_what_code_reports_itself_is_no_more_than_its_result(sandbox: Sandbox) -> None:
    forged, plain = sandbox.run(FORGE, {"forged": '{"value": "x"}'}), sandbox.run("result = 'x'")
    assert (forged.ok, forged.value, forged.stopped) == (plain.ok, plain.value, plain.stopped)
    longer = json.dumps({"value": "x" * QUICK.output})  # than a result may be, and shorter than a report
    assert not sandbox.run(FORGE, {"forged": longer}).ok


def test_an_endless_report_is_stopped(sandbox: Sandbox) -> None:
    assert sandbox.run(FORGE, {"forged": "x" * 20_000}).stopped == "it wrote more than 11024 bytes to report"


def test_a_huge_file_is_stopped(sandbox: Sandbox) -> None:
    told = raised(sandbox.run("with open('big', 'wb') as file:\n    while True: file.write(bytes(1 << 16))"))
    assert told == "OSError: [Errno 27] File too large"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("open(str(n), 'wb').write(bytes(1 << 20))", f"its files took more than {4 << 20} bytes"),
        ("open(str(n), 'w')", "it made more than 100 files and folders"),
        ("os.mkdir('deeper'); os.chdir('deeper')", "it made more than 100 files and folders"),
        ("os.symlink('/etc/passwd', str(n))", "it made more than 100 files and folders"),
    ],
)
def test_many_files_are_stopped(sandbox: Sandbox, code: str, told: str) -> None:
    number = 99 if "1 << 20" in code else 10_000
    assert sandbox.run(f"import os\nfor n in range({number}): {code}").stopped == told


def test_files_cannot_be_hidden_from_the_limits(sandbox: Sandbox) -> None:
    code = (
        "import os\nos.umask(0)\nos.mkdir('hidden', 0o300)\nfor n in range(10_000): open(f'hidden/{n}', 'w')"
    )
    stopped = sandbox.run(code).stopped
    assert re.match("it made (a folder that cannot be looked into|more than 100)", stopped)


def test_open_files_are_limited(sandbox: Sandbox) -> None:
    assert "Too many open files" in raised(sandbox.run("kept = [open(str(n), 'w') for n in range(99)]"))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.abort()", "SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGBUS)", "SIGBUS"),
    ],
)
def test_a_crash_of_the_interpreter_is_told(sandbox: Sandbox, code: str, name: str) -> None:
    result = sandbox.run(code)
    assert result.stopped.startswith(f"it crashed the interpreter ({name})")
    assert "Fatal Python error" in result.stderr


def test_another_signal_is_told(sandbox: Sandbox) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert sandbox.run(code).stopped == "it was ended by SIGTERM"


def test_recursion_without_end_is_told(sandbox: Sandbox) -> None:
    assert raised(sandbox.run("def f(): f()\nf()")).startswith("RecursionError")
    code = "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr([self])\n"
    result = sandbox.run(code + "repr(A())")
    assert not result.ok
    assert "memory" in result.stopped or "SIGSEGV" in result.stopped or "RecursionError" in result.stderr


# ---- the end of a run -------------------------------------------------------------------------------


@pytest.fixture
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that no other test writes to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_removed(sandbox: Sandbox, own_temp: Path) -> None:
    code = """
        import os
        os.umask(0)
        os.symlink("/etc", "link")
        os.mkfifo("pipe")
        os.mkdir("none", 0)
        os.mkdir("locked", 0o500)
        for _ in range(60):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    """
    sandbox.run(dedent(code))
    assert list(own_temp.iterdir()) == []


def test_the_folder_is_removed_whatever_the_path_of_programs(
    own_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lack := missing("landlock"):
        pytest.skip(lack)
    monkeypatch.setenv("PATH", "/nowhere")
    assert Sandbox(way="landlock").run("result = 1").ok
    assert list(own_temp.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_application_is_ended(
    sandbox: Sandbox, own_temp: Path, number: signal.Signals
) -> None:
    script = (
        "import sys, tempfile; from taskloom.tools.sandbox import Sandbox\ntempfile.tempdir = sys.argv[1]\n"
    )
    script += 'Sandbox(way=sys.argv[2]).run(\'import time; open("up", "w"); time.sleep(60)\')'
    command = [sys.executable, "-c", script, str(own_temp), sandbox.isolation.way]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as application:
        until(lambda: bool(list(own_temp.glob("*/up"))))
        inside = cages(application.pid)
        assert inside
        application.send_signal(number)
        application.wait(15)
    until(lambda: not any(Path("/proc", each).exists() for each in inside))
    until(lambda: not list(own_temp.iterdir()))


# ---- which way --------------------------------------------------------------------------------------


def test_the_way_in_force_is_told(sandbox: Sandbox) -> None:
    way, guarantee = sandbox.isolation
    assert way in {"bubblewrap", "landlock"}
    assert "network" in guarantee
    assert Sandbox().isolation.way == ("landlock" if missing("bubblewrap") else "bubblewrap")


@pytest.fixture
def untried() -> Iterator[None]:
    """No way has been tried before, and none is remembered afterwards."""
    missing.cache_clear()
    yield
    missing.cache_clear()


@pytest.mark.usefixtures("untried")
def test_without_any_way_it_refuses_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "MACHINES", {})
    with pytest.raises(UnavailableError, match=r"bubblewrap: the filter .*; landlock: "):
        Sandbox()
    weak = Sandbox(QUICK, allow_weak=True)
    assert weak.isolation.way == "limits only"
    assert "only code that you would run yourself" in weak.isolation.guarantee


@pytest.mark.usefixtures("untried")
def test_without_bubblewrap_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="apt install bubblewrap"):
        Sandbox(way="bubblewrap")


@pytest.mark.usefixtures("untried")
def test_bubblewrap_that_cannot_work_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "No permissions to create new namespace" in missing("bubblewrap")


def test_limits_only_must_be_asked_for() -> None:
    with pytest.raises(NotAllowedError, match="allow_weak=True"):
        Sandbox(way="limits only")


def test_limits_only_still_limits() -> None:
    weak = limited(Sandbox(way="limits only", allow_weak=True), cpu=1)
    assert weak.run("result = 6 * 7").value == 42
    assert weak.run("while True: pass").stopped == "it used up its 1 seconds of processor time"
    assert weak.run("bytearray(10**10)").stopped == "it needed more than its 256 MiB of memory"
    assert weak.run("while True: print('spam')").stopped == "it wrote more than 10000 bytes to stdout"
    assert weak.run("import os; result = dict(os.environ)").value == {}
