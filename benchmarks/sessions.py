"""How well the session that a request means is found, and the values of its slots proposed.

    python benchmarks/sessions.py --sessions S.jsonl --queries Q.jsonl --anchored A.jsonl \\
        --individuals I.jsonl --schema SCHEMA.jsonl [--json]
    python benchmarks/sessions.py --folder FOLDER --split train  # sgdms_train_*.jsonl and sgd_schema.jsonl

The data is a multi-session set made from Schema-Guided Dialogue: individuals with some twenty sessions each,
and openings of one session more. Every individual is a user of Taskloom's store; each task of a session
becomes an intent unit made of what is known when the session ends: the schema's words for its intent and
slots, its values as they are stored and as they were said, and what the user said while it was the task at
hand. Then each query is asked as its words alone.

- `r_at_1`, `r_at_3`, `r_at_5`, `mrr`: rank of the gold session (the newest of the intent) for queries that
  name no value; a session ranks as its best unit does. `anchored_r_at_1`: for those that name a value of an
  earlier session, which is then the gold one. Both with the same settings.
- `slot_accuracy`: share of the gold session's slots for which the first proposal is the gold value, over the
  queries that name no value. `slot_accuracy_anchored`: the same for the others.
- `p95_ms`: one request from its words to the ranked units, its embedding included, after a warm-up of ten;
  `p95_ms_10k`: the same for a user with 10,000 units, those of all individuals over and over.
- The plain rules beside it, on the same store and vectors: "newest" takes the intent of the most similar unit
  and the newest session of it, "similar" the session of the most similar unit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from taskloom.memory.embed import Embedder, MiniLM
from taskloom.memory.judge import CANDIDATES, Ranked, pairs_for, rank_units, spoken, unit_text
from taskloom.memory.records import IntentUnit, Pair, record_id
from taskloom.memory.store import InMemoryStore, Store

Row = dict[str, Any]
ERR = Console(stderr=True)
MANY = 10_000
RULES = ("newest", "similar")


@dataclass(frozen=True)
class Data:
    """The files. sessions, schema: by their names; individuals: ids of their sessions in order."""

    sessions: dict[str, Row]
    individuals: dict[str, list[str]]
    schema: dict[str, Row]
    queries: list[Row]
    anchored: list[Row]


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read(sessions: Path, queries: Path, anchored: Path, individuals: Path, schema: Path) -> Data:
    return Data(
        sessions={row["id"]: row for row in rows(sessions)},
        individuals={row["ind"]: row["sessions"] for row in rows(individuals)},
        schema={row["service"]: row for row in rows(schema)},
        queries=rows(queries),
        anchored=rows(anchored),
    )


# ---- what a session leaves --------------------------------------------------------------------------


def utterances(session: Row) -> dict[tuple[str, str], list[str]]:
    """What the user said about each task: the turns in which its state changed."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    before: Row = {}
    for speaker, text, *states in session["turns"]:
        if speaker == "U":
            for service, state in states[0].items():
                if state != before.get(service):
                    said[service, state[0]].append(text)
            before = states[0]
    return said


def units(session: Row, schema: dict[str, Row], order: int) -> Iterator[IntentUnit]:
    """An intent unit for each task of a session; order: of the session among the individual's."""
    said = utterances(session)
    at = datetime.fromisoformat(session["date"]).replace(tzinfo=UTC) + timedelta(hours=12, seconds=order)
    for place, task in enumerate(session["tasks"]):
        service = schema[task["service"]]
        description = service["intents"][task["intent"]]["description"]
        pairs = [
            Pair(slot=slot, question=service["slots"][slot][0], answer=value, said=task["alt"].get(slot, ()))
            for slot, value in task["slots"].items()
        ]
        yield IntentUnit(
            id=record_id(session["id"], 0, "unit", str(place)),
            text=unit_text(description, pairs, said[task["service"], task["intent"]]),
            at=at,
            thread=session["id"],
            intent=task["family"],
            description=description,
            title=spoken(task["intent"]),
            pairs=tuple(pairs),
            order=place,
            status="done",
        )


