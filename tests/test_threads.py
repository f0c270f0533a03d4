"""Threads on disk: serialisation, locks, kills, lists, exports, and what a turn costs."""

import gzip
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Overwrite
from pydantic import create_model

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.plain import STORED, UnknownTypeError
from taskloom.agent.settings import Settings
from taskloom.agent.threads.checkpoints import CompactSerializer
from taskloom.agent.threads.store import ThreadBusyError, Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.decisions import Approval
from taskloom.agent.turn.state import Context, Turn
from taskloom.memory.tasks import GraphError, TaskGraph, TaskNode
from tests.scripted import services
from tests.test_act import Tools
from tests.test_act import services as with_tools

ROOT = Path(__file__).parent.parent


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Taskloom]:
    with Taskloom(Threads(tmp_path), services()) as opened:
        yield opened


def opened(home: Path, *, wait: float = 30.0) -> Taskloom:
    return Taskloom(Threads(home, wait=wait), services())


# ---- talking --------------------------------------------------------------------------------------


def test_a_talk_is_resumed_by_another_process(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.talk("task trip; put t1 place Rome", thread="a")
    with opened(tmp_path) as second:
        turn = second.talk("set t2 Paris", thread="a")
        assert turn.number == 2
        assert [state.value for state in second.tasks("a")["t2"].states()] == ["Rome", "Paris"]
        assert len(second.tasks("nowhere")) == 0


def test_open_takes_what_the_settings_say(tmp_path: Path) -> None:
    with Taskloom.open(Settings(home=tmp_path / "h", lock_timeout=1.5)) as app:
        assert app.talk("").number == 1
    assert (tmp_path / "h" / "threads.sqlite").exists()


def test_more_threads_than_are_remembered(app: Taskloom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskloom.agent.threads.checkpoints._WARM_THREADS", 2)
    for turn in range(1, 4):
        for name in "abcd":
            assert app.talk(f"task job{turn}", thread=name).number == turn
    assert all(len(app.tasks(name)) == 3 for name in "abcd")
    saver: Any = app._threads.saver
    assert len(saver._warm) == 2


def test_the_home_is_private(tmp_path: Path) -> None:
    with opened(tmp_path / "new" / "home"):
        assert (tmp_path / "new" / "home").stat().st_mode & 0o077 == 0


def test_the_reply_is_shown_piece_by_piece(app: Taskloom) -> None:
    shown: list[tuple[str, str]] = []
    turn = app.talk("task trip", show=lambda text, key: shown.append((text, key)))
    assert "".join(text for text, _ in shown) == turn.reply
    assert len(shown) > 1
    assert len({key for _, key in shown}) == 1
    shown.clear()
    turn = app.talk("", show=lambda text, key: shown.append((text, key)))
    assert "".join(text for text, _ in shown) == turn.reply


def test_an_approval_in_a_talk(app: Taskloom) -> None:
    app.talk("task trip; put t1 place Rome; task cart; put t3 item pen")
    asked: list[Approval] = []

    def decline(approval: Approval) -> bool:
        asked.append(approval)
        return False

    assert "nothing was removed" in app.talk("drop t1", ask=decline).reply
    assert asked[0].tasks == ("trip", "place")
    assert "remove: ok" in app.talk("drop t1; drop t3", ask=lambda a: True).reply
    assert app.tasks().active == ()


def test_an_approval_waits_over_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as app:
        app.talk("task trip; put t1 place Rome")
        assert app.pending() is None
        assert (
            app.talk("drop t1", context=Context(approve=True)).reply == "Remove the trip with its one part?"
        )
    with opened(tmp_path) as app:
        waiting = app.pending()
        assert waiting is not None
        assert waiting.action == "remove"
        assert "remove: ok" in app.decide(True).reply
        assert app.pending() is None
        assert app.tasks().active == ()


def test_lone_surrogates_do_not_break_a_thread(app: Taskloom) -> None:
    app.talk("task a\ud800b")
    assert app.tasks()["t1"].title == "a?b"


def test_export_and_load(app: Taskloom) -> None:
    app.talk("task trip; put t1 place Rome", thread="a")
    app.talk("set t2 Paris", thread="a")
    text = app.export("a")
    assert {"tasks", "messages", "focus"} == set(json.loads(text))
    app.load(text, thread="b")
    assert app.tasks("b") == app.tasks("a")
    assert app.talk("set t2 Oslo", thread="b").number == 4
    assert "Nothing was loaded" in app.load(text, thread="b", ask=lambda a: a.action != "load").reply
    assert app.tasks("b")["t2"].value == "Oslo"
    with pytest.raises(GraphError):
        app.load("{}", thread="b")
    app.load(app.tasks("a").to_json(), thread="c")
    assert app.tasks("c") == app.tasks("a")


def test_threads_are_listed_and_deleted(app: Taskloom, tmp_path: Path) -> None:
    assert app.threads() == []
    app.talk("task trip", thread="a")
    app.talk("task cart", thread="b/../c")
    app.talk("set t1 x", thread="a")
    assert [(t.thread, t.turns, t.title) for t in app.threads()] == [
        ("a", 2, "task trip"), ("b/../c", 1, "task cart")
    ]  # fmt: skip
    assert app.threads()[0].used.tzinfo is not None
    app.delete("a")
    assert [t.thread for t in app.threads()] == ["b/../c"]
    assert len(app.tasks("a")) == 0
    assert app.talk("task new", thread="a").number == 1
    assert list(app.tasks("a")) == ["t1"]
    assert {path.name for path in tmp_path.iterdir()} <= {
        "locks", "threads.sqlite", "threads.sqlite-wal", "threads.sqlite-shm"
    }  # fmt: skip


# ---- one at a time --------------------------------------------------------------------------------


def test_sixteen_runs_at_once_on_one_thread_are_all_kept(app: Taskloom) -> None:
    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(lambda n: app.talk(f"task job{n}").number, range(16)))
    assert sorted(numbers) == list(range(1, 17))
    assert {node.title for node in app.tasks().active} == {f"job{n}" for n in range(16)}


def test_another_process_waits_and_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, wait=0.2) as app, opened(tmp_path) as other:
        with other._threads.lock("main"):
            with pytest.raises(ThreadBusyError, match=r"'main' is in use.*0\.2 s"):
                app.talk("task trip")
            app.talk("task cart", thread="free")
        with other.still("main"), pytest.raises(ThreadBusyError):
            app.delete("main")
        app.talk("task trip")
        with app._threads.lock("main"), pytest.raises(ThreadBusyError), app._threads.lock("main"):
            pass


