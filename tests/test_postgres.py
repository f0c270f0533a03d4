"""TASKLOOM_DATABASE_URL: threads, what waits for long-term memory and calls are in PostgreSQL, a real one."""

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.graph.databases import open_journal, open_outbox
from taskloom.agent.graph.errors import DatabaseError
from taskloom.agent.graph.locks import ThreadBusyError
from taskloom.agent.graph.postgres import place_of
from taskloom.agent.settings import Settings
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom, shelf_of
from taskloom.agent.turn.state import Context
from taskloom.memory.outbox import OutboxError
from taskloom.memory.records import now
from taskloom.memory.store import InMemoryStore
from taskloom.tools.calls import Result
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import Entry
from tests.chroma_server import HashEmbedder, fact
from tests.postgres_server import PASSWORD, PostgresServer, rows
from tests.scripted import services


@pytest.fixture
def given(database: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", database_url=SecretStr(database), lock_timeout=60)


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """For what holds of both databases."""
    if request.param == "sqlite":
        return Settings(home=tmp_path / "home", lock_timeout=60)
    found: Settings = request.getfixturevalue("given")
    return found


@pytest.fixture
def talks(either: Settings) -> Iterator[Callable[[], Taskloom]]:
    """Opens the threads, as many times as processes would."""
    made: list[Taskloom] = []

    def opened() -> Taskloom:
        made.append(Taskloom(Threads(shelf_of(either), wait=either.lock_timeout), services()))
        return made[-1]

    yield opened
    for one in made:
        one.close()


# ---- the contract of threads ----------------------------------------------------------------------


def test_threads_are_gone_on_with_listed_and_deleted(talks: Callable[[], Taskloom]) -> None:
    one, two = talks(), talks()
    one.talk("task trip; put t1 place Rome", thread="a", context=Context(user_id="ann"))
    one.talk("task cart", thread="b/../c")
    for number in range(30):
        assert (
            two.talk(f"set t2 Paris{number}", thread="a", context=Context(user_id="ann")).number == number + 2
        )
    assert [state.value for state in one.tasks("a")["t2"].states()][-1] == "Paris29"
    assert [(info.thread, info.turns, info.title, info.user) for info in one.threads()] == [
        ("a", 31, "task trip; put t1 place Rome", "ann"), ("b/../c", 1, "task cart", "local")
    ]  # fmt: skip
    assert two.export("a") == one.export("a")
    two.delete("a")
    two.compact()
    assert [info.thread for info in one.threads()] == ["b/../c"]
    assert one.talk("task anew", thread="a").number == 1


def test_talks_of_two_at_once(talks: Callable[[], Taskloom]) -> None:
    apps = [talks(), talks()]
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda n: apps[n % 2].talk(f"task job{n}", thread="one"), range(18)))
    assert sorted(turn.number for turn in done) == list(range(1, 19))
    assert len(apps[0].tasks("one")) == 18


def test_a_thread_in_use_is_told(either: Settings) -> None:
    one, two = (Threads(shelf_of(either), wait=wait) for wait in (5, 0.1))
    two._shelf._wait = 0.1  # type: ignore[attr-defined]
    with one.lock("a"), pytest.raises(ThreadBusyError, match="'a' is in use"), two.lock("a"):
        pass
    one.close()
    two.close()


# ---- the contract of the queue and the journal ----------------------------------------------------


def test_what_waits_is_moved_once_in_its_newest_form(either: Settings) -> None:
    store = InMemoryStore(HashEmbedder())
    with open_outbox(either) as one, open_outbox(either) as two:
        one.add("b\ud800b", [fact(1, "nul \0 in it")])
        one.add("ann", [fact(1, "old"), fact(2, "other")])
        two.add("ann", [fact(1, "older still"), fact(1, "new")])
        assert (one.count(), two.count("ann"), one.count("ann", untried=True)) == (3, 2, 2)
        assert {waiting.id for waiting in two.waiting("ann")} == {"f1", "f2"}
        with ThreadPoolExecutor(4) as pool:
            moved = list(pool.map(lambda box: box.flush(store), (one, two, one, two)))
        assert sum(moved) == 3
        assert store.get("ann", ["f1"])["f1"].text == "new"
        assert one.waiting() == ()
        one.add("ann", [fact(3, "x"), fact(4, "y")])
        two.discard("ann", ["f3"])
        one.add("bob", [fact(1, "stays")])
        two.forget("ann")
        assert [waiting.user for waiting in one.waiting()] == ["bob"]


