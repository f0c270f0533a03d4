"""How answers to the terminal's own y/n questions are read. Pure."""

from __future__ import annotations

import re
from typing import Literal

from taskloom.agent.grounding.asking_first import only_asks
from taskloom.agent.language.words import REMOVE
from taskloom.agent.reading.gate import is_yes
from taskloom.memory.words import word_set

from .commands import command_of

_CHANGING = re.compile(
    rf"(?:{REMOVE}|set|change|move|switch|swap|replace|rename|revert|undo|restore|resume|pause|mark|tick|assign"
    r"|reset|split|merge|reuse|push|bump|postpone|substitute|exchange|raise|lower|increase|double|halve|keep|put"
    r"|make (?:it|that|this|the)|hold|go back|never ?mind|add|invite|bring|actually|let'?s|hand|use|un-?pause"
    r"|reinstate|reactivate|suspend|take)\b",
    re.IGNORECASE,
)
Verdict = Literal["yes", "no", "left", "unclear"]

WANTED = "Please answer y or n. A question or another request leaves it as it is."

_NO = word_set("n no nope nah not don't never")
_AWAY = word_set(
    """never mind nevermind cancel stop forget leave keep it them as is wait hold on skip that later not now
    actually instead rather"""
)
_TURNS = word_set("nevermind cancel stop forget leave wait skip later actually instead rather")
_COURTESY = word_set("thanks thank you please sorry oh ok okay well")


def verdict(said: str) -> Verdict:
    """Whether an answer is a yes, a no, a change of subject, or unclear."""
    text = said.replace("’", "'").strip()
    words = _words(text)
    if not words:
        return "unclear"
    if is_yes(text):
        return "yes"
    if {*words} <= _NO | _COURTESY and {*words} & _NO:
        return "no"
    turned = {*words} & _TURNS or words[:2] == ["never", "mind"] or words[0] in _NO
    asks = (text.endswith("?") or only_asks(text)) and len(words) > 1
    wants = command_of(text) or (_CHANGING.match(text) and len(words) > 2)
    return "left" if turned or asks or wants else "unclear"


def instead(said: str) -> str:
    """The request that takes the place of an answer; '' if the question was only dropped."""
    return "" if {*_words(said)} <= _AWAY | _NO | _COURTESY else said


def _words(text: str) -> list[str]:
    return [word for word in (part.strip(",.!;:?…\"'") for part in text.lower().split()) if word]
