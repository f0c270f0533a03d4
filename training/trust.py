"""Fit how far the local reader trusts a reading, on turns that say what is right: trust.json and trust.npz.

    python training/trust.py [--out FOLDER] [--cases FILE]

The turns are those of `cases`: of the calibration voice and of some of the train voices (which the network
has read: they count half) of training/dialogues, of the recorded dialogues of tests/recordings, of the
dialogues of tests/, which the network has read, whole dialogues of authors whom it has not read
(training/played_trust), and forms of others, said of plans that are made up. The authors of HELD_OUT are
scored only.

Boosted trees are fitted on what `signs` finds in each reading of each turn, small networks on that and on
what `meanings` gathers of the reader's vectors; `taskloom.agent.reading.trust` mixes them. What they are
worth is told by author: of the recorded dialogues those of HELD_OUT, and those whom the network has not read,
each scored by what was fitted without it. Needs the extra `train`; half an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from cases import ROOT, Case, Cases
from lines import HELD_OUT, SPLITS, UNREAD
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from taskloom.agent.reading.frames import framed
from taskloom.agent.reading.heard import heard
from taskloom.agent.reading.meanings import SIZE, Meanings
from taskloom.agent.reading.network import Packaged
from taskloom.agent.reading.scorers import FAR, PARTS, of_arrays, scored
from taskloom.agent.reading.signs import signs
from taskloom.agent.reading.trust import mixed

OUT = ROOT / "agent" / "reading"
RECORDED, CALIBRATION, TRAIN, OWN, FORMS = "recorded", "calibration", "train", "own", "forms"
PLAYED = "played_trust"
WEIGHTS = {RECORDED: 3.0, CALIBRATION: 3.0, TRAIN: 0.3, OWN: 12.0, FORMS: 1.0, PLAYED: 8.0}
FOLDS = 5  # of the played authors, each scored by the rest
READ = 0.3  # weight of a recorded author whom the network has read
OF_FORMS = 4000  # turns
EVERY = {TRAIN: 16}  # dialogue of those of a source
SILENT = (0.05, 0.1, 0.15, 0.2)
SEED = 1  # of the forms
NETWORKS, DROPPED = 4, 0.3
SMALL, HIDDEN = 32, 96  # numbers of a vector made smaller, and of a hidden layer
EPOCHS, AT_ONCE, RATE = 6, 2048, 0.004
Array: TypeAlias = NDArray[Any]


class Scorer(torch.nn.Module):
    """One of the networks of `taskloom.agent.reading.scorers`, as it is trained."""

    def __init__(self, signs: int) -> None:
        super().__init__()
        seen = signs + 2 + (len(PARTS) + 2) * SMALL
        self.layers = torch.nn.ModuleDict(
            {name: torch.nn.Linear(SIZE, SMALL) for name in (*PARTS, "title", "target", "clause")}
            | {"first": torch.nn.Linear(seen, HIDDEN), "second": torch.nn.Linear(HIDDEN, HIDDEN)}
            | {"last": torch.nn.Linear(HIDDEN, 1)}
        )
        self.dropped = torch.nn.Dropout(DROPPED)

    def forward(self, given: Tensor, whole: Tensor, meanings: Tensor) -> Tensor:
        """The scores [c] of c readings."""
        gathered = (meanings[:, at * SIZE : (at + 1) * SIZE] for at in range(4))
        parts = dict(zip(PARTS, (whole, *gathered), strict=True))
        seen = [given, meanings[:, 4 * SIZE :]]
        seen += [torch.relu(self.layers[name](self.dropped(one))) for name, one in parts.items()]
        title = self.layers["title"](parts["titles"])
        seen += [self.layers["target"](parts["targets"]) * title, self.layers["clause"](parts["all"]) * title]
        hidden = self.dropped(torch.relu(self.layers["first"](torch.cat(seen, 1))))
        hidden = self.dropped(torch.relu(self.layers["second"](hidden)))
        scores: Tensor = self.layers["last"](hidden)[:, 0]
        return scores


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned. networks: the content of trust.npz."""

    trees: GradientBoostingClassifier
    networks: dict[str, Any]


