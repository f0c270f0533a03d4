"""Hybrid ranking: what is found, in which order, and what is kept through changes."""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskloom.memory.embed import packaged
from taskloom.memory.ranking import AnyRecord, Corpus, Hit, exact, stems, with_neighbours
from taskloom.memory.records import Experience, Fact, IntentUnit

START = datetime(2026, 3, 1, tzinfo=UTC)


def fact(key: str, text: str, *, turn: int = 0, thread: str = "") -> Fact:
    return Fact(id=key, text=text, at=START + timedelta(hours=turn), turn=turn, thread=thread)


def unit(key: str, intent: str, days: int, *, status: str = "done", thread: str = "t") -> IntentUnit:
    at = START + timedelta(days=days)
    given = {"id": key, "text": intent, "at": at, "intent": intent, "status": status, "thread": thread}
    return IntentUnit.model_validate(given)


def vectors(*rows: list[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def found(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.record.id for hit in hits]


def corpus() -> Corpus:
    made = Corpus()
    records: list[AnyRecord] = [
        fact("cat", "The cat sleeps on the sofa"),
        fact("dog", "The dog sleeps in the garden"),
        Experience(id="tip", text="The dog was fed twice", at=START),
    ]
    made.put(records, vectors([1, 0], [0, 1], [0, 2]))
    return made


def test_words_and_meaning_are_mixed() -> None:
    hits = corpus().search("sleeping", vectors([0, 1])[0])
    assert found(hits) == ["dog", "tip", "cat"]
    assert [hit.dense for hit in hits] == [1, 1, 0]
    assert [hit.lexical for hit in hits] == pytest.approx([hits[0].lexical, 0, hits[0].lexical])
    assert [hit.score for hit in hits] == [1, 0.5, 0.5]


def test_of_equals_the_newest_comes_first() -> None:
    assert found(corpus().search("nothing of it", vectors([1, 1])[0]))[0] == "tip"


def test_a_kind_and_a_limit() -> None:
    held = corpus()
    assert found(held.search("dog", vectors([0, 1])[0], kind="experience")) == ["tip"]
    assert found(held.search("dog", vectors([0, 1])[0], kind="fact", limit=1)) == ["dog"]
    assert held.search("dog", vectors([0, 1])[0], kind="unit") == ()
    assert Corpus().search("dog", vectors([0, 1])[0]) == ()


def test_a_record_is_replaced_by_its_id() -> None:
    held = corpus()
    held.put([fact("cat", "The parrot sings"), fact("cat", "The parrot talks")], vectors([1, 0], [0, 1]))
    assert len(held) == 3
    assert found(held.search("parrot", vectors([0, 1])[0], limit=1)) == ["cat"]
    assert getattr(held.get("cat"), "text", None) == "The parrot talks"
    assert held.search("sofa", vectors([0, 1])[0], limit=1)[0].lexical == 0


def test_what_is_removed_is_not_found() -> None:
    held = corpus()
    held.remove(["cat", "cat", "unknown"])
    assert held.get("cat") is None
    assert "cat" not in found(held.search("cat", vectors([1, 0])[0]))
    assert [record.id for record in held.records()] == ["dog", "tip"]


def test_rows_are_moved_together_when_most_are_gone() -> None:
    held = Corpus()
    held.put([fact(f"f{n}", f"word{n}") for n in range(300)], np.eye(300, dtype=np.float32))
    held.remove([f"f{n}" for n in range(290)])
    assert [record.id for record in held.records()] == [f"f{n}" for n in range(290, 300)]
    assert found(held.search("word295", np.eye(300, dtype=np.float32)[295], limit=1)) == ["f295"]
    held.remove([f"f{n}" for n in range(300)])
    held.put([fact("new", "shorter vectors are welcome in an empty corpus")], vectors([1, 0]))
    assert found(held.search("vectors", vectors([1, 0])[0])) == ["new"]


def test_a_corpus_grows_one_by_one() -> None:
    held = Corpus()
    for n in range(150):
        held.put([fact(f"f{n}", f"word{n}")], np.eye(150, dtype=np.float32)[[n]])
    for n in (0, 63, 64, 149):
        assert held.search("of it", np.eye(150, dtype=np.float32)[n], limit=1)[0].record.id == f"f{n}"


def test_vectors_of_another_size_are_refused() -> None:
    held = corpus()
    with pytest.raises(ValueError, match=r"vectors of 3 numbers do not go with those of 2"):
        held.put([fact("more", "more")], vectors([1, 0, 0]))
    with pytest.raises(ValueError, match=r"a vector of shape \(3,\)"):
        held.search("more", vectors([1, 0, 0])[0])
    with pytest.raises(ValueError, match=r"2 records need as many vectors, got shape \(1, 2\)"):
        held.put([fact("a", "a"), fact("b", "b")], vectors([1, 0]))
    with pytest.raises(ValueError, match="1 records need"):
        held.put([fact("a", "a")], vectors([1, 0])[0])
    held.put([], np.zeros((0, 7), np.float32))
    assert len(held) == 3


def test_texts_without_words_are_kept() -> None:
    held = Corpus()
    held.put([fact("sign", "!?"), fact("none", "the")], vectors([0, 0], [1, 0]))
    assert found(held.search("", vectors([1, 0])[0])) == ["none", "sign"]


def test_the_newest_unit_of_each_intent() -> None:
    held = Corpus()
    units = [unit("a1", "a", 1), unit("a3", "a", 3), unit("a2", "a", 2), unit("b", "b", 1)]
    held.put([*units, unit("a4", "a", 4, status="dropped"), fact("f", "f")], np.eye(6, dtype=np.float32))
    assert {one.id for one in held.newest()} == {"a3", "b"}
    assert held.newest() is held.newest()
    held.remove(["a3"])
    assert {one.id for one in held.newest()} == {"a2", "b"}
    held.put([unit("a5", "a", 5, thread="now")], np.ones((1, 6), np.float32))
    assert {one.id for one in held.newest()} == {"a5", "a2", "b"}


def test_stems_are_the_same_from_many_threads() -> None:
    letters = "abcdefghijklmnoprst"
    texts = [f"{a}{b}{c}ational" for a in letters for b in letters for c in letters]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda text: tuple(stems(text)), texts))
    finally:
        sys.setswitchinterval(usual)
    stemmer = snowballstemmer.stemmer("english")
    assert found == [(stemmer.stemWord(text),) for text in texts]


