"""What a model reads is done where the user's words ask for it, and proposed where they do not."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.grounding.asking_first import unsaid_and_unasked
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.language.wording import LEFT_OUT, NOT_SAID
from taskloom.agent.models.chat import ModelSettings
from taskloom.agent.models.openai import OpenAIModel
from taskloom.agent.models.responder import ModelResponder
from taskloom.agent.reading.local import Local, packaged
from taskloom.agent.reading.vouched import Vouched
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Style
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Detail, Step
from taskloom.memory.operations import Add, Clarify, Update, apply
from taskloom.memory.tasks import TaskGraph
from tests.openai_server import OpenAIServer, Say


@cache
def local() -> Local:
    return packaged()


def plan() -> TaskGraph:
    """t1 trip: t2 hotel Ritz, t3 date, t4 pack the tent, t5 Bo; t6 cake: t7 20 candles."""
    graph = TaskGraph()
    for slot, title, value, parent in (
        ("trip", "Trip to Rome", None, None), ("trip.hotel", "hotel", "Ritz", "t1"),
        ("trip.date", "date", "Friday 3 June", "t1"), ("trip.task1", "pack the tent", None, "t1"),
        ("trip.guest1", "Bo", None, "t1"), ("task", "bake the cake", None, None),
        ("task.item1", "20 candles", None, "t6"),
    ):  # fmt: skip
        graph = apply(graph, Add(slot=slot, title=title, value=value, parent=parent), turn=1).graph
    return graph


def view() -> View:
    graph = plan()
    return View(graph, turn=2, focus=("t3", "t2", "t1"))


class Says:
    """A model's reading, whatever is said."""

    def __init__(self, *steps: Step, by: str = "model") -> None:
        self.steps, self.by = steps, by

    def read(self, utterance: str, view: View) -> Reading:
        return Reading(self.steps, by=self.by)  # type: ignore[arg-type]


def step(act: str, **more: object) -> Step:
    return Step.model_validate({"text": "", "act": act, **more})


def guest(name: str) -> Step:
    return step("add", within_task="t1", items=(Detail(slot="guest", value=name),))


SAID: tuple[tuple[str, Step], ...] = (
    ("the tent's packed, finally", step("done", task="t4", target="pack the tent")),
    ("That's done.", step("done", task="t3", target="date")),
    ("oh and scrap the cake, nobody wants it", step("remove", task="t6", target="bake the cake")),
    ("Cancel everything except the cake", step("remove", task="t1", target="Trip to Rome")),
    ("tomorrow after all, and a different hotel: the Savoy", step("set", task="t2", value="Savoy")),
    ("make it two days later", step("set", task="t3", value="Sunday 5 June")),
    ("we need ten more candles", step("set", task="t7", value="30 candles")),
    ("halve the candles", step("shift", task="t7", target="20 candles", value="*0.5")),
    ("mum is coming along, and so is Dr. Okafor", guest("Dr Okafor")),
    ("i'll bring the cake myself", step("assign", task="t6", value="me")),
    ("no, put the date back as it was", step("back", task="t3", target="date")),
    ("Undo that, please", step("undo")),
    ("ring the plumber on monday",
     step("task", title="call plumber", details=(Detail(slot="date", value="Mon"),))),
    ("the tent can only be packed once the cake is baked",
     step("need", task="t4", target="tent", items=(Detail(slot="task", value="bake the cake", task="t6"),))),
    ("Bo is out, broke his wrist. So four people.", step("remove", task="t5", target="Bo")),
    ("Bitte streich den Ritz, wir brauchen kein Hotel mehr", step("remove", task="t2", target="hotel")),
)  # fmt: skip

NOT_ASKED: tuple[tuple[str, Step], ...] = (
    ("Set the date to Saturday", step("done", task="t1", target="Trip to Rome")),
    ("Set the date of the trip to Saturday", step("remove", task="t1", target="Trip to Rome")),
    ("Bo is coming along", step("set", task="t2", value="Evil Inn")),
    ("The hotel is the Savoy Inn", step("set", task="t2", value="Evil Inn")),
    ("We are four", step("set", task="t3", value="1 January 2031")),
    ("Add Ann to the trip", guest("Mallory")),
    ("Add Ann to the trip", step("task", title="send the plan to evil@example.org")),
    ("Add Ann to the trip", step("assign", task="t6", value="Mallory")),
    ("Add Ann to the trip", step("assign", task="t6", value="me")),
    ("Add Ann to the trip", step("undo")),
    ("Add Ann to the trip", step("yes")),
    ("Add Ann to the trip", step("only", task="t1", items=(Detail(slot="guest", value="Bo", task="t5"),))),
    ("Ann takes the tent", step("replace", old="Ritz", value="Ann")),
    ("Ann takes the tent", step("shift", task="t7", target="20 candles", value="+500")),
    ("Ann takes the tent", step("need", task="t6", target="bake the cake",
                                items=(Detail(slot="guest", value="Bo", task="t5"),))),
)  # fmt: skip


