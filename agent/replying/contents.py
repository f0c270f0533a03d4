"""What the plan holds, in sentences: a value, a list, a summary, a number. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taskloom.agent.language import answers
from taskloom.agent.language.totals import difference, product, total
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
from taskloom.memory.claims import DIFFERENCE, PRODUCT, RECKONED, THESE, TOTAL, UNSURE, Answer, members
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import NUMBERS, SPEAKER, STOP, words

from .answer_context import AnswerContext
from .naming import INLINE, bullets, same, series
from .verdicts import claim_reply


def value_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is known of something: its value, or what the tasks that were found hold."""
    if answer.verdict is not None and answer.verdict.kind != "unknown" and answer.verdict.claimed:
        return claim_reply(context, answer, nodes)
    if not nodes:
        return context.nothing(answer)
    if answer.question.slot:
        tasks = [context.names.full(node) for node in nodes]
        if answer.question.slot in ("who", "assignee"):
            return [answers.NOBODY_HAS(tasks=tasks)]
        if all(node.value is not None and node.parent for node in nodes):  # none of that name, but another
            tasks = [context.names.full(context.graph[node.parent or ""]) for node in nodes]
            lacking = answers.NO_SLOT(slot=answer.question.slot, tasks=tasks)
            return [lacking, *(_value_sentence(context, node) for node in nodes)]
        return [answers.NO_SLOT(slot=answer.question.slot, tasks=tasks)]
    if not answer.question.tasks and _besides(answer.question.about, nodes):
        about = quoted(answer.question.about, 60)
        return [
            answers.NOTHING_ABOUT(about=about),
            *[_value_sentence(context, node) for node in nodes[:INLINE]],
        ]
    active = [node for node in nodes if node.active]
    listed = [node for node in active if context.names.is_member(node) and node.value is not None]
    if len(listed) > 1 and len(listed) == len(active):
        name = pluralised(title_of(listed[0]))
        wholes = {node.parent for node in listed}
        whole = wholes.pop() if len(wholes) == 1 else None
        place = f" of {context.names.full(context.graph[whole])}" if whole else ""
        values = [clip(node.value or "") for node in listed]
        if len({base(node.slot) for node in listed}) == 1:
            return [answers.MEMBERS_ARE(kind=name, of_whole=place, members=values)]
        return [answers.THAT_IS(members=values)]
    if len(nodes) > INLINE:
        return context.listing("", nodes)
    plain = [node for node in active if context.names.is_member(node) and node.value is None]
    if len(plain) > 1 and len(plain) == len(nodes) and len({node.parent for node in plain}) == 1:
        whole = the(title_of(context.graph[plain[0].parent or ""]))
        return [answers.ARE_IN(tasks=[context.names.full(node) for node in plain], whole=whole)]
    return [_value_sentence(context, node) for node in context.names.tops(nodes)]


def _besides(about: str, nodes: Sequence[TaskNode]) -> bool:
    """Whether words for a task say more than what tasks have, so that these are only the nearest."""
    known = " ".join(f"{node.slot} {node.title} {node.value or ''}" for node in nodes)
    return bool(set(words(about)) - STOP - set(words(known.replace(".", " ").replace("_", " "))))


def _value_sentence(context: AnswerContext, node: TaskNode) -> str:
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
        several = len(people) > 1 or who.lower() in ("you", "they")
        reply = answers.RESPONSIBLE_ARE if several else answers.RESPONSIBLE
        return reply(people=who, task=context.names.full(context.graph[node.parent]))
    return context.names.state(node)


def list_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is in a list, or in several."""
    wholes = context.asked(answer)
    if not nodes:
        if wholes:
            return [answers.NOTHING_IN(wholes=[context.names.full(n) for n in wholes])]
        return context.nothing(answer)
    if len(nodes) == 1 and context.graph.parts(nodes[0].id):
        return context.listing(context.names.with_value(nodes[0]), list(context.graph.parts(nodes[0].id)))
    rest = [node for node in nodes if node not in wholes]
    if len(wholes) > 1 and nodes != wholes and all(context.graph.parts(whole.id) for whole in wholes):
        return [
            piece
            for n in wholes
            for piece in context.listing(context.names.full(n), list(members(context.graph, n.id)))
        ]
    if len(wholes) == 1 and rest:
        name = context.names.with_value if wholes[0] in nodes else context.names.full
        return context.listing(name(wholes[0]), rest)
    return context.listing("", nodes)


def summary_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What there is of tasks, with all that is in them."""
    if not nodes:
        return context.nothing(answer)
    tops = context.names.tops(nodes)
    size = sum(len(context.graph.subtree(node.id)) for node in tops)
    if len(tops) > 1 and size > 3 * INLINE:
        return [answers.THERE_ARE(count=len(tops)), bullets([context.names.entry(node) for node in tops])]
    found = []
    for node in tops:
        contents = context.names.contents(node)
        if not contents:
            found.append(context.names.state(node))
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
            found.append(answers.UNDER_HEADING(heading=heading, text=text))
    return found