def test_stems_and_codes() -> None:
    assert stems("The reservations were changed") == ["reserv", "chang"]
    assert stems("order AB-1234!") == ["order", "ab", "1234", "ab-1234"]
    assert stems("Café at 2:30") == ["cafe", "2:30"]


def test_exact_tokens_are_codes_and_names() -> None:
    text = "Did Ada write to ada@example.org about AB-12? Perhaps in Bergen."
    assert exact(text) == ["ada@example.org", "ab-12", "ada", "ab", "bergen"]
    assert exact("Where is it?") == []


def test_neighbours_of_a_good_turn_rise() -> None:
    turns = [fact(f"t{n}", "words", turn=n, thread="a") for n in range(1, 5)] + [fact("u", "words", turn=2)]
    hits = tuple(
        Hit(turn, score, 0.0, 0.0) for turn, score in zip(turns, (0.2, 0.9, 0.1, 0.3, 0.3), strict=True)
    )
    again = with_neighbours(hits, 0.5)
    assert found(again) == ["t2", "t1", "t3", "t4", "u"]
    assert [hit.score for hit in again] == pytest.approx([1.0, 0.65, 0.55, 0.35, 0.3])
    assert with_neighbours(()) == ()


@given(
    st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 9), st.integers(0, 5)), max_size=40)
)
def test_a_corpus_with_a_past_is_as_one_without(changes: list[tuple[str, int, int]]) -> None:
    words = ("red boat", "blue boat", "green house", "red house", "old tree", "new tree")
    lived, model = Corpus(), dict[str, int]()
    for change, key, what in changes:
        if change == "put":
            lived.put([fact(f"f{key}", words[what])], np.eye(6, dtype=np.float32)[[what]])
            model.pop(f"f{key}", None)
            model[f"f{key}"] = what
        else:
            lived.remove([f"f{key}"])
            model.pop(f"f{key}", None)
    fresh = Corpus()
    for key_, what in model.items():
        fresh.put([fact(key_, words[what])], np.eye(6, dtype=np.float32)[[what]])
    query = vectors([0.5, 0.1, 0, 0.3, 0, 0])[0]
    assert lived.records() == fresh.records()
    assert lived.search("a red boat", query) == fresh.search("a red boat", query)


