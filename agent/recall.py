"""What is said of earlier sessions: "same as last time, but for three", "the hotel in Bergen again". Pure.

Words that point back are taken out before an interpreter reads what is left, so that both interpreters read a
plain request. Whether they are followed is decided by what long-term memory has.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import patterns as re

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_SPAN = rf"(?:week|month|year|spring|summer|autumn|fall|winter|weekend|night|{_DAYS}|{_MONTHS})"
_MINE = r"(?:the |my |our |that )?"
_EARLIER = (
    r"(?:last time(?: (?:round|around))?|the time before|before|earlier|usual|always|previously|ever"
    rf"|(?:in|on|for|from|of )?\s?last {_SPAN}|yesterday"
    rf"|in (?:{_MONTHS})|{_MINE}(?:last|previous|earlier|latest|most recent|other|former) (?:one|time|\w+(?: \w+)?)"
    r"|(?:i|we) (?:did|do|had|have|made|took|used|got|ordered|booked|rented|reserved)"
    r"(?: (?:last time|before|earlier|previously|always|usually))?)"
)
_BEFORE = (
    rf"(?:last time|last {_SPAN}|in (?:{_MONTHS})|before|usual|always|yesterday"
    r"|(?:i|we) (?:did|had|took|used|got|ordered|booked|rented|reserved)(?: (?:last time|before|earlier))?)"
)
_DETAILS = r"(?:details?|settings?|options?|preferences|choices|parameters|everything|specifications|info(?:rmation)?|as before)"
_HAD = r"(?<=\w) (?:i|we) (?:had|took|used|got|ordered|booked|rented|reserved)(?: (?:last time|before|earlier))?(?=\W*$)"
_AGAIN = r"(?:again|once more|once again|one more time|another time|anew|over again)"
_POINTERS = (
    rf",?\s*(?:(?:exactly|just|pretty much|basically|all)\s+)?(?:the |my |our )?same(?: (?:one|thing|{_DETAILS}|way))?,? (?:as|like|from|that) {_EARLIER}\b",
    rf",?\s*(?:(?:exactly|just|much)\s+)(?:like|as) {_EARLIER}\b",
    rf",?\s*(?<![\w-])(?:like|as|that) {_BEFORE}(?=\W|$)",
    r",?\s*(?<![\w-])(?:like|as) (?:last time|before|usual|always|the last (?:one|time)|previously)\b",
    rf",?\s*(?:and )?(?:with|using|on|under) (?:all )?(?:the |my )?(?:very |exact )?(?:same|usual|previous|earlier|last) {_DETAILS}\b",
    rf",?\s*(?:and )?(?:keep|keeping|use|using|with|leave|leaving) (?:all )?(?:of )?(?:the |my )?(?:same |previous |earlier |usual )?{_DETAILS}(?: (?:the same|as (?:they are|before|it was)|unchanged))?(?= *(?:$|[,.;!?]|but\b))",
    r",?\s*the one (?:with|in|at|for|on|from|to|near|by|where|that|of|i|we)\b.*?(?=$|[;!?]|, but\b| but\b|\.\s|\.$)",
    rf",?\s*\b{_AGAIN}(?=\W|$)(?! (?:what|when|where|who|how|why))",
    r"^(?:the |my )?same(?: (?:thing|one))?(?= *(?:$|[,.;!?]|but\b|please\b))",
    r"^(?:the |my |our )usual(?= *(?:$|[,.;!?]|but\b|please\b))",
)
_SAME_THING = r"(?<!\w)(?:(?:the|my|our) (?:very |exact )?same|(?:the|my|our) usual) (?=[a-z])"
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


def refer(utterance: str) -> Reference | None:
    """How an utterance points back to an earlier session; None where it does not."""
    text = " ".join(utterance.split())
    if text.endswith("?") and not re.match(
        r"(?:please )?(?:can|could|would|will) (?:you|i|we)\b", text, re.IGNORECASE
    ):
        return None
    if re.match(_CHANGING, text, re.IGNORECASE) or re.match(_POLITE, text, re.IGNORECASE):
        return None
    said, changes = text, ""
    found = False
    for pattern in _POINTERS:
        match = re.search(pattern, said, re.IGNORECASE)
        while match:
            found = found or not match[0].lstrip(", ").lower().startswith("the one")
            said = f"{said[: match.start()]} {said[match.end() :]}"
            match = re.search(pattern, said, re.IGNORECASE)
    if re.search(_SAME_THING, said, re.IGNORECASE):
        found = True
        said = re.sub(_SAME_THING, "the ", said, flags=re.IGNORECASE)
        said = re.sub(_HAD, "", said, flags=re.IGNORECASE)
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


# ---- questions about earlier sessions -------------------------------------------------------------

_BOOKED = (
    r"(?:trip|booking|order|reservation|visit|stay|session|flight|hotel|appointment|ride|rental|purchase"
    r"|conversation|chat|table|ticket|car|plan)s?"
)
_THEN = (
    rf"\b(?:last time|last {_SPAN}|in (?:the past|{_MONTHS})(?: \d{{4}})?|earlier sessions?|yesterday"
    rf"|(?:another|an earlier|a previous|(?:my|the) (?:last|previous)) (?:chat|session|thread|conversation)"
    rf"|(?:my|our) (?:last|previous|earlier|latest|most recent) (?:\w+ )?{_BOOKED}|usual(?:ly)?)\b"
)
_MAYBE_THEN = (
    rf"\b(?:ever|already|before|previous(?:ly)?|(?:last|previous|earlier|latest) (?:\w+ )?{_BOOKED})\b"
)
_DID = r"\b(?:did|have|has|was|were|had|do|does|is)\b"


def asks_of_the_past(utterance: str, *, answered: bool) -> bool:
    """Whether a question is about earlier sessions: "what did I book in May?".

    answered: this thread has an answer; then only words that cannot be about it count.
    """
    pattern = _THEN if answered else rf"{_THEN}|{_MAYBE_THEN}"
    return bool(re.search(pattern, utterance, re.IGNORECASE) and re.search(_DID, utterance, re.IGNORECASE))
