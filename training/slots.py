"""Train the head that reads what a message says of the slots of task schemas, and put it into the package.

    python training/slots.py [--also FOLDER] [--out agent/reading/weights] [--epochs 6]

Dialogues with their states lie in states/ (its README.md has sources and licences), and in FOLDER: of both,
*_train.jsonl.gz is trained on, and the others say after each epoch how well what was not seen is read.
The encoder is that of the package and stays as it is, so its vectors are made once; then an epoch of twenty
thousand turns takes about two minutes on two idle cores. Train anew when the encoder has been trained anew.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import logging
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from taskloom.agent.reading.beam import Numbers
from taskloom.agent.reading.listed import places, type_of
from taskloom.agent.reading.network import Packaged, Pieces
from taskloom.agent.reading.slots import FATES, TYPES, Key, Known, features
from taskloom.agent.slots import SlotSchema, TaskSchema, load_schemas
from taskloom.agent.wording import spoken

WEIGHTS = Path(__file__).parents[1] / "agent" / "reading" / "weights"
STATES = Path(__file__).parent / "states"
SEED, AT_ONCE, RATE, NOTHING = 5, 20, 2e-3, 0.4  # of slots of which nothing is said, this part is trained on
UNTOLD = 0.2  # of the dialogues are read without what is told of slots
REVISED = 1500  # of so many turns of each file another one is made, where it can be
OWN = 4 + 4 + len(TYPES)  # signs of a slot beside its vector
State = dict[Key, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A user turn: what was said before it, and the state before and after it."""

    source: str
    system: str
    user: str
    schemas: tuple[TaskSchema, ...]
    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Row:
    """A turn as the head is given it; of each slot: what became of it, and where its value stands."""

    source: str
    given: dict[str, Numbers]
    fates: Numbers
    ends: Numbers


# ---- data -------------------------------------------------------------------------------------------


def dialogues(file: Path) -> Iterator[list[Turn]]:
    """The turns of each dialogue of a file.

    First a line for each schema, {"schema": JSON Schema}, then a line for each dialogue: {"kinds": [titles],
    "turns": [{"system", "user", "state": {title: {slot: value or list of right values}}}]}.
    """
    schemas: dict[str, TaskSchema] = {}
    for line in gzip.decompress(file.read_bytes()).decode().splitlines():
        one: dict[str, Any] = json.loads(line)
        if "schema" in one:
            schemas |= {schema.name: schema for schema in load_schemas(one["schema"])}
            continue
        kinds, before, turns = tuple(schemas[kind] for kind in one["kinds"]), State(), []
        for turn in one["turns"]:
            after = {
                Key(kind, slot): tuple(map(str, value if isinstance(value, list) else [value]))
                for kind, slots in turn["state"].items() for slot, value in slots.items()
            }  # fmt: skip
            turns.append(
                Turn(
                    file.name.partition(".")[0],
                    _typed(turn["system"]),
                    _typed(turn["user"]),
                    kinds,
                    before,
                    after,
                )
            )
            before = after
        yield turns


def crowded(told: Iterable[list[Turn]], chance: random.Random) -> Iterator[list[Turn]]:
    """Dialogues, half of them with kinds of tasks that they are not about, some without descriptions."""
    turns_of = list(told)
    kinds = list({kind.name: kind for turns in turns_of for kind in turns[0].schemas}.values())
    for turns in turns_of:
        own = turns[0].schemas
        others = [kind for kind in kinds if kind not in own]
        more = chance.sample(others, min(len(others), chance.choice((0, 0, 1, 2, 4))))
        found = [*own, *more]
        chance.shuffle(found)
        if chance.random() < UNTOLD:
            found = [
                kind.model_copy(
                    update={
                        "slots": tuple(slot.model_copy(update={"description": ""}) for slot in kind.slots)
                    }
                )
                for kind in found
            ]
        yield [replace(turn, schemas=tuple(found)) for turn in turns]


TAKEN_BACK = (
    "{old}, no wait, {new}", "{old} - no, {new}", "{old}, actually {new}", "{old}, sorry, i mean {new}",
    "{old}... scratch that, {new}", "{old} or rather {new}", "{old}, make that {new}", "not {old} but {new}",
    "{new} instead of {old}", "{new}, not {old}",
)  # fmt: skip
CHANGED = (
    "actually change the {slot} to {new}", "can we make the {slot} {new} instead?", "the {slot}'s {new}",
    "oh, {new} for the {slot}", "hmm, i'd rather have {new}", "let's go with {new} as the {slot} after all",
    "wait, {slot}: {new} please", "i changed my mind, {new}", "on second thought {new} would be better",
    "not {old}, {new}", "no, i said {new}, not {old}", "{new} rather than {old} please",
)  # fmt: skip


