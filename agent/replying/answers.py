"""Answers to questions and verdicts on claims, in sentences: one template for every kind. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from taskloom.agent.language.wording import (
    base,
    be,
    clip,
    entries,
    join,
    pick,
    plural,
    pluralised,
    quoted,
    sentence,
    the,
    title_of,
    value_of,
)
from taskloom.memory.claims import Answer, Verdict, members, told
from taskloom.memory.operations import is_part, names
from taskloom.memory.retrieve import matching
from taskloom.memory.tasks import Revision, TaskGraph, TaskNode
from taskloom.memory.words import NUMBERS, SPEAKER, STOP, words

from .naming import INLINE, MANY, STATUS, Names, bullets, same, series


class Answers:
    """Tells what answers a question; graph is the one after the turn."""

    def __init__(self, graph: TaskGraph, names: Names) -> None:
        self.graph, self.names = graph, names

    def pieces(self, answer: Answer) -> list[str]:
        """One answer; a verdict goes before what is told of the tasks."""
        nodes = [self.graph[key] for key in answer.tasks if key in self.graph]
        kind = answer.question.kind
        found: list[str] = []
        unknown = answer.verdict is not None and answer.verdict.kind == "unknown"
        if unknown and not nodes and kind not in ("claim", "ever"):
            return self._nothing(answer)
        gone = [self.graph[key] for key in answer.question.tasks if key in self.graph]
        if gone and not any(node.active for node in gone) and kind in _PRESENT:
            found = [self.names.state(node) for node in gone]
            if kind in ("needs", "dependents") or not any(node.active for node in nodes):
                return found
        if kind in _BESIDE and answer.question.value and answer.verdict and answer.verdict.kind != "unknown":
            found += self._told_claim(answer, nodes)
        return [piece for piece in [*found, *_ANSWERS[kind](self, answer, nodes)] if piece]

    def _nothing(self, answer: Answer) -> list[str]:
        """Nothing found: says so, and what is known."""
        about = answer.question.about or answer.question.value or ""
        near = [self.graph[key] for key in matching(self.graph, about, limit=2)] if about else []
        if near:
            return [f"I have nothing about {quoted(about, 60)}.", *map(self.names.state, near)]
        found = [
            f"I have nothing about {quoted(about, 60)} yet." if about else "There is nothing in the plan yet."
        ]
        roots = self.graph.parts(None)
        if roots and about:
            known = join([self.names.short(root) for root in roots], limit=INLINE)
            parts = self.graph.parts(roots[0].id)
            if len(roots) == 1 and parts:
                inside = join(dict.fromkeys(title_of(part) for part in parts), limit=INLINE)
                known = f"{known}, with {inside}"
            found.append(f"What I know of: {known}.")
        elif roots:
            found = [
                f"I have nothing on that. What I know of: {join(map(self.names.short, roots), limit=INLINE)}."
            ]
        return found

    def _told_value(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        if answer.verdict is not None and answer.verdict.kind != "unknown" and answer.verdict.claimed:
            return self._told_claim(answer, nodes)
        if not nodes:
            return self._nothing(answer)
        if answer.question.slot:
            told = join([self.names.full(node) for node in nodes], limit=INLINE)
            who = answer.question.slot in ("who", "assignee")
            return [f"Nobody has {told} yet." if who else f"I have no {answer.question.slot} for {told} yet."]
        if not answer.question.tasks and self._besides(answer.question.about, nodes):
            about = quoted(answer.question.about, 60)
            return [f"I have nothing about {about}.", *[self._told_one(node) for node in nodes[:INLINE]]]
        active = [node for node in nodes if node.active]
        listed = [node for node in active if self.names.is_member(node) and node.value is not None]
        if len(listed) > 1 and len(listed) == len(active):
            name = pluralised(title_of(listed[0]))
            wholes = {node.parent for node in listed}
            whole = wholes.pop() if len(wholes) == 1 else None
            place = f" of {self.names.full(self.graph[whole])}" if whole else ""
            told = join([clip(node.value or "") for node in listed], limit=MANY)
            kin = {base(node.slot) for node in listed}
            opening = f"the {name}{place} are" if len(kin) == 1 else "that is"
            return [sentence(f"{opening} {told}")]
        if len(nodes) > INLINE:
            return self._listing("", nodes)
        plain = [node for node in active if self.names.is_member(node) and node.value is None]
        if len(plain) > 1 and len(plain) == len(nodes) and len({node.parent for node in plain}) == 1:
            told = join([self.names.full(node) for node in plain], limit=MANY)
            return [sentence(f"{told} are in {the(title_of(self.graph[plain[0].parent or '']))}")]
        return [self._told_one(node) for node in self.names.tops(nodes)]

    def _besides(self, about: str, nodes: Sequence[TaskNode]) -> bool:
        """Whether words for a task say more than what tasks have, so that these are only the nearest."""
        known = " ".join(f"{node.slot} {node.title} {node.value or ''}" for node in nodes)
        return bool(set(words(about)) - STOP - set(words(known.replace(".", " ").replace("_", " "))))

    def _told_one(self, node: TaskNode) -> str:
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
            what = self.names.full(self.graph[node.parent])
            return sentence(f"{who} {are} responsible for {what}")
        return self.names.state(node)

    def _told_list(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        wholes = self._asked(answer)
        if not nodes:
            if wholes:
                return [f"There is nothing in {join([self.names.full(n) for n in wholes])} yet."]
            return self._nothing(answer)
        if len(nodes) == 1 and self.graph.parts(nodes[0].id):
            return self._listing(self.names.with_value(nodes[0]), list(self.graph.parts(nodes[0].id)))
        rest = [node for node in nodes if node not in wholes]
        if len(wholes) > 1 and all(self.graph.parts(whole.id) for whole in wholes):
            return [
                piece
                for n in wholes
                for piece in self._listing(self.names.full(n), list(members(self.graph, n.id)))
            ]
        if len(wholes) == 1 and rest:
            name = self.names.with_value if wholes[0] in nodes else self.names.full
            return self._listing(name(wholes[0]), rest)
        return self._listing("", nodes)

    def _asked(self, answer: Answer) -> list[TaskNode]:
        """The tasks of the plan that a question is about."""
        keys = answer.question.tasks or (answer.question.container or "",)
        return [self.graph[key] for key in keys if key in self.graph and self.graph[key].active]

    def _listing(self, heading: str, nodes: list[TaskNode]) -> list[str]:
        """Tasks in one sentence, or one a line when they are many."""
        tops = self.names.tops(nodes)
        mixed = any(node.status == "done" for node in tops)
        entries = [self.names.entry(node, open_too=mixed) for node in tops]
        if len(entries) <= INLINE:
            text = join(entries) if heading or len(entries) > 1 else entries[0]
            return [sentence(f"{heading}: {text}" if heading else text)]
        return [
            sentence(heading).rstrip(".") + ":" if heading else f"{len(entries)} in all:",
            bullets(entries),
        ]

    def _told_summary(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        if not nodes:
            return self._nothing(answer)
        tops = self.names.tops(nodes)
        size = sum(len(self.graph.subtree(node.id)) for node in tops)
        if len(tops) > 1 and size > 3 * INLINE:
            return [f"There are {len(tops)}:", bullets([self.names.entry(node) for node in tops])]
        found = []
        for node in tops:
            contents = self.names.contents(node)
            if not contents:
                found.append(self.names.state(node))
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

    def _told_left(self, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
        if not nodes:
            return [
                "Nothing is left to do." if len(self.graph.active) else "There is nothing in the plan yet."
            ]
        done = all(node.status == "done" for node in nodes)
        shown = {node.id for node in nodes}
        heading = "Done so far" if done else pick(("Still open", "Still to do"), nodes[0].title)
        tops = [node for node in nodes if node.parent not in shown]
        if len(tops) == 1 and (parts := self._open_parts(tops[0], shown)) and tops[0].parent is None:
            tops = parts
        entries = [self._left_entry(node, shown) for node in tops]
        if len(entries) > INLINE:
            return [f"{heading} ({len(entries)}):", bullets(entries)]
        return [f"{heading}: {join(entries)}."]

    def _left_entry(self, node: TaskNode, shown: Collection[str]) -> str:
        """What is left of a task: itself, with its open parts and who does it."""
        told = [self._left_entry(part, shown) for part in self._open_parts(node, shown)]
        told += [p.value for p in self.graph.parts(node.id) if p.value and base(p.slot) == "assignee"]
        told += filter(None, [self.names.so_far(node)])
        entry = self.names.short_entry(node)
        return f"{entry} ({join(told, limit=INLINE)})" if told else entry

    def _open_parts(self, node: TaskNode, shown: Collection[str]) -> list[TaskNode]:
        return [part for part in self.graph.parts(node.id) if part.id in shown]

    def _told_next(self, _answer: Answer, nodes: list[TaskNode]) -> list[str]:
        if not nodes:
            return ["There is nothing to do next."]
        first, *more = sorted(nodes, key=lambda node: base(node.slot) != "task" and node.parent is not None)
        found = [f"Next: {self.names.short_entry(first)}."]
        if more:
            found.append(
                f"You could also go on with {join([self.names.short_entry(n) for n in more], limit=INLINE)}."
            )
        return found

    def _subject(self, answer: Answer, nodes: Sequence[TaskNode]) -> tuple[str, list[TaskNode]]:
        """The task that a question is about, in words, and the other tasks."""
        about = [self.graph[key] for key in answer.question.tasks if key in self.graph]
        name = join([self.names.full(node) for node in about])
        name = name or (the(answer.question.about) if nodes else "")
        return name, [node for node in nodes if node not in about]

    def _told_needs(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        name, others = self._subject(answer, nodes)
        if not name and not (others and not answer.question.about):
            return self._nothing(answer)
        if not others:
            return [sentence(f"{name} {'need' if plural(name) else 'needs'} nothing else")]
        inside = {
            node.id for key in answer.question.tasks if key in self.graph for node in self.graph.subtree(key)
        }
        if all(node.id in inside or not answer.question.tasks for node in others):
            return [self._waits(node) for node in others]
        marked = join([self._with_mark(node) for node in others], limit=MANY)
        return [sentence(f"{name} {'need' if plural(name) else 'needs'} {marked}"), *self._ready(answer)]

    def _ready(self, answer: Answer) -> list[str]:
        """Whether the one task that was asked about can begin, where it waits for tasks at all."""
        asked = [self.graph[key] for key in answer.question.tasks if key in self.graph]
        if len(asked) != 1 or asked[0].status != "open" or not asked[0].depends_on:
            return []
        waits = [self.names.full(other) for other in self.graph.waits_for(asked[0].id)]
        if waits:
            return [f"It still waits for {join(waits, limit=INLINE)}."]
        needed = [self.graph[key] for key in asked[0].depends_on]
        done = all(node.value is None and node.status == "done" for node in needed)
        return ["It waits for nothing any more."] if done else []

    def _waits(self, node: TaskNode) -> str:
        """'The varnish waits for the pump.'."""
        told = join([self.names.full(other) for other in self.graph.waits_for(node.id)], limit=INLINE)
        name = self.names.full(node)
        return sentence(f"{name} {'wait' if plural(name) else 'waits'} for {told}")

    def _with_mark(self, node: TaskNode) -> str:
        """'the boards (open)', '"sand the fence" (done)'."""
        name = self.names.with_value(node)
        return f"{name} ({STATUS[node.status]})" if node.status in ("open", "done") else name

    def _told_dependents(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        name, others = self._subject(answer, nodes)
        if not name:
            return self._nothing(answer)
        if not others:
            return [f"Nothing depends on {name}."]
        told = join([self.names.full(node) for node in others], limit=MANY)
        depend = "depend" if len(others) > 1 or plural(told) else "depends"
        return [sentence(f"{told} {depend} on {name}")]

    def _told_count(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        about = answer.question.about
        if answer.question.value == "parts":
            return self._told_parts(answer, nodes)
        asked = self._asked(answer)
        parts = [part for one in asked for part in self.graph.parts(one.id)]
        countable = any(part.value is None or self.names.is_member(part) for part in parts)
        if len(asked) == 1 and not countable and (so_far := self.names.so_far(asked[0])):
            return [sentence(f"{self.names.full(asked[0])}: {so_far}")]
        if len(nodes) == 1 and re.search(r"\d", nodes[0].value or ""):
            return [self.names.state(nodes[0])]
        if len(nodes) == 1 and (inside := self.graph.parts(nodes[0].id)):
            nodes = list(inside)
        if not nodes and (held := [node for node in asked if node.value]):
            return [self.names.state(node) for node in held]  # 'how many tags': the task holds the number
        if not nodes:
            return [f"None: I have nothing about {quoted(about, 60)}." if about else "None."]
        told = join([self.names.short_entry(node) for node in nodes], limit=INLINE)
        return [f"{len(nodes)}: {told}."]

    def _told_parts(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        """How many parts there are of what was split once."""
        whole = self._asked(answer)[0]
        if nodes == [whole]:
            contents = self.names.contents(whole)
            return [sentence(f"one: {the(title_of(whole))}{f' ({series(contents)})' if contents else ''}")]
        number = NUMBERS[len(nodes)] if len(nodes) < len(NUMBERS) else str(len(nodes))
        return [sentence(f"{number}: {series([self.names.entry(node) for node in nodes])}")]

    def _told_status(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        state = answer.question.value or ""
        if state in _ALL_IN:
            return self._told_state(state, nodes)
        if not nodes:
            return self._nothing(answer)
        if state.startswith("is ") and answer.verdict is not None:
            return self._told_supposed(answer.verdict, nodes)
        if len(nodes) > INLINE:
            return self._listing("", nodes)
        found, plain = [], len(nodes) == 1 and not answer.question.value
        for node in nodes:
            name = self.names.full(node)
            if plain and node.status == "open" and node.parent is None and self.graph.parts(node.id):
                found.append(self.names.state(node))
                continue
            if node.stale_since is not None:
                found.append(self._freshness(node))
                continue
            opening = {"done": "Yes, ", "open": "Not yet: "}.get(node.status, "") if plain else ""
            if node.status in ("done", "open"):
                held = "" if node.value is None or same(node.value, node.title) else value_of(node)
                held = ", ".join(filter(None, [held, self.names.so_far(node)]))
                value = f" ({held})" if held else ""
                waits = [self.names.full(other) for other in self.graph.waits_for(node.id)]
                wait = (
                    f"; it waits for {join(waits, limit=INLINE)}" if waits and node.status == "open" else ""
                )
                still = " still" if node.status == "open" else ""
                told = f"{opening}{name} {be(name)}{still} {STATUS[node.status]}{value}{wait}"
                found.append(sentence(told))
            else:
                found.append(self.names.state(node))
        return found

    def _told_state(self, state: str, nodes: list[TaskNode]) -> list[str]:
        """All that is done, removed, on hold or open."""
        if not nodes:
            return [f"Nothing {_ALL_IN[state][1]}."]
        told = [
            f"{self.names.short_entry(node)} (turn {node.turn})"
            if state == "removed"
            else self.names.short_entry(node)
            for node in self.names.tops(nodes)
        ]
        if len(told) > INLINE:
            return [f"{_ALL_IN[state][0]} ({len(told)}):", bullets(told)]
        return [f"{_ALL_IN[state][0]}: {join(told)}."]

    def _told_supposed(self, verdict: Verdict, nodes: list[TaskNode]) -> list[str]:
        """Whether tasks are in the state that is supposed: 'No, dark mode is done.'."""
        agreed = verdict.kind == "holds"
        if verdict.claimed in ("stale", "current"):
            told = [self._freshness(node) for node in nodes[:INLINE]]
            return [f"{'Yes' if agreed else 'No'}, {told[0][:1].lower()}{told[0][1:]}", *told[1:]]
        found = []
        for node in nodes[:INLINE]:
            name = self.names.full(node)
            value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
            if node.status in ("done", "open") and not (agreed and verdict.claimed == "active"):
                still = " still" if node.status == "open" else ""
                waits = [self.names.full(other) for other in self.graph.waits_for(node.id)]
                wait = f"; it waits for {join(waits, limit=INLINE)}" if waits and still else ""
                found.append(f"{name} {be(name)}{still} {STATUS[node.status]}{value}{wait}")
            elif node.active:
                found.append(f"{name} {be(name)} in the plan{value}")
            else:
                end = "put on hold" if node.status == "inactive" else "removed from the plan"
                found.append(f"{self.names.with_value(node)} {be(name, past=True)} {end} in turn {node.turn}")
        return [sentence(f"{'Yes' if agreed else 'No'}, {found[0]}"), *map(sentence, found[1:])]

    def _freshness(self, node: TaskNode) -> str:
        """Whether what a task rests on is as it was when it came to what it is."""
        name = self.names.full(node)
        value = "" if node.value is None or same(node.value, node.title) else f" ({value_of(node)})"
        if node.stale_since is None:
            return sentence(f"{name} {be(name)} up to date{value}")
        causes = [self.graph[key] for key in node.depends_on if key in self.graph]
        changed = [one for one in causes if one.turn == node.stale_since or one.stale_since is not None]
        why = join([self.names.full(one) for one in changed], limit=INLINE) or "something it depends on"
        return sentence(f"{name} {be(name)} out of date{value}: {why} changed in turn {node.stale_since}")

    def _told_history(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        """What a task was, state by state."""
        if not nodes:
            return self._nothing(answer)
        found = []
        for node in nodes[:INLINE]:
            states = [state for state in node.states() if state.op not in _MARKS]
            told: list[str] = []
            for state, following in zip(states, [*states[1:], None], strict=True):
                if following is None or (state.value, state.status) != (following.value, following.status):
                    told.append(self._past(state, last=following is None))
            entries = told[-INLINE:]
            turn, said = _reason(node)
            words = f" (in turn {turn} you said: {quoted(said, 120)})" if said and len(states) > 1 else ""
            found.append(sentence(f"{self.names.full(node)}: {', '.join(entries)}{words}"))
        return found

    def _past(self, state: Revision, *, last: bool) -> str:
        """One state of a task in a narration: 'it was Lyon (turn 2)', 'it is Paris (since turn 6)'."""
        value = clip(state.value) if state.value is not None and state.active else STATUS[state.status]
        return (
            f"now it is {value} (since turn {state.turn})" if last else f"it was {value} (turn {state.turn})"
        )

    def _told_before(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        """What a task was before it was what it is."""
        asked = [self.graph[key] for key in answer.question.tasks if key in self.graph]
        if len(asked) > 1:
            return self._told_group_before(asked)
        found = []
        for node in nodes:
            former = former_values(node)
            name = self.names.full(node)
            if not former and (gone := self._predecessors(node)):
                found.append(self._gave_way(node, gone))
                continue
            if not former:
                if node.value is not None and node.active and (began := self._began_before(node)):
                    found += began
                elif node.value is not None and node.active:
                    found.append(sentence(f"{name} {be(name)} {value_of(node)} and has not been changed"))
                else:
                    found.append(sentence(f"{name} had no other value before"))
                continue
            history = ", and then it was ".join(
                f"{clip(value)} (turn {turn})" for value, turn in former[-INLINE:]
            )
            if node.value is None or self.names.is_member(node):
                values = ", then ".join(
                    f"{clip(value)} (from turn {turn})" for value, turn in former[-INLINE:]
                )
                now = clip(told(node)) if node.active else STATUS[node.status]
                found.append(sentence(f"it was {values}; now it is {now}"))
                continue
            now = value_of(node) if node.active else STATUS[node.status]
            found.append(sentence(f"{name} {be(name, past=True)} {history}; now it is {now}"))
        if not found and answer.verdict is not None:
            return self._told_claim(answer, nodes)
        return found or self._nothing(answer)

    def _told_group_before(self, nodes: Sequence[TaskNode]) -> list[str]:
        """What several tasks were at first, and what they are."""
        begun = min(node.states()[0].turn for node in nodes)
        first = [told(node.states()[0]) for node in nodes if node.states()[0].turn == begun]
        now = [told(node) for node in nodes if node.active]
        if first == now:
            return [sentence(f"it has not been changed: {join(map(clip, now), limit=MANY)}")]
        at_first = f"at first (turn {begun}) it was {join(map(clip, first), limit=MANY)}"
        return [sentence(f"{at_first}; now it is {join(map(clip, now), limit=MANY)}" if now else at_first)]

    def _began_before(self, node: TaskNode) -> list[str]:
        """Of a value that came later than its whole: since when it is so, and what the user began with."""
        first, whole = node.states()[0], self.graph.root(node.id).states()[0]
        if first.turn <= whole.turn or not whole.said:
            return []
        name = self.names.full(node)
        since = sentence(
            f"{name} {be(name)} {clip(node.value or '')} since turn {first.turn}, and was not set before"
        )
        return [since, f"In turn {whole.turn} you said: {quoted(whole.said, 120)}."]

    def _predecessors(self, node: TaskNode) -> list[TaskNode]:
        """What left the plan beside a task in the turn in which the task came."""
        begun = node.states()[0].turn
        beside = self.graph.parts(node.parent, gone=True)
        return [
            other
            for other in beside
            if not other.active and other.turn == begun and other.states()[0].turn < begun
        ]

    def _gave_way(self, node: TaskNode, gone: Sequence[TaskNode]) -> str:
        """'Before that, it was the solar panel (removed in turn 5); now it is the battery pack.'."""
        former = join([clip(other.value or other.title) for other in gone], limit=INLINE)
        return sentence(f"before turn {node.states()[0].turn} it was {former}; now it is {clip(told(node))}")

    def _told_why(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        """The words that brought it about, and what came before."""
        verdict = answer.verdict
        if not nodes and verdict is not None and verdict.task:
            nodes = [self.graph[verdict.task]]
        if not nodes:
            return self._nothing(answer)
        wanted = answer.question.value or (verdict.claimed if verdict else "") or ""
        if not wanted and (waiting := [node for node in nodes if self.graph.waits_for(node.id)]):
            return [piece for node in waiting for piece in self._why_waiting(node)]
        node = self._cause_of(nodes, wanted)
        events = [event for event in answer.events if event.op not in _MARKS and not wanted]
        turn, said = (events[-1].turn, events[-1].said) if events else _reason(node)
        if verdict is not None and verdict.said:
            turn, said = verdict.until or verdict.since or turn, verdict.said
        found = [f"It has been so since turn {turn}."]
        if said:
            found = [f"Because in turn {turn} you said: {quoted(said, 120)}."]
        whole = self._split_whole(nodes)
        if whole is not None:
            return [*found, *self._split_story(whole)]
        if node.active and (former := former_values(node)):
            if node.value is None:
                return [
                    *found,
                    sentence(f"it is {clip(node.title)} now; before that, it was {clip(former[-1][0])}"),
                ]
            name, value = self.names.full(node), clip(node.value)
            was = be(name, past=True)
            found.append(
                sentence(f"{name} {be(name)} {value} now; before that, it {was} {clip(former[-1][0])}")
            )
        else:
            found.append(self.names.state(node))
        return found

    def _why_waiting(self, node: TaskNode) -> list[str]:
        """What a task waits for, and the words that made it wait."""
        linked = next((state for state in reversed(node.states()) if state.op == "link"), node.states()[0])
        return [self._waits(node), sentence(f"in turn {linked.turn} you said: {quoted(linked.said, 120)}")]

    def _cause_of(self, nodes: Sequence[TaskNode], wanted: str) -> TaskNode:
        """The task among them that a 'why' is about: the one with the value, else the one changed last."""
        inside = [part for node in nodes for part in self.graph.subtree(node.id, gone=True)]
        named = [
            node for node in inside if wanted and (names(wanted, node.value) or names(wanted, node.title))
        ]
        if named:
            return named[0]
        if nodes[0].value is not None or not self.graph.parts(nodes[0].id):
            return nodes[0]
        return max(inside, key=lambda node: (_reason(node)[0], node.active))

    def _split_whole(self, nodes: Sequence[TaskNode]) -> TaskNode | None:
        """The task among them, or over them, that was split once."""
        for node in nodes:
            for whole in (node, *self.graph.ancestors(node.id)):
                if any(is_part(part) for part in self.graph.parts(whole.id, gone=True)):
                    return whole
        return None

    def _split_story(self, whole: TaskNode) -> list[str]:
        """'It is one meeting now: ... It was split into 2 in turn 3 and merged again in turn 4.'."""
        parts = [part for part in self.graph.parts(whole.id, gone=True) if is_part(part)]
        name = title_of(whole)
        split = min(part.states()[0].turn for part in parts)
        contents = series(self.names.contents(whole))
        if any(part.active for part in parts):
            return [sentence(f"{the(name)} was split in turn {split}: {contents}")]
        merged = max(part.turn for part in parts)
        one = f"It is one {name} now" + (f": {contents}" if contents else "")
        return [
            f"{one}.",
            f"It was split into {len(parts)} in turn {split} and merged again in turn {merged}.",
        ]

    # ---- verdicts -----------------------------------------------------------------------------

    def _told_claim(self, answer: Answer, nodes: list[TaskNode]) -> list[str]:
        verdict = answer.verdict
        if verdict is None:
            return [self.names.state(node) for node in nodes[:INLINE]] if nodes else self._nothing(answer)
        if answer.question.act is not None:
            return self._act_verdict(answer, verdict)
        tell = {"holds": self._holds, "was": self._was, "never": self._never, "unknown": self._unknown}
        return tell[verdict.kind](answer, verdict)

    def _about(self, answer: Answer, verdict: Verdict) -> tuple[TaskNode | None, TaskNode | None]:
        """The task and the container that a verdict is about."""
        node = self.graph.get(verdict.task) if verdict.task else None
        key = answer.question.container
        container = self.graph.get(key) if key else None
        if container is node:
            node = None if container is not None else node
        return node, container

    def _part_of(self, answer: Answer, verdict: Verdict) -> str:
        """' in the soup', ' as the start', or nothing."""
        node, container = self._about(answer, verdict)
        if container is not None:
            return f" in {the(title_of(container))}"
        if node is not None and not names(verdict.claimed, node.title) and not self.names.is_member(node):
            return f" {'as' if node.value is not None else 'for'} {the(title_of(node))}"
        return ""

    def _now(self, answer: Answer, verdict: Verdict) -> str:
        """'it is Chicago', or nothing where that cannot be said."""
        now = verdict.now or ""
        node, container = self._about(answer, verdict)
        if not now and node is not None and node.active and not names(verdict.claimed, node.value):
            now = node.value or ""
        if not now:
            return ""
        return f"there is {clip(now)}" if container is not None else f"it is {clip(now)}"

    def _since_the_start(self, answer: Answer, verdict: Verdict) -> list[str]:
        """What was there before something that is supposed to have been so from the start, or nothing."""
        node = self.graph.get(verdict.task) if verdict.task else None
        if node is None or not verdict.since or not answer.question.about.endswith("from the start"):
            return []
        former = [state for state in node.states() if state.turn < verdict.since and state.active]
        before = [clip(told(former[-1]))] if former else [clip(told(n)) for n in self._predecessors(node)]
        whole = self.graph.get(answer.question.container or node.parent or "")
        if not before and (whole is None or whole.states()[0].turn >= verdict.since):
            return []
        claimed = clip(verdict.claimed)
        only = f"No, not from the start: {claimed} came in turn {verdict.since}"
        return [sentence(f"{only}; before that it was {join(before)}" if before else only)]

    def _holds(self, answer: Answer, verdict: Verdict) -> list[str]:
        if late := self._since_the_start(answer, verdict):
            return late
        claimed = clip(verdict.claimed)
        node, container = self._about(answer, verdict)
        if container is not None:
            told = f"{claimed} {be(claimed)} in {the(title_of(container))}"
        elif node is not None and node.value is not None and not names(verdict.claimed, node.title):
            told = f"{self.names.full(node)} {be(self.names.full(node))} {clip(node.value)}"
        elif node is not None:
            told = self.names.state(node).rstrip(".")
            told = told[0].lower() + told[1:] if told.startswith("The ") else told
        else:
            told = f"{claimed} is what I have" if claimed else "that is how it is"
        opening = "It is: " if answer.question.denied else pick(("Yes, ", "Yes, that's right: "), claimed)
        since = f" (since turn {verdict.since})" if verdict.since else ""
        return [sentence(f"{opening}{told}{since}")]

    def _was(self, answer: Answer, verdict: Verdict) -> list[str]:
        claimed, place = clip(verdict.claimed), self._part_of(answer, verdict)
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
            end = f"{turn} it was {self._ended(verdict)}" if verdict.op or verdict.replaced_by else ""
            return [sentence("; ".join(filter(None, [f"{what}{since}", end])) + said)]
        until = f" to turn {verdict.until}" if verdict.until else ""
        opening = pick(("Yes, ", "Yes: "), claimed) if answer.question.kind == "ever" else "Not any more: "
        now = self._now(answer, verdict)
        if not now or answer.question.container:
            return [sentence(f"{opening}{what}{since}{until}, when it was {self._ended(verdict)}{said}")]
        return [sentence(f"{opening}{what}{since}{until}; since then {now}{said}")]

    def _ended(self, verdict: Verdict) -> str:
        """How something that was so came to its end."""
        if verdict.replaced_by:
            return f"replaced with {clip(verdict.replaced_by)}"
        return {"remove": "removed", "inactivate": "put on hold", "undo": "undone"}.get(
            verdict.op or "", "changed"
        )

    def _never(self, answer: Answer, verdict: Verdict) -> list[str]:
        claimed, place = clip(verdict.claimed), self._part_of(answer, verdict)
        about = self.graph.get(verdict.task) if verdict.task else None
        now = "" if about is not None and about.value is None else self._now(answer, verdict)
        if answer.question.denied:
            end = f"; {now}" if now else ""
            return [sentence(f"Right, there is no record of {claimed}{place}{end}")]
        elsewhere = [n for n in self.graph.active if verdict.since and names(verdict.claimed, told(n))]
        if elsewhere:
            denial = f"No, {claimed} was never {place.strip() or 'that'}{f': {now}' if now else ''}"
            return [sentence(denial), *(self.names.state(node) for node in elsewhere[:3])]
        if verdict.since and verdict.said:  # never in the plan, only in the talk
            mention = f"you mentioned it in turn {verdict.since}: {quoted(verdict.said)}"
            if now:
                return [sentence(f"No, I have no record of {claimed}{place}: {now}; {mention}")]
            return [sentence(f"{claimed} is not in the plan, but {mention}")]
        if now:
            return [sentence(f"No, I have no record of {claimed or 'that'}{place}: {now}")]
        node = self.graph.get(verdict.task) if verdict.task else None
        told_of = [self.names.state(node)] if node is not None else []
        return [sentence(f"No, I have no record of {claimed or 'that'}{place}"), *told_of]

    def _unknown(self, answer: Answer, verdict: Verdict) -> list[str]:
        about = answer.question.about or verdict.claimed or answer.question.value or ""
        told = f"of {quoted(about, 60)}" if about else "of that"
        return [f"I have no record {told}.", *self._nothing(answer)[1:]]

    def _act_verdict(self, answer: Answer, verdict: Verdict) -> list[str]:
        """Whether something was ever asked for."""
        agreed = verdict.kind in ("holds", "was")
        if agreed:
            when = f" in turn {verdict.since}" if verdict.since else ""
            said = f": {quoted(verdict.said)}" if verdict.said else ""
            return [sentence(f"{'You did' if answer.question.denied else 'Yes, you did'}{when}{said}")]
        opening = f"{'Right' if answer.question.denied else 'No'}, there is no record of that"
        claimed = clip(verdict.claimed)
        place = self._part_of(answer, verdict)
        if claimed and (verdict.replaced_by or (verdict.until and verdict.op)):
            when = f" in turn {verdict.until}" if verdict.until else ""
            return [sentence(f"{opening}; {claimed} was {self._ended(verdict)}{when}")]
        now = self._now(answer, verdict)
        if now and not names(verdict.claimed, now):
            return [sentence(f"{opening}; {now}")]
        return [sentence(opening if not claimed or not place else f"{opening} ({claimed}{place})")]


_MARKS = frozenset({"stale", "link", "unlink"})
"""Operations that change what a task rests on, not what it is."""

_ALL_IN = {
    "done": ("Done so far", "is done yet"), "removed": ("Removed from the plan", "was removed from the plan"),
    "inactive": ("On hold", "is on hold"), "open": ("Still open", "is open"),
    "stale": ("Out of date", "is out of date"), "current": ("Up to date", "is up to date"),
}  # fmt: skip
"""How to tell all that is in a state, and that nothing is."""

_PRESENT = frozenset({"list", "summary", "left", "next", "needs", "dependents", "count"})
"""Kinds of question that only a task of the plan has an answer to."""

_BESIDE = (_PRESENT - {"count"}) | {"history"}
"""Kinds of question that may suppose something beside what they ask for."""

_ANSWERS: dict[str, Callable[[Answers, Answer, list[TaskNode]], list[str]]] = {
    "value": Answers._told_value,
    "list": Answers._told_list,
    "summary": Answers._told_summary,
    "left": Answers._told_left,
    "next": Answers._told_next,
    "needs": Answers._told_needs,
    "dependents": Answers._told_dependents,
    "claim": Answers._told_claim,
    "ever": Answers._told_claim,
    "before": Answers._told_before,
    "why": Answers._told_why,
    "history": Answers._told_history,
    "count": Answers._told_count,
    "status": Answers._told_status,
}


def former_values(node: TaskNode) -> list[tuple[str, int]]:
    """The values a task had before the one it has, with the turn that each came with, oldest first."""
    found: list[tuple[str, int]] = []
    titled = all(state.value is None or same(state.value, state.title) for state in node.states())
    for state in node.states():
        value = told(state) if titled else state.value
        if value is not None and (not found or found[-1][0] != value):
            found.append((value, state.turn))
    if found and node.active and found[-1][0] == (told(node) if titled else node.value):
        found.pop()
    return found


def _reason(node: TaskNode) -> tuple[int, str]:
    """The turn and the words that made a task what it is; what only marked it does not count."""
    states = [state for state in node.states() if state.op not in _MARKS] or [node]
    return states[-1].turn, states[-1].said
