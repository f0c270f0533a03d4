"""How far the plan is, in sentences: what is left, next and needed, and the state of each task. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from taskloom.agent.language import answers
from taskloom.agent.language.wording import base, be, join, pick, sentence, the, value_of
from taskloom.memory.claims import Answer, Verdict
from taskloom.memory.tasks import TaskNode

from .answer_context import AnswerContext
from .naming import INLINE, STATUS, bullets, same

_ALL_IN = {
    "done": ("Done so far", "is done yet"), "removed": ("Removed from the plan", "was removed from the plan"),
    "inactive": ("On hold", "is on hold"), "open": ("Still open", "is open"),
    "stale": ("Out of date", "is out of date"), "current": ("Up to date", "is up to date"),
}  # fmt: skip
"""How to tell all that is in a state, and that nothing is."""


def left_reply(context: AnswerContext, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is left to do, or done so far."""
    if not nodes:
        return [answers.NOTHING_LEFT() if len(context.graph.active) else answers.EMPTY_PLAN()]
    done = all(node.status == "done" for node in nodes)
    shown = {node.id for node in nodes}
    heading = "Done so far" if done else pick(("Still open", "Still to do"), nodes[0].title)
    tops = [node for node in nodes if node.parent not in shown]
    if len(tops) == 1 and (parts := _open_parts(context, tops[0], shown)) and tops[0].parent is None:
        tops = parts
    entries = [_left_entry(context, node, shown) for node in tops]
    if len(entries) > INLINE:
        return [answers.HEADING(heading=heading, count=len(entries)), bullets(entries)]
    return [answers.LISTED(heading=heading, entries=entries)]


def _left_entry(context: AnswerContext, node: TaskNode, shown: Collection[str]) -> str:
    """What is left of a task: itself, with its open parts and who does it."""
    entries = [_left_entry(context, part, shown) for part in _open_parts(context, node, shown)]
    entries += [p.value for p in context.graph.parts(node.id) if p.value and base(p.slot) == "assignee"]
    entries += filter(None, [context.names.so_far(node)])
    entry = context.names.short_entry(node)
    return f"{entry} ({join(entries, limit=INLINE)})" if entries else entry


def _open_parts(context: AnswerContext, node: TaskNode, shown: Collection[str]) -> list[TaskNode]:
    return [part for part in context.graph.parts(node.id) if part.id in shown]


