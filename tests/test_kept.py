"""Plans of threads that are kept, changed by calls and in words, and the memory of their user."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from taskloom.agent.graph.runs import ForeignThreadError
from taskloom.agent.parts.kept import ThreadPlan, UserMemory, facts_in
from taskloom.agent.parts.tools import task_memory_tools
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom, UndecidedError
from taskloom.agent.turn.state import Context
from taskloom.memory.outbox import Outbox
from taskloom.memory.records import IntentUnit
from taskloom.memory.store import InMemoryStore
from tests.chroma_server import HashEmbedder
from tests.scripted import services


@pytest.fixture
def longterm(tmp_path: Path) -> Iterator[LongTerm]:
    store = InMemoryStore(HashEmbedder())
    opened = LongTerm(lambda: store, lambda: Outbox(tmp_path / "outbox.sqlite"))
    yield opened
    opened.close()


@pytest.fixture
def opened(tmp_path: Path, longterm: LongTerm) -> Iterator[Taskloom]:
    with Taskloom(Threads(tmp_path / "home", wait=60), services(memory=longterm)) as made:
        yield made


def test_calls_and_words_are_turns_of_one_plan(opened: Taskloom, longterm: LongTerm) -> None:
    plan = ThreadPlan(opened, thread="a", user="ann")
    assert plan.call("add_task", {"title": "Trip"}).startswith("t1")
    assert plan.say("put t1 place Rome").text
    assert plan.carry_out("add_task", {"title": "Trip"}).refused
    plan.call("update_task", {"task": "t2", "value": "Oslo"})
    assert [(state.turn, state.value) for state in opened.tasks("a")["t2"].states()] == [
        (2, "Rome"),
        (3, "Oslo"),
    ]
    assert "update" in plan.call("task_history", {"task": "t2"})
    assert "Rome" in plan.call("undo_tasks", {})
    state = opened.state("a")
    assert (state.values["turn"].number, state.values["focus"][0], state.next) == (4, "t2", ())
    assert opened.threads()[0].user == "ann"
    longterm.flush()
    (unit,) = longterm.store.records("ann", "unit")
    assert isinstance(unit, IntentUnit)
    assert [pair.answer for pair in unit.pairs] == ["Rome"]
    assert "by hand" not in unit.text
    assert "update_task" not in unit.text


def test_the_plain_tools_work_on_a_thread(opened: Taskloom) -> None:
    add = task_memory_tools(ThreadPlan(opened, thread="a", user="ann").call)[0]
    assert "Pack" in add.invoke({"title": "Pack"})
    assert opened.tasks("a")["t1"].title == "Pack"


def test_what_is_done_at_once_is_all_kept(tmp_path: Path) -> None:
    apps = [Taskloom(Threads(tmp_path, wait=120), services()) for _ in range(2)]
    plans = [ThreadPlan(app, thread="a", user="ann") for app in apps]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: plans[n % 2].call("add_task", {"title": f"job {n}"}), range(16)))
    graph = apps[0].tasks("a")
    assert sorted(node.title for node in graph.values()) == sorted(f"job {n}" for n in range(16))
    assert sorted(node.turn for node in graph.values()) == list(range(1, 17))
    for app in apps:
        app.close()


def test_a_thread_of_another_user_is_refused(opened: Taskloom) -> None:
    ThreadPlan(opened, thread="a", user="ann").call("add_task", {"title": "Secret"})
    other = ThreadPlan(opened, thread="a", user="bob")
    for name, args in (("add_task", {"title": "x"}), ("check_tasks", {}), ("undo_tasks", {})):
        with pytest.raises(ForeignThreadError):
            other.call(name, args)
    with pytest.raises(ForeignThreadError):
        other.say("task x")
    assert [node.title for node in opened.tasks("a").values()] == ["Secret"]


def test_what_waits_for_approval_waits_for_its_user(opened: Taskloom) -> None:
    plan = ThreadPlan(opened, thread="a", user="ann")
    plan.say("task trip; put t1 place Rome")
    opened.talk("drop t1", thread="a", context=Context(user_id="ann", approve=True))
    for attempt in (lambda: plan.say("yes"), lambda: plan.call("add_task", {"title": "x"})):
        with pytest.raises(UndecidedError, match="taskloom chat --thread a"):
            attempt()
    assert "t1" in plan.call("check_tasks", {})


def test_memory_is_of_one_user(longterm: LongTerm) -> None:
    ann, bob = (UserMemory(longterm, user=name, thread="a") for name in ("ann", "bob"))
    line = ann.carry_out("remember", {"text": "deploy only on Tuesdays"}).text
    ann.carry_out("remember", {"text": "Mia lives in Rome."})
    assert "Tuesdays" in ann.carry_out("recall", {"query": "deploy", "limit": 1}).text
    assert bob.carry_out("recall", {"query": "deploy"}).text == "nothing like that is remembered"
    key = line.split()[0]
    assert bob.carry_out("forget", {"ids": [key]}).refused
    assert "2 ids begin so" in ann.carry_out("forget", {"ids": ["f"]}).text
    assert ann.carry_out("forget", {"ids": [""]}).refused
    assert "forgotten" in ann.carry_out("forget", {"ids": [key]}).text
    assert "Tuesdays" not in ann.carry_out("recall", {"query": "deploy"}).text
    for name, args in (("remember", {"text": " "}), ("recall", {}), ("forget", {"ids": []})):
        assert ann.carry_out(name, args).refused, name


def test_what_is_true_again_is_current_again(longterm: LongTerm) -> None:
    memory = UserMemory(longterm, user="ann", thread="a")
    for place in ("Rome", "Oslo", "Rome"):
        memory.carry_out("remember", {"text": f"I live in {place}."})
    told = memory.carry_out("recall", {"query": "where do I live"}).text.splitlines()
    assert sum("(former)" not in line for line in told) == 1
    assert "Rome" in next(line for line in told if "(former)" not in line)


def test_sentences_are_read_all_or_kept_whole() -> None:
    assert [fact.text for fact in facts_in("Mia is allergic to nuts. She lives in Oslo.", "a")] == [
        "Mia is allergic to nuts.", "Mia lives in Oslo."
    ]  # fmt: skip
    whole = "I live in Rome. Deploy only on Tuesdays."
    assert [fact.text for fact in facts_in(whole, "a")] == [whole]
