"""Trains the judge of intent units and pairs, and writes `memory/judge.json`.

    python benchmarks/train_judge.py --folder FOLDER [--write] [--json]

Takes the data of `sessions.py`. Units are weighed by a softmax over all that come into question (listwise
logistic regression, L2), pairs by a logistic regression of scikit-learn. Queries that name a value all have
one wording in the data, so they are said in other words too (VARIANTS), some by the gold session's month.

The table is cross-validated in two ways. "individuals": the individuals are unseen, their wordings mostly
not, as paraphrases come one to a family of intents. "families": whole families of intents are left out, so
that intents, slots and wordings are all unseen; this is the honest one. Without --write nothing is changed.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize
from sessions import Data, Row, arguments, data_of, now, place, remembered, rounded, told
from sklearn.linear_model import LogisticRegression

from taskloom.memory.embed import MiniLM
from taskloom.memory.judge import (
    CANDIDATES,
    PAIR,
    UNIT,
    Asked,
    LogisticJudge,
    Ranked,
    pairs_for,
    unit_features,
)
from taskloom.memory.records import IntentUnit
from taskloom.memory.store import InMemoryStore

Floats = NDArray[np.float64]
JSON = Path(__file__).parents[1] / "memory" / "judge.json"
FOLDS, L2, SEED = 10, 10.0, 5
VARIANTS = (
    "{request} again with {value}",
    "{request} in {value} again",
    "{request} like the one for {value}",
    "{request}, {value} as before",
    "Same as the {value} one: {request}",
)
MONTHS = ("{request} like I did in {month}", "{request} again, the one from {month}")


@dataclass(frozen=True)
class Example:
    """A query with the units that come into question. gold: index of the right one."""

    query: Row
    units: list[IntentUnit]
    features: Floats
    gold: int
    named: list[tuple[str, ...]]

    @property
    def style(self) -> str:
        return str(self.query["style"])


def examples(data: Data) -> list[Example]:
    """All queries and their variants; those whose gold unit does not come into question are left out."""
    embedder, made = MiniLM(), list[Example]()
    asked: dict[str, list[Row]] = defaultdict(list)
    for query in (*data.queries, *data.anchored):
        asked[query["ind"]].append(query)
    chance = random.Random(SEED)
    with InMemoryStore(embedder) as store:
        for individual in told(asked, "individuals"):
            known = remembered(data, individual)
            store.put(individual, known)
            for query in asked[individual]:
                for said in (query, *variants(query, known, chance)):
                    hits = store.search(individual, said["utt"], kind="unit", limit=CANDIDATES)
                    units, features, points = unit_features(
                        said["utt"], hits, known, embedder, now=now(query)
                    )
                    gold = [n for n, unit in enumerate(units)
                            if (unit.thread, unit.intent) == (query["gold"], query["family"])]  # fmt: skip
                    if gold:
                        named = [points.strength[unit.id].slots for unit in units]
                        made.append(Example(said, units, features, gold[-1], named))
    return made


def variants(query: Row, known: Sequence[IntentUnit], chance: random.Random) -> list[Row]:
    """The same request with its value named in other words, and by the month of the gold session."""
    if "anchor" not in query:
        return []
    request = query["utt"].split(" again, the one with ")[0].rstrip(",.")
    value = query["anchor"][1]
    made = [
        {**query, "utt": chance.choice(VARIANTS).format(request=request, value=value), "style": "variant"}
    ]
    months = Counter(f"{unit.at:%B}" for unit in known if unit.intent == query["family"])
    gold = next(unit for unit in known if unit.thread == query["gold"])
    if months[f"{gold.at:%B}"] == 1:
        words = chance.choice(MONTHS).format(request=request, month=f"{gold.at:%B}")
        made.append({**query, "utt": words, "style": "month"})
    return made


# ---- units ------------------------------------------------------------------------------------------

WEIGHTS = {"para": 1.0, "name": 1.0, "anchored": 0.4, "variant": 0.4, "month": 0.2}


def fit_units(train: Sequence[Example]) -> Floats:
    """The weights [len(UNIT)] that make the gold units likely; a wording of a family counts by its root."""
    stacked = np.vstack([one.features for one in train])
    scale = stacked.std(0) + 1e-9
    stacked = stacked / scale
    sizes = np.array([len(one.units) for one in train])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    gold = starts + np.array([one.gold for one in train])
    often = Counter((one.style, one.query["family"]) for one in train)
    weight = np.array([WEIGHTS[o.style] * 4 / often[o.style, o.query["family"]] ** 0.5 for o in train])

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = stacked @ weights
        top = np.maximum.reduceat(scores, starts)
        grown = np.exp(scores - np.repeat(top, sizes))
        total = np.add.reduceat(grown, starts)
        chances = grown / np.repeat(total, sizes) * np.repeat(weight, sizes)
        value = float((weight * (np.log(total) + top - scores[gold])).sum()) + L2 / 2 * float(
            weights @ weights
        )
        chances[gold] -= weight
        return value, stacked.T @ chances + L2 * weights

    found = minimize(loss, np.zeros(len(UNIT)), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / scale)


# ---- pairs ------------------------------------------------------------------------------------------


class Recorder:
    """A judge that keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def __call__(self, asked: Sequence[Asked]) -> Floats:
        self.asked += asked
        return np.zeros(len(asked))


