"""What a page is compared by while it is crawled: signatures of its bytes and of its text, and its shingles.

Not what `sketch` makes for logs. Two pages of equal words are one here only if they show the same pictures too,
and shingles are short: of a page in which a date has changed, four of these differ, not ten.
PDFs are their bytes, since reading one takes a process; so is what was not read to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xxhash import xxh3_64_intdigest, xxh3_128, xxh3_128_digest

from scrapy_dust.text.markup import Document
from scrapy_dust.text.reading import is_pdf, read_text
from scrapy_dust.text.shingles import Hashes, hashes_of, shingles_of
from scrapy_dust.text.words import split_words

#: Words in a shingle.
WIDTH = 4
#: Of the words, so many stand beside the signature.
_BEGINNING = 60


def _no_shingles() -> Hashes:
    return np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Content:
    """What there is to compare of one page."""

    size: int  #: bytes
    text: bytes | None  #: 128 bits, of words, title and pictures; None: only the bytes speak for it
    is_text: bool = False  #: it was read as text, to its end, though it may have no word
    words: int = 0
    shingles: Hashes = field(default_factory=_no_shingles, compare=False, repr=False)  #: distinct, ascending
    heading: str = ""  #: the title and the headings of the first rank
    canonical: str | None = None  #: absolute
    beginning: str = ""  #: the first words

    @property
    def heading_hash(self) -> int:
        """64 bits; 0: it has none."""
        return xxh3_64_intdigest(self.heading.encode("utf-8", "surrogatepass")) if self.heading else 0


def signature_of(body: bytes, scope: str) -> bytes:
    """Of the bytes, 128 bits. Equal bytes in different scopes have different ones."""
    # The scope is no longer than a host's name, and the body need not be copied.
    return xxh3_128_digest(body, seed=_seed(scope))


def content_of(body: bytes, content_type: str | None, encoding: str | None, url: str, scope: str) -> Content:
    """Never raises. Costs what a look at 2 MB costs at most."""
    if is_pdf(body, content_type):
        return Content(len(body), None)
    read = read_text(body, content_type, encoding, url, closely=True)
    if read is None:
        return Content(len(body), None)
    document, whole = read
    words, complete = split_words(document.text)
    heading = " ".join(f"{document.title or ''} {document.headings or ''}".split())
    if not words or not (whole and complete):
        return Content(len(body), None, is_text=whole and complete, heading=heading)
    return Content(
        size=len(body),
        text=_signature(b" ".join(words), document, scope),
        is_text=True,
        words=len(words),
        shingles=shingles_of(hashes_of(words), WIDTH),
        heading=heading,
        canonical=document.canonical,
        beginning=b" ".join(words[:_BEGINNING]).decode("utf-8", "surrogatepass"),
    )


def shingles_of_text(text: str) -> Hashes:
    """The same of text that is no page, of which there must be a word."""
    words, _ = split_words(text)
    return shingles_of(hashes_of(words), WIDTH)


def _signature(words: bytes, document: Document, scope: str) -> bytes | None:
    if document.shown is None:  # it was not parsed: nobody knows which pictures it shows
        return None
    said = xxh3_128(words, seed=_seed(scope))
    for more in (document.title or "", *document.shown):
        said.update(b"\n" + more.encode("utf-8", "surrogatepass"))
    return said.digest()


def _seed(scope: str) -> int:
    return xxh3_64_intdigest(scope.encode("utf-8", "surrogatepass"))
