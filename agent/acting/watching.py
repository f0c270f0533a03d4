"""Questions on recordings with a model: a graph that looks things up, step by step, and answers from that.

    choose -> run -> observe -> choose -> ... -> answer

A loop of thought, call and observation (ReAct, Yao et al. 2023) of at most `STEPS` choices, bounded in time
and tokens. choose asks for one tool with its parameters, by the protocol that act chooses by. run looks
moments up, or has frames looked at where there are eyes, within bounds of their own. answer refuses an answer
that cites a time which was not shown; one without sources is none. observe keeps for the next choice what
came of this one, parameters that do not fit and refused answers too; after the last there is none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from taskloom.agent.plan.outline import quoted
from taskloom.agent.turn.choice import ChoiceError, Chooser, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.memory.scenes import clock
from taskloom.tools.calls import faults
from taskloom.tools.errors import ToolError
from taskloom.tools.video.tools import Recordings, milliseconds

from .looks import Shown, Watched, WatchError, seconds_in

STEPS, SECONDS, TOKENS = 15, 120.0, 20_000  # the seconds at least: a model may be given longer for a step
PATIENT = 6  # steps that there is time for, though each takes as long as the model may
SHOWN = 3_000  # characters of an observation
NODES = 3  # of one step

Update = dict[str, Any]


# ---- the tools ------------------------------------------------------------------------------------


class LookUp(BaseModel):
    """What is looked for, and where."""

    model_config = ConfigDict(extra="forbid")
    query: str | None = None
    video: str | None = None
    who: str | None = None
    start: str | None = None
    end: str | None = None


class Reply(BaseModel):
    """An answer, and what it rests on."""

    model_config = ConfigDict(extra="forbid")
    answer: str | None = None
    sources: list[str] = Field(default=[], max_length=50)


LOOK, ANSWER = "look", "answer"
TOOLS = {
    "retrieval": "moments that match `query`; `video`, `who`, `start` and `end` (mm:ss) narrow it, "
    "null for all.",
    "rag": "a first answer to the question in `query`, by extraction.",
    LOOK: "an answer to the question in `query` from up to 12 frames of `video`, evenly spread from `start` "
    "to `end` (null for all); what is between two frames is not seen. For a time, or what lasts short, look "
    "again from one frame to the next before you answer. Slow: only for what is to be seen and was not said.",
    ANSWER: "the answer in `answer`, with the times (mm:ss) that say so, and in `sources` the source of each "
    "as it was shown (video:ID@mm:ss); no sources if nothing says so.",
}


def _retrieved(form: LookUp, recordings: Recordings, shown: Shown) -> tuple[str, Shown]:
    start, end = milliseconds(form.start), milliseconds(form.end)
    found = recordings.retrieval(form.query or "", form.video, start_ms=start, end_ms=end, who=form.who)
    return _lines(found), shown.with_moments(found)


def _extracted(form: LookUp, recordings: Recordings, shown: Shown) -> tuple[str, Shown]:
    found = recordings.rag(form.query or "", form.video)
    lines = (quoted(str(found), 1_000), _lines(found.moments))
    return "\n".join(filter(None, lines)), shown.with_moments(found.moments)


def _seen(form: LookUp, recordings: Recordings, shown: Shown) -> tuple[str, Shown]:
    try:
        range_ms = milliseconds(form.start), milliseconds(form.end)
        seen = recordings.qa(form.query or "", form.video, ranges=[range_ms])
    except ToolError as error:
        return _fault(error), replace(shown, missed=str(error))
    lines = (quoted(str(seen), 2_000), *seen.sources)
    return "\n".join(lines), shown.with_look(seen, f"{form.start} {form.end}")


def _lines(moments: Sequence[Any]) -> str:
    """Moments, each with its source."""
    return "\n".join(f"{one.source} {quoted(str(one), 500)}" for one in moments)


def _fault(why: object) -> str:
    return f"that cannot be done: {why}"


_RUN: Mapping[str, Callable[[LookUp, Recordings, Shown], tuple[str, Shown]]] = {
    "retrieval": _retrieved, "rag": _extracted, LOOK: _seen,
}  # fmt: skip


# ---- the graph ------------------------------------------------------------------------------------


class Eyes(Protocol):
    """What frames are looked at by. until: when it gives up, on the monotonic clock."""

    until: float

    @property
    def usage(self) -> Usage:
        """What it cost."""
        ...


@dataclass(frozen=True, slots=True)
class Watching:
    """What the nodes work with and do not keep.

    situation: the question, and what there is to choose from. patience: seconds that a choice may take.
    """

    chooser: Chooser
    recordings: Recordings
    situation: Situation
    patience: float


class WatchState(TypedDict, total=False):
    """What is kept while a question is looked into.

    replies, observations: of the chooser, with what came of each. last: whether this step has to answer.
    tool, args: what it chose. reply, observation: of this step so far. shown: what may be cited. usage: of
    the chooser. answer, sources: how it ends; or fault, in words for the user.
    """

    replies: tuple[str, ...]
    observations: tuple[str, ...]
    last: bool
    tool: str
    args: dict[str, Any]
    reply: str
    observation: str
    shown: Shown
    usage: Usage
    answer: str
    sources: tuple[str, ...]
    fault: str


WatchGraph = CompiledStateGraph[WatchState, Watching, WatchState, WatchState]


@cache
def watch_graph() -> WatchGraph:
    """The graph; what it works with comes as the context of its runs, a `Watching`."""
    builder: StateGraph[WatchState, Watching, WatchState, WatchState] = StateGraph(WatchState, Watching)
    for node in (choose, run, observe, answer):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "choose")
    builder.add_conditional_edges("choose", _after_choice, ["run", "observe", "answer", END])
    builder.add_edge("run", "observe")
    builder.add_conditional_edges("answer", lambda state: END if "answer" in state else "observe",
                                  ["observe", END])  # fmt: skip
    builder.add_conditional_edges("observe", lambda state: END if state["last"] else "choose",
                                  ["choose", END])  # fmt: skip
    return builder.compile(name="watch")


def _after_choice(state: WatchState) -> str:
    if "fault" in state:
        return END
    if state["observation"]:
        return "observe"
    return "answer" if state["tool"] == ANSWER else "run"


def choose(state: WatchState, runtime: Runtime[Watching]) -> Update:
    """One tool with its parameters; where there is no more time, or where too much was spent, an answer."""
    watching, replies, usage = runtime.context, state["replies"], state["usage"]
    spent = usage.prompt_tokens + usage.completion_tokens
    late = spent >= TOKENS or time.monotonic() >= watching.situation.until - watching.patience
    last = len(replies) + 1 == STEPS or (late and bool(replies))
    situation = replace(watching.situation, completed=state["observations"], replies=replies, last=last)
    update: Update = {"last": last, "reply": "", "observation": ""}
    try:
        choice, cost = watching.chooser.choose(situation)
        usage += cost
        if choice is None:  # there is nothing left to look up, and nothing to say
            return {**update, "tool": ANSWER, "args": {}, "usage": usage}
        update |= {"tool": choice.tool, "reply": choice.reply}
        if choice.tool not in dict(situation.tools):
            return {**update, "usage": usage, "observation": _fault("there are no pictures to look at")}
        schema = _form_of(choice.tool).model_json_schema()
        args, cost = watching.chooser.parameters(situation, choice, schema, partial(_checked, choice.tool))
    except ChoiceError as error:
        update["usage"] = usage + error.usage
        if error.reply is None:
            return {**update, "fault": str(error) or "the model gave no answer"}
        return {**update, "reply": error.reply, "observation": str(error)}
    return {**update, "args": args, "usage": usage + cost}


def _form_of(tool: str) -> type[BaseModel]:
    return Reply if tool == ANSWER else LookUp


def _checked(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that a tool takes.

    Raises:
        ToolError: some do not fit; all of them are named.
    """
    try:
        return _form_of(tool).model_validate(given).model_dump()
    except ValidationError as error:
        raise ToolError(faults(error)) from error


