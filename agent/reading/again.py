"""What a tool gave is wanted once more: 'look the flights up again', 'refresh the total'. Pure."""

from __future__ import annotations

import re

from taskloom.agent.plan.roles import tool_results
from taskloom.agent.turn.reading import View

_ANEW = r"(?:again|once more|once again|one more time|anew|afresh|over again|a second time)"
_VERBS = (
    r"look|search|check|find|fetch|get|get me|find me|calculate|compute|work|figure|run|do|make|book|order"
    r"|call|try|ask"
)
_ONCE_MORE = re.compile(
    rf"(?P<verb>{_VERBS})(?: up| out| for)?(?: (?P<what>.+?))??(?: up| out)? {_ANEW}",
    re.IGNORECASE,
)
_REFRESHED = re.compile(
    r"(?P<verb>refresh|retry|repeat|update|re-?(?:do|run|check|calculate|compute|fetch|search))"
    r"(?: (?P<what>.+))?",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\b(?:please|pls|for me|then|now)\b|[.!?,]", re.IGNORECASE)
_ASKING = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|yes|no|well|(?:can|could|would|will) you|i(?: would|'d) like you to"
    r"|i want you to|let'?s|just) )+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"^(?:(?:for|up|out|the|an?|my|our|that|those) )+|\s+(?:search|look-?up|results?)$")
_POINTING = frozenset(("it", "this", "that", "them", "those", "these", "all", "everything"))
_NEEDS_A_NAME = ("do", "make", "get", "redo", "re-do", "repeat", "update", "call", "ask")  # else another act


def wanted_again(text: str, view: View) -> str | None:
    """The words for the results of tools that are to be had once more; None where none are asked for."""
    if not tool_results(view.graph, "", view.focus):
        return None
    core = _ASKING.sub("", " ".join(_POLITE.sub(" ", text).split()), count=1)
    for pattern in (_ONCE_MORE, _REFRESHED):
        if found := pattern.fullmatch(core):
            words = _ASIDE.sub("", found["what"] or "")
            words = "" if set(words.lower().split()) <= _POINTING else words
            meant = tool_results(view.graph, words, view.focus)
            stale = any(node.stale_since is not None for node in meant)
            if meant and (words or stale or found["verb"].lower() not in _NEEDS_A_NAME):
                return words
    return None
