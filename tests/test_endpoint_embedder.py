"""Embeddings of an endpoint, against a local server of OpenAI's protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from taskloom.agent.graph.wiring import longterm_of
from taskloom.agent.models.openai import EndpointEmbedder
from taskloom.agent.settings import Settings
from taskloom.memory.store import EmbeddingMismatch, StoreError
from tests.chroma_server import fact
from tests.openai_server import Fault, OpenAIServer, Raw, Reply


def vectors(body: dict[str, Any]) -> Reply:
    """Three numbers for each text: its length, its words, one."""
    rows = [
        {"object": "embedding", "index": n, "embedding": [len(text), len(text.split()), 1.0]}
        for n, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Raw(json.dumps({"object": "list", "data": rows, "model": body["model"], "usage": usage}).encode())


def test_texts_get_vectors_of_length_one() -> None:
    with OpenAIServer(vectors) as server:
        embedder = EndpointEmbedder("small", SecretStr("key"), server.url)
        found = embedder(["one", "two words"])
        assert found.shape == (2, 3)
        assert found.dtype == np.float32
        assert np.allclose(np.linalg.norm(found, axis=1), 1)
        assert embedder([]).shape == (0, embedder.dimension) == (0, 3)
        assert server.headers[0]["authorization"] == "Bearer key"
        assert server.requests[0]["input"] == ["one", "two words"]
        assert server.requests[0]["encoding_format"] == "float"


@pytest.mark.parametrize(
    "reply",
    [Fault(401, "no"), Fault(404, "what"), Raw(b"{}"), Raw(b"not json"), Raw(b'{"data": [{"x": 1}]}')],
)
def test_an_endpoint_that_gives_none_is_named(reply: Reply) -> None:
    with OpenAIServer([reply]) as server:
        embedder = EndpointEmbedder("small", None, server.url)
        with pytest.raises(StoreError, match=r'embeddings "small" cannot be loaded .*TASKLOOM_EMBEDDINGS'):
            embedder(["text"])


def test_an_index_is_refused_to_another_embedder(tmp_path: Path) -> None:
    with OpenAIServer(vectors) as server:
        given = Settings(home=tmp_path, model="", embeddings="small", openai_base_url=server.url)
        for settings in (given, given.model_copy(update={"embeddings": "large"})):
            longterm = longterm_of(settings)
            assert longterm is not None
            try:
                if settings is given:
                    longterm.store.put("ann", [fact(1, "the hotel in Bergen")])
                    assert longterm.store.search("ann", "hotel")[0].record.id == "f1"
                    continue
                with pytest.raises(EmbeddingMismatch, match="taskloom memory reembed"):
                    longterm.store.search("ann", "hotel")
                assert longterm.store.reembed() == 1
                assert longterm.store.search("ann", "hotel")[0].record.id == "f1"
            finally:
                longterm.close()
