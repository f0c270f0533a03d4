"""Verdicts on what is claimed, in sentences: it is so, it was so once, it never was. Pure."""

from __future__ import annotations

from taskloom.agent.language.wording import be, clip, join, pick, quoted, sentence, the, title_of
from taskloom.memory.claims import Answer, Verdict, state_text
from taskloom.memory.operations import names
from taskloom.memory.tasks import TaskNode

from .naming import INLINE
from .telling import AnswerContext


def claim_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """Whether something is so, was so once, or never was."""
    verdict = answer.verdict
    if verdict is None:
        return [tell.names.state(node) for node in nodes[:INLINE]] if nodes else tell.nothing(answer)
    if answer.question.act is not None:
        return _act_verdict(tell, answer, verdict)
    ways = {"holds": _holds, "was": _was, "never": _never, "unknown": _unknown}
    return ways[verdict.kind](tell, answer, verdict)


def _about(tell: AnswerContext, answer: Answer, verdict: Verdict) -> tuple[TaskNode | None, TaskNode | None]:
    """The task and the container that a verdict is about."""
    node = tell.graph.get(verdict.task) if verdict.task else None
    key = answer.question.container
    container = tell.graph.get(key) if key else None
    if container is node:
        node = None if container is not None else node
    return node, container


def _part_of(tell: AnswerContext, answer: Answer, verdict: Verdict) -> str:
    """' in the soup', ' as the start', or nothing."""
    node, container = _about(tell, answer, verdict)
    if container is not None:
        return f" in {the(title_of(container))}"
    if node is not None and not names(verdict.claimed, node.title) and not tell.names.is_member(node):
        return f" {'as' if node.value is not None else 'for'} {the(title_of(node))}"
    return ""


def _now(tell: AnswerContext, answer: Answer, verdict: Verdict) -> str:
    """'it is Chicago', or nothing where that cannot be said."""
    now = verdict.now or ""
    node, container = _about(tell, answer, verdict)
    if not now and node is not None and node.active and not names(verdict.claimed, node.value):
        now = node.value or ""
    if not now:
        return ""
    return f"there is {clip(now)}" if container is not None else f"it is {clip(now)}"


