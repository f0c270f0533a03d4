"""A graph for questions on recordings: what was said, by extraction, then with a model what it looks up.

    extract -> watch (choose -> run -> observe -> ... -> answer)

Without a model, and where it gives no answer, what was extracted is the answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from taskloom.agent.acting.looks import WatchError
from taskloom.agent.acting.watching import watch, watch_graph
from taskloom.agent.recall.asking import NOTHING
from taskloom.agent.recall.recordings import Recordings
from taskloom.agent.turn.state import Context
from taskloom.tools.errors import ToolError

from .access import context_of
from .build import served
from .services import Services

__all__ = ["Question", "Told", "make_watching", "watching_graph"]

NONE_KEPT = "recordings are in long-term memory: TASKLOOM_MEMORY=1 turns it on, and a run names its user_id"


class Question(TypedDict):
    """A question in words, on one recording, by id or name, or on all."""

    question: str
    video: NotRequired[str | None]


class Told(TypedDict):
    """What recordings say.

    found: whether anything says so. sources: what says so, each `video:ID@mm:ss`. unseen: in which frames it
    was not seen. note: what hindered, in words for the user, or ''.
    """

    answer: str
    found: bool
    sources: list[str]
    unseen: str
    note: str


class _State(Question, Told):
    pass


Update = dict[str, Any]
QuestionGraph = CompiledStateGraph[_State, Context, Question, Told]


def watching_graph(services: Services) -> QuestionGraph:
    """The graph; the user of a run is whose recordings these are."""
    inner = watch_graph()

    def extract(state: _State, runtime: Runtime[Context]) -> Update:
        """What was said, word for word."""
        nothing = Told(answer="", found=False, sources=[], unseen="", note="")
        recordings = _recordings(services, runtime)
        if recordings is None:
            return {**nothing, "note": NONE_KEPT}
        try:
            found = recordings.rag(state["question"], state.get("video"))
        except ToolError as error:
            return {**nothing, "note": str(error)}
        return {**nothing, "answer": str(found), "found": found.found,
                "sources": [one.source for one in found.moments]}  # fmt: skip

    def look_up(state: _State, runtime: Runtime[Context]) -> Update:
        """What a model answers that looks things up, in words and at frames; nothing without one."""
        from taskloom.agent.models.eyes import Eyes
        from taskloom.agent.models.stepwise import StepwiseChooser

        chat, which = services.voice(context_of(runtime).model).chat, state.get("video")
        eyes = None if chat is None else Eyes(chat)
        recordings = _recordings(services, runtime, eyes)
        if chat is None or recordings is None or state["note"]:
            return {}
        known = recordings.all() if which is None else [recordings.named(which)]
        try:
            seen = watch(
                state["question"], recordings, StepwiseChooser(chat), {one.name: one.end_ms for one in known},
                patience=chat.patience, eyes=eyes, pictured=recordings.pictured(which), graph=inner,
            )  # fmt: skip
        except WatchError as error:
            return {"note": f"answered without the model: {error}"}
        return {"answer": seen.text or NOTHING, "found": bool(seen.sources), "sources": [*seen.sources],
                "unseen": seen.unseen}  # fmt: skip

    builder = StateGraph(_State, Context, input_schema=Question, output_schema=Told)
    builder.add_node("extract", extract)
    builder.add_node("watch", look_up)
    builder.add_edge(START, "extract")
    builder.add_edge("extract", "watch")
    builder.add_edge("watch", END)
    return builder.compile(name="recordings")


def _recordings(services: Services, runtime: Runtime[Context], eyes: Any = None) -> Recordings | None:
    """Those of the user of a run; None where none are kept."""
    user = context_of(runtime).user_id
    return Recordings(services.memory, user, eyes=eyes) if services.memory is not None and user else None


async def make_watching() -> QuestionGraph:
    """The graph, which shares its memory with that of the talk."""
    return watching_graph(await asyncio.to_thread(served))
