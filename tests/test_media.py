"""Recordings are decoded at exact times; what is broken, hostile or no recording ends in a clear error."""

from __future__ import annotations

import io
import os
import random
import struct
import sys
import threading
import wave
from collections.abc import Callable
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from taskloom.tools.errors import ToolError, UnavailableError
from taskloom.tools.video.lines import Line
from taskloom.tools.video.media import Limits, Pixels, jpeg, pictures, probe, samples
from taskloom.tools.video.taken import Taken, taken
from taskloom.tools.video.tracks import SOUND_RATE, sound, subtitles
from tests.test_transcripts import endpoint

av = pytest.importorskip("av", reason="needs the extra `video`")

WIDTH, HEIGHT, BITS = 128, 64, 8


def numbered(number: int) -> Pixels:
    """A picture that holds its number: the left half in black and white stripes, the right half red."""
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    for bit in range(BITS):
        picture[:, 8 * bit : 8 * bit + 8] = 235 if number >> bit & 1 else 16
    picture[:, WIDTH // 2 :] = (200, 30, 30)
    return picture


def number_of(pixels: Pixels) -> int:
    wide, middle = pixels.shape[1] / WIDTH, pixels.shape[0] // 2
    return sum(int(pixels[middle, int((8 * bit + 4) * wide)].mean() > 128) << bit for bit in range(BITS))


class Film(NamedTuple):
    """A file, and when each of its frames comes on, in milliseconds from its beginning."""

    path: Path
    times: tuple[int, ...]

    def shown(self, time: int) -> int:
        return max([0, *(number for number, at in enumerate(self.times) if at <= time)])


def film(path: Path, ticks: list[int], clock: Fraction, codec: str, rate: Fraction) -> Film:
    with av.open(str(path), "w") as file:
        stream = file.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = stream.codec_context.time_base = clock
        stream.options = {"g": "40"} | ({"preset": "ultrafast", "bf": "2"} if codec == "libx264" else {})
        for number, tick in enumerate(ticks):
            frame = av.VideoFrame.from_ndarray(numbered(number), format="rgb24")
            frame.pts, frame.time_base = tick, clock
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return Film(path, tuple(round(1000 * float(tick * clock)) for tick in ticks))


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Film]:
    """Films of 200 frames: at steady rates in several kinds of files, and at a varying one."""
    folder, steady = tmp_path_factory.mktemp("films"), list(range(200))
    uneven = [0, *sorted(random.Random(5).sample(range(1, 12_000), 199))]
    fast = Fraction(30_000, 1001)
    return {
        "mp4": film(folder / "a.mp4", steady, Fraction(1, 25), "libx264", Fraction(25)),
        "ntsc": film(folder / "b.mp4", steady, 1 / fast, "libx264", fast),
        "uneven": film(folder / "c.mp4", uneven, Fraction(1, 1000), "libx264", Fraction(25)),
        "mkv": film(folder / "d.mkv", uneven, Fraction(1, 1000), "libx264", Fraction(25)),
        "ts": film(folder / "e.ts", steady, Fraction(1, 25), "libx264", Fraction(25)),
        "avi": film(folder / "f.avi", steady, Fraction(1, 24), "mpeg4", Fraction(24)),
        "webm": film(folder / "g.webm", steady[:60], Fraction(1, 24), "libvpx", Fraction(24)),
    }


