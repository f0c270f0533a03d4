"""The prompt for a reply: what was noted, refused and found, and what to ask the user. Pure.

Tasks go by their titles, never by ids or slots: what stands here may be repeated to the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from taskloom.agent.plan.outline import nested, quoted, talk_lines
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.state import Change
from taskloom.memory.claims import Answer, Event, Verdict, state_text
from taskloom.memory.operations import Check, Clarify, Link, Unlink
from taskloom.memory.tasks import Revision, TaskNode
from taskloom.memory.words import says

MANY = 40  # tasks in one list
FEW = 12  # tasks, or events, that go along with something else

_STATUS = {"open": "", "filled": "", "inactive": ", on hold"}
_ENDED = {"replace": "replaced", "remove": "removed", "inactivate": "put on hold", "undo": "undone"}
_INTO = {"add": " to ", "remove": " from "}
_DID = {"add": "add", "remove": "remove", "update": "change", "replace": "replace", "complete": "finish"}


def reply_prompt(brief: Brief) -> str:
    """The prompt from which the model writes a reply, in the order in which the user spoke."""
    return "\n".join(_Briefing(brief).lines())


class _Briefing:
    """One brief as text."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.turn, self.graph = brief, brief.turn, brief.graph
        changes = [change for change in self.turn.changes if change.refused is None]
        self.changed = {key for change in changes for key in change.changed if key not in change.stale}
        self.listed: set[str] = set()  # ids of the tasks that are told of, with what they are part of
        self._note(self.changed)

    def lines(self) -> Iterator[str]:
        """All lines of the prompt."""
        brief, turn, graph = self.brief, self.turn, self.graph
        yield from talk_lines(brief.exchanges)
        yield f"User says now: {quoted(brief.utterance, 2000)}"
        yield from self._done_and_answered()
        yield from self._tasks_now()
        yield from self._formerly()
        for run in turn.tool_runs:
            lost = " (before an interruption)" if run.earlier else ""
            title, text = quoted(run.call.title, 80), quoted(run.text, 1500)
            yield f"Tool {run.call.tool}{lost}, {title}: {run.status} {text}"
        for key in turn.proposals:
            if key in graph:
                yield f"Proposed, to be confirmed: {self._entry(graph[key])}"
        if turn.question:
            options = ", ".join(quoted(option, 80) for option in turn.question.options)
            yield f"Ask: {quoted(turn.question.question)}.{f' Options: {options}.' if options else ''}"
        for fault in brief.faults:
            yield f"Your reply just now was wrong, write another: {quoted(fault)}"

    def _note(self, keys: Iterable[str]) -> None:
        wholes = (self.graph[key].parent for key in keys if key in self.graph)
        self.listed |= {*keys, *(whole for whole in wholes if whole)}

    # ---- what was done and answered ---------------------------------------------------------------

    def _done_and_answered(self) -> Iterator[str]:
        acted = any(run.status == "done" for run in self.turn.tool_runs)
        # What tools gave answers what the tasks could not.
        answers = iter(
            [
                answer
                for answer in self.brief.answers
                if not acted or (answer.tasks and not answer.question.slot)
            ]
        )
        for change in self.turn.changes:
            if isinstance(change.operation, Check):
                for answer in (answer for answer in [next(answers, None)] if answer):
                    yield from self._answered(answer)
            elif not isinstance(change.operation, Clarify):
                yield from self._done(change)
        for answer in answers:
            yield from self._answered(answer)
        moved = any(change.changed or change.refused for change in self.turn.changes)
        answered = self.turn.tool_runs or self.brief.answers or self.turn.question or self.turn.proposals
        if self.turn.noted and not (moved or answered):
            yield f"Kept in mind for later: {' '.join(quoted(line, 300) for line in self.turn.noted)}"
        elif (
            not moved
            and (self._mentioned() or not (self.turn.changes or answered))
            and not self.turn.question
        ):
            yield self._unmoved()

    def _unmoved(self) -> str:
        """Why nothing was changed."""
        steps = [step for step in self.turn.steps if step.act != "chat"]
        lost = [step.target for step in steps if step.target and step.task is None and step.act != "unsure"]
        if not steps:
            return f"{'Only talk' if self.turn.steps else 'Nothing was changed'}: nothing to note."
        if self._mentioned():
            return "Nothing was changed: it is so already."
        if lost:
            return f"Nothing was changed: the plan has no {_cut([quoted(one, 80) for one in lost], 4)}."
        if all(step.act in ("yes", "no") for step in steps):
            return "Nothing was changed: no question was open."
        return "Nothing was changed: it is not clear what is to be changed."

    def _done(self, change: Change) -> Iterator[str]:
        operation, graph = change.operation, self.graph
        if change.refused is not None:
            yield f"Refused ({operation.kind}): {quoted(change.refused)}"
            return
        nodes = [graph[key] for key in change.changed if key in graph and key not in change.stale]
        if isinstance(operation, Link | Unlink) and operation.task in graph and operation.on in graph:
            uses = "now uses" if operation.kind == "link" else "no longer uses"
            task, on = graph[operation.task], graph[operation.on]
            yield f"Noted ({operation.kind}): {self._name(task)} {uses} {self._name(on)}"
        elif nodes:
            nodes.sort(key=lambda node: not node.active)
            yield f"Noted ({operation.kind}): {self._entries(nodes, FEW)}"
        again = {run.task for run in self.turn.tool_runs if run.status == "done"}
        stale = tuple(key for key in change.stale if key not in again)
        followed = (("Needs another look because of it", stale), ("Can go on now", change.opened))
        for title, keys in followed:
            names = [self._name(graph[key]) for key in keys if key in graph]
            if names:
                yield f"{title}: {_cut(names, 6)}"

    def _answered(self, answer: Answer) -> Iterator[str]:
        question, graph = answer.question, self.graph
        place = graph.get(question.container or "")
        about = question.about or (place.title if place else "")
        head = f"Asked ({question.kind}){f' about {quoted(about, 120)}' if about else ''}:"
        if answer.count is not None:
            head += f" {answer.count},"
        nodes = [graph[key] for key in answer.tasks if key in graph]
        if question.slot:
            yield f"Asked for {quoted(question.slot, 80)} of {self._entries(nodes, FEW)}: nothing is noted"
            return
        if answer.verdict and (not nodes or question.kind in ("claim", "ever", "before")):
            yield f"{head} see the verdict"
        elif len(nodes) < 2:
            yield f"{head} {self._entries(nodes, FEW) or 'nothing found'}"
        else:
            yield f"{head} {len(nodes)} in all, first {MANY}" if len(nodes) > MANY else head
            yield from self._tree(nodes[:MANY])
            self._note([node.id for node in nodes])
        for event in answer.events[-FEW:]:
            yield f"Event: {_event(event)}"
        if answer.verdict:
            yield f"Verdict: {self._verdict(answer, answer.verdict)}"

    # ---- what there is ----------------------------------------------------------------------------

    def _tasks_now(self) -> Iterator[str]:
        """The tasks of the plan that the turn is about, with those that use what has changed."""
        graph = self.graph
        users = [user for key in sorted(self.changed) for user in graph.dependents.get(key, ())]
        about = dict.fromkeys(
            [*self.turn.facts, *users[:FEW], *([] if self.turn.facts else self._mentioned())]
        )
        nodes = [graph[key] for key in about if key in graph and graph[key].active]
        crowded = any(len(change.changed) > 3 for change in self.turn.changes)
        if nodes and (crowded or any(node.id not in self.listed for node in nodes)):
            yield "Tasks now, a part of all: those that this turn is about"
            nodes.sort(key=lambda node: (len(node.id), node.id))
            yield from self._tree(nodes[:MANY])

    def _mentioned(self) -> list[str]:
        """Ids of the tasks that the steps mention, with their parts, for turns in which nothing was done."""
        steps = [step for step in self.turn.steps if step.act not in ("ask", "chat", "unsure", "yes", "no")]
        keys = [key for step in steps for key in (step.task, step.within_task) if key and key in self.graph]
        return [*dict.fromkeys(node.id for key in keys for node in self.graph.subtree(key) if node.active)]

    def _formerly(self) -> Iterator[str]:
        """The former states that a question is about, for tasks without an event or verdict of their own."""
        if any(answer.events or answer.question.act for answer in self.brief.answers):
            return
        verdicts = [answer.verdict for answer in self.brief.answers if answer.verdict]
        judged = {verdict.task for verdict in verdicts}
        for key, index in self.turn.former:
            node = self.graph.get(key)
            if node is not None and key not in judged and index < len(node.history):
                state, then = node.states()[index : index + 2]
                if any(verdict.claimed and says(verdict.claimed, state_text(state)) for verdict in verdicts):
                    continue
                turns = f"from turn {state.turn} to turn {then.turn}, then {then.op}"
                was = quoted(state_text(state))
                yield f"Formerly: {self._name(node)} was {was} {turns}{_words(then.said)}"

    # ---- tasks in words ---------------------------------------------------------------------------

    def _tree(self, nodes: Iterable[TaskNode]) -> Iterator[str]:
        for node, depth in nested(nodes):
            yield f"{'  ' * (depth + 1)}{self._entry(node, below=depth > 0, uses=True)}"

    def _entries(self, nodes: list[TaskNode], limit: int) -> str:
        return _cut([self._entry(node) for node in nodes], limit, "; ")

    def _name(self, node: TaskNode) -> str:
        """'"date" of "trip"'."""
        whole = self.graph.get(node.parent or "")
        return quoted(node.title, 80) + (f" of {quoted(whole.title, 80)}" if whole else "")

    def _entry(self, node: TaskNode, *, below: bool = False, uses: bool = False) -> str:
        """'"date" of "trip" is "May 3" (was "May 2")'; below its whole, without that."""
        text = quoted(node.title, 80) if below else self._name(node)
        if node.value is not None and node.value != node.title:
            text += f" is {quoted(node.value)}" if node.active else f" ({quoted(node.value)})"
        if node.id in self.changed and (former := _former(node)):
            text += f" (was {quoted(former, 120)})"
        used = [self.graph[key] for key in node.depends_on if key in self.graph and self.graph[key].active]
        if uses and used:
            done = {one.id: " (done)" for one in used if one.status == "done"}
            text += f", uses {_cut([quoted(one.title, 80) + done.get(one.id, '') for one in used], 6)}"
        late = ", out of date" if node.active and node.stale_since is not None else ""
        return text + _STATUS.get(node.status, f", {node.status}") + late

    # ---- verdicts ---------------------------------------------------------------------------------

    def _verdict(self, answer: Answer, verdict: Verdict) -> str:
        """A verdict as a statement of fact."""
        question, task = answer.question, self.graph.get(verdict.task or "")
        claimed = quoted(verdict.claimed, 120) if verdict.claimed else "it"
        where, now, words = self._place(answer, verdict, task), _now(verdict, task), _words(verdict.said)
        if verdict.kind == "unknown":
            return f"nothing is known of {claimed}"
        if question.act:
            where = where.replace(" in ", _INTO.get(question.act, " in "), 1)
            return self._act_verdict(answer, verdict, f"{_DID[question.act]} {claimed}{where}", now)
        if question.kind == "status":
            said = "is" if verdict.kind == "holds" else "is not"
            return f"{self._name(task) if task else 'it'} {said} {claimed}{now}"
        if verdict.kind == "never" and question.kind == "before":
            return f"nothing else was ever so{where}{now}"
        if verdict.kind == "never":
            mention = f"; spoken of in turn {verdict.since}{words}" if verdict.since and verdict.said else ""
            opening = "the user is right to deny it: " if question.denied else ""
            return f"{opening or 'false: '}{claimed} was never so{where}{now}{mention}"
        opening = "the user is wrong to deny it: " if question.denied else ""
        if verdict.kind == "holds":
            return f"{opening or 'true: '}{claimed} is so{where}{now}{words}"
        until = f" from turn {verdict.since} to turn {verdict.until}" if verdict.until else ""
        by = f", replaced by {quoted(verdict.replaced_by)}" if verdict.replaced_by else ""
        return f"{opening}{claimed} was so{where}{until}, but is no more{by}{now}{words}"

    def _act_verdict(self, answer: Answer, verdict: Verdict, act: str, now: str) -> str:
        """Whether the user ever asked for an act, and what became of its object instead."""
        denied, words = answer.question.denied, _words(verdict.said)
        if verdict.kind == "never":
            by = f" by {quoted(verdict.replaced_by)}" if verdict.replaced_by else ""
            ended = f"; instead it was {_ENDED.get(verdict.op or '', 'changed')}{by} in turn {verdict.until}"
            instead = f"{ended}{words}" if verdict.until else ""
            return f"{'right' if denied else 'no'}, the user never asked to {act}{instead or now}"
        stands = f"; overtaken in turn {verdict.until}" if verdict.until else ""
        opening = "wrong" if denied else "yes"
        return f"{opening}, the user asked to {act} in turn {verdict.since}{words}{stands}"

    def _place(self, answer: Answer, verdict: Verdict, task: TaskNode | None) -> str:
        """Where a claim is supposed to hold: in the whole that was asked about, else for the task itself."""
        question = answer.question
        whole = self.graph.get(question.container or (question.tasks[0] if question.tasks else ""))
        if whole is not None and (task is None or whole.id != task.id or question.container):
            return f" in {quoted(whole.title, 80)}"
        if task is None:
            return ""
        if verdict.claimed != task.title:
            return f" for {self._name(task)}"
        home = self.graph.get(task.parent or "")
        return f" in {quoted(home.title, 80)}" if home else ""


