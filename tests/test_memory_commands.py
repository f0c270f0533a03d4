"""`taskloom memory`: the commands on a real store under a home of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.cli.memory import LOCAL
from taskloom.agent.graph.wiring import JOURNAL, longterm_of
from taskloom.agent.parts.kept_folder import kept_folder
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.settings import Settings, settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from taskloom.memory.records import Experience, Fact, IntentUnit, Pair, Stream, read_record
from taskloom.memory.store import ChromaStore
from taskloom.memory.tasks import TaskGraph
from taskloom.tools.journal import Entry, FileJournal
from tests.chroma_server import HashEmbedder

TASKLOOM = Path(sys.executable).with_name("taskloom")
COMMANDS = ("list", "search", "show", "forget", "export", "import", "stats", "reembed")
START = datetime(2026, 5, 1, 12, tzinfo=UTC)
Invoke = Callable[..., Result]

UNIT = IntentUnit(
    id="u1aaaaaaaaaa", text="book a hotel in Bergen", at=START, thread="a", intent="hotel",
    title="book a hotel",
    pairs=(Pair(slot="location", question="Where?", answer="Bergen", title="location"),
           Pair(slot="item1", question="What?", answer="sea view", title="sea view", member=True)),
)  # fmt: skip
PLAIN = UNIT.model_copy(
    update={"id": "u2bbbbbbbbbb", "pairs": (), "title": "water \x1b[31mplants", "text": "water plants"}
)
FACT = Fact(id="f1cccccccccc", text="The user lives in Oslo.", at=START + timedelta(1), thread="a")
FORMER = FACT.model_copy(update={"id": "f2dddddddddd", "status": "former", "text": "It was TX-42."})
DONE = Experience(
    id="e1eeeeeeeeee", text="Shift it to Friday", at=START + timedelta(2), execution=({"act": "set"},),
    status="confirmed",
)  # fmt: skip
ALL = (UNIT, PLAIN, FACT, FORMER, DONE)


@pytest.fixture
def invoke(home: Path) -> Invoke:
    """Run `taskloom memory ...`; the exit code is checked."""

    def run(*args: str | Path, code: int = 0, **more: Any) -> Result:
        result = CliRunner().invoke(app, ["memory", *(str(arg) for arg in args)], **more)
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def filled(home: Path, invoke: Invoke) -> Path:
    """A home in which a user has a record of each form."""
    with opened(home) as longterm:
        longterm.store.put("local", ALL)
    return home


class opened:  # noqa: N801  # used as a function
    """The long-term memory of a home, for a while."""

    def __init__(self, home: Path) -> None:
        found = longterm_of(Settings(home=home))
        assert found is not None
        self.longterm = found

    def __enter__(self) -> LongTerm:
        return self.longterm

    def __exit__(self, *_: object) -> None:
        self.longterm.close()


def ids(result: Result) -> list[str]:
    return [record["id"] for record in json.loads(result.stdout)]


# ---- looking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_80_columns(command: str, invoke: Invoke) -> None:
    shown = invoke(command, "--help").output
    assert f"  taskloom memory {command}" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_help_names_all_commands_and_loads_little(home: Path) -> None:
    shown = subprocess.run([TASKLOOM, "memory", "--help"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  (\w+)  ", shown.split("Commands:")[1], re.MULTILINE) == list(COMMANDS)
    code = (
        "import sys, taskloom.agent.cli.memory as c;"
        "print({'langgraph', 'pydantic', 'rich', 'chromadb', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_ids_are_whole_however_long_the_words_are(
    filled: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(filled) as longterm:
        longterm.store.put("local", [FACT.model_copy(update={"id": "f9999999", "text": "very long " * 20})])
    monkeypatch.setenv("COLUMNS", "80")
    lines = invoke("list").stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert {line.split()[0] for line in lines[1:]} == {one.id[:8] for one in ALL} | {"f9999999"}


def test_list_shows_a_line_for_each_record(filled: Path, invoke: Invoke) -> None:
    shown = invoke("list").stdout
    assert "book a hotel (location Bergen and sea" in shown
    assert "(former) It was TX-42." in shown
    assert "Shift it to Friday -> set" in shown
    assert "\x1b" not in shown, "nothing that a terminal would act on"
    assert "u1aaaaaa" in shown
    assert ids(invoke("list", "--json")) == [one.id for one in ALL]
    assert ids(invoke("list", "--json", "--kind", "fact")) == [FACT.id, FORMER.id]
    assert [read_record(one) for one in json.loads(invoke("list", "--json").stdout)] == list(ALL)


def test_of_another_user_there_is_nothing(filled: Path, invoke: Invoke) -> None:
    assert "Nothing is remembered of 'eve' yet." in invoke("list", "--user", "eve").stdout
    assert invoke("list", "--user", "eve", "--json").stdout == "[]\n"
    assert "Nothing like that" in invoke("search", "Bergen", "--user", "eve").stdout
    assert "no record" in invoke("show", UNIT.id, "--user", "eve", code=2).stderr
    assert "no record" in invoke("forget", UNIT.id, "--user", "eve", code=2).stderr
    assert invoke("export", "--user", "eve").stdout == ""
    assert json.loads(invoke("stats", "--json").stdout)[0]["user"] == "local"


def test_search_finds_words_and_meaning(filled: Path, invoke: Invoke) -> None:
    assert ids(invoke("search", "TX-42", "--json"))[0] == FORMER.id
    found = json.loads(
        invoke("search", "a room in Bergen", "--kind", "unit", "--limit", "1", "--json").stdout
    )
    assert [one["id"] for one in found] == [UNIT.id]
    assert isinstance(found[0]["score"], float)
    assert "The user lives in Oslo." in invoke("search", "where do I live", "--kind", "fact").stdout
    assert "TEXT" in invoke("search", "  ", code=2).stderr
    assert "--limit" in invoke("search", "x", "--limit", "0", code=2).stderr
    assert "--kind" in invoke("list", "--kind", "task", code=2).stderr


def test_show_takes_the_beginning_of_an_id(filled: Path, invoke: Invoke) -> None:
    assert read_record(invoke("show", "u1").stdout) == UNIT
    assert "there is no record 'zzz'" in invoke("show", "zzz", code=2).stderr
    assert "2 records begin with 'u'" in invoke("show", "u", code=2).stderr


def test_stats_count_by_user_and_kind_and_what_waits(filled: Path, invoke: Invoke) -> None:
    with opened(filled) as longterm:
        longterm.store.put("bob", [FACT])
    (bob, local) = json.loads(invoke("stats", "--json").stdout)
    assert bob == {"user": "bob", "experience": 0, "fact": 1, "unit": 0, "scene": 0, "waiting": 0}
    assert local == {"user": "local", "experience": 1, "fact": 2, "unit": 2, "scene": 0, "waiting": 0}
    shown = invoke("stats").stdout
    assert "waiting" in shown
    assert "bob" in shown


def test_an_empty_memory_is_said_to_be_one(invoke: Invoke) -> None:
    assert "Nothing is remembered yet." in invoke("stats").stdout
    assert invoke("stats", "--json").stdout == "[]\n"
    assert "Nothing is remembered of 'local' yet." in invoke("list").stdout
    assert "All is embedded" in invoke("reembed").stdout


# ---- errors of all commands -----------------------------------------------------------------------

CALLS: tuple[tuple[str, ...], ...] = (
    ("list",), ("search", "x"), ("show", "u1"), ("forget", "u1"), ("forget", "--all", "--yes"), ("export",),
    ("import", "-"), ("reembed",),
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
@pytest.mark.parametrize("user", ["", "  "])
def test_a_user_has_a_name(call: tuple[str, ...], user: str, invoke: Invoke) -> None:
    assert "give the name of a user" in invoke(*call, "--user", user, code=2).stderr


@pytest.mark.parametrize("call", [*CALLS, ("stats",)], ids=" ".join)
def test_with_memory_off_the_setting_is_named(
    call: tuple[str, ...], invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKLOOM_MEMORY", "0")
    settings.cache_clear()
    assert "TASKLOOM_MEMORY=1" in invoke(*call, code=2).stderr
    assert not (home / "memory").exists()


def test_a_memory_that_is_not_let_go_of_is_told(
    filled: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKLOOM_LOCK_TIMEOUT", "0.2")
    with FileLock(filled / "memory" / ".lock"):
        for call in CALLS:
            assert "chroma run" in invoke(*call, code=1, input="").stderr


def test_a_memory_that_is_open_elsewhere_is_at_hand(filled: Path, invoke: Invoke) -> None:
    with opened(filled) as longterm:
        assert longterm.store.count("local") == len(ALL)
        for call in CALLS:
            invoke(*call, input="")
        assert longterm.store.count("local") == 0


# ---- export and import ----------------------------------------------------------------------------


def test_what_is_exported_can_be_imported(filled: Path, invoke: Invoke, tmp_path: Path) -> None:
    lines = invoke("export").stdout
    assert [read_record(line) for line in lines.splitlines()] == list(ALL)
    path = tmp_path / "memory.jsonl"
    assert f"Wrote 5 records to {path}." in invoke("export", path).stderr
    assert path.read_text() == lines
    assert "Read 5 records." in invoke("import", path, "--user", "bob").stdout
    assert "Read 5 records." in invoke("import", "-", "--user", "bob", input=f"\n{lines}\n").stdout
    assert invoke("export", "--user", "bob").stdout == lines


def test_the_count_of_steps_goes_along_and_never_back(
    filled: Path, home: Path, invoke: Invoke, tmp_path: Path
) -> None:
    with opened(home) as longterm:
        longterm.store.put_stream("local", Stream(steps=7, latest=("e7",)))
        longterm.store.put_stream("eve", Stream(steps=9))
    path = tmp_path / "memory.jsonl"
    assert "Wrote 5 records" in invoke("export", path).stderr
    for user in ("bob", "eve"):
        assert "Read 5 records." in invoke("import", path, "--user", user).stdout
    with opened(home) as longterm:
        assert longterm.store.stream("bob") == Stream(steps=7, latest=("e7",))
        assert longterm.store.stream("eve") == Stream(steps=9)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("no json", ":2: not a record"),
        ("{}", ":2: not a record"),
        ('{"kind": "unit"}', ":2: not a record: unit.id: Field required"),
        ('{"kind": "task", "id": "x"}', ":2: not a record"),
        (FACT.model_dump_json().replace("lives", "").replace(FACT.id, ""), ":2: not a record: fact.id"),
        (FACT.model_dump_json().replace("2026-05-02T12:00:00Z", "yesterday"), ":2: not a record: fact.at"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(
    second: str, told: str, invoke: Invoke, tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(f"{UNIT.model_dump_json()}\n{second}\n")
    error = invoke("import", path, code=2).stderr
    assert f"{path}{told}" in error.replace("\n", "")
    assert "Nothing is remembered" in invoke("list").stdout, "all of it or nothing"


def test_a_file_that_is_not_there_is_told(invoke: Invoke, tmp_path: Path) -> None:
    assert "no such file" in invoke("import", tmp_path / "none.jsonl", code=2).stderr
    assert "no such file" in invoke("export", tmp_path / "none" / "m.jsonl", code=2).stderr


# ---- another embedder -----------------------------------------------------------------------------


def test_an_index_of_another_embedder_is_refused_until_it_is_made_anew(home: Path, invoke: Invoke) -> None:
    with ChromaStore.embedded(home / "memory", HashEmbedder()) as store:
        store.put("local", [UNIT, FACT])
        store.put("bob", [FACT])
    assert "taskloom memory reembed" in invoke("search", "Bergen", code=1).stderr.replace("\n", " ")
    assert "Embedded 1 record anew." in invoke("reembed", "--user", "bob").stdout
    assert "Embedded 2 records anew." in invoke("reembed").stdout
    assert "All is embedded" in invoke("reembed").stdout
    assert ids(invoke("search", "a room in Bergen", "--limit", "1", "--json")) == [UNIT.id]


# ---- forgetting -----------------------------------------------------------------------------------


def holding(folder: Path, words: bytes) -> list[Path]:
    """The files under a folder that hold some words, in any case, in UTF-16 and compressed too."""
    wide = words.decode().encode("utf-16-le")
    found = []
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        shown = b"\n".join([data, *inflated(data)]).lower()
        if words.lower() in shown or wide.lower() in shown:
            found.append(path)
    return found


def inflated(data: bytes) -> Iterator[bytes]:
    """What the compressed payloads of a database hold, each as far as it lies in one piece."""
    for start in re.finditer(b"x\x01", data):
        stream, text = zlib.decompressobj(), b""
        try:
            for at in range(start.start(), min(len(data), start.start() + 20_000), 64):
                text += stream.decompress(data[at : at + 64])
        except zlib.error:
            pass
        yield text


@pytest.mark.attack
def test_forget_takes_single_records_with_their_bytes(filled: Path, invoke: Invoke) -> None:
    assert holding(filled, b"Bergen")
    assert "Forgot 2 records." in invoke("forget", "u1", "u1aaaa", "e1").stdout
    assert ids(invoke("list", "--json")) == [PLAIN.id, FACT.id, FORMER.id]
    assert holding(filled, b"sea view") == []
    assert holding(filled, b"Shift it") == []
    assert holding(filled, b"TX-42")


@pytest.mark.attack
def test_forget_with_threads_takes_the_journal_of_calls_too(filled: Path, invoke: Invoke) -> None:
    journal = FileJournal(filled / JOURNAL)
    for user in (LOCAL, "eve"):
        args = {"note": f"surprise for {user}"}
        journal.begin(Entry(key=user, user=user, thread="a", turn=1, task="t1", tool="book", args=args))
    invoke("forget", "--all", "--yes")
    assert holding(filled, b"surprise for local")
    invoke("forget", "--all", "--threads", "--yes")
    assert holding(filled, b"surprise for local") == []
    assert [entry.user for entry in journal.entries()] == ["eve"]
    journal.shut()


def test_forget_wants_to_know_what(filled: Path, invoke: Invoke) -> None:
    for call in (("forget",), ("forget", "u1", "--all")):
        assert "name the records to forget, or say --all" in invoke(*call, code=2).stderr
    assert "--threads goes with --all" in invoke("forget", "u1", "--threads", code=2).stderr
    assert "2 records begin with 'u'" in invoke("forget", "e1", "u", code=2).stderr
    asked = invoke("forget", "--all", code=1, input="n\n")
    assert "Forget 5 records of 'local' for good?" in asked.output
    assert len(ids(invoke("list", "--json"))) == len(ALL), "nothing of it"
    assert "Forgot 5 records." in invoke("forget", "--all", input="y\n").stdout
    assert "Nothing is remembered" in invoke("list").stdout


MINE, THEIRS = "Zyxquartz", "Wvuobsidian"


@pytest.mark.attack
def test_forgetting_all_with_threads_leaves_no_byte_of_one_user_and_all_of_the_other(
    home: Path, invoke: Invoke
) -> None:
    talk = [
        "Book a hotel in {} for two people", "The budget is 200 euros", "Make a list: {}milk, eggs",
        "Friday suits everybody far better for {}, I feel", "What is the budget of {}?", "The hotel is done",
    ]  # fmt: skip
    with Taskloom.open(Settings(home=home)) as app:
        for user, word in (("ann", MINE), ("bob", THEIRS)):
            for line in talk:
                app.talk(line.format(word), thread=f"{user} one", context=Context(user_id=user))
            app.talk("Same again", thread=f"{user} two", context=Context(user_id=user))
            made = {"command": "create", "path": f"/memories/{word}", "file_text": word}
            kept_folder(app, user=user).carry_out(made)
        app.talk(f"Plan a trip to {MINE} on Friday", thread="ann two", context=Context(user_id="ann"))
    places = {path.relative_to(home).parts[0] for path in holding(home, MINE.encode())}
    assert {"memory", "threads.sqlite"} <= places
    kept = holding(home, THEIRS.encode())
    assert {"memory", "threads.sqlite"} <= {path.relative_to(home).parts[0] for path in kept}

    with Taskloom.open(Settings(home=home)) as app:
        threads = {info.thread for info in app.threads()}
    assert threads == {"ann one", "ann two", "bob one", "bob two"}
    told = invoke("forget", "--all", "--threads", "--yes", "--user", "ann").stdout
    assert re.fullmatch(r"Forgot \d+ records, 1 file and 2 threads\.\n", told)

    assert holding(home, MINE.encode()) == []
    assert home / "threads.sqlite" in holding(home, THEIRS.encode())
    with Taskloom.open(Settings(home=home)) as app:
        assert {info.thread for info in app.threads()} == {"bob one", "bob two"}
        assert any(THEIRS in (node.value or node.title) for node in app.tasks("bob one").values())
    assert json.loads(invoke("list", "--user", "ann", "--json").stdout) == []
    records = json.loads(invoke("list", "--user", "bob", "--json").stdout)
    assert THEIRS in json.dumps(records)
    assert {record["kind"] for record in records} == {"unit", "fact", "experience"}
    assert home / "outbox.sqlite" in holding(home, THEIRS.encode())


def test_without_threads_the_talk_stays(home: Path, invoke: Invoke) -> None:
    with Taskloom.open(Settings(home=home)) as app:
        app.talk(f"Book a hotel in {MINE}", thread="a")
    assert "Forgot" in invoke("forget", "--all", "--yes").stdout
    with Taskloom.open(Settings(home=home)) as app:
        assert [node.value for node in app.tasks("a").values()] == [None, MINE]
    assert "Nothing is remembered" in invoke("list").stdout


def test_what_waits_is_counted_and_forgotten_too(home: Path, invoke: Invoke) -> None:
    with opened(home) as longterm:
        longterm.outbox.add("local", [UNIT, FACT])
        longterm.outbox.add("bob", [DONE])
    told = invoke("forget", "--all", "--yes").stdout
    assert "Forgot 2 records." in told
    assert holding(home, b"Bergen") == []
    assert holding(home, b"Shift it")


MIA = {"kind": "fact", "id": "f1", "text": "Mia likes tea", "at": "2026-05-01T00:00:00+00:00"}
BOOKED = {
    "kind": "unit", "id": "u1", "text": "book a hotel", "at": "2026-05-01T00:00:00+00:00", "intent": "hotel",
    "title": "book a hotel", "thread": "old",
    "pairs": [{"slot": "hotel.location", "question": "Where?", "answer": "Bergen"}],
}  # fmt: skip
EVIL = "Ber\x1b[2Jgen\u202e \x9b"
READ_IN: dict[str, list[dict[str, Any]]] = {
    "what steers": [
        {**MIA, "text": f"Mia likes {EVIL}", "id": "f\x1b1", "people": ["Mia\0"], "thread": "\0"},
        {**BOOKED, "title": f"book {EVIL}",
         "pairs": [{"slot": "hotel.\x1b", "question": "\x9b", "answer": EVIL}]},
    ],
    "odd slots": [{**BOOKED, "pairs": [
        {"slot": "", "question": "", "answer": ""},
        {"slot": "a" * 5000, "question": "q", "answer": "b" * 100_000},
        {"slot": "../..", "question": "q", "answer": "c\nd"},
    ]}],
    "a circle": [
        {**MIA, "rests_on": ["f2"]}, {**MIA, "id": "f2", "text": "Mia likes milk", "rests_on": ["f1"]},
    ],
    "itself": [{**MIA, "rests_on": ["f1", "nope"]}],
    "one id twice": [MIA, {**MIA, "text": "Mia likes milk"}, {**BOOKED, "id": "f1"}],
    "blank": [{**MIA, "text": " \n"}],
    "very long": [{**MIA, "text": "Mia likes tea " * 20_000}],
}  # fmt: skip
REFUSED: dict[str, list[dict[str, Any]]] = {
    "year 1": [{**MIA, "at": "0001-01-01T00:00:00+14:00"}],
    "year 9999": [{**BOOKED, "at": "9999-12-31T23:59:59-12:00"}],
    "an end without end": [{**MIA, "until": "9999-12-31T23:59:59-12:00"}],
}
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.attack
@pytest.mark.parametrize("named", [*READ_IN, *REFUSED])
def test_records_that_are_read_in_harm_no_command_and_no_turn(
    named: str, home: Path, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "m.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in (READ_IN | REFUSED)[named]))
    if named in REFUSED:
        assert "must be between the years 1000 and 9000" in invoke("import", str(file), code=2).stderr
        return
    invoke("import", str(file))
    shown = [
        invoke(*call).output for call in (("list",), ("list", "--json"), ("export",), ("search", "Mia hotel"))
    ]
    assert [STEERS.findall(text) for text in shown] == [[]] * 4
    with Taskloom.open(Settings(home=home)) as talk:
        for words in ("What did I book?", "Book a hotel, same as last time", "What do you know about Mia?"):
            assert talk.talk(words, thread="z").reply
        assert TaskGraph.from_json(talk.export("z")).faults() == []
