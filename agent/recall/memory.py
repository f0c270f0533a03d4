"""Long-term memory as one turn sees it: bound to its user and thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from taskloom.agent.language.pointers import asks_of_the_past, other_one
from taskloom.agent.language.wording import spoken
from taskloom.agent.language.words import content
from taskloom.agent.plan.kinds import kind_of, missing_slots, offered_roots
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.plan.slots import Remembered
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.state import Known, Turn
from taskloom.memory.claims import Answer
from taskloom.memory.consolidate import Exchange
from taskloom.memory.judge import Ranked
from taskloom.memory.outbox import OutboxError
from taskloom.memory.policies import Outcome
from taskloom.memory.records import Experience, Fact, IntentUnit, now
from taskloom.memory.store import StoreError
from taskloom.memory.tasks import TaskGraph

from .facts import FactQuestion, covers, is_remark, parse_question
from .facts import fact_lines as told_facts
from .longterm import Found, LongTerm
from .units import is_same_request, remembered, unit_of

if TYPE_CHECKING:
    from .asking import Answer as RecordedAnswer

_log = logging.getLogger(__name__)


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
        here = self.thread
        ranked = self._asked(lambda memory: memory.likely_units(self._user, text, thread=here), nothing)
        return next((one.unit for one in ranked if is_same_request(text, one.unit)), None)

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
        return tuple(fact for fact in found if is_remark(fact) or not beside)

    def recorded(self, text: str) -> RecordedAnswer | None:
        """What recordings say on a question of what was said in them; None where nothing says so."""
        from .questions import of_recordings  # only questions need it, and few of them what is below

        if not of_recordings(text):
            return None
        from .asking import Answer as RecordedAnswer
        from .recordings import Recordings

        found = self._asked(lambda memory: Recordings(memory, self._user).rag(text), RecordedAnswer())
        return found if found.found else None

    def remembered(
        self, graph: TaskGraph, turn: Turn, schemas: Sequence[TaskSchema]
    ) -> dict[str, tuple[Remembered, ...]]:
        """What earlier sessions had for the tasks of a turn, by root."""
        added = [
            change.changed[0] for change in turn.changes if change.operation.kind == "add" and change.changed
        ]
        roots = dict.fromkeys(key for key in added if graph[key].parent is None and graph[key].active)
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
                known = {pair.slot for pair in whole.pairs} if isinstance(whole, IntentUnit) else set()
                known |= {one.slot for one in own} | {slot.name for slot in schema.slots if not slot.required}
                left = {slot: words for slot, words in missing.items() if slot not in known}
            if not left:
                return own
            ranked = memory.likely_units(self._user, text, thread=self.thread)
            ranked = tuple(one for one in ranked if one.unit.intent == schema.name)
            return (*own, *memory.values(text, left, ranked))

        return self._asked(look, ()) if missing else ()

    def instead(self, graph: TaskGraph, text: str) -> IntentUnit | None:
        """Another task of the kind whose values are proposed, where words ask for it: 'no, the other one'."""
        words = other_one(text)
        sources = {node.source.removeprefix("memory:") for node in tasks_in_role(graph, "proposed")}
        if words is None or not sources:
            return None

        def look(memory: LongTerm) -> IntentUnit | None:
            found = memory.store.get(self._user, sorted(sources)).values()
            first = next((one for one in found if isinstance(one, IntentUnit)), None)
            if first is None:
                return None
            ranked = memory.likely_units(self._user, f"{first.title} {words}", thread=self.thread)
            others = (one.unit for one in ranked if one.unit.id not in sources)
            same = (one for one in others if one.intent == first.intent or is_same_request(first.title, one))
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
        touched = (key for change in turn.changes for key in change.changed)
        self.keep_units(graph, (*touched, *turn.proposals), schemas, done)

    def keep_units(
        self,
        graph: TaskGraph,
        touched: Sequence[str],
        schemas: Sequence[TaskSchema],
        done: Sequence[tuple[Experience, Outcome]] = (),
    ) -> None:
        """Keep the tasks that were touched, each as a whole, and the experiences whose outcome is known."""
        roots = dict.fromkeys(graph.root(key).id for key in touched if key in graph)
        units = [unit_of(graph, root, schemas, thread=self.thread, at=now()) for root in roots]
        self._asked(lambda memory: memory.keep(self._user, units, done), None)

    def session(
        self, turns: Sequence[Exchange], tasks: TaskGraph, *, closed: bool, ended: bool = False
    ) -> bool:
        """Make facts of turns when they are due; whether all were taken, see `LongTerm.session`."""

        def take(memory: LongTerm) -> bool:
            return memory.session(self._user, turns, tasks, closed=closed, ended=ended)

        return self._asked(take, False)

    def _asked(self, look: Callable[[LongTerm], Found], otherwise: Found) -> Found:
        if self._longterm is None:
            return otherwise
        try:
            return look(self._longterm)
        except (StoreError, OutboxError) as error:
            self.fault = f"I go without what earlier sessions tell: {error}."
            _log.warning("long-term memory: %s", error)
            return otherwise


def answer_from_memory(
    turn: Turn, answers: Sequence[Answer], graph: TaskGraph, memory: Memory, now: datetime
) -> tuple[tuple[str, ...], tuple[Known, ...]]:
    """What earlier sessions, and facts, tell on the questions of a turn: lines of units, and facts.

    Facts stand in for answers that the tasks do not have. A question of an earlier session gets the task of
    that session, unless the user told in so many words what it asks for, or what was before is asked for.
    """
    texts = [step.text for step in turn.steps if step.act == "ask"]
    if len(texts) != len(answers):
        texts = [turn.utterance] * len(answers)
    if len(answers) == 1 and (said := memory.recorded(turn.utterance)) is not None:
        scenes = tuple(one.scene.id for one in said.moments)
        sentence = f"{said.text} ({said.source})"
        return (), (Known(answer=0, instead=True, facts=scenes, lines=(sentence,)),)
    taken = {state.turn for node in graph.values() for state in node.states()}
    found = {
        n: memory.facts(text, now, taken, beside=bool(one.tasks))
        for n, (text, one) in enumerate(zip(texts, answers, strict=True))
        if _open(one, parse_question(text), graph)
    }
    if asks_of_the_past(turn.utterance, answered=any(one.tasks for one in answers)):
        plain = any(is_remark(fact) or fact.status == "former" for facts in found.values() for fact in facts)
        if not plain and (lines := memory.earlier(turn.utterance, now)):
            return lines, ()
    return (), tuple(
        Known(
            answer=n,
            instead=bool(parse_question(texts[n]).words) or not answers[n].tasks,
            facts=tuple(fact.id for fact in facts),
            lines=told_facts(facts),
        )
        for n, facts in found.items()
        if facts
    )


def _open(answer: Answer, question: FactQuestion, graph: TaskGraph) -> bool:
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
