"""Long-term memory in talk: what earlier sessions tell the next one, for whom, and what if it fails."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from taskloom.agent.graph.nodes import remember
from taskloom.agent.graph.services import Services, Voice
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.reading.with_memory import read_with_memory
from taskloom.agent.recall.experiences import ExperiencedInterpreter
from taskloom.agent.recall.longterm import BUFFER, LongTerm
from taskloom.agent.recall.memory import Examples, Memory
from taskloom.agent.recall.units import summary
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.state import Context, Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.embed import packaged
from taskloom.memory.outbox import Outbox
from taskloom.memory.records import Experience, Fact, IntentUnit, Pair, now
from taskloom.memory.store import ChromaStore, InMemoryStore, StoreError
from taskloom.memory.tasks import TaskGraph, TaskNode
from tests.chroma_server import ChromaServer, HashEmbedder

MODEL = packaged()
BERGEN = "Book a hotel in Bergen from June 3 to June 5 for two people."


def services(home: Path, store: Any) -> Services:
    """A reader, and a long-term memory in a store, or in what a function opens."""
    template = TemplateResponder()
    voice = Voice(ExperiencedInterpreter(local_reader()), template)
    opener = store if callable(store) else lambda: store
    longterm = LongTerm(opener, lambda: Outbox(home / "outbox.sqlite"))
    return Services(voice=lambda model: voice, template=template, memory=longterm)


class Talk:
    """Turns of users on threads."""

    def __init__(self, home: Path, store: Any) -> None:
        self.app = Taskloom.open(Settings(home=home), services=services(home, store))

    def __call__(self, utterance: str, thread: str = "a", user: str = "ann", memory: bool = True) -> Turn:
        return self.app.talk(utterance, thread=thread, context=Context(user_id=user, memory=memory))

    @property
    def longterm(self) -> LongTerm:
        assert self.app.longterm is not None
        return self.app.longterm

    def values(self, thread: str, status: str = "filled") -> dict[str, str | None]:
        """Values of a thread's tasks of one status, by title."""
        nodes = self.app.tasks(thread).values()
        return {node.title: node.value for node in nodes if node.status == status and node.parent}

    def records(self, user: str = "ann") -> tuple[Any, ...]:
        self.longterm.flush()
        return self.longterm.store.records(user)


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(MODEL)


@pytest.fixture
def talk(tmp_path: Path, store: InMemoryStore) -> Iterator[Talk]:
    opened = Talk(tmp_path, store)
    with opened.app:
        yield opened


# ---- three sessions -------------------------------------------------------------------------------


def test_a_request_as_last_time_is_proposed_and_confirmed_in_part(talk: Talk) -> None:
    talk(BERGEN, "a")
    talk("The budget is 200 euros", "a")
    turn = talk("Book a hotel, same as last time but for three people", "b")
    assert talk.values("b") == {"people": "three"}
    assert talk.values("b", "proposed") == {
        "location": "Bergen",
        "date": "June 3 to June 5",
        "budget": "200 euros",
    }
    proposed = [node for node in talk.app.tasks("b").values() if node.status == "proposed"]
    (unit,) = [one for one in talk.records() if isinstance(one, IntentUnit) and one.thread == "a"]
    assert {node.source for node in proposed} == {f"memory:{unit.id}"}
    assert turn.proposals == tuple(node.id for node in proposed)
    assert turn.reply.count("?") == 1
    assert all(value in turn.reply for value in ("Bergen", "June 3 to June 5", "200 euros"))

    talk("yes, except the budget", "b")
    assert talk.values("b") == {"people": "three", "location": "Bergen", "date": "June 3 to June 5"}
    assert talk.values("b", "proposed") == {}

    talk("Same again", "c")
    assert talk.values("c", "proposed") == talk.values("b"), "of the newest one, as it was left"
    talk("only the location", "c")
    assert talk.values("c") == {"location": "Bergen"}