TALKER = """
import sys
from pathlib import Path
from taskloom.agent.threads import Taskloom, Threads
from tests.scripted import services
from tests.test_act import Tools
from tests.test_act import services as with_tools
app = Taskloom(Threads(Path(sys.argv[1])), services())
print("ready", flush=True)
for n in range(int(sys.argv[2])):
    print(app.talk(f"task {sys.argv[3]}{n}").number, flush=True)
"""


def talker(home: Path, turns: int, name: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", TALKER, str(home), str(turns), name],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_on_one_thread_lose_nothing(tmp_path: Path) -> None:
    running = [talker(tmp_path, 15, name) for name in ("a", "b")]
    numbers = [int(line) for process in running for line in process.communicate()[0].split()[1:]]
    assert sorted(numbers) == list(range(1, 31))
    with opened(tmp_path) as app:
        assert {node.title for node in app.tasks().active} == {f"{p}{n}" for p in "ab" for n in range(15)}
        assert app.tasks().faults() == []


@pytest.mark.slow
def test_a_killed_process_loses_no_acknowledged_turn(tmp_path: Path) -> None:
    chance = random.Random(4)
    acknowledged: list[str] = []
    for attempt in range(5):
        process = talker(tmp_path, 10_000, f"k{attempt}_")
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdout.readline().strip().isdigit()
        time.sleep(chance.uniform(0.05, 0.4))  # in the middle of a turn, or between two
        os.kill(process.pid, signal.SIGKILL)
        told = 1 + process.stdout.read().count("\n")
        process.stdout.close()
        process.wait()
        acknowledged += [f"k{attempt}_{n}" for n in range(told)]
    assert len(acknowledged) > 10
    with opened(tmp_path) as app:
        titles = [node.title for node in app.tasks().active]
        assert set(acknowledged) <= set(titles)
        assert len(titles) <= len(acknowledged) + 5  # at most the turn that was written and not yet told
        assert app.tasks().faults() == []
        assert app.talk("task after").number == len(titles) + 1


# ---- what is read is what was written --------------------------------------------------------------


def test_the_serializer_compresses_and_reads_both_kinds() -> None:
    compact, plain = CompactSerializer(), JsonPlusSerializer()
    value = {"a": ["text"] * 500}
    kind, data = compact.dumps_typed(value)
    assert kind == "msgpack+zlib"
    assert len(data) < len(plain.dumps_typed(value)[1]) / 10
    assert compact.loads_typed((kind, data)) == value
    assert compact.loads_typed(plain.dumps_typed(value)) == value
    assert compact.dumps_typed([1])[0] == "msgpack"


@pytest.mark.slow
def test_what_is_remembered_is_what_the_plain_saver_reads(tmp_path: Path) -> None:
    """A long talk with edits, overwrites, a fork and a second reader; warm, cold and in memory all agree."""
    warm = opened(tmp_path)
    memory = build_graph(services(), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "main", "checkpoint_ns": ""}}
    chance = random.Random(1)
    for n in range(120):
        words = chance.choice(
            [f"task job{n}", f"set t{chance.randint(1, 9)} {n}", "which", "ask t1", "crash"]
        )
        warm.talk(words)
        memory.invoke({"messages": [HumanMessage(words)]}, config)
        if n % 25 == 20:
            for graph in (warm.graph, memory):
                graph.update_state(config, {"tasks": {"t1": {"value": f"edit{n}"}}})
        if n % 40 == 30:
            for graph in (warm.graph, memory):
                kept = {k: v for k, v in graph.get_state(config).values["tasks"].items() if k == "t1"}
                graph.update_state(config, {"tasks": Overwrite(kept)})
        if n % 30 == 10:
            with opened(tmp_path) as other:
                other.talk("task other")
            memory.invoke({"messages": [HumanMessage("task other")]}, config)
        if n == 70:
            fork = [state for state in warm.graph.get_state_history(config, limit=8) if not state.next][4]
            warm.graph.invoke({"messages": [HumanMessage("task forked")]}, fork.config)
            ends = [state for state in memory.get_state_history(config, limit=80) if not state.next]
            past = next(state for state in ends if state.values["turn"].number == fork.values["turn"].number)
            memory.invoke({"messages": [HumanMessage("task forked")]}, past.config)
        if n % 10 == 0:
            expected = memory.get_state(config).values
            with opened(tmp_path) as cold:
                for app in (warm, cold):
                    found = app.state().values
                    assert found["tasks"] == expected["tasks"], n
                    assert [m.text for m in found["messages"]] == [m.text for m in expected["messages"]], n
    warm.close()