def fit_pairs(
    train: Sequence[Example], weights: Floats, data: Data, embedder: MiniLM
) -> tuple[Floats, float]:
    """The weights [len(PAIR)] and the bias; a pair is right when it has the gold value for the slot."""
    features, right = [], []
    for one in train:
        if one.style in ("para", "name", "anchored") and one.query["slots"]:
            recorder, wanted = Recorder(), questions(one.query, data)
            pairs_for(one.query["utt"], wanted, ranking(one, weights), embedder, judge=recorder)
            features += [asked.features for asked in recorder.asked]
            right += [one.query["slots"][asked.slot] == asked.pair.answer for asked in recorder.asked]
    model = LogisticRegression(C=1.0, max_iter=1000).fit(np.array(features), np.array(right))
    return model.coef_[0], float(model.intercept_[0])


def questions(query: Row, data: Data) -> dict[str, str]:
    return {slot: data.schema[query["service"]]["slots"][slot][0] for slot in query["slots"]}


def ranking(one: Example, weights: Floats) -> list[Ranked]:
    judge = LogisticJudge(dict(zip(UNIT, map(float, weights), strict=True)), {}, 0.0)
    scores = judge.units(one.features)
    return [Ranked(one.units[n], float(scores[n]), 0.0, one.named[n]) for n in np.argsort(-scores)]


# ---- all of it --------------------------------------------------------------------------------------


def judged(weights: Floats, pairs: tuple[Floats, float]) -> LogisticJudge:
    unit = {name: round(float(value), 4) for name, value in zip(UNIT, weights, strict=True)}
    pair = {name: round(float(value), 4) for name, value in zip(PAIR, pairs[0], strict=True)}
    return LogisticJudge(unit, pair, round(pairs[1], 4))


def validated(made: Sequence[Example], group: Callable[[Example], str], data: Data, embedder: MiniLM) -> Row:
    """Figures of each style where the queries of a group are judged by what was trained on the others."""
    groups = sorted({group(one) for one in made})
    random.Random(SEED).shuffle(groups)
    ranks: dict[str, list[int]] = defaultdict(list)
    slots: dict[str, list[float]] = defaultdict(list)
    for fold in told(range(FOLDS), "folds"):
        held = set(groups[fold::FOLDS])
        train = [one for one in made if group(one) not in held]
        weights = fit_units(train)
        judge = judged(weights, fit_pairs(train[::5], weights, data, embedder))
        for one in made:
            if group(one) in held:
                best = ranking(one, weights)
                ranks[one.style].append(place([each.unit.thread for each in best], one.query["gold"]))
                if one.query["slots"] and one.style in ("para", "name", "anchored"):
                    wanted = questions(one.query, data)
                    found = pairs_for(one.query["utt"], wanted, best, embedder, judge=judge)
                    values = [
                        found[s][0].value == v if found[s] else False for s, v in one.query["slots"].items()
                    ]
                    slots[one.style].append(float(np.mean(values)))
    plain = ranks["para"] + ranks["name"]
    return {
        "r_at_1": share(plain, 1), "r_at_3": share(plain, 3), "r_at_5": share(plain, 5),
        "mrr": float(np.mean([1 / rank for rank in plain])),
        **{f"r_at_1, {style}": share(found, 1) for style, found in sorted(ranks.items())},
        "slot_accuracy": float(np.mean(slots["para"] + slots["name"])),
        "slot_accuracy, anchored": float(np.mean(slots["anchored"])),
    }  # fmt: skip


def share(ranks: Sequence[int], k: int) -> float:
    return float(np.mean([0 < rank <= k for rank in ranks]))


def main() -> None:
    parser = arguments(
        argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    )
    parser.add_argument("--write", action="store_true", help="write memory/judge.json")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    data, embedder = data_of(parser, args), MiniLM()
    made = examples(data)
    found: Row = {
        "individuals": validated(made, lambda one: one.query["ind"], data, embedder),
        "families": validated(made, lambda one: one.query["family"], data, embedder),
    }
    weights = fit_units(made)
    judge = judged(weights, fit_pairs(made, weights, data, embedder))
    found["weights"] = {"unit": judge.unit, "pair": judge.pair, "bias": judge.bias}
    if args.write:
        JSON.write_text(json.dumps(found["weights"], indent=1) + "\n", encoding="utf-8")
    if args.json:
        print(json.dumps(rounded(found)))
        return
    made_table = Table("cross-validated by", "individuals", "families", title="The judge on the train split")
    for name in found["families"]:
        made_table.add_row(name, *(f"{found[by][name]:.3f}" for by in ("individuals", "families")))
    Console().print(made_table)
    Console().print(found["weights"])


if __name__ == "__main__":
    main()
