"""Long and hostile texts: the time that they take grows about as they do, whatever they are made of."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import count

import pytest

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.reading.local import Local
from taskloom.agent.reading.network import Packaged
from taskloom.agent.turn.reading import View
from taskloom.memory.operations import Clarify
from taskloom.memory.tasks import TaskGraph, TaskNode

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
    network = Packaged()
    return Local(lambda text, before, limit: network._run(text, before, limit))


def spent(text: str) -> float:
    """Seconds of processor time that it takes to read and ground a text."""
    view = View(PLAN, turn=2)
    begun = time.process_time()
    reading = reader().read(text, view)
    ground_exactly(reading.steps, view)
    return time.process_time() - begun


def growth(make: Callable[[int], str], size: int) -> float:
    """How much longer a text of twice the size takes, the least of three tries; 10 ms are no time."""
    found = []
    for _ in range(3):
        found.append((spent(make(2 * size)) + 0.01) / (spent(make(size)) + 0.01))
        if found[-1] < MOST:
            break
    return min(found)


FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"  # all kinds take minutes
MOST = 3.2  # times as long for twice the text: 2 is linear, 4 quadratic


def test_there_are_many_kinds_of_texts_and_all_are_as_long_as_asked() -> None:
    assert len(KINDS) > 150
    for name, make in KINDS.items():
        assert 600 - 40 <= len(make(600)) <= 600, name


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS if FULL else ())
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    spent("hello")
    assert growth(KINDS[name], 900) < MOST, name


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