def test_what_the_latest_one_never_had_comes_from_the_one_before(talk: Talk) -> None:
    talk(BERGEN, "a")
    talk("The budget is 200 euros", "a")
    talk("Book a hotel in Oslo for four people", "b")
    talk("Book a flight to Rome", "c")
    talk("Book a hotel, same as last time", "d")
    assert talk.values("d", "proposed") == {
        "location": "Oslo",
        "people": "four",
        "date": "June 3 to June 5",
        "budget": "200 euros",
    }
    talk("yes, except the budget", "d")
    talk("Book a hotel, same as last time", "e")
    assert talk.values("e", "proposed") == talk.values("d"), "what was not wanted is not offered again"


def test_what_was_removed_or_is_in_an_older_list_is_not_offered(talk: Talk) -> None:
    talk("Plan a dinner on Friday and invite Maria and Ken", "a")
    talk("The budget is 200 euros", "a")
    talk("Plan a dinner on Monday and invite Kim", "b")
    talk("The budget is 300 euros", "b")
    talk("Remove the budget", "b")
    talk("Plan a dinner, same as last time", "c")
    offered = [node for node in talk.app.tasks("c").values() if node.status == "proposed"]
    assert {node.value or node.title for node in offered} == {"Monday", "Kim"}


def test_a_changed_value_takes_the_place_of_the_proposed_one(talk: Talk) -> None:
    talk(BERGEN, "a")
    talk("Same again", "b")
    talk("no, make it four people", "b")
    assert talk.values("b")["people"] in ("four", "4", "four people")
    assert "people" not in talk.values("b", "proposed")


@pytest.mark.parametrize("question", ["What did I book in {month}?", "Which hotel did I book last time?"])
def test_what_was_booked_is_told_with_its_day(talk: Talk, question: str) -> None:
    talk(BERGEN, "a")
    today = datetime.now().astimezone()
    turn = talk(question.format(month=f"{today:%B}"), "b")
    assert f"{today:%B} {today.day}, {today.year}" in turn.reply
    assert "Bergen" in turn.reply
    assert len(talk.app.tasks("b")) == 0, "a question changes nothing"


def test_last_time_is_the_last_time(talk: Talk) -> None:
    talk("Book a hotel in Bergen for two people", "a")
    talk("Book a hotel in Oslo for three people", "b")
    assert "Oslo" in talk("Which hotel did I book last time?", "c").reply
    talk("Book a hotel, same as last time", "d")
    assert talk.values("d", "proposed")["location"] == "Oslo"


def test_a_named_value_tells_which_one(talk: Talk) -> None:
    talk("Book a hotel in Bergen for two people", "a")
    talk("Book a hotel in Oslo for three people", "b")
    talk("Rent a car in Rome for two people", "c")
    talk("Book the hotel in Bergen again", "d")
    assert talk.values("d", "proposed").get("people") == "two"


def test_nothing_is_told_of_a_time_in_which_nothing_was(talk: Talk) -> None:
    talk(BERGEN, "a")
    turn = talk("What did I book in 1999?", "b")
    assert "Bergen" not in turn.reply
    assert turn.earlier == ()


@pytest.mark.parametrize(
    "words", ["Book a hotel, same as last time", "Same again", "What did I book last week?"]
)
def test_without_a_memory_nothing_is_made_up(talk: Talk, words: str) -> None:
    turn = talk(words)
    assert turn.recalled is None
    assert turn.proposals == ()
    assert not talk.values("a", "proposed")
    assert "earlier session" not in turn.reply


def test_a_task_that_left_the_plan_is_not_proposed(talk: Talk) -> None:
    talk("Book a hotel in Bergen for two people", "a")
    talk("Book a hotel in Oslo for three people", "b")
    talk("Cancel the hotel", "b")
    talk("Same again", "c")
    assert talk.values("c", "proposed").get("location") == "Bergen"


HOTEL = {
    "title": "Hotel",
    "description": "book a hotel",
    "properties": {
        "location": {"type": "string", "description": "city in which the hotel is"},
        "party_size": {"type": "string", "description": "number of people that stay"},
        "budget": {"type": "string", "description": "most that it may cost"},
    },
    "required": ["location", "party_size"],
}


