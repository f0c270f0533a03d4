"""The plan as a picture: SVG that is drawn here, by itself, in a page, or as pixels.

A task stands right of what it is a part of, and of what it comes after. Whole rows belong to a task and its
parts, so that no line to a part crosses another task. Titles and values are data: escaped, cut to their box.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len

from taskloom.agent.language.wording import clip
from taskloom.memory.shown import safe
from taskloom.memory.tasks import TaskGraph, TaskNode

WIDTH, GAP, LINE, PAD, ROW = 216, 56, 17, 9, 14  # pixels: of a box, between columns, of a line of text, ...
CELLS, LINES = 28, 3  # columns of text in a box, and lines of a value
MARGIN = 16
_LEVEL = PAD + LINE / 2  # where lines to parts meet a box, below its upper end
MOST_PIXELS = 50_000_000

_STYLE = """
text { font: 13px system-ui, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; fill: #1f2328; }
.title { font-weight: 600; } .gone { text-decoration: line-through; }
.note { fill: #656d76; font-size: 11px; }
rect { fill: #fff; stroke: #8c959f; } .whole { fill: #eef4fb; stroke: #5a8bc0; }
.done { fill: #e9f6ec; stroke: #4c9a5f; } .proposed { stroke-dasharray: 5 3; }
.stale { fill: #fff6df; stroke: #c69026; } .left { fill: #f3f4f6; stroke: #c5cad0; }
path { fill: none; stroke: #8c959f; } .after { stroke: #b35900; stroke-dasharray: 4 3; }
#tip path { stroke-dasharray: none; }
""".strip()
_PAGE_STYLE = """
body { font: 15px system-ui, sans-serif; margin: 24px; color: #1f2328; background: #fff; }
h1 { font-size: 20px; } .picture { overflow: auto; border: 1px solid #d0d7de; border-radius: 6px; }
svg { display: block; } li { margin: 3px 0; } small { color: #656d76; }
.gone { text-decoration: line-through; }
""".strip()
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0,1 L7,4 L0,7" class="after"/></marker></defs>'
)
_PROBE = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><style>{_STYLE}</style>'
    '<text y="16">%s</text></svg>'
)
_EMPTY = "There is nothing in the plan."
_NOTES = {"proposed": "proposed", "done": "done", "inactive": "on hold", "removed": "removed"}
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class PictureError(Exception):
    """The picture cannot be made; the message names the fix."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A task in its place: column and row, and what stands in it."""

    node: TaskNode
    column: int
    row: int
    lines: tuple[tuple[str, str], ...]  # class, text

    @property
    def height(self) -> int:
        return 2 * PAD + LINE * len(self.lines)


def svg(graph: TaskGraph, name: str, *, gone: bool = False) -> str:
    """The plan as an SVG document.

    Args:
        graph: the tasks.
        name: what the picture is called.
        gone: show also what is on hold or removed.
    """
    boxes = _boxes(graph, gone)
    rows = _rows(boxes)
    left = {key: MARGIN + box.column * (WIDTH + GAP) for key, box in boxes.items()}
    width = max((*left.values(), 0)) + WIDTH + MARGIN
    height = max((rows[box.row] + box.height for box in boxes.values()), default=LINE + MARGIN) + MARGIN
    parts = [line for box in boxes.values() for line in _lines_to(box, boxes, rows, left)]
    parts += [_drawn(box, left[key], rows[box.row]) for key, box in boxes.items()]
    if not boxes:
        parts.append(f'<text x="{MARGIN}" y="{2 * MARGIN}" class="note">{_EMPTY}</text>')
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">'
    back = f'<rect {size} style="stroke:none"/>'
    title = f"<title>{_text(name)}</title>"
    return "\n".join([head, title, f"<style>{_STYLE}</style>", _TIP, back, *parts, "</svg>"])


def page(graph: TaskGraph, name: str, *, gone: bool = False) -> str:
    """The same in an HTML page that loads nothing, with all texts in full below it."""
    outline = "\n".join(_outline(graph, None, gone)) or f"<p>{_EMPTY}</p>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(name)}</title>
<style>{_PAGE_STYLE}</style>
</head>
<body>
<h1>{_text(name)}</h1>
<div class="picture">
{svg(graph, name, gone=gone)}
</div>
{outline}
</body>
</html>"""


def png(drawn: str) -> bytes:
    """An SVG document of `svg` as pixels.

    Raises:
        PictureError: it is too large, or what draws it or a font is not there.
    """
    size = re.search(r'width="(\d+)" height="(\d+)"', drawn)
    width, height = map(int, size.groups()) if size else (0, 0)
    if width * height > MOST_PIXELS:
        raise PictureError(f"the picture would have {width:,} x {height:,} pixels: take --format svg or html")
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        raise PictureError(
            "PNG needs resvg-py: pip install 'taskloom[picture]', or take --format svg or html"
        ) from error
    if svg_to_bytes(svg_string=_PROBE % "M") == svg_to_bytes(svg_string=_PROBE % ""):
        raise PictureError("there is no font to draw PNG with: install one, or take --format svg or html")
    return svg_to_bytes(svg_string=drawn)


# ---- where a task stands --------------------------------------------------------------------------


def _parts(graph: TaskGraph, key: str | None, gone: bool) -> list[TaskNode]:
    """The parts of a task that are shown; of None, what is no part of anything that is shown."""
    if key is not None:
        return [*graph.parts(key, gone=gone)]
    shown = [node for node in graph.values() if gone or node.active]
    return [node for node in shown if node.parent is None or not (gone or graph[node.parent].active)]


def _boxes(graph: TaskGraph, gone: bool) -> dict[str, _Box]:
    """The boxes of the tasks, each whole before its parts."""
    columns, boxes, row = _columns(graph, gone), dict[str, _Box](), -1
    stack = [(root, False) for root in reversed(_parts(graph, None, gone))]
    while stack:
        node, first = stack.pop()
        row += not first  # the first part stands beside its whole
        boxes[node.id] = _Box(node, columns[node.id], row, _said(node))
        parts = _parts(graph, node.id, gone)
        stack += [(part, at == 0) for at, part in reversed([*enumerate(parts)])]
    return boxes


def _columns(graph: TaskGraph, gone: bool) -> dict[str, int]:
    """The column of each task: right of its whole and of its prerequisites, except along a cycle."""
    shown = {node.id: node for node in graph.values() if gone or node.active}
    before = {key: shown.keys() & {*node.depends_on, node.parent} for key, node in shown.items()}
    after: dict[str, list[str]] = {key: [] for key in shown}
    for key, needed in before.items():
        for other in needed:
            after[other].append(key)
    columns: dict[str, int] = {}
    waiting, free = dict(before), [key for key, needed in before.items() if not needed]
    while waiting:
        if not free:  # what comes after its own part: only its whole counts
            free = [next(key for key in waiting if shown[key].parent not in waiting)]
        key = free.pop()
        del waiting[key]
        columns[key] = max((columns[other] + 1 for other in before[key] if other in columns), default=0)
        free += [other for other in after[key] if other in waiting and not before[other] & waiting.keys()]
    return columns


def _rows(boxes: dict[str, _Box]) -> dict[int, int]:
    """The upper end of each row, in pixels: a row is as high as its highest box."""
    heights: dict[int, int] = {}
    for box in boxes.values():
        heights[box.row] = max(heights.get(box.row, 0), box.height)
    tops, top = {}, MARGIN
    for row in sorted(heights):
        tops[row] = top
        top += heights[row] + ROW
    return tops


# ---- how it is drawn ------------------------------------------------------------------------------


def _said(node: TaskNode) -> tuple[tuple[str, str], ...]:
    """What stands in a box, line by line, with the class of each."""
    struck = "" if node.active else " gone"
    lines = [(f"title{struck}", line) for line in _wrapped(node.title, 2)]
    if node.value and node.value != node.title:
        lines += [(f"value{struck}", line) for line in _wrapped(node.value, LINES)]
    notes = [node.id, *([_NOTES[node.status]] if node.status in _NOTES else [])]
    notes += ["may be outdated"] if node.stale_since is not None and node.active else []
    return (*lines, ("note", " · ".join(notes)))


def _wrapped(text: str, most: int) -> Iterator[str]:
    """A text in at most `most` lines of CELLS columns; '…' marks where it is cut."""
    words, line, lines = safe(clip(text, CELLS * (most + 1))).split(), "", list[str]()
    for word in words:
        if line and cell_len(f"{line} {word}") > CELLS:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    lines.append(line)
    for at, one in enumerate(lines[:most]):
        cut = cell_len(one) > CELLS or (at == most - 1 and len(lines) > most)
        yield _cut(one) if cut else one


def _cut(text: str) -> str:
    while cell_len(text) > CELLS - 1:
        text = text[:-1]
    return f"{text}…"


def _drawn(box: _Box, left: int, top: int) -> str:
    node = box.node
    kinds = [
        "whole" if node.parent is None else "",
        "done" if node.status == "done" else "",
        "proposed" if node.status == "proposed" else "",
        "stale" if node.stale_since is not None else "",
        "" if node.active else "left",
    ]
    lines = "".join(
        f'<text x="{PAD}" y="{PAD + LINE * (at + 1) - 5}" class="{kind}">{_text(line)}</text>'
        for at, (kind, line) in enumerate(box.lines)
    )
    whole = node.title if node.value in (None, node.title) else f"{node.title}: {node.value}"
    kind = " ".join(filter(None, kinds))
    place = f'x="{left}" y="{top}" width="{WIDTH}" height="{box.height}"'  # what is in it is cut there
    frame = f'<rect x="1" y="1" width="{WIDTH - 2}" height="{box.height - 2}" rx="6" class="{kind}"/>'
    return f"<svg {place}><title>{_text(whole)}</title>{frame}{lines}</svg>"


def _lines_to(box: _Box, boxes: dict[str, _Box], rows: dict[int, int], left: dict[str, int]) -> Iterator[str]:
    """The lines that end at a box: from its whole, and from what it comes after."""
    node = box.node
    x, y = left[node.id], rows[box.row] + _LEVEL
    if node.parent in boxes:
        start, level = left[node.parent] + WIDTH, rows[boxes[node.parent].row] + _LEVEL
        yield f'<path d="M{start},{level:g} H{start + GAP / 3:g} V{y:g} H{x}"/>'
    for key in node.depends_on:
        if key in boxes:
            start, level = left[key] + WIDTH, rows[boxes[key].row] + boxes[key].height / 2
            end, bend = rows[box.row] + box.height * 0.7, max(GAP * 0.7, abs(x - start) / 2)
            curve = f"M{start},{level:g} C{start + bend:g},{level:g} {x - bend:g},{end:g} {x},{end:g}"
            yield f'<path class="after" marker-end="url(#tip)" d="{curve}"/>'


def _outline(graph: TaskGraph, key: str | None, gone: bool) -> Iterator[str]:
    """The tasks as nested lists of HTML, with all of their texts."""
    if not (parts := _parts(graph, key, gone)):
        return
    yield "<ul>"
    for node in parts:
        label = _text(node.title if node.value in (None, node.title) else f"{node.title}: {node.value}")
        notes = [node.id, *([_NOTES[node.status]] if node.status in _NOTES else [])]
        notes += [f"after {', '.join(node.depends_on)}"] if node.depends_on else []
        notes += ["may be outdated"] if node.stale_since is not None and node.active else []
        text = label if node.active else f'<span class="gone">{label}</span>'
        yield f"<li>{text} <small>{' · '.join(notes)}</small>"
        yield from _outline(graph, node.id, gone)
        yield "</li>"
    yield "</ul>"


def _text(text: str) -> str:
    """Text as it may stand in XML and HTML, also between quotes."""
    return escape(_NOT_XML.sub("�", safe(text)))