def test_values_handed_out_share_no_container(app: Taskloom) -> None:
    app.talk("task trip")
    for _ in range(3):
        values = app.state().values
        values["tasks"].clear()
        values["messages"].clear()
        values["focus"].clear()
    assert list(app.tasks()) == ["t1"]
    app.talk("set t1 x")
    assert app.tasks()["t1"].value == "x"
    assert len(app.state().values["messages"]) == 4


def test_a_database_of_the_plain_saver_can_be_opened(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver

    connection = sqlite3.connect(tmp_path / "threads.sqlite", check_same_thread=False)
    saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=STORED))
    graph = build_graph(services(), checkpointer=saver)
    graph.invoke({"messages": [HumanMessage("task trip")]}, {"configurable": {"thread_id": "main"}})
    connection.close()
    with opened(tmp_path) as app:
        assert app.talk("set t1 x").number == 2
        assert [state.value for state in app.tasks()["t1"].states()] == [None, "x"]


def test_a_thread_from_before_the_types_moved_is_talked_on(tmp_path: Path) -> None:
    former = Path(__file__).parent / "threads_before_wings.sqlite.gz"
    (tmp_path / "threads.sqlite").write_bytes(gzip.decompress(former.read_bytes()))
    with Taskloom.open(Settings(home=tmp_path, model="", memory=False)) as app:
        turn = app.state().values["turn"]
        assert isinstance(turn, Turn)
        assert (turn.number, turn.utterance) == (4, "Cancel everything.")
        assert [node.value for node in app.tasks().values() if node.slot == "dinner.date"] == ["Saturday"]
        assert "Friday" in app.talk("What was the date of the dinner before?").reply


