"""One call of a tool: retries, time limits, results of any kind, parameters that do not fit."""

import asyncio
import dataclasses
import json
import math
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import InjectedToolArg, StructuredTool, ToolException
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, Field

from taskloom.tools.calls import NOTHING, SHOWN, Result, as_text, call, validated
from taskloom.tools.errors import NotAllowedError, TimeLimitError, ToolError, TransientError
from taskloom.tools.registry import Equipped, equip
from taskloom.tools.shared import SIZE, Shared, SharedVariables

MCP_SERVER = Path(__file__).with_name("mcp_server.py")


def tool(function: Callable[..., Any], **more: Any) -> Equipped:
    """A tool without parameters from any function."""
    if asyncio.iscoroutinefunction(function):
        made = StructuredTool.from_function(coroutine=function, name="it", description="Do it.")
    else:
        made = StructuredTool.from_function(function, name="it", description="Do it.")
    return equip(made, **more)


def gives(value: Any, **more: Any) -> Equipped:
    return tool(lambda: value, **more)


def called(equipped: Equipped, **more: Any) -> Result:
    return call(equipped, {}, shared=Shared(), **more)


class Broken:
    """Fails so often, then works."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.calls = list(errors), 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "went through"


# ---- retries --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [TransientError("busy"), ConnectionResetError("reset"), BrokenPipeError()])
def test_transient_errors_are_tried_again(error: Exception) -> None:
    broken = Broken(error, error)
    result = called(tool(lambda: broken()))
    assert (result.status, result.text, result.attempts, broken.calls) == ("done", "went through", 3, 3)


@given(st.integers(0, 4), st.integers(1, 3))
def test_so_often_and_no_more(failures: int, attempts: int) -> None:
    broken = Broken(*[TransientError("busy")] * failures)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("taskloom.tools.calls.BACKOFF", 0.0001)
        result = called(tool(lambda: broken(), attempts=attempts))
    assert broken.calls == result.attempts == min(failures + 1, attempts)
    assert result.status == ("done" if failures < attempts else "failed")
    assert result.text == ("went through" if failures < attempts else "busy")


def test_side_effects_are_tried_once() -> None:
    broken = Broken(TransientError("busy"))
    result = called(tool(lambda: broken(), side_effects=True, attempts=3))
    assert (result.status, result.text, broken.calls) == ("failed", "busy", 1)


@pytest.mark.parametrize("kind", [ToolError, NotAllowedError, ValueError, TimeoutError])
def test_other_errors_are_not_tried_again(kind: type[Exception]) -> None:
    broken = Broken(kind("no"))
    assert called(tool(lambda: broken())).status == "failed"
    assert broken.calls == 1


def test_no_attempt_begins_after_the_time() -> None:
    broken = Broken(*[TransientError("busy")] * 9)
    result = called(tool(lambda: broken(), timeout=0.3, attempts=9))
    assert result.text == "busy"  # and not that it took too long, which is not what is wrong
    assert result.seconds < 0.5
    assert broken.calls < 9


# ---- time -----------------------------------------------------------------------------------------


def test_a_call_over_its_time_fails() -> None:
    result = called(tool(lambda: time.sleep(5), timeout=0.1))
    assert (result.status, result.text) == ("failed", "it took longer than 0.1 s")
    assert result.seconds < 1


def test_the_shorter_time_counts() -> None:
    slow = tool(lambda: time.sleep(5), timeout=3)
    assert called(slow, seconds=0.1).text == "it took longer than 0.1 s"
    assert called(tool(lambda: time.sleep(5), timeout=0.1), seconds=60).text == "it took longer than 0.1 s"
    assert called(slow, seconds=-2).text == "there was no time left for it"


def endless(log: list[str]) -> Callable[[], Any]:
    async def wait() -> str:
        """Wait for ever."""
        log.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return "never"

    return wait


@pytest.mark.parametrize("kind", ["langchain", "function"])
def test_an_asynchronous_call_is_cancelled(kind: str) -> None:
    log: list[str] = []
    wait = endless(log)
    result = called(tool(wait, timeout=0.2) if kind == "langchain" else equip(wait, timeout=0.2))
    assert result.text.endswith("took longer than 0.2 s")
    assert log == ["begun", "cancelled"]
    time.sleep(0.05)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tool-wait")]


def test_an_asynchronous_call_works_where_a_loop_runs() -> None:
    async def quick() -> str:
        """Be quick."""
        await asyncio.sleep(0)
        return "here"

    async def host() -> Result:
        return called(equip(quick))

    assert asyncio.run(host()).text == "here"


def test_one_that_does_not_let_itself_be_cancelled_is_left_behind() -> None:
    stop = threading.Event()

    async def stubborn() -> str:
        """Go on."""
        stop.wait(60)
        return "late"

    begun = time.monotonic()
    assert called(equip(stubborn, timeout=0.1)).text == "stubborn took longer than 0.1 s"
    assert time.monotonic() - begun < 30
    stop.set()


def test_a_time_limit_of_the_tool_itself_is_told_as_its_own() -> None:
    def patient() -> str:
        raise TimeoutError("the server said nothing for 2 s")

    async def waiting() -> str:
        """Wait."""
        raise TimeoutError("the server said nothing for 2 s")

    for one in (tool(patient), equip(waiting)):
        assert called(one).text == "TimeoutError: the server said nothing for 2 s"
    late = Broken(TimeLimitError("the page took 20 s"))
    assert called(tool(lambda: late())).text == "the page took 20 s"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_hung_call_does_not_keep_the_process_alive(kind: str) -> None:
    code = f"""
        import threading
        from taskloom.tools.calls import call
        from taskloom.tools.registry import equip
        from taskloom.tools.shared import Shared

        {kind} hang() -> str:
            '''Hang.'''
            threading.Event().wait()
            return ""

        print(call(equip(hang, timeout=0.2), {{}}, shared=Shared()).text, flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "hang took longer than 0.2 s\n"


# ---- whatever it raises ---------------------------------------------------------------------------


class SoldOut(Exception):
    """What a stranger's code may raise."""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError("the shop is shut"), "the shop is shut"),
        (ToolException("it said no"), "it said no"),
        (ToolError(""), "ToolError"),
        (ValueError("bad\n  value"), "ValueError: bad value"),
        (KeyError("price"), "KeyError: 'price'"),
        (SoldOut(), "SoldOut"),
        (ValueError("x" * 5000), f"ValueError: {'x' * 500}"),
        (ValueError("a\ud800b"), "ValueError: a?b"),
        (ExceptionGroup("two", [ValueError("x")]), "ExceptionGroup: two (1 sub-exception)"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (asyncio.CancelledError(), "CancelledError"),
        (MemoryError(), "MemoryError"),
        (StopIteration(1), "StopIteration: 1"),
    ],
)
def test_whatever_it_raises_is_a_result(error: BaseException, told: str) -> None:
    def fail() -> str:
        raise error

    result = called(tool(fail))
    assert (result.status, result.text, result.attempts) == ("failed", told, 1)


