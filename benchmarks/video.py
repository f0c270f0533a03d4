"""What is found and answered in recordings from their transcripts alone, without a model.

    python benchmarks/video.py [--json] [--seed 2] [--talks 60] [--wording crew] [--clips 60]

The talks and the questions on them are made up (`talks.py`): synthetic, with exact truth. Ten questions a
talk: what holds after changes (revised), who said it (said), when it is first mentioned (when), what was said
beside it (beside), how often (count), and what was never said (never).

`right`: the answer has the true value, name, number or words, none of the values that were given up, and its
first moment overlaps the true line by half (tIoU .5), where there is one; of `never`, that nothing says so.
`moment`: of those with a true line, the first moment overlaps it by half. Against it, the question as it is
goes to: the retrieval of moments; windows of ten seconds by the meaning of what is said in them, as TeleMem
cuts videos (`held`: the window has the whole line, which is all that it can do for short ones); BM25 over
lines. `closure tokens`: what the closure for a question takes in a prompt, within 600; `closure has it`: how
often the true line is in it; against the tokens of the whole transcript.

Which wordings the rules of the answers were mended with, and which not, is told in `wordings.py`; the default
is one that they were not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from talks import Question, Talk, talk_of
from wordings import KEPT, SPENT

from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.recordings import Recordings
from taskloom.agent.settings import Settings
from taskloom.memory.embed import packaged
from taskloom.memory.ranking import Corpus
from taskloom.memory.records import Evidence, Scene, now
from taskloom.memory.retrieve import tokens
from taskloom.memory.scenes import render
from taskloom.tools.video.lines import Line

WINDOW_MS = 10_000
Span = tuple[int, int]
BUDGET = 600  # tokens of a closure


def overlap(one: Span, other: Span) -> float:
    """The share of the union of two stretches of time that is in both."""
    both = min(one[1], other[1]) - max(one[0], other[0])
    whole = max(one[1], other[1]) - min(one[0], other[0])
    return max(0, both) / whole if whole else float(one == other)


def by_windows(lines: Sequence[Line], question: str) -> Span:
    """The window of ten seconds whose words are nearest in meaning."""
    end = lines[-1].end_ms
    spans = [(at, at + WINDOW_MS) for at in range(0, end, WINDOW_MS)]
    texts = [
        " ".join(f"{line.who}: {line.text}" for line in lines if line.start_ms < stop and line.end_ms > start)
        for start, stop in spans
    ]
    vectors = packaged()([question, *texts])
    return spans[int(np.argmax(vectors[1:] @ vectors[0]))]


def by_lines(lines: Sequence[Line], question: str) -> Span:
    """The line with the best BM25."""
    corpus = Corpus()
    scenes = [
        Scene(id=f"s{n}", text=f"{line.who}: {line.text}", at=now(), video="0" * 64, name="x",
              start_ms=line.start_ms, end_ms=line.end_ms)
        for n, line in enumerate(lines)
    ]  # fmt: skip
    corpus.put(scenes, np.ones((len(scenes), 1), np.float32))
    (hit,) = corpus.search(question, np.ones(1, np.float32), limit=1, mix=0.0)
    found = hit.record
    assert isinstance(found, Scene)
    return found.start_ms, found.end_ms


class Scores:
    """Shares by name and kind of question."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, name: str, kind: str, value: float) -> None:
        """One more figure."""
        self._held[name, kind].append(float(value))
        self._held[name, "all"].append(float(value))

    def count(self, name: str) -> int:
        """How many figures there are."""
        return len(self._held[name, "all"])

    def mean(self, name: str, kind: str = "all") -> float | None:
        """The mean of some figures; None of none."""
        held = self._held.get((name, kind))
        return round(statistics.mean(held), 3) if held else None


