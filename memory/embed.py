"""Texts as vectors: the Embedder protocol, and MiniLM, the model that comes with the package.

An embedder for an endpoint is made outside and handed to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Protocol

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Tokenizer

Vectors = NDArray[np.float32]

_TOKENS = 256  # what the model was trained to read; the rest of a text is cut off
_REMEMBERED = 1024  # texts whose vectors are kept, 1.5 KB each


class Embedder(Protocol):
    """Gives texts their vectors. An index made with one embedder is refused to one of another name."""

    @property
    def name(self) -> str:
        """Names the model; another name means other vectors."""
        ...

    @property
    def dimension(self) -> int:
        """The numbers in a vector, d."""
        ...

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors of n texts: [n, d] float32, rows of length 1. Called from several threads."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers and Gurevych 2019) with 8-bit weights: 384 numbers, up to 256 tokens a text.

    The files are read when the first text comes; nothing is ever downloaded. Texts are run one by one: the
    quantisation scales its activations over all of a batch, so that a text's vector would depend on the texts
    it came with, and a batch takes no less time on one thread.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, threads: int = 1) -> None:
        """threads: how many cores may work on one text."""
        self._threads = threads
        self._loading = Lock()
        self._model: Callable[[str], Vectors] | None = None
        self._vector = lru_cache(_REMEMBERED)(self._run)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors of n texts: [n, 384], rows of length 1."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _run(self, text: str) -> Vectors:
        with self._loading:
            if self._model is None:
                self._model = _load(self._threads)
        return self._model(text)


@cache
def packaged() -> MiniLM:
    """The model of the package, one for all that compare meanings."""
    return MiniLM()


def session(file: Traversable, threads: int = 1) -> onnxruntime.InferenceSession:
    """An ONNX model of the package, ready to run; threads: how many cores may work on one call."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else it keeps what the longest text took
    with as_file(file) as path:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _load(threads: int) -> Callable[[str], Vectors]:
    """The model as a function from a text to its vector [384]."""
    folder = files("taskloom.memory") / "minilm"
    tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.enable_truncation(_TOKENS)
    tokenizer.no_padding()
    model = session(folder / "minilm-int8.onnx", threads)

    def run(text: str) -> Vectors:
        # A lone surrogate has no bytes that the tokenizer could read.
        ids = tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        tokens = np.array([ids], np.int64)
        (vectors,) = model.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
        vector: Vectors = vectors[0]
        return vector

    return run
