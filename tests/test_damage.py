"""Files that are damaged at any place: each command says so in words, or gives what was there."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taskloom.agent.cli.main import app
from taskloom.agent.graph.databases import OUTBOX
from taskloom.agent.graph.wiring import JOURNAL
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.memory.errors import StoreError, explained
from taskloom.tools.journal import FileJournal

pytestmark = pytest.mark.attack

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
TRIALS = 153 if FULL else 15
SAID = ("Plan a trip to Rome on June 10th", "The hotel is the Ritz", "Make it June 12th")
COMMANDS = (
    ("threads", "--json"), ("tasks", "--thread", "a", "--format", "json"), ("export", "--thread", "a"),
)  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("kept")
    with Taskloom.open(Settings(home=home, memory=False)) as talk:
        for thread in "ab":
            for words in SAID:
                talk.talk(words, thread=thread)
        talk.compact()  # nothing in the log
    return home


def flipped(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 8))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def zeroed(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) - 64)
    data[at : at + 64] = bytes(64)


def noisy(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) - 64)
    data[at : at + 64] = chance.randbytes(64)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def mixed(data: bytearray, chance: random.Random) -> None:
    """One page in the place of another."""
    one, other = (chance.randrange(len(data) // 4096) * 4096 for _ in "ab")
    data[one : one + 4096] = data[other : other + 4096]


DAMAGES = (flipped, zeroed, noisy, cut, mixed)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_threads(
    damage: Callable[[bytearray, random.Random], None],
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests,
) -> None:  # fmt: skip
    home, whole = tmp_path / "home", (kept / "threads.sqlite").read_bytes()
    monkeypatch.setenv("TASKLOOM_HOME", str(home))
    for trial in range(TRIALS // len(DAMAGES)):
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(kept, home)
        data, chance = bytearray(whole), random.Random(f"{damage.__name__} {trial}")
        damage(data, chance)
        (home / "threads.sqlite").write_bytes(data)
        for command in COMMANDS:
            with subtests.test(trial=trial, command=command[0]):
                done = CliRunner().invoke(app, command)
                assert "please report" not in done.output
                assert "Traceback" not in done.output
                if done.exit_code == 0 and command[0] == "tasks":
                    json.loads(done.output)
                elif done.exit_code:
                    assert done.output.startswith("taskloom: "), done.output


COLUMNS = [("checkpoints", "type"), ("checkpoints", "checkpoint"), ("checkpoints", "metadata"),
           ("writes", "type"), ("writes", "value")]  # fmt: skip


PUT = (b"msgpack", b"ms", b"", b"\xff\xfe\x00", b"[" * 5000, None)


@pytest.mark.parametrize("put", PUT if FULL else PUT[:2])
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_rows_of_a_sound_file(
    table: str, column: str, put: bytes | None, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(kept, home)
    with closing(sqlite3.connect(home / "threads.sqlite")) as connection:
        value = put.decode("latin-1") if put is not None and column == "type" else put
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))  # noqa: S608  # names of this file
        connection.commit()
    monkeypatch.setenv("TASKLOOM_HOME", str(home))
    for command in COMMANDS:
        done = CliRunner().invoke(app, command)
        assert "please report" not in done.output, done.output
        assert "is damaged" in done.output or not done.exit_code, done.output


@pytest.mark.parametrize("file", ["threads.sqlite", OUTBOX, JOURNAL])
def test_a_schema_of_no_letters_is_told(file: str, home: Path) -> None:
    """SQLite puts it into its error, whose words Python then cannot read."""
    with Taskloom.open(Settings(home=home)) as talk:
        talk.talk(SAID[0], thread="a")
    FileJournal(home / JOURNAL).shut()
    whole = (home / file).read_bytes()
    (home / file).write_bytes(whole.replace(b"CREATE TABLE ", b"CREATE \xf5ABLE "))
    shown = {
        command: " ".join(CliRunner().invoke(app, command.split(), input="Where?\n").output.split())
        for command in ("threads", "export --thread a", "chat --thread a", "memory stats", "doctor")
    }
    assert {command for command, told in shown.items() if "please report" in told or not told} == set()
    assert "damaged" in shown["doctor"]
    assert (file != "threads.sqlite") or all(
        "damaged" in shown[one] for one in ("threads", "export --thread a")
    )


def test_what_panics_below_chroma_is_told_and_an_interruption_passes() -> None:
    panic = type("PanicException", (BaseException,), {})  # as PyO3 raises it: no `Exception`
    with pytest.raises(StoreError, match=r"failed: .*Utf8Error.*: the file is damaged"), explained("here"):
        raise panic("called `Result::unwrap()` on an `Err` value: ColumnDecode { Utf8Error }")
    with pytest.raises(KeyboardInterrupt), explained("here"):
        raise KeyboardInterrupt
