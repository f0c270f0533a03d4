"""Values for slots that are named as their schema names them: "the pickup date is May 3 and the time 2 PM". Pure.

Exact names go first: words alone would take 'destination city' for 'origin city', and 'number of seats' for a
number.
"""

from __future__ import annotations

from collections.abc import Mapping

from taskloom.memory.operations import Add, Update

from . import patterns as re
from .interpreter import Step, View
from .slots import TaskSchema, kind_of
from .wording import spoken

_LEAD = r"(?:(?:and|also|but|then|actually|sorry|oh|no|yes|ok(?:ay)?|well|hmm|please)[\s,.]+)*"
_VERB = (
    r"(?:(?:can|could|would) you (?:please )?|let'?s |i(?:'d| would) like (?:you )?to |i want (?:you )?to |please )?"
    r"(?:make|set|change|update|switch|put)\s+"
)
_LINK = r"\s*[:=]\s*|\s+(?:is|are|was|should be|will be|would be|has to be|must be|to be|to|as)\s+"
DECLINED = re.compile(
    r"(?:(?:well|hmm|sorry|oh)[, ]+)?(?:i (?:don'?t|do not)(?: really)? know(?: (?:yet|that|it|(?:the|its|my) [\w ]+?))*|(?:i'?m |i am )?not sure(?: (?:yet|about (?:that|it|the [\w ]+?)))*|no idea(?: yet)?"
    r"|(?:i'?ll|i will) (?:tell you|let you know|say|decide)(?: that| it)?(?: later| soon)?|(?:ask me |maybe )?later|skip(?: (?:it|that|this)(?: one)?)?"
    r"|(?:i'?m |i am )?undecided|(?:i )?haven'?t decided(?: (?:yet|that))*|(?:it )?doesn'?t matter|no preference|i don'?t (?:care|mind)|pass)[.! ]*",
    re.IGNORECASE,
)


def schema_of(view: View) -> tuple[str, TaskSchema] | None:
    """The root task that is talked of, and its kind: of the open question, else the one in focus."""
    choices = view.question.choices if view.question else ()
    places = [
        one.parent if isinstance(one, Add) else one.task for one in choices if isinstance(one, Add | Update)
    ]
    for key in (*places, *view.focus):
        if key is None or key not in view.graph:
            continue
        root = view.graph.root(key)
        schema = kind_of(view.graph, root.id, view.schemas) if root.active and root.status != "done" else None
        return (root.id, schema) if schema else None
    return None


def named_slots(sentence: str, view: View) -> list[Step]:
    """The settings of a sentence that names slots of the schema in focus; none for any other sentence."""
    found = schema_of(view) if view.schemas and not sentence.rstrip().endswith("?") else None
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
