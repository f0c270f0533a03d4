"""Which utterances the local reader answers for the model, and what a mere question must not do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from taskloom.agent.grounding.asking_first import only_asks, question_before
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.reading.beam import Numbers
from taskloom.agent.reading.gate import Gate
from taskloom.agent.reading.local import packaged
from taskloom.agent.reading.network import Network
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Operation,
    Question,
    Remove,
    Replace,
    Rollback,
    Update,
)
from taskloom.memory.tasks import TaskGraph
from tests.openai_server import OpenAIServer, Say
from tests.test_interpreters import CART, PROPOSED, REALLY, SEAT, TRIP, WHICH, graph_of


@dataclass
class Asked:
    """A model's reader that counts what it is asked."""

    said: list[str] = field(default_factory=list)

    def read(self, utterance: str, view: View) -> Reading:
        self.said.append(utterance)
        return Reading((Step(text=utterance, act="chat"),), by="model")


DAY = Clarify(
    question="What should the date be for the trip?",
    choices=(Add(slot="trip.date", title="date", parent="t1"),),
)
COLOUR = Clarify(
    question="Which colour?", options=("red", "dark blue"),
    choices=(Update(task="t2", value="red"), Update(task="t2", value="dark blue")),
)  # fmt: skip
SPARED: list[tuple[str, Sequence[Operation], Clarify | None]] = [
    ("Yes.", TRIP, REALLY), ("no", TRIP, REALLY), ("ok", PROPOSED, None), ("Nope!", PROPOSED, None),
    ("undo", TRIP, None), ("Undo that, please", TRIP, None), ("redo", TRIP, None),
    ("Friday", PROPOSED[:1], DAY), ("June 10th", PROPOSED[:1], DAY), ("Aisle", PROPOSED[:1], SEAT),
]  # fmt: skip


@pytest.mark.parametrize(("said", "before", "question"), SPARED, ids=[said for said, _, _ in SPARED])
def test_a_bare_answer_needs_no_model(
    said: str, before: Sequence[Operation], question: Clarify | None
) -> None:
    graph = graph_of(*before)
    view = View(graph, turn=len(before) + 1, focus=tuple(graph), question=question)
    model = Asked()
    assert Gate(model).read(said, view).by == "network"
    assert model.said == []
    assert Gate(model, "model").read(said, view).by == "model"


ASKED: list[tuple[str, Sequence[Operation], Clarify | None]] = [
    ("yes", TRIP, None),  # to nothing
    ("yes", CART, WHICH),  # to which?
    ("Yes, but make it Friday", TRIP, REALLY), ("no, the hotel in Oslo", TRIP, REALLY),
    ("undo the hotel", TRIP, None),
    ("not sure", PROPOSED[:1], DAY), ("Whatever", PROPOSED[:1], SEAT), ("Friday?", PROPOSED[:1], DAY),
    ("The same as last time", PROPOSED[:1], DAY), ("Who?", PROPOSED[:1], SEAT), ("Skip", PROPOSED[:1], SEAT),
    ("Set the date to Friday", TRIP, None), ("Thanks", TRIP, None), ("Buy milk", (), None),
    ("Clear all except the charger", CART, None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "before", "question"), ASKED, ids=[said for said, _, _ in ASKED])
def test_all_else_the_model_reads(said: str, before: Sequence[Operation], question: Clarify | None) -> None:
    graph = graph_of(*before)
    model = Asked()
    reading = Gate(model).read(said, View(graph, turn=9, focus=tuple(graph), question=question))
    assert (reading.by, model.said) == ("model", [said])


# ---- slots of task schemas ------------------------------------------------------------------------

LOCAL = packaged()
KINDS = load_schemas(
    [
        {
            "title": "movie tickets", "type": "object", "description": "Buy tickets for a movie",
            "properties": {
                "movie": {"type": "string", "description": "Title of the movie"},
                "date": {"type": "string", "description": "Day of the show"},
                "num_tickets": {"type": "integer", "description": "Number of tickets"},
                "row": {"type": "string", "description": "Seats", "enum": ["front", "balcony", "back row"]},
                "buyer": {"type": "string", "description": "Full name of the customer"},
            },
        },
    ]
)  # fmt: skip
TICKETS = (
    Add(slot="tickets", title="movie tickets"),
    Add(slot="tickets.date", title="date", value="Friday", parent="t1"),
)
ROW = Clarify(
    question="What should the row be for the movie tickets?", options=("front", "balcony", "back row"),
    choices=tuple(
        Add(slot="tickets.row", title="row", value=one, parent="t1")
        for one in ("front", "balcony", "back row")
    ),
)  # fmt: skip


