"""The model that comes with the package: its vectors, from files of the package and nothing else."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskloom.memory.embed import MiniLM

TEXTS = (
    "Book a table for two in Bergen on Friday evening.",
    "Reserve a restaurant in Bergen, two people, Friday night.",
    "The rent of the flat is due on the first of the month.",
)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_vectors_have_length_one_and_meaning(minilm: MiniLM) -> None:
    vectors = minilm(TEXTS)
    assert vectors.shape == (3, minilm.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    near, far, other = vectors[0] @ vectors[1], vectors[0] @ vectors[2], vectors[1] @ vectors[2]
    assert near > 0.6
    assert max(far, other) < 0.3


def test_no_texts_give_no_vectors(minilm: MiniLM) -> None:
    assert minilm([]).shape == (0, 384)
    assert minilm([]).dtype == np.float32


def test_a_vector_does_not_depend_on_its_company(minilm: MiniLM) -> None:
    together = minilm((*TEXTS, "long " * 300))
    assert all((MiniLM()([text])[0] == row).all() for text, row in zip(TEXTS, together, strict=False))


def test_what_is_given_out_is_the_callers_own(minilm: MiniLM) -> None:
    first = minilm(TEXTS)
    first[:] = 0
    assert minilm(TEXTS).any(axis=1).all()


def test_a_text_is_read_up_to_256_tokens(minilm: MiniLM) -> None:
    start = "apple " * 254  # and two marks of the model
    cut, whole, shorter = minilm([start, start + "volcano " * 100, "apple " * 253 + "volcano"])
    assert (cut == whole).all()
    assert (cut != shorter).any()


@settings(max_examples=25)
@given(
    st.text(max_size=200) | st.sampled_from(["", "\x00", "\ud800", "\u200b", "🙂", "[SEP] [MASK]", "é", "é"])
)
def test_any_text_has_a_vector(text: str) -> None:
    vector = SHARED([text])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


SHARED = MiniLM()


def test_the_files_are_read_once_by_many_threads_and_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    model = MiniLM()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: model([TEXTS[number % 3]])[0], range(24)))
    alone = MiniLM()(TEXTS)
    assert all((vector == alone[number % 3]).all() for number, vector in enumerate(found))


def test_the_licence_lies_beside_the_model() -> None:
    folder = files("taskloom.memory") / "minilm"
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in (folder / "NOTICE").read_text(encoding="utf-8")
    assert 22e6 < len((folder / "minilm-int8.onnx").read_bytes()) < 24e6


def test_a_process_that_embeds_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime keeps what it will send, and a name for the machine, in the home folder."""
    code = "from taskloom.memory.embed import MiniLM; MiniLM()(['a text'])"
    env = {
        key: value
        for key, value in os.environ.items()
        if key not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    }
    subprocess.run([sys.executable, "-c", code], env={**env, "HOME": str(tmp_path)}, check=True)
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []
