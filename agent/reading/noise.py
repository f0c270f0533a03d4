"""What is no sentence: signs, code, a word over and over, a number that nobody asked for. Pure."""

from __future__ import annotations

import re
from unicodedata import category

from taskloom.agent.turn.reading import View

from .gate import bare_answer

_PLAIN = frozenset("\n\t\r\u200b\u200c\u200d\ufeff\u00ad")
_IN_SENTENCES = frozenset(".,;:!?'’‘\"“”()-–—&/€$£%+@#_…")
_PICTURES = frozenset(("So", "Sk", "Mn", "Mc"))  # and what is set to letters
_NUMBER = re.compile(r"[-+]?[\d.,]+")
LEAST = 0.8  # of the signs of a sentence are letters, digits, spaces or common punctuation
OVER_AND_OVER = 4
MANY_WORDS, FEW_WORDS = 60, 6


def is_noise(utterance: str, view: View) -> bool:
    """Whether an utterance is no sentence, and nothing that was asked for."""
    text = utterance.strip()
    if any(category(sign) in ("Cc", "Cs", "Cf") and sign not in _PLAIN for sign in text):
        return True
    usual = sum(
        sign.isalnum() or sign.isspace() or sign in _IN_SENTENCES or category(sign) in _PICTURES
        for sign in text
    )
    words = text.lower().split()
    asked = view.question is not None or (view.exchanges[-1][1] if view.exchanges else "").endswith("?")
    return (
        usual < LEAST * len(text)
        or text[:1] + text[-1:] in ("{}", "<>")
        or (len(words) >= OVER_AND_OVER and len(set(words)) == 1 and bare_answer(words[0]) is None)
        or (_NUMBER.fullmatch(text) is not None and not asked and not view.graph.active)
    )


def is_repeated(text: str) -> bool:
    """Whether a text says the same few words over and over: 'undo that. undo that. ...'."""
    words = text.lower().split()
    return len(words) >= MANY_WORDS and len(set(words)) <= FEW_WORDS
