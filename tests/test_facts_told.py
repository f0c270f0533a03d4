"""Facts as answers: what was told in one session is found in the next, and nothing that was not."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from taskloom.agent.graph.services import Voice
from taskloom.agent.language.statements import statements
from taskloom.agent.reading.local import packaged as local_reader
from taskloom.agent.recall.facts import answering_facts, covers, fact_lines, parse_question
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.reading import Usage
from taskloom.agent.turn.state import Context, Turn
from taskloom.memory.consolidate import Exchange, Unit, facts_of
from taskloom.memory.ranking import Hit
from taskloom.memory.records import Fact, now
from taskloom.memory.store import InMemoryStore, StoreError
from tests.test_longterm import MODEL, Talk, services

ASKED = json.loads((Path(__file__).parent / "facts_asked.json").read_text(encoding="utf-8"))
MISSED = {
    "Can I drink milk?": "read as something to do; lactose is an inference",
    "What does Victor do for a living?": "nothing says that a chef is a job",
    "Should I throw Kim a surprise party?": "no question of what was told",
}


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(MODEL)


@pytest.fixture
def talk(tmp_path: Path, store: InMemoryStore) -> Iterator[Talk]:
    opened = Talk(tmp_path, store)
    with opened.app:
        yield opened


def ids(turn: Turn) -> tuple[str, ...]:
    return tuple(key for known in turn.known for key in known.facts)


NOT_YET = frozenset(
    (
        "For how many people is the table?",
        "What's the landlord's email address?",
        "Who is my boss?",
    )
)  # read otherwise than meant, so that what is known is not told


def known(turn: Turn) -> str:
    """What facts tell in a turn; '' where they tell nothing."""
    return " ".join(line for one in turn.known for line in one.lines)


# ---- told, asked, expected ------------------------------------------------------------------------


GROUPS = [(name, n, group) for name, groups in ASKED.items() for n, group in enumerate(groups)]


@pytest.mark.parametrize(("name", "number", "group"), GROUPS, ids=[f"{name} {n}" for name, n, _ in GROUPS])
def test_the_next_session_answers_what_was_told_and_nothing_else(
    talk: Talk, name: str, number: int, group: dict[str, Any]
) -> None:
    for line in group["told"]:
        talk(line, "first")
    for at, (question, expected) in enumerate(group["asked"]):
        turn = talk(question, f"next {at}")
        if expected is None or question in MISSED:
            assert turn.known == (), question
            assert "told me" not in turn.reply
        else:
            told = all(word in turn.reply for word in expected)
            assert told is (question not in NOT_YET), (question, turn.reply)


def test_there_are_enough_questions_and_a_third_has_no_answer() -> None:
    answers = [expected for _, _, group in GROUPS for _, expected in group["asked"]]
    assert len(answers) >= 120
    assert 3 * answers.count(None) >= len(answers)


# ---- what holds, what held ------------------------------------------------------------------------


def test_what_was_superseded_is_told_as_history_only(talk: Talk) -> None:
    talk("Mia lives in Oslo.", "a")
    talk("Mia lives in Bergen now.", "b")
    turn = talk("Where does Mia live?", "c")
    assert "Bergen" in turn.reply
    assert "Oslo" not in turn.reply
    turn = talk("Where did Mia live before?", "d")
    assert "Oslo" in turn.reply
    assert "changed earlier today" in turn.reply
    assert "Bergen" not in turn.reply


def test_a_denial_takes_the_place_of_what_it_denies(talk: Talk) -> None:
    talk("Mia is allergic to nuts.", "a")
    talk("Mia isn't allergic to nuts any more.", "b")
    turn = talk("Is Mia allergic to nuts?", "c")
    assert known(turn) == 'You told me earlier today: "Mia isn\'t allergic to nuts any more."'


@pytest.mark.xfail(reason="a number told again is a fact beside the first", strict=True)
def test_a_statement_ends_with_the_task_that_it_was_read_as(talk: Talk) -> None:
    talk("Leo's phone number is 555 0134.", "a")
    talk("Change Leo's phone number to 555 0777.", "a")
    turn = talk("What is Leo's phone number?", "b")
    assert "555 0777" in known(turn)
    assert "555 0134" not in turn.reply
    turn = talk("What was Leo's phone number before?", "b")
    assert "555 0134" in known(turn)


@pytest.mark.xfail(reason="an address that is told as a task is no fact of the person", strict=True)
def test_a_task_of_a_later_thread_replaces_what_an_earlier_one_said(talk: Talk) -> None:
    talk("Mia's address is 12 Rose Lane.", "a")
    talk("Change Mia's address to 4 Hill Road.", "b")
    assert "12 Rose Lane" not in talk("Where does Mia live?", "c").reply
    assert "12 Rose Lane" in talk("Where did Mia live before?", "b").reply


def test_when_something_was_changed_is_told_with_what_it_was(talk: Talk) -> None:
    talk("Book the dentist for Tuesday at 10.", "a")
    talk("Move the dentist to Thursday.", "a")
    lines = known(talk("When did I move the dentist?", "b")).splitlines()
    assert len(lines) == 3
    assert "Tuesday (changed earlier today)" in lines[1]
    assert "Thursday" in lines[2]


def test_a_span_of_time_leaves_out_what_was_told_at_another(talk: Talk) -> None:
    talk("Mia is allergic to nuts.", "a")
    assert talk("What is Mia allergic to?", "b").known
    assert talk("What did I say in 1999 that Mia was allergic to?", "b").known == ()
    assert talk("What was Mia allergic to last year?", "b").known == ()


# ---- people ---------------------------------------------------------------------------------------


def test_a_profile_is_of_whom_it_is_asked(talk: Talk) -> None:
    for line in ("Mia is allergic to nuts.", "Mia plays chess.", "Tom is my cousin.", "I hate early flights.",
                 "Tom and Ana are married."):  # fmt: skip
        talk(line, "a")
    of_mia = known(talk("What do you know about Mia?", "b"))
    assert ("nuts" in of_mia, "chess" in of_mia, "Tom" in of_mia) == (True, True, False)
    of_tom = known(talk("Tell me about Tom", "b"))
    assert ("cousin" in of_tom, "married" in of_tom, "chess" in of_tom) == (True, True, False)
    assert "chess" in known(talk("what do you know about mia", "b")), "small letters do as well"
    of_me = known(talk("What do you know about me?", "b"))
    assert "early flights" in of_me
    assert "Mia" not in of_me


def test_another_users_facts_never_appear(talk: Talk) -> None:
    talk("Mia is allergic to nuts.", "a", user="ann")
    talk("Mia plays chess.", "b", user="bob")
    for question in ("What do you know about Mia?", "Is Mia allergic to anything?", "Does Mia play chess?"):
        of_ann, of_bob = (talk(question, f"next of {user}", user=user) for user in ("ann", "bob"))
        assert "chess" not in of_ann.reply.removesuffix("no record of chess.")  # her own word
        assert "nuts" not in of_bob.reply
        assert talk(question, "next of eve", user="eve").known == ()
    assert ids(of_bob)
    assert not set(ids(of_ann)) & set(ids(of_bob))


# ---- where the tasks answer -----------------------------------------------------------------------


def test_a_thread_tells_of_its_own_tasks_and_of_what_was_said_in_it(talk: Talk) -> None:
    talk("Mia is allergic to nuts.", "a")
    talk("Plan a dinner on Friday", "a")
    assert known(talk("Is Mia allergic to anything?", "a")), "in the same session"
    turn = talk("When is the dinner?", "a")
    assert turn.known == ()
    assert "Friday" in turn.reply


def test_what_a_task_has_taken_is_told_by_the_task(talk: Talk) -> None:
    talk("Fill in the application with me. I speak Mandarin and German.", "a")
    talk("Add French to the application", "a")
    turn = talk("What languages do I have there?", "a")
    assert turn.known == ()


@pytest.mark.xfail(reason="of two questions in one sentence the first is not read", strict=True)
def test_a_task_that_only_names_someone_is_no_answer(talk: Talk) -> None:
    talk("Mia is vegetarian.", "a")
    talk("Plan a dinner with Mia on Friday", "b")
    assert "vegetarian" in talk("Is Mia a vegetarian?", "b").reply
    turn = talk("What do you know about Mia?", "b")
    assert "vegetarian" in turn.reply
    turn = talk("What is the dinner date and is Mia vegetarian?", "b")
    assert "Friday" in turn.reply
    assert [(one.answer, one.instead) for one in turn.known] == [(1, True)]


def test_the_turn_tells_which_facts_were_used(talk: Talk) -> None:
    talk("Mia is allergic to nuts.", "a")
    turn = talk("Is Mia allergic to anything?", "b")
    (record,) = (one for one in talk.records() if isinstance(one, Fact))
    assert ids(turn) == (record.id,)
    assert Turn.model_validate_json(turn.model_dump_json()).known == turn.known
    assert len(talk.app.tasks("b")) == 0


# ---- another process, a model, a fault --------------------------------------------------------------


def test_facts_are_there_when_the_process_begins_anew(tmp_path: Path, store: InMemoryStore) -> None:
    first = Talk(tmp_path, store)
    with first.app:
        first("Mia is allergic to nuts.", "a")
    second = Talk(tmp_path, store)
    with second.app:
        assert "nuts" in second("Is Mia allergic to anything?", "b").reply


class Storyteller:
    """A responder that makes things up."""

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        yield "Mia can eat all she likes."
        return Usage(model_calls=1)


def test_facts_are_told_as_they_are_with_a_model_too(tmp_path: Path, store: InMemoryStore) -> None:
    voice = Voice(local_reader(), Storyteller())
    given = replace(services(tmp_path, store), voice=lambda model: voice, replies="model")
    with Taskloom.open(Settings(home=tmp_path), services=given) as app:
        context = Context(user_id="ann")
        assert "all she likes" in app.talk("Mia is allergic to nuts.", thread="a", context=context).reply
        turn = app.talk("Is Mia allergic to anything?", thread="b", context=context)
    assert turn.reply == 'You told me earlier today: "Mia is allergic to nuts."'
    assert turn.model_calls == 0


def test_what_a_model_told_of_a_session_is_told(talk: Talk) -> None:
    said = "Nora stopped eating meat, she is my sister. And Tom cannot stand parsley."
    turn = Exchange(thread="old", turn=3, at=now() - timedelta(days=40), said=said)
    units = (
        Unit(text="Nora is the user's sister.", sources=(3,), people=("Nora",)),
        Unit(text="Nora stopped eating meat.", sources=(3,), people=("Nora",)),
        Unit(text="Tom cannot stand parsley.", sources=(3,), people=("Tom",)),
    )
    talk.longterm.outbox.add("ann", facts_of(units, [turn]))
    reply = talk("What do you know about Nora?", "b").reply
    assert "Nora is the user's sister" in reply
    assert "parsley" not in reply
    assert "Nora stopped eating meat" in talk("What does Nora eat?", "b").reply
    assert talk("What is my sister's name?", "b").known == ()
    assert "I noted on " in talk("What do you know about Tom?", "b").reply


def test_a_memory_that_fails_is_told_and_nothing_made_up(tmp_path: Path) -> None:
    def refused() -> InMemoryStore:
        raise StoreError("no store here")

    talk = Talk(tmp_path, refused)
    with talk.app:
        turn = talk("Is Mia allergic to anything?")
    assert "no store here" in turn.reply
    assert turn.known == ()


# ---- the pieces -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "people", "slot", "value"),
    [
        ("Mia is allergic to nuts.", ("Mia",), "allerg nut", "yes"),
        ("Mia's allergic to nuts!", ("Mia",), "allerg nut", "yes"),
        ("Mia is no longer allergic to nuts", ("Mia",), "allerg nut", "no"),
        ("By the way, Mia lives in Oslo", ("Mia",), "home", "lives in Oslo"),
        ("Remember that Rob works as a nurse.", ("Rob",), "job", "works as a nurse"),
        ("Tom and Ana are married", ("Tom", "Ana"), "marri", "yes"),
        ("Ana likes jazz and Tom hates it", ("Ana", "Tom"), "like jazz tom hate", "yes"),
        ("I hate early flights", (), "like earli flight", "no"),
        ("I don't like early flights", (), "like earli flight", "no"),
        ("I love early flights", (), "like earli flight", "yes"),
        ("My sister Nora is a vegetarian", ("Nora",), "sister nora vegetarian", "yes"),
        ("Our dog is called Biscuit", (), "dog name", "called Biscuit"),
        ("My doctor is Dr Patel", (), "doctor", "Dr Patel"),
        ("Grandma's favourite flowers are lilies", ("Grandma",), "favourit flower", "lilies"),
        ("The wifi password is hunter2", (), "wifi password", "hunter2"),
        ("i am vegan", (), "vegan", "yes"),
    ],
)
def test_plain_sentences_are_facts(said: str, people: tuple[str, ...], slot: str, value: str) -> None:
    (fact,) = statements([Exchange(thread="a", turn=2, at=now(), said=said)])
    assert (fact.people, fact.slot, fact.value) == (people, f"profile.said.{slot}", value)
    assert fact.sources == (2,)


@pytest.mark.parametrize(
    "said",
    ["Is Mia allergic to nuts?", "Maybe Mia is vegan.", "Add eggs", "I want to book a hotel", "I'm tired",
     "Dinner is at 8", "Thanks, I love it", "My meeting is at 9", "What if Mia is vegan", "Monday is fine",
     "She is late", "Book a table for Mia", "", "..."],
)  # fmt: skip
def test_what_states_nothing_is_no_fact(said: str) -> None:
    assert statements([Exchange(thread="a", turn=1, at=now(), said=said)]) == ()


def test_she_is_who_was_named_just_before() -> None:
    turn = Exchange(thread="a", turn=1, at=now(), said="Mia is coming too. She's allergic to seeds.")
    assert [fact.people for fact in statements([turn])] == [("Mia",), ("Mia",)]
    turn = turn.model_copy(update={"said": "Mia and Ana are coming. She is allergic to seeds."})
    assert [fact.people for fact in statements([turn])] == [("Mia", "Ana")]


def test_two_sentences_in_one_are_two_facts() -> None:
    turn = Exchange(thread="a", turn=1, at=now(), said="Mia is vegetarian and Tom doesn't drink.")
    assert [(one.text, one.people) for one in statements([turn])] == [
        ("Mia is vegetarian.", ("Mia",)),
        ("Tom doesn't drink.", ("Tom",)),
    ]


def test_of_things_only_what_no_task_took_is_kept_and_only_of_the_user() -> None:
    turn = Exchange(thread="a", turn=1, at=now(), said="The boiler has 3 valves.")
    assert statements([turn])
    assert not statements([turn], changed={1})
    assert not statements([turn.model_copy(update={"speaker": "Mia"})])


def fact(key: str, text: str, **fields: Any) -> Fact:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    return Fact.model_validate({"id": key, "text": text, "at": at, "thread": "old", "turn": 1, **fields})


def test_a_deleted_fact_and_one_that_no_search_found_answer_nothing() -> None:
    gone, there = fact("f1", "(deleted)", status="deleted"), fact("f2", "Mia plays chess.", people=("Mia",))
    question = parse_question("Does Mia play chess?")
    assert answering_facts(question, [Hit(gone, 1, 1, 1)], lambda: [gone, there], thread="new") == ()
    assert answering_facts(question, [Hit(there, 1, 1, 1)], lambda: [gone, there], thread="new") == (there,)


def test_numbers_are_never_made_up_for_by_likeness() -> None:
    flight = fact("f1", "The flight to Rome in terminal 2 is AB 123.")
    hits = [Hit(flight, 1, 1, 0.95)]
    assert answering_facts(
        parse_question("Is flight AB 123 leaving gates?"), hits, lambda: [flight], thread="new"
    ) == (flight,)
    assert (
        answering_facts(parse_question("Is flight AB 124 leaving?"), hits, lambda: [flight], thread="new")
        == ()
    )


def test_a_former_fact_is_told_with_when_it_changed() -> None:
    former = fact("f1", "The date is May 2.", status="former", until=datetime(2026, 5, 3, 12, tzinfo=UTC))
    assert fact_lines((former,)) == ("I noted on May 1, 2026: the date is May 2. It changed on May 3, 2026.",)
    endless = former.model_copy(update={"until": None})
    assert fact_lines((former, endless))[1:] == (
        "\n- May 1, 2026: The date is May 2 (changed on May 3, 2026)",
        "\n- May 1, 2026: The date is May 2 (changed since)",
    )
    assert fact_lines(()) == ()


def test_a_text_covers_a_question_that_it_has_all_words_of() -> None:
    assert covers(parse_question("Is Mia coming to the dinner?"), "guest Mia dinner")
    assert not covers(parse_question("Is Mia allergic to anything?"), "guest Mia dinner")
    assert not covers(parse_question("Is Ana coming to the dinner?"), "guest Mia dinner")
