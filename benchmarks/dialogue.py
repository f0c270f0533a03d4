"""A long talk about many plans, made from a fixed seed: what is said, what is meant, and what to reply.

Every ten turns hold the same kinds of turns in another order, so that any two windows of ten can be compared.
About a fifth is said in roundabout words. Whether the local reader is sure of an utterance is not decided
here: the benchmark counts it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from taskloom.memory.tasks import TaskGraph, TaskNode

FORM = (
    "Help me fill out a form, I will provide some of my information to you.",
    "My name is John Doe.",
    "My email is john@example.com.",
    "My address is Market Street, San Francisco.",
    "Sorry, to correct, my name is John Smith.",
    "Help to repeat my information, then submit.",
)  # after appendix A of the TME paper
FORM_TOKENS = 725  # of the paper's table

# ruff: noqa: SIM905

KINDS = """trip meeting review workshop dinner party interview training webinar picnic conference lunch
rehearsal wedding concert inspection""".split()
SUBJECTS = """Lisbon Oslo Kyoto Denver Madrid Quito Zagreb Tallinn Nairobi Bergen Porto Ghent Malmo Riga Turin
Cusco Bologna Leeds Utrecht Perth Lyon Krakow Hobart Galway Sapporo Bristol Odense Tampere Vilnius Cork Graz
Basel Bilbao Seville Naples Dresden Leipzig Aarhus Umea Split Rijeka Sofia Varna Izmir Bursa Haifa Amman Tunis
Rabat Accra Lagos Kigali Lusaka Harare Durban Pune Jaipur Kochi Hanoi Cebu Davao Busan Sendai Nagoya Osaka
Taipei Darwin Cairns Napier Nelson Suva Lima Salta Rosario Recife Belem Cali Leon Puebla Toledo Austin Boise
Tucson Fresno Tacoma Duluth""".split()
PEOPLE = "Ana Bruno Carla Dmitri Elena Farid Greta Hugo Ines Jonas Kenji Lena Mateo Nadia Omar Paula".split()
PLACES = ["the Blue Room", "Harbour Hall", "Cafe Luna", "the library", "Studio 5", "the old mill",
          "Green Park", "the town hall", "Rosa's", "the annex"]  # fmt: skip
MONTHS = "March April May June September October".split()


@dataclass(slots=True)
class Plan:
    """One plan as it should be: its values, the values before, and who comes along."""

    title: str
    values: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    people: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: the words, the step that they mean, for `read`, and the reply that fits.

    step: as in `agent.models.wire`, where 'on' and 'in' are (title of the plan, slot or person, or '').
    """

    kind: str
    words: str
    step: dict[str, Any]
    reply: str

    def read(self, prompt: str) -> str:
        """What a model that understands would answer to a prompt that shows numbered tasks."""
        step = dict(self.step)
        for place in [place for place in ("on", "in") if place in step]:
            title, part = step.pop(place)
            number = number_of(prompt, title, part)
            whole = number_of(prompt, title, "")
            if number is None and whole is not None and self.step["act"] == "set":
                place, number = "in", whole
            step[place] = number or (f"{part} of the {title}" if part else title)
        return json.dumps({"steps": [step]})


_ENTRY = re.compile(r"(?:^|: |; )(\d+) ((?:[^;:]|(?<=\d):(?=\d))+)")


def number_of(prompt: str, title: str, part: str) -> int | None:
    """The number of a plan, or of its part, in the outline of a prompt; None where it is not shown."""
    inside = False  # the plan, while its parts are read
    for line in prompt.splitlines():
        bare = line.lstrip(" ")
        entries = [(int(number), _name(words)) for number, words in _ENTRY.findall(bare)]
        if bare == line:
            inside = bool(entries) and entries[0][1] == title
            if inside and not part:
                return entries[0][0]
        elif inside:
            named = next((number for number, name in entries if name == part), None)
            if named is not None:
                return named
    return None


def _name(words: str) -> str:
    """The title in an entry of the outline, without its marks."""
    return re.split(r" \(was | \[| \+\d|, after | stale| done", words.replace('"', ""))[0].strip()


