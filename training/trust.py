"""Fit how far the local reader trusts a reading, on turns that say what is right: agent/plan/trust.json.

    python training/trust.py [--out FILE]

Every turn is read alone, on the plan as it should be before it, by both readers; whether what came of it is
right is judged. The turns are those of

- the calibration voice of training/dialogues, judged by its annotated changes;
- the recorded dialogues of tests/recordings, on the plans that a model's replies made, judged by what their
  authors expect; the authors of HELD_OUT are not fitted on but scored;
- the dialogues of tests/, which the patterns were written for: what they hold is to be trusted.

Two parts are fitted: how much an utterance is of the last kind (logistic regression on the network's vector
of it), and boosted trees on this and the signs of `taskloom.agent.plan.trust`. Needs the extra `dev`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import cross_val_predict  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

import gold  # noqa: E402
from lines import load  # noqa: E402

from taskloom.agent import gate  # noqa: E402
from taskloom.agent.grounding import ground  # noqa: E402
from taskloom.agent.interpreter import View  # noqa: E402
from taskloom.agent.plan import local  # noqa: E402
from taskloom.agent.plan.assemble import assembled  # noqa: E402
from taskloom.agent.plan.trust import Candidate, signs  # noqa: E402
from taskloom.agent.reading.network import Packaged  # noqa: E402
from taskloom.agent.replies import TemplateResponder  # noqa: E402
from taskloom.agent.responder import Brief  # noqa: E402
from taskloom.agent.rules import Rules  # noqa: E402
from taskloom.agent.script import task_records  # noqa: E402
from taskloom.agent.state import Change  # noqa: E402
from taskloom.agent.state import Turn as State  # noqa: E402
from taskloom.memory.claims import answer  # noqa: E402
from taskloom.memory.operations import Check, Clarify, Operation, apply  # noqa: E402
from tests.judging import dialogues, faults, played, rules_only  # noqa: E402
from tests.test_recordings import FILES, REPLIES, replayed  # noqa: E402

OUT = ROOT / "agent" / "plan" / "trust.json"
HELD_OUT = (
    "gamemaster", "lab", "mechanic", "paramedic", "physio", "school", "student", "teacher", "translator",
    "workshop",
)  # fmt: skip
READERS = ("rules", "network")
Outcome = Literal["held", "asked", "silent"]
SEED = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A turn: the network's vector of it; for each reader the signs of its reading, what came of it."""

    source: str
    vector: tuple[float, ...]
    signs: Mapping[str, Mapping[str, float]]
    outcome: Mapping[str, Outcome]


class Readers:
    """Both readers, as the product runs them."""

    def __init__(self) -> None:
        self.rules, self.network = Rules(), Packaged()

    def candidates(self, text: str, view: View, before: str) -> dict[str, Candidate]:
        """What each makes of a text."""
        parse = self.network(text, before)
        ruled = gate.held_back(ground(self.rules.read(text, view).steps, view), text, view.graph)
        made = assembled(parse.clauses, text, view)
        learned = gate.held_back(made.operations, text, view.graph)
        return {"rules": Candidate(ruled, parse), "network": Candidate(learned, parse, made.margin)}

    def spared(self, text: str, view: View) -> bool:
        """Whether the product asks neither how far to trust it."""
        return gate.spared(self.rules.read(text, view), text, view)


def signs_of(given: Mapping[str, Candidate], text: str, view: View) -> dict[str, dict[str, float]]:
    """The signs of both candidates."""
    return {
        name: signs(text, view.graph, mine, given["network" if name == "rules" else "rules"].operations)
        for name, mine in given.items()
    }


