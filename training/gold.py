"""What a turn should do, against what it does: each turn alone, on the plan as it should be before it.

    python training/gold.py [--reader annotated] [--split test] [--author NAME] [--show 20] [--json]

The annotated changes are played as operations, so that every turn meets the right plan and the right reply
before it. A turn is right when all its changes are there, nothing else has changed and its answer has the
words it must have; it is asked about when nothing has changed and the assistant asks; else it is silently
wrong.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from datetime import datetime
from functools import lru_cache
from typing import Literal, TypeAlias

from lines import Change, Dialogue, Turn, load, path_key

from taskloom.agent.grounding.exact import ground_exactly
from taskloom.agent.grounding.resolving.assemble import assemble
from taskloom.agent.language.values import NUMBER_WORDS, number_of
from taskloom.agent.language.words import kind_name, singular, slot_name
from taskloom.agent.reading.heard import heard
from taskloom.agent.reading.local import Local
from taskloom.agent.reading.network import Packaged
from taskloom.agent.replying.templates import TemplateResponder
from taskloom.agent.turn.brief import Brief
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.reading import View
from taskloom.agent.turn.state import Change as Done
from taskloom.agent.turn.state import Turn as State
from taskloom.memory.claims import answer
from taskloom.memory.dag import reach
from taskloom.memory.operations import (
    Add,
    Check,
    Clarify,
    Complete,
    Inactivate,
    Link,
    Operation,
    Remove,
    Restore,
    Undo,
    Unlink,
    Update,
    apply,
    undoable,
)
from taskloom.memory.tasks import TaskGraph, TaskNode
from taskloom.memory.words import MONTHS, STOP, WEEKDAYS, words

Path_: TypeAlias = tuple[str, ...]
Outcome: TypeAlias = Literal["right", "asked", "wrong"]
Reader: TypeAlias = Callable[[Turn, View], Sequence[Operation]]
NOW = datetime(2026, 3, 2, 9)  # noqa: DTZ001


_PLAIN: dict[str, type[Remove | Inactivate | Restore | Complete]] = {
    "-": Remove, "%": Inactivate, "^": Restore, "x": Complete,
}  # fmt: skip


class Gold:
    """The plan as it should be, as a task graph; ids: of the task or slot that each path means.

    A path such as guests, which only ever has names below it, is the kind of its members, not a task.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.graph = TaskGraph()
        self.ids: dict[Path_, str] = {}
        self.turn = 0
        changes = [change for turn in dialogue.turns for change in turn.changes]
        self.kinds = _kinds(changes)

    def copy(self) -> Gold:
        """The same plan, to be played on."""
        made = copy(self)
        made.ids = dict(self.ids)
        return made

    def renamed(self, turn: Turn) -> Gold:
        """The same plan, where what a turn gives another name goes by that as well."""
        made = self.copy()
        for change in turn.changes:
            if change.op == "~":
                path, other = path_key(change.path), path_key(change.other)
                below = [key for key in self.ids if key[: len(path)] == path]
                made.ids |= {other + key[len(path) :]: self.ids[key] for key in below}
        return made

    def play(self, turn: Turn) -> None:
        """What a turn should do."""
        self.turn += 1
        if self._undone(turn):
            return
        for change in turn.changes:
            self._play(change, turn.text)

    def _undone(self, turn: Turn) -> bool:
        """Whether a turn that takes back the last one was played as that, so that it can be redone."""
        acts = {clause.act for clause in turn.clauses} - {"chat"}
        if acts != {"undo"} or any(change.op in "~+" for change in turn.changes):
            return False  # a path that moves keeps its task
        last = max((one for one in undoable(self.graph) if one < self.turn), default=None)
        if last is None:
            return False
        outcome = apply(self.graph, Undo(turn=last), turn=self.turn, said=turn.text)
        if outcome.refused is not None:
            return False
        explained = set[str]()
        so = [_is_so(change, self, outcome.graph, explained) for change in turn.changes]
        changed = {key for key, node in outcome.graph.items() if differs(self.graph.get(key), node)}
        if not all(so) or changed - explained - _follows(self.graph, outcome.graph, explained):
            return False
        self.graph = outcome.graph
        return True

    def _play(self, change: Change, said: str) -> None:
        path, other = path_key(change.path), path_key(change.other)
        if change.op in ("+", "="):
            for size in range(1, len(path) + 1):
                if path[:size] not in self.ids or size == len(path):
                    self._stand(change.path[:size], change.value if size == len(path) else "", said)
            return
        if (node := self.ids.get(path)) is None:
            return
        if change.op == "~":
            self._do(Update(task=node, title=change.other[-1]), said)
            for one in [one for one in self.ids if one[: len(path)] == path]:
                self.ids[other + one[len(path) :]] = self.ids.pop(one)
        elif change.op in ("@", "!@") and other in self.ids:
            kind = Link if change.op == "@" else Unlink
            self._do(kind(task=node, on=self.ids[other]), said)
        elif change.op == "o":
            self._do(Update(task=node, status="open"), said)
        elif path in self.kinds:  # all of a kind
            for one in [key for key in self.ids if key[:-1] == path]:
                self._do(_PLAIN[change.op](task=self.ids[one]), said)
        elif change.op in _PLAIN:
            self._do(_PLAIN[change.op](task=node), said)

    def _stand(self, path: Sequence[str], value: str, said: str) -> None:
        """A task, member or slot comes into the plan, or a slot has a new value."""
        key, parent = path_key(path), self.ids.get(path_key(path)[:-1])
        if key in self.kinds and not value:
            self.ids[key] = parent or ""
            return
        if (held := self.ids.get(key)) is not None:
            if not self.graph[held].active:
                self._do(Restore(task=held), said)
            if value:
                self._do(Update(task=held, value=value), said)
            return
        title = path[-1]
        if value and title.lower() == "who":
            title = "assignee"
        kind = singular(slot_name(path[-2])) if len(path) > 1 and key[:-1] in self.kinds else "task"
        base = slot_name(title) if value else kind if parent else kind_name(title)
        prefix = f"{self.graph[parent].slot}." if parent else ""
        taken = {node.slot for node in self.graph.values()}
        slot = next(
            name
            for name in (f"{prefix}{base}{number or ''}" for number in range(len(taken) + 2))
            if name not in taken
        )
        made = f"t{len(self.graph) + 1}"
        self._do(Add(slot=slot, title=title, value=value or None, parent=parent or None), said)
        if made in self.graph:
            self.ids[key] = made

    def _do(self, operation: Operation, said: str) -> None:
        self.graph = apply(self.graph, operation, turn=self.turn, said=said).graph


