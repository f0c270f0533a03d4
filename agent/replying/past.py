"""What the plan was and why it is as it is, in sentences: states, values, the words behind them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from taskloom.agent.language import answers
from taskloom.agent.language.wording import clip, the, title_of, value_of, you_said
from taskloom.memory.claims import Answer, state_text
from taskloom.memory.operations import is_part, names
from taskloom.memory.tasks import BY_HAND, Revision, TaskNode
from taskloom.memory.words import NUMBERS

from .answer_context import AnswerContext
from .naming import INLINE, STATUS, same, series
from .verdicts import claim_reply

_ASKS_WHY = re.compile(
    r"\b(?:why|how come|(?:what|which)(?:['’]s| is| was)? (?:the )?reason)\b", re.IGNORECASE
)
_REASON = re.compile(
    r"[.,;:!?–—]\s|\s-+\s|\b(?:because|cos|coz|cause|since|as|so|for|due|after|now|and|but|if|when)\b",
    re.IGNORECASE,
)
"""What words that hold a reason have: a second sentence or part, or a word for one."""

QUOTED, QUOTED_IN_BRIEF = 120, 40  # characters of what the user said
_MARKS = frozenset({"stale", "link", "unlink"})
"""Operations that change what a task rests on, not what it is."""


def history_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task was, state by state."""
    if not nodes:
        return context.nothing(answer)
    found = []
    for node in nodes[:INLINE]:
        states = [state for state in node.states() if state.op not in _MARKS]
        differs = [
            state
            for state, following in pairwise(states)
            if (state.value, state.status) != (following.value, following.status)
        ]
        room = QUOTED_IN_BRIEF if context.names.brief else QUOTED
        why = f"; {you_said(states[-1].said, room)}" if len(states) > 1 and states[-1].said else ""
        lines = [f"it was {_stood(state)} (turn {state.turn})" for state in differs]
        lines.append(f"now it is {_stood(states[-1])} (since turn {states[-1].turn}{why})")
        task, all_of_it = context.names.full(node), ", ".join(lines[-INLINE:])
        if node.value is None or len(lines) < 2:
            found.append(answers.STATES(task=task, states=all_of_it))
        else:
            found.append(answers.CHANGED(task=task, times=_times(len(lines) - 1), states=all_of_it))
    return found


def _times(count: int) -> str:
    """How often: 'once', 'twice', 'three times'."""
    number = NUMBERS[count] if count < len(NUMBERS) else str(count)
    return {1: "once", 2: "twice"}.get(count, f"{number} times")


def _stood(state: Revision) -> str:
    """What a task said in one state: its value, or how it stood."""
    return clip(state.value) if state.value is not None and state.active else STATUS[state.status]


