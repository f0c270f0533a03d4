"""The catalogue of replies: every entry says what its examples show."""

from __future__ import annotations

import pytest

from taskloom.agent.language import answers, clarifications, replies
from taskloom.agent.language.reply import Reply

CATALOGUE = {
    f"{part.__name__.rpartition('.')[2]}.{name}": entry
    for part in (replies, answers, clarifications)
    for name, entry in vars(part).items()
    if isinstance(entry, Reply)
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_reply_says_what_its_examples_show(name: str) -> None:
    entry = CATALOGUE[name]
    assert entry.examples, "give it an example: .shows(text, field=...)"
    for text, fields in entry.examples:
        said = [entry.said(way, fields) for way in entry.ways]
        assert text in said
        assert all(len(one) <= 240 and "{" not in one for one in said)


def test_a_verb_agrees_with_what_fills_its_field() -> None:
    reply = Reply("{tasks} {tasks:is} new, {tasks:was} old and {tasks:needs} care")
    assert reply(tasks=["the soup"]) == "The soup is new, was old and needs care."
    assert reply(tasks="the guests") == "The guests are new, were old and need care."
    assert reply(tasks=["a", "b"]) == "A and b are new, were old and need care."


def test_a_field_that_is_not_given_is_an_error() -> None:
    with pytest.raises(KeyError, match="task"):
        Reply("{task} {task:is} done")()
