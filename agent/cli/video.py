"""`taskloom video`: remembers recordings, answers from them, forgets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .memory import LOCAL, User, opened_memory
from .options import AsJson, checked_thread, examples, print_json
from .watching import NONE_YET, answer_of_model, eyes_of_settings, looked_at, tell_watched, unlooked

if TYPE_CHECKING:
    from taskloom.agent.models.eyes import Eyes
    from taskloom.agent.recall.asking import Answer
    from taskloom.agent.recall.moments import Moment
    from taskloom.agent.recall.recordings import Recording, Recordings
    from taskloom.agent.recall.seeing import Captions
    from taskloom.tools.video.speech import Endpoint
    from taskloom.tools.video.taken import Taken

video = typer.Typer(
    name="video",
    help="Recordings: remember what is said and seen, ask about it, forget it.",
    epilog=examples(
        "taskloom video add standup.vtt", 'taskloom video ask "When is the launch?"', "taskloom video list"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[
    str | None, typer.Option("--video", metavar="ID", help="Only this recording, by id or name.")
]


class Captioned(StrEnum):
    """Which shots are given captions."""

    NONE = "none"
    ALL = "all"


@video.command(
    epilog=examples(
        "taskloom video add standup.vtt",
        "taskloom video add standup.mp4 --transcript standup.srt",
        "TASKLOOM_MODEL=gpt-4o taskloom video add standup.mp4 --captions all",
        "TASKLOOM_TRANSCRIPTION=whisper-1 taskloom video add standup.mp3",
    )
)
def add(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A recording (mp4, mp3, ...) or a transcript.")
    ],
    transcript: Annotated[
        Path | None,
        typer.Option("--transcript", metavar="FILE", help="srt, vtt, ass, or lines `[12:40] Ana: words`."),
    ] = None,
    captions: Annotated[
        Captioned, typer.Option("--captions", help="Whether TASKLOOM_MODEL describes its shots.")
    ] = Captioned.NONE,
    user: User = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Remember a recording; it replaces an earlier one of the same name.

    Without --transcript, a transcript of the same name beside it is used (.srt, .vtt, .ass or .txt), else a
    text track inside it, else what TASKLOOM_TRANSCRIPTION makes of its sound. Its shots are detected if PyAV
    is installed (`pip install 'taskloom[video]'`). Captions take one request for each shot that looks new;
    they are kept when the same file is added again.
    """
    from taskloom.agent.recall.seeing import Captions, digest_of
    from taskloom.tools.video.taken import taken as what_is_in

    def progress(text: str) -> None:
        if not as_json:
            typer.echo(_safe(f"{file.name}: {text}"), err=True)

    with _explained():
        eyes = _eyes_for_captions() if captions is Captioned.ALL else None
        progress("reading what is said")
        digest, held = digest_of(file), what_is_in(file, transcript, _endpoint(), progress)
        had = Captions() if eyes is None else _captions(file, held, eyes, progress)
        with _recordings(user) as recordings:
            taken = recordings.add(
                file.name, digest, held.lines, held.shots,
                file=file if held.pictures else None, captions=had, progress=progress,
            )  # fmt: skip
    if had.missing:
        many = len(had.texts) + had.missing
        typer.echo(_safe(f"{had.missing} of {many} captions are missing: {had.why}."), err=True)
    outdated = _outdate(user, taken.replaced, file.name) if taken.replaced else []
    if as_json:
        more = {"subjects": list(taken.subjects), "replaced": list(taken.replaced),
                "captions": len(had.texts), "captions_kept": taken.kept,
                "captions_missing": had.missing}  # fmt: skip
        print_json({**_plain(taken.recording), **more, "outdated": outdated})
        return
    one = taken.recording
    speakers = f", {', '.join(one.speakers)}" if one.speakers else ""
    scenes = "one scene" if one.scenes == 1 else f"{one.scenes} scenes"
    typer.echo(_safe(f"Remembered {one.name} as {one.id}: {_length(one)}, {scenes}{speakers}."))
    if taken.kept:
        typer.echo(f"Kept {taken.kept} caption{'s' * (taken.kept > 1)} made earlier.")
    if taken.subjects:
        typer.echo(_safe(f"Talked of: {', '.join(taken.subjects)}."))
    for former in taken.replaced:
        typer.echo(f"It takes the place of {former}, which is forgotten.")
    for title in outdated:
        typer.echo(_safe(f"Out of date, since it rested on that: {title}."))


