"""From the bytes of a server to text that can be read: decompressed, decoded, and freed of HTML. Pure.

Whatever a server sends, each step takes bounded memory, and time that grows with the length.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator

import charset_normalizer

from .errors import UnavailableError

MISSING = "pages of the web need trafilatura: pip install 'taskloom[web]'"

_GZIP_START = b"\x1f\x8b"
_PIECE = 65_536  # bytes held at once while a body is decompressed
_ELEMENTS = 20_000  # of HTML: trafilatura takes up to a quarter of a millisecond for each
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
# No text of the web is written in these, and some take time that grows with the square of the length.
_NOT_OF_THE_WEB = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}
)
_TO_GUESS_FROM = 30  # letters outside ASCII; a charset guessed from a few is mostly wrong
# They could steer a terminal, or turn the order of what stands beside them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A body in pieces with gzip or zlib undone, at most _PIECE at a time, so that a bomb is never held.

    Raises:
        zlib.error: it is not so encoded, or ends before its end.
    """
    inflate, begun = zlib.decompressobj(zlib.MAX_WBITS | 32), False
    for piece in pieces:
        rest, begun = piece, begun or bool(piece)
        while rest:
            yield inflate.decompress(rest, _PIECE)
            rest = inflate.unconsumed_tail
            if inflate.eof and inflate.unused_data.startswith(_GZIP_START):
                rest, inflate = inflate.unused_data, zlib.decompressobj(zlib.MAX_WBITS | 32)
    yield inflate.flush()
    if begun and not inflate.eof:
        raise zlib.error("the compressed body is cut off")


def bounded(pieces: Iterable[bytes], limit: int) -> tuple[bytes, bool]:
    """The first `limit` bytes, and whether there were more."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def decoded(body: bytes, declared: str | None, truncated: bool) -> str:
    """Bytes as text, in the first charset that fits.

    A byte order mark decides. Then UTF-8 if there are bytes that only it explains, since servers declare
    Latin-1 for whatever they have; then what is declared, by the header or by the page, then a guess.
    """
    for charset in _charsets(body, declared):
        codec = _codec(charset)
        if codec is None:
            continue
        try:
            return body.decode(codec)
        except LookupError:  # a codec, but none of text: zlib
            continue
        except UnicodeDecodeError as error:
            # The cut may have gone through the middle of a letter.
            if truncated and error.start >= len(body) - 4:
                return body[: error.start].decode(codec)
    return body.decode("windows-1252", "replace")


def _charsets(body: bytes, declared: str | None) -> Iterator[str]:
    if body.startswith(codecs.BOM_UTF8):
        yield "utf-8-sig"
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "utf-16"
    if not body.isascii():
        yield "utf-8"
    if declared:
        yield declared
    # A page that can be searched for this as ASCII is not UTF-16, whatever it says.
    if (meta := _META_CHARSET.search(body[:4096])) and not meta[1].lower().startswith(b"utf-16"):
        yield meta[1].decode()
    if body.isascii():
        yield "ascii"
    elif sum(byte > 127 for byte in body[:_PIECE]) >= _TO_GUESS_FROM:
        guess = charset_normalizer.from_bytes(body[:_PIECE]).best()
        yield guess.encoding if guess else "windows-1252"


def _codec(charset: str) -> str | None:
    """The codec of a charset by the web's names; None if unknown, or if no text of the web uses it."""
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        return None
    if name in _NOT_OF_THE_WEB:
        return None
    return "cp1252" if name in ("iso8859-1", "ascii") else name  # as in the Encoding Standard of WHATWG


def readable(html: str, url: str) -> tuple[str, str]:
    """The title and the text of HTML: the main part as Markdown, or all of it if none stands out.

    Raises:
        UnavailableError: trafilatura is not installed.
    """
    try:
        import trafilatura  # here because it takes a quarter of a second to load, and is in an extra
    except ImportError as error:
        raise UnavailableError(MISSING) from error

    if "html" not in html[:50].lower():  # else a page without a head is taken for something else
        html = f"<!doctype html>\n{html}"
    tree = trafilatura.load_html(html)
    if tree is None:
        return "", ""
    title = tree.findtext(".//title") or ""
    # trafilatura would take all links as relative to the root of the host.
    tree.make_links_absolute(url, handle_failures="ignore")
    text = None
    if sum(1 for _ in tree.iter()) <= _ELEMENTS:
        text = trafilatura.extract(tree, output_format="markdown", include_links=True)
    return " ".join(plain(title).split()), text or trafilatura.html2txt(tree)


def plain(text: str) -> str:
    """A text without control characters and marks of direction; line ends become line feeds, tabs stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
