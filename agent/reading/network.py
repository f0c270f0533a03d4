"""The network that reads, at run time: word pieces in, clauses out. Trained and exported in training/.

MiniLM with a role for every word (BIO), a score for every word that a clause begins there, and an act for
each clause, of the mean, the greatest and the first of its vectors and that of the whole.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from .clauses import Clause, Mention, Parse

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is imported; official builds report home
import onnxruntime  # type: ignore[import-untyped]

Numbers: TypeAlias = NDArray[np.float32]
Encode: TypeAlias = Callable[[Sequence[int], Sequence[int]], tuple[Numbers, Numbers, Numbers]]
"""From n word pieces, and which of two texts each is of, to vectors [n, d], scores of tags [n, t], and of a
clause's beginning [n, 2]."""
Acts: TypeAlias = Callable[[Numbers], Numbers]
"""From vectors of clauses [c, 4 d] to scores of acts [c, a]."""

LONGEST, BEFORE = 160, 60  # word pieces of what is said, and of what was said before
LAST_WORDS = 30  # of what was said before
WIDER, WIDER_WORDS = 80, 40  # the same, where slots are read
_SENTENCE = re.compile(r"[.!?;\n]\s")
_BAD = -1e4


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word pieces of a text and of what was said before it.

    vectors: [l, 384]. places: of each piece, 0 for the text and 1 for what was before, with its start and end
    there (both 0 for marks of the encoder). before: as much of it as was read.
    """

    text: str
    before: str
    vectors: Numbers
    places: tuple[tuple[int, int, int], ...]


class Network:
    """Reads one text at a time; what it was trained to say comes with its weights."""

    def __init__(
        self, encode: Encode, acts: Acts, tokenizer: Tokenizer, *, tags: Sequence[str], names: Sequence[str]
    ) -> None:
        """tags: 'O', 'BT', 'IT', ... in the order of their scores; names: of the acts, likewise."""
        self._encode, self._acts, self._tokenizer = encode, acts, tokenizer
        self._tags, self._names = tuple(tags), tuple(names)
        self._inner = np.array([tag[0] == "I" for tag in tags])
        self._follows = np.array(
            [
                [_BAD if after[0] == "I" and before[1:] != after[1:] else 0 for after in tags]
                for before in tags
            ],
            np.float32,
        )

    def __call__(self, text: str, before: str = "") -> Parse:
        """Read a text, a long one part by part; before: what was said to its author last."""
        parses = [self._parse(part, before) for part in self._parts(text)]
        clauses = tuple(clause for parse in parses for clause in parse.clauses)
        return Parse(clauses, math.prod(parse.probability for parse in parses), parses[0].vector)

    def pieces(self, text: str, before: str = "") -> Pieces:
        """The word pieces of the beginning of a text, and of the last words before it."""
        before = " ".join(before.split()[-WIDER_WORDS:])
        said, told = self._tokenizer.encode(plain(text)), self._tokenizer.encode(plain(before))
        size, more = min(len(said.ids), LONGEST), slice(1, 1 + WIDER) if before else slice(0, 0)
        vectors, _, _ = self._encode(
            [*said.ids[:size], *told.ids[more]], [0] * size + [1] * len(told.ids[more])
        )
        places = [(0, *one) for one in said.offsets[:size]] + [(1, *one) for one in told.offsets[more]]
        return Pieces(text, before, vectors, tuple(places))

    def _parts(self, text: str) -> list[str]:
        """A text in parts that the network takes, cut at the ends of sentences where there are any."""
        offsets = self._tokenizer.encode(plain(text)).offsets[1:-1]
        parts, begin, first = list[str](), 0, 0
        while len(offsets) - first > LONGEST - 2:
            inside = range(first + 1, first + LONGEST - 1)
            ends = [at for at in inside if _SENTENCE.search(text[offsets[at - 1][0] : offsets[at][0]])]
            first = ends[-1] if ends else inside[-1]
            parts.append(text[begin : offsets[first][0]])
            begin = offsets[first][0]
        return [*parts, text[begin:]]

    def _parse(self, text: str, before: str) -> Parse:
        said = self._tokenizer.encode(plain(text))
        ids, words, offsets = said.ids[:LONGEST], said.word_ids[:LONGEST], said.offsets[:LONGEST]
        size = len(ids)
        firsts = [
            at for at in range(1, size)
            if words[at] is not None and (at == 1 or words[at] != words[at - 1])
        ]  # fmt: skip
        if not firsts:
            return Parse((Clause("unsure", text),), 0.0)
        told = self._tokenizer.encode(plain(" ".join(before.split()[-LAST_WORDS:]))).ids[1:] if before else []
        told = told[-BEFORE:]
        vectors, tags, starts = self._encode([*ids, *told], [0] * size + [1] * len(told))
        scores = _log_softmax(tags[firsts])
        path = self._best(scores)
        begin = _log_softmax(starts[firsts])
        goes_on = self._inner[path]
        begins = [0, *(n for n in range(1, len(firsts)) if begin[n, 1] > begin[n, 0] and not goes_on[n])]
        ranges = list(zip(begins, [*begins[1:], len(firsts)], strict=True))
        last = max(at for at in range(1, size) if words[at] is not None) + 1
        ends = [*firsts, last]  # in word pieces
        acts = _log_softmax(self._acts(np.stack([_pooled(vectors, ends[a], ends[b]) for a, b in ranges])))
        sure = acts.max(1).sum() + scores[range(len(path)), path].sum() + begin[1:].max(1).sum()
        stops = [offsets[at - 1][1] for at in ends[1:]]
        clauses = []
        for (first, after), act in zip(ranges, acts.argmax(1), strict=True):
            start, end = offsets[firsts[first]][0], stops[after - 1]
            mentions = self._mentions(text, path[first:after], [offsets[at][0] for at in firsts[first:after]],
                                      stops[first:after], start)  # fmt: skip
            clauses.append(Clause(self._names[act], text[start:end], mentions))
        return Parse(tuple(clauses), math.exp(float(sure)), tuple(vectors[0].tolist()))

    def _best(self, scores: Numbers) -> list[int]:
        """The best row of tags [w, t] in which what goes on follows its like (Viterbi)."""
        best, back = np.where(self._inner, _BAD, scores[0]), []
        for row in scores[1:]:
            ways = best[:, None] + self._follows
            back.append(ways.argmax(0))
            best = ways.max(0) + row
        path = [int(best.argmax())]
        for came in reversed(back):
            path.append(int(came[path[-1]]))
        return path[::-1]

    def _mentions(
        self, text: str, path: Sequence[int], begins: Sequence[int], ends: Sequence[int], start: int
    ) -> tuple[Mention, ...]:
        found: list[list[int]] = []
        roles: list[str] = []
        for tag, begin, end in zip(path, begins, ends, strict=True):
            name = self._tags[tag]
            if name[0] == "B" or (name[0] == "I" and not found):
                found.append([begin, end])
                roles.append(name[1:])
            elif name[0] == "I":
                found[-1][1] = end
        return tuple(
            Mention(role, text[begin:end].rstrip(), 0, begin - start)
            for (begin, end), role in zip(found, roles, strict=True)
        )


def plain(text: str) -> str:
    """The text as it is tokenised: typed apostrophes, no lone surrogates, as long as it was."""
    return text.replace("’", "'").encode("utf-8", "replace").decode()


def _log_softmax(scores: Numbers) -> Numbers:
    away = scores - scores.max(-1, keepdims=True)
    found: Numbers = away - np.log(np.exp(away).sum(-1, keepdims=True))
    return found


def _pooled(vectors: Numbers, first: int, after: int) -> Numbers:
    own = vectors[first:after]
    return np.concatenate([own.mean(0), own.max(0), own[0], vectors[0]])


# ---- the weights that come with the package ---------------------------------------------------------


class Packaged:
    """The network of the package; its files are read when the first text comes. Safe in threads."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._network: Network | None = None
        self._read = lru_cache(256)(self._run)

    def __call__(self, text: str, before: str = "") -> Parse:
        """Read a text; before: what was said to its author last."""
        return self._read(text, before)

    def pieces(self, text: str, before: str = "") -> Pieces:
        """The word pieces of a text, and of what was said to its author last."""
        return self._loaded().pieces(text, before)

    def _run(self, text: str, before: str) -> Parse:
        return self._loaded()(text, before)

    def _loaded(self) -> Network:
        with self._loading:
            if self._network is None:
                self._network = _load()
        return self._network


def _load() -> Network:
    folder = files("taskloom.agent.reading") / "weights"
    told: dict[str, Any] = json.loads((folder / "reader.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_str(
        (files("taskloom.memory") / "minilm" / "tokenizer.json").read_text(encoding="utf-8")
    )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # else it keeps what the longest text took
    with as_file(folder / "encoder.onnx") as one, as_file(folder / "acts.onnx") as other:
        encoder, acts = (
            onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            for path in (one, other)
        )

    def encode(ids: Sequence[int], parts: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
        given = {"ids": np.array([ids], np.int64), "parts": np.array([parts], np.int64)}
        vectors, tags, starts = encoder.run(None, given)
        return vectors[0], tags[0], starts[0]

    def score(clauses: Numbers) -> Numbers:
        (found,) = acts.run(None, {"clauses": clauses})
        scores: Numbers = found
        return scores

    return Network(encode, score, tokenizer, tags=told["tags"], names=told["acts"])
