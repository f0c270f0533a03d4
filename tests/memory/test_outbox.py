"""Nothing that was added is lost: failing stores and embedders, killed processes, poison."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.memory import outbox as outbox_module
from taskloom.memory.embed import Vectors
from taskloom.memory.outbox import Outbox, OutboxError, Which
from taskloom.memory.store import AnyRecord, ChromaStore, InMemoryStore
from tests.chroma_server import ChromaServer, HashEmbedder, fact


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with Outbox(tmp_path / "home" / "outbox.sqlite") as opened:
        yield opened


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(HashEmbedder())


class Picky(HashEmbedder):
    """An embedder that fails on texts with 'poison', and on all while it is down."""

    down = False

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.down or any("poison" in text for text in texts):
            raise RuntimeError("cannot embed that")
        return super().__call__(texts)


def test_what_was_added_comes_into_the_store(outbox: Outbox, store: InMemoryStore) -> None:
    records = [fact(number, f"note {number}") for number in range(150)]
    outbox.add("ann", records)
    outbox.add("b\ud800b", records[:2])
    outbox.add("ann", [])
    assert len(outbox.waiting()) == 152
    assert [waiting.id for waiting in outbox.waiting("b\ud800b")] == ["f0", "f1"]
    assert outbox.flush(store) == 152
    assert store.records("ann") == tuple(records)
    assert store.count("b\ud800b") == 2
    assert outbox.waiting() == ()
    assert outbox.flush(store) == 0


def test_some_of_what_waits_is_counted_and_moved(outbox: Outbox, store: InMemoryStore) -> None:
    trap = '","kind":"unit","thread":"here","'
    records = [
        fact(1, trap, thread="here"), fact(2, "x", thread="there"), fact(3, "x", thread='th"er\u00e9'),
    ]  # fmt: skip
    outbox.add("ann", records)
    assert outbox.count("ann", which=Which("unit")) == 0, "whatever a user's text says"
    assert outbox.count("ann", which=Which("fact")) == 3
    assert outbox.count("ann", which=Which("fact", "there"), untried=True) == 2
    assert outbox.count(which=Which(beside='th"er\u00e9')) == 2
    assert outbox.flush(store, "ann", which=Which("fact", "here"), seconds=0) == 0
    assert outbox.flush(store, "ann", which=Which("fact", "here")) == 2
    assert [one.id for one in outbox.waiting()] == ["f1"]


def test_no_record_without_a_user(outbox: Outbox) -> None:
    with pytest.raises(ValueError, match="queued for a user"):
        outbox.add("", [fact(1, "x")])


def test_only_the_newest_form_waits(outbox: Outbox, store: InMemoryStore) -> None:
    outbox.add("ann", [fact(1, "old"), fact(2, "other")])
    outbox.add("ann", [fact(1, "older still"), fact(1, "new")])
    assert len(outbox.waiting()) == 2
    assert outbox.flush(store) == 2
    assert store.get("ann", ["f1"])["f1"].text == "new"


def test_a_form_that_comes_while_its_former_one_is_put_is_not_lost(outbox: Outbox) -> None:
    class Slow(InMemoryStore):
        def put(self, user: str, records: Sequence[AnyRecord]) -> None:
            super().put(user, records)
            if records[0].text == "old":
                outbox.add(user, [fact(1, "new")])

    store = Slow(HashEmbedder())
    outbox.add("ann", [fact(1, "old")])
    assert outbox.flush(store) == 1
    assert len(outbox.waiting()) == 1
    outbox.flush(store)
    assert store.get("ann", ["f1"])["f1"].text == "new"


def test_poison_stays_and_blocks_nothing(outbox: Outbox) -> None:
    embedder = Picky()
    store = InMemoryStore(embedder)
    outbox.add(
        "ann", [fact(number, "poison" if number in (3, 4, 40) else f"note {number}") for number in range(80)]
    )
    assert outbox.flush(store) == 77
    waiting = outbox.waiting()
    assert [one.id for one in waiting] == ["f3", "f4", "f40"]
    assert {one.tries for one in waiting} == {1}
    assert {one.error for one in waiting} == {
        "StoreError: embedder hash-16 failed: RuntimeError: cannot embed that"
    }
    outbox.add("bob", [fact(1, "fine")])
    assert outbox.flush(store) == 1
    assert {one.tries for one in outbox.waiting("ann")} == {2}
    outbox.discard("ann", ["f3", "f4", "none"])
    assert [one.id for one in outbox.waiting()] == ["f40"]


def test_much_poison_in_a_row_does_not_block_for_ever(outbox: Outbox) -> None:
    store = InMemoryStore(Picky())
    outbox.add("ann", [fact(number, "poison") for number in range(10)])
    outbox.add("bob", [fact(1, "fine")])
    assert [outbox.flush(store) for _ in range(4)] == [0, 0, 0, 1]


def test_a_store_that_is_down_is_not_asked_for_each_record(outbox: Outbox) -> None:
    embedder = Picky()
    embedder.down = True
    store = InMemoryStore(embedder)
    outbox.add("ann", [fact(number, f"note {number}") for number in range(300)])
    assert outbox.flush(store) == 0
    assert embedder.calls == 4  # the first batch, and three of its records
    embedder.down = False
    assert outbox.flush(store) == 300
    assert store.count("ann") == 300


def test_what_cannot_be_read_is_shown(outbox: Outbox, store: InMemoryStore, tmp_path: Path) -> None:
    outbox.add("ann", [fact(1, "x"), fact(2, "y")])
    with closing(sqlite3.connect(tmp_path / "home" / "outbox.sqlite")) as database, database:
        database.execute("UPDATE queue SET record = '{}' WHERE id = 'f1'")
    assert outbox.flush(store) == 1
    (left,) = outbox.waiting()
    assert (left.id, left.tries) == ("f1", 1)
    assert "ValidationError" in left.error


@settings(max_examples=max(20, settings().max_examples // 50))
@given(
    st.lists(st.tuples(st.sampled_from(["ann", "bob"]), st.integers(0, 5), st.booleans()), max_size=12),
    st.data(),
)
def test_every_record_is_in_the_store_or_waits(
    adds: list[tuple[str, int, bool]], data: st.DataObject
) -> None:
    store = InMemoryStore(Picky())
    newest: dict[tuple[str, str], str] = {}
    with TemporaryDirectory() as folder, Outbox(Path(folder) / "outbox") as outbox:
        for step, (user, number, poison) in enumerate(adds):
            text = f"{'poison' if poison else 'note'} {step}"
            outbox.add(user, [fact(number, text)])
            newest[user, f"f{number}"] = text
            if data.draw(st.booleans()):
                outbox.flush(store)
        while outbox.flush(store):
            pass
        waits = {(one.user, one.id) for one in outbox.waiting()}
        stored = {(user, record.id): record.text for user in store.users() for record in store.records(user)}
    for key, text in newest.items():
        assert (key in waits) if "poison" in text else (stored[key] == text and key not in waits)


# ---- processes ------------------------------------------------------------------------------------

ADD = """
import os, signal, sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from taskloom.memory.outbox import Outbox
from tests.chroma_server import fact
outbox = Outbox(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    outbox.add("ann", [fact(number, f"note {number}")])
    print(number, flush=True)
if sys.argv[3] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def adding(path: Path, start: int, end: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ADD, path, str(start), end],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_process_loses_nothing(tmp_path: Path, store: InMemoryStore) -> None:
    path = tmp_path / "outbox"
    with adding(path, 0, "die") as process:
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    with Outbox(path) as outbox:
        assert {f"f{number}" for number in printed.split()} == {one.id for one in outbox.waiting()}
        assert outbox.flush(store) == 20


def test_several_processes_add(tmp_path: Path, outbox: Outbox, store: InMemoryStore) -> None:
    path = tmp_path / "home" / "outbox.sqlite"
    moved = 0
    with adding(path, 0, "") as one, adding(path, 100, "") as two:
        while one.poll() is None or two.poll() is None:
            moved += outbox.flush(store)
    moved += outbox.flush(store)
    assert (moved, store.count("ann")) == (40, 40)


def test_threads_flush_at_once(outbox: Outbox, store: InMemoryStore) -> None:
    def work(thread: int) -> int:
        moved = 0
        for number in range(10):
            outbox.add(f"user{thread}", [fact(number, f"note {number}")])
            moved += outbox.flush(store)
        return moved

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(work, range(6))) == 60
    assert outbox.waiting() == ()
    assert sum(store.count(user) for user in store.users()) == 60


