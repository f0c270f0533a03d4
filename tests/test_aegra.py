"""Aegra with two workers: users apart, six runs at once on a thread, a worker or the database gone."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import chain, count
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import BadRequestError

from tests.aegra_server import KEYS, ROOT, SOON, Aegra, Redis, missing
from tests.postgres_server import PostgresServer

pytestmark = [
    pytest.mark.attack,
    pytest.mark.slow,
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
Caller = Callable[..., Any]
SIX, ROUNDS = range(6), 100 if FULL else 3
GRAPHS = {name: f"{ROOT}/tests/{name}.py:make_graph" for name in ("scripted", "gated")}


@pytest.fixture(scope="module")
def aegra(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aegra]:
    folder = tmp_path_factory.mktemp("aegra")
    with (
        Redis(folder) as redis,
        Aegra(folder, postgres.database(), redis.url, graphs=GRAPHS, given=SOON) as running,
    ):
        yield running


@pytest.fixture
def caller(aegra: Aegra) -> Iterator[Caller]:
    """Gives a client of a user's, at one of the workers."""
    with ExitStack() as stack:

        def made(user: str, worker: int = 0) -> Any:
            return stack.enter_context(get_sync_client(url=aegra.urls[worker], api_key=KEYS[user]))

        yield made


class RunFailed(Exception):
    """A run ended in an error: the client was told, and nothing was acknowledged."""


def message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def say(client: Any, thread: str, text: str, graph: str = "scripted", **more: Any) -> dict[str, Any]:
    """One turn, streamed, as `wait` looks only every other second; what it gave in the end."""
    given = more or {"input": message(text)}
    values: dict[str, Any] = {}
    for part in client.runs.stream(thread, graph, **given, stream_mode="values"):
        if part.event == "error":
            raise RunFailed(part.data)
        values = part.data if part.event == "values" else values
    if "__interrupt__" in values:
        return values
    asked = [
        one for task in client.threads.get_state(thread)["tasks"] for one in task.get("interrupts") or ()
    ]
    return {**values, "__interrupt__": asked} if asked else values  # the last part of a stream may be lost


def new_thread(client: Any) -> str:
    return str(client.threads.create()["thread_id"])


def whole(values: dict[str, Any], texts: list[str]) -> None:
    """Every turn once: its message, its reply, its number and its task."""
    assert values["turn"]["number"] == len(texts)
    assert [one["type"] for one in values["messages"]] == ["human", "ai"] * len(texts)
    assert sorted(one["content"] for one in values["messages"][::2]) == sorted(texts)
    titles = sorted(task["title"] for task in values["tasks"].values())
    assert titles == sorted(text.removeprefix("task ") for text in texts)


def test_what_is_one_users_is_not_there_for_another(aegra: Aegra, caller: Caller) -> None:
    ann, bob = caller("ann"), caller("bob", 1)
    thread = str(ann.threads.create(metadata={"owner": "bob"})["thread_id"])
    done = say(ann, thread, "", "taskloom", input=message("Plan a trip to Rome"), context={"user_id": "bob"})
    assert done["turn"]["user"] == "ann"
    (run,) = ann.runs.list(thread)
    mine = ann.assistants.create("scripted", metadata={"created_by": "system"})["assistant_id"]
    ann.store.put_item(("notes",), "one", {"text": "secret"})
    ann.runs.wait(None, "consolidate", input={})
    before = ann.threads.get_state(thread)

    hidden: list[Callable[[], Any]] = [
        lambda: bob.threads.get(thread),
        lambda: bob.threads.update(thread, metadata={"owner": "bob"}),
        lambda: bob.threads.get_state(thread),
        lambda: bob.threads.update_state(thread, {"focus": []}),
        lambda: bob.threads.get_history(thread),
        lambda: bob.threads.delete(thread),
        lambda: bob.runs.get(thread, run["run_id"]),
        lambda: bob.runs.join(thread, run["run_id"]),
        lambda: bob.runs.cancel(thread, run["run_id"]),
        lambda: bob.runs.delete(thread, run["run_id"]),
        lambda: bob.runs.create(thread, "taskloom", input=message("Forget it")),
        lambda: bob.runs.wait(thread, "taskloom", input=message("Forget it")),
        lambda: say(bob, thread, "Forget it"),
        lambda: bob.assistants.get(mine),
        lambda: bob.assistants.delete(mine),
        lambda: bob.runs.wait(None, mine, input=message("task x")),
    ]
    for call in hidden:
        with pytest.raises(httpx.HTTPStatusError) as told:
            call()
        assert told.value.response.status_code == 404
    assert bob.runs.list(thread) == []
    assert bob.threads.search() == []
    assert bob.threads.search(metadata={"owner": "ann"}) == []
    assert mine not in {one["assistant_id"] for one in bob.assistants.search(limit=100)}
    for namespace in ((), ("notes",), ("ann", "notes"), ("users", "ann", "notes")):
        assert bob.store.search_items(namespace)["items"] == []
    assert ann.store.get_item(("notes",), "one")["value"] == {"text": "secret"}
    after = ann.threads.get_state(thread)
    assert (after["values"], after["checkpoint"]) == (before["values"], before["checkpoint"])

    again = "Plan a trip, same as last time"
    told_bob, told_ann = (
        say(client, new_thread(client), again, "taskloom")["turn"]["reply"] for client in (bob, ann)
    )
    assert "Rome" not in told_bob
    assert "Rome" in told_ann
    for headers in ({}, {"x-api-key": "some-other-long-key"}, {"authorization": "Bearer a.b.c"}):
        got = httpx.post(f"{aegra.urls[0]}/threads/search", json={}, headers=headers)
        assert got.status_code == 401


