"""How text and files become passages: text, Markdown by its headings, PDF by its pages."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path

from .errors import ToolError

SIZE, OVERLAP = 1_000, 150  # characters of a passage, and how many of them the next one repeats at most
FILE_BYTES, FILE_CHARACTERS, FILE_PAGES = 20_000_000, 5_000_000, 2_000

_LABEL = 200  # characters
_MARKDOWN = (".md", ".markdown", ".mdown")
# Where a passage may end, best first: after a paragraph, a line, a sentence, a word.
_ENDS = tuple(map(re.compile, (r"\n[^\S\n]*\n\s*", r"\n", r"(?<=[.!?])[\"')\]]*\s+", r"\s+")))
# What pypdf lets through besides its own errors when a file is damaged.
_DAMAGE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text and where it is from. page: counted from 1, of a PDF; heading: "Guide > Setup"."""

    text: str
    source: str = ""
    heading: str = ""
    page: int | None = None

    @property
    def origin(self) -> str:
        """Where it is from, in words: 'guide.pdf, page 3'; '' if nobody said."""
        page = None if self.page is None else f"page {self.page}"
        return ", ".join(filter(None, (self.source, page, self.heading)))


def chunks(text: str, size: int = SIZE, overlap: int = OVERLAP) -> Iterator[str]:
    """Slices of a text, of `size` characters at the most, that end where a paragraph, sentence or word does.

    Each begins with whole words of the one before, `overlap` characters at the most. Every character that is
    not white space is in one of them.

    Raises:
        ValueError: size is not above twice the overlap, or the overlap is negative.
    """
    if not 0 <= 2 * overlap < size:
        raise ValueError(f"a passage of {size} characters cannot repeat {overlap}: at most half of it")
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            end = _end(text, start, end)
        if piece := text[start:end].strip():
            yield piece
        if end >= len(text):
            return
        start = _resumed(text, max(start + 1, end - overlap), end)


def file_passages(
    path: Path, size: int = SIZE, overlap: int = OVERLAP, source: str | None = None
) -> tuple[Passage, ...]:
    """The passages of a text file (UTF-8, or UTF-16 with its mark), Markdown or PDF; never none.

    Args:
        path: the file; Markdown is known by its name, PDF by its content.
        size: characters of a passage, at the most.
        overlap: characters that a passage repeats of the one before, under the same heading or on one page.
        source: what the passages say they are from; the path if not given.

    Raises:
        ToolError: the file cannot be read or is too large, is binary, encrypted or damaged, or has no text.
    """
    data = _read(path)
    source = str(path) if source is None else source
    if b"%PDF-" in data[:1024]:
        parts: list[tuple[str, int | None, str]] = [("", page, text) for page, text in _pages(data, path)]
        if not any(text.strip() for _, _, text in parts):
            raise ToolError(f"{path} has no text, only pictures: use text recognition (OCR) first")
    else:
        text = _decoded(data, path)
        sections = _sections(text) if path.suffix.lower() in _MARKDOWN else [("", text)]
        parts = [(heading, None, section) for heading, section in sections]
        if not text.strip():
            raise ToolError(f"{path} is empty")
    return tuple(
        Passage(piece, source, heading, page)
        for heading, page, text in parts
        for piece in chunks(text, size, overlap)
    )


def fenced(texts: Iterable[tuple[str, str]]) -> str:
    """Texts for a prompt, each in a fence of ~ under its label; no text can close its fence.

    Args:
        texts: labels, which are put on one line and cut, with their texts, which stay as they are.
    """
    texts = list(texts)
    runs = (run for _, text in texts for run in re.findall("~+", text))
    fence = "~" * max(3, 1 + max(map(len, runs), default=0))
    labels = (" ".join(label.replace("~", "-").split())[:_LABEL] for label, _ in texts)
    return "\n\n".join(
        f"{label}\n{fence}\n{text}\n{fence}" for label, (_, text) in zip(labels, texts, strict=True)
    )


# ---- where to cut -----------------------------------------------------------------------------------


def _end(text: str, start: int, end: int) -> int:
    """Where a passage ends: after the last good place of its second half, else a word, else anywhere."""
    half = (start + end) // 2
    for number, pattern in enumerate(_ENDS):
        lowest = start if number == len(_ENDS) - 1 else half
        found = [match.end() for match in pattern.finditer(text, start, end)]
        if found and found[-1] > lowest and text[start : found[-1]].strip():
            return found[-1]
    return end


def _resumed(text: str, earliest: int, end: int) -> int:
    """Where the next passage begins: at the first word that starts in the overlap, else at the end."""
    if earliest >= end:
        return end
    gap = re.compile(r"(?<=\s)\S").search(text, earliest, end)
    return gap.start() if gap else end


# ---- reading files ----------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise ToolError(
                f"{path} is a folder or device, not a file" if path.exists() else f"no file {path}"
            )
        with path.open("rb") as file:
            data = file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise ToolError(f"{path} cannot be read: {error}") from error
    if len(data) > FILE_BYTES:
        raise ToolError(f"{path} has more than {FILE_BYTES // 1_000_000} MB: split it into smaller files")
    return data


def _decoded(data: bytes, path: Path) -> str:
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and b"\0" in data:
        raise ToolError(f"{path} is binary: text, Markdown and PDF can be read")
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{path} is not UTF-8 text (byte {data[error.start]:#04x} at {error.start}): "
            "save it as UTF-8; of other files Markdown and PDF can be read"
        ) from error
    _bounded(len(text), path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bounded(characters: int, path: Path) -> None:
    if characters > FILE_CHARACTERS:
        raise ToolError(
            f"{path} has more than {FILE_CHARACTERS / 1e6:g} million characters: split it into smaller files"
        )


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a Markdown text with their headings, each from its heading line on.

    Sections that are a heading only are left out; their headings stand in those of the sections below them.
    """
    from markdown_it import MarkdownIt  # not before it is needed: it takes time to load

    lines = text.split("\n")
    headings = [(0, 0, "")]  # first line, line after, all names
    above: dict[int, str] = {}
    for token, title in pairwise(MarkdownIt().parse(text)):
        if token.type == "heading_open" and not token.level and token.map is not None:
            depth = int(token.tag[1])
            above = {level: name for level, name in above.items() if level < depth}
            above[depth] = " ".join(title.content.split())
            first, after = token.map
            headings.append((first, after, " > ".join(filter(None, above.values()))))
    ends = [first for first, _, _ in headings[1:]] + [len(lines)]
    sections = [
        (name, "\n".join(lines[first:end]))
        for (first, after, name), end in zip(headings, ends, strict=True)
        if any(map(str.strip, lines[after:end]))
    ]
    yield from sections or [("", text)]


def _pages(data: bytes, path: Path) -> Iterator[tuple[int, str]]:
    """The pages of a PDF that have text, with their numbers from 1."""
    from pypdf import PdfReader  # not before it is needed: it takes half a second to load
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    characters = 0
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ToolError(f"{path} is encrypted: save a copy without a password")
        if len(reader.pages) > FILE_PAGES:
            raise ToolError(f"{path} has more than {FILE_PAGES} pages: split it into smaller files")
        for number, page in enumerate(reader.pages, 1):
            text = page.extract_text()
            _bounded(characters := characters + len(text), path)
            yield number, text
    except (DependencyError, FileNotDecryptedError) as error:
        raise ToolError(f"{path} is encrypted in a way that cannot be read: {error}") from error
    except (PyPdfError, *_DAMAGE) as error:
        raise ToolError(
            f"{path} is a damaged PDF ({type(error).__name__}: {error}): save it again from a viewer"
        ) from error
