"""Which tool to call next, and with which parameters, where no declared slots decide it.

Two steps (TaskGen, Tan 2024, section on equipped functions): first what is seen, thought and to be done, and
the one tool for it; then the parameters of that tool alone, typed. Parameters that do not fit go back to the
model, at most twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from taskloom.agent.plan.outline import quoted, talk_lines
from taskloom.agent.turn.choice import Check, Choice, ChoiceError, Situation
from taskloom.agent.turn.reading import Usage
from taskloom.tools.calls import faults
from taskloom.tools.errors import ToolError

from . import prompts
from .chat import ChatModel, Meter, ModelFault, Unusable
from .wire import WireError, json_of

_Form = TypeVar("_Form", bound=BaseModel)

NO_TOOL = "none"
REPAIRS = 2


class ModelChooser:
    """A chooser that asks a model."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    def choose(self, situation: Situation) -> tuple[Choice | None, Usage]:
        """See `Chooser`."""
        names = [name for name, _ in situation.tools]
        text = {"type": "string"}
        properties = {
            "observation": text, "thoughts": text, "subtask": text,
            "tool": {"type": "string", "enum": [*names, NO_TOOL]}, "task": {"type": "integer"},
        }  # fmt: skip
        schema = {
            "type": "object", "properties": properties, "required": [*properties],
            "additionalProperties": False,
        }  # fmt: skip

        def read(parsed: Mapping[str, Any]) -> Choice:
            choice = read_as(Choice, parsed)
            if choice.tool != NO_TOOL and choice.tool not in names:
                raise ToolError(f"there is no tool {choice.tool[:60]!r}; there are {', '.join(names)}")
            if choice.tool != NO_TOOL and situation.ids and not 1 <= choice.task <= len(situation.ids):
                raise ToolError(f"there is no task {choice.task}")
            return choice

        messages = [SystemMessage(prompts.CHOOSE), HumanMessage("\n".join(_lines(situation)))]
        choice, usage = self._asked(messages, schema, read)
        return (None if choice.tool == NO_TOOL else choice), usage

    def parameters(
        self, situation: Situation, choice: Choice, schema: Mapping[str, Any], check: Check
    ) -> tuple[dict[str, Any], Usage]:
        """See `Chooser`."""
        description = dict(situation.tools)[choice.tool]
        lines = [
            *_lines(situation, tools=False),
            f"Subtask: {quoted(choice.subtask, 500)}",
            f"Tool {choice.tool}: {quoted(description, 1000)}",
            f"Its parameters: {json.dumps(schema.get('properties', {}), ensure_ascii=False)}",
        ]
        messages = [SystemMessage(prompts.PARAMETERS), HumanMessage("\n".join(lines))]
        return self._asked(messages, {"additionalProperties": False, **schema}, check)

    def _asked(
        self,
        messages: Sequence[BaseMessage],
        schema: dict[str, Any],
        read: Callable[[Mapping[str, Any]], Any],
    ) -> tuple[Any, Usage]:
        """The parsed answer; one that cannot be parsed goes back to the model, at most twice."""
        meter, talk, why = Meter(), list(messages), ""
        deadline = time.monotonic() + self._chat.patience
        for _ in range(REPAIRS + 1):
            try:
                answer = self._chat.ask(talk, schema, meter, deadline)
                found = read(object_in(answer))
                self._chat.reported.over("choose")
                return found, meter.usage
            except Unusable as fault:
                answer, why = fault.text, fault.why
            except ModelFault as fault:
                first = self._chat.reported.first(fault, "choose")
                raise ChoiceError(str(fault) if first else "", meter.usage) from fault
            except ToolError as error:
                why = str(error)
            talk = [*messages, AIMessage(answer), HumanMessage(prompts.REPAIR.format(error=quoted(why, 500)))]
        raise ChoiceError(f"the model's answer did not fit: {why}", meter.usage)


def read_as(form: type[_Form], given: Mapping[str, Any]) -> _Form:
    """A model's answer, validated as a form.

    Raises:
        ToolError: it does not fit; each fault is named, for the model.
    """
    try:
        return form.model_validate(given)
    except ValidationError as error:
        raise ToolError(faults(error)) from error


def object_in(answer: str) -> dict[str, Any]:
    """The JSON object that an answer is.

    Raises:
        ToolError: it is not a JSON object.
    """
    try:
        parsed = json_of(answer, as_is=True)
    except WireError as error:
        raise ToolError(str(error)) from error
    if not isinstance(parsed, dict):
        raise ToolError("it is not a JSON object")
    return parsed


def _lines(situation: Situation, *, tools: bool = True) -> list[str]:
    """The situation in lines; whatever was said, found or given stands in double quotes."""
    lines = [f"Context: {quoted(situation.context, 2000)}"] if situation.context else []
    lines += [f"Told with the request: {quoted(situation.before, 8000)}"] if situation.before else []
    lines += [*talk_lines(situation.exchanges), f"User says now: {quoted(situation.utterance, 2000)}"]
    lines += ["Tasks:", *situation.tasks] if situation.tasks else ["There are no tasks yet (task: 1)."]
    if situation.completed:
        lines += ["Done in this turn:", *(quoted(line, 3000) for line in situation.completed)]
    lines += [situation.passages] if situation.passages else []
    if tools:
        lines += ["Tools:", *(f"{name}: {quoted(description, 400)}" for name, description in situation.tools)]
    return [*lines, prompts.LAST] if situation.last else lines
