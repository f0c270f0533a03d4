"""What a clause is about where it names nothing, or in words that no title has: what words only hint at.

Words of the clause itself that are not marked, what the message named before a pronoun, and what was said
when a task came into the plan or changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taskloom.agent.language import values
from taskloom.agent.language.typed import kind_of, names_a_type
from taskloom.agent.plan.held import tasks_named, tasks_told_by
from taskloom.agent.plan.roles import is_slot
from taskloom.agent.plan.topic import kind_held, share_named
from taskloom.agent.turn.clauses import Clause, Mention
from taskloom.agent.turn.steps import Step
from taskloom.memory.tasks import TaskNode
from taskloom.memory.words import word_set, words

from .joining import Joining
from .plain import one, words_outside
from .scoring import POINTING, bare, content

_THERE = ("set", "shift", "done", "hold", "remove", "reopen")  # acts on what is in the plan
_CANCELLED = re.compile(r"\b(?:cancel\w*|call\w* \S* ?off)\b", re.IGNORECASE)
_SEVERAL = word_set("both all each every")
_OF_PLANS = ("set", "shift", "reopen")  # of these a plan is meant as a whole
_COUNTED = re.compile(r"\s*(\S+)\s+((?:[^\W\d]|[ '’-])+)")
_SUBJECTS = word_set("i we you he she it they this that")


class Hinting(Joining):
    """Tasks that are meant without their names; said: the message. steps: what was done so far."""

    said: str
    steps: list[Step]

    def resolve(
        self, mention: str, *, slots: bool = False, gone: bool | None = False, within: TaskNode | None = None
    ) -> TaskNode | None:
        """As `Resolver.resolve`; what no title has is what was spoken of in these words."""
        found = super().resolve(mention, slots=slots, gone=gone, within=within)
        clause, there = self.clause, found is not None or gone is not False
        if there or clause is None or clause.act not in _THERE:
            return found
        named = mention in [bare(span.text) for span in clause.all("T")]
        return self._told_in(mention) if named else None

    def _told_in(self, mention: str) -> TaskNode | None:
        """The task that came or changed by sentences with all words of a mention; None where several did.

        'The phone' of 'one bouncy castle, that's Barry, his phone is 0117'.
        """
        if mention.lower().split()[0] in _SEVERAL:
            return None
        clause = self.clause
        act = clause.act if clause is not None else ""
        if act in ("remove", "hold", "done"):  # what has left is no name of what came with it
            left = self.best(mention, gone=True)
            if left is not None and left.named > 0.99:
                return None
        told = {
            self.task_of(node).id
            for node in tasks_told_by(self.graph, content(mention), before=self.view.turn)
            if act != "done" or self.task_of(node).status == "open"
        }
        tops = [
            key for key in told if not any(above.id in told for above in self.graph.ancestors(key))
        ]  # fmt: skip
        found = self.graph[tops[0]] if len(tops) == 1 else None
        whole = found is not None and found.parent is None and bool(self.listed(found))
        if whole and (act not in _OF_PLANS or (act == "set" and clause is not None and not clause.all("SO"))):
            return None  # 'Poppy is a camel' is no value of the whole play
        return found

    def _in_other_words(self, clause: Clause) -> TaskNode | None:
        """The one open task whose title a clause has most of, in the plan that is spoken of if there.

        Where it has a part of one, that of which the exchange before has the rest: 'posted' of the parcel.
        """
        said, topic = set(content(clause.text)), self.topic()
        root = self.graph.root(topic.id).id if topic is not None else None
        before = said | set(content(" ".join(self._last_exchange())))
        some = [node for node in tasks_named(self.graph, said) if node.status == "open"]
        for heard in (said, before):
            scored = [
                (share_named(node.title, heard), self.graph.root(node.id).id == root, node) for node in some
            ]
            most = max(((share, here) for share, here, _ in scored if share), default=None)
            best = [node for share, here, node in scored if (share, here) == most]
            if best:
                return best[0] if len(best) == 1 else None
        return None

    def _asked_last(self) -> TaskNode | None:
        """The one open task that the answer to a question named: 'No, the hotel is still open.'."""
        before, reply = self._last_exchange()
        heard = set(content(reply)) if before.rstrip().endswith("?") and not self.new else set[str]()
        named = [
            node for node in tasks_named(self.graph, heard)
            if node.status in ("open", "filled") and share_named(node.title, heard) > 0.99
            and not (is_slot(node) and names_a_type(node.title))
        ]  # fmt: skip
        return named[0] if len(named) == 1 else None

    def _last_exchange(self) -> tuple[str, str]:
        """The message before and the reply to it."""
        return self.view.exchanges[-1] if self.view.exchanges else ("", "")

    def _hinted(self, clause: Clause) -> TaskNode | None:
        """What leaves or rests where nothing, or only a pronoun, is marked: what the words before it name."""
        spans = clause.all("TIPVWSEXO")
        if not all(span.role in "TI" and set(bare(span.text).lower().split()) <= POINTING for span in spans):
            return None
        return self._named_before(clause) if spans else self._in_other_words(clause)

    def _named_before(self, clause: Clause) -> TaskNode | None:
        """What the message named before a pronoun: the last in full, else the only part with a word of it.

        'The knee is a physio thing, take it off': the knee click. Neither what this message made nor a plan.
        """
        begins = max(self.said.find(clause.text), 0)
        spans = clause.all("TI")
        until = begins + (spans[0].start if spans else len(clause.text))
        stems = words(self.said[:until])
        heard = set(content(self.said[:until]))
        named = tasks_named(self.graph, heard)
        full = [node for node in named if set(content(node.title)) <= heard]
        parts = [node for node in named if node.parent is not None]
        found = _last_said(full, stems) if full else parts[0] if len(parts) == 1 else None
        if found is None or found.id in self.new or (found.parent is None and self.listed(found)):
            return None
        return found

    def called_off(self, node: TaskNode, clause: Clause) -> bool:
        """Whether what is cancelled is a day, by which a whole task may be meant: 'cancel saturday'."""
        named = set(content(one(clause, "TI"))) & set(content(node.title))
        timed = is_slot(node) and kind_held(node) in ("date", "time") and not named
        return timed and len(clause.mentions) == 1 and _CANCELLED.search(clause.text) is not None

    def by_thing(self, clause: Clause) -> Clause:
        """A clause of one value, 'make it 100 sausages', as about what it counts, where the plan has that."""
        spans = clause.all("VTSIWOXP")
        found = _COUNTED.fullmatch(spans[0].text) if len(spans) == 1 else None
        if found is None or values.number_of(found[1]) is None or kind_of(spans[0].text) is not None:
            return clause
        node, said = self.which(found[2], slots=True), set(content(found[2]))
        if node is None or not said <= set(content(f"{node.title} {node.value or ''}")):
            return clause
        number, thing = (
            Mention(role, found[at], start=spans[0].start + found.start(at))
            for at, role in ((1, "V"), (2, "T"))
        )
        return replace(clause, mentions=(number, thing))

    def subject_named(self, clause: Clause) -> TaskNode | None:
        """What the unmarked words before a value name in full: 'the balloons are in the boot'."""
        first = min(span.start for span in clause.all("VC"))
        lead = words_outside(clause, "PE")[:first].lower()
        if _SUBJECTS & set(re.findall(r"[a-z]+", lead)):
            return None  # 'Peter just called, they can only on Saturday'
        said = set(content(lead))
        named = [node for node in tasks_named(self.graph, said) if set(content(node.title)) <= said]
        return named[0] if len(named) == 1 else None


def _last_said(nodes: Sequence[TaskNode], stems: Sequence[str]) -> TaskNode:
    """The task whose title's words stand last; of such with the same end that with the longer title."""
    place = {word: number for number, word in enumerate(stems)}
    return max(
        nodes,
        key=lambda node: (max(place.get(word, -1) for word in content(node.title)), len(content(node.title))),
    )
