"""What the plan holds, in sentences: a value, a list, a summary, a number. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.agent.language.wording import (
    base,
    clip,
    entries,
    join,
    pluralised,
    quoted,
    sentence,
    the,
    title_of,
    value_of,
)
from taskloom.memory.claims import Answer, members
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import NUMBERS, SPEAKER, STOP, words

from .naming import INLINE, MANY, bullets, same, series
from .telling import AnswerContext
from .verdicts import claim_reply


def value_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is known of something: its value, or what the tasks that were found hold."""
    if answer.verdict is not None and answer.verdict.kind != "unknown" and answer.verdict.claimed:
        return claim_reply(tell, answer, nodes)
    if not nodes:
        return tell.nothing(answer)
    if answer.question.slot:
        told = join([tell.names.full(node) for node in nodes], limit=INLINE)
        who = answer.question.slot in ("who", "assignee")
        return [f"Nobody has {told} yet." if who else f"I have no {answer.question.slot} for {told} yet."]
    if not answer.question.tasks and _besides(answer.question.about, nodes):
        about = quoted(answer.question.about, 60)
        return [f"I have nothing about {about}.", *[_value_sentence(tell, node) for node in nodes[:INLINE]]]
    active = [node for node in nodes if node.active]
    listed = [node for node in active if tell.names.is_member(node) and node.value is not None]
    if len(listed) > 1 and len(listed) == len(active):
        name = pluralised(title_of(listed[0]))
        wholes = {node.parent for node in listed}
        whole = wholes.pop() if len(wholes) == 1 else None
        place = f" of {tell.names.full(tell.graph[whole])}" if whole else ""
        told = join([clip(node.value or "") for node in listed], limit=MANY)
        kin = {base(node.slot) for node in listed}
        opening = f"the {name}{place} are" if len(kin) == 1 else "that is"
        return [sentence(f"{opening} {told}")]
    if len(nodes) > INLINE:
        return tell.listing("", nodes)
    plain = [node for node in active if tell.names.is_member(node) and node.value is None]
    if len(plain) > 1 and len(plain) == len(nodes) and len({node.parent for node in plain}) == 1:
        told = join([tell.names.full(node) for node in plain], limit=MANY)
        return [sentence(f"{told} are in {the(title_of(tell.graph[plain[0].parent or '']))}")]
    return [_value_sentence(tell, node) for node in tell.names.tops(nodes)]


def _besides(about: str, nodes: Sequence[TaskNode]) -> bool:
    """Whether words for a task say more than what tasks have, so that these are only the nearest."""
    known = " ".join(f"{node.slot} {node.title} {node.value or ''}" for node in nodes)
    return bool(set(words(about)) - STOP - set(words(known.replace(".", " ").replace("_", " "))))


def _value_sentence(tell: AnswerContext, node: TaskNode) -> str:
    """One task as it stands; who has a task is told by the task."""
    if (
        base(node.slot) == "assignee"
        and node.active
        and node.parent
        and node.value
        and same(node.title, "assignee")
    ):
        people = ["you" if one.lower() in SPEAKER else one for one in entries(node.value)]
        who = clip(join(people, limit=len(people)))
        are = "are" if len(people) > 1 or who.lower() in ("you", "they") else "is"
        what = tell.names.full(tell.graph[node.parent])
        return sentence(f"{who} {are} responsible for {what}")
    return tell.names.state(node)


def list_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is in a list, or in several."""
    wholes = tell.asked(answer)
    if not nodes:
        if wholes:
            return [f"There is nothing in {join([tell.names.full(n) for n in wholes])} yet."]
        return tell.nothing(answer)
    if len(nodes) == 1 and tell.graph.parts(nodes[0].id):
        return tell.listing(tell.names.with_value(nodes[0]), list(tell.graph.parts(nodes[0].id)))
    rest = [node for node in nodes if node not in wholes]
    if len(wholes) > 1 and all(tell.graph.parts(whole.id) for whole in wholes):
        return [
            piece
            for n in wholes
            for piece in tell.listing(tell.names.full(n), list(members(tell.graph, n.id)))
        ]
    if len(wholes) == 1 and rest:
        name = tell.names.with_value if wholes[0] in nodes else tell.names.full
        return tell.listing(name(wholes[0]), rest)
    return tell.listing("", nodes)


def summary_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What there is of tasks, with all that is in them."""
    if not nodes:
        return tell.nothing(answer)
    tops = tell.names.tops(nodes)
    size = sum(len(tell.graph.subtree(node.id)) for node in tops)
    if len(tops) > 1 and size > 3 * INLINE:
        return [f"There are {len(tops)}:", bullets([tell.names.entry(node) for node in tops])]
    found = []
    for node in tops:
        contents = tell.names.contents(node)
        if not contents:
            found.append(tell.names.state(node))
            continue
        value = "" if node.value is None or same(node.value, node.title) else f" {value_of(node)}"
        mark = " (done)" if node.status == "done" else ""
        heading = f"{title_of(node)}{value}{mark}"
        if len(contents) > INLINE:
            found += [sentence(heading).rstrip(".") + ":", bullets(contents)]
        else:
            open_parts = [e for e in contents if e.endswith("(open)")]
            closed = [e for e in contents if e not in open_parts]
            text = "; ".join(filter(None, [", ".join(closed), ", ".join(open_parts)]))
            found.append(sentence(f"{heading}: {text}"))
    return found


def count_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """How many there are."""
    about = answer.question.about
    if answer.question.value == "parts":
        return _parts_reply(tell, answer, nodes)
    asked = tell.asked(answer)
    parts = [part for one in asked for part in tell.graph.parts(one.id)]
    countable = any(part.value is None or tell.names.is_member(part) for part in parts)
    if len(asked) == 1 and not countable and (so_far := tell.names.so_far(asked[0])):
        return [sentence(f"{tell.names.full(asked[0])}: {so_far}")]
    if len(nodes) == 1 and re.search(r"\d", nodes[0].value or ""):
        return [tell.names.state(nodes[0])]
    if len(nodes) == 1 and (inside := tell.graph.parts(nodes[0].id)):
        nodes = list(inside)
    if not nodes and (held := [node for node in asked if node.value]):
        return [tell.names.state(node) for node in held]  # 'how many tags': the task holds the number
    if not nodes:
        return [f"None: I have nothing about {quoted(about, 60)}." if about else "None."]
    told = join([tell.names.short_entry(node) for node in nodes], limit=INLINE)
    return [f"{len(nodes)}: {told}."]


def _parts_reply(tell: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """How many parts there are of what was split once."""
    whole = tell.asked(answer)[0]
    if nodes == [whole]:
        contents = tell.names.contents(whole)
        return [sentence(f"one: {the(title_of(whole))}{f' ({series(contents)})' if contents else ''}")]
    number = NUMBERS[len(nodes)] if len(nodes) < len(NUMBERS) else str(len(nodes))
    return [sentence(f"{number}: {series([tell.names.entry(node) for node in nodes])}")]
