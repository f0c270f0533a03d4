"""Signs of how far a reading can be trusted, alone and beside the other readings of the same words. Pure.

They are about what was read (how sure the network is), about what it would do (kinds of operations, titles,
slots without a name), and about what is left over: numbers, names and words of the utterance that no
operation says, questions without an answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from taskloom.agent.language.typed import kind_of
from taskloom.agent.language.values import NUMBER_WORDS
from taskloom.agent.language.wording import DID_YOU_MEAN, NOT_UNDERSTOOD
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.turn.clauses import Parse
from taskloom.agent.turn.reading import View
from taskloom.memory.claims import Answer, answer
from taskloom.memory.operations import Add, Check, Clarify, Operation, Question, Split, Undo, Update
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import STOP, words

_NAME = re.compile(r"(?<![.!?\n] )(?<!^)\b[A-Z][a-zé]+\b")
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_SENTENCE = re.compile(
    r"\b(?:i|we|you|he|she|they|it|us|them|that|which|who|is|are|was|were|has|have|had|will|would|should|can"
    r"|could|must|been|be|so|but|because|please|actually|instead|also)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?:to|on|for|in|at|by|with|of|from|and|or|about|concerning|until|go|put|need|will)\b", re.IGNORECASE
)
_KNOWN = re.compile(r"\b(?:the|that|this|those|these|his|her|its|their)\s+$", re.IGNORECASE)
_TAKES = ("remove", "inactivate", "replace", "rollback", "undo", "merge", "split")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of an utterance.

    operations: what it would do. parse: the network's of the words. margin: of `Assembled`. share: how much
    of the probability of all readings is that of those which would do the same (0 to 1).
    """

    operations: tuple[Operation, ...]
    parse: Parse
    margin: float = 3.0
    share: float = 1.0


def signs(
    text: str, view: View, candidates: Sequence[Candidate], known: Known | None = None
) -> list[dict[str, float]]:
    """The signs of each candidate by name.

    view: the plan before it, and what was said before. candidates: the likeliest first. known: what was
    looked up for others of the same words and view.
    """
    does = [effects(one.operations) for one in candidates]
    known = known or Known(text, view)
    found = [known.own(one).copy() for one in candidates]
    likely = Counter[tuple[str, ...]]()
    for one, own in zip(candidates, does, strict=True):
        likely.update(dict.fromkeys(own, one.share))
    shared = {name: min(one[name] for one in found) for name in _COMPARED}
    for rank, (one, own) in enumerate(zip(candidates, does, strict=True)):
        others = does[min(1, len(does) - 1)] if rank == 0 else does[0]
        mine = found[rank]
        missed = max((likely[effect] for effect in likely if effect not in own), default=0.0)
        mine |= {
            "rank": rank,
            "ways": len(candidates),
            **{f"{name} behind": mine[name] - found[0][name] for name in ("roles", "begins", "acts")},
            "share": one.share,
            "rivals": max((other.share for other in candidates if other is not one), default=0.0),
            "least likely": min((likely[effect] for effect in own), default=0.0),
            "missed": missed,
            "same": float(own == others),
            "alike": len(own & others) / max(1, len(own | others)),
            "other does nothing": float(not others),
            "sure and same": float(own == others) * mine["log probability"],
            **{f"{name} too many": mine[name] - shared[name] for name in _COMPARED},
        }
    return found


