"""How texts are compared: folded, split into words, lightly stemmed. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"\d+(?:[:.]\d+)*|[^\W\d_]+")
_ARTICLES = frozenset(
    ("a", "an", "the", "my", "our", "your", "his", "her", "their", "its", "this", "that", "some", "any")
)
_LITTLE_WORDS = """
and or but if of to in on at by for from with about as into is are was were be been am do does did have has
had i you he she it we they me him us them what which who whom when where why how there here not no so than
then can could will would should shall may might must just please also too ever never still yet
"""
STOP = _ARTICLES.union(_LITTLE_WORDS.split())
SPEAKER = frozenset(("i", "me", "myself", "we", "us", "ourselves"))
"""Words by which those who speak name themselves."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text: a set that reads as text."""
    return frozenset(text.split())


def fold(text: str) -> str:
    """A text without case, accents and variant forms ('Café' and 'CAFE' are the same)."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in text if not unicodedata.combining(char))


_VERBS = (
    ("dig", "dug"), ("sell", "sold"), ("buy", "bought"), ("send", "sent"), ("make", "made"),
    ("write", "wrote written"), ("pay", "paid"), ("build", "built"), ("bring", "brought"),
    ("take", "took taken"), ("give", "gave given"), ("find", "found"), ("feed", "fed"),
    ("sweep", "swept"), ("hang", "hung"), ("draw", "drew drawn"), ("sew", "sewn"),
    ("drive", "drove driven"), ("tell", "told"), ("catch", "caught"), ("ring", "rang rung"),
    ("begin", "began begun"), ("choose", "chose chosen"), ("hide", "hidden"), ("tear", "torn"),
    ("wear", "worn"), ("lend", "lent"), ("spend", "spent"), ("teach", "taught"), ("keep", "kept"),
    ("note", "noted"),
)  # fmt: skip
"""Verbs with their past forms; none of these is a word of its own, as left, met and saw are."""
_IRREGULAR = {past: verb for verb, pasts in _VERBS for past in pasts.split()}
_SHORT = {
    short: name
    for name, shorts in (
        ("monday", "mon"), ("tuesday", "tue tues"), ("wednesday", "wed weds"), ("thursday", "thu thur thurs"),
        ("friday", "fri"), ("saturday", "sat"), ("january", "jan"), ("february", "feb"), ("april", "apr"),
        ("june", "jun"), ("july", "jul"), ("august", "aug"), ("september", "sep sept"), ("october", "oct"),
        ("november", "nov"), ("december", "dec"),
    )
    for short in shorts.split()
}  # fmt: skip


def stem(word: str) -> str:
    """A folded word without the common English endings; every stem but one in 'i' begins it or its verb.

    Plurals as in Harman's S stemmer (1991), with a final e and -ing, -ed taken off as well.
    """
    word = _SHORT.get(word) or _IRREGULAR.get(word, word)
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        bare = word.removesuffix(ending)
        if bare != word and len(bare) > 2 and re.search("[aeiouy]", bare):
            word = bare[:-1] if bare[-1] == bare[-2] and bare[-1] not in "slz" else bare
            break
    return _without_e(word)


def _without_e(word: str) -> str:
    if len(word) > 3 and word.endswith("e") and word[:-1] not in STOP:  # notes are not 'not', canes no 'can'
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) > 3 and word.endswith("y") else word


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """The stems of a text, in order; times, dates and amounts alike in every usual spelling.

    '2 p.m.', '2pm' and '2:00 PM' give ('2', 'pm'), '10th' gives ('10',), '$1,200' gives ('1200',).
    """
    text = fold(text).replace("’", "'")
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(\d):00(?=\s*[ap]m\b)", r"\1", text)
    text = re.sub(r"(\d)(?:st|nd|rd|th)\b|'s\b", r"\1", text)
    return tuple(map(stem, _WORD.findall(text)))


NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PAST_FORMS = {stem(verb): tuple(pasts.split()) for verb, pasts in _VERBS}
_DIGITS = {stem(word): str(number) for number, word in enumerate(NUMBERS)}


_NAMED = frozenset(map(stem, _SHORT.values()))  # days and months that have short names


def may_say(word: str, folded: str) -> bool:
    """A quick test before the thorough one: False if a folded text cannot have a word with this stem."""
    spelt_otherwise = word in ("am", "pm") or (len(word) > 3 and not word.isalpha())  # p.m., 1,200
    forms = (word[:3] if word in _NAMED else word.removesuffix("i"), *_PAST_FORMS.get(word, ()))
    return spelt_otherwise or any(form in folded for form in forms)


def says(claimed: str, text: str | None) -> bool:
    """Whether a text says what is claimed, as whole words in a row: 'Boston' is said by 'Boston, MA'.

    Numbers up to twelve are alike in words and digits.
    """
    if not text:
        return False
    if same_moment(claimed, text):
        return True
    sought = words(claimed)
    while len(sought) > 1 and sought[0] in _ARTICLES:
        sought = sought[1:]
    sought = tuple(_DIGITS.get(word, word) for word in sought)
    if sought and not sought[0].isdecimal() and not may_say(sought[0], fold(text)):
        return False
    found = tuple(_DIGITS.get(word, word) for word in words(text))
    size = len(sought)
    if not size:  # signs only, such as an emoji
        return bool(claimed.strip()) and fold(claimed.strip()) in fold(text)
    return any(
        found[n : n + size] == sought and not (sought[0].isdecimal() and _is_of_an_hour(found[:n]))
        for n in range(len(found) - size + 1)
    )


_CLOCK = re.compile(
    r"(?:at |around |about )?(?P<hour>\d{1,2})(?:[:.h](?P<minute>[0-5]\d))?\s*(?P<half>[ap])?(?:\.?m\.?)?"
    r"(?: in the (?P<part>morning|afternoon|evening))?"
)


def clock(text: str) -> int | None:
    """The minute of the day that a text is, if that is clear: 945 for '15:45' and '3.45 pm'; else None."""
    found = _CLOCK.fullmatch(fold(text).strip(" .,!?"))
    if found is None or (found["minute"] is None and not (found["half"] or found["part"])):
        return None
    hour, late = int(found["hour"]), found["half"] == "p" or found["part"] in ("afternoon", "evening")
    told = found["half"] is not None or found["part"] is not None
    if hour > 24 or (told and hour > 12):
        return None
    hour = hour % 12 + 12 * late if told else hour
    return 60 * hour + int(found["minute"] or 0)


_DAY_FIRST = re.compile(
    rf"(?:the )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join((*MONTHS, *(one[:3] for one in MONTHS)))})"
)
_MONTH_FIRST = re.compile(
    rf"({'|'.join(MONTHS)}|{'|'.join(one[:3] for one in MONTHS)})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?"
)


def month_day(text: str) -> tuple[str, int] | None:
    """The month, by three letters, and the day that a text is: 'July 27th', '27 Jul'; else None."""
    plain = fold(text).strip(" .,!?").removeprefix("on ")
    if (found := _DAY_FIRST.fullmatch(plain)) is not None:
        return found[2][:3], int(found[1])
    found = _MONTH_FIRST.fullmatch(plain)
    return (found[1][:3], int(found[2])) if found is not None else None


def same_moment(one: str, other: str) -> bool:
    """Whether two texts are the same time of day, or the same day, in whatever form."""
    return any((first := form(one)) is not None and first == form(other) for form in (clock, month_day))


def _is_of_an_hour(before: tuple[str, ...]) -> bool:
    """Whether a number after these words is not the hour itself: seven in 'half past seven'."""
    return before[-1:] in (("half",), ("past",)) or before[-2:] == ("quarter", "to")


def number_in(text: str) -> int | None:
    """The first whole number that a text names, in digits or as a word up to twelve."""
    for word in re.findall(r"\w+", fold(text)):
        if word in NUMBERS:
            return NUMBERS.index(word)
        if re.fullmatch(r"[0-9]{1,9}", word):
            return int(word)
    return None


def names(entity: str, text: str | None) -> bool:
    """Whether a text names an entity as whole words, in any case ('case' is not in 'bookcase')."""
    return bool(text) and bool(entity_pattern(entity).search(text or ""))


def entity_pattern(entity: str) -> re.Pattern[str]:
    """Finds an entity as whole words, in any case and with any spaces; an empty one nowhere."""
    spaced = r"\s+".join(re.escape(word) for word in entity.split())
    return re.compile(rf"(?<!\w){spaced}(?!\w)" if spaced else r"(?!)", re.IGNORECASE)


def content_words(text: str) -> list[str]:
    """The stems of a text that carry its content; number words as digits."""
    stems = (word for word in words(text) if word not in STOP)
    return [str(NUMBERS.index(word)) if word in NUMBERS else word for word in stems]


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same but for case, accents and the forms of their words."""
    return fold(one.strip()) == fold(other.strip()) or words(one) == words(other) != ()
