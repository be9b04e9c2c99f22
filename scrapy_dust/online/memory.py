"""Remembers the pages of a crawl, in bounded memory for each site and for all.

A page takes some 700 bytes without units, and up to 4,300 with the 400 units that a log has at most. If a site has
more pages than learning uses, the part that learning uses is kept (`propose/edits/log_sampling.py`). If all sites together
have too many pages, the site that was seen longest ago is forgotten; its pages are still in the crawl log, for
`dustmine`.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import chain

from scrapy_dust.page.site_log import site_log
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Volatile
from scrapy_dust.propose.edits.log_sampling import MOST_URLS, sample
from scrapy_dust.visits.pages import PackedUnits, Page, SiteLog, Visit, page_behind

#: Bytes for the pages of all sites together.
MOST_BYTES = 300_000_000
#: Bytes that Python takes for a page beside its packed bytes, with the hashes by which copies are noticed.
_BESIDE = 500

_MOST_REDIRECTS = 5


class SiteMemory:
    """The pages of one site in the order in which they came. The first two visits of a URL count."""

    def __init__(
        self, most: int = MOST_URLS, volatile: Volatile = NOTHING_VOLATILE, same: str = "page"
    ) -> None:
        """An empty memory for *most* URLs. *volatile*: places that change at each fetch. *same*: ``DUST_SAME``."""
        self._most, self._volatile, self._same = most, volatile, same
        self.size = 0  #: bytes, about
        self._visits: dict[str, bytes] = {}
        self._changing: set[str] = set()  #: URLs that did not show the same text twice
        #: The second answers, with units, of URLs whose two answers differed.
        self._again: dict[str, bytes] = {}
        self._items: dict[str, PackedUnits] = {}  #: what the spider took, by URL
        #: URLs that have shown two pages, and whether these differed.
        self.shown_twice: dict[str, bool] = {}
        self.seen = 0  #: pages and redirects, remembered or not

    def __len__(self) -> int:
        return len(self._visits)

    def __iter__(self) -> Iterator[Visit]:
        both = (*self._visits.items(), *self._again.items())
        items = (Visit(url, items=taken) for url, taken in self._items.items() if url in self._visits)
        return chain((_unpacked(url, packed) for url, packed in both), items)

    @property
    def urls(self) -> Iterator[str]:
        """The URLs of all pages."""
        return iter(self._visits)

    def add(self, visit: Visit) -> bool:
        """Add *visit*. Returns whether its URL is new. Only pages and redirects are remembered."""
        if not visit.is_page and not visit.redirect_to:
            return False
        if visit.items is not None:
            self._see_items(visit.url, visit.items)
            return False
        if self._same == "items":
            visit = _without_contents(visit)
        elif visit.taken is not None:
            return False
        known = self._visits.get(visit.url)
        if known is not None:
            before = _unpacked(visit.url, known)
            if visit.is_page and before.is_page:
                self._see_again(before, visit)
            return False
        self.seen += 1
        self._visits[visit.url] = packed = _packed(visit)
        self.size += _size(visit.url, packed)
        if len(self._visits) > self._most * 5 // 4:
            self._forget_some()
        return True

    def _see_again(self, before: Visit, visit: Visit) -> None:
        """Compare *visit* with the answer that its URL gave *before*, and note whether the page changes."""
        self.shown_twice[visit.url] = _differ(before, visit) or self.shown_twice.get(visit.url, False)
        if self._same == "items":
            self._see_taken(before, visit)
        elif _differ(before, visit):
            if before.units is None or visit.units is None:
                self._changing.add(visit.url)
            else:
                self._remember_again(visit)

    def _remember_again(self, visit: Visit) -> None:
        """Keep the second answer of a URL, to find the places that change."""
        if visit.url not in self._again:
            self._again[visit.url] = packed = _packed(visit)
            self.size += _size(visit.url, packed)

    def _see_items(self, url: str, items: PackedUnits) -> None:
        """Keep the *items* of the page at *url*, where they are not the page's units already."""
        if self._same != "items" and url not in self._items:
            self._items[url] = items
            self.size += _size(url, items.content)

    def _see_taken(self, before: Visit, visit: Visit) -> None:
        """Add the record of the spider's items and requests, which comes after the page's own record."""
        if visit.units is None:
            return
        if before.units is None:
            self.size -= _size(visit.url, self._visits[visit.url])
            self._visits[visit.url] = packed = _packed(replace(before, units=visit.units))
            self.size += _size(visit.url, packed)
        elif before.units.total != visit.units.total:
            self._remember_again(visit)

    def text(self, url: str) -> str | None:
        """The text that *url* showed, or redirected to; None if not known, or not always the same."""
        visit = self.page(url)
        return None if visit is None else visit.text_digest

    def page(self, url: str) -> Visit | None:
        """The answer of *url*, or of the URL that it redirected to; None if not known, or not always the same."""
        for _ in range(_MOST_REDIRECTS):
            known = self._visits.get(url)
            if known is None or url in self._changing:
                return None
            visit = _unpacked(url, known)
            if visit.is_page or visit.redirect_to is None:
                return visit
            url = visit.redirect_to
        return None

    def log(self) -> SiteLog:
        """The log of the site for mining."""
        if self._same == "items":
            taken = (replace(visit, units=None, taken=visit.units) for visit in self)
            return site_log(taken, self._volatile, self._same)
        log = site_log(self, self._volatile)
        pages = [replace(page, volatile=True) if page.url in self._changing else page for page in log.pages]
        return replace(log, pages=pages)

    def _forget_some(self) -> None:
        """Keep only the visits from which learning would draw its sample."""
        log = self.log()
        behind = {page.url: page for page in log.pages}
        contents: dict[str, Hashable | None] = {}
        for url in self._visits:
            page: Page | None = page_behind(url, behind, log.redirects)
            contents[url] = None if page is None or page.volatile else page.text_digest
        kept = sample(contents, self._most)
        self._visits = {url: packed for url, packed in self._visits.items() if url in kept}
        self._changing.intersection_update(kept)
        self._again = {url: packed for url, packed in self._again.items() if url in kept}
        self.shown_twice = {url: differ for url, differ in self.shown_twice.items() if url in kept}
        self._items = {url: items for url, items in self._items.items() if url in kept}
        self.size = sum(_size(*row) for rows in (self._visits, self._again) for row in rows.items())
        self.size += sum(_size(url, items.content) for url, items in self._items.items())


