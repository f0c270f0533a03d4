"""The journal of calls: one contract for both kinds, and what only the file can do."""

import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.tools.calls import Result
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import Entry, FileJournal, Journal, JournalFile, MemoryJournal, key_of

DONE = Result(status="done", text="booked BA7")


def entry(key: str, thread: str = "a", user: str = "ann") -> Entry:
    return Entry(key=key, user=user, thread=thread, turn=1, task="t1", tool="book", args={"flights": "BA7"})


@pytest.fixture(params=["memory", "file"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    if request.param == "memory":
        yield MemoryJournal()
        return
    opened = FileJournal(tmp_path / "home" / "calls.sqlite")
    yield opened
    opened.shut()


# ---- the contract ---------------------------------------------------------------------------------


def test_a_call_is_begun_once(journal: Journal) -> None:
    assert journal.begin(entry("k")) is None
    there = journal.begin(entry("k").model_copy(update={"tool": "other"}))
    assert there is not None
    assert (there.tool, there.state, there.args) == ("book", "begun", {"flights": "BA7"})
    assert there.begun.tzinfo is not None


def test_an_ended_call_has_its_result(journal: Journal) -> None:
    journal.begin(entry("k"))
    journal.end("k", DONE)
    there = journal.begin(entry("k"))
    assert there is not None
    assert (there.state, there.result) == ("ended", DONE)


def test_open_calls_are_those_of_the_thread_in_order(journal: Journal) -> None:
    for key, thread in (("k2", "a"), ("k1", "a"), ("k3", "b")):
        journal.begin(entry(key, thread))
    journal.end("k2", DONE)
    assert [(one.key, one.state) for one in journal.open("a")] == [("k2", "ended"), ("k1", "begun")]
    assert journal.open("c") == ()


def test_a_closed_call_is_forgotten(journal: Journal) -> None:
    for key in ("k1", "k2", "k3"):
        journal.begin(entry(key))
    journal.close(["k1", "k3", "never there"])
    journal.close([])
    assert [one.key for one in journal.open("a")] == ["k2"]
    assert journal.begin(entry("k1")) is None


def test_calls_made_for_a_closed_call_are_forgotten_with_it(journal: Journal) -> None:
    for key, thread in (("k1", "a"), ("k2", "a/clerk/k1"), ("k3", "a/clerk/k10"), ("k4", "k1")):
        journal.begin(entry(key, thread))
    journal.close(["k1"])
    left = [one.key for name in ("a", "a/clerk/k1", "a/clerk/k10", "k1") for one in journal.open(name)]
    assert left == ["k3", "k4"]


def test_the_end_of_a_call_that_is_not_there_is_nothing(journal: Journal) -> None:
    journal.end("k", DONE)
    assert journal.open("a") == ()


def test_of_many_threads_one_begins(journal: Journal) -> None:
    start = threading.Barrier(16, timeout=20)

    def begin(number: int) -> list[bool]:
        start.wait()
        return [journal.begin(entry(f"k{key}")) is None for key in range(20)]

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(begin, range(16)))
    assert [sum(column) for column in zip(*found, strict=True)] == [1] * 20


@given(st.lists(st.tuples(st.sampled_from(["begin", "end", "close"]), st.sampled_from("abc")), max_size=30))
def test_both_kinds_do_the_same(steps: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        same(steps, Path(folder))


def same(steps: list[tuple[str, str]], folder: Path) -> None:
    memory, file = MemoryJournal(), FileJournal(folder / "calls.sqlite")
    try:
        for action, key in steps:
            if action == "begin":
                one = entry(key)
                assert memory.begin(one) == file.begin(one)
            for journal in (memory, file):
                if action == "end":
                    journal.end(key, DONE)
                elif action == "close":
                    journal.close([key])
            assert memory.open("a") == file.open("a")
    finally:
        file.shut()


# ---- the key --------------------------------------------------------------------------------------


def test_the_key_is_of_thread_turn_task_tool_and_parameters() -> None:
    given_ = ("a", 1, "t1", "book", {"x": 1, "y": [2]})
    key = key_of(*given_)
    assert len(key) == 32
    assert key == key_of("a", 1, "t1", "book", {"y": [2], "x": 1})
    others = (
        ("b", 1, "t1", "book", {"x": 1, "y": [2]}),
        ("a", 2, "t1", "book", {"x": 1, "y": [2]}),
        ("a", 1, "t2", "book", {"x": 1, "y": [2]}),
        ("a", 1, "t1", "pay", {"x": 1, "y": [2]}),
        ("a", 1, "t1", "book", {"x": 1, "y": [3]}),
    )
    assert len({key, *(key_of(*other) for other in others)}) == 6


# ---- the file -------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


@pytest.fixture
def opened(path: Path) -> Iterator[FileJournal]:
    journal = FileJournal(path)
    yield journal
    journal.shut()


def file_of(journal: FileJournal) -> sqlite3.Connection:
    assert isinstance(journal._database, JournalFile)
    return journal._database._db


BEGIN = """
import sys
from pathlib import Path
from taskloom.tools.journal import Entry, FileJournal
journal = FileJournal(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    one = Entry(key=f"k{number}", user="ann", thread="a", turn=1, task="t1", tool="book", args={})
    print(int(journal.begin(one) is None), end="", flush=True)
"""


def test_of_many_processes_one_begins(path: Path) -> None:
    command = [sys.executable, "-c", BEGIN, str(path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert [sum(map(int, column)) for column in zip(*found, strict=True)] == [1] * 25


def test_it_is_there_in_another_process(path: Path, opened: FileJournal) -> None:
    opened.begin(entry("k"))
    opened.end("k", DONE)
    other = FileJournal(path)
    assert [one.result for one in other.open("a")] == [DONE]
    assert [one.key for one in other.entries()] == ["k"]
    other.shut()


def test_only_its_owner_may_read_it(path: Path, opened: FileJournal) -> None:
    opened.begin(entry("k"))
    assert [stat.S_IMODE(one.stat().st_mode) for one in path.parent.glob("calls.sqlite*")] == [0o600]


@pytest.mark.attack
def test_forget_leaves_no_byte_of_a_user(path: Path, opened: FileJournal) -> None:
    long = entry("k1", user="ann-of-oslo").model_copy(update={"args": {"note": "secret sea view " * 2_000}})
    opened.begin(long)
    opened.begin(entry("k2", user="ben"))
    assert b"secret sea view" in path.read_bytes()
    assert opened.forget("ann-of-oslo") == 1
    for file in path.parent.iterdir():
        assert b"secret sea view" not in file.read_bytes()
        assert b"ann-of-oslo" not in file.read_bytes()
    assert [one.key for one in opened.entries()] == ["k2"]


def test_a_closed_call_leaves_no_byte_either(path: Path, opened: FileJournal) -> None:
    opened.begin(entry("k1").model_copy(update={"args": {"note": "secret sea view " * 500}}))
    opened.close(["k1"])
    assert b"secret sea view" not in path.read_bytes()


def test_a_full_disk_is_told(path: Path, opened: FileJournal) -> None:
    (pages,) = file_of(opened).execute("PRAGMA page_count").fetchone()
    file_of(opened).execute(f"PRAGMA max_page_count = {pages}")  # as a full disk does: SQLITE_FULL
    large = entry("k").model_copy(update={"args": {"note": "x" * 100_000}})
    with pytest.raises(
        ToolError, match=r"the journal of calls .*calls.sqlite fails: database or disk is full"
    ):
        opened.begin(large)
    assert opened.entries() == ()
    assert opened.begin(entry("k")) is None  # it goes on where there is room


def test_a_journal_that_may_not_be_written_is_told(path: Path, opened: FileJournal) -> None:
    file_of(opened).execute("PRAGMA query_only = ON")
    for act in (lambda: opened.begin(entry("k")), lambda: opened.close(["k"]), lambda: opened.forget("ann")):
        with pytest.raises(
            ToolError, match=r"the journal of calls .* fails: attempt to write a readonly database"
        ):
            act()


def test_a_place_where_none_can_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ToolError, match=r"the journal of calls .* cannot be opened"):
        FileJournal(tmp_path / "file" / "calls.sqlite")


@pytest.mark.attack
@pytest.mark.parametrize(
    "broken", [lambda data: b"x" * 5_000, lambda data: data[:100] + b"\xff" * len(data[100:])]
)
def test_a_damaged_file_is_told(path: Path, broken: Callable[[bytes], bytes]) -> None:
    journal = FileJournal(path)
    journal.begin(entry("k"))
    journal.shut()
    path.write_bytes(broken(path.read_bytes()))
    with pytest.raises(ToolError, match=r"the journal of calls .*calls.sqlite"):
        FileJournal(path).open("a")


def test_an_entry_of_another_form_is_told(path: Path, opened: FileJournal) -> None:
    opened.begin(entry("k"))
    with sqlite3.connect(path) as database:
        database.execute("""UPDATE calls SET entry = '{"key": "k"}'""")
    database.close()
    for act in (lambda: opened.open("a"), lambda: opened.begin(entry("k")), lambda: opened.end("k", DONE)):
        with pytest.raises(ToolError, match="holds an entry that cannot be read; move it away"):
            act()
