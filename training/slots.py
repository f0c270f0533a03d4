"""Train the head that reads what a message says of the slots of task schemas, and put it into the package.

    python training/slots.py [--also FOLDER] [--out agent/reading/weights] [--epochs 5]

Dialogues with their states lie in states/ (its README.md has sources and licences), and in FOLDER: of both,
*_train.jsonl.gz is trained on, and the others say after each epoch how well what was not seen is read.
The encoder is that of the package and stays as it is, so its vectors are made once; then an epoch of twenty
thousand turns takes about two minutes on two idle cores. Train anew when the encoder has been trained anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from state_turns import Indifferent, Revised, Turn, crowded, dialogues, made
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from taskloom.agent.reading.beam import Numbers
from taskloom.agent.reading.listed import places, type_of
from taskloom.agent.reading.network import Packaged, Pieces
from taskloom.agent.reading.slots import FATES, TYPES, Known, features
from taskloom.agent.turn.schemas import SlotSchema

WEIGHTS = Path(__file__).parents[1] / "agent" / "reading" / "weights"
STATES = Path(__file__).parent / "states"
SEED, AT_ONCE, RATE, NOTHING = 5, 20, 2e-3, 0.4  # of slots of which nothing is said, this part is trained on
STEADY = 0.998  # of the average of the weights stays at each step
UNKNOWN = -1  # what became of a slot cannot be told
OWN = 4 + 4 + len(TYPES)  # signs of a slot beside its vector


@dataclass(frozen=True, slots=True)
class Row:
    """A turn as the head is given it; of each slot: what became of it, and where its value stands."""

    source: str
    given: dict[str, Numbers]
    fates: Numbers
    ends: Numbers


# ---- data -------------------------------------------------------------------------------------------


def target(
    slot: SlotSchema, right: Sequence[str], seen: Pieces
) -> tuple[str | None, tuple[int, int, int] | None]:
    """What became of a slot that has a new value, and where that stands; None where it cannot be told."""
    low = [value.lower() for value in right]
    if "dontcare" in low:
        return "any", None
    if type_of(slot) == "boolean":
        return ("yes" if low[0] in ("true", "yes") else "no"), None
    for side, (fate, text) in enumerate((("said", seen.text), ("agreed", seen.before))):
        for value in low:
            if found := re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text.lower()):
                return fate, (side, *found.span())
        for place in places(text, slot):
            if place.value.lower() in low:
                return fate, (side, place.start, place.end)
    return None, None


def rows(told: Iterable[Sequence[Turn]], encoder: Packaged) -> Iterator[Row]:
    """Turns with the vectors of the encoder."""
    for turns in told:
        last = ""
        for turn in turns:
            seen, *_ = encoder.pieces(turn.user, turn.system)
            given, keyed = features(seen, turn.schemas, Known(frozenset(turn.before), last))
            fates, ends = np.zeros(len(keyed), np.int64), np.full((len(keyed), 2), -1)
            for number, (key, slot) in enumerate(keyed):
                right = turn.after.get(key)
                if right == turn.before.get(key):
                    continue
                fate, at = target(slot, right, seen) if right else (None, None)
                fates[number] = UNKNOWN if fate is None else FATES.index(fate)
                last = last if fate is None else key.schema
                inside = [n for n, one in enumerate(seen.places) if at and _meets(one, at)]
                if inside:
                    ends[number] = inside[0], inside[-1]
            yield Row(turn.source, {name: _small(value) for name, value in given.items()}, fates, ends)


def _meets(piece: tuple[int, int, int], at: tuple[int, int, int]) -> bool:
    return piece[0] == at[0] and piece[1] < at[2] and at[1] < piece[2] and piece[1] < piece[2]


def _small(value: Numbers) -> Numbers:
    return value.astype(np.float16) if value.dtype == np.float32 else value


# ---- the head ---------------------------------------------------------------------------------------


class Head(nn.Module):
    """From the vectors of word pieces and of slots to the ends of values, and fates."""

    def __init__(self, size: int = 128, channels: int = 96) -> None:
        super().__init__()
        self.piece, self.part, self.signs = nn.Linear(384, size), nn.Embedding(2, size), nn.Linear(2, size)
        self.slot = nn.Sequential(
            nn.Linear(3 * 384 + OWN, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, size)
        )
        self.asks, self.key, self.mixed = nn.Linear(size, size), nn.Linear(384, size), nn.Linear(size, size)
        self.near = nn.Conv1d(size, channels, 5, padding=2)
        self.nearer = nn.Conv1d(channels, channels, 3, padding=1)
        self.ends, self.weight = nn.Linear(channels, 2), nn.Linear(channels, 1)
        self.whole, self.dropped = nn.Linear(384, size), nn.Dropout(0.2)
        self.fate = nn.Sequential(
            nn.Linear(2 * channels + 3 * size, 192), nn.GELU(), nn.Dropout(0.1), nn.Linear(192, len(FATES))
        )

    def forward(
        self, vectors: Tensor, parts: Tensor, slots: Tensor, signs: Tensor, of: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Vectors [n, l, 384]; parts, there [n, l]; slots [s, 1167]; signs [s, l, 2]; of [s]: its turn."""
        vectors = self.dropped(vectors)
        slot, there = self.slot(slots), there[of][..., None]
        pieces = (self.piece(vectors) + self.part(parts))[of]
        found = gelu(
            pieces + self.key(vectors)[of] * self.asks(slot)[:, None] + slot[:, None] + self.signs(signs)
        )
        found = gelu(self.mixed(found)) * there
        found = gelu(self.near(found.transpose(1, 2))).transpose(1, 2) * there
        found = gelu(self.nearer(found.transpose(1, 2))).transpose(1, 2) * there
        away = (1 - there) * -1e4
        pooled = (found * torch.softmax(self.weight(found) + away, 1)).sum(1)
        whole = self.whole(vectors[:, 0])[of]
        parts_of = [pooled, (found + away).amax(1), whole, slot, whole * slot]
        return self.ends(found) + away, self.fate(torch.cat(parts_of, -1))


