"""The command line: through CliRunner where words do not matter, through processes for the real thing."""

import errno
import io
import json
import os
import pty
import re
import resource
import select
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from filelock import FileLock, Timeout
from rich.console import Console
from typer.testing import CliRunner, Result

from taskloom.agent.cli.chat import Chat, write_file
from taskloom.agent.cli.deciding import WANTED
from taskloom.agent.cli.doctor import Finding
from taskloom.agent.cli.main import app, main
from taskloom.agent.cli.problems import InputError, explain
from taskloom.agent.cli.screen import Stream, find_tasks, safe, task_history, task_tree
from taskloom.agent.cli.script import Line, Played, read_script
from taskloom.agent.graph.plain import DamagedError
from taskloom.agent.graph.wiring import JOURNAL
from taskloom.agent.threads.store import ThreadBusyError, Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Change, Context, Turn
from taskloom.memory.operations import (
    Add,
    Complete,
    Inactivate,
    Link,
    Operation,
    Remove,
    Replace,
    Restore,
    Update,
    apply,
)
from taskloom.memory.outbox import Outbox
from taskloom.memory.records import IntentUnit, now
from taskloom.memory.tasks import GraphError, TaskGraph
from taskloom.tools.journal import Entry, FileJournal
from tests.openai_server import Fault, OpenAIServer, Reply, Say, Trickle
from tests.scripted import services

TASKLOOM = Path(sys.executable).with_name("taskloom")
COMMANDS = (
    "chat", "run", "demo", "threads", "usage", "tasks", "export", "import", "prune", "doctor", "mcp",
    "memory", "tools", "video",
)  # fmt: skip
Invoke = Callable[..., Result]


@pytest.fixture
def invoke(home: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run a command with the scripted interpreter; the exit code is checked."""
    monkeypatch.setattr("taskloom.agent.threads.taskloom.default_services", lambda given, **_: services())

    def run(*args: str | Path, code: int = 0, **more: Any) -> Result:
        result = CliRunner().invoke(app, [str(arg) for arg in args], **more)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def script(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any) -> Path:
        path = tmp_path / "script.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# ---- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_80_columns(command: str, invoke: Invoke) -> None:
    shown = invoke(command, "--help").output
    assert f"  taskloom {command}" in shown or f" | taskloom {command}" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_help_lists_every_command_and_loads_little() -> None:
    shown = subprocess.run([TASKLOOM, "--help"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  (\w+)  ", shown.split("Commands:")[1], re.MULTILINE) == list(COMMANDS)
    heavy = {"langgraph", "langchain_core", "pydantic", "rich", "yaml", "jsonschema", "prompt_toolkit"}
    code = f"import sys, taskloom.agent.cli.main; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_first_turn_loads_little(home: Path) -> None:
    heavy = {"chromadb", "networkx", "langchain_openai", "jsonschema", "taskloom.agent.recall.recordings"}
    code = f"""import sys
from taskloom.agent.threads.taskloom import Taskloom
with Taskloom.open() as app:
    print(app.talk("Plan a trip to Rome").reply)
    print({heavy} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    planned, loaded = done.stdout.splitlines()
    assert "Rome" in planned
    assert loaded == "set()"


def test_version(invoke: Invoke) -> None:
    assert re.fullmatch(r"taskloom \d+\.\d+\.\d+\n", invoke("--version").output)


def test_a_mistyped_command_is_told(invoke: Invoke) -> None:
    assert "No such command 'caht'" in invoke("caht", code=2).output


# ---- scripts --------------------------------------------------------------------------------------


def test_scripts_can_have_every_form_of_entry() -> None:
    text = b'\xef\xbb\xbf["a", {"user": "b", "note": "n", "active_has": []}, {"session": "next"}, "c"]'
    lines = read_script(text, "x")
    assert [(line.session, line.user, line.note) for line in lines] == [
        (1, "a", ""),
        (1, "b", "n"),
        (2, "c", ""),
    ]
    assert read_script('{"name": "case", "turns": [{"user": "a"}]}', "x")[0].user == "a"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('["a",\n  oops]', "x:2:3: not JSON: Expecting value"),
        ("", "x:1:1: not JSON"),
        (b"\xff\xfe", "x: not UTF-8 text (byte 0)"),
        ("[" * 100_000, "nested too deeply"),
        ('{"talk": []}', "x: expected a list of entries"),
        ("3", "x: expected a list of entries"),
        ("[]", "x: nothing to say in it"),
        ('[{"session": "next"}]', "x: nothing to say in it"),
        ('["a", 3]', "x: entry 2 is 3; expected a text"),
        ('[{"session": "last"}]', 'x: entry 1 is {"session": "last"}'),
        ('[{"user": 1}]', "x: entry 1"),
        (json.dumps([["a" * 100]]), "aaa…; expected"),
    ],
)
def test_scripts_that_cannot_be_read_are_told_with_the_place(text: str | bytes, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        read_script(text, "x")


def test_run_prints_one_object_a_turn(invoke: Invoke, script: Callable[[Any], Path], home: Path) -> None:
    path = script(
        ["task trip", "put t1 place Rome; set t2 Päris", "ask t2", "which", {"session": "next"}, "drop t9"]
    )
    turns = rows(invoke("run", path, "--json").stdout)
    assert [(turn["turn"], turn["session"]) for turn in turns] == [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2)]
    first, second, third, fourth, fifth = turns
    assert second["user"] == "put t1 place Rome; set t2 Päris"
    assert second["reply"] == "[2 tasks] add: ok. update: ok."
    assert [(op["intent"], op["kind"], op["target"], op["slot"]) for op in second["operations"]] == [
        ("new", "add", "t2", "trip.place"), ("update", "update", "t2", "trip.place")
    ]  # fmt: skip
    assert (first["model_calls"], first["prompt_tokens"], first["completion_tokens"]) == (1, 10, 2)
    assert second["operations"][1]["value"] == "Päris"
    place = second["tasks"][1]
    assert next(iter(place)) == "id"
    assert {"id", "title", "slot", "value", "status", "parent", "depends_on", "history"} <= set(place)
    assert (place["value"], place["history"][0]["value"]) == ("Päris", "Rome")
    assert (third["operations"][0]["intent"], third["operations"][0]["target"]) == ("check", "t2")
    assert (fourth["operations"][0]["kind"], fourth["operations"][0]["target"]) == ("clarify", None)
    assert fifth["tasks"] == []
    assert fifth["operations"][0]["refused"]
    assert fifth["thread"] == f"{first['thread']}-2"
    assert all(0 < turn["seconds"] < 60 for turn in turns)
    assert not home.exists(), "a run keeps nothing"


