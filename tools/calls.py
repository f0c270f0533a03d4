"""One call of a tool: bounded in time, tried again where that may help, with its result as text."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from inspect import iscoroutinefunction, unwrap
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphInterrupt
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from .errors import INTERRUPT, TimeLimitError, ToolError, TransientError, stopped_to_ask
from .registry import INJECTED, Equipped
from .shared import Shared

SHOWN = 2_000  # characters of a result that are shown; the whole of a longer one is a shared variable
NOTHING = "done"  # the text of a result that says nothing
BACKOFF = 0.2  # seconds before the second attempt, doubled for each further one
TRANSIENT = (TransientError, ConnectionError)
# What would end the caller and not the tool; Ctrl-C itself is not raised in the thread of a tool.
ENDINGS = (SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)

_log = logging.getLogger(__name__)


class Result(BaseModel):
    """The result of a call.

    text: the result, or what went wrong, for the user and the model. whole: name of the shared variable that
    holds all of a result that is too long to be shown.
    """

    model_config = ConfigDict(frozen=True)
    status: Literal["done", "failed"]
    text: str
    whole: str | None = None
    seconds: float = 0.0
    attempts: int = 1


def call(
    equipped: Equipped,
    args: Mapping[str, Any],
    *,
    shared: Shared,
    completed: Iterable[str] = (),
    key: str = "",
    config: RunnableConfig | None = None,
    seconds: float | None = None,
) -> Result:
    """Call a tool; an error that it raises becomes a result.

    Args:
        equipped: the tool.
        args: its parameters.
        shared: the shared variables, for a tool that has a parameter of that name.
        completed: what was completed before, a line each, for an inner agent.
        key: identifies this call permanently; a tool with side effects may take it as `idempotency_key`.
        config: of the run that it is part of.
        seconds: how long it may take in all, where that is less than the tool's own limit.

    Returns:
        The result. A call over its time is stopped if it is asynchronous, else left behind in a thread that
        does not keep the process alive; it counts as failed. A tool with side effects whose result cannot be
        read was called all the same: it counts as done.
    """
    begun, attempts = time.monotonic(), 0
    limit = min(equipped.timeout, seconds) if seconds is not None else equipped.timeout
    filled = dict(zip(INJECTED, (shared, tuple(completed), key), strict=True))
    given = {**args, **{name: filled[name] for name in equipped.hidden()}}

    def attempt() -> Any:
        nonlocal attempts
        attempts += 1
        left = limit - (time.monotonic() - begun)
        if left <= 0:
            raise TimeLimitError(f"there was no time left for {equipped.name}")
        return _bounded(equipped, given, left, limit, config)

    tries = Retrying(
        retry=retry_if_exception_type(TRANSIENT),
        stop=stop_after_attempt(equipped.attempts) | stop_before_delay(limit),
        wait=wait_random_exponential(BACKOFF, max=5), reraise=True,
    )  # fmt: skip
    try:
        value = tries(attempt)
        text = _worded(equipped, value)
    except Exception as error:  # noqa: BLE001  a tool is anybody's code
        if isinstance(error, GraphInterrupt):
            error = stopped_to_ask(error.args[0] if error.args else ())
        _log.info("%s failed", equipped.name, exc_info=error)
        spent = time.monotonic() - begun
        return Result(status="failed", text=error_text(error), seconds=spent, attempts=max(attempts, 1))
    whole = None
    if len(text) > SHOWN:
        whole, text = _cut(equipped, text, shared)
    return Result(status="done", text=text, whole=whole, seconds=time.monotonic() - begun, attempts=attempts)


def _worded(equipped: Equipped, value: Any) -> str:
    """A result as text that is not empty."""
    if isinstance(value, Mapping) and value.get(INTERRUPT):
        raise stopped_to_ask(value[INTERRUPT])
    try:
        text = NOTHING if value is None else as_text(value)
    except ToolError as error:
        if not equipped.side_effects:
            raise
        return f"done, but {error}"
    return _storable(text) if text.strip() else NOTHING


def _storable(text: str) -> str:
    """A text without lone surrogates, which no checkpoint holds."""
    return text.encode("utf-8", "replace").decode()


def _cut(equipped: Equipped, text: str, shared: Shared) -> tuple[str | None, str]:
    """The name of the shared variable that holds all of a long result, and its beginning."""
    try:
        whole = shared.keep(equipped.name, text)
    except ToolError:
        return None, f"{text[:SHOWN]}… (of {len(text):,} characters, which are too many to be kept)"
    return whole, f"{text[:SHOWN]}… (all {len(text):,} characters: shared variable {whole})"


def _bounded(
    equipped: Equipped, args: Mapping[str, Any], seconds: float, limit: float, config: RunnableConfig | None
) -> Any:
    """The tool's result, within a time limit."""
    outcome: dict[str, Any] = {}
    tool, finished, begun = equipped.tool, threading.Event(), time.monotonic()

    def run() -> None:
        try:
            if _asynchronous(tool):
                work = tool.ainvoke(dict(args), config)
                outcome["value"] = asyncio.run(asyncio.wait_for(work, seconds))
            else:
                outcome["value"] = tool.invoke(dict(args), config)
        except BaseException as error:  # noqa: BLE001  it is raised again where the result is wanted
            outcome["error"] = error
        finally:
            finished.set()

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name=f"tool-{equipped.name}", daemon=True).start()
    late = TimeLimitError(f"{equipped.name} took longer than {limit:g} s")
    if not finished.wait(seconds + 0.1):
        raise late
    error = outcome.get("error")
    if isinstance(error, TimeoutError) and time.monotonic() - begun >= seconds:
        raise late from error
    if isinstance(error, ENDINGS):
        raise ToolError(error_text(error)) from error
    if error is not None:
        raise error
    return outcome["value"]


