"""A message as it would be written out: a list in lines as one sentence, the short forms of chats. Pure."""

from __future__ import annotations

import re

from taskloom.agent.language.everyday import SHORT_FORMS

_FORMS = "|".join(map(re.escape, sorted(SHORT_FORMS, key=len, reverse=True)))
_SHORT = re.compile(rf"(?<![\w'’./@#-])(?:{_FORMS})(?![\w'’/@-])")
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_CLOSED = re.compile(r"[.,:;!?]$")
_LONGEST = 9  # words of a line that is an entry of a list, and no sentence


def written_out(text: str) -> str:
    """The message, plainer: a list in lines as 'Visit: demo 2pm, taxi', '2moro' as 'tomorrow'."""
    return _SHORT.sub(lambda found: SHORT_FORMS[found[0]], _in_line(text))


def _in_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return text
    bulleted = [_BULLET.match(f"{line} ") is not None for line in lines]
    plain = [_BULLET.sub("", line, count=1) for line in lines]
    short = all(len(line.split()) <= _LONGEST and not line.endswith((".", "!", "?")) for line in plain[1:])
    if not short and not any(bulleted):
        return text
    told = plain[0]
    for number, line in enumerate(plain[1:], 1):
        heads = number == 1 and not bulleted[0] and len(lines) > 2
        told += f"{'' if _CLOSED.search(told) else ':' if heads else ','} {line}"
    return told
