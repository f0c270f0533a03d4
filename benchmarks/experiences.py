"""What addition and deletion of experiences do to an agent that follows its examples, without a model.

    python benchmarks/experiences.py                     # tables, and plots in benchmarks/figures/
    python benchmarks/experiences.py --json --out /tmp   # one JSON object, plots elsewhere
    python benchmarks/experiences.py --seeds 2 --steps 500

It repeats the experiments of Xiong et al. (2025) on a synthetic task, with the rules of memory/policies.py:

- The task is regression. An input lies near one of 60 centres in R^8 (centres N(0, 1), jitter .2); the target
  in R^4 is linear within a cluster (bias sd 2, weights sd .9). Memory begins with 150 true records.
- The agent follows the nearest record: with weight w = exp(-d^2) its output is the record's, N(0, .4) off,
  and with 1 - w (1 without any record) its own idea, the truth N(0, 1.1) off. A hidden bit, of 25 % of the
  first records and of 5 % of what is asked, is the context that nobody wrote down: where it differs, w is
  only .15 of that.
- The error is the root mean square over the four outputs; below .6 is a success. `strict` sees it as it is,
  `coarse` has 30 % of its verdicts wrong, for addition and for utility.
- period 300, alpha 0, n 5, beta .54. `capacity` begins with as many records as it may keep.
- The error-free variant retrieves the same records, but finds the truth in them (section 4.4 there).
- A shift moves the questions from one half of the clusters to the other midway (section 6.1 there).

All policies of one seed meet the same questions and the same noise, so differences are of pairs. `last` is
the last quarter of the steps. Input similarity is exp(-d^2), output similarity exp(-rms^2) of output and
record.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from taskloom.memory.policies import Addition, Deletion, Outcome, Policy, Tally, admits, deletion_mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INITIAL = 150  # true records at the start
CLUSTERS, INPUTS, OUTPUTS = 60, 8, 4
PASSES = 0.6  # error of a success, at most
MISJUDGED = 0.3  # share of wrong verdicts of the coarse evaluator
LIMIT = 100
SETTINGS: dict[str, Any] = {"period": 300, "alpha": 0, "n": 5, "beta": 0.54, "limit": LIMIT}
LIMITS = (50, LIMIT, INITIAL, 300, 600)

Result = dict[str, Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


# ---- the task and the agent -------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """One seed: rows of records, the first 150 true ones, then what is asked, and the noise of each step."""

    targets: Floats  # (rows, 4)
    bits: Mask  # (rows,)
    distances: Floats  # (rows, rows), squared, of inputs
    followed: Floats  # (steps, 4), noise on the record that is followed
    own: Floats  # (steps, 4), noise on the agent's own idea
    misjudged: Mask  # (steps,)

    @classmethod
    def of(cls, seed: int, steps: int, shift: bool = False) -> World:
        random = np.random.default_rng(seed)
        rows = INITIAL + steps
        centres = random.normal(size=(CLUSTERS, INPUTS))
        bias = random.normal(0, 2, (CLUSTERS, OUTPUTS))
        weights = random.normal(0, 0.9, (CLUSTERS, OUTPUTS, INPUTS))
        cluster = random.integers(CLUSTERS, size=rows)
        if shift:
            half = np.arange(steps) >= steps // 2
            cluster[INITIAL:] = cluster[INITIAL:] % (CLUSTERS // 2) + half * (CLUSTERS // 2)
        inputs = centres[cluster] + random.normal(0, 0.2, (rows, INPUTS))
        norms = (inputs**2).sum(axis=1)
        return cls(
            targets=bias[cluster] + np.einsum("roi,ri->ro", weights[cluster], inputs),
            bits=random.random(rows) < np.where(np.arange(rows) < INITIAL, 0.25, 0.05),
            distances=np.maximum(0, norms[:, None] + norms - 2 * inputs @ inputs.T),
            followed=random.normal(0, 0.4, (steps, OUTPUTS)),
            own=random.normal(0, 1.1, (steps, OUTPUTS)),
            misjudged=random.random(steps) < MISJUDGED,
        )

    @property
    def steps(self) -> int:
        return len(self.own)


class Memory(Protocol):
    """Which rows are in memory. Steps count from 1; the first records have step 0."""

    def offered(self) -> Rows: ...

    def conclude(self, made: int, led_by: int | None, how: Outcome, step: int) -> None: ...


class Bank:
    """The tally of memory/policies.py kept up step by step: on records a run would take minutes."""

    def __init__(self, policy: Policy, rows: int, initial: int) -> None:
        self.policy = policy
        self.alive = np.arange(rows) < initial
        self.counts = Tally(
            added=np.maximum(0, np.arange(rows) + 1 - INITIAL),
            recent=np.zeros(rows, np.int64),
            known=np.zeros(rows, np.int64),
            total=np.zeros(rows),
            concluded=np.ones(rows, np.bool_),
        )
        self.retrieved: list[int | None] = [None]  # by step

    def offered(self) -> Rows:
        return np.flatnonzero(self.alive)

    def conclude(self, made: int, led_by: int | None, how: Outcome, step: int) -> None:
        self.retrieved.append(led_by)
        if led_by is not None:
            self.counts.recent[led_by] += 1
            self.counts.known[led_by] += 1
            self.counts.total[led_by] += how.utility
        left = self.retrieved[max(0, step - self.policy.period)]  # no longer within the period
        if left is not None:
            self.counts.recent[left] -= 1
        self.alive[made] = admits(self.policy, how)
        if self.policy.deletion != "none":
            rows = self.offered()
            counts = Tally._make(column[rows] for column in self.counts)
            self.alive[rows[deletion_mask(self.policy, counts, step)]] = False


@dataclass(frozen=True)
class Run:
    """What happened at each step. retrieved: -1 for none. kept: rows that are in memory at the end."""

    success: Floats
    error_free: Floats
    retrieved: Rows
    input_similarity: Floats
    output_similarity: Floats
    sizes: Floats
    kept: Mask

    @property
    def deleted(self) -> Mask:
        """Steps whose example was deleted later."""
        return self.guided & ~self.kept[self.retrieved]

    @property
    def retained(self) -> Mask:
        return self.guided & self.kept[self.retrieved]

    @property
    def guided(self) -> Mask:
        """Steps that had an example."""
        return self.retrieved >= 0


def play(world: World, policy: Policy, memory: Memory) -> Run:
    """All steps: retrieve, act, judge, conclude."""
    stored = world.targets.copy()
    success, error_free, close, alike, sizes = np.zeros((5, world.steps))
    retrieved = np.full(world.steps, -1, np.int64)
    for at in range(world.steps):
        asked, offered = INITIAL + at, memory.offered()
        truth = world.targets[asked]
        output = without_error = truth + world.own[at]
        example = None
        if len(offered):
            retrieved[at] = example = int(offered[world.distances[asked, offered].argmin()])
            close[at] = np.exp(-world.distances[asked, example])
            weight = close[at] * (1 if world.bits[asked] == world.bits[example] else 0.15)
            own, noise = (1 - weight) * output, world.followed[at]
            output = weight * (stored[example] + noise) + own
            without_error = weight * (world.targets[example] + noise) + own
            alike[at] = np.exp(-(rms(output - stored[example]) ** 2))
        success[at] = rms(output - truth) < PASSES
        error_free[at] = rms(without_error - truth) < PASSES
        stored[asked] = output
        coarse = policy.addition == "coarse"
        utility = float(success[at] != (coarse and world.misjudged[at]))
        memory.conclude(asked, example, Outcome(utility, strict=not coarse), at + 1)
        sizes[at] = len(memory.offered())
    kept = np.isin(np.arange(len(stored)), memory.offered())
    return Run(success, error_free, retrieved, close, alike, sizes, kept)


def rms(values: Floats) -> float:
    return float(np.sqrt((values @ values) / len(values)))


# ---- the experiments --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Experiment:
    """initial: true records at the start. limit: of `capacity`."""

    addition: Addition
    deletion: Deletion = "none"
    shift: bool = False
    initial: int = INITIAL
    limit: int = LIMIT

    def run(self, world: World) -> Run:
        policy = Policy(**{**SETTINGS, "limit": self.limit}, addition=self.addition, deletion=self.deletion)
        return play(world, policy, Bank(policy, len(world.targets), self.initial))


def capped(addition: Addition, deletion: Deletion, limit: int) -> Experiment:
    return Experiment(addition, deletion, initial=min(limit, INITIAL), limit=limit)


ADDITIONS: tuple[Addition, ...] = get_args(Addition)
DELETIONS: tuple[Deletion, ...] = get_args(Deletion)
GRID = {
    f"{addition}+{deletion}": capped(addition, deletion, LIMIT)
    if deletion == "capacity"
    else Experiment(addition, deletion)
    for addition, deletion in product(ADDITIONS, DELETIONS)
}
SHIFTED = {
    name: replace(GRID[name], shift=True)
    for name in ("fixed+none", "all+none", *(f"strict+{deletion}" for deletion in DELETIONS))
}
CAPPED = {
    limit: {"fixed": capped("fixed", "none", limit), "strict": capped("strict", "capacity", limit)}
    for limit in LIMITS
}
EXPERIMENTS = tuple(
    dict.fromkeys(one for group in (GRID, SHIFTED, *CAPPED.values()) for one in group.values())
)
Figure = Callable[[Run], float]
Series = Callable[[Run], Floats]


@dataclass(frozen=True)
class Runs:
    """The runs of every experiment, one for each seed."""

    steps: int
    found: dict[Experiment, list[Run]]

    def each(self, experiment: Experiment, figure: Figure) -> Floats:
        """(seeds,) a figure of each run."""
        return np.array([figure(run) for run in self.found[experiment]])

    def mean(self, experiment: Experiment, figure: Figure) -> float:
        return float(self.each(experiment, figure).mean())

    def curve(self, experiment: Experiment, series: Series) -> Floats:
        """The mean over seeds of a series, place by place; NaN where no seed has a value."""
        stacked = np.array([series(run) for run in self.found[experiment]])
        count = np.isfinite(stacked).sum(axis=0)
        return np.where(count > 0, np.nansum(stacked, axis=0) / np.maximum(count, 1), np.nan)


def all_runs(seeds: int, steps: int, progress: Callable[[Iterable[Any], int], Iterable[Any]]) -> Runs:
    runs = Runs(steps, {experiment: [] for experiment in EXPERIMENTS})

    def jobs() -> Iterator[tuple[World, Experiment]]:
        for seed, shift in product(range(seeds), (False, True)):
            world = World.of(seed, steps, shift)
            yield from ((world, one) for one in EXPERIMENTS if one.shift == shift)

    for world, experiment in progress(jobs(), seeds * len(EXPERIMENTS)):
        runs.found[experiment].append(experiment.run(world))
    return runs


# ---- figures of one run -----------------------------------------------------------------------------


def first(series: Floats) -> float:
    """The mean of the first quarter."""
    return float(series[: len(series) // 4].mean())


def last(series: Floats) -> float:
    return float(series[-(len(series) // 4) :].mean())


def success(run: Run) -> float:
    return float(run.success.mean())


def last_success(run: Run) -> float:
    return last(run.success)


def size(run: Run) -> float:
    return float(run.sizes[-1])


def propagation(run: Run) -> float:
    """How much wider the gap to the error-free variant is in the last quarter than in the first."""
    gap = run.error_free - run.success
    return last(gap) - first(gap)


def correlation(run: Run) -> float:
    return float(np.corrcoef(run.input_similarity[run.guided], run.output_similarity[run.guided])[0, 1])


def tenths(run: Run) -> Rows:
    """The bin of each step: its input similarity in tenths, 0 to 9."""
    return np.minimum(9, (10 * run.input_similarity).astype(np.int64))


def followed(run: Run, steps: Mask) -> Floats:
    """(10,) mean output similarity of some steps by input similarity; NaN where there is no step."""
    count = np.bincount(tenths(run)[steps], minlength=10)
    total = np.bincount(tenths(run)[steps], run.output_similarity[steps], minlength=10)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def misalignment(run: Run) -> float:
    """By how much outputs are less similar to deleted records than to retained ones of like inputs."""
    gap = followed(run, run.retained)[tenths(run)] - run.output_similarity
    gap = gap[run.deleted & np.isfinite(gap)]
    return float(gap.mean()) if len(gap) else 0.0


# ---- figures of all runs ----------------------------------------------------------------------------


def policies(runs: Runs) -> Result:
    """Every addition with every deletion."""
    figures: dict[str, Figure] = {
        "success": success,
        "last": last_success,
        "size": size,
        "error_free": lambda run: float(run.error_free.mean()),
        "error_free_last": lambda run: last(run.error_free),
        "input_similarity": lambda run: float(run.input_similarity[run.guided].mean()),
        "output_similarity": lambda run: float(run.output_similarity[run.guided].mean()),
        "correlation": correlation,
    }
    return {
        name: {key: runs.mean(one, figure) for key, figure in figures.items()}
        | {"success_sd": float(runs.each(one, success).std())}
        for name, one in GRID.items()
    }


def misaligned(runs: Runs) -> Result:
    """Strict addition, history deletion: steps whose example was deleted later, and the others."""
    found: Result = {}
    for group in ("deleted", "retained"):
        picked = [(run, getattr(run, group)) for run in runs.found[GRID["strict+history"]]]
        found[group] = {"steps": float(np.mean([steps.sum() for _, steps in picked]))}
        for key in ("input_similarity", "output_similarity", "success"):
            values = np.concatenate([getattr(run, key)[steps] for run, steps in picked])
            found[group][key] = float(values.mean()) if len(values) else None
    return found


def shifted(runs: Runs) -> Result:
    """Success before the shift, in the quarter after it, and in the last quarter."""
    half = runs.steps // 2
    return {
        name: {
            "before": runs.mean(one, lambda run: float(run.success[:half].mean())),
            "after": runs.mean(one, lambda run: float(run.success[half : half + half // 2].mean())),
            "last": runs.mean(one, last_success),
            "size": runs.mean(one, size),
        }
        for name, one in SHIFTED.items()
    }


def capacity(runs: Runs) -> Result:
    """Success by the most records that may be kept; `fixed` keeps as many of the first ones as that."""
    return {
        str(limit): {key: runs.mean(one, success) for key, one in pair.items()}
        for limit, pair in CAPPED.items()
    }


def claims(runs: Runs) -> Result:
    """What the paper found, as differences that ought to be above zero: their mean, and in how many seeds."""

    def above(better: Experiment, worse: Experiment, figure: Figure = success) -> Floats:
        return runs.each(better, figure) - runs.each(worse, figure)

    grid, limited = GRID, CAPPED[LIMIT]
    fixed, none, history = grid["fixed+none"], grid["strict+none"], grid["strict+history"]
    found = {
        "add-all degrades below fixed": above(fixed, grid["all+none"]),
        "coarse addition beats fixed": above(grid["coarse+none"], fixed),
        "strict addition beats fixed": above(none, fixed),
        "strict addition beats add-all": above(none, grid["all+none"]),
        "history deletion beats none": above(history, none),
        "history deletion beats none, last quarter": above(history, none, last_success),
        "periodic deletion keeps at most a quarter": 0.25
        - runs.each(grid["strict+periodic"], size) / runs.each(none, size),
        "periodic deletion loses at most .02": above(grid["strict+periodic"], none) + 0.02,
        "combined deletion beats none": above(grid["strict+combined"], none),
        "errors propagate with add-all": runs.each(grid["all+none"], propagation),
        "errors propagate with coarse addition": runs.each(grid["coarse+none"], propagation),
        "strict addition closes in on error-free": -runs.each(none, propagation),
        "outputs follow inputs": np.min([runs.each(one, correlation) for one in grid.values()], axis=0),
        "deleted records are followed less, inputs alike": runs.each(history, misalignment),
        "history deletion beats none after a shift": above(
            SHIFTED["strict+history"], SHIFTED["strict+none"], last_success
        ),
        f"strict addition beats fixed, capacity {LIMIT}": above(limited["strict"], limited["fixed"]),
    }
    return {
        name: {
            "difference": float(difference.mean()),
            "seeds": int((difference > 0).sum()),
            "holds": bool(difference.mean() > 0),
        }
        for name, difference in found.items()
    }


def measured(runs: Runs, seeds: int) -> Result:
    return {
        "seeds": seeds,
        "steps": runs.steps,
        "policies": policies(runs),
        "misaligned": misaligned(runs),
        "shift": shifted(runs),
        "capacity": capacity(runs),
        "claims": claims(runs),
    }


# ---- plots ------------------------------------------------------------------------------------------


def draw(runs: Runs, out: Path) -> list[str]:
    """Write a PNG for each question; their names."""
    from matplotlib.figure import Figure as Page

    out.mkdir(parents=True, exist_ok=True)
    names = []
    for plot, panels in PLOTS.items():
        page = Page(figsize=(5 * panels, 3.5), layout="constrained")
        axes = list(page.subplots(1, panels, squeeze=False)[0])
        plot(runs, axes)
        for ax in axes:
            ax.grid(alpha=0.3)
            ax.legend(fontsize="small")
        names.append(f"{plot.__name__.removeprefix('draw_')}.png")
        page.savefig(out / names[-1], dpi=80, metadata={"Software": None})
    return names


def smooth(ax: Axes, series: Floats, **style: Any) -> None:
    """A line through the means of a sliding window of a tenth of the steps."""
    window = len(series) // 10
    means = np.convolve(series, np.ones(window) / window, "valid")
    ax.plot(np.arange(len(means)) + window, means, **style)


def labelled(ax: Axes, title: str, x: str = "step", y: str = "success, sliding mean") -> None:
    ax.set(title=title, xlabel=x, ylabel=y)


def draw_addition(runs: Runs, axes: list[Axes]) -> None:
    for addition in ADDITIONS:
        smooth(axes[0], runs.curve(GRID[f"{addition}+none"], lambda run: run.success), label=addition)
    labelled(axes[0], "Addition")


def draw_deletion(runs: Runs, axes: list[Axes]) -> None:
    for deletion in DELETIONS:
        one = GRID[f"strict+{deletion}"]
        smooth(axes[0], runs.curve(one, lambda run: run.success), label=deletion)
        axes[1].plot(runs.curve(one, lambda run: run.sizes), label=deletion)
    labelled(axes[0], "Deletion, strict addition")
    labelled(axes[1], "Size of the memory", y="records")


def draw_propagation(runs: Runs, axes: list[Axes]) -> None:
    for ax, addition in zip(axes, ("all", "coarse", "strict"), strict=True):
        one = GRID[f"{addition}+none"]
        smooth(ax, runs.curve(one, lambda run: run.success), label="own outputs")
        smooth(ax, runs.curve(one, lambda run: run.error_free), label="error-free", linestyle="--")
        ax.set_ylim(0.2, 0.85)
        labelled(ax, f"Error propagation, {addition}")


def draw_following(runs: Runs, axes: list[Axes]) -> None:
    so_far = np.arange(1, runs.steps + 1)
    for addition in ADDITIONS:
        one = GRID[f"{addition}+none"]
        curve = runs.curve(one, lambda run: followed(run, run.guided))
        axes[0].plot(MIDDLES, curve, marker="o", label=addition)
        close = np.cumsum(runs.curve(one, lambda run: run.input_similarity)) / so_far
        right = np.cumsum(runs.curve(one, lambda run: run.success)) / so_far
        axes[1].plot(close[runs.steps // 10 :], right[runs.steps // 10 :], label=addition)
    labelled(axes[0], "Experience following", "input similarity", "output similarity")
    labelled(axes[1], "Success as inputs get closer", "input similarity, mean so far", "success, mean so far")


def draw_misaligned(runs: Runs, axes: list[Axes]) -> None:
    one = GRID["strict+history"]
    retained = runs.curve(one, lambda run: followed(run, run.retained))
    deleted = runs.curve(one, lambda run: followed(run, run.deleted))
    axes[0].plot(MIDDLES, retained, marker="o", label="retained")
    axes[0].plot(MIDDLES, deleted, marker="o", label="deleted later")
    labelled(axes[0], "Misaligned replay, history deletion", "input similarity", "output similarity")


def draw_shift(runs: Runs, axes: list[Axes]) -> None:
    for name, one in SHIFTED.items():
        smooth(axes[0], runs.curve(one, lambda run: run.success), label=name)
    axes[0].axvline(runs.steps // 2, color="grey", linestyle=":")
    labelled(axes[0], "Shift midway")


def draw_capacity(runs: Runs, axes: list[Axes]) -> None:
    found = capacity(runs)
    for key, label in (("fixed", "fixed, no addition"), ("strict", "strict+capacity")):
        axes[0].plot(LIMITS, [found[str(limit)][key] for limit in LIMITS], marker="o", label=label)
    unlimited = runs.mean(GRID["strict+none"], success)
    axes[0].axhline(unlimited, color="grey", linestyle=":", label="strict, no limit")
    labelled(axes[0], "Capacity", "most records", "success")


MIDDLES = np.arange(0.05, 1, 0.1)  # of the bins
PLOTS: dict[Callable[[Runs, list[Axes]], None], int] = {  # each with its number of panels
    draw_addition: 1,
    draw_deletion: 2,
    draw_propagation: 3,
    draw_following: 2,
    draw_misaligned: 1,
    draw_shift: 1,
    draw_capacity: 1,
}


# ---- all of it --------------------------------------------------------------------------------------


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def tables(found: Result) -> Iterator[Table]:
    headings = {
        "policies": ("Policies", "policy"),
        "misaligned": ("Misaligned replay, strict+history", "example"),
        "shift": ("Shift midway", "policy"),
        "capacity": ("Success by capacity", "most records"),
        "claims": ("Does it show?", "claim"),
    }
    hidden = {"success_sd", "error_free_last", "input_similarity", "output_similarity"}
    for key, (title, what) in headings.items():
        rows = found[key]
        columns = [name for name in next(iter(rows.values())) if key != "policies" or name not in hidden]
        made = Table(what, *(name.replace("_", " ") for name in columns), title=title)
        made.columns[0].no_wrap = True
        for column in made.columns[1:]:
            column.justify = "right"
        for name, row in rows.items():
            made.add_row(name, *(shown(row[column]) for column in columns))
        yield made


def shown(value: float | None) -> str:
    """A figure in a table; whole numbers are counts."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return str(value)
    return f"{value:,.0f}" if not value or abs(value) >= 2 else f"{value:.3f}"


def at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"at least {least}")
        return int(text)

    return number


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the tables")
    parser.add_argument("--seeds", type=at_least(1), default=5, help="worlds to take the mean of (5)")
    parser.add_argument("--steps", type=at_least(40), default=2_000, help="steps of each run (2000)")
    figures = Path(__file__).with_name("figures")
    parser.add_argument("--out", type=Path, default=figures, help="folder of the plots (benchmarks/figures)")
    args = parser.parse_args()
    err = Console(stderr=True)

    def progress(jobs: Iterable[Any], total: int) -> Iterable[Any]:
        return track(jobs, "runs", total=total, console=err, transient=True, disable=not err.is_terminal)

    runs = all_runs(args.seeds, args.steps, progress)
    found = rounded({**measured(runs, args.seeds), "plots": draw(runs, args.out)})
    if args.json:
        print(json.dumps(found))
    else:
        for table in tables(found):
            Console().print(table)


if __name__ == "__main__":
    main()
