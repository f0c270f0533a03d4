"""A chooser for questions on recordings: a request a step, in a talk that goes on until it answers.

`ModelChooser` chooses beside a plan: each choice stands alone, and takes a request for the tool and one for
its parameters. Here a reply has both, and all that was replied and came of it is in the next request.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ConfigDict, Field

from taskloom.agent.plan.outline import quoted
from taskloom.agent.turn.choice import Check, Choice, ChoiceError, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.tools.errors import ToolError

from . import prompts
from .chat import ChatModel, Meter, ModelFault, Unusable
from .chooser import object_in, read_as


class _Step(BaseModel):
    """One step of the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    thought: str
    act: Literal["retrieval", "rag", "look", "answer"]
    query: str | None
    video: str | None
    who: str | None
    start: str | None
    end: str | None
    answer: str | None
    sources: list[str] = Field(max_length=50)


class _Chosen(Choice):
    """A choice with its parameters."""

    step: _Step


class StepwiseChooser:
    """A chooser that asks a model once a step."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    def choose(self, situation: Situation) -> tuple[Choice, Usage]:
        """See `Chooser`; what cannot be used is a `ChoiceError` with the reply."""
        schema, meter, said = _Step.model_json_schema(), Meter(), ""
        schema["properties"]["act"]["enum"] = [name for name, _ in situation.tools]
        deadline = min(situation.until, time.monotonic() + self._chat.patience)
        try:
            said = self._chat.ask(_talk(situation), schema, meter, deadline)
            step = read_as(_Step, object_in(said))
        except Unusable as fault:
            raise ChoiceError(f"that could not be used: {fault.why}", meter.usage, fault.text) from fault
        except ModelFault as fault:
            raise ChoiceError(str(fault), meter.usage) from fault
        except ToolError as error:
            raise ChoiceError(f"that cannot be done: {error}", meter.usage, said) from error
        chosen = _Chosen(observation="", thoughts=step.thought, subtask="", tool=step.act, task=0,
                         reply=said, step=step)  # fmt: skip
        return chosen, meter.usage

    def parameters(
        self, situation: Situation, choice: Choice, schema: Mapping[str, Any], check: Check
    ) -> tuple[dict[str, Any], Usage]:
        """See `Chooser`; they came with the choice, so nothing is asked."""
        del situation
        given = choice.step.model_dump() if isinstance(choice, _Chosen) else {}
        try:
            return check({name: given[name] for name in schema["properties"] if name in given}), Usage()
        except ToolError as error:
            raise ChoiceError(f"that cannot be done: {error}", Usage(), choice.reply) from error


def _talk(situation: Situation) -> list[BaseMessage]:
    """All that was asked, replied and found."""
    tools = "\n".join(f"{name}: {does}" for name, does in situation.tools)
    question = f"{situation.context}\nQuestion: {quoted(situation.utterance, 2_000)}"
    talk: list[BaseMessage] = [SystemMessage(prompts.WATCH.format(tools=tools)), HumanMessage(question)]
    for reply, observation in zip(situation.replies, situation.completed, strict=True):
        talk += [AIMessage(reply or "(nothing)"), HumanMessage(observation)]
    return [*talk, HumanMessage(prompts.LAST)] if situation.last else talk