def _since_the_start(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    """What was there before something that is supposed to have been so from the start, or nothing."""
    node = tell.graph.get(verdict.task) if verdict.task else None
    if node is None or not verdict.since or not answer.question.about.endswith("from the start"):
        return []
    former = [state for state in node.states() if state.turn < verdict.since and state.active]
    before = (
        [clip(state_text(former[-1]))] if former else [clip(state_text(n)) for n in tell.predecessors(node)]
    )
    whole = tell.graph.get(answer.question.container or node.parent or "")
    if not before and (whole is None or whole.states()[0].turn >= verdict.since):
        return []
    claimed = clip(verdict.claimed)
    only = f"No, not from the start: {claimed} came in turn {verdict.since}"
    return [sentence(f"{only}; before that it was {join(before)}" if before else only)]


def _holds(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    if late := _since_the_start(tell, answer, verdict):
        return late
    claimed = clip(verdict.claimed)
    node, container = _about(tell, answer, verdict)
    if container is not None:
        told = f"{claimed} {be(claimed)} in {the(title_of(container))}"
    elif node is not None and node.value is not None and not names(verdict.claimed, node.title):
        told = f"{tell.names.full(node)} {be(tell.names.full(node))} {clip(node.value)}"
    elif node is not None:
        told = tell.names.state(node).rstrip(".")
        told = told[0].lower() + told[1:] if told.startswith("The ") else told
    else:
        told = f"{claimed} is what I have" if claimed else "that is how it is"
    opening = "It is: " if answer.question.denied else pick(("Yes, ", "Yes, that's right: "), claimed)
    since = f" (since turn {verdict.since})" if verdict.since else ""
    return [sentence(f"{opening}{told}{since}")]


def _was(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    claimed, place = clip(verdict.claimed), _part_of(tell, answer, verdict)
    since = f" from turn {verdict.since}" if verdict.since else ""
    subject = claimed if answer.question.denied or place or answer.question.kind == "ever" else "it"
    was = be(claimed, past=True)
    what = f"{claimed} {was} there" if subject == claimed and not place else f"{claimed} {was}{place}"
    if subject == "it":
        what = f"it was {claimed}"
    if place.startswith(" as "):
        what = f"{place[4:]} was {claimed}"
    said = f" (you said: {quoted(verdict.said)})" if verdict.said else ""
    turn = f"in turn {verdict.until}" if verdict.until else "later"
    if answer.question.denied:
        end = f"{turn} it was {_ended(verdict)}" if verdict.op or verdict.replaced_by else ""
        return [sentence("; ".join(filter(None, [f"{what}{since}", end])) + said)]
    until = f" to turn {verdict.until}" if verdict.until else ""
    opening = pick(("Yes, ", "Yes: "), claimed) if answer.question.kind == "ever" else "Not any more: "
    now = _now(tell, answer, verdict)
    if not now or answer.question.container:
        return [sentence(f"{opening}{what}{since}{until}, when it was {_ended(verdict)}{said}")]
    return [sentence(f"{opening}{what}{since}{until}; since then {now}{said}")]


def _ended(verdict: Verdict) -> str:
    """How something that was so came to its end."""
    if verdict.replaced_by:
        return f"replaced with {clip(verdict.replaced_by)}"
    return {"remove": "removed", "inactivate": "put on hold", "undo": "undone"}.get(
        verdict.op or "", "changed"
    )


def _never(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    claimed, place = clip(verdict.claimed), _part_of(tell, answer, verdict)
    about = tell.graph.get(verdict.task) if verdict.task else None
    now = "" if about is not None and about.value is None else _now(tell, answer, verdict)
    if answer.question.denied:
        end = f"; {now}" if now else ""
        return [sentence(f"Right, there is no record of {claimed}{place}{end}")]
    elsewhere = [n for n in tell.graph.active if verdict.since and names(verdict.claimed, state_text(n))]
    if elsewhere:
        denial = f"No, {claimed} was never {place.strip() or 'that'}{f': {now}' if now else ''}"
        return [sentence(denial), *(tell.names.state(node) for node in elsewhere[:3])]
    if verdict.since and verdict.said:  # never in the plan, only in the talk
        mention = f"you mentioned it in turn {verdict.since}: {quoted(verdict.said)}"
        if now:
            return [sentence(f"No, I have no record of {claimed}{place}: {now}; {mention}")]
        return [sentence(f"{claimed} is not in the plan, but {mention}")]
    if now:
        return [sentence(f"No, I have no record of {claimed or 'that'}{place}: {now}")]
    node = tell.graph.get(verdict.task) if verdict.task else None
    told_of = [tell.names.state(node)] if node is not None else []
    return [sentence(f"No, I have no record of {claimed or 'that'}{place}"), *told_of]


def _unknown(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    about = answer.question.about or verdict.claimed or answer.question.value or ""
    told = f"of {quoted(about, 60)}" if about else "of that"
    return [f"I have no record {told}.", *tell.nothing(answer)[1:]]


def _act_verdict(tell: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    """Whether something was ever asked for."""
    agreed = verdict.kind in ("holds", "was")
    if agreed:
        when = f" in turn {verdict.since}" if verdict.since else ""
        said = f": {quoted(verdict.said)}" if verdict.said else ""
        return [sentence(f"{'You did' if answer.question.denied else 'Yes, you did'}{when}{said}")]
    opening = f"{'Right' if answer.question.denied else 'No'}, there is no record of that"
    claimed = clip(verdict.claimed)
    place = _part_of(tell, answer, verdict)
    if claimed and (verdict.replaced_by or (verdict.until and verdict.op)):
        when = f" in turn {verdict.until}" if verdict.until else ""
        return [sentence(f"{opening}; {claimed} was {_ended(verdict)}{when}")]
    now = _now(tell, answer, verdict)
    if now and not names(verdict.claimed, now):
        return [sentence(f"{opening}; {now}")]
    return [sentence(opening if not claimed or not place else f"{opening} ({claimed}{place})")]
