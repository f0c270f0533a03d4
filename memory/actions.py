"""Which titles say something to do, and which name a thing. Pure."""

from __future__ import annotations

import re

from .words import word_set

SOME_NUMBER = re.compile(r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)

VERBS = word_set(
    """add apply approve arrange ask assemble bake book borrow bring build buy call cancel change charge check
    choose chop clean clear collect compare configure confirm contact cook copy create cut decide decorate
    deliver deploy design do draft draw drive dry edit empty feed fetch file fill finalise finalize find
    finish fix fly fold get give go grill hang help hire install invite iron keep learn lend look mail make
    measure meet mend migrate mix mow move negotiate order organise organize pack paint pay peel pick plan
    plant play polish post practise prepare print proofread publish put read register rehearse remind renew
    rent repair replace reply research reserve restore return review ride rinse run sand save schedule
    scrub search sell send set sew ship shop sign slice sort start stir study submit sweep take talk teach
    tell test tidy translate trim try update upload vacuum verify visit walk wash water weed wipe withdraw
    wrap write"""
)
"""First words that make a title a thing to do ('mow the lawn') and not the name of a thing."""

_ALSO_NOUNS = word_set(
    """call change charge check clean clear contact cook cut design draft drive dry empty file fix fold
    grill help polish
    iron look mail measure mix move order paint pay pick plan plant play post practise press print read
    record rent repair research return review ride run sand sew ship shop sign sort start stir
    study talk teach test tidy trim update visit walk wash water weed"""
)
_WITH_BOOKS = word_set(
    "club group swap sale fair launch report list review shelf shop store signing exchange tour"
)
_WITH_ORDERS = word_set("of for from form forms number numbers list book confirmation in at with by and to")
_OBJECT = word_set(
    """for the a an my our your his her their and or all some up out in off to for with it them
    mum mom mam dad gran granny grandma grandpa grandad nan nana auntie uncle everyone everybody"""
)


def is_action(title: str) -> bool:
    """Whether a title says something to do: 'mow the lawn', 'submit', and not 'clear case', 'book club'."""
    first, *rest = title.lower().replace(",", " and").split() or [""]
    if first == "book":
        return bool(rest) and rest[0] not in _WITH_BOOKS
    if first == "order" and rest:
        return rest[0] not in _WITH_ORDERS
    if rest and first in VERBS and title.split()[1][:1].isupper():
        return True  # 'call Dave'
    counted = len(rest) > 1 and SOME_NUMBER.fullmatch(rest[0]) is not None and rest[1].endswith("s")
    return first in VERBS and (first not in _ALSO_NOUNS or counted or (bool(rest) and rest[0] in _OBJECT))