def run(state: WatchState, runtime: Runtime[Watching]) -> Update:
    """Look up, or have frames looked at; what is found is shown from then on."""
    tool, watching = state["tool"], runtime.context
    try:
        found, shown = _RUN[tool](LookUp(**state["args"]), watching.recordings, state["shown"])
    except ToolError as error:
        return {"observation": _fault(error)}
    return {"observation": found or "there is no such moment", "shown": shown}


def observe(state: WatchState) -> Update:
    """Keep what came of a step for the next one."""
    return {
        "replies": (*state["replies"], state["reply"]),
        "observations": (*state["observations"], state["observation"][:SHOWN]),
    }


def answer(state: WatchState) -> Update:
    """The answer, where it cites what was shown; without sources nothing says so."""
    given = Reply(**state["args"])
    try:
        text = state["shown"].checked(given.answer, given.sources) if given.sources else ""
    except ToolError as error:
        return {"observation": _fault(error)}
    return {"answer": text, "sources": tuple(given.sources)}


# ---- how it is asked ------------------------------------------------------------------------------


def watch(
    question: str,
    recordings: Recordings,
    chooser: Chooser,
    names: Mapping[str, int] | None = None,
    *,
    patience: float,
    eyes: Eyes | None = None,
    pictured: Sequence[str] = (),
    graph: WatchGraph | None = None,
) -> Watched:
    """The answer of a model that looks recordings up.

    Args:
        question: in words.
        recordings: of one user.
        chooser: what chooses, such as `StepwiseChooser`.
        names: what the recordings are called, with the length of each in milliseconds.
        patience: seconds that a choice may take.
        eyes: what `recordings` looks at frames by; this holds it to the time there is.
        pictured: names of those whose pictures can be looked at; without any, or eyes, none are.
        graph: `watch_graph()`, from a node that names it, so that it is drawn within that.

    Raises:
        WatchError: the model does not answer, or not from what it was shown.
    """
    until = time.monotonic() + max(SECONDS, PATIENT * patience)
    sees = eyes is not None and bool(pictured)
    if eyes is not None:
        eyes.until = until - patience
    known = (f"{quoted(name, 80)} ({clock(length)})" for name, length in (names or {}).items())
    context = [f"Recordings: {', '.join(known)}"]
    context += [f"With pictures: {', '.join(quoted(name, 80) for name in pictured)}"] if sees else []
    tools = tuple((name, does) for name, does in TOOLS.items() if sees or name != LOOK)
    situation = Situation(question, (), (), (), (), tools, context="\n".join(context), until=until)
    begun = WatchState(replies=(), observations=(), shown=Shown(times=seconds_in(question)), usage=Usage())
    # No thread keeps what was said in recordings, which can be forgotten. It could not be drawn if built so.
    unkept = (graph or watch_graph()).copy({"checkpointer": False})
    ended = unkept.invoke(
        begun, {"recursion_limit": NODES * (STEPS + 1)},
        context=Watching(chooser, recordings, situation, patience),
    )  # fmt: skip
    shown: Shown = ended["shown"]
    if "answer" not in ended:
        why = f"the model gave no answer from what it was shown ({ended['observation'][:200]})"
        raise WatchError(ended.get("fault", why), shown.looked, shown.missed)
    usage, steps = ended["usage"] + (Usage() if eyes is None else eyes.usage), len(ended["replies"]) + 1
    return Watched(ended["answer"], ended["sources"], steps, usage, shown.looked, shown.missed)
