"""An interpreter that asks a chat model."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from taskloom.agent.plan.outline import outline, quoted, schema_lines, talk_lines
from taskloom.agent.turn.reading import Interpreter, Reading, View

from . import prompts
from .chat import ChatModel, Meter, ModelFault, Unusable
from .examples import example
from .wire import SCHEMA, WireError, steps_of

_log = logging.getLogger(__name__)

EXAMPLE, EXAMPLES = 300, 1  # characters of an example in a prompt, and how many: each costs fifty tokens

REPAIRS = 2


class ModelInterpreter:
    """Reads an utterance with one model call; if that fails, by the fallback, and says so."""

    def __init__(self, chat: ChatModel, fallback: Interpreter) -> None:
        self.chat, self.fallback = chat, fallback

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance in the context of the plan; faults of the model are not raised.

        Returns:
            The model's steps, or the fallback's, with a note that says what is wrong with the model unless
            the user was told before. The usage is that of all requests.
        """
        meter = Meter()
        try:
            return self.read_by_model(utterance, view, meter)
        except ModelFault as fault:
            first = self.chat.reported.first(fault, "read")
            reading = self.fallback.read(utterance, view)
            note = f"{reading.note} I read this without the model: {fault}." if first else reading.note
            return replace(reading, note=note.strip(), usage=reading.usage + meter.usage)

    def read_by_model(self, utterance: str, view: View, meter: Meter) -> Reading:
        """Read one utterance by the model alone; the meter counts the requests.

        Raises:
            ModelFault: there is no answer, or none in the form of steps.
        """
        reading = self._read(utterance, view, meter)
        self.chat.reported.over("read")
        return reading

    def _read(self, utterance: str, view: View, meter: Meter) -> Reading:
        deadline = time.monotonic() + self.chat.patience
        prompt, ids = reading_prompt(utterance, view)
        messages: list[BaseMessage] = [SystemMessage(prompts.READ), HumanMessage(prompt)]
        repairs = 0
        while True:
            text = ""
            try:
                text = self.chat.ask(messages, SCHEMA, meter, deadline)
                steps = steps_of(text, utterance, view.graph, ids)
                sure = all(step.act != "unsure" for step in steps)
                return Reading(steps, sure=sure, by="model", usage=meter.usage)
            except WireError as error:
                unusable = Unusable(str(error), text)
            except Unusable as fault:
                unusable = fault
            _log.info("the model's answer could not be used")
            _log.debug("because %s", unusable.why)  # which may have a user's words
            if repairs == REPAIRS:
                raise unusable
            repairs += 1
            # Only the latest failure goes along: the prompt does not grow with each.
            messages = [*messages[:2], *_repair(unusable)]


def _repair(fault: Unusable) -> Iterator[BaseMessage]:
    if fault.text.strip():
        yield AIMessage(fault.text[:1500].encode("utf-8", "replace").decode())
    yield HumanMessage(prompts.REPAIR.format(error=fault.why[:300].encode("utf-8", "replace").decode()))


def reading_prompt(utterance: str, view: View) -> tuple[str, tuple[str, ...]]:
    """What the model is asked to read, and the ids of the tasks in it: number n is the n-th."""
    shown = outline(utterance, view)
    lines = ["Tasks:", *(shown.lines or ["none"])]
    if view.schemas:
        lines += ["Kinds of tasks and their slots:", *schema_lines(utterance, view.schemas, view.budget // 2)]
    shown_before = [line for one in view.examples() if 0 < len(line := example(one)) <= EXAMPLE]
    if shown_before:
        lines += ["Read so before:", *shown_before[:EXAMPLES]]
    if view.earlier:
        lines.append(f"Last time: {quoted(view.earlier, 120)}")
    lines += talk_lines(view.exchanges)
    if view.question:
        options = " / ".join(quoted(option, 80) for option in view.question.options)
        lines.append(
            f"Open question: {quoted(view.question.question)}{f', options {options}' if options else ''}"
        )
    lines.append(f"Message: {quoted(utterance, len(utterance))}")
    return "\n".join(lines), shown.ids
