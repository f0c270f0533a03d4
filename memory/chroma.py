"""The only importer of chromadb: clients of a folder and of a server, and their collections.

For chromadb 1.5: a few inner parts of its clients are known here.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from platform import libc_ver
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.request import urlopen

from .chroma_files import Folder
from .embed import Embedder

if TYPE_CHECKING:  # importing Chroma takes a second; who asks for no store in it need not wait
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import EmbeddingFunction

    __all__ = ["Client", "Collection", "EmbeddingFunction"]

_ARENA_MAX = -8  # of glibc's malloc.h
_PATIENCE = 60  # seconds until a server must have answered
# The index is written and never asked, so it is a small one. It goes to disk soon: what is not there yet is
# put into it again, a third of a millisecond each, when the collection is next opened.
_INDEX: Any = {
    "space": "cosine", "ef_construction": 2, "max_neighbors": 2, "batch_size": 50, "sync_threshold": 50,
}  # fmt: skip


# ---- collections ----------------------------------------------------------------------------------


def make_collection(
    client: Client, name: str, labels: dict[str, str], function: EmbeddingFunction[Any]
) -> Collection:
    """The collection of a name, made with this metadata if there is none."""
    return client.get_or_create_collection(
        name, metadata=labels, configuration={"hnsw": _INDEX}, embedding_function=function
    )


def find_collection(client: Client, name: str, function: EmbeddingFunction[Any]) -> Collection | None:
    """The collection of a name, if there is one."""
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=function)
    except NotFoundError:
        return None


def drop_collection(client: Client, name: str) -> None:
    """Deletes a collection if there is one."""
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(name)


def is_readable(collection: Collection) -> bool:
    """Whether Chroma can still read all vectors of a collection."""
    from chromadb.errors import InternalError

    try:
        collection.get(include=["embeddings"])
    except InternalError:
        return False
    return True


@cache
def function_class() -> Callable[[Embedder], EmbeddingFunction[Any]]:
    """An Embedder as Chroma's embedding function, known to its registry.

    So a collection names in its configuration what embeds it, and Chroma never fetches a model of its own.
    """
    from chromadb.api.types import EmbeddingFunction
    from chromadb.utils.embedding_functions import register_embedding_function

    class Function(EmbeddingFunction[Any]):
        known: ClassVar[dict[str, Embedder]] = {}

        def __init__(self, embedder: Embedder) -> None:
            self.embedder = embedder
            self.known[embedder.name] = embedder

        def __call__(self, input: Any) -> Any:  # noqa: A002  # Chroma's name for it
            return list(self.embedder(input))

        @staticmethod
        def name() -> str:
            return "taskloom"

        def get_config(self) -> dict[str, Any]:
            return {"embedder": self.embedder.name}

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> Function:
            return Function(Function.known[config["embedder"]])

    register_embedding_function(Function)  # type: ignore[no-untyped-call]
    return Function


# ---- clients --------------------------------------------------------------------------------------


def open_folder(folder: Folder) -> Client:
    """A client on a folder, which is repaired first and then made private."""
    folder.mend()
    client = _client(folder)
    folder.keep_private()
    return client


def keep_few_arenas() -> bool:
    """Limit glibc to two memory arenas for all threads; whether that worked.

    Else each of Chroma's threads has a place of its own, and what is free in one is of no use to the others.
    It holds for the whole process, so this is for one that is a server's; what the environment says goes
    before it.
    """
    if "MALLOC_ARENA_MAX" in os.environ or libc_ver()[0] != "glibc":
        return False
    return bool(ctypes.CDLL(None).mallopt(_ARENA_MAX, 2))


def open_anew(folder: Folder, client: Client) -> Client:
    """A new client on a folder in place of an old one, whose open collections are released."""
    client.close()
    # Its threads leave memory to the C library, which gives it back where it is told to (glibc has a way).
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    return _client(folder)


def _client(folder: Folder) -> Client:
    """Started by hand: else Chroma lists a folder that it could not open as open."""
    from chromadb.api import ServerAPI
    from chromadb.api.client import Client
    from chromadb.config import System
    from chromadb.telemetry.product import ProductTelemetryClient

    system = System(_settings(persist_directory=str(folder.path), is_persistent=True))
    system.instance(ProductTelemetryClient)  # type: ignore[type-abstract]
    system.instance(ServerAPI)  # type: ignore[type-abstract]
    system.start()
    return Client.from_system(system)


def connect(url: str) -> Client:
    """A client of a server that has been seen to answer as Chroma does."""
    from chromadb.api.client import Client

    with urlopen(f"{url}/api/v2/heartbeat", timeout=_PATIENCE) as reply:  # noqa: S310  # http or https
        if b"heartbeat" not in reply.read(1000):
            raise ConnectionError("the server at this address is not Chroma")
    address = {"chroma_server_host": url, "chroma_server_http_port": 8000}  # the port is the address's own
    client = Client(settings=_settings(chroma_api_impl="chromadb.api.fastapi.FastAPI", **address))
    for session in _sessions(client):
        session.timeout = _PATIENCE
    return client


def disconnect(client: Client) -> None:
    """Closes the connections of a server's client too: Chroma never does."""
    for session in _sessions(client):
        session.close()
    client.close()


def _sessions(client: Client) -> tuple[Any, ...]:
    """The HTTP sessions of a client, which have no timeout by Chroma's default."""
    both: tuple[Any, ...] = (client, client._admin_client)
    return tuple(each._server._session for each in both)


def _settings(**given: Any) -> Any:
    """Chroma's settings with telemetry off, whatever a `.env` in the current folder says."""
    from chromadb.config import Settings

    return Settings(_env_file=None, anonymized_telemetry=False, **given)