def test_what_was_forgotten_does_not_come_back(either: Settings) -> None:
    before = now()
    with open_outbox(either) as one, open_outbox(either) as two:
        for user in ("ann", "eve"):
            two.add(user, [fact(1, "x").model_copy(update={"at": before})])
        one.forget("ann")
        one.discard("eve", ["f1", "f1", "f2"])
        assert one.waiting() == ()
        after = now()
        for user in ("ann", "bob", "eve"):
            for number, at in ((1, before), (2, after), (3, before)):
                two.add(user, [fact(number, "x").model_copy(update={"at": at})])
        waiting = {user: [each.id for each in one.waiting(user)] for user in ("ann", "bob", "eve")}
        assert waiting == {"ann": ["f2"], "bob": ["f1", "f2", "f3"], "eve": ["f2", "f3"]}
        one.forget("ann")
        two.add("ann", [fact(4, "x").model_copy(update={"at": after})])
        assert one.waiting("ann") == ()


def test_what_a_store_refuses_stays_with_the_error(either: Settings) -> None:
    class Refusing(InMemoryStore):
        def put(self, *_: Any) -> None:
            raise RuntimeError("no room")

    with open_outbox(either) as box:
        box.add("ann", [fact(1, "x")])
        assert box.flush(Refusing(HashEmbedder())) == 0
        (left,) = box.waiting()
        assert (left.tries, left.error, box.count(untried=True)) == (1, "RuntimeError: no room", 0)


def test_a_call_is_begun_once(either: Settings) -> None:
    def entry(key: str, thread: str = "a", user: str = "ann") -> Entry:
        return Entry(key=key, user=user, thread=thread, turn=1, task="t1", tool="book", args={"x": "\0"})

    journals = [open_journal(either) for _ in range(2)]
    with ThreadPoolExecutor(6) as pool:
        for key in ("k1", "k2", "k3"):
            begun = list(pool.map(lambda n, key=key: journals[n % 2].begin(entry(key)) is None, range(6)))
            assert sum(begun) == 1
    one, two = journals
    done = Result(status="done", text="booked")
    one.end("k2", done)
    assert [(call.key, call.result) for call in two.open("a")] == [("k1", None), ("k2", done), ("k3", None)]
    for key, thread in (("k4", "a/clerk/k1"), ("k5", "a/clerk/k10"), ("k6", "k1"), ("k7", "\0")):
        one.begin(entry(key, thread, "bob"))
    two.close(["k1", "never there"])
    assert [call.key for call in one.entries()] == ["k2", "k3", "k5", "k6", "k7"]
    assert [call.key for call in one.open("\0")] == ["k7"]
    assert two.forget("ann") == 2
    assert [call.key for call in one.entries()] == ["k5", "k6", "k7"]
    for journal in journals:
        journal.shut()


# ---- the server goes away -------------------------------------------------------------------------


def test_connections_that_were_cut_are_made_anew(given: Settings, database: str) -> None:
    with Taskloom(Threads(shelf_of(given), wait=5), services()) as app, open_outbox(given) as box:
        app.talk("task trip", thread="a")
        box.add("ann", [fact(1, "x")])
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert app.talk("set t1 x", thread="a").number == 2
        assert box.count() == 1


# ---- credentials ----------------------------------------------------------------------------------

