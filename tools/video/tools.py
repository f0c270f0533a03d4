"""What was said and is seen in recordings, as tools for agents: in those of the user whose turn it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol, TypeAlias

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from taskloom.tools.errors import NotAllowedError, ToolError

USER = "taskloom_user"  # where the configuration of a run says who the user is
LOOKING = 0.9  # of the time of a call that a model may take to look; the rest is for the frames and the words

Query = Annotated[str, Field(min_length=1, max_length=2_000, description="In words.")]
Video = Annotated[str | None, Field(description="Id or name of one recording; all without it.")]
Time = Annotated[str | None, Field(description="mm:ss or h:mm:ss from the beginning.")]
Who = Annotated[str | None, Field(description="Only what this speaker said.")]
Ranges = Annotated[
    list[str],
    Field(max_length=50, description="From and to, such as 01:30-02:10, 58:00- or -0:20; all without any."),
]
Many = Annotated[int, Field(ge=1, le=50, description="How many moments at most.")]
One = Annotated[str | None, Field(description="Id or name of the recording; the only one without it.")]
Frames = Annotated[int, Field(ge=1, le=50, description="How many frames to look at.")]

# From and to, in milliseconds; None for the beginning and the end.
Range: TypeAlias = tuple[int | None, int | None]


class Recordings(Protocol):
    """The recordings of one user."""

    def retrieval(
        self,
        query: str,
        video: str | None = None,
        *,
        start_ms: int | None = None,
        end_ms: int | None = None,
        who: str | None = None,
        k: int = 5,
    ) -> Sequence[Any]:
        """Moments that match, best first, each with its `source` and `score`; as text a line."""

    def rag(self, question: str, video: str | None = None) -> Any:
        """An answer, with the `moments` that say so; as text the answer."""

    def qa(
        self,
        question: str,
        video: str | None = None,
        *,
        ranges: Sequence[Range] = (),
        frames: int = 12,
    ) -> Any:
        """An `answer` from frames, with the `sources` that show it; as text the answer with its times."""


def video_tools(recordings: Callable[[str, float], Recordings], seconds: float) -> list[BaseTool]:
    """`video_retrieval`, `video_rag` and `video_qa`.

    Args:
        recordings: gives the recordings of a user, with so many seconds from then on for a model to look.
        seconds: that a call may take.
    """

    def own(config: RunnableConfig) -> Recordings:
        return recordings(_user(config), LOOKING * seconds)

    def video_retrieval(
        query: Query, config: RunnableConfig, video: Video = None, start: Time = None, end: Time = None,
        who: Who = None, k: Many = 5,
    ) -> str:  # fmt: skip
        """Moments of recordings that match some words, best first: source, time, who said what, score."""
        found = own(config).retrieval(
            query, video, start_ms=milliseconds(start), end_ms=milliseconds(end), who=who, k=k
        )
        return "\n".join(f"{one.source} {one.score:.2f} {one}" for one in found) or "there is no such moment"

    def video_rag(question: Query, config: RunnableConfig, video: Video = None) -> str:
        """What recordings say on a question, word for word with time and source, or that nothing says so."""
        found = own(config).rag(question, video)
        return "\n".join((str(found), *(f"Source: {one.source} {one}" for one in found.moments)))

    def video_qa(
        question: Query, config: RunnableConfig, video: One = None, ranges: Ranges = [],  # noqa: B006
        frames: Frames = 12,
    ) -> str:  # fmt: skip
        """What a recording shows, by frames that a model looks at: an answer with its times and sources."""
        found = own(config).qa(question, video, ranges=[*map(range_ms, ranges)], frames=frames)
        return "\n".join((str(found), *(f"Source: {one}" for one in found.sources)))

    return [StructuredTool.from_function(one) for one in (video_retrieval, video_rag, video_qa)]


def _user(config: RunnableConfig) -> str:
    user = config.get("configurable", {}).get(USER)
    if not isinstance(user, str) or not user:
        raise NotAllowedError("whose recordings these are is not known: the run names no user")
    return user


def milliseconds(text: str | None) -> int | None:
    """A time such as 12:40 or 1:02:03; None for none.

    Raises:
        ToolError: the text is not a time of this form.
    """
    if text is None:
        return None
    if re.fullmatch(r"(?:\d{1,3}:[0-5]?\d|\d{1,3}):[0-5]\d", text) is None:
        raise ToolError(f"{text[:40]!r} is not a time: write 12:40 or 1:02:03")
    *more, minutes, seconds = map(int, text.split(":"))
    return ((sum(more) * 60 + minutes) * 60 + seconds) * 1000


def range_ms(text: str) -> Range:
    """A range such as 01:30-02:10, 58:00- (to the end) or -0:20 (from the beginning).

    Raises:
        ToolError: the text is not a range of this form.
    """
    start, parted, end = text.partition("-")
    if not parted or not (start.strip() or end.strip()):
        raise ToolError(f"{text[:40]!r} is not a range: write 01:30-02:10, 58:00- or -0:20")
    return milliseconds(start.strip() or None), milliseconds(end.strip() or None)
