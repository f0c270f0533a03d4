"""Verdicts on what is claimed, in sentences: it is so, it was so once, it never was. Pure."""

from __future__ import annotations

from taskloom.agent.language import answers
from taskloom.agent.language.wording import be, clip, quoted, the, title_of, you_said
from taskloom.memory.claims import Answer, Verdict, state_text
from taskloom.memory.operations import names
from taskloom.memory.tasks import TaskNode

from .answer_context import AnswerContext
from .naming import INLINE


def claim_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """Whether something is so, was so once, or never was."""
    verdict = answer.verdict
    if verdict is None:
        return [context.names.state(node) for node in nodes[:INLINE]] if nodes else context.nothing(answer)
    if answer.question.act is not None:
        return _act_verdict(context, answer, verdict)
    ways = {"holds": _holds, "was": _was, "never": _never, "unknown": _unknown}
    return ways[verdict.kind](context, answer, verdict)


def _about(
    context: AnswerContext, answer: Answer, verdict: Verdict
) -> tuple[TaskNode | None, TaskNode | None]:
    """The task and the container that a verdict is about."""
    node = context.graph.get(verdict.task) if verdict.task else None
    key = answer.question.container
    container = context.graph.get(key) if key else None
    if container is node:
        node = None if container is not None else node
    return node, container


def _part_of(context: AnswerContext, answer: Answer, verdict: Verdict) -> str:
    """' in the soup', ' as the start', or nothing."""
    node, container = _about(context, answer, verdict)
    if container is not None:
        return f" in {the(title_of(container))}"
    if node is not None and not names(verdict.claimed, node.title) and not context.names.is_member(node):
        return f" {'as' if node.value is not None else 'for'} {the(title_of(node))}"
    return ""


def _now(context: AnswerContext, answer: Answer, verdict: Verdict) -> str:
    """'it is Chicago', or nothing where that cannot be said."""
    now = verdict.now or ""
    node, container = _about(context, answer, verdict)
    if not now and node is not None and node.active and not names(verdict.claimed, node.value):
        now = node.value or ""
    if not now:
        return ""
    return f"there is {clip(now)}" if container is not None else f"it is {clip(now)}"


