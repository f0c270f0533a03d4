"""Figures for Prometheus. The only importer of prometheus_client, which is in the extra `server`.

No label tells a user, a thread or a text: what has no end of values, such as models that callers name, counts
as "other" after the first few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from threading import Lock

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from .spans import Span

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

MOST_NAMES = {"model": 20, "tool": 200}  # values of a label; each is a series that is kept for good
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
OTHER = "other"


class Metrics:
    """Counts what is done in this process, from when it begins to watch.

    waiting: how many records wait for long-term memory, asked for each page; None where nobody knows.
    """

    def __init__(self, waiting: Callable[[], int | None] = lambda: None) -> None:
        self._registry = registry = CollectorRegistry()
        self._names = {label: _Names(most) for label, most in MOST_NAMES.items()}
        registry.register(_Waiting(waiting))

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"taskloom_{name}", what, labels, registry=registry)

        def histogram(name: str, what: str, *labels: str) -> Histogram:
            return Histogram(f"taskloom_{name}_seconds", what, labels, buckets=SECONDS, registry=registry)

        self._turns = counter(
            "turns", "Turns by how they ended; interrupted: waits for an approval.", "outcome"
        )
        self._turn = histogram("turn", "Seconds of a turn, with its wait for the thread.")
        self._node = histogram("node", "Seconds of a node.", "node")
        self._operations = counter("operations", "Operations on tasks, and questions.", "kind", "outcome")
        self._calls = counter("model_calls", "Requests to models.", "model", "outcome")
        self._call = histogram("model_call", "Seconds of a request to a model.", "model")
        self._tokens = counter(
            "model_tokens", "Tokens that models were sent, and wrote.", "model", "direction"
        )
        self._errors = counter("model_errors", "Requests to models without an answer.", "model", "error")
        self._runs = counter("tool_runs", "Calls of tools.", "tool", "outcome")
        self._run = histogram("tool_run", "Seconds of a call of a tool.", "tool")
        self._searches = histogram("memory_search", "Seconds of a search of long-term memory.", "kind")
        self._locks = histogram("lock_wait", "Seconds that a run waited for its thread.", "outcome")
        self._asked = counter("mcp_calls", "Calls over the Model Context Protocol.", "tool", "outcome")

    def page(self) -> bytes:
        """All figures, those that libraries have of the process too, in the text format of Prometheus."""
        return generate_latest(REGISTRY) + generate_latest(self._registry)

    def begin(self, span: Span) -> None:
        """See `Observer`."""

    def enter(self, span: Span) -> AbstractContextManager[object]:  # noqa: ARG002
        """See `Observer`."""
        return nullcontext()

    def end(self, span: Span) -> None:
        """See `Observer`."""
        noted, seconds = span.noted, span.seconds
        match span.kind:
            case "turn":
                self._turns.labels(span.outcome).inc()
                self._turn.observe(seconds)
            case "node":
                self._node.labels(span.name).observe(seconds)
                for outcome in ("operations", "refused"):
                    for kind, count in noted.get(outcome, {}).items():
                        self._operations.labels(kind, "refused" if outcome == "refused" else "done").inc(
                            count
                        )
            case "model":
                self._model(span)
            case "tool":
                tool = self._names["tool"](span.name)
                self._runs.labels(tool, noted.get("status", span.outcome)).inc()
                self._run.labels(tool).observe(seconds)
            case "search":
                self._searches.labels(span.name).observe(seconds)
            case "lock":
                self._locks.labels(span.outcome).observe(seconds)
            case "call":
                refused = span.outcome == "done" and noted.get("refused_calls")
                self._asked.labels(span.name, "refused" if refused else span.outcome).inc()

    def _model(self, span: Span) -> None:
        model = self._names["model"](span.name)
        self._calls.labels(model, span.outcome).inc()
        self._call.labels(model).observe(span.seconds)
        for direction in ("input", "output"):
            self._tokens.labels(model, direction).inc(span.noted.get(f"{direction}_tokens", 0))
        if span.error is not None:
            self._errors.labels(model, type(span.error).__name__).inc()


class _Names:
    """The first few names that come as they are, later ones as "other"."""

    def __init__(self, most: int) -> None:
        self._most, self._known, self._guard = most, set[str](), Lock()

    def __call__(self, name: str) -> str:
        with self._guard:
            if name not in self._known and len(self._known) < self._most and len(name) <= 100:
                self._known.add(name)
            return name if name in self._known else OTHER


class _Waiting(Collector):
    def __init__(self, waiting: Callable[[], int | None]) -> None:
        self._waiting = waiting

    def describe(self) -> Iterable[Metric]:
        return [self._gauge()]

    def collect(self) -> Iterator[Metric]:
        count, gauge = self._waiting(), self._gauge()
        if count is not None:
            gauge.add_metric([], count)
        yield gauge

    @staticmethod
    def _gauge() -> GaugeMetricFamily:
        return GaugeMetricFamily("taskloom_memory_waiting", "Records that wait for long-term memory.")