class Talk:
    """An endless talk; `plans` says what it should have come to."""

    def __init__(self, seed: int = 7, plans: list[Plan] | None = None) -> None:
        self.chance = random.Random(seed)
        self.plans = plans or []
        self._titles = titles(self.chance)
        self._taken = {plan.title for plan in self.plans}
        self._grow = not self.plans

    def turns(self) -> Iterator[Said]:
        """The turns, without end."""
        first = self._new if self._grow else self._change
        while True:
            last = self.chance.choice([self._leave, self._back, self._doubt, self._thanks])
            rest = [self._set, self._set, self._invite, self._change, self._change, self._loose_change,
                    self._ask, self._loose_ask, last]  # fmt: skip
            self.chance.shuffle(rest)
            for make in [first, *rest]:
                yield make()

    # ---- turns ------------------------------------------------------------------------------------

    def _new(self) -> Said:
        title = next(title for title in self._titles if title not in self._taken)
        self._taken.add(title)
        plan = Plan(title, {"date": self._value("date")})
        self.plans.append(plan)
        opening = self.chance.choice(["Plan a", "Help me organise a", "I need to set up a"])
        step = {"act": "task", "title": title, "slot": title.split()[0], "details": dict(plan.values)}
        date = plan.values["date"]
        return Said("new", f"{opening} {title} on {date}.", step, f"Noted: {title} on {date}.")

    def _set(self) -> Said:
        plan, slot = self._some()
        missing = [name for name in ("time", "venue", "budget") if name not in plan.values]
        slot = missing[0] if missing else slot
        value = self._value(slot, plan)
        form = self.chance.choice(
            ["The {slot} of the {title} is {value}.", "For the {title}, the {slot} is {value}.",
             "Set the {slot} of the {title} to {value}."]
        )  # fmt: skip
        return self._put("set", plan, slot, value, form)

    def _change(self) -> Said:
        plan, slot = self._some()
        form = self.chance.choice(
            ["Change the {slot} of the {title} to {value}.",
             "Make the {slot} of the {title} {value} instead.",
             "Sorry, I meant the {slot} of the {title} is {value}.",
             "Actually, the {slot} for the {title} should be {value}."]
        )  # fmt: skip
        return self._put("change", plan, slot, self._value(slot, plan), form)

    def _loose_change(self) -> Said:
        plan, slot = self._some()
        form = self.chance.choice(
            ["It turns out that {was} does no good for the {title}, {value} would suit everybody far better.",
             "I talked to {who} about the {title} and we think {value} it is.",
             "Could we somehow squeeze the {title} into {value}? Yes, let us do that.",
             "{who} says {value} for the {title}, and that is fine with me."]
        )  # fmt: skip
        return self._put("loose change", plan, slot, self._value(slot, plan), form)

    def _invite(self) -> Said:
        plan = self.chance.choice(self.plans[-12:])
        who = self.chance.choice([name for name in PEOPLE if name not in plan.people] or PEOPLE)
        if who not in plan.people:
            plan.people.append(who)
        return Said("invite", f"Add {who} to the {plan.title}.",
                    {"act": "add", "on": (plan.title, ""), "items": {"participant": [who]}},
                    f"{who} is in for the {plan.title}.")  # fmt: skip

    def _leave(self) -> Said:
        plan = next((plan for plan in reversed(self.plans[-12:]) if plan.people), None)
        if plan is None:
            return self._thanks()
        who = plan.people.pop()
        step = {"act": "remove", "on": (plan.title, who)}
        return Said(
            "leave", f"Remove {who} from the {plan.title}.", step, f"{who} is out of the {plan.title}."
        )

    def _back(self) -> Said:
        plan = next((plan for plan in reversed(self.plans[-12:]) if "date" in plan.before), None)
        if plan is None:
            return self._thanks()
        plan.values["date"], value = plan.before.pop("date"), plan.values["date"]
        plan.before["date"] = value
        return Said("back", f"Go back to the previous date for the {plan.title}.",
                    {"act": "back", "on": (plan.title, "date")},
                    f"The date of the {plan.title} is {plan.values['date']} again.")  # fmt: skip

    def _ask(self) -> Said:
        plan, slot = self._some()
        form = self.chance.choice(
            ["What is the {slot} of the {title}?", "What's the {slot} for the {title}?"]
        )
        return self._asked("ask", plan, slot, form)

    def _loose_ask(self) -> Said:
        plan, slot = self._some()
        form = self.chance.choice(
            ["I have lost track of the {slot} of the {title}, would you mind?",
             "Remind me about the {title}, I mean its {slot}.",
             "{who} wants to know the {slot} of the {title}."]
        )  # fmt: skip
        return self._asked("loose ask", plan, slot, form)

    def _doubt(self) -> Said:
        plan, slot = self._some()
        claim = plan.before.get(slot) or self._value(slot, plan)
        return Said("doubt", f"Wasn't the {slot} of the {plan.title} {claim}?",
                    {"act": "ask", "q": "claim", "on": (plan.title, slot), "value": claim},
                    f"No, the {slot} of the {plan.title} is {plan.values[slot]}.")  # fmt: skip

    def _thanks(self) -> Said:
        return Said("thanks", "Thanks, that helps a lot.", {"act": "chat"}, "You are welcome.")

    # ---- parts ------------------------------------------------------------------------------------

    def _put(self, kind: str, plan: Plan, slot: str, value: str, form: str) -> Said:
        old = plan.values.get(slot)
        if old is not None:
            plan.before[slot] = old
        plan.values[slot] = value
        words = form.format(slot=slot, title=plan.title, value=value, was=old or "the last idea",
                            who=self.chance.choice(PEOPLE))  # fmt: skip
        step: dict[str, Any] = {"act": "set", "slot": slot, "value": value}
        step |= {"in": (plan.title, "")} if old is None else {"on": (plan.title, slot)}
        return Said(kind, words, step, f"The {slot} of the {plan.title} is {value} now.")

    def _asked(self, kind: str, plan: Plan, slot: str, form: str) -> Said:
        words = form.format(slot=slot, title=plan.title, who=self.chance.choice(PEOPLE))
        step = {"act": "ask", "q": "value", "on": (plan.title, slot)}
        return Said(kind, words, step, f"The {slot} of the {plan.title} is {plan.values[slot]}.")

    def _some(self) -> tuple[Plan, str]:
        """A plan, mostly one of the latest, and one of its values."""
        latest = self.plans[-12:] if self.chance.random() < 0.8 else self.plans
        plan = self.chance.choice(latest)
        return plan, self.chance.choice(list(plan.values))

    def _value(self, slot: str, plan: Plan | None = None) -> str:
        makers: dict[str, Callable[[], str]] = {
            "date": lambda: f"{self.chance.choice(MONTHS)} {self.chance.randint(1, 28)}",
            "time": lambda: f"{self.chance.randint(1, 11)}:{self.chance.choice(('15', '30', '45'))} pm",
            "venue": lambda: self.chance.choice(PLACES),
            "budget": lambda: f"${self.chance.randint(2, 90) * 50}",
        }
        old = plan.values.get(slot) if plan else None
        while (value := makers[slot]()) == old:
            pass
        return value


