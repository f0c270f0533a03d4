"""The network that reads: MiniLM with a role for every word, clauses that begin, and an act for each of them.

Needs torch, tokenizers and safetensors (`pip install '.[train]'`); nothing of it is needed at run time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from lines import ACTS, ROLES, Clause, Span, Turn
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

TAGS = ("O", *(f"{begin}{role}" for role in ROLES for begin in "BI"))
LONGEST, BEFORE = 160, 60  # word pieces of what is said, and of what was said before
_NOTHING = -100  # a target that counts for nothing


class Encoder(nn.Module):
    """BERT with six layers of 384 numbers, as all-MiniLM-L6-v2 is (Reimers and Gurevych 2019)."""

    def __init__(self, size: int = 384, layers: int = 6, heads: int = 12, vocabulary: int = 30522) -> None:
        super().__init__()
        self.word, self.place = nn.Embedding(vocabulary, size), nn.Embedding(512, size)
        self.part, self.norm = nn.Embedding(2, size), nn.LayerNorm(size, eps=1e-12)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(size, heads, 4 * size, 0.1, "gelu", 1e-12, batch_first=True)
            for _ in range(layers)
        )
        self.drop = nn.Dropout(0.1)

    def forward(self, ids: Tensor, parts: Tensor, mask: Tensor) -> Tensor:
        """Word pieces [n, l], which text they are of, and which are there, as vectors [n, l, 384]."""
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        found = self.drop(self.norm(self.word(ids) + self.place(places) + self.part(parts)))
        for layer in self.layers:
            found = layer(found, src_key_padding_mask=mask == 0)
        return found

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Take weights under the names that BERT's have."""
        given = {name.removeprefix("bert."): one for name, one in weights.items()}
        mine = {
            "word.weight": given["embeddings.word_embeddings.weight"],
            "place.weight": given["embeddings.position_embeddings.weight"],
            "part.weight": given["embeddings.token_type_embeddings.weight"],
        }
        for kind in ("weight", "bias"):
            mine[f"norm.{kind}"] = given[f"embeddings.LayerNorm.{kind}"]
            for number in range(len(self.layers)):
                its, own = f"encoder.layer.{number}.", f"layers.{number}."
                mine[f"{own}self_attn.in_proj_{kind}"] = torch.cat(
                    [given[f"{its}attention.self.{one}.{kind}"] for one in ("query", "key", "value")]
                )
                names = {
                    "self_attn.out_proj": "attention.output.dense", "norm1": "attention.output.LayerNorm",
                    "linear1": "intermediate.dense", "linear2": "output.dense", "norm2": "output.LayerNorm",
                }  # fmt: skip
                for name, theirs in names.items():
                    mine[f"{own}{name}.{kind}"] = given[f"{its}{theirs}.{kind}"]
        self.load_state_dict(mine)


