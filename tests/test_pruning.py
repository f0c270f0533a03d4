"""Pruned threads go on as if they were whole, on SQLite and PostgreSQL; killed midway too."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateSnapshot
from pydantic import SecretStr
from typer.testing import CliRunner

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.cli.main import app as commands
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.locks import ThreadBusyError
from taskloom.agent.graph.runs import MissingCheckpointError
from taskloom.agent.settings import Settings
from taskloom.agent.threads.checkpoints import WarmSaver
from taskloom.agent.threads.pruning import Keep, Pruned, Size
from taskloom.agent.threads.store import Threads, run_config
from taskloom.agent.threads.taskloom import Taskloom, shelf_of
from taskloom.agent.turn.state import Context
from tests.killing import forked
from tests.scripted import services
from tests.test_act import TRIP, Tools
from tests.test_act import services as with_tools

ROOT = Path(__file__).parent.parent
BLOBS = "SELECT version FROM checkpoint_blobs WHERE thread_id = 'pruned'"
USED = """SELECT jsonb_object_keys(checkpoint -> 'channel_versions') FROM checkpoints
WHERE thread_id = 'pruned'"""
Opener = Callable[[], Taskloom]


@pytest.fixture(params=["sqlite", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The settings of either database."""
    url = SecretStr(request.getfixturevalue("database")) if request.param == "postgres" else None
    return Settings(home=tmp_path / "home", database_url=url, lock_timeout=60)


def opened(given: Settings, *, wait: float = 60, tools: Equipment | None = None) -> Taskloom:
    return Taskloom(Threads(shelf_of(given), wait=wait), with_tools(tools) if tools else services())


@pytest.fixture
def talks(either: Settings) -> Iterator[Opener]:
    """Opens the threads, as many times as processes would."""
    made: list[Taskloom] = []

    def one() -> Taskloom:
        made.append(opened(either))
        return made[-1]

    yield one
    for each in made:
        each.close()


def said(number: int) -> str:
    """What is said in a turn: little of it new, so that the tasks get a long history."""
    match number % 6:
        case 1:
            return f"task job{number}; put t1 part{number} v{number}"
        case 2:
            return f"set t2 Paris{number}"
        case 3:
            return "ask t2"
        case 4:
            return f"set t1 x{number}; done t2"
        case 5:
            return f"undo {number - 1}"
        case _:
            return "which"


def talk(app: Taskloom, thread: str, turns: range) -> list[str]:
    return [app.talk(said(number), thread=thread).reply for number in turns]


def kept(app: Taskloom, thread: str) -> dict[str, dict[str, Any]]:
    """The state at every checkpoint that there is, by its id."""
    states: list[StateSnapshot] = list(app.graph.get_state_history(run_config(thread)))
    return {state.config["configurable"]["checkpoint_id"]: dict(state.values) for state in states}


def fork(app: Taskloom, thread: str, turn: int, words: str) -> None:
    """Go on from the end of a former turn."""
    ends = [state for state in app.graph.get_state_history(run_config(thread)) if not state.next]
    past = next(state for state in ends if state.values["turn"].number == turn)
    app.graph.invoke({"messages": [HumanMessage(words)]}, past.config, context=Context(user_id="local"))


# ---- what a pruned thread is ----------------------------------------------------------------------


