"""Shared variables: JSON that a checkpoint gives back as it was, from several threads at once; templates."""

from __future__ import annotations

import json
import threading
from string import ascii_letters
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from taskloom.agent.turn.state import merge_shared
from taskloom.tools.errors import ToolError
from taskloom.tools.shared import DEPTH, SIZE, Shared, fill

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,63}", fullmatch=True)
PLAIN = st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | PLAIN | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
VALUES = JSON.filter(lambda value: value is not None)


def nested(depth: int) -> Any:
    value: Any = 1
    for number in range(depth):
        value = [value] if number % 2 else {"x": value}
    return value


# ---- values ---------------------------------------------------------------------------------------


@given(NAMES, VALUES)
def test_what_is_set_is_read_and_survives_a_checkpoint(name: str, value: Any) -> None:
    shared = Shared()
    shared[name] = value
    assert shared[name] == value
    assert json.loads(json.dumps(shared[name])) == value
    serde = JsonPlusSerializer()
    assert serde.loads_typed(serde.dumps_typed(shared.changes())) == {name: value}


@given(st.text(st.characters(codec=None)))
def test_any_text_is_read_as_a_checkpoint_gives_it(text: str) -> None:
    shared, serde = Shared({}), JsonPlusSerializer()
    shared["text"] = {text: [text]}
    assert serde.loads_typed(serde.dumps_typed(shared["text"])) == shared["text"]


def test_what_is_read_is_a_copy() -> None:
    given: list[Any] = [1, {"x": 2}]
    shared = Shared({"was": [0]})
    shared["list"] = given
    given.append(3)
    for name in ("list", "was"):
        before = list(shared[name])
        shared[name].append(4)
        assert shared[name] == before
    for value in shared.values():
        value.clear()
    assert dict(shared) == {"was": [0], "list": [1, {"x": 2}]}


def test_other_data_become_the_json_that_they_are() -> None:
    shared = Shared()
    shared["x"] = {1: (2, 3)}
    assert shared["x"] == {"1": [2, 3]}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (object(), "not JSON serializable"),
        ({1, 2}, "not JSON serializable"),
        ({(1, 2): 3}, "keys must be"),
        (float("nan"), "not JSON compliant"),
        ([float("-inf")], "not JSON compliant"),
        (2**64, "more than 64 bits"),
        ([{"x": -(2**63) - 1}], "more than 64 bits"),
        ([10**5000], "limit"),
        (nested(DEPTH + 1), f"more than {DEPTH} deep"),
        (nested(5_000), "recursion"),
        ("x" * (SIZE - 1), f"{SIZE + 1:,} characters, {SIZE:,} are allowed"),
    ],
)
def test_what_cannot_be_kept(value: Any, told: str) -> None:
    shared = Shared({"x": 1})
    with pytest.raises(ToolError, match="the shared variable x cannot be kept as JSON") as error:
        shared["x"] = value
    assert told in str(error.value)
    assert dict(shared) == {"x": 1}
    assert shared.changes() == {}


def test_as_much_as_is_allowed() -> None:
    shared = Shared()
    shared["text"], shared["deep"], shared["small"] = "x" * (SIZE - 2), nested(DEPTH), -(2**63)
    assert len(shared["text"]) == SIZE - 2
    serde = JsonPlusSerializer()
    assert serde.loads_typed(serde.dumps_typed(shared.changes())) == dict(shared)


def test_circles_are_told() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ToolError, match="Circular reference"):
        Shared()["x"] = circle


# ---- names ----------------------------------------------------------------------------------------


@given(st.text(max_size=70))
def test_a_name_is_a_word(name: str) -> None:
    shared = Shared()
    if name[:1] in set(ascii_letters) | {"_"} and len(name) <= 64 and name.replace("_", "a").isalnum():
        shared[name] = 1
        assert fill(f"<{name}>", shared) == "1"
        return
    with pytest.raises(ToolError, match="cannot name a shared variable: letters, digits and _ only"):
        shared[name] = 1
    assert name not in shared


@pytest.mark.parametrize("name", ["", "1x", "a b", "a.b", "a-b", "x" * 65, "a\n", "<a>"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ToolError, match="cannot name"):
        Shared()[name] = 1


# ---- the mapping ----------------------------------------------------------------------------------

STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.just("delete") | PLAIN), max_size=20)


