"""Which turns of a session are still to be told to long-term memory, and who tells them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from taskloom.agent.turn.reading import Usage
from taskloom.memory.consolidate import Decider, Exchange, Summariser
from taskloom.memory.judge import Judge
from taskloom.memory.tasks import TaskGraph

KNOWN = 1000  # sessions of which it is known what has been told
LEFT = 20  # turns on other threads of its user after which a session is over


class Narrator(Summariser, Protocol):
    """A model that tells sessions as units, decides on clusters of facts, and judges what is proposed."""

    @property
    def decide(self) -> Decider:
        """Decides on the facts of clusters."""

    @property
    def judge(self) -> Judge:
        """Says how likely pairs give what their slots want."""

    @property
    def usage(self) -> Usage:
        """What it has cost so far."""


@dataclass(slots=True)
class Session:
    """Turns of one thread that are still to be told, and its tasks.

    noted: how many of them were told. heard: how many, of what was said beside the tasks. elsewhere: turns of
    its user on other threads since.
    """

    user: str
    turns: Sequence[Exchange]
    tasks: TaskGraph
    noted: int = 0
    heard: int = 0
    elsewhere: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """User and thread."""
        return self.user, self.turns[0].thread


class Sessions:
    """Sessions by user and thread; safe to use from threads of execution."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._last_turns: OrderedDict[tuple[str, str], int] = OrderedDict()  # summarised last
        self._guard = Lock()

    def seen(
        self, user: str, turns: Sequence[Exchange], tasks: TaskGraph
    ) -> tuple[Session | None, list[Session]]:
        """Note the turns of a thread.

        Returns:
            The session with those of its turns that were not told before, None where all were; and the
            sessions of the user that were left just now, or long enough ago to be over.
        """
        key = (user, turns[0].thread)
        with self._guard:
            left = []
            for other in [one for one in self._open.values() if one.user == user and one.key != key]:
                other.elsewhere += 1
                if other.elsewhere in (1, LEFT):
                    left.append(other)
            fresh = [turn for turn in turns if turn.turn > self._last_turns.get(key, 0)]
            before = self._open.pop(key, None)
            if not fresh:
                return None, left
            same = before is not None and before.turns[0].turn == fresh[0].turn
            session = Session(user, fresh, tasks)
            if before and same:
                session.noted, session.heard = before.noted, before.heard
            self._open[key] = session
            if len(self._open) > KNOWN:
                left.append(self._open.popitem(last=False)[1])
                left[-1].elsewhere = LEFT
            return session, left

    def of(self, user: str) -> list[Session]:
        """The open sessions of a user."""
        with self._guard:
            return [one for one in self._open.values() if one.user == user]

    def end(self, session: Session) -> None:
        """All turns of a session are told."""
        with self._guard:
            self._open.pop(session.key, None)
            self._last_turns[session.key] = session.turns[-1].turn
            if len(self._last_turns) > KNOWN:
                self._last_turns.popitem(last=False)

    def drop(self, user: str | None = None) -> list[Session]:
        """Take out the open sessions of a user, or all."""
        with self._guard:
            found = [one for one in self._open.values() if user in (None, one.user)]
            for one in found:
                del self._open[one.key]
            return found
