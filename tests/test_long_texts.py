"""Long and hostile texts: the time that they take grows about as they do, whatever they are made of."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.language.foreign import fixed_reply
from taskloom.agent.language.pointers import parse_reference
from taskloom.agent.language.statements import statements
from taskloom.agent.reading.completing import completed
from taskloom.agent.reading.local import Local
from taskloom.agent.reading.network import packaged
from taskloom.agent.reading.quoting import masked
from taskloom.agent.reading.spelling import written_out
from taskloom.agent.recall.facts import parse_question
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.state import Context
from taskloom.memory.operations import Clarify
from taskloom.memory.pointing import pointing, when
from taskloom.memory.shown import escaped, safe
from taskloom.memory.summarise import Exchange
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.errors import ToolError
from taskloom.tools.passages import chunks
from taskloom.tools.readable import decoded, plain, readable
from taskloom.tools.video.transcripts import transcript

pytestmark = pytest.mark.attack

REPEATED = {
    "letters": "a", "capitals": "A", "digits": "7", "blanks": " ", "line ends": "\n", "tabs": "\t ",
    "full stops": ".", "commas": ",", "dashes": "-", "long dashes": "—", "question marks": "?",
    "exclamation marks": "!", "colons": ":", "semicolons": ";", "slashes": "/", "backslashes": "\\",
    "quotes": '"', "apostrophes": "'", "typed quotes": "“", "backticks": "`", "asterisks": "*",
    "hashes": "#", "at signs": "@", "dollars": "$", "per cents": "%", "ampersands": "&", "pluses": "+",
    "equals": "=", "underscores": "_", "tildes": "~", "pipes": "|", "carets": "^", "open brackets": "(",
    "closed brackets": ")", "open braces": "{", "open squares": "[", "open angles": "<", "emoji": "🎂",
    "flags": "🇩🇪", "joined emoji": "👩‍👩‍👧 ", "accents": "e\u0301", "marks alone": "\u0301",
    "umlauts": "ä", "greek": "αβγ ", "cyrillic": "привет ", "chinese": "会议", "arabic": "مرحبا ",
    "hebrew": "שלום ", "thai": "สวัสดี", "scripts in turn": "aбa会", "zero width": "a\u200b",
    "right to left": "\u202eab ", "soft hyphens": "a\u00ad", "wide letters": "ａｂｃ ", "ligatures": "ﬁﬂ ",
    "surrogates": "\ud800", "fractions": "½ ", "superscripts": "x² ", "words": "milk ",
    "capital words": "Milk ", "names": "Ana Bruno Carla ", "initials": "A. B. C. ",
    "short sentences": "Buy milk. ", "asked sentences": "Who has it? ", "ellipses": "well... ",
    "ands": "and ", "and chains": "milk and eggs and ", "or chains": "milk or eggs or ",
    "then chains": "buy milk then ", "comma lists": "milk, ", "semicolon lists": "milk; ",
    "bullets": "- milk\n", "stars": "* milk\n", "numbered": "1. milk\n", "lettered": "a) milk\n",
    "boxes": "[ ] milk\n", "headings": "# plan\n", "dates": "May 3, ", "iso dates": "2026-05-03 ",
    "slashed dates": "3/5/2026 ", "weekdays": "on Monday ", "times": "at 7:30 pm ",
    "bare times": "at 7 ", "ranges": "from 3 to 5 ", "durations": "30 minutes ", "amounts": "$1,200 ",
    "percentages": "5% ", "number words": "twenty five hundred ", "ordinals": "the 3rd ",
    "phone numbers": "+49 170 1234567 ", "long numbers": "123456789012 ", "dotted numbers": "1.2.3.4.",
    "e-mails": "a@b.com ", "links": "https://example.com/a?b=c ", "dotted words": "a.b.c.",
    "dashed words": "a-b-", "slashed words": "a/b/", "possessives": "Ana's ", "contractions": "don't ",
    "negations": "not ", "double negations": "no, not no, ", "corrections": "no, wait, ",
    "sorries": "sorry, I meant ", "prepositions": "of the ", "nested of": "the date of ",
    "relatives": "the one that ", "nested quotes": "\"'“", "said": "he said \"go\" and ",
    "brackets with words": "(milk) ", "nested brackets": "([{<", "braces with words": "{milk} ",
    "tags": "<b>milk</b> ", "json": '{"act": "add"}, ', "code": "if x: y = 1; ",
    "sql": "'; drop table tasks; -- ", "paths": "/usr/bin/", "windows paths": "c:\\temp\\",
    "tables": "| milk | 2 |\n", "csv": "milk,2,1.99\n", "hashtags": "#plan ", "mentions": "@ana ",
    "chat": "lol ok ", "thanks": "thanks! ", "yes and no": "yes no ", "removes": "remove the milk. ",
    "changes": "move it to Friday. ", "plans": "Plan a dinner on Friday at 7. ",
    "adds": "add milk to the list. ", "assigns": "Ana does the cake. ",
    "replaces": "swap the cake for pie. ", "undoes": "undo that. ",
    "questions": "what is the date of the dinner? ", "splits": "half of us go to the museum, ",
    "waits": "the cake after the eggs. ", "shifts": "an hour later. ", "dones": "the cake is done. ",
    "backs": "back to Friday. ", "renames": "call it lunch. ",
}  # fmt: skip


def _counted(form: str, size: int) -> str:
    """A text of a form with another number each time."""
    parts, length = list[str](), 0
    for number in count(1):
        if length >= size:
            break
        parts.append(form.format(number))
        length += len(parts[-1])
    return "".join(parts)[:size]


COUNTED = {
    "new tasks": "Plan party {0} on May 3. ", "new items": "add thing {0} to the list. ",
    "listed items": "thing {0}, ", "bulleted items": "- thing {0} for Ana\n",
    "values": "The price of part {0} is ${0}. ", "named values": "note {0}: text {0}; ",
    "people": "Person{0} brings dish {0}. ", "all of them": "remove thing {0}, ",
    "long lists": "step {0} and ", "asked of each": "who has thing {0}? ",
    "waiting": "thing {0} before task {0}. ",
}  # fmt: skip


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _deep(opened: str, closed: str) -> Callable[[int], str]:
    def made(size: int) -> str:
        depth = max(1, (size - 5) // (len(opened) + len(closed)))
        return f"{opened * depth}milk{closed * depth}"

    return made


KINDS: dict[str, Callable[[int], str]] = {
    **{name: _repeated(unit) for name, unit in REPEATED.items()},
    **{name: partial(_counted, form) for name, form in COUNTED.items()},
    "deep brackets": _deep("(", ")"), "deep quotes": _deep("“", "”"), "deep asides": _deep("I mean (", ")"),
    "one long word": lambda size: "plan " + "milk" * ((size - 5) // 4),
    "a long title": lambda size: "add " + _repeated("very ")(size - 20) + "long cake to it",
    "a long value": lambda size: "the note is " + _repeated("red and blue ")(size - 12),
    "a long question": lambda size: "what is " + _repeated("the date of ")(size - 9) + "?",
}  # fmt: skip
# What no reader is given: a turn narrows them.
GAPS: dict[str, Callable[[int], str]] = {
    "a gap": lambda size: "Book" + " " * (size - 9) + "hotel",
    "two gaps": lambda size: "Plan a dinner{0}, and{0}then book it again".format(" " * (size // 2 - 20)),
    "gaps of tabs": lambda size: "The price{0}is{0}$5 - ok".format("\t" * (size // 2 - 10)),
    "gaps of lines": lambda size: "Ana does the cake{0}and{0}Bob the drinks".format("\n" * (size // 2 - 20)),
}

PLAN = TaskGraph(
    [TaskNode(id="t1", slot="dinner", title="dinner"), TaskNode(id="t2", slot="list", title="shopping list")]
    + [
        TaskNode(id=f"t{n}", slot=f"{whole}.{name}{n}", title=f"{name} {n}", value=value, parent=parent)
        for n, (whole, parent, name, value) in enumerate(
            [
                ("dinner", "t1", "date", "May 3"),
                ("dinner", "t1", "time", "7 pm"),
                ("list", "t2", "item", None),
            ]
            * 6,
            start=3,
        )
    ]
)


@cache
def reader() -> Local:
    """The local reader, with a network that forgets what it has read."""
    network = packaged()
    return Local(lambda text, before, limit: network._run(text, before, limit))


def spent(text: str) -> float:
    """Seconds of processor time that it takes to read and ground a text."""
    view = View(PLAN, turn=2)
    begun = time.process_time()
    reading = reader().read(text, view)
    ground_exactly(reading.steps, view)
    return time.process_time() - begun


def growth(make: Callable[[int], str], size: int, spent: Callable[[str], float] = spent) -> float:
    """How much longer a text of twice the size takes, the least of five tries; 10 ms are no time."""
    found = []
    for _ in range(5):
        found.append((spent(make(2 * size)) + 0.01) / (spent(make(size)) + 0.01))
        if found[-1] < MOST:
            break
    return min(found)


FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"  # all kinds take minutes
CHOSEN = [*KINDS] if FULL else [*KINDS][::15]
MOST = 3.7  # times as long for twice the text: 2 is linear, 4 quadratic; beside other work it is up to 3.6


def test_there_are_many_kinds_of_texts_and_all_are_as_long_as_asked() -> None:
    assert len(KINDS) > 150
    for name, make in KINDS.items():
        assert 600 - 40 <= len(make(600)) <= 600, name


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    spent("hello")
    assert growth(KINDS[name], 900) < MOST, name


@given(st.lists(st.sampled_from([*REPEATED.values()]), min_size=2, max_size=4).map("".join))
@settings(max_examples=150 if FULL else 8)
def test_so_does_whatever_is_mixed_of_them(unit: str) -> None:
    spent("hello")
    sizes = (2_400, 4_800)  # shorter ones are read at once, these in parts; where that begins is a step, once
    assert any(growth(_repeated(unit), size) < MOST for size in sizes)


@pytest.fixture(scope="module")
def turn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], float]]:
    """Seconds of a whole turn: it is said after another one, summed up, and all of it is remembered."""
    numbers, kinds = count(), [{"title": "dinner", "properties": {"place": {"type": "string"}}}]
    with Taskloom.open(Settings(home=tmp_path_factory.mktemp("home"))) as app:
        longterm = app.longterm
        assert longterm is not None

        def turned(text: str) -> float:
            name = f"u{next(numbers)}"
            context = Context(user_id=name, schemas=kinds)
            app.talk("Plan a dinner on Friday at 7 pm", thread=name, context=context)
            longterm.flush()
            begun = time.process_time()
            for said in (text, "Summarize the plan"):
                app.talk(said, thread=name, context=context)
            longterm.flush()
            return time.process_time() - begun

        turned("hello")
        yield turned


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CHOSEN, *GAPS])
def test_a_whole_turn_takes_about_twice_the_time(turn: Callable[[str], float], name: str) -> None:
    assert growth((KINDS | GAPS)[name], 2_500, turn) < MOST, name


NOW = datetime.now(UTC)


def _heard(text: str) -> object:
    """As a transcript; one without a line of speech is refused."""
    with suppress(ToolError):
        return transcript(f"WEBVTT\n\n00:05.000 --> 00:09.000\n<v Ana>{text}\n".encode("utf-8", "replace"))
    return None


ASKED = View(PLAN, 9, question=Clarify(question="What should change?", said="x"), exchanges=(("x", "y"),))
FED: dict[str, Callable[[str], object]] = {
    "what points back": lambda text: (parse_reference(text), pointing(text, (), NOW), when(text, NOW)),
    "remarks": lambda text: statements([Exchange(thread="a", turn=1, at=NOW, said=text)]),
    "questions of the past": parse_question,
    "other languages": fixed_reply,
    "what is in quotes": masked,
    "an answer": lambda text: completed(text, ASKED, lambda *_: ()),
    "chat forms": written_out,
    "a page": lambda text: readable(f"<html><body><p>{text}</p></body></html>", "http://example.org/"),
    "bytes of a page": lambda text: decoded(text.encode("utf-8", "replace"), None, truncated=False),
    "passages of a document": lambda text: [*chunks(text)],
    "a transcript": _heard,
    "what is shown": lambda text: (safe(text), escaped(text), plain(text)),
}


@pytest.mark.parametrize("name", FED)
def test_so_does_all_else_that_reads_texts(name: str) -> None:
    """Of the length that a message may have; what takes a tenth of a second is no harm, however it grows."""

    def taken(text: str) -> float:
        begun = time.process_time()
        FED[name](text)
        return time.process_time() - begun

    slow = {}
    for kind in CHOSEN:
        make = KINDS[kind]
        if min(taken(make(20_000)) for _ in range(2)) > 0.1 and (grown := growth(make, 10_000, taken)) > MOST:
            slow[kind] = grown
    assert slow == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["new tasks", "values", "plans", "words", "questions", "commas", "waiting"])
def test_a_very_long_text_is_read_or_refused_in_time(name: str) -> None:
    spent("hello")
    assert growth(KINDS[name], 10_000) < MOST, name


def test_what_is_too_much_at_once_is_asked_for_in_parts() -> None:
    view = View(PLAN, turn=2)
    for text in (KINDS["new tasks"](6_000), KINDS["undoes"](2_400)):
        reading = reader().read(text, view)
        assert not reading.sure
        (asked,) = ground_exactly(reading.steps, view)
        assert isinstance(asked, Clarify)
        assert "in parts" in asked.question
