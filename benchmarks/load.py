"""Many users at once on a server with several workers: Aegra with PostgreSQL and Redis, all on this machine.

    TASKLOOM_AEGRA=.aegra/bin/aegra python benchmarks/load.py [--json] [--users 200] [--turns 20]

`tests/aegra_server.py` says how the environment of Aegra is made. Each user has a key, a thread and a script
of their own, and says the next thing when the last one is answered; all users do so at once. The local reader
reads, templates reply, a tool looks flights up; long-term memory is off, unless `--memory` brings a Chroma
server for it. The callers share the processors with the servers, and each run is streamed to its end.

- `turns_per_second`: turns that were acknowledged, by the time from the first to the last.
- `p50_ms`, `p95_ms`: from a turn's request to its end; with more users than processors mostly waiting.
- `retried`: requests that ended in an error and were made again; `failed`: turns that were given up.
- `lost`, `doubled`: acknowledged turns that are not in the thread, or more than once.
- `cross_reads`: threads or replies with another user's words, and threads that another user was let into.
- `differ`: users whose tasks, with their history, are not those of the same script said to the graph alone.
- `told`: what clients were told of, by kind. `rss_mb`: the most that the workers were resident with, all
  processes together; `connections`: the most that PostgreSQL had at a time.
- `sequential`: the same scripts one after the other in this process, without a server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
import psycopg  # noqa: E402
from langchain_core.messages import HumanMessage  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph_sdk import get_client  # noqa: E402
from langgraph_sdk.errors import InternalServerError  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from taskloom.agent.graph import build_graph, default_services  # noqa: E402
from taskloom.agent.settings import Settings  # noqa: E402
from taskloom.agent.turn.state import Context  # noqa: E402
from tests.aegra_server import Aegra, Redis, missing  # noqa: E402
from tests.chroma_server import ChromaServer  # noqa: E402
from tests.postgres_server import PostgresServer, programs  # noqa: E402

ERR = Console(stderr=True)
TRIES = 4
FIGURES = ("turns_per_second", "p50_ms", "p95_ms", "lost", "doubled", "cross_reads", "differ", "retried",
           "failed", "rss_mb", "connections")  # fmt: skip
CITIES = ("Rome", "Bergen", "Lisbon", "Vienna", "Prague", "Athens", "Dublin", "Oslo")
SCRIPT = (
    "Plan a trip to {city}.",
    "The date is June {day}th.",
    "The hotel is {mark}.",
    "The budget is {amount} euros.",
    "I'm planning a dinner party on Friday at 7 PM with Alice, Bob and {mark}.",
    "Make the party Saturday instead.",
    "When is the dinner party?",
    "To make risotto, chop celery and grate parmesan.",
    "There's no celery left. Let's use fennel instead.",
    "Wasn't the party on Sunday?",
    "The date of the trip is June {later}th.",
    "undo",
    "What is the hotel?",
    "Plan a meeting with {mark} on Monday.",
    "The meeting is at 10 AM.",
    "Cancel the meeting.",
    "The budget of the trip is {later}00 euros.",
    "Go back to Friday as originally planned.",
    "Was the budget ever {amount} euros?",
    "Summarize the trip.",
)
TOOLS = "tools: [{use: flights:search_flights, needs: [destination, date], gives: flights}]"
FLIGHTS = '''
def search_flights(destination: str, date: str) -> str:
    """Look up when planes leave."""
    return f"10:40 to {destination} on {date}"
'''


@dataclass
class User:
    """Who talks: the key, what is said, and what became of it."""

    name: str
    mark: str
    script: tuple[str, ...]
    thread: str = ""
    said: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"the-key-of-{self.name}-alone"


def people(count: int, turns: int) -> list[User]:
    """Users, each with words that no other one says; a script is said again where there are more turns."""
    found = []
    for number in range(count):
        mark = f"Vesk{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}{number}o"
        words = {"city": CITIES[number % len(CITIES)], "mark": mark, "day": 10 + number % 9,
                 "later": 20 + number % 8, "amount": 500 + number}  # fmt: skip
        script = tuple(SCRIPT[turn % len(SCRIPT)].format(**words) for turn in range(turns))
        found.append(User(f"user{number}", mark, script))
    return found


# ---- without a server -----------------------------------------------------------------------------


def alone(users: Sequence[User], home: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The figures of the scripts said one after the other, and each user's tasks in the end."""
    given = Settings(home=home, memory=False, tools=home / "agent.yaml", model="")
    graph, seconds, plans = build_graph(default_services(given), checkpointer=InMemorySaver()), [], {}
    for user in users:
        for text in user.script:
            begun = time.perf_counter()
            done = graph.invoke(
                {"messages": [HumanMessage(text)]},
                {"configurable": {"thread_id": user.name}},
                context=Context(user_id=user.name),
            )
            seconds.append(time.perf_counter() - begun)
        plans[user.name] = {key: node.model_dump(mode="json") for key, node in done["tasks"].items()}
    return {"turns_per_second": round(len(seconds) / sum(seconds), 1), **_times(seconds)}, plans