def _kinds(changes: Iterable[Change]) -> frozenset[Path_]:
    """The paths that are only the kind of what is below them: 'dinner > guests'."""
    changes = list(changes)
    above = {path_key(change.path)[:-1] for change in changes if change.op == "+" and len(change.path) > 2}
    own = {path_key(change.path)[:-1] for change in changes if change.op == "="}
    acted = {
        path_key(one) for change in changes if change.op not in "+-%^=" for one in (change.path, change.other)
    }
    plural = {path for path in above if singular(path[-1]) != path[-1]}
    return frozenset(plural - own - acted)


# ---- whether it is so -----------------------------------------------------------------------------


def judged(before: Gold, turn: Turn, ours: TaskGraph, operations: Sequence[Operation], reply: str) -> Outcome:
    """What became of a turn; before: the plan it met, ours: the graph that the operations left."""
    changed = {key for key, node in ours.items() if differs(before.graph.get(key), node)}
    asks = any(isinstance(one, Clarify) for one in operations) or reply.rstrip().endswith("?")
    if turn.asks_back and not turn.changes:
        return "right" if asks and not changed else "wrong"
    explained, before = set[str](), before.renamed(turn)
    good = all(
        _is_so(one, before, ours, explained) or _exchanged(one, turn, before, ours) for one in turn.changes
    )
    good = good and all(any(_mentions(one, reply) for one in answer.split("|")) for answer in turn.answers)
    extra = changed - explained - _follows(before.graph, ours, explained)
    if good and not extra and (asks or not turn.asks_back):
        return "right"
    return "asked" if asks and not changed else "wrong"


