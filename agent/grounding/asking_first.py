"""What a question must not do: words that only ask change nothing, it is asked first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from taskloom.agent.language.wording import DID_YOU_MEAN, LEFT_OUT, NOT_SAID, clip, join, the, title_of
from taskloom.memory.operations import Check, Clarify, Operation
from taskloom.memory.tasks import TaskGraph

_ASKS = re.compile(
    r"(?:(?:and|so|but|ok|okay|hey|hi|hm+|well|sorry|oh|wait|by the way|btw|just|quick question)\W+)*"
    r"(?:(?:what|which|who|whom|whose|where|when|how|why)\b(?! about| if| don't we| not)"
    r"|(?:is|are|was|were|am|isn't|aren't|wasn't|weren't|did|didn't|does|doesn't|has|hasn't|had|hadn't) "
    r"|(?:would|wouldn't|might|should(?:n't)?(?! (?:we|i)\b)) "
    r"|(?:do|don't|have|haven't) (?:i|we|you|they|any|the)\b)",
    re.IGNORECASE,
)

_WISHES = re.compile(
    r"\b(?:(?:is it|would it be) (?:possible|ok|okay|too late|fine|alright)|(?:do|would|did) you mind"
    r"|are you able|how about|what about|please|is there (?:any|a) (?:way|chance)|(?:can|could) (?:you|we|i)"
    r"|would you|will you|let's|let us)\b",
    re.IGNORECASE,
)

_WORDS = r"what|when|where|who|which|why|how(?: many| much| long)?"

_VERBS = r"is|are|was|were|did|do|does|has|have|\w+ do|\w+ are"

_WHO = r"i|it|the|my|our|there|that|this|he|she|we|they"

_BARELY = re.compile(  # without a question mark: in a few words, and nothing beside it
    rf"(?:(?:{_WORDS})(?:'?s| (?:{_VERBS}))|(?:is|are|was|were|did|does) (?:{_WHO}))\b[\w\s'-]*",
    re.IGNORECASE,
)

_SUMS_UP = re.compile(  # the plan; "summarize the report" is something to do
    r"(?:summari[sz]e|recap|sum up)"
    r"(?: (?:it|all|everything|(?:the|my|our) (?:(?:whole|entire) )?(?:plan|tasks|list)))?[.!]*",
    re.IGNORECASE,
)

_MORE = re.compile(
    r"\b(?:and|n|then|also|but|make|set|add|move|change|drop|remove|call|put)\b", re.IGNORECASE
)


_CHECKS = re.compile(
    r"(?:(?:so|and|or|now),? )?(?:(?:does|do|did|is|was|would) (?:that|this|it|you|your notes) "
    r"(?:match|agree|fit|right|correct|true|so|have (?:that|it)|say (?:so|that))\b.*"
    r"|(?:is )?(?:that |this )?(?:right|correct|true|so)|is there anything (?:to|in) (?:that|it))\?",
    re.IGNORECASE,
)
"""A question whether what was said before it is so."""


def only_asks(utterance: str) -> bool:
    """Whether an utterance is questions alone: no wish in the form of one, nothing told beside it."""
    text = utterance.replace("’", "'").strip()
    if _WISHES.search(text):
        return False
    if _SUMS_UP.fullmatch(text):
        return True
    if not text.endswith("?"):
        return len(text.split()) <= 10 and bool(_BARELY.fullmatch(text)) and not _MORE.search(text)
    sentences = [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", text) if part.strip()]
    if len(sentences) == 2 and _CHECKS.fullmatch(sentences[1]):
        return True  # 'Rosa is the caterer. Does that match your notes?'
    return all(sentence.endswith("?") and _ASKS.match(sentence) for sentence in sentences)


def question_before(
    operations: Sequence[Operation], utterance: str, graph: TaskGraph
) -> tuple[Operation, ...]:
    """The operations of a turn; what would change something on a mere question becomes a question back.

    What the user did not say stays a question of its own behind it.
    """
    changes = tuple(one for one in operations if not isinstance(one, Check | Clarify))
    if not changes or not only_asks(utterance):
        return tuple(operations)
    kept = tuple(one for one in operations if isinstance(one, Check))
    question = f"You asked, so I changed nothing. Shall I {describe_operations(changes, graph)}"
    asked = Clarify(said=utterance[:300], question=f"{question}?", options=("yes",), choices=changes)
    return (*kept, asked, *_unsaid(operations))


def unsaid_and_unasked(operations: Sequence[Operation], question: Clarify | None) -> str:
    """What the operations of a turn propose that the user did not say and that is not asked about either.

    A turn asks one question, the first one. question: what it asks. Returns a sentence, '' for nothing.
    """
    left = [one.question for one in _unsaid(operations) if one != question]
    return f"{LEFT_OUT}{join(one.removeprefix(NOT_SAID).rstrip('?') for one in left)}." if left else ""


def _unsaid(operations: Iterable[Operation]) -> list[Clarify]:
    """The questions whether to do what the user did not say."""
    return [one for one in operations if isinstance(one, Clarify) and one.question.startswith(NOT_SAID)]


def joined_proposal(operation: Operation, before: Clarify, graph: TaskGraph) -> Operation:
    """A proposal that comes on top of one that is still open, as one with it; any other operation as it is.

    graph: the plan as it would be were that one accepted.
    """
    if not isinstance(operation, Clarify) or not operation.choices:
        return operation
    choices = (*before.choices, *operation.choices)
    question = f"{DID_YOU_MEAN}{describe_operations(choices, graph)}?"
    presumed = (*before.presumed, *operation.presumed) if operation.presumed else ()
    update = {"question": question, "options": (), "choices": choices, "presumed": presumed}
    return operation.model_copy(update=update)


def describe_operations(changes: Sequence[Operation], graph: TaskGraph) -> str:
    """What operations would do, in a few words: 'add milk and mark the cake done'."""
    return join(dict.fromkeys(_describe(one, graph) for one in changes), limit=4)


_DOES = {
    "remove": "take out {}", "inactivate": "put {} on hold", "restore": "bring back {}",
    "complete": "mark {} done", "rollback": "put {} back to what it was",
}  # fmt: skip
"""What an operation does to a task, in a few words."""


def _describe(operation: Operation, graph: TaskGraph) -> str:
    """What an operation would do, in a few words."""
    node = graph.get(getattr(operation, "task", "") or "")
    name = the(title_of(node)) if node is not None else ""
    match operation.kind:
        case "add":
            value = f": {clip(operation.value, 40)}" if operation.value else ""
            return f"add {clip(operation.title, 40)}{value}"
        case "update" if operation.value is not None:
            return f"set {name or 'it'} to {clip(operation.value, 40)}"  # 'it' was made just before
        case "update" if operation.title:
            return f"make {name or 'it'} {clip(operation.title, 40)}"
        case "link" if name and operation.on in graph:
            return f"let {name} wait for {the(title_of(graph[operation.on]))}"
        case "undo":
            return "take the last change back"
        case "replace":
            return f"replace {clip(operation.old, 40)} with {clip(operation.new, 40)}"
        case _:
            return _DOES.get(operation.kind, "change {}").format(name or "that")