def record(text: str, view: View, operations: tuple[Operation, ...]) -> dict[str, Any]:
    """The turn as `taskloom run --json` prints it, were these its operations."""
    graph, done = view.graph, list[Change]()
    for operation in operations:
        outcome = apply(graph, operation, turn=view.turn, said=text)
        done.append(
            Change(
                operation=operation, changed=outcome.changed, stale=outcome.stale, opened=outcome.opened,
                refused=outcome.refused,
            )
        )  # fmt: skip
        graph = outcome.graph
    answers = tuple(answer(graph, one.question) for one in operations if isinstance(one, Check))
    state = State(
        number=view.turn, utterance=text, operations=operations, changes=tuple(done), answers=answers,
        question=next((one for one in operations if isinstance(one, Clarify)), None),
    )  # fmt: skip
    brief = Brief(text, graph, state, answers=answers, now=view.now)
    reply = "".join(TemplateResponder().respond(brief))
    kinds = [{"intent": one.intent} for one in operations]
    return {"reply": reply, "tasks": task_records(graph), "operations": kinds}


def asks(made: Mapping[str, Any], view: View) -> bool:
    """Whether nothing changed and the reply asks."""
    return "?" in made["reply"] and made["tasks"] == task_records(view.graph)


def judged(text: str, view: View, mine: Candidate, before: Mapping[str, Any] | None, want: Any) -> Outcome:
    """What comes of a candidate."""
    made = record(text, view, mine.operations)
    if not faults(made, before, {key: want[key] for key in want if key not in ("intents", *REPLIES)}):
        return "held"
    return "asked" if asks(made, view) else "silent"


# ---- the turns --------------------------------------------------------------------------------------


def annotated(readers: Readers, split: str) -> Iterator[Row]:
    """The turns of a split of training/dialogues."""
    names: dict[gold.Outcome, Outcome] = {"right": "held", "asked": "asked", "wrong": "silent"}
    for dialogue in load(split):
        kept: dict[str, list[tuple[Mapping[str, float], Outcome]]] = {}
        vectors: list[tuple[float, ...]] = []
        for name in READERS:
            found: list[Mapping[str, float]] = []

            def read(
                turn: Any, view: View, name: str = name, found: Any = found, vectors: Any = vectors
            ) -> tuple[Operation, ...]:
                given = readers.candidates(turn.text, view, turn.before)
                found.append(signs_of(given, turn.text, view)[name])
                if name == "rules":
                    vectors.append(given[name].parse.vector)
                return given[name].operations

            told = gold.run(dialogue, read)
            kept[name] = [(one, names[outcome]) for one, (_, outcome, _) in zip(found, told, strict=True)]
        for number, vector in enumerate(vectors):
            yield Row(
                split, vector, {name: kept[name][number][0] for name in READERS},
                {name: kept[name][number][1] for name in READERS},
            )  # fmt: skip


def recorded(readers: Readers) -> Iterator[Row]:
    """The turns of the recorded dialogues, on the plans that the recorded replies made."""
    seen: list[tuple[str, View]] = []
    read = gate.Gate.read

    def noting(self: gate.Gate, utterance: str, view: View) -> Any:
        seen.append((utterance, replace(view, examples=tuple)))
        return read(self, utterance, view)

    for file in FILES:
        if file.parent.name != "dialogues" or file.stem.startswith("many_plans"):
            continue
        given = json.loads(file.read_text())
        seen.clear()
        with tempfile.TemporaryDirectory() as home, patch.object(gate.Gate, "read", noting):
            records, _, _ = replayed(given, Path(home))
        views = {view.turn: (text, view) for text, view in seen}
        for number, want in enumerate(given["turns"], 1):
            text, view = views[number]
            before = records[number - 2] if number > 1 else None
            yield _row(readers, file.stem.split("_")[0], text, view, before, want)


