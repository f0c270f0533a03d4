"""Long-term memory as the nodes use it: what earlier sessions tell, and what this one leaves.

What is to be kept is in the outbox, on disk, before the turn ends; it goes into the store in batches, beside
the talk: when a task is finished, when enough waits, and before anything is looked up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from taskloom.memory.consolidate import Exchange, due, facts_of, summarise
from taskloom.memory.curator import Curator
from taskloom.memory.judge import CANDIDATES, Ranked, pairs_for, rank_units
from taskloom.memory.outbox import Outbox, OutboxError
from taskloom.memory.pointing import when
from taskloom.memory.policies import Outcome, Policy, offered, settle
from taskloom.memory.records import Experience, IntentUnit, now
from taskloom.memory.store import AnyRecord, Store, StoreError
from taskloom.memory.tasks import TaskGraph

from .interpreter import Interpreter, Reading, View
from .recall import refer
from .sessions import LEFT, Session, Sessions
from .slots import Remembered, TaskSchema, kind_of, missing_slots
from .state import Turn
from .units import about_same, remembered, told, unit_of
from .wording import is_action, spoken, the

if TYPE_CHECKING:
    from .narrate import Narrator

_log = logging.getLogger(__name__)

Found = TypeVar("Found")

BUFFER = 40  # records that are added before they are written
TOLD = 5  # units told in one reply
NEW = ("task", "add")  # acts that may begin a task
SIMILAR = 0.5  # cosine from which words are like others
LIKELY = 0.5  # score from which a value is proposed


class LongTerm:
    """A user's records: looked up by the nodes, written in batches.

    One object serves all users and threads of execution; every call names the user.
    """

    def __init__(
        self,
        store: Callable[[], Store],
        outbox: Callable[[], Outbox],
        policy: Policy | None = None,
        narrator: Callable[[], Narrator] | None = None,
        *,
        model_judges: bool = False,
    ) -> None:
        """What it works with.

        Args:
            store: opens the store, when it is first needed.
            outbox: opens the queue.
            policy: which experiences are kept.
            narrator: gives the model that tells sessions; without one the tasks alone do.
            model_judges: whether it judges what is proposed too, in the turn.
        """
        self.narrator, self._model_judges = narrator, model_judges
        self._sessions = Sessions()
        self.policy = policy or Policy(addition="coarse", deletion="history")
        self._open_store, self._open_outbox = store, outbox
        self._store: Store | None = None
        self._outbox: Outbox | None = None
        self._added = 0  # since something was last written
        self._guard, self._flushing = Lock(), Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="taskloom-memory")
        self._job: Future[None] | None = None

    @property
    def store(self) -> Store:
        """The store, opened.

        Raises:
            StoreError: it cannot be opened; the message names the fix.
        """
        with self._guard:
            if self._store is None:
                self._store = self._open_store()
            return self._store

    @property
    def outbox(self) -> Outbox:
        """What is on its way into the store.

        Raises:
            OutboxError: it cannot be opened.
        """
        with self._guard:
            if self._outbox is None:
                self._outbox = self._open_outbox()
            return self._outbox

    # ---- looking up ---------------------------------------------------------------------------

    def meant(self, user: str, text: str, *, thread: str) -> tuple[Ranked, ...]:
        """Tasks of earlier sessions that words may mean, the likeliest first.

        Raises:
            StoreError: the store cannot be read.
        """
        self._fresh(user)
        hits = [hit for hit in self.store.search(user, text, kind="unit", limit=CANDIDATES)
                if _earlier(hit.record, thread)]  # fmt: skip
        units = [unit for unit in self.store.newest(user) if _earlier(unit, thread)]
        return rank_units(text, hits, units, self.store.embedder, now=now().astimezone())

    def values(
        self, text: str, missing: Mapping[str, str], ranked: Sequence[Ranked]
    ) -> tuple[Remembered, ...]:
        """What units have for missing slots: of the likeliest by the slot's name, else what is judged likely.

        missing: slots with what they ask for, in words.
        """
        if not ranked:
            return ()
        first = ranked[0].unit
        same = tuple(one for one in remembered(first) if one.slot in missing and not one.member)
        missing = {slot: words for slot, words in missing.items() if slot not in {one.slot for one in same}}
        judge = self.narrator().judge if self.narrator and self._model_judges else None
        found = pairs_for(text, missing, ranked, self.store.embedder, judge=judge)
        best = [values[0] for values in found.values() if values and values[0].score >= LIKELY]
        judged = (Remembered(one.slot, spoken(one.slot), one.value, False, one.source) for one in best)
        return (*same, *judged)

    def latest(self, user: str, *, thread: str) -> IntentUnit | None:
        """The task that was talked of last in an earlier session."""
        self._fresh(user)
        found = [unit for unit in self.store.records(user, "unit") if _earlier(unit, thread)]
        return max(found, key=lambda unit: (unit.at, unit.order), default=None)

    def earlier(self, user: str, text: str, moment: datetime, *, thread: str) -> tuple[str, ...]:
        """What earlier sessions tell on a question, a line each, in order of time; () where nothing fits."""
        span = when(text, moment.astimezone())
        ranked = [one.unit for one in self.meant(user, text, thread=thread)]
        if span:
            chosen = [unit for unit in ranked if span[0] <= unit.at < span[1]][:TOLD]
        else:
            chosen = [unit for unit in ranked if about_same(text, unit)][:1]
        return told(sorted(chosen, key=lambda unit: unit.at))

    def examples(self, user: str, text: str, *, limit: int = 3) -> tuple[Experience, ...]:
        """Confirmed experiences with words like these, best first."""
        self._fresh(user)
        found = self.store.search(user, text, kind="experience", limit=4 * limit)
        known = [hit.record for hit in found if isinstance(hit.record, Experience) and hit.dense >= SIMILAR]
        return tuple(one for one in known if offered(self.policy, one))[:limit]

    # ---- keeping ------------------------------------------------------------------------------

    def keep(
        self, user: str, units: Sequence[IntentUnit], done: Iterable[tuple[Experience, Outcome]]
    ) -> None:
        """Keep records; no killed process loses them when this has returned."""
        records: list[AnyRecord] = [*units, *(settle(made, how) for made, how in done)]
        if not records:
            return
        self.outbox.add(user, records)
        self._added += len(records)
        if any(unit.status == "done" for unit in units) or self._added >= BUFFER:
            self._added = 0
            self.write_soon()

    def session(self, user: str, turns: Sequence[Exchange], tasks: TaskGraph, *, closed: bool) -> bool:
        """Make facts of a session's turns when they are due; whether all of them were taken.

        Args:
            user: whose they are.
            turns: of one thread, those not yet taken.
            tasks: of that thread.
            closed: whether a task was finished in the last one.
        """
        session, left = self._sessions.seen(user, turns, tasks)
        for other in left:
            self._note(other)
            if other.elsewhere >= LEFT:
                self._end(other)
        if session is None:
            return True
        what = due(len(session.turns), closed=closed, ended=False, model=self.narrator is not None)
        if what != "nothing":
            self._note(session)
        if what == "all":
            self._end(session)
        return what == "all"

    def _note(self, session: Session) -> None:
        """Queue what the tasks of a session tell of its turns."""
        if session.noted < len(session.turns):
            session.noted = len(session.turns)
            if facts := summarise(session.turns, session.tasks, called=the):
                self.outbox.add(session.user, facts)

    def _end(self, session: Session) -> None:
        """Have the model tell a session beside the talk, if there is one, and write what waits."""
        self._sessions.end(session)
        if self.narrator is not None:
            self._worker.submit(self._narrate, session.user, session.turns, self.narrator())
        self.write_soon()

    def _narrate(self, user: str, turns: Sequence[Exchange], narrator: Narrator) -> None:
        if facts := facts_of(narrator(turns), turns):
            try:
                self.outbox.add(user, facts)
            except OutboxError as error:
                _log.warning("what the model told of a session is lost: %s", error)
        self._write()

    def write_soon(self) -> None:
        """Have what waits written beside the talk."""
        with self._guard:
            if self._job is None or self._job.done():
                self._job = self._worker.submit(self._write)

    def _write(self) -> None:
        try:
            self.flush()
        except (StoreError, OutboxError) as error:  # it waits in the outbox, which tells `doctor`
            _log.warning("long-term memory waits: %s", error)

    def flush(self) -> int:
        """Write what waits; how many records went.

        Raises:
            StoreError: the store cannot be opened.
        """
        with self._flushing:
            decide = self.narrator().decide if self.narrator else None
            return self.outbox.flush(Curator(self.store, self.policy, decide))

    def forget(self, user: str) -> None:
        """Forget all of a user: no byte of it stays in any file of an embedded store.

        Raises:
            StoreError: the store fails; then nothing is sure to be gone.
        """
        self._sessions.drop(user)
        self._worker.submit(tuple).result()  # what a model is just telling comes in before it is forgotten
        with self._flushing:
            self.outbox.forget(user)
            self.store.forget(user)

    def _fresh(self, user: str) -> None:
        """See to it that what was kept is found; what failed before is left to `write_soon`."""
        if self.outbox.count(user, untried=True):
            with self._flushing:
                self.outbox.flush(Curator(self.store, self.policy), user)

    def close(self) -> None:
        """End the sessions, finish what is being written, and close; what waits is there the next time."""
        for session in self._sessions.drop():
            self._note(session)
            if self.narrator is not None:
                self._end(session)
        self._worker.shutdown(wait=True)
        for opened in (self._store, self._outbox):
            if opened is not None:
                opened.close()
        self._store = self._outbox = None


def _earlier(record: AnyRecord, thread: str) -> TypeGuard[IntentUnit]:
    """Whether a record is a task of another thread that has something to propose."""
    return isinstance(record, IntentUnit) and record.thread != thread and bool(record.pairs)


class Examples:
    """Experiences for one reading: looked up when first asked for, and known to have been."""

    def __init__(self, look: Callable[[], Sequence[Experience]]) -> None:
        self._look = look
        self.found: tuple[Experience, ...] | None = None

    def __call__(self) -> tuple[Experience, ...]:
        """The experiences, best first."""
        if self.found is None:
            self.found = tuple(self._look())
        return self.found


class Memory:
    """Long-term memory for one turn: bound to its user and thread; false where there is none.

    What fails is told by `fault`, in words for the user; the turn goes on without.
    """

    def __init__(self, longterm: LongTerm | None, user: str, thread: str) -> None:
        self._longterm, self._user, self.thread = longterm, user, thread
        self.fault = ""

    def __bool__(self) -> bool:
        return self._longterm is not None

    def examples(self, text: str) -> tuple[Experience, ...]:
        """Confirmed experiences with words like these, best first."""
        return self._asked(lambda memory: memory.examples(self._user, text), ())

    def unit(self, text: str) -> IntentUnit | None:
        """The task of an earlier session that words mean, if one is about the same thing."""
        nothing: tuple[Ranked, ...] = ()
        ranked = self._asked(lambda memory: memory.meant(self._user, text, thread=self.thread), nothing)
        return next((one.unit for one in ranked if about_same(text, one.unit)), None)

    def latest(self) -> IntentUnit | None:
        """The task that was talked of last in an earlier session."""
        return self._asked(lambda memory: memory.latest(self._user, thread=self.thread), None)

    def earlier(self, text: str, now: datetime) -> tuple[str, ...]:
        """What earlier sessions tell on a question, a line each."""
        return self._asked(lambda memory: memory.earlier(self._user, text, now, thread=self.thread), ())

    def remembered(
        self, graph: TaskGraph, turn: Turn, schemas: Sequence[TaskSchema]
    ) -> dict[str, tuple[Remembered, ...]]:
        """What earlier sessions had for the tasks of a turn, by root."""
        made = [
            change.changed[0] for change in turn.changes if change.operation.kind == "add" and change.changed
        ]
        roots = dict.fromkeys(key for key in made if graph[key].parent is None and graph[key].active)
        found: dict[str, tuple[Remembered, ...]] = {}
        for root in roots:
            schema = kind_of(graph, root, schemas)
            unit = turn.recalled if root == next(iter(roots)) else None
            if schema is not None:
                missing = missing_slots(graph, root, schema, optional=unit is not None)
                found[root] = self._values(turn.utterance, schema, missing, unit)
            elif unit is not None:
                found[root] = remembered(unit)
        return found

    def _values(
        self, text: str, schema: TaskSchema, missing: Mapping[str, str], unit: IntentUnit | None
    ) -> tuple[Remembered, ...]:
        """What to propose for the missing slots of a task: of the unit that is meant, or of its kind."""

        def look(memory: LongTerm) -> tuple[Remembered, ...]:
            if unit is not None:  # the words point to it, however they say so
                return memory.values(text, missing, (Ranked(unit, 1.0, 1.0),))
            ranked = memory.meant(self._user, text, thread=self.thread)
            ranked = tuple(one for one in ranked if one.unit.intent == schema.name)
            return memory.values(text, missing, ranked)

        return self._asked(look, ()) if missing else ()

    def keep(
        self,
        graph: TaskGraph,
        turn: Turn,
        schemas: Sequence[TaskSchema],
        done: Sequence[tuple[Experience, Outcome]],
    ) -> None:
        """Keep what a turn leaves: the tasks it changed, and the experiences whose outcome is known."""
        touched = dict.fromkeys(key for change in turn.changes for key in change.changed if key in graph)
        roots = dict.fromkeys(graph.root(key).id for key in (*touched, *turn.proposals) if key in graph)
        units = [unit_of(graph, root, schemas, thread=self.thread, at=now()) for root in roots]
        self._asked(lambda memory: memory.keep(self._user, units, done), None)

    def session(self, turns: Sequence[Exchange], tasks: TaskGraph, *, closed: bool) -> bool:
        """Make facts of turns when they are due; whether all were taken, see `LongTerm.session`."""
        return self._asked(lambda memory: memory.session(self._user, turns, tasks, closed=closed), False)

    def _asked(self, look: Callable[[LongTerm], Found], otherwise: Found) -> Found:
        if self._longterm is None:
            return otherwise
        try:
            return look(self._longterm)
        except (StoreError, OutboxError) as error:
            self.fault = f"I go without what earlier sessions tell: {error}."
            _log.warning("long-term memory: %s", error)
            return otherwise


def read_with_memory(
    text: str, view: View, interpreter: Interpreter, memory: Memory
) -> tuple[Reading, IntentUnit | None]:
    """Read an utterance; one that points back to an earlier session as the request that it repeats.

    Returns:
        The reading, and the task of the earlier session that is pointed to, if memory has it. Words that ask
        for no new task are read as they are.
    """
    reference = refer(text) if memory else None
    if reference is None:
        return interpreter.read(text, view), None
    unit = memory.unit(text) if reference.request else memory.latest()
    title = "" if unit is None else unit.title if is_action(unit.title) else f"plan {the(unit.title)}"
    if words := reference.words(title):
        reading = interpreter.read(words, view)
        if any(step.act in NEW and not step.within and step.within_task is None for step in reading.steps):
            steps = tuple(step.model_copy(update={"text": text}) for step in reading.steps)
            return replace(reading, steps=steps), unit
    else:
        reading = Reading(())
    again = interpreter.read(text, view)
    return replace(again, usage=again.usage + reading.usage), None
