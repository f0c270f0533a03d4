"""Replies without a model: a template for every operation, verdict and question, in plain English.

The same brief always gives the same reply. What a template says of the past it marks as past, so that every
reply passes `checking.faults_of`, the check that a model's reply has to pass too.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet

from taskloom.agent.language import replies
from taskloom.agent.language.foreign import fixed_reply
from taskloom.agent.language.reply import LONGEST, Reply
from taskloom.agent.language.wording import (
    clip,
    join,
    readable,
    sentence,
    sentences,
    since,
    spoken,
    the,
    title_of,
)
from taskloom.agent.plan.held import all_stand
from taskloom.agent.plan.roles import tasks_in_role
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.calls import is_rerun_offer
from taskloom.agent.turn.reading import Usage
from taskloom.agent.turn.state import Turn
from taskloom.agent.turn.steps import Step
from taskloom.memory.claims import Answer
from taskloom.memory.operations import Check, Clarify, Update, names
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import STOP, words

from .answers import LISTED, answer_pieces
from .changes import Changes
from .checking import faults_of
from .naming import INLINE, Names

RESULT = 400  # characters of a tool's result in a reply

__all__ = ["TemplateResponder", "faults_of"]


class TemplateResponder:
    """Writes every reply from templates; costs nothing and never fails."""

    def respond(self, brief: Brief) -> Generator[str, None, Usage]:
        """Yield the reply, sentence by sentence; never empty."""
        separator = ""
        for piece in _Reply(brief).pieces():
            yield piece if piece.startswith("\n") else separator + piece
            separator = "\n" if "\n" in piece else " "
        return Usage()


class _Reply:
    """One reply in the making."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.turn, self.graph = brief, brief.turn, brief.graph
        self.names = Names(brief.graph)

    def pieces(self) -> list[str]:
        """The sentences and lists of the reply, in the order in which they are said."""
        note = self.brief.note or self.turn.note
        notes = [sentence(note)] if note else []
        # What is proposed, or what a tool gave, is told once, where it is proposed or given.
        given = {run.task for run in self.turn.tool_runs if run.task}
        untold = Names(self.graph, untold={*self.turn.proposals, *given})
        asked = self._proposals() + self._question()
        room = LONGEST - sum(len(piece) + 1 for piece in (*notes, *asked))
        lines = Changes(self._without(given), self.graph, untold).pieces(room)
        lines += self._tool_runs() + self._earlier()
        lines += self._answers(room - sum(len(line) + 1 for line in lines))
        if not lines and any(step.act == "no" for step in self.turn.steps):
            lines.append(replies.ALL_RIGHT())
        lines += asked
        return list(dict.fromkeys([*notes, *(lines or [self._small_talk()])]))

    def _answers(self, room: int) -> list[str]:
        """The answers to the questions; where they exceed the room, those that are no list are shortened."""
        answers = () if self.turn.earlier else self.brief.answers or self.turn.answers
        found = self._answered(answers)
        whole = len(answers) == 1 and answers[0].question.kind == "value" and bool(answers[0].tasks)
        if whole or sum(len(piece) + 1 for piece in found) <= room:
            return found  # of a whole task the value is all that it holds
        return self._answered(answers, brief=True)

    def _answered(self, answers: Sequence[Answer], *, brief: bool = False) -> list[str]:
        """The answers, with what long-term memory knows beside them or instead."""
        short = Names(self.graph, brief=True) if brief else self.names
        known = {one.answer: one for one in self.turn.known}
        acted = any(run.status == "done" for run in self.turn.tool_runs)
        found: list[str] = []
        for n, answer in enumerate(answers):
            if acted and (not answer.tasks or answer.question.slot):
                continue  # what tools gave answers what the tasks could not
            if n not in known or not known[n].instead:
                called = self.names if self._asks_for_all(answer) else short
                found += answer_pieces(answer, self.graph, called)
            found += known[n].lines if n in known else ()
        return list(dict.fromkeys(found))

    def _asks_for_all(self, answer: Answer) -> bool:
        """Whether a list is asked for: of things, or how far a task with parts is."""
        whole = any(self.graph.parts(key) for key in answer.question.tasks if key in self.graph)
        return answer.question.kind in LISTED or (answer.question.kind == "status" and whole)

    def _without(self, given: AbstractSet[str]) -> Turn:
        """The turn without the changes that results caused: opened tasks, results out of date."""
        kept = []
        offered = self.turn.question is not None and is_rerun_offer(self.turn.question)
        for change in self.turn.changes:
            if not (isinstance(change.operation, Update) and given & set(change.changed[:1])):
                left_out = set(change.stale) if offered else given & set(change.stale)
                left = {name: tuple(key for key in getattr(change, name) if key not in left_out)
                        for name in ("changed", "stale")}  # fmt: skip
                kept.append(change.model_copy(update=left))
        return self.turn.model_copy(update={"changes": tuple(kept)})

    def _tool_runs(self) -> list[str]:
        """What tools did: the results, what failed and why, what was not done."""
        found = []
        for run in self.turn.tool_runs:
            tool, title = spoken(run.call.tool), run.call.title or spoken(run.call.tool)
            lost = "Before I was interrupted: " if run.earlier else ""
            match run.status:
                case "done":
                    result = clip(readable(run.text), RESULT)
                    found.append(replies.TOOL_GAVE(lost=lost, title=title, result=result))
                case "failed":
                    found.append(replies.TOOL_FAILED(lost=lost, tool=tool, why=clip(run.text, RESULT)))
                case "rejected":
                    found.append(replies.TOOL_NOT_RUN(tool=tool, why=clip(run.text, RESULT)))
                case "unknown":
                    found.append(replies.TOOL_UNKNOWN(tool=tool, title=title, why=run.text))
        return found

    def _earlier(self) -> list[str]:
        """What earlier sessions tell: one task in a sentence, several in a list."""
        if len(self.turn.earlier) > 1:
            return ["In earlier sessions:", *(f"\n- {line}" for line in self.turn.earlier)]
        return [replies.EARLIER(line=line) for line in self.turn.earlier]

    def _proposals(self) -> list[str]:
        """The proposed values in one sentence, for confirmation."""
        nodes = [self.graph[key] for key in self.turn.proposals if key in self.graph]
        waiting = [node for node in nodes if node.status == "proposed"]
        if not waiting:
            return self._left_over()
        sources = {self._origin(node) for node in waiting}
        wholes = {node.parent for node in waiting}
        opening = "I suggest"
        if len(sources) == 1 and (origin := sources.pop()):
            opening = f"{origin}, I suggest"
        elif len(wholes) == 1 and (whole := wholes.pop()):
            opening = f"I suggest for {the(title_of(self.graph[whole]))}"
        entries = [self.names.entry(node, deep=False, marked=False) for node in waiting]
        reply = replies.SUGGESTED if len(waiting) > 1 else replies.SUGGESTED_ONE
        return [reply(opening=opening, entries=entries)]

    def _left_over(self) -> list[str]:
        """What still waits of values proposed before, where the user has just answered to some of them."""
        changed = [
            self.graph[key] for change in self.turn.changes for key in change.changed if key in self.graph
        ]
        answered = [node for node in changed if node.history and node.history[-1].status == "proposed"]
        if not answered or self.turn.question is not None:
            return []
        roots = {self.graph.root(node.id).id for node in answered}
        waiting = [
            node for node in tasks_in_role(self.graph, "proposed") if self.graph.root(node.id).id in roots
        ]
        entries = [self.names.entry(node, deep=False, marked=False) for node in waiting]
        return [replies.KEEP_THE_REST(entries=entries)] if entries else []

    def _origin(self, node: TaskNode) -> str:
        """Where a proposal comes from."""
        key = node.source.removeprefix("memory:")
        if self.turn.recalled is not None and key == self.turn.recalled.id:
            return f"As {since(self.turn.recalled.at)}"
        if key != node.source and key in self.graph:
            return f"As with the earlier {title_of(self.graph.root(key))}"
        return ""

    def _question(self) -> list[str]:
        """The one question to the user, with its options."""
        question = self.turn.question
        if question is None:
            clarify = (op for op in self.turn.operations if isinstance(op, Clarify))
            asked = (c.operation for c in self.turn.changes if isinstance(c.operation, Clarify))
            question = next(clarify, None) or next(asked, None)
        if question is None:
            return []
        text = question.question.strip() or "Which one do you mean?"
        options = [option for option in question.options if not names(option, text) and option != "yes"]
        if not options:
            return [text if text.endswith("?") else sentence(text)]
        return [f"{text.rstrip('?. ')}: {_options(options)}?"]

    def _small_talk(self) -> str:
        """A friendly line where there was nothing to do; a question where nothing was understood."""
        said, steps = self.brief.utterance or self.turn.utterance, self.turn.steps
        if about := fixed_reply(said):
            return about
        asked = any(_asks_beside(said[start:end].strip()) for start, end in sentences(said))
        for pattern, reply in _SMALL_TALK:
            if pattern.search(said):
                line = reply(seed=said)
                return replies.NOTHING_ON_YOUR_QUESTION(line=line) if asked else line
        if any(isinstance(op, Check) for op in self.turn.operations):
            return replies.NOTHING_ON_THAT()
        if "?" in said and steps and all(step.act == "chat" for step in steps):
            return replies.NOTHING_ON_THAT()
        if any(step.act in _TELLS and self._is_so(step) for step in steps):
            return replies.SO_ALREADY()
        if self.turn.noted:
            return replies.REMEMBERED(seed=said)
        if steps and all(step.act == "chat" for step in steps):
            return replies.NOTHING_CHANGED(seed=said)
        return replies.WHAT_TO_CHANGE()

    def _is_so(self, step: Step) -> bool:
        """Whether all that a step tells stands in the plan."""
        told = [step.value or "", *(one.value for one in (*step.details, *step.items))]
        stems = {word for value in told for word in words(value)} - STOP
        return bool(stems) and all_stand(self.graph, stems)


