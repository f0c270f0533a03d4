"""Recordings decoded: what is in them, and their pictures at exact times. The only importer of av (PyAV).

Only files on this machine are opened, and only as a kind of recording. FFmpeg is handed an open file and may
open nothing else, so that a playlist, or a file that refers to others, reaches nothing. Times are
milliseconds from where the recording begins.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from io import FileIO
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskloom.tools.errors import ToolError, UnavailableError

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream

_log = logging.getLogger(__name__)

Pixels: TypeAlias = NDArray[np.uint8]  # height, width, RGB
File: TypeAlias = "InputContainer"  # an open recording, as PyAV has it
AnyPacket: TypeAlias = "Packet[Stream]"

# FFmpeg's names of the kinds of files that are read; not among them is what refers to other files.
_KINDS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,flv,ogg,asf,wav,mp3,flac,aac"
_DAMAGE = 500  # packets that cannot be decoded, after which a file is given up
_MOST_SAMPLES = 10_000  # pictures a second
_NEAR = 2_000  # ms that are decoded on rather than searched for
_BACK = 15_000  # ms to go back where a search landed behind what it was for


@dataclass(frozen=True, slots=True)
class Limits:
    """What a recording may be: seconds long, frames that are decoded, pixels of one, bytes of the file."""

    seconds: float = 6 * 3_600
    frames: int = 2_000_000
    pixels: int = 36_000_000
    bytes: int = 50_000_000_000


LIMITS = Limits()


class Info(NamedTuple):
    """What a file says it holds, and its first picture is.

    duration_ms: None where the file does not say. width, height: pixels as they are shown, upright; 0 without
    pictures. rate: frames a second, on average. sound: whether there is any. subtitles: languages of the
    tracks of text, "und" where one is not told.
    """

    duration_ms: int | None
    width: int
    height: int
    rate: float
    sound: bool
    subtitles: tuple[str, ...]


class Picture(NamedTuple):
    """A frame: when it comes on, and its pixels, upright."""

    at_ms: int
    pixels: Pixels


def probe(path: Path, limits: Limits = LIMITS) -> Info:
    """What there is in a recording.

    Raises:
        ToolError: it is no file, no recording, damaged so that nothing of it can be seen, or beyond a limit.
        UnavailableError: PyAV is not installed.
    """
    with opened(path, limits) as file:
        tracks = tuple(stream.language or "und" for stream in file.streams.subtitles)
        duration = None if file.duration is None else max(0, round(file.duration / 1000))
        reel = _Reel(file, limits) if _pictured(file) else None
        if reel is None:
            if not file.streams.audio and not tracks:
                raise ToolError("neither pictures nor sound nor text in it")
            return Info(duration, 0, 0, 0.0, bool(file.streams.audio), tracks)
        _, frame = next(reel.frames())
        width, height = frame.width, frame.height
        if _quarters(frame) % 2:
            width, height = height, width
        rate = float(reel.stream.average_rate or 0)
        return Info(duration, width, height, rate, bool(file.streams.audio), tracks)


def samples(
    path: Path,
    per_second: float = 10.0,
    size: tuple[int, int] = (64, 36),
    *,
    start_ms: int = 0,
    end_ms: int | None = None,
    limits: Limits = LIMITS,
) -> Iterator[Picture]:
    """Small pictures at even distances: at each step the first frame that is due, with its own exact time.

    Where a file shows one frame for longer than a step, or is damaged, there are fewer. Of one that breaks
    off there is what comes before.

    Args:
        path: the recording.
        per_second: pictures of a second, at most.
        size: width and height, to which all are scaled whatever their proportions.
        start_ms: the first time.
        end_ms: where to stop; None for the end.
        limits: what it may be.

    Raises:
        ToolError, UnavailableError: as `probe`; or there are no pictures in it.
    """
    if not 0 < per_second <= _MOST_SAMPLES:
        raise ToolError(f"{per_second} pictures a second: give more than 0 and at most {_MOST_SAMPLES:,}")
    step = 1000 / per_second
    with opened(path, limits) as file:
        reel = _Reel(file, limits)
        due = float(start_ms)
        for at, frame in reel.frames(start_ms):
            if end_ms is not None and at >= end_ms:
                return
            if at >= due - 0.5:  # times are whole milliseconds
                yield Picture(at, reel.pixels(frame, *size))
                due = start_ms + step * ((at - start_ms + 0.5) // step + 1)


def pictures(
    path: Path, times_ms: Iterable[int], longest: int = 1280, *, limits: Limits = LIMITS
) -> Iterator[Picture]:
    """What is on the screen at each of some times, the first one first.

    Args:
        path: the recording.
        times_ms: in any order; after the end it is the last frame, before the first frame that.
        longest: pixels of the longer side, at most.
        limits: what it may be; its frames are those decoded for all the times together.

    Returns:
        For each different time a picture; `at_ms` is when that frame came on.

    Raises:
        ToolError, UnavailableError: as `samples`.
    """
    with opened(path, limits) as file:
        reel = _Reel(file, limits)
        for time in sorted(set(times_ms)):
            at, frame = reel.shown_at(time)
            share = min(1.0, longest / max(frame.width, frame.height))
            wide, high = (max(2, round(side * share)) for side in (frame.width, frame.height))
            if _quarters(frame) % 2:
                wide, high = high, wide
            yield Picture(at, reel.pixels(frame, wide, high))


def jpeg(pixels: Pixels, quantiser: int = 4) -> bytes:
    """A picture as a JPEG file. quantiser: 2 is the best, 31 the smallest.

    Raises:
        UnavailableError: PyAV is not installed.
    """
    av = _av()
    height, width = pixels.shape[:2]
    coder = av.CodecContext.create("mjpeg", "w")
    coder.width, coder.height, coder.pix_fmt, coder.time_base = width, height, "yuvj420p", Fraction(1)
    coder.qmin = coder.qmax = quantiser
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
    packets = [*coder.encode(frame.reformat(format="yuvj420p")), *coder.encode(None)]
    return b"".join(map(bytes, packets))


# ---- files ------------------------------------------------------------------------------------------


def _av() -> Any:
    try:
        import av
    except ImportError as error:
        raise UnavailableError("recordings need PyAV: pip install 'taskloom[video]'") from error
    return av


@contextmanager
def opened(path: Path, limits: Limits) -> Iterator[File]:
    """A file opened by FFmpeg; errors inside the block are raised with its name."""
    av = _av()
    try:
        data = FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ToolError(f"{str(path)!r} cannot be opened: {reason}; give a file on this machine") from error
    with data:
        status = os.fstat(data.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path.name!r} is not a plain file")
        if status.st_size > limits.bytes:
            raise ToolError(f"{path.name!r} is larger than {limits.bytes:,} bytes")
        options = {
            "format_whitelist": _KINDS, "protocol_whitelist": "none", "max_pixels": str(limits.pixels),
        }  # fmt: skip
        try:
            with av.open(data, options=options, metadata_errors="replace") as file:
                if (file.duration or 0) / 1_000_000 > limits.seconds:
                    raise ToolError(f"longer than {limits.seconds / 60:.0f} minutes")
                yield file
        except ToolError as error:
            raise ToolError(f"{path.name!r}: {error}") from error
        except (av.FFmpegError, OSError, UnicodeDecodeError) as error:
            raise ToolError(
                f"{path.name!r} cannot be read as a recording: it is empty, damaged, not complete, or of"
                " another kind; MP4, Matroska, WebM, AVI, MPEG, FLV, Ogg, WAV, MP3, FLAC and AAC can be read"
            ) from error


def origin_of(file: File) -> float:
    """Seconds of the file's own clock at which it begins."""
    return max(0, file.start_time or 0) / 1_000_000


