"""Text on the screen, read by RapidOCR (the extra `ocr`). Its models come with it, and nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from taskloom.tools.errors import UnavailableError

from .lines import Shot
from .media import LIMITS, Limits, Pixels, pictures

Reader: TypeAlias = Callable[[Pixels], str]

_SURE = 0.7  # score from which on a line is taken for text
_MOST = 1_000  # characters of a picture
_SIDE = 320  # pixels of the shorter side that text is looked for in, at least: more takes longer


def text_reader() -> Reader | None:
    """What reads the text in a picture, a line each, from the top; None where RapidOCR is not installed.

    Raises:
        UnavailableError: it is installed, and cannot be loaded.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before onnxruntime is loaded, else it reports home
    try:
        from rapidocr import RapidOCR
    except ModuleNotFoundError as error:
        if error.name == "rapidocr":
            return None
        raise UnavailableError(f"RapidOCR cannot be loaded: {error}") from error
    except ImportError as error:  # of OpenCV, which needs libraries of a desktop
        raise UnavailableError(
            f"RapidOCR cannot be loaded ({error}): on Debian `apt-get install libgl1 libglib2.0-0`"
        ) from error
    engine: Any = RapidOCR(
        params={
            "Global.use_cls": False,  # text that stands on its head
            "Global.log_level": "critical",
            "Det.limit_side_len": _SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )

    def read(pixels: Pixels) -> str:
        found = engine(np.ascontiguousarray(pixels[..., ::-1]))  # it takes blue first
        lines = zip(found.txts or (), found.scores or (), strict=True)
        sure = (" ".join(text.split()) for text, score in lines if score >= _SURE)
        return "\n".join(text for text in sure if any(map(str.isalnum, text)))[:_MOST]

    return read


def with_text(
    path: Path, shots: Sequence[Shot], read: Reader | None, limits: Limits = LIMITS
) -> tuple[Shot, ...]:
    """The same shots, each with the text that its key frame shows; without a reader as they are.

    Near-copies are read too: a slide and the next one look much the same.

    Raises:
        ToolError, UnavailableError: as `media.pictures`.
    """
    if read is None:
        return tuple(shots)
    keys = sorted({shot.key_ms for shot in shots})
    frames = pictures(path, keys, limits=limits)
    texts = {key: read(one.pixels) for key, one in zip(keys, frames, strict=True)}
    return tuple(replace(shot, shown=texts[shot.key_ms]) for shot in shots)
