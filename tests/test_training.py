"""What the local reader learns from: every line follows the markup, and what it says can be played."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "training"))

from lines import (  # type: ignore[import-not-found]  # noqa: E402
    ACTS,
    SPLITS,
    Change,
    Clause,
    LineError,
    Plan,
    Span,
    counts,
    files,
    load,
    read_change,
    read_file,
    read_text,
)

FILES = files()


@pytest.mark.parametrize("file", FILES, ids=[f"{file.parent.name}-{file.stem}" for file in FILES])
def test_a_file_follows_the_markup(file: Path) -> None:
    dialogues, wrong = read_file(file)
    assert wrong == []
    assert len(dialogues) == 5
    assert all(len(one.turns) > 9 and all(turn.reply for turn in one.turns[:-1]) for one in dialogues)


def test_there_is_enough_of_everything() -> None:
    told = counts(one for split in SPLITS for one in load(split))
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
