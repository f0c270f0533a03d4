"""The dialogues of tests/dialogues and tests/wordings.json, through the whole product without a model.

A turn that does not hold is a regression, unless tests/known.json lists it; a listed turn that holds now must
leave the list. `python -m tests.judging --rewrite` writes the list anew, `python -m tests.judging` tells what
does not hold.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from taskloom.agent.threads.taskloom import Taskloom
from tests import judging
from tests.judging import Dialogue, dialogues, faults, groups, judged, known, played, surprises, without_model
from tests.quickly import quick


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Generator[Taskloom]:
    with without_model(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.mark.parametrize("group", quick([*groups().values()]), ids=groups())
def test_every_turn_holds_but_those_known(app: Taskloom, group: list[Dialogue]) -> None:
    listed = known()
    found = [
        one
        for dialogue in group
        for one in surprises(dialogue, judged(played(app, dialogue), dialogue), listed.get(dialogue.name, ()))
    ]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_the_list_names_turns_that_there_are() -> None:
    turns = {dialogue.name: len(dialogue.said) for dialogue in dialogues()}
    assert len(turns) == len(dialogues())
    for name, numbers in known().items():
        assert numbers == sorted(set(numbers))
        assert set(numbers) <= set(range(1, turns[name] + 1)), name


# ---- the judge ------------------------------------------------------------------------------------


def task(key: str, title: str, value: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": key, "slot": title, "title": title, "value": value,
        "status": "open", "parent": None, "depends_on": [], **more,
    }  # fmt: skip


TURN = {
    "reply": "It is Rome now.",
    "operations": [{"intent": "update"}],
    "tasks": [
        task("t1", "trip"),
        task("t2", "city", "Rome", parent="t1"),
        task("t3", "hotel", "Ritz", parent="t1", status="removed"),
        task("t4", "dinner"),
        task("t5", "wine", depends_on=["t1", "t4"]),
        task("t6", "nap"),
    ],
}
BEFORE = {**TURN, "tasks": [task("t1", "trip"), task("t2", "city", "Oslo", parent="t1")]}


@pytest.mark.parametrize(
    "want",
    [
        {"active_has": ["Rome", r"(?m)^city \| city \| Rome$"]},
        {"active_lacks": ["Ritz", "Oslo"]},
        {"reply_has": ["Rome"], "reply_lacks": ["Oslo"]},
        {"intents": ["update"]},
        {"intents": [], "unchanged": False},
        {"shared": ["wine", "trip", "dinner", "Rome"]},
        {"user": "Rome it is", "note": "nothing"},
    ],
)
def test_the_judge_lets_pass_what_holds(want: dict[str, Any]) -> None:
    assert faults(TURN, BEFORE, want) == []


@pytest.mark.parametrize(
    "want",
    [
        {"active_has": ["Ritz"]},
        {"active_lacks": ["Rome"]},
        {"reply_has": ["Oslo"]},
        {"reply_lacks": ["Rome"]},
        {"intents": ["check"]},
        {"unchanged": True},
        {"shared": ["wine", "trip", "nap"]},
        {"shared": ["hotel", "trip"]},
    ],
)
def test_the_judge_finds_what_does_not_hold(want: dict[str, Any]) -> None:
    assert len(faults(TURN, BEFORE, want)) == 1


def test_the_judge_compares_with_the_turn_before() -> None:
    assert faults(TURN, TURN, {"unchanged": True}) == []
    assert faults(TURN, None, {"unchanged": True}) == []
    dialogue = Dialogue("d", "g", ({"user": "a", "unchanged": True}, {"user": "b", "unchanged": True}))
    assert judged([BEFORE, BEFORE], dialogue) == {}
    assert list(judged([BEFORE, TURN], dialogue)) == [2]


def test_the_judge_refuses_what_it_does_not_know() -> None:
    with pytest.raises(KeyError, match="replyhas"):
        faults(TURN, None, {"replyhas": ["Rome"]})


def test_a_turn_that_gets_worse_and_one_that_gets_better_are_both_told() -> None:
    dialogue = Dialogue(
        "trip", "trip", ({"user": "one"}, {"user": "two"}, {"session": "next"}, {"user": "three"})
    )
    lost, won = surprises(dialogue, {1: ["bad"], 3: ["the plan lacks 'x'"]}, [1, 2])
    assert lost == "trip, turn 3 'three': the plan lacks 'x'"
    assert won.startswith("trip, turn 2 holds now: remove it from the list")
    assert judging.REWRITE in won
    assert surprises(dialogue, {1: ["bad"]}, [1]) == []


def test_a_new_session_begins_a_thread_of_its_own(app: Taskloom) -> None:
    turns = ({"user": "Plan a trip to Rome."}, {"session": "next"}, {"user": "Plan a dinner."})
    first, second = played(app, Dialogue("two sessions", "", turns))
    assert (first["session"], second["session"]) == (1, 2)
    assert first["tasks"]
    assert "Rome" not in judging._text(second)
