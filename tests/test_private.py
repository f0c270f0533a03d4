"""What is under the home is for its owner alone, also in a home that was there before."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from taskloom.agent.graph.wiring import JOURNAL
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.memory.private import keep_private
from taskloom.tools.journal import Entry, FileJournal

pytestmark = pytest.mark.attack


@pytest.fixture(autouse=True)
def _ordinary_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(home: Path) -> list[str]:
    """What of a home has other rights than it should."""
    wanted = {True: 0o700, False: 0o600}
    return [
        f"{stat.S_IMODE(path.stat().st_mode):o} {path.relative_to(home)}"
        for path in (home, *home.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) != wanted[path.is_dir()]
    ]


def used(home: Path, thread: str) -> None:
    """A talk that writes all there is; the rights are looked at while it is open."""
    journal = FileJournal(home / JOURNAL)
    journal.begin(Entry(key=thread, user="local", thread=thread, turn=1, task="t1", tool="book", args={}))
    with Taskloom.open(Settings(home=home)) as talk:
        talk.talk("Book a hotel in Bergen for two people", thread=thread)
        assert talk.longterm is not None
        assert talk.longterm.flush()
        talk.talk("The budget is 200 euros", thread=thread)
        assert {"threads.sqlite-wal", "outbox.sqlite-wal", JOURNAL} <= {one.name for one in home.iterdir()}
        assert list((home / "memory").glob("*/*.bin"))
        assert open_to_others(home) == []
    journal.shut()
    assert open_to_others(home) == []


def test_what_is_new_is_its_owners_alone(tmp_path: Path) -> None:
    used(tmp_path / "home", "a")


def test_so_is_what_was_there_before(tmp_path: Path) -> None:
    home = tmp_path / "home"
    used(home, "a")
    (home / "threads.sqlite-wal").touch()  # as a killed process leaves it
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    used(home, "b")


def test_what_is_not_ours_or_for_all_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, file = tmp_path / "shared", tmp_path / "file"
    shared.mkdir()
    shared.chmod(0o1777)
    file.touch(0o644)
    keep_private(shared, tmp_path / "gone")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    keep_private(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