class _Alone(nn.Module):
    """One turn, all of whose pieces are there."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head

    def forward(self, vectors: Tensor, parts: Tensor, slots: Tensor, signs: Tensor) -> tuple[Tensor, Tensor]:
        of = torch.zeros_like(slots[:, 0]).long()
        found: tuple[Tensor, Tensor] = self.head(
            vectors, parts, slots, signs, of, torch.ones_like(parts).float()
        )
        return found


def batch(found: Sequence[Row], chance: random.Random | None = None) -> tuple[Tensor, ...]:
    """Rows together; chance: leaves most of the slots out of which nothing is said."""
    longest, most = max(one.given["parts"].shape[1] for one in found), len(found)
    vectors, parts = np.zeros((most, longest, 384), np.float32), np.zeros((most, longest), np.int64)
    there = np.zeros((most, longest), np.float32)
    slots, signs, of, fates, ends = [], [], [], [], []
    for number, one in enumerate(found):
        size = one.given["parts"].shape[1]
        vectors[number, :size], parts[number, :size] = one.given["vectors"][0], one.given["parts"][0]
        there[number, :size] = 1
        for row, fate in enumerate(one.fates):
            if chance is None or fate or chance.random() < NOTHING:
                slots.append(one.given["slots"][row].astype(np.float32))
                signs.append(
                    np.pad(one.given["signs"][row].astype(np.float32), ((0, longest - size), (0, 0)))
                )
                of.append(number)
                fates.append(fate)
                ends.append(one.ends[row])
    arrays = (
        vectors,
        parts,
        np.array(slots),
        np.array(signs),
        np.array(of),
        there,
        np.array(fates),
        np.array(ends),
    )
    return tuple(map(torch.from_numpy, arrays))


def loss_of(head: Head, given: tuple[Tensor, ...]) -> Tensor:
    """How far the head is from what became of the slots, and from where their values stand."""
    *inputs, fates, ends = given
    places_, odds = head(*inputs)
    known, marked = fates != UNKNOWN, ends[:, 0] >= 0
    loss = cross_entropy(odds[known], fates[known], label_smoothing=0.02)
    if marked.any():
        loss = loss + 0.5 * sum(
            cross_entropy(places_[marked][..., side], ends[marked, side]) for side in (0, 1)
        )
    return loss


def score(head: Head, found: Sequence[Row]) -> Mapping[str, tuple[float, float]]:
    """By source: the part of turns of which all slots are right, and of slots with a new value that are."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    head.eval()
    for one in found:
        with torch.no_grad():
            *inputs, fates, ends = batch([one])
            places_, odds = head(*inputs)
        good = odds.argmax(1) == fates
        good &= (ends[:, 0] < 0) | (places_.argmax(1) == ends).all(1)
        known = fates != UNKNOWN
        tally = counts[one.source]
        for number, more in enumerate(
            (1, good[known].all(), (fates[known] > 0).sum(), good[known & (fates > 0)].sum())
        ):
            tally[number] += int(more)
    head.train()
    return {name: (right / turns, hit / max(new, 1)) for name, (turns, right, new, hit) in counts.items()}