def titles(chance: random.Random) -> list[str]:
    """Titles of plans, all different: 'trip to Lisbon', 'review of the Oslo office'."""
    forms = {"trip": "{} to {}"}
    found = [forms.get(kind, "{} in {}").format(kind, subject) for kind in KINDS for subject in SUBJECTS]
    chance.shuffle(found)
    return found


def filled(size: int, seed: int = 5) -> tuple[TaskGraph, list[Plan]]:
    """A graph of so many tasks and the plans in it: a date, a time, a venue, a budget and people each."""
    talk, nodes, plans = Talk(seed), [], []
    number = 0

    def node(slot: str, title: str, value: str | None, parent: str | None) -> str:
        nonlocal number
        number += 1
        said = f"the {title} is {value}" if value else title
        nodes.append(
            TaskNode(id=f"t{number}", slot=slot, title=title, value=value, parent=parent, turn=1, said=said,
                     status="open" if value is None else "filled")
        )  # fmt: skip
        return f"t{number}"

    for index, title in enumerate(talk._titles):
        if number >= size:
            break
        plan, kind = Plan(title), title.split()[0]
        root = node(f"{kind}{index + 1}", title, None, None)
        for slot in ("date", "time", "venue", "budget"):
            if number < size:
                plan.values[slot] = talk._value(slot)
                node(f"{kind}{index + 1}.{slot}", slot, plan.values[slot], root)
        plan.people = talk.chance.sample(PEOPLE, 4)
        for place, who in enumerate(list(plan.people), 1):
            if number < size:
                node(f"{kind}{index + 1}.participant{place}", who, None, root)
        if plan.values:
            plans.append(plan)
    graph = TaskGraph(nodes)
    assert len(graph) == size, "there are not enough titles"
    assert not graph.faults()
    return graph, plans
