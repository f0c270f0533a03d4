"""From an utterance to clauses: what stands on its own, without the words that only lead in. Pure text."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

from . import patterns as re
from .words import DO, REMOVE

_QUOTES = {
    "‘": "'",
    "’": "'",
    "‚": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "…": "...",
    " ": " ",
}
_LEAD = re.compile(
    r"^(?:(?:and|so|then|well|oh|ah|um|uh|er|hmm+|hm|ok(?:ay)?|alright|all right|right|hey|hi|hello|please|now|also|plus|btw|"
    r"by the way|actually|wait|sorry|oops|no,? wait|no(?=\s*[,!.-])|never ?mind(?=\s*,)|change of plans?|new plan|change (?:that|it)(?=\s*,)|no no|on second thoughts?|i'?ve changed my mind|i changed my mind|changed my mind|hold on|hang on|one (?:moment|sec|second)|come to think of it|you know what|"
    r"good news|bad news|great|cool|perfect|thanks|thank you|yeah|listen|look|guys|maybe just|just|anyway|first of all|"
    r"in fact|to be honest|honestly|basically|my bad|my mistake|whoops|correction|typo|to correct(?: that)?|"
    r"let me (?:re)?think|i misspoke|i got (?:that|it) wrong|that'?s wrong|that was wrong|wrong one|my mistake|apologies|i mean|i meant|on reflection|thinking about it|come to think|but|too|again|yep|ugh|damn|argh|nah|"
    r"yes|update|quick update|one more thing|another thing|next|finally|lastly|instead|turns out(?: that)?|it turns out(?: that)?|looks like|apparently|unfortunately|luckily|"
    r"to begin with|for now|nice(?! work| job| one| to)|super|as for the rest)"
    r"(?:\s*[,!.:;-]+\s*|\s+(?=\S)))",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:sorry|oops|whoops|i mean|i meant|my mistake|my bad|correction|no wait|wait|typo|to correct|misspoke|got (?:that|it) wrong|changed my mind|actually|"
    r"that'?s wrong|scratch that|apologies)\b",
    re.IGNORECASE,
)
_WRAP = re.compile(
    r"^(?:(?:can|could) (?:it|they|he|she)(?: please| also| maybe)*\s+|(?:can|could|would|will) (?:you|u|we|i)(?: please| maybe| also| just| kindly)*\s+|"
    r"(?:i(?:'d| would)? (?:like|love|want|need)|i want|i need) you to\s+|would you mind\s+|"
    r"(?:you (?:can|should|could|may|must)|go ahead and|feel free to|please|kindly|make sure to|be sure to|don'?t forget to|"
    r"remember to|try to|let'?s(?: all| both| just| also)*|let us|lets|we should|we could|we can|i should|"
    r"(?:we|i)(?:'ll| will)(?: also)?(?=\s+(?:bring|serve|take|play|cook|rent|order|book|hire|invite|meet|buy|bake|build|pack|visit|start|leave|sing|eat|camp|show|set up|prepare|print|send|paint|plant|sew|knit|clean) (?:the|a|an|our|my|some|at|in|on|with|two|three|\d|[A-Z]|[a-z]+))|"
    r"we(?:'ll| will)(?=\s+(?:move|change|keep|use|drop|remove|add|skip|make|go|do|need|have)\b)|i(?:'ll| will)(?=\s+(?:need|have|take|use|drop|skip)\b)|"
    r"i guess we should|better|just|also|then|now|instead|simply|rather|"
    r"why don'?t (?:you|we)|how about (?:we|you)|"
    r"(?:i|we)(?:'ve| have)? (?:also |still |now |really |just |then )*(?:got to|gotta|have to|need to|must|want to|would like to|'d like to|plan to|wanna|ought to)|"
    r"(?:i|we)(?:'d| would) (?:also |still |really )?(?:like|love) to|(?:i|we)'d like to|gotta|wanna|need to|have to|i am going to|i'm going to|we'?re going to|we are going to|"
    r"we'?re gonna|i'm gonna|(?:can you )?help me(?: to)?|help us(?: to)?|time to)\s+)",
    re.IGNORECASE,
)
_VERB_START = re.compile(
    rf"^(?:please\s+|also\s+|then\s+|just\s+|don'?t\s+|let'?s\s+)*(?:{REMOVE}|{'|'.join(sorted(DO, key=len, reverse=True))}|switch|swap|"
    r"rename|revert|undo|restore|resume|pause|mark|tick|assign|reset|split|merge|combine|reuse|share|push|bump|postpone|"
    r"substitute|exchange|list|show|summari[sz]e|recap|repeat|generate|raise|lower|increase|decrease|double|halve|bring|"
    r"reduce|shift|delay|extend|put|keep|hold|let|turn|pick|leave|reinstate|reactivate|suspend|trade|link|unlink|go\s+back|stick|"
    r"wait|name|rework|without|minus|set|wash|unmark|reopen)\b(?!\s*(?:,|and\b|is\b|are\b|'s\b))",
    re.IGNORECASE,
)
_SUBJECT_START = re.compile(
    r"^(?i:i|we|it|he|she|they|you|that|this|there|let'?s|i'm|i've|i'd|i'll|we're|we've|we'd|we'll|it's|that's|there's|"
    r"he's|she's|they're|what|when|where|who|why|how|which|can|could|should|is|are|isn't|did|do)\b(?!\s*(?:,|and\b))"
    r"|^(?i:the|my|our|his|her|their|his|a|an)\s+(?:[\w'-]+\s+){1,4}?(?:is|are|was|were|should|will|has|have|needs?|goes|can|must|"
    r"depends?|becomes?|stays?|requires?|starts?|costs?|leaves?|takes?)\b(?=\s+\w)"
    r"|^(?:my|the|our|his|her|their)\s+[\w'-]+(?:\s+[\w'-]+)?\s+(?:hurts?|quit|left|came|got|broke|went|said|can't|won't|wants?|likes?|hates?|"
    r"arrived|called|died|moved|cancelled|canceled|failed|finished|changed|closed|sold|retired|dropped|\w+ed)\b"
    r"|^(?:my|the|our|his|her|their)\s+[\w-]+(?:'s| is| are| was)\s+\w+|^[a-z]+'s\s+\w+ing\b"
    r"|^(?:[A-Z][\w'.-]+)(?:\s+[A-Z][\w'.-]+)?(?:'s)?\s+(?:is|was|will|should|has|can|can't|takes?|does|do|handles?|books?|"
    r"writes?|goes|needs?|makes?|brings?|joins?|stays?|wants?|prints?|keeps?|gets?|isn't|won't|cannot|must|comes|takes?|withdraws?|helps?|dropped|moved|retired|quit|left|got|had|said|asked|called|leads?|runs?|"
    r"moves?|pays?|drives?|picks?|cooks?|bakes?|covers?|owns?|sends?|calls?|buys?|costs?|sells?)\b"
)
_SEPARATOR = re.compile(
    r"(?P<sep>\s*;\s*|,?\s+and\s+(?:also\s+|then\s+|please\s+|after\s+that\s+)?|,\s*(?:also|then|but|plus|so|yet)\s+|,\s*|"
    r":\s+|\s+but\s+|\s+then\s+|\s+plus\s+|\s+-\s+)",
    re.IGNORECASE,
)
_REMARK = re.compile(  # after a list: ", but Ana only eats fish", ", but not the butter"
    r",\s*but (?:not (?!on|at|in|by|before|after|until|for|with|from|to|more|less|later|earlier)"
    r"|(?:[A-Z]\w+|he|she|they|we|the \w+) (?:(?:only|also|always|never|still) )?"
    r"(?:is|are|isn't|aren't|has|have|can|can't|cannot|will|won't|does|doesn't|do|don't|eats?|drinks?|likes?|prefers?|hates?"
    r"|lives?|works?|comes?|needs?|gets?|loves?) ?).*$"
)
_LEAD_ONLY = re.compile(
    r"(?:(?:and|so|then|well|oh|ah|um|uh|er|hmm+|hm|ok(?:ay)?|alright|hey|hi|hello|please|now|also|actually|wait|sorry|oops|whoops|no|no wait|"
    r"to correct(?: that| myself)?|i misspoke|i got (?:that|it) wrong|that'?s wrong|that was wrong|my mistake|my bad|correction|typo|i meant?|wrong one|good news|bad news|"
    r"on second thoughts?|hold on|hang on|i'?ve changed my mind|i changed my mind|you know what|come to think of it|by the way|btw|great|thanks|thank you|perfect|cool|yeah|yes|nope|apologies|"
    r"first|one more thing|second|third|finally|lastly|next|afterwards|then again|in fact|let me (?:re)?think|nah|super|nice)[\s,!.:;-]*)+",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|approx|jr|sr|dept|a\.m|p\.m|mt|ft|co|inc|ave)\.|"
                           r"\b[A-Z]\.)$", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. core: without lead-in and politeness; text: as it stood; hint: a slot prefix ('date: ...')."""

    text: str
    core: str
    question: bool = False
    request: bool = False
    correction: bool = False
    addition: bool = False
    hint: str = ""
    quotes: tuple[str, ...] = ()
    first: bool = True

    def with_core(self, core: str) -> Clause:
        """The clause with another core."""
        return replace(self, core=core.strip())


