"""The knowledge of a log about URLs: a `Visit` is one record, a `Page` is all that is known of one URL.

Paper §5.1: only unique URLs are kept, errors are filtered out, and each URL has its sketch or the range of its sizes.
Redirects and failures are not pages; they are kept beside them as evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from scrapy_dust.visits.outcomes import Outcome

_LONGEST_CHAIN = 10
#: Different texts that say which parameters do not matter: a site that makes up one for each page says nothing.
_DECLARED = 100


@dataclass(slots=True, unsafe_hash=True)
class PackedUnits:
    """The units of a page, as a log keeps them. The room `page` reads them."""

    content: bytes = field(repr=False)
    total: int  #: 64 bits; equal totals: the same units
    whole: bool = True  #: all units are in it


#: Of a page from which a callback took nothing, or failed to.
NOTHING_TAKEN = PackedUnits(b"", 0)


@dataclass(slots=True, unsafe_hash=True)
class Visit:
    """One record of a log: one answer for one URL."""

    url: str
    status: int | None = None  #: None: the log does not say
    size: tuple[int, int] | None = None  #: least and greatest size in bytes that this record speaks of
    sketch: tuple[int, ...] | None = None  #: min-hashes of 10-word shingles; None: not sketched
    digest: str | None = None  #: of the body as it came
    text_digest: str | None = None  #: of the words and the title
    simhash: str | None = None
    title: str | None = None
    content_type: str | None = None
    redirect_to: str | None = None  #: absolute
    canonical: str | None = None  #: absolute target of rel=canonical
    outlinks: int | None = None
    fetched_at: str | None = None  #: ISO 8601, UTC
    failed: bool = False  #: no answer came at all
    duplicate_of: str | None = None  #: URL of the page that the crawl found it to be a copy of
    rendered: str | None = None  #: the browser that made the page, as `crawl/requests.py` names it
    #: Which of its parameters the answer says do not matter, as that header does.
    no_vary_search: str | None = None
    units: PackedUnits | None = None  #: None: the log has none of this answer
    taken: PackedUnits | None = None  #: what a callback took from the page; None: this record does not say
    #: Values of the items that a callback took from the page; None: this record does not say.
    items: PackedUnits | None = None

    @property
    def is_page(self) -> bool:
        """Whether the answer is neither a redirect nor an error. An answer without status counts as a page."""
        return not self.failed and (self.status is None or self.status // 100 not in (3, 4, 5))


@dataclass(slots=True, unsafe_hash=True)
class Page:
    """All that a log knows of one URL that answered."""

    url: str
    size: tuple[int, int] | None = None  #: over all visits
    sketch: tuple[int, ...] | None = None  #: of the first visit that has one
    #: What stands for all that it shows: a label (`page/contents.py`) where the log has units, and None where it shows
    #: nothing of its own; else the digest of its text, or of the body where there is no text.
    text_digest: str | None = None
    title: str | None = None
    canonical: str | None = None
    volatile: bool = False  #: visits of this URL disagree on its text
    rendered: str | None = None  #: the browser that made the page, as the log names it
    outlinks: int | None = None  #: of the first visit that tells
    content_type: str | None = None  #: of the first visit that tells, without parameters
    again: bool = False  #: it was asked for more than once
    simhash: str | None = None  #: of the first visit that has one
    #: What stands for all that it shows but its links; None: the log has no units of it.
    core: str | None = None
    own: int | None = None  #: units that are its own on its site; None: the log has no units of it
    #: Where the log has a sample of its units only: what stands for all of them, as they were. Equal labels suggest
    #: one page then, and prove nothing unless these are equal too.
    total: str | None = None

    def showing(self, label: str | None, core: str, own: int, total: str | None, *, volatile: bool) -> Page:
        """The same page with labels made of its units: *label* for all that it shows, *core* for all but its links,
        *own* and *total* as the fields say.
        """
        return replace(self, text_digest=label, core=core, own=own, total=total, volatile=volatile)

    @property
    def exact(self) -> str | None:
        """A text for all that the page shows, equal for equal pages; None if there is none."""
        if self.text_digest is None or self.total is None:
            return self.text_digest
        return f"{self.text_digest} {self.total}"


#: A page with fewer units of its own shows too little for its equality with another to say anything.
LEAST_OWN = 3


class Comparing(Protocol):
    """Compares closely what two URLs of a log showed."""

    def compare(self, url: str, other: str) -> tuple[Outcome, str]:
        """The outcome of comparing what both URLs showed, and the reason, as the beginning of a sentence: ``differ in
        text `div.price` ``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SiteLog:
    """The part of a log that concerns one site, in the log's order."""

    pages: Sequence[Page]
    redirects: dict[str, str] = field(default_factory=dict)  #: URL → where it sent us
    #: URLs that answered with an error, or not at all, and never better.
    failures: frozenset[str] = frozenset()
    #: What answers say of their parameters (``No-Vary-Search``), and where: each text once for a host.
    declared: Sequence[tuple[str, str]] = ()
    #: Compares two URLs unit by unit; None: the log has no units.
    comparing: Comparing | None = field(default=None, compare=False, repr=False)


