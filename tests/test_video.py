"""Recordings in long-term memory: what is found and answered, for whom, and that they can be forgotten."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from taskloom.agent.cli.main import app
from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.recall.asking import NOTHING, Answer, answer
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.moments import Moment, moments_in
from taskloom.agent.recall.recordings import Recordings, utterances
from taskloom.agent.settings import Settings
from taskloom.memory.outbox import OutboxError
from taskloom.memory.records import Evidence, Fact, Scene, now
from taskloom.tools.calls import call
from taskloom.tools.errors import ToolError
from taskloom.tools.loading import load_agent
from taskloom.tools.shared import Shared
from taskloom.tools.video.lines import Line, Shot
from taskloom.tools.video.tools import USER
from taskloom.tools.video.transcripts import transcript

TALK = """[00:05] Ana Sol: Welcome, everybody.
[00:10] Bob: When is the launch?
[00:14] Ana Sol: It is in May, on the 12th.
[00:20] Carla: The launch party is in September.
[00:26] Bob: I can take care of the venue.
[03:00] Ana Sol: Let's move the launch to July.
[03:05] Bob: July is too late for the press.
[03:09] Ana Sol: No, make it June.
[03:15] Carla: The budget for catering is 4,000 euros.
[03:22] Bob: Fine. The venue costs 900 euros.
[05:00] Carla: Who pays for the deposit?
[05:06] Bob: Last year the deposit was 50 euros.
[12:40] Carla: We should order forty chairs.
[12:50] Bob: Actually, make it fifty chairs.
"""
ASKED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # question: (the answer has this, times of what it rests on, times of what was given up)
    "When is the launch?": ("make it June", ("03:09",), ("03:00", "00:14")),
    "When was the launch originally?": ("in May", ("00:14",), ()),
    "When is the launch party?": ("September", ("00:20",), ()),
    "Who said the launch moves to July?": ("Ana Sol, at 03:00", ("03:00",), ()),
    "Who takes care of the venue?": ("Bob, at 00:26", ("00:26",), ()),
    "When does Bob mention the venue?": ("At 00:26", ("00:26",), ()),
    "What did Bob say right after Ana moved the launch to July?": ("too late", ("03:05", "03:00"), ()),
    "What was said just before Bob mentioned the venue?": ("party", ("00:20", "00:26"), ()),
    "How many times does Bob mention the venue?": ("2 times", ("00:26", "03:22"), ()),
    "How many people speak?": ("3: Ana Sol, Bob, Carla", ("00:05", "00:10", "00:20"), ()),
    "How many chairs do we need?": ("fifty", ("12:50",), ("12:40",)),
    "What does the venue cost?": ("900 euros", ("03:22",), ()),
    "How much is the catering budget?": ("4,000", ("03:15",), ()),
}  # fmt: skip
NEVER = (
    "Who mentioned the printer?", "What is the price of the printer?", "How much is the deposit?",
    "How many times does Ana mention the venue?", "When does Carla talk about the press?",
    "When is the launch in Paris?", "What did Bob say after Carla mentioned the printer?",
    "What did Carla say after Bob said we need fifty chairs?", "?!", "What did they say?", "Is it 77?",
)  # fmt: skip


def talk(text: str = TALK) -> list[Moment]:
    """The moments of a transcript, all in one scene."""
    said = tuple(
        Evidence(start_ms=one.start_ms, end_ms=one.end_ms, source="said", text=one.text, by=one.who or "")
        for one in transcript(text.encode())
    )
    end = max(one.end_ms for one in said)
    return moments_in([
        Scene(id="s1", text="x", at=now(), thread="video:0", video="0" * 64, name="talk", start_ms=0,
              end_ms=end, evidence=said)
    ])  # fmt: skip


def times(moments: tuple[Moment, ...]) -> tuple[str, ...]:
    return tuple(one.source.partition("@")[2] for one in moments)


def test_questions_without_a_model(subtests: pytest.Subtests) -> None:
    told = talk()
    for question, (has, moments, former) in ASKED.items():
        with subtests.test(question):
            found = answer(question, told)
            assert has in found.text
            assert (times(found.moments), times(found.former)) == (moments, former)
    for question in NEVER:
        with subtests.test(question):
            assert answer(question, told) == Answer()
            assert not answer(question, told).found
    with subtests.test("what stands on the screen is evidence, and nobody said it"):
        shown = Evidence(start_ms=0, end_ms=9000, source="shown", text="The wifi code is 4417.")
        seen = Evidence(start_ms=0, end_ms=9000, source="seen", text="red printer")
        more = [*told, *(Moment(told[0].scene, one) for one in (shown, seen))]
        assert (
            answer("What is the wifi code?", more).text
            == "At 00:00 the screen shows “The wifi code is 4417.”"
        )
        for asked in ("When is the wifi code on the screen?", "When does the wifi code show on screen?",
                      "When does the wifi code come up on the slide?",
                      "When has the wifi code appeared on screen?"):  # fmt: skip
            assert answer(asked, more).text == "At 00:00: the screen shows “The wifi code is 4417.”", asked
        assert "4417" in answer("What is the wifi code on the screen?", more).text
        assert answer("When is the launch on the screen?", more) == Answer()  # it is only talked of
        by = shown.model_copy(update={"source": "caption", "by": "eye-2", "text": "A dog is on the stage."})
        both = [*more, Moment(told[0].scene, by)]
        assert "a caption says “A dog" in answer("What is on the stage?", both).text
        for asked in ("When is a dog shown?", "When does the video show a dog?", "When can a dog be seen?"):
            assert answer(asked, both).text == "At 00:00: a caption says “A dog is on the stage.”", asked
        assert "a caption says “A dog" in answer("What is on the stage in the clip?", both).text
        assert "a caption says “A dog" in answer("Which stage is shown in this picture?", both).text
        assert answer("When is a cat shown?", both) == Answer()
        takes = talk("[00:01] Ana: Tom takes the bus.\n[00:05] Ana: Jo takes the pictures.\n")
        assert "Jo takes" in answer("Who takes the pictures?", takes).text
        assert answer("Who is in the picture?", both) == Answer()
        assert answer("Who mentioned the dog?", both) == Answer()
        assert answer("Who mentioned the wifi code?", more) == Answer()
        assert answer("Who mentioned the printer?", more) == Answer()
        assert answer("How many people speak?", [Moment(told[0].scene, shown)]) == Answer()
        assert answer("When is it?", []) == Answer()


def test_questions_and_values_in_other_words(subtests: pytest.Subtests) -> None:
    said = (
        "Marek: When is the trip?", "Ines: My calendar says May 3 for the trip.",
        "Tove: I can order the flowers.", "Ines: The hall runs us 300 euros.",
        "Marek: The stage lights come later.", "Tove: Figure on ten chairs.",
        "Ines: To recap, the audit, May 9.", "Marek: May 20 exceeds the limit.", "Tove: It's June 2 now.",
        "Ines: The hall currently stands at 310 euros.", "Tove: My bad, that should read 250 euros.",
        "Ines: The number of chairs has been corrected to twelve.", "Marek: Let me see, no, fifteen.",
        "Marek: As for the trip, we said May 3.", "Ines: That was changed to May 5.",
        "Tove: 70 euros for the tent, last time I checked.", "Ines: We had twelve helmets.",
        "Tove: Turns out we pay 90 euros for the bus.",
    )  # fmt: skip
    told = talk("".join(f"[00:{at:02}] {line}\n" for at, line in enumerate(said)))
    for question, has in {
        "To whom does it fall to order the flowers?": "Tove",
        "Do you know who will order the flowers?": "Tove",
        "Name the person who will order the flowers.": "Tove",
        "Where do they start talking about the hall?": "At 00:03",
        "Find the first mention of the hall.": "At 00:03",
        "How long till anyone mentions the chairs?": "At 00:05",
        "At what second do they mention the tent?": "At 00:15",
        "How much time passes before the audit is mentioned?": "At 00:06",
        "When did they say the trip was gonna be?": "May 5", "When did they mention the trip?": "At 00:00",
        "What's the hall gonna set us back?": "250 euros", "How much does the hall run?": "250 euros",
        "What's the bill for the tent?": "70 euros", "How much money goes to the bus?": "90 euros",
        "What is the total of chairs?": "fifteen", "What's the count of helmets?": "twelve",
        "When is the audit?": "June 2", "Remind me, when is the audit?": "June 2",
        "How many guys are on this call?": "3: ", "How many of Ines's lines mention the hall?": "2 times",
        "What is the sentence right after Tove can order the flowers?": "300 euros",
    }.items():  # fmt: skip
        with subtests.test(question):
            assert has in answer(question, told).text


def test_cues_are_joined_to_sentences() -> None:
    cues = [
        Line(0, 1000, "The launch", "Ana"), Line(1000, 2000, "is in May.", "Ana"),
        Line(2000, 3000, "And then", "Ana"), Line(3100, 4000, "what?", "Bob"), Line(9000, 9500, "Hm", "Bob"),
        Line(12_000, 13_000, "ok", "Bob"),
    ]  # fmt: skip
    joined = [(one.start_ms, one.end_ms, one.text) for one in utterances(cues)]
    assert joined[0] == (0, 2000, "The launch is in May.")
    assert [text for _, _, text in joined[1:]] == ["And then", "what?", "Hm", "ok"]
    assert list(utterances([])) == []


# ---- in memory ------------------------------------------------------------------------------------


@pytest.fixture
def longterm(home: Path) -> Iterator[LongTerm]:
    opened = longterm_of(Settings(home=home))
    assert opened is not None
    yield opened
    opened.close()


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_recordings_of_a_user(
    longterm: LongTerm, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = Recordings(longterm, "ann"), Recordings(longterm, "bob")
    at: list[str] = []
    taken = ann.add("talk.txt", sha(TALK), transcript(TALK.encode()), progress=at.append)
    other = ann.add("other.txt", sha("x"), [Line(0, 2000, "The zebra is striped.", "Zoe")])
    with subtests.test("what is told of it"):
        many = taken.recording.scenes
        assert at == ["cutting it into scenes", f"remembering {many} of {many} scenes"]
        assert taken.recording.speakers == ("Ana Sol", "Bob", "Carla")
        assert taken.recording.end_ms == 12 * 60_000 + 50_000 + 5 * 400
        assert {"venue", "chairs"} <= set(taken.subjects)
        assert [one.id for one in ann.all()] == [taken.recording.id, other.recording.id]
    with subtests.test("scenes hold each line once and rest on earlier ones of the recording"):
        scenes = ann.scenes(taken.recording.video)
        assert [one.text for scene in scenes for one in scene.evidence] == [
            line.text for line in transcript(TALK.encode())
        ]
        known = [scene.id for scene in scenes]
        assert all(known.index(key) < known.index(scene.id) for scene in scenes for key in scene.rests_on)
        assert any(scene.rests_on for scene in scenes)
    with subtests.test("who speaks and what is talked of are facts"):
        facts = [one for one in longterm.store.records("ann", "fact") if isinstance(one, Fact)]
        told = {one.text for one in facts}
        assert "Bob speaks in talk.txt, first at 00:10." in told
        assert "The venue is talked of in talk.txt, first at 00:26." in told
    with subtests.test("moments by words, time and speaker"):
        first = ann.retrieval("move the launch", k=3)
        assert times(first[:1]) == ("03:00",)
        assert [one.score for one in first] == sorted((one.score for one in first), reverse=True)
        assert first[0].source == f"video:{sha(TALK)[:12]}@03:00"
        assert times(ann.retrieval("launch", who="carla", k=1)) == ("00:20",)
        assert times(ann.retrieval("launch", start_ms=60_000, end_ms=181_000, k=9)) == ("03:00",)
        assert times(ann.retrieval("zebra", "other.txt")) == ("00:00",)
        assert ann.retrieval("x", who="Nobody") == ()
    with subtests.test("an answer, of one recording or all"):
        assert "June" in str(ann.rag("When is the launch?"))
        assert ann.rag("When is the launch?", "other.txt").text == NOTHING
        assert "striped" in str(ann.rag("What is the zebra?", sha("x")[:6]))
    with subtests.test("what a model would be shown"):
        shown = ann.closure("the venue", tokens=200)
        assert "[03:22-03:24] Bob said: Fine. The venue costs 900 euros." in shown.lines
        assert 0 < shown.tokens <= 200
    with subtests.test("nobody else's"):
        assert bob.all() == ()
        assert bob.retrieval("launch") == ()
        assert not bob.rag("When is the launch?").found
        with pytest.raises(ToolError, match="there is no recording"):
            bob.named(sha(TALK))
    for wrong, said in (
        (lambda: ann.retrieval(" "), "the query is blank"), (lambda: ann.retrieval("x", k=0), "k is 0"),
        (lambda: ann.rag(""), "the question is blank"), (lambda: ann.rag("x", "none"), "no recording 'none'"),
        (lambda: ann.named(""), "no recording ''"), (lambda: ann.add("n", sha("n"), []), "nothing is said"),
    ):  # fmt: skip
        with subtests.test(said), pytest.raises(ToolError, match=said):
            wrong()
    with subtests.test("a new file of the name takes its place, the same file its own"):
        newer = TALK.replace("June", "August")
        replaced = ann.add("talk.txt", sha(newer), transcript(newer.encode()))
        assert replaced.replaced == (taken.recording.id,)
        assert "August" in str(ann.rag("When is the launch?"))
        again = ann.add("renamed.txt", sha(newer), transcript(newer.encode())[:3])
        assert (again.replaced, again.recording.scenes, len(ann.all())) == (
            (),
            len(ann.scenes(sha(newer))),
            2,
        )
    with (
        subtests.test("where it cannot be kept, what was there before stays"),
        monkeypatch.context() as patch,
    ):
        patch.setattr(longterm.outbox, "add", lambda *_: (_ for _ in ()).throw(OutboxError("no room")))
        with pytest.raises(OutboxError, match="no room"):
            ann.add("renamed.txt", sha("newer still"), transcript(b"Ana: All is new."))
        patch.undo()
        assert ann.named("renamed.txt").video == sha(newer)
    with subtests.test("shots are evidence with a source of their own"):
        shots = [Shot(0, 5000, 100, ("red",), 0.2, "Agenda: the walrus", None),
                 Shot(5000, 20_000, 6000, ("blue",), 0.0, "", 0)]  # fmt: skip
        seen = ann.add("clip.mp4", sha("clip"), [Line(1000, 2000, "Hello.")], shots)
        sources = [
            (one.source, one.text) for scene in ann.scenes(seen.recording.video) for one in scene.evidence
        ]
        assert ("shown", "Agenda: the walrus") in sources
        assert ("seen", "red, moving") in sources
        assert seen.recording.speakers == ()
        assert "walrus" in str(ann.rag("What is the agenda?", "clip.mp4"))


MARK = "Spurenlos"


def left(home: Path, *marks: str) -> list[str]:
    files = [path for path in home.rglob("*") if path.is_file()]
    forms = [
        form for mark in marks for form in (mark.encode(), mark.lower().encode(), mark.encode("utf-16-le"))
    ]
    return [f"{path.name}: {form!r}" for path in files for form in forms if form in path.read_bytes()]


def test_forget_leaves_no_byte(longterm: LongTerm, home: Path) -> None:
    ann = Recordings(longterm, "ann")
    text = "".join(
        f"[{minute:02}:{second:02}] {MARK}er {minute % 3}: The {MARK} number {minute} is {second}.\n"
        for minute in range(30)
        for second in (0, 20, 40)
    )
    kept = ann.add("kept.txt", sha("kept"), [Line(0, 2000, "The zebra is striped.", "Zoe")])
    gone = ann.add(f"{MARK}.vtt", sha(text), transcript(text.encode()))
    assert gone.recording.scenes > 20
    assert left(home, MARK)
    ann.forget(ann.named(gone.recording.id))
    assert left(home, MARK, gone.recording.video) == []
    assert [one.id for one in ann.all()] == [kept.recording.id]
    assert {one.thread for one in longterm.store.records("ann")} == {f"video:{kept.recording.id}"}
    longterm.close()
    assert left(home, MARK, gone.recording.video) == []


# ---- commands and tools ---------------------------------------------------------------------------

Invoke = Callable[..., Result]
COMMANDS = ("add", "list", "ask", "find", "forget")


@pytest.fixture
def invoke(home: Path) -> Invoke:
    def run(*args: str | Path, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["video", *map(str, args)])
        assert result.exit_code == code, (result.output, result.exception)
        assert "Traceback" not in result.output
        return result

    return run


def test_commands(invoke: Invoke, tmp_path: Path, subtests: pytest.Subtests) -> None:
    file, film = tmp_path / "talk.txt", tmp_path / "film.mp4"
    file.write_text(TALK)
    film.write_bytes(b"not decoded")
    for command in COMMANDS:
        with subtests.test(f"{command} --help"):
            shown = invoke(command, "--help").output
            assert "Examples:" in shown
            assert f"  taskloom video {command}" in shown
            assert max(map(len, shown.splitlines())) <= 80
    with subtests.test("nothing yet"):
        assert "No recordings" in invoke("list").output
        asked = invoke("ask", "When is the launch?")
        assert (asked.stdout, "`taskloom video add FILE`" in asked.stderr) == (f"{NOTHING}\n", True)
        assert not any(line.endswith("...") for line in invoke("--help").output.splitlines()[1:])
        assert "no such moment" in invoke("find", "launch").output
    with subtests.test("add"):
        done = invoke("add", file)
        assert "talk.txt: remembering" in done.stderr
        assert f"Remembered talk.txt as {sha(TALK)[:12]}: 12:52" in done.stdout
        assert "Talked of: " in done.stdout
        (short := tmp_path / "short.txt").write_text("[00:01] Ana: Hello there.\n")
        done = invoke("add", short)
        assert "short.txt: remembering 1 of 1 scene\n" in done.stderr
        assert ", one scene, Ana.\n" in done.stdout
        invoke("forget", "short.txt")
        told = json.loads(invoke("add", film, "--transcript", file, "--json").stdout)
        assert (told["name"], told["seconds"], told["replaced"]) == ("film.mp4", 772.0, [])
        (tmp_path / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nThe zebra is striped.\n")
        assert json.loads(invoke("add", film, "--json").stdout)["scenes"] == 1
        assert ", one scene" in invoke("add", film).stdout
        newer = file.read_text() + "[13:00] Ana Sol: Bye.\n"
        file.write_text(newer)
        assert f"takes the place of {sha(TALK)[:12]}" in invoke("add", file).output
    with subtests.test("list"):
        assert [one["name"] for one in json.loads(invoke("list", "--json").stdout)] == [
            "film.mp4",
            "talk.txt",
        ]
        assert "Ana Sol, Bob, Carla" in invoke("list").output
        scenes = CliRunner().invoke(app, ["memory", "list", "--kind", "scene"]).output
        assert "film.mp4 [00:01-00:02] The zebra is striped." in " ".join(scenes.split())
    with subtests.test("ask"):
        shown = invoke("ask", "When is the launch?").output
        assert "At 03:09 Ana Sol said “No, make it June.”" in shown
        assert "before: [03:00-03:05] Ana Sol said: Let's move the launch to July." in shown
        assert f"Source: video:{sha(newer)[:12]}@03:09 (talk.txt)" in shown
        told = json.loads(invoke("ask", "When is the launch?", "--video", "talk.txt", "--json").stdout)
        assert told["moments"][0]["start"] == 189.0
        assert [one["start"] for one in told["former"]] == [180.0, 14.0]
    with subtests.test("find"):
        told = json.loads(invoke("find", "venue", "--who", "Bob", "--from", "3:00", "--json").stdout)
        assert told[0]["text"] == "Fine. The venue costs 900 euros."
        assert "Bob said: Fine. The venue" in invoke("find", "venue", "--to", "0:04:00").output
    for args, said in (
        (("add", tmp_path / "none.srt"), "cannot be read"), (("add", tmp_path), "cannot be read"),
        (("ask", "x", "--video", "none"), "there is no recording 'none'"), (("ask", " "), "is blank"),
        (("find", "x", "--from", "soon"), "'soon' is not a time"),
        (("find", "x", "--from", "3:00", "--to", "2:00"), "03:00 to 02:00 is not a range"),
        (("find", "x", "--from", "1:99"), "'1:99' is not a time"),
        (("add", "none.srt"), "read: No such file"),
        (("find", "x", "--from", "1:00:00"), "it is 13:00 long"), (("forget", "none"), "no recording 'none'"),
    ):  # fmt: skip
        with subtests.test(said):
            assert said in invoke(*args, code=2).output
    with subtests.test("nothing tells what is said"):
        (tmp_path / "film.srt").unlink()
        assert "cannot be read as a recording" in invoke("add", film, code=2).output
    with subtests.test("forget"):
        assert invoke("forget", "talk.txt", sha(newer)[:8]).output == "Forgot talk.txt.\n"
        assert [one["name"] for one in json.loads(invoke("list", "--json").stdout)] == ["film.mp4"]


def test_help_loads_little() -> None:
    code = (
        "import sys, taskloom.agent.cli.video as c;"
        "print({'langgraph', 'pydantic', 'rich', 'chromadb', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_tools_for_agents(longterm: LongTerm, tmp_path: Path, subtests: pytest.Subtests) -> None:
    Recordings(longterm, "ann").add("talk.txt", sha(TALK), transcript(TALK.encode()))
    config = tmp_path / "agent.yaml"
    config.write_text("tools:\n  - use: taskloom.video\n")
    with subtests.test("without a memory"), pytest.raises(ToolError, match="TASKLOOM_MEMORY=1"):
        load_agent(config)
    loaded = load_agent(config, recordings=lambda user, _: Recordings(longterm, user))

    def ask(name: str, user: str | None, **args: Any) -> tuple[str, str]:
        run: Any = {"configurable": {USER: user} if user else {}}
        made = call(loaded.registry[name], args, shared=Shared({}), config=run)
        return made.status, made.text

    assert set(loaded.registry) == {"video_retrieval", "video_rag", "video_qa"}
    assert "config" not in loaded.registry["video_rag"].parameters()["properties"]
    with subtests.test("the user's own"):
        assert "make it June" in ask("video_rag", "ann", question="When is the launch?")[1]
        found = ask("video_retrieval", "ann", query="venue", who="Bob", start="3:00", k=1)[1]
        assert found.startswith(f"video:{sha(TALK)[:12]}@03:22 ")
    with subtests.test("nobody else's"):
        assert ask("video_rag", "bob", question="When is the launch?") == ("done", NOTHING)
        assert ask("video_retrieval", "bob", query="launch") == ("done", "there is no such moment")
        assert ask("video_rag", None, question="x") == (
            "failed", "whose recordings these are is not known: the run names no user"
        )  # fmt: skip
        assert ask("video_qa", "bob", question="What is on the wall?")[1].startswith("there is no recording")
    with subtests.test("what cannot be used is told"):
        assert "talk.txt only words are remembered" in ask("video_qa", "ann", question="What is there?")[1]
        assert "frames" in ask("video_qa", "ann", question="x", frames=51)[1]
        assert "'soon' is not a time" in ask("video_retrieval", "ann", query="x", start="soon")[1]
        assert "k" in ask("video_retrieval", "ann", query="x", k=99)[1]
    loaded.close()
