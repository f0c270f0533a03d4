"""A recording in segments: by pauses in speech and by cuts, never through a spoken line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .lines import Line, Shot

PAUSE_MS = 1_500  # of silence, after which something else is talked of
LONGEST_MS = 60_000  # of speech without such a pause, before it is parted where it is parted best
SHORTEST_MS = 3_000  # of silence that is a segment of its own, where a shot in it shows no text


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a recording: what is said in it, whole, and the shots that are seen in it."""

    start_ms: int
    end_ms: int
    lines: tuple[Line, ...] = ()
    shots: tuple[Shot, ...] = ()


def segments(
    lines: Sequence[Line],
    shots: Sequence[Shot] = (),
    *,
    pause_ms: int = PAUSE_MS,
    longest_ms: int = LONGEST_MS,
) -> tuple[Segment, ...]:
    """The segments of a recording, in order of time; they do not overlap.

    Args:
        lines: what is said, in any order; lines of several speakers may overlap.
        shots: what is seen; a cut between two lines parts them too.
        pause_ms: silence that parts two lines.
        longest_ms: how long a segment may be whose lines leave a place to part it.

    Returns:
        Each line is in one segment, which begins no later and ends no earlier. Shots where nothing is said
        are segments of their own, from `SHORTEST_MS` on; those that show text however short they are.
    """
    ordered = sorted(lines, key=lambda line: (line.start_ms, line.end_ms))
    cuts = [shot.start_ms for shot in shots]
    spoken = [part for run in _runs(ordered, cuts, pause_ms) for part in _parted(run, longest_ms)]
    found = [_segment(run, shots) for run in spoken]
    return tuple(sorted((*found, *_silent(found, shots)), key=lambda one: (one.start_ms, one.end_ms)))


Block = list[Line]  # lines that overlap: nothing can part them


def _runs(lines: Sequence[Line], cuts: Sequence[int], pause_ms: int) -> Iterable[list[Block]]:
    """Blocks with neither a pause nor a cut between them."""
    run: list[Block] = []
    for block in _blocks(lines):
        if run:
            before, after = _end(run[-1]), block[0].start_ms
            if after - before >= pause_ms or any(before <= cut <= after for cut in cuts):
                yield run
                run = []
        run.append(block)
    if run:
        yield run


def _blocks(lines: Sequence[Line]) -> Iterable[Block]:
    block: Block = []
    for line in lines:
        if block and line.start_ms >= _end(block):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _parted(run: list[Block], longest_ms: int) -> Iterable[list[Block]]:
    """A run in parts of at most `longest_ms`, cut at its longest silences, or where another speaks."""
    waiting = [run]
    while waiting:
        part = waiting.pop()
        if len(part) < 2 or _end(part[-1]) - part[0][0].start_ms <= longest_ms:
            yield part
            continue
        at = max(range(1, len(part)), key=lambda place: _place(part, place))
        waiting += [part[at:], part[:at]]


def _place(part: list[Block], at: int) -> tuple[int, bool, int]:
    """How good a place is to part a run before its block `at`: silence, another speaker, near the middle."""
    before, after = part[at - 1], part[at]
    middle = (part[0][0].start_ms + _end(part[-1])) // 2
    silence = after[0].start_ms - _end(before)
    return silence, before[-1].who != after[0].who, -abs(after[0].start_ms - middle)


def _end(block: Block) -> int:
    return max(line.end_ms for line in block)


def _segment(run: list[Block], shots: Sequence[Shot]) -> Segment:
    start, end = run[0][0].start_ms, _end(run[-1])
    seen = tuple(shot for shot in shots if shot.start_ms < end and shot.end_ms > start)
    return Segment(start, end, tuple(line for block in run for line in block), seen)


def _silent(spoken: Sequence[Segment], shots: Sequence[Shot]) -> Iterable[Segment]:
    """What is seen of each shot while nothing is said."""
    for shot in shots:
        start, heard = shot.start_ms, any(shot in one.shots for one in spoken)
        least = 1 if shot.shown.strip() and not heard else SHORTEST_MS
        for one in (*spoken, Segment(shot.end_ms, shot.end_ms)):
            if one.end_ms < start:
                continue
            if min(one.start_ms, shot.end_ms) - start >= least:
                yield Segment(start, min(one.start_ms, shot.end_ms), (), (shot,))
            start = max(start, one.end_ms)