def differs(old: TaskNode | None, new: TaskNode) -> bool:
    """Whether a task changed in what a person sees of it; old: None where it is new."""
    if old is None:
        return new.active
    same = (old.value, old.title, old.active, old.status == "done") == (
        new.value,
        new.title,
        new.active,
        new.status == "done",
    )
    return not (same and set(old.depends_on) == set(new.depends_on))


def _follows(old: TaskGraph, new: TaskGraph, explained: set[str]) -> set[str]:
    """What changed because what it is part of, or its parts, changed as they should."""
    found = set[str]()
    for key in new:
        if key in old and old[key].active != new[key].active and _above(new, key) & explained:
            found.add(key)
        if key not in old and _above(new, key) & explained and new[key].title in ("assignee", "detail"):
            found.add(key)
        if key in old and (old[key].value, old[key].title, old[key].active) == (
            new[key].value,
            new[key].title,
            new[key].active,
        ):
            found.add(key)  # a prerequisite, or done with its whole
    return found


def _above(graph: TaskGraph, key: str) -> set[str]:
    return {node.id for node in graph.ancestors(key)}


def _is_so(change: Change, before: Gold, ours: TaskGraph, explained: set[str]) -> bool:
    path = path_key(change.path)
    held = ours.get(before.ids.get(path, ""))
    if change.op in ("+", "="):
        explained |= {
            node.id
            for node in ours.values()
            if node.id not in before.graph and any(alike(one, node.title) for one in change.path)
        }
    if change.op == "+":
        return _stands(change.path, before, ours, explained)
    if change.op == "=":
        return _has_value(change, before, ours, explained)
    if held is None:
        return change.op not in ("~", "x", "^")  # made in this very turn
    explained.add(held.id)
    if change.op in ("-", "%"):
        below = [before.ids[one] for one in before.ids if one[: len(path)] == path and one != path]
        explained |= set(below)
        kind = path in before.kinds
        return all(not ours[key].active for key in below if key in ours) if kind else not held.active
    if change.op == "^":
        return held.active
    if change.op in ("x", "o"):
        return (held.status == "done") == (change.op == "x")
    if change.op == "~":
        return alike(change.other[-1], held.title) or alike(change.other[-1], held.value or "")
    other = ours.get(before.ids.get(path_key(change.other), ""))
    linked = other is not None and other.id in reach(held.depends_on, lambda key: ours[key].depends_on)
    return other is None or linked == (change.op == "@")


def _exchanged(change: Change, turn: Turn, before: Gold, ours: TaskGraph) -> bool:
    """Whether what should leave has become what should come beside it: one thing in the place of another."""
    held = ours.get(before.ids.get(path_key(change.path), ""))
    if change.op != "-" or held is None or held.title == before.graph[held.id].title:
        return False
    beside = [
        one.path[len(change.path) - 1]
        for one in turn.changes
        if one.op in "+=" and len(one.path) >= len(change.path)
    ]
    return any(alike(one, held.title) for one in beside)


def _stands(path: Sequence[str], before: Gold, ours: TaskGraph, explained: set[str]) -> bool:
    if path_key(path) in before.kinds:
        return True
    inside = _under(path[:-1], before, ours)
    used = [ours[key] for node in inside for key in node.depends_on]  # what is shared is linked
    found = [
        node
        for node in (*inside, *used)
        if node.active and alike(path[-1], f"{node.title} {node.value or ''}")
    ]
    explained |= {
        node.id for node in found if node.id not in before.graph or not before.graph[node.id].active
    }
    return bool(found)


