"""Runs turns with counting tools, kills them at chosen steps, goes on in new processes: see `test_kill`.

    python killing.py FOLDER NUMBER SEED     or     python killing.py FOLDER control

A trial is a process that talks until it is killed, and one that goes on from what is on disk; both are forks
of this one, which has imported everything and opened nothing. Steps are calls and returns of the functions
that a turn is made of, and of what they call in SQLite and the operating system. Prints a JSON object for the
steps, then one for each trial. `control` is one trial right after an effect with a journal that forgets: it
has to be found out.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.decisions import Approval
from taskloom.tools.journal import FileJournal, Journal, MemoryJournal
from taskloom.tools.registry import Registry, equip
from tests.test_act import TRIP, services

SAID = (TRIP, "set t2 Bergen", "yes")
SOURCES = (
    "agent/acting/calling.py", "agent/acting/subgraph.py", "agent/graph/act_node.py",
    "agent/graph/approvals.py", "agent/graph/nodes.py", "agent/graph/writing.py",
    "agent/threads/checkpoints.py", "agent/threads/store.py", "agent/threads/taskloom.py", "tools/journal.py",
    "tools/calls.py", "checkpoint/sqlite/__init__.py", "tests/killing.py",
)  # fmt: skip
OUTSIDE = frozenset({"execute", "executemany", "executescript", "commit", "write", "fsync"})


# ---- what is run ----------------------------------------------------------------------------------


def opened(home: Path, journal: Journal | None = None) -> Taskloom:
    """Three tools: one finds, one books, one pays; the latter two write a line each time, for good."""
    effects = home / "effects.txt"

    def append(line: str) -> str:
        handle = os.open(effects, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
        os.close(handle)
        return line

    def find(place: str, day: str) -> str:
        """Find flights.

        Args:
            place: where to.
            day: when.
        """
        return f"{place} on {day}"

    def book(flights: str) -> str:
        """Book a flight.

        Args:
            flights: which.
        """
        return append(f"booked {flights}")

    def pay(flights: str) -> str:
        """Pay a flight.

        Args:
            flights: which.
        """
        return append(f"paid {flights}")

    registry = Registry(
        [
            equip(find, needs=["place", "day"], gives="flights"),
            equip(book, needs=["flights"], gives="booking", side_effects=True),
            equip(pay, needs=["flights"], gives="payment", side_effects=True),
        ]
    )
    file = FileJournal(home / "calls.sqlite")
    equipment = Equipment(registry=registry, journal=journal or file, close=file.shut)
    return Taskloom(Threads(home), services(equipment))


def approve(_: Approval) -> bool:
    """Every call."""
    return True


def talk(home: Path, journal: Journal | None = None) -> None:
    """All that is said, from the beginning."""
    with opened(home, journal) as app:
        for words in SAID:
            app.talk(words, ask=approve)


def go_on(home: Path, journal: Journal | None = None, *, decide: bool) -> None:
    """Go on where the talk was broken off: decide what is left to decide, or say the last words again."""
    with opened(home, journal) as app:
        turn = app.state().values.get("turn")
        begun = SAID.index(turn.utterance) if turn else 0
        if decide and app.pending():
            app.decide(True, ask=approve)
            begun += 1
        elif turn and turn.reply:
            begun += 1
        for words in SAID[begun:]:
            app.talk(words, ask=approve)
        app.talk("hm")  # what was left is told now at the latest


def report(home: Path) -> dict[str, Any]:
    """What came of a trial: effects made more than once, effects that nobody was told of, open calls."""
    effects = home / "effects.txt"
    made = effects.read_text().splitlines() if effects.exists() else []
    with opened(home) as app:
        journal = FileJournal(home / "calls.sqlite")
        left = len(journal.entries())
        journal.shut()
        said = [str(message.text) for message in app.state().values["messages"] if message.type == "ai"]
        states = [state for node in app.tasks().values() for state in node.states()]
    held = {state.value for state in states if state.status == "done"}
    unknown = {
        tool
        for tool in ("book", "pay")
        for state in states
        if state.said.startswith(f"{tool}: it was interrupted")
    } | {
        tool
        for tool in ("book", "pay")
        for text in said
        if f"{tool} (" in text.lower() and "cannot tell" in text
    }
    tools = {"booked": "book", "paid": "pay"}
    return {
        "twice": [line for line, times in Counter(made).items() if times > 1],
        "untold": [
            line for line in made
            if line not in held and not any(line in text for text in said)
            and tools[line.split()[0]] not in unknown
        ],
        "made": len(made), "unknown": len(unknown), "left": left,
        "earlier": sum("Before I was interrupted" in text for text in said),
    }  # fmt: skip


# ---- killing --------------------------------------------------------------------------------------


def stepping(reached: Callable[[str], None]) -> None:
    """From now on, tell of each step."""

    def hook(frame: FrameType, event: str, given: Any) -> None:
        name = frame.f_code.co_filename
        if event.startswith("c_"):
            called = getattr(given, "__name__", "")
            if called in OUTSIDE:
                reached(f"{called} {event}")
        elif name.endswith(SOURCES):
            reached(f"{Path(name).parent.name}/{Path(name).stem}.{frame.f_code.co_name} {event}")

    threading.setprofile(hook)
    sys.setprofile(hook)


def forked(work: Callable[[], None], *, seconds: float | None = None) -> int:
    """Do something in a process of its own; kill it after a time; how it ended, below 0 for a signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  the parent sees the code, and the reader the trace
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL)) if seconds is not None else None
    if timer is not None:
        timer.start()
    _, status = os.waitpid(child, 0)
    if timer is not None:
        timer.cancel()
        timer.join()
    return os.waitstatus_to_exitcode(status)


