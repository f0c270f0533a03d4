"""A reply as data: what it says, with fields that are filled, and examples that show it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from .wording import be, join, pick, plural, sentence

Filling = str | int | Sequence[str]
"""What a field is filled with: words, a number, or a list that becomes 'A, B and C'."""

INLINE = 8
"""A list in a sentence is cut after so many entries, unless its field says how many."""

LONGEST = 240
"""The characters of a reply that no list, summary or tool's result was asked for in."""

WIDTH = 150
"""The characters of a list in a sentence, unless its field says how many entries it has."""

_SEVERAL = {"is": "are", "was": "were", "has": "have"}  # verbs that add more than an s for one thing

_FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")


class Example(NamedTuple):
    """A filled reply: `text` is what it says with these fields."""

    text: str
    fields: dict[str, Filling]


class Reply:
    """One reply. Its ways to be said differ in words only; which one is taken depends on the seed alone.

    A field is `{name}`. A list is cut by its length, so that the reply stays short; `{names:20}` is one that
    was asked for, of at most 20 entries. A verb after the colon is not the field
    itself but agrees with it: `{task} {task:is} done` gives 'The soup is done.' and 'The guests are done.'.
    The first letter becomes a capital one, and a full stop follows where the text
    has no end; a colon at the end opens a list.
    """

    def __init__(self, *ways: str) -> None:
        self.ways = ways
        self.examples: list[Example] = []

    def shows(self, text: str, /, **fields: Filling) -> Self:
        """The same reply with one more example, which is tested."""
        self.examples.append(Example(text, fields))
        return self

    def __call__(self, *, seed: str = "", **fields: Filling) -> str:
        """The reply with its fields filled.

        Args:
            seed: the same seed gives the same way to say it; of one way none is needed.
            fields: what to fill the fields with; each of the template must be given.

        Raises:
            KeyError: a field is not given.
        """
        return self.said(pick(self.ways, seed), fields)

    def said(self, way: str, fields: dict[str, Filling]) -> str:
        """One of the ways with its fields filled."""
        text = _FIELD.sub(lambda match: _filled(fields[match[1]], match[2] or ""), way)
        return text if text.endswith(":") else sentence(text)


def _filled(filling: Filling, how: str) -> str:
    if how and not how.isdecimal():
        return _verb(filling, how)
    if isinstance(filling, str | int):
        return str(filling)
    return join(filling, limit=int(how)) if how else join(filling, limit=INLINE, width=WIDTH)


def _verb(subject: Filling, verb: str) -> str:
    """A verb in the form that its subject wants: 'depends' for one thing, 'depend' for several."""
    if not isinstance(subject, str | int):
        if len(subject) > 1:
            return _SEVERAL.get(verb, verb.removesuffix("s"))
        subject = next(iter(subject), "")
    noun = str(subject)
    if verb in ("is", "was"):
        return be(noun, past=verb == "was")
    return _SEVERAL.get(verb, verb.removesuffix("s")) if plural(noun) else verb
