"""Time of operations (with their propagation) and of closure on task graphs of several sizes.

    python benchmarks/graph.py [--json] [--sizes 1000 10000]

`operation_p95_ms` is the slowest kind of operation at its 95th percentile, `closure_p95_ms` the slowest kind
of closure. A third of the tasks rest on one hub, directly or through others; its change marks them all.
It is processor time that is counted: nothing here waits, and other programs on the machine do not matter.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from collections.abc import Callable
from functools import partial

from taskloom.memory import dag
from taskloom.memory.claims import answer
from taskloom.memory.operations import (
    Add,
    Complete,
    Confirm,
    Inactivate,
    Link,
    Merge,
    Operation,
    Part,
    Question,
    Reject,
    Remove,
    Replace,
    Restore,
    Rollback,
    Split,
    Undo,
    Unlink,
    Update,
    apply,
)  # fmt: skip
from taskloom.memory.retrieve import closure, matching
from taskloom.memory.tasks import TaskGraph, TaskNode

CITIES = ["Boston", "Chicago", "Denver", "Seattle", "Oslo", "Kyoto"]


def build(size: int) -> TaskGraph:
    """Trees of ten tasks; t1 is the hub, t2 a container of 100 members; every task has been changed once."""
    rng = random.Random(7)
    graph = TaskGraph()
    nodes = []
    for number in range(1, size + 1):
        root = number - number % 10
        parent = None if number < 10 or number == root else f"t{root}"
        parent = "t2" if 10 < number <= min(110, size // 2) and number != root else parent
        needs = ("t1",) if number > 2 and (number % 4 == 1 or number == 15) else ()
        if number > 20 and number % 3 == 0 and number != root:
            before = number - 1 if (number - 1) % 10 else number - 2
            needs = (*needs, f"t{before}")
        nodes.append(
            TaskNode(
                id=f"t{number}", slot=f"plan.item{number}", title=f"Task number {number}", turn=1,
                value=rng.choice(CITIES), parent=parent, depends_on=needs, status="filled",
            ).changed(turn=2, op="update", said="as said before", value=rng.choice(CITIES))
        )  # fmt: skip
    graph = TaskGraph(nodes)
    assert not graph.faults(), graph.faults()
    return graph


def p95(run: Callable[[], object], times: int = 40) -> float:
    """The 95th percentile in milliseconds."""
    return quantile([timed(run) for _ in range(times)])


def timed(run: Callable[[], object]) -> float:
    """Milliseconds of processor time of one call, garbage collection included, debris of earlier ones not."""
    gc.collect()
    start = time.thread_time()
    run()
    return 1000 * (time.thread_time() - start)


def quantile(spent: list[float]) -> float:
    """The 95th percentile."""
    return sorted(spent)[min(len(spent) - 1, int(0.95 * len(spent)))]


def operations(size: int, rng: random.Random) -> dict[str, Callable[[], tuple[list[Operation], Operation]]]:
    """For each kind what to do before, untimed, and the operation."""

    def some() -> str:
        return f"t{rng.randrange(111, size) | 1}"

    def root() -> str:
        return f"t{rng.randrange(12, size // 10) * 10}"

    def proposed() -> Operation:
        return Update(task=some(), value="Rome", status="proposed")

    split = Split(
        task="t2",
        parts=(Part(title="one", values=(("time", "2 PM"),), members=("t11", "t13")), Part(title="two")),
    )
    made: dict[str, Callable[[], tuple[list[Operation], Operation]]] = {
        "add": lambda: ([], Add(slot="new", title="New", value="x", parent=root(), depends_on=("t1",))),
        "add (update)": lambda: ([], Add(slot="plan.item20", title="New", value="x")),
        "update": lambda: ([], Update(task=some(), value="Rome")),
        "update hub": lambda: ([], Update(task="t1", value="Rome")),
        "replace everywhere": lambda: ([], Replace(old="Boston", new="Rome")),
        "remove": lambda: ([], Remove(task=root())),
        "remove container": lambda: ([], Remove(task="t2")),
        "inactivate hub": lambda: ([], Inactivate(task="t1")),
        "restore": lambda: ([Remove(task="t2")], Restore(task="t2")),
        "rollback": lambda: ([], Rollback(task=some(), to=0)),
        "rollback hub": lambda: ([Update(task="t1", value="Rome")], Rollback(task="t1")),
        "undo": lambda: ([Update(task=some(), value="Rome")], Undo()),
        "undo hub": lambda: ([Update(task="t1", value="Rome")], Undo()),
        "link": lambda: ([], Link(task=root(), on="t1")),
        "unlink": lambda: ([], Unlink(task="t15", on="t1")),
        "complete": lambda: ([], Complete(task=root())),
        "confirm": lambda: ([step := proposed()], Confirm(task=step.task)),  # type: ignore[union-attr]
        "reject": lambda: ([step := proposed()], Reject(task=step.task)),  # type: ignore[union-attr]
        "split": lambda: ([], split),
        "merge": lambda: ([split], Merge(task="t2")),
    }
    return made


def resting_on_hub(graph: TaskGraph) -> int:
    """How many tasks the change of the hub makes stale."""
    return len(dag.reach(["t1"], lambda key: graph.dependents.get(key, ()))) - 1


def measure(size: int) -> dict[str, dict[str, float]]:
    """Milliseconds at the 95th percentile, by what is measured and kind."""
    graph, rng = build(size), random.Random(11)
    spent: dict[str, float] = {}
    for name, make in operations(size, rng).items():
        runs = []
        for _ in range(40):
            first, operation = make()
            start = graph
            for turn, step in enumerate(first, start=3):
                start = apply(start, step, turn=turn, said="x").graph
            run = partial(apply, start, operation, turn=9, said="words")
            if run().refused is None:  # a value may be the same by chance
                runs.append(timed(run))
        assert len(runs) > 20, name
        spent[name] = quantile(runs)
    after = apply(graph, Update(task="t1", value="Rome"), turn=3, said="words").graph
    whole = Question(kind="summary", tasks=("t2",))
    claim = Question(kind="claim", value="Boston", tasks=("t1",))
    closures = {
        "one task": p95(lambda: closure(after, ["t111"])),
        "a whole task": p95(lambda: closure(after, ["t2"], question=whole, budget=2000)),
        "all tasks": p95(lambda: closure(after, list(after), budget=2000)),
        "a claim, matched": p95(lambda: closure(after, matching(after, "number 57"), question=claim)),
    }
    asked = {
        "a claim": p95(lambda: answer(after, claim)),
        "was it ever, on all": p95(lambda: answer(after, Question(kind="ever", value="celery"))),
        "what is next": p95(lambda: answer(after, Question(kind="next"))),
    }
    return {"operation": spent, "closure": closures, "answer": asked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    args = parser.parse_args()
    found = {size: measure(size) for size in args.sizes}
    if args.json:
        names = ("operation", "closure", "answer")
        worst = {
            f"{name}_p95_ms": {size: round(max(result[name].values()), 3) for size, result in found.items()}
            for name in names
        }
        print(json.dumps(worst))
        return
    print(f"{'tasks that rest on the hub':32}" + "".join(f"{resting_on_hub(build(n)):>12,}" for n in found))
    for title, rows in next(iter(found.values())).items():
        print(f"{title + ', p95 in ms':32}" + "".join(f"{size:>12,}" for size in found))
        for name in rows:
            print(f"  {name:30}" + "".join(f"{result[title][name]:12.2f}" for result in found.values()))


if __name__ == "__main__":
    main()
