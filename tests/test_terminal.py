"""What is typed at a terminal: lines, keys, answers to its own questions, and what loads meanwhile."""

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from taskloom.agent.cli.chat import Chat
from taskloom.agent.cli.commands import command_of
from taskloom.agent.cli.deciding import instead, verdict
from taskloom.agent.cli.keyboard import HOW_TO_LEAVE, SAY, Keyboard, Names
from taskloom.agent.cli.opening import Opening, Place, converse, thread_exists
from taskloom.agent.cli.options import program
from taskloom.agent.cli.screen import plan_history, task_history, task_tree
from taskloom.agent.language.foreign import asks_who, foreign
from taskloom.agent.language.wording import clip
from taskloom.agent.threads.store import Threads
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.state import Context
from taskloom.memory.operations import Add, apply
from taskloom.memory.tasks import TaskGraph
from tests.scripted import services
from tests.test_cli import Invoke, Screen, chat, invoke, text_of

__all__ = ["invoke"]  # a fixture


# ---- words and answers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("help", "/help"), ("Quit!", "/quit"), ("exit", "/quit"), ("what can you do?", "/help"),
        ("help me!", "/help"), ("?", "/help"), ("q", "/quit"), ("Show tasks", "/tasks"),
        ("help me plan a party", ""),
        ("UNDO.", "/undo"), ("undo the cake", ""), ("tasks for Bob", ""), ("/why cake", "/why cake"),
    ],
)  # fmt: skip
def test_a_word_alone_is_a_command(line: str, command: str) -> None:
    assert command_of(line) == command


def test_commands_without_a_slash(invoke: Invoke) -> None:
    shown = chat(
        invoke, "help", "task trip; put t1 place Rome", "Tasks", "history", "undo", "quit", "set t2 x"
    )
    assert "> help\nSay what you want" in shown
    assert "> Tasks\nt1 trip\n" in shown
    assert "place: Rome" in shown.partition("> history\n")[2]
    assert "> undo\n[2 tasks]" in shown
    assert "> set" not in shown


def test_a_word_that_was_asked_for_is_no_command(invoke: Invoke, tmp_path: Path) -> None:
    schema = {"title": "course", "properties": {"subject": {"type": "string"}}, "required": ["subject"]}
    (tmp_path / "schemas.json").write_text(json.dumps({"type": "object", **schema}))
    typed = "history\ntask course\nhistory\nhelp\n"
    shown = invoke("chat", "--schemas", tmp_path / "schemas.json", input=typed).stdout
    assert shown.count("Nothing has changed yet.") == 1
    assert "because you said" not in shown
    assert "> help\nSay what you want" in shown


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("y", "yes"), ("YES", "yes"), ("yes please", "yes"), ("ok", "yes"),
        ("n", "no"), ("no, thanks", "no"), ("nope", "no"),
        ("never mind", "left"), ("cancel", "left"), ("what is on Friday?", "left"), ("who is coming", "left"),
        ("no, move it to Saturday", "left"), ("move it to Saturday", "left"), ("/tasks", "left"),
        ("quit", "left"), ("wait, what does it have", "left"),
        ("maybe", "unclear"), ("", "unclear"), ("what", "unclear"), ("?", "unclear"),
        ("yes remove", "unclear"),
    ],
)  # fmt: skip
def test_answers_to_a_yes_or_no(said: str, expected: str) -> None:
    assert verdict(said) == expected


def test_what_is_wanted_instead_is_done_next(invoke: Invoke) -> None:
    shown = chat(
        invoke, "task trip; put t1 place Rome", "drop t1", "ask t2?", "drop t1", "never mind", "/tasks",
        "drop t1", "/thread", "drop t1", "quit", "/tasks",
    )  # fmt: skip
    assert "y/n? ask t2?\n[2 tasks] remove: " in shown
    assert "check: ok" in shown.partition("y/n? ask t2?\n")[2].partition(">")[0]
    assert "y/n? never mind\n[2 tasks]" in shown
    assert shown.count("t2 place: Rome") == 1
    assert "Thread c. Resume with:" in shown
    assert shown.endswith("taskloom chat --thread c\n")
    assert (instead("no, never mind"), instead("no, set it"), instead("/tasks")) == (
        "",
        "no, set it",
        "/tasks",
    )


def test_what_a_question_names_is_not_listed_below_it(invoke: Invoke) -> None:
    shown = chat(
        invoke, "task trip; task party", "drop t1; drop t2", "n", "put t1 place Rome", "drop t1", "n"
    )
    assert "Take 2 tasks out: trip and party?\ny/n?" in shown
    assert "Remove the trip with its one part?\n  trip, place\ny/n?" in shown


# ---- keys -----------------------------------------------------------------------------------------


@pytest.fixture
def typed() -> Iterator[Callable[[str], Keyboard]]:
    """Gives a keyboard on which keys have been pressed."""
    with create_pipe_input() as keys:

        def press(text: str) -> Keyboard:
            keys.send_text(text)
            return Keyboard(input=keys, output=DummyOutput())

        yield press


