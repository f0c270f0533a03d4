"""Shots: cuts, dissolves and fades are found where they are; what only moves or lights up is none."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from benchmarks import clips
from taskloom.tools.video.media import Picture, Pixels, samples
from taskloom.tools.video.shots import RATE, SIZE, shots

WIDTH, HEIGHT = SIZE
STEP = round(1000 / RATE)


def scene(seed: int, width: int = WIDTH, cells: int = 6) -> Pixels:
    """Soft spots of colour."""
    spots = np.random.default_rng(seed).integers(0, 256, (cells, cells * width // WIDTH, 3)).astype(np.uint8)
    return np.asarray(Image.fromarray(spots).resize((width, HEIGHT), Image.Resampling.BICUBIC))


def still(picture: Pixels, count: int) -> list[Pixels]:
    return [picture] * count


def mixed(before: Pixels, after: Pixels, count: int) -> list[Pixels]:
    shares = (np.arange(count) + 0.5) / count
    return [((1 - share) * before + share * after).astype(np.uint8) for share in shares]


def film(*parts: list[Pixels], grain: float = 2.0) -> list[Picture]:
    rng = np.random.default_rng(0)
    return [
        Picture(STEP * at, np.clip(one + rng.normal(0, grain, one.shape), 0, 255).astype(np.uint8))
        for at, one in enumerate(picture for part in parts for picture in part)
    ]


def cuts(pictures: list[Picture]) -> list[int]:
    """The numbers of the pictures with which shots begin, but for the first."""
    return [shot.start_ms // STEP for shot in shots(pictures)[1:]]


@settings(max_examples=15)
@given(
    seeds=st.lists(st.integers(0, 999), min_size=1, max_size=5, unique=True),
    lengths=st.lists(st.integers(8, 30), min_size=5, max_size=5),
)
def test_every_sudden_cut_is_found(seeds: list[int], lengths: list[int]) -> None:
    pictures = film(*(still(scene(seed), length) for seed, length in zip(seeds, lengths, strict=False)))
    found = shots(pictures)
    ends = np.cumsum(lengths[: len(seeds)]).tolist()
    assert [shot.start_ms for shot in found] == [STEP * end for end in [0, *ends[:-1]]]
    assert found[-1].end_ms == STEP * ends[-1]
    assert all(one.end_ms == other.start_ms for one, other in pairwise(found))
    assert all(shot.start_ms <= shot.key_ms < shot.end_ms and shot.motion < 0.02 for shot in found)
    assert all(shot.alike is None and shot.shown == "" for shot in found)


def test_what_is_a_cut(subtests: pytest.Subtests) -> None:
    one, other, black = scene(1), scene(2), np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    tiles = one.reshape(6, 6, 8, 8, 3).swapaxes(1, 2).reshape(48, 6, 8, 3)
    order = np.random.default_rng(3).permutation(48)
    shuffled = tiles[order].reshape(6, 8, 6, 8, 3).swapaxes(1, 2).reshape(HEIGHT, WIDTH, 3)
    grey = np.repeat(one.mean(2, keepdims=True), 3, 2).astype(np.uint8)
    other_grey = np.repeat(other.mean(2, keepdims=True), 3, 2).astype(np.uint8)
    for name, parts, at, within in (
        ("the same colours", (still(one, 15), still(shuffled, 15)), 15, 0),
        ("the same layout", (still(one, 15), still(np.roll(one, 1, 2), 15)), 15, 0),
        ("without colours", (still(grey, 15), still(other_grey, 15)), 15, 0),
        ("into black", (still(one, 15), still(black, 15)), 15, 0),
        ("black to white", (still(black, 15), still(black + np.uint8(240), 15)), 15, 0),
        ("a short dissolve", (still(one, 15), mixed(one, other, 4), still(other, 15)), 17, 1),
        ("a long dissolve", (still(one, 15), mixed(one, other, 12), still(other, 15)), 21, 2),
        ("a fade", (still(one, 15), mixed(one, black, 5), mixed(black, other, 5), still(other, 15)), 20, 2),
    ):
        with subtests.test(name):
            assert cuts(film(*parts)) == [pytest.approx(at, abs=within)]


def test_cuts_that_colours_do_not_tell() -> None:
    """Six pictures of the same tiles in another order: their histograms are equal to the last pixel."""
    tiles = scene(1).reshape(6, 6, 8, 8, 3).swapaxes(1, 2).reshape(48, 6, 8, 3)
    orders = [np.random.default_rng(seed).permutation(48) for seed in range(6)]
    looks = [tiles[one].reshape(6, 8, 6, 8, 3).swapaxes(1, 2).reshape(HEIGHT, WIDTH, 3) for one in orders]
    pictures = film(*(still(one, 15) for one in looks), grain=0)
    counts = [np.histogramdd(one.pixels.reshape(-1, 3), bins=8, range=[(0, 256)] * 3)[0] for one in pictures]
    assert all(np.array_equal(one, other) for one, other in pairwise(counts))
    assert cuts(pictures) == [15, 30, 45, 60, 75]


def test_what_is_no_cut(subtests: pytest.Subtests) -> None:
    one, wide = scene(1), scene(4, 3 * WIDTH)
    white = np.full_like(one, 250)
    bright = np.clip(one * 1.3 + 15, 0, 255).astype(np.uint8)
    walk = np.cumsum(np.random.default_rng(5).integers(-2, 3, 60))
    walk -= walk.min()
    passing = []
    for at in range(30):
        picture = one.copy()
        picture[8:, max(0, 3 * at - 20) : max(0, 3 * at)] = (20, 200, 40)
        passing.append(picture)
    for name, parts in {
        "nothing happens": (still(one, 40),),
        "one picture": (still(one, 1),),
        "flashes": (still(one, 15), still(white, 1), still(one, 9), still(white, 2), still(one, 15)),
        "a lamp": (still(one, 20), still(bright, 20)),
        "a pan": ([wide[:, 2 * at : 2 * at + WIDTH] for at in range(60)],),
        "a hand that shakes": ([wide[:, at : at + WIDTH] for at in walk],),
        "somebody passes": (passing,),
        "noise": (still(one, 40),),
    }.items():
        with subtests.test(name):
            assert cuts(film(*parts, grain=12 if name == "noise" else 2)) == []


def test_shots_that_look_alike() -> None:
    wide = scene(4, 2 * WIDTH)
    there, back = wide[:, :WIDTH], wide[:, 8 : 8 + WIDTH]
    found = shots(
        film(still(there, 12), still(scene(1), 12), still(back, 12), still(scene(2), 12), still(there, 12))
    )
    assert [shot.alike for shot in found] == [None, None, 0, None, 0]


def test_colours_and_motion(subtests: pytest.Subtests) -> None:
    for name, colour in {
        "black": (8, 8, 12), "white": (245, 245, 240), "grey": (120, 122, 118), "red": (210, 30, 35),
        "orange": (240, 140, 20), "brown": (110, 66, 30), "yellow": (235, 220, 40), "green": (40, 160, 60),
        "cyan": (30, 200, 210), "blue": (30, 60, 200), "purple": (120, 40, 190), "pink": (240, 130, 190),
    }.items():  # fmt: skip
        picture = np.full((HEIGHT, WIDTH, 3), colour, np.uint8)
        picture[:4] = (40, 160, 60)  # a ninth: too little to be told
        with subtests.test(name):
            (shot,) = shots(film(still(picture, 5)))
            assert shot.colours == (name,)
    half = np.full((HEIGHT, WIDTH, 3), (30, 60, 200), np.uint8)
    half[: HEIGHT // 3] = (235, 220, 40)
    (calm,) = shots(film(still(half, 10), grain=0))
    assert (calm.colours, calm.motion) == (("blue", "yellow"), 0.0)
    wide = scene(4, 3 * WIDTH)
    slow, fast = (
        shots(film([wide[:, n * at : n * at + WIDTH] for at in range(30)], grain=0)) for n in (1, 3)
    )
    assert 0 < slow[0].motion < fast[0].motion < 1


def test_the_key_frame_is_one_of_many() -> None:
    one, white = scene(1), np.full((HEIGHT, WIDTH, 3), 250, np.uint8)
    pictures = film(still(one, 10), still(white, 2), still(one, 10))
    (shot,) = shots(pictures)
    assert shot.key_ms // STEP not in (10, 11)


def test_nothing_has_no_shots() -> None:
    assert shots([]) == ()
    with pytest.raises(ValueError, match=r"a picture of \(32, 36\): sample it at \(64, 36\)"):
        shots([Picture(0, np.zeros((HEIGHT, 32, 3), np.uint8))])


def test_a_recording_of_many_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = clips.Clip(
        seed=77,
        takes=(
            clips.Take(0, 2.0, words="BUDGET"),
            clips.Take(1, 2.4, "pan", flashes=(1.2,)),
            clips.Take(0, 2.0, "shake", entry="dissolve", joint=0.8),
            clips.Take(2, 2.0, "lamp", entry="fade", joint=0.8),
        ),
        kind="same colours",
        variable=True,
    )
    clips.write(made, tmp_path / "made.mp4")
    found = shots(samples(tmp_path / "made.mp4", RATE, SIZE))
    assert [shot.start_ms for shot in found] == pytest.approx(made.starts, abs=250)
    assert [shot.alike for shot in found] == [None, None, 0, None]
    assert found[-1].end_ms == pytest.approx(made.duration_ms, abs=150)
    monkeypatch.setattr(
        "taskloom.tools.video.shots._WINDOW", 11
    )  # in which it is searched makes no difference
    assert shots(samples(tmp_path / "made.mp4", RATE, SIZE)) == found