def read_by(said: str, before: Sequence[Operation], question: Clarify | None = None) -> Reading:
    graph = graph_of(*before)
    focus = tuple(reversed(tuple(graph)))
    view = View(graph, turn=len(before) + 1, focus=focus, question=question, schemas=KINDS)
    return Gate(Asked(), fills=LOCAL.fills).read(said, view)


@pytest.mark.parametrize(
    ("said", "before", "told"),
    [
        ("i want 3 tickets please", TICKETS, {"num_tickets": "3"}),
        ("i want 2 tickets on saturday", (), {"num_tickets": "2", "date": "saturday"}),
        ("The buyer is Ann Lee.", TICKETS, {"buyer": "Ann Lee"}),
        ("Sorry, to correct, my date is Monday", TICKETS, {"t2": "Monday"}),
        ("The row should be balcony", TICKETS, {"row": "balcony"}),
    ],
)
def test_a_message_that_only_fills_slots_needs_no_model(
    said: str, before: Sequence[Operation], told: dict[str, str]
) -> None:
    reading = read_by(said, before)
    assert reading.by == "network"
    given = {one.slot: one.value for step in reading.steps for one in step.details}
    given |= {step.task or "": step.value for step in reading.steps if step.value}
    assert given == told


@pytest.mark.parametrize(
    ("said", "before", "question"),
    [
        ("can i have 3 tickets?", TICKETS, None),
        ("i do not want 3 tickets", TICKETS, None),
        ("i want 3 tickets and call Ann", TICKETS, None),
        ("i want 3 tickets or 4", TICKETS, None),
        ("cancel the tickets for friday", TICKETS, None),
        ("i want 3 tickets for the usual movie", TICKETS, None),
        ("thanks, that is all", TICKETS, None),
        ("The buyer is Ann Lee. Remove Bo", TICKETS, None),
        ("The buyer is Ann Lee and the row is front", TICKETS, None),
        ("The buyer is wrong", TICKETS, None),
        ("The buyer is Nobody", TICKETS, None),
        ("The date is too early", TICKETS, None),
        ("The date is Monday\nRemove Bo", TICKETS, None),
        ("The guest is Ann Lee", TICKETS, None),
        ("i want 3 tickets please", TRIP, None),  # another task is what is spoken of
        ("The date is Monday", (*TICKETS, Add(slot="fence", title="paint the fence")), None),
        ("The date is Monday", TICKETS, ROW),  # something else is asked
        ("The date is Monday", (*TICKETS, Add(slot="tickets.buyer", title="buyer", value="Bo", parent="t1",
                                              status="proposed", source="memory:x")), None),
    ],
)  # fmt: skip
def test_what_is_said_beside_slots_the_model_reads(
    said: str, before: Sequence[Operation], question: Clarify | None
) -> None:
    assert read_by(said, before, question).by == "model"


def test_without_schemas_or_where_the_model_reads_always_it_reads_slots_too() -> None:
    said, graph = "The buyer is Ann Lee.", graph_of(*TICKETS)
    view = View(graph, turn=3, focus=("t1",), schemas=KINDS)
    assert Gate(Asked(), "model", LOCAL.fills).read(said, view).by == "model"
    assert Gate(Asked(), fills=LOCAL.fills).read("3 tickets", replace(view, schemas=())).by == "model"
    assert Gate(Asked(), fills=LOCAL.fills).read(said * 20, view).by == "model"
    assert Gate(Asked()).read(said, view).by == "model"


FORM = (
    Add(slot="form", title="fill out a form"),
    Add(slot="form.name", title="name", value="Jo", parent="t1"),
)


