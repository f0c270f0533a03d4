"""What a tool gave is wanted once more: 'look the flights up again', 'refresh the total'. Pure."""

from __future__ import annotations

import re

from taskloom.agent.language.words import content
from taskloom.agent.plan.roles import tool_results
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.steps import Asked, Step
from taskloom.memory.claims import CURRENT, STALE

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
_ENDS = re.compile(r"[.!;]\s+|,?\s+(?:and|then)\s+", re.IGNORECASE)
_JOINT = re.compile(r",?\s+(?:and|then)\s+$", re.IGNORECASE)
LAST_ENDS = 4  # of clauses, after which a wish may begin
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


def ends_again(text: str, view: View) -> tuple[str, Step] | None:
    """What a message says before it ends with such a wish, '' for nothing, and the wish; None without one."""
    if not tool_results(view.graph, "", view.focus):
        return None
    ends = [found.end() for found in _ENDS.finditer(text)]
    for cut in (0, *ends[-LAST_ENDS:]):
        words = wanted_again(text[cut:], view)
        if words is not None:
            return _JOINT.sub("", text[:cut]).strip(), Step(text=text[cut:], act="again", target=words)
    return None


_OLD = r"out of date|outdated|stale|no longer (?:right|valid|current|correct|up to date)"
_FRESH = r"up to date|still (?:right|valid|current|correct|good|up to date)"
_IS_IT = re.compile(rf"(?:is|are) (?P<what>.+?) (?:(?P<old>{_OLD})|{_FRESH})\s*\?", re.IGNORECASE)
_WHAT_IS = re.compile(
    r"(?:what|which(?: \w+)?)(?:['’]s| is| are| has to be)"
    r" (?:out of date|outdated|stale|looked up again)\s*\?",
    re.IGNORECASE,
)


def freshness_asked(text: str, view: View) -> Step | None:
    """The question whether results of tools, or what they were made from, still hold; None where none is."""
    if not tool_results(view.graph, "", view.focus):
        return None
    if _WHAT_IS.fullmatch(text.strip()):
        return Step(text=text, act="ask", asked=Asked(kind="status", value="stale"))
    asked = _IS_IT.fullmatch(text.strip())
    if asked is None:
        return None
    said = content(asked["what"])
    meant = tool_results(view.graph, asked["what"], view.focus) or tuple(
        node for node in view.graph.active if said and content(node.title) == said
    )
    if not meant:
        return None
    value = STALE if asked["old"] else CURRENT
    return Step(text=text, act="ask", task=meant[0].id, asked=Asked(kind="status", value=value))
