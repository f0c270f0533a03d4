"""What goes wrong with a tool; all are a ToolError, whose message is for a user and for a model.

- TransientError: trying again may help, a connection broke or a server was busy.
- TimeLimitError: it took longer than it may, and was stopped.
- NotAllowedError: a rule forbids what was asked for, trying again does not help.
- UnavailableError: something it needs is not installed; the message names the command.
- ToolDefinitionError: what was given cannot be made a tool; the message lists all that is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class ToolError(Exception):
    """A tool could not do what was asked."""


class TransientError(ToolError):
    """It may work the next time it is tried."""


class TimeLimitError(ToolError):
    """It took longer than its time limit."""


class NotAllowedError(ToolError):
    """A rule forbids it for everybody."""


class UnavailableError(ToolError):
    """A library or program that it needs is not there."""


class ToolDefinitionError(ToolError):
    """It cannot be a tool as it is written."""


INTERRUPT = "__interrupt__"  # where a LangGraph graph gives what it waits for


def stopped_to_ask(interrupts: Iterable[Any]) -> ToolError:
    """The error of a tool whose graph waits for an answer: nobody here can give one."""
    asked = [getattr(one, "value", one) for one in interrupts]
    said = [str(one.get("question", one) if isinstance(one, Mapping) else one) for one in asked]
    question = "; ".join(said)[:300]
    return ToolError(f"it was not done: it stopped to ask {question!r}, and nobody can answer that here")
