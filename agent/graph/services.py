"""The services that the nodes use: readers, responders, memory, tools, the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from taskloom.agent.acting.equipment import Equipment
from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.models.chat import ChatModel
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.replying.templates import faults_of
from taskloom.agent.settings import Style
from taskloom.agent.turn.brief import Brief, Responder
from taskloom.agent.turn.choice import Chooser
from taskloom.agent.turn.reading import Interpreter, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Operation

Grounding = Callable[[Sequence[Step], View], tuple[Operation, ...]]


@dataclass(frozen=True, slots=True)
class Voice:
    """Who understands, who answers, and who chooses tools where no slots decide it.

    chat: the model itself, which looks into recordings; None without one.
    """

    interpreter: Interpreter
    responder: Responder
    chooser: Chooser | None = None
    chat: ChatModel | None = None


@dataclass(frozen=True, slots=True)
class Services:
    """Everything the nodes use and do not make themselves; given to `build_graph` once.

    voice: gives the voice for the model a run asks for ('' for the configured one, 'rules' for none).
    template: answers without a model, when there is none, or when the model's reply is not right. replies:
    who answers, where the run does not say. ground: from steps to operations. check: what is wrong with a
    reply, in words. memory: what lasts beyond a thread; None for nothing. tools: what tasks are carried out
    with; None for nothing. loads: what can be loaded before the first turn, which else loads it.
    """

    voice: Callable[[str], Voice]
    template: Responder
    replies: Style = "auto"
    clock: Callable[[], datetime] = datetime.now
    ground: Grounding = ground_exactly
    check: Callable[[str, Brief], Sequence[str]] = faults_of
    memory: LongTerm | None = None
    tools: Equipment | None = None
    loads: tuple[Callable[[], object], ...] = ()