class Known:
    """What the candidates of one text are compared with, and each one's own signs: worked out once."""

    def __init__(self, text: str, view: View) -> None:
        """view: the plan before the text, and what was said before."""
        self.text, self._view, self._graph = text, view, view.graph
        self._answers: dict[Question, Answer] = {}
        self._own: dict[int, tuple[Candidate, dict[str, float]]] = {}  # by the parse, which it keeps alive

    def own(self, one: Candidate) -> dict[str, float]:
        """The signs that a candidate has whatever stands beside it."""
        held = self._own.get(id(one.parse))
        if held is None or held[0].operations is not one.operations:
            found = {
                **_parse_signs(self.text, one),
                **_effect_signs(self.text, self._view, one, self),
                **_unused_words(self.text, self._graph, one, self),
                **_title_signs(one),
            }
            self._own[id(one.parse)] = held = one, found
        return held[1]

    def answer(self, question: Question) -> Answer:
        """The answer to a question on the plan as it is."""
        if question not in self._answers:
            self._answers[question] = answer(self._graph, question)
        return self._answers[question]

    @cached_property
    def changed(self) -> int:
        """The turn in which the plan changed last."""
        return max((node.turn for node in self._graph.values()), default=self._view.turn)

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems that are in any active task."""
        texts = (f"{node.title} {node.value or ''}" for node in self._graph.active)
        return frozenset(chain.from_iterable(map(words, texts)))


_COMPARED = (
    "left words", "left numbers", "left names", "lost mentions", "doubts", "read but not done", "new tasks",
    "targets unnamed", "asked unnamed", "claims untrue", "not said", "typed titles", "kinds differ",
    "said as sentences", "leads as titles", "commas in titles", "unmarked", "more than marked",
)  # fmt: skip


def _parse_signs(text: str, mine: Candidate) -> dict[str, float]:
    """Signs in the network's parse."""
    clauses = mine.parse.clauses
    acts = [clause.act for clause in clauses if clause.act != "chat"]
    sure = max(math.log(max(mine.parse.probability, 1e-9)), -14)
    idle = sum(len(clause.text) for clause in clauses if clause.act == "chat")
    spans = sum(len(mention.text) for clause in clauses for mention in clause.mentions)
    asked = [clause for clause in clauses if clause.act.startswith("ask.")]
    roles, begins, chosen = (max(one, -14) for one in mine.parse.parts)
    return {
        "log probability": sure,
        "per clause": sure / max(1, len(clauses)),
        "per word": sure / max(1, len(text.split())),
        "clauses": min(len(acts), 6),
        "unsure": float("unsure" in acts),
        "chat": idle / max(1, len(text)),
        "in mentions": spans / max(1, len(text)),
        "words": math.log(1 + len(text.split())),
        "roles": roles,
        "begins": begins,
        "acts": chosen,
        "asked of nothing": sum(not clause.mentions for clause in asked),
        "asks": len(asked) - text.count("?"),
        "mentions": max((len(clause.mentions) for clause in clauses), default=0),
        "targets": max((len(clause.all("T")) for clause in clauses), default=0),
        **{f"act {act}": sum(one.partition(":")[0] == act for one in acts) for act in _ACTS},
    }


_ACTS = (
    "task", "add", "set", "rename", "shift", "remove", "replace", "done", "reopen", "assign", "need", "back",
    "ask.value", "ask.who", "ask.list", "ask.claim", "ask.summary", "ask.left", "ask.other", "ask.before",
)  # fmt: skip
_KINDS = ("add", "update", "remove", "complete", "link")


def _effect_signs(text: str, view: View, mine: Candidate, known: Known) -> dict[str, float]:
    """Signs in what it would do."""
    graph, said = view.graph, set(words(text)) - STOP
    changes = [one for one in mine.operations if not isinstance(one, Check | Clarify)]
    checks = sum(isinstance(one, Check) for one in mine.operations)
    asks = sum(clause.act.startswith("ask.") for clause in mine.parse.clauses)
    acts = sum(clause.act != "chat" for clause in mine.parse.clauses)
    titles = [one.title for one in changes if isinstance(one, Add) and one.value is None]
    marks = text.count("?")
    keys = [getattr(one, "task", None) or getattr(one, "parent", None) or "" for one in changes]
    targets = [graph[key] for key in keys if key in graph]
    named = [bool(said & _around(graph, node)) for node in targets]
    named_anew = [one.title or "" for one in changes if isinstance(one, Add | Update)]
    news = [one for one in changes if isinstance(one, Update) and one.value is not None and one.task in graph]
    kinds = [(kind_of(graph[one.task].value or ""), kind_of(one.value or "")) for one in news]
    last = view.exchanges[-1][1] if view.exchanges else ""
    answers = [known.answer(one.question) for one in mine.operations if isinstance(one, Check)]
    claims = [one.verdict.kind for one in answers if one.verdict is not None]
    about = [graph[key] for one in answers for key in one.question.tasks[:3] if key in graph]
    return {
        "claims true": sum(one in ("holds", "was") for one in claims),
        "claims untrue": sum(one == "never" for one in claims),
        "claims unknown": sum(one == "unknown" for one in claims),
        "answers empty": sum(not (one.tasks or one.events or one.count) for one in answers),
        "answers long": math.log(1 + sum(len(one.tasks) for one in answers)),
        "asked unnamed": sum(not said & _around(graph, node) for node in about),
        "asked named": sum(bool(said & _around(graph, node)) for node in about),
        "typed titles": sum(kind_of(one) is not None for one in named_anew),
        "changes": math.log(1 + len(changes)),
        "checks": min(checks, 3),
        "doubts": sum(isinstance(one, Clarify) for one in mine.operations),
        "nothing": float(not mine.operations),
        "takes": float(any(one.kind in _TAKES for one in changes)),
        "takes much": float(_count_removed(changes, graph) > 1),
        "long titles": sum(len(title.split()) > 5 for title in titles),
        "new tasks": min(4, len(titles)),
        "new by the way": max(0, len(titles) - _made_on_purpose(mine)),
        "definite titles": sum(_is_definite(title, text) for title in titles),
        "new at the top": sum(isinstance(one, Add) and not one.parent for one in changes),
        "unnamed": sum(isinstance(one, Add) and one.title.startswith("detail") for one in changes),
        "question unread": float(marks > 0 and checks == 0),
        "asks too often": float(checks > max(marks, asks)),
        "read but not done": max(0, acts - len(mine.operations)),
        "plan": math.log(1 + len(graph)),
        "margin": min(mine.margin, 1.5),
        "targets unnamed": sum(not one for one in named),
        "targets named": sum(named),
        "targets off topic": sum(not _near(graph, node, view.focus[:3]) for node in targets),
        "kinds fit": sum(old == new and new is not None for old, new in kinds),
        "kinds differ": sum(old != new for old, new in kinds),
        "no change": sum(one.value == graph[one.task].value for one in news),
        "answers": float(last.rstrip().endswith("?")),
        "again": float(NOT_UNDERSTOOD in last),
        "proposed": float(last.startswith(DID_YOU_MEAN)),
        "since changed": min(8, view.turn - known.changed),
        "titles said": min((_said_of(graph, node, said) for node in targets), default=1.0),
        "rival slots": max((_rivals(graph, one.task) for one in news), default=0),
        **{f"kind {kind}": min(3, sum(one.kind == kind for one in changes)) for kind in _KINDS},
    }


