"""What it costs to turn sessions into facts, and how long the memory DAG takes.

    python benchmarks/facts.py [--json] [--quick]

Model calls: sessions of 20 turns, in which tasks are opened, changed and finished at random and three people
tell what they do and change their minds, are written whenever a batch is due (a task closes, the buffer is
full, the session ends), one session after the other into one memory. `rules` uses no model and keeps what the
tasks say. `model` counts the calls of a scripted one: it tells a unit for each turn and a made-up one for
each batch, and repeats or updates what is of one person and thing. It understands all it is shown, so the row
says what the batching costs and what clusters do not show, not how well a model reads. `calls_max` is the
dearest session. `stale` is the share of the people's things of which anything but the last word is in memory
as what holds, `invented` how many made-up units got in, `shown` how many facts a decision was asked on in one
call at the most. Mem0 is one call per message of the user, TeleMem three per turn.

Times are processor time at the 95th percentile in milliseconds on a graph of so many facts, with five
candidates for a change, some recent and some of any age, and chains of hundreds of edges. `batch` is a
session of 20 new facts taken in, with ten neighbours of 384 numbers for each.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from graph import quantile, timed
from rich.console import Console
from rich.table import Table

from taskloom.memory.consolidate import (
    CALLS,
    SESSION,
    Decision,
    Exchange,
    Unit,
    Vector,
    consolidate,
    due,
    summarise,
)
from taskloom.memory.embed import MiniLM
from taskloom.memory.facts import FactGraph, closure
from taskloom.memory.operations import Add, Complete, Operation, Update, apply
from taskloom.memory.records import Fact
from taskloom.memory.tasks import TaskGraph

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MEM0, TELEMEM = SESSION, 3 * SESSION
PEOPLE = ("Ken", "Mia", "Rosa")
THINGS = {
    "sport": ("tennis", "rowing", "chess", "judo"),
    "home": ("Oslo", "Bergen", "Turin", "Porto"),
    "pet": ("a parrot", "a cat", "a tortoise", "a poodle"),
    "job": ("a baker", "a nurse", "a pilot", "a judge"),
}
SENTENCES = {
    "sport": "{} plays {} every week.", "home": "{} lives in {} now.", "pet": "{} keeps {} at home.",
    "job": "{} works as {} these days.",
}  # fmt: skip
CITIES = ("Lisbon", "Kyoto", "Denver", "Seattle", "Graz")


# ---- calls --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Turn:
    """What is said, what it does to the tasks, and whether it finishes one."""

    said: Exchange
    operations: tuple[Operation, ...]
    closes: bool


def session(number: int, rng: random.Random) -> Iterable[Turn]:
    """A session of 20 turns: a trip that is planned, changed and finished again and again, and talk."""
    open_trip, trips, tasks = "", 0, 0
    for turn in range(1, SESSION + 1):
        operations: tuple[Operation, ...] = ()
        chance = rng.random()
        if not open_trip:
            trips, open_trip = trips + 1, f"t{tasks + 1}"
            operations = (
                Add(slot=f"trip{trips}", title=f"trip number {trips}"),
                Add(slot=f"trip{trips}.city", title="city", value=rng.choice(CITIES), parent=open_trip),
            )
            tasks += 2
        elif chance < 0.4:
            operations = (Update(task=f"t{tasks}", value=f"{rng.choice(CITIES)} in week {turn}"),)
        elif chance < 0.6:
            operations, open_trip = (Complete(task=open_trip),), ""
        kind = rng.choice(sorted(THINGS))
        said = SENTENCES[kind].format(rng.choice(PEOPLE), rng.choice(THINGS[kind]))
        at = START + timedelta(days=number, minutes=turn)
        yield Turn(
            Exchange(thread=f"s{number}", turn=turn, at=at, said=said),
            operations,
            chance < 0.6 and not open_trip,
        )


def thing(text: str) -> tuple[str, str] | None:
    """Whom and what a sentence is about, if it is one of the talk's."""
    name, _, rest = text.partition(" ")
    for kind, sentence in SENTENCES.items():
        if name in PEOPLE and rest.split(" ")[0] == sentence.split(" ")[1]:
            return name, kind
    return None