def _now(verdict: Verdict, task: TaskNode | None) -> str:
    """'; now it is "4 PM"'; of a task that was split, in how many parts it is."""
    if not verdict.now or verdict.now == verdict.claimed:
        return ""
    if task is not None and task.value is None and verdict.now.isdecimal():
        count = "one" if verdict.now == "1" else f"in {verdict.now} parts"
        return f"; now {quoted(task.title, 80)} is {count}"
    return f"; now it is {quoted(verdict.now)}"


def _words(said: str) -> str:
    return f", by the user's words {quoted(said)}" if said else ""


def _former(node: TaskNode) -> str | None:
    """What a task said before the turn that last changed it, if that differs from what it says now."""
    before: Revision | None = next((old for old in reversed(node.history) if old.turn < node.turn), None)
    if before is None or not before.active:
        return None
    if node.value is None and before.value is None:
        return before.title if before.title != node.title else None
    return before.value if before.value != node.value else None


def _event(event: Event) -> str:
    """'turn 4, replace: "celery" became "leek", by the user's words "no celery"'."""
    before = quoted(event.before, 120) if event.before is not None else ""
    after = quoted(event.after, 120) if event.after is not None else ""
    if before and after:
        text = after if before == after else f"{before} became {after}"
    else:
        text = after or f"{before or 'it'} left the plan"
    return f"turn {event.turn}, {event.op}: {text}{_words(event.said)}"


def _cut(texts: list[str], limit: int, separator: str = ", ") -> str:
    more = f"{separator}and {len(texts) - limit} more" if len(texts) > limit else ""
    return separator.join(texts[:limit]) + more