def test_what_is_no_error_at_all_is_passed_on() -> None:
    class Halt(BaseException):
        """A host's own way to stop everything."""

    def halt() -> str:
        raise Halt

    with pytest.raises(Halt):
        called(tool(halt))


def test_an_asynchronous_call_that_ends_the_process_does_not() -> None:
    async def leave() -> str:
        """Leave."""
        sys.exit(4)

    assert called(equip(leave)).text == "SystemExit: 4"


def test_endless_recursion_is_a_result() -> None:
    def again() -> str:
        return again()

    assert called(tool(again)).text.startswith("RecursionError: ")


# ---- results --------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_comes_as_json(value: Any) -> None:
    text = as_text(value)
    assert text == value if isinstance(value, str) else json.loads(text) == value


class Color(Enum):
    RED = "red"


class Offer(BaseModel):
    day: date
    price: Decimal


@dataclasses.dataclass
class Seat:
    row: int
    day: date


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Grüße ☃", "Grüße ☃"), (["ü"], '["ü"]'), (True, "true"), (3.5, "3.5"), (10**30, "1" + "0" * 30),
        ((1, 2), "[1, 2]"), (date(2026, 5, 1), '"2026-05-01"'), (timedelta(hours=2), '"PT2H"'),
        (datetime(2026, 5, 1, 12, tzinfo=UTC), '"2026-05-01T12:00:00Z"'),
        ({3, 1, 2}, "[1, 2, 3]"), (frozenset({"b", "a"}), '["a", "b"]'), ({"x": {2}}, '{"x": [2]}'),
        (Offer(day=date(2026, 5, 1), price=Decimal("9.50")), '{"day": "2026-05-01", "price": "9.50"}'),
        ([Offer(day=date(2026, 5, 1), price=Decimal(9))], '[{"day": "2026-05-01", "price": "9"}]'),
        (Seat(3, date(2026, 5, 1)), '{"row": 3, "day": "2026-05-01"}'), (Color.RED, '"red"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'), (Path("/x"), '"/x"'), (b"abc", '"abc"'),
        (math.inf, "Infinity"),
    ],
)  # fmt: skip
def test_what_else_can_be_text(value: Any, told: str) -> None:
    assert as_text(value) == told


