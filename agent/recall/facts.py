"""Which facts answer a question, and how they are told: by whom and what they are about. Pure text.

What is merely like a question is no answer. The names of a question have to be in a fact, and its other
words, or what stands for them (`_SORTS`); half of these may be missing where it is much alike in meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from taskloom.agent.language.statements import is_name, is_statement
from taskloom.agent.language.wording import clip, day, since
from taskloom.memory.facts import FactGraph, closure, moment
from taskloom.memory.ranking import Hit, stems
from taskloom.memory.records import Fact, searched
from taskloom.memory.words import fold

MUCH_LIKE = 0.7
"""Cosine from which half of a question's words may be missing. Chosen, as all here, on the first half of
tests/facts_asked.json alone."""

MANY, TOKENS, DEPTH = 12, 300, 3  # facts in one reply; what they may take; how far back they reach

_CAPITAL = re.compile(r"(?<!^)\b[^\W\d_a-z][\w-]*|^[^\W\d_a-z][\w-]*(?=['’]s\b)")
_ME = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|user|user's)\b", re.IGNORECASE)
_ABOUT_ME = re.compile(r"\babout (?:me|myself|us)\b", re.IGNORECASE)
_WHO = re.compile(r"\b(?:who|whom|whose|anyone|anybody|someone|somebody|which of)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used? to|original(?:ly)?|initial(?:ly)?|at first"
    r"|back then|in the past|once)\b",
    re.IGNORECASE,
)
_ACTS = (
    "add|book|buy|cancel|change|invite|make|move|order|plan|postpone|put|remove|rename|reserve|schedule|set|shift"
    "|update"
)
_ACTED = re.compile(rf"\bwhen (?:did|have|had) (?:i|we) (?:last |ever )?(?:{_ACTS})\b", re.IGNORECASE)
_HOUR = re.compile(
    r"\b(?:after|before|around|past|until|till|since|by)(?: half past| quarter (?:to|past))?"
    r" (?:\d[\d:.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)\b",
    re.IGNORECASE,
)
_GENERAL = """
    know tell remember recall say said mention mentioned told anything something everything nothing thing
    things much many get got make made go goes going sort kind type again now currently exactly usually often
    always remind question really use used own owned special information info details facts idea happen
    happened after need needs one ones want wanted planned scheduled set date time day times when long later
    soon yet about before previously formerly originally initially first past once earlier come coming person
    people also anyone anybody someone somebody take takes have has
"""
_SORTS = """
    allergic allergy allergies intolerant < allergic allergy intolerant intolerance
    live lives living address home < live lives living moved home address
    work works working job profession occupation employer living < work works job profession employer teaches
    eat food diet < eat eats food vegetarian vegan meat allergic intolerant
    drink drinks < drink drinks alcohol coffee tea wine beer
    speak language languages < speak speaks language
    colour color < colour color red green blue yellow black white pink purple orange grey gray brown gold
    email e-mail mail < email e-mail mail
    phone telephone mobile < phone telephone mobile number
    name names called < name called named
    child children kid kids < child children kid kids son sons daughter daughters
    pet pets animal animals < pet dog dogs cat cats horse rabbit hamster fish animal
    scared afraid fear < scared afraid fear phobia
    favourite favorite prefer enjoy love like < favourite favorite like love prefer enjoy preferences hate
    hate dislike < hate hates dislike like likes
    music < music song songs jazz rock pop classical opera blues metal folk techno
    instrument < instrument play plays guitar piano drums violin flute bass cello trumpet
    sport sports < sport football tennis rugby golf hockey cricket swimming climbing cycling running
    drive drives < car drive drives
    sit < seat seats sit sits
    attend attending invited guest guests join joining < part invited guest attend join coming
    spend cost costs price pay < budget cost costs price amount pay spend
    married spouse partner < married wife husband spouse partner
    boss manager < boss manager
    doctor gp physician < doctor gp physician
    old age < years old age turned born
    born birthday < born birthday
    visit visiting < visit coming stay
