"""Who watches, by settings."""

from __future__ import annotations

import logging

from taskloom.agent.settings import Settings

from .spans import watch

_log = logging.getLogger(__name__)
NEEDED = "OpenTelemetry needs {}: pip install 'taskloom[telemetry]'"


def watch_as_configured(given: Settings) -> None:
    """Have spans made for OpenTelemetry where the settings want it; else nothing of it is loaded.

    Where a standard variable names a collector, and the libraries are not there, a warning says so.

    Raises:
        ImportError: TASKLOOM_TRACING=on, and they are not there; the message says how to install them.
    """
    if not given.traced:
        return
    try:
        from .tracing import Tracing
    except ModuleNotFoundError as error:
        message = NEEDED.format(error.name)
        if given.tracing == "on":
            raise ImportError(message) from error
        _log.warning("no spans are sent: %s", message)
        return
    watch(Tracing(texts=given.tracing_text))
