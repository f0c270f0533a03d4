"""Turns that say what is right, read in every way that the local reader could: what comes of each.

Every turn is read alone, on the plan as it should be before it; whether what came of a reading is right is
judged. The turns are those of

- training/dialogues, judged by their annotated changes;
- the recorded dialogues of tests/recordings, on the plans that a model's replies made, judged by what their
  authors expect;
- the dialogues of tests/, on the plans that clauses as annotated (training/spent) make;
- whole dialogues of authors who only said what must hold (training/played and played_trust), on the plans
  that the reader makes where it takes the reading that does what was said, of those it has;
- forms of authors whom the network has not read, said of plans that are made up (plans.py).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

import forms  # noqa: E402
import gold  # noqa: E402
import plans  # noqa: E402
from lines import SPENT, Turn, load, read_files  # noqa: E402

from taskloom.agent.cli.script import task_records  # noqa: E402
from taskloom.agent.grounding.resolving.assemble import assemble  # noqa: E402
from taskloom.agent.reading import gate, local  # noqa: E402
from taskloom.agent.reading.frames import Framed, framed  # noqa: E402
from taskloom.agent.reading.network import Packaged  # noqa: E402
from taskloom.agent.reading.signs import Candidate  # noqa: E402
from taskloom.agent.replying.templates import TemplateResponder  # noqa: E402
from taskloom.agent.turn.brief import Brief  # noqa: E402
from taskloom.agent.turn.reading import Reading, View  # noqa: E402
from taskloom.agent.turn.state import Change  # noqa: E402
from taskloom.agent.turn.state import Turn as State  # noqa: E402
from taskloom.agent.turn.steps import Step  # noqa: E402
from taskloom.memory.claims import answer  # noqa: E402
from taskloom.memory.operations import Check, Clarify, Operation, apply  # noqa: E402
from tests.judging import Dialogue, dialogues, faults, played, without_model  # noqa: E402
from tests.test_recordings import FILES, REPLIES, replayed  # noqa: E402

Outcome = Literal["held", "asked", "silent"]
_OUTCOMES: dict[gold.Outcome, Outcome] = {"right": "held", "asked": "asked", "wrong": "silent"}


@dataclass(frozen=True, slots=True)
class Case:
    """A turn: where it is from, who wrote it, the plan it met, what could be made of it, what comes of each.

    outcomes: of the candidates, in their order.
    """

    source: str
    author: str
    text: str
    view: View
    candidates: tuple[Candidate, ...]
    outcomes: tuple[Outcome, ...]


class Cases:
    """Turns, read as the product reads them."""

    def __init__(self) -> None:
        self.network = Packaged()
        self.local = local.Local(self.network, vectors=self.network.beside)

    def candidates(self, text: str, view: View) -> tuple[Candidate, ...]:
        """What can be made of a text."""
        plain = framed(text, view)
        return tuple(one.candidate for one in self.local.readings(text, plain, view))

    def annotated(self, split: str, every: int = 1) -> Iterator[Case]:
        """The turns of a split of training/dialogues; every: of how many dialogues one is taken."""
        for dialogue in load(split)[::every]:
            for turn, view, right in gold.met(dialogue):
                found = self.candidates(turn.text, view)
                outcomes = [gold.tried(turn, view, right, one.operations)[0] for one in found]
                yield Case(
                    split, dialogue.author, turn.text, view, found,
                    tuple(_OUTCOMES[one] for one in outcomes),
                )  # fmt: skip

    def recorded(self) -> Iterator[Case]:
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
                case = self._case("recorded", text, view, before, want)
                yield replace(case, author=file.stem.split("_")[0])

    def own(self, every: int = 1) -> Iterator[Case]:
        """The turns of the dialogues of tests/, on the plans that clauses as annotated make."""
        seen: list[tuple[str, View]] = []

        def noting(_: local.Local, utterance: str, view: View) -> Any:
            seen.append((utterance, replace(view, examples=tuple)))
            return annotated_reading(utterance, view)

        with (
            tempfile.TemporaryDirectory() as home,
            patch.object(local.Local, "read", noting),
            without_model(Path(home)) as app,
        ):
            for dialogue in list(dialogues())[::every]:
                seen.clear()
                records = list(played(app, dialogue))
                for number, want in enumerate(dialogue.said):
                    record, text = records[number], want["user"]
                    view = next((v for t, v in seen if t == text and v.turn == record["turn"]), None)
                    if view is None or gate.bare_reading(text, view) is not None:
                        continue
                    yield self._case("own", text, view, records[number - 1] if number else None, want)

    def played(self, source: str, files: Sequence[Path], wide: int = 0) -> Iterator[Case]:
        """The turns of whole dialogues, in a folder an author, on the plans that right readings make.

        Where no reading of a turn does what was said, the reader's own goes on. Questions after that are left
        out: the plan lacks what they are for, which no sign of theirs can tell.
        wide: how many readings are tried where no usual one does what was said.
        """
        for file in files:
            yield from self._played(source, file, wide)

    def _played(self, source: str, file: Path, wide: int) -> Iterator[Case]:
        dialogue = Dialogue(file.stem, "", tuple(json.loads(file.read_text())["turns"]))
        found, trusted = dict[str, Case](), local.Local.trusted
        before: Mapping[str, Any] | None = None
        want: Mapping[str, Any] = {}

        def helped(self: local.Local, text: str, plain: Framed, view: View) -> list[local.Tried]:
            for limit in (local.READINGS, wide):
                tried = self.readings(text, plain, view, limit)
                outcomes = tuple(_judged(text, view, one.candidate, before, want) for one in tried)
                if "held" in outcomes or not wide:
                    break
            candidates = tuple(one.candidate for one in tried)
            kept = replace(view, examples=tuple)
            found[text] = Case(source, file.parent.name, text, kept, candidates, outcomes)
            right = [
                replace(one, trust=0.99) for one, it in zip(tried, outcomes, strict=True) if it == "held"
            ]
            return right[:1] or trusted(self, text, plain, view)

        with (
            tempfile.TemporaryDirectory() as home,
            patch.object(local.Local, "trusted", helped),
            without_model(Path(home)) as app,
        ):
            records, broken = played(app, dialogue), False
            for want in dialogue.said:
                found.clear()
                before = next(records)
                case = found.get(want["user"])
                if case is None:
                    continue
                if not (broken and all(isinstance(one, Check) for one in case.candidates[0].operations)):
                    yield case
                broken = broken or "held" not in case.outcomes

    def formed(self, count: int, seed: int) -> Iterator[Case]:
        """So many forms of authors whom the network has not read, said of plans that are made up.

        Every fourth says what a slot is without naming it.
        """
        folders = sorted(forms.UNREAD.iterdir())
        told = plans.met(count - count // 4, seed, folders)
        for turn, view, filling in chain(told, plans.met(count // 4, seed, folders, forms.SAYINGS)):
            found = self.candidates(turn.text, view)
            outcomes = [plans.tried(turn, view, filling, one.operations)[0] for one in found]
            yield Case("forms", "forms", turn.text, view, found, tuple(_OUTCOMES[one] for one in outcomes))

    def _case(self, source: str, text: str, view: View, before: Any, want: Any) -> Case:
        found = self.candidates(text, view)
        outcomes = tuple(_judged(text, view, one, before, want) for one in found)
        return Case(source, "", text, view, found, outcomes)


@cache
def _spent() -> dict[str, Turn]:
    """The turns of tests/ as annotated, by their words without spaces."""
    spent = read_files(sorted(SPENT.glob("tests*.txt")))
    return {_closed(turn.text): turn for dialogue in spent for turn in dialogue.turns}


def _closed(text: str) -> str:
    return "".join(text.split())


def annotated_reading(utterance: str, view: View) -> Reading:
    """What an utterance of tests/ says as annotated; not understood where it is not."""
    turn = _spent().get(_closed(utterance))
    if turn is None:
        return Reading((Step(text=utterance, act="chat"),))
    steps = assemble(gold.clauses_of(turn), utterance, view).steps
    return Reading(steps or (Step(text=utterance, act="chat"),))


def _judged(
    text: str, view: View, candidate: Candidate, before: Mapping[str, Any] | None, want: Any
) -> Outcome:
    """What comes of a candidate."""
    made = _record(text, view, candidate.operations)
    if not faults(made, before, {key: want[key] for key in want if key not in ("intents", *REPLIES)}):
        return "held"
    same = made["tasks"] == task_records(view.graph)
    return "asked" if same and "?" in made["reply"] else "silent"


def _record(text: str, view: View, operations: tuple[Operation, ...]) -> dict[str, Any]:
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
