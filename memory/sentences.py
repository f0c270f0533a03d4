"""What a state of a task says as an English sentence, and of whom it says it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from .tasks import Revision, TaskGraph, TaskNode
from .words import SPEAKER, alike, content_words, fold

_PERSON = re.compile(r"participant|guest|assignee|attendee|speaker|player|teacher|passenger|invitee")
_PROFILE = re.compile(r"\b(?:profiles?|preferences?|about me)\b")
_OWNER = re.compile(r"([A-Z]\w*(?: [A-Z]\w*)*)['’]s? ")
_DETERMINED = re.compile(r"(?:the|a|an|my|our|your|his|her|their|this|that)\b|[A-Z\W\d]|\S+['’]s ", re.ASCII)


def inline_title(title: str) -> str:
    """A title inside a sentence: 'the trip to Rome', 'Ken', 'my party'."""
    return title if _DETERMINED.match(title) else f"the {title}"


def value_of(tasks: TaskGraph, node: TaskNode, state: Revision) -> str | None:
    """What a state says: its value, or for one of a list its title; None where it says nothing more."""
    if not state.active or (state.status == "done" and not state.value):
        return None
    named = fold(state.title) == fold(_base(state.slot).replace("_", " "))
    bare = named and not tasks.children.get(node.id)
    return state.value or (None if bare or not state.parent else state.title)


def sentence(
    tasks: TaskGraph, state: Revision, value: str | None, known: bool, called: Callable[[str], str]
) -> str:
    """A state as a sentence; '' where it tells nothing. known: whether the task has been told before."""
    parent = tasks[state.parent] if state.parent else None
    whole = called(parent.title) if parent else "the plan"
    thing, are = called(state.title), "are" if _plural(state.title) else "is"
    if state.status == "removed":
        return _capital(f"{thing} {are} no longer part of {whole}.") if known else ""
    owner = _owner(tasks, state)
    plain = state.value is None or fold(state.value) == fold(state.title)
    if parent and not plain:
        thing = f"{thing} of {whole}" if owner is None else f"{owner or 'the user'}'s {state.title}"
    if state.status == "inactive":
        return _capital(f"{thing} {are} on hold.") if known else ""
    if state.status == "done" and plain and parent and _person(tasks, state):
        return ""  # who takes part is not done with it
    if state.status == "done" and plain:
        return _capital(f"{thing} {are} done.")
    if value is None:
        if not parent:
            return _capital(f"{thing} {are} planned.")
        return _capital(f"{thing} of {whole} {are} open again.") if known else ""
    if _person(tasks, state):
        if (
            parent and parent.parent and _of_people(_base(parent.slot))
        ):  # a list of people, part of what they are in
            whole = called(tasks[parent.parent].title)
        several = len(_names(value)) > 1
        who = "the user" if fold(value) in SPEAKER else value
        if _base(state.slot).startswith("assignee"):
            return _capital(f"{who} {'are' if several else 'is'} responsible for {whole}.")
        return _capital(f"{who} {'take' if several else 'takes'} part in {whole}.")
    return _capital(f"{thing} {are} {f'part of {whole}' if plain else value}.")


def says_same(one: tuple[str | None, str], other: tuple[str | None, str]) -> bool:
    """Whether two (value, text) of one slot say the same."""
    if one[0] is None and other[0] is None:
        return content_words(one[1]) == content_words(other[1])
    return alike(one[0] or "", other[0] or "")


def people_of(tasks: TaskGraph, state: Revision) -> tuple[str, ...]:
    """Whom a state is about: the people it names, or whose profile it is of; () is the user."""
    if owner := _owner(tasks, state):
        return (owner,)
    return _names(state.value or state.title) if _person(tasks, state) else ()


def _names(text: str) -> tuple[str, ...]:
    """The names in a list of them, the user left out."""
    names = (name.strip() for name in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", text))
    return tuple(dict.fromkeys(name for name in names if name and fold(name) not in SPEAKER))


def _person(tasks: TaskGraph, state: Revision) -> bool:
    """Whether a task stands for people: by the name of its slot, or as a member of a list of them.

    A number of them ('guests: 80') and a list itself are no people.
    """
    if state.value is not None:
        return _of_people(_base(state.slot)) and not re.match(r"\W*\d", state.value)
    if fold(state.title) == fold(_base(state.slot).replace("_", " ")):
        return False
    listed = tasks[state.parent].slot if state.parent else ""
    return any(map(_of_people, (_base(state.slot), _base(listed))))


def is_person_name(slot: str) -> bool:
    """Whether a slot name is one for a person."""
    return _PERSON.match(slot) is not None


def _of_people(slot: str) -> bool:
    """Whether a slot name is one for a person, or for a list of them."""
    return slot.startswith("people") or is_person_name(slot)


def _owner(tasks: TaskGraph, state: Revision) -> str | None:
    """Whose profile a state is part of: a name, '' for the user; None where it is of no profile."""
    parent = tasks[state.parent] if state.parent else None
    if parent is None or not is_profile(parent.slot, parent.title):
        return None
    named = _OWNER.match(parent.title)
    return named[1] if named else ""


def is_profile(slot: str, title: str = "") -> bool:
    """Whether a task or subject is a person's profile: preferences, 'about me'."""
    return _PROFILE.search(f"{fold(slot).replace('_', ' ').replace('.', ' ')} , {fold(title)}") is not None


def _base(slot: str) -> str:
    """The last part of a dotted slot without its number."""
    return slot.rpartition(".")[2].rstrip("0123456789").rstrip("_- ")


def _plural(noun: str) -> bool:
    last = re.split(r" (?:of|for|with|in|to|from|near|at) ", noun.lower())[0].rpartition(" ")[2]
    return len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
