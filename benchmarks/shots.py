"""How exactly the cuts of a recording are found, against plain differences of histograms, and what it takes.

    python benchmarks/shots.py [--json] [--clips 60] [--seed 13]

The clips are those of `clips.py`: synthetic. The rules in `tools/video/shots.py` were tuned on clips of seed
1; the seed given here is another one. A cut counts as found within half a second, once.
- `precision`, `recall`, `f1`: of the cuts of all clips together; `recall_of` of each way to join two shots.
- `histograms`: the same for steps between the histograms of two pictures (8 x 8 x 8 colours, the same
  pictures) that exceed a threshold and are the highest within half a second. It is given the threshold that
  is best for it on these very clips.
- `alike`: of the shots that are said to look like an earlier one how many do, and of those that do how many
  are said.
- `shots_s_per_600_s`, `decoding_s_per_600_s`: seconds of processor for ten minutes of 320 x 180 pixels.
- `kept_kb_per_minute`: what is held in memory while the shots of a minute are found.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import clips
import numpy as np
from rich.console import Console
from rich.table import Table

from taskloom.tools.video.lines import Shot
from taskloom.tools.video.media import Picture, samples
from taskloom.tools.video.shots import RATE, SIZE, shots

WITHIN = 500  # ms
THRESHOLDS = np.arange(0.05, 1.0, 0.025)


def matched(found: Sequence[int], true: Sequence[int]) -> set[int]:
    """The true cuts that are found, each by one of the found ones and the nearest pairs first."""
    pairs = sorted((abs(one - cut), one, cut) for one in found for cut in true if abs(one - cut) <= WITHIN)
    used: set[int] = set()
    hit: set[int] = set()
    for _, one, cut in pairs:
        if one not in used and cut not in hit:
            used.add(one)
            hit.add(cut)
    return hit


def figures(hits: int, found: int, true: int) -> dict[str, float]:
    """Precision, recall and their harmonic mean."""
    return {
        "precision": hits / max(1, found),
        "recall": hits / max(1, true),
        "f1": 2 * hits / max(1, found + true),
    }


def histogram_steps(pictures: Sequence[Picture]) -> np.ndarray[Any, Any]:
    """How much of the colours of a picture are not those of the one before, from 0 to 1."""
    bins = np.stack([one.pixels >> 5 for one in pictures]).astype(int) @ np.array([64, 8, 1])
    histograms = np.stack([np.bincount(one.ravel(), minlength=512) for one in bins]) / bins[0].size
    return 1 - np.minimum(histograms[1:], histograms[:-1]).sum(1)


def peaks(steps: np.ndarray[Any, Any], times: Sequence[int], threshold: float) -> list[int]:
    """Where a step exceeds a threshold, and is the highest within half a second."""
    near = round(RATE / 2)
    return [
        times[at + 1]
        for at, step in enumerate(steps)
        if step > threshold and step == steps[max(0, at - near) : at + near + 1].max()
    ]


def alike(found: Sequence[Shot], made: clips.Clip) -> Counter[str]:
    """Which of the shots that are found look like an earlier one, by their key frames."""

    def look(shot: Shot) -> int:
        return [
            take.look for start, take in zip(made.starts, made.takes, strict=True) if start <= shot.key_ms
        ][-1]

    counts: Counter[str] = Counter()
    for number, shot in enumerate(found):
        counts["true"] += look(shot) in {look(other) for other in found[:number]}
        counts["said"] += shot.alike is not None
        counts["hits"] += shot.alike is not None and look(found[shot.alike]) == look(shot)
    return counts


def measure(count: int, seed: int) -> dict[str, Any]:
    """All figures."""
    total, looks, by_entry, entries = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    plain: Counter[float] = Counter()
    plain_found: Counter[float] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            made, path = clips.clip(1000 * seed + number), Path(folder) / "clip.mp4"
            clips.write(made, path)
            clips.world.cache_clear()
            start = time.process_time()
            pictures = list(samples(path, RATE, SIZE))
            decoded = time.process_time()
            found = shots(pictures)
            total["decoding"] += decoded - start
            total["shots"] += time.process_time() - decoded
            total["ms"] += made.duration_ms
            cuts = [shot.start_ms for shot in found[1:]]
            hit = matched(cuts, made.cuts)
            total.update(hits=len(hit), found=len(cuts), true=len(made.cuts))
            for cut, take in zip(made.cuts, made.takes[1:], strict=True):
                entries[take.entry] += 1
                by_entry[take.entry] += cut in hit
            looks += alike(found, made)
            steps, times = histogram_steps(pictures), [one.at_ms for one in pictures]
            for threshold in THRESHOLDS:
                other = peaks(steps, times, threshold)
                plain[threshold] += len(matched(other, made.cuts))
                plain_found[threshold] += len(other)
    best = max(THRESHOLDS, key=lambda one: figures(plain[one], plain_found[one], total["true"])["f1"])
    return {
        "clips": count, "seed": seed, "minutes": total["ms"] / 60_000, "cuts": total["true"],
        "within_ms": WITHIN,
        **figures(total["hits"], total["found"], total["true"]),
        "recall_of": {entry: by_entry[entry] / entries[entry] for entry in sorted(entries)},
        "histograms": {"threshold": float(best), **figures(plain[best], plain_found[best], total["true"])},
        "alike": figures(looks["hits"], looks["said"], looks["true"]),
        "shots_s_per_600_s": 600_000 * total["shots"] / total["ms"],
        "decoding_s_per_600_s": 600_000 * total["decoding"] / total["ms"],
        "kept_kb_per_minute": 60 * RATE * SIZE[0] * SIZE[1] * 3 / 4 / 1024,
    }  # fmt: skip


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--seed", type=int, default=13)
    given = parser.parse_args()
    found = measure(given.clips, given.seed)
    if given.json:
        print(json.dumps(found))
        return
    table = Table("figure", "value", title=f"{given.clips} synthetic clips of seed {given.seed}")
    for name, value in found.items():
        told = value.items() if isinstance(value, dict) else [("", value)]
        for part, figure in told:
            table.add_row(
                f"{name} {part}".strip(), f"{figure:.3f}" if isinstance(figure, float) else str(figure)
            )
    Console().print(table)


if __name__ == "__main__":
    main()