def _said_of(graph: TaskGraph, node: TaskNode, said: Collection[str]) -> float:
    """How much of the name of a task, or of the task that a slot is of, was said."""
    task = graph[node.parent] if is_slot(node) and node.parent else node
    names = [set(words(one.title)) - STOP for one in (node, task)]
    return max((len(name.intersection(said)) / len(name) for name in names if name), default=0.0)


def _rivals(graph: TaskGraph, key: str) -> int:
    """How many other slots of a plan hold a value of the same kind, up to six."""
    kind = kind_of(graph[key].value or "")
    inside = graph.subtree(graph.root(key).id)[:200]
    same = (one for one in inside if one.id != key and one.value and kind_of(one.value) == kind)
    return sum(1 for _ in islice(same, 6))


_MAKES = ("task", "add", "need", "split")


def _made_on_purpose(mine: Candidate) -> int:
    """How many things were read as new: other acts should find theirs in the plan."""
    return sum(
        mention.role in "TIWP" for one in mine.parse.clauses if one.act in _MAKES for mention in one.mentions
    )


def _is_definite(title: str, text: str) -> bool:
    """Whether something new is spoken of as if it were known: 'the caterer', 'that song', 'our van'."""
    at = text.lower().find(title.lower())
    return at > 0 and _KNOWN.search(text[:at]) is not None


def _title_signs(mine: Candidate) -> dict[str, float]:
    """Signs in the words that would be put: leftovers of a sentence are no titles, and were not marked so."""
    put = [one for one in mine.operations if isinstance(one, Add | Update)]
    titles = [one.title for one in put if one.title and not (isinstance(one, Add) and one.value)]
    texts = [*titles, *(one.value for one in put if one.value)]
    marked = [frozenset(words(span.text)) - STOP for one in mine.parse.clauses for span in one.mentions]
    clauses = [frozenset(words(one.text)) for one in mine.parse.clauses]
    own = [frozenset(words(text)) - STOP for text in texts]
    return {
        "said as sentences": sum(bool(_SENTENCE.search(text)) for text in texts),
        "leads as titles": sum(bool(_LEADS.match(text)) for text in titles),
        "commas in titles": sum("," in text for text in titles),
        "unmarked": sum(bool(words_of) and words_of not in marked for words_of in own),
        "more than marked": sum(
            bool(words_of) and not any(words_of <= span for span in marked) for words_of in own
        ),
        "across clauses": sum(not any(words_of <= clause for clause in clauses) for words_of in own),
        "parts of marks": sum(any(words_of < span for span in marked) for words_of in own if words_of),
    }


def _around(graph: TaskGraph, node: TaskNode) -> set[str]:
    above = (node, *graph.ancestors(node.id))
    return {word for one in above for word in words(f"{one.title} {one.value or ''}")}