@pytest.fixture(scope="session")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds of a tone of 440 Hz from second 1 on, beside a film of 4 s."""
    path = tmp_path_factory.mktemp("talk") / "talk.mp4"
    with av.open(str(path), "w") as file:
        pictures = file.add_stream("libx264", rate=25)
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        heard = file.add_stream("aac", rate=44_100, layout="stereo")
        wave_ = (12_000 * np.sin(2 * np.pi * 440 * np.arange(3 * 44_100) / 44_100)).astype(np.int16)
        for start in range(0, len(wave_), 1024):
            piece = np.repeat(wave_[start : start + 1024], 2)[None]
            frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="stereo")
            frame.pts, frame.sample_rate, frame.time_base = 44_100 + start, 44_100, Fraction(1, 44_100)
            file.mux(heard.encode(frame))
        for number in range(100):
            file.mux(pictures.encode(av.VideoFrame.from_ndarray(numbered(number), format="rgb24")))
        file.mux(pictures.encode())
        file.mux(heard.encode())
    return path


# ---- pictures -------------------------------------------------------------------------------------------


def test_pictures_have_the_times_of_their_frames(films: dict[str, Film], subtests: pytest.Subtests) -> None:
    for name, (path, times) in films.items():
        with subtests.test(name):
            every = list(samples(path, 2_000, (WIDTH, HEIGHT)))
            assert [one.at_ms for one in every] == pytest.approx(times, abs=1)  # a file's clock may be coarse
            assert [number_of(one.pixels) for one in every] == list(range(len(times)))
            some = list(samples(path, 10, (64, 36)))
            assert all(number_of(one.pixels) == Film(path, times).shown(one.at_ms + 1) for one in some)
            due = [
                next((at for at in times if at >= 100 * step - 1), None) for step in range(times[-1] // 100)
            ]
            assert {at for at in due if at is not None} <= {
                one.at_ms + nearly for one in some for nearly in (-1, 0, 1)
            }
            part = [one.at_ms for one in samples(path, 25, start_ms=1_500, end_ms=2_000)]
            assert all(1_500 <= at < 2_000 for at in part)
            assert part[0] == pytest.approx(min(at for at in times if at >= 1_499), abs=1)
            info = probe(path)
            assert (info.width, info.height, info.sound) == (WIDTH, HEIGHT, False)
            assert info.duration_ms == pytest.approx(times[-1], abs=150)


@given(data=st.data())
def test_what_is_on_the_screen_at_any_time(films: dict[str, Film], data: st.DataObject) -> None:
    one = films[data.draw(st.sampled_from(sorted(films)))]
    middles = [(a + b) // 2 for a, b in zip(one.times, [*one.times[1:], one.times[-1] + 40], strict=True)]
    wanted = data.draw(st.lists(st.sampled_from(middles), min_size=1, max_size=5))
    seen = list(pictures(one.path, wanted))
    assert [number_of(picture.pixels) for picture in seen] == [one.shown(at) for at in sorted(set(wanted))]
    assert [picture.at_ms for picture in seen] == pytest.approx(
        [one.times[one.shown(at)] for at in sorted(set(wanted))], abs=1
    )


def test_before_the_beginning_and_after_the_end(films: dict[str, Film]) -> None:
    for one in films.values():
        first, last = pictures(one.path, [-50, 999_999])
        assert (number_of(first.pixels), number_of(last.pixels)) == (0, len(one.times) - 1)


def turned(film: Film, path: Path, matrix: tuple[int, int, int, int]) -> Path:
    """The same film, with another matrix in the header of its track."""
    data = bytearray(film.path.read_bytes())
    place = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    assert struct.unpack(">5i", data[place : place + 20]) == (65536, 0, 0, 0, 65536)
    a, b, c, d = (65536 * value for value in matrix)
    data[place : place + 20] = struct.pack(">5i", a, b, 0, c, d)
    path.write_bytes(data)
    return path


def test_turned_films_are_upright(films: dict[str, Film], tmp_path: Path) -> None:
    right = turned(films["mp4"], tmp_path / "right.mp4", (0, 1, -1, 0))  # by 90 degrees clockwise
    info = probe(right)
    assert (info.width, info.height) == (HEIGHT, WIDTH)
    (picture,) = pictures(right, [400])
    assert picture.pixels.shape == (WIDTH, HEIGHT, 3)
    assert picture.pixels[WIDTH - 8, HEIGHT // 2, 0] > 150 > picture.pixels[WIDTH - 8, HEIGHT // 2, 1] * 2
    assert number_of(np.rot90(picture.pixels)) == 10  # the red half was right and is below
    (upside_down,) = pictures(turned(films["mp4"], tmp_path / "down.mp4", (-1, 0, 0, -1)), [400])
    assert number_of(upside_down.pixels[::-1, ::-1]) == 10
    (small,) = samples(right, 10, (36, 64), end_ms=50)
    assert small.pixels.shape == (64, 36, 3)


def test_a_jpeg_looks_like_its_picture() -> None:
    picture = numbered(0b1011) | np.random.default_rng(1).integers(0, 16, (HEIGHT, WIDTH, 1), np.uint8)
    made = jpeg(picture)
    assert made[:2] == b"\xff\xd8"
    assert len(jpeg(picture, 31)) < len(made) < picture.nbytes / 5
    again = np.asarray(Image.open(io.BytesIO(made)))
    assert again.shape == picture.shape
    assert number_of(again) == 0b1011
    assert np.abs(again.astype(int) - picture).mean() < 6


def test_large_pictures_are_made_smaller(films: dict[str, Film]) -> None:
    (picture,) = pictures(films["mp4"].path, [0], 64)
    assert picture.pixels.shape == (32, 64, 3)


# ---- sound and text -------------------------------------------------------------------------------------


def heard(wav: bytes) -> Any:
    with wave.open(io.BytesIO(wav)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (SOUND_RATE, 1, 2)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)


def loud(samples_: Any) -> float:
    return float(np.sqrt((samples_**2).mean()))


def test_sound_is_in_its_place(talk: Path, films: dict[str, Film]) -> None:
    (whole,) = sound(talk)
    wave_ = heard(whole.wav)
    assert whole.start_ms == 0
    assert whole.duration_ms == pytest.approx(4_000, abs=60)
    assert loud(wave_[: SOUND_RATE * 9 // 10]) < 50
    assert loud(wave_[SOUND_RATE * 11 // 10 : 3 * SOUND_RATE]) > 5_000
    spectrum = np.abs(np.fft.rfft(wave_[2 * SOUND_RATE : 3 * SOUND_RATE]))
    assert int(spectrum.argmax()) == 440
    pieces = list(sound(talk, seconds=1))
    assert [piece.start_ms for piece in pieces[:4]] == [0, 1_000, 2_000, 3_000]
    assert np.concatenate([heard(piece.wav) for piece in pieces]).tolist() == wave_.tolist()
    (part,) = sound(talk, 500, 1_500)
    assert len(heard(part.wav)) == SOUND_RATE
    assert loud(heard(part.wav)[: SOUND_RATE * 4 // 10]) < 50
    assert loud(heard(part.wav)[SOUND_RATE * 6 // 10 :]) > 4_000
    with pytest.raises(ToolError, match="no sound in it"):
        list(sound(films["mp4"].path))


def test_kinds_of_sound(tmp_path: Path, talk: Path, subtests: pytest.Subtests) -> None:
    for name, codec, rate in (
        ("a.flac", "flac", 44_100), ("a.ogg", "libopus", 48_000), ("a.aac", "aac", 44_100),
        ("a.m4a", "aac", 44_100), ("a.mp3", "libmp3lame", 44_100), ("a.mkv", "pcm_s16le", 8_000),
    ):  # fmt: skip
        path = tmp_path / name
        tone = (12_000 * np.sin(2 * np.pi * 440 * np.arange(2 * rate) / rate)).astype(np.int16)
        with subtests.test(name):
            with av.open(str(path), "w") as file:
                stream = file.add_stream(codec, rate=rate, layout="mono")
                resampler = av.AudioResampler(format=stream.format, layout="mono", rate=rate)
                for start in range(0, len(tone), 960):
                    frame = av.AudioFrame.from_ndarray(
                        tone[None, start : start + 960], format="s16", layout="mono"
                    )
                    frame.pts, frame.sample_rate, frame.time_base = start, rate, Fraction(1, rate)
                    for piece in resampler.resample(frame):
                        file.mux(stream.encode(piece))
                file.mux(stream.encode())
            (whole,) = sound(path)
            assert whole.duration_ms == pytest.approx(2_000, abs=80)
            spectrum = np.abs(np.fft.rfft(heard(whole.wav)[SOUND_RATE // 2 : 3 * SOUND_RATE // 2]))
            assert int(spectrum.argmax()) == 440


def test_a_recording_without_pictures(tmp_path: Path, talk: Path) -> None:
    (whole,) = sound(talk)
    path = tmp_path / "talk.wav"
    path.write_bytes(whole.wav)
    info = probe(path)
    assert (info.width, info.sound) == (0, True)
    assert info.duration_ms == pytest.approx(whole.duration_ms, abs=1)
    assert next(sound(path)).wav == whole.wav
    for read in (samples(path), pictures(path, [0])):
        with pytest.raises(ToolError, match=r"'talk\.wav': no pictures in it, only sound"):
            next(read)


ASS = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n[Events]\n"
    b"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


def texts(path: Path, codec: str, *packets: bytes) -> Path:
    """A file with a track of text of two packets, of that kind."""
    with av.open(str(path), "w") as file:
        track = file.add_stream(codec)
        track.time_base, track.metadata["language"] = Fraction(1, 1000), "eng"
        track.codec_context.subtitle_header = ASS
        for start, end, text in zip((0, 1_200), (500, 2_345), packets, strict=True):
            packet = av.Packet(text)
            packet.stream, packet.time_base = track, Fraction(1, 1000)
            packet.pts = packet.dts = start
            packet.duration = end - start
            file.mux(packet)
    return path


def test_tracks_of_text(tmp_path: Path, subtests: pytest.Subtests, films: dict[str, Film]) -> None:
    events = (b"0,0,Default,Ana B,0,0,0,,{\\i1}Hello", b"1,0,Default,,0,0,0,,To\\NJune")
    for path, who in (
        (texts(tmp_path / "srt.mkv", "subrip", b"<i>Hello</i>", b"To\nJune"), None),
        (texts(tmp_path / "webvtt.mkv", "webvtt", b"<v.loud Ana B>Hello</v>", b"To <b>June"), "Ana B"),
        (texts(tmp_path / "ass.mkv", "ass", *events), "Ana B"),
        (texts(tmp_path / "mov_text.mp4", "mov_text", b"\0\5Hello", b"\0\7To June"), None),
    ):
        with subtests.test(path.name):
            (track,) = subtitles(path)
            assert track.language == "eng"
            assert track.lines == (Line(0, 500, "Hello", who), Line(1_200, 2_345, "To June"))
            assert probe(path).subtitles == ("eng",)
    assert subtitles(films["mp4"].path) == ()


# ---- what is no recording -------------------------------------------------------------------------------


def test_what_cannot_be_read_is_told(
    tmp_path: Path, films: dict[str, Film], subtests: pytest.Subtests
) -> None:
    whole = films["mp4"].path.read_bytes()
    os.mkfifo(tmp_path / "pipe.mp4")
    for name, data in {
        "empty.mp4": b"",
        "text.mp4": b"To be, or not to be\n" * 200,
        "spoken.mp4": b"1\n00:00:01,000 --> 00:00:02,000\nHi\n\n2\n00:00:03,000 --> 00:00:04,000\nHo\n",
        "zeros.mp4": bytes(100_000),
        "cut.mp4": whole[: len(whole) // 2],  # its index was at the end
        "name\nof two lines.mp4": b"no",
    }.items():
        (tmp_path / name).write_bytes(data)
    for name, told in {
        "empty.mp4": "cannot be read as a recording: it is empty",
        "text.mp4": "of another kind", "spoken.mp4": "of another kind", "zeros.mp4": "cannot be read",
        "cut.mp4": "not complete", "name\nof two lines.mp4": r"'name\\nof two lines.mp4' cannot",
        "pipe.mp4": "not a plain file", ".": "Is a directory",
        "nothing.mp4": "No such file", "nul\0.mp4": "null byte", "x" * 300: "too long",
        "http://127.0.0.1/a.mp4": "give a file on this machine", "concat:a.mp4|b.mp4": "No such file",
    }.items():  # fmt: skip
        for read in (probe, lambda path: list(samples(path)), lambda path: list(sound(path)), subtitles):
            with subtests.test(name), pytest.raises(ToolError, match=told):
                read(tmp_path / name)


def test_nothing_else_is_opened(tmp_path: Path, films: dict[str, Film], subtests: pytest.Subtests) -> None:
    asked: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url, other = f"http://127.0.0.1:{server.server_port}", films["ts"].path
    playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{}\n#EXT-X-ENDLIST\n"
    for name, text in {
        "list.m3u8": playlist.format(f"{url}/a.ts"),
        "list.mp4": playlist.format(f"{url}/a.ts"),
        "local.m3u8": playlist.format(other),
        "concat.mp4": f"ffconcat version 1.0\nfile '{other}'\n",
        "dash.mpd": f'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet><Representation>'
        f"<BaseURL>{url}/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>",
        "offer.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
        "image.mp4": '<svg xmlns="http://www.w3.org/2000/svg"><image href="' + url + '/a.png"/></svg>',
    }.items():
        (tmp_path / name).write_text(text)
        with subtests.test(name), pytest.raises(ToolError, match="of another kind"):
            list(samples(tmp_path / name))
    server.shutdown()
    server.server_close()
    assert asked == []


def test_limits(films: dict[str, Film], talk: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for told, limits in {
        "longer than 0 minutes": Limits(seconds=2),
        "more than 50 frames": Limits(frames=50),
        f"{WIDTH} x {HEIGHT}, more than 100 pixels": Limits(pixels=100),
        "larger than 1,000 bytes": Limits(bytes=1_000),
    }.items():
        with subtests.test(told), pytest.raises(ToolError, match=told):
            list(samples(films["mp4"].path, limits=limits))
    for rate in (0, -1, float("nan"), 1e9):
        with pytest.raises(ToolError, match="pictures a second: give more than 0"):
            list(samples(films["mp4"].path, rate))
    with pytest.raises(ToolError, match="more than 50 frames"):
        list(sound(talk, limits=Limits(frames=50)))
    path, short = tmp_path / "no_duration.mkv", Limits(seconds=2)
    data = bytearray(films["mkv"].path.read_bytes())
    place = data.index(b"\x44\x89\x88")  # the element that says how long it is becomes one that is skipped
    data[place : place + 3] = b"\xec\x40\x08"
    path.write_bytes(data)
    for read in (samples(path, limits=short), pictures(path, [9_000], limits=short)):
        with pytest.raises(ToolError, match="longer than"):
            list(read)


def refused(read: Callable[[Path], object], path: Path) -> str:
    """What is told of a file, "" if it can be read; any other error is one of ours."""
    try:
        read(path)
    except ToolError as error:
        return str(error)
    return ""


def test_claims_of_giant_pictures(films: dict[str, Film], tmp_path: Path) -> None:
    for name, mark, form, offset in (("mp4", b"avc1", ">2H", 28), ("avi", b"strf", "<2i", 12)):
        data, claim = bytearray(films[name].path.read_bytes()), 60_000
        place = data.rindex(mark) + offset
        assert struct.unpack_from(form, data, place) == (WIDTH, HEIGHT)
        struct.pack_into(form, data, place, claim, claim)
        path = tmp_path / films[name].path.name
        path.write_bytes(data)
        told = refused(lambda at: list(samples(at)), path)
        assert "60000 x 60000, more than" in told or {one.pixels.shape for one in samples(path)} == {
            (36, 64, 3)
        }


def test_what_is_damaged_is_read_as_far_as_it_goes(films: dict[str, Film], tmp_path: Path) -> None:
    for name in ("mkv", "ts", "avi"):
        data = films[name].path.read_bytes()
        path = tmp_path / films[name].path.name
        path.write_bytes(data[: len(data) * 6 // 10])
        seen = list(samples(path, 2_000, (WIDTH, HEIGHT)))
        assert 80 < len(seen) < 180
        assert [number_of(one.pixels) for one in seen[:80]] == list(range(80))


def test_any_damage_is_told_or_read(films: dict[str, Film], talk: Path, tmp_path: Path) -> None:
    rng, path = random.Random(1), tmp_path / "damaged"
    for source in (*(one.path for one in films.values()), talk):
        whole = source.read_bytes()
        for _ in range(8):
            data = bytearray(whole)
            for _ in range(rng.choice([1, 10, 300])):
                data[rng.randrange(len(data) if rng.random() < 0.7 else min(3_000, len(data)))] = (
                    rng.randrange(256)
                )
            path.write_bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
            for read in (probe, lambda at: list(samples(at)), lambda at: list(sound(at)), subtitles):
                told = refused(read, path)
                assert not told or "'damaged'" in told


def test_without_pyav_it_says_what_to_install(
    films: dict[str, Film], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UnavailableError, match=r"pip install 'taskloom\[video\]'"):
        probe(films["mp4"].path)


# ---- taken in -------------------------------------------------------------------------------------------

HEARD = {"text": "Hello.", "segments": [{"start": 1, "end": 2, "text": "Hello."}]}


def test_a_recording_is_taken_in_by_whatever_tells_of_it(
    tmp_path: Path, talk: Path, films: dict[str, Film], subtests: pytest.Subtests
) -> None:
    said: list[str] = []
    text, film = tmp_path / "words.txt", tmp_path / "film.mp4"
    text.write_text("[00:01] Ana: Hello.\n")
    film.write_bytes(films["mp4"].path.read_bytes())
    for name, file, beside, words_, seen in (
        ("a transcript alone", text, None, "Hello.", False),
        ("beside a film", film, text, "Hello.", True),
        ("a film without sound", film, None, "", True),
        (
            "a track of text",
            texts(tmp_path / "srt.mkv", "subrip", b"Hello", b"To June"),
            None,
            "Hello To June",
            False,
        ),
        ("a film with sound, and nothing that tells it", talk, None, "", True),
    ):
        with subtests.test(name):
            found = taken(file, beside, progress=said.append)
            assert " ".join(line.text for line in found.lines) == words_
            assert bool(found.shots) == seen
    assert [one for one in said if "TASKLOOM_TRANSCRIPTION" in one]
    with subtests.test("a damaged film beside its transcript"):
        film.write_bytes(b"nothing of the kind")
        found = taken(film, text, progress=said.append)
        assert ([line.text for line in found.lines], found.shots) == (["Hello."], ())
        assert "its pictures are left out" in said[-1]
        with pytest.raises(ToolError):
            taken(film)
    with (
        subtests.test("an endpoint, of a kind that it takes, and of another"),
        endpoint((200, HEARD)) as (where, asked),
    ):
        other = tmp_path / "talk.mkv"
        other.write_bytes(talk.read_bytes())
        for path, sent in ((talk, talk.read_bytes()[:4]), (other, b"RIFF")):
            found = taken(path, endpoint=where)
            assert found.lines == (Line(1000, 2000, "Hello."),)
            assert found.shots
            assert asked[-1][2]["file"].startswith(sent)
    alone = tmp_path / "alone.wav"
    with wave.open(str(alone), "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(8000)
        written.writeframes(bytes(16_000))
    with (
        subtests.test("sound alone, and nothing that tells it"),
        pytest.raises(ToolError, match="TRANSCRIPTION"),
    ):
        taken(alone)


def test_without_pyav_what_is_said_is_taken_in(
    tmp_path: Path, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ToolError, match=r"--transcript.*TASKLOOM_TRANSCRIPTION.*taskloom\[video\]"):
        taken(talk)
    (tmp_path / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    assert taken(talk, tmp_path / "talk.vtt") == Taken((Line(1000, 2000, "Hello."),), pictures=True)
    with endpoint((200, HEARD)) as (where, _):
        assert taken(talk, endpoint=where) == Taken((Line(1000, 2000, "Hello."),), pictures=True)