"""
"""Words of questions, and the words of facts that stand for them."""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """What a question is about, in folded stems.

    names: that have to be in a fact. words: the others that carry meaning. mine: it is of the user.
    past: what was before is wanted. acted: when something was done, so that the time of a fact tells.
    """

    text: str
    names: frozenset[str]
    words: tuple[str, ...]
    mine: bool
    past: bool
    acted: bool


def parse_question(text: str, people: Iterable[str] = ()) -> FactQuestion:
    """What a question is about; people: names that are known, which it may have in small letters."""
    text = " ".join(text.split())
    known = {stem for name in people for stem in stems(name)}
    capital = (name for name in _CAPITAL.findall(text) if is_name(name))
    all_words = list(dict.fromkeys(stems(_HOUR.sub(" ", text).replace("’", "'").replace("'s", ""))))
    names = {stem for name in capital for stem in stems(name)} | known.intersection(all_words)
    acted = bool(_ACTED.search(text))
    passed = _general() | (_stems(_ACTS.replace("|", " ")) if acted else frozenset())
    words = tuple(word for word in all_words if word not in names and word not in passed and len(word) > 1)
    return FactQuestion(
        text, frozenset(names), words, bool(_ME.search(text)), bool(_PAST.search(text)), acted
    )


def answering_facts(
    question: FactQuestion,
    hits: Sequence[Hit],
    every: Callable[[], Sequence[Fact]],
    *,
    thread: str,
    taken: Container[int] = (),
) -> tuple[Fact, ...]:
    """The facts that answer a question, in order of time; () where none does.

    Args:
        question: from `parse_question`.
        hits: facts that a search found, with their likeness.
        every: gives all facts of the user; not called where none of the hits is an answer.
        thread: what its tasks say is left out: their graph has been asked.
        taken: turns of that thread that changed tasks, so that the tasks say what was said there.
    """
    likeness = {hit.record.id: hit.dense for hit in hits}
    found = [hit.record for hit in hits if isinstance(hit.record, Fact)]
    if not question.words:  # a profile: all there is of somebody
        found = list(every())
    places = _places(found)
    fitting = [
        fact
        for fact in found
        if fact.status != "deleted"
        and _about(question, fact, words := _words(fact, places))
        and _says(question, words, likeness.get(fact.id, 0.0))
    ]
    fitting = _of_the_kind(question, fitting)
    if not fitting:
        return ()
    facts = every()
    fitting = _without_repeats(fitting, facts)
    outdated = _outdated(fitting, facts)
    outdated |= _replaced([fact for fact in fitting if fact.status == "current" and fact.id not in outdated])
    usable = [
        outdated.get(fact.id, fact)
        for fact in fitting
        if fact.thread != thread or (is_remark(fact) and fact.turn not in taken)
    ]
    holding = [fact for fact in usable if fact.status == "current"]
    ended = [fact for fact in usable if fact.status == "former"]
    if question.past:
        return tuple(sorted(ended, key=moment))[-MANY:]
    if question.acted and ended:
        changed = {(fact.thread, fact.slot, fact.subject) for fact in ended}
        holding = [fact for fact in holding if (fact.thread, fact.slot, fact.subject) in changed]
        holding += ended
    holding.sort(key=lambda fact: (fact.status == "former", -likeness.get(fact.id, 0.0)))
    chosen = [fact.id for fact in holding[:MANY]]
    return closure(FactGraph(holding), chosen, depth=DEPTH, tokens=TOKENS).facts


def covers(question: FactQuestion, text: str) -> bool:
    """Whether a text has all that a question is about."""
    has = _stems(text)
    return question.names <= has and all(_stands(word, has) for word in question.words)


# ---- what a fact has to have ----------------------------------------------------------------------


def is_remark(fact: Fact) -> bool:
    """Whether a fact is of what was said beside the tasks."""
    return fact.slot is None or is_statement(fact)


def _places(facts: Iterable[Fact]) -> Mapping[tuple[str, str], str]:
    """Where the wholes of tasks are, by thread and title: 'the hotel in Lisbon' is that of the trip there."""
    found: dict[tuple[str, str], str] = {}
    for fact in facts:
        if fact.subject and fact.status == "current" and _PLACE.search(fact.slot or ""):
            key = (fact.thread, fact.subject)
            found[key] = f"{found.get(key, '')} {fact.value or ''}"
    return found


def _words(fact: Fact, places: Mapping[tuple[str, str], str]) -> frozenset[str]:
    """The stems of all that a fact may be found by."""
    slot = re.sub(r"[_.\d]+", " ", _slot_of(fact))
    return _stems(searched(fact)) | _stems(slot) | _stems(places.get((fact.thread, fact.subject), ""))


def _about(question: FactQuestion, fact: Fact, words: frozenset[str]) -> bool:
    """Whether a fact is about whom a question is about."""
    if question.names:
        return question.names <= words
    if not question.words:
        return bool(_ABOUT_ME.search(question.text)) and is_remark(fact) and not fact.people
    others = bool(fact.people) and is_remark(fact) and not _ME.search(fact.text)
    return not (question.mine and others) or bool(_WHO.search(question.text))


def _says(question: FactQuestion, has: frozenset[str], likeness: float) -> bool:
    """Whether a fact with these words says something of what a question is about."""
    found = [word for word in question.words if _stands(word, has)]
    if len(found) == len(question.words):
        return True
    exact = {word for word in question.words if not word.isalpha()}
    return 2 * len(found) >= len(question.words) and likeness >= MUCH_LIKE and exact <= set(found)


def _stands(word: str, has: frozenset[str]) -> bool:
    """Whether some stems have a word of a question, one made of it ('teach', 'teacher'), or one for it."""
    if word in has or not has.isdisjoint(_sorts().get(word, ())):
        return True
    return len(word) >= _LONG and any(
        len(one) >= _LONG and (one.startswith(word) or word.startswith(one)) for one in has
    )


_PLACE = re.compile(r"place|location|address|venue|city|destination")
_LONG = 5  # letters of a stem that another may begin with
_KINDS = (
    (re.compile(r"\b(?:when|what (?:time|day|date))\b", re.IGNORECASE),
     re.compile(r"date|day|time|deadline|until|start"),
     re.compile(r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|morning|noon|evening|night|summer|winter|spring"
                r"|autumn|week|month|year|january|february|march|april|june|july|august|september|october"
                r"|november|december|\bmay\b|always|never", re.IGNORECASE)),
    (re.compile(r"\bwhere\b", re.IGNORECASE),
     re.compile(r"place|location|address|venue|city|room|start|destination|home|live"),
     re.compile(r"\b(?:in|at|near|to|on|from|behind|under|by|seats?|address)\b", re.IGNORECASE)),
    (re.compile(r"\bhow (?:many|much|old|long|big|tall|far)\b", re.IGNORECASE),
     re.compile(r"budget|size|count|amount|price|cost|number|age|duration"),
     re.compile(r"\d|\b(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b",
                re.IGNORECASE)),
)  # fmt: skip
"""What a question word asks for: the slots, and the words of a sentence, that can give it."""


def _of_the_kind(question: FactQuestion, facts: list[Fact]) -> list[Fact]:
    """Those of some facts that give what the question's first word asks for."""
    if question.acted:
        return [fact for fact in facts if not is_remark(fact)]
    if _WHO.search(question.text) and (named := [fact for fact in facts if fact.people]):
        return named
    for wanted, slots, phrases in _KINDS:
        if wanted.search(question.text):
            return [fact for fact in facts if _gives(fact, slots, phrases)]
    return facts