def test_tool_runs_of_an_older_version_are_read_and_its_open_approval_is_decided(tmp_path: Path) -> None:
    former = Path(__file__).parent / "threads_before_tool_runs.sqlite.gz"
    (tmp_path / "threads.sqlite").write_bytes(gzip.decompress(former.read_bytes()))
    tools = Tools()
    with Taskloom(Threads(tmp_path), with_tools(Equipment(registry=tools.registry()))) as app:
        turn = app.state("done").values["turn"]
        assert [(type(run), run.call.tool, run.status, run.task) for run in turn.tool_runs] == [
            (ToolRun, "find", "done", "t4"),
            (ToolRun, "book", "done", "t5"),
        ]
        turn = app.decide(True, thread="waiting")
        assert [(run.call.tool, run.task) for run in turn.tool_runs] == [("find", "t4"), ("book", "t5")]
        assert tools.calls == [("book", "RO7 on Friday", "1")]
        assert app.tasks("waiting")["t4"].value == "RO7 on Friday"


def test_calls_from_before_the_types_moved_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call(tool="t", place="t1", args={"a": "taskloom.agent.state"}, gives="g", title="G")
    former = create_model("Act", __base__=ToolRun, __module__="taskloom.agent.acting")
    given = {"calls": [former(call=call, status="done", text="x")]}
    monkeypatch.setattr(Call, "__module__", "taskloom.agent.acting")
    stored = CompactSerializer().dumps_typed(given)
    monkeypatch.undo()
    (read,) = CompactSerializer(allowed_msgpack_modules=STORED).loads_typed(stored)["calls"]
    assert read == ToolRun(call=call, status="done", text="x")


def test_types_that_are_not_the_states_are_refused_by_name() -> None:
    stored = CompactSerializer().dumps_typed(Approval(action="remove", question="?"))
    with pytest.raises(UnknownTypeError, match=r"holds an? taskloom.agent.turn.decisions.Approval"):
        CompactSerializer(allowed_msgpack_modules=STORED).loads_typed(stored)


# ---- what it costs --------------------------------------------------------------------------------


def plan(size: int) -> TaskGraph:
    """Trees of ten tasks with values."""
    chance = random.Random(1)
    words = [
        "paint",
        "walls",
        "kitchen",
        "plumber",
        "invoice",
        "ticket",
        "dinner",
        "Berlin",
        "garden",
        "lamp",
    ]
    tasks = []
    for n in range(1, size + 1):
        root = (n - 1) // 10 * 10 + 1
        name, value = chance.choice(words), f"{chance.choice(words)} {chance.randint(1, 999)}"
        said = f"please note {name} for the {chance.choice(words)}, number {n}"
        whole = n == root
        tasks.append(
            TaskNode(
                id=f"t{n}",
                slot=f"task{root}" if whole else f"task{root}.{name}{n}",
                title=name,
                said=said,
                value=None if whole else value,
                parent=None if whole else f"t{root}",
                turn=1,
                status="open" if whole else "filled",
            )
        )
    return TaskGraph(tasks)


def measured(home: Path, size: int, turns: int) -> float:
    """KB on disk per turn, with two changes a turn."""
    with opened(home) as app:
        app.load(plan(size).to_json())

        def kilobytes() -> float:
            saver: Any = app._threads.saver
            saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return sum(path.stat().st_size for path in home.glob("threads.sqlite*")) / 1024

        before, chance = kilobytes(), random.Random(2)
        for n in range(turns):
            first, second = chance.sample([k for k in range(1, size) if k % 10 != 1], 2)
            app.talk(f"set t{first} on day {n} of the week; set t{second} number {chance.random():.6f}")
        return (kilobytes() - before) / turns


def test_a_turn_costs_little_on_disk(tmp_path: Path) -> None:
    """The figures over a thousand turns, and for 10,000 tasks, are in benchmarks/turns.py."""
    assert measured(tmp_path, 100, 60) <= 8