def test_one_waits_for_another_only_so_long(
    tmp_path: Path, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "_PATIENCE", 0.2)
    entered, leave = threading.Event(), threading.Event()

    class Stuck(InMemoryStore):
        def put(self, user: str, records: Sequence[AnyRecord]) -> None:
            entered.set()
            leave.wait(30)

    with Outbox(tmp_path / "outbox") as one, Outbox(tmp_path / "outbox") as two:
        one.add("ann", [fact(1, "x")])
        thread = threading.Thread(target=one.flush, args=(Stuck(HashEmbedder()),))
        thread.start()
        assert entered.wait(30)
        two.add("ann", [fact(2, "can still be added")])
        for call in (lambda: two.flush(store), lambda: two.forget("ann"), lambda: two.discard("ann", ["f1"])):
            with pytest.raises(OutboxError, match="another process has been moving"):
                call()
        leave.set()
        thread.join()
        assert [one.id for one in two.waiting()] == ["f2"]


def test_a_server_that_dies_loses_no_record(tmp_path: Path, outbox: Outbox) -> None:
    running = ChromaServer(tmp_path / "chroma")
    with running, ChromaStore.server(running.url, HashEmbedder()) as store:
        outbox.add("ann", [fact(1, "one")])
        assert outbox.flush(store) == 1
        running.kill()
        outbox.add("ann", [fact(2, "two")])
        assert outbox.flush(store) == 0
        (left,) = outbox.waiting()
        assert "see that `chroma run` is up" in left.error
        with running:
            assert outbox.flush(store) == 1
            assert [record.id for record in store.records("ann")] == ["f1", "f2"]