def test_pasted_lines_are_one_message(typed: Callable[[str], Keyboard]) -> None:
    keyboard = typed("\x1b[200~chop celery\ngrate parmesan\x1b[201~\rnext\r")
    assert [keyboard.read(SAY), keyboard.read(SAY)] == ["chop celery\ngrate parmesan", "next"]


def test_ctrl_c_clears_the_line_and_keeps_it(
    typed: Callable[[str], Keyboard], capsys: pytest.CaptureFixture[str]
) -> None:
    keyboard = typed("half a line\x03\x03whole\r\x03\x03")
    assert keyboard.read(SAY) == "whole"
    assert keyboard._talk.history.get_strings() == ["half a line", "whole"]
    with pytest.raises(KeyboardInterrupt):
        keyboard.read(SAY)
    assert capsys.readouterr().out.splitlines() == [HOW_TO_LEAVE, HOW_TO_LEAVE]


def test_ctrl_d_ends(typed: Callable[[str], Keyboard]) -> None:
    with pytest.raises(EOFError):
        typed("\x04").read("y/n? ")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("/hi", ["/history "]),
        ("/ta", ["/tasks"]),
        ("ex", ["exit"]),
        ("/why din", ["dinner party"]),
        ("Move the dinner p", ["dinner party"]),
        ("Move the din", ["dinner party"]),
        ("/why t", ["t1"]),
        ("a ", []),
        ("/thread d", ["dinner party"]),
    ],
)
def test_tab_completes_commands_and_tasks(text: str, whole: list[str]) -> None:
    found = Names(lambda: ["t1", "dinner party"]).get_completions(Document(text), CompleteEvent())
    assert [one.text for one in found] == whole


def test_tab_completes_files_and_by_key(tmp_path: Path, typed: Callable[[str], Keyboard]) -> None:
    (tmp_path / "trip.json").touch()
    keyboard = typed(f"/import {tmp_path}/tr\t\r/his\tpar\t\r")
    keyboard.names = lambda: ["party"]
    assert keyboard.read(SAY) == f"/import {tmp_path}/trip.json"
    assert keyboard.read(SAY) == "/history party"


# ---- what loads beside the prompt -----------------------------------------------------------------


def made(home: Path, read: Callable[[str], str], out: io.StringIO) -> Chat:
    opened = Taskloom(Threads(home), services())
    return Chat(opened, Console(file=out), thread="x", context=Context(), home=home, read=read)


class Typist:
    """Types lines; what is an event is waited for."""

    names: Any = tuple

    def __init__(self, *lines: str | BaseException) -> None:
        self.lines = iter(lines)

    def read(self, prompt: str) -> str:
        line = next(self.lines)
        if isinstance(line, BaseException):
            raise line
        return line


def talk(home: Path, make: Callable[[Any, io.StringIO], Chat], *lines: str | BaseException) -> str:
    out, typist = io.StringIO(), Typist(*lines)
    begin(home, typist, lambda: make(typist.read, out), out)
    return out.getvalue()


def begin(home: Path, typist: Typist, make: Callable[[], Chat], out: io.StringIO) -> None:
    at = Place("x", "ann", home, new=thread_exists(home, "x") is False)
    with Opening(make) as opening:
        converse(opening, typist, Console(file=out), at)  # type: ignore[arg-type]


def test_one_can_type_before_all_is_loaded(home: Path) -> None:
    first = threading.Event()

    def slowly(read: Any, out: io.StringIO) -> Chat:
        first.wait(20)
        return made(home, read, out)

    class Early(Typist):
        def read(self, prompt: str) -> str:
            first.set()
            return super().read(prompt)

    out, typist = io.StringIO(), Early("", "help", "task trip", "/tasks", EOFError())
    begin(home, typist, lambda: slowly(typist.read, out), out)
    shown = out.getvalue()
    assert shown.startswith("Thread x (new). /help lists")
    assert shown.index("Commands:") < shown.index("[1 tasks] add: ok.") < shown.index("t1 trip")
    assert shown.count("Resume with") == 1
    assert thread_exists(home, "x") is True
    assert thread_exists(home, "y") is False
    again = talk(home, lambda read, out: made(home, read, out), "quit")
    assert "Thread x (1 turns so far)." in again


@pytest.mark.parametrize("last", ["/quit", "exit", EOFError(), KeyboardInterrupt()])
def test_leaving_at_once_waits_for_nothing(last: Any, home: Path) -> None:
    start = time.monotonic()
    shown = talk(home, lambda read, out: made(home, read, out), last)
    assert time.monotonic() - start < 20
    assert shown.endswith("Resume with: taskloom chat --thread x --user ann\n")


def test_what_fails_to_load_is_told_in_the_turn_that_needs_it(home: Path) -> None:
    tries = []

    def failing(read: Any, out: io.StringIO) -> Chat:
        tries.append(1)
        if len(tries) < 3:
            raise PermissionError(13, "Permission denied", str(home / "locks"))
        return made(home, read, out)

    shown = talk(home, failing, "/help", "task trip", "task trip", "task trip", EOFError())
    assert shown.count("That did not work: ") == 2
    assert "set TASKLOOM_HOME" in " ".join(shown.split())
    assert "[1 tasks] add: ok." in shown
    with pytest.raises(ZeroDivisionError):
        talk(home, lambda *_: 1 / 0, "task trip")  # type: ignore[arg-type]