def next_reply(context: AnswerContext, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What can be done next."""
    if not nodes:
        return [answers.NOTHING_NEXT()]
    first, *more = sorted(nodes, key=lambda node: base(node.slot) != "task" and node.parent is not None)
    found = [answers.NEXT(task=context.names.short_entry(first))]
    if more:
        found.append(answers.ALSO_NEXT(tasks=[context.names.short_entry(n) for n in more]))
    return found


def _subject(context: AnswerContext, answer: Answer, nodes: Sequence[TaskNode]) -> tuple[str, list[TaskNode]]:
    """The task that a question is about, in words, and the other tasks."""
    about = [context.graph[key] for key in answer.question.tasks if key in context.graph]
    name = join([context.names.full(node) for node in about])
    name = name or (the(answer.question.about) if nodes else "")
    return name, [node for node in nodes if node not in about]


def needs_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task needs before it can begin."""
    name, others = _subject(context, answer, nodes)
    if not name and not (others and not answer.question.about):
        return context.nothing(answer)
    if not others:
        return [answers.NEEDS_NOTHING_ELSE(task=name)]
    inside = {
        node.id
        for key in answer.question.tasks
        if key in context.graph
        for node in context.graph.subtree(key)
    }
    if all(node.id in inside or not answer.question.tasks for node in others):
        if waiting := [node for node in others if context.graph.waits_for(node.id)]:
            return [context.waits(node) for node in waiting]
        return [answers.NEEDS_NOTHING_ELSE(task=name), *left_reply(context, answer, others)]
    needed = [_with_mark(context, node) for node in others]
    return [answers.NEEDS(task=name, needed=needed), *_ready(context, answer)]


def _ready(context: AnswerContext, answer: Answer) -> list[str]:
    """Whether the one task that was asked about can begin, where it waits for tasks at all."""
    asked = [context.graph[key] for key in answer.question.tasks if key in context.graph]
    if len(asked) != 1 or asked[0].status != "open" or not asked[0].depends_on:
        return []
    waits = [context.names.full(other) for other in context.graph.waits_for(asked[0].id)]
    if waits:
        return [answers.STILL_WAITS(others=waits)]
    needed = [context.graph[key] for key in asked[0].depends_on]
    done = all(node.value is None and node.status == "done" for node in needed)
    return [answers.WAITS_NO_MORE()] if done else []


def _with_mark(context: AnswerContext, node: TaskNode) -> str:
    """'the boards (open)', '"sand the fence" (done)'."""
    name = context.names.with_value(node)
    return f"{name} ({STATUS[node.status]})" if node.status in ("open", "done") else name


def dependents_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What depends on a task."""
    name, others = _subject(context, answer, nodes)
    if not name:
        return context.nothing(answer)
    if not others:
        return [answers.NOTHING_DEPENDS(task=name), *_used_in(context, answer)]
    return [answers.DEPEND(tasks=[context.names.full(node) for node in others], task=name)]


def _used_in(context: AnswerContext, answer: Answer) -> list[str]:
    """In which lists the one thing is that was asked about, where it is one of many."""
    asked = [context.graph[key] for key in answer.question.tasks if key in context.graph]
    if len(asked) != 1 or not context.names.is_member(asked[0]):
        return []
    same = [node for node in context.graph.active if node.title.casefold() == asked[0].title.casefold()]
    wholes = dict.fromkeys(node.parent for node in same if node.parent and context.names.is_member(node))
    names = join([context.names.full(context.graph[key]) for key in wholes], limit=INLINE)
    return [answers.ARE_IN(tasks=[context.names.full(asked[0])], whole=names)] if names else []


def status_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """In which state tasks are, or which tasks are in a state."""
    state = answer.question.value or ""
    if state in _ALL_IN:
        return _state_reply(context, state, nodes)
    if not nodes:
        return context.nothing(answer)
    if state.startswith("is ") and answer.verdict is not None:
        return _supposed_state_reply(context, answer.verdict, nodes, denied=answer.question.denied)
    if len(nodes) > INLINE:
        return context.listing("", nodes)
    found, plain = [], len(nodes) == 1 and not answer.question.value
    for node in nodes:
        name = context.names.full(node)
        if plain and node.status == "open" and node.parent is None and context.graph.parts(node.id):
            found += [answers.STATE(opening="", task=name, state="still open"), context.names.state(node)]
            continue
        if node.stale_since is not None:
            found.append(_freshness(context, node))
            continue
        opening = {"done": "Yes, ", "open": "Not yet: "}.get(node.status, "") if plain else ""
        if node.status in ("done", "open"):
            held = "" if node.value is None or same(node.value, node.title) else value_of(node)
            held = ", ".join(filter(None, [held, context.names.so_far(node)]))
            value = f" ({held})" if held else ""
            waits = [context.names.full(other) for other in context.graph.waits_for(node.id)]
            wait = f"; it waits for {join(waits, limit=INLINE)}" if waits and node.status == "open" else ""
            still = "still " if node.status == "open" else ""
            text = f"{still}{STATUS[node.status]}{value}{wait}"
            found.append(answers.STATE(opening=opening, task=name, state=text))
        else:
            found.append(context.names.state(node))
    return found


def _state_reply(context: AnswerContext, state: str, nodes: list[TaskNode]) -> list[str]:
    """All that is done, removed, on hold or open."""
    if not nodes:
        return [answers.NOTHING_IN_STATE(is_so=_ALL_IN[state][1])]
    lines = [
        f"{context.names.short_entry(node)} (turn {node.turn})"
        if state == "removed"
        else context.names.short_entry(node)
        for node in context.names.tops(nodes)
    ]
    if len(lines) > INLINE:
        return [answers.HEADING(heading=_ALL_IN[state][0], count=len(lines)), bullets(lines)]
    return [answers.LISTED(heading=_ALL_IN[state][0], entries=lines)]


def _ready_reply(context: AnswerContext, nodes: Sequence[TaskNode], *, denied: bool) -> list[str]:
    """Whether tasks can begin: 'Yes, nothing stands in the way of the tiling.'.

    denied: it was asked whether something stands in their way.
    """
    found = []
    for node in nodes[:INLINE]:
        name = context.names.full(node)
        waits = [context.names.full(other) for other in context.graph.waits_for(node.id)]
        text = f"nothing stands in the way of {name}"
        if node.status == "done":
            text = f"{name} {be(name)} done already"
        elif waits:
            text = f"{name} still waits for {join(waits, limit=INLINE)}"
        yes = (not waits or node.status == "done") != denied
        found.append(sentence(f"{'Yes' if yes else 'No'}, {text}"))
    return found


def _supposed_state_reply(
    context: AnswerContext, verdict: Verdict, nodes: list[TaskNode], *, denied: bool = False
) -> list[str]:
    """Whether tasks are in the state that is supposed: 'No, dark mode is done.'."""
    agreed = verdict.kind == "holds"
    if verdict.claimed == "ready":
        return _ready_reply(context, nodes, denied=denied)
    if verdict.claimed in ("stale", "current"):
        lines = [_freshness(context, node) for node in nodes[:INLINE]]
        return [f"{'Yes' if agreed else 'No'}, {lines[0][:1].lower()}{lines[0][1:]}", *lines[1:]]
    found = []
    for node in nodes[:INLINE]:
        name = context.names.full(node)
        value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
        if node.status in ("done", "open") and not (agreed and verdict.claimed == "active"):
            still = " still" if node.status == "open" else ""
            waits = [context.names.full(other) for other in context.graph.waits_for(node.id)]
            wait = f"; it waits for {join(waits, limit=INLINE)}" if waits and still else ""
            found.append(f"{name} {be(name)}{still} {STATUS[node.status]}{value}{wait}")
        elif node.active:
            found.append(f"{name} {be(name)} in the plan{value}")
        else:
            end = "put on hold" if node.status == "inactive" else "removed from the plan"
            found.append(f"{context.names.with_value(node)} {be(name, past=True)} {end} in turn {node.turn}")
    return [sentence(f"{'Yes' if agreed else 'No'}, {found[0]}"), *map(sentence, found[1:])]


def _freshness(context: AnswerContext, node: TaskNode) -> str:
    """Whether what a task rests on is as it was when it came to what it is."""
    name = context.names.full(node)
    value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
    if node.stale_since is None:
        return answers.UP_TO_DATE(task=name, value=value)
    causes = [context.graph[key] for key in node.depends_on if key in context.graph]
    changed = [one for one in causes if one.turn == node.stale_since or one.stale_since is not None]
    causes_ = [context.names.full(one) for one in changed] or ["something it depends on"]
    return answers.OUT_OF_DATE(task=name, value=value, causes=causes_, turn=node.stale_since)