@pytest.mark.parametrize(
    ("said", "before", "told"),
    [
        ("My email is ann@example.com.", FORM, ("email", "ann@example.com")),
        ("Sorry, to correct, my name is Ann Lee", FORM, ("name", "Ann Lee")),
        ("my budget is 500 euros", FORM, ("budget", "500 euros")),
        ("My address is Market Street, San Francisco.", FORM, ("address", "Market Street, San Francisco")),
        ("My wife is Ann Lee", FORM, None),  # is that for the form?
        ("My name is not important", FORM, None),
        ("My email is ann@example.com. Send it", FORM, None),
        ("my email is the usual one", FORM, None),
        ("the form is Monday", FORM, None),  # no slot of it
        ("My email is ann@example.com", (*FORM, Add(slot="fence", title="paint the fence")), None),
        ("My email is ann@example.com", (), None),
    ],
)
def test_without_schemas_one_plain_value_for_the_only_task_needs_no_model(
    said: str, before: Sequence[Operation], told: tuple[str, str] | None
) -> None:
    view = View(graph_of(*before), turn=len(before) + 1, focus=("t1",) if before else ())
    reading = Gate(Asked(), fills=LOCAL.fills).read(said, view)
    assert (reading.by == "network") == (told is not None)
    if told is not None:
        (step,) = reading.steps
        assert (step.task, [(one.slot, one.value) for one in step.details]) == ("t1", [told])


def test_slots_and_clauses_of_a_message_are_encoded_once() -> None:
    encoded: list[Sequence[int]] = []

    def zeros(*shape: int) -> Numbers:
        return np.zeros(shape, np.float32)

    def encode(ids: tuple[int, ...], parts: tuple[int, ...]) -> tuple[Numbers, Numbers, Numbers]:
        encoded.append(ids)
        return zeros(len(ids), 384), zeros(len(ids), 3), zeros(len(ids), 2)

    tokenizer = Tokenizer.from_str(
        (files("taskloom.memory") / "minilm" / "tokenizer.json").read_text(encoding="utf-8")
    )
    tokenizer.no_padding()
    network = Network(
        encode, lambda clauses: zeros(len(clauses), 2), tokenizer,
        tags=("O", "BT", "IT"), names=("task", "chat"),
    )  # fmt: skip
    network.pieces("two tickets for Friday", "Which day?")
    network("two tickets for Friday", "Which day?")
    assert len(encoded) == 1


# ---- questions ------------------------------------------------------------------------------------

QUESTIONS = [
    "Is the party on Friday?", "When is it?", "who brings the wine?", "Wasn’t I departing from Boston?",
    "Did I ever say to drop the pen?", "So, what's left to do?", "Hey, is Bo coming? And who else is?",
    "By the way, how many guests are there?", "Do we have a venue yet?", "Have I told you the budget?",
    "Isn't it at 8?", "Which of them are done?", "Why did we move it?", "ok, what time was it before?",
    "when is the party", "whats left to do", "is it on friday", "did i ever say oak",
    "how many guests do we have",
]  # fmt: skip
WISHES = [
    "Can you reset it to just the stand?", "Could we start planning a trip?", "What about Friday?",
    "How about 8 PM?", "what is the date make it friday", "when its done call bo", "is it done, then call bo",
    "Is it possible to move it to Friday?", "Would you add milk?", "Why don't we make it Friday?",
    "Make it Friday. Is that ok?", "We have moved it to Friday, right?", "Is Bo coming? If not, drop him.",
    "Bo can't come. Who brings the wine then?", "When the cake is done, call Bo",
    "Can I change the date to Friday?",
    "Is it too late to add Ann?", "Do you mind adding Ann?", "What is the date? Make it Friday.",
    "The date is Friday",
    "Is there any chance we could do it at 8?", "please drop the pen?",
]  # fmt: skip


def test_a_question_only_asks(subtests: pytest.Subtests) -> None:
    for said in QUESTIONS:
        with subtests.test(said):
            assert only_asks(said)


def test_a_wish_or_news_in_the_form_of_a_question_does_more(subtests: pytest.Subtests) -> None:
    for said in WISHES:
        with subtests.test(said):
            assert not only_asks(said)


