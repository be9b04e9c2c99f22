"""Describes a page by a few numbers that tell whether two pages say the same.

`describe` takes any body with any headers and never raises. It reads at most `MAX_BYTES` (of a PDF,
`pdf.MAX_PDF_BYTES`) and `MAX_WORDS`, so that its cost is bounded. The digest of a text that was not read to its end
is the digest of the whole body, since the words read do not vouch for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from xxhash import xxh3_128_digest, xxh3_128_hexdigest

from scrapy_dust.page import SKETCH_VERSION
from scrapy_dust.page.markup import Document
from scrapy_dust.page.minhash import MinHashes, minhash_of
from scrapy_dust.page.pdf import read_pdf
from scrapy_dust.page.places import Names
from scrapy_dust.page.reading import is_pdf, read_text
from scrapy_dust.page.shingles import (
    Hashes,
    Sketch,
    hashes_of,
    shingles_of,
    simhash_of,
    sketch_of,
    sketch_of_bytes,
)
from scrapy_dust.page.unit_reading import units_of_bytes
from scrapy_dust.page.units import Units
from scrapy_dust.page.words import split_words

__all__ = ["SKETCH_VERSION", "PageText", "describe", "describe_words"]


@dataclass(frozen=True, slots=True)
class PageText:
    """The numbers and texts that describe a page."""

    sketch: Sketch  #: four min-hashes of the shingles, each below 2**63; made from the bytes where no word is
    shingles: Hashes = field(compare=False, repr=False)  #: distinct hashes of ten words each, ascending
    text_digest: str  #: 128 bits, of the words and the title; of the bytes where no word is
    digest: str  #: 128 bits, of the bytes
    title: str | None
    canonical: str | None  #: absolute
    outlinks: int | None  #: None: no HTML
    words: int
    language: str | None  #: as the document says, in lower case
    simhash: str  #: 64 bits, of the shingles
    minhash: MinHashes = field(compare=False, repr=False)  #: of the shingles, as datasketch computes it
    units: Units | None = None  #: None: not asked for
    names: Names = field(default_factory=dict, compare=False, repr=False)  #: of the units' places
    links: Mapping[int, str] = field(
        default_factory=dict, compare=False, repr=False
    )  #: URLs, by the values of links


def describe(
    body: bytes,
    content_type: str | None,
    encoding: str | None,
    url: str,
    *,
    ignore: Sequence[str] | None = (),
) -> PageText:
    """Describe *body*, which came from *url* with these headers.

    *encoding* is one that was declared, not guessed; None: look into *content_type* and the document. *ignore*: CSS
    selectors of elements whose units do not count; None: without units.
    """
    return describe_each([(body, content_type, encoding, url)], ignore)[0]


def describe_each(
    pages: Sequence[tuple[bytes, str | None, str | None, str]], ignore: Sequence[str] | None = ()
) -> list[PageText]:
    """Describe several pages, each as `describe` does, in less time.

    Each step runs for all pages at once: the parser, the interpreter and numpy do not fit a processor's first cache
    together, and page by page each would push out the others.
    """
    read = [_read(*page, ignore) for page in pages]
    split = [None if one is None else split_words(one[0].text) for one in read]
    digests = [xxh3_128_hexdigest(body) for body, *_ in pages]
    worded = iter(
        _describe_words(
            [
                (words[0], one[0], digest, words[1] and one[1])
                for words, one, digest in zip(split, read, digests, strict=True)
                if words and words[0] and one
            ]
        )
    )
    described = [
        next(worded) if words and words[0] else _of_bytes(page[0], digest, one[0] if one else _NO_TEXT)
        for words, one, digest, page in zip(split, read, digests, pages, strict=True)
    ]
    if ignore is None:
        return described
    return [_with_units(text, one) for text, one in zip(described, read, strict=True)]


def _with_units(text: PageText, read: tuple[Document, bool] | None) -> PageText:
    """*text* with the units that were *read*, or else with one unit for the bytes."""
    found = read[0].units if read is not None else None
    if found is None or read is None:
        found = units_of_bytes(text.digest)
    elif not read[1]:  # what was not read is in the digest only
        found = found.with_bytes(text.digest)
    return replace(text, units=found.units, names=found.names, links=found.links)


def _read(
    body: bytes, content_type: str | None, encoding: str | None, url: str, ignore: Sequence[str] | None
) -> tuple[Document, bool] | None:
    """Read a body; the result is that of `read_text` or, for a PDF, of `read_pdf`."""
    if is_pdf(body, content_type):
        return read_pdf(body, with_units=ignore is not None)
    return read_text(body, content_type, encoding, url, ignore=ignore)


_NO_TEXT = Document("")


def describe_words(words: list[bytes], document: Document, digest: str, *, complete: bool) -> PageText:
    """Describe a page by its *words*, at least one. *digest* is the body's; *complete*: the page has no other words."""
    return _describe_words([(words, document, digest, complete)])[0]


def _describe_words(pages: Sequence[tuple[list[bytes], Document, str, bool]]) -> list[PageText]:
    """Describe several pages by their words, step by step as in `describe_each`."""
    hashes = [hashes_of(words) for words, *_ in pages]
    shingles = [shingles_of(of_page) for of_page in hashes]
    sketches = [sketch_of(of_page) for of_page in shingles]
    simhashes = [simhash_of(of_page) for of_page in shingles]
    minhashes = [minhash_of(of_page) for of_page in shingles]
    return [
        PageText(
            sketch=sketch,
            shingles=of_page,
            text_digest=_digest_of_text(words, document) if complete else digest,
            digest=digest,
            title=document.title,
            canonical=document.canonical,
            outlinks=document.outlinks,
            words=len(words),
            language=document.language,
            simhash=simhash,
            minhash=minhash,
        )
        for (words, document, digest, complete), of_page, sketch, simhash, minhash in zip(
            pages, shingles, sketches, simhashes, minhashes, strict=True
        )
    ]


def _digest_of_text(words: list[bytes], document: Document) -> str:
    return xxh3_128_hexdigest(
        b" ".join(words) + b"\n" + (document.title or "").encode("utf-8", "surrogatepass")
    )


def _of_bytes(body: bytes, digest: str, document: Document = _NO_TEXT) -> PageText:
    """Describe a page without words by its bytes, as the thesis does with binaries."""
    sketch, shingles = sketch_of_bytes(xxh3_128_digest(body))
    return PageText(
        sketch=sketch,
        shingles=shingles,
        text_digest=digest,
        digest=digest,
        title=document.title,
        canonical=document.canonical,
        outlinks=document.outlinks,
        words=0,
        language=document.language,
        simhash=simhash_of(shingles),
        minhash=minhash_of(shingles),
    )
