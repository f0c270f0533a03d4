"""Transcripts as lines: SubRip, WebVTT with its voices, Advanced SubStation, and plain "Name: words".

Own readers, since no library keeps both: pysubs2 drops the voices of WebVTT, webvtt-py its milliseconds.
What a file is, is seen from its text, whatever it is called.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import charset_normalizer

from taskloom.tools.errors import ToolError

from .lines import Line

FILE_BYTES, MOST_LINES, LONGEST_MS = 20_000_000, 100_000, 24 * 3_600_000
WORD_MS = 400  # how long a word takes where nobody says so: 150 words a minute
SLOWLY, BREATH_MS = 3, 2_000  # how much longer, and more, a line may last before the next one begins
LINE_CHARACTERS = 5_000

_SUFFIXES = "srt, vtt, ass, or plain lines such as `[12:40] Ana: Let's begin.`"
_TIME = r"(?:(?P<{0}h>\d{{1,3}}):)?(?P<{0}m>\d{{1,3}}):(?P<{0}s>\d{{2}})(?:[.,](?P<{0}f>\d{{1,3}}))?"
_CUE = re.compile(rf"\s*{_TIME.format('a')}\s*-->\s*{_TIME.format('b')}(?:\s.*)?")
_STAMP = _TIME.format("a")
_WHO = r"(?P<who>[^\W\d_](?:[\w.'’ -]{0,38}?[\w.])?)"
_NAMED = re.compile(rf"(?:>>\s*|-\s*)?{_WHO}\s?:\s+(?P<text>\S.*)", re.DOTALL)
_PLAIN = (
    re.compile(rf"[\[(]?{_STAMP}[\])]?\s*(?:-\s*)?(?:{_WHO}\s?:\s*)?(?P<text>.*)"),
    re.compile(rf"{_WHO}\s*[\[(]?{_STAMP}[\])]?\s*:?\s*(?P<text>.*)"),
    re.compile(rf"{_WHO}\s?:\s+(?P<text>\S.*)"),
)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s([^<>]+)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_PARTICLES = ("de", "del", "di", "la", "van", "von", "der", "bin", "of")
_NUMBER = re.compile(r"\s*\d+\s*")
_BREAK = re.compile(r"\\[Nn]|\\h")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")

Rows = Sequence[tuple[int, str]]  # numbers of lines from 1, with their text


def read_transcript(path: Path) -> tuple[Line, ...]:
    """The lines of a transcript, in order of time; never none.

    Raises:
        ToolError: the file cannot be used; the message names it, the line, and what to do.
    """
    try:
        if not path.is_file():
            raise ToolError(f"{path} is no file" if path.exists() else f"no file {path}")
        with path.open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise ToolError(f"{path} cannot be read: {error}") from error
    return transcript(data, str(path))


def transcript(data: bytes, name: str = "the transcript") -> tuple[Line, ...]:
    """The lines of a transcript from its bytes; otherwise as `read_transcript`."""
    if len(data) > FILE_BYTES:
        raise ToolError(f"{name} has more than {FILE_BYTES // 1_000_000} MB: split it into smaller files")
    text = _decoded(data, name)
    rows = list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1))
    found = [
        _checked(line, row, name)
        for row, line in _reader_of(text)(rows, name)
        if line.text and line.text != "-"
    ]
    if not found:
        raise ToolError(f"{name} has no spoken line in it: give a transcript as {_SUFFIXES}")
    if len(found) > MOST_LINES:
        raise ToolError(f"{name} has more than {MOST_LINES:,} lines: split it into smaller files")
    return tuple(sorted(found, key=lambda line: (line.start_ms, line.end_ms)))


def _decoded(data: bytes, name: str) -> str:
    """The text of a file: UTF-8 or UTF-16, else as its bytes look."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise ToolError(f"{name} is binary: give its transcript as {_SUFFIXES}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        guess = charset_normalizer.from_bytes(data[:100_000]).best()
        return data.decode(guess.encoding if guess else "cp1252", "replace")


def _reader_of(text: str) -> Callable[[Rows, str], Iterator[tuple[int, Line]]]:
    """The reader of a file of this text."""
    if text.lstrip().startswith("WEBVTT"):
        return _webvtt
    if re.search(r"^\[(?:Script Info|Events)\]", text, re.MULTILINE | re.IGNORECASE):
        return _substation
    return _subrip if "-->" in text else _plain


