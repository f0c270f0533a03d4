"""Small pieces of English that replies and questions are made of. Pure, and knows only task nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import Any
from zlib import crc32

from taskloom.memory.actions import SOME_NUMBER, is_action
from taskloom.memory.records import now
from taskloom.memory.tasks import BY_HAND, Revision
from taskloom.memory.words import word_set

NOT_UNDERSTOOD = (
    "I am not sure that I understood that, so I changed nothing. Could you say it in shorter sentences?"
)
TOO_MUCH = "That is more than I can take in at once, so I changed nothing. Could you say it in parts?"
_SAID_IN_RECORDING = re.compile(r"\[(?P<at>[\d:]+)-[\d:]+\] (?:(?P<who>.+?) )?said: (?P<words>.*)", re.DOTALL)
DID_YOU_MEAN = "Did you mean: "  # begins what is proposed instead of done
NOT_SAID = "You did not say this, so I ask first. Shall I "  # the same, where it does not stand in the words
LEFT_OUT = "You did not say this, so I left it out: "  # the same, where something else is asked first


_KIN = word_set(
    """mum mom mam mother dad father gran granny grandma grandpa grandad nan sister brother son daughter wife
    husband"""
)
_I_AM = re.compile(
    r"(?:I|we)(?:['’](?:m|re|ve)| am| are| have) (?:(?:got|going) to |got )?(?=\w)", re.IGNORECASE
)  # how a title begins that is a sentence
_DOES = word_set("the a an my our your his her their some all it them")  # what follows a verb in -ing
_HAPPENS = word_set(
    """arrives begins closes come comes departs end ends falls get gets go goes happens lands leaves opens
    show shows starts turn turns"""
)
_PARTICLES = word_set("there here it in out up off on down back away over by at")
_PLACED = re.compile(r" (?:in|at|of|on|to|for|with|from|near|about) (?:the|a|an|my|our) ")
_ARTICLE = re.compile(r" (?:the|a|an|my|our) ")
_LONG = 48  # characters; a longer title that is a sentence is cut at its first comma

_YOURS = {"my": "your", "our": "your", "your": "your", "mine": "yours"}
_DETERMINERS = word_set("the this that these those all every each some any no")


def pick(options: Sequence[str], seed: str) -> str:
    """One of the options, always the same for the same seed."""
    return options[crc32(seed.encode()) % len(options)]


def clip(text: str, width: int = 80) -> str:
    """Text on one line of at most `width` characters, cut between words, with '…' where it was cut."""
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    head = text[: width - 1]
    return (head.rpartition(" ")[0] or head).rstrip(" ,;:") + "…"


def quoted(text: str, width: int = 80) -> str:
    """The user's words between double quotes, clipped; double quotes inside become single ones."""
    return '"' + re.sub(r"[\"“”]", "'", clip(text, width)).rstrip(".") + '"'


def you_said(said: str, width: int = 80) -> str:
    """'you said: "..."', that there were no words, or who said it in a recording."""
    if found := _SAID_IN_RECORDING.fullmatch(said):
        return f"{found['who'] or 'somebody'} said at {found['at']}: {quoted(found['words'], width)}"
    return f"it was {BY_HAND}" if said == BY_HAND else f"you said: {quoted(said, width)}"


def join(items: Iterable[str], *, limit: int = 8, width: int | None = None, last: str = "and") -> str:
    """'A, B and C'; a longer list is cut: 'A, B and 5 more (7 in all)'.

    limit: how many are named at most. width: the characters that these have at most; one is always named.
    """
    found = list(items)
    limit = min(limit, len(found) if width is None else max(1, _fitting(found, width)))
    if len(found) > limit:
        return f"{', '.join(found[:limit])} {last} {len(found) - limit} more ({len(found)} in all)"
    if len(found) < 2:
        return "".join(found)
    return f"{', '.join(found[:-1])} {last} {found[-1]}"


def _fitting(items: Iterable[str], width: int) -> int:
    """How many of the first items have no more characters than that, with the commas between them."""
    return sum(end - 2 <= width for end in accumulate(len(item) + 2 for item in items))


_AND = re.compile(r",\s*(?:and\s+)?|\s+and\s+")


def entries(text: str) -> list[str]:
    """The entries of a list in words: 'Ann, Bo and Cy'."""
    return [piece.strip() for piece in _AND.split(text) if piece.strip()]


_END = re.compile(r"(?<=[.!?;])\s|\n")
_ABBREVIATED = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|no|vs|e\.g|i\.e|approx|inc|ltd)\.$", re.IGNORECASE)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence, line, or part before a ';' begins and ends; 'Dr.' ends none."""
    first = 0
    for match in _END.finditer(text):
        if not _ABBREVIATED.search(text[: match.start()]):
            yield first, match.start()
            first = match.end()
    yield first, len(text)


