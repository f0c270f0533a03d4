"""Texts made safe to show: no characters that control a terminal or reorder the text around them.

That is what control characters of both blocks do (C0, C1), and the marks that embed, override or isolate a
direction (Unicode, UAX 9). Lone surrogates have no bytes.
"""

from __future__ import annotations

import re

_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONE = re.compile(r"[\ud800-\udfff]")
_ESCAPED = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # of the others JSON sees to


def safe(text: str) -> str:
    """Text without such characters, a lone surrogate as '?'; line ends and tabs stay."""
    return _LONE.sub("?", _STEERS.sub("", text))


def escaped(text: str) -> str:
    """JSON with such characters as escapes: it reads back the same."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