@video.command("list", epilog=examples("taskloom video list", "taskloom video list --json"))
def list_recordings(user: User = LOCAL, as_json: AsJson = False) -> None:
    """List the recordings in the order they were added."""
    with _recordings(user) as recordings:
        found = recordings.all()
    if as_json:
        print_json([_plain(one) for one in found])
    elif found:
        from .screen import console, table

        rows = [
            {"id": one.id, "name": _safe(one.name), "length": _length(one), "scenes": one.scenes,
             "speakers": _safe(", ".join(one.speakers))}
            for one in found
        ]  # fmt: skip
        console().print(table(["id", "name", "length", "scenes", "speakers"], rows))
    else:
        typer.echo(NONE_YET)


@video.command(
    epilog=examples(
        'taskloom video ask "When is the launch?"',
        'taskloom video ask "Who said the launch moves?" --video standup.vtt --json',
        'taskloom video ask "Which slide is it?" --range 01:30-02:10 --range 58:00-',
    )
)
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In words.")],
    which: Which = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range", metavar="FROM-TO", help="Look at frames of 01:30-02:10, 58:00- ...; again for more."
        ),
    ] = None,
    frames: Annotated[
        int | None, typer.Option("--frames", min=1, max=50, help="How many frames to look at.")
    ] = None,
    user: User = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Answer a question from what was said, word for word.

    The answer says who said it and when, or that nothing was found. With TASKLOOM_MODEL the model looks
    moments up and answers from them; it looks at pictures for what was not said, if it takes pictures. With
    --range or --frames the answer comes from frames of one recording alone; without a model it is what was
    measured of them.
    """
    eyes = eyes_of_settings()
    if ranges or frames:
        with _explained(), _recordings(user, eyes) as recordings:
            looked = looked_at(question, which, ranges or (), frames, recordings, eyes)
        tell_watched(looked, as_json=as_json)
        return
    with _explained(), _recordings(user, eyes) as recordings:
        found = recordings.rag(question, which)
        watched, hindered = answer_of_model(question, which, recordings, eyes)
        is_found = found.found if watched is None else bool(watched.sources)
        more = "" if is_found else unlooked(which, recordings, watched or hindered)
    if watched is None:
        _tell(found, as_json=as_json)
    else:
        tell_watched(watched, as_json=as_json)
    if more:
        typer.echo(_safe(more), err=True)


def _tell(found: Answer, *, as_json: bool) -> None:
    """Print an answer from what was said."""
    if as_json:
        print_json(
            {"answer": found.text, "found": found.found, "moments": [_moment(one) for one in found.moments],
             "former": [_moment(one) for one in found.former]}
        )  # fmt: skip
        return
    typer.echo(_safe(found.text))
    for one in (*found.moments[1:], *found.former):
        typer.echo(_safe(f"  {'before: ' if one in found.former else ''}{one}"))
    if found.found:
        typer.echo(_safe(f"Source: {found.moments[0].source} ({found.moments[0].scene.name})"))


@video.command(
    epilog=examples(
        'taskloom video find "the venue"',
        "taskloom video find budget --who Ana --from 10:00 --to 20:00 --limit 3",
    )
)
def find(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    which: Which = None,
    who: Annotated[
        str | None, typer.Option("--who", metavar="NAME", help="Only what this speaker said.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="MM:SS", help="Nothing that ends before.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="MM:SS", help="Nothing that begins after.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many at most.")] = 5,
    user: User = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Find the moments that match some words, the best first.

    Each begins with its score, at most 1; near 0 it has little to do with the words.
    """
    from taskloom.tools.video.tools import milliseconds

    with _explained(), _recordings(user) as recordings:
        start_ms, end_ms = milliseconds(start), milliseconds(end)
        found = recordings.retrieval(query, which, start_ms=start_ms, end_ms=end_ms, who=who, k=limit)
    if as_json:
        print_json([_moment(one) for one in found])
        return
    for one in found:
        typer.echo(_safe(f"{one.score:.2f} {one}"))
    if not found:
        typer.echo("There is no such moment.")


