"""What would become of ranking if Chroma's index gave the candidates, in place of a copy of all in memory.

    python benchmarks/candidates.py --folder FOLDER [--counts 20 50 100 200] [--first 20] [--json]
    python benchmarks/candidates.py --folder FOLDER --turns TURNS.jsonl --qa QUESTIONS.jsonl
    python benchmarks/candidates.py --users 2 --records 20000  # without data: only what it takes

`copy` is the store as it is: a `Corpus` of all records of a user. The others ask an index of Chroma's as it
comes (cosine, 16 neighbours, 200 candidates when it is built) for so many of the records nearest in meaning,
and rank those in the same way; the counts of words are of those candidates then. The data is that of
`sessions.py`; `--turns` and `--qa` are LoCoMo's, see `locomo.py`.

- `r_at_1`, `anchored_r_at_1`: as in `sessions.py`, an individual's units; there are too few of them for large
  counts to differ.
- `pooled_r_at_1`, `pooled_anchored_r_at_1`: the same where ten individuals share one memory.
- `turns_r_at_5`: `r_at_5` as in `locomo.py`, of LoCoMo where that is given; else of talks in its form: each
  turn of an individual's sessions is a fact, and asked for are the turns in which the user told the task.
- `first_ms`, `later_ms`: processor, median, of a user's first search and of one soon after, for users with
  records as in `crowd.py`; `mb`: what is resident after all of them, beyond what it was before.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crowd import BATCH, Remembering, opened, records, resident, written
from locomo import FOUND, fact, recalls
from rich.console import Console
from rich.table import Table
from sessions import Data, Row, arguments, data_of, place, ranked, recall, remembered, rounded, rows, told

from taskloom.memory import chroma
from taskloom.memory.chroma_files import Folder
from taskloom.memory.embed import Embedder, packaged
from taskloom.memory.keeping import AnyRecord
from taskloom.memory.ranking import Corpus, Hit, with_neighbours
from taskloom.memory.records import Fact, IntentUnit, Kind, read_record, searched
from taskloom.memory.store import InMemoryStore
from taskloom.memory.warm import to_metadata

COPY, POOL, OPENED = "copy", 10, 8
FIGURES = ("r_at_1", "anchored_r_at_1", "pooled_r_at_1", "pooled_anchored_r_at_1", "turns_r_at_5",
           "first_ms", "later_ms", "mb")  # fmt: skip


class Indexed:
    """Records in a folder, of which Chroma's index is asked; a store as far as the ranking needs one."""

    def __init__(self, path: Path, embedder: Embedder, count: int) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._folder, self.embedder, self.count = Folder(path), embedder, count
        self._client = chroma.open_folder(self._folder)
        self._function = chroma.function_class()(embedder)
        self._collections: dict[str, Any] = {}
        self.newest: Callable[[str], Sequence[IntentUnit]]

    def put(self, user: str, given: Sequence[AnyRecord], vectors: Any) -> None:
        """Adds records with their vectors."""
        self._collection(user).upsert(
            ids=[record.id for record in given], embeddings=vectors, metadatas=[*map(to_metadata, given)]
        )

    def search(self, user: str, text: str, *, kind: Kind, limit: int) -> tuple[Hit, ...]:
        """As a store's, of the candidates alone."""
        (vector,) = self.embedder([text])
        found = self._collection(user).query(
            query_embeddings=[vector], n_results=self.count, where={"kind": kind},
            include=["metadatas", "embeddings"],
        )  # fmt: skip
        corpus = Corpus()
        if found["ids"][0]:
            near = [read_record(data["record"]) for data in found["metadatas"][0]]
            corpus.put(near, found["embeddings"][0])
        return corpus.search(text, vector, kind=kind, limit=limit)

    def close(self) -> None:
        """Lets go of the folder."""
        self._client.close()

    def _collection(self, user: str) -> Any:
        if user not in self._collections:
            if len(self._collections) == OPENED:  # as the store does
                self._client, self._collections = chroma.open_anew(self._folder, self._client), {}
            self._collections[user] = self._client.get_or_create_collection(
                f"user-{user}", configuration={"hnsw": {"space": "cosine"}}, embedding_function=self._function
            )
        return self._collections[user]


