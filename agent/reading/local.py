"""The local reader: reads without a model, and asks where it cannot trust what it read.

Every utterance has several readings, the few likeliest of the network. They are tried on the plan, all of
them where none of the first is certain; the one that most likely does what was said is taken. Below a
probability it is only proposed, below another one the user is asked to say it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log

from taskloom.agent.grounding.asking_first import question_before
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.grounding.resolving.assemble import Assembled, assemble, assemble_each
from taskloom.agent.grounding.resolving.people import ME
from taskloom.agent.grounding.resolving.scoring import content
from taskloom.agent.language.referring import AFFIRMS
from taskloom.agent.language.statements import tells
from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD, TOO_MUCH, base, clip
from taskloom.agent.plan.held import all_stand
from taskloom.agent.plan.kinds import offered_roots
from taskloom.agent.plan.slots import ANY
from taskloom.agent.turn.clauses import Clause, Parse
from taskloom.agent.turn.reading import Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Check, Clarify, Operation

from .again import ends_again, freshness_asked
from .completing import completed
from .filling import Filling
from .frames import Framed, framed
from .gate import bare_answer, bare_reading
from .heard import heard
from .meanings import Meanings, Vectors
from .network import packaged as packaged_network
from .noise import is_noise, is_repeated
from .offers import answered
from .quoting import masked, restored
from .sense import fits_words, makes_sense, says_nothing
from .signs import Candidate, Known, effects, signs
from .slots import SlotReading, Slots
from .sure import may_fill, only_fills, plainly_named, plainly_told
from .taken_up import taken_up
from .trust import probabilities

Parser = Callable[[str, str, int], Sequence[Parse]]
"""From a text, what is heard beside it, and how many readings, to these, the likeliest first."""

ACT, BEGIN, PROPOSE = 0.6, 0.4, 0.1
"""From which probability on a reading is carried out, the first of a plan, and from which it is proposed."""
PRESUME = 0.4
"""From which probability on what is proposed is presumed to be meant by whoever goes on without a no."""
SHARED = 0.2
"""How much the logarithm of the network's own probability of a reading counts beside log odds of trust."""
MANY = 100  # clauses are not taken in: what each does is tried on the plan that those before it leave
READINGS, FIRST = 16, 4  # of the network, that are tried on the plan; that are tried before the others
MAYBE = 0.05  # from which probability on words may ask for an act
CERTAIN = 0.85
"""From which probability on the best of the first readings is not compared with the others."""
_ON_SOMETHING = frozenset(("shift", "need", "unneed", "assign", "swap", "replace"))
"""Acts that without anything to change are misread."""
_NO_NAMES = frozenset(("the", "a", "an"))
"""Words that are no name of anything."""
_IDLE = frozenset(("ask", "chat", "unsure"))
Done = tuple[Parse, Assembled, tuple[Operation, ...]]
"""A reading of the network, what it does to the plan, and that with what is to be asked before."""


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
    """An interpreter of what the network reads.

    slots: reads what a message says of the slots of task schemas. vectors: of a message and what is heard.
    answered: a model writes replies, so that a question that nobody understood is left to it.
    """

    parse: Parser
    slots: Slots | None = None
    vectors: Vectors | None = None
    answered: bool = False

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance as the reading does that is most likely right."""
        if (answer := self._answer(utterance, view)) is not None:
            return answer
        if (whole := completed(utterance, view, self._likeliest)) is not None:
            return whole
        plain = framed(utterance, view)
        if view.schemas and (filled := self._of_schemas(utterance, view)) is not None:
            return filled
        if (taken := self._taking_up(utterance, view)) is not None:
            return taken
        said = [clause for clause in self._parses(plain.text, view)[0].clauses if clause.act != "chat"]
        if len(said) > MANY or is_repeated(plain.text):
            return _unsure(utterance, too_much=True)
        best = max(self.trusted(utterance, plain, view), key=_odds)
        if best.changes and self._lost(view) and not _names(best, utterance, view):
            return _unsure(utterance)
        if _only_tells(best, utterance):
            return Reading((Step(text=utterance, act="chat"),))
        nothing_there = not best.changes and not any(node.active for node in view.graph.values())
        act = BEGIN if not any(node.active for node in view.graph.values()) else ACT
        if best.trust >= act or nothing_there:
            return best.reading  # where nothing is in the plan, what is remembered may answer
        if self.answered and not best.changes:
            return replace(best.reading, sure=False)
        operations = best.candidate.operations
        if operations and all(isinstance(one, Clarify) for one in operations):
            return best.reading
        if best.trust >= PROPOSE and best.changes:
            return _unsure(utterance, best.reading.steps, presumed=best.trust >= PRESUME)
        return _unsure(utterance)

    def _answer(self, utterance: str, view: View) -> Reading | None:
        """The reading of an answer to what was asked, offered or got by a tool, by its form."""
        if (bare := bare_reading(utterance, view)) is not None:
            return bare
        if (again := ends_again(utterance, view)) is not None:
            head, step = again
            before = self.read(head, view) if head else Reading(())
            return replace(before, steps=(*before.steps, step))
        if (fresh := freshness_asked(utterance, view)) is not None:
            return Reading((fresh,))
        if bare_answer(utterance) is False:
            return Reading((Step(text=utterance, act="no"),))
        if is_noise(utterance, view):
            return _unsure(utterance)
        if (told := answered(utterance, view)) is not None:
            more = self.read(told.rest, view) if told.rest else Reading(())
            return replace(more, steps=(*told.steps, *more.steps))
        option = _chosen(utterance, view.question)
        return None if option is None else Reading((Step(text=utterance, act="yes", value=option),))

    def _taking_up(self, utterance: str, view: View) -> Reading | None:
        """The reading of a message that goes on from what was proposed: with a yes, or a question.

        None where it does not go on from it, or not surely. What is asked, or proposed in turn, presumes the
        proposal without a yes.
        """
        if (after := taken_up(utterance, view)) is None or view.question is None:
            return None
        acts = {clause.act.partition(".")[0] for clause in self._parses(utterance, view)[0].clauses}
        presumed = bool(view.question.presumed)
        if acts & {"yes", "no", "undo"} or acts <= {"chat", "unsure"} or (acts <= _IDLE and not presumed):
            return None
        read = self.read(utterance, after)
        if presumed and not read.sure:  # what is sure without the proposal is so with it
            plain = self.read(utterance, replace(view, question=None))
            read = plain if plain.sure else read
        if all(step.act in _IDLE for step in read.steps):
            if not presumed:
                return None
            kept = read.sure or any(step.presumed for step in read.steps)
            return replace(read if kept else _unsure(utterance), presuming=True)
        yes = Step(text=utterance, act="yes")
        return replace(read, steps=(yes, *read.steps)) if read.sure else None

    def _likeliest(self, utterance: str, view: View) -> Sequence[Clause]:
        """The clauses of what an utterance most likely says."""
        best = max(self.trusted(utterance, framed(utterance, view), view), key=_odds)
        return best.candidate.parse.clauses

    def fills(self, utterance: str, view: View) -> Reading | None:
        """The reading of a message that gives slots their values and does nothing else.

        None where that is not sure: see `sure`.
        """
        if not may_fill(utterance) or self._lost(view):
            return None
        if not view.schemas:
            step = plainly_told(utterance, view)
            return None if step is None else Reading((step,))
        filling = Filling(view)
        if (named := plainly_named(utterance, filling)) is not None:
            return Reading(filling.steps((named,), utterance))
        told = self._read_slots(utterance, view, filling)
        kept = filling.plausible(told.filled, utterance)
        if not only_fills(utterance, filling, kept, told.odds):
            return None
        return Reading(filling.steps(kept, utterance))

    def _read_slots(self, utterance: str, view: View, filling: Filling) -> SlotReading:
        """What the network is told of slots by an utterance."""
        if self.slots is None:
            return SlotReading()
        before = view.exchanges[-1][1] if view.exchanges else ""
        named = filling.named(utterance)
        own = [one for one in view.schemas if one.name in named or filling.tasks[one.name] is not None]
        return self.slots(utterance, before, own if named else view.schemas, filling.known())

    def _of_schemas(self, utterance: str, view: View) -> Reading | None:
        """The reading that fills slots of the kinds of tasks, and asks what is asked beside it.

        None where it fills none, and where what is remembered was offered and is answered.
        """
        before = view.exchanges[-1][1] if view.exchanges else ""
        clauses = self._parses(utterance, view)[0].clauses
        acts = {clause.act for clause in clauses} - {"chat"}
        if offered_roots(view.graph) and acts & {"yes", "no"}:
            return None
        filling = Filling(view)
        if (named := plainly_named(utterance, filling)) is not None:
            return Reading(filling.steps((named,), utterance))
        kept = filling.plausible(self._read_slots(utterance, view, filling).filled, utterance)
        asked = view.question is not None and view.question.question in before
        if asked and acts <= {"no", "unsure"} and {one.value for one in kept} <= {ANY}:
            return Reading((Step(text=utterance, act="no"),))  # "I don't know yet" is no value
        if kept:
            steps = assemble(clauses, utterance, view).steps
            asks = tuple(step for step in steps if step.act == "ask")
            left = [step.text for step in steps if _is_elsewhere(step, filling)]
            note = f"I did not take in: “{clip(left[0], 60)}”." if left else ""
            return Reading((*filling.steps(kept, utterance), *asks), note=note)
        if acts != {"back"}:
            return None
        made = assemble(clauses, utterance, view)
        return None if made.doubts else Reading(made.steps)

    def acts(self, utterance: str, view: View) -> dict[str, str]:
        """What words may ask for: each act that is in readings of some probability, with its words there."""
        parses = self._parses(utterance, view)
        whole = sum(parse.probability for parse in parses) or 1.0
        share, told = dict[str, float](), dict[str, dict[str, None]]()
        for parse in parses:
            for act in {clause.act for clause in parse.clauses}:
                share[act] = share.get(act, 0.0) + parse.probability / whole
            for clause in parse.clauses:
                told.setdefault(clause.act, {})[clause.text] = None
        return {act: " ".join(told[act]) for act in share if share[act] >= MAYBE}

    def trusted(self, utterance: str, plain: Framed, view: View) -> list[Tried]:
        """The readings, with how far each can be trusted; plain: the utterance without its frame."""
        done = self._done(utterance, plain, view)
        first, known = list(islice(done, FIRST)), Known(plain.text, view)
        pieces = None if self.vectors is None else self.vectors(plain.text, heard(view))
        meanings = None if pieces is None else Meanings(pieces, view)
        found = _trusted(first, utterance, view, known, meanings)
        if max(one.trust for one in found) >= CERTAIN:
            return found
        return _trusted([*first, *done], utterance, view, known, meanings)

    def readings(self, utterance: str, plain: Framed, view: View, limit: int = READINGS) -> tuple[Tried, ...]:
        """The readings of the network that would do different things, the likeliest of so many first."""
        return _told_apart(list(self._done(utterance, plain, view, limit)), utterance)

    def _done(self, utterance: str, plain: Framed, view: View, limit: int = READINGS) -> Iterator[Done]:
        """The readings of the network with what each does to the plan, the likeliest first."""
        parses = self._parses(plain.text, view, limit)
        about = plain.about.id if plain.about is not None else ""
        for parse, made in zip(
            parses, assemble_each((parse.clauses for parse in parses), utterance, view, about), strict=True
        ):
            yield parse, made, question_before(made.operations, utterance, view.graph)

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

    def _parses(self, utterance: str, view: View, limit: int = READINGS) -> Sequence[Parse]:
        text, passages = masked(utterance)
        return [restored(parse, passages) for parse in self.parse(text, heard(view), limit)]


def _trusted(
    done: Sequence[Done], utterance: str, view: View, known: Known, meanings: Meanings | None
) -> list[Tried]:
    """The readings that would do different things, with how far each can be trusted."""
    tried = _told_apart(done, utterance)
    candidates = [one.candidate for one in tried]
    found = signs(known.text, view, candidates, known)
    seen = None if meanings is None else (meanings.whole, meanings.of(candidates))
    trusts = probabilities(found, seen)
    return [
        replace(one, trust=trust if _can_be(one.candidate, view) else 0.0)
        for one, trust in zip(tried, trusts, strict=True)
    ]


def _told_apart(done: Sequence[Done], utterance: str) -> tuple[Tried, ...]:
    """The readings that would do different things; those that would do the same stand together."""
    whole = sum(parse.probability for parse, _, _ in done) or 1.0
    does = [effects(operations) for _, _, operations in done]
    shares = dict[frozenset[tuple[str, ...]], float]()
    for (parse, _, _), own in zip(done, does, strict=True):
        shares[own] = shares.get(own, 0.0) + parse.probability / whole
    found = dict[object, Tried]()
    for (parse, made, operations), own in zip(done, does, strict=True):
        sure = all(step.act != "unsure" for step in made.steps)
        reading = Reading(made.steps or (Step(text=utterance, act="chat"),), sure=sure)
        candidate = Candidate(operations, parse, made.margin, shares[own])
        found.setdefault((own, made.doubts), Tried(reading, candidate))
    return tuple(found.values())


def packaged() -> Local:
    """The local reader with the networks of the package; their files are read when the first text comes."""
    network = packaged_network()
    return Local(network, Slots(network.pieces), network.beside)


_ELSEWHERE = ("remove", "hold", "resume", "done", "reopen", "assign", "need", "unneed", "only")


def _is_elsewhere(step: Step, filling: Filling) -> bool:
    """Whether a step changes another task than those whose slots are filled."""
    if step.act not in _ELSEWHERE:
        return False
    graph, own = filling.view.graph, {task.id for task in filling.tasks.values() if task is not None}
    touched = {getattr(one, "task", None) for one in ground_exactly((step,), filling.view)}
    return any(key in graph and graph.root(key).id not in own for key in touched if key)


def _can_be(one: Candidate, view: View) -> bool:
    """Whether a reading makes sense at all: no mere yes to nothing, no change without anything to change."""
    acts = {clause.act for clause in one.parse.clauses}
    answers = view.question is not None or bool(offered_roots(view.graph))
    if not answers and acts == {"yes"}:
        return False
    if not one.operations and acts and acts <= _ON_SOMETHING and not _is_so_already(one, view):
        return False
    if not fits_words(one.parse.clauses, one.operations, view.graph):
        return False
    asked = view.question is not None or (view.exchanges and view.exchanges[-1][1].rstrip().endswith("?"))
    if not asked and any(map(says_nothing, one.parse.clauses)):
        return False
    alone = (clause.mentions[0].text for clause in one.parse.clauses if len(clause.mentions) == 1)
    if any(_NO_NAMES.issuperset(text.lower().split()) for text in alone):
        return False
    if view.question is not None and not view.question.question.startswith(DID_YOU_MEAN):
        agreed = (clause.text for clause in one.parse.clauses if clause.act == "yes")
        if view.question.choices and not all(map(AFFIRMS.search, agreed)):
            return False
    return not _is_a_mere_word(one, view) and makes_sense(one.operations, view.graph, view.turn)


def _is_so_already(one: Candidate, view: View) -> bool:
    """Whether a reading that changes nothing says what is so: who has what, what waits for what, by name."""
    told = [clause for clause in one.parse.clauses if clause.act != "chat"]
    spans = [span for clause in told for span in clause.mentions]
    if any(clause.act not in ("need", "assign") or len(clause.mentions) < 2 for clause in told):
        return False
    return all(all_stand(view.graph, content(span.text)) for span in spans)


def _is_a_mere_word(one: Candidate, view: View) -> bool:
    """Whether all that is done is to note a word or two, the whole message, for nobody knows what: 'yoga'."""
    asked = view.question is not None or (view.exchanges and view.exchanges[-1][1].rstrip().endswith("?"))
    if asked or len(one.operations) != 1:
        return False
    (done,) = one.operations
    if not isinstance(done, Add) or done.value is None or base(done.slot) not in ("detail", "number"):
        return False
    return len(done.said.split()) < 4 and content(done.said) == content(done.value)


def _unsure(
    utterance: str, proposed: Sequence[Step] = (), *, presumed: bool = False, too_much: bool = False
) -> Reading:
    """Asks back: proposes steps, or says that nothing was understood, or that it was too much at once."""
    value = "" if proposed else TOO_MUCH if too_much else NOT_UNDERSTOOD
    step = Step(text=utterance, act="unsure", value=value, proposed=tuple(proposed), presumed=presumed)
    return Reading((step,), sure=False)


def _odds(one: Tried) -> float:
    """The log odds that a reading is right, lower where the network itself finds it unlikely."""
    trust = min(max(one.trust, 1e-6), 1 - 1e-6)
    return log(trust / (1 - trust)) + SHARED * log(one.candidate.share + 0.01)


def _only_tells(one: Tried, utterance: str) -> bool:
    """Whether all that would be made is a person with what is told of them: a fact, and nothing to do."""
    made = one.candidate.operations
    roots = [done for done in made if isinstance(done, Add) and done.parent is None]
    if len(roots) != 1 or not all(isinstance(done, Add) for done in made) or roots[0].value is not None:
        return False
    parts = [done.value for done in made if isinstance(done, Add) and done is not roots[0]]
    if any(value is None or kind_of(value) in ("date", "time") for value in parts):
        return False  # 'We're off to Whitby on Friday, Jean and I': a plan
    name = roots[0].title
    person = name.istitle() or name.lower().startswith("my ") or name.lower() in ME
    return person and tells(utterance)


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