def test_a_pruned_thread_goes_on_as_one_that_was_not(
    talks: Opener, either: Settings, subtests: pytest.Subtests
) -> None:
    app, other, whole_and_not = talks(), talks(), ("pruned", "whole")
    for thread in whole_and_not:
        app.talk("task trip; put t1 place Rome", thread=thread)
        talk(app, thread, range(2, 10))
        fork(app, thread, 4, "task forked; set t2 forked")  # goes on from a turn that will be gone
        fork(app, thread, 9, "task back")
        talk(other, thread, range(11, 15))
    before, listed, whole = kept(app, "pruned"), app.threads(), kept(app, "whole")
    would = app.prune("pruned", Keep(turns=8), dry=True)
    with subtests.test("a dry run changes nothing"):
        assert kept(app, "pruned") == before
        assert would.gone.checkpoints > 0
        assert would.gone.bytes > 1_000
    with subtests.test("what is in use is not pruned"), other._threads.still("pruned"):
        app._threads.wait = 0.1
        with pytest.raises(ThreadBusyError):
            app.prune("pruned", Keep(turns=8))
        app._threads.wait = 60
        assert kept(app, "pruned") == before
    with subtests.test("each state that is kept is what it was, those of forks too"):
        assert app.prune("pruned", Keep(turns=8)) == would
        after = kept(app, "pruned")
        assert len(after) == len(before) - would.gone.checkpoints
        assert after == {key: before[key] for key in after}
        assert {values["turn"].number for values in after.values()} == {4, 5, *range(7, 15)}
    with subtests.test("until one is left"):
        last = app.prune("pruned", Keep(turns=1))
        assert last == Pruned("pruned", 1, last.gone)
        [left] = kept(app, "pruned").values()
        assert left == next(iter(before.values()))
        assert left["messages"]
    if url := either.database_url:
        with subtests.test("no value is left that nothing refers to"):
            with psycopg.connect(url.get_secret_value()) as connection:
                blobs = connection.execute(BLOBS).fetchall()
                used = connection.execute(USED).fetchall()
            assert 3 < len(blobs) <= len(used)
    with subtests.test("a second time nothing goes"):
        assert app.prune("pruned", Keep(turns=1)) == Pruned("pruned", 1, Size(0, 0))
        assert app.prune("never there", Keep(turns=1)) == Pruned("never there", 0, Size(0, 0))
    with subtests.test("another thread is not touched, and lists tell the same"):
        assert kept(app, "whole") == whole
        assert app.threads() == listed
    with subtests.test("what is said next is answered alike, undo of what is gone too, by whoever was at it"):
        for each in (app, other, talks()):
            words = [*map(said, range(15, 19)), "undo 4", "ask t2", "undo 3"]
            pruned, unpruned = (
                [each.talk(one, thread=name).reply for one in words] for name in whole_and_not
            )
            assert pruned == unpruned
            states = [each.state(thread).values for thread in whole_and_not]
            assert states[0]["tasks"] == states[1]["tasks"]
            assert [m.content for m in states[0]["messages"]] == [m.content for m in states[1]["messages"]]
    with subtests.test("pruned again as it goes on"):
        app.prune("pruned", Keep(turns=3))
        assert app.tasks("pruned") == other.tasks("whole")


def test_what_is_gone_cannot_be_gone_back_to_and_is_told(talks: Opener) -> None:
    app = talks()
    talk(app, "main", range(1, 10))
    past = list(kept(app, "main"))[-3]
    before = app.state().values
    app.prune("main", Keep(turns=4))
    given = run_config("main", checkpoint_id=past)
    words = rf"'main' has no checkpoint '{past}': it was pruned, or was never there; .* begins with .* turn 6"
    for go_back in (
        lambda: app.graph.get_state(given),
        lambda: app.graph.invoke({"messages": [HumanMessage("task lost")]}, given),
        lambda: app.graph.update_state(given, {"tasks": {"t1": {"value": "lost"}}}),
    ):
        with pytest.raises(MissingCheckpointError, match=words):
            go_back()
    assert app.state().values == before
    latest = next(iter(kept(app, "main")))
    assert app.graph.get_state(run_config("main", checkpoint_id=latest)).values == before


def test_what_is_not_there_is_told_without_a_database_too() -> None:
    graph = build_graph(services(), checkpointer=InMemorySaver())
    given = run_config("main", checkpoint_id="1f1e9bb3")
    with pytest.raises(MissingCheckpointError, match="none is kept"):
        graph.invoke({"messages": [HumanMessage("task lost")]}, given)
    with pytest.raises(MissingCheckpointError, match="none is kept"):
        asyncio.run(graph.aget_state(given))
    with pytest.raises(MissingCheckpointError, match="none is kept"):
        asyncio.run(graph.ainvoke({"messages": [HumanMessage("task lost")]}, given))
    assert graph.get_state(run_config("main")).values == {}


def test_the_last_days_are_kept(talks: Opener) -> None:
    app = talks()
    talk(app, "main", range(1, 12))
    moments = [
        datetime.fromisoformat(state.created_at or "")
        for state in app.graph.get_state_history(run_config("main"))
    ]
    whole = app.state().values
    assert app.prune("main", Keep(since=moments[-1] - timedelta(days=1))).gone == Size(0, 0)
    assert app.prune("main", Keep(since=moments[4])).turns == 5
    assert len(kept(app, "main")) == 5
    assert app.prune("main", Keep(since=moments[0] + timedelta(days=1))).turns == 1
    assert app.state().values == whole


