"""What a reply may rest on, and what in it rests on nothing: names, figures and claimed acts. Pure.

A reply rests on what the user said, the recent talk, the plan with its history, what tools gave, and what the
brief says. Words are compared by their stems, figures by what they mean (`figures`), acts in `deeds`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from taskloom.agent.language.everyday import GENERIC, PEOPLE
from taskloom.agent.language.wording import base, sentences, spoken
from taskloom.agent.language.words import STOP
from taskloom.agent.turn.brief import Brief
from taskloom.memory.actions import is_action
from taskloom.memory.claims import Answer
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import fold, stem, words

from .deeds import Basis, claimed_deeds, performed_deeds, unfounded_claims
from .figures import Figure, figures, resolved
from .naming import Names
from .proper import is_foreign, strange_names


def ungrounded(reply: str, brief: Brief) -> list[str]:
    """What a reply says that nothing bears out, in words for its writer; empty for a fair reply.

    Args:
        reply: the reply, without what is quoted from others.
        brief: what it was made of; the whole plan counts, though the near part of it is looked at first.
    """
    found = _against(reply, Grounds(brief, _near(brief)))
    return found and _against(reply, Grounds(brief, brief.graph.values()))


def _against(reply: str, grounds: Grounds) -> list[str]:
    text = grounds.without_quotes(reply)
    numbers_said = figures(text)
    names = strange_names(text, numbers_said, grounds.stems)
    numbers = (one for one in numbers_said if not grounds.has(one, text))
    acts = unfounded_claims(text, grounds.tools, grounds.others, grounds.open_acts)
    return list(
        dict.fromkeys(
            [
                *(f'names "{name}", who or which is nowhere in the plan or the talk' for name in names),
                *(f'says "{one.text}", which is nowhere in the plan or the talk' for one in numbers),
                *acts,
            ]
        )
    )


# ---- what there is --------------------------------------------------------------------------------


class Grounds:
    """All that a reply may rest on."""

    def __init__(self, brief: Brief, nodes: Iterable[TaskNode]) -> None:
        self.brief, self.turn, self.nodes = brief, brief.turn, tuple(nodes)
        self.today = brief.now.date() if brief.now else None
        self.user_said = (brief.utterance, self.turn.utterance, *(said for said, _ in brief.exchanges))

    @cached_property
    def texts(self) -> list[str]:
        """Every text, once."""
        turn, brief = self.turn, self.brief
        found = [*self.user_said, brief.note, turn.note, *turn.noted, *turn.earlier, *brief.facts]
        found += [reply for _, reply in brief.exchanges]
        found += [line for one in turn.known for line in one.lines]
        found += [change.refused for change in turn.changes if change.refused]
        found += [
            f"{run.call.title} {spoken(run.call.tool)} {run.text} {_values(run.call.args)}"
            for run in turn.tool_runs
        ]
        if turn.question:
            found += [turn.question.question, *turn.question.options]
        for answer in brief.answers or turn.answers:
            found += _answered(answer)
        for node in self.nodes:
            found += [spoken(node.slot)]
            for state in node.states():
                found += [state.title, state.value or "", state.said]
        return [text for text in dict.fromkeys(found) if text]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(one for text in self.texts for one in words(text))

    @cached_property
    def figures(self) -> list[Figure]:
        """All figures, dates in every form they have."""
        found = [one for text in self.texts for one in figures(text)]
        return [
            form for one in found for form in (resolved(one, self.today) if one.kind == "date" else (one,))
        ]

    @cached_property
    def digits(self) -> frozenset[str]:
        """All numbers as they are written, and the hours of times, also as of 24."""
        found = {digits.lstrip("0") for text in self.texts for digits in re.findall(r"\d+", text)}
        for one in self.figures:
            if one.hour is not None:
                found |= {str(one.hour), str(one.hour + 12)}
        return frozenset(found)

    @cached_property
    def tools(self) -> tuple[Basis, ...]:
        """What tools did in this turn."""
        runs = [run for run in self.turn.tool_runs if run.status == "done"]
        return tuple(
            performed_deeds(f"{run.call.tool} {run.call.title} {run.text} {_values(run.call.args)}")
            for run in runs
        )

    @cached_property
    def others(self) -> tuple[Basis, ...]:
        """What the user told of, and what tasks say that are done or hold a state."""
        said = dict.fromkeys(
            [*self.user_said, *(state.said for node in self.nodes for state in node.states())]
        )
        stated = [
            claimed_deeds(text[a:b])
            for text in said
            for a, b in sentences(text)
            if not text[a:b].endswith("?")
        ]
        held = [claimed_deeds(f"{node.title} {node.value or ''}") for node in self.nodes if node.active]
        done = [
            performed_deeds(f"{node.title} {node.value or ''}")
            for node in self.nodes
            if node.status == "done"
        ]
        tooled = [
            performed_deeds(f"{node.source} {node.title} {node.value}")
            for node in self.nodes
            if node.source.startswith("tool:")
        ]
        answered = any(change.operation.kind in ("confirm", "reject") for change in self.turn.changes)
        agreed = [Basis(frozenset({"confirm"}), self.stems)] if answered else []
        return tuple(one for one in (*stated, *held, *done, *tooled, *agreed) if one.kinds)

    @cached_property
    def open_acts(self) -> tuple[str, ...]:
        """The verbs of the tasks that are still to be done."""
        still = (node.title for node in self.nodes if node.status == "open" and is_action(node.title))
        return tuple(dict.fromkeys(title.split()[0] for title in still))

    def without_quotes(self, reply: str) -> str:
        """The reply with what it quotes word for word from the plan or the talk taken out."""
        whole = " ".join(fold(" ".join(self.texts)).split())

        def plain(match: re.Match[str]) -> str:
            inner = fold(" ".join((match[1] or match[2]).split())).rstrip(".,!?…")
            return '"it"' if inner and inner in whole else match[0]

        reply = re.sub(r"\"([^\"\n]+)\"|“([^”\n]+)”", plain, reply)
        for node in self.nodes:  # the user's own 'I' and 'we' stand in some values
            for text in (node.title, node.value or ""):
                if text in reply and re.search(r"\b(?:I|we)\b.*\w", text):
                    reply = reply.replace(text, "it")
        return reply

    # ---- figures ------------------------------------------------------------------------------

    def has(self, figure: Figure, text: str) -> bool:
        """Whether a figure of a reply is borne out."""
        if figure.kind == "code":
            return set(words(figure.text)) <= self.stems
        if any(figure.agrees(one) for one in self.figures):
            return True
        if figure.kind == "time":
            return any(
                one.kind == "number" and one.value is not None and one.value <= 24 and not figure.minute
                and one.value % 12 == figure.hour and one.unit in (None, "the", "to", "and")
                for one in self.figures
            )  # fmt: skip
        if figure.kind == "date":
            return self._in_part(figure) or (figure.day is None and set(words(figure.text)) <= self.stems)
        if figure.kind != "number" or figure.value is None:
            return False
        return self._counted(figure, text) or (is_foreign(text) and str(figure.value) in self.digits)

    def _in_part(self, figure: Figure) -> bool:
        """'the 10th', where there are ten of something, or a tenth."""
        only_day = figure.day is not None and figure.month is None
        return only_day and any(one.kind == "number" and one.value == figure.day for one in self.figures)

    def _counted(self, figure: Figure, text: str) -> bool:
        """Whether a number needs no ground, or counts what there is."""
        before = text[: figure.start]
        number = int(figure.value) if figure.value is not None and figure.value % 1 == 0 else -1
        if (number == 1 and not figure.text[0].isdigit()) or (
            re.search(r"(?:^|\n)[\s>*-]*$", before) and re.match(r"[.)]", text[figure.end :])
        ):
            return True  # 'one of them'; the number of a line
        if re.search(r"\bturns?(?: \d+(?: and|,| to)?)? $", before):
            return number in self._turns
        if re.match(r"\s*more changes\b", text[figure.end :]):  # those that a reply has no room for
            return number < sum(len(one.changed) or 1 for one in self.turn.changes)
        if figure.measured:
            return False
        noun = stem(figure.unit or "")
        if noun in PEOPLE:
            return number in self._counts(people=True)
        if noun in GENERIC or not noun or noun in STOP:
            return number in self._counts()
        named = sum(
            noun in words(f"{node.title} {node.value or ''} {spoken(node.slot)}") for node in self.nodes
        )
        return number in {named, *self._listed, *self._answers}

    @cached_property
    def _listed(self) -> list[int]:
        """How many things the tools gave."""
        return [run.text.count("{") for run in self.turn.tool_runs]

    @cached_property
    def _turns(self) -> frozenset[int]:
        return frozenset({self.turn.number, *(state.turn for node in self.nodes for state in node.states())})

    @cached_property
    def _answers(self) -> frozenset[int]:
        answers = self.brief.answers or self.turn.answers
        return frozenset(
            count
            for one in answers
            for count in (one.count, len(one.tasks), len(one.events))
            if count is not None
        )

    def _counts(self, *, people: bool = False) -> set[int]:
        """How many there are of what the turn is about: parts, by their state and kind, changes, answers."""
        graph, names = self.brief.graph, Names(self.brief.graph)
        wholes = dict.fromkeys(key for node in self.nodes for key in (node.id, node.parent) if key in graph)
        found = set(self._answers)
        for key in filter(None, list(wholes)[:200]):
            parts, gone = graph.parts(key), [one for one in graph.parts(key, gone=True) if not one.active]
            groups = Counter(base(part.slot) for part in parts)
            found |= {count for name, count in groups.items() if not people or stem(name) in PEOPLE}
            if not people:
                found |= set(Counter(part.status for part in parts).values())
                found |= {sum(is_action(part.title) for part in parts), len(parts), len(graph.subtree(key))}
                found |= {len(gone), sum(part.states()[0].op == "split" for part in gone)}
                found.add(sum(part.turn == self.turn.number for part in gone))
                below = graph.subtree(key, gone=True)[1:]
                left = [part for part in below if not part.active and part.turn == self.turn.number]
                found |= {len(left), *Counter(part.status for part in left).values()}
                found |= {int(one) for one in re.findall(r"\d{1,18}", names.so_far(graph[key]))}
        # A whole counts among what changed, and not among its parts.
        changed = [len(one.changed) - whole for one in self.turn.changes for whole in (0, 1)]
        options = [len(self.turn.question.options)] if self.turn.question else []
        roots = len(graph.parts(None))
        return (
            found
            if people
            else {*found, *self._listed, *changed, *options, sum(changed[::2]), len(self.turn.changes), roots}
        )


def _answered(answer: Answer) -> list[str]:
    verdict, question = answer.verdict, answer.question
    found = [question.about, question.value or ""]
    if verdict:
        found += [verdict.claimed, verdict.now or "", verdict.replaced_by or "", verdict.said]
        found += [f"turn {turn}" for turn in (verdict.since, verdict.until) if turn]
    return found + [
        text for event in answer.events for text in (event.said, event.before or "", event.after or "")
    ]


def _values(params: object) -> str:
    return re.sub(r"[{}\[\]'\"]", " ", str(params))


def _near(brief: Brief) -> list[TaskNode]:
    """The tasks that the turn is about, with what they are part of and what is part of them."""
    graph, turn = brief.graph, brief.turn
    keys = [*turn.facts, *turn.proposals, *(key for change in turn.changes for key in change.changed)]
    keys += [key for one in brief.answers or turn.answers for key in (*one.tasks, *one.question.tasks)]
    wide = [part for key in dict.fromkeys(keys) if key in graph for part in (graph.root(key), graph[key])]
    parts = [part for node in wide for part in graph.parts(node.id, gone=True)]
    return list(dict.fromkeys([*wide, *parts]))
