"""A user's recordings in long-term memory: taken in as scenes, listed, and forgotten.

A recording is known by the SHA-256 of its file, in short by the first letters of it. What its scenes hold is
what was said, word for word, and what is seen; who speaks in it and what is talked of are facts beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from taskloom.memory.actions import VERBS
from taskloom.memory.ranking import Hit, stems
from taskloom.memory.records import Evidence, Fact, Scene, now, record_id
from taskloom.memory.scenes import Shown, clock, closure, linked
from taskloom.tools.errors import ToolError
from taskloom.tools.video.lines import Line, Shot
from taskloom.tools.video.looking import FRAMES, Ask
from taskloom.tools.video.segments import Segment, segments
from taskloom.tools.video.tools import Range

from .asking import Answer, answer
from .longterm import LongTerm
from .moments import MOMENTS, Moment, Search, moments_in, retrieve, within
from .seeing import Captions, Seen, has_pictures, kept, look, placed

BATCH = 64  # records that are kept at a time
SHORT = 12  # letters of a recording's id
UTTERANCE_MS, UTTERANCE_WORDS = 30_000, 60  # of cues that are joined to a sentence
SEEDS, DEPTH = 6, 2  # scenes that a closure begins with; how far back it goes
SUBJECTS, SUBJECTS_OF_SCENE, SHORTEST_SUBJECT = 12, 6, 4
JOINED_MS = 1_500  # of silence, over which no sentence goes on
_ENDS = (".", "?", "!", "…", '."', '?"', "!”", ".”", "?”")


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as it is listed. video: SHA-256 of its file. speakers: in order of their first words."""

    video: str
    name: str
    end_ms: int
    scenes: int
    speakers: tuple[str, ...]

    @property
    def id(self) -> str:
        """The short id: what a task's source names, `video:ID@mm:ss`."""
        return self.video[:SHORT]


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of taking a recording in.

    replaced: ids of former recordings of that name, now forgotten. kept: captions that were made earlier.
    """

    recording: Recording
    subjects: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    kept: int = 0


class Recordings:
    """The recordings of one user."""

    def __init__(self, longterm: LongTerm, user: str, *, eyes: Ask | None = None) -> None:
        """longterm: where they are kept, under the user's name alone. eyes: a model that takes pictures."""
        self._longterm, self._user, self._eyes = longterm, user, eyes

    def scenes(self, video: str | None = None) -> tuple[Scene, ...]:
        """The scenes of a recording, or of all, in order of time within each.

        Raises:
            StoreError: the store cannot be read.
        """
        found = (one for one in self._longterm.of_kind(self._user, "scene") if isinstance(one, Scene))
        return tuple(
            sorted(
                (one for one in found if video in (None, one.video)),
                key=lambda one: (one.at, one.video, one.start_ms, one.turn),
            )
        )

    def all(self) -> tuple[Recording, ...]:
        """All recordings, the first taken in first."""
        by_video: dict[str, list[Scene]] = {}
        for scene in self.scenes():
            by_video.setdefault(scene.video, []).append(scene)
        return tuple(map(_recording, by_video.values()))

    def named(self, key: str) -> Recording:
        """The one recording of this id, of the beginning of one, or of this name.

        Raises:
            ToolError: there is none, or more than one.
        """
        known = self.all()
        found = [one for one in known if key == one.name] or [
            one for one in known if key and one.video.startswith(key)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise ToolError(f"{len(found)} recordings are called {key!r}: give more of the id")
        raise ToolError(f"there is no recording {key!r}: `taskloom video list` shows them")

    def add(
        self,
        name: str,
        video: str,
        lines: Sequence[Line],
        shots: Sequence[Shot] = (),
        *,
        file: Path | None = None,
        captions: Captions | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Taken:
        """Take a recording in, in place of what there was of it, and of another file of its name.

        Captions that were made of the same file earlier stay, where they still have a place (`seeing.kept`).

        Args:
            name: what it is called, such as its file's name.
            video: SHA-256 of the file, in hex.
            lines: what is said.
            shots: what is seen.
            file: where it is, to be looked at; None where it has no pictures.
            captions: of its shots.
            progress: is called with what is being done.

        Raises:
            ToolError: there is nothing in it.
            StoreError: the store fails; the recording may be there in part, and can be added again.
        """
        if not lines and not any(shot.shown or shot.colours for shot in shots):
            raise ToolError(f"nothing is said or seen in {name}: there is nothing to remember")
        progress("cutting it into scenes")
        before = [one for one in self.all() if one.video == video or one.name == name]
        old = [key for one in before for key in self._ids(one)]
        parts = segments(tuple(utterances(lines)), shots)
        parts = parts or (Segment(shots[0].start_ms, shots[-1].end_ms, (), tuple(shots)),)  # short ones alone
        where, new = "" if file is None else str(file.absolute()), captions or Captions()
        earlier = kept(self.scenes(video), parts, shots, new)
        scenes = _scenes(name, video, parts, where, placed(parts, shots, new, earlier))
        self._put(scenes, progress)  # what was there before stays until this is whole
        ids = {one.id for one in scenes}
        if gone := [key for key in old if key not in ids]:
            self._longterm.drop(self._user, gone)
        at = now()  # later than what was dropped, or the same facts would not be taken
        subjects = _subject_facts(name, video, scenes, at)
        self._put((*_speaker_facts(name, video, scenes, at), *subjects))
        replaced = tuple(one.id for one in before if one.video != video)
        return Taken(_recording(scenes), tuple(fact.subject for fact in subjects), replaced, len(earlier))

    def _put(self, records: Sequence[Scene | Fact], progress: Callable[[str], None] = lambda _: None) -> None:
        """Keep records, some at a time."""
        for start in range(0, len(records), BATCH):
            done, many = min(start + BATCH, len(records)), len(records)
            progress(f"remembering {done} of {many} scene{'s' * (many != 1)}")
            self._longterm.outbox.add(self._user, records[start : start + BATCH])
            self._longterm.flush(self._user)

    def _ids(self, recording: Recording) -> list[str]:
        """Ids of all records of a recording."""
        thread = _thread(recording.video)
        return [one.id for one in self._longterm.store.records(self._user) if one.thread == thread]

    def retrieval(
        self,
        query: str,
        video: str | None = None,
        *,
        start_ms: int | None = None,
        end_ms: int | None = None,
        who: str | None = None,
        k: int = MOMENTS,
    ) -> tuple[Moment, ...]:
        """The moments that match a query, best first, with their times, sources and scores.

        Args:
            query: in words.
            video: id or name of a recording; all without one.
            start_ms: nothing that ends before.
            end_ms: nothing that begins after.
            who: only what they said.
            k: how many at most.

        Raises:
            ToolError: there is no such recording, or the query, k or range cannot be used.
            StoreError: the store cannot be read.
        """
        found = within(moments_in(self._of(video)), start_ms=start_ms, end_ms=end_ms, who=who)
        return retrieve(query, found, self._search(video), self._longterm.store.embedder, k)

    def rag(self, question: str, video: str | None = None) -> Answer:
        """What recordings say on a question, by extraction; that nothing says so is an answer too.

        Raises:
            ToolError: the question is blank, or there is no such recording.
            StoreError: the store cannot be read.
        """
        if not question.strip():
            raise ToolError("the question is blank: say what to look for")
        return answer(question, moments_in(self._of(video)))

    def qa(
        self,
        question: str,
        video: str | None = None,
        *,
        ranges: Sequence[Range] = (),
        frames: int = FRAMES,
    ) -> Seen:
        """What a recording shows, by frames of its file; without eyes what was measured of them.

        Args:
            question: in words.
            video: id or name of the recording; the only one without it.
            ranges: from where to look and up to where, in milliseconds, in any order; all without any.
            frames: how many to look at in all of them, 1 to 50.

        Raises:
            ToolError: there is no such recording, or not one alone; or as `look`.
            StoreError: the store cannot be read.
        """
        scenes = self._of(video)
        names = list({one.video: one.name for one in scenes}.values())
        if not names:
            raise ToolError("there is no recording to look at: `taskloom video add FILE` remembers one")
        if len(names) > 1:
            raise ToolError(f"say which of the recordings to look at: {', '.join(names)[:200]}")
        return look(question, scenes, self._eyes, ranges, frames)

    def pictured(self, video: str | None = None) -> tuple[str, ...]:
        """The names of the recordings, or of one, whose file is there to be looked at.

        Raises:
            ToolError: there is no such recording.
            StoreError: the store cannot be read.
        """
        first = {one.video: one for one in self._of(video)[::-1]}
        return tuple(one.name for one in first.values() if has_pictures(one))[::-1]

    def closure(self, question: str, video: str | None = None, *, tokens: int = 1_000) -> Shown:
        """The scenes that match a question with what they rest on: what a model is shown.

        Raises:
            ToolError: there is no such recording.
            StoreError: the store cannot be read.
        """
        scenes = {one.id: one for one in self._of(video)}
        seeds = [hit.record.id for hit in self._search(video)(question, SEEDS)]
        return closure(scenes, seeds, depth=DEPTH, tokens=tokens)

    def _of(self, video: str | None) -> tuple[Scene, ...]:
        return self.scenes(None if video is None else self.named(video).video)

    def _search(self, video: str | None) -> Search:
        """Finds scenes, those of other recordings left out."""
        of = None if video is None else self.named(video).video

        def search(query: str, limit: int) -> Sequence[Hit]:
            store = self._longterm.store
            many = limit if of is None else store.count(self._user, "scene")
            hits = store.search(self._user, query, kind="scene", limit=max(1, many))
            fit = [hit for hit in hits if isinstance(hit.record, Scene) and of in (None, hit.record.video)]
            return fit[:limit]

        return search

    def forget(self, recording: Recording) -> None:
        """Forget a recording with all that was made of it: no byte stays in any file of an embedded store.

        Raises:
            StoreError: the store fails; then it is not sure to be gone.
        """
        self._longterm.flush(self._user)
        self._longterm.drop(self._user, self._ids(recording))


def utterances(lines: Iterable[Line]) -> Iterable[Line]:
    """Lines as sentences: cues of one speaker are joined until a sentence ends, or a pause comes."""
    last: Line | None = None
    for line in lines:
        if last is not None and _continues(last, line):
            last = replace(last, end_ms=max(last.end_ms, line.end_ms), text=f"{last.text} {line.text}")
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def _continues(last: Line, line: Line) -> bool:
    """Whether a line goes on with the sentence of the one before."""
    return (
        last.who == line.who
        and not last.text.endswith(_ENDS)
        and line.start_ms - last.end_ms < JOINED_MS
        and line.end_ms - last.start_ms <= UTTERANCE_MS
        and len(last.text.split()) < UTTERANCE_WORDS
    )


# ---- scenes ---------------------------------------------------------------------------------------


def _thread(video: str) -> str:
    return f"video:{video[:SHORT]}"


def _recording(scenes: Sequence[Scene]) -> Recording:
    first = scenes[0]
    speakers = dict.fromkeys(one.by for scene in scenes for one in scene.evidence if one.source == "said")
    end = max(scene.end_ms for scene in scenes)
    return Recording(first.video, first.name, end, len(scenes), tuple(filter(None, speakers)))


def _scenes(
    name: str, video: str, parts: Sequence[Segment], file: str, captioned: Mapping[int, Sequence[Evidence]]
) -> tuple[Scene, ...]:
    """The scenes of a recording, linked. captioned: captions by the place of their segment."""
    subjects = _subjects(parts)
    at = now()
    found = []
    for number, part in enumerate(parts, 1):
        evidence = _evidence(part, captioned.get(number - 1, ()))
        text = " ".join(f"{one.by}: {one.text}" if _is_said(one) else one.text for one in evidence)
        looks = [shot.alike for shot in part.shots if shot.alike is not None]
        found.append(
            Scene(
                id=record_id(video, number, "scene"), text=text or "nothing is said", at=at,
                thread=_thread(video), turn=number, video=video, name=name,
                file=file, start_ms=part.start_ms, end_ms=part.end_ms, evidence=evidence,
                subjects=subjects[number - 1], look=looks[0] if looks else None,
            )
        )  # fmt: skip
    return linked(found)


def _is_said(one: Evidence) -> bool:
    """Whether it is told who said it."""
    return one.source == "said" and bool(one.by)


def _evidence(part: Segment, captions: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """What a segment holds, in order of time."""
    said = [
        Evidence(start_ms=line.start_ms, end_ms=line.end_ms, source="said", text=line.text, by=line.who or "")
        for line in part.lines
    ]
    for shot in part.shots:
        start, end = max(shot.start_ms, part.start_ms), min(shot.end_ms, part.end_ms)
        if shot.shown.strip():
            said.append(Evidence(start_ms=start, end_ms=end, source="shown", text=shot.shown))
        if shot.colours:
            moving = ", moving" if shot.motion > 0 else ""
            seen = f"{', '.join(shot.colours)}{moving}"
            said.append(Evidence(start_ms=start, end_ms=end, source="seen", text=seen))
    return tuple(sorted((*said, *captions), key=lambda one: (one.start_ms, one.end_ms)))


def _subjects(parts: Sequence[Segment]) -> list[tuple[str, ...]]:
    """What is talked of in each segment: words that some others have too, and not most; the most frequent."""
    words: dict[str, Counter[str]] = {}
    having: list[set[str]] = []
    for part in parts:
        own = set[str]()
        for word in " ".join(line.text for line in part.lines).split():
            bare = word.strip(".,;:!?\"'()“”").lower()
            for stem in stems(bare):
                if len(stem) >= SHORTEST_SUBJECT and stem.isalpha() and bare not in VERBS:
                    words.setdefault(stem, Counter())[bare] += 1
                    own.add(stem)
        having.append(own)
    count = Counter(stem for own in having for stem in own)
    most = max(3, len(parts) // 3)
    subjects = []
    for own in having:
        fit = sorted((stem for stem in own if 2 <= count[stem] <= most), key=lambda stem: (count[stem], stem))
        subjects.append(tuple(words[stem].most_common(1)[0][0] for stem in fit[-SUBJECTS_OF_SCENE:]))
    return subjects


# ---- facts ----------------------------------------------------------------------------------------


def _speaker_facts(name: str, video: str, scenes: Sequence[Scene], at: datetime) -> tuple[Fact, ...]:
    """Who speaks, each with when they are first heard."""
    first: dict[str, int] = {}
    for scene in scenes:
        for one in scene.evidence:
            if one.source == "said" and one.by:
                first.setdefault(one.by, one.start_ms)
    return tuple(
        Fact(
            id=record_id(video, 0, "fact", f"who\x1f{who}"), at=at, thread=_thread(video),
            text=f"{who} speaks in {name}, first at {clock(start)}.", people=(who,), subject=who,
            slot=f"speaker.{number}", value=clock(start),
        )
        for number, (who, start) in enumerate(first.items(), 1)
    )  # fmt: skip


def _subject_facts(name: str, video: str, scenes: Sequence[Scene], at: datetime) -> tuple[Fact, ...]:
    """What is talked of most, each with when it first is."""
    count = Counter(subject for scene in scenes for subject in scene.subjects)
    first: dict[str, int] = {}
    for scene in scenes:
        for one in scene.evidence:
            has = set(stems(one.text))
            for subject in scene.subjects:
                if has.issuperset(stems(subject)):
                    first.setdefault(subject, one.start_ms)
    most = sorted(count, key=lambda subject: (-count[subject], first[subject], subject))[:SUBJECTS]
    return tuple(
        Fact(
            id=record_id(video, 0, "fact", f"subject\x1f{subject}"), at=at, thread=_thread(video),
            text=f"The {subject} is talked of in {name}, first at {clock(first[subject])}.", subject=subject,
            slot=f"subject.{number}", value=clock(first[subject]),
        )
        for number, subject in enumerate(most, 1)
    )  # fmt: skip
