"""The rules that ``dustmine --no-validate`` would learn from a training log, which the log alone proves.

Redirects count as spellings of the page at their end, and no page is fetched, so that all that the log leaves
open stays undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import mine_log, trial_params
from scrapy_dust.learners.learner import Learned, unchanged
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class NoValidation:
    """``dustmine --no-validate`` as a learner."""

    settings: DustSettings = field(default_factory=DustSettings)
    name: str = "dustmine"
    pool: Pool = NOTHING_POOLED  #: what other sites have shown

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Mine *log* and let it alone decide which rules hold, as ``dustmine --no-validate`` does."""
        if not log.pages:
            return Learned(unchanged)
        rules = self._valid(site, log)
        canonizer = Canonizer({site: rules}, site_of, self.settings.passes)
        return Learned(canonizer.canonize, tuple(map(str, rules)))

    def _valid(self, site: str, log: SiteLog) -> list[Rule]:
        urls = [page.url for page in log.pages] + list(log.redirects)
        Random(f"0 {site}").shuffle(urls)  # noqa: S311  A sample, not a secret.
        pool = self.pool.without(site)
        campaign = Campaign(
            mine_log(site, log, self.settings, redirects_count=True, pool=pool).candidates(),
            LogEvidence(log, urls, self.settings.sketch_matches),
            trial_params(self.settings, log_only=True),
            site=site,
            site_of=site_of,
            passes=self.settings.passes,
        )
        probe = campaign.next_probe()
        assert probe is None  # a trial by the log alone asks for nothing
        return [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]
