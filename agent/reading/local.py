"""The local reader: reads without a model, and asks where it cannot trust what it read.

Every utterance has several readings: that of the patterns of `rules`, and the few likeliest of the network.
All are tried on the plan; the one that most likely does what was said is taken. Below a probability it is
only proposed, below another one the user is asked to say it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log

from taskloom.agent.grounding.asking_first import question_before
from taskloom.agent.grounding.grounder import ground
from taskloom.agent.grounding.resolving.assemble import assemble, assemble_all
from taskloom.agent.grounding.resolving.resolver import content
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD, TOO_MUCH, clip
from taskloom.agent.language.words import slot_name
from taskloom.agent.plan.kinds import allowed_value, offered_roots
from taskloom.agent.plan.slots import ANY
from taskloom.agent.turn.clauses import Parse
from taskloom.agent.turn.reading import Interpreter, Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Check, Clarify, Operation, Update

from .filling import Filling
from .frames import Framed, framed
from .gate import needs_no_model
from .heard import heard
from .sense import makes_sense
from .signs import Candidate, effects, signs
from .slots import SlotReading, Slots
from .sure import may_fill, only_fills, plainly_named, plainly_told
from .taken_up import taken_up
from .trust import at_home, probabilities

Parser = Callable[[str, str, int], Sequence[Parse]]
"""From a text, what is heard beside it, and how many readings, to these, the likeliest first."""

ACT, ACT_AT_HOME, PROPOSE = 0.6, 0.55, 0.1
"""From which probability on a reading is carried out, in general and where the words are of the kind that the
patterns were written for, and from which it is proposed."""
LEAD, HOME = 1.0, -0.5
"""Where the words are of that kind (from HOME on, see `at_home`), a reading of the network is taken before
that of the patterns if its log odds are this much higher; else if they are higher at all."""
SHARED = 0.2
"""How much the logarithm of the network's own probability of a reading counts beside log odds of trust."""
MANY = 100  # clauses are not taken in: what each does is tried on the plan that those before it leave
READINGS = 16  # of the network, that are tried on the plan


@dataclass(frozen=True, slots=True)
class Tried:
    """A reading of an utterance, tried on the plan, and the probability that it is right."""

    reading: Reading
    candidate: Candidate
    trust: float = 0.0

    @property
    def changes(self) -> bool:
        """Whether anything in the plan would change."""
        return any(not isinstance(one, Check | Clarify) for one in self.candidate.operations)


