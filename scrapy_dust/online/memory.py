"""What is remembered of the pages of a crawl, within bounds: of a site, and of all of them.

A page takes some 250 bytes. Of a site with more pages than are learned from, the part is kept that is learned from
(`dust/edits/sampling.py`). Where all sites together are too many pages, the site that was seen longest ago is
forgotten: its pages are in the crawl log all the same, for `dustmine`.
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable, Iterator
from dataclasses import replace

from scrapy_dust.dust.edits.sampling import MOST_URLS, sample
from scrapy_dust.dust.pages import Page, SiteLog, Visit, merge_visits, page_behind

#: Pages of all sites together: some 250 MB.
MOST_PAGES = 1_000_000

_MOST_REDIRECTS = 5


class SiteMemory:
    """The pages of one site, in the order in which they came. Of a URL the first two visits count."""

    def __init__(self, most: int = MOST_URLS) -> None:
        self._most = most
        self._visits: dict[str, bytes] = {}
        self._changing: set[str] = set()  #: URLs that did not show the same twice
        self.seen = 0  #: pages and redirects, remembered or not

    def __len__(self) -> int:
        return len(self._visits)

    def __iter__(self) -> Iterator[Visit]:
        return (_unpacked(url, packed) for url, packed in self._visits.items())

    @property
    def urls(self) -> Iterator[str]:
        return iter(self._visits)

    def add(self, visit: Visit) -> bool:
        """Whether it is a URL that was not remembered. What is neither a page nor a redirect is of no interest."""
        if not visit.is_page and not visit.redirect_to:
            return False
        known = self._visits.get(visit.url)
        if known is not None:
            before = _unpacked(visit.url, known)
            if visit.is_page and before.is_page and _text(before) != _text(visit):
                self._changing.add(visit.url)
            return False
        self.seen += 1
        self._visits[visit.url] = _packed(visit)
        if len(self._visits) > self._most * 5 // 4:
            self._forget_some()
        return True

    def text(self, url: str) -> str | None:
        """What *url* showed, or led to; None: not known, or not always the same."""
        for _ in range(_MOST_REDIRECTS):
            known = self._visits.get(url)
            if known is None or url in self._changing:
                return None
            visit = _unpacked(url, known)
            if visit.is_page or visit.redirect_to is None:
                return visit.text_digest
            url = visit.redirect_to
        return None

    def log(self) -> SiteLog:
        log = merge_visits(self)
        pages = [replace(page, volatile=True) if page.url in self._changing else page for page in log.pages]
        return replace(log, pages=pages)

    def _forget_some(self) -> None:
        log = self.log()
        behind = {page.url: page for page in log.pages}
        contents: dict[str, Hashable | None] = {}
        for url in self._visits:
            page: Page | None = page_behind(url, behind, log.redirects)
            contents[url] = None if page is None or page.volatile else page.text_digest
        kept = sample(contents, self._most)
        self._visits = {url: packed for url, packed in self._visits.items() if url in kept}
        self._changing.intersection_update(kept)


def _text(visit: Visit) -> str | None:
    return visit.text_digest or visit.digest


def _packed(visit: Visit) -> bytes:
    said = (
        visit.status,
        visit.sketch,
        _text(visit),
        visit.title,
        visit.redirect_to,
        visit.canonical,
        visit.rendered,
    )
    return marshal.dumps(said)


def _unpacked(url: str, packed: bytes) -> Visit:
    status, sketch, text, title, redirect_to, canonical, rendered = marshal.loads(packed)  # noqa: S302  Ours.
    return Visit(
        url,
        status=status,
        sketch=sketch,
        text_digest=text,
        title=title,
        redirect_to=redirect_to,
        canonical=canonical,
        rendered=rendered,
    )