# ---- what is found ----------------------------------------------------------------------------------


def sessions_found(data: Data, counts: Sequence[int], pool: int) -> dict[str, Row]:
    """Of each way, the share of requests whose session comes first; pool: individuals that share a memory."""
    embedder = Remembering()
    group = {name: f"pool{n // pool}" for n, name in enumerate(data.individuals)}
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    asked = defaultdict(list)
    for query in (*data.queries, *data.anchored):
        asked[group[query["ind"]]].append({**query, "ind": group[query["ind"]]})
    for name in told(asked, f"memories of {pool}"):
        units = [unit for ind, where in group.items() if where == name for unit in remembered(data, ind)]
        for way, store in ways(name, units, embedder, counts):
            for query in asked[name]:
                threads = [one.unit.thread for one in ranked(store, embedder, query)]
                kind = "anchored_" if query["kind"] == "anchored" else ""
                places[way, kind].append(place(threads, query["gold"]))
    return {
        way: {f"{kind}r_at_1": recall(places[way, kind], 1) for kind in ("", "anchored_")}
        for way in (COPY, *map(str, counts))
    }


def ways(
    user: str, given: Sequence[AnyRecord], embedder: Embedder, counts: Sequence[int]
) -> Iterator[tuple[str, Any]]:
    """The stores to be compared, with the same records of one user in them."""
    vectors = embedder([searched(record) for record in given])
    copy = InMemoryStore(embedder)
    copy.put(user, given)
    yield COPY, copy
    with tempfile.TemporaryDirectory() as name:
        index = Indexed(Path(name) / "index", embedder, 0)
        index.put(user, given, vectors)
        index.newest = copy.newest
        for count in counts:
            index.count = count
            yield str(count), index
        index.close()


def talks_of(data: Data) -> tuple[list[Row], list[Row]]:
    """Turns and questions in LoCoMo's form, of the sessions of each individual."""
    turns, questions, said = [], [], defaultdict(set)
    for ind, names in data.individuals.items():
        for name in names:
            session = data.sessions[name]
            before: Row = {}
            for n, (speaker, text, *states) in enumerate(session["turns"]):
                key = f"{name}:{n}"
                turns.append({"conv": ind, "n": n, "id": key, "session": name, "date": session["date"],
                              "speaker": "User" if speaker == "U" else "Agent", "text": text})  # fmt: skip
                if speaker == "U":
                    for service, state in states[0].items():
                        if state != before.get(service):
                            said[name, service].add(key)
                    before = states[0]
    for query in (*data.queries, *data.anchored):
        evidence = sorted(said[query["gold"], query["service"]])
        questions.append({"conv": query["ind"], "category": query["kind"], "question": query["utt"],
                          "evidence": evidence})  # fmt: skip
    return turns, questions


def turns_found(turns: Sequence[Row], questions: Sequence[Row], counts: Sequence[int]) -> dict[str, float]:
    """Of each way, the share of a question's evidence among the first five turns."""
    embedder = Remembering()
    talks, asked = defaultdict(list), defaultdict(list)
    for turn in turns:
        talks[turn["conv"]].append(turn)
    for question in questions:
        if question["evidence"]:
            asked[question["conv"]].append(question)
    orders: dict[str, list[tuple[Row, list[str]]]] = defaultdict(list)
    for conv in told(asked, "talks"):
        facts: dict[str, Fact] = {turn["id"]: fact(turn) for turn in talks[conv]}
        names = {record.id: name for name, record in facts.items()}
        for way, store in ways(conv, [*facts.values()], embedder, counts):
            for question in asked[conv]:
                hits = with_neighbours(store.search(conv, question["question"], kind="fact", limit=FOUND))
                orders[way].append((question, [names[hit.record.id] for hit in hits]))
    return {way: recalls(found)["r_at_5"] for way, found in orders.items()}


# ---- what it takes ----------------------------------------------------------------------------------