def train(told: Sequence[Row], apart: Sequence[Row], epochs: int) -> Head:
    """The average of the last weights; says after each epoch how well it reads the rows kept apart."""
    torch.manual_seed(SEED)
    chance, told, begun = random.Random(SEED), list(told), time.monotonic()
    head = Head()
    steps = epochs * (len(told) // AT_ONCE + len(told) // (40 * AT_ONCE) + 2)
    learner = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=0.02)
    pace = torch.optim.lr_scheduler.OneCycleLR(learner, RATE, total_steps=steps, pct_start=0.1)
    steady = AveragedModel(head, multi_avg_fn=get_ema_multi_avg_fn(STEADY))
    for epoch in range(epochs):
        chance.shuffle(told)
        piles = [
            sorted(told[n : n + 40 * AT_ONCE], key=lambda one: one.given["parts"].size)
            for n in range(0, len(told), 40 * AT_ONCE)
        ]
        batches = [pile[n : n + AT_ONCE] for pile in piles for n in range(0, len(pile), AT_ONCE)]
        chance.shuffle(batches)
        total = 0.0
        for one in batches:
            loss = loss_of(head, batch(one, chance))
            learner.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            learner.step()
            pace.step()
            steady.update_parameters(head)
            total += loss.item()
        figures = ", ".join(
            f"{name} {turns:.3f}/{new:.3f}" for name, (turns, new) in score(steady.module, apart).items()
        )
        print(
            f"epoch {epoch + 1}: loss {total / len(batches):.3f}; {figures};"
            f" {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    averaged: Head = steady.module
    return averaged


def export(head: Head, out: Path) -> None:
    """Write slots.onnx into a folder, and its hash into reader.json."""
    head.eval()
    example = (
        torch.zeros(1, 6, 384),
        torch.zeros(1, 6, dtype=torch.long),
        torch.zeros(3, 3 * 384 + OWN),
        torch.zeros(3, 6, 2),
    )
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        torch.onnx.export(
            _Alone(head).eval(), example, str(plain), dynamo=False, opset_version=17,
            input_names=["vectors", "parts", "slots", "signs"], output_names=["ends", "fates"],
            dynamic_axes={
                "vectors": {1: "l"}, "parts": {1: "l"}, "slots": {0: "s"}, "signs": {0: "s", 1: "l"},
            },
        )  # fmt: skip
        quantize_dynamic(
            plain, out / "slots.onnx", per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
    logging.disable(logging.NOTSET)
    file = out / "reader.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    told["sha256"]["slots.onnx"] = hashlib.sha256((out / "slots.onnx").read_bytes()).hexdigest()
    file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Train and export."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--also", type=Path, help="a folder with more dialogues")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    chance, encoder, found = random.Random(SEED), Packaged(), dict[bool, list[Row]]()
    folders = [STATES, *([args.also] if args.also else [])]
    for file in sorted(one for folder in folders for one in folder.glob("*.jsonl.gz")):
        training = file.name.endswith("_train.jsonl.gz")
        told = [*dialogues(file)]
        if training:
            told = [*crowded(told, chance)]
            revised = made(told, Revised(told, chance), 0.5, chance)
            told += [*revised, *made(told, Indifferent(chance), 0.1, chance)]
        found.setdefault(training, []).extend(rows(told, encoder))
        print(f"{file.name}: {len(found[training])} turns so far", flush=True)
    export(train(found[True], found.get(False, []), args.epochs), args.out)


if __name__ == "__main__":
    main()