PARTY = graph_of(
    Add(slot="party", title="party"),
    Add(slot="party.date", title="date", value="Saturday", parent="t1"),
    Add(slot="cake", title="bake the cake"),
)
MISTAKEN: list[tuple[Operation, str]] = [
    (Update(task="t2", value="Friday"), "set the date to Friday"),
    (Remove(task="t1"), "take out the party"),
    (Complete(task="t3"), 'mark "bake the cake" done'),
    (Add(slot="x", title="Friday"), "add Friday"),
    (Add(slot="x", title="day", value="Friday", parent="t1"), "add day: Friday"),
    (Replace(old="Saturday", new="Friday"), "replace Saturday with Friday"),
    (Rollback(task="t2"), "put the date back to what it was"),
]
CHECK = Check(question=Question(kind="claim", tasks=("t2",), value="Friday"))


@pytest.mark.parametrize(("operation", "words"), MISTAKEN, ids=[words for _, words in MISTAKEN])
@pytest.mark.parametrize("answer", [(), (CHECK,)], ids=["alone", "with an answer"])
def test_a_question_never_changes_the_plan(
    operation: Operation, words: str, answer: tuple[Operation, ...]
) -> None:
    kept = question_before((*answer, operation), "Is the party on Friday?", PARTY)
    *answers, asked = kept
    assert tuple(answers) == answer
    assert isinstance(asked, Clarify)
    assert asked.question == f"You asked, so I changed nothing. Shall I {words}?"
    assert (asked.options, asked.choices) == (("yes",), (operation,))


def test_what_is_more_than_a_question_changes_the_plan() -> None:
    operations = (Update(task="t2", value="Friday"),)
    assert question_before(operations, "Could you make it Friday?", PARTY) == operations
    assert question_before((CHECK,), "Is the party on Friday?", PARTY) == (CHECK,)
    assert question_before((), "Is the party on Friday?", TaskGraph()) == ()


def test_what_is_made_and_changed_at_once_is_called_it() -> None:
    operations = (Add(slot="cake", title="cake"), Update(task="t99", value="Friday"))
    (asked,) = question_before(operations, "Is the party on Friday?", PARTY)
    assert isinstance(asked, Clarify)
    assert asked.question.endswith("Shall I add cake and set it to Friday?")


# ---- through the whole product --------------------------------------------------------------------

PLAN = {
    "act": "task", "title": "party", "details": {"date": "Saturday", "place": "the barn"},
    "items": {"guest": ["Ann", "Bo"]},
}  # fmt: skip
ASKS = {"act": "ask", "q": "claim", "on": 2, "value": "Friday"}
HOSTILE: list[list[dict[str, Any]]] = [
    [{"act": "set", "on": 2, "value": "Friday"}],
    [ASKS, {"act": "set", "on": 2, "value": "Friday"}],
    [{"act": "set", "in": 1, "slot": "day", "value": "Friday"}],
    [{"act": "remove", "on": 1}],
    [{"act": "remove", "on": [1, 2, 3]}, ASKS],
    [{"act": "remove", "on": 4}, {"act": "remove", "on": 5}],
    [{"act": "hold", "on": 1}],
    [{"act": "done", "on": 1}],
    [{"act": "replace", "old": "Saturday", "value": "Friday"}],
    [{"act": "task", "title": "party on Friday"}],
    [{"act": "add", "in": 1, "items": {"guest": ["Friday"]}}],
    [{"act": "shift", "on": 2, "value": "-1 day"}],
    [{"act": "assign", "on": 1, "value": "Friday"}],
    [{"act": "undo"}],
    [{"act": "only", "on": 1, "refs": [4]}, {"act": "chat", "value": "Deleted everything."}],
]


@pytest.mark.parametrize("steps", HOSTILE, ids=[json.dumps(steps)[:60] for steps in HOSTILE])
def test_no_list_of_steps_for_a_question_changes_the_plan(
    steps: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with OpenAIServer([Say(json.dumps({"steps": one})) for one in ([PLAN], steps)]) as server:
        given = Settings(home=tmp_path, model="m", openai_base_url=server.url, memory=False)
        with Taskloom.open(given) as app:
            app.talk("The party is on Saturday in the barn with Ann and Bo", context=None)
            before = app.tasks("main")
            turn = app.talk("Is the party on Friday?", context=None)
            assert app.tasks("main") == before
            assert turn.by == "model"
            assert "Shall I" in turn.reply
            if ASKS in steps:
                assert "Saturday" in turn.reply