def test_what_the_words_ask_for_is_done(subtests: pytest.Subtests) -> None:
    for said, read in SAID:
        with subtests.test(said):
            assert Vouched(Says(read), local()).read(said, view()).steps == (read,)


def test_what_they_do_not_ask_for_is_proposed_after_the_rest(subtests: pytest.Subtests) -> None:
    rest = step("chat", value="Fine.")
    for said, read in NOT_ASKED:
        with subtests.test(said, act=read.act):
            reading = Vouched(Says(read, rest), local()).read(said, view())
            assert [one.act for one in reading.steps] == ["chat", "unsure"]
            assert reading.steps[-1].proposed == (read,)
            assert not reading.sure
            assert Vouched(Says(read, by="network"), local()).read(said, view()).steps == (read,)


def test_who_has_a_part_done_does_not_mean_the_whole() -> None:
    part, whole = step("remove", task="t2", target="hotel"), step("remove", task="t1", target="Trip to Rome")
    reading = Vouched(Says(part, whole), local()).read("Remove the hotel from the trip to Rome", view())
    assert reading.steps[0] == part
    assert reading.steps[1].proposed == (whole,)


def test_what_was_proposed_is_not_said_by_the_question() -> None:
    """A no, and then again: the words of the question are not the user's."""
    read = step("set", task="t2", value="Evil Inn")
    (asked,) = Vouched(Says(read), local()).read("Add Ann", view()).steps
    (question,) = ground_exactly((asked,), view())
    assert isinstance(question, Clarify)
    assert question.question == f"{NOT_SAID}set the hotel to Evil Inn?"
    later = replace(view(), question=question, exchanges=(("Add Ann", question.question),))
    assert Vouched(Says(read), local()).read("no, Friday", later).steps[-1].proposed == (read,)


HELD = step("set", task="t2", value="Evil Inn")
ASKED_FIRST: tuple[tuple[str, Step, str], ...] = (
    ("Cancel the yacht", step("remove", target="yacht"), "yacht"),
    ("Is the date Saturday?", step("set", task="t3", value="Saturday"), "Shall I set the date to Saturday?"),
)


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIModel]:
    """One that writes replies, and says nothing in them of what was left out."""
    with OpenAIServer([Say("One question first.")]) as server:
        yield OpenAIModel(ModelSettings("test", SecretStr("any"), server.url, patience=5))


@pytest.mark.parametrize("style", ["template", "model"])
@pytest.mark.parametrize(("said", "read", "asks"), ASKED_FIRST)
def test_what_is_not_asked_about_is_told(
    said: str, read: Step, asks: str, style: Style, model: OpenAIModel
) -> None:
    """A turn asks one question; what else the user did not say is neither done nor passed over."""
    template = TemplateResponder()
    voice = Voice(Vouched(Says(read, HELD), local()), ModelResponder(model) if style == "model" else template)
    graph = build_graph(
        Services(lambda _: voice, template, style, check=lambda reply, brief: ()),
        checkpointer=InMemorySaver(),
    )
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    graph.invoke({"load": plan().to_json()}, config)
    turn = graph.invoke({"messages": [HumanMessage(said)]}, config)["turn"]
    assert turn.question is not None
    assert asks in turn.question.question
    told = f"{LEFT_OUT}set the hotel to Evil Inn."
    asked = "One question first." if style == "model" else turn.question.question
    assert turn.reply.split() == f"{told} {asked}".split()
    assert graph.get_state(config).values["tasks"]["t2"].value == "Ritz"


def test_what_is_asked_about_is_not_told_twice() -> None:
    asked, other = (
        Clarify(question=f"{NOT_SAID}set the hotel to {name}?", choices=(Update(task="t2", value=name),))
        for name in ("Evil Inn", "Ritz")
    )
    assert unsaid_and_unasked((asked,), asked) == ""
    assert unsaid_and_unasked((Clarify(question="Which one?"),), None) == ""
    assert unsaid_and_unasked((asked, other), asked) == f"{LEFT_OUT}set the hotel to Ritz."
