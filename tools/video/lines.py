"""What a recording is made of: spoken lines and shots. Plain frozen data; times are milliseconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """Words that were said, from start to end. who: the speaker, where the transcript names one."""

    start_ms: int
    end_ms: int
    text: str
    who: str | None = None


@dataclass(frozen=True, slots=True)
class Shot:
    """What is seen between two cuts.

    key_ms: time of its key frame. colours: the names of the main ones. motion: 0 for none. shown: the text on
    the screen. alike: index of an earlier shot that looks the same.
    """

    start_ms: int
    end_ms: int
    key_ms: int
    colours: tuple[str, ...] = ()
    motion: float = 0.0
    shown: str = ""
    alike: int | None = None