def normalise(text: str) -> str:
    """Plain quotes and dashes, no control characters, single spaces; line breaks stay."""
    for fancy, plain in _QUOTES.items():
        text = text.replace(fancy, plain)
    text = re.sub(r"\s*—\s*|\s+–\s+", " - ", text)
    text = text.replace(" & ", " and ")
    text = "".join(c for c in text if c in "\n\t" or not unicodedata.category(c).startswith(("C", "So")))
    text = "".join(c for c in text if unicodedata.category(c) not in ("So", "Sk", "Cs"))
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def mask_quotes(text: str) -> tuple[str, tuple[str, ...]]:
    """Quoted passages exchanged for marks, so that nothing inside them is read; and the passages."""
    found: list[str] = []

    def mark(match: re.Match[str]) -> str:
        found.append(match[0])
        return f"Quote{len(found) - 1}Mark"

    text = re.sub(r'"[^"\n]{1,400}"', mark, text)
    text = re.sub(r"(?<![\w'])'(?=\w)[^'\n]*(?:\w'\w[^'\n]*)*[^\s']'(?![\w'])", mark, text)
    return text, tuple(found)


def unmask(text: str, quotes: tuple[str, ...]) -> str:
    """The text with its quoted passages back."""
    return re.sub(r"Quote(\d+)Mark", lambda m: quotes[int(m[1])], text) if quotes else text


