"""Words and steps that do not fit the plan they meet: nothing breaks, and no more is done than is said.

The words are those of all dialogues, each said where it does not belong; the steps are drawn at random, as a
confused model might give them. The draws are the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.replying.checking import faults_of
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.state import Change, Turn
from taskloom.agent.turn.steps import Act, Asked, Detail, Step, StepPart
from taskloom.memory.claims import answer
from taskloom.memory.operations import Check, Clarify, Complete, Operation, QuestionKind, Remove, apply
from taskloom.memory.tasks import TaskGraph
from tests.judging import dialogues
from tests.memory.test_invariants import survives
from tests.quickly import quick
from tests.test_interpreters import (
    APART,
    CART,
    LINKED,
    MEETING,
    NOW,
    PROPOSED,
    REALLY,
    SEAT,
    STEW,
    TRIP,
    WHICH,
    graph_of,
)

PLANS: dict[str, Sequence[Operation]] = {
    "nothing": (),
    "trip": TRIP,
    "cart": CART,
    "cooking": STEW,
    "meeting": MEETING,
    "meeting in two": APART,
    "wall": LINKED,
    "offer": PROPOSED,
    "trip without hotel": (*TRIP, Remove(task="t5")),
    "wall sanded": (*LINKED, Complete(task="t2")),
}
OPEN = {"trip": REALLY, "cart": WHICH, "offer": SEAT}
A_PLAN = 450  # utterances that each plan meets
QUICK = ("offer", "wall sanded")


def view_of(name: str, *, asked: bool = False) -> View:
    """A plan just after its last turn; asked: with a question left open, where there is one for it."""
    graph = graph_of(*PLANS[name])
    focus = tuple(reversed([node.id for node in graph.active]))[:4]
    question = OPEN.get(name) if asked else None
    return View(graph, turn=len(PLANS[name]) + 1, focus=focus, question=question, now=NOW)


def holds_after(steps: Sequence[Step], view: View, said: str) -> TaskGraph:
    """Carry out what the steps mean; the plan stays sound, and the reply keeps to it."""
    operations, graph, changes = ground_exactly(steps, view), view.graph, []
    for operation in operations:
        outcome = apply(graph, operation, turn=view.turn, said=said)
        assert outcome.refused is None or outcome.graph is graph
        graph = outcome.graph
        changes.append(
            Change(
                operation=operation,
                changed=outcome.changed,
                stale=outcome.stale,
                opened=outcome.opened,
                refused=outcome.refused,
            )
        )
    survives(graph)
    if all(isinstance(operation, Check | Clarify) for operation in operations):
        assert graph.items() == view.graph.items()
    turn = Turn(
        number=view.turn,
        utterance=said,
        steps=tuple(steps),
        operations=operations,
        changes=tuple(changes),
        answers=tuple(answer(graph, each.question) for each in operations if isinstance(each, Check)),
        question=next((each for each in operations if isinstance(each, Clarify)), None),
    )
    brief = Brief(said, graph, turn, answers=turn.answers)
    reply = "".join(TemplateResponder().respond(brief))
    assert reply.strip()
    assert faults_of(reply, brief) == []
    return graph


@pytest.mark.parametrize("name", quick([*PLANS], QUICK))
def test_words_from_elsewhere_do_no_harm(name: str) -> None:
    words = sorted({turn["user"] for dialogue in dialogues() for turn in dialogue.said})
    reader = local_reader()
    for said in Random(name).sample(words, A_PLAN):
        for asked in {False, name in OPEN}:
            view = view_of(name, asked=asked)
            try:
                holds_after(reader.read(said, view).steps, view, said)
            except AssertionError as error:
                error.add_note(f"said {said!r}, asked={asked}")
                raise


WORDS = st.sampled_from(
    """
    trip destination Seattle start Chicago date hotel Ritz cart black_case case charger make_soup wash_celery
    celery soup dumplings shrimp Alice Bob Carol team_meeting time 3_PM Thursday June_10th paint_the_wall
    sand_the_wall seat aisle it them everyone the_rest guests 12 two ten_percent_more nonsense list all both
    location party_size budget €500 invite_Dana the_first_one next_week mushrooms 1.5_hours
    """.replace("\n", " ").split()
).map(lambda word: word.replace("_", " "))
SOME = st.one_of(st.just(""), WORDS)
TASKS = st.one_of(st.none(), st.none(), st.sampled_from([f"t{number}" for number in range(1, 9)]))
SLOTS = st.sampled_from(["date", "time", "destination", "participant", "item", "step", "hotel", "value", "x"])
DETAILS = st.lists(st.builds(Detail, slot=SLOTS, value=WORDS, task=TASKS), max_size=3).map(tuple)
STEPS = st.builds(
    Step,
    text=WORDS,
    act=st.sampled_from(get_args(Act)),
    target=SOME,
    task=TASKS,
    within=SOME,
    within_task=TASKS,
    slot=st.one_of(st.none(), SLOTS),
    title=st.one_of(st.none(), WORDS),
    value=st.one_of(st.none(), WORDS),
    old=st.one_of(st.none(), WORDS),
    items=DETAILS,
    details=DETAILS,
    parts=st.lists(
        st.builds(
            StepPart,
            title=SOME,
            members=st.lists(WORDS, max_size=2).map(tuple),
            rest=st.booleans(),
            details=DETAILS,
        ),
        max_size=3,
    ).map(tuple),
    everywhere=st.booleans(),
    everyone=st.booleans(),
    asked=st.builds(
        Asked,
        kind=st.sampled_from(get_args(QuestionKind)),
        value=st.one_of(st.none(), WORDS),
        act=st.sampled_from([None, "add", "remove", "update", "replace", "complete"]),
        denied=st.booleans(),
    ),
)


@settings(
    max_examples=min(1500, 3 * settings().max_examples),
    derandomize=True,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(
    name=st.sampled_from(sorted(PLANS)), asked=st.booleans(), steps=st.lists(STEPS, min_size=1, max_size=2)
)
def test_steps_that_make_no_sense_do_no_harm(name: str, asked: bool, steps: list[Step]) -> None:
    holds_after(steps, view_of(name, asked=asked), "the words")
