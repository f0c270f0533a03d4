"""What it costs to be seen: a turn that nobody watches, and one with spans, against one without the code.

    python benchmarks/watching.py
    python benchmarks/watching.py --turns 400 --json

The same utterances are said to the graph in three forms, one after the other in each turn, so that whatever
else the machine does falls on all of them alike. `bare`: with what makes spans taken out. `off`: as it ships,
and nobody watches. `spans`: with a span for each turn and node, sent by OpenTelemetry to a collector on this
machine, in a process of its own. Without a model and without long-term memory: what is left is little, and
what is added to it shows. `p50_ms` of each, and `ratio`: the median over the turns of what a form took,
against `bare` in the same turn. `nothing_ns`: what a span costs that nobody watches.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from taskloom.agent.graph import build
from taskloom.agent.graph.runs import Taskgraph
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.settings import Settings
from taskloom.agent.telemetry import spans
from tests.collector import Collector

WARM = 10  # turns that are not counted


class Bare(Taskgraph):
    """The graph without what makes spans; its nodes are built without it too."""

    def stream(self, input: Any, config: Any = None, *, context: Any = None, **more: Any) -> Any:  # noqa: A002
        yield from self._run(input, config, context=context, **more)


def graphs() -> dict[str, Taskgraph]:
    services = default_services(Settings(memory=False, model="", tracing="off"))
    with patch.object(build, "observed", lambda name, node: node):  # noqa: ARG005
        bare = build.build_graph(services, checkpointer=InMemorySaver())
    return {
        "bare": Bare.of(bare, bare.patience),
        "off": build.build_graph(services, checkpointer=InMemorySaver()),
        "spans": build.build_graph(services, checkpointer=InMemorySaver()),
    }


def utterance(turn: int) -> str:
    match turn % 4:
        case 0:
            return f"Plan a trip to Rome on June {1 + turn % 28}"
        case 1:
            return f"Make it June {2 + turn % 27}"
        case 2:
            return "When is the trip?"
        case _:
            return "undo"


def timed(run: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def collect(address: Any) -> None:
    """What the other process does: take spans in."""
    with Collector() as collector:
        address.send(collector.url)
        address.recv()


def measure(turns: int) -> dict[str, Any]:
    """The figures."""
    forms = graphs()
    took: dict[str, list[float]] = {form: [] for form in forms}
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=collect, args=(there,), daemon=True)
    process.start()
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = here.recv()
    from taskloom.agent.telemetry.tracing import Tracing, provider_of

    order = [*forms]
    for turn in range(turns + WARM):
        thread = str(turn // 20)  # short ones: what a turn costs grows with the tasks
        order = order[1:] + order[:1]
        for form in order:
            config: Any = {"configurable": {"thread_id": thread}}
            said: Any = {"messages": [HumanMessage(utterance(turn))]}
            if form == "spans":
                spans.watch(Tracing())
            spent = timed(partial(forms[form].invoke, said, config))
            spans.unwatch(Tracing)
            if turn >= WARM:
                took[form].append(spent)
    provider: Any = provider_of()
    provider.shutdown()
    here.send("done")
    process.join(10)
    many = 200_000
    nothing = timed(lambda: [spans.span("node", "x") for _ in range(many)]) * 1e6 / many
    return {
        "turns": turns,
        "p50_ms": {form: round(statistics.median(found), 3) for form, found in took.items()},
        "ratio": {
            form: round(statistics.median(a / b for a, b in zip(found, took["bare"], strict=True)), 4)
            for form, found in took.items()
        },
        "nothing_ns": round(nothing),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    found = measure(args.turns)
    if args.json:
        print(json.dumps(found))
        return
    table = Table("", "ms per turn (p50)", "against bare", title="What it costs to be seen")
    for form, ms in found["p50_ms"].items():
        table.add_row(form, f"{ms:.2f}", f"{found['ratio'][form]:.3f}")
    Console().print(table)
    print(f"a span that nobody watches: {found['nothing_ns']} ns")


if __name__ == "__main__":
    main()
