"""`taskloom memory` in one process while another one holds the memory, idle or in the middle of a turn."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from tests.test_memory_commands import holding

ROOT = Path(__file__).parents[1]
TASKLOOM = Path(sys.executable).with_name("taskloom")
WORD = "Zyxquartz"
PLAN = f"Plan a trip to {WORD} on June 3rd"

# Reads a line of JSON each: how to talk, and what is said; in the middle of a turn it waits for another line.
TALKER = """
import json, sys
from dataclasses import replace
from datetime import datetime
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context

how = "talk"

def tell(word):
    print(word, flush=True)
    sys.stdin.readline()

def clock():
    global how
    if how == "slowly":
        how = "talk"
        tell("running")
    return datetime.now()

def ask(approval):
    if how == "asked":
        tell("asked")
    return True

services = replace(default_services(), clock=clock)
with Taskloom.open(services=services) as app:
    app.longterm.store
    print("open", flush=True)
    for line in sys.stdin:
        how, said = json.loads(line)
        turn = app.talk(said, thread="t", context=Context(user_id="ann"), ask=ask)
        print(json.dumps([turn.reply, turn.number]), flush=True)
"""


class Talker:
    """A process that talks with the user `ann` on the thread `t`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.told() == "open"

    def say(self, said: str, how: str = "talk") -> None:
        self.write(json.dumps([how, said]))

    def write(self, line: str = "") -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def told(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def turn(self, said: str) -> tuple[str, int]:
        self.say(said)
        reply, number = json.loads(self.told())
        return reply, number

    def end(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


@pytest.fixture
def talker(home: Path) -> Iterator[Talker]:
    with process(sys.executable, "-c", TALKER) as running:
        yield Talker(running)


@contextmanager
def process(*command: str | Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def memory(*call: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """`taskloom memory ...` as a process of its own."""
    done = subprocess.run(
        [TASKLOOM, "memory", *call, "--user", "ann"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def begin(*call: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [TASKLOOM, "memory", *call, "--user", "ann"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | settings,
    )  # fmt: skip


FORGET = ("forget", "--all", "--threads", "--yes")


@pytest.mark.attack
@pytest.mark.slow
def test_what_a_chat_holds_can_be_looked_at_and_forgotten_meanwhile(talker: Talker, home: Path) -> None:
    talker.turn(PLAN)
    assert WORD in memory("list").stdout
    (unit,) = (one for one in json.loads(memory("list", "--json").stdout) if one["kind"] == "unit")
    assert WORD in memory("show", unit["id"]).stdout
    assert WORD in memory("export").stdout
    assert "Lisbon" in talker.turn("The hotel is in Lisbon")[0], "the chat goes on"
    assert "Lisbon" in memory("export").stdout
    told = memory(*FORGET)
    assert "and 1 thread" in told.stdout
    assert told.stderr == "", "nobody had to wait"
    assert holding(home, WORD.encode()) == []

    assert talker.turn("Plan a dinner with Bob")[1] == 1, "a new thread"
    assert "dinner" in memory("list").stdout
    talker.end()
    assert holding(home, WORD.encode()) == [], "the chat wrote nothing of it when it ended"
    assert "dinner" in memory("list").stdout


@pytest.mark.attack
@pytest.mark.slow
def test_a_chat_that_ends_does_not_bring_back_single_records(talker: Talker, home: Path) -> None:
    talker.turn(PLAN)
    talker.turn(f"Anna said that {WORD} is lovely in spring")
    found = json.loads(memory("list", "--json").stdout)
    assert found
    memory("forget", *(one["id"] for one in found))
    talker.end()
    left = json.loads(memory("list", "--json").stdout)
    assert {one["id"] for one in left}.isdisjoint(one["id"] for one in found)


@pytest.mark.attack
@pytest.mark.slow
def test_a_turn_that_runs_is_waited_for_and_forgotten_with_the_rest(talker: Talker, home: Path) -> None:
    talker.turn("Plan a dinner with Bob")
    talker.say(PLAN, "slowly")
    assert talker.told() == "running"
    assert json.loads(memory("list", "--json").stdout), "to look needs no waiting"
    begun = time.monotonic()
    late = begin(*FORGET, TASKLOOM_LOCK_TIMEOUT="2")
    _, told = late.communicate(timeout=60)
    assert late.returncode == 1
    assert time.monotonic() - begun < 30
    assert "A turn is running on thread 't': waiting for it, 2 s at most." in told
    assert "'t' is in use by another process or run; waited 2 s" in told

    waiting = begin(*FORGET)
    assert waiting.stderr
    assert "waiting for it, 30 s at most" in waiting.stderr.readline()
    talker.write()
    assert WORD in talker.told()
    done, _ = waiting.communicate(timeout=60)
    assert re.match(r"Forgot \d+ records? and 1 thread\.", done)
    talker.end()
    assert holding(home, WORD.encode()) == []
    assert memory("list").stdout.startswith("Nothing is remembered")


@pytest.mark.attack
@pytest.mark.slow
def test_a_question_that_is_open_keeps_nobody_from_forgetting(talker: Talker, home: Path) -> None:
    talker.turn(PLAN)
    talker.say("Cancel the trip", "asked")
    assert talker.told() == "asked"
    assert memory(*FORGET).stderr == ""
    assert holding(home, WORD.encode()) == []
    talker.write()
    assert talker.told().startswith('["There is no message to read."'), "what the question was about is gone"
    assert talker.turn("Plan a dinner with Bob")[0].startswith("Added")
    talker.end()
    assert holding(home, WORD.encode()) == []


@pytest.mark.slow
def test_who_does_not_let_go_is_told_of_in_time(home: Path) -> None:
    folder = home / "memory"
    folder.mkdir(parents=True)
    with FileLock(folder / ".lock"):
        begun = time.monotonic()
        waiting = begin("list", TASKLOOM_LOCK_TIMEOUT="2")
        _, told = waiting.communicate(timeout=60)
    assert waiting.returncode == 1
    assert time.monotonic() - begun < 30
    first, second = told.splitlines()
    assert first == f"The memory in {folder} is in use by another process: waiting for it, 2 s at most."
    assert "was not released within 2 s: try again later, or end the other" in second
    assert memory("list").stdout.startswith("Nothing is remembered")
