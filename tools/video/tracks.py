"""Sound of a recording as a transcription takes it, and the tracks of text inside its file."""

from __future__ import annotations

import re
import wave
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from taskloom.tools.errors import ToolError

from .lines import Line
from .media import LIMITS, AnyPacket, File, Limits, decoded, opened, origin_of, resampler

SOUND_RATE = 16_000  # samples a second
_GAP = SOUND_RATE // 10  # samples that are missing, from which on they are silence


class Sound(NamedTuple):
    """A stretch of sound: when it begins, how long it is, and a WAV file of it (16 kHz, mono, 16 bits)."""

    start_ms: int
    duration_ms: int
    wav: bytes


class Subtitles(NamedTuple):
    """A track of text inside a file."""

    language: str
    lines: tuple[Line, ...]


def subtitles(path: Path, limits: Limits = LIMITS) -> tuple[Subtitles, ...]:
    """The tracks of text inside a file, in its order; of pictures of text there are no lines. () if none.

    Raises:
        ToolError, UnavailableError: as `probe`.
    """
    with opened(path, limits) as file:
        streams, origin = file.streams.subtitles, origin_of(file)
        found: dict[int, list[Line]] = {stream.index: [] for stream in streams}
        for packet, event in decoded(file, streams, limits) if streams else ():
            found[packet.stream_index] += _line(packet, event, origin)
        return tuple(Subtitles(one.language or "und", tuple(found[one.index])) for one in streams)


def sound(
    path: Path, start_ms: int = 0, end_ms: int | None = None, *, seconds: int = 600, limits: Limits = LIMITS
) -> Iterator[Sound]:
    """The sound of a recording in pieces of so many seconds, as an endpoint for transcription takes it.

    Where nothing was recorded there is silence, so that times in a piece are times in the recording.

    Raises:
        ToolError, UnavailableError: as `probe`; or there is no sound in it.
    """
    with opened(path, limits) as file:
        if not file.streams.audio:
            raise ToolError("no sound in it")
        most, waiting, first = seconds * SOUND_RATE, bytearray(), start_ms
        for piece in _heard(file, start_ms, end_ms, limits):
            waiting += piece
            while len(waiting) >= 2 * most:
                yield _wav(first, bytes(waiting[: 2 * most]))
                del waiting[: 2 * most]
                first += 1000 * seconds
        if waiting:
            yield _wav(first, bytes(waiting))


# ---- text -----------------------------------------------------------------------------------------------

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_MARKS = re.compile(r"<[^>]*>|\{\\[^}]*\}")


def _line(packet: AnyPacket, event: Any, origin: float) -> list[Line]:
    """What a packet of a track of text says; [] for pictures of text, and where it says nothing."""
    clock = packet.time_base or Fraction(1, 1000)
    start = max(0, round(1000 * (float((packet.pts or 0) * clock) - origin)))
    end = start + max(0, round(1000 * float((packet.duration or 0) * clock)))
    if packet.stream.codec_context.name == "webvtt":  # whose decoder drops the voices
        said = bytes(packet).decode("utf-8", "replace")
        voice = _VOICE.search(said)
        who = " ".join(voice[1].split()) if voice else None
    else:
        who, said = _speaker_and_words(getattr(event, "ass", b""))
    text = " ".join(_MARKS.sub("", said).replace("\\N", " ").split())
    return [Line(start, end, text, who)] if text else []


def _speaker_and_words(event: bytes) -> tuple[str | None, str]:
    """Speaker and words of an event of ASS: number, layer, style, speaker, three margins, effect, words."""
    fields = event.decode("utf-8", "replace").split(",", 8)
    return (fields[3].strip() or None, fields[8]) if len(fields) == 9 else (None, "")


# ---- sound ----------------------------------------------------------------------------------------------


def _heard(file: File, start_ms: int, end_ms: int | None, limits: Limits) -> Iterator[bytes]:
    """Samples of 16 bits from a time to another, with silence where nothing was recorded."""
    if start_ms > 0:
        file.seek(round((start_ms / 1000 + origin_of(file)) * 1_000_000))
    at = start_ms * SOUND_RATE // 1000
    end = limits.seconds * SOUND_RATE + 1 if end_ms is None else end_ms * SOUND_RATE // 1000
    for first, data in _resampled(file, limits):
        while first > at + _GAP and at < end:
            silent = int(min(first - at, SOUND_RATE, end - at))
            yield bytes(2 * silent)
            at += silent
        if at >= end:
            break
        known = data[2 * (at - first) :] if at > first + _GAP else data  # not what is before the start
        known = known[: 2 * int(end - at)]
        yield known
        at += len(known) // 2
    if at > limits.seconds * SOUND_RATE:
        raise ToolError(f"longer than {limits.seconds / 60:.0f} minutes")


def _resampled(file: File, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """All of the sound from where the file stands: the number of its first sample, and samples of 16 bits."""
    one_channel, origin, first = resampler(SOUND_RATE), origin_of(file), 0
    for _, frame in decoded(file, [file.streams.audio[0]], limits):
        if frame.time is not None:
            first = round((frame.time - origin) * SOUND_RATE)
        try:
            data = b"".join(one.to_ndarray().astype("<i2").tobytes() for one in one_channel.resample(frame))
        except ValueError as error:  # what PyAV raises for it
            raise ToolError("its sound changes its rate or its channels midway") from error
        yield first, data
        first += len(data) // 2


def _wav(start_ms: int, data: bytes) -> Sound:
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SOUND_RATE)
        file.writeframes(data)
    return Sound(start_ms, 500 * len(data) // SOUND_RATE, out.getvalue())