def _since_the_start(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    """What was there before something that is supposed to have been so from the start, or nothing."""
    node = context.graph.get(verdict.task) if verdict.task else None
    if node is None or not verdict.since or not answer.question.about.endswith("from the start"):
        return []
    former = [state for state in node.states() if state.turn < verdict.since and state.active]
    before = (
        [clip(state_text(former[-1]))]
        if former
        else [clip(state_text(n)) for n in context.predecessors(node)]
    )
    whole = context.graph.get(answer.question.container or node.parent or "")
    if not before and (whole is None or whole.states()[0].turn >= verdict.since):
        return []
    claimed = clip(verdict.claimed)
    if before:
        return [answers.NOT_FROM_THE_START_BUT(claimed=claimed, turn=verdict.since, former=before)]
    return [answers.NOT_FROM_THE_START(claimed=claimed, turn=verdict.since)]


def _holds(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    if late := _since_the_start(context, answer, verdict):
        return late
    claimed = clip(verdict.claimed)
    node, container = _about(context, answer, verdict)
    if container is not None:
        statement = f"{claimed} {be(claimed)} in {the(title_of(container))}"
    elif node is not None and node.value is not None and not names(verdict.claimed, node.title):
        statement = f"{context.names.full(node)} {be(context.names.full(node))} {clip(node.value)}"
    elif node is not None:
        statement = context.names.state(node).rstrip(".")
        statement = statement[0].lower() + statement[1:] if statement.startswith("The ") else statement
    else:
        statement = f"{claimed} is what I have" if claimed else "that is how it is"
    since = f" (since turn {verdict.since})" if verdict.since else ""
    reply = answers.IT_IS if answer.question.denied else answers.YES
    return [reply(seed=claimed, fact=statement, since=since)]


def _was(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    claimed, place = clip(verdict.claimed), _part_of(context, answer, verdict)
    since = f" from turn {verdict.since}" if verdict.since else ""
    subject = claimed if answer.question.denied or place or answer.question.kind == "ever" else "it"
    was = be(claimed, past=True)
    what = f"{claimed} {was} there" if subject == claimed and not place else f"{claimed} {was}{place}"
    if subject == "it":
        what = f"it was {claimed}"
    if place.startswith(" as "):
        what = f"{place[4:]} {be(place[4:], past=True)} {claimed}"
    said = f" ({you_said(verdict.said)})" if verdict.said else ""
    turn = f"in turn {verdict.until}" if verdict.until else "later"
    if answer.question.denied:
        end = f"{turn} it was {_ended(verdict)}" if verdict.op or verdict.replaced_by else ""
        return [answers.IT_ONCE_WAS(fact="; ".join(filter(None, [f"{what}{since}", end])), said=said)]
    until = f" to turn {verdict.until}" if verdict.until else ""
    reply = answers.WAS_ONCE if answer.question.kind == "ever" else answers.NO_LONGER
    now = _now(context, answer, verdict)
    if not now or answer.question.container:
        return [reply(seed=claimed, fact=f"{what}{since}{until}, when it was {_ended(verdict)}{said}")]
    return [reply(seed=claimed, fact=f"{what}{since}{until}; since then {now}{said}")]


def _ended(verdict: Verdict) -> str:
    """How something that was so came to its end."""
    if verdict.replaced_by:
        return f"replaced with {clip(verdict.replaced_by)}"
    return {"remove": "removed", "inactivate": "put on hold", "undo": "undone"}.get(
        verdict.op or "", "changed"
    )


def _never(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    claimed, place = clip(verdict.claimed), _part_of(context, answer, verdict)
    about = context.graph.get(verdict.task) if verdict.task else None
    now = "" if about is not None and about.value is None else _now(context, answer, verdict)
    if answer.question.denied:
        end = f"; {now}" if now else ""
        return [answers.RIGHT_NO_RECORD(claimed=f"{claimed}{place}", end=end)]
    elsewhere = [n for n in context.graph.active if verdict.since and names(verdict.claimed, state_text(n))]
    if elsewhere:
        there = place.strip() or "that"
        denial = (
            answers.NEVER_THERE_BUT(claimed=claimed, there=there, now=now)
            if now
            else answers.NEVER_THERE(claimed=claimed, there=there)
        )
        return [denial, *(context.names.state(node) for node in elsewhere[:3])]
    if verdict.since and verdict.said:  # never in the plan, only in the talk
        turn, said = verdict.since, quoted(verdict.said)
        if now:
            return [answers.NO_RECORD_BUT_SAID(claimed=f"{claimed}{place}", now=now, turn=turn, words=said)]
        return [answers.ONLY_MENTIONED(claimed=claimed, turn=turn, words=said)]
    if now:
        return [answers.NO_RECORD_BUT(claimed=f"{claimed or 'that'}{place}", now=now)]
    node = context.graph.get(verdict.task) if verdict.task else None
    told_of = [context.names.state(node)] if node is not None else []
    return [answers.NO_RECORD_OF(claimed=f"{claimed or 'that'}{place}"), *told_of]


def _unknown(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    about = answer.question.about or verdict.claimed or answer.question.value or ""
    subject = quoted(about, 60) if about else "that"
    return [answers.NO_RECORD(about=subject), *context.nothing(answer)[1:]]


def _act_verdict(context: AnswerContext, answer: Answer, verdict: Verdict) -> list[str]:
    """Whether something was ever asked for."""
    agreed = verdict.kind in ("holds", "was")
    if agreed:
        when = f" in turn {verdict.since}" if verdict.since else ""
        said = f": {quoted(verdict.said)}" if verdict.said else ""
        return [(answers.YOU_DID if answer.question.denied else answers.YES_YOU_DID)(when=when, said=said)]
    reply = answers.RIGHT_YOU_DID_NOT if answer.question.denied else answers.YOU_DID_NOT
    claimed = clip(verdict.claimed)
    place = _part_of(context, answer, verdict)
    if claimed and (verdict.replaced_by or (verdict.until and verdict.op)):
        when = f" in turn {verdict.until}" if verdict.until else ""
        return [reply(instead=f"; {claimed} was {_ended(verdict)}{when}")]
    now = _now(context, answer, verdict)
    if now and not names(verdict.claimed, now):
        return [reply(instead=f"; {now}")]
    return [reply(instead="" if not claimed or not place else f" ({claimed}{place})")]