def _times(seconds: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else [0.0] * 19
    return {"p50_ms": round(cuts[9] * 1000, 1), "p95_ms": round(cuts[18] * 1000, 1)}


# ---- on a server ----------------------------------------------------------------------------------


class Load:
    """All users at once on a server."""

    def __init__(self, users: Sequence[User], urls: Sequence[str], seconds: float) -> None:
        self.users, self.urls, self.found = users, urls, Counter[str]()
        self._until = time.monotonic() + seconds
        self.states: dict[str, dict[str, Any]] = {}

    async def run(self) -> float:
        """Play all scripts, then look at what is kept; gives the seconds that the scripts took."""
        clients = [
            get_client(url=self.urls[number % len(self.urls)], api_key=user.key, timeout=300)
            for number, user in enumerate(self.users)
        ]
        try:
            begun = time.perf_counter()
            telling = asyncio.create_task(self._tell())
            await asyncio.gather(*map(self._talk, self.users, clients))
            took = time.perf_counter() - begun
            telling.cancel()
            for number, (user, client) in enumerate(zip(self.users, clients, strict=True)):
                state = await _tried(lambda one=user, by=client: by.threads.get_state(one.thread))
                self.states[user.name] = {"messages": [], "tasks": {}, **state["values"]}
                await self._peep(clients[number - 1], user)
        finally:
            for client in clients:
                await client.aclose()
        return took

    async def _talk(self, user: User, client: Any) -> None:
        user.thread = str(uuid4())  # the client's, so that to ask twice for it makes one
        await _tried(lambda: client.threads.create(thread_id=user.thread, if_exists="do_nothing"))
        for text in user.script:
            begun = time.perf_counter()
            for last in [False] * (TRIES - 1) + [True]:
                if time.monotonic() > self._until:
                    self.found["failed"] += 1
                    break
                reply = await self._say(client, user.thread, text)
                if reply is not None:
                    user.said.append(text)
                    user.replies.append(reply)
                    user.seconds.append(time.perf_counter() - begun)
                    break
                self.found["failed" if last else "retried"] += 1

    async def _tell(self) -> None:
        total = sum(len(user.script) for user in self.users)
        while True:
            await asyncio.sleep(5)
            done = sum(len(user.said) for user in self.users)
            ERR.print(f"{len(self.urls)} worker(s): {done} of {total} turns; {dict(self.found)}")

    async def _say(self, client: Any, thread: str, text: str) -> str | None:
        """A turn; its reply, None where the client is told of an error.

        Between two workers Aegra may drop the events of a short run, which is then asked for its result.
        """
        given = {"messages": [{"role": "user", "content": text}]}
        done: dict[str, Any] = {}
        run = ""
        try:
            async for part in client.runs.stream(thread, "taskloom", input=given, stream_mode="values"):
                if part.event == "error":
                    self.found[f"error: {part.data.get('message', '')[:80]}"] += 1
                    return None
                run = part.data["run_id"] if part.event == "metadata" else run
                done = part.data if part.event == "values" else done
            if done.get("messages", [{}])[-1].get("type") != "ai":
                self.found["events dropped"] += 1
                run = run or (await client.runs.list(thread, limit=1))[0]["run_id"]
                done = await client.runs.join(thread, run)
        except httpx.HTTPError as error:
            self.found[f"error: {type(error).__name__}"] += 1
            return None
        if "turn" not in done:
            self.found[f"error: {str(done.get('__error__'))[:80]}"] += 1
            return None
        return str(done["turn"]["reply"])

    async def _peep(self, client: Any, user: User) -> None:
        """Whether another user is let into a thread."""
        if len(self.users) < 2:
            return
        try:
            await _tried(lambda: client.threads.get_state(user.thread))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                return
        self.found["cross_reads"] += 1

    def figures(self, took: float, plans: Mapping[str, Any]) -> dict[str, Any]:
        """What came of it. plans: the tasks that each user should have."""
        seconds = [one for user in self.users for one in user.seconds]
        found = {name: self.found[name] for name in ("cross_reads", "retried", "failed")}
        lost = doubled = differ = 0
        marks = {user.mark for user in self.users}
        for user in self.users:
            state = self.states[user.name]
            kept = Counter(one["content"] for one in state["messages"] if one["type"] == "human")
            said = Counter(user.said)
            lost += (said - kept).total()
            doubled += (kept - said).total()
            differ += state["tasks"] != plans[user.name]
            seen = json.dumps([state, user.replies])
            found["cross_reads"] += sum(mark in seen for mark in marks - {user.mark})
        told = {name: count for name, count in self.found.items() if name not in found}
        return {
            "turns_per_second": round(len(seconds) / took, 1), **_times(seconds),
            "lost": lost, "doubled": doubled, "differ": differ, **found, "told": told,
        }  # fmt: skip


async def _tried(call: Callable[[], Awaitable[Any]]) -> Any:
    """What a call gives that changes nothing when it is made again, as where a connection is cut."""
    for wait in range(TRIES):
        try:
            return await call()
        except (httpx.TransportError, InternalServerError):
            await asyncio.sleep(2**wait)
    return await call()


@contextmanager
def watched(aegra: Aegra, database: str) -> Iterator[dict[str, float]]:
    """The most memory and connections, looked at twice a second."""
    most, over = {"rss_mb": 0.0, "connections": 0.0}, threading.Event()

    def look() -> None:
        with psycopg.connect(database, autocommit=True) as connection:
            while not over.wait(0.5):
                row = connection.execute("SELECT count(*) FROM pg_stat_activity").fetchone()
                most["connections"] = max(most["connections"], row[0] if row else 0)
                most["rss_mb"] = max(most["rss_mb"], _resident(aegra.processes()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def _resident(groups: Sequence[int]) -> float:
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) in groups:
                pages += int((folder / "statm").read_text().split()[1])
        except (ProcessLookupError, FileNotFoundError):  # it has ended meanwhile
            continue
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def measured(workers: int, given: argparse.Namespace, plans: Mapping[str, Any]) -> Any:
    """The figures of a number of workers, on a database of their own."""
    users, found = people(given.users, given.turns), programs()
    assert found
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(PostgresServer(found, connections=300))  # as compose.yaml has it
        environment = {
            "TASKLOOM_API_KEYS": ",".join(f"{user.name}={user.key}" for user in users),
            "TASKLOOM_TOOLS": str(tools(folder)),
            "TASKLOOM_MEMORY": str(given.memory).lower(),
        }
        if given.memory:
            (folder / "chroma").mkdir()
            environment["TASKLOOM_CHROMA_URL"] = stack.enter_context(ChromaServer(folder / "chroma")).url
        database, redis = postgres.database(), stack.enter_context(Redis(folder))
        aegra = stack.enter_context(
            Aegra(folder, database, redis.url, workers=workers, given=environment)
        )  # fmt: skip
        load = Load(users, aegra.urls, given.seconds)
        with watched(aegra, database) as most:
            took = asyncio.run(load.run())
        return {**load.figures(took, plans), **most}


def tools(folder: Path) -> Path:
    """A file of tools in a folder: one, that takes no time."""
    (folder / "flights.py").write_text(FLIGHTS)
    (folder / "agent.yaml").write_text(TOOLS)
    return folder / "agent.yaml"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--turns", type=int, default=20, help="of each user")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", action="store_true", help="with long-term memory, on a Chroma server")
    parser.add_argument("--seconds", type=float, default=1800, help="after which no more turns are begun")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    if why := missing():
        raise SystemExit(why)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else what was begun would go on without it
    with tempfile.TemporaryDirectory() as name:
        tools(Path(name))
        sequential, plans = alone(people(given.users, given.turns), Path(name))
        found = {str(count): measured(count, given, plans) for count in given.workers}
    told = {"users": given.users, "turns": given.turns, "sequential": sequential, "workers": found}
    if given.json:
        print(json.dumps(told, indent=2))
        return
    table = Table("", *(f"{count} worker(s)" for count in found), "no server")
    for figure in FIGURES:
        table.add_row(figure, *(str(one[figure]) for one in found.values()), str(sequential.get(figure, "")))
    Console().print(table)


if __name__ == "__main__":
    main()