@video.command(epilog=examples("taskloom video forget standup.vtt", "taskloom video forget 3f2a9c"))
def forget(
    keys: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, how they begin, or names.")],
    user: User = LOCAL,
) -> None:
    """Forget recordings and everything derived from them.

    No byte stays in any file of an embedded memory; the recordings' own files are not touched.
    What a plan took from them stays in the plan, with the words it came from.
    """
    with _explained(), _recordings(user) as recordings:
        for one in {found.video: found for found in map(recordings.named, keys)}.values():
            recordings.forget(one)
            typer.echo(_safe(f"Forgot {one.name}."))


@video.command(
    epilog=examples(
        "taskloom video plan standup.vtt --thread launch",
        "taskloom video plan standup.vtt --thread launch --json",
    )
)
def plan(
    key: Annotated[str, typer.Argument(metavar="ID", help="Id or name of a recording.")],
    thread: Annotated[str, typer.Option("--thread", metavar="ID", help="Whose plan is changed.")] = "main",
    user: User = LOCAL,
    as_json: AsJson = False,
) -> None:
    """Bring the decisions of a meeting into a plan, change by change.

    Each change is proposed, and made only on a yes. Any other words go to the thread, as in a chat.
    With --json nothing is asked or changed.
    """
    from .meeting import Meeting, open_meeting

    with _explained(), open_meeting(user, checked_thread(thread) or thread) as (recordings, opened):
        meeting = Meeting(recordings, opened, key)
        if as_json:
            print_json(meeting.as_records())
        else:
            meeting.run()


# ---- what they call -------------------------------------------------------------------------------


@contextmanager
def _recordings(user: str, eyes: Eyes | None = None) -> Iterator[Recordings]:
    from taskloom.agent.recall.recordings import Recordings

    with opened_memory(user) as longterm:
        yield Recordings(longterm, user, eyes=eyes)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn errors in reading a recording into errors of the command's input."""
    from taskloom.tools.errors import ToolError

    from .problems import InputError

    try:
        yield
    except ToolError as error:
        raise InputError(str(error)) from error


def _eyes_for_captions() -> Eyes:
    """The model that makes captions, without a limit on their number.

    Raises:
        ToolError: the settings name no model.
    """
    from taskloom.tools.errors import ToolError

    if (eyes := eyes_of_settings(bounded=False)) is None:
        raise ToolError("captions are made by a model that takes pictures: set TASKLOOM_MODEL to one")
    return eyes


def _captions(file: Path, held: Taken, eyes: Eyes, progress: Callable[[str], None]) -> Captions:
    """Captions of the shots of a recording.

    Raises:
        ToolError: no shots were detected in it.
    """
    from taskloom.agent.recall.seeing import captioned
    from taskloom.agent.settings import settings
    from taskloom.tools.errors import ToolError

    if not held.shots:
        more = ": its shots need `pip install 'taskloom[video]'`" if held.pictures else ""
        raise ToolError(f"there are no pictures in {file} to make captions of{more}; leave --captions out")
    return captioned(file, held.shots, eyes, settings().model, progress)


def _outdate(user: str, replaced: Sequence[str], name: str) -> list[str]:
    """Mark what rests on replaced recordings as out of date; returns the titles."""
    from .meeting import open_meeting, outdate

    with open_meeting(user, "main") as (_, opened):
        return outdate(opened, replaced, name)


def _endpoint() -> Endpoint | None:
    """The endpoint that transcribes, from the settings."""
    from taskloom.agent.settings import settings
    from taskloom.tools.video.speech import Endpoint

    given = settings()
    if not given.transcription:
        return None
    key = given.openai_api_key
    return Endpoint(given.transcription, key.get_secret_value() if key else None, given.openai_base_url)


def _plain(one: Recording) -> dict[str, Any]:
    return {"id": one.id, "name": one.name, "seconds": one.end_ms / 1000, "scenes": one.scenes,
            "speakers": list(one.speakers), "sha256": one.video}  # fmt: skip


def _moment(one: Moment) -> dict[str, Any]:
    evidence = one.evidence
    return {"video": one.scene.video[:12], "name": one.scene.name, "start": evidence.start_ms / 1000,
            "end": evidence.end_ms / 1000, "kind": evidence.source, "by": evidence.by, "text": evidence.text,
            "source": one.source, "score": one.score}  # fmt: skip


def _length(one: Recording) -> str:
    from taskloom.memory.scenes import clock

    return clock(one.end_ms)


def _safe(text: str) -> str:
    from taskloom.memory.shown import safe

    return safe(text)