THINGS = ("sofa", "lamp", "bicycle", "kettle", "jacket", "novel", "printer", "guitar", "tent", "camera")
PLACES = ("warehouse", "shop", "office", "garage", "station", "library", "market", "studio")
ASKED = (
    "What became of {token}, has it come?",
    "anything new about {token}",
    "I'd like to hear again how things went with {token} back then.",
    "Could you look up {token} for me please",
)


def test_an_exact_token_is_always_found() -> None:
    """hit@5 of queries in other words that have one exact token in common with one of 2,000 records."""
    chance, embedder = random.Random(11), packaged()
    names = [f"{a}{b}{c}" for a in ("Bar", "Tol", "Mer", "Kas", "Vin") for b in ("do", "li", "ra", "ne")
             for c in ("vic", "sen", "tti", "mar", "lund", "ko", "by", "grad", "fjord", "ham")]  # fmt: skip
    tokens = [
        (
            f"AB-{1000 + n}",
            str(70_000 + n),
            f"buyer{n}@example.org",
            names[n % len(names)] + chr(97 + n // 200),
        )[n % 4]
        for n in range(2000)
    ]
    sentences = [f"The {a} of {{token}} goes to the {b} next week" for a in THINGS for b in PLACES]
    # One vector for each sentence: a token more would hardly change it, and takes 25 times as long.
    base = embedder([sentence.format(token="the customer") for sentence in sentences])
    held = Corpus()
    picks = [chance.randrange(len(sentences)) for _ in tokens]
    held.put(
        [fact(f"f{n}", sentences[pick].format(token=tokens[n])) for n, pick in enumerate(picks)], base[picks]
    )
    queries = [ASKED[n % 4].format(token=tokens[n]) for n in range(0, 2000, 10)]
    queries += [query.lower() for query in queries if "@" in query or "ab-" in query.lower()]
    wanted = [f"f{n}" for n in range(0, 2000, 10)]
    wanted += [f"f{n}" for n in range(0, 2000, 10) if n % 4 in (0, 2)]
    asked = embedder([ASKED[n].format(token="it") for n in range(4)])
    hits = [
        key in found(held.search(query, asked[n % 4], limit=5))
        for n, (query, key) in enumerate(zip(queries, wanted, strict=True))
    ]
    assert len(hits) >= 300
    assert sum(hits) / len(hits) >= 0.99


@pytest.mark.slow
def test_ten_thousand_records_are_searched_quickly() -> None:
    numbers, chance = np.random.default_rng(3), random.Random(3)
    held = Corpus()
    held.put(
        [
            fact(f"f{n}", f"{' '.join(chance.choices(THINGS + PLACES, k=12))} number {n}")
            for n in range(10_000)
        ],
        numbers.normal(size=(10_000, 384)).astype(np.float32),
    )
    spent = []
    for n in range(60):
        start = time.process_time()
        hits = held.search(f"the lamp in the office, number {n}", numbers.normal(size=384).astype(np.float32))
        spent.append(time.process_time() - start)
        assert hits[0].record.id == f"f{n}"
    assert sorted(spent)[57] < 0.03  # 3 ms on an idle machine