class Turns:
    """Turns with the signs of their readings, and what vectors tell of them, to fit on and to score."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = list[Case]()
        self.signs, self.whole, self.meanings = list[Array](), list[Array](), list[Array]()
        network = Packaged()
        for case in cases:
            text = framed(case.text, case.view).text
            found = signs(text, case.view, case.candidates)
            pieces = network.beside(text, heard(case.view))
            if pieces is None:
                continue  # read in parts
            seen = Meanings(pieces, case.view)
            self.cases.append(case)
            self.names = list(found[0])
            self.signs.append(np.array([[*one.values()] for one in found], np.float32))
            self.whole.append(seen.whole)
            self.meanings.append(seen.of(case.candidates).astype(np.float16))

    def fit(self, chosen: Iterable[int]) -> Learned:
        """What is learned of the readings of some turns."""
        given = list(chosen)
        return Learned(self._trees(given), self._networks(given))

    def _trees(self, given: Sequence[int]) -> GradientBoostingClassifier:
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

    def _networks(self, given: Sequence[int]) -> dict[str, Any]:
        right = torch.tensor([float(one == "held") for at in given for one in self.cases[at].outcomes])
        weight = torch.tensor([
            _weight(self.cases[at]) / len(self.signs[at]) ** 0.5 for at in given for _ in self.signs[at]
        ])  # fmt: skip
        every = np.concatenate([self.signs[at] for at in given])
        mean, scale = every.mean(0), every.std(0) + 1e-6
        read = torch.tensor(np.clip((every - mean) / scale, -FAR, FAR))
        owner = torch.tensor([row for row, at in enumerate(given) for _ in self.signs[at]])
        whole = torch.tensor(np.stack([self.whole[at] for at in given]))
        meanings = torch.tensor(np.concatenate([self.meanings[at] for at in given]))
        trained = []
        for seed in range(NETWORKS):
            torch.manual_seed(seed)
            scorer = Scorer(read.shape[1])
            steps = EPOCHS * len(right) // AT_ONCE
            optimizer = torch.optim.AdamW(scorer.parameters(), weight_decay=0.01)
            rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + 1)
            shuffled = (torch.randperm(len(right)) for _ in range(EPOCHS + 1))
            rows = (order[at : at + AT_ONCE] for order in shuffled for at in range(0, len(right), AT_ONCE))
            for row in islice(rows, steps):
                scores = scorer(read[row], whole[owner[row]], meanings[row].float())
                loss: Any = binary_cross_entropy_with_logits(scores, right[row], weight[row] / weight.mean())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                rate.step()
            trained.append(scorer)
        return arrays(self.names, mean, scale, trained)

    def scored(self, learned: Learned, chosen: Iterable[int]) -> dict[int, Array]:
        """The probabilities of the readings of some turns."""
        fitted = of_arrays(learned.networks)
        return {
            at: mixed(
                learned.trees.decision_function(self.signs[at]),
                scored(self.signs[at], self.whole[at], self.meanings[at], fitted),
            )
            for at in chosen
        }

    def report(self, scores: dict[int, Array]) -> str:
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


def planted(names: Sequence[str], boosted: GradientBoostingClassifier) -> dict[str, Any]:
    """The content of trust.json."""
    share = float(boosted.init_.class_prior_[1])
    return {
        "signs": names,
        "start": round(float(np.log(share / (1 - share))), 5),
        "trees": [_plain(one.tree_, 0, boosted.learning_rate) for one in boosted.estimators_[:, 0]],
    }


def _plain(tree: Any, node: int, rate: float) -> Any:
    """A tree as `taskloom.agent.reading.trees.Tree`."""
    if tree.children_left[node] < 0:
        return round(float(tree.value[node, 0, 0]) * rate, 4)
    below = (_plain(tree, int(side[node]), rate) for side in (tree.children_left, tree.children_right))
    return [int(tree.feature[node]), round(float(tree.threshold[node]), 4), *below]


def arrays(names: Sequence[str], mean: Array, scale: Array, trained: Sequence[Scorer]) -> dict[str, Any]:
    """The content of trust.npz."""
    found: dict[str, Any] = {"names": np.array(json.dumps(names)), "mean": mean, "scale": scale}
    for name in trained[0].layers:
        layers = [cast("torch.nn.Linear", one.layers[name]) for one in trained]
        found[name] = np.stack([one.weight.detach().numpy().T for one in layers]).astype(np.float16)
        found[f"{name} bias"] = np.stack([one.bias.detach().numpy() for one in layers]).astype(np.float16)
    return found


def write(folder: Path, names: Sequence[str], learned: Learned) -> None:
    """Put trust.json and trust.npz into a folder."""
    text = json.dumps(planted(names, learned.trees), separators=(",", ":"))
    (folder / "trust.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(folder / "trust.npz", **learned.networks)


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
    turns = Turns(cases)
    cases = turns.cases  # those that are read in parts are left out
    unseen = {at for at, case in enumerate(cases) if case.source == RECORDED and case.author in HELD_OUT}
    seen = sorted(set(range(len(cases))) - unseen)
    learned = turns.fit(seen)
    write(args.out, turns.names, learned)
    print(f"{args.out}: fitted on {len(seen)} turns", flush=True)
    print(f"held out: {turns.report(turns.scored(learned, sorted(unseen)))}", flush=True)
    played = sorted({case.author for case in cases if case.source == PLAYED})
    by_rest = {
        RECORDED: [[author] for author in UNREAD], CALIBRATION: [[author] for author in SPLITS[CALIBRATION]],
        PLAYED: [played[fold::FOLDS] for fold in range(FOLDS)],
    }  # fmt: skip
    for source, folds in by_rest.items():
        scores: dict[int, Array] = {}
        for authors in folds:
            own = [at for at in seen if cases[at].source == source and cases[at].author in authors]
            scores |= turns.scored(turns.fit(sorted(set(seen) - set(own))), own)
        print(f"{source} authors whom the network has not read, by the others: {turns.report(scores)}")


if __name__ == "__main__":
    main()
