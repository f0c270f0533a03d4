"""What the models cost that tools ask: those of inner agents, and of templates that a model carries out."""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from taskloom.agent.telemetry.spans import NOTHING, Span, current, span, watched
from taskloom.agent.turn.reading import UNKNOWN, Usage


class Spending(BaseCallbackHandler):
    """Counts the requests to models that are made in runs it goes along with, and the tokens of the answers.

    It reaches all that is run by LangChain inside of them, however deep; safe to use from threads. Whoever
    watches learns of each once: not from here where an inner Taskloom asks, which tells by itself.
    """

    _seen: ClassVar[set[UUID]] = set()  # requests with a span, which others of these may count too
    _seen_guard: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self.usage = Usage()
        self._asked: dict[UUID, tuple[str, Span]] = {}
        self._guard = Lock()

    def on_chat_model_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        """Count a request that is about to be sent."""
        model = _name(more)
        seen = span("model", model) if self._is_first(run_id) else NOTHING
        with self._guard:
            self._asked[run_id] = model, seen
            self.usage += Usage.of(model, calls=1)

    def on_llm_start(self, *_: Any, run_id: UUID, **more: Any) -> None:
        """The same of a model that completes text."""
        self.on_chat_model_start(run_id=run_id, **more)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Count the tokens of an answer, where they are reported."""
        model, seen = self._ended(run_id)
        cost = Usage()
        for first, *_rest in filter(None, response.generations):
            reported = getattr(getattr(first, "message", None), "usage_metadata", None) or {}
            cost += Usage.of(model, 0, reported.get("input_tokens", 0), reported.get("output_tokens", 0))
        with self._guard:
            self.usage += cost
        seen.note(input_tokens=cost.prompt_tokens, output_tokens=cost.completion_tokens)
        seen.end()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:  # noqa: ARG002
        """There is no answer, or one that was cut off, whose tokens count."""
        model, seen = self._ended(run_id)
        if (cost := Usage.cut_off(model, error)).models:
            with self._guard:
                self.usage += cost
            seen.note(input_tokens=cost.prompt_tokens, output_tokens=cost.completion_tokens)
        seen.fail(error)
        seen.end()

    def _is_first(self, run: UUID) -> bool:
        """Whether a request has no span yet."""
        around = current()
        if not watched() or (around is not None and around.kind == "model"):
            return False
        with self._seen_guard:
            new = run not in self._seen
            self._seen.add(run)
        return new

    def _ended(self, run: UUID) -> tuple[str, Span]:
        with self._seen_guard:
            self._seen.discard(run)
        with self._guard:
            return self._asked.pop(run, ("", NOTHING))


def _name(run_info: dict[str, Any]) -> str:
    """The name of the model that is asked, from what LangChain passes to callbacks."""
    given, metadata = run_info.get("invocation_params") or {}, run_info.get("metadata") or {}
    names = (metadata.get("ls_model_name"), given.get("model"), given.get("model_name"))
    return next((name for name in names if isinstance(name, str) and name), UNKNOWN)