def page_behind(url: str, pages: Mapping[str, Page], redirects: Mapping[str, str]) -> Page | None:
    """The page that *url* led to, by itself or by redirects."""
    for _ in range(_LONGEST_CHAIN):
        if url in pages or url not in redirects:
            return pages.get(url)
        url = redirects[url]
    return None


def with_redirects(log: SiteLog) -> list[Page]:
    """The pages of *log*; each URL that redirected to one counts as that page under another URL."""
    if not log.redirects:
        return list(log.pages)
    pages = {page.url: page for page in log.pages}
    behind = ((url, page_behind(url, pages, log.redirects)) for url in log.redirects)
    return [*log.pages, *(replace(page, url=url) for url, page in behind if page is not None)]


def texts_of(log: SiteLog) -> dict[str, Hashable | None]:
    """The content of each URL of *log*, those that redirected to a page included; None where it changes, or is not known."""
    return {page.url: None if page.volatile else page.text_digest for page in with_redirects(log)}


def merge_visits(visits: Iterable[Visit]) -> SiteLog:
    """The log of a site with one `Page` for each URL that ever answered, in the order of first answers."""
    pages: dict[str, Page] = {}
    redirects: dict[str, str] = {}
    failures: dict[str, None] = {}
    copies: dict[str, str] = {}
    declared: dict[tuple[str, str], str] = {}
    for visit in visits:
        if visit.items is not None:
            continue  # a line beside the page's own
        if visit.is_page:
            if visit.no_vary_search and len(declared) < _DECLARED:
                declared.setdefault((_host(visit.url), visit.no_vary_search), visit.url)
            if visit.duplicate_of:
                copies[visit.url] = visit.duplicate_of
            known = pages.get(visit.url)
            if known is None:
                pages[visit.url] = _page_of(visit)
            elif not _is_extra_record(visit):
                pages[visit.url] = _with_visit(known, visit)
        elif visit.redirect_to:
            redirects.setdefault(visit.url, visit.redirect_to)
        elif visit.failed or (visit.status or 0) >= 400:
            failures[visit.url] = None
    _give_copies_their_content(pages, copies)
    return SiteLog(
        pages=tuple(pages.values()),
        redirects={url: target for url, target in redirects.items() if url not in pages},
        failures=frozenset(url for url in failures if url not in pages and url not in redirects),
        declared=tuple((said, url) for (_, said), url in declared.items()),
    )


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _give_copies_their_content(pages: dict[str, Page], copies: Mapping[str, str]) -> None:
    """Give each page that the crawl found to be a copy the content of its original.

    Most copies have equal digests too; a near-duplicate has not, and its sketch may differ in the one word that the
    crawl ignored. If a URL shows different contents at different times, the finding is out of date.
    """
    for url, keeper in copies.items():
        copy, original = pages.get(url), pages.get(keeper)
        if copy is not None and original is not None and not (copy.volatile or original.volatile):
            pages[url] = replace(
                copy, sketch=original.sketch, text_digest=original.text_digest, simhash=original.simhash
            )


