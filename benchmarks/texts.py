"""What describing a page costs, on Debian's documentation where it is installed, else on pages made up."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from datasketch import MinHash
from lxml import html
from xxhash import xxh3_128_hexdigest, xxh32_intdigest

from benchmarks.comparisons import Result, best
from scrapy_dust.page.markup import Document, read_markup
from scrapy_dust.page.reading import MAX_BYTES
from scrapy_dust.page.shingles import WIDTH
from scrapy_dust.page.sketch import describe, describe_each, describe_words
from scrapy_dust.page.words import split_words

# apt-get install apache2-doc python3-doc
_DOCUMENTATION = Path("/usr/share/doc")
_FOLDERS = ("apache2-doc", "python3*")


@cache
def pages(*, quick: bool) -> list[bytes]:
    """1,000 pages, always the same."""
    found = [path for folder in _FOLDERS for path in sorted(_DOCUMENTATION.glob(f"{folder}/**/*.html"))]
    count, chance = (20 if quick else 1000), random.Random(7)
    if len(found) >= count:
        return [path.read_bytes()[:MAX_BYTES] for path in chance.sample(found, count)]
    vocabulary = [f"word{i}" for i in range(3000)]
    texts = (" ".join(chance.choices(vocabulary, k=chance.randrange(50, 3000))) for _ in range(count))
    return [f"<html><title>t</title><body><p>{text}</body></html>".encode() for text in texts]


def _documents(bodies: list[bytes]) -> list[Document]:
    return [read_markup(body.decode("utf-8", "replace"), "http://a.test/", "utf-8") for body in bodies]


def _shingles(document: Document) -> list[bytes]:
    words = split_words(document.text)[0]
    return [b" ".join(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))]


def _megabytes(sizes: list[int]) -> float:
    return sum(sizes) / 1e6


def sketching(*, quick: bool) -> list[Result]:
    """All that is recorded of a text against datasketch's MinHash alone, which is given the shingles."""
    bodies = pages(quick=quick)
    documents = _documents(bodies)
    shingles = [_shingles(document) for document in documents]

    words = [split_words(document.text)[0] or [b""] for document in documents]

    def ours() -> None:
        for document, of_page, body in zip(documents, words, bodies, strict=True):
            describe_words(of_page, document, xxh3_128_hexdigest(body), complete=True)

    def theirs(**options: object) -> None:
        for of_page in shingles:
            MinHash(128, **options).update_batch(of_page)

    text = _megabytes([len(document.text) for document in documents])
    what = f"texts described, {len(bodies)} pages"
    rounds = 2 if quick else 3
    return [
        Result(what, *best(ours, theirs, rounds), "datasketch's MinHash(128)", text),
        Result(
            what,
            *best(ours, lambda: theirs(hashfunc=xxh32_intdigest), rounds),
            "datasketch's MinHash(128) with xxh32",
            text,
        ),
    ]


def extracting(*, quick: bool) -> list[Result]:
    """Text, title, canonical URL, links and language, against text alone."""
    bodies = pages(quick=quick)

    def theirs() -> None:
        for body in bodies:
            html.fromstring(body).text_content()

    taken = best(lambda: _documents(bodies), theirs, 2 if quick else 3)
    size = _megabytes([len(body) for body in bodies])
    return [Result(f"HTML read, {len(bodies)} pages", *taken, "lxml's text_content()", size)]


def describing(*, quick: bool) -> list[Result]:
    """A dozen pages at a time, as a recorder has them from a fast crawl, against each alone."""
    asked = [(body, "text/html", "utf-8", "http://a.test/") for body in pages(quick=quick)]

    def ours() -> None:
        for begin in range(0, len(asked), 12):
            describe_each(asked[begin : begin + 12])

    def alone() -> None:
        for page in asked:
            describe(*page)

    size = _megabytes([len(body) for body, *_ in asked])
    taken = best(ours, alone, 2 if quick else 3)
    return [Result(f"pages described together, {len(asked)} pages", *taken, "the same one by one", size)]