def before_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task was before it was what it is."""
    asked = [context.graph[key] for key in answer.question.tasks if key in context.graph]
    if len(asked) > 1:
        return _group_before_reply(asked)
    found = []
    for node in nodes:
        former = former_values(node)
        name = context.names.full(node)
        if not former and (gone := context.predecessors(node)):
            found.append(_gave_way(node, gone))
            continue
        if not former:
            if node.value is not None and node.active and (began := _began_before(context, node)):
                found += began
            elif node.value is not None and node.active:
                found.append(answers.NEVER_CHANGED(task=name, value=value_of(node)))
            else:
                found.append(answers.NO_VALUE_BEFORE(task=name))
            continue
        history = ", and then it was ".join(
            f"{clip(value)} (turn {turn})" for value, turn in former[-INLINE:]
        )
        if node.value is None or context.names.is_member(node):
            values = ", then ".join(f"{clip(value)} (from turn {turn})" for value, turn in former[-INLINE:])
            now = clip(state_text(node)) if node.active else STATUS[node.status]
            found.append(answers.IT_WAS(former=values, now=now))
            continue
        now = value_of(node) if node.active else STATUS[node.status]
        found.append(answers.WAS(task=name, former=history, now=now))
    if not found and answer.verdict is not None:
        return claim_reply(context, answer, nodes)
    return found or context.nothing(answer)


def _group_before_reply(nodes: Sequence[TaskNode]) -> list[str]:
    """What several tasks were at first, and what they are."""
    begun = min(node.states()[0].turn for node in nodes)
    first = [state_text(node.states()[0]) for node in nodes if node.states()[0].turn == begun]
    now = [state_text(node) for node in nodes if node.active]
    if first == now:
        return [answers.GROUP_UNCHANGED(now=list(map(clip, now)))]
    former = list(map(clip, first))
    if now:
        return [answers.GROUP_WAS_NOW(turn=begun, first=former, now=list(map(clip, now)))]
    return [answers.GROUP_WAS(turn=begun, first=former)]


def _began_before(context: AnswerContext, node: TaskNode) -> list[str]:
    """Of a value that came later than its whole: since when it is so, and what the user began with."""
    first, whole = node.states()[0], context.graph.root(node.id).states()[0]
    if first.turn <= whole.turn or not whole.said:
        return []
    name = context.names.full(node)
    since = answers.SO_SINCE(task=name, value=clip(node.value or ""), turn=first.turn)
    if context.names.brief:
        return [since]
    return [since, answers.YOU_SAID(turn=whole.turn, cause=f"{you_said(whole.said, QUOTED)}.")]


def _gave_way(node: TaskNode, gone: Sequence[TaskNode]) -> str:
    """'Before that, it was the solar panel (removed in turn 5); now it is the battery pack.'."""
    former = [clip(other.value or other.title) for other in gone]
    return answers.BEFORE_TURN(turn=node.states()[0].turn, former=former, now=clip(state_text(node)))


def why_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """The words that brought it about, and what came before."""
    verdict = answer.verdict
    if not nodes and verdict is not None and verdict.task:
        nodes = [context.graph[verdict.task]]
    if not nodes:
        return context.nothing(answer)
    wanted = answer.question.value or (verdict.claimed if verdict else "") or ""
    if not wanted and (waiting := [node for node in nodes if context.graph.waits_for(node.id)]):
        return [piece for node in waiting for piece in _why_waiting(context, node)]
    node = _cause_of(context, nodes, wanted)
    events = [event for event in answer.events if event.op not in _MARKS and not wanted]
    turn, said = (events[-1].turn, events[-1].said) if events else _reason(node)
    if verdict is not None and verdict.said:
        turn, said = verdict.until or verdict.since or turn, verdict.said
    found = [answers.SINCE_TURN(turn=turn)]
    if said:
        told = answers.BECAUSE if said == BY_HAND or _REASON.search(said) else answers.NO_REASON_BUT
        asks = _ASKS_WHY.search(said) is not None  # it came with this very question
        found = [answers.NO_REASON() if asks else told(turn=turn, cause=you_said(said, QUOTED))]
    whole = _split_whole(context, nodes)
    if whole is not None:
        return [*found, *_split_story(context, whole)]
    if node.active and (former := former_values(node)):
        if node.value is None:
            return [*found, answers.IT_IS_NOW(now=clip(node.title), former=clip(former[-1][0]))]
        name, value = context.names.full(node), clip(node.value)
        found.append(answers.IS_NOW(task=name, now=value, former=clip(former[-1][0])))
    else:
        found.append(context.names.state(node))
    return found


def _why_waiting(context: AnswerContext, node: TaskNode) -> list[str]:
    """What a task waits for, and the words that made it wait."""
    linked = next((state for state in reversed(node.states()) if state.op == "link"), node.states()[0])
    return [context.waits(node), answers.YOU_SAID(turn=linked.turn, cause=you_said(linked.said, QUOTED))]


def _cause_of(context: AnswerContext, nodes: Sequence[TaskNode], wanted: str) -> TaskNode:
    """The task among them that a 'why' is about: the one with the value, else the one changed last."""
    inside = [part for node in nodes for part in context.graph.subtree(node.id, gone=True)]
    named = [node for node in inside if wanted and (names(wanted, node.value) or names(wanted, node.title))]
    if named:
        return named[0]
    if nodes[0].value is not None or not context.graph.parts(nodes[0].id):
        return nodes[0]
    return max(inside, key=lambda node: (_reason(node)[0], node.active))


def _split_whole(context: AnswerContext, nodes: Sequence[TaskNode]) -> TaskNode | None:
    """The task among them, or over them, that was split once."""
    for node in nodes:
        for whole in (node, *context.graph.ancestors(node.id)):
            if any(is_part(part) for part in context.graph.parts(whole.id, gone=True)):
                return whole
    return None


def _split_story(context: AnswerContext, whole: TaskNode) -> list[str]:
    """'It is one meeting now: ... It was split into 2 in turn 3 and merged again in turn 4.'."""
    parts = [part for part in context.graph.parts(whole.id, gone=True) if is_part(part)]
    name = title_of(whole)
    split = min(part.states()[0].turn for part in parts)
    contents = series(context.names.contents(whole))
    if any(part.active for part in parts):
        contents = context.names.in_brief(whole) if context.names.brief else contents
        return [answers.WAS_SPLIT(task=the(name), turn=split, parts=contents)]
    merged = max(part.turn for part in parts)
    told = bool(contents) and not context.names.brief
    one = answers.ONE_NOW_WITH(task=name, contents=contents) if told else answers.ONE_NOW(task=name)
    return [one, answers.SPLIT_AND_MERGED(count=len(parts), split=split, merged=merged)]


def former_values(node: TaskNode) -> list[tuple[str, int]]:
    """The values a task had before the one it has, with the turn that each came with, oldest first."""
    found: list[tuple[str, int]] = []
    titled = all(state.value is None or same(state.value, state.title) for state in node.states())
    for state in node.states():
        value = state_text(state) if titled else state.value
        if value is not None and (not found or found[-1][0] != value):
            found.append((value, state.turn))
    if found and node.active and found[-1][0] == (state_text(node) if titled else node.value):
        found.pop()
    return found


def _reason(node: TaskNode) -> tuple[int, str]:
    """The turn and the words that made a task what it is; what only marked it does not count."""
    states = [state for state in node.states() if state.op not in _MARKS] or [node]
    return states[-1].turn, states[-1].said