SECRET = "open-sesame"


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://ann:{SECRET}@127.0.0.1/x",
        f"postgresql+psycopg://ann:{SECRET}@127.0.0.1/x",
        f"postgresql://ann:p/{SECRET}@127.0.0.1/x",
        f"postgresql://ann:1/{SECRET}@127.0.0.1/x",
        f"postgresql://ann:p@{SECRET}@127.0.0.1/x",
        f"postgresql://ann@127.0.0.1/x?{SECRET}",
        f"host=127.0.0.1 {SECRET}",
        SECRET,
    ],
)
def test_a_url_that_is_none_is_told_without_what_is_in_it(url: str) -> None:
    with pytest.raises(DatabaseError, match="TASKLOOM_DATABASE_URL is not of the form") as told:
        place_of(url)
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None


@pytest.mark.parametrize("wrong", ["password", "database", "port"])
def test_what_is_wrong_is_told_and_the_password_never(
    wrong: str, postgres: PostgresServer, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    url = {
        "password": database.replace(PASSWORD, f"{PASSWORD}-not"),
        "database": postgres.url("nowhere"),
        "port": database.replace(str(postgres.port), "9"),
    }[wrong]
    words = {
        "password": "password authentication failed", "database": '"nowhere" does not exist',
        "port": "refused",
    }[wrong]  # fmt: skip
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TASKLOOM_DATABASE_URL", url)
    printed = []
    for command in (["threads", "--json"], ["doctor"], ["memory", "stats"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code != 0, command
        assert words in " ".join(done.output.split()), command
        printed.append(done.output)
    given = Settings()
    for opened, error in ((open_outbox, OutboxError), (open_journal, ToolError), (shelf_of, DatabaseError)):
        with pytest.raises(error) as told:
            opened(given)
        printed.append(str(told.value))
    assert PASSWORD not in "".join((*printed, caplog.text, repr(given), str(given)))


# ---- the terminal ---------------------------------------------------------------------------------


def test_the_terminal_keeps_all_of_it_there_and_forgets_it(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("TASKLOOM_HOME", str(home))
    monkeypatch.setenv("TASKLOOM_DATABASE_URL", database)
    script = tmp_path / "script.json"

    def run(*command: str) -> str:
        done = CliRunner().invoke(app, list(command))
        assert done.exit_code == 0, done.output
        assert PASSWORD not in done.output
        return done.output

    script.write_text(json.dumps(["Plan a trip to Zanzibar on June 10th"]))
    run("run", str(script), "--json")
    assert rows(database, "Zanzibar") == []  # nothing is kept unless one says so
    run("run", str(script), "--thread", "t-ann", "--user", "ann-of-oslo")
    script.write_text(json.dumps(["Plan a trip to Bergen on June 12th"]))
    run("run", str(script), "--thread", "t-ben", "--user", "ben-of-rome")
    assert {one["thread"] for one in json.loads(run("threads", "--json"))} == {"t-ann", "t-ben"}
    assert "Zanzibar" in run("export", "--thread", "t-ann")
    assert "2 in PostgreSQL at 127.0.0.1:" in " ".join(run("doctor").split())
    assert not list(home.glob("*.sqlite*"))
    given = Settings()
    with open_outbox(given) as box:  # what is still on its way, and a call of which no turn has told
        box.add("ann-of-oslo", [fact(9, "Zanzibar")])
    args, journal = {"to": "Zanzibar"}, open_journal(given)
    journal.begin(Entry(key="k", user="ann-of-oslo", thread="x", turn=1, task="t1", tool="book", args=args))
    journal.shut()
    assert {table for table, _ in rows(database, "ann-of-oslo", "t-ann", "Zanzibar")} >= {
        "checkpoints", "checkpoint_writes", "queue", "calls"
    }  # fmt: skip
    run("memory", "forget", "--all", "--threads", "--yes", "--user", "ann-of-oslo")
    assert rows(database, "ann-of-oslo", "t-ann", "Zanzibar") == []
    assert "Bergen" in run("export", "--thread", "t-ben")
