"""A scripted user over three sessions, with long-term memory against without.

    python benchmarks/users.py --sessions sgdms_train_sessions.jsonl --schema sgd_schema.jsonl
    python benchmarks/users.py --sessions S.jsonl --schema SCHEMA.jsonl --users 200 --seed 7 --json
    python benchmarks/users.py --sessions S.jsonl --schema SCHEMA.jsonl --users 5 --talk

A goal is what one real task of the data had: the slot values of a transactional intent of Schema-Guided
Dialogue. A user, made of templates and without a model, talks about it with Taskloom as `Taskloom.open` gives
it without a model, in three threads of one user_id:

1. asks for the task and gives half of its required slots (drawn at random); does not know the others yet.
2. asks for the same kind of task again, in words that point back or in plain ones, gives the rest when asked
   for, and has changed their mind about one value of session 1. Optional slots are told unasked.
3. wants the same as last time, naming the task or not. Gold is the latest value of every slot.

The user reads the structure of the turn (the question's slot, the proposed values in the plan), never the
words of the reply: answers what is asked, declines what is not known, confirms or corrects what is proposed,
else tells what is missing or wrong; while there is no task, asks for it in plain words. A session ends when
the plan holds the goal, or after 12 turns. Memory also holds the tasks of other kinds that an individual of
the data had, so that there is something to mistake it for, and Taskloom has the schemas of them all. The same
users talk a second time with `Context(memory=False)`.

Each figure is for one session and over all three (MAP's metrics, made exact):

- `success`: share of sessions after which the plan holds every value of the session's goal.
- `turns`: the user's turns until then; a session that fails counts 12 (dialogue turn efficiency).
- `joint_goal_accuracy`: share of turns after which the task's settled values are exactly what the user has
  said or agreed to so far in the session, nothing missing, wrong or in excess.
- `slot_accuracy`: share of the goal's slots that hold their value when the session ends.
- `recall_at_1`: share of the sessions after the first whose first proposals come from the unit of the session
  before, which is the gold one; no proposal counts as a miss. `ranked_at_1`, `ranked_at_3`: share of those
  with an opening that names the task in which the gold unit is among the best 1 or 3 that memory ranks.
- `reasked`: questions, per session, for a slot whose value the user had given, in this session or before.
- `proposals`: proposed values per session. `model_calls`: calls of a model, all told.

`failures`: what went wrong with memory, by the form of words, in the most sessions first, with an example for
up to three sets of slots; `count` is how often in all. `misread`: the plan does not hold what was meant, or
lost something. `not offered`: a later session opened, and a value that an earlier one had been given was not
proposed. `asked again`: a value that this session had been given. `forgotten`: one that an earlier session
had been given; by the words that opened this one.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table
from sessions import Row, place, rows, spoken, units

from taskloom.agent.plan.kinds import held_slots
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.recall.longterm import LongTerm
from taskloom.agent.settings import Settings
from taskloom.agent.threads.taskloom import Taskloom
from taskloom.agent.turn.schemas import TaskSchema
from taskloom.agent.turn.state import Context, Turn
from taskloom.memory.judge import CANDIDATES, rank_units
from taskloom.memory.operations import Add, Update
from taskloom.memory.records import IntentUnit, now
from taskloom.memory.tasks import TaskGraph, TaskNode

ERR = Console(stderr=True)
MOST_TURNS = 12
SESSIONS = (1, 2, 3)
ARMS = {"memory": True, "without": False}

# ---- what is said -----------------------------------------------------------------------------------

OPEN = (
    "I want to {task}.",
    "I'd like to {task}.",
    "I need to {task}.",
    "Can you help me {task}?",
    "Please {task}.",
)
OPEN_AGAIN = (
    *OPEN,
    "I want to {task} again.",
    "I need to {task} once more.",
    "I'd like to {task} again, please.",
    "Can you {task} again?",
)
SAME_TASK = (
    "I want to {task}, same as last time.",
    "Please {task} again, the same as before.",
    "I'd like to {task} with the same details as last time.",
    "I need to {task} exactly like last time.",
)
SAME = (
    "Same as last time, please.",
    "I want the same as last time.",
    "The same again, please.",
    "The usual, please.",
    "Do the same as before.",
)
TELL = (
    "The {slot} is {value}.",
    "{slot}: {value}",
    "Set the {slot} to {value}.",
    "The {slot} should be {value}.",
)
ANSWER = (
    "{value}.",
    "{value}",
    "{value}, please.",
    "The {slot} is {value}.",
    "{slot}: {value}",
    "It's {value}.",
)
CORRECT = (
    "Make the {slot} {value}.",
    "Change the {slot} to {value}.",
    "Actually, the {slot} is {value}.",
    "No, the {slot} is {value}.",
)
DECLINE = ("I don't know yet.", "I don't know the {slot} yet.", "Not sure yet.", "I'll tell you later.")
YES = ("Yes.", "yes please", "Yes, keep these.", "That's right.")
YES_BUT = ("Yes, but make {changes}.", "Yes, but change {changes_to}.", "Yes, except {changes_is}.")
NO_BUT = ("No, make {changes}.", "No, {changes_is}.")
NO = ("No.", "No, thanks.")
UNCOUNTED = ("money", "media", "music", "information", "weather")


def phrases(service: Row, intent: str) -> tuple[str, ...]:
    """Words for a kind of task: the schema's description, and its name with an article."""
    description = service["intents"][intent]["description"].rstrip(". ")
    verb, *thing = spoken(intent).split()
    if not thing:
        return description[0].lower() + description[1:], verb
    uncounted = thing[-1].endswith("s") or thing[-1] in UNCOUNTED
    article = "" if uncounted else "an " if thing[0][0] in "aeiou" else "a "
    return description[0].lower() + description[1:], f"{verb} {article}{' '.join(thing)}"


