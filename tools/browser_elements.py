"""Finding the element of a page by its name, label, text or CSS selector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from playwright.async_api import (
        Locator,
        Page,
    )


AriaRole: TypeAlias = Literal[
    "button", "checkbox", "combobox", "link", "menuitem", "option", "radio", "searchbox", "spinbutton",
    "switch", "tab", "textbox",
]  # fmt: skip
_CLICKABLE: tuple[AriaRole, ...] = (
    "link",
    "button",
    "checkbox",
    "radio",
    "tab",
    "menuitem",
    "option",
    "switch",
)
_WRITABLE: tuple[AriaRole, ...] = ("textbox", "searchbox", "combobox", "spinbutton")
_FIELDS = "input, textarea, select, [contenteditable]"


def clickable(page: Page, what: str) -> Iterator[Locator]:
    """The elements that can be clicked and fit a text, the likeliest first."""
    for exact in (True, False):
        yield _with_roles(page, _CLICKABLE, what, exact)
        yield page.get_by_label(what, exact=exact)
        yield page.get_by_text(what, exact=exact)
    yield page.locator(f"css={what}")


def writable(page: Page, what: str) -> Iterator[Locator]:
    """The fields that fit a text, the likeliest first."""
    fields = page.locator(_FIELDS)
    for exact in (True, False):
        yield page.get_by_label(what, exact=exact).and_(fields)
        yield _with_roles(page, _WRITABLE, what, exact)
        yield page.get_by_placeholder(what, exact=exact)
    yield page.locator(f"css={what}").and_(fields)


async def how_many(elements: Locator) -> int:
    """How many there are; none by a name that is no CSS selector."""
    from playwright.async_api import Error

    try:
        found: int = await elements.count()
        return found
    except Error as error:
        if "selector" in error.message:
            return 0
        raise


def _with_roles(page: Page, roles: Iterable[AriaRole], name: str, exact: bool) -> Locator:
    found = [page.get_by_role(role, name=name, exact=exact) for role in roles]
    return reduce(lambda some, more: some.or_(more), found)