@dataclass(frozen=True, slots=True)
class Local:
    """An interpreter of two readers: the patterns, and the network.

    slots: reads what a message says of the slots of task schemas.
    answered: a model writes replies, so that a question that nobody understood is left to it.
    """

    rules: Interpreter
    parse: Parser
    slots: Slots | None = None
    answered: bool = False

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance, by the reader that more likely reads it right."""
        plain = framed(utterance, view)
        by_rules = self.by_rules(utterance, plain, view)
        if view.schemas and (filled := self._of_schemas(by_rules, utterance, view)) is not None:
            return filled
        if _is_plain(by_rules, utterance, view):
            return by_rules
        if (option := _chosen(utterance, view.question)) is not None:
            return Reading((Step(text=utterance, act="yes", value=option),), by="network")
        if (taken := self._taking_up(utterance, view)) is not None:
            return taken
        said = [clause for clause in self._parses(plain.text, view)[0].clauses if clause.act != "chat"]
        if max(len(by_rules.steps), len(said)) > MANY:
            return _unsure(utterance, by_rules, too_much=True)
        rules, *others = self.trusted(by_rules, utterance, plain, view)
        network = max(others, key=_odds)
        home = at_home(rules.candidate.parse) >= HOME
        lead, act = (LEAD, ACT_AT_HOME) if home else (0.0, ACT)
        likelier = _odds(network) > _odds(rules) + lead
        tidier = network.changes and network.trust >= act and _is_leftover(rules, utterance)
        best = network if tidier or likelier else rules
        if self._lost(view) and any(
            one.changes and not _names(one, utterance, view) for one in (rules, network)
        ):
            return _unsure(utterance, network.reading)
        if best.trust >= act:
            return best.reading
        if self.answered and not rules.changes and not network.changes:
            return by_rules
        operations = best.candidate.operations
        if operations and all(isinstance(one, Clarify) for one in operations):
            return best.reading
        if best.trust >= PROPOSE and best.changes:
            return _unsure(utterance, best.reading, best.reading.steps)
        return _unsure(utterance, network.reading)

    def _taking_up(self, utterance: str, view: View) -> Reading | None:
        """The reading of a message that takes up what was proposed and goes on: a yes, and what it says.

        Where that is not sure, both are proposed. None where nothing is taken up, and for a mere question.
        """
        if (after := taken_up(utterance, view)) is None:
            return None
        acts = {clause.act.partition(".")[0] for clause in self._parses(utterance, view)[0].clauses}
        if acts & {"yes", "no", "undo"} or acts <= {"ask", "chat", "unsure"}:
            return None
        read, yes = self.read(utterance, after), Step(text=utterance, act="yes")
        if read.sure:
            return replace(read, steps=(yes, *read.steps))
        proposed = (yes, *(one for step in read.steps for one in step.proposed))
        return _unsure(utterance, read, proposed)

    def by_rules(self, utterance: str, plain: Framed, view: View) -> Reading:
        """The reading of the patterns: of the words without a frame that says nothing."""
        return self.rules.read(utterance if plain.about is not None else plain.text, view)

    def fills(self, utterance: str, view: View) -> Reading | None:
        """The reading of a message that gives slots their values and does nothing else.

        None where that is not sure: see `sure`.
        """
        if not may_fill(utterance) or self._lost(view):
            return None
        if not view.schemas:
            step = plainly_told(utterance, view)
            return None if step is None else Reading((step,), by="network")
        filling = Filling(view)
        if (named := plainly_named(utterance, filling)) is not None:
            return Reading(filling.steps((named,), utterance), by="network")
        told = self._told(utterance, view, filling)
        kept = filling.plausible(told.filled)
        if not only_fills(utterance, filling, kept, told.odds):
            return None
        return Reading(filling.steps(kept, utterance), by="network")

    def _told(self, utterance: str, view: View, filling: Filling) -> SlotReading:
        """What the network is told of slots by an utterance."""
        before = view.exchanges[-1][1] if view.exchanges else ""
        return (
            SlotReading()
            if self.slots is None
            else self.slots(utterance, before, view.schemas, filling.known())
        )

    def _of_schemas(self, by_rules: Reading, utterance: str, view: View) -> Reading | None:
        """The reading that fills more slots of the kinds of tasks, the patterns' where they fill as many.

        None where no reading fills one.
        """
        before = view.exchanges[-1][1] if view.exchanges else ""
        if offered_roots(view.graph) and any(step.act in ("yes", "no") for step in by_rules.steps):
            return by_rules
        filling = Filling(view)
        kept = filling.plausible(self._told(utterance, view, filling).filled)
        asked = view.question is not None and view.question.question in before
        if asked and {one.value for one in kept} == {ANY} and {one.act for one in by_rules.steps} == {"no"}:
            return by_rules  # "I don't know yet" is no value
        by_pattern = _filled_by(ground(by_rules.steps, view), view)
        if len(kept) > by_pattern:
            asks = tuple(step for step in by_rules.steps if step.act == "ask")
            left = [step.text for step in by_rules.steps if _is_elsewhere(step, filling)]
            note = f"I did not take in: “{clip(left[0], 60)}”." if left else ""
            return Reading((*filling.steps(kept, utterance), *asks), by="network", note=note)
        if by_pattern:
            return by_rules
        parse, *_ = self.parse(utterance, heard(view), 1)
        if {clause.act for clause in parse.clauses} - {"chat"} != {"back"}:
            return None
        made = assemble(parse.clauses, utterance, view)
        return None if made.doubts else Reading(made.steps, by="network")

    def trusted(self, by_rules: Reading, utterance: str, plain: Framed, view: View) -> list[Tried]:
        """The readings, with how far each can be trusted; plain: the utterance without its frame."""
        tried = self.readings(by_rules, utterance, plain, view)
        candidates = [one.candidate for one in tried]
        home = at_home(candidates[0].parse)
        found = signs(plain.text, view, candidates)
        trusts = probabilities(found, home)
        return [
            replace(one, trust=trust if makes_sense(one.candidate.operations, view.graph, view.turn) else 0.0)
            for one, trust in zip(tried, trusts, strict=True)
        ]

    def readings(self, by_rules: Reading, utterance: str, plain: Framed, view: View) -> tuple[Tried, ...]:
        """That of the patterns, then those of the network that would do different things."""
        parses = self._parses(plain.text, view)
        about = plain.about.id if plain.about is not None else ""
        tried = assemble_all([parse.clauses for parse in parses], utterance, view, about)
        ruled = question_before(ground(by_rules.steps, view), utterance, view.graph)
        done = [question_before(made.operations, utterance, view.graph) for made in tried]
        whole = sum(parse.probability for parse in parses) or 1.0
        shares = dict[frozenset[tuple[str, ...]], float]()
        for parse, operations in zip(parses, done, strict=True):
            key = effects(operations)
            shares[key] = shares.get(key, 0.0) + parse.probability / whole
        found: dict[object, Tried] = {
            None: Tried(by_rules, Candidate("rules", ruled, parses[0], share=shares.get(effects(ruled), 0.0)))
        }
        for parse, made, operations in zip(parses, tried, done, strict=True):
            reading = Reading(made.steps or (Step(text=utterance, act="chat"),), by="network")
            mine = Candidate("network", operations, parse, made.margin, shares[effects(operations)])
            found.setdefault((effects(operations), made.doubts), Tried(reading, mine))
        return tuple(found.values())

    def _lost(self, view: View) -> bool:
        """Whether what was last spoken of is not in the plan: begun by a message that was not taken in."""
        known = {word for node in view.graph.active for word in content(node.title)}
        for said, reply in reversed(view.exchanges):
            if not _missed(reply):
                return False
            for clause in self.parse(said, "", 1)[0].clauses:
                named = [span for span in clause.mentions if span.role in "TW"]
                if clause.act == "task" or any(not known & set(content(span.text)) for span in named):
                    return True
        return False

    def _parses(self, utterance: str, view: View) -> Sequence[Parse]:
        return self.parse(utterance, heard(view), READINGS)


def _is_plain(by_rules: Reading, utterance: str, view: View) -> bool:
    """Whether the patterns read what cannot be read otherwise: an answer to what was asked or offered."""
    if needs_no_model(by_rules, utterance, view):
        return True
    acts = [step.act for step in by_rules.steps]
    if view.question is not None and by_rules.sure and acts == ["no"]:
        return True  # "I don't know yet"
    offered = bool({"yes", "no"} & set(acts)) and bool(offered_roots(view.graph))
    return offered and by_rules.sure  # "yes, except the budget", of what was remembered


def _filled_by(operations: Sequence[Operation], view: View) -> int:
    """How many slots of the kinds of tasks operations give a value that the slot allows."""
    listed = {slot_name(slot.name): slot.values for schema in view.schemas for slot in schema.slots}
    places = {node.id: node.name for node in view.graph.values()}
    told = 0
    for one in operations:
        if isinstance(one, Add | Update) and one.value is not None:
            name = one.slot.rpartition(".")[2] if isinstance(one, Add) else places.get(one.task, "")
            values = listed.get(name)
            told += values is not None and (not values or allowed_value(one.value, values) is not None)
    return told


_ELSEWHERE = ("remove", "hold", "resume", "done", "reopen", "assign", "need", "unneed", "only")


def _is_elsewhere(step: Step, filling: Filling) -> bool:
    """Whether a step changes another task than those whose slots are filled."""
    if step.act not in _ELSEWHERE:
        return False
    graph, own = filling.view.graph, {task.id for task in filling.tasks.values() if task is not None}
    touched = {getattr(one, "task", None) for one in ground((step,), filling.view)}
    return any(key in graph and graph.root(key).id not in own for key in touched if key)


def _unsure(
    utterance: str, reading: Reading, proposed: Sequence[Step] = (), *, too_much: bool = False
) -> Reading:
    """Asks back: proposes steps, or says that nothing was understood, or that it was too much at once."""
    value = "" if proposed else TOO_MUCH if too_much else NOT_UNDERSTOOD
    step = Step(text=utterance, act="unsure", value=value, proposed=tuple(proposed))
    return Reading((step,), sure=False, by=reading.by if proposed else "network", note=reading.note)


def _odds(one: Tried) -> float:
    """The log odds that a reading is right, lower where the network itself finds it unlikely."""
    trust = min(max(one.trust, 1e-6), 1 - 1e-6)
    own = 0.0 if one.candidate.reader == "rules" else SHARED * log(one.candidate.share + 0.01)
    return log(trust / (1 - trust)) + own


def _is_leftover(one: Tried, utterance: str) -> bool:
    """Whether a new title is just the sentence: most of its words, and more than the network marked."""
    spans = [span for clause in one.candidate.parse.clauses for span in clause.mentions]
    marked, said = {word for span in spans for word in content(span.text)}, set(content(utterance))
    new = (done for done in one.candidate.operations if isinstance(done, Add) and done.value is None)
    titles = [set(content(done.title)) for done in new]
    return any(len(own - marked) > 1 and len(own) * 4 >= len(said) * 3 for own in titles)


def _missed(reply: str) -> bool:
    """Whether a reply says that a message was not taken in."""
    return NOT_UNDERSTOOD in reply or TOO_MUCH in reply or reply.startswith(DID_YOU_MEAN)


def _names(reader: Tried, utterance: str, view: View) -> bool:
    """Whether words name all that is there already and would be changed, or what it is part of."""
    said = set(content(utterance))
    for one in reader.candidate.operations:
        key = getattr(one, "task", None) or getattr(one, "parent", None) or ""
        if key not in view.graph:
            continue
        node = view.graph[key]
        above = (node, *view.graph.ancestors(key))
        if not any(said & set(content(f"{each.title} {each.value or ''}")) for each in above):
            return False
    return True


def _chosen(utterance: str, question: Clarify | None) -> str | None:
    """The one option of the open question that a few words name: 'the okafor one'."""
    if question is None or len(question.options) < 2 or len(question.options) != len(question.choices):
        return None
    said = set(content(utterance))
    fit = [option for option in question.options if said & set(content(option))]
    shared = set.intersection(*(set(content(option)) for option in question.options))
    fit = [option for option in fit if said & (set(content(option)) - shared)]
    return fit[0] if len(fit) == 1 and len(utterance.split()) <= 6 else None
