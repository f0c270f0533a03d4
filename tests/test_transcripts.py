"""Recordings, the half that is said: transcripts, segments, and speech that an endpoint transcribes."""

import json
import re
import struct
import threading
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskloom.tools.errors import NotAllowedError, ToolError, TransientError
from taskloom.tools.video import speech
from taskloom.tools.video.lines import Line, Shot
from taskloom.tools.video.segments import LONGEST_MS, PAUSE_MS, SHORTEST_MS, segments
from taskloom.tools.video.speech import Endpoint, transcribe
from taskloom.tools.video.transcripts import read_transcript, transcript

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Ana:</i> Hello there,
everybody.

2
00:00:03,000 --> 00:00:04,250
- Bob: Hi.
- Ana: Good.

and more

3
01:00:05.5 --> 01:00:06,000 X1:0
It is 7: the time
"""
VTT = """WEBVTT - a meeting
Kind: captions

NOTE 00:01 is no cue
goes on

STYLE
::cue { color: red }

intro
00:01.007 --> 00:02.500 align:start
<v.loud Ana Sol>Let&#39;s <c.x>move</c> it</v> <v Bob>Yes.</v>

2
01:00:01.123 --> 01:00:02.500
<00:00:01.000>plain &lt;words&gt;
"""
ASS = """[Script Info]
Title: x

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.50,0:00:02.00,Default,Ana,0,0,0,,{\\i1}Hello\\Nthere, you
Dialogue: 0,0:00:02.50,0:00:03.00,Default,,0,0,0,,{\\p1}m 0 0 l 1 1
Comment: 0,0:00:01.50,0:00:02.00,Default,Ana,0,0,0,,no
"""
PLAIN = """[00:10] Ana: Hello
  and welcome.
