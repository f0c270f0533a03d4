"""Words that say that any value will do, or what question they answer: "I don't care". Pure."""

from __future__ import annotations

import re

# Typed sloppily and in pieces too: "dont care", "don ' t care".
_NOT = r"(?:do|does|is|am|are|'m)\s?n?\s?['’]?\s?(?:t|not)\s+"
ALL_THE_SAME = re.compile(
    rf"\b(?:{_NOT}|not\s+|no\s+)(?:\w+\s+){{0,3}}?"
    r"(?:care|mind|matters?|fuss(?:ed|y)|picky|bothered|bother me|concerned|prefer(?:ences?)?|important"
    r"|factor|object)\b"
    r"|\b(?:whatever|whichever|whenever|wherever|anywhere|any ?time|either(?! of (?:those|them|these))"
    r"|surprise me|up to you|flexible|no matter|you (?:choose|pick|decide)|no difference"
    r"|(?:i'?m|we'?re) (?:open|easy)|all the same)\b"
    r"|^\W*(?:any(?:thing|one)?|all|any of them)(?: of \w+)?(?: (?:is|are|will|would|works)\b[\w ]*)?\W*$",
    re.IGNORECASE,
)
REFUSED = re.compile(r"n\s?['’]?\s?t\b.*\b(?:either|want)\b", re.IGNORECASE)
ANY = re.compile(r"\bany (?!other|more|chance|way\b)((?:\w+ ?){1,3})", re.IGNORECASE)
"""What comes after "any"; a question only says so after a preposition, as IN_ANY."""
IN_ANY = re.compile(rf"\b(?:in|at|on|of|with|for|by|to|from) {ANY.pattern}", re.IGNORECASE)
NO = re.compile(
    r"\W*(?:no|nope|nah|not really|none|i do(?: not|n['’]?t))\b(?! (?:matter|idea))", re.IGNORECASE
)
PREFERS = re.compile(r"\b(?:prefer\w*|particular|specific\w*|in mind)\b", re.IGNORECASE)
OTHERS = re.compile(r"\b(?:other|another|else|different|instead)\b", re.IGNORECASE)
CLAUSE_END = re.compile(r"[,;:]\s|\s-+\s|\b(?:and|but)\b", re.IGNORECASE)
WHERE = re.compile(r"\b(?:any)?where(?:ver)?\b", re.IGNORECASE)
WHEN = re.compile(r"\bwhen(?:ever)?\b|\bany ?time\b", re.IGNORECASE)
PLACES = "area location city town place"
