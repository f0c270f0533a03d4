"""Which utterances need no model. Pure.

The model reads. The local reader spares the call only where nothing can be misread: a bare yes or no to the
open question, undo and redo, a bare value for the slot that was just asked, and a message that does nothing
but give slots of task schemas their values, where these are read surely (see `sure`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from taskloom.agent.language import values
from taskloom.agent.language.foreign import asks_who, foreign
from taskloom.agent.turn.reading import Interpreter, Reading, View
from taskloom.agent.turn.steps import Step
from taskloom.memory.operations import Add, Update
from taskloom.memory.words import word_set

Reader = Literal["auto", "model", "local"]

_BARE = re.compile(
    r"(?:(?:yes|yep|yeah|yup|y|no|nope|nah|n|ok|okay|sure|correct|right)(?: please| thanks| thank you)?"
    r"|go ahead|do it|please do|keep (?:it|them|these)|that(?:'s| is) (?:right|correct))",
    re.IGNORECASE,
)
_UNDO = re.compile(
    r"(?:please )?(?:undo|redo)(?: (?:that|it|this|the last (?:change|one|step)))?(?: please)?", re.IGNORECASE
)
NO_VALUE = word_set(
    """any anything anyone nobody none nothing no not never unsure dunno later skip pass maybe whatever same
    usual sorry thanks thank hello hi help stop wait why what who where when how which yes ok okay"""
)


@dataclass(frozen=True, slots=True)
class Gate:
    """The model, and no model where nothing can be misread.

    reader: "auto" spares the call where that can be, "model" asks the model always. fills: the local reading
    of an utterance that does nothing but give slots of task schemas their values; None where that is not
    sure.
    """

    model: Interpreter
    reader: Reader = "auto"
    fills: Callable[[str, View], Reading | None] | None = None

    def read(self, utterance: str, view: View) -> Reading:
        """Read by the model, unless nothing can be misread."""
        if self.reader == "auto":
            spared = bare_reading(utterance, view) or (self.fills and self.fills(utterance, view))
            if spared:
                return spared
        return self.model.read(utterance, view)


@dataclass(frozen=True, slots=True)
class English:
    """A reader of English, and before it what no reader is needed for. Changes nothing in either case."""

    reader: Interpreter

    def read(self, utterance: str, view: View) -> Reading:
        """Read one utterance; one in another language, or about the program, is talk and no task."""
        if asks_who(utterance) or (foreign(utterance) and not _asked_for(utterance, view)):
            return Reading((Step(text=utterance, act="chat"),))
        return self.reader.read(utterance, view)


def _asked_for(utterance: str, view: View) -> bool:
    """Whether a few words may be the value that was asked for: a name may be in any script or language."""
    question = view.question
    if question is None or not question.choices or len(utterance) > 40 or "?" in utterance:
        return False
    first = question.choices[0]
    return isinstance(first, Add | Update) and first.value is None and not question.options


def bare_reading(utterance: str, view: View) -> Reading | None:
    """What an utterance says that needs no reader: a bare undo or redo, yes or no, or the value asked for.

    None for any other, and where there is nothing that it answers.
    """
    bare = _bare(utterance)
    if _UNDO.fullmatch(bare) and view.question is None:
        return Reading((Step(text=utterance, act="redo" if "redo" in bare.lower() else "undo"),))
    if _BARE.fullmatch(bare) and _awaits_yes(view):
        return Reading((Step(text=utterance, act="yes" if is_yes(utterance) else "no"),))
    if "?" not in utterance and _asked_value(bare, view):
        return Reading((Step(text=utterance, act="yes", value=utterance.strip(" .,!")),))
    return None


def _bare(utterance: str) -> str:
    return re.sub(r"[\s,.!]+", " ", utterance.replace("’", "'")).strip()


def is_yes(utterance: str) -> bool:
    """Whether an utterance is nothing but a yes."""
    bare = _bare(utterance).lower()
    return bool(_BARE.fullmatch(bare)) and not bare.startswith("n")


def bare_answer(utterance: str) -> bool | None:
    """Whether an utterance that is nothing but a yes or a no is a yes; None for any other."""
    return is_yes(utterance) if _BARE.fullmatch(_bare(utterance)) else None


def _awaits_yes(view: View) -> bool:
    """Whether a yes or a no has something to answer: one open choice, or proposed values."""
    if view.question is not None:
        return len(view.question.options) < 2 and bool(view.question.choices)
    last = max((node.turn for node in view.graph.active), default=0)
    return any(node.status == "proposed" and node.turn == last for node in view.graph.active)


def _asked_value(bare: str, view: View) -> bool:
    """Whether an utterance is nothing but a value for the slot that was just asked."""
    question = view.question
    if question is None or not question.choices:
        return False
    if any(bare.lower() == option.lower() for option in question.options):
        return True
    first = question.choices[0]
    words = bare.split()
    if question.options or not isinstance(first, Add | Update) or first.value is not None or not words:
        return False
    if len(words) > 4 or NO_VALUE & {word.lower() for word in words}:
        return False
    return values.kind_of(bare) is not None or all(word[:1].isupper() or word[:1].isdigit() for word in words)
