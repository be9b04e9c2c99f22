"""The two signatures by which a crawl compares pages: one of a page's bytes, and one of its units.

The signature of units covers all that `page/compare.py` compares, with all bits; a log keeps fewer bits of each
value, so that among thousands of pages that differ in one number two may seem the same. It also covers the words,
unless some of them do not count. Binaries and PDFs have their bytes alone, since reading a PDF takes a process; so do
pages too long to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest, xxh3_128

from scrapy_dust.page.knowledge import (
    Aside,
    Knowledge,
    LinkClasses,
    are_canonical,
    lacking_of_frame,
    sifted,
    without_own_canonical,
)
from scrapy_dust.page.markup import Document
from scrapy_dust.page.places import Kind
from scrapy_dust.page.reading import is_pdf, read_text
from scrapy_dust.page.shingles import Hashes, hashes_of, shingles_of
from scrapy_dust.page.units import distinct
from scrapy_dust.page.unitsets import (
    CONTENT,
    EMPTY,
    SEEN,
    SHAPED,
    UnitSet,
    as_links,
    is_of,
    shapes_of,
    values_of,
)
from scrapy_dust.page.words import split_words

#: Words in a shingle. They are short: of a page in which a date has changed, four of these differ, and ten of a log's.
WIDTH = 4
#: Words of a page that are kept beside its signature.
_BEGINNING = 60


@dataclass(frozen=True, slots=True)
class Content:
    """All of one page that can be compared."""

    size: int  #: bytes
    is_binary: bool = True  #: nobody here can read it
    is_markup: bool = False  #: HTML
    units: UnitSet | None = None  #: ascending, with all bits; None: only the bytes speak for it
    shown: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: of them what readers see; where that is no text, all
    links: Mapping[int, str] = field(default_factory=dict)  #: URLs by the values of links
    words: Sequence[bytes] = ()
    heading: str = ""  #: the title and the headings of the first rank
    canonical: str | None = None  #: absolute

    @property
    def heading_hash(self) -> int:
        """64 bits of the heading; 0 if there is none."""
        return xxh3_64_intdigest(self.heading.encode("utf-8", "surrogatepass")) if self.heading else 0

    @property
    def beginning(self) -> str:
        """The first words."""
        return b" ".join(self.words[:_BEGINNING]).decode("utf-8", "surrogatepass")

    def shingles(self) -> Hashes:
        """The distinct shingles of the text, ascending."""
        return shingles_of(hashes_of(list(self.words)), WIDTH)


def signature_of(body: bytes, scope: str, units: UnitSet | None = None) -> bytes:
    """128 bits of the bytes of *body*. Equal bytes in different scopes have different signatures.

    *units*: what the bytes show at their URL. At another URL, or in another encoding, equal bytes may show other
    texts, and their relative URLs lead elsewhere.
    """
    # The scope is no longer than a host's name, and the body need not be copied.
    said = xxh3_128(body, seed=_seed(scope))
    if units is not None:
        shown = units[is_of(units, *SEEN)]
        said.update(distinct(as_links(shown)).astype("<u8").tobytes())
    return said.digest()


def content_of(
    body: bytes, content_type: str | None, encoding: str | None, url: str, ignore: Sequence[str] = ()
) -> Content:
    """All of a page that can be compared. Never raises; costs at most a look at 2 MB. *ignore*: as in `read_markup`."""
    if is_pdf(body, content_type):
        return Content(len(body))
    read = read_text(body, content_type, encoding, url, closely=True, ignore=ignore)
    if read is None:
        return Content(len(body))
    document, whole = read
    words, complete = split_words(document.text)
    described = document.units
    units = distinct(described.exact) if described and whole and complete else None
    return Content(
        size=len(body),
        is_binary=False,
        is_markup=document.outlinks is not None,
        units=units,
        shown=EMPTY if units is None else _shown(units),
        links=described.links if described else {},
        words=words,
        heading=_heading(document),
        canonical=document.canonical,
    )


def unit_signature(
    content: Content, url: str, knowledge: Knowledge, scope: str, *, with_words: bool, unnamed: bool = False
) -> bytes:
    """A hash of 128 bits of all that *content* shows a spider at *url*. *with_words*: all words count, too.
    *unnamed*: the canonical URL that the page names does not count.
    """
    assert content.units is not None
    counting = sifted(content.units, knowledge, places := knowledge.sure_places_for(url))
    # Of a part that changes what stands around its numbers counts.
    shaped = content.units[is_of(content.units, *SHAPED)]
    shapes = shapes_of(shaped[places.has(shaped)])
    own = distinct(values_of(content.units[is_of(content.units, Kind.OWN_LINK)]))
    units = LinkClasses(knowledge, (url,), content.links, own).merged(counting.units)
    units = units[~are_canonical(units)] if unnamed else without_own_canonical(units)
    said = xxh3_128(units.astype("<u8").tobytes(), seed=_seed(scope))
    said.update(lacking_of_frame(content.units, knowledge).astype("<u8").tobytes())
    said.update(distinct(shapes).astype("<u8").tobytes())
    if with_words and Aside.VOLATILE not in counting.aside:
        # In whatever order, as the units.
        said.update(b" ".join(sorted(set(content.words))))
    return said.digest()


def shingles_of_text(text: str) -> Hashes:
    """The distinct shingles of *text*, which must have at least one word."""
    words, _ = split_words(text)
    return shingles_of(hashes_of(words), WIDTH)


def _shown(units: UnitSet) -> UnitSet:
    """The *units* that readers see, without the canonical URL that the page names. In a page without text all
    contents count.
    """
    shown: UnitSet = units[is_of(units, *(SEEN if is_of(units, Kind.TEXT).any() else CONTENT))]
    return shown[~are_canonical(shown)]


def _heading(document: Document) -> str:
    """The title and the headings of *document* in one line."""
    return " ".join(f"{document.title or ''} {document.headings or ''}".split())


def _seed(scope: str) -> int:
    """The seed of hashes in *scope*, so that equal bytes in two scopes have different hashes."""
    return xxh3_64_intdigest(scope.encode("utf-8", "surrogatepass"))