def test_metrics_are_for_those_who_may_call(aegra: Aegra, caller: Caller) -> None:
    """Of each worker its own; between two any may have had the turn."""
    thread = new_thread(caller("ann"))
    say(caller("ann"), thread, "", "taskloom", input=message("Plan a trip to Zanzibar"))
    pages = [httpx.get(f"{url}/metrics", headers={"x-api-key": KEYS["ann"]}).text for url in aegra.urls]
    for line in ('taskloom_turns_total{outcome="done"} ', "taskloom_memory_waiting "):
        assert any(f"\n{line}" in page for page in pages), line
    for secret in ("Zanzibar", "ann", thread):
        assert not any(secret in page for page in pages)
    for url in aegra.urls:
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert httpx.get(f"{url}/health").status_code == 200


def test_six_at_once_on_one_thread(caller: Caller) -> None:
    clients = [caller("ann", worker) for worker in (0, 1)]
    thread = new_thread(clients[0])
    texts = [[f"task job{turn}_{n}" for n in SIX] for turn in range(ROUNDS)]
    with ThreadPoolExecutor(6) as pool:
        for round_ in texts:
            list(pool.map(lambda n, said=round_: say(clients[n % 2], thread, said[n]), SIX))
    whole(clients[1].threads.get_state(thread)["values"], [*chain(*texts)])


def kill_at_the_gate(aegra: Aegra) -> int:
    """Kill the worker whose run stands at the gate, and open that for others; gives its number."""
    gate, until = aegra.home / "at", time.monotonic() + 60
    while not gate.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    killed = aegra.worker_of(int(gate.read_text()))
    aegra.kill(killed)
    gate.unlink()
    (aegra.home / "go").touch()
    return killed


def test_a_killed_worker_loses_and_doubles_nothing(aegra: Aegra, caller: Caller) -> None:
    """Its runs are taken over: one that was reading, one whose tool had its effect but had not ended."""
    ann = caller("ann")
    talk, booking = new_thread(ann), new_thread(ann)
    say(ann, talk, "task first", "gated")
    asked = say(ann, booking, "task trip; put t1 place Rome", "gated")
    assert asked["__interrupt__"][0]["value"]["action"] == "call"

    cut = ann.runs.create(talk, "gated", input=message("task wait"))["run_id"]
    killed = kill_at_the_gate(aegra)
    ann = caller("ann", 1 - killed)
    say(ann, talk, "task other", "gated")
    ann.runs.join(talk, cut)
    whole(ann.threads.get_state(talk)["values"], ["task first", "task other", "task wait"])
    aegra.start(killed)

    for left in ("at", "go"):  # the one that took it over came by the gate too
        (aegra.home / left).unlink()
    cut = ann.runs.create(booking, "gated", command={"resume": {"approve": True}})["run_id"]
    killed = kill_at_the_gate(aegra)
    ann = caller("ann", 1 - killed)
    told = ann.runs.join(booking, cut)["turn"]
    assert (aegra.home / "effects").read_text() == "Rome\n"
    assert "Shall I try again?" in told["reply"]  # nobody can know whether it had its effect
    aegra.start(killed)


def test_what_is_approved_six_times_at_once_is_done_once(aegra: Aegra, caller: Caller) -> None:
    """At both workers; whoever comes too late is refused by the server, or gets the turn as it is."""
    clients, effects = [caller("ann", worker) for worker in (0, 1)], aegra.home / "effects"
    (aegra.home / "go").touch()

    def approve(number: int, thread: str) -> None:
        with suppress(RunFailed, BadRequestError):
            say(clients[number % 2], thread, "", "gated", command={"resume": {"approve": True}})

    for turn in range(20 if FULL else 2):
        thread = new_thread(clients[0])
        asked = say(clients[0], thread, f"task trip; put t1 place Oslo{turn}", "gated")
        assert asked["__interrupt__"][0]["value"]["action"] == "call"
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(approve, SIX, [thread] * 6))
        values = clients[1].threads.get_state(thread)["values"]
        assert values["turn"]["number"] == 1
        assert [one["type"] for one in values["messages"]] == ["human", "ai"]
        assert effects.read_text().splitlines().count(f"Oslo{turn}") == 1


def test_what_was_acknowledged_outlives_the_database(caller: Caller, postgres: PostgresServer) -> None:
    """Runs end in errors while it is away, and until the server has connected again; no turn is torn."""
    clients = [caller("ann", worker) for worker in (0, 1)]
    thread = new_thread(clients[0])
    there = ["task first", "task second"]
    for text in there:
        say(clients[0], thread, text)
    postgres.stop()
    with pytest.raises(httpx.HTTPError):
        say(clients[0], thread, "task refused")
    postgres.start()
    until = time.monotonic() + 180
    for name, client in zip(("third", "fourth"), clients, strict=True):
        for number in count():
            try:
                say(client, thread, f"task {name}{number}")
            except (httpx.HTTPError, RunFailed):
                assert time.monotonic() < until
            else:
                there.append(f"task {name}{number}")
                break
    while True:  # what one worker reads is read over a connection of its own
        try:
            state = clients[0].threads.get_state(thread)
        except httpx.HTTPError:
            assert time.monotonic() < until
        else:
            break
    whole(state["values"], there)


def test_a_server_that_cannot_tell_who_calls_does_not_serve(aegra: Aegra) -> None:
    """Aegra goes on without a file of users that it cannot load, and then takes everybody for one."""
    done = subprocess.run(
        aegra.command(0), env={**aegra.environment, "TASKLOOM_API_KEYS": "ann=short"}, cwd=aegra.home,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "with keys of 16 characters or more" in done.stdout + done.stderr
