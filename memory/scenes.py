"""Scenes of recordings: how they rest on one another, and what of them goes into a prompt. Frozen, pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from . import dag
from .records import Evidence, Scene
from .retrieve import tokens as tokens_of


def clock(milliseconds: int) -> str:
    """A time as a player shows it: '03:20', from an hour on '1:03:20'."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, left = divmod(minutes, 60)
    return f"{hours}:{left:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def span(start_ms: int, end_ms: int) -> str:
    """A stretch of time: '[03:20-03:41]'."""
    return f"[{clock(start_ms)}-{clock(end_ms)}]"


def render(one: Evidence) -> str:
    """Evidence as one line for a prompt: `[03:20-03:41] Bob said: Let's begin.`."""
    text = " ".join(one.text.split())
    who = f"{one.by} said" if one.by else "said"
    what = {"said": who, "shown": "shown", "seen": "seen", "caption": f"caption by {one.by or 'a model'}"}
    return f"{span(one.start_ms, one.end_ms)} {what[one.source]}: {text}"


def linked(scenes: Iterable[Scene]) -> tuple[Scene, ...]:
    """The scenes of one recording in order of time, each resting on the latest earlier ones it continues.

    These are, for each subject, speaker and look of a scene, the one that had it last; reduced, so that no
    edge is given by others (see `memory.facts`).
    """
    last: dict[tuple[str, object], str] = {}
    edges: dict[str, tuple[str, ...]] = {}
    found = []
    for scene in sorted(scenes, key=lambda scene: (scene.start_ms, scene.turn)):
        traits = _traits(scene)
        earlier = [last[trait] for trait in traits if trait in last]
        edges[scene.id] = tuple(dag.unreached(earlier, edges.__getitem__))
        last |= dict.fromkeys(traits, scene.id)
        found.append(scene.model_copy(update={"rests_on": edges[scene.id]}))
    return tuple(found)


def _traits(scene: Scene) -> list[tuple[str, object]]:
    """What a scene may have in common with another, subjects first."""
    speakers = dict.fromkeys(one.by for one in scene.evidence if one.source == "said" and one.by)
    looks = [] if scene.look is None else [("look", scene.look)]
    return [*(("subject", one) for one in scene.subjects), *(("who", one) for one in speakers), *looks]


@dataclass(frozen=True, slots=True)
class Shown:
    """Scenes for a prompt. scenes, lines: in order of time. tokens: what the lines take. left_out: scenes."""

    scenes: tuple[Scene, ...] = ()
    lines: tuple[str, ...] = ()
    tokens: int = 0
    left_out: int = 0


def closure(
    scenes: Mapping[str, Scene], seeds: Sequence[str], *, depth: int | None = None, tokens: int = 600
) -> Shown:
    """Seeds with all that they rest on, in order of time (TeleMem, closure retrieval).

    Whole scenes are taken, the seeds in their order, then what they rest on, nearest first, until the first
    that does not fit.

    Args:
        scenes: by id; edges to others are passed over.
        seeds: ids, the best first; unknown ones are passed over.
        depth: how many edges away at most; None for all.
        tokens: what all lines (see `render`) may take together, a line end each included.
    """

    def rests_on(key: str) -> list[str]:
        return [other for other in scenes[key].rests_on if other in scenes]

    reached = dag.levels([key for key in seeds if key in scenes], rests_on)
    wanted = [key for level in islice(reached, None if depth is None else depth + 1) for key in level]
    taken: list[Scene] = []
    used = 0
    for key in wanted:
        cost = sum(tokens_of(render(one)) + 1 for one in scenes[key].evidence)
        if used + cost > tokens:
            break
        used += cost
        taken.append(scenes[key])
    taken.sort(key=lambda scene: (scene.at, scene.video, scene.start_ms))
    lines = tuple(render(one) for scene in taken for one in scene.evidence)
    return Shown(tuple(taken), lines, used, len(wanted) - len(taken))