@dataclass(frozen=True)
class Value:
    """A value: how this user says it, and every form of it that counts."""

    said: str
    forms: frozenset[str]

    @classmethod
    def of(cls, forms: Sequence[str], rng: Random) -> Value:
        words = [{"True": "yes", "False": "no"}.get(form, form) for form in forms]
        return cls(rng.choice(words), frozenset(map(plain, words)))

    def same(self, text: str | None) -> bool:
        return text is not None and plain(text) in self.forms


def plain(text: str) -> str:
    """Letters and digits only, lower case, no article; '&' is 'and'."""
    words = re.findall(r"\w+", text.casefold().replace("&", " and "))
    return "".join(word for word in words if word not in ("a", "an", "the"))


# ---- who says it ------------------------------------------------------------------------------------

Values = Mapping[str, Value]


@dataclass(frozen=True)
class Person:
    """A user: what they want in each session, which services they have, and what they did before.

    schema: of the goal's intent. services: all that Taskloom is told of. past: units of other kinds of tasks.
    """

    name: str
    tasks: tuple[str, ...]
    schema: TaskSchema
    services: tuple[Row, ...]
    goals: tuple[Values, Values, Values]
    past: tuple[IntentUnit, ...]


def people(sessions: Sequence[Row], schema: Mapping[str, Row], count: int, seed: int) -> list[Person]:
    """So many users, over the transactional intents in turn; the same for the same seed.

    Raises:
        ValueError: no session has a transactional task that can be halved and revised.
    """
    by_individual: dict[str, list[Row]] = defaultdict(list)
    pools: dict[tuple[str, str], list[Row]] = defaultdict(list)  # tasks by service and intent
    for session in sessions:
        by_individual[session["ind"]].append(session)
        for task in session["tasks"]:
            form = schema[task["service"]]["intents"][task["intent"]]
            if form["transactional"] and form["required"] and set(form["required"]) <= set(task["slots"]):
                pools[task["service"], task["intent"]].append({**task, "ind": session["ind"]})
    pools = {kind: tasks for kind, tasks in pools.items() if _varied(tasks, schema)}
    if not pools:
        raise ValueError("the sessions have no transactional task that a user could give in two halves")
    rng = Random(seed)
    kinds = rng.sample(sorted(pools), len(pools))
    return [
        _person(f"user{n}", pools[kinds[n % len(kinds)]], by_individual, schema, Random(f"{seed} {n}"))
        for n in range(count)
    ]


def _varied(tasks: Sequence[Row], schema: Mapping[str, Row]) -> bool:
    """Whether tasks of a kind have several slots, and differ in one that is required."""
    required = schema[tasks[0]["service"]]["intents"][tasks[0]["intent"]]["required"]
    several = any(len(task["slots"]) > 1 for task in tasks)
    return several and any(len({plain(task["slots"][slot]) for task in tasks}) > 1 for slot in required)


