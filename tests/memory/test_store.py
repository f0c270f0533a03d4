"""One contract for all stores; and what only Chroma can get wrong: files, processes, servers, embedders."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import settings

from taskloom.memory import store as store_module
from taskloom.memory.embed import MiniLM, Vectors
from taskloom.memory.ranking import Corpus
from taskloom.memory.records import Fact, Kind, Stream
from taskloom.memory.store import (
    AnyRecord,
    ChromaStore,
    EmbeddingMismatch,
    InMemoryStore,
    Store,
    StoreBusyError,
    StoreError,
)
from taskloom.memory.warm import Warm, refresh, to_metadata
from tests.chroma_server import ChromaServer, HashEmbedder, experience, fact, scene, unit

FULL = settings().max_examples > 1000
Open: TypeAlias = Callable[[], Store]

HOSTILE = (
    "../a",
    "a\x00b",
    "a",
    "A",
    "'; DROP TABLE collections; --",
    "x" * 100_000,
    "caf\u00e9",
    "cafe\u0301",
    "\ud800",
    " ",
    "taskloom-",
    '"]}',
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("server") / "chroma") as running:
        yield running


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[ChromaStore]:
    with ChromaStore.embedded(tmp_path / "memory", HashEmbedder()) as opened:
        yield opened


@pytest.fixture(params=["memory", "embedded", "server"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        opened: Store = InMemoryStore(HashEmbedder())
    elif request.param == "embedded":
        opened = request.getfixturevalue("embedded")
    else:
        running: ChromaServer = request.getfixturevalue("server")
        opened = ChromaStore.server(running.url, HashEmbedder())
        for user in opened.users():
            opened.forget(user)
    with opened:
        yield opened


# ---- the contract ---------------------------------------------------------------------------------

RECORDS = (fact(3, "the hotel is in Bergen"), experience(1, "book a hotel"), unit(2, "a hotel by the sea"))


def test_what_is_put_is_there(store: Store) -> None:
    store.put("ann", RECORDS)
    assert store.get("ann", ["f3", "u2", "none", "f3"]) == {"f3": RECORDS[0], "u2": RECORDS[2]}
    assert store.records("ann") == (RECORDS[1], RECORDS[2], RECORDS[0])
    assert store.records("ann", "unit") == (RECORDS[2],)
    assert store.users() == ("ann",)
    assert (store.count("ann"), store.count("ann", "experience"), store.count("bob")) == (3, 1, 0)


def test_search_finds_by_words_within_a_kind(store: Store) -> None:
    store.put("ann", RECORDS)
    store.put("ann", [fact(number, f"number {number} of many") for number in range(10, 60)])
    assert store.search("ann", "hotel in Bergen")[0].record == RECORDS[0]
    assert [hit.record.id for hit in store.search("ann", "hotel", kind="unit")] == ["u2"]
    assert len(store.search("ann", "number", limit=7)) == 7
    assert store.search("ann", "the rainy one", limit=1)[0].record.id == "u2"
    assert store.search("bob", "hotel") == ()


def test_a_record_takes_the_place_of_its_former_form(store: Store) -> None:
    store.put("ann", RECORDS)
    newer = fact(3, "the hotel is in Oslo", status="former")
    store.put("ann", [fact(3, "never seen"), newer])
    assert store.count("ann") == 3
    assert store.get("ann", ["f3"]) == {"f3": newer}
    assert [hit.record.text for hit in store.search("ann", "Oslo hotel", kind="fact")] == [newer.text]


def test_what_is_deleted_is_gone(store: Store) -> None:
    store.put("ann", RECORDS)
    store.delete("ann", ["f3", "f3", "none"])
    store.delete("ann", [])
    store.delete("bob", ["f3"])
    store.compact()
    assert store.count("ann") == 2
    assert "f3" not in {hit.record.id for hit in store.search("ann", "hotel in Bergen")}
    store.delete("ann", ["u2", "e1"])
    assert store.records("ann") == ()


def test_forgetting_one_leaves_the_others(store: Store) -> None:
    for user in ("ann", "bob"):
        store.put(user, RECORDS)
    store.forget("ann")
    store.forget("nobody")
    assert store.users() == ("bob",)
    assert (store.records("ann"), store.search("ann", "hotel")) == ((), ())
    assert store.search("bob", "Bergen")[0].record == RECORDS[0]
    store.put("ann", RECORDS[:1])
    assert store.records("ann") == RECORDS[:1]


def test_the_count_of_steps_is_kept_beside_the_records_and_forgotten_with_them(store: Store) -> None:
    assert store.stream("ann") == Stream()
    store.put_stream("ann", Stream().further("e1"))
    assert store.users() == ("ann",)
    assert (store.records("ann"), store.count("ann")) == ((), 0)
    store.put("ann", RECORDS)
    far = Stream(steps=300, latest=("e299", "e300"))
    store.put_stream("ann", far)
    store.put_stream("bob", Stream(steps=1))
    store.delete("ann", ["e1"])
    store.compact()
    assert store.reembed() == 0
    assert (store.stream("ann"), store.stream("bob")) == (far, Stream(steps=1))
    assert {record.id for record in store.records("ann")} == {"f3", "u2"}
    store.forget("ann")
    assert (store.users(), store.stream("ann"), store.stream("bob").steps) == (("bob",), Stream(), 1)


def test_nothing_is_made_by_looking(store: Store) -> None:
    store.put("ann", [])
    assert store.stream("ann") == Stream()
    assert (store.search("ann", "x"), store.records("ann"), store.get("ann", ["f1"])) == ((), (), {})
    assert store.users() == ()
    assert store.reembed() == store.reembed("ann") == 0


@pytest.mark.parametrize("user", ["", None, b"ann", 7])
def test_no_call_without_a_user(store: Store, user: Any) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.put(user, RECORDS),
        lambda: store.put(user, []),
        lambda: store.get(user, ["f3"]),
        lambda: store.records(user),
        lambda: store.search(user, "hotel"),
        lambda: store.delete(user, ["f3"]),
        lambda: store.delete(user, []),
        lambda: store.forget(user),
        lambda: store.count(user),
        lambda: store.stream(user),
        lambda: store.put_stream(user, Stream(steps=1)),
    )
    for call in calls:
        with pytest.raises(ValueError, match="a user must be a text"):
            call()
    if user is not None:
        with pytest.raises(ValueError, match="a user must be a text"):
            store.reembed(user)


def test_hostile_users_are_users_like_any_other(store: Store) -> None:
    for number, user in enumerate(HOSTILE):
        store.put(user, [fact(number, f"secret{number} of this one")])
    assert set(store.users()) == set(HOSTILE)
    for number, user in enumerate(HOSTILE):
        assert [record.id for record in store.records(user)] == [f"f{number}"]
        for other in range(len(HOSTILE)):
            found = store.search(user, f"secret{other}")
            assert {hit.record.id for hit in found} == {f"f{number}"}
    store.forget("A")
    assert set(store.users()) == set(HOSTILE) - {"A"}


def test_any_text_is_kept_as_it_is(store: Store) -> None:
    texts = (
        "\x00",
        "a\x00b",
        "\u200b",
        "🙂 naïve Straße",
        "'; DROP TABLE embeddings; --",
        "\\u0000",
        "long " * 10_000,
    )
    records = [fact(number, text, thread=text) for number, text in enumerate(texts)]
    store.put("ann", records)
    assert store.records("ann") == tuple(records)


def test_sixteen_at_once_write_one_record(store: Store) -> None:
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: store.put("ann", RECORDS[:1]), range(16)))
    assert store.records("ann") == RECORDS[:1]
    assert len(store.search("ann", "hotel")) == 1


def test_more_records_than_go_in_one_call(store: Store) -> None:
    records = tuple(fact(number, f"note {number}") for number in range(2300))
    store.put("ann", records)
    assert store.count("ann") == 2300
    store.delete("ann", [record.id for record in records[:2299]])
    assert store.records("ann") == records[2299:]


class Failing(HashEmbedder):
    """An embedder that fails when told to."""

    fails = False
    gives: Vectors | None = None

    def __call__(self, texts: Sequence[str]) -> Vectors:
        if self.fails:
            raise RuntimeError("the endpoint is down")
        return super().__call__(texts) if self.gives is None else self.gives


@pytest.mark.parametrize("where", ["memory", "embedded"])
def test_a_failing_embedder_harms_nothing(tmp_path: Path, where: str) -> None:
    embedder = Failing()
    with InMemoryStore(embedder) if where == "memory" else ChromaStore.embedded(tmp_path, embedder) as store:
        store.put("ann", RECORDS[:1])
        embedder.fails = True
        with pytest.raises(StoreError, match="RuntimeError: the endpoint is down"):
            store.put("ann", RECORDS)
        with pytest.raises(StoreError, match="RuntimeError: the endpoint is down"):
            store.search("ann", "hotel")
        embedder.fails = False
        for wrong in (np.zeros((3, 4)), np.zeros((2, 16)), np.full((3, 16), np.nan)):
            embedder.gives = wrong.astype(np.float32)
            with pytest.raises(StoreError, match="hash-16 gave numbers of shape"):
                store.put("ann", RECORDS)
        embedder.gives = None
        assert store.records("ann") == RECORDS[:1]


# ---- nobody reads what is another's ---------------------------------------------------------------


def canaries(store: Store, operations: int, users: Sequence[str], threads: int = 8) -> int:
    """Runs mixed operations at once; how many reads there were. Each text says whose it is."""
    reads = 0
    kinds: tuple[Kind | None, ...] = (None, "fact", "unit")
    counting = threading.Lock()

    def own(user: int, records: Sequence[AnyRecord]) -> None:
        strange = [record.text for record in records if f"canary{user} " not in record.text]
        assert not strange, f"user {user} was given {strange[0]!r}"

    def work(seed: int) -> None:
        nonlocal reads
        draw = random.Random(seed)
        for _ in range(operations // threads):
            user, number = draw.randrange(len(users)), draw.randrange(20)
            name, kind = users[user], draw.choice(kinds)
            action = draw.choices(
                ("put", "get", "search", "records", "delete", "forget"), (30, 20, 30, 10, 9, 1)
            )
            seen: Sequence[AnyRecord] = ()
            match action[0]:
                case "put":
                    make = draw.choice((fact, unit, experience))
                    store.put(name, [make(number, f"canary{user} shared words {number}")])
                case "get":
                    seen = tuple(store.get(name, [f"{letter}{number}" for letter in "efu"]).values())
                case "search":
                    other = draw.randrange(len(users))
                    seen = [hit.record for hit in store.search(name, f"canary{other} words", kind=kind)]
                case "records":
                    seen = store.records(name, kind)
                case "delete":
                    store.delete(name, [f"f{number}", f"u{number}"])
                case _:
                    store.forget(name)
            own(user, seen)
            with counting:
                reads += bool(seen)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    for user, name in enumerate(users):
        own(user, store.records(name))
    return reads


def test_ten_thousand_operations_and_no_cross_read() -> None:
    assert canaries(InMemoryStore(HashEmbedder()), 10_000, HOSTILE) > 3000


@pytest.mark.timeout(1800)  # in the full profile
def test_no_cross_read_in_chroma(embedded: ChromaStore) -> None:
    assert canaries(embedded, 10_000 if FULL else 320, HOSTILE) > (3000 if FULL else 50)


@pytest.mark.timeout(1800)
def test_no_cross_read_on_a_server(server: ChromaServer) -> None:
    with ChromaStore.server(server.url, HashEmbedder()) as store:
        for user in HOSTILE:  # what a test before this one left of theirs
            store.forget(user)
        assert canaries(store, 10_000 if FULL else 160, HOSTILE) > (3000 if FULL else 20)
        for user in HOSTILE:
            store.forget(user)


def test_the_users_who_came_last_are_kept_in_memory(
    embedded: ChromaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded._warm, "_limit", 5)
    for user in ("ann", "bob", "cem"):
        embedded.put(user, RECORDS)
        assert embedded.count(user) == 3
    assert [user for user in ("ann", "bob", "cem") if embedded._warm.get(user).stamp] == ["cem"]
    assert embedded.search("ann", "Bergen")[0].record == RECORDS[0]


def test_chroma_lets_go_of_the_collections_of_many_users(
    embedded: ChromaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    monkeypatch.setattr(store_module, "_OPENED", 3)
    assert embedded._lease is not None
    anew = embedded._lease._renewed

    def counted(client: Any) -> Any:
        opened.append(len(embedded._warm._held))
        return anew(client)

    monkeypatch.setattr(embedded._lease, "_renewed", counted)
    users = [f"user{number}" for number in range(9)]
    for user in users:
        embedded.put(user, RECORDS)
    assert opened == [0, 0]  # after the fourth and the eighth
    for user in users:
        assert embedded.search(user, "Bergen")[0].record == RECORDS[0]
    assert opened[2:] == [3, 7], "what is in memory stays there"
    for user in (*users, "nobody"):
        assert embedded.count(user) == (0 if user == "nobody" else 3)
    assert len(opened) == 4, "who is in memory, or nowhere, is not asked for"


def test_many_at_once_use_it_while_it_is_opened_anew(
    embedded: ChromaStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_OPENED", 1)
    monkeypatch.setattr(embedded._warm, "_limit", 1)

    def work(number: int) -> int:
        user = f"user{number % 5}"
        embedded.put(user, [fact(number, f"note {number}")])
        return len(embedded.search(user, "note", limit=100))

    with ThreadPoolExecutor(6) as pool:
        assert max(pool.map(work, range(60))) == 12
    assert [embedded.count(f"user{number}") for number in range(5)] == [12] * 5


# ---- nothing is left behind -----------------------------------------------------------------------

MARKS = ("TRACELESS", "Spurenlos-ü", "痕跡のない言葉")


def traces(folder: Path, *marks: str) -> list[str]:
    """Files that hold a mark, as text or as JSON escapes it."""
    sought = [
        form
        for mark in marks
        for form in (mark.encode(), mark.encode("utf-16-le"), ascii(mark)[1:-1].encode())
    ]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [f"{path.name}: {form!r}" for path in files for form in sought if form in path.read_bytes()]


def marked(number: int) -> tuple[AnyRecord, ...]:
    words = " ".join(f"{mark}{number}" for mark in MARKS)
    told = fact(number, words, value=words, thread=words, people=(words,))
    return told, unit(number, words), scene(number, words, name=words, subjects=(words,))


def test_forget_leaves_no_byte(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with ChromaStore.embedded(folder, HashEmbedder()) as store:
        store.put("bob", RECORDS)
        store.put(MARKS[0], [record for number in range(700) for record in marked(number)])
        store.put_stream(MARKS[0], Stream().further(MARKS[1]))
        store.put(MARKS[0], marked(0))
        store.delete(MARKS[0], ["f1", "f2"])
        assert traces(folder, MARKS[0])
        store.forget(MARKS[0])
        assert traces(folder, *MARKS) == []
        indexes = [path for path in folder.iterdir() if path.is_dir()]
        assert len(indexes) == 1
        assert store.search("bob", "Bergen")[0].record == RECORDS[0]
        for user in range(5):  # what Chroma has in memory must not come back to the disk with new files
            store.put(f"user{user}", RECORDS)
            assert traces(folder, *MARKS) == []
    assert traces(folder, *MARKS) == []
    with ChromaStore.embedded(folder, HashEmbedder()) as store:
        assert store.users() == ("bob", *(f"user{user}" for user in range(5)))
        assert store.search("bob", "Bergen")[0].record == RECORDS[0]
        store.put("bob", [fact(9, "goes on")])
        assert traces(folder, *MARKS) == []
    assert traces(folder, *MARKS) == []


def test_an_index_holds_nothing_of_other_users(tmp_path: Path) -> None:
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        for user in range(8):
            store.put(f"user{user}", marked(user))
            assert store.count(f"user{user}") == 3
        assert [trace for trace in traces(tmp_path, *MARKS) if "chroma.sqlite3" not in trace] == []
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        assert [store.count(f"user{user}") for user in range(8)] == [3] * 8
        assert [trace for trace in traces(tmp_path, *MARKS) if "chroma.sqlite3" not in trace] == []


def test_compact_clears_what_was_deleted_or_replaced(embedded: ChromaStore, tmp_path: Path) -> None:
    embedded.put("ann", [*marked(1), *RECORDS, fact(7, f"{MARKS[0]} before")])
    embedded.put("ann", [fact(7, "after")])
    embedded.delete("ann", ["f1", "u1", "s1"])
    embedded.compact()
    assert traces(tmp_path, *MARKS) == []
    embedded.put("ann", [fact(8, "more")])
    embedded.close()
    with ChromaStore.embedded(tmp_path / "memory", HashEmbedder()) as again:
        assert {record.id for record in again.records("ann")} == {"f3", "e1", "u2", "f7", "f8"}
        assert again.search("ann", "after")[0].record.id == "f7"


def test_the_folder_is_the_users_own(embedded: ChromaStore, tmp_path: Path) -> None:
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o700


# ---- embedders ------------------------------------------------------------------------------------


def test_another_embedder_is_refused_until_reembedded(tmp_path: Path) -> None:
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        store.put("ann", RECORDS)
        store.put("bob", RECORDS)
        store.put_stream("ann", Stream(steps=5))
    with ChromaStore.embedded(tmp_path, HashEmbedder("other", 24)) as store:
        calls: tuple[Callable[[], object], ...] = (
            lambda: store.search("ann", "hotel"),
            lambda: store.put("ann", RECORDS),
            lambda: store.records("ann"),
            lambda: store.delete("ann", ["f3"]),
        )
        for call in calls:
            with pytest.raises(EmbeddingMismatch, match=r"'hash-16'.*'other'.*taskloom memory reembed"):
                call()
        store.put("cem", RECORDS)
        assert store.reembed("ann") == 3
        assert store.stream("ann").steps == 5
        assert store.search("ann", "Bergen")[0].record == RECORDS[0]
        assert store.reembed() == 3
        assert store.reembed() == 0
        assert store.search("bob", "Bergen")[0].record == RECORDS[0]
        store.put("bob", [fact(9, "Oslo")])
    with ChromaStore.embedded(tmp_path, HashEmbedder("other", 24)) as store:
        assert store.count("bob") == 4
        assert store.users() == ("ann", "bob", "cem")
        store.forget("bob")
        assert store.users() == ("ann", "cem")


def test_reembedding_cut_short_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        store.put("ann", RECORDS)
    failing = Failing("other", 24)
    failing.fails = True
    with ChromaStore.embedded(tmp_path, failing) as store:
        with pytest.raises(StoreError, match="RuntimeError"):
            store.reembed()
        assert store.users() == ("ann",)
        failing.fails = False
        from chromadb.api.models.Collection import Collection

        def cut(*_: Any, **__: Any) -> None:
            raise OSError("the power is off")

        with monkeypatch.context() as patched:  # between the deletion of the old one and the new name
            patched.setattr(Collection, "modify", cut)
            with pytest.raises(StoreError, match="the power is off"):
                store.reembed()
    with ChromaStore.embedded(tmp_path, HashEmbedder("other", 24)) as store:
        assert store.users() == ("ann",)
        assert store.search("ann", "Bergen")[0].record == RECORDS[0]
        assert store.count("ann") == 3


def test_a_collection_names_its_embedder_and_chroma_can_use_it(tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings

    with ChromaStore.embedded(tmp_path, MiniLM()) as store:
        store.put("ann", RECORDS)
    quiet = Settings(anonymized_telemetry=False)
    with closing(chromadb.PersistentClient(str(tmp_path), settings=quiet)) as client:  # type: ignore[type-var]
        (collection,) = client.list_collections()
        function = collection.configuration["embedding_function"]
        assert function is not None
        assert (function.name(), function.get_config()) == ("taskloom", {"embedder": "all-MiniLM-L6-v2-int8"})
        found = collection.query(query_texts=["the hotel is in Bergen"], n_results=1)
        assert found["ids"] == [["f3"]]
        assert (found["distances"] or [[1.0]])[0][0] == pytest.approx(0, abs=1e-3)


# ---- one process, or a server ---------------------------------------------------------------------

SECOND = """
import sys
from pathlib import Path
from taskloom.memory.store import ChromaStore
from tests.chroma_server import HashEmbedder
with ChromaStore.embedded(Path(sys.argv[1]), HashEmbedder()) as store:
    print(store.count("ann"))
    store.delete("ann", ["f3"])
