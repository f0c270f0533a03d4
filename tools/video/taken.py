"""What a recording holds as it is taken in: what is said, by whatever tells it first, and its shots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from taskloom.tools.errors import ToolError, UnavailableError

from .lines import Line, Shot
from .media import Info, probe, samples
from .screen import text_reader, with_text
from .shots import RATE, SIZE, shots
from .speech import REQUEST_BYTES, SUFFIXES, Endpoint, transcribe
from .tracks import sound, subtitles
from .transcripts import read_transcript

TRANSCRIPTS = (".srt", ".vtt", ".ass", ".ssa", ".txt")  # the first that lies beside a recording is its own
_LANGUAGE = "eng"  # of the track of text that is taken, where there are several


class Taken(NamedTuple):
    """What is said in a recording, and what is seen; () where its pictures are not looked at.

    pictures: whether it has any, for all that is known.
    """

    lines: tuple[Line, ...]
    shots: tuple[Shot, ...] = ()
    pictures: bool = False


def taken(
    file: Path,
    transcript: Path | None = None,
    endpoint: Endpoint | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Taken:
    """What a recording, or a transcript alone, holds.

    Args:
        file: a recording, or a transcript.
        transcript: of the recording; without one that beside it is taken, of its name, else a track of text
            inside of it, else what the endpoint makes of its sound.
        endpoint: what transcribes.
        progress: is called with what is being done, and what is left out.

    Raises:
        ToolError: nothing tells what is said, and there are no pictures; or what tells it cannot be used.
    """
    if file.suffix.lower() in TRANSCRIPTS:
        return Taken(read_transcript(transcript or file))
    beside = (file.with_suffix(suffix) for suffix in TRANSCRIPTS)
    transcript = transcript or next((one for one in beside if one.is_file()), None)
    lines = read_transcript(transcript) if transcript is not None else ()
    try:
        info = probe(file)
    except UnavailableError as error:
        if not lines and endpoint is None:
            raise _no_transcript(file, f", or look into it: {error}") from error
        return Taken(lines if lines or endpoint is None else transcribe(file, endpoint), pictures=True)
    except ToolError as error:
        if not lines:
            raise
        progress(f"its pictures are left out: {error}")
        return Taken(lines)
    if not lines:
        lines = _said(file, info, endpoint, progress)
    if not info.width:
        return Taken(lines)
    progress("looking for its shots")
    found = shots(samples(file, RATE, SIZE))
    try:
        read = text_reader()
    except UnavailableError as error:
        progress(f"the text on the screen is left out: {error}")
        read = None
    return Taken(lines, with_text(file, found, read), pictures=True)


def _said(
    file: Path, info: Info, endpoint: Endpoint | None, progress: Callable[[str], None]
) -> tuple[Line, ...]:
    """What is said by a track of text inside a recording, else by an endpoint.

    () where nothing tells it, and there are pictures to remember.

    Raises:
        ToolError: neither a text track nor an endpoint gives it, and there are no pictures.
    """
    tracks = [one for one in subtitles(file) if one.lines] if info.subtitles else []
    if tracks:
        return next((one for one in tracks if one.language == _LANGUAGE), tracks[0]).lines
    if endpoint is not None and info.sound:
        progress(f"having {endpoint.model} transcribe it")
        if file.suffix.lower() in SUFFIXES and file.stat().st_size <= REQUEST_BYTES:
            return transcribe(file, endpoint)
        return transcribe(file, endpoint, [(one.start_ms, "sound.wav", one.wav) for one in sound(file)])
    if not info.width:
        raise _no_transcript(file, "")
    if info.sound:
        progress("what is said is left out: give a transcript, or set TASKLOOM_TRANSCRIPTION")
    return ()


def _no_transcript(file: Path, more: str) -> ToolError:
    return ToolError(
        f"there is no transcript of {file}: give one with --transcript, or set"
        f" TASKLOOM_TRANSCRIPTION to a model that transcribes{more}"
    )
