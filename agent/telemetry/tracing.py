"""Spans for OpenTelemetry. The only importer of opentelemetry, which is in the extra `telemetry`.

Names and attributes follow its semantic conventions for generative AI where these have them; what is ours
begins with `taskloom.`. Where the application has a tracer provider, spans go there; else to the collector
that the standard OTEL_* variables name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from .spans import Kind, Span, hashed

_REMOTE = TraceContextTextMapPropagator()
LONGEST = 10_000  # characters of a text that is shown
_NAMES: dict[Kind, str] = {
    "turn": "invoke_agent {}", "node": "taskloom.{}", "model": "chat {}", "tool": "execute_tool {}",
    "search": "taskloom.memory.search", "lock": "taskloom.lock.wait", "call": "tools/call {}",
}  # fmt: skip
_KINDS: dict[Kind, SpanKind] = {"model": SpanKind.CLIENT, "call": SpanKind.SERVER}
_OPERATION: dict[Kind, tuple[str, str]] = {
    "turn": ("invoke_agent", "gen_ai.agent.name"), "model": ("chat", "gen_ai.request.model"),
    "tool": ("execute_tool", "gen_ai.tool.name"), "call": ("execute_tool", "gen_ai.tool.name"),
}  # fmt: skip
_ATTRIBUTES = {
    "input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens",
}  # fmt: skip
_TEXTS = {
    "said": "taskloom.said", "reply": "taskloom.reply", "arguments": "gen_ai.tool.call.arguments",
    "result": "gen_ai.tool.call.result",
}  # fmt: skip


class Tracing:
    """Makes a span of OpenTelemetry of each of ours; what is current there is its parent."""

    def __init__(self, *, texts: bool = False) -> None:
        """texts: whether what users say and values of theirs are shown."""
        self._texts = texts

    def begin(self, span: Span) -> None:
        """See `Observer`."""
        tracer = provider_of().get_tracer("taskloom")
        attributes: dict[str, Any] = {}
        if named := _OPERATION.get(span.kind):
            attributes |= {"gen_ai.operation.name": named[0], named[1]: span.name}
        span.kept[self] = tracer.start_span(
            _NAMES[span.kind].format(span.name),
            context=_REMOTE.extract({"traceparent": span.remote}) if span.remote else None,
            kind=_KINDS.get(span.kind, SpanKind.INTERNAL),
            attributes=attributes,
        )

    def enter(self, span: Span) -> AbstractContextManager[Any]:
        """See `Observer`."""
        return trace.use_span(span.kept[self], record_exception=False, set_status_on_exception=False)

    def end(self, span: Span) -> None:
        """See `Observer`."""
        exported: trace.Span = span.kept.pop(self)
        exported.set_attributes(dict(_attributes(span)))
        if self._texts:
            exported.set_attributes({_TEXTS[name]: _text(value) for name, value in span.texts.items()})
        if span.outcome != "done":
            exported.set_attribute("taskloom.outcome", span.outcome)
        if span.outcome == "failed":
            error = span.error
            exported.set_attribute("error.type", type(error).__qualname__ if error else "_OTHER")
            exported.set_status(
                Status(StatusCode.ERROR, str(error)[:LONGEST] if error and self._texts else None)
            )
            if error and self._texts:  # what an error says may be a user's words
                exported.record_exception(error)
        exported.end()


def _attributes(span: Span) -> Iterator[tuple[str, Any]]:
    """What is noted, flat: a count of each kind is an attribute of its own."""
    for name, value in span.noted.items():
        if name == "thread":
            yield "gen_ai.conversation.id", hashed(value)
        elif isinstance(value, dict):
            yield from ((f"taskloom.{name}.{kind}", count) for kind, count in value.items())
        else:
            yield _ATTRIBUTES.get(name, f"taskloom.{name}"), value


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:LONGEST].encode("utf-8", "replace").decode()


def provider_of() -> trace.TracerProvider:
    """Where spans go: to the application's provider, if it has set one."""
    found = trace.get_tracer_provider()
    return _own() if isinstance(found, trace.ProxyTracerProvider) else found


@cache
def _own() -> TracerProvider:
    """A provider as the OTEL_* variables want it; what is left is sent when the process ends."""
    resource = Resource.create()  # of OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "taskloom"}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
