"""The local reader: reads without a model, and asks where it cannot trust what it read.

Two readings of every utterance, by the patterns of `rules` and by the network, are both tried on the plan;
the one that more likely does what was said is taken. Below a probability it is only proposed, below another
one the user is asked to say it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from taskloom.agent.gate import held_back, spared
from taskloom.agent.grounding import ground
from taskloom.agent.interpreter import Interpreter, Reading, Step, View
from taskloom.agent.reading.clauses import Parse
from taskloom.agent.reading.slots import Slots
from taskloom.agent.wording import DID_YOU_MEAN, NOT_UNDERSTOOD
from taskloom.memory.operations import Check, Clarify, Operation

from .assemble import assembled
from .filling import known_of, steps_of
from .resolver import content
from .trust import Candidate, at_home, probability, signs

Parser = Callable[[str, str], Parse]
"""From a text, and what was said to its author last, to clauses."""

RULES, NETWORK, PROPOSE = 0.25, 0.35, 0.2
"""From which probability on each reader's reading is carried out, and from which it is proposed."""
FILLED = 0.5  # from which probability on a slot of a schema is filled
LEAD = 0.25  # the network's reading is taken before that of the rules where it is this much likelier


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader's reading of an utterance, what it would do, and the probability that this is right."""

    reading: Reading
    operations: tuple[Operation, ...]
    trust: float

    @property
    def changes(self) -> bool:
        """Whether anything in the plan would change."""
        return any(not isinstance(one, Check | Clarify) for one in self.operations)


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
        filled = self._of_schemas(utterance, view) if view.schemas else None
        if filled is not None:
            return filled
        by_rules = self.rules.read(utterance, view)
        if view.schemas:
            return self._as_it_was(utterance, view) or by_rules
        if spared(by_rules, utterance, view):
            return by_rules
        if (option := _chosen(utterance, view.question)) is not None:
            return Reading((Step(text=utterance, act="yes", value=option),), by="network")
        rules, network = self.both(by_rules, utterance, view)
        if _missed(view) and any(
            one.changes and not _names(one, utterance, view) for one in (rules, network)
        ):
            return _unsure(utterance, network.reading)
        if rules.trust >= RULES and rules.trust > network.trust - LEAD:
            return rules.reading
        if network.trust >= NETWORK:
            return network.reading
        if self.answered and not rules.changes and not network.changes:
            return by_rules
        best = max(rules, network, key=lambda one: one.trust)
        if best.operations and all(isinstance(one, Clarify) for one in best.operations):
            return best.reading
        if best.trust >= PROPOSE and best.changes:
            return _unsure(utterance, best.reading, best.reading.steps)
        return _unsure(utterance, network.reading)

    def _of_schemas(self, utterance: str, view: View) -> Reading | None:
        """What fills slots of the kinds of tasks that there are; None where nothing does."""
        if self.slots is None:
            return None
        before = view.exchanges[-1][1] if view.exchanges else ""
        found = self.slots(utterance, before, view.schemas, known_of(view))
        steps = steps_of([one for one in found if one.probability >= FILLED], utterance, view)
        return Reading(steps, by="network") if steps else None

    def _as_it_was(self, utterance: str, view: View) -> Reading | None:
        """What only brings a former value back, where it is clear which; else None."""
        parse = self.parse(utterance, view.exchanges[-1][1] if view.exchanges else "")
        if {clause.act for clause in parse.clauses} - {"chat"} != {"back"}:
            return None
        made = assembled(parse.clauses, utterance, view)
        return None if made.doubts else Reading(made.steps, by="network")

    def both(self, by_rules: Reading, utterance: str, view: View) -> tuple[Reader, Reader]:
        """The readings of both, with how far each can be trusted."""
        parse = self.parse(utterance, view.exchanges[-1][1] if view.exchanges else "")
        made = assembled(parse.clauses, utterance, view)
        by_network = Reading(made.steps or (Step(text=utterance, act="chat"),), by="network")
        ruled = held_back(ground(by_rules.steps, view), utterance, view.graph)
        learned = held_back(made.operations, utterance, view.graph)
        home = at_home(parse)

        def trust(mine: Candidate, other: Sequence[Operation], name: str) -> float:
            return probability(signs(utterance, view.graph, mine, other), home, name)

        return (
            Reader(by_rules, ruled, trust(Candidate(ruled, parse), learned, "rules")),
            Reader(by_network, learned, trust(Candidate(learned, parse, made.margin), ruled, "network")),
        )


def _unsure(utterance: str, reading: Reading, proposed: Sequence[Step] = ()) -> Reading:
    """Asks back: proposes steps, or says that nothing was understood."""
    value = "" if proposed else NOT_UNDERSTOOD
    step = Step(text=utterance, act="unsure", value=value, proposed=tuple(proposed))
    return Reading((step,), sure=False, by=reading.by if proposed else "network", note=reading.note)


def _missed(view: View) -> bool:
    """Whether the turn before was not taken in: what follows may be about what it began."""
    last = view.exchanges[-1][1] if view.exchanges else ""
    return NOT_UNDERSTOOD in last or last.startswith(DID_YOU_MEAN)


def _names(reader: Reader, utterance: str, view: View) -> bool:
    """Whether words name all that is there already and would be changed, or what it is part of."""
    said = set(content(utterance))
    for one in reader.operations:
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
