"""`taskloom video plan`: proposes what a meeting decided for a plan, one change after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import typer

from taskloom.agent.graph.wiring import default_services
from taskloom.agent.reading.decided import Decision, Proposal, carry_out, decisions, propose, taken, talked_of
from taskloom.agent.recall.moments import moments_in
from taskloom.agent.recall.recordings import Recordings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.reading import Interpreter, View
from taskloom.agent.turn.state import Context
from taskloom.memory.shown import safe
from taskloom.memory.tasks import TaskGraph
from taskloom.memory.ties import outdate as mark_outdated

from .deciding import WANTED, instead, verdict
from .options import given_settings
from .problems import InputError

ASK = "Do it? y / n / q, or what else: "


@dataclass(frozen=True, slots=True)
class Opened:
    """A user's thread, with the reader for it."""

    taskloom: Taskloom
    thread: str
    user: str
    interpreter: Interpreter

    @property
    def context(self) -> Context:
        """Who talks."""
        return Context(user_id=self.user)

    def tasks(self) -> TaskGraph:
        """The present plan."""
        return self.taskloom.tasks(self.thread)


@contextmanager
def open_meeting(user: str, thread: str) -> Iterator[tuple[Recordings, Opened]]:
    """The recordings of a user and one of their threads, in one process.

    Raises:
        InputError: long-term memory is off.
    """
    given = given_settings(tools=False)
    services = default_services(given)
    if services.memory is None:
        raise InputError("recordings are in long-term memory: TASKLOOM_MEMORY=1 turns it on")
    with Taskloom.open(given, services=services) as taskloom:
        opened = Opened(taskloom, thread, user, services.voice("").interpreter)
        yield Recordings(services.memory, user), opened


class Meeting:
    """The decisions in a recording, and the plan that they would change."""

    def __init__(self, recordings: Recordings, opened: Opened, key: str) -> None:
        """key: id or name of the recording.

        Raises:
            ToolError: there is no such recording.
            ForeignThreadError: the thread is another user's.
        """
        self._opened = opened
        opened.taskloom.check_access(opened.thread, opened.context)
        self._recording = recordings.named(key)
        self._decisions = decisions(moments_in(recordings.scenes(self._recording.video)))

    def as_records(self) -> list[dict[str, Any]]:
        """Each decision with what it would change in the present plan, for JSON."""
        found = []
        for decision in self._decisions:
            proposal = self._propose(decision)
            last = decision.moments[0]
            found.append(
                {"source": last.source, "by": last.evidence.by, "said": last.evidence.text,
                 "read": decision.text, "would": proposal.words if proposal else None,
                 "taken": taken(self._opened.tasks(), decision)}
            )  # fmt: skip
        return found

    def run(self, read: Callable[[str], str] = input) -> None:
        """Propose one after the other, until all are answered or the user has enough."""
        done = left = 0
        unread: list[Decision] = []
        try:
            for decision in self._decisions:
                if taken(self._opened.tasks(), decision):
                    continue
                proposal = self._propose(decision)
                if proposal is None:
                    unread.append(decision)
                    continue
                accepted = self._answered(proposal, read)
                done, left = done + accepted, left + (not accepted)
        except (EOFError, _Enough):
            typer.echo("Left there.")
        for decision in unread:
            typer.echo(safe(f"Nothing was made of {decision.moments[0]}"))
        typer.echo(f"{done} of {done + left} proposed changes taken into thread {self._opened.thread!r}.")

    def _propose(self, decision: Decision) -> Proposal | None:
        graph = self._opened.tasks()
        number = 1 + max((node.turn for node in graph.values()), default=0)
        focus = talked_of(graph, decision, before=self._recording.id)
        view = View(graph, turn=number, focus=focus, now=datetime.now().astimezone())
        return propose(decision, view, self._opened.interpreter)

    def _answered(self, proposal: Proposal, read: Callable[[str], str]) -> bool:
        """Ask the user; whether the change was accepted, and is on disk."""
        opened = self._opened
        for moment in proposal.decision.moments[::-1]:
            typer.echo(safe(str(moment)))
        typer.echo(safe(f"  Shall I {proposal.words}?"))
        while True:
            said = read(ASK).strip()
            if said.lower() in ("q", "quit"):
                raise _Enough
            match verdict(said):
                case "yes":
                    opened.taskloom.revise(
                        lambda graph, turn: carry_out(graph, proposal, turn),
                        thread=opened.thread, context=opened.context,
                    )  # fmt: skip
                    return True
                case "no":
                    return False
                case "left":
                    if words := instead(said):
                        turn = opened.taskloom.talk(words, thread=opened.thread, context=opened.context)
                        typer.echo(safe(turn.reply))
                    return False
            typer.echo(WANTED)


class _Enough(Exception):
    """The user does not want any more questions."""


def outdate(opened: Opened, replaced: Sequence[str], name: str) -> list[str]:
    """Mark what rests on recordings, in all threads of the user, as out of date; returns the titles."""
    titles: list[str] = []
    sources = tuple(f"video:{one}@" for one in replaced)
    why = f"the recording {name} was replaced"

    def change(graph: TaskGraph, turn: int) -> TaskGraph:
        keys = [node.id for node in graph.active if node.source.startswith(sources)]
        after = mark_outdated(graph, keys, turn=turn, said=why)
        titles.extend(node.title for key, node in after.items() if node is not graph[key])
        return after

    for info in opened.taskloom.threads():
        if info.user == opened.user:
            opened.taskloom.revise(change, thread=info.thread, context=opened.context)
    return titles
