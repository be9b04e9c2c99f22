"""What a page says, in a few numbers that say whether two pages say the same.

`describe` takes any body with any headers and never raises. It reads at most `MAX_BYTES` of it (of a PDF,
`pdf.MAX_PDF_BYTES`) and `MAX_WORDS` of those, so a body of any length costs no more than that; the digest of a
text that was not read to its end is the whole body's, for then the words do not vouch for the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xxhash import xxh3_128_digest, xxh3_128_hexdigest

from scrapy_dust.text import SKETCH_VERSION
from scrapy_dust.text.markup import Document
from scrapy_dust.text.minhash import MinHashes, minhash_of
from scrapy_dust.text.pdf import read_pdf
from scrapy_dust.text.reading import is_pdf, read_text
from scrapy_dust.text.shingles import (
    Hashes,
    Sketch,
    hashes_of,
    shingles_of,
    simhash_of,
    sketch_of,
    sketch_of_bytes,
)
from scrapy_dust.text.words import split_words

__all__ = ["SKETCH_VERSION", "PageText", "describe", "describe_words"]


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says."""

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


def describe(body: bytes, content_type: str | None, encoding: str | None, url: str) -> PageText:
    """What *body* says, that came from *url* with these headers.

    *encoding* is one that was declared, not guessed; None: look into *content_type* and the document.
    """
    return describe_each([(body, content_type, encoding, url)])[0]


def describe_each(pages: Sequence[tuple[bytes, str | None, str | None, str]]) -> list[PageText]:
    """What `describe` says of each, for several of them in less time.

    Step by step for all of them: the parser, the interpreter and numpy do not all fit a processor's first cache, and
    page by page each of them would push out the others.
    """
    read = [_read(*page) for page in pages]
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
    return [
        next(worded) if words and words[0] else _of_bytes(page[0], digest, one[0] if one else _NO_TEXT)
        for words, one, digest, page in zip(split, read, digests, pages, strict=True)
    ]


def _read(
    body: bytes, content_type: str | None, encoding: str | None, url: str
) -> tuple[Document, bool] | None:
    return read_pdf(body) if is_pdf(body, content_type) else read_text(body, content_type, encoding, url)


_NO_TEXT = Document("")


def describe_words(words: list[bytes], document: Document, digest: str, *, complete: bool) -> PageText:
    """What *words* say, of which there is one at least. *digest* is the body's; *complete*: it has no others."""
    return _describe_words([(words, document, digest, complete)])[0]


def _describe_words(pages: Sequence[tuple[list[bytes], Document, str, bool]]) -> list[PageText]:
    """Step by step, as `describe_each` has it."""
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
    """Without words two pages are alike where their bytes are equal, as the thesis has it for binaries."""
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