class Model:
    """A scripted model that counts its calls."""

    def __init__(self) -> None:
        self.calls, self.shown, self.stored = 0, 0, frozenset[str]()

    def summarise(self, turns: Sequence[Exchange]) -> list[Unit]:
        self.calls += 1
        told = [Unit(text=turn.said, sources=(turn.turn,), people=(turn.said.split()[0],)) for turn in turns]
        return [*told, Unit(text="Ken bought a red car in Madrid.", sources=(turns[0].turn,))]

    def decide(self, clusters: Sequence[Sequence[Fact]]) -> list[Decision]:
        self.calls += 1
        self.shown = max(self.shown, sum(map(len, clusters)))
        return [decision for cluster in clusters for decision in self.decided(cluster)]

    def decided(self, cluster: Sequence[Fact]) -> Iterable[Decision]:
        """In time order, which is theirs: the last before is repeated or updated."""
        holding: dict[tuple[str, str], Fact] = {}
        for fact in cluster:
            about = thing(fact.text)
            if about is None or fact.status != "current":
                continue
            before = holding.get(about)
            if fact.id in self.stored:
                holding[about] = fact
            elif before and before.text == fact.text:
                yield Decision(fact=fact.id, act="none", of=before.id)
            else:
                holding[about] = fact
                yield Decision(
                    fact=fact.id, act="update" if before else "add", of=before.id if before else None
                )


def written(sessions: int, *, with_model: bool) -> dict[str, float]:
    """Sessions one after the other into one memory: calls for each, and what is in memory then."""
    rng, embed, graph, spent_by = random.Random(5), MiniLM(), FactGraph(), []
    last: dict[tuple[str, str], str] = {}
    shown = 0
    for number in range(sessions):
        model, tasks, waiting = Model(), TaskGraph(), list[Exchange]()
        for turn in session(number, rng):
            for operation in turn.operations:
                outcome = apply(tasks, operation, turn=turn.said.turn)
                assert outcome.refused is None, outcome.refused
                tasks = outcome.graph
            waiting.append(turn.said)
            about = thing(turn.said.said)
            assert about
            last[about] = turn.said.said
            ended = turn.said.turn == SESSION
            batch = due(len(waiting), closed=turn.closes, ended=ended, model=with_model)
            if batch == "nothing":
                continue
            asked = with_model and batch == "all"
            facts = summarise(waiting, tasks, model.summarise if asked else None)
            model.stored = frozenset(graph)
            near = aligned(facts, graph, embed)
            graph = consolidate(facts, graph, near, decide=model.decide if asked else None).graph
            waiting = [] if batch == "all" else waiting
        spent_by.append(model.calls)
        shown = max(shown, model.shown)
    texts = [fact.text for fact in graph.current]
    alone = [[text for text in texts if thing(text) == about] == [words] for about, words in last.items()]
    told = {
        "stale": round(1 - statistics.mean(alone), 3),
        "shown": shown,
        "invented": sum("Madrid" in fact.text for fact in graph.values()),
    }
    return {
        "calls_mean": round(statistics.mean(spent_by), 2),
        "calls_max": max(spent_by),
        "facts": len(graph),
        "current": len(graph.current),
        **(told if with_model else {}),
    }


def aligned(facts: Sequence[Fact], graph: FactGraph, embed: MiniLM) -> dict[str, Vector]:
    """The vectors of new facts and of the ten current ones most like each."""
    if not facts:
        return {}
    new = embed([fact.text for fact in facts])
    found = {fact.id: new[row] for row, fact in enumerate(facts)}
    old = [fact for fact in graph.values() if fact.status == "current" and fact.id not in found]
    if old:
        stored = embed([fact.text for fact in old])
        for row in np.argsort(-(new @ stored.T), axis=1)[:, :10].ravel():
            found[old[row].id] = stored[row]
    return found


# ---- times --------------------------------------------------------------------------------------


def fact(number: int, **more: object) -> Fact:
    return Fact.model_validate(
        {
            "id": f"f{number}", "text": f"Fact number {number} of them all.", "thread": "main",
            "at": START + timedelta(minutes=number), "turn": number, **more,
        }
    )  # fmt: skip