def remembered(data: Data, individual: str) -> list[IntentUnit]:
    """All units of an individual."""
    return [
        unit
        for order, name in enumerate(data.individuals[individual])
        for unit in units(data.sessions[name], data.schema, order)
    ]


# ---- what a request gets ----------------------------------------------------------------------------


def ranked(store: Store, embedder: Embedder, query: Row) -> tuple[Ranked, ...]:
    """The units for a request, as the agent asks for them."""
    user, text = query["ind"], query["utt"]
    hits = store.search(user, text, kind="unit", limit=CANDIDATES)
    return rank_units(text, hits, store.newest(user), embedder, now=now(query))


def now(query: Row) -> datetime:
    return datetime.fromisoformat(query["date"]).replace(tzinfo=UTC) + timedelta(hours=12)


def plain_rules(store: Store, query: Row) -> dict[str, list[str]]:
    """Sessions by the plain rules, best first."""
    hits = store.search(query["ind"], query["utt"], kind="unit", limit=MANY)
    found = [
        hit.record for hit in sorted(hits, key=lambda hit: -hit.dense) if isinstance(hit.record, IntentUnit)
    ]
    last: dict[str, IntentUnit] = {}
    for unit in found:
        last[unit.intent] = max(last.get(unit.intent, unit), unit, key=lambda one: one.at)
    return {"newest": [unit.thread for unit in last.values()], "similar": [unit.thread for unit in found]}


def accuracy(query: Row, best: Sequence[Ranked], data: Data, embedder: Embedder) -> float | None:
    """The share of the gold values that are proposed first; None for a gold session without values."""
    asked = {slot: data.schema[query["service"]]["slots"][slot][0] for slot in query["slots"]}
    if not asked:
        return None
    found = pairs_for(query["utt"], asked, best, embedder)
    right = [bool(found[slot]) and found[slot][0].value == value for slot, value in query["slots"].items()]
    return statistics.mean(right)


def place(threads: Iterable[str], gold: str) -> int:
    """The rank of the gold session, from 1; 0: not found."""
    order = list(dict.fromkeys(threads))
    return order.index(gold) + 1 if gold in order else 0


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = run()
    return 1000 * (time.perf_counter() - start), found


# ---- all of it --------------------------------------------------------------------------------------


def measure(data: Data, embedder: Embedder, *, many: int = MANY) -> Row:
    """All figures of the table."""
    by_individual: dict[str, list[Row]] = defaultdict(list)
    for query in (*data.queries, *data.anchored):
        by_individual[query["ind"]].append(query)
    places: dict[str, list[int]] = defaultdict(list)
    rules: dict[tuple[str, str], list[int]] = defaultdict(list)
    right: dict[str, list[float]] = defaultdict(list)
    spent = []
    with InMemoryStore(embedder) as store:
        for individual in told(by_individual, "individuals"):
            store.put(individual, remembered(data, individual))
            for query in by_individual[individual]:
                milliseconds, best = timed(lambda query=query: ranked(store, embedder, query))
                spent.append(milliseconds)
                kind = "anchored" if query["kind"] == "anchored" else "plain"
                threads = [one.unit.thread for one in best]
                for name in (kind, f"{kind}.{query['style']}"):
                    places[name].append(place(threads, query["gold"]))
                for rule, threads in plain_rules(store, query).items():
                    rules[rule, kind].append(place(threads, query["gold"]))
                share = accuracy(query, best, data, embedder)
                if share is not None:
                    right[kind].append(share)
    return {
        **{f"r_at_{k}": recall(places["plain"], k) for k in (1, 3, 5)},
        "mrr": mean([1 / rank if rank else 0.0 for rank in places["plain"]]),
        "anchored_r_at_1": recall(places["anchored"], 1),
        "anchored_r_at_5": recall(places["anchored"], 5),
        "slot_accuracy": mean(right["plain"]),
        "slot_accuracy_anchored": mean(right["anchored"]),
        "p95_ms": percentile(spent[10:] or spent, 0.95),
        "p95_ms_10k": large(data, embedder, many),
        "r_at_1_by_style": {
            name.removeprefix("plain."): recall(ranks, 1)
            for name, ranks in places.items()
            if name.startswith("plain.")
        },
        **{
            rule: {
                **{f"r_at_{k}": recall(rules[rule, "plain"], k) for k in (1, 3, 5)},
                "anchored_r_at_1": recall(rules[rule, "anchored"], 1),
                "anchored_r_at_5": recall(rules[rule, "anchored"], 5),
            }
            for rule in RULES
        },
        "queries": len(data.queries),
        "anchored": len(data.anchored),
    }