class Revised:
    """Turns in which a value is taken back, or changed later, made of others that have just one new value."""

    def __init__(self, told: Sequence[Sequence[Turn]], chance: random.Random) -> None:
        self.chance, self.pools = chance, dict[Key, list[str]]()
        for turn in (turn for turns in told for turn in turns):
            for key, right in turn.after.items():
                if key not in turn.before and right[0].lower() in turn.user.lower():
                    self.pools.setdefault(key, []).append(right[0])

    def __call__(self, turn: Turn) -> Turn | None:
        """Such a turn, or None where it cannot be made."""
        new = [key for key, right in turn.after.items() if turn.before.get(key) != right]
        pool = self.pools.get(new[0], []) if len(new) == 1 else []
        value = turn.after[new[0]][0] if new else ""
        others = [one for one in pool if one.lower() != value.lower()]
        if not others or turn.user.lower().count(value.lower()) != 1:
            return None
        other = self.chance.choice(others)
        if self.chance.random() < 0.5:
            said = self.chance.choice(TAKEN_BACK).format(old=other, new=value)
            return replace(
                turn, user=re.sub(re.escape(value), lambda _: said, turn.user, flags=re.IGNORECASE)
            )
        said = self.chance.choice(CHANGED).format(old=value, new=other, slot=spoken(new[0].slot))
        return replace(turn, user=said, before=turn.after, after={**turn.after, new[0]: (other,)})


def _typed(text: str) -> str:
    return re.sub(r" ' ", "'", text) or "."


def target(slot: SlotSchema, right: Sequence[str], seen: Pieces) -> tuple[str, tuple[int, int, int] | None]:
    """What became of a slot that has a new value, and where that stands."""
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
    return "other", None


def rows(told: Iterable[Sequence[Turn]], encoder: Packaged) -> Iterator[Row]:
    """Turns with the vectors of the encoder."""
    for turns in told:
        last = ""
        for turn in turns:
            seen = encoder.pieces(turn.user, turn.system)
            given, keyed = features(seen, turn.schemas, Known(frozenset(turn.before), last))
            fates, ends = np.zeros(len(keyed), np.int64), np.full((len(keyed), 2), -1)
            for number, (key, slot) in enumerate(keyed):
                right = turn.after.get(key)
                if right == turn.before.get(key):
                    continue
                fate, at = target(slot, right, seen) if right else ("other", None)
                fates[number] = FATES.index(fate)
                last = key.schema if fate != "other" else last
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
    known, marked = fates != FATES.index("other"), ends[:, 0] >= 0
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
        known = fates != FATES.index("other")
        tally = counts[one.source]
        for number, more in enumerate(
            (1, good[known].all(), (fates[known] > 0).sum(), good[known & (fates > 0)].sum())
        ):
            tally[number] += int(more)
    head.train()
    return {name: (right / turns, hit / max(new, 1)) for name, (turns, right, new, hit) in counts.items()}


def train(told: Sequence[Row], apart: Sequence[Row], epochs: int) -> Head:
    """Train, and say after each epoch how well it reads the rows kept apart."""
    torch.manual_seed(SEED)
    chance, told, begun = random.Random(SEED), list(told), time.monotonic()
    head = Head()
    steps = epochs * (len(told) // AT_ONCE + len(told) // (40 * AT_ONCE) + 2)
    learner = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=0.02)
    pace = torch.optim.lr_scheduler.OneCycleLR(learner, RATE, total_steps=steps, pct_start=0.1)
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
            total += loss.item()
        figures = ", ".join(
            f"{name} {turns:.3f}/{new:.3f}" for name, (turns, new) in score(head, apart).items()
        )
        print(
            f"epoch {epoch + 1}: loss {total / len(batches):.3f}; {figures};"
            f" {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    return head


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
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    chance, encoder, found = random.Random(SEED), Packaged(), dict[bool, list[Row]]()
    folders = [STATES, *([args.also] if args.also else [])]
    for file in sorted(one for folder in folders for one in folder.glob("*.jsonl.gz")):
        training = file.name.endswith("_train.jsonl.gz")
        told = [*dialogues(file)]
        if training:
            told = [*crowded(told, chance)]
            made = map(
                Revised(told, chance), chance.sample([turn for turns in told for turn in turns], REVISED)
            )
            told += [[turn] for turn in made if turn is not None]
        found.setdefault(training, []).extend(rows(told, encoder))
        print(f"{file.name}: {len(found[training])} turns so far", flush=True)
    export(train(found[True], found.get(False, []), args.epochs), args.out)


if __name__ == "__main__":
    main()
