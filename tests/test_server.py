"""The development server, started on a free port in a folder of its own, with the SDK as its client."""

import asyncio
import base64
import hmac
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from langgraph_sdk import Auth, get_sync_client
from langgraph_sdk.errors import NotFoundError
from pydantic import SecretStr, ValidationError

from taskloom.agent.graph.auth import KeyFault, Refused, authenticate, check_key, refuse
from taskloom.agent.graph.databases import OUTBOX
from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.recall.asking import NOTHING
from taskloom.agent.settings import Settings
from taskloom.memory.outbox import Outbox
from taskloom.memory.records import Fact
from tests.test_memory_commands import holding

ROOT = Path(__file__).parent.parent
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
SETTINGS = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_STRICT_MSGPACK": "true",  # the harder case: the server reads our types as plain data
}


TRAVEL = '''
def search_flights(destination: str, date: str) -> str:
    """Look up when planes leave."""
    return f"10:40 to {destination} on {date}"

def reserve(destination: str, seat: str) -> str:
    """Reserve a seat."""
    with open("reserved.txt", "a") as effects:
        effects.write(f"{seat} to {destination}\\n")
    return f"{seat} reserved"
'''
TOOLS = """
tools:
  - {use: travel:search_flights, needs: [destination, date], gives: flights}
  - {use: travel:reserve, needs: [destination, seat], gives: reservation, side_effects: true}
"""
AUTH = """
from langgraph_sdk import Auth

auth = Auth()

@auth.authenticate
async def who(headers):
    return {"identity": headers[b"x-user"].decode()}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server; what it keeps is in `home` there."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Any]:
    """A client of the project's graph, with a file of tools, and of one of scripted parts."""
    (home / "travel.py").write_text(TRAVEL)
    (home / "agent.yaml").write_text(TOOLS)
    with serving(home) as url, get_sync_client(url=url) as client:
        yield client
    log = (home / "log").read_text()
    assert "BlockingError" not in log
    assert "deserializ" not in log.lower()  # a warning of types that a saver does not know


