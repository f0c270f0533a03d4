"""The graph of scripted.py with a gate and a tool that books, for servers that are killed at work.

At "wait" a reader, and after its effect the tool, stands at the gate of TASKLOOM_HOME: it says which process
it is in, in the file `at`, and goes on once there is a file `go`. What the tool does is a line in `effects`.
"""

import os
import time
from functools import cache
from pathlib import Path

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.graph.build import Taskgraph, build_graph
from taskloom.agent.graph.databases import open_journal
from taskloom.agent.settings import settings
from taskloom.agent.turn.reading import Reading, View
from taskloom.tools.registry import Registry, equip
from tests.scripted import Commands, services


def gate() -> None:
    home = settings().home
    written = home / f"at{os.getpid()}"
    written.write_text(str(os.getpid()))
    written.rename(home / "at")
    until = time.monotonic() + 60
    while not (home / "go").exists() and time.monotonic() < until:
        time.sleep(0.05)


class Gated(Commands):
    def read(self, utterance: str, view: View) -> Reading:
        if "wait" in utterance:
            gate()
        return super().read(utterance, view)


def book(place: str) -> str:
    """Book a flight.

    Args:
        place: where to.
    """
    handle = os.open(settings().home / "effects", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{place}\n".encode())
    os.close(handle)
    gate()
    return f"booked {place}"


@cache
def make_graph() -> Taskgraph:
    Path(settings().home).mkdir(parents=True, exist_ok=True)
    booking = equip(book, needs=["place"], gives="booking", side_effects=True)
    equipment = Equipment(Registry([booking]), open_journal(settings()))
    return build_graph(services(interpreter=Gated(), tools=equipment))
