"""Threads on disk: SQLite checkpoints, one run at a time on a thread, and the dialogue itself.

A turn is written when it ends (`durability="exit"`), before it is acknowledged: a process killed in the
middle of a turn loses that turn and no other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from shlex import quote
from types import TracebackType
from typing import Any, Self

from langchain_core.messages import HumanMessage
from langgraph.types import Command, Interrupt, StateSnapshot, StateUpdate

from taskloom.agent.graph.access import turn_of
from taskloom.agent.graph.build import build_graph
from taskloom.agent.graph.databases import postgres
from taskloom.agent.graph.nodes import FOCUS, reported_calls
from taskloom.agent.graph.runs import check_owner
from taskloom.agent.graph.services import Services
from taskloom.agent.graph.wiring import default_services
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.recall.memory import Memory
from taskloom.agent.settings import Settings, settings
from taskloom.agent.turn.decisions import Approval, Decision
from taskloom.agent.turn.export import ThreadExport
from taskloom.agent.turn.reading import Usage
from taskloom.agent.turn.state import Context, Turn, tasks_in
from taskloom.memory.tasks import TaskGraph

from .pruning import Keep, Pruned
from .store import Shelf, SqliteShelf, ThreadInfo, Threads, run_config

Show = Callable[[str, str], None]
Ask = Callable[[Approval], bool | Decision]
Revise = Callable[[TaskGraph, int], TaskGraph]


class UndecidedError(RuntimeError):
    """The last turn of the thread waits for an approval; nothing was changed."""

    def __init__(self, thread: str, question: str) -> None:
        super().__init__(
            f"thread {thread!r} waits for a decision ({question!r}): "
            f"make it in `taskloom chat --thread {quote(thread)}`"
        )


class Taskloom:
    """Threads to talk in; for the command line, scripts and tests.

    One object may be used from several threads of execution; turns on one thread come one after the other.
    """

    def __init__(self, threads: Threads, services: Services) -> None:
        self._threads, self.longterm, self.tools = threads, services.memory, services.tools
        self.loads = services.loads
        self.graph = build_graph(services, checkpointer=threads.saver, patience=threads.wait)

    @classmethod
    def open(
        cls, given: Settings | None = None, *, services: Services | None = None, kept: bool = True
    ) -> Taskloom:
        """Open the threads under the home of the settings, with services that the settings ask for.

        kept: whether the home will be used again; see `default_services`.
        """
        given = given or settings()
        if services is None:  # first: a file with tools may be broken
            services = default_services(given, kept=kept)
        return cls(Threads(shelf_of(given), wait=given.lock_timeout), services)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the databases; nothing is lost if it is not called."""
        if self.longterm is not None:
            self.longterm.close()
        if self.tools is not None:
            self.tools.close()
        self._threads.close()

    @property
    def beside(self) -> Usage:
        """What models have cost for long-term memory, outside of turns; complete once this is closed."""
        return self.longterm.usage if self.longterm else Usage()

    def talk(
        self,
        utterance: str,
        *,
        thread: str = "main",
        context: Context | None = None,
        ask: Ask | None = None,
        show: Show | None = None,
    ) -> Turn:
        """One turn: the user's words and what was made of them. It is on disk when this returns.

        Args:
            utterance: the user's words.
            thread: the thread's id; it is made when first used.
            context: who talks, with which model, style and schemas.
            ask: decides on approvals; where it is given, removing a whole task asks first.
            show: gets the reply piece by piece, with the id of the message that the piece belongs to; a new
                id says that the pieces of the one before are withdrawn.

        Raises:
            ForeignThreadError: the thread is another user's.
            ThreadBusyError: another process works on the thread.
        """
        words = utterance.encode("utf-8", "replace").decode()  # a lone surrogate cannot be stored
        return self._turn({"messages": [HumanMessage(words)]}, thread, context, ask, show)

    def load(
        self, text: str, *, thread: str = "main", context: Context | None = None, ask: Ask | None = None
    ) -> Turn:
        """Put an export (of a thread, or of a task graph) in place of a thread.

        Raises:
            GraphError: not an export, or one of an unsound graph.
            ThreadBusyError: another process works on the thread.
        """
        ThreadExport.from_json(text)
        return self._turn({"load": text}, thread, context, ask, None)

    def feedback(self, good: bool, *, thread: str = "main", context: Context | None = None) -> Turn:
        """Say whether the last change was right: it counts more than what the words after it tell.

        Raises:
            ThreadBusyError: another process works on the thread.
        """
        return self._turn({"feedback": "good" if good else "bad"}, thread, context, None, None)

    def revise(self, change: Revise, *, thread: str = "main", context: Context | None = None) -> None:
        """Change the tasks otherwise than by words, as a turn in which nothing is said.

        Args:
            change: gets the tasks and the number of the turn, and gives the tasks after it; the same graph
                for no change. It runs once, and nobody else changes the thread meanwhile.
            thread: the thread's id; it is made when first used.
            context: who changes them; long-term memory hears of it.

        Raises:
            ForeignThreadError: the thread is another user's.
            ThreadBusyError: another process works on the thread.
            UndecidedError: its last turn waits for an approval.
        """
        context = context or Context()
        with self._threads.lock(thread), self._threads.still(thread):
            self.check_access(thread, context)
            state = self.state(thread)
            if approval := _approval(state.interrupts):
                raise UndecidedError(thread, approval.question)
            graph = TaskGraph(tasks_in(state.values.get("tasks", {})))
            number = 1 + max([turn_of(state.values).number, *(node.turn for node in graph.values())])
            after = change(graph, number)
            changed = {key: node for key, node in after.items() if graph.get(key) is not node}
            if not changed:
                return
            focus = dict.fromkeys([*reversed(changed), *state.values.get("focus", ())])
            update = {
                "owner": context.speaker, "turn": Turn(number=number, user=context.speaker), "tasks": changed,
                "focus": tuple(focus)[:FOCUS], "question": None,
            }  # fmt: skip
            self.graph.update_held(run_config(thread), [[StateUpdate(update, "remember")]])
        longterm = self.longterm if context.memory else None
        Memory(longterm, context.speaker, thread).keep_units(after, [*changed], load_schemas(context.schemas))

    def pending(self, thread: str = "main") -> Approval | None:
        """What the thread waits for, if its last turn was left at an approval."""
        return _approval(self.state(thread).interrupts)

    def decide(
        self,
        decision: bool | Decision,
        *,
        thread: str = "main",
        context: Context | None = None,
        ask: Ask | None = None,
        show: Show | None = None,
    ) -> Turn:
        """Go on with a turn that waits for an approval; in the context it was begun with."""
        context = (context or Context()).model_copy(update={"approve": True})
        return self._turn(_resume(decision), thread, context, ask, show)

    def state(self, thread: str = "main") -> StateSnapshot:
        """The state of a thread, as LangGraph gives it; read again if the thread was pruned meanwhile."""
        while True:
            beginning = self._threads.beginning(thread)
            found = self.graph.get_state(run_config(thread))
            if self._threads.beginning(thread) == beginning:
                return found

    def tasks(self, thread: str = "main") -> TaskGraph:
        """The tasks of a thread; empty for one that does not exist."""
        return TaskGraph(tasks_in(self.state(thread).values.get("tasks", {})))

    def export(self, thread: str = "main") -> str:
        """A thread as JSON: its tasks with their history, and what was said."""
        values = self.state(thread).values
        graph = TaskGraph(tasks_in(values.get("tasks", {})))
        return ThreadExport.of(graph, values.get("messages", ()), values.get("focus", ())).to_json()

    def check_access(self, thread: str, context: Context) -> None:
        """Check that a user may talk in a thread, before anything of it is shown.

        Raises:
            ForeignThreadError: it is another user's.
        """
        check_owner(context.speaker, thread, self._threads.place(thread).owner())

    def speakers(self, thread: str) -> tuple[str, ...]:
        """The users who spoke in a thread, in order; older threads, without an owner, may have several."""
        return self._threads.place(thread).speakers()

    def threads(self) -> list[ThreadInfo]:
        """All threads, the last used first."""
        return self._threads.list()

    def still(self, thread: str, wait: float | None = None) -> AbstractContextManager[None]:
        """No turn runs on a thread meanwhile; see `Threads.still`."""
        return self._threads.still(thread, wait)

    def delete(self, thread: str) -> None:
        """Delete all that is kept of a thread."""
        self._threads.delete(thread)
        if self.tools is not None:  # a thread of the same name is to find no calls of this one
            journal = self.tools.journal
            journal.close([entry.key for entry in journal.open(thread)])

    def prune(self, thread: str, keep: Keep, *, dry: bool = False) -> Pruned:
        """Delete old checkpoints of a thread, see `Threads.prune`."""
        return self._threads.prune(thread, keep, dry=dry)

    def compact(self) -> None:
        """Take what was deleted off the disk."""
        self._threads.compact()

    def _turn(
        self, given: Any, thread: str, context: Context | None, ask: Ask | None, show: Show | None
    ) -> Turn:
        context = context or Context()
        # Who talks on this machine without a name is its owner.
        context = context.model_copy(
            update={"user_id": context.speaker, "approve": context.approve or bool(ask)}
        )
        with self._threads.lock(thread):
            turn, approval = self._run(given, thread, context, show)
            while approval and ask:
                given = _resume(ask(approval))
                turn, approval = self._run(given, thread, context, show)
            if self.tools is not None and (keys := reported_calls(turn)):
                self.tools.journal.close(keys)  # the turn that tells of them is on disk
        return turn.model_copy(update={"reply": approval.question}) if approval else turn

    def _run(
        self, given: Any, thread: str, context: Context, show: Show | None
    ) -> tuple[Turn, Approval | None]:
        """Run the graph until it ends or asks for an approval."""
        turn = Turn()
        interrupts: tuple[Interrupt, ...] = ()
        for part in self.graph.stream(
            given, run_config(thread), context=context, durability="exit",
            stream_mode=["messages", "values"] if show else ["values"], version="v2",
        ):  # fmt: skip
            if part["type"] == "values":
                turn, interrupts = part["data"].get("turn", turn), part["interrupts"]
            elif part["type"] == "messages" and show:
                show(str(part["data"][0].text), part["data"][0].id or "")
        return turn, _approval(interrupts)


def shelf_of(given: Settings) -> Shelf:
    """Where the settings want threads to be kept, opened.

    Raises:
        DatabaseError: the database cannot be reached, or refuses.
        MissingLibraryError: what it is reached with is not installed.
    """
    if given.database_url is None:
        return SqliteShelf(given.home, wait=given.lock_timeout)
    postgres()  # says what to install
    from .postgres import PostgresShelf

    return PostgresShelf(given.database_url.get_secret_value(), wait=given.lock_timeout)


def _approval(interrupts: tuple[Interrupt, ...]) -> Approval | None:
    return Approval.model_validate(interrupts[0].value) if interrupts else None


def _resume(decision: bool | Decision) -> Command[Any]:
    given = decision if isinstance(decision, Decision) else Decision(approve=decision)
    return Command(resume=given.model_dump(mode="json"))
