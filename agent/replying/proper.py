"""Names in a text that stand nowhere else, told by their capital letters. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from taskloom.agent.language.everyday import ALSO_NAMES, EVERYDAY, FOREIGN, GERMAN
from taskloom.agent.language.words import STOP
from taskloom.memory.words import fold, stem, words

from .figures import Figure

_CAPITAL = re.compile(r"(?<![\w@.’'-])[^\W\d_a-z][\w]*(?:['’][^\W\d_]+)?(?<!['’])")
_OPENS = re.compile(r"(?:^|[.!?;:…]['\")\]*_”’]*\s+|\n\s*|[\"“(\[*_•–—-]\s*|¡|¿)$")
_VERB_NEXT = re.compile(
    r"\s+(?:is|are|was|were|has|have|had|will|can|could|would|should|may|might|comes?|joins?|says?|does|did|\w{3,}s)\b"
    r"|['’]s\s+\w|\s+and\s+[A-Z]"
)


def strange_names(text: str, figures: Sequence[Figure], known: AbstractSet[str]) -> Iterator[str]:
    """The capitalised words of a text that are neither known nor everyday words.

    Args:
        text: a reply.
        figures: its figures; months and the like are theirs.
        known: stems of the words that may be said.
    """
    foreign = is_foreign(text)
    if foreign and len(GERMAN & set(re.findall(r"\w+", text.lower()))) > 1:
        return  # every noun is capitalised
    for match in _CAPITAL.finditer(text):
        name = re.sub(r"['’].*$", "", match[0])
        if not name[0].isupper() or any(one.start <= match.start() < one.end for one in figures):
            continue
        if set(words(name)) <= known or len(name) == 1:
            continue
        low, follows = fold(name), text[match.start() + len(name) :]
        first = bool(_OPENS.search(text[: match.start()]))
        if first and foreign:
            continue
        everyday = low in EVERYDAY or stem(low) in EVERYDAY or (first and _ordinary(low, follows))
        if everyday and not (low in ALSO_NAMES and (not first or _VERB_NEXT.match(follows))):
            continue
        yield name


def _ordinary(word: str, follows: str) -> bool:
    """Whether a word that opens a sentence has the shape of an ordinary English one, not its subject."""
    shape = (
        re.search(r"(?:ing|ed|ly|tion|ment|ness|less|ful|ous|able|ible|ity|ive|al)$", word) and len(word) > 4
    )
    return bool(shape) and not _VERB_NEXT.match(follows)


def is_foreign(text: str) -> bool:
    """Whether a text is in another language than English, by its little words."""
    found = re.findall(r"[^\W\d_]+", text.lower())
    other = sum(word in FOREIGN for word in found)
    return other > 1 and other > sum(word in STOP for word in found)
