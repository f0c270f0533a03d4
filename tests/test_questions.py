"""English questions: how they are read, and what they are about in a small plan."""

from __future__ import annotations

from typing import Any

import pytest

from taskloom.agent.grounding.ladder.asking import Asker
from taskloom.agent.reading.patterns.questions import is_question, read_question
from taskloom.agent.turn.steps import Asked, Step
from taskloom.memory.claims import answer
from taskloom.memory.operations import Add, Complete, Link, Question, Remove, Replace, Update, apply
from taskloom.memory.tasks import TaskGraph

# ---- reading --------------------------------------------------------------------------------------

READINGS: list[tuple[str, str, dict[str, Any]]] = [
    # why, history
    ("Why is it at 4 PM?", "why", {"target": "4 PM"}),
    ("How come the audit is on May 10?", "why", {"target": "audit on May 10"}),
    ("Has the venue changed?", "history", {"target": "venue"}),
    ("When did I change the date?", "history", {"target": "date"}),
    # next, left, done, gone
    ("What's next?", "next", {}),
    ("what now?", "next", {}),
    ("What can I start with right now?", "next", {}),
    ("what do I need to do first?", "next", {}),
    ("What's left before we ship?", "left", {}),
    ("What remains to be done for the bench?", "left", {"target": "bench"}),
    ("what's not packed yet?", "left", {}),
    ("Which ones do I still have to read?", "left", {}),
    ("Is everything done?", "left", {}),
    ("What have I finished so far?", "status", {"value": "done"}),
    ("What did I throw out earlier?", "status", {"value": "removed"}),
    # state
    ("isn't dark mode still open?", "status", {"target": "dark mode", "value": "is open"}),
    ("Is the lawn mowed?", "status", {"target": "lawn", "value": "is done"}),
    ("Is the fence sanded?", "status", {"target": "fence sanded", "value": "is done"}),
    ("is the trip still on?", "status", {"target": "trip", "value": "is active"}),
    ("Was the trip ever cancelled?", "status", {"target": "trip", "value": "is removed"}),
    ("Have I already booked the hotel?", "status", {"target": "hotel", "value": "is done"}),
    # what rests on what
    ("What depends on the website?", "dependents", {"target": "website"}),
    ("if the passport is late, what does that affect?", "dependents", {"target": "passport"}),
    ("Which dishes use rice?", "dependents", {"target": "rice"}),
    ("what has to happen before the tiles go in?", "needs", {"target": "tiles go in"}),
    ("what comes before the offer?", "needs", {"target": "offer"}),
    ("What is the brochure waiting for?", "needs", {"target": "brochure"}),
    # summaries, lists, numbers
    ("Help to repeat my information", "summary", {}),
    ("Please repeat everything you know about me.", "summary", {}),
    ("Can you sum it up for me before I sign?", "summary", {}),
    ("Give me the whole wedding plan as it stands.", "summary", {"target": "wedding"}),
    ("Full potluck plan?", "summary", {"target": "potluck"}),
    ("What goes into the lasagna?", "list", {"within": "lasagna"}),
    ("Which materials go into the shelf?", "list", {"target": "materials", "within": "shelf"}),
    ("Tell me every ingredient of the tacos.", "list", {"target": "ingredient", "within": "tacos"}),
    ("what are the categories now?", "list", {"target": "categories"}),
    ("Which speakers do we have?", "list", {"target": "speakers"}),
    ("so who's where?", "list", {"slot": "who"}),
    ("How many sessions are there now?", "count", {"target": "sessions"}),
    # what was
    ("What was the budget before?", "before", {"target": "budget"}),
    ("what time was the lesson before I moved it?", "before", {"target": "lesson", "slot": "time"}),
    ("Which book did we have before Dracula?", "before", {"target": "book", "value": "Dracula"}),
    ("what was the main course at first?", "before", {"target": "main course"}),
    ("where was it originally?", "before", {"slot": "where"}),
    # ever
    ("Was the venue ever the Grand Hotel?", "ever", {"target": "venue", "value": "Grand Hotel"}),
    ("Did Ben ever have the salad?", "ever", {"target": "Ben", "value": "salad"}),
    ("was it ever planned for Chamonix?", "ever", {"value": "Chamonix"}),
    ("Were push notifications ever on the list?", "ever", {"value": "push notifications"}),
    ("Was there ever ricotta in the salad?", "ever", {"value": "ricotta", "within": "salad"}),
    ("Did I ever say to remove tea from it?", "ever", {"value": "tea", "act": "remove"}),
    ("Did I say anything about a tripod?", "ever", {"value": "tripod"}),
    ("Did we have Monday at 10 at some point?", "ever", {"value": "Monday at 10"}),
    # claims
    ("Wasn't the ceremony at the Linden Hall?", "claim", {"target": "ceremony", "value": "Linden Hall"}),
    ("Wasn't I departing from Boston?", "claim", {"value": "Boston", "slot": "start"}),
    ("Is Carla coming?", "claim", {"value": "Carla", "slot": "who"}),
    ("is the bike part of the sale?", "claim", {"value": "bike", "within": "sale"}),
    ("The viewing's on Sunday, isn't it?", "claim", {"target": "viewing", "value": "Sunday"}),
    ("I think TikTok was never part of it", "claim", {"value": "TikTok", "denied": True}),
    ("I'm sure pies had nuts from the start", "claim", {"target": "pies from the start", "value": "nuts"}),
    ("So it's a table for six, am I right?", "claim", {"value": "table for six"}),
    ("Is that right?", "claim", {}),
    # values
    ("When's the wedding again?", "value", {"target": "wedding", "slot": "when"}),
    ("Who's writing the draft?", "value", {"target": "writing the draft", "slot": "who"}),
    ("What time do we leave and from where?", "value", {"target": "leave", "slot": "time start"}),
    ("what are the stops and the car?", "value", {"target": "stops and the car"}),
    ("how much for groceries?", "value", {"target": "groceries", "slot": "amount"}),
    ("What do you have down as the venue?", "value", {"target": "venue"}),
    ("tell me a joke", "value", {"target": "joke"}),
]  # fmt: skip