def _gives(fact: Fact, slots: re.Pattern[str], phrases: re.Pattern[str]) -> bool:
    """Whether a fact gives what these slots, or these words, do."""
    if is_remark(fact):
        return bool(phrases.search(fact.text))
    if any(typed.search(_slot_of(fact)) for _, typed, _ in _KINDS):
        return bool(slots.search(_slot_of(fact)))
    return bool(phrases.match(fact.value or ""))


def _slot_of(fact: Fact) -> str:
    return "" if is_statement(fact) else fact.slot or ""


# ---- what holds -----------------------------------------------------------------------------------


def _outdated(fitting: Iterable[Fact], facts: Sequence[Fact]) -> dict[str, Fact]:
    """Statements that something else of their turn told too, which holds no longer: by id, as history."""
    said = {fact.id: fact for fact in fitting if is_statement(fact) and fact.status == "current"}
    turns: dict[tuple[str, int], list[str]] = {}
    for fact in said.values():
        turns.setdefault((fact.thread, fact.turn), []).append(fact.id)
    found = {}
    for fact in facts:
        if fact.status == "former" and not is_statement(fact):
            for turn in {fact.turn, *fact.sources}:
                for key in turns.get((fact.thread, turn), ()):
                    if _tells(said[key], fact):
                        found[key] = said[key].model_copy(update={"status": "former", "until": fact.until})
    return found


