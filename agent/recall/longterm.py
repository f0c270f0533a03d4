"""Long-term memory as the nodes use it: what earlier sessions tell, and what this one leaves.

What is to be kept is in the outbox, on disk, before the turn ends; it goes into the store in batches, beside
the talk: when a task is finished, when enough waits, and before anything is looked up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from taskloom.agent.language.pointers import Reference, asks_of_the_past, other_one, refer
from taskloom.agent.language.statements import statements
from taskloom.agent.language.wording import is_action, spoken, the
from taskloom.agent.language.words import content
from taskloom.agent.plan.finder import in_role
from taskloom.agent.plan.slots import Remembered, kind_of, missing_slots, offered_roots
from taskloom.agent.reading.patterns.named import named_task
from taskloom.agent.reading.patterns.states import wanted_again
from taskloom.agent.turn.reading import Interpreter, Reading, Usage, View
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.state import Known, Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import Answer
from taskloom.memory.consolidate import Exchange, due, facts_of, people, summarise
from taskloom.memory.curator import Curator
from taskloom.memory.judge import CANDIDATES, Ranked, pairs_for, rank_units
from taskloom.memory.outbox import Outbox, OutboxError
from taskloom.memory.pointing import when
from taskloom.memory.policies import Outcome, Policy, offered, settle
from taskloom.memory.ranking import Hit
from taskloom.memory.records import Experience, Fact, IntentUnit, Kind, now
from taskloom.memory.store import AnyRecord, Store, StoreError
from taskloom.memory.tasks import TaskGraph

from .facts import Asked, answering, asked, covers, is_beside
from .facts import told as told_facts
from .sessions import LEFT, Session, Sessions
from .units import about_same, remembered, told, unit_of, without

if TYPE_CHECKING:
    from taskloom.agent.models.narrator import Narrator

_log = logging.getLogger(__name__)

Found = TypeVar("Found")

BUFFER = 40  # records that are added before they are written
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
        return asked().meter.usage if asked else Usage()

    # ---- looking up ---------------------------------------------------------------------------

    def meant(self, user: str, text: str, *, thread: str) -> tuple[Ranked, ...]:
        """Tasks of earlier sessions that words may mean, the likeliest first.

        Raises:
            StoreError: the store cannot be read.
        """
        found = self._search(user, text, "unit", CANDIDATES)
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
        self._fresh(user)
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
        ranked = [one.unit for one in self.meant(user, text, thread=thread)]
        if span:
            chosen = [unit for unit in ranked if span[0] <= unit.at < span[1]][:TOLD]
        else:
            chosen = [unit for unit in ranked if about_same(text, unit)][:1]
        return told(sorted(chosen, key=lambda unit: unit.at))

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
            self._note(session)
        hits = self._search(user, text, "fact", ALIKE)
        if not hits:
            return ()
        question = asked(text, people(hit.record for hit in hits if isinstance(hit.record, Fact)))
        found = answering(question, hits, lambda: self._facts(user), thread=thread, taken=taken)
        span = when(text, moment.astimezone()) if asks_of_the_past(text, answered=True) else None
        return tuple(fact for fact in found if span is None or span[0] <= fact.at < span[1])

    def _facts(self, user: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.store.records(user, "fact") if isinstance(fact, Fact))

    def examples(self, user: str, text: str, *, limit: int = 3) -> tuple[Experience, ...]:
        """Confirmed experiences with words like these, best first."""
        found = self._search(user, text, "experience", 4 * limit)
        known = [hit.record for hit in found if isinstance(hit.record, Experience) and hit.dense >= SIMILAR]
        return tuple(one for one in known if offered(self.policy, one))[:limit]

    def _search(self, user: str, text: str, kind: Kind, limit: int) -> tuple[Hit, ...]:
        """What a search finds; where there is nothing, nothing is embedded, as that takes loading."""
        self._fresh(user)
        if not self.store.count(user, kind) and not self.outbox.count(user):
            return ()
        return self.store.search(user, text, kind=kind, limit=limit)

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
        """Queue what a session tells of its turns, if the last of them tell something."""
        new = replace(session, turns=session.turns[session.noted :])
        session.noted = len(session.turns)
        if new.turns and _told(new):
            self.outbox.add(session.user, _told(session))

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


def _told(session: Session) -> tuple[Fact, ...]:
    """What a session tells without a model: what became of its tasks, and what the user said beside them."""
    numbers = {turn.turn for turn in session.turns}
    states = (state.turn for node in session.tasks.values() for state in node.states())
    said = statements(session.turns, numbers.intersection(states))
    return (*summarise(session.turns, session.tasks, called=the), *said)


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

    def facts(self, text: str, now: datetime, taken: Container[int], *, beside: bool) -> tuple[Fact, ...]:
        """The facts that answer a question, in order of time, see `LongTerm.facts`.

        beside: only those that no task tells.
        """
        nothing: tuple[Fact, ...] = ()
        found = self._asked(
            lambda memory: memory.facts(self._user, text, now, thread=self.thread, taken=taken), nothing
        )
        return tuple(fact for fact in found if is_beside(fact) or not beside)

    def remembered(
        self, graph: TaskGraph, turn: Turn, schemas: Sequence[TaskSchema]
    ) -> dict[str, tuple[Remembered, ...]]:
        """What earlier sessions had for the tasks of a turn, by root."""
        made = [
            change.changed[0] for change in turn.changes if change.operation.kind == "add" and change.changed
        ]
        roots = dict.fromkeys(key for key in made if graph[key].parent is None and graph[key].active)
        if turn.recalled is not None and not roots:  # in place of what is proposed already
            roots = dict.fromkeys(offered_roots(graph))
        found: dict[str, tuple[Remembered, ...]] = {}
        for root in roots:
            schema = kind_of(graph, root, schemas)
            unit = turn.recalled if root == next(iter(roots)) else None
            if schema is not None:
                missing = missing_slots(graph, root, schema, optional=unit is not None)
                found[root] = self._values(turn.utterance, schema, missing, unit)
            elif unit is not None:
                found[root] = remembered(unit, self._before(unit))
        return found

    def _before(self, unit: IntentUnit) -> tuple[IntentUnit, ...]:
        return self._asked(lambda memory: memory.before(self._user, unit, thread=self.thread), ())

    def _values(
        self, text: str, schema: TaskSchema, missing: Mapping[str, str], unit: IntentUnit | None
    ) -> tuple[Remembered, ...]:
        """What to propose for the missing slots of a task: of the unit that is meant, or of its kind.

        What the kind requires and the unit does not say is looked for in others.
        """

        def look(memory: LongTerm) -> tuple[Remembered, ...]:
            own: tuple[Remembered, ...] = ()
            left = missing
            if unit is not None:  # the words point to it, however they say so
                own = memory.values(text, missing, (Ranked(unit, 1.0, 1.0),))
                whole = memory.store.get(self._user, [unit.id]).get(unit.id)
                told = {pair.slot for pair in whole.pairs} if isinstance(whole, IntentUnit) else set()
                told |= {one.slot for one in own} | {slot.name for slot in schema.slots if not slot.required}
                left = {slot: words for slot, words in missing.items() if slot not in told}
            if not left:
                return own
            ranked = memory.meant(self._user, text, thread=self.thread)
            ranked = tuple(one for one in ranked if one.unit.intent == schema.name)
            return (*own, *memory.values(text, left, ranked))

        return self._asked(look, ()) if missing else ()

    def instead(self, graph: TaskGraph, text: str) -> IntentUnit | None:
        """Another task of the kind whose values are proposed, where words ask for it: 'no, the other one'."""
        words = other_one(text)
        sources = {node.source.removeprefix("memory:") for node in in_role(graph, "proposed")}
        if words is None or not sources:
            return None

        def look(memory: LongTerm) -> IntentUnit | None:
            found = memory.store.get(self._user, sorted(sources)).values()
            first = next((one for one in found if isinstance(one, IntentUnit)), None)
            if first is None:
                return None
            ranked = memory.meant(self._user, f"{first.title} {words}", thread=self.thread)
            others = (one.unit for one in ranked if one.unit.id not in sources)
            same = (one for one in others if one.intent == first.intent or about_same(first.title, one))
            return next((one for one in same if content(words) <= content(one.text)), None)

        return self._asked(look, None)

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


def recollected(
    turn: Turn, answers: Sequence[Answer], graph: TaskGraph, memory: Memory, now: datetime
) -> tuple[tuple[str, ...], tuple[Known, ...]]:
    """What earlier sessions, and facts, tell on the questions of a turn: lines of units, and facts.

    Facts stand in for answers that the tasks do not have. A question of an earlier session gets the task of
    that session, unless the user told in so many words what it asks for, or what was before is asked for.
    """
    texts = [step.text for step in turn.steps if step.act == "ask"]
    if len(texts) != len(answers):
        texts = [turn.utterance] * len(answers)
    taken = {state.turn for node in graph.values() for state in node.states()}
    found = {
        n: memory.facts(text, now, taken, beside=bool(one.tasks))
        for n, (text, one) in enumerate(zip(texts, answers, strict=True))
        if _open(one, asked(text), graph)
    }
    if asks_of_the_past(turn.utterance, answered=any(one.tasks for one in answers)):
        plain = any(is_beside(fact) or fact.status == "former" for facts in found.values() for fact in facts)
        if not plain and (lines := memory.earlier(turn.utterance, now)):
            return lines, ()
    return (), tuple(
        Known(
            answer=n,
            instead=bool(asked(texts[n]).words) or not answers[n].tasks,
            facts=tuple(fact.id for fact in facts),
            lines=told_facts(facts),
        )
        for n, facts in found.items()
        if facts
    )


def _open(answer: Answer, question: Asked, graph: TaskGraph) -> bool:
    """Whether the tasks leave a question open, or speak of something else than it asks for."""
    supposed, verdict = answer.question, answer.verdict
    if supposed.denied or supposed.act is not None or answer.count or answer.events:
        return False
    if not answer.tasks or supposed.slot or (verdict is not None and verdict.kind in ("never", "unknown")):
        return True
    nodes = [node for key in answer.tasks for node in (graph[key], *graph.ancestors(key))]
    says = " ".join(f"{spoken(state.slot)} {state.title} {state.value or ''}"
                    for node in nodes for state in node.states())  # fmt: skip
    return supposed.kind in _TOLD_OF and not (question.words and covers(question, says))


_TOLD_OF = ("value", "claim", "ever", "before", "summary")  # kinds of question that facts may answer better


def _named_in(text: str, unit: IntentUnit, graph: TaskGraph) -> tuple[Step, ...]:
    """The values of a unit that words name, for slots that have another: 'in Bergen' is not in Oslo."""
    parts = {part.name: part for root in offered_roots(graph) for part in graph.subtree(root)[1:]}
    named = [pair for pair in unit.pairs if content(pair.answer) and content(pair.answer) <= content(text)]
    return tuple(
        Step(text=text, act="set", intent="update", task=parts[pair.slot].id, value=pair.answer)
        for pair in named
        if pair.slot in parts and parts[pair.slot].status == "filled"
    )


def read_with_memory(
    text: str, view: View, interpreter: Interpreter, memory: Memory
) -> tuple[Reading, IntentUnit | None]:
    """Read an utterance; one that points back to an earlier session as the request that it repeats.

    Returns:
        The reading, and the task of the earlier session that is pointed to, if memory has it. Words that ask
        for no new task are read as they are.
    """
    if memory and (unit := memory.instead(view.graph, text)):
        return Reading(
            _named_in(text, unit, view.graph) or (Step(text=text, act="chat", intent="check"),)
        ), unit
    # What a tool gave in this thread is had again from the tool.
    reference = None if wanted_again(text, view) is not None else refer(text) or _request(text, view)
    if reference is None or not memory:
        reading = interpreter.read(text, view)
        bare = reference is not None and not reference.words("") and reading.by == "rules"
        return (_unsure(text, reading) if bare else reading), None
    unit = memory.unit(text) if reference.request else memory.latest()
    title = "" if unit is None else unit.title if is_action(unit.title) else f"plan {the(unit.title)}"
    reading = interpreter.read(text, replace(view, earlier=title))
    if reading.by == "model":
        return reading, unit if any(map(_begins, reading.steps)) else None
    if unit is not None and (rest := without(unit, reference.changes)):
        unit, reference = rest, replace(reference, changes="")
    if words := reference.words(title):
        instead = interpreter.read(words, view)
        if any(map(_begins, instead.steps)):
            steps = tuple(step.model_copy(update={"text": text}) for step in instead.steps)
            return replace(instead, steps=steps, usage=instead.usage + reading.usage), unit
    if unit is None and not reference.words(""):
        reading = _unsure(text, reading)
    return reading, None


def _begins(step: Step) -> bool:
    """Whether a step begins a task of its own."""
    return step.act in NEW and not step.within and step.within_task is None and step.task is None


def _request(text: str, view: View) -> Reference | None:
    """How a request for a task of a kind that begins as a change points back: 'add an event, as before'."""
    bare = re.sub(r"^please\s+", "", text.strip(), flags=re.IGNORECASE)
    found = refer(f"I want to {bare[:1].lower()}{bare[1:]}") if view.schemas else None
    return found if found and found.request and named_task(found.request, view) else None


def _unsure(text: str, reading: Reading) -> Reading:
    """What to make of 'same as last time' where there was no last time: not a task of that name."""
    step = Step(text=text, act="unsure", intent="check", value=text.strip())
    return replace(reading, steps=(step,), sure=False)