def test_what_waits_for_an_approval_is_still_decided(either: Settings) -> None:
    tools = Tools()
    with opened(either, tools=Equipment(registry=tools.registry())) as app:
        app.talk("task old", thread="other")
        app.talk(TRIP, thread="main", context=Context(approve=True))
        app.decide(True, thread="main")
        for words in ("which", "which", "set t2 Bergen", "yes"):
            app.talk(words, thread="main", context=Context(approve=True))
        waiting = app.pending("main")
        assert waiting is not None
        assert app.prune("main", Keep(turns=1)).gone.checkpoints > 3
        assert app.pending("main") == waiting
        calls = len(tools.calls)
        app.decide(True, thread="main")
        assert len(tools.calls) > calls
        spaces = {one.config["configurable"]["checkpoint_ns"] for one in app._threads.saver.list(None)}
        assert len(spaces) == 2  # of the calls of the subgraph, that of the turn that waited is left


def test_who_reads_while_a_thread_is_pruned_reads_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Settings(home=tmp_path)
    with opened(given) as app, opened(given) as other:
        talk(app, "main", range(1, 10))
        tasks = dict(app.tasks())
        plain, pruned = WarmSaver.get_tuple, count()

        def get_tuple(saver: WarmSaver, config: Any) -> Any:
            found = plain(saver, config)
            if saver.conn is cold._threads.saver.conn and next(pruned) == 0:  # type: ignore[attr-defined]
                other.prune("main", Keep(turns=1))
            return found

        with opened(given) as cold:
            monkeypatch.setattr(WarmSaver, "get_tuple", get_tuple)
            assert dict(cold.tasks()) == tasks
            assert next(pruned) > 1


# ---- killed midway --------------------------------------------------------------------------------


def checkpoints(given: Settings) -> dict[str, dict[str, Any]]:
    with opened(given) as app:
        return kept(app, "main")


def trial(given: Settings, step: int | None, seen: Path) -> int:
    """Prune in a process of its own that is killed before a statement of it; without one, count them."""

    def run() -> None:
        app, steps, begun = opened(given), count(1), False

        def hook(frame: FrameType, event: str, called: Any) -> None:
            nonlocal begun
            name = called.__name__ if event == "c_call" else frame.f_code.co_name if event == "call" else ""
            begun = begun or (name == "prune" and "roots" in frame.f_locals)
            if begun and name in ("execute", "commit") and next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(hook)
        app.prune("main", Keep(turns=2))
        app.compact()
        sys.setprofile(None)
        seen.write_text(str(next(steps)))

    return forked(run)


def trials(given: Settings, folder: Path) -> None:
    """Prints for each kill whether the thread was pruned; fails where it is neither that nor whole."""
    seen, pruned, statements = folder / "steps", list[bool](), 1
    for step in count(0, 4 if given.database_url else 1):  # psycopg's calls are nested
        if step >= statements:
            break
        with opened(given) as app:
            app.delete("main")
            talk(app, "main", range(1, 5))
        whole = checkpoints(given)
        ended = trial(given, step or None, seen)
        statements = int(seen.read_text())
        after = checkpoints(given)
        assert ended == (-signal.SIGKILL if step else 0), (step, ended)
        assert after == {key: whole[key] for key in after}, step
        assert len(after) in (len(whole), 2), (step, len(after))
        pruned.append(len(after) == 2)
        with opened(given) as app:
            app.prune("main", Keep(turns=2))
            assert app.talk("task after").number == 5
    print(json.dumps(pruned))


@pytest.mark.slow
@pytest.mark.attack
def test_a_thread_is_pruned_or_not_when_its_process_is_killed(either: Settings, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from pydantic import SecretStr\n"
        "from taskloom.agent.settings import Settings; from tests.test_pruning import trials\n"
        "home, url = sys.argv[1:]\n"
        "given = Settings(home=Path(home), database_url=SecretStr(url) if url else None)\n"
        "trials(given, Path(home))"
    )
    url = either.database_url.get_secret_value() if either.database_url else ""
    either.home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(either.home), url],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *killed = json.loads(done.stdout)
    assert first
    assert len(killed) >= 4
    assert not any(killed[:4])


