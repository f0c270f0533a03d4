"""Turns with the states that they lead to, as they were said, and others made of them.

Read from the files of states/; what people said there lacks what users of a task memory say: that a value is
taken back, changed, of no matter, or only asked for.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskloom.agent.language.wording import spoken
from taskloom.agent.plan.schema_files import load_schemas
from taskloom.agent.reading.listed import type_of
from taskloom.agent.reading.slots import Key
from taskloom.agent.turn.schemas import TaskSchema

UNTOLD = 0.2  # of the dialogues are read without what is told of slots
MADE = 1500  # of at most so many turns of a file another one is made
State = dict[Key, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A user turn: what was said before it, and the state before and after it."""

    source: str
    system: str
    user: str
    schemas: tuple[TaskSchema, ...]
    before: State
    after: State


def dialogues(file: Path) -> Iterator[list[Turn]]:
    """The turns of each dialogue of a file, gzipped (.gz) or plain.

    First a line for each schema, {"schema": JSON Schema}, then a line for each dialogue: {"kinds": [titles],
    "turns": [{"system", "user", "state": {title: {slot: value or list of right values}}}]}.
    """
    schemas: dict[str, TaskSchema] = {}
    raw = file.read_bytes()
    for line in (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode().splitlines():
        one: dict[str, Any] = json.loads(line)
        if "schema" in one:
            schemas |= {schema.name: schema for schema in load_schemas(one["schema"])}
            continue
        kinds, before, turns = tuple(schemas[kind] for kind in one["kinds"]), State(), []
        for turn in one["turns"]:
            after = {
                Key(kind, slot): tuple(map(str, value if isinstance(value, list) else [value]))
                for kind, slots in turn["state"].items() for slot, value in slots.items()
            }  # fmt: skip
            turns.append(
                Turn(
                    file.name.partition(".")[0],
                    _typed(turn["system"]),
                    _typed(turn["user"]),
                    kinds,
                    before,
                    after,
                )
            )
            before = after
        yield turns


def crowded(told: Iterable[list[Turn]], chance: random.Random) -> Iterator[list[Turn]]:
    """Dialogues, half of them with kinds of tasks that they are not about, some without descriptions."""
    turns_of = list(told)
    kinds = list({kind.name: kind for turns in turns_of for kind in turns[0].schemas}.values())
    for turns in turns_of:
        own = turns[0].schemas
        others = [kind for kind in kinds if kind not in own]
        more = chance.sample(others, min(len(others), chance.choice((0, 0, 1, 2, 4))))
        found = [*own, *more]
        chance.shuffle(found)
        if chance.random() < UNTOLD:
            found = [
                kind.model_copy(
                    update={
                        "slots": tuple(slot.model_copy(update={"description": ""}) for slot in kind.slots)
                    }
                )
                for kind in found
            ]
        yield [replace(turn, schemas=tuple(found)) for turn in turns]


TAKEN_BACK = (
    "{old}, no wait, {new}", "{old} - no, {new}", "{old}, actually {new}", "{old}, sorry, i mean {new}",
    "{old}... scratch that, {new}", "{old} or rather {new}", "{old}, make that {new}", "not {old} but {new}",
    "{new} instead of {old}", "{new}, not {old}",
)  # fmt: skip
CHANGED = (
    "actually change the {slot} to {new}", "can we make the {slot} {new} instead?", "the {slot}'s {new}",
    "oh, {new} for the {slot}", "hmm, i'd rather have {new}", "let's go with {new} as the {slot} after all",
    "wait, {slot}: {new} please", "i changed my mind, {new}", "on second thought {new} would be better",
    "not {old}, {new}", "no, i said {new}, not {old}", "{new} rather than {old} please",
)  # fmt: skip


class Revised:
    """Turns in which a value is taken back, or changed later, made of others that have just one new value."""

    def __init__(self, told: Sequence[Sequence[Turn]], chance: random.Random) -> None:
        self.chance, self.pools = chance, dict[Key, list[str]]()
        for turn in (turn for turns in told for turn in turns):
            for key, right in turn.after.items():
                if key not in turn.before and right[0].lower() in turn.user.lower():
                    self.pools.setdefault(key, []).append(right[0])

    def __call__(self, turn: Turn) -> Turn | None:
        """Such a turn, or None where it cannot be made."""
        new = [key for key, right in turn.after.items() if turn.before.get(key) != right]
        pool = self.pools.get(new[0], []) if len(new) == 1 else []
        value = turn.after[new[0]][0] if new else ""
        others = [one for one in pool if one.lower() != value.lower()]
        if not others or turn.user.lower().count(value.lower()) != 1:
            return None
        other = self.chance.choice(others)
        if self.chance.random() < 0.5:
            said = self.chance.choice(TAKEN_BACK).format(old=other, new=value)
            return replace(
                turn, user=re.sub(re.escape(value), lambda _: said, turn.user, flags=re.IGNORECASE)
            )
        said = self.chance.choice(CHANGED).format(old=value, new=other, slot=spoken(new[0].slot))
        return replace(turn, user=said, before=turn.after, after={**turn.after, new[0]: (other,)})


NO_MATTER = (
    "i don't care", "it doesn't matter", "doesn't matter", "that doesn't matter", "any", "anything",
    "anything is fine", "any will do", "either is fine", "no preference", "i have no preference",
    "no, not really", "whatever", "whatever you recommend", "whichever you think is best", "surprise me",
    "you choose", "i'm open", "i'm easy", "not fussed", "up to you", "all the same to me", "don't mind",
    "i really don't mind", "makes no difference to me", "any {slot} is fine", "any {slot}",
    "i don't care about the {slot}", "the {slot} doesn't matter", "no particular {slot}",
    "no, any {slot} would be ok", "i'm not picky about the {slot}", "whatever {slot} is fine with me",
    "no preference on {slot}",
)  # fmt: skip
BESIDE = (
    "any {slot}", "any {slot} is fine", "the {slot} doesn't matter", "i don't care about the {slot}",
    "{slot} is not important", "don't mind about the {slot}", "no preference on {slot}", "whatever {slot}",
    "in any {slot}", "whichever {slot}", "with any {slot}", "of any {slot}", "the {slot} can be anything",
    "i'm flexible on the {slot}",
)  # fmt: skip
ASKED = (
    "what is the {slot}?", "can i have the {slot}?", "what {slot} is it?", "which {slot} do they have?",
    "could you tell me the {slot} please", "and the {slot}?", "please send me the {slot}",
    "what's its {slot}?", "is there any choice of {slot}?", "what are the options for {slot}?",
)  # fmt: skip


class Indifferent:
    """Turns of which a slot's value does not matter, or in which it is only asked for, made of others."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def __call__(self, turn: Turn) -> Turn | None:
        """Such a turn, or None where it cannot be made."""
        new = [key for key, right in turn.after.items() if turn.before.get(key) != right]
        truths = {
            Key(kind.name, slot.name)
            for kind in turn.schemas for slot in kind.slots if type_of(slot) == "boolean"
        }  # fmt: skip
        asked = turn.system.endswith("?") and len(turn.user.split()) < 7
        if len(new) == 1 and new[0] not in truths and asked and self.chance.random() < 0.6:
            return self._answered(turn, new[0])
        kinds = {key.schema for key in new}
        named = [Key(kind.name, slot.name) for kind in turn.schemas for slot in kind.slots]
        free = [key for key in named if key.schema in kinds and key not in turn.after and key not in truths]
        return self._beside(turn, self.chance.choice(free)) if free else None

    def _answered(self, turn: Turn, key: Key) -> Turn:
        """The answer to a question is that any value will do; sometimes another slot is asked for."""
        said = self.chance.choice(NO_MATTER).format(slot=spoken(key.slot))
        others = [
            slot.name for kind in turn.schemas if kind.name == key.schema for slot in kind.slots
            if slot.name != key.slot
        ]  # fmt: skip
        if others and self.chance.random() < 0.3:
            asked = self.chance.choice(ASKED).format(slot=spoken(self.chance.choice(others)))
            said = f"{said}. {asked}"
        return replace(turn, user=said, after={**turn.after, key: ("dontcare",)})

    def _beside(self, turn: Turn, key: Key) -> Turn:
        """Beside what is said, any value will do for another slot, or this is asked for."""
        said = turn.user.rstrip(" .!")
        if self.chance.random() < 0.4:
            return replace(turn, user=f"{said}. {self.chance.choice(ASKED).format(slot=spoken(key.slot))}")
        words = self.chance.choice(BESIDE).format(slot=spoken(key.slot))
        form = self.chance.choice(
            ("{said}, {words}", "{said}. {words}", "{said} and {words}", "{words}, {said}")
        )
        after = {**turn.after, key: ("dontcare",)}
        return replace(turn, user=form.format(said=said, words=words), after=after)


def made(
    told: Sequence[Sequence[Turn]], make: Callable[[Turn], Turn | None], part: float, chance: random.Random
) -> list[list[Turn]]:
    """Dialogues of one turn each, made of this part of the turns of others, where that can be done."""
    turns = [turn for turns in told for turn in turns]
    found = map(make, chance.sample(turns, min(MADE, int(part * len(turns)))))
    return [[turn] for turn in found if turn is not None]


def _typed(text: str) -> str:
    return re.sub(r" ' ", "'", text) or "."