def _has_value(change: Change, before: Gold, ours: TaskGraph, explained: set[str]) -> bool:
    held = ours.get(before.ids.get(path_key(change.path), ""))
    if held is not None:
        explained.add(held.id)
        if held.active and says(change.value, f"{held.title} {held.value or ''}"):
            return True
    inside = _under(change.path[:-1], before, ours)
    found = [
        node for node in inside if node.active and says(change.value, f"{node.title} {node.value or ''}")
    ]
    if not found and held is None:
        found = _in_parts(change.value, [n for n in inside if differs(before.graph.get(n.id), n)])
    explained |= {node.id for node in found if differs(before.graph.get(node.id), node)}
    return bool(found) and (held is None or not held.active or held in found)


def _in_parts(value: str, nodes: Sequence[TaskNode]) -> list[TaskNode]:
    """The slots of one task that say a value together, each some of it: a date with an hour."""
    wanted = set(_content(_figures(value)))
    for owner in {node.parent for node in nodes}:
        found = [
            node
            for node in nodes
            if node.parent == owner and wanted & set(_content(_figures(node.value or "")))
        ]
        told = _content(_figures(" ".join(node.value or "" for node in found)))
        if len(found) > 1 and wanted <= told:
            return found
    return []


def _under(path: Sequence[str], before: Gold, ours: TaskGraph) -> list[TaskNode]:
    """The nodes at and below what a path means; where it is new, those that are like its last name.

    Where nothing new is like it, it is the order that the annotator put things in ('camp > kit > mat'): what
    is new or changed below the next name that stands counts as well.
    """
    if not path:
        return list(ours.values())
    key = before.ids.get(path_key(path), "")
    if key in ours:
        return list(ours.subtree(key))
    if path_key(path) in before.kinds:
        return _under(path[:-1], before, ours)
    tops = [node for node in ours.active if node.id not in before.graph and alike(path[-1], node.title)]
    if not tops and len(path) > 1:
        wider = _under(path[:-1], before, ours)
        return [node for node in wider if differs(before.graph.get(node.id), node)]
    return list({one.id: one for node in tops for one in ours.subtree(node.id)}.values())


def _content(text: str) -> frozenset[str]:
    return frozenset(words(text)) - STOP


def alike(name: str, text: str) -> bool:
    """Whether a text names something: half of the words of the shorter one."""
    one, other = _content(name), _content(text)
    if not one or not other:
        return bool(set(words(name)) & set(words(text)))
    return len(one & other) * 2 >= min(len(one), len(other))


def says(value: str, text: str) -> bool:
    """Whether a text says a value: all its numbers, and half of its other words.

    The user need not spell as the annotator: 'four' is 4, '32k' 32000, '7.30' 7:30; where there is
    a number, its month, half of the day or coin may be left out, as in what was said.
    """
    value, text = _figures(value), _figures(text)
    one, other = set(_content(value)) or set(words(value)), set(words(text))
    numbers = {word for word in one if any(sign.isdigit() for sign in word)}
    rest = one - numbers - (_UNSAID if numbers else set())
    return numbers <= other and len(rest & other) * 2 >= len(rest)


_ENDS = r"(?!\w)"
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_PAST = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_CLOCK = re.compile(rf"\b({'|'.join(_PAST)})(?: (past|to))? (\d{{1,2}}|{'|'.join(NUMBER_WORDS)})\b(?!:)")
_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_BELOW = rf"(?:(?:{_TENS})(?:[- ](?:{_UNITS}))?|{'|'.join(NUMBER_WORDS)})"
_COMPOSED = re.compile(rf"\b(?:(?:a|{_UNITS}) hundred(?: (?:and )?{_BELOW})?|(?:{_TENS})[- ](?:{_UNITS}))\b")
_DAY = re.compile(
    rf"(?<=\bthe )((?:twenty|thirty)[- ])?({'|'.join(_ORDINALS)})\b(?! [a-z])"
    rf"|\b((?:twenty|thirty)[- ])?({'|'.join(_ORDINALS)})\b(?= of\b)"
)
_UNSAID = set(words(" ".join(MONTHS) + " am pm pounds pound quid euro euros dollars dollar bucks"))