def _tells(statement: Fact, other: Fact) -> bool:
    """Whether a statement says what another fact does."""
    wanted = _stems(other.value or other.text) - _general() - {"user"}
    return bool(wanted) and wanted <= _stems(statement.text)


def _without_repeats(fitting: Iterable[Fact], facts: Iterable[Fact]) -> list[Fact]:
    """Some facts without what the user said in their turn in so many words: those are to be gone by."""
    fitting = list(fitting)
    turns = {(fact.thread, turn) for fact in fitting for turn in (fact.turn, *fact.sources)}
    said: dict[tuple[str, int], list[Fact]] = {}
    for fact in facts:
        if (fact.thread, fact.turn) in turns and is_statement(fact):
            said.setdefault((fact.thread, fact.turn), []).append(fact)

    def again(fact: Fact) -> bool:
        beside = (one for turn in {fact.turn, *fact.sources} for one in said.get((fact.thread, turn), ()))
        return not is_statement(fact) and any(_tells(one, fact) for one in beside)

    return [fact for fact in fitting if not again(fact)]


def _replaced(holding: Iterable[Fact]) -> dict[str, Fact]:
    """Of facts that hold, those that say what a newer one of another thread says otherwise: as history."""
    newest: dict[str, Fact] = {}
    found = {}
    for fact in sorted(holding, key=moment, reverse=True):
        head = fact.text.removesuffix(".").removesuffix(fact.value or "")
        if fact.value and not fact.text.startswith(fact.value) and fact.text != f"{head}.":
            newer = newest.setdefault(fold(head), fact)
            if newer.thread != fact.thread and newer.at > fact.at and fold(newer.text) != fold(fact.text):
                found[fact.id] = fact.model_copy(update={"status": "former", "until": newer.at})
    return found


# ---- words ----------------------------------------------------------------------------------------


@lru_cache(maxsize=10_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@cache
def _general() -> frozenset[str]:
    """Words that say nothing of what a question is about."""
    return _stems(_GENERAL)


@cache
def _sorts() -> Mapping[str, frozenset[str]]:
    """Stems of questions with the stems of facts that stand for them."""
    found: dict[str, frozenset[str]] = {}
    for line in filter(None, map(str.strip, _SORTS.splitlines())):
        question, _, answers = line.partition(" < ")
        for stem in _stems(question):
            found[stem] = found.get(stem, frozenset()) | _stems(answers)
    return found


# ---- in words -------------------------------------------------------------------------------------


def fact_lines(facts: Sequence[Fact]) -> tuple[str, ...]:
    """Facts for a reply: one in a sentence, several a line each, with their time."""
    if len(facts) == 1:
        return (_sentence(facts[0]),)
    return ("This is what I know:", *(f"\n- {_line(fact)}" for fact in facts)) if facts else ()


def _sentence(fact: Fact) -> str:
    text = _text(fact)
    if is_statement(fact):
        said = f'You told me {since(fact.at)}: "{text}."'
    else:
        said = f"I noted {since(fact.at)}: {text[0].lower() + text[1:] if text.startswith('The ') else text}."
    return f"{said} It changed{_when(fact) or ' since'}." if fact.status == "former" else said


def _line(fact: Fact) -> str:
    changed = f" (changed{_when(fact) or ' since'})" if fact.status == "former" else ""
    return f"{day(fact.at)}: {_text(fact)}{changed}"


def _when(fact: Fact) -> str:
    return f" {since(fact.until)}" if fact.until else ""


def _text(fact: Fact) -> str:
    return clip(fact.text, 300).rstrip(".")