def test_run_keeps_what_is_asked_for(invoke: Invoke, script: Callable[[Any], Path]) -> None:
    path = script(["task trip", {"session": "next"}, "task cart"])
    assert "> task trip\n[1 tasks] add: ok.\n" in invoke("run", path, "--thread", "x").stdout
    invoke("run", path, "--thread", "x")
    kept = json.loads(invoke("threads", "--json").stdout)
    assert {(info["thread"], info["turns"]) for info in kept} == {("x", 2), ("x-2", 2)}
    invoke("run", path, "--user", "ann")
    assert len(json.loads(invoke("threads", "--json").stdout)) == 4


def test_run_reads_standard_input(invoke: Invoke) -> None:
    assert rows(invoke("run", "-", "--json", input='["task trip"]').stdout)[0]["turn"] == 1
    assert "standard input:1:1: not JSON" in invoke("run", "-", code=2, input="x").stderr


def test_run_takes_schemas(invoke: Invoke, script: Callable[[Any], Path], tmp_path: Path) -> None:
    path = script(["task trip"])
    schemas = tmp_path / "schemas.json"
    schema = {
        "title": "trip",
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
    }
    schemas.write_text(json.dumps(schema))
    assert "place" in invoke("run", path, "--schemas", schemas).stdout
    schemas.write_text("{")
    assert f"{schemas}: " in invoke("run", path, "--schemas", schemas, code=1).stderr


