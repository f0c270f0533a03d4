"""Fit how far the local reader trusts a reading, on turns that say what is right: agent/reading/trust.json.

    python training/trust.py [--out FILE] [--cases FILE]

The turns are those of `cases`: of the calibration voice and of some of the train voices (which the network
has read: they count half) of training/dialogues, of the recorded dialogues of tests/recordings, of the
dialogues of tests/, which the network has read, whole dialogues of authors whom it has not read
(training/played_trust), and forms of others, said of plans that are made up. The authors of HELD_OUT are
scored only.

Boosted trees are fitted on what `taskloom.agent.reading.signs` finds in each reading of each turn.
What they are worth is told by author: of the recorded dialogues those of HELD_OUT, and those whom the
network has not read, each scored by what was fitted without it. Needs the extra `dev`;
half an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import ROOT, Case, Cases
from lines import HELD_OUT, SPLITS, UNREAD
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from taskloom.agent.reading.frames import framed
from taskloom.agent.reading.signs import signs

OUT = ROOT / "agent" / "reading" / "trust.json"
RECORDED, CALIBRATION, TRAIN, OWN, FORMS = "recorded", "calibration", "train", "own", "forms"
PLAYED = "played_trust"
WEIGHTS = {RECORDED: 3.0, CALIBRATION: 3.0, TRAIN: 0.3, OWN: 12.0, FORMS: 1.0, PLAYED: 8.0}
FOLDS = 5  # of the played authors, each scored by the rest
READ = 0.3  # weight of a recorded author whom the network has read
OF_FORMS = 4000  # turns
EVERY = {TRAIN: 16}  # dialogue of those of a source
SILENT = (0.05, 0.1, 0.15, 0.2)
SEED = 1


class Turns:
    """Turns with the signs of their readings, to fit on and to score."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        told = [signs(framed(case.text, case.view).text, case.view, case.candidates) for case in cases]
        self.names = list(told[0][0])
        self.signs = [np.array([[*one.values()] for one in found]) for found in told]

    def fit(self, chosen: Iterable[int]) -> GradientBoostingClassifier:
        """Trees on the readings of some turns."""
        given = list(chosen)
        right = [outcome == "held" for at in given for outcome in self.cases[at].outcomes]
        weight = [
            _weight(self.cases[at]) / len(self.signs[at]) ** 0.5 for at in given for _ in self.signs[at]
        ]
        boosted = GradientBoostingClassifier(
            n_estimators=300, max_depth=5, learning_rate=0.06, subsample=0.6, max_features=0.2,
            min_samples_leaf=40, random_state=SEED,
        )  # fmt: skip
        boosted.fit(np.concatenate([self.signs[at] for at in given]), right, sample_weight=weight)
        return boosted

    def scored(self, boosted: GradientBoostingClassifier, chosen: Iterable[int]) -> dict[int, NDArray[Any]]:
        """The probabilities of the readings of some turns."""
        return {at: boosted.predict_proba(self.signs[at])[:, 1] for at in chosen}

    def told(self, scores: dict[int, NDArray[Any]]) -> str:
        """How well probabilities tell, and what is held at some share of turns silently wrong."""
        every = [(p, o == "held") for at, ps in scores.items()
                 for p, o in zip(ps, self.cases[at].outcomes, strict=True)]  # fmt: skip
        taken = sorted(((float(ps.max()), self.cases[at].outcomes[int(ps.argmax())])
                        for at, ps in scores.items()), reverse=True)  # fmt: skip
        parts = [f"AUC {roc_auc_score([right for _, right in every], [p for p, _ in every]):.3f}"]
        count, best = Counter[str](), dict.fromkeys(SILENT, (0.0, 1.0))
        for trust, outcome in taken:
            count[outcome] += 1
            for most in SILENT:
                if count["silent"] / len(taken) <= most:
                    best[most] = (count["held"] / len(taken), trust)
        parts += [f"{held:.1%} held at {most:.0%} silent (from {p:.2f})" for most, (held, p) in best.items()]
        return ", ".join(parts)