@lru_cache(maxsize=65536)
def _figures(text: str) -> str:
    """A text with its numbers in figures, each in one way."""
    text = re.sub(r"\b(\d+)[.h](\d\d)(?!\d)", r"\1:\2", text.lower())
    text = re.sub(r"\b(\d+(?:\.\d+)?)k\b", lambda found: f"{float(found[1]) * 1000:.0f}", text)
    for day in (*WEEKDAYS, *MONTHS):
        text = re.sub(rf"\b{day[:3]}(?:{day[3:]}|s|t|r|rs)?\b", day, text)
    text = _CLOCK.sub(_clock, text)
    text = re.sub(r"\b0(\d:\d\d)\b", r"\1", text)
    text = _COMPOSED.sub(lambda found: f"{number_of(found[0])}", text)
    text = _DAY.sub(_day, text)
    for word, number in NUMBER_WORDS.items():
        if number > 1:  # 'one' is a pronoun as well
            text = re.sub(rf"\b{word}\b", str(number), text)
    text = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", r"\1", text)
    return re.sub(r"(?<=\d)(?=[a-z])", " ", text)


def _day(found: re.Match[str]) -> str:
    """'the twenty-eighth' and 'twentieth of september' in figures."""
    tens, word = found[1] or found[3] or "", found[2] or found[4]
    return str(_ORDINALS.index(word) + 1 + (NUMBER_WORDS[tens.strip("- ")] if tens else 0))


def _clock(found: re.Match[str]) -> str:
    """'half seven' and 'half past seven' as 7:30, 'twenty to 8' as 7:40."""
    minutes, hour = _PAST[found[1]], int(NUMBER_WORDS.get(found[3]) or found[3])
    if hour > 24 or (found[2] is None and found[1] != "half"):
        return found[0]
    return f"{(hour - 1) or 12}:{60 - minutes}" if found[2] == "to" else f"{hour}:{minutes:02}"


def _mentions(expected: str, reply: str) -> bool:
    """Whether a reply has all of some words, parted by ' & '; 'no' and 'not' are no beginnings of others."""
    reply = _without_contractions(reply)
    return all(
        re.search(rf"(?<!\w){re.escape(one)}{_ENDS if one in ('no', 'not') else ''}", reply) is not None
        for one in _without_contractions(expected).split(" & ")
    )


def _without_contractions(text: str) -> str:
    text = re.sub(r"\b(?:can['’]t|cannot)\b", "can not", text.strip().lower())
    return re.sub(r"n['’]t\b", " not", text)


# ---- playing --------------------------------------------------------------------------------------


def annotated(turn: Turn, view: View) -> Sequence[Operation]:
    """A reader that reads as annotated: what is lost then is lost in grounding."""
    return assemble(clauses_of(turn), turn.text, view).operations


def clauses_of(turn: Turn) -> list[Clause]:
    """The clauses of a turn as annotated."""
    return [
        Clause(
            clause.act,
            turn.text[clause.start : clause.end],
            tuple(
                Mention(span.role, turn.text[span.start : span.end], span.pair, span.start - clause.start)
                for span in turn.spans
                if span.clause == number
            ),
        )
        for number, clause in enumerate(turn.clauses)
    ]


_NETWORK = Packaged()


def network(turn: Turn, view: View) -> Sequence[Operation]:
    """The network of the package."""
    return assemble(_NETWORK(turn.text, heard(view))[0].clauses, turn.text, view).operations


