"""Answers of a model on recordings, for `taskloom video`: from moments it looks up, or from frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from .options import print_json

if TYPE_CHECKING:
    from taskloom.agent.acting.looks import Watched, WatchError
    from taskloom.agent.models.eyes import Eyes
    from taskloom.agent.recall.recordings import Recordings

NONE_YET = "No recordings are remembered yet: `taskloom video add FILE` remembers one."


def eyes_of_settings(*, bounded: bool = True) -> Eyes | None:
    """The model of the settings, to be shown pictures; None without one. bounded: as for one question.

    It is not the one that answers: where pictures take it too long, that is not taken to be away.
    """
    from taskloom.agent.settings import settings

    given = settings()
    if given.model in ("", "rules"):
        return None
    from taskloom.agent.graph.wiring import chat_models
    from taskloom.agent.models.eyes import CALLS, Eyes

    return Eyes(chat_models(given)(given.model), CALLS if bounded else None)


def answer_of_model(
    question: str, which: str | None, recordings: Recordings, eyes: Eyes | None
) -> tuple[Watched | None, WatchError | None]:
    """The answer of the model of the settings, or what prevents it; neither without a model."""
    from taskloom.agent.settings import settings

    given = settings()
    if given.model in ("", "rules"):
        return None, None
    from taskloom.agent.acting.looks import WatchError
    from taskloom.agent.acting.watching import watch
    from taskloom.agent.graph.wiring import chat_models
    from taskloom.agent.models.stepwise import StepwiseChooser
    from taskloom.memory.shown import safe

    known = recordings.all() if which is None else [recordings.named(which)]
    names = {one.name: one.end_ms for one in known}
    try:
        chat, pictured = chat_models(given)(given.model), recordings.pictured(which)
        chooser = StepwiseChooser(chat)
        return watch(
            question, recordings, chooser, names, patience=chat.patience, eyes=eyes, pictured=pictured
        ), None
    except WatchError as error:
        typer.echo(safe(f"I answer without the model: {error}."), err=True)
        return None, error


def looked_at(
    question: str,
    which: str | None,
    ranges: Sequence[str],
    frames: int | None,
    recordings: Recordings,
    eyes: Eyes | None,
) -> Watched:
    """What some frames of one recording show."""
    from taskloom.agent.acting.looks import Look, Watched
    from taskloom.agent.turn.reading import Usage
    from taskloom.tools.video.looking import FRAMES
    from taskloom.tools.video.tools import range_ms

    seen = recordings.qa(question, which, ranges=[*map(range_ms, ranges)], frames=frames or FRAMES)
    usage = Usage() if eyes is None else eyes.usage
    looks = Look.all_of(seen)
    return Watched(seen.answer.text or "", seen.sources, len(looks), usage, looks)


def unlooked(which: str | None, recordings: Recordings, done: Watched | WatchError | None) -> str:
    """Which recordings' pictures were not looked at (again), and why; '' if there are none."""
    if not recordings.all():
        return NONE_YET
    why = "set TASKLOOM_MODEL to a model that takes pictures"
    if done is not None:
        why = "the model gave no answer" if isinstance(done, Exception) else "the model did not ask for it"
    missed, seen = ("", set()) if done is None else (done.missed, {one.name for one in done.looked})
    names = [name for name in recordings.pictured(which) if name not in seen]
    if names:
        return f"The pictures of {', '.join(names)} were not looked at: {missed or why}."
    return f"A look was not made: {missed}." if missed else ""


def tell_watched(watched: Watched, *, as_json: bool) -> None:
    """Print what a model answers, or in which frames it was not seen."""
    from dataclasses import asdict

    from taskloom.agent.recall.asking import NOTHING
    from taskloom.memory.shown import safe

    text = watched.text or f"{NOTHING} {watched.unseen}".strip()
    if as_json:
        looked = [
            {"video": one.video.removeprefix("video:"), "name": one.name, "frames": one.frames,
             "from": one.start_ms / 1000, "to": one.end_ms / 1000, "unseen": one.unseen,
             "refused": one.refused}
            for one in watched.looked
        ]  # fmt: skip
        print_json({"answer": text, "found": bool(watched.sources), "sources": list(watched.sources),
                    "looked": looked, "steps": watched.steps, **asdict(watched.usage)})  # fmt: skip
    else:
        typer.echo(safe("\n".join((text, *(f"Source: {one}" for one in watched.sources)))))