def decoded(file: File, streams: Sequence[Stream], limits: Limits) -> Iterator[tuple[AnyPacket, Any]]:
    """What can be decoded of streams, each with the packet it came with; what is damaged is left out.

    Raises:
        ToolError: there are too many of them, or too much is damaged.
    """
    av = _av()
    packets, count, damaged = file.demux(streams), 0, 0
    while True:
        try:
            if (packet := next(packets, None)) is None:
                break
            frames = packet.decode()
        except IndexError:  # of PyAV, at the end, where a stream has come up midway
            break
        except av.FFmpegError as error:
            damaged += 1
            if damaged > _DAMAGE:
                raise ToolError("too much of it is damaged") from error
            continue
        count += len(frames)
        if count > limits.frames:
            raise ToolError(f"more than {limits.frames:,} frames")
        yield from ((packet, frame) for frame in frames)
    if damaged:
        _log.warning("a recording is damaged: %d packets of it were left out", damaged)


def resampler(rate: int) -> Any:
    """What makes sound of any kind one channel of 16 bits, `rate` samples a second."""
    return _av().AudioResampler(format="s16", layout="mono", rate=rate)


# ---- pictures -----------------------------------------------------------------------------------------


def _pictured(file: File) -> Any:
    """The stream of moving pictures; None if there is none. The cover of a song does not count."""
    streams = file.streams.video
    return next((one for one in streams if not one.disposition & one.disposition.attached_pic), None)


