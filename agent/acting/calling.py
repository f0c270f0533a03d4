"""One call is made: a side effect at most once, by the journal, whatever happens in between."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import patch_config

from taskloom.agent.telemetry.spans import span
from taskloom.agent.turn.calls import Call, ToolRun
from taskloom.agent.turn.state import Turn
from taskloom.tools.calls import Result, call
from taskloom.tools.errors import ToolError
from taskloom.tools.journal import Entry
from taskloom.tools.video.tools import USER

from .equipment import Acting

_log = logging.getLogger(__name__)
_UNKNOWN = "it was interrupted, so I cannot tell whether it went through; it was not done again"


def run_call(
    acting: Acting, turn: Turn, one: Call, completed: tuple[str, ...], until: float, config: RunnableConfig
) -> ToolRun:
    """Make one call; one with side effects only if it was never begun."""
    if one.fault:
        return ToolRun(call=one, status="failed", text=one.fault)
    if (seconds := until - time.monotonic()) <= 0:
        return ToolRun(call=one, status="failed", text="the time for the calls of this turn is used up")
    equipped, journal = acting.equipment.registry[one.tool], acting.equipment.journal
    config = patch_config(config, configurable={USER: acting.user})  # whose memory a tool may look into

    def result() -> Result:
        with span("tool", one.tool) as seen:
            outcome = call(equipped, one.args, shared=acting.shared, completed=completed, key=one.key,
                        config=config, seconds=seconds)  # fmt: skip
            seen.note(status=outcome.status)
            seen.outcome = "failed" if outcome.status == "failed" else "done"
            seen.say(arguments=one.args, result=outcome.text)
            return outcome

    if not equipped.side_effects:
        outcome = result()
        return ToolRun(call=one, status=outcome.status, text=outcome.text, seconds=outcome.seconds)
    entry = Entry(
        key=one.key, user=acting.user, thread=acting.thread, turn=turn.number, task=one.place, tool=one.tool,
        args=one.args, title=one.title,
    )  # fmt: skip
    try:
        before = journal_entry(one, journal.open(acting.thread)) or journal.begin(entry)
    except ToolError as error:
        return ToolRun(call=one, status="failed", text=f"it was not called: {error}")
    if before is not None:
        return _known_run(one, before)
    outcome = result()
    try:
        journal.end(one.key, outcome)
    except ToolError:  # it was called, and this turn tells so; only a turn that is lost now could not
        _log.exception("the result of %s is not in the journal", one.tool)
    return ToolRun(call=one, key=one.key, status=outcome.status, text=outcome.text, seconds=outcome.seconds)


def journal_entry(one: Call, known: Iterable[Entry]) -> Entry | None:
    """The entry of a call that was begun before and of which nobody was told: of this turn, or of a lost one.

    Its result, or that there is none, goes for the call: it is neither asked for nor made again.
    """
    same = (one.tool, one.place, one.args)
    return next((e for e in known if e.key == one.key or (e.tool, e.task, e.args) == same), None)


def _known_run(one: Call, before: Entry) -> ToolRun:
    """What is known of a call that was begun before."""
    if before.result is None:
        return ToolRun(call=one, key=before.key, status="unknown", text=_UNKNOWN, earlier=True)
    return ToolRun(
        call=one, key=before.key, status=before.result.status, text=before.result.text, earlier=True
    )


def lost_run(entry: Entry) -> ToolRun:
    """A call of a turn that was lost, as a tool run of this one."""
    one = Call(tool=entry.tool, args=entry.args, place=entry.task, gives=entry.tool, title=entry.title)
    return _known_run(one, entry)
