"""Turns that nobody has marked up, read as the reading that was seen to do what was said.

Authors of training/played say what must hold after each turn. Of the readings that the network of the
package has of a turn, the likeliest that does just that is what the next network learns from (as Zelikman et
al. 2022, "STaR: Bootstrapping Reasoning With Reasoning", do with answers that are known). Turns without one
are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

from cases import Case, Cases
from lines import Clause, Dialogue, Span, Turn

from taskloom.agent.reading.heard import titles

PLAYED = Path(__file__).parent / "played"
WIDE = 48  # readings that are tried where the usual number has none


def dialogues(folder: Path = PLAYED, workers: int = 2) -> list[Dialogue]:
    """What each author's turns are read as; the authors are shared out among processes."""
    authors = [sorted(author.glob("*.json")) for author in sorted(folder.iterdir())]
    with ProcessPoolExecutor(workers) as pool:
        return list(chain.from_iterable(pool.map(partial(_of, folder.name), authors)))


def _of(source: str, files: Sequence[Path]) -> list[Dialogue]:
    read = [(case.author, turn_of(case)) for case in Cases().played(source, files, WIDE)]
    turns = [turn for _, turn in read if turn is not None]
    return [Dialogue(read[0][0], read[0][0], turns)] if turns else []


def turn_of(case: Case) -> Turn | None:
    """A turn as its likeliest reading that does what was said; None where none does."""
    right = [one for one, it in zip(case.candidates, case.outcomes, strict=True) if it == "held"]
    read = max(right, key=lambda one: one.share).parse.clauses if right else ()
    clauses, spans, at = list[Clause](), list[Span](), 0
    for number, clause in enumerate(read):
        start = case.text.find(clause.text, at)
        if start < 0:
            return None  # what stood before it was taken off: "Re the party: ..."
        at = start + len(clause.text)
        clauses.append(Clause(start, at, clause.act))
        for one in clause.mentions:
            begin = start + one.start
            spans.append(Span(begin, begin + len(one.text), one.role, one.pair, number))
    if not clauses:
        return None
    before = case.view.exchanges[-1][1] if case.view.exchanges else ""
    return Turn(case.text, tuple(clauses), tuple(spans), before=before, plan=titles(case.view))
