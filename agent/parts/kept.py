"""The plan of a thread that is kept, and the memory of its user, for agents in any number of processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taskloom.agent.language.statements import statements
from taskloom.agent.language.wording import day, sentences
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.recall.units import summary
from taskloom.agent.threads.taskloom import Taskloom, UndecidedError
from taskloom.agent.turn.state import Context
from taskloom.memory.consolidate import Exchange
from taskloom.memory.records import Fact, now, record_id
from taskloom.memory.tasks import BY_HAND, TaskGraph

from .calls import ASKING, Done, carry_out, refusal


class _Call(BaseModel):
    model_config = ConfigDict(frozen=True)


class Say(_Call):
    """Change the plan in words, or ask it something: "move the hotel to Friday", "what is left?"."""

    text: str = Field(min_length=1, max_length=20_000, description="What to note, change or look up.")


class Remember(_Call):
    """Keep something about the user or their work for later sessions, beyond this plan."""

    text: str = Field(min_length=1, max_length=2_000, description="One or a few whole sentences.")


class Recall(_Call):
    """Look up what is remembered of this and earlier sessions: facts and tasks, the best first, with ids."""

    query: str = Field(min_length=1, max_length=2_000, description="Words to look for.")
    limit: int = Field(default=10, ge=1, le=50, description="How many at most.")


class Forget(_Call):
    """Forget what is remembered, for good: the records with these ids, as recall gives them."""

    ids: list[str] = Field(min_length=1, max_length=50, description="Ids, or how they begin.")


MEMORY_CALLS: dict[str, type[_Call]] = {"remember": Remember, "recall": Recall, "forget": Forget}
ID = 10  # characters of a record's id that are shown


@dataclass(frozen=True, slots=True)
class CallResult:
    """What to tell of a call. refused: nothing was changed."""

    text: str
    refused: bool = False


class ThreadPlan:
    """The plan of one thread as one user; each call, and each thing said, is a turn of its own.

    Any number of these may be on one thread, in any number of processes: what is acknowledged is not lost.
    """

    def __init__(self, opened: Taskloom, *, thread: str, user: str) -> None:
        self._opened, self._thread = opened, thread
        self._context = Context(user_id=user)

    def call(self, name: str, args: Mapping[str, Any]) -> str:
        """Carry out one of `calls.CALLS`, and tell what became of it; for `task_memory_tools`."""
        return self.carry_out(name, args).text

    def carry_out(self, name: str, args: Mapping[str, Any]) -> CallResult:
        """Carry out one of `calls.CALLS`; it is on disk when this returns.

        Raises:
            ForeignThreadError, ThreadBusyError, UndecidedError: see `Taskloom.revise`.
        """
        done: list[Done] = []

        def change(graph: TaskGraph, turn: int) -> TaskGraph:
            done.append(carry_out(graph, name, args, turn, said=BY_HAND))
            return done[-1].graph

        if name in ASKING:
            self._opened.check_access(self._thread, self._context)
            change(self._opened.tasks(self._thread), 0)
        else:
            self._opened.revise(change, thread=self._thread, context=self._context)
        return CallResult(done[0].text, done[0].refused)

    def say(self, text: str) -> CallResult:
        """Say something, see `Taskloom.talk`; gives the reply.

        Raises:
            ForeignThreadError, ThreadBusyError: see `Taskloom.talk`.
            UndecidedError: the thread waits for the user's approval, which is not the agent's to give.
        """
        self._opened.check_access(self._thread, self._context)
        if waiting := self._opened.pending(self._thread):
            raise UndecidedError(self._thread, waiting.question)
        return CallResult(self._opened.talk(text, thread=self._thread, context=self._context).reply)


class UserMemory:
    """The long-term memory of one user, and of nobody else.

    Any number of these may be on one memory, in any number of processes.
    """

    def __init__(self, longterm: LongTerm, *, user: str, thread: str) -> None:
        self._longterm, self._user, self._thread = longterm, user, thread

    def carry_out(self, name: str, args: Mapping[str, Any]) -> CallResult:
        """Carry out one of MEMORY_CALLS.

        Raises:
            StoreError, OutboxError: the memory cannot be read, or not be written; the message names the fix.
        """
        try:
            call = MEMORY_CALLS[name].model_validate(dict(args))
        except ValidationError as error:
            return CallResult(refusal(error), refused=True)
        match call:
            case Remember(text=text):
                return self._remember(text)
            case Recall(query=query, limit=limit):
                return self._recall(query, limit)
            case Forget(ids=ids):
                return self._forget(ids)
        raise AssertionError(name)

    def _remember(self, text: str) -> CallResult:
        words = " ".join(text.split())
        if not words:
            return CallResult("refused: text: there are no words", refused=True)
        facts = facts_in(words, self._thread)
        self._longterm.tell(self._user, facts)
        return CallResult("\n".join(_line(fact) for fact in facts))

    def _recall(self, query: str, limit: int) -> CallResult:
        hits = self._longterm.like(self._user, query, limit=limit)
        return CallResult("\n".join(_line(hit.record) for hit in hits) or "nothing like that is remembered")

    def _forget(self, ids: list[str]) -> CallResult:
        found = {}
        for key in ids:
            records = self._longterm.named(self._user, key) if key else ()
            if len(records) != 1:
                why = (
                    f"{len(records)} ids begin so; give more of it" if records else "there is no such record"
                )
                return CallResult(f"refused: {key[:80]!r}: {why}", refused=True)
            found[records[0].id] = records[0]
        self._longterm.drop(self._user, [*found])
        return CallResult("\n".join(f"forgotten: {_line(record)}" for record in found.values()))


def facts_in(text: str, thread: str) -> tuple[Fact, ...]:
    """What sentences tell, as facts of the moment: with whom they are about if all of them can be read so.

    Each gets an id of its own, so that what was superseded can come to be true again.
    """
    moment = now()
    facts = statements((Exchange(thread=thread, turn=0, at=moment, said=text),))
    if len(facts) < len([*sentences(text)]):
        facts = (Fact(id="f", text=text, at=moment, thread=thread),)
    keys = (f"{moment.isoformat()} {fact.text}" for fact in facts)
    return tuple(
        fact.model_copy(update={"id": record_id(thread, 0, "fact", key), "sources": ()})
        for fact, key in zip(facts, keys, strict=True)
    )


def _line(record: Any) -> str:
    return f"{record.id[:ID]} {day(record.at)}: {summary(record)}"
