"""How far the plan is, in sentences: what is left, next and needed, and the state of each task. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from taskloom.agent.language.wording import base, be, join, pick, plural, sentence, the, value_of
from taskloom.memory.claims import Answer, Verdict
from taskloom.memory.tasks import TaskNode

from .naming import INLINE, MANY, STATUS, bullets, same
from .telling import AnswerContext

_ALL_IN = {
    "done": ("Done so far", "is done yet"), "removed": ("Removed from the plan", "was removed from the plan"),
    "inactive": ("On hold", "is on hold"), "open": ("Still open", "is open"),
    "stale": ("Out of date", "is out of date"), "current": ("Up to date", "is up to date"),
}  # fmt: skip
"""How to tell all that is in a state, and that nothing is."""


def left_reply(tell: AnswerContext, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is left to do, or done so far."""
    if not nodes:
        return ["Nothing is left to do." if len(tell.graph.active) else "There is nothing in the plan yet."]
    done = all(node.status == "done" for node in nodes)
    shown = {node.id for node in nodes}
    heading = "Done so far" if done else pick(("Still open", "Still to do"), nodes[0].title)
    tops = [node for node in nodes if node.parent not in shown]
    if len(tops) == 1 and (parts := _open_parts(tell, tops[0], shown)) and tops[0].parent is None:
        tops = parts
    entries = [_left_entry(tell, node, shown) for node in tops]
    if len(entries) > INLINE:
        return [f"{heading} ({len(entries)}):", bullets(entries)]
    return [f"{heading}: {join(entries)}."]


def _left_entry(tell: AnswerContext, node: TaskNode, shown: Collection[str]) -> str:
    """What is left of a task: itself, with its open parts and who does it."""
    told = [_left_entry(tell, part, shown) for part in _open_parts(tell, node, shown)]
    told += [p.value for p in tell.graph.parts(node.id) if p.value and base(p.slot) == "assignee"]
    told += filter(None, [tell.names.so_far(node)])
    entry = tell.names.short_entry(node)
    return f"{entry} ({join(told, limit=INLINE)})" if told else entry


def _open_parts(tell: AnswerContext, node: TaskNode, shown: Collection[str]) -> list[TaskNode]:
    return [part for part in tell.graph.parts(node.id) if part.id in shown]