def sentences(text: str) -> list[str]:
    """Sentences with their closing mark; a heading keeps its bullet points: 'To pack: tent, stove'."""
    lines: list[str] = []
    for line in text.splitlines():
        bullet = re.match(r"^\s*(?:[-*•]|\d+[.)])\s+(.*)", line)
        if bullet and lines and (lines[-1].endswith(":") or "\x00" in lines[-1]):
            lines[-1] += ("\x00" if lines[-1].endswith(":") else "; ") + bullet[1].rstrip(".;,")
        else:
            lines.append(bullet[1] if bullet else line)
    found: list[str] = []
    for line in lines:
        line = line.replace("\x00", " ")
        start = 0
        for match in re.finditer(r"[.!?]+(?=\s+|$)|;(?=\s+[A-Za-z][\w ]{1,24}:\s)", line):
            piece = line[start : match.end()]
            if match[0] == "." and _ABBREVIATION.search(piece) and match.end() < len(line):
                following = line[match.end() :].strip()
                if not (re.search(r"[ap]\.m\.$", piece, re.IGNORECASE) and following[:1].isupper()):
                    continue
            found.append(piece.strip())
            start = match.end()
        if line[start:].strip():
            found.append(line[start:].strip())
    return [piece for piece in found if re.search(r"\w", piece)]


