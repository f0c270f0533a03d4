"""Frames of a message: what only says what it is about, or nothing, and comes before or after what it says.

'Concerning the van, we need two drivers', 'By the way, ...', 'This is about the van': without its frame a
message is plainer to read, and the plan that the frame names is its topic. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from taskloom.agent.grounding.resolving.joining import head
from taskloom.agent.grounding.resolving.resolver import Resolver
from taskloom.agent.grounding.resolving.scoring import content
from taskloom.agent.plan.held import stems_in, tasks_with_stem
from taskloom.agent.turn.reading import View
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import word_set

from .spelling import written_out

_ABOUT = word_set("about on for of with to in at as concerning regarding re from")
_NEWS = word_set(
    """there here and or both all each some one two three few couple another more else something thing
    things news note notes detail details fact facts update updates topic subject point word entry
    info information next new now then again back over still just also moreover besides plus further
    furthermore anyway well fine right ok okay so first firstly second secondly last lastly finally
    has have"""
)
_DETERMINERS = word_set("the a an my our this that these those")
_WORDS = (
    _ABOUT
    | _NEWS
    | _DETERMINERS
    | word_set(
        """by way case top addition let me us i we you they it is are had come return go going move turn talk
        speak look can could may might should would will want like tell say says know learned heard
        remember left out mention mentioned add belong belongs relates relate concerns complete far
        mind front before time continue please"""
    )
)
_AT_END = {":": word_set("called"), "that": word_set("write down")}  # more words of a frame that ends so
_LEADS = _ABOUT | _DETERMINERS | word_set("back over next still now again")  # 'Over to the van, ...'
_KEPT_IN = word_set("front mind")  # 'I have the van in front of me'
_BLANK = word_set(
    """by as to plus right fine well ok okay so besides moreover furthermore further also anyway next first
    firstly second secondly lastly finally on in apart"""
)
_FIRST = re.compile(r"[^,.!?:;]*(?:[,.!?:;](?=\s)|\s+[-–—](?=\s)|\bthat(?=\s))")
_ALSO_FIRST = re.compile(r"[^.!?:;]*:(?=\s)")
_LAST = re.compile(
    r"(?<=[.!?])\s+(?:(?:all|both|each) of )?(?:this|that|these|those|it|both|all)\b[^.!?]*[.!]?\s*$",
    re.IGNORECASE,
)
_PARTS = re.compile(r"((?<=[.!?;])\s+)")
_WORD = re.compile(r"[\w'’-]+")
_TAG = re.compile(  # '..., isn't it?': what comes before it is what is asked
    r"(?:(?:is|are|was|were|do|does|did|has|have|will|would|can|could|should)(?:n['’]?t)?"
    r" (?:it|that|this|he|she|we|they|you|i|there)(?: not)?"
    r"|(?:is that|that['’]?s|am i) (?:right|correct|so)|right|correct|no|yes)\W*",
    re.IGNORECASE,
)
_MOST = 3  # frames one after the other
_IS = frozenset(("is", "are", "was", "were"))


@dataclass(frozen=True, slots=True)
class Framed:
    """What a message says without its frame; about: the plan that the frame names, or None."""

    text: str
    about: TaskNode | None = None


def framed(utterance: str, view: View) -> Framed:
    """A message written out, without what frames it unless nothing else were left."""
    resolver = Resolver(view)
    text, about = written_out(utterance.strip()), None
    last = _LAST.search(text)
    if last is not None and (found := _frame(last[0], "", resolver)) is not None and found.about is not None:
        text, about = text[: last.start()].rstrip(), found.about
    for _ in range(_MOST):
        first = _without_first(text, resolver)
        if first is None or (about is not None and first.about not in (None, about)):
            break
        text, about = first.text, about or first.about
    text = "".join(_without_lead(part, resolver) for part in _PARTS.split(text))
    return Framed(text, about) if text != utterance.strip() else Framed(utterance)


def _without_lead(part: str, resolver: Resolver) -> str:
    """A sentence without words at its begin that say nothing: '..., besides, Rosa practises too'."""
    found = _without_first(part, resolver)
    return found.text if found is not None and found.about is None else part


def _without_first(text: str, resolver: Resolver) -> Framed | None:
    """The text without its first frame; None where it has none."""
    for form in (_FIRST, _ALSO_FIRST):
        found = form.match(text)
        rest = text[found.end() :].strip() if found is not None else ""
        # 'The party: Friday' says nothing without its begin, and 'It is on Friday, isn't it?' asks nothing.
        if found is not None and len(_WORD.findall(rest)) > 1 and not _TAG.fullmatch(rest):
            frame = _frame(found[0], rest, resolver)
            if frame is not None:
                return frame
    return None


def _frame(text: str, rest: str, resolver: Resolver) -> Framed | None:
    """The rest of a message after a part of it that is a frame; None: it is none."""
    spans = list(_WORD.finditer(text))
    told = [span[0].lower().replace("’", "'").removesuffix("'s") for span in spans]
    if not told:
        return None
    end = "that" if told[-1] == "that" else text.rstrip()[-1:]
    little = _WORDS | _AT_END.get(end, frozenset())
    begin, stop = 0, len(told)
    while begin < stop and told[begin] in little:
        begin += 1
    while stop > begin and told[stop - 1] in little:
        stop -= 1
    if begin == stop:
        return Framed(rest) if _says_nothing(told, end) else None
    if not _leads_to(told[:begin], told[stop:], end) or _IS & {*told[begin:stop]}:
        return None  # 'The train is booked.' tells something of it
    about = _named(text[spans[begin].start() : spans[stop - 1].end()], resolver)
    return Framed(rest, about) if about is not None else None


def _says_nothing(told: list[str], end: str) -> bool:
    """Whether little words say nothing: 'By the way,', 'Two details:', 'I just learned that'."""
    if end == "?" or "it" in told:
        return False
    if end == ",":
        return told[0] in _BLANK
    return end in (":", "that") and len(told) > (1 if end == ":" else 2)


def _leads_to(before: list[str], after: list[str], end: str) -> bool:
    """Whether little words around a name only lead to it: 'news on the van', not 'I have the van'."""
    if end in (",", "-", "–", "—") and before[:1] and before[0] not in _LEADS:
        return False  # 'I like the van, ...'
    if end == "?" and before[:1] not in (["can"], ["could"], ["may"]):
        return False
    lead = [word for word in before if word not in _DETERMINERS]
    if _KEPT_IN & {*before, *after}:
        return True
    return (not lead or lead[-1] in _ABOUT) and _NEWS.issuperset(after[:-1] if end == "that" else after)


def _named(name: str, resolver: Resolver) -> TaskNode | None:
    """The plan that a name means: it has the noun of the plan's title, and no word that the plan has not."""
    graph, said = resolver.graph, set(content(name))
    ids = {graph.root(node.id).id for word in said for node in tasks_with_stem(graph, word) if node.active}
    plans = (graph[key] for key in sorted(ids))
    found = [
        node
        for node in plans
        if node.active and node.value is None and head(node.title) in said and said <= resolver.names_of(node)
    ]
    exact = [node for node in found if said <= stems_in(node).title] or found
    return exact[0] if len(exact) == 1 else None