def steps_of(home: Path) -> list[str]:
    """The steps of a run that is not killed."""
    found = home / "steps.txt"

    def run() -> None:
        seen: list[str] = []
        stepping(seen.append)
        talk(home)
        sys.setprofile(None)
        found.write_text("\n".join(seen))

    if forked(run) != 0:
        raise SystemExit("the run that is not killed fails")
    return found.read_text().splitlines()


def killed_at(home: Path, step: int | str, journal: Journal | None = None) -> int:
    """Talk, and be killed at a step: at its number, or when one of its kind is first reached."""

    def run() -> None:
        steps = count(1)

        def reached(label: str) -> None:
            if step in (next(steps), label):
                os.kill(os.getpid(), signal.SIGKILL)

        stepping(reached)
        talk(home, journal)

    return forked(run)


def chosen(steps: list[str], number: int, chance: random.Random) -> Iterator[int | None]:
    """Steps to kill at: each kind of step once, in random order, then any; every tenth is a random time."""
    first: dict[str, list[int]] = {}
    for at, label in enumerate(steps, 1):
        first.setdefault(label, []).append(at)
    kinds = [chance.choice(places) for places in first.values()]
    chance.shuffle(kinds)
    for trial in range(number):
        if trial % 10 == 9:
            yield None
        else:
            yield kinds.pop() if kinds else chance.randint(1, len(steps))


def told(home: Path, *, decide: bool, journal: Journal | None = None) -> dict[str, Any]:
    """Go on in a new process, and what came of it all."""
    found = home / "told.json"

    def finish() -> None:
        go_on(home, journal, decide=decide)
        found.write_text(json.dumps(report(home)))

    ended = forked(finish)
    return {"ended": ended, **(json.loads(found.read_text()) if ended == 0 else {})}


def main(folder: Path, number: int, seed: int) -> None:
    """All trials."""
    chance = random.Random(seed)
    dry = folder / "dry"
    dry.mkdir()
    steps = steps_of(dry)
    print(json.dumps({"steps": len(steps), "kinds": len(set(steps))}), flush=True)
    for trial, step in enumerate(chosen(steps, number, chance)):
        home = folder / str(trial)
        home.mkdir()
        if step is None:
            code = forked(partial(talk, home), seconds=chance.uniform(0.01, 0.8))
        else:
            code = killed_at(home, step)
        at = steps[step - 1] if step is not None else "a random time"
        record = {"at": at, "killed": code == -signal.SIGKILL, **told(home, decide=trial % 2 == 0)}
        print(json.dumps(record), flush=True)


def control(folder: Path) -> None:
    """One trial with a journal that forgets."""
    code = killed_at(folder, "tests/killing.append return", MemoryJournal())
    record = {"killed": code == -signal.SIGKILL, **told(folder, decide=True, journal=MemoryJournal())}
    print(json.dumps(record), flush=True)


if __name__ == "__main__":
    if sys.argv[2] == "control":
        control(Path(sys.argv[1]))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