def asked(recordings: Recordings, talk: Talk, question: Question, scores: Scores) -> None:
    """One question, put to all that answers."""
    begun = time.perf_counter()
    found = recordings.rag(question.text)
    scores.add("seconds", question.kind, time.perf_counter() - begun)
    if question.kind == "never":
        scores.add("right", "never", not found.found)
        return
    text = found.text.casefold()
    right = question.answer.casefold() in text and not any(one.casefold() in text for one in question.wrong)
    if question.at is None:
        scores.add("right", question.kind, right and found.found)
        return
    line = talk.lines[question.at]
    true = (line.start_ms, line.end_ms)
    first: Evidence | None = found.moments[0].evidence if found.found else None
    hit = first is not None and overlap((first.start_ms, first.end_ms), true) >= 0.5
    scores.add("right", question.kind, right and hit)
    scores.add("moment", question.kind, hit)
    best = recordings.retrieval(question.text, k=1)[0].evidence
    for name, span in (
        ("retrieval", (best.start_ms, best.end_ms)),
        ("windows", by_windows(talk.lines, question.text)),
        ("bm25", by_lines(talk.lines, question.text)),
    ):
        scores.add(name, question.kind, overlap(span, true) >= 0.5)
        if name == "windows":
            scores.add("held", question.kind, span[0] <= true[0] and true[1] <= span[1])
    shown = recordings.closure(question.text, tokens=BUDGET)
    scores.add("closure_tokens", question.kind, shown.tokens)
    scores.add("closure_has_it", question.kind, any(line.text in one for one in shown.lines))


def measured(seed: int, talks: int, wording: str) -> dict[str, Any]:
    """All figures of a seed."""
    scores = Scores()
    spent = minutes = whole = 0.0
    with tempfile.TemporaryDirectory() as folder:
        longterm = longterm_of(Settings(home=Path(folder)))
        assert longterm is not None
        packaged()(["loads the model"])
        for number in range(talks):
            talk = talk_of(seed * 10_000 + number, wording)
            recordings = Recordings(longterm, f"user{number}")
            begun = time.process_time()
            recordings.add("talk", hashlib.sha256(str((seed, number)).encode()).hexdigest(), talk.lines)
            spent += time.process_time() - begun
            minutes += talk.lines[-1].end_ms / 60_000
            whole += sum(tokens(render(one)) + 1 for scene in recordings.scenes() for one in scene.evidence)
            for question in talk.questions:
                asked(recordings, talk, question, scores)
        longterm.close()
    kinds = ("revised", "said", "when", "beside", "count", "never", "all")
    rows = {
        kind: {
            name: scores.mean(name, kind)
            for name in ("right", "moment", "retrieval", "windows", "held", "bm25")
        }
        for kind in kinds
    }
    return {
        "seed": seed, "wording": wording, "talks": talks, "minutes": round(minutes, 1),
        "synthetic": True, "rows": rows,
        "seconds_a_question": scores.mean("seconds"), "seconds_to_add_a_minute": round(spent / minutes, 3),
        "closure_tokens": scores.mean("closure_tokens"), "closure_has_it": scores.mean("closure_has_it"),
        "transcript_tokens": round(whole / talks, 1), **on_disk(seed),
    }  # fmt: skip


def on_disk(seed: int) -> dict[str, Any]:
    """Kilobytes a minute of twelve talks of one user, and files that hold a word of them once forgotten."""
    mark = "Quetzalcoatl"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        longterm = longterm_of(Settings(home=home))
        assert longterm is not None
        recordings = Recordings(longterm, "user")
        recordings.add("empty", "0" * 64, [Line(0, 1000, "Hello.", "Ana")])
        before, minutes = size(home, longterm), 0.0
        for number in range(12):
            lines = talk_of(seed * 10_000 + number).lines
            more = Line(lines[-1].end_ms + 500, lines[-1].end_ms + 1500, f"{mark} has the last word.", mark)
            recordings.add(f"talk {number}", hashlib.sha256(str(number).encode()).hexdigest(), [*lines, more])
            minutes += more.end_ms / 60_000
        after = size(home, longterm)
        for one in recordings.all():
            recordings.forget(one)
        left = sum(
            path.read_bytes().lower().count(mark.lower().encode())
            for path in home.rglob("*")
            if path.is_file()
        )
        longterm.close()
    return {"kilobytes_a_minute": round((after - before) / 1024 / minutes, 1), "left_after_forget": left}