def _person(
    name: str,
    pool: Sequence[Row],
    by_individual: Mapping[str, Sequence[Row]],
    schema: Mapping[str, Row],
    rng: Random,
) -> Person:
    task = rng.choice([task for task in pool if len(task["slots"]) > 1])
    service = schema[task["service"]]
    form = service["intents"][task["intent"]]
    values = {
        slot: _value(task, slot, rng)
        for slot in (*form["required"], *form["optional"])
        if slot in task["slots"]
    }
    revised, others = rng.choice(_changes(values, form["required"], pool))
    rest = [slot for slot in form["required"] if slot != revised]
    half = (len(form["required"]) + 1) // 2
    first = rng.sample([revised, *rng.sample(rest, half - 1)], half)
    second = {**values, revised: _value(rng.choice(others), revised, rng)}
    history = by_individual[task["ind"]]
    families = {one["family"] for one in service["intents"].values() if one["family"]}
    past = [unit for order, one in enumerate(history) for unit in units(one, schema, order)]
    services = {one["service"] for session in history for one in session["tasks"]}
    apart = [
        other for other in sorted(services)
        if families.isdisjoint(one["family"] for one in schema[other]["intents"].values())
    ]  # fmt: skip
    return Person(
        name=name,
        tasks=phrases(service, task["intent"]),
        schema=next(s for s in load_schemas(service) if s.name == f"{task['service']}.{task['intent']}"),
        services=(service, *(schema[other] for other in apart)),
        goals=({slot: values[slot] for slot in first}, second, second),
        past=tuple(unit for unit in past if unit.intent not in families),
    )


def _value(task: Row, slot: str, rng: Random) -> Value:
    return Value.of([task["slots"][slot], *task["alt"].get(slot, ())], rng)


