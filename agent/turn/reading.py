"""What an interpreter is: it reads an utterance into steps. Both interpreters give the same steps.

A step is one thing the user said, as data: what kind of act it is, what it is about in the user's words (or
by task id where that is known), and with which values. Steps know nothing of operations;
`grounding.exact.ground_exactly` turns them into operations on task ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from taskloom.memory.operations import Clarify
from taskloom.memory.records import Experience
from taskloom.memory.tasks import TaskGraph

from .schemas import TaskSchema
from .steps import Step

COSTS = ("model_calls", "prompt_tokens", "completion_tokens")
UNKNOWN = "unknown"  # the model of what is not known to be of one
Spent: TypeAlias = dict[str, dict[str, int]]  # by model, each of COSTS


@dataclass(frozen=True, slots=True)
class View:
    """What an interpreter sees beside the utterance.

    focus: ids of the tasks last touched or asked about, the latest first. question: the question that the
    assistant left open. exchanges: the last two (user, assistant) pairs. examples: gives confirmed
    experiences, best first; asked for only where they are used. earlier: the task of an earlier session that
    the words point back to, or ''. budget: tokens that the outline may take.
    """

    graph: TaskGraph
    turn: int = 1
    focus: tuple[str, ...] = ()
    question: Clarify | None = None
    exchanges: tuple[tuple[str, str], ...] = ()
    schemas: tuple[TaskSchema, ...] = ()
    examples: Callable[[], Sequence[Experience]] = tuple
    earlier: str = ""
    now: datetime = field(default_factory=datetime.now)
    budget: int = 300


@dataclass(frozen=True, slots=True)
class Usage:
    """What reading or answering cost. Tokens are as reported by the endpoint (0 without a model).

    models: the same by the model that was asked, as far as it is known.
    """

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: Spent = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, model: str, calls: int, prompt: int = 0, completion: int = 0) -> Usage:
        """What requests to one model cost."""
        spent = {"model_calls": calls, "prompt_tokens": prompt, "completion_tokens": completion}
        return cls(calls, prompt, completion, {model: spent})

    @classmethod
    def cut_off(cls, model: str, error: BaseException) -> Usage:
        """The tokens of an answer that was cut off, which OpenAI's error holds; none of any other error."""
        usage = getattr(getattr(error, "completion", None), "usage", None)
        return cls.of(model, 0, usage.prompt_tokens, usage.completion_tokens) if usage else cls()

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            added(self.models, other.models),
        )


def added(spent: Spent, more: Spent) -> Spent:
    """What models cost, by model, in all."""
    return {
        model: {name: spent.get(model, {}).get(name, 0) + more.get(model, {}).get(name, 0) for name in COSTS}
        for model in dict.fromkeys((*spent, *more))
    }


@dataclass(frozen=True, slots=True)
class Reading:
    """Steps with how they came about.

    sure: no step is a guess. presuming: what is asked is about the plan as it would be were the open proposal
    accepted. by: 'network' or 'model'. note: what the user should be told about the reading
    (for example that the model could not be reached), or ''.
    """

    steps: tuple[Step, ...]
    sure: bool = True
    by: Literal["network", "model"] = "network"
    note: str = ""
    usage: Usage = Usage()
    presuming: bool = False


class Interpreter(Protocol):
    """Reads an utterance into steps; never changes anything."""

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance (never empty) in the light of what there is."""
        ...


def outline_order(view: View, similar: Sequence[str] = ()) -> tuple[str, ...]:
    """Ids of active tasks, most useful first: in focus, similar to the words, then the newest changed."""
    active = {node.id: node for node in view.graph.active}
    recent = sorted(active, key=lambda key: (-active[key].turn, key))
    return tuple(key for key in dict.fromkeys([*view.focus, *similar, *recent]) if key in active)
