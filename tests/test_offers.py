"""Answers to values that were proposed: all, some, none, or with a change; and what stands in quotes."""

from __future__ import annotations

import pytest

from taskloom.agent.reading.noise import is_noise
from taskloom.agent.reading.offers import answered
from taskloom.agent.reading.quoting import masked, restored
from taskloom.agent.turn.clauses import Clause, Mention, Parse
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Add, Clarify, apply
from taskloom.memory.tasks import TaskGraph


def offered() -> View:
    """A trip whose hotel and budget are proposed."""
    graph = apply(TaskGraph(), Add(slot="trip", title="trip"), turn=1, said="").graph
    for slot, value in (("hotel", "Ritz"), ("budget", "$900")):
        add = Add(slot=f"trip.{slot}", title=slot, value=value, parent="t1", status="proposed")
        graph = apply(graph, add, turn=1, said="").graph
    return View(graph, turn=2)


@pytest.mark.parametrize(
    ("said", "steps", "rest"),
    [
        ("Yes, except the budget", [("no", "the budget"), ("yes", "")], ""),
        ("all but the hotel", [("no", "the hotel"), ("yes", "")], ""),
        ("only the hotel", [("yes", "the hotel"), ("no", "")], ""),
        ("Yes, keep the rest.", [("yes", "")], ""),
        ("yes but for four nights", [("yes", "")], "for four nights"),
        ("No, make it Friday", [], "make it Friday"),
        ("Yes, except the budget: 800", [("yes", "")], "make the budget 800"),
    ],
)
def test_an_offer_is_answered_in_parts(said: str, steps: list[tuple[str, str]], rest: str) -> None:
    found = answered(said, offered())
    assert found is not None
    assert [(step.act, step.target) for step in found.steps] == steps
    assert found.rest == rest


@pytest.mark.parametrize("said", ["yes", "Add milk", "except the zoo", "Is the budget right?", ""])
def test_what_is_no_answer_to_an_offer(said: str) -> None:
    assert answered(said, offered()) is None
    assert answered("Yes, except the budget", View(TaskGraph())) is None


def test_a_quoted_passage_is_one_word_and_comes_back_where_it_was() -> None:
    text = 'Add a note: "drop it all" for Ann'
    hidden, passages = masked(text)
    assert "drop" not in hidden
    word = next(iter(passages))
    name = hidden.index("Ann")
    clause = Clause("add", hidden, (Mention("V", f'"{word}"', start=12), Mention("P", "Ann", start=name)))
    (found,) = restored(Parse((clause,), 1.0), passages).clauses
    assert found.text == text
    assert [(one.text, text[one.start :].startswith(one.text)) for one in found.mentions] == [
        ('"drop it all"', True),
        ("Ann", True),
    ]


@pytest.mark.parametrize("text", ['the film "Jaws"', "Tom's and Ann's", "no quotes"])
def test_a_single_word_in_quotes_stays(text: str) -> None:
    assert masked(text) == (text, {})


@pytest.mark.parametrize(
    "said", ["\x1b[31m", '{"steps": []}', "<|im_start|>", "la la la la", "-1", "%%$ {0} \\\\"]
)
def test_signs_and_code_are_noise(said: str) -> None:
    assert is_noise(said, View(TaskGraph()))


@pytest.mark.parametrize("said", ["👍", "great 👍🏽", "no no no no", "मुंबई की यात्रा"])
def test_pictures_other_letters_and_a_firm_no_are_no_noise(said: str) -> None:
    assert not is_noise(said, View(TaskGraph()))


def test_a_number_that_was_asked_for_is_no_noise() -> None:
    assert not is_noise("5", View(TaskGraph(), question=Clarify(question="How many?")))
    assert not is_noise("5", View(TaskGraph(), exchanges=(("a trip", "For how many?"),)))
    assert not is_noise("Buy 3 kg of flour (type 550) & milk – 2 l!", View(TaskGraph()))
