"""scrapy-dust's own method: guarded edits of URLs, believed as far as the log bears them out.

Redirects count as spellings of the page at their end; a page whose visits disagree shows nothing that is
known. No page is fetched.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from scrapy_dust.dust.edits.learning import EditParams, learn_edits
from scrapy_dust.dust.pages import SiteLog, with_redirects
from scrapy_dust.learners.learner import Learned, unchanged
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class Dust:
    max_loss: float = EditParams().budget  #: contents that may be lost, per URL
    max_risk: float = EditParams().max_risk  #: of each edit
    name: str = "dust"

    def learn(self, site: str, log: SiteLog) -> Learned:
        contents: dict[str, Hashable] = {
            page.url: None if page.volatile else page.text_digest for page in with_redirects(log)
        }
        found = learn_edits(contents, EditParams(budget=self.max_loss, max_risk=self.max_risk))
        if not found.learned:
            return Learned(unchanged)
        of_site = found.function

        def key(url: str) -> str:
            if site_of(url) != site:
                return url
            formed = of_site(url)
            return formed if site_of(formed) == site else url

        return Learned(key, tuple(map(str, of_site.edits)))