def prepared(folder: Path, users: int, count: int) -> None:
    """Writes the records of `crowd.py`, so many of each user, into both kinds of store."""
    written(str(folder / COPY), range(users), count)
    embedder = Remembering()
    index = Indexed(folder / "index", embedder, 1)
    for user in range(users):
        given = records(user, count)
        for start in range(0, count, BATCH):
            batch = given[start : start + BATCH]
            index.put(f"user{user}", batch, embedder([searched(record) for record in batch]))
    index.close()


def cost(folder: Path, users: int, way: str) -> Row:
    """The figures of one way, in this process."""
    embedder = packaged()
    embedder(["as a worker that has been asked something"])
    store: Any = opened(str(folder / COPY), embedder) if way == COPY else None
    store = store or Indexed(folder / "index", embedder, int(way))
    store.search("user0", "the first one loads the rest", kind="unit", limit=10)
    before = resident()  # with the first of them
    first: list[float] = []
    later: list[float] = []
    for user in range(1, users):
        for spent, text in ((first, f"the hotel in Rome for {user}"), (later, f"the concert of {user}")):
            begun = time.process_time()
            store.search(f"user{user}", text, kind="unit", limit=10)
            spent.append((time.process_time() - begun) * 1000)
    found = {"first_ms": statistics.median(first), "later_ms": statistics.median(later)}
    found["mb"] = resident() - before
    store.close()
    return found


def costs(counts: Sequence[int], users: int, count: int) -> dict[str, Row]:
    """What each way takes, each in a process of its own."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / COPY).mkdir()
        prepared(folder, users, count)
        for way in (COPY, *map(str, counts)):
            command = [sys.executable, __file__, "--cost", way, "--at", name, "--users", str(users)]
            found[way] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def measure(data: Data, talks: tuple[list[Row], list[Row]], counts: Sequence[int]) -> dict[str, Row]:
    """What each way finds."""
    alone, pooled = (sessions_found(data, counts, pool) for pool in (1, POOL))
    turns = turns_found(*talks, counts)
    return {
        way: {**found, **{f"pooled_{name}": value for name, value in pooled[way].items()},
              "turns_r_at_5": turns[way]}
        for way, found in alone.items()
    }  # fmt: skip


def main() -> None:
    """The command line."""
    parser = arguments(
        argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    )
    parser.add_argument("--turns", type=Path, metavar="FILE", help="LoCoMo's, JSON Lines")
    parser.add_argument("--qa", type=Path, metavar="FILE", help="LoCoMo's, JSON Lines")
    parser.add_argument("--counts", type=int, nargs="+", default=[20, 50, 100, 200])
    parser.add_argument("--users", type=int, default=40, help="whose searches are timed")
    parser.add_argument("--records", type=int, default=200, help="of each of them")
    parser.add_argument("--first", type=int, help="only so many individuals")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--cost", help=argparse.SUPPRESS)  # in a process of its own, of the folder `at`
    parser.add_argument("--at", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cost:
        print(json.dumps(cost(args.at, args.users, args.cost)))
        return
    found = costs(args.counts, args.users, args.records)
    if args.folder or args.sessions:
        data = data_of(parser, args)
        if args.first:
            kept = dict([*data.individuals.items()][: args.first])
            asked = ([one for one in some if one["ind"] in kept] for some in (data.queries, data.anchored))
            data = Data(data.sessions, kept, data.schema, *asked)
        talks = (rows(args.turns), rows(args.qa)) if args.turns and args.qa else talks_of(data)
        ranked_by = measure(data, talks, args.counts)
        found = {way: {**ranked_by[way], **cost} for way, cost in found.items()}
    found = rounded(found)
    if args.json:
        print(json.dumps(found))
        return
    table = Table("", *found, title="A copy of all in memory, against so many candidates of Chroma's index")
    for name in (one for one in FIGURES if one in found[COPY]):
        table.add_row(
            name, *(f"{one[name]:.3f}" if "r_at" in name else f"{one[name]:.1f}" for one in found.values())
        )
    Console().print(table)


if __name__ == "__main__":
    main()
