"""Logs of a process of Taskloom's own: a line for each turn, and what goes wrong, as JSON or as text.

An application that embeds Taskloom has its own: this is for the command line and for servers, where a setting
asks for it. Lines hold no word of a user's unless the level is debug, and no secret of the settings ever.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from traceback import format_exception
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from taskloom.agent.settings import Settings

from .spans import Span, current, hashed, watch

LOGGER = "taskloom"
HIDDEN = "[secret]"
SHORTEST = 4  # characters of a secret; a shorter one is found in every other word
MOST_FRAMES = 5
_FIELDS = "fields"  # of a record: what is known beside its words
_log = logging.getLogger("taskloom.agent.turns")


class Lines(logging.Formatter):
    """A line a record: as JSON, or as text with the same fields behind the words."""

    def __init__(self, *, as_json: bool, secrets: Sequence[str], debug: bool = False) -> None:
        """What lines are made of.

        Args:
            as_json: one object a line.
            secrets: what must not stand in them.
            debug: whether an error is told with its words, which may be a user's, or by its class and place.
        """
        super().__init__()
        self._as_json, self._debug = as_json, debug
        self._secrets = sorted((one for one in set(secrets) if len(one) >= SHORTEST), key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"time": at, "level": record.levelname.lower(), "logger": record.name}
        entry = {"event": record.getMessage(), **_place(), **getattr(record, _FIELDS, {})}
        if record.exc_info and record.exc_info[1] is not None:
            entry["error"] = self._error(record.exc_info[1])
        clean = {**fields, **{name: self._clean(value) for name, value in entry.items()}}
        if self._as_json:
            return json.dumps(clean, ensure_ascii=True)
        event = json.dumps(clean.pop("event"))[1:-1]  # whatever it is, it stays on its line
        more = [f"{name}={json.dumps(value)}" for name, value in clean.items() if name not in fields]
        return " ".join([at, fields["level"], f"{fields['logger']}:", event, *more])

    def _error(self, error: BaseException) -> str:
        if self._debug:
            return "".join(format_exception(error))
        chain: list[str] = []
        one: BaseException | None = error
        while one is not None and len(chain) < MOST_FRAMES:
            chain.append(f"{type(one).__name__} at {_frames(one.__traceback__)}")
            one = one.__cause__ or one.__context__
        return ", from ".join(chain)

    def _clean(self, value: Any) -> Any:
        """A value of JSON, without the secrets."""
        match value:
            case bool() | int() | float() | None:
                return value
            case Mapping():
                return {self._clean(str(key)): self._clean(one) for key, one in value.items()}
            case list() | tuple():
                return [self._clean(one) for one in value]
        text = str(value)
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text


def _place() -> dict[str, Any]:
    """Where in the work a line is from: thread, turn, and milliseconds since the turn began."""
    span = current()
    turn = span.around("turn") if span is not None else None
    if turn is None:
        return {}
    thread = hashed(turn.noted.get("thread", ""))
    return {"thread": thread, "turn": turn.noted.get("turn"), "ms": round(1000 * turn.age, 1)}


def _frames(trace: TracebackType | None) -> str:
    """The last few places that an error came through, the innermost first."""
    found: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.insert(0, f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " < ".join(found[:MOST_FRAMES])


class TurnLog:
    """Logs each turn when it has ended, and at the level debug all that it consists of."""

    def begin(self, span: Span) -> None:
        """See `Observer`."""

    def enter(self, span: Span) -> AbstractContextManager[object]:  # noqa: ARG002
        """See `Observer`."""
        return nullcontext()

    def end(self, span: Span) -> None:
        """See `Observer`."""
        level = logging.INFO if span.kind in ("turn", "call") else logging.DEBUG
        if not _log.isEnabledFor(level):
            return
        fields = {name: value for name, value in span.noted.items() if value not in ({}, 0)}
        if "thread" in fields:
            fields["thread"] = hashed(fields["thread"])
        fields |= {"ms": round(1000 * span.seconds, 1), "outcome": span.outcome}
        if span.kind != "turn":
            fields["name"] = span.name
        if span.error is not None:
            fields["error"] = type(span.error).__name__
        _log.log(level, span.kind, extra={_FIELDS: fields})


def secrets_of(given: Settings) -> tuple[str, ...]:
    """What of the settings must not be seen: keys, and passwords in addresses."""
    values = [getattr(given, name) for name in type(given).model_fields]
    hidden = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    hidden += [key for _, key in given.users_by_key()]
    for address in (*hidden, *(value for value in values if isinstance(value, str))):
        if "://" in address:
            hidden += _passwords(address)
    return tuple(hidden)


def _passwords(address: str) -> list[str]:
    try:
        found = urlsplit(address).password or ""
    except ValueError:  # no address after all
        return []
    return [found, unquote(found)]


def log_as_configured(given: Settings) -> None:
    """Have Taskloom's own loggers write to standard error, where a setting asks for it.

    No other logger is touched; lines go nowhere else.
    """
    if given.log_format is None:
        return
    level = logging.getLevelNamesMapping()[given.log_level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    debug = level <= logging.DEBUG
    handler.setFormatter(Lines(as_json=given.log_format == "json", secrets=secrets_of(given), debug=debug))
    ours = logging.getLogger(LOGGER)
    ours.handlers = [handler]
    ours.setLevel(level)
    ours.propagate = False
    watch(TurnLog())