# ---- the command ----------------------------------------------------------------------------------


def run(*command: str) -> str:
    done = CliRunner().invoke(commands, ["prune", *command])
    assert done.exit_code == 0, done.output
    return done.output


def refused(*command: str) -> str:
    done = CliRunner().invoke(commands, ["prune", *command])
    assert done.exit_code != 0
    return " ".join(done.output.split())


def test_the_command_says_what_goes_and_the_file_shrinks(home: Path, subtests: pytest.Subtests) -> None:
    with opened(Settings()) as app:
        talk(app, "long", range(1, 31))
        talk(app, "short", range(1, 3))
        tasks = dict(app.tasks("long"))
    file = home / "threads.sqlite"
    before = file.stat().st_size
    with subtests.test("what is wrong is told"):
        for wrong in (("--turns", "5"), ("--all", "--thread", "x", "--turns", "5")):
            assert "name a thread with --thread, or say --all" in refused(*wrong)
        assert "--turns N or --days N" in refused("--all")
        assert "--turns N or --days N" in refused("--all", "--turns", "1", "--days", "1")
        assert "there is no thread 'nowhere'" in refused("--thread", "nowhere", "--turns", "1")
        assert "greater than or equal to 1" in refused("--all", "--turns", "0")
    with subtests.test("a dry run"):
        assert "long: 26 saved states would go, " in run("--all", "--turns", "5", "--dry-run")
        found = json.loads(run("--all", "--turns", "5", "--dry-run", "--json"))
        assert found["dry_run"]
        assert {one["thread"]: (one["turns"], one["checkpoints"]) for one in found["threads"]} == {
            "long": (5, 26), "short": (2, 0)
        }  # fmt: skip
        assert file.stat().st_size == before
        assert run("--all", "--days", "1").count("nothing to prune") == 2
    with subtests.test("a thread in use stays, the others are pruned"), opened(Settings()) as other:
        os.environ["TASKLOOM_LOCK_TIMEOUT"] = "0.2"
        with other._threads.still("short"):
            told = refused("--all", "--turns", "1", "--dry-run")
        del os.environ["TASKLOOM_LOCK_TIMEOUT"]
        assert "long: 30 saved states would go" in told
        assert "thread 'short' is in use and stays as it is" in told
    with subtests.test("pruned"):
        told = run("--thread", "long", "--turns", "5")
        assert "long: 26 saved states went, " in told
        assert "the latest 5 turns can be gone back to.\nthreads.sqlite: " in told
        assert file.stat().st_size < before / 2
        with opened(Settings()) as app:
            assert dict(app.tasks("long")) == tasks
    with subtests.test("a reader keeps the file from shrinking, and that is told"):
        os.environ["TASKLOOM_LOCK_TIMEOUT"] = "0.2"
        reader = sqlite3.connect(file)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM checkpoints").fetchone()
        told = refused("--thread", "long", "--turns", "2")
        reader.close()
        del os.environ["TASKLOOM_LOCK_TIMEOUT"]
        assert "3 saved states went" in told
        assert "another process reads threads.sqlite: prune again" in told
    with subtests.test("nothing there yet"):
        for thread in ("long", "short"):
            with opened(Settings()) as app:
                app.delete(thread)
        assert run("--all", "--turns", "1") == "No threads yet.\n"


# ---- a long thread --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_thread_of_a_thousand_turns(tmp_path: Path) -> None:
    given = Settings(home=tmp_path)
    with opened(given) as app:
        app.talk("task trip; put t1 place Rome; put t1 day Monday", thread="long")
        for number in range(2, 1_001):
            app.talk(["ask t2", f"set t2 p{number}", f"set t3 d{number}"][number % 3], thread="long")
        before = app.state("long").values
        pruned = app.prune("long", Keep(turns=20))
        app.compact()
    assert pruned.turns == 20
    assert pruned.gone.checkpoints == 981
    with opened(given) as app:
        assert app.state("long").values == before
        states = app.tasks("long")["t2"].states()
        assert next(iter(states)).value == "Rome"
        assert app.talk("undo 10", thread="long").reply
        assert app.talk("ask t2", thread="long").number == 1_002