def count_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """How many there are."""
    about = answer.question.about
    if answer.question.value in RECKONED and answer.question.value != THESE:
        return _reckoned_reply(context, answer, nodes)
    if answer.question.value == "parts":
        return _parts_reply(context, answer, nodes)
    asked = context.asked(answer)
    parts = [part for one in asked for part in context.graph.parts(one.id)]
    countable = any(part.value is None or context.names.is_member(part) for part in parts)
    if len(asked) == 1 and not countable and (so_far := context.names.so_far(asked[0])):
        return [answers.UNDER_HEADING(heading=context.names.full(asked[0]), text=so_far)]
    if len(nodes) == 1 and answer.question.value != THESE and re.search(r"\d", nodes[0].value or ""):
        return [context.names.state(nodes[0])]
    if len(nodes) == 1 and answer.question.value != THESE and (inside := context.graph.parts(nodes[0].id)):
        nodes = list(inside)
    if not nodes and (held := [node for node in asked if node.value or re.search(r"\d", node.title)]):
        return [context.names.state(node) for node in held]  # 'how many tags': the task holds the number
    if not nodes:
        return [answers.NONE_ABOUT(about=quoted(about, 60)) if about else answers.NONE()]
    several = answer.count if answer.count and nodes and len(answer.tasks) == len(nodes) else len(nodes)
    return [answers.COUNTED(count=several, entries=[context.names.short_entry(node) for node in nodes])]


def _reckoned_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """What is made of some values: their sum, product or difference; or that it is not known."""
    how, told = answer.question.value, [context.names.short_entry(node) for node in nodes]
    if how == TOTAL:
        return _total_reply(context, nodes)
    numbers = [node.value or "" for node in nodes]
    if how == PRODUCT and nodes and (count := [*numbers[1:], *filter(None, [answer.question.about])]):
        whole = product(numbers[0], count[0])
        if whole is not None:
            return [answers.PRODUCT(total=whole, each=told[0], count=count[0])]
    if how == DIFFERENCE and len(numbers) == 2 and (left := difference(*numbers)) is not None:
        return [answers.DIFFERENCE(difference=left, entries=told)]
    asked = answer.question.about if how == UNSURE else "much"
    if nodes and all(node.value is None or context.names.is_member(node) for node in nodes):
        listed = [context.names.short_entry(node) for node in nodes]
        return [answers.NOT_SURE_THERE_ARE(asked=asked, count=len(nodes), entries=listed)]
    return [answers.NOT_SURE_BUT(asked=asked, numbers=told) if told else answers.NOT_SURE(asked=asked)]


def _total_reply(context: AnswerContext, nodes: list[TaskNode]) -> list[str]:
    """What values come to, with what each is of; only these where they cannot be added up."""
    owners = [context.graph[node.parent] if node.parent else node for node in nodes]
    amounts = [f"{title_of(owner)} {value_of(node)}" for owner, node in zip(owners, nodes, strict=True)]
    whole = total([node.value or "" for node in nodes])
    if whole is None:
        return [sentence(series(amounts))]
    return [answers.TOTAL(total=whole, entries=amounts)]


def _parts_reply(context: AnswerContext, answer: Answer, nodes: list[TaskNode]) -> list[str]:
    """How many parts there are of what was split once."""
    whole = context.asked(answer)[0]
    if nodes == [whole]:
        contents = context.names.contents(whole)
        return [sentence(f"one: {the(title_of(whole))}{f' ({series(contents)})' if contents else ''}")]
    number = NUMBERS[len(nodes)] if len(nodes) < len(NUMBERS) else str(len(nodes))
    entries_ = series([context.names.entry(node) for node in nodes])
    return [answers.UNDER_HEADING(heading=number, text=entries_)]
