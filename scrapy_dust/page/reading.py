"""Reads the text of a body, be it markup, plain text or neither. Other modules make numbers of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from scrapy_dust.page.encodings import decode
from scrapy_dust.page.markup import Document, read_markup, said_in, unit_reading
from scrapy_dust.page.words import split_words

if TYPE_CHECKING:
    from scrapy_dust.page.wording import Said

#: Bytes of a body that are read; the rest is in its digest only.
MAX_BYTES = 2 * 1024 * 1024
#: Characters of a text that are shown to people.
MAX_READ = 20_000


def read_text(
    body: bytes,
    content_type: str | None,
    encoding: str | None,
    url: str,
    *,
    closely: bool = False,
    ignore: Sequence[str] | None = None,
) -> tuple[Document, bool] | None:
    """The text of a body that is no PDF, and whether that is all of it; None if it is neither markup nor text.

    *closely*: read headings too. *ignore*: read units too, as in `read_markup`.
    """
    kind = _kind(content_type)
    if kind in (_Kind.BYTES, _Kind.PDF):
        return None
    text, used = decode(body[:MAX_BYTES], content_type, encoding, markup=kind is not _Kind.TEXT)
    # https://mimesniff.spec.whatwg.org: text has no such bytes, whatever its type says.
    if _CONTROLS.search(text, 0, 1024):
        return None
    is_markup = kind is _Kind.MARKUP or (kind is _Kind.UNKNOWN and _MARKUP.match(text))
    if is_markup:
        document = read_markup(text, url, used, closely=closely, ignore=ignore)
    else:
        units = None if ignore is None else unit_reading().units_of_text(text, url, used)
        document = Document(text, units=units)
    return document, len(body) <= MAX_BYTES


def read_words(
    body: bytes, content_type: str | None, encoding: str | None, url: str, ignore: Sequence[str]
) -> Said | None:
    """The words of a body of HTML, XML or JSON; None if it is none of these, or too long."""
    kind = _kind(content_type)
    if kind in (_Kind.BYTES, _Kind.PDF) or len(body) > MAX_BYTES:
        return None
    text, used = decode(body, content_type, encoding, markup=kind is not _Kind.TEXT)
    if kind is _Kind.MARKUP or (kind is _Kind.UNKNOWN and _MARKUP.match(text)):
        return said_in(text, url, used, ignore)
    return unit_reading().said_in_text(text, url, used)  # type: ignore[no-any-return]


def first_words(body: bytes, content_type: str | None, encoding: str | None, url: str) -> list[str]:
    """The first words of a body, for people to read; empty for a PDF and for bodies without text."""
    read = read_text(body, content_type, encoding, url)
    words = [] if read is None else split_words(read[0].text[:MAX_READ])[0]
    return [word.decode("utf-8", "surrogatepass") for word in words]


def is_pdf(body: bytes, content_type: str | None) -> bool:
    """Whether *body* is a PDF, by its content type or its first bytes."""
    kind = _kind(content_type)
    return kind is _Kind.PDF or (kind is _Kind.UNKNOWN and body.startswith(b"%PDF-"))


class _Kind(Enum):
    """The ways to read a body."""

    MARKUP = 1
    TEXT = 2
    BYTES = 3
    UNKNOWN = 4
    PDF = 5


_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MARKUP = re.compile(
    r"\s*<(?:!--|!doctype\s+html|(?:html|head|title|body|script|meta|table|div|h1|p|a)\b)", re.IGNORECASE
)
_MARKUP_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
_TEXT_TYPE = re.compile(
    r"text/|[^/]+/(?:.*\+)?(?:xml|json|x?-?ndjson|json-?(?:lines|seq)|(?:x-)?(?:java|ecma)script)$"
)
_NO_TYPE = frozenset({"", "*/*", "unknown/unknown", "application/unknown"})


def _kind(content_type: str | None) -> _Kind:
    """The way to read a body of *content_type*."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type in _MARKUP_TYPES:
        return _Kind.MARKUP
    if media_type in _PDF_TYPES:
        return _Kind.PDF
    if _TEXT_TYPE.match(media_type):
        return _Kind.TEXT
    return _Kind.UNKNOWN if media_type in _NO_TYPE or "/" not in media_type else _Kind.BYTES
