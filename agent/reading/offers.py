"""Answers to values that were proposed: all of them, all but some, only some, or with a change. Pure.

'Yes, except the budget', 'only the hotel', 'no, make it Friday'.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from taskloom.agent.language.wording import base
from taskloom.agent.language.words import content
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Step

_LEAD = re.compile(
    r"(?:(?P<yes>yes|yeah|yep|yup|sure|ok|okay|fine|right|correct|good|great|perfect|all good|sounds good)"
    r"|(?P<no>no|nope|nah|not really))\b(?: please| thanks)?[\s,.;!-]*",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"(?:and )?(?:(?:please )?(?:keep|leave|take) (?:the rest|everything(?: else)?|all(?: of)?(?: (?:the )?"
    r"(?:others?|rest|them|it))?|them(?: all)?|these|those)|(?:all|both) of (?:them|these|those|it)"
    r"|(?:that'?s|it'?s) (?:all )?(?:fine|right|good))(?: (?:as (?:it is|they are|is)|please))?[.!]*",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"(?:but )?(?:(?:all|everything|them all|keep (?:all|everything|them|the rest))"
    r"(?: of (?:them|it|these))?[\s,]*)?"
    r"(?:but not|but|except(?: for)?|apart from|other than|without|not|drop|skip|leave out) "
    r"(?P<left>[\w' -]+?)(?P<else>\s*[,:-]\s*.+|\s+(?:is|are|should be)\s+.+)?[.!]*",
    re.IGNORECASE,
)
_ONLY = re.compile(r"(?:but )?(?:keep )?(?:only|just) (?P<kept>[\w' -]+?)[.!]*", re.IGNORECASE)
_BESIDE = re.compile(r"(?:but|except|though|and)\b[\s,]*", re.IGNORECASE)
_IS = re.compile(
    r"[\s,:-]*(?:that'?s|which is|it'?s|make (?:it|that)|now|(?:that |it )?should be|is|are)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a message answers to an offer, and what it says beside that, which is read as any message."""

    steps: tuple[Step, ...]
    rest: str = ""


def answered(utterance: str, view: View) -> Answered | None:
    """The answer to values that were proposed; None where nothing is, and for a bare or no answer."""
    names = {
        word
        for node in tasks_in_role(view.graph, "proposed")
        for word in content(f"{node.title} {base(node.slot)} {node.value or ''}")
    }
    text = utterance.strip()
    lead = _LEAD.match(text)
    rest = text[lead.end() :] if lead is not None else text
    if not names or not rest or text.endswith("?"):
        return None
    yes, no = (Step(text=utterance, act="yes"), Step(text=utterance, act="no"))
    denied = lead is not None and lead["no"] is not None
    if _ALL.fullmatch(rest):
        return Answered((yes,))
    if (only := _ONLY.fullmatch(rest)) is not None and _names(only["kept"], names):
        return Answered((yes.model_copy(update={"target": only["kept"]}), no))
    if (but := _BUT.fullmatch(rest)) is not None and _names(but["left"], names) and not denied:
        if but["else"]:
            return Answered((yes,), f"make {but['left']} {_IS.sub('', but['else'], count=1)}")
        return Answered((no.model_copy(update={"target": but["left"]}), yes))
    if lead is None:
        return None
    return Answered(() if denied else (yes,), _BESIDE.sub("", rest, count=1))


def _names(words: str, names: set[str]) -> bool:
    """Whether words name some of what is proposed, and nothing else."""
    return bool(content(words)) and content(words) <= names
