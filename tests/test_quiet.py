"""Nothing reports home: no name is looked up, nobody beside this machine is called, no file is left outside.

Where there is strace all system calls of a process are read; without it only the files that it leaves.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from taskloom.memory import quiet
from tests.test_server import serving

STRACE = shutil.which("strace")
TALK = '["Book a hotel in Bergen for two people", {"session": "next"}, "Book a hotel, same as last time"]'
HOST = """
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from taskloom.agent.graph import Context, build_graph, default_services
{more}
graph = build_graph(default_services(), checkpointer=InMemorySaver())
for thread, text in enumerate(("Book a hotel in Bergen for two people", "Book a hotel, same as last time")):
    config = {{"configurable": {{"thread_id": str(thread)}}}}
    graph.invoke({{"messages": [HumanMessage(text)]}}, config, context=Context(user_id="ann"))
"""
CLI = "from taskloom.agent.cli.main import main; main()"
MEMORY = """
import taskloom.memory.tasks
import onnxruntime
from taskloom.memory.embed import MiniLM
MiniLM()(["a text"])
"""
# The calls that name a file to write or somebody to talk to, as strace prints them.
_WRITTEN = re.compile(r'(?:openat|creat)\(.*?"(/[^"]+)".*?O_(?:CREAT|WRONLY|RDWR)')
_CALLED = re.compile(r"sa_family=AF_INET6?, .*?(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([^\"]+)")


def environment(folder: Path, **more: str) -> dict[str, str]:
    """That of a user whose home is a folder, and who has said nothing of telemetry."""
    unset = ("ORT_DISABLE_TELEMETRY", "ANONYMIZED_TELEMETRY", "XDG_CACHE_HOME", "SQLITE_TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return {**kept, "HOME": str(folder / "user"), "TASKLOOM_HOME": str(folder / "home"), **more}


def watched(folder: Path) -> list[str]:
    """What a command begins with to be watched; what it does is told by `told`."""
    (folder / "user").mkdir()
    calls = "trace=openat,creat,connect,sendto,sendmsg,sendmmsg"
    return [STRACE, "-f", "--seccomp-bpf", "-qq", "-e", calls, "-o", str(folder / "calls")] if STRACE else []


def told(folder: Path) -> list[str]:
    """Whom a process called beside this machine, and the files that it left outside its homes."""
    found = [str(path) for path in (folder / "user").rglob("*") if path.is_file()]
    if STRACE:
        calls = (folder / "calls").read_text(errors="replace")
        found += [one for one in _CALLED.findall(calls) if one not in ("127.0.0.1", "::1", "0.0.0.0")]  # noqa: S104
        written = {Path(path) for path in _WRITTEN.findall(calls)}
        ours = (folder, Path("/dev"), Path("/proc"))
        left = (path for path in written if path.is_file() and not any(map(path.is_relative_to, ours)))
        found += [str(path) for path in left if "__pycache__" not in path.parts]
    return found


def run(folder: Path, command: Sequence[str], **more: str) -> str:
    given, command = environment(folder, **more), [*watched(folder), *command]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("code", [HOST.format(more=""), HOST.format(more="import onnxruntime"), MEMORY])
def test_a_host_application_reports_to_nobody(tmp_path: Path, code: str) -> None:
    run(tmp_path, [sys.executable, "-c", code])
    assert told(tmp_path) == []


@pytest.mark.parametrize("said", [{}, {"ORT_DISABLE_TELEMETRY": ""}])
def test_the_command_line_reports_to_nobody(tmp_path: Path, said: dict[str, str]) -> None:
    (tmp_path / "script.json").write_text(TALK)
    command = [sys.executable, "-c", CLI, "run", "script.json", "--user", "ann"]
    assert "Bergen" in run(tmp_path, command, **said)
    assert told(tmp_path) == []


@pytest.mark.slow
def test_a_server_reports_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = environment(tmp_path)
    for name in {*os.environ} - {*given}:
        monkeypatch.delenv(name)
    for name in ("HOME", "TASKLOOM_HOME"):
        monkeypatch.setenv(name, given[name])
    with serving(tmp_path, under=watched(tmp_path)) as url:
        asked = {"messages": [{"role": "user", "content": "Book a hotel in Bergen for two people"}]}
        body = {"assistant_id": "taskloom", "input": asked, "context": {"user_id": "ann"}}
        done = httpx.post(f"{url}/runs/wait", json=body, timeout=60).raise_for_status().json()
        assert "Bergen" in done["turn"]["reply"]
    assert told(tmp_path) == []


@pytest.mark.slow
def test_a_host_that_was_first_is_told_and_doctor_says_so(tmp_path: Path) -> None:
    """Then it is too late: what onnxruntime reads when it is imported was not there."""

    def doctor(first: str, **more: str) -> str:
        command = [sys.executable, "-c", f"{first}; {CLI}", "doctor"]
        done = subprocess.run(command, env=environment(tmp_path, **more), capture_output=True, text=True)
        return " ".join((done.stderr + done.stdout).split())

    (tmp_path / "user").mkdir()
    late = "onnxruntime was imported before Taskloom"
    shown = doctor("import onnxruntime, taskloom.memory.tasks")
    assert shown.startswith(late)  # as the host's log has it
    assert f"telemetry WRONG {late}, and reports home: start with ORT_DISABLE_TELEMETRY=1" in shown
    assert "telemetry ok" in doctor("import onnxruntime", ORT_DISABLE_TELEMETRY="1")
    assert "telemetry onnxruntime sends usage data: unset" in doctor("import os", ORT_DISABLE_TELEMETRY="0")


@pytest.mark.parametrize(
    ("given", "loaded", "in_time", "asked"),
    [("", False, True, False), ("", True, False, False), ("1", True, True, False), ("0", True, True, True)],
)
def test_the_switch_is_set_unless_the_environment_has_it(
    given: str, loaded: bool, in_time: bool, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(quiet.SWITCH, given)
    if loaded:
        monkeypatch.setitem(sys.modules, "onnxruntime", sys)
    else:
        monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    assert quiet.switch_off() is in_time
    assert quiet.wanted() is asked