def _checked(line: Line, row: int, name: str) -> Line:
    if line.end_ms < line.start_ms:
        raise _broken(name, row, "it ends before it begins", "swap its times")
    if line.end_ms > LONGEST_MS:
        raise _broken(name, row, "it is later than 24 hours", "split the recording")
    if len(line.text) > LINE_CHARACTERS:
        raise _broken(name, row, f"more than {LINE_CHARACTERS:,} characters in one line", "break it up")
    return line


def _broken(name: str, row: int, what: str, fix: str) -> ToolError:
    return ToolError(f"{name}, line {row}: {what}: {fix}")


# ---- SubRip and WebVTT ----------------------------------------------------------------------------


def _subrip(rows: Rows, name: str) -> Iterator[tuple[int, Line]]:
    """Cues with a number, times and text; `Name:` in front is a speaker where it comes again."""
    cues = [
        (row, replace(line, text=_tidy(part)))
        for row, line in _cues(rows, name)
        for part in re.split(r"\n(?=-\s*\S|>>)", line.text)
    ]
    yield from _with_speakers(cues)


def _webvtt(rows: Rows, name: str) -> Iterator[tuple[int, Line]]:
    """The same with voices: `<v Ana>`, several in one cue."""
    cues: list[tuple[int, Line]] = []
    for row, line in _cues(_without_notes(rows), name):
        before, *voices = _VOICE.split(line.text)
        if before.strip():
            cues.append((row, replace(line, text=_tidy(before))))
        for who, text in zip(voices[::2], voices[1::2], strict=True):
            cues.append((row, replace(line, text=_tidy(text), who=_tidy(who) or None)))
    yield from cues if any(line.who for _, line in cues) else _with_speakers(cues)


def _without_notes(rows: Rows) -> list[tuple[int, str]]:
    """The rows but for the head and for notes, styles and regions, which end at a blank line."""
    kept, skipping = [], True
    for row, text in rows:
        if re.match(r"(?:NOTE|STYLE|REGION)(?:\s|$)", text):
            skipping = True
        if not skipping:
            kept.append((row, text))
        if not text.strip():
            skipping = False
            kept.append((row, ""))
    return kept


def _cues(rows: Rows, name: str) -> Iterator[tuple[int, Line]]:
    """What stands below each line of times, up to the next one and what names that."""
    times = [at for at, (_, text) in enumerate(rows) if "-->" in text]
    for at, after in pairwise((*times, len(rows) + 1)):
        row, text = rows[at]
        if (cue := _CUE.fullmatch(text)) is None:
            raise _broken(
                name, row, f"{text.strip()[:60]!r} is not a time", "write 00:12:40.000 --> 00:12:43.500"
            )
        body = [text for _, text in rows[at + 1 : after]]
        if after <= len(rows):
            body = _without_name(body)
        yield row, Line(_ms(cue, "a", name, row), _ms(cue, "b", name, row), "\n".join(body).strip())


def _without_name(body: list[str]) -> list[str]:
    """Rows between two lines of times without the number, or the name, of the second."""
    if (
        body
        and body[-1].strip()
        and (_NUMBER.fullmatch(body[-1]) or (len(body) > 1 and not body[-2].strip()))
    ):
        return body[:-1]
    return body


def _ms(found: re.Match[str], which: str, name: str, row: int) -> int:
    """A time in milliseconds; which: the letter that its groups begin with."""
    hours, minutes, seconds = (int(found[which + unit] or 0) for unit in "hms")
    if seconds > 59 or (found[which + "h"] and minutes > 59):
        raise _broken(name, row, f"{found[0].strip()[:40]!r} has more than 59 in it", "mend the time")
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + int((found[which + "f"] or "0").ljust(3, "0"))


# ---- Advanced SubStation --------------------------------------------------------------------------


def _substation(rows: Rows, name: str) -> Iterator[tuple[int, Line]]:
    """The dialogue of the events, by the columns that their format names."""
    columns: list[str] = []
    cues: list[tuple[int, Line]] = []
    section = ""
    for row, text in rows:
        key, _, rest = text.partition(":")
        if text.startswith("["):
            section = text.strip().lower()
        elif section == "[events]" and key == "Format":
            columns = [column.strip().lower() for column in rest.split(",")]
        elif section == "[events]" and key == "Dialogue":
            cues.append((row, _event(columns, rest, name, row)))
    yield from cues if any(line.who for _, line in cues) else _with_speakers(cues)