def starts_clause(text: str) -> bool:
    """Whether a text begins as a clause of its own does."""
    named = text[:1].isupper() and re.match(r"[A-Z][\w']*\s+[A-Z]", text) is not None  # a title: 'Take On Me'
    return bool((not named and _VERB_START.match(text)) or _SUBJECT_START.match(text))


_TAG = (
    r",\s*(?:right|correct|yes|no|ok|am i right|is that right|(?:is|was|are|were|does|did|do|has|have|can|will|would|should)(?:n'?t)? "
    r"(?:it|that|he|she|they|there|we|i|you))\s*\?+\s*$"
)
_ASKS = re.compile(
    r"(?:and |or )?(?:what|when|where|who|whom|whose|why|which|how|is|are|was|were|did|do|does|isn't|wasn't|can|could|please)\b",
    re.IGNORECASE,
)
_GAP_LEFT = re.compile(
    r"(?:.*\b)?(?:change|move|set|switch|bump|raise|lower|push|update|rename|give|assign|hand|make)\b.+\bto\b",
    re.IGNORECASE,
)
_GAP_RIGHT = re.compile(r"(?:the|my|our|its)\s+(?:[\w'-]+\s+){1,3}to\s+\S", re.IGNORECASE)


def split(sentence: str) -> list[str]:
    """The clauses of a sentence: cut at a comma or 'and' where another clause begins."""
    if re.search(_TAG, sentence, re.IGNORECASE):
        return [sentence.strip()]
    asking = sentence.rstrip().endswith("?") and _ASKS.match(_LEAD.sub("", sentence.strip()))
    pieces: list[str] = []
    start = 0
    depth = 0
    for match in _SEPARATOR.finditer(sentence):
        depth = sentence[: match.start()].count("(") - sentence[: match.start()].count(")")
        left, right = sentence[start : match.start()], sentence[match.end() :]
        if depth or not left.strip() or not right.strip():
            continue
        hard = match["sep"].strip().lower() in (";", "-", "then", ", then")
        if asking and not _ASKS.match(right):
            continue
        gapped = _GAP_LEFT.match(left.strip()) and _GAP_RIGHT.match(right)
        if (
            re.match(r"\w+ing\s", right)
            and re.match(r"(?:i'?m|i am|we'?re|we are) \w+ing\b", left.strip(), re.IGNORECASE)
            and match["sep"].strip().startswith("and")
        ):
            pieces.append(left.strip())
            start = match.end()
            continue
        if match["sep"].strip() == ":" and not (
            starts_clause(right) or re.match(r"back to\b", right, re.IGNORECASE)
        ):
            continue
        if (
            not gapped
            and not starts_clause(right)
            and not re.match(r"back to\b", right, re.IGNORECASE)
            and not (hard and match["sep"].strip() == ";")
        ):
            continue
        if _LEAD_ONLY.fullmatch(left.strip(" ,;")):
            continue
        if re.fullmatch(r"(?:please|also|then|now|actually|ok|and|so|well|\w+ing|before\b.*|after\b.*|once\b.*|when\b.*|"
                        r"if\b.*|to\b.*|first|for\b.*|in\b.*|since\b.*|because\b.*|as\b.*)", left.strip(), re.IGNORECASE):  # fmt: skip
            continue  # a lead-in or a subordinate clause belongs to what follows
        if _bare_verb(left) and match["sep"].strip().lower().startswith(("and", ",")):
            continue  # "wash and chop celery"
        pieces.append(left.strip())
        start = match.end()
    pieces.append(sentence[start:].strip())
    return [_REMARK.sub("", piece) for piece in pieces if re.search(r"\w", piece)]


def _bare_verb(text: str) -> bool:
    words = re.sub(r"^(?:to [\w ]+?,\s*|please\s+|also\s+)", "", text.strip(), flags=re.IGNORECASE).split()
    last = re.split(r"[,;]|\band\b", text)[-1].split()
    return bool(words) and len(last) == 1 and last[0].lower() in DO