def _asynchronous(tool: BaseTool) -> bool:
    """Whether a tool has nothing but a coroutine function, so that a call can be cancelled."""
    return isinstance(tool, StructuredTool) and (
        tool.func is None or iscoroutinefunction(unwrap(tool.func))  # `functions.function_tool` wraps it
    )


def as_text(value: Any) -> str:
    """A result as text: text as it is, models and plain data as JSON.

    Raises:
        ToolError: it is neither.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"the result is neither text nor JSON: {error}") from error


_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return _ANYTHING.dump_python(value, mode="json")


def validated(equipped: Equipped, args: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that the tool takes.

    Raises:
        ToolError: some do not fit, or are missing or unknown; all of them are named.
    """
    schema, shape = equipped.tool.tool_call_schema, equipped.parameters()
    closed = "properties" in shape and not _OPEN & shape.keys()
    known = {name: value for name, value in args.items() if name in shape["properties"]} if closed else args
    unknown = [name for name in args if name not in known]
    found = [f"{equipped.name} has no parameter {', '.join(unknown)}"] if unknown else []
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        try:
            schema.model_validate(known)
        except ValidationError as error:
            found.append(faults(error))
    else:
        found += _misfits(equipped.name, shape, known)
    if found:
        raise ToolError("; ".join(found))
    return dict(args)


def _misfits(name: str, shape: dict[str, Any], args: Mapping[str, Any]) -> list[str]:
    """Where parameters do not fit a JSON Schema."""
    from jsonschema.validators import validator_for  # with what it imports, no chat without tools needs it
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    # An empty registry: a schema from a server may not have others fetched.
    validator = validator_for(shape)(shape, registry=Registry())
    try:
        return [
            f"{'.'.join(map(str, error.absolute_path)) or 'it'}: {error.message}"
            for error in validator.iter_errors(dict(args))
        ]
    except (Unresolvable, RecursionError):
        return [f"the schema of {name} has a reference that leads nowhere"]


# Where a JSON Schema says itself, or cannot easily be asked, which names it knows beside its properties.
_OPEN = {
    "additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref"
}  # fmt: skip


def error_text(error: BaseException) -> str:
    """An error in words; one raised by a tool's own code is given with the name of its class."""
    if isinstance(error, ValidationError):
        return faults(error)
    text = _storable(" ".join(str(error).split())[:500])
    if isinstance(error, ToolError | ToolException):
        return text or type(error).__name__
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def faults(error: ValidationError) -> str:
    """The faults of some parameters, each by name."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    )