def without_repeats(visits: Iterable[Visit]) -> Iterator[Visit]:
    """*visits* without those that add nothing: `merge_visits` makes the same log of the rest.

    So a log of many requests for few URLs takes the memory of its URLs.
    """
    pages: dict[str, Visit] = {}  #: the first visit of each URL
    sizes: dict[str, tuple[int, int] | None] = {}  #: of URLs whose later visits had others
    others: set[tuple[str, bool]] = set()
    copies: dict[str, str] = {}
    again: set[str] = set()
    taken: Counter[tuple[str, int]] = Counter()
    for visit in visits:
        beside = visit.taken or visit.items
        if beside is not None:
            yield from _at_most_twice(visit, (visit.url, beside.total), taken)
            continue
        if visit.is_page:
            found = visit.duplicate_of or copies.get(visit.url)
            is_news = found != copies.get(visit.url)
            if found:
                copies[visit.url] = found
            first = pages.get(visit.url)
            if first is None:
                pages[visit.url] = visit
                yield visit
                continue
            if _is_extra_record(visit):
                if is_news:
                    yield visit
                continue
            size = sizes.get(visit.url, first.size)
            sizes[visit.url] = wider = _joint_range(size, visit.size)
            said = _content_fields(visit)
            same = wider == size and (said == _content_fields(first) or not any(said))
            if visit.url in again and same and not is_news:
                continue
            again.add(visit.url)
        elif not _is_first_redirect_or_failure(visit, others):
            continue
        yield visit


def _at_most_twice(visit: Visit, what: tuple[str, int], seen: Counter[tuple[str, int]]) -> Iterator[Visit]:
    """Yield *visit*, unless two that say the same (*what*) came before: two equal answers show that the page does not
    change.
    """
    seen[what] += 1
    if seen[what] <= 2:
        yield visit


def _is_first_redirect_or_failure(visit: Visit, others: set[tuple[str, bool]]) -> bool:
    """Whether *visit* is a redirect or a failure of a URL that has none in *others* yet; it is added to *others*."""
    if not (visit.redirect_to or visit.failed or (visit.status or 0) >= 400):
        return False
    other = visit.url, bool(visit.redirect_to)
    is_new = other not in others
    others.add(other)
    return is_new


def _is_extra_record(visit: Visit) -> bool:
    """Whether *visit* is no fetch but an extra record about a page: it says whose copy the page is, or what a callback
    took.
    """
    says = visit.duplicate_of is not None or visit.taken is not None
    return says and visit.size is None and not any(_content_fields(visit))


def _content_fields(visit: Visit) -> tuple[object, ...]:
    """All that *visit* says about the content of its page, field by field."""
    digest = visit.text_digest or visit.digest
    kind = _media_type(visit.content_type)
    units = None if visit.units is None else visit.units.total
    return visit.sketch, digest, visit.title, visit.canonical, visit.outlinks, kind, visit.simhash, units


def _page_of(visit: Visit) -> Page:
    return Page(
        url=visit.url,
        size=visit.size,
        sketch=visit.sketch or None,
        text_digest=visit.text_digest or visit.digest,
        title=visit.title,
        canonical=visit.canonical,
        rendered=visit.rendered,
        outlinks=visit.outlinks,
        content_type=_media_type(visit.content_type),
        simhash=visit.simhash,
    )


def _with_visit(page: Page, visit: Visit) -> Page:
    """*page* with what one more *visit* of its URL says of it."""
    digest = visit.text_digest or visit.digest
    changed = page.text_digest is not None and digest is not None and digest != page.text_digest
    return Page(
        url=page.url,
        size=_joint_range(page.size, visit.size),
        sketch=page.sketch or visit.sketch or None,
        text_digest=page.text_digest or digest,
        title=page.title if page.title is not None else visit.title,
        canonical=page.canonical or visit.canonical,
        volatile=page.volatile or changed,
        rendered=page.rendered or visit.rendered,
        outlinks=page.outlinks if page.outlinks is not None else visit.outlinks,
        content_type=page.content_type or _media_type(visit.content_type),
        again=True,
        simhash=page.simhash or visit.simhash,
    )


def _media_type(content_type: str | None) -> str | None:
    return content_type.partition(";")[0].strip().lower() if content_type else None


def _joint_range(a: tuple[int, int] | None, b: tuple[int, int] | None) -> tuple[int, int] | None:
    """The range of sizes from the least to the greatest of both ranges."""
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])