def large(data: Data, embedder: Embedder, many: int, asked: int = 200) -> float:
    """The p95 in ms of requests to a user with so many units, copies of all that there are."""
    known = [unit for individual in data.individuals for unit in remembered(data, individual)]
    copies = [
        known[n % len(known)].model_copy(
            update={"id": f"u{n}", "at": known[n % len(known)].at - timedelta(days=n)}
        )
        for n in range(many)
    ]
    with InMemoryStore(embedder) as store:
        for n in told(range(0, many, 500), f"{many:,} units"):
            store.put("large", copies[n : n + 500])
        queries = [{**query, "ind": "large"} for query in (*data.queries, *data.anchored)[::7][: asked + 10]]
        spent = [timed(lambda query=query: ranked(store, embedder, query))[0] for query in queries]
    return percentile(spent[10:] or spent, 0.95)


def recall(ranks: Sequence[int], k: int) -> float:
    return mean([0 < rank <= k for rank in ranks])


def mean(values: Sequence[float]) -> float:
    return statistics.mean(values) if values else float("nan")


def told(items: Iterable[Any], name: str) -> Iterator[Any]:
    """The items, with a bar on a terminal."""
    listed = list(items)
    if not ERR.is_terminal:
        ERR.print(f"{name} ({len(listed)})", highlight=False)
        yield from listed
        return
    yield from track(listed, description=name, console=ERR, transient=True)


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def table(found: Row) -> Table:
    made = Table("", "Taskloom", *RULES, title="The session that a request means")
    for column in made.columns[1:]:
        column.justify = "right"
    for name, value in found.items():
        if name == "r_at_1_by_style":
            for style, one in value.items():
                made.add_row(f"r_at_1, {style}", f"{one:.3f}")
        elif name not in RULES:
            plain = (found[rule].get(name) for rule in RULES)
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
            made.add_row(name, shown, *("" if one is None else f"{one:.3f}" for one in plain))
    return made


def arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The options that say where the data is."""
    for name in ("sessions", "queries", "anchored", "individuals", "schema"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help="JSON Lines")
    parser.add_argument("--folder", type=Path, help="instead of the five: a folder that has them all")
    parser.add_argument("--split", default="train", help="with --folder: sgdms_SPLIT_*.jsonl")
    return parser


def data_of(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Data:
    """The data that the options name."""
    paths = {
        name: getattr(args, name) for name in ("sessions", "queries", "anchored", "individuals", "schema")
    }
    if args.folder:
        paths = {
            name: paths[name] or args.folder / f"sgdms_{args.split}_{name}.jsonl"
            for name in paths if name != "schema"
        } | {"schema": paths["schema"] or args.folder / "sgd_schema.jsonl"}  # fmt: skip
    if missing := [f"--{name}" for name, path in paths.items() if path is None]:
        parser.error(f"{', '.join(missing)} or --folder needed")
    return read(**paths)


def main() -> None:
    parser = arguments(
        argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--many", type=int, default=MANY, help=argparse.SUPPRESS)  # for the smoke test
    args = parser.parse_args()
    found = rounded(measure(data_of(parser, args), MiniLM(), many=args.many))
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()
