"""How well and how fast tools are selected, and what acting side by side saves.

    python benchmarks/tools.py [--json]

Selection: 1,000 tools, one for each of 20 acts on each of 50 kinds of things, and a task for each of them in
other words: neither the act nor the thing is called what the tool calls it.
- `recall_at_5`: the share of tasks whose tool is among the first five; `by_words` and `by_meaning` are the
  same for the descriptions by BM25 alone and by cosine alone, `in_order` for the first five of the list.
- `p95_ms`: one selection, the embedding of the task included.

Parallelism: a plan of 20 tasks in 8 branches that do not depend on each other, each task carried out by a
tool that takes 200 ms, in one turn of the whole graph.
- `seconds`: of that turn; `sequential`: of the same calls one by one; `share`: the one by the other.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.tools import StructuredTool
from rich.console import Console
from rich.table import Table

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.acting.index import HybridIndex
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.memory.embed import MiniLM
from taskloom.memory.ranking import Corpus
from taskloom.memory.records import Fact, now
from taskloom.tools.calls import call
from taskloom.tools.registry import Equipped, Registry, equip
from taskloom.tools.shared import Shared

K = 5

# An act and a thing as a tool's author calls them, and as somebody else would.
ACTS = {
    "create": ("Creates a new", "set up another"),
    "delete": ("Deletes a", "get rid of the"),
    "search": ("Searches for a", "look for a"),
    "update": ("Updates the details of a", "change what it says about the"),
    "list": ("Lists every", "show me all the"),
    "send": ("Sends a", "mail out the"),
    "print": ("Prints a", "put on paper the"),
    "share": ("Shares access to a", "let my colleague see the"),
    "archive": ("Archives an old", "store away the"),
    "copy": ("Duplicates a", "make a second one of the"),
    "rename": ("Renames a", "give another name to the"),
    "translate": ("Translates a", "put into Spanish the"),
    "summarise": ("Writes a summary of a", "tell me in short what is in the"),
    "compare": ("Compares a", "tell me the differences with the"),
    "schedule": ("Schedules a", "pick a date and time for the"),
    "cancel": ("Cancels a", "call off the"),
    "approve": ("Approves a", "say yes to the"),
    "export": ("Exports to a file the", "let me download the"),
    "price": ("Calculates the price of a", "work out how much it costs: the"),
    "rate": ("Gives a rating to a", "say how good I find the"),
}
THINGS = {
    "invoice": "bill for a customer", "appointment": "visit at the doctor", "contract": "signed agreement",
    "recipe": "cooking instructions", "flight": "plane ticket", "hotel": "room for the night",
    "song": "track of music", "photo": "picture", "car": "automobile", "house": "home for sale",
    "employee": "member of staff", "student": "learner at school", "exam": "final test",
    "patient": "person in hospital",
    "prescription": "medicine from the pharmacy", "dog": "puppy", "garden": "plants outside",
    "newspaper": "daily press", "film": "movie", "concert": "live gig", "restaurant": "place to eat",
    "taxi": "cab", "bicycle": "two-wheeler", "train": "railway journey", "ship": "boat",
    "parcel": "package in the post", "letter": "written note in an envelope", "password": "secret login",
    "website": "pages on the internet", "database": "tables of records",
    "server": "machine that hosts our site",
    "bug": "software defect", "meeting": "get-together of the team", "budget": "money plan",
    "loan": "borrowed money from the bank", "tax": "sum due to the state",
    "insurance": "cover against damage",
    "vote": "ballot", "law": "act of parliament", "court": "judge's hearing", "weather": "rain and sunshine",
    "earthquake": "tremor of the ground", "star": "light in the night sky", "planet": "world around the sun",
    "battery": "power cell", "lamp": "light bulb", "chair": "seat", "shirt": "clothes to wear",
    "watch": "timepiece on the wrist", "gift": "present for a birthday",
}  # fmt: skip


def tool(act: str, thing: str) -> Equipped:
    def run(name: str) -> str:
        return name

    description = f"{ACTS[act][0]} {thing}."
    return equip(StructuredTool.from_function(run, name=f"{act}_{thing}", description=description))


def selection() -> dict[str, float]:
    """All figures of the selection."""
    embedder = MiniLM()
    tools = [tool(act, thing) for act in ACTS for thing in THINGS]
    registry = Registry(tools, partial(HybridIndex, lambda: embedder, requests=True))
    tasks = {f"{act}_{thing}": f"{ACTS[act][1]} {other}" for act in ACTS for thing, other in THINGS.items()}
    registry.select("warm up", K)
    found, spent = [], []
    for name, task in tasks.items():
        start = time.perf_counter()
        found.append(name in registry.select(task, K))
        spent.append(1000 * (time.perf_counter() - start))
    ways = alone(tools, tasks, embedder)
    return {
        "tools": len(tools), "recall_at_5": float(np.mean(found)), **ways, "in_order": K / len(tools),
        "p50_ms": float(np.percentile(spent, 50)), "p95_ms": float(np.percentile(spent, 95)),
    }  # fmt: skip


def alone(tools: list[Equipped], tasks: dict[str, str], embedder: MiniLM) -> dict[str, float]:
    """Recall of each half of the ranking by itself."""
    corpus = Corpus()
    facts = [Fact(id=one.name, text=one.tool.description, at=now(), thread="", turn=0) for one in tools]
    corpus.put(facts, embedder([fact.text for fact in facts]))
    hits = {name: corpus.search(task, embedder([task])[0], limit=len(tools)) for name, task in tasks.items()}

    def recall(score: Callable[[Any], float]) -> float:
        ranked = {  # of equals in the order of their names, not of the other half's score
            name: sorted(sorted(every, key=lambda hit: hit.record.id), key=score, reverse=True)[:K]
            for name, every in hits.items()
        }
        return float(np.mean([name in {hit.record.id for hit in best} for name, best in ranked.items()]))

    return {"by_words": recall(lambda hit: hit.lexical), "by_meaning": recall(lambda hit: hit.dense)}


# ---- side by side ---------------------------------------------------------------------------------

BRANCHES, TASKS, WAIT = 8, 20, 0.2


def branches() -> Iterator[tuple[str, str]]:
    """The tasks of the plan as (what it needs, what it gives), each branch in the order of its steps."""
    for number in range(TASKS):
        branch, step = number % BRANCHES, number // BRANCHES
        yield ("start" if step == 0 else f"b{branch}s{step - 1}", f"b{branch}s{step}")


def slow(needs: str, gives: str) -> Equipped:
    def run(value: str) -> str:
        time.sleep(WAIT)
        return f"{value}+"

    made = StructuredTool.from_function(run, name=f"make_{gives}", description=f"Makes {gives}.")
    return equip(made, needs={"value": needs}, gives=gives)


def parallelism() -> dict[str, float]:
    """The plan in one turn, and the same calls one after the other."""
    tools = [slow(needs, gives) for needs, gives in branches()]
    start = time.perf_counter()
    for one in tools:
        call(one, {"value": "x"}, shared=Shared())
    sequential = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), memory=False)
        services = replace(default_services(settings), tools=Equipment(Registry(tools)))
        with Taskloom.open(settings, services=services) as app:
            start = time.perf_counter()
            turn = app.talk("Plan a move. The start is Monday.")
            seconds = time.perf_counter() - start
            done = [run for run in turn.tool_runs if run.status == "done"]
            assert len(done) == TASKS, f"{len(done)} of {TASKS} tasks were done"
    return {"tasks": TASKS, "seconds": seconds, "sequential": sequential, "share": seconds / sequential}


def table(found: dict[str, dict[str, float]]) -> Table:
    made = Table("", "figure", title="Tools")
    for group, figures in found.items():
        for name, value in figures.items():
            made.add_row(f"{group}: {name}", f"{value:,.3f}" if isinstance(value, float) else f"{value:,}")
    made.columns[1].justify = "right"
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    found = {"selection": selection(), "parallelism": parallelism()}
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()