_LOCAL = Local(_NETWORK, vectors=_NETWORK.beside)


def both(turn: Turn, view: View) -> Sequence[Operation]:
    """The local reader as it is: what is most likely right, or a question."""
    return ground_exactly(_LOCAL.read(turn.text, view).steps, view)


READERS: dict[str, Reader] = {"local": both, "network": network, "annotated": annotated}


def met(dialogue: Dialogue) -> Iterator[tuple[Turn, View, Gold]]:
    """Each turn of a dialogue with the plan that it should meet."""
    gold, focus = Gold(dialogue), tuple[str, ...]()
    for number, turn in enumerate(dialogue.turns, 1):
        question = None
        if turn.before.endswith("?"):
            question = Clarify(question=re.split(r"(?<=[.!])\s", turn.before)[-1])
        before = dialogue.turns[number - 2].text if number > 1 else ""
        view = View(
            gold.graph, turn=number, focus=focus, question=question, now=NOW,
            exchanges=((before, turn.before),) if number > 1 else (),
        )  # fmt: skip
        yield turn, view, gold
        after = gold.copy()
        after.play(turn)
        moved = [key for key, node in after.graph.items() if differs(gold.graph.get(key), node)]
        focus = tuple(dict.fromkeys([*reversed(moved), *focus]))[:8]
        gold = after


def tried(turn: Turn, view: View, gold: Gold, operations: Sequence[Operation]) -> tuple[Outcome, str]:
    """What becomes of a turn by operations on the plan that it should meet, and the reply."""
    ours, done, answers = gold.graph, list[Done](), []
    for operation in operations:
        outcome = apply(ours, operation, turn=view.turn, said=turn.text)
        done.append(Done(operation=operation, changed=outcome.changed, refused=outcome.refused))
        if outcome.refused is None:
            ours = outcome.graph
        if isinstance(operation, Check):
            answers.append(answer(ours, operation.question))
    state = State(
        number=view.turn, utterance=turn.text, operations=tuple(operations), changes=tuple(done),
        answers=tuple(answers),
        question=next((one for one in operations if isinstance(one, Clarify)), None),
    )  # fmt: skip
    reply = "".join(
        TemplateResponder().respond(Brief(turn.text, ours, state, answers=tuple(answers), now=NOW))
    )
    return judged(gold, turn, ours, operations, reply), reply


def run(dialogue: Dialogue, read: Reader) -> list[tuple[Turn, Outcome, str]]:
    """Each turn of a dialogue with its outcome and the reply to it."""
    return [(turn, *tried(turn, view, gold, read(turn, view))) for turn, view, gold in met(dialogue)]


def main() -> int:
    """Print how many turns of a split hold with the local reader."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", choices=READERS, default="local", help="annotated: as a person read it")
    parser.add_argument("--split", default="test")
    parser.add_argument("--author", help="only this one")
    parser.add_argument("--dialogues", type=int, help="only so many")
    parser.add_argument("--show", type=int, default=0, help="how many silently wrong turns to print")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    args = parser.parse_args()
    chosen = [one for one in load(args.split) if args.author in (None, one.author)][: args.dialogues]
    found = [one for dialogue in chosen for one in run(dialogue, READERS[args.reader])]
    told = Counter(outcome for _, outcome, _ in found)
    total = max(sum(told.values()), 1)
    if args.json:
        print(json.dumps({"turns": total, **{name: told[name] for name in ("right", "asked", "wrong")}}))
    else:
        print(
            ", ".join(
                f"{name} {told[name]} ({told[name] / total:.1%})" for name in ("right", "asked", "wrong")
            )
        )
    for turn, _, reply in [one for one in found if one[1] == "wrong"][: args.show]:
        wanted = [f"{one.op} {' > '.join(one.path)} {one.value}".strip() for one in turn.changes]
        print(f"\n{turn.text}\n  {reply}\n  {'; '.join([*wanted, *turn.answers])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