class _Reel:
    """The pictures of an open file, with their times."""

    def __init__(self, file: File, limits: Limits) -> None:
        self.stream, self._file, self._limits = _pictured(file), file, limits
        if self.stream is None:
            raise ToolError(f"no pictures in it{', only sound' if file.streams.audio else ''}")
        context = self.stream.codec_context
        if context is None:
            raise ToolError("its pictures are of a kind that cannot be decoded")
        self._check(context.width, context.height)
        context.options = {"max_pixels": str(limits.pixels)}
        self.stream.thread_type = "AUTO"
        self._origin, self._step = origin_of(file), 1 / float(self.stream.average_rate or 25)
        self._scaler, self._moved = _av().video.reformatter.VideoReformatter(), False
        self._coming: Iterator[tuple[int, VideoFrame]] = iter(())
        self._now: tuple[int, VideoFrame] | None = None
        self._ahead: tuple[int, VideoFrame] | None = None

    def frames(self, start_ms: int = 0) -> Iterator[tuple[int, VideoFrame]]:
        """The frames, with their times, from one on that is on the screen at a time or before it.

        Raises:
            ToolError: a limit is met, or none can be decoded.
        """
        for start in (start_ms, start_ms - _BACK, -_BACK):  # a search may land behind what it was for
            searched = start > 0 or self._moved
            if searched:
                self._search(start)
            self._moved, coming = True, self._timed()
            first = next(coming, None)
            if not searched or (first is not None and first[0] <= start_ms):
                break
        if first is None:
            raise ToolError("no picture of it can be decoded")
        yield first
        yield from coming

    def shown_at(self, time: int) -> tuple[int, VideoFrame]:
        """The frame that is on the screen at a time, and when it came on; times must not go back."""
        if self._now is None or time - self._now[0] > _NEAR:
            self._coming = self.frames(time)
            self._now, self._ahead = next(self._coming), next(self._coming, None)
        while self._ahead is not None and self._ahead[0] <= time:
            self._now, self._ahead = self._ahead, next(self._coming, None)
        return self._now

    def _search(self, start_ms: int) -> None:
        """Go to the last place at or before a time from which can be decoded, or near it."""
        for time in (start_ms, max(0, start_ms)):  # not every kind of file takes a time before its beginning
            try:
                clock = floor((time / 1000 + self._origin) / self.stream.time_base)
                self._file.seek(clock, stream=self.stream)
                return
            except (OSError, ValueError) as error:  # of FFmpeg
                fault = error
        if self._moved:  # else it is read from its beginning
            raise ToolError("it cannot be searched") from fault

    def _timed(self) -> Iterator[tuple[int, VideoFrame]]:
        seconds = -self._step
        for _, frame in decoded(self._file, [self.stream], self._limits):
            seconds = seconds + self._step if frame.time is None else frame.time - self._origin
            if seconds > self._limits.seconds:
                raise ToolError(f"longer than {self._limits.seconds / 60:.0f} minutes")
            self._check(frame.width, frame.height)
            yield max(0, round(1000 * seconds)), frame

    def pixels(self, frame: VideoFrame, width: int, height: int) -> Pixels:
        """A frame's pixels, upright and of this size."""
        turns = _quarters(frame)
        if turns % 2:
            width, height = height, width
        scaled = self._scaler.reformat(frame, width, height, "rgb24", interpolation="AREA").to_ndarray()
        return np.ascontiguousarray(np.rot90(scaled, turns))

    def _check(self, width: int, height: int) -> None:
        if width * height > self._limits.pixels:
            raise ToolError(f"pictures of {width} x {height}, more than {self._limits.pixels:,} pixels")


def _quarters(frame: VideoFrame) -> int:
    """Turns by 90 degrees, counterclockwise, that make a frame upright."""
    return round(frame.rotation / 90) % 4
