"""What the models cost that tools ask: those of inner agents, and of templates that a model carries out."""

from __future__ import annotations

from threading import Lock
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from taskloom.agent.turn.reading import Usage


class Spending(BaseCallbackHandler):
    """Counts the requests to models that are made in runs it goes along with, and the tokens of the answers.

    It reaches all that is run by LangChain inside of them, however deep; safe to use from threads.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self._guard = Lock()

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Count a request that is about to be sent."""
        self._add(Usage(model_calls=1))

    def on_llm_start(self, *_: Any, **__: Any) -> None:
        """The same of a model that completes text."""
        self._add(Usage(model_calls=1))

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Count the tokens of an answer, where they are reported."""
        for first, *_rest in filter(None, response.generations):
            reported = getattr(getattr(first, "message", None), "usage_metadata", None) or {}
            self._add(Usage(0, reported.get("input_tokens", 0), reported.get("output_tokens", 0)))

    def _add(self, usage: Usage) -> None:
        with self._guard:
            self.usage += usage