class Network(nn.Module):
    """The encoder with its three heads; embeddings stay as they are."""

    def __init__(self, base: Path) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.encoder.take(load_file(base / "model.safetensors"))
        for one in (self.encoder.word, self.encoder.place):
            one.weight.requires_grad = False
        size = 384
        self.drop = nn.Dropout(0.1)
        self.tags, self.starts = nn.Linear(size, len(TAGS)), nn.Linear(size, 2)
        self.acts = nn.Sequential(
            nn.Linear(4 * size, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, len(ACTS))
        )

    def forward(self, ids: Tensor, parts: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors [n, l, 384], scores of roles [n, l, tags], and of a clause's beginning [n, l, 2]."""
        found = self.drop(self.encoder(ids, parts, mask))
        return found, self.tags(found), self.starts(found)

    def act(self, found: Tensor, member: Tensor) -> Tensor:
        """Scores of acts [c, acts] for clauses, of vectors [c, l, 384] and which are of it [c, l]."""
        weight = member / member.sum(-1, keepdim=True).clamp(min=1)
        mean = (found * weight[..., None]).sum(1)
        most = found.masked_fill(member[..., None] == 0, -1e4).amax(1)
        first = found[torch.arange(len(found)), member.argmax(1)]
        scores: Tensor = self.acts(torch.cat([mean, most, first, found[:, 0]], -1))
        return scores


# ---- from turns to numbers ------------------------------------------------------------------------


class Pieces:
    """A turn in word pieces, with what the network should say of each."""

    def __init__(self, turn: Turn, tokenizer: Tokenizer) -> None:
        said = tokenizer.encode(turn.text.replace("’", "'"))
        self.ids, self.spans = list(said.ids)[:LONGEST], list(said.offsets)[:LONGEST]
        self.size = len(self.ids)
        words = said.word_ids[:LONGEST]
        inner = range(1, self.size - 1)
        self.firsts = [
            at for at in inner if words[at] is not None and (at == 1 or words[at] != words[at - 1])
        ]
        before = (
            tokenizer.encode(" ".join(turn.before.split()[-30:])).ids[1:][-BEFORE:] if turn.before else []
        )
        self.ids += before
        self.parts = [0] * self.size + [1] * len(before)
        self.tags, self.starts = [_NOTHING] * len(self.ids), [_NOTHING] * len(self.ids)
        self.owner = [-1] * len(self.ids)
        for at in self.firsts:
            self.tags[at] = self.starts[at] = 0
        for span in turn.spans:
            for number, at in enumerate(self._in(span.start, span.end)):
                self.tags[at] = TAGS.index(f"{'I' if number else 'B'}{span.role}")
        for number, clause in enumerate(turn.clauses):
            for at in inner:
                if self.spans[at][1] > clause.start and self.spans[at][0] < clause.end:
                    self.owner[at] = number
            if begins := self._in(clause.start, clause.end):
                self.starts[begins[0]] = 1
        self.acts = [ACTS.index(clause.act) for clause in turn.clauses]

    def _in(self, start: int, end: int) -> list[int]:
        return [at for at in self.firsts if self.spans[at][0] < end and self.spans[at][1] > start]


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns side by side, filled up to the longest."""

    ids: Tensor
    parts: Tensor
    mask: Tensor
    tags: Tensor
    starts: Tensor
    owner: Tensor

    @classmethod
    def of(cls, turns: Sequence[Pieces]) -> Batch:
        """Turns as one batch."""
        longest = max(len(one.ids) for one in turns)

        def filled(rows: Sequence[Sequence[int]], empty: int) -> Tensor:
            return torch.tensor([[*row, *[empty] * (longest - len(row))] for row in rows])

        return cls(
            filled([one.ids for one in turns], 0), filled([one.parts for one in turns], 0),
            filled([[1] * len(one.ids) for one in turns], 0), filled([one.tags for one in turns], _NOTHING),
            filled([one.starts for one in turns], _NOTHING), filled([one.owner for one in turns], -1),
        )  # fmt: skip


def tokenizer_of(base: Path) -> Tokenizer:
    """The tokenizer that lies beside the weights."""
    found = Tokenizer.from_file(str(base / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    return found


# ---- from numbers to turns ------------------------------------------------------------------------

_BAD = -1e4
_FOLLOWS = torch.zeros(len(TAGS), len(TAGS))
for _one, _before in enumerate(TAGS):
    for _other, _after in enumerate(TAGS):
        if _after[0] == "I" and _before[1:] != _after[1:]:
            _FOLLOWS[_one, _other] = _BAD


def _best(scores: Tensor) -> list[int]:
    """The best row of tags [w, tags] in which what goes on follows its like (Viterbi)."""
    best, back = scores[0].clone(), []
    best[[at for at, tag in enumerate(TAGS) if tag[0] == "I"]] = _BAD
    for row in scores[1:]:
        most, came = (best[:, None] + _FOLLOWS).max(0)
        back.append(came)
        best = most + row
    path = [int(best.argmax())]
    for came in reversed(back):
        path.append(int(came[path[-1]]))
    return path[::-1]


@torch.no_grad()
def read(network: Network, text: str, before: str, tokenizer: Tokenizer) -> tuple[Turn, float]:
    """What the network makes of a text, and how sure it is: the probability of all of it together."""
    pieces = Pieces(Turn(text, (), (), before), tokenizer)
    if not pieces.firsts:
        return Turn(text, (Clause(0, len(text), "unsure"),), (), before), 0.0
    batch = Batch.of([pieces])
    found, tags, starts = network(batch.ids, batch.parts, batch.mask)
    scores = torch.log_softmax(tags[0], -1)[pieces.firsts]
    path = _best(scores)
    begin = torch.softmax(starts[0], -1)[:, 1]
    inside = {at for at, tag in zip(pieces.firsts, path, strict=True) if TAGS[tag][0] == "I"}
    begins = [pieces.firsts[0], *(at for at in pieces.firsts[1:] if begin[at] > 0.5 and at not in inside)]
    ranges = list(zip(begins, [*begins[1:], pieces.size - 1], strict=True))
    member = torch.zeros(len(ranges), batch.ids.shape[1])
    for number, (first, last) in enumerate(ranges):
        member[number, first:last] = 1
    acts = torch.log_softmax(network.act(found.expand(len(ranges), -1, -1), member), -1).max(-1)
    clauses = tuple(
        Clause(pieces.spans[first][0], pieces.spans[last - 1][1], ACTS[int(act)])
        for (first, last), act in zip(ranges, acts.indices, strict=True)
    )
    sure = acts.values.sum() + sum(scores[number, tag] for number, tag in enumerate(path))
    sure += sum(torch.log(torch.maximum(begin[at], 1 - begin[at])) for at in pieces.firsts[1:])
    return Turn(text, clauses, _spans(text, pieces, path, clauses), before), math.exp(float(sure))


def _spans(text: str, pieces: Pieces, path: Sequence[int], clauses: Sequence[Clause]) -> tuple[Span, ...]:
    found: list[list[int]] = []
    roles: list[str] = []
    ends = [*(pieces.spans[at - 1][1] for at in pieces.firsts[1:]), pieces.spans[pieces.size - 2][1]]
    for at, tag, end in zip(pieces.firsts, path, ends, strict=True):
        if TAGS[tag][0] == "B":
            found.append([pieces.spans[at][0], end])
            roles.append(TAGS[tag][1:])
        elif TAGS[tag][0] == "I" and found:
            found[-1][1] = end
    return tuple(
        Span(start, start + len(text[start:end].rstrip()), role, 0,
             max(number for number, one in enumerate(clauses) if one.start <= start or number == 0))
        for (start, end), role in zip(found, roles, strict=True)
    )  # fmt: skip