_TELLS = ("set", "assign", "need", "unneed")
"""Acts that say how something is; where they change nothing, it is so already."""
_SIDE_QUESTION = re.compile(
    r"(?:[\w'’ ]+[,:] )*?(?:(?:and|but|so|also|oh),? )*"
    r"(?P<asked>(?:what|when|where|who|how|why|which|does|do|did|is|are|can|could|will|would|should)\b[^?]*)\?$",
    re.IGNORECASE,
)  # what is asked beside thanks
_NO_QUESTION = re.compile(
    r"(?:can|could|would) you (?:believe|imagine)\b.*|what would (?:i|we) do without\b.*"
    r"|what(?:['’]| i)?s (?:up|new)|how (?:are (?:you|things)\b.*|is it going)|how['’]?s it going"
    r"|(?:is|does) (?:that|this|it) (?:ok|okay|fine|good|all ?right|work)(?: (?:with|for) (?:you|everyone))?",
    re.IGNORECASE,
)  # what has the form of a question, and wants to know nothing
_SMALL_TALK: tuple[tuple[re.Pattern[str], Reply], ...] = (
    (re.compile(r"\b(?:bye|goodbye|see you|good night|that'?s all|that is all)\b", re.IGNORECASE),
     replies.GOODBYE),
    (re.compile(r"\b(?:thanks|thank you|thx|cheers|appreciate)\b", re.IGNORECASE),
     replies.WELCOME),
    (re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b", re.IGNORECASE),
     replies.HELLO),
    (re.compile(r"^\W*(?:tell|sing|write|give) (?:me|us) an?\b|\b(?:joke|poem|song|riddle)\b", re.IGNORECASE),
     replies.NOT_MY_PART),
    (re.compile(r"^\W*how are you\b", re.IGNORECASE), replies.FINE),
)  # fmt: skip


def _asks_beside(text: str) -> bool:
    """Whether a sentence asks for something, and is no small talk itself."""
    found = _SIDE_QUESTION.match(text)
    if found is None or _NO_QUESTION.fullmatch(found["asked"].strip()):
        return False
    return not any(pattern.search(found["asked"]) for pattern, _ in _SMALL_TALK)


def _options(options: Sequence[str]) -> str:
    """'Red, green or blue'."""
    return join(map(clip, options), limit=INLINE, last="or")
