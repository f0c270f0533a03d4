"""What a model does for long-term memory: it summarises sessions, decides on facts, and judges proposals.

The first two run in batches, outside of turns; its statements count only as far as they are grounded,
see `memory.consolidate`. It judges only where the settings say so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from langchain_core.messages import HumanMessage, SystemMessage
from numpy.typing import NDArray
from pydantic import ValidationError

from taskloom.agent.plan.outline import quoted
from taskloom.agent.turn.reading import Usage
from taskloom.memory.consolidate import Decision, Exchange, Unit
from taskloom.memory.judge import Asked, trained
from taskloom.memory.records import Fact

from . import prompts
from .chat import ChatModel, Meter, ModelFault
from .wire import WireError, json_of

_log = logging.getLogger(__name__)

_TEXT = {"type": "string"}


def _list_of(name: str, **properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object with one list, whose items have all of these properties."""
    item = _object(properties)
    return _object({name: {"type": "array", "items": item}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_INTEGER = {"type": "integer"}
_UNITS = _list_of(
    "units", text=_TEXT, turns={"type": "array", "items": _INTEGER}, people={"type": "array", "items": _TEXT}
)
_DECISIONS = _list_of(
    "decisions",
    fact=_INTEGER,
    act={"type": "string", "enum": ["add", "update", "delete", "none"]},
    of={"type": ["integer", "null"]},
)
_SCORES = _list_of("scores", entry=_INTEGER, score={"type": "number"})
_JUDGED = 24  # pairs that a model is shown; the trained judge chooses them


class Narrator:
    """Summarises turns as units, and decides on clusters of facts; one call each.

    What cannot be used is left out and logged: the rules have their own facts and decisions.
    """

    def __init__(self, chat: ChatModel) -> None:
        self.chat, self.meter = chat, Meter()

    @property
    def usage(self) -> Usage:
        """The cost so far."""
        return self.meter.usage

    def __call__(self, turns: Sequence[Exchange]) -> Iterable[Unit]:
        """The units of some turns (`consolidate.Summariser`)."""
        lines = []
        for turn in turns:
            lines.append(f"{turn.turn} {turn.at:%Y-%m-%d} {turn.speaker or 'user'}: {quoted(turn.said, 600)}")
            lines.append(f"  assistant: {quoted(turn.reply, 300)}")
        found = []
        for one in self._asked(prompts.NARRATE, "\n".join(lines), _UNITS, "units"):
            try:
                found.append(Unit.model_validate({"sources": one.get("turns", ()), **one}))
            except ValidationError as error:
                why = error.errors(include_input=False)[0]["msg"]
                _log.warning("a unit of the model cannot be used: %s", why)
        return found

    def decide(self, clusters: Sequence[Sequence[Fact]]) -> Iterable[Decision]:
        """Decisions on the facts of some clusters (`consolidate.Decider`)."""
        facts = [fact for cluster in clusters for fact in cluster]
        numbers = {fact.id: number for number, fact in enumerate(facts, 1)}
        lines = []
        for number, cluster in enumerate(clusters, 1):
            lines.append(f"Group {number}:")
            lines += [f"{numbers[fact.id]} {fact.at:%Y-%m-%d} {quoted(fact.text, 300)}" for fact in cluster]
        found = []
        for one in self._asked(prompts.DECIDE, "\n".join(lines), _DECISIONS, "decisions"):
            try:
                of = None if one.get("of") is None else _numbered(facts, one["of"])
                given = {"fact": _numbered(facts, one.get("fact")), "act": one.get("act"), "of": of}
                found.append(Decision.model_validate(given))
            except ValueError as error:
                _log.warning("a decision of the model cannot be used")
                _log.debug("because %s", error)
        return found

    def judge(self, asked: Sequence[Asked]) -> NDArray[np.float64]:
        """The probabilities [n] that n pairs give what their slot wants (`judge.Judge`), in one call.

        The trained judge chooses what is worth asking; where the model does not answer its word counts.
        """
        scores = trained()(asked)
        if not asked:
            return scores
        best = np.argsort(-scores, kind="stable")[:_JUDGED]
        lines = [f"Request: {quoted(asked[0].request, 600)}"]
        for number, n in enumerate(best, 1):
            one = asked[n]
            whence = f"{quoted(one.unit.description or one.unit.intent, 100)}, {one.unit.at:%Y-%m-%d}"
            lines.append(
                f"{number} wanted: {quoted(one.question or one.slot, 150)} from {whence}: "
                f"{quoted(one.pair.question, 150)} {quoted(one.pair.answer, 150)}"
            )
        for parsed in self._asked(prompts.JUDGE, "\n".join(lines), _SCORES, "scores"):
            try:
                entry, score = int(parsed["entry"]), float(parsed["score"])
            except (KeyError, TypeError, ValueError):
                entry, score = 0, 0.0
            if 1 <= entry <= len(best) and 0 <= score <= 1:
                scores[best[entry - 1]] = score
            else:
                _log.warning("a score of the model cannot be used")
                _log.debug("it is %r", parsed)
        return scores

    def _asked(self, prompt: str, text: str, schema: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The objects in the named list of the model's answer; none if it does not answer."""
        messages = [SystemMessage(prompt), HumanMessage(text)]
        try:
            answer = self.chat.ask(messages, schema, self.meter, time.monotonic() + self.chat.patience)
            parsed = json_of(answer)
        except (ModelFault, WireError) as fault:
            _log.warning("the model did not help with long-term memory: %s", fault)
            return []
        listed = parsed.get(name) if isinstance(parsed, dict) else None
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _numbered(facts: Sequence[Fact], number: Any) -> str:
    """The id of the fact of a number as the model was shown it, from 1.

    Raises:
        ValueError: there is none.
    """
    if not isinstance(number, int) or not 1 <= number <= len(facts):
        raise ValueError(f"there is no fact {number!r}")
    return facts[number - 1].id