def _event(columns: list[str], rest: str, name: str, row: int) -> Line:
    if not {"start", "end", "text"} <= set(columns) or columns[-1] != "text":
        raise _broken(name, row, "no `Format:` with Start, End and, at its end, Text", "put one above it")
    values = dict(zip(columns, rest.split(",", len(columns) - 1), strict=False))
    if "text" not in values:
        raise _broken(name, row, f"fewer than {len(columns)} columns", "fill in what `Format:` names")
    times = []
    for column in ("start", "end"):
        if (found := re.fullmatch(_STAMP, values[column].strip())) is None:
            raise _broken(name, row, f"{values[column].strip()[:40]!r} is not a time", "write 0:12:40.50")
        times.append(_ms(found, "a", name, row))
    text = "" if _DRAWING.search(values["text"]) else _tidy(_BREAK.sub(" ", values["text"]))
    who = _tidy(values.get("name", values.get("actor", "")))
    return Line(times[0], times[1], text, who or None)


# ---- plain lines ----------------------------------------------------------------------------------


def _plain(rows: Rows, name: str) -> Iterator[tuple[int, Line]]:
    """Lines `[mm:ss] Name: words`, `Name (mm:ss): words` or `Name: words`; what has neither goes on.

    A line ends where the next begins, or when its words are said where that is long before; without times
    lines follow one another at `WORD_MS` a word.
    """
    said: list[tuple[int, int | None, str | None, list[str]]] = []
    for row, text in rows:
        if not (text := _tidy(text)):
            continue
        matches = (form.fullmatch(text) for form in _PLAIN)
        found = next((match for match in matches if match and _is_speaker(match["who"])), None)
        if found is None and not said:
            raise _broken(name, row, f"{text[:60]!r} says neither when nor who", "write `[12:40] Ana: words`")
        if found is None:
            said[-1][3].append(text)
            continue
        timed = found.re is not _PLAIN[-1]
        at = _ms(found, "a", name, row) if timed else None
        said.append((row, at, found["who"], [found["text"]]))
    yield from _timed([(row, at, who, _tidy(" ".join(words))) for row, at, who, words in said], name)


def _timed(said: Sequence[tuple[int, int | None, str | None, str]], name: str) -> Iterator[tuple[int, Line]]:
    """Plain lines with a beginning and an end."""
    starts = [(row, at) for row, at, _, _ in said if at is not None]
    for (_, before), (row, after) in pairwise(starts):
        if after < before:
            raise _broken(name, row, "it is earlier than the line above it", "put the lines in order")
    clock = 0
    for number, (row, at, who, text) in enumerate(said):
        start = clock if at is None else at
        takes = WORD_MS * max(1, len(text.split()))
        clock = start + takes
        later = next((at for _, at, _, _ in said[number + 1 : number + 2] if at is not None), clock)
        if later <= start + SLOWLY * takes + BREATH_MS:
            clock = later
        yield row, Line(start, clock, text, who)


# ---- what they share ------------------------------------------------------------------------------


def _with_speakers(cues: Sequence[tuple[int, Line]]) -> Iterator[tuple[int, Line]]:
    """Lines whose speaker stands in their text: `Name:`, where it comes again or most lines have one."""
    named = [_NAMED.fullmatch(line.text) for _, line in cues]
    counted = Counter(match["who"] for match in named if match)
    most = 2 * sum(counted.values()) > sum(1 for _, line in cues if line.text)
    for (row, line), match in zip(cues, named, strict=True):
        if match and _is_speaker(match["who"]) and (most or counted[match["who"]] > 1):
            yield row, replace(line, text=match["text"], who=match["who"])
        else:
            yield row, replace(line, text=re.sub(r"^(?:-|>>)\s*", "", line.text))


def _is_speaker(who: str | None) -> bool:
    """Whether words can be a speaker's name, which nobody has to give: `The plan is: ...` names none."""
    words = (who or "").split()
    return len(words) <= 4 and not any(word[0].islower() and word not in _PARTICLES for word in words)


def _tidy(text: str) -> str:
    """A text without marks of form, control characters and white space that says nothing."""
    return " ".join(_CONTROL.sub(" ", unescape(_TAG.sub("", text))).split())
