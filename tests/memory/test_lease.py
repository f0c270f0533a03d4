"""The lease of a folder: one process at a time, in turn, and nobody waits without end."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock, Timeout

from taskloom.memory.errors import StoreBusyError, StoreError
from taskloom.memory.lease import Lease

ROOT = Path(__file__).parents[2]

# Uses the folder again and again, and writes down when; `held` in the file would be seen by another.
USER = """
import sys, time
from pathlib import Path
from taskloom.memory.lease import Lease
folder, name, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
mark = folder / "open"

def opened():
    mark.touch(exist_ok=False)
    return name

lease = Lease(folder, opened, lambda _: mark.unlink(), wait=20)
print("ready", flush=True)
sys.stdin.readline()
until, count = time.monotonic() + seconds, 0
while time.monotonic() < until:
    with lease.using():
        count += 1
        time.sleep(0.001)
print(count, flush=True)
sys.stdin.readline()
lease.close()
"""


@contextmanager
def processes(*commands: list[Any]) -> Iterator[list[subprocess.Popen[str]]]:
    running = [
        subprocess.Popen(one, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for one in commands
    ]
    try:
        yield running
    finally:
        for one in running:
            one.kill()
            one.communicate()


def go(one: subprocess.Popen[str]) -> None:
    assert one.stdin
    one.stdin.write("\n")
    one.stdin.flush()


def told(one: subprocess.Popen[str]) -> str:
    assert one.stdout
    return one.stdout.readline().strip()


class Opened:
    """What is opened; counts how often, and whether it was open."""

    def __init__(self) -> None:
        self.times, self.open = 0, False

    def __call__(self) -> Opened:
        assert not self.open
        self.times, self.open = self.times + 1, True
        return self

    def close(self, _: object) -> None:
        assert self.open
        self.open = False


@pytest.fixture
def lease(tmp_path: Path) -> Iterator[Callable[..., tuple[Lease[Opened], Opened]]]:
    made: list[Lease[Opened]] = []

    def make(**more: object) -> tuple[Lease[Opened], Opened]:
        thing = Opened()
        made.append(Lease(tmp_path / "memory", thing, thing.close, **more))  # type: ignore[arg-type]
        return made[-1], thing

    yield make
    for one in made:
        one.close()


Make = Callable[..., tuple[Lease[Opened], Opened]]


def test_nobody_asks_and_it_stays_open(lease: Make) -> None:
    one, thing = lease()
    for _ in range(3):
        with one.using() as used, one.using() as again:
            assert used is again is thing
        time.sleep(0.3)
    assert (thing.open, thing.times) == (True, 1)
    one.close()
    one.close()
    assert (thing.open, thing.times) == (False, 1)
    with one.using():
        assert (thing.open, thing.times) == (True, 2)


def test_who_asks_gets_it_and_who_had_it_gets_it_back(lease: Make) -> None:
    (one, first), (two, second) = lease(), lease()
    with one.using():
        pass
    begun = time.monotonic()
    with two.using():
        assert not first.open
    assert time.monotonic() - begun < 2
    with one.using():
        assert not second.open
    assert (first.times, second.times) == (2, 1)


def test_a_use_is_not_cut_short(lease: Make) -> None:
    (one, first), (two, _) = lease(), lease(wait=10)
    order: list[str] = []

    def other() -> None:
        with two.using():
            assert not first.open
            order.append("two")

    with one.using():
        asking = threading.Thread(target=other)
        asking.start()
        time.sleep(0.6)
        with one.using():  # one that uses it already is let in, whoever asks
            order.append("one")
    asking.join()
    assert order == ["one", "two"]


def test_it_is_opened_anew_when_nobody_uses_it_and_the_folder_is_held_meanwhile(
    lease: Make, tmp_path: Path
) -> None:
    order: list[str] = []

    def anew(_: Opened) -> Opened:
        with pytest.raises(Timeout):
            FileLock(tmp_path / "memory" / ".lock").acquire(timeout=0)
        order.append("anew")
        return Opened()

    one, first = lease(renewed=anew)

    def other() -> None:
        with one.using() as used:
            order.append("other" if used is not first else "too early")

    with one.using():
        one.renew()
        asking = threading.Thread(target=other)
        asking.start()
        time.sleep(0.2)
        with one.using() as used:  # one that uses it already has what it had
            assert used is first
            order.append("one")
    asking.join()
    assert order == ["one", "anew", "other"]
    with one.using(), one.using():
        assert order == ["one", "anew", "other"]


def test_what_cannot_be_opened_anew_is_let_go_of(lease: Make) -> None:
    def broken(_: Opened) -> Opened:
        raise ValueError("not now")

    one, thing = lease(renewed=broken)
    with pytest.raises(ValueError, match="not now"), one.using():
        one.renew()
    assert not thing.open
    two, _ = lease(wait=0.1)
    with two.using():
        pass
    two.close()
    with one.using():
        assert thing.times == 2


def test_who_never_lets_go_is_waited_for_as_long_as_is_said_and_then_only_briefly(
    lease: Make, tmp_path: Path
) -> None:
    said: list[str] = []
    one, thing = lease(wait=1.5, notify=said.append)
    (tmp_path / "memory").mkdir()
    with FileLock(tmp_path / "memory" / ".lock"):
        waited = []
        for _ in range(2):
            begun = time.monotonic()
            with pytest.raises(StoreBusyError, match="not released within 1"), one.using():
                pass
            waited.append(time.monotonic() - begun)
    assert 1.4 < waited[0] < 3
    assert 0.9 < waited[1] < 1.4, "the next one does not wait as long for the same"
    assert said == [
        f"the memory in {tmp_path / 'memory'} is in use by another process: waiting for it, 1.5 s at most"
    ]
    with one.using():
        assert thing.open


def test_what_cannot_be_opened_is_not_held(lease: Make, tmp_path: Path) -> None:
    def broken() -> Opened:
        raise ValueError("not now")

    failing = Lease(tmp_path / "memory", broken, lambda _: None)
    with pytest.raises(ValueError, match="not now"), failing.using():
        pass
    one, _ = lease(wait=0.1)
    with one.using():
        pass
    (tmp_path / "file").touch()
    nowhere = Lease(tmp_path / "file", Opened(), lambda _: None)
    with pytest.raises(StoreError, match="cannot be kept in"), nowhere.using():
        pass


def test_many_threads_use_it_at_once_and_another_gets_in_between(lease: Make) -> None:
    (one, first), (two, second) = lease(wait=20), lease(wait=20)
    until = time.monotonic() + 3

    def use(which: tuple[Lease[Opened], Opened], other: Opened) -> int:
        count = 0
        while time.monotonic() < until:
            with which[0].using():
                assert which[1].open
                assert not other.open
                count += 1
                time.sleep(0.002)
        return count

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(use, (one, first), second) for _ in range(4)]
        jobs += [pool.submit(use, (two, second), first) for _ in range(4)]
        counts = [job.result() for job in jobs]
    assert min(counts) > 10
    assert min(first.times, second.times) > 2, "they took turns"


@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("number", [2, 4])
def test_processes_take_turns_and_none_is_left_out(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    with processes(*([sys.executable, "-c", USER, folder, str(n), "4"] for n in range(number))) as running:
        for one in running:
            assert told(one) == "ready"
        for one in running:
            go(one)
        counts = [int(told(one)) for one in running]
        for one in running:
            go(one)
        assert [one.wait(30) for one in running] == [0] * number
    assert min(counts) > 20, counts
    assert not (folder / "open").exists()


@pytest.mark.attack
def test_who_was_killed_keeps_nobody_out(tmp_path: Path, lease: Make) -> None:
    with processes([sys.executable, "-c", USER, tmp_path / "memory", "x", "60"]) as (one,):
        assert told(one) == "ready"
        go(one)
        time.sleep(0.5)
        one.kill()
        one.wait()
        mine, _ = lease(wait=2)
        begun = time.monotonic()
        with mine.using():
            assert time.monotonic() - begun < 1