@pytest.mark.parametrize("value", [object(), Shared, {"x": object()}, threading.Lock(), {(1, 2): 3}])
def test_what_is_neither_text_nor_json(value: Any) -> None:
    with pytest.raises(ToolError, match="the result is neither text nor JSON"):
        as_text(value)
    assert called(gives(value)).status == "failed"


def circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def test_circles_and_depths_are_told() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (circle(), deep):
        assert called(gives(value)).text.startswith("the result is neither text nor JSON: ")


def test_side_effects_are_done_though_their_result_cannot_be_read() -> None:
    result = called(gives(object(), side_effects=True))
    assert result.status == "done"
    assert result.text.startswith("done, but the result is neither text nor JSON: ")


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_result_that_says_nothing(value: Any) -> None:
    result = called(gives(value))
    assert (result.status, result.text) == ("done", NOTHING)


@given(st.text(st.characters(codec=None), min_size=1))
def test_a_result_can_be_stored(text: str) -> None:
    serde, told = JsonPlusSerializer(), called(gives(text)).text
    assert serde.loads_typed(serde.dumps_typed(told)) == told


@pytest.mark.parametrize("length", [SHOWN, SHOWN + 1, 100_000])
def test_long_results_are_kept_whole(length: int) -> None:
    shared, text = Shared(), "".join(map(str, range(length)))[:length]
    for number in (1, 2):
        result = call(gives(text), {}, shared=shared)
        if length == SHOWN:
            assert (result.text, result.whole, len(shared)) == (text, None, 0)
            continue
        assert result.whole == f"it_{number}"
        assert shared[result.whole] == text
        assert result.text.startswith(text[:SHOWN])
        assert result.text.endswith(f"… (all {length:,} characters: shared variable it_{number})")


def test_a_result_too_long_to_be_kept_is_done_all_the_same() -> None:
    shared = Shared()
    result = call(gives("x" * (SIZE + 1), side_effects=True), {}, shared=shared)
    assert (result.status, result.whole, len(shared)) == ("done", None, 0)
    assert result.text.endswith(f"… (of {SIZE + 1:,} characters, which are too many to be kept)")


def test_shared_variables_are_read_and_written_by_reference() -> None:
    def count(shared: SharedVariables) -> int:
        """Count."""
        with shared.guard:
            shared["calls"] = shared.get("calls", 0) + 1
            return int(shared["calls"])

    shared, one = Shared(), equip(count)
    assert [call(one, {}, shared=shared).text for _ in range(3)] == ["1", "2", "3"]
    assert shared["calls"] == 3


def test_the_key_of_a_call_reaches_the_tool() -> None:
    keys: list[str] = []

    def pay(amount: int, idempotency_key: Annotated[str, InjectedToolArg]) -> str:
        """Pay."""
        keys.append(idempotency_key)
        if len(keys) < 2:
            raise TransientError("busy")
        return "paid"

    assert call(equip(pay), {"amount": 3}, shared=Shared(), key="k1").text == "paid"
    assert keys == ["k1", "k1"]


