"""What was shown of recordings on a question: what an answer may cite, and what was looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from taskloom.agent.turn.reading import Usage
from taskloom.memory.scenes import clock
from taskloom.tools.errors import ToolError

_TIME = re.compile(r"\b(?:\d{1,3}:)?\d{1,3}:\d{2}\b")


@dataclass(frozen=True, slots=True)
class Look:
    """Frames that were looked at. video: `video:ID`. start_ms, end_ms: of the first and the last of them.

    unseen: whether they were found not to show what was looked for. refused: what was wrong with the answer
    that was given from them, so that it is not known whether they do; '' if nothing.
    """

    video: str
    name: str
    start_ms: int
    end_ms: int
    frames: int
    unseen: bool = False
    refused: str = ""

    @classmethod
    def all_of(cls, seen: Any) -> tuple[Look, ...]:
        """The look that came to something; none where no frames were looked at."""
        answer, at = seen.answer, seen.answer.looked_ms
        if not at:
            return ()
        return (cls(seen.thread, seen.name, at[0], at[-1], len(at), answer.unseen, answer.refused),)

    def __str__(self) -> str:
        """Such as: 12 frames of a.mp4 from 00:01 to 00:28."""
        many = f"{self.frames} frame{'s' * (self.frames != 1)} of {self.name or self.video}"
        return f"{many} from {clock(self.start_ms)} to {clock(self.end_ms)}"


@dataclass(frozen=True, slots=True)
class Watched:
    """What is answered from recordings.

    text: '' where nothing says so. sources: what it rests on, all of it shown. looked: what was looked at on
    the way. missed: what hindered the last look that could not be made.
    """

    text: str
    sources: tuple[str, ...]
    steps: int
    usage: Usage
    looked: tuple[Look, ...] = ()
    missed: str = ""

    @property
    def unseen(self) -> str:
        """In which frames it was not seen, and of which that is not known; '' where none were looked at."""
        unseen = dict.fromkeys(str(one) for one in self.looked if one.unseen)
        refused = {str(one): one.refused for one in self.looked if one.refused}
        told = [f"Not seen in {', nor in '.join(unseen)}."] if unseen else []
        told += [f"What {frames} show is not known: {why}." for frames, why in refused.items()]
        return " ".join(told)


class WatchError(Exception):
    """There is no answer; the message says why, for the user. The rest is as in `Watched`."""

    def __init__(self, why: str, looked: Sequence[Look] = (), missed: str = "") -> None:
        super().__init__(why)
        self.looked, self.missed = tuple(looked), missed


@dataclass(frozen=True, slots=True)
class Shown:
    """What an answer may cite. words: of the moments, by their source. times: others, in seconds.

    looked, missed: as in `Watched`.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    times: frozenset[int] = frozenset()
    looked: tuple[Look, ...] = ()
    missed: str = ""

    def with_moments(self, moments: Iterable[Any]) -> Self:
        """The same with moments, each with its `source`."""
        return replace(self, words={**self.words, **{one.source: str(one) for one in moments}})

    def with_look(self, seen: Any, asked: str) -> Self:
        """The same with what came of a look; where frames were looked at, with the times that `asked` names.

        The words of moments stay: those of a look may name times that the question named.
        """
        words, looks = {**dict.fromkeys(seen.sources, ""), **self.words}, Look.all_of(seen)
        times = self.times | seconds_in(asked) if looks else self.times
        return replace(self, words=words, times=times, looked=(*self.looked, *looks))

    def checked(self, answer: str | None, sources: Sequence[str]) -> str:
        """The words of an answer that rests on sources.

        Raises:
            ToolError: there are none, or they cite what was not shown.
        """
        text = (answer or "").strip()
        if not text:
            raise ToolError("an answer needs words")
        if strange := [one for one in sources if one not in self.words]:
            raise ToolError(f"you were not shown {', '.join(strange)[:200]}: look it up, or leave it out")
        times = self.times.union(*(seconds_in(f"{source} {words}") for source, words in self.words.items()))
        if strange := [one for one in _TIME.findall(text) if not seconds_in(one) <= times]:
            raise ToolError(
                f"you were shown nothing at {', '.join(strange)[:200]}: look it up, or leave it out"
            )
        return text


def seconds_in(text: str) -> frozenset[int]:
    """The times that a text names, in seconds: 1:03 is 01:03."""
    return frozenset(
        sum(int(part) * 60**place for place, part in enumerate(reversed(found.split(":"))))
        for found in _TIME.findall(text)
    )