def _weight(case: Case) -> float:
    """How much a turn counts: little where the network has read its author."""
    return READ if case.source == RECORDED and case.author not in UNREAD else WEIGHTS[case.source]


def content(turns: Turns, boosted: GradientBoostingClassifier) -> dict[str, Any]:
    """The content of trust.json."""
    share = float(boosted.init_.class_prior_[1])
    return {
        "signs": turns.names,
        "start": round(float(np.log(share / (1 - share))), 5),
        "trees": [_plain(one.tree_, 0, boosted.learning_rate) for one in boosted.estimators_[:, 0]],
    }


def _plain(tree: Any, node: int, rate: float) -> Any:
    """A tree as `taskloom.agent.reading.trust.Tree`."""
    if tree.children_left[node] < 0:
        return round(float(tree.value[node, 0, 0]) * rate, 4)
    below = (_plain(tree, int(side[node]), rate) for side in (tree.children_left, tree.children_right))
    return [int(tree.feature[node]), round(float(tree.threshold[node]), 4), *below]


def collected() -> list[Case]:
    """The turns, with what could be made of each told; sources are read beside each other."""
    found = list[Case]()
    with ProcessPoolExecutor() as pool:
        for name, cases in zip(WEIGHTS, pool.map(_cases, WEIGHTS), strict=True):
            found += cases
            first, any_ = (
                sum("held" in case.outcomes[part] for case in cases) / len(cases)
                for part in (slice(1), slice(None))
            )
            print(
                f"{name}, {len(cases)} turns: the best reading holds {first:.1%}, any {any_:.1%}", flush=True
            )
    return found


def _cases(source: str) -> list[Case]:
    read = Cases()
    turns: dict[str, Callable[[], Iterable[Case]]] = {
        RECORDED: read.recorded, CALIBRATION: partial(read.annotated, CALIBRATION), OWN: read.own,
        TRAIN: partial(read.annotated, TRAIN, EVERY[TRAIN]), FORMS: partial(read.formed, OF_FORMS, SEED),
        PLAYED: partial(read.played, PLAYED, sorted((ROOT / "training" / PLAYED).glob("*/*.json"))),
    }  # fmt: skip
    return list(turns[source]())


def main() -> None:
    """Fit, write, and say what the product would make of the turns that were not fitted on."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--cases", type=Path, help="what was read is kept here, and taken from here")
    args = parser.parse_args()
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    if args.cases is not None and args.cases.exists():
        cases = pickle.loads(args.cases.read_bytes())  # noqa: S301  written by this script
    else:
        cases = collected()
        if args.cases is not None:
            args.cases.write_bytes(pickle.dumps(cases))
    unseen = {at for at, case in enumerate(cases) if case.source == RECORDED and case.author in HELD_OUT}
    turns, seen = Turns(cases), sorted(set(range(len(cases))) - unseen)
    boosted = turns.fit(seen)
    args.out.write_text(json.dumps(content(turns, boosted), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{args.out}: fitted on {len(seen)} turns, {args.out.stat().st_size / 1e3:.0f} kB", flush=True)
    print(f"held out: {turns.told(turns.scored(boosted, sorted(unseen)))}", flush=True)
    played = sorted({case.author for case in cases if case.source == PLAYED})
    by_rest = {
        RECORDED: [[author] for author in UNREAD], CALIBRATION: [[author] for author in SPLITS[CALIBRATION]],
        PLAYED: [played[fold::FOLDS] for fold in range(FOLDS)],
    }  # fmt: skip
    for source, folds in by_rest.items():
        scores: dict[int, NDArray[Any]] = {}
        for authors in folds:
            own = [at for at in seen if cases[at].source == source and cases[at].author in authors]
            scores |= turns.scored(turns.fit(sorted(set(seen) - set(own))), own)
        print(f"{source} authors whom the network has not read, by the others: {turns.told(scores)}")


if __name__ == "__main__":
    main()