def test_slots_of_a_schema_are_filled_from_memory_and_asked_for_without(talk: Talk) -> None:
    def say(utterance: str, thread: str, user: str) -> Turn:
        context = Context(user_id=user, schemas=[HOTEL])
        return talk.app.talk(utterance, thread=thread, context=context)

    say("Book a hotel in Bergen for 2 people", "a", "ann")
    say("The budget is 200 euros", "a", "ann")
    turn = say("Book a hotel for 3 people", "b", "ann")
    assert talk.values("b", "proposed") == {"location": "Bergen"}, "what is needed and missing"
    assert turn.question is None
    say("yes", "b", "ann")
    turn = say("Book a hotel for 3 people", "c", "bob")
    assert turn.proposals == ()
    assert turn.question is not None
    assert "location" in turn.question.question
    say("Book a hotel, same as last time", "d", "ann")
    assert talk.values("d", "proposed") == {"location": "Bergen", "party size": "3"}
    say("yes, except the location", "d", "ann")
    say("Book a hotel, same as last time", "e", "ann")
    assert talk.values("e", "proposed") == {"party size": "3"}, "what was not wanted is not offered again"


def test_sessions_of_many_users_do_not_pile_up(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskloom.agent.recall.sessions.KNOWN", 2)
    for user in ("ann", "bob", "eve"):
        talk("Book a hotel in Bergen", f"of {user}", user=user)
    assert [one.value for one in talk.records("ann") if isinstance(one, Fact) and one.value] == ["Bergen"]
    assert not any(isinstance(one, Fact) for one in talk.records("eve")), "that one goes on"


# ---- facts ----------------------------------------------------------------------------------------


def test_facts_come_in_with_former_ones_as_history(talk: Talk) -> None:
    talk(BERGEN, "a")
    talk("The budget is 200 euros", "a")
    talk("Make the budget 300 euros", "a")
    talk("The hotel is done", "a")
    facts = {one.text: one for one in talk.records() if isinstance(one, Fact)}
    budget = [one for one in facts.values() if one.slot and one.slot.endswith("budget")]
    assert [(one.value, one.status) for one in budget] == [("200 euros", "former"), ("300 euros", "current")]
    assert budget[0].until == budget[1].at
    assert budget[0].id in budget[1].rests_on
    assert summary(budget[0]).startswith("(former) ")
    talk("Same again", "b")
    assert talk.values("b", "proposed")["budget"] == "300 euros"


# ---- idempotence and concurrency ------------------------------------------------------------------


class Run:
    """What LangGraph hands to a node, as far as these nodes look at it."""

    def __init__(self, thread: str) -> None:
        self.context = Context(user_id="ann")
        self.execution_info = type("Info", (), {"thread_id": thread})()


def test_a_node_that_runs_twice_writes_once(talk: Talk, tmp_path: Path, store: InMemoryStore) -> None:
    talk(BERGEN, "a")
    talk("The hotel is done", "a")
    values = talk.app.state("a").values
    before = talk.records()
    assert {one.kind for one in before} == {"unit", "fact", "experience"}
    given = services(tmp_path, store)
    state: Any = {**values, "pending": (), "unwritten": ()}
    first, second = (remember(state, Run("a"), services=given) for _ in range(2))  # type: ignore[arg-type]
    assert [one.experience.id for one in first["pending"]] == [one.experience.id for one in second["pending"]]
    assert given.memory
    given.memory.close()
    after = talk.records()
    assert {one.id for one in after} == {one.id for one in before}
    assert len({one.id for one in after}) == len(after)


def test_sixteen_threads_at_once_lose_nothing(tmp_path: Path) -> None:
    store = InMemoryStore(HashEmbedder())
    talk = Talk(tmp_path, store)
    cities = ["Oslo", "Rome", "Paris", "Berlin"] * 4

    def session(number: int) -> None:
        thread = f"t{number}"
        talk(f"Book a hotel in {cities[number]} for {number + 2} people", thread)
        talk("thanks", thread)
        talk("thank you", thread)
        talk("The hotel is done", thread)

    with talk.app:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(session, range(16)))
        found = talk.records()
        assert talk.longterm.outbox.waiting() == ()
    units = {one.thread: one for one in found if isinstance(one, IntentUnit)}
    assert len(units) == 16
    for number, city in enumerate(cities):
        assert city in {pair.answer for pair in units[f"t{number}"].pairs}
    made = [one for one in found if isinstance(one, Experience)]
    assert {one.thread for one in made} == set(units)
    assert len({one.step for one in made}) == len(made), "each has a place of its own in the user's stream"
    cities_told = {(one.thread, one.value) for one in found if isinstance(one, Fact)}
    assert {(f"t{number}", city) for number, city in enumerate(cities)} <= cities_told