def on_screen(count: int, seed: int) -> dict[str, Any]:
    """What is answered from words that clips show, as the extra `ocr` reads them; nothing is said in these.

    Of each word that a clip shows it is asked when it does: `found` where the answer has the word,
    `moment` where its first moment overlaps the first take with it by half. Of two words that it never
    shows it has to be turned down.
    """
    import clips  # with PyAV and Pillow

    from taskloom.tools.video.screen import text_reader
    from taskloom.tools.video.taken import taken

    if text_reader() is None:
        raise SystemExit("words on the screen are read by the extra `ocr`: pip install -e '.[video,ocr]'")
    scores = Scores()
    with tempfile.TemporaryDirectory() as folder:
        longterm = longterm_of(Settings(home=Path(folder) / "home"))
        assert longterm is not None
        for number in range(count):
            clip = clips.clip(seed * 1_000 + number)
            path = Path(folder) / f"{number}.mp4"
            clips.write(clip, path)
            recordings, held = Recordings(longterm, f"user{number}"), taken(path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            recordings.add(path.name, digest, held.lines, held.shots, file=path)
            ends = (*clip.cuts, clip.duration_ms)
            first: dict[str, Span] = {}
            for take, start, end in zip(clip.takes, clip.starts, ends, strict=True):
                first.setdefault(take.words, (start, end))
            for word in sorted(first.keys() - {""}):
                found = recordings.rag(f"When is {word} on the screen?")
                at = found.moments[0].evidence if found.found else None
                scores.add("found", "shown", at is not None and word in at.text)
                hit = at is not None and overlap((at.start_ms, at.end_ms), first[word]) >= 0.5
                scores.add("moment", "shown", hit)
            for word in [word for word in clips.WORDS if word not in first][:2]:
                scores.add("found", "never", not recordings.rag(f"When is {word} on the screen?").found)
        longterm.close()
    return {
        "clips": count, "seed": seed, "questions": scores.count("found"),
        "found": scores.mean("found", "shown"), "moment": scores.mean("moment", "shown"),
        "never": scores.mean("found", "never"),
    }  # fmt: skip


def size(home: Path, longterm: LongTerm) -> int:
    """Bytes in a home once what was deleted is off the disk."""
    longterm.store.compact()
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def show(found: dict[str, Any]) -> None:
    """The figures as tables."""
    out = Console()
    which = f"seed {found['seed']}, wordings {found['wording']}"
    table = Table(title=f"{found['talks']} made-up talks, {which}: shares of the questions")
    names = ("right", "moment", "retrieval", "windows", "held", "bm25")
    for head in ("kind", *names):
        table.add_column(head)
    for kind, row in found["rows"].items():
        table.add_row(kind, *("" if row[name] is None else f"{row[name]:.3f}" for name in names))
    out.print(table)
    for name, value in found.items():
        if name not in ("rows", "seed", "talks", "wording"):
            out.print(f"{name.replace('_', ' ')}: {value}")


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--talks", type=int, default=60)
    parser.add_argument("--clips", type=int, default=0, help="also the cuts of so many clips, by `shots.py`")
    parser.add_argument("--wording", choices=KEPT + SPENT, default="crew")
    parser.add_argument("--shown", type=int, default=0, help="also words that so many clips show, by OCR")
    given = parser.parse_args()
    found = measured(given.seed, given.talks, given.wording)
    if given.clips:
        import shots  # with PyAV and Pillow

        found["cuts"] = shots.measure(given.clips, 13)
    if given.shown:
        found["on_screen"] = on_screen(given.shown, 13)
    print(json.dumps(found, indent=2)) if given.json else show(found)


if __name__ == "__main__":
    main()
