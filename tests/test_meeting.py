"""A meeting of 40 minutes, with three speakers who change their minds, to a confirmed plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.reading.decided import decisions
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.tools.video.transcripts import read_transcript
from tests.test_video import talk

MEETING = Path(__file__).with_name("meeting.txt")
WANTED = {  # what the meeting comes to: when it was said last, and the request that it is
    "01:30": "Send the form to the town hall.",
    "04:15": "Book the fire station.",
    "09:18": "Rent a tent.",
    "09:58": "Write the invitation.",
    "12:56": "Hire a photographer.",
    "15:27": "Move the opening to June 6th.",
    "21:43": "Order sixty chairs.",
    "25:36": "Write the report.",
    "27:39": "Set the budget of the opening to 1,200 euros.",
    "28:06": "Book the brass band.",
    "31:24": "Buy two Danish stands.",
    "34:08": "Copy the key of the gate.",
    "35:09": "Pay the music licence.",
}
ASKED = {
    "When is the opening?": "June 6th",
    "Who said the tent costs 350 euros?": "Tove, at 08:44",
    "How much is the insurance?": "640 euros",
    "How many chairs do we need?": "sixty",
    "What is the budget?": "1,200 euros",
    "Who writes the invitation?": "Tove, at 09:58",
    "How many people speak?": "3: Ines, Tove, Marek",
    "Who mentioned the swimming pool?": "Nothing in the recordings says so.",
}
Invoke = Callable[..., Result]


@pytest.fixture
def invoke(home: Path) -> Invoke:
    def run(*args: str | Path, said: str | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(app, [*map(str, args)], input=said)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def tasks(invoke: Invoke) -> TaskGraph:
    return TaskGraph.from_json(invoke("tasks", "--thread", "opening", "--format", "json").stdout)


def named(graph: TaskGraph, title: str) -> TaskNode:
    return next(node for node in graph.active if node.title == title)


def test_what_a_meeting_decides(subtests: pytest.Subtests) -> None:
    lines = read_transcript(MEETING)
    assert lines[-1].end_ms > 39 * 60_000
    assert len({line.who for line in lines}) == 3
    found = decisions(talk(MEETING.read_text(encoding="utf-8")))
    assert {one.moments[0].source.partition("@")[2]: one.text for one in found} == WANTED
    for text, decided in {
        "Ana: Let's see.\nBob: We'll talk about it.\nAna: Let's not invite him.\nBob: So let's go?": [],
        "Ana: Let's move it to May.\nBob: No, make it June.": ["Move it to June."],
        "Ana: Let's order ten cups.\nBob: Ten is too few.\nAna: Actually, twelve.": ["Order twelve cups."],
        "Ana: We should order ten cups.\nBob: Okay, so let's order ten tables.": [
            "Order ten cups.", "Order ten tables.",
        ],
        "Ana: The launch is in May.": [], "Ana: So, we'll book the hall then.": ["Book the hall."],
    }.items():  # fmt: skip
        with subtests.test(text):
            assert [one.text for one in decisions(talk(text))] == decided


def test_a_meeting_becomes_a_plan(invoke: Invoke, tmp_path: Path, subtests: pytest.Subtests) -> None:
    copy = tmp_path / "meeting.txt"
    copy.write_text(MEETING.read_text(encoding="utf-8"), encoding="utf-8")
    invoke("chat", "--thread", "opening", said="Plan the opening of the bike workshop on May 9th.\n")
    invoke("video", "add", copy)
    with subtests.test("nothing is done by looking"):
        before = tasks(invoke)
        told = json.loads(invoke("video", "plan", "meeting.txt", "--thread", "opening", "--json").stdout)
        assert [one["read"] for one in told] == [*WANTED.values()]
        assert tasks(invoke) == before
    with subtests.test("a no, words that are unclear, and enough"):
        shown = invoke("video", "plan", "meeting.txt", "--thread", "opening", said="maybe\nno\nq\n").output
        assert "Please answer y or n" in shown
        assert "0 of 1 proposed changes taken" in shown
        assert tasks(invoke) == before
    answers = ["n" if one["read"] == "Rent a tent." else "y" for one in told]
    shown = invoke(
        "video", "plan", "meeting.txt", "--thread", "opening", said="\n".join(answers) + "\n"
    ).output
    graph = tasks(invoke)
    video = told[0]["source"].partition("@")[0]
    with subtests.test("what was confirmed is in the plan, with its moment"):
        assert f"{len(answers) - 1} of {len(answers)} proposed changes taken" in shown
        date = named(graph, "date")
        assert (date.value, date.source) == ("June 6th", f"{video}@15:27")
        assert date.said == "[15:27-15:33] Ines said: Okay then, let's move the opening to June 6th."
        assert [state.value for state in date.history] == ["May 9th"]
        assert named(graph, "budget").value == "1,200 euros"
        assert named(graph, "Book the brass band").source == f"{video}@28:06"
        assert not any("tent" in node.title.lower() for node in graph.values())
    with subtests.test("nothing is proposed twice, and the end of the input ends it"):
        again = invoke("video", "plan", "meeting.txt", "--thread", "opening", said="").output
        assert again.count("Shall I") == 1
        assert "Shall I add Rent a tent?" in again
    with subtests.test("a talk answers from the recording and tells who said it"):
        said = "Who said the opening moves?\nWhy is the date June 6th?\n"
        shown = " ".join(invoke("chat", "--thread", "opening", said=said).output.split())
        assert (
            f"Ines, at 02:46: “So let's move the opening to May 30th.” (meeting.txt, {video}@02:46)" in shown
        )
        assert 'Ines said at 15:27: "Okay then, let\'s move the opening to June 6th"' in shown
    for question, answer in ASKED.items():
        with subtests.test(question):
            assert answer.lower() in invoke("video", "ask", question).output.splitlines()[0].lower()
    with subtests.test("other words go to the thread"):
        shown = invoke(
            "video", "plan", "meeting.txt", "--thread", "opening", said="No, set the budget to 900 euros\n"
        ).output
        assert named(tasks(invoke), "budget").value == "900 euros"
    with subtests.test("what rested on a recording that was replaced is out of date"):
        copy.write_text(copy.read_text(encoding="utf-8").replace("June 6th", "June 13th"), encoding="utf-8")
        shown = invoke("video", "add", copy).output
        assert "Out of date, since it rested on that: date." in shown
        graph = tasks(invoke)
        assert named(graph, "date").stale_since is not None
        assert named(graph, "date").value == "June 6th"
        assert named(graph, "budget").stale_since is None  # the user's own word by now
    with subtests.test("another's thread, and a thread without a plan"):
        invoke("chat", "--thread", "other", "--user", "bob", said="Plan a trip\n")
        refused = invoke("video", "plan", "meeting.txt", "--thread", "other", code=1).output
        assert "other" in refused
        assert "there is no recording 'x'" in invoke("video", "plan", "x", "--thread", "new", code=2).output
