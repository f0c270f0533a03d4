"""How well the turns that answer a question on a very long talk are found (LoCoMo, Maharana et al. 2024).

    python benchmarks/locomo.py --turns TURNS.jsonl --qa QUESTIONS.jsonl [--json]

Turns have `conv, n, id, session, date, speaker, text`, questions `conv, category, question, evidence` (ids
of turns), a JSON object a line. Each conversation is a user of Taskloom's store and each turn a fact: who
said it, the words, the day. A question is asked as its words alone, and a turn gets a share of the scores of
its neighbours.

- `r_at_1`, `r_at_5`, `r_at_10`: the share of a question's evidence that is among the first k turns, mean over
  all questions that have evidence; `hit_at_k`: the share of questions with any of it there. By category too.
- `by_words` and `by_meaning` rank the same hits by BM25 alone and by cosine alone.
- `p95_ms`: one question, its embedding included.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import dateparser
from rich.console import Console
from rich.table import Table
from sessions import Row, mean, rounded, rows, told

from taskloom.memory.embed import Embedder, MiniLM
from taskloom.memory.ranking import Hit, with_neighbours
from taskloom.memory.records import Fact, record_id
from taskloom.memory.store import InMemoryStore

KS = (1, 5, 10)
FOUND = 200  # turns that a search gives, the neighbours' share among them


def fact(turn: Row) -> Fact:
    """A turn as a fact. Raises ValueError for a date that cannot be read."""
    day = _day(str(turn["date"]))
    return Fact(
        id=record_id(str(turn["conv"]), int(turn["n"]), "fact", str(turn["id"])),
        text=f"{turn['speaker']}: {turn['text']} ({day.day} {day:%B %Y})",
        at=day,
        thread=f"{turn['conv']} {turn['session']}",
        turn=int(turn["n"]),
        people=(str(turn["speaker"]),),
    )


def _day(text: str) -> datetime:
    """A date as ISO 8601 or as LoCoMo has it: '1:56 pm on 8 May, 2023'."""
    found = dateparser.parse(re.sub(r"^.*\bon ", "", text), languages=["en"])
    if found is None:
        raise ValueError(f"no date: {text!r}")
    return found.replace(tzinfo=UTC)


def measure(turns: Sequence[Row], questions: Sequence[Row], embedder: Embedder) -> Row:
    """All figures of the table."""
    talks: dict[str, list[Row]] = defaultdict(list)
    asked: dict[str, list[Row]] = defaultdict(list)
    for turn in turns:
        talks[str(turn["conv"])].append(turn)
    for question in questions:
        if question["evidence"]:
            asked[str(question["conv"])].append(question)
    orders: dict[str, list[tuple[Row, list[str]]]] = defaultdict(list)
    spent = []
    with InMemoryStore(embedder) as store:
        for conv in told(asked, "conversations"):
            facts = {turn["id"]: fact(turn) for turn in talks[conv]}
            names = {record.id: name for name, record in facts.items()}
            store.put(conv, list(facts.values()))
            for question in asked[conv]:
                start = time.perf_counter()
                hits = with_neighbours(store.search(conv, question["question"], kind="fact", limit=FOUND))
                spent.append(1000 * (time.perf_counter() - start))
                for way, ordered in ways(hits).items():
                    orders[way].append((question, [names[hit.record.id] for hit in ordered]))
    kinds = sorted({str(question["category"]) for question, _ in orders["fused"]})
    return {
        **recalls(orders["fused"]),
        "by_category": {kind: recalls([one for one in orders["fused"] if str(one[0]["category"]) == kind])
                        for kind in kinds},
        "by_words": recalls(orders["words"]),
        "by_meaning": recalls(orders["meaning"]),
        "p95_ms": sorted(spent)[min(len(spent) - 1, int(0.95 * len(spent)))] if spent else 0.0,
    }  # fmt: skip


def ways(hits: Sequence[Hit]) -> dict[str, Sequence[Hit]]:
    return {
        "fused": hits,
        "words": sorted(hits, key=lambda hit: -hit.lexical),
        "meaning": sorted(hits, key=lambda hit: -hit.dense),
    }


def recalls(found: Sequence[tuple[Row, list[str]]]) -> Row:
    """r_at_k and hit_at_k of questions with the turns found for them."""
    gold = [(frozenset(question["evidence"]), names) for question, names in found]
    shares = {k: [len(ids.intersection(names[:k])) / len(ids) for ids, names in gold] for k in KS}
    return {
        **{f"r_at_{k}": mean(shares[k]) for k in KS},
        **{f"hit_at_{k}": mean([share > 0 for share in shares[k]]) for k in KS},
        "questions": len(found),
    }


def table(found: Row) -> Table:
    columns = [*(f"r_at_{k}" for k in KS), *(f"hit_at_{k}" for k in KS), "questions"]
    made = Table("", *columns, title=f"Turns that answer a question (p95 {found['p95_ms']:.1f} ms)")
    made.columns[0].no_wrap = True
    for column in made.columns[1:]:
        column.justify = "right"
    lines = {
        "all": found,
        **{f"category {kind}": one for kind, one in found["by_category"].items()},
        "all, by words": found["by_words"],
        "all, by meaning": found["by_meaning"],
    }
    for name, line in lines.items():
        made.add_row(name, *(f"{line[c]:,}" if c == "questions" else f"{line[c]:.3f}" for c in columns))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=Path, required=True, metavar="FILE", help="JSON Lines")
    parser.add_argument("--qa", type=Path, required=True, metavar="FILE", help="JSON Lines")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    found = rounded(measure(rows(args.turns), rows(args.qa), MiniLM()))
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()