(75:20) Bob: Yes.
The plan is: go.
Zoë van Dyk (1:20:00): Late.
Bob [1:20:05]
No colon.
"""

CASES: dict[str, tuple[str, list[Line]]] = {
    "srt": (SRT, [
        Line(1000, 2500, "Hello there, everybody.", "Ana"), Line(3000, 4250, "Hi.", "Bob"),
        Line(3000, 4250, "Good. and more", "Ana"), Line(3605500, 3606000, "It is 7: the time"),
    ]),
    "vtt": (VTT, [
        Line(1007, 2500, "Let's move it", "Ana Sol"), Line(1007, 2500, "Yes.", "Bob"),
        Line(3601123, 3602500, "plain <words>"),
    ]),
    "ass": (ASS, [Line(1500, 2000, "Hello there, you", "Ana")]),
    "ass without names": (
        ASS.replace(",Ana,", ",,").replace("Hello", "Ana: Hello"),
        [Line(1500, 2000, "Hello there, you", "Ana")],
    ),
    "plain": (PLAIN, [
        Line(10000, 11200, "Hello and welcome.", "Ana"),
        Line(4520000, 4522000, "Yes. The plan is: go.", "Bob"),
        Line(4800000, 4800400, "Late.", "Zoë van Dyk"), Line(4805000, 4805800, "No colon.", "Bob"),
    ]),
    "no times": ("Ana: Hello you.\n\nBob: Hi.", [
        Line(0, 800, "Hello you.", "Ana"), Line(800, 1200, "Hi.", "Bob"),
    ]),
    "an end that comes earlier": (
        "[00:01] Ana: one two three four\n[00:02] Bob: x",
        [Line(1000, 2000, "one two three four", "Ana"), Line(2000, 2400, "x", "Bob")],
    ),
    "a label that comes once": (
        "00:01.0 --> 00:02.0\nWarning: hot\n\n00:03.0 --> 00:04.0\nOh.\n\n00:05.0 --> 00:06.0\nYes.", [
        Line(1000, 2000, "Warning: hot"), Line(3000, 4000, "Oh."), Line(5000, 6000, "Yes."),
    ]),
    "out of order": ("1\n00:09.0 --> 00:10.0\nb\n\n2\n00:01.0 --> 00:02.0\na\n", [
        Line(1000, 2000, "a"), Line(9000, 10000, "b"),
    ]),
    "marks that steer": ("Ana: a\x1b[31m\u202eb\x07 c", [Line(0, 1600, "a [31m b c", "Ana")]),
    "Windows ends": ("WEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\nHi\r\n", [Line(1000, 2000, "Hi")]),
}  # fmt: skip

BROKEN = {
    "nothing": ("", "no spoken line"),
    "only white space": (" \n\n", "no spoken line"),
    "binary": ("\0\1", "is binary"),
    "no time": ("1\n00:00:01,000 -> x --> 3\nx", r"line 2: '00:00:01,000 -> x --> 3' is not a time: write"),
    "no cue": ("WEBVTT\n\n", "no spoken line"),
    "60 seconds": ("1\n00:00:61,000 --> 00:02:03,000\nx", "line 2: .* more than 59"),
    "backwards": ("00:00:09,000 --> 00:00:01,000\nx", "line 1: it ends before it begins"),
    "days": ("99:00:00,000 --> 99:00:01,000\nx", "line 1: it is later than 24 hours"),
    "prose": ("Once upon a time\nthere was", "line 1: 'Once upon a time' says neither when nor who"),
    "order": ("[10:00] A: b\n[09:00] A: c", "line 2: it is earlier than the line above it"),
    "no format": ("[Events]\nDialogue: 0,1,2", "line 2: no `Format:`"),
    "few columns": ("[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00", "line 3: fewer than 3"),
    "no time in ass": ("[Events]\nFormat: Start, End, Text\nDialogue: x,0:00:02.00,hi", "line 3: 'x' is no"),
    "a book in a line": (f"Ana: {'x' * 6000}", "line 1: more than 5,000 characters"),
}  # fmt: skip


def test_transcripts(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (text, lines) in CASES.items():
        with subtests.test(name):
            assert list(transcript(text.encode())) == lines
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        with subtests.test(encoding):
            file = tmp_path / encoding
            file.write_bytes(
                "Ana: Größe und Äpfel für die Ärztin, schöne Grüße an Jürgen und Käthe\n".encode(encoding)
            )
            assert [line.text[:17] for line in read_transcript(file)] == ["Größe und Äpfel f"]


def test_broken_transcripts(
    tmp_path: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (text, said) in BROKEN.items():
        with subtests.test(name):
            file = tmp_path / "talk.srt"
            file.write_text(text)
            with pytest.raises(ToolError, match=said) as told:
                read_transcript(file)
            assert "talk.srt" in str(told.value)
    for file, said in (
        (tmp_path, "no file"),
        (tmp_path / "none.srt", "no file"),
        (Path("a\0b"), "no file|cannot be"),
    ):
        with subtests.test(str(file)), pytest.raises(ToolError, match=said):
            read_transcript(file)
    with subtests.test("too many lines"), pytest.raises(ToolError, match="more than 100,000 lines"):
        transcript(b"A: b\n" * 100_001)
    event = "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,"
    cue = "WEBVTT\n\n00:01.000 --> 00:02.000\n"
    for hostile in (event + "{\\" * 300_000, event + "{" * 600_000, cue + "<v " * 300_000):
        with subtests.test(hostile[60:100]), pytest.raises(ToolError):  # in time that grows with its size
            transcript(hostile.encode())
    with subtests.test("room"):
        assert transcript(f"{cue}<v{' ' * 600_000}x".encode()) == (Line(1000, 2000, "<v x"),)
    with subtests.test("too large"), pytest.raises(ToolError, match="more than 20 MB"):
        transcript(b"A: b\n" * 4_000_001)


@given(st.binary(max_size=300) | st.text(alphabet="-:>0123 \nAna<v[]{}.,", max_size=120).map(str.encode))
def test_any_bytes_are_lines_or_an_error(data: bytes) -> None:
    try:
        lines = transcript(data)
    except ToolError:
        return
    assert lines
    for line in lines:
        assert 0 <= line.start_ms <= line.end_ms
        assert line.text.strip() == line.text != ""
        assert line.who is None or line.who.strip()


# ---- segments -------------------------------------------------------------------------------------

MOMENTS = st.integers(0, 300_000)
LINES = st.lists(
    st.builds(
        lambda start, length, who: Line(start, start + length, "x", who),
        MOMENTS, st.integers(0, 90_000), st.sampled_from([None, "Ana", "Bob"]),
    ), max_size=25,
)  # fmt: skip
SHOTS = st.lists(MOMENTS, unique=True, max_size=12).map(
    lambda cuts: [
        Shot(start, end, start) for start, end in zip(sorted(cuts)[:-1], sorted(cuts)[1:], strict=True)
    ]
)


@given(LINES, SHOTS)
def test_segments_cut_no_line(lines: list[Line], shots: list[Shot]) -> None:
    found = segments(lines, shots)
    assert sorted(map(repr, (line for one in found for line in one.lines))) == sorted(map(repr, lines))
    for one in found:
        assert all(one.start_ms <= line.start_ms and line.end_ms <= one.end_ms for line in one.lines)
        assert one.lines or one.end_ms - one.start_ms >= SHORTEST_MS
        assert all(shot.start_ms < one.end_ms and shot.end_ms > one.start_ms for shot in one.shots)
    for before, after in pairwise(found):
        assert before.end_ms <= after.start_ms
        inside = [line for line in before.lines if line.end_ms - line.start_ms > LONGEST_MS]
        assert inside or len(before.lines) < 2 or not _pause_in(before.lines)


def _pause_in(lines: tuple[Line, ...]) -> bool:
    ends = 0
    for line in lines:
        if ends and line.start_ms - ends >= PAUSE_MS:
            return True
        ends = max(ends, line.end_ms)
    return False


def test_where_segments_end(subtests: pytest.Subtests) -> None:
    said = [Line(0, 2000, "a"), Line(2000, 4000, "b"), Line(5600, 7000, "c"), Line(7100, 8000, "d")]
    with subtests.test("a pause, and no shots at all"):
        assert [(one.start_ms, one.end_ms) for one in segments(said)] == [(0, 4000), (5600, 8000)]
    with subtests.test("a cut between lines parts them, one within a line does not"):
        shots = [Shot(0, 1000, 500), Shot(1000, 2000, 1500), Shot(2000, 20_000, 3000)]
        found = segments(said, shots)
        spans = [(0, 2000), (2000, 4000), (5600, 8000), (8000, 20_000)]
        assert [(one.start_ms, one.end_ms) for one in found] == spans
        assert found[0].shots == tuple(shots[:2])
    with subtests.test("long talk without a pause is parted where another speaks"):
        talk = [Line(at * 1000, at * 1000 + 1000, "x", "Ana" if at < 50 else "Bob") for at in range(90)]
        assert [one.start_ms for one in segments(talk)] == [0, 50_000]
    with subtests.test("text on the screen is kept, however shortly it is there and nothing is said"):
        slide, plain = Shot(4000, 4400, 4200, shown="Agenda"), Shot(4400, 5600, 5000)
        heard = Shot(5600, 9000, 8500, shown="Budget")
        found = segments(said, [Shot(0, 4000, 10), slide, plain, heard])
        spans = [(0, 4000), (4000, 4400), (5600, 8000)]
        assert [(one.start_ms, one.end_ms) for one in found] == spans
        assert [one.shots for one in found[1:]] == [(slide,), (heard,)]
    with subtests.test("nothing"):
        assert segments([]) == ()


# ---- speech ---------------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """Takes a file as the protocol sends it, and gives what the test wants."""

    def log_message(self, *args: object) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = message_from_bytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\n\n" + body)
        parts: Any = form.get_payload()
        fields = {
            re.search('name="([^"]+)"', part["Content-Disposition"])[1]: part.get_payload(decode=True)  # type: ignore[index]
            for part in parts
        }
        server: Any = self.server
        server.asked.append((self.path, self.headers["Authorization"], fields))
        status, reply = server.replies[min(len(server.asked), len(server.replies)) - 1]
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def endpoint(*replies: tuple[int, Any]) -> Iterator[tuple[Endpoint, list[Any]]]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.asked, server.replies = [], replies
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Endpoint("whisper-1", "key", f"http://127.0.0.1:{server.server_port}/v1", 5.0), server.asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sound(path: Path, seconds: int, quiet: int, rate: int = 1000) -> Path:
    with wave.open(str(path), "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        for second in range(seconds):
            written.writeframes(struct.pack("<h", 1 if second == quiet else 9000) * rate)
    return path


def test_speech_by_an_endpoint(
    tmp_path: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"text": "x", "segments": [{"start": 0.5, "end": 1.25, "text": " Hello. ", "speaker": "A"},
                                      {"start": 2, "end": 3.0, "text": "  "}]}  # fmt: skip
    short = sound(tmp_path / "short.wav", 3, 1)
    with subtests.test("what is sent, and what comes of it"), endpoint((200, told)) as (where, asked):
        assert transcribe(short, where) == (Line(500, 1250, "Hello.", "A"),)
        ((path, key, fields),) = asked
        assert (path, key) == ("/v1/audio/transcriptions", "Bearer key")
        assert fields["model"] == b"whisper-1"
        assert fields["response_format"] == b"verbose_json"
        assert fields["file"] == short.read_bytes()
    with (
        subtests.test("a long one goes in pieces that end where it is quiet"),
        endpoint((200, told), (200, {"segments": [{"start": 1, "end": 2, "text": "Later."}]})) as (
            where,
            asked,
        ),
    ):
        monkeypatch.setattr(speech, "PIECE_SECONDS", 60)
        long = sound(tmp_path / "long.wav", 100, 50)
        assert transcribe(long, where) == (Line(500, 1250, "Hello.", "A"), Line(51_950, 52_950, "Later."))
        with wave.open(str(long)) as whole:
            sizes = [len(fields["file"]) - 44 for _, _, fields in asked]
            assert sum(sizes) == 2 * whole.getnframes()
    text = tmp_path / "talk.txt"
    text.write_text("x")
    (tmp_path / "broken.wav").write_bytes(b"RIFF....")
    (tmp_path / "large.mp3").write_bytes(b"x" * (speech.REQUEST_BYTES + 1))
    faults: dict[str, tuple[int, Any, type[Exception], str]] = {
        "key": (401, {}, NotAllowedError, "OPENAI_API_KEY"),
        "model": (404, {}, ToolError, "TASKLOOM_TRANSCRIPTION"),
        "busy": (503, {}, TransientError, "OPENAI_BASE_URL"),
        "no JSON": (200, b"<html>", ToolError, "not a transcription"),
        "no times": (200, {"text": "Hello."}, ToolError, "gives no times"),
        "silence": (200, {"segments": []}, ToolError, "nothing is said"),
        "times that are none": (
            200,
            {"segments": [{"start": -1, "end": 9e9, "text": "x"}]},
            ToolError,
            "not a tr",
        ),
    }
    monkeypatch.setattr(speech, "RETRIES", 0)
    for name, (status, reply, kind, said) in faults.items():
        with (
            subtests.test(name), endpoint((status, reply)) as (where, _),
            pytest.raises(kind, match=said),
        ):  # fmt: skip
            transcribe(short, where)
    gone = Endpoint("w", None, "http://127.0.0.1:9/v1", 2.0)
    with subtests.test("nobody there"), pytest.raises(TransientError, match="OPENAI_BASE_URL"):
        transcribe(short, gone)
    for name, said in (
        ("talk.txt", "not sound of a kind"), ("broken.wav", "save it as 16-bit PCM"),
        ("large.mp3", "more than 24 MB"), ("none.wav", "cannot be read"),
    ):  # fmt: skip
        with subtests.test(name), pytest.raises(ToolError, match=said):
            transcribe(tmp_path / name, gone)
