"""What is said of earlier sessions: "same as last time, but for three", "the hotel in Bergen again". Pure.

Words that point back are taken out before an interpreter reads what is left, so that both interpreters read a
plain request. Whether they are followed is decided by what long-term memory has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from taskloom.memory.pointing import of_the_past, without_pointers

_REQUEST = (
    r"^(?:(?:please|ok(?:ay)?|hi|hello|hey|well|so|and|also|now)\W+)*(?:(?:can|could|would|will) you (?:please )?|let'?s |help me |i'?d (?:like|love) (?:to )?"
    r"|i (?:want|need|would like|wish|have) (?:to )?|we (?:want|need|would like) (?:to )?|get me |give me )?"
    r"(?:please )?(?:book|reserve|order|plan|find|get|rent|schedule|buy|make|arrange|organi[sz]e|set up|prepare|request|look (?:up|for)|search|show|play|do|repeat|have|go|call|a|an|the|another|me|to)\b"
)
_POLITE = r"^(?:thanks?|thank you|thx|cheers|hello|hi|hey|good (?:morning|evening|day)|i (?:really )?(?:like|love|liked|loved))\b"
_CHANGING = (
    r"^(?:(?:please|ok(?:ay)?|now|so|and|also|actually|no|yes)\W+)*(?:cancel|remove|delete|drop|move|change|keep|set|update|replace|swap|switch|undo|make it|"
    r"put|add|rename|assign|split|complete|finish|mark|is|are|was|were|what|when|where|who|why|how|which|did|does|do i|do we)\b"
)
_FILLER = (
    r"^(?:(?:please|ok(?:ay)?|hi|hello|hey|well|so|and|yes|can|could|would|you|i|we|want|wanna|to|do|have|get|"
    r"order|book|make|i'd|like|i'll|let's|us|me|give|need|take|it|that|this|one|thanks?|thank|for|just|arrange|repeat|"
    r"the|my|thing|with|go|again|in|is|be|a|please)\W*)*$"
)  # fmt: skip
_JOINED = r"(?:for|on|at|in|from|to|with|without|leaving|departing|starting|arriving|under|near)\b"


@dataclass(frozen=True, slots=True)
class Reference:
    """An utterance that points back to an earlier session.

    request: what is wanted, without the words that point back; '' where nothing else is said.
    changes: what is to be otherwise ("for three people"), or ''.
    """

    request: str
    changes: str = ""

    def words(self, title: str) -> str:
        """The request as one would say it without memory; title: what was asked for then."""
        request = self.request or title
        if not request or not self.changes:
            return request
        joint = " " if re.match(_JOINED, self.changes, re.IGNORECASE) else ". "
        return f"{request.rstrip(' .,;')}{joint}{self.changes}"


def parse_reference(utterance: str) -> Reference | None:
    """How an utterance points back to an earlier session; None where it does not."""
    text = " ".join(utterance.split())
    if text.endswith("?") and not re.match(
        r"(?:please )?(?:can|could|would|will) (?:you|i|we)\b", text, re.IGNORECASE
    ):
        return None
    if re.match(_CHANGING, text, re.IGNORECASE) or re.match(_POLITE, text, re.IGNORECASE):
        return None
    said, found = without_pointers(text)
    changes = ""
    if not found and (said == text or not re.match(_REQUEST, said, re.IGNORECASE)):
        return None
    if parted := re.match(
        r"(.*?)[\s,;.]*\b(?:but|except|only|though)\b,?\s*(?:this time,?\s*)?(?:that )?(.+)$",
        said,
        re.IGNORECASE,
    ):
        said, changes = parted[1], parted[2]
    request, changes = (_tidy(part) for part in (said, changes))
    return Reference("" if re.match(_FILLER, request, re.IGNORECASE) else request, changes)


def _tidy(text: str) -> str:
    text = re.sub(r"\s+([,.;!?])", r"\1", " ".join(text.split()))
    text = re.sub(r"([,;.!?])(?:\s*[,;.!?])+", r"\1", text)
    return text.strip(" ,;.!?—-")


_OTHER = (
    r"(?P<no>(?:no|nope|not (?:that|this)(?: one)?|(?:that'?s )?the wrong one)[\s,.;!:-]+)?"
    r"(?:i (?:mean|meant|want|wanted)\s+)?(?:the|my) "
    r"(?:(?P<other>other)(?: (?!than\b)\w+)?(?:[\s,:-]+(?P<rest>\S.*))?|\w+ (?P<which>(?:in|at|from|with|on|to|for|of|by)\b.*))"
)


def other_one(utterance: str) -> str | None:
    """How an answer to proposed values tells which other task is meant; '' for any other; None for no such answer.

    'no, the other one', 'no, the one in Bergen'.
    """
    found = re.fullmatch(_OTHER, utterance.strip(" .!"), re.IGNORECASE)
    if found is None or not (found["no"] or found["other"]):
        return None
    return found["which"] or found["rest"] or ""


# ---- questions about earlier sessions -------------------------------------------------------------

_DID = r"\b(?:did|have|has|was|were|had|do|does|is)\b"


def asks_of_the_past(utterance: str, *, answered: bool) -> bool:
    """Whether a question is about earlier sessions: "what did I book in May?".

    answered: this thread has an answer; then only words that cannot be about it count.
    """
    asks = re.search(_DID, utterance, re.IGNORECASE)
    return asks is not None and of_the_past(utterance, surely=answered)
