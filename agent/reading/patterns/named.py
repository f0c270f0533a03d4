"""What is named as its schema names it: a kind of task, and the slots of one. Pure.

"Book an appointment with a doctor for a given date" asks for a task and gives no date; "the pickup date is May 3
and the time 2 PM" sets two slots. Exact names go first: words alone would take 'destination city' for 'origin
city', and 'number of seats' for a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taskloom.agent.language import patterns as re
from taskloom.agent.language.clauses import clause
from taskloom.agent.language.phrases import details_of
from taskloom.agent.language.wording import spoken
from taskloom.agent.plan.kinds import kind_asked_for, kind_named, kind_of, schema_of
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.steps import Step

_LEAD = r"(?:(?:and|also|but|then|actually|sorry|oh|no|yes|ok(?:ay)?|well|hmm|please)[\s,.]+)*"
_VERB = (
    r"(?:(?:can|could|would) you (?:please )?|let'?s |i(?:'d| would) like (?:you )?to |i want (?:you )?to |please )?"
    r"(?:make|set|change|update|switch|put)\s+"
)
_BESIDE = r"\s+(?:at|by|for|from|in|on|to|with|near|under)\s+|,"
_LINK = r"\s*[:=]\s*|\s+(?:is|are|was|should be|will be|would be|has to be|must be|to be|to|as)\s+"
DECLINED = re.compile(
    r"(?:(?:well|hmm|sorry|oh)[, ]+)?(?:i (?:don'?t|do not)(?: really)? know(?: (?:yet|that|it|(?:the|its|my) [\w ]+?))*|(?:i'?m |i am )?not sure(?: (?:yet|about (?:that|it|the [\w ]+?)))*|no idea(?: yet)?"
    r"|(?:i'?ll|i will) (?:tell you|let you know|say|decide)(?: that| it)?(?: later| soon)?|(?:ask me |maybe )?later|skip(?: (?:it|that|this)(?: one)?)?"
    r"|(?:i'?m |i am )?undecided|(?:i )?haven'?t decided(?: (?:yet|that))*|(?:it )?doesn'?t matter|no preference|i don'?t (?:care|mind)|pass|whatever|up to you|you (?:choose|decide|pick)|surprise me)[.! ]*",
    re.IGNORECASE,
)


_NEEDED = re.compile(
    r"(?:i|we)(?:'d| would)? (?:also |still |really )*(?:need|want|like|have to have) (?P<new>another |a new |one more )?(?:an? |the |my |our |some )?(?P<what>.+)",
    re.IGNORECASE,
)


def named_task(sentence: str, view: View) -> list[Step]:
    """The task that a sentence asks for in the words of its kind; none for any other sentence.

    'Book an appointment with a doctor for a given date' says no more than the kind, 'I need a haircut with Mia'
    names it and says more.
    """
    said = clause(sentence) if view.schemas else None
    if said is None or (not said.request and said.question):
        return []
    needed = _NEEDED.fullmatch(said.core)
    kind = (
        kind_named(re.split(_BESIDE, needed["what"])[0], view.schemas)
        if needed
        else kind_asked_for(said.core, view.schemas)
    )
    asked = view.question is not None and not view.question.options  # then it may be the answer, a title
    if kind is None or (
        asked and not (said.request or needed or re.match(r"please\b", sentence, re.IGNORECASE))
    ):
        return []
    definite = re.match(r"\w+ (?:the|my|our|this|that)\b", said.core, re.IGNORECASE)
    if definite or (needed and not needed["new"]):
        roots = [root for root in view.graph.parts(None) if root.status != "done"]
        if any(kind_of(view.graph, root.id, view.schemas) == kind for root in roots):
            return []  # the one that is there
    bare, details, items = details_of(needed["what"]) if needed else (said.core, (), ())
    return [
        Step(
            text=sentence, act="task", intent="new", title=bare, target=bare, details=details, items=items,
        )
    ]  # fmt: skip


def talked_of(view: View, before: Sequence[Step] = ()) -> tuple[str | None, TaskSchema] | None:
    """The task that is talked of, and its kind; None for its id where the steps before just asked for it."""
    made = next((step for step in reversed(before) if step.act == "task" and step.title), None)
    if made is not None:
        kind = kind_named(made.title or "", view.schemas)
        return (None, kind) if kind else None
    return schema_of(view)


def named_slots(sentence: str, view: View, before: Sequence[Step] = ()) -> list[Step]:
    """The settings of a sentence that names slots of the schema in focus; none for any other sentence.

    before: the steps of the sentences before it.
    """
    found = talked_of(view, before) if view.schemas and not sentence.rstrip().endswith("?") else None
    if found is None:
        return []
    names = {spoken(slot.name).lower(): slot.name for slot in found[1].slots}
    longest_first = sorted(names, key=len, reverse=True)
    name = "|".join(r"[\s_]+".join(map(re.escape, words.split())) for words in longest_first)
    first = re.fullmatch(
        rf"{_LEAD}(?P<verb>{_VERB})?(?:the |my |our |its )?(?P<name>{name})(?P<rest>(?P<link>{_LINK})?.*)",
        sentence.strip(" .!"),
        re.IGNORECASE,
    )
    if first is None or not (first["verb"] or first["link"]):
        return []
    steps, slot, rest = [], first["name"], first["rest"]
    while True:
        following = re.search(
            rf"(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)(?:also\s+)?(?:{_VERB})?(?:the |my |our )?(?P<name>{name})(?={_LINK}|\s+\S)",
            rest,
            re.IGNORECASE,
        )
        value = _value(rest[: following.start()] if following else rest)
        if not value:
            return []
        steps.append(_step(sentence, slot, value, names))
        if following is None:
            return steps
        slot, rest = following["name"], rest[following.end() :]


def _step(sentence: str, said: str, value: str, names: Mapping[str, str]) -> Step:
    name = " ".join(said.replace("_", " ").split()).lower()
    return Step(text=sentence, act="set", intent="update", target=name, slot=names[name], value=value)


def _value(rest: str) -> str:
    value = re.sub(rf"^(?:{_LINK})", "", rest, flags=re.IGNORECASE)
    value = re.sub(
        r"[\s,]+(?:please|instead|now|then|as well|too)$", "", value.strip(" .,;!"), flags=re.IGNORECASE
    )
    return value.strip(" .,;!")
