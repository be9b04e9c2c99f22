"""Reads the words and media of a page from its bytes, much faster than a parser.

Words come from the text, from values of elements, and from scripts. Links do not count here: they are judged by their
URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

#: Bytes of a page that are read.
MOST = 256 * 1024

_TAG = re.compile(rb"<[^<>]*>")
_WORD = re.compile(rb"[a-z0-9_\x80-\xff]+")
_VALUE = re.compile(
    rb"\b(?:value|content|alt|title|placeholder|data-[a-z-]{1,20})\s*=\s*(?:\"([^\"<>]{1,2000})\"|'([^'<>]{1,2000})')"
)
_MEDIUM = re.compile(rb"(?:src|srcset|poster|url\()\s*=?\s*[\"']?([^\"'\s<>)]{2,1000})")
#: A picture that nobody can see tells somebody that the page was read.
_PIXEL = re.compile(rb"<img\b[^<>]*\b(?:width|height)\s*[=:]\s*[\"']?[01](?:px)?[\"'\s/;>][^<>]*>?")
_LINK = re.compile(rb"href\s*=\s*[\"']?([^\"'\s<>]{1,1000})")
_FILE = re.compile(
    rb"href\s*=\s*[\"']?([^\"'\s<>?#]{1,500}\.(?!html?|php|asp|jsp|cgi)[a-z][a-z0-9]{1,4})[\"'\s>]"
)


class Said(NamedTuple):
    """The words and media of a page."""

    words: list[bytes]  #: in lower case, in their order
    media: list[bytes]  #: where pictures and other files are
    linked: frozenset[bytes]  #: words of what is linked, which say no more than the link does


def said_by(body: bytes, *, is_markup: bool) -> Said:
    """The words and media of *body*, as far as it is read."""
    body = body[:MOST].lower()
    if not is_markup:
        return Said(_WORD.findall(body), [], frozenset())
    markup, scripts = _without_scripts(body)
    seen = _PIXEL.sub(b"", markup)
    media = [*_MEDIUM.findall(seen), *_FILE.findall(seen)]
    values = b" ".join(one or other for one, other in _VALUE.findall(markup))
    words = _WORD.findall(b" ".join((_TAG.sub(b" ", markup), values, scripts)))
    return Said(words, media, frozenset(_WORD.findall(b" ".join(_LINK.findall(markup)))))


def _without_scripts(body: bytes) -> tuple[bytes, bytes]:
    """The markup without scripts, and the texts in its scripts and data."""
    first, *rest = body.split(b"<script")
    if not rest:
        return body, b""
    pieces = [_cut(piece) for piece in rest]
    return b" ".join([first, *(after for _, after in pieces)]), b" ".join(
        _strings(inside) for inside, _ in pieces
    )


def _cut(piece: bytes) -> tuple[bytes, bytes]:
    """A *piece* of markup that begins inside a script's start tag, in two: the script, and the markup after it."""
    inside, end, after = piece.partition(b"</script")
    return (inside.partition(b">")[2], after.partition(b">")[2]) if end else (b"", b"")


def _strings(script: bytes) -> bytes:
    """*script* without its URLs, since URLs may contain session ids."""
    return b" ".join(_no_urls(script))


def _no_urls(script: bytes) -> Iterator[bytes]:
    """The texts in *script* that are no URLs."""
    for one in re.split(rb"[\"'\s]", script):
        if b"/" not in one or one.startswith(b"//"):
            yield one