def test_one_users_memory_is_never_proposed_to_another(talk: Talk) -> None:
    talk("Book a hotel in Bergen for two people", "a", user="ann")
    talk("Book a hotel in Oslo for nine people", "b", user="bob")
    for words in ("Same again", "Book a hotel, same as last time", "the hotel in Oslo again"):
        thread = f"ann {words}"
        turn = talk(words, thread, user="ann")
        assert "Oslo" not in talk.values(thread, "proposed").values()
        assert "nine" not in turn.reply
    for words in ("What did I book last time?", "Which hotel did I book before?"):
        assert "Bergen" not in talk(words, f"bob {words}", user="bob").reply
        assert talk(words, f"eve {words}", user="eve").earlier == ()


def test_a_run_without_memory_reads_and_writes_nothing(talk: Talk) -> None:
    talk(BERGEN, "a")
    before = talk.records()
    for words in (BERGEN, "The hotel is done", "thanks", "Same again", "What did I book last time?"):
        turn = talk(words, "b", memory=False)
        assert (turn.recalled, turn.earlier, turn.examples) == (None, (), ())
        assert turn.proposals == ()
    state = talk.app.state("b").values
    assert (state.get("pending", ()), state.get("unwritten", ())) == ((), ())
    assert talk.records() == before


def test_thread_and_memory_without_a_service_go_on(tmp_path: Path) -> None:
    template = TemplateResponder()
    voice = Voice(local_reader(), template)
    given = Services(voice=lambda model: voice, template=template)
    with Taskloom.open(Settings(home=tmp_path), services=given) as app:
        assert app.longterm is None
        assert app.talk("Plan a dinner on Friday").changes
        assert app.talk("Same again").recalled is None
    assert not (tmp_path / "outbox.sqlite").exists()


# ---- when it fails --------------------------------------------------------------------------------


def waits(talk: Talk) -> int:
    return len(talk.longterm.outbox.waiting("ann"))


def test_a_server_that_is_down_costs_the_memory_and_not_the_turn(tmp_path: Path) -> None:
    with ChromaServer(tmp_path / "chroma") as server:

        def opened() -> ChromaStore:
            return ChromaStore.server(server.url, MODEL)

        talk = Talk(tmp_path, opened)
        with talk.app:
            talk(BERGEN, "a")
            assert talk("Same again", "b").recalled is not None
            server.kill()
            turn = talk("Same again", "c")
            assert "without what earlier sessions tell" in turn.note
            assert "without what earlier sessions tell" in turn.reply
            assert talk("Plan a dinner on Friday", "d").changes
            assert talk("What did I book last time?", "e").reply
            assert waits(talk) > 0
    talk = Talk(tmp_path, InMemoryStore(MODEL))
    with talk.app:
        assert {one.thread for one in talk.records() if isinstance(one, IntentUnit)} >= {"d"}
        assert waits(talk) == 0