"""


def test_a_second_process_is_let_in_and_what_it_wrote_is_seen(embedded: ChromaStore, tmp_path: Path) -> None:
    embedded.put("ann", RECORDS)
    done = subprocess.run(
        [sys.executable, "-c", SECOND, tmp_path / "memory"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "3\n"
    assert {record.id for record in embedded.records("ann")} == {"e1", "u2"}
    assert {hit.record.id for hit in embedded.search("ann", "Bergen")} == {"e1", "u2"}


def test_a_folder_that_is_not_let_go_of_is_told(tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / ".lock"),
        pytest.raises(StoreBusyError, match=r"chroma run --path .* set TASKLOOM_CHROMA_URL") as told,
    ):
        ChromaStore.embedded(tmp_path, HashEmbedder(), wait=0.2)
    assert str(tmp_path) in str(told.value)


def test_two_stores_in_one_process_see_each_others_writes(embedded: ChromaStore, tmp_path: Path) -> None:
    embedded.put("ann", RECORDS)
    with ChromaStore.embedded(tmp_path / "memory", HashEmbedder()) as other:
        assert other.count("ann") == 3
        embedded.put("ann", [fact(7, "the boat leaves at nine")])
        assert other.search("ann", "boat")[0].record.id == "f7"
        other.forget("ann")
        assert embedded.records("ann") == ()
    embedded.close()
    embedded.close()
    with pytest.raises(StoreError, match="is closed"):
        embedded.count("ann")


@pytest.mark.parametrize("named", [0, 1, 10_000])
def test_stores_on_one_server_see_each_others_writes(
    server: ChromaServer, monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    monkeypatch.setattr(store_module, "_NAMED", named)
    with (
        ChromaStore.server(server.url, HashEmbedder()) as one,
        ChromaStore.server(f"{server.url}/", HashEmbedder()) as two,
    ):
        one.put("shared", RECORDS)
        assert two.count("shared") == 3
        two.put("shared", [fact(3, "the hotel is in Oslo"), fact(4, "the boat leaves at nine")])
        assert one.search("shared", "boat")[0].record.id == "f4"
        assert one.search("shared", "Oslo")[0].record.text == "the hotel is in Oslo"
        one.delete("shared", ["f4"])
        assert {hit.record.id for hit in two.search("shared", "boat")} == {"f3", "e1", "u2"}
        two.forget("shared")
        assert one.records("shared") == ()
        one.put("shared", RECORDS[:1])
        assert two.records("shared") == RECORDS[:1]
        two.compact()
        one.forget("shared")


def test_after_a_write_only_what_it_wrote_is_read_again(
    server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chromadb.api.models.Collection import Collection

    read: list[list[str]] = []
    get = Collection.get

    def seen(self: Collection, *args: Any, **more: Any) -> Any:
        found = get(self, *args, **more)
        read.append([key for key in found["ids"] if found["metadatas"]])
        return found

    with (
        ChromaStore.server(server.url, HashEmbedder()) as one,
        ChromaStore.server(server.url, HashEmbedder()) as two,
    ):
        one.put("much", [fact(number, f"note {number}") for number in range(300)])
        assert (one.count("much"), two.count("much")) == (300, 300)
        monkeypatch.setattr(Collection, "get", seen)
        one.put("much", [fact(7, "another note")])
        one.delete("much", ["f8"])
        two.put("much", [fact(400, "one more")])
        for store in (one, two):
            read.clear()
            assert store.count("much") == 300
            assert [key for keys in read for key in sorted(keys)] == ["f400", "f7"]
        read.clear()
        assert one.get("much", ["f7", "f8"])["f7"].text == "another note"
        assert read == []
        one.forget("much")


def test_what_one_process_was_told_is_written_another_reads(server: ChromaServer) -> None:
    """Writes overtake each other, so that some stamps are never seen; no record may be missed by it."""
    acknowledged: dict[str, int] = {}
    done = threading.Event()

    def write(writer: int) -> None:
        with ChromaStore.server(server.url, HashEmbedder()) as store:
            for number in range(25):
                key = 10 * writer + number % 3
                store.put("race", [fact(key, f"{number}")])
                acknowledged[f"f{key}"] = number
                if number % 2:
                    store.put("race", [fact(1000 + writer, "comes and goes")])
                else:
                    store.delete("race", [f"f{1000 + writer}"])

    def look() -> int:
        looks = 0
        with ChromaStore.server(server.url, HashEmbedder()) as store:
            while not done.is_set():
                promised = dict(acknowledged)
                found = {record.id: record.text for record in store.records("race")}
                assert not {key: n for key, n in promised.items() if int(found.get(key, -1)) < n}
                looks += 1
        return looks

    with ThreadPoolExecutor(6) as threads:
        readers = [threads.submit(look) for _ in range(2)]
        for writer in [threads.submit(write, number) for number in range(1, 4)]:
            writer.result()
        done.set()
        assert min(reader.result() for reader in readers) > 5
    with ChromaStore.server(server.url, HashEmbedder()) as store:
        assert store.count("race") == 9
        store.forget("race")


def test_writers_at_once_lose_nothing_on_a_server(server: ChromaServer) -> None:
    def write(writer: int) -> None:
        with ChromaStore.server(server.url, HashEmbedder()) as store:
            for number in range(5):
                store.put("many", [fact(100 * writer + number, f"of writer {writer}")])
                assert store.get("many", [f"f{100 * writer + number}"])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    with ChromaStore.server(server.url, HashEmbedder()) as store:
        assert store.count("many") == 20
        store.forget("many")


def test_collections_of_others_on_the_server_are_left_alone(server: ChromaServer) -> None:
    with ChromaStore.server(server.url, HashEmbedder()) as store:
        client = store._client
        assert client is not None
        client.get_or_create_collection("theirs", embedding_function=None)
        for user in (*store.users(), "ann"):
            store.forget(user)
        store.put("ann", RECORDS)
        assert store.users() == ("ann",)
        store.forget("ann")
        assert [collection.name for collection in client.list_collections()] == ["theirs"]
        client.delete_collection("theirs")


# ---- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host", "http://", "/a/path"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(StoreError, match="TASKLOOM_CHROMA_URL=http://localhost:8000"):
        ChromaStore.server(url, HashEmbedder())


def test_no_server_there() -> None:
    with pytest.raises(StoreError, match="TASKLOOM_CHROMA_URL is its address"):
        ChromaStore.server("http://127.0.0.1:1", HashEmbedder())


@pytest.mark.parametrize("status", [200, 404])
def test_another_server_there(status: int) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<p>welcome</p>")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(StoreError, match=r"(not Chroma|404).*: see that `chroma run` is up"):
            ChromaStore.server(f"http://127.0.0.1:{other.server_port}", HashEmbedder())
        other.shutdown()


def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    running = ChromaServer(tmp_path / "chroma")
    with running, ChromaStore.server(running.url, HashEmbedder()) as store:
        store.put("ann", RECORDS)
        running.kill()
        with pytest.raises(StoreError, match="see that `chroma run` is up"):
            store.put("ann", [fact(9, "lost?")])
        with pytest.raises(StoreError, match="see that `chroma run` is up"):
            store.records("ann")
        with running:
            assert store.records("ann") == (RECORDS[1], RECORDS[2], RECORDS[0])
            store.put("ann", [fact(9, "not lost")])
            assert store.count("ann") == 4


@pytest.mark.attack
def test_a_damaged_database(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"not a database " * 1000)
    with pytest.raises(StoreError, match=r"file is not a database: .*taskloom memory import"):
        ChromaStore.embedded(tmp_path, HashEmbedder())
    (tmp_path / "chroma.sqlite3").unlink()
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        assert store.users() == ()


@pytest.mark.attack
@pytest.mark.parametrize("damage", ["short", "none", "empty"])
def test_a_damaged_index_costs_no_record(tmp_path: Path, damage: str) -> None:
    records = tuple(fact(number, f"note {number}") for number in range(1100))
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        store.put("ann", records)
    (index,) = (path for path in tmp_path.iterdir() if path.is_dir())
    if damage == "short":
        os.truncate(index / "header.bin", 10)
    elif damage == "none":
        shutil.rmtree(index)
    else:
        (index / "index_metadata.pickle").write_bytes(b"x")
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        with pytest.raises(StoreError, match="taskloom memory reembed"):
            store.search("ann", "note 7")
        assert store.reembed() == 1100
        assert store.records("ann") == records
        assert store.search("ann", "note 7")[0].record.id == "f7"


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("")
    with pytest.raises(StoreError, match="cannot be kept in"):
        ChromaStore.embedded(tmp_path / "memory", HashEmbedder())


FULL_DISK = """
import resource, sys
from pathlib import Path
from taskloom.memory.store import ChromaStore, StoreError
from tests.chroma_server import HashEmbedder, fact
with ChromaStore.embedded(Path(sys.argv[1]), HashEmbedder()) as store:
    store.put("ann", [fact(1, "before")])
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    stored = 1
    try:
        while stored < 1000:
            store.put("ann", [fact(stored + 1, "long " * 4_000)])
            stored += 1
    except StoreError as error:
        print(error, file=sys.stderr)
    print(stored)
