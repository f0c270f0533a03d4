"""Speech without a transcript: any endpoint that speaks OpenAI's protocol of transcriptions, by setting.

It has to give the times of what is said (`verbose_json`). A WAV that is too long for one request goes in
pieces, each of which ends where it is quietest.
"""

from __future__ import annotations

import math
import wave
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from taskloom.tools.errors import NotAllowedError, ToolError, TransientError

from .lines import Line

if TYPE_CHECKING:
    from openai import OpenAI

SUFFIXES = frozenset((".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".oga", ".ogg", ".wav", ".webm"))
REQUEST_BYTES = 24_000_000  # OpenAI takes 25 MB
PIECE_SECONDS, SEARCHED_SECONDS = 600, 30  # of a WAV; where its end is looked for, before that
TIMEOUT, RETRIES, MOST_HOURS = 300.0, 2, 24
_QUIET_MS = 100  # how long a stretch is whose loudness is measured


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where speech is transcribed. model: as the endpoint calls it. base_url: None is OpenAI's."""

    model: str
    api_key: str | None = None
    base_url: str | None = None
    timeout: float = TIMEOUT


class _Part(BaseModel):
    """A segment as endpoints give it, in seconds; some name the speaker."""

    start: float = Field(ge=0, le=MOST_HOURS * 3600)
    end: float = Field(ge=0, le=MOST_HOURS * 3600)
    text: str
    speaker: str | None = None


class _Answer(BaseModel):
    segments: list[_Part] | None = None
    text: str = ""


Piece: TypeAlias = tuple[int, str, bytes]
"""What goes into a request: where it begins in milliseconds, a name, and the bytes of a file."""


def transcribe(path: Path, endpoint: Endpoint, pieces: Iterable[Piece] | None = None) -> tuple[Line, ...]:
    """What is said in a file of sound (or of video, as far as the endpoint takes it), in order of time.

    pieces: what is sent in place of the file as it is.

    Raises:
        TransientError: the endpoint cannot be reached, or is busy.
        NotAllowedError: it does not accept the key.
        ToolError: the file cannot be sent, or the endpoint gives no times; the message names the fix.
    """
    from openai import OpenAI  # not before it is needed: it takes a second to load

    found: list[Line] = []
    with OpenAI(
        api_key=endpoint.api_key or "not set", base_url=endpoint.base_url,
        timeout=endpoint.timeout, max_retries=RETRIES,
    ) as client:  # fmt: skip
        for begins_ms, name, data in _pieces(path) if pieces is None else pieces:
            for part in _asked(client, endpoint.model, name, data):
                start, end = (begins_ms + round(1000 * moment) for moment in (part.start, part.end))
                if text := " ".join(part.text.split()):
                    found.append(Line(start, max(start, end), text, part.speaker or None))
    if not found:
        raise ToolError(
            f"nothing is said in {path}, says {endpoint.model}: give a transcript if that is wrong"
        )
    return tuple(sorted(found, key=lambda line: (line.start_ms, line.end_ms)))


def _asked(client: OpenAI, model: str, name: str, data: bytes) -> list[_Part]:
    """The segments of one request."""
    import openai

    try:
        reply: Any = client.audio.transcriptions.with_raw_response.create(
            model=model,
            file=(name, data),
            response_format="verbose_json",
            timestamp_granularities=["segment"],
        )
        parsed = _Answer.model_validate_json(reply.text)
    except openai.AuthenticationError as error:
        raise NotAllowedError(
            f"the endpoint of {model} does not accept the key: set OPENAI_API_KEY"
        ) from error
    except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as error:
        raise TransientError(
            f"{model} could not be reached ({type(error).__name__}): check that OPENAI_BASE_URL"
            " answers, and try again"
        ) from error
    except openai.OpenAIError as error:
        raise ToolError(
            f"the endpoint does not transcribe with {model} ({type(error).__name__}): check"
            " TASKLOOM_TRANSCRIPTION and OPENAI_BASE_URL"
        ) from error
    except ValidationError as error:
        raise ToolError(
            f"the answer of {model} is not a transcription: check TASKLOOM_TRANSCRIPTION"
        ) from error
    if parsed.segments is None and parsed.text.strip():
        raise ToolError(f"{model} gives no times: use a model that gives segments, such as whisper-1")
    return parsed.segments or []


def _pieces(path: Path) -> Iterator[Piece]:
    """A file as it is sent."""
    try:
        size = path.stat().st_size
        if path.suffix.lower() == ".wav":
            yield from _of_wav(path)
            return
        if path.suffix.lower() not in SUFFIXES:
            raise ToolError(f"{path} is not sound of a kind that can be sent: {', '.join(sorted(SUFFIXES))}")
        if size > REQUEST_BYTES:
            raise ToolError(
                f"{path} has more than {REQUEST_BYTES // 1_000_000} MB: save its sound as WAV, which is sent"
                " in pieces, or as MP3 of a lower rate"
            )
        yield 0, f"sound{path.suffix.lower()}", path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise ToolError(f"{path} cannot be read: {error}") from error


def _of_wav(path: Path) -> Iterator[Piece]:
    try:
        with wave.open(str(path)) as sound:
            form, rate = sound.getparams(), sound.getframerate()
            longest = min(PIECE_SECONDS * rate, REQUEST_BYTES // (form.nchannels * form.sampwidth))
            at = 0
            while at < form.nframes:
                sound.setpos(at)
                data = sound.readframes(longest)
                frames = len(data) // (form.nchannels * form.sampwidth)
                if not frames:
                    raise ToolError(f"{path} is cut off: save it again")
                if at + frames < form.nframes:
                    frames = _quietest(data, form.nchannels, form.sampwidth, rate, frames)
                piece = BytesIO()
                with wave.open(piece, "wb") as written:
                    written.setparams(form)
                    written.writeframes(data[: frames * form.nchannels * form.sampwidth])
                yield at * 1000 // rate, "sound.wav", piece.getvalue()
                at += frames
    except (wave.Error, EOFError) as error:
        raise ToolError(f"{path} is not a readable WAV file ({error}): save it as 16-bit PCM") from error


def _quietest(data: bytes, channels: int, width: int, rate: int, frames: int) -> int:
    """How many frames go before the quietest place near the end; all of them where that is not known."""
    step = rate * _QUIET_MS // 1000
    searched = min(SEARCHED_SECONDS * rate, frames // 2)
    stretches = searched // max(1, step)
    if width != 2 or stretches < 2:
        return frames
    samples = np.frombuffer(data, "<i2").reshape(-1, channels)[frames - stretches * step : frames]
    loud = np.abs(samples.astype(np.int32)).reshape(stretches, -1).mean(axis=1)
    quiet = stretches - 1 - int(np.argmin(loud[::-1]))  # the last of equals
    return frames - stretches * step + quiet * step + math.ceil(step / 2)
