"""The network that reads, at run time: word pieces in, clauses out. Trained and exported in training/.

MiniLM with a role for every word (BIO), a score for every word that a clause begins there, and an act for
each clause, of the mean, the greatest and the first of its vectors and that of the whole.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from itertools import pairwise
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from tokenizers import Tokenizer

from taskloom.agent.turn.clauses import Clause, Mention, Parse
from taskloom.memory.embed import session

from .beam import BAD, Numbers, likeliest

Encode: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], tuple[Numbers, Numbers, Numbers]]
"""From n word pieces, and which of two texts each is of, to vectors [n, d], scores of tags [n, t], and of a
clause's beginning [n, 2]."""
Acts: TypeAlias = Callable[[Numbers], Numbers]
"""From vectors of clauses [c, 4 d] to scores of acts [c, a]."""

LONGEST, BEFORE = 160, 110  # word pieces of what is said, and of what is heard beside it
MOST = 50  # parts of so many word pieces: 20,000 characters of words are 30, of signs 130
WIDER, WIDER_WORDS = 80, 40  # the same, where slots are read
LATEST = 4  # texts whose vectors stay at hand: slots and clauses are read of the same text in turn
_SENTENCE = re.compile(r"[.!?;\n]\s")


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
        self._encode = lru_cache(LATEST)(encode)
        self._acts, self._tokenizer = acts, tokenizer
        self._tags, self._names = tuple(tags), tuple(names)
        self._inner = np.array([tag[0] == "I" for tag in tags])
        self._follows = np.array(
            [
                [BAD if after[0] == "I" and before[1:] != after[1:] else 0 for after in tags]
                for before in tags
            ],
            np.float32,
        )

    def __call__(self, text: str, before: str = "", limit: int = 1) -> tuple[Parse, ...]:
        """The likeliest readings of a text, the best one first.

        before: what is heard beside it (`heard`). limit: how many; a text longer than the network takes is
        read part by part and has one only, one of more than MOST parts is not read.
        """
        parts = self._parts(text)
        if len(parts) == 1:
            return self._parses(text, before, limit)
        if len(parts) > MOST:
            return (Parse((Clause("unsure", text),), 0.0),)
        parses = [self._parses(part, before, 1)[0] for part in parts]
        clauses = tuple(clause for parse in parses for clause in parse.clauses)
        return (Parse(clauses, math.prod(parse.probability for parse in parses)),)

    def pieces(self, text: str, before: str = "") -> tuple[Pieces, ...]:
        """The word pieces of the parts of a text that the network takes, each with the last words before."""
        before = " ".join(before.split()[-WIDER_WORDS:])
        told = self._tokenizer.encode(plain(before)) if before else None
        ids, offsets = (told.ids[1:][-WIDER:], told.offsets[1:][-WIDER:]) if told is not None else ([], [])
        found = []
        for part in self._parts(text):
            said = self._tokenizer.encode(plain(part))
            vectors, _, _ = self._encode((*said.ids, *ids), (0,) * len(said.ids) + (1,) * len(ids))
            places = [(0, *one) for one in said.offsets] + [(1, *one) for one in offsets]
            found.append(Pieces(part, before, vectors, tuple(places)))
        return tuple(found)

    def beside(self, text: str, before: str) -> Pieces | None:
        """The word pieces of a text and of what is heard beside it, as `__call__` reads them together.

        None for a text that is read in parts.
        """
        said = self._tokenizer.encode(plain(text))
        if len(said.ids) > LONGEST:
            return None
        told = self._tokenizer.encode(plain(before)) if before else None
        ids, offsets = (told.ids[1:][-BEFORE:], told.offsets[1:][-BEFORE:]) if told is not None else ([], [])
        vectors, _, _ = self._encode((*said.ids, *ids), (0,) * len(said.ids) + (1,) * len(ids))
        places = [(0, *one) for one in said.offsets] + [(1, *one) for one in offsets]
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

    def _parses(self, text: str, before: str, limit: int) -> tuple[Parse, ...]:
        said = self._tokenizer.encode(plain(text))
        ids, words, offsets = said.ids[:LONGEST], said.word_ids[:LONGEST], said.offsets[:LONGEST]
        size = len(ids)
        firsts = [
            at for at in range(1, size)
            if words[at] is not None and (at == 1 or words[at] != words[at - 1])
        ]  # fmt: skip
        if not firsts:
            return (Parse((Clause("unsure", text),), 0.0),)
        told = self._tokenizer.encode(plain(before)).ids[1:][-BEFORE:] if before else []
        vectors, tags, starts = self._encode((*ids, *told), (0,) * size + (1,) * len(told))
        last = max(at for at in range(1, size) if words[at] is not None) + 1
        ends = [*firsts, last]  # in word pieces

        def act(clauses: Sequence[tuple[int, int]]) -> Numbers:
            pooled = [_pooled(vectors, ends[first], ends[after]) for first, after in clauses]
            return _log_softmax(self._acts(np.stack(pooled)))

        ways = likeliest(
            _log_softmax(tags[firsts]), _log_softmax(starts[firsts]), self._follows, self._inner, act, limit
        )
        spans = [(offsets[at][0], offsets[end - 1][1]) for at, end in pairwise(ends)]
        clause = cache(partial(self._clause, text, spans))
        return tuple(
            Parse(
                tuple(
                    clause(*place, way.tags[slice(*place)], act)
                    for place, act in zip(way.clauses, way.acts, strict=True)
                ),
                math.exp(min(way.sure, 0)), way.parts,
            )
            for way in ways
        )  # fmt: skip

    def _clause(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        first: int,
        after: int,
        tags: Sequence[int],
        act: int,
    ) -> Clause:
        """The clause of the words from first up to after; spans: from where to where each word is."""
        start = spans[first][0]
        mentions = self._mentions(text, tags, spans[first:after], start)
        return Clause(self._names[act], text[start : spans[after - 1][1]], mentions)

    def _mentions(
        self, text: str, path: Sequence[int], spans: Sequence[tuple[int, int]], start: int
    ) -> tuple[Mention, ...]:
        found: list[list[int]] = []
        roles: list[str] = []
        for tag, (begin, end) in zip(path, spans, strict=True):
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

    def __call__(self, text: str, before: str = "", limit: int = 1) -> tuple[Parse, ...]:
        """The likeliest readings of a text, so many; before: what is heard beside it."""
        return self._read(text, before, limit)

    def pieces(self, text: str, before: str = "") -> tuple[Pieces, ...]:
        """The word pieces of each part of a text, and of what was said to its author last."""
        return self.load().pieces(text, before)

    def beside(self, text: str, before: str) -> Pieces | None:
        """The word pieces of a text and of what is heard beside it; None for a text that is read in parts."""
        return self.load().beside(text, before)

    def _run(self, text: str, before: str, limit: int) -> tuple[Parse, ...]:
        return self.load()(text, before, limit)

    def load(self) -> Network:
        """The network, its files read."""
        with self._loading:
            if self._network is None:
                self._network = _load()
        return self._network


@cache
def packaged() -> Packaged:
    """The network of the package, one for all that read."""
    return Packaged()


def _load() -> Network:
    folder = files("taskloom.agent.reading") / "weights"
    told: dict[str, Any] = json.loads((folder / "reader.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_str(
        (files("taskloom.memory") / "minilm" / "tokenizer.json").read_text(encoding="utf-8")
    )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encoder, acts = (session(folder / file) for file in ("encoder.onnx", "acts.onnx"))

    def encode(ids: tuple[int, ...], parts: tuple[int, ...]) -> tuple[Numbers, Numbers, Numbers]:
        given = {"ids": np.array([ids], np.int64), "parts": np.array([parts], np.int64)}
        vectors, tags, starts = encoder.run(None, given)
        return vectors[0], tags[0], starts[0]

    def score(clauses: Numbers) -> Numbers:
        (found,) = acts.run(None, {"clauses": clauses})
        scores: Numbers = found
        return scores

    return Network(encode, score, tokenizer, tags=told["tags"], names=told["acts"])