"""


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    stored = int(done.stdout)
    assert 1 < stored < 100
    assert "free some space" in done.stderr
    with ChromaStore.embedded(tmp_path, HashEmbedder()) as store:
        # The one that failed may have come as far as Chroma's log, and is there now.
        kept = {record.id for record in store.records("ann")} - {f"f{stored + 1}"}
        assert kept == {f"f{number}" for number in range(1, stored + 1)}


def test_what_an_embedder_says_of_the_store_is_said_as_it_is() -> None:
    class Unreachable(HashEmbedder):
        def __call__(self, texts: Sequence[str]) -> Vectors:
            raise StoreError("check TASKLOOM_EMBEDDINGS")

    with pytest.raises(StoreError, match=r"^check TASKLOOM_EMBEDDINGS$"):
        InMemoryStore(Unreachable()).put("ann", [fact(1, "The hotel is by the sea")])


class _Half:
    """A collection of a server that has records and not yet their vectors; short: it leaves these out."""

    def __init__(self, records: Sequence[Fact], late: Sequence[str], *, short: bool = False) -> None:
        self.records = {one.id: to_metadata(one) for one in records}
        self.late, self.short = set(late), short

    def count(self) -> int:
        return len(self.records)

    def get(self, ids: Any = None, where: Any = None, limit: Any = None, *, include: Any) -> dict[str, Any]:
        known = set((where or {}).get("mark", {}).get("$nin", ()))
        found = [
            key for key, data in self.records.items()
            if (ids is None or key in ids) and data["mark"] not in known
        ][:limit]  # fmt: skip
        given = [key for key in found if not (self.short and key in self.late)]
        vectors = [[] if key in self.late else [1.0, 0.0] for key in given]
        return {"ids": found, "metadatas": [self.records[key] for key in found], "embeddings": vectors}


@pytest.mark.parametrize("first", [(), ("f1",)])
def test_a_record_whose_vector_is_still_to_come_is_read_when_it_has(first: tuple[str, ...]) -> None:
    collection, warm = _Half([fact(1, "a"), fact(2, "b")], ["f1", "f2"]), Warm("", Corpus(), {})
    refresh(warm, collection, 100, 10)
    assert len(warm.corpus) == 0
    collection.late = set(first)
    refresh(warm, collection, 100, 10)
    assert [one.id for one in warm.corpus.records()] == [key for key in ("f1", "f2") if key not in first]
    collection.late = set()
    refresh(warm, collection, 100, 10)
    assert sorted(one.id for one in warm.corpus.records()) == ["f1", "f2"]


def test_fewer_vectors_than_records_are_waited_for() -> None:
    collection = _Half([fact(1, "a"), fact(2, "b")], ["f1"], short=True)
    warm = Warm("", Corpus(), {})
    refresh(warm, collection, 100, 10)
    assert len(warm.corpus) == 0
    collection.late = set()
    refresh(warm, collection, 100, 10)
    assert sorted(one.id for one in warm.corpus.records()) == ["f1", "f2"]


def test_an_index_that_is_just_made_is_asked_again() -> None:
    class New(_Half):
        refused = 0

        def get(
            self, ids: Any = None, where: Any = None, limit: Any = None, *, include: Any
        ) -> dict[str, Any]:
            if "embeddings" in include and self.refused < 3:
                self.refused += 1
                raise RuntimeError("Error creating hnsw segment reader: Nothing found on disk")
            return super().get(ids, where, limit, include=include)

    collection, warm = New([fact(1, "a")], []), Warm("", Corpus(), {})
    refresh(warm, collection, 100, 10)
    assert [one.id for one in warm.corpus.records()] == ["f1"]
    assert collection.refused == 3
