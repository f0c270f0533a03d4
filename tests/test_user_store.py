"""A user's memory behind LangGraph's store API: one contract, held by LangGraph's own store and by ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore as LangGraphStore
from typing_extensions import TypedDict

from taskloom.agent.parts.store import UnfitError, UserStore, _fact, _value
from taskloom.agent.recall.longterm import LongTerm
from taskloom.memory.outbox import Outbox
from taskloom.memory.store import ChromaStore, InMemoryStore
from tests.chroma_server import HashEmbedder, experience, fact, unit

Embedding = list[float]


@dataclass
class Case:
    """A store, and the namespaces in which all of them take facts."""

    store: BaseStore
    facts: tuple[str, ...] = ("ann", "facts")


def embedded(texts: Sequence[str]) -> list[Embedding]:
    return [[float(number) for number in row] for row in HashEmbedder()(texts)]


def longterm_in(folder: Path, kind: str = "memory") -> LongTerm:
    store = InMemoryStore(HashEmbedder()) if kind == "memory" else None
    return LongTerm(
        lambda: store or ChromaStore.embedded(folder / "memory", HashEmbedder()),
        lambda: Outbox(folder / "outbox.sqlite"),
    )


@pytest.fixture(params=["langgraph", "memory", "chroma"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    if request.param == "langgraph":
        index: IndexConfig = {"dims": 16, "embed": embedded, "fields": ["text"]}
        yield Case(LangGraphStore(index=index))
        return
    longterm = longterm_in(tmp_path, request.param)
    yield Case(UserStore(longterm, user="ann"))
    longterm.close()


@pytest.fixture
def longterm(tmp_path: Path) -> Iterator[LongTerm]:
    opened = longterm_in(tmp_path)
    yield opened
    opened.close()


# ---- the contract ---------------------------------------------------------------------------------


def test_items_are_put_got_replaced_and_deleted(case: Case) -> None:
    store, facts = case.store, case.facts
    assert store.get(facts, "diet") is None
    value = {"text": "Mia is allergic to nuts.", "people": ["Mia"], "value": "nuts"}
    store.put(facts, "diet", value)
    item = store.get(facts, "diet")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (facts, "diet", value)
    assert item.created_at.tzinfo
    assert item.updated_at >= item.created_at
    store.put(facts, "diet", {"text": "Mia eats all."})
    replaced = store.get(facts, "diet")
    assert replaced is not None
    assert replaced.value == {"text": "Mia eats all."}
    assert replaced.updated_at >= item.updated_at
    store.delete(facts, "diet")
    store.delete(facts, "never there")
    assert store.get(facts, "diet") is None
    assert store.search(facts) == []


def test_what_says_the_same_stays_two_items(case: Case) -> None:
    for key in ("a", "b"):
        case.store.put(case.facts, key, {"text": "I live in Rome."})
    assert {item.key for item in case.store.search(case.facts)} == {"a", "b"}


def test_search_ranks_filters_and_pages(case: Case, subtests: pytest.Subtests) -> None:
    store, facts = case.store, case.facts
    for number, word in enumerate(["harbour", "museum", "harbour", "garden", "theatre"]):
        store.put(
            facts, f"k{number}", {"text": f"{word} {word} {word}", "subject": word, "value": str(number)}
        )
    with subtests.test("by meaning, the best first, with a score"):
        found = store.search(facts, query="harbour", limit=2)
        assert {item.key for item in found} == {"k0", "k2"}
        assert all(item.score is not None for item in found)
        assert len(store.search(facts[:1], query="harbour", limit=50)) == 5
    with subtests.test("without a query, no score"):
        assert [item.score for item in store.search(facts)] == [None] * 5
        assert {item.key for item in store.search(facts, query="")} == {f"k{n}" for n in range(5)}
    with subtests.test("pages cover all, once"):
        for query in (None, "harbour"):
            pages = [store.search(facts, query=query, limit=2, offset=at) for at in (0, 2, 4, 6)]
            assert [len(page) for page in pages] == [2, 2, 1, 0]
            assert len({item.key for page in pages for item in page}) == 5
    filters: list[tuple[dict[str, Any], set[str]]] = [
        ({"subject": "harbour"}, {"k0", "k2"}),
        ({"subject": {"$ne": "harbour"}}, {"k1", "k3", "k4"}),
        ({"value": {"$gte": 3}}, {"k3", "k4"}),
        ({"subject": "harbour", "value": {"$lt": 1}}, {"k0"}),
        ({"people": ["Mia"]}, set()),
    ]
    for wanted, keys in filters:
        with subtests.test(f"filter {wanted}"):
            assert {item.key for item in store.search(facts, filter=wanted)} == keys
    with subtests.test("filtered and ranked"):
        ranked = store.search(facts, query="museum", filter={"value": {"$lte": 1}})
        assert [item.key for item in ranked] == ["k1", "k0"]


def test_namespaces_are_listed(case: Case) -> None:
    store, facts = case.store, case.facts
    assert store.list_namespaces() == []
    store.put(facts, "k", {"text": "x"})
    assert store.list_namespaces() == [facts]
    assert store.list_namespaces(prefix=("ann",)) == [facts]
    assert store.list_namespaces(prefix=("*", "facts"), suffix=("facts",)) == [facts]
    assert store.list_namespaces(prefix=("bob",)) == []
    assert store.list_namespaces(max_depth=1) == [("ann",)]
    assert store.list_namespaces(limit=0) == store.list_namespaces(offset=1) == []


def test_a_batch_reads_what_was_before_and_keeps_the_last_put(case: Case) -> None:
    facts = case.facts
    case.store.put(facts, "old", {"text": "old"})
    results = case.store.batch(
        [
            PutOp(facts, "old", None),
            GetOp(facts, "old"),
            PutOp(facts, "k", {"text": "first"}),
            PutOp(facts, "k", {"text": "second"}),
            SearchOp(facts),
            ListNamespacesOp((MatchCondition("prefix", ("ann",)),)),
            GetOp(facts, "k"),
        ]
    )
    assert results[0] is results[2] is results[3] is results[6] is None
    assert [item.key for item in results[4]] == [results[1].key] == ["old"]  # type: ignore[union-attr]
    assert results[5] == [facts]
    assert [item.value for item in case.store.search(facts)] == [{"text": "second"}]
    assert case.store.batch([]) == []


def test_the_same_without_waiting(case: Case) -> None:
    async def use() -> list[str]:
        store, facts = case.store, case.facts
        await asyncio.gather(*(store.aput(facts, f"k{n}", {"text": f"word{n}"}) for n in range(8)))
        await store.adelete(facts, "k0")
        assert await store.aget(facts, "k0") is None
        assert await store.alist_namespaces() == [facts]
        (first,) = await store.asearch(facts, query="word3", filter={"text": "word3"}, limit=1)
        return [first.key, *sorted(item.key for item in await store.asearch(facts, limit=50))]

    assert asyncio.run(use()) == ["k3", *(f"k{n}" for n in range(1, 8))]


# ---- what is ours ---------------------------------------------------------------------------------


def test_of_several_at_once_nothing_is_lost(longterm: LongTerm) -> None:
    store = UserStore(longterm, user="ann")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: store.put(("ann", "facts"), f"k{n}", {"text": f"word{n}"}), range(40)))
    assert len(store.search(("ann",), limit=100)) == 40


def test_it_shows_what_the_talk_leaves_and_the_talk_finds_what_is_put(longterm: LongTerm) -> None:
    store = UserStore(longterm, user="ann")
    longterm.tell("ann", [fact(1, "Ben lives in Oslo.", thread="trip")])
    longterm.put(
        "ann", [fact(2, "gone", status="deleted"), fact(3, "old", status="former"), experience(1, "x")]
    )
    longterm.put("ann", [unit(1, "a hotel")])
    found = {item.key: (item.namespace[1], item.value) for item in store.search(())}
    assert found["f1"] == ("facts", {"text": "Ben lives in Oslo.", "thread": "trip"})
    assert found["f3"] == ("facts", {"text": "old", "status": "former"})
    assert found["u1"][0] == "tasks"
    assert found["u1"][1]["pairs"][0]["answer"] == "Bergen"
    assert found.keys() == {"f1", "f3", "u1"}
    assert store.get(("ann", "facts"), "f2") is store.get(("ann", "facts"), "u1") is None
    store.put(("ann", "facts"), "k", {"text": "Deploy only on Tuesdays."})
    assert [hit.record.id for hit in longterm.like("ann", "deploy tuesdays", limit=1)] == ["k"]
    store.delete(("ann", "facts"), "u1")  # it is a task
    store.delete(("ann", "tasks"), "u1")
    assert store.list_namespaces() == [("ann", "facts")]


def test_a_user_reads_and_writes_what_is_theirs_and_nothing_else(
    longterm: LongTerm, subtests: pytest.Subtests
) -> None:
    ann, bob = (UserStore(longterm, user=user) for user in ("ann", "bob"))
    ann.put((*ann.namespace, "facts"), "k", {"text": "secret"})
    assert bob.get(("bob", "facts"), "k") is None
    assert bob.search(()) == bob.search(("bob",), query="secret") == []
    assert bob.list_namespaces(prefix=("ann",)) == bob.list_namespaces(prefix=("*",)) == []
    bob.delete(("bob", "facts"), "k")
    ways: dict[str, Callable[[], Any]] = {
        "get": lambda: bob.get(("ann", "facts"), "k"),
        "search": lambda: bob.search(("ann",)),
        "search deeper": lambda: bob.search(("ann", "facts"), query="secret"),
        "put": lambda: bob.put(("ann", "facts"), "k", {"text": "forged"}),
        "delete": lambda: bob.delete(("ann", "facts"), "k"),
        "batch": lambda: bob.batch([GetOp(("ann", "facts"), "k")]),
    }
    for name, way in ways.items():
        with subtests.test(name), pytest.raises(UnfitError, match="there is no namespace"):
            way()
    assert [item.value for item in ann.search(())] == [{"text": "secret"}]
    with pytest.raises(ValueError, match="a user must be a text"):
        UserStore(longterm, user="")


def test_users_of_any_name_have_a_namespace_of_their_own(longterm: LongTerm) -> None:
    names = ["ann@example.com", "ann@example%2Ecom", "langgraph", "%6Canggraph", "a\0b", "a b", "ä", "*"]
    stores = [UserStore(longterm, user=name) for name in names]
    assert len({store.namespace for store in stores}) == len(names)
    for store, name in zip(stores, names, strict=True):
        store.put((*store.namespace, "facts"), "k", {"text": name.replace("\0", "")})
    for store, name in zip(stores, names, strict=True):
        (item,) = store.search(store.namespace)
        assert item.value == {"text": name.replace("\0", "")}


def test_what_does_not_fit_is_refused_and_leaves_all_as_it_was(
    longterm: LongTerm, subtests: pytest.Subtests
) -> None:
    store, facts = UserStore(longterm, user="ann"), ("ann", "facts")
    longterm.put("ann", [unit(1, "a hotel")])
    store.put(facts, "k", {"text": "before"})
    before = store.search(())
    good = {"text": "x"}

    def put(value: dict[str, Any], key: str = "k") -> Callable[[], Any]:
        return lambda: store.put(facts, key, value)

    cases: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
        ("ttl", lambda: store.put(facts, "k", good, ttl=5), NotImplementedError, "TTL is not supported"),
        ("ttl in a batch", lambda: store.batch([PutOp(facts, "k", good, ttl=5)]), UnfitError, "time to live"),
        ("index", lambda: store.put(facts, "k", good, index=["text"]), UnfitError, "leave index out"),
        ("no index", lambda: store.put(facts, "k", good, index=False), UnfitError, "leave index out"),
        ("fields", put({**good, "mood": {"a": 1}}), UnfitError, "no 'mood', only text"),
        ("no text", put({"value": "x"}), UnfitError, "text: Field required"),
        ("empty text", put({"text": ""}), UnfitError, "text: String should have"),
        ("a number", put({"text": 5}), UnfitError, "text: Input should be a valid string"),
        ("nested", put({**good, "people": [["Mia"]]}), UnfitError, "people"),
        ("empty", put({**good, "people": []}), UnfitError, "leave out what is empty"),
        ("null", put({**good, "slot": None}), UnfitError, "leave out what is empty"),
        ("huge", put({"text": "x" * 20_001}), UnfitError, "20,001 characters"),
        ("half a character", put({"text": "\ud800"}), UnfitError, "text"),
        ("tasks", lambda: store.put(("ann", "tasks"), "k", good), UnfitError, "tasks come from the talk"),
        ("a task's key", put(good, "u1"), UnfitError, "the key of a task"),
        ("a key", put(good, "a\nb"), UnfitError, "control character"),
        ("no key", put(good, ""), UnfitError, "1 to 200"),
        ("a long key", put(good, "k" * 201), UnfitError, "1 to 200"),
        ("deeper", lambda: store.put((*facts, "work"), "k", good), UnfitError, "no namespace"),
        ("a prefix", lambda: store.get(("ann",), "k"), UnfitError, "no namespace"),
        (
            "a batch",
            lambda: store.batch([PutOp(facts, "n", good), PutOp(facts, "k", {})]),
            UnfitError,
            "text",
        ),
        ("a label", lambda: store.put(("a.b",), "k", good), ValueError, "periods"),
    ]
    for name, way, error, words in cases:
        with subtests.test(name), pytest.raises(error, match=words):
            way()
        assert store.search(()) == before, name


@given(
    st.fixed_dictionaries(
        {"text": st.text(max_size=40)},
        optional={
            "people": st.lists(st.text(max_size=5), max_size=3),
            "subject": st.text(max_size=9) | st.none(),
            "slot": st.text(max_size=9) | st.none(),
            "value": st.text(max_size=9) | st.integers(),
            "other": st.none(),
        },
    )
)
def test_what_is_taken_is_given_back(value: dict[str, Any]) -> None:
    try:
        fact = _fact("k", value)
    except UnfitError:
        return
    assert _value(fact) == value


def test_it_lasts_and_what_is_deleted_is_in_no_file(tmp_path: Path) -> None:
    for _ in range(2):
        longterm = longterm_in(tmp_path, "chroma")
        store = UserStore(longterm, user="ann")
        store.put(("ann", "facts"), "kept", {"text": "Periwinkle stays."})
        store.put(("ann", "facts"), "gone", {"text": "Xylophone goes."})
        longterm.close()
    longterm = longterm_in(tmp_path, "chroma")
    store = UserStore(longterm, user="ann")
    assert len(store.search(())) == 2
    store.delete(("ann", "facts"), "gone")
    longterm.close()
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Periwinkle" in files
    assert b"Xylophone" not in files


def test_the_nodes_of_a_graph_use_it(longterm: LongTerm) -> None:
    class State(TypedDict):
        said: str
        found: list[str]

    def node(state: State, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(("ann", "facts"), "k", {"text": state["said"]})
        return {"found": [item.value["text"] for item in runtime.store.search(("ann",), query="harbour")]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(store=UserStore(longterm, user="ann"))
    assert graph.invoke({"said": "The harbour sells fish.", "found": []})["found"] == [
        "The harbour sells fish."
    ]