def test_what_is_loaded_ahead_may_fail(home: Path) -> None:
    loaded = threading.Event()

    def make(read: Any, out: io.StringIO) -> Chat:
        chat = made(home, read, out)
        chat.app.loads = (lambda: 1 / 0, loaded.set)
        return chat

    class Late(Typist):
        def read(self, prompt: str) -> str:
            assert loaded.wait(20)
            return super().read(prompt)

    out, typist = io.StringIO(), Late("task trip", EOFError())
    begin(home, typist, lambda: make(typist.read, out), out)
    assert "[1 tasks] add: ok." in out.getvalue()


def test_a_damaged_database_is_no_new_thread(home: Path) -> None:
    home.mkdir()
    (home / "threads.sqlite").write_bytes(b"no database" * 500)
    assert thread_exists(home, "x") is None


def test_the_first_line_may_come_at_once(home: Path) -> None:
    screen = Screen("chat")
    screen.type("Plan a trip to Rome on June 10th\r")
    screen.until("Added the trip")
    screen.prompt()
    screen.type("\x1b[200~The budget is $200.\nInvite Alice.\x1b[201~\r")
    screen.until("200")
    screen.prompt()
    screen.type("half\x03")
    screen.prompt()
    screen.type("\x04")
    screen.until("chat --thread ")
    assert screen.end() == 0


# ---- what is shown --------------------------------------------------------------------------------


def test_no_word_is_broken_at_eighty_columns() -> None:
    words = " ".join(f"word{number}-of-some-length" for number in range(9))
    graph = TaskGraph()
    for number in range(1, 7):
        above = f"t{number - 1}" if number > 1 else None
        add = Add(slot=f"s{number}", title=f"{words[:50]}{number}", value=words, parent=above)
        graph = apply(graph, add, turn=number, said=words).graph
    whole = {word.strip('"…:') for node in graph.values() for word in f"{words} {node.title}".split()}
    whole |= {part for shown in (clip(words, 60), clip(words, 200)) for part in shown.strip("…").split()}
    for shown in (task_tree(graph), task_history(graph["t6"]), plan_history(graph)):
        lines = text_of(shown).splitlines()
        assert max(map(len, lines)) <= 80
        found = {word.strip('"…:') for line in lines for word in line.split() if "word" in word}
        assert found <= whole
    assert text_of(plan_history(TaskGraph())) == "Nothing has changed yet.\n"


def test_printed_commands_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "my bin" / "taskloom"
    here.parent.mkdir()
    here.touch(0o755)
    monkeypatch.setattr("sys.argv", [str(here)])
    monkeypatch.setenv("PATH", "")
    assert program() == f"'{here}'"
    monkeypatch.setenv("PATH", str(here.parent))
    assert program() == "taskloom"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert program() == "taskloom"


# ---- other languages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "我想明天订一张桌子", "Запланируй поездку в Рим", "Bonjour",
        "Je voudrais réserver une table pour demain soir",
        "J'ai besoin d'un hôtel à Paris", "Qui es-tu ?", "Ich möchte morgen einen Tisch reservieren",
        "Ich will ein Hotel in Berlin buchen", "Was ist noch offen?", "Quiero reservar una mesa para mañana",
        "¿Qué puedes hacer?", "Añade leche a la lista", "Guten Tag", "Merci beaucoup",
    ],
)  # fmt: skip
def test_another_language_is_told_from_english(said: str) -> None:
    assert foreign(said)


@pytest.mark.parametrize(
    "said",
    [
        "Invite my fiancé to the café in Zürich", "café", "Zürich", "Los Angeles", "La Vie en Rose",
        "Musée d'Orsay", "Book Hotel de la Paix", "Watch La casa de papel", "Dinner at 鼎泰豐 on Friday",
        "I'd like L'Aquila", "Order the Crème de la Crème from Café de la Paix", "Invite María del Carmen",
        "12", "", "no no", "pour wine", "me", "tag the bags", "a gift tag",
    ],
)  # fmt: skip
def test_names_and_loan_words_are_english(said: str) -> None:
    assert not foreign(said)


def test_who_one_talks_to_is_told() -> None:
    for said in ("who are you", "What's your name?", "are you a bot?", "Who're you?"):
        assert asks_who(said)
    for said in ("how are you", "what are the tasks", "can you do that", "who is coming", "what do you have"):
        assert not asks_who(said)


def test_what_is_not_english_changes_nothing(home: Path) -> None:
    with Taskloom.open() as opened:
        opened.talk("Plan a trip to Rome on June 10th")
        before = opened.tasks()
        said = opened.talk("Ich möchte morgen einen Tisch reservieren").reply
        assert said == "I understand only English, so I changed nothing."
        assert opened.talk("who are you?").reply.startswith("I am Taskloom.")
        assert opened.tasks() == before