# ---- files ----------------------------------------------------------------------------------------

MARK = "TRACELESS-ü"


def traces(folder: Path) -> list[str]:
    forms = (MARK.encode(), ascii(MARK)[1:-1].encode(), b"\\u00fc")
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files for form in forms if form in path.read_bytes()]


@pytest.mark.attack
def test_forget_leaves_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    with Outbox(path) as outbox, Outbox(path) as other:
        outbox.add(MARK, [fact(number, f"{MARK} {number} " * 50) for number in range(60)])
        outbox.add("bob", [fact(1, "stays")])
        store = InMemoryStore(Picky())
        other.add(MARK, [fact(7, f"poison {MARK}")])
        outbox.flush(store)
        assert traces(tmp_path)
        outbox.add("bob", [fact(1, "stays")])
        outbox.forget(MARK)
        assert traces(tmp_path) == []
        assert [one.user for one in other.waiting()] == ["bob"]
        other.add("bob", [fact(2, "more")])
        assert traces(tmp_path) == []
    assert traces(tmp_path) == []


def test_forgetting_under_a_reader_says_so(
    outbox: Outbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.add("ann", [fact(1, MARK)])
    queue: Any = outbox._queue
    queue._database.execute("PRAGMA busy_timeout = 100")
    with closing(sqlite3.connect(tmp_path / "home" / "outbox.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM queue").fetchall()
        with pytest.raises(OutboxError, match=r"forget again|locked"):
            outbox.forget("ann")
    outbox.forget("ann")
    assert traces(tmp_path) == []


def test_only_its_owner_reads_it(outbox: Outbox, tmp_path: Path) -> None:
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home" / "outbox.sqlite").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"not a database " * 100, None])
def test_what_is_no_queue(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "outbox"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(OutboxError, match=f"the queue {path} failed"):
        Outbox(path)


def test_one_that_waits_too_long_is_told_who_holds_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "_PATIENCE", 0.05)
    first, second = (outbox_module.QueueFile(tmp_path / "outbox.sqlite") for _ in range(2))
    with closing(first), closing(second), first.alone() as let_in:
        assert let_in
        with second.alone() as also:
            assert not also
        with pytest.raises(OutboxError, match="another process has been moving the records"):
            Outbox(second).forget("ann")
