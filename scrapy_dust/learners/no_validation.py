"""The rules that ``dustmine --no-validate`` would learn from a training log, which the log alone proves.

Redirects count as spellings of the page at their end, and no page is fetched, so that all that the log leaves
open stays undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import evidence_of, mine_log, tried_by_log
from scrapy_dust.learners.interface import Learned, learned_by_rules
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class NoValidation:
    """``dustmine --no-validate`` as a learner."""

    settings: DustSettings = field(default_factory=DustSettings)
    name: str = "dustmine"
    pool: Pool = NOTHING_POOLED  #: what other sites have shown

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Mine *log* and let it alone decide which rules hold, as ``dustmine --no-validate`` does."""
        return learned_by_rules(site, self._valid_rules(site, log) if log.pages else [], self.settings.passes)

    def _valid_rules(self, site: str, log: SiteLog) -> list[Rule]:
        """The rules that the log alone proves."""
        pool = self.pool.without(site)
        candidates = mine_log(site, log, self.settings, redirects_count=True, pool=pool).candidates()
        decisions = tried_by_log(site, candidates, evidence_of(site, log, self.settings), self.settings)
        return [one.rule for one in decisions if one.verdict is Verdict.VALID]