@given(st.dictionaries(st.sampled_from("abc"), PLAIN), STEPS)
def test_it_is_a_dict_and_its_changes_make_another_one_equal(
    begin: dict[str, Any], steps: list[tuple[str, Any]]
) -> None:
    shared, model = Shared(begin), dict(begin)
    for name, value in steps:
        if value is None:
            shared[name] = None
            model.pop(name, None)
        elif value != "delete":
            shared[name] = model[name] = value
        elif name in model:
            del shared[name], model[name]
        else:
            with pytest.raises(KeyError):
                del shared[name]
        assert dict(shared) == model
        assert (len(shared), list(shared)) == (len(model), list(model))
    changes = shared.changes()
    assert {name for name in "abc" if begin.get(name) != model.get(name)} <= changes.keys()
    other = Shared(begin)
    other.restore(changes)
    assert dict(other) == model
    assert merge_shared(begin, [changes]) == model  # the channel of the graph does the same


def test_restoring_does_not_undo_what_was_written_since() -> None:
    shared = Shared({"a": 1})
    shared["b"] = 2
    shared.restore({"a": None, "b": 1, "c": 3})
    assert dict(shared) == {"b": 2, "c": 3}


def test_results_are_kept_under_free_names() -> None:
    shared = Shared({"search_1": "old"})
    assert [shared.keep("search", number) for number in (7, 8)] == ["search_2", "search_3"]
    assert shared.keep("my-tool!", 1) == "my_tool__1"
    assert shared.keep("2nd", 1) == "v_2nd_1"
    assert shared.keep("", 1) == "v__1"
    assert shared.keep("x" * 200, 1) == f"{'x' * 50}_1"
    with pytest.raises(ToolError):
        shared.keep("search", object())
    assert shared.changes().keys() == set(shared) - {"search_1"}


# ---- threads --------------------------------------------------------------------------------------


def together(work: Any, count: int = 8) -> None:
    """Do some work in several threads at once; what it raises is raised here."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def test_names_are_given_once_though_many_ask() -> None:
    shared = Shared()
    together(lambda number: [shared.keep("it", number) for _ in range(50)])
    assert len(shared) == 400
    assert sorted(shared.values()) == sorted(list(range(8)) * 50)


def test_reading_and_writing_under_the_guard_loses_nothing() -> None:
    shared = Shared({"count": 0})

    def add(number: int) -> None:
        for _ in range(100):
            with shared.guard:
                shared["count"] = shared["count"] + 1

    together(add)
    assert shared["count"] == 800


def test_reading_goes_on_while_others_write_and_restore() -> None:
    shared = Shared({"x": [0] * 50})

    def work(number: int) -> None:
        for turn in range(200):
            if number == 0:
                shared.restore({f"n{turn}": turn, "gone": None})
            elif number == 1:
                shared.keep("it", turn)
                shared.changes()
            else:
                assert None not in dict(shared).values()
                assert shared["x"] == [0] * 50

    together(work)


# ---- templates ------------------------------------------------------------------------------------


@given(st.dictionaries(NAMES, JSON, max_size=4), st.text())
def test_filling_puts_each_value_in_once(values: dict[str, Any], end: str) -> None:
    end = end.replace("<", "")
    template = "".join(f"<{name}>;" for name in values) + end
    told = "".join(f"{json.dumps(value, ensure_ascii=False)};" for value in values.values())
    assert fill(template, values, limit=10**6) == told + end


def test_values_are_not_templates() -> None:
    assert fill("<a> <b>", {"a": "<b>", "b": "<a>"}) == '"<b>" "<a>"'
    assert fill(r"<a>", {"a": r"\1 \g<0>"}) == r'"\\1 \\g<0>"'


def test_other_angles_are_text() -> None:
    assert fill("1 < 2 > 0 <3> < a> <a b> <>", {}) == "1 < 2 > 0 <3> < a> <a b> <>"


def test_long_values_are_cut() -> None:
    assert fill("<a>.", {"a": "x" * 1000}) == f'"{"x" * 499}….'
    assert fill("<a>", {"a": [1, 2, 3]}, limit=3) == "[1,…"


def test_all_missing_names_are_told_once() -> None:
    with pytest.raises(ToolError, match=r"that are not set: b, c$"):
        fill("<b> <a> <c> <b>", {"a": 1})


def test_a_template_is_filled_from_shared_variables() -> None:
    assert fill("The budget is <budget>.", Shared({"budget": 500})) == "The budget is 500."