def readable(text: str) -> str:
    """JSON of plain values in words, as in 'flight TL1, price 90; flight TL2, ...'; other text as it is."""
    if text[:1] not in "[{":
        return text
    try:
        return _in_words(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{spoken(str(name))} {_in_words(one)}" for name, one in value.items())
    if isinstance(value, list):
        return "; ".join(map(_in_words, value))
    return "" if value is None else str(value)


def value_of(node: Revision) -> str:
    """The value of a task for a reply, cut; what a tool gave as JSON in words."""
    value = node.value or ""
    return clip(readable(value) if node.source.startswith("tool:") else value)


def sentence(text: str) -> str:
    """With a capital first letter (but 'iPhone' stays) and a full stop, if it has no end yet."""
    text = text.strip()
    if text[:1].islower() and not text[1:2].isupper():
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", '."', '?"')) else f"{text}."


def plural(noun: str) -> bool:
    """Whether a title reads as a plural ('guests', 'the soup and the dumplings')."""
    if noun.startswith('"') and noun.count('"') == 2:
        return False  # a thing to do
    head = re.split(r" (?:of|for|with|in|to|from|near|at) ", noun)[0]
    last = head.rstrip('"').rpartition(" ")[2].lower()
    if " and " in head or last in ("people", "children"):
        return True
    return len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is"))


def be(noun: str, *, past: bool = False) -> str:
    """The form of 'to be' that fits the noun."""
    if past:
        return "were" if plural(noun) else "was"
    return "are" if plural(noun) else "is"


def pluralised(noun: str) -> str:
    """A plain plural: 'participant' gives 'participants'."""
    if plural(noun):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(?:s|x|z|ch|sh)$", noun) else f"{noun}s"


@lru_cache(maxsize=16_384)
def base(slot: str) -> str:
    """The last part of a dotted slot without its number: 'participant' of 'meeting.participant2'."""
    name = slot.rpartition(".")[2]
    return re.sub(r"[\s_-]*\d+$", "", name) or name


def spoken(name: str) -> str:
    """A slot or class name as words: 'party_size', 'FindBus' give 'party size', 'find bus'."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(word if word.isupper() else word.lower() for word in re.split(r"[\s_.-]+", parts) if word)


def short_title(title: str) -> str:
    """A title as a reply says it: of a sentence ('I'm giving two talks, one on ...') what somebody does."""
    title = " ".join(title.split())
    bare = _I_AM.sub("", title, count=1)
    first, _, rest = bare.partition(" ")
    if (bare != title or _is_doing(first, rest)) and len(bare) > _LONG:
        head = bare.partition(",")[0]
        bare = f"{head}…" if " " in head and head != bare else bare
    return clip(bare)


def title_of(node: Revision) -> str:
    """The title as it stands inside a sentence: 'trip' for a task of slot 'trip' that is titled 'Trip'."""
    title = short_title(node.title)
    name = node.slot.rpartition(".")[2]
    first, space, rest = title.partition(" ")
    a_name = title.lower() in (spoken(name), base(name)) and name.islower()
    if a_name or is_action(title) or _is_doing(first, rest):
        return (first.lower() if first.istitle() else first) + space + rest
    return title


def the(title: str) -> str:
    """A title with the article it needs: 'the trip', 'Alice', 'your dentist', '"mow the lawn"'."""
    title = title.strip()
    first, _, rest = title.partition(" ")
    low = first.lower()
    if low in _YOURS and rest:
        named = first.istitle() and rest.istitle() and " " in rest  # 'Our Town 2030'
        return title if named else f"{_YOURS[low]} {rest}"
    if low in ("a", "an") and rest:
        return f"the {rest}"
    if rest and low.replace("’", "'").removesuffix("'s") in _KIN and low not in _KIN:
        return f"your {title}"  # 'dad's birthday'
    if not title or low in _DETERMINERS or re.fullmatch(r"\W.*|\S*@\S*|https?:\S*|[A-Z]\S*['’]s .*", title):
        return title
    if is_action(title) or _is_doing(first, rest) or _says_when(low, rest) or _is_clause(title):
        return f'"{title}"'
    if SOME_NUMBER.match(title) and not rest:
        return title
    if all(word[:1].isupper() and not _inner_capital(word) for word in title.split()):
        return title  # a name: Alice, John Doe
    return f"the {title}"


def _is_doing(first: str, rest: str) -> bool:
    """Whether words say what somebody does: 'giving two talks', and not 'wedding for two'."""
    after = rest.partition(" ")[0].lower()
    return len(first) > 4 and first.endswith("ing") and bool(after in _DOES or SOME_NUMBER.match(rest))


def _says_when(first: str, rest: str) -> bool:
    """Whether words say that something happens, and name nothing: 'gets there', 'starts at', 'turn up'."""
    return first in _HAPPENS and rest.partition(" ")[0].lower() in _PARTICLES


def _is_clause(title: str) -> bool:
    """Whether a title with an article inside is a sentence, and not a thing with its place or purpose."""
    plain_noun = title[:1].islower() and not title.partition(" ")[0].endswith("ing")
    return _ARTICLE.search(_PLACED.sub("  ", title) if plain_noun else title) is not None


def _inner_capital(word: str) -> bool:
    """MacBook, USB: a brand or an acronym is not by itself a person's name."""
    return any(letter.isupper() for letter in word[1:])


def day(moment: datetime) -> str:
    """A date in words: 'May 12, 2026'."""
    local = moment.astimezone()
    return f"{local:%B} {local.day}, {local.year}"


def since(moment: datetime) -> str:
    """When that was, for a comparison: 'earlier today', 'on May 12, 2026'."""
    return "earlier today" if moment.astimezone().date() == now().astimezone().date() else f"on {day(moment)}"
