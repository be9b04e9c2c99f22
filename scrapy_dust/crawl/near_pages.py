"""Nearly equal pages of a crawl: found by MinHash, decided by the exact resemblance of their texts without the template.

`DUST_CONTENT_DEDUP` marks or drops them, with a number for each site in place of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.content import Content
from scrapy_dust.page.minhash import minhash_of
from scrapy_dust.signatures.copies import (
    LITTLE_TO_COMPARE,
    MOST_CHANGED,
    Boilerplate,
    Face,
    Shingles,
    bands_of,
    resemblance,
)
from scrapy_dust.signatures.store_interface import Outline
from scrapy_dust.signatures.store_opening import AnyStore
from scrapy_dust.sites import site_of

#: The first pages of a site come before its boilerplate is known, and are looked at again when they are so many.
_AGAIN = (8, 16, 32, 64)
#: The most pages of all sites that wait to be indexed again.
_MOST_EARLY = 4096


def site_number(site: str) -> int:
    """A number that stands for *site*."""
    return xxh3_64_intdigest(site.encode("utf-8", "surrogatepass"))


class NearPages:
    """The pages of a crawl, in which nearly equal pages can be found.

    *thresholds*: by site, how alike two pages must be; ``*`` for all other sites, None for none.
    """

    def __init__(
        self,
        thresholds: Mapping[str, float | None],
        store: AnyStore,
        boilerplate: Boilerplate,
        is_same: Callable[[str, str], bool],
        *,
        across_sites: bool,
    ) -> None:
        self._thresholds, self._store, self._boilerplate = thresholds, store, boilerplate
        self._is_same = is_same
        self._across_sites = across_sites
        self._early: dict[int, list[Outline] | None] = {}
        self._waiting = 0

    def outline(self, url: str, content: Content) -> Outline | None:
        """The features of *content* that are compared; None if the page says nothing."""
        face = Face(content.heading_hash, content.canonical)
        return Outline(url, face, content.shingles()) if content.words else None

    def find(self, site: str, page: Outline) -> str | None:
        """The URL of the page most like *page*, if the two are alike enough; else None."""
        face, number = page.face, site_number(site)
        best, found = self._threshold(site), None
        # Without a heading of its own nothing says what a page is, if not all of its text.
        if best is None or not face.heading or self._boilerplate.is_general(number, face.heading):
            return None
        own = self._own_shingles(page.url, page.shingles)
        if len(own) < LITTLE_TO_COMPARE or not self._boilerplate.knows_enough(number):
            return None
        for other in self._store.near(self._bands(page.url, face, own)):
            if not face.may_be(other.face) or self._is_same(page.url, other.url):
                continue
            alike = resemblance(own, self._own_shingles(other.url, other.shingles), MOST_CHANGED)
            if alike >= best:
                best, found = alike, other.url
        return found

    def learn(self, site: str, page: Outline) -> None:
        """Count the text of *page* among the texts that are common on *site*."""
        self._boilerplate.learn(site_number(site), page.shingles)

    def keep(self, site: str, page: Outline) -> None:
        """Add *page* to the pages among which `find` looks."""
        if self._threshold(site) is None or not page.face.heading:
            return
        self._boilerplate.learn_heading(site_number(site), page.face.heading)
        self._index_outline(page)
        self._index_early_again(site_number(site), page)

    def _index_early_again(self, site: int, outline: Outline) -> None:
        """Index the first pages of a site again, now that more of the site's boilerplate is known."""
        early = self._early.setdefault(site, [])
        if early is None or self._waiting >= _MOST_EARLY:
            return
        early.append(outline)
        self._waiting += 1
        if len(early) in _AGAIN:
            for one in early:
                self._index_outline(one)
        if len(early) == _AGAIN[-1]:
            self._waiting -= len(early)
            self._early[site] = None

    def _index_outline(self, outline: Outline) -> None:
        """Add *outline* to the index of pages that may be near-duplicates."""
        own = self._own_shingles(outline.url, outline.shingles)
        if len(own):
            self._store.keep_near(outline, self._bands(outline.url, outline.face, own))

    def _threshold(self, site: str) -> float | None:
        return self._thresholds.get(site, self._thresholds.get("*"))

    def _own_shingles(self, url: str, shingles: Shingles) -> Shingles:
        """The *shingles* that are not boilerplate of *url*'s site."""
        return self._boilerplate.without_boilerplate(site_number(site_of(url) or ""), shingles, strict=True)

    def _bands(self, url: str, face: Face, own: Shingles) -> list[int]:
        """The keys under which near-duplicates of a page are looked for."""
        # Only pages of one heading can be near, so that no others need be looked at.
        site = 0 if self._across_sites else site_number(site_of(url) or "")
        return bands_of(site ^ face.heading, minhash_of(own))
