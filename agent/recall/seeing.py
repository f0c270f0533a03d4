"""What is seen in a recording that is remembered: questions answered from frames of its file, and captions.

Nothing is decoded but the frames that are looked at: what else is known of the pictures is in the scenes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from taskloom.memory.records import Evidence, Scene
from taskloom.memory.scenes import clock, render
from taskloom.tools.errors import ToolError
from taskloom.tools.video.lines import Shot
from taskloom.tools.video.looking import BLIND, REPAIRS, Answer, Ask, Looker
from taskloom.tools.video.segments import Segment
from taskloom.tools.video.tools import Range

MEASURED = 50  # lines of what was measured that are told
IN_A_ROW = 3  # captions that fail, after which no more are asked for


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of looking at a recording. thread: of its scenes, `video:ID`. name: what it is called."""

    answer: Answer
    thread: str
    name: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The moments that show it, as a task's source names them: `video:ID@mm:ss`."""
        return tuple(dict.fromkeys(f"{self.thread}@{clock(at)}" for at in self.answer.times_ms))

    def __str__(self) -> str:
        return str(self.answer)


@dataclass(frozen=True, slots=True)
class Captions:
    """Captions of shots. by: the model. missing: how many could not be made; why: what went wrong last."""

    texts: Mapping[Shot, str] = field(default_factory=dict)
    by: str = ""
    missing: int = 0
    why: str = ""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hex.

    Raises:
        ToolError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error  # without the number and the name once more
        raise ToolError(f"{path} cannot be read: {why}") from error


def look(
    question: str,
    scenes: Sequence[Scene],
    eyes: Ask | None,
    ranges: Sequence[Range],
    frames: int,
) -> Seen:
    """The answer to a question from frames of one recording; without eyes what was measured of them.

    Args:
        question: in words.
        scenes: all of the recording, in order of time.
        eyes: a model that takes pictures.
        ranges: from where to look and up to where, in milliseconds; all of it without any.
        frames: how many to look at in all of them.

    Raises:
        ToolError: there is nothing to look at, the file is not as it was, or as `Looker.qa`.
    """
    first, measured = scenes[0], _measured(scenes)
    if not first.file and not measured:
        raise ToolError(
            f"of {first.name} only words are remembered: `taskloom video add` the recording to look at it"
        )
    path = Path(first.file) if eyes is None else _file(first)
    shots = tuple(map(_shot, scenes))
    captions = {number: text for number, scene in enumerate(scenes) if (text := _texts(scene, "caption"))}
    spans = [_span(one, shots[-1].end_ms) for one in ranges or [(None, None)]]
    answer = Looker(path, shots, eyes, captions).qa(question, spans, frames)
    if answer.measured:  # what the scenes keep of it, no figure made up again
        within = [one for one in measured if any(one.start_ms < end and at < one.end_ms for at, end in spans)]
        answer = answer._replace(text=_measurements_text(within))
    return Seen(answer, first.thread, first.name)


def _span(given: Range, length_ms: int) -> tuple[int, int]:
    """A range with its ends: where both name the same second, that."""
    start, end = given[0] or 0, length_ms if given[1] is None else given[1]
    return start, end + 1_000 * (start == end)


def captioned(
    path: Path, shots: Sequence[Shot], eyes: Ask, by: str, progress: Callable[[str], None] = lambda _: None
) -> Captions:
    """Captions of all shots that do not look like an earlier one.

    A caption that cannot be made is left out; after several in a row, so is the rest.

    Args:
        path: the recording.
        shots: all of its shots.
        eyes: the model.
        by: what it is called.
        progress: is called with what is being done.

    Raises:
        ToolError: there are no shots.
    """
    looker, texts = Looker(path, shots, eyes), dict[Shot, str]()
    wanted = [number for number, shot in enumerate(shots) if shot.alike is None]
    failed, why = 0, ""
    for at, number in enumerate(wanted, 1):
        progress(f"captioning shot {at} of {len(wanted)}")
        try:
            if text := looker.captions([number], REPAIRS + 1).get(number):
                texts[shots[number]] = text
            failed = 0
        except ToolError as error:
            failed, why = failed + 1, str(error)
        if failed == IN_A_ROW:
            break
    return Captions(texts, by, len(wanted) - len(texts), why)


