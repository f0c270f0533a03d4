"""Ways to say the same for `talks.py`: lines and questions by kind of topic, a file each in `wordings/`.

`KEPT` names those on which no rule of the answers was mended; whoever mends one on what goes wrong with a
wording moves it to `SPENT`. `club` and `office` were written by somebody who had read the other wordings and
none of the rules, and opened once before they were mended on; `crew` by the same, after the first of these.
`ward` and `garage` are by another hand, that had read `seen`, most of `club`, and none of the rules.
`later` is by the hand that had mended on `seen`, `other` and `fresh`, and was written before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

SPENT = ("seen", "other", "fresh", "club", "office", "ward", "garage")
KEPT = ("crew", "later")

Forms: TypeAlias = dict[str, list[str]]


@dataclass(frozen=True)
class Wording:
    """Forms with {n} for the thing, {v} for its value, {w} for a speaker.

    opened, changed: a first and a later value. again: the old value said once more, before it is given up in
    the words of `short`. refused: another value turned down. does: somebody takes something on. The others by
    kind of question.
    """

    opened: Forms
    changed: Forms
    again: Forms
    short: list[str]
    refused: Forms
    does: list[str]
    revised: Forms
    said: list[str]
    when: list[str]
    beside: list[str]
    count: list[str]
    speakers: list[str]
    never: list[str]


def wording_of(name: str) -> Wording:
    """The wording of a name in `SPENT` or `KEPT`."""
    path = Path(__file__).with_name("wordings") / f"{name}.json"
    return Wording(**json.loads(path.read_text(encoding="utf-8")))
