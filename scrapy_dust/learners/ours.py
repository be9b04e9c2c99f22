"""scrapy-dust's own method: guarded edits of URLs, believed as far as the log bears them out.

Redirects count as spellings of the page at their end; a page whose visits disagree shows nothing that is
known. No page is fetched.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from scrapy_dust.dust.edits.learning import EditParams, learn_edits
from scrapy_dust.dust.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.dust.pages import Page, SiteLog, with_redirects
from scrapy_dust.learners.clusters import content_of
from scrapy_dust.learners.learner import Learned, unchanged
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class Dust:
    max_loss: float = EditParams().budget  #: contents that may be lost, per URL
    max_risk: float = EditParams().max_risk  #: of each edit
    near: bool = False  #: what is nearly equal is one content, and not only equal texts
    pool: Pool = NOTHING_POOLED  #: what other sites have shown
    name: str = "dust"

    def learn(self, site: str, log: SiteLog) -> Learned:
        content = _nearly if self.near else _text_of
        contents = {page.url: None if page.volatile else content(page) for page in with_redirects(log)}
        params = EditParams(budget=self.max_loss, max_risk=self.max_risk)
        found = learn_edits(contents, params, log.redirects, self.pool.without(site))
        if not found.learned:
            return Learned(unchanged)
        of_site = found.function

        def key(url: str) -> str:
            if site_of(url) != site:
                return url
            formed = of_site(url)
            return formed if site_of(formed) == site else url

        return Learned(key, tuple(map(str, of_site.edits)))


def _text_of(page: Page) -> Hashable:
    return page.text_digest


def _nearly(page: Page) -> Hashable:
    """What the site itself calls one page, where titles agree; else equal sketches and titles."""
    return (page.canonical, page.title) if page.canonical else content_of(page)