@contextmanager
def serving(
    home: Path, *, under: Sequence[str] = (), given: Mapping[str, str] = {}, **more: Any
) -> Iterator[str]:
    """A server as `make serve` starts it, by its address.

    under: what its command is given to; given: of its environment; more: of its configuration.
    """
    shutil.copy(ROOT / "tests" / "scripted.py", home / "scripted.py")
    config = json.loads((ROOT / "langgraph.json").read_text())
    shutil.copy(ROOT / "app.py", home / "app.py")
    config["graphs"] |= {"scripted": "scripted:make_graph", "file": "./app.py:make_graph"}
    (home / "langgraph.json").write_text(json.dumps({**config, "env": {}, **more}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = subprocess.run(
        ["make", "--no-print-directory", "-n", "serve", f"PORT={port}"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    _, *arguments = shlex.split(made.stdout.decode().splitlines()[-1])
    command = [*under, sys.executable, "-m", "langgraph_cli", *arguments, "--no-reload"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("COV", "OPENAI"))
    }
    environment["TASKLOOM_HOME"] = str(home / "home")
    if (home / "agent.yaml").exists():
        environment["TASKLOOM_TOOLS"] = str(home / "agent.yaml")
    log = (home / "log").open("w")
    process = subprocess.Popen(
        command,
        cwd=home,
        env={**environment, **SETTINGS, **given},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        for _ in range(300):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/ok").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            assert process.poll() is None, (home / "log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def say(client: Any, thread: str, text: str, **more: Any) -> dict[str, Any]:
    return dict(client.runs.wait(thread, "scripted", input=message(text), **more))


@pytest.fixture
def thread(server: Any) -> str:
    return str(server.threads.create()["thread_id"])


def assistant(client: Any, graph: str) -> str:
    return str(client.assistants.search(graph_id=graph)[0]["assistant_id"])


def test_schemas_are_there(server: Any) -> None:
    schemas = server.assistants.get_schemas(assistant(server, "taskloom"))
    assert set(schemas["input_schema"]["properties"]) == {"messages", "load", "feedback", "shared"}
    assert set(schemas["output_schema"]["properties"]) == {"messages", "tasks", "turn"}
    assert {"tasks", "question", "focus"} <= set(schemas["state_schema"]["properties"])
    context = schemas["context_schema"]["properties"]
    assert {"user_id", "model", "schemas", "reply_style", "token_budget", "memory", "approve"} == set(context)
    assert all(field["description"] for field in context.values())


def test_the_graph_is_drawn_with_its_nodes(server: Any) -> None:
    drawn = server.assistants.get_graph(assistant(server, "taskloom"))
    assert {"decompose", "classify_intent", "update_graph", "retrieve_closure", "fill_slots", "respond",
            "remember", "act", "__start__", "__end__"} == {node["id"] for node in drawn["nodes"]}  # fmt: skip


def test_recordings_are_asked_by_a_graph_of_its_own(server: Any) -> None:
    drawn = server.assistants.get_graph(assistant(server, "recordings"), xray=True)
    names = {str(node["id"]).rpartition(":")[2] for node in drawn["nodes"]}
    assert {"extract", "choose", "run", "observe", "answer"} <= names
    asked = {"input": {"question": "When is the launch?"}, "context": {"user_id": "nobody yet"}}
    told = dict(server.runs.wait(None, "recordings", **asked))
    assert told == {"answer": NOTHING, "found": False, "sources": [], "unseen": "", "note": ""}


@pytest.mark.parametrize("graph", ["taskloom", "file"])
def test_the_server_answers_without_a_model(server: Any, thread: str, graph: str) -> None:
    done = server.runs.wait(thread, graph, input=message("Plan a trip to Rome"))
    assert done["turn"]["reply"]
    assert done["messages"][-1]["type"] == "ai"


def test_assistants_are_configurations_of_the_one_graph(server: Any) -> None:
    """As Studio makes them: one with a schema that wants a seat, one with another style, each by its id."""
    needs = {"destination": {"type": "string"}, "seat": {"type": "string"}}
    schema = {"title": "trip", "type": "object", "properties": needs, "required": list(needs)}
    made = [
        server.assistants.create("taskloom", name=name, context={"model": "rules", **context})
        for name, context in (("form", {"schemas": [schema]}), ("plain", {"memory": False}))
    ]
    assert [server.assistants.get(one["assistant_id"])["context"] for one in made] == [
        {"model": "rules", "schemas": [schema]}, {"model": "rules", "memory": False},
    ]  # fmt: skip
    said = message("Plan a trip to Rome.")
    form, plain = (
        dict(server.runs.wait(None, one["assistant_id"], input=said))["turn"]["reply"] for one in made
    )
    assert "seat" in form
    assert "seat" not in plain
    assert "Rome" in form
    assert "Rome" in plain


def test_tools_of_a_file_are_called_on_the_server(server: Any, thread: str) -> None:
    said = message("Plan a trip. The destination is Rome and the date is June 10th.")
    done = server.runs.wait(thread, "taskloom", input=said, context={"user_id": "ann"})
    assert "10:40 to Rome on June 10th" in done["turn"]["reply"]


def test_several_turns_streamed(server: Any, thread: str) -> None:
    say(server, thread, "task trip; put t1 place Rome")
    told, values = "", {}
    for part in server.runs.stream(
        thread, "scripted", input=message("set t2 Paris; ask t2"), stream_mode=["messages-tuple", "values"]
    ):
        if part.event == "messages":
            told += part.data[0]["content"]
        elif part.event == "values":
            values = part.data
    assert told.strip() == "[2 tasks] update: ok. check: ok. It is Paris."
    assert told == values["messages"][-1]["content"]
    assert values["tasks"]["t2"]["history"][0]["value"] == "Rome"
    assert values["turn"]["number"] == 2


def test_an_approval_is_resumed(server: Any, thread: str) -> None:
    context = {"approve": True}
    say(server, thread, "task trip; put t1 place Rome")
    asked = say(server, thread, "drop t1", context=context)
    assert asked["__interrupt__"][0]["value"]["tasks"] == ["trip", "place"]
    waiting = server.threads.get_state(thread)
    assert waiting["next"] == ["update_graph"]
    kept = server.runs.wait(thread, "scripted", command={"resume": {"approve": False}}, context=context)
    assert "nothing was removed" in kept["turn"]["reply"]
    say(server, thread, "drop t1", context=context)
    gone = server.runs.wait(thread, "scripted", command={"resume": {"approve": True}}, context=context)
    assert {task["status"] for task in gone["tasks"].values()} == {"removed"}


def test_an_open_question_is_kept(server: Any, thread: str) -> None:
    say(server, thread, "which")
    say(server, thread, "")
    assert server.threads.get_state(thread)["values"]["question"]["question"] == "Which one?"


@pytest.mark.slow
def test_history_and_a_fork_from_an_earlier_turn(server: Any, thread: str) -> None:
    for text in ("task trip; put t1 place Rome", "set t2 Paris", "set t2 Oslo"):
        say(server, thread, text)
    ends = [state for state in server.threads.get_history(thread, limit=100) if not state["next"]]
    assert [state["values"]["tasks"]["t2"]["value"] for state in ends[:3]] == ["Oslo", "Paris", "Rome"]
    fork = say(server, thread, "set t2 Bonn", checkpoint=ends[1]["checkpoint"])
    assert fork["tasks"]["t2"]["value"] == "Bonn"
    assert [state["value"] for state in fork["tasks"]["t2"]["history"]] == ["Rome", "Paris"]


def test_an_edit_of_one_task_as_studio_makes_it(server: Any, thread: str) -> None:
    say(server, thread, "task trip; put t1 place Rome")
    tasks = server.threads.get_state(thread)["values"]["tasks"]
    tasks["t2"]["value"] = "Oslo"
    server.threads.update_state(thread, {"tasks": tasks})
    done = say(server, thread, "ask t2")
    assert "It is Oslo" in done["turn"]["reply"]
    assert [state["value"] for state in done["tasks"]["t2"]["history"]] == ["Rome"]
    assert done["tasks"]["t1"]["history"] == []


def test_another_user_is_refused_and_the_thread_is_as_it_was(server: Any, thread: str) -> None:
    say(server, thread, "task trip", context={"user_id": "ann"})
    before = server.threads.get_state(thread)
    for context in ({"user_id": "bob"}, {}):
        with pytest.raises(Exception, match="belongs to another user"):
            say(server, thread, "task secret", context=context)
    after = server.threads.get_state(thread)
    assert (after["values"], after["checkpoint"]) == (before["values"], before["checkpoint"])
    assert say(server, thread, "set t1 x", context={"user_id": "ann"})["turn"]["number"] == 2


def test_the_one_who_calls_is_the_user_and_cannot_claim_to_be_another(tmp_path: Path) -> None:
    (tmp_path / "auth.py").write_text(AUTH)
    with serving(tmp_path, auth={"path": "./auth.py:auth"}) as url:
        ann, bob = (get_sync_client(url=url, headers={"x-user": user}) for user in ("ann", "bob"))
        with ann, bob:
            thread = ann.threads.create()["thread_id"]
            assert say(ann, thread, "task trip", context={"user_id": "bob"})["turn"]["user"] == "ann"
            for context in ({"user_id": "ann"}, {"user_id": "local"}, {}):
                with pytest.raises(Exception, match="belongs to another user"):
                    say(bob, thread, "task secret", context=context)
            assert say(ann, thread, "set t1 x")["turn"]["number"] == 2


@pytest.mark.slow
def test_memory_is_written_by_a_graph_of_its_own(server: Any, home: Path) -> None:
    """Of one user, or of all; records wait that another process left there."""
    at = datetime(2026, 5, 1, tzinfo=UTC)
    (home / "home").mkdir(mode=0o700, exist_ok=True)

    def written(eve: str, fay: str) -> list[tuple[int, int]]:
        with closing(Outbox(home / "home" / OUTBOX)) as outbox:
            for user, word in ((eve, "Zyxquartz"), (eve, "figs"), (fay, "Wvuobsidian")):
                outbox.add(user, [Fact(id=f"{user} {word}", text=f"Mia likes {word}", at=at)])
        contexts: list[dict[str, Any]] = [{"user_id": eve}, {"user_id": eve}, {}, {}]
        done = [dict(server.runs.wait(None, "consolidate", input={}, context=one)) for one in contexts]
        return [(one["written"], one["waiting"]) for one in done]

    # What an earlier turn has left to be written a moment later may take these with it; then with others.
    tries = ((f"eve{number}", f"fay{number}") for number in range(10))
    eve, fay = next(one for one in tries if written(*one) == [(2, 0), (0, 0), (1, 0), (0, 0)])
    longterm = longterm_of(Settings(home=home / "home"), wait=30)
    assert longterm is not None
    with closing(longterm):
        kept = {user: {one.id for one in longterm.store.records(user)} for user in (eve, fay)}
    assert kept == {eve: {f"{eve} Zyxquartz", f"{eve} figs"}, fay: {f"{fay} Wvuobsidian"}}


@pytest.mark.attack
@pytest.mark.slow
def test_what_a_server_holds_is_looked_at_and_forgotten_by_another_process(
    server: Any, home: Path, thread: str
) -> None:
    """The embedded memory; what comes after is remembered again."""

    def memory(*call: str) -> str:
        command = [sys.executable, "-c", "from taskloom.agent.cli.main import main; main()", "memory", *call]
        environment = {**os.environ, "TASKLOOM_HOME": str(home / "home")}
        done = subprocess.run(
            [*command, "--user", "gil"], env=environment, capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tell(text: str) -> str:
        done = server.runs.wait(thread, "taskloom", input=message(text), context={"user_id": "gil"})
        return str(done["turn"]["reply"])

    tell("Plan a trip to Qvxjasper on June 3rd")
    assert "Qvxjasper" in memory("list")
    memory("forget", "--all", "--yes")
    assert holding(home / "home", b"Qvxjasper") == []
    assert "June 3rd" in tell("What is the date?")
    assert memory("list").startswith("Nothing is remembered")
    tell("Plan a dinner with Bob")
    assert "dinner" in memory("list")


@pytest.mark.slow
@pytest.mark.attack
def test_what_is_approved_six_times_at_once_is_done_once(server: Any, home: Path) -> None:
    effects, context = home / "reserved.txt", {"user_id": "dan"}
    effects.unlink(missing_ok=True)
    rounds = 20 if FULL else 2
    for turn in range(rounds):
        thread = str(server.threads.create()["thread_id"])
        said = message(f"Plan a trip. The destination is Rome and the seat is {turn}A.")
        asked = server.runs.wait(thread, "taskloom", input=said, context=context)
        assert asked["__interrupt__"][0]["value"]["action"] == "call", asked

        def approve(_: int, thread: str = thread) -> None:
            yes = {"resume": {"approve": True}}
            how: Any = {"multitask_strategy": "enqueue", "raise_error": False}
            server.runs.wait(thread, "taskloom", command=yes, context=context, **how)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(approve, range(6)))
        values = server.threads.get_state(thread)["values"]
        assert values["turn"]["number"] == 1
        assert [one["type"] for one in values["messages"]] == ["human", "ai"]
        assert effects.read_text().splitlines() == [f"{one}A to Rome" for one in range(turn + 1)]


@pytest.mark.slow
@pytest.mark.attack
@pytest.mark.parametrize("strategy", ["reject", "interrupt", "rollback"])
def test_whoever_is_not_queued_loses_nothing_that_was_acknowledged(
    server: Any, thread: str, strategy: Any
) -> None:
    """Whatever a client wants to become of a run that is at work: what is answered is kept, all else gone."""

    def one(text: str) -> str:
        try:
            done = say(server, thread, text, multitask_strategy=strategy)
        except Exception:  # noqa: BLE001  # refused, or taken back for another one
            return ""
        turn = done.get("turn", {})  # of a run that was stopped, what was there before it
        return text.removeprefix("task ") if turn.get("utterance") == text and turn["reply"] else ""

    acknowledged: list[str] = []
    for turn in range(3):
        with ThreadPoolExecutor(6) as pool:
            acknowledged += filter(None, pool.map(one, [f"task job{turn}_{n}" for n in range(6)]))
    say(server, thread, "task last", multitask_strategy="enqueue")
    values = server.threads.get_state(thread)["values"]
    titles = [task["title"] for task in values["tasks"].values()]
    assert len(set(titles)) == len(titles)
    assert acknowledged
    assert set(acknowledged) <= set(titles)
    assert values["turn"]["number"] == len(titles)


KEYS = {"ann": "ann-shows-this-key", "bob": "bob-shows-this-key"}
SECRET = "a secret of thirty-two characters"


@pytest.fixture(scope="module")
def guarded_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a server that asks for keys or tokens; its `log` is there."""
    return tmp_path_factory.mktemp("guarded")


@pytest.fixture(scope="module")
def guarded(guarded_home: Path) -> Iterator[str]:
    """The address of that server, which logs as JSON."""
    given = {
        "TASKLOOM_API_KEYS": ",".join(f"{user}={key}" for user, key in KEYS.items()),
        "TASKLOOM_JWT_KEY": SECRET,
    }
    with serving(guarded_home, given={**given, "TASKLOOM_LOG_FORMAT": "json"}) as url:
        yield url


def caller(url: str, user: str) -> Any:
    return get_sync_client(url=url, api_key=KEYS[user])


def test_nobody_calls_without_a_key_or_a_token(guarded: str) -> None:
    def token(**more: Any) -> dict[str, str]:
        told = {"sub": "ann", "exp": time.time() + 600, **more}
        key, how = told.pop("key", SECRET), told.pop("how", "HS256")
        signed = jwt.encode({name: what for name, what in told.items() if what}, key, algorithm=how)
        return {"authorization": f"Bearer {signed}"}

    def status(headers: dict[str, str]) -> int:
        return httpx.post(f"{guarded}/threads/search", json={}, headers=headers).status_code

    for headers in (
        {}, {"x-api-key": "some-other-long-key"}, {"x-api-key": ""}, {"x-auth-scheme": "langsmith"},
        {"authorization": KEYS["ann"]}, {"authorization": "Bearer a.b.c"}, token(exp=time.time() - 5),
        token(exp=None), token(sub=None), token(key="another secret of thirty-two characters"),
        token(key=None, how="none"),
    ):  # fmt: skip
        assert status(headers) == 401, headers
    for headers in (
        {"x-api-key": KEYS["ann"]}, {"authorization": f"Bearer {KEYS['ann']}"}, token()
    ):  # fmt: skip
        assert status(headers) == 200


def test_what_is_one_users_is_not_there_for_another(guarded: str, guarded_home: Path) -> None:
    with caller(guarded, "ann") as ann, caller(guarded, "bob") as bob:
        thread = ann.threads.create(metadata={"owner": "bob"})["thread_id"]
        assert say(ann, thread, "task trip; put t1 place Rome")["turn"]["user"] == "ann"
        run = ann.runs.create(thread, "scripted", input=message("set t2 Oslo"))["run_id"]
        ann.runs.join(thread, run)
        mine = ann.assistants.create("scripted", metadata={"created_by": "system"})["assistant_id"]
        ann.store.put_item(("notes",), "one", {"text": "secret"})
        before = ann.threads.get_state(thread)

        hidden: list[Callable[[], Any]] = [
            lambda: bob.threads.get(thread),
            lambda: bob.threads.update(thread, metadata={"owner": "bob"}),
            lambda: bob.threads.get_state(thread),
            lambda: bob.threads.update_state(thread, {"focus": []}),
            lambda: bob.threads.get_history(thread),
            lambda: bob.threads.delete(thread),
            lambda: bob.runs.list(thread),
            lambda: bob.runs.get(thread, run),
            lambda: bob.runs.join(thread, run),
            lambda: bob.runs.cancel(thread, run),
            lambda: bob.runs.delete(thread, run),
            lambda: say(bob, thread, "ask t2"),
            lambda: list(bob.runs.stream(thread, "scripted", input=message("ask t2"))),
            lambda: bob.runs.create(thread, "scripted", input=message("ask t2"))["run_id"],
            lambda: bob.assistants.get(mine),
            lambda: bob.assistants.update(mine, name="bob's"),
            lambda: bob.assistants.delete(mine),
            lambda: bob.runs.wait(None, mine, input=message("ask t2")),
        ]
        for call in hidden:
            with pytest.raises(httpx.HTTPStatusError) as told:
                call()
            assert told.value.response.status_code == 404
        with pytest.raises(httpx.HTTPStatusError, match="Conflict"):  # what this server says of none to copy
            bob.threads.copy(thread)
        given = assistant(bob, "scripted")
        for change in (bob.assistants.delete, lambda one: bob.assistants.update(one, name="bob's")):
            with pytest.raises(httpx.HTTPStatusError, match="not found"):
                change(given)
        assert bob.threads.search() == bob.threads.search(metadata={"owner": "ann"}) == []
        assert mine not in {one["assistant_id"] for one in bob.assistants.search(limit=100)}
        assert bob.store.search_items(())["items"] == []
        assert not bob.store.get_item(("ann", "notes"), "one")
        bob.store.put_item(("notes",), "one", {"text": "bob's"})

        after = ann.threads.get_state(thread)
        assert (after["values"], after["checkpoint"]) == (before["values"], before["checkpoint"])
        assert [one["thread_id"] for one in ann.threads.search()] == [thread]
        ann.threads.copy(thread)
        assert len(ann.threads.search()) == 2
        assert bob.threads.search() == []
        assert ann.assistants.get(mine)["assistant_id"] == mine
        assert ann.store.get_item(("notes",), "one")["value"] == {"text": "secret"}
    log = (guarded_home / "log").read_text()
    turns = [json.loads(line) for line in log.splitlines() if '"event": "turn"' in line]
    assert [(one["level"], one["turn"]) for one in turns][:2] == [("info", 1), ("info", 2)]
    assert len({one["thread"] for one in turns[:2]}) == 1
    assert not any(word in str(turns) for word in ("Rome", "Oslo", thread, *KEYS.values(), SECRET))


def status_of(call: Callable[[], Any]) -> int:
    """What the server answers to a call, 200 where it is done."""
    try:
        call()
    except httpx.HTTPStatusError as told:
        return told.response.status_code
    return 200


def test_schedules_are_not_there_for_another(guarded: str) -> None:
    with caller(guarded, "ann") as ann, caller(guarded, "bob") as bob:
        thread = ann.threads.create()["thread_id"]
        never = {"schedule": "0 0 1 1 *", "input": message("task dinner")}
        mine = [
            ann.crons.create_for_thread(thread, "scripted", **never)["cron_id"],
            ann.crons.create("scripted", metadata={"owner": "bob"}, **never)["cron_id"],
        ]
        assert {one["cron_id"] for one in ann.crons.search()} == {*mine}
        assert bob.crons.search() == bob.crons.search(thread_id=thread) == []
        assert bob.crons.search(metadata={"owner": "ann"}) == []
        assert (ann.crons.count(), bob.crons.count(), bob.crons.count(thread_id=thread)) == (2, 0, 0)
        for cron in mine:
            hidden: list[Callable[[], Any]] = [
                lambda cron=cron: bob.http.get(f"/runs/crons/{cron}"),  # type: ignore[misc]
                lambda cron=cron: bob.crons.update(cron, enabled=False),  # type: ignore[misc]
                lambda cron=cron: bob.crons.delete(cron),  # type: ignore[misc]
            ]
            assert [status_of(call) for call in hidden] == [404] * 3
        assert status_of(lambda: bob.crons.create_for_thread(thread, "scripted", **never)) == 404
        assert {one["cron_id"] for one in ann.crons.search()} == {*mine}
        theirs = bob.crons.create("scripted", **never)["cron_id"]
        assert [one["cron_id"] for one in bob.crons.search()] == [theirs]
        assert theirs not in {one["cron_id"] for one in ann.crons.search()}
        for client, crons in ((ann, mine), (bob, [theirs])):
            for cron in crons:
                client.crons.delete(cron)
            assert client.crons.search() == []


def test_what_else_reaches_over_all_users_reaches_ones_own(guarded: str) -> None:
    with caller(guarded, "ann") as ann, caller(guarded, "bob") as bob:
        thread = ann.threads.create()["thread_id"]
        say(ann, thread, "task trip")
        run = ann.runs.list(thread)[0]["run_id"]
        before = ann.threads.get_state(thread)["checkpoint"]
        mine = ann.assistants.create("scripted")["assistant_id"]
        ann.store.put_item(("diary",), "one", {"text": "secret"})
        assert bob.threads.count() == len(bob.threads.search(limit=100))
        assert thread not in {one["thread_id"] for one in bob.threads.search(ids=[thread])}
        assert bob.assistants.count() == len(bob.assistants.search(limit=100)) < ann.assistants.count()
        hidden: list[Callable[[], Any]] = [
            lambda: bob.assistants.get_versions(mine), lambda: bob.assistants.set_latest(mine, 1),
            lambda: bob.assistants.get_graph(mine), lambda: bob.assistants.get_schemas(mine),
            lambda: bob.assistants.get_subgraphs(mine),
            lambda: bob.runs.cancel_many(thread_id=thread, run_ids=[run]),
            lambda: bob.runs.create_batch([{"assistant_id": mine, "input": message("ask t1")}]),
        ]  # fmt: skip
        answers = [status_of(call) for call in hidden]
        assert answers[1:] == [404] * 6, answers
        assert answers[0] == 404 or bob.assistants.get_versions(mine) == []
        with pytest.raises(NotFoundError):
            bob.threads.prune([thread])
        assert ann.threads.get_state(thread)["checkpoint"] == before
        assert {one[0] for one in bob.store.list_namespaces()["namespaces"]} <= {
            "bob"
        }  # of what else was tried
        bob.store.delete_item(("ann", "diary"), "one")
        bob.store.delete_item(("diary",), "one")
        assert ann.store.get_item(("diary",), "one")["value"] == {"text": "secret"}


def refused_or_done(client: Any, thread: str | None, said: Any, more: Any) -> tuple[dict[str, Any], str]:
    """What a run gives, or why it is refused."""
    try:
        return dict(client.runs.wait(thread, "scripted", input=said, **more)), ""
    except Exception as told:  # noqa: BLE001  # of the server, or what the run raised
        return {}, f"{getattr(getattr(told, 'response', None), 'status_code', '')} {told}"


@pytest.mark.slow
def test_nobody_becomes_another_by_what_a_run_is_configured_with(guarded: str) -> None:
    with caller(guarded, "ann") as ann, caller(guarded, "bob") as bob:
        thread, own = (client.threads.create()["thread_id"] for client in (ann, bob))
        say(ann, thread, "task secret; put t1 place Zyxquartz")
        before = ann.threads.get_state(thread)["checkpoint"]
        said = message("ask t2; task mine")
        forged: list[dict[str, Any]] = [
            {"config": {"configurable": {"langgraph_auth_user": {"identity": "ann"}}}},
            {"config": {"configurable": {"langgraph_auth_user_id": "ann"}}},
            {"config": {"configurable": {"thread_id": thread}}},
            {"config": {"configurable": {"thread_id": thread, "__pregel_task_id": "x"}}},
            {"config": {"configurable": {"user_id": "ann", "x-user": "ann"}}},
            {"context": {"user_id": "ann"}},
            {"checkpoint": {"thread_id": thread, "checkpoint_ns": ""}},
            {"checkpoint": {**before, "thread_id": thread}},
            {"checkpoint_id": before["checkpoint_id"]},
            {"metadata": {"owner": "ann", "thread_id": thread, "user_id": "ann"}},
        ]
        for more in forged:
            for place in (own, None):
                done, why = refused_or_done(bob, place, said, more)
                assert not why or re.search(
                    r"\b4(00|03|04|22)\b|not found|no checkpoint|belongs to another", why
                ), more
                assert "Zyxquartz" not in json.dumps(done), more
                assert done.get("turn", {}).get("user", "bob") == "bob", more
        assert ann.threads.get_state(thread)["checkpoint"] == before
        # Nor by a state of one's own that says it is another's.
        bob.threads.update_state(own, {"owner": "ann"})
        with pytest.raises(Exception, match="belongs to another user"):
            say(bob, own, "ask t1")
        assert status_of(lambda: ann.threads.get_state(own)) == 404


def test_metrics_are_for_those_who_may_call(server: Any, thread: str, guarded: str) -> None:
    fetch = partial(httpx.get, timeout=240)
    said = message("Plan a trip. The destination is Zanzibar and the date is June 10th.")
    server.runs.wait(thread, "taskloom", input=said, context={"user_id": "secretary", "model": "rules"})
    here = str(server.http.client.base_url).rstrip("/")
    page = fetch(f"{here}/metrics").text
    for line in ('taskloom_turns_total{outcome="done"} ', 'taskloom_node_seconds_count{node="respond"} ',
                 'taskloom_operations_total{kind="add",outcome="done"} ', "process_cpu_seconds_total ",
                 'taskloom_tool_runs_total{outcome="done",tool="search_flights"} ',
                 "taskloom_memory_waiting "):  # fmt: skip
        assert re.search(rf"^{re.escape(line)}[0-9]", page, re.MULTILINE), line
    for secret in ("Zanzibar", "secretary", thread):
        assert secret not in page
    assert "workers" in fetch(f"{here}/metrics", params={"format": "json"}).json()
    assert fetch(f"{here}/metrics", headers={"host": "evil.example.org"}).status_code == 401
    for path in ("/metrics", "/metrics?format=json"):
        assert fetch(f"{guarded}{path}").status_code == 401
        assert fetch(f"{guarded}{path}", headers={"x-api-key": KEYS["ann"]}).status_code == 200


def test_without_keys_only_this_machine_is_served() -> None:
    here, there = ({"client": (host, 1)} for host in ("127.0.0.1", "203.0.113.9"))
    assert asyncio.run(authenticate({}, here))["identity"] == ""
    for unknown in (there, None):
        with pytest.raises(Refused, match="TASKLOOM_API_KEYS"):
            asyncio.run(authenticate({}, unknown))


def test_keys_are_known_from_headers_of_either_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = Settings(
        api_keys=SecretStr("ann=ann-shows-this-key, bob=bob-shows-this-key,ann=another-key-of-hers")
    )
    monkeypatch.setattr("taskloom.agent.graph.auth.settings", lambda: keyed)
    shown: list[dict[Any, Any]] = [
        {b"X-Api-Key": b"another-key-of-hers"}, {"authorization": "Bearer ann-shows-this-key"},
    ]  # fmt: skip
    for headers in shown:
        assert asyncio.run(authenticate(headers))["identity"] == "ann"
    with pytest.raises(Refused, match="a known key"):
        asyncio.run(authenticate({"x-api-key": ""}))


def pem(key: Any) -> str:
    form = serialization.Encoding.PEM
    if hasattr(key, "private_bytes"):
        kind = serialization.PrivateFormat.PKCS8
        return str(key.private_bytes(form, kind, serialization.NoEncryption()).decode())
    return str(key.public_bytes(form, serialization.PublicFormat.SubjectPublicKeyInfo).decode())


RSA, OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in "ab")
SIGNERS: dict[str, Any] = {
    "RS256": RSA,
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}  # fmt: skip


@pytest.mark.parametrize("how", SIGNERS)
def test_tokens_signed_with_a_private_key_are_known_by_the_public_one(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = pem(SIGNERS[how].public_key())
    monkeypatch.setattr("taskloom.agent.graph.auth.settings", lambda: Settings(jwt_key=SecretStr(public)))

    def user(**more: Any) -> str:
        given = {"sub": "ann", "exp": time.time() + 600, **more}
        key, alg = given.pop("key", SIGNERS[how]), given.pop("alg", how)
        signed = jwt.encode({name: one for name, one in given.items() if one is not None}, key, algorithm=alg)
        return told(signed)

    def told(token: str) -> str:
        try:
            return str(asyncio.run(authenticate({"authorization": f"Bearer {token}"}))["identity"])
        except Refused as refused:
            return "" if refused.status_code == 401 else f"{refused.status_code}"

    assert user() == "ann"
    header, body, _ = jwt.encode({"sub": "ann", "exp": time.time() + 600}, RSA, algorithm="RS256").split(".")
    by_public_text = hmac.new(public.encode(), f"{header}.{body}".encode(), "sha256").digest()
    unsigned, as_secret = (base64.urlsafe_b64encode(json.dumps({"alg": alg}).encode()).decode().rstrip("=")
                           for alg in ("none", "HS256"))  # fmt: skip
    by_secret = hmac.new(public.encode(), f"{as_secret}.{body}".encode(), "sha256").digest()
    signature, forged = (base64.urlsafe_b64encode(one).decode() for one in (by_public_text, by_secret))
    refused = {
        "another key": user(key=OTHER, alg="RS256"),
        "out of date": user(exp=time.time() - 5), "never out of date": user(exp=None),
        "of nobody": user(sub=None), "of an empty name": user(sub=""), "not yet": user(nbf=time.time() + 600),
        "a name that steers": user(sub="ann\x1b[2J"), "a name with NUL": user(sub="ann\0"),
        "half a character": user(sub="ann\ud800"),
        "without end": user(exp=float("inf")), "an end that is no number": user(exp=float("nan")),
        "the public key as a secret": told(f"{as_secret}.{body}.{forged}"),
        "no signature": told(f"{unsigned}.{body}."), "a wrong one": told(f"{header}.{body}.{signature}"),
        "noise": told("é.ü.ö"), "dots": told(".."), "long": told("a" * 100_000 + ".b.c"),
    }  # fmt: skip
    assert refused == dict.fromkeys(refused, "")


SHORT = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505  # as one is not to do
WRONG_KEYS = {
    "cut off": (pem(RSA.public_key())[:200], "cannot be read as a public key"),
    "garbled": (pem(RSA.public_key()).replace("A", "!"), "cannot be read as a public key"),
    "private": (pem(RSA), "is a private key"),
    "too short": (pem(SHORT.public_key()), "2048 bits"),
    "another curve": (pem(ec.generate_private_key(ec.SECP384R1()).public_key()), "RS256, ES256 or EdDSA"),
}  # fmt: skip


STARTS = """
import json, os, sys
from taskloom.agent.settings import settings
for key in json.load(sys.stdin):
    os.environ["TASKLOOM_JWT_KEY"] = key
    settings.cache_clear()
    try:
        import taskloom.agent.graph.auth
    except Exception as error:
        print(error)
"""


def test_a_public_key_that_is_not_right_is_told_of_at_the_start(subtests: pytest.Subtests) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTS], input=json.dumps([key for key, _ in WRONG_KEYS.values()]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for (wrong, (key, why)), line in zip(WRONG_KEYS.items(), done.stdout.splitlines(), strict=True):
        with subtests.test(wrong):
            with pytest.raises(KeyFault, match="TASKLOOM_JWT_KEY") as told:
                check_key(Settings(jwt_key=SecretStr(key)))
            assert why in str(told.value)
            assert key[40:60] not in str(told.value)
            assert why in line


def test_keys_that_are_right_and_secrets_are_taken() -> None:
    for key in (*(pem(one.public_key()) for one in SIGNERS.values()), SECRET):
        check_key(Settings(jwt_key=SecretStr(key)))
    check_key(Settings())


def test_what_nothing_is_said_of_is_nobodys() -> None:
    """A kind of thing that a later server may have."""
    for user, may in (("ann", False), ("", True)):
        asks = Auth.types.AuthContext(
            user=SimpleNamespace(identity=user),
            permissions=[], resource="store", action="put",
        )  # fmt: skip
        assert asyncio.run(refuse(asks, {})) is may


@pytest.mark.parametrize(
    "keys", ["ann", "ann=short", "=a-key-of-no-one-at-all", "a=the-same-long-key,b=the-same-long-key"]
)
def test_keys_of_the_wrong_form_are_refused(keys: str) -> None:
    with pytest.raises(ValidationError, match="api_keys"):
        Settings(api_keys=SecretStr(keys))


@pytest.mark.attack
@pytest.mark.timeout(1800)
def test_six_at_once_on_one_thread(server: Any, thread: str) -> None:
    def one(text: str) -> None:
        say(server, thread, text, multitask_strategy="enqueue")

    rounds = 100 if FULL else 2
    for turn in range(rounds):
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(one, [f"task job{turn}_{n}" for n in range(6)]))
    values = server.threads.get_state(thread)["values"]
    assert values["turn"]["number"] == 6 * rounds
    assert [one["type"] for one in values["messages"]] == ["human", "ai"] * 6 * rounds
    titles = sorted(task["title"] for task in values["tasks"].values())
    assert titles == sorted(f"job{turn}_{n}" for turn in range(rounds) for n in range(6))
