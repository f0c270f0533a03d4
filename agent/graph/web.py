"""/metrics for Prometheus, on the server: for `http` in langgraph.json and, by app.py, in aegra.json.

It takes the place of the server's own page of that name, which is open to all; LangGraph's has its figures
too. It is for whoever shows TASKLOOM_METRICS_KEY; without one for whoever may call the server.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from taskloom.agent.settings import settings
from taskloom.agent.telemetry.logs import log_as_configured
from taskloom.agent.telemetry.page import Admits, MetricsPage, by_key, counted_page, headers_of
from taskloom.memory.outbox import Outbox, OutboxError

from .auth import Refused, authenticate
from .databases import OUTBOX, open_outbox

__all__ = ["app", "middleware"]

_log = logging.getLogger(__name__)


def _admits() -> Admits:
    given = settings()
    if given.metrics_key is not None or (given.api_keys is None and given.jwt_key is None):
        return by_key(given.metrics_key)

    async def callers(scope: Any) -> bool:
        try:
            await authenticate(headers_of(scope), scope)
        except Refused:
            return False
        return True

    return callers


def _waiting() -> int | None:
    """How many records wait for long-term memory; None if there is no memory or its queue is unreadable."""
    given = settings()
    if not given.memory or (given.database_url is None and not (given.home / OUTBOX).exists()):
        return None
    try:
        return _outbox().count()
    except OutboxError as error:
        _log.warning("what waits for long-term memory is not counted: %s", error)
        return None


@cache
def _outbox() -> Outbox:
    return open_outbox(settings())


log_as_configured(settings())
middleware = [Middleware(MetricsPage, admits=_admits(), page=counted_page(_waiting))]
app = Starlette(middleware=middleware)