def _changes(values: Values, slots: Sequence[str], pool: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Slots with the tasks that have another value there, where there are any."""
    found = [(slot, [task for task in pool if not values[slot].same(task["slots"][slot])]) for slot in slots]
    return [(slot, tasks) for slot, tasks in found if tasks]


class Said(NamedTuple):
    """An utterance: its template, its words, and what the plan should hold for it."""

    form: str
    text: str
    means: Values = MappingProxyType({})


@dataclass(frozen=True)
class Seen:
    """What a user sees of the plan and the turn.

    begun: whether there is a task. held, offered: settled and proposed values. asked: a slot, or '?'.
    """

    begun: bool
    held: Mapping[str, str]
    offered: Mapping[str, str]
    asked: str | None

    @classmethod
    def of(cls, graph: TaskGraph, schema: TaskSchema, turn: Turn) -> Seen:
        """Of the task, among those at the top, that has most of the kind's slots."""
        found: dict[str, TaskNode] = {}
        for root in graph.parts(None):
            slots = _slots(graph, root.id, schema)
            found = slots if len(slots) > len(found) else found
        return cls(
            begun=bool(graph.parts(None)),
            held={
                slot: node.value or "" for slot, node in found.items() if node.status in ("filled", "done")
            },
            offered={slot: node.value or "" for slot, node in found.items() if node.status == "proposed"},
            asked=_asked(turn, graph),
        )


def _slots(graph: TaskGraph, root: str, schema: TaskSchema) -> dict[str, TaskNode]:
    """The tasks that hold a value of each slot: those of its very name, else what Taskloom takes for it."""
    parts = [node for node in graph.subtree(root)[1:] if node.value is not None]
    exact = {
        slot.name: node
        for slot in schema.slots
        for node in parts
        if slot.name == node.slot.rpartition(".")[2] or spoken(slot.name) == node.title.lower()
    }
    taken = {node.id for node in exact.values()}
    near = {
        slot: [node for node in nodes if node.active and node.value is not None and node.id not in taken]
        for slot, nodes in held_slots(graph, root, schema).items()
    }
    return {**{slot: nodes[-1] for slot, nodes in near.items() if nodes}, **exact}


def _asked(turn: Turn, graph: TaskGraph) -> str | None:
    """The slot that a turn's question asks for; '?' for a question of another kind."""
    if turn.question is None:
        return None
    match turn.question.choices[:1]:
        case [Add(slot=slot)]:
            return slot.rpartition(".")[2]
        case [Update(task=task)]:
            return graph[task].slot.rpartition(".")[2]
    return "?"


def opening(person: Person, session: int, rng: Random) -> Said:
    """What a session begins with."""
    forms = {1: OPEN, 2: OPEN_AGAIN, 3: (*SAME_TASK, *SAME)}[session]
    form = rng.choice(forms)
    words = form.format(task=rng.choice(person.tasks))
    goal = person.goals[session - 1]
    if session == 1 and rng.random() < 0.3:
        slot = next(iter(goal))
        told = _told(TELL[:1], slot, goal[slot], rng)
        return Said(f"{form} {told.form}", f"{words} {told.text}", told.means)
    return Said(form, words)


def next_words(goal: Values, seen: Seen, rng: Random) -> Said:
    """What a user says to what the last turn came to."""
    if seen.offered:
        return _decided(goal, seen.offered, rng)
    if seen.asked is not None and seen.asked in goal:
        return _told(ANSWER, seen.asked, goal[seen.asked], rng)
    if seen.asked is not None and seen.asked != "?":
        form = rng.choice(DECLINE)
        return Said(form, form.format(slot=spoken(seen.asked)))
    slot = missing(goal, seen.held)[0]
    return _told(CORRECT if slot in seen.held else TELL, slot, goal[slot], rng)


def _told(forms: Sequence[str], slot: str, value: Value, rng: Random) -> Said:
    form = rng.choice(forms)
    text = form.format(slot=spoken(slot), value=value.said)
    return Said(form, text[0].upper() + text[1:] if form[0] != "{" else text, {slot: value})


def _decided(goal: Values, offered: Mapping[str, str], rng: Random) -> Said:
    """Yes, no, or partly, to what is proposed."""
    right = [slot for slot, value in offered.items() if slot in goal and goal[slot].same(value)]
    wrong = [slot for slot in offered if slot in goal and slot not in right]
    form = rng.choice((YES_BUT if right else NO_BUT) if wrong else (YES if right else NO))

    def changes(middle: str) -> str:
        return " and ".join(f"the {spoken(slot)}{middle} {goal[slot].said}" for slot in wrong)

    text = form.format(changes=changes(""), changes_to=changes(" to"), changes_is=changes(" is"))
    return Said(form, text, {slot: goal[slot] for slot in (*right, *wrong)})


# ---- a session --------------------------------------------------------------------------------------


class Failure(NamedTuple):
    """Something that went wrong: for which words, said after which reply, and what it did to which slots."""

    kind: str
    form: str
    thread: str
    before: str
    said: str
    reply: str
    slots: tuple[str, ...]
    plan: str


@dataclass
class Outcome:
    """What became of one session. exact: per turn, whether the plan was as said. ranked: 0 for not found."""

    success: bool = False
    turns: int = 0
    exact: list[bool] = field(default_factory=list)
    right: int = 0
    slots: int = 0
    proposals: int = 0
    reasked: int = 0
    recalled: bool | None = None
    ranked: int | None = None
    model_calls: int = 0
    failures: list[Failure] = field(default_factory=list)


Show = Callable[[str], None]


@dataclass
class Talk:
    """The talk of one user with Taskloom over the sessions; given: slots that the user has told so far."""

    app: Taskloom
    person: Person
    memory: bool
    seed: int
    show: Show | None = None
    given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.context = Context(
            user_id=self.person.name, memory=self.memory, schemas=list(self.person.services)
        )
        if self.memory:
            self.longterm.keep(self.person.name, self.person.past, ())

    @property
    def longterm(self) -> LongTerm:
        assert self.app.longterm is not None
        return self.app.longterm

    def thread(self, session: int) -> str:
        return f"{self.person.name}-{session}" + ("" if self.memory else "-without")

    def session(self, number: int) -> Outcome:
        """Talk until the plan holds the goal, or for MOST_TURNS turns."""
        rng = Random(f"{self.seed} {self.person.name} {number}")
        goal = self.person.goals[number - 1]
        began = opening(self.person, number, rng)
        session = Session(self, self.thread(number), began)
        out, later = session.out, number > 1 and self.memory
        out.ranked = self._ranked(began, self.thread(number - 1)) if later else None
        turn = session.say(began)
        out.recalled = self._recalled(turn, session, self.thread(number - 1)) if later else None
        known = self.given - session.seen.offered.keys() - session.seen.held.keys()
        if later and known:
            session.failed("not offered", dict.fromkeys(known, "not offered"))
        while missing(goal, session.seen.held) and len(out.exact) < MOST_TURNS:
            begun = session.seen.begun
            session.say(next_words(goal, session.seen, rng) if begun else opening(self.person, 1, rng))
        left = missing(goal, session.seen.held)
        out.success, out.slots, out.right = not left, len(goal), len(goal) - len(left)
        out.turns = MOST_TURNS if left else len(out.exact)
        return out

    def _recalled(self, turn: Turn, session: Session, gold: str) -> bool:
        """Whether what is proposed comes from the gold thread."""
        graph = self.app.tasks(session.thread)
        sources = {graph[key].source.removeprefix("memory:") for key in turn.proposals if key in graph}
        found = self.longterm.store.get(self.person.name, sorted(sources)) if sources else {}
        return {unit.thread for unit in found.values()} == {gold}

    def _ranked(self, said: Said, gold: str) -> int | None:
        """The place of the gold thread's unit for the words of an opening, from 1; 0 for none."""
        if "{task}" not in said.form:
            return None
        self.longterm.flush()
        store, user = self.longterm.store, self.person.name
        hits = store.search(user, said.text, kind="unit", limit=CANDIDATES)
        best = rank_units(said.text, hits, store.records(user, "unit"), store.embedder, now=now())
        rank: int = place([one.unit.thread for one in best], gold)
        return rank


@dataclass
class Session:
    """One session as it goes: what the plan should hold, what it does, and what went wrong."""

    talk: Talk
    thread: str
    began: Said
    out: Outcome = field(default_factory=Outcome)
    seen: Seen = Seen(begun=False, held=MappingProxyType({}), offered=MappingProxyType({}), asked=None)
    expected: dict[str, Value] = field(default_factory=dict)
    replies: list[str] = field(default_factory=lambda: [""])
    said: list[Said] = field(default_factory=list)

    def say(self, said: Said) -> Turn:
        """One turn, and its part in the figures."""
        turn = self.talk.app.talk(said.text, thread=self.thread, context=self.talk.context)
        was, self.seen = self.seen, Seen.of(self.talk.app.tasks(self.thread), self.talk.person.schema, turn)
        self.said.append(said)
        self.replies.append(turn.reply)
        if self.talk.show:
            self.talk.show(f"{self.thread}  {said.text}\n    {turn.reply}")
        self.expected |= said.means
        self.talk.given |= said.means.keys()
        faults = _faults(self.seen.held, self.expected)
        self.out.exact.append(not faults)
        self.out.proposals += len(turn.proposals)
        self.out.model_calls += turn.model_calls
        before = _faults(was.held, self.expected)
        worse = {slot: how for slot, how in faults.items() if slot in said.means or before.get(slot) != how}
        if worse:
            self.failed("misread", worse)
        if self.seen.asked in self.talk.given:
            self.out.reasked += 1
            told_here = any(self.seen.asked in one.means for one in self.said)
            self.failed("asked again" if told_here else "forgotten", {self.seen.asked: "asked for"})
        return turn

    def failed(self, kind: str, slots: Mapping[str, str]) -> None:
        """Note something that went wrong in the last turn; slots: how it left them."""
        said = self.said[-1]
        form = self.began.form if kind == "forgotten" else said.form
        plan = ", ".join(f"{slot}: {how}" for slot, how in sorted(slots.items()))
        self.out.failures.append(
            Failure(
                kind=kind,
                form=form,
                thread=self.thread,
                before=self.replies[-2],
                said=said.text,
                reply=self.replies[-1],
                slots=tuple(sorted(slots)),
                plan=plan,
            )
        )


def missing(goal: Values, held: Mapping[str, str]) -> list[str]:
    """The slots that do not hold their value."""
    return [slot for slot, value in goal.items() if not value.same(held.get(slot))]


def _faults(held: Mapping[str, str], expected: Values) -> dict[str, str]:
    """What of a plan is not as it should be, by slot."""
    found = {slot: f"{value!r} in excess" for slot, value in held.items() if slot not in expected}
    for slot, value in expected.items():
        if slot not in held:
            found[slot] = f"missing ({value.said!r})"
        elif not value.same(held[slot]):
            found[slot] = f"{held[slot]!r} instead of {value.said!r}"
    return found


# ---- all of it --------------------------------------------------------------------------------------


def measure(crowd: Sequence[Person], seed: int, show: Show | None = None) -> Row:
    """All figures, of both arms; what is shown is the talk with memory."""
    outcomes: dict[str, dict[int, list[Outcome]]] = {}
    for arm, memory in ARMS.items():
        outcomes[arm] = {session: [] for session in SESSIONS}
        with (
            tempfile.TemporaryDirectory(prefix="taskloom-bench-") as folder,
            Taskloom.open(Settings(home=Path(folder), model="", embeddings="", chroma_url=None)) as app,
        ):
            for person in told(crowd, f"users, {'with' if memory else 'without'} memory"):
                talk = Talk(app, person, memory, seed, show if memory else None)
                for session in SESSIONS:
                    outcomes[arm][session].append(talk.session(session))
    every = [one for session in SESSIONS for one in outcomes["memory"][session]]
    return {
        "users": len(crowd),
        "kinds": len({person.schema.name for person in crowd}),
        **{arm: _by_session(found) for arm, found in outcomes.items()},
        "failures": failures(every),
    }


def _by_session(found: Mapping[int, Sequence[Outcome]]) -> Row:
    every = [one for session in SESSIONS for one in found[session]]
    return {**{str(session): figures(found[session]) for session in SESSIONS}, "all": figures(every)}


def figures(outcomes: Sequence[Outcome]) -> Row:
    """The figures of some sessions; None where there is nothing to count."""
    ranked = [one.ranked for one in outcomes if one.ranked is not None]
    return {
        "success": mean(one.success for one in outcomes),
        "turns": mean(one.turns for one in outcomes),
        "joint_goal_accuracy": mean(exact for one in outcomes for exact in one.exact),
        "slot_accuracy": sum(one.right for one in outcomes) / sum(one.slots for one in outcomes),
        "recall_at_1": mean(one.recalled for one in outcomes if one.recalled is not None),
        "ranked_at_1": mean(place == 1 for place in ranked),
        "ranked_at_3": mean(1 <= place <= 3 for place in ranked),
        "reasked": mean(one.reasked for one in outcomes),
        "proposals": mean(one.proposals for one in outcomes),
        "model_calls": sum(one.model_calls for one in outcomes),
    }


def mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return statistics.fmean(listed) if listed else None


def failures(outcomes: Iterable[Outcome]) -> list[Row]:
    """What went wrong, by kind and form of words, in the most sessions first."""
    by_form: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for one in outcomes:
        for failure in one.failures:
            by_form[failure.kind, failure.form].append(failure)
    found = []
    for (kind, form), some in by_form.items():
        examples = list({one.slots: one for one in reversed(some)}.values())[-1:-4:-1]
        threads = {one.thread for one in some}
        counts = {"sessions": len(threads), "count": len(some)}
        found.append({"kind": kind, "form": form, **counts, "examples": [one._asdict() for one in examples]})
    return sorted(found, key=lambda one: (-one["sessions"], -one["count"], one["kind"], one["form"]))


def told(items: Sequence[Person], name: str) -> Iterator[Person]:
    """The items, with a bar on a terminal."""
    if not ERR.is_terminal:
        ERR.print(f"{name} ({len(items)})", highlight=False)
        yield from items
        return
    yield from track(items, description=name, console=ERR, transient=True)


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


def tables(found: Row) -> Iterator[Table]:
    """The figures, with memory before without in each session; then the failures."""
    made = Table(title=f"{found['users']} users, {found['kinds']} kinds of tasks: with memory / without")
    made.add_column("")
    for title in (*(f"session {session}" for session in SESSIONS), "all"):
        made.add_column(title, justify="right")
    for name in found["memory"]["all"]:
        cells = [
            " / ".join(_shown(found[arm][column][name]) for arm in ARMS)
            for column in (*map(str, SESSIONS), "all")
        ]
        made.add_row(name, *cells)
    yield made
    wrong = Table(title="Most frequent failures, with memory", show_lines=True)
    for title in ("sessions", "kind", "said, and the reply", "plan"):
        wrong.add_column(title)
    for one in found["failures"][:15]:
        example = one["examples"][0]
        talk = f"{example['said']}\n> {example['reply'][:200]}"
        wrong.add_row(str(one["sessions"]), one["kind"], escape(talk), escape(example["plan"][:120]))
    yield wrong


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=Path, required=True, help="the multi-session set, JSON Lines")
    parser.add_argument("--schema", type=Path, required=True, help="its services, JSON Lines")
    parser.add_argument("--users", type=int, default=60, help="how many users talk (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of who wants what and says it how (default 0)")
    parser.add_argument("--talk", action="store_true", help="show the talk with memory, on standard error")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the tables")
    args = parser.parse_args()
    if args.users < 1:
        parser.error("--users: at least 1")
    schema = {row["service"]: row for row in rows(args.schema)}
    crowd = people(rows(args.sessions), schema, args.users, args.seed)
    show = (lambda text: ERR.print(text, highlight=False, markup=False)) if args.talk else None
    found = rounded(measure(crowd, args.seed, show))
    if args.json:
        print(json.dumps(found))
        return
    for one in tables(found):
        Console().print(one)


if __name__ == "__main__":
    main()
