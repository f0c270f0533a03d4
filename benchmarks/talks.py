"""Made-up talks with exact truth, for `video.py`: who says what when, and what holds in the end.

A talk has three or four speakers and six or seven topics, which are opened, come back, and change their value
in plain words or by "no, make it ..."; between them stands talk that means nothing. Things that sound like a
topic ("the launch party" beside "the launch") have values of their own, values are turned down and asked
for, and one speaker repeats another. Questions are made from the same truth, in other words than the lines.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from wordings import Wording, wording_of

from taskloom.tools.video.lines import Line

NAMES = (
    "Ana",
    "Bob",
    "Carla",
    "Dmitri",
    "Elif",
    "Femi",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kaya",
    "Lucia",
    "Marek",
    "Nadia",
    "Omar",
    "Petra",
    "Tove",
    "Yusuf",
)
DATED = (
    "launch",
    "exhibition",
    "training",
    "audit",
    "summer party",
    "workshop",
    "inspection",
    "deadline",
    "trip",
    "concert",
)
PRICED = (
    "hall",
    "projector",
    "catering",
    "insurance",
    "printing",
    "bus",
    "license",
    "stage",
    "website",
    "tent",
)
COUNTED = (
    "chairs",
    "badges",
    "posters",
    "laptops",
    "volunteers",
    "tables",
    "helmets",
    "tickets",
    "boxes",
    "lamps",
)
DOES = (
    "book the hotel",
    "write the newsletter",
    "call the landlord",
    "repair the scanner",
    "order the flowers",
    "draft the contract",
    "test the alarm",
    "paint the fence",
    "renew the passes",
    "collect the keys",
)
NEVER = (
    "submarine",
    "trombone",
    "volcano",
    "lighthouse",
    "penguin",
    "telescope",
    "harvest",
    "carnival",
    "glacier",
    "windmill",
)
MODIFIED = {
    "launch": "launch party",
    "training": "training video",
    "audit": "audit report",
    "trip": "trip home",
    "concert": "concert poster",
    "hall": "hall heating",
    "bus": "bus stop",
    "stage": "stage light",
}
FILLER = (
    "Can everybody hear me?",
    "Yes, go on.",
    "I see.",
    "That sounds reasonable.",
    "Give me a second, please.",
    "Where were we?",
    "My screen is frozen again.",
    "Let me share the document.",
    "Somebody has to write this down.",
    "I agree with that.",
    "Not sure about that, but go ahead.",
    "We talked about this last week.",
    "Coffee first?",
    "The sound is better now.",
    "I will be quick.",
    "Sorry, I was muted.",
    "Good point.",
    "Next item, please.",
    "Let's come back to that later.",
    "That was not on my list.",
    "Does anybody object?",
    "Then we move on.",
)
COUNTS = ("twelve", "fifteen", "twenty", "thirty", "forty", "sixty", "eighty", "ninety")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True)
class Question:
    """kind: when, said, beside, count, revised or never. answer: a text that a right answer has; '' for none.

    wrong: texts that it must not have. at: the line that says so, by its place; None for none.
    """

    kind: str
    text: str
    answer: str = ""
    at: int | None = None
    wrong: tuple[str, ...] = ()


@dataclass
class Talk:
    """Lines in order of time, and questions on them."""

    lines: list[Line] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


@dataclass
class _Topic:
    """kind: date, price, count or does. values: one after the other, with the line of each."""

    kind: str
    name: str
    values: list[tuple[str, int]] = field(default_factory=list)


class _Maker:
    def __init__(self, seed: int, forms: Wording) -> None:
        self.forms = forms
        self.chance = random.Random(seed)
        self.talk = Talk()
        self.clock = self.chance.randint(500, 4000)
        self.people = self.chance.sample(NAMES, self.chance.choice((3, 3, 4)))

    def say(self, text: str, who: str | None = None) -> int:
        """One more line; its place."""
        last = self.talk.lines[-1].who if self.talk.lines else None
        who = who or self.chance.choice([one for one in self.people if one != last])
        takes = int(len(text.split()) * self.chance.uniform(300, 420)) + 300
        self.talk.lines.append(Line(self.clock, self.clock + takes, text, who))
        pause = self.chance.choice((200, 300, 500, 900, 1800, 4000))
        self.clock += takes + pause
        return len(self.talk.lines) - 1

    def value(self, kind: str, but: str = "") -> str:
        while True:
            if kind == "date":
                made = f"{self.chance.choice(MONTHS)} {self.chance.randint(1, 28)}"
            elif kind == "price":
                made = f"{self.chance.randint(2, 95) * 10} euros"
            else:
                made = self.chance.choice(COUNTS)
            if made.split()[0] not in but:
                return made

    def filler(self) -> None:
        for _ in range(self.chance.randint(1, 4)):
            self.say(self.chance.choice(FILLER))

    # ---- topics -----------------------------------------------------------------------------------

    def put(self, forms: list[str], **words: str) -> int:
        """One of some forms, filled in, as a line; its place."""
        text = self.chance.choice(forms).format(**words)
        return self.say(f"{text[:1].upper()}{text[1:]}")

    def opened(self, topic: _Topic) -> None:
        """A topic is named with its first value."""
        name = topic.name
        if topic.kind == "does":
            who = self.chance.choice(self.people)
            topic.values.append((who, self.say(self.chance.choice(self.forms.does).format(n=name), who)))
            return
        value = self.value(topic.kind)
        if self.chance.random() < 0.3:
            asked = {"date": "When is the {n}?", "price": "What does the {n} cost?", "count": "How many {n}?"}
            self.put([asked[topic.kind]], n=name)
        topic.values.append((value, self.put(self.forms.opened[topic.kind], n=name, v=value)))
        if name in MODIFIED and self.chance.random() < 0.6:
            other = self.value(topic.kind, value)
            form = {"date": "The {n} is on {v}.", "price": "The {n} costs {v}."}[topic.kind]
            self.put([form], n=MODIFIED[name], v=other)

    def changed(self, topic: _Topic) -> None:
        """A topic comes back with another value."""
        name, old = topic.name, topic.values[-1][0]
        value = self.value(topic.kind, " ".join(one for one, _ in topic.values))
        if self.chance.random() < 0.5:
            topic.values.append((value, self.put(self.forms.changed[topic.kind], n=name, v=value)))
            return
        self.put(self.forms.again[topic.kind], n=name, v=old)
        if self.chance.random() < 0.4:
            self.put(self.forms.refused[topic.kind], v=self.value(topic.kind, f"{old} {value}"))
        topic.values.append((value, self.put(self.forms.short, v=value)))

    def make(self) -> Talk:
        """The whole talk with ten questions."""
        pick = self.chance.sample
        topics = [
            *(_Topic("date", name) for name in pick(DATED, 2)),
            *(_Topic("price", name) for name in pick(PRICED, 2)),
            *(_Topic("count", name) for name in pick(COUNTED, 1)),
            *(_Topic("does", name) for name in pick(DOES, 2)),
        ]
        self.chance.shuffle(topics)
        self.filler()
        for topic in topics:
            self.opened(topic)
            self.filler()
        revised = [topic for topic in topics if topic.kind != "does"]
        for topic in self.chance.sample(revised, 4) + self.chance.sample(revised, 1):
            self.changed(topic)
            self.filler()
        self._ask(topics)
        return self.talk

    # ---- questions --------------------------------------------------------------------------------

    def _ask(self, topics: list[_Topic]) -> None:
        changed = [topic for topic in topics if len(topic.values) > 1]
        does = [topic for topic in topics if topic.kind == "does"]
        for topic in self.chance.sample(changed, 3):
            (value, at), former = topic.values[-1], tuple(one for one, _ in topic.values[:-1])
            self._add("revised", self.forms.revised[topic.kind], value, at, former, n=topic.name)
        for topic in does:
            self._add("said", self.forms.said, *topic.values[0], n=topic.name)
        head = self.head(self.chance.choice(topics))
        first = next(n for n, line in enumerate(self.talk.lines) if head in line.text)
        self._add("when", self.forms.when, "", first, n=head)
        self._ask_beside(self.chance.choice(does))
        self._ask_count(self.head(self.chance.choice(topics)))
        for thing in self.chance.sample(NEVER, 2):
            self._add("never", self.forms.never, w=self.chance.choice(self.people), n=thing)

    def head(self, topic: _Topic) -> str:
        """What a topic is about, in the words that name it in every line."""
        return topic.name if topic.kind != "does" else topic.name.split()[-1]

    def _ask_beside(self, topic: _Topic) -> None:
        who, at = topic.values[0]
        after = self.chance.random() < 0.5 and at + 1 < len(self.talk.lines)
        place, side = (at + 1, "right after") if after else (at - 1, "just before")
        self._add(
            "beside", self.forms.beside, self.talk.lines[place].text, place, n=topic.name, w=who, side=side
        )

    def _ask_count(self, head: str) -> None:
        if self.chance.random() < 0.3:
            self._add("count", self.forms.speakers, str(len({line.who for line in self.talk.lines})))
            return
        who = self.chance.choice([line.who or "" for line in self.talk.lines if head in line.text])
        many = sum(head in line.text for line in self.talk.lines if line.who == who)
        self._add("count", self.forms.count, str(many), w=who, n=head)

    def _add(
        self,
        kind: str,
        forms: list[str],
        answer: str = "",
        at: int | None = None,
        wrong: tuple[str, ...] = (),
        **words: str,
    ) -> None:
        text = self.chance.choice(forms).format(**words)
        self.talk.questions.append(Question(kind, text, answer, at, wrong))


def talk_of(seed: int, wording: str = "seen") -> Talk:
    """The talk of a seed in a wording of `wordings.py`: the same lines and questions each time."""
    return _Maker(seed, wording_of(wording)).make()
