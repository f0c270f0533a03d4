"""Long-term memory of many users in one process: what it takes, and how long a user's first search does.

    python benchmarks/crowd.py [--json] [--users 400] [--records 200] [--server] [--folder FOLDER]

Records of three kinds are written for each user; then a process of its own, with all that a worker has
loaded, searches once for each user, and once more for the last fifty. Texts come from a few thousand
sentences, each of which is embedded once: what is timed when writing is the store. With `--folder` what was
written stays, and is used again. With `--server` a Chroma server has the records; it is a process of its
own, and not counted.

- `write_ms`: a record, over all of them, in batches of 100.
- `worker_mb`: resident before the first search; `users_mb`: after as many users; `rss_mb`: the most.
- `first_p50_ms`, `first_p95_ms`: a user's first search; `first_cpu_p50_ms`: the processor's part of it, which
  says more where the machine is busy with other things too; `warm_p50_ms`: another one soon after.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.messages import HumanMessage
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from taskloom.agent.graph import build_graph, default_services  # noqa: E402
from taskloom.agent.settings import Settings  # noqa: E402
from taskloom.memory.chroma import keep_few_arenas  # noqa: E402
from taskloom.memory.embed import MiniLM, Vectors, packaged  # noqa: E402
from taskloom.memory.records import Experience, Fact, IntentUnit, Pair, record_id  # noqa: E402
from taskloom.memory.store import AnyRecord, ChromaStore  # noqa: E402
from tests.chroma_server import ChromaServer  # noqa: E402

FIGURES = (
    "write_ms",
    "first_p50_ms",
    "first_p95_ms",
    "first_cpu_p50_ms",
    "warm_p50_ms",
    "worker_mb",
    "rss_mb",
)
SENTENCES, BATCH, AGAIN, TOLD = 2000, 100, 50, (1, 50, 100, 200, 400, 1000, 2000, 5000, 10_000)
THINGS = ("trip", "hotel", "dinner", "flight", "garden", "order", "painter", "meeting", "budget", "kitchen",
          "concert", "doctor", "school", "bicycle", "passport", "market", "lecture", "choir", "tent",
          "wedding", "harbour", "library", "museum", "recipe", "picture")  # fmt: skip
PEOPLE = ("Anna", "Bert", "Carla", "Dion", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jan", "Kaya", "Liam")
PLACES = (
    "Rome",
    "Bergen",
    "Lisbon",
    "Vienna",
    "Prague",
    "Athens",
    "Dublin",
    "Oslo",
    "Porto",
    "Ghent",
    "Turin",
)


class Remembering(MiniLM):
    """Embeds a text once, however often it is written."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Vectors] = {}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        for text in {*texts} - self._known.keys():
            self._known[text] = super().__call__([text])[0]
        return np.array([self._known[text] for text in texts], np.float32)


def records(user: int, count: int) -> list[AnyRecord]:
    """A user's: facts, tasks and experiences, 20 in a session."""
    mine, made = random.Random(user), []
    for number in range(count):
        said = random.Random(mine.randrange(SENTENCES))
        thing, who, where, amount = (
            said.choice(THINGS),
            said.choice(PEOPLE),
            said.choice(PLACES),
            said.randrange(900),
        )
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        thread, kind = f"s{user}-{number // 20}", said.choice(("fact", "fact", "unit", "experience"))
        given: dict[str, Any] = {
            "id": record_id(thread, number, kind),
            "at": at,
            "thread": thread,
            "turn": number,
        }
        if kind == "fact":
            text = f"The {thing} in {where} is on June {amount % 28 + 1} for {amount} euros; {who} comes"
            made.append(Fact(text=text, people=(who,), subject=thing, sources=(number,), **given))
        elif kind == "unit":
            answers = {"place": where, "budget": f"{amount} euros", "guest": who}
            pairs = tuple(
                Pair(slot=slot, question=f"Which {slot}?", answer=one) for slot, one in answers.items()
            )
            text = f"plan the {thing} in {where} with {who}"
            made.append(
                IntentUnit(text=text, intent=thing, title=f"{thing} in {where}", pairs=pairs, **given)
            )
        else:
            step = {"act": "set", "task": thing, "slot": "place", "value": where}
            text = f"Move the {thing} to {where} and tell {who}"
            made.append(Experience(text=text, outline=f"1 {thing}", execution=(step,), **given))
    return made