# ---- parameters -----------------------------------------------------------------------------------


def book(day: date, guests: Annotated[int, Field(ge=1)], room: str = "hall") -> str:
    """Book a room."""
    return f"{day} {guests} {room}"


REMOTE = {
    "type": "object",
    "properties": {
        "day": {"type": "string"}, "guests": {"type": "integer", "minimum": 1}, "room": {"type": "string"},
    },
    "required": ["day", "guests"],
}  # fmt: skip


def remote(schema: dict[str, Any]) -> Equipped:
    made = StructuredTool.from_function(
        func=lambda **given: str(given), name="book", description="Book a room.", args_schema=schema
    )
    return equip(made)


@pytest.mark.parametrize("one", [equip(book), remote(REMOTE)], ids=["pydantic", "schema"])
def test_parameters_that_fit(one: Equipped) -> None:
    good = {"day": "2026-05-01", "guests": 2}
    assert validated(one, good) == good
    assert validated(one, {**good, "room": "garden"})["room"] == "garden"
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["day", "guests"]),
        ({"day": "2026-05-01", "guests": 0}, ["guests"]),
        ({"day": 5.5, "guests": "many"}, ["day", "guests"]),
        ({**good, "price": 3, "tip": 1}, ["price, tip"]),
        ({"guests": 0, "price": 3}, ["day", "guests", "price"]),
        ({**good, "room": None}, ["room"]),
    ]
    for wrong, names in cases:
        with pytest.raises(ToolError) as error:
            validated(one, wrong)
        assert [name for name in names if name not in str(error.value)] == [], str(error.value)


def test_a_schema_that_takes_more_than_it_names() -> None:
    opened: list[dict[str, Any]] = [
        {"additionalProperties": True}, {"patternProperties": {"^x": {}}}, {"allOf": [{}]},
    ]  # fmt: skip
    for more in opened:
        assert validated(remote(REMOTE | more), {"day": "x", "guests": 1, "xtra": 2})
    with pytest.raises(ToolError, match="xtra"):
        validated(remote(REMOTE | {"additionalProperties": False}), {"day": "x", "guests": 1, "xtra": 2})
    assert validated(remote({"type": "object"}), {"anything": 1})


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/schema.json", "#/$defs/none", "#/properties/day"])
def test_references_are_not_followed_out_of_a_schema(reference: str) -> None:
    one = remote({"type": "object", "properties": {"day": {"$ref": reference}}})
    with pytest.raises(ToolError, match="the schema of book has a reference that leads nowhere"):
        validated(one, {"day": "x"})


def test_references_within_a_schema_are() -> None:
    defs = {"day": {"enum": ["friday"]}}
    one = remote({"type": "object", "properties": {"day": {"$ref": "#/$defs/day"}}, "$defs": defs})
    assert validated(one, {"day": "friday"})
    with pytest.raises(ToolError, match="day: 'monday' is not one of"):
        validated(one, {"day": "monday"})


def test_parameters_of_a_real_mcp_server() -> None:
    from taskloom.tools.mcp import mcp_tools
    from taskloom.tools.mcp_servers import StdioServer

    server = StdioServer(command=sys.executable, args=(str(MCP_SERVER), "stdio"))
    with mcp_tools({"test": server}) as tools:
        add = next(equip(one) for one in tools if one.name == "add")
        assert call(add, validated(add, {"first": 2, "second": 3}), shared=Shared()).text == "5"
        with pytest.raises(ToolError, match="first: 'two' is not of type 'integer'"):
            validated(add, {"first": "two", "second": 3})
        with pytest.raises(ToolError, match="'second' is a required property"):
            validated(add, {"first": 2})
        with pytest.raises(ToolError, match="add has no parameter third"):
            validated(add, {"first": 2, "second": 3, "third": 4})


def test_parameters_that_do_not_fit_are_a_result_too() -> None:
    result = call(equip(book), {"day": "soon", "guests": 0}, shared=Shared())
    assert result.status == "failed"
    assert result.text.startswith("day: ")
    assert "; guests: " in result.text
