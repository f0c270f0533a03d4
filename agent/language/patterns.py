"""`re` with room for all the patterns of the rules.

The cache of the standard module holds 512 patterns. The rules have thousands, some made from what is in the
plan, so that it would compile most of them again in every turn: 3 of the 5 ms that reading takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from re import DOTALL, IGNORECASE, VERBOSE, Match, Pattern, compile, escape  # noqa: A004

__all__ = ["DOTALL", "IGNORECASE", "VERBOSE", "Match", "Pattern", "compile", "escape"]
__all__ += ["findall", "finditer", "fullmatch", "match", "search", "split", "sub"]

_compiled = lru_cache(maxsize=8192)(compile)


def match(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    """As `re.match`."""
    return _compiled(pattern, flags).match(text)


def fullmatch(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    """As `re.fullmatch`."""
    return _compiled(pattern, flags).fullmatch(text)


def search(pattern: str, text: str, flags: int = 0) -> Match[str] | None:
    """As `re.search`."""
    return _compiled(pattern, flags).search(text)


def findall(pattern: str, text: str, flags: int = 0) -> list[str]:
    """As `re.findall`."""
    return _compiled(pattern, flags).findall(text)


def finditer(pattern: str, text: str, flags: int = 0) -> Iterator[Match[str]]:
    """As `re.finditer`."""
    return _compiled(pattern, flags).finditer(text)


def split(pattern: str, text: str, maxsplit: int = 0, flags: int = 0) -> list[str]:
    """As `re.split`."""
    return _compiled(pattern, flags).split(text, maxsplit)


def sub(
    pattern: str, new: str | Callable[[Match[str]], str], text: str, count: int = 0, flags: int = 0
) -> str:
    """As `re.sub`."""
    return _compiled(pattern, flags).sub(new, text, count)
