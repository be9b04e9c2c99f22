"""scrapy-dust's own method: guarded edits of URLs, believed as far as the log bears them out.

Redirects count as spellings of the page at their end; a page whose visits disagree shows nothing that is
known. No page is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scrapy_dust.learners.interface import Learned, learned_by_rules
from scrapy_dust.learners.near_duplicates import near_contents
from scrapy_dust.propose.edits.edit_detection import canonicals_of
from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.visits.pages import SiteLog, texts_of


@dataclass(frozen=True, slots=True)
class Dust:
    """The learner of edits, with its parameters."""

    max_loss: float = EditParams().budget  #: contents that may be lost, per URL
    max_risk: float = EditParams().max_risk  #: of each edit
    near: bool = False  #: what is nearly equal is one content, and not only equal texts
    pool: Pool = NOTHING_POOLED  #: what other sites have shown
    name: str = "dust"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn guarded edits from *log*, as `propose.edits.edit_learning` does."""
        params = EditParams(budget=self.max_loss, max_risk=self.max_risk)
        pool = self.pool.without(site)
        canonicals = canonicals_of(log)
        found = learn_edits(texts_of(log), params, log.redirects, pool, canonicals=canonicals)
        of_site = found.function
        if self.near:
            # What is equal is learned first: it is what can be relied on.
            contents = near_contents(log)
            left = params.budget - sum(one.risk * one.saves for one in found.learned) / max(1, len(contents))
            rest = replace(params, budget=max(0.0, left), lone=False)
            of_site = learn_edits(
                contents, rest, pool=pool, canonicals=canonicals, before=of_site.rules
            ).function
        return learned_by_rules(site, of_site.rules)
