"""Answers to what the local reader asks, by a yes, one of the options or a name of what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from taskloom.agent.language.referring import AFFIRMS
from taskloom.agent.threads.taskloom import Taskloom
from tests.judging import Dialogue, played, without_model

NUMBERS = count(1)  # of threads


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taskloom]:
    home: Path = tmp_path_factory.mktemp("home")
    with without_model(home) as opened:
        yield opened


def said(app: Taskloom, *lines: str) -> tuple[str, set[str]]:
    """The last reply of a thread of its own, and what its plans hold then: 'title: value'."""
    turns = tuple({"user": line} for line in lines)
    *_, record = played(app, Dialogue(f"answers {next(NUMBERS)}", "answers", turns))
    held = (task for task in record["tasks"] if task["status"] not in ("removed", "inactive"))
    return record["reply"], {": ".join(filter(None, (task["title"], task["value"]))) for task in held}


def test_a_whole_is_cancelled_after_a_yes_and_kept_after_a_no(app: Taskloom) -> None:
    asked, kept = said(app, "shopping: milk, eggs", "cancel it")
    assert asked.startswith("Shall I cancel all of shopping")
    assert kept == {"shopping", "milk", "eggs"}
    assert said(app, "shopping: milk, eggs", "cancel it", "yes")[1] == set()
    assert said(app, "shopping: milk, eggs", "cancel it", "no")[1] == kept


def test_a_word_that_agrees_to_nothing_cancels_nothing(app: Taskloom) -> None:
    assert said(app, "shopping: milk, eggs", "cancel it", "tiles")[1] >= {"shopping", "milk", "eggs"}
    assert AFFIRMS.search("yep, go on")
    assert not AFFIRMS.search("tiles")


def test_one_of_those_that_are_asked_about_is_named(app: Taskloom) -> None:
    plan = "bag: black case, clear case, rope"
    asked, _ = said(app, plan, "drop the case")
    assert "Which one do you mean" in asked
    assert said(app, plan, "drop the case", "the clear one")[1] == {"bag", "black case", "rope"}


CANVAS = ("roof: 9 square metres of canvas", "boat hood: 4 square metres of canvas")
EXAM = ("stats exam thu 9am", "band practice weds at 8pm")


@pytest.mark.parametrize(
    ("lines", "then"),
    [
        (
            (*CANVAS, "For one of them I need one square metre more.", "The hood."),
            "detail: 5 square metres of canvas",
        ),
        ((*EXAM, "push the dinner back 30 min", "the practice i mean"), "time: 8:30pm"),
    ],
)
def test_what_was_said_is_read_again_with_the_answer(
    app: Taskloom, lines: tuple[str, ...], then: str
) -> None:
    asked, before = said(app, *lines[:-1])
    assert asked.endswith("?")
    assert then not in before
    assert then in said(app, *lines)[1]


def test_what_is_no_answer_is_a_message_of_its_own(app: Taskloom) -> None:
    _, held = said(app, *EXAM, "push the dinner back 30 min", "add a lunch on friday at noon")
    assert {"time: 9am", "time: 8pm", "date: friday"} <= held