HOLD = """
import sys
from pathlib import Path
from taskloom.memory.store import ChromaStore
from tests.chroma_server import HashEmbedder
with ChromaStore.embedded(Path(sys.argv[1]), HashEmbedder()) as store, store._asking():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_that_is_in_use_elsewhere_is_told_and_what_is_kept_comes_in_later(tmp_path: Path) -> None:
    embedder = HashEmbedder()

    def opened() -> ChromaStore:
        return ChromaStore.embedded(tmp_path / "memory", embedder, wait=0.2)

    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "memory"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    talk = Talk(tmp_path, opened)
    with talk.app:
        assert talk(BERGEN, "a").changes
        turn = talk("Same again", "b")
        assert "chroma run" in turn.reply
        talk("The hotel is done", "a")
        assert waits(talk) > 0
        holder.communicate("")
        assert talk("Same again", "c").recalled is not None, "as soon as it is free"
        assert {one.thread for one in talk.records() if isinstance(one, IntentUnit)} == {"a", "c"}
        assert waits(talk) == 0


@pytest.mark.attack
def test_a_damaged_folder_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "chroma.sqlite3").write_bytes(b"no database" * 100)

    def opened() -> ChromaStore:
        return ChromaStore.embedded(tmp_path / "memory", HashEmbedder())

    talk = Talk(tmp_path, opened)
    with talk.app:
        assert talk(BERGEN, "a").changes
        assert "without what earlier sessions tell" in talk("Same again", "b").reply
        assert waits(talk) > 0
        (tmp_path / "memory" / "chroma.sqlite3").unlink()
        assert talk("Same again", "c").recalled is not None


class Flaky(InMemoryStore):
    """A store that can be made to fail."""

    broken = False

    def _write(self, user: str, records: Sequence[Any], vectors: Any) -> None:
        if self.broken:
            raise StoreError("it is broken")
        super()._write(user, records, vectors)

    def search(self, *given: Any, **more: Any) -> Any:
        if self.broken:
            raise StoreError("it is broken")
        return super().search(*given, **more)


def test_what_failed_comes_in_with_what_is_written_next(tmp_path: Path) -> None:
    store = Flaky(MODEL)
    talk = Talk(tmp_path, store)
    with talk.app:
        store.broken = True
        talk(BERGEN, "a")
        assert "it is broken" in talk("Book a hotel, same as last time", "b").reply
        tried = [one for one in talk.longterm.outbox.waiting("ann") if one.tries]
        assert tried
        assert all("it is broken" in one.error for one in tried)
        store.broken = False
        talk("Plan a dinner on Friday", "c")
        talk("The dinner is done", "c")
        assert {one.thread for one in talk.records() if isinstance(one, IntentUnit)} >= {"a", "c"}
        assert waits(talk) == 0


def test_the_next_process_writes_what_the_last_one_left(tmp_path: Path, store: InMemoryStore) -> None:
    with Talk(tmp_path, store).app as app:
        app.talk(BERGEN, thread="a", context=Context(user_id="ann"))
    talk = Talk(tmp_path, store)
    with talk.app:
        talk("Same again", "b")
        assert talk.values("b", "proposed")["location"] == "Bergen"


def test_forgotten_is_forgotten_and_talk_goes_on(talk: Talk) -> None:
    talk(BERGEN, "a")
    talk(BERGEN, "b", user="bob")
    talk.longterm.forget("ann")
    assert talk("Same again", "c").recalled is None
    assert talk("Same again", "d", user="bob").recalled is not None


# ---- the pieces -----------------------------------------------------------------------------------


def unit(number: int, **fields: Any) -> IntentUnit:
    pair = Pair(slot="location", question="What is the location?", answer="Bergen", title="location")
    given = {
        "id": f"u{number}", "text": f"book a hotel {number}", "intent": "hotel", "title": "book a hotel",
        "at": datetime(2026, 5, 1, tzinfo=UTC) + timedelta(days=number), "pairs": (pair,), "thread": "old",
    }  # fmt: skip
    return IntentUnit.model_validate({**given, **fields})


def test_a_full_buffer_is_written_beside_the_talk(
    tmp_path: Path, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.agent.recall.longterm.QUIET", 3600.0)
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "o.sqlite"))
    longterm.keep("ann", [], [])
    for number in range(BUFFER - 1):
        longterm.keep("ann", [unit(number)], [])
    assert store.count("ann") == 0
    longterm.keep("ann", [unit(BUFFER)], [])
    longterm.close()
    assert store.count("ann") == BUFFER


def test_what_waits_is_written_when_it_is_quiet(
    tmp_path: Path, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.agent.recall.longterm.QUIET", 0.05)
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "o.sqlite"))
    for number in range(2):
        longterm.keep("ann", [unit(number)], [])
        until = time.monotonic() + 60
        while store.count("ann") <= number and time.monotonic() < until:
            time.sleep(0.01)
        assert store.count("ann") == number + 1
    longterm.close()


def test_a_reply_does_not_wait_for_more_than_it_asks_for(
    tmp_path: Path, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.agent.recall.longterm.QUIET", 3600.0)
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "o.sqlite"))
    longterm.keep("ann", [unit(1, thread="here"), unit(2, thread="there")], [])
    assert longterm.examples("ann", "book a hotel") == ()
    assert store.count("ann") == 0, "no experience waits"
    assert [one.unit.id for one in longterm.likely_units("ann", "book a hotel", thread="here")] == ["u2"]
    assert [one.id for one in store.records("ann")] == ["u2"], "its own thread is not asked"
    assert longterm.flush() == 1
    longterm.close()


def test_a_reply_goes_on_without_what_takes_too_long(
    tmp_path: Path, store: InMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskloom.agent.recall.longterm.PATIENCE", 0.0)
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "o.sqlite"))
    left_to: list[str] = []
    monkeypatch.setattr(longterm, "write_soon", lambda: left_to.append("the worker"))
    longterm.outbox.add("ann", [unit(1)])
    assert longterm.likely_units("ann", "book a hotel", thread="here") == ()
    assert left_to == ["the worker"]
    assert longterm.flush() == 1
    longterm.close()


def test_a_plan_that_is_loaded_was_not_told_in_the_turns_before(talk: Talk) -> None:
    talk(BERGEN, "a")
    nodes = [
        TaskNode(id="t1", slot="trip", title="trip to Oslo", turn=1),
        TaskNode(id="t2", slot="trip.budget", title="budget", value="900 euros", parent="t1", turn=1,
                 status="filled"),
    ]  # fmt: skip
    talk.app.load(TaskGraph(nodes).to_json(), thread="a", context=Context(user_id="ann"))
    talk("Make the budget 800 euros", "a")
    talk("The trip to Oslo is done", "a")
    facts = {one.text for one in talk.records() if isinstance(one, Fact)}
    assert any("Bergen" in one for one in facts), "the plan before is told as it was"
    assert any("800" in one for one in facts)
    assert not any("Oslo" in one and "900" in one for one in facts)


def test_a_store_that_cannot_be_opened_keeps_all_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refused() -> InMemoryStore:
        raise StoreError("no store here")

    longterm = LongTerm(refused, lambda: Outbox(tmp_path / "o.sqlite"))
    longterm.keep("ann", [unit(1, status="done")], [])
    with pytest.raises(StoreError, match="no store here"):
        longterm.flush()
    assert len(longterm.outbox.waiting("ann")) == 1
    longterm.close()
    assert "long-term memory waits: no store here" in caplog.text


def test_examples_are_looked_up_once_and_only_when_asked_for() -> None:
    looked = []

    def look() -> Sequence[Experience]:
        looked.append(1)
        return []

    recall = Examples(look)
    assert recall.found is None
    assert recall() == recall() == ()
    assert looked == [1]


def test_a_memory_that_is_none_gives_nothing() -> None:
    memory = Memory(None, "ann", "a")
    assert not memory
    assert (memory.examples("x"), memory.unit("x"), memory.latest()) == ((), None, None)
    assert memory.earlier("x", now()) == ()
    memory.keep(TaskGraph({}), Turn(), (), [])
    assert not memory.session((), TaskGraph({}), closed=True)


class Model:
    """Reads everything as one step, and says what it was given."""

    def __init__(self, act: Any) -> None:
        self.act, self.given = act, list[str]()

    def read(self, utterance: str, view: View) -> Reading:
        self.given.append(utterance)
        return Reading((Step(text=utterance, act=self.act, title="hotel"),))


@pytest.mark.parametrize("act", ["task", "chat"])
def test_words_that_point_back_are_read_without_the_pointer(
    tmp_path: Path, store: InMemoryStore, act: str
) -> None:
    longterm = LongTerm(lambda: store, lambda: Outbox(tmp_path / "o.sqlite"))
    longterm.keep("ann", [unit(1)], [])
    model = Model(act)
    said = "Book a hotel, same as last time but for three people"
    reading, recalled = read_with_memory(
        said, View(graph=TaskGraph({})), model, Memory(longterm, "ann", "new")
    )
    assert model.given == [said, "Book a hotel for three people"]
    assert reading.steps[0].text == said
    if act == "task":
        assert recalled is not None
        assert recalled.id == "u1"
    else:
        assert recalled is None
    longterm.close()


# ---- when it fails, or has nothing ----------------------------------------------------------------


def test_nothing_is_embedded_to_look_up_where_nothing_is_kept(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    talk = Talk(tmp_path, InMemoryStore(embedder))
    with talk.app:
        for text in (
            "Same again",
            "Is Mia allergic to anything?",
            "What did I book last time?",
            "Plan a trip",
        ):
            talk(text, "a")
        assert embedder.calls == 0
        talk(BERGEN, "b")
        assert talk("Same again", "c").recalled
    assert embedder.calls > 0


@pytest.mark.attack
def test_a_damaged_queue_costs_the_memory_and_not_the_turn(tmp_path: Path, store: InMemoryStore) -> None:
    (tmp_path / "outbox.sqlite").write_bytes(b"no database" * 500)
    talk = Talk(tmp_path, store)
    with talk.app:
        assert talk(BERGEN, "a").changes
        assert "without what earlier sessions tell" in talk("Same again", "b").reply


def test_an_embedder_that_fails_costs_the_memory_and_not_the_turn(tmp_path: Path) -> None:
    class Down(HashEmbedder):
        def __call__(self, texts: Sequence[str]) -> Any:
            raise ConnectionError("the endpoint is down")

    talk = Talk(tmp_path, InMemoryStore(Down()))
    with talk.app:
        assert talk(BERGEN, "a").changes
        assert "without what earlier sessions tell" in talk("Book a hotel, same as last time", "b").note
        assert talk("What did I book last time?", "c").reply


def test_forgotten_words_of_a_session_under_way_do_not_come_back(
    tmp_path: Path, store: InMemoryStore
) -> None:
    talk = Talk(tmp_path, store)
    with talk.app:
        talk(BERGEN, "a")
        talk.longterm.forget("ann")
    with Outbox(tmp_path / "outbox.sqlite") as outbox:
        assert outbox.waiting("ann") == ()
    assert store.count("ann") == 0


def test_going_to_and_fro_between_threads_costs_no_call_a_turn(tmp_path: Path, store: InMemoryStore) -> None:
    told: list[int] = []

    class Counts:
        def __call__(self, turns: Sequence[Any]) -> tuple[()]:
            told.append(len(turns))
            return ()

        def decide(self, clusters: Any) -> tuple[()]:
            return ()

    template, narrator = TemplateResponder(), Counts()
    voice = Voice(ExperiencedInterpreter(local_reader()), template)
    longterm = LongTerm(
        lambda: store,
        lambda: Outbox(tmp_path / "o.sqlite"),
        None,
        lambda: narrator,  # type: ignore[arg-type,return-value]
    )
    given = Services(voice=lambda model: voice, template=template, memory=longterm)
    with Taskloom.open(Settings(home=tmp_path), services=given) as app:
        for number in range(10):
            app.talk(f"Plan a dinner {number} on Friday", thread="a")
            app.talk(f"Plan a lunch {number} on Friday", thread="b")
    assert sum(told) <= 20
    assert len(told) <= 4


def test_a_run_that_names_no_user_remembers_nothing_for_the_next_one(
    tmp_path: Path, store: InMemoryStore
) -> None:
    """A host's customers who come without a name must not see each other's tasks."""
    talk = Talk(tmp_path, store)
    graph = talk.app.graph
    with talk.app:
        for thread, context in (("a", None), ("b", Context()), ("c", Context(reply_style="template"))):
            for words in (BERGEN, "Same again"):
                config: RunnableConfig = {"configurable": {"thread_id": f"{thread} {words}"}}
                graph.invoke({"messages": [HumanMessage(words)]}, config, context=context)
            assert not any(node.source != "user" for node in talk.app.tasks(f"{thread} Same again").values())
        assert talk.records("local") == ()
        graph.invoke(
            {"messages": [HumanMessage(BERGEN)]},
            {"configurable": {"thread_id": "d"}},
            context=Context(user_id="local"),
        )
        assert talk.records("local") != ()
