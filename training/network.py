"""The network that reads: MiniLM with a role for every word, clauses that begin, and an act for each of them.

Needs torch, tokenizers and safetensors (`pip install '.[train]'`); nothing of it is needed at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from lines import ACTS, ROLES, Turn
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from taskloom.agent.reading.heard import joined
from taskloom.agent.reading.network import BEFORE, LONGEST, Numbers, plain
from taskloom.agent.reading.network import Network as Reader

TAGS = ("O", *(f"{begin}{role}" for role in ROLES for begin in "BI"))
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
        self.drop = nn.Dropout(0.1)  # those in the layers cost a third of the time and gain nothing here

    def forward(self, ids: Tensor, parts: Tensor, mask: Tensor | None) -> Tensor:
        """Word pieces [n, l], which text they are of, which are there (None: all), as vectors [n, l, 384]."""
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        found = self.drop(self.norm(self.word(ids) + self.place(places) + self.part(parts)))
        absent = None if mask is None else ((mask == 0) * -1e4)[:, None, None, :]
        for layer in self.layers:
            found = attended(cast("nn.TransformerEncoderLayer", layer), found, absent)
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


def attended(layer: nn.TransformerEncoderLayer, given: Tensor, absent: Tensor | None = None) -> Tensor:
    """Vectors [n, l, d] after a layer, its attention written out: in 16 bits four times as fast as torch's.

    absent: what is added to the attention to each piece [n, 1, 1, l], far below 0 for one that is not there.
    """
    attention, (size, length, width) = layer.self_attn, given.shape
    heads = attention.num_heads
    projected = functional.linear(given, attention.in_proj_weight, attention.in_proj_bias)
    query, key, value = projected.view(size, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
    weights = (query / (width // heads) ** 0.5) @ key.transpose(2, 3)
    shares = torch.softmax(
        weights if absent is None else weights + absent.to(weights.dtype), -1, weights.dtype
    )
    mixed = (shares @ value).transpose(1, 2).reshape(size, length, width)
    found = layer.norm1(given + attention.out_proj(mixed)).to(projected.dtype)
    inner = layer.linear2(functional.gelu(layer.linear1(found)))
    told: Tensor = layer.norm2(found + inner).to(projected.dtype)
    return told


class Network(nn.Module):
    """The encoder with its three heads; embeddings stay as they are."""

    def __init__(self, base: Path | None = None) -> None:
        """base: the folder of the weights to begin with; None where all will be given."""
        super().__init__()
        self.encoder = Encoder()
        if base is not None:
            self.encoder.take(load_file(base / "model.safetensors"))
        for one in (self.encoder.word, self.encoder.place):
            one.weight.requires_grad = False
        size = 384
        self.drop = nn.Dropout(0.1)
        self.tags, self.starts = nn.Linear(size, len(TAGS)), nn.Linear(size, 2)
        self.acts = nn.Sequential(
            nn.Linear(4 * size, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, len(ACTS))
        )

    def forward(self, ids: Tensor, parts: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
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
        said = tokenizer.encode(plain(turn.text))
        self.ids, self.spans = list(said.ids)[:LONGEST], list(said.offsets)[:LONGEST]
        self.size = len(self.ids)
        words = said.word_ids[:LONGEST]
        inner = range(1, self.size - 1)
        self.firsts = [
            at for at in inner if words[at] is not None and (at == 1 or words[at] != words[at - 1])
        ]
        heard = joined(turn.plan, turn.before)
        before = tokenizer.encode(plain(heard)).ids[1:][-BEFORE:] if heard else []
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


def reader(network: Network, tokenizer: Tokenizer) -> Reader:
    """The network as the package runs it, with its weights as they are here."""

    @torch.no_grad()
    def encode(ids: Sequence[int], parts: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
        vectors, tags, starts = network(torch.tensor([ids]), torch.tensor([parts]), None)
        return vectors[0].numpy(), tags[0].numpy(), starts[0].numpy()

    @torch.no_grad()
    def acts(clauses: Numbers) -> Numbers:
        found: Numbers = network.acts(torch.from_numpy(clauses)).numpy()
        return found

    return Reader(encode, acts, tokenizer, tags=TAGS, names=ACTS)