def test_how_a_question_is_read(subtests: pytest.Subtests) -> None:
    for text, kind, more in READINGS:
        with subtests.test(text):
            step = read_question(text)
            assert step.asked is not None
            read = {
                "target": step.target,
                "within": step.within,
                "slot": step.slot or "",
                "value": step.asked.value or "",
            }
            wanted = {name: more.get(name, "") for name in read}
            assert (step.asked.kind, read) == (kind, wanted)
            assert (step.asked.act, step.asked.denied) == (more.get("act"), more.get("denied", False))


@pytest.mark.parametrize(
    ("text", "previous", "wanted"),
    [
        ("the dentist", "When is the haircut", ("value", "dentist", "when", None)),
        ("at the finish line", "who's at the water station", ("value", "finish line", "who", None)),
        ("now", "who were my references originally", ("value", "references", "who", None)),
        ("the hotel, until when", "When's the flight", ("value", "hotel", "until", None)),
        ("Rome", "Was it ever Paris", ("ever", "", None, "Rome")),
        ("time and place", "where was it originally", ("value", "", "time where", None)),
    ],
)
def test_an_elliptic_question_is_about_what_was_asked_before(
    text: str, previous: str, wanted: tuple[str, str, str | None, str | None]
) -> None:
    step = read_question(text, previous=previous)
    assert step.asked is not None
    assert (step.asked.kind, step.target, step.slot, step.asked.value) == wanted


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What's left", True),
        ("help me to repeat my information", True),
        ("the party is on Friday, right", True),
        ("I thought it was Boston", True),
        ("I'm sure the cookies had nuts from the start", True),
        ("sum it up for me", True),
        ("I think we need more chairs", False),
        ("when the paint is dry, hang the shelf", False),
        ("list milk as bought", False),
        ("add milk", False),
    ],
)
def test_what_asks(text: str, asks: bool) -> None:
    assert is_question(text, question=False) is asks
    assert is_question(text, question=True) or not asks


# ---- grounding ------------------------------------------------------------------------------------


def _play(*turns: tuple[str, list[Any]]) -> TaskGraph:
    graph = TaskGraph()
    for turn, (said, operations) in enumerate(turns, start=1):
        for operation in operations:
            outcome = apply(graph, operation, turn=turn, said=said)
            assert outcome.refused is None
            graph = outcome.graph
    return graph


def _add(slot: str, title: str, value: str | None = None, parent: str | None = None) -> Add:
    return Add(slot=slot, title=title, value=value, parent=parent)


@pytest.fixture(scope="module")
def plan() -> TaskGraph:
    """A trip (t1), a soup (t9), dumplings (t13), a fence and invitations."""
    return _play(
        ("a trip to Rome with Ana and Bo",
         [_add("trip", "trip"), _add("trip.destination", "destination", "Rome", "t1"),
          _add("trip.participant1", "Ana", None, "t1"), _add("trip.participant2", "Bo", None, "t1"),
          _add("trip.date", "date", "June 10th", "t1"), _add("trip.time", "time", "9 am", "t1"),
          _add("trip.start", "start", "Boston", "t1"), _add("trip.hotel", "hotel", "Grand", "t1")]),
        ("from Chicago instead", [Update(task="t7", value="Chicago")]),
        ("a soup of celery, onions and salt",
         [_add("soup", "soup"), _add("soup.item1", "celery", None, "t9"),
          _add("soup.item2", "onions", None, "t9"), _add("soup.item3", "salt", None, "t9")]),
        ("mushrooms instead of celery", [Replace(old="celery", new="mushrooms")]),
        ("dumplings of flour, and the onions too",
         [_add("dumplings", "dumplings"), _add("dumplings.item1", "flour", None, "t13"),
          Link(task="t13", on="t11")]),
        ("paint the fence after sanding it",
         [_add("task", "paint the fence"), _add("task2", "sand the fence"), Link(task="t15", on="t16")]),
        ("Leo does the invitations, no salt, sanded",
         [_add("task3", "invitations"), _add("task3.assignee", "assignee", "Leo", "t17"), Remove(task="t12"),
          Complete(task="t16")]),
    )  # fmt: skip