def _size(url: str, packed: bytes) -> int:
    """The bytes that a visit of *url* takes."""
    return _BESIDE + len(url) + len(packed)


def _without_contents(visit: Visit) -> Visit:
    """*visit* with the spider's items and requests in the place of the page's units."""
    return replace(
        visit, units=visit.taken, taken=None, text_digest=None, digest=None, sketch=None, duplicate_of=None
    )


def _differ(before: Visit, visit: Visit) -> bool:
    """Whether two answers to one URL differ in anything."""
    if before.units is None or visit.units is None:
        return _text(before) != _text(visit)
    return before.units.total != visit.units.total


def _text(visit: Visit) -> str | None:
    return visit.text_digest or visit.digest


def _packed(visit: Visit) -> bytes:
    """*visit* as bytes, without its URL."""
    said = (
        visit.status,
        visit.sketch,
        _text(visit),
        visit.title,
        visit.redirect_to,
        visit.canonical,
        visit.rendered,
        None if visit.units is None else (visit.units.content, visit.units.total, visit.units.whole),
    )
    return marshal.dumps(said)


def _unpacked(url: str, packed: bytes) -> Visit:
    """The visit of *url* that `_packed` wrote."""
    status, sketch, text, title, redirect_to, canonical, rendered, units = marshal.loads(packed)  # noqa: S302  Ours.
    visit = Visit(url, status, sketch=sketch, text_digest=text, title=title, redirect_to=redirect_to)
    visit.canonical, visit.rendered, visit.units = canonical, rendered, units and PackedUnits(*units)
    return visit
