"""What the plan was and why it is as it is, in sentences: states, values, the words behind them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from taskloom.agent.language.wording import be, clip, join, quoted, sentence, the, title_of, value_of
from taskloom.memory.claims import Answer, state_text
from taskloom.memory.operations import is_part, names
from taskloom.memory.tasks import Revision, TaskNode

from .naming import INLINE, MANY, STATUS, same, series
from .telling import AnswerContext
from .verdicts import claim_reply

_MARKS = frozenset({"stale", "link", "unlink"})
"""Operations that change what a task rests on, not what it is."""


def history_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task was, state by state."""
    if not nodes:
        return tell.nothing(answer)
    found = []
    for node in nodes[:INLINE]:
        states = [state for state in node.states() if state.op not in _MARKS]
        told: list[str] = []
        for state, following in zip(states, [*states[1:], None], strict=True):
            if following is None or (state.value, state.status) != (following.value, following.status):
                told.append(_past(state, last=following is None))
        entries = told[-INLINE:]
        turn, said = _reason(node)
        words = f" (in turn {turn} you said: {quoted(said, 120)})" if said and len(states) > 1 else ""
        found.append(sentence(f"{tell.names.full(node)}: {', '.join(entries)}{words}"))
    return found


def _past(state: Revision, *, last: bool) -> str:
    """One state of a task in a narration: 'it was Lyon (turn 2)', 'it is Paris (since turn 6)'."""
    value = clip(state.value) if state.value is not None and state.active else STATUS[state.status]
    return f"now it is {value} (since turn {state.turn})" if last else f"it was {value} (turn {state.turn})"


