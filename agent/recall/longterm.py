"""Long-term memory as the nodes use it: what earlier sessions tell, and what this one leaves.

What is to be kept is in the outbox, on disk, before the turn ends; it goes into the store in batches, beside
the talk: when a task is finished, when enough waits, when it is quiet for a moment, and before anything is
looked up that it may answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from threading import Lock, Timer
from time import monotonic
from typing import TypeGuard, TypeVar

from taskloom.agent.language.pointers import asks_of_the_past
from taskloom.agent.language.statements import statements
from taskloom.agent.language.wording import spoken, the
from taskloom.agent.plan.slots import Remembered
from taskloom.agent.telemetry.spans import span
from taskloom.agent.turn.reading import Usage
from taskloom.memory.consolidate import (
    Exchange,
    due,
    facts_of,
    people,
    summarise,
    tasks_by_turn,
)
from taskloom.memory.curator import Curator
from taskloom.memory.judge import CANDIDATES, Ranked, pairs_for, rank_units
from taskloom.memory.outbox import ALL, Outbox, OutboxError, Which
from taskloom.memory.pointing import when
from taskloom.memory.policies import Outcome, Policy, is_retrievable, settle
from taskloom.memory.ranking import Hit
from taskloom.memory.records import Experience, Fact, IntentUnit, Kind, now
from taskloom.memory.store import AnyRecord, Store, StoreError
from taskloom.memory.tasks import TaskGraph

from .facts import answering_facts, parse_question
from .sessions import LEFT, Narrator, Session, Sessions
from .units import is_same_request, remembered, unit_lines

_log = logging.getLogger(__name__)

Found = TypeVar("Found")

BUFFER = 40  # records that are added before they are written at once
QUIET = 1.0  # seconds after which fewer of them are
PATIENCE = 1.0  # seconds that a reply waits for what is on its way into the store
TOLD = 5  # units told in one reply
ALIKE = 40  # facts that are looked at for one question
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
        model_tells: bool = True,
    ) -> None:
        """What it works with.

        Args:
            store: opens the store, when it is first needed.
            outbox: opens the queue.
            policy: which experiences are kept.
            narrator: gives the model that tells sessions; without one the tasks alone do.
            model_judges: whether it judges what is proposed too, in the turn.
            model_tells: whether it tells sessions at all; not worth a call where nothing is kept.
        """
        self._judge = narrator if model_judges else None
        self.narrator = narrator if model_tells else None
        self._sessions = Sessions()
        self.policy = policy or Policy(addition="coarse", deletion="history")
        self._open_store, self._open_outbox = store, outbox
        self._store: Store | None = None
        self._outbox: Outbox | None = None
        self._added = 0  # since something was last written
        self._guard, self._flushing = Lock(), Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="taskloom-memory")
        self._job: Future[None] | None = None
        self._timer: Timer | None = None

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

    @property
    def usage(self) -> Usage:
        """What the model has cost so far that tells sessions and decides on facts, and judges."""
        asked = self.narrator or self._judge
        return asked().usage if asked else Usage()

    # ---- looking up ---------------------------------------------------------------------------

    def likely_units(self, user: str, text: str, *, thread: str) -> tuple[Ranked, ...]:
        """Tasks of earlier sessions that words may mean, the likeliest first.

        Raises:
            StoreError: the store cannot be read.
        """
        found = self._search(user, text, Which("unit", thread), CANDIDATES)
        hits = [hit for hit in found if _earlier(hit.record, thread)]
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
        decided = {*first.dropped, *(one.slot for one in same)}
        missing = {slot: words for slot, words in missing.items() if slot not in decided}
        judge = self._judge().judge if self._judge else None
        found = pairs_for(text, missing, ranked, self.store.embedder, judge=judge)
        best = [values[0] for values in found.values() if values and values[0].score >= LIKELY]
        judged = (Remembered(one.slot, spoken(one.slot), one.value, False, one.source) for one in best)
        return (*same, *judged)

    def latest(self, user: str, *, thread: str) -> IntentUnit | None:
        """The task that was talked of last in an earlier session."""
        self._fresh(user, Which("unit", thread))
        found = [unit for unit in self.store.records(user, "unit") if _earlier(unit, thread)]
        return max(found, key=lambda unit: (unit.at, unit.order), default=None)

    def before(self, user: str, unit: IntentUnit, *, thread: str) -> tuple[IntentUnit, ...]:
        """Earlier tasks of the same kind in other sessions than this one, the newest first."""
        found = [
            one
            for one in self.store.records(user, "unit")
            if isinstance(one, IntentUnit) and one.intent == unit.intent and one.thread != thread
            if (one.at, one.order) < (unit.at, unit.order)
        ]
        return tuple(sorted(found, key=lambda one: (one.at, one.order), reverse=True))

    def earlier(self, user: str, text: str, moment: datetime, *, thread: str) -> tuple[str, ...]:
        """What earlier sessions tell on a question, a line each, in order of time; () where nothing fits."""
        span = when(text, moment.astimezone())
        ranked = [one.unit for one in self.likely_units(user, text, thread=thread)]
        if span:
            chosen = [unit for unit in ranked if span[0] <= unit.at < span[1]][:TOLD]
        else:
            chosen = [unit for unit in ranked if is_same_request(text, unit)][:1]
        return unit_lines(sorted(chosen, key=lambda unit: unit.at))

    def facts(
        self, user: str, text: str, moment: datetime, *, thread: str, taken: Container[int] = ()
    ) -> tuple[Fact, ...]:
        """The facts that answer a question, in order of time; of this thread only what its tasks do not tell.

        taken: turns of the thread that changed tasks.

        Raises:
            StoreError: the store cannot be read.
            OutboxError: what waits cannot be kept.
        """
        for session in self._sessions.of(user):
            self._note(session, beside=session.key == (user, thread))
        hits = self._search(user, text, Which("fact"), ALIKE)
        if not hits:
            return ()
        question = parse_question(text, people(hit.record for hit in hits if isinstance(hit.record, Fact)))
        found = answering_facts(question, hits, lambda: self._facts(user), thread=thread, taken=taken)
        span = when(text, moment.astimezone()) if asks_of_the_past(text, answered=True) else None
        return tuple(fact for fact in found if span is None or span[0] <= fact.at < span[1])

    def _facts(self, user: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.store.records(user, "fact") if isinstance(fact, Fact))

    def examples(self, user: str, text: str, *, limit: int = 3) -> tuple[Experience, ...]:
        """Confirmed experiences with words like these, best first."""
        found = self._search(user, text, Which("experience"), 4 * limit)
        known = [hit.record for hit in found if isinstance(hit.record, Experience) and hit.dense >= SIMILAR]
        return tuple(one for one in known if is_retrievable(self.policy, one))[:limit]

    def like(self, user: str, text: str, *, limit: int) -> tuple[Hit, ...]:
        """Facts and tasks of earlier sessions that match a text, the best first.

        Raises:
            StoreError: the store cannot be read.
            OutboxError: what waits cannot be kept.
        """
        kinds = (Which("fact"), Which("unit"))
        hits = [hit for kind in kinds for hit in self._search(user, text, kind, limit)]
        held = [hit for hit in hits if not (isinstance(hit.record, Fact) and hit.record.status == "deleted")]
        return tuple(sorted(held, key=lambda hit: hit.score, reverse=True)[:limit])

    def of_kind(self, user: str, kind: Kind) -> tuple[AnyRecord, ...]:
        """All records of a kind, those kept just now too, ordered by time and id.

        Raises:
            StoreError: the store cannot be read.
        """
        self._fresh(user, Which(kind))
        return self.store.records(user, kind)

    def _search(self, user: str, text: str, which: Which, limit: int) -> tuple[Hit, ...]:
        """What a search finds; where there is nothing, nothing is embedded, as that takes loading."""
        with span("search", which.kind or "all") as seen:
            self._fresh(user, which)
            if not self.store.count(user, which.kind or None) and not self.outbox.count(user):
                return ()
            found = self.store.search(user, text, kind=which.kind or None, limit=limit)
            seen.note(found=len(found))
            return found

    # ---- keeping ------------------------------------------------------------------------------

    def keep(
        self, user: str, units: Sequence[IntentUnit], done: Iterable[tuple[Experience, Outcome]]
    ) -> None:
        """Keep records; no killed process loses them when this has returned."""
        records: list[AnyRecord] = [*units, *(settle(experience, how) for experience, how in done)]
        if not records:
            return
        self.outbox.add(user, records)
        self._added += len(records)
        if any(unit.status == "done" for unit in units) or self._added >= BUFFER:
            self._added = 0
            self.write_soon()
        else:
            self._write_when_quiet()

    def tell(self, user: str, facts: Sequence[Fact]) -> None:
        """Keep facts; no killed process loses them when this has returned.

        Raises:
            OutboxError: they cannot be kept.
        """
        self.outbox.add(user, facts)
        self.write_soon()

    def put(self, user: str, records: Sequence[AnyRecord]) -> None:
        """Write records as they are, past what decides on facts; they are kept when this has returned.

        Raises:
            StoreError: they cannot be written.
        """
        with self._flushing:
            self.store.put(user, records)

    def session(
        self, user: str, turns: Sequence[Exchange], tasks: TaskGraph, *, closed: bool, ended: bool = False
    ) -> bool:
        """Make facts of a session's turns when they are due; whether all of them were taken.

        Args:
            user: whose they are.
            turns: of one thread, those not yet taken.
            tasks: of that thread.
            closed: whether a task was finished in the last one.
            ended: whether that was the last one.
        """
        session, left = self._sessions.seen(user, turns, tasks)
        for other in left:
            self._note(other)
            if other.elsewhere >= LEFT:
                self._end(other)
        if session is None:
            return True
        what = due(len(session.turns), closed=closed, ended=ended, model=self.narrator is not None)
        if what != "nothing":
            self._note(session)
        if what == "all":
            self._end(session)
        return what == "all"

    def _note(self, session: Session, *, beside: bool = False) -> None:
        """Queue the facts that a session gives, if its last turns give any.

        beside: only what the user said beside the tasks, for a question in the session itself.
        """
        make_facts, noted = (_remarks, session.heard) if beside else (_facts_of_session, session.noted)
        new = replace(session, turns=session.turns[noted:])
        session.heard = len(session.turns)
        session.noted = session.noted if beside else session.heard
        if new.turns and make_facts(new):
            self.outbox.add(session.user, make_facts(session))

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

    def _write_when_quiet(self) -> None:
        """Have what waits written a moment from now: while the reply is read, and together if more comes."""
        with self._guard:
            if self._timer is None or not self._timer.is_alive():
                self._timer = Timer(QUIET, self.write_soon)
                self._timer.daemon = True
                self._timer.start()

    def _write(self) -> None:
        try:
            self.flush()
        except (StoreError, OutboxError) as error:  # it waits in the outbox, which tells `doctor`
            _log.warning("long-term memory waits: %s", error)

    def flush(self, user: str | None = None) -> int:
        """Write what waits of a user, or of all; how many records went.

        Raises:
            StoreError: the store cannot be opened.
        """
        with self._flushing:
            decide = self.narrator().decide if self.narrator else None
            return self.outbox.flush(Curator(self.store, self.policy, decide), user)

    def named(self, user: str, key: str) -> tuple[AnyRecord, ...]:
        """The records whose ids begin so."""
        self._fresh(user, ALL)
        return tuple(record for record in self.store.records(user) if record.id.startswith(key))

    def drop(self, user: str, ids: Sequence[str]) -> None:
        """Forget records: no byte of them stays in any file of an embedded store.

        Raises:
            StoreError: the store fails; then they are not sure to be gone.
            OutboxError: another process is moving records, and does not come to an end.
        """
        with self._flushing:
            self.outbox.discard(user, ids)
            self.store.delete(user, ids)
            self.store.compact()

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

    def _fresh(self, user: str, which: Which) -> None:
        """See to it that what was kept is found, as far as that takes no longer than a reply may wait.

        What failed before, and what is too much, is left to `write_soon`.
        """
        if not self.outbox.count(user, which=which, untried=True):
            return
        until = monotonic() + PATIENCE
        if self._flushing.acquire(timeout=PATIENCE):
            try:
                left = max(0.0, until - monotonic())
                self.outbox.flush(Curator(self.store, self.policy), user, which=which, seconds=left)
            finally:
                self._flushing.release()
        if monotonic() >= until:
            self.write_soon()

    def close(self) -> None:
        """End the sessions, finish what is being written, and close; what waits is there the next time."""
        for session in self._sessions.drop():
            self._note(session)
            if self.narrator is not None:
                self._end(session)
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        self._worker.shutdown(wait=True)
        for opened in (self._store, self._outbox):
            if opened is not None:
                opened.close()
        self._store = self._outbox = None


def _facts_of_session(session: Session) -> tuple[Fact, ...]:
    """What a session tells without a model: what became of its tasks, and what the user said beside them."""
    return (*summarise(session.turns, session.tasks, called=the), *_remarks(session))


def _remarks(session: Session) -> tuple[Fact, ...]:
    """What the user said in a session beside its tasks."""
    return statements(session.turns, tasks_by_turn(session.tasks))


def _earlier(record: AnyRecord, thread: str) -> TypeGuard[IntentUnit]:
    """Whether a record is a task of another thread that has something to propose."""
    return isinstance(record, IntentUnit) and record.thread != thread and bool(record.pairs)