def own(readers: Readers) -> Iterator[Row]:
    """The turns of the dialogues of tests/ as the patterns read them."""
    seen: list[tuple[str, View]] = []

    def noting(self: local.Local, utterance: str, view: View) -> Any:
        seen.append((utterance, replace(view, examples=tuple)))
        return self.rules.read(utterance, view)

    with (
        tempfile.TemporaryDirectory() as home,
        patch.object(local.Local, "read", noting),
        rules_only(Path(home)) as app,
    ):
        for dialogue in dialogues():
            seen.clear()
            records = list(played(app, dialogue))
            for number, want in enumerate(dialogue.said):
                record = records[number]
                view = next((v for t, v in seen if t == want["user"] and v.turn == record["turn"]), None)
                if view is None or readers.spared(want["user"], view):
                    continue
                before = records[number - 1] if number else None
                row = _row(readers, "own", want["user"], view, before, want)
                held: Outcome = "silent" if faults(record, before, want) else "held"
                yield replace(row, outcome={**row.outcome, "rules": held})


def _row(readers: Readers, source: str, text: str, view: View, before: Any, want: Any) -> Row:
    given = readers.candidates(text, view, view.exchanges[-1][1] if view.exchanges else "")
    outcome = {name: judged(text, view, mine, before, want) for name, mine in given.items()}
    return Row(source, given["rules"].parse.vector, signs_of(given, text, view), outcome)


# ---- fitting ----------------------------------------------------------------------------------------


def fitted(rows: list[Row]) -> dict[str, Any]:
    """The content of trust.json, fitted on rows; those of `own` are at home."""
    names = list(rows[0].signs["rules"])
    vectors, at_home = np.array([row.vector for row in rows]), np.array([row.source == "own" for row in rows])
    regression = LogisticRegression(C=0.3, max_iter=3000)
    unseen = cross_val_predict(regression, vectors, at_home, cv=5, method="decision_function")
    regression.fit(vectors, at_home)
    weight = np.array([1.0 if row.source in ("own", "calibration") else 2.0 for row in rows])
    found: dict[str, Any] = {
        "signs": names,
        "home": {
            "bias": round(float(regression.intercept_[0]), 5),
            "weights": [round(float(one), 5) for one in regression.coef_[0]],
        },
    }
    for reader in READERS:
        given = np.array([[*(row.signs[reader][name] for name in names), home]
                          for row, home in zip(rows, unseen, strict=True)])  # fmt: skip
        right = np.array([row.outcome[reader] == "held" for row in rows])
        boosted = GradientBoostingClassifier(
            n_estimators=160, max_depth=3, learning_rate=0.07, subsample=0.7, random_state=SEED
        )
        boosted.fit(given, right, sample_weight=weight)
        share = float((right * weight).sum() / weight.sum())
        found[reader] = {
            "start": round(float(np.log(share / (1 - share))), 5),
            "trees": [_plain(one.tree_, 0, boosted.learning_rate) for one in boosted.estimators_[:, 0]],
        }
    return found


def _plain(tree: Any, node: int, rate: float) -> Any:
    """A tree as `taskloom.agent.plan.trust.Tree`."""
    if tree.children_left[node] < 0:
        return round(float(tree.value[node, 0, 0]) * rate, 5)
    below = (_plain(tree, int(side[node]), rate) for side in (tree.children_left, tree.children_right))
    return [int(tree.feature[node]), round(float(tree.threshold[node]), 5), *below]


def main() -> None:
    """Fit, write, and say what the product would make of the turns that were not fitted on."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    readers = Readers()
    rows = list[Row]()
    for name, source in (
        ("calibration voice", annotated(readers, "calibration")),
        ("recorded dialogues", recorded(readers)),
        ("own dialogues", own(readers)),
    ):
        found = list(source)
        rows += found
        for reader in READERS:
            told = Counter(row.outcome[reader] for row in found)
            parts = ", ".join(f"{key} {told[key] / len(found):.1%}" for key in ("held", "asked", "silent"))
            print(f"{name}, {len(found)} turns, {reader}: {parts}", flush=True)
    chosen = [row for row in rows if row.source not in HELD_OUT]
    args.out.write_text(json.dumps(fitted(chosen), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{args.out}: fitted on {len(chosen)} turns, {args.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
