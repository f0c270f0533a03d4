"""Put a trained network into the package: ONNX with 8-bit weights, and what its scores mean.

python training/export.py build/reader.pt [MORE.pt ...] [--out agent/reading/weights]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import torch
from lines import ACTS
from network import TAGS, Network, attended
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
from torch import Tensor, nn

_PRODUCTS = ("self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear2.weight")
"""The weights of a layer that its input is multiplied with, in the order of the exported graph."""

WEIGHTS = Path(__file__).parents[1] / "agent" / "reading" / "weights"


class _Whole(nn.Module):
    """A text alone, all of whose pieces are there, of any length: attention written out, for the tracer."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, parts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoder = self.network.encoder
        places = torch.arange(ids.shape[1])[None]
        found = encoder.norm(encoder.word(ids) + encoder.place(places) + encoder.part(parts))
        for layer in encoder.layers:
            found = attended(cast("nn.TransformerEncoderLayer", layer), found)
        return found, self.network.tags(found), self.network.starts(found)


def export(network: Network, out: Path) -> None:
    """Write encoder.onnx, acts.onnx and reader.json into a folder."""
    network.eval()
    out.mkdir(parents=True, exist_ok=True)
    ids = torch.tensor([[101, 2131, 6501, 102, 2061, 102]])
    parts = torch.tensor([[0, 0, 0, 0, 1, 1]])
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        torch.onnx.export(
            _Whole(network).eval(), (ids, parts), str(plain), dynamo=False, opset_version=17,
            input_names=["ids", "parts"], output_names=["vectors", "tags", "starts"],
            dynamic_axes={"ids": {1: "l"}, "parts": {1: "l"}},
        )  # fmt: skip
        logging.disable(logging.WARNING)  # it advises a step that is of no use here
        quantize_dynamic(
            plain, out / "encoder.onnx", per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
        torch.onnx.export(
            network.acts, (torch.zeros(1, 4 * 384),), str(plain), dynamo=False, opset_version=17,
            input_names=["clauses"], output_names=["acts"], dynamic_axes={"clauses": {0: "c"}},
        )  # fmt: skip
        quantize_dynamic(
            plain, out / "acts.onnx", per_channel=True, reduce_range=True, weight_type=QuantType.QInt8
        )
        logging.disable(logging.NOTSET)
    hashes = {
        file: hashlib.sha256((out / file).read_bytes()).hexdigest() for file in ("encoder.onnx", "acts.onnx")
    }
    told = {"acts": ACTS, "tags": TAGS, "sha256": hashes}
    (out / "reader.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def taken_back(folder: Path) -> Network:
    """A network with the weights of the package, as 8 bits hold them, to train on with.

    folder: of encoder.onnx and acts.onnx, as `export` wrote them.
    """
    network, found = Network(), dict[str, Tensor]()
    shapes = network.state_dict()
    for file in ("encoder.onnx", "acts.onnx"):
        graph = onnx.load(folder / file).graph
        held = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        whole = {name: one for name, one in held.items() if one.dtype == np.float32 and "scale" not in name}
        prefix = "acts." if file == "acts.onnx" else ""
        found |= {prefix + name.removeprefix("network."): torch.tensor(one) for name, one in whole.items()}
        products = list[Tensor]()
        for name in (name.removesuffix("_quantized") for name in held if name.endswith("_quantized")):
            scale, zero = (held[f"{name}_{part}"].astype(np.float32) for part in ("scale", "zero_point"))
            weights = torch.tensor((held[f"{name}_quantized"].astype(np.float32) - zero) * scale)
            if name.startswith("onnx::"):
                products.append(weights.T)
            else:
                own = prefix + name.removeprefix("network.").removesuffix("_Transposed")
                found[own] = weights if weights.shape == shapes[own].shape else weights.T
        if file == "encoder.onnx":
            names = [
                f"encoder.layers.{number}.{part}"
                for number in range(len(network.encoder.layers))
                for part in _PRODUCTS
            ]
            found |= dict(zip([*names, "tags.weight", "starts.weight"], products, strict=True))
    network.load_state_dict(found)
    return network


def averaged(networks: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of the weights of networks that began alike (Wortsman et al. 2022, "Model soups")."""
    return {name: torch.stack([one[name] for one in networks]).mean(0) for name in networks[0]}


def main() -> None:
    """Export the weights of a file, or the average of several."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path, nargs="+", help="of several networks their average")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    network = Network()
    network.load_state_dict(averaged([torch.load(file, weights_only=True) for file in args.weights]))
    export(network, args.out)
    for file in sorted(args.out.iterdir()):
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
