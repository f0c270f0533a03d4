"""Frames of a message: what only says what it is about, or nothing, and comes before or after what it says.

'Concerning the van, we need two drivers', 'By the way, ...', 'This is about the van': without its frame a
message is plainer to read, and the plan that the frame names is its topic. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from taskloom.agent.grounding.resolving.resolver import Resolver, content
from taskloom.agent.language.wording import word_set
from taskloom.agent.plan.held import stems_in, tasks_with_stem
from taskloom.agent.turn.reading import View
from taskloom.memory.tasks import TaskNode

_ABOUT = word_set("about on for of with to in at as concerning regarding re from")
_WORDS = _ABOUT | word_set(
    """the a an my our this that these those here there and or both all each some one two three few couple
    another more else something thing things news note notes detail details fact facts update updates topic
    subject point word entry info information case next new now then again back over still just also
    moreover besides plus further furthermore anyway by way well fine right ok okay so first firstly second
    secondly last lastly finally top addition let me us i we you they it is are has have had got get
    come return go going move turn talk
    speak look look can could may might should would will want like tell say says know learned heard remember
    forgot left out mention mentioned write wrote written down add put called belong belongs relates relate
    concerns complete far mind front before time continue please"""
)
_LEADS = _ABOUT | word_set("to back over next still now again the my our that this")  # 'Over to the van, ...'
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
_PARTS = re.compile(r"(?<=[.!?;])\s+")
_WORD = re.compile(r"[\w'’-]+")
_MOST = 3  # frames one after the other


@dataclass(frozen=True, slots=True)
class Framed:
    """What a message says without its frame; about: the plan that the frame names, or None."""

    text: str
    about: TaskNode | None = None


def framed(utterance: str, view: View) -> Framed:
    """A message without what frames it; as it is where nothing does, or nothing else were left of it."""
    resolver = Resolver(view)
    text, about = utterance.strip(), None
    last = _LAST.search(text)
    if last is not None and (found := _frame(last[0], resolver)) is not None and found.about is not None:
        text, about = text[: last.start()].rstrip(), found.about
    for _ in range(_MOST):
        first = _frame_before(text, resolver)
        if first is None or (about is not None and first.about not in (None, about)):
            break
        text, about = first.text, about or first.about
    parts = [_without_lead(part, resolver) for part in _PARTS.split(text)]
    text = " ".join(parts)
    return Framed(text, about) if text != utterance.strip() else Framed(utterance)


def _without_lead(part: str, resolver: Resolver) -> str:
    """A sentence without words at its begin that say nothing: '..., besides, Rosa practises too'."""
    found = _frame_before(part, resolver)
    return found.text if found is not None and found.about is None else part


def _frame_before(text: str, resolver: Resolver) -> Framed | None:
    """The text without its first frame."""
    for form in (_FIRST, _ALSO_FIRST):
        found = form.match(text)
        rest = text[found.end() :].strip() if found is not None else ""
        if found is None or len(_WORD.findall(rest)) < 2:  # 'The party: Friday?'
            continue
        frame = _frame(found[0], resolver)
        if frame is not None:
            return Framed(rest, frame.about)
    return None


def _frame(text: str, resolver: Resolver) -> Framed | None:
    """What a part of a message is as a frame: its text is what names the plan, or ''; None: it is none."""
    spans = list(_WORD.finditer(text))
    told = [span[0].lower().replace("’", "'").removesuffix("'s") for span in spans]
    end = text.rstrip()[-1:]
    if not told:
        return None
    begin, stop = 0, len(told)
    while begin < stop and told[begin] in _WORDS:
        begin += 1
    while stop > begin and told[stop - 1] in _WORDS:
        stop -= 1
    if begin == stop:
        return Framed("") if _says_nothing(told, end) else None
    if end in ",-–—" and told[0] not in _LEADS:
        return None  # 'I like the van, ...'
    if end == "?" and told[0] not in ("can", "could", "may", "shall"):
        return None
    name = text[spans[begin].start() : spans[stop - 1].end()]
    about = _named(name, resolver)
    if about is None and begin:  # 'two details on one of the vans': a little word may be of the name
        about = _named(text[spans[begin - 1].start() : spans[stop - 1].end()], resolver)
    return Framed(name, about) if about is not None else None


def _says_nothing(told: list[str], end: str) -> bool:
    """Whether little words say nothing: 'By the way,', 'Two details:', 'I just learned that'."""
    if end == "?" or "it" in told:
        return False
    if end == ":":
        return len(told) > 1
    if end == ",":
        return told[0] in _BLANK
    return end == "t" and len(told) > 2  # 'I just learned that'


def _named(name: str, resolver: Resolver) -> TaskNode | None:
    """The plan that a name means: each of its words is in the plan's title, its kind or its values."""
    graph, said = resolver.graph, set(content(name))
    ids = {graph.root(node.id).id for word in said for node in tasks_with_stem(graph, word) if node.active}
    found = [
        node
        for node in map(graph.__getitem__, sorted(ids))
        if node.active
        and node.value is None
        and said & stems_in(node).own
        and said <= resolver.names_of(node)
    ]
    exact = [node for node in found if said <= stems_in(node).title] or found
    return exact[0] if len(exact) == 1 else None