def built(size: int, rng: random.Random) -> FactGraph:
    """Facts that each rest on up to three of the sixty before."""
    graph = FactGraph()
    for number in range(size):
        graph = graph.insert(fact(number), candidates(number, rng)[:3])
    return graph


def candidates(number: int, rng: random.Random) -> list[str]:
    """Three recent facts and two of any age: the older the oldest, the longer the search for other paths."""
    recent = [max(0, number - rng.randint(1, 60)) for _ in range(3)]
    return [f"f{one}" for one in (*recent, rng.randrange(number or 1), rng.randrange(number or 1))]


def times(size: int, runs: int) -> dict[str, float]:
    """Milliseconds at the 95th percentile."""
    rng = random.Random(3)
    graph = built(size, rng)
    vectors = np.random.default_rng(1).normal(size=(size, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    def batch() -> None:
        new = [fact(size + n, slot=f"trip.slot{n}", value=f"value {n}") for n in range(20)]
        near = {f"f{rng.randrange(size)}": vectors[rng.randrange(size)] for _ in range(200)}
        near |= {one.id: vectors[n] for n, one in enumerate(new)}
        consolidate(new, graph, near)

    def some() -> str:
        return f"f{rng.randrange(size)}"

    spent = {
        "insert": [timed(partial(graph.insert, fact(size), candidates(size, rng))) for _ in range(runs)],
        "reinsert": [
            timed(partial(fresh(graph).reinsert, graph[key], candidates(graph[key].turn, rng)))
            for key in (some() for _ in range(runs))
        ],
        "delete": [timed(partial(fresh(graph).delete, some())) for _ in range(runs)],
        "closure": [timed(partial(closure, graph, [some() for _ in range(5)])) for _ in range(runs)],
        "closure_depth_3": [
            timed(partial(closure, graph, [some() for _ in range(5)], depth=3)) for _ in range(runs)
        ],
        "batch": [timed(batch) for _ in range(max(5, runs // 4))],
    }
    return {name: round(quantile(values), 3) for name, values in spent.items()}


def fresh(graph: FactGraph) -> FactGraph:
    """The same graph with no index built."""
    return FactGraph(graph.values())


# ---- all of it ----------------------------------------------------------------------------------


def table(found: dict[str, dict[str, dict[str, float]]]) -> Iterable[Table]:
    calls = Table("", "calls, mean", "max", "facts", "current", "stale", "invented", "shown")
    calls.title = f"Model calls per session of {SESSION} turns (at most {CALLS})"
    for name, row in found["calls"].items():
        calls.add_row(name, *(f"{row[key]:g}" if key in row else "" for key in COLUMNS))
    spent = Table("p95 in ms", *(f"{int(size):,} facts" for size in found["times"]), title="The memory DAG")
    for name in next(iter(found["times"].values())):
        spent.add_row(name, *(f"{row[name]:.2f}" for row in found["times"].values()))
    for made in (calls, spent):
        for column in made.columns[1:]:
            column.justify = "right"
    return calls, spent


COLUMNS = ("calls_mean", "calls_max", "facts", "current", "stale", "invented", "shown")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the tables")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, some seconds")
    parser.add_argument("--sessions", type=int, help="how many sessions; default 50")
    parser.add_argument("--sizes", type=int, nargs="+", help="facts in the graph; default 1000 10000")
    args = parser.parse_args()
    sessions = args.sessions or (5 if args.quick else 50)
    sizes = args.sizes or ([1_000] if args.quick else [1_000, 10_000])
    found: dict[str, dict[str, dict[str, float]]] = {
        "calls": {
            "rules": written(sessions, with_model=False),
            "model": written(sessions, with_model=True),
            "Mem0": {"calls_mean": MEM0, "calls_max": MEM0},
            "TeleMem": {"calls_mean": TELEMEM, "calls_max": TELEMEM},
        },
        "times": {str(size): times(size, 10 if args.quick else 40) for size in sizes},
    }
    if args.json:
        print(json.dumps(found))
        return
    for made in table(found):
        Console().print(made)


if __name__ == "__main__":
    main()