def before_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What a task was before it was what it is."""
    asked = [tell.graph[key] for key in answer.question.tasks if key in tell.graph]
    if len(asked) > 1:
        return _group_before_reply(asked)
    found = []
    for node in nodes:
        former = former_values(node)
        name = tell.names.full(node)
        if not former and (gone := tell.predecessors(node)):
            found.append(_gave_way(node, gone))
            continue
        if not former:
            if node.value is not None and node.active and (began := _began_before(tell, node)):
                found += began
            elif node.value is not None and node.active:
                found.append(sentence(f"{name} {be(name)} {value_of(node)} and has not been changed"))
            else:
                found.append(sentence(f"{name} had no other value before"))
            continue
        history = ", and then it was ".join(
            f"{clip(value)} (turn {turn})" for value, turn in former[-INLINE:]
        )
        if node.value is None or tell.names.is_member(node):
            values = ", then ".join(f"{clip(value)} (from turn {turn})" for value, turn in former[-INLINE:])
            now = clip(state_text(node)) if node.active else STATUS[node.status]
            found.append(sentence(f"it was {values}; now it is {now}"))
            continue
        now = value_of(node) if node.active else STATUS[node.status]
        found.append(sentence(f"{name} {be(name, past=True)} {history}; now it is {now}"))
    if not found and answer.verdict is not None:
        return claim_reply(tell, answer, nodes)
    return found or tell.nothing(answer)


def _group_before_reply(nodes: Sequence[TaskNode]) -> list[str]:
    """What several tasks were at first, and what they are."""
    begun = min(node.states()[0].turn for node in nodes)
    first = [state_text(node.states()[0]) for node in nodes if node.states()[0].turn == begun]
    now = [state_text(node) for node in nodes if node.active]
    if first == now:
        return [sentence(f"it has not been changed: {join(map(clip, now), limit=MANY)}")]
    at_first = f"at first (turn {begun}) it was {join(map(clip, first), limit=MANY)}"
    return [sentence(f"{at_first}; now it is {join(map(clip, now), limit=MANY)}" if now else at_first)]


def _began_before(tell: AnswerContext, node: TaskNode) -> list[str]:
    """Of a value that came later than its whole: since when it is so, and what the user began with."""
    first, whole = node.states()[0], tell.graph.root(node.id).states()[0]
    if first.turn <= whole.turn or not whole.said:
        return []
    name = tell.names.full(node)
    since = sentence(
        f"{name} {be(name)} {clip(node.value or '')} since turn {first.turn}, and was not set before"
    )
    return [since, f"In turn {whole.turn} you said: {quoted(whole.said, 120)}."]


def _gave_way(node: TaskNode, gone: Sequence[TaskNode]) -> str:
    """'Before that, it was the solar panel (removed in turn 5); now it is the battery pack.'."""
    former = join([clip(other.value or other.title) for other in gone], limit=INLINE)
    return sentence(
        f"before turn {node.states()[0].turn} it was {former}; now it is {clip(state_text(node))}"
    )


def why_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """The words that brought it about, and what came before."""
    verdict = answer.verdict
    if not nodes and verdict is not None and verdict.task:
        nodes = [tell.graph[verdict.task]]
    if not nodes:
        return tell.nothing(answer)
    wanted = answer.question.value or (verdict.claimed if verdict else "") or ""
    if not wanted and (waiting := [node for node in nodes if tell.graph.waits_for(node.id)]):
        return [piece for node in waiting for piece in _why_waiting(tell, node)]
    node = _cause_of(tell, nodes, wanted)
    events = [event for event in answer.events if event.op not in _MARKS and not wanted]
    turn, said = (events[-1].turn, events[-1].said) if events else _reason(node)
    if verdict is not None and verdict.said:
        turn, said = verdict.until or verdict.since or turn, verdict.said
    found = [f"It has been so since turn {turn}."]
    if said:
        found = [f"Because in turn {turn} you said: {quoted(said, 120)}."]
    whole = _split_whole(tell, nodes)
    if whole is not None:
        return [*found, *_split_story(tell, whole)]
    if node.active and (former := former_values(node)):
        if node.value is None:
            return [
                *found,
                sentence(f"it is {clip(node.title)} now; before that, it was {clip(former[-1][0])}"),
            ]
        name, value = tell.names.full(node), clip(node.value)
        was = be(name, past=True)
        found.append(sentence(f"{name} {be(name)} {value} now; before that, it {was} {clip(former[-1][0])}"))
    else:
        found.append(tell.names.state(node))
    return found


def _why_waiting(tell: AnswerContext, node: TaskNode) -> list[str]:
    """What a task waits for, and the words that made it wait."""
    linked = next((state for state in reversed(node.states()) if state.op == "link"), node.states()[0])
    return [tell.waits(node), sentence(f"in turn {linked.turn} you said: {quoted(linked.said, 120)}")]


def _cause_of(tell: AnswerContext, nodes: Sequence[TaskNode], wanted: str) -> TaskNode:
    """The task among them that a 'why' is about: the one with the value, else the one changed last."""
    inside = [part for node in nodes for part in tell.graph.subtree(node.id, gone=True)]
    named = [node for node in inside if wanted and (names(wanted, node.value) or names(wanted, node.title))]
    if named:
        return named[0]
    if nodes[0].value is not None or not tell.graph.parts(nodes[0].id):
        return nodes[0]
    return max(inside, key=lambda node: (_reason(node)[0], node.active))


def _split_whole(tell: AnswerContext, nodes: Sequence[TaskNode]) -> TaskNode | None:
    """The task among them, or over them, that was split once."""
    for node in nodes:
        for whole in (node, *tell.graph.ancestors(node.id)):
            if any(is_part(part) for part in tell.graph.parts(whole.id, gone=True)):
                return whole
    return None


def _split_story(tell: AnswerContext, whole: TaskNode) -> list[str]:
    """'It is one meeting now: ... It was split into 2 in turn 3 and merged again in turn 4.'."""
    parts = [part for part in tell.graph.parts(whole.id, gone=True) if is_part(part)]
    name = title_of(whole)
    split = min(part.states()[0].turn for part in parts)
    contents = series(tell.names.contents(whole))
    if any(part.active for part in parts):
        return [sentence(f"{the(name)} was split in turn {split}: {contents}")]
    merged = max(part.turn for part in parts)
    one = f"It is one {name} now" + (f": {contents}" if contents else "")
    return [
        f"{one}.",
        f"It was split into {len(parts)} in turn {split} and merged again in turn {merged}.",
    ]


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