def next_reply(tell: AnswerContext, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What can be done next."""
    if not nodes:
        return ["There is nothing to do next."]
    first, *more = sorted(nodes, key=lambda node: base(node.slot) != "task" and node.parent is not None)
    found = [f"Next: {tell.names.short_entry(first)}."]
    if more:
        found.append(
            f"You could also go on with {join([tell.names.short_entry(n) for n in more], limit=INLINE)}."
        )
    return found


def _subject(tell: AnswerContext, answer: Answer, nodes: Sequence[TaskNode]) -> tuple[str, list[TaskNode]]:
    """The task that a question is about, in words, and the other tasks."""
    about = [tell.graph[key] for key in answer.question.tasks if key in tell.graph]
    name = join([tell.names.full(node) for node in about])
    name = name or (the(answer.question.about) if nodes else "")
    return name, [node for node in nodes if node not in about]


def needs_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task needs before it can begin."""
    name, others = _subject(tell, answer, nodes)
    if not name and not (others and not answer.question.about):
        return tell.nothing(answer)
    if not others:
        return [sentence(f"{name} {'need' if plural(name) else 'needs'} nothing else")]
    inside = {
        node.id for key in answer.question.tasks if key in tell.graph for node in tell.graph.subtree(key)
    }
    if all(node.id in inside or not answer.question.tasks for node in others):
        return [tell.waits(node) for node in others]
    marked = join([_with_mark(tell, node) for node in others], limit=MANY)
    return [sentence(f"{name} {'need' if plural(name) else 'needs'} {marked}"), *_ready(tell, answer)]


def _ready(tell: AnswerContext, answer: Answer) -> list[str]:
    """Whether the one task that was asked about can begin, where it waits for tasks at all."""
    asked = [tell.graph[key] for key in answer.question.tasks if key in tell.graph]
    if len(asked) != 1 or asked[0].status != "open" or not asked[0].depends_on:
        return []
    waits = [tell.names.full(other) for other in tell.graph.waits_for(asked[0].id)]
    if waits:
        return [f"It still waits for {join(waits, limit=INLINE)}."]
    needed = [tell.graph[key] for key in asked[0].depends_on]
    done = all(node.value is None and node.status == "done" for node in needed)
    return ["It waits for nothing any more."] if done else []


def _with_mark(tell: AnswerContext, node: TaskNode) -> str:
    """'the boards (open)', '"sand the fence" (done)'."""
    name = tell.names.with_value(node)
    return f"{name} ({STATUS[node.status]})" if node.status in ("open", "done") else name


def dependents_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What depends on a task."""
    name, others = _subject(tell, answer, nodes)
    if not name:
        return tell.nothing(answer)
    if not others:
        return [f"Nothing depends on {name}."]
    told = join([tell.names.full(node) for node in others], limit=MANY)
    depend = "depend" if len(others) > 1 or plural(told) else "depends"
    return [sentence(f"{told} {depend} on {name}")]


def status_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """In which state tasks are, or which tasks are in a state."""
    state = answer.question.value or ""
    if state in _ALL_IN:
        return _state_reply(tell, state, nodes)
    if not nodes:
        return tell.nothing(answer)
    if state.startswith("is ") and answer.verdict is not None:
        return _supposed_state_reply(tell, answer.verdict, nodes)
    if len(nodes) > INLINE:
        return tell.listing("", nodes)
    found, plain = [], len(nodes) == 1 and not answer.question.value
    for node in nodes:
        name = tell.names.full(node)
        if plain and node.status == "open" and node.parent is None and tell.graph.parts(node.id):
            found.append(tell.names.state(node))
            continue
        if node.stale_since is not None:
            found.append(_freshness(tell, node))
            continue
        opening = {"done": "Yes, ", "open": "Not yet: "}.get(node.status, "") if plain else ""
        if node.status in ("done", "open"):
            held = "" if node.value is None or same(node.value, node.title) else value_of(node)
            held = ", ".join(filter(None, [held, tell.names.so_far(node)]))
            value = f" ({held})" if held else ""
            waits = [tell.names.full(other) for other in tell.graph.waits_for(node.id)]
            wait = f"; it waits for {join(waits, limit=INLINE)}" if waits and node.status == "open" else ""
            still = " still" if node.status == "open" else ""
            told = f"{opening}{name} {be(name)}{still} {STATUS[node.status]}{value}{wait}"
            found.append(sentence(told))
        else:
            found.append(tell.names.state(node))
    return found


def _state_reply(tell: AnswerContext, state: str, nodes: list[TaskNode]) -> list[str]:
    """All that is done, removed, on hold or open."""
    if not nodes:
        return [f"Nothing {_ALL_IN[state][1]}."]
    told = [
        f"{tell.names.short_entry(node)} (turn {node.turn})"
        if state == "removed"
        else tell.names.short_entry(node)
        for node in tell.names.tops(nodes)
    ]
    if len(told) > INLINE:
        return [f"{_ALL_IN[state][0]} ({len(told)}):", bullets(told)]
    return [f"{_ALL_IN[state][0]}: {join(told)}."]


def _supposed_state_reply(tell: AnswerContext, verdict: Verdict, nodes: list[TaskNode]) -> list[str]:
    """Whether tasks are in the state that is supposed: 'No, dark mode is done.'."""
    agreed = verdict.kind == "holds"
    if verdict.claimed in ("stale", "current"):
        told = [_freshness(tell, node) for node in nodes[:INLINE]]
        return [f"{'Yes' if agreed else 'No'}, {told[0][:1].lower()}{told[0][1:]}", *told[1:]]
    found = []
    for node in nodes[:INLINE]:
        name = tell.names.full(node)
        value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
        if node.status in ("done", "open") and not (agreed and verdict.claimed == "active"):
            still = " still" if node.status == "open" else ""
            waits = [tell.names.full(other) for other in tell.graph.waits_for(node.id)]
            wait = f"; it waits for {join(waits, limit=INLINE)}" if waits and still else ""
            found.append(f"{name} {be(name)}{still} {STATUS[node.status]}{value}{wait}")
        elif node.active:
            found.append(f"{name} {be(name)} in the plan{value}")
        else:
            end = "put on hold" if node.status == "inactive" else "removed from the plan"
            found.append(f"{tell.names.with_value(node)} {be(name, past=True)} {end} in turn {node.turn}")
    return [sentence(f"{'Yes' if agreed else 'No'}, {found[0]}"), *map(sentence, found[1:])]


def _freshness(tell: AnswerContext, node: TaskNode) -> str:
    """Whether what a task rests on is as it was when it came to what it is."""
    name = tell.names.full(node)
    value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
    if node.stale_since is None:
        return sentence(f"{name} {be(name)} up to date{value}")
    causes = [tell.graph[key] for key in node.depends_on if key in tell.graph]
    changed = [one for one in causes if one.turn == node.stale_since or one.stale_since is not None]
    why = join([tell.names.full(one) for one in changed], limit=INLINE) or "something it depends on"
    return sentence(f"{name} {be(name)} out of date{value}: {why} changed in turn {node.stale_since}")
