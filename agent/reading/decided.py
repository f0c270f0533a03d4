"""What a meeting decides, as changes of the plan: proposed with their moment, done when the user says so.

"Let's move the launch to June" is read as the user's own "Move the launch to June" would be; what is given up
later in the meeting ("no, make it July") is not proposed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taskloom.agent.grounding.asking_first import describe_operations
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.language.words import content
from taskloom.agent.recall.moments import Moment
from taskloom.agent.recall.revising import VALUES, is_question, revised, value_for
from taskloom.agent.turn.reading import Interpreter, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.actions import VERBS
from taskloom.memory.operations import Add, Check, Clarify, Operation, Update, apply
from taskloom.memory.ranking import stems
from taskloom.memory.scenes import render
from taskloom.memory.tasks import TaskGraph, TaskNode

_LEAD = (
    r"(?:(?:oh|hmm|um|well|ah|but|and|so|then|now|okay|ok|right|fine|good|yes|all right|alright"
    r"|agreed)\b[,.:\s]*)*"
)
_DECIDES = re.compile(
    rf"{_LEAD}(?:let'?s|let us|we'?ll|we will|we(?: a|')re going to|we should|we need to|we have to|we must"
    r"|we (?:have )?(?:decided|agreed) to|i'?ll|i will|i am going to|i'm going to)\s+(?P<act>.+)",
    re.IGNORECASE | re.DOTALL,
)
_TALK = re.compile(
    r"(?:not|never|see|think|talk|discuss|start|begin|move on|continue|go on|go back|go through|hear|look"
    r"|wrap|be|take a (?:break|vote|look|minute)|have|get (?:started|back)|come back|keep going|say|wait|stop"
    r"|ask|check|try|find|tell|let|know|do (?:that|it|this)|hope|miss|remember|agree|meet again|finish"
    r"|end)\b",
    re.IGNORECASE,
)
"""What begins something that a meeting does itself, and no plan has."""
_ASIDE = re.compile(
    r",?\s*(?:then|okay|please|shall we|right|everybody|everyone|all right)?[.!?]*\s*$", re.IGNORECASE
)
FOCUS = 12  # tasks
_UNCHANGING = ("ask", "chat", "yes", "no", "unsure")


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided. text: as the user would say it. moments: what it comes from, the last word first."""

    text: str
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a decision would change. words: in short, for a question."""

    decision: Decision
    operations: tuple[Operation, ...]
    words: str


def decisions(moments: Sequence[Moment]) -> tuple[Decision, ...]:
    """What is decided in a recording and not given up in it, in order of time.

    moments: of one recording, in order of time.
    """
    said = [one for one in moments if one.evidence.source == "said"]
    found: dict[frozenset[str], Decision] = {}
    for at, one in enumerate(said):
        text = _as_request(one.evidence.text)
        if text is None or is_question(one):
            continue
        decision = _in_the_end(text, at, said)
        key = _about(decision.text)
        found.pop(key, None)  # what is decided again comes in its last place
        found[key] = decision
    return tuple(found.values())


def _as_request(text: str) -> str | None:
    """A decision as a request: "Let's move it" as "Move it"; None for any other words."""
    found = _DECIDES.match(text)
    if found is None or _TALK.match(found["act"]):
        return None
    act = _ASIDE.sub("", re.split(r"(?<=[.!?])\s", found["act"])[0])
    return f"{act[:1].upper()}{act[1:]}." if act else None


def _in_the_end(text: str, at: int, said: Sequence[Moment]) -> Decision:
    """A decision with the value that it has after "no, make it June"."""
    need = next((kind for kind in VALUES if value_for(kind, text)), None)
    course = [said[place] for place in revised(at, said, need)] if need else [said[at]]
    old = value_for(need, text) if need else None
    new = value_for(need, course[-1].evidence.text) if need else None
    if old and new and len(course) > 1:
        text = new.join(text.rsplit(old, 1))
    return Decision(text, tuple(course[::-1]))


def _about(text: str) -> frozenset[str]:
    """What a decision is about, whatever value it gives."""
    for form in VALUES.values():
        text = form.sub(" ", text)
    return frozenset(
        stem for word in text.split() if word.strip(".,").lower() not in VERBS for stem in stems(word)
    )


def propose(decision: Decision, view: View, interpreter: Interpreter) -> Proposal | None:
    """What a decision would change in a plan; None where nothing would, or nothing can be made of it."""
    reading = interpreter.read(decision.text, view)
    wanted = [one for step in reading.steps for one in _or_proposed(step) if one.act not in _UNCHANGING]
    last = decision.moments[0]
    made: list[Operation] = []
    graph = view.graph
    for one in ground_exactly(wanted, view):
        if isinstance(one, Check | Clarify):
            return None
        fields = {"said": render(last.evidence)}
        if isinstance(one, Add | Update):
            fields["source"] = last.source
        operation = one.model_copy(update=fields)
        outcome = apply(graph, operation, turn=view.turn)
        if outcome.refused is None:
            made.append(operation)
            graph = outcome.graph
    if not made:
        return None
    return Proposal(decision, tuple(made), describe_operations(made, view.graph))


def _or_proposed(step: Step) -> tuple[Step, ...]:
    """A step, or what it would propose where it is not sure: all of it is asked about in any case."""
    return step.proposed if step.act == "unsure" else (step,)


def talked_of(graph: TaskGraph, decision: Decision, *, before: str) -> tuple[str, ...]:
    """Ids of the tasks that a decision may be about, the likeliest first: a meeting has its own topics.

    Those that it names come first, then what was planned before the recording with id `before`, not what the
    decision before this one has made.
    """
    said = content(decision.text)
    own = f"video:{before}@"

    def rank(node: TaskNode) -> tuple[bool, bool, bool]:
        return not said & content(node.title), node.source.startswith(own), node.parent is not None

    return tuple(node.id for node in sorted(graph.active, key=rank))[:FOCUS]


def carry_out(graph: TaskGraph, proposal: Proposal, turn: int) -> TaskGraph:
    """The plan with what was proposed for it, as far as it still can be done."""
    for operation in proposal.operations:
        graph = apply(graph, operation, turn=turn).graph
    return graph


def taken(graph: TaskGraph, decision: Decision) -> bool:
    """Whether a plan has, or had, something from the last moment of a decision."""
    said = render(decision.moments[0].evidence)
    return any(
        state.source == decision.moments[0].source or state.said == said
        for node in graph.values()
        for state in node.states()
    )
