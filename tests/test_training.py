"""What the local reader learns from: every line follows the markup, and what it says can be played."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from taskloom.agent.reading.signs import Candidate
from taskloom.agent.turn import clauses
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Add, Clarify, Complete, Operation, Remove, Update, apply
from taskloom.memory.tasks import TaskGraph

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "training"))

import forms  # noqa: E402
import plans  # noqa: E402
import verified  # noqa: E402
from cases import Case  # noqa: E402
from gold import Gold, annotated, judged, run, says  # noqa: E402
from lines import (  # noqa: E402
    ACTS,
    SPLITS,
    Change,
    Clause,
    Dialogue,
    LineError,
    Plan,
    Span,
    Turn,
    counts,
    files,
    read_change,
    read_file,
    read_text,
)

JUDGED = {
    "active_has", "active_lacks", "reply_has", "reply_lacks", "intents", "unchanged", "shared", "under",
    "not_under", "done", "depends", "junk_lacks",
}  # fmt: skip
FILES = files()
read_once = cache(read_file)  # 400 dialogues, for two tests


@pytest.mark.slow
def test_a_file_follows_the_markup(subtests: pytest.Subtests) -> None:
    for file in FILES:
        with subtests.test(f"{file.parent.name}-{file.stem}"):
            dialogues, wrong = read_once(file)
            assert wrong == []
            assert 1 <= len(dialogues) <= 8
            assert all(len(one.turns) > 6 and all(turn.reply for turn in one.turns[:-1]) for one in dialogues)


def test_there_is_enough_of_everything() -> None:
    told = counts(one for split in SPLITS for file in files(SPLITS[split]) for one in read_once(file)[0])
    assert told["dialogues"] >= 400
    assert told["turns"] >= 8000
    assert told["turns of several acts"] * 2 > told["turns"]
    assert {act for act in ACTS if told[act] < 25} <= {"redo"}


def test_splits_are_by_voice() -> None:
    names = [name for split in SPLITS.values() for name in split]
    assert len(names) == len(set(names))
    assert {file.parent.name for file in FILES} == set(names)


def test_a_line_is_read() -> None:
    turn = read_text("set: [S1 budget] of [V1 500] || chat: yay")
    assert turn.text == "budget of 500 yay"
    assert turn.clauses == (Clause(0, 13, "set"), Clause(14, 17, "chat"))
    assert turn.spans == (Span(0, 6, "S", 1, 0), Span(10, 13, "V", 1, 0))


@pytest.mark.parametrize(
    ("marked", "why"),
    [("hello", "no act"), ("greet: hello", "no act"), ("set: [Q x]", "no role Q"),
     ("set: [T x]", "set without"), ("chat: a [ b", "brackets"), ("chat: a || set:", "empty clause"),
     ("assign: [T x]", "assign without P")],
)  # fmt: skip
def test_what_is_wrong_with_a_line_is_said(marked: str, why: str) -> None:
    with pytest.raises(LineError, match=why):
        read_text(marked)


def played(*lines: str) -> Plan:
    plan = Plan()
    for line in lines:
        plan.apply(read_change(line))
    return plan


def test_changes_are_played() -> None:
    plan = played("= a > b > date: friday", "+ a > c", "x a > c", "@ a > b : a > c", "~ A > c -> a > d")
    assert plan.state == {("a",): None, ("a", "b"): None, ("a", "b", "date"): "friday", ("a", "d"): None}
    assert plan.done == {("a", "d")}
    assert played("+ a > b", "- a > b", "^ a > b").state == {("a",): None, ("a", "b"): None}
    assert read_change("= a > b: x: y") == Change("=", ("a", "b"), "x: y")


@pytest.mark.parametrize(
    ("lines", "why"),
    [(("- a",), "is not there"), (("^ a",), "never taken out"), (("+ a", "+ a"), "there already"),
     (("= a > b: c", "= a > b: c"), "that value already"), (("+ a", "o a"), "so already"),
     (("= a: c",), "belongs to"),
     (("! a",), "no change begins"), (("@ a",), "two paths"), (("+ a", "@ a : b"), "is not there")],
)  # fmt: skip
def test_what_cannot_be_played_is_said(lines: tuple[str, ...], why: str) -> None:
    with pytest.raises(LineError, match=why):
        played(*lines)


def test_a_file_that_is_wrong_is_told_by_line(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("U: chat: hi\n# a\nU: chat: hi\nU: chat: ho\nA: hm\n  + a\n? x\n")
    _, wrong = read_file(file)
    assert [one.split(": ")[0].rpartition(":")[2] for one in wrong] == ["1", "4", "6", "7"]


def test_it_runs_as_a_command(tmp_path: Path) -> None:
    run = [sys.executable, str(ROOT / "training" / "lines.py")]
    checked = subprocess.run([*run, "check", str(FILES[0])], capture_output=True, text=True, check=True)
    assert checked.stdout.rstrip().endswith("0 errors")
    rows = subprocess.run([*run, "json", str(FILES[0])], capture_output=True, text=True, check=True).stdout
    first = json.loads(rows.splitlines()[0])
    assert {"author", "dialogue", "turn", "text", "clauses", "spans", "before", "changes"} <= set(first)
    (tmp_path / "x.txt").write_text("U: hi\n")
    wrong = subprocess.run(
        [*run, "check", str(tmp_path / "x.txt")], capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, "no title" in wrong.stderr) == (1, True)


# ---- what a turn should do ------------------------------------------------------------------------


def perfect(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """How each turn is judged that does just what it should, and one that does nothing and says nothing."""
    plan = Gold(dialogue)
    for turn in dialogue.turns:
        after = plan.copy()
        after.play(turn)
        asked = [Clarify(question=turn.reply or "?")] if turn.asks_back else []
        yield (
            judged(plan, turn, after.graph, asked, turn.reply),
            judged(plan, turn, plan.graph, [], "Noted.") if turn.changes else "wrong",
        )
        plan = after


def test_a_turn_that_does_what_it_should_is_right() -> None:
    told = [one for dialogue in read_file(FILES[0])[0] for one in perfect(dialogue)]
    right = [done == "right" for done, _ in told]
    assert sum(right) >= 0.97 * len(right)
    assert sum(nothing == "right" for _, nothing in told) <= 0.05 * len(told)


PLANNED = Dialogue("nobody", "a dinner", [read_text("task: a [T dinner] on [V friday] || add: with [I Ann]")])
PLANNED.turns[0].changes = [
    read_change(one) for one in ("= dinner > date: friday", "+ dinner > guests > Ann")
]


@pytest.mark.parametrize(
    ("changes", "operations", "reply", "outcome"),
    [
        (("= dinner > date: saturday",), [Update(task="t2", value="Saturday")], "Okay.", "right"),
        (("= dinner > date: saturday",), [Update(task="t2", value="sunday")], "Okay.", "wrong"),
        (("= dinner > date: saturday",), [Update(task="t3", title="saturday")], "Okay.", "wrong"),
        (("= dinner > date: saturday",), [], "Which day?", "asked"),
        (("- dinner > guests > ann",), [Remove(task="t3")], "Okay.", "right"),
        (("- dinner > guests > ann",), [Remove(task="t1")], "Okay.", "wrong"),
        (("x dinner",), [Complete(task="t1")], "Okay.", "right"),
        (("+ dinner > cake",), [Add(slot="dinner.task", title="a cake", parent="t1")], "Okay.", "right"),
        (("+ dinner > cake",), [Add(slot="task", title="a cake")], "Okay.", "wrong"),
        ((), [Add(slot="task", title="thanks")], "Okay.", "wrong"),
        ((), [], "You're welcome!", "right"),
    ],
)
def test_what_became_of_a_turn(
    changes: tuple[str, ...], operations: list[Operation], reply: str, outcome: str
) -> None:
    plan = Gold(PLANNED)
    plan.play(PLANNED.turns[0])
    turn = Turn("words", (), (), changes=[read_change(one) for one in changes])
    ours = plan.graph
    for operation in operations:
        ours = apply(ours, operation, turn=2).graph
    assert judged(plan, turn, ours, operations, reply) == outcome


def test_an_answer_has_the_words_it_must_have() -> None:
    plan = Gold(PLANNED)
    plan.play(PLANNED.turns[0])
    turn = Turn("when?", (), (), answers=["friday|fri", "ann"])
    assert judged(plan, turn, plan.graph, [], "It is on Fri, with Ann.") == "right"
    assert judged(plan, turn, plan.graph, [], "It is on Friday.") == "wrong"


def test_the_local_reader_is_told_by_its_turns() -> None:
    run = [
        sys.executable,
        str(ROOT / "training" / "gold.py"),
        "--split",
        "test",
        "--dialogues",
        "2",
        "--json",
    ]
    told = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert told["turns"] == told["right"] + told["asked"] + told["wrong"] > 15


# ---- from clauses to operations -------------------------------------------------------------------

DINNER = (
    "= dinner > date: friday", "= dinner > time: 7 pm", "+ dinner > guests > Ann", "+ dinner > guests > Bo",
    "= dinner > cake > who: Ann", "+ dinner > sweep the floor", "= trip > place: Rome",
    "= trip > tickets: 4", "+ trip > visa",
)  # fmt: skip


@pytest.mark.parametrize(
    ("marked", "changes"),
    [
        ("set: [T the dinner] is on [V saturday]", ("= dinner > date: saturday",)),
        ("set: the [S date] of [W the dinner] is [V the 18th]", ("= dinner > date: the 18th",)),
        ("set: [T the trip]: [S1 hotel] [V1 Ritz], [S2 budget] [V2 $500]",
         ("= trip > hotel: Ritz", "= trip > budget: $500")),
        ("shift: [T the dinner] [V an hour later]", ("= dinner > time: 8 pm",)),
        ("shift: [V two fewer] [T tickets]", ("= trip > tickets: 2",)),
        ("add: [I Cy] and [I Di] join [W the dinner]", ("+ dinner > guests > Cy", "+ dinner > guests > Di")),
        ("task: [T buy wine] for [W the dinner] by [V friday]", ("= dinner > buy wine > deadline: friday",)),
        ("task: [T1 dentist] [V1 monday], [T2 haircut] [V2 tuesday]",
         ("= dentist > date: monday", "= haircut > date: tuesday")),
        ("remove: [P Bo] can't come", ("- dinner > guests > Bo",)),
        ("remove: drop [T the visa] || done: [T the floor] is swept",
         ("- trip > visa", "x dinner > sweep the floor")),
        ("assign: [T the floor] is [P my] job", ("= dinner > sweep the floor > who: me",)),
        ("assign: [P Di] does [T the cake]", ("= dinner > cake > who: Di",)),
        ("need: [T the cake] waits for [I the floor]", ("@ dinner > cake : dinner > sweep the floor",)),
        ("need: first [I the visa], then [I the tickets]", ("@ trip > tickets : trip > visa",)),
        ("replace: [V Oslo] for [O Rome]", ("= trip > place: Oslo",)),
        ("rename: call [T the visa] [V the paperwork]", ("~ trip > visa -> trip > paperwork",)),
        ("hold: park [T the trip]", ("% trip",)),
        ("chat: yay || unsure: the thing with the stuff", None),
        ("undo: scrap that || chat: sorry", ("- trip > visa",)),
    ],
)  # fmt: skip
def test_clauses_do_what_they_say(marked: str, changes: tuple[str, ...] | None) -> None:
    given = Dialogue("nobody", "a dinner", [Turn("", (), (), changes=[read_change(one)]) for one in DINNER])
    turn = read_text(marked)
    turn.changes, turn.asks_back = [read_change(one) for one in changes or ()], changes is None
    given.turns.append(turn)
    (*_, (_, outcome, reply)) = run(given, annotated)
    assert outcome == "right", reply


def test_what_cannot_be_placed_is_asked_about() -> None:
    for marked in ("remove: forget [T the yacht]", "swap: [T the yacht] and [T the car]", "split: [P us]"):
        (operation,) = annotated(read_text(marked), View(TaskGraph()))
        assert isinstance(operation, Clarify), marked


@pytest.mark.parametrize(
    ("value", "text", "so"),
    [
        ("twenty past three", "3:20", True), ("half seven", "7:30", True), ("ten to eight", "7.50", True),
        ("fridays 7.30pm", "fridays 7:30pm", True), ("10 to 1", "12:50", False), ("half one", "2:30", False),
    ],
)  # fmt: skip
def test_a_time_is_the_same_in_words_and_figures(value: str, text: str, so: bool) -> None:
    assert says(value, text) == so


def test_every_form_is_filled_by_some_kind() -> None:
    chance, found = random.Random(1), forms.authors()
    kinds = [kind for _, those in found for kind in those]
    for wordings, _ in found:
        for name, group in wordings.items():
            for form in group:
                turn = next(forms.made({name: [form]}, kinds, chance))
                assert turn.clauses, form
                assert not re.search(r"[\[\]]", turn.text)


def test_forms_as_they_were_meant_do_to_a_plan_what_their_group_says() -> None:
    outcomes = [
        plans.tried(turn, view, said, annotated(turn, view))[0] for turn, view, said in plans.met(120, 3)
    ]
    assert outcomes.count("right") > 0.8 * len(outcomes)


def _patterns(wanted: object) -> Iterator[str]:
    for one in wanted if isinstance(wanted, list) else [wanted]:
        yield from _patterns(one) if isinstance(one, list) else [one] if isinstance(one, str) else []


def test_dialogues_that_are_played_say_what_must_hold() -> None:
    """Every key is one that is judged, every pattern is one; no author is in two places."""
    played = sorted((ROOT / "training").glob("played*/*/*.json"))
    folders = {file.parent for file in played}
    voices = {folder.name for folder in folders}
    assert len(voices) == len(folders) > 60
    assert not voices & {voice for split in SPLITS.values() for voice in split}
    for file in played:
        turns = [turn for turn in json.loads(file.read_text())["turns"] if "user" in turn]
        assert len(turns) >= 12, file
        for turn in turns:
            wanted = {key: held for key, held in turn.items() if key not in ("user", "note")}
            assert turn["user"].strip(), file
            assert wanted.keys() <= JUDGED, (file, turn)
            for pattern in _patterns([*wanted.values()]):
                re.compile(pattern)


def test_a_turn_is_learned_as_the_likeliest_reading_that_does_what_was_said() -> None:
    mentions = (clauses.Mention("T", "trip"), clauses.Mention("V", "friday", start=6))
    read = clauses.Clause("set", "trip: friday", mentions)
    parses = [clauses.Parse((read,), share) for share in (0.6, 0.3)]
    candidates = tuple(Candidate((), parse, share=parse.probability) for parse in parses)
    case = Case("played", "a", "Re A: trip: friday", View(TaskGraph()), candidates, ("silent", "held"))
    turn = verified.turn_of(case)
    assert turn is not None
    assert [(one.role, turn.text[one.start : one.end]) for one in turn.spans] == [
        ("T", "trip"),
        ("V", "friday"),
    ]
    assert [turn.text[one.start : one.end] for one in turn.clauses] == ["trip: friday"]
    assert verified.turn_of(replace(case, outcomes=("silent", "asked"))) is None