def kept(
    scenes: Sequence[Scene], parts: Sequence[Segment], shots: Sequence[Shot], new: Captions
) -> tuple[Evidence, ...]:
    """Captions of a recording that hold on as it is taken in again, and of which there is no new one.

    Args:
        scenes: what was remembered of the same file.
        parts: its segments now.
        shots: its shots now; () where they are not looked for, and then each is taken to be there still.
        new: captions that were made now.

    Returns:
        Those whose shot, or the segment that they stood in, is there with the same times.
    """
    again = {(shot.start_ms, shot.end_ms) for shot in new.texts}
    there = {(shot.start_ms, shot.end_ms) for shot in shots} | {(one.start_ms, one.end_ms) for one in parts}
    return tuple(
        one
        for scene in scenes
        for one in scene.evidence
        if one.source == "caption"
        and (one.start_ms, one.end_ms) not in again
        and (not shots or {(one.start_ms, one.end_ms), (scene.start_ms, scene.end_ms)} & there)
    )


def placed(
    parts: Sequence[Segment], shots: Sequence[Shot], captions: Captions, kept: Sequence[Evidence] = ()
) -> dict[int, list[Evidence]]:
    """Captions by the place of the segment that has the key frame of their shot, or is next to it."""
    keys = {(shot.start_ms, shot.end_ms): shot.key_ms for shot in (*shots, *captions.texts)}
    evidence = [
        Evidence(start_ms=shot.start_ms, end_ms=shot.end_ms, source="caption", text=text, by=captions.by)
        for shot, text in captions.texts.items()
    ]
    found: dict[int, list[Evidence]] = {}
    for one in (*evidence, *kept):
        key = keys.get((one.start_ms, one.end_ms), (one.start_ms + one.end_ms) // 2)
        away = [max(part.start_ms - key, key - part.end_ms, 0) for part in parts]
        found.setdefault(away.index(min(away)), []).append(one)
    return found


def has_pictures(scene: Scene) -> bool:
    """Whether the file of a scene's recording is there to be looked at."""
    return bool(scene.file) and Path(scene.file).is_file()


def _file(scene: Scene) -> Path:
    """The file of a scene's recording, as it was when it was taken in."""
    if not scene.file:
        raise ToolError(f"it was not kept where the file of {scene.name} is: `taskloom video add` it again")
    path = Path(scene.file)
    if not path.is_file():
        raise ToolError(f"{path} is not there any more: `taskloom video add` it again from where it is")
    state = path.stat()
    if _digest(path, state.st_size, state.st_mtime_ns) != scene.video:
        raise ToolError(f"{path} is another file than was remembered: `taskloom video add` it again")
    return path


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:  # noqa: ARG001  a file that changed is read again
    """The SHA-256 of a file in a state, of which each look at a long recording would take seconds."""
    return digest_of(path)


def _measured(scenes: Sequence[Scene]) -> list[Evidence]:
    return [one for scene in scenes for one in scene.evidence if one.source != "said"]


def _measurements_text(measured: Sequence[Evidence]) -> str:
    """What was measured, in words, and that nobody can see it."""
    lines = [*map(render, measured[:MEASURED])] or ["Nothing in this stretch."]
    lines += [f"And {len(measured) - MEASURED} more."] * (len(measured) > MEASURED)
    return "\n".join((BLIND, *lines))


def _shot(scene: Scene) -> Shot:
    """A scene as something to look at: in its middle first."""
    middle = (scene.start_ms + scene.end_ms) // 2
    return Shot(scene.start_ms, scene.end_ms, middle, shown=_texts(scene, "shown"))


def _texts(scene: Scene, source: str) -> str:
    return "\n".join(one.text for one in scene.evidence if one.source == source)