def _asked(plan: TaskGraph, text: str, *focus: str) -> Question:
    check = Asker(plan, focus or ("t1",)).ask(read_question(text))
    assert check is not None
    return check.question


@pytest.mark.parametrize(
    ("text", "kind", "tasks"),
    [
        ("Where are we going?", "value", ("t2",)),
        ("When do we leave?", "value", ("t5", "t6")),
        ("What time is it?", "value", ("t6",)),
        ("What time do we leave and from where?", "value", ("t6", "t7")),
        ("Who's travelling?", "value", ("t3", "t4")),
        ("Which hotel are we staying at?", "value", ("t8",)),
        ("What are the hotel and the destination?", "value", ("t8", "t2")),
        ("Who does the invitations?", "value", ("t18",)),
        ("What does Leo have to do?", "value", ("t17",)),
        ("What's the wifi password?", "value", ()),
        ("What is the hotel's phone number?", "value", ()),
        ("What's the capital of Australia?", "value", ()),
        ("What goes into the soup?", "list", ("t9",)),
        ("What's in the soup and the dumplings?", "list", ("t9", "t13")),
        ("What do the dumplings need?", "list", ("t13",)),
        ("list the guests", "list", ("t3", "t4")),
        ("show me all my tasks", "list", ()),
        ("How many ingredients are in the soup?", "count", ("t9",)),
        ("How many people are travelling?", "count", ("t3", "t4")),
        ("What needs to be done before painting the fence?", "needs", ("t15",)),
        ("What depends on the onions?", "dependents", ("t11",)),
        ("Summarize the trip", "summary", ("t1",)),
        ("Give me the whole picture", "summary", ()),
        ("Why isn't celery in the soup any more?", "why", ("t10",)),
        ("Why Chicago?", "why", ("t7",)),
        ("What was the start before?", "before", ("t7",)),
        ("Where was it originally?", "before", ("t2",)),
        ("Is the fence sanded?", "status", ("t16",)),
        ("Was the salt removed?", "status", ("t12",)),
    ],
)
def test_what_a_question_is_about(plan: TaskGraph, text: str, kind: str, tasks: tuple[str, ...]) -> None:
    question = _asked(plan, text)
    assert (question.kind, question.tasks) == (kind, tasks)


@pytest.mark.parametrize(
    ("text", "verdict", "task"),
    [
        ("Wasn't I departing from Boston?", "was", "t7"),
        ("Are we flying from Denver?", "never", "t7"),
        ("Was the destination ever Paris?", "never", "t2"),
        ("Isn't the destination Rome?", "holds", "t2"),
        ("isn't the hotel Grand?", "holds", "t8"),
        ("Is Bo coming?", "holds", "t4"),
        ("Is Carla coming?", "never", "t1"),
        ("Is there celery in the soup?", "was", "t10"),
        ("I think celery was never in the soup.", "was", "t10"),
        ("Is flour part of the soup?", "never", "t9"),
        ("Are the onions used in the dumplings?", "holds", "t11"),
        ("Was Ana ever doing the invitations?", "never", "t17"),
        ("Wasn't Leo doing the invitations?", "holds", "t18"),
        ("Isn't the trip on June 12th?", "never", "t5"),
        ("Is it on June 10th?", "holds", "t5"),
        ("Did I ask you to remove salt?", "holds", "t12"),
        ("Did I ever ask you to remove the onions?", "never", "t11"),
        ("was caviar ever in there?", "never", None),
    ],
)
def test_what_the_history_says_of_a_claim(plan: TaskGraph, text: str, verdict: str, task: str | None) -> None:
    found = answer(plan, _asked(plan, text)).verdict
    assert found is not None
    assert found.kind == verdict
    assert task is None or found.task == task


def test_what_asks_nothing_is_no_question(plan: TaskGraph) -> None:
    asker = Asker(plan, ("t1",))
    assert asker.ask(Step(text="thanks", act="chat")) is None
    assert asker.ask(read_question("Is that right?")) is None


def test_tasks_that_are_known_are_kept(plan: TaskGraph) -> None:
    step = Step(text="?", act="ask", target="it", task="t8", within_task="t1", asked=Asked(kind="value"))
    check = Asker(plan, ()).ask(step)
    assert check is not None
    assert (check.question.tasks, check.question.container) == (("t8",), "t1")


def test_questions_on_an_empty_plan() -> None:
    for text, _, _ in READINGS:
        check = Asker(TaskGraph(), ()).ask(read_question(text))
        assert check is None or answer(TaskGraph(), check.question).tasks == ()


def test_a_claim_about_nothing_is_unknown(plan: TaskGraph) -> None:
    for graph in (TaskGraph(), plan):
        found = answer(graph, Question(kind="claim", about="zeppelin", value="")).verdict
        assert found is not None
        assert found.kind == "unknown"
