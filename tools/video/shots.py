"""Where one shot ends and the next begins, and what each of them looks like. Pure numpy, on small pictures.

A sudden cut is a step from one picture to the next that changes more than the steps around it (against their
median), and after which nothing looks like before: not so a flash. What two pictures have in common is the
correlation of their luma at the shift where it is best, so that a camera may move, and of their colours
there, so that the same layout in other colours is another shot. A gradual cut is where what is before and
what is after have little in common and the middle is a mixture of both (a dissolve), or nothing (a fade): a
mixture has less contrast than what it is mixed of, which nothing has that only moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .lines import Shot
from .media import Picture, Pixels

RATE, SIZE = 10.0, (64, 36)  # pictures a second, and their width and height, that the figures below are for

Planes: TypeAlias = NDArray[np.int8]  # pictures, 3 (luma, red - green, blue - green), 18, 32
Floats: TypeAlias = NDArray[np.float32]

_WEIGHTS = np.array([0.299, 0.587, 0.114], np.float32)
_LEAST, _TIMES = 0.1, 3.0  # how much a cut changes, at least and against the median around it
_SURE = 0.6  # how much is a cut whatever is around it
_AROUND = 8  # steps on each side for that median
_FLASH = 7  # pictures within which all may be as before
_LAG = 7  # pictures from the middle of a gradual cut to where it is surely over
_APART = 5  # pictures of the shortest shot
_OTHER = 0.75  # likeness below which before and after are of two shots
_SAME = 0.7  # likeness from which on two shots look the same
_PART = 0.5  # part of their colours that they then have in common
_STILL = 0.97  # correlation from which on no shift is looked for
_PAIRS = 256  # compared at a time
_WINDOW = 3_000  # pictures that are searched for gradual cuts at a time
_LIKELY = 10  # earlier shots, by their colours, that one is compared with

_BINS = 4  # of each of red, green and blue, in a histogram


def shots(samples: Iterable[Picture]) -> tuple[Shot, ...]:
    """The shots of a recording, in order, without gaps; `shown` is left empty.

    Args:
        samples: pictures of `SIZE`, `RATE` a second, as `media.samples` gives them, each looked at once; of
            each 1.7 KB are kept.

    Returns:
        `colours` are the main ones, the most of it first; `motion` is how much of the range from black to
        white a point changes from one picture to the next, in the middle of all steps; `alike` is the earlier
        shot that it looks most like, if it looks like any.

    Raises:
        ValueError: a picture has another size.
    """
    times, kept = list[int](), list[Planes]()
    for one in samples:
        if one.pixels.shape != (SIZE[1], SIZE[0], 3):
            raise ValueError(f"a picture of {one.pixels.shape[1::-1]}: sample it at {SIZE}")
        times.append(one.at_ms)
        kept.append(_planes(one.pixels))
    if not times:
        return ()
    planes = np.stack(kept)
    step = int(np.median(np.diff(times))) if len(times) > 1 else round(1000 / RATE)
    bounds = [0, *cuts(planes), len(times)]
    ends = [*times, times[-1] + step]
    looks = [_look(planes, first, end) for first, end in pairwise(bounds)]
    return tuple(
        Shot(
            start_ms=ends[first],
            end_ms=ends[end],
            key_ms=times[look.key],
            colours=_colours(planes[look.key]),
            motion=_motion(planes[first:end]),
            alike=_alike(looks, number),
        )
        for number, ((first, end), look) in enumerate(zip(pairwise(bounds), looks, strict=True))
    )


def cuts(planes: Planes) -> list[int]:
    """The numbers of the pictures with which a shot begins, but for the first one."""
    steps = 1 - _likeness(planes[:-1], planes[1:], 3, 6)[0] if len(planes) > 1 else np.zeros(0, np.float32)
    sudden = {number: float(steps[number - 1]) for number in _sudden(planes, steps)}
    for span in _gradual(planes):
        within = [number for number in sudden if span.first - 3 <= number <= span.last + 3]
        if not span.faded and any(sudden[number] > 4 * _LEAST for number in within):
            continue  # what is mixed there is not more than what the pictures before and after a cut have
        for number in within:
            del sudden[number]
        sudden[span.middle] = 1.0
    found: list[int] = []
    for number in sorted(sudden, key=lambda one: (-sudden[one], one)):
        if number >= _APART and all(abs(number - other) >= _APART for other in found):
            found.append(number)
    return sorted(found)


# ---- pictures -------------------------------------------------------------------------------------------


def _planes(pixels: Pixels) -> Planes:
    """Luma and two differences of colour, four pixels together, each in a byte."""
    wide = pixels.astype(np.uint16)
    four = (wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2]).astype(np.float32) / 4
    luma = four @ _WEIGHTS - 128
    red, blue = (four[..., 0] - four[..., 1]) / 2, (four[..., 2] - four[..., 1]) / 2
    return np.stack([luma, red, blue]).astype(np.int8)


def _colour(planes: Planes) -> Floats:
    """Red, green and blue of each point, last."""
    luma, red, blue = planes[..., 0, :, :] + 128.0, planes[..., 1, :, :] * 2.0, planes[..., 2, :, :] * 2.0
    green = luma - _WEIGHTS[0] * red - _WEIGHTS[2] * blue
    rgb: Floats = np.clip(np.stack([green + red, green, green + blue], -1), 0, 255).astype(np.float32)
    return rgb


def _smaller(planes: Planes) -> Floats:
    count, kinds, height, width = planes.shape
    four = planes.reshape(count, kinds, height // 2, 2, width // 2, 2)
    return np.asarray(four.mean((3, 5), dtype=np.float32))


def _histogram(picture: Planes) -> Floats:
    bins = (_colour(picture) * _BINS / 256).astype(int) @ np.array([_BINS * _BINS, _BINS, 1])
    return np.asarray(np.bincount(bins.ravel(), minlength=_BINS**3) / bins.size, np.float32)


def _shifted(pictures: Floats, down: int, right: int) -> Floats:
    """What is left of pictures from there on; of others, shifted the other way, it is the same place."""
    height, width = pictures.shape[-2:]
    return pictures[..., max(0, down) : height + min(0, down), max(0, right) : width + min(0, right)]


def _likeness(
    a: NDArray[np.generic], b: NDArray[np.generic], down: int, right: int
) -> tuple[Floats, NDArray[np.int64]]:
    """How much each picture of a is like that of b, at most 1, and the shift at which it is.

    Args:
        a: pictures as planes.
        b: as many.
        down: points that it may be shifted up or down.
        right: points that it may be shifted to a side.
    """
    likeness, shift = np.empty(len(a), np.float32), np.zeros((len(a), 2), np.int64)
    every = [(y, x) for y in range(-down, down + 1) for x in range(-right, right + 1)]
    every.sort(key=lambda one: abs(one[0]) + abs(one[1]))
    for start in range(0, len(a), _PAIRS):
        some = slice(start, start + _PAIRS)
        one, other = a[some].astype(np.float32), b[some].astype(np.float32)
        best, at = _correlation(one[:, 0], other[:, 0]), shift[some]
        moved = np.flatnonzero(best < _STILL)
        luma, other_luma, found = one[moved, 0], other[moved, 0], best[moved]
        for y, x in every[1:]:
            here = _correlation(_shifted(luma, y, x), _shifted(other_luma, -y, -x))
            better = here > found + 0.01
            found[better], at[moved[better]] = here[better], (y, x)
        best[moved] = found
        for y, x in np.unique(at, axis=0).tolist():
            same = (at == (y, x)).all(1)
            tint = _tint(_shifted(one[same, 1:], y, x), _shifted(other[same, 1:], -y, -x))
            best[same] = np.minimum(best[same], tint)
        likeness[some] = best
    return likeness, shift


def _correlation(a: Floats, b: Floats) -> Floats:
    """Of lumas; of flat pictures how near they are."""
    a, b = _rows(a), _rows(b)
    mean_a, mean_b = (np.einsum("ni->n", one) / one.shape[1] for one in (a, b))
    common = _products(a, b) - mean_a * mean_b
    own = np.maximum(_products(a, a) - mean_a**2, 0) * np.maximum(_products(b, b) - mean_b**2, 0)
    bright_a, bright_b = mean_a + 128, mean_b + 128
    near = (2 * bright_a * bright_b + 200) / (bright_a**2 + bright_b**2 + 200)
    return np.asarray((common + 16 * near) / (np.sqrt(own) + 16), np.float32)


def _tint(a: Floats, b: Floats) -> Floats:
    """Correlation of differences of colour, whose zero is grey: without colours it is 1."""
    a, b = _rows(a), _rows(b)
    return np.asarray((_products(a, b) + 12) / (np.sqrt(_products(a, a) * _products(b, b)) + 12), np.float32)


def _rows(pictures: Floats) -> Floats:
    return pictures.reshape(len(pictures), int(np.prod(pictures.shape[1:])))


def _products(a: Floats, b: Floats) -> Floats:
    """The mean product of each row of a with that of b."""
    return np.asarray(np.einsum("ni,ni->n", a, b) / a.shape[1], np.float32)


# ---- cuts -----------------------------------------------------------------------------------------------


def _sudden(planes: Planes, steps: Floats) -> list[int]:
    """Where a step stands out, and it is not soon again as it was before."""
    if not len(steps):
        return []
    around = np.pad(steps, _AROUND, mode="reflect" if len(steps) > _AROUND else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(around, 2 * _AROUND + 1)
    usual = np.median(np.delete(windows, _AROUND, axis=1), axis=1)
    high = (
        np.flatnonzero((steps > _LEAST) & (steps > np.minimum(_TIMES * usual + 0.06, _SURE))) + 1
    ).tolist()
    pairs = [
        (number, before, after)
        for number in high
        for before in range(max(0, number - 3), number)
        for after in range(number + 1, min(len(planes), number + _FLASH))
    ]
    if not pairs:
        return high
    numbers, before, after = np.array(pairs).T
    again = _likeness(planes[before], planes[after], 3, 6)[0]
    back = again > 1 - np.clip(steps[numbers - 1] / 2, _LEAST, 0.25)
    return sorted({*high} - {*numbers[back].tolist()})


class _Span(NamedTuple):
    """Pictures in which one shot turns into another."""

    first: int
    last: int
    middle: int
    faded: bool


def _gradual(planes: Planes) -> list[_Span]:
    """Where one shot dissolves into another, or fades out before another fades in."""
    marks = [mark for start in range(0, len(planes), _WINDOW) for mark in _marks(planes, start)]
    return [_span(group) for group in _groups(marks)]


def _marks(planes: Planes, start: int) -> list[tuple[int, bool, float]]:
    """Pictures of a window that may be the middle of a gradual cut, whether dark, and how far from one."""
    first = max(0, start - _LAG)
    small = _smaller(planes[first : start + _WINDOW + _LAG])
    contrast = (small - small.mean((2, 3), keepdims=True)).reshape(len(small), -1).std(1)
    light, spread = small[:, 0].mean((1, 2)) + 128, small[:, 0].std((1, 2))
    middles = np.arange(_LAG, len(small) - _LAG)
    middles = middles[_likeness(small[middles - _LAG], small[middles + _LAG], 2, 6)[0] < _OTHER]
    before, middle, after = (small[middles + lag] for lag in (-_LAG, 0, _LAG))
    begun, to_begin = _likeness(before, middle, 2, 6)
    ended, to_end = _likeness(middle, after, 2, 6)
    marks: list[tuple[int, bool, float]] = []
    for at, number in enumerate(middles.tolist()):
        sides = [number - _LAG, number + _LAG]
        if light[number] < 0.35 * light[sides].min() and spread[number] < 0.4 * spread[sides].min():
            marks.append((first + number, True, float(light[number])))
        elif (
            begun[at] + ended[at] < 1.85
            and contrast[number] < 0.86 * np.sqrt(contrast[sides].prod())
            and _mixed(before[at], middle[at], after[at], to_begin[at], to_end[at])
        ):
            marks.append((first + number, False, float(abs(begun[at] - ended[at]))))
    return marks


def _groups(marks: Sequence[tuple[int, bool, float]]) -> list[list[tuple[int, bool, float]]]:
    """Marks that follow each other, by number, with at most one picture between them."""
    places = np.cumsum([0, *(later[0] - mark[0] > 2 for mark, later in pairwise(marks))])
    placed = groupby(zip(places, marks, strict=False), key=lambda one: one[0])
    return [[mark for _, mark in group] for _, group in placed]


def _span(group: Sequence[tuple[int, bool, float]]) -> _Span:
    """A span of its marks; its middle is where it is darkest, or as much like before as like after."""
    faded = any(dark for _, dark, _ in group)
    usable = [(number, value) for number, dark, value in group if dark == faded]
    least = min(value for _, value in usable)
    best = [number for number, value in usable if value <= least + (3 if faded else 0.05)]
    return _Span(group[0][0], group[-1][0], round(float(np.mean(best))), faded)


def _mixed(
    before: Floats, middle: Floats, after: Floats, to_begin: NDArray[np.int64], to_end: NDArray[np.int64]
) -> bool:
    """Whether a picture is a mixture of two, each shifted to where it is most like it (least squares)."""
    height, width = middle.shape[-2:]
    (up, left), (down, right) = to_begin, to_end
    rows = slice(max(0, -up, down), min(height, height - up, height + down))
    columns = slice(max(0, -left, right), min(width, width - left, width + right))
    if rows.stop - rows.start < 4 or columns.stop - columns.start < 4:
        return False
    parts = [
        picture[:, rows.start + y : rows.stop + y, columns.start + x : columns.stop + x]
        for picture, y, x in ((before, up, left), (middle, 0, 0), (after, -down, -right))
    ]
    one, mixture, other = ((part - part.mean((1, 2), keepdims=True)).ravel() for part in parts)
    gram = np.array([[one @ one + 1, one @ other], [one @ other, other @ other + 1]])
    shares = np.linalg.solve(gram, np.array([one @ mixture, other @ mixture]))
    left_over = mixture - shares[0] * one - shares[1] * other
    explained = 1 - left_over @ left_over / (mixture @ mixture + 1)
    return bool(explained > 0.7 and ((shares > 0.2) & (shares < 0.8)).all())


# ---- looks ----------------------------------------------------------------------------------------------


class _Look(NamedTuple):
    """How a shot looks: the number of its key frame, some of its pictures, and its colours."""

    key: int
    pictures: Floats
    histogram: Floats


def _look(planes: Planes, first: int, end: int) -> _Look:
    """Its key frame is the picture nearest to the median of the shot, and not at its edges."""
    edge = min(_APART, (end - first) // 4)
    inner = np.unique(np.linspace(first + edge, end - 1 - edge, 25).round().astype(int))
    usual = np.median(planes[inner], axis=0)
    key = int(inner[np.abs(planes[inner] - usual).mean((1, 2, 3)).argmin()])
    some = _smaller(planes[[inner[0], key, inner[-1]]])
    return _Look(key, some, _histogram(planes[key]))


def _alike(looks: Sequence[_Look], number: int) -> int | None:
    """The earlier shot that looks most like one, if it looks the same; of equals the first."""
    if not number:
        return None
    mine = looks[number]
    common = np.array([np.minimum(mine.histogram, other.histogram).sum() for other in looks[:number]])
    likely = [int(one) for one in np.argsort(-common, kind="stable")[:_LIKELY] if common[one] > _PART]
    if not likely:
        return None
    theirs = np.concatenate([looks[one].pictures for one in likely for _ in mine.pictures])
    ours = np.tile(mine.pictures.repeat(3, axis=0), (len(likely), 1, 1, 1))
    found = _likeness(ours, theirs, 2, 6)[0]
    best = found.reshape(len(likely), 9).max(1)
    return likely[int(best.argmax())] if best.max() > _SAME else None


def _motion(planes: Planes) -> float:
    if len(planes) < 2:
        return 0.0
    changes = np.abs(np.diff(planes[:, 0].astype(np.int16), axis=0)).mean((1, 2))
    return round(float(np.median(changes)) / 255, 4)


def _colours(picture: Planes) -> tuple[str, ...]:
    """The names of the colours of at least an eighth of a picture, at most three, the most of it first."""
    red, green, blue = np.moveaxis(_colour(picture).reshape(-1, 3) / 255, -1, 0)
    most, least = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    chroma = np.maximum(most - least, 1e-6)
    green_or_blue = np.where(most == green, (blue - red) / chroma + 2, (red - green) / chroma + 4)
    hue = 60 * np.where(most == red, (green - blue) / chroma % 6, green_or_blue)
    grey = (chroma < 0.12) | (chroma < 0.2 * most)
    names = np.select(
        [
            most < 0.15, grey & (most > 0.82), grey & (most < 0.22), grey,
            (hue < 45) & (hue >= 12) & (most < 0.65), (hue >= 330) & (least > 0.4), (hue < 12) | (hue >= 345),
            hue < 45, hue < 70, hue < 165, hue < 195, hue < 255, hue < 290,
        ],
        [
            "black", "white", "black", "grey", "brown", "pink", "red",
            "orange", "yellow", "green", "cyan", "blue", "purple",
        ],
        "pink",
    )  # fmt: skip
    found, counts = np.unique(names, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    return tuple(str(found[one]) for one in order if 8 * counts[one] >= names.size)