def test_wrong_use_is_told(invoke: Invoke, script: Callable[[Any], Path], tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    assert f"{missing}: no such file or directory" in invoke("run", missing, code=2).stderr
    assert "entry 1 is 7" in invoke("run", script([7]), code=2).stderr
    assert "--thread" in invoke("run", script(["a"]), "--thread", " ", code=2).stderr
    assert "--user" in invoke("run", script(["a"]), "--user", " ", code=2).stderr


def test_what_an_operation_is_about_can_be_words() -> None:
    change = Change(operation=Replace(old="celery", new="fennel", said="s"), changed=("t2",))
    turn = Turn(number=3, changes=(change,))
    played = Played(Line(1, "s"), "x", turn, before=TRIP, graph=TRIP, seconds=0.1)
    assert played.record()["operations"] == [
        {
            "intent": "update", "kind": "replace", "target": "celery", "slot": None, "title": None,
            "said": "s", "old": "celery", "new": "fennel", "changed": ["t2"], "stale": [], "refused": None,
        }
    ]  # fmt: skip


def test_lone_surrogates_are_escaped(invoke: Invoke, script: Callable[[Any], Path]) -> None:
    (turn,) = rows(invoke("run", script('["task \\ud800"]'), "--json").stdout)
    assert turn["user"] == "task \ud800"


# ---- threads --------------------------------------------------------------------------------------


def test_tasks_in_every_form(invoke: Invoke, script: Callable[[Any], Path]) -> None:
    invoke("run", script(["task trip; put t1 place Rome; task cart; drop t3"]), "--thread", "x")
    assert invoke("tasks").stdout == "t1 trip\n└── t2 place: Rome\n"
    assert "t3 cart  (removed)" in invoke("tasks", "--all", "--thread", "x").stdout
    shown = json.loads(invoke("tasks", "--thread", "x", "--format", "json").stdout)
    assert (shown["thread"], [task["id"] for task in shown["tasks"]]) == ("x", ["t1", "t2", "t3"])
    assert invoke("tasks", "--format", "mermaid").stdout.startswith("flowchart TD\n")
    assert "there is no thread 'y'" in invoke("tasks", "--thread", "y", code=2).stderr


def test_the_list_fits_eighty_columns_and_keeps_the_names(invoke: Invoke, tmp_path: Path) -> None:
    for name in ("trip", "a-thread-with-a-rather-long-name-of-its-own"):
        invoke("chat", "--thread", name, input="add task one " + "and a very long title " * 8 + "\n/quit\n")
    told = invoke("threads").stdout
    assert "trip" in told
    assert "a-thread-with-a-rather-long" in told
    assert "turns" in told
    assert max(map(len, told.splitlines())) <= 80


def test_without_threads(invoke: Invoke) -> None:
    assert "No threads yet" in invoke("threads").stdout
    assert invoke("threads", "--json").stdout == "[]\n"
    assert "there are no threads yet" in invoke("tasks", code=2).stderr


def test_threads_are_listed(invoke: Invoke, script: Callable[[Any], Path]) -> None:
    invoke("run", script(["task trip"]), "--thread", "x")
    assert re.search(r"^x +1 +\d{4}-\d\d-\d\d \d\d:\d\d +task trip", invoke("threads").stdout, re.MULTILINE)


def test_export_and_import(invoke: Invoke, script: Callable[[Any], Path], tmp_path: Path) -> None:
    invoke("run", script(["task trip; put t1 place Rome"]), "--thread", "x")
    file = tmp_path / "x.json"
    invoke("export", file, "--thread", "x")
    assert file.read_text() == invoke("export", "--thread", "x").stdout
    assert "use --force to overwrite it" in invoke("export", file, "--thread", "x", code=2).stderr
    invoke("export", file, "--thread", "x", "--force")
    assert "taskloom chat --thread y" in invoke("import", file, "--thread", "y").stdout
    assert invoke("tasks", "--thread", "y").stdout == invoke("tasks", "--thread", "x").stdout
    assert (
        "use --force to replace them by the import" in invoke("import", file, "--thread", "y", code=2).stderr
    )
    invoke("import", "-", "--thread", "y", "--force", input=file.read_bytes())
    assert "Loaded 2 tasks" in invoke("import", file).stdout
    assert len(json.loads(invoke("threads", "--json").stdout)) == 3
    assert "not a task export" in invoke("import", "-", input="{}", code=2).stderr


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    write_file(file, "old")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full"):
        write_file(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert file.read_text() == "old"
    write_file(Path("/dev/null"), "nothing")


# ---- chat -----------------------------------------------------------------------------------------


def chat(invoke: Invoke, *lines: str, thread: str = "c", **more: Any) -> str:
    return invoke("chat", "--thread", thread, input="".join(f"{line}\n" for line in lines), **more).stdout


def test_a_chat_with_every_command(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = chat(
        invoke, "task trip; put t1 place Rome", "", "set t2 Paris", "/tasks", "/history place", "/WHY t2",
        "/thread", "/help", "/export", "/undo", "/nothing", "/why", "/history cloud", "task plaza",
        "/history pla", "/quit", "never said",
    )  # fmt: skip
    assert "Thread c (new)." in shown
    assert "> set t2 Paris\n[2 tasks] update: ok.\n" in shown
    assert "t1 trip\n└── t2 place: Paris\n" in shown
    assert re.search(r"1 +noted +Rome .*\n +2 +changed +Paris", shown)
    assert 'in turn 2 you said: "set t2 Paris"' in shown
    assert "/export [FILE]" in shown
    assert "Written to taskloom-c.json" in shown
    assert "> /undo\n[2 tasks] clarify: ok. Which one?" in shown, "undo is something said"
    assert "There is no /nothing" in shown
    assert "/why needs a task: /why TASK" in shown
    assert "There is no task 'cloud'" in shown
    assert re.search(r"Which one is 'pla'\?\n  t2 place of trip: Paris\n  t3 plaza", shown)
    assert shown.endswith("Resume with: taskloom chat --thread c\n")
    assert "never said" not in shown
    again = chat(
        invoke, "/export", "n", "/export", "what", "y", "/import taskloom-c.json", "y", "/import none"
    )  # fmt: skip
    assert "Thread c (4 turns so far)." in again
    assert (again.count("Overwrite it?"), again.count("Written to")) == (2, 1)
    assert "Load 3 tasks in place of what is there?" in again
    assert "Loaded 3 tasks." in again
    assert "none: no such file or directory" in again
    assert "Overwrite it?" in chat(invoke, "/why plaza", "/why cloud", "/export")
    assert json.loads((tmp_path / "taskloom-c.json").read_text(encoding="utf-8"))["tasks"]


def test_approvals_are_asked_for(invoke: Invoke) -> None:
    shown = chat(
        invoke, "task trip; put t1 place Rome", "drop t1", "maybe", "n", "/tasks", "drop t1", "YES", "/tasks"
    )
    assert f"Remove the trip with its one part?\n  trip, place\ny/n? maybe\n{WANTED}\ny/n? n\n" in shown
    assert "you did not approve it" in shown
    assert shown.count("t2 place: Rome") == 1
    assert "There is nothing in the plan." in shown
    assert "Resume with" in chat(invoke, "task a; put t3 b c", "drop t3"), "no answer is a no"
    assert "t3 a" in chat(invoke, "/tasks")


def test_an_approval_left_open_is_asked_again(home: Path) -> None:
    out = io.StringIO()
    lines: Iterator[str | BaseException] = iter(
        ["task trip; put t1 place Rome", "drop t1", KeyboardInterrupt(), "y", EOFError()]
    )

    def read(prompt: str) -> str:
        line = next(lines)
        if isinstance(line, BaseException):
            raise line
        return line

    with Taskloom(Threads(home), services()) as opened:
        for _ in range(2):
            Chat(
                opened, Console(file=out), thread="a b", context=Context(user_id="ann"), home=home, read=read
            ).run()
        assert opened.tasks("a b").active == ()
    assert out.getvalue().count("Remove the trip with its one part?") == 2
    assert out.getvalue().count("Resume with: taskloom chat --thread 'a b' --user ann") == 2


def test_what_goes_wrong_in_a_chat_does_not_end_it(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKLOOM_LOCK_TIMEOUT", "0.1")
    chat(invoke, "task trip")
    with Taskloom(Threads(home), services()) as opened, opened._threads.lock("c"):
        shown = chat(invoke, "set t1 x", "/tasks")
    assert "That did not work: thread 'c' is in use" in shown
    assert "t1 trip\n" in shown
    monkeypatch.setattr(Taskloom, "talk", lambda *_, **__: 1 / 0)
    told = invoke("chat", input="hello\n", code=1).stderr
    assert "unexpected ZeroDivisionError: division by zero" in told


def test_a_new_thread_has_a_name_of_its_own(invoke: Invoke) -> None:
    names = {
        re.search(r"--thread (\d{4}-\d{4}-\w{3})\n", invoke("chat", input="task a\n").stdout)
        for _ in range(3)
    }
    assert None not in names
    assert len({match[1] for match in names if match}) == 3


# ---- what is shown --------------------------------------------------------------------------------


def grown(*operations: Operation, graph: TaskGraph | None = None) -> TaskGraph:
    graph = graph or TaskGraph()
    for number, operation in enumerate(operations, 1):
        outcome = apply(graph, operation, turn=number, said=f"words {number}")
        assert outcome.refused is None
        graph = outcome.graph
    return graph


TRIP = grown(
    Add(slot="trip", title="trip"),
    Add(slot="trip.place", title="place", value="Rome", parent="t1"),
    Add(slot="trip.date", title="date", value="Friday", parent="t1"),
    Add(slot="book", title="book", depends_on=("t3",)),
    Add(slot="pack", title="pack"),
)


def text_of(*shown: Any, width: int = 80, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, markup=False, highlight=False)
    for one in shown:
        console.print(one)
    return out.getvalue()


def test_changes_are_marked_in_the_tree() -> None:
    after = grown(
        Update(task="t3", value="Sunday"),
        Remove(task="t2"),
        Complete(task="t5"),
        Add(slot="cart", title="cart", value="book"),
        Update(task="t1", title="holiday"),
        Link(task="t6", on="t5"),
        graph=TRIP,
    )
    assert text_of(task_tree(after, TRIP)).splitlines() == [
        "t1 holiday  <- was trip",
        "├── t2 place: Rome  <- removed",
        "└── t3 date: Sunday  <- was Friday",
        "t4 book  (may be outdated; needs date)",
        "t5 pack  <- done",
        "t6 cart: book  (needs pack)  <- new",
    ]
    held = grown(Inactivate(task="t1"), graph=after)
    assert "t1 holiday  <- on hold" in text_of(task_tree(held, after))
    assert "t1 holiday  (needs date)  <- back" in text_of(
        task_tree(grown(Restore(task="t1"), graph=held), held)
    )
    assert "linked anew" in text_of(task_tree(grown(Link(task="t4", on="t2"), graph=TRIP), TRIP))
    filled = grown(Update(task="t5", value="bag"), graph=TRIP)
    assert "t5 pack: bag  <- changed" in text_of(task_tree(filled, TRIP))
    assert "\x1b[" in text_of(task_tree(after, TRIP), terminal=True)


def test_a_terminal_is_not_given_orders() -> None:
    assert safe("a\x1b[31mb\x07\u202ec\nd") == "a[31mbc\nd"
    evil = TaskGraph([TRIP["t1"].model_copy(update={"title": "\x1b]0;x\x07trip"})])
    assert text_of(task_tree(evil)) == "t1 ]0;xtrip\n"


def test_tasks_are_found_by_id_name_and_words() -> None:
    def found(words: str) -> list[str]:
        return [node.id for node in find_tasks(TRIP, words)]

    assert found("T3") == ["t3"]
    assert found("trip.place") == found("Place") == ["t2"]
    assert found("rom") == ["t2"]
    assert found("") == []
    assert [node.id for node in find_tasks(grown(Remove(task="t2"), graph=TRIP), "place")] == ["t2"]


def test_the_history_of_a_task_tells_when_it_left() -> None:
    shown = text_of(task_history(grown(Remove(task="t2"), graph=TRIP)["t2"]))
    assert shown.startswith("t2 place (trip.place)\n")
    assert re.search(r'1 +removed +\(removed\) +"words 1"', shown)


def test_a_streamed_reply_is_wrapped_and_withdrawn() -> None:
    out = io.StringIO()
    stream = Stream(Console(file=out, width=24, force_terminal=True, color_system=None))
    for piece in ("This is ", "wro", "ng, so"):
        stream.show(piece, "a")
    for piece in ("It is twenty letters and", " some more.\nDone", "."):
        stream.show(piece, "b")
    stream.end("It is twenty letters and some more.\nDone.")
    assert out.getvalue() == (
        "This is wrong, so\n(trying again)\nIt is twenty letters \nand some more.\nDone.\n"
    )
    out.truncate(out.seek(0))
    stream = Stream(Console(file=out, width=24, force_terminal=True, color_system=None))
    stream.show("Half a", "a")
    stream.end("Remove it?")
    assert out.getvalue() == "Half a\nRemove it?\n"


# ---- doctor ---------------------------------------------------------------------------------------


@pytest.fixture
def endpoint() -> Iterator[Callable[[int, Any], str]]:
    """Starts a server that answers everything with a status and a body; gives its address."""
    servers: list[HTTPServer] = []

    def start(status: int, body: Any) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert self.path == "/v1/models"
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        servers.append(HTTPServer(("127.0.0.1", 0), Handler))
        Thread(target=servers[-1].serve_forever, args=(0.05,)).start()
        return f"http://me:hidden@127.0.0.1:{servers[-1].server_port}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


MODELS = {"object": "list", "data": [{"id": "good", "object": "model", "created": 1, "owned_by": "x"}]}


@pytest.mark.parametrize(
    ("status", "body", "ok", "told"),
    [
        (200, MODELS, True, "has good"),
        (200, {"data": []}, False, "does not list good"),
        (200, ["what"], False, "sent no list of models"),
        (401, {}, False, "refused the key (401): check OPENAI_API_KEY"),
        (404, {}, None, "has no list of models"),
        (500, {}, False, "answered 500"),
    ],
)
def test_doctor_looks_at_the_endpoint(
    status: int, body: Any, ok: bool | None, told: str, endpoint: Callable[[int, Any], str],
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("TASKLOOM_MODEL", "good")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint(status, body))
    monkeypatch.setattr("taskloom.agent.cli.doctor._reading", lambda _: Finding("reading", None, ""))
    result = invoke("doctor", "--json", code=ok is False)
    assert "hidden" not in result.output
    report = json.loads(result.stdout)
    found = {finding["name"]: finding for finding in report["findings"]}
    assert report["ok"] is (ok is not False)
    assert found["endpoint"]["ok"] is ok
    assert told in found["endpoint"]["text"]
    assert found["mode"]["text"].startswith("the model good reads all but bare answers")
    assert found["key"]["text"] == "OPENAI_API_KEY is set"


def test_doctor_without_a_model(invoke: Invoke, home: Path, script: Callable[[Any], Path]) -> None:
    shown = invoke("doctor").stdout
    assert "no language model" in shown
    assert "none yet" in shown
    invoke("run", script(["task a"]), "--thread", "x")
    assert re.search(r"threads +ok +1 in ", invoke("doctor").stdout)
    (home / "threads.sqlite").write_bytes(b"x" * 5000)
    assert "is damaged" in invoke("doctor", code=1).stdout


def test_doctor_says_where_texts_go_to_be_embedded(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nothing is sent anywhere" in invoke("doctor").stdout
    monkeypatch.setenv("TASKLOOM_EMBEDDINGS", "small")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@127.0.0.1:9/v1")
    shown = " ".join(invoke("doctor").stdout.split())
    assert "nothing is sent" not in shown
    assert "secret" not in shown
    assert "embeddings by small at http://127.0.0.1:9/v1" in shown


def test_doctor_looks_at_the_memory(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.search(r"memory +none yet", invoke("doctor").stdout)
    with Outbox(home / "outbox.sqlite") as outbox:
        outbox.add("local", [IntentUnit(id="v", text="x", at=now(), intent="x")])
    assert re.search(r"outbox +ok +1 record to be written", invoke("doctor").stdout)
    invoke("memory", "list")
    shown = invoke("doctor").stdout
    assert re.search(r"memory +ok +1 user in ", shown)
    assert re.search(r"outbox +ok +0 records", shown)
    with FileLock(home / "memory" / ".lock"):
        assert "is in use by another process" in invoke("doctor").stdout
    with Outbox(home / "outbox.sqlite") as outbox:
        outbox.add("local", [IntentUnit(id="u", text="x", at=now(), intent="x")])
        outbox.flush(Broken())
    assert "the last error: RuntimeError: out of order" in " ".join(invoke("doctor", code=1).stdout.split())
    (home / "outbox.sqlite").write_bytes(b"x" * 5000)
    assert "outbox" in invoke("doctor", code=1).stdout
    monkeypatch.setenv("TASKLOOM_CHROMA_URL", "http://127.0.0.1:9")
    assert "127.0.0.1:9" in invoke("doctor", code=1).stdout
    monkeypatch.setenv("TASKLOOM_MEMORY", "0")
    assert re.search(r"memory +off", invoke("doctor").stdout)


def test_doctor_looks_at_the_tools_and_at_calls_that_were_broken_off(
    invoke: Invoke, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = invoke("doctor").stdout
    assert re.search(r"tools +none", shown)
    assert re.search(r"calls +none yet", shown)
    tools = tmp_path / "agent.yaml"
    tools.write_text("tools:\n  - {use: 'shutil:disk_usage', side_effects: true}\n")
    monkeypatch.setenv("TASKLOOM_TOOLS", str(tools))
    assert "cannot be a tool: parameter 'path'" in one_line(invoke("doctor", code=1).stdout)
    tools.write_text("tools:\n  - {use: 'taskloom_doctor_tool:book', side_effects: true}\n")
    (tmp_path / "taskloom_doctor_tool.py").write_text(
        'def book(place: str) -> str:\n    """Book.\n\n    Args:\n        place: where.\n    """\n'
        "    return place\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert re.search(r"tools +ok +1 in .*agent.yaml, 1 with side effects", one_line(invoke("doctor").stdout))
    journal = FileJournal(home / JOURNAL)
    assert re.search(r"calls +ok +none open", invoke("doctor").stdout)
    journal.begin(Entry(key="k", user="local", thread="main", turn=1, task="t1", tool="book", args={}))
    assert (
        "1 from interrupted turns, to be reported in the next turn: book on thread main (begun)"
        in one_line(invoke("doctor").stdout)
    )
    journal.shut()
    (home / JOURNAL).write_bytes(b"x" * 5000)
    assert "move it away if it is damaged" in one_line(invoke("doctor", code=1).stdout)


def one_line(text: str) -> str:
    return " ".join(text.split())


class Broken:
    """Takes nothing."""

    def put(self, user: str, records: Any) -> None:
        raise RuntimeError("out of order")


def test_doctor_with_an_endpoint_that_is_not_there(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_MODEL", "good")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    shown = invoke("doctor", code=1).stdout
    assert "cannot be reached: check OPENAI_BASE_URL" in shown
    assert re.search(r"reading +WRONG the model could not be reached", shown)
    assert "OPENAI_API_KEY is not set" in shown


def test_doctor_waits_only_so_long(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskloom.agent.cli.doctor.TIMEOUT", 0.1)
    monkeypatch.setenv("TASKLOOM_MODEL", "good")
    monkeypatch.setenv("TASKLOOM_MODEL_TIMEOUT", "0.5")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        begun = time.monotonic()
        shown = one_line(invoke("doctor", code=1).stdout)
        assert "did not answer within 0.1 s" in shown
        assert "WRONG the model did not answer in time; TASKLOOM_MODEL_TIMEOUT is 0.5 s" in shown
        assert time.monotonic() - begun < 10


GOOD_READING = Say(json.dumps({"steps": [
    {"act": "set", "on": 2, "value": "June 12th"}, {"act": "remove", "on": 3}
]}))  # fmt: skip


@pytest.mark.parametrize(
    ("script", "ok", "told"),
    [
        ([GOOD_READING], True, r"good read a sentence in \d+\.\d s \(1 request, 100 \+ 10 tokens\)"),
        ([Say("Sure!"), GOOD_READING], True, r"\(2 requests, 200 \+ 20 tokens\)"),
        ([Say("Sure!")], False, r"in the form of steps, .*: take another model, or .*TASKLOOM_READER=local"),
        ([Say(json.dumps({"steps": [{"act": "chat"}]}))], False, "follows the form, but misread"),
        ([Say(json.dumps({"steps": [{"act": "remove", "on": 3}]}))], False, "follows the form, but misread"),
        ([Fault(401, "sk-hidden")], False, "refused the key .401.: check OPENAI_API_KEY"),
        ([Fault(404)], False, "does not know the model .* check TASKLOOM_MODEL"),
        ([Fault(429, retry_after=99)], False, "busy .429. and asks to wait 99 s"),
        ([Trickle(0.05)], False, "did not answer in time; TASKLOOM_MODEL_TIMEOUT is 2 s"),
    ],
)  # fmt: skip
def test_doctor_has_the_model_read_a_sentence(
    script: list[Reply], ok: bool, told: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(script) as server:
        monkeypatch.setenv("TASKLOOM_MODEL", "good")
        monkeypatch.setenv("TASKLOOM_MODEL_TIMEOUT", "2")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
        monkeypatch.setattr("taskloom.agent.cli.doctor._endpoint", lambda _: Finding("endpoint", None, ""))
        result = invoke("doctor", "--json", code=not ok)
    (found,) = [one for one in json.loads(result.stdout)["findings"] if one["name"] == "reading"]
    assert found["ok"] is ok
    assert re.search(told, found["text"])
    assert "hidden" not in result.output


def test_doctor_reads_the_whole_database(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, home: Path, script: Callable[[Any], Path]
) -> None:
    invoke("run", script(["task a"]), "--thread", "x")
    path = home / "threads.sqlite"
    held = bytearray(path.read_bytes())
    held[4096 : 4096 + 64] = bytes(64)  # the head of the second page
    path.write_bytes(held)
    monkeypatch.setattr("taskloom.agent.cli.doctor.LIBRARIES", ("no-such-library",))
    shown = invoke("doctor", code=1).stdout
    assert re.search(r"threads +WRONG .*is damaged", shown)
    assert "no-such-library not installed" in shown


def test_doctor_with_a_home_that_cannot_be_used(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "file"))
    assert "set TASKLOOM_HOME to a folder that you can write to" in invoke("doctor", code=1).stdout
    assert "set TASKLOOM_HOME" in invoke("chat", code=1).stderr
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 5})())
    monkeypatch.setenv("TASKLOOM_HOME", str(tmp_path / "other"))
    assert "has only 0 MB of free space" in invoke("doctor", code=1).stdout


# ---- errors ---------------------------------------------------------------------------------------


def database_error(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("words")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ThreadBusyError("thread 'a' is in use"), "close it there or try again later"),
        (Timeout("/x/setup.lock"), "another process holds /x/setup.lock: try again later"),
        (GraphError("no graph"), "no graph"),
        (InputError("no input"), "no input"),
        (database_error("SQLITE_FULL"), "the disk is full"),
        (database_error("SQLITE_BUSY"), "is in use by another process"),
        (database_error("SQLITE_READONLY"), "set TASKLOOM_HOME"),
        (database_error("SQLITE_CORRUPT"), "is damaged (words)"),
        (database_error("SQLITE_IOERR_WRITE"), "check the disk"),
        (DamagedError("incorrect header check"), "is damaged (incorrect header check)"),
        (database_error("SQLITE_ERROR"), "words: `taskloom doctor` shows more"),
        (OSError(errno.ENOSPC, "No space left", "/x/y"), "the disk is full: make room for /x/y"),
        (PermissionError(13, "Permission denied", "/home/t/locks"), "set TASKLOOM_HOME"),
        (PermissionError(13, "Permission denied", "/other"), "/other: permission denied"),
    ],
)
def test_errors_name_the_fix(error: Exception, told: str) -> None:
    text = explain(error, Path("/home/t"))
    assert text is not None
    assert told in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOCK_TIMEOUT", "inf"), ("LOCK_TIMEOUT", "1e15"), ("LOCK_TIMEOUT", "nan"), ("MODEL_TIMEOUT", "inf"),
        ("ACT_SECONDS", "1e15"), ("CHROMA_URL", "http://[::1"), ("CHROMA_URL", "http://a:99999"),
        ("EXPERIENCE_PERIOD", "1.5"), ("MCP_USER", "a\nb"), ("MCP_THREAD", "x" * 3000),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_told_of(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"TASKLOOM_{name}", value)
    for command in (("mcp",),) if name.startswith("MCP") else (("doctor",), ("threads",)):
        told = invoke(*command, code=1).stderr
        assert "please report" not in told
        assert name in told or "characters at most" in told


@pytest.mark.parametrize("user", ["a\x1b[2J", "a\nb", "\u202ex", "x" * 1000])
def test_a_user_who_cannot_be_called_so(invoke: Invoke, tmp_path: Path, user: str) -> None:
    script = tmp_path / "s.json"
    script.write_text('["Plan a trip"]')
    for command in (("run", script, "--thread", "q"), ("chat",), ("import", script)):
        told = invoke(*map(str, command), "--user", user, code=1).stderr
        assert "none of them a control character: take another --user" in told


def test_an_error_that_nobody_thought_of(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain(ZeroDivisionError()) is None
    monkeypatch.setattr(Taskloom, "threads", lambda _: 1 / 0)
    assert "please report it" in invoke("threads", code=1).stderr
    result = CliRunner().invoke(app, ["--debug", "threads"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_settings_of_the_wrong_form_are_named(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKLOOM_REPLIES", "rhymes")
    assert "taskloom: TASKLOOM_REPLIES: input should be 'template'" in invoke("threads", code=1).stderr


def test_a_damaged_database_is_told(invoke: Invoke, home: Path) -> None:
    home.mkdir()
    (home / "threads.sqlite").write_bytes(b"no database" * 500)
    assert re.search(r"threads\.sqlite is damaged .*: move it away", invoke("threads", code=1).stderr)


# ---- as processes ---------------------------------------------------------------------------------


def process(*args: str | Path, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [TASKLOOM, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **more,
    )  # fmt: skip


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, *args: str) -> None:
        self.child, self.fd = pty.fork()
        if self.child == 0:  # pragma: no cover
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs the tests in the background ignores it
            os.execve(TASKLOOM, ["taskloom", *args], {**os.environ, "TERM": "xterm"})  # noqa: S606
        self.unread = ""

    def prompt(self) -> str:
        """What is shown next, up to and with a prompt."""
        return self.until("\x1b[?2004h") + self.until("\x1b[?25h")

    def until(self, wanted: str, seconds: float = 30) -> str:
        """What is shown next, up to and with something wanted."""
        end = time.monotonic() + seconds
        while wanted not in self.unread and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.unread += os.read(self.fd, 4096).decode()
                except OSError:  # the other end is closed
                    break
        shown, found, self.unread = self.unread.partition(wanted)
        assert found, shown
        return shown + found

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def end(self) -> int:
        """Wait for its end; gives its status."""
        status = os.waitpid(self.child, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def test_kill_between_turns_loses_no_turn(home: Path, script: Callable[[Any], Path]) -> None:
    path = script([f"Buy thing number {number}" for number in range(1, 200)])
    seen = 0
    for acknowledged in (3, 1, 2):
        running = process("run", path, "--json", "--thread", "k")
        assert running.stdout is not None
        for _ in range(acknowledged):
            last = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGKILL)
        running.communicate()
        with Taskloom(Threads(home), services()) as opened:
            turn = opened.state("k").values["turn"]
            kept = opened.tasks("k")
        assert turn.number >= last["turn"] >= seen + acknowledged
        assert {task["id"] for task in last["tasks"]} <= set(kept)
        seen = turn.number


def test_two_processes_on_one_thread(home: Path, script: Callable[[Any], Path]) -> None:
    path = script([f"Buy thing number {number}" for number in range(1, 6)])
    running = [process("run", path, "--json", "--thread", "t") for _ in range(2)]
    turns = [turn for one in running for turn in rows(one.communicate(timeout=120)[0])]
    assert [one.returncode for one in running] == [0, 0]
    assert sorted(turn["turn"] for turn in turns) == list(range(1, 11))


def test_a_thread_in_use_is_told(
    home: Path, script: Callable[[Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKLOOM_LOCK_TIMEOUT", "0.2")
    with Taskloom(Threads(home), services()) as opened, opened._threads.lock("t"):
        running = process("run", script(["Buy milk"]), "--thread", "t")
        _, told = running.communicate(timeout=60)
    assert running.returncode == 1
    assert told.startswith("taskloom: thread 't' is in use")
    assert told.count("\n") == 1


def test_a_full_disk_is_told_and_keeps_what_was_acknowledged(
    home: Path, script: Callable[[Any], Path]
) -> None:
    path = script([f"Buy thing number {number} of {'x ' * 250}" for number in range(1, 300)])
    running = process(
        "run", path, "--json", "--thread", "f",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
        env={name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")},
    )  # fmt: skip
    printed, told = running.communicate(timeout=120)
    assert running.returncode == 1
    assert re.match(r"taskloom: .*(disk is full|check (?:that )?the disk|file too large)", told), told
    assert told.count("\n") == 1
    done = rows(printed)
    assert done
    with Taskloom(Threads(home), services()) as opened:
        assert {task["id"] for task in done[-1]["tasks"]} <= set(opened.tasks("f"))


def test_a_reader_that_leaves_early_is_no_error(script: Callable[[Any], Path], home: Path) -> None:
    command = f"{shlex.quote(str(TASKLOOM))} run {script(['Buy milk'] * 50)} --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert len(rows(done.stdout)) == 1
    assert done.stderr == ""


@pytest.mark.parametrize("key", ["\x03\x03", "\x04", "/quit\r", "exit\r"])
def test_a_chat_on_a_terminal_is_left_cleanly(key: str, home: Path) -> None:
    screen = Screen("chat", "--thread", "p")
    screen.prompt()
    screen.type("Plan a trip to Rome\r")
    screen.prompt()
    screen.type("/tasks\r")
    assert "\x1b[1m" in screen.prompt()
    screen.type(key)
    screen.until("taskloom chat --thread p")
    assert screen.end() == 0
    with Taskloom(Threads(home), services()) as opened:
        assert opened.state("p").values["turn"].number == 1


def test_the_demo_needs_no_terminal_and_keeps_nothing(home: Path) -> None:
    done = subprocess.run([TASKLOOM, "demo"], capture_output=True, text=True, timeout=60, check=True)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout
    assert "<- new" in done.stdout
    assert "<- was " in done.stdout
    assert "(nothing changed)" in done.stdout
    assert done.stderr == ""
    assert not home.exists()


def test_the_demo_waits_as_asked(invoke: Invoke) -> None:
    start = time.monotonic()
    invoke("demo", "--delay", "0.02")
    assert time.monotonic() - start > 0.1
    invoke("demo", "--fast")


def test_main_takes_names_of_any_bytes(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["taskloom", "threads"])
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert sys.stdout.errors == "replace"