def _near(graph: TaskGraph, node: TaskNode, focus: Sequence[str]) -> bool:
    """Whether a task is one of the topics, part of one, or has one as its part."""
    family = {node.id, node.parent, *(one.id for one in graph.ancestors(node.id))}
    return any(key in family or (key in graph and graph[key].parent in family) for key in focus)


def _unused_words(text: str, graph: TaskGraph, mine: Candidate, known: Known) -> dict[str, float]:
    """Signs in what of the words no operation says."""
    said = [word for word in words(text) if word not in STOP]
    told = _stated_words(mine.operations, graph)
    numbers = [one.replace(",", "") for one in _NUMBER.findall(text)]
    spelt = [word for word in re.findall(r"[a-z]+", text.lower()) if word in NUMBER_WORDS and word != "one"]
    put = {
        word
        for one in mine.operations if not isinstance(one, Check | Clarify)
        for key in ("title", "value") for word in words(str(getattr(one, key, None) or ""))
    } - STOP  # fmt: skip
    spans = [mention for clause in mine.parse.clauses for mention in clause.mentions]
    chat = " ".join(clause.text for clause in mine.parse.clauses if clause.act == "chat")
    idle = set(words(chat)) - STOP
    return {
        "left mentions": sum(not set(words(one.text)) - STOP <= told for one in spans),
        "lost mentions": sum(not set(words(one.text)) & told for one in spans),
        "chat names": min(4, len(idle & known.words)) if idle else 0,
        "chat numbers": min(4, sum(any(sign.isdigit() for sign in word) for word in idle)),
        "left words": len([one for one in said if one not in told]) / max(1, len(said)),
        "left count": min(8, len([one for one in said if one not in told])),
        "left numbers": sum(not any(part in told for part in words(one)) for one in numbers),
        "left spelt": sum(not set(words(one)) <= told for one in spelt),
        "left names": min(3, sum(not set(words(one)) <= told for one in _NAME.findall(text))),
        "not said": min(4, len(put - set(said))),
    }


def _stated_words(operations: Iterable[Operation], graph: TaskGraph) -> set[str]:
    """The words that operations say: what they put, and what they are about."""
    found = set[str]()
    for one in operations:
        given = one.model_dump(exclude={"said"}, exclude_none=True)
        for key in [given.get("task"), given.get("on"), given.get("parent"), *_asked(one)]:
            node = graph.get(key or "")
            if node is not None:
                found |= {
                    *words(node.title),
                    *words(node.value or ""),
                    *words(node.slot.replace("_", " ").replace(".", " ")),
                }
                if node.parent and node.parent in graph:
                    found |= set(words(graph[node.parent].title))
        for key in ("title", "value", "old", "new"):
            found |= set(words(str(given.get(key) or "")))
        if isinstance(one, Add):
            found |= set(words(one.slot.rpartition(".")[2].replace("_", " ")))
        if isinstance(one, Check):
            asked = one.question
            found |= set(words(" ".join(filter(None, (asked.about, asked.value, asked.slot, asked.kind)))))
        if isinstance(one, Split):
            found |= {word for part in one.parts for _, value in part.values for word in words(value)}
    return found


def _asked(one: Operation) -> tuple[str | None, ...]:
    return (*one.question.tasks[:3], one.question.container) if isinstance(one, Check) else ()


def _count_removed(changes: Iterable[Operation], graph: TaskGraph) -> int:
    """How many tasks with parts of their own, or whole turns, changes take out."""
    return sum(
        isinstance(one, Undo)
        or (one.kind in ("remove", "inactivate") and len(graph.parts(getattr(one, "task", ""))) > 1)
        for one in changes
        if isinstance(one, Undo) or getattr(one, "task", "") in graph
    )


def effects(operations: Iterable[Operation]) -> frozenset[tuple[str, ...]]:
    """What operations do, each in a form that is alike for the same effect."""
    found = set[tuple[str, ...]]()
    for one in operations:
        given = one.model_dump(exclude={"said", "intent"}, exclude_none=True)
        if isinstance(one, Check):
            found.add(("check", one.question.kind, *sorted(one.question.tasks)))
        elif isinstance(one, Add):
            found.add(("add", given.get("parent", ""), *sorted(set(words(one.value or one.title)) - STOP)))
        elif not isinstance(one, Clarify):
            value = " ".join(
                str(given.get(key, "")) for key in ("value", "title", "old", "new", "on", "status")
            )
            found.add((one.kind, given.get("task", ""), *sorted(set(words(value)) - STOP)))
    return frozenset(found)
