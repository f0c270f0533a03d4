"""Generated recordings with exact truth: when each shot begins, how it looks, which words it shows.

    python benchmarks/clips.py FOLDER [--clips 60] [--seed 1]

They are synthetic: painted pictures, filmed by a camera that pans, zooms and shakes, with things that move,
lamps that go on and flashes, joined by cuts, dissolves and fades through black, encoded in H.264. They are
harder than most recordings in that shots of one clip may have the same colours or the same layout, and easier
in that nothing in them is alive. Whoever measures on them says so.

Beside each clip, NAME.json holds the truth: `cuts` in milliseconds (of a gradual change its middle), and of
each shot its start, its look (shots of the same number look the same but for where the camera is) and words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = NDArray[np.uint8]

KINDS = ("own", "same colours", "same layout")  # how the looks of a clip differ
CAMERAS = ("still", "still", "pan", "fast pan", "zoom", "shake", "passer-by", "lamp", "talk")
WORDS = ("BUDGET", "LAUNCH", "REVIEW", "MARKET", "DESIGN", "TRAVEL", "REPORT", "SUMMER", "WINTER", "SAFETY")
RATES = (24, 25, 30)


@dataclass(frozen=True)
class Take:
    """A shot. look: which picture. entry: how it comes in, over `joint` seconds around its start."""

    look: int
    seconds: float
    camera: str = "still"
    words: str = ""
    entry: str = "cut"  # cut, dissolve, fade
    joint: float = 0.0
    flashes: tuple[float, ...] = ()  # seconds from its start


@dataclass(frozen=True)
class Clip:
    """A recording to be made. variable: frames are left out, so that those left have no fixed distance."""

    seed: int
    takes: tuple[Take, ...]
    kind: str = "own"
    rate: int = 25
    variable: bool = False
    width: int = 320
    height: int = 180

    @property
    def starts(self) -> tuple[int, ...]:
        """When the takes begin, in milliseconds: with a frame each."""
        ends = np.cumsum([0.0, *(round(take.seconds * self.rate) for take in self.takes)])
        return tuple(round(1000 * frame / self.rate) for frame in ends[:-1])

    @property
    def cuts(self) -> tuple[int, ...]:
        """The starts of all but the first."""
        return self.starts[1:]

    @property
    def duration_ms(self) -> int:
        """How long it is."""
        return round(1000 * sum(round(take.seconds * self.rate) for take in self.takes) / self.rate)


def clip(seed: int) -> Clip:
    """The clip of a seed: three to eight takes, of two to five seconds each."""
    rng = np.random.default_rng(seed)
    count, takes = int(rng.integers(3, 9)), list[Take]()
    for number in range(count):
        before = takes[-1].look if takes else -1
        back = [take.look for take in takes if take.look != before]
        look = (
            int(rng.choice(back)) if back and rng.random() < 0.3 else 1 + max([-1, *(t.look for t in takes)])
        )
        entry = str(rng.choice(["cut", "cut", "cut", "dissolve", "fade"])) if number else "cut"
        seconds = float(rng.uniform(2, 5))
        flashes = tuple(sorted(rng.uniform(0.7, seconds - 0.7, int(rng.choice([0, 0, 0, 1, 2])))))
        takes.append(
            Take(
                look=look,
                seconds=seconds,
                camera=str(rng.choice(CAMERAS)),
                words=str(rng.choice(WORDS)) if rng.random() < 0.3 else "",
                entry=entry,
                joint=float(rng.uniform(0.4, 1.2)) if entry != "cut" else 0.0,
                flashes=tuple(float(at) for at in flashes),
            )
        )
    return Clip(
        seed=seed,
        takes=tuple(takes),
        kind=str(rng.choice(KINDS)),
        rate=int(rng.choice(RATES)),
        variable=bool(rng.random() < 0.25),
    )


# ---- pictures -----------------------------------------------------------------------------------------


@cache
def world(seed: int, look: int, kind: str, width: int, height: int) -> Picture:
    """What there is to film of a look: a picture twice as wide and half again as high as the frame."""
    if kind == "same colours" and look:
        tiles, rng = world(seed, 0, kind, width, height), np.random.default_rng([seed, look, 1])
        down, across = 9, 16
        high, wide = tiles.shape[0] // down, tiles.shape[1] // across
        cut = tiles[: high * down, : wide * across].reshape(down, high, across, wide, 3).swapaxes(1, 2)
        mixed = rng.permutation(cut.reshape(-1, high, wide, 3)).reshape(down, across, high, wide, 3)
        return np.ascontiguousarray(mixed.swapaxes(1, 2).reshape(high * down, wide * across, 3))
    if kind == "same layout" and look:
        rng = np.random.default_rng([seed, look, 2])
        layout = world(seed, 0, kind, width, height).astype(np.float32)
        toned = layout @ (0.35 * rng.dirichlet(np.ones(3), 3).T + 0.65 * np.eye(3)[rng.permutation(3)])
        return np.clip(toned * rng.uniform(0.7, 1.1, 3), 0, 255).astype(np.uint8)
    return _painted(np.random.default_rng([seed, look, 0]), 2 * width, 3 * height // 2)


def _painted(rng: np.random.Generator, width: int, height: int) -> Picture:
    """A sky of soft spots, and things before it."""
    picture = Image.new("RGB", (width, height))
    for cells in (3, 9, 40):
        spots = rng.integers(0, 256, (cells, cells * 2, 3)).astype(np.uint8)
        soft = Image.fromarray(spots).resize((width, height), Image.Resampling.BICUBIC)
        picture = Image.blend(picture, soft, {3: 1.0, 9: 0.4, 40: 0.25}[cells])
    tint = Image.new("RGB", (width, height), tuple(int(x) for x in rng.integers(0, 256, 3)))
    picture, draw = Image.blend(picture, tint, float(rng.uniform(0.2, 0.6))), None
    draw = ImageDraw.Draw(picture)
    for _ in range(int(rng.integers(8, 30))):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        size, colour = rng.uniform(0.05, 0.3) * height, tuple(int(v) for v in rng.integers(0, 256, 3))
        box = (x - size, y - size * rng.uniform(0.3, 1), x + size, y + size * rng.uniform(0.3, 1))
        (draw.ellipse if rng.random() < 0.5 else draw.rectangle)(box, fill=colour)
    return np.asarray(picture)


class _Shoot:
    """One take, frame by frame."""

    def __init__(self, clip: Clip, number: int) -> None:
        self.clip, self.take = clip, clip.takes[number]
        self.rng = np.random.default_rng([clip.seed, number, 7])
        self.world = world(clip.seed, self.take.look, clip.kind, clip.width, clip.height)
        self.room_x, self.room_y = self.world.shape[1] - clip.width, self.world.shape[0] - clip.height
        self.home = (int(self.room_x * 0.35), int(self.room_y * 0.5))
        self.speed = float(
            self.rng.uniform(0.04, 0.15) if self.take.camera == "pan" else self.rng.uniform(0.2, 0.45)
        )
        self.sign = int(self.rng.choice([-1, 1]))
        self.lit = self.take.seconds * float(self.rng.uniform(0.3, 0.7))
        self.drift = np.cumsum(self.rng.normal(0, 1.2, (10_000, 2)), axis=0)
        self.shade = tuple(int(v) for v in self.rng.integers(0, 256, 3))

    def at(self, seconds: float) -> Picture:
        """The frame at a time from its start, which may be before or after it while it is faded."""
        clip, camera = self.clip, self.take.camera
        x, y, scale = self.home[0], self.home[1], 1.0
        if camera in ("pan", "fast pan"):  # to and fro
            way = abs(seconds) * self.speed * clip.width / max(1, self.room_x)
            x = int(self.room_x * abs((0.35 + self.sign * way + 1) % 2 - 1))
        elif camera == "zoom":
            scale = 1 - 0.35 * float(np.clip(seconds / self.take.seconds, 0, 1))
        elif camera == "shake":
            step = self.drift[int(abs(seconds) * 25) % 10_000]
            x, y = (
                int(np.clip(v + d, 0, r))
                for v, d, r in zip((x, y), step, (self.room_x, self.room_y), strict=True)
            )
        rows = y + (np.arange(clip.height) * scale + (1 - scale) / 2 * clip.height).astype(int)
        columns = x + (np.arange(clip.width) * scale + (1 - scale) / 2 * clip.width).astype(int)
        frame: Picture = self.world[rows[:, None], columns[None, :]].copy()
        if camera == "passer-by":  # as high as the picture, across it in two seconds
            left = int(((seconds / 2) % 1.5 - 0.4) * clip.width)
            frame[clip.height // 8 :, max(0, left) : max(0, left + clip.width // 3)] = self.shade
        if camera == "talk":  # a head that nods, and its mouth
            self._head(frame, seconds)
        if camera == "lamp" and seconds > self.lit:
            frame = np.clip(frame * 1.35 + 20, 0, 255).astype(np.uint8)
        if self.take.words:
            label = _label(self.take.words, clip.height // 6)
            frame[-label.shape[0] - 6 : -6, 8 : 8 + label.shape[1]] = label
        return frame

    def _head(self, frame: Picture, seconds: float) -> None:
        high, wide = frame.shape[:2]
        y, x = np.ogrid[:high, :wide]
        up, aside = 0.5 + 0.02 * np.sin(5 * seconds), 0.5 + 0.03 * np.sin(1.7 * seconds)
        head = ((y - up * high) / (0.35 * high)) ** 2 + ((x - aside * wide) / (0.16 * wide)) ** 2 < 1
        mouth = ((y - (up + 0.18) * high) / (0.02 + 0.03 * high * abs(np.sin(9 * seconds)) + 1)) ** 2
        frame[head] = self.shade
        frame[mouth + ((x - aside * wide) / (0.05 * wide)) ** 2 < 1] = (60, 20, 20)


@cache
def _label(words: str, size: int) -> Picture:
    font = ImageFont.load_default(size)
    box = font.getbbox(words)
    label = Image.new("RGB", (int(box[2]) + 12, int(box[3]) + 12), (16, 16, 16))
    ImageDraw.Draw(label).text((6, 4), words, fill=(240, 240, 240), font=font)
    return np.asarray(label)


def frames(clip: Clip) -> Iterator[tuple[int, Picture]]:
    """The frames of a clip: their number at its rate, and RGB pixels."""
    rng, shoots = np.random.default_rng([clip.seed, 99]), [_Shoot(clip, n) for n in range(len(clip.takes))]
    grain = rng.normal(0, 2.5, (8, clip.height, clip.width, 1)).astype(np.int16)
    firsts = [round(start * clip.rate / 1000) for start in (*clip.starts, clip.duration_ms)]
    for number, (first, end) in enumerate(pairwise(firsts)):
        for frame in range(first, end):
            if clip.variable and frame != first and rng.random() < 0.35:
                continue
            picture = _joined(clip, shoots, firsts, number, frame).astype(np.int16)
            seconds = (frame - first) / clip.rate
            if any(0 <= seconds - flash < 2.5 / clip.rate for flash in clip.takes[number].flashes):
                picture = picture * 3 // 10 + 178
            yield frame, np.clip(picture + grain[rng.integers(8)], 0, 255).astype(np.uint8)


def _joined(clip: Clip, shoots: list[_Shoot], firsts: list[int], number: int, frame: int) -> Picture:
    """A frame, mixed with the take before or after it where they are joined gradually."""
    mine = shoots[number].at((frame - firsts[number]) / clip.rate)
    for other, joint in ((number - 1, number), (number + 1, number + 1)):
        if not 0 <= other < len(clip.takes) or not (half := clip.takes[joint].joint * clip.rate / 2):
            continue
        if (away := abs(frame + 0.5 - firsts[joint]) / half) >= 1:
            continue
        if clip.takes[joint].entry == "fade":
            return np.asarray(mine * away, np.uint8)
        theirs = shoots[other].at((frame - firsts[other]) / clip.rate)
        return np.asarray(mine * (0.5 + away / 2) + theirs * (0.5 - away / 2), np.uint8)
    return mine


# ---- files --------------------------------------------------------------------------------------------


def write(
    clip: Clip, path: Path, *, codec: str = "libx264", tone: bool = False, bitrate: int = 600_000
) -> None:
    """Encode a clip into a file, whose ending names its kind.

    Args:
        clip: what is in it.
        path: .mp4, .mkv, .avi, .webm ...
        codec: an encoder of FFmpeg.
        tone: with sound, another tone for each take.
        bitrate: bits of a second of its pictures.
    """
    with av.open(str(path), "w") as file:
        stream: Any = file.add_stream(codec, rate=clip.rate)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = (
            clip.width,
            clip.height,
            "yuv420p",
            bitrate,
        )
        stream.time_base = stream.codec_context.time_base = Fraction(1, clip.rate)
        if codec == "libx264":
            stream.options = {"preset": "ultrafast", "g": "50"}
        sound: Any = file.add_stream("aac", rate=16_000, layout="mono") if tone else None
        for number, pixels in frames(clip):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, clip.rate)
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
        if sound is not None:
            file.mux([packet for frame in _tones(clip) for packet in sound.encode(frame)])
            file.mux(sound.encode())


def _tones(clip: Clip) -> Iterator[av.AudioFrame]:
    """A tone for each take, 300 Hz for the first and 100 Hz more for each after it."""
    pieces = [
        np.sin(
            2
            * np.pi
            * (300 + 100 * n)
            * np.arange(round(take.seconds * clip.rate) * 16_000 // clip.rate)
            / 16_000
        )
        for n, take in enumerate(clip.takes)
    ]
    wave = (np.concatenate(pieces) * 12_000).astype(np.int16)
    for start in range(0, len(wave), 1024):
        frame = av.AudioFrame.from_ndarray(wave[None, start : start + 1024], format="s16", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = start, 16_000, Fraction(1, 16_000)
        yield frame


def truth(clip: Clip) -> dict[str, Any]:
    """What is known of a clip, as JSON."""
    shots = [
        {
            "start_ms": start,
            "look": take.look,
            "words": take.words,
            "camera": take.camera,
            "entry": take.entry,
        }
        for start, take in zip(clip.starts, clip.takes, strict=True)
    ]
    return {"cuts": list(clip.cuts), "duration_ms": clip.duration_ms, "shots": shots, "clip": asdict(clip)}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for number in range(given.clips):
        made = clip(1000 * given.seed + number)
        write(made, given.folder / f"{made.seed}.mp4", tone=True)
        (given.folder / f"{made.seed}.json").write_text(json.dumps(truth(made)))
        world.cache_clear()


if __name__ == "__main__":
    main()