def opened(where: str, embedder: MiniLM) -> ChromaStore:
    """The store at an address, or in a folder."""
    if where.startswith("http"):
        return ChromaStore.server(where, embedder)
    return ChromaStore.embedded(Path(where), embedder)


def written(where: str, users: Iterable[int], count: int) -> float:
    """Writes; gives the milliseconds of a record."""
    took, total = 0.0, 0
    with opened(where, Remembering()) as store:
        for user in users:
            given = records(user, count)
            store.embedder([record.text for record in given])
            begun = time.perf_counter()
            for start in range(0, count, BATCH):
                store.put(f"user{user}", given[start : start + BATCH])
            took, total = took + time.perf_counter() - begun, total + count
    return took / total * 1000


def searched(where: str, users: int) -> dict[str, Any]:
    """The figures of searches in this process."""
    _have_a_turn()
    first, cpu, held = [], [], {}
    with opened(where, packaged()) as store:
        store.embedder(["as a worker that has been asked something"])
        before = most = resident()
        for user in range(users):
            begun, spent = time.perf_counter(), time.process_time()
            assert store.search(f"user{user}", f"the hotel in Rome for {user}", kind="unit")
            first.append((time.perf_counter() - begun) * 1000)
            cpu.append((time.process_time() - spent) * 1000)
            most = max(most, resident())
            if user + 1 in TOLD:
                held[user + 1] = resident()
        warm = []
        for user in range(max(0, users - AGAIN), users):
            begun = time.perf_counter()
            store.search(f"user{user}", f"the concert of {user}", kind="unit")
            warm.append((time.perf_counter() - begun) * 1000)
    cuts = statistics.quantiles([*first, *first], n=20)
    return {
        "first_p50_ms": round(cuts[9], 1), "first_p95_ms": round(cuts[18], 1),
        "first_cpu_p50_ms": round(statistics.median(cpu), 1),
        "warm_p50_ms": round(statistics.median(warm), 1),
        "worker_mb": before, "users_mb": held, "rss_mb": most,
    }  # fmt: skip


def _have_a_turn() -> None:
    """Loads what a worker has loaded, and takes memory as it does."""
    keep_few_arenas()
    with tempfile.TemporaryDirectory() as name:
        graph = build_graph(default_services(Settings(home=Path(name), memory=False, model="")))
        graph.invoke({"messages": [HumanMessage("Plan a trip to Rome.")]})


def resident() -> float:
    """Megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--records", type=int, default=200, help="of each user")
    parser.add_argument("--server", action="store_true", help="on a Chroma server")
    parser.add_argument("--folder", type=Path, help="where the records are, and stay")
    parser.add_argument("--search", help=argparse.SUPPRESS)  # in a process of its own, of what is there
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    if given.search:
        print(json.dumps(searched(given.search, given.users)))
        return
    with ExitStack() as stack:
        kept = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "memory"
        there = kept.exists()
        kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        where = stack.enter_context(ChromaServer(kept)).url if given.server else str(kept)
        found = {"users": given.users, "records": given.records}
        if not there:
            found["write_ms"] = round(written(where, range(given.users), given.records), 2)
        command = [sys.executable, __file__, "--search", where, "--users", str(given.users)]
        found |= json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("figure", f"{given.users} users, {given.records} records each")
    for name in FIGURES:
        table.add_row(name, str(found.get(name, "")))
    Console().print(table)


if __name__ == "__main__":
    main()