def clause(text: str, *, hint: str = "", quotes: tuple[str, ...] = (), first: bool = True) -> Clause:
    """One clause, with what leads in taken off and noted."""
    core = text.strip()
    question = core.endswith("?")
    core = re.sub(r"[\s.!?]+$", "", core)
    core = re.sub(r"\s+(?:in|on|to|into) (?:my|the|our) (?:calendar|diary)\b", "", core, flags=re.IGNORECASE)
    core = (
        re.sub(
            r",?\s*\b(?:on |at |in )?(?:the )?same (?:day|time|hour|place|date|room|venue|spot)\b(?=\s*(?:$|,|instead\b|please\b))",
            "",
            core,
            flags=re.IGNORECASE,
        )
        or core
    )
    core = (
        re.sub(
            r",?\s*(?:and )?\b(?:i|we)(?:'ll| will|'m going to|'re going to| can) (?:give|provide|tell|send|share|list|dictate|explain|feed|supply)\b.*$",
            "",
            core,
            flags=re.IGNORECASE,
        )
        or core
    )
    core = re.sub(
        r",\s*(?:everything else|all else|the rest|leave the rest|keep the rest|keep everything else)(?: (?:stays|remains|as is|is the same|unchanged|stays the same|as it is|as it was|same)\b.*)?$",
        "",
        core,
        flags=re.IGNORECASE,
    )
    correction = bool(_CORRECTION.search(core))
    addition = bool(re.match(r"(?:oh,? |ah,? |ok,? )?(?:and|also|plus)\b", core, re.IGNORECASE)) or bool(
        re.search(r"\b(?:too|also|as well)$", core, re.IGNORECASE)
    )
    request = False
    previous = None
    while previous != core:
        previous = core
        stripped = _LEAD.sub("", core, count=1)
        if stripped and stripped != core and not _protected(core):
            core = stripped
        if not (question and re.match(r"(?:should|shall) ", core, re.IGNORECASE)):
            wrapped = _WRAP.match(core)
            if wrapped and core[wrapped.end() :].strip() and not _stays(core):
                request, core = True, core[wrapped.end() :]
    core = re.sub(
        r"(?:,?\s+(?:please|pls|plz|too|as well|then|for me|ok|okay|thanks|thank you|instead please|by the way|btw|haha|lol))+$",
        "",
        core,
        flags=re.IGNORECASE,
    )
    return Clause(
        text.strip(), core.strip(" ,;:-"), question, request, correction, addition, hint, quotes, first
    )


def _protected(core: str) -> bool:
    """Lead-in words that carry the meaning here."""
    return bool(
        re.match(r"(?:now what|next\s+(?:week|month|year|step|monday|tuesday|wednesday|thursday|friday|saturday|sunday|up)|right now|"
                 r"just\s+(?:the|a|keep|me|one)\b|look\s+(?:for|at|into|up)|wait\s+(?:for|until|till)|then\s+what|update\s+(?!:)|"
                 r"first of|again\b|super\w|nice\s+to|perfect\s+\w+ing|thank(?:s|\s+you)\b(?!\s*[,!.:;-]).*|finally$|but\s+for|to correct my|great\s+\w+ \w+$)", core, re.IGNORECASE)
    )  # fmt: skip


def _stays(core: str) -> bool:
    """Politeness-like beginnings that are something else."""
    return bool(
        re.match(
            r"(?:just|rather|then|now|also|only)\s+(?:the|a|an|keep|leave|have|include|want|need|take|my|me|one)\b",
            core,
            re.IGNORECASE,
        )
        or re.match(r"(?:i|we) (?:want|need|would like|'d like) (?!to\b|you to\b)", core, re.IGNORECASE)
        or re.match(
            r"(?:can|could) (?:i|we|you) (?:afford|fit|manage|see|get|go|have|tell)\b.*\bwith\b",
            core,
            re.IGNORECASE,
        )
    )
